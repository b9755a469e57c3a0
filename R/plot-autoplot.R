# `autoplot()` methods for ggplot2. Layer: plots.

# The plots of plot() with ggplot2. NAMESPACE registers the methods when ggplot2 is loaded, so this file needs nothing
# from ggplot2 before that.

#' Plot a bandit, a run or a comparison with ggplot2
#'
#' These methods of `ggplot2::autoplot()` draw the charts of [plot()][bandit-plots] as ggplot objects.
#'
#' Layers, scales and themes can be added to them. The methods are available when ggplot2 is installed; gpbandits itself
#' does not need it. [bandit-plots] describes the charts. There are two differences: a map of type `"sd"` has the sd as
#' colours and the mean as contours, and slices along logarithmic inputs have a log10 axis. As with `plot()`, drawing
#' changes neither the bandit nor the random numbers that follow.
#' @param object a [GPBandit], `bandit_run` or `bandit_comparison`.
#' @inheritParams bandit-plots
#' @return A `ggplot` object whose `data` is the data.frame that `plot()` returns.
#' @section Errors: A `gpbandits_error` for an invalid argument, for a type that the domain does not allow, or if
#'   ggplot2 is not installed.
#' @seealso [bandit-plots].
#' @concept ggplot2
#' @concept posterior plot
#' @concept regret plot
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' bandit <- gp_ucb(seq(0, 1, length.out = 100), kernel_se(0.2), noise_var = 0.01)
#' bandit$add(arm = c(10, 40, 90), reward = c(1, 0.2, 0.5))
#' ggplot2::autoplot(bandit) + ggplot2::labs(x = "dose", y = "response")
#' @name bandit-autoplot
NULL

#' @rdname bandit-autoplot
#' @method autoplot GPBandit
#' @exportS3Method ggplot2::autoplot GPBandit
autoplot.GPBandit <- function(object, type = c("auto", "curve", "map", "arms", "slices", "sd", "front", "feasible",
                                         "progress", "importance", "dependence", "acquisition", "parallel"),
                              context = NULL, truth = NULL, width = NULL, next_choice = TRUE, resolution = NULL, ...) {
  check_bandit(object)
  check_dots_empty(..., allowed = names(formals(autoplot.GPBandit)))
  need_ggplot2()
  type <- check_choice(type, eval(formals(autoplot.GPBandit)$type))
  object <- looked_at(object)
  if (type == "importance") {
    data <- input_importance(object, context = plot_data_context(object, context))
    several <- !is.null(data$outcome)
    return((if (several) ggplot_importance_of_outcomes(data) else ggplot_importance(data)) + ggplot_theme("top"))
  }
  if (type == "progress") return(ggplot_progress_of_bandit(object))
  if (type == "acquisition") return(ggplot_acquisition(object, context, width, resolution))
  if (type == "parallel") return(ggplot_parallel(object, context))
  type <- settled_type(type, object$config)
  if (type %in% c("front", "feasible")) {
    found <- found_by_bandit(object, type, context, width, resolution)
    picture <- ggplot_outcomes(found, plot_data_of_outcomes(found, type, NULL, or_else(width, 2), resolution), type)
    return(picture + ggplot2::labs(title = found$title) + ggplot_theme("top"))
  }
  if (type %in% through_best) {
    return(ggplot_through_best(object, type, plot_data_context(object, context), width, resolution))
  }
  plot_data <- bandit_plot_data(object, context, truth, type, width, next_choice, resolution)
  picture <- if (plot_data$type == "map") ggplot_map(object, plot_data) else ggplot_profile(object, plot_data)
  picture + ggplot_log(plot_data$log) + ggplot2::labs(title = plot_data$title) + ggplot_theme("right")
}

