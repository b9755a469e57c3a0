# Searches whose evaluations are folds. Layer: search.

# ---- state of a race --------------------------------------------------------------------
# `search$settings` is a list of environments, one for each setting that was started, identified by `origin`. Its fields
# are `point`, `order` of the folds, `reward` (NA: not observed), `taken` (folds given to a worker), `state`, and `row`
# of the history. `search$looks` is a list with one element per finished evaluation. The states of a setting are:
#   "racing":     its next folds are needed, whatever the results of other settings.
#   "waiting":    with `wait`: it was not stopped after its first folds. It continues when the model ranks it first.
#   "complete", "stopped", "failed".
#   "unfinished": the search ended before the setting did.

settings_wait <- function(search) isTRUE(search$race$wait)

begin_race <- function(search) {
  search$settings <- search$looks <- list()
  count <- nrow(search$history)
  search$history[beside(c("folds", "fold_var"), names(search$history))] <- list(rep(NA_integer_, count), rep(0, count))
}

# Starts a setting, with its folds in random order.
begin_setting <- function(search, task) {
  note <- list(origin = task$origin, point = task$point, order = sample.int(search$race$folds))
  journal_note(search$bandit, "setting", note)
  add_setting(search, note)
}

add_setting <- function(search, note) {
  folds <- search$race$folds
  setting <- list2env(c(note, list(reward = rep(NA_real_, folds), taken = logical(folds), state = "racing")),
                      parent = emptyenv())
  search$settings <- c(search$settings, list(setting))
  setting
}

setting_of <- function(search, origin) Find(function(one) one$origin == origin, search$settings)

# The settings that have a given state.
settings_that <- function(search, state) Filter(function(one) one$state == state, search$settings)

# The rewards of the complete settings, one row each, with signs such that larger is better.
complete_folds <- function(search) {
  rows <- lapply(settings_that(search, "complete"), `[[`, "reward")
  output_sign(search$bandit$config) * matrix(as.double(unlist(rows)), length(rows), search$race$folds, byrow = TRUE)
}

folds_begun <- function(search) sum(vapply(search$settings, function(one) sum(one$taken), 0))

# The number of folds after which a setting waits.
waits_after <- 2

# The next fold to evaluate: of a setting whose folds are needed in any case, of one that waits, or of a new setting.
next_fold <- function(search, busy) {
  setting <- Find(function(one) needs_fold(search, one), search$settings)
  if (is.null(setting)) setting <- setting_to_go_on(search)
  if (is.null(setting)) {
    task <- next_point(search, busy)
    if (is.null(task)) return(NULL)
    setting <- begin_setting(search, task)
  }
  fold <- setting$order[!setting$taken[setting$order]][1]
  setting$taken[fold] <- TRUE
  list(origin = setting$origin, attempts = 0, point = setting$point, fold = fold)
}

# Without a complete setting every fold is needed. Otherwise the folds before a setting waits are needed, or those
# before the first interim analysis and then one at a time.
needs_fold <- function(search, setting) {
  if (setting$state != "racing") return(FALSE)
  complete <- length(settings_that(search, "complete"))
  known <- sum(!is.na(setting$reward))
  needed <- if (complete == 0) search$race$folds
            else if (settings_wait(search)) waits_after
            else max(first_check(search$race, complete), known + 1)
  sum(setting$taken) < min(needed, search$race$folds)
}

# The waiting setting with the largest posterior mean plus one sd, if this exceeds the best mean of a complete setting.
# If the budget is too small to complete a new setting, it is the best waiting setting that can be completed. (One fold
# at a time, because each fold may show that the next one is not worthwhile.)
setting_to_go_on <- function(search) {
  if (length(search$todo) || length(settings_that(search, "waiting")) == 0) return(NULL)
  left <- search$evaluations - folds_begun(search)
  waiting <- Filter(function(one) sum(one$taken) == sum(!is.na(one$reward)), settings_that(search, "waiting"))
  search$recording <- TRUE
  settle(search)
  refit_if_due(as.environment(search$bandit))
  chance <- expected_of(search, waiting, sds = 1)
  bar <- max(expected_of(search, settings_that(search, "complete")), -Inf)
  within <- vapply(waiting, function(one) sum(!one$taken) <= left, NA)
  good <- if (left < search$race$folds) within else chance > bar
  if (any(good)) waiting[good][[which.max(chance[good])]]
}

# Posterior means of settings plus `sds` standard deviations, with signs such that larger is better.
expected_of <- function(search, settings, sds = 0) {
  if (length(settings) == 0) return(numeric())
  rows <- vapply(settings, `[[`, 0L, "row")
  model_state <- search$bandit$posterior(search$history[rows, search$bandit$config$domain$names, drop = FALSE])
  output_sign(search$bandit$config) * model_state$mean + sds * model_state$sd
}

