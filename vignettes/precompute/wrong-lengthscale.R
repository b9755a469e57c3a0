# How often an interval misses, and a certificate warns, if the model's lengthscale is wrong. Functions are drawn from
# the prior of the article "Theoretical guarantees: regret, coverage and run time" (Matern 5/2, lengthscale 0.2,
# 80 arms, noise of sd 0.2); the bandit has a lengthscale that is `factor` times that. GP-UCB with Theorem 1's width at delta = 0.1, 100 rounds.
# From the package's root, gpbandits installed:
#   Rscript vignettes/precompute/wrong-lengthscale.R
# (a minute of one processor). Writes vignettes/articles/wrong-lengthscale.csv: a row per factor. `missed`: the
# share of runs in which f left the band at some arm in some fifth round; `warned`: the share in which `$certificate()` after
# the last round warned that the model does not fit; `both`: the share in which both happened.
library(gpbandits)
started <- proc.time()[["user.self"]]
x <- seq(0, 1, length.out = 80)
noise_sd <- 0.2
rounds <- 100
runs <- 100

one_run <- function(factor, seed) {
  set.seed(5000 + seed)
  f <- drop(sample_gp(kernel_matern(2.5, 0.2), x))
  width <- width_srinivas_finite(0.1)
  bandit <- gp_bandit(x, kernel_matern(2.5, 0.2 * factor), noise_sd^2, policy_ucb(width))
  missed <- FALSE
  for (t in seq_len(rounds)) {
    band <- if (t %% 5 == 0) bandit$posterior()
    q <- bandit$suggest()
    if (!is.null(band)) missed <- missed || any(abs(band$mean - f) > tail(bandit$history()$width, 1) * band$sd)
    bandit$observe(q$id, f[q$arm] + rnorm(1, sd = noise_sd))
  }
  warned <- FALSE
  withCallingHandlers(bandit$certificate(stop_gap(0.2)), gpbandits_model = function(w) {
    warned <<- TRUE
    invokeRestart("muffleWarning")
  })
  c(missed = missed, warned = warned, both = missed && warned)
}

found <- do.call(rbind, lapply(c(1, 2, 3), function(factor) {
  each <- vapply(seq_len(runs), function(seed) one_run(factor, seed), c(NA, NA, NA))
  message("factor ", factor, ": ", paste(rownames(each), rowMeans(each), collapse = ", "))
  data.frame(factor = factor, runs = runs, t(rowMeans(each)))
}))
file <- "vignettes/articles/wrong-lengthscale.csv"
writeLines(sprintf("# by vignettes/precompute/wrong-lengthscale.R, %.0f s of processor time; gpbandits %s, %s",
                   proc.time()[["user.self"]] - started, packageVersion("gpbandits"), R.version.string), file)
suppressWarnings(write.table(found, file, sep = ",", row.names = FALSE, append = TRUE))
print(found)
