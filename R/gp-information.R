# Information gain and its largest value. Layer: model.

#' Information gain and bounds of the maximum information gain
#'
#' `information_gain()` computes how much noisy observations at some points reduce the uncertainty about a Gaussian
#' process. With `rounds` it bounds the largest gain \eqn{\gamma_T}{gamma_T} of any \eqn{T} points, which is in every
#' regret bound here.
#'
#' The gain of observing \eqn{f} at the points \eqn{A} with noise of variance \eqn{\lambda}{lambda} (`noise_var`) is, in
#' nats,
#'
#' \deqn{I(y_A; f_A) = \tfrac12 \log\det(I + K_A/\lambda)}{I = 1/2 log det(I + K_A / lambda)}
#'
#' which is also
#'
#' \deqn{I(y_A; f_A) = \tfrac12 \sum_t \log(1 + \sigma_{t-1}^2(x_t)/\lambda)}{I = 1/2 sum_t log(1 +
#' sd_{t-1}(x_t)^2 / lambda)}
#'
#' for every order of the points (Lemma 5.3 of Srinivas et al.). The largest gain of \eqn{T} points, repeats allowed, is
#' \deqn{\gamma_T = \max_{|A| = T} I(y_A; f_A).}{gamma_T = max over |A| = T of I(y_A; f_A).}
#' Finding it is a combinatorial problem. Three methods bound it:
#'
#' * `"greedy"`, a lower bound: select repeatedly the point of largest posterior variance (the first of those within
#'   1e-12 prior standard deviations of the largest). By submodularity \eqn{\gamma_T}{gamma_T} is at most
#'   \eqn{e/(e-1) \approx 1.582}{e/(e-1) = 1.582} times this. **The factor is not included here**; the `gain = "greedy"`
#'   of a width includes it.
#' * `"spectral"`, an upper bound: the best allocation of \eqn{T} observations to the eigenvectors of the Gram matrix.
#' * `"doptimal"`, an upper bound and the tightest: a D-optimal design, in which points may be played a fractional
#'   number of times.
#'
#' Upper bounds include the error of the low-rank factor of the Gram matrix.
#'
#' @section Spectral bound: With the eigenvalues \eqn{\hat\lambda_i}{lambda_i} of the Gram matrix of all points it is
#'   \deqn{\max_{m \ge 0,\ \sum_i m_i = T} \tfrac12 \sum_i \log(1 + m_i \hat\lambda_i/\lambda),}{max 1/2 sum
#'   log(1 + m_i lambda_i / lambda) over m >= 0 with sum(m) = T,}
#'   solved exactly by water-filling. Srinivas et al. (Theorem 4) put a factor \eqn{1/(1-1/e)} in front, because they
#'   bound the greedy value by it. It is not needed. For every choice of points the determinant is, in the basis of the
#'   eigenvectors, that of
#'   \deqn{I + \Lambda^{1/2} M \Lambda^{1/2}/\lambda,\quad \mathrm{tr}\, M = T.}{I + L^1/2 M L^1/2 / lambda, tr M = T.}
#'   By Hadamard's inequality it is at most the product of the diagonal, which is the water-filling problem.
#'
#' @section D-optimal bound: Point \eqn{x} is played \eqn{w_x} times, a number that need not be an integer. The function
#'   \deqn{F(w) = \tfrac12 \log\det(I + K^{1/2} \mathrm{diag}(w) K^{1/2}/\lambda)}{F(w) = 1/2 log det(I + K^1/2 diag(w)
#'   K^1/2 / lambda)}
#'   is concave, so at every \eqn{w \ge 0}{w >= 0} its tangent is a bound:
#'
#'   \deqn{\gamma_T \le F(w) + T \max_x s_x - \sum_x w_x s_x,\quad s_x = \sigma_w^2(x)/(2\lambda).}{gamma_T <= F(w) + T
#'   max s - sum(w s), s_x = sd_w(x)^2 / (2 lambda).}
#'
#'   This certificate is returned. The design is improved until the certificate is within a proportion `tolerance` of
#'   \eqn{F(w)}.
#'
#' @param kernel a kernel, see [kernel_se()].
#' @param x the points: a numeric vector, a matrix or data.frame with a row each, or a finite domain. Without `rounds`
#'   the observed points, repeats counted; with `rounds` the points to choose from. See Tabulated kernels.
#' @param noise_var the noise variance \eqn{\lambda}{lambda}, a number > 0 in squared units of the reward.
#' @param rounds \eqn{T}, the number of observations to choose, an integer from 1 to 1e7. `NULL` (default): `x` are the
#'   points observed.
#' @param method `"greedy"` (default), `"spectral"` or `"doptimal"`; with `rounds` only.
#' @param tolerance the relative gap at which `"doptimal"` stops, a number from 1e-9 to 1, by default 1e-4.
#' @section Tabulated kernels: With a [kernel_matrix()] `x` has arm numbers, in the last column if there are other
#'   inputs. Without `x` all arms are used.
#' @return Without `rounds` one number, in nats. With `rounds` a nondecreasing vector of length `rounds`,
#'   \eqn{\gamma_1, \dots, \gamma_T}{gamma_1, ..., gamma_T}.
#' @section Errors: Boxes and indefinite covariances are a `gpbandits_error`.
#' @section Cost: Let \eqn{r} be the numerical rank of the Gram matrix over \eqn{n} points. Greedy takes
#'   \eqn{O(n r)}{O(n r)} per round, spectral \eqn{O(n r^2 + r^3)}{O(n r^2 + r^3)} once. D-optimal designs are solved
#'   for some tens of the \eqn{T} only, and certificates in between are combined. This takes a fraction of a second for
#'   a smooth kernel over 1000 points, and up to a minute for a rough one of full rank.
#' @references Srinivas, Krause, Kakade, Seeger (2010), Gaussian process optimization in the
#'   bandit setting, Section 5 and Theorem 4. The D-optimal bound is this package's.
#' @seealso [regret_bound()], [gains].
#' @concept maximum information gain
#' @concept mutual information
#' @concept D-optimal design
#' @examples
#' x <- seq(0, 1, length.out = 101)
#' information_gain(kernel_se(0.2), c(0, 0.5, 0.5, 1), noise_var = 0.1)
#' greedy <- information_gain(kernel_se(0.2), x, noise_var = 1, rounds = 50)
#' upper <- information_gain(kernel_se(0.2), x, noise_var = 1, rounds = 50, method = "spectral")
#' matplot(cbind(greedy, upper), type = "l", xlab = "T", ylab = "information gain")
#' @export
information_gain <- function(kernel, x, noise_var, rounds = NULL, method = c("greedy", "spectral", "doptimal"),
                             tolerance = 1e-4) {
  points <- information_points(kernel, if (missing(x)) NULL else x)
  noise_var <- check_positive(noise_var)
  if (!is.null(rounds)) return(largest_information(points, noise_var, rounds, method, tolerance))
  if (!missing(method)) stop_unused("method", "it is used with `rounds` only")
  if (!missing(tolerance)) stop_unused("tolerance", "it is used with `rounds` only")
  if (nrow(points$points) == 0) return(0)
  row <- row_numbers(points$points)
  first <- which(!duplicated(row))
  K <- cpp_kernel_gram_symmetric(points$kernel, points$points[first, , drop = FALSE])
  cpp_information_gain(K, tabulate(match(row, row[first])), noise_var)
}

