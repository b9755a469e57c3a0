# Mixture components of search spaces: shares that add up to a total. Layer: domain.

# Shares of a total in a search space: inputs of type "share" that add up to it. `domain$shares` has an entry for
# each set of them: `names`, `total`, `lower`, `upper`, `most`. A linear equality of reals is such a set, too (see
# equality_set()): its parts are linear functions of the inputs, and its total and bounds are those of the parts. Reals
# of which only some may be above their lower bounds are a set without a total (see counted_set()).

#' @rdname search_space
#' @order 6
#' @param names names of the mixture components, two at least: each is an input, and a column.
#' @param total the sum of the components, a number > 0, by default 1. If it is above 1 and `upper` is not given, each
#'   component may be all of it. With `step` or `digits` it must be a multiple.
#' @param most the largest number of components above 0. The others are 0, even if their `lower` is above 0. `NULL`
#'   (default): all may be above 0.
#' @export
param_shares <- function(names, total = 1, lower = 0, upper = 1, most = NULL, step = NULL, digits = NULL) {
  if (missing(upper) && is.numeric(total) && isTRUE(total > 1)) upper <- total
  new_param("shares")
}

check_share_names <- function(names) {
  if (missing(names)) stop_missing("names", "the names of two or more mixture components")
  if (!is.character(names) || is.object(names) || length(names) < 2) {
    stop_argument("names", describe(names), "the names of two or more mixture components")
  }
  check_input_names(names, length(names), "names")
}

check_share_bounds <- function(x, names, arg) {
  x <- check_numbers(x, arg, lengths = c(1, length(names)), lower = 0)
  if (!is.null(base::names(x)) && length(x) > 1) x <- by_name(x, names, arg)
  unname(rep_len(as.double(x), length(names)))
}

check_shares <- function(names, total, lower, upper, most) {
  refuse <- function(arg, given, allowed) stop_argument(arg, given, allowed)
  slack <- 1e-12 * total
  if (any(lower > upper)) {
    bad <- which(lower > upper)[1]
    refuse("lower", sprintf("%g for %s, above its `upper` (%g)", lower[bad], names[bad], upper[bad]), "at most `upper`")
  }
  if (is.null(most)) {
    if (sum(lower) > total + slack) refuse("lower", sprintf("a sum of %g", sum(lower)),
                                           sprintf("at most `total` (%g) together", total))
    if (sum(upper) < total - slack) refuse("upper", sprintf("a sum of %g", sum(upper)),
                                           sprintf("at least `total` (%g) together", total))
    return(invisible())
  }
  if (choose(length(names), most) > 2e5) {
    refuse("most", sprintf("%d of %d", most, length(names)), "a number with at most 200,000 sets of components")
  }
  # The largest upper bounds must reach the total; the lower bounds of at least one set of shares must not exceed
  # it: see Shares in the core.
  if (sum(utils::head(sort(upper, decreasing = TRUE), most)) < total - slack) {
    refuse("most", sprintf("%d, which reach %g together", most, sum(utils::head(sort(upper, decreasing = TRUE), most))),
           sprintf("a number of components that can reach `total` (%g)", total))
  }
  one <- list(names = names, total = total, lower = lower, upper = upper, most = most)
  if (!reach_total(core_shares(one))) {
    refuse("lower", "bounds with which no set of shares has this sum", sprintf("some that reach `total` (%g)", total))
  }
  invisible()
}

# With steps, the total must be a multiple of the step, and some multiples within the bounds must add up to it.
check_stepped_shares <- function(names, total, lower, upper, most, step, digits) {
  check_shares(names, total, lower, upper, most)
  unit <- step_of(list(step = step, digits = digits))
  if (is.null(unit)) return(invisible())
  arg <- if (is.null(step)) "digits" else "step"
  steps <- total / unit
  if (abs(steps - round(steps)) > 1e-9 * steps) {
    stop_argument(arg, format(or_else(step, digits)), sprintf("one of which `total` (%g) is a multiple", total))
  }
  least <- ceiling(lower / unit - 1e-9)
  largest <- floor(upper / unit + 1e-9)
  reached <- if (is.null(most)) sum(least) <= round(steps) && sum(largest) >= round(steps)
             else sum(utils::head(sort(largest, decreasing = TRUE), most)) >= round(steps)
  if (any(least > largest) || !reached) {
    stop_argument(arg, format(or_else(step, digits)), "one whose multiples within the bounds add up to `total`")
  }
}

