# Requests and replies of the HTTP service. Layer: service.

# The data that a client sends to a service are checked field by field: JSON types, no duplicates, no unknown fields.

body_of <- function(request) {
  bytes <- request$rook.input$read()
  if (any(bytes == as.raw(0))) stop_data("`body` must be JSON, not bytes that are no text.", argument = "body")
  text <- rawToChar(bytes)
  if (!nzchar(text)) return(list())
  found <- catch_error(cpp_json_read(text, vectors = FALSE), function(e) {
    stop_data("`body` must be a JSON object, not text that is no JSON (", message_of(e), ").", argument = "body")
  })
  if (!is.list(found) || is.null(names(found))) {
    # (An answer must not contain text from an untrusted client.)
    stop_argument("body", if (is.null(found) || is.list(found)) json_message(found) else "a value", "a JSON object")
  }
  found
}

# The values of a query string are text.
query_of <- function(request) {
  text <- sub("^\\?", "", paste0(request$QUERY_STRING, ""))
  if (nchar(text, "bytes") > longest_query) {
    stop_argument("query", sprintf("%d bytes", nchar(text, "bytes")), sprintf("at most %d bytes", longest_query))
  }
  parts <- strsplit(text, "&", fixed = TRUE)[[1]]
  parts <- parts[nzchar(parts)]
  values <- lapply(ifelse(grepl("=", parts, fixed = TRUE), sub("^[^=]*=", "", parts), ""), decoded)
  check_once(stats::setNames(values, vapply(sub("=.*", "", parts), decoded, "", USE.NAMES = FALSE)))
}

longest_query <- 16384L

decoded <- function(text) {
  whole <- !grepl("%(?![0-9A-Fa-f]{2})|%00", text, perl = TRUE)
  found <- if (whole) without_percents(text)
  if (is.null(found) || !validUTF8(found)) {
    stop_argument("query", "text that is not encoded as in a URL", "UTF-8, with %xx")
  }
  found
}

# As utils::URLdecode(), which takes quadratic time.
without_percents <- function(text) {
  bytes <- charToRaw(text)
  at <- which(bytes == charToRaw("%"))
  if (length(at) == 0) return(text)
  bytes[at] <- as.raw(strtoi(paste0("0x", rawToChar(bytes[at + 1], TRUE), rawToChar(bytes[at + 2], TRUE)), 16L))
  rawToChar(bytes[-c(at + 1, at + 2)])
}

# A name with two values is an error, because different readers would use different values.
check_once <- function(fields) {
  twice <- names(fields)[duplicated(names(fields))]
  if (length(twice)) stop_argument(twice[1], "given twice", "given once")
  fields
}

check_fields <- function(fields, known) {
  at <- match(names(fields), known)
  if (anyNA(at)) stop_unknown(names(fields)[is.na(at)][1], known)
}

json_message <- function(value) {
  if (is.null(value)) "null"
  else if (!is.list(value)) describe(value)
  else if (is.null(names(value))) sprintf("an array of %d", length(value))
  else sprintf("an object of %d", length(value))
}

# A single value or an array of values that pass the check `holds`; NULL if the field is missing.
field_values <- function(fields, name, holds, allowed) {
  value <- fields[[name]]
  if (is.null(value) || (!is.list(value) && holds(value))) return(value)
  entries <- as.list(value)
  if (length(entries) == 0 || !is.null(names(entries)) || !all(vapply(entries, holds, NA))) {
    stop_argument(name, json_message(value), allowed)
  }
  unlist(entries)
}

is_json_number <- function(x) is.numeric(x) && length(x) == 1 && is.finite(x)

# (A name or a reason is kept in the database permanently.)
is_json_text <- function(x) is.character(x) && length(x) == 1 && nzchar(x) && nchar(x) <= 1000

numbers_field <- function(fields, name) {
  value <- field_values(fields, name, is_json_number, "a number, or an array of numbers")
  if (!is.null(value)) as.double(value)
}

# A number, an array of numbers, or an object with a number for each of some outcomes.
numbers_by_name <- function(fields, name) {
  value <- fields[[name]]
  if (!is.list(value) || is.null(names(value))) return(numbers_field(fields, name))
  if (!all(vapply(check_once(value), is_json_number, NA))) {
    stop_argument(name, json_message(value), "an object with numbers")
  }
  vapply(value, as.double, 0)
}

