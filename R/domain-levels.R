# Inputs with levels, of search spaces and of tables: checks, codes, features, text. Layer: domain.

check_levels <- function(levels) {
  allowed <- "distinct levels: characters, a factor, or numbers"
  if (missing(levels)) stop_missing("levels", allowed)
  check_sound(levels, "levels", allowed)
  if (is.factor(levels)) levels <- factor(base::levels(levels), base::levels(levels), ordered = is.ordered(levels))
  numbers <- is.numeric(levels) && !is.object(levels) && all(is.finite(levels)) && !anyDuplicated(levels)
  if (length(levels) == 0 || !(numbers || are_names(if (is.factor(levels)) base::levels(levels) else levels))) {
    stop_argument("levels", describe(levels), allowed)
  }
  if (is.factor(levels)) levels else as.vector(levels)
}

# The features of levels, each column scaled to 0 to 1. Constant columns are left out, and redundant ones if there are
# few; many are replaced by principal components.
check_features <- function(features, levels, ordered) {
  if (is.null(features)) return(NULL)
  if (ordered) stop_unused("features", "the levels are ordered")
  x <- feature_matrix(features, level_text(levels))
  width <- apply(x, 2, function(column) diff(range(column)))
  leave <- character()
  if (any(width == 0)) leave <- paste(colnames(x)[width == 0], "(does not vary)")
  x <- x[, width > 0, drop = FALSE]
  if (ncol(x) == 0) stop_argument("features", "columns that do not vary", "a column in which levels differ")
  many <- ncol(x) > most_features
  for (j in if (!many) rev(seq_len(ncol(x)))[-ncol(x)]) {
    like <- abs(stats::cor(x[, j], x[, seq_len(j - 1), drop = FALSE])) > 0.95
    if (!any(like)) next
    leave <- c(leave, sprintf("%s (goes with %s)", colnames(x)[j], colnames(x)[which(like)[1]]))
    x <- x[, -j, drop = FALSE]
  }
  if (length(leave)) message("Features left out: ", paste(leave, collapse = ", "), ".")
  if (many) x <- principal_components(x)
  least <- apply(x, 2, min)
  t((t(x) - least) / (apply(x, 2, max) - least))
}

# A matrix with a row for each level, in their order. A column of text, or the row names, name the levels; further rows
# are then left out.
feature_matrix <- function(features, levels) {
  allowed <- sprintf("NULL, or a data.frame of finite numbers with a row for each of %d levels", length(levels))
  named <- if (is.matrix(features)) rownames(features)
  if (is.data.frame(features)) {
    check_data_frame(features, "features")
    text <- which(vapply(features, function(column) is.character(column) || is.factor(column), NA))
    if (length(text) == 1 && length(features) > 1) {
      named <- label_text(features[[text]])
      features <- features[-text]
      lacking <- setdiff(levels, named)
      if (length(lacking)) stop_argument("features", paste("one without a row for", quoted(lacking)), allowed)
    } else if (is.character(attr(features, "row.names"))) {
      named <- row.names(features)
    }
  }
  x <- if (is.data.frame(features) && all(vapply(features, is.numeric, NA))) as.matrix(features) else features
  if (is.matrix(x) && !is.null(named) && all(levels %in% named)) x <- x[match(levels, named), , drop = FALSE]
  if (!is.matrix(x) || !is.numeric(x) || nrow(x) != length(levels) || ncol(x) == 0 || !all(is.finite(x))) {
    stop_argument("features", describe(features), allowed)
  }
  columns <- if (is.null(colnames(x))) paste0("feature", seq_len(ncol(x))) else colnames(x)
  matrix(as.double(x), nrow(x), dimnames = list(NULL, columns))
}

label_text <- function(values) {
  if (is.factor(values)) factor_text(values, "labels") else if (is_number(values)) exact_numbers(values)
  else if (is.character(values)) as.vector(values)
}

# With more features, the first components of the standardised ones are used: at most `most_components`, and no more
# than are needed for 90% of the variance.
most_features <- 10
most_components <- 5

principal_components <- function(x) {
  found <- svd(scale(x))
  share <- cumsum(found$d^2) / sum(found$d^2)
  keep <- seq_len(min(most_components, which(share >= 0.9)[1]))
  # (The sign of a component is arbitrary: its largest weight is positive.)
  sign <- vapply(keep, function(k) base::sign(found$v[which.max(abs(found$v[, k])), k]), 0)
  out <- t(t(found$u[, keep, drop = FALSE]) * found$d[keep] * sign)
  message(sprintf("%d features were replaced by %d principal component%s (%.0f%% of the variance).", ncol(x),
                  length(keep), if (length(keep) > 1) "s" else "", 100 * share[length(keep)]))
  matrix(out, nrow(x), dimnames = list(NULL, paste0("component", keep)))
}

