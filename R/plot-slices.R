# Pictures of functions of more inputs than a page has: slices through one point, and maps of two inputs through it.

# A data.frame `input`, `value` (numbers; positions where an input is not numeric), `label`, `mean`, `sd`, `lower`,
# `upper`: each of `inputs` along its axis, the others as in `through` (one row).
slices_view <- function(bandit, context, through, inputs, width, resolution = NULL) {
  domain <- bandit$config$domain
  parts <- lapply(inputs, function(name) {
    axis <- input_axis(domain, match(name, domain$names), or_else(resolution, 101))
    points <- through[rep(1, length(axis)), domain$names, drop = FALSE]
    points[[name]] <- axis
    posterior <- posterior_of(bandit, points, context)
    data.frame(input = name, value = if (is.numeric(axis)) axis else seq_along(axis), label = as.character(axis),
               mean = posterior$mean, sd = posterior$sd, lower = posterior$mean - width * posterior$sd,
               upper = posterior$mean + width * posterior$sd)
  })
  do.call(rbind, parts)
}

# The same of two inputs together: columns named like them, `mean` and `sd`.
plane_view <- function(bandit, context, through, pair, resolution = NULL) {
  domain <- bandit$config$domain
  axes <- lapply(pair, function(name) input_axis(domain, match(name, domain$names), or_else(resolution, 45)))
  grid <- expand.grid(stats::setNames(axes, pair), KEEP.OUT.ATTRS = FALSE, stringsAsFactors = FALSE)
  points <- through[rep(1, nrow(grid)), domain$names, drop = FALSE]
  points[pair] <- grid
  cbind(grid, posterior_of(bandit, points, context)[c("mean", "sd")])
}

# Where slices go through: the recommended point.
recommended_point <- function(bandit, context) bandit$best(context)[bandit$config$domain$names]

panel_layout <- function(count) {
  columns <- ceiling(sqrt(count))
  c(ceiling(count / columns), columns)
}

# `view`: of slices_view(); one panel each, all of one height.
draw_slices <- function(view, through, log, label, ylim = NULL) {
  ylim <- or_else(ylim, range(view$lower, view$upper))
  for (name in unique(view$input)) {
    draw_slice(view[view$input == name, ], through[[name]], log[[name]], label, ylim)
  }
}

draw_slice <- function(part, through, log, label, ylim) {
  name <- part$input[1]
  frame <- list(log = if (log) "x" else "", legend = FALSE, xlab = name, ylab = label, ylim = ylim)
  open_picture(frame, part$value, ylim, NULL)
  inside <- function(y) pmin(pmax(y, graphics::par("usr")[3]), graphics::par("usr")[4])
  graphics::polygon(c(part$value, rev(part$value)), inside(c(part$lower, rev(part$upper))), col = mark$band,
                    border = NA)
  graphics::lines(part$value, inside(part$mean), col = mark$mean, lwd = 2)
  at <- if (is.numeric(through)) through else part$value[match(as.character(through), part$label)]
  graphics::abline(v = at, col = mark$next_choice, lty = 3, lwd = 1.5)
}

# An image with contours, points and a colour key in the right margin. `xs`, `ys`: `values` runs over xs first.
# What lies outside `shown` has the colour of its end.
draw_plane <- function(plane, pair, values, log, title, points = NULL, through = NULL, shown = range(values)) {
  xs <- axis_positions(plane[[pair[1]]])
  ys <- axis_positions(plane[[pair[2]]])
  z <- matrix(pmin(pmax(values, shown[1]), shown[2]), length(xs$at), length(ys$at))
  edges <- list(x = cell_edges(xs$at, log[1]), y = cell_edges(ys$at, log[2]))
  frame <- list(log = paste(c("x", "y")[log], collapse = ""), legend = FALSE, xlab = pair[1], ylab = pair[2],
                main = title)
  open_picture(frame, edges$x, edges$y, NULL, grid = FALSE)
  draw_surface(xs$at, ys$at, z, edges)
  place <- function(rows, axis, name) {
    if (is.numeric(rows[[name]])) rows[[name]] else match(as.character(rows[[name]]), axis$labels)
  }
  if (!is.null(points)) {
    graphics::points(place(points, xs, pair[1]), place(points, ys, pair[2]), pch = 21, cex = 0.7, col = "black",
                     bg = grDevices::adjustcolor("white", 0.75))
  }
  if (!is.null(through)) {
    graphics::points(place(through, xs, pair[1]), place(through, ys, pair[2]), pch = 23, cex = 1.5, col = "black",
                     bg = mark$next_choice)
  }
  draw_colour_key(range(z), beyond = c(min(values) < min(z), max(values) > max(z)))
}

axis_positions <- function(values) {
  labels <- unique(as.character(values))
  list(at = if (is.numeric(values)) unique(values) else seq_along(labels), labels = labels)
}

# A strip of the surface's colours beside the picture, with its ends and middle.
draw_colour_key <- function(range, beyond = c(FALSE, FALSE)) {
  if (is_flat(range)) return(invisible())
  side <- graphics::par("usr")
  line <- graphics::par("cxy")[1]
  from_log <- function(v, log) if (log) 10^v else v
  x <- from_log(side[2] + c(0.5, 1.3) * line, graphics::par("xlog"))
  y <- from_log(seq(side[3], side[4], length.out = 51), graphics::par("ylog"))
  old <- graphics::par(xpd = NA)
  on.exit(graphics::par(old))
  graphics::rect(x[1], y[-51], x[2], y[-1], col = surface_colours(50), border = NA)
  labels <- vapply(c(range[1], mean(range), range[2]), function(v) format(signif(v, 3), digits = 3), "")
  labels <- paste0(c(if (beyond[1]) "< " else "", "", if (beyond[2]) "> " else ""), labels)
  at <- from_log(side[3] + c(0.06, 0.5, 0.94) * (side[4] - side[3]), graphics::par("ylog"))
  graphics::text(from_log(side[2] + 2.1 * line, graphics::par("xlog")), at, labels, srt = 90, cex = 0.7)
}