#' @rdname bandit-autoplot
#' @method autoplot bandit_run
#' @exportS3Method ggplot2::autoplot bandit_run
autoplot.bandit_run <- function(object, type = c("cumulative", "average", "simple", "violation"), bound = NULL,
                                log = "", col = NULL, ...) {
  check_class(object, "bandit_run")
  check_dots_empty(..., allowed = names(formals(autoplot.bandit_run)))
  need_ggplot2()
  log <- check_choice(log, c("", "x", "y", "xy"))
  col <- or_else(check_colours(col), okabe_ito)[[1]]
  plot_data <- run_plot_data(object, type, bound)
  curve <- gsub("_", " ", plot_data$column)
  lines <- rbind(
    ggplot_series(curve, plot_data$frame$round, shown_on(plot_data$frame[[plot_data$column]], log)),
    if (!is.null(plot_data$frame$bound)) ggplot_series("bound", plot_data$frame$round,
                                                       shown_on(plot_data$frame$bound, log))
  )
  verticals <- rbind(if (length(plot_data$changes)) ggplot_series("change point", plot_data$changes, NA),
                     if (length(plot_data$restarts)) ggplot_series("restart", plot_data$restarts, NA))
  shown <- c(curve, "bound", "change point", "restart")
  aesthetics <- aes_of(x = "x", y = "y", colour = "series", linetype = "series")
  picture <- ggplot2::ggplot(plot_data$frame)
  if (!is.null(verticals)) {
    lying <- aes_of(xintercept = "x", colour = "series", linetype = "series")
    picture <- picture + ggplot2::geom_vline(data = verticals, mapping = lying, key_glyph = "path", linewidth = 0.5)
  }
  colours <- stats::setNames(c(col, "black", "grey45", okabe_ito[["vermillion"]]), shown)
  types <- stats::setNames(c("solid", "dashed", "solid", "dotted"), shown)
  picture + ggplot2::geom_line(data = lines, mapping = aesthetics, linewidth = 0.8, na.rm = TRUE) +
    ggplot2::scale_colour_manual(NULL, values = colours, breaks = shown) +
    ggplot2::scale_linetype_manual(NULL, values = types, breaks = shown) +
    ggplot_log(log) + ggplot2::labs(x = "round", y = plot_data$label, title = plot_data$title) + ggplot_theme()
}

#' @rdname bandit-autoplot
#' @method autoplot bandit_comparison
#' @exportS3Method ggplot2::autoplot bandit_comparison
autoplot.bandit_comparison <- function(object, type = "average_regret", bound = NULL, bands = 1, log = "",
                                       col = NULL, ...) {
  check_class(object, "bandit_comparison")
  check_dots_empty(..., allowed = names(formals(autoplot.bandit_comparison)))
  need_ggplot2()
  plot_data <- comparison_plot_data(object, type, bands, log, bound)
  style <- series_style(nlevels(plot_data$frame$bandit), check_colours(col))
  ylog <- grepl("y", plot_data$log)
  curves <- plot_data$frame
  curves$mean <- shown_on(curves$mean, plot_data$log)
  banded <- curves[!is.na(curves$se) & !is.na(curves$mean), ]
  # On a logarithmic axis, a band that reaches zero ends at the lowest mean.
  if (ylog && nrow(banded)) banded$lower <- pmax(banded$lower, min(curves$mean, na.rm = TRUE))
  ggplot2::ggplot(plot_data$frame, aes_of(x = "round", y = "mean", colour = "bandit")) +
    ggplot2::geom_ribbon(data = banded, mapping = aes_of(ymin = "lower", ymax = "upper", fill = "bandit"),
                         alpha = 0.18, colour = NA) +
    ggplot2::geom_line(data = curves, mapping = aes_of(linetype = "bandit"), linewidth = 0.8, na.rm = TRUE) +
    ggplot2::scale_colour_manual(NULL, values = style$col) +
    ggplot2::scale_fill_manual(NULL, values = style$col) +
    ggplot2::scale_linetype_manual(NULL, values = style$lty) +
    (if (!is.null(curves$bound)) ggplot2::geom_line(data = curves, mapping = aes_of(y = "bound"), colour = "black",
                                                    linetype = "dashed", na.rm = TRUE)) +
    ggplot_log(plot_data$log) + ggplot2::labs(x = "round", y = plot_data$label,
                                              subtitle = plot_data$note) + ggplot_theme()
}

