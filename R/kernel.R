# Covariance functions as plain lists, and their Gram matrices. Layer: model.

# The values of covariance functions are computed by the C++ core.
# A kernel is list(type, parameters..., dims), a sum or product list(type, parts).

#' Kernels: covariance functions of the prior
#'
#' A kernel is the covariance function of the Gaussian-process prior.
#' Kernels are made by the functions below, combined by `+` and `*`, and evaluated by [kernel_gram()]. Kernels of
#' categorical inputs are on the page [kernel_categorical()], custom kernels on [kernel_function()].
#'
#' Let \eqn{x, x'} be two points restricted to the inputs `dims`, \eqn{l_i} the lengthscale and \eqn{p_i} the period of
#' input \eqn{i}, \eqn{v} the `variance`, and
#' \deqn{s = \sum_i (x_i - x'_i)^2 / l_i^2.}{s = sum_i (x_i - x'_i)^2 / l_i^2.}
#'
#' \tabular{ll}{
#'   **kernel** \tab \eqn{k(x, x')} \cr
#'   `kernel_se` (squared exponential, Gaussian, RBF) \tab \eqn{v \exp(-s/2)}{v exp(-s/2)} \cr
#'   `kernel_matern` \tab \eqn{v\, 2^{1-\nu} r^\nu K_\nu(r) / \Gamma(\nu)}{v 2^(1-nu) r^nu K_nu(r) / Gamma(nu)},
#'     \eqn{r = \sqrt{2 \nu s}}{r = sqrt(2 nu s)} \cr
#'   `kernel_rq` (rational quadratic) \tab \eqn{v (1 + s / (2 \alpha))^{-\alpha}}{v (1 + s / (2 alpha))^(-alpha)} \cr
#'   `kernel_periodic` \tab \eqn{v \exp(-2 \sum_i \sin^2(\pi (x_i - x'_i) / p_i) / l_i^2)}{v exp(-2 sum_i sin^2(pi (x_i
#'     - x'_i) / p_i) / l_i^2)} \cr
#'   `kernel_linear` \tab \eqn{v\, x \cdot x'}{v x.x'}, without a constant \cr
#'   `kernel_matrix` \tab \eqn{K_{ab}}{K[a, b]} for the arms with numbers \eqn{a} and \eqn{b} \cr
#'   [kernel_categorical()] \tab \eqn{v \prod_i \rho_i^{[x_i \ne x'_i]}}{v prod_i rho_i^[x_i != x'_i]} \cr
#'   [kernel_function()] \tab \eqn{v f(x, x')}{v f(x, x')}, a custom function in R \cr
#'   `k1 + k2`, `k1 * k2` \tab the sum, the product of the two values \cr
#' }
#'
#' @section Matern kernels: \eqn{K_\nu} is the modified Bessel function of the second kind. The functions of a Matern
#'   prior have derivatives of every order below `nu`. As `nu` grows the kernel tends to the squared exponential one.
#'   For `nu` 1/2, 3/2 and 5/2 there are closed forms. Others use R's Bessel function, and from `nu = 200` the uniform
#'   expansion for large orders.
#' @section Units: `lengthscale` and `period` are in the units of the inputs, `variance` is in squared units of the
#'   reward (for `kernel_linear`: per squared unit of input). `nu` and `alpha` have no unit. Inputs are not rescaled.
#' @section Inputs: The inputs are the action's coordinates first, then the context's. One `lengthscale` (or `period`)
#'   applies to all inputs of `dims`, or there is one for each of them, in the order of `dims`. Names and numbers of
#'   `dims` are checked when the kernel is used with a domain.
#' @section Estimated parameters: [refit_every()] and [gp_fit()] estimate all variances, lengthscales, periods,
#'   correlations (at most 1) and `alpha`, each as its logarithm. `nu`, the matrix of `kernel_matrix` and the function
#'   of `kernel_function` stay unchanged. One lengthscale for all inputs is one parameter. In a product only the product
#'   of the factors' variances is identified by data: their ratio is arbitrary.
#' @section Strings: A string can be given wherever a kernel is expected, for the constructor with its defaults: `kernel
#'   = "matern"` is `kernel_matern()`. An unknown string is an error that lists the choices.
#' @section Errors:
#'   * `kernel_matern(0.2)` is an error, because a single number without a name most often means a lengthscale. Integers
#'     and halves of integers are taken as `nu`: `kernel_matern(2.5)`.
#'   * `K` must be square, symmetric (to 1e-8 of its largest entry) and positive semi-definite. It is an error if the
#'     smallest eigenvalue is below -1e-8 times the largest; the message says by how much. Deficient rank is allowed.
#'   * `kernel_matrix` needs a finite domain with one arm per row of `K`.
#' @param lengthscale positive: one number, or one for each input of `dims`, in the inputs' units. Default 1.
#' @param variance positive number: the prior variance of the reward, in its squared units (for `kernel_linear` of each
#'   weight). Default 1.
#' @param dims the inputs that the kernel uses: their numbers or names. `NULL` (default): all.
#' @return An object of class `bandit_kernel`.
#' @source Rasmussen and Williams (2006), *Gaussian Processes for Machine Learning*, chapter 4. Large orders: Abramowitz
#'   and Stegun (1964), 9.3.8.
#' @seealso [kernel_gram()], [kernel_categorical()], [kernel_function()], [gp_bandit()], [gp_fit()].
#' @concept covariance function
#' @concept Gaussian process prior
#' @concept RBF kernel
#' @concept squared exponential
#' @concept automatic relevance determination
#' @examples
#' k <- kernel_matern(nu = 2.5, lengthscale = 0.2)
#' k
#' kernel_gram(k, c(0, 0.1, 1))
#' # a trend with a yearly season, on the input "day"
#' kernel_linear(dims = "day") + kernel_se(90, dims = "day") * kernel_periodic(365, dims = "day")
#' # one lengthscale per input
#' kernel_se(lengthscale = c(0.1, 2))
#' # five sensors with a known covariance
#' kernel_matrix(0.5^abs(outer(1:5, 1:5, "-")))
#' @name kernels
NULL

