# The data of all plots. Layer: plots.

# The numbers that the plots show: plot() and autoplot() use the same plot data.

# The palette of Okabe and Ito, which colour-blind readers can distinguish. Yellow is last because it is faint on white.
okabe_ito <- c(blue = "#0072B2", vermillion = "#D55E00", green = "#009E73", purple = "#CC79A7",
               orange = "#E69F00", sky = "#56B4E9", black = "#000000", yellow = "#F0E442")

# Labels of axes: inputs with their units.
input_labels <- function(domain) {
  units <- units_of(domain)
  stats::setNames(ifelse(nzchar(units), sprintf("%s (%s)", domain$names, units), domain$names), domain$names)
}

# --- a bandit -------------------------------------------------------------------------

# The plot data of a bandit is a list with these elements:
#   `type`         the type of the plot.
#   `points`       the inputs of the drawn points, one row each.
#   `frame`        the posterior at these points.
#   `shown`        both together, in the user's form.
#   `x`, `y`       the positions of the points (y only in two dimensions).
#   `queries`      the history in this context without its inputs, with positions `at` (and `at_y`).
#   `played`       the inputs of the queries.
#   `band`         the credible band.
#   `set`          the labels of a level set.
#   `next_choice`  the next query; `ahead` has its inputs.
bandit_plot_data <- function(bandit, context, truth, type, width, next_choice, resolution) {
  check_has_posterior(bandit)
  check_one_objective(bandit$config, type)
  if (!is.null(width)) check_number(width, lower = 0)
  check_flag(next_choice)
  if (!is.null(resolution)) check_count(resolution, lower = 2, upper = 1000)
  context <- plot_data_context(bandit, context)
  plot_data <- list(type = plot_data_type(bandit$config, type), context = context,
               names = bandit$config$domain$names, sign = output_sign(bandit$config),
               reward = objective_label(bandit$config),
               observed = paste("observed", objective_label(bandit$config)),
               axes = unname(input_labels(bandit$config$domain)))
  plot_data$log <- plot_data_log(bandit$config$domain, plot_data$type)
  plot_data$scattered <- plot_data$type == "map" && is_scattered(bandit$config$domain)
  plot_data[c("queries", "played")] <- plot_data_queries(bandit, context)
  points <- picture_points(bandit$config$domain, plot_data$type, plot_data$played, resolution)
  coming <- if (next_choice || is.null(width)) preview_query(bandit, context)
  ahead <- if (!is.null(coming)) own_columns(coming, given_names(bandit$config))
  plot_data$band <- plot_data_band(bandit, width, ahead)
  plot_data <- plot_data_frame(bandit, plot_data, points, truth)
  if (next_choice && is_predictable(bandit, ahead)) {
    plot_data$next_choice <- ahead
    plot_data$ahead <- coming
  }
  plot_data <- plot_data_positions(plot_data, bandit$config$domain)
  plot_data$title <- plot_data_title(bandit, plot_data)
  plot_data
}

check_one_objective <- function(config, type) {
  if (length(objectives(config)) > 1) {
    stop_argument("type", dQuote(type, FALSE), "\"front\" for a bandit with several objectives")
  }
}

# The context of the plot data: one row, or NULL if the bandit has no contexts. The default is the context of the last
# query.
plot_data_context <- function(bandit, context) {
  names <- bandit$config$context_names
  if (!length(names)) {
    if (!is.null(context)) stop_unused("context", "this bandit has no contexts")
    return(NULL)
  }
  if (is.null(context)) {
    last <- utils::tail(bandit$history()[names], 1)
    known <- bandit$config$contexts
    if (nrow(last) == 0 && !is.matrix(known)) {
      stop_missing("context", "the context to draw, because no round was played yet")
    }
    context <- if (nrow(last)) last else as_codes(known[1, , drop = FALSE])
  }
  context <- context_matrix(bandit$config, context)
  if (nrow(context) != 1) stop_argument("context", sprintf("%d contexts", nrow(context)), "one context")
  colnames(context) <- names
  if (is.null(bandit$config$context_space)) context else context_frame(bandit$config$context_space, context)
}

