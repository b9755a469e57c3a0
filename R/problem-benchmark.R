# Test functions with known optima. Layer: simulation.

#' Standard test functions for global optimisation
#'
#' `benchmark_function()` returns a test function with its known maximum, such as Branin, Hartmann or Rosenbrock.
#'
#' The functions are rewards to **maximise**. Each is the negative of the function that is usually minimised. Hartmann
#' and Michalewicz, whose usual form has a minus sign in front, have none here.
#'
#' \tabular{llll}{
#'   `name` \tab dimension \tab box \tab function to maximise \cr
#'   `rosenbrock` \tab any >= 2 (default 2) \tab \[-5, 10\] \tab -sum_i (100 (x_(i+1) - x_i^2)^2 + (1 - x_i)^2) \cr
#'   `hartmann3`, `hartmann6` \tab 3, 6 \tab \[0, 1\] \tab sum_i a_i exp(-sum_j A_ij (x_j - P_ij)^2), i = 1..4 \cr
#'   `branin` \tab 2 \tab \[-5, 10\] x \[0, 15\] \tab -(x2 - 5.1 x1^2 / (4 pi^2) + 5 x1 / pi - 6)^2 - 10 (1 - 1 / (8
#'     pi)) cos x1 - 10 \cr
#'   `ackley` \tab any (default 2) \tab \[-32.768, 32.768\] \tab 20 exp(-0.2 sqrt(mean x_i^2)) + exp(mean cos 2 pi
#'     x_i) - 20 - e \cr
#'   `levy` \tab any (default 2) \tab \[-10, 10\] \tab -sin^2(pi w_1) - sum_(i<d) (w_i - 1)^2 (1 + 10 sin^2(pi w_i +
#'     1)) - (w_d - 1)^2 (1 + sin^2(2 pi w_d)), w = 1 + (x - 1) / 4 \cr
#'   `michalewicz` \tab any (default 2) \tab \[0, pi\] \tab sum_i sin(x_i) sin^20(i x_i^2 / pi) \cr
#'   `goldstein_price` \tab 2 \tab \[-2, 2\] \tab -(1 + (x1 + x2 + 1)^2 (19 - 14 x1 + 3 x1^2 - 14 x2 + 6 x1 x2 + 3
#'     x2^2)) (30 + (2 x1 - 3 x2)^2 (18 - 32 x1 + 12 x1^2 + 48 x2 - 36 x1 x2 + 27 x2^2)) \cr
#'   `six_hump_camel` \tab 2 \tab \[-3, 3\] x \[-2, 2\] \tab -(4 - 2.1 x1^2 + x1^4 / 3) x1^2 - x1 x2 - (4 x2^2 - 4) x2^2
#'     \cr
#'   `styblinski_tang` \tab any (default 2) \tab \[-5, 5\] \tab -sum_i (x_i^4 - 16 x_i^2 + 5 x_i) / 2 \cr
#' }
#'
#' Optima are exact, or correct to machine precision. The Michalewicz function is a sum of functions of one input each,
#' so its maximum is found separately for each input.
#'
#' @param name one of the names in the table in Details, such as `"branin"`.
#' @param dimension number of inputs, an integer, for the functions that allow any. `NULL` (default): the default in the
#'   table.
#' @return An object of class `bandit_test_function`, a list with
#'
#' * `name`, `dimension`;
#' * `f`: a function of a matrix with one row per point, a data.frame, or one point as a vector, which returns one
#'   number per row;
#' * `domain`: a [box_domain()];
#' * `optimum`: the largest value;
#' * `optimiser`: a matrix whose rows are *all* points with the largest value;
#' * `source`: a reference.
#' @section Errors: A `gpbandits_error` if the name is unknown, or if the function does not have this dimension.
#' @aliases test_function
#' @seealso [bandit_problem()], [benchmark_problem()].
#' @references Dixon, L. C. W. and Szego, G. P. (1978). The global optimization problem: an introduction. In *Towards
#'   Global Optimisation 2*, 1-15. North-Holland. Each object's `source` names the function's own reference.
#' @concept test functions
#' @concept global optimization
#' @concept benchmark
#' @examples
#' branin <- benchmark_function("branin")
#' branin$f(branin$optimiser)
#' problem <- bandit_problem(branin$domain, branin$f, noise = 0.1,
#'                           optimum = branin$optimum)
#' benchmark_function("ackley", dimension = 5)$optimum
#' @export
benchmark_function <- function(name, dimension = NULL) {
  name <- check_choice(name, names(test_function_makers))
  maker <- test_function_makers[[name]]
  default <- maker$dimension
  if (is.null(dimension)) dimension <- default
  d <- if (maker$any) {
    check_count(dimension, lower = maker$least)
  } else {
    check_count(dimension, lower = default, upper = default)
  }
  parts <- maker$make(d)
  optimiser <- matrix(parts$optimiser, ncol = d, dimnames = list(NULL, paste0("x", seq_len(d))))
  f <- parts$f
  structure(list(name = name, dimension = d, f = function(x) f(check_matrix(x, columns = d)),
                 domain = box_domain(rep_len(parts$lower, d), rep_len(parts$upper, d)),
                 optimum = parts$optimum, optimiser = optimiser, source = maker$source),
            class = "bandit_test_function")
}

