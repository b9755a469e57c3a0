# Base graphics plots of posteriors and runs. Layer: plots.

# --- plots of a bandit --------------------------------------------------------------------------

# Plots of curves and of arms: posterior, data and next choice over one axis.
draw_profile <- function(bandit, plot_data, frame) {
  frame$xlab <- or_else(frame$xlab, plot_data$x_label)
  frame$ylab <- or_else(frame$ylab, plot_data$reward)
  if (plot_data$type == "arms") frame$x_axis <- named_axis(arm_labels(bandit$config$domain)[plot_data$points$arm],
                                                           length(plot_data$x))
  shown <- c(plot_data$frame$lower, plot_data$frame$upper, plot_data$frame$truth, plot_data$queries$reward,
             plot_data$set$level)
  open_picture(frame, plot_data$x, shown, profile_key(plot_data))
  if (is_line(plot_data)) draw_band_of(plot_data) else draw_bars(plot_data)
  draw_rewards(plot_data$queries)
  if (is_line(plot_data)) draw_curve(plot_data)
  if (!is.null(plot_data$set$level)) graphics::abline(h = plot_data$set$level, lty = 5)
  draw_pending(plot_data)
  draw_next(bandit, plot_data)
}

profile_key <- function(plot_data) {
  curve <- is_line(plot_data)
  seen <- plot_data$queries
  known <- !is.na(seen$reward)
  rbind(
    if (curve) key_entry("posterior mean", mark$mean, lty = 1, lwd = 2)
    else key_entry("posterior mean", mark$mean, pch = 15, size = 0.9),
    if (curve) key_entry(plot_data$band$label, mark$band, pch = 15, size = 2.2)
    else key_entry(plot_data$band$label, mark$mean, lty = 1, lwd = 1.3),
    if (!is.null(plot_data$set$level)) key_entry(level_named(plot_data$set), "black", lty = 5, lwd = 1),
    if (!is.null(plot_data$frame$truth) && curve) key_entry("truth", mark$truth, lty = 2, lwd = 1.5),
    if (!is.null(plot_data$frame$truth) && !curve) key_entry("truth", mark$truth, pch = 4),
    if (any(known & seen$current)) key_entry(plot_data$observed, mark$seen, pch = 16, size = 0.8),
    if (any(known & !seen$current)) key_entry("before the restart", mark$old, pch = 1, size = 0.8),
    if (any(!known)) key_entry("pending query", mark$pending, pch = 24, bg = "white", size = 0.9),
    if (!is.null(plot_data$next_choice)) {
      key_entry("next choice", mark$next_choice, lty = 3, lwd = 1.5, pch = 18, size = 1.5)
    }
  )
}

draw_band_of <- function(plot_data) {
  order <- order(plot_data$x)
  x <- plot_data$x[order]
  graphics::polygon(c(x, rev(x)), c(plot_data$frame$lower[order], rev(plot_data$frame$upper[order])),
                    col = mark$band, border = NA)
}

draw_curve <- function(plot_data) {
  order <- order(plot_data$x)
  x <- plot_data$x[order]
  at <- plot_data$frame[order, ]
  if (!is.null(at$truth)) graphics::lines(x, at$truth, col = mark$truth, lty = 2, lwd = 1.5)
  graphics::lines(x, at$mean, col = mark$mean, lwd = 2)
}

draw_bars <- function(plot_data) {
  at <- plot_data$frame
  crowded <- nrow(at) > 100
  graphics::segments(plot_data$x, at$lower, plot_data$x, at$upper, lwd = if (crowded) 0.7 else 1.3, lend = 1,
                     col = if (crowded) grDevices::adjustcolor(mark$mean, 0.35) else mark$mean)
  graphics::points(plot_data$x, at$mean, pch = 15, cex = if (crowded) 0.4 else 0.9, col = mark$mean)
  if (!is.null(at$truth)) {
    graphics::points(plot_data$x, at$truth, pch = 4, cex = if (crowded) 0.5 else 1, lwd = 1.3, col = mark$truth)
  }
}

draw_rewards <- function(seen) {
  known <- !is.na(seen$reward)
  old <- seen[known & !seen$current, ]
  graphics::points(old$at, old$reward, pch = 1, cex = 0.8, col = mark$old)
  new <- seen[known & seen$current, ]
  graphics::points(new$at, new$reward, pch = 16, cex = point_size(nrow(new)),
                   col = grDevices::adjustcolor(mark$seen, point_alpha(nrow(new))))
}

