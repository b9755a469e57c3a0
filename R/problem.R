# `bandit_problem()`. Layer: simulation.

#' A bandit problem whose truth is known
#'
#' The environment that [run_bandit()] plays against: true means, noise, delays,
#' changes over time, constraints and contexts. Rewards are maximised.
#'
#' Round t's reward is f(x_t, z_t) + noise, where f is the mean of the period
#' that t lies in and z_t the round's context, if there are contexts. The input
#' matrix that functions get has one row per point and one named column per
#' input: the domain's inputs first, then the contexts. Over a [search_space()] it is a data.frame with types.
#'
#' **Reward.** On a finite domain without contexts: a vector of `n` true means,
#' or an `n` x K matrix with one column per period, or a vectorised function
#' (or list of K of them), which is evaluated at the arms once and stored as
#' numbers. On a box, or with contexts: a vectorised function, or a list of K
#' functions, one per period.
#'
#' **Optimum.** Regret is measured against the best true mean of the round's
#' period, in the round's context, among the points whose constraints all hold.
#' On a finite domain that is computed exactly. On a box it is *searched
#' numerically* (logarithmic inputs on their scale, whole numbers only where the
#' box says so): 1000 `d` (at most 10,000) quasi-random points, then a quasi-Newton
#' search (L-BFGS-B, under constraints within an augmented Lagrangian) from up
#' to twenty of the best of them that are far apart, then a closer look around the
#' best point found; on a product all this in every row's box. This is deterministic and uses no random numbers,
#' but nothing proves that the best maximum was found: peaks much narrower than
#' the candidates' spacing can be missed. State `optimum` where you know it. A
#' constraint counts as met in this search up to 1e-8 of the largest value it
#' takes. With contexts the search is repeated for every distinct context.
#'
#' **Noise.** Noise is independent over the rounds. A number `sd` is N(0, `sd`^2), which is sub-Gaussian with R =
#' `sd`. Anything else is a function: `function(n) runif(n, -a, a)` is uniform and sub-Gaussian with R = `a /
#' sqrt(3)`; `function(n) 0.1 * rt(n, df = 5)` has heavy tails. The function is called once for a run, with the number
#' of rounds.
#'
#' **Delays.** A delay d makes the reward of round s usable when round t's query is chosen if and only if d <= t - s.
#' So a delay of 0 or 1 means "before the next query". A function returns integers >= 0, where `Inf` means that the
#' reward is never observed:
#' - `function(n) rpois(n, 10)`: Poisson with mean 10.
#' - `function(n) rgeom(n, 1 / (1 + 10))`: geometric with mean 10.
#' - `function(n) ifelse(seq_len(n) %% 5 == 0, Inf, 1)`: every fifth reward is lost.
#' - `function(n, x) rpois(n, 10 * x[, 1])`: depends on the input. A function with a second argument without a default
#'   is called in every round with `n = 1` and the query, a matrix of one row with named columns (actions, then
#'   contexts).
#'
#' Verma et al. (2022, Section 3.3) allow delays that depend on the input. Their bounds hold with the smallest
#' \eqn{P(d_t \le m)} over the inputs for \eqn{\rho_m}{rho_m}.
#'
#' **Random numbers.** Everything random of the environment is drawn before a run, in a fixed order (noise, delays,
#' constraint noise, contexts), so with one seed every bandit meets the same noise in the same round. Delays that
#' depend on the input are drawn with their query, from random numbers that belong to the round: two bandits that play
#' the same point in the same round meet the same delay.
#'
#' @param domain a [finite_domain()], [box_domain()], [product_domain()] or [search_space()], or what may be
#'   written in place of one.
#' @param reward the true means; see *Reward*.
#' @param noise noise on the reward: the standard deviation of Gaussian noise, a number >= 0 in the reward's units, or a
#'   function of a count `n` that returns `n` finite numbers. Default 0: none. See *Noise*.
#' @param delay delays in rounds: an integer >= 0 for all, or a function of a count `n` that returns `n` of them, or a
#'   function of `n` and the input. `NULL` (default): none. See *Delays*.
#' @param change_points increasing whole numbers, the last round of each period
#'   but the last: K - 1 of them for K periods.
#' @param constraints true constraint values: an `n` x m matrix (vector for m = 1)
#'   over the arms, or a vectorised function of the input matrix that returns a
#'   vector (m = 1) or a matrix with m columns. A point is feasible if every
#'   value is <= 0. They do not change over time.
#' @param constraint_noise noise on the observed constraints: as `noise`,
#'   used (independently) for each, or a list of m. `NULL` (default): none.
#' @param contexts the sequence of contexts: a matrix with one row per round
#'   (used again from its first row when the rounds outnumber its rows) and one
#'   column per context input, or a function of the number of rounds that returns
#'   such a matrix, which may draw random numbers. Columns are named `z1..` if
#'   they have no names.
#' @param optimum the true best value: one number, one per period, or, with
#'   contexts, a function of the context matrix that returns the best value in
#'   each row's context (with changes: a list of K such functions). `NULL`: see
#'   *Optimum*.
#' @param outcomes `NULL`, or what each outcome is for, see [outcomes]: then `reward` has a truth for each (a named list
#'   of functions of the input matrix or, over arms, of numbers; a data.frame of columns, or one function that returns
#'   it), and `noise` is one for all (independent) or a named list. Regret is against the best value of the objective
#'   among the points where all limits hold (turned so that large is good), violations are what limits are exceeded by.
#'   Without `change_points` and `constraints`. [run_bandit()] plays such problems in R, round by round, with bandits of
#'   the same outcomes.
#' @param reference with several objectives: the reference point of the hypervolume, a number for each; `NULL`: the
#'   worst values on the true front less a tenth of their range. `optimum` is then the hypervolume of the true front;
#'   `NULL`: of all arms or, elsewhere, of 5000 points spread over the domain (a run may do better).
#' @return An object of class `bandit_problem` (a list).
#' @section Errors: a `gpbandits_error` if sizes contradict each other (means and
#'   arms, columns and periods, noise and constraints), noise or a delay is negative, change points do not
#'   increase, a function is not vectorised or returns values that are not
#'   finite, or no point is feasible.
#' @seealso [run_bandit()], [compare_bandits()], [sample_gp()], [sample_rkhs()],
#'   [benchmark_function()].
#' @references Verma, A., Dai, Z. and Low, B. K. H. (2022). Bayesian optimization
#'   under stochastic delayed feedback. *ICML*.
#' @examples
#' # three arms, two periods: the best arm changes after round 50
#' bandit_problem(1:3, reward = cbind(c(0, 1, 2), c(2, 1, 0)), change_points = 50,
#'                noise = 0.1, delay = function(n) rpois(n, 3))
#' branin <- benchmark_function("branin")
#' bandit_problem(branin$domain, branin$f, optimum = branin$optimum)
#' @export
bandit_problem <- function(domain, reward, noise = 0, delay = NULL,
                           change_points = NULL, constraints = NULL, constraint_noise = NULL,
                           contexts = NULL, optimum = NULL, outcomes = NULL, reference = NULL) {
  domain <- as_domain(domain)
  if (missing(reward)) stop_argument("reward", "missing", "the true means or a function")
  if (is.null(outcomes) && !is.null(reference)) stop_argument("reference", describe(reference),
                                                              "NULL without `outcomes`")
  if (is.null(outcomes)) noise <- as_noise(noise)
  delay <- as_delay(delay)
  problem <- structure(list(domain = domain, noise = noise, delay = delay),
                       class = "bandit_problem")
  problem$change_points <- check_change_points(change_points)
  problem$periods <- length(problem$change_points) + 1
  problem <- set_contexts(problem, contexts)
  if (!is.null(outcomes)) {
    for (arg in c("change_points", "constraints", "constraint_noise")) {
      if (!is.null(get(arg))) stop_argument(arg, "given together with `outcomes`", "NULL where `outcomes` has limits")
    }
    return(set_outcomes(problem, outcomes, reward, noise, optimum, reference))
  }
  problem <- set_reward(problem, reward)
  problem <- set_constraints(problem, constraints, constraint_noise)
  set_optimum(problem, optimum)
}

