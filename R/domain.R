#' Decision sets: finitely many arms, or a box
#'
#' A domain says which points a bandit may play.
#'
#' Wherever a `domain` is asked for, a bare numeric vector, matrix or data.frame
#' is read as `finite_domain()` of it, and a named list of `c(lower, upper)`
#' pairs as `box_domain()`.
#'
#' @param x numeric vector, matrix or data.frame: one row per arm, one column
#'   per input (`n` x `d`). Column names are kept; `x1..xd` if there are none.
#' @param lower,upper numeric vectors of length `d` (or one number for all):
#'   the box's bounds, `lower < upper`.
#' @param names names of the inputs; `x1..xd` if `NULL` and `lower` has none.
#' @return An object of class `bandit_domain` (a list with `type`, `names`, and
#'   `x` for arms or `lower`, `upper` for a box).
#' @section Errors: a `gpbandits_error` if a value is not finite, there is no
#'   arm, two names agree, or a lower bound is not below its upper bound.
#' @seealso [gp_bandit()], [kernel_se()].
#' @examples
#' finite_domain(seq(0, 1, length.out = 5))
#' box_domain(c(-5, 0), c(10, 15), names = c("u", "v"))
#' @export
finite_domain <- function(x) {
  x <- check_matrix(x, "x")
  if (nrow(x) < 1 || ncol(x) < 1) stop_argument("x", describe(x), "at least one arm and one input")
  colnames(x) <- check_input_names(colnames(x), ncol(x), "x")
  structure(list(type = "finite", names = colnames(x), x = x), class = "bandit_domain")
}

#' @rdname finite_domain
#' @export
box_domain <- function(lower, upper, names = NULL) {
  lower <- check_numbers(lower)
  upper <- check_numbers(upper)
  d <- max(length(lower), length(upper), length(names))
  if (is.null(names)) {
    names <- base::names(lower)
    if (is.null(names)) names <- base::names(upper)
  }
  if (d < 1) stop_argument("lower", describe(lower), "at least one number")
  for (arg in c("lower", "upper")) {
    if (!length(get(arg)) %in% c(1, d)) {
      stop_argument(arg, describe(get(arg)), sprintf("one number or %d numbers", d))
    }
  }
  lower <- rep_len(as.double(lower), d)
  upper <- rep_len(as.double(upper), d)
  if (any(lower >= upper)) {
    bad <- which(lower >= upper)[1]
    stop_argument("lower", sprintf("%g (input %d, upper %g)", lower[bad], bad, upper[bad]),
                  "below `upper` in every input")
  }
  names <- check_input_names(names, d, "names")
  structure(list(type = "box", names = names, lower = stats::setNames(lower, names),
                 upper = stats::setNames(upper, names)),
            class = "bandit_domain")
}

check_input_names <- function(names, d, arg) {
  if (is.null(names)) return(paste0("x", seq_len(d)))
  if (!is.character(names) || length(names) != d || anyNA(names) || !all(nzchar(names)) ||
      anyDuplicated(names)) {
    stop_argument(arg, paste("names", paste(dQuote(names, FALSE), collapse = ", ")),
                  sprintf("%d distinct, non-empty name(s)", d))
  }
  names
}

# What a user may write in place of a domain.
as_domain <- function(domain, arg = "domain") {
  allowed <- "a domain: finite_domain(), box_domain(), numbers, or a named list of c(lower, upper)"
  if (missing(domain)) stop_argument(arg, "missing", allowed)
  if (inherits(domain, "bandit_domain")) return(domain)
  if (is.list(domain) && !is.data.frame(domain)) {
    pairs <- length(domain) > 0 && !is.null(names(domain)) &&
      all(vapply(domain, function(p) is.numeric(p) && length(p) == 2, logical(1)))
    if (!pairs) stop_argument(arg, describe(domain), allowed)
    return(box_domain(vapply(domain, `[`, 0, 1), vapply(domain, `[`, 0, 2), names = names(domain)))
  }
  if (!is.numeric(domain) && !is.data.frame(domain)) stop_argument(arg, describe(domain), allowed)
  if (NROW(domain) == 0) stop_argument(arg, describe(domain), "at least one arm")
  finite_domain(domain)
}

is_finite_domain <- function(domain) identical(domain$type, "finite")

#' @export
print.bandit_domain <- function(x, ...) {
  if (is_finite_domain(x)) {
    cat(sprintf("<finite domain: %d arms, %d input(s): %s>\n", nrow(x$x), ncol(x$x),
                paste(x$names, collapse = ", ")))
  } else {
    cat(sprintf("<box domain: %s>\n",
                paste(sprintf("%s in [%g, %g]", x$names, x$lower, x$upper), collapse = ", ")))
  }
  invisible(x)
}
