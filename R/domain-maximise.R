# The one maximiser of a function over inputs that are continuous. It works in slices: what is fixed in a slice
# (the row of a product; whole-number inputs that take few values together) is tried value by value, and the inputs
# that are free in it are searched in their unit cube: spread candidates, climbs from the best of them that are far
# apart, then closer and closer looks around the best point.

# How hard to look. `candidates`: per free input, at most `most` (more where there are many slices); `starts`: climbs
# by gradients, for functions that are smooth and cheap; `cloud`, `half_widths`, `repeats`: points per input of a
# closer look, how far they lie from the best one, and how often each look is repeated while it helps; `slack`:
# so large a share of a limit's size counts as 0.
effort_of_run <- list(candidates = 1000, most = 10000, starts = 20, cloud = 100, half_widths = c(0.1, 0.02),
                      repeats = 10, slack = 1e-8)

# Once for every query, where a value costs a posterior and may have kinks and jumps: no gradients.
effort_of_round <- list(candidates = 250, most = Inf, starts = 0, cloud = 40,
                        half_widths = c(0.1, 0.03, 0.01, 0.003, 0.001), repeats = 1, slack = 0)

# Whole-number inputs are fixed in slices where there are not more than so many, or, if nothing else is free, so many.
kMostSlices <- 64
kMostWhole <- 20000

#' @export
maximise_over.box_domain <- function(domain, value, limits = NULL, effort = effort_of_run, from = NULL, tie = 0) {
  maximise_in_slices(domain, matrix(0, 1, 0), domain, value, limits, effort, from)
}

# `rows`: those of a product, one without columns for a box.
maximise_in_slices <- function(domain, rows, box, value, limits, effort, from) {
  search <- new_search_space(domain, rows, box, value, limits, effort)
  found <- assess(search, first_points(search, from))
  search <- with_units(search, found)
  best <- best_point(search, found)
  for (start in linkage_starts(found, search_score(search, found), effort$starts)) {
    best <- better_of(search, best, climb(search, pick(found, start)))
  }
  if (!best$feasible) best <- look_closer(search, best)
  best <- look_closer(search, best)
  list(places = places_at(search, best), value = best$value, feasible = best$feasible)
}

# ---- slices and points --------------------------------------------------------

# Points are a list: `slice`, numbers; `u`, a row of the free inputs' unit cube each; once assessed also `value`
# and `g` (the limits' values, a column each).
new_search_space <- function(domain, rows, box, value, limits, effort) {
  bounds <- unname(input_ranges(box))
  whole <- whole_slices(box, nrow(rows))
  fixed <- as.integer(colnames(whole))
  free <- setdiff(seq_along(box$names), fixed)
  row <- rep(seq_len(nrow(rows)), each = nrow(whole))
  list(box = box, value = value, limits = limits, effort = effort, f_unit = 1, g_unit = 1,
       arm = if (is.null(arm_count(domain))) rep(NA_integer_, length(row)) else row - 1L,
       row = unname(rows[row, , drop = FALSE]),
       whole = unname(whole[rep(seq_len(nrow(whole)), nrow(rows)), , drop = FALSE]),
       fixed = fixed, free = free, smooth = which(!box$integer[free]), lower = bounds[1, free],
       side = bounds[2, free] - bounds[1, free])
}

# Combinations of the whole-number inputs (model inputs; column names: their numbers), where there are few.
whole_slices <- function(box, rows) {
  at <- which(box$integer)
  counts <- (box$upper - box$lower + 1)[at]
  total <- rows * prod(counts)
  if (length(at) == 0 || total > (if (all(box$integer)) kMostWhole else kMostSlices)) return(matrix(0, 1, 0))
  values <- lapply(at, function(j) {
    whole <- seq(box$lower[[j]], box$upper[[j]])
    if (box$log[j]) log(whole) else whole
  })
  as.matrix(expand.grid(stats::setNames(values, at), KEEP.OUT.ATTRS = FALSE))
}

# The nearest places that may be played.
places_at <- function(search, points) {
  n <- length(points$slice)
  inputs <- matrix(0, n, length(search$box$names))
  inputs[, search$fixed] <- search$whole[points$slice, ]
  inputs[, search$free] <- rep(search$lower, each = n) + points$u * rep(search$side, each = n)
  list(arm = search$arm[points$slice],
       inputs = cbind(search$row[points$slice, , drop = FALSE], nearest_places(search$box, inputs)$inputs))
}

