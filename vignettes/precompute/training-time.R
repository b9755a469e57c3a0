# Measures what vignettes/articles/long-term-constraints-in-full.Rmd tunes: a neural network with one hidden layer
# (package nnet) that tells six kinds of forensic glass apart (MASS::fgl, 214 samples, 9 inputs). For
# each of 400 settings: accuracy on the held-out fifth and processor time of training, over 12 random
# splits.
#   Rscript vignettes/precompute/training-time.R
# Writes inst/extdata/training-time.csv.xz. Seed 1; about four minutes on one core. Accuracies come out
# the same again, times are the machine's.
library(nnet)

glass <- MASS::fgl
glass[1:9] <- scale(glass[1:9])
settings <- expand.grid(units = c(1, 2, 3, 4, 6, 8, 12, 16, 24, 32),
                        iterations = c(5, 10, 15, 25, 40, 60, 100, 160, 250, 400),
                        decay = c(1e-4, 1e-3, 1e-2, 1e-1))
repetitions <- 12

measure <- function(units, iterations, decay, test) {
  spent <- system.time(
    fit <- nnet(type ~ ., glass[-test, ], size = units, maxit = iterations, decay = decay, MaxNWts = 5000, trace = FALSE)
  )
  c(accuracy = mean(predict(fit, glass[test, ], type = "class") == glass$type[test]),
    time = spent[["user.self"]] + spent[["sys.self"]])
}

set.seed(1)
tests <- replicate(repetitions, sample(nrow(glass), 43), simplify = FALSE)
results <- t(vapply(seq_len(nrow(settings)), function(i) {
  one <- settings[i, ]
  runs <- vapply(tests, function(test) measure(one$units, one$iterations, one$decay, test), c(accuracy = 0, time = 0))
  c(accuracy = mean(runs[1, ]), accuracy_sd = stats::sd(runs[1, ]), time = 1000 * mean(runs[2, ]),
    time_sd = 1000 * stats::sd(runs[2, ]))
}, numeric(4)))
table <- cbind(settings, round(results, 4))
write.csv(table, xzfile("inst/extdata/training-time.csv.xz"), row.names = FALSE, quote = FALSE)