need_ggplot2 <- function() {
  if (!has_package("ggplot2")) {
    stop_gpbandits("argument", "`autoplot()` needs package ggplot2, which is not installed. Try ",
                   "`install.packages(\"ggplot2\")`, or `plot()`.")
  }
}

ggplot_series <- function(series, x, y) data.frame(series = series, x = x, y = y)

# Zero has no position on a logarithmic axis.
shown_on <- function(values, log) if (grepl("y", log)) ifelse(values > 0, values, NA) else values

# --- a bandit of many inputs -----------------------------------------------------------------------

ggplot_through_best <- function(bandit, type, context, width, resolution) {
  plot_data <- through_best_plot_data(bandit, type, context, width, resolution)
  plane <- function(colours, contours) {
    ggplot_plane(plot_data, bandit_history(bandit), bandit$config$domain, colours, contours) +
      ggplot2::labs(subtitle = paste0("contours: posterior ", contours, "; +: recommended"))
  }
  picture <- switch(type, sd = plane("sd", "mean"), triangle = plane("mean", "sd"),
                    ggplot_slices(plot_data) + ggplot2::labs(y = plot_data$label))
  picture + ggplot2::labs(title = plot_data$title) + ggplot_theme("right")
}

# --- a search ------------------------------------------------------------------------------------

#' Plot the result of a search with ggplot2
#'
#' This method of `ggplot2::autoplot()` draws one chart of [plot.bandit_maximum()] as a ggplot object.
#'
#' A map has the posterior mean as colours and its sd as contours.
#'
#' @param object a result of [maximize_bandit()].
#' @inheritParams plot.bandit_maximum
#' @return A `ggplot` object whose `data` is the data.frame that `plot()` returns for this chart.
#' @section Errors: Those of [plot.bandit_maximum()], and an error if ggplot2 is not installed.
#' @seealso [plot.bandit_maximum()], [bandit-autoplot].
#' @concept ggplot2
#' @concept slice plot
#' @concept Pareto front
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' found <- minimize_bandit(function(p) (p$x - 2)^2, list(x = c(1, 3)), 8)
#' ggplot2::autoplot(found, "slices") + ggplot2::labs(y = "loss")
#' @method autoplot bandit_maximum
#' @exportS3Method ggplot2::autoplot bandit_maximum
autoplot.bandit_maximum <- function(object, type = c("progress", "slices", "map", "importance", "dependence", "front",
                                                      "feasible", "acquisition", "parallel"),
                                    inputs = NULL, width = 2, resolution = NULL, ...) {
  check_class(object, "bandit_maximum")
  check_dots_empty(..., allowed = names(formals(autoplot.bandit_maximum)))
  need_ggplot2()
  type <- check_choice(type, eval(formals(autoplot.bandit_maximum)$type))
  check_picture(object, type, inputs, width, resolution, "object")
  bandit <- object$bandit
  if (type == "acquisition") return(ggplot_acquisition(bandit, context_of(object), width, resolution, inputs))
  if (type == "parallel") return(ggplot_parallel(bandit, context_of(object), inputs))
  plot_data <- maximum_plot_data(object, type, inputs, width, resolution)
  of_form(object$bandit$config, "ggplot_maximum")(object, plot_data, type) +
    ggplot_theme(if (type == "map") "right" else "top")
}

ggplot_rewards <- function(object, plot_data, type) {
  data <- plot_data[[type]]
  shown <- worthwhile_range(history_of(object)$reward, object$direction)
  label <- objective_label(object$bandit$config)
  switch(type, progress = ggplot_progress(data, object$direction, shown, label), importance = ggplot_importance(data),
         ggplot_searched(object, data, type, shown))
}

