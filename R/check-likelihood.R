# Model checks for responses that are not Gaussian. Layer: bandit.

# check_model() for rewards without Gaussian noise. A left-out reward is removed from the posterior by removing its
# site: this is the cavity distribution, which needs no further fit. Let `mean` and `sd` be f's at a point, and l' and w
# the sums of the slopes and of the weights of the rewards that are left out there. Then
#   1 / sd_^2 = 1 / sd^2 - w,   mean_ = mean - sd_^2 l'.
# z follows from the distribution function, randomised within the steps of a discrete one.

slope_of_reward <- function(sampling, y, size, f, h = 1e-4) {
  (sampling$log_p(y, size, f + h) - sampling$log_p(y, size, f - h)) / (2 * h)
}

weight_of_reward <- function(sampling, y, size, f, h = 1e-3) {
  if (!is.null(sampling$weight)) return(sampling$weight(y, size, f))
  curvature <- (sampling$log_p(y, size, f + h) - 2 * sampling$log_p(y, size, f) + sampling$log_p(y, size, f - h)) / h^2
  pmax(0, -curvature)
}

# ---- rewards and predictions: see checked_data() --------------------------------------------

# A list like that of bandit_checked(), with `left_out(by)` instead of the results from a covariance.
likelihood_checked <- function(bandit, config, changes, k) {
  known <- cpp_bandit_known(bandit$handle, k)
  lasting <- trait(rule_in_force(config), "lasting")
  if (is.finite(lasting)) known <- lapply(known, utils::tail, lasting)
  if (of_form(bandit$config, "several")) {
    # (The fit of a likelihood has no values of failures.)
    known <- lapply(known, `[`, is_reported(bandit, known$id, k))
  }
  check_enough(sum(is_reported(bandit, known$id, k)))
  at <- in_scale_of_rewards(posterior_where_played(bandit, known$id, k), config, scale = "latent")
  sampling <- sampling_of(config)
  uniform <- uniforms_of(known$id)
  x <- known_inputs(bandit, known$id)
  point <- query_frame(bandit, known$id)[-1]
  response <- trait(config$rewards, "response")
  prior <- known_prior_mean(bandit, known$id, config$mean)
  as_measurements <- function(target, weight) list(y = target - prior, noise = 1 / weight, x = x,
                                               gram_at = grams(config$kernel, x))
  left_out <- function(by) {
    left <- without_sites(sites_of(sampling, known, at, is_variational(config$rewards)), at, by, as_measurements, prior)
    left_out_predicted(left, sampling, known, uniform)
  }
  none <- rep(0, length(known$id))
  list(id = known$id, point = point, reward = known$value, rate = known$value / known$size, noise = none + 1,
       prior = none, x = x, counts = is_reported(bandit, known$id, k), left_out = left_out,
       said = if (of_form(bandit$config, "several")) no_residuals else said_of_sites(bandit, known, uniform),
       fitted = is_fitted(bandit),
       user = function(mean, sd) on_response(data.frame(mean = mean, sd = sd), response))
}

sampling_of <- function(config) trait(config$rewards, "sampling")(config$rewards, config$noise_var)

