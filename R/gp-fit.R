# Maximum marginal likelihood estimation of kernels and noise. Layer: model.

# Maximum marginal likelihood. The search is in C++; here are the arguments,
# the ranges of the parameters and the returned object.

#' Fit a Gaussian process by maximum marginal likelihood
#'
#' `gp_fit()` estimates the parameters of a kernel and the noise variance from data.
#' It maximises the marginal likelihood (type II maximum likelihood), or the posterior density if there are `priors`.
#' The result is a [gp_regression()] object with the fitted kernel.
#'
#' With \eqn{K_\theta}{K} the Gram matrix of the \eqn{n} points, \eqn{\lambda}{lambda} the noise variance and
#' \eqn{r = y - m}, the log marginal likelihood is
#' \deqn{-\tfrac12 r^T (K_\theta + \lambda I)^{-1} r
#'   - \tfrac12 \log\det(K_\theta + \lambda I) - \tfrac n2 \log 2\pi.}{-1/2 r' (K + lambda I)^-1 r - 1/2 log det(K +
#'   lambda I) - n/2 log(2 pi).}
#'
#' @section Method:
#' It is maximised over the logarithms of \eqn{\lambda} and of the kernel's parameters (see [kernels]: variances,
#' lengthscales, periods, `alpha`; never `nu`). The method is L-BFGS-B with exact gradients.
#' * The starts are the given parameters, and the best of a low-discrepancy set.
#' * With more than 100 points the searches use a part of them only (half, 300 at most). A last search over all points
#'   starts from the best result. With more than 300 points it ends when a step gains less than 0.01.
#' * A kernel's only variance is maximised over in closed form, unless an observation has a separate noise variance. So
#'   is the mean (generalised least squares).
#' * One evaluation takes \eqn{O(n^3)} operations, with repeated points counted once. For more than 1000 distinct points
#'   see *Many observations*.
#' * No random numbers are drawn: the same data give the same fit.
#' * Interactive sessions show the progress of fits to more than 300 observations.
#'
#' @section Many observations:
#' With more than 1000 distinct points the last search maximises Vecchia's approximation of the likelihood:
#' \deqn{\log p(y) \approx \sum_g \log p(y_g \mid y_{N(g)}).}{log p(y) = sum_g log p(y_g | y_N(g)), about.}
#' The groups \eqn{g} consist of at most 100 points with a large correlation, and \eqn{N(g)} are at most 200 points of
#' earlier groups (from 9 inputs on 250 and 250). Every term is exact. One evaluation takes \eqn{O(n)} operations.
#' With more than 4000 points a search with 2000 of them comes first.
#'
#' With 2000 points, the maximum moved by 0.3 to 0.8 posterior sds per parameter in 3 to 6 inputs, and by about 0.8 to 1
#' in 20 inputs (`bench/results/many_rows.md` in the sources). `log_likelihood` and predictions are exact.
#'
#' @section Names: Parameters are named by kernel and field, as in `parameters` of the result: `"matern.lengthscale"`,
#'   or with one lengthscale per input `"matern.lengthscale1"`, `"matern.lengthscale2"`. In sums and products the part's
#'   number is in front, `"2.periodic.period"`. The noise is `"noise_var"`.
#' @section Bounds and priors: These are the default bounds, with \eqn{w} the range of an input in `x` and \eqn{s^2} the
#'   mean of \eqn{r^2}.
#'   * Lengthscales: \eqn{[w / 200, 100 w]}; of a periodic kernel \eqn{[0.05, 50]}.
#'   * Periods: \eqn{[w / 100, 10 w]}.
#'   * `alpha`: \eqn{[0.01, 1000]}. Correlations: \eqn{[0.01, 1]}.
#'   * Variances: \eqn{[10^{-6} s^2, 10^6 s^2]}{[1e-6 s^2, 1e6 s^2]}; of a linear kernel divided by the mean square of
#'     its inputs; of the second and further factors of a product with 1 for \eqn{s^2}.
#'   * Noise variance: \eqn{[10^{-8} s^2, 10 s^2]}{[1e-8 s^2, 10 s^2]}, and at least \eqn{10^{-12}}{1e-12} of the prior
#'     variance.
#'
#'   They are widened if needed to contain the given parameters. A lower bound equal to the upper one fixes a parameter.
#'   A Beta prior of a correlation is `c(shape1 =, shape2 =)`; with `shape2 > 1` the correlation stays below 1.
#' @section Errors: Fewer than two observations, unknown names of parameters, and lower bounds above upper ones are
#'   errors.
#' @section Guarantee: The log likelihood (plus the priors' logarithms) is never less than that of the given parameters,
#'   if these are within the bounds. It is a local maximum: more `starts` make the global one more likely. If
#'   `y` equals the mean everywhere, the given parameters are returned. No regret bound covers parameters fitted to the
#'   data.
#' @param x,y,kernel as in [gp_regression()]; the kernel's parameters are the first start.
#' @param noise_var positive number: the noise variance to start from, in squared units of `y`. `NULL` (default): a
#'   hundredth of \eqn{s^2} (see *Bounds and priors*).
#' @param mean `"fit"` (default): a constant prior mean is estimated. Or a number: the prior mean, in units of `y`.
#' @param fix_noise a flag: `TRUE` keeps the given `noise_var` (at least 1e-12 of the fitted prior variance). `FALSE` by
#'   default.
#' @param starts number of searches, an integer >= 1, by default 3. With 1 the search begins at the given parameters.
#' @param lower,upper bounds: numbers with the names of parameters, on the natural scale. `NULL` (default): see
#'   *Bounds and priors*.
#' @param priors a list with the names of parameters: normal priors of their logarithms, `c(meanlog, sdlog)`, or a
#'   matrix of up to ten such rows for a mixture, equal unless a third column has weights; Beta priors of correlations,
#'   see *Bounds and priors*. `NULL` (default): none.
#' @param iterations the largest number of iterations of each search, an integer >= 1; 100 by default.
#' @param own_noise a number > 0 per observation: its known noise variance, in squared units of `y`; `NA` means the
#'   fitted one. If there is no `NA`, `noise_var` is unchanged. `NULL` (default): all have the fitted one.
#' @param ... further arguments are an error.
#' @return An object of class `gp_fit` and [gp_regression][gp_regression()], with the elements of the latter and
#'   * `parameters`: all of them, named, on the natural scale;
#'   * `estimated`: how many of them and of the mean were fitted (`df` of `logLik()`);
#'   * `log_likelihood`, and `objective`: the same with the priors' logarithms up to a constant;
#'   * `convergence`: `"converged"`, `"iterations"` (the limit was reached) or `"constant"`;
#'   * `evaluations` of the likelihood of all points;
#'   * `likelihood`: `method`, `"exact"` or `"neighbours"` (see *Many observations*), and the number of distinct
#'     `points`.
#' @source Rasmussen and Williams (2006), *Gaussian Processes for Machine Learning*, equations 2.30, 2.45 and 5.9.
#'   L-BFGS-B: Byrd, Lu, Nocedal and Zhu (1995). Many observations: Vecchia (1988), Estimation and model identification
#'   for continuous spatial processes, JRSS B 50.
#' @seealso [gp_regression()], [kernels], [refit_every()].
#' @concept type II maximum likelihood
#' @concept hyperparameter estimation
#' @concept empirical Bayes
#' @concept kriging
#' @concept MAP estimation
#' @examples
#' set.seed(1)
#' x <- runif(40)
#' y <- sin(8 * x) + rnorm(40, sd = 0.1)
#' fit <- gp_fit(x, y, kernel_matern(2.5))
#' fit
#' predict(fit, c(0.2, 0.7))
#' # one lengthscale per input, a prior on the first
#' x <- matrix(runif(80), 40)
#' y <- 5 + sin(8 * x[, 1]) + rnorm(40, sd = 0.1)
#' gp_fit(x, y, kernel_se(c(1, 1)),
#'        priors = list(se.lengthscale1 = c(meanlog = log(0.3), sdlog = 0.5)))
#' @export
gp_fit <- function(x, y, kernel, noise_var = NULL, mean = "fit", fix_noise = FALSE, starts = 3,
                   lower = NULL, upper = NULL, priors = NULL, iterations = 100, own_noise = NULL, ...) {
  check_dots_empty(..., allowed = names(formals(gp_fit)))
  asked <- fit_question(x, y, kernel, noise_var, mean, fix_noise, starts, lower, upper, priors, iterations, own_noise)
  do.call(fitted_regression, asked[names(asked) != "spread"])
}

