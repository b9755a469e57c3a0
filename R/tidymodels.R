# `tune_gp_bandit()` for tidymodels. Layer: integrations.

#' Tuning with tidymodels
#'
#' A Gaussian-process bandit in the place of `tune::tune_bayes()`: the same arguments, the same result. The first
#' `initial` settings are those of `tune_bayes()`, then `iter` more are asked of a bandit with the defaults of
#' [maximize_bandit()], over the [search_space()] of the dials parameters, and evaluated by `tune::tune_grid()` on all
#' resamples. The first metric is what is optimised.
#'
#' A setting that was tried is not evaluated again: the bandit is told its result once more and asked for another.
#' One for which all models failed counts as the worst so far, with a failure's doubt as in [maximize_bandit()]. If all
#' models of all settings failed, there is a warning of class `gpbandits_no_success` that quotes the first note. Of
#' `control`, `no_improve`, `time_limit` and `verbose_iter` mean what they mean there, `uncertain` and `seed` nothing
#' (R's generator is used, as everywhere here); the rest goes to `tune_grid()`. An interrupt, or the time limit, ends
#' the search and returns what there is.
#'
#' With `race =` [race_folds()] a resample is a fold, and each of the `iter` settings is evaluated on one after the
#' other, in random order, until it has no chance any more against the best of those that were evaluated on all (the
#' first settings are). Settings that were stopped are known to the bandit, with their own noise, and are not in the
#' result, where a mean over a few resamples would be taken for one over all: attribute `race` tells of them, a list as
#' in [race_folds()] (`folds` with `cost` and without `status`; `spent` counts the first settings too).
#'
#' @param object a parsnip model specification, or a workflow.
#' @param preprocessor with a model specification: a formula or a recipe.
#' @param resamples resamples of package rsample.
#' @param ... further arguments of [gp_bandit()].
#' @param iter how many settings to try after the first ones: a whole number >= 0.
#' @param param_info dials parameters, finalised; `NULL`: those of `object`.
#' @param metrics a `yardstick::metric_set()`, or `NULL` for the usual ones.
#' @param eval_time as in `tune_bayes()`.
#' @param objective `NULL` for the default policy, a [policy][policies], or tune's `exp_improve()`, `prob_improve()`
#'   (number `trade_off`: `xi`) or `conf_bound()` (number `kappa`: the width).
#' @param initial how many settings to begin with, or earlier results of `tune_grid()` and its like.
#' @param model the Gaussian process, [gp_model()]; its defaults depend on the number of inputs.
#' @param control `tune::control_bayes()`, or [search_control()], of which `verbose` has an effect; `NULL`: the defaults
#'   of `control_bayes()`.
#' @param race `NULL`, or [race_folds()] with as many folds as there are resamples.
#' @return As of `tune_bayes()`, of class `"iteration_results"`: `tune::collect_metrics()`, `tune::show_best()`,
#'   `tune::select_best()` and `autoplot()` know what to do. Attribute `bandit`: the `GPBandit` (its rewards are costs:
#'   the metric, or its negative where it is maximised).
#' @section Errors: a `gpbandits_error` that names the argument, before anything is evaluated; those of package tune.
#' @section Guarantee: none with fitted hyperparameters.
#' @seealso [search_space()], [mlr3-doors], [maximize_bandit()].
#' @examplesIf all(vapply(c("tune", "parsnip", "workflows", "rsample", "rpart"), requireNamespace, NA, quietly = TRUE))
#' set.seed(1)
#' tree <- parsnip::decision_tree("regression", "rpart", min_n = tune())
#' split <- rsample::initial_validation_split(mtcars)
#' found <- tune_gp_bandit(tree, mpg ~ ., rsample::validation_set(split),
#'                         iter = 2, initial = 3)
#' tune::show_best(found, metric = "rmse")
#' @export
tune_gp_bandit <- function(object, ...) UseMethod("tune_gp_bandit")

#' @export
tune_gp_bandit.default <- function(object, ...) {
  stop_argument("object", if (missing(object)) "missing" else describe(object),
                "a parsnip model specification or a workflow")
}

#' @rdname tune_gp_bandit
#' @export
tune_gp_bandit.model_spec <- function(object, preprocessor, resamples, ..., iter = 10, param_info = NULL,
                                      metrics = NULL, eval_time = NULL, objective = NULL, initial = 5,
                                      model = gp_model(), control = NULL, race = NULL) {
  if (missing(preprocessor) || !inherits(preprocessor, c("formula", "recipe"))) {
    stop_argument("preprocessor", if (missing(preprocessor)) "missing" else describe(preprocessor),
                  "a formula or a recipe")
  }
  check_tuning(iter, objective, initial, control, model, race, ...names())
  needs_package("tune", "object")
  flow <- getExportedValue("workflows", "workflow")(preprocessor, object)
  tune_gp_bandit(flow, resamples, ..., iter = iter, param_info = param_info, metrics = metrics, eval_time = eval_time,
                 objective = objective, initial = initial, model = model, control = control, race = race)
}

