# Recording of comparisons and rankings. Layer: bandit.

# The two queries of a comparison and its result: 1 if the first won, 0 if the second won, 1/2 for a tie.
check_comparison <- function(bandit, id, reward, prefer) {
  if (is.data.frame(id)) stop_argument("id", describe(id), "the ids of two queries")
  id <- check_ids(bandit, id)
  if (length(id) != 2) stop_argument("id", describe(id), "the ids of two queries")
  check_one_context(bandit, id)
  ties <- bandit$config$rewards$ties
  if (!is.null(prefer)) {
    if (!is.null(reward)) stop_unused("prefer", "`reward` is given too, and one of the two is enough")
    known <- length(prefer) == 1 && (is_number(prefer) && prefer %in% id || is.atomic(prefer) && is.na(prefer))
    if (!known) {
      stop_argument("prefer", describe(prefer),
                    paste0("one of the two ids ", id[1], " and ", id[2], if (ties) " (NA for a tie)"))
    }
    reward <- if (is.na(prefer)) 0.5 else as.double(prefer == id[1])
    if (!ties && reward == 0.5) {
      stop_argument("prefer", "NA", "one of the two ids",
                    try = "`rewards_preferences(ties = TRUE)`, which allows ties")
    }
  }
  if (is.logical(reward)) reward <- as.double(reward)
  reward <- check_numbers(reward, if (is.null(reward)) "prefer" else "reward")
  allowed <- if (ties) c(0, 0.5, 1) else c(0, 1)
  if (!length(reward) %in% 1:2 || !all(reward %in% allowed) || (length(reward) == 2 && sum(reward) != 1)) {
    stop_argument("reward", describe(reward),
                  paste0("1 if the first is preferred, 0 if the second is", if (ties) ", 0.5 for a tie"))
  }
  list(id = id, reward = c(reward[1], 1 - reward[1]), other = as.integer(rev(id)))
}

check_one_context <- function(bandit, id) {
  row <- bandit$queries$context[id]
  values <- logged_points(bandit, id)$contexts
  same <- all(row == row[1]) && (is.null(values) || all(t(values) == values[1, ]))
  if (!same) stop_argument("id", paste(format(id), collapse = ", "), "ids of queries in the same context")
}

observe_duel <- function(bandit, id, reward, prefer, time) {
  reported <- check_comparison(bandit, id, reward, prefer)
  id <- reported$id
  check_status(bandit, id, c("pending", "failed", "observed"), "a pending query")
  open <- status_of(bandit, id) != "observed"
  if (!any(open)) {
    met <- last_extras(bandit, id)$other
    if (identical(met, reported$other) && all(bandit$queries$reward[id] == reported$reward)) return(invisible(bandit))
    stop_state(sprintf("Queries %s are compared already. Use `$amend()` to correct a comparison.",
                       paste(format(id), collapse = " and ")), argument = "id")
  }
  time <- clock_times(bandit, time, length(id), query_times(bandit, id), "the time of the query")
  record(bandit, "reward", id[open], reported$reward[open], no_columns(sum(open)), time[open],
       observation_extras(sum(open), size = 1, other = reported$other[open]))
}

# (If one of the two was also compared with other queries, its reward may be the result of that comparison.)
amend_duel <- function(bandit, id, reward, prefer) {
  reported <- check_comparison(bandit, id, reward, prefer)
  id <- reported$id
  check_status(bandit, id, "observed", "a query that was compared")
  own <- last_extras(bandit, id)$other == reported$other
  if (!any(own)) {
    stop_state(sprintf("Queries %s were not compared with each other. Use `$observe()` to compare them.",
                       paste(format(id), collapse = " and ")), argument = "id")
  }
  new <- own & bandit$queries$reward[id] != reported$reward
  if (!any(new)) return(invisible(bandit))
  record(bandit, "amend", id[new], reported$reward[new],
         beside = observation_extras(sum(new), size = 1, other = reported$other[new]))
}

# The queries of a ranking by id, their rewards, and the id that follows each one in the ranking, the first after the
# last.
check_ranking <- function(bandit, id, reward, prefer) {
  if (is.data.frame(id)) stop_argument("id", describe(id), "ids of queries")
  id <- check_ids(bandit, id)
  count <- length(id)
  if (count < 2 || count > most_ranked) {
    stop_argument("id", describe(id), sprintf("the ids of 2 to %d queries", most_ranked))
  }
  check_one_context(bandit, id)
  if (!is.null(reward)) stop_unused("reward", "`prefer` has the ids, the best first")
  prefer <- check_numbers(prefer, "prefer")
  invalid <- prefer[!prefer %in% id | duplicated(prefer)]
  if (length(prefer) == 0 || length(invalid)) {
    stop_argument("prefer", describe(if (length(invalid)) invalid[1] else prefer),
                  "ids among `id`, each once, the best first")
  }
  id <- sort(id)
  behind <- count - match(id, prefer)
  list(id = id, reward = ifelse(is.na(behind), 0, behind / (count - 1)), other = as.integer(c(id[-1], id[1])))
}

observe_ranking <- function(bandit, id, reward, prefer, time) {
  reported <- check_ranking(bandit, id, reward, prefer)
  id <- reported$id
  check_status(bandit, id, c("pending", "failed", "observed"), "a pending query")
  known <- status_of(bandit, id) == "observed"
  if (all(known) && is_ranking(bandit, reported)) {
    if (all(bandit$queries$reward[id] == reported$reward)) return(invisible(bandit))
    stop_state(sprintf("Queries %s are ranked otherwise. Use `$amend()` to change the ranking.",
                       paste(format(id), collapse = ", ")), argument = "id")
  }
  if (any(known)) {
    stop_state(sprintf("Query %g is ranked already. Use `$add()` to add its point to another ranking.", id[known][1]),
               argument = "id")
  }
  time <- clock_times(bandit, time, length(id), query_times(bandit, id), "the time of the query")
  record(bandit, "reward", id, reported$reward, no_columns(length(id)), time,
         observation_extras(length(id), other = reported$other))
}

amend_ranking <- function(bandit, id, reward, prefer) {
  reported <- check_ranking(bandit, id, reward, prefer)
  id <- reported$id
  check_status(bandit, id, "observed", "a query that was ranked")
  if (!is_ranking(bandit, reported)) {
    stop_state(sprintf("Queries %s are not the queries of one ranking. Give the ids of a whole ranking.",
                       paste(format(id), collapse = ", ")), argument = "id")
  }
  new <- bandit$queries$reward[id] != reported$reward
  if (!any(new)) return(invisible(bandit))
  record(bandit, "amend", id[new], reported$reward[new],
         beside = observation_extras(sum(new), other = reported$other[new]))
}