problem_entry <- list(settings = alist(
  domain = check_domain(domain, "domain"), noise = check_class(noise, "bandit_noise"),
  delay = if (!is.null(delay)) check_class(delay, "bandit_delay"), change_points = check_change_points(change_points),
  context_names = if (length(context_names)) check_names(context_names, "context_names"),
  periods = check_count(periods), constraint_count = check_count(constraint_count, lower = 0)
))

# Where a problem has them, its tables and best values go with its places and periods.
problem_tables <- alist(
  reward_values = if (!is.null(reward_values)) check_reward_values(reward_values, place_count(domain), periods),
  constraint_values = if (!is.null(constraint_values)) {
    check_matrix(constraint_values, "constraint_values", rows = place_count(domain), columns = constraint_count)
  },
  optimum = if (!is.null(optimum) && !is.list(optimum)) check_numbers(optimum, "optimum", lengths = periods)
)

# --- Parts of the constructor -------------------------------------------------

check_change_points <- function(change_points) {
  if (is.null(change_points)) return(numeric())
  allowed <- "increasing whole numbers >= 1"
  if (!is_number(change_points) || anyNA(change_points) || any(!is.finite(change_points)) ||
      any(change_points != round(change_points)) || any(change_points < 1) ||
      is.unsorted(change_points, strictly = TRUE)) {
    stop_argument("change_points", describe(change_points), allowed)
  }
  as.double(change_points)
}

