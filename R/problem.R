# `bandit_problem()`. Layer: simulation.

#' Simulated bandit problem with a known objective
#'
#' `bandit_problem()` defines the simulated environment in which [run_bandit()] runs a bandit.
#'
#' It has true means, noise, delays, changes over time, constraints and contexts. Rewards are maximised. The reward of
#' round \eqn{t} is
#'
#' \deqn{y_t = f(x_t, z_t) + \varepsilon_t.}{y_t = f(x_t, z_t) + noise.}
#'
#' Here \eqn{x_t} is the query, \eqn{z_t} the context of the round, if there are contexts, and \eqn{f} the mean of the
#' period that contains \eqn{t}.
#'
#' [problem-details] describes noise, delays, random numbers and the computation of the optimum.
#'
#' @section Reward: The form of `reward` depends on the domain.
#'
#' * **Finite domain without contexts**: a vector of `n` true means, or an `n` x K matrix with a column per period. Or a
#'   vectorised function, or a list of K functions; it is evaluated at the arms once and stored as numbers.
#' * **Box, or with contexts**: a vectorised function, or a list of K functions, one per period.
#'
#' Functions get a matrix with one row per point and one named column per input, first the inputs of the domain, then
#' the contexts. Over a [search_space()] they get a data.frame with typed columns.
#'
#' @param domain a [finite_domain()], [box_domain()], [product_domain()] or [search_space()], or a shorthand for one.
#' @param reward the true means; see *Reward*.
#' @param noise noise on the reward: the standard deviation of Gaussian noise, a number >= 0 in the reward's units, or a
#'   function of a count `n` that returns `n` finite numbers. Default 0: none. See [problem-details].
#' @param delay delays in rounds: an integer >= 0, or a function of a count `n` (and optionally of the input) that
#'   returns `n` of them. `NULL` (default): none. See [problem-details].
#' @param change_points the last rounds of all periods except the last: increasing integers, K - 1 for K periods. `NULL`
#'   (default): one period.
#' @param constraints true constraint values, constant over time: an `n` x m matrix over the arms (a vector if m = 1),
#'   or a vectorised function that returns one. A point is feasible if all values are <= 0. `NULL` (default): none.
#' @param constraint_noise noise on the observed constraints, in the form of `noise`: used independently for each, or a
#'   list of m. `NULL` (default): none.
#' @param contexts a matrix with a row per round (reused cyclically) and a column per context input, by default named
#'   `z1`, .... Or a function of the number of rounds that returns such a matrix; it may be random. Or a data.frame with
#'   levels, or ranges and levels as in [auto_bandit()], which are drawn uniformly. `NULL` (default): none.
#' @param optimum the true best value: a number, or one per period. With contexts, a function of the context matrix that
#'   returns the best value for each row, or a list of K functions. `NULL` (default): computed; see [problem-details].
#' @param outcomes the meaning of each outcome, see [outcomes]. `NULL` (default): one reward. See *Several outcomes*.
#' @param reference with several objectives: the reference point of the hypervolume, one number per objective. `NULL`
#'   (default): the worst values on the true Pareto front, minus a tenth of their range.
#' @return An object of class `bandit_problem`, a list.
#' @section Several outcomes: With `outcomes`, the problem has several objectives and limits.
#'
#' * `reward` has a true mean for each outcome: a named list of functions of the input matrix (over arms, also of
#'   numbers), a data.frame of columns, or one function that returns it.
#' * `noise` is one value for all outcomes (independent), or a named list.
#' * Regret is measured against the best value of the objective among the points that satisfy all limits, with the
#'   objective's sign such that larger is better. Violations are the amounts by which limits are exceeded.
#' * `change_points` and `constraints` must be `NULL`.
#' * With several objectives, `optimum` is the hypervolume of the true Pareto front. `NULL`: that of all arms, or
#'   elsewhere of 5000 points that cover the domain; a run can then exceed it.
#' * [run_bandit()] simulates such problems in R, one round at a time. The bandit must have the same outcomes.
#' @section Errors: A `gpbandits_error` in these cases:
#'
#' * sizes do not agree (means and arms, columns and periods, noise and constraints);
#' * noise or a delay is negative, or change points do not increase;
#' * a function is not vectorised, or returns values that are not finite;
#' * no point is feasible.
#' @seealso [problem-details], [run_bandit()], [compare_bandits()], [sample_gp()], [sample_rkhs()],
#'   [benchmark_function()].
#' @concept simulation
#' @concept synthetic objective
#' @concept nonstationary bandit
#' @concept delayed feedback
#' @concept contextual bandit
#' @examples
#' # three arms, two periods: the best arm changes after round 50
#' bandit_problem(1:3, reward = cbind(c(0, 1, 2), c(2, 1, 0)), change_points = 50,
#'                noise = 0.1, delay = function(n) rpois(n, 3))
#' branin <- benchmark_function("branin")
#' problem <- bandit_problem(branin$domain, branin$f, optimum = branin$optimum, noise = 1)
#' kernel <- kernel_matern(2.5, lengthscale = c(5, 5), variance = 2000)
#' bandit <- gp_bandit(branin$domain, kernel, noise_var = 1, policy_ucb(2), mean = -50)
#' set.seed(1)
#' run_bandit(bandit, problem, rounds = 25)
#' @export
bandit_problem <- function(domain, reward, noise = 0, delay = NULL,
                           change_points = NULL, constraints = NULL, constraint_noise = NULL,
                           contexts = NULL, optimum = NULL, outcomes = NULL, reference = NULL) {
  domain <- as_domain(domain)
  if (missing(reward)) stop_missing("reward", "the true means or a function")
  if (is.null(outcomes) && !is.null(reference)) stop_unused("reference", "it is used with `outcomes` only")
  if (is.null(outcomes)) noise <- as_noise(noise)
  delay <- as_delay(delay)
  problem <- structure(list(domain = domain, noise = noise, delay = delay),
                       class = "bandit_problem")
  problem$change_points <- check_change_points(change_points)
  problem$periods <- length(problem$change_points) + 1
  problem <- set_contexts(problem, contexts)
  if (!is.null(outcomes)) {
    for (arg in c("change_points", "constraints", "constraint_noise")) {
      if (!is.null(get(arg))) stop_unused(arg, "with `outcomes`, each outcome has its own setting")
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

# If a problem has tables and best values, their sizes must match its points and periods.
problem_tables <- alist(
  reward_values = if (!is.null(reward_values)) check_reward_values(reward_values, point_count(domain), periods),
  constraint_values = if (!is.null(constraint_values)) {
    check_matrix(constraint_values, "constraint_values", rows = point_count(domain), columns = constraint_count)
  },
  optimum = if (!is.null(optimum) && !is.list(optimum)) check_numbers(optimum, "optimum", lengths = periods)
)

# --- Parts of the constructor -------------------------------------------------

check_change_points <- function(change_points) {
  if (is.null(change_points)) return(numeric())
  allowed <- "increasing integers >= 1"
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
  if (!is.function(contexts) && has_types(contexts)) {
    found <- typed_contexts(contexts)
    problem$context_space <- found$space
    contexts <- or_else(found$table, function(rounds) {
      structure(uniform_model(found$space, rounds), dimnames = list(NULL, found$names))
    })
  }
  # A function is called for two rounds to get its column names, without changing the user's random number state.
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

# --- interface for runs --------------------------------------------------------

# All random numbers of `rounds` rounds, generated in advance and in this order. With the same seed, all bandits get the
# same noise.
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
  line("noise", distribution_text(x$noise))
  if (!is.null(x$delay)) line("delay", distribution_text(x$delay))
  if (x$periods > 1) line("periods", sprintf("%d, changes after rounds %s", as.integer(x$periods),
                                             paste(x$change_points, collapse = ", ")))
  if (x$constraint_count > 0) line("constraints", x$constraint_count)
  if (has_contexts(x)) line("contexts", paste(x$context_names, collapse = ", "))
  line("optimum", if (is.numeric(x$optimum)) paste(format(x$optimum, digits = 6, trim = TRUE), collapse = ", ")
       else "depends on the context")
  invisible(x)
}

register_family("bandit_problem", problem_entry, optional = problem_tables, open = TRUE)

#' Noise, delays and optimum of a simulated problem
#'
#' For writing a [bandit_problem()]: how its noise, delays and random numbers are specified, and how its optimum is
#' found.
#'
#' @section Noise: Noise is independent over the rounds. A number `sd` is Gaussian noise N(0, `sd`^2), which is
#'   sub-Gaussian with R = `sd`. Any other noise is a function, which is called once for a run, with the number of
#'   rounds:
#'
#' * `function(n) runif(n, -a, a)`: uniform, and sub-Gaussian with R = `a / sqrt(3)`.
#' * `function(n) 0.1 * rt(n, df = 5)`: heavy tails.
#'
#' @section Delays: A delay \eqn{d} makes the reward of round \eqn{s} usable for the query of round \eqn{t} if and only
#'   if \eqn{d \le t - s}{d <= t - s}. Delays 0 and 1 therefore mean "before the next query". A function returns
#'   integers >= 0, where `Inf` means that the reward is never observed:
#'
#' * `function(n) rpois(n, 10)`: Poisson with mean 10.
#' * `function(n) rgeom(n, 1 / (1 + 10))`: geometric with mean 10.
#' * `function(n) ifelse(seq_len(n) %% 5 == 0, Inf, 1)`: every fifth reward is lost.
#' * `function(n, x) rpois(n, 10 * x[, 1])`: depends on the input. A function with a second argument without a default
#'   is called in every round with `n = 1` and the query, a matrix of one row with named columns (actions, then
#'   contexts).
#'
#' Verma et al. (2022, Section 3.3) allow delays that depend on the input. Their bounds hold with the smallest
#' \eqn{P(d_t \le m)}{P(d_t <= m)} over the inputs for \eqn{\rho_m}{rho_m}.
#'
#' @section Random numbers: Noise, delays, constraint noise and contexts are drawn before a run, in this order. With the
#'   same seed, every bandit therefore has the same noise in the same round. Delays that depend on the input are drawn
#'   with their query, from random numbers that belong to the round. Two bandits that evaluate the same point in the
#'   same round have the same delay.
#'
#' @section Optimum: Regret is measured against the best true mean of the round's period, in the round's context, among
#'   the feasible points.
#'
#' On a finite domain it is computed exactly. On a box it is *searched numerically* in these steps (on a product, in the
#' box of every row):
#'
#' * 1000 `d` (at most 10,000) quasi-random points are evaluated;
#' * a quasi-Newton search (L-BFGS-B, with constraints inside an augmented Lagrangian) starts from up to twenty of the
#'   best of them that are far apart;
#' * a finer search follows around the best point found.
#'
#' Logarithmic inputs are searched on their scale, and integer inputs at integers. A constraint counts as satisfied up
#' to 1e-8 of its largest value. With contexts the search is repeated for every distinct context.
#'
#' The search is deterministic and uses no random numbers. It does not prove that the maximum was found: peaks that are
#' much narrower than the spacing of the quasi-random points can be missed. Specify `optimum` if you know it.
#' @seealso [bandit_problem()], [run_bandit()].
#' @references Verma, A., Dai, Z. and Low, B. K. H. (2022). Bayesian optimization under stochastic delayed feedback.
#'   *ICML*.
#' @examples
#' # Uniform noise, and rewards that arrive after 10 rounds on average, one in five never:
#' x <- 1:9 / 9
#' problem <- bandit_problem(x, sin(3 * x), noise = function(n) runif(n, -0.1, 0.1),
#'                           delay = function(n) ifelse(seq_len(n) %% 5 == 0, Inf, rpois(n, 10)))
#' set.seed(1)
#' run_bandit(gp_ucb_sdf(x, kernel_se(0.3), noise_var = 0.1, m = 15), problem, rounds = 40)
#' @name problem-details
#' @concept observation noise
#' @concept delayed feedback
#' @concept global optimum
NULL
