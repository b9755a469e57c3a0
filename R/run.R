# `run_bandit()`: a bandit played on a problem. Layer: simulation.

#' Run a bandit on a simulated problem
#'
#' `run_bandit()` simulates a bandit algorithm for `rounds` rounds and records its regret.
#'
#' The true mean \eqn{f} is known, because the problem is simulated. The regret of round \eqn{t} is
#'
#' \deqn{r_t = f^*_t - f(x_t).}{r_t = f*_t - f(x_t).}
#'
#' Here \eqn{f^*_t}{f*_t} is the best true mean in the period and context of round \eqn{t}. With constraints, it is the
#' best true mean of the feasible points.
#'
#' The loop is compiled code. It changes the bandit itself, not a copy. An interrupt keeps the rounds that were played.
#'
#' @section Random numbers: Noise, delays and contexts of all rounds are drawn before the first choice, from R's
#' generator. With the same seed, every bandit therefore has the same ones. Delays that depend on the input are the same
#' at the same input in the same round.
#'
#' @section Delays: A delay of \eqn{d} makes the reward of round \eqn{s} usable from round \eqn{t} on if and only if
#' \eqn{d \le t - s}{d <= t - s}. Rewards that have not arrived at the end of the run stay pending.
#'
#' @section Bandits in a store: A bandit in a [bandit_store()] makes each round in transactions, and other processes can
#' use it at the same time. The rows of the result are the rounds of this run, and `id` gives their queries. Their
#' leases do not end. The run ends early if the store's budget is spent.
#'
#' @param bandit a [GPBandit], or a [baseline under constraints][baseline_constrained()]. It is changed itself, and may
#'   already have observations.
#' @param problem a [bandit_problem()] over the same domain.
#' @param rounds number of rounds, an integer >= 1.
#' @param progress `TRUE`: a progress bar with an estimate of the time left, by package progressr if it has a handler.
#'   `FALSE`: none. `NULL` (default): a bar in interactive sessions, after two seconds.
#' @param stop_when a [stopping rule][stopping], or a function of the bandit that returns `TRUE` to stop; used after
#'   every round. Algorithms with several posteriors (baselines, [safe_opt()], [gp_ucb_lengthscale()], ...) take
#'   [stop_stalled()] or a function. `NULL` (default): no rule.
#' @return `run_bandit()` returns an object of class `bandit_run`. Its element `rounds` is the number of rounds played.
#' `as.data.frame()` of it has one row per round, with
#'
#' * the columns of the bandit's history, including `propensity`;
#' * `f`: the true mean;
#' * `regret`, `cumulative_regret`;
#' * `simple_regret`: see *Simple regret*;
#' * `period`, `optimum`: the problem's period, and its best true mean;
#' * `violation1`, ... (with constraints): the true constraint values, with sign;
#' * `cumulative_violation` (with constraints): the soft violation \eqn{\|[\sum_s g(x_s)]_+\|}{|| max(sum_s g(x_s), 0)
#'   ||}, in which rounds can compensate for others;
#' * `hard_violation` (with constraints): \eqn{\sum_s\sum_j\max(g_j(x_s), 0)}{the sum of max(g_j(x_s), 0) over rounds
#'   and constraints}, in which nothing is compensated.
#' @section Simple regret: `simple_regret` in round \eqn{t} is the smallest regret among the queries whose reward has
#' been observed by then: those with \eqn{s + d_s \le t}{s + d_s <= t}. With [pending_censor()] also \eqn{d_s \le m}{d_s
#' <= m} must hold, because a reward that takes longer is lost. It is `NA` before the first reward.
#' @section Several outcomes: With one objective among several [outcomes], each `violation` is the amount by which a
#' limit is exceeded; the limit holds if it is at most 0. `simple_regret` uses only queries that satisfy all limits.
#'
#' With several objectives, `f` is the hypervolume of the true values that were played and observed so far and satisfy
#' all limits. `regret` is its difference from the hypervolume of the true Pareto front, and so are `hypervolume_regret`
#' and `simple_regret`.
#' @section Errors: A `gpbandits_error` if an argument has the wrong class, or the two domains differ.
#' @seealso [compare_bandits()], [regret_bound()], [plot()][bandit-plots].
#' @concept simulation
#' @concept cumulative regret
#' @concept simple regret
#' @concept regret analysis
#' @examples
#' x <- seq(0, 1, length.out = 200)
#' problem <- bandit_problem(x, sin(6 * x), noise = 0.1)
#' set.seed(1)
#' run <- run_bandit(gp_ucb(x, kernel_se(0.2), noise_var = 0.01), problem, rounds = 100)
#' run
#' tail(as.data.frame(run))
#' @export
run_bandit <- function(bandit, problem, rounds, progress = NULL, stop_when = NULL) {
  check_bandit(bandit)
  check_class(problem, "bandit_problem", hint = "bandit_problem()")
  rounds <- check_count(rounds)
  check_progress(progress)
  check_same_domain(bandit$config, problem)
  stop_when <- check_stop(stop_when)
  check_stop_in_run(stop_when, bandit$config)
  check_idle(bandit)
  check_run_rewards(bandit$config)
  play(bandit, problem, rounds, problem_draws(problem, rounds), progress, stop_when)
}


