# The state of a search: its evaluations and pending queries. Layer: search.

# Adds points in their order, in or outside the domain: observed with rewards (and, if given, their noise variances),
# pending, or failed.
add_in_order <- function(bandit, known) {
  inside <- as.environment(bandit)
  if (!is.null(known$values)) return(add_outcomes_in_order(bandit, known))
  first <- table_size(inside$queries)
  noted <- notes_of_experiments(known)
  kind <- ifelse(known$failed, "failed", ifelse(is.na(known$reward), "pending", "observed"))
  stretches <- rle(kind)
  for (rows in split(seq_along(kind), rep(seq_along(stretches$lengths), stretches$lengths))) {
    x <- known$x[rows, , drop = FALSE]
    context <- if (!is.null(known$contexts)) known$contexts[rows, , drop = FALSE]
    if (kind[rows[1]] == "observed") {
      add_given(inside, x, reward = known$reward[rows], context = context, noise_var = known$noise_var[rows],
                size = known$size[rows], spread = known$spread[rows], noted = noted[rows], find = found_anywhere)
    } else {
      add_given(inside, x, context = context, noted = noted[rows], find = found_anywhere)
    }
    if (kind[rows[1]] == "failed") fail_with_reasons(bandit, first + rows, known$reason[rows])
  }
}

asked_queries <- function(bandit) which(table_column(bandit$queries, "action") != match("given", action_names))

evaluated <- function(search) if (is.null(search$looks)) sum(search$origin != 0) else length(search$looks)

new_task <- function(origin, domain, row) list(origin = origin, attempts = 0, point = one_point(domain, row))

query_task <- function(id, bandit) {
  new_task(id, bandit$config$domain, query_frame(bandit, id)[bandit$config$domain$names])
}

# After the time limit, no new evaluation starts.
is_out_of_time <- function(search) {
  search$out_of_time <- seconds_since(search$begun) >= search$time_limit
  search$out_of_time
}

# The reasons for the failures of a history, in their order; NULL if an evaluation succeeded, or none has finished.
failures_in <- function(history, config) {
  own <- history[history[[status_name(config)]] != "given", , drop = FALSE]
  if (nrow(own) == 0 || !all(says_nothing(own, config))) return(NULL)
  status <- own[[status_name(config)]]
  # (In a result, see with_reasons().)
  reason <- own[[beside("reason", config$domain$names)]]
  if (is.null(reason)) status else ifelse(is.na(reason), status, reason)
}

# Ten failures are sufficient if all have the same reason. Otherwise at least the number of points of the design is
# required.
reason_of_failures <- function(reasons, design) {
  if (length(reasons) < 10 || (length(unique(reasons)) > 1 && length(reasons) < design)) return(NULL)
  failure_text(reasons)
}

failure_text <- function(reasons) {
  if (length(reasons) == 1) return(paste("the only evaluation failed:", reasons))
  sprintf("none of %d evaluations succeeded, %s: %s", length(reasons),
          if (length(unique(reasons)) == 1) "all for one reason" else "the first", reasons[1])
}

# Detects R's error message (in the language of the session) for an objective with a wrong number of arguments, which
# fails at every point. `beside`: the second argument that the objective receives.
check_signature <- function(objective, error, beside = NULL) {
  if (is.null(error)) return(invisible())
  wants <- formals(args(given_objective(objective)))
  required <- names(wants)[vapply(wants, function(w) is.symbol(w) && !nzchar(as.character(w)), NA)]
  required <- setdiff(utils::tail(required, if (is.null(beside)) -1 else -2), "...")
  missing_text <- function(name) gettextf("argument \"%s\" is missing, with no default", name, domain = "R")
  said <- vapply(required, missing_text, "")
  unused <- sub("%s.*", "", gettext("unused argument %s", domain = "R"))
  takes_too_few <- !is.null(beside) && startsWith(error, unused)
  if (error %in% said || startsWith(error, unused)) {
    if (takes_too_few) stop_argument("objective", "one that takes no second argument",
                                     sprintf("a function of one point and of %s", beside))
    else stop_argument("objective", sprintf("one that stops at its first call with: %s", error),
                       sprintf("a function of one point, or of the inputs by their names%s",
                               if (is.null(beside)) "" else paste(" and of", beside)),
                       try = if (is.null(beside)) "`function(point) f(point[[1]], point[[2]])`")
  }
}

