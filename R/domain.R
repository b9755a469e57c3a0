# Generics for all domains, and their defaults. Layer: domain.

# The interface of a decision set. A kind of domain is one file, domain-<kind>.R, with a constructor, a method for each
# generic that is required, and methods for those optional ones whose default does not suit. No other file depends on
# the kind of a domain. Each generic is described where it is defined below.
domain_methods <- list(
  # Every kind has a method; calls for a kind that lacks it are an error (at the end of this file).
  required = c(
    "input_ranges", "find_points", "nearest_points",              # its points, by what users specify
    "sample_points", "design_points", "spread_points",            # points at random, for a start, and evenly spread
    "maximise_over", "slice_of",                                  # searches, over all points or with fixed inputs
    "to_model_inputs", "from_model_inputs",                       # conversion
    "core_space", "core_space_kind", "remade", "same_points",     # for the core, and for checks of objects
    "describe_domain", "domain_story", "point_labels",            # text and tables
    "picture_types", "picture_points", "input_axis", "input_quantiles"),  # plots and summaries of inputs
  # There is a default: for domains whose points are uncountable and have no numbers, and whose inputs are numbers with
  # linear scales, in the users' format a matrix.
  optional = c(
    "point_count", "is_discrete", "arm_count", "arm_labels", "all_points", "arms_at",
    "model_names", "read_inputs", "inputs_anywhere", "points_anywhere", "data_ranges", "lies_outside",
    "can_be_reported", "fixable_inputs", "user_inputs", "one_point", "completed_points", "log_inputs",
    "closed_form_average", "default_kernel"))

# Inputs are in the users' format; model inputs are in the kernel's format (logarithms, if an input is
# logarithmic). Points are a list of `arm`, their 0-based numbers among the arms or rows (NA if there are none), and
# `inputs`, a row of model inputs each.

# ---- numbers of points --------------------------------------------------------

# The number of points, Inf if they cannot be counted.
point_count <- function(domain) UseMethod("point_count")

#' @export
point_count.bandit_domain <- function(domain) Inf

# Are there no continuous inputs, so that a point can be known?
is_discrete <- function(domain) UseMethod("is_discrete")

#' @export
is_discrete.bandit_domain <- function(domain) can_count(domain)

# The number of arms, or rows, by which points are numbered; NULL if points have no numbers.
arm_count <- function(domain) UseMethod("arm_count")

#' @export
arm_count.bandit_domain <- function(domain) NULL

# Do points have numbers?
has_numbers <- function(domain) !is.null(arm_count(domain))

# The names of the arms, or rows; NULL if they have none.
arm_labels <- function(domain) UseMethod("arm_labels")

#' @export
arm_labels.bandit_domain <- function(domain) NULL

# All points, in order; NULL if they cannot be counted.
all_points <- function(domain) UseMethod("all_points")

#' @export
all_points.bandit_domain <- function(domain) NULL

# The names of the model inputs: those of the inputs, unless a domain has more model inputs.
model_names <- function(domain) UseMethod("model_names")

#' @export
model_names.default <- function(domain) domain$names

# A 2 x d matrix of the least and the largest model inputs.
input_ranges <- function(domain) UseMethod("input_ranges")

# ---- finding points -----------------------------------------------------------

# The points that a user specifies by `x` (inputs), by `arm` (1-based), or by both, or an error about `arg`.
find_points <- function(domain, x, arm = NULL, arg = "x") UseMethod("find_points")

# Inputs in the users' format (a matrix, or a format of the domain), checked for their form and types, but not
# for their bounds.
read_inputs <- function(domain, x, arg) UseMethod("read_inputs")

#' @export
read_inputs.default <- function(domain, x, arg) {
  codes <- complete_codes(domain, x, arg)
  if (is.null(domain$params)) codes else cpp_frame(typed_columns(domain, codes))
}

# Model inputs of points in the users' format, within the bounds or not: only form and types are checked.
inputs_anywhere <- function(domain, x, arg) UseMethod("inputs_anywhere")

