#' Gaussian-process bandits
#'
#' `gp_bandit()` puts the parts together: a decision set, a prior, a policy, and the rules for
#' pending rewards, for change and for constraints. The result is an object of the reference
#' class `GPBandit`: its methods change it in place. Named algorithms such as [gp_ucb()] are
#' presets of this function.
#'
#' @section Posterior:
#' With \eqn{K}{K} the kernel over the points played, \eqn{\lambda}{lambda} = `noise_var` and \eqn{m}{m}
#' the prior mean, \deqn{\mu(x) = m(x) + k(x)'(K+\lambda I)^{-1}(y - m),\quad
#' \sigma^2(x) = k(x,x) - k(x)'(K+\lambda I)^{-1}k(x).}{mu(x) = m(x) + k(x)'(K + lambda I)^-1 (y - m),  sd^2(x) = k(x, x) - k(x)'(K + lambda I)^-1 k(x).}
#' Mean and sd are always those of the latent function; the noise is not included.
#'
#' @section Engines:
#' Over arms the posterior is exact and a round's cost does not grow with the number of rounds:
#' `"weights"` keeps a pivoted Cholesky factor of the kernel over all arms (its rank is in `summary()`),
#' `"played"` a factor over the distinct arms played so far, which is cheaper where the kernel is rough.
#' `"auto"` chooses by cost; Thompson sampling always uses `"weights"`. All give the same choices.
#' On a box, and in contexts that are not known beforehand, an exact Cholesky factor grows by a row per
#' observation, \eqn{O(t^2)} a round. On a box the acquisition is scored at a fixed low-discrepancy set and at neighbours of
#' the best observation and climbed from the best few with analytic gradients (L-BFGS-B); Thompson sampling
#' draws a path by Matheron's rule (1024 random features for the prior, exact for the update).
#'
#' @section Methods:
#' * `$suggest(n = 1, context = NULL, time = NULL)`: plays the next `n` queries and returns a data.frame, one row
#'   each: `id` (the round), `arm` (finite domains) and the inputs. `n > 1` is the same as asking `n` times in a
#'   row with nothing observed between.
#' * `$observe(id, reward, constraints = NULL, time = NULL)`: rewards of earlier queries, any order, any time, vectorised.
#' * `$add(x = NULL, arm = NULL, reward, constraints = NULL, context = NULL, time = NULL)`: data the bandit did not ask for;
#'   an added point takes the next id and counts as a round (action `"given"`).
#' * `$posterior(x = NULL, context = NULL)`: data.frame `mean`, `sd`, one row per row of `x` (all arms if `NULL`).
#' * `$draw(n = 1, context = NULL)`: exact joint draws from the posterior over all arms, one per column.
#' * `$best(context = NULL)`: the recommended point, where the posterior mean is largest.
#' * `$history()`: data.frame, one row per query: `id`, `arm`, inputs, contexts, `reward` (NA while pending), `mean`, `sd`,
#'   `width` (at the choice, at the chosen point), `action` (`"policy"`, `"explore"`, `"given"`), `segment`.
#' * `$information_gain()`: \eqn{\tfrac12\log\det(I + K/\lambda)}{1/2 log det(I + K/lambda)} of the current segment's points that the
#'   variance knows, in nats.
#' * `time`, in these three, is the clock time of what happens, see [pending_censor()] with `unit = "time"`;
#'   `NULL` is now.
#' * `$reset()`: forgets every event. `$copy()`: an independent bandit in the same state
#'   (without a journal). `$show()`: prints.
#'
#' A bandit's state is its settings and its event log, both plain R data: `saveRDS()`, `$copy()` and sending it
#' to another process all give a bandit that goes on exactly as the original would.
#'
#' @param domain a [finite_domain()] (or numbers, one row per arm) or a [box_domain()].
#' @param kernel prior covariance, see [kernel_se()].
#' @param noise_var \eqn{\lambda}{lambda}: the noise variance, or the regulariser, a number > 0 (units of reward squared).
#' @param policy one of the [policies].
#' @param mean prior mean: a number, or one per arm.
#' @param pending one of the [pending] rules.
#' @param changes `NULL` for a stationary problem, or a rule that tells when to forget, see [changes].
#' @param constraints `NULL`, or a rule for long-term constraints, see [constraints].
#' @param refit `NULL` for a fixed kernel, or [refit_every()].
#' @param contexts a matrix with one row per context that can occur; or, where they are not known
#'   beforehand, their number of values or their names. Then every query needs a `context`, and the kernel
#'   sees the actions followed by the context.
#' @param engine `"auto"`, `"weights"` or `"played"`, see Engines.
#' @param journal `NULL`, or the path of a new file to which every event is appended, and flushed to the disk, before
#'   anything else happens; [resume_bandit()] goes on from it after a crash.
#' @param ... must be empty: misspelt arguments are refused.
#' @return An object of class `GPBandit`.
#' @section Errors: a `gpbandits_error` that names the argument, what was given and what is allowed; the
#'   object is left as it was.
#' @section Guarantee: that of the policy's width; see [widths] and the presets. No theorem covers a
#'   combination that no paper studies.
#' @section Combinations: every combination of policy, pending rule, change rule, constraints, contexts and domain runs. Regret
#'   bounds cover these, with fixed hyperparameters and nothing else combined:
#'   * UCB or Thompson sampling alone, on arms or a box: [gp_ucb()], [igp_ucb()], [gp_ts()].
#'   * UCB or Thompson sampling with [pending_censor()] and [width_sdf()], with or without contexts: [gp_ucb_sdf()], [gp_ts_sdf()].
#'   * UCB with [pending_hallucinate()], batches or bounded delays, if the width is raised by a constant that depends on the batch
#'     (Desautels, Krause and Burdick 2014): [gp_bucb()] with `width`.
#'   * UCB with [change_detect()]: [gp_ucb_cpd()]; with a window, weights or restarts under a bounded variation budget: the presets there.
#'   * UCB with [constraints_noiseless()] or [constraints_noisy()], `reuse = FALSE`; Thompson sampling with the former:
#'     [gp_ucb_noiseless_constraints()], [gp_ucb_noisy_constraints()].
#'
#'   EI, PI, mean, variance and uniform play have no regret bound here (variance: only of the information gained). With contexts and
#'   no delays UCB keeps its bound against the best action of each context (Krause and Ong 2011). Where several rules meet: rewards
#'   reach a change detector in the order in which they arrive; a reward of a query from before the restart, or from before an epoch
#'   that started afresh, teaches nothing and triggers nothing.
#' @references Srinivas, Krause, Kakade and Seeger (2010) <arXiv:0912.3995>.
#' @seealso [gp_ucb()], [run_bandit()], [compare_bandits()].
#' @examples
#' x <- seq(0, 1, length.out = 101)
#' f <- sin(6 * x)
#' b <- gp_bandit(x, kernel_se(0.2), noise_var = 0.01,
#'                policy = policy_ucb(width_srinivas_finite(0.1, scale = 1 / 5)))
#' set.seed(1)
#' for (t in 1:20) {
#'   q <- b$suggest()
#'   b$observe(q$id, f[q$arm] + rnorm(1, sd = 0.1))
#' }
#' b$best()
#' b
#' @export
gp_bandit <- function(domain, kernel, noise_var, policy, mean = 0, pending = pending_ignore(),
                      changes = NULL, constraints = NULL, contexts = NULL, refit = NULL,
                      engine = c("auto", "weights", "played"), journal = NULL, ...) {
  check_dots_empty(..., allowed = names(formals(gp_bandit)))
  config <- list(
    domain = as_domain(domain),
    kernel = check_class(kernel, "bandit_kernel", hint = "kernel_se(), kernel_matern(), ..."),
    noise_var = check_number(noise_var, lower = 0, open_lower = TRUE),
    policy = check_class(policy, "bandit_policy", hint = "policy_ucb(), policy_ts(), ..."),
    mean = mean,
    pending = check_class(pending, "bandit_pending", hint = "pending_ignore(), ..."),
    engine = check_choice(engine, c("auto", "weights", "played"))
  )
  if (!is.null(constraints)) {
    config$constraints <- check_class(constraints, "bandit_constraints",
                                      hint = "constraints_noiseless(), constraints_noisy()")
  }
  if (!is.null(changes)) {
    config$changes <- check_class(changes, "bandit_changes", hint = "change_detect(), change_oracle(), ...")
  }
  check_free_names(config$domain$names, "domain")
  config$refit <- check_refit(refit, config)
  contexts <- check_contexts(contexts, config$domain)
  config$contexts <- contexts$table
  config$context_names <- contexts$names
  config$mean <- check_prior_mean(mean, config$domain)
  if (config$engine == "played" && config$policy$kind == "ts") {
    stop_argument("engine", "\"played\"",
                  "\"auto\" or \"weights\" for Thompson sampling (joint draws need the complete factor)")
  }
  bandit <- GPBandit$new(config = config, queries = new_table(query_columns(config)),
                         events = new_table(event_columns()), refits = list(), handle = NULL,
                         journal = NULL)
  heal(as.environment(bandit))
  if (!is.null(journal)) start_journal(bandit, journal)
  bandit
}