draw_pending <- function(plot_data) {
  waiting <- plot_data$queries[is.na(plot_data$queries$reward), ]
  heights <- mean_at(plot_data, waiting$at)
  graphics::points(waiting$at, heights, pch = 24, cex = 0.9, lwd = 1.3, col = mark$pending, bg = "white")
}

point_size <- function(n) if (n > 300) 0.5 else 0.8

point_alpha <- function(n) if (n > 300) 0.15 else if (n > 60) 0.35 else 0.8

# The posterior mean at positions on the axis, by interpolation between the drawn points.
mean_at <- function(plot_data, at) {
  if (!length(at)) return(numeric())
  if (length(plot_data$x) < 2) return(rep(plot_data$frame$mean, length(at)))
  # (If the bandit scales its rewards, there is no posterior mean before the first rewards.)
  if (sum(!is.na(plot_data$frame$mean)) < 2) return(rep(NA_real_, length(at)))
  stats::approx(plot_data$x, plot_data$frame$mean, at, rule = 2, ties = "ordered")$y
}

draw_next <- function(bandit, plot_data) {
  if (is.null(plot_data$next_choice)) return(invisible())
  at <- plot_data$next_choice$at
  usr <- graphics::par("usr")
  height <- next_height(bandit, plot_data)
  graphics::segments(at, usr[3], at, height, col = mark$next_choice, lty = 3, lwd = 1.5)
  graphics::points(at, height, pch = 18, cex = 1.7, col = mark$next_choice)
}

# --- two-dimensional plots -------------------------------------------------------------------------

draw_map <- function(bandit, plot_data, frame) {
  if (plot_data$scattered) return(draw_scatter(plot_data, frame))
  if (is.null(plot_data$set)) {
    old <- room_for_key()
    on.exit(graphics::par(old))
  }
  frame$xlab <- or_else(frame$xlab, plot_data$axes[1])
  frame$ylab <- or_else(frame$ylab, plot_data$axes[2])
  xs <- sort(unique(plot_data$x))
  ys <- sort(unique(plot_data$y))
  labels <- z <- matrix(NA_real_, length(xs), length(ys))
  at <- cbind(match(plot_data$x, xs), match(plot_data$y, ys))
  z[at] <- plot_data$frame$mean
  set <- plot_data$set
  if (!is.null(set)) labels[at] <- as.integer(set$label)
  played <- played_points(plot_data$queries)
  edges <- list(x = cell_edges(xs, grepl("x", plot_data$log)), y = cell_edges(ys, grepl("y", plot_data$log)))
  surface <- if (!is.null(set)) label_key(set)
             else key_entry("posterior mean", surface_colours[22], pch = 15, size = 2.2)
  open_picture(frame, edges$x, edges$y, map_key(plot_data, played, surface), grid = FALSE)
  if (is.null(set)) draw_surface(xs, ys, z, edges) else draw_level_set(xs, ys, z, labels, edges, set$level)
  graphics::points(played$x, played$y, pch = 21, cex = play_size(played$plays, played$plays), lwd = 1,
                   col = "black", bg = ifelse(played$pending, mark$pending, grDevices::adjustcolor("white", 0.75)))
  if (is.null(set)) draw_colour_key(range(z), edges$y)
  draw_map_marks(plot_data)
}

draw_map_marks <- function(plot_data) {
  best <- best_drawn(plot_data)
  graphics::points(plot_data$x[best], plot_data$y[best], pch = 3, cex = 1.6, lwd = 2.5, col = "black")
  if (!is.null(plot_data$frame$truth)) {
    top <- which.max(plot_data$sign * plot_data$frame$truth)
    graphics::points(plot_data$x[top], plot_data$y[top], pch = 2, cex = 1.7, lwd = 2.2, col = "black")
  }
  if (!is.null(plot_data$next_choice)) {
    graphics::points(plot_data$next_choice$at, plot_data$next_choice$at_y, pch = 23, cex = 1.6, lwd = 1.2,
                     col = "black", bg = mark$next_choice)
  }
}

# Arms that do not form a grid: one point each, without interpolation.
draw_scatter <- function(plot_data, frame) {
  old <- graphics::par(no.readonly = TRUE)
  on.exit(graphics::par(old))
  title <- frame$main
  graphics::par(mfrow = panel_layout(2), oma = c(0, 0, 1.6, 0), mar = c(3.6, 3.8, 2, 2.6))
  frame$xlab <- or_else(frame$xlab, plot_data$axes[1])
  frame$ylab <- or_else(frame$ylab, plot_data$axes[2])
  arms <- scatter_plot_data(plot_data)
  for (what in panels_of_arms(plot_data)) {
    frame$main <- panel_titles(what)
    draw_scatter_panel(arms, arms[[what]], plot_data, frame)
  }
  graphics::mtext(title, outer = TRUE, line = 0.2, font = 2)
}

