# The true values of a problem: rewards, constraints, periods. Layer: simulation.

has_contexts <- function(problem) length(problem$context_names) > 0

# Are the true values tables of numbers? This is so for finitely many arms without contexts.
is_tabulated <- function(problem) can_count(problem$domain) && !has_contexts(problem)

set_reward <- function(problem, reward) {
  K <- problem$periods
  functions <- if (is.function(reward)) list(reward) else if (is.list(reward) && !is.data.frame(reward)) reward
  if (!is.null(functions)) {
    if (length(functions) != K || !all(vapply(functions, is.function, logical(1)))) {
      stop_argument("reward", if (is.function(reward)) "one function" else describe(reward),
                    sprintf("a list of %d functions, one per period (`change_points` has %s)",
                            K, amount_of(K - 1, "element")))
    }
    if (is_tabulated(problem)) {
      inputs <- problem_inputs(problem, all_points(problem$domain))
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
  problem$reward_values <- check_reward_values(by_arm(reward, problem$domain, "reward"), point_count(problem$domain), K)
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
  n <- point_count(problem$domain)
  if (is.null(constraints)) {
    m <- 0
  } else if (is.function(constraints)) {
    inputs <- if (is_tabulated(problem)) problem_inputs(problem, all_points(problem$domain)) else probe_inputs(problem)
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

# A list of m noises.
check_constraint_noise <- function(noise, m) {
  allowed <- sprintf("NULL, a number or a function(n) for all, or a list of one per constraint (%d)", m)
  if (is.null(noise)) return(rep(list(as_noise(0)), m))
  if (m == 0) stop_unused("constraint_noise", "this problem has no constraints")
  if (is_noise(noise)) return(rep(list(as_noise(noise, "constraint_noise")), m))
  if (!is.list(noise) || length(noise) != m || !all(vapply(noise, is_noise, NA))) {
    stop_argument("constraint_noise", describe(noise), allowed)
  }
  unname(lapply(noise, as_noise, "constraint_noise"))
}

# The named matrix that reward and constraint functions get. `contexts`: one row, or one for each point.
problem_inputs <- function(problem, points, contexts = NULL) {
  x <- user_inputs(problem$domain, points)
  if (!has_contexts(problem)) return(x)
  contexts <- contexts[rep_len(seq_len(NROW(contexts)), nrow(x)), , drop = FALSE]
  if (!is.null(problem$context_space)) {
    return(cbind(as.data.frame(x), context_frame(problem$context_space, contexts)))
  }
  inputs <- cbind(x, contexts)
  colnames(inputs) <- c(problem$domain$names, problem$context_names)
  inputs
}

# Two points of the domain. Two are needed to detect a function that is not vectorised.
probe_inputs <- function(problem) {
  contexts <- if (has_contexts(problem)) preserve_rng(draw_contexts(problem, 2))
  points <- spread_points(problem$domain, 2)
  problem_inputs(problem, subset_points(points, rep_len(seq_len(point_total(points)), 2)), contexts)
}

evaluate_reward <- function(f, inputs, arg = "reward") {
  value <- evaluate_function(f, inputs, arg)
  if (!is_number(value) || length(value) != nrow(inputs) || any(!is.finite(value))) {
    stop_returned(arg, value, sprintf("one finite number per row of its input (%d rows were given)", nrow(inputs)))
  }
  as.double(value)
}

# A matrix of constraint values: one row per row of `inputs`, m columns. If m is given, it is checked.
evaluate_constraints <- function(f, inputs, m = NULL) {
  value <- evaluate_function(f, inputs, "constraints")
  if (is.data.frame(value)) value <- as.matrix(check_data_frame(value, "constraints"))
  if (is_number(value) && length(dim(value)) != 2) value <- matrix(value, ncol = 1)
  if (!is_number(value) || nrow(value) != nrow(inputs) || ncol(value) < 1 ||
      any(!is.finite(value)) || (!is.null(m) && ncol(value) != m)) {
    stop_returned("constraints", value,
                  sprintf("a row of %s finite values per row of its input (%d rows were given)",
                          if (is.null(m)) "m" else m, nrow(inputs)))
  }
  matrix(as.double(value), nrow(inputs))
}

evaluate_function <- function(f, inputs, arg) {
  call_user(f(inputs), arg, sprintf("on an input matrix of %d x %d", nrow(inputs), ncol(inputs)))
}

# A problem's contexts in the user's form.
users_contexts <- function(problem, contexts) {
  if (is.null(contexts) || is.null(problem$context_space)) contexts
  else context_frame(problem$context_space, contexts)
}

# A matrix with a row per round and a column per context, or NULL without contexts.
draw_contexts <- function(problem, rounds) {
  if (!has_contexts(problem)) return(NULL)
  if (is.matrix(problem$contexts)) {
    return(problem$contexts[rep_len(seq_len(nrow(problem$contexts)), rounds), , drop = FALSE])
  }
  c <- length(problem$context_names)
  contexts <- call_user(problem$contexts(rounds), "contexts", sprintf("for %.0f rounds", rounds))
  # A vector of this length would be read as one row.
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

# True means at points: point i in round i and its row of `contexts`.
problem_truth <- function(problem, points, round = 1, contexts = NULL) {
  count <- point_total(points)
  period <- rep_len(period_of(problem, round), count)
  if (!is.null(problem$reward_values)) return(problem$reward_values[cbind(points$arm + 1L, period)])
  inputs <- problem_inputs(problem, points, contexts)
  if (count == 1) return(evaluate_reward(problem$reward_functions[[period]], inputs))
  truth <- numeric(count)
  for (k in unique(period)) {
    at <- period == k
    truth[at] <- evaluate_reward(problem$reward_functions[[k]], inputs[at, , drop = FALSE])
  }
  truth
}

# True constraint values at points, a matrix with m columns.
problem_constraints <- function(problem, points, contexts = NULL) {
  if (problem$constraint_count == 0) return(matrix(0, point_total(points), 0))
  if (!is.null(problem$constraint_values)) return(problem$constraint_values[points$arm + 1L, , drop = FALSE])
  evaluate_constraints(problem$constraint_function, problem_inputs(problem, points, contexts),
                       problem$constraint_count)
}