# Points in the users' format, as codes; `NA` is kept. Errors name the input. (Inputs of tables that are numbers have no
# entry in `params`.)
read_codes <- function(domain, x, arg) {
  columns <- named_columns(x, domain$names, arg)
  if (is.character(x) && is.null(dim(x))) columns <- Map(value_of_text, domain$params[domain$names], columns)
  codes <- lapply(domain$names, function(name) read_column(domain$params[[name]], columns[[name]], name, arg))
  matrix(as.double(unlist(codes)), length(columns[[1]]), length(columns))
}

# The same for domains without conditional inputs: no value is missing.
complete_codes <- function(domain, x, arg) {
  if (is.null(domain$params)) return(check_points(x, domain$names, arg))
  codes <- read_codes(domain, x, arg)
  colnames(codes) <- domain$names
  lacking <- which(is.na(codes), arr.ind = TRUE)
  if (nrow(lacking)) {
    stop_argument(arg, sprintf("one without a value of %s", domain$names[lacking[1, 2]]), "a value for each input")
  }
  codes
}

# The value of an input in a character vector, such as c(temp = 50, solvent = "water"), which R makes text.
value_of_text <- function(param, text) {
  if (is.null(param) || !is.character(text) || identical(param$type, "factor")) return(text)
  value <- if (identical(param$type, "logical")) as.logical(text) else suppressWarnings(as.numeric(text))
  if (anyNA(value)) text else value
}

named_columns <- function(x, names, arg) {
  allowed <- sprintf("a data.frame, or a named list, with the inputs %s", paste(names, collapse = ", "))
  if (missing(x) || is.null(x)) stop_argument(arg, describe(x), allowed)
  check_sound(x, arg, allowed)
  if (is.factor(x) && length(names) > 1) stop_argument(arg, describe(x), allowed)
  if (is.atomic(x) && is.null(dim(x))) x <- if (length(names) == 1) list(unname(x)) else as.list(x)
  if (is.matrix(x)) x <- if (is.null(colnames(x))) lapply(seq_len(ncol(x)), function(j) x[, j]) else as.data.frame(x)
  lacking <- if (is.list(x) && all(nzchar(names(x)))) setdiff(names, names(x))
  if (length(x) < length(names) && length(lacking) && length(lacking) < length(names)) {
    stop_argument(arg, paste("one without", paste(lacking, collapse = ", ")), allowed)
  }
  if (!is.list(x) || length(x) != length(names) || length(unique(lengths(x))) > 1) {
    stop_argument(arg, describe(x), allowed)
  }
  if (is.null(names(x))) return(stats::setNames(as.list(x), names))
  if (anyDuplicated(names(x)) || !setequal(names(x), names)) {
    stop_argument(arg, paste("one with the names", paste(dQuote(names(x), FALSE), collapse = ", ")), allowed)
  }
  as.list(x)[names]
}

read_column <- function(param, column, name, arg) {
  if (is.logical(column) && all(is.na(column))) return(rep(NA_real_, length(column)))
  refuse <- function(bad, allowed) {
    if (any(bad)) stop_argument(arg, paste0(sprintf("%s = %s", name, describe(column[bad][[1]])),
                                            in_row(which(bad)[1], length(bad))), allowed)
  }
  known <- !is.na(column)
  if (identical(param$type, "logical")) {
    if (!is.logical(column)) refuse(known, sprintf("TRUE or FALSE in %s", name))
    return(as.double(column))
  }
  if (identical(param$type, "factor")) {
    levels <- level_text(param$levels)
    code <- match(level_text(column), levels)
    refuse(known & is.na(code), sprintf("one of %s in %s", paste(levels, collapse = ", "), name))
    return(as.double(code))
  }
  if (!is_number(column)) refuse(known, sprintf("numbers in %s", name))
  refuse(known & !is.finite(column), sprintf("finite numbers in %s", name))
  if (identical(param$type, "integer")) {
    refuse(known & column != round(column), sprintf("integers in %s", name))
    refuse(known & abs(column) > .Machine$integer.max, sprintf("integers up to 2147483647 in %s", name))
  }
  as.double(column)
}