plot_data_type <- function(config, type) {
  type <- check_choice(type, c("auto", "curve", "map", "arms"))
  types <- picture_types(config$domain, smooth = !has_matrix(config$kernel))
  if (type == "auto") return(types$auto)
  if (!type %in% types$can) {
    stop_argument("type", dQuote(type, FALSE),
                  paste("one of", paste(dQuote(c("auto", types$can), FALSE), collapse = ", "),
                        "for", describe_domain(config$domain),
                        "(a curve needs one input, a map two)"))
  }
  type
}

# The history in this context: the package's columns with the inputs and arms. `current` is TRUE if the model still uses
# the query, that is, if no restart followed it.
plot_data_queries <- function(bandit, context) {
  history <- bandit$history()
  own <- own_columns(with_reward_column(history, bandit$config), given_names(bandit$config))
  if (of_form(bandit$config, "several")) own$reward <- history[[objectives(bandit$config)[1]]]
  own$current <- own$segment == bandit_facts(bandit)$segment
  here <- if (is.null(context) || !nrow(history)) seq_len(nrow(history))
          else which(!is.na(match_frames(history[colnames(context)], as.data.frame(context))))
  list(own[here, , drop = FALSE], history[here, , drop = FALSE])
}

# The logarithmic axes of the plot, in the form of plot()'s argument `log`.
plot_data_log <- function(domain, type) {
  if (type == "arms") return("")
  paste(c("x", "y")[seq_along(domain$names)][log_inputs(domain)], collapse = "")
}

# The next query and its width, from a copy of the bandit: neither the bandit nor the user's random number state
# changes. NULL if no query can be made.
preview_query <- function(bandit, context) {
  copy <- bandit$copy()
  tryCatch({
    preserve_rng(copy$suggest(context = context))
    utils::tail(copy$history(), 1)
  }, gpbandits_error = function(e) NULL)
}

is_predictable <- function(bandit, ahead) {
  !is.null(ahead) && !trait(bandit$config$policy, "random") && ahead$action == "policy"
}

plot_data_band <- function(bandit, width, ahead) {
  if (!is.null(width)) return(list(width = width, label = band_label(width, "")))
  policy <- bandit$config$policy
  has_width <- !is.null(policy$width) && trait(policy$width,
                                               "one_multiplier") && !is.null(ahead) && is.finite(ahead$width)
  if (!has_width) return(list(width = 2, label = band_label(2, "")))
  list(width = ahead$width, label = band_label(ahead$width, " (policy's width)"))
}

band_label <- function(width, source) sprintf("mean %s %.3g sd%s", plus_minus(), width, source)

# The posterior on the scale of the rewards in the same plot.
drawn_posterior <- function(bandit, points, context, width) {
  of_form(bandit$config, "drawn_posterior")(bandit, points, context, width)
}

plot_data_frame <- function(bandit, plot_data, points, truth) {
  domain <- bandit$config$domain
  posterior <- with_band(drawn_posterior(bandit, points, plot_data$context, plot_data$band$width), plot_data$band$width)
  plot_data$points <- cpp_frame(point_labels(domain, points$arm, points$inputs))
  if (!is.null(truth)) truth <- truth_values(truth, user_inputs(domain, points), plot_data$context, can_count(domain))
  own <- as.list(posterior[c("mean", "sd", "lower", "upper")])
  own$feasible <- posterior$feasible
  plot_data$set <- level_set_plot_data(bandit, plot_data)
  own$label <- if (!is.null(plot_data$set)) as.character(plot_data$set$label)
  if (can_count(domain)) own$plays <- tabulate(plot_data$queries$arm, point_total(points))
  own$truth <- truth
  plot_data$frame <- cpp_frame(own)
  plot_data$shown <- cpp_frame(c(as.list(plot_data$points), distinct_columns(own, names(plot_data$points))))
  plot_data
}

