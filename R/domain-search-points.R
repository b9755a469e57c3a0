# Points of search spaces: enumeration, designs, samples, candidates. Layer: domain.

# Points of a search space: enumerated, spread, drawn, searched.

# The largest numbers of candidates and tries.
kMostLevelRows <- 64
kMostTries <- 65536
kSpread <- 4096
# If linear constraints leave fewer than kFewCandidates candidates, kLinear more are drawn from their region. At most
# kMostSets sets of conditional inputs have regions of their own, see linear_regions().
kFewCandidates <- 256
kLinear <- 1024
kMostSets <- 32
# The number of rounds in which uniform points of the box are drawn, with linear constraints and without.
kFewTurns <- 8
kMostTurns <- 1000

# Points of the unit cube as model inputs without indicators.
cube_model <- function(domain, u) {
  x <- cube_inputs(domain$box, u)
  # (Multiples of a step have equal parts of the cube, too.)
  for (j in which(vapply(domain$params, is_stepped, NA) & !domain$box$log)) {
    unit <- step_of(domain$params[[j]])
    ends <- step_range(domain$box$lower[[j]], domain$box$upper[[j]], unit)
    if (diff(ends) > 0) x[, j] <- unit * clamped(floor(ends[1] + u[, j] * (diff(ends) + 1)), ends[1], ends[2])
  }
  if (has_shares(domain)) x <- shares_of_points(domain, x, u)
  x
}

cube_codes <- function(domain, u) from_model_inputs(domain$box, cube_model(domain, u))

# Combinations of the inputs `at` (codes), a row each; NULL if there are more than `most`.
combinations_of <- function(domain, at, most) {
  if (prod(vapply(at, value_count, 0, domain = domain)) > most) return(NULL)
  if (length(at) == 0) return(matrix(0, 1, 0))
  unname(as.matrix(expand.grid(lapply(at, listed_values, domain = domain), KEEP.OUT.ATTRS = FALSE)))
}

# The number of values of an input, Inf if it is continuous.
value_count <- function(domain, j) {
  range <- c(domain$box$lower[[j]], domain$box$upper[[j]])
  if (domain$box$integer[j]) return(diff(range) + 1)
  param <- domain$params[[j]]
  if (is_stepped(param)) diff(step_range(range[1], range[2], step_of(param))) + 1 else Inf
}

listed_values <- function(domain, j) {
  range <- c(domain$box$lower[[j]], domain$box$upper[[j]])
  if (domain$box$integer[j]) return(seq(range[1], range[2]))
  param <- domain$params[[j]]
  ends <- step_range(range[1], range[2], step_of(param))
  steps_as_values(seq(ends[1], ends[2]), param)
}

level_rows <- function(domain) combinations_of(domain, which(domain$categorical), kMostLevelRows)

# Model inputs that are tried first: all points if there are few, else every combination of levels with
# numbers spread out, else points spread over all inputs.
first_model_points <- function(domain) {
  if (is_listed(domain)) {
    return(to_model_inputs(domain$box, combinations_of(domain, seq_along(domain$names), kMostWhole)))
  }
  rows <- level_rows(domain)
  d <- length(domain$names)
  if (is.null(rows)) return(cube_model(domain, golden_points(kSpread, d)))
  numbers <- which(!domain$categorical)
  spread <- spread_with_corners(length(numbers), nrow(rows))
  each <- nrow(spread)
  u <- matrix(0, each * nrow(rows), d)
  u[, numbers] <- spread[rep(seq_len(each), nrow(rows)), ]
  x <- cube_model(domain, u)
  x[, domain$categorical] <- rows[rep(seq_len(nrow(rows)), each = each), ]
  x
}

# The same numbers as in the core for a box and a product: the variance is often largest in corners.
spread_with_corners <- function(d, rows) {
  inner <- min(2048, 256 * (d + 1), max(32, 8192 %/% rows))
  corners <- if (d <= 5 && rows * 2^d <= 1024) as.matrix(expand.grid(rep(list(0:1), d)))
  unname(rbind(golden_points(inner, d), corners))
}