panels_of_arms <- function(plot_data) if (is.null(plot_data$set)) c("mean", "sd") else c("label", "mean")

panel_titles <- function(shown) ifelse(shown == "label", "level set", paste("posterior", shown))

draw_scatter_panel <- function(arms, values, plot_data, frame) {
  old <- room_for_key()
  on.exit(graphics::par(old))
  played <- arms$plays > 0
  size <- scatter_size(nrow(arms))
  unplayed <- key_entry("arm not played", "grey55", pch = 21, size = size,
                        bg = if (is.factor(values)) "white" else surface_colours[16])
  labelled <- is.factor(values)
  key <- map_key(plot_data, arms[played, ], rbind(if (labelled) label_key(plot_data$set, contour = FALSE),
                                                  if (!all(played)) unplayed))
  top <- open_picture(frame, arms$x, arms$y, key)
  colours <- if (labelled) label_colours[as.character(values)] else colours_of_values(values)
  graphics::points(arms$x[!played], arms$y[!played], pch = 21, cex = size, lwd = 0.6, col = "grey55",
                   bg = colours[!played])
  graphics::points(arms$x[played], arms$y[played], pch = 21, lwd = 1.6, bg = colours[played],
                   cex = 0.4 + play_size(arms$plays[played], arms$plays[played]),
                   col = ifelse(arms$pending[played], mark$pending, "black"))
  draw_map_marks(plot_data)
  if (!labelled) draw_colour_key(range(values), c(graphics::par("usr")[3], top))
}

scatter_size <- function(n) if (n > 1000) 0.5 else if (n > 200) 0.8 else 1.1

colours_of_values <- function(values) {
  known <- is.finite(values)
  out <- rep("grey85", length(values))
  if (is_flat(values)) {
    out[known] <- surface_colours[16]
    return(out)
  }
  ends <- range(values[known])
  out[known] <- surface_colours[1 + round(31 * (values[known] - ends[1]) / diff(ends))]
  out
}

draw_surface <- function(xs, ys, z, edges, contours = TRUE) {
  if (is_flat(z)) {
    graphics::rect(edges$x[1], edges$y[1], edges$x[2], edges$y[2], col = surface_colours[16], border = NA)
    return(invisible())
  }
  paint_cells(xs, ys, matrix(colours_of_values(z), nrow(z)), edges)
  if (contours && length(xs) > 1 && length(ys) > 1) {
    graphics::contour(xs, ys, z, add = TRUE, col = "grey25", lwd = 0.7, labcex = 0.7, nlevels = 8)
  }
}

# The area is proportional to the number of plays, within limits that remain readable.
play_size <- function(plays, all) if (length(plays)) 0.7 + 1.9 * sqrt((plays - 1) / max(all - 1, 4)) else numeric()

# `first`: the legend entry for the surface's colours. A pending query is a disc on a surface and a ring around a point.
map_key <- function(plot_data, played, first) {
  counts <- if (nrow(played)) unique(range(played$plays))
  ring <- plot_data$scattered
  rbind(
    first,
    if (length(counts)) {
      key_entry(sprintf("%d play%s", counts, ifelse(counts == 1, "", "s")), "black", pch = 21, bg = "white",
                size = play_size(counts, played$plays) + if (ring) 0.4 else 0)
    },
    if (any(played$pending)) {
      key_entry("pending query", if (ring) mark$pending else "black", pch = 21,
                bg = if (ring) "white" else mark$pending)
    },
    if (length(best_drawn(plot_data))) key_entry(map_mark_names(plot_data)[["best"]], "black", pch = 3, size = 1.2),
    if (!is.null(plot_data$frame$truth)) key_entry(map_mark_names(plot_data)[["truth"]], "black", pch = 2, size = 1.2),
    if (!is.null(plot_data$next_choice)) key_entry("next choice", "black", pch = 23, bg = mark$next_choice, size = 1.2)
  )
}

# --- runs and comparisons ----------------------------------------------------------------------------