# Records the result of a fold.
take_fold <- function(search, task, found) {
  note <- c(list(origin = task$origin, fold = task$fold), found)
  journal_note(search$bandit, "fold", note)
  add_fold(search, note)
  if (settings_wait(search)) value_settings(search)
  setting <- setting_of(search, note$origin)
  if (search$verbose && !setting$state %in% c("racing", "waiting")) message(evaluation_line(search, setting$row))
}

add_fold <- function(search, note) {
  search$looks <- c(search$looks, list(note))
  setting <- setting_of(search, note$origin)
  setting$taken[note$fold] <- TRUE
  if (!setting$state %in% c("racing", "waiting")) return(invisible())
  setting$reward[note$fold] <- note$reward
  sign <- output_sign(search$bandit$config)
  if (is.na(note$reward)) {
    enter_state(search, setting, "failed", sprintf("fold %d: %s", note$fold, note$status))
  } else if (!anyNA(setting$reward)) {
    enter_state(search, setting, "complete", "observed")
  } else if (is_out_of_race(search$race, sign * setting$reward, complete_folds(search))) {
    enter_state(search, setting, "stopped")
  }
  if (!settings_wait(search) || length(settings_that(search, "complete")) == 0) return(invisible())
  for (one in settings_that(search, "racing")) {
    if (sum(!is.na(one$reward)) >= waits_after) enter_state(search, one, "waiting")
  }
}

# Writes the state of a setting to its row of the history.
enter_state <- function(search, setting, state, status = state) {
  setting$state <- state
  if (is.null(setting$row)) {
    setting$row <- nrow(search$history) + 1L
    add_row(search, list(origin = setting$origin, point = setting$point, reward = NA_real_, status = status,
                         more = list(folds = 0L, fold_var = NA_real_)))
  }
  own <- beside(c("status", "folds", "fold_var"), search$bandit$config$domain$names)
  search$history[setting$row, own] <- list(status, sum(!is.na(setting$reward)), NA_real_)
  search$history$reward[setting$row] <- NA_real_
  if (!settings_wait(search) && state != "failed") value_at_its_end(search, setting)
}

# Without waiting, the value of a setting is computed once, from its folds and the complete settings.
value_at_its_end <- function(search, setting) {
  sign <- output_sign(search$bandit$config)
  worth <- worth_on_folds(sign * setting$reward, complete_folds(search))
  search$history$reward[setting$row] <- sign * worth$mean
  search$history[setting$row, beside("fold_var", search$bandit$config$domain$names)] <- worth$var
}

# With waiting, the values of all settings in the history are recomputed.
value_settings <- function(search) {
  settings <- Filter(function(one) one$state != "failed" && any(!is.na(one$reward)), search$settings)
  rows <- lapply(settings, `[[`, "row")
  valued <- !vapply(rows, is.null, NA)
  if (!any(valued)) return(invisible())
  sign <- output_sign(search$bandit$config)
  points <- do.call(rbind, lapply(settings, function(one) data.frame(as.list(one$point), check.names = FALSE)))
  table <- matrix(unlist(lapply(settings, `[[`, "reward")), length(settings), byrow = TRUE)
  worth <- worth_of_settings(sign * table, setting_correlation(as.environment(search$bandit), points))
  rows <- unlist(rows)
  search$history$reward[rows] <- sign * worth$mean[valued]
  search$history[rows, beside("fold_var", search$bandit$config$domain$names)] <- worth$var[valued]
}

# Marks the settings that are incomplete at the end of the search. A journal can resume them, so they are not recorded
# in the bandit.
end_race <- function(search) {
  for (setting in c(settings_that(search, "racing"), settings_that(search, "waiting"))) {
    if (any(!is.na(setting$reward))) enter_state(search, setting, "unfinished")
  }
  if (settings_wait(search)) value_settings(search)
}

# Replays the settings and folds of a journal in their order.
resume_race <- function(search, notes) {
  for (note in notes) {
    if (note$name == "setting") {
      add_setting(search, note$value)
      search$todo <- setdiff(search$todo, -note$value$origin)
    } else if (note$name == "fold") {
      add_fold(search, note$value)
    }
  }
  begun <- vapply(search$settings, `[[`, 0, "origin")
  for (id in setdiff(asked_queries(search$bandit), begun)) begin_setting(search, query_task(id, search$bandit))
  if (!settings_wait(search)) return(invisible())
  value_settings(search)
  # The recorded values of incomplete settings remain until the next fold, because the kernel may have been refitted
  # since.
  bandit <- as.environment(search$bandit)
  ids <- queries_of(search)
  stands <- which(fold_variance(search) > 0 & !is.na(ids) & !is.na(search$history$reward))
  stands <- stands[status_of(bandit, ids[stands]) == "observed"]
  search$history$reward[stands] <- bandit$queries$reward[ids[stands]]
}

# ---- records in the bandit ----------------------------------------------------------------

