# Plots of three mixture components. Layer: plots.

# Plots of three mixture components: a triangle whose corners are the pure components.

# The position of a mixture in the triangle. `a` and `b` are two components of a total of 1; the third is the remainder.
# The corners are (0, 0), (1, 0) and the top.
ternary_points <- function(a, b) list(x = a + b / 2, y = b * sqrt(3) / 2)

# The same as draw_plane() for a mixture. `set`: from param_shares(). `pair`: the components of the right and the upper
# corner.
draw_ternary <- function(plane, set, pair, values, title, points, through, shown) {
  old <- room_for_key()
  on.exit(graphics::par(old))
  third <- setdiff(set$names, pair)
  top <- sqrt(3) / 2
  graphics::plot.new()
  graphics::plot.window(c(-0.06, 1.06), c(-0.1, top + 0.08), asp = 1)
  title_of_plane(title, through)
  a <- unique(plane[[pair[1]]]) / set$total
  b <- unique(plane[[pair[2]]]) / set$total
  z <- matrix(pmin(pmax(values, shown[1]), shown[2]), length(a), length(b))
  draw_mixtures(a, b, z)
  draw_triangle(pair, third, set$total)
  point <- function(rows) ternary_points(rows[[pair[1]]] / set$total, rows[[pair[2]]] / set$total)
  if (!is.null(points)) {
    graphics::points(point(points), pch = 21, cex = 0.7, col = "black", bg = grDevices::adjustcolor("white", 0.75))
  }
  if (!is.null(through)) graphics::points(point(through), pch = 3, cex = 1.6, lwd = 2.5)
  draw_colour_key(known_range(z), c(0, top), beyond = beyond_colours(values, z))
}

# A cell for each possible mixture, and contours.
draw_mixtures <- function(a, b, z) {
  colours <- surface_colours
  known <- which(is.finite(z), arr.ind = TRUE)
  if (nrow(known) == 0) return(invisible())
  range <- range(z[known])
  shade <- if (is_flat(z)) rep(16, nrow(known)) else 1 + floor(31 * (z[known] - range[1]) / diff(range))
  corners <- corners_of_mixtures(a, b, known)
  graphics::polygon(rbind(corners$x, NA), rbind(corners$y, NA), col = colours[shade], border = colours[shade],
                    lwd = 0.5)
  if (is_flat(z)) return(invisible())
  for (line in grDevices::contourLines(a, b, z, nlevels = 8)) {
    graphics::lines(ternary_points(line$x, line$y), col = "grey25", lwd = 0.7)
  }
}

# Corners (four rows, a column each) of the cells of some mixtures, within the triangle. `known`: their rows and columns
# in a grid.
corners_of_mixtures <- function(a, b, known) {
  at <- evenly_parted(a)
  bt <- evenly_parted(b)
  i <- known[, 1]
  j <- known[, 2]
  x <- pmax(rbind(at[i], at[i + 1], at[i + 1], at[i]), 0)
  y <- pmax(rbind(bt[j], bt[j], bt[j + 1], bt[j + 1]), 0)
  sum <- pmax(x + y, 1)
  ternary_points(x / sum, y / sum)
}

# The edges of cells with evenly spaced centres.
evenly_parted <- function(values) {
  n <- length(values)
  half <- if (n > 1) (values[2] - values[1]) / 2 else 0.5
  c(values - half, values[n] + half)
}

# The edges of the triangle, lines of 20, 40, 60 and 80 percent of each component, and the names of the corners.
draw_triangle <- function(pair, third, total) {
  for (share in seq(0.2, 0.8, 0.2)) {
    ends <- list(list(c(share, share), c(0, 1 - share)), list(c(0, 1 - share), c(share, share)),
                 list(c(0, 1 - share), c(1 - share, 0)))
    for (end in ends) graphics::lines(ternary_points(end[[1]], end[[2]]), col = grDevices::adjustcolor("black", 0.15))
    said <- format(signif(share * total, 3))
    # The lines of a component are labelled where they end: at the lower, the right and the left edge.
    marks <- ternary_points(c(share, 1 - share, 0), c(0, share, 1 - share))
    graphics::text(marks$x[1], marks$y[1], said, pos = 1, offset = 0.3, cex = 0.7, col = "grey40")
    graphics::text(marks$x[2], marks$y[2], said, pos = 4, offset = 0.3, cex = 0.7, col = "grey40")
    graphics::text(marks$x[3], marks$y[3], said, pos = 2, offset = 0.3, cex = 0.7, col = "grey40")
  }
  graphics::polygon(ternary_points(c(0, 1, 0), c(0, 0, 1)), border = "grey40")
  graphics::text(-0.02, -0.03, third, pos = 1, xpd = NA)
  graphics::text(1.02, -0.03, pair[1], pos = 1, xpd = NA)
  graphics::text(0.5, sqrt(3) / 2, pair[2], pos = 3, xpd = NA)
}

