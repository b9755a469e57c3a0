# Proportions of unsafe runs of SafeOpt with the right norm bound, with one that is too small, and with a constant
# width, for the article on guarantees. From the package's root, gpbandits installed (ten seconds of one processor):
#   Rscript vignettes/precompute/unsafe.R
# Writes vignettes/articles/unsafe.csv: a row per width.
library(gpbandits)
started <- proc.time()[["user.self"]]
runs <- 40
rounds <- 60
norm <- 10
R <- 0.1
kernel <- kernel_se(0.2)
x <- seq(0, 1, length.out = 60)
gram <- kernel_gram(kernel, x)

# A sum of five kernel functions at random arms, scaled to norm 10. The threshold is its 30% quantile, and the seed is
# the lowest arm among the best half.
problem_of <- function(run) {
  set.seed(7000 + run)
  centres <- sample(length(x), 5)
  a <- rnorm(5)
  f <- norm * drop(gram[, centres] %*% a) / sqrt(drop(a %*% gram[centres, centres] %*% a))
  better <- which(f >= stats::median(f))
  list(f = f, threshold = stats::quantile(f, 0.3, names = FALSE), seed = better[which.min(f[better])])
}

widths <- list(
  list(name = "B = 10, the true norm", B = norm),
  list(name = "B = 2.5", B = norm / 4),
  list(name = "B = 2.5 and stop_if_refuted = TRUE", B = norm / 4, stop_if_refuted = TRUE),
  list(name = "the constant width 2", width = width_constant(2))
)

# The number of unsafe evaluations of one run.
unsafe_in <- function(setting, run) {
  p <- problem_of(run)
  settings <- c(setting[names(setting) != "name"], if (!is.null(setting$B)) list(R = R))
  bandit <- do.call(safe_opt, c(list(x, kernel, R^2, threshold = p$threshold, seed = p$seed), settings))
  played <- suppressWarnings(as.data.frame(run_bandit(bandit, bandit_problem(x, p$f, noise = R), rounds)),
                             classes = "gpbandits_refuted")
  sum(played$f < p$threshold)
}

found <- do.call(rbind, lapply(widths, function(setting) {
  each <- vapply(seq_len(runs), function(run) unsafe_in(setting, run), 0)
  data.frame(width = setting$name, runs = runs, unsafe = mean(each > 0), evaluations = mean(each))
}))
file <- "vignettes/articles/unsafe.csv"
writeLines(sprintf("# by vignettes/precompute/unsafe.R, %.0f s of processor time; gpbandits %s, %s",
                   proc.time()[["user.self"]] - started, packageVersion("gpbandits"), R.version.string), file)
suppressWarnings(write.table(found, file, sep = ",", row.names = FALSE, append = TRUE))
print(found)
