# Plots of searches over several outcomes. Layer: plots.

# Plots of searches over several outcomes: the Pareto front, the probability that the limits hold, and progress.

# The same as maximum_plot_data(). Slices and two-dimensional plots show the objective, if there is only one.
plot_data_of_outcomes <- function(found, type, inputs, width, resolution) {
  config <- found$bandit$config
  names <- config$domain$names
  wants <- function(name) type %in% c("all", name)
  several <- length(objectives(config)) > 1
  plot_data <- list()
  if (wants("progress")) plot_data$progress <- progress_plot_data(found, as.data.frame(found))
  if (wants("front") && several) plot_data$front <- front_plot_data(found, width)
  functional <- !any(vapply(config$outcomes, function(one) has_matrix(one$kernel), NA))
  ranked <- names
  if (length(names) > 1 && functional && type %in% c("all", "map", "importance")) {
    importance <- input_importance(found, draws = if (wants("importance")) 40 else 0)
    totals <- tapply(importance$total, factor(importance$input, names), sum)
    ranked <- names[order(totals, decreasing = TRUE)]
    if (wants("importance")) plot_data$importance <- importance
  }
  through <- point_of_slices(found)
  context <- context_of(found)
  shown <- if (!is.null(inputs)) inputs else if (type == "all") utils::head(ranked, 2) else names
  if (wants("feasible") && has_limits(config) && functional) {
    plot_data$feasible <- slices_plot_data(found$bandit, context, through, shown, width, resolution, of = "feasible")
  }
  if (type == "slices") plot_data$slices <- slices_plot_data(found$bandit, context, through, shown, width, resolution)
  if (type == "dependence") {
    plot_data$dependence <- dependence_plot_data(found$bandit, context, shown, width, resolution)
  }
  if (type == "map") {
    plot_data$map <- plane_plot_data(found$bandit, context, through,
                                     if (length(inputs) == 2) inputs else utils::head(ranked, 2), resolution)
  }
  plot_data
}

# The fields that these plots need from a bandit used by suggest() and observe(), in the form of a search result.
found_by_bandit <- function(bandit, type, context, width, resolution) {
  check_has_posterior(bandit)
  if (!is.null(width)) check_number(width, "width", lower = 0)
  if (!is.null(resolution)) check_count(resolution, "resolution", lower = 2, upper = 1000)
  config <- bandit$config
  refuse <- function(allowed) stop_argument("type", dQuote(type, FALSE), allowed)
  if (type == "front" && length(objectives(config)) < 2) refuse("another plot for a bandit with one objective")
  if (type == "feasible" && !has_limits(config)) refuse("another plot for a bandit without limits")
  if (type == "feasible" && any(vapply(config$outcomes, function(one) has_matrix(one$kernel), NA))) {
    refuse("another plot for a covariance given as a matrix")
  }
  if (!all(vapply(seq_len(outcome_count(config)), function(k) is_level_known(outcome_config(current_config(bandit), k)),
                  NA))) {
    stop_state("This bandit has no observed value of some outcome. Observe at least one value of each before ",
               "plotting.", argument = "x")
  }
  context <- plot_data_context(bandit, context)
  list(bandit = bandit, history = plot_data_queries(bandit, context)[[2]], context = context,
       front = if (type == "front") likely_best(frame_of(bandit), context),
       title = plot_data_title(bandit, list(context = context)))
}

# The recommended point, or the point of the front where the limits hold most probably.
point_of_slices <- function(found) {
  best <- likely_best(frame_of(found$bandit), context_of(found))
  best[which.max(best$feasible), found$bandit$config$domain$names, drop = FALSE]
}

plot_outcomes_of_bandit <- function(bandit, type, context, width, resolution, frame) {
  found <- found_by_bandit(bandit, type, context, width, resolution)
  plot_data <- plot_data_of_outcomes(found, type, NULL, or_else(width, 2), resolution)
  old <- graphics::par(no.readonly = TRUE)
  on.exit(graphics::par(old))
  panels <- panels_of_outcomes(plot_data)
  graphics::par(mfrow = if (panels > 1) panel_layout(panels) else c(1, 1), oma = c(0, 0, 1.6, 0))
  draw_outcomes(found, plot_data, frame)
  graphics::mtext(or_else(frame$main, found$title), outer = TRUE, line = 0.2, font = 2)
  plot_data[[type]]
}