#' @rdname kernels
#' @export
kernel_se <- function(lengthscale = 1, variance = 1, dims = NULL) {
  new_kernel("se")
}

#' @rdname kernels
#' @param nu positive number: the smoothness, without unit. Default 2.5.
#' @export
kernel_matern <- function(nu = 2.5, lengthscale = 1, variance = 1, dims = NULL) {
  if (!missing(nu) && missing(lengthscale)) check_smoothness(nu, substitute(nu), as.character(names(sys.call())[-1]))
  new_kernel("matern")
}

#' @rdname kernels
#' @param alpha positive number, without unit, by default 1: small values mix many lengthscales. As it grows the kernel
#'   tends to the squared exponential one.
#' @export
kernel_rq <- function(alpha = 1, lengthscale = 1, variance = 1, dims = NULL) {
  new_kernel("rq")
}

#' @rdname kernels
#' @param period positive: one number, or one for each input of `dims`, in the inputs' units. Default 1.
#' @export
kernel_periodic <- function(period = 1, lengthscale = 1, variance = 1, dims = NULL) {
  new_kernel("periodic")
}

#' @rdname kernels
#' @export
kernel_linear <- function(variance = 1, dims = NULL) new_kernel("linear")

#' Kernel for categorical inputs
#'
#' `kernel_categorical()` is a covariance function for inputs without order, such as levels of a factor.
#'
#' Any two different values have the same correlation (exchangeable, or compound symmetry). With \eqn{v} the `variance`
#' and \eqn{\rho_i}{rho_i} the `correlation` of input \eqn{i},
#' \deqn{k(x, x') = v \prod_i \rho_i^{[x_i \ne x'_i]}.}{k(x, x') = v prod_i rho_i^[x_i != x'_i].}
#'
#' It is the covariance of a common effect and one of each value. Over several inputs it is the product.
#'
#' @section Levels with features: `kernel_categorical(features = )` is for one input whose values are numbers of levels,
#'   1, 2, ..., that `features` describe. With \eqn{\phi}{phi} the row of a level, \eqn{\omega}{own} = `own`, and
#'   \eqn{k_{5/2}} the Matern correlation with \eqn{\nu=5/2}{nu = 5/2}, it is
#'   \deqn{v\,[(1-\omega)k_{5/2}(\phi,\phi') + \omega 1\{\mathrm{same\ level}\}].}{v [(1 - own) k(phi, phi') + own
#'   1{same level}].} Levels with equal features may still differ. [search_space()] uses this kernel if `param_factor()`
#'   has `features`.
#' @param correlation correlation between different values, above 0 and at most 1: one number (0.5 by default), or one
#'   for each input of `dims`.
#' @param variance positive number: the prior variance of the reward, in its squared units. Default 1.
#' @inheritParams kernels
#' @param features a numeric matrix that describes the levels: a row for each level, in their order, each column from 0
#'   to 1. `correlation` is then not used. `NULL` (default): none.
#' @param lengthscale with `features`: positive, one number or one per column of `features`; 0.5 by default.
#' @param own with `features`: the proportion of the variance that is not shared by similar levels, above 0 and at most
#'   1; 0.1 by default.
#' @return An object of class `bandit_kernel`.
#' @source Qian, Wu and Wu (2008), Gaussian process models for computer experiments with qualitative and quantitative
#'   factors, Technometrics 50.
#' @seealso [kernels], [search_space()].
#' @concept categorical inputs
#' @concept qualitative factors
#' @concept mixed inputs
#' @concept compound symmetry
#' @examples
#' # a machine's setting and its maker, which has no order
#' k <- kernel_se(0.2, dims = "x") * kernel_categorical(0.3, dims = "kind")
#' # Two points of the same kind, and of different kinds:
#' kernel_gram(k, cbind(x = c(0, 0.1, 0.1), kind = c(1, 1, 2)))
#' auto_bandit(search_space(x = c(0, 1), kind = c("a", "b")))$config$kernel
#' @export
kernel_categorical <- function(correlation = 0.5, variance = 1, dims = NULL, features = NULL, lengthscale = 0.5,
                               own = 0.1) {
  if (is.null(features)) {
    for (arg in c(if (!missing(lengthscale)) "lengthscale", if (!missing(own)) "own")) {
      stop_unused(arg, "it is used with `features` only")
    }
    return(new_kernel("categorical"))
  }
  if (!missing(correlation)) {
    stop_unused("correlation", "it follows from `features`")
  }
  new_kernel("levels")
}

