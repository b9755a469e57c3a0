# Stored results of vignettes/long-term-constraints.Rmd, played with the article's own code: there is no second copy of it.
# From the package's root, with gpbandits installed:
#   Rscript vignettes/precompute/long-term-constraints.R                 (all parts: half an hour of one core)
#   Rscript vignettes/precompute/long-term-constraints.R ours "fresh epochs"      (some parts; the other rows are kept)
# Seed 2022, 100 runs of 350 rounds each unless the article says otherwise.
library(gpbandits)
article <- readLines("vignettes/long-term-constraints.Rmd")
chunk <- function(name) {
  from <- grep(paste0("^```\\{r ", name, "[,}]"), article)
  article[(from + 1):(from + which(article[-seq_len(from)] == "```")[1] - 1)]
}
for (name in c("rules", "rivals", "tools")) eval(parse(text = chunk(name)))
eval(parse(text = head(chunk("stored"), -1)))                            # all but the reading of results

# Which rows a part makes: as (experiment, bandit).
file <- "inst/extdata/long-term-constraints.csv"
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
  writeLines(c("# Mean and quantiles over the runs of time-averaged regret and violation, by vignettes/precompute/long-term-constraints.R",
               sprintf("# seed 2022; last part played: %s, %.0f s of processor time; gpbandits %s, %s", part, seconds,
                       packageVersion("gpbandits"), R.version.string)), file)
  suppressWarnings(write.table(table, file, append = TRUE, sep = ",", row.names = FALSE, quote = 1:2, na = ""))
  message(part, ": ", round(seconds), " s")
}
