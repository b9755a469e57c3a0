# Exact Gaussian-process regression. Layer: model.

# Exact Gaussian-process regression. The object is plain data; the factor of the
# covariance matrix is held by an external pointer that is rebuilt if it is missing.

#' Gaussian-process regression
#'
#' `gp_regression()` computes the exact posterior of a Gaussian process (kriging) given noisy observations.
#' Kernel, noise variance and constant mean are given; [gp_fit()] estimates them by maximum likelihood.
#'
#' Let \eqn{K} be the Gram matrix of the \eqn{n} points `x`, \eqn{\lambda} the `noise_var`, \eqn{m} the `mean`, and
#' \eqn{k(u)} the covariances of a new point \eqn{u} with the points `x`. The function's posterior is Gaussian with mean
#' and covariance
#' \deqn{\mu(u) = m + k(u)^T (K + \lambda I)^{-1} (y - m),}{mu(u) = m + k(u)' (K + lambda I)^-1 (y - m),}
#' \deqn{k(u, u') - k(u)^T (K + \lambda I)^{-1} k(u').}{k(u, u') - k(u)' (K + lambda I)^-1 k(u').}
#'
#' `mean` and `sd` are always those of the function itself. The variance of a new measurement is `sd^2 + noise_var`.
#'
#' @section Cost:
#' * The first prediction takes \eqn{O(n^3)} operations, `update()` with one more observation \eqn{O(n^2)}.
#' * A prediction at \eqn{q} points takes \eqn{O(q n^2)}, without standard deviations \eqn{O(q n)}. For the same points
#'   after an update it takes \eqn{O(q n)} per new observation.
#' * Memory: \eqn{n^2/2} numbers. `update()` does not change the old object; both share their common part.
#'
#' `saveRDS()`, copies and sending to another process work: the object holds its data, and the rest is computed again
#' when it is needed.
#'
#' @section Points: A vector of points with one input, or a matrix or data.frame with one row per point and one column
#'   per input. If `x` and `newdata` both have column names, columns are matched by name. With a [kernel_matrix()] in
#'   the kernel the last (or only) column holds the arm's number `1..n`.
#' @section Errors: Values must be finite, `x` and `y` must have the same size, columns must match, the noise variance
#'   must be positive, and the kernel must fit the inputs. Misspelt arguments are an error.
#' @section Guarantee: The posterior is exact up to rounding. Points may repeat. Tiny noise variances are safe, but
#'   digits are lost as `max k / noise_var` grows. A noise variance below 1e-13 of the kernel's variance acts as if it
#'   were that.
#' @param x the observed points, see *Points*; no rows at all give the prior.
#' @param y numeric vector: one noisy value per point, in the reward's units.
#' @param kernel a [kernel][kernels]; `dims` refer to the columns of `x`.
#' @param noise_var positive number: the variance of the noise, \eqn{\lambda}, in the squared units of `y`.
#' @param mean number: the prior mean of the function, in units of `y`; by default 0.
#' @param own_noise a number > 0 per observation: its separate noise variance, in squared units of `y`, which replaces
#'   \eqn{\lambda} on the diagonal; `NA` means `noise_var`. `NULL` (default): all have `noise_var`.
#' @return `gp_regression()`: an object of class `gp_regression`, a list with
#'   * `x`, `y`, `kernel`, `noise_var` and `mean`;
#'   * `names`, those of the inputs;
#'   * `own_noise`, if it was given.
#' @source Rasmussen and Williams (2006), *Gaussian Processes for Machine Learning*, equations 2.25, 2.26 and 2.30.
#' @seealso [gp_fit()], [kernels], [sample_gp()].
#' @concept kriging
#' @concept surrogate model
#' @concept heteroscedastic noise
#' @concept posterior
#' @examples
#' x <- c(0.1, 0.4, 0.5, 0.9)
#' fit <- gp_regression(x, sin(6 * x), kernel_matern(2.5, 0.3), noise_var = 0.01)
#' fit
#' predict(fit, c(0.2, 0.7))
#' fit <- update(fit, 0.7, sin(6 * 0.7))
#' plot(fit)
#' paths <- simulate(fit, nsim = 3, seed = 1, newdata = seq(0, 1, 0.01))
#' matplot(seq(0, 1, 0.01), paths, type = "l")
#' @export
gp_regression <- function(x, y, kernel, noise_var, mean = 0, own_noise = NULL) {
  kernel <- as_kernel(kernel)
  noise_var <- check_positive(noise_var)
  mean <- check_number(mean, lower = -largest_number, upper = largest_number)
  x <- check_matrix(x, "x")
  if (ncol(x) < 1) stop_argument("x", describe(x), "points with at least one input")
  y <- as.vector(check_targets(y, nrow(x)), "double")
  own_noise <- check_own_noise(own_noise, length(y))
  named <- !is.null(colnames(x))
  colnames(x) <- check_input_names(colnames(x), ncol(x), "x")
  object <- structure(list(x = x, y = y, kernel = kernel, noise_var = noise_var, mean = mean,
                           names = colnames(x), named = named, estimated = 0,
                           state = new.env(parent = emptyenv())),
                      class = "gp_regression")
  object$own_noise <- own_noise
  check_linear_scale(kernel, apply(abs(x), 2, max, 0), object$names)
  if (has_function(kernel)) check_own_kernel(regression_kernel(object), regression_points(object, object$x, "x"))
  regression_pointer(object)
  object
}

