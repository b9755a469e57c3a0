# Recording of several outcomes. Layer: bandit.

# Values of some queries' outcomes: a data.frame (a column per outcome), a named vector (one query), or numbers (one
# outcome). Returns a matrix with a row per query and a column per outcome, NA for values not observed yet.
outcome_values <- function(config, values, count, arg = "reward") {
  names <- outcome_names(config)
  allowed <- sprintf("%s: %s", if (count == 1) "a number for some of the outcomes, by name"
                     else sprintf("a data.frame of %d rows with a column for some of the outcomes", count),
                     paste(names, collapse = ", "))
  if (is.data.frame(values)) check_data_frame(values, arg)
  if (is.data.frame(values) || is.list(values) && !is.object(values)) {
    given <- as.list(values)
  } else if (is.matrix(values)) {
    given <- if (!is.null(colnames(values))) stats::setNames(lapply(seq_len(ncol(values)), function(j) values[, j]),
                                                             colnames(values))
  } else if (count == 1 && is.atomic(values) && !is.null(names(values))) {
    given <- as.list(values)
  } else {
    given <- if (length(names) == 1) stats::setNames(list(values), names)
  }
  invalid <- setdiff(names(given), c(names, ""))
  if (length(invalid)) {
    quoted_names <- dQuote(readable(utils::head(invalid, 4)), FALSE)
    stop_argument(arg, paste("one with the name", paste(quoted_names, collapse = ", ")), allowed)
  }
  known <- length(given) > 0 && !is.null(names(given)) && all(names(given) %in% names) && !anyDuplicated(names(given))
  if (!known) stop_argument(arg, describe(values), allowed)
  out <- matrix(NA_real_, count, length(names), dimnames = list(NULL, names))
  roles <- outcome_roles(config)
  for (name in names(given)) {
    values <- given[[name]]
    # (TRUE and FALSE, or yes and no, are results of some outcomes.)
    yes_no <- arg == "reward" && (is_limited(roles[[name]]) || identical(roles[[name]]$rewards$kind, "binary"))
    out[, name] <- outcome_column(if (yes_no) or_else(as_yes_no(values), values) else values, name, count, arg)
  }
  out
}

outcome_column <- function(values, name, count, arg) {
  where <- sprintf("%s$%s", arg, name)
  known <- !is.na(values)
  if (length(values) != count || !(is_number(values) || is.logical(values) && !any(known))) {
    remedy <- if (!is.null(as_yes_no(values))) yes_no_remedy
              else if (is.character(values)) "`list()` or a data.frame: `c()` with a text makes all values text"
    stop_argument(where, describe(values), paste0(amount_of(count, "number"), ", NA for values that are not known yet"),
                  try = remedy)
  }
  values <- as.double(values)
  values[known] <- check_numbers(values[known], where, lower = -largest_number, upper = largest_number)
  values
}

# Noise variances, numbers and spreads of readings (see check_measurements()) in the same form, for the reported values:
# a list of matrices. `size` and `spread`: a number for each query, or values for each outcome.
outcome_noise <- function(config, noise_var, values, sd = NULL, size = NULL, spread = NULL) {
  none <- array(NA_real_, dim(values), dimnames(values))
  numbers <- function(given, arg, check) {
    if (is.null(given)) return(none)
    if (is_number(given) && is.null(names(given)) && length(given) == 1) given <- rep(given, nrow(values))
    if (is_number(given) && is.null(dim(given)) && is.null(names(given)) && length(given) == nrow(values)) {
      out <- matrix(given, nrow(values), ncol(values), dimnames = dimnames(values))
    } else {
      out <- outcome_values(config, given, nrow(values), arg)
    }
    out[is.na(values)] <- NA
    check(out)
  }
  positive <- function(arg) function(x) {
    if (any(x <= 0, na.rm = TRUE)) {
      stop_argument(arg, "a number that is not > 0", "numbers > 0, NA for the outcome's own")
    }
    x
  }
  reported <- colSums(!is.na(values)) > 0
  alone <- function(x) is_number(x) && is.null(names(x)) && sum(reported) > 1
  for (x in list(noise_var, sd)) if (alone(x)) outcome_values(config, x, nrow(values), "noise_var")
  rewards <- lapply(outcome_roles(config), `[[`, "rewards")
  measured <- lengths(rewards) == 0
  own <- numbers(noise_var, "noise_var", positive("noise_var"))
  size <- numbers(size, "size", function(x) {
    x[, measured] <- check_number_of_readings(as.vector(x[, measured]), length(x[, measured]))
    x
  })
  spread <- numbers(spread, "spread", identity)
  variance <- none
  if (!is.null(sd)) {
    if (any(!is.na(own))) stop_unused("sd", "`noise_var` is given too, which is its square")
    variance <- numbers(sd, "sd", positive("sd"))^2
    own <- ifelse(is.na(size), variance, NA)
    spread <- ifelse(is.na(size) | !is.na(spread), spread, (size - 1) * variance)
  }
  for (k in which(!measured)) {
    if (any(!is.na(variance[, k]))) check_no_noise(NULL, NULL, sd)
    if (any(!is.na(own[, k]))) check_no_noise(noise_var, NULL)
    check_response_values(rewards[[k]], values[, k], size[, k])
  }
  list(noise_var = own, size = size, spread = spread)
}