truth_values <- function(truth, points, context, finite) {
  n <- nrow(points)
  allowed <- paste0("a function of the input matrix that returns one finite number per row",
                    if (finite) sprintf(", or %d numbers, one per arm", n))
  if (is.function(truth)) {
    inputs <- if (is.null(context)) points else cbind(points, context[rep(1, n), , drop = FALSE])
    values <- truth(inputs)
    if (!is_number(values) || length(values) != n || any(!is.finite(values))) {
      stop_returned("truth", values, allowed)
    }
    return(as.double(values))
  }
  if (!finite || !is_number(truth) || length(truth) != n || any(!is.finite(truth))) {
    stop_argument("truth", describe(truth), allowed)
  }
  as.double(truth)
}

# Positions of the points, the queries and the next choice in the plot.
plot_data_positions <- function(plot_data, domain) {
  which_point <- intersect(c("arm", plot_data$names), names(plot_data$points))
  position <- function(rows) {
    if (plot_data$type != "arms") return(rows[[plot_data$names[1]]])
    match_frames(rows[which_point], plot_data$points[which_point])
  }
  plot_data$x <- if (plot_data$type != "arms") plot_data$points[[plot_data$names[1]]] else
    seq_len(nrow(plot_data$points))
  plot_data$queries$at <- position(plot_data$played)
  if (!is.null(plot_data$next_choice)) plot_data$next_choice$at <- position(plot_data$ahead)
  if (plot_data$type == "map") {
    plot_data$y <- plot_data$points[[plot_data$names[2]]]
    plot_data$queries$at_y <- plot_data$played[[plot_data$names[2]]]
    if (!is.null(plot_data$next_choice)) plot_data$next_choice$at_y <- plot_data$ahead[[plot_data$names[2]]]
  }
  of_arms <- if (can_count(domain)) "arm" else "distinct point played"
  plot_data$x_label <- if (plot_data$type != "arms") plot_data$axes[1] else of_arms
  # In more than two dimensions, the plot of a box has no position for a point that was not played.
  if (anyNA(plot_data$next_choice$at)) plot_data[c("next_choice", "ahead")] <- NULL
  plot_data
}

plot_data_title <- function(bandit, plot_data) {
  rounds <- all_rounds(bandit)
  none <- all(is.na(table_column(bandit$events, "reward")))
  title <- sprintf("%s after %d %s%s", trait(bandit$config$policy, "short"), rounds,
                   if (rounds == 1) "query" else "queries", if (none) ", without results yet" else "")
  if (is.null(plot_data$context)) return(title)
  paste0(title, ", in the context ", point_text(as.data.frame(plot_data$context), 4))
}

# A curve with a single point is drawn as a bar.
is_line <- function(plot_data) plot_data$type == "curve" && length(plot_data$x) > 1

# Is the domain a set of arms with two inputs that is not a full grid?
is_scattered <- function(domain) is_plain_set_of_arms(domain) && ncol(domain$x) == 2 && !is_full_grid(domain$x)

# The points of a two-dimensional plot of scattered arms, one row each.
scatter_plot_data <- function(plot_data) {
  data.frame(x = plot_data$x, y = plot_data$y, plot_data$frame[c("mean", "sd", "plays")],
             pending = seq_along(plot_data$x) %in% plot_data$queries$arm[is.na(plot_data$queries$reward)],
             label = or_else(plot_data$set$label, NA))
}

# The best of the drawn points by posterior mean, among those where the limits (if any) hold.
best_drawn <- function(plot_data) {
  if (!is.null(plot_data$set)) return(integer())
  values <- plot_data$sign * plot_data$frame$mean
  if (is_flat(values)) return(integer())
  values[which(plot_data$frame$feasible < 0.95)] <- NA
  which.max(values)
}

