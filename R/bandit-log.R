# Places in the log are those of the core: `arm` the 0-based number of an arm or of a product's row (NA on a box),
# `context` that of a known context, and the model inputs, none where these numbers say it all.
logged_inputs <- function(config) {
  if (is_tabulated_space(config)) character() else paste0("in.", seq_along(input_names(config)))
}

query_columns <- function(config) {
  inputs <- logged_inputs(config)
  c(list(arm = integer(), context = integer(), action = integer(), segment = integer(),
         mean = double(), sd = double(), width = double(), status = integer(), reward = double()),
    stats::setNames(rep(list(double()), length(inputs)), inputs),
    stats::setNames(rep(list(double()), 2 * constraint_count(config)),
                    c(constraint_names(config, "g"), constraint_names(config, "kappa"))),
    if (!is.null(config$rule)) list(phase = character()))
}

constraint_count <- function(config) if (is.null(config$constraints)) 0L else config$constraints$count

constraint_names <- function(config, letter) {
  paste0(rep(letter, constraint_count(config)), seq_len(constraint_count(config)))
}

event_columns <- function() {
  list(kind = integer(), id = integer(), reward = double(), time = double(), noise_var = double())
}

event_kind <- c(query = 1L, reward = 2L, given = 3L, restart = 4L, refit = 5L, epoch = 6L, amend = 7L,
                withdraw = 8L, fail = 9L)

action_names <- c("policy", "explore", "given")
# Events that change what is known of a query.
telling <- c("reward", "given", "amend", "withdraw", "fail")
status_names <- c("pending", "known", "lost", "withdrawn", "failed")

# The log's inputs of some queries, one row each; no columns where arms say it all.
logged_matrix <- function(bandit, ids) {
  columns <- logged_inputs(bandit$config)
  values <- vapply(columns, function(name) as.double(get(name, envir = bandit$queries)[ids]),
                   numeric(length(ids)))
  matrix(values, length(ids), length(columns))
}

# The places of some queries, and `contexts`, a row each (NULL where there are none).
logged_places <- function(bandit, ids) {
  config <- bandit$config
  arm <- bandit$queries$arm[ids]
  if (is_tabulated_space(config)) {
    contexts <- if (!is.null(config$contexts)) config$contexts[bandit$queries$context[ids] + 1L, , drop = FALSE]
    return(c(subset_places(all_places(config$domain), arm + 1L), list(contexts = contexts)))
  }
  inputs <- logged_matrix(bandit, ids)
  d <- length(config$domain$names)
  list(arm = arm, inputs = inputs[, seq_len(d), drop = FALSE],
       contexts = if (ncol(inputs) > d) inputs[, -seq_len(d), drop = FALSE])
}

# Contexts of the log's queries as the core takes them.
logged_contexts <- function(bandit, queries) {
  d <- length(bandit$config$domain$names)
  values <- queries$inputs
  list(row = queries$context, values = values[, seq_len(ncol(values)) > d, drop = FALSE])
}

# `refit`: the parameters of the refit among the new events, if there is one. A journal comes
# first: what it cannot take has not happened.
sync_log <- function(bandit, refit = NULL) {
  new <- cpp_bandit_log(bandit$handle, table_size(bandit$queries), table_size(bandit$events))
  done <- FALSE
  on.exit(if (!done) bandit$handle <- NULL)
  suspendInterrupts({
    new$queries$reward <- rep(NA_real_, length(new$queries$arm))
    for (j in seq_len(ncol(new$queries$inputs))) {
      new$queries[[paste0("in.", j)]] <- new$queries$inputs[, j]
    }
    new$queries <- with_constraint_columns(bandit$config, new$queries)
    journal_change(bandit, new$queries, new$events, refit)
    if (!is.null(refit)) bandit$refits <- c(bandit$refits, list(refit))
    table_append(bandit$queries, new$queries)
    table_append(bandit$events, new$events)
    told <- new$events$kind %in% event_kind[telling]
    table_set(bandit$queries, "status", new$events$id[told], new$events$status[told])
    known <- told & !is.na(new$events$reward)
    table_set(bandit$queries, "reward", new$events$id[known], new$events$reward[known])
    known <- known & new$events$kind != event_kind[["amend"]]
    for (j in seq_len(constraint_count(bandit$config))) {
      table_set(bandit$queries, paste0("g", j), new$events$id[known], new$events$g[known, j])
    }
    done <- TRUE
  })
  new
}

# Multipliers at the choice; constraint values come with the rewards.
with_constraint_columns <- function(config, queries) {
  for (j in seq_len(constraint_count(config))) {
    queries[[paste0("g", j)]] <- rep(NA_real_, length(queries$arm))
    queries[[paste0("kappa", j)]] <- queries$kappa[, j]
  }
  queries
}