# A value or bound of the largest gain of 1, 2, ..., `rounds` of the points.
largest_information <- function(points, noise_var, rounds, method, tolerance) {
  if (nrow(points$points) == 0) stop_argument("x", "empty", "at least one point")
  rounds <- check_count(rounds, upper = most_bounded)
  method <- check_choice(method, c("greedy", "spectral", "doptimal"))
  tolerance <- check_number(tolerance, lower = 1e-9, upper = 1)
  switch(
    method,
    greedy = cpp_greedy_information(points$kernel, points$points, rounds, noise_var),
    spectral = cpp_spectral_information(points$kernel, points$points, rounds, noise_var),
    doptimal = cpp_doptimal_information(points$kernel, points$points, rounds, noise_var, tolerance)
  )
}

# The core's arguments for a kernel over points: the resolved kernel and a matrix.
information_points <- function(kernel, x) {
  kernel <- as_kernel(kernel)
  arms <- matrix_size(kernel)
  if (is.null(x)) {
    if (is.null(arms)) stop_missing("x", "points, or a finite domain")
    x <- seq_len(arms)
  }
  if (inherits(x, "bandit_domain")) x <- points_of_domain(check_domain(x, "x"), kernel)
  x <- check_matrix(x, "x")
  inputs <- ncol(x) - !is.null(arms)
  names <- if (inputs > 0) check_input_names(colnames(x)[seq_len(inputs)], inputs, "x")
  list(kernel = resolve_kernel(kernel, names, arms), points = gram_points(x, arms, "x"))
}

# All points of a finite domain for a kernel: numbered in the last column (from 1) if the kernel
# has a matrix.
points_of_domain <- function(domain, kernel, arg = "x") {
  candidates <- all_points(domain)
  if (is.null(candidates)) stop_argument(arg, describe_domain(domain), "points or a finite domain")
  points <- from_model_inputs(domain, candidates$inputs)
  if (!has_matrix(kernel)) return(points)
  resolve_kernel(kernel, domain$names, point_total(candidates))
  cbind(points, candidates$arm + 1)
}

# Bounds and gains hold a number for each round.
most_bounded <- 1e7