#' @export
inputs_anywhere.default <- function(domain, x, arg) {
  u <- suppressWarnings(to_model_inputs(domain, complete_codes(domain, x, arg)))
  bad <- which(!is.finite(u), arr.ind = TRUE)
  if (nrow(bad)) {
    name <- domain$names[bad[1, 2]]
    stop_argument(arg, sprintf("%s = %s", name, describe(unname(x[bad[1, 1], name]))),
                  "a number > 0, because its logarithm is taken")
  }
  u
}

# Like find_points(), but numbers may lie outside of the bounds if the domain's points are not numbered.
points_anywhere <- function(domain, x, arm = NULL, arg = "x") UseMethod("points_anywhere")

#' @export
points_anywhere.default <- function(domain, x, arm = NULL, arg = "x") find_points(domain, x, arm, arg)

# The range of data, as input_ranges() is the range of points that can be chosen.
data_ranges <- function(domain) UseMethod("data_ranges")

#' @export
data_ranges.default <- function(domain) input_ranges(domain)

# A flag for each point returned by points_anywhere(): does it lie outside?
lies_outside <- function(domain, points) UseMethod("lies_outside")

#' @export
lies_outside.default <- function(domain, points) rep(FALSE, point_total(points))

# By the core's rule: Box::holds().
beyond_ranges <- function(domain, points) {
  bounds <- unname(input_ranges(domain))
  is_beyond(points$inputs, bounds[1, ], bounds[2, ], 1e-9 * (bounds[2, ] - bounds[1, ]))
}

# For each row of `x`: is one of its numbers outside by more than its slack?
is_beyond <- function(x, lower, upper, slack_below, slack_above = slack_below) {
  size <- rep(nrow(x), ncol(x))
  rowSums(x < rep(lower - slack_below, size) | x > rep(upper + slack_above, size), na.rm = TRUE) > 0
}

# The part of a bound that may be a rounding error (of fifteen digits in a file).
bound_rounding <- 1e-14

# Numbers (0-based) of the arms or rows at some inputs, NA if there is none.
arms_at <- function(domain, x) UseMethod("arms_at")

#' @export
arms_at.bandit_domain <- function(domain, x) rep(NA_integer_, nrow(x))

# The points next to some model inputs, which may lie anywhere.
nearest_points <- function(domain, inputs) UseMethod("nearest_points")

# `count` points drawn uniformly from R's generator.
sample_points <- function(domain, count) UseMethod("sample_points")

# `count` points for the start of a search, spread at random.
design_points <- function(domain, count) UseMethod("design_points")

# About `count` points spread evenly, without random numbers.
spread_points <- function(domain, count) UseMethod("spread_points")

# The point where value(points) is largest among those where no column of limits(points) is above 0. A list:
# `points` (one), `value`, `feasible`; if no point is feasible, the one with the least excess. `tie`: if points can be
# counted, the first point is taken whose value is at most this below the largest one. `from`: further points
# to evaluate; `effort`: see effort_of_run and effort_of_round.
maximise_over <- function(domain, value, limits = NULL, effort = effort_of_run, from = NULL, tie = 0) {
  UseMethod("maximise_over")
}

# The slice in which some inputs are fixed (`values`: a named list, one value each, the names checked). A list of
# `eligible`, a flag per arm or row (NULL: all), and `fixed` in the core's format (NULL if `eligible` is sufficient),
# see contexts_from_list().
slice_of <- function(domain, values) UseMethod("slice_of")

# The names of inputs that can be fixed; for arms also the name of their labels.
fixable_inputs <- function(domain) UseMethod("fixable_inputs")

#' @export
fixable_inputs.default <- function(domain) domain$names

# ---- conversion ---------------------------------------------------------------

to_model_inputs <- function(domain, x) UseMethod("to_model_inputs")

from_model_inputs <- function(domain, u) UseMethod("from_model_inputs")