# The fitting problem and its settings from gp_fit()'s arguments.
fit_question <- function(x, y, kernel, noise_var, mean, fix_noise = FALSE, starts = 3, lower = NULL, upper = NULL,
                         priors = NULL, iterations = 100, own_noise = NULL) {
  fix_noise <- check_flag(fix_noise)
  if (is.null(noise_var) && fix_noise) stop_missing("noise_var", "the noise variance, because `fix_noise` is TRUE")
  fit_mean <- identical(mean, "fit")
  if (!fit_mean) mean <- check_fit_mean(mean)
  object <- gp_regression(x, y, kernel, if (is.null(noise_var)) 1 else noise_var,
                          if (fit_mean) 0 else mean, own_noise)
  if (length(object$y) < 2) {
    stop_argument("y", amount_of(length(object$y), "observation"), "two or more observations")
  }
  if (fit_mean) object$mean <- base::mean(object$y)
  s2 <- base::mean((object$y - object$mean)^2)
  check_spread(s2, object)
  if (is.null(noise_var)) object$noise_var <- if (s2 > 0) s2 / 100 else 1
  # (If all observations have their own noise variances, the data contain no information about `noise_var`.)
  if (!is.null(object$own_noise) && !anyNA(object$own_noise)) fix_noise <- TRUE
  plan <- fit_plan(object$kernel, object$names, fix_noise, starts, lower, upper, priors, iterations)
  ranges <- cpp_fit_ranges(plan, c(kernel_parameters(object$kernel), object$noise_var), object$x, s2, fix_noise)
  names(ranges$start) <- plan$names
  list(object = object, problem = c(ranges, plan[c("priors", "scale", "single_variance", "starts")],
                                    list(resumes = FALSE)),
       fit_mean = fit_mean, constant = is_constant(object, s2), spread = s2, iterations = plan$iterations)
}

