# Functions drawn from a Gaussian process or an RKHS. Layer: simulation.

#' Draw functions from a Gaussian process
#'
#' Draws f ~ N(0, K) at the points `x`, with K the kernel's Gram matrix there.
#'
#' K is factorised as F F' by a Cholesky factorisation with pivoting that stops
#' when no point's remaining variance exceeds 1e-13 of the largest one, and
#' f = F z with independent standard normal z. So K may be of any rank (smooth
#' kernels, repeated points, covariances estimated from few rows), and nothing is
#' added to its diagonal: repeated points get equal values. A draw of `N` points
#' costs O(N r^2) for the factorisation of rank r, then O(N r). Each draw takes
#' `N` normal numbers from R's generator, so [set.seed()] fixes it.
#'
#' @param kernel a kernel, see [kernel_se()].
#' @param x the points: a matrix or data.frame with one row per point, a vector
#'   for one input, or a [finite_domain()]. For [kernel_matrix()]: the arms'
#'   numbers, and all arms if missing; for a kernel that has a matrix among
#'   others, the arm's number in the last column (a domain's arms are numbered
#'   for you).
#' @param n number of independent draws.
#' @return A numeric vector with one value per point, or for `n` > 1 a matrix
#'   with one draw per column.
#' @section Errors: a `gpbandits_error` if `kernel` is no kernel or does not fit
#'   `x`, `x` is missing where it is needed or not finite, or `n` is no count.
#' @source Rasmussen and Williams (2006), *Gaussian Processes for Machine
#'   Learning*, appendix A.2.
#' @seealso [sample_rkhs()], [bandit_problem()].
#' @examples
#' x <- seq(0, 1, length.out = 101)
#' f <- sample_gp(kernel_se(0.2), x, n = 3)
#' matplot(x, f, type = "l")
#' problem <- bandit_problem(x, sample_gp(kernel_matern(2.5, 0.2), x), noise = 0.1)
#' @export
sample_gp <- function(kernel, x, n = 1) {
  factor <- gram_factor(kernel, x)
  n <- check_count(n)
  # All N numbers are drawn whatever the rank, which may differ between machines:
  # what is drawn afterwards then stays the same.
  z <- matrix(stats::rnorm(nrow(factor) * n), nrow(factor), n)
  f <- factor %*% z[seq_len(ncol(factor)), , drop = FALSE]
  if (n == 1) drop(f) else f
}

#' Draw a function of a kernel's RKHS
#'
#' The recipe of Chowdhury and Gopalan (2017): with K the Gram matrix at `x` and
#' y ~ N(0, K), the function f = K (K + `noise_var` I)^-1 y.
#'
#' f is a combination of kernel functions, f(.) = sum_i alpha_i k(., x_i) with
#' alpha = (K + `noise_var` I)^-1 y, so it lies in the RKHS and its norm is
#' ||f|| = sqrt(alpha' K alpha). This is the B that `igp_ucb()` and `gp_ts()`
#' need. (The paper prints B^2 = f'Kf, with the values of f in alpha's place. That
#' is no norm of f: for a given f it grows with the kernel's variance, where the
#' norm falls. The theorems mean the norm.) The smaller `noise_var`, the closer f follows the
#' rough path y and the larger its norm.
#'
#' Nothing is inverted: with K = F F' (see [sample_gp()]), F = U S V' and y = F z,
#' f = U S^3 (S^2 + `noise_var`)^-1 V'z, for K of any rank.
#'
#' @inheritParams sample_gp
#' @param noise_var the ridge, a positive number in the units of the kernel's
#'   variance.
#' @return A numeric vector with one value per point and the attributes `norm`
#'   (the RKHS norm) and `weights` (alpha, with which f can be evaluated
#'   elsewhere).
#' @section Errors: a `gpbandits_error` as for [sample_gp()], or if `noise_var`
#'   is not positive.
#' @references Chowdhury, S. R. and Gopalan, A. (2017). On kernelized multi-armed
#'   bandits. *ICML*.
#' @seealso [sample_gp()].
#' @examples
#' x <- seq(0, 1, length.out = 100)
#' k <- kernel_se(0.2)
#' f <- sample_rkhs(k, x, noise_var = 0.01)
#' attr(f, "norm")
#' # its value at another point
#' kernel_gram(k, 0.505, x) %*% attr(f, "weights")
#' @export
sample_rkhs <- function(kernel, x, noise_var) {
  factor <- gram_factor(kernel, x)
  noise_var <- check_positive(noise_var)
  z <- stats::rnorm(nrow(factor))[seq_len(ncol(factor))]
  if (ncol(factor) == 0) return(structure(numeric(nrow(factor)), norm = 0, weights = numeric(nrow(factor))))
  parts <- svd(factor)
  s <- parts$d
  z <- drop(crossprod(parts$v, z))
  structure(drop(parts$u %*% (s^3 / (s^2 + noise_var) * z)),
            norm = sqrt(sum((s^2 / (s^2 + noise_var) * z)^2)),
            weights = drop(parts$u %*% (s / (s^2 + noise_var) * z)))
}

# F with F F' = K(x, x), one column per unit of rank.
gram_factor <- function(kernel, x) {
  kernel <- as_kernel(kernel)
  arms <- matrix_size(kernel)
  if (missing(x)) {
    if (is_composite(kernel) || is.null(arms)) {
      stop_argument("x", "missing", "the points to draw at (all arms can be meant only with kernel_matrix() alone)")
    }
    x <- seq_len(arms)
  }
  if (inherits(x, "bandit_domain")) x <- points_of_domain(check_domain(x, "x"), kernel)
  x <- check_matrix(x, "x")
  if (nrow(x) < 1 || ncol(x) < 1) stop_argument("x", describe(x), "at least one point and one input")
  inputs <- ncol(x) - !is.null(arms)
  names <- if (inputs > 0) check_input_names(colnames(x)[seq_len(inputs)], inputs, "x")
  core(cpp_kernel_factor(resolve_kernel(kernel, names, arms), gram_points(x, arms, "x"), tolerance = 1e-13))
}
