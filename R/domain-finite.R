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
#'   `x1..xd` unless they have names. Text, factors and logicals in a data.frame are levels, see *Levels*.
#' @param labels the arms' names: the name of a column of `x`, or a text for each row. `FALSE`: none. `NULL` (default):
#'   the text or factor column whose values are all different; without one the row names (of a vector: its names).
#' @param features a named list: for some of the columns with levels a data.frame of numbers that describe them, as
#'   in [search_space()]. `NULL` (default): none.
#' @param lower,upper the box's bounds, `lower < upper`, in the inputs' units: numeric vectors of length `d`, or one
#'   number for all.
#' @param names names of the inputs. `NULL` (default): those of `lower`, else `x1..xd`.
#' @param integer,log which inputs are integers, and which are searched, and used by the kernel, on a logarithmic scale:
#'   flags (one for all, or one per input), or names or numbers of inputs. `FALSE` by default: none. See the section
#'   *Integers and logarithms*.
#' @return An object of class `bandit_domain`, a list with
#'   * `type` and `names`;
#'   * `x` for arms, or `lower` and `upper` for a box.
#' @section Levels: A column of text, factors or logicals is an input with levels, such as a ligand. It is an input like
#'   `param_factor()` and `param_logical()` of a [search_space()]: points have the levels in R's type as given, and the
#'   kernel gets their numbers. The default kernel of [auto_bandit()] multiplies a [kernel_categorical()] of them with
#'   a Matern kernel of the numbers, and adds the main effects of each. Ordered factors are used by their ranks.
#' @section Arms' names: They are shown in histories, and can be given wherever an `arm` is expected.
#' @section Integers and logarithms: An integer input needs integer bounds. A logarithmic input needs `lower > 0`; its
#'   lengthscales are in natural logarithms.
#' @section Errors: Values must be finite, there must be at least one arm, names must be distinct, and each lower bound
#'   must be below its upper bound.
#' @seealso [search_space()], [gp_bandit()], [kernel_se()].
#' @concept discrete optimization
#' @concept search space
#' @concept decision set
#' @concept multi-armed bandit
#' @concept candidates
#' @concept integer inputs
#' @examples
#' finite_domain(seq(0, 1, length.out = 5))
#' # A table of possible experiments.
#' table <- data.frame(ligand = c("XPhos", "XPhos", "SPhos", "SPhos"), temp = c(80, 100, 80, 100))
#' finite_domain(table)
#' box_domain(c(-5, 0), c(10, 15), names = c("u", "v"))
#' box_domain(c(cost = 1e-3, depth = 1), c(1e3, 30), integer = "depth", log = "cost")
#' @export
finite_domain <- function(x, labels = NULL, features = NULL) {
  if (missing(x)) stop_missing("x", "a table, one row per arm", "`finite_domain(1:10)`")
  arms_domain(x, "x", labels, features)
}

arms_domain <- function(x, arg, labels = NULL, features = NULL) {
  if (is.data.frame(x)) check_data_frame(x, arg)
  labels <- labels_of_rows(x, arg, labels)
  if (is.data.frame(x)) x <- x[setdiff(names(x), labels$column)]
  params <- if (is.data.frame(x)) levels_of_table(x, features, arg) else check_features_by_name(features, character())
  for (name in names(params)) x[[name]] <- read_column(params[[name]], x[[name]], name, arg)
  x <- check_matrix(x, arg)
  if (nrow(x) < 1 || ncol(x) < 1) stop_argument(arg, describe(x), "at least one arm and one input")
  colnames(x) <- check_input_names(colnames(x), ncol(x), arg)
  made_of_arms(x, params, labels$values, if (!is.null(labels)) beside(labels$name, colnames(x)))
}

# `x`: a matrix with the levels' numbers in the columns of `params`.
made_of_arms <- function(x, params, labels, label_name) {
  structure(c(list(type = "finite", names = colnames(x), x = x),
              if (length(params)) list(params = params),
              if (!is.null(labels)) list(labels = labels, label_name = label_name)),
            class = c("finite_domain", "bandit_domain"))
}

