# Regret bounds based on confidence widths. Layer: simulation.

# Regret bounds from widths that hold in all rounds simultaneously: r_t <= 2 w_t sd_{t-1}(x_t). The sum of the variances
# is at most c gamma_T with c = 2 v / log(1 + v / lambda).

variance_sum <- function(gain, noise_var, variance) {
  noise_var <- check_positive(noise_var, "noise_var")
  variance <- check_positive(variance, "variance")
  2 * variance / log1p(variance / noise_var) * gain[-1]
}

# w_1..w_T from a number, from one number per round, or from a function of the round.
width_values <- function(width, rounds) {
  if (is.function(width)) width <- vapply(seq_len(rounds), checked_function(width, "width"), 0)
  width <- check_numbers(width, "width", lower = 0)
  if (!length(width) %in% c(1, rounds)) {
    stop_argument("width", describe(width), sprintf("1 or %g numbers, or a function", rounds))
  }
  cummax(rep_len(width, rounds))
}

regret_ucb <- function(rounds, gain, noise_var, width, guard = 0, repeats = 1, epsilon = 0, variance = 1, B = NULL,
                       total = 0) {
  t <- seq_len(rounds)
  epsilon <- check_number(epsilon, lower = 0)
  wrong <- epsilon * sqrt(t - 1) + check_number(total, lower = 0)
  width <- width_values(width, rounds) + wrong / sqrt(check_positive(noise_var, "noise_var"))
  factor <- exp(check_number(guard, lower = 0)) * check_number(repeats, lower = 1)
  usual <- 2 * factor * width * sqrt(t * variance_sum(gain, noise_var, variance)) + 2 * epsilon * t
  if (is.null(B)) return(usual)
  if (factor > 1 || epsilon > 0) stop_argument("B", describe(B), "NULL with `guard`, `repeats` or `epsilon`")
  worst <- 2 * check_number(B, lower = 0) * sqrt(variance)
  few <- small_ridge(gain, noise_var)
  pmin(usual, worst * few$rounds + 2 * width * sqrt(few$sum * t))
}

# Rounds with sd^2 > lambda gain more than log(2) / 2 nats each, so there are few of them. The sum of the variances in
# the other rounds is small, because log(1 + x) >= x log(2) for x <= 1.
small_ridge <- function(gain, noise_var) {
  list(rounds = 2 * gain[-1] / log(2), sum = 2 * noise_var * gain[-1] / log(2))
}

# Result 3 of vignettes/articles/derivations.Rmd.
regret_noise_free <- function(rounds, B, gains, noise_var = 1e-10, variance = 1, quantity = "regret") {
  B <- check_number(B, lower = 0)
  variance <- check_positive(variance)
  if (check_positive(noise_var) > variance) stop_argument("noise_var", describe(noise_var), "at most `variance`")
  quantity <- check_choice(quantity, c("regret", "simple"))
  gains <- check_function(gains)
  squares <- c(variance * 4^-seq(0, floor(log(variance / noise_var) / log(4))), noise_var)
  n <- seq_len(rounds)
  more <- rep(rounds, length(squares))     # at most that number of rounds have sd^2 > squares
  total <- rep(Inf, rounds)
  for (lambda in squares) {
    gain <- gain_values(call_user(gains(lambda), "gains", sprintf("at the noise variance %g", lambda)), rounds)
    often <- vapply(squares, function(s2) max(0, n[n * log1p(s2 / lambda) / 2 < gain[-1]]), 0)
    more <- pmin(more, often)
    total <- pmin(total, sqrt(n * variance_sum(gain, lambda, variance)))
  }
  largest <- vapply(n, function(i) sqrt(min(variance, squares[more < i])), 0)
  2 * B * if (quantity == "simple") largest else pmin(cumsum(largest), total)
}

# width_glm(): r_t <= 2 w_t sd_c(x_t). With c_i >= 1 / kappa, sd_c is at most the sd for measurements with noise
# variance kappa.
regret_glm <- function(rounds, gain, noise_var, B, width, link = "logit", mean = 0, variance = 1) {
  kappa <- largest_noise(check_number(B, lower = 0), check_choice(link, c("logit", "probit", "counts")),
                         check_number(mean), check_positive(variance))
  if (check_positive(noise_var) < kappa * (1 - 1e-12)) {
    stop_argument("noise_var", describe(noise_var), sprintf("%.7g, which is kappa, or more", kappa))
  }
  2 * width_values(width, rounds) * sqrt(seq_len(rounds) * variance_sum(gain, noise_var, variance))
}

# For a reward of size 1, the curvature is smallest at an end of m +- B sqrt(v).
largest_noise <- function(B, link, mean, variance) {
  ends <- mean + c(-1, 1) * B * sqrt(variance)
  # The curvature for a success, which is smallest for large f.
  success <- function(f) {
    hazard <- exp(stats::dnorm(f, log = TRUE) - stats::pnorm(f, log.p = TRUE))
    hazard * (hazard + f)
  }
  1 / switch(link, logit = min(stats::dlogis(ends)), counts = exp(ends[1]),
             probit = min(success(ends[2]), success(-ends[1])))
}