# Can some of these shares (see core_shares()) have this sum? The core lists the sets that can when it is created.
reach_total <- function(one) {
  one$at <- seq_along(one$at) - 1
  catch_error({
    cpp_shares(one, matrix(0.5, 1, length(one$at)), TRUE)
    TRUE
  }, function(e) FALSE)
}

# One set of shares in the core's format. `at`: the columns of its inputs, from 1; `pinned`: the values of the inputs
# that are fixed, else NA.
core_shares <- function(one, at = seq_along(one$names), pinned = rep(NA_real_, length(at))) {
  c(list(at = at - 1, lower = one$lower, upper = one$upper, total = or_else(one$total, Inf),
         most = or_else(one$most, length(one$names)), pinned = pinned),
    if (is_scaled(one)) one[c("factors", "origins")])
}

# Is a set a linear equality, or a limit of the number of inputs above their lower bounds? Then its parts are
# factor * (input - origin); otherwise the parts are the inputs.
is_equality <- function(one) !is.null(one$equality)
is_counted <- function(one) !is.null(one$counted)
is_scaled <- function(one) !is.null(one$factors)

parts_of_inputs <- function(one, x) {
  if (is_scaled(one)) (x - rep(one$origins, each = nrow(x))) * rep(one$factors, each = nrow(x)) else x
}

inputs_of_parts <- function(one, parts) {
  if (!is_scaled(one)) return(parts)
  parts / rep(one$factors, each = nrow(parts)) + rep(one$origins, each = nrow(parts))
}

# Replaces each set of shares by an input per share: a list of `params` and `shares`.
with_shares_apart <- function(params) {
  is_set <- vapply(params, function(param) param$type == "shares", NA)
  if (!any(is_set)) return(list(params = params))
  apart <- unname(lapply(names(params), function(name) {
    if (is_set[[name]]) share_params(params[[name]]) else params[name]
  }))
  apart <- do.call(c, apart)
  list(params = apart, shares = lapply(params[is_set], function(param) unclass(param)[-1]))
}

share_params <- function(one) {
  bounds <- share_bounds(one)
  stats::setNames(lapply(seq_along(one$names), function(i) {
    one_share(bounds[1, i], bounds[2, i])
  }), one$names)
}

one_share <- function(lower, upper) new_param("share")

# The range of each share over all possible values of the others.
share_bounds <- function(one) {
  if (is_counted(one)) return(inputs_of_parts(one, rbind(one$lower, one$upper)))
  if (!is.null(one$most)) return(rbind(0 * one$lower, pmin(one$upper, one$total)))
  others <- function(x) sum(x) - x
  inputs_of_parts(one, rbind(pmin(pmax(one$lower, one$total - others(one$upper)), one$upper),
                             pmax(pmin(one$upper, one$total - others(one$lower)), one$lower)))
}

# ---- the shares of a domain -----------------------------------------------------------

has_shares <- function(domain) length(domain$shares) > 0

# One element for each set, see core_shares(). (In a slice some values are fixed.)
sets_for_core <- function(domain) {
  unname(lapply(domain$shares, function(one) {
    at <- share_columns(domain, one)
    core_shares(one, at, if (is.null(domain$pinned)) rep(NA_real_, length(at)) else domain$pinned[at])
  }))
}

# Points (a row each) with shares that are uniform, from `u`, uniform in the unit cube; without `u`, with the nearest
# feasible shares.
shares_of_points <- function(domain, x, u = NULL) {
  for (one in sets_for_core(domain)) {
    at <- one$at + 1
    one$at <- seq_along(at) - 1
    x[, at] <- cpp_shares(one, unname((if (is.null(u)) x else u)[, at, drop = FALSE]), !is.null(u))
  }
  x
}

# Points around one (model inputs, with indicators or without) that have other shares above 0, a row each, as in the
# searches of bandits.
share_exchanges <- function(domain, inputs) {
  x <- inputs[seq_along(domain$names)]
  do.call(rbind, lapply(sets_for_core(domain), function(one) cpp_share_exchanges(one, x)))
}

# Rows of shares as multiples of the set's step that add up to the total. They are rounded down, and the rest is given
# to the largest remainders below their upper bounds. If only some shares may be above 0, those that are 0 remain 0.
stepped_shares <- function(one, x) {
  unit <- step_of(one)
  if (is.null(unit)) return(x)
  of_all <- function(bounds) matrix(rep(bounds, each = nrow(x)), nrow(x))
  least <- of_all(ceiling(one$lower / unit - 1e-9))
  largest <- of_all(floor(one$upper / unit + 1e-9))
  if (!is.null(one$most)) least[x == 0] <- largest[x == 0] <- 0
  x[] <- steps_as_values(integer_parts_of(x / unit, round(one$total / unit), least, largest), one)
  x
}