#' @export
remade.finite_domain <- function(domain) {
  x <- domain$x
  if (!is.matrix(x) || !is.double(x)) stop_fault("it has no matrix of arms")
  again <- unclass(arms_domain(x, "domain"))
  labels <- domain$labels
  name <- domain$label_name
  if (!is.null(labels) && (!are_names(labels) || length(labels) != nrow(x) || !are_names(name) || length(name) != 1 ||
                           name %in% domain$names)) {
    stop_fault("its labels do not fit its arms")
  }
  if (!are_codes(domain$params, domain$names, x)) stop_fault("its levels do not fit its arms")
  made_of_arms(again$x, domain$params, labels, name)
}

# Labels of the rows: `values`, the `name` of their column in histories and, if they are in a column of a data.frame,
# that `column`. NULL if the rows have no labels. `given`: the argument `labels` of finite_domain().
labels_of_rows <- function(x, arg, given = NULL) {
  if (identical(given, FALSE)) return(NULL)
  if (!is.null(given)) return(given_labels(x, given))
  if (is.data.frame(x)) {
    distinct <- function(values) {
      text <- if (is.factor(values) && !is.ordered(values)) factor_text(values, arg) else values
      is.character(text) && are_names(as.vector(text))
    }
    column <- names(x)[vapply(x, distinct, NA)]
    if (length(column) > 1) {
      stop_argument(arg, sprintf("one with distinct texts in the columns %s", quoted(column)),
                    "one with a single column of labels",
                    try = sprintf("`labels = \"%s\"` if these are the labels, `labels = FALSE` if there are none",
                                  column[1]))
    }
    if (length(column) == 1 && length(x) > 1) return(labels_in_column(x, column))
  }
  labels_by_row_names(x, arg)
}

labels_by_row_names <- function(x, arg) {
  if (is.data.frame(x)) {
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

# Labels that are a column of the table, by its name, or one value for each row.
given_labels <- function(x, given) {
  if (is.data.frame(x) && is_text(given) && length(given) == 1 && given %in% names(x)) {
    return(labels_in_column(x, given))
  }
  labels <- label_text(given)
  if (!are_names(labels) || length(labels) != NROW(x)) {
    stop_argument("labels", describe(given), sprintf("the name of a column%s, %d distinct texts, FALSE or NULL",
                                                     if (is.data.frame(x)) paste(":", quoted(names(x))) else "",
                                                     NROW(x)))
  }
  list(values = labels, name = "label", column = character())
}

labels_in_column <- function(x, column) {
  values <- label_text(x[[column]])
  if (!are_names(values)) {
    stop_argument("labels", sprintf("%s, whose values are equal, missing or not text", dQuote(column, FALSE)),
                  "a column of distinct texts")
  }
  list(values = values, name = if (column %in% package_names) "label" else column, column = column)
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
  x <- complete_codes(domain, x, arg)
  arm <- arms_at(domain, x)
  if (anyNA(arm)) stop_not_among(domain, x[which(is.na(arm))[1], ], arg, "arm", "points among the arms of the domain")
  arm_points(domain, arm)
}

#' @export
arms_at.finite_domain <- function(domain, x) match_rows(to_model_inputs(domain, x), domain$x) - 1L

# (Two levels differ as much as the ends of a number's range.)
#' @export
nearest_points.finite_domain <- function(domain, inputs) {
  coded <- coded_columns(domain)
  if (!any(coded)) return(arm_points(domain, nearest_rows(domain$x, inputs)))
  sides <- input_sides(domain)
  nearest <- vapply(seq_len(nrow(inputs)), function(i) {
    apart <- (domain$x - rep(inputs[i, ], each = nrow(domain$x))) / rep(sides, each = nrow(domain$x))
    apart[, coded] <- apart[, coded] != 0
    which.min(rowSums(apart^2))
  }, 1L)
  arm_points(domain, nearest - 1L)
}

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
    stop_argument("fixed", described_value(values), "values that occur among the arms")
  }
  list(eligible = here)
}

arms_with <- function(domain, name, value) {
  if (identical(name, domain$label_name)) return(domain$labels == as.character(value))
  column <- domain$x[, match(name, domain$names)]
  param <- domain$params[[name]]
  if (!is.null(param)) return(column %in% read_column(param, value, name, "fixed"))
  value <- fixed_number(value, name)
  abs(column - value) <= 1e-8 * max(diff(range(column)), abs(value) * 1e-8)
}

