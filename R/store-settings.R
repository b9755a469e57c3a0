# A bandit's settings as JSON text, to the bit: plain data only (numbers, text, lists and their
# attributes). A scalar without attributes stands for itself, whole numbers as {"integer": 3}; everything
# else is {"type", "values", "attributes"}. A number that fifteen digits do not give exactly is written as
# text, a hexadecimal fraction. Functions and other code are refused unless the user trusts the store.

settings_text <- function(x, trust) {
  if (!has_code(x)) {
    text <- json_text(encode_value(x))
    if (!identical(decode_value(parse_json(text)), x)) stop_gpbandits("These settings cannot be written down exactly.")
    return(text)
  }
  if (!trust) {
    stop_argument("store",
                  "a store that was not made with `trust = TRUE`, for settings that hold functions or formulas",
                  "such a store: every process that opens the bandit would run them")
  }
  json_text(list(packed = pack(x), reads = paste(utils::head(deparse(x), 200), collapse = "\n")))
}

# `what`: where the text was found, in words.
settings_from_text <- function(text, trust, what) {
  tryCatch({
    found <- parse_json(text)
    if (identical(names(found), c("packed", "reads"))) {
      if (!trust) {
        stop("they hold functions, which opening would run: open the store with `trust = TRUE` if you trust it")
      }
      return(unpack(found$packed))
    }
    check_made_here(decode_value(found))
  }, error = function(e) stop_gpbandits("Cannot read ", what, ": ", conditionMessage(e), argument = "store"))
}

has_code <- function(x) {
  if (is.function(x) || is.language(x) || is.environment(x) || isS4(x) || typeof(x) == "externalptr") return(TRUE)
  any(vapply(attributes(x), has_code, NA)) || (is.list(x) && any(vapply(unclass(x), has_code, NA)))
}

needs_jsonlite <- function() need_package("jsonlite", "store")

json_text <- function(x) as.character(jsonlite::toJSON(x, auto_unbox = TRUE, null = "null", digits = NA))

# (A parser that calls itself must not be led too deep.)
parse_json <- function(text) {
  needs_jsonlite()
  if (json_depth(text) > 200) stop("it is nested too deeply")
  jsonlite::fromJSON(text, simplifyVector = FALSE)
}

json_depth <- function(text) {
  signs <- gsub("[^][{}]+", "", gsub("\"(?:[^\"\\\\]++|\\\\.)*+\"", "", text, perl = TRUE))
  max(0L, cumsum(ifelse(utf8ToInt(signs) %in% utf8ToInt("[{"), 1L, -1L)))
}

encode_value <- function(x) {
  if (is.null(x)) return(NULL)
  if (is.null(attributes(x)) && is.atomic(x) && length(x) == 1 && !is.na(x)) {
    if (is.integer(x)) return(list(integer = x))
    if (!is.double(x) || fifteen_digits(x)) return(x)
  }
  values <- switch(typeof(x), double = if (all(fifteen_digits(x))) as.vector(x) else sprintf("%a", x),
                   integer = ,
                   logical = ifelse(is.na(x), "NA", as.character(unclass(x))),
                   character = lapply(as.vector(x), function(s) if (is.na(s)) NULL else enc2utf8(s)),
                   list = lapply(seq_along(x), function(i) encode_value(.subset2(x, i))),
                   stop_gpbandits("Settings with a ", typeof(x), " cannot be written down."))
  c(list(type = typeof(x), values = if (is.list(values)) values else I(as.vector(values))),
    if (length(attributes(x))) list(attributes = lapply(attributes(x), encode_value)))
}

# Are fifteen digits all there is to these numbers?
fifteen_digits <- function(x) {
  same <- is.finite(x)
  same[same] <- as.double(sprintf("%.15g", x[same])) == x[same] & !(x[same] == 0 & 1 / x[same] < 0)
  same
}

decode_value <- function(found) {
  if (is.null(found) || !is.list(found)) return(if (is.integer(found)) as.double(found) else found)
  if (identical(names(found), "integer")) return(as.integer(found$integer))
  type <- check_choice(found$type, c("double", "integer", "logical", "character", "list"), "type")
  values <- found$values
  x <- switch(type, double = vapply(values, number_from_text, 0),
              integer = as.integer(words_of(values)),
              logical = as.logical(words_of(values)),
              character = vapply(values, function(s) if (is.null(s)) NA_character_ else as.character(s), ""),
              list = lapply(values, decode_value))
  for (name in names(found$attributes)) attr(x, name) <- decode_value(found$attributes[[name]])
  x
}

# A number of R's own, or words for one; other words are damage.
number_from_text <- function(value) {
  number <- if (identical(value, "NA")) NA_real_ else suppressWarnings(as.double(value))
  if (length(number) != 1 || is.na(number) && !value %in% c("NA", "NaN")) stop("a number is ", describe(value))
  number
}

words_of <- function(values) {
  words <- vapply(values, as.character, "")
  words[words == "NA"] <- NA
  words
}

