# Maximisation of R functions over continuous inputs. Layer: domain.

# Maximises R functions over continuous inputs: the optimum of a problem, the mode of a prior over the optimum, the
# acquisition value of a rule in R. The search works in slices. The fixed inputs of a slice (the row of a product, the
# levels of a search space, integer inputs with few values in all) are enumerated. The free inputs are searched in
# their unit cube: spread candidates, local searches from the best ones that are far apart, then a finer and finer
# search around the best point. Local searches are the core's (src/core/base/local_search_by_values.h).
#
# The searches of bandits (src/core/spaces) have other requirements. Their acquisition values cost microseconds and have
# gradients, and a nearly optimal point is sufficient. Here a value costs the time of an R function. Therefore points
# are evaluated together, and the result is the true optimum by which regret is measured. Integers are enumerated, while
# a bandit relaxes them: a user's function may not accept 2.5. Limits are met to 1e-10 by multipliers, which evaluate
# them at every step. A bandit treats them as linear to call R rarely, and ended 1e-4 to 0.02 below the optimum in three
# test problems. Both exclude points outside of a space exactly, by moving back on a straight line.

# For every query: a value costs a posterior, and may have kinks and jumps, so gradients are not used.
effort_of_round <- list(candidates = 250, most = Inf, starts = 0, cloud = 40,
                        half_widths = c(0.1, 0.03, 0.01, 0.003, 0.001), repeats = 1, closest = Inf, slack = 0)

# Integer inputs are fixed in slices if there are at most kMostSlices of these, or kMostWhole if no other input is free.
kMostSlices <- 64
kMostWhole <- 20000

# `rows`: the search domain, a list of
#   `count`                the number of rows (one for a box).
#   `box`                  the inputs that vary within each row.
#   `settle(row, inputs)`  the points next to inputs of the box in these rows (1, 2, ...), with `excess` if the space
#                          has constraints.
#   `find(points)`         the `row` (NA: none) and `inputs` of points.
#   `beside(point)`        optional: further inputs to try around a point, in its row.
maximise_in_rows <- function(rows, value, limits, effort, from) {
  search <- new_search_of_rows(rows, value, limits, effort)
  found <- assess(search, first_points(search, from))
  search <- with_units(search, found)
  search$inside <- pick(found, which(is_feasible(search, found)))
  best <- best_point(search, found)
  for (start in linkage_starts(found, search_score(search, found), effort$starts)) {
    best <- better_of(search, best, local_search(search, pick(found, start)))
  }
  if (!best$feasible) best <- refine_search(search, best)
  best <- refine_search(search, best)
  list(points = settled_points(search, best)$points, value = best$value, feasible = best$feasible)
}

# ---- slices and points --------------------------------------------------------

# Points are a list: `slice`, numbers; `u`, a row of the free inputs' unit cube each; after evaluation also `value`
# and `g` (the excess of the space's constraints, then the limits' values, a column each).
new_search_of_rows <- function(rows, value, limits, effort) {
  box <- rows$box
  bounds <- unname(input_ranges(box))
  whole <- integer_slices(box, rows$count)
  fixed <- as.integer(colnames(whole))
  free <- setdiff(seq_along(box$names), fixed)
  list(rows = rows, value = value, limits = limits, effort = effort, f_unit = 1, g_unit = 1,
       row = rep(seq_len(rows$count), each = nrow(whole)),
       whole = unname(whole[rep(seq_len(nrow(whole)), rows$count), , drop = FALSE]),
       fixed = fixed, free = free, smooth = which(!box$integer[free]), lower = bounds[1, free],
       side = bounds[2, free] - bounds[1, free])
}

