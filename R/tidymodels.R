# `tune_gp_bandit()` for tidymodels. Layer: integrations.

#' Bayesian hyperparameter tuning with tidymodels
#'
#' `tune_gp_bandit()` tunes a tidymodels model by Bayesian optimisation, with the interface of `tune::tune_bayes()`.
#'
#' It has the arguments of `tune_bayes()` and returns the same kind of result. The first `initial` settings are those of
#' `tune_bayes()`. Then a Gaussian-process bandit with the defaults of [maximize_bandit()] suggests `iter` more
#' settings, over the [search_space()] of the dials parameters. `tune::tune_grid()` evaluates each on all resamples. The
#' metric `reward` is optimised, by default the first one.
#'
#' @section Details of the search:
#'
#' * **Repeated settings**: a setting is not evaluated twice. If it is suggested again, the bandit gets the same result
#'   once more, and suggests another setting.
#' * **Failed settings**: a setting for which all models failed counts as the worst so far, with the additional
#'   uncertainty of a failure as in [maximize_bandit()]. If all models of all settings failed, there is a warning of
#'   class `gpbandits_no_success` that quotes the first note.
#' * **Control**: `no_improve`, `time_limit` and `verbose_iter` of `control` are used as in `tune_bayes()`. `uncertain`
#'   and `seed` have no effect, because the search uses R's random generator. The other fields are passed to
#'   `tune_grid()`.
#' * **Interruption**: an interrupt or the time limit ends the search, and the results so far are returned.
#'
#' @section Racing: With `race =` [race_folds()] a resample is a fold. Each of the `iter` settings is evaluated on one
#' fold after the other, in random order. It is stopped when it has no chance against the best setting that was
#' evaluated on all folds (the first settings are).
#'
#' The bandit uses stopped settings with their own noise variance. They are not in the result, because their means over
#' a few resamples would be read as means over all. Attribute `race` of the result describes them. It is a list as in
#' [race_folds()], but `folds` has `cost` and no `status`, and `spent` counts the first settings too.
#'
#' @param object a parsnip model specification, or a workflow.
#' @param preprocessor with a model specification: a formula or a recipe.
#' @param resamples resamples of package rsample.
#' @param ... further arguments of [gp_bandit()].
#' @param iter number of settings after the first ones, an integer >= 0. Default 10.
#' @param param_info dials parameters, finalised. `NULL` (default): those of `object`.
#' @param metrics a `yardstick::metric_set()`. `NULL` (default): tune's default metrics for the model's mode.
#' @param eval_time evaluation times of dynamic metrics, as in `tune_bayes()`. Default `NULL`.
#' @param objective the acquisition function: a [policy][policies], or tune's `exp_improve()`, `prob_improve()` (number
#'   `trade_off`: `xi`) or `conf_bound()` (number `kappa`: the confidence width, the multiplier of the sd). `NULL`
#'   (default): that of [maximize_bandit()].
#' @param initial number of first settings, or earlier results of `tune_grid()` or a similar function. Default 5.
#' @param model the Gaussian-process model, a [gp_model()]. Its defaults depend on the number of inputs.
#' @param control `tune::control_bayes()`, or [search_control()], of which only `verbose` is used. `NULL` (default): the
#'   defaults of `control_bayes()`.
#' @param reward name of the metric that is optimised, such as `"rsq"`: one of `metrics`. It is then the first metric of
#'   the result. `NULL` (default): the first of `metrics`.
#' @param race [race_folds()] with the number of resamples as its number of folds. `NULL` (default): every setting is
#'   evaluated on all resamples.
#' @return An object of class `"iteration_results"`, as from `tune_bayes()`:
#'
#' * It works with `tune::collect_metrics()`, `tune::show_best()`, `tune::select_best()` and `autoplot()`.
#' * Attribute `bandit` is the [GPBandit]. Its outcome has the name and the values of the metric.
#' * Attribute `race` describes the race, if there is one.
#' @section Errors: A `gpbandits_error` that names the argument, before anything is evaluated; also errors of package
#' tune.
#' @section Guarantee: None, because hyperparameters are estimated.
#' @seealso [search_space()], [mlr3-integration], [maximize_bandit()].
#' @concept tidymodels
#' @concept hyperparameter tuning
#' @concept hyperparameter optimization
#' @concept Bayesian optimization
#' @concept tune_bayes
#' @concept racing
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
  if (missing(object)) stop_missing("object", "a parsnip model specification or a workflow")
  else stop_argument("object", describe(object), "a parsnip model specification or a workflow")
}