# Points in the format for users' vectorised functions: a matrix with a column per input; with types a data.frame.
user_inputs <- function(domain, points) UseMethod("user_inputs")

#' @export
user_inputs.default <- function(domain, points) {
  x <- from_model_inputs(domain, points$inputs)
  if (!is.null(domain$params)) return(cpp_frame(typed_columns(domain, x)))
  matrix(x, nrow(x), length(domain$names), dimnames = list(NULL, domain$names))
}

# One point, from a row of a history or of user_inputs(): a named vector; with types a list.
one_point <- function(domain, row) UseMethod("one_point")

#' @export
one_point.default <- function(domain, row) {
  if (!is.null(domain$params)) return(as.list(row)[domain$names])
  x <- as.matrix(row)[, domain$names]
  stats::setNames(as.double(x), domain$names)
}

# The same in the users' format: a list, or, if all inputs are numbers, a vector whose `$` selects by name.
user_point <- function(domain, row) {
  point <- one_point(domain, row)
  if (all(vapply(point, is.numeric, NA))) structure(unlist(point), class = "bandit_point") else point
}

# (Also used where this package is not installed: base R only.)
#' @export
`$.bandit_point` <- function(x, name) {
  if (!name %in% names(x)) {
    vector <- if (identical(names(x), "x1")) {
      " (A vector as `domain` is a list of candidates. A range is `list(x = c(1, 3))`.)"
    }
    stop(errorCondition(paste0(sprintf("The point has no input `%s`. Its inputs: %s.", name,
                                       paste(names(x), collapse = ", ")), vector),
                        class = c("gpbandits_argument_error", "gpbandits_error"), argument = name))
  }
  x[[name]]
}

#' @export
print.bandit_point <- function(x, ...) {
  print(unclass(x), ...)
  invisible(x)
}

#' @export
as.list.bandit_point <- function(x, ...) as.list(unclass(x))

#' @export
as.data.frame.bandit_point <- function(x, ...) as.data.frame(unclass(x), ...)

# In tests, a point is equal to its numbers.
#' @exportS3Method waldo::compare_proxy
compare_proxy.bandit_point <- function(x, path) list(object = unclass(x), path = sprintf("unclass(%s)", path))

# The decision set in the core's format, see core_config(). `setting`: `contexts` (known ones, or NULL),
# `context_names`, `mean`.
core_space <- function(domain, setting) UseMethod("core_space")

# Only the `kind` of core_space(): "table" (every point, in every context), "open" (arms in contexts that are not
# known in advance, or too many), "box" or "mixed".
core_space_kind <- function(domain, setting) UseMethod("core_space_kind")

# The average of a squared difference of two posterior means over the domain in closed form, NULL if
# there is none.
closed_form_average <- function(domain, kernel) UseMethod("closed_form_average")

#' @export
closed_form_average.bandit_domain <- function(domain, kernel) NULL

# The same domain, constructed again from its parts; an error if these are invalid.
remade <- function(domain) UseMethod("remade")

# The default kernel. `contexts`: the width of the range of each context, with their names.
default_kernel <- function(domain, contexts = NULL) UseMethod("default_kernel")

# With more inputs, points are further apart.
lengthscales_of <- function(sides) unname(0.4 * sqrt(length(sides)) * sides)

# ---- for users ----------------------------------------------------------------

# A description within a sentence: "a box with 2 inputs".
describe_domain <- function(domain) UseMethod("describe_domain")

# The description for print(), without brackets.
domain_story <- function(domain) UseMethod("domain_story")

# Can these model inputs (a row each) be observations? Numbers may lie outside of their bounds: rows of another space.
can_be_reported <- function(domain, inputs) UseMethod("can_be_reported")

#' @export
can_be_reported.bandit_domain <- function(domain, inputs) all(is.finite(inputs))

# Columns that identify points: `arm` (1-based) if there are arms, and inputs.
point_labels <- function(domain, arm, inputs) UseMethod("point_labels")

