# Conditions and constraints of search spaces, kept as text. Layer: domain.

# Conditions of a search space: which inputs exist, which constraints hold. They are kept as text, plain data
# for a store, and can call only the functions listed here: opening a store runs no other code.

condition_operators <- c("(", "!", "&", "|", "==", "!=", "<", "<=", ">", ">=", "%in%", "+", "-", "*", "/", "^", "%%",
                         "%/%", ":")
condition_calls <- c("c", "xor", "abs", "sqrt", "exp", "log", "log2", "log10", "round", "floor", "ceiling", "pmin",
                     "pmax", "ifelse", "is.na", "sin", "cos")
condition_functions <- c(condition_operators, condition_calls)

# ---- text ---------------------------------------------------------------------------

# The expression of a one-sided formula (or of its text), and the environment of its variables.
condition_parts <- function(condition, arg) {
  if (inherits(condition, "formula") && length(condition) == 2) {
    return(list(expression = condition[[2]], home = environment(condition)))
  }
  if (is_text(condition) && length(condition) == 1) {
    expression <- attempt(str2lang(condition))
    if (!is.null(expression)) return(list(expression = expression, home = emptyenv()))
  }
  stop_argument(arg, describe(condition), "a one-sided formula over the inputs, such as ~ a + b <= 1")
}

condition_text <- function(condition, names, arg) {
  parts <- condition_parts(condition, arg)
  expression_text(closed_expression(parts$expression, parts$home, names, arg))
}

expression_text <- function(expression, control = c("keepNA", "keepInteger", "digits17")) {
  paste(deparse(expression, width.cutoff = 500, control = control), collapse = " ")
}

# Conditions for people: numbers as R prints them, 0.05 instead of 0.050000000000000003.
shown_conditions <- function(texts) {
  vapply(texts, function(text) expression_text(str2lang(text), control = NULL), "", USE.NAMES = FALSE)
}

# Replaces every variable that is no input by its value.
closed_expression <- function(expression, home, names, arg) {
  if (is.call(expression)) {
    called <- if (is.symbol(expression[[1]])) as.character(expression[[1]]) else "an anonymous function"
    if (called %in% c("&&", "||")) called <- substr(called, 1, 1)
    if (called %in% c("[", "[[")) return(closed_lookup(expression, home, names, arg))
    if (!called %in% condition_functions) {
      stop_argument(arg, sprintf("a condition that calls %s", called),
                    paste("a condition of arithmetic, comparisons, and", paste(condition_calls, collapse = ", "),
                          "(`where` may be a function)"))
    }
    return(as.call(c(as.name(called), lapply(as.list(expression)[-1], closed_expression, home, names, arg))))
  }
  if (!is.symbol(expression)) return(expression)
  name <- as.character(expression)
  if (name %in% names) return(expression)
  value <- get0(name, envir = home)
  if (is.factor(value)) value <- factor_text(value, arg)
  if (!is.atomic(value) || is.null(value) || is.object(value) || !length(value) %in% 1:1000) {
    stop_argument(arg, sprintf("a condition on %s", dQuote(name, FALSE)),
                  paste("a condition on other inputs:", paste(names, collapse = ", ")))
  }
  values_as_call(value)
}

values_as_call <- function(values) {
  values <- unname(values)
  if (length(values) == 1) values else as.call(c(as.name("c"), as.list(values)))
}

# `bp[solvent]`: a value for each level of an input, kept with the levels' names.
closed_lookup <- function(expression, home, names, arg) {
  text <- expression_text(expression, control = NULL)
  wanted <- "one with a vector whose names are the levels of an input, such as ~ temp <= bp[solvent]"
  input <- if (length(expression) == 3 && is.symbol(expression[[3]])) as.character(expression[[3]])
  if (is.null(input) || !input %in% names) stop_argument(arg, paste("a condition with", text), wanted)
  values <- expression[[2]]
  # (In text that was closed before, the values are there.)
  if (is.symbol(values)) values <- get0(as.character(values), envir = home, mode = "numeric")
  else if (is_call_to(values, "c") && all(vapply(as.list(values)[-1], is.atomic, NA))) values <- eval(values, baseenv())
  whole <- is_number(values) && length(values) %in% 1:1000 && !anyNA(values) && are_names(base::names(values))
  if (!whole) stop_argument(arg, paste("a condition with", text), wanted)
  call("[", as.call(c(as.name("c"), as.list(values))), as.name(input))
}

