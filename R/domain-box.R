# Boxes of real inputs. Layer: domain.

#' @rdname finite_domain
#' @export
box_domain <- function(lower, upper, names = NULL, integer = FALSE, log = FALSE) {
  lower <- check_numbers(lower)
  upper <- check_numbers(upper)
  check_sound(names, "names", "NULL, or distinct names")
  d <- max(length(lower), length(upper), length(names))
  if (is.null(names)) {
    names <- base::names(lower)
    if (is.null(names)) names <- base::names(upper)
  }
  if (d < 1) stop_argument("lower", describe(lower), "at least one number")
  names <- check_input_names(names, d, "names")
  lower <- by_name(lower, names, "lower")
  upper <- by_name(upper, names, "upper")
  for (arg in c("lower", "upper")) {
    if (!length(get(arg)) %in% c(1, d)) {
      stop_argument(arg, describe(get(arg)), sprintf("one number or %d numbers", d))
    }
  }
  lower <- rep_len(as.double(lower), d)
  upper <- rep_len(as.double(upper), d)
  if (any(lower >= upper)) {
    bad <- which(lower >= upper)[1]
    stop_argument("lower", sprintf("%g (upper bound %g, input %d)", lower[bad], upper[bad], bad),
                  "below `upper` in every input")
  }
  if (any(is.infinite(upper - lower))) {
    stop_argument("upper", "so far from `lower` that their difference overflows", "less than 1.7e308 above `lower`")
  }
  if (any(narrow <- upper - lower < least_range)) {
    stop_argument("upper", sprintf("%g of input `%s`, so near its `lower`", upper[narrow][1], names[narrow][1]),
                  sprintf("at least %g above `lower`", least_range), try = "other units of this input")
  }
  integer <- which_inputs(integer, names, "integer")
  log <- which_inputs(log, names, "log")
  if (any(lower[log] <= 0)) {
    stop_argument("lower", sprintf("%g for a logarithmic input", lower[log & lower <= 0][1]), "> 0 if `log` is TRUE")
  }
  bounds <- c(lower[integer], upper[integer])
  if (any(bounds != round(bounds))) {
    stop_argument("integer", sprintf("an input with bound %g", bounds[bounds != round(bounds)][1]),
                  "an input whose bounds are integers")
  }
  new_box(names, lower, upper, integer, log)
}

least_range <- 1e-140

# A box from checked arguments.
new_box <- function(names, lower, upper, integer, log) {
  structure(list(type = "box", names = names, lower = stats::setNames(lower, names),
                 upper = stats::setNames(upper, names), integer = integer, log = log),
            class = c("box_domain", "bandit_domain"))
}

#' @export
remade.box_domain <- function(domain) {
  box_domain(domain$lower, domain$upper, domain$names, domain$integer, domain$log)
}

# Logical flags, one per input, from TRUE/FALSE, names or numbers of inputs.
which_inputs <- function(x, names, arg) {
  d <- length(names)
  allowed <- sprintf("TRUE, FALSE, %d flags, or names or numbers of inputs", d)
  if (is.logical(x) && length(x) %in% c(1, d) && !anyNA(x)) return(rep_len(x, d))
  if (is.character(x) && all(x %in% names)) return(names %in% x)
  if (is_number(x) && all(x %in% seq_len(d))) return(seq_len(d) %in% x)
  stop_argument(arg, describe(x), allowed)
}

box_of_pairs <- function(pairs, arg) {
  wrong <- which(!vapply(pairs, function(pair) all(is.finite(pair)) && pair[1] < pair[2], NA))[1]
  if (!is.na(wrong)) {
    pair <- pairs[[wrong]]
    written <- function(pair) {
      sprintf("%s = c(%s)", names(pairs)[wrong], paste(vapply(pair, format, "", digits = 7), collapse = ", "))
    }
    stop_argument(arg, sprintf("`%s`", written(pair)), "finite ranges `c(lower, upper)` with lower below upper",
                  try = if (all(is.finite(pair)) && pair[1] > pair[2]) sprintf("`%s`", written(rev(pair))))
  }
  tryCatch(box_domain(vapply(pairs, `[`, 0, 1), vapply(pairs, `[`, 0, 2), names = names(pairs)),
           gpbandits_error = function(e) {
    stop_argument(arg, sprintf("one where it is %s", e$given), sprintf("a box with `%s` %s", e$argument, e$allowed))
  })
}

