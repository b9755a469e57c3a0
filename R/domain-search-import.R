# Search spaces made from paradox, dials and lists. Layer: domain.

# Search spaces from other packages: paradox' ParamSet, dials' parameters, and lists. The help page is search_space()'s.

#' @export
space_of.default <- function(x, where = NULL, transformed = TRUE) {
  refuse_transformed(transformed)
  if (inherits(x, "search_domain")) {
    if (!is.null(where)) stop_unused("where", "it is for new search spaces, and this one is made already")
    return(check_domain(x, "..."))
  }
  if (inherits(x, "bandit_param")) {
    stop_argument("...", "a parameter without a name", parameters_allowed,
                  try = "`search_space(x = param_real(0, 1))`")
  }
  if (!is.list(x) || is.object(x) || length(x) == 0 || !are_names(names(x))) {
    given <- if (is.list(x) && !is.null(names(x))) paste("with the names", quoted(names(x))) else describe(x)
    stop_argument("...", given,
                  "named parameters, a paradox ParamSet, dials parameters, a named list, or a search space")
  }
  # (An input may be called `where`, too.)
  constraints <- names(x) == "where" & !vapply(x, speaks_of_parameter, NA)
  if (any(constraints)) {
    if (!is.null(where)) stop_unused("where", "the list has one too, and one of the two is enough")
    where <- x[["where"]]
  }
  space_of_list(as.list(x)[!constraints], where)
}

# ---- paradox ---------------------------------------------------------------------------

#' @export
space_of.ParamSet <- function(x, where = NULL, transformed = TRUE) {
  check_flag(transformed)
  needs_package("paradox", "...")
  params <- from_elsewhere({
    facts <- facts_of_param_set(x, transformed)
    params <- lapply(facts, paradox_param)
    for (id in names(params)) params[[id]]["when"] <- list(paradox_condition(x$deps, id, facts))
    params
  }, "...", "a broken ParamSet", "one that paradox has made")
  search_domain(params, where)
}

# Reads an object of another package; if this fails, the object is invalid.
from_elsewhere <- function(code, arg, given, allowed) {
  catch_error(code, function(e) {
    if (inherits(e, "gpbandits_error")) stop(e)
    stop_argument(arg, sprintf("%s (%s)", given, readable(message_of(e))), allowed)
  })
}

facts_of_param_set <- function(x, transformed) {
  if (transformed && !is.null(x$extra_trafo)) {
    stop_argument("...", "a ParamSet with a transformation of all parameters together",
                  "one with a transformation for each (or apply it in the objective)")
  }
  ids <- x$ids()
  if (length(ids) == 0) stop_argument("...", "an empty ParamSet", "one with parameters")
  trafos <- stats::setNames(x$params$.trafo, x$params$id)
  lapply(stats::setNames(ids, ids), function(id) {
    trafo <- if (transformed) trafos[[id]]
    list(id = id, class = x$class[[id]], lower = x$lower[[id]], upper = x$upper[[id]], levels = x$levels[[id]],
         trafo = if (is.function(trafo)) trafo)
  })
}

needs_package <- function(package, arg) {
  if (!has_package(package)) {
    stop_argument(arg, sprintf("one of package %s, which is not installed", package), "another one",
                  try = sprintf("`install.packages(\"%s\")`", package))
  }
}

paradox_param <- function(fact) {
  if (fact$class == "ParamLgl") return(param_logical())
  if (fact$class == "ParamFct") return(param_factor(factor_values(fact, fact$levels)))
  if (!fact$class %in% c("ParamDbl", "ParamInt")) {
    stop_argument("...", sprintf("one with a %s (%s)", fact$class, fact$id),
                  "a ParamSet of numbers, factors and logicals")
  }
  number_param(fact$id, fact$lower, fact$upper, fact$class == "ParamInt", fact$trafo)
}

# The values of levels, if each of them is one number or text.
factor_values <- function(fact, levels) {
  if (is.null(fact$trafo)) return(levels)
  values <- lapply(levels, fact$trafo)
  if (!all(lengths(values) == 1) || !(all(vapply(values, is.numeric, NA)) || all(vapply(values, is.character, NA)))) {
    stop_argument("...", sprintf("one whose levels of %s are more than a number or a text", fact$id),
                  "a ParamSet of plain levels (use their names, and select the value in the objective)")
  }
  unlist(values)
}

