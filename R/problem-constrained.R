# Two problems with long-term constraints. Layer: simulation.

#' Benchmark problems with long-term constraints
#'
#' `benchmark_problem()` returns the two constrained problems of the experiments by Shi and Eryilmaz (2022).
#'
#' Both are nonconvex [bandit_problem()]s. A point is feasible if its constraint value is at most 0.
#'
#' @section "small_feasible": This problem (Gardner et al. 2014) is on the box \eqn{[0,6]^2}{[0, 6]^2}, with
#'
#' \deqn{f(x) = -\sin x_1 - x_2, \qquad g(x) = \sin x_1\sin x_2 + 0.95\le 0.}{f(x) = -sin(x1) - x2, g(x) = sin(x1)
#' sin(x2) + 0.95 <= 0.}
#'
#' 1.77 percent of the box are feasible. The optimum is at \eqn{(3\pi/2, \arcsin 0.95)}{(3 pi / 2, asin(0.95))}, where
#' \eqn{f = 1 - \arcsin 0.95 = -0.2532}{f = 1 - asin(0.95) = -0.2532}.
#'
#' @section "rate_allocation": The inputs are data rates \eqn{x\in[0,2]^4}{x in [0, 2]^4} of four servers. The reward is
#' the sum of their utilities, which are sigmoids for servers 1 and 3 and logarithms for servers 2 and 4. The constraint
#' comes from the price of electricity.
#'
#' \deqn{f(x) = \sum_i U_i(x_i), \qquad g(x) = 0.2x_1+0.4x_2+0.8x_3+1.2x_4-2\le 0}{f(x) = sum U_i(x_i), g(x) = 0.2 x1 +
#' 0.4 x2 + 0.8 x3 + 1.2 x4 - 2 <= 0}
#'
#' \deqn{U_i(x) = c_i\left(\frac{1}{1+e^{-a_i(x-b_i)}}+d_i\right),\quad i = 1, 3}{U_i(x) = c_i (1 / (1 + exp(-a_i (x -
#' b_i))) + d_i), i = 1, 3}
#'
#' \deqn{U_i(x) = c_i(\log(a_ix+b_i)+d_i),\quad i = 2, 4}{U_i(x) = c_i (log(a_i x + b_i) + d_i), i = 2, 4}
#'
#' The paper uses the constants of Lee, Mazumdar and Shroff (2005), which were not available to us. Here \eqn{c_i} and
#' \eqn{d_i} are such that \eqn{U_i(0) = 0} and \eqn{U_i(2) = 1}, the usual normalisation of these utilities. `a` and
#' `b` are our choice.
#'
#' @section Noise and optimum: Rewards have Gaussian noise of variance 0.01. With `noisy = TRUE` constraints have noise
#' too: Gaussian of variance 0.01 for `"small_feasible"`, uniform on \eqn{[-0.2, 0.2]} for `"rate_allocation"`.
#'
#' The best feasible value is computed by the problem. On a grid it is that of the best arm, which is slightly below
#' that of the box. On the box it is exact for `"small_feasible"`, and found by a numerical search for
#' `"rate_allocation"`.
#'
#' @param name the problem: `"small_feasible"` or `"rate_allocation"`.
#' @param grid points per input of an equidistant grid, an integer from 2 to 1000. `NULL`: the box. The default is the
#'   grid of the package's articles: 61 for `"small_feasible"`, 9 for `"rate_allocation"`.
#' @param noisy `TRUE` adds noise to the constraint values. `FALSE` (default): they are observed exactly.
#' @param a,b for `"rate_allocation"`: slopes and offsets of the utilities, four positive numbers each. Default: slopes
#'   10, 5, 10, 5, and offsets 1.
#' @param ... must be empty.
#' @return An object of class `bandit_problem`.
#' @section Errors: A `gpbandits_error` that names the argument.
#' @references Shi and Eryilmaz (2022), A Bayesian approach for stochastic continuum-armed bandit with long-term
#'   constraints, AISTATS; Gardner, Kusner, Xu, Weinberger and Cunningham (2014), Bayesian optimization with inequality
#'   constraints, ICML; Lee, Mazumdar and Shroff (2005), Non-convex optimization and rate control for multi-class
#'   services in the internet, IEEE/ACM Transactions on Networking 13.
#' @seealso [gp_ucb_noiseless_constraints()], [baseline_constrained()], [benchmark_function()].
#' @concept constrained optimization
#' @concept long-term constraints
#' @concept benchmark
#' @examples
#' benchmark_problem("small_feasible", grid = 41)
#' problem <- benchmark_problem("small_feasible", grid = 31, noisy = TRUE)
#' b <- gp_ucb_noisy_constraints(problem$domain, kernel_matern(2.5, 1), 0.01, epoch = 20, step = 0.5,
#'                               width = width_constant(2))
#' set.seed(1)
#' run_bandit(b, problem, rounds = 60)
#' @export
benchmark_problem <- function(name, grid = if (name == "small_feasible") 61 else 9, noisy = FALSE, a = c(10, 5, 10, 5),
                              b = c(1, 1, 1, 1), ...) {
  name <- check_choice(name, c("small_feasible", "rate_allocation"))
  check_dots_empty(...)
  if (!is.null(grid)) grid <- check_count(grid, lower = 2, upper = 1000)
  noisy <- check_flag(noisy)
  if (name == "rate_allocation") return(rate_allocation(grid, noisy, a, b))
  foreign <- c("a", "b")[!c(missing(a), missing(b))]
  if (length(foreign)) stop_unused(foreign[1], "it is for \"rate_allocation\"")
  small_feasible(grid, noisy)
}

small_feasible <- function(grid, noisy) {
  domain <- grid_or_box(grid, c(0, 0), c(6, 6))
  g <- function(x) sin(x[, 1]) * sin(x[, 2]) + 0.95
  if (!is.null(grid) && all(g(domain$x) > 0)) stop_argument("grid", describe(grid), "such that an arm is feasible")
  bandit_problem(domain, function(x) -sin(x[, 1]) - x[, 2], noise = 0.1, constraints = g,
                 constraint_noise = if (noisy) 0.1,
                 optimum = if (is.null(grid)) 1 - asin(0.95))
}

rate_allocation <- function(grid, noisy, a, b) {
  domain <- grid_or_box(grid, rep(0, 4), rep(2, 4))
  a <- check_numbers(a, lengths = 4, lower = 0, open_lower = TRUE)
  b <- check_numbers(b, lengths = 4, lower = 0, open_lower = TRUE)
  price <- c(0.2, 0.4, 0.8, 1.2)
  bandit_problem(domain, function(x) rowSums(rate_utilities(x, a, b)), noise = 0.1,
                 constraints = function(x) drop(x %*% price) - 2,
                 constraint_noise = if (noisy) function(n) stats::runif(n, -0.2, 0.2))
}

grid_or_box <- function(grid, lower, upper) {
  if (is.null(grid)) return(box_domain(lower, upper))
  axes <- Map(function(from, to) seq(from, to, length.out = grid), lower, upper)
  names(axes) <- paste0("x", seq_along(axes))
  finite_domain(as.matrix(expand.grid(axes)))
}

# A column per server, with values 0 at rate 0 and 1 at rate 2.
rate_utilities <- function(x, a, b) {
  utility <- function(i) {
    shape <- if (i %% 2) function(v) stats::plogis(a[i] * (v - b[i])) else function(v) log(a[i] * v + b[i])
    (shape(x[, i]) - shape(0)) / (shape(2) - shape(0))
  }
  do.call(cbind, lapply(1:4, utility))
}
