# Finite domains: arms given by the rows of a table. Layer: domain.

#' Domains: finite sets of arms, boxes and products
#'
#' A domain is the decision set of a bandit: the points that it can choose.
#' `finite_domain()` is a finite set of arms (candidates), `box_domain()` a box of numeric inputs, `product_domain()` a
#' combination of both. For factors, conditional inputs and constraints see [search_space()].
#'
#' Short forms can be given for a `domain`. A numeric vector, matrix or data.frame is read as `finite_domain()` of it, a
#' named list of `c(lower, upper)` pairs as `box_domain()`.
#'
#' @section Names: Points are matched by the names of the inputs, if they have names: columns of a data.frame or a
#'   matrix, or elements of a vector. Unknown or missing names are an error. Points without names are matched by
#'   position. A point is taken as an arm within 1e-8 of each input's range.
#'
#' @param x numeric vector, matrix or data.frame: one row per arm, one column per input (`n` x `d`). Columns are named
#'   `x1..xd` unless they have names. Row names (of a vector: its names), or a column of labels, name the arms.
#' @param lower,upper the box's bounds, `lower < upper`, in the inputs' units: numeric vectors of length `d`, or one
#'   number for all.
#' @param names names of the inputs. `NULL` (default): those of `lower`, else `x1..xd`.
#' @param integer,log which inputs are integers, and which are searched, and used by the kernel, on a logarithmic scale:
#'   flags (one for all, or one per input), or names or numbers of inputs. `FALSE` by default: none. See the section
#'   *Integers and logarithms*.
#' @return An object of class `bandit_domain`, a list with
#'   * `type` and `names`;
#'   * `x` for arms, or `lower` and `upper` for a box.
#' @section Arms' names: They are shown in histories, and can be given wherever an `arm` is expected.
#' @section Integers and logarithms: An integer input needs integer bounds. A logarithmic input needs `lower > 0`; its
#'   lengthscales are in natural logarithms.
#' @section Errors: Values must be finite, there must be at least one arm, names must be distinct, and each lower bound
#'   must be below its upper bound.
#' @seealso [search_space()], [gp_bandit()], [kernel_se()].
#' @concept search space
#' @concept decision set
#' @concept multi-armed bandit
#' @concept candidates
#' @concept integer inputs
#' @examples
#' finite_domain(seq(0, 1, length.out = 5))
#' box_domain(c(-5, 0), c(10, 15), names = c("u", "v"))
#' box_domain(c(cost = 1e-3, depth = 1), c(1e3, 30), integer = "depth", log = "cost")
#' @export
finite_domain <- function(x) {
  if (missing(x)) stop_missing("x", "numbers, one row per arm", "`finite_domain(1:10)`")
  arms_domain(x, "x")
}

arms_domain <- function(x, arg) {
  if (is.data.frame(x)) check_data_frame(x, arg)
  labels <- labels_of_rows(x, arg)
  if (is.data.frame(x)) x <- x[setdiff(names(x), labels$column)]
  x <- check_matrix(x, arg)
  if (nrow(x) < 1 || ncol(x) < 1) stop_argument(arg, describe(x), "at least one arm and one input")
  colnames(x) <- check_input_names(colnames(x), ncol(x), arg)
  domain <- list(type = "finite", names = colnames(x), x = x)
  if (!is.null(labels)) {
    domain$labels <- labels$values
    domain$label_name <- beside(labels$name, domain$names)
  }
  structure(domain, class = c("finite_domain", "bandit_domain"))
}

#' @export
remade.finite_domain <- function(domain) {
  x <- domain$x
  if (!is.matrix(x) || !is.double(x)) stop_fault("it has no matrix of arms")
  again <- unclass(arms_domain(x, "domain"))
  labels <- domain$labels
  if (!is.null(labels)) {
    name <- domain$label_name
    if (!are_names(labels) || length(labels) != nrow(x) || !are_names(name) || length(name) != 1 ||
        name %in% domain$names) {
      stop_fault("its labels do not fit its arms")
    }
    again[c("labels", "label_name")] <- list(labels, name)
  }
  structure(again, class = class(domain))
}