# f(x*) - f(x_t) <= 2 w sd(f(x_t) - f(x_{t-1})), and the variance is at most 4 v. The point x_t is x_{t-1} of the next
# round.
regret_duel <- function(rounds, gain, noise_var, B, width, variance = 1, both = FALSE, first = 0) {
  one <- regret_glm(rounds, gain, noise_var, B, width, variance = 4 * check_positive(variance))
  if (check_flag(both)) 2 * one + check_number(first, lower = 0) else one
}

# Maximum variance reduction: 2 w times the largest remaining sd, which is at most the mean of the sds of the points
# played.
regret_mvr <- function(rounds, gain, noise_var, B, R, arms, delta = 0.1, looks = 1, variance = 1) {
  B <- check_number(B, lower = 0)
  width <- fixed_multiplier(B, check_number(R, lower = 0), check_positive(noise_var, "noise_var"), check_count(arms),
                            check_delta(delta), check_count(looks))
  left <- largest_left(gain, noise_var, variance)
  cummin(pmin(2 * width * sqrt(left), 2 * B * sqrt(variance)))
}

# Result 18 of vignettes/articles/derivations.Rmd.
regret_penalty <- function(rounds, gain, noise_var, width, constraint_width = width, penalty = Inf, D = NULL,
                           exact = NULL, count = 1, variance = 1, quantity = "regret") {
  spread <- variance_sum(gain, noise_var, variance)
  t <- seq_len(rounds)
  of_f <- 2 * width_values(width, rounds) * sqrt(t * spread)
  if (check_choice(quantity, c("regret", "violation")) == "regret") return(of_f)
  w_g <- width_values(constraint_width, rounds)
  of_g <- check_count(count) * 2 * w_g * sqrt(t * spread)
  rho <- if (is.function(penalty)) vapply(t, function(t) penalty_now(penalty, t), 0)
         else rep(if (identical(penalty, Inf)) Inf else check_penalty_of_rounds(penalty), rounds)
  if (!is.null(exact)) {
    exact <- check_number(exact, lower = 0)
    if (is.function(penalty) || penalty <= exact || is.infinite(penalty)) {
      stop_argument("penalty", describe(penalty), "a number > `exact`, if that is given")
    }
    return((of_f + penalty * of_g) / (penalty - exact))
  }
  if (all(is.infinite(rho))) return(of_g)
  if (is.null(D)) stop_missing("D", "max f - f(x*), a number >= 0, because the penalty is finite")
  of_g + 2 * width_values(width, rounds) * sqrt(spread * cumsum(rho^-2)) + check_number(D, lower = 0) * cumsum(1 / rho)
}

regret_clip <- function(rounds, gain, noise_var, B, moment, alpha = 1, delta = 0.1, variance = 1) {
  clip <- rewards_robust(moment = moment, alpha = alpha, rounds = rounds)
  root <- sqrt(check_positive(noise_var, "noise_var"))
  bias <- clip$moment * clip$b^-clip$alpha * sqrt(seq_len(rounds) - 1) / root
  noise <- clip$b / root * sqrt(2 * gain[seq_len(rounds)] + 2 * log(1 / check_delta(delta)))
  width <- check_number(B, lower = 0) + bias + noise
  regret_ucb(rounds, gain, noise_var, width, variance = variance)
}

regret_irgp <- function(rounds, gain, noise_var, arms, variance = 1) {
  arms <- check_count(arms, lower = 2)
  sqrt((2 + 2 * log(arms / 2)) * seq_len(rounds) * variance_sum(gain, noise_var, variance))
}

regret_eims <- function(rounds, gain, noise_var, arms, variance = 1, least = variance) {
  spread <- variance_sum(gain, noise_var, variance)
  least <- check_positive(least)
  if (least > variance) stop_argument("least", describe(least), "at most `variance`")
  t <- seq_len(rounds)
  D <- 2 + 2 * log(check_count(arms, lower = 2) / 2)
  sqrt(t * spread * (D + 2 * log(D + 3) + log(variance / least) + log1p((t - 1) * variance / noise_var)))
}

regret_straddle <- function(rounds, gain, noise_var, variance = 1) {
  sqrt(2 * variance_sum(gain, noise_var, variance) / seq_len(rounds))
}

regret_lse <- function(rounds, gain, noise_var, width, variance = 1) {
  width_values(width, rounds) * sqrt(variance_sum(gain, noise_var, variance) / seq_len(rounds))
}

regret_stable <- function(rounds, gain, noise_var, width, variance = 1) {
  2 * regret_lse(rounds, gain, noise_var, width, variance)
}