#' @rdname kernels
#' @param K symmetric positive semi-definite matrix, n x n for n arms, in squared units of the reward. Rows with names
#'   belong to the arms of these names.
#' @export
kernel_matrix <- function(K) {
  K <- check_covariance(K)
  new_kernel("matrix")
}

#' Custom kernels
#'
#' `kernel_function()` makes a kernel from a covariance function written in R. It can be used like every other kernel,
#' in sums and products too. It is slow: R is called for each row that is needed.
#'
#' `f(X, Y)` is called with two matrices, with one row per point and a named column per input of `dims`. It returns the
#' `nrow(X)` x `nrow(Y)` matrix of covariances. The kernel is \eqn{v f(x, x')}{v f(x, x')}, with \eqn{v} the `variance`.
#' `f` must not draw random numbers.
#'
#' In a box, gradients are finite differences. Methods that need sample paths of the prior (Thompson sampling in a box)
#' are not supported.
#' @param f a function of two matrices of points that returns the matrix of their covariances; see Details.
#' @param variance positive number, without unit, that multiplies the covariances of `f`. Default 1.
#' @inheritParams kernels
#' @return An object of class `bandit_kernel`.
#' @section Errors: When a bandit or a regression first uses the kernel, `f` is tried on some of its points. The matrix
#'   must have the right size, and be finite, symmetric and positive semi-definite. Each value may depend on its pair of
#'   points only.
#' @seealso [kernels].
#' @concept custom covariance function
#' @concept custom kernel
#' @examples
#' # Brownian motion
#' brown <- kernel_function(function(X, Y) outer(X[, 1], Y[, 1], pmin)) # Brownian motion
#' kernel_gram(brown, c(1, 2, 4))
#' b <- gp_bandit(1:10, brown, noise_var = 0.1, policy_ucb(2))
#' b$add(arm = c(2, 7), reward = c(0.5, 2))
#' b$suggest()
#' @export
kernel_function <- function(f, variance = 1, dims = NULL) new_kernel("function")

new_kernel <- function(type) new_part("bandit_kernel", type, parent.frame())

# What a kernel states of itself:
#   per_input        settings that have one value for each of its inputs, or one for all;
#   multiplies       is it a product of its `parts`?
#   of_arms          a matrix over them, somewhere in it; own_function: a function of the user's;
#   fitted           names of the settings that are fitted, in the core's order;
#   prior_paths      can functions be drawn from it where arms cannot be counted?
#   falls            does it fall with the distance between two points, and depend on nothing else?
#   smoothness       nu; Inf: smooth, with a lengthscale that can shrink; NULL: not of that family;
#   gain_growth      a function of the kernel and the number of inputs: the `factor` and the powers of log s and s in
#                    its rate of information, see gain_rate(); NULL where none is known; sharp_growth: Vakili et al.'s;
#   closed_form      does its square average over a box in closed form?
#   unitless         its lengthscale has no unit; grows: its variance grows with the squares of the inputs;
#   resolved         a function that completes its settings for the core;
#   title            for people.
kernel_traits <- list(
  per_input = c("lengthscale", "period", "correlation"), multiplies = FALSE, of_arms = FALSE,
  own_function = FALSE, fitted = character(),
  prior_paths = TRUE, falls = FALSE, smoothness = NULL, gain_growth = NULL,
  sharp_growth = function(kernel) trait(kernel, "gain_growth"), closed_form = FALSE, unitless = FALSE, grows = FALSE,
  resolved = function(kernel) function(settings, kernel, names) settings, title = NULL
)

any_part <- function(name) function(kernel) any(vapply(kernel$parts, trait, NA, name))
composite_traits <- list(of_arms = any_part("of_arms"), own_function = any_part("own_function"),
                         prior_paths = function(kernel) all(vapply(kernel$parts, trait, NA, "prior_paths")))

# One lengthscale for all inputs counts as one parameter.
resolve_stationary <- function(settings, kernel, names) {
  settings$isotropic <- length(kernel$lengthscale) == 1
  settings
}

