# Products of arms and a box, and the conversion of any value to a domain. Layer: domain.

#' @rdname finite_domain
#' @section Products: `product_domain()` combines a finite set of settings (`rows`) with a `box`: for example, several
#' materials at any temperature. Its inputs, and those of the kernel, are the columns of `rows`, then the box's inputs.
#' `arm` is the number of the row. A [kernel_matrix()] in its kernel is a covariance of the rows. Points are given by
#' all inputs, or by `arm` and the box's inputs alone. Policies are maximised over the box of every row.
#'
#' @param rows the settings: a `finite_domain()`, or a short form of one.
#' @param box a `box_domain()`, or a named list of `c(lower, upper)` pairs. Inputs without names are numbered after
#'   those of `rows`.
#' @examples
#' product_domain(data.frame(layers = c(1, 2, 4)), list(rate = c(0, 1)))
#' @export
product_domain <- function(rows, box) {
  if (missing(rows)) stop_missing("rows", "numbers, one row per setting, or a finite_domain()")
  if (missing(box)) stop_missing("box", "a box_domain(), or a named list of c(lower, upper)")
  rows <- product_part(rows, "rows", "finite_domain", "numbers, one row per setting, or a finite_domain()")
  box <- product_part(box, "box", "box_domain", "a box_domain(), or a named list of c(lower, upper)")
  box <- numbered_on(box, length(rows$names), taken = rows$names)
  rows <- distinct_labels(rows, box$names)
  names <- c(rows$names, box$names)
  both <- intersect(rows$names, box$names)
  if (length(both)) {
    stop_argument("box", sprintf("one with the input %s, which `rows` has too", dQuote(both[1], FALSE)),
                  "a box whose inputs have other names than those of `rows`")
  }
  structure(c(list(type = "product", names = names, rows = rows, box = box),
              if (!is.null(rows$params)) list(params = rows$params)), class = c("product_domain", "bandit_domain"))
}

#' @export
remade.product_domain <- function(domain) product_domain(domain$rows, domain$box)

product_part <- function(given, arg, class, allowed) {
  part <- as_domain(given, arg)
  if (!inherits(part, class)) stop_argument(arg, describe_domain(part), allowed)
  part
}

# Default names (x1, x2, ...) continue the numbering of the rows' inputs.
numbered_on <- function(box, before, taken) {
  d <- length(box$names)
  if (!any(box$names %in% taken) || !identical(box$names, paste0("x", seq_len(d)))) return(box)
  box$names <- paste0("x", before + seq_len(d))
  names(box$lower) <- names(box$upper) <- box$names
  box
}

# Columns of the rows, and of the box, among the inputs.
row_part <- function(domain, inputs) inputs[, seq_along(domain$rows$names), drop = FALSE]

box_part <- function(domain, inputs) inputs[, length(domain$rows$names) + seq_along(domain$box$names), drop = FALSE]

# Points from the rows' 0-based numbers and model inputs of the box.
row_points <- function(domain, arm, inputs) {
  list(arm = arm, inputs = unname(cbind(domain$rows$x[arm + 1L, , drop = FALSE], inputs)))
}

#' @export
arm_count.product_domain <- function(domain) arm_count(domain$rows)

#' @export
is_discrete.product_domain <- function(domain) is_discrete(domain$box)

#' @export
arm_labels.product_domain <- function(domain) arm_labels(domain$rows)

#' @export
input_ranges.product_domain <- function(domain) cbind(input_ranges(domain$rows), input_ranges(domain$box))

# Points by all inputs, or by the number of the row and the box's inputs.
#' @export
find_points.product_domain <- function(domain, x, arm = NULL, arg = "x") {
  if (!is.null(arm)) return(find_by_row(domain, x, arm, arg))
  x <- complete_codes(domain, x, arg)
  row_points(domain, rows_found(domain, x, arg), find_points(domain$box, box_part(domain, x), arg = arg)$inputs)
}

# The numbers (from 0) of the rows to which points belong.
rows_found <- function(domain, x, arg) {
  arm <- arms_at(domain, x)
  if (anyNA(arm)) {
    stop_not_among(domain$rows, row_part(domain, x)[which(is.na(arm))[1], ], arg, "row of the product",
                  "points whose first inputs are among its rows")
  }
  arm
}