# The bandit's values of settings can be outdated. Settings whose value has changed by more than a tenth of its sd are
# amended.
amend_settings <- function(search) {
  if (!settings_wait(search)) return(invisible())
  bandit <- as.environment(search$bandit)
  ids <- queries_of(search)
  reward <- search$history$reward
  extra <- fold_variance(search)
  # A setting that has failed in the meantime counts as a failure: the worst reward, with increased noise variance.
  failed <- is.na(reward)
  reward[failed] <- worst_reward(reward, bandit$config)
  extra[failed] <- diff(range(reward))^2 / 12
  rows <- which(status_of(bandit, ids) == "observed")
  moved <- abs(reward[rows] - bandit$queries$reward[ids[rows]])
  rows <- rows[moved > 0.1 * sqrt(extra[rows])]
  if (length(rows) == 0) return(invisible())
  noise <- with_own_noise(bandit, reward, extra)[rows]
  noise[is.na(noise)] <- 0
  record(bandit, "amend", as.double(ids[rows]), reward[rows],
         beside = observation_extras(length(rows), noise_var = noise))
}

# The query of each row of the history; NA if the bandit has not received the row.
queries_of <- function(search) {
  given <- search$origin <= 0
  added <- setdiff(seq_len(table_size(search$bandit$queries)), asked_queries(search$bandit))
  replace(search$origin, given, added[seq_len(sum(given))])
}

# The noise variances with which rows of the history are recorded, in the user's units. NA means the bandit's variance;
# NULL means that no row has a separate variance.
reported_noise <- function(search, rows) {
  given <- own_columns(search$history, search$bandit$config$domain$names)$noise_var
  extra <- fold_variance(search)
  if (is.null(extra)) return(given[rows])
  noise <- with_own_noise(as.environment(search$bandit), search$history$reward, extra)
  if (!is.null(given)) noise <- ifelse(is.na(given), noise, given)
  noise[rows]
}

fold_variance <- function(search) own_columns(search$history, search$bandit$config$domain$names)$fold_var

with_own_noise <- function(bandit, reward, extra) {
  extra[extra %in% 0] <- NA
  known <- !is.na(reward)
  extra[known] <- extra[known] + noise_in_user_units(current_config(bandit), reward[known])
  extra
}

# ---- the result ---------------------------------------------------------------------------

race_report <- function(search) {
  count <- function(state) length(settings_that(search, state))
  stopped <- settings_that(search, "stopped")
  row_of <- function(look) {
    row <- setting_of(search, look$origin)$row
    if (is.null(row)) NA_integer_ else row
  }
  column <- function(name, type) vapply(search$looks, function(look) as.vector(look[[name]], typeof(type)), type)
  list(rule = search$race, spent = length(search$looks), settings = length(search$settings),
       complete = count("complete"), stopped = length(stopped), failed = count("failed"),
       unfinished = count("unfinished"),
       saved = search$race$folds * length(stopped) - sum(vapply(stopped, function(one) sum(one$taken), 0)),
       folds = data.frame(setting = vapply(search$looks, row_of, 0L), fold = column("fold", 0L),
                          reward = column("reward", 0), status = column("status", "")))
}

folds_to_repeat <- function(search) {
  Filter(function(task) setting_of(search, task$origin)$state == "racing", search$redo)
}

race_strategy <- list(begin = begin_race, resume = resume_race, begun = folds_begun, repeated = folds_to_repeat,
                      next_task = next_fold, take = take_fold, amend = amend_settings, end = end_race,
                      report = race_report, second = "the number of a fold")

# Rewards that are measurements of the objective itself: those over all folds, or at the target fidelity, if there are
# any. `history`: the history of a search without inputs.
full_measurements <- function(history) {
  part <- history$status %in% c("stopped", "waiting", "unfinished", "cheap")
  if (all(part | is.na(history$reward))) return(history$reward)
  ifelse(part, NA_real_, history$reward)
}

# The same for a whole history, of several trials their rate. NA if a given experiment is outside the search space,
# because such a point is never recommended.
rewards_inside <- function(history, domain) {
  own <- own_columns(history, domain$names)
  ifelse(rows_outside(history, domain), NA_real_, full_measurements(own) / or_else(own$size, 1))
}

rows_outside <- function(history, domain) {
  given <- which(own_columns(history, domain$names)$status %in% "given")
  outside <- rep(FALSE, nrow(history))
  if (length(given) == 0) return(outside)
  x <- read_inputs(domain, history[given, domain$names, drop = FALSE], "data")
  outside[given] <- lies_outside(domain, points_anywhere(domain, x, arg = "data"))
  outside
}

describe_race <- function(race) {
  text <- sprintf("%d folds of %d settings", race$spent, race$settings)
  sprintf("%s (%d complete, %d stopped early: %g folds saved%s)", text, race$complete, race$stopped, race$saved,
          if (race$unfinished) sprintf(", %d unfinished", race$unfinished) else "")
}

race_line <- function(race) {
  sprintf("  race         %d evaluations of a fold; %d settings stopped early, %g folds saved (%.0f%% of all %s)\n",
          race$spent, race$stopped, race$saved, 100 * race$saved / (race$settings * race$rule$folds),
          "settings'")
}
