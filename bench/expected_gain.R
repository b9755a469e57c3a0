# What `$expected_improvement(n)` states against what the next n experiments gained, in tables of real experiments.
#
#   Rscript bench/expected_gain.R [tables=all|half1|half2|NAME,NAME] [seeds=1:3] [n=4] [experiments=40] out=FILE
#   Rscript bench/expected_gain.R report=TRUE out=FILE       tables in Markdown
#
# The tables and the answers of a seed are those of bench/experiments.R, with the defaults of `auto_bandit()`. After
# every n experiments from the fifth on, `mean`, `sd` and `probability` are stated, n more experiments are made one by
# one, and the gain is the difference of the recommended settings' values (the means of their rows), before and after.
# `scale` is the sd of a table's values.
library(gpbandits)
source("bench/shared/script.R")
source("bench/shared/experiments.R")
args <- arguments(tables = "all", seeds = "1:3", n = "4", experiments = "40", out = "", report = "FALSE")

play <- function(pool, seed) {
  n <- as.integer(args$n)
  count <- min(as.integer(args$experiments), length(pool$rows))
  result <- results_of(pool, seed)
  set.seed(seed)
  bandit <- auto_bandit(finite_domain(pool$inputs, labels = FALSE))
  experiment <- function() {
    asked <- bandit$suggest()
    bandit$observe(asked$id, result(asked$arm)[[1]])
  }
  for (k in 1:5) experiment()
  stated <- list()
  for (at in seq(5, count - n, by = n)) {
    before <- bandit$best()$arm
    seconds <- seconds(function() found <<- bandit$expected_improvement(n))
    for (k in seq_len(n)) experiment()
    stated[[length(stated) + 1]] <- data.frame(
      table = pool$name, seed, n, at, found, gained = pool$value[bandit$best()$arm] - pool$value[before],
      scale = stats::sd(pool$value), seconds = round(seconds, 3))
  }
  do.call(rbind, stated)
}

# ---- tables ----------------------------------------------------------------------------------------------------------

# Statements in groups of equal size, by their value.
deciles <- function(x) pmin(10, ceiling(rank(x, ties.method = "first") / length(x) * 10))

report <- function(rows) {
  rows <- rows[!is.na(rows$mean), ]
  rows[c("mean", "sd", "gained")] <- rows[c("mean", "sd", "gained")] / rows$scale
  line(c("decile of the expectation", "expected", "gained", "standard error", "sd stated", "sd of the error"))
  line(c("---", rep("---:", 5)))
  of_group <- function(these, name) {
    line(c(name, sprintf("%.3f", c(mean(these$mean), mean(these$gained), stats::sd(these$gained) / sqrt(nrow(these)),
                                   sqrt(mean(these$sd^2)), sqrt(mean((these$gained - these$mean)^2))))))
  }
  for (k in 1:10) of_group(rows[deciles(rows$mean) == k, ], k)
  of_group(rows, "all")
  cat("\n")
  line(c("decile of the probability", "stated", "gained something", "standard error"))
  line(c("---", rep("---:", 3)))
  for (k in 1:10) {
    these <- rows[deciles(rows$probability) == k, ]
    hit <- these$gained > 0
    line(c(k, sprintf("%.2f", c(mean(these$probability), mean(hit), sqrt(mean(hit) * mean(!hit) / nrow(these))))))
  }
  cat(sprintf("\n%d statements; seconds of processor: median %.3f, largest %.3f\n", nrow(rows),
              stats::median(rows$seconds), max(rows$seconds)))
}

if (args$report == "TRUE") {
  report(utils::read.csv(args$out))
} else {
  named <- switch(args$tables, all = c(half1, half2), half1 = half1, half2 = half2, words(args$tables))
  done <- searches_done(args$out, c("table", "seed", "n"))
  for (seed in numbers(args$seeds)) for (name in named) {
    if (!is_done(done, data.frame(table = name, seed, n = as.integer(args$n)))) {
      keep_rows(play(pool_of(name), seed), args$out)
    }
  }
}