# The row must be one of the product's; the other inputs of points that are added may lie outside of the box.
#' @export
points_anywhere.product_domain <- function(domain, x, arm = NULL, arg = "x") {
  if (!is.null(arm)) return(find_by_row(domain, x, arm, arg))
  x <- complete_codes(domain, x, arg)
  row_points(domain, rows_found(domain, x, arg), points_anywhere(domain$box, box_part(domain, x), arg = arg)$inputs)
}

#' @export
data_ranges.product_domain <- function(domain) cbind(data_ranges(domain$rows), unname(data_ranges(domain$box)))

#' @export
lies_outside.product_domain <- function(domain, points) {
  lies_outside(domain$box, unnumbered(box_part(domain, points$inputs)))
}

find_by_row <- function(domain, x, arm, arg) {
  arm <- check_arms(arm, domain)
  if (is.null(x)) stop_missing(arg, "the box's inputs, because `arm` gives the row of a product")
  inputs <- find_points(domain$box, x, arg = arg)$inputs
  if (!length(arm) %in% c(1L, nrow(inputs))) {
    stop_argument("arm", describe(arm), paste("one number, or one for each of", amount_of(nrow(inputs), "point")))
  }
  row_points(domain, rep_len(arm, nrow(inputs)), inputs)
}

#' @export
fixable_inputs.product_domain <- function(domain) c(fixable_inputs(domain$rows), domain$box$names)

#' @export
slice_of.product_domain <- function(domain, values) {
  in_box <- names(values) %in% domain$box$names
  box <- if (any(in_box)) slice_of(domain$box, values[in_box])$fixed
  if (!is.null(box)) box$at <- box$at + length(domain$rows$names)
  c(if (!all(in_box)) slice_of(domain$rows, values[!in_box]), if (!is.null(box)) list(fixed = box))
}

#' @export
arms_at.product_domain <- function(domain, x) arms_at(domain$rows, row_part(domain, x))

#' @export
nearest_points.product_domain <- function(domain, inputs) {
  row_points(domain, nearest_points(domain$rows, row_part(domain, inputs))$arm,
             nearest_points(domain$box, box_part(domain, inputs))$inputs)
}

#' @export
sample_points.product_domain <- function(domain, count) {
  row_points(domain, sample_points(domain$rows, count)$arm, sample_points(domain$box, count)$inputs)
}

# A Latin hypercube of the box, with each row equally often. (Repeated points of integers are drawn again.)
#' @export
design_points.product_domain <- function(domain, count) {
  n <- arm_count(domain)
  turns <- unlist(lapply(seq_len(ceiling(count / n)), function(turn) sample.int(n)))
  found <- cbind(utils::head(turns, count) - 1L, design_points(domain$box, count)$inputs)
  if (all(domain$box$integer)) {
    found <- distinct_inputs(found, function(wanted) {
      drawn <- sample_points(domain, wanted)
      cbind(drawn$arm, box_part(domain, drawn$inputs))
    })
  }
  row_points(domain, as.integer(found[, 1]), found[, -1, drop = FALSE])
}

# The same number of points in every row.
#' @export
spread_points.product_domain <- function(domain, count) {
  n <- arm_count(domain)
  inputs <- spread_points(domain$box, max(1, ceiling(count / n)))$inputs
  each <- nrow(inputs)
  row_points(domain, rep(seq_len(n) - 1L, each = each), inputs[rep(seq_len(each), n), , drop = FALSE])
}

#' @export
maximise_over.product_domain <- function(domain, value, limits = NULL, effort = effort_of_run, from = NULL, tie = 0) {
  rows <- list(count = arm_count(domain), box = domain$box,
               settle = function(row, inputs) row_points(domain, row - 1L, nearest_points(domain$box, inputs)$inputs),
               find = function(points) list(row = points$arm + 1L, inputs = box_part(domain, points$inputs)))
  maximise_in_rows(rows, value, limits, effort, from)
}

#' @export
to_model_inputs.product_domain <- function(domain, x) {
  if (is.data.frame(x)) x <- complete_codes(domain, x, "x")
  cbind(row_part(domain, x), to_model_inputs(domain$box, box_part(domain, x)))
}

