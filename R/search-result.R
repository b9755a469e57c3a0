# The result of a search and its methods. Layer: search.

# ---- result of a search -------------------------------------------------------------

maximum_of_search <- function(search) {
  certificate <- if (search$stopped && inherits(search$stop_when, "bandit_stop")) {
    stop_certificate(search$stop_when, as.environment(search$bandit), NULL)
  }
  new_maximum(search$history, search$bandit, interrupted = search$interrupted, stopped = search$stopped,
              out_of_time = search$out_of_time, certificate = certificate, hopeless = search$hopeless,
              race = search$strategy$report(search))
}

maximum_entry <- list(settings = alist(history = check_data_frame(history), bandit = check_bandit(bandit),
                                       interrupted = check_flag(interrupted)))

new_maximum <- function(history, bandit, ...) {
  of_form(bandit$config, "new_maximum")(with_reasons(history, bandit$config), bandit, ...)
}

# During a search a failed evaluation has its reason as status. In the result the status is one word, and the reason is
# in the next column (if there is any).
result_statuses <- c("observed", "partial", "given", "cheap", "stopped", "waiting", "unfinished", "failed")

with_reasons <- function(history, config) {
  status <- history[[status_name(config)]]
  failed <- which(!status %in% c(result_statuses, status_names))
  name <- beside("reason", config$domain$names)
  if (length(failed) == 0 || name %in% names(history)) return(history)
  reason <- replace(rep(NA_character_, length(status)), failed, status[failed])
  history[[status_name(config)]][failed] <- "failed"
  at <- match(status_name(config), names(history))
  cbind(history[seq_len(at)], stats::setNames(data.frame(reason), name), history[-seq_len(at)])
}

new_maximum_of_rewards <- function(history, bandit, ...) {
  names <- bandit$config$domain$names
  seen <- best_row(rewards_inside(history, bandit$config$domain), bandit$config)
  best <- if (length(seen)) bandit$best()
  model_state <- if (!is.null(best)) with_structure(model_state_of_best(bandit, best), bandit, best, ...)
  named <- function(frame) {
    names(frame)[names(frame) == "reward"] <- outcome_names(bandit$config)
    frame
  }
  structure(list(par = if (!is.null(best)) user_point(bandit$config$domain, best[names]), value = model_state$mean,
                 sd = model_state$sd, observed = if (length(seen)) named(history[seen, ]), history = named(history),
                 bandit = bandit,
                 centre = 0, scale = 1, direction = direction_of(bandit$config), ...),
            class = "bandit_maximum")
}

# A fit treats structure of the objective that is finer than its models as noise. If several models are averaged, this
# part of the fitted noise variance is added to the variance of the reported value (`bench/promise_causes.R`), and the
# squared difference between the mean and the worth of the point.
structure_in_noise <- 0.1

with_structure <- function(model_state, bandit, best, certificate = NULL, ...) {
  bandit <- frame_of(bandit)
  config <- current_config(bandit)
  if (!is_noise_fitted(bandit$config) || !is.null(certificate) || is.null(config$models)) return(model_state)
  noise_var <- noise_in_user_units(config, as.double(model_state$mean))
  excess <- if (is_noise_doubtful(config)) worth_of_point(bandit, best) - model_state$mean else 0
  widened <- sqrt(model_state$sd^2 + structure_in_noise * noise_var + excess^2)
  if (is.finite(widened)) model_state$sd <- widened
  model_state
}

# The worth of the point of a row of `$best()` with one outcome. Points that were not evaluated have their mean.
worth_of_point <- function(bandit, best) {
  known <- evaluated_outcomes(bandit)
  at <- match_frames(best[names(known$frame)], known$frame)
  if (is.na(at)) model_state_of_best(bandit, best)$mean else worth_of_evaluated(bandit, known)[at, ]
}

