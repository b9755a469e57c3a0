# `plot()` of bandits, runs and comparisons. Layer: plots.

# Base graphics: plot() of bandits, runs and comparisons.

#' Plot a bandit, a run or a comparison
#'
#' `plot()` draws a bandit's posterior, a run's regret, or the mean regret of several bandits.
#'
#' @section A bandit: `type` selects the chart. The band is the posterior mean \eqn{\pm w}{+/- w} posterior standard
#'   deviations, where \eqn{w} is `width`.
#'
#' * `"curve"` (one input): posterior mean and band, observed rewards, pending queries (on the mean curve), and the next
#'   choice. For GP-UCB the next choice maximises the upper bound and is drawn there, otherwise on the mean.
#' * `"map"` (two inputs: arms, a box, or a product): the posterior mean as an image with contours. It also has the
#'   points played (larger if played often), the next choice, the best point and, with `truth`, the true maximiser.
#'   For a level set ([policy_straddle()], [gp_lse()]), the map shows the points above and below the level and the
#'   unknown ones, by `$levels()`, and the contour of the posterior mean at the level. In a curve the level is a line.
#' * `"slices"` (boxes and products of more than two inputs): posterior mean and band (2 sd unless `width` is given)
#'   along each input, through the best point. The points are all rewards, whatever their other inputs.
#' * `"sd"`: maps of posterior mean and sd over the two most important inputs, through the best point.
#' * `"front"` (several objectives, see [outcomes]): the first two objectives of the observations and of the Pareto
#'   front (`$front()`), with bars of 2 sd, and the reference point. Points that violate a limit are pale.
#' * `"importance"`: [input_importance()]; `"dependence"`: partial dependence, see [plot.bandit_maximum()].
#' * `"feasible"` (limits): the probability that all limits hold, along each input, through the best point.
#' * `"progress"`: results in order, the best so far (or hypervolume), and a triangle: what the next 4 experiments are
#'   expected to reach, with one sd of their gain ([expected-improvement]).
#' * `"acquisition"`: the posterior along each input through the next point, and below it the acquisition function
#'   ([policies]), whose maximum that point is. Expected improvement is relative to its maximum. At most four inputs.
#' * `"parallel"` (two or more inputs): parallel coordinates, a line per result, darker if better. The recommended point
#'   is marked.
#' * `"arms"` (all other domains): posterior mean and error bars by arm, or by distinct point played.
#'
#' A mixture of three components has a triangle for `"map"` and `"sd"`. With [outcomes] and one objective, charts show
#' that objective.
#'
#' `"auto"` uses the first type that fits, and `"front"` for several objectives. Fewer than 10 arms (except a grid) and
#' arms with a covariance matrix are drawn with `"arms"`. Rewards from before the last restart, which the posterior no
#' longer uses, are hollow and pale.
#'
#' No next choice is marked if it is random or from a design.
#'
#' @section Maps of arms: Arms that do not form a grid, such as boreholes by longitude and latitude, are drawn as
#'   points. Their colour is the posterior mean and, in a second panel, the posterior sd. Arms that were played have a
#'   black ring, which grows with the number of plays, and arms with a pending query a coloured ring.
#'
#' @section A run: The chart is one of these by round.
#'
#' * `"cumulative"`: the cumulative regret \eqn{R_t = \sum_{s \le t} r_s}{R_t = r_1 + ... + r_t};
#' * `"average"`: \eqn{R_t/t}{R_t / t};
#' * `"simple"`: the simple regret, the smallest regret so far;
#' * `"violation"`: the cumulative constraint violation.
#'
#' @section A comparison: The chart has the mean over replications of one column of the comparison, with bands of
#'   `bands` standard errors.
#'
#' @param x a [GPBandit], `bandit_run` or `bandit_comparison`.
#' @param type the chart, a string. Bandit: `"auto"` (default), `"curve"`, `"map"`, `"arms"`, `"slices"`, `"sd"`,
#'   `"front"`, `"feasible"`, `"progress"`, `"importance"`, `"dependence"`, `"acquisition"` or `"parallel"`. Run:
#'   `"cumulative"` (default), `"average"`, `"simple"` or `"violation"`. Comparison: a numeric column of
#'   `as.data.frame(comparison)`. Default `"average_regret"`.
#' @param context the context that is drawn: one value per context input, or a data.frame or matrix of one row. `NULL`
#'   (default): that of the last query.
#' @param truth the true mean: a function of the input matrix (one row per point, context columns last), or one number
#'   per arm. `NULL` (default): none.
#' @param width \eqn{w}, the half-width of the band in posterior sds, a number >= 0. `NULL`:
#'   the policy's confidence width (its multiplier of the sd) in the next round, if it is one number (not
#'   `width_dmm()`), else 2.
#' @param next_choice `TRUE` (default) marks the next choice.
#' @param resolution points per input at which a box's posterior is drawn, an integer from 2 to 1000. `NULL` (default):
#'   301 with one input, 61 with two.
#' @param bound a bound on the *cumulative* regret or violation, as from [regret_bound()]: a number, or one per round.
#'   For average and simple regret it is divided by the round. `NULL` (default): none.
#' @param bands half-width of the bands in standard errors of the mean, a number >= 0. Default 1; 0 draws none.
#' @param log the logarithmic axes: `""` (default), `"x"`, `"y"` or `"xy"`.
#' @param col colours of the curves, used cyclically. `NULL` (default): the palette of Okabe and Ito, suitable for
#'   colour-blind readers.
#' @param legend `TRUE` (default) draws the legend, above the data.
#' @param xlim,ylim,xlab,ylab,main ranges, labels and title. `NULL` (default): chosen automatically. `main = ""`: no
#'   title.
#' @param ... must be empty; misspelt arguments are an error.
#' @return Invisibly, a data.frame of the data drawn.
#'
#' * **Bandit**: a row per point with `arm` (arms only), the inputs, `mean`, `sd`, `lower` and `upper` (the band),
#'   `plays` (arms only; in this context), `truth` (if given) and, for a level set, `label`. Attribute `width` is a
#'   number. Attribute `next_choice` is a row of a history, or `NULL`.
#' * **Run**: `round`, the column of the quantity, `bound`.
#' * **Comparison**: `bandit`, `round`, `mean`, `se`, `lower`, `upper`, `bound`.
#' @references Srinivas, Krause, Kakade and Seeger (2010) <https://arxiv.org/abs/0912.3995>, Figures 2 and 5. The
#'   palette: Okabe and Ito (2008), Color Universal Design.
#' @seealso [autoplot.GPBandit()], [run_bandit()], [compare_bandits()].
#' @concept posterior plot
#' @concept regret plot
#' @concept Pareto front
#' @concept slice plot
#' @concept acquisition function
#' @concept parallel coordinates
#' @examples
#' x <- seq(0, 1, length.out = 200)
#' f <- function(x) sin(9 * x) * x
#' set.seed(1)
#' bandit <- gp_ucb(x, kernel_se(0.15), noise_var = 0.01)
#' problem <- bandit_problem(x, f(x), noise = 0.1)
#' run <- run_bandit(bandit, problem, rounds = 12)
#' plot(bandit, truth = f)
#' plot(run, type = "average")
#' @name bandit-plots
NULL