kernel_entries <- list(
  se = list(
    settings = alist(dims = check_dims(dims), lengthscale = check_per_input(lengthscale, dims),
                     variance = check_positive(variance)),
    traits = list(
      fitted = c("lengthscale", "variance"), smoothness = Inf, closed_form = TRUE, falls = TRUE,
      title = "squared exponential (smooth functions)", resolved = function(kernel) resolve_stationary,
      gain_growth = function(kernel) function(kernel, d) c(factor = 1, log_power = d + 1, power = 0)
    )
  ),
  matern = list(
    settings = alist(dims = check_dims(dims), nu = check_number(nu, lower = 0, open_lower = TRUE),
                     lengthscale = check_per_input(lengthscale, dims), variance = check_positive(variance)),
    traits = list(
      fitted = c("lengthscale", "variance"), falls = TRUE, smoothness = function(kernel) kernel$nu,
      title = function(kernel) {
        sprintf("Matern, nu = %s (%s)", format(kernel$nu, digits = 4), smoothness_text(kernel$nu))
      },
      resolved = function(kernel) resolve_stationary,
      gain_growth = function(kernel) function(kernel, d) {
        c(factor = 1, log_power = 1, power = d * (d + 1) / (2 * kernel$nu + d * (d + 1)))
      },
      sharp_growth = function(kernel) function(kernel, d) {
        c(factor = 1, log_power = 2 * kernel$nu / (2 * kernel$nu + d), power = d / (2 * kernel$nu + d))
      }
    )
  ),
  rq = list(
    settings = alist(dims = check_dims(dims), alpha = check_positive(alpha),
                     lengthscale = check_per_input(lengthscale, dims), variance = check_positive(variance)),
    traits = list(fitted = c("alpha", "lengthscale", "variance"), falls = TRUE,
                  resolved = function(kernel) resolve_stationary,
                  title = "rational quadratic (smooth functions of many lengthscales)")
  ),
  periodic = list(
    settings = alist(dims = check_dims(dims), period = check_per_input(period, dims),
                     lengthscale = check_per_input(lengthscale, dims), variance = check_positive(variance)),
    traits = list(fitted = c("period", "lengthscale", "variance"), unitless = TRUE,
                  title = "periodic (smooth functions that repeat)",
                  resolved = function(kernel) function(settings, kernel, names) {
                    settings$one_period <- length(kernel$period) == 1
                    resolve_stationary(settings, kernel, names)
                  })
  ),
  linear = list(
    settings = alist(dims = check_dims(dims), variance = check_positive(variance)),
    traits = list(fitted = "variance", grows = TRUE, title = "linear (weighted sums of the inputs)",
                  gain_growth = function(kernel) function(kernel, d) c(factor = d, log_power = 1, power = 0))
  ),
  categorical = list(
    settings = alist(dims = check_dims(dims), correlation = check_correlation(correlation, dims),
                     variance = check_positive(variance)),
    traits = list(fitted = c("correlation", "variance"),
                  title = "categorical (different values equally related)",
                  resolved = function(kernel) function(settings, kernel, names) {
                    settings$one_correlation <- length(kernel$correlation) == 1
                    settings
                  })
  ),
  levels = list(
    settings = alist(features = check_level_features(features),
                     lengthscale = check_per_feature(lengthscale, features),
                     own = check_number(own, lower = 0, upper = 1, open_lower = TRUE),
                     variance = check_positive(variance), dims = check_one_dim(dims)),
    traits = list(fitted = c("lengthscale", "own", "variance"), unitless = TRUE,
                  per_input = character(), title = "levels with features (the more alike, the more related)",
                  resolved = function(kernel) function(settings, kernel, names) {
                    if (length(names) != 1) {
                      stop_argument("dims", describe(kernel$dims), "the input whose levels these are")
                    }
                    settings
                  })
  ),
  "function" = list(
    settings = alist(f = check_function(f), dims = check_dims(dims), variance = check_positive(variance)),
    traits = list(fitted = "variance", own_function = TRUE, prior_paths = FALSE, title = "your own function",
                  resolved = function(kernel) function(settings, kernel, names) {
                    settings$f <- checked_gram(kernel$f, names)
                    settings
                  })
  ),
  matrix = list(
    settings = alist(K = check_gram(K)),
    traits = list(of_arms = TRUE, title = function(kernel) {
      sprintf("covariance matrix over %d arms (variances %s to %s)", nrow(kernel$K),
              format(min(diag(kernel$K)), digits = 4), format(max(diag(kernel$K)), digits = 4))
    })
  ),
  sum = list(settings = alist(parts = check_kernel_parts(parts)), traits = composite_traits),
  product = list(settings = alist(parts = check_kernel_parts(parts)),
                 traits = c(composite_traits, multiplies = TRUE))
)

check_kernel_parts <- function(parts) {
  if (!is.list(parts) || length(parts) == 0) stop_argument("parts", describe(parts), "a list of kernels")
  lapply(parts, check_class, "bandit_kernel", "parts")
}

# A matrix that was checked to be a covariance: repeats the checks that need no eigenvalues.
check_gram <- function(K) {
  whole <- is.matrix(K) && is.double(K) && nrow(K) == ncol(K) && nrow(K) > 0
  if (!whole || !all(is.finite(K)) || max(abs(K)) > largest_number || any(diag(K) < 0) || any(K != t(K))) {
    stop_argument("K", describe(K), "a covariance matrix")
  }
  K
}

check_level_features <- function(features) {
  features <- unname(check_matrix(features, "features"))
  if (nrow(features) == 0 || ncol(features) == 0) stop_argument("features", describe(features), "a row for each level")
  features
}

check_per_feature <- function(lengthscale, features) {
  lengthscale <- check_numbers(lengthscale, "lengthscale", lengths = unique(c(1, ncol(features))),
                               lower = 1 / largest_number,
                               upper = largest_number)
  as.vector(lengthscale, "double")
}

check_one_dim <- function(dims) {
  dims <- check_dims(dims)
  if (length(dims) > 1) stop_argument("dims", describe(dims), "one input, whose values are levels by number")
  dims
}

check_correlation <- function(correlation, dims) {
  correlation <- check_per_input(correlation, dims)
  if (any(correlation > 1)) stop_argument("correlation", describe(correlation), "above 0 and at most 1")
  correlation
}