# The first batch costs at most 2 B sqrt(v) per round. A point that survives a batch of N points costs at most 4 w times
# the largest remaining sd. Each batch lasts `wait` rounds longer than it has points. Under drift, the batches of a
# restart are those for the horizon of this restart, and each elimination may lose twice the variation of f during the
# restart. Let V_h be this variation for restart h (sum V_h <= variation). A point x of batch i has f_s(x) >= fbar(x) -
# V_h >= max fbar - 4 w sd - V_h, with maxima over the points that batch i - 1 could eliminate. The best of these for
# f_s is at most 2 V_h below the best of the previous batch. All of this holds on the candidates. Between them, f can
# exceed its value at the nearest candidate by at most B times the kernel distance: |f(x) - f(x')| <= |f| |k(x, .) -
# k(x', .)|.
regret_bpe <- function(rounds, gain, noise_var, B, R, arms, delta = 0.1, variance = 1, wait = 0, variation = NULL,
                       spacing = 0) {
  if (!is.null(variation)) variation <- check_positive(variation)
  every <- if (!is.null(variation)) rounds_of_start(rounds, variation, gain[rounds + 1])
  sizes <- bpe_sizes(or_else(every, rounds))
  B <- check_number(B, lower = 0)
  drift <- if (is.null(variation)) 0 else most_drift(variation, B, check_positive(variance))
  width <- fixed_multiplier(B, noise_with_drift(check_number(R, lower = 0), drift),
                            check_positive(noise_var, "noise_var"), check_count(arms), check_delta(delta),
                            bpe_looks(rounds, every))
  wait <- check_each(wait, length(sizes), lower = 0)
  lasts <- ceiling(sizes + wait)
  worst <- 2 * B * sqrt(check_positive(variance))
  survivor <- 4 * width * sqrt(largest_left(gain, noise_var, variance)[sizes])
  cost <- cummin(pmin(worst, c(worst, survivor[-length(sizes)])))
  t <- seq_len(rounds)
  between <- B * check_number(spacing, lower = 0) * t
  if (is.null(variation)) return(pmin(cumsum(rep(cost, lasts))[t] + between, worst * t))
  lost <- 2 * (length(sizes) - 1) * variation * pmin(t, sum(lasts))
  pmin(cumsum(rep_len(rep(cost, lasts), rounds)) + lost + between, worst * t)
}

# The largest variance that can remain after 1..T rounds of maximum variance reduction: at most the mean of the
# variances of the points played.
largest_left <- function(gain, noise_var, variance) {
  t <- seq_len(length(gain) - 1)
  few <- small_ridge(gain, noise_var)
  pmin(variance_sum(gain, noise_var, variance) / t, ifelse(t > few$rounds, few$sum / (t - few$rounds), Inf), variance)
}

regret_balanced <- function(rounds, gain, B, R, d, growth, delta = 0.1, constant = 1, noise_var = NULL) {
  g <- vapply(seq_len(rounds), checked_function(check_function(growth), "growth"), 0)
  check_positive(constant) * pmax(1, check_count(d) * log(g)) * regret_igp_ucb(rounds, gain, B, R, delta, noise_var)
}

regret_adaptive <- function(rounds, gain, B, R, d, growth, norm_growth = function(t) 1, delta = 0.1, constant = 1,
                            noise_var = NULL) {
  values <- function(f, arg) vapply(seq_len(rounds), checked_function(check_function(f, arg), arg), 0)
  check_positive(constant) * values(norm_growth, "norm_growth") * values(growth, "growth")^check_count(d) *
    regret_igp_ucb(rounds, gain, B, R, delta, noise_var)
}

# Result 13 of vignettes/articles/derivations.Rmd.
regret_ucb_pe <- function(rounds, gain, noise_var, width, guard, variance = 1) {
  if (missing(guard)) stop_missing("guard", "the largest information of pending queries, a number >= 0")
  2.5 * regret_ucb(rounds, gain, noise_var, width, guard = guard, variance = variance)
}

# B + scale sqrt(2 (gamma_{t-1} + 1 + log(1 / failure))), t = 1..rounds.
improved_width <- function(rounds, gain, B, scale, failure) {
  B + scale * sqrt(2 * (gain[seq_len(rounds)] + 1 + log(1 / failure)))
}

# Lemma 4 of Chowdhury and Gopalan: a bound on the sum of sd_{t-1}(x_t).
sum_of_sd <- function(t, gamma) sqrt(4 * (t + 2) * gamma)

# Checks that the regulariser, if one is given, is the one that the theorem requires.
check_fixed_regulariser <- function(noise_var, horizon, theorem, letter) {
  if (is.null(noise_var)) return(invisible())
  needed <- 1 + 2 / horizon
  if (abs(check_positive(noise_var, "noise_var") - needed) > 1e-6 * needed) {
    warn_outside_theorem(theorem, sprintf("`noise_var` = 1 + 2/%s = %g", letter, needed), format(noise_var, digits = 4))
  }
}

regret_igp_ucb <- function(rounds, gain, B, R, delta = 0.1, noise_var = NULL) {
  check_fixed_regulariser(noise_var, rounds, "Theorem 3 of Chowdhury and Gopalan", "T")
  B <- check_number(B, lower = 0)
  R <- check_number(R, lower = 0)
  delta <- check_delta(delta)
  2 * improved_width(rounds, gain, B, R, delta) * sum_of_sd(seq_len(rounds), gain[-1])
}
