# `plot()` of a search's result. Layer: plots.

#' Plot the result of a Bayesian optimisation
#'
#' `plot()` draws the progress of a search, its posterior mean, input importances, or the Pareto front.
#'
#' * `"progress"`: rewards in their order and the best so far. Failures and extremely bad rewards are drawn at the
#'   edge. Settings that a race stopped have a separate symbol.
#' * `"slices"`: posterior mean of the expected reward with a band of `width` sd, along the range of each input. The
#'   other inputs are as recommended.
#' * `"map"`: mean and sd over two inputs, by default those that matter most. The other inputs are as recommended.
#'   Evaluated points are projected onto these two inputs. Two of exactly three proportions ([param_shares()]) are
#'   drawn as a triangle of all three.
#' * `"importance"`: [input_importance()]. Bars show `total`, their filled part `first`, and lines the interval from
#'   `lower` to `upper`.
#' * `"dependence"`: partial dependence, the posterior mean along each input, averaged over 64 points of the other
#'   inputs that are spread evenly over their ranges. The band is `width` sd of that *average*. Interactions are
#'   visible in slices, which go through one point, but not here.
#' * `"front"`, for several objectives: the evaluations of the first two objectives, pale if they are beyond a limit.
#'   The Pareto front of posterior means is drawn with bars of `width` sd, and so is the reference point.
#' * `"feasible"`, for limits: the probability that all limits hold, along the range of each input.
#' * `"acquisition"` and `"parallel"`: the acquisition function along each input, and parallel coordinates, as for
#'   [bandits][bandit-plots].
#' * `"all"`, the default: all of these except the dependence, the acquisition function and the parallel coordinates on
#'   one page, with slices of the four inputs that matter most.
#'
#' Along a proportion of a mixture, the others keep their ratio as far as their bounds allow. Elsewhere nothing is
#' drawn.
#'
#' With several [outcomes], `"progress"` shows the best value of the evaluations that satisfied the limits, or their
#' hypervolume (see [as.data.frame()][bandit_maximum]). `"slices"` and `"map"` show the objective, if there is only
#' one. Otherwise `"all"` has neither.
#'
#' @param x a result of [maximize_bandit()].
#' @param type the plot, one of the names in the list of plots. `"all"`, the default: those that apply, on one page.
#' @param inputs names of the inputs of slices, dependence, acquisition or parallel coordinates, or of the two inputs of
#'   a map. `NULL`, the default: all,
#'   or those that matter most.
#' @param width half-width of bands in posterior sds, a number >= 0; 2 by default.
#' @param resolution number of values per input, 2 to 1000. `NULL`, the default: 101 in slices, 45 in maps, 21 in
#'   dependence.
#' @param ... must be empty.
#' @return The data drawn, invisibly: a list with a data.frame for each plot.
#'
#' * `progress`: `evaluation`, `reward`, `best` and `status`. With several outcomes also `kept` (were the limits
#'   satisfied? `NA` if some values are unknown). With several objectives, `hypervolume` replaces `reward` and `best`.
#' * `slices`, `dependence`: `input`, `value`, `label`, `mean`, `sd`, and the band from `lower` to `upper`.
#' * `map`, `importance`: as drawn. Of acquisition and parallel coordinates, the data.frame alone.
#' * `front`: `x`, `y`, `kind` and the ends of the bars, with an attribute `objectives`.
#' * `feasible`: `input`, `value`, `label` and `feasible`.
#' @section Errors: Not every plot applies to every search. A front needs several objectives, and slices, maps and
#'   dependence need one. `"feasible"` needs limits. Maps, importance and dependence need at least two inputs, and
#'   dependence is not available over arms. At least one evaluation must have succeeded.
#' @seealso [bandit-plots], [input_importance()], [autoplot.bandit_maximum()] for the same with ggplot2.
#' @concept visualization
#' @concept partial dependence
#' @concept convergence plot
#' @concept Pareto front
#' @examples
#' set.seed(1)
#' found <- minimize_bandit(function(p) (p$x - 2)^2 + 0.1 * p$y,
#'                          list(x = c(1, 3), y = c(0, 1)), 10)
#' plot(found)
#' plot(found, "slices")
#' @export
plot.bandit_maximum <- function(x, type = c("all", "progress", "slices", "map", "importance", "dependence", "front",
                                             "feasible", "acquisition", "parallel"),
                                inputs = NULL, width = 2, resolution = NULL, ...) {
  check_class(x, "bandit_maximum")
  check_dots_empty(..., allowed = names(formals(plot.bandit_maximum)))
  type <- check_choice(type, eval(formals(plot.bandit_maximum)$type))
  check_picture(x, type, inputs, width, resolution, "x")
  bare <- check_frame(TRUE, NULL, NULL, NULL, NULL, NULL)
  if (type == "acquisition") {
    return(invisible(plot_acquisition(x$bandit, context_of(x), width, resolution, bare, inputs)))
  }
  if (type == "parallel") return(invisible(plot_parallel(x$bandit, context_of(x), bare, inputs)))
  plot_data <- maximum_plot_data(x, type, inputs, width, resolution)
  old <- graphics::par(no.readonly = TRUE)
  on.exit(graphics::par(old))
  panels <- panel_count(plot_data)
  if (panels > 1) graphics::par(mfrow = panel_layout(panels), mar = c(3.6, 3.8, 2.2, 2.6))
  draw_maximum(x, plot_data)
  invisible(plot_data)
}

