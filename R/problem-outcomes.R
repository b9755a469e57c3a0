# Problems of several outcomes. Layer: simulation.

# Problems of several outcomes: the true function and the noise of each outcome, and the regret log of a run. Internally
# this is a problem with one reward and constraints, from which optimum and violations are computed. The reward is the
# first objective, with its sign changed if it is minimised. The constraints are the amounts by which the limits are
# exceeded.

# `reward` becomes a list with one element per outcome: a function of the inputs, or a number per arm.
set_outcomes <- function(problem, outcomes, reward, noise, optimum, reference) {
  outcomes <- check_outcome_list(outcomes, list(domain = problem$domain, context_names = problem$context_names))
  problem$outcomes <- outcomes
  problem$outcome_noise <- check_outcome_noise(noise, names(outcomes))
  problem$noise <- problem$outcome_noise[[1]]
  problem$truths <- check_truths(problem, reward, names(outcomes))
  wanted <- which(vapply(outcomes, trait, NA, "objective"))
  limited <- which(vapply(outcomes, is_limited, NA))
  sign <- trait(outcomes[[1]], "sense")
  if (is_tabulated(problem)) {
    values <- do.call(cbind, problem$truths)
    problem <- set_reward(problem, sign * values[, 1])
    problem <- set_constraints(problem, if (length(limited)) excess_of(values, outcomes), NULL)
  } else {
    problem <- set_reward(problem, function(x) sign * problem$truths[[1]](x))
    excess <- function(x) excess_of(truths_at(problem$truths, x), outcomes)
    problem <- set_constraints(problem, if (length(limited)) excess, NULL)
  }
  if (length(wanted) == 1) {
    if (!is.null(reference)) stop_unused("reference", "it is for problems with several objectives")
    return(set_optimum(problem, optimum))
  }
  set_hypervolume(problem, optimum, reference, names(outcomes)[wanted])
}

check_outcome_noise <- function(noise, names) {
  if (is_noise(noise)) return(stats::setNames(rep(list(as_noise(noise)), length(names)), names))
  whole <- is.list(noise) && setequal(names(noise), names) && !anyDuplicated(names(noise)) &&
    all(vapply(noise, is_noise, NA))
  if (!whole) {
    stop_argument("noise", describe(noise), paste("a number or a function(n) for all, or a list of one for each of",
                                                  paste(names, collapse = ", ")))
  }
  lapply(noise[names], as_noise)
}

check_truths <- function(problem, reward, names) {
  allowed <- sprintf(paste("a list with a function of the input matrix (or, over arms, numbers) for each of %s;",
                           "a data.frame or matrix of such columns, or one function that returns it"),
                     paste(names, collapse = ", "))
  if (is.function(reward)) {
    whole <- reward
    truths <- lapply(stats::setNames(names, names), function(name) {
      force(name)
      function(x) column_of(evaluate_function(whole, x, "reward"), name, allowed)
    })
  } else {
    truths <- if (is.matrix(reward)) as.data.frame(reward) else if (is.list(reward)) as.list(reward)
    if (is.null(truths) || !setequal(names(truths), names) || anyDuplicated(names(truths))) {
      stop_argument("reward", describe(reward), allowed)
    }
    truths <- as.list(truths)[names]
  }
  for (name in names) truths[[name]] <- check_truth(problem, truths[[name]], sprintf("reward$%s", name))
  truths
}

column_of <- function(values, name, allowed) {
  if (!name %in% colnames(values)) stop_returned("reward", values, allowed)
  values[, name]
}

check_truth <- function(problem, truth, arg) {
  if (is_tabulated(problem)) {
    if (is.function(truth)) return(evaluate_reward(truth, problem_inputs(problem, all_points(problem$domain)), arg))
    return(check_numbers(truth, arg, lengths = point_count(problem$domain)))
  }
  check_function(truth, arg)
  evaluate_reward(truth, probe_inputs(problem), arg)
  function(x) evaluate_reward(truth, x, arg)
}

# A column per outcome.
truths_at <- function(truths, inputs) {
  values <- vapply(truths, function(f) f(inputs), numeric(nrow(inputs)))
  matrix(values, nrow(inputs), dimnames = list(NULL, names(truths)))
}

# The amount by which each limit is exceeded, one column per limited outcome; at most 0 if the limit holds.
excess_of <- function(values, outcomes) {
  limited <- names(Filter(is_limited, outcomes))
  excess <- lapply(limited, function(name) {
    pmax(values[, name] - trait(outcomes[[name]], "upper"), trait(outcomes[[name]], "lower") - values[, name])
  })
  unname(do.call(cbind, excess))
}

# The true outcomes at points, one row per point.
problem_outcomes <- function(problem, points, contexts = NULL) {
  if (is_tabulated(problem)) return(do.call(cbind, problem$truths)[points$arm + 1L, , drop = FALSE])
  truths_at(problem$truths, problem_inputs(problem, points, contexts))
}

# ---- several objectives --------------------------------------------------------------------

# The hypervolume of the true Pareto front, unless `optimum` gives it. The front is computed over the arms or, on a box,
# over 5000 points spread over the domain. The default of `reference` is the vector of worst values on that front, less
# a tenth of their range.
set_hypervolume <- function(problem, optimum, reference, wanted) {
  if (has_contexts(problem)) stop_unused("contexts", "problems with several objectives have none")
  signs <- vapply(problem$outcomes[wanted], trait, 0, "sense")
  points <- if (can_count(problem$domain)) all_points(problem$domain) else spread_points(problem$domain, 5000)
  values <- problem_outcomes(problem, points)
  feasible <- rowSums(or_else(excess_of(values, problem$outcomes), matrix(0, nrow(values), 0)) > 0) == 0
  if (!any(feasible)) stop_infeasible(problem)
  front <- values[feasible, wanted, drop = FALSE] * rep(signs, each = sum(feasible))
  front <- front[is_nondominated(front), , drop = FALSE]
  problem$reference <- if (is.null(reference)) apply(front, 2, function(v) min(v) - 0.1 * max(diff(range(v)), 1e-9))
                       else reference_of(check_numbers(reference, "reference"), wanted) * signs
  problem$optimum <- if (is.null(optimum)) cpp_hypervolume(front, problem$reference)
                     else check_number(optimum, "optimum", lower = 0)
  problem
}

# ---- runs ----------------------------------------------------------------------------------

check_same_outcomes <- function(config, problem) {
  own <- outcome_names(config)
  theirs <- names(problem$outcomes)
  if (!setequal(own, theirs)) {
    stop_argument("problem", sprintf("a problem with the outcomes %s", quoted(theirs)),
                  sprintf("a problem with the bandit's outcomes, %s", quoted(own)))
  }
  of <- function(roles) names(Filter(function(role) trait(role, "objective"), roles))
  if (!setequal(of(problem$outcomes), objectives(config))) {
    stop_argument("problem", sprintf("a problem whose objectives are %s", quoted(of(problem$outcomes))),
                  sprintf("a problem with the bandit's objectives, %s", quoted(objectives(config))))
  }
}
