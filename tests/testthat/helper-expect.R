# Clear successes pass at once, and everything else goes to testthat's functions: its third edition compares
# that describe a difference before it asks whether there is one (2 to 3 ms each time, a tenth of the suite).

expect_identical <- function(object, expected, info = NULL, label = label_of(substitute(object)),
                             expected.label = label_of(substitute(expected))) {
  if (identical(object, expected)) return(passed(object))
  testthat::expect_identical(object, expected, info = info, label = label, expected.label = expected.label)
}

expect_equal <- function(object, expected, ..., tolerance = testthat_tolerance(), info = NULL,
                         label = label_of(substitute(object)), expected.label = label_of(substitute(expected))) {
  if (within_tolerance(object, expected, tolerance)) return(passed(object))
  testthat::expect_equal(object, expected, ..., tolerance = tolerance, info = info, label = label,
                         expected.label = expected.label)
}

expect_true <- function(object, info = NULL, label = label_of(substitute(object))) {
  if (identical(as.vector(object), TRUE)) return(passed(object))
  testthat::expect_true(object, info = info, label = label)
}

expect_false <- function(object, info = NULL, label = label_of(substitute(object))) {
  if (identical(as.vector(object), FALSE)) return(passed(object))
  testthat::expect_false(object, info = info, label = label)
}

expect_null <- function(object, info = NULL, label = label_of(substitute(object))) {
  if (is.null(object)) return(passed(object))
  testthat::expect_null(object, info = info, label = label)
}

# (testthat's own writes the trace of every error down first.)
expect_error <- function(object, regexp = NULL, class = NULL, ..., info = NULL, label = label_of(substitute(object))) {
  caught <- tryCatch({
    force(object)
    NULL
  }, error = identity)
  if (is_error_like(caught, regexp, class, ...)) return(passed(caught))
  testthat::expect_error(if (is.null(caught)) object else stop(caught), regexp, class = class, ..., info = info, label = label)
}

is_error_like <- function(caught, regexp, class, ...) {
  inherits(caught, "error") && !identical(regexp, NA) && (is.null(class) || inherits(caught, class)) &&
    (is.null(regexp) || grepl(regexp, conditionMessage(caught), ...))
}

passed <- function(object) {
  succeed()
  invisible(object)
}

label_of <- function(expression) paste0("`", strtrim(deparse(expression)[1], 100), "`")

# waldo's own rule for numbers, where nothing else can differ: the mean difference, divided by the mean size of what
# is expected if that is above the tolerance. (Of lists and data frames it compares each element.)
within_tolerance <- function(x, y, tolerance) {
  if (identical(x, y)) return(TRUE)
  if (is.list(x) && is.list(y) && length(x) == length(y) && identical(attributes(x), attributes(y))) {
    return(all(mapply(within_tolerance, x, y, MoreArgs = list(tolerance))))
  }
  if (!is.double(x) || !is.double(y) || is.null(tolerance) || length(x) != length(y) ||
        !identical(attributes(x), attributes(y)) || !all(is.finite(x), is.finite(y))) return(FALSE)
  size <- mean(abs(y))
  mean(abs(x - y)) < tolerance * (if (size > tolerance) size else 1)
}
