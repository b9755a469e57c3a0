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
#' @param integer,log which inputs take whole numbers only, and which are searched (and seen by
#'   the kernel) on a logarithmic scale: `TRUE`/`FALSE` (one for all, or one per input), or names or numbers
#'   of inputs. Lengthscales of a logarithmic input are in natural logarithms. A logarithmic input needs
#'   `lower > 0`, a whole-number input whole bounds.
#' @return An object of class `bandit_domain` (a list with `type`, `names`, and
#'   `x` for arms or `lower`, `upper` for a box).
#' @section Errors: a `gpbandits_error` if a value is not finite, there is no
#'   arm, two names agree, or a lower bound is not below its upper bound.
#' @seealso [gp_bandit()], [kernel_se()].
#' @examples
#' finite_domain(seq(0, 1, length.out = 5))
#' box_domain(c(-5, 0), c(10, 15), names = c("u", "v"))
#' box_domain(c(cost = 1e-3, depth = 1), c(1e3, 30), integer = "depth", log = "cost")
#' @export
finite_domain <- function(x) arms_domain(x, "x")

arms_domain <- function(x, arg) {
  x <- check_matrix(x, arg)
  if (nrow(x) < 1 || ncol(x) < 1) stop_argument(arg, describe(x), "at least one arm and one input")
  colnames(x) <- check_input_names(colnames(x), ncol(x), arg)
  structure(list(type = "finite", names = colnames(x), x = x), class = "bandit_domain")
}

#' @rdname finite_domain
#' @export
box_domain <- function(lower, upper, names = NULL, integer = FALSE, log = FALSE) {
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
  if (any(is.infinite(upper - lower))) {
    stop_argument("upper", "so far from `lower` that their difference overflows", "less than 1.7e308 above `lower`")
  }
  names <- check_input_names(names, d, "names")
  integer <- which_inputs(integer, names, "integer")
  log <- which_inputs(log, names, "log")
  if (any(lower[log] <= 0)) {
    stop_argument("lower", sprintf("%g for a logarithmic input", lower[log & lower <= 0][1]), "> 0 where `log` is TRUE")
  }
  bounds <- c(lower[integer], upper[integer])
  if (any(bounds != round(bounds))) {
    stop_argument("integer", sprintf("an input with bound %g", bounds[bounds != round(bounds)][1]),
                  "inputs whose bounds are whole numbers")
  }
  structure(list(type = "box", names = names, lower = stats::setNames(lower, names),
                 upper = stats::setNames(upper, names), integer = integer, log = log),
            class = "bandit_domain")
}

# Logical flags, one per input, from TRUE/FALSE, names or numbers of inputs.
which_inputs <- function(x, names, arg) {
  d <- length(names)
  allowed <- sprintf("TRUE, FALSE, %d flags, or names or numbers of inputs", d)
  if (is.logical(x) && length(x) %in% c(1, d) && !anyNA(x)) return(rep_len(x, d))
  if (is.character(x) && all(x %in% names)) return(names %in% x)
  if (is.numeric(x) && all(x %in% seq_len(d))) return(seq_len(d) %in% x)
  stop_argument(arg, describe(x), allowed)
}

# The inputs as the kernel sees them (logarithms where the domain says so), and back.
to_model_inputs <- function(domain, x) {
  if (!is_finite_domain(domain)) x[, domain$log] <- log(x[, domain$log])
  x
}

from_model_inputs <- function(domain, u) {
  if (is_finite_domain(domain)) return(u)
  # The fifteen digits that survive the way there and back; a bound may have more.
  for (j in which(domain$log)) {
    u[, j] <- pmin(pmax(signif(exp(u[, j]), 15), domain$lower[[j]]), domain$upper[[j]])
  }
  u[, domain$integer] <- round(u[, domain$integer])
  u
}

check_input_names <- function(names, d, arg) {
  if (is.null(names)) return(paste0("x", seq_len(d)))
  if (!is.character(names) || length(names) != d || anyNA(names) || !all(nzchar(names)) ||
      anyDuplicated(names)) {
    given <- if (is.character(names)) paste("names", paste(dQuote(names, FALSE), collapse = ", ")) else describe(names)
    stop_argument(arg, given,
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
    return(box_of_pairs(domain, arg))
  }
  if (!is.numeric(domain) && !is.data.frame(domain)) stop_argument(arg, describe(domain), allowed)
  if (NROW(domain) == 0) stop_argument(arg, describe(domain), "at least one arm")
  arms_domain(domain, arg)
}

box_of_pairs <- function(pairs, arg) {
  tryCatch(box_domain(vapply(pairs, `[`, 0, 1), vapply(pairs, `[`, 0, 2), names = names(pairs)),
           gpbandits_error = function(e) {
    stop_argument(arg, sprintf("one with %s", e$given), sprintf("a box with `%s` %s", e$argument, e$allowed))
  })
}

is_finite_domain <- function(domain) identical(domain$type, "finite")

#' @export
print.bandit_domain <- function(x, ...) {
  if (is_finite_domain(x)) {
    cat(sprintf("<finite domain: %d arms, %d input(s): %s>\n", nrow(x$x), ncol(x$x),
                paste(x$names, collapse = ", ")))
  } else {
    cat(sprintf("<box domain: %s>\n",
                paste(sprintf("%s in [%g, %g]%s%s", x$names, x$lower, x$upper,
                              ifelse(x$integer, " whole", ""), ifelse(x$log, " log", "")), collapse = ", ")))
  }
  invisible(x)
}