# Feasible points (model inputs), as starting points of a search.
search_candidates <- function(rules) {
  domain <- rules$domain
  found <- playable(rules, first_model_points(domain))
  listed <- is_listed(domain)
  narrow <- if (!listed) narrow_regions(rules, found)
  if (length(narrow)) found <- distinct_rows(rbind(found, linear_candidates(rules, narrow)))
  tried <- 0
  while (nrow(found) < (if (length(narrow)) 1 else 64) && tried < kMostTries && !listed) {
    more <- golden_points(tried + kSpread, length(domain$names))[tried + seq_len(kSpread), , drop = FALSE]
    found <- distinct_rows(rbind(found, playable(rules, cube_model(domain, more))))
    tried <- tried + kSpread
  }
  if (nrow(found) == 0) {
    stop_argument("where", "constraints that no point satisfies (of 65,536 that were drawn)",
                  "constraints that some points satisfy",
                  try = if (is.function(domain$where)) without_equality else if (!length(narrow)) linear_form_instead)
  }
  if (!is.null(domain$where) && tried >= kMostTries && only_corners(domain, found)) {
    is_code <- is.function(domain$where)
    stop_argument("where", paste(if (is_code) "a function that holds" else "constraints that hold",
                                 "in corners only (of 65,536 points that were drawn)"),
                  "constraints that leave points between them",
                  try = if (is_code) without_equality else linear_form_instead)
  }
  found
}

distinct_rows <- function(x) x[!duplicated(x), , drop = FALSE]

# A constraint binds only where all of its inputs exist, so each set of conditional inputs that exist together has its
# own linear constraints. A list with an entry for each set, named by sets_of_inputs(): `linear`, the constraints (see
# linear_rules()), and `inputs`, points of the box with this set. Sets that none of the tried points have are left out.
# If constraints name no conditional inputs, there is one entry, without `inputs`.
linear_regions <- function(rules) {
  domain <- rules$domain
  conditional <- domain$names[domain$conditional]
  all <- linear_rules(domain, conditional)
  if (is.null(all)) return(list())
  if (length(named_conditional(domain)) == 0) return(list(always = list(linear = all)))
  tried <- first_model_points(domain)
  set <- sets_of_inputs(rules, tried)
  rows <- split(seq_along(set), factor(set, unique(set)))
  rows <- utils::head(rows[order(-lengths(rows))], kMostSets)
  regions <- lapply(rows, function(at) {
    there <- existence(rules, from_model_inputs(domain$box, tried[at[1], , drop = FALSE]))
    list(linear = linear_rules(domain, conditional[there[domain$conditional]]), inputs = tried[at, , drop = FALSE])
  })
  Filter(function(one) !is.null(one$linear), regions)
}

linear_for_core <- function(rules) {
  regions <- linear_regions(rules)
  if (length(regions)) unname(lapply(regions, `[[`, "linear"))
}

named_conditional <- function(domain) {
  intersect(unlist(lapply(domain$where, function(text) all.vars(str2lang(text)))), domain$names[domain$conditional])
}

# Which of the conditional inputs that constraints name exist at points of the box: a string for each.
sets_of_inputs <- function(rules, inputs) {
  domain <- rules$domain
  named <- named_conditional(domain)
  if (length(named) == 0) return(rep("always", nrow(inputs)))
  exists <- existence(rules, from_model_inputs(domain$box, inputs))[, match(named, domain$names), drop = FALSE]
  do.call(paste, as.data.frame(exists + 0))
}

