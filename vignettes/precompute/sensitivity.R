# Sensitivity to three choices: the scale D of GP-UCB-CPD's width, the number of averaged models, a wrong kernel.
# From the package's root, gpbandits installed:
#   nice -n 19 Rscript vignettes/precompute/sensitivity.R
# (five minutes of one processor). Writes inst/extdata/sensitivity.csv.xz: a row per part, rule, setting and measure,
# with mean and standard error over the runs.
library(gpbandits)
source("vignettes/precompute/results.R")
started <- proc.time()

# `one(seed)` returns named numbers.
summary_of <- function(part, rule, setting, runs, one) {
  found <- vapply(seq_len(runs), one, one(1))
  message(part, " ", rule, " ", setting, ": ", paste(rownames(found), signif(rowMeans(found), 3), collapse = ", "))
  data.frame(part = part, rule = rule, setting = setting, measure = rownames(found), value = rowMeans(found),
             se = apply(found, 1, stats::sd) / sqrt(runs), runs = runs, row.names = NULL)
}

# The problem of Figure 3 of the article "Nonstationary bandits in full" on 200 arms.
x <- seq(0, 5, length.out = 200)
kernel <- kernel_matern(2.5, 1)
rounds <- 1200
detector <- change_detect(function(q) 2.6 * q^(-6 / 7), function(q) 2 * q^(1 / 7))
scale_of_width <- function(rule, D) {
  changes <- list("GP-UCB-CPD" = detector, "GP-UCB-Oracle" = change_oracle(300 * 1:3))[[rule]]
  summary_of("D", rule, D, 32, function(seed) {
    set.seed(7000 + seed)
    problem <- bandit_problem(x, sample_gp(kernel, x, n = 4), noise = 0.05, change_points = 300 * 1:3)
    width <- width_cpd(D = D, nu = 2.5, d = 1, horizon = rounds)
    run <- as.data.frame(run_bandit(gp_ucb_cpd(x, kernel, 0.05^2 * log(rounds), changes, width), problem, rounds))
    c(regret = sum(run$regret), restarts = max(run$segment) - 1)
  })
}

# Functions of two inputs with an unknown lengthscale; auto_bandit() estimates kernel and noise, 25 evaluations.
grid <- as.matrix(expand.grid(a = seq(0, 1, length.out = 15), b = seq(0, 1, length.out = 15)))
averaged <- function(models) {
  summary_of("models", "auto_bandit()", models, 120, function(seed) {
    set.seed(8000 + seed)
    f <- drop(sample_gp(kernel_matern(2.5, exp(stats::rnorm(1, log(0.4), 0.5))), grid))
    bandit <- auto_bandit(grid, model = gp_model(refit = refit_every(2, mean = "fit", average = models)))
    for (t in 1:25) {
      q <- bandit$suggest()
      bandit$observe(q$id, f[q$arm] + stats::rnorm(1, sd = 0.1))
    }
    p <- bandit$posterior()
    c(covered = mean(abs(p$mean - f) <= stats::qnorm(0.95) * p$sd), regret = max(f) - f[bandit$best()$arm])
  })
}

# Functions of the article "Theoretical guarantees": Matern 5/2, lengthscale 0.2. The bandit has another kernel.
line <- seq(0, 1, length.out = 80)
kernels <- list("Matern 1/2" = function(l) kernel_matern(0.5, l), "Matern 5/2" = function(l) kernel_matern(2.5, l),
                "squared exponential" = kernel_se)
wrong <- function(rule, factor) {
  summary_of("kernel", rule, factor, 100, function(seed) {
    set.seed(9000 + seed)
    f <- drop(sample_gp(kernel_matern(2.5, 0.2), line))
    bandit <- gp_bandit(line, kernels[[rule]](0.2 * factor), 0.04, policy_ucb(width_srinivas_finite(0.1)))
    held <- TRUE
    for (t in 1:100) {
      q <- bandit$suggest()
      bandit$observe(q$id, f[q$arm] + stats::rnorm(1, sd = 0.2))
      if (t %% 10 > 0) next
      p <- bandit$posterior()
      held <- held && all(abs(p$mean - f) <= sqrt(2 * log(80 * (t + 1)^2 * pi^2 / 0.6)) * p$sd)
    }
    c(held = held, regret = sum(max(f) - f[bandit$history()$arm]))
  })
}

each <- function(f, ...) do.call(rbind, .mapply(f, expand.grid(..., stringsAsFactors = FALSE), NULL))
found <- rbind(
  each(scale_of_width, rule = c("GP-UCB-CPD", "GP-UCB-Oracle"), D = c(0, 0.0005, 0.002, 0.005, 0.02, 0.05, 0.2, 0.5)),
  each(averaged, models = c(1, 2, 4, 7, 10, 20)),
  each(wrong, rule = names(kernels), factor = c(0.25, 0.5, 1, 2, 3, 4))
)
write_results("sensitivity", found, "Sensitivity to D, the number of averaged models and the kernel", "sensitivity.R",
              sum((proc.time() - started)[1:2]), digits = 4)