# `arg`: the name of the caller's argument that holds the search result.
check_picture <- function(found, type, inputs, width, resolution, arg) {
  check_number(width, "width", lower = 0)
  if (!is.null(resolution)) check_count(resolution, "resolution", lower = 2, upper = 1000)
  check_kind_of_picture(found, type)
  if (is.null(found$par) && NROW(found$front) == 0) {
    why <- evaluations_of(found)$reason[1]
    stop_state("No evaluation of this search has succeeded", if (length(why)) paste0(" (", why, ")"),
               ", so there is nothing to draw. See the columns `status` and `reason` of `$history`.", argument = arg)
  }
  names <- found$bandit$config$domain$names
  known <- is_text(inputs) && length(inputs) > 0 && all(inputs %in% names) && !anyDuplicated(inputs)
  if (!is.null(inputs) && !(known && (type != "map" || length(inputs) == 2))) {
    stop_argument("inputs", describe(inputs), paste(if (type == "map") "two names among" else "names among",
                                                    paste(dQuote(names, FALSE), collapse = ", ")))
  }
  if (type %in% c("all", "progress", "front", "parallel")) return(invisible())
  if (has_matrix(found$bandit$config$kernel)) {
    stop_argument("type", dQuote(type, FALSE), "\"progress\" if the kernel is given as a matrix")
  }
  if (!type %in% c("slices", "feasible", "acquisition") && length(names) == 1) {
    stop_argument("type", dQuote(type, FALSE), "\"progress\" or \"slices\" for a single input")
  }
  if (type == "dependence" && is_tabulated_space(found$bandit$config)) {
    stop_argument("type", dQuote(type, FALSE), "another plot for a domain of arms")
  }
}

check_kind_of_picture <- function(found, type) {
  config <- found$bandit$config
  several <- length(objectives(config)) > 1
  refuse <- function(allowed) stop_argument("type", dQuote(type, FALSE), allowed)
  if (type == "front" && !several) refuse("another plot for a search with one objective")
  if (type == "feasible" && !has_limits(config)) refuse("another plot for a search without limits")
  if (type %in% c("slices", "map", "dependence") && several) {
    refuse("\"front\", \"progress\" or \"importance\" for several objectives")
  }
}

maximum_plot_data <- function(found, type, inputs, width, resolution) {
  of_form(found$bandit$config, "maximum_plot_data")(found, type, inputs, width, resolution)
}