# Columns of R's types, from codes (a row per point, NA for inputs that do not exist).
typed_columns <- function(domain, codes) {
  columns <- lapply(seq_along(domain$names), function(j) {
    code <- unname(codes[, j])
    param <- domain$params[[domain$names[j]]]
    switch(or_else(param$type, "real"), real = , share = code, integer = as.integer(round(code)),
           factor = param$levels[round(code)], logical = code > 0.5)
  })
  stats::setNames(columns, domain$names)
}

typed_text <- function(domain, codes) {
  values <- vapply(typed_columns(domain, codes), function(value) {
    if (is.double(value)) exact_numbers(value[1]) else as.character(value)[1]
  }, "")
  paste(domain$names, "=", values, collapse = ", ")
}

# The levels in R's type.
typed_levels <- function(param) if (param$type == "logical") c(FALSE, TRUE) else param$levels

# Have the levels no order? Then only equality of two levels matters.
is_categorical <- function(param) param$type == "logical" || (param$type == "factor" && !param$ordered)

# ---- columns of a table -------------------------------------------------------------

has_levels <- function(column) is.character(column) || is.factor(column) || is.logical(column)

# A parameter for each column with levels, in a list by name; NULL if there is none. `features`: a list by name.
levels_of_table <- function(x, features, arg) {
  coded <- names(x)[vapply(x, has_levels, NA)]
  check_features_by_name(features, coded)
  if (length(coded) == 0) return(NULL)
  sapply(coded, function(name) param_of_column(x[[name]], features[[name]], name, arg), simplify = FALSE)
}

check_features_by_name <- function(features, coded) {
  if (is.null(features)) return(invisible())
  allowed <- if (length(coded) == 0) "NULL, because no column has levels"
             else paste("a named list with a data.frame for some of the columns", quoted(coded))
  named <- is.list(features) && !is.data.frame(features) && are_names(names(features))
  if (!named) stop_argument("features", describe(features), allowed)
  unknown <- setdiff(names(features), coded)
  if (length(unknown)) stop_argument("features", paste("one with", quoted(unknown)), allowed)
}

param_of_column <- function(column, features, name, arg) {
  levels <- if (is.factor(column)) column else if (is.character(column)) unique(as.vector(column))
  text <- if (is.factor(column)) factor_text(column, arg) else as.vector(column)
  if (anyNA(text) || (is.character(text) && !all(nzchar(text)))) {
    stop_argument(arg, sprintf("one with missing or empty values in %s", dQuote(name, FALSE)), "a value in each row",
                  try = "a level such as \"none\"")
  }
  if (is.logical(column)) {
    if (!is.null(features)) stop_argument("features", paste("one with", quoted(name)), "features of text or factors")
    return(level_param("logical"))
  }
  if (!are_names(unique(text))) {
    stop_argument(arg, sprintf("one with invalid text in %s", dQuote(name, FALSE)), "text without control characters")
  }
  level_param("factor", levels, is.ordered(levels), features)
}

# Do the columns of `params` in a matrix have numbers of their levels?
are_codes <- function(params, names, x) {
  if (is.null(params)) return(TRUE)
  whole <- is.list(params) && length(params) > 0 && are_names(base::names(params)) &&
    all(base::names(params) %in% names)
  whole && all(vapply(base::names(params), function(name) {
    check_class(params[[name]], "bandit_param", name)
    code <- x[, match(name, names)]
    param <- params[[name]]
    first <- if (param$type == "logical") 0 else 1
    param$type %in% c("factor", "logical") && all(code %in% seq(first, length.out = level_count(param)))
  }, NA))
}

level_count <- function(param) length(levels_as_text(param))

# Flags of the inputs whose values are numbers of levels without order.
coded_columns <- function(domain) {
  domain$names %in% names(Filter(is_categorical, domain$params))
}

# The inputs of a table for print().
column_text <- function(domain) {
  text <- vapply(domain$names, function(name) {
    param <- domain$params[[name]]
    if (is.null(param)) name else sprintf("%s (%s)", name, level_summary(param))
  }, "")
  paste(text, collapse = ", ")
}

level_summary <- function(param) {
  count <- level_count(param)
  if (count > 5) sprintf("%d levels", count) else paste(levels_as_text(param), collapse = "/")
}

level_param <- function(type, levels = NULL, ordered = FALSE, features = NULL, when = NULL) {
  new_part("bandit_param", type)
}

# Levels as text: integers are formatted like other numbers of the same value (1e5, not 100000).
level_text <- function(levels) as.character(if (is.numeric(levels)) as.double(levels) else levels)
