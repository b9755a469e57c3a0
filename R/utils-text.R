# Values as exact text, for journals, stores and JSON. Layer: base.

# Values as exact text, for journals and stores: plain data only (numbers, text, lists and their attributes), as JSON in
# ASCII. A scalar without attributes is written as a JSON value, an integer as {"integer": 3}. All other values are
# {"type", "values", "attributes"}. Numbers that fifteen digits do not represent exactly are strings with hexadecimal
# fractions. A string that is not valid text is written as its bytes. The user's functions and formulas are {"code",
# "reads"}. They are written and read only if the user trusts the file or store. Nothing else is ever evaluated or
# unserialised.

# ---- writing --------------------------------------------------------------------

value_text <- function(x, trust = FALSE) {
  if (is.null(x)) return("null")
  if (is_code(x)) return(code_text(x, trust))
  if (isS4(x)) stop_gpbandits("argument", "An S4 object cannot be written to text.")
  given <- attributes(x)
  if (is.null(given) && !is.null(short <- scalar_text(x))) return(short)
  attributes(x) <- NULL
  values <- switch(typeof(x), double = cpp_json_numbers(x),
                   integer = json_array(if (anyNA(x)) json_text(x) else x),
                   logical = json_array(json_text(x)),
                   character = json_array(cpp_json_strings(x)),
                   list = json_array(vapply(x, value_text, "", trust)),
                   stop_gpbandits("argument", "A value of type ", typeof(x), " cannot be written to text."))
  paste0("{\"type\":\"", typeof(x), "\",\"values\":", values,
         if (length(given)) paste0(",\"attributes\":", json_object(lapply(given, value_text, trust))), "}")
}

# NULL if the value needs the longer form.
scalar_text <- function(x) {
  if (!is.atomic(x) || length(x) != 1 || is.na(x)) return(NULL)
  switch(typeof(x), logical = if (x) "true" else "false", integer = paste0("{\"integer\":", x, "}"),
         character = cpp_json_strings(x), double = exact_scalar(cpp_json_numbers(x)))
}

exact_scalar <- function(array) if (!startsWith(array, "[\"")) substr(array, 2, nchar(array) - 1)

json_array <- function(items) paste0("[", paste(items, collapse = ","), "]")

json_text <- function(x) paste0("\"", x, "\"", recycle0 = TRUE)

json_object <- function(members) {
  paste0("{", paste(cpp_json_strings(names(members)), members, sep = ":", collapse = ","), "}")
}

# ---- reading --------------------------------------------------------------------

# An error if the text is not a value; its message is short and contains nothing of the text. The reader of a class
# checks its contents.
value_from_text <- function(text, trust = FALSE) value_from_json(cpp_json_read(text, vectors = TRUE), trust)

value_from_json <- function(found, trust) {
  if (is.null(found) || is.atomic(found) && length(found) == 1) return(found)
  members <- names(found)
  if (identical(members, "integer")) return(integers_of_doubles(found$integer, 1))
  if (identical(members, c("bytes", "encoding"))) return(string_from_bytes(found))
  if (identical(members, c("code", "reads"))) return(code_from_json(found, trust))
  if (!identical(setdiff(members, "attributes"), c("type", "values"))) stop_fault("it has a part of an unknown kind")
  x <- values_from_json(found$type, found$values, trust)
  attributes <- found$attributes
  if (length(attributes) && is.null(names(attributes))) stop_fault("it has attributes without names")
  for (name in names(attributes)) attr(x, name) <- value_from_json(attributes[[name]], trust)
  x
}

values_from_json <- function(type, values, trust) {
  if (!is.null(names(values))) stop_fault("it has values that are no array")
  if (length(values) == 0) values <- list()
  switch(check_choice(type, c("double", "integer", "logical", "character", "list"), "type"),
         double = if (is.double(values)) values else cpp_numbers_from_text(value_strings(values)),
         integer = integers_of_doubles(values),
         logical = flags_from_text(value_strings(values)),
         character = if (is.character(values)) values else vapply(values, string_from_json, ""),
         list = lapply(values, value_from_json, trust))
}