#' @rdname tune_gp_bandit
#' @export
tune_gp_bandit.workflow <- function(object, resamples, ..., iter = 10, param_info = NULL, metrics = NULL,
                                    eval_time = NULL, objective = NULL, initial = 5, model = gp_model(),
                                    control = NULL, race = NULL) {
  policy <- check_tuning(iter, objective, initial, control, model, race, ...names())
  needs_package("tune", "object")
  if (missing(resamples)) stop_argument("resamples", "missing", "resamples of package rsample")
  check_race_of(resamples, race)
  if (!inherits(control, "control_bayes")) {
    control <- from_tune("control_bayes")(verbose_iter = isTRUE(control$verbose))
  }
  if (is.null(param_info)) param_info <- from_tune("extract_parameter_set_dials")(object)
  bandit <- tuning_bandit(search_space(param_info), policy, model, ...)
  begun <- Sys.time()
  # The time limit ends this search; tune_bayes() would give up what there is.
  untimed <- utils::modifyList(control, list(time_limit = NA))
  found <- from_tune("tune_bayes")(object, resamples, iter = 0, param_info = param_info, metrics = metrics,
                                   eval_time = eval_time, initial = initial, control = untimed)
  evaluate <- function(point, on = resamples) {
    from_tune("tune_grid")(object, on, grid = point, param_info = param_info,
                           metrics = attr(found, "metrics"), eval_time = eval_time, control = control)
  }
  search <- list2env(list(bandit = bandit, found = list(found), cost = tell_initial(bandit, found),
                          resamples = resamples, noise_var = numeric()), parent = emptyenv())
  if (!is.null(race)) begin_tuning_race(search, race)
  until <- if (is.na(control$time_limit)) Inf else 60 * control$time_limit
  tryCatch(tune_on(search, evaluate, iter, control, function() seconds_since(begun) >= until),
           interrupt = function(i) message("Interrupted: what has been found is returned."))
  costs <- unlist(lapply(search$found, function(one) mean_costs(one, found)$cost))
  if (!any(is.finite(costs))) warn_of_failures(failed_tuning_words(search$found))
  found <- bound_iterations(search$found)
  attr(found, "bandit") <- bandit
  attr(found, "race") <- tuning_race_report(search)
  found
}

# ---- arguments -------------------------------------------------------------------------

# Those that can be checked without package tune. The policy that `objective` stands for. `others`: names in `...`.
check_tuning <- function(iter, objective, initial, control, model, race, others) {
  check_not_moved(setdiff(others, "design"))
  check_race(race)
  check_class(model, "gp_model", hint = "gp_model()")
  check_count(iter, lower = 0)
  if (!inherits(initial, "tune_results")) {
    allowed <- "a whole number >= 1, or results of tune_grid()"
    if (!is_number(initial)) stop_argument("initial", describe(initial), allowed)
    check_count(initial)
  }
  if (inherits(control, "search_control")) check_control(control, "verbose", "tune_gp_bandit()")
  else if (!is.null(control)) check_class(control, "control_bayes", hint = "tune::control_bayes()")
  tuning_policy(objective)
}

tuning_policy <- function(objective) {
  if (is.null(objective)) return(default_policy())
  if (inherits(objective, "bandit_policy")) return(objective)
  kinds <- c("exp_improve", "prob_improve", "conf_bound")
  if (!inherits(objective, kinds)) {
    stop_argument("objective", describe(objective),
                  "NULL, a policy such as policy_ei(), or one of tune's acquisition functions")
  }
  field <- if (inherits(objective, "conf_bound")) "kappa" else "trade_off"
  value <- objective[[field]]
  if (!is_number(value)) {
    stop_argument("objective", sprintf("one whose `%s` is a function", field),
                  sprintf("one whose `%s` is a number", field))
  }
  value <- check_number(value, "objective", lower = 0)
  switch(kinds[inherits(objective, kinds, which = TRUE) > 0], exp_improve = policy_ei(value),
         prob_improve = policy_pi(value), conf_bound = policy_ucb(width_constant(value)))
}

# Over costs: metrics of either direction.
tuning_bandit <- function(domain, policy, model, ...) {
  scaled_bandit(domain, "minimize", model, policy, pending_hallucinate(), ...)
}

# ---- the search --------------------------------------------------------------------------

