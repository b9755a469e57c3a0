# Races over folds in a store. Layer: storage.

# ---- a race in a store ------------------------------------------------------------------
# A worker leases a setting (a query) and evaluates its folds one after the other. The results are in the table
# gpb_fold, so that another worker can take over the setting, and all workers compare with the same complete settings.
# The row of a fold is written before its evaluation (state "open"), because the budget counts rows. Fold 0 of a setting
# has its result: `state` is "observed", "stopped" or "unfinished", and `reward` is the variance due to missing folds.

race_of_store <- function(bandit) bandit$config$search$race

make_fold_table <- function(connection) until_it_stays(connection, function() fold_table_made(connection))

fold_table_made <- function(connection) {
  on.exit(sql_rollback(connection))
  sql_begin(connection, "SELECT 1 AS one")
  sql_define(connection, "CREATE TABLE IF NOT EXISTS gpb_fold (bandit INTEGER NOT NULL ",
             "REFERENCES gpb_bandit (bandit), query INTEGER NOT NULL, fold INTEGER NOT NULL, state TEXT NOT NULL, ",
             "reward DOUBLE PRECISION, worker TEXT, at DOUBLE PRECISION, PRIMARY KEY (bandit, query, fold))")
  sql_commit(connection)
}

# All folds of a bandit's settings as a data.frame; invalid folds are an error.
stored_folds <- function(log, race) {
  found <- sql_select(log$connection, c("query", "fold", "state", "reward", "at"), "FROM gpb_fold WHERE bandit = ",
                      log$number, " ORDER BY at, query, fold")
  found <- data.frame(query = suppressWarnings(as.integer(found$query)),
                      fold = suppressWarnings(as.integer(found$fold)), state = as.character(found$state),
                      reward = suppressWarnings(as.double(found$reward)))
  bad <- is.na(found$query) | is.na(found$fold) | found$fold < 0 | found$fold > race$folds | is.na(found$state) |
    is.infinite(found$reward) | (found$state == "observed" & is.na(found$reward))
  if (any(bad)) stop_data("The store's table gpb_fold has a row that is not a fold of this race.", argument = "store")
  found
}

# The rewards of settings: one row per setting and one column per fold, NA if a fold was not evaluated.
fold_table <- function(folds, queries, race) {
  table <- matrix(NA_real_, length(queries), race$folds)
  known <- folds[folds$fold > 0 & folds$state == "observed" & folds$query %in% queries, ]
  table[cbind(match(known$query, queries), known$fold)] <- known$reward
  table
}

complete_in_store <- function(folds, race, sign) {
  table <- fold_table(folds, unique(folds$query), race)
  sign * table[!is.na(rowSums(table)), , drop = FALSE]
}

# Evaluates one setting until it has ended or the budget is spent. It returns "observed", the reason of a failure, or
# "spent".
race_query <- function(bandit, query, evaluator, patience) {
  inside <- as.environment(bandit)
  race <- race_of_store(bandit)
  point <- query_task(query$id, bandit)$point
  streams <- Reduce(function(stream, k) parallel::nextRNGSubStream(stream), seq_len(race$folds + 1),
                    query_stream(bandit$journal, query$id), accumulate = TRUE)[-1]
  order <- with_stream(streams[[1]], sample.int(race$folds))
  repeat {
    step <- patiently(in_store(inside, function() step_of_race(inside, query, race, order)), patience)
    if (is.null(step$fold)) return(step$status)
    outcome <- evaluator$evaluate(point, streams[[1 + step$fold]], step$fold)
    found <- read_outcome(outcome, query$attempt)
    patiently(in_store(inside, function() write_fold(inside$journal, query, step$fold, found)), patience)
  }
}

# The next step for a setting: the next `fold`, or none, with a `status`.
step_of_race <- function(bandit, query, race, order) {
  if (!is_pending(bandit, query$id)) return(list(status = "observed"))
  log <- bandit$journal
  folds <- stored_folds(log, race)
  own <- folds[folds$query == query$id & folds$fold > 0, ]
  failed <- which(!own$state %in% c("observed", "open"))
  if (length(failed)) {
    status <- sprintf("fold %d: %s", own$fold[failed[1]], own$state[failed[1]])
    fail_with_worst(bandit, query$id, status)
    end_leases(log, query$id, "failed", status)
    return(list(status = status))
  }
  sign <- output_sign(bandit$config)
  reward <- sign * fold_table(folds, query$id, race)[1, ]
  complete <- complete_in_store(folds, race, sign)
  if (!anyNA(reward)) return(record_setting(bandit, query, reward, complete, "observed"))
  if (is_out_of_race(race, reward, complete)) return(record_setting(bandit, query, reward, complete, "stopped"))
  fold <- order[is.na(reward[order])][1]
  if (!fold %in% own$fold) {
    if (spent_folds(folds) >= race_budget(log)) return(end_unfinished(bandit, query, reward, complete))
    sql_insert(log$connection, "gpb_fold",
               list(bandit = log$number, query = as.integer(query$id), fold = as.integer(fold),
                                          state = "open"))
  }
  list(fold = fold)
}