# By names: the levels may be numbers or factors.
lookup <- function(values, levels) unname(values[as.character(levels)])

check_condition <- function(text, params, arg) {
  expression <- str2lang(text)
  check_lookups(expression, params, arg)
  check_comparisons(expression, params, arg)
  check_equalities(expression, params, arg)
}

# Every level must have a value.
check_lookups <- function(expression, params, arg) {
  if (!is.call(expression)) return(invisible())
  if (is_call_to(expression, "[")) {
    name <- as.character(expression[[3]])
    lacking <- setdiff(levels_in_rules(params[[name]]), names(expression[[2]]))
    if (is.null(levels_as_text(params[[name]])) || length(lacking)) {
      stop_argument(arg, paste("a condition with", expression_text(expression, control = NULL)),
                    if (length(lacking)) sprintf("a vector with a value for each level of %s: %s is missing", name,
                                                 quoted(lacking))
                    else sprintf("an input with levels instead of %s", name))
    }
  }
  for (side in as.list(expression)[-1]) check_lookups(side, params, arg)
}

levels_in_rules <- function(param) if (is.null(param$levels)) levels_as_text(param) else level_text(param$levels)

# Inputs must be compared with values that they can have: with a misspelt level a condition would never be true.
check_comparisons <- function(expression, params, arg) {
  if (!is.call(expression)) return(invisible())
  sides <- as.list(expression)[-1]
  by <- as.character(expression[[1]])
  if (by %in% c("==", "!=", "%in%", "<", "<=", ">", ">=")) for (k in 1:2) {
    param <- if (is.symbol(sides[[k]])) params[[as.character(sides[[k]])]]
    if (!is.null(param) && length(all.vars(sides[[3 - k]])) == 0) {
      values <- call_user(eval(sides[[3 - k]], baseenv()), arg, sprintf("(%s)", expression_text(expression)))
      check_compared(param, values, by, expression, arg)
    }
  }
  for (side in sides) check_comparisons(side, params, arg)
}

check_compared <- function(param, values, by, expression, arg) {
  values <- values[!is.na(values)]
  refuse <- function(allowed) {
    stop_argument(arg, sprintf("a condition with %s", expression_text(expression)), paste("a comparison with", allowed))
  }
  equal <- by %in% c("==", "!=", "%in%")
  if (param$type == "logical") {
    if (!is.logical(values) && !all(values %in% 0:1)) refuse("TRUE or FALSE")
  } else if (param$type != "factor") {
    if (!is.numeric(values)) refuse("numbers")
  } else if (is.numeric(param$levels)) {
    if (equal && !all(level_text(values) %in% level_text(param$levels))) {
      refuse(paste("levels:", paste(level_text(param$levels), collapse = ", ")))
    }
  } else if (!all(as.character(values) %in% as.character(param$levels))) {
    refuse(paste("levels:", paste(param$levels, collapse = ", ")))
  } else if (!equal && !param$ordered) {
    refuse("== or %in%: its levels are in no order")
  }
}

# A search never finds points where an equality of reals holds. `positive`: must the expression be true? (Under `!`
# it must be false, which excludes almost nothing.)
check_equalities <- function(expression, params, arg, positive = TRUE) {
  if (!is.call(expression)) return(invisible())
  by <- as.character(expression[[1]])
  sides <- as.list(expression)[-1]
  never <- by %in% c("==", "%in%") && positive || by == "!=" && !positive
  if (never && any(vapply(sides, is_real_valued, NA, params))) refuse_equality(expression, params, arg)
  if (by == "!") positive <- !positive
  for (side in sides) check_equalities(side, params, arg, positive)
}

