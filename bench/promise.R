# Is the promise honest? Noisy tuning-like jobs in 5 inputs with known truth: what maximize_bandit() promises at the point that it
# recommends (`value`, in sd `sd`) beside the true mean there, by noise prior.
# Rscript bench/promise.R [jobs] [evaluations]
library(gpbandits)
given <- as.integer(commandArgs(TRUE))
jobs <- c(given[1], 10)[1 + is.na(given[1])]
evaluations <- c(given[2], 60)[1 + is.na(given[2])]
domain <- box_domain(c(lr = 1e-4, depth = 1, l2 = 1e-6, rate = 0.2, leaf = 1), c(1e-1, 12, 1, 1, 50),
                     integer = c("depth", "leaf"), log = c("lr", "l2", "leaf"))
unit <- function(p) {
  low <- ifelse(domain$log, log(domain$lower), domain$lower)
  high <- ifelse(domain$log, log(domain$upper), domain$upper)
  (ifelse(domain$log, log(p), p) - low) / (high - low)
}
# A loss as of a tuned learner: about .35 at best, .5 to .7 in the corners; noise sd .01; one run in 30 diverges to 3.
job <- function(seed) {
  set.seed(seed)
  at <- runif(5, 0.2, 0.8)
  size <- c(0.3, 0.15, 0.05, 0.1, 0.02) * runif(5, 0.5, 1.5)
  truth <- function(p) {
    u <- unit(p)
    0.35 + sum(size * abs(u - at)^1.7) + 0.05 * (u[[1]] - at[[1]]) * (u[[2]] - at[[2]])
  }
  list(truth = truth, noisy = function(p) if (runif(1) < 1 / 30) 3 else truth(p) + rnorm(1, sd = 0.01))
}
priors <- list(none = list(prior_noise = NULL, prior_lengthscale = NULL, refit = refit_every(5, mean = "fit")),
               default = list(), weak = list(prior_noise = c(log(1e-4), 3)),
               strong = list(prior_noise = c(log(1e-2), 1.5)))
for (name in names(priors)) {
  result <- vapply(seq_len(jobs), function(seed) {
    one <- job(seed)
    set.seed(seed)
    found <- do.call(minimize_bandit, c(list(one$noisy, domain, evaluations, progress = FALSE), priors[[name]]))
    c(promised = found$value, sd = found$sd, truth = one$truth(found$par), best = 0.35)
  }, numeric(4))
  off <- result["promised", ] - result["truth", ]
  cat(sprintf(paste("%-8s promise off by %.4f on average (bias %+.4f, worst %.4f), |off| / sd %.2f;",
                    "recommended %.4f above the optimum\n"), name, mean(abs(off)), mean(off), max(abs(off)), sqrt(mean((off / result["sd", ])^2)),
              mean(result["truth", ] - 0.35)))
}
