# Functions drawn from a Gaussian process or an RKHS. Layer: simulation.

#' Sample functions from a Gaussian process
#'
#' `sample_gp()` draws functions from a Gaussian-process prior at given points.
#'
#' With K the kernel's Gram matrix at `x`, it draws
#'
#' \deqn{f \sim N(0, K).}{f ~ N(0, K).}
#'
#' K is factorised as F F' by a pivoted Cholesky factorisation, and f = F z with independent standard normal z. The
#' factorisation stops when the remaining variance of every point is at most 1e-13 of the largest one. K may therefore
#' have any rank (smooth kernels, repeated points, covariances estimated from few rows). Nothing is added to its
#' diagonal, so repeated points get equal values.
#'
#' For `N` points, the factorisation of rank r costs O(N r^2), and each draw O(N r). Each draw uses `N` normal numbers
#' from R's generator, so [set.seed()] makes it reproducible.
#'
#' @param kernel a kernel, see [kernel_se()].
#' @param x the points: a matrix or data.frame (one row per point), a vector for one input, or a [finite_domain()].
#'   For [kernel_matrix()]: arm numbers (if missing, all arms), in the last column if the kernel has other
#'   inputs (automatic for a domain).
#' @param n number of independent draws, an integer >= 1. Default 1.
#' @return For `n` = 1 a numeric vector with one value per point. For `n` > 1 a matrix with one draw per column.
#' @section Errors: A `gpbandits_error` if `kernel` is not a kernel or does not fit `x`, if `x` is required and missing,
#'   or not finite, or if `n` is not a count.
#' @source Rasmussen and Williams (2006), *Gaussian Processes for Machine Learning*, appendix A.2.
#' @seealso [sample_rkhs()], [bandit_problem()].
#' @concept Gaussian process prior
#' @concept random function
#' @concept simulation
#' @examples
#' x <- seq(0, 1, length.out = 101)
#' f <- sample_gp(kernel_se(0.2), x, n = 3)
#' matplot(x, f, type = "l")
#' problem <- bandit_problem(x, sample_gp(kernel_matern(2.5, 0.2), x), noise = 0.1)
#' @export
sample_gp <- function(kernel, x, n = 1) {
  factor <- gram_factor(kernel, x)
  n <- check_count(n)
  # All N numbers are drawn, whatever the rank, which may differ between machines. Later draws are then the same on all
  # machines.
  z <- matrix(stats::rnorm(nrow(factor) * n), nrow(factor), n)
  f <- factor %*% z[seq_len(ncol(factor)), , drop = FALSE]
  if (n == 1) drop(f) else f
}

#' Sample a function from a kernel's RKHS
#'
#' `sample_rkhs()` draws a random function from the reproducing kernel Hilbert space of a kernel, and returns its norm.
#'
#' The method is that of Chowdhury and Gopalan (2017). With K the Gram matrix at `x`, and \eqn{\lambda}{lambda} =
#' `noise_var`,
#'
#' \deqn{y \sim N(0, K), \qquad f = K(K + \lambda I)^{-1}y.}{y ~ N(0, K), f = K (K + lambda I)^-1 y.}
#'
#' f is a combination of kernel functions, so it lies in the RKHS:
#'
#' \deqn{f(\cdot) = \sum_i\alpha_i k(\cdot, x_i), \qquad \alpha = (K + \lambda I)^{-1}y, \qquad \|f\| =
#' \sqrt{\alpha'K\alpha}.}{f(.) = sum_i alpha_i k(., x_i), alpha = (K + lambda I)^-1 y, ||f|| = sqrt(alpha' K alpha).}
#'
#' This norm is the bound B that [igp_ucb()] and [gp_ts()] need. The smaller `noise_var`, the closer f is to the rough
#' path y, and the larger is its norm.
#'
#' The paper prints B^2 = f'Kf, with the values of f instead of alpha. That is not a norm of f: for a given f it grows
#' with the kernel's variance, whereas the norm decreases. The theorems use the norm.
#'
#' No matrix is inverted. With K = F F' (see [sample_gp()]), F = U S V' and y = F z,
#'
#' \deqn{f = U S^3(S^2 + \lambda I)^{-1}V'z,}{f = U S^3 (S^2 + lambda I)^-1 V'z,}
#'
#' for K of any rank.
#'
#' @inheritParams sample_gp
#' @param noise_var the ridge \eqn{\lambda}{lambda}, a positive number in the units of the kernel's variance.
#' @return A numeric vector with one value per point, and two attributes:
#'
#' * `norm`: the RKHS norm;
#' * `weights`: alpha, from which f can be evaluated at other points.
#' @section Errors: A `gpbandits_error` as for [sample_gp()], or if `noise_var` is not positive.
#' @references Chowdhury, S. R. and Gopalan, A. (2017). On kernelized multi-armed bandits. *ICML*.
#' @seealso [sample_gp()].
#' @concept RKHS norm
#' @concept reproducing kernel Hilbert space
#' @concept random function
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

# A matrix F with F F' = K(x, x), one column per unit of rank.
gram_factor <- function(kernel, x) {
  kernel <- as_kernel(kernel)
  arms <- matrix_size(kernel)
  if (missing(x)) {
    if (is_composite(kernel) || is.null(arms)) {
      stop_missing("x", "the points to draw at (all arms only for kernel_matrix() alone)")
    }
    x <- seq_len(arms)
  }
  if (inherits(x, "bandit_domain")) x <- points_of_domain(check_domain(x, "x"), kernel)
  x <- check_matrix(x, "x")
  if (nrow(x) < 1 || ncol(x) < 1) stop_argument("x", describe(x), "at least one point and one input")
  inputs <- ncol(x) - !is.null(arms)
  names <- if (inputs > 0) check_input_names(colnames(x)[seq_len(inputs)], inputs, "x")
  cpp_kernel_factor(resolve_kernel(kernel, names, arms), gram_points(x, arms, "x"), tolerance = 1e-13)
}