race_budget <- function(log) {
  budget <- suppressWarnings(as.double(log$head$budget))
  if (is.na(budget)) Inf else budget
}

spent_folds <- function(folds) sum(folds$fold > 0)

# (A setting without rewards is not recorded.)
end_unfinished <- function(bandit, query, reward, complete) {
  if (any(!is.na(reward))) {
    record_setting(bandit, query, reward, complete, "unfinished")
  } else {
    bandit_withdraw(bandit, query$id, failed = FALSE)
    end_leases(bandit$journal, query$id, "withdrawn")
  }
  list(status = "spent")
}

# `reward`, `complete`: larger is better.
record_setting <- function(bandit, query, reward, complete, state) {
  log <- bandit$journal
  sign <- output_sign(bandit$config)
  worth <- worth_on_folds(reward, complete)
  value <- sign * worth$mean
  noise <- if (!worth$var %in% 0) {
    worth$var + utils::tail(noise_in_user_units(current_config(bandit), c(known_rewards(bandit), value)), 1)
  }
  if (!is.null(noise) && is.na(noise)) noise <- NULL
  bandit_observe(bandit, query$id, value, NULL, store_time(bandit), noise)
  sql_insert(log$connection, "gpb_fold",
             list(bandit = log$number, query = as.integer(query$id), fold = 0L, state = state,
                                        reward = worth$var, at = as.double(log$head$now)))
  end_leases(log, query$id, "done")
  list(status = "observed")
}

# Writes the reward of a fold; a reward that another worker has written meanwhile is kept.
write_fold <- function(log, query, fold, found) {
  connection <- log$connection
  sql_run(connection, "UPDATE gpb_fold SET state = ", sql_literal(found$status, connection), ", reward = ",
          sql_literal(found$reward, connection), ", at = ", sql_clock(connection), " WHERE bandit = ", log$number,
            " AND query = ",
          as.integer(query$id), " AND fold = ", as.integer(fold), " AND state = 'open'")
}

# Is the race's budget spent, and is no worker active whose setting could be taken over? Waits for active workers.
race_has_ended <- function(bandit, patience) {
  log <- bandit$journal
  repeat {
    patiently(bandit_catch_up_head(bandit), patience)
    if (patiently(spent_folds(stored_folds(log, race_of_store(bandit))), patience) < race_budget(log)) return(FALSE)
    state <- open_work(log, patience)
    if (state != "evaluated") return(state == "none")
    Sys.sleep(0.2)
  }
}

bandit_catch_up_head <- function(bandit) {
  log <- bandit$journal
  log$head <- read_head(log)
}

# ---- the result -------------------------------------------------------------------------

# The rows of the history with the results of the race.
raced_history <- function(history, ids, folds) {
  last <- folds[folds$fold == 0, ]
  at <- match(ids, last$query)
  history$folds <- vapply(ids, function(id) sum(folds$query == id & folds$fold > 0 & folds$state == "observed"), 0L)
  history$folds[history$status == "given"] <- NA_integer_
  history$fold_var <- ifelse(history$status == "given", 0, last$reward[at])
  history$status <- ifelse(is.na(at), history$status, last$state[at])
  history
}

race_report_of_store <- function(race, history, ids, folds) {
  looks <- folds[folds$fold > 0 & folds$state != "open", ]
  count <- function(status) sum(history$status %in% status)
  stopped <- history$status == "stopped"
  failed <- sum(is.na(history$reward))
  list(rule = race, spent = nrow(looks), settings = length(unique(looks$query)), complete = count("observed"),
       stopped = sum(stopped), failed = failed, unfinished = count("unfinished"),
       saved = race$folds * sum(stopped) - sum(history$folds[stopped]),
       folds = data.frame(setting = match(looks$query, ids), fold = looks$fold, reward = looks$reward,
                          status = looks$state))
}