# NULL if no observation has its own noise variance.
check_own_noise <- function(own_noise, n) {
  if (is.null(own_noise)) return(NULL)
  check_sound(own_noise, "own_noise", "NULL, or numbers")
  if (length(own_noise) != n) {
    stop_argument("own_noise", describe(own_noise),
                  paste("NULL, or a number or NA for each of", amount_of(n, "observation")))
  }
  own_noise <- check_noise_vars(own_noise, n, "own_noise")
  if (!all(is.na(own_noise))) own_noise
}

# Each observation's noise variance divided by `noise_var`.
noise_scales <- function(object, own_noise = object$own_noise, n = length(object$y)) {
  if (is.null(own_noise)) return(rep(1, n))
  ifelse(is.na(own_noise), 1, own_noise / object$noise_var)
}

check_targets <- function(y, n, arg = "y") {
  if (!missing(y) && is.matrix(y) && ncol(y) == 1) y <- y[, 1]
  y <- check_numbers(y, arg, lower = -largest_number, upper = largest_number)
  if (length(y) != n) {
    stop_argument(arg, describe(y), sprintf("one number for each of the %s of `x`", amount_of(n, "row")))
  }
  y
}

# ---- the pointer ------------------------------------------------------------

# The data on which the factor depends; the pointer is valid for these data only.
regression_data <- function(object) {
  unclass(object)[intersect(c("x", "y", "kernel", "noise_var", "mean", "names", "own_noise"), names(object))]
}

# A valid pointer to exactly the observations of `object`. Objects made from this
# one by update() may have appended to the pointer: then this one gets a separate pointer.
regression_pointer <- function(object) {
  state <- object$state
  data <- regression_data(object)
  n <- length(object$y)
  if (!is.environment(state) || !identical(state$data, data)) check_regression(object)
  size <- if (identical(state$data, data)) cpp_regression_size(state$pointer) else -1
  if (size != n) {
    state$pointer <- if (size > n) {
      cpp_regression_head(state$pointer, n)
    } else {
      cpp_regression_new(regression_kernel(object), object$noise_var,
                         regression_points(object, object$x, "x"), object$y - object$mean,
                         noise_scales(object))
    }
    state$data <- data
  }
  state$pointer
}

# Objects may come from files, so their settings are checked.
regression_entry <- list(settings = alist(
  names = check_input_names(names, length(names), "names"), x = check_matrix(x, columns = length(names)),
  y = check_targets(y, nrow(x)), named = check_flag(named), estimated = check_count(estimated, lower = 0),
  noise_var = check_positive(noise_var), mean = check_number(mean), kernel = check_class(kernel, "bandit_kernel")
))

check_regression <- function(object) {
  x <- object$x
  whole <- is.matrix(x) && is.double(x) && all(is.finite(x)) && is.double(object$y) && length(object$y) == nrow(x) &&
    all(abs(object$y) <= largest_number) && is.environment(object$state) && identical(object$names, colnames(x)) &&
    length(object$names) == ncol(x) && ncol(x) > 0
  if (!whole) {
    stop_data("This regression is damaged: its points and responses differ in number. Fit it again.",
              argument = "object")
  }
  check_positive(object$noise_var, "noise_var")
  check_number(object$mean, "mean")
  check_own_noise(object$own_noise, length(object$y))
  check_class(object$kernel, "bandit_kernel", "kernel", "kernel_se(), kernel_matern(), ...")
}

regression_kernel <- function(object) {
  arms <- matrix_size(object$kernel)
  inputs <- utils::head(object$names, length(object$names) - !is.null(arms))
  resolve_kernel(object$kernel, inputs, arms)
}

