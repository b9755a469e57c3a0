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
#'
#' @section Methods:
#' * `$suggest(n = 1, context = NULL)`: plays the next `n` queries and returns a data.frame, one row
#'   each: `id` (the round), `arm` (finite domains) and the inputs. `n > 1` is the same as asking `n` times in a
#'   row with nothing observed between.
#' * `$observe(id, reward, constraints = NULL)`: rewards of earlier queries, any order, any time, vectorised.
#' * `$add(x = NULL, arm = NULL, reward, constraints = NULL, context = NULL)`: data the bandit did not ask for;
#'   an added point takes the next id and counts as a round (action `"given"`).
#' * `$posterior(x = NULL, context = NULL)`: data.frame `mean`, `sd`, one row per row of `x` (all arms if `NULL`).
#' * `$draw(n = 1, context = NULL)`: exact joint draws from the posterior over all arms, one per column.
#' * `$best(context = NULL)`: the recommended point, where the posterior mean is largest.
#' * `$history()`: data.frame, one row per query: `id`, `arm`, inputs, contexts, `reward` (NA while pending), `mean`, `sd`,
#'   `width` (at the choice, at the chosen point), `action` (`"policy"`, `"explore"`, `"given"`), `segment`.
#' * `$information_gain()`: \eqn{\tfrac12\log\det(I + K/\lambda)}{1/2 log det(I + K/lambda)} of the current segment's points that the
#'   variance knows, in nats.
#' * `$reset()`: forgets every event. `$copy()`: an independent bandit in the same state. `$show()`: prints.
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
#' @param changes,constraints,refit `NULL` for a stationary, unconstrained problem with a fixed kernel.
#' @param contexts a matrix with one row per context that can occur.
#' @param engine `"auto"`, `"weights"` or `"played"`, see Engines.
#' @param ... must be empty: misspelt arguments are refused.
#' @return An object of class `GPBandit`.
#' @section Errors: a `gpbandits_error` that names the argument, what was given and what is allowed; the
#'   object is left as it was.
#' @section Guarantee: that of the policy's width; see [widths] and the presets. No theorem covers a
#'   combination that no paper studies.
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
                      engine = c("auto", "weights", "played"), ...) {
  check_dots_empty(..., allowed = names(formals(gp_bandit)))
  config <- list(
    domain = as_domain(domain),
    kernel = check_class(kernel, "bandit_kernel", hint = "kernel_se(), kernel_matern(), ..."),
    noise_var = check_number(noise_var, lower = 0, open_lower = TRUE),
    policy = check_class(policy, "bandit_policy", hint = "policy_ucb(), policy_ts(), ..."),
    mean = mean,
    pending = check_class(pending, "bandit_pending", hint = "pending_ignore(), ..."),
    contexts = contexts,
    engine = check_choice(engine, c("auto", "weights", "played"))
  )
  for (arg in c("changes", "constraints", "refit")) check_absent(get(arg), arg)
  if (!is_finite_domain(config$domain)) {
    stop_argument("domain", describe(domain), "a finite domain")
  }
  config$contexts <- check_contexts(contexts, config$domain)
  config$mean <- check_prior_mean(mean, config$domain)
  if (config$engine == "played" && config$policy$kind == "ts") {
    stop_argument("engine", "\"played\"", "\"auto\" or \"weights\" for Thompson sampling (joint draws need the complete factor)")
  }
  bandit <- GPBandit$new(config = config, queries = new_table(query_columns()),
                         events = new_table(event_columns()), handle = NULL)
  heal(bandit)
  bandit
}

check_absent <- function(value, arg) {
  if (!is.null(value)) stop_argument(arg, describe(value), "NULL")
}

check_contexts <- function(contexts, domain) {
  if (is.null(contexts)) return(NULL)
  contexts <- check_matrix(contexts, "contexts")
  if (nrow(contexts) == 0) stop_argument("contexts", describe(contexts), "at least one context")
  if (is.null(colnames(contexts))) colnames(contexts) <- paste0("z", seq_len(ncol(contexts)))
  taken <- intersect(colnames(contexts), domain$names)
  if (length(taken)) {
    stop_argument("contexts", paste("a column named", dQuote(taken[1], FALSE)),
                  "columns with names other than the domain's inputs")
  }
  contexts
}

check_prior_mean <- function(mean, domain) {
  n <- if (is_finite_domain(domain)) nrow(domain$x) else 1L
  as.double(check_numbers(mean, "mean", lengths = unique(c(1L, n))))
}

input_names <- function(config) c(config$domain$names, colnames(config$contexts))

query_columns <- function() {
  list(arm = integer(), context = integer(), action = integer(), segment = integer(),
       mean = double(), sd = double(), width = double(), reward = double())
}

event_columns <- function() list(kind = integer(), id = integer(), reward = double())

event_kind <- c(query = 1L, reward = 2L, given = 3L, restart = 4L)
action_names <- c("policy", "explore", "given")

