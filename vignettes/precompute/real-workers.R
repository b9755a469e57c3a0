# Wall-clock to a given accuracy with one and two real workers, for vignettes/articles/delayed-feedback-in-full.Rmd: article builds
# must not start processes. From the package's root, with gpbandits and future installed (about six minutes,
# nearly all of them asleep):
#   Rscript vignettes/precompute/real-workers.R
# Seeds 1..10; Branin, 40 evaluations, each of which takes half a second.
library(gpbandits)
source("vignettes/precompute/results.R")
branin <- benchmark_function("branin")
seconds_each <- 0.5
evaluations <- 40
accuracies <- c(1, 0.1, 0.01)

log <- tempfile()
objective <- function(p) {
  Sys.sleep(seconds_each)
  value <- branin$f(matrix(p, 1))
  cat(sprintf("%.3f %.10g\n", as.numeric(Sys.time()), value), file = log, append = TRUE)
  value
}

# Seconds until the best evaluation so far is within each accuracy of the optimum, and until the end.
play <- function(workers, seed) {
  unlink(log)
  set.seed(seed)
  began <- as.numeric(Sys.time())
  found <- maximize_bandit(objective, branin$domain, evaluations, workers = workers)
  total <- as.numeric(Sys.time()) - began
  done <- read.table(log, col.names = c("time", "value"))
  done <- done[order(done$time), ]
  regret <- branin$optimum - cummax(done$value)
  reached <- vapply(accuracies, function(a) c(done$time[regret <= a] - began, NA)[1], 0)
  needed <- vapply(accuracies, function(a) c(which(regret <= a), NA)[1], 0L)
  data.frame(workers = workers, seed = seed, accuracy = c(accuracies, NA), seconds = round(c(reached, total), 2),
             evaluations = c(needed, nrow(found$history)))
}

old <- future::plan("multisession", workers = 2)
invisible(future::value(lapply(1:2, function(i) future::future(i))))
invisible(maximize_bandit(function(p) p[["x"]], list(x = c(0, 1)), 12))   # all code is compiled once
table <- do.call(rbind, lapply(1:10, function(seed) rbind(play(1, seed), play(2, seed))))
future::plan(old)

about <- paste("Seconds (wall-clock) until Branin's optimum is known to an accuracy (NA: until the end), seeds 1 to 10,",
               sprintf("%g s an evaluation, %g evaluations, a machine of 2 cores in use", seconds_each, evaluations))
write_results("real-workers", table, about, "real-workers.R", proc.time()[["user.self"]], quote = FALSE)
print(aggregate(cbind(seconds, evaluations) ~ workers + accuracy, transform(table, accuracy = ifelse(is.na(accuracy), 0, accuracy)), median))