#' @export
from_model_inputs.product_domain <- function(domain, u) {
  cbind(row_part(domain, u), from_model_inputs(domain$box, box_part(domain, u)))
}

#' @export
core_space_kind.product_domain <- function(domain, setting) "box"

#' @export
core_space.product_domain <- function(domain, setting) box_space(domain$box, domain$rows$x, TRUE, setting)

#' @export
describe_domain.product_domain <- function(domain) {
  sprintf("a product of %s with %s and %s", amount_of(nrow(domain$rows$x), "row"),
          amount_of(ncol(domain$rows$x), "input"), describe_domain(domain$box))
}

#' @export
domain_story.product_domain <- function(domain) {
  sprintf("product domain: %d rows of %s; %s", nrow(domain$rows$x), column_text(domain$rows),
          box_sides(domain$box))
}

#' @export
point_labels.product_domain <- function(domain, arm, inputs) {
  c(point_labels(domain$rows, arm), point_labels(domain$box, NULL, box_part(domain, inputs)))
}

# A map needs two inputs, and the rows' input must have distinct values.
#' @export
picture_types.product_domain <- function(domain, smooth) {
  x <- domain$rows$x
  can <- c(if (is.null(domain$params) && length(domain$names) == 2 && nrow(x) > 1 && !anyDuplicated(x)) "map", "arms")
  list(can = can, auto = if (smooth) can[1] else "arms")
}

#' @export
picture_points.product_domain <- function(domain, type, played, resolution) {
  if (type == "arms") return(evaluated_points(domain, played))
  inputs <- to_model_inputs(domain$box, box_grid(domain$box, 61, resolution))
  n <- arm_count(domain)
  row_points(domain, rep(seq_len(n) - 1L, nrow(inputs)), inputs[rep(seq_len(nrow(inputs)), each = n), , drop = FALSE])
}

#' @export
input_axis.product_domain <- function(domain, i, count) {
  d <- length(domain$rows$names)
  if (i <= d) input_axis(domain$rows, i, count) else input_axis(domain$box, i - d, count)
}

#' @export
input_quantiles.product_domain <- function(domain, i, u) {
  d <- length(domain$rows$names)
  if (i <= d) input_quantiles(domain$rows, i, u) else input_quantiles(domain$box, i - d, u)
}

#' @export
log_inputs.product_domain <- function(domain) c(log_inputs(domain$rows), log_inputs(domain$box))

#' @export
same_points.product_domain <- function(domain, other) {
  identical(other$type, "product") && same_points(domain$rows, other$rows) && same_points(domain$box, other$box)
}

# A domain from any value that a user may give for one.
as_domain <- function(domain, arg = "domain") {
  allowed <- paste("a domain: finite_domain(), box_domain(), product_domain(), search_space(), numbers, or a named",
                   "list of c(lower, upper) and levels")
  if (missing(domain)) stop_missing(arg, sub("a domain: ", "", allowed), "`list(x = c(0, 1))` for an input from 0 to 1")
  if (inherits(domain, "bandit_domain")) return(check_domain(domain, arg))
  if (is.list(domain) && !is.data.frame(domain) && !is_broken_time(domain)) {
    domain <- dates_as_days(domain, arg)
    pairs <- length(domain) > 0 && !is.null(names(domain)) &&
      all(vapply(domain, function(p) is_number(p) && length(p) == 2, logical(1)))
    if (pairs) return(box_of_pairs(domain, arg))
    spoken <- length(domain) > 0 && !is.null(names(domain)) && all(vapply(domain, speaks_of_parameter, NA))
    if (!spoken) {
      stop_argument(arg, describe(domain), allowed,
                    try = if (is.null(names(domain))) "names for its entries: `list(x = c(0, 1))`")
    }
    return(space_of_list(as.list(domain)))
  }
  if (!is_number(domain) && !is.data.frame(domain)) {
    stop_argument(arg, describe(domain), allowed,
                  try = if (is.character(domain) || is.factor(domain)) {
                    "a name for the input with these levels: `list(x = c(\"a\", \"b\"))`"
                  })
  }
  if (NROW(domain) == 0) stop_argument(arg, describe(domain), "at least one arm")
  arms_domain(domain, arg)
}
