# The reference: a dense plain-R implementation of everything the package computes,
# written from the formulas alone (specs and papers), in base R, slow and simple.
# Nothing here may call the package or follow its code: it is worth something
# only while it is independent.
#
# Conventions. A "point" is a row of the Gram matrix `K` over all points that can be
# played (arm x context pairs, arms fastest). `noise` is one noise variance per
# observation. All posteriors are refitted from scratch whenever they are asked.

# ---- tolerances: the one table that every comparison uses -------------------
# identity: two ways to write the same small calculation; replay: the log played
# again; engine: two engines, or an engine and the reference, after a whole run (the
# reference itself loses digits: its system has a condition number of T max k / noise);
# bound: slack for an inequality that holds exactly in real arithmetic;
# p_value: the bound that a chi-square test under a fixed seed must exceed.
tol <- list(identity = 1e-9, replay = 1e-10, engine = 1e-7, bound = 1e-8,
            iterative = 1e-5, p_value = 1e-3)

# ---- kernels: closures (x, y) -> matrix -------------------------------------
ref_points <- function(x) if (is.matrix(x)) x else as.matrix(x)

# Squared distance after dividing each coordinate by its lengthscale.
ref_sqdist <- function(x, y, lengthscale) {
  total <- matrix(0, nrow(x), nrow(y))
  lengthscale <- rep(lengthscale, length.out = ncol(x))
  for (j in seq_len(ncol(x))) {
    total <- total + outer(x[, j] / lengthscale[j], y[, j] / lengthscale[j], "-")^2
  }
  total
}

ref_on_dims <- function(formula, dims) {
  force(formula)
  function(x, y = x) {
    x <- ref_points(x)
    y <- ref_points(y)
    if (!is.null(dims)) {
      x <- x[, dims, drop = FALSE]
      y <- y[, dims, drop = FALSE]
    }
    formula(x, y)
  }
}

ref_kernel_se <- function(lengthscale = 1, variance = 1, dims = NULL) {
  ref_on_dims(function(x, y) variance * exp(-ref_sqdist(x, y, lengthscale) / 2), dims)
}

# 2^(1-nu)/Gamma(nu) r^nu K_nu(r), r = sqrt(2 nu) |x-y|/l, on the log scale.
ref_kernel_matern <- function(nu = 2.5, lengthscale = 1, variance = 1, dims = NULL) {
  ref_on_dims(function(x, y) {
    r <- sqrt(2 * nu * ref_sqdist(x, y, lengthscale))
    value <- r
    far <- r > 0
    rf <- r[far]
    value[far] <- exp((1 - nu) * log(2) - lgamma(nu) + nu * log(rf) +
                        log(besselK(rf, nu, expon.scaled = TRUE)) - rf)
    value[!far] <- 1
    variance * value
  }, dims)
}

# The same for nu = 5/2, in closed form: without Bessel functions a tenth of the time.
ref_kernel_matern52 <- function(lengthscale = 1, dims = NULL) {
  ref_on_dims(function(x, y) {
    r <- sqrt(5 * ref_sqdist(x, y, lengthscale))
    (1 + r + r^2 / 3) * exp(-r)
  }, dims)
}

ref_kernel_rq <- function(alpha = 1, lengthscale = 1, variance = 1, dims = NULL) {
  ref_on_dims(function(x, y) {
    variance * (1 + ref_sqdist(x, y, lengthscale) / (2 * alpha))^(-alpha)
  }, dims)
}

ref_kernel_periodic <- function(period = 1, lengthscale = 1, variance = 1, dims = NULL) {
  ref_on_dims(function(x, y) {
    total <- matrix(0, nrow(x), nrow(y))
    period <- rep(period, length.out = ncol(x))
    lengthscale <- rep(lengthscale, length.out = ncol(x))
    for (j in seq_len(ncol(x))) {
      total <- total + (sin(pi * outer(x[, j], y[, j], "-") / period[j]) / lengthscale[j])^2
    }
    variance * exp(-2 * total)
  }, dims)
}

ref_kernel_linear <- function(variance = 1, dims = NULL) {
  ref_on_dims(function(x, y) variance * x %*% t(y), dims)
}

# Different values of an input: its correlation; over several inputs the product.
ref_kernel_categorical <- function(correlation = 0.5, variance = 1, dims = NULL) {
  ref_on_dims(function(x, y) {
    correlation <- rep(correlation, length.out = ncol(x))
    K <- matrix(variance, nrow(x), nrow(y))
    for (j in seq_len(ncol(x))) K <- K * ifelse(outer(x[, j], y[, j], "=="), 1, correlation[j])
    K
  }, dims)
}

ref_kernel_sum <- function(k1, k2) function(x, y = x) k1(x, y) + k2(x, y)
ref_kernel_product <- function(k1, k2) function(x, y = x) k1(x, y) * k2(x, y)