# Rows of integers near those of `x` within bounds, whose sums are `total`.
integer_parts_of <- function(x, total, least, largest) {
  parts <- pmin(pmax(floor(x + 1e-9), least), largest)
  repeat {
    left <- total - rowSums(parts)
    able <- left > 0 & parts < largest | left < 0 & parts > least
    if (!any(able)) return(parts)
    # The largest remainders of each row come first.
    order <- order(row(x), !able, -sign(left) * (x - parts))
    rank <- integer(length(x))
    rank[order] <- rep(seq_len(ncol(x)), nrow(x))
    moved <- able & rank <= abs(left)
    parts[moved] <- parts[moved] + sign(left)[row(x)[moved]]
  }
}

# The tolerance of a sum, relative to the total; for an equality, relative to its largest term if that is larger.
share_rounding <- 1e-8

rounding_of_sum <- function(one) {
  if (is_counted(one)) return(0)
  terms <- if (is_equality(one)) c(abs(one$factors * one$origins), one$upper)
  share_rounding * max(one$total, terms)
}

# The tolerance of each input beyond its bounds.
share_slack <- function(domain) {
  slack <- numeric(length(domain$names))
  for (one in domain$shares) {
    slack[share_columns(domain, one)] <- rounding_of_sum(one) / abs(or_else(one$factors, 1))
  }
  slack
}

# Checks sums, bounds and the number of shares above 0, with errors about `arg`. (A bound rounded to fifteen digits
# counts as the bound.)
check_share_sums <- function(domain, codes, arg) {
  for (one in domain$shares) {
    at <- share_columns(domain, one)
    x <- codes[, at, drop = FALSE]
    close <- rounding_of_sum(one)
    if (is_counted(one)) {
      many <- which(rowSums(x > rep(one$origins, each = nrow(x))) > one$most)
      if (length(many)) {
        stop_argument(arg, share_text(one, x[many[1], ]), paste("points with", shown_conditions(one$counted)))
      }
      next
    }
    off <- which(!(abs(excess_of_sum(one, x)) <= close))
    if (length(off)) stop_share_sum(one, x[off[1], ], arg)
    # (Its inputs have bounds, which are checked as for others.)
    if (is_equality(one)) next
    limited <- !is.null(one$most)
    low <- rep(one$lower, each = nrow(x))
    high <- rep(one$upper, each = nrow(x))
    absent <- limited & x == 0
    wrong <- which(rowSums(!absent & (x < low - close | x > high + close)) > 0)
    if (length(wrong)) stop_argument(arg, share_text(one, x[wrong[1], ]), "shares within their bounds")
    many <- if (limited) which(rowSums(x > 0) > one$most)
    if (length(many)) stop_argument(arg, share_text(one, x[many[1], ]), sprintf("at most %d shares above 0", one$most))
    codes[, at] <- pmin(pmax(x, pmin(low, domain$box$lower[rep(at, each = nrow(x))])), high)
  }
  codes
}

excess_of_sum <- function(one, x) rowSums(parts_of_inputs(one, x)) - one$total

share_text <- function(one, x) paste(one$names, "=", exact_numbers(unname(x)), collapse = ", ")

stop_share_sum <- function(one, x, arg, row = "") {
  stop_argument(arg, paste0(share_text(one, x), row), if (is_equality(one)) paste("points with", one$equality)
                                          else sprintf("shares whose sum is %g", one$total))
}