# The regions of linear constraints of which points that are spread over the box would rarely be feasible. `found`: the
# points of the whole box that are.
narrow_regions <- function(rules, found = playable(rules, first_model_points(rules$domain))) {
  regions <- linear_regions(rules)
  enough <- kFewCandidates / max(1, length(regions))
  in_set <- function(one) if (is.null(one$inputs)) found else playable(rules, one$inputs)
  Filter(function(one) nrow(in_set(one)) < enough, regions)
}

# Corners of regions of linear constraints, and points spread over them; an error if the only one is empty.
linear_candidates <- function(rules, regions) {
  domain <- rules$domain
  found <- lapply(regions, function(one) {
    region <- linear_region(domain, one$linear, ceiling(kLinear / length(regions)))
    if (region$empty && is.null(one$inputs)) {
      conditions <- paste(shown_conditions(domain$where), collapse = " & ")
      stop_argument("where", sprintf("constraints that no point satisfies (%s)", conditions),
                    "constraints that some points satisfy")
    }
    if (!region$found) return(NULL)
    # A corner may be outside by rounding.
    middle <- region$corners[rep(nrow(region$corners), nrow(region$corners)), , drop = FALSE]
    inside <- rbind(region$corners, region$points, region$corners + 1e-9 * (middle - region$corners))
    u <- if (is.null(one$inputs)) cube_model(domain, golden_points(nrow(inside), length(domain$names)))
         else one$inputs[rep_len(seq_len(nrow(one$inputs)), nrow(inside)), , drop = FALSE]
    u[, one$linear$at + 1] <- inside
    u
  })
  playable(rules, rbind(matrix(0, 0, length(domain$names)), do.call(rbind, unname(found))))
}

linear_form_instead <- paste("param_shares() for inputs that add up to something, constraints that are linear in the",
                             "inputs, or for plain reals (a > 0) + (b > 0) <= 1, where 0 is their lower bound: these",
                             "are solved")

# A function cannot be parsed, but an equality of real inputs is recognised from the points where it holds.
without_equality <- paste("param_shares() for inputs that add up to something, or a formula that is linear in the",
                          "inputs or has the form ~ (a > 0) + (b > 0) <= 1; for another equality one input less,",
                          "which the objective computes from the others")

only_corners <- function(domain, inputs) {
  range <- unname(input_ranges(domain$box))
  real <- setdiff(which(!domain$box$integer & range[1, ] < range[2, ]), share_inputs(domain))
  at <- t(inputs[, real, drop = FALSE])
  length(real) > 0 && all(at == range[1, real] | at == range[2, real])
}

playable <- function(rules, u) {
  found <- resolved_points(rules, u)
  for (column in rules$required) found$feasible <- found$feasible & found$inputs[, column] > 0.5
  inputs <- found$inputs[found$feasible, , drop = FALSE]
  if (!has_rules(rules$domain) && !rules$stepped && !any(rules$domain$box$integer)) return(inputs)
  inputs[!duplicated(inputs), , drop = FALSE]
}

# Uniform over the box of all inputs, until there are enough feasible points. If linear constraints leave little of the
# box, uniform over their region.
#' @export
sample_points.search_domain <- function(domain, count) {
  rules <- search_rules(domain)
  regions <- linear_regions(rules)
  kept <- matrix(0, 0, length(model_names(domain)))
  for (turn in seq_len(if (length(regions)) kFewTurns else kMostTurns)) {
    if (nrow(kept) >= count) break
    kept <- rbind(kept, playable_rows(rules, uniform_model(domain, max(count, 32))))
  }
  if (nrow(kept) < count && length(regions)) kept <- rbind(kept, linear_sample(rules, regions, count - nrow(kept)))
  if (nrow(kept) < count) {
    spare <- search_candidates(rules)
    kept <- rbind(kept, spare[sample.int(nrow(spare), count - nrow(kept), replace = TRUE), , drop = FALSE])
  }
  unnumbered(kept[seq_len(count), , drop = FALSE])
}