# ---- posterior --------------------------------------------------------------
# `K_test`: test x test matrix, or the vector of prior variances (then no cov).
ref_posterior <- function(K_train, K_cross, K_test, y, lambda, mean_train = 0, mean_test = 0) {
  diagonal <- if (is.matrix(K_test)) diag(K_test) else K_test
  mean_test <- rep(mean_test, length.out = length(diagonal))
  if (length(y) == 0) {
    return(list(mean = mean_test, sd = sqrt(diagonal), cov = if (is.matrix(K_test)) K_test))
  }
  A <- K_train + diag(rep(lambda, length.out = length(y)), length(y))
  R <- chol(A)                                              # A = R'R
  V <- backsolve(R, t(K_cross), transpose = TRUE)           # train x test
  alpha <- backsolve(R, backsolve(R, y - mean_train, transpose = TRUE))
  list(mean = mean_test + as.vector(K_cross %*% alpha),
       sd = sqrt(pmax(0, diagonal - colSums(V^2))),
       cov = if (is.matrix(K_test)) K_test - crossprod(V))
}

# The same over points of one Gram matrix: `rows` are the points observed.
ref_posterior_at <- function(K, rows, y, noise, mean = 0, test = seq_len(nrow(K))) {
  mean <- rep(mean, length.out = nrow(K))
  ref_posterior(K[rows, rows, drop = FALSE], K[test, rows, drop = FALSE],
                K[test, test, drop = FALSE], y, noise, mean[rows], mean[test])
}

# log det(I + N^-1/2 K N^-1/2), N the diagonal of the noise variances.
ref_logdet <- function(K, rows, noise) {
  if (length(rows) == 0) return(0)
  noise <- rep(noise, length.out = length(rows))
  M <- diag(length(rows)) + K[rows, rows, drop = FALSE] / sqrt(outer(noise, noise))
  as.numeric(determinant(M, logarithm = TRUE)$modulus)
}

ref_information_gain <- function(K, rows, noise) ref_logdet(K, rows, noise) / 2

ref_log_likelihood <- function(K_train, y, lambda, mean = 0) {
  R <- chol(K_train + diag(rep(lambda, length.out = length(y)), length(y)))
  z <- backsolve(R, y - mean, transpose = TRUE)
  -sum(z^2) / 2 - sum(log(diag(R))) - length(y) * log(2 * pi) / 2
}

# Joint draws (rows) from N(mean, cov), any positive semi-definite cov.
ref_draw_normal <- function(n, mean, cov) {
  e <- eigen((cov + t(cov)) / 2, symmetric = TRUE)
  root <- e$vectors %*% (sqrt(pmax(e$values, 0)) * t(e$vectors))
  t(mean + root %*% matrix(stats::rnorm(n * length(mean)), length(mean)))
}

# ---- maximal information gain -----------------------------------------------
# Value after 1..rounds greedy choices of the largest posterior variance. (No slack for
# ties here: with a slack of 1e-9 the values printed in the worked example do not come out.)
ref_gain_greedy_path <- function(K, lambda, rounds) {
  rows <- integer()
  path <- numeric(rounds)
  for (t in seq_len(rounds)) {
    sd <- ref_posterior_at(K, rows, numeric(length(rows)), lambda)$sd
    rows <- c(rows, ref_argmax(sd))
    path[t] <- ref_information_gain(K, rows, lambda)
  }
  path
}

# max 1/2 sum log(1 + m_i e_i / lambda), sum m = rounds: m_i = (v - lambda/e_i)+, v by bisection.
ref_gain_spectral_value <- function(eigenvalues, lambda, rounds) {
  if (rounds == 0) return(0)
  e <- eigenvalues[eigenvalues > 1e-14 * max(eigenvalues)]
  cost <- lambda / e
  low <- min(cost)
  high <- min(cost) + rounds                 # the best eigenvalue alone would take it all
  for (i in 1:300) {
    level <- (low + high) / 2
    if (sum(pmax(level - cost, 0)) > rounds) high <- level else low <- level
  }
  m <- pmax(level - cost, 0)
  sum(log1p(m * e / lambda)) / 2
}

# Largest information gain over all multisets of `rounds` arms (tiny sets only).
ref_gain_brute <- function(K, lambda, rounds) {
  multisets <- function(first, left) {
    if (left == 0) return(list(integer()))
    unlist(lapply(first:nrow(K), function(i) {
      lapply(multisets(i, left - 1), function(rest) c(i, rest))
    }), recursive = FALSE)
  }
  max(vapply(multisets(1, rounds), function(rows) ref_information_gain(K, rows, lambda), 0))
}

