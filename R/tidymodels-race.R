# Races over resamples for tidymodels. Layer: integrations.

# ---- tune_gp_bandit(race = ): a setting's resamples one after the other --------------------
# `search$complete`: the costs of the settings evaluated on all resamples, one row each. `search$looks`: a data.frame of
# all evaluations on one resample.

check_race_of <- function(resamples, race) {
  check_no_waiting(race, "in tune_gp_bandit()")
  if (is.null(race) || NROW(resamples) == race$folds) return(invisible())
  stop_argument("race", sprintf("one over %g folds", race$folds),
                sprintf("race_folds(%d): the number of resamples", as.integer(NROW(resamples))))
}

begin_tuning_race <- function(search, race) {
  search$race <- race
  search$complete <- initial_fold_costs(search)
  known <- nrow(search$complete)
  search$counts <- c(settings = known, complete = known, stopped = 0, failed = 0, saved = 0)
  search$looks <- data.frame(setting = as.vector(row(search$complete)), fold = as.vector(col(search$complete)),
                             cost = as.vector(search$complete))
}

# The costs of the initial settings on each resample, for those evaluated on all of them.
initial_fold_costs <- function(search) {
  first <- search$found[[1]]
  costs <- fold_costs(first, first)
  key <- resample_keys(search$resamples)
  costs$fold <- match(resample_keys(costs), key)
  costs$setting <- paste(costs$.iter, costs$.config)
  settings <- unique(costs$setting)
  table <- matrix(NA_real_, length(settings), length(key))
  known <- costs[!is.na(costs$fold), ]
  table[cbind(match(known$setting, settings), known$fold)] <- known$cost
  table[!is.na(rowSums(table)), , drop = FALSE]
}

# Resamples are identified by their columns id, id2, ...
resample_keys <- function(frame) {
  frame <- as.data.frame(unclass(frame)[grep("^id[0-9]*$", names(frame))])
  do.call(paste, c(unname(frame), sep = "\r"))
}

# The first metric on each resample, as a cost; no rows if all models failed.
fold_costs <- function(results, first) {
  metric <- first_metric_of(first)
  folds <- attempt(as.data.frame(from_tune("collect_metrics")(results, summarize = FALSE)))
  if (is.null(folds)) return(data.frame(cost = numeric()))
  time <- attr(first, "eval_time_target")
  wanted <- folds$.metric == metric$metric
  if (!is.null(time) && ".eval_time" %in% names(folds)) wanted <- wanted & folds$.eval_time %in% c(time, NA)
  folds <- folds[wanted, ]
  folds$cost <- if (metric$direction == "maximize") -folds$.estimate else folds$.estimate
  folds
}

one_resample <- function(resamples, fold) {
  part <- lapply(unclass(resamples), `[`, fold)
  facts <- attributes(resamples)
  facts$row.names <- seq_along(fold)
  attributes(part) <- facts
  part
}

# A list with `result`, on all resamples, or with `stopped` (the mean and variance to record; NA if the setting failed).
race_setting <- function(search, point, evaluate) {
  race <- search$race
  first <- search$found[[1]]
  results <- vector("list", race$folds)
  reward <- rep(NA_real_, race$folds)
  ended <- function(state, ...) {
    search$counts[c("settings", state)] <- search$counts[c("settings", state)] + 1
    if (state == "stopped") search$counts["saved"] <- search$counts["saved"] + sum(is.na(reward))
    list(...)
  }
  number <- search$counts[["settings"]] + 1L
  for (fold in sample.int(race$folds)) {
    results[[fold]] <- evaluate(point, one_resample(search$resamples, fold))
    cost <- fold_costs(results[[fold]], first)$cost[1]
    search$looks <- rbind(search$looks, data.frame(setting = number, fold = fold, cost = cost))
    if (!isTRUE(is.finite(cost))) return(ended("failed", stopped = list(mean = NA_real_, var = 0)))
    reward[fold] <- -cost
    if (is_out_of_race(race, reward, -search$complete)) {
      worth <- worth_on_folds(reward, -search$complete)
      return(ended("stopped", stopped = list(mean = -worth$mean, var = worth$var)))
    }
  }
  search$complete <- rbind(search$complete, -reward)
  ended("complete", result = bound_iterations(results))
}

# `var`: the variance due to missing resamples, NULL for none.
record_cost <- function(search, id, cost, var) {
  inside <- as.environment(search$bandit)
  value <- cost_as_metric(inside, cost)
  noise <- NA_real_
  if (!is.null(var) && isTRUE(var > 0)) {
    noise <- var + utils::tail(noise_in_user_units(current_config(inside), c(known_rewards(inside), value)), 1)
  }
  search$noise_var[id] <- noise
  observe_evaluated(search$bandit, id, value, noise)
}

tuning_race_report <- function(search) {
  if (is.null(search$race)) return(NULL)
  c(list(rule = search$race, spent = nrow(search$looks)), as.list(search$counts), list(folds = search$looks))
}

# The function is found at run time, because package tune is only suggested and has about fifty dependencies.
from_tune <- function(name) getExportedValue("tune", name)

# All rows, with the attributes of the first result.
bound_iterations <- function(results) {
  first <- results[[1]]
  columns <- lapply(names(first), function(name) do.call(c, lapply(results, `[[`, name)))
  facts <- attributes(first)
  facts$row.names <- seq_len(sum(vapply(results, nrow, 0L)))
  attributes(columns) <- facts
  columns
}

first_metric_of <- function(results) from_tune("first_metric")(attr(results, "metrics"))

# The search minimises costs: the metric, or its negative if it is maximised. The bandit has the metric itself.
cost_as_metric <- function(bandit, cost) if (is_minimising(bandit$config)) cost else -cost