check_absent <- function(value, arg) {
  if (!is.null(value)) stop_argument(arg, describe(value), "NULL")
}

# A table of the contexts that can occur, their number of values, or their names.
check_contexts <- function(contexts, domain) {
  if (is.null(contexts)) return(list(table = NULL, names = character()))
  table <- NULL
  if (is.character(contexts)) {
    names <- contexts
  } else if (is.numeric(contexts) && is.null(dim(contexts)) && length(contexts) == 1) {
    names <- paste0("z", seq_len(check_count(contexts)))
  } else {
    table <- check_matrix(contexts, "contexts")
    if (nrow(table) == 0 || ncol(table) == 0) {
      stop_argument("contexts", describe(contexts), "at least one context of at least one value")
    }
    names <- if (is.null(colnames(table))) paste0("z", seq_len(ncol(table))) else colnames(table)
    colnames(table) <- names
  }
  if (length(names) == 0) stop_argument("contexts", describe(contexts), "at least one name")
  both <- check_input_names(c(domain$names, names), length(domain$names) + length(names), "contexts")
  check_free_names(names, "contexts")
  list(table = table, names = utils::tail(both, length(names)))
}

# Inputs stand beside these columns in histories and ledgers.
check_free_names <- function(names, arg) {
  columns <- c("id", "arm", "reward", "mean", "sd", "width", "action", "segment", "f", "regret", "cumulative_regret",
               "simple_regret", "period", "optimum", "cumulative_violation")
  taken <- names[names %in% columns | grepl("^(g|kappa|violation)[0-9]+$", names)]
  if (length(taken)) {
    stop_argument(arg, paste("an input named", dQuote(taken[1], FALSE)),
                  "inputs with names other than the columns of a bandit's history and ledger")
  }
}

