# Refits with heteroscedastic noise. Layer: bandit.

# Refits with noise that differs between points (refit_every(noise = "varying")): hetGP's penalised likelihood, see
# fitting/varying_noise.h.

# Replicates grouped by point.
point_measurements <- function(x, y) {
  points <- match_frames(as.data.frame(x), first <- unique(as.data.frame(x)))
  count <- tabulate(points, nrow(first))
  average <- as.vector(rowsum(y, points, reorder = TRUE)) / count
  spread <- as.vector(rowsum((y - average[points])^2, points, reorder = TRUE))
  list(x = unname(as.matrix(first)), count = as.double(count), average = average, spread = spread)
}

# The parameters that a refit with constant noise has `found`; if it improves the likelihood enough, those with
# heteroscedastic noise, with `noise_field`. `known`: see measurements_of().
with_varying_noise <- function(known, found, rule) {
  fits_mean <- rule$mean == "fit"
  x <- known$x
  y <- known$y
  measurements <- point_measurements(x, y)
  enough <- sum(measurements$count > 1) >= 10 || length(measurements$count) >= 30
  if (any(!is.na(known$noise_var)) || !enough) return(found)
  constant <- gp_regression(x, y, found$kernel, found$noise_var, if (fits_mean) found$mean else 0)
  asked <- do.call(fit_question, c(list(x, y, found$kernel, noise_var = found$noise_var,
                                        mean = if (fits_mean) "fit" else 0), rule$settings), quote = TRUE)
  best <- best_varying_noise(asked, measurements, constant, fits_mean)
  gain <- best$likelihood - as.numeric(logLik.gp_regression(constant))
  if (!is.finite(gain) || gain < 2 + varying_parameters) return(found)
  kernels <- length(kernel_parameters(found$kernel))
  theta <- best$parameters
  found$kernel <- kernel_with_parameters(found$kernel, exp(theta[seq_len(kernels)]))
  longer <- kernel_parameters(found$kernel) * exp(theta[kernels + 1])
  longer[variance_of(found$kernel)] <- 1
  found$noise_var <- exp(best$level)
  if (fits_mean) found$mean <- asked$object$mean + best$mean
  range <- range(exp(best$log_noise))
  found$noise_field <- list(kernel = kernel_with_parameters(found$kernel, longer), points = measurements$x,
                            weights = best$weights, level = best$level, least = range[1], most = range[2],
                            latent = theta[kernels + 2 + seq_along(measurements$count)],
                              nugget = exp(theta[kernels + 2]))
  found
}

# Two: the lengthscale of the noise, and the nugget.
varying_parameters <- 2

variance_of <- function(kernel) grep("variance$", names(kernel_parameters(kernel)))

# Local search from the residuals of the constant fit. The logarithm of the mean of a squared standard normal numbers is
# digamma(a / 2) - log(a / 2) on average.
best_varying_noise <- function(asked, measurements, constant, fits_mean) {
  problem <- asked$problem
  off <- measurements$average - predict(constant, measurements$x, se.fit = FALSE)
  a <- measurements$count
  left <- (measurements$spread + a * off^2) / a
  bounds <- problem[c("lower", "upper")]
  noise <- length(problem$start)
  latent <- log(pmax(left, 1e-4 * constant$noise_var)) - digamma(a / 2) + log(a / 2)
  latent <- pmin(pmax(latent, bounds$lower[noise]), bounds$upper[noise])
  starts <- list(c(log(1), log(0.5)), c(log(3), log(2)))
  kernel <- regression_kernel(asked$object)
  unit <- regression_kernel(with_unit_variance(asked$object))
  measurements$x <- regression_points(asked$object, measurements$x, "x")
  measurements$average <- measurements$average - asked$object$mean
  tries <- lapply(starts, function(start) {
    extras <- rbind(extra_range(start[1], 0, log(20), 0, log(5), 0, Inf),
                    extra_range(start[2], log(1e-3), log(100), log(0.1), log(10), 0, Inf),
                    extra_range(latent, bounds$lower[noise], bounds$upper[noise], bounds$lower[noise],
                                bounds$upper[noise], 0, Inf))
    own <- with_extras(problem, extras)
    end <- length(own$start)
    own$lower[end] <- own$upper[end] <- own$start[end]
    own$scale <- integer()
    own$starts <- 1L
    with_share(length(measurements$count) > few_points, function(progress) {
      cpp_fit_varying(kernel, unit, variance_of(asked$object$kernel), measurements, fits_mean,
                      c(own, list(progress = progress)), max(asked$iterations, 200L))
    })
  })
  tries[[which.max(vapply(tries, `[[`, 0, "value"))]]
}

with_unit_variance <- function(object) {
  values <- kernel_parameters(object$kernel)
  values[variance_of(object$kernel)] <- 1
  object$kernel <- kernel_with_parameters(object$kernel, values)
  object
}

# The noise variance at points in the kernel's format.
noise_at <- function(field, x) {
  value <- exp(field$level + drop(kernel_gram(field$kernel, unname(x), field$points) %*% field$weights))
  pmin(pmax(value, field$least), field$most)
}

# Noise variances of the values that cpp_bandit_known() lists, in the model's units like `own`. `x`: their points, if
# the noise differs between points.
noise_of <- function(known, config, own = known$noise_var, x = NULL) {
  usual <- if (is.null(config$noise_field) || is.null(x)) config$noise_var else noise_at(config$noise_field, x)
  ifelse(is.na(own), usual, own) / known$size
}
