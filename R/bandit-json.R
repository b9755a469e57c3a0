# Bandits as JSON. Layer: bandit.

#' Write a bandit as JSON, and read it
#'
#' `as_json()` writes a bandit's settings and event log as JSON; `from_json()` restores the bandit from it.
#'
#' Any language can read the text. Use it for archives that must be kept for many years, for inspection, and for
#' exchange. The event log is the list of all suggestions, rewards and refits. The restored bandit has the same data and
#' posterior and, with the same seed, makes the same choices, to the bit. During a run, a journal ([open_bandit()]) or a
#' [bandit_store()] saves a bandit continuously.
#'
#' @section Schema, version 1: The text is one JSON object with these members.
#'
#' * `format`: `"gpbandits bandit"`. `version`: 1. `package`: the version that wrote it.
#' * `settings`: the settings that [gp_bandit()] makes from its arguments. A number, string or flag is written directly.
#'   Every other value is an object with `type` (`"double"`, `"integer"`, `"logical"`, `"character"`, `"list"`),
#'   `values` (an array) and `attributes` (names, dimensions, classes). Numbers that fifteen digits do not give exactly
#'   are strings: hexadecimal fractions of C99.
#' * `queries`: an object of arrays with one number for each query, in order; see *Queries*.
#' * `events`: an object of arrays with one number for each event, in order; see *Events*.
#' * `refits`: the parameters of each refit, in the form of `settings`.
#' * `memory`: the state of a rule written in R, if there is one.
#' * `reasons`: an object of strings by id, if queries failed or were withdrawn with a reason.
#' * `notes`: an object by id of objects with the further columns of the history, if there are any.
#'
#' Numbers of queries and events have up to seventeen digits, which give a double exactly. `null` is a missing number.
#' `"NaN"`, `"Inf"` and `"-Inf"` are strings.
#'
#' @section Queries: The members of `queries` are
#'
#' * `arm` (from 0; `null` on a box) and `context` (from 0), or the model's inputs `in.1`, ... (logarithms of
#'   logarithmic inputs, levels by number);
#' * `action`: 1 policy, 2 explore, 3 given;
#' * `segment`;
#' * `mean`, `sd` and `width` at the time of the choice, in the model's units.
#'
#' @section Events: The members of `events` are
#'
#' * `kind`: 1 query, 2 reward, 3 given, 4 restart, 5 refit, 6 epoch, 7 amend, 8 withdraw, 9 fail, 10 arms, 11
#'   checkpoint;
#' * `id`: the number of the query in `queries`;
#' * `reward` and `time`;
#' * `noise_var`: the noise variance of this reward. In an amendment `null` leaves it unchanged, and 0 restores the
#'   bandit's;
#' * `size`: the number of measurements of which the reward is the mean;
#' * `spread`: the sum of their squared deviations from it;
#' * `other`: the query with which it was compared;
#' * `outcome`: the number of the outcome, the first objective first; `null` for all, or if there is only one;
#' * `g1`, ...: constraint values;
#' * `arms`: the eligible arms, if not all were eligible, such as `"1-3,7"`. In `"|2=0.5"` the second model input was
#'   fixed.
#'
#' A checkpoint is the first event of a bandit with forgotten rounds ([forget-rounds]). Its fields are
#'
#' * `size`: the number of forgotten rounds;
#' * `other`: the number of queries that represent them. These are the first queries, with their numbers, means and
#'   spreads of rewards;
#' * `spread`: the number of forgotten rounds that were exploration;
#' * `reward`: the last query that was suggested before all forgotten rewards were observed.
#'
#' @param bandit a bandit. If it is in a store or has a journal, its present state is written; the restored bandit has
#'   neither.
#' @param text JSON written by `as_json()`: one string, or its lines.
#' @return
#'
#' * `as_json()`: one string, in ASCII. The state of R's random generator is not part of it.
#' * `from_json()`: a [GPBandit].
#' @section Errors: A `gpbandits_error`
#'
#' * if the settings contain your own functions (a kernel, width, policy, cost or rule), because JSON is data, and code
#'   in it would have to be run;
#' * if the text is not JSON, has a later version, or is not a bandit's.
#'
#' The text can be untrusted. It is checked as a whole before it is used, and nothing in it is evaluated. A log that no
#' bandit can have is an error. The text is never treated as a path or an address.
#' @seealso [open_bandit()], [bandit_store()], [compatibility].
#' @concept Python
#' @concept serialization
#' @concept export
#' @concept archive
#' @concept data interchange
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' b <- gp_ucb(x, kernel_se(0.2), noise_var = 0.01)
#' for (t in 1:3) b$observe(b$suggest()$id, sin(6 * t))
#' text <- as_json(b)
#' nchar(text)
#' identical(from_json(text)$suggest(), b$suggest())
#' @export
as_json <- function(bandit) {
  bandit <- frame_of(check_bandit(bandit))
  rebuild(bandit)
  config <- bandit$config
  check_plain_settings(config)
  members <- list(format = cpp_json_strings(json_format), version = as.character(json_version),
                  package = cpp_json_strings(as.character(utils::packageVersion("gpbandits"))),
                  settings = exact_text(config),
                  queries = json_columns(bandit$queries, names(written_query_columns(config))),
                  events = json_columns(events_with_values(bandit), c(names(written_event_columns(config)), "arms")),
                  refits = json_array(vapply(bandit$refits, exact_text, "")))
  if (length(bandit$reasons)) {
    members$reasons <- json_object(stats::setNames(cpp_json_strings(unname(bandit$reasons)), names(bandit$reasons)))
  }
  if (length(bandit$notes)) members$notes <- json_object(bandit$notes)
  if (!is.null(bandit$memory)) members$memory <- exact_text(bandit$memory)
  json_object(members)
}