# D-optimal relaxation: multiplicative ascent of F(w) = 1/2 log det(I + K^1/2 W K^1/2 / lambda)
# with its certificate F(w) + T max s - sum w s.
ref_gain_doptimal <- function(K, lambda, rounds, steps = 20000, gap = 1e-4) {
  n <- nrow(K)
  w <- rep(rounds / n, n)
  for (i in seq_len(steps)) {
    root <- sqrt(w)
    M <- diag(n) + K * outer(root, root) / lambda
    value <- as.numeric(determinant(M)$modulus) / 2
    # s = diag((K^-1 + W/lambda)^-1) / (2 lambda), written without K^-1
    s <- (diag(K) - colSums((root * K) * solve(M, root * K)) / lambda) / (2 * lambda)
    bound <- value + rounds * max(s) - sum(w * s)
    if (bound - value < gap) break
    w <- rounds * w * s / sum(w * s)
  }
  list(value = value, bound = bound, weights = w)
}

# ---- gains: function(info) -> gamma at s = t - 1 ----------------------------
# `info` describes the moment of a choice: t, n, K (prior over all points),
# rows and noise of the points the variance knows, lambda.
ref_gain_number <- function(value) function(info) value
ref_gain_function <- function(f) function(info) f(info$t - 1)
ref_gain_realized <- function() {
  function(info) ref_info_logdet(info) / 2
}
# Of the points in the variance; a drifting prior has separate covariances among them.
ref_info_logdet <- function(info) {
  if (is.null(info$K_known)) return(ref_logdet(info$K, info$rows, info$noise))
  ref_logdet(info$K_known, seq_len(nrow(info$K_known)), info$noise)
}
ref_gain_greedy <- function() {
  function(info) {
    s <- info$t - 1
    if (s == 0) return(0)
    ref_gain_greedy_path(info$K, info$lambda, s)[s] * exp(1) / (exp(1) - 1)
  }
}
ref_gain_spectral <- function() {
  function(info) {
    e <- eigen(info$K, symmetric = TRUE, only.values = TRUE)$values
    ref_gain_spectral_value(e, info$lambda, info$t - 1)
  }
}
ref_gain_rate <- function(family, d, nu = NULL, scale = 1, sharp = FALSE) {
  function(info) {
    s <- info$t - 1
    if (s <= 1) return(0)
    if (sharp && family == "matern") return(scale * s^(d / (2 * nu + d)) * log(s)^(2 * nu / (2 * nu + d)))
    scale * switch(family,
                   se = log(s)^(d + 1),
                   matern = s^(d * (d + 1) / (2 * nu + d * (d + 1))) * log(s),
                   linear = d * log(s))
  }
}

# ---- widths: function(info) -> what multiplies sd ---------------------------
ref_width_constant <- function(value) function(info) value
ref_width_function <- function(f) function(info) f(info$t)
ref_width_srinivas_finite <- function(delta = 0.1, scale = 1) {
  function(info) sqrt(scale * 2 * log(info$n * info$t^2 * pi^2 / (6 * delta)))
}
# `u`: the round's uniform draw; the exponential with mean 2 is -2 log u.
ref_width_irgp <- function(arms, u) sqrt(pmax(0, 2 * log(arms / 2) - 2 * log(u)))
ref_width_srinivas_compact <- function(delta, a, b, r, d, scale = 1) {
  function(info) {
    t <- info$t
    sqrt(scale * (2 * log(t^2 * 2 * pi^2 / (3 * delta)) +
                    2 * d * log(t^2 * d * b * r * sqrt(log(4 * d * a / delta)))))
  }
}
ref_width_srinivas_rkhs <- function(B, delta, gain, scale = 1) {
  function(info) sqrt(scale * (2 * B^2 + 300 * gain(info) * log(info$t / delta)^3))
}
ref_width_igp <- function(B, R, delta, gain) {
  function(info) B + R * sqrt(2 * (gain(info) + 1 + log(1 / delta)))
}
ref_width_gp_ts <- function(B, R, delta, gain) {
  function(info) B + R * sqrt(2 * (gain(info) + 1 + log(2 / delta)))
}
ref_width_realized <- function(B, R, delta) {
  function(info) {
    L <- ref_info_logdet(info)
    B + R / sqrt(info$lambda) * sqrt(2 * log(1 / delta) + L)
  }
}
ref_width_amm <- function(B, R, delta) {
  function(info) {
    L <- ref_info_logdet(info)
    sqrt(B^2 + R^2 / info$lambda * (L + 2 * log(1 / delta)))
  }
}
# Spec chowdhury.md: the smallest upper bound over the grid, point by point;
# given as the number of sds that the bound is above the mean. Only real data count
# (those that the mean knows), whatever the pending rule lets the variance know.
ref_dmm_upper <- function(K, rows, y, lambda, B, R, delta, alpha, mean = 0, alpha0 = lambda * 4^(0:6)) {
  mean <- rep(mean, length.out = nrow(K))
  residual <- y - mean[rows]
  quadratic <- function(a) {
    if (length(rows) == 0) return(0)
    sum(residual * solve(K[rows, rows, drop = FALSE] + diag(a, length(rows)), residual))
  }
  cost <- vapply(alpha0, function(a) a * quadratic(a) + R^2 * ref_logdet(K, rows, a), 0)
  R2 <- min(cost)
  if (R > 0) R2 <- R2 - 2 * R^2 * log(delta * mean(exp((min(cost) - cost) / (2 * R^2))))
  bounds <- vapply(alpha, function(a) {
    p <- ref_posterior_at(K, rows, y, a, mean)
    p$mean + p$sd / sqrt(a) * sqrt(max(0, R2 + a * B^2 - a * quadratic(a)))
  }, numeric(nrow(K)))
  apply(matrix(bounds, nrow(K)), 1, min)
}
ref_width_dmm <- function(B, R, delta, alpha, alpha0 = NULL) {
  function(info) {
    upper <- ref_dmm_upper(info$K, info$mean_rows, info$y, info$lambda, B, R, delta, alpha, info$prior_mean,
                           if (is.null(alpha0)) info$lambda * 4^(0:6) else alpha0)
    (upper - info$mean) / info$sd
  }
}
# `window`: points of the last m queries; `window_known`: has its reward been used.
ref_width_sdf <- function(base, B_y = 1, over = "window") {
  function(info) {
    points <- if (over == "pending") info$window[!info$window_known] else info$window
    base(info) + B_y * sum(info$sd[points])
  }
}
ref_width_ec <- function(base, epsilon) {
  function(info) base(info) + epsilon * sqrt((info$t - 1) / info$lambda)
}
ref_width_corrupt <- function(base, total) function(info) base(info) + total / sqrt(info$lambda)
ref_width_cpd <- function(D, nu, d, horizon) {
  function(info) sqrt(D * info$t^(d * (d + 1) / (2 * nu + d * (d + 1))) * log(horizon)^4)
}

