# What failures cost: 40 evaluations in two inputs where some fail, by accident (one in ten) or beyond an edge (a share of .35 to .65 of the first
# input stays), under `failures = "avoid"`, as the worst value for certain, and `"doubt"`.
#
#   Rscript bench/failures.R [seeds=1:20] [evaluations=40] [out=FILE]
#   Rscript bench/failures.R report=TRUE out=FILE
#
# Kinds: one objective (`one`), with a limit (`limit`), two objectives (`front`). `loss`: in sds of the objective, the best allowed value less the true one at the
# recommended point (which must be allowed: else `broken`); of fronts the share of the box of both ranges that is not dominated. Some minutes.
library(gpbandits)
source("bench/shared/script.R")
args <- arguments(seeds = "1:20", evaluations = "40", out = "", report = "FALSE")

# Two objectives and a limit g <= 0; where evaluations fail.
problem_of <- function(failing, seed) {
  set.seed(seed)
  at <- runif(2, 0.2, 0.8)
  phase <- runif(2, 0, 6)
  edge <- if (failing == "edge") runif(1, 0.35, 0.65) else Inf
  f <- function(x) -sum(3 * (x - at)^2) + 0.3 * sin(6 * x[1] + phase[1])
  g <- function(x) sin(4 * x[1] + phase[2]) + x[2] - 0.6
  h <- function(x) -sum(2 * (x - 1 + at)^2)
  grid <- matrix(runif(8000), ncol = 2)
  of <- function(one) apply(grid, 1, one)
  inside <- grid[, 1] <= edge
  list(f = f, g = g, h = h, sd = sd(of(f)), f_range = range(of(f)), h_range = range(of(h)),
       top = c(one = max(of(f)[inside]), limit = max(of(f)[inside & of(g) <= 0], -Inf)),
       never = function(x) x[1] > edge, fails = function(x) x[1] > edge || (failing == "accident" && runif(1) < 0.1))
}

# The share of the box of two ranges that no row of `values` dominates.
share_left <- function(values, ranges) {
  unit <- cbind((values[, 1] - ranges[[1]][1]) / diff(ranges[[1]]), (values[, 2] - ranges[[2]][1]) / diff(ranges[[2]]))
  unit <- pmin(pmax(unit[order(-unit[, 1]), , drop = FALSE], 0), 1)
  above <- diff(c(0, cummax(unit[, 2])))
  1 - sum(unit[, 1] * above)
}

one_search <- function(failing, kind, failures, seed, evaluations) {
  problem <- problem_of(failing, seed)
  if (kind != "front" && !is.finite(problem$top[[kind]])) return(NULL)
  set.seed(seed + 1000)
  roles <- list(f = to_maximize(), g = at_most(0), h = to_maximize())[switch(kind, one = "f", limit = c("f", "g"), front = c("f", "h"))]
  bandit <- auto_bandit(list(x1 = c(0, 1), x2 = c(0, 1)), outcomes = roles, failures = failures)
  found <- NULL
  failed <- 0
  for (k in seq_len(evaluations)) {
    asked <- bandit$suggest()
    x <- c(asked$x1, asked$x2)
    if (problem$fails(x)) {
      bandit$fail(asked$id)
      failed <- failed + 1
    } else {
      value <- vapply(names(roles), function(name) problem[[name]](x), 0)
      found <- rbind(found, value)
      bandit$observe(asked$id, value + rnorm(length(value), sd = 0.02))
    }
  }
  row <- data.frame(failing, kind, failures, seed, failed, broken = FALSE, loss = NA_real_)
  if (kind == "front") {
    row$loss <- share_left(found, list(problem$f_range, problem$h_range))
    return(row)
  }
  best <- suppressWarnings(bandit$best())
  x <- c(best$x1, best$x2)
  row$broken <- problem$never(x) || (kind == "limit" && problem$g(x) > 0.02)
  if (!row$broken) row$loss <- (problem$top[[kind]] - problem$f(x)) / problem$sd
  row
}

report <- function(rows) {
  line(c("failing", "kind", "searches", "loss, avoid", "loss, doubt", "doubt less avoid", "failed, avoid", "failed, doubt", "broken, avoid", "broken, doubt"))
  line(c("---", "---", rep("---:", 8)))
  both <- merge(rows[rows$failures == "avoid", ], rows[rows$failures == "doubt", ], by = c("failing", "kind", "seed"))
  for (one in split(both, both[c("kind", "failing")], drop = TRUE)) {
    change <- na.omit(one$loss.y - one$loss.x)
    mean_of <- function(column, digits) sprintf("%.*f", digits, mean(one[[column]], na.rm = TRUE))
    line(c(one$failing[1], one$kind[1], nrow(one), mean_of("loss.x", 3), mean_of("loss.y", 3),
           sprintf("%.3f (%.3f)", mean(change), sd(change) / sqrt(length(change))), mean_of("failed.x", 1), mean_of("failed.y", 1),
           sum(one$broken.x), sum(one$broken.y)))
  }
}

main <- function() {
  keys <- expand.grid(failures = c("avoid", "doubt"), kind = c("one", "limit", "front"), failing = c("accident", "edge"),
                      seed = numbers(args$seeds), stringsAsFactors = FALSE)
  done <- searches_done(args$out, names(keys))
  rows <- NULL
  for (k in seq_len(nrow(keys))) {
    if (is_done(done, keys[k, ])) next
    row <- with(keys[k, ], one_search(failing, kind, failures, seed, as.integer(args$evaluations)))
    if (is.null(row)) next
    if (nzchar(args$out)) keep_rows(row, args$out)
    rows <- rbind(rows, row)
  }
  report(if (nzchar(args$out)) read.csv(args$out) else rows)
}

if (args$report == "TRUE") report(read.csv(args$out)) else main()