#' Methods for the result of a Bayesian optimisation
#'
#' Print, summarise, predict from and convert the result of [maximize_bandit()] or [minimize_bandit()].
#'
#' Rewards are in the objective's own units and sign, and inputs in the user's units. `coef()`, `fitted()`,
#' `residuals()`, `nobs()`, `logLik()`, `tidy()`, `glance()` and `augment()` are those of the final model, see
#' [coef.GPBandit()]. Its observations include those of `data`. The first columns of `glance()` are `value`, `sd` and
#' the number of `evaluations`.
#'
#' @param x,object a result of [maximize_bandit()].
#' @param newdata points: a data.frame or matrix with a column per input. `NULL`, the default: the points that were
#'   evaluated.
#' @param row.names,optional as in [as.data.frame()].
#' @param ... settings of `update()`, as in [update.GPBandit()]; empty for other methods.
#' @return
#' * `predict()`: a data.frame with `mean` and `sd` of the expected reward, a row per point. With several [outcomes] it
#'   has `NAME_mean` and `NAME_sd` for each, and `feasible`, the probability that all limits hold.
#' * `as.data.frame()`: the history, with a column `best`, the best reward so far.
#' * `summary()`: an object that prints the recommended point, the five best evaluations, the numbers of successes and
#'   failures, and the fitted model. It is a list with `best`, `top`, `counts` and `model`.
#' * `update()`: the result of the same evaluations under a model with other settings.
#' @section Several outcomes:
#' With `outcomes` or `limits`, elements of the result differ:
#'
#' * `history` has a column for each outcome.
#' * `value` and `sd` are named vectors: the expected outcomes at `par` and their posterior sds.
#' * `feasible` is the probability that all limits hold at `par`.
#' * `observed` is the best evaluation whose own numbers satisfied the limits. Column `best` of `as.data.frame()` uses
#'   only such evaluations.
#' * `par` has the best expected objective among points where the limits hold with probability 0.95. If there are none,
#'   it is the most probably feasible point.
#'
#' With several objectives there is no single best point:
#'
#' * `par`, `value` and `sd` are `NULL`.
#' * `front` is the estimated Pareto front, `bandit$front()`. With one objective it is `NULL`.
#' * `as.data.frame()` has a column `hypervolume` instead of `best`. It is the hypervolume dominated so far by
#'   evaluations that satisfied the limits. The reference point is that of the policy. Without one, it is the worst
#'   value of each objective over all evaluations, less a tenth of its range.
#' @seealso [maximize_bandit()] for the elements of the result; [input_importance()], [plot.bandit_maximum()].
#' @concept Bayesian optimization
#' @concept hypervolume
#' @concept Pareto front
#' @examples
#' set.seed(1)
#' found <- minimize_bandit(function(p) (p$x - 2)^2, list(x = c(1, 3)), evaluations = 10)
#' summary(found)
#' predict(found, data.frame(x = c(1.5, 2)))
#' tail(as.data.frame(found), 2)
#' @name bandit_maximum
NULL

#' @rdname bandit_maximum
#' @export
print.bandit_maximum <- function(x, ...) {
  check_class(x, "bandit_maximum")
  cat(maximum_story(x), sep = "\n")
  invisible(x)
}

# The history of a search, in which a single outcome is called reward.
history_of <- function(found) with_reward_column(found$history, found$bandit$config)

# The history of a search under the names of the package, without inputs.
evaluations_of <- function(found) own_columns(history_of(found), found$bandit$config$domain$names)

maximum_story <- function(x) of_form(x$bandit$config, "maximum_story")(x)

story_of_rewards <- function(x) {
  domain <- x$bandit$config$domain
  failed <- sum(is.na(history_of(x)$reward))
  own <- evaluations_of(x)
  effort <- if (!is.null(x$race)) describe_race(x$race) else if (!is.null(x$fidelity)) describe_fidelity(x)
            else sprintf("%d evaluations", sum(own$status != "given"))
  head <- sprintf("%s found with %s%s%s", if (identical(x$direction, "minimize")) "Minimum" else "Maximum", effort,
                  if (failed) sprintf(" (%d failed)", failed) else "", ended_by(x))
  if (is.null(x$par)) {
    return(c(head, paste0("  no evaluation has succeeded", if (failed) paste(":", own$reason[1]))))
  }
  c(head,
    sprintf("  recommended    %s: %.5g %s %.2g expected", describe_point(x$par, domain), x$value, plus_minus(), x$sd),
    sprintf("  best observed  %s: %.5g", describe_point(x$observed[names(x$par)], domain),
            x$observed[[outcome_names(x$bandit$config)]]))
}

ended_by <- function(x) {
  if (x$interrupted) ", interrupted" else if (isTRUE(x$stopped)) ", stopped by its rule"
  else if (isTRUE(x$out_of_time)) ", out of time" else if (!is.null(x$hopeless)) ", given up" else ""
}

#' @rdname bandit_maximum
#' @export
summary.bandit_maximum <- function(object, ...) {
  check_class(object, "bandit_maximum")
  check_dots_empty(...)
  of_form(object$bandit$config, "summary_of_maximum")(object)
}

