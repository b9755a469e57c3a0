# Columns of a bandit's log and the reading of its rows. Layer: bandit.

# Places in the log are those of the core: `arm` the 0-based number of an arm or of a product's row (NA on a box),
# `context` that of a known context, and the model inputs, none where these numbers say it all.
logged_inputs <- function(config) {
  if (is_tabulated_space(config)) character() else paste0("in.", seq_along(input_names(config)))
}

query_columns <- function(config) {
  inputs <- logged_inputs(config)
  c(list(arm = integer(), context = integer(), action = integer(), segment = integer(),
         mean = double(), sd = double(), width = double(), status = integer()),
    stats::setNames(rep(list(double()), outcome_count(config)), value_columns(config)),
    stats::setNames(rep(list(double()), length(inputs)), inputs),
    stats::setNames(rep(list(double()), 2 * constraint_count(config)),
                    c(constraint_names(config, "g"), constraint_names(config, "kappa"))),
    if (length(phase_names(config))) list(phase = integer()))
}

# Why queries were made, by the numbers in the log; none where that is not said.
phase_names <- function(config) {
  if (!is.null(config$rule)) c("given", script_of(config$rule)$phases(constraint_count(config)))
  else trait(config$policy, "phases")
}

phases_of <- function(bandit, ids) phase_names(bandit$config)[bandit$queries$phase[ids]]

# `noise_var`: of the reward, where that is its own (of an amendment: NA as it was, 0 the bandit's own again); `size`:
# of how many readings it is the mean (or trials, or exposure),
# NA for 1; `spread`: the sum of their squares about it; `other`: the query that it was compared with; `outcome`: the
# number of the outcome that the event is about, NA where there is one, or for all of them; `arms`: what could be
# played at
# a query, arms and inputs that were fixed, as the core writes it; NA for everything. Of a checkpoint
# (R/store-compact-forget.R) `size` is the number of rounds before, `other` that of the sums that follow, `spread` how
# many rounds were explored, `reward` the last query that was asked before all that is forgotten was known (NA: none
# that is kept), `time` the latest.
event_columns <- function() {
  list(kind = integer(), id = integer(), reward = double(), time = double(), noise_var = double(), size = double(),
       spread = double(), other = integer(), outcome = integer(), arms = character())
}

# Of these the log's first format had none.
later_event_columns <- c("size", "spread", "other")

# The places of some queries, and `contexts`, a row each (NULL where there are none).
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

# Some points and their contexts as the log has them, and as the core takes them.
points_in_log <- function(config, points, contexts) {
  inputs <- if (is_tabulated_space(config)) matrix(0, point_total(points), 0)
            else unname(cbind(points$inputs, contexts$values))
  list(arm = points$arm, context = contexts$row, inputs = inputs)
}

# Contexts of the log's queries as the core takes them.
logged_contexts <- function(bandit, queries) {
  d <- length(model_names(bandit$config$domain))
  values <- queries$inputs
  list(row = queries$context, values = values[, seq_len(ncol(values)) > d, drop = FALSE])
}

# The log gets what the core's object knows and it does not. `refits`: the parameters of the refits among the
# new events, if there are any. Where `keep` is FALSE the object is dropped: it failed in the middle of a change.
# `written`: the new events come from where the log is kept, and are returned. `fields`: others that change with it.
# `reason`: of the queries that the new events give up.
sync_log <- function(bandit, handle, refits = NULL, keep = TRUE, written = FALSE, fields = list(), reason = NULL) {
  fields <- c(fields, if (!is.null(refits)) list(refits = c(bandit$refits, refits)), if (!keep) list(handle = NULL))
  durable <- if (!written && !is.null(bandit$journal)) {
    function(queries, events) keep_change(bandit$journal, bandit, queries, with_reason(events, reason), refits)
  }
  # As in commit().
  invisible(suspendInterrupts(cpp_log_follow(handle, bandit, fields, durable, keep, written)))
}

# ---- why queries were given up ----------------------------------------------------------
# The field `reasons` has the reasons of queries that failed or were withdrawn, named by the queries' ids; NULL where
# there are none. An event brings its reason in the column `reason`, which the log's table does not have.

giving_up <- event_kind[c("withdraw", "fail")]

# Rows of events, those that give a query up with a reason.
with_reason <- function(events, reason) {
  if (!is.null(reason)) events$reason <- ifelse(events$kind %in% giving_up, reason, NA_character_)
  events
}

# The field after queries (rows of the log) were given up.
reasons_with <- function(bandit, id, reason) {
  reasons <- bandit$reasons
  if (length(id)) reasons[as.character(id + ids_before(bandit))] <- reason
  reasons
}

# The reasons of some queries (rows of the log); of what has a result after all none is shown.
reasons_of <- function(bandit, id) {
  found <- unname(bandit$reasons)[match(id + ids_before(bandit), names(bandit$reasons))]
  ifelse(status_of(bandit, id) %in% c("pending", "observed", "lost"), NA_character_, as.character(found))
}

check_reason <- function(reason) if (!is.null(reason)) enc2utf8(check_string(reason, "reason"))

check_reasons <- function(bandit) {
  reasons <- bandit$reasons
  if (is.null(reasons)) return(invisible())
  ids <- suppressWarnings(as.integer(names(reasons)))
  right <- is_text(reasons) && length(ids) == length(reasons) && !anyNA(ids) && !anyDuplicated(ids) &&
    all(ids >= 1 & ids <= all_rounds(bandit))
  if (!right) damaged("its reasons are not those of queries")
}

# Rows of a scripted bandit's log, whose rewards and constraint values are still to come: as the core has them for a
# bandit.
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

# Values of outcomes and constraints of the events, beside the queries that they belong to. (What has become
# of the queries only the core can say.)
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

# Inputs of some queries as the kernel sees them (a matrix counts arms from 1).
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

# What may be told beside `count` rewards, as the log has it.
observation_extras <- function(count, noise_var = NA_real_, size = NA_real_, spread = NA_real_, other = NA_integer_,
                        outcome = NA_integer_) {
  if (nargs() == 1 && count == 1) return(nothing_beside)
  list(noise_var = rep_len(noise_var, count), size = rep_len(size, count), spread = rep_len(spread, count),
       other = rep_len(other, count), outcome = rep_len(as.integer(outcome), count))
}

# (Made once: see one_without.)
nothing_beside <- list(noise_var = NA_real_, size = NA_real_, spread = NA_real_, other = NA_integer_,
                       outcome = NA_integer_)

# When queries were asked (or points given): their events come in the order of their ids.
query_times <- function(bandit, ids) {
  events <- bandit$events
  asked <- which(table_column(events, "kind") %in% event_kind[c("query", "given")])
  time <- events$time[asked[ids]]
  ifelse(is.na(time), -Inf, time)
}

known_ids <- function(bandit) which(status_of(bandit, seq_len(table_size(bandit$queries))) == "observed")

# Those of queries that stay.
reasons_after <- function(bandit, new) {
  first <- new$events$kind[1] %in% event_kind[["checkpoint"]]
  kept <- bandit$reasons[as.integer(names(bandit$reasons)) > if (first) new$events$size[1] else 0]
  if (length(kept)) kept
}
