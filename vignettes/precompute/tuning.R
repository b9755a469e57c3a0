# The true accuracy surface of the tuning article: an SVM on Sonar, 17 x 17 settings, 16 random
# splits into five folds each. About four minutes of one core. Run from the package's folder:
#   Rscript vignettes/precompute/tuning.R
# Writes inst/extdata/tuning-sonar.csv.xz.
data(Sonar, package = "mlbench")
x <- as.matrix(Sonar[, -61])
y <- Sonar$Class

accuracy <- function(cost, gamma) {
  fold <- sample(rep_len(1:5, nrow(x)))
  right <- lapply(1:5, function(k) {
    fit <- e1071::svm(x[fold != k, ], y[fold != k], cost = cost, gamma = gamma)
    stats::predict(fit, x[fold == k, ]) == y[fold == k]
  })
  mean(unlist(right))
}

settings <- expand.grid(cost = 10^seq(-1, 4, length.out = 17), gamma = 10^seq(-5, 1, length.out = 17))
set.seed(20)
values <- vapply(seq_len(nrow(settings)), function(i) {
  replicate(16, accuracy(settings$cost[i], settings$gamma[i]))
}, numeric(16))
settings$accuracy <- round(colMeans(values), 4)
settings$sd <- round(apply(values, 2, sd), 4)
utils::write.csv(settings, xzfile("inst/extdata/tuning-sonar.csv.xz"), row.names = FALSE, quote = FALSE)