# Reported shares may be rounded: sums within half a percent are scaled to the total, and a message says so. Other sums
# are errors, as are negative shares.
completed_shares <- function(domain, codes, arg) {
  for (one in domain$shares) {
    if (is_counted(one)) next
    at <- share_columns(domain, one)
    x <- codes[, at, drop = FALSE]
    off <- abs(excess_of_sum(one, x))
    rounded <- which(off > rounding_of_sum(one) & off <= most_rounding * size_of_sum(one))
    bad <- setdiff(which(!(off <= rounding_of_sum(one))), rounded)
    if (length(bad)) stop_share_sum(one, x[bad[1], ], arg, in_row(bad[1], nrow(x)))
    if (!is_equality(one)) {
      negative <- which(rowSums(x < -rounding_of_sum(one)) > 0)
      if (length(negative)) stop_argument(arg, share_text(one, x[negative[1], ]), "shares >= 0")
    }
    if (length(rounded) == 0) next
    codes[rounded, at] <- scaled_to_sum(one, x[rounded, , drop = FALSE], domain$box, at)
    tell("rounded", rows_in_message(arg, rounded, nrow(codes)),
         if (is_equality(one)) sprintf(" satisfies %s up to rounding", one$equality)
         else sprintf(" has shares with the sum %s", exact_numbers(signif(sum(x[rounded[1], ]), 6))),
         ". The values were scaled to ", if (is_equality(one)) "satisfy it" else format(one$total), ".")
  }
  codes
}

# The largest error of a sum that counts as rounding.
most_rounding <- 0.005

size_of_sum <- function(one) max(one$total, if (is_equality(one)) abs(one$factors * one$origins))

# (Values that scaling moves beyond their bounds are replaced by the nearest feasible ones, if there are any.)
scaled_to_sum <- function(one, x, box, at) {
  parts <- parts_of_inputs(one, x)
  scaled <- inputs_of_parts(one, parts * (one$total / rowSums(parts)))
  beyond <- function(x) rowSums(x < rep(box$lower[at], each = nrow(x)) | x > rep(box$upper[at], each = nrow(x))) > 0
  moved <- which(beyond(scaled) & !beyond(x))
  if (length(moved)) scaled[moved, ] <- cpp_shares(core_shares(one), unname(x[moved, , drop = FALSE]), FALSE)
  scaled
}

# ---- equalities that are shares --------------------------------------------------------

# If a sum of plain reals with equal coefficients equals a number, this is a set as in param_shares(). Other linear
# equalities of plain reals are separate sets, and so are limits of the number of reals above their lower bounds.
with_equalities_as_shares <- function(apart, where) {
  if (is.null(where) || is.function(where)) return(c(apart, list(where = where)))
  given <- constraint_texts(where, names(apart$params))
  texts <- with_equalities_whole(given, names(apart$params))
  keep <- rep(TRUE, length(texts))
  for (k in seq_along(texts)) {
    taken <- unlist(lapply(unname(apart$shares), `[[`, "names"))
    set <- shares_of_equality(str2lang(texts[k]), apart$params[!names(apart$params) %in% taken])
    if (is.null(set)) next
    keep[k] <- FALSE
    reach <- c(sum(set$lower), sum(set$upper))
    if (set$total < reach[1] || set$total > reach[2]) {
      shift <- sum(set$factors * set$origins)
      stop_argument("where", texts[k], sprintf("an equality that can hold: this sum is from %g to %g",
                                               reach[1] + shift, reach[2] + shift))
    }
    if (!is_equality(set)) {
      do.call(check_shares, set, quote = TRUE)
      apart$params[set$names] <- share_params(set)
    }
    apart$shares[[paste(set$names, collapse = ".")]] <- set
  }
  for (k in which(keep)) {
    with_count <- with_count_as_set(apart, texts[k])
    if (is.null(with_count)) next
    apart <- with_count
    # (Points with exactly a number of inputs above their bounds are the faces without their edges.)
    keep[k] <- is_call_to(str2lang(texts[k]), "==")
  }
  same <- all(keep) && length(texts) == length(given)
  c(apart, list(where = if (same) where else if (any(keep)) texts[keep]))
}

# ---- limits of the number of inputs above their lower bounds --------------------------------------

# The rule as a set, or as the limit `most` of the mixture that has these inputs; NULL if it is another rule.
with_count_as_set <- function(apart, text) {
  found <- count_of_rule(str2lang(text), apart$params)
  if (is.null(found)) return(NULL)
  taken <- vapply(apart$shares, function(one) any(one$names %in% found$names), NA)
  if (!any(taken)) {
    if (!all(vapply(apart$params[found$names], is_countable, NA))) return(NULL)
    set <- counted_set(text, apart$params)
    apart$shares[[paste(set$names, collapse = ".")]] <- set
    return(apart)
  }
  owner <- apart$shares[[which(taken)[1]]]
  if (sum(taken) > 1 || is_scaled(owner) || any(owner$lower != 0) || !setequal(owner$names, found$names)) return(NULL)
  owner$most <- as.integer(min(owner$most, found$most))
  do.call(check_stepped_shares, c(owner[c("names", "total", "lower", "upper", "most")],
                                  list(step = owner$step, digits = owner$digits)))
  apart$shares[[which(taken)[1]]] <- owner
  apart$params[owner$names] <- share_params(owner)
  apart
}

