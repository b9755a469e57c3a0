# Shares of a whole in a search space: inputs of type "share" that add up to a total. `domain$shares` has an entry for
# each
# set of them: `names`, `total`, `lower`, `upper`, `most`.

#' @rdname search_space
#' @param names names of shares, two at least: each is an input, and a column.
#' @param total what the shares add up to, a number > 0. Where it is above 1 and `upper` is not given, each share may be
#'   all of it.
#' @param most at most so many shares are above 0; `NULL`: all may be. Each of the others is 0, also where its `lower` is above 0.
#' @export
param_shares <- function(names, total = 1, lower = 0, upper = 1, most = NULL) {
  if (missing(upper) && is.numeric(total) && isTRUE(total > 1)) upper <- total
  new_param("shares")
}

check_share_names <- function(names) {
  if (missing(names)) stop_argument("names", "missing", "names of shares, two at least")
  if (!is.character(names) || is.object(names) || length(names) < 2) stop_argument("names", describe(names),
                                                               "names of shares, two at least")
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
    refuse("most", sprintf("%d of %d", most, length(names)), "so many that there are at most 200,000 sets of them")
  }
  # The largest upper bounds reach the total; some set of so many, or fewer, is not above it: see Shares in the core.
  if (sum(utils::head(sort(upper, decreasing = TRUE), most)) < total - slack) {
    refuse("most", sprintf("%d, which reach %g together", most, sum(utils::head(sort(upper, decreasing = TRUE), most))),
           sprintf("so many that `total` (%g) is reached", total))
  }
  one <- list(names = names, total = total, lower = lower, upper = upper, most = most)
  if (!reach_total(core_shares(one))) {
    refuse("lower", "bounds with which no set of shares has this sum", sprintf("some that reach `total` (%g)", total))
  }
  invisible()
}

# Have some of these shares (see core_shares()) this sum? The core lists the sets that do when it makes them.
reach_total <- function(one) {
  one$at <- seq_along(one$at) - 1
  catch_error({
    cpp_shares(one, matrix(0.5, 1, length(one$at)), TRUE)
    TRUE
  }, function(e) FALSE)
}

# Numbers of some inputs, the whole of them, as the core takes one set. `at`: their columns, from 1; `pinned`: of those
# that are fixed their values, else NA.
core_shares <- function(one, at = seq_along(one$names), pinned = rep(NA_real_, length(at))) {
  list(at = at - 1, lower = one$lower, upper = one$upper, total = one$total,
       most = or_else(one$most, length(one$names)),
       pinned = pinned)
}

# Sets of shares become an input each: a list of `params` and `shares`.
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

# The range that each share can have, whatever the others are.
share_bounds <- function(one) {
  if (!is.null(one$most)) return(rbind(0 * one$lower, pmin(one$upper, one$total)))
  others <- function(x) sum(x) - x
  rbind(pmin(pmax(one$lower, one$total - others(one$upper)), one$upper),
        pmax(pmin(one$upper, one$total - others(one$lower)), one$lower))
}

# ---- what the domain knows of them ----------------------------------------------------

has_shares <- function(domain) length(domain$shares) > 0

share_columns <- function(domain, one) match(one$names, domain$names)

# All inputs that are shares; of sets of which only some are above 0 alone where `limited`.
share_inputs <- function(domain, limited = FALSE) {
  sets <- domain$shares
  if (limited) sets <- Filter(function(one) !is.null(one$most) && one$most < length(one$names), sets)
  sort(unlist(lapply(unname(sets), share_columns, domain = domain)))
}

# One for each set, see core_shares(). (A slice has values that are pinned.)
sets_for_core <- function(domain) {
  unname(lapply(domain$shares, function(one) {
    at <- share_columns(domain, one)
    core_shares(one, at, if (is.null(domain$pinned)) rep(NA_real_, length(at)) else domain$pinned[at])
  }))
}

# Points (a row each) whose shares, uniform in the unit cube, become uniform; or the nearest shares that are allowed.
shares_of_points <- function(domain, x, u = NULL) {
  for (one in sets_for_core(domain)) {
    at <- one$at + 1
    one$at <- seq_along(at) - 1
    x[, at] <- core(cpp_shares(one, unname((if (is.null(u)) x else u)[, at, drop = FALSE]), !is.null(u)))
  }
  x
}

# Points beside one (model inputs, with indicators or without) that have other shares above 0, a row each, as searches
# of bandits try them.
share_exchanges <- function(domain, inputs) {
  x <- inputs[seq_along(domain$names)]
  do.call(rbind, lapply(sets_for_core(domain), function(one) core(cpp_share_exchanges(one, x))))
}

# So much of the total is rounding.
share_rounding <- 1e-8

# For each input: so far may it be beyond its bounds.
share_slack <- function(domain) {
  slack <- numeric(length(domain$names))
  for (one in domain$shares) slack[share_columns(domain, one)] <- share_rounding * one$total
  slack
}