# Settings that were tried before, with their costs; what lies outside of the space is no concern of the bandit's.
tell_initial <- function(bandit, found) {
  known <- settings_within(bandit$config$domain, mean_costs(found, found))
  if (nrow(known)) add_evaluated(bandit, known[bandit$config$domain$names], known$cost)
  known$cost
}

# Ends of ranges that were computed otherwise differ in their last digits.
settings_within <- function(domain, frame) {
  inside <- rep(TRUE, nrow(frame))
  for (j in which(vapply(domain$params, function(param) param$type %in% c("real", "integer"), NA))) {
    lower <- domain$box$lower[[j]]
    upper <- domain$box$upper[[j]]
    slack <- 1e-8 * if (domain$box$log[j]) lower else upper - lower
    value <- frame[[domain$names[j]]]
    inside <- inside & value >= lower - slack & value <= upper + slack
    frame[[domain$names[j]]] <- pmin(pmax(value, lower), upper)
  }
  for (j in which(vapply(domain$params, function(param) param$type == "factor", NA))) {
    inside <- inside & level_words(frame[[domain$names[j]]]) %in% level_words(domain$params[[j]]$levels)
  }
  frame[inside & !is.na(inside), ]
}

tune_on <- function(search, evaluate, iter, control, is_over) {
  first <- search$found[[1]]
  best <- min(search$cost, Inf, na.rm = TRUE)
  idle <- 0
  for (i in seq_len(iter)) {
    if (is_over() || idle >= control$no_improve) break
    asked <- next_setting(search$bandit, search$noise_var)
    names <- search$bandit$config$domain$names
    tried <- if (is.null(search$race)) list(result = evaluate(asked[names]))
             else race_setting(search, asked[names], evaluate)
    is_whole <- is.null(tried$stopped)
    cost <- if (is_whole) mean_costs(tried$result, first)$cost[1] else tried$stopped$mean
    tell_cost(search, asked$id, cost, tried$stopped$var)
    if (is_whole) {
      search$cost <- c(search$cost, cost)
      search$found <- c(search$found, list(numbered_iteration(tried$result, i + max(first$.iter), iter)))
    }
    better <- is_whole && isTRUE(cost < best)
    idle <- if (better) 0 else idle + 1
    if (better) best <- cost
    if (control$verbose_iter) message(sprintf("Iteration %d: %s", i, point_words(as.list(asked[names]), 5)))
  }
}

# On the same resamples a setting has the same result: where the bandit asks for one again, it is told so at no cost,
# and asked again, a few times.
# `noise_var`: by id, that of those which a race has stopped.
next_setting <- function(bandit, noise_var = numeric()) {
  names <- bandit$config$domain$names
  key_of <- function(frame) do.call(paste, c(lapply(frame[names], as.character), sep = "\r"))
  for (asking in 1:10) {
    asked <- bandit$suggest()
    history <- bandit$history()
    same <- which(history$status %in% c("observed", "failed") & key_of(history) == key_of(asked))
    if (length(same) == 0 || asking == 10) return(asked)
    observe_evaluated(bandit, asked$id, history$reward[same[1]], noise_var[same[1]])
  }
}

# A row per setting: its parameters, and the mean of the first metric as a cost. `first`: whose metric.
# No row where all models failed.
mean_costs <- function(results, first) {
  metric <- from_tune("first_metric")(attr(first, "metrics"))
  means <- attempt(as.data.frame(from_tune("collect_metrics")(results)))
  if (is.null(means)) return(data.frame(cost = numeric()))
  wanted <- means$.metric == metric$metric
  time <- attr(first, "eval_time_target")
  if (!is.null(time) && ".eval_time" %in% names(means)) wanted <- wanted & means$.eval_time %in% c(time, NA)
  means <- means[wanted, ]
  means$cost <- if (metric$direction == "maximize") -means$mean else means$mean
  means
}

# Of results in which every model failed: with the first of tune's notes.
failed_tuning_words <- function(results) {
  notes <- unlist(lapply(results, function(one) lapply(one$.notes, function(note) as.character(note$note))))
  paste0("all models failed", if (length(notes)) paste0(", the first: ", one_text(notes[1])))
}

# The results of one more setting, named as tune_bayes() names them.
numbered_iteration <- function(result, number, iter) {
  label <- sprintf("iter%0*d", nchar(iter), number)
  named <- function(frame) {
    if (is.data.frame(frame) && ".config" %in% names(frame)) frame$.config <- rep(label, nrow(frame))
    frame
  }
  for (column in intersect(c(".metrics", ".predictions", ".extracts"), names(result))) {
    result[[column]] <- lapply(result[[column]], named)
  }
  result$.iter <- rep(as.integer(number), nrow(result))
  result
}