# `kept`: does the evaluation satisfy all limits by its observed values? With one objective: its values and the best so
# far; with several: the hypervolume so far.
progress_plot_data <- function(found, frame) {
  config <- found$bandit$config
  wanted <- objectives(config)
  own <- own_columns(frame, c(config$domain$names, outcome_names(config)))
  seen <- data.frame(evaluation = seq_len(nrow(frame)))
  if (length(wanted) == 1) seen[c("reward", "best")] <- list(frame[[wanted]], own$best)
  else seen$hypervolume <- own$hypervolume
  cbind(seen, kept = kept_limits(found$history, config), status = own$status)
}

# The first two objectives: the values of the evaluations (`kind` "kept" or "infeasible"), the Pareto front with bars of
# `width` sd, and the reference point.
front_plot_data <- function(found, width) {
  config <- found$bandit$config
  pair <- objectives(config)[1:2]
  rows <- function(x, y, kind, sd_x = 0, sd_y = 0) {
    data.frame(x = x, y = y, kind = rep(kind, length.out = length(x)), lower_x = x - width * sd_x,
               upper_x = x + width * sd_x,
               lower_y = y - width * sd_y, upper_y = y + width * sd_y)
  }
  history <- found$history[stats::complete.cases(found$history[pair]), ]
  front <- found$front
  reference <- reference_seen(found)[1:2] * objective_signs(config)[1:2]
  kept <- kept_limits(history, config) %in% TRUE
  plot_data <- rbind(rows(history[[pair[1]]], history[[pair[2]]], ifelse(kept, "kept", "infeasible")),
                rows(front[[paste0(pair[1], "_mean")]], front[[paste0(pair[2], "_mean")]], "front",
                     front[[paste0(pair[1], "_sd")]], front[[paste0(pair[2], "_sd")]]),
                rows(reference[1], reference[2], "reference"))
  row.names(plot_data) <- NULL
  structure(plot_data, objectives = pair)
}

# On a long front, only some of the points have bars.
with_bars <- function(front, most = 25) front[unique(round(seq(1, nrow(front), length.out = min(most, nrow(front))))), ]

pale <- "grey70"

draw_outcomes <- function(found, plot_data, frame = NULL) {
  config <- found$bandit$config
  domain <- config$domain
  if (!is.null(plot_data$progress)) draw_progress_of_outcomes(plot_data$progress, shown_objectives(config))
  if (!is.null(plot_data$front)) draw_front(plot_data$front, has_limits(config), frame)
  through <- point_of_slices(found)
  if (!is.null(plot_data$feasible)) draw_slices(drawn_feasible(plot_data$feasible), through, domain,
                                           "probability that limits hold", c(0, 1))
  if (!is.null(plot_data$slices)) {
    draw_slices(plot_data$slices, through, domain, paste("expected", objective_label(config)),
                seen = seen_along(found$history, domain, unique(plot_data$slices$input),
                                  objective_seen(found)))
  }
  if (!is.null(plot_data$dependence)) {
    draw_slices(plot_data$dependence, NULL, domain, dependence_label(objective_label(config)))
  }
  if (!is.null(plot_data$map)) {
    pair <- names(plot_data$map)[1:2]
    model_state <- own_columns(plot_data$map, pair)
    for (what in c("mean", "sd")) {
      draw_plane(plot_data$map, pair, model_state[[what]], domain, paste(objective_label(config), what), found$history,
                 through)
    }
  }
  if (!is.null(plot_data$importance)) for (name in unique(plot_data$importance$outcome)) {
    draw_importance(plot_data$importance[plot_data$importance$outcome == name, ],
                    attr(plot_data$importance, "explained")[[name]])
    graphics::title(main = shown_names(name, config), cex.main = 1.1)
  }
}

# The observed values of the only objective; a goal that is a formula has none.
objective_seen <- function(found) {
  name <- objectives(found$bandit$config)
  or_else(found$history[[name[1]]], rep(NA_real_, nrow(found$history)))
}

drawn_feasible <- function(plot_data) {
  plot_data[c("mean", "lower", "upper")] <- plot_data$feasible
  plot_data
}

