# `compare_bandits()`. Layer: simulation.

#' Compare bandit algorithms over many replications
#'
#' `compare_bandits()` runs every bandit on the same simulated problems with the same noise, and records the regret.
#'
#' Each replication has its own random streams (L'Ecuyer-CMRG), derived from `seed`: one for the problem, one for noise,
#' delays and contexts, and one for the bandits' own draws. The results of a bandit therefore do not depend on the other
#' bandits, nor on the number of processes. Replications run in parallel through package future.apply if a
#' [future::plan()] is set, otherwise one after the other. The numbers are the same.
#'
#' @param bandits a named list of functions `function(problem)`, each of which returns a new bandit, or an agent; see
#'   *Agents*.
#' @param problems a `function(replication)` that returns the problem of that replication, or one [bandit_problem()] for
#'   all.
#' @param rounds number of rounds, an integer >= 1.
#' @param replications number of replications, an integer >= 1.
#' @param seed the random seed, an integer.
#' @param progress `TRUE`: a progress bar over the replications with an estimate of the time left, by package progressr
#'   if it has a handler. `FALSE`: none. `NULL` (default): a bar in interactive sessions, after two seconds.
#'   Replications in other processes need package progressr for it.
#' @param every keep every `every`-th round, and the last, to save memory: an integer >= 1. Sums and simple regrets
#'   still use all rounds. Default 1.
#' @return An object of class `bandit_comparison`:
#'
#' * `as.data.frame()` has a row per bandit, replication and round, with columns `bandit`, `replication`, `round`,
#'   `reward`, `f`, `regret`, `cumulative_regret`, `average_regret` (cumulative regret divided by the round),
#'   `simple_regret`, `period`, `segment`, `action` and, over arms, `arm`. [run_bandit()] defines them.
#' * `summary()` has mean and standard error over replications.
#' * `plot()` draws mean curves with bands of one standard error; see [bandit-plots].
#' @section Agents: An agent is a method from outside this package: any list, environment or object (R6, reference
#' class) with two functions.
#'
#' * `suggest()`, with contexts `suggest(context = )` of one row. It returns a list with `arm`, a number, or `x`, a
#'   point, and optionally an `id`.
#' * `observe(id, reward)`, with constraints also `constraints = `. It is called when the reward arrives, with the `id`
#'   of the suggestion, or by default its round.
#'
#' Agents have the same noise, delays and contexts as the bandits.
#' @section Errors: A `gpbandits_error` for an invalid argument, a bandit function that returns neither bandit nor
#'   agent, an agent that suggests no point, or a problem function that returns no problem.
#' @seealso [run_bandit()], [bandit-plots].
#' @concept simulation study
#' @concept benchmark
#' @concept cumulative regret
#' @concept algorithm comparison
#' @examples
#' x <- seq(0, 1, length.out = 100)
#' kernel <- kernel_se(0.2)
#' comparison <- compare_bandits(
#'   bandits = list(
#'     ucb = function(problem) gp_ucb(problem$domain, kernel, 0.025),
#'     uniform = function(problem) gp_bandit(problem$domain, kernel, 0.025, policy_uniform())
#'   ),
#'   problems = function(replication) {
#'     bandit_problem(x, sample_gp(kernel, x), noise = sqrt(0.025))
#'   },
#'   rounds = 50, replications = 4, seed = 1
#' )
#' summary(comparison)
#' @export
compare_bandits <- function(bandits, problems, rounds, replications, seed, progress = NULL,
                            every = 1) {
  check_bandit_makers(bandits)
  if (missing(problems)) {
    stop_missing("problems", "a function of the replication's number, or a bandit_problem()")
  }
  if (inherits(problems, "bandit_problem")) {
    fixed <- problems
    problems <- function(replication) fixed
  }
  check_function(problems)
  rounds <- check_count(rounds)
  replications <- check_count(replications)
  every <- check_count(every, upper = rounds)
  check_progress(progress)
  streams <- replication_seeds(seed, replications)
  started <- proc.time()[["elapsed"]]
  results <- spread_work(seq_len(replications), progress, function(r) {
    compare_one(bandits, problems, rounds, r, streams[[r]], every)
  }, user_functions = c(bandits, problems))
  structure(list(results = results, names = names(bandits), rounds = rounds,
                 replications = replications, seed = seed, every = every,
                 elapsed = proc.time()[["elapsed"]] - started),
            class = "bandit_comparison")
}

check_bandit_makers <- function(bandits) {
  allowed <- "a named list of functions of a problem, with distinct names"
  if (missing(bandits)) stop_missing("bandits", allowed)
  ok <- is.list(bandits) && length(bandits) > 0 && are_names(names(bandits)) &&
    all(vapply(bandits, is.function, logical(1)))
  if (!ok) stop_argument("bandits", describe(bandits), allowed)
}