# Points in the core's format, arms counted from 0.
regression_points <- function(object, x, arg) {
  dimnames(x) <- NULL
  gram_points(x, matrix_size(object$kernel), arg)
}

# Points given to a method: a matrix with the columns of object$x.
regression_newdata <- function(object, newdata, arg = "newdata") {
  # As for predict() of other models, further columns, such as the response, are ignored.
  twice <- intersect(object$names, colnames(newdata)[duplicated(colnames(newdata))])
  if (length(twice)) {
    stop_argument(arg, sprintf("one with two columns %s", dQuote(twice[1], FALSE)), "one with a column for each input")
  }
  if (all(object$names %in% colnames(newdata))) newdata <- newdata[, object$names, drop = FALSE]
  else if (object$named) newdata <- by_name(newdata, object$names, arg)
  newdata <- check_matrix(newdata, arg, columns = length(object$names))
  colnames(newdata) <- object$names
  newdata
}

# ---- methods ----------------------------------------------------------------

#' @describeIn gp_regression The posterior at the rows of `newdata` (the observed points if missing): a data.frame with
#'   columns `mean` and `sd`. With `se.fit = FALSE` it is the vector of means. With `cov = TRUE` it is a list of `mean`,
#'   `sd` and the joint covariance matrix `cov`.
#' @param object,... a `gp_regression`; further arguments are an error.
#' @param newdata points, in the form of `x`.
#' @param se.fit a flag: return the standard deviation of the function? `TRUE` by default.
#' @param cov a flag: return the joint covariance matrix of the points? `FALSE` by default.
#' @export
predict.gp_regression <- function(object, newdata, se.fit = TRUE, cov = FALSE, ...) {
  check_class(object, "gp_regression")
  check_dots_empty(..., allowed = c("newdata", "se.fit", "cov"))
  se.fit <- check_flag(se.fit)
  cov <- check_flag(cov)
  pointer <- regression_pointer(object)
  points <- if (missing(newdata)) object$x else regression_newdata(object, newdata)
  points <- regression_points(object, points, "newdata")
  if (cov) {
    covariance <- cpp_regression_covariance(pointer, points)
    return(list(mean = object$mean + cpp_regression_mean(pointer, points),
                sd = sqrt(diag(covariance)), cov = covariance))
  }
  if (!se.fit) return(object$mean + cpp_regression_mean(pointer, points))
  out <- cpp_regression_predict(pointer, points)
  out$mean <- out$mean + object$mean
  structure(out, class = "data.frame", row.names = .set_row_names(nrow(points)))
}

#' @describeIn gp_regression Exact joint draws of the function (without noise) at
#'   the rows of `newdata`: a data.frame with a column `sim_1`, ... per draw and
#'   the attribute `seed` as [stats::simulate()] describes it.
#' @param nsim number of draws, an integer >= 1; 1 by default.
#' @param seed the argument of [set.seed()] before drawing; the generator's state is restored afterwards. `NULL`
#'   (default): draws from the current state.
#' @export
simulate.gp_regression <- function(object, nsim = 1, seed = NULL, newdata, ...) {
  check_class(object, "gp_regression")
  check_dots_empty(..., allowed = c("nsim", "seed", "newdata"))
  nsim <- check_count(nsim)
  if (!is.null(seed)) seed <- check_count(seed, lower = -.Machine$integer.max)
  pointer <- regression_pointer(object)
  points <- if (missing(newdata)) object$x else regression_newdata(object, newdata)
  points <- regression_points(object, points, "newdata")
  drawn <- with_seed(seed, cpp_regression_draw(pointer, points, nsim))
  out <- as.data.frame(object$mean + drawn$value)
  names(out) <- paste0("sim_", seq_len(nsim))
  attr(out, "seed") <- drawn$seed
  out
}

# The value of `expr`, and the seed that simulate() reports for it, by
# R's convention. With a seed, the generator's state is restored afterwards.
with_seed <- function(seed, expr) {
  if (is.null(seed)) {
    if (!exists(".Random.seed", envir = globalenv(), inherits = FALSE)) stats::runif(1)
    before <- get(".Random.seed", envir = globalenv(), inherits = FALSE)
    return(list(value = expr, seed = before))
  }
  preserve_rng({
    set.seed(seed)
    list(value = expr, seed = structure(seed, kind = as.list(RNGkind())))
  })
}