test_function_entry <- list(settings = alist(
  name = check_string(name), dimension = check_count(dimension), f = check_function(f),
  domain = check_domain(domain, "domain"), optimum = check_number(optimum), optimiser = check_matrix(optimiser),
  source = check_string(source)
))

#' @export
print.bandit_test_function <- function(x, ...) {
  check_class(x, "bandit_test_function")
  cat(sprintf("<test function %s, to be maximised: %s, optimum %.10g at %s>\n",
              x$name, amount_of(x$dimension, "input"), x$optimum, amount_of(nrow(x$optimiser), "point")))
  print(x$domain)
  cat("source:", x$source, "\n")
  invisible(x)
}

# --- The functions: f of a checked matrix, bounds, optimum, optimisers ------------

rosenbrock_parts <- function(d) {
  f <- function(x) {
    a <- x[, -d, drop = FALSE]
    b <- x[, -1, drop = FALSE]
    -rowSums(100 * (b - a^2)^2 + (1 - a)^2)
  }
  list(f = f, lower = -5, upper = 10, optimum = 0, optimiser = rep(1, d))
}

# sum_i weight_i exp(-sum_j A_ij (x_j - P_ij)^2)
hartmann_value <- function(x, A, P) {
  weight <- c(1, 1.2, 3, 3.2)
  value <- numeric(nrow(x))
  for (i in 1:4) {
    gap <- x - rep(P[i, ], each = nrow(x))
    value <- value + weight[i] * exp(-drop(gap^2 %*% A[i, ]))
  }
  value
}

hartmann3_parts <- function(d) {
  A <- rbind(c(3, 10, 30), c(0.1, 10, 35), c(3, 10, 30), c(0.1, 10, 35))
  P <- rbind(c(0.3689, 0.1170, 0.2673), c(0.4699, 0.4387, 0.7470),
             c(0.1091, 0.8732, 0.5547), c(0.0381, 0.5743, 0.8828))
  list(f = function(x) hartmann_value(x, A, P), lower = 0, upper = 1,
       optimum = 3.8627797873326625,
       optimiser = c(0.114588876655068968, 0.555648894616930045, 0.852546984686677438))
}

hartmann6_parts <- function(d) {
  A <- rbind(c(10, 3, 17, 3.5, 1.7, 8), c(0.05, 10, 17, 0.1, 8, 14),
             c(3, 3.5, 1.7, 10, 17, 8), c(17, 8, 0.05, 10, 0.1, 14))
  P <- rbind(c(0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886),
             c(0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991),
             c(0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650),
             c(0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381))
  list(f = function(x) hartmann_value(x, A, P), lower = 0, upper = 1,
       optimum = 3.3223680114155148,
       optimiser = c(0.201689511006705424, 0.150010691823458480, 0.476873974221896990,
                     0.275332430494056068, 0.311651616600113246, 0.657300534065620306))
}

# The square vanishes and cos x1 = -1 at all three optima.
branin_parts <- function(d) {
  f <- function(x) {
    square <- x[, 2] - 5.1 / (4 * pi^2) * x[, 1]^2 + 5 / pi * x[, 1] - 6
    -square^2 - 10 * (1 - 1 / (8 * pi)) * cos(x[, 1]) - 10
  }
  list(f = f, lower = c(-5, 0), upper = c(10, 15), optimum = -10 / (8 * pi),
       optimiser = rbind(c(-pi, 12.275), c(pi, 2.275), c(3 * pi, 2.475)))
}

# Written with expm1 so that the value at the optimum is 0, not a rounding error.
ackley_parts <- function(d) {
  f <- function(x) {
    20 * expm1(-0.2 * sqrt(rowMeans(x^2))) + exp(1) * expm1(rowMeans(cos(2 * pi * x)) - 1)
  }
  list(f = f, lower = -32.768, upper = 32.768, optimum = 0, optimiser = rep(0, d))
}

levy_parts <- function(d) {
  f <- function(x) {
    w <- 1 + (x - 1) / 4
    inner <- w[, -d, drop = FALSE]
    last <- w[, d]
    -sinpi(w[, 1])^2 - rowSums((inner - 1)^2 * (1 + 10 * sin(pi * inner + 1)^2)) -
      (last - 1)^2 * (1 + sinpi(2 * last)^2)
  }
  list(f = f, lower = -10, upper = 10, optimum = 0, optimiser = rep(1, d))
}

michalewicz_parts <- function(d) {
  term <- function(x, i) sin(x) * sin(i * x^2 / pi)^20
  best <- vapply(seq_len(d), function(i) michalewicz_peak(term, i), 0)
  f <- function(x) {
    value <- numeric(nrow(x))
    for (i in seq_len(d)) value <- value + term(x[, i], i)
    value
  }
  list(f = f, lower = 0, upper = pi, optimum = f(matrix(best, 1)), optimiser = best)
}