ggplot_progress_of_bandit <- function(bandit) {
  plot_data <- progress_of_bandit(bandit)
  of_form(bandit$config, "ggplot_maximum")(plot_data$found, list(progress = plot_data$data), "progress") +
    ggplot_ahead(plot_data$ahead) + ggplot2::labs(title = plot_data$title) + ggplot_theme("top")
}

# Slices or a two-dimensional plot through the recommended point.
ggplot_searched <- function(found, data, type, shown) {
  domain <- found$bandit$config$domain
  plot_data <- list(data = data, through = recommended_point(found$bandit, context_of(found)), pair = names(data)[1:2],
               log = stats::setNames(log_inputs(domain), domain$names), levels = levels_of_inputs(domain),
               axes = input_labels(domain))
  if (type == "slices") {
    plot_data$seen <- seen_along(found$history, domain, unique(data$input), history_of(found)$reward)
  }
  if (type == "dependence") {
    plot_data$through <- NULL
    return(ggplot_slices(plot_data) + ggplot2::labs(y = dependence_label(objective_label(found$bandit$config))) +
             ggplot2::coord_cartesian(ylim = slices_range(data, shown)))
  }
  if (type == "slices") {
    return(ggplot_slices(plot_data) + ggplot2::labs(y = paste("expected", objective_label(found$bandit$config))) +
             ggplot2::coord_cartesian(ylim = slices_range(data, shown)))
  }
  contours <- is.null(unlist(plot_data$levels[plot_data$pair])) && !is_flat(own_columns(data, plot_data$pair)$sd)
  ggplot_plane(plot_data, found$history, domain, "mean", "sd", shown) +
    ggplot2::labs(subtitle = paste0(if (contours) "contours: posterior sd; ", "+: recommended"))
}

ggplot_progress <- function(data, direction, shown, label) {
  points <- progress_points(data, direction, shown)
  points$kind[points$kind == "reward"] <- label
  kinds <- c(label, "beyond the axis", "stopped", "at a lower fidelity", "failed")
  known <- !is.na(data$best)
  lines <- data.frame(evaluation = data$evaluation[known], best = clamped_known(data$best[known], shown),
                      what = rep("best so far", sum(known)))
  colours <- stats::setNames(c(rep(mark$seen, 4), mark$pending), kinds)
  ggplot2::ggplot(data) +
    ggplot2::geom_step(data = if (nrow(lines) > 1) lines else lines[0, ], colour = mark$mean, linewidth = 0.8,
                       mapping = aes_of(x = "evaluation", y = "best", linetype = "what")) +
    ggplot2::geom_point(data = points, alpha = 0.6,
                        mapping = aes_of(x = "evaluation", y = "at", shape = "kind", colour = "kind")) +
    ggplot2::scale_linetype_manual(NULL, values = c("best so far" = "solid")) +
    ggplot2::scale_colour_manual(NULL, values = colours, breaks = kinds) +
    ggplot2::scale_shape_manual(NULL, values = stats::setNames(c(16, 1, 6, 2, 4), kinds), breaks = kinds) +
    whole_ticks() + ggplot2::labs(x = "evaluation", y = label)
}

ggplot_importance <- function(data) {
  order <- data$input[order(data$total)]
  bars <- data.frame(input = factor(rep(data$input, 2), levels = order), share = c(data$total, data$first),
                     what = factor(rep(c("total", "alone"), each = nrow(data)), levels = c("total", "alone")))
  fills <- c(total = mark$band, alone = mark$mean)
  ggplot2::ggplot(data) +
    ggplot2::geom_col(data = bars, mapping = aes_of(x = "share", y = "input", fill = "what"), position = "identity",
                      colour = mark$mean, width = 0.6, na.rm = TRUE) +
    ggplot_limits_of_shares(data) +
    ggplot2::scale_fill_manual(NULL, values = fills) + ggplot2::coord_cartesian(xlim = c(0, 1)) +
    ggplot2::labs(x = "share of the variance (line: 90%)", y = NULL, subtitle = said_of_shares(attr(data, "explained")))
}