# Candidates over all slices, and the places `from`.
first_points <- function(search, from) {
  effort <- search$effort
  slices <- length(search$arm)
  d <- length(search$free)
  if (d == 0) return(list(slice = seq_len(slices), u = matrix(0, slices, 0)))
  total <- min(effort$candidates * d, effort$most)
  each <- max(ceiling(total / slices), min(effort$cloud * d / 2, floor(2e5 / slices), total))
  spread <- list(slice = rep(seq_len(slices), each = each), u = golden_points(slices * each, d))
  bind_points(points_of(search, from), spread)
}

points_of <- function(search, places) {
  if (is.null(places) || place_total(places) == 0) return(NULL)
  inputs <- places$inputs[, ncol(search$row) + seq_along(search$box$names), drop = FALSE]
  # Rows may share their inputs: their numbers tell them apart.
  slice <- match_rows(cbind(places$arm, inputs[, search$fixed]), cbind(search$arm, search$whole))
  u <- (inputs[, search$free, drop = FALSE] - rep(search$lower, each = length(slice))) /
    rep(search$side, each = length(slice))
  pick(list(slice = slice, u = pmin(pmax(u, 0), 1)), which(!is.na(slice)))
}

bind_points <- function(a, b) {
  if (is.null(a)) return(b)
  list(slice = c(a$slice, b$slice), u = rbind(a$u, b$u))
}

pick <- function(points, rows) {
  list(slice = points$slice[rows], u = points$u[rows, , drop = FALSE], value = points$value[rows],
       g = points$g[rows, , drop = FALSE])
}

# ---- how good points are ------------------------------------------------------

assess <- function(search, points) {
  places <- places_at(search, points)
  points$value <- search$value(places)
  points$g <- if (is.null(search$limits)) matrix(0, length(points$value), 0) else search$limits(places)
  points
}

# The function and the limits in units of what they do over the candidates.
with_units <- function(search, found) {
  search$f_unit <- unit_of(diff(range(found$value)))
  search$g_unit <- vapply(seq_len(ncol(found$g)), function(j) unit_of(max(abs(found$g[, j]))), 0)
  search
}

# A divisor even where a function is constant.
unit_of <- function(spread) if (is.finite(spread) && spread > 0) spread else 1

scaled_limits <- function(search, g) g / rep(search$g_unit, each = nrow(g))

is_feasible <- function(search, points) {
  rowSums(scaled_limits(search, points$g) > search$effort$slack) == 0
}

total_excess <- function(g) rowSums(pmax(g, 0))

# Large where the function is; falls with the excess.
search_score <- function(search, points) {
  points$value / search$f_unit - 5 * total_excess(scaled_limits(search, points$g))
}

# The best of some points: the largest value where that is feasible, else the least excess. The first of equal ones.
best_point <- function(search, points) {
  feasible <- is_feasible(search, points)
  at <- if (any(feasible)) which(feasible)[which.max(points$value[feasible])] else which.min(total_excess(points$g))
  c(pick(points, at), feasible = feasible[at])
}

better_of <- function(search, best, other) {
  ours <- c(best$feasible, if (best$feasible) best$value else -total_excess(best$g))
  theirs <- c(other$feasible, if (other$feasible) other$value else -total_excess(other$g))
  if (theirs[1] > ours[1] || (theirs[1] == ours[1] && theirs[2] > ours[2])) other else best
}

# ---- climbs -------------------------------------------------------------------

# Where to start: candidates in the best fifth with no better one of their slice within the
# critical distance of multi-level single linkage (Rinnooy Kan and Timmer 1987),
# so that a hill gets about one start. At most `count`, and one more for each slice but the first (so many
# again at most), best first.
linkage_starts <- function(points, score, count) {
  d <- ncol(points$u)
  if (count == 0 || d == 0) return(integer())
  n <- length(score)
  slices <- length(unique(points$slice))
  each <- n / slices
  critical <- (gamma(1 + d / 2) * 4 * log(each) / each)^(1 / d) / sqrt(pi)
  count <- count + min(slices - 1, count)
  top <- utils::head(order(score, decreasing = TRUE), max(n / 5, 1))
  starts <- integer()
  for (k in seq_along(top)) {
    better <- top[seq_len(k - 1)]
    better <- better[points$slice[better] == points$slice[top[k]]]
    gap <- points$u[better, , drop = FALSE] - rep(points$u[top[k], ], each = length(better))
    if (all(rowSums(gap^2) > critical^2)) starts <- c(starts, top[k])
    if (length(starts) == count) break
  }
  starts
}