#' @rdname bandit-plots
#' @method plot GPBandit
#' @export
plot.GPBandit <- function(x, type = c("auto", "curve", "map", "arms", "slices", "sd", "front", "feasible",
                                      "progress", "importance", "dependence", "acquisition", "parallel"),
                          context = NULL, truth = NULL, width = NULL, next_choice = TRUE, resolution = NULL,
                          legend = TRUE, xlim = NULL, ylim = NULL, xlab = NULL, ylab = NULL, main = NULL, ...) {
  check_bandit(x)
  check_dots_empty(..., allowed = names(formals(plot.GPBandit)))
  frame <- check_frame(legend, xlim, ylim, xlab, ylab, main)
  type <- check_choice(type, eval(formals(plot.GPBandit)$type))
  x <- looked_at(x)
  if (type == "importance") return(invisible(plot(input_importance(x, context = plot_data_context(x, context)))))
  if (type == "progress") return(invisible(plot_progress_of_bandit(x, frame)))
  if (type == "acquisition") return(invisible(plot_acquisition(x, context, width, resolution, frame)))
  if (type == "parallel") return(invisible(plot_parallel(x, context, frame)))
  type <- settled_type(type, x$config)
  if (type %in% c("front", "feasible")) {
    return(invisible(plot_outcomes_of_bandit(x, type, context, width, resolution, frame)))
  }
  if (type %in% through_best) {
    return(invisible(plot_through_best(x, type, plot_data_context(x, context), width, resolution, frame)))
  }
  plot_data <- bandit_plot_data(x, context, truth, type, width, next_choice, resolution)
  frame$main <- or_else(main, plot_data$title)
  frame$log <- plot_data$log
  if (plot_data$type == "map") draw_map(x, plot_data, frame) else draw_profile(x, plot_data, frame)
  invisible(structure(plot_data$shown, width = plot_data$band$width, next_choice = plot_data$ahead))
}

# The types whose plots go through the recommended point.
through_best <- c("slices", "sd", "triangle", "dependence")

# The type of the plot as far as the outcomes and the domain determine it.
settled_type <- function(type, config) {
  if (!type %in% c("auto", "map")) return(type)
  if (length(objectives(config)) > 1) return(if (type == "auto") "front" else type)
  if (is_ternary(config$domain)) return("triangle")
  if (type == "auto" && prefers_slices(config)) "slices" else type
}

is_ternary <- function(domain) length(domain$names) == 3 && !is.null(ternary_set(domain, domain$names))

# Slices are preferred for boxes and products with more than two inputs.
prefers_slices <- function(config) {
  length(config$domain$names) > 2 && !can_count(config$domain) && !has_matrix(config$kernel)
}

