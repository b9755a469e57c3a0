# Refits with noise that differs from place to place (refit_every(noise = "varying")): hetGP's penalised likelihood, see
# fitting/varying_noise.h.

# What refit_every(noise = "varying") is not for.
check_varying_noise <- function(refit, kernel, beside = list()) {
  if (!identical(refit$noise, "varying")) return(invisible())
  refuse <- function(given, allowed) {
    stop_argument("refit", paste("refit_every(noise = \"varying\") with", given), paste("one with", allowed))
  }
  if (is_composite(kernel) || !all(c("lengthscale", "variance") %in% trait(kernel, "fitted"))) {
    refuse("a kernel without one lengthscale per input, or one for all", "kernel_se(), kernel_matern() or kernel_rq()")
  }
  if (or_else(refit$average, 1) > 1) refuse(sprintf("`average = %d`", refit$average), "`average = 1`")
  for (name in names(beside)) if (!is.null(beside[[name]])) refuse(sprintf("`%s`", name), sprintf("no `%s`", name))
}

# Readings by places.
place_readings <- function(x, y) {
  points <- match_frames(as.data.frame(x), first <- unique(as.data.frame(x)))
  count <- tabulate(points, nrow(first))
  average <- as.vector(rowsum(y, points, reorder = TRUE)) / count
  spread <- as.vector(rowsum((y - average[points])^2, points, reorder = TRUE))
  list(x = unname(as.matrix(first)), count = as.double(count), average = average, spread = spread)
}

# Does the number of readings allow it?
can_vary <- function(readings) sum(readings$count > 1) >= 10 || length(readings$count) >= 30

# The parameters that a refit with constant noise has `found`, or, where that pays, with noise that varies:
# `noise_field`.
with_varying_noise <- function(found, x, y, own, fits_mean, settings) {
  readings <- place_readings(x, y)
  if (any(!is.na(own)) || !can_vary(readings)) return(found)
  constant <- gp_regression(x, y, found$kernel, found$noise_var, if (fits_mean) found$mean else 0)
  asked <- do.call(fit_question, c(list(x, y, found$kernel, noise_var = found$noise_var,
                                        mean = if (fits_mean) "fit" else 0), settings), quote = TRUE)
  best <- best_varying_noise(asked, readings, constant, fits_mean)
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
  found$noise_field <- list(kernel = kernel_with_parameters(found$kernel, longer), places = readings$x,
                            weights = best$weights, level = best$level, least = range[1], most = range[2],
                            latent = theta[kernels + 2 + seq_along(readings$count)], nugget = exp(theta[kernels + 2]))
  found
}

# The lengthscale of the noise, and the nugget.
varying_parameters <- 2

variance_of <- function(kernel) grep("variance$", names(kernel_parameters(kernel)))

# Climbs from what the constant fit leaves over: the logarithm of a mean of a squares of normal numbers of variance 1 is
# digamma(a / 2) - log(a / 2) on average.
best_varying_noise <- function(asked, readings, constant, fits_mean) {
  problem <- asked$problem
  off <- readings$average - predict(constant, readings$x, se.fit = FALSE)
  a <- readings$count
  left <- (readings$spread + a * off^2) / a
  bounds <- problem[c("lower", "upper")]
  noise <- length(problem$start)
  latent <- log(pmax(left, 1e-4 * constant$noise_var)) - digamma(a / 2) + log(a / 2)
  latent <- pmin(pmax(latent, bounds$lower[noise]), bounds$upper[noise])
  starts <- list(c(log(1), log(0.5)), c(log(3), log(2)))
  kernel <- regression_kernel(asked$object)
  unit <- regression_kernel(with_unit_variance(asked$object))
  readings$x <- regression_points(asked$object, readings$x, "x")
  readings$average <- readings$average - asked$object$mean
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
    core(cpp_fit_varying(kernel, unit, variance_of(asked$object$kernel), readings, fits_mean, own,
                         max(asked$iterations, 200L)))
  })
  tries[[which.max(vapply(tries, `[[`, 0, "value"))]]
}

with_unit_variance <- function(object) {
  values <- kernel_parameters(object$kernel)
  values[variance_of(object$kernel)] <- 1
  object$kernel <- kernel_with_parameters(object$kernel, values)
  object
}

# The noise variance at points as the kernel sees them.
noise_at <- function(field, x) {
  value <- exp(field$level + drop(kernel_gram(field$kernel, unname(x), field$places) %*% field$weights))
  pmin(pmax(value, field$least), field$most)
}

# As the core takes it.
core_noise_field <- function(config) {
  field <- config$noise_field
  if (is.null(field)) return(NULL)
  kernel <- resolve_kernel(field$kernel, input_names(config), arms = arm_count(config$domain))
  c(list(kernel = kernel), field[c("places", "weights", "level", "least", "most")])
}

# Of a refit that came from anywhere.
check_noise_field <- function(field, config) {
  if (is.null(field)) return(invisible())
  if (!is.list(field) || !identical(config$refit$noise,
                                    "varying")) damaged("a refit has a noise that the bandit does not")
  resolve_kernel(check_made_here(field$kernel), input_names(config), arms = arm_count(config$domain))
  places <- check_matrix(field$places, "places", columns = length(input_names(config)))
  check_numbers(field$weights, "weights", lengths = nrow(places))
  check_number(field$level, "level", lower = -700, upper = 700)
  check_positive(field$least, "least")
  check_number(field$most, "most", lower = field$least, upper = largest_number)
}