# The possible plots: a list of `can`, among "curve", "map", "arms", and `auto`, the default
# one of these. `smooth`: is the covariance a function of the inputs?
picture_types <- function(domain, smooth) UseMethod("picture_types")

# The points shown in a plot of this type. `played`: those of the history (with their columns for users);
# `resolution`: the number of values of a continuous input, or NULL.
picture_points <- function(domain, type, played, resolution) UseMethod("picture_points")

# Values of input `i` along its axis, about `count` of them.
input_axis <- function(domain, i, count) UseMethod("input_axis")

# The levels of an input as text; NULL for numbers.
levels_as_text <- function(param) {
  switch(or_else(param$type, "real"), factor = as.character(param$levels), logical = c("FALSE", "TRUE"))
}

# The names of the levels of input `i`, NULL if it is a number.
input_levels <- function(domain, i) levels_as_text(domain$params[[domain$names[i]]])

# The levels of all inputs, by their names.
levels_of_inputs <- function(domain) {
  stats::setNames(lapply(seq_along(domain$names), input_levels, domain = domain), domain$names)
}

# Quantiles of input `i`: values that have the proportions `u` of its range, uniform on its scale, below them.
input_quantiles <- function(domain, i, u) UseMethod("input_quantiles")

# Points whose inputs were combined from others: inputs that do not exist there become NA, and inputs that exist but
# have no value get their default.
completed_points <- function(domain, frame) UseMethod("completed_points")

#' @export
completed_points.default <- function(domain, frame) frame

# Flags of the logarithmic inputs.
log_inputs <- function(domain) UseMethod("log_inputs")

#' @export
log_inputs.bandit_domain <- function(domain) rep(FALSE, length(domain$names))

# Do two domains have the same points, in the same order?
same_points <- function(domain, other) UseMethod("same_points")

# ---- for all kinds ------------------------------------------------------------

can_count <- function(domain) is.finite(point_count(domain))

subset_points <- function(points, rows) {
  list(arm = points$arm[rows], inputs = points$inputs[rows, , drop = FALSE])
}

point_total <- function(points) length(points$arm)

# Points that repeat others, or are among `known` (model inputs), are replaced by points drawn from the domain. They are
# left out if `fewer`, and kept otherwise, where none is found.
distinct_points <- function(domain, points, known = NULL, fewer = FALSE) {
  taken <- rbind(unname(known), unname(points$inputs))
  repeated <- which(duplicated(taken)[NROW(known) + seq_len(point_total(points))])
  if (length(repeated) == 0) return(points)
  drawn <- sample_points(domain, 64 * length(repeated))
  new <- which(!utils::tail(duplicated(rbind(taken, unname(drawn$inputs))), point_total(drawn)))
  new <- utils::head(new, length(repeated))
  put <- repeated[seq_along(new)]
  points$arm[put] <- drawn$arm[new]
  points$inputs[put, ] <- drawn$inputs[new, ]
  left <- repeated[-seq_along(new)]
  if (length(new) == 0) left <- repeated
  if (fewer && length(left)) subset_points(points, -left) else points
}

no_points <- function(domain) list(arm = integer(), inputs = matrix(0, 0, length(model_names(domain))))

# Points in the kernel's format: inputs, contexts (a row each), and the number of the arm if arms have
# numbers (-1 for a point that is no arm).
kernel_points <- function(domain, points, contexts = NULL) {
  number <- if (has_numbers(domain)) ifelse(is.na(points$arm), -1, points$arm)
  unname(cbind(points$inputs, contexts, number))
}

# The inverse: the points (without their contexts) from points in the kernel's format.
candidates_of <- function(domain, points) {
  arm <- if (has_numbers(domain)) points[, ncol(points)]
  if (is.null(arm)) arm <- rep(NA_integer_, nrow(points))
  list(arm = replace(arm, which(arm < 0), NA), inputs = points[, seq_along(model_names(domain)), drop = FALSE])
}