check_prior_mean <- function(mean, domain) {
  n <- if (is_finite_domain(domain)) nrow(domain$x) else 1L
  as.double(check_numbers(mean, "mean", lengths = unique(c(1L, n))))
}

input_names <- function(config) c(config$domain$names, config$context_names)

# How the core sees the decision set: "arms" (a table of all arms, in all known contexts),
# "open" (arms in contexts that are not known beforehand, or too many to tabulate), "box".
kLargestTable <- 50000

space_of <- function(config) {
  if (!is_finite_domain(config$domain)) return("box")
  if (length(config$context_names) == 0) return("arms")
  rows <- nrow(config$domain$x) * NROW(config$contexts)
  if (is.null(config$contexts) || rows > kLargestTable) "open" else "arms"
}

# The model inputs that the log keeps: none where the arm says it all.
logged_inputs <- function(config) {
  if (space_of(config) == "arms") character() else paste0("in.", seq_along(input_names(config)))
}


query_columns <- function(config) {
  inputs <- logged_inputs(config)
  c(list(arm = integer(), context = integer(), action = integer(), segment = integer(),
         mean = double(), sd = double(), width = double(), reward = double()),
    stats::setNames(rep(list(double()), length(inputs)), inputs),
    stats::setNames(rep(list(double()), 2 * constraint_count(config)),
                    c(constraint_names(config, "g"), constraint_names(config, "kappa"))),
    if (!is.null(config$rule)) list(phase = character()))
}

constraint_count <- function(config) if (is.null(config$constraints)) 0L else config$constraints$count

constraint_names <- function(config, letter) {
  paste0(rep(letter, constraint_count(config)), seq_len(constraint_count(config)))
}

event_columns <- function() list(kind = integer(), id = integer(), reward = double(), time = double())

event_kind <- c(query = 1L, reward = 2L, given = 3L, restart = 4L, refit = 5L)
action_names <- c("policy", "explore", "given")