# ---- policies ---------------------------------------------------------------
# First of those within `slack` of the best.
ref_argmax <- function(score, slack = 0) which(score >= max(score) - slack | score == max(score))[1]

ref_score_ucb <- function(mean, sd, width) mean + width * sd

ref_score_ei <- function(mean, sd, incumbent, xi = 0) {
  gap <- mean - incumbent - xi
  z <- gap / sd
  ifelse(sd > 0, gap * stats::pnorm(z) + sd * stats::dnorm(z), pmax(gap, 0))
}

# Its logarithm, for where it underflows: log sd + log phi(z) + log(1 + z Phi(z)/phi(z)).
ref_log_ei <- function(mean, sd, incumbent, xi = 0) {
  gap <- mean - incumbent - xi
  z <- gap / sd
  mills <- exp(stats::pnorm(z, log.p = TRUE) - stats::dnorm(z, log = TRUE))
  left <- ifelse(z < -100, 1 / z^2 - 3 / z^4 + 15 / z^6, 1 + z * mills)
  ifelse(sd > 0, log(sd) + stats::dnorm(z, log = TRUE) + log(left), log(pmax(gap, 0)))
}

# The z-score: PI is its normal distribution function.
ref_score_pi <- function(mean, sd, incumbent, xi = 0) {
  gap <- mean - incumbent - xi
  ifelse(sd > 0, gap / sd, ifelse(gap > 0, Inf, -Inf))
}

# Largest posterior mean among the points played (in this context); none: largest prior mean.
ref_incumbent <- function(mean, played, prior_mean, candidates) {
  here <- intersect(played, candidates)
  if (length(here)) max(mean[here]) else max(prior_mean[candidates])
}

# Which of `candidates` the policy takes. kind: ucb, ei, pi, mean, variance.
ref_choose <- function(policy, info, candidates) {
  slack <- 1e-9 * sqrt(max(diag(info$K)))
  mean <- info$mean[candidates]
  sd <- info$sd[candidates]
  width <- rep(info$width, length.out = length(info$mean))[candidates]
  score <- ref_scores(policy, mean, sd, width, info$incumbent)
  # EI's relative tolerance is an absolute one of its logarithm.
  if (policy$kind %in% c("ei", "pi")) slack <- 1e-9
  candidates[ref_argmax(score, slack)]
}

ref_scores <- function(policy, mean, sd, width, incumbent) {
  switch(policy$kind,
         ucb = ref_score_ucb(mean, sd, width),
         ei = ref_log_ei(mean, sd, incumbent, policy$xi),
         pi = ref_score_pi(mean, sd, incumbent, policy$xi),
         mean = mean,
         variance = sd)
}

ref_policy <- function(kind, width = ref_width_constant(1), xi = 0) {
  list(kind = kind, width = width, xi = xi)
}

# ---- pending rewards --------------------------------------------------------
# Rounds a reward has taken that is seen after `queries` queries in all.
ref_rounds_taken <- function(id, queries) ifelse(queries == id, 0, queries + 1 - id)