# The settings as the core takes them: a table of arms (a block for each context) with the
# arm's number in the last column, the kernel's inputs resolved.
core_config <- function(config) {
  arms <- config$domain$x
  n <- nrow(arms)
  blocks <- if (is.null(config$contexts)) 1L else nrow(config$contexts)
  table <- arms[rep(seq_len(n), blocks), , drop = FALSE]
  if (!is.null(config$contexts)) {
    table <- cbind(table, config$contexts[rep(seq_len(blocks), each = n), , drop = FALSE])
  }
  names <- input_names(config)
  list(
    kernel = resolve_kernel(config$kernel, names, arms = n),
    points = unname(cbind(table, rep(seq_len(n) - 1, blocks))),
    noise_var = config$noise_var,
    policy = list(kind = config$policy$kind, xi = config$policy$xi,
                  width = resolve_width(config$policy$width, config)),
    pending = unclass(config$pending),
    prior_mean = rep(rep_len(config$mean, n), blocks),
    arms_per_context = n,
    engine = config$engine
  )
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
  core(cpp_bandit_replay(handle, table_columns(bandit$queries), table_columns(bandit$events)))
  bandit$handle <- handle
  invisible(bandit)
}

# Runs a change of the core's object and copies the new events to the log. If it fails
# or is interrupted, the core's object is dropped and the log stays as it was.
transact <- function(bandit, change) {
  heal(bandit)
  done <- FALSE
  on.exit(if (!done) bandit$handle <- NULL)
  core(change(bandit$handle))
  sync_log(bandit)
  done <- TRUE
  invisible(bandit)
}

sync_log <- function(bandit) {
  new <- cpp_bandit_log(bandit$handle, table_size(bandit$queries), table_size(bandit$events))
  suspendInterrupts({
    new$queries$reward <- rep(NA_real_, length(new$queries$arm))
    table_append(bandit$queries, new$queries)
    table_append(bandit$events, new$events)
    known <- new$events$kind %in% event_kind[c("reward", "given")]
    table_set(bandit$queries, "reward", new$events$id[known], new$events$reward[known])
  })
  new
}