# Models to average over, as a list of `kernel`, `noise_var`, `mean`, `weight`, and the mode: from gp_fit()'s
# arguments; the others as average_question() has them. NULL where the rewards are constant.
fit_models <- function(x, y, kernel, noise_var, mean, count, earlier = NULL, smoothness = NULL,
                       smoothness_prior = NULL, ...) {
  asked <- fit_question(x, y, kernel, noise_var, mean, ...)
  if (asked$constant) return(NULL)
  object <- asked$object
  kernels <- kernels_of(object$kernel, smoothness)
  in_core <- lapply(kernels, function(kernel) regression_kernel(replace(object, "kernel", list(kernel))))
  found <- with_share(length(object$y) > few_points, function(progress) {
    cpp_fit_models(in_core, regression_points(object, object$x, "x"), object$y - object$mean,
                   as.double(object$own_noise), asked$fit_mean, c(asked$problem, list(progress = progress)),
                   asked$iterations, average_question(kernels, count, smoothness_prior, earlier), asked$spread)
  })
  c(models_found(found, kernels, object$mean), found[c("modes", "effective", "evaluations")])
}

# Fits to more points have a bar. (As kFewPoints in fitting/fit.h.)
few_points <- 300

# The kernels of each smoothness (NULL: the one that it has).
kernels_of <- function(kernel, smoothness) {
  if (is.null(smoothness)) list(kernel) else lapply(smoothness, with_smoothness, kernel = kernel)
}