# --- a bandit ------------------------------------------------------------------------------------

# All marks of the plot as one table: kind, position, height.
ggplot_marks <- function(bandit, plot_data) {
  seen <- plot_data$queries
  known <- !is.na(seen$reward)
  rows <- function(kind, x, y) if (length(x)) data.frame(kind = kind, at = x, height = y)
  rbind(
    if (!is_line(plot_data)) rows("truth", if (!is.null(plot_data$frame$truth)) plot_data$x, plot_data$frame$truth),
    rows(plot_data$observed, seen$at[known & seen$current], seen$reward[known & seen$current]),
    rows("before the restart", seen$at[known & !seen$current], seen$reward[known & !seen$current]),
    rows("pending query", seen$at[!known], mean_at(plot_data, seen$at[!known])),
    if (!is.null(plot_data$next_choice)) rows("next choice", plot_data$next_choice$at, next_height(bandit, plot_data))
  )
}

ggplot_mark_style <- function(observed, name) {
  kinds <- c("truth", name, "before the restart", "pending query", "next choice")
  named <- function(values) stats::setNames(values, kinds)
  seen <- grDevices::adjustcolor(mark$seen, point_alpha(observed))
  list(kinds = kinds, col = named(c(mark$truth, seen, mark$old, mark$pending, mark$next_choice)),
       shape = named(c(4, 16, 1, 2, 18)), size = named(c(2, 2 * point_size(observed), 1.6, 2, 4)))
}

ggplot_profile <- function(bandit, plot_data) {
  points <- data.frame(at = plot_data$x, plot_data$frame[c("mean", "lower", "upper")])
  points$band <- plot_data$band$label
  points$what <- "posterior mean"
  curve <- is_line(plot_data)
  known <- points[is.finite(points$mean), ]
  picture <- ggplot2::ggplot(plot_data$shown) + ggplot2::geom_blank(data = points, mapping = aes_of(x = "at")) +
    (if (curve) ggplot_curve(known, plot_data) else ggplot_bars(known))
  if (curve && !is.null(plot_data$frame$truth)) picture <- picture + ggplot_truth(points$at, plot_data)
  marks <- ggplot_marks(bandit, plot_data)
  if (!is.null(marks)) {
    style <- ggplot_mark_style(sum(marks$kind == plot_data$observed), plot_data$observed)
    marks$kind <- factor(marks$kind, levels = style$kinds)
    lying <- aes_of(x = "at", y = "height", colour = "kind", shape = "kind", size = "kind")
    picture <- picture + ggplot2::geom_point(data = marks, mapping = lying, na.rm = TRUE) +
      ggplot2::scale_colour_manual(NULL, values = style$col) +
      ggplot2::scale_shape_manual(NULL, values = style$shape) +
      ggplot2::scale_size_manual(NULL, values = style$size)
  }
  level <- plot_data$set$level
  if (!is.null(level)) picture <- picture + ggplot2::geom_hline(yintercept = level, linetype = "longdash") +
      ggplot2::labs(caption = paste("dashed:", level_named(plot_data$set)))
  picture + ggplot_some_height(c(points$mean, marks$height)) +
    ggplot2::labs(x = plot_data$x_label, y = plot_data$reward) +
    ggplot2::guides(fill = ggplot2::guide_legend(order = 2))
}