# Points of a box have no numbers.
unnumbered <- function(inputs) list(arm = rep(NA_integer_, nrow(inputs)), inputs = inputs)

#' @export
input_ranges.box_domain <- function(domain) to_model_inputs(domain, rbind(domain$lower, domain$upper))

#' @export
find_points.box_domain <- function(domain, x, arm = NULL, arg = "x") {
  check_absent(arm, "arm", "a box has no arms. If it is a reward, use `reward = `")
  unnumbered(to_model_inputs(domain, points_in_box(domain, x, arg)))
}

#' @export
points_anywhere.box_domain <- function(domain, x, arm = NULL, arg = "x") {
  check_absent(arm, "arm", "a box has no arms. If it is a reward, use `reward = `")
  x <- check_points(x, domain$names, arg)
  inside <- !is_beyond_box(domain, x)
  x[inside, ] <- within_bounds(domain, x[inside, , drop = FALSE], arg)
  unnumbered(inputs_anywhere(domain, rounded_integers(domain, x, arg), arg))
}

#' @export
data_ranges.box_domain <- function(domain) {
  reach <- ifelse(domain$log, log(.Machine$double.xmax), .Machine$double.xmax)
  rbind(ifelse(domain$log, log(.Machine$double.xmin), -reach), reach)
}

# `slack`: the least tolerance of each input.
is_beyond_box <- function(box, x, slack = 0) {
  is_beyond(x, box$lower, box$upper, pmax(bound_rounding * abs(box$lower), slack),
            pmax(bound_rounding * abs(box$upper), slack))
}

#' @export
lies_outside.box_domain <- function(domain, points) beyond_ranges(domain, points)

points_in_box <- function(domain, x, arg) {
  rounded_integers(domain, within_bounds(domain, check_points(x, domain$names, arg), arg), arg)
}

rounded_integers <- function(domain, x, arg) {
  fraction <- x[, domain$integer, drop = FALSE]
  if (any(fraction != round(fraction))) {
    stop_argument(arg, sprintf("%g for an integer input", fraction[fraction != round(fraction)][1]), "an integer")
  }
  x
}

# pmin() and pmax() take ten times as long for the few points of one local search.
clamped <- function(x, lower, upper) {
  x[x < lower] <- lower
  x[x > upper] <- upper
  x
}

# A value that a file has rounded to fifteen digits counts as the bound.
within_bounds <- function(box, x, arg) {
  for (j in seq_along(box$names)) {
    bounds <- c(box$lower[[j]], box$upper[[j]])
    inside <- clamped(x[, j], bounds[1], bounds[2])
    outside <- which(abs(x[, j] - inside) > bound_rounding * abs(inside))
    if (length(outside)) {
      stop_argument(arg, sprintf("%s = %s", box$names[j], exact_numbers(x[[outside[1], j]])),
                    sprintf("within [%s, %s]", exact_numbers(bounds[1]), exact_numbers(bounds[2])))
    }
    x[, j] <- inside
  }
  x
}

#' @export
slice_of.box_domain <- function(domain, values) {
  at <- match(names(values), domain$names)
  x <- matrix((domain$lower + domain$upper) / 2, 1, dimnames = list(NULL, domain$names))
  x[, domain$integer] <- domain$lower[domain$integer]
  x[at] <- vapply(names(values), function(name) fixed_number(values[[name]], name), 0)
  u <- to_model_inputs(domain, points_in_box(domain, x, "fixed"))
  list(fixed = fixed_inputs(at, u[at]))
}

#' @export
nearest_points.box_domain <- function(domain, inputs) {
  dimnames(inputs) <- NULL
  bounds <- unname(input_ranges(domain))
  inside <- pmin(pmax(inputs, rep(bounds[1, ], each = nrow(inputs))), rep(bounds[2, ], each = nrow(inputs)))
  if (any(domain$integer | domain$log)) inside <- to_model_inputs(domain, from_model_inputs(domain, inside))
  unnumbered(inside)
}

# Points of the unit cube as points of the box.
scale_to_box <- function(domain, u) nearest_points(domain, cube_inputs(domain, u))

# ... as model inputs. Integers have equal parts of the cube; on a logarithmic scale k has the part of [k, k + 1).
cube_inputs <- function(box, u) {
  bounds <- unname(input_ranges(box))
  x <- rep(bounds[1, ], each = nrow(u)) + u * rep(bounds[2, ] - bounds[1, ], each = nrow(u))
  for (j in which(box$integer)) {
    whole <- integer_quantiles(box, j, u[, j])
    x[, j] <- if (box$log[j]) log(whole) else whole
  }
  x
}