# The smoothness nu of kernels with a lengthscale, which determines how often their functions are differentiable. Other
# kernels are errors.
kernel_smoothness <- function(kernel, arg = "kernel", allowed = "kernel_se() or kernel_matern()") {
  kernel <- as_kernel(kernel, arg)
  nu <- trait(kernel, "smoothness")
  if (is.null(nu)) stop_argument(arg, sprintf("a kernel of type %s", kernel$type), allowed)
  nu
}

# ---- checks -----------------------------------------------------------------

as_kernel <- function(kernel, arg = "kernel") as_part(kernel, "bandit_kernel", arg, "kernel_se(), kernel_matern(), ...")

check_positive <- function(x, arg = deparse(substitute(x))) {
  if (!missing(x) && is_number(x) && length(x) == 1 && isTRUE(x <= 0)) {
    check_number(x, arg, lower = 0, open_lower = TRUE)
  }
  check_number(x, arg, lower = 1 / largest_number, upper = largest_number)
}

# kernel_se(0.2) sets the lengthscale, so kernel_matern(0.2) is probably meant to do so too; kernel_matern(nu) is not.
# `written`: the argument's expression in the call; `given`: the names of the call's arguments.
check_smoothness <- function(nu, written, given) {
  named <- "nu" %in% all.vars(written) || any(startsWith("nu", given[nzchar(given)]))
  if (named || !is_number(nu) || length(nu) != 1 || !is.finite(nu) || nu <= 0 || 2 * nu == round(2 * nu)) {
    return(invisible())
  }
  stop_argument("nu", sprintf("%s without its name", describe(nu)),
                sprintf("named (`nu = %s`) unless it is an integer or half of one", describe(nu)),
                try = sprintf("`lengthscale = %s` if it is a lengthscale", describe(nu)))
}

check_per_input <- function(x, dims, arg = deparse(substitute(x))) {
  force(arg)                            # before `x` is changed
  lengths <- if (!is.null(dims)) unique(c(1, length(dims)))
  x <- check_numbers(x, arg, lengths = lengths, lower = 0, open_lower = TRUE)
  if (length(x) == 0) stop_argument(arg, describe(x), "one positive number, or one for each input")
  in_range <- all(x >= 1 / largest_number & x <= largest_number)
  if (!in_range) check_numbers(x, arg, lower = 1 / largest_number, upper = largest_number)
  as.vector(x, "double")
}

check_dims <- function(dims, arg = "dims") {
  if (is.null(dims)) return(NULL)
  allowed <- "NULL (all inputs), or distinct numbers or names of inputs"
  named <- are_names(dims)
  numbered <- is_number(dims) && all(is.finite(dims)) && all(dims >= 1) && all(dims == round(dims))
  if (!(named || (numbered && !anyDuplicated(dims))) || length(dims) == 0) {
    stop_argument(arg, describe(dims), allowed)
  }
  if (named) as.vector(dims) else as.vector(dims, "double")
}

# Symmetric and positive semi-definite up to rounding; returned exactly symmetric.
check_covariance <- function(K, arg = "K", tolerance = 1e-8) {
  named <- if (!missing(K)) names_of_arms(K)
  K <- check_matrix(K, arg)
  dimnames(K) <- NULL
  if (nrow(K) != ncol(K) || nrow(K) == 0) stop_argument(arg, describe(K), "a square matrix")
  variances <- abs(diag(K))
  if (max(abs(K)) > largest_number || any(variances > 0 & variances < 1 / largest_number)) {
    stop_argument(arg, "one whose numbers overflow or underflow when they are squared",
                  "a matrix with variances of 0, or between 1e-150 and 1e150")
  }
  asymmetry <- max(abs(K - t(K)))
  if (asymmetry > tolerance * max(abs(K))) {
    stop_argument(arg, sprintf("one with entries that differ by %.3g from their mirror images", asymmetry),
                  "a symmetric matrix", try = "`(K + t(K)) / 2`")
  }
  K <- (K + t(K)) / 2
  check_semidefinite(K, arg, tolerance)
  if (!is.null(named)) dimnames(K) <- list(named, named)
  K
}

# The names of a matrix's rows and columns, if they are names of arms (numbers of rows are no names).
names_of_arms <- function(K) {
  if (length(dim(K)) != 2) return(NULL)
  rows <- rownames(K)
  if (are_names(rows) && !all(grepl("^[0-9]*$", rows)) && identical(rows, colnames(K))) rows
}

# A kernel whose matrices have their rows in the order of the arms, if both have names.
in_order_of_arms <- function(kernel, domain) {
  if (is_composite(kernel)) {
    kernel$parts <- lapply(kernel$parts, in_order_of_arms, domain)
    return(kernel)
  }
  rows <- if (has_matrix(kernel)) rownames(kernel$K)
  labels <- if (!is.null(rows)) arm_labels(domain)
  if (is.null(labels)) return(kernel)
  if (!setequal(rows, labels)) {
    stop_argument("kernel", sprintf("kernel_matrix() with rows named %s", quoted(rows, 4)),
                  sprintf("one whose rows have no names, or those of the arms (%s)", quoted(labels, 4)))
  }
  kernel$K <- kernel$K[labels, labels]
  kernel
}

