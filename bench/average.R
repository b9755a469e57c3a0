# What averaging over hyperparameters costs: milliseconds of processor that auto_bandit()'s `$suggest()` takes with ten models
# (the default) and with one, in a round that fits them again and in one that does not (it fits every second round).
#   Rscript bench/average.R [inputs=2,6] [rewards=50,100,200] [rounds=10]
# A smooth function with an interaction, noise of sd .05, uniform points. Writes bench/results/average.md.
library(gpbandits)
source("bench/shared/script.R")
args <- lapply(arguments(inputs = "2,6", rewards = "50,100,200", rounds = "10"), numbers)

value <- function(x) -rowSums((x - 0.4)^2) - sin(5 * x[, 1]) * x[, 2]

# The median of both kinds of rounds, and the mean over all.
measure <- function(d, n, average) {
  set.seed(1)
  domain <- box_domain(rep(0, d), rep(1, d))
  bandit <- auto_bandit(domain, n_initial = 2,
                        model = gp_model(refit = refit_every(2, mean = "fit", average = average)))
  x <- matrix(stats::runif(n * d), n)
  bandit$add(x = x, reward = value(x) + stats::rnorm(n, sd = 0.05))
  q <- NULL
  spent <- fits <- numeric()
  for (round in seq_len(2 + args$rounds)) {
    before <- length(bandit$refits)
    spent[round] <- seconds(function() q <<- bandit$suggest())
    fits[round] <- length(bandit$refits) > before
    bandit$observe(q$id, value(as.matrix(q[domain$names])) + stats::rnorm(1, sd = 0.05))
  }
  timed <- -(1:2)                                     # the first fit has nothing to begin with
  1000 * c(fits = stats::median(spent[timed][fits[timed] == 1]), else_ = stats::median(spent[timed][fits[timed] == 0]),
           mean = mean(spent[timed]))
}

rows <- expand.grid(n = args$rewards, d = args$inputs)
lines <- c(
  "# What averaging over hyperparameters costs", "",
  sprintf("Milliseconds of processor a suggestion of `auto_bandit()`, by `bench/average.R`; R %s, load %s on %d processors.",
          getRversion(), strsplit(readLines("/proc/loadavg"), " ")[[1]][1], parallel::detectCores()), "",
  "| inputs | rewards | ten models: a round that fits | one that does not | mean | one model: a round that fits | one that does not | mean |",
  "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  vapply(seq_len(nrow(rows)), function(i) {
    times <- c(measure(rows$d[i], rows$n[i], 10), measure(rows$d[i], rows$n[i], 1))
    paste0("| ", paste(c(rows$d[i], rows$n[i], sprintf("%.0f", times)), collapse = " | "), " |")
  }, ""),
  "", "Aim: a suggestion with ten models of 200 rewards in 6 inputs under 300 ms."
)
writeLines(lines)
writeLines(lines, "bench/results/average.md")