# The arguments of average_of() in C++: the number of models, the kernels' prior weights, and the models of before,
# where local searches begin (for each smoothness those of least and most noise).
average_question <- function(kernels, count, smoothness_prior, earlier) {
  smoothness <- lapply(kernels, smoothness_of)
  smoothness_before <- lapply(earlier, function(model) smoothness_of(model$kernel))
  names <- names(kernel_parameters(kernels[[1]]))
  before <- lapply(smoothness, function(one) {
    same <- earlier[vapply(smoothness_before, identical, NA, one)]
    rows <- lapply(same[unique(c(1, length(same)))[seq_len(min(2, length(same)))]],
                   function(model) log(c(kernel_parameters(model$kernel), model$noise_var)))
    matrix(as.double(unlist(rows)), length(rows), length(names) + 1L, byrow = TRUE)
  })
  list(count = as.integer(count), unit = as.double(c(grepl("correlation", names), FALSE)),
       log_prior = log(rep_len(or_else(smoothness_prior, 1), length(kernels))), before = before,
       goes_on = vapply(before, nrow, 0L) > 0 & !vapply(smoothness, identical, NA, smoothness[[1]]))
}

# From average_to_list() in C++; `centre` was subtracted from the values.
models_found <- function(found, kernels, centre) {
  model <- function(kernel, parameters, mean, weight) {
    values <- exp(parameters)
    last <- length(values)
    list(kernel = replace_parameters(kernels[[kernel]], values[-last]), noise_var = values[[last]],
         mean = centre + mean, weight = weight)
  }
  list(best = model(found$best_kernel, found$best, found$best_mean, 1),
       models = lapply(seq_along(found$weight), function(k) {
         model(found$kernel[k], found$parameters[, k], found$mean[k], found$weight[k])
       }))
}

# Variances are searched from 1e-8 to 1e7 times this, and must be valid parameters of a kernel.
check_spread <- function(s2, object) {
  allowed <- c(1e8 / largest_number, largest_number / 1e7)
  if (s2 == 0 || s2 >= allowed[1] && s2 <= allowed[2]) return(invisible())
  argument <- if (s2 > 1 && abs(object$mean) > max(abs(object$y))) "mean" else "y"
  stop_argument(argument, sprintf("%s, with which it is %.7g", describe(object[[argument]]), s2),
                sprintf("such that the mean square of `y` less the mean is 0 or from %g to %g (other units would do)",
                        allowed[1], allowed[2]))
}

check_fit_mean <- function(mean) {
  if (!is_number(mean)) stop_argument("mean", describe(mean), "one finite number or \"fit\"")
  check_number(mean, lower = -largest_number, upper = largest_number)
}

# Is y minus the mean zero up to rounding?
is_constant <- function(object, s2) sqrt(s2) <= 4 * .Machine$double.eps * max(abs(object$y))

# The likelihood that was maximised, and its number of distinct points.
likelihood_used <- function(found) list(method = if (found$exact) "exact" else "neighbours", points = found$points)

fitted_regression <- function(object, problem, fit_mean, constant, iterations) {
  found <- if (constant) {
    list(parameters = problem$start, mean = 0, converged = TRUE, evaluations = 0, points = 0, exact = TRUE)
  } else {
    with_share(length(object$y) > few_points, function(progress) {
      cpp_fit(regression_kernel(object), regression_points(object, object$x, "x"), object$y - object$mean,
              as.double(object$own_noise), fit_mean, c(problem, list(progress = progress)), iterations)
    })
  }
  values <- stats::setNames(exp(found$parameters), names(problem$start))
  kept <- found$parameters == problem$start         # exp(log(x)) need not be x
  values[kept] <- c(kernel_parameters(object$kernel), object$noise_var)[kept]
  count <- length(values) - 1
  fit <- gp_regression(object$x, object$y,
                       kernel_with_parameters(object$kernel, values[seq_len(count)]),
                       values[[count + 1]], object$mean + found$mean, object$own_noise)
  fit$named <- object$named
  fit$estimated <- if (constant) 0 else sum(problem$lower < problem$upper) + fit_mean
  fit$parameters <- values
  fit$log_likelihood <- as.numeric(logLik.gp_regression(fit))
  fit$objective <- fit$log_likelihood + log_prior(found$parameters, problem)
  fit$convergence <- if (constant) "constant" else if (found$converged) "converged" else "iterations"
  fit$evaluations <- found$evaluations
  fit$likelihood <- likelihood_used(found)
  class(fit) <- c("gp_fit", "gp_regression")
  fit
}