# With inputs so small that their squares underflow, a linear kernel would have variance 0 and f would be exactly 0.
# `largest`: the largest absolute value of each input.
check_linear_scale <- function(kernel, largest, names) {
  if (is_composite(kernel)) return(invisible(lapply(kernel$parts, check_linear_scale, largest, names)))
  if (!trait(kernel, "grows")) return(invisible())
  size <- max(0, largest[resolve_dims(kernel$dims, names) + 1L], na.rm = TRUE)
  if (size > 0 && kernel$variance * size^2 < 1 / largest_number) {
    stop_argument("kernel", sprintf("kernel_linear() of inputs of at most %s", exact_numbers(size)),
                  "one whose variance there is at least 1e-150", try = "other units for the inputs")
  }
}

# A Cholesky factorisation decides the usual case at a fraction of the cost.
check_semidefinite <- function(K, arg, tolerance) {
  top <- max(diag(K))
  shifted <- K + diag(tolerance * top, nrow(K))
  if (top > 0 && !is.null(attempt(chol(shifted)))) return(invisible())
  values <- range(eigen(K, symmetric = TRUE, only.values = TRUE)$values)
  if (values[1] < -tolerance * max(values[2], 0)) {
    stop_argument(arg,
                  sprintf("an indefinite one: its smallest eigenvalue is %.3g, its largest %.3g%s", values[1],
                          values[2], relative_text(values)), "a positive semi-definite matrix",
                  try = "`K + diag(1e-8, nrow(K))` if only rounding is the cause")
  }
}

relative_text <- function(values) {
  if (values[2] <= 0) return("")
  sprintf(" (ratio %.3g; down to -1e-08 passes as rounding)", values[1] / values[2])
}

# ---- sums and products ------------------------------------------------------

#' @rdname kernels
#' @param e1,e2 two kernels.
#' @export
Ops.bandit_kernel <- function(e1, e2) {
  types <- c("+" = "sum", "*" = "product")
  if (!.Generic %in% names(types)) {
    stop_gpbandits("argument", "Kernels can be added (`+`) and multiplied (`*`); `", .Generic,
                   "` is not defined for them.", argument = .Generic)
  }
  hint <- "kernel_se(), kernel_matern(), ...; to scale a kernel set its `variance`"
  check_class(e1, "bandit_kernel", "left operand", hint)
  if (missing(e2)) {
    stop_gpbandits("argument",
                   sprintf("`%s` of kernels needs two of them. The right operand must be a kernel: %s.", .Generic,
                           hint), argument = "right operand")
  }
  check_class(e2, "bandit_kernel", "right operand", hint)
  type <- types[[.Generic]]
  parts <- c(parts_as(e1, type), parts_as(e2, type))
  new_kernel(type)
}

# (a + b) + c is one sum of three parts.
parts_as <- function(kernel, type) {
  if (identical(kernel$type, type)) kernel$parts else list(kernel)
}

is_composite <- function(kernel) !is.null(kernel$parts)

has_matrix <- function(kernel) trait(kernel, "of_arms")

# The smoothness of its Matern parts; NULL without any. (In kernels that are averaged over, all parts have the same.)
smoothness_of <- function(kernel) {
  if (is_composite(kernel)) unlist(lapply(kernel$parts, smoothness_of)) else kernel$nu
}

with_smoothness <- function(kernel, nu) {
  if (is_composite(kernel)) kernel$parts <- lapply(kernel$parts, with_smoothness, nu = nu)
  else if (!is.null(kernel$nu)) kernel$nu <- nu
  kernel
}

# ---- parameters -------------------------------------------------------------

# All parameters that can be fitted, on their natural scale, named like "se.lengthscale",
# "2.rq.alpha" (second part), "se.lengthscale1" (one per input).
kernel_parameters <- function(kernel) {
  if (is_composite(kernel)) {
    parts <- lapply(seq_along(kernel$parts), function(i) {
      values <- kernel_parameters(kernel$parts[[i]])
      if (length(values)) names(values) <- paste0(i, ".", names(values))
      values
    })
    return(do.call(c, parts))
  }
  values <- lapply(trait(kernel, "fitted"), function(field) {
    value <- kernel[[field]]
    names <- paste0(kernel$type, ".", field)
    stats::setNames(value, if (length(value) > 1) paste0(names, seq_along(value)) else names)
  })
  if (length(values)) do.call(c, values) else stats::setNames(numeric(), character())
}

# Their names for people: the inputs instead of their numbers.
parameter_labels <- function(kernel, inputs) {
  if (is_composite(kernel)) {
    return(unlist(lapply(seq_along(kernel$parts), function(i) {
      paste0(i, ".", parameter_labels(kernel$parts[[i]], inputs), recycle0 = TRUE)
    })))
  }
  own <- if (is.null(kernel$dims)) inputs else if (is.character(kernel$dims)) kernel$dims else inputs[kernel$dims]
  plain <- names(kernel_parameters(kernel))
  for (field in trait(kernel, "fitted")) {
    count <- length(kernel[[field]])
    at <- match(paste0(kernel$type, ".", field, seq_len(count)), plain)
    if (count > 1 && count == length(own)) plain[at] <- paste0(kernel$type, ".", field, " (", own, ")")
  }
  plain
}