# The settings as the core takes them.
core_config <- function(config) {
  finite <- is_finite_domain(config$domain)
  arms <- if (finite) nrow(config$domain$x)
  kernel <- resolve_kernel(config$kernel, input_names(config), arms = arms)
  common <- list(
    space = space_of(config), kernel = kernel, noise_var = config$noise_var,
    policy = list(kind = config$policy$kind, xi = config$policy$xi,
                  width = resolve_width(config$policy$width, config)),
    pending = unclass(config$pending), engine = config$engine,
    contexts = length(config$context_names)
  )
  common["changes"] <- list(resolve_changes(config$changes, config))
  common["constraints"] <- list(if (!is.null(config$constraints)) unclass(config$constraints))
  c(common, switch(common$space, arms = core_table(config), open = core_open(config),
                   box = core_box(config)))
}

# A row per arm, a block of all arms per context; the arm's number in the last column.
core_table <- function(config) {
  arms <- config$domain$x
  n <- nrow(arms)
  blocks <- if (is.null(config$contexts)) 1L else nrow(config$contexts)
  table <- arms[rep(seq_len(n), blocks), , drop = FALSE]
  if (!is.null(config$contexts)) {
    table <- cbind(table, config$contexts[rep(seq_len(blocks), each = n), , drop = FALSE])
  }
  list(points = unname(cbind(table, rep(seq_len(n) - 1, blocks))),
       prior_mean = rep(rep_len(config$mean, n), blocks), arms_per_context = n)
}

core_open <- function(config) {
  list(points = unname(config$domain$x), prior_mean = rep_len(config$mean, nrow(config$domain$x)))
}

core_box <- function(config) {
  domain <- config$domain
  bounds <- to_model_inputs(domain, rbind(domain$lower, domain$upper))
  list(lower = unname(bounds[1, ]), upper = unname(bounds[2, ]), integer = domain$integer,
       log = domain$log, prior_mean = config$mean)
}

# Errors that only the core can see become errors of ours.
core <- function(expr) {
  tryCatch(expr, "C++Error" = function(e) stop_gpbandits(conditionMessage(e)))
}

# The core's object is a cache of the event log: when it is gone (after readRDS, in another
# process, in a copy, after a failed change) the log is played again.
heal <- function(bandit) {
  if (!is.null(bandit$handle) && cpp_bandit_alive(bandit$handle)) return(invisible(bandit))
  handle <- core(cpp_bandit_new(core_config(bandit$config)))
  queries <- table_columns(bandit$queries)
  queries$inputs <- logged_matrix(bandit, seq_along(queries$arm))
  queries$g <- matrix(as.double(unlist(queries[constraint_names(bandit$config, "g")])),
                      length(queries$arm), constraint_count(bandit$config))
  core(cpp_bandit_replay(handle, queries, logged_contexts(bandit, queries), table_columns(bandit$events),
                         lapply(bandit$refits, function(fit) core_config(refitted_config(bandit$config, fit)))))
  assign(".changing", FALSE, envir = bandit$events)
  bandit$handle <- handle
  invisible(bandit)
}

# Model inputs of some queries, one row each; no columns where arms say it all.
logged_matrix <- function(bandit, ids) {
  columns <- logged_inputs(bandit$config)
  values <- vapply(columns, function(name) as.double(get(name, envir = bandit$queries)[ids]),
                   numeric(length(ids)))
  matrix(values, length(ids), length(columns))
}

# Contexts of the log's queries as the core takes them.
logged_contexts <- function(bandit, queries) {
  d <- length(bandit$config$domain$names)
  values <- queries$inputs
  list(row = queries$context, values = values[, seq_len(ncol(values)) > d, drop = FALSE])
}

# A width or gain function, or a progress handler, must not change the bandit that calls it.
# (A copy or a file that was made meanwhile carries the flag too, but has no live core object.)
check_idle <- function(bandit) {
  if (isTRUE(bandit$events$.changing) && cpp_bandit_alive(bandit$handle)) {
    stop_gpbandits("This bandit is in the middle of a change: a function that it calls cannot change it.")
  }
}