# The parts are the positions of the inputs within their ranges, from 0 to 1.
counted_set <- function(text, params) {
  found <- count_of_rule(str2lang(text), params)
  bound <- function(which) as.double(unname(vapply(params[found$names], `[[`, 0, which)))
  zeros <- numeric(length(found$names))
  list(names = found$names, lower = zeros, upper = zeros + 1, most = found$most,
       factors = 1 / (bound("upper") - bound("lower")), origins = bound("lower"), counted = text)
}

# Reals whose lower bound is one of their values.
is_countable <- function(param) {
  param$type == "real" && !param$log && is.null(param$when) && param$lower < param$upper &&
    (!is_stepped(param) || abs(param$lower / step_of(param) - round(param$lower / step_of(param))) < 1e-9)
}

# At most `most` of the inputs `names` are above their lower bounds: from a comparison of a sum of comparisons, such as
# (a > 0) + (b > 0) <= 1, or from a == 0 | b == 0. NULL if the rule is another one, or holds everywhere.
count_of_rule <- function(expression, params) {
  form <- if (is_call_to(expression, "|") || is_call_to(expression, "!")) form_of_absence(expression, params)
          else form_of_counts(expression, params)
  if (is.null(form)) return(NULL)
  names <- names(form)[-1][form[-1] != 0]
  most <- floor(-form[[1]] / max(form[-1]) + 1e-9)
  unequal <- any(abs(form[names] - max(form[-1])) > 1e-12 * max(form[-1]))
  if (length(names) < 2 || unequal || most < 1 || most >= length(names) || choose(length(names), most) > 2e5) {
    return(NULL)
  }
  list(names = names, most = most)
}

# A linear form in the numbers 1 (the input is above its lower bound) and 0, which is at most 0 if the rule holds.
form_of_counts <- function(expression, params) {
  if (is_call_to(expression, "(")) return(form_of_counts(expression[[2]], params))
  by <- if (is.call(expression)) as.character(expression[[1]]) else ""
  if (!by %in% c("<", "<=", ">", ">=", "==")) return(NULL)
  sides <- lapply(as.list(expression)[2:3], presence_terms, params)
  if (any(lengths(sides) == 0)) return(NULL)
  form <- linear_form(call("-", sides[[1]], sides[[2]]), names(params))
  if (is.null(form) || all(form[-1] == 0)) return(NULL)
  if (by %in% c(">", ">=") || by == "==" && max(form[-1]) <= 0) form <- -form
  if (max(form[-1]) <= 0) return(NULL)
  # (A number of inputs below a limit is at most the integer before it.)
  if (by %in% c("<", ">")) form[1] <- -(ceiling(-form[[1]] / max(form[-1]) - 1e-9) - 1) * max(form[-1])
  form
}

# The same for rules that say that not all of some inputs are above their lower bounds.
form_of_absence <- function(expression, params) {
  negated <- is_call_to(expression, "!")
  leaves <- if (negated) conjuncts(expression[[2]]) else conjuncts(expression, "|")
  terms <- lapply(leaves, presence_terms, params)
  if (any(lengths(terms) == 0)) return(NULL)
  present <- if (negated) terms else lapply(terms, function(term) call("-", 1, term))
  forms <- lapply(present, linear_form, names(params))
  if (!all(vapply(forms, function(form) sum(form != 0) == 1 && max(form[-1]) == 1, NA))) return(NULL)
  form <- Reduce(`+`, forms)
  if (any(form > 1)) NULL else replace(form, 1, 1 - sum(form))
}

# An expression with the inputs' names instead of comparisons with their lower bounds; NULL if it has anything else.
presence_terms <- function(expression, params) {
  if (is.numeric(expression)) return(expression)
  if (!is.call(expression)) return(NULL)
  by <- as.character(expression[[1]])
  if (by %in% c("<", "<=", ">", ">=", "==", "!=")) return(presence_term(expression, params))
  sides <- lapply(as.list(expression)[-1], presence_terms, params)
  if (any(lengths(sides) == 0)) NULL
  else if (by == "!") call("-", 1, sides[[1]])
  else if (by %in% c("(", "+", "-", "*", "/")) as.call(c(as.name(by), sides))
}