# The same kernel with other values, in the order of kernel_parameters().
kernel_with_parameters <- function(kernel, values) {
  known <- kernel_parameters(kernel)
  values <- check_numbers(values, lengths = length(known), lower = 0, open_lower = TRUE)
  if (any(values[grepl("correlation", names(known))] > 1)) {
    stop_argument("values", describe(values), "at most 1 for a correlation")
  }
  replace_parameters(kernel, as.vector(values, "double"))
}

replace_parameters <- function(kernel, values) {
  used <- 0
  if (is_composite(kernel)) {
    for (i in seq_along(kernel$parts)) {
      count <- length(kernel_parameters(kernel$parts[[i]]))
      kernel$parts[[i]] <- replace_parameters(kernel$parts[[i]], values[used + seq_len(count)])
      used <- used + count
    }
    return(kernel)
  }
  for (field in trait(kernel, "fitted")) {
    count <- length(kernel[[field]])
    kernel[[field]] <- values[used + seq_len(count)]
    used <- used + count
  }
  kernel
}

# ---- from names to the core's columns ---------------------------------------

# The list that kernel_from_list() reads in C++: 0-based columns, one lengthscale
# per column. Points have the inputs in their columns and, if `arms` is a
# number, the 0-based arm number in column `arm_column`.
resolve_kernel <- function(kernel, input_names, arms = NULL) {
  resolved <- resolve_part(kernel, input_names, arms)
  resolved$arm_column <- length(input_names)
  resolved
}

resolve_part <- function(kernel, input_names, arms) {
  if (is_composite(kernel)) {
    return(list(type = kernel$type,
                parts = lapply(kernel$parts, resolve_part, input_names, arms)))
  }
  if (has_matrix(kernel)) return(resolve_matrix(kernel, input_names, arms))
  out <- unclass(kernel)
  out$dims <- resolve_dims(kernel$dims, input_names)
  out$closed_form <- trait(kernel, "closed_form")
  for (field in intersect(trait(kernel, "per_input"), names(out))) {
    out[[field]] <- expand_per_input(out[[field]], length(out$dims), field, kernel)
  }
  trait(kernel, "resolved")(out, kernel, input_names[out$dims + 1L])
}

resolve_matrix <- function(kernel, input_names, arms) {
  n <- nrow(kernel$K)
  if (is.null(arms)) {
    stop_argument("kernel", "kernel_matrix(), which is defined on arms only, on a domain without arms",
                  "a kernel of the inputs")
  }
  if (arms != n) {
    stop_argument("kernel", sprintf("kernel_matrix() over %d arms for a domain of %d", n, arms),
                  "one whose matrix has a row for each arm")
  }
  list(type = "matrix", K = kernel$K, arm_column = length(input_names))
}

# A user's f(X, Y): it gets named columns, and its value is checked at each call.
checked_gram <- function(f, names) {
  force(f)
  function(X, Y) {
    colnames(X) <- colnames(Y) <- names
    K <- call_user(f(X, Y), "f", sprintf("(in kernel_function(), for %d and %d points)", nrow(X), nrow(Y)))
    if (!is_number(K) || length(K) != nrow(X) * nrow(Y) || (is.matrix(K) && nrow(K) != nrow(X)) ||
        !all(is.finite(K))) {
      stop_returned("f", K, "the matrix of covariances, all finite, nrow(X) x nrow(Y)",
                    sprintf(" for %d and %d points", nrow(X), nrow(Y)))
    }
    matrix(as.double(K), nrow(X))
  }
}

has_function <- function(kernel) trait(kernel, "own_function")

# Are the functions in kernel_function() covariances at some points (a matrix in the core's format)? `kernel`: in the
# core's format.
check_own_kernel <- function(kernel, points) {
  for (part in kernel$parts) check_own_kernel(part, points)
  if (is.null(kernel$f) || nrow(points) == 0) return(invisible())
  some <- unique(round(seq(1, nrow(points), length.out = min(40, nrow(points)))))
  X <- points[some, kernel$dims + 1L, drop = FALSE]
  K <- check_covariance(kernel$f(X, X), "f")
  alone <- kernel$f(X[1, , drop = FALSE], X)
  if (max(abs(K[1, ] - alone)) > 1e-8 * max(abs(K))) {
    stop_argument("f", "a function whose value for two points depends on the other points",
                  "a function of each pair of points alone")
  }
}

resolve_dims <- function(dims, input_names) {
  count <- length(input_names)
  if (is.null(dims)) {
    if (count == 0) stop_argument("kernel", "a kernel of the inputs, because there are none", "kernel_matrix()")
    return(seq_len(count) - 1L)
  }
  at <- if (is.character(dims)) match(dims, input_names) else dims
  bad <- is.na(at) | at < 1 | at > count
  if (any(bad)) {
    stop_argument("dims", describe(dims[bad][1]),
                  sprintf("among the inputs %s", paste(input_names, collapse = ", ")))
  }
  as.integer(at) - 1L
}

expand_per_input <- function(values, count, field, kernel) {
  if (!length(values) %in% c(1, count)) {
    stop_argument(field, sprintf("%s for %s in kernel_%s()", amount_of(length(values), "number"),
                                 amount_of(count, "input"), kernel$type),
                  "one number or one for each input")
  }
  rep_len(values, count)
}