# (As ParameterPrior in fitting/fit.h: up to a constant.)
log_prior <- function(parameters, problem) {
  of_one <- function(u, prior) {
    if (prior[1] > 0) return(prior[1] * u + if (prior[2] != 1) (prior[2] - 1) * log(-expm1(u)) else 0)
    if (has_no_prior(prior)) return(0)
    parts <- matrix(prior[-(1:2)], 3)
    density <- log(parts[1, ] / parts[3, ]) - 0.5 * ((u - parts[2, ]) / parts[3, ])^2
    if (ncol(parts) == 1) -0.5 * ((u - parts[2]) / parts[3])^2 else max(density) + log(sum(exp(density - max(density))))
  }
  sum(vapply(seq_along(parameters), function(i) of_one(parameters[[i]], problem$priors[[i]]), 0))
}

#' @rdname gp_fit
#' @export
print.gp_fit <- function(x, ...) {
  check_class(x, "gp_fit")
  print.gp_regression(x)
  cat(sprintf("%s fitted in %s%s\n", amount_of(x$estimated, "parameter"), amount_of(x$evaluations, "evaluation"),
              switch(x$convergence, converged = "", iterations = "; stopped by `iterations`",
                     constant = ": y is constant, the parameters were kept")))
  invisible(x)
}

# ---- ranges -----------------------------------------------------------------

# The fitted parameters of a kernel and the noise, from gp_fit()'s arguments, without the data. The range of each
# parameter has the form of FitPlan in fitting/fit_plan.h. `names`: of the inputs, and of the arms'
# numbers where the kernel has a matrix of them.
fit_plan <- function(kernel, names, fix_noise = FALSE, starts = 3, lower = NULL, upper = NULL, priors = NULL,
                     iterations = 100) {
  lower <- check_bounds(lower)
  upper <- check_bounds(upper)
  known <- c(names(kernel_parameters(kernel)), "noise_var")
  lower <- match_bounds(lower, known, "lower")
  upper <- match_bounds(upper, known, "upper")
  at_most_one <- grepl("correlation|[.]own$", known)
  check_not_crossed(lower, ifelse(at_most_one, pmin(upper, 1, na.rm = TRUE), upper), fix_noise)
  inputs <- utils::head(names, length(names) - !is.null(matrix_size(kernel)))
  ranges <- c(parameter_ranges(kernel, inputs), list(parameter_range("spread", c(1e-8, 10, 1e-5, 0.3))))
  c(list(names = known, unit = match(vapply(ranges, `[[`, "", "unit"), range_units) - 1L,
         inputs = lapply(ranges, `[[`, "inputs"), factors = vapply(ranges, `[[`, numeric(4), "factors"),
         lower = unname(lower), upper = unname(upper), at_most_one = at_most_one,
         priors = fit_priors(priors, known), fix_noise = fix_noise),
    fit_scale(kernel), list(starts = check_count(starts), iterations = check_count(iterations)))
}

check_not_crossed <- function(lower, upper, fix_noise) {
  crossed <- which(lower > upper & !(fix_noise & names(lower) == "noise_var"))
  if (length(crossed) == 0) return(invisible())
  stop_argument("lower", sprintf("%g for %s", lower[[crossed[1]]], names(lower)[crossed[1]]),
                sprintf("at most the upper bound %g", upper[[crossed[1]]]))
}

# (In the order of ParameterRange::Unit.)
range_units <- c("none", "width", "spread", "spread_by_square", "one_by_square")

# `factors` of the least and the greatest value and of the ends of the likely range, in units of these inputs.
parameter_range <- function(unit, factors, inputs = integer()) list(unit = unit, factors = factors, inputs = inputs)

# One per parameter in the order of kernel_parameters(). `spreads`: are variances scaled by the values' spread?
parameter_ranges <- function(kernel, inputs, spreads = TRUE) {
  if (!is_composite(kernel)) return(simple_ranges(kernel, inputs, spreads))
  alone <- trait(kernel, "multiplies") & seq_along(kernel$parts) > 1
  unlist(Map(function(part, alone) parameter_ranges(part, inputs, spreads && !alone), kernel$parts, alone),
         recursive = FALSE)
}