# Labels of the rows: `values`, the `name` of their column in histories and, if they are in a column of a data.frame,
# that `column`. NULL if the rows have no labels.
labels_of_rows <- function(x, arg) {
  if (is.data.frame(x)) {
    column <- names(x)[vapply(x, function(values) is.character(values) || is.factor(values), NA)]
    if (length(column) == 1) {
      values <- if (is.factor(x[[column]])) factor_text(x[[column]], arg) else as.character(x[[column]])
      if (!are_names(values)) {
        stop_argument(arg,
                      sprintf("one with labels in the column %s that are equal, missing or not text", quoted(column)),
                      "numbers, with at most one column of distinct labels")
      }
      return(list(values = values, name = column, column = column))
    }
    values <- if (is.character(attr(x, "row.names"))) row.names(x)
  } else {
    values <- if (is.null(dim(x))) names(x) else rownames(x)
    # Row numbers, from a data.frame that was converted to a matrix, are no labels; nor are names with repeats.
    if (anyNA(values) || anyDuplicated(values) || !all(nzchar(values))) return(NULL)
    if (is_text(values) && all(grepl("^[0-9]+$", values))) return(NULL)
  }
  if (length(values) && !are_names(values)) {
    stop_argument(arg, paste("one with the names", quoted(values)), "one whose names are text, or without names")
  }
  if (length(values)) list(values = values, name = "label", column = character())
}

#' @export
point_count.finite_domain <- function(domain) nrow(domain$x)

#' @export
arm_count.finite_domain <- function(domain) nrow(domain$x)

#' @export
arm_labels.finite_domain <- function(domain) domain$labels

#' @export
all_points.finite_domain <- function(domain) arm_points(domain, seq_len(nrow(domain$x)) - 1L)

# Arms by their 0-based numbers.
arm_points <- function(domain, arm) list(arm = arm, inputs = domain$x[arm + 1L, , drop = FALSE])

#' @export
input_ranges.finite_domain <- function(domain) apply(domain$x, 2, range)

#' @export
find_points.finite_domain <- function(domain, x, arm = NULL, arg = "x") {
  if (is.null(x) == is.null(arm)) {
    if (is.null(x)) stop_missing("arm", "numbers of arms, or points as `x`")
    else stop_unused("arm", "`x` is given too, and one of the two is enough")
  }
  if (!is.null(arm)) return(arm_points(domain, check_arms(arm, domain)))
  x <- check_points(x, domain$names, arg)
  arm <- arms_at(domain, x)
  if (anyNA(arm)) stop_not_among(x[which(is.na(arm))[1], ], arg, "arm", "points among the arms of the domain")
  arm_points(domain, arm)
}

#' @export
arms_at.finite_domain <- function(domain, x) match_rows(x, domain$x) - 1L

#' @export
nearest_points.finite_domain <- function(domain, inputs) arm_points(domain, nearest_rows(domain$x, inputs))

# For each row of `inputs` the 0-based number of the nearest row of `x`, the first of several.
nearest_rows <- function(x, inputs) {
  nearest <- vapply(seq_len(nrow(inputs)), function(i) {
    which.min(rowSums((x - rep(inputs[i, ], each = nrow(x)))^2))
  }, 1L)
  nearest - 1L
}

#' @export
fixable_inputs.finite_domain <- function(domain) c(domain$names, domain$label_name)

#' @export
slice_of.finite_domain <- function(domain, values) {
  here <- rep(TRUE, nrow(domain$x))
  for (name in names(values)) here <- here & arms_with(domain, name, values[[name]])
  if (!any(here)) {
    stop_argument("fixed", value_words(values), "values that occur among the arms")
  }
  list(eligible = here)
}

arms_with <- function(domain, name, value) {
  if (identical(name, domain$label_name)) return(domain$labels == as.character(value))
  value <- fixed_number(value, name)
  column <- domain$x[, match(name, domain$names)]
  abs(column - value) <= 1e-8 * max(diff(range(column)), abs(value) * 1e-8)
}

#' @export
sample_points.finite_domain <- function(domain, count) {
  arm_points(domain, sample.int(nrow(domain$x), count, replace = TRUE) - 1L)
}

# Without replacement if there are enough arms.
#' @export
design_points.finite_domain <- function(domain, count) {
  arm_points(domain, sample.int(nrow(domain$x), count, replace = count > nrow(domain$x)) - 1L)
}