summary_of_rewards <- function(object) {
  history <- history_of(object)
  config <- current_config(frame_of(object$bandit))
  own <- evaluations_of(object)
  order <- order(output_sign(config) * rewards_inside(history, config$domain), decreasing = TRUE, na.last = NA)
  status <- own$status
  counts <- c(evaluated = sum(status %in% c("observed", "cheap")), given = sum(status == "given"),
              failed = sum(is.na(history$reward)))
  best <- c(as.list(object$par), distinct_columns(list(mean = object$value, sd = object$sd), names(object$par)))
  structure(list(story = maximum_story(object), best = best,
                 top = object$history[utils::head(order, 5), ], counts = counts,
                 reasons = sort(table(own$reason[is.na(history$reward)]), decreasing = TRUE),
                 model = model_in_force(config), certificate = object$certificate, race = object$race,
                 transfer = transfer_table(config), headers = shown_names(names(object$history), config)),
            class = "summary_bandit_maximum")
}

#' @export
print.summary_bandit_maximum <- function(x, ...) {
  cat(x$story, sep = "\n")
  for (line in x$limits) cat("  limit        ", line, "\n", sep = "")
  cat(sprintf("  %-13s%d succeeded, %d failed, %d given\n", if (is.null(x$race)) "evaluations" else "settings",
              x$counts[["evaluated"]], x$counts[["failed"]], x$counts[["given"]]))
  if (!is.null(x$race)) cat(race_line(x$race))
  for (reason in names(utils::head(x$reasons, 3))) cat(sprintf("    %d x %s\n", x$reasons[[reason]], reason))
  for (name in names(x$models)) cat(sprintf("  %-13s%s\n", name, model_text(x$models[[name]])))
  if (is.null(x$models)) {
    cat(sprintf("  %-13s%s\n", if (is.null(x$model$noise_var)) "results" else "outputs", x$model$outputs))
    cat(sprintf("  model%-8s%s\n", if (is.null(x$model$average)) "" else "s", model_text(x$model)))
  }
  if (!is.null(x$transfer)) cat(paste0("  ", transfer_text(x$transfer)), sep = "\n")
  if (!is.null(x$certificate)) {
    cat(sprintf("  certificate  gap %.4g, probability %.4g\n", x$certificate$gap, x$certificate$probability))
  }
  if (nrow(x$top)) {
    cat("  best evaluations:\n")
    kept <- names(x$top) != "reason" | !vapply(x$top, function(column) all(is.na(column)), NA)
    print(stats::setNames(x$top, x$headers)[kept], row.names = FALSE, digits = 5)
  }
  invisible(x)
}

# With the models that are averaged, if there are several.
model_in_force <- function(config) {
  labels <- parameter_labels(config$kernel, input_names(config))
  average <- if (!is.null(config$models)) parameters_of_models(config)
  if (!is.null(average)) average$parameter <- c(labels, average$parameter[-seq_along(labels)])
  list(parameters = stats::setNames(kernel_parameters(config$kernel), labels),
       noise_var = if (uses_noise_var(config)) config$noise_var,
       outputs = if (is.null(config$outputs)) trait(config$rewards, "title") else describe_outputs(config),
       average = average, weights = model_weights(config))
}

model_text <- function(model) {
  if (!is.null(model$average)) return(average_text(model))
  parameters <- c(model$parameters, noise_var = model$noise_var)
  paste(names(parameters), "=", vapply(parameters, format, "", digits = 3), collapse = ", ")
}

average_text <- function(model) {
  number <- function(x) vapply(x, format, "", digits = 3)
  part <- model$average
  sprintf("average of %d: %s", length(model$weights),
          paste0(part$parameter, " = ", number(part$lower), " to ", number(part$upper), collapse = ", "))
}

#' @rdname bandit_maximum
#' @export
as.data.frame.bandit_maximum <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_class(x, "bandit_maximum")
  of_form(x$bandit$config, "progress")(x)
}

progress_of_rewards <- function(x) {
  frame <- x$history
  domain <- x$bandit$config$domain
  frame[[beside("best", domain$names)]] <- best_so_far(rewards_inside(history_of(x), domain), x$direction)
  frame
}

# NA before the first reward.
best_so_far <- function(reward, direction) {
  sign <- if (identical(direction, "minimize")) -1 else 1
  best <- cummax(ifelse(is.na(reward), -Inf, sign * reward))
  ifelse(is.finite(best), sign * best, NA_real_)
}

