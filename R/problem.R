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
#' **Random numbers.** Everything random of the environment is drawn before a
#' run, in a fixed order (noise, delays, constraint noise, contexts), so with one
#' seed every bandit meets the same noise in the same round. (Delays that depend on the input are drawn with their query, from random
#' numbers that are the round's own.)
#'
#' @param domain a [finite_domain()], [box_domain()], [product_domain()] or [search_space()], or what may be
#'   written in place of one.
#' @param reward the true means; see *Reward*.
#' @param noise noise on the reward: [noise_gaussian()], [noise_uniform()] or
#'   [noise_function()]. Default: none.
#' @param delay delays in rounds: [delay_fixed()], [delay_poisson()],
#'   [delay_geometric()] or [delay_function()]; `NULL` for none. A delay d makes
#'   the reward of round s usable from round t on if and only if d <= t - s.
#' @param change_points increasing whole numbers, the last round of each period
#'   but the last: K - 1 of them for K periods.
#' @param constraints true constraint values: an `n` x m matrix (vector for m = 1)
#'   over the arms, or a vectorised function of the input matrix that returns a
#'   vector (m = 1) or a matrix with m columns. A point is feasible if every
#'   value is <= 0. They do not change over time.
#' @param constraint_noise noise on the observed constraints: one noise object,
#'   used (independently) for each, or a list of m. `NULL` for none.
#' @param contexts the sequence of contexts: a matrix with one row per round
#'   (used again from its first row when the rounds outnumber its rows) and one
#'   column per context input, or a function of the number of rounds that returns
#'   such a matrix, which may draw random numbers. Columns are named `z1..` if
#'   they have no names.
#' @param optimum the true best value: one number, one per period, or, with
#'   contexts, a function of the context matrix that returns the best value in
#'   each row's context (with changes: a list of K such functions). `NULL`: see
#'   *Optimum*.
#' @param outcomes `NULL`, or what each outcome is for, see [outcomes]: then `reward` has a truth for each (a named list of functions of the input matrix or, over arms, of
#'   numbers; a data.frame of columns, or one function that returns it), and `noise` is one for all (independent) or a named list. Regret is against the best value of the
#'   objective among the points where all limits hold (turned so that large is good), violations are what limits are exceeded by. Without `change_points`
#'   and `constraints`. [run_bandit()] plays such problems in R, round by round, with bandits of the same outcomes.
#' @param reference with several objectives: the reference point of the hypervolume, a number for each; `NULL`: the worst values on the true front less a tenth of their range. `optimum`
#'   is then the hypervolume of the true front; `NULL`: of all arms or, elsewhere, of 5000 points spread over the domain (a run may do better).
#' @return An object of class `bandit_problem` (a list).
#' @section Errors: a `gpbandits_error` if sizes contradict each other (means and
#'   arms, columns and periods, noise and constraints), change points do not
#'   increase, a function is not vectorised or returns values that are not
#'   finite, or no point is feasible.
#' @seealso [run_bandit()], [compare_bandits()], [sample_gp()], [sample_rkhs()],
#'   [benchmark_function()].
#' @examples
#' # three arms, two periods: the best arm changes after round 50
#' bandit_problem(1:3, reward = cbind(c(0, 1, 2), c(2, 1, 0)), change_points = 50,
#'                noise = noise_gaussian(0.1), delay = delay_poisson(3))
#' branin <- benchmark_function("branin")
#' bandit_problem(branin$domain, branin$f, optimum = branin$optimum)
#' @export
bandit_problem <- function(domain, reward, noise = noise_gaussian(0), delay = NULL,
                           change_points = NULL, constraints = NULL, constraint_noise = NULL,
                           contexts = NULL, optimum = NULL, outcomes = NULL, reference = NULL) {
  domain <- as_domain(domain)
  if (missing(reward)) stop_argument("reward", "missing", "the true means or a function")
  if (is.null(outcomes) && !is.null(reference)) stop_argument("reference", describe(reference),
                                                              "NULL without `outcomes`")
  if (is.null(outcomes)) check_class(noise, "bandit_noise", hint = "noise_gaussian()")
  if (!is.null(delay)) check_class(delay, "bandit_delay", hint = "delay_fixed()")
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

has_contexts <- function(problem) length(problem$context_names) > 0

# Known as numbers: finitely many arms whose values depend on nothing else.
is_tabulated <- function(problem) can_count(problem$domain) && !has_contexts(problem)

set_reward <- function(problem, reward) {
  K <- problem$periods
  functions <- if (is.function(reward)) list(reward) else if (is.list(reward) && !is.data.frame(reward)) reward
  if (!is.null(functions)) {
    if (length(functions) != K || !all(vapply(functions, is.function, logical(1)))) {
      stop_argument("reward", if (is.function(reward)) "one function" else describe(reward),
                    sprintf("a list of %d functions, one per period (`change_points` has %d element(s))",
                            K, K - 1))
    }
    if (is_tabulated(problem)) {
      inputs <- problem_inputs(problem, all_places(problem$domain))
      problem$reward_values <- vapply(functions, evaluate_reward, numeric(nrow(inputs)), inputs = inputs)
      dim(problem$reward_values) <- c(nrow(inputs), K)
    } else {
      for (f in functions) evaluate_reward(f, probe_inputs(problem))
      problem$reward_functions <- functions
    }
    return(problem)
  }
  if (!is_tabulated(problem)) {
    stop_argument("reward", describe(reward),
                  sprintf("a vectorised function of the input matrix on %s%s", describe_domain(problem$domain),
                          if (has_contexts(problem)) " with contexts" else ""))
  }
  problem$reward_values <- check_reward_values(by_arm(reward, problem$domain, "reward"), place_count(problem$domain), K)
  problem
}

check_reward_values <- function(reward, n, K) {
  values <- check_matrix(reward, "reward")
  if (nrow(values) != n) {
    stop_argument("reward", describe(reward), sprintf("one true mean per arm (%d arms)", n))
  }
  if (ncol(values) != K) {
    stop_argument("reward", describe(reward),
                  sprintf("a matrix with one column per period (%d, one more than `change_points`)", K))
  }
  dimnames(values) <- NULL
  values
}

set_constraints <- function(problem, constraints, constraint_noise) {
  n <- place_count(problem$domain)
  if (is.null(constraints)) {
    m <- 0
  } else if (is.function(constraints)) {
    inputs <- if (is_tabulated(problem)) problem_inputs(problem, all_places(problem$domain)) else probe_inputs(problem)
    values <- evaluate_constraints(constraints, inputs)
    m <- ncol(values)
    if (is_tabulated(problem)) problem$constraint_values <- values
    else problem$constraint_function <- constraints
  } else {
    if (!can_count(problem$domain)) {
      stop_argument("constraints", describe(constraints),
                    paste("a vectorised function of the input matrix on", describe_domain(problem$domain)))
    }
    values <- check_matrix(by_arm(constraints, problem$domain, "constraints"), "constraints")
    if (nrow(values) != n || ncol(values) < 1) {
      stop_argument("constraints", describe(constraints), sprintf("a matrix with one row per arm (%d arms)", n))
    }
    dimnames(values) <- NULL
    m <- ncol(values)
    problem$constraint_values <- values
  }
  problem$constraint_count <- m
  problem$constraint_noise <- check_constraint_noise(constraint_noise, m)
  problem
}

# A list of m noise objects.
check_constraint_noise <- function(noise, m) {
  allowed <- sprintf("NULL, one noise object, or a list of one per constraint (%d)", m)
  if (is.null(noise)) return(rep(list(noise_gaussian(0)), m))
  if (m == 0) stop_argument("constraint_noise", describe(noise), "NULL where there are no constraints")
  if (inherits(noise, "bandit_noise")) return(rep(list(noise), m))
  if (!is.list(noise) || length(noise) != m ||
      !all(vapply(noise, inherits, logical(1), "bandit_noise"))) {
    stop_argument("constraint_noise", describe(noise), allowed)
  }
  unname(noise)
}

# `optimum` ends up as K numbers, a list of K functions of the contexts, or NULL
# (contexts, to be found when they are known).
set_optimum <- function(problem, optimum) {
  K <- problem$periods
  if (is.null(optimum)) {
    if (!has_contexts(problem)) problem$optimum <- best_values(problem)
    return(problem)
  }
  if (is.function(optimum)) optimum <- list(optimum)
  if (is.list(optimum)) {
    if (!has_contexts(problem) || length(optimum) != K ||
        !all(vapply(optimum, is.function, logical(1)))) {
      stop_argument("optimum", describe(optimum), sprintf(
        "a number, %d number(s), or, with contexts, a function of them for each period", K))
    }
    problem$optimum <- optimum
  } else {
    problem$optimum <- check_each(optimum, K)
  }
  problem
}

# --- Evaluation of the user's functions ----------------------------------------

# The named matrix that reward and constraint functions get. `contexts`: one row, or one for each place.
problem_inputs <- function(problem, places, contexts = NULL) {
  x <- user_inputs(problem$domain, places)
  if (!has_contexts(problem)) return(x)
  inputs <- cbind(x, contexts[rep_len(seq_len(NROW(contexts)), nrow(x)), , drop = FALSE])
  colnames(inputs) <- c(problem$domain$names, problem$context_names)
  inputs
}

# Two points (so that a function that is not vectorised shows) in the domain.
probe_inputs <- function(problem) {
  contexts <- if (has_contexts(problem)) preserve_rng(draw_contexts(problem, 2))
  places <- spread_places(problem$domain, 2)
  problem_inputs(problem, subset_places(places, rep_len(seq_len(place_total(places)), 2)), contexts)
}

evaluate_reward <- function(f, inputs, arg = "reward") {
  value <- evaluate_function(f, inputs, arg)
  if (!is_number(value) || length(value) != nrow(inputs) || any(!is.finite(value))) {
    stop_argument(arg, paste("a function that returned", describe(value)),
                  sprintf("a vectorised function (one finite number per row of its input; %d rows were given)",
                          nrow(inputs)))
  }
  as.double(value)
}

# An (rows of inputs) x m matrix; m is checked if known.
evaluate_constraints <- function(f, inputs, m = NULL) {
  value <- evaluate_function(f, inputs, "constraints")
  if (is.data.frame(value)) value <- as.matrix(check_data_frame(value, "constraints"))
  if (is_number(value) && length(dim(value)) != 2) value <- matrix(value, ncol = 1)
  if (!is_number(value) || nrow(value) != nrow(inputs) || ncol(value) < 1 ||
      any(!is.finite(value)) || (!is.null(m) && ncol(value) != m)) {
    stop_argument("constraints", paste("a function that returned", describe(value)),
                  sprintf(paste("a vectorised function (a row of %s finite value(s) per row of its input;",
                                "%d rows were given)"),
                          if (is.null(m)) "m" else m, nrow(inputs)))
  }
  matrix(as.double(value), nrow(inputs))
}

evaluate_function <- function(f, inputs, arg) {
  call_user(f(inputs), arg, sprintf("on an input matrix of %d x %d", nrow(inputs), ncol(inputs)))
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

# A rounds x c matrix, or NULL without contexts.
draw_contexts <- function(problem, rounds) {
  if (!has_contexts(problem)) return(NULL)
  if (is.matrix(problem$contexts)) {
    return(problem$contexts[rep_len(seq_len(nrow(problem$contexts)), rounds), , drop = FALSE])
  }
  c <- length(problem$context_names)
  contexts <- call_user(problem$contexts(rounds), "contexts", sprintf("for %.0f rounds", rounds))
  # A vector of as many elements would be read as one row.
  if (is.null(dim(contexts)) && c == 1) contexts <- matrix(contexts, ncol = 1)
  contexts <- check_points(contexts, problem$context_names, "contexts", rows = rounds)
  colnames(contexts) <- problem$context_names
  contexts
}

# The period (1..K) of each of the given rounds; change_points[k] is the last of k.
period_of <- function(problem, round) {
  findInterval(round, problem$change_points, left.open = TRUE) + 1L
}

problem_period <- function(problem, rounds) period_of(problem, seq_len(rounds))

# True means at places: place i in round i and its row of `contexts`.
problem_truth <- function(problem, places, round = 1, contexts = NULL) {
  count <- place_total(places)
  period <- rep_len(period_of(problem, round), count)
  if (!is.null(problem$reward_values)) return(problem$reward_values[cbind(places$arm + 1L, period)])
  inputs <- problem_inputs(problem, places, contexts)
  if (count == 1) return(evaluate_reward(problem$reward_functions[[period]], inputs))
  truth <- numeric(count)
  for (k in unique(period)) {
    at <- period == k
    truth[at] <- evaluate_reward(problem$reward_functions[[k]], inputs[at, , drop = FALSE])
  }
  truth
}

# True constraint values at places, a matrix with m columns.
problem_constraints <- function(problem, places, contexts = NULL) {
  if (problem$constraint_count == 0) return(matrix(0, place_total(places), 0))
  if (!is.null(problem$constraint_values)) return(problem$constraint_values[places$arm + 1L, , drop = FALSE])
  evaluate_constraints(problem$constraint_function, problem_inputs(problem, places, contexts),
                       problem$constraint_count)
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