check_same_domain <- function(config, problem) {
  own <- config$domain
  theirs <- problem$domain
  if (!same_points(own, theirs)) {
    stop_argument("problem", paste("a problem over", describe_domain(theirs)),
                  paste("a problem over the bandit's own domain,", describe_domain(own)))
  }
  if (!same_names(theirs$names, own$names)) {
    stop_argument("problem", paste("a problem with the inputs", quoted(theirs$names)),
                  paste("a problem with the bandit's inputs, in their order:", quoted(own$names)))
  }
  if (!constraint_count(config) %in% c(0, problem$constraint_count)) {
    stop_argument("problem", paste("a problem with", amount_of(problem$constraint_count, "constraint")),
                  sprintf("a problem with %s, like the bandit's", amount_of(constraint_count(config), "constraint")))
  }
  if (!is.null(problem$outcomes)) check_same_outcomes(config, problem)
  else if (!outcome_count(config) %in% c(1, 1 + problem$constraint_count)) {
    stop_argument("problem", paste("a problem with", amount_of(problem$constraint_count, "constraint")),
                  sprintf("a problem whose constraints are the bandit's %s, in their order (%s)",
                          amount_of(outcome_count(config) - 1L, "further outcome"),
                          paste(outcome_names(config)[-1], collapse = ", ")))
  }
  if (length(config$context_names) != length(problem$context_names)) {
    stop_argument("problem", paste("a problem with contexts of", amount_of(length(problem$context_names), "value")),
                  sprintf("a problem with contexts of %s, like the bandit's",
                          amount_of(length(config$context_names), "value")))
  }
  if (!same_names(problem$context_names, config$context_names)) {
    stop_argument("problem", paste("a problem with the contexts", quoted(problem$context_names)),
                  paste("a problem with the bandit's contexts, in their order:", quoted(config$context_names)))
  }
}

# `draws`: all random numbers of the environment, see problem_draws().
play <- function(object, problem, rounds, draws, progress, stop_when = NULL) {
  force(draws)
  bandit <- frame_of(object)
  first <- table_size(bandit$queries)
  optimum <- problem_optimum(problem, rounds, draws$contexts)
  contexts <- problem_contexts(bandit, problem, draws$contexts, rounds)
  if (!is.null(problem$context_space)) {
    # (From here on, the numbers of levels are the bandit's.)
    draws$contexts <- context_matrix(bandit$config, users_contexts(problem, draws$contexts))
    problem$context_space <- bandit$config$context_space
  }
  stops <- if (!is.null(stop_when)) function() time_to_stop(stop_when, bandit, object)
  outcome <- with_bar(progress, rounds, function(bar) {
    done <- 0
    # (The core reports how many rounds of the run are finished.)
    report <- if (!is.null(bar)) function(now) {
      bar(now - done)
      done <<- now
    }
    played <- if (is_stored(bandit)) {
      play_in(bandit, problem, rounds, draws, report, stops)
    } else if (!is.null(problem$outcomes)) {
      play_outcomes(bandit, problem, rounds, draws, contexts, report, stops)
    } else {
      kind_of(bandit)$play(bandit, problem, rounds, draws, contexts, report, stops)
    }
    if (!is.null(report)) report(rounds)
    played
  })
  ids <- or_else(outcome$ids, first + seq_along(outcome$f))
  optimum <- optimum[seq_along(outcome$f)]
  new_run(object, problem, ids, if (is.null(problem$outcomes)) run_ledger(outcome, optimum)
                                else ledger_of_outcomes(outcome, problem, optimum))
}