# One point moved uphill over the inputs that are not whole numbers.
climb <- function(search, point) {
  smooth <- search$smooth
  if (length(smooth) > 0) {
    at <- function(v) {
      u <- point$u[rep(1, nrow(v)), , drop = FALSE]
      u[, smooth] <- v
      places_at(search, list(slice = rep(point$slice, nrow(v)), u = u))
    }
    minus_f <- function(v) -search$value(at(v)) / search$f_unit
    g <- if (!is.null(search$limits)) function(v) scaled_limits(search, search$limits(at(v)))
    point$u[, smooth] <- if (is.null(g)) minimise_in_cube(point$u[, smooth], minus_f)
                         else minimise_constrained(point$u[, smooth], minus_f, g, length(search$g_unit))
  }
  best_point(search, assess(search, point))
}

# Central differences in the unit cube (one-sided steps are shortened at its
# faces), all 2d points in one call of the vectorised function.
cube_gradient <- function(fn, u, step = 1e-5) {
  d <- length(u)
  high <- pmin(u + step, 1)
  low <- pmax(u - step, 0)
  points <- matrix(u, 2 * d, d, byrow = TRUE)
  points[cbind(seq_len(d), seq_len(d))] <- high
  points[cbind(d + seq_len(d), seq_len(d))] <- low
  value <- fn(points)
  (value[seq_len(d)] - value[d + seq_len(d)]) / (high - low)
}

# L-BFGS-B in the unit cube on a function that is vectorised over rows; minimises.
minimise_in_cube <- function(u, fn) {
  stats::optim(u, function(v) fn(matrix(v, 1)), function(v) cube_gradient(fn, v),
               method = "L-BFGS-B", lower = 0, upper = 1,
               control = list(factr = 10, maxit = 500))$par
}

# Augmented Lagrangian for m inequalities (Rockafellar 1974): minimise
# f + sum_j (max(0, lambda_j + rho g_j)^2 - lambda_j^2) / (2 rho), then
# lambda_j <- max(0, lambda_j + rho g_j).
minimise_constrained <- function(u, f, g, m) {
  lambda <- numeric(m)
  rho <- 10
  for (outer in 1:15) {
    u <- minimise_in_cube(u, function(v) {
      shifted <- pmax(rep(lambda, each = nrow(v)) + rho * g(v), 0)
      f(v) + rowSums(shifted^2) / (2 * rho)
    })
    at_u <- drop(g(matrix(u, 1)))
    lambda <- pmax(lambda + rho * at_u, 0)
    if (max(pmin(lambda, abs(at_u)), at_u) < 1e-10) break
    rho <- min(3 * rho, 1e5)
  }
  u
}

# ---- closer looks -------------------------------------------------------------

# A funnel's many small hills hide its top from the first search: look again
# around the best point for as long as that helps.
look_closer <- function(search, best) {
  effort <- search$effort
  d <- length(search$free)
  if (d == 0) return(best)
  cloud <- 2 * golden_points(effort$cloud * d, d) - 1
  for (half_width in effort$half_widths) for (turn in seq_len(effort$repeats)) {
    before <- best
    near <- assess(search, neighbours(search, best, half_width * cloud))
    found <- if (effort$starts == 0) best_point(search, near)
             else climb(search, pick(near, which.max(search_score(search, near))))
    best <- better_of(search, best, found)
    if (best$value - before$value <= 1e-9 * abs(before$value)) break
  }
  best
}

# Points around one in its slice, at the next whole numbers, and the same point in all other slices.
neighbours <- function(search, point, cloud) {
  u <- pmin(pmax(cloud + rep(point$u, each = nrow(cloud)), 0), 1)
  for (j in setdiff(seq_along(search$free), search$smooth)) u <- rbind(u, whole_steps(search, point$u, j))
  others <- setdiff(seq_along(search$arm), point$slice)
  list(slice = c(rep(point$slice, nrow(u)), others), u = rbind(u, point$u[rep(1, length(others)), , drop = FALSE]))
}

# One down and one up in a whole-number input.
whole_steps <- function(search, u, j) {
  at <- search$lower[j] + u[, j] * search$side[j]
  moved <- if (search$box$log[search$free[j]]) log(pmax(round(exp(at)) + c(-1, 1), 1)) else round(at) + c(-1, 1)
  out <- u[c(1, 1), , drop = FALSE]
  out[, j] <- pmin(pmax((moved - search$lower[j]) / search$side[j], 0), 1)
  out
}