# Model inputs without indicators. All integers have the same probability, like levels.
uniform_model <- function(domain, count) {
  cube_model(domain, matrix(stats::runif(length(domain$names) * count), nrow = count, byrow = TRUE))
}

playable_rows <- function(rules, u) {
  found <- resolved_points(rules, u)
  found$inputs[found$feasible, , drop = FALSE]
}

# Up to `count` uniform points of the regions of linear constraints that also satisfy the other constraints: as many of
# each set of inputs as the box has.
linear_sample <- function(rules, regions, count) {
  domain <- rules$domain
  kept <- matrix(0, 0, length(model_names(domain)))
  for (turn in 1:50) {
    if (nrow(kept) >= count) break
    seed <- stats::runif(8)
    u <- uniform_model(domain, max(count, 32))
    kept <- rbind(kept, playable_rows(rules, moved_into_regions(rules, u, regions, seed)))
  }
  kept
}

# Points of the box with other values of the inputs of linear constraints: uniform in the region of each point's set.
moved_into_regions <- function(rules, u, regions, seed) {
  set <- sets_of_inputs(rules, u)
  for (name in intersect(names(regions), set)) {
    at <- which(set == name)
    linear <- regions[[name]]$linear
    region <- linear_region(rules$domain, linear, length(at), seed)
    if (region$found) u[at, linear$at + 1] <- region$points
  }
  u
}

# A Latin hypercube. Its infeasible and repeated points are replaced by uniform ones, if possible with the same set of
# conditional inputs.
#' @export
design_points.search_domain <- function(domain, count) {
  rules <- search_rules(domain)
  u <- cube_model(domain, latin_hypercube(domain$names, count))
  found <- resolved_points(rules, u)
  regions <- if (!all(found$feasible)) linear_regions(rules)
  if (length(regions) && length(named_conditional(domain))) {
    bad <- which(!found$feasible)
    u[bad, ] <- moved_into_regions(rules, u[bad, , drop = FALSE], regions, stats::runif(8))
    found <- resolved_points(rules, u)
  }
  inputs <- found$inputs
  bad <- which(!found$feasible)
  if (length(bad)) inputs[bad, ] <- sample_points(domain, length(bad))$inputs
  if (is_listed(domain)) return(unnumbered(distinct_of(inputs, search_candidates(rules))))
  unnumbered(distinct_inputs(inputs, function(wanted) sample_points(domain, wanted)$inputs))
}

# Can all points be listed?
is_listed <- function(domain) prod(vapply(seq_along(domain$names), value_count, 0, domain = domain)) <= kMostWhole

#' @export
spread_points.search_domain <- function(domain, count) {
  rules <- search_rules(domain)
  inputs <- playable(rules, cube_model(domain, golden_points(count, length(domain$names))))
  if (nrow(inputs) < count) inputs <- rbind(inputs, search_candidates(rules))
  unnumbered(utils::head(inputs, count))
}

#' @export
nearest_points.search_domain <- function(domain, inputs) {
  rules <- search_rules(domain)
  u <- matrix(inputs[, seq_along(domain$names)], nrow(inputs))
  found <- resolved_points(rules, u)
  bad <- which(!found$feasible)
  if (length(bad)) {
    candidates <- search_candidates(rules)
    side <- pmax(apply(input_ranges(domain), 2, diff), 1e-300)
    near <- nearest_rows(candidates / rep(side, each = nrow(candidates)),
                         found$inputs[bad, , drop = FALSE] / rep(side, each = length(bad)))
    found$inputs[bad, ] <- candidates[near + 1L, ]
  }
  unnumbered(found$inputs)
}

# ---- maximisation -----------------------------------------------------------------------

