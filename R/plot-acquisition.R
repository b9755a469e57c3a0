# The acquisition function along each input, below the posterior. Layer: plots.

# The most inputs that are drawn unless their names are given.
most_acquisition_panels <- 4

# The acquisition function of the next query along inputs, through the next point: the rows of slices_plot_data() with a
# column `acquisition`. Arms without axes between them are one "input". A refit that is due comes first, in a copy.
acquisition_plot_data <- function(bandit, context, width, resolution, inputs = NULL) {
  check_has_posterior(bandit)
  refuse <- function(what) stop_argument("type", "\"acquisition\"", what)
  check_not_scripted(bandit, function(title) refuse(paste("another plot, because R code chooses the points of", title)))
  check_one_objective(bandit$config, "acquisition")
  width <- if (is.null(width)) 2 else check_number(width, lower = 0)
  if (!is.null(resolution)) check_count(resolution, lower = 2, upper = 1000)
  own <- bandit$copy()
  copy <- frame_of(own)
  contexts <- contexts_for(copy, context, 1)
  if (design_left(copy, contexts) == 0) refit_if_due(copy)
  coming <- preview_query(own, context)
  if (is.null(coming)) stop_state("No further query can be made, so there is no acquisition function.", argument = "x")
  rebuild(copy)
  domain <- copy$config$domain
  queries <- plot_data_queries(bandit, context)
  ahead <- own_columns(coming, given_names(copy$config))
  drawn <- if (is_plain_set_of_arms(domain)) {
    acquisition_at_arms(copy, context, width, queries[[1]], ahead$arm)
  } else {
    inputs <- or_else(inputs, acquisition_inputs(copy, context))
    data <- slices_plot_data(copy, context, coming[domain$names], inputs, width, resolution)
    list(data = data, points = points_of_slices(data, coming, domain), through = coming[domain$names],
         seen = seen_along(queries[[2]], domain, inputs, queries[[1]]$reward), levels = levels_of_inputs(domain),
         log = stats::setNames(log_inputs(domain), domain$names), axes = as.list(input_labels(domain)))
  }
  drawn$data$acquisition <- acquisition_values(copy, contexts, context, drawn$points, refuse)
  if (is_plain_set_of_arms(domain)) drawn$data <- drawn$data[order(drawn$data$value), ]
  c(drawn, list(marked = is_predictable(bandit, ahead), coming = coming, label = objective_label(bandit$config),
                title = plot_data_title(bandit, list(context = context))))
}

acquisition_inputs <- function(bandit, context) {
  names <- bandit$config$domain$names
  if (length(names) <= most_acquisition_panels) return(names)
  ranked <- most_important(input_importance(bandit, 512, context, draws = 0), objectives(bandit$config))
  names[names %in% utils::head(ranked, most_acquisition_panels)]
}

# Arms with one input are drawn along it, others by their numbers.
acquisition_at_arms <- function(bandit, context, width, queries, next_arm) {
  domain <- bandit$config$domain
  points <- all_points(domain)
  arms <- as.character(seq_len(point_total(points)))
  along <- length(domain$names) == 1
  name <- if (along) domain$names else "arm"
  value <- if (along) domain$x[, 1] else seq_along(arms)
  at <- with_band(drawn_posterior(bandit, points, context, width), width)
  known <- which(is.finite(queries$reward))
  list(data = data.frame(input = name, value, label = if (along) as.character(value) else arms,
                         at[c("mean", "sd", "lower", "upper")], piece = 0, row.names = NULL),
       seen = data.frame(input = rep(name, length(known)), value = value[queries$arm[known]],
                         reward = queries$reward[known]),
       through = stats::setNames(list(value[next_arm]), name), levels = if (!along) list(arm = arms),
       log = stats::setNames(along && log_inputs(domain), name),
       axes = stats::setNames(list(if (along) input_labels(domain)[[1]] else "arm"), name))
}

# The points of the slices as a data frame of all inputs.
points_of_slices <- function(data, through, domain) {
  parts <- lapply(unique(data$input), function(name) {
    part <- data[data$input == name, ]
    points <- through[rep(1, nrow(part)), domain$names, drop = FALSE]
    points[[name]] <- if (is.numeric(points[[name]])) part$value else part$label
    shown_points(domain, points, name)$points
  })
  do.call(rbind, parts)
}

