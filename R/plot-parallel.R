# Parallel coordinates of the evaluations. Layer: plots.

# A row per evaluation and input: `id`, `input`, `label` (the value), `at` (its position on the axis, 0 to 1) and the
# value of the objective. Attributes: `best`, the recommended point in the same form; `ends`, the labels of the axes.
parallel_plot_data <- function(bandit, context, inputs = NULL) {
  config <- bandit$config
  domain <- config$domain
  check_one_objective(config, "parallel")
  names <- or_else(inputs, domain$names)
  if (length(names) < 2) stop_argument("type", "\"parallel\"", "another one for a single input")
  queries <- plot_data_queries(bandit, context)
  known <- is.finite(queries[[1]]$reward)
  if (!any(known)) stop_state("There is no result yet. Use `$observe()` first.", argument = "x")
  points <- queries[[2]][known, names, drop = FALSE]
  along <- lapply(stats::setNames(names, names), function(name) parallel_axis(domain, match(name, domain$names)))
  data <- parallel_rows(points, along, queries[[1]]$id[known], queries[[1]]$reward[known])
  best <- recommended_point(bandit, context)
  list(data = data, best = parallel_rows(best[names], along, NA_real_, NA_real_), axes = along,
       labels = input_labels(domain)[names], label = objective_label(config), smaller = output_sign(config) < 0,
       title = plot_data_title(bandit, list(context = context)))
}

# Positions between 0 and 1 of an input's values, and the labels of the axis: of levels those that have room.
parallel_axis <- function(domain, i) {
  levels <- input_levels(domain, i)
  if (!is.null(levels)) {
    place <- if (length(levels) > 1) seq(0, 1, length.out = length(levels)) else 0.5
    shown <- if (length(levels) <= 12) seq_along(levels) else c(1, length(levels))
    return(list(position = function(x) place[match(as.character(x), levels)], levels = levels[shown],
                at = place[shown]))
  }
  ends <- range(input_axis(domain, i, 2))
  scale <- if (log_inputs(domain)[i]) log else identity
  between <- function(x) {
    if (ends[1] == ends[2]) return(ifelse(is.na(x), NA, 0.5))
    (scale(x) - scale(ends[1])) / diff(scale(ends))
  }
  list(position = between, ends = vapply(ends, function(v) format(signif(v, 4), digits = 4), ""))
}

parallel_rows <- function(points, axes, id, reward) {
  do.call(rbind, lapply(names(axes), function(name) {
    data.frame(id = id, input = name, label = as.character(points[[name]]), at = axes[[name]]$position(points[[name]]),
               reward = reward)
  }))
}

# Evaluations in the order in which they are drawn: the best ones last.
parallel_order <- function(plot_data) {
  first <- plot_data$data[!duplicated(plot_data$data$id), ]
  order(if (plot_data$smaller) -first$reward else first$reward)
}

plot_parallel <- function(bandit, context, frame, inputs = NULL) {
  plot_data <- parallel_plot_data(bandit, plot_data_context(bandit, context), inputs)
  names <- names(plot_data$axes)
  d <- length(names)
  at <- matrix(plot_data$data$at, ncol = d)
  reward <- matrix(plot_data$data$reward, ncol = d)[, 1]
  ends <- range(reward)
  if (plot_data$smaller) ends <- rev(ends)
  old <- room_for_key()
  on.exit(graphics::par(old))
  frame <- utils::modifyList(frame, list(x_axis = list(at = seq_len(d), labels = unname(plot_data$labels)),
                                         y_axis = list(at = numeric(), labels = character())))
  frame[c("xlab", "ylab", "main", "xlim")] <- list(or_else(frame$xlab, ""), or_else(frame$ylab, ""),
                                                   or_else(frame$main, plot_data$title), c(0.85, d + 0.35))
  key <- key_entry("recommended point", mark$next_choice, lty = 1, lwd = 2.5)
  open_picture(frame, seq_len(d), c(-0.06, 1.06), key, grid = FALSE)
  order <- parallel_order(plot_data)
  colours <- if (is_flat(ends)) rep(line_colours[16], length(reward))
             else line_colours[1 + round(31 * (reward - ends[1]) / diff(ends))]
  thick <- if (length(order) > 100) 0.7 else 1.3
  for (k in order) draw_parallel_line(at[k, ], colours[k], thick)
  draw_parallel_axes(plot_data$axes)
  draw_parallel_line(plot_data$best$at, mark$next_choice, 2.5)
  draw_colour_key(ends, c(0, 1), colours = line_colours, title = plot_data$label)
  invisible(plot_data$data)
}

