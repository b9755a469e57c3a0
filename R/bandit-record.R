# Checks and recording of observed rewards. Layer: bandit.

# `id` may be a data.frame with columns `id` and `reward` (and `g1`.., `noise_var`).

record_core <- function(bandit, kind, id, reward, constraints, time, beside, reason) {
  # (With a single outcome its number is redundant.)
  if (!of_form(bandit$config, "several") && !all(is.na(beside$outcome))) beside$outcome[] <- NA_integer_
  if (kind == "reward") return(record_rewards(bandit, id, reward, constraints, as.double(time), beside))
  transact(bandit, function(handle) {
    if (kind == "amend") cpp_bandit_amend(handle, id, reward, beside)
    else cpp_bandit_withdraw(handle, id, kind == "fail", beside$outcome)
  }, reason = reason, fields = if (!is.null(reason)) list(reasons = reasons_with(bandit, id, reason)))
  rescale_if_due(bandit, reported = TRUE)
}

# Checks rewards, gives them to the core and logs them, in one call. TRUE, or FALSE if the core alone cannot do this
# (see cpp_bandit_observe(); `reach` NA: the rewards are checked already, and `id` are rows of the log).
record_rewards <- function(bandit, id, reward, constraints, time, beside, reach = NA_real_) {
  reply <- cpp_bandit_observe(bandit, id, reward, constraints, time, beside, reach)
  if (reply$status == "stale") {
    reply <- cpp_bandit_observe(make_whole(bandit), id, reward, constraints, time, beside, reach)
  }
  if (reply$status == "open") return(FALSE)
  if (!is.null(bandit$journal)) sync_log(bandit, bandit$handle)
  else if (!is.null(bandit$.noted)) bandit$notes <- noted_fields(bandit)$notes
  if (may_rescale(bandit$config)) rescale_if_due(bandit, reported = TRUE)
  TRUE
}

# Measurements of `count` queries: `given` has `reward` and, if they were given, `noise_var`, `size`, `sd` and `spread`.
# The reward of a query is one number, or the mean of several replicates, whose noise variance is divided by their
# number. `spread`: the sum of their squared deviations from the mean, which refits need.
check_measurements <- function(bandit, given, count) {
  if (count == 1 && is_number(given$reward) && length(given$reward) > 1) {
    if (!is.null(given$size)) stop_unused("size", "it is the number of these replicates")
    all <- check_rewards(given$reward, length(given$reward))
    if (!is.null(given$sd)) given[c("noise_var", "sd")] <- list(variance_of_sd(given$sd, given$noise_var, 1), NULL)
    given$reward <- mean(all)
    given[c("size", "spread")] <- list(as.double(length(all)), sum((all - given$reward)^2))
  }
  size <- check_number_of_readings(given$size, count)
  spread <- if (is.null(given$spread)) rep(NA_real_, count)
            else check_numbers(as.double(given$spread), "spread", lengths = count, lower = 0, upper = largest_number,
                               na = TRUE)
  noise_var <- given$noise_var
  if (!is.null(given$sd)) {
    variance <- variance_of_sd(given$sd, noise_var, count)
    several <- !is.na(size)
    spread[several] <- ifelse(is.na(spread), (size - 1) * variance, spread)[several]
    noise_var <- replace(variance, several, NA)
  }
  if (any(!is.na(size))) {
    check_not_scripted(bandit, function(title) {
      stop_argument("reward", "the mean of several measurements", paste("one measurement per id for", title))
    })
  }
  list(reward = check_rewards(given$reward, count), noise_var = check_noise_vars(noise_var, count), size = size,
       spread = spread)
}

# The variances of standard deviations, which are NA for the bandit's noise.
variance_of_sd <- function(sd, noise_var, count) {
  if (!is.null(noise_var) && !all(is.na(noise_var))) {
    stop_unused("sd", "`noise_var` is given too, which is its square")
  }
  numbers <- is_number(sd) || is.logical(sd) && !is.object(sd) && all(is.na(sd))
  if (!numbers || !length(sd) %in% c(1, count)) {
    stop_argument("sd", describe(sd), paste("one number > 0, or one for each of", amount_of(count, "reward")))
  }
  sd <- check_numbers(as.double(sd), "sd", lower = 0, open_lower = TRUE, upper = sqrt(largest_number), na = TRUE)
  rep_len(sd^2, count)
}