#' @rdname bandit_maximum
#' @export
predict.bandit_maximum <- function(object, newdata = NULL, ...) {
  check_class(object, "bandit_maximum")
  check_dots_empty(..., allowed = "newdata")
  names <- object$bandit$config$domain$names
  if (is.null(newdata)) newdata <- object$history[names]
  predict(object$bandit, newdata, context = context_of(object))
}

#' @rdname bandit_maximum
#' @export
coef.bandit_maximum <- function(object, ...) coef.GPBandit(check_class(object, "bandit_maximum")$bandit, ...)

#' @rdname bandit_maximum
#' @export
fitted.bandit_maximum <- function(object, ...) fitted.GPBandit(check_class(object, "bandit_maximum")$bandit, ...)

#' @rdname bandit_maximum
#' @export
residuals.bandit_maximum <- function(object, ...) {
  residuals.GPBandit(check_class(object, "bandit_maximum")$bandit, ...)
}

#' @rdname bandit_maximum
#' @export
nobs.bandit_maximum <- function(object, ...) nobs.GPBandit(check_class(object, "bandit_maximum")$bandit, ...)

#' @rdname bandit_maximum
#' @export
logLik.bandit_maximum <- function(object, ...) logLik.GPBandit(check_class(object, "bandit_maximum")$bandit, ...)

#' @rdname bandit_maximum
#' @export
update.bandit_maximum <- function(object, ...) {
  if ("evaluations" %in% ...names()) {
    stop_unknown("evaluations", use = paste("`maximize_bandit(objective, domain, evaluations, data = found$history)`,",
                                            "which continues a search"))
  }
  bandit <- update.GPBandit(check_class(object, "bandit_maximum")$bandit, ...)
  computed <- c("par", "value", "sd", "feasible", "front", "observed", "history", "bandit", "centre", "scale",
                "direction")
  do.call(new_maximum, c(list(history_of(object), bandit), unclass(object)[setdiff(names(object), computed)]),
          quote = TRUE)
}

#' @rdname bandit_maximum
#' @method tidy bandit_maximum
#' @exportS3Method generics::tidy bandit_maximum
tidy.bandit_maximum <- function(x, ...) tidy.GPBandit(check_class(x, "bandit_maximum")$bandit, ...)

#' @rdname bandit_maximum
#' @method glance bandit_maximum
#' @exportS3Method generics::glance bandit_maximum
glance.bandit_maximum <- function(x, ...) {
  check_class(x, "bandit_maximum")
  status <- evaluations_of(x)$status
  cbind(data.frame(value = number_or_na(x$value), sd = number_or_na(x$sd), evaluations = sum(status != "given")),
        glance.GPBandit(x$bandit, ...)[c("nobs", "logLik", "noise_var")])
}

#' @rdname bandit_maximum
#' @method augment bandit_maximum
#' @exportS3Method generics::augment bandit_maximum
augment.bandit_maximum <- function(x, newdata = NULL, ...) {
  augment.GPBandit(check_class(x, "bandit_maximum")$bandit, newdata, context = context_of(x), ...)
}

new_maximum_of_outcomes <- function(history, bandit, ...) {
  config <- bandit$config
  names <- c(if (!is.null(config$goal)) goal_column, outcome_names(config))
  history <- with_goals(history, config)
  out <- list(par = NULL, value = NULL, sd = NULL, feasible = NULL, observed = NULL, front = NULL)
  if (length(objectives(config)) > 1) {
    out["front"] <- list(suppressWarnings(bandit$front(), classes = "gpbandits_infeasible"))
  } else {
    best <- likely_best(as.environment(bandit))
    if (nrow(best)) {
      out$par <- user_point(config$domain, best[config$domain$names])
      out$value <- stats::setNames(unlist(best[paste0(names, "_mean")]), names)
      out$sd <- stats::setNames(unlist(best[paste0(names, "_sd")]), names)
      out$feasible <- best$feasible
    }
    seen <- which.max(fair_objectives(history, config))
    if (length(seen)) out$observed <- history[seen, ]
  }
  structure(c(out, list(history = history, bandit = bandit, centre = 0, scale = 1,
                        direction = direction_of(config),
                        outcomes = outcome_roles(config)), list(...)), class = "bandit_maximum")
}