# Runs a change of the core's object and copies the new events to the log. If it fails
# or is interrupted, the core's object is dropped and the log stays as it was. `refit` returns the
# parameters in force after a change that is a refit.
transact <- function(bandit, change, refit = NULL) {
  check_idle(bandit)
  heal(bandit)
  assign(".changing", TRUE, envir = bandit$events)
  done <- FALSE
  on.exit({
    assign(".changing", FALSE, envir = bandit$events)
    if (!done) bandit$handle <- NULL
  })
  core(change(bandit$handle))
  sync_log(bandit, if (!is.null(refit)) refit())
  done <- TRUE
  invisible(bandit)
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
    known <- new$events$kind %in% event_kind[c("reward", "given")]
    table_set(bandit$queries, "reward", new$events$id[known], new$events$reward[known])
    for (j in seq_len(constraint_count(bandit$config))) {
      table_set(bandit$queries, paste0("g", j), new$events$id[known], new$events$g[known, j])
    }
    done <- TRUE
  })
  new
}

# `$` of a reference class takes microseconds where that of an environment takes none: what is
# called in every round works on the object's environment, which holds the same fields.

#' @rdname gp_bandit
#' @export GPBandit
#' @exportClass GPBandit
GPBandit <- setRefClass("GPBandit",
  fields = list(config = "list", queries = "environment", events = "environment",
                refits = "list", handle = "ANY", journal = "ANY"),
  methods = list(
    suggest = function(n = 1, context = NULL, time = NULL, ...) {
      bandit_suggest(as.environment(.self), n, context, time, ...)
    },
    observe = function(id, reward, constraints = NULL, time = NULL, ...) {
      bandit_observe(as.environment(.self), id, reward, constraints, time, ...)
      invisible(.self)
    },
    add = function(x = NULL, arm = NULL, reward, constraints = NULL, context = NULL, time = NULL, ...) {
      bandit_add(as.environment(.self), x, arm, reward, constraints, context, time, ...)
      invisible(.self)
    },
    posterior = function(x = NULL, context = NULL, ...) bandit_posterior(.self, x, context, ...),
    draw = function(n = 1, context = NULL, ...) bandit_draw(.self, n, context, ...),
    best = function(context = NULL, ...) bandit_best(.self, context, ...),
    history = function() bandit_history(.self),
    information_gain = function() bandit_facts(.self)$log_det / 2,
    reset = function() bandit_reset(.self),
    copy = function(shallow = FALSE) bandit_copy(.self),
    show = function() print_bandit(.self)
  )
)

# Multipliers at the choice; constraint values come with the rewards.
with_constraint_columns <- function(config, queries) {
  for (j in seq_len(constraint_count(config))) {
    queries[[paste0("g", j)]] <- rep(NA_real_, length(queries$arm))
    queries[[paste0("kappa", j)]] <- queries$kappa[, j]
  }
  queries
}

bandit_facts <- function(bandit) {
  heal(bandit)
  cpp_bandit_facts(bandit$handle)
}

bandit_suggest <- function(bandit, n, context, time, ...) {
  check_dots_empty(..., allowed = c("n", "context", "time"))
  n <- check_count(n, upper = 1e6)
  contexts <- contexts_for(bandit, context, n)
  time <- clock_times(bandit, time, 1, latest_time(bandit), "the latest time so far")
  first <- table_size(bandit$queries)
  # A refit may fall due between the queries of a batch, as if they were asked one by one.
  at <- 1
  while (at <= n) {
    refit_if_due(bandit)
    stretch <- seq(at, min(n, at + rounds_to_refit(bandit) - 1))
    part <- list(row = contexts$row[stretch], values = contexts$values[stretch, , drop = FALSE])
    transact(bandit, function(handle) cpp_bandit_suggest(handle, part, time))
    at <- at + length(stretch)
  }
  query_frame(bandit, first + seq_len(n))
}