simple_ranges <- function(kernel, inputs, spreads) {
  if (has_matrix(kernel)) return(list())
  dims <- resolve_dims(kernel$dims, inputs)
  unlist(lapply(trait(kernel, "fitted"), field_ranges, kernel, dims, spreads), recursive = FALSE)
}

field_ranges <- function(field, kernel, dims, spreads) {
  count <- length(kernel[[field]])
  plain <- function(...) rep(list(parameter_range("none", c(...))), count)
  # (Inputs that share a parameter have the narrowest and the widest of their ranges.)
  by_width <- function(...) {
    lapply(if (count == 1) list(dims) else as.list(dims), function(inputs) parameter_range("width", c(...), inputs))
  }
  switch(field,
    variance = {
      unit <- if (trait(kernel, "grows")) c("one_by_square", "spread_by_square") else c("none", "spread")
      list(parameter_range(unit[1 + spreads], c(1e-6, 1e6, 0.3, 3), dims))
    },
    alpha = plain(0.01, 1000, 0.3, 10),
    own = plain(1e-3, 1, 0.03, 0.5),
    correlation = plain(0.01, 1, 0.1, 0.9),
    period = by_width(0.01, 10, 0.1, 1),
    lengthscale = if (trait(kernel, "unitless")) plain(0.05, 50, 0.3, 3) else by_width(1 / 200, 100, 0.05, 2))
}

check_bounds <- function(bounds, arg = deparse(substitute(bounds))) {
  force(arg)                            # before `bounds` is changed
  if (is.null(bounds)) return(NULL)
  if (is.list(bounds)) bounds <- unlist(bounds)
  bounds <- check_numbers(bounds, arg, lower = 0, open_lower = TRUE)
  if (length(bounds)) check_parameter_names(names(bounds), NULL, arg)
  bounds
}

match_bounds <- function(bounds, known, arg) {
  check_parameter_names(names(bounds), known, arg)
  out <- stats::setNames(rep(NA_real_, length(known)), known)
  out[names(bounds)] <- bounds
  out
}

check_parameter_names <- function(given, known, arg) {
  if (length(given) == 0 && !is.null(known)) return(invisible())
  if (is.null(given) || anyNA(given) || !all(nzchar(given)) || anyDuplicated(given)) {
    stop_argument(arg, "one without a distinct name for each entry", "named by parameters")
  }
  bad <- setdiff(given, known)
  if (!is.null(known) && length(bad)) {
    stop_argument(arg, sprintf("one for %s", dQuote(bad[1], FALSE)),
                  paste("named by parameters:", paste(dQuote(known, FALSE), collapse = ", ")))
  }
}

# A vector per parameter: the shapes of a Beta distribution, then weight, mean and sd of each part of a mixture of
# normals, as in ParameterPrior of fitting/fit.h. Shapes of 0 and no parts: no prior.
fit_priors <- function(priors, known) {
  if (!is.null(priors) && !is.list(priors)) stop_argument("priors", describe(priors), "a list of c(meanlog, sdlog)")
  if (length(priors)) {
    check_parameter_names(names(priors), NULL, "priors")
    check_parameter_names(names(priors), known, "priors")
  }
  lapply(known, function(name) {
    if (is.null(priors[[name]])) return(normal_prior(0, Inf))
    check_parameter_prior(priors[[name]], paste0("priors$", name), grepl("correlation", name))
  })
}

# c(meanlog, sdlog); rows of these, with or without a third column of weights; of a correlation also
# c(shape1 =, shape2 =). Returns an element of fit_priors().
check_parameter_prior <- function(prior, arg, correlation = FALSE) {
  shapes <- c("shape1", "shape2")
  if (correlation && setequal(names(prior), shapes)) {
    return(check_numbers(unname(prior[shapes]), arg, lower = 0, open_lower = TRUE, lengths = 2))
  }
  if (any(shapes %in% names(prior))) {
    stop_argument(arg, "a Beta prior",
                  if (correlation) "c(shape1 =, shape2 =)" else "c(meanlog, sdlog): only correlations have one")
  }
  c(0, 0, t(lognormal_parts(prior, arg)))
}