# What the posterior may see of the queries: `observed`, `taken` (NA while pending).
# Gives in_mean, in_variance and whether the value replaces the reward.
ref_feedback <- function(pending, observed, taken) {
  all <- rep(TRUE, length(observed))
  switch(pending$rule,
         ignore = list(mean = observed, variance = observed, censored = !all),
         hallucinate = list(mean = observed, variance = all, censored = !all),
         censor = list(mean = all, variance = all,
                       censored = !observed | (!is.na(taken) & taken > pending$m)))
}
ref_pending <- function(rule = "ignore", m = Inf, value = 0) list(rule = rule, m = m, value = value)

# ---- changes ----------------------------------------------------------------
# Mean over the points `over` of (mu_older - mu_newer)^2, each half with its own ridge fit.
ref_change_statistic <- function(K, rows, y, ridge, over = seq_len(nrow(K))) {
  q <- length(rows) / 2
  fit <- function(half) {
    alpha <- solve(K[rows[half], rows[half], drop = FALSE] + diag(ridge, q), y[half])
    as.vector(K[over, rows[half], drop = FALSE] %*% alpha)
  }
  mean((fit(seq_len(q)) - fit(q + seq_len(q)))^2)
}

# Algorithm 2's sweep: does any tail of 2q uniform samples, q = 1.., raise the alarm?
ref_change_alarm <- function(K, rows, y, threshold, ridge, over = seq_len(nrow(K))) {
  for (q in seq_len(length(rows) %/% 2)) {
    tail <- seq(length(rows) - 2 * q + 1, length(rows))
    if (ref_change_statistic(K, rows[tail], y[tail], ridge(q), over) > threshold(q)) return(TRUE)
  }
  FALSE
}

# |U| <= xi sqrt(|H|); never for xi = 0, which is plain GP-UCB.
ref_explores <- function(explore, uniform, history) explore > 0 && uniform <= explore * sqrt(history)

# kind: detect (threshold, ridge; `over`: the points averaged over, NULL for all, "sampled" for
# the uniform samples themselves), oracle (times), never, every (H), event (delta).
ref_changes <- function(kind, explore = 0, ...) list(kind = kind, explore = explore, ...)

# Brunzema et al.: |y - mu| > sqrt(rho_t) sigma + w_t, all at the moment of the choice.
ref_event_trigger <- function(y, mean, sd, t, noise_var, delta) {
  pi_t <- pi^2 * t^2 / 6
  rho <- 2 * log(2 * pi_t / delta)
  abs(y - mean) > sqrt(rho) * sd + sqrt(2 * noise_var * log(2 * pi_t / delta))
}

# ---- constraints ------------------------------------------------------------
ref_penalty_exponential <- function(c = 1) function(x) ifelse(x <= 0, 1, exp(c * x))
ref_penalty_polynomial <- function(c, power) function(x) ifelse(x <= 0, 1, (c * pmax(x, 0) + 1)^power)

ref_constraints <- function(kind, count = 1, epoch, penalty = ref_penalty_exponential(1), step = NULL,
                            reuse = TRUE) {
  list(kind = kind, count = count, epoch = epoch, penalty = penalty, step = step, reuse = reuse,
       start = rep(if (kind == "noiseless") 1 else 0, count))
}

# The target of queries with rewards y and constraint values g (a row each).
ref_target <- function(constraints, kappa, y, g) {
  if (is.null(constraints)) return(y)
  penalty <- if (constraints$kind == "noiseless") constraints$penalty(g) - 1 else g
  y - as.vector(matrix(penalty, length(y)) %*% kappa)
}

# New multipliers from the average of the epoch's observed constraint values.
ref_multiplier <- function(constraints, kappa, g) {
  average <- colMeans(g)
  if (constraints$kind == "noiseless") kappa * constraints$penalty(average)
  else pmax(0, kappa + constraints$step * average)
}

# ---- forgetting under drift: noise factors and which observations are kept ---
# `age` = t - s of each known observation for the query of round t.
ref_drift <- function(kind = "none", W = NULL, eta = NULL, eps = NULL) {
  list(kind = kind, W = W, eta = eta, eps = eps)
}
ref_drift_noise <- function(drift, lambda, age) {
  if (drift$kind == "weight") lambda * drift$eta^(-age) else rep(lambda, length.out = length(age))
}
ref_drift_kept <- function(drift, count) {
  if (drift$kind == "window") seq_len(count) > count - drift$W else rep(TRUE, count)
}

# Posterior at round t under the kernel k(x,x') (1-eps)^(|t-t'|/2); ids are the rounds.
ref_posterior_drifting <- function(K, rows, ids, t, y, lambda, eps, mean = 0) {
  mean <- rep(mean, length.out = nrow(K))
  K_train <- K[rows, rows, drop = FALSE] * (1 - eps)^(abs(outer(ids, ids, "-")) / 2)
  K_cross <- K[, rows, drop = FALSE] * rep((1 - eps)^(abs(t - ids) / 2), each = nrow(K))
  ref_posterior(K_train, K_cross, K, y, lambda, mean[rows], mean)
}