# All combinations of some points with contexts (rows; or NULL), points varying fastest, in the kernel's format.
points_in_contexts <- function(domain, points, contexts) {
  n <- point_total(points)
  blocks <- if (is.null(contexts)) 1L else nrow(contexts)
  kernel_points(domain, subset_points(points, rep(seq_len(n), blocks)),
                contexts[rep(seq_len(blocks), each = n), , drop = FALSE])
}

#' @export
print.bandit_domain <- function(x, ...) {
  check_domain(x, "x")
  cat(sprintf("<%s>\n", domain_story(x)))
  invisible(x)
}

# The unit of each input, "" if it has none.
units_of <- function(domain) {
  vapply(stats::setNames(domain$names, domain$names), function(name) or_else(domain$params[[name]]$unit, ""), "")
}

# ---- domains and points given by users ----------------------------------------

# Is it as its constructor makes it? (It may have been changed, or come from a file.)
check_domain <- function(domain, arg) {
  fault <- fault_of_domain(domain)
  if (!is.null(fault)) stop_argument(arg, paste0("changed (", fault, ")"), "as its constructor makes it")
  domain
}

# NULL, or a description of the fault.
fault_of_domain <- function(domain) {
  if (!is.list(domain)) return("it is no list")
  kind <- unclass(domain)$type
  if (!is.character(kind) || length(kind) != 1 ||
      !identical(class(domain), c(paste0(kind, "_domain"), "bandit_domain")) ||
      is.null(utils::getS3method("remade", class(domain)[1], optional = TRUE, envir = topenv()))) return(unknown_kind)
  catch_error({
    if (!same_domain(remade(domain), domain)) stop_fault("it is not as it is made")
    NULL
  }, function(e) sub("[.]$", "", message_of(e)))
}

# (Functions among constraints are the user's, and are not compared.)
same_domain <- function(made, found) {
  if (is.function(made$where) && is.function(found$where)) found$where <- made$where
  identical(made, found)
}

check_input_names <- function(names, d, arg) {
  if (is.null(names)) return(paste0("x", seq_len(d)))
  if (!are_names(names) || length(names) != d) {
    given <- if (is.character(names) && !is.object(names)) paste("with the names", quoted(names)) else describe(names)
    stop_argument(arg, given,
                  if (d == 1) "one input with a name" else sprintf("%d inputs, each with a distinct name", d))
  }
  names
}

# Arms, or rows of a product, in the users' format: numbers, or names if arms have names. Returned 0-based.
check_arms <- function(arm, domain, arg = "arm") {
  labels <- arm_labels(domain)
  count <- arm_count(domain)
  if (is.factor(arm)) arm <- factor_text(arm, arg)
  if (is.character(arm) && !is.null(labels)) {
    at <- match(arm, labels)
    if (anyNA(at)) {
      stop_argument(arg, describe(arm[is.na(at)][1]), sprintf("names of arms (%s), or numbers", quoted(labels)))
    }
    return(at - 1L)
  }
  if (is.character(arm)) stop_argument(arg, describe(arm), "integers, because the arms of the domain have no names")
  arm <- check_numbers(arm, arg)
  bad <- which(arm != round(arm) | arm < 1 | arm > count)
  if (length(bad)) stop_argument(arg, exact_numbers(arm[bad[1]]), sprintf("integers from 1 to %d", count))
  as.integer(arm) - 1L
}

# A value per arm, a vector or the rows of a matrix: matched by the arms' names if both have names.
by_arm <- function(values, domain, arg) {
  check_sound(values, arg)
  given <- if (is.null(dim(values))) names(values) else if (is.character(attr(values, "row.names"))) row.names(values)
           else if (is.matrix(values)) rownames(values)
  labels <- if (!is.null(given)) arm_labels(domain)
  if (is.null(labels) || identical(given, labels)) return(values)
  if (anyDuplicated(given) || !setequal(given, labels)) {
    stop_argument(arg, paste("one with the names", quoted(given)),
                  sprintf("without names or with those of the arms (%s)", quoted(labels)))
  }
  if (is.null(dim(values))) values[labels] else values[labels, , drop = FALSE]
}