plot_through_best <- function(bandit, type, context, width, resolution, frame) {
  plot_data <- through_best_plot_data(bandit, type, context, width, resolution)
  domain <- bandit$config$domain
  old <- graphics::par(no.readonly = TRUE)
  on.exit(graphics::par(old))
  planes <- !is.null(plot_data$pair)
  panels <- panel_layout(if (planes) 2 else length(plot_data$log))
  graphics::par(mfrow = panels, oma = c(0, 0, 1.6, 0), mar = c(3.6, 3.8, 2, 2.6))
  if (planes) {
    played <- bandit_history(bandit)
    for (what in c("mean", "sd")) {
      draw_plane(plot_data$data, plot_data$pair, own_columns(plot_data$data, plot_data$pair)[[what]], domain,
                 paste("posterior", what),
                 played,
                 plot_data$through)
    }
  } else {
    draw_slices(plot_data$data, plot_data$through, domain, or_else(frame$ylab, plot_data$label), frame$ylim,
                plot_data$seen)
  }
  graphics::mtext(or_else(frame$main, plot_data$title), outer = TRUE, line = 0.2, font = 2)
  plot_data$data
}

# The plot data of slices through the recommended point. For other types: of a two-dimensional plot of the two most
# important inputs (`pair`) through it.
through_best_plot_data <- function(bandit, type, context, width, resolution) {
  check_has_posterior(bandit)
  check_one_objective(bandit$config, type)
  width <- if (is.null(width)) 2 else check_number(width, lower = 0)
  if (!is.null(resolution)) check_count(resolution, lower = 2, upper = 1000)
  config <- bandit$config
  names <- config$domain$names
  if (has_matrix(config$kernel) || (type == "sd" && length(names) < 2)) {
    stop_argument("type", dQuote(type, FALSE),
                  "another one, because slices and sd maps need a kernel of the inputs and sd maps two inputs")
  }
  if (says_nothing_between_arms(config) && length(names) > 1) {
    stop_argument("type", dQuote(type, FALSE),
                  "\"arms\" or \"auto\", because comparisons of arms give no predictions between the arms")
  }
  through <- recommended_point(bandit, context)
  plot_data <- list(through = through, label = objective_label(config), axes = input_labels(config$domain),
               log = stats::setNames(log_inputs(config$domain), names),
               levels = levels_of_inputs(config$domain),
               title = plot_data_title(bandit, list(context = context)))
  if (type == "dependence") {
    if (length(names) == 1 || is_tabulated_space(config)) {
      stop_argument("type", dQuote(type, FALSE), "another one for a single input, or for arms")
    }
    plot_data["through"] <- list(NULL)
    plot_data$label <- dependence_label(plot_data$label)
    plot_data$data <- dependence_plot_data(bandit, context, names, width, resolution)
  } else if (type != "slices") {
    plot_data$pair <- most_important(input_importance(bandit, 512, context, draws = 0), objectives(config))[1:2]
    plot_data$data <- plane_plot_data(bandit, context, through, plot_data$pair, resolution)
  } else {
    plot_data$data <- slices_plot_data(bandit, context, through, names, width, resolution)
    queries <- plot_data_queries(bandit, context)
    plot_data$seen <- seen_along(queries[[2]], config$domain, names, queries[[1]]$reward)
  }
  plot_data
}

#' @rdname bandit-plots
#' @export
plot.bandit_run <- function(x, type = c("cumulative", "average", "simple", "violation"), bound = NULL, log = "",
                            col = NULL, legend = TRUE, xlim = NULL, ylim = NULL, xlab = NULL,
                            ylab = NULL, main = NULL, ...) {
  check_class(x, "bandit_run")
  check_dots_empty(..., allowed = names(formals(plot.bandit_run)))
  frame <- check_frame(legend, xlim, ylim, xlab, ylab, main)
  col <- check_colours(col)
  plot_data <- run_plot_data(x, type, bound)
  frame$log <- check_choice(log, c("", "x", "y", "xy"))
  frame$main <- or_else(main, plot_data$title)
  frame$xlab <- or_else(xlab, "round")
  frame$ylab <- or_else(ylab, plot_data$label)
  draw_run(plot_data, frame, or_else(col, okabe_ito)[[1]])
  invisible(plot_data$frame)
}

#' @rdname bandit-plots
#' @export
plot.bandit_comparison <- function(x, type = "average_regret", bound = NULL, bands = 1, log = "", col = NULL,
                                   legend = TRUE, xlim = NULL, ylim = NULL, xlab = NULL,
                                   ylab = NULL, main = NULL, ...) {
  check_class(x, "bandit_comparison")
  check_dots_empty(..., allowed = names(formals(plot.bandit_comparison)))
  frame <- check_frame(legend, xlim, ylim, xlab, ylab, main)
  col <- check_colours(col)
  plot_data <- comparison_plot_data(x, type, bands, log, bound)
  frame$log <- plot_data$log
  frame$xlab <- or_else(xlab, "round")
  frame$ylab <- or_else(ylab, plot_data$label)
  frame$note <- plot_data$note
  draw_comparison(plot_data, frame, col)
  invisible(plot_data$frame)
}