# ---- the bandit, step by step -----------------------------------------------
# K over n_arms x n_contexts points, arms fastest. Everything is a plain list.
ref_bandit <- function(K, lambda, policy, mean = 0, n_arms = nrow(K), pending = ref_pending(),
                       changes = NULL, constraints = NULL, drift = ref_drift()) {
  list(K = K, lambda = lambda, policy = policy, n_arms = n_arms, pending = pending,
       changes = changes, constraints = constraints, drift = drift,
       prior_mean = rep(mean, length.out = nrow(K)),
       kappa = if (is.null(constraints)) numeric() else constraints$start,
       segment = 1, first = 1, fresh = 1, epoch_first = 1, rows = integer(),
       reward = numeric(), taken = numeric(), g = matrix(0, 0, length(constraints$start)),
       action = character(), void = logical(), noise = numeric(), arrived = integer(), at_choice = list())
}

ref_queries <- function(b) length(b$rows)

# ids of the queries the posterior may know of: since the restart and the fresh epoch.
ref_current <- function(b) {
  start <- max(b$first, b$fresh)
  ids <- if (start > ref_queries(b)) integer() else start:ref_queries(b)
  ids[!b$void[ids]]                     # withdrawn queries are as if they had not been asked
}

# What the posterior is made of right now: ids, targets, who is in mean and variance.
ref_visible <- function(b) {
  ids <- ref_current(b)
  observed <- !is.na(b$reward[ids])
  seen <- ref_feedback(b$pending, observed, b$taken[ids])
  y <- ref_target(b$constraints, b$kappa, b$reward[ids], b$g[ids, , drop = FALSE])
  y[seen$censored] <- b$pending$value
  list(ids = ids, y = y, mean = seen$mean, variance = seen$variance,
       known = observed & !seen$censored)
}

# Posterior over all points for the query of the next round.
ref_bandit_posterior <- function(b) {
  v <- ref_visible(b)
  in_mean <- ref_bandit_fit(b, v, v$mean)
  post <- if (identical(v$mean, v$variance)) in_mean else ref_bandit_fit(b, v, v$variance)
  post$mean <- in_mean$mean
  post$mean_rows <- in_mean$rows
  post$y <- in_mean$y
  post
}

ref_bandit_fit <- function(b, v, which) {
  ids <- v$ids[which]
  y <- v$y[which]
  kept <- ref_drift_kept(b$drift, length(ids))
  ids <- ids[kept]
  y <- y[kept]
  y[is.na(y)] <- 0                      # pending in a variance-only fit: any value will do
  t <- ref_queries(b) + 1
  # A reward may have a separate noise variance, which counts once it is observed.
  own <- ifelse(v$known[which][kept] & !is.na(b$noise[ids]), b$noise[ids], b$lambda)
  noise <- ref_drift_noise(b$drift, own, t - ids)
  post <- if (b$drift$kind == "fade") {
    ref_posterior_drifting(b$K, b$rows[ids], ids, t, y, noise, b$drift$eps, b$prior_mean)
  } else {
    ref_posterior_at(b$K, b$rows[ids], y, noise, b$prior_mean)
  }
  known <- if (b$drift$kind == "fade") {
    b$K[b$rows[ids], b$rows[ids], drop = FALSE] * (1 - b$drift$eps)^(abs(outer(ids, ids, "-")) / 2)
  }
  c(post, list(ids = ids, rows = b$rows[ids], noise = noise, y = y, K_known = known))
}

# Everything a width or policy may ask for at the next choice.
ref_bandit_info <- function(b, context = 1, arms = seq_len(b$n_arms)) {
  post <- ref_bandit_posterior(b)
  ids <- ref_current(b)
  info <- list(t = length(ids) + 1, n = b$n_arms, K = b$K, lambda = b$lambda, rows = post$rows,
               noise = post$noise, K_known = post$K_known, mean_rows = post$mean_rows, y = post$y, mean = post$mean, sd = post$sd, cov = post$cov,
               prior_mean = b$prior_mean, kappa = b$kappa)
  window <- which(ids > ref_queries(b) - b$pending$m)
  info$window <- b$rows[ids[window]]
  info$window_known <- ref_visible(b)$known[window]
  info$candidates <- (context - 1) * b$n_arms + sort(arms)
  info$incumbent <- ref_incumbent(post$mean, b$rows[ids], b$prior_mean, info$candidates)
  info$width <- b$policy$width(info)
  info
}

# Restarts and epochs that fall due before the next query.
ref_before_query <- function(b) {
  last <- ref_queries(b)
  kind <- if (is.null(b$changes)) "none" else b$changes$kind
  if (kind == "oracle" && last %in% b$changes$times && last >= b$first) b <- ref_restart(b)
  if (kind == "every" && last - b$first + 1 >= b$changes$H) b <- ref_restart(b)
  if (!is.null(b$constraints) && last - b$epoch_first + 1 >= b$constraints$epoch) b <- ref_end_epoch(b)
  b
}