# The positions of rewards within their steps: always the same, independent of the state of R's generator.
uniforms_of <- function(ids) {
  preserve_rng({
    set.seed(1, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
    stats::runif(max(ids))[ids]
  })
}

# Slope and weight of each reward at the posterior mean; for variational inference, their expectations.
sites_of <- function(sampling, known, at, variational) {
  nodes <- if (variational) fine_rule else list(at = 0, weight = 1)
  f <- outer(at$sd, nodes$at) + at$mean
  over <- function(of) drop(matrix(of(sampling, known$value, known$size, f), nrow(f)) %*% nodes$weight)
  list(mean = at$mean, slope = over(slope_of_reward), weight = over(weight_of_reward))
}

# f without the left-out rewards, and (`about`) with one of them again. `as_measurements(target, weight)`: rewards as
# measurements of f, see left_out_dense(), which solves the rows that lose their significant digits.
without_sites <- function(sites, at, by, as_measurements, prior) {
  measurements <- as_measurements(sites$mean + sites$slope / pmax(sites$weight, 1e-12), pmax(sites$weight, 1e-12))
  group <- if (by == "place") point_groups(measurements) else seq_along(sites$mean)
  together <- function(part) drop(rowsum(part, group))[group]
  rest <- 1 - at$sd^2 * together(sites$weight)
  variance <- at$sd^2 / rest
  mean <- at$mean - variance * together(sites$slope)
  doubtful <- which(rest < 1e-6)
  if (length(doubtful)) {
    exact <- left_out_dense(measurements, by, group[doubtful])
    mean[doubtful] <- exact$mean + prior[doubtful]
    variance[doubtful] <- exact$variance
  }
  tilted <- 1 / (1 / variance + sites$weight)
  about <- list(mean = tilted * (mean / variance + sites$weight * sites$mean + sites$slope), sd = sqrt(tilted))
  list(mean = mean, variance = variance, about = about)
}

# A row for each reward, in the format that left_out_by() has for groups.
left_out_predicted <- function(left, sampling, known, uniform) {
  rows <- seq_along(known$id)
  sd <- sqrt(left$variance)
  list(group = rows, first = rows, mean = left$mean, variance = left$variance,
       z = quantile_of_reward(sampling, known, left$mean, sd, uniform),
       density = log_predictive(sampling, known, left$mean, sd, left$about),
       constant = sampling$constant(known$value, known$size))
}

# Log densities of rewards if f is normal.
log_predictive <- function(sampling, known, mean, sd, about) {
  f <- outer(about$sd, fine_rule$at) + about$mean
  log_ratio <- stats::dnorm(f, mean, sd, log = TRUE) - stats::dnorm(f, about$mean, about$sd, log = TRUE)
  log_sum(matrix(sampling$log_p(known$value, known$size, f), nrow(f)) + log_ratio, fine_rule$weight)
}

# The normal quantile of the distribution function at a reward, at random within its step. (By the trapezium rule, since
# the integrand may also be a step function of f.)
quantile_of_reward <- function(sampling, known, mean, sd, uniform) {
  nodes <- seq(-8, 8, by = 0.05)
  weight <- stats::dnorm(nodes) / sum(stats::dnorm(nodes))
  below <- function(y) {
    blocks <- split(seq_along(y), (seq_along(y) - 1) %/% 1000)
    unlist(lapply(blocks, function(rows) {
      f <- outer(sd[rows], nodes) + mean[rows]
      drop(matrix(sampling$below(y[rows], known$size[rows], f), length(rows)) %*% weight)
    }), use.names = FALSE)
  }
  upper <- below(known$value)
  lower <- if (sampling$discrete) below(known$value - 1) else upper
  stats::qnorm(pmin(pmax(lower + uniform * (upper - lower), 1e-15), 1 - 1e-15))
}

# Residuals of rewards, by the model state when their queries were made: independent and standard normal under the
# model, except for the likelihood's approximation.
said_of_sites <- function(bandit, known, uniform) {
  reported <- rows_said_of(bandit, known)
  out <- residuals_of(rep(NA_real_, length(reported$rows)), NA_real_)
  for (k in unique(reported$before)) {
    here <- reported$before == k
    at <- reported$rows[here]
    config <- if (k == 0) bandit$config else refitted_config(bandit$config, bandit$refits[[k]])
    model_state <- data.frame(mean = bandit$queries$mean[known$id[at]], sd = bandit$queries$sd[known$id[at]])
    model_state <- in_scale_of_rewards(model_state, config, scale = "latent")
    z <- quantile_of_reward(sampling_of(config), lapply(known, `[`, at), model_state$mean, model_state$sd, uniform[at])
    out[here, ] <- residuals_of(z, model_state$mean)
  }
  out[is.finite(out[, "z"]), , drop = FALSE]
}

register_form("response", checked = likelihood_checked)
register_form("comparison", checked = function(bandit, config, ...) {
  stop_state("`check_model()` needs rewards of one point each; those of this bandit are ",
             trait(config$rewards, "title"), ".", argument = "object")
})