most_prior_parts <- 10

# The parts of a log-normal prior, a row each: weight, mean and sd.
lognormal_parts <- function(prior, arg) {
  if (setequal(names(prior), c("meanlog", "sdlog"))) prior <- prior[c("meanlog", "sdlog")]
  if (!is.matrix(prior)) prior <- matrix(check_numbers(prior, arg, lengths = 2), 1)
  parts <- nrow(prior)
  if (!is.numeric(prior) || parts == 0 || parts > most_prior_parts || !ncol(prior) %in% 2:3) {
    stop_argument(arg, describe(prior), sprintf(
      "c(meanlog, sdlog), or up to %d rows of these, with or without a column of weights", most_prior_parts))
  }
  check_numbers(as.vector(prior), arg)
  if (any(prior[, 2] <= 0)) {
    stop_argument(arg, describe(prior[prior[, 2] <= 0, 2][[1]]), "c(meanlog, sdlog) with sdlog > 0")
  }
  weight <- if (ncol(prior) == 3) prior[, 3] else rep(1, parts)
  if (any(weight <= 0)) stop_argument(arg, describe(weight[weight <= 0][[1]]), "weights > 0 in its third column")
  unname(cbind(weight / sum(weight), prior[, 1:2, drop = FALSE]))
}

# The parameters (numbered from 0) that multiply the whole kernel when all of them are
# multiplied; and whether this is one parameter and the kernel has no other variance.
fit_scale <- function(kernel) {
  all <- grep("(^|[.])variance$", names(kernel_parameters(kernel)))
  scale <- scale_parameters(kernel)
  list(scale = as.integer(scale) - 1L, single_variance = length(scale) == 1 && length(all) == 1)
}

scale_parameters <- function(kernel) {
  if (!is_composite(kernel)) return(which(fitted_fields_expanded(kernel) == "variance"))
  counts <- vapply(kernel$parts, function(part) length(kernel_parameters(part)), 0)
  before <- cumsum(c(0, counts))[seq_along(counts)]
  parts <- Map(function(part, b) b + scale_parameters(part), kernel$parts, before)
  has <- lengths(parts) > 0
  if (trait(kernel, "multiplies")) return(if (any(has)) parts[[which(has)[1]]] else integer())
  if (all(has)) unlist(parts) else integer()
}

fitted_fields_expanded <- function(kernel) {
  fields <- trait(kernel, "fitted")
  rep(fields, vapply(fields, function(field) length(kernel[[field]]), 0L))
}

# Kernel, noise, mean; if models are averaged, also the models.
refitted <- function(question, rule, current, fits_mean) {
  average <- or_else(rule$average, 1)
  if (average == 1) {
    fit <- do.call(gp_fit, question, quote = TRUE)
    if (!all(is.finite(c(fit$parameters, fit$mean, fit$objective)))) stop_fault("the likelihood is not finite")
    return(list(kernel = fit$kernel, noise_var = fit$noise_var, mean = if (fits_mean) fit$mean else current$mean))
  }
  found <- do.call(fit_models, c(question, list(count = average, earlier = current$models,
                                                smoothness = rule$smoothness,
                                                smoothness_prior = rule$smoothness_prior)), quote = TRUE)
  if (is.null(found)) return(current[c("kernel", "noise_var", "mean", intersect("models", names(current)))])
  # (A mean that is not fitted may be one number per arm; it is taken from the bandit.)
  if (!fits_mean) found$best$mean <- current$mean
  models <- if (fits_mean) found$models else lapply(found$models, function(model) model[names(model) != "mean"])
  c(found$best[c("kernel", "noise_var", "mean")], list(models = models))
}

# (The other fields are those of a regression.)
fit_entry <- list(settings = alist(
  evaluations = check_count(evaluations, lower = 0),
  convergence = check_choice(convergence, c("converged", "iterations", "constant"))
))

register_family("gp_fit", fit_entry, open = TRUE)