# Inputs without a value interrupt the line; a value between two such inputs is a point.
draw_parallel_line <- function(at, col, lwd) {
  x <- seq_along(at)
  graphics::lines(x, at, col = col, lwd = lwd)
  alone <- is_isolated(rbind(at))
  graphics::points(x[alone], at[alone], pch = 16, cex = 0.8, col = col)
}

# Values without a neighbour in their row.
is_isolated <- function(at) {
  missing <- is.na(at)
  !missing & cbind(TRUE, missing)[, seq_len(ncol(at))] & cbind(missing, TRUE)[, -1]
}

draw_parallel_axes <- function(axes) {
  for (k in seq_along(axes)) {
    axis <- axes[[k]]
    graphics::segments(k, 0, k, 1, col = "grey40")
    if (is.null(axis$ends)) {
      graphics::points(rep(k, length(axis$at)), axis$at, pch = 3, cex = 0.6, col = "grey40")
      halo_text(k, axis$at, axis$levels, adj = c(-0.1, 0.5))
    } else {
      graphics::text(k, c(0, 1), axis$ends, adj = c(0.5, 0.5), pos = c(1, 3), offset = 0.3, cex = 0.75)
    }
  }
}

# Text that is readable on lines.
halo_text <- function(x, y, wording, adj, cex = 0.75) {
  step <- graphics::par("cxy") * 0.06
  for (angle in seq(0, 1.75 * pi, pi / 4)) {
    graphics::text(x + step[1] * cos(angle), y + step[2] * sin(angle), wording, adj = adj, cex = cex, col = "white")
  }
  graphics::text(x, y, wording, adj = adj, cex = cex)
}

ggplot_parallel <- function(bandit, context, inputs = NULL) {
  plot_data <- parallel_plot_data(bandit, plot_data_context(bandit, context), inputs)
  names <- names(plot_data$axes)
  placed <- function(rows) cbind(rows, x = match(rows$input, names))
  drawn <- placed(plot_data$data)
  ids <- plot_data$data$id[seq_len(nrow(plot_data$data) / length(names))]
  drawn$line <- match(drawn$id, ids[parallel_order(plot_data)])
  drawn <- drawn[order(drawn$line, drawn$x), ]
  alone <- is_isolated(matrix(plot_data$data$at, length(ids)))
  best <- placed(plot_data$best)
  best$what <- "recommended point"
  said <- do.call(rbind, lapply(seq_along(names), function(k) parallel_labels(plot_data$axes[[k]], k)))
  lines <- aes_of(x = "x", y = "at", group = "line", colour = "reward")
  ggplot2::ggplot(plot_data$data) +
    ggplot2::geom_linerange(data = data.frame(x = seq_along(names)), mapping = aes_of(x = "x"), ymin = 0, ymax = 1,
                            colour = "grey40", linewidth = 0.4) +
    ggplot2::geom_path(data = drawn, mapping = lines, linewidth = if (length(ids) > 100) 0.3 else 0.6, na.rm = TRUE) +
    ggplot2::geom_point(data = placed(plot_data$data)[as.vector(alone), ],
                        mapping = aes_of(x = "x", y = "at", colour = "reward")) +
    ggplot2::geom_path(data = best, mapping = aes_of(x = "x", y = "at", linetype = "what"),
                       colour = mark$next_choice, linewidth = 1.1, na.rm = TRUE) +
    ggplot2::geom_label(data = said, mapping = aes_of(x = "x", y = "y", label = "label", hjust = "across"),
                        size = 2.8, label.size = 0, fill = grDevices::adjustcolor("white", 0.75),
                        label.padding = ggplot2::unit(1, "pt")) +
    ggplot2::scale_colour_gradientn(plot_data$label, colours = if (plot_data$smaller) rev(line_colours)
                                                               else line_colours) +
    ggplot2::scale_linetype_manual(NULL, values = c("recommended point" = "solid")) +
    ggplot2::scale_x_continuous(breaks = seq_along(names), labels = unname(plot_data$labels),
                                expand = ggplot2::expansion(add = c(0.35, 0.45))) +
    ggplot2::scale_y_continuous(breaks = NULL, expand = ggplot2::expansion(mult = 0.08)) +
    ggplot2::labs(x = NULL, y = NULL, title = plot_data$title) + ggplot_theme("right")
}

parallel_labels <- function(axis, k) {
  if (!is.null(axis$ends)) return(data.frame(x = k, y = c(-0.05, 1.05), label = axis$ends, across = 0.5))
  data.frame(x = k, y = axis$at, label = axis$levels, across = -0.1)
}
