# How often check_model() speaks against a right model, and against a wrong one, where rewards are no readings with Gaussian noise.
#
#   Rscript bench/check_model.R [lives=150] [rounds=50]
#
# f is drawn from the prior on 40 arms; a bandit (UCB, width 1) asks and is told `rounds` rewards. Right: kernel, noise and likelihood are those that f and rewards
# were drawn by. Wrong: a twentieth of the prior variance (a tenth of the noise's, too, of readings with outliers), a third of the lives. Shares of lives with p-values below .01 and
# .001; the 99% point of the largest |z| left out; the root mean square of z. Half a minute.
library(gpbandits)
source("bench/shared/script.R")
args <- arguments(lives = "150", rounds = "50")

x <- seq(0, 1, length.out = 40)
cuts <- c(-1, 0.5, 1.5)
trials <- function(n) function(f) list(reward = rbinom(1, n, plogis(f)), size = n)
kinds <- list(
  "one trial" = list(rewards_binary(), 2, trials(1)),
  "one trial, variational" = list(rewards_binary(approximation = "variational"), 2, trials(1)),
  "ten trials" = list(rewards_binary(), 2, trials(10)),
  counts = list(rewards_counts(), 1, function(f) list(reward = rpois(1, 3 * exp(f)), size = 3)),
  "four levels" = list(rewards_ordinal(letters[1:4], cuts = cuts), 2, function(f) list(reward = 1 + sum(rlogis(1, f) > cuts))),
  outliers = list(rewards_robust(), 1, function(f) list(reward = f + 0.2 * rt(1, 4)), noise_var = 0.04))

check_of_life <- function(kind, wrong, seed) {
  set.seed(seed)
  variance <- kind[[2]]
  gram <- variance * exp(-outer(x, x, "-")^2 / (2 * 0.2^2))
  f <- drop(crossprod(chol(gram + diag(1e-8, length(x))), rnorm(length(x))))
  noise <- if (!is.null(kind$noise_var)) list(noise_var = if (wrong) kind$noise_var / 10 else kind$noise_var)
  bandit <- do.call(gp_bandit, c(list(x, kernel_se(0.2, variance = if (wrong) variance / 20 else variance), rewards = kind[[1]],
                                      policy = policy_ucb(width_constant(1))), noise))
  for (t in seq_len(as.integer(args$rounds))) {
    asked <- bandit$suggest()
    do.call(bandit$observe, c(list(asked$id), kind[[3]](f[asked$arm])))
  }
  check <- check_model(bandit)
  c(check$tests$p[1:3], check$largest, mean(as.data.frame(check)$z^2))
}

line(c("rewards", "model", "lives", "scale < .01", "scale < .001", "largest < .01", "largest < .001", "noise < .01", "largest z, 99%", "rms z"))
line(c("---", "---", rep("---:", 8)))
for (name in names(kinds)) {
  for (wrong in c(FALSE, TRUE)) {
    lives <- as.integer(args$lives) %/% (if (wrong) 3L else 1L)
    found <- vapply(seq_len(lives), function(seed) check_of_life(kinds[[name]], wrong, seed), numeric(5))
    below <- function(row, p) sprintf("%.3f", mean(found[row, ] < p, na.rm = TRUE))
    line(c(name, if (wrong) "wrong" else "right", lives, below(1, 0.01), below(1, 0.001), below(2, 0.01), below(2, 0.001), below(3, 0.01),
           sprintf("%.2f", quantile(found[4, ], 0.99)), sprintf("%.2f", sqrt(mean(found[5, ])))))
  }
}
