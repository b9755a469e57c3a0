# Measured accuracies that vignettes/articles/delayed-feedback-in-full.Rmd tunes on: every configuration of a grid was trained
# once. From the package's root (some five minutes in one process), with the data of the README beside it:
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/delayed-feedback-tables.R [cnn|logistic]
# - inst/extdata/cnn-mnist.csv.xz: the network of cnn.cpp on MNIST. Only the official 10,000 test images are to be
#   had: images in a random order, 8,000 to train on, 2,000 to validate.
# - inst/extdata/logistic-wdbc.csv.xz: logistic regression by stochastic gradient descent on WDBC, 70/30 by class.
# Rates and decays lie on a logarithmic grid.
data <- Sys.getenv("GPBANDITS_DATA")
stopifnot(nzchar(data))
wanted <- commandArgs(TRUE)
if (length(wanted) == 0) wanted <- c("cnn", "logistic")

source("vignettes/precompute/results.R")
write_table <- function(name, table, about, seconds) {
  write_results(name, table, about, "delayed-feedback-tables.R", seconds, quote = FALSE)
}

read_idx <- function(name, header, count) {
  con <- gzfile(file.path(data, name), "rb")
  on.exit(close(con))
  readBin(con, "integer", header, size = 4, endian = "big")
  as.integer(readBin(con, "raw", count))
}

if ("cnn" %in% wanted) {
  Rcpp::sourceCpp("vignettes/precompute/cnn.cpp")
  images <- matrix(read_idx("mnist_t10k-images-idx3-ubyte.gz", 4, 7840000), nrow = 784) / 255
  # Row by row in the file, so a column is an image with rows contiguous, as cnn.cpp reads it.
  labels <- read_idx("mnist_t10k-labels-idx1-ubyte.gz", 2, 10000)
  set.seed(2022)
  train <- sample(10000, 8000)
  table <- expand.grid(batch = c(128, 192, 256, 384, 512), rate = signif(10^seq(-6, 0, length.out = 9), 3),
                       decay = signif(10^seq(-6, 0, length.out = 6), 3))
  seconds <- system.time({
    table$accuracy <- vapply(seq_len(nrow(table)), function(i) {
      cnn_accuracy(images[, train], labels[train], images[, -train], labels[-train], table$batch[i], table$rate[i],
                   table$decay[i], epochs = 2L, seed = i)
    }, 0)
  })[[3]]
  write_table("cnn-mnist", table,
              "CNN on MNIST: validation accuracy after 2 epochs, 8,000 training and 2,000 validation images, seed 2022", seconds)
}

# Mini-batch gradient descent with step rate / (1 + decay * updates); accuracy on the rest.
logistic_accuracy <- function(x, y, train, batch, rate, decay, epochs = 20) {
  w <- numeric(ncol(x) + 1)
  x <- cbind(1, x)
  updates <- 0
  for (epoch in seq_len(epochs)) {
    order <- sample(train)
    for (rows in split(order, ceiling(seq_along(order) / batch))) {
      p <- stats::plogis(drop(x[rows, , drop = FALSE] %*% w))
      w <- w - rate / (1 + decay * updates) * drop(crossprod(x[rows, , drop = FALSE], p - y[rows])) / length(rows)
      updates <- updates + 1
    }
  }
  mean((drop(x[-train, ] %*% w) > 0) == (y[-train] == 1))
}

if ("logistic" %in% wanted) {
  wdbc <- read.csv(file.path(data, "wdbc.csv"))
  y <- wdbc$malignant
  x <- as.matrix(wdbc[names(wdbc) != "malignant"])
  set.seed(2022)
  train <- unlist(lapply(split(seq_along(y), y), function(rows) sample(rows, round(0.7 * length(rows)))))
  x <- scale(x, colMeans(x[train, ]), apply(x[train, ], 2, sd))
  table <- expand.grid(batch = c(32, 48, 64, 96, 128), rate = signif(10^seq(-6, 0, length.out = 9), 3),
                       decay = signif(10^seq(-6, 0, length.out = 6), 3))
  seconds <- system.time({
    table$accuracy <- vapply(seq_len(nrow(table)), function(i) {
      set.seed(i)
      logistic_accuracy(x, y, train, table$batch[i], table$rate[i], table$decay[i])
    }, 0)
  })[[3]]
  write_table("logistic-wdbc", table,
              "Logistic regression on WDBC: validation accuracy after 20 epochs, 70/30 by class, seed 2022", seconds)
}