texts_field <- function(fields, name) {
  field_values(fields, name, is_json_text, "a text of 1 to 1000 characters, or an array of such texts")
}

text_field <- function(fields, name) {
  value <- fields[[name]]
  if (!is.null(value) && !is_json_text(value)) {
    stop_argument(name, json_message(value), "a text of 1 to 1000 characters")
  }
  value
}

arms_field <- function(fields, name) {
  if (is.null(fields[[name]])) return(NULL)
  if (any(vapply(as.list(fields[[name]]), is.character, NA))) texts_field(fields, name) else numbers_field(fields, name)
}

# An object with a number, a text or a logical value for each of some inputs.
values_field <- function(fields, name) {
  value <- fields[[name]]
  if (is.null(value)) return(NULL)
  single <- function(one) is_json_number(one) || is_json_text(one) || (is.logical(one) && length(one) == 1 &&
                                                                       !is.na(one))
  if (!is.list(value) || is.null(names(value)) || !all(vapply(value, single, NA))) {
    stop_argument(name, json_message(value), "an object with a value each, for some of the inputs")
  }
  check_once(value)
}

# {"yield": 61, "ph": null}: for one query a number (or null: pending) for some of the outcomes, for several queries an
# array each. It returns a data.frame with one row per query.
outcomes_field <- function(service, fields, count) {
  value <- fields[["outcomes"]]
  allowed <- sprintf("an object with a number or null (of several queries an array of them) for some of %s",
                     quoted(outcome_names(service$bandit$config)))
  if (!is.null(fields[["reward"]])) stop_unused("reward", "`outcomes` is given too, and one of the two is enough")
  if (!is.list(value) || is.null(names(value))) stop_argument("outcomes", json_message(value), allowed)
  if (!of_form(service$bandit$config, "several")) stop_unused("outcomes", "this bandit has one reward. Use `reward`")
  columns <- lapply(check_once(value), function(entries) {
    entries <- if (is.null(entries)) list(NULL) else as.list(entries)
    known <- vapply(entries, function(one) is.null(one) || is_json_number(one), NA)
    if (!all(known) || length(entries) != count) stop_argument("outcomes", json_message(value), allowed)
    vapply(entries, function(one) if (is.null(one)) NA_real_ else as.double(one), 0)
  })
  data.frame(columns, check.names = FALSE)
}

# An integer; `default` if the field is missing.
integer_field <- function(fields, name, default, lower, upper) {
  if (is.null(fields[[name]])) default else check_count(fields[[name]], name, lower = lower, upper = upper)
}

# One context; or an array of contexts of several queries, which become the rows of a matrix or data.frame.
contexts_field <- function(service, value) {
  several <- is.list(value) && length(value) > 0 && is.null(names(value)) && all(vapply(value, is.list, NA))
  if (!several) return(context_values(service, value))
  rows <- lapply(value, context_values, service = service)
  sizes <- lengths(rows)
  if (any(sizes != sizes[1])) stop_argument("context", "an array of contexts of different lengths", "of equal lengths")
  do.call(rbind, rows)
}

# A context: an object of values by name, or an array in the bandit's order.
context_field <- function(service, value) {
  found <- context_values(service, value)
  if (is.numeric(found)) matrix(found, 1, length(found)) else found
}

# A vector of numbers, or a data.frame of one row if contexts have types.
context_values <- function(service, value) {
  if (is.null(value)) return(NULL)
  config <- service$bandit$config
  given <- names(value)
  if (!is.null(given)) value <- unname(by_names_given(value, config$context_names, "context"))
  if (is.null(config$context_space)) return(numbers_field(list(context = value), "context"))
  value <- as.list(value)
  plain <- vapply(value, function(one) is.atomic(one) && length(one) == 1 && !is.na(one), NA)
  if (length(value) != length(config$context_names) || !all(plain)) {
    stop_argument("context", describe(value), paste("a value for each of", quoted(config$context_names)))
  }
  cpp_frame(Map(function(one, param) {
    # (A query string has text only.)
    if (!is.character(one) || param$type == "factor") one
    else if (param$type == "logical") as.logical(one) else {
      number <- suppressWarnings(as.double(one))
      if (is.na(number)) one else number
    }
  }, stats::setNames(value, config$context_names), context_params(config)))
}