# Do two lists of input names denote the same inputs, in the same order? The defaults x1, x2, .. and z1, z2, .. match
# all.
same_names <- function(names, other) {
  unnamed <- function(names) {
    any(vapply(c("x", "z"), function(letter) identical(names, paste0(letter, seq_along(names))), NA))
  }
  length(names) == length(other) && (identical(names, other) || unnamed(names) || unnamed(other))
}

# `x`: a row of numbers, or of codes.
stop_not_among <- function(domain, x, arg, what, where) {
  stop_argument(arg, sprintf("a point (%s) that is no %s", row_text(domain, x), what), where)
}

row_text <- function(domain, x) {
  if (is.null(domain$params)) paste(exact_numbers(unname(x)), collapse = ", ") else typed_text(domain, matrix(x, 1))
}

# For operations whose time or memory grows with the squared number of arms.
check_few_points <- function(domain, most) {
  if (can_count(domain) && point_count(domain) > most) {
    stop_argument("domain", describe_domain(domain), sprintf("at most %g arms", most))
  }
}

fixed_number <- function(value, name) {
  if (!is.numeric(value) || !is.finite(value)) {
    stop_argument("fixed", sprintf("%s = %s", name, describe(value)), sprintf("a number for %s", name))
  }
  as.double(value)
}

# Fixed inputs in the order of the inputs, in the core's format: numbers from 0, model inputs.
fixed_inputs <- function(at, values) list(at = as.integer(sort(at) - 1L), values = as.double(values[order(at)]))

check_prior_mean <- function(mean, domain) {
  as.double(check_numbers(by_arm(mean, domain, "mean"), "mean", lengths = unique(c(1L, arm_count(domain))),
                          lower = -largest_number, upper = largest_number))
}

# The effort of a search:
#   `candidates`   the number per free input, in total at most `most` (more if there are many slices).
#   `starts`       the number of local searches by gradients, for functions that are smooth and cheap.
#   `cloud`        the number of points per input of a refinement.
#   `half_widths`  the distances of these points from the best point.
#   `repeats`      how often each refinement is repeated while it helps.
#   `closest`      the smallest distance of further refinements, which follow if the last one helped.
#   `slack`        the proportion of a limit's size that counts as 0 (constraints of a search space are exact).
effort_of_run <- list(candidates = 1000, most = 10000, starts = 20, cloud = 100, half_widths = c(0.1, 0.02),
                      repeats = 10, closest = 1e-6, slack = 1e-8)

# Lengths of the model inputs' ranges, 1 for an input with a single value.
input_sides <- function(domain) {
  bounds <- input_ranges(domain)
  range <- bounds[2, ] - bounds[1, ]
  ifelse(range > 0, range, 1)
}

# Objects in a declaration must equal the results of their constructors: anybody may have changed text in a database.
check_own_objects <- function(x) {
  if (!is.list(x)) return(x)
  class <- class(x)[1]
  fault <- if (inherits(x, "bandit_domain")) fault_of_domain(x)
  else if (!is.null(families[[class]])) fault_of_part(x, class)
  else for (i in seq_along(x)) check_own_objects(.subset2(x, i))
  if (!is.null(fault)) stop_fault(sprintf("it has an invalid %s: %s", class, fault))
  x
}

# ---- kinds that lack a method -------------------------------------------------

# A method for all domains that reports the kind, with the arguments of the generic.
lacking_method <- function(generic) {
  method <- function(domain) {
    stop_fault(class(domain)[1], " has no method for ", generic, "(), which every kind of domain needs")
  }
  formals(method) <- formals(get(generic))
  method
}
for (generic in domain_methods$required) assign(paste0(generic, ".bandit_domain"), lacking_method(generic))
rm(generic)