value_strings <- function(values) {
  if (is.list(values) && length(values) == 0) return(character())
  if (!is.character(values)) stop_fault("it has values of the wrong type")
  values
}

integers_of_doubles <- function(values, count = length(values)) {
  if (is.character(values)) values <- cpp_numbers_from_text(values)
  if (is.list(values) && length(values) == 0) return(integer())
  known <- values[!is.na(values)]
  if (!is.double(values) || length(values) != count || any(known != round(known) | abs(known) > .Machine$integer.max)) {
    stop_fault("it has integers that are none")
  }
  as.integer(values)
}

flags_from_text <- function(text) {
  if (!all(text %in% c("TRUE", "FALSE", "NA"))) stop_fault("it has a flag that is none")
  as.logical(text)
}

string_from_json <- function(found) {
  if (is.null(found)) return(NA_character_)
  if (is.list(found)) return(string_from_bytes(found))
  if (!is.character(found)) stop_fault("it has values of the wrong type")
  found
}

string_from_bytes <- function(found) {
  if (!is.character(found$bytes)) stop_fault("it has a string without bytes")
  bytes <- cpp_raw_from_hex(found$bytes)
  if (any(bytes == as.raw(0))) stop_fault("it has a string with a NUL")
  string <- rawToChar(bytes)
  Encoding(string) <- check_choice(found$encoding, c("unknown", "bytes"), "encoding")
  string
}

# ---- the user's code ------------------------------------------------------------

is_code <- function(x) is.function(x) || is.call(x) && inherits(x, "formula")

has_code <- function(x) {
  if (is.function(x) || is.language(x) || is.environment(x) || isS4(x) || typeof(x) == "externalptr") return(TRUE)
  any(vapply(attributes(x), has_code, NA)) || (is.list(x) && any(vapply(unclass(x), has_code, NA)))
}

# (Serialisation version 2 has no compact vectors.)
code_text <- function(f, trust) {
  if (!trust) stop_gpbandits("argument", "A function or a formula is written only if `trust = TRUE`.")
  bytes <- serialize(f, NULL, version = 2)
  found <- cpp_invalid_in_function(bytes)
  if (nzchar(found)) {
    stop_gpbandits("argument", "This function cannot be written to text: its environment holds ", found, ".")
  }
  json_object(list(code = json_text(cpp_hex_from_raw(memCompress(bytes, "gzip"))),
                   reads = cpp_json_strings(paste(utils::head(deparse(f), 200), collapse = "\n"))))
}

# Unserialising can create arbitrary objects, so the bytes are checked first.
code_from_json <- function(found, trust) {
  if (!trust) stop_fault("it holds functions, which opening would run: `trust = TRUE` allows that")
  bytes <- memDecompress(cpp_raw_from_hex(found$code), "gzip")
  invalid <- cpp_invalid_in_function(bytes)
  if (nzchar(invalid)) stop_fault("where a function should be it holds ", invalid)
  f <- unserialize(bytes)
  if (!is_code(f)) stop_fault("where a function should be it holds a call")
  f
}

# ---- settings -------------------------------------------------------------------

# The text in which a store keeps a bandit's settings and refits.
settings_text <- function(x, trust) {
  if (has_code(x) && !trust) {
    stop_argument("store", "made without `trust = TRUE`",
                  "made with `trust = TRUE`, because these settings hold functions that others will run")
  }
  exact_text(x, trust)
}

# Text that is verified to give the same value when it is read. (Functions are never identical after reading.)
exact_text <- function(x, trust = FALSE) {
  text <- value_text(x, trust)
  if (!has_code(x) && !catch_error(identical(value_from_text(text), x), function(e) FALSE)) {
    stop_gpbandits("argument", "These settings cannot be written to text exactly.")
  }
  text
}