#' @describeIn gp_regression The log marginal likelihood
#'   \deqn{-\frac12 (y-m)^T (K + \lambda I)^{-1} (y-m) - \frac12 \log\det(K + \lambda I) - \frac n2 \log 2\pi.}{-1/2
#'   (y - m)' (K + lambda I)^-1 (y - m) - 1/2 log det(K + lambda I) - n/2 log(2 pi).}
#'   `df` is the number of fitted parameters (0 unless the object comes from [gp_fit()]).
#' @export
logLik.gp_regression <- function(object, ...) {
  check_class(object, "gp_regression")
  check_dots_empty(...)
  structure(cpp_regression_evidence(regression_pointer(object))$log_likelihood,
            df = object$estimated, nobs = length(object$y), class = "logLik")
}

#' @describeIn gp_regression A new object with the observations `x`, `y` added. The old one does not change.
#' @export
update.gp_regression <- function(object, x, y, own_noise = NULL, ...) {
  check_class(object, "gp_regression")
  check_dots_empty(..., allowed = c("x", "y", "own_noise"))
  if (missing(x)) stop_missing("x", "the new points")
  pointer <- regression_pointer(object)
  x <- regression_newdata(object, x, "x")
  y <- as.vector(check_targets(y, nrow(x)), "double")
  own_noise <- check_own_noise(own_noise, length(y))
  points <- regression_points(object, x, "x")
  updated <- object
  updated$x <- rbind(object$x, x)
  updated$y <- c(object$y, y)
  updated$state <- new.env(parent = emptyenv())
  updated$own_noise <- joined_noise(object, own_noise, length(y))
  cpp_regression_add(pointer, points, y - object$mean, noise_scales(object, own_noise, length(y)))
  updated$state$pointer <- pointer
  updated$state$data <- regression_data(updated)
  updated
}

# The own noise variances of the old and of `n` new observations.
joined_noise <- function(object, own_noise, n) {
  if (is.null(object$own_noise) && is.null(own_noise)) return(NULL)
  none <- function(count) rep(NA_real_, count)
  c(or_else(object$own_noise, none(length(object$y))), or_else(own_noise, none(n)))
}

#' @describeIn gp_regression The number of observations.
#' @export
nobs.gp_regression <- function(object, ...) length(check_class(object, "gp_regression")$y)

#' @describeIn gp_regression The posterior mean at the observed points.
#' @export
fitted.gp_regression <- function(object, ...) predict.gp_regression(object, se.fit = FALSE)

#' @describeIn gp_regression `y` minus the fitted values.
#' @export
residuals.gp_regression <- function(object, ...) {
  check_class(object, "gp_regression")$y - fitted.gp_regression(object)
}

#' @describeIn gp_regression Prints the object.
#' @export
print.gp_regression <- function(x, ...) {
  check_class(x, "gp_regression")
  cat(sprintf("<Gaussian-process regression: %s, inputs %s>\n", amount_of(length(x$y), "observation"),
              paste(x$names, collapse = ", ")))
  print(x$kernel)
  cat(sprintf("noise variance %.4g, prior mean %.4g, log likelihood %.6g\n", x$noise_var, x$mean,
              as.numeric(logLik.gp_regression(x))))
  invisible(x)
}

#' @describeIn gp_regression A list of class `summary.gp_regression`: `nobs`,
#'   `inputs`, `kernel`, `noise_var`, `mean`, `logLik`, `information_gain`
#'   (\eqn{\frac12\log\det(I + K/\lambda)}{1/2 log det(I + K/lambda)}), `residuals` (their quartiles) and
#'   `r_squared` of the posterior mean at the observed points.
#' @export
summary.gp_regression <- function(object, ...) {
  check_class(object, "gp_regression")
  check_dots_empty(...)
  residuals <- residuals.gp_regression(object)
  spread <- sum((object$y - mean(object$y))^2)
  evidence <- cpp_regression_evidence(regression_pointer(object))
  structure(list(nobs = length(object$y), inputs = object$names, kernel = object$kernel,
                 noise_var = object$noise_var, mean = object$mean,
                 logLik = logLik.gp_regression(object), information_gain = evidence$log_det / 2,
                 residuals = stats::quantile(residuals, names = TRUE),
                 r_squared = if (isTRUE(spread > 0)) 1 - sum(residuals^2) / spread else NA_real_),
            class = "summary.gp_regression")
}