integer_quantiles <- function(box, j, u) {
  low <- box$lower[[j]]
  high <- box$upper[[j]]
  clamped(floor(if (box$log[j]) low * ((high + 1) / low)^u else low + u * (high - low + 1)), low, high)
}

#' @export
sample_points.box_domain <- function(domain, count) {
  d <- length(domain$names)
  scale_to_box(domain, matrix(stats::runif(count * d), count, d, byrow = TRUE))
}

# A Latin hypercube: one point in each of `count` slices of every input. If all inputs are integers, no point is
# repeated while another one is unused.
#' @export
design_points.box_domain <- function(domain, count) {
  inputs <- scale_to_box(domain, latin_hypercube(domain$names, count))$inputs
  if (!all(domain$integer)) return(unnumbered(inputs))
  if (prod(domain$upper - domain$lower + 1) > kMostWhole) {
    return(unnumbered(distinct_inputs(inputs, function(wanted) sample_points(domain, wanted)$inputs)))
  }
  values <- lapply(seq_along(domain$names), function(j) seq(domain$lower[[j]], domain$upper[[j]]))
  all <- unname(as.matrix(expand.grid(values, KEEP.OUT.ATTRS = FALSE)))
  unnumbered(distinct_of(inputs, unname(to_model_inputs(domain, all))))
}

is_box <- function(x) inherits(x, "box_domain")

latin_hypercube <- function(names, count) {
  u <- vapply(names, function(name) (sample.int(count) - stats::runif(count)) / count, numeric(count))
  matrix(u, count, length(names))
}

# Rows without repeats while any row of `all` is unused. If more rows are wanted, all are used equally often.
distinct_of <- function(inputs, all) {
  count <- nrow(inputs)
  turns <- count %/% nrow(all)
  if (turns > 0) {
    order <- c(replicate(turns, sample.int(nrow(all))), sample.int(nrow(all), count - turns * nrow(all)))
    return(all[order, , drop = FALSE])
  }
  again <- which(duplicated(inputs))
  if (length(again) == 0) return(inputs)
  left <- which(is.na(match_exactly(all, inputs)))
  inputs[again, ] <- all[left[sample.int(length(left), length(again))], ]
  inputs
}

# Repeated rows are drawn again, a hundred times at most.
distinct_inputs <- function(inputs, draw) {
  for (turn in 1:100) {
    again <- which(duplicated(inputs))
    if (length(again) == 0) break
    fresh <- draw(max(length(again), 32))
    fresh <- fresh[is.na(match_exactly(fresh, inputs)) & !duplicated(fresh), , drop = FALSE]
    put <- seq_len(min(nrow(fresh), length(again)))
    inputs[again[put], ] <- fresh[put, ]
  }
  inputs
}

#' @export
spread_points.box_domain <- function(domain, count) {
  scale_to_box(domain, golden_points(count, length(domain$names)))
}

#' @export
maximise_over.box_domain <- function(domain, value, limits = NULL, effort = effort_of_run, from = NULL, tie = 0) {
  rows <- list(count = 1L, box = domain, settle = function(row, inputs) nearest_points(domain, inputs),
               find = function(points) list(row = rep(1L, point_total(points)), inputs = points$inputs))
  maximise_in_rows(rows, value, limits, effort, from)
}

#' @export
to_model_inputs.box_domain <- function(domain, x) {
  x[, domain$log] <- log(x[, domain$log])
  x
}

#' @export
from_model_inputs.box_domain <- function(domain, u) {
  # Rounded to the fifteen digits that are unchanged by the conversion and its inverse; a bound may have more.
  for (j in which(domain$log)) {
    x <- signif(exp(u[, j]), 15)
    inside <- clamped(x, domain$lower[[j]], domain$upper[[j]])
    # (Data may lie outside.)
    far <- which(abs(x - inside) > 1e-12 * inside)
    inside[far] <- x[far]
    u[, j] <- inside
  }
  if (any(domain$integer)) u[, domain$integer] <- round(u[, domain$integer])
  u
}

#' @export
core_space_kind.box_domain <- function(domain, setting) "box"

#' @export
core_space.box_domain <- function(domain, setting) box_space(domain, matrix(0, 1, 0), FALSE, setting)