# Combinations of levels are rows. If there are many, the search begins with the levels of the best of many points and
# continues with the neighbours of the best row while this helps.
#' @export
maximise_over.search_domain <- function(domain, value, limits = NULL, effort = effort_of_run, from = NULL, tie = 0) {
  rules <- search_rules(domain)
  from <- with_narrow_candidates(rules, from)
  look <- function(levels, from) maximise_in_rows(rows_of_levels(rules, levels), value, limits, effort, from)
  levels <- level_rows(domain)
  if (!is.null(levels)) {
    best <- look(levels, from)
    if (best$feasible || is.null(domain$where)) return(best)
    # The feasible set is so small that the search has not found it.
    return(look(levels, unnumbered(rbind(from$inputs, search_candidates(rules)))))
  }
  points <- unnumbered(rbind(from$inputs, search_candidates(rules)))
  values <- value(points)
  excess <- if (is.null(limits)) numeric(length(values)) else total_excess(limits(points))
  top <- utils::head(order(excess > 0, excess, -values), kMostLevelRows / 2)
  levels <- points$inputs[top, which(domain$categorical), drop = FALSE]
  best <- look(levels[!duplicated(levels), , drop = FALSE], subset_points(points, top))
  repeat {
    found <- look(neighbouring_rows(domain, best$points$inputs[1, which(domain$categorical)]), best$points)
    if (!is_better(found, best)) return(best)
    best <- found
  }
}

# Adds candidates if linear constraints leave little of the box.
with_narrow_candidates <- function(rules, from) {
  narrow <- if (!is_listed(rules$domain)) narrow_regions(rules)
  if (length(narrow)) unnumbered(rbind(from$inputs, linear_candidates(rules, narrow))) else from
}

is_better <- function(found, best) {
  if (found$feasible != best$feasible) return(found$feasible)
  found$feasible && found$value > best$value + 1e-12 * abs(best$value)
}

# Codes that differ in at most one level.
neighbouring_rows <- function(domain, levels) {
  lower <- domain$box$lower[domain$categorical]
  upper <- domain$box$upper[domain$categorical]
  rows <- matrix(levels, 1)
  for (j in seq_along(levels)) {
    others <- setdiff(seq(lower[j], upper[j]), levels[j])
    changed <- matrix(levels, length(others), length(levels), byrow = TRUE)
    changed[, j] <- others
    rows <- rbind(rows, changed)
  }
  rows
}

# For maximise_in_rows(): a row for each of `levels` (codes), with the numbers' box. Conditional inputs and
# constraints are applied when points are settled.
rows_of_levels <- function(rules, levels) {
  domain <- rules$domain
  coded <- which(domain$categorical)
  numbers <- which(!domain$categorical)
  box <- domain$box
  rows_at <- function(points) match_rows(points$inputs[, coded, drop = FALSE], levels)
  list(count = nrow(levels),
       box = new_box(box$names[numbers], box$lower[numbers], box$upper[numbers], box$integer[numbers],
                     box$log[numbers]),
       settle = function(row, inputs) {
         u <- matrix(0, length(row), length(domain$names))
         u[, coded] <- levels[row, ]
         u[, numbers] <- inputs
         found <- settle_points(rules, u)
         c(unnumbered(found$inputs), list(excess = found$excess))
       },
       find = function(points) {
         list(row = if (length(coded)) rows_at(points) else rep(1L, point_total(points)),
              inputs = points$inputs[, numbers, drop = FALSE])
       },
       beside = allowed_exchanges(rules, numbers))
}

# A function of a point that returns inputs (the columns `numbers`) with other shares, or with integers that have the
# same sum; NULL if there are neither.
allowed_exchanges <- function(rules, numbers) {
  domain <- rules$domain
  moves_of <- function(one) lattice_moves(domain, one$linear)
  moves <- unique(do.call(rbind, unname(lapply(linear_regions(rules), moves_of))))
  if (!has_shares(domain) && NROW(moves) == 0) return(NULL)
  function(point) {
    shares <- if (has_shares(domain)) share_exchanges(domain, point$inputs)
    whole <- if (NROW(moves)) lattice_exchanges(domain, moves, point$inputs)
    rbind(shares, whole)[, numbers, drop = FALSE]
  }
}