presence_term <- function(expression, params) {
  by <- as.character(expression[[1]])
  sides <- as.list(expression)[-1]
  if (is.symbol(sides[[2]])) {
    sides <- sides[2:1]
    by <- chartr("<>", "><", by)
  }
  param <- if (is.symbol(sides[[1]])) params[[as.character(sides[[1]])]]
  if (!is_continuous(param) || length(all.vars(sides[[2]])) > 0) return(NULL)
  if (!identical(as.double(eval(sides[[2]], baseenv())), as.double(param$lower))) return(NULL)
  switch(by, ">" = , "!=" = sides[[1]], "<=" = , "==" = call("-", 1, sides[[1]]))
}

# Two linear inequalities that together are an equality are replaced by it.
with_equalities_whole <- function(texts, names) {
  forms <- lapply(texts, function(text) form_of_inequality(str2lang(text), names))
  gone <- rep(FALSE, length(texts))
  for (j in seq_along(texts)) for (k in seq_len(j - 1)) {
    if (gone[j] || gone[k] || is.null(forms[[j]]) || is.null(forms[[k]])) next
    scale <- max(abs(forms[[j]][-1]))
    if (scale == 0 || any(abs(forms[[j]] + forms[[k]] * scale / max(abs(forms[[k]][-1]))) > 1e-12 * scale)) next
    sides <- as.list(str2lang(texts[k]))
    texts[k] <- expression_text(call("==", sides[[2]], sides[[3]]))
    gone[j] <- TRUE
  }
  texts[!gone]
}

# The linear form that is at most 0 if an inequality holds, see linear_form().
form_of_inequality <- function(expression, names) {
  by <- if (is.call(expression)) as.character(expression[[1]]) else ""
  if (!by %in% c("<=", ">=")) return(NULL)
  form <- linear_form(call("-", expression[[2]], expression[[3]]), names)
  if (is.null(form) || all(form[-1] == 0)) NULL else if (by == "<=") form else -form
}

shares_of_equality <- function(expression, params) {
  if (!is.call(expression) || !identical(as.character(expression[[1]]), "==")) return(NULL)
  form <- linear_form(call("-", expression[[2]], expression[[3]]), names(params))
  if (is.null(form)) return(NULL)
  used <- names(form)[form != 0 & names(form) != ""]
  if (length(used) < 2 || !all(vapply(params[used], is_plain_real, NA))) return(NULL)
  factors <- unname(form[used])
  total <- -form[[1]] / factors[1]
  bound <- function(which) as.double(unname(vapply(params[used], `[[`, 0, which)))
  unequal <- any(abs(factors - factors[1]) > 1e-12 * abs(factors[1]))
  if (unequal || total <= 0 || any(bound("lower") < 0)) {
    return(equality_set(expression_text(expression), used, factors, -form[[1]], bound("lower"), bound("upper")))
  }
  list(names = used, total = total, lower = bound("lower"), upper = bound("upper"), most = NULL)
}

is_plain_real <- function(param) param$type == "real" && !param$log && is.null(param$when) && !is_stepped(param)

# sum(factors * inputs) = sum, within the inputs' bounds. Each part is the difference of its input's term from the least
# value of this term, so it is at least 0.
equality_set <- function(text, names, factors, sum, lower, upper) {
  origins <- ifelse(factors > 0, lower, upper)
  list(names = names, total = sum - sum(factors * origins), lower = 0 * lower, upper = abs(factors) * (upper - lower),
       factors = factors, origins = origins, equality = text)
}

# The coefficients of an expression that is linear in the inputs, the first (without a name) the constant; NULL if it
# is not linear.
linear_form <- function(expression, names) {
  none <- stats::setNames(numeric(1 + length(names)), c("", names))
  if (is.numeric(expression) && length(expression) == 1) return(replace(none, 1, expression))
  if (is.symbol(expression)) {
    return(if (as.character(expression) %in% names) replace(none, match(as.character(expression), names) + 1, 1))
  }
  if (!is.call(expression)) return(NULL)
  parts <- lapply(as.list(expression)[-1], linear_form, names)
  if (any(vapply(parts, is.null, NA))) return(NULL)
  constant <- function(form) all(form[-1] == 0)
  switch(as.character(expression[[1]]),
         "(" = parts[[1]],
         "+" = if (length(parts) == 1) parts[[1]] else parts[[1]] + parts[[2]],
         "-" = if (length(parts) == 1) -parts[[1]] else parts[[1]] - parts[[2]],
         "*" = if (constant(parts[[1]])) parts[[1]][[1]] * parts[[2]]
               else if (constant(parts[[2]])) parts[[2]][[1]] * parts[[1]],
         "/" = if (constant(parts[[2]])) parts[[1]] / parts[[2]][[1]])
}