# `count` contexts as the core takes them (one that is given serves all): `row` numbers
# (0-based) of known contexts, `values` where they are not tabulated.
contexts_for <- function(bandit, context, count = NULL) {
  config <- bandit$config
  size <- length(config$context_names)
  if (size == 0) {
    if (!is.null(context)) stop_argument("context", describe(context), "NULL: this bandit has no contexts")
    n <- if (is.null(count)) 1L else count
    return(list(row = integer(n), values = matrix(0, n, 0)))
  }
  allowed <- sprintf("a context of %d value(s) (%s)%s", size, paste(config$context_names, collapse = ", "),
                     if (!is.null(count) && count > 1) sprintf(", or %d rows of them", count) else "")
  if (is.null(context)) stop_argument("context", "NULL", allowed)
  given <- check_matrix(context, "context", columns = size)
  if (!is.null(count) && !nrow(given) %in% c(1, count)) stop_argument("context", describe(context), allowed)
  if (!is.null(count)) given <- given[rep_len(seq_len(nrow(given)), count), , drop = FALSE]
  row <- integer(nrow(given))
  if (!is.null(config$contexts)) {
    row <- match_rows(given, config$contexts) - 1L
    if (anyNA(row)) {
      stop_argument("context", paste(format(given[which(is.na(row))[1], ]), collapse = ", "),
                    sprintf("one of the bandit's %d contexts", nrow(config$contexts)))
    }
  }
  if (space_of(config) == "arms") given <- matrix(0, nrow(given), 0)
  list(row = row, values = unname(given))
}

# For each row of `given` the first equal row of `known`, NA if there is none.
match_rows <- function(given, known) match(row_keys(given + 0), row_keys(known + 0))

query_frame <- function(bandit, ids) {
  columns <- place_columns(bandit, bandit$queries$arm[ids], bandit$queries$context[ids],
                           logged_matrix(bandit, ids))
  frame_of(c(list(id = as.integer(ids)), columns))
}

# A data.frame of columns that are known to be in order: data.frame() takes longer than a round.
frame_of <- function(columns) {
  structure(columns, class = "data.frame", row.names = .set_row_names(length(columns[[1]])))
}

# Columns that say to people which places these are: `arm` (1-based), inputs and contexts.
place_columns <- function(bandit, row, context, inputs) {
  config <- bandit$config
  d <- length(config$domain$names)
  columns <- list()
  if (is_finite_domain(config$domain)) {
    columns$arm <- as.integer(row %% nrow(config$domain$x) + 1)
    actions <- config$domain$x[columns$arm, , drop = FALSE]
  } else {
    actions <- from_model_inputs(config$domain, inputs[, seq_len(d), drop = FALSE])
  }
  for (j in seq_len(d)) columns[[config$domain$names[j]]] <- actions[, j]
  if (length(config$context_names)) {
    z <- if (space_of(config) == "arms") config$contexts[context + 1L, , drop = FALSE]
         else inputs[, seq_len(ncol(inputs)) > d, drop = FALSE]
    for (j in seq_along(config$context_names)) columns[[config$context_names[j]]] <- z[, j]
  }
  lapply(columns, unname)
}

place_frame <- function(bandit, row, context, inputs) {
  frame_of(place_columns(bandit, row, context, inputs))
}

bandit_observe <- function(bandit, id, reward, constraints, time, ...) {
  check_dots_empty(..., allowed = c("id", "reward", "constraints", "time"))
  id <- check_open_ids(bandit, id)
  reward <- check_numbers(reward, "reward", lengths = length(id))
  constraints <- check_constraint_values(constraints, bandit, length(id))
  if (length(id) == 0) return(invisible(bandit))
  time <- clock_times(bandit, time, length(id), query_times(bandit, id), "the time of the query")
  transact(bandit, function(handle) cpp_bandit_observe(handle, id, reward, constraints, time))
}

# Ids of distinct queries whose rewards are not yet known.
check_open_ids <- function(bandit, id) {
  id <- check_numbers(id, "id")
  rounds <- table_size(bandit$queries)
  bad <- which(id != round(id) | id < 1 | id > rounds)
  if (length(bad)) {
    stop_argument("id", sprintf("%g", id[bad[1]]),
                  paste("the id of an earlier query",
                        if (rounds) sprintf("(1 to %d)", rounds) else "(there is none yet)"))
  }
  if (anyDuplicated(id)) {
    stop_argument("id", sprintf("%g twice", id[anyDuplicated(id)]), "distinct ids")
  }
  known <- which(!is.na(bandit$queries$reward[id]))
  if (length(known)) {
    stop_argument("id", sprintf("%g, whose reward is already known", id[known[1]]),
                  "the id of a pending query")
  }
  id
}