# The names of the marks in a two-dimensional plot.
map_mark_names <- function(plot_data) {
  c(best = paste0(if (plot_data$sign < 0) "smallest mean" else "largest mean",
                  if (any(plot_data$frame$feasible < 0.95)) " within limits"),
    truth = if (plot_data$sign < 0) "true minimum" else "true maximum", next_choice = "next choice")
}

# The played points of a two-dimensional plot: one row per distinct point with its count, and whether a reward is
# pending.
played_points <- function(queries) {
  at <- paste(queries$at, queries$at_y)
  first <- !duplicated(at)
  data.frame(x = queries$at[first], y = queries$at_y[first],
             plays = as.vector(table(factor(at, unique(at)))),
             pending = at[first] %in% at[is.na(queries$reward)])
}

# The height at which the next choice is marked: the upper bound for UCB, which maximises that bound, else the mean.
next_height <- function(bandit, plot_data) {
  ahead <- plot_data$next_choice
  ahead$mean + if (trait(bandit$config$policy,
                         "bound")) output_sign(bandit$config) * plot_data$band$width * ahead$sd else 0
}

# --- runs and comparisons ---------------------------------------------------------------

quantity_labels <- c(
  cumulative_regret = "cumulative regret", average_regret = "average regret",
  simple_regret = "simple regret", regret = "regret of the round", reward = "reward",
  f = "true mean of the point played", cumulative_violation = "cumulative constraint violation",
  hard_violation = "constraint violation, without cancellation",
  optimum = "best true mean", segment = "segment (1 + restarts)", period = "period"
)

quantity_label <- function(column) {
  if (column %in% names(quantity_labels)) quantity_labels[[column]] else gsub("_", " ", column)
}

# The plot data of a run: a list of `frame` (round, the column of the curve, bound), `column`, `changes`, `restarts`.
run_plot_data <- function(run, type, bound) {
  type <- check_choice(type, c("cumulative", "average", "simple", "violation"))
  data <- ledger_of(run)
  rounds <- seq_len(nrow(data))
  column <- c(cumulative = "cumulative_regret", average = "average_regret",
              simple = "simple_regret", violation = "cumulative_violation")[[type]]
  data$average_regret <- data$cumulative_regret / rounds
  if (is.null(data[[column]])) {
    stop_argument("type", dQuote(type, FALSE), "a quantity of a run without constraints")
  }
  frame <- data.frame(round = rounds, data[column])
  if (!is.null(bound)) frame$bound <- run_bound(bound, type, rounds)
  list(frame = frame, column = column, label = quantity_label(column),
       changes = changes_within(run$problem$change_points, length(rounds)),
       restarts = which(diff(data$segment) > 0) + 0.5,
       title = sprintf("%s, %d rounds", trait(run$bandit$config$policy, "short"), length(rounds)))
}

# A change point is the last round of its period. Its line is drawn between two rounds.
changes_within <- function(change_points, rounds) change_points[change_points < rounds] + 0.5

# Bounds are on the cumulative regret (or violation). The smallest regret so far is at most the average regret.
run_bound <- function(bound, type, rounds) {
  n <- length(rounds)
  allowed <- sprintf("numbers >= 0, one per round (%d), or one number", n)
  if (!is_number(bound) || !length(bound) %in% c(1, n) || any(bound < 0, na.rm = TRUE)) {
    stop_argument("bound", describe(bound), allowed)
  }
  bound <- rep_len(as.double(bound), n)
  if (type %in% c("average", "simple")) bound / rounds else bound
}

