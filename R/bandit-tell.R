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