# Sums, and how many are above 0: an error about `arg`. (What fifteen digits have made of a bound is the bound.)
check_share_sums <- function(domain, codes, arg, bounded = TRUE) {
  for (one in domain$shares) {
    at <- share_columns(domain, one)
    x <- codes[, at, drop = FALSE]
    close <- share_rounding * one$total
    said <- function(i) paste(one$names, "=", exact_words(unname(x[i, ])), collapse = ", ")
    off <- which(is.na(rowSums(x)) | abs(rowSums(x) - one$total) > close)
    if (length(off)) stop_argument(arg, said(off[1]), sprintf("shares whose sum is %g", one$total))
    if (!bounded) {
      negative <- which(rowSums(x < -close) > 0)
      if (length(negative)) stop_argument(arg, said(negative[1]), "shares >= 0")
      next
    }
    limited <- !is.null(one$most)
    low <- rep(one$lower, each = nrow(x))
    high <- rep(one$upper, each = nrow(x))
    absent <- limited & x == 0
    wrong <- which(rowSums(!absent & (x < low - close | x > high + close)) > 0)
    if (length(wrong)) stop_argument(arg, said(wrong[1]), "shares within their bounds")
    many <- if (limited) which(rowSums(x > 0) > one$most)
    if (length(many)) stop_argument(arg, said(many[1]), sprintf("at most %d shares above 0", one$most))
    codes[, at] <- pmin(pmax(x, pmin(low, domain$box$lower[rep(at, each = nrow(x))])), high)
  }
  codes
}

# ---- equalities that are shares --------------------------------------------------------

# Sums of plain reals with equal coefficients that are equal to a number say what param_shares() says.
with_equalities_as_shares <- function(apart, where) {
  if (is.null(where) || is.function(where)) return(c(apart, list(where = where)))
  given <- constraint_texts(where, names(apart$params))
  texts <- with_equalities_whole(given, names(apart$params))
  keep <- rep(TRUE, length(texts))
  for (k in seq_along(texts)) {
    set <- shares_of_equality(str2lang(texts[k]), apart$params)
    if (is.null(set)) next
    keep[k] <- FALSE
    reach <- c(sum(set$lower), sum(set$upper))
    if (set$total < reach[1] || set$total > reach[2]) {
      stop_argument("where", texts[k],
                    sprintf("an equality that can hold: this sum is from %g to %g", reach[1], reach[2]))
    }
    do.call(check_shares, set, quote = TRUE)
    apart$params[set$names] <- share_params(set)
    apart$shares[[paste(set$names, collapse = ".")]] <- set
  }
  same <- all(keep) && length(texts) == length(given)
  c(apart, list(where = if (same) where else if (any(keep)) texts[keep]))
}

# Two linear inequalities that leave an equality are that equality.
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

# The linear form that an inequality wants to be at most 0, see linear_form().
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
  plain <- vapply(params[used], function(param) param$type == "real" && !param$log && is.null(param$when), NA)
  factors <- unname(form[used])
  if (length(used) < 2 || !all(plain) || any(abs(factors - factors[1]) > 1e-12 * abs(factors[1]))) return(NULL)
  total <- -form[[1]] / factors[1]
  bound <- function(which) unname(vapply(params[used], `[[`, 0, which))
  if (total <= 0 || any(bound("lower") < 0)) return(NULL)
  list(names = used, total = total, lower = bound("lower"), upper = bound("upper"), most = NULL)
}

# The coefficients of an expression that is linear in the inputs, the first (without a name) what is added; NULL where
# it
# is not.
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

# ---- along one share ------------------------------------------------------------------

# A frame's points with shares that sum up: what is in `kept` stays, and the others of its set share what is left in the
# proportion that they have above their lower bounds (the direction of Cox's effects of mixtures). With `fits`: whether
# all are within their bounds.
balanced_shares <- function(domain, points, kept = character()) {
  fits <- rep(TRUE, nrow(points))
  for (one in domain$shares) {
    x <- as.matrix(points[one$names])
    # What sums up is left as it is, to the bit.
    off <- abs(rowSums(x) - one$total) > 1e-9 * one$total
    x[off, ] <- balanced_set(one, x[off, , drop = FALSE], one$names %in% kept)
    points[one$names] <- x
    fits <- fits & within_set(one, x)
  }
  list(points = points, fits = fits)
}

# Rows of a set's shares; `kept`: which columns stay.
balanced_set <- function(one, x, kept) {
  moved <- which(!kept)
  if (nrow(x) == 0 || length(moved) == 0) return(x)
  if (!is.null(one$most)) x <- largest_shares(x, kept, one$most)
  least <- if (is.null(one$most)) one$lower[moved] else numeric(length(moved))
  above <- pmax(x[, moved, drop = FALSE] - rep(least, each = nrow(x)), 0)
  left <- one$total - rowSums(x[, kept, drop = FALSE]) - sum(least)
  none <- rowSums(above) <= 1e-12 * one$total
  above[none, ] <- 1
  x[, moved] <- rep(least, each = nrow(x)) + above * (left / rowSums(above))
  x
}

# A frame's points with shares by `u`, uniform in the unit cube: exponential variables in proportion, so that no share
# comes before the others, and uniform where none has an upper bound.
spread_shares <- function(domain, points, u) {
  for (one in domain$shares) {
    least <- if (is.null(one$most)) one$lower else 0 * one$lower
    above <- -log(pmax(1 - u[, share_columns(domain, one), drop = FALSE], 1e-12))
    points[one$names] <- balanced_set(one, above + rep(least, each = nrow(u)), rep(FALSE, length(one$names)))
  }
  points
}

# So many shares of a row above 0 as may be: those that stay, and the largest of the others.
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
  close <- 1e-8 * one$total
  low <- rep(one$lower, each = nrow(x))
  high <- rep(one$upper, each = nrow(x))
  absent <- !is.null(one$most) & x == 0
  rowSums(!absent & !(x >= low - close & x <= high + close)) == 0 &
    (if (is.null(one$most)) TRUE else rowSums(x > 0) <= one$most)
}

# The set of exactly three shares of which these two are some, or NULL.
ternary_set <- function(domain, pair) {
  Find(function(one) length(one$names) == 3 && all(pair %in% one$names), domain$shares)
}