#' @rdname gp_bandit
#' @export GPBandit
#' @exportClass GPBandit
GPBandit <- setRefClass("GPBandit",
  fields = list(config = "list", queries = "environment", events = "environment", handle = "ANY"),
  methods = list(
    suggest = function(n = 1, context = NULL, ...) bandit_suggest(.self, n, context, ...),
    observe = function(id, reward, constraints = NULL, ...) {
      bandit_observe(.self, id, reward, constraints, ...)
    },
    add = function(x = NULL, arm = NULL, reward, constraints = NULL, context = NULL, ...) {
      bandit_add(.self, x, arm, reward, constraints, context, ...)
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

bandit_facts <- function(bandit) {
  heal(bandit)
  cpp_bandit_facts(bandit$handle)
}

bandit_suggest <- function(bandit, n, context, ...) {
  check_dots_empty(..., allowed = c("n", "context"))
  n <- check_count(n)
  rows <- rep_len(context_rows(bandit, context), n)
  first <- table_size(bandit$queries)
  transact(bandit, function(handle) cpp_bandit_suggest(handle, n, rows))
  query_frame(bandit, first + seq_len(n))
}

# 0-based rows of the known contexts; 0 where the bandit has none.
context_rows <- function(bandit, context, required = TRUE) {
  known <- bandit$config$contexts
  if (is.null(known)) {
    if (!is.null(context)) stop_argument("context", describe(context), "NULL: this bandit has no contexts")
    return(0L)
  }
  allowed <- sprintf("a context of %d value(s) among the bandit's %d", ncol(known), nrow(known))
  if (is.null(context)) stop_argument("context", "NULL", allowed)
  given <- check_matrix(context, "context", columns = ncol(known))
  rows <- match_rows(given, known)
  if (anyNA(rows)) {
    stop_argument("context", paste(format(given[which(is.na(rows))[1], ]), collapse = ", "), allowed)
  }
  rows - 1L
}

# For each row of `given` the first equal row of `known`, NA if there is none.
match_rows <- function(given, known) match(row_keys(given + 0), row_keys(known + 0))

query_frame <- function(bandit, ids) {
  config <- bandit$config
  row <- bandit$queries$arm[ids]
  arm <- row %% nrow(config$domain$x) + 1L
  frame <- data.frame(id = as.integer(ids), arm = as.integer(arm),
                      config$domain$x[arm, , drop = FALSE], check.names = FALSE)
  if (!is.null(config$contexts)) {
    frame <- cbind(frame, config$contexts[bandit$queries$context[ids] + 1L, , drop = FALSE])
  }
  rownames(frame) <- NULL
  frame
}

bandit_observe <- function(bandit, id, reward, constraints, ...) {
  check_dots_empty(..., allowed = c("id", "reward", "constraints"))
  id <- check_numbers(id, "id")
  reward <- check_numbers(reward, "reward", lengths = length(id))
  check_absent(constraints, "constraints")
  rounds <- table_size(bandit$queries)
  bad <- which(id != round(id) | id < 1 | id > rounds)
  if (length(bad)) {
    stop_argument("id", sprintf("%g", id[bad[1]]),
                  if (rounds) sprintf("the id of an earlier query, 1 to %d", rounds) else "the id of an earlier query (there is none yet)")
  }
  if (anyDuplicated(id)) {
    stop_argument("id", sprintf("%g twice", id[anyDuplicated(id)]), "distinct ids")
  }
  known <- which(!is.na(bandit$queries$reward[id]))
  if (length(known)) {
    stop_argument("id", sprintf("%g, whose reward is already known", id[known[1]]),
                  "the id of a pending query")
  }
  if (length(id) == 0) return(invisible(bandit))
  transact(bandit, function(handle) cpp_bandit_observe(handle, id, reward))
}

bandit_add <- function(bandit, x, arm, reward, constraints, context, ...) {
  check_dots_empty(..., allowed = c("x", "arm", "reward", "constraints", "context"))
  check_absent(constraints, "constraints")
  arm <- arms_of(bandit, x, arm)
  reward <- check_numbers(reward, "reward", lengths = length(arm))
  rows <- rep_len(context_rows(bandit, context), length(arm))
  if (length(arm) == 0) return(invisible(bandit))
  n <- nrow(bandit$config$domain$x)
  transact(bandit, function(handle) cpp_bandit_give(handle, rows * n + arm - 1L, rows, reward))
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
    stop_argument("x", sprintf("a point (%s) that is no arm", paste(format(x[which(is.na(arm))[1], ]), collapse = ", ")),
                  "points among the arms of the domain")
  }
  arm
}

bandit_posterior <- function(bandit, x, context, ...) {
  check_dots_empty(..., allowed = c("x", "context"))
  heal(bandit)
  config <- bandit$config
  n <- nrow(config$domain$x)
  rows <- context_rows(bandit, context)
  if (is.null(x)) {
    parts <- lapply(rows, function(row) as.data.frame(core(cpp_bandit_arm_posterior(bandit$handle, row * n, n))))
    return(do.call(rbind, parts))
  }
  x <- check_matrix(x, "x", columns = ncol(config$domain$x))
  arm <- match_rows(x, config$domain$x)
  rows <- rep_len(rows, nrow(x))
  if (anyNA(arm)) return(posterior_off_arms(bandit, x, rows))
  all <- core(cpp_bandit_arm_posterior(bandit$handle, 0L, n * max(1L, nrow(config$contexts))))
  data.frame(mean = all$mean[rows * n + arm], sd = all$sd[rows * n + arm])
}

# Points that are no arms: the kernel must be a function of the inputs, the prior mean a constant.
posterior_off_arms <- function(bandit, x, rows) {
  config <- bandit$config
  if (uses_matrix_kernel(config$kernel) || length(unique(config$mean)) > 1) {
    stop_argument("x", "a point that is no arm",
                  "arms only, where the kernel is given as a matrix or the prior mean differs by arm")
  }
  points <- x
  if (!is.null(config$contexts)) points <- cbind(points, config$contexts[rows + 1L, , drop = FALSE])
  points <- unname(cbind(points, -1))
  as.data.frame(core(cpp_bandit_predict(bandit$handle, points, rep(config$mean[1], nrow(x)))))
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
    stop_gpbandits("Joint draws need the weight-space engine: make the bandit with `engine = \"weights\"`.",
                   argument = "engine")
  }
  arms <- nrow(bandit$config$domain$x)
  row <- context_rows(bandit, context)[1]
  core(cpp_bandit_draw(bandit$handle, n, 1, row * arms, arms))
}

bandit_best <- function(bandit, context, ...) {
  check_dots_empty(..., allowed = "context")
  row <- context_rows(bandit, context)[1]
  posterior <- bandit_posterior(bandit, NULL, context)
  config <- bandit$config
  tie <- 1e-9 * prior_scale(bandit)
  arm <- which(posterior$mean >= max(posterior$mean) - tie)[1]
  frame <- data.frame(arm = arm, config$domain$x[arm, , drop = FALSE], check.names = FALSE)
  if (!is.null(config$contexts)) frame <- cbind(frame, config$contexts[row + 1L, , drop = FALSE])
  cbind(frame, mean = posterior$mean[arm], sd = posterior$sd[arm])
}

prior_scale <- function(bandit) {
  heal(bandit)
  cpp_bandit_facts(bandit$handle)$prior_scale
}

bandit_history <- function(bandit) {
  size <- table_size(bandit$queries)
  log <- table_columns(bandit$queries)
  frame <- query_frame(bandit, seq_len(size))
  cbind(frame, data.frame(reward = log$reward, mean = log$mean, sd = log$sd, width = log$width,
                          action = action_names[log$action], segment = log$segment))
}

bandit_reset <- function(bandit) {
  bandit$queries <- new_table(query_columns())
  bandit$events <- new_table(event_columns())
  bandit$handle <- NULL
  invisible(bandit)
}

bandit_copy <- function(bandit) {
  GPBandit$new(config = bandit$config, queries = table_copy(bandit$queries),
               events = table_copy(bandit$events), handle = NULL)
}