draw_run <- function(plot_data, frame, col) {
  data <- plot_data$frame
  value <- data[[plot_data$column]]
  key <- rbind(
    key_entry(gsub("_", " ", plot_data$column), col, lty = 1, lwd = 2),
    if (!is.null(data$bound)) key_entry("bound", "black", lty = 2, lwd = 1.5),
    if (length(plot_data$changes)) key_entry("change point", "grey45", lty = 1, lwd = 1),
    if (length(plot_data$restarts)) key_entry("restart", okabe_ito[["vermillion"]], lty = 3, lwd = 1.5)
  )
  frame$legend <- frame$legend && nrow(key) > 1
  zero <- if (!grepl("y", frame$log)) 0
  top <- open_picture(frame, data$round, c(zero, value, data$bound), key)
  draw_verticals(plot_data$changes, top, "grey45", 1, 1)
  draw_verticals(plot_data$restarts, top, okabe_ito[["vermillion"]], 3, 1.5)
  if (!is.null(data$bound)) graphics::lines(data$round, on_axis(data$bound), lty = 2, lwd = 1.5)
  graphics::lines(data$round, on_axis(value), col = col, lwd = 2)
}

# Vertical lines over the height of the data only, so that the space of the legend stays free.
draw_verticals <- function(at, top, col, lty, lwd) {
  bottom <- graphics::par("usr")[3]
  if (graphics::par("ylog")) bottom <- 10^bottom
  if (length(at)) graphics::segments(at, bottom, at, top, col = col, lty = lty, lwd = lwd)
}

# On a logarithmic axis, values of zero are drawn below the plot instead of interrupting the curve.
on_axis <- function(values) {
  if (!graphics::par("ylog")) return(values)
  pmax(values, 10^(graphics::par("usr")[3] - 1))
}

draw_comparison <- function(plot_data, frame, col) {
  parts <- split(plot_data$frame, plot_data$frame$bandit)
  style <- series_style(length(parts), col)
  key <- key_entry(names(parts), style$col, lty = style$lty, lwd = 2)
  bound <- unique(plot_data$frame[intersect(c("round", "bound"), names(plot_data$frame))])
  if (!is.null(bound$bound)) key <- rbind(key, key_entry("bound", "black", lty = 2, lwd = 1.5))
  # A band that reaches zero must not extend a logarithmic axis.
  shown <- plot_data$frame[intersect(c("mean", "upper", if (!grepl("y", frame$log)) "lower", "bound"),
                                     names(plot_data$frame))]
  open_picture(frame, plot_data$frame$round, unlist(shown), key)
  for (i in seq_along(parts)) draw_band(parts[[i]], style$col[i])
  for (i in seq_along(parts)) {
    graphics::lines(parts[[i]]$round, on_axis(parts[[i]]$mean), col = style$col[i], lty = style$lty[i], lwd = 2)
  }
  if (!is.null(bound$bound)) graphics::lines(bound$round, on_axis(bound$bound), lty = 2, lwd = 1.5)
}

draw_band <- function(part, col) {
  part <- part[!is.na(part$se), ]
  if (!nrow(part) || all(part$lower == part$upper)) return(invisible())
  graphics::polygon(c(part$round, rev(part$round)), c(on_axis(part$lower), rev(on_axis(part$upper))),
                    col = grDevices::adjustcolor(col, 0.18), border = NA)
}

# `explained`: the proportion of the variance that the mean explains, from input_importance().
#' @rdname input_importance
#' @export
plot.bandit_importance <- function(x, type = "importance", ...) {
  check_dots_empty(...)
  check_choice(type, "importance", "type")
  outcomes <- unique(x$outcome)
  if (length(outcomes) > 1) {
    old <- graphics::par(mfrow = panel_layout(length(outcomes)))
    on.exit(graphics::par(old))
  }
  explained <- attr(x, "explained")
  if (is.null(outcomes)) draw_importance(x, explained)
  for (name in outcomes) {
    draw_importance(x[x$outcome == name, ], explained[[name]])
    graphics::title(main = name, cex.main = 1.1)
  }
  invisible(x)
}