evaluation_line <- function(search, at = nrow(search$history), number = evaluated(search)) {
  config <- search$bandit$config
  row <- search$history[at, ]
  of_form(config, "evaluation_line")(search, row, number)
}

reward_line <- function(search, row, number) {
  config <- search$bandit$config
  best <- search$history$reward[best_row(rewards_inside(search$history, config$domain), config)]
  sprintf("%s: %s%s  at %s", evaluation_number(search, number),
          if (is.na(row$reward)) row[[status_name(config)]] else format(row$reward, digits = 6),
          if (length(best)) sprintf("  (best %s)", format(best, digits = 6)) else "",
          describe_point(row[config$domain$names]))
}

evaluation_number <- function(search, number) {
  if (is.infinite(search$evaluations)) return(sprintf("%d", as.integer(number)))
  sprintf("%*d of %d", nchar(search$evaluations), as.integer(number), as.integer(search$evaluations))
}

# The result of an evaluation: its reward, or NA and the reason. (With several outcomes: `values`.)
read_outcome <- function(outcome, attempts, config = NULL) of_form(config, "read")(outcome, attempts, config)

# Rewards with a likelihood: a number, the name of a level, or c(reward = , size = ).
read_response <- function(outcome, attempts, config) {
  value <- as.list(outcome$value)
  if (!is.null(outcome$lost) || !is.null(outcome$error)) return(read_reward(outcome, attempts, config))
  given <- if (identical(sort(names(value)), c("reward", "size"))) value
           else list(reward = if (length(value) == 1) value[[1]], size = 1)
  no_reward <- function(e) {
    list(reward = NA_real_, status = paste("returned", describe(outcome$value)), more = list(size = NA_real_))
  }
  catch_error({
    size <- check_sizes(given$size, 1)
    reward <- trait(config$rewards, "outcome")(given$reward, size)
    list(reward = as.double(reward), status = "observed", more = list(size = size))
  }, no_reward)
}

read_reward <- function(outcome, attempts, config) {
  status <- if (!is.null(outcome$lost)) sprintf("%s (%d attempts)", outcome$lost, as.integer(attempts))
            else if (!is.null(outcome$error)) paste("error:", one_text(outcome$error))
  value <- outcome$value
  if (is.null(status) && is_number(value) && length(value) == 1 && is.finite(value)) {
    return(list(reward = as.double(value), status = "observed"))
  }
  list(reward = NA_real_, status = if (is.null(status)) paste("returned", describe(value)) else status)
}

add_row <- function(search, row) {
  frame <- data.frame(as.list(row$point), check.names = FALSE)
  if (is.null(row$values)) frame$reward <- row$reward else frame[names(row$values)] <- as.list(row$values)
  own <- c(list(status = row$status), row$more)
  frame[beside(names(own), names(frame))] <- own
  # (Only points with given rewards have separate noise variances.)
  frame[setdiff(names(search$history), names(frame))] <- NA_real_
  search$history <- rbind(search$history, frame)
  search$origin <- c(search$origin, as.integer(row$origin))
}

# Records evaluations in a bandit; values that are not numbers are failures. `noise_var`: NULL, or one for each.
observe_evaluated <- function(bandit, id, reward, noise_var = NULL, size = NULL) {
  known <- is.finite(reward)
  if (any(known)) bandit$observe(id[known], reward[known], noise_var = noise_var[known], size = size[known])
  if (any(!known)) bandit$fail(id[!known])
}

# The same for points that the bandit did not suggest, in their order.
add_evaluated <- function(bandit, x, reward, noise_var = NULL, contexts = NULL, size = NULL) {
  known <- is.finite(reward)
  add_in_order(bandit, list(x = x, reward = ifelse(known, reward, NA), failed = !known, noise_var = noise_var,
                            contexts = contexts, size = size))
}

# `hopeless`: the reason for which a search was stopped, or NULL.
warn_without_success <- function(history, config, hopeless = NULL) {
  inputs <- config$domain$names
  if (!is.null(hopeless)) return(warn_of_failures(hopeless, "search", inputs))
  reasons <- failures_in(history, config)
  if (!is.null(reasons)) warn_of_failures(failure_text(reasons), inputs = inputs)
}

