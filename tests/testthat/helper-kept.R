# What is kept of each release (tools/keep_files.R writes it, test-compatibility.R reads it). A kind is never changed
# once a release has written it; new ones are added.

kept_kinds <- list(
  arms = list(make = function(...) gp_ucb(1:6 / 6, kernel_se(0.3), 0.1, ...)),
  labelled = list(make = function(...) {
    gp_ucb(data.frame(a = c(1, 2, 4), row.names = c("one", "two", "four")), kernel_matern(1.5, 2), 0.1, pending = pending_hallucinate(), ...)
  }),
  box = list(make = function(...) {
    gp_ucb(list(u = c(0, 2), v = c(-1, 1)), kernel_matern(2.5, c(0.5, 1)), 0.1, width = width_constant(2), ...)
  }),
  space = list(make = function(...) {
    space <- search_space(dose = param_real(0.01, 1, log = TRUE), n = param_integer(1, 4), rule = param_factor(c("a", "b")))
    gp_ucb(space, kernel_se(1, dims = "dose") + kernel_se(2, dims = "n") + kernel_categorical(0.5, dims = "rule"), 0.1,
           width = width_constant(2), ...)
  }),
  contexts = list(make = function(...) gp_ucb(1:4 / 4, kernel_se(c(0.3, 1)), 0.1, contexts = "age", ...), question = list(context = 0.5)),
  constraints = list(make = function(...) gp_ucb(1:4 / 4, kernel_se(0.3), 0.1, constraints = constraints_noisy(1, 3, 0.5), ...),
                     constraint = -0.25),
  thompson = list(make = function(...) gp_bandit(1:6 / 6, kernel_se(0.3), 0.1, policy_ts(width_constant(1)), ...)),
  drift = list(make = function(...) gp_ucb_drift(1:6 / 6, kernel_se(0.3), 0.1, forget = change_oracle(window = 4), ...)),
  scaled = list(make = function(...) gp_ei(1:6 / 6, kernel_se(0.3), 0.1, outputs = scale_outputs(direction = "minimize"), ...)),
  refits = list(make = function(...) gp_ucb(1:6 / 6, kernel_se(0.3), 0.1, refit = refit_every(3, mean = "fit"), ...)),
  replicates = list(make = function(...) gp_ucb(1:6 / 6, kernel_se(0.3), 0.1, ...), record = function(value) c(value, value + 0.5)),
  outcomes = list(make = function(...) {
    gp_bandit(1:6 / 6, kernel_se(0.3), 0.1, policy_ei(), outcomes = list(yield = to_maximize(), impurity = at_most(1)), ...)
  }, record = function(value) c(yield = value, impurity = 0.5 + value / 4)),
  binary = list(make = function(...) gp_bandit(1:6 / 6, kernel_se(0.3), policy = policy_ucb(width_constant(1)), rewards = rewards_binary(), ...),
                record = function(value) as.double(value > 0.5))
)

kept_record <- function(bandit, kind, query) {
  value <- kept_reward(kind, query)
  record <- kept_kinds[[kind]]$record
  bandit$observe(query$id, if (is.null(record)) value else record(value), constraints = kept_constraint(kind))
}

kept_question <- function(kind) as.list(kept_kinds[[kind]]$question)
kept_constraint <- function(kind) kept_kinds[[kind]]$constraint

# A reward that depends on the point and the round, in any domain.
kept_reward <- function(kind, query) {
  numbers <- Filter(is.numeric, query[setdiff(names(query), c("id", "arm", "token", "attempt"))])
  round(sin(3 * sum(unlist(numbers))), 3) + query$id / 100
}

# Plain data that can be compared: the log, the posterior at some points, the next choice.
kept_facts <- function(bandit, kind) {
  history <- as.list(bandit$history())
  inputs <- intersect(bandit$config$domain$names, names(history))
  points <- as.data.frame(history[inputs], optional = TRUE)
  points <- points[history$status == "observed", , drop = FALSE]
  row.names(points) <- NULL
  set.seed(9)
  copy <- if (is.null(bandit$journal)) bandit$copy() else NULL
  list(history = lapply(history, function(x) if (is.factor(x)) as.character(x) else x),
       posterior = as.list(do.call(bandit$posterior, c(list(points), kept_question(kind)))),
       next_choice = if (!is.null(copy)) as.list(do.call(copy$suggest, kept_question(kind))))
}