# ---- linear constraints ------------------------------------------------------------------

# The constraints that are linear in inputs that always exist, or are among `present`, in the core's format (see
# src/core/spaces/polytope.h). In users' units they are `A` x <= `b` and `E` x = `f` over the inputs `at`. NULL if there
# are none.
linear_rules <- function(domain, present = character()) {
  if (!is.character(domain$where)) return(NULL)
  type <- vapply(domain$params, `[[`, "", "type")
  missing <- setdiff(domain$names[c(domain$conditional, share_inputs(domain, limited = TRUE))], present)
  usable <- setdiff(domain$names[type %in% c("real", "integer", "logical", "share")], missing)
  forms <- do.call(c, lapply(domain$where, function(text) linear_constraints(str2lang(text), usable, type)))
  if (length(forms) == 0) return(NULL)
  used <- unique(unlist(lapply(forms, function(one) usable[one$form[-1] != 0])))
  sets <- Filter(function(one) any(one$names %in% used), domain$shares)
  used <- domain$names[domain$names %in% c(used, unlist(lapply(sets, `[[`, "names")))]
  rows <- function(forms) matrix(as.double(unlist(lapply(forms, function(one) one$form[used]))), ncol = length(used),
                                 byrow = TRUE)
  bounds <- function(forms) as.double(vapply(forms, function(one) -one$form[[1]], 0))
  equal <- vapply(forms, `[[`, NA, "equal")
  sums <- lapply(unname(sets), function(one) {
    factors <- stats::setNames(or_else(one$factors, rep(1, length(one$names))), one$names)
    sum <- one$total + sum(factors * or_else(one$origins, 0))
    list(form = c(-sum, stats::setNames(ifelse(used %in% one$names, factors[used], 0), used)), equal = TRUE)
  })
  list(at = match(used, domain$names) - 1, A = rows(forms[!equal]), b = bounds(forms[!equal]),
       E = rows(c(forms[equal], sums)), f = bounds(c(forms[equal], sums)))
}

# One constraint as a list of linear forms that must be at most 0, or `equal` to it; NULL if it is not linear.
linear_constraints <- function(expression, names, type) {
  by <- if (is.call(expression)) as.character(expression[[1]]) else ""
  if (by == "(") return(linear_constraints(expression[[2]], names, type))
  if (!by %in% c("<", "<=", ">", ">=", "==")) return(NULL)
  sides <- if (by %in% c(">", ">=")) expression[3:2] else expression[2:3]
  bounded <- sides[[1]]
  absolute <- is.call(bounded) && identical(bounded[[1]], as.name("abs")) && by != "=="
  if (absolute) bounded <- call("(", bounded[[2]])
  of <- function(left) linear_form(call("-", left, sides[[2]]), names)
  forms <- Filter(Negate(is.null), list(of(bounded), if (absolute) of(call("-", bounded))))
  if (length(forms) < 1 + absolute || any(vapply(forms, function(form) all(form[-1] == 0), NA))) return(NULL)
  lapply(forms, function(form) {
    list(form = if (by == "==") form else integer_form(form, type, by %in% c("<", ">")), equal = by == "==")
  })
}

# A sum of integers with integer coefficients is an integer, so its bound is rounded down.
integer_form <- function(form, type, strict) {
  factors <- form[-1][form[-1] != 0]
  if (!all(type[names(factors)] %in% c("integer", "logical")) || any(factors != round(factors))) return(form)
  most <- floor(-form[[1]] + 1e-9)
  if (strict && abs(most + form[[1]]) <= 1e-9) most <- most - 1
  replace(form, 1, -most)
}

# The core's results for the region of linear constraints, with `count` uniform points in it, whose random numbers
# follow from `seed` (eight numbers, uniform).
linear_region <- function(domain, linear, count = 0, seed = 1:8 / 9) {
  cpp_polytope(linear, coded_sides(domain$box), count, seed)
}

coded_sides <- function(box) {
  bounds <- unname(input_ranges(box))
  list(lower = bounds[1, ], upper = bounds[2, ], integer = box$integer, log = box$log)
}