panels_of_outcomes <- function(plot_data) {
  length(unique(c(plot_data$slices$input, plot_data$dependence$input))) + length(unique(plot_data$feasible$input)) +
    2 * ("map" %in% names(plot_data)) +
    sum(c("progress", "front") %in% names(plot_data)) + length(unique(plot_data$importance$outcome))
}

draw_progress_of_outcomes <- function(data, wanted, ahead = NULL, main = NULL) {
  frame <- list(log = "", legend = TRUE, xlab = "evaluation", main = main,
                ylab = if (length(wanted) == 1) wanted else "hypervolume")
  line <- key_entry(if (length(wanted) == 1) "best that kept the limits" else "hypervolume so far", mark$mean, lty = 1,
                    lwd = 2)
  if (length(wanted) > 1) {
    open_picture(frame, data$evaluation, c(0, data$hypervolume), line)
    return(graphics::lines(data$evaluation, data$hypervolume, type = "s", col = mark$mean, lwd = 2))
  }
  kept <- data$kept %in% TRUE
  key <- rbind(line, key_entry(paste(wanted, "within limits"), mark$seen, pch = 16, size = 0.8),
               if (any(!kept & !is.na(data$reward))) key_entry("beyond a limit", pale, pch = 16, size = 0.8))
  open_picture(frame, c(data$evaluation, ahead$evaluation), c(data$reward, ahead$lower, ahead$upper),
               rbind(key, key_of_ahead(ahead)))
  draw_ahead(ahead)
  graphics::lines(data$evaluation, data$best, type = "s", col = mark$mean, lwd = 2)
  graphics::points(data$evaluation, data$reward, pch = 16, cex = 0.8, col = ifelse(kept, mark$seen, pale))
}

draw_front <- function(data, limited, frame) {
  pair <- attr(data, "objectives")
  part <- split(data, factor(data$kind, c("infeasible", "kept", "front", "reference")))
  bars <- with_bars(part$front)
  key <- rbind(key_entry("front (posterior means)", mark$mean, lty = 1, lwd = 2),
               key_entry("evaluation", mark$seen, pch = 16, size = 0.8),
               if (limited && nrow(part$infeasible)) key_entry("beyond a limit", pale, pch = 16, size = 0.8),
               key_entry("reference point", mark$next_choice, pch = 3, size = 1.2))
  frame <- list(log = "", legend = or_else(frame$legend, TRUE), xlim = frame$xlim, ylim = frame$ylim,
                xlab = or_else(frame$xlab, pair[1]), ylab = or_else(frame$ylab, pair[2]))
  open_picture(frame, c(data$x, bars$lower_x, bars$upper_x), c(data$y, bars$lower_y, bars$upper_y), key)
  graphics::points(part$infeasible$x, part$infeasible$y, pch = 16, cex = 0.8, col = pale)
  graphics::segments(bars$lower_x, bars$y, bars$upper_x, bars$y, col = grDevices::adjustcolor(mark$mean, 0.5))
  graphics::segments(bars$x, bars$lower_y, bars$x, bars$upper_y, col = grDevices::adjustcolor(mark$mean, 0.5))
  graphics::lines(part$front$x, part$front$y, col = mark$mean, lwd = 2, type = if (nrow(part$front) > 1) "l" else "p")
  graphics::points(part$kept$x, part$kept$y, pch = 16, cex = 0.8, col = mark$seen)
  graphics::points(part$reference$x, part$reference$y, pch = 3, cex = 1.2, lwd = 2, col = mark$next_choice)
}

# ---- the same with ggplot2 -----------------------------------------------------------------

ggplot_outcomes <- function(found, plot_data, type) {
  config <- found$bandit$config
  data <- plot_data[[type]]
  if (type == "front") return(ggplot_front(data))
  if (type == "progress") return(ggplot_progress_of_outcomes(data, shown_objectives(config)))
  if (type == "importance") {
    return(ggplot_importance_of_outcomes(replace(data, "outcome", list(shown_names(data$outcome, config)))))
  }
  domain <- config$domain
  shown <- list(data = data, through = point_of_slices(found), pair = names(data)[1:2],
                log = stats::setNames(log_inputs(domain), domain$names), levels = levels_of_inputs(domain),
                axes = input_labels(domain))
  if (type == "slices") shown$seen <- seen_along(found$history, domain, unique(data$input), objective_seen(found))
  if (type == "map") {
    return(ggplot_plane(shown, found$history, domain, "mean", "sd") +
             ggplot2::labs(subtitle = "contours: posterior sd; +: recommended"))
  }
  if (type == "slices") return(ggplot_slices(shown) + ggplot2::labs(y = paste("expected", objective_label(config))))
  if (type == "dependence") {
    shown$through <- NULL
    return(ggplot_slices(shown) + ggplot2::labs(y = dependence_label(objective_label(config))))
  }
  shown$data <- drawn_feasible(data)
  picture <- ggplot_slices(shown) + ggplot2::labs(y = "probability that limits hold")
  picture$data <- data
  picture + ggplot2::coord_cartesian(ylim = c(0, 1))
}