# Values of an outcome with a likelihood, NA for those not reported.
check_response_values <- function(rewards, values, size) {
  known <- which(!is.na(values))
  if (length(known) == 0) return(invisible())
  trait(rewards, "outcome")(values[known], check_sizes(ifelse(is.na(size[known]), 1, size[known]), length(known)))
}

# Outcomes that were declared as constraint columns (`count`, `safety`) are named reward, g1, g2, ... Their values may
# be given as a reward and its constraints.
are_columns <- function(config) {
  identical(outcome_names(config), c("reward", paste0("g", seq_len(outcome_count(config) - 1))))
}

with_constraints <- function(config, reward, constraints, count, noise_var) {
  given <- list(reward = reward, noise_var = noise_var)
  if (is.null(constraints)) return(given)
  if (!are_columns(config)) stop_unused("constraints", "each outcome has its own column")
  if (!is_number(reward)) {
    stop_argument("reward", describe(reward), "a number for each query, if `constraints` has the other outcomes")
  }
  values <- constraint_matrix(constraints, count, outcome_count(config) - 1L)
  given$reward <- stats::setNames(data.frame(unname(reward), values), outcome_names(config))
  if (is_number(noise_var) && is.null(names(noise_var))) {
    given$noise_var <- list(reward = check_noise_vars(noise_var, count))
  }
  given
}

as_column <- function(config, reward) {
  if (are_columns(config) && is_number(reward) && is.null(names(reward))) list(reward = reward) else reward
}

# `id`: ids with `reward`, or a data.frame with the outcomes' columns.
observe_several <- function(bandit, id, reward, time, noise_var, size = NULL, sd = NULL) {
  config <- bandit$config
  spread <- NULL
  if (is.data.frame(id)) {
    check_data_frame(id, "id")
    if (!is.null(reward)) stop_unused("reward", "the data.frame has a column for each outcome")
    frame <- id
    columns <- intersect(names(frame), outcome_names(config))
    if (!"id" %in% names(frame) || length(columns) == 0) {
      stop_argument("id", lacking_columns(frame, if ("id" %in% names(frame)) outcome_names(config) else "id"),
                    paste("ids, or a data.frame with id and some of the columns",
                          paste(outcome_names(config), collapse = ", ")))
    }
    if ("reward" %in% names(frame) && !"reward" %in% columns) {
      stop_argument("id", "a data.frame with a column `reward` in addition to those of the outcomes",
                    paste("a data.frame with a column for each outcome:",
                          paste(outcome_names(config), collapse = ", ")))
    }
    id <- check_ids(bandit, frame$id)
    check_conditions_reported(bandit, id, frame[setdiff(names(frame), columns)])
    values <- outcome_values(config, frame[columns], length(id))
    beside <- function(what) columns_of_outcomes(frame, outcome_names(config), what)
    noise_var <- or_else(noise_var, beside("noise_var"))
    size <- or_else(size, beside("size"))
    sd <- or_else(sd, beside("sd"))
    spread <- beside("spread")
  } else {
    id <- check_ids(bandit, id)
    values <- outcome_values(config, reward, length(id))
  }
  own <- outcome_noise(config, noise_var, values, sd, size, spread)
  new <- unreported_outcomes(bandit, id, values)
  if (nrow(new) == 0) return(invisible(bandit))
  time <- clock_times(bandit, time, length(id), query_times(bandit, id), "the time of the query")
  leave_yes_no(bandit, values, own)
  record(bandit, "reward", id[new[, 1]], values[new], time = time[new[, 1]],
       beside = observation_extras(nrow(new), own$noise_var[new], own$size[new], own$spread[new], outcome = new[, 2]))
}

