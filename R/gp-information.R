# Information gain and its largest value. Layer: model.

#' Information gain, and bounds of the largest one
#'
#' How much observations at some points tell about the function, and the most that any
#' points could tell: the quantity \eqn{\gamma_T}{gamma_T} in every regret bound here.
#'
#' Observing \eqn{f} at the points \eqn{A} with noise of variance \eqn{\lambda} (`noise_var`)
#' gains, in nats,
#' \deqn{I(y_A; f_A) = \tfrac12 \log\det(I + K_A/\lambda)
#'   = \tfrac12 \sum_t \log(1 + \sigma_{t-1}^2(x_t)/\lambda)}{I = 1/2 log det(I + K_A / lambda) = 1/2
#'   sum_t log(1 + sd_{t-1}(x_t)^2 / lambda)}
#' (Lemma 5.3 of Srinivas et al.), whatever the order of the points.
#' The largest gain of \eqn{T} points, repeats allowed, is
#' \eqn{\gamma_T = \max_{|A| = T} I(y_A; f_A)}{gamma_T = max over |A| = T of I(y_A; f_A)}.
#' Finding it is a combinatorial problem; the three methods enclose it:
#'
#' * `"greedy"` (a lower bound): always the point of largest posterior variance (the first
#'   of those within 1e-12 prior standard deviations of the largest).
#'   \eqn{\gamma_T}{gamma_T} is at most \eqn{e/(e-1) \approx 1.582}{e/(e-1) = 1.582} times this
#'   (submodularity). **The factor is not included here**; a width's `gain = "greedy"` includes it.
#' * `"spectral"` (an upper bound): the best allocation of \eqn{T} observations to the
#'   eigenvectors of the Gram matrix of all points, with eigenvalues
#'   \eqn{\hat\lambda_i}{lambda_i}: \eqn{\max \tfrac12 \sum_i \log(1 + m_i \hat\lambda_i/\lambda)}{max
#'   1/2 sum log(1 + m_i lambda_i / lambda)}
#'   over \eqn{m \ge 0, \sum_i m_i = T}{m >= 0 of sum T}, solved exactly by water-filling.
#'   Srinivas et al. (Theorem 4) put a factor \eqn{1/(1-1/e)} in front, because they bound the
#'   greedy value by it. It is not needed: for any choice of points the matrix whose
#'   determinant counts is, in the basis of the eigenvectors, \eqn{I + \Lambda^{1/2} M
#'   \Lambda^{1/2}/\lambda}{I + L^1/2 M L^1/2 / lambda}
#'   with \eqn{\mathrm{tr}\, M = T}{tr M = T}; by Hadamard's inequality its determinant is at most the product
#'   of its diagonal, and that is the water-filling problem.
#' * `"doptimal"` (an upper bound, the tightest): points may be played fractional numbers of
#'   times \eqn{w_x}. \eqn{F(w) = \tfrac12 \log\det(I + K^{1/2} \mathrm{diag}(w) K^{1/2}/\lambda)}{F(w) =
#'   1/2 log det(I + K^1/2 diag(w) K^1/2 / lambda)}
#'   is concave, so at every \eqn{w \ge 0} its tangent bounds it:
#'   \eqn{\gamma_T \le F(w) + T \max_x s_x - \sum_x w_x s_x}{gamma_T <= F(w) + T max s - sum(w s)} with
#'   \eqn{s_x = \sigma_w^2(x)/(2\lambda)}{s_x = sd_w(x)^2 / (2 lambda)}. That certificate is what is
#'   returned; the design is improved until it is within a share `tolerance` of \eqn{F(w)}.
#'
#' Upper bounds include what the low-rank factor of the Gram matrix leaves out.
#'
#' @param kernel a kernel, see [kernel_se()].
#' @param x the points: a numeric vector, matrix or data.frame with a row each, or a finite
#'   domain. Without `rounds`: the points observed, repeats counted. With `rounds`:
#'   the points to choose from. With a [kernel_matrix()]: arm numbers (in the last column if
#'   other inputs come along); left out, all arms.
#' @param noise_var \eqn{\lambda > 0}, the noise variance (squared units of the reward).
#' @param rounds \eqn{T}, the number of observations to choose, an integer from 1 to 1e7; `NULL`, the default: `x` are
#'   the points observed.
#' @param method `"greedy"` (the default), `"spectral"` or `"doptimal"`; with `rounds` only.
#' @param tolerance `"doptimal"` only: the relative gap at which to stop.
#' @return Without `rounds` one number, in nats. With `rounds` a vector of
#'   length `rounds`, \eqn{\gamma_1, \dots, \gamma_T}{gamma_1, ..., gamma_T}, nondecreasing.
#' @section Errors: a `gpbandits_error` if an argument is not as described, for a box, or if a
#'   covariance is indefinite.
#' @section Cost: with \eqn{r} the numerical rank of the Gram matrix over \eqn{n} points, greedy
#'   takes \eqn{O(n r)} per round and spectral \eqn{O(n r^2 + r^3)} once. D-optimal designs are solved
#'   for some tens of the \eqn{T} only, certificates in between are combined: a fraction of a second
#'   for a smooth kernel over 1000 points, up to a minute for a rough one of full rank.
#' @references Srinivas, Krause, Kakade, Seeger (2010), Gaussian process optimization in the
#'   bandit setting, Section 5 and Theorem 4. The D-optimal bound is this package's.
#' @seealso [regret_bound()], [gains].
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
  if (!missing(method)) stop_argument("method", "given without `rounds`", "given together with `rounds`")
  if (!missing(tolerance)) stop_argument("tolerance", "given without `rounds`", "given together with `rounds`")
  if (nrow(points$points) == 0) return(0)
  row <- row_numbers(points$points)
  first <- which(!duplicated(row))
  K <- core(cpp_kernel_gram_symmetric(points$kernel, points$points[first, , drop = FALSE]))
  core(cpp_information_gain(K, tabulate(match(row, row[first])), noise_var))
}

