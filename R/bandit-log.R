# Columns of a bandit's log and the reading of its rows. Layer: bandit.

# Points in the log have the core's format. `arm`: the 0-based number of an arm or of a product's row (NA on a box).
# `context`: the number of a known context. Model inputs are logged only if these numbers do not determine the point.
logged_inputs <- function(config) {
  if (is_tabulated_space(config)) character() else paste0("in.", seq_along(input_names(config)))
}

query_columns <- function(config) {
  numbers <- c(value_columns(config), logged_inputs(config),
               if (!is.null(config$constraints)) c(constraint_names(config, "g"), constraint_names(config, "kappa")))
  c(list(arm = integer(), context = integer(), action = integer(), segment = integer(),
         mean = double(), sd = double(), width = double(), status = integer()),
    stats::setNames(rep(list(double()), length(numbers)), numbers),
    if (length(phase_names(config))) list(phase = integer()))
}

# The reasons why queries were made, in the order of their numbers in the log; NULL if no reasons are logged.
phase_names <- function(config) {
  if (!is.null(config$rule)) c("given", script_of(config$rule)$phases(constraint_count(config)))
  else trait(config$policy, "phases")
}

phases_of <- function(bandit, ids) phase_names(bandit$config)[bandit$queries$phase[ids]]

# Columns of an event after its kind, id, reward and time:
#   `noise_var`  of the reward, if it is not the bandit's (in an amendment: NA unchanged, 0 the bandit's again).
#   `size`       the number of replicates (or trials, or the exposure) of the reward, NA for 1.
#   `spread`     the sum of the squared deviations of the replicates from their mean.
#   `other`      the query with which it was compared.
#   `outcome`    the number of the outcome, NA if there is only one, or for all outcomes.
#   `arms`       the points eligible at a query (arms and fixed inputs) in the core's format, NA for all.
# In a checkpoint (R/store-compact-forget.R) `size` is the number of rounds before it, `other` the number of the sums
# that follow, `spread` the number of explored rounds and `time` the latest time. `reward` is the last query made before
# all forgotten rewards were observed (NA: no such query is kept).
event_columns <- function() {
  list(kind = integer(), id = integer(), reward = double(), time = double(), noise_var = double(), size = double(),
       spread = double(), other = integer(), outcome = integer(), arms = character())
}

# The columns in files and databases. Those that follow from the events are left out, and `arms`, which is text.
written_query_columns <- function(config) {
  columns <- query_columns(config)
  columns[!names(columns) %in% c("status", value_columns(config), constraint_names(config, "g"))]
}

written_event_columns <- function(config) {
  columns <- event_columns()
  values <- stats::setNames(rep(list(double()), constraint_count(config)), constraint_names(config, "g"))
  c(columns[names(columns) != "arms"], values)
}

# Columns that the log's first format did not have.
later_event_columns <- c("size", "spread", "other")

# The points of some queries, and `contexts`, a row each (NULL if there are none).
logged_points <- function(bandit, ids) {
  config <- bandit$config
  arm <- bandit$queries$arm[ids]
  if (is_tabulated_space(config)) {
    contexts <- if (!is.null(config$contexts)) config$contexts[bandit$queries$context[ids] + 1L, , drop = FALSE]
    return(c(subset_points(all_points(config$domain), arm + 1L), list(contexts = contexts)))
  }
  inputs <- cpp_logged_inputs(bandit$queries, ids)
  d <- length(model_names(config$domain))
  list(arm = arm, inputs = inputs[, seq_len(d), drop = FALSE],
       contexts = if (ncol(inputs) > d) inputs[, -seq_len(d), drop = FALSE])
}

# Some points and their contexts in the format of the log, which is also the core's.
points_in_log <- function(config, points, contexts) {
  inputs <- if (is_tabulated_space(config)) matrix(0, point_total(points), 0)
            else unname(cbind(points$inputs, contexts$values))
  list(arm = points$arm, context = contexts$row, inputs = inputs)
}

# Contexts of the log's queries in the core's format.
logged_contexts <- function(bandit, queries) {
  d <- length(model_names(bandit$config$domain))
  values <- queries$inputs
  list(row = queries$context, values = values[, seq_len(ncol(values)) > d, drop = FALSE])
}

# Appends the events of the core's object that the log does not have yet. `refits`: the parameters of the refits among
# them, if there are any. If `keep` is FALSE, the object is dropped, because it failed in the middle of a change.
# `written`: the new events come from the journal or store, and are returned. `fields`: other fields that change with
# the log. `reason`: why the queries of the new events were withdrawn or failed.
sync_log <- function(bandit, handle, refits = NULL, keep = TRUE, written = FALSE, fields = list(), reason = NULL) {
  fields <- c(fields, noted_fields(bandit), if (!is.null(refits)) list(refits = c(bandit$refits, refits)),
              if (!keep) list(handle = NULL))
  durable <- if (!written && !is.null(bandit$journal)) {
    function(queries, events) keep_change(bandit$journal, bandit, queries, with_text(bandit, events, reason), refits)
  }
  # As in commit().
  invisible(suspendInterrupts(cpp_log_follow(handle, bandit, fields, durable, keep, written)))
}