# ---- Gram matrix ------------------------------------------------------------

#' Gram matrix of a kernel
#'
#' `kernel_gram()` returns the covariance matrix of a kernel between two sets of points.
#' Its entries are \eqn{k(x_i, y_j)} for the rows of `x` and those of `y`.
#'
#' @section Kernels with kernel_matrix(): The last column of `x` and `y` then holds the arm's number, `1..n`, and the
#'   columns before it are the inputs. For `kernel_matrix(K)` alone, `x` is a vector of arm numbers.
#' @param kernel a [kernel][kernels].
#' @param x,y points: a matrix or data.frame with one row per point and one column per input, or a vector of points with
#'   one input. Columns without names are `x1..xd`; with names in both they are matched. `y` is `x` by default.
#' @return A matrix, `nrow(x)` x `nrow(y)`. It is exactly symmetric if `y` is not given.
#' @section Errors: Values must be finite, sizes and names must agree, `dims` must be among the inputs, and arm numbers
#'   among `1..n`.
#' @seealso [kernels]
#' @concept covariance matrix
#' @concept kernel matrix
#' @examples
#' kernel_gram(kernel_se(0.5), c(0, 0.5, 1))
#' kernel_gram(kernel_linear(dims = "b"), cbind(a = 1:2, b = 3:4), cbind(a = 0, b = 1))
#' kernel_gram(kernel_matrix(diag(3)), c(1, 3), 1:3)
#' @export
kernel_gram <- function(kernel, x, y = x) {
  kernel <- as_kernel(kernel)
  same <- missing(y)
  x <- check_matrix(x, "x")
  arms <- matrix_size(kernel)
  inputs <- ncol(x) - !is.null(arms)
  names <- if (inputs > 0) check_input_names(colnames(x)[seq_len(inputs)], inputs, "x")
  resolved <- resolve_kernel(kernel, names, arms)
  points <- gram_points(x, arms, "x")
  if (same) return(cpp_kernel_gram_symmetric(resolved, points))
  if (!is.null(colnames(x))) y <- by_name(y, colnames(x), "y")
  y <- check_matrix(y, "y", columns = ncol(x))
  cpp_kernel_gram(resolved, points, gram_points(y, arms, "y"))
}

# The number of arms of the kernel's matrices; NULL if there are none.
matrix_size <- function(kernel) {
  if (!is_composite(kernel)) return(if (has_matrix(kernel)) nrow(kernel$K))
  sizes <- unlist(lapply(kernel$parts, matrix_size))
  if (is.null(sizes)) NULL else sizes[1]
}

# The core counts arms from 0.
gram_points <- function(x, arms, arg) {
  if (is.null(arms)) return(x)
  number <- x[, ncol(x)]
  if (any(number != round(number)) || any(number < 1) || any(number > arms)) {
    bad <- number[number != round(number) | number < 1 | number > arms][1]
    stop_argument(arg, sprintf("%g", bad), sprintf("arm numbers 1..%d (in the last column)", arms))
  }
  x[, ncol(x)] <- number - 1
  x
}

# ---- print ------------------------------------------------------------------

#' @export
print.bandit_kernel <- function(x, ...) {
  check_class(x, "bandit_kernel")
  cat(paste0("<kernel> ", paste(kernel_lines(x), collapse = "\n")), "\n", sep = "")
  invisible(x)
}

kernel_lines <- function(kernel) {
  if (!is_composite(kernel)) return(paste0(trait(kernel, "title"), kernel_values(kernel)))
  lines <- sprintf("%s of %d kernels:", kernel$type, length(kernel$parts))
  for (i in seq_along(kernel$parts)) {
    part <- kernel_lines(kernel$parts[[i]])
    lines <- c(lines, paste0("  ", i, ". ", part[1]), if (length(part) > 1) paste0("  ", part[-1]))
  }
  lines
}

# Sample paths have derivatives of every order below nu.
smoothness_text <- function(nu) {
  order <- ceiling(nu) - 1
  switch(as.character(min(order, 3)), "0" = "continuous, not differentiable functions",
         "1" = "once differentiable functions", "2" = "twice differentiable functions",
         sprintf("%s times differentiable functions", format(order)))
}

kernel_values <- function(kernel) {
  fields <- trait(kernel, "fitted")
  if (!length(fields)) return("")
  values <- vapply(fields, function(field) {
    paste(field, paste(format(kernel[[field]], digits = 4, trim = TRUE), collapse = " "))
  }, "")
  where <- if (is.null(kernel$dims)) "all inputs" else {
    paste(if (is.character(kernel$dims)) "" else "inputs ", paste(kernel$dims, collapse = ", "), sep = "")
  }
  paste0(": ", paste(values, collapse = ", "), "; on ", where)
}

# One lengthscale per feature if there are few features, one for all if there are many.
kernel_of_features <- function(features, name, variance = 1) {
  q <- ncol(features)
  lengthscale <- rep(0.4 * sqrt(q), if (q <= 10) q else 1)
  kernel_categorical(features = unname(features), lengthscale = lengthscale, dims = name, variance = variance)
}

register_family("bandit_kernel", kernel_entries, tag = "type", traits = kernel_traits, prefix = "kernel_")