is_arms <- function(x) inherits(x, "finite_domain")

#' @export
sample_points.finite_domain <- function(domain, count) {
  arm_points(domain, sample.int(nrow(domain$x), count, replace = TRUE) - 1L)
}

# Without replacement if there are enough arms. The first arm is random. Each other one has as many levels as possible
# that no earlier arm has; among these arms, it is the most distant one from the earlier arms.
#' @export
design_points.finite_domain <- function(domain, count) {
  n <- nrow(domain$x)
  if (count >= n) return(arm_points(domain, c(sample.int(n), sample.int(n, count - n, replace = TRUE)) - 1L))
  is_level <- domain$names %in% names(domain$params)
  numbers <- unit_columns(domain$x[, !is_level, drop = FALSE])
  levels <- domain$x[, is_level, drop = FALSE]
  used <- matrix(FALSE, n, ncol(levels))
  nearest <- rep(Inf, n)
  chosen <- integer()
  order <- sample.int(n)                                  # decides between equals
  at <- order[1]
  repeat {
    chosen <- c(chosen, at)
    if (length(chosen) == count) break
    same <- levels == rep(levels[at, ], each = n)
    used <- used | same
    nearest <- pmin(nearest, rowSums((numbers - rep(numbers[at, ], each = n))^2) + rowSums(!same))
    nearest[at] <- -Inf
    new <- rowSums(!used)
    new[chosen] <- -1
    best <- order[new[order] == max(new)]
    at <- best[which.max(nearest[best])]
  }
  arm_points(domain, chosen - 1L)
}

# Columns moved and scaled to 0 to 1; constant ones are 0.
unit_columns <- function(x) {
  least <- apply(x, 2, min)
  width <- apply(x, 2, max) - least
  t((t(x) - least) / ifelse(width > 0, width, 1))
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
to_model_inputs.finite_domain <- function(domain, x) if (is.data.frame(x)) complete_codes(domain, x, "x") else x

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
  paste(amount_of(nrow(domain$x), "arm"), "with", amount_of(ncol(domain$x), "input"))
}

#' @export
domain_story.finite_domain <- function(domain) {
  sprintf("finite domain: %s, %s: %s", amount_of(nrow(domain$x), "arm"), amount_of(ncol(domain$x), "input"),
          column_text(domain))
}

#' @export
point_labels.finite_domain <- function(domain, arm, inputs) {
  at <- arm + 1L
  columns <- list(arm = at)
  domain <- unclass(domain)                           # `$` of a classed list is ten times as slow
  if (!is.null(domain$labels)) columns[[domain$label_name]] <- domain$labels[at]
  c(columns, if (is.null(domain$params)) cpp_columns(domain$x, domain$names, at)
             else typed_columns(domain, domain$x[at, , drop = FALSE]))
}

# Few arms, or arms whose covariance is no function of the inputs, give no curve; arms on a line give no map.
#' @export
picture_types.finite_domain <- function(domain, smooth) {
  if (!is.null(domain$params)) return(list(can = "arms", auto = "arms"))
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
  param <- domain$params[[domain$names[i]]]
  if (!is.null(param)) return(typed_levels(param))
  ends <- range(domain$x[, i])
  if (ends[1] == ends[2]) ends[1] else seq(ends[1], ends[2], length.out = count)
}

#' @export
input_quantiles.finite_domain <- function(domain, i, u) {
  drawn <- domain$x
  drawn <- drawn[order(drawn[, i])[pmin(floor(u * nrow(drawn)) + 1, nrow(drawn))], , drop = FALSE]
  if (is.null(domain$params)) unname(drawn[, i]) else typed_columns(domain, drawn)[[i]]
}

#' @export
same_points.finite_domain <- function(domain, other) {
  identical(other$type, "finite") && identical(unname(domain$x), unname(other$x)) &&
    identical(unname(domain$params), unname(other$params))
}

# Arms and nothing else: no search space, no product with a box.
is_set_of_arms <- function(domain) inherits(domain, "finite_domain")

# The same, without a further class that displays them differently.
is_plain_set_of_arms <- function(domain) identical(class(domain), c("finite_domain", "bandit_domain"))