#' @rdname tune_gp_bandit
#' @export
tune_gp_bandit.model_spec <- function(object, preprocessor, resamples, ..., iter = 10, param_info = NULL,
                                      metrics = NULL, eval_time = NULL, objective = NULL, initial = 5,
                                      model = gp_model(), control = NULL, race = NULL, reward = NULL) {
  if (missing(preprocessor) || !inherits(preprocessor, c("formula", "recipe"))) {
    if (missing(preprocessor)) stop_missing("preprocessor", "a formula or a recipe")
    else stop_argument("preprocessor", describe(preprocessor), "a formula or a recipe")
  }
  check_tuning(iter, objective, initial, control, model, race, ...names())
  metrics <- metrics_to_tune(metrics, reward)
  needs_package("tune", "object")
  flow <- getExportedValue("workflows", "workflow")(preprocessor, object)
  tune_gp_bandit(flow, resamples, ..., iter = iter, param_info = param_info, metrics = metrics, eval_time = eval_time,
                 objective = objective, initial = initial, model = model, control = control, race = race)
}

#' @rdname tune_gp_bandit
#' @export
tune_gp_bandit.workflow <- function(object, resamples, ..., iter = 10, param_info = NULL, metrics = NULL,
                                    eval_time = NULL, objective = NULL, initial = 5, model = gp_model(),
                                    control = NULL, race = NULL, reward = NULL) {
  policy <- check_tuning(iter, objective, initial, control, model, race, ...names())
  metrics <- metrics_to_tune(metrics, reward)
  needs_package("tune", "object")
  if (missing(resamples)) stop_missing("resamples", "resamples of package rsample", "`rsample::vfold_cv(data)`")
  check_race_of(resamples, race)
  if (!inherits(control, "control_bayes")) {
    control <- from_tune("control_bayes")(verbose_iter = isTRUE(control$verbose))
  }
  if (is.null(param_info)) param_info <- from_tune("extract_parameter_set_dials")(object)
  bandit_of <- function(metric) tuning_bandit(search_space(param_info), policy, model, metric, ...)
  bandit_of(NULL) # (errors before anything is evaluated)
  begun <- Sys.time()
  # The time limit of this function ends the search; that of tune_bayes() would discard the results.
  untimed <- utils::modifyList(control, list(time_limit = NA))
  found <- from_tune("tune_bayes")(object, resamples, iter = 0, param_info = param_info, metrics = metrics,
                                   eval_time = eval_time, initial = initial, control = untimed)
  evaluate <- function(point, on = resamples) {
    from_tune("tune_grid")(object, on, grid = point, param_info = param_info,
                           metrics = attr(found, "metrics"), eval_time = eval_time, control = control)
  }
  bandit <- bandit_of(first_metric_of(found))
  search <- list2env(list(bandit = bandit, found = list(found), cost = record_initial(bandit, found),
                          resamples = resamples, noise_var = numeric()), parent = emptyenv())
  if (!is.null(race)) begin_tuning_race(search, race)
  until <- if (is.na(control$time_limit)) Inf else 60 * control$time_limit
  show <- if (control$verbose_iter) FALSE # (else a bar in interactive sessions)
  tryCatch(with_bar(show, iter, function(bar) {
    tune_on(search, evaluate, iter, control, function() seconds_since(begun) >= until, bar)
  }),
           interrupt = function(i) message("Interrupted: the results so far are returned."))
  costs <- unlist(lapply(search$found, function(one) mean_costs(one, found)$.cost))
  if (!any(is.finite(costs))) warn_of_failures(failed_tuning_text(search$found))
  found <- bound_iterations(search$found)
  attr(found, "bandit") <- bandit
  attr(found, "race") <- tuning_race_report(search)
  found
}

# ---- arguments -------------------------------------------------------------------------

# Checks the arguments that do not need package tune. It returns the policy for `objective`. `others`: names in `...`.
check_tuning <- function(iter, objective, initial, control, model, race, others) {
  check_not_moved(setdiff(others, "design"))
  check_race(race)
  check_class(model, "gp_model", hint = "gp_model()")
  check_no_race_without_noise(race, model)
  check_count(iter, lower = 0)
  if (!inherits(initial, "tune_results")) {
    allowed <- "an integer >= 1, or results of tune_grid()"
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

# `metric`: a row of tune's table, or NULL.
tuning_bandit <- function(domain, policy, model, metric, ...) {
  direction <- if (identical(metric$direction, "maximize")) "maximize" else "minimize"
  bandit <- scaled_bandit(domain, direction, model, policy, pending_hallucinate(), ...)
  if (!is.null(metric) && is.null(name_taken_by(metric$metric, list(domain = domain)))) {
    name_reward(as.environment(bandit), metric$metric)
  }
  bandit
}

# The metric set with `reward` as its first metric, which tune's functions treat as that of interest.
metrics_to_tune <- function(metrics, reward) {
  if (is.null(reward)) return(metrics)
  if (is.null(metrics)) stop_missing("metrics", "a metric set with the metric of `reward`", "`yardstick::metric_set()`")
  given <- attr(metrics, "metrics")
  if (!is_text(reward) || length(reward) != 1 || !reward %in% names(given)) {
    stop_argument("reward", describe(reward),
                  paste("one of `metrics`:", paste(dQuote(names(given), FALSE), collapse = ", ")))
  }
  # (metric_set() takes the names from its call.)
  named <- lapply(c(reward, setdiff(names(given), reward)), as.name)
  eval(as.call(c(getExportedValue("yardstick", "metric_set"), named)), given, topenv())
}

# ---- the search --------------------------------------------------------------------------

# Records the settings evaluated before, with their costs. Settings outside the search space are not recorded.
record_initial <- function(bandit, found) {
  known <- settings_within(bandit$config$domain, mean_costs(found, found))
  if (nrow(known)) {
    add_evaluated(bandit, known[bandit$config$domain$names], cost_as_metric(as.environment(bandit), known$.cost))
  }
  known$.cost
}

# The limits of a range can differ in their last digits if they were computed in another way.
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
    inside <- inside & level_text(frame[[domain$names[j]]]) %in% level_text(domain$params[[j]]$levels)
  }
  frame[inside & !is.na(inside), ]
}