#' @export
spread_points.finite_domain <- function(domain, count) {
  n <- nrow(domain$x)
  if (count >= n) return(all_points(domain))
  arm_points(domain, as.integer(round(seq(1, n, length.out = count))) - 1L)
}

#' @export
maximise_over.finite_domain <- function(domain, value, limits = NULL, effort = NULL, from = NULL, tie = 0) {
  points <- all_points(domain)
  values <- value(points)
  excess <- if (is.null(limits)) numeric(length(values)) else total_excess(limits(points))
  feasible <- excess <= 0
  score <- if (any(feasible)) ifelse(feasible, values, -Inf) else -excess
  best <- which(score >= max(score) - tie)[1]
  list(points = subset_points(points, best), value = values[best], feasible = feasible[best])
}

#' @export
to_model_inputs.finite_domain <- function(domain, x) x

#' @export
from_model_inputs.finite_domain <- function(domain, u) u

kLargestTable <- 50000

#' @export
core_space_kind.finite_domain <- function(domain, setting) {
  if (length(setting$context_names) == 0) return("table")
  rows <- nrow(domain$x) * NROW(setting$contexts)
  if (is.null(setting$contexts) || rows > kLargestTable) "open" else "table"
}

#' @export
core_space.finite_domain <- function(domain, setting) {
  n <- nrow(domain$x)
  mean <- rep_len(setting$mean, n)
  if (core_space_kind(domain, setting) == "open") {
    return(list(kind = "open", points = unname(domain$x), prior_mean = mean,
                contexts = length(setting$context_names)))
  }
  blocks <- if (is.null(setting$contexts)) 1L else nrow(setting$contexts)
  list(kind = "table", points = points_in_contexts(domain, all_points(domain), setting$contexts),
       prior_mean = rep(mean, blocks), arms = n)
}

#' @export
describe_domain.finite_domain <- function(domain) {
  sprintf("%d arms with %d input(s)", nrow(domain$x), ncol(domain$x))
}

#' @export
domain_story.finite_domain <- function(domain) {
  sprintf("finite domain: %d arms, %d input(s): %s", nrow(domain$x), ncol(domain$x),
          paste(domain$names, collapse = ", "))
}

#' @export
point_labels.finite_domain <- function(domain, arm, inputs) {
  at <- arm + 1L
  columns <- list(arm = at)
  domain <- unclass(domain)                           # `$` of a classed list is ten times as slow
  if (!is.null(domain$labels)) columns[[domain$label_name]] <- domain$labels[at]
  c(columns, cpp_columns(domain$x, domain$names, at))
}

# Few arms, or arms whose covariance is no function of the inputs, give no curve; arms on a line give no map.
#' @export
picture_types.finite_domain <- function(domain, smooth) {
  d <- ncol(domain$x)
  can <- c(switch(d, "curve", "map"), "arms")
  flat <- d == 2 && any(apply(domain$x, 2, function(column) all(column == column[1])))
  enough <- smooth && !flat && ((d == 2 && is_full_grid(domain$x)) || nrow(domain$x) >= 10)
  list(can = can, auto = if (enough) can[1] else "arms")
}

is_full_grid <- function(x) {
  sizes <- apply(x, 2, function(column) length(unique(column)))
  all(sizes >= 2) && prod(sizes) == nrow(x) && !anyDuplicated(x)
}

#' @export
picture_points.finite_domain <- function(domain, type, played, resolution) all_points(domain)

#' @export
input_axis.finite_domain <- function(domain, i, count) {
  ends <- range(domain$x[, i])
  if (ends[1] == ends[2]) ends[1] else seq(ends[1], ends[2], length.out = count)
}

#' @export
input_quantiles.finite_domain <- function(domain, i, u) {
  unname(sort(domain$x[, i])[pmin(floor(u * nrow(domain$x)) + 1, nrow(domain$x))])
}

#' @export
same_points.finite_domain <- function(domain, other) {
  identical(other$type, "finite") && identical(unname(domain$x), unname(other$x))
}

# Arms and nothing else: no search space, no product with a box.
is_set_of_arms <- function(domain) inherits(domain, "finite_domain")

# The same, without a further class that displays them differently.
is_plain_set_of_arms <- function(domain) identical(class(domain), c("finite_domain", "bandit_domain"))