# `early`: the name of the process that stopped before its budget was spent, or NULL. `inputs`: names of the inputs.
warn_of_failures <- function(wording, early = NULL, inputs = NULL) {
  text <- if (is.null(early)) paste0(toupper(substr(wording, 1, 1)), substring(wording, 2))
          else sprintf("The %s ended early: %s", early, wording)
  remedy <- if (grepl("(reason|first|failed): returned ", wording)) {
    paste0("The objective must return one finite number, or a named number for each outcome.",
           if (grepl("returned (TRUE|FALSE|\"(yes|no)\")", wording)) {
             " Results that are yes or no need `rewards = rewards_binary()`."
           })
  } else {
    "Call the objective at one point to find the cause."
  }
  warn_gpbandits("evaluation", "no_success", sub("[.]$", "", text), ". ", remedy,
                 if (length(inputs)) sprintf(" A point has the inputs %s.", quoted(inputs)), call = user_call())
}

known_history <- function(known, domain, config = NULL) of_form(config, "known_history")(known, domain)

known_rewards_history <- function(known, domain, ...) {
  frame <- as.data.frame(known$x)
  names(frame) <- domain$names
  own <- c(list(reward = known$reward, status = rep("given", length(known$reward))),
            known[intersect("noise_var", names(known))], list(...))
  with_further(cbind(frame, as.data.frame(distinct_columns(own, domain$names), optional = TRUE)), known)
}

# A search's history with the further columns of given experiments.
with_further <- function(frame, known) {
  if (is.null(known$further)) return(frame)
  names(known$further) <- apart_from(names(known$further), c(names(frame), history_columns, "best"))
  cbind(frame, known$further)
}

outcomes_line <- function(search, row, number) {
  values <- unlist(row[outcome_names(search$bandit$config)])
  said <- if (all(is.na(values))) row[[status_name(search$bandit$config)]]
          else paste(shown_names(names(values), search$bandit$config), vapply(values, format, "", digits = 6),
                     collapse = ", ")
  sprintf("%s: %s  at %s", evaluation_number(search, number), said,
          describe_point(row[search$bandit$config$domain$names]))
}

# Records in the bandit the results that it has not received yet: points that it did not suggest, in their order, and
# the rewards of its queries.
settle <- function(search) of_form(search$bandit$config, "settle")(search)

settle_outcomes <- function(search) {
  if (!search$recording) return(invisible())
  bandit <- as.environment(search$bandit)
  names <- outcome_names(bandit$config)
  values <- as.matrix(search$history[names])
  added <- function() setdiff(seq_len(table_size(bandit$queries)), asked_queries(bandit))
  given <- which(search$origin <= 0)
  # (A search may have been interrupted after its points were added and before their failures were recorded.)
  end_missing <- function() {
    ids <- added()
    for (k in which(status_of(bandit, ids) %in% c("pending", "partial"))) {
      # A missing value of a known point is not a failure.
      failed <- search$origin[given[k]] < 0
      withdraw_several(bandit, ids[k], names[is.na(values[given[k], ])], failed)
    }
  }
  end_missing()
  new <- given[seq_along(given) > length(added())]
  if (length(new)) {
    add_given(bandit, search$history[new, bandit$config$domain$names, drop = FALSE],
              reward = as.data.frame(values[new, , drop = FALSE]), find = found_anywhere)
    end_missing()
  }
  for (row in which(search$origin > 0)) record_values(bandit, search$origin[row], values[row, ])
}

# The values of a point by name, formatted according to their types.
describe_point <- function(point, domain = NULL) {
  point_text(as.list(point), 5, if (!is.null(domain)) units_of(domain))
}

register_form("reward", evaluation_line = reward_line, read = read_reward, known_history = known_rewards_history)
register_form("response", read = read_response,
              known_history = function(known, domain) {
                known_rewards_history(known, domain, size = or_else(known$size, rep(1, length(known$reward))))
              })
register_form("comparison", read = read_reward)
register_form("outcomes", evaluation_line = outcomes_line, read = read_outcomes, known_history = known_outcomes)