# The numbers of readings of which rewards are means; NA for one reading.
check_number_of_readings <- function(size, count) {
  if (is.null(size)) return(rep(NA_real_, count))
  numbers <- is_number(size) || is.logical(size) && !is.object(size) && all(is.na(size))
  known <- if (numbers) size[!is.na(size)]
  if (!numbers || !length(size) %in% c(1, count) || any(known != round(known) | known < 1 | known > most_readings)) {
    stop_argument("size", describe(size), sprintf("the number of readings, an integer from 1 to %g", most_readings))
  }
  size <- rep_len(as.double(size), count)
  replace(size, size %in% 1, NA)
}

# Replicates of queries as one row each, with the columns `size` and `spread`. Rows that report one query must have the
# same settings.
with_replicates <- function(bandit, frame) {
  config <- bandit$config
  own <- function(names) beside(names, given_names(config))
  groups <- match(frame$id, unique(frame$id))
  first <- which(!duplicated(groups))
  several <- of_form(config, "several")
  values <- if (several) outcome_names(config) else "reward"
  values <- values[vapply(values, function(name) is_number(frame[[name]]), NA)]
  if (!of_form(config, "gaussian")) values <- c("reward", "size")
  for (name in setdiff(names(frame), c("id", values))) {
    other <- which(!(frame[[name]] == frame[[name]][first][groups]) %in% c(TRUE, NA))
    if (length(other)) {
      stop_argument("id", sprintf("rows of query %g with different values of `%s`", frame$id[other[1]], name),
                    "rows with the settings of their query", try = "`$add()` for what was evaluated elsewhere")
    }
  }
  out <- frame[first, , drop = FALSE]
  if (!of_form(config, "gaussian")) {
    sums <- replicates_as_sums(config, frame$reward, frame$size, groups)
    out[c("reward", "size")] <- sums
    return(out)
  }
  roles <- outcome_roles(config)
  for (name in values) {
    if (several && !is.null(roles[[name]]$rewards)) {
      out[paste0(name, c("", "_size"))] <- sums_of_outcome(frame[[name]], frame[[paste0(name, "_size")]], groups)
      next
    }
    each <- lapply(unname(split(frame[[name]], groups)), function(x) x[!is.na(x)])
    count <- lengths(each)
    out[[name]] <- vapply(each, function(x) if (length(x)) mean(x) else NA_real_, 0)
    columns <- own(paste0(if (several) paste0(name, "_"), c("size", "spread")))
    out[[columns[1]]] <- ifelse(count > 1, count, NA)
    out[[columns[2]]] <- ifelse(count > 1, vapply(each, function(x) sum((x - mean(x))^2), 0), NA)
  }
  out
}

# Successes and their trials, or counts and exposures, of several rows of a query.
sums_of_outcome <- function(value, size, groups) {
  size <- ifelse(is.na(value), 0, ifelse(is.na(or_else(size, NA)), 1, or_else(size, NA)))
  sum_of <- function(x) as.vector(rowsum(ifelse(is.na(x), 0, x), groups))
  none <- sum_of(size) == 0
  list(replace(sum_of(value), none, NA), replace(sum_of(size), none, NA))
}

# The values of a single outcome that are given by its name.
plain_reward <- function(config, reward, count) {
  by_name <- is.list(reward) || length(reward) == 1 && !is.null(names(reward))
  if (is.null(config$outcomes) || !by_name) return(reward)
  outcome_values(config, reward, count)[, 1]
}

same_numbers <- function(a, b) (is.na(a) & is.na(b)) | (a == b) %in% TRUE

# The columns of a table of results, together with what was given beside it.
rewards_of_frame <- function(bandit, data, given) {
  check_data_frame(data, "id")
  own <- function(names) beside(names, given_names(bandit$config))
  g <- own(constraint_names(bandit$config, "g"))
  if (!is.null(given$reward)) {
    if (!is.null(data$reward)) stop_unused("reward", "the data.frame has a column `reward`")
    if ("id" %in% names(data)) data$reward <- check_rewards(given$reward, nrow(data))
  }
  wanted <- c("id", "reward", if (is.null(given$constraints)) g)
  if (!all(wanted %in% names(data))) {
    stop_argument("id", lacking_columns(data, wanted),
                  paste("ids, or a data.frame with columns", paste(wanted, collapse = ", ")),
                  try = if (!"id" %in% names(data)) "`$add(x = , reward = )` for points that were not suggested")
  }
  if (is.null(given$constraints) && length(g)) given$constraints <- unname(as.matrix(data[g]))
  beside <- c("noise_var", "size", "sd", "spread")
  columns <- stats::setNames(lapply(beside, function(name) or_else(given[[name]], data[[own(name)]])), beside)
  c(list(id = data$id, reward = data$reward, constraints = given$constraints), columns)
}