# Combinations of the integer inputs (model inputs; column names: their numbers), if there are few.
integer_slices <- function(box, rows) {
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

# The nearest points, and by how much they violate the constraints of the space, a column each.
settled_points <- function(search, points) {
  n <- length(points$slice)
  inputs <- matrix(0, n, length(search$rows$box$names))
  inputs[, search$fixed] <- search$whole[points$slice, ]
  inputs[, search$free] <- rep(search$lower, each = n) + points$u * rep(search$side, each = n)
  found <- search$rows$settle(search$row[points$slice], inputs)
  list(points = found[c("arm", "inputs")], excess = or_else(found$excess, matrix(0, n, 0)))
}

# Points of the free inputs' unit cube, from inputs of the box.
cube_of <- function(search, inputs) {
  n <- nrow(inputs)
  u <- (inputs[, search$free, drop = FALSE] - rep(search$lower, each = n)) / rep(search$side, each = n)
  pmin(pmax(u, 0), 1)
}

# Candidates over all slices, and the points `from`.
first_points <- function(search, from) {
  effort <- search$effort
  slices <- length(search$row)
  d <- length(search$free)
  if (d == 0) return(list(slice = seq_len(slices), u = matrix(0, slices, 0)))
  total <- min(effort$candidates * d, effort$most)
  each <- max(ceiling(total / slices), min(effort$cloud * d / 2, floor(2e5 / slices), total))
  spread <- list(slice = rep(seq_len(slices), each = each), u = golden_points(slices * each, d))
  bind_points(points_of(search, from), spread)
}

points_of <- function(search, points) {
  if (is.null(points) || point_total(points) == 0) return(NULL)
  found <- search$rows$find(points)
  # (Rows may share their inputs: their numbers distinguish them.)
  slice <- match_rows(cbind(found$row, found$inputs[, search$fixed]), cbind(search$row, search$whole))
  pick(list(slice = slice, u = cube_of(search, found$inputs)), which(!is.na(slice)))
}

bind_points <- function(a, b) {
  if (is.null(a)) return(b)
  list(slice = c(a$slice, b$slice), u = rbind(a$u, b$u))
}

pick <- function(points, rows) {
  list(slice = points$slice[rows], u = points$u[rows, , drop = FALSE], value = points$value[rows],
       g = points$g[rows, , drop = FALSE])
}

# ---- values of points ---------------------------------------------------------

assess <- function(search, points) {
  settled <- settled_points(search, points)
  points$value <- search$value(settled$points)
  with_limits(search, points, settled)
}

with_limits <- function(search, points, settled = settled_points(search, points)) {
  points$g <- cbind(settled$excess, if (!is.null(search$limits)) search$limits(settled$points))
  points
}

# Units of the function and of the limits: their ranges over the candidates.
with_units <- function(search, found) {
  search$f_unit <- unit_of(diff(range(found$value)))
  search$g_unit <- vapply(seq_len(ncol(found$g)), function(j) unit_of(max(abs(found$g[, j]))), 0)
  known <- ncol(settled_points(search, pick(found, 1))$excess)
  search$slack <- c(numeric(known), rep(search$effort$slack, ncol(found$g) - known))
  search
}

# A positive divisor, even if a function is constant.
unit_of <- function(spread) if (is.finite(spread) && spread > 0) spread else 1

scaled_limits <- function(search, g) g / rep(search$g_unit, each = nrow(g))

is_feasible <- function(search, points) {
  rowSums(scaled_limits(search, points$g) > rep(search$slack, each = nrow(points$g))) == 0
}

total_excess <- function(g) rowSums(pmax(g, 0))

# Increases with the function and decreases with the excess.
search_score <- function(search, points) {
  points$value / search$f_unit - 5 * total_excess(scaled_limits(search, points$g))
}

# The best of some points: the largest value of the feasible ones, else the least excess. The first of equal ones.
best_point <- function(search, points) {
  feasible <- is_feasible(search, points)
  at <- if (any(feasible)) which(feasible)[which.max(points$value[feasible])] else which.min(total_excess(points$g))
  c(pick(points, at), feasible = feasible[at])
}

better_of <- function(search, best, other) {
  own <- c(best$feasible, if (best$feasible) best$value else -total_excess(best$g))
  theirs <- c(other$feasible, if (other$feasible) other$value else -total_excess(other$g))
  if (theirs[1] > own[1] || (theirs[1] == own[1] && theirs[2] > own[2])) other else best
}

# ---- local searches -----------------------------------------------------------

# Starting points: candidates in the best fifth that have no better candidate of their slice within the
# critical distance of multi-level single linkage (Rinnooy Kan and Timmer 1987).
# A local maximum then gets about one start. At most `count`, and one more for each slice but the first (at most
# `count` of these), best first.
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

# A local search from one point over the inputs that are not integers; the value never decreases.
local_search <- function(search, point) {
  start <- best_point(search, point)
  smooth <- search$smooth
  if (length(smooth) == 0) return(start)
  end <- pick(point, 1)
  end$u[, smooth] <- cpp_local_search(point$u[, smooth], function(v) {
    u <- point$u[rep(1, nrow(v)), , drop = FALSE]
    u[, smooth] <- v
    found <- assess(search, list(slice = rep(point$slice, nrow(v)), u = u))
    cbind(found$value / search$f_unit, scaled_limits(search, found$g))
  })
  end <- best_point(search, assess(search, end))
  better_of(search, start, if (end$feasible) end else back_within(search, start, end))
}

# From a point outside of the limits towards a feasible one of its slice, if there is one, to the first feasible point.
back_within <- function(search, start, outside) {
  inside <- if (start$feasible) start else nearest_inside(search, outside)
  if (is.null(inside)) return(outside)
  # Small steps near the end, for points that are just outside.
  shares <- c(0:31 / 32, 1 - 2^-(6:45))
  for (turn in 1:8) {
    way <- outside$u - inside$u
    if (max(abs(way)) < 1e-13) break
    u <- inside$u[rep(1, length(shares)), , drop = FALSE] + shares %o% drop(way)
    last <- max(which(is_feasible(search, with_limits(search, list(slice = rep(inside$slice, nrow(u)), u = u)))))
    inside$u[] <- u[last, ]
    if (last < nrow(u)) outside$u[] <- u[last + 1, ]
  }
  best_point(search, assess(search, pick(inside, 1)))
}

nearest_inside <- function(search, point) {
  same <- which(search$inside$slice == point$slice)
  if (length(same) == 0) return(NULL)
  away <- search$inside$u[same, , drop = FALSE] - rep(point$u, each = length(same))
  pick(search$inside, same[which.min(rowSums(away^2))])
}

# ---- refinement ---------------------------------------------------------------

# Many small local maxima can hide the largest one from the first search: search again around the best point while this
# helps. Smaller half-widths follow as long as the last one helped, because no other step moves along integer inputs.
refine_search <- function(search, best) {
  effort <- search$effort
  d <- length(search$free)
  if (d == 0) return(best)
  cloud <- 2 * golden_points(effort$cloud * d, d) - 1
  half_widths <- effort$half_widths
  while (length(half_widths)) {
    found <- search_near(search, best, half_widths[1] * cloud)
    half_widths <- if (length(half_widths) > 1) half_widths[-1]
                   else if (gains(found, best) && half_widths > effort$closest) half_widths / 5
    best <- found
  }
  best
}

search_near <- function(search, best, cloud) {
  effort <- search$effort
  for (turn in seq_len(effort$repeats)) {
    before <- best
    near <- assess(search, neighbours(search, best, cloud))
    found <- if (effort$starts == 0) best_point(search, near)
             else local_search(search, pick(near, which.max(search_score(search, near))))
    best <- better_of(search, best, found)
    if (!gains(best, before)) break
  }
  best
}

gains <- function(best, before) best$value - before$value > 1e-9 * abs(before$value)

# Points around one in its slice, at the next integers, with other shares, and the same point in all other slices.
neighbours <- function(search, point, cloud) {
  u <- pmin(pmax(cloud + rep(point$u, each = nrow(cloud)), 0), 1)
  beside <- search$rows$beside
  if (!is.null(beside)) u <- rbind(u, cube_of(search, beside(settled_points(search, point)$points)))
  for (j in setdiff(seq_along(search$free), search$smooth)) u <- rbind(u, integer_steps(search, point$u, j))
  others <- setdiff(seq_along(search$row), point$slice)
  list(slice = c(rep(point$slice, nrow(u)), others), u = rbind(u, point$u[rep(1, length(others)), , drop = FALSE]))
}

# One down and one up in an integer input.
integer_steps <- function(search, u, j) {
  at <- search$lower[j] + u[, j] * search$side[j]
  moved <- if (search$rows$box$log[search$free[j]]) log(pmax(round(exp(at)) + c(-1, 1), 1)) else round(at) + c(-1, 1)
  out <- u[c(1, 1), , drop = FALSE]
  out[, j] <- pmin(pmax((moved - search$lower[j]) / search$side[j], 0), 1)
  out
}