ref_restart <- function(b) {
  b$segment <- b$segment + 1
  b$first <- ref_queries(b) + 1
  b
}

ref_end_epoch <- function(b) {
  # Of the data in use: not from before a restart, and not rewards that came too late.
  v <- ref_visible(b)
  ids <- v$ids[v$known & v$ids >= b$epoch_first]
  g <- b$g[ids, , drop = FALSE]
  if (nrow(g)) b$kappa <- ref_multiplier(b$constraints, b$kappa, g)
  b$epoch_first <- ref_queries(b) + 1
  if (!b$constraints$reuse) b$fresh <- b$epoch_first
  b
}

# Does Algorithm 2 play uniformly now?
ref_explores_now <- function(b) {
  ids <- ref_current(b)
  !is.null(b$changes) && ref_explores(b$changes$explore, sum(b$action[ids] == "explore"), length(ids))
}

# The choice of the next query. `point`: the point really played where chance decides
# (uniform exploration, Thompson sampling); it must be NULL where the reference decides.
# The state's last element of at_choice has the expected values of the history.
ref_suggest <- function(b, point = NULL, context = 1, arms = seq_len(b$n_arms)) {
  b <- ref_before_query(b)
  info <- ref_bandit_info(b, context, arms)
  action <- if (ref_explores_now(b)) "explore" else "policy"
  chance <- action == "explore" || b$policy$kind %in% c("ts", "uniform")
  if (!chance) point <- ref_choose(b$policy, info, info$candidates)
  stopifnot(length(point) == 1, point %in% info$candidates)
  ref_record(b, point, action, info)
}

ref_record <- function(b, point, action, info) {
  width <- rep(info$width, length.out = nrow(b$K))[point]
  b$at_choice <- c(b$at_choice, list(list(point = point, action = action, mean = info$mean[point],
                                          sd = info$sd[point], width = width, t = info$t,
                                          segment = b$segment, kappa = b$kappa, info = info)))
  b$rows <- c(b$rows, point)
  b$reward <- c(b$reward, NA)
  b$taken <- c(b$taken, NA)
  b$g <- rbind(b$g, rep(NA_real_, ncol(b$g)))
  b$action <- c(b$action, action)
  b$void <- c(b$void, FALSE)
  b$noise <- c(b$noise, NA)
  b
}

ref_observe <- function(b, id, reward, g = NULL, noise = rep(NA, length(id))) {
  for (i in seq_along(id)) {
    b$void[id[i]] <- FALSE                # a failed query may be observed after all
    b$noise[id[i]] <- noise[i]
    b$taken[id[i]] <- ref_rounds_taken(id[i], ref_queries(b))
    b$reward[id[i]] <- reward[i]
    b$arrived <- c(b$arrived, id[i])
    if (ncol(b$g)) b$g[id[i], ] <- matrix(g, length(id))[i, ]
    b <- ref_after_reward(b, id[i])
  }
  b
}

# Detector and event trigger, run when a reward of the data in force comes in. The detector
# takes its pairs in the order in which their rewards arrive.
ref_after_reward <- function(b, id) {
  if (is.null(b$changes) || id < max(b$first, b$fresh)) return(b)
  if (b$changes$kind == "detect" && b$action[id] == "explore") {
    ids <- ref_current(b)
    uniform <- Filter(function(s) s %in% ids && b$action[s] == "explore", b$arrived)
    y <- b$reward[uniform] - b$prior_mean[b$rows[uniform]]
    K <- if (is.null(b$changes$K)) b$K else b$changes$K
    over <- if (is.null(b$changes$over)) seq_len(nrow(K)) else b$changes$over
    if (identical(over, "sampled")) over <- b$rows[uniform]
    if (ref_change_alarm(K, b$rows[uniform], y, b$changes$threshold, b$changes$ridge, over)) {
      b <- ref_restart(b)
    }
  }
  if (b$changes$kind == "event") {
    at <- b$at_choice[[id]]
    if (ref_event_trigger(b$reward[id], at$mean, at$sd, at$t, b$lambda, b$changes$delta)) {
      b <- ref_restart(b)
    }
  }
  b
}

ref_withdraw <- function(b, id) {
  b$void[id] <- TRUE
  b
}

# A known reward was wrong. What a detector made of the old one, it keeps.
ref_amend <- function(b, id, reward) {
  b$reward[id] <- reward
  b
}

# Data nobody asked for: takes the next id, known at once, or pending where the reward is NA.
ref_add <- function(b, point, reward, g = NULL) {
  for (i in seq_along(point)) {
    b <- ref_before_query(b)
    context <- (point[i] - 1) %/% b$n_arms + 1
    b <- ref_record(b, point[i], "given", ref_bandit_info(b, context))
    if (!is.na(reward[i])) b <- ref_observe(b, ref_queries(b), reward[i], matrix(g, length(point))[i, ])
  }
  b
}