# The maximiser of term i. A grid with more than 100 points per peak gives a starting interval. In it the root of d/dx
# log term = cot x + 40 i x / pi * cot(i x^2 / pi) is computed.
michalewicz_peak <- function(term, i) {
  x <- seq(0, pi, length.out = 400 * i + 2)
  top <- which.max(term(x, i))
  slope <- function(x) cos(x) * sin(i * x^2 / pi) + 40 * i * x / pi * cos(i * x^2 / pi) * sin(x)
  stats::uniroot(slope, x[top + c(-1, 1)], tol = 1e-15)$root
}

goldstein_price_parts <- function(d) {
  f <- function(x) {
    a <- x[, 1]
    b <- x[, 2]
    -(1 + (a + b + 1)^2 * (19 - 14 * a + 3 * a^2 - 14 * b + 6 * a * b + 3 * b^2)) *
      (30 + (2 * a - 3 * b)^2 * (18 - 32 * a + 12 * a^2 + 48 * b - 36 * a * b + 27 * b^2))
  }
  list(f = f, lower = -2, upper = 2, optimum = -3, optimiser = c(0, -1))
}

six_hump_camel_parts <- function(d) {
  f <- function(x) {
    a <- x[, 1]
    b <- x[, 2]
    -(4 - 2.1 * a^2 + a^4 / 3) * a^2 - a * b - (4 * b^2 - 4) * b^2
  }
  best <- c(0.0898420131003180, -0.7126564030207396)
  list(f = f, lower = c(-3, -2), upper = c(3, 2), optimum = 1.0316284534898774,
       optimiser = rbind(best, -best))
}

# Each input equals the same root of 4 x^3 - 32 x + 5.
styblinski_tang_parts <- function(d) {
  list(f = function(x) -rowSums(x^4 - 16 * x^2 + 5 * x) / 2, lower = -5, upper = 5,
       optimum = d * 39.1661657037714122, optimiser = rep(-2.9035340277711770, d))
}

# `any`: are other dimensions than the default possible? `least`: the smallest of them.
test_function_makers <- list(
  rosenbrock = list(make = rosenbrock_parts, dimension = 2, any = TRUE, least = 2, source = paste(
    "Rosenbrock, H. H. (1960). An automatic method for finding the greatest or",
    "least value of a function. The Computer Journal 3(3), 175-184.")),
  hartmann3 = list(make = hartmann3_parts, dimension = 3, any = FALSE, source = paste(
    "Hartman, J. K. (1973). Some experiments in global optimization. Naval Research",
    "Logistics Quarterly 20(3), 569-576; constants as in Dixon and Szego (1978).")),
  hartmann6 = list(make = hartmann6_parts, dimension = 6, any = FALSE, source = paste(
    "Hartman, J. K. (1973). Some experiments in global optimization. Naval Research",
    "Logistics Quarterly 20(3), 569-576; constants as in Dixon and Szego (1978).")),
  branin = list(make = branin_parts, dimension = 2, any = FALSE, source = paste(
    "Branin, F. H. (1972). Widely convergent method for finding multiple solutions of",
    "simultaneous nonlinear equations. IBM Journal of Research and Development 16(5), 504-522.")),
  ackley = list(make = ackley_parts, dimension = 2, any = TRUE, least = 1, source = paste(
    "Ackley, D. H. (1987). A Connectionist Machine for Genetic Hillclimbing. Kluwer.")),
  levy = list(make = levy_parts, dimension = 2, any = TRUE, least = 1, source = paste(
    "Levy, A. V. and Montalvo, A. (1985). The tunneling algorithm for the global",
    "minimization of functions. SIAM Journal on Scientific and Statistical Computing 6(1), 15-29.")),
  michalewicz = list(make = michalewicz_parts, dimension = 2, any = TRUE, least = 1, source = paste(
    "Michalewicz, Z. (1992). Genetic Algorithms + Data Structures = Evolution Programs. Springer.")),
  goldstein_price = list(make = goldstein_price_parts, dimension = 2, any = FALSE, source = paste(
    "Goldstein, A. A. and Price, J. F. (1971). On descent from local minima.",
    "Mathematics of Computation 25(115), 569-574.")),
  six_hump_camel = list(make = six_hump_camel_parts, dimension = 2, any = FALSE, source = paste(
    "Dixon, L. C. W. and Szego, G. P. (1978). The global optimization problem: an introduction.",
    "In Towards Global Optimisation 2, 1-15. North-Holland.")),
  styblinski_tang = list(make = styblinski_tang_parts, dimension = 2, any = TRUE, least = 1, source = paste(
    "Styblinski, M. A. and Tang, T.-S. (1990). Experiments in nonconvex optimization: stochastic",
    "approximation with function smoothing and simulated annealing. Neural Networks 3(4), 467-483."))
)

register_family("bandit_test_function", test_function_entry, open = TRUE)