bandit_add <- function(bandit, x, arm, reward, constraints, context, time, ...) {
  check_dots_empty(..., allowed = c("x", "arm", "reward", "constraints", "context", "time"))
  given <- given_places(bandit, x, arm, context)
  reward <- check_numbers(reward, "reward", lengths = length(given$places$arm))
  constraints <- check_constraint_values(constraints, bandit, length(reward))
  if (length(reward) == 0) return(invisible(bandit))
  time <- clock_times(bandit, time, 1, latest_time(bandit), "the latest time so far")
  transact(bandit, function(handle) {
    cpp_bandit_give(handle, given$places, given$contexts, reward, constraints, time)
  })
}

# Places and contexts of added points, as the core takes them.
given_places <- function(bandit, x, arm, context) {
  config <- bandit$config
  if (is_finite_domain(config$domain)) {
    arm <- arms_of(bandit, x, arm)
    actions <- config$domain$x[arm, , drop = FALSE]
  } else {
    check_absent(arm, "arm")
    actions <- points_in_box(config$domain, x)
    arm <- integer(nrow(actions))
  }
  contexts <- contexts_for(bandit, context, length(arm))
  places <- switch(space_of(config),
    arms = list(arm = contexts$row * nrow(config$domain$x) + arm - 1L, inputs = matrix(0, length(arm), 0)),
    open = list(arm = arm - 1L, inputs = unname(cbind(actions, contexts$values))),
    box = list(arm = arm - 1L, inputs = unname(cbind(to_model_inputs(config$domain, actions), contexts$values)))
  )
  list(places = places, contexts = contexts)
}

points_in_box <- function(domain, x) {
  x <- check_matrix(x, "x", columns = length(domain$names))
  outside <- which(x < rep(domain$lower, each = nrow(x)) | x > rep(domain$upper, each = nrow(x)), arr.ind = TRUE)
  if (nrow(outside)) {
    stop_argument("x", sprintf("%s = %g", domain$names[outside[1, 2]], x[outside[1, , drop = FALSE]]),
                  sprintf("within [%g, %g]", domain$lower[outside[1, 2]], domain$upper[outside[1, 2]]))
  }
  fraction <- x[, domain$integer, drop = FALSE]
  if (any(fraction != round(fraction))) {
    stop_argument("x", sprintf("%g for a whole-number input", fraction[fraction != round(fraction)][1]),
                  "a whole number")
  }
  x
}

# Arm numbers (1-based) from either of `x` and `arm`.
arms_of <- function(bandit, x, arm) {
  domain <- bandit$config$domain
  if (is.null(x) == is.null(arm)) {
    stop_argument("arm", if (is.null(x)) "missing, like `x`" else "given together with `x`",
                  "given where `x` is not")
  }
  if (!is.null(arm)) {
    arm <- check_numbers(arm, "arm")
    bad <- which(arm != round(arm) | arm < 1 | arm > nrow(domain$x))
    if (length(bad)) {
      stop_argument("arm", sprintf("%g", arm[bad[1]]), sprintf("whole numbers from 1 to %d", nrow(domain$x)))
    }
    return(as.integer(arm))
  }
  x <- check_matrix(x, "x", columns = ncol(domain$x))
  arm <- match_rows(x, domain$x)
  if (anyNA(arm)) {
    stranger <- paste(format(x[which(is.na(arm))[1], ]), collapse = ", ")
    stop_argument("x", sprintf("a point (%s) that is no arm", stranger),
                  "points among the arms of the domain")
  }
  arm
}

bandit_posterior <- function(bandit, x, context, ...) {
  check_dots_empty(..., allowed = c("x", "context"))
  heal(bandit)
  config <- bandit$config
  domain <- config$domain
  finite <- is_finite_domain(domain)
  if (is.null(x) && !finite) stop_argument("x", "NULL", "points to predict at, where the domain is a box")
  # Arms may share their inputs: all arms are asked for by number, not by what they look like.
  everything <- is.null(x)
  x <- if (everything) domain$x else check_matrix(x, "x", columns = length(domain$names))
  one_each <- length(config$context_names) && NROW(context) > 1 && !is.null(dim(context))
  contexts <- contexts_for(bandit, context, if (one_each) nrow(x) else 1L)
  row <- rep_len(contexts$row, nrow(x))
  arm <- if (everything) seq_len(nrow(x)) else if (finite) match_rows(x, domain$x)
  if (space_of(config) == "arms" && !anyNA(arm)) return(tabulated_posterior(bandit, row, arm))
  predicted_posterior(bandit, x, arm, row, contexts$values)
}