# One replication: a list with one list of columns per bandit.
compare_one <- function(bandits, problems, rounds, replication, stream, every) {
  noise_stream <- parallel::nextRNGSubStream(stream)
  policy_stream <- parallel::nextRNGSubStream(noise_stream)
  where <- sprintf("in replication %d", replication)
  problem <- with_stream(stream, call_user(problems(replication), "problems", where))
  if (!inherits(problem, "bandit_problem")) {
    stop_returned("problems", problem, "a bandit_problem()", paste0(" ", where))
  }
  check_class(problem, "bandit_problem", "problems")
  draws <- with_stream(noise_stream, problem_draws(problem, rounds))
  kept <- unique(c(seq(every, rounds, by = every), rounds))
  lapply(stats::setNames(names(bandits), names(bandits)), function(name) {
    with_stream(policy_stream, {
      bandit <- call_user(bandits[[name]](problem), "bandits", sprintf("(%s) %s", name, where))
      data <- play_one(bandit, name, problem, rounds, draws)
    })
    lapply(data[intersect(comparison_columns(data), names(data))], `[`, kept)
  })
}

play_one <- function(bandit, name, problem, rounds, draws) {
  if (is_bandit(bandit)) {
    check_same_domain(bandit$config, problem)
    return(ledger_of(play(taken_over(bandit), problem, rounds, draws, progress = FALSE)))
  }
  if (is_agent(bandit)) return(play_agent(bandit, problem, rounds, draws, name))
  stop_argument("bandits", sprintf("a function `%s` that returned %s", name, describe(bandit)),
                "functions that return a bandit, or an agent with `$suggest()` and `$observe()`")
}

# A copy of the bandit in the same state, which takes over the core's object. A bandit that several replications share
# must start each of them in its original state.
taken_over <- function(bandit) {
  copy <- bandit$copy()
  copy$handle <- bandit$handle
  bandit$handle <- NULL
  copy
}

comparison_columns <- function(data) {
  c("arm", "reward", "f", "regret", "cumulative_regret", "simple_regret", "period", "optimum",
    "segment", "action", "phase", "hypervolume_regret", grep("^violation|^(cumulative|hard)_violation$|^kappa",
                                                             names(data), value = TRUE))
}

# lapply() through the user's future plan, if there is one. `user_functions`: the user's functions that `f` calls.
spread_work <- function(items, progress, f, user_functions = list()) {
  if (!user_has_plan()) return(with_bar(progress, length(items), function(bar) lapply(items, counted(f, bar))))
  # The package sets its own streams inside, so future must neither draw seeds nor warn that there are none.
  needs <- workspace_needs(user_functions)
  with_bar_across(progress, length(items), function(bar) {
    future.apply::future_lapply(items, counted(f, bar), future.seed = NULL, future.globals = needs$globals,
                                future.packages = c("gpbandits", needs$packages))
  })
}

# The workspace's objects that the user's functions need, and their packages. future would not search lists of
# functions, and would confuse the package's names with the user's.
workspace_needs <- function(functions) {
  found <- lapply(unname(functions), function(f) {
    future::getGlobalsAndPackages(quote(.user_function()),
                                  envir = list2env(list(.user_function = f), parent = globalenv()))
  })
  globals <- do.call(c, lapply(found, function(one) as.list(one$globals)))
  list(globals = globals[!duplicated(names(globals)) & names(globals) != ".user_function"],
       packages = unique(unlist(lapply(found, `[[`, "packages"))))
}

user_has_plan <- function() {
  isNamespaceLoaded("future") && has_package("future.apply") &&
    !inherits(future::plan(), "sequential")
}

comparison_entry <- list(settings = alist(
  results = check_results(results), names = check_names(names, "names"),
  rounds = check_count(rounds), replications = check_count(replications), every = check_count(every),
  elapsed = check_number(elapsed)
))

check_results <- function(results) {
  whole <- is.list(results) && length(results) > 0 && all(vapply(results, is.list, NA)) &&
    all(vapply(unlist(unname(results), recursive = FALSE), is.list, NA))
  if (!whole) stop_argument("results", describe(results), "a list of results for each replication")
  results
}

#' @export
as.data.frame.bandit_comparison <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_class(x, "bandit_comparison")
  kept <- kept_rounds(x)
  parts <- unlist(lapply(x$names, function(name) lapply(x$results, `[[`, name)), recursive = FALSE)
  columns <- unique(unlist(lapply(parts, names)))
  # The loop is over columns, because binding thousands of small data frames takes many seconds.
  values <- lapply(stats::setNames(columns, columns), function(column) {
    unlist(lapply(parts, function(part) if (is.null(part[[column]])) rep(NA, length(kept)) else part[[column]]))
  })
  out <- data.frame(bandit = factor(rep(x$names, each = x$replications * length(kept)), levels = x$names),
                    replication = rep(rep(seq_len(x$replications), each = length(kept)), length(x$names)),
                    round = kept, values)
  out$average_regret <- out$cumulative_regret / out$round
  out
}

kept_rounds <- function(x) unique(c(seq(x$every, x$rounds, by = x$every), x$rounds))

# A matrix of one column of one bandit: a row per round, a column per replication.
comparison_matrix <- function(x, name, column) {
  vapply(x$results, function(result) comparison_value(result[[name]], column, kept_rounds(x)),
         numeric(length(kept_rounds(x))))
}

comparison_value <- function(columns, column, rounds) {
  if (column == "average_regret") columns$cumulative_regret / rounds else as.double(columns[[column]])
}

register_family("bandit_comparison", comparison_entry, open = TRUE)