# The values in the order of `names`. All of them must be present, and no others.
by_names_given <- function(values, names, arg) {
  unknown <- setdiff(base::names(values), names)
  missing <- setdiff(names, base::names(values))
  if (length(unknown) || length(missing)) {
    if (length(names)) stop_argument(arg,
                                     paste(c(if (length(unknown)) paste("one with", quoted(unknown)),
                                             if (length(missing)) paste("one without", quoted(missing))),
                                           collapse = " and "), paste("one with the names", quoted(names)))
    else stop_unused(arg, "this bandit has none")
  }
  values[names]
}

# The context in a query string, ?context=0.2,0.5 or ?context[age]=0.2&context[hour]=0.5, in the same form as in a body.
context_in_query <- function(query, config) {
  numbers <- function(text) as.list(if (is.null(config$context_space)) suppressWarnings(as.double(text)) else text)
  named <- grepl("^context\\[.*\\]$", names(query))
  plain <- query[["context"]]
  if (!any(named)) return(if (!is.null(plain)) numbers(strsplit(plain, ",", fixed = TRUE)[[1]]))
  if (!is.null(plain)) stop_argument("context", "given with names and without", "given once")
  stats::setNames(numbers(unlist(query[named])), sub("^context\\[(.*)\\]$", "\\1", names(query)[named]))
}

# Converts the text of a query string to numbers. Other text is kept, so that a later check raises an error that names
# the field.
numbers_in_query <- function(query) {
  lapply(query, function(text) {
    number <- suppressWarnings(as.double(text))
    if (is.na(number)) text else number
  })
}

content_length <- function(body) list("Content-Length" = sprintf("%d", nchar(body, "bytes")))

# Every error becomes a reply. Errors that may contain internal details become status 500 without a message.
checked_reply <- function(code) {
  tryCatch(code, error = function(e) {
    if (inherits(e, "gpbandits_store_error")) return(reply_error(503, "the store does not answer"))
    if (!inherits(e, "gpbandits_error")) return(reply_error(500, "an error in the service"))
    reply_error(400, conditionMessage(e), argument = e$argument)
  })
}

reply_late <- function(seconds) reply_error(503, sprintf("this took longer than %g s: ask again", seconds))

is_promised <- function(answer) inherits(answer, "promise")

# The reply to HEAD has the headers of the reply to GET, and no body.
for_method <- function(request, answer) {
  if (is_promised(answer)) return(promises::then(answer, function(value) for_method(request, value)))
  if (is.null(answer) || !identical(request$REQUEST_METHOD, "HEAD")) return(answer)
  answer$headers <- c(answer$headers, content_length(answer$body))
  answer["body"] <- list(NULL)
  answer
}

every_answer <- list("Cache-Control" = "no-store", "X-Content-Type-Options" = "nosniff")

reply <- function(value, status = 200L, headers = list()) {
  body <- jsonlite::toJSON(value, auto_unbox = TRUE, digits = NA, null = "null", na = "null", dataframe = "rows")
  reply_text(as.character(body), status, headers)
}

reply_text <- function(body, status = 200L, headers = list()) {
  list(status = status, headers = c(list("Content-Type" = "application/json"), every_answer, headers), body = body)
}

# Plain vectors as the fields of an object: a value or an array each. (The general function takes a quarter of the time
# of a request for many queries.)
reply_fields <- function(...) {
  fields <- list(...)
  if (all(lengths(fields) == 1)) return(reply_text(json_rows(fields)))
  text <- vapply(fields, function(x) {
    if (length(x) == 1) cpp_json_scalars(x) else paste0("[", paste(cpp_json_scalars(x), collapse = ","), "]")
  }, "")
  reply_text(paste0("{", paste0(cpp_json_scalars(names(fields)), ":", text, collapse = ","), "}"))
}

reply_error <- function(status, text, headers = list(), argument = NULL) {
  reply(c(list(error = text), if (!is.null(argument) && !is.na(argument)) list(argument = argument)),
        as.integer(status),
        headers)
}
