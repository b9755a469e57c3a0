# ---- a search whose evaluations are folds -----------------------------------------------
# `search$settings`: an environment per setting that was begun, by its origin: `point`, `order` of the folds, `reward`
# (NA: not known), `taken` (folds that were given to a worker), `state`. `search$looks`: a list per evaluation that has
# ended.

is_race <- function(search) !is.null(search$race)

begin_race <- function(search, race) {
  search$race <- race
  search$settings <- search$looks <- list()
  count <- nrow(search$history)
  search$history[beside(c("folds", "fold_var"), names(search$history))] <- list(rep(NA_integer_, count), rep(0, count))
}

# A setting in the race: its folds in random order.
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

# Settings by state.
settings_that <- function(search, state) Filter(function(one) one$state == state, search$settings)

# Rewards of the complete settings, a row each, larger is better.
complete_folds <- function(search) {
  rows <- lapply(settings_that(search, "complete"), `[[`, "reward")
  output_sign(search$bandit$config) * matrix(as.double(unlist(rows)), length(rows), search$race$folds, byrow = TRUE)
}

folds_begun <- function(search) sum(vapply(search$settings, function(one) sum(one$taken), 0))

# The next fold to evaluate: of a setting that needs one whatever others say, else of a new setting.
next_fold <- function(search, busy) {
  setting <- Find(function(one) needs_fold(search, one), search$settings)
  if (is.null(setting)) {
    task <- next_point(search, busy)
    if (is.null(task)) return(NULL)
    setting <- begin_setting(search, task)
  }
  fold <- setting$order[!setting$taken[setting$order]][1]
  setting$taken[fold] <- TRUE
  list(origin = setting$origin, attempts = 0, point = setting$point, fold = fold)
}

# Before there is an incumbent every fold is needed; then those before the first look, and one more at a time.
needs_fold <- function(search, setting) {
  if (setting$state != "racing") return(FALSE)
  complete <- length(settings_that(search, "complete"))
  known <- sum(!is.na(setting$reward))
  needed <- if (complete == 0) search$race$folds else max(first_look(search$race, complete), known + 1)
  sum(setting$taken) < min(needed, search$race$folds)
}

# What came of a fold: `note` has `origin`, `fold`, `reward`, `status`.
take_fold <- function(search, note) {
  journal_note(search$bandit, "fold", note)
  add_fold(search, note)
}

add_fold <- function(search, note) {
  search$looks <- c(search$looks, list(note))
  setting <- setting_of(search, note$origin)
  setting$taken[note$fold] <- TRUE
  if (setting$state != "racing") return(invisible())
  setting$reward[note$fold] <- note$reward
  complete <- complete_folds(search)
  sign <- output_sign(search$bandit$config)
  if (is.na(note$reward)) end_setting(search, setting, "failed", sprintf("fold %d: %s", note$fold, note$status))
  else if (!anyNA(setting$reward)) end_setting(search, setting, "complete", "ok")
  else if (is_out_of_race(search$race, sign * setting$reward, complete)) {
    end_setting(search, setting, "stopped", "stopped")
  }
}

# Its row of the history.
end_setting <- function(search, setting, state, status) {
  setting$state <- state
  setting$row <- nrow(search$history) + 1L
  row <- list(origin = setting$origin, point = setting$point, reward = NA_real_, status = status, more = list(
    folds = sum(!is.na(setting$reward)), fold_var = NA_real_))
  if (state != "failed") {
    sign <- output_sign(search$bandit$config)
    worth <- worth_on_folds(sign * setting$reward, complete_folds(search))
    row$reward <- sign * worth$mean
    row$more$fold_var <- worth$var
  }
  add_row(search, row)
  if (search$verbose) message(evaluation_line(search))
}

# Settings that the end of the search found in the middle. A journal can go on with them, and the bandit is not told.
end_race <- function(search) {
  if (!is_race(search)) return(invisible())
  for (setting in settings_that(search, "racing")) {
    if (any(!is.na(setting$reward))) end_setting(search, setting, "unfinished", "unfinished")
  }
}

# A journal's settings and folds, in their order.
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
}

# ---- telling ------------------------------------------------------------------------------

# Noise variances with which rows of the history are told, in the user's units; NA: the bandit's own. NULL where there
# is no race.
told_noise <- function(search, rows) {
  if (!is_race(search)) return(NULL)
  extra <- own_columns(search$history, search$bandit$config$domain$names)$fold_var
  extra[extra %in% 0] <- NA
  reward <- search$history$reward
  known <- !is.na(reward)
  extra[known] <- extra[known] + noise_in_user_units(current_config(as.environment(search$bandit)), reward[known])
  extra[rows]
}

# The model's noise variance as it is at each reward.
noise_in_user_units <- function(config, reward) {
  if (is.null(config$outputs)) return(rep(expected_noise(config), length(reward)))
  map <- output_map(config)
  if (map$distinct < 2) map <- fit_output_map(config$outputs, reward)
  if (map$distinct < 2) return(rep(0, length(reward)))
  expected_noise(config) / cpp_output_slopes(map, reward)^2
}

# ---- the result ---------------------------------------------------------------------------

# NULL where there was no race.
race_report <- function(search) {
  if (!is_race(search)) return(NULL)
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

# Rewards that count as readings of their points: those over all folds, or at the target fidelity, where there are such.
# `history`: a search's, without inputs.
full_readings <- function(history) {
  part <- history$status %in% c("stopped", "unfinished", "cheap")
  if (all(part | is.na(history$reward))) return(history$reward)
  ifelse(part, NA_real_, history$reward)
}

describe_race <- function(race) {
  words <- sprintf("%d folds of %d settings", race$spent, race$settings)
  sprintf("%s (%d complete, %d stopped early: %g folds saved%s)", words, race$complete, race$stopped, race$saved,
          if (race$unfinished) sprintf(", %d unfinished", race$unfinished) else "")
}

race_line <- function(race) {
  sprintf("  race         %d evaluations of a fold; %d settings stopped early, %g folds saved (%.0f%% of all %s)\n",
          race$spent, race$stopped, race$saved, 100 * race$saved / (race$settings * race$rule$folds),
          "settings'")
}