#' @rdname as_json
#' @export
from_json <- function(text) {
  if (missing(text)) stop_missing("text", "JSON as as_json() writes it")
  # (Any class is accepted: other packages mark text as JSON by a class.)
  if (is.character(text)) text <- as.vector(unclass(text))
  if (!is.character(text) || length(text) == 0 || anyNA(text)) {
    stop_argument("text", describe(text), "JSON as as_json() writes it")
  }
  text <- paste(text, collapse = "\n")
  refuse <- function(...) stop_data("This JSON does not describe a bandit (", ...,
                                    "). Use JSON as as_json() writes it.", argument = "text")
  found <- as_package_errors(cpp_json_read(text, vectors = TRUE), refuse)
  check_json_head(found)
  bandit <- as_package_errors(bandit_from_json(found), refuse)
  rebuild(as.environment(bandit))
  bandit
}

json_format <- "gpbandits bandit"
json_version <- 1L

check_plain_settings <- function(config) {
  # (A prior over the optimum is part of the policy that uses it.)
  settings <- c(config, list(prior_optimum = config$policy$prior_optimum))
  settings$policy$prior_optimum <- NULL
  code <- Filter(function(name) has_code(settings[[name]]), names(settings))
  if (length(code)) {
    stop_argument("bandit", sprintf("one whose settings contain custom functions or formulas (`%s`)", code[1]),
                  "one whose settings are data (JSON carries no code)",
                  try = "a journal, a store or `saveRDS()`, which keep functions and are opened with `trust = TRUE`")
  }
}

# The log's events, with the constraint values reported in them.
events_with_values <- function(bandit) {
  events <- table_columns(bandit$events)
  queries <- table_columns(bandit$queries)
  for (name in constraint_names(bandit$config, "g")) {
    reported <- events$kind %in% event_kind[c("reward", "given")]
    events[[name]] <- ifelse(reported, queries[[name]][pmax(events$id, 1L)], NA_real_)
  }
  events
}

# ---- columns --------------------------------------------------------------------

json_columns <- function(table, names) {
  columns <- if (is.environment(table)) table_columns(table) else table
  json_object(lapply(columns[names], function(x) {
    json_array(if (is.character(x)) cpp_json_strings(x) else json_numbers(x))
  }))
}

