# What rules for late rewards pay in all rounds, beside how good the point is that they find: the setting of Figure 1 (c)
# of Verma et al. (2022), with the chunk of the article on delayed feedback. From the package's root, gpbandits installed:
#   Rscript vignettes/precompute/late-rewards.R
# (half a minute of one processor). Writes vignettes/articles/late-rewards.csv: a row per prior and rule, with means and
# standard errors of the simple and of the cumulative regret after 150 rounds.
library(gpbandits)
source("vignettes/precompute/results.R")
started <- proc.time()[["user.self"]]
run_chunks("delayed-feedback", "synthetic")
replications <- 40

ends_of <- function(prior, all) {
  runs <- as.data.frame(compare(all[c("GP-UCB-SDF", "GP-UCB", "GP-BUCB")], function(n) rpois(n, 10), replications))
  runs <- runs[runs$round == 150, ]
  # As in the article: where no reward is known, the simple regret is 1, that of the worst point.
  runs$simple_regret[is.na(runs$simple_regret)] <- 1
  of <- function(column, f) signif(as.vector(tapply(runs[[column]], runs$bandit, f)), 4)
  se <- function(v) sd(v) / sqrt(length(v))
  data.frame(prior = prior, rule = levels(factor(runs$bandit)), runs = replications,
             simple = of("simple_regret", mean), simple_se = of("simple_regret", se),
             cumulative = of("cumulative_regret", mean), cumulative_se = of("cumulative_regret", se))
}

found <- rbind(ends_of("mean 0.5, variance 0.05", rules(20, kernel, mean = 0.5)),
               ends_of("mean 0, variance 1", rules(20, kernel_se(0.02))))
file <- "vignettes/articles/late-rewards.csv"
writeLines(sprintf("# by vignettes/precompute/late-rewards.R, %.0f s of processor time; gpbandits %s, %s",
                   proc.time()[["user.self"]] - started, packageVersion("gpbandits"), R.version.string), file)
suppressWarnings(write.table(found, file, sep = ",", row.names = FALSE, append = TRUE))
print(found)