# ---- settings rounded by hand ---------------------------------------------------

# The largest distance from the suggested values, as a proportion of the input's range on its own scale.
rounded_by_hand <- 0.05

# A logical per row: are its numbers near the suggested ones, but different?
is_rounded <- function(bandit, id, given, asked) {
  domain <- bandit$config$domain
  ranges <- unname(input_ranges(domain))
  near <- rep(TRUE, length(id))
  other <- !near
  for (name in names(given)) {
    values <- given[[name]]
    if (!is.atomic(values) || length(values) != length(id)) return(!near)
    agrees <- agrees_with_query(bandit$config, name, values, asked[[name]])
    j <- match(name, domain$names)
    if (is.numeric(values) && is.numeric(asked[[name]]) && diff(ranges[, j]) > 0) {
      own <- function(x) if (log_inputs(domain)[j]) suppressWarnings(log(x)) else x
      close <- abs(own(values) - own(asked[[name]])) <= rounded_by_hand * diff(ranges[, j])
      near <- near & (agrees | close %in% TRUE)
    } else {
      near <- near & agrees
    }
    other <- other | !agrees
  }
  near & other
}

# Arms, inputs and contexts reported with a reward must be those of its query, because a reward observed elsewhere is
# not an observation of that query. (NA and missing columns are not compared.)
check_conditions_reported <- function(bandit, id, data) {
  queries <- query_frame(bandit, id)
  for (name in intersect(setdiff(names(queries), "id"), names(data))) {
    if (!is.atomic(data[[name]]) || length(data[[name]]) != length(id)) {
      stop_argument("id", sprintf("a data.frame with %s in the column %s", describe(data[[name]]), name),
                    "a data.frame with a value per row in each column")
    }
    agrees <- agrees_with_query(bandit$config, name, data[[name]], queries[[name]])
    if (all(agrees)) next
    bad <- which(!agrees)[1]
    stop_argument("id",
                  sprintf("a data.frame with %s = %s for query %g, which was suggested at %s", name,
                          reported_text(data[[name]][bad]), id[bad] + ids_before(bandit),
                          reported_text(queries[[name]][bad])),
                  "a data.frame whose inputs, arms and contexts are those of its queries",
                  try = "`$add()` for what was evaluated elsewhere, and `$withdraw()` for the query")
  }
}

reported_text <- function(value) {
  if (is.numeric(value) && !is.na(value)) exact_numbers(unname(value)) else readable(as.character(value))
}

# A logical per row. As for arms, numbers agree up to 1e-8 of the input's range, on its own scale.
agrees_with_query <- function(config, name, given, asked) {
  if (is.factor(given)) given <- factor_text(given, name)
  if (is.character(given)) given <- as_text(given)
  silent <- is.na(given)
  if (is.logical(asked)) given <- as.logical(given)
  if (name == "arm") {
    agrees <- !silent
    agrees[!silent] <- check_arms(given[!silent], config$domain, "arm") == asked[!silent] - 1L
  } else if (is.numeric(asked) && is.numeric(given)) {
    agrees <- abs(given - asked) <= 1e-8 * condition_scale(config, name, given, asked)
  } else {
    agrees <- level_text(given) == level_text(asked)
  }
  silent | agrees %in% TRUE
}

# The unit for differences of an input: its range, or its absolute value if it is logarithmic or has no range.
condition_scale <- function(config, name, given, asked) {
  domain <- config$domain
  j <- match(name, domain$names)
  size <- pmax(abs(given), abs(asked))
  if (!is.na(j) && log_inputs(domain)[j]) return(size)
  known <- if (!is.na(j)) input_ranges(domain)[, j] else if (!is.null(config$contexts)) config$contexts[, name]
  if (length(unique(known)) > 1) diff(range(known)) else size
}