# By round: the true mean `f`, the true constraint values `violation` (a column each), and `known`, the round of the run
# from which the reward is observed (NaN: never). `stops`: a function that is called after each round, unless it is
# NULL.
play_in_core <- function(bandit, problem, rounds, draws, contexts, report, stops) {
  rebuild(bandit)
  truth <- problem_as_truth(bandit, problem, rounds)
  core_draws <- list(noise = draws$noise, delay = draws$delay, contexts = contexts,
                     constraint_noise = draws$constraint_noise,
                     delay_at = delays_at_queries(bandit$config, problem, draws))
  # However the loop ends, the rounds that were played are written to the log.
  handle <- bandit$handle
  playing <- FALSE
  on.exit(if (playing) sync_log(bandit, handle, keep = FALSE))
  run <- cpp_run_new(handle, truth, core_draws)
  left <- rounds
  while (left > 0) {
    if (is_refit_due(bandit, 1) && design_left(bandit, contexts, certain = TRUE) == 0) {
      # As with suggest() and observe(): rewards that are due are recorded before the next query.
      playing <- TRUE
      cpp_run_receive(run)
      sync_log(bandit, handle)
      playing <- FALSE
      refit_if_due(bandit)
    }
    # A journal records each round before the next one is played.
    most <- min(left, if (!is_kept(bandit) && is.null(stops)) Inf else 1)
    designed <- min(most, design_left(bandit, contexts))
    stretch <- if (designed > 0) designed else min(most, rounds_to_refit(bandit))
    playing <- TRUE
    if (designed > 0) cpp_run_play_at(run, next_of_design(bandit, contexts, rounds - left + seq_len(stretch)))
    else cpp_run_play(run, stretch, report)
    sync_log(bandit, handle)
    playing <- FALSE
    left <- left - stretch
    # (Rules and functions find the rewards in their units, as after `$observe()`.)
    if (!is.null(stops)) rescale_if_due(bandit)
    if (!is.null(stops) && stops()) break
  }
  rescale_if_due(bandit)
  cpp_run_outcome(run)
}

# The regret log of a run. Row t of the simple regret is over the queries whose reward is observed by round t.
run_ledger <- function(outcome, optimum) {
  regret <- optimum - outcome$f
  best <- rep(Inf, length(regret))
  known <- which(outcome$known <= length(regret))
  # Of the rewards that arrive in the same round, the smallest regret is written last.
  known <- known[order(regret[known], decreasing = TRUE)]
  best[outcome$known[known]] <- regret[known]
  simple <- cummin(best)
  list(f = outcome$f, regret = regret, cumulative_regret = cumsum(regret),
       simple_regret = ifelse(simple < Inf, simple, NA_real_), optimum = optimum,
       violation = outcome$violation, cumulative_violation = cumulative_violation(outcome$violation),
       hard_violation = if (ncol(outcome$violation)) cumsum(rowSums(pmax(outcome$violation, 0))))
}

# The norm of the positive part of the summed constraints.
cumulative_violation <- function(g) {
  if (ncol(g) == 0) return(NULL)
  summed <- vapply(seq_len(ncol(g)), function(j) cumsum(g[, j]), numeric(nrow(g)))
  sqrt(rowSums(matrix(pmax(summed, 0), nrow(g))^2))
}

# The problem's contexts in the bandit's form.
problem_contexts <- function(bandit, problem, contexts, rounds) {
  tryCatch(contexts_for(bandit, if (is.null(problem$context_space)) unname(contexts)
                                 else users_contexts(problem, contexts), rounds), gpbandits_error = function(e) {
    stop_argument("problem", paste("a problem with a context of", e$given),
                  "a problem whose contexts are all among the bandit's")
  })
}

# The true functions in the form that the core expects: a table if all points are given in advance, otherwise functions
# of a point's number and its inputs with the context.
problem_as_truth <- function(bandit, problem, rounds) {
  if (is_tabulated_space(bandit$config)) {
    return(c(truth_tables(bandit, problem), list(period = problem_period(problem, rounds) - 1L)))
  }
  domain <- problem$domain
  d <- length(model_names(domain))
  point <- function(arm, x) list(arm = arm, inputs = matrix(x[seq_len(d)], 1))
  context <- function(x) if (has_contexts(problem)) matrix(x[d + seq_along(problem$context_names)], 1)
  list(
    f = function(arm, x, round) problem_truth(problem, point(arm, x), round, context(x)),
    g = if (problem$constraint_count > 0) function(arm, x) {
      as.double(problem_constraints(problem, point(arm, x), context(x)))
    }
  )
}