refuse_equality <- function(expression, params, arg) {
  text <- deparse1(expression)
  sides <- vapply(as.list(expression)[2:3], deparse1, "")
  one_of <- as.character(expression[[1]]) == "%in%"
  named <- intersect(all.vars(expression), names(params))
  margin <- sprintf("abs(%s - (%s)) <= 0.01", sides[1], if (one_of) "value" else sides[2])
  instead <- if (length(named) > 1) {
    # (Linear equalities of plain reals, with each input in only one, have been solved before.)
    sprintf("a space without one of %s, which the objective computes from the others (%s)",
            paste(named, collapse = ", "),
            "linear equalities are solved where their inputs are plain reals, each in one equality")
  } else {
    sprintf("a param_factor() or param_logical() in addition to %s if a value is special", named)
  }
  stop_argument(arg,
                sprintf("a condition with %s, an equality of real numbers, which no random point satisfies", text),
                sprintf("one with a margin, such as %s, or for %s", margin, instead))
}

is_continuous <- function(param) !is.null(param) && trait(param, "continuous")

# Does an expression take a continuum of values?
is_real_valued <- function(expression, params) {
  if (is.symbol(expression)) return(is_continuous(params[[as.character(expression)]]))
  if (!is.call(expression)) return(FALSE)
  counted <- c("!", "&", "|", "xor", "==", "!=", "<", "<=", ">", ">=", "%in%", "is.na", "round", "floor", "ceiling",
               "%/%")
  if (as.character(expression[[1]]) %in% counted) return(FALSE)
  any(vapply(as.list(expression)[-1], is_real_valued, NA, params))
}

# NULL, a function, or a text for each constraint; terms joined by `&` are separate constraints.
constraint_texts <- function(where, names) {
  if (is.null(where) || is.function(where)) return(where)
  if (!is.list(where) && !is.character(where)) where <- list(where)
  texts <- lapply(where, function(one) {
    parts <- condition_parts(one, "where")
    vapply(conjuncts(closed_expression(parts$expression, parts$home, names, "where")), expression_text, "")
  })
  texts <- unlist(texts)
  if (length(texts)) unname(texts)
}

conjuncts <- function(expression, by = "&") {
  if (is_call_to(expression, "(")) return(conjuncts(expression[[2]], by))
  if (is_call_to(expression, by)) return(c(conjuncts(expression[[2]], by), conjuncts(expression[[3]], by)))
  list(expression)
}

is_call_to <- function(expression, name) is.call(expression) && identical(expression[[1]], as.name(name))

# The conditional inputs in an order in which each comes after those that its condition names.
existence_order <- function(params) {
  names <- names(params)
  waiting <- names(Filter(function(param) !is.null(param$when), params))
  order <- character()
  while (length(waiting)) {
    ready <- Filter(function(name) !any(all.vars(str2lang(params[[name]]$when)) %in% waiting), waiting)
    if (length(ready) == 0) {
      stop_argument("when", sprintf("conditions in a circle (%s)", paste(waiting, collapse = ", ")),
                    "conditions on inputs that exist for other reasons")
    }
    order <- c(order, ready)
    waiting <- setdiff(waiting, ready)
  }
  match(order, names)
}

# ---- rules ----------------------------------------------------------------------------

has_rules <- function(domain) {
  length(domain$conditional) > 0 || !is.null(domain$where) || length(share_inputs(domain, limited = TRUE)) > 0
}

# Are values of an input multiples of a step?
has_steps <- function(domain) {
  any(vapply(domain$params, is_stepped, NA)) || any(vapply(domain$shares, is_stepped, NA))
}

is_stepped <- function(param) !is.null(param$step) || !is.null(param$digits)

# A logical per point.
evaluate_condition <- function(expression, columns, home, count, arg) {
  value <- call_user(eval(expression, columns, home), arg, sprintf("(%s)", expression_text(expression)))
  if (!is.logical(value) || !length(value) %in% c(1, count)) {
    stop_argument(arg, sprintf("a condition (%s) that gives %s", expression_text(expression), describe(value)),
                  "one that is TRUE or FALSE for every point")
  }
  rep_len(value, count)
}

# The values of an input that conditions use, from its codes: levels are numbers, text, or an ordered factor.
decoded_levels <- function(param) {
  levels <- if (is.numeric(param$levels)) param$levels else as.character(param$levels)
  if (param$ordered && is.character(levels)) function(code) factor(levels[code], levels, ordered = TRUE)
  else function(code) levels[code]
}

condition_columns <- function(rules, codes) {
  columns <- vector("list", length(rules$values))
  names(columns) <- names(rules$values)
  at <- match(names(columns), rules$domain$names)
  for (k in seq_along(columns)) columns[[k]] <- rules$values[[k]](codes[, at[k]])
  columns
}

