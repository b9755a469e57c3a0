# Sampling distributions of the response types, for checks of the model. Layer: model.

# The sampling distribution of a response type, given f. `log_p(y, size, f)` is the log density, and `below(y, size, f)`
# the distribution function. `discrete`: are the rewards integers? `weight(y, size, f)` is the weight of the
# pseudo-observation; NULL means minus the second derivative of log_p. `constant(y, size)` is the log score of each
# reward under a constant fitted to the other rewards. `noise_var`: the variance of a measurement.
new_sampling <- function(log_p, below, constant, discrete = TRUE, weight = NULL) {
  list(log_p = log_p, below = below, constant = constant, discrete = discrete, weight = weight)
}

sampling_of_successes <- function(rewards, noise_var) {
  chance <- trait(rewards, "response")
  new_sampling(function(y, size, f) stats::dbinom(y, size, chance(f), log = TRUE),
               function(y, size, f) stats::pbinom(y, size, chance(f)),
               function(y, size) stats::dbinom(y, size, (sum(y) - y + 0.5) / (sum(size) - size + 1), log = TRUE))
}

sampling_of_counts <- function(rewards, noise_var) {
  new_sampling(function(y, size, f) stats::dpois(y, size * exp(f), log = TRUE),
               function(y, size, f) stats::ppois(y, size * exp(f)),
               function(y, size) stats::dpois(y, size * (sum(y) - y + 0.5) / (sum(size) - size), log = TRUE))
}

sampling_of_levels <- function(rewards, noise_var) {
  ends <- c(-Inf, rewards$cuts, Inf)
  # (The smaller tail is used because it is more accurate.)
  log_p <- function(y, size, f) {
    upper <- ends[y + 1] - f
    lower <- ends[y] - f
    above <- lower > 0
    stats::plogis(ifelse(above, -lower, upper), log.p = TRUE) +
      log1p(-exp(stats::plogis(ifelse(above, -upper, lower), log.p = TRUE) -
                   stats::plogis(ifelse(above, -lower, upper), log.p = TRUE)))
  }
  constant <- function(y, size) {
    count <- tabulate(y, length(ends) - 1)
    log((count[y] - 1 + 0.5) / (length(y) - 1 + 0.5 * length(count)))
  }
  new_sampling(log_p, function(y, size, f) stats::plogis(ends[y + 1] - f), constant)
}

# (The weight is that of a step towards the mode, as in the core: minus the second derivative may be negative.)
sampling_of_outliers <- function(rewards, noise_var) {
  df <- rewards$df
  sd <- sqrt(noise_var)
  constant <- function(y, size) {
    vapply(seq_along(y), function(i) stats::dnorm(y[i], mean(y[-i]), stats::sd(y[-i]), log = TRUE), 0)
  }
  new_sampling(function(y, size, f) stats::dt((y - f) / sd, df, log = TRUE) - log(sd),
               function(y, size, f) stats::pt((y - f) / sd, df), constant, discrete = FALSE,
               weight = function(y, size, f) (df + 1) / (df + (y - f)^2 / noise_var) / noise_var)
}
