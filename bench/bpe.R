# Batched pure exploration, bpe(), where its two variants are not at their best: delays that depend on the rewards, and
# functions that drift.
#   Rscript bench/bpe.R            (in the repository, gpbandits installed; a minute of one processor)
# Prints tables and writes bench/results/bpe.md.
suppressMessages(library(gpbandits))

noise <- 0.1
line_of <- function(...) paste0("| ", paste(..., sep = " | "), " |")

# ---- delays that depend on the noise --------------------------------------------------------------------------------
# Bad rewards of the best arm and good rewards of the others arrive after their batch. An interval misses f if f is
# outside mean +- width * sd at some arm when a batch is evaluated, of the first three batches.

batches <- function(rounds, count) {
  sizes <- integer()
  while (length(sizes) < count) {
    last <- if (length(sizes)) sizes[length(sizes)] else 1
    sizes <- c(sizes, ceiling(sqrt(rounds * last)))
  }
  sizes
}

missed <- function(wait, seed) {
  set.seed(500 + seed)
  x <- seq(0, 1, length.out = 5)
  f <- c(0, 0.02, 0.04, 0.02, 0)
  bandit <- bpe(x, kernel_se(0.3), noise^2, rounds = 1000, B = 1, R = noise, wait = wait)
  any(vapply(batches(1000, 3), function(size) {
    q <- bandit$suggest(size)
    error <- rnorm(size, sd = noise)
    reward <- f[q$arm] + error
    late <- (error > 0) == (q$arm == 3)
    bandit$observe(q$id[!late], reward[!late])
    if (wait == "rewards") bandit$observe(q$id[late], reward[late])
    used <- if (wait == "rewards") rep(TRUE, size) else !late
    batch <- gp_ucb(x, kernel_se(0.3), noise^2)$add(arm = q$arm[used], reward = reward[used])$posterior()
    any(abs(batch$mean - f) > bandit$history()$width[q$id[1]] * batch$sd)
  }, NA))
}

runs <- 100
waits <- c("rounds", "rewards")
share <- vapply(waits, function(wait) sum(vapply(seq_len(runs), function(seed) missed(wait, seed), NA)), 0)

# ---- drift ----------------------------------------------------------------------------------------------------------
# The function turns from one function of norm 1 to another and back, once (slow) or five times (fast) in 500 rounds.

rounds <- 500
x <- seq(0, 1, length.out = 20)
kernel <- kernel_se(0.2)
root <- chol(kernel_gram(kernel, x) + diag(1e-9, 20))
gain <- information_gain(kernel, x, noise^2, rounds = rounds)

drifting <- function(turns, seed) {
  set.seed(900 + seed)
  ends <- replicate(2, {
    a <- rnorm(20)
    drop(crossprod(root, a)) / sqrt(sum(a^2))
  })
  second <- (1 - cos(seq_len(rounds) / rounds * 2 * pi * turns)) / 2
  f <- outer(ends[, 1], 1 - second) + outer(ends[, 2], second)
  list(f = f, variation = sum(apply(abs(f[, -1] - f[, -rounds]), 2, max)))
}

regret_of <- function(make, turns, seed) {
  problem <- drifting(turns, seed)
  bandit <- make(problem)
  set.seed(seed)
  total <- 0
  for (t in seq_len(rounds)) {
    q <- bandit$suggest()
    bandit$observe(q$id, problem$f[q$arm, t] + rnorm(1, sd = noise))
    total <- total + max(problem$f[, t]) - problem$f[q$arm, t]
  }
  total
}

rules <- list(
  "`bpe(variation = )`" = function(p) bpe(x, kernel, noise^2, rounds, B = 1, R = noise, variation = p$variation,
                                          gain = gain[rounds]),
  "uniform sampling" = function(p) gp_bandit(x, kernel, noise^2, policy_uniform()),
  "`gp_ucb_drift()`, window 50" = function(p) gp_ucb_drift(x, kernel, noise^2, forget = change_oracle(window = 50))
)
of <- function(make, turns) mean(vapply(1:10, function(seed) regret_of(make, turns, seed), 0))
regrets <- vapply(rules, function(make) c(of(make, 1), of(make, 5)), c(0, 0))

lines <- c("# Batched pure exploration: delays that depend on rewards, and drift", "",
           sprintf("By `bench/bpe.R`, gpbandits %s.", packageVersion("gpbandits")), "", "## Delays", "",
           "Five arms, horizon 1,000. Bad rewards of the best arm and good rewards of the others arrive after their batch.",
           "",
           "| `wait` | runs | runs in which an interval of the first three batches missed f |", "| --- | ---: | ---: |",
           line_of(sprintf("`\"%s\"`", waits), runs, share), "", "## Drift", "",
           "20 arms, 500 rounds, two functions of norm 1 that turn into each other. Mean cumulative regret of 10 runs.",
           "",
           "| rule | slow (one turn) | fast (five turns) |", "| --- | ---: | ---: |",
           line_of(names(rules), round(regrets[1, ]), round(regrets[2, ])))
writeLines(lines)
writeLines(lines, "bench/results/bpe.md")