# Logarithmic functions, such as that of expected improvement, are drawn relative to their largest value.
acquisition_values <- function(bandit, contexts, context, frame, refuse) {
  config <- bandit$config
  points <- if (is.null(frame)) matrix(0, 0, 0) else as_kernel_points(bandit, frame, context)$points
  found <- preserve_rng(cpp_bandit_acquisition(bandit$handle, contexts, points))
  if (!length(found$values)) {
    refuse(paste("another plot, because", trait(config$policy, "short"),
                 "draws points at random or scores its candidates only"))
  }
  found$values[is.nan(found$values)] <- NA
  if (found$logarithmic) exp(found$values - max(found$values, na.rm = TRUE)) else found$values
}

# For each input the posterior above, the acquisition function below.
draw_acquisition <- function(plot_data, frame) {
  old <- graphics::par(no.readonly = TRUE)
  on.exit(graphics::par(old))
  data <- plot_data$data
  names <- unique(data$input)
  graphics::par(mfcol = c(2, length(names)), oma = c(0, 0, 1.6, 0), mar = c(3.6, 3.8, 0.8, 0.8))
  ylim <- or_else(frame$ylim, range_with_seen(data, plot_data$seen))
  for (name in names) {
    part <- data[data$input == name, ]
    axis <- plot_data$axes[[name]]
    through <- plot_data$through[[name]]
    levels <- plot_data$levels[[name]]
    draw_slice(part, through, plot_data$log[[name]], levels, or_else(frame$ylab, paste("expected", plot_data$label)),
               ylim, axis, plot_data$seen[plot_data$seen$input == name, ])
    draw_acquisition_along(part, through, plot_data$log[[name]], levels, axis, plot_data$marked, frame$legend,
                           range(data$acquisition[is.finite(data$acquisition)]))
  }
  graphics::mtext(or_else(frame$main, plot_data$title), outer = TRUE, line = 0.2, font = 2)
  acquisition_returned(plot_data)
}

acquisition_returned <- function(plot_data) {
  structure(plot_data$data[setdiff(names(plot_data$data), "piece")], next_choice = plot_data$coming)
}

draw_acquisition_along <- function(part, through, log, levels, axis, marked, legend, ylim) {
  frame <- list(log = if (log) "x" else "", legend = legend && marked, xlab = axis, ylab = "acquisition")
  if (!is.null(levels)) {
    frame$x_axis <- named_axis(levels)
    frame$xlim <- c(0.5, length(levels) + 0.5)
  }
  open_picture(frame, part$value, ylim, key_entry("next choice", mark$next_choice, lty = 3, lwd = 1.5, pch = 18,
                                                  size = 1.5))
  if (is.null(levels) && nrow(part) > 1) {
    for (one in split(part, part$piece)) graphics::lines(one$value, one$acquisition, lwd = 2)
  } else {
    graphics::points(part$value, part$acquisition, type = "h", lwd = if (nrow(part) > 100) 0.7 else 1.3)
    graphics::points(part$value, part$acquisition, pch = 16, cex = point_size(nrow(part)))
  }
  if (marked) draw_marked_choice(part, through, levels)
}

# The marked choice of `part`, at the height of the nearest drawn point.
marked_height <- function(part, through, levels) {
  at <- if (is.null(levels)) through else match(as.character(through), as.character(levels))
  data.frame(value = as.double(at), acquisition = part$acquisition[which.min(abs(part$value - as.double(at)))])
}

draw_marked_choice <- function(part, through, levels) {
  at <- marked_height(part, through, levels)
  graphics::segments(at$value, graphics::par("usr")[3], at$value, at$acquisition, col = mark$next_choice, lty = 3,
                     lwd = 1.5)
  graphics::points(at$value, at$acquisition, pch = 18, cex = 1.7, col = mark$next_choice)
}

plot_acquisition <- function(bandit, context, width, resolution, frame, inputs = NULL) {
  # (Before a device is opened: this may be an error.)
  plot_data <- acquisition_plot_data(bandit, plot_data_context(bandit, context), width, resolution, inputs)
  draw_acquisition(plot_data, frame)
}

ggplot_acquisition <- function(bandit, context, width, resolution, inputs = NULL) {
  plot_data <- acquisition_plot_data(bandit, plot_data_context(bandit, context), width, resolution, inputs)
  picture <- ggplot_slices(plot_data) + ggplot2::labs(y = NULL, title = plot_data$title) + ggplot_theme("top") +
    ggplot2::theme(strip.placement = "outside")
  picture$data <- acquisition_returned(plot_data)
  picture
}