# A function that the core calls for the delay of a query, if delays depend on the input. Its arguments are the point's
# number (points of all contexts numbered consecutively) and the inputs.
delays_at_queries <- function(config, problem, draws) {
  if (!depends_on_input(problem$delay)) return(NULL)
  known <- if (is_tabulated_space(config)) all_points(problem$domain)
  d <- length(model_names(problem$domain))
  function(arm, x, round) {
    point <- if (is.null(known)) list(arm = arm, inputs = matrix(x[seq_len(d)], 1))
             else subset_points(known, arm %% point_total(known) + 1L)
    inputs <- problem_inputs(problem, point, draws$contexts[round, , drop = FALSE])
    delay_of_query(problem$delay, inputs, draws$delay_seeds[round])
  }
}

# The true mean at each point, one column per period, and the true constraint values.
truth_tables <- function(bandit, problem) {
  contexts <- bandit$config$contexts
  points <- all_points(problem$domain)
  n <- point_total(points)
  each <- rep(seq_len(n), max(1L, nrow(contexts)))
  points <- subset_points(points, each)
  contexts <- if (!is.null(contexts)) contexts[rep(seq_len(nrow(contexts)), each = n), , drop = FALSE]
  last_rounds <- c(problem$change_points, Inf)
  values <- vapply(last_rounds, function(round) problem_truth(problem, points, round, contexts), numeric(length(each)))
  list(table = matrix(values, length(each)), constraints = problem_constraints(problem, points, contexts))
}

new_run <- function(bandit, problem, ids, ledger) {
  rounds <- length(ids)
  data <- bandit_history(bandit, ids)
  violations <- lapply(seq_len(ncol(ledger$violation)), function(j) ledger$violation[, j])
  own <- c(ledger[c("f", "regret", "cumulative_regret", "simple_regret")],
            list(period = problem_period(problem, rounds), optimum = ledger$optimum),
            stats::setNames(violations, paste0(rep("violation", length(violations)), seq_along(violations))),
            if (length(violations)) ledger[c("cumulative_violation", "hard_violation")], ledger["hypervolume_regret"])
  own <- own[!vapply(own, is.null, NA)]
  data[beside(names(own), names_in_run(bandit$config))] <- own
  structure(list(data = data, bandit = bandit, problem = problem, rounds = rounds),
            class = "bandit_run")
}

# The user's columns in a run: inputs, contexts, and named outcomes.
names_in_run <- function(config) c(given_names(config), setdiff(outcome_names(config), "reward"))

# The regret log of a run under the package's names, without inputs.
ledger_of <- function(run) own_columns(run$data, names_in_run(run$bandit$config))

run_entry <- list(settings = alist(
  data = check_data_frame(data), bandit = check_bandit(bandit), problem = check_class(problem, "bandit_problem"),
  rounds = check_count(rounds, lower = 0)
))

#' @rdname run_bandit
#' @param x a `bandit_run`.
#' @param row.names,optional not used.
#' @param draws number of draws for the column `propensity` of randomised bandits, as in `$history()`, see
#'   [bandit-history]. `NULL` (default) or 0: none; propensities that need draws are then `NA`.
#' @param ... not used.
#' @export
as.data.frame.bandit_run <- function(x, row.names = NULL, optional = FALSE, draws = NULL, ...) {
  check_class(x, "bandit_run")
  with_propensity(x$data, x$bandit, draws)
}

# The rewards of a problem are the values of its function plus noise.
check_run_rewards <- function(config) {
  if (uses_noise_var(config)) return(invisible())
  stop_argument("bandit", paste("one whose rewards are", trait(config$rewards, "title")),
                "one whose rewards are measurements of a function",
                try = "`$suggest()` and `$observe()` for other rewards")
}

# The same as play_in_core(), round by round in R.
play_by_rule <- function(bandit, problem, rounds, draws, contexts, report, stops = NULL) {
  first <- table_size(bandit$queries)
  play_in_rounds(problem, rounds, draws, report = report, stops = stops, ask = function(t) {
    ask(bandit, subset_contexts(contexts, t), NA_real_)
    logged_points(bandit, first + t)
  }, record = function(which, reward, g) {
    record(bandit, "reward", first + which, reward, g[, seq_len(constraint_count(bandit$config)), drop = FALSE])
  })
}