draw_importance <- function(data, explained = attr(data, "explained")) {
  force(explained)
  data <- data[order(data$total), ]
  n <- nrow(data)
  graphics::plot.new()
  graphics::plot.window(c(0, 1), c(0.4, n + 0.6), xaxs = "i", yaxs = "i")
  graphics::abline(v = seq(0, 1, 0.2), col = "grey92", lwd = 0.8)
  graphics::rect(0, seq_len(n) - 0.3, data$total, seq_len(n) + 0.3, col = mark$band, border = mark$mean)
  graphics::rect(0, seq_len(n) - 0.3, data$first, seq_len(n) + 0.3, col = mark$mean, border = NA)
  graphics::segments(data$lower, seq_len(n), data$upper, seq_len(n), lwd = 1.5)
  graphics::segments(c(data$lower, data$upper), seq_len(n) - 0.12, y1 = seq_len(n) + 0.12, lwd = 1.5)
  graphics::axis(1, at = seq(0, 1, 0.2), lwd = 0, lwd.ticks = 1, col.ticks = "grey60", tcl = -0.3, mgp = c(3, 0.5, 0))
  graphics::axis(2, at = seq_len(n), labels = data$input, lwd = 0, las = 1, mgp = c(3, 0.5, 0))
  label <- "share of the variance (filled: alone; line: 90%)"
  small <- min(1, 0.98 * graphics::par("fin")[1] / graphics::strwidth(label, units = "inches"))
  graphics::mtext(label, 1, line = 2, at = 0.5, cex = small * graphics::par("cex"))
  said <- said_of_shares(explained)
  if (!is.null(said)) graphics::mtext(said, side = 3, line = 0.3, cex = 0.8)
}

# With the meaning of the cross if there is room for it.
title_of_plane <- function(title, through) {
  with_cross <- paste0(title, "  (+ recommended)")
  fits <- graphics::strwidth(with_cross, units = "inches", cex = 1.1, font = 2) <= graphics::par("fin")[1]
  graphics::title(main = if (fits && !is.null(through)) with_cross else title, line = 1, cex.main = 1.1)
}

panel_layout <- function(count) {
  columns <- ceiling(sqrt(count))
  c(ceiling(count / columns), columns)
}

beyond_colours <- function(values, z) {
  c(known_range(values)[1] < known_range(z)[1], known_range(values)[2] > known_range(z)[2])
}

# NA if there are no finite values yet.
known_range <- function(values) {
  values <- values[is.finite(values)]
  if (length(values)) range(values) else c(NA_real_, NA_real_)
}

# Makes the right margin wide enough for the colour key, and the left one for the names along the axis. Returns the
# previous par().
room_for_key <- function(names = NULL) {
  margins <- graphics::par("mar")
  margins[4] <- max(margins[4], 4.6)
  if (!is.null(names)) {
    line <- graphics::par("mai")[2] / max(graphics::par("mar")[2], 0.1)
    wide <- max(graphics::strwidth(names, units = "inches", cex = graphics::par("cex.axis"))) / line
    margins[2] <- max(margins[2], min(wide, 0.35 * graphics::par("fin")[1] / line) + 2.4)
  }
  graphics::par(mar = margins)
}

# A colour key to the right of the plot, from `edges[1]` to `edges[2]`, with labels at its ends and middle.
draw_colour_key <- function(range, edges, beyond = c(FALSE, FALSE), colours = surface_colours, title = NULL) {
  if (is_flat(range)) return(invisible())
  side <- graphics::par("usr")
  # (The width of a letter; on the log scale if the axis is logarithmic.)
  line <- graphics::par("cin")[1] / graphics::par("pin")[1] * (side[2] - side[1]) * graphics::par("cex")
  side[3:4] <- if (graphics::par("ylog")) log10(edges) else edges
  from_log <- function(v, log) if (log) 10^v else v
  x <- from_log(side[2] + c(0.7, 1.7) * line, graphics::par("xlog"))
  y <- from_log(seq(side[3], side[4], length.out = 33), graphics::par("ylog"))
  old <- graphics::par(xpd = NA)
  on.exit(graphics::par(old))
  # (Each covers the rest of the last one, so that no white lines remain between them.)
  graphics::rect(x[1], y[-33], x[2], y[33], col = colours, border = NA)
  ends <- c(range[1], mean(range), range[2])
  ends[abs(ends) < 1e-3 * abs(diff(range))] <- 0
  labels <- vapply(ends, function(v) format(signif(v, 3), digits = 3), "")
  labels <- paste0(c(if (beyond[1]) "< " else "", "", if (beyond[2]) "> " else ""), labels)
  at <- from_log(side[3] + c(0.03, 0.5, 0.97) * (side[4] - side[3]), graphics::par("ylog"))
  graphics::text(from_log(side[2] + 2.1 * line, graphics::par("xlog")), at, labels, adj = c(0, 0.5), cex = 0.75)
  if (!is.null(title)) graphics::text(x[1], y[33], title, adj = c(0, -0.8), cex = 0.75)
}