#' @export
print.summary.gp_regression <- function(x, ...) {
  cat(sprintf("Gaussian-process regression: %s, inputs %s\n", amount_of(x$nobs, "observation"),
              paste(x$inputs, collapse = ", ")))
  print(x$kernel)
  cat(sprintf("noise variance:   %.4g\nprior mean:       %.4g\n", x$noise_var, x$mean))
  cat(sprintf("log likelihood:   %.6g (%d fitted parameters)\n", as.numeric(x$logLik),
              as.integer(attr(x$logLik, "df"))))
  cat(sprintf("information gain: %.4g\n", x$information_gain))
  if (x$nobs > 0) {
    cat(sprintf("R squared:        %.4g\n\nresiduals:\n", x$r_squared))
    print(x$residuals, digits = 4)
  }
  invisible(x)
}

#' @describeIn gp_regression `"curve"` (one input): the posterior mean, a band of `width` standard deviations and the
#'   observations. `"fitted"`: observed against fitted values with the same bands. Returns the plotted data, invisibly.
#' @param type `"auto"` (default: a curve if there is one input), `"curve"` or `"fitted"`.
#' @param width half-width of the band in posterior standard deviations; 2 by default.
#' @param points number of points of the curve, an integer; 200 by default.
#' @param xlim,xlab,ylab,main as in [graphics::plot.default()].
#' @export
plot.gp_regression <- function(x, type = c("auto", "curve", "fitted"), width = 2, points = 200, xlim = NULL,
                               xlab = NULL, ylab = "y", main = NULL, ...) {
  check_class(x, "gp_regression")
  type <- check_choice(type, c("auto", "curve", "fitted"))
  width <- check_number(width, lower = 0)
  points <- check_count(points, lower = 2)
  has_curve <- length(x$names) == 1 && is.null(matrix_size(x$kernel))
  if (type == "curve" && !has_curve) {
    stop_argument("type", "\"curve\"",
                  "\"fitted\", because a curve needs one input and a kernel that is a function of it")
  }
  if (type != "fitted" && has_curve) {
    return(invisible(plot_curve(x, width, points, xlim, xlab, ylab, main, ...)))
  }
  invisible(plot_fitted(x, width, xlab, ylab, main, ...))
}

plot_curve <- function(x, width, points, xlim, xlab, ylab, main, ...) {
  if (is.null(xlim)) {
    xlim <- if (length(x$y) == 0) c(0, 1) else grDevices::extendrange(x$x[, 1], f = 0.04)
    if (xlim[1] == xlim[2]) xlim <- xlim + c(-0.5, 0.5)
  }
  xlim <- check_numbers(xlim, lengths = 2)
  at <- seq(xlim[1], xlim[2], length.out = points)
  drawn <- cbind(x = at, predict.gp_regression(x, at))
  lower <- drawn$mean - width * drawn$sd
  upper <- drawn$mean + width * drawn$sd
  graphics::plot(at, drawn$mean, type = "n", xlim = xlim, ylim = range(lower, upper, x$y),
                 xlab = if (is.null(xlab)) x$names else xlab, ylab = ylab, main = main, ...)
  graphics::polygon(c(at, rev(at)), c(lower, rev(upper)), col = "grey85", border = NA)
  graphics::lines(at, drawn$mean, lwd = 2)
  graphics::points(x$x[, 1], x$y, pch = 19, cex = 0.7)
  drawn
}

plot_fitted <- function(x, width, xlab, ylab, main, ...) {
  if (length(x$y) == 0) stop_argument("x", "one without any", "a regression with observations")
  drawn <- cbind(observed = x$y, predict.gp_regression(x))
  lower <- drawn$mean - width * drawn$sd
  upper <- drawn$mean + width * drawn$sd
  graphics::plot(drawn$mean, drawn$observed, xlim = range(lower, upper), pch = 19, cex = 0.7,
                 xlab = if (is.null(xlab)) "posterior mean" else xlab, ylab = ylab, main = main, ...)
  graphics::segments(lower, drawn$observed, upper, drawn$observed, col = "grey60")
  graphics::abline(0, 1, lty = 2)
  drawn
}

# One noise variance per reward, NA for the bandit's.
check_noise_vars <- function(noise_var, count, arg = "noise_var") {
  if (is.null(noise_var)) return(rep(NA_real_, count))
  # (A logical NA means that no noise variance is given.)
  numbers <- is_number(noise_var) || (is.logical(noise_var) && !is.object(noise_var) && all(is.na(noise_var)))
  if (!numbers || !length(noise_var) %in% c(1, count)) {
    stop_argument(arg, describe(noise_var),
                  paste("NULL, one number > 0, or one for each of", amount_of(count, "reward")))
  }
  own <- check_numbers(as.double(noise_var), arg, lower = 0, open_lower = TRUE, upper = largest_number, na = TRUE)
  rep_len(own, count)
}

register_family("gp_regression", regression_entry, open = TRUE)