ggplot_curve <- function(points, plot_data) {
  key_colours <- c(mark$mean, if (!is.null(plot_data$frame$truth)) mark$truth)
  guide <- ggplot2::guide_legend(order = 1, override.aes = list(colour = key_colours))
  list(
    ggplot2::geom_ribbon(data = with_known_band(points), alpha = 0.18,
                         mapping = aes_of(x = "at", ymin = "lower", ymax = "upper", fill = "band")),
    ggplot2::geom_line(data = points, colour = mark$mean, linewidth = 0.8,
                       mapping = aes_of(x = "at", y = "mean", linetype = "what")),
    ggplot2::scale_fill_manual(NULL, values = mark$mean),
    ggplot2::scale_linetype_manual(NULL, values = c("posterior mean" = "solid", truth = "dashed"), guide = guide)
  )
}

ggplot_bars <- function(points) {
  points$what <- paste0("posterior ", points$band)
  crowded <- nrow(points) > 100
  list(
    ggplot2::geom_linerange(data = with_known_band(points), mapping = aes_of(x = "at", ymin = "lower", ymax = "upper"),
                            colour = mark$mean, linewidth = if (crowded) 0.3 else 0.6,
                            alpha = if (crowded) 0.35 else 1),
    ggplot2::geom_point(data = points, mapping = aes_of(x = "at", y = "mean", fill = "what"),
                        colour = mark$mean, shape = 22, size = if (crowded) 0.6 else 2),
    ggplot2::scale_fill_manual(NULL, values = mark$mean)
  )
}

ggplot_truth <- function(at, plot_data) {
  truth <- data.frame(at = at, truth = plot_data$frame$truth, what = "truth")
  ggplot2::geom_line(data = truth, mapping = aes_of(x = "at", y = "truth", linetype = "what"),
                     colour = mark$truth, linewidth = 0.6)
}

ggplot_map <- function(bandit, plot_data) {
  if (plot_data$scattered) return(ggplot_scatter(plot_data))
  surface <- data.frame(at = plot_data$x, at_y = plot_data$y, mean = plot_data$frame$mean)
  size <- c(tile_size(plot_data$x, grepl("x", plot_data$log)), tile_size(plot_data$y, grepl("y", plot_data$log)))
  set <- plot_data$set
  surface$label <- or_else(set$label, NA)
  lying <- aes_of(x = "at", y = "at_y", fill = if (is.null(set)) "mean" else "label")
  picture <- ggplot2::ggplot(plot_data$shown) +
    ggplot2::geom_tile(data = surface, mapping = lying, width = size[1], height = size[2],
                       show.legend = in_key_of_fill) +
    (if (is.null(set)) ggplot2::scale_fill_gradientn("posterior mean", colours = surface_colours)
     else ggplot_label_scale(set)) +
    ggplot_contours(surface, "mean") + ggplot_level_contours(surface, set$level)
  played <- played_points(plot_data$queries)
  if (nrow(played)) {
    picture <- picture +
      ggplot2::geom_point(data = played, mapping = aes_of(x = "x", y = "y", size = "plays"),
                          shape = 21, colour = "black", alpha = 0.85,
                          fill = ifelse(played$pending, mark$pending, "white")) +
      ggplot_play_sizes(played$plays)
  }
  picture + ggplot_map_marks(plot_data) + ggplot2::coord_cartesian(expand = FALSE, clip = "off") +
    ggplot2::labs(x = plot_data$axes[1], y = plot_data$axes[2])
}

# (Labels that no point has are in the key too; the other keys stay free of fill.)
in_key_of_fill <- c(fill = TRUE, size = FALSE, linetype = FALSE, shape = FALSE)