# ---- why queries were withdrawn or failed -----------------------------------------------
# The field `reasons` has the reasons of queries that failed or were withdrawn, named by the queries' ids; NULL if
# there are none. New events have their text in the column `text`, which the log's table does not have: see
# R/bandit-notes.R.

# The field after queries (rows of the log) failed or were withdrawn.
reasons_with <- function(bandit, id, reason) {
  reasons <- bandit$reasons
  if (length(id)) reasons[as.character(id + ids_before(bandit))] <- reason
  reasons
}

# The reasons of some queries (rows of the log); NA for queries that received a result later.
reasons_of <- function(bandit, id) {
  found <- unname(bandit$reasons)[match(id + ids_before(bandit), names(bandit$reasons))]
  ifelse(status_of(bandit, id) %in% c("pending", "observed", "lost"), NA_character_, as.character(found))
}

# Rows of a scripted bandit's log whose rewards and constraint values are not observed yet, in the format that the core
# uses for other bandits.
new_rows <- function(config, queries) {
  count <- length(queries$arm)
  queries[value_columns(config)] <- list(rep(NA_real_, count))
  if (ncol(queries$inputs) > 0) queries <- c(queries, cpp_columns(queries$inputs, logged_inputs(config), NULL))
  for (j in seq_len(constraint_count(config))) {
    queries[[paste0("g", j)]] <- rep(NA_real_, count)
    queries[[paste0("kappa", j)]] <- queries$kappa[, j]
  }
  queries
}

g_columns <- function(config, g) {
  stats::setNames(lapply(seq_len(constraint_count(config)), function(j) g[, j]), constraint_names(config, "g"))
}

# Adds the values of outcomes and constraints in the events to their queries. (Only the core can determine the
# queries' statuses.)
add_rewards <- function(queries, events, config) {
  reported <- events$kind %in% recording & !is.na(events$reward)
  values <- value_columns(config)
  of <- ifelse(is.na(events$outcome), 1L, events$outcome)
  if (any(reported & (of < 1 | of > length(values)))) stop_fault("an event of an outcome that is not there")
  for (k in seq_along(values)) {
    which <- reported & of == k
    queries[[values[k]]] <- rep(NA_real_, length(queries$arm))
    queries[[values[k]]][events$id[which]] <- events$reward[which]
  }
  first <- reported & events$kind != event_kind[["amend"]]
  for (name in constraint_names(config, "g")) {
    queries[[name]] <- rep(NA_real_, length(queries$arm))
    queries[[name]][events$id[first]] <- events[[name]][first]
  }
  queries$status <- rep(NA_integer_, length(queries$arm))
  queries
}

logged_values <- function(bandit, id) {
  columns <- value_columns(bandit$config)
  matrix(unlist(lapply(columns, function(name) get(name, envir = bandit$queries)[id])), length(id), length(columns))
}

# Inputs of some queries in the kernel's format (for a matrix kernel, arms are counted from 1).
known_inputs <- function(bandit, ids) {
  points <- logged_points(bandit, ids)
  inputs_of_kernel(bandit$config, cbind(points$inputs, points$contexts), points$arm)
}

inputs_of_kernel <- function(config, inputs, arm) {
  number <- if (has_matrix(config$kernel)) arm + 1L
  x <- cbind(inputs, number)
  colnames(x) <- c(input_names(config), if (!is.null(number)) "arm")
  x
}

# Optional values reported with `count` rewards, in the log's format.
observation_extras <- function(count, noise_var = NA_real_, size = NA_real_, spread = NA_real_, other = NA_integer_,
                        outcome = NA_integer_) {
  if (nargs() == 1 && count == 1) return(no_extras)
  list(noise_var = rep_len(noise_var, count), size = rep_len(size, count), spread = rep_len(spread, count),
       other = rep_len(other, count), outcome = rep_len(as.integer(outcome), count))
}

# (Made once: see one_without.)
no_extras <- list(noise_var = NA_real_, size = NA_real_, spread = NA_real_, other = NA_integer_,
                       outcome = NA_integer_)

# When queries were made (or points given): their events are in the order of their ids.
query_times <- function(bandit, ids) {
  events <- bandit$events
  asked <- which(table_column(events, "kind") %in% event_kind[c("query", "given")])
  time <- events$time[asked[ids]]
  ifelse(is.na(time), -Inf, time)
}

known_ids <- function(bandit) which(status_of(bandit, seq_len(table_size(bandit$queries))) == "observed")