# Which inputs exist, a logical matrix; and the values that conditions use (`columns`).
existing <- function(rules, codes) {
  domain <- rules$domain
  exists <- matrix(TRUE, nrow(codes), ncol(codes))
  columns <- condition_columns(rules, codes)
  for (j in domain$order) {
    holds <- evaluate_condition(rules$when[[j]], columns, rules$home, nrow(codes), paste0(domain$names[j], "$when"))
    exists[, j] <- holds & !is.na(holds)
    if (!is.null(columns[[domain$names[j]]])) columns[[domain$names[j]]][!exists[, j]] <- NA
  }
  list(exists = exists, columns = columns)
}

existence <- function(rules, codes) existing(rules, codes)$exists

with_existence <- function(rules, codes) {
  codes[!existence(rules, codes)] <- NA
  codes
}

# A column per constraint: at most 0 if it holds, else the amount by which it is violated. `codes`: NA for inputs that
# do not exist.
constraint_excess <- function(rules, codes, columns = condition_columns(rules, codes)) {
  n <- nrow(codes)
  where <- rules$domain$where
  if (is.null(where)) return(matrix(0, n, 0))
  if (is.function(where)) {
    points <- cpp_frame(typed_columns(rules$domain, codes))
    holds <- call_user(where(points), "where", paste("on", amount_of(n, "point")))
    if (!is.logical(holds) || length(holds) != n) {
      stop_returned("where", holds, paste("one logical for each of", amount_of(n, "row")))
    }
    return(matrix(ifelse(holds %in% FALSE, 1, -1), n, 1))
  }
  excess <- vapply(rules$where, one_excess, numeric(n), columns, rules$home, n)
  matrix(excess, n) / rep(rules$scale, each = n)
}

one_excess <- function(expression, columns, home, n) {
  holds <- evaluate_condition(expression, columns, home, n, "where")
  holds <- holds | is.na(holds)
  compares <- is.call(expression) && as.character(expression[[1]]) %in% c("<", "<=", ">", ">=")
  sides <- if (compares) lapply(as.list(expression)[2:3], eval, columns, home)
  if (is.null(sides) || !is.numeric(sides[[1]]) || !is.numeric(sides[[2]])) return(1 - 2 * holds)
  gap <- rep_len(sides[[1]] - sides[[2]], n)
  if (as.character(expression[[1]]) %in% c(">", ">=")) gap <- -gap
  gap[!is.finite(gap)] <- 0
  # The comparison itself decides, not the rounded difference.
  ifelse(holds, pmin(gap, 0), pmax(gap, .Machine$double.eps))
}

share_columns <- function(domain, one) match(one$names, domain$names)

# All inputs that are shares; with `limited`, only those of sets in which not all shares may be above 0.
share_inputs <- function(domain, limited = FALSE) {
  sets <- domain$shares
  if (limited) sets <- Filter(function(one) !is.null(one$most) && one$most < length(one$names), sets)
  sort(unlist(lapply(unname(sets), share_columns, domain = domain)))
}

# Which inputs of limited sets (columns of `codes`) are in a point: shares above 0, others above their lower bounds.
present_inputs <- function(domain, codes) {
  at <- share_inputs(domain, limited = TRUE)
  absent <- numeric(length(domain$names))
  for (one in Filter(is_scaled, domain$shares)) absent[share_columns(domain, one)] <- one$origins
  codes[, at, drop = FALSE] > rep(absent[at], each = nrow(codes))
}

# The step of which an input's values are multiples; NULL if it has none.
step_of <- function(param) {
  if (!is.null(param$step) && !is.null(param$digits)) {
    stop_unused("digits", "`step` is given too, and one of the two is enough")
  }
  if (!is.null(param$step)) param$step else if (!is.null(param$digits)) 10^-param$digits
}

# The first and the last multiple within bounds, in steps.
step_range <- function(lower, upper, step) c(ceiling(lower / step - 1e-9), floor(upper / step + 1e-9))

# Steps as values: with `digits`, rounded to them, so that they print with these digits.
steps_as_values <- function(steps, param) {
  if (is.null(param$digits)) signif(steps * param$step, 15) else round(steps * 10^-param$digits, param$digits)
}