set_contexts <- function(problem, contexts) {
  problem$contexts <- NULL
  problem$context_names <- character()
  if (is.null(contexts)) return(problem)
  # A function is asked for two rounds to learn its columns; this draws nothing
  # from the user's random numbers.
  seen <- if (is.function(contexts)) preserve_rng(call_user(contexts(2), "contexts", "for 2 rounds")) else contexts
  seen <- check_matrix(seen, "contexts", rows = if (is.function(contexts)) 2)
  if (nrow(seen) < 1 || ncol(seen) < 1) stop_argument("contexts", describe(seen), "at least one row and one column")
  names <- if (is.null(colnames(seen))) paste0("z", seq_len(ncol(seen))) else colnames(seen)
  both <- check_input_names(c(problem$domain$names, names),
                            length(problem$domain$names) + ncol(seen), "contexts")
  problem$context_names <- utils::tail(both, ncol(seen))
  colnames(seen) <- problem$context_names
  problem$contexts <- if (is.function(contexts)) contexts else seen
  problem
}

# --- What a run asks of a problem ----------------------------------------------

# Everything random of `rounds` rounds, drawn up front and in this order: with
# one seed every bandit meets the same noise.
problem_draws <- function(problem, rounds) {
  noise <- draw_noise(problem$noise, rounds)
  at_query <- depends_on_input(problem$delay)
  delay <- if (at_query) numeric() else draw_delay(problem$delay, rounds)
  constraint_noise <- matrix(0, rounds, problem$constraint_count)
  for (j in seq_len(problem$constraint_count)) {
    constraint_noise[, j] <- draw_noise(problem$constraint_noise[[j]], rounds)
  }
  outcome_noise <- lapply(problem$outcome_noise[-1], draw_noise, rounds)
  list(noise = noise, delay = delay, constraint_noise = constraint_noise,
       contexts = draw_contexts(problem, rounds),
       delay_seeds = if (at_query) sample.int(.Machine$integer.max, rounds, replace = TRUE),
       outcome_noise = if (!is.null(problem$outcomes)) do.call(cbind, c(list(noise), outcome_noise)))
}

#' @export
print.bandit_problem <- function(x, ...) {
  check_class(x, "bandit_problem")
  print(x$domain)
  cat("<bandit problem>\n")
  line <- function(label, text) cat(sprintf("  %-12s %s\n", label, text))
  if (!is.null(x$outcomes)) line("outcomes", paste(names(x$outcomes), vapply(x$outcomes, trait, "", "title"),
                                                   collapse = ", "))
  line("noise", distribution_words(x$noise))
  if (!is.null(x$delay)) line("delay", distribution_words(x$delay))
  if (x$periods > 1) line("periods", sprintf("%d, changes after rounds %s", as.integer(x$periods),
                                             paste(x$change_points, collapse = ", ")))
  if (x$constraint_count > 0) line("constraints", x$constraint_count)
  if (has_contexts(x)) line("contexts", paste(x$context_names, collapse = ", "))
  line("optimum", if (is.numeric(x$optimum)) paste(format(x$optimum, digits = 6, trim = TRUE), collapse = ", ")
       else "depends on the context")
  invisible(x)
}

register_family("bandit_problem", problem_entry, optional = problem_tables, open = TRUE)