ggplot_front <- function(data) {
  pair <- attr(data, "objectives")
  text <- c(kept = "evaluation", infeasible = "beyond a limit", reference = "reference point",
             front = "front (posterior means)")
  data$what <- factor(text[data$kind], text)
  front <- data[data$kind == "front", ]
  bars <- with_bars(front)
  colours <- stats::setNames(c(mark$seen, pale, mark$next_choice, mark$mean), text)
  ggplot2::ggplot(data) +
    ggplot2::geom_segment(data = bars, mapping = aes_of(x = "lower_x", xend = "upper_x", y = "y", yend = "y"),
                          colour = mark$mean, alpha = 0.5) +
    ggplot2::geom_segment(data = bars, mapping = aes_of(x = "x", xend = "x", y = "lower_y", yend = "upper_y"),
                          colour = mark$mean, alpha = 0.5) +
    ggplot2::geom_line(data = front, mapping = aes_of(x = "x", y = "y"), colour = mark$mean, linewidth = 0.8) +
    ggplot2::geom_point(mapping = aes_of(x = "x", y = "y", colour = "what", shape = "what", size = "what")) +
    ggplot2::scale_colour_manual(NULL, values = colours) +
    ggplot2::scale_shape_manual(NULL, values = stats::setNames(c(16, 16, 3, 16), text)) +
    ggplot2::scale_size_manual(NULL, values = stats::setNames(c(1.6, 1.6, 3, 0.4), text)) +
    ggplot2::labs(x = pair[1], y = pair[2])
}

ggplot_progress_of_outcomes <- function(data, wanted) {
  y <- if (length(wanted) == 1) "best" else "hypervolume"
  picture <- ggplot2::ggplot(data) +
    ggplot2::geom_step(data = data[!is.na(data[[y]]), ], mapping = aes_of(x = "evaluation", y = y), colour = mark$mean,
                       linewidth = 0.8) + whole_ticks()
  if (length(wanted) > 1) return(picture + ggplot2::labs(x = "evaluation", y = "hypervolume so far"))
  seen <- data[!is.na(data$reward), ]
  seen$what <- ifelse(seen$kept %in% TRUE, "within limits", "beyond a limit")
  picture + ggplot2::geom_point(data = seen, mapping = aes_of(x = "evaluation", y = "reward", colour = "what")) +
    ggplot2::scale_colour_manual(NULL, values = c("within limits" = mark$seen, "beyond a limit" = pale)) +
    ggplot2::labs(x = "evaluation", y = wanted, subtitle = "line: best that kept the limits")
}

ggplot_importance_of_outcomes <- function(data) {
  bars <- data.frame(input = rep(data$input, 2), outcome = rep(data$outcome, 2), share = c(data$total, data$first),
                     what = factor(rep(c("total", "alone"), each = nrow(data)), levels = c("total", "alone")))
  ggplot2::ggplot(data) +
    ggplot2::geom_col(data = bars, mapping = aes_of(x = "share", y = "input", fill = "what"), position = "identity",
                      colour = mark$mean, width = 0.6) +
    ggplot2::scale_fill_manual(NULL, values = c(total = mark$band, alone = mark$mean)) +
    ggplot_limits_of_shares(data) + ggplot2::facet_wrap("outcome") +
    ggplot2::coord_cartesian(xlim = c(0, 1)) + ggplot2::labs(x = "share of the variance (line: 90%)", y = NULL)
}

register_form("outcomes", progress_plot_data = progress_plot_data, draw_progress = function(plot_data, main) {
  draw_progress_of_outcomes(plot_data$data, shown_objectives(plot_data$found$bandit$config), plot_data$ahead, main)
})