# ask(t) returns a point with its `contexts`, or NULL to stop. The function record(which, reward, g) is called with the
# rewards of earlier rounds when they arrive; with several outcomes, `reward` is a matrix. `stops` is called after each
# round, unless it is NULL.
play_in_rounds <- function(problem, rounds, draws, ask, record, report = NULL, stops = NULL) {
  due <- vector("list", rounds)
  f <- known <- rep(NaN, rounds)
  g <- matrix(0, rounds, problem$constraint_count)
  values <- if (!is.null(problem$outcomes)) matrix(0, rounds, length(problem$outcomes),
                                                   dimnames = list(NULL, names(problem$outcomes)))
  arrive <- function(which, now) {
    if (length(which) == 0) return()
    reported <- if (is.null(values)) f[which] + draws$noise[which]
            else values[which, , drop = FALSE] + draws$outcome_noise[which, , drop = FALSE]
    record(which, reported, g[which, , drop = FALSE] + draws$constraint_noise[which, , drop = FALSE])
    known[which] <<- now
  }
  for (t in seq_len(rounds)) {
    arrive(due[[t]], t)
    point <- ask(t)
    if (is.null(point)) {
      t <- t - 1
      break
    }
    f[t] <- problem_truth(problem, point, t, point$contexts)
    if (ncol(g)) g[t, ] <- problem_constraints(problem, point, point$contexts)
    if (!is.null(values)) values[t, ] <- problem_outcomes(problem, point, point$contexts)
    arrival <- ceiling(t + delay_at_point(problem, point, draws, t))
    if (arrival == t) arrive(t, t)
    else if (arrival <= rounds) due[[arrival]] <- c(due[[arrival]], t)
    if (!is.null(report)) report(t)
    if (!is.null(stops) && stops()) break
  }
  played <- seq_len(t)
  list(f = f[played], violation = g[played, , drop = FALSE], known = known[played],
       values = if (!is.null(values)) values[played, , drop = FALSE])
}

delay_at_point <- function(problem, point, draws, t) {
  if (!depends_on_input(problem$delay)) return(draws$delay[t])
  delay_of_query(problem$delay, problem_inputs(problem, point, point$contexts), draws$delay_seeds[t])
}

# Round by round, because the compiled loop supports rewards and constraints only.
play_outcomes <- function(bandit, problem, rounds, draws, contexts, report, stops) {
  ids <- integer()
  play_in_rounds(problem, rounds, draws, report = report, stops = stops, ask = function(t) {
    context <- if (!is.null(draws$contexts)) users_contexts(problem, draws$contexts[t, , drop = FALSE])
    query <- bandit_suggest(bandit, 1, context, NULL, NULL)
    ids[t] <<- query$id
    logged_points(bandit, query$id)
  }, record = function(which, values, g) {
    bandit_observe(bandit, data.frame(id = ids[which], values, check.names = FALSE), constraints = NULL, time = NULL,
                   noise_var = NULL)
  })
}

# With one objective, rounds that violate a limit do not count for the simple regret.
ledger_of_outcomes <- function(outcome, problem, optimum) {
  kept <- if (ncol(outcome$violation)) rowSums(outcome$violation > 0) == 0 else rep(TRUE, length(outcome$f))
  wanted <- which(vapply(problem$outcomes, trait, NA, "objective"))
  if (length(wanted) == 1) {
    ledger <- run_ledger(outcome, optimum)
    hidden <- outcome
    hidden$known[!kept] <- NaN
    ledger$simple_regret <- run_ledger(hidden, optimum)$simple_regret
    return(ledger)
  }
  signs <- vapply(problem$outcomes[wanted], trait, 0, "sense")
  values <- outcome$values[, wanted, drop = FALSE] * rep(signs, each = nrow(outcome$values))
  outcome$f <- vapply(seq_along(outcome$f), function(t) {
    known <- which(kept & outcome$known <= t)
    front <- values[known, , drop = FALSE]
    cpp_hypervolume(front[is_nondominated(front), , drop = FALSE], problem$reference)
  }, 0)
  ledger <- run_ledger(outcome, optimum)
  ledger$simple_regret <- ledger$hypervolume_regret <- ledger$regret
  ledger
}

register_family("bandit_run", run_entry, open = TRUE)

register_bandit_kind("core", play = play_in_core)
register_bandit_kind("script", play = play_by_rule)
