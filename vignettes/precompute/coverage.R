# How often and by how much the bounds of each width hold. From the package's root, gpbandits installed:
#   Rscript vignettes/precompute/coverage.R
# (two minutes of one processor). Writes vignettes/articles/coverage.csv: a row per width, on 60 arms of [0, 1], delta = 0.1.
# `missed`: the share of runs in which f was outside mean +- width * sd at some arm in some fifth round. `needed`: the
# factor by which the width would have to be multiplied to hold in just 90% of the runs.
library(gpbandits)
started <- proc.time()[["user.self"]]
x <- seq(0, 1, length.out = 60)
kernel <- kernel_matern(2.5, 0.2)
gram <- kernel_gram(kernel, x)
R <- 0.2
B <- 2
rounds <- 60
runs <- 200

of_norm <- function() {
  weights <- rnorm(60)
  f <- drop(gram %*% weights)
  B * f / sqrt(sum(f * weights))
}
gauss <- function(f, arm) f[arm] + rnorm(1, sd = R)
ucb <- function(width, lambda = R^2, ...) gp_bandit(x, kernel, lambda, policy_ucb(width), ...)
# A function in [0.2, 0.8], with its norm: rewards are within [0, 1].
of_delays <- function() {
  f <- of_norm()
  f <- 0.2 + 0.6 * (f - min(f)) / diff(range(f))
  structure(f, norm = sqrt(sum(f * solve(gram, f))))
}
robust <- rewards_robust(moment = 4 + 3 * R^2, rounds = rounds)   # E y^2: |f| <= 2, Student's t with 3 degrees of freedom

# `f` draws the function, `make` the bandit, `reward` a reward; `about`: the function that the bounds are about.
normal <- function(make, ...) utils::modifyList(list(f = of_norm, make = make, reward = gauss), list(...))
cases <- list(
  "width_srinivas_finite()" = normal(function(f) ucb(width_srinivas_finite(0.1)), f = function() drop(sample_gp(kernel, x))),
  "width_amm()" = normal(function(f) ucb(width_amm(B, R))),
  "width_amm(R = 0)" = normal(function(f) ucb(width_amm(B, 0), 1e-6), reward = function(f, arm) f[arm]),
  "width_realized()" = normal(function(f) ucb(width_realized(B, R))),
  "width_fixed()" = normal(function(f) gp_bandit(x, kernel, R^2, policy_variance()), at = rounds,
                           width = sqrt(B^2 + 2 * log(2 * 60 / 0.1))),
  "width_dmm()" = normal(function(f) ucb(width_dmm(B, R)), chosen = TRUE),
  "width_igp()" = normal(function(f) ucb(width_igp(B, R), 1 + 2 / rounds)),
  "width_gp_ts()" = normal(function(f) ucb(width_gp_ts(B, R), 1 + 2 / rounds)),
  "width_sdf(), Theorem 2" = list(
    f = of_delays, reward = function(f, arm) f[arm] + runif(1, -0.2, 0.2), delays = TRUE,
    make = function(f) gp_ucb_sdf(x, kernel, 1 + 2 / rounds, m = 10, width = width_sdf(width_gp_ts(attr(f, "norm"), R + 1), 1))
  ),
  "width_ec()" = normal(function(f) ucb(width_ec(width_amm(B, R), 0.1)),
                        reward = function(f, arm) gauss(f, arm) + 0.1 * sign(sin(40 * x[arm]))),
  "width_corrupt()" = normal(function(f) ucb(width_corrupt(width_amm(B, R), 2)),
                             wrong = 5, reward = gauss),
  "width_realized() of clipped rewards" = normal(
    function(f) ucb(width_realized(B, robust), rewards = robust), reward = function(f, arm) f[arm] + R * rt(1, 3)
  )
)

one_run <- function(case, seed) {
  set.seed(seed)
  f <- case$f()
  bandit <- case$make(f)
  due <- if (!is.null(case$delays)) seq_len(rounds) + rpois(rounds, 5) else seq_len(rounds)
  waiting <- data.frame(id = integer(), y = numeric(), due = integer())
  needed <- 0
  for (t in seq_len(rounds)) {
    band <- if (t %% 5 == 0) bandit$posterior()
    q <- bandit$suggest()
    if (t %% 5 == 0 && is.null(case$at)) {
      last <- utils::tail(bandit$history(), 1)
      error <- if (isTRUE(case$chosen)) (f[q$arm] - last$mean) / last$sd else abs(band$mean - f) / band$sd
      needed <- max(needed, error / last$width)
    }
    y <- case$reward(f, q$arm) + if (identical(as.double(t), case$wrong)) 2 else 0
    waiting <- rbind(waiting, data.frame(id = q$id, y = y, due = due[t]))
    come <- waiting$due <= t
    if (any(come)) suppressWarnings(bandit$observe(waiting$id[come], waiting$y[come]))
    waiting <- waiting[!come, ]
  }
  if (!is.null(case$at)) {
    band <- bandit$posterior()
    needed <- max(abs(band$mean - f) / band$sd) / case$width
  }
  needed
}

found <- do.call(rbind, lapply(names(cases), function(name) {
  needed <- vapply(seq_len(runs), function(seed) one_run(cases[[name]], 7000 + seed), 0)
  message(name, ": missed ", mean(needed > 1), ", needed ", signif(stats::quantile(needed, 0.9), 2))
  data.frame(width = name, runs = runs, missed = mean(needed > 1), needed = signif(stats::quantile(needed, 0.9), 2), row.names = NULL)
}))
file <- "vignettes/articles/coverage.csv"
writeLines(sprintf("# by vignettes/precompute/coverage.R, %.0f s of processor time; gpbandits %s, %s",
                   proc.time()[["user.self"]] - started, packageVersion("gpbandits"), R.version.string), file)
suppressWarnings(write.table(found, file, sep = ",", row.names = FALSE, append = TRUE))
