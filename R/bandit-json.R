# Bandits as JSON. Layer: bandit.

#' A bandit as plain JSON
#'
#' `as_json()` writes a bandit's settings and its log as JSON that any language can read; `from_json()` makes the bandit
#' again, which goes on as the original would: the same data, the same seed, the same choices, to the bit. For what has
#' to be kept for years, looked at, or handed on; a journal or a store keeps a bandit while it lives.
#'
#' @section Schema, version 1: an object with the members
#'   * `format`: `"gpbandits bandit"`; `version`: 1; `package`: the version that wrote it;
#'   * `settings`: what [gp_bandit()] made of its arguments. A number, string or flag stands for itself; everything else
#'     is an object of `type` (`"double"`, `"integer"`, `"logical"`, `"character"`, `"list"`), `values`, an array, and
#'     `attributes` (names, dimensions, classes). Numbers that fifteen digits do not give exactly are strings,
#'     hexadecimal fractions of C99;
#'   * `queries`: an object of arrays, one number a query, the first query first: `arm` (from 0, `null` on a box) and
#'     `context` (from 0) or the model's inputs `in.1`, ... (logarithms of logarithmic inputs, levels by number),
#'     `action` (1 policy, 2 explore, 3 given), `segment`, and, as they were at the choice, in the model's units,
#'     `mean`, `sd`, `width`;
#'   * `events`: likewise, in the order in which they happened: `kind` (1 query, 2 reward, 3 given, 4 restart, 5 refit,
#'     6 epoch, 7 amend, 8 withdraw, 9 fail, 10 arms, 11 checkpoint), `id` of the query (its place among `queries`),
#'     `reward`, `time`, `noise_var` (of an amendment `null` leaves it as it was, 0 is the bandit's own again), `size`
#'     (of how many readings it is the mean), `spread` (the sum of their squares about it), `other` (the query that it
#'     was compared with), `outcome` (the number of the one that it is about, the first objective first; `null` for all,
#'     or where there is one), constraint values `g1`, ..., and `arms`, the eligible ones where not all were (`"1-3,7"`;
#'     `"|2=0.5"`: the second model input was fixed). A checkpoint, the first event of a bandit that has forgotten
#'     rounds ([compact_log()]), has their number as `size`, as `other` the number of the queries that stand for them
#'     (the first ones, with their numbers, means and spreads of rewards), as `spread` how many were explored, as
#'     `reward` the last query that was asked before all their rewards were known;
#'   * `refits`: the parameters of each refit, as settings are; `memory`: what a rule in R remembers, where there is
#'     one;
#'   * `reasons`, where there are any: an object of strings by ids, why queries failed or were withdrawn.
#'
#'   Numbers of queries and events have up to seventeen digits, which give a double exactly; `null` is a number that is
#'   not known; `"NaN"`, `"Inf"`, `"-Inf"` are strings.
#'
#' @param bandit a bandit; one in a store or with a journal is written as it is now, and what is made from the text has
#'   neither.
#' @param text JSON as `as_json()` writes it: one string, or its lines.
#' @return `as_json()`: one string, in ASCII. `from_json()`: a bandit. R's random generator is not part of it.
#' @section Errors: a `gpbandits_error` where settings hold functions of the user's (a kernel, width, policy, cost or
#'   rule: JSON is data, and code that came with it would have to be run); where the text is no JSON, of a later
#'   version, or not a bandit's. Text may be anybody's: nothing of it is evaluated, it is checked as a whole before it
#'   is used, and a log that does not tell a bandit's life is refused. It is never taken for a path or an address.
#' @seealso [open_bandit()], [bandit_store()].
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
  heal(bandit)
  config <- bandit$config
  check_plain_settings(config)
  members <- list(format = cpp_json_strings(json_format), version = as.character(json_version),
                  package = cpp_json_strings(as.character(utils::packageVersion("gpbandits"))),
                  settings = exact_text(config),
                  queries = json_columns(bandit$queries, names(journal_query_columns(config))),
                  events = json_columns(events_with_values(bandit), c(names(journal_event_columns(config)), "arms")),
                  refits = json_array(vapply(bandit$refits, exact_text, "")))
  if (length(bandit$reasons)) {
    members$reasons <- json_object(stats::setNames(cpp_json_strings(unname(bandit$reasons)), names(bandit$reasons)))
  }
  if (has_rule(bandit)) members$memory <- exact_text(bandit$memory)
  json_object(members)
}

#' @rdname as_json
#' @export
from_json <- function(text) {
  if (missing(text)) stop_argument("text", "missing", "JSON as as_json() writes it")
  # (Of any class: others mark text as JSON.)
  if (is.character(text)) text <- as.vector(unclass(text))
  if (!is.character(text) || length(text) == 0 || anyNA(text)) {
    stop_argument("text", describe(text), "JSON as as_json() writes it")
  }
  text <- paste(text, collapse = "\n")
  refuse <- function(...) stop_argument("text", paste0("no bandit's (", ..., ")"), "JSON as as_json() writes it")
  found <- as_ours(cpp_json_read(text, vectors = TRUE), refuse)
  check_json_head(found)
  bandit <- as_ours(bandit_from_json(found), refuse)
  heal(as.environment(bandit))
  bandit
}