# What has a constructor of ours must be what the constructor makes: text in a database may be anybody's.
check_made_here <- function(x) {
  if (!is.list(x)) return(x)
  if (inherits(x, "bandit_kernel")) check_kernel_type(x)
  remake <- constructor_of(x)
  if (!is.null(remake)) {
    fields <- unclass(x)
    wanted <- intersect(names(formals(remake)), names(fields))
    needed <- Filter(function(name) identical(formals(remake)[[name]], quote(expr = )),
                     setdiff(names(formals(remake)), "..."))
    if (all(needed %in% wanted)) {
      again <- do.call(remake, fields[wanted])
      if (!same_fields(again, x)) stop(sprintf("it holds a %s that is none of ours", class(x)[1]))
    }
  }
  if (inherits(x, "bandit_domain")) check_labels(x)
  for (i in seq_along(x)) check_made_here(.subset2(x, i))
  x
}

check_kernel_type <- function(x) {
  type <- x[["type"]]
  if (!is.character(type) || length(type) != 1 || is.na(type)) stop("a kernel has no type")
  if (type %in% c("sum", "product")) {
    parts <- x[["parts"]]
    if (!is.list(parts) || length(parts) == 0 || !all(vapply(parts, inherits, NA, "bandit_kernel"))) {
      stop("a kernel has parts that are none")
    }
  } else if (type == "matrix") {
    # Without its eigenvalues, which take long: the core's factorisations find an indefinite one.
    K <- x[["K"]]
    if (!is.matrix(K) || !is.double(K) || nrow(K) != ncol(K) || nrow(K) == 0 || !all(abs(K) <= largest_number) ||
        !isSymmetric(K) || any(diag(K) < 0)) stop("a kernel's matrix is no covariance")
  } else if (is.null(constructor_of(x))) {
    stop("a kernel has an unknown type")
  }
}

check_labels <- function(domain) {
  labels <- domain$labels
  if (is.null(labels)) return(invisible())
  name <- domain$label_name
  if (!is.character(labels) || length(labels) != nrow(domain$x) || anyNA(labels) || anyDuplicated(labels) ||
      !is.character(name) || length(name) != 1 || is.na(name)) stop("a domain's labels do not fit its arms")
}

constructor_of <- function(x) {
  family <- sub("^bandit_", "", class(x)[1])
  kind <- if (is.character(x[["type"]])) x[["type"]] else x[["kind"]]
  if (!is.character(kind) || length(kind) != 1) return(NULL)
  if (inherits(x, "bandit_domain")) family <- "domain"
  if (family == "domain") {
    return(get0(paste0(kind, "_domain"), envir = asNamespace("gpbandits"), mode = "function", inherits = FALSE))
  }
  if (family == "changes") family <- "change"
  if (!family %in% c("kernel", "width", "pending", "change", "policy", "penalty", "constraints", "param")) return(NULL)
  if (family == "kernel" && kind == "matrix") return(NULL)
  get0(paste0(family, "_", kind), envir = asNamespace("gpbandits"), mode = "function", inherits = FALSE)
}

# (Constructors wrap functions anew each time.)
same_fields <- function(made, found) {
  if (!identical(class(made), class(found))) return(FALSE)
  fields <- setdiff(names(made), c("title", "short"))   # words, which may be the user's
  if (!all(fields %in% names(found))) return(FALSE)
  same <- vapply(fields, function(name) {
    ours <- made[[name]]
    theirs <- found[[name]]
    if (is.function(ours)) return(is.function(theirs))
    if (is.list(ours) && is.list(theirs) && is.object(ours)) return(same_fields(ours, theirs))
    identical(ours, theirs)
  }, NA)
  all(same)
}

# The settings of a bandit as gp_bandit() takes and checks them.
check_stored_settings <- function(config) {
  known <- c("domain", "kernel", "noise_var", "policy", "mean", "pending", "engine", "accuracy", "constraints",
             "changes", "refit", "outputs", "rewards", "failures")
  if (!is.list(config) || !all(c("domain", "kernel", "noise_var", "policy") %in% names(config))) {
    stop_gpbandits("The settings in this store are not a bandit's.", argument = "store")
  }
  strange <- setdiff(names(config), c(known, "contexts", "context_names", "design", "search", "format", "output_map"))
  if (length(strange)) {
    stop_gpbandits("The settings in this store are not a bandit's: nothing is known of ",
                   dQuote(strange[1], FALSE), ".", argument = "store")
  }
  arguments <- config[intersect(known, names(config))]
  arguments["contexts"] <- list(if (!is.null(config$contexts)) config$contexts
                                else if (length(config$context_names)) config$context_names)
  tryCatch(do.call(gp_bandit, arguments)$config, error = function(e) {
    stop_gpbandits("The settings in this store are not a bandit's: ", conditionMessage(e), argument = "store")
  })
  config
}

need_package <- function(package, arg) {
  if (!requireNamespace(package, quietly = TRUE)) {
    stop_argument(arg, sprintf("given where package %s is not installed", package),
                  sprintf("left out, or used with package %s installed", package))
  }
}