# Checks ids of distinct queries. Returns their rows in the log.
check_ids <- function(bandit, id) {
  id <- check_numbers(id, "id")
  rounds <- all_rounds(bandit)
  bad <- id != round(id) | id < 1 | id > rounds
  if (any(bad)) {
    if (rounds) stop_argument("id", sprintf("%g", id[bad][1]), sprintf("the id of an earlier query (1 to %d)", rounds))
    else stop_state("This bandit has no query yet, so there is no id to refer to. Use `$suggest()` first, or ",
                    "`$add()` for earlier results.", argument = "id")
  }
  if (length(id) > 1 && anyDuplicated(id)) {
    stop_argument("id", sprintf("%g twice", id[anyDuplicated(id)]), "distinct ids")
  }
  forgotten <- forgotten_of(bandit)
  gone <- id <= forgotten$rounds
  if (any(gone)) {
    stop_state(sprintf("Query %.0f was forgotten by `$compact(keep = )`. Use ids after %d.", id[gone][1],
                       forgotten$rounds), argument = "id")
  }
  id - forgotten$before
}

# Which of the rewards are new? The same value again changes nothing; a different one is an error. (A query that failed
# may receive a result later.)
check_unreported <- function(bandit, id, reward, constraints, beside = NULL) {
  check_status(bandit, id, c("pending", "failed", "observed", "lost"),
               "a pending query (use `$add()` for other evaluations)")
  reported <- !status_of(bandit, id) %in% c("pending", "failed")
  same <- bandit$queries$reward[id] == reward
  for (j in seq_len(ncol(constraints))) {
    same <- same & get(paste0("g", j), envir = bandit$queries)[id] == constraints[, j]
  }
  if (any(reported) && !is.null(beside)) same <- same & same_numbers(last_extras(bandit, id)$size, beside$size)
  other <- which(reported & !same)
  if (length(other)) {
    stop_state(sprintf("Query %.0f already has the result %s. Use `$amend()` to change it.",
                       id[other[1]] + ids_before(bandit), format(bandit$queries$reward[id[other[1]]])),
               argument = "id")
  }
  !reported
}

check_status <- function(bandit, id, allowed, text) {
  status <- status_of(bandit, id)
  bad <- !status %in% allowed
  if (any(bad)) {
    stop_state(sprintf("Query %.0f is %s; this call needs %s.", id[bad][1] + ids_before(bandit), status[bad][1],
                       text), argument = "id")
  }
}

check_size_unused <- function(size) {
  if (!is.null(size)) stop_unused("size", "it is for rewards that are counts or means of several readings")
}

give_core <- function(bandit, points, contexts, reward, constraints, time, beside) {
  given <- points_in_log(bandit$config, points, contexts)
  transact(bandit, function(handle) cpp_bandit_give(handle, given, contexts, reward, constraints, time, beside, NULL))
  rescale_if_due(bandit, reported = TRUE)
}

# A matrix with a row per reward and a column per constraint.
check_constraint_values <- function(values, bandit, count) {
  m <- constraint_count(bandit$config)
  if (m == 0) {
    check_absent(values, "constraints", "this bandit has no constraints")
    return(no_columns(count))
  }
  values <- constraint_matrix(values, count, m)
  check <- rule_of(bandit)$checks
  if (!is.null(check)) check(values)
  values
}

# A row for each of `count` points, a column for each of `m` constraints.
constraint_matrix <- function(values, count, m) {
  allowed <- paste(amount_of(count, "row"), "of", amount_of(m, "finite constraint value"))
  if (is.null(values)) stop_missing("constraints", allowed)
  if (is.data.frame(values)) check_data_frame(values, "constraints")
  if (!is.null(dim(values)) || m > 1) values <- by_name(values, paste0("g", seq_len(m)), "constraints")
  if (is.data.frame(values)) values <- as.matrix(values)
  if (!is_number(values) || any(!is.finite(values)) || any(abs(values) > largest_number) ||
      length(values) != count * m ||
      (is.matrix(values) && ncol(values) != m) || (!is.matrix(values) && m > 1 && count > 1)) {
    stop_argument("constraints", describe(values), allowed)
  }
  matrix(as.double(values), count, m)
}

register_bandit_kind("core", record = record_core, give = give_core)

# A known reward that was reported again with another note is amended, to the same value.
add_notes <- function(bandit, id) {
  noted <- bandit$.noted
  id <- id[match(id, noted$id, 0L) > 0]
  ids <- as.character(id + ids_before(bandit))
  text <- noted$text[match(id, noted$id)]
  other <- vapply(seq_along(id), function(k) {
    !identical(joined_notes(bandit$notes, ids[k], text[k])[ids[k]], bandit$notes[ids[k]])
  }, NA)
  id <- unique(id[other])
  if (length(id) == 0) return(invisible())
  before <- last_extras(bandit, id)
  record(bandit, "amend", id, bandit$queries$reward[id],
         beside = observation_extras(length(id), size = before$size, spread = before$spread))
}