json_format <- "gpbandits bandit"
json_version <- 1L

check_plain_settings <- function(config) {
  # (A prior over the optimum is kept with the policy that uses it.)
  settings <- c(config, list(prior_optimum = config$policy$prior_optimum))
  settings$policy$prior_optimum <- NULL
  code <- Filter(function(name) has_code(settings[[name]]), names(settings))
  if (length(code)) {
    stop_argument("bandit", sprintf("one with functions or formulas of the user's among its settings (`%s`)", code[1]),
                  "one whose settings are data (JSON carries no code)",
                  try = "a journal, a store or saveRDS(), which keep functions and are opened with `trust = TRUE`")
  }
}

# The log's events, with the constraint values that came with them.
events_with_values <- function(bandit) {
  events <- table_columns(bandit$events)
  queries <- table_columns(bandit$queries)
  for (name in constraint_names(bandit$config, "g")) {
    told <- events$kind %in% event_kind[c("reward", "given")]
    events[[name]] <- ifelse(told, queries[[name]][pmax(events$id, 1L)], NA_real_)
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

# Digits that give the same double again, as few as do it.
json_numbers <- function(x) {
  if (is.integer(x)) return(ifelse(is.na(x), "null", sprintf("%d", x)))
  words <- sprintf("%.15g", x)
  rough <- which(is.finite(x))
  rough <- rough[cpp_numbers_from_words(words[rough]) != x[rough]]  # (As they are read: R itself rounds twice.)
  words[rough] <- sprintf("%.17g", x[rough])
  other <- !is.finite(x)
  words[other] <- ifelse(is.na(x[other]) & !is.nan(x[other]), "null", json_words(as.character(x[other])))
  words
}

columns_from_json <- function(found, columns) {
  if (!setequal(names(found), names(columns))) stop("its columns are not a log's")
  read <- lapply(names(columns), function(name) column_from_json(found[[name]], columns[[name]]))
  if (length(unique(lengths(read))) > 1) stop("its columns have different lengths")
  stats::setNames(read, names(columns))
}

column_from_json <- function(values, like) {
  if (length(values) == 0) return(like)
  if (is.character(like)) return(if (is.character(values)) values else vapply(values, string_from_json, ""))
  numbers <- if (is.double(values)) values else vapply(values, number_from_json, 0)
  if (is.integer(like)) whole_numbers(numbers) else numbers
}

number_from_json <- function(found) {
  if (is.null(found)) return(NA_real_)
  if (is.double(found) && length(found) == 1) return(found)
  special <- match(list(found), list("NaN", "Inf", "-Inf"))
  if (is.na(special)) stop("a number that is none")
  c(NaN, Inf, -Inf)[special]
}

reasons_from_json <- function(found) {
  if (length(found) == 0) return(NULL)
  if (!is.list(found) || is.null(names(found))) stop("its reasons have no ids")
  vapply(found, string_from_json, "")
}

# ---- the bandit ---------------------------------------------------------------------

json_members <- c("format", "version", "package", "settings", "queries", "events", "refits")

check_json_head <- function(found) {
  if (!is.list(found) || !identical(found$format, json_format)) {
    stop_argument("text", "JSON of something else", "JSON as as_json() writes it")
  }
  version <- found$version
  if (!is.double(version) || length(version) != 1 || version != json_version) {
    stop_argument("text", "JSON of another version of the schema", sprintf("version %d", json_version))
  }
  missing <- setdiff(json_members, names(found))
  if (length(missing)) stop_argument("text", sprintf("JSON without `%s`", missing[1]), "JSON as as_json() writes it")
}

bandit_from_json <- function(found) {
  config <- value_from_json(found$settings, FALSE)
  check_config(config)
  lacking <- setdiff(later_event_columns, names(found$events))
  found$events[lacking] <- list(vector("list", length(found$events$kind)))
  events <- columns_from_json(found$events, c(journal_event_columns(config), list(arms = character())))
  queries <- columns_from_json(found$queries, journal_query_columns(config))
  if (any(!events$id %in% c(0L, seq_along(queries$arm)))) stop("its events are about queries that are not there")
  queries <- add_rewards(queries, events, config)
  refits <- lapply(found$refits, value_from_json, FALSE)
  bandit <- new_bandit(config, table_of(queries[names(query_columns(config))]),
                       table_of(events[names(event_columns())]), refits, reasons = reasons_from_json(found$reasons))
  if (!is.null(found$memory)) bandit$memory <- value_from_json(found$memory, FALSE)
  bandit
}
