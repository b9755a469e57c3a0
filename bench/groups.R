# Groups as contexts: the regret of decisions in eight unordered groups that have much, something or nothing in common.
#
#   Rscript bench/groups.R [seeds=1:10] [models=levels,flat,numbers] out=FILE
#   Rscript bench/groups.R report=TRUE out=FILE       a table in Markdown
#
# Each group's function is a draw of a Gaussian process over 12 arms (squared exponential, lengthscale 0.2, variance 1);
# the share of a part that all groups have is 0.9, 0.5 or 0. The noise sd is 0.2, and 80 visitors come from random
# groups. Models: `levels` is the default of `auto_bandit()`, with a Beta(4, 2) prior of the correlation of two groups;
# `flat` has Beta(1, 1); `numbers` treats the groups' numbers as a range.
library(gpbandits)
source("bench/shared/script.R")
args <- arguments(seeds = "1:10", models = "levels,flat,numbers", out = "", report = "FALSE")
shares <- c(related = 0.9, half = 0.5, unrelated = 0)
arms <- seq(0, 1, length.out = 12)

play <- function(seed, share, model) {
  set.seed(seed)
  root <- t(chol(kernel_gram(kernel_se(0.2), matrix(arms)) + 1e-8 * diag(12)))
  common <- root %*% rnorm(12)
  f <- sapply(1:8, function(g) sqrt(share) * common + sqrt(1 - share) * (root %*% rnorm(12)))
  group <- sample(8, 80, TRUE)
  noise <- rnorm(80, sd = 0.2)
  set.seed(100 + seed)
  refit <- if (model == "flat") {
    refit_every(2, mean = "fit", average = 10, priors = list("2.categorical.correlation" = c(shape1 = 1, shape2 = 1)))
  } else "auto"
  bandit <- auto_bandit(arms, contexts = list(g = if (model == "numbers") c(1, 8) else letters[1:8]),
                        model = gp_model(refit = refit))
  regret <- vapply(1:80, function(t) {
    g <- group[t]
    asked <- bandit$suggest(context = list(g = if (model == "numbers") g else letters[g]))
    bandit$observe(asked$id, f[asked$arm, g] + noise[t])
    max(f[, g]) - f[asked$arm, g]
  }, 0)
  data.frame(first = mean(regret[1:40]), middle = mean(regret[41:60]), last = mean(regret[61:80]))
}

report <- function(rows) {
  line(c("groups", "model", "rounds 1 to 40", "41 to 60", "61 to 80"))
  line(c("---", "---", rep("---:", 3)))
  for (one in split(rows, list(rows$model, rows$groups), drop = TRUE)) {
    line(c(one$groups[1], one$model[1], vapply(one[c("first", "middle", "last")], function(x) {
      sprintf("%.3f (%.3f)", mean(x), stats::sd(x) / sqrt(length(x)))
    }, "")))
  }
}

if (args$report == "TRUE") {
  report(utils::read.csv(args$out))
} else {
  done <- searches_done(args$out, c("seed", "groups", "model"))
  for (seed in numbers(args$seeds)) for (groups in names(shares)) for (model in words(args$models)) {
    run <- data.frame(seed, groups, model)
    if (!is_done(done, run)) keep_rows(cbind(run, play(seed, shares[[groups]], model)), args$out)
  }
}