# ---- with ggplot2 ------------------------------------------------------------------------------------

# The same as ggplot_plane() for three mixture components.
ggplot_ternary <- function(plot_data, set, played, colours, contours, shown) {
  model_state <- own_columns(plot_data$data, plot_data$pair)
  shown <- or_else(shown, known_range(model_state[[colours]]))
  a <- unique(plot_data$data[[plot_data$pair[1]]]) / set$total
  b <- unique(plot_data$data[[plot_data$pair[2]]]) / set$total
  of <- function(column) matrix(model_state[[column]], length(a), length(b))
  known <- which(is.finite(of(colours)), arr.ind = TRUE)
  corners <- corners_of_mixtures(a, b, known)
  cells <- data.frame(x = as.vector(corners$x), y = as.vector(corners$y), cell = rep(seq_len(nrow(known)), each = 4))
  cells[[colours]] <- rep(clamped(of(colours)[known], shown[1], shown[2]), each = 4)
  point <- function(rows) {
    as.data.frame(ternary_points(rows[[plot_data$pair[1]]] / set$total, rows[[plot_data$pair[2]]] / set$total))
  }
  xy <- aes_of(x = "x", y = "y")
  ggplot2::ggplot(plot_data$data) +
    ggplot2::geom_polygon(data = cells, mapping = aes_of(x = "x", y = "y", group = "cell", fill = colours)) +
    ggplot2::scale_fill_gradientn(paste("posterior", colours), colours = surface_colours) +
    ggplot_contours_of_shares(a, b, of(contours)) +
    ggplot_triangle(plot_data$pair, setdiff(set$names, plot_data$pair), set$total) +
    ggplot2::geom_point(data = point(played), mapping = xy, shape = 21, fill = "white") +
    ggplot2::geom_point(data = point(plot_data$through), mapping = xy, shape = 3, size = 3.5, stroke = 1.2) +
    ggplot2::coord_fixed(clip = "off") + ggplot2::labs(x = NULL, y = NULL)
}

ggplot_contours_of_shares <- function(a, b, z) {
  if (is_flat(z)) return(NULL)
  lines <- grDevices::contourLines(a, b, z, nlevels = 8)
  paths <- Map(function(line, k) data.frame(ternary_points(line$x, line$y), line = k), lines, seq_along(lines))
  if (!length(paths)) return(NULL)
  ggplot2::geom_path(data = do.call(rbind, paths), mapping = aes_of(x = "x", y = "y", group = "line"),
                     colour = "grey25", linewidth = 0.25)
}

# Edges, lines of 20, 40, 60 and 80 percent, and the names of the corners; no axes.
ggplot_triangle <- function(pair, third, total) {
  share <- seq(0.2, 0.8, 0.2)
  ends <- function(a, b) as.data.frame(ternary_points(a, b))
  from <- rbind(ends(share, 0), ends(0, share), ends(0, 1 - share))
  to <- rbind(ends(share, 1 - share), ends(1 - share, share), ends(1 - share, 0))
  grid <- data.frame(x = from$x, y = from$y, xend = to$x, yend = to$y)
  said <- rep(format(signif(share * total, 3)), 3)
  marks <- data.frame(rbind(ends(share, 0), ends(1 - share, share), ends(0, 1 - share)), label = said,
                      across = rep(c(0.5, -0.4, 1.4), each = 4), up = rep(c(1.6, 0.5, 0.5), each = 4))
  corners <- data.frame(rbind(ends(0, 0), ends(1, 0), ends(0, 1)), label = c(third, pair),
                        across = 0.5, up = c(2.6, 2.6, -0.8))
  named <- aes_of(x = "x", y = "y", label = "label", hjust = "across", vjust = "up")
  list(
    ggplot2::geom_segment(data = grid, mapping = aes_of(x = "x", y = "y", xend = "xend", yend = "yend"), alpha = 0.15),
    ggplot2::geom_path(data = ends(c(0, 1, 0, 0), c(0, 0, 1, 0)), mapping = aes_of(x = "x", y = "y"),
                       colour = "grey40"),
    ggplot2::geom_text(data = marks, mapping = named, colour = "grey40", size = 2.6),
    ggplot2::geom_text(data = corners, mapping = named),
    ggplot2::scale_x_continuous(breaks = NULL, expand = ggplot2::expansion(add = 0.08)),
    ggplot2::scale_y_continuous(breaks = NULL, expand = ggplot2::expansion(add = 0.1))
  )
}