tabulated_posterior <- function(bandit, row, arm) {
  if (length(arm) == 0) return(data.frame(mean = double(), sd = double()))
  n <- nrow(bandit$config$domain$x)
  used <- range(row)
  all <- core(cpp_bandit_arm_posterior(bandit$handle, used[1] * n, (used[2] - used[1] + 1L) * n))
  at <- (row - used[1]) * n + arm
  data.frame(mean = all$mean[at], sd = all$sd[at])
}

# Points that no table holds. Where they are no arms, the kernel must be a function of the
# inputs and the prior mean a constant.
predicted_posterior <- function(bandit, x, arm, row, values) {
  config <- current_config(bandit)
  if (anyNA(arm) && (uses_matrix_kernel(config$kernel) || length(unique(config$mean)) > 1)) {
    stop_argument("x", "a point that is no arm",
                  "arms only, where the kernel is given as a matrix or the prior mean differs by arm")
  }
  points <- to_model_inputs(config$domain, x)
  if (length(config$context_names)) {
    z <- if (space_of(config) == "arms") config$contexts[row + 1L, , drop = FALSE]
         else values[rep_len(seq_len(nrow(values)), nrow(x)), , drop = FALSE]
    points <- cbind(points, z)
  }
  if (is_finite_domain(config$domain)) points <- cbind(points, ifelse(is.na(arm), -1, arm - 1))
  prior <- if (length(config$mean) == 1) rep(config$mean, nrow(x)) else config$mean[arm]
  as.data.frame(core(cpp_bandit_predict(bandit$handle, unname(points), prior)))
}

uses_matrix_kernel <- function(kernel) {
  kernel$type == "matrix" || any(vapply(kernel$parts, uses_matrix_kernel, logical(1)))
}

bandit_draw <- function(bandit, n, context, ...) {
  check_dots_empty(..., allowed = c("n", "context"))
  n <- check_count(n)
  heal(bandit)
  facts <- cpp_bandit_facts(bandit$handle)
  if (facts$engine != "weights") {
    stop_gpbandits("Joint draws over all arms need the weight-space engine: ",
                   "a finite domain and `engine = \"weights\"`.",
                   argument = "engine")
  }
  arms <- nrow(bandit$config$domain$x)
  row <- contexts_for(bandit, context, 1L)$row
  core(cpp_bandit_draw(bandit$handle, n, 1, row * arms, arms))
}

bandit_best <- function(bandit, context, ...) {
  check_dots_empty(..., allowed = "context")
  heal(bandit)
  contexts <- contexts_for(bandit, context, 1L)
  found <- preserve_rng(core(cpp_bandit_best(bandit$handle, contexts)))
  frame <- place_frame(bandit, found$arm, contexts$row, found$inputs)
  actions <- as.matrix(frame[bandit$config$domain$names])
  context <- if (length(bandit$config$context_names)) frame[bandit$config$context_names]
  cbind(frame, bandit_posterior(bandit, actions, context))
}

# The history of some queries; columns of the log are picked, never the whole log converted.
bandit_history <- function(bandit, ids = seq_len(table_size(bandit$queries))) {
  of <- function(name) get(name, envir = bandit$queries)[ids]
  extra <- c(constraint_names(bandit$config, "g"), constraint_names(bandit$config, "kappa"),
             if (!is.null(bandit$config$rule)) "phase")
  columns <- c(query_frame(bandit, ids),
               list(reward = of("reward"), mean = of("mean"), sd = of("sd"), width = of("width"),
                    action = action_names[of("action")], segment = of("segment")),
               stats::setNames(lapply(extra, of), extra))
  structure(columns, class = "data.frame", row.names = .set_row_names(length(ids)))
}

bandit_reset <- function(bandit) {
  check_idle(bandit)
  journal_write(bandit, "x")
  bandit$queries <- new_table(query_columns(bandit$config))
  bandit$events <- new_table(event_columns())
  bandit$refits <- list()
  bandit$handle <- NULL
  invisible(bandit)
}

bandit_copy <- function(bandit) {
  GPBandit$new(config = bandit$config, queries = table_copy(bandit$queries),
               events = table_copy(bandit$events), refits = bandit$refits, handle = NULL, journal = NULL)
}
