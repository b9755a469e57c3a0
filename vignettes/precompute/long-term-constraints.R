# Stored results of vignettes/articles/long-term-constraints-in-full.Rmd, played with the article's own code: there is no second copy of it.
# From the package's root, with gpbandits installed:
#   Rscript vignettes/precompute/long-term-constraints.R                 (all parts: half an hour of one core)
#   Rscript vignettes/precompute/long-term-constraints.R ours "fresh epochs"      (some parts; the other rows are kept)
# Seed 2022, 100 runs of 350 rounds each unless the article says otherwise.
library(gpbandits)
source("vignettes/precompute/results.R")
run_chunks("long-term-constraints", c("rules", "baselines", "tools", "parts"))

# Which rows a part makes: as (experiment, bandit).
file <- results_file("long-term-constraints")
wanted <- commandArgs(TRUE)
if (length(wanted) == 0) wanted <- names(parts)
numbers <- c("mean", "q05", "q25", "q50", "q75", "q95")
for (part in wanted) {
  seconds <- system.time(new <- parts[[part]]())[["user.self"]]
  new <- new[new$quantity != "stopped" | new$bandit == "ADMMBO", ]
  new <- new[new$experiment != "trade-off" | new$round == 350, ]
  new[numbers] <- lapply(new[numbers], function(v) signif(round(v, 4), 4))
  boxed <- new$bandit %in% c("reuse", "letter", "OCO", "ADMMBO")         # the others are drawn as curves
  new[!boxed, numbers[-1]] <- NA
  kept <- if (file.exists(file)) utils::read.csv(file, comment.char = "#")
  made <- paste(new$experiment, new$bandit)
  table <- rbind(kept[!paste(kept$experiment, kept$bandit) %in% made, ], new)
  write_results("long-term-constraints", table, quote = 1:2, script = "long-term-constraints.R", seconds = seconds, about =
                sprintf("Mean and quantiles over the runs of time-averaged regret and violation, seed 2022; last part played: %s", part))
  message(part, ": ", round(seconds), " s")
}