# ---- regret of a run --------------------------------------------------------
# f: true mean of each query's point; best: the optimum then; delay: rounds each reward takes; m: rounds
# after which a reward is lost, and its query never counts for the simple regret.
ref_ledger <- function(f, best, delay = rep(0, length(f)), g = NULL, m = Inf) {
  rounds <- seq_along(f)
  regret <- best - f
  simple <- vapply(rounds, function(t) {
    done <- which(rounds <= t & rounds + delay <= t & delay <= m)
    if (length(done)) min(regret[done]) else NA_real_
  }, 0)
  violation <- if (is.null(g)) NULL else {
    sqrt(rowSums(pmax(apply(as.matrix(g), 2, cumsum), 0)^2))
  }
  list(regret = regret, cumulative_regret = cumsum(regret), simple_regret = simple,
       cumulative_violation = violation)
}

# ---- random problems for comparisons ----------------------------------------
ref_random_inputs <- function(n, d) matrix(stats::runif(n * d), n, d)

# A covariance of the given rank over n arms, scaled to unit average variance.
ref_random_covariance <- function(n, rank = n) {
  A <- matrix(stats::rnorm(n * rank), n, rank)
  K <- A %*% t(A)
  K / mean(diag(K))
}

# ---- max-value entropy search -------------------------------------------------
# Quartiles of the maximum of independent normals, and Gumbel samples with them.
ref_max_quantile <- function(mean, sd, p) {
  stats::uniroot(function(y) sum(stats::pnorm(y, mean, sd, log.p = TRUE)) - log(p),
                 c(max(mean - 10 * sd), max(mean + 10 * sd)), tol = 1e-13)$root
}

ref_gumbel_maxima <- function(mean, sd, u, least) {
  q <- vapply(c(0.25, 0.5, 0.75), ref_max_quantile, 0, mean = mean, sd = sd)
  b <- (q[1] - q[3]) / (log(log(4 / 3)) - log(log(4)))
  pmax(least, q[2] + b * log(log(2)) - b * log(-log(u)))
}

ref_max_entropy <- function(mean, sd, maxima) {
  g <- outer(maxima, mean, "-") / rep(sd, each = length(maxima))
  log_tail <- stats::pnorm(g, log.p = TRUE)
  colMeans(g * exp(stats::dnorm(g, log = TRUE) - log_tail) / 2 - log_tail)
}

# ---- probability of improvement from a sampled maximum ---------------------------
ref_score_pims <- function(mean, sd, maximum) (mean - maximum) / sd

# ---- expected improvement over a sampled maximum: its logarithm ----------------------
ref_score_eims <- function(mean, sd, maximum) ref_log_ei(mean, sd, maximum)

# ---- the worked example (guarantees.md) -----------------------------
# Five arms, three rewards: everything there is a function of these.
ref_tiny <- function() {
  x <- c(0, 0.25, 0.5, 0.75, 1)
  K <- ref_kernel_se(0.3)(x)
  rows <- c(1, 3, 5)
  y <- c(0.2, 1, -0.3)
  c(list(x = x, K = K, rows = rows, y = y, noise = 0.01), ref_posterior_at(K, rows, y, 0.01))
}

# Kernels of two inputs of arms (1, 2) and two of contexts (3, 4), and whether they are products over these.
split_kernels <- function() {
  matern <- function(dims) kernel_matern(1.5, 0.8, dims = dims)
  list(se = list(kernel_se(0.6), TRUE), ard = list(kernel_se(c(0.4, 0.9, 0.7, 1.2)), TRUE),
       some = list(kernel_se(0.5, dims = c(1, 4)), TRUE),
       sides = list(matern(1:2) * kernel_se(0.6, variance = 2, dims = 3:4), TRUE),
       matern = list(matern(1:4), FALSE), across = list(matern(2:3) * kernel_se(0.6), FALSE),
       sum = list(kernel_se(0.6) + kernel_se(2, dims = 1:2), FALSE))
}

# ---- rules of the package (`core`) beside those of the reference (`ref`), for random runs -----------------------------
paired_pendings <- function() {
  list(list(core = pending_ignore(), ref = ref_pending()),
       list(core = pending_hallucinate(), ref = ref_pending("hallucinate")),
       list(core = pending_censor(4, -0.2), ref = ref_pending("censor", 4, -0.2)))
}
paired_drifts <- function() {
  list(NULL, list(core = change_oracle(window = 5), ref = ref_drift("window", W = 5)),
       list(core = change_oracle(rate = 0.2, by = "weights"), ref = ref_drift("weight", eta = 0.8)),
       list(core = change_oracle(rate = 0.1), ref = ref_drift("fade", eps = 0.1)))
}