# The goal of each evaluation, after its outcomes.
with_goals <- function(history, config) {
  if (is.null(config$goal)) return(history)
  domain <- config$domain
  points <- asked_points(domain, history[domain$names], NULL, "data")
  goal <- goal_values(config, as.matrix(history[outcome_names(config)]), kernel_points(domain, points))
  at <- max(match(outcome_names(config), names(history)))
  cbind(history[seq_len(at)], goal = goal, history[-seq_len(at)])
}

story_of_outcomes <- function(x) {
  config <- x$bandit$config
  own <- evaluations_of(x)
  failed <- sum(says_nothing(x$history, config))
  wanted <- objectives(config)
  of_several <- length(wanted) > 1
  what <- if (of_several) sprintf("Pareto front of %s", paste(wanted, collapse = ", "))
          else if (direction_of(config) == "minimize") "Minimum" else "Maximum"
  head <- sprintf("%s found with %d evaluations%s%s", what, sum(own$status != "given"),
                  if (failed) sprintf(" (%d failed)", failed) else "", ended_by(x))
  lines <- c(head, sprintf("  outcomes     %s", describe_outcomes(config)))
  if (of_several) {
    if (nrow(x$front) == 0) {
      return(c(lines, "  front        no point is known yet where the limits hold with probability 0.5"))
    }
    range_of <- function(name) {
      sprintf("%s %s", name, paste(format(range(x$front[[paste0(name, "_mean")]]), digits = 4, trim = TRUE),
                                   collapse = " to "))
    }
    return(c(lines, sprintf("  front        %d points: %s", nrow(x$front),
                            paste(vapply(wanted, range_of, ""), collapse = ", "))))
  }
  if (is.null(x$par)) return(c(lines, paste0("  no evaluation has succeeded", if (failed) paste(":", own$reason[1]))))
  shown <- shown_names(names(x$value), config)
  expected <- paste(sprintf("%s %.5g %s %.2g", shown, x$value, plus_minus(), x$sd), collapse = ", ")
  c(lines,
    sprintf("  recommended    %s: %s expected", describe_point(x$par), expected),
    if (has_limits(config)) sprintf("  feasible     with probability %.3g", x$feasible),
    if (is.null(x$observed)) "  best observed  no evaluation kept the limits"
    else sprintf("  best observed  %s: %s", describe_point(x$observed[names(x$par)]),
                 describe_point(stats::setNames(x$observed[names(x$value)], shown))))
}

summary_of_outcomes <- function(object) {
  config <- current_config(frame_of(object$bandit))
  history <- object$history
  status <- evaluations_of(object)$status
  nothing <- says_nothing(history, config)
  fair <- fair_objectives(history, config)
  known <- which(stats::complete.cases(fair))
  top <- if (ncol(fair) > 1) known[is_nondominated(fair[known, , drop = FALSE])]
         else utils::head(order(fair, decreasing = TRUE, na.last = NA), 5)
  models <- lapply(seq_len(outcome_count(config)), function(k) {
    model_in_force(outcome_config(config, k))
  })
  structure(list(story = story_of_outcomes(object),
                 best = if (!is.null(object$par)) c(as.list(object$par), object[c("value", "sd", "feasible")]),
                 front = object$front, top = history[top, ],
                 counts = c(evaluated = sum(status %in% c("observed", "partial")), given = sum(status == "given"),
                            failed = sum(nothing)),
                 reasons = sort(table(status[nothing]), decreasing = TRUE),
                 limits = limits_as_text(frame_of(object$bandit)),
                 models = stats::setNames(models, shown_names(outcome_names(config), config)),
                 headers = shown_names(names(history), config)), class = "summary_bandit_maximum")
}

# The history with the best value, or the hypervolume, of the evaluations so far that satisfied the limits.
progress_of_outcomes <- function(x) {
  config <- x$bandit$config
  fair <- fair_objectives(x$history, config)
  taken <- c(config$domain$names, outcome_names(config))
  frame <- x$history
  if (ncol(fair) == 1) {
    frame[[beside("best", taken)]] <- best_so_far(objective_signs(config) * drop(fair), x$direction)
  } else {
    frame[[beside("hypervolume", taken)]] <- hypervolume_so_far(fair, reference_seen(x))
  }
  frame
}

register_family("bandit_maximum", maximum_entry, open = TRUE)

register_form("reward", new_maximum = new_maximum_of_rewards, maximum_story = story_of_rewards,
              summary_of_maximum = summary_of_rewards, progress = progress_of_rewards)
register_form("outcomes", new_maximum = new_maximum_of_outcomes, maximum_story = story_of_outcomes,
              summary_of_maximum = summary_of_outcomes, progress = progress_of_outcomes)