# Two panels of points. The first uses fill and the second uses colour, so that each has a colour key.
ggplot_scatter <- function(plot_data) {
  shown <- panels_of_arms(plot_data)
  set <- plot_data$set
  panels <- factor(panel_titles(shown), panel_titles(shown))
  arms <- scatter_plot_data(plot_data)
  both <- rbind(cbind(panel = panels[1], arms), cbind(panel = panels[2], arms))
  first <- both[both$panel == panels[1], ]
  second <- both[both$panel == panels[2], ]
  size <- 2.2 * scatter_size(nrow(arms))
  scale <- function(order) {
    bar <- ggplot2::guide_colourbar(order = order, barheight = ggplot2::unit(3.5, "lines"))
    list(colours = surface_colours, na.value = "grey85", guide = bar)
  }
  picture <- ggplot2::ggplot(plot_data$shown) +
    ggplot2::geom_point(data = first, mapping = aes_of(x = "x", y = "y", fill = shown[1]), shape = 21, size = size,
                        colour = "grey55", stroke = 0.3, show.legend = in_key_of_fill) +
    ggplot2::geom_point(data = second, mapping = aes_of(x = "x", y = "y"), size = size + 0.4, colour = "grey55") +
    ggplot2::geom_point(data = second, mapping = aes_of(x = "x", y = "y", colour = shown[2]), size = size) +
    (if (is.null(set)) do.call(ggplot2::scale_fill_gradientn, c("posterior mean", scale(1)))
     else ggplot_label_scale(set, guide = ggplot2::guide_legend(order = 1))) +
    do.call(ggplot2::scale_colour_gradientn, c(panel_titles(shown)[2], scale(2))) + ggplot2::facet_wrap("panel")
  ring <- function(rows, colour) {
    if (!any(rows)) return(NULL)
    ggplot2::geom_point(data = both[rows, ], mapping = aes_of(x = "x", y = "y", size = "plays"), shape = 1,
                        stroke = 1.1, colour = colour, show.legend = if (colour == "black") NA else FALSE)
  }
  played <- both$plays > 0
  if (any(played)) {
    picture <- picture + ring(played & !both$pending, "black") + ring(both$pending, mark$pending) +
      ggplot_play_sizes(arms$plays)
  }
  picture + ggplot_map_marks(plot_data) + ggplot2::labs(x = plot_data$axes[1], y = plot_data$axes[2])
}

ggplot_play_sizes <- function(plays) {
  ggplot2::scale_size_area(max_size = if (max(plays) > 1) 6 else 2,
                           breaks = unique(round(exp(seq(0, log(max(plays)), length.out = 3)))))
}

# Widths are measured on the axis, because ggplot2 applies the logarithm first.
tile_size <- function(values, log) {
  at <- sort(unique(if (log) log10(values) else values))
  if (length(at) > 1) min(diff(at)) else 1
}

ggplot_map_marks <- function(plot_data) {
  names <- map_mark_names(plot_data)
  row <- function(kind, at, at_y) data.frame(kind = names[[kind]], at = at, at_y = at_y)
  best <- best_drawn(plot_data)
  top <- which.max(plot_data$sign * plot_data$frame$truth)
  marks <- rbind(
    if (length(best)) row("best", plot_data$x[best], plot_data$y[best]),
    if (length(top)) row("truth", plot_data$x[top], plot_data$y[top]),
    if (!is.null(plot_data$next_choice)) row("next_choice", plot_data$next_choice$at, plot_data$next_choice$at_y)
  )
  if (is.null(marks)) return(NULL)
  shapes <- stats::setNames(c(3, 2, 18), names)
  colours <- stats::setNames(c("black", "black", mark$next_choice), names)
  shown <- intersect(names, marks$kind)
  # (One layer for each kind, so that with several panels each panel shows all marks.)
  list(
    lapply(shown, function(kind) {
      ggplot2::geom_point(data = marks[marks$kind == kind, ], mapping = aes_of(x = "at", y = "at_y", shape = "kind"),
                          colour = colours[[kind]], size = 3.5, stroke = 1.2)
    }),
    ggplot2::scale_shape_manual(NULL, values = shapes, breaks = shown, guide = ggplot2::guide_legend(
      override.aes = list(colour = unname(colours[shown]))
    ))
  )
}

register_form("reward", ggplot_maximum = ggplot_rewards)
register_form("outcomes", ggplot_maximum = function(object, plot_data, type) ggplot_outcomes(object, plot_data, type))