tune_on <- function(search, evaluate, iter, control, is_over, bar = NULL) {
  first <- search$found[[1]]
  best <- min(search$cost, Inf, na.rm = TRUE)
  idle <- 0
  for (i in seq_len(iter)) {
    if (is_over() || idle >= control$no_improve || is_exhausted(as.environment(search$bandit))) break
    asked <- next_setting(search$bandit, search$noise_var)
    names <- search$bandit$config$domain$names
    tried <- if (is.null(search$race)) list(result = evaluate(asked[names]))
             else race_setting(search, asked[names], evaluate)
    is_whole <- is.null(tried$stopped)
    cost <- if (is_whole) mean_costs(tried$result, first)$.cost[1] else tried$stopped$mean
    record_cost(search, asked$id, cost, tried$stopped$var)
    if (is_whole) {
      search$cost <- c(search$cost, cost)
      search$found <- c(search$found, list(numbered_iteration(tried$result, i + max(first$.iter), iter)))
    }
    if (!is.null(bar)) bar()
    better <- is_whole && isTRUE(cost < best)
    idle <- if (better) 0 else idle + 1
    if (better) best <- cost
    if (control$verbose_iter) message(sprintf("Iteration %d: %s", i, point_text(as.list(asked[names]), 5)))
  }
}

# On the same resamples a setting always has the same result. If the bandit suggests a setting again, its result is
# recorded without an evaluation and the bandit makes another suggestion, at most ten times. `noise_var`: by id, the
# noise variances of settings that a race has stopped.
next_setting <- function(bandit, noise_var = numeric()) {
  names <- bandit$config$domain$names
  key_of <- function(frame) do.call(paste, c(lapply(frame[names], as.character), sep = "\r"))
  for (asking in 1:10) {
    asked <- bandit$suggest()
    history <- bandit$history()
    same <- which(history$status %in% c("observed", "failed") & key_of(history) == key_of(asked))
    if (length(same) == 0 || asking == 10) return(asked)
    observe_evaluated(bandit, asked$id, history[[outcome_names(bandit$config)]][same[1]], noise_var[same[1]])
  }
}

# One row per setting: its parameters, and the mean of the first metric as `.cost` (a parameter can be called `cost`).
# `first`: the result that defines the metric. There are no rows if all models failed.
mean_costs <- function(results, first) {
  metric <- first_metric_of(first)
  means <- attempt(as.data.frame(from_tune("collect_metrics")(results)))
  if (is.null(means)) return(data.frame(.cost = numeric()))
  wanted <- means$.metric == metric$metric
  time <- attr(first, "eval_time_target")
  if (!is.null(time) && ".eval_time" %in% names(means)) wanted <- wanted & means$.eval_time %in% c(time, NA)
  means <- means[wanted, ]
  means$.cost <- if (metric$direction == "maximize") -means$mean else means$mean
  means
}

# A message for results in which every model failed, with the first of tune's notes.
failed_tuning_text <- function(results) {
  notes <- unlist(lapply(results, function(one) lapply(one$.notes, function(note) as.character(note$note))))
  paste0("all models failed", if (length(notes)) paste0(", the first: ", one_text(notes[1])))
}

# The results of another setting, with the names that tune_bayes() would give.
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

# Objects that are or have an environment: a list made when the package is built, in its last file. See .onLoad().
with_environments <- Filter(function(name) {
  one <- get(name)
  is.environment(one) || (is.function(one) && !identical(environment(one), topenv()))
}, ls(all.names = TRUE))

.onLoad <- function(libname, pkgname) {
  # R loads objects at their first use. An interrupt would leave an environment empty for the rest of the session.
  mget(with_environments, envir = topenv())
  register_formats()
  when_loaded("bbotk", function() {
    bbotk::mlr_optimizers$add("gp_bandit", bandit_optimizer())
    bbotk::mlr_optimizers$add("async_gp_bandit", async_optimizer())
  })
  when_loaded("mlr3tuning", function() {
    mlr3tuning::mlr_tuners$add("gp_bandit", bandit_tuner())
    mlr3tuning::mlr_tuners$add("async_gp_bandit", async_tuner())
  })
}