# The columns NAME_WHAT of a table as columns called like the outcomes; NULL if there are none.
columns_of_outcomes <- function(frame, names, what) {
  columns <- paste0(names, "_", what)
  given <- columns %in% names(frame)
  if (any(given)) stats::setNames(frame[columns[given]], names[given])
}

# The new ones among the values, a row each (query, outcome), query by query. The same value again changes nothing; a
# different one is an error.
unreported_outcomes <- function(bandit, id, values) {
  cells <- outcome_cells(bandit, id)
  given <- which(!is.na(t(values)), arr.ind = TRUE)[, 2:1, drop = FALSE]
  status <- cells[given]
  had <- logged_values(bandit, id)[given]
  refuse <- function(k, what) {
    stop_state(sprintf("Outcome `%s` of query %g %s", outcome_names(bandit$config)[given[k, 2]], id[given[k, 1]], what),
               argument = "id")
  }
  withdrawn <- which(status == "withdrawn")
  if (length(withdrawn)) refuse(withdrawn[1], "is withdrawn. Use `$add()` for other evaluations.")
  reported <- status %in% c("observed", "lost")
  other <- which(reported & had != values[given])
  if (length(other)) {
    refuse(other[1], sprintf("already has the value %s. Use `$amend()` to change it.", format(had[other[1]])))
  }
  given[!reported, , drop = FALSE]
}

amend_several <- function(bandit, id, reward, size = NULL, noise_var = NULL, sd = NULL) {
  id <- check_ids(bandit, id)
  values <- outcome_values(bandit$config, reward, length(id))
  cells <- outcome_cells(bandit, id)
  given <- which(!is.na(values), arr.ind = TRUE)
  unknown <- which(!cells[given] %in% c("observed", "lost"))
  if (length(unknown)) {
    at <- given[unknown[1], ]
    stop_state(sprintf("Outcome `%s` of query %g is %s. Use `$observe()` for its first value.",
                       outcome_names(bandit$config)[at[2]], id[at[1]], cells[at[1], at[2]]), argument = "id")
  }
  own <- outcome_noise(bandit$config, noise_var, values, sd, size)
  new <- values[given] != logged_values(bandit, id)[given] | !is.na(own$noise_var[given]) | !is.na(own$size[given]) |
    is_noted(bandit, id[given[, 1]])
  new <- given[new, , drop = FALSE]
  if (nrow(new) == 0) return(invisible(bandit))
  leave_yes_no(bandit, values, own)
  record(bandit, "amend", id[new[, 1]], values[new],
         beside = observation_extras(nrow(new), own$noise_var[new], own$size[new], own$spread[new], outcome = new[, 2]))
}

# `outcome`: names of some outcomes, NULL for all pending ones.
withdraw_several <- function(bandit, id, outcome, failed, reason = NULL) {
  id <- check_ids(bandit, id)
  names <- outcome_names(bandit$config)
  cells <- outcome_cells(bandit, id)
  if (is.null(outcome)) {
    settled <- rowSums(cells == "pending") == 0
    if (any(settled)) {
      stop_state(sprintf("No outcome of query %g is pending. `$history()` lists pending queries.", id[settled][1]),
                 argument = "id")
    }
    return(record(bandit, if (failed) "fail" else "withdraw", id, reason = reason))
  }
  outcome <- check_choices(outcome, names, "outcome")
  for (k in match(outcome, names)) {
    settled <- cells[, k] != "pending"
    if (any(settled)) {
      stop_state(sprintf("Outcome `%s` of query %g is %s, not pending. `$amend()` changes observed values.", names[k],
                         id[settled][1], cells[settled, k][1]), argument = "id")
    }
  }
  record(bandit, if (failed) "fail" else "withdraw", rep(id, length(outcome)),
       beside = observation_extras(length(id) * length(outcome),
                                   outcome = rep(match(outcome, names), each = length(id))),
       reason = reason)
}

# Given points, some of whose outcomes may be known.
give_several <- function(bandit, points, contexts, values, own, time) {
  given <- points_in_log(bandit$config, points, contexts)
  count <- point_total(points)
  if (!is.null(values)) leave_yes_no(bandit, values, own)
  transact(bandit, function(handle) {
    cpp_bandit_give(handle, given, contexts, rep(NA_real_, count), matrix(0, count, 0), time, observation_extras(count),
                    if (!is.null(values)) c(list(value = values), own))
  })
  rescale_if_due(bandit, reported = TRUE)
}