# A data.frame with `bandit`, `round`, `mean`, `se`, `lower`, `upper` and, if there is one, `bound`.
comparison_plot_data <- function(comparison, type, bands, log, bound = NULL, points = 1000) {
  first <- comparison$results[[1]]
  numeric <- unique(unlist(lapply(first, function(columns) names(Filter(is.numeric, columns)))))
  column <- check_choice(type, c("average_regret", setdiff(numeric, "arm")))
  bands <- check_number(bands, lower = 0)
  log <- check_choice(log, c("", "x", "y", "xy"))
  shown <- Filter(function(name) column == "average_regret" || !is.null(first[[name]][[column]]),
                  comparison$names)
  kept <- kept_rounds(comparison)
  at <- thinned(kept, points, grepl("x", log))
  parts <- lapply(shown, function(name) {
    values <- matrix(comparison_matrix(comparison, name, column), length(kept))[at, , drop = FALSE]
    mean <- rowMeans(values, na.rm = TRUE)
    se <- row_standard_errors(values)
    data.frame(bandit = name, round = kept[at], mean = ifelse(is.nan(mean), NA, mean), se = se,
               lower = mean - bands * se, upper = mean + bands * se)
  })
  frame <- do.call(rbind, parts)
  frame$bandit <- factor(frame$bandit, levels = shown)
  if (!is.null(bound)) frame$bound <- comparison_bound(bound, column, comparison$rounds)[frame$round]
  list(frame = frame, column = column, label = quantity_label(column), log = log,
       note = comparison_note(comparison, bands, frame))
}

# One value per round, in the form in which the column is drawn.
comparison_bound <- function(bound, column, rounds) {
  quantity <- c(cumulative_regret = "cumulative", average_regret = "average", simple_regret = "simple",
                cumulative_violation = "violation", hard_violation = "violation")[column]
  if (is.na(quantity)) {
    stop_argument("bound", sprintf("given for type = \"%s\"", column),
                  "NULL except for a regret or the cumulative violation")
  }
  run_bound(bound, quantity, seq_len(rounds))
}

# At most about `points` of the rounds, evenly spaced (on a log axis evenly in the logarithm). The first and the last
# round are kept.
thinned <- function(rounds, points, log) {
  n <- length(rounds)
  if (n <= points) return(seq_len(n))
  if (!log) return(unique(round(seq(1, n, length.out = points))))
  wanted <- exp(seq(log(rounds[1]), log(rounds[n]), length.out = points))
  sort(unique(c(findInterval(wanted, rounds, all.inside = FALSE), 1L, n)))
}

comparison_note <- function(comparison, bands, frame) {
  n <- comparison$replications
  if (n == 1) return("one replication")
  paste0(sprintf("mean of %d replications", n),
         if (bands > 0 && any(!is.na(frame$se))) {
           sprintf(", bands %s %g standard error%s", plus_minus(), bands, if (bands == 1) "" else "s")
         })
}

series_style <- function(n, col = NULL) {
  if (is.null(col)) col <- okabe_ito
  list(col = unname(rep_len(col, n)), lty = (seq_len(n) - 1) %/% length(col) %% 6 + 1)
}

check_colours <- function(col) {
  if (is.null(col)) return(NULL)
  good <- catch_error(is.matrix(grDevices::col2rgb(col)) && length(col) > 0 && !anyNA(col), function(e) FALSE)
  if (!good) stop_argument("col", describe(col), "colours that R supports", try = "`colors()`, which lists them")
  col
}

# Adds the band mean +- width sd, unless the posterior already has bounds (a probability has bounds within 0 and 1).
with_band <- function(posterior, width) {
  if (!is.null(posterior$lower)) return(posterior)
  cbind(posterior, lower = posterior$mean - width * posterior$sd, upper = posterior$mean + width * posterior$sd)
}

# The probability that a normal variable is within `width` sd of its mean.
band_level <- function(width) min(max(2 * stats::pnorm(width) - 1, 1e-12), 1 - 1e-12)

register_form("reward", drawn_posterior = function(bandit, points, context, width) {
  posterior_at(bandit, points, context)
})
register_form("outcomes", drawn_posterior = function(bandit, points, context, width) {
  state_of_objective(outcomes_at(bandit, points, context), bandit$config)
})
register_form("response", drawn_posterior = function(bandit, points, context, width) {
  in_scale_of_rewards(scaled_posterior_at(bandit, points, context), bandit$config, "reward", band_level(width))
})
register_form("comparison", drawn_posterior = reward_forms$reward$drawn_posterior)