# Changes of all inputs that keep one of the sums of integers, a row each.
lattice_moves <- function(domain, linear) {
  found <- cpp_lattice_moves(linear, coded_sides(domain$box))
  moves <- matrix(0, nrow(found), length(domain$names))
  moves[, linear$at + 1] <- found
  moves
}

lattice_exchanges <- function(domain, moves, inputs) {
  here <- matrix(inputs[seq_along(domain$names)], 1)
  moves <- rbind(moves, -moves)
  x <- here[rep(1, nrow(moves)), , drop = FALSE]
  for (j in which(colSums(moves != 0) > 0)) {
    x[, j] <- if (domain$box$log[j]) log(pmax(round(exp(x[, j])) + moves[, j], 1)) else x[, j] + moves[, j]
  }
  x
}

# The conditions, ready to be evaluated. `scale`: the unit of each constraint's excess.
search_rules <- function(domain) {
  expression_of <- function(param) if (!is.null(param$when)) str2lang(param$when)
  rules <- list(domain = domain, when = lapply(domain$params, expression_of),
                where = if (is.character(domain$where)) lapply(domain$where, str2lang),
                home = list2env(c(mget(condition_functions, envir = baseenv()), list("[" = lookup)),
                                parent = emptyenv()), scale = 1)
  rules$bounds <- unname(input_ranges(domain$box))
  rules$stepped <- has_steps(domain)
  named <- unlist(lapply(c(rules$when, rules$where), all.vars))
  rules$values <- lapply(domain$params[domain$names %in% named], trait, "decoded")
  if (length(rules$where)) {
    codes <- cube_codes(domain, golden_points(64, length(domain$names)))
    excess <- abs(constraint_excess(rules, with_existence(rules, codes)))
    rules$scale <- vapply(seq_len(ncol(excess)), function(j) unit_of(max(excess[is.finite(excess[, j]), j], 0)), 0)
  }
  rules
}

# Model inputs without indicators, inside or outside of the space, as points: see Settled in the core.
settle_points <- function(rules, u) {
  domain <- rules$domain
  dimnames(u) <- NULL
  for (j in seq_len(ncol(u))) u[, j] <- clamped(u[, j], rules$bounds[1, j], rules$bounds[2, j])
  if (has_shares(domain)) u <- shares_of_points(domain, u)
  codes <- from_model_inputs(domain$box, u)
  if (rules$stepped) codes <- stepped_codes(domain, codes)
  found <- existing(rules, codes)
  codes[!found$exists] <- NA
  list(inputs = model_of_codes(domain, codes), excess = constraint_excess(rules, codes, found$columns))
}

resolved_points <- function(rules, u) {
  found <- settle_points(rules, u)
  c(unnumbered(found$inputs), list(feasible = rowSums(found$excess > 0) == 0))
}

# Codes to model inputs: defaults for inputs that do not exist, and indicators.
model_of_codes <- function(domain, codes) {
  dimnames(codes) <- NULL
  u <- to_model_inputs(domain$box, codes)
  mixed_in <- present_inputs(domain, codes) + 0
  if (length(domain$conditional) == 0) return(if (ncol(mixed_in)) cbind(u, mixed_in) else u)
  there <- !is.na(u[, domain$conditional, drop = FALSE])
  for (j in domain$conditional) u[is.na(u[, j]), j] <- default_input(domain, j)
  cbind(u, there + 0, mixed_in)
}

default_input <- function(domain, j) {
  box <- domain$box
  if (domain$categorical[j]) return(box$lower[[j]])
  middle <- if (box$log[j]) sqrt(box$lower[[j]] * box$upper[[j]]) else (box$lower[[j]] + box$upper[[j]]) / 2
  if (box$integer[j]) middle <- round(middle)
  if (box$log[j]) log(middle) else middle
}