# A number whose range is given on the scale that `trafo` maps to its values (NULL: the same scale).
number_param <- function(id, lower, upper, whole, trafo, integer_values = FALSE) {
  if (!is.finite(lower) || !is.finite(upper)) {
    stop_argument("...", sprintf("one with an unbounded parameter (%s)", id), "a ParamSet with finite bounds")
  }
  if (is.null(trafo)) return(if (whole) param_integer(lower, upper) else param_real(lower, upper))
  value <- function(x) call_user(trafo(x), "...", sprintf("(the transformation of %s)", id))
  if (whole && !integer_values) {
    values <- vapply(seq(lower, upper), function(x) as.double(value(x)), 0)
    return(param_factor(values, ordered = TRUE))
  }
  at <- seq(lower, upper, length.out = 9)
  values <- lapply(at, value)
  if (!all(lengths(values) == 1) || !all(vapply(values, is.numeric, NA)) || !all(is.finite(unlist(values)))) {
    stop_argument("...", sprintf("one with a transformation of %s that does not return one number", id),
                  "a ParamSet whose transformations return one number")
  }
  # paradox rounds integers on a logarithmic scale down.
  if (all(vapply(values, is.integer, NA))) {
    integer_values <- TRUE
    at[9] <- upper - 1e-9 * (upper - lower)
    values[[9]] <- value(at[9])
  }
  number_of_values(id, at, unlist(values), integer_values)
}

number_of_values <- function(id, at, values, whole) {
  ends <- range(values[c(1, 9)])
  grows <- function(y) {
    line <- y[1] + (y[9] - y[1]) * (at - at[1]) / (at[9] - at[1])
    all(is.finite(y)) && max(abs(y - line)) <= 1e-8 * abs(y[9] - y[1])
  }
  if (whole) return(param_integer(round(ends[1]), round(ends[2]), log = ends[1] > 0))
  if (ends[1] > 0 && grows(log(values))) return(param_real(ends[1], ends[2], log = TRUE))
  if (grows(values)) return(param_real(ends[1], ends[2]))
  stop_argument("...", sprintf("one with a transformation of %s that is neither exponential nor linear", id),
                "a ParamSet with exponential or linear transformations (apply others in the objective)")
}

# The conditions of one parameter, joined; NULL if there are none.
paradox_condition <- function(deps, id, facts) {
  rows <- which(deps$id == id)
  if (length(rows) == 0) return(NULL)
  parts <- vapply(rows, function(row) {
    on <- deps$on[row]
    condition <- deps$cond[[row]]
    if (!inherits(condition, c("CondEqual", "CondAnyOf"))) {
      stop_argument("...", sprintf("one with a condition of class %s (%s)", class(condition)[1], id),
                    "a ParamSet whose conditions use == and %in%")
    }
    values <- condition$rhs
    trafo <- facts[[on]]$trafo
    if (!is.null(trafo)) values <- unlist(lapply(values, trafo))
    expression_text(call("%in%", as.name(on), values_as_call(values)))
  }, "")
  paste(parts, collapse = " & ")
}

# ---- dials -----------------------------------------------------------------------------

#' @export
space_of.parameters <- function(x, where = NULL, transformed = TRUE) {
  refuse_transformed(transformed)
  whole <- is.list(x) && all(c("id", "object") %in% names(x)) && is.character(x$id) && is.list(x$object) &&
    length(x$id) > 0 && length(x$id) == length(x$object)
  if (!whole) stop_argument("...", describe(x), "dials parameters")
  params <- from_elsewhere(Map(dials_param, x$object, x$id), "...", "broken dials parameters",
                           "some that dials has made")
  search_domain(stats::setNames(params, x$id), where)
}

dials_param <- function(object, id) {
  values <- object$values
  if (!is.null(values)) return(if (is.logical(values)) as_param(values, id) else param_factor(values))
  if (is.null(object$range)) {
    stop_argument("...", sprintf("one that has no range (%s)", id), "a set of finalised parameters",
                  try = "`dials::finalize()`")
  }
  ends <- lapply(object$range, function(end) if (is.numeric(end)) as.double(end) else NA_real_)
  if (anyNA(ends)) {
    stop_argument("...", sprintf("one with an unknown range (%s)", id), "a set of finalised parameters",
                  try = "`dials::finalize()`")
  }
  whole <- identical(object$type, "integer")
  inverse <- object$trans$inverse
  # Integers on a logarithmic scale are those between the ends.
  number_param(id, ends$lower, ends$upper, whole, inverse, integer_values = whole && !is.null(inverse))
}