# A value or bound of the largest gain of 1, 2, ..., `rounds` of the points.
largest_information <- function(points, noise_var, rounds, method, tolerance) {
  if (nrow(points$points) == 0) stop_argument("x", "no point", "at least one point")
  rounds <- check_count(rounds, upper = most_bounded)
  method <- check_choice(method, c("greedy", "spectral", "doptimal"))
  tolerance <- check_number(tolerance, lower = 1e-9, upper = 1)
  core(switch(
    method,
    greedy = cpp_greedy_information(points$kernel, points$points, rounds, noise_var),
    spectral = cpp_spectral_information(points$kernel, points$points, rounds, noise_var),
    doptimal = cpp_doptimal_information(points$kernel, points$points, rounds, noise_var, tolerance)
  ))
}

# What the core needs for a kernel over points: the resolved kernel and a matrix.
information_points <- function(kernel, x) {
  kernel <- as_kernel(kernel)
  arms <- matrix_size(kernel)
  if (is.null(x)) {
    if (is.null(arms)) stop_argument("x", "missing", "points, or a finite domain")
    x <- seq_len(arms)
  }
  if (inherits(x, "bandit_domain")) x <- points_of_domain(check_domain(x, "x"), kernel)
  x <- check_matrix(x, "x")
  inputs <- ncol(x) - !is.null(arms)
  names <- if (inputs > 0) check_input_names(colnames(x)[seq_len(inputs)], inputs, "x")
  list(kernel = resolve_kernel(kernel, names, arms), points = gram_points(x, arms, "x"))
}

# Equal rows get equal numbers.
row_numbers <- function(x) {
  id <- rep_len(1L, nrow(x))
  for (column in seq_len(ncol(x))) {
    value <- match(x[, column], unique(x[, column]))
    id <- match(id * (max(value) + 1) + value, unique(id * (max(value) + 1) + value))
  }
  id
}

# All points that a kernel over a finite domain can be given: numbered in the last column (from 1) where it
# has a matrix.
points_of_domain <- function(domain, kernel, arg = "x") {
  places <- all_places(domain)
  if (is.null(places)) stop_argument(arg, describe_domain(domain), "points or a finite domain")
  points <- from_model_inputs(domain, places$inputs)
  if (!has_matrix(kernel)) return(points)
  resolve_kernel(kernel, domain$names, place_total(places))
  cbind(points, places$arm + 1)
}

# Bounds and gains are a number for each round.
most_bounded <- 1e7