plot_data_of_rewards <- function(found, type, inputs, width, resolution) {
  wants <- function(name) type %in% c("all", name)
  names <- found$bandit$config$domain$names
  through <- recommended_point(found$bandit, context_of(found))
  ranked <- names
  plot_data <- list()
  if (wants("progress")) {
    plot_data$progress <- of_form(found$bandit$config, "progress_plot_data")(found, as.data.frame(found))
  }
  if (has_matrix(found$bandit$config$kernel)) return(plot_data)
  if (length(names) > 1) {
    importance <- input_importance(found, draws = if (wants("importance")) 40 else 0)
    ranked <- names[order(importance$total, decreasing = TRUE)]
    if (wants("importance")) plot_data$importance <- importance
  }
  if (wants("slices")) {
    shown <- if (!is.null(inputs)) inputs else if (type == "all") utils::head(ranked, 4) else names
    plot_data$slices <- slices_plot_data(found$bandit, context_of(found), through, shown, width, resolution)
  }
  if (type == "dependence") {
    plot_data$dependence <- dependence_plot_data(found$bandit, context_of(found), or_else(inputs, names), width,
                                                 resolution)
  }
  if (wants("map") && length(names) > 1) {
    pair <- if (length(inputs) == 2) inputs else utils::head(ranked, 2)
    plot_data$map <- plane_plot_data(found$bandit, context_of(found), through, pair, resolution)
  }
  plot_data
}

panel_count <- function(plot_data) {
  of_outcomes <- any(c("front", "feasible") %in% names(plot_data)) || !is.null(plot_data$importance$outcome)
  if (of_outcomes) return(panels_of_outcomes(plot_data))
  inputs <- unique(c(plot_data$slices$input, plot_data$dependence$input))
  length(inputs) + sum(2 * ("map" %in% names(plot_data)), c("progress", "importance") %in% names(plot_data))
}

draw_maximum <- function(found, plot_data) of_form(found$bandit$config, "draw_maximum")(found, plot_data)

draw_maximum_of_rewards <- function(found, plot_data) {
  domain <- found$bandit$config$domain
  label <- objective_label(found$bandit$config)
  through <- recommended_point(found$bandit, context_of(found))
  shown <- worthwhile_range(history_of(found)$reward, found$direction)
  if (!is.null(plot_data$progress)) draw_progress(plot_data$progress, found$direction, shown, label)
  if (!is.null(plot_data$importance)) draw_importance(plot_data$importance)
  if (!is.null(plot_data$slices)) {
    draw_slices(plot_data$slices, through, domain, paste("expected", label), slices_range(plot_data$slices, shown),
                seen_along(found$history, domain, unique(plot_data$slices$input), history_of(found)$reward))
  }
  if (!is.null(plot_data$dependence)) {
    draw_slices(plot_data$dependence, NULL, domain, dependence_label(label), slices_range(plot_data$dependence, shown))
  }
  if (!is.null(plot_data$map)) {
    pair <- names(plot_data$map)[1:2]
    model_state <- own_columns(plot_data$map, pair)
    draw_plane(plot_data$map, pair, model_state$mean, domain, "posterior mean", found$history, through, shown)
    draw_plane(plot_data$map, pair, model_state$sd, domain, "posterior sd", found$history, through)
  }
}

# Bands are cut if they extend far beyond the rewards (if these differ).
slices_range <- function(slices, shown) {
  band <- known_range(c(slices$lower, slices$upper))
  if (anyNA(band)) return(shown_range(shown, FALSE))
  if (diff(shown) > 0) band <- clamped(band, shown[1] - diff(shown), shown[2] + diff(shown))
  shown_range(band, FALSE)
}

register_form("reward", maximum_plot_data = plot_data_of_rewards, draw_maximum = draw_maximum_of_rewards)
register_form("outcomes", maximum_plot_data = plot_data_of_outcomes, draw_maximum = draw_outcomes)