# The fewest digits that give the same double when read.
json_numbers <- function(x) {
  if (is.integer(x)) return(ifelse(is.na(x), "null", sprintf("%d", x)))
  text <- sprintf("%.15g", x)
  rough <- which(is.finite(x))
  rough <- rough[cpp_numbers_from_text(text[rough]) != x[rough]]  # (Compared as read here: R rounds twice.)
  text[rough] <- sprintf("%.17g", x[rough])
  other <- !is.finite(x)
  text[other] <- ifelse(is.na(x[other]) & !is.nan(x[other]), "null", json_text(as.character(x[other])))
  text
}

columns_from_json <- function(found, columns) {
  if (!setequal(names(found), names(columns))) stop_fault("its columns are not those of a log")
  read <- lapply(names(columns), function(name) column_from_json(found[[name]], columns[[name]]))
  if (length(unique(lengths(read))) > 1) stop_fault("its columns have different lengths")
  stats::setNames(read, names(columns))
}

column_from_json <- function(values, like) {
  if (length(values) == 0) return(like)
  if (is.character(like)) return(if (is.character(values)) values else vapply(values, string_from_json, ""))
  numbers <- if (is.double(values)) values else vapply(values, number_from_json, 0)
  if (is.integer(like)) integers_of_doubles(numbers) else numbers
}

number_from_json <- function(found) {
  if (is.null(found)) return(NA_real_)
  if (is.double(found) && length(found) == 1) return(found)
  special <- match(list(found), list("NaN", "Inf", "-Inf"))
  if (is.na(special)) stop_fault("an invalid number")
  c(NaN, Inf, -Inf)[special]
}

reasons_from_json <- function(found) {
  if (length(found) == 0) return(NULL)
  if (!is.list(found) || is.null(names(found))) stop_fault("its reasons have no ids")
  vapply(found, string_from_json, "")
}

notes_from_json <- function(found) {
  if (length(found) == 0) return(NULL)
  single <- function(one) is.atomic(one) && length(one) == 1
  whole <- function(one) is.list(one) && !is.null(names(one)) && all(vapply(one, single, NA))
  if (!is.list(found) || is.null(names(found)) || !all(vapply(found, whole, NA))) {
    stop_fault("its notes are not columns of queries")
  }
  vapply(found, note_text, "")
}

# ---- the bandit ---------------------------------------------------------------------

json_members <- c("format", "version", "package", "settings", "queries", "events", "refits")

check_json_head <- function(found) {
  if (!is.list(found) || !identical(found$format, json_format)) {
    stop_data("This JSON is not a bandit's. Use JSON as as_json() writes it.", argument = "text")
  }
  version <- found$version
  if (!is.double(version) || length(version) != 1 || version != json_version) {
    stop_data(sprintf("This JSON has another version of the schema; this version of the package reads version %d.",
                      json_version), argument = "text")
  }
  missing <- setdiff(json_members, names(found))
  if (length(missing)) {
    stop_data(sprintf("This JSON has no `%s`. Use JSON as as_json() writes it.", missing[1]), argument = "text")
  }
}

bandit_from_json <- function(found) {
  config <- value_from_json(found$settings, FALSE)
  check_config(config)
  lacking <- setdiff(later_event_columns, names(found$events))
  found$events[lacking] <- list(vector("list", length(found$events$kind)))
  events <- columns_from_json(found$events, c(written_event_columns(config), list(arms = character())))
  queries <- columns_from_json(found$queries, written_query_columns(config))
  if (any(!events$id %in% c(0L, seq_along(queries$arm)))) stop_fault("its events refer to missing queries")
  queries <- add_rewards(queries, events, config)
  refits <- lapply(found$refits, value_from_json, FALSE)
  bandit <- new_bandit(config, table_of(queries[names(query_columns(config))]),
                       table_of(events[names(event_columns())]), refits, reasons = reasons_from_json(found$reasons),
                       notes = notes_from_json(found$notes))
  if (!is.null(found$memory)) bandit$memory <- value_from_json(found$memory, FALSE)
  bandit
}