# ---- effects of one share -------------------------------------------------------------

# A frame's points with shares adjusted to their sum. Those in `kept` are unchanged, and the others of the set share the
# rest in proportion to their amounts above their lower bounds (the direction of Cox's effects of mixtures). `fits`: are
# all shares within their bounds?
balanced_shares <- function(domain, points, kept = character()) {
  fits <- rep(TRUE, nrow(points))
  for (one in domain$shares) {
    x <- as.matrix(points[one$names])
    parts <- parts_of_inputs(one, x)
    # Rows that already have the sum are unchanged, bit for bit.
    off <- if (is_counted(one)) rowSums(parts > 0) > one$most
           else abs(rowSums(parts) - one$total) > 0.1 * rounding_of_sum(one)
    parts[off, ] <- balanced_set(one, parts[off, , drop = FALSE], one$names %in% kept)
    x[off, ] <- inputs_of_parts(one, parts[off, , drop = FALSE])
    points[one$names] <- x
    fits <- fits & within_set(one, parts)
  }
  list(points = points, fits = fits)
}

# Rows of a set's shares; `kept`: which columns stay.
balanced_set <- function(one, x, kept) {
  moved <- which(!kept)
  if (nrow(x) == 0 || length(moved) == 0) return(x)
  if (!is.null(one$most)) x <- largest_shares(x, kept, one$most)
  if (is_counted(one)) return(x)
  least <- if (is.null(one$most)) one$lower[moved] else numeric(length(moved))
  above <- pmax(x[, moved, drop = FALSE] - rep(least, each = nrow(x)), 0)
  left <- one$total - rowSums(x[, kept, drop = FALSE]) - sum(least)
  none <- rowSums(above) <= 1e-12 * one$total
  above[none, ] <- 1
  x[, moved] <- rep(least, each = nrow(x)) + above * (left / rowSums(above))
  x
}

# A frame's points with shares from `u`, uniform in the unit cube: normalised exponential variables, which treat all
# shares alike and are uniform if no share has an upper bound. Equalities are spread as in designs.
spread_shares <- function(domain, points, u) {
  for (one in domain$shares) {
    if (is_scaled(one)) {
      points[one$names] <- cpp_shares(core_shares(one), u[, share_columns(domain, one), drop = FALSE], TRUE)
      next
    }
    least <- if (is.null(one$most)) one$lower else 0 * one$lower
    above <- -log(pmax(1 - u[, share_columns(domain, one), drop = FALSE], 1e-12))
    points[one$names] <- balanced_set(one, above + rep(least, each = nrow(u)), rep(FALSE, length(one$names)))
  }
  points
}

# Sets shares of a row to 0, so that at most `most` are above it: those in `kept`, and the largest of the others.
largest_shares <- function(x, kept, most) {
  for (i in seq_len(nrow(x))) {
    room <- max(most - sum(x[i, kept] > 0), 0)
    moved <- which(!kept)
    x[i, moved[order(-x[i, moved])[-seq_len(room)]]] <- 0
    if (room == 0) x[i, moved] <- 0
  }
  x
}

within_set <- function(one, x) {
  close <- if (is_counted(one)) 1e-9 else rounding_of_sum(one)
  low <- rep(one$lower, each = nrow(x))
  high <- rep(one$upper, each = nrow(x))
  absent <- !is.null(one$most) & x == 0
  rowSums(!absent & !(x >= low - close & x <= high + close)) == 0 &
    (if (is.null(one$most)) TRUE else rowSums(x > 0) <= one$most)
}

# The set of exactly three shares that contains these two, or NULL.
ternary_set <- function(domain, pair) {
  Find(function(one) length(one$names) == 3 && all(pair %in% one$names) && !is_scaled(one), domain$shares)
}

# Codes, with numbers rounded to the nearest multiples of their steps within the bounds.
stepped_codes <- function(domain, codes) {
  for (j in which(vapply(domain$params, is_stepped, NA))) {
    param <- domain$params[[j]]
    unit <- step_of(param)
    ends <- step_range(param$lower, param$upper, unit)
    codes[, j] <- steps_as_values(clamped(round(codes[, j] / unit), ends[1], ends[2]), param)
  }
  for (one in Filter(is_stepped, domain$shares)) {
    at <- share_columns(domain, one)
    codes[, at] <- stepped_shares(one, codes[, at, drop = FALSE])
  }
  codes
}

new_param <- function(type) new_part("bandit_param", type, parent.frame())