# `rows`: the rows of a product (one row without columns for a box alone).
box_space <- function(box, rows, numbered, setting) {
  bounds <- unname(input_ranges(box))
  list(kind = "box", rows = unname(rows), numbered = numbered, lower = bounds[1, ], upper = bounds[2, ],
       integer = box$integer, log = box$log, contexts = length(setting$context_names),
       prior_mean = rep_len(setting$mean, nrow(rows)))
}

#' @export
closed_form_average.box_domain <- function(domain, kernel) {
  if (!isTRUE(kernel$closed_form) || any(domain$integer)) return(NULL)
  bounds <- unname(input_ranges(domain))
  lengthscale <- rep(Inf, ncol(bounds))
  lengthscale[kernel$dims + 1] <- kernel$lengthscale
  list(kind = "box", lower = bounds[1, ], upper = bounds[2, ], lengthscale = lengthscale, variance = kernel$variance)
}

#' @export
describe_domain.box_domain <- function(domain) paste("a box with", amount_of(length(domain$names), "input"))

#' @export
domain_story.box_domain <- function(domain) paste("box domain:", box_sides(domain))

box_sides <- function(domain) {
  paste(sprintf("%s in [%g, %g]%s%s", domain$names, domain$lower, domain$upper,
                ifelse(domain$integer, " whole", ""), ifelse(domain$log, " log", "")), collapse = ", ")
}

#' @export
point_labels.box_domain <- function(domain, arm, inputs) {
  x <- from_model_inputs(domain, inputs)
  stats::setNames(lapply(seq_along(domain$names), function(j) unname(x[, j])), domain$names)
}

#' @export
picture_types.box_domain <- function(domain, smooth) {
  can <- c(switch(length(domain$names), "curve", "map"), "arms")
  list(can = can, auto = can[1])
}

# On a box of more than two inputs, the points played are shown like arms.
#' @export
picture_points.box_domain <- function(domain, type, played, resolution) {
  if (type == "arms") return(evaluated_points(domain, played))
  unnumbered(to_model_inputs(domain, box_grid(domain, if (type == "curve") 301 else 61, resolution)))
}

check_something_played <- function(domain, played) {
  if (nrow(played) == 0) {
    stop_state("There is nothing to draw: on ", describe_domain(domain),
               " the plot shows the points played, and there are none. Use `$suggest()` or `$add()` first.",
               argument = "x")
  }
}

evaluated_points <- function(domain, played) {
  check_something_played(domain, played)
  first <- !duplicated(played[intersect(c("arm", domain$names), names(played))])
  x <- as.matrix(played[first, domain$names, drop = FALSE])
  numbered <- !is.null(played$arm)
  list(arm = if (numbered) played$arm[first] - 1L else rep(NA_integer_, nrow(x)), inputs = to_model_inputs(domain, x))
}

box_grid <- function(domain, usual, resolution) {
  if (is.null(resolution)) resolution <- usual
  axes <- lapply(seq_along(domain$names), function(i) box_axis(domain, i, resolution))
  as.matrix(expand.grid(stats::setNames(axes, domain$names), KEEP.OUT.ATTRS = FALSE))
}

# Values of one input of a box: integers for an integer input, and equal steps on the logarithmic scale
# for a logarithmic one.
box_axis <- function(domain, i, resolution) {
  ends <- c(domain$lower[[i]], domain$upper[[i]])
  if (domain$log[i]) {
    values <- exp(seq(log(ends[1]), log(ends[2]), length.out = resolution))
    values[c(1, resolution)] <- ends
  } else {
    values <- seq(ends[1], ends[2], length.out = resolution)
  }
  if (domain$integer[i]) unique(round(values)) else values
}

#' @export
input_axis.box_domain <- function(domain, i, count) box_axis(domain, i, count)

#' @export
input_quantiles.box_domain <- function(domain, i, u) {
  low <- domain$lower[[i]]
  high <- domain$upper[[i]]
  if (domain$integer[i]) return(integer_quantiles(domain, i, u))
  if (domain$log[i]) low * (high / low)^u else low + u * (high - low)
}

#' @export
log_inputs.box_domain <- function(domain) domain$log

#' @export
same_points.box_domain <- function(domain, other) {
  # (Names and scales may differ.)
  identical(other$type, "box") &&
    identical(unname(c(domain$lower, domain$upper)), unname(c(other$lower, other$upper)))
}

# Real inputs on their own scale.
is_plain_box <- function(domain) inherits(domain, "box_domain") && !any(domain$integer | domain$log)

#' @export
is_discrete.box_domain <- function(domain) all(domain$integer)
