# Models of levels: how well they predict tables of real experiments, by models written in plain R.
#
#   Rscript bench/levels.R [tables=NAME,NAME] [models=...] [sizes=12,24,48] [seeds=1:6] [out=FILE]
#   Rscript bench/levels.R report=TRUE out=FILE       a table in Markdown
#
# Of each table with levels (GPBANDITS_DATA/experiments), a number of settings is drawn; each model is fitted to them
# (largest posterior density of its parameters, with a constant mean and noise), and predicts the others. Numbers are
# scaled by their range. Results: the mean log density of standardised results, the rank correlation, and the rank of
# the setting with the largest expected improvement (share of the settings that are better).
source("bench/shared/script.R")
source("bench/shared/experiments.R")
with_levels <- c(index$file[index$categorical > 0], arylation)
args <- arguments(tables = paste(with_levels, collapse = ","), models = "", sizes = "12,24,48", seeds = "1:6", out = "",
                  report = "FALSE")

# ---- kernels: function(parameters, pairs) of two sets of settings ----------------------------------------------------

matern <- function(squares) {
  r <- sqrt(5 * squares)
  (1 + r + r^2 / 3) * exp(-r)
}

# What a kernel needs of two sets of settings: squared differences of numbers, and the codes of levels.
pairs_of <- function(a, b, is_level) {
  list(squares = lapply(which(!is_level), function(j) outer(a[, j], b[, j], `-`)^2),
       codes = lapply(which(is_level), function(j) list(a[, j], b[, j])), rows = nrow(a), columns = nrow(b))
}
differs <- function(code) outer(code[[1]], code[[2]], `!=`)

scaled_squares <- function(lengths, pairs) {
  Map(function(square, log_length) square / exp(2 * log_length), pairs$squares, lengths)
}

numbers_part <- function(lengths, pairs) {
  if (length(pairs$squares) == 0) 1 else matern(Reduce(`+`, scaled_squares(lengths, pairs)))
}

lengths_prior <- function(log_lengths, inputs) sum(dnorm(log_lengths, log(0.4 * sqrt(inputs)), 1, log = TRUE))
correlation_prior <- function(logits) sum(dbeta(plogis(logits), 4, 2, log = TRUE) + dlogis(logits, log = TRUE))
hamming <- function(logits, pairs) {
  if (length(pairs$codes) == 0) return(1)
  Reduce(`*`, Map(function(code, logit) ifelse(differs(code), plogis(logit), 1), pairs$codes, logits))
}

# A model: `start(shape)`, `prior(parameters, shape)`, `kernel(parameters, pairs, shape)`; `shape`: the number of
# numeric inputs, and the number of levels of each factor.
first <- function(parameters, shape) head(parameters, shape$numbers)
after <- function(parameters, count) if (count) parameters[-seq_len(count)] else parameters

product_model <- list(
  start = function(shape) c(rep(log(0.4 * sqrt(max(1, shape$numbers))), shape$numbers), rep(0.5, length(shape$levels))),
  prior = function(p, shape) {
    lengths_prior(first(p, shape), max(1, shape$numbers)) + correlation_prior(after(p, shape$numbers))
  },
  kernel = function(p, pairs, shape) numbers_part(first(p, shape), pairs) * hamming(after(p, shape$numbers), pairs)
)

# One Matern kernel over numbers and 0/1 columns, with a lengthscale for each factor.
one_hot_factor <- list(
  start = function(shape) {
    inputs <- shape$numbers + length(shape$levels)
    rep(log(0.4 * sqrt(inputs)), inputs)
  },
  prior = function(p, shape) lengths_prior(p, shape$numbers + length(shape$levels)),
  kernel = function(p, pairs, shape) {
    lengths <- after(p, shape$numbers)
    squares <- Map(function(code, log_length) 2 * differs(code) / exp(2 * log_length), pairs$codes, lengths)
    matern(Reduce(`+`, c(squares, scaled_squares(first(p, shape), pairs))))
  }
)

# The same with a lengthscale for each level.
one_hot_level <- list(
  start = function(shape) rep(log(0.4 * sqrt(shape$numbers + sum(shape$levels))), shape$numbers + sum(shape$levels)),
  prior = function(p, shape) lengths_prior(p, shape$numbers + sum(shape$levels)),
  kernel = function(p, pairs, shape) {
    weights <- split(exp(-2 * after(p, shape$numbers)), rep(seq_along(shape$levels), shape$levels))
    squares <- Map(function(code, weight) {
      differs(code) * outer(weight[code[[1]]], weight[code[[2]]], `+`)
    }, pairs$codes, weights)
    matern(Reduce(`+`, c(squares, scaled_squares(first(p, shape), pairs))))
  }
)

# A correlation matrix of rank two plus a diagonal for each factor.
low_rank <- list(
  start = function(shape) {
    positions <- lapply(shape$levels, function(count) c(rep(1, count), sin(seq_len(count)), rep(0, count)))
    c(rep(log(0.4 * sqrt(max(1, shape$numbers))), shape$numbers), unlist(positions))
  },
  prior = function(p, shape) {
    lengths_prior(first(p, shape), max(1, shape$numbers)) + sum(dnorm(after(p, shape$numbers), 0, 1, log = TRUE))
  },
  kernel = function(p, pairs, shape) {
    values <- split(after(p, shape$numbers), rep(seq_along(shape$levels), 3 * shape$levels))
    parts <- Map(function(code, value, count) {
      position <- matrix(value[seq_len(2 * count)], count)
      square <- tcrossprod(position) + diag(exp(value[-seq_len(2 * count)]), count)
      cov2cor(square)[cbind(c(code[[1]][row(differs(code))]), c(code[[2]][col(differs(code))]))]
    }, pairs$codes, values, shape$levels)
    matrix(Reduce(`*`, parts), pairs$rows) * numbers_part(first(p, shape), pairs)
  }
)

# Main effects of each factor and of the numbers, with variances, and the product.
additive <- list(
  start = function(shape) c(product_model$start(shape), rep(log(0.3), length(shape$levels) + 1)),
  prior = function(p, shape) {
    count <- shape$numbers + length(shape$levels)
    product_model$prior(head(p, count), shape) + sum(dnorm(after(p, count), log(0.3), 1, log = TRUE))
  },
  kernel = function(p, pairs, shape) {
    count <- shape$numbers + length(shape$levels)
    variances <- exp(after(p, count))
    mains <- Reduce(`+`, Map(function(code, variance) variance * !differs(code), pairs$codes, variances[-1]))
    product <- product_model$kernel(head(p, count), pairs, shape)
    (mains + variances[1] * numbers_part(first(p, shape), pairs) + product) /
      (1 + sum(variances))
  }
)

models <- list(product = product_model, one_hot_factor = one_hot_factor, one_hot_level = one_hot_level,
               low_rank = low_rank, additive = additive)

# ---- fits and predictions -------------------------------------------------------------------------------------------

# The noise's share of the variance has a log-normal prior with median .01, the variance one with median 2 (of
# standardised results), the mean a normal one.
fit <- function(model, x, y, is_level, shape) {
  pairs <- pairs_of(x, x, is_level)
  gram <- function(p) {
    k <- exp(p[2]) * model$kernel(after(p, 3), pairs, shape)
    diag(k) <- diag(k) + exp(p[2] + p[1]) + 1e-8
    k
  }
  objective <- function(p) {
    root <- tryCatch(chol(gram(p)), error = function(e) NULL)
    if (is.null(root)) return(1e6)
    residual <- backsolve(root, y - p[3], transpose = TRUE)
    value <- sum(log(diag(root))) + sum(residual^2) / 2 + length(y) * log(2 * pi) / 2 -
      model$prior(after(p, 3), shape) -
      dnorm(p[1], log(0.01), 2.5, log = TRUE) - dnorm(p[2], log(2), 1, log = TRUE) - dnorm(p[3], 0, 1, log = TRUE)
    if (is.finite(value)) value else 1e6
  }
  begin <- c(log(0.01), log(1), 0, model$start(shape))
  found <- optim(begin, objective, method = "BFGS", control = list(maxit = 80, reltol = 1e-7))
  # (Evidence by Laplace's approximation, with the curvature in each parameter alone.)
  step <- 0.05
  curvature <- vapply(seq_along(begin), function(i) {
    moved <- function(by) objective(replace(found$par, i, found$par[i] + by))
    (moved(step) + moved(-step) - 2 * found$value) / step^2
  }, 0)
  root <- chol(gram(found$par))
  list(p = found$par, root = root, weights = backsolve(root, backsolve(root, y - found$par[3], transpose = TRUE)),
       evidence = -found$value + sum(log(2 * pi) - log(pmax(curvature, 0.1))) / 2)
}

predict_with <- function(model, fitted, x, new, is_level, shape) {
  p <- fitted$p
  across <- exp(p[2]) * matrix(model$kernel(after(p, 3), pairs_of(new, x, is_level), shape), nrow(new))
  half <- backsolve(fitted$root, t(across), transpose = TRUE)
  list(mean = p[3] + c(across %*% fitted$weights), var = pmax(exp(p[2]) - colSums(half^2), 1e-10),
       noise = exp(p[1] + p[2]))
}

scores <- function(mean, var, noise, truth, best) {
  gain <- expected_gain(mean, sqrt(var), best)
  list(log_density = mean(dnorm(truth, mean, sqrt(var + noise), log = TRUE)),
       rank = suppressWarnings(cor(mean, truth, method = "spearman")), better = mean(truth > truth[which.max(gain)]))
}

compare <- function(name, size, seed, wanted) {
  pool <- pool_of(name)
  if (size > 0.6 * nrow(pool$inputs)) return(NULL)
  is_level <- !vapply(pool$inputs, is.numeric, NA)
  x <- vapply(pool$inputs, function(input) {
    if (is.numeric(input)) (input - min(input)) / diff(range(input)) else as.numeric(factor(input))
  }, numeric(nrow(pool$inputs)))
  shape <- list(numbers = sum(!is_level), levels = vapply(which(is_level), function(j) max(x[, j]), 0))
  set.seed(seed)
  drawn <- sample.int(nrow(x), size)
  centre <- mean(pool$value[drawn])
  scale <- sd(pool$value[drawn])
  if (scale == 0) return(NULL)
  y <- (pool$value - centre) / scale
  seen <- x[drawn, , drop = FALSE]
  new <- x[-drawn, , drop = FALSE]
  rows <- list()
  kept <- list()
  for (one in wanted) {
    started <- proc.time()
    fitted <- fit(models[[one]], seen, y[drawn], is_level, shape)
    answer <- predict_with(models[[one]], fitted, seen, new, is_level, shape)
    kept[[one]] <- c(answer, evidence = fitted$evidence)
    rows[[one]] <- data.frame(table = name, size, seed, model = one,
                              scores(answer$mean, answer$var, answer$noise, y[-drawn], max(y[drawn])),
                              seconds = round(sum((proc.time() - started)[1:2]), 2))
  }
  if (length(kept) > 1) rows$average <- data.frame(table = name, size, seed, model = "average",
                                                   averaged(kept, y[-drawn], max(y[drawn])), seconds = NA)
  do.call(rbind, rows)
}

# All models, weighted by evidence.
averaged <- function(kept, truth, best) {
  evidence <- vapply(kept, `[[`, 0, "evidence")
  weight <- exp(evidence - max(evidence))
  weight <- weight / sum(weight)
  mean_of <- function(part) Reduce(`+`, Map(function(one, w) w * part(one), kept, weight))
  density <- mean_of(function(one) dnorm(truth, one$mean, sqrt(one$var + one$noise)))
  gain <- mean_of(function(one) expected_gain(one$mean, sqrt(one$var), best))
  list(log_density = mean(log(density)), rank = cor(mean_of(function(one) one$mean), truth, method = "spearman"),
       better = mean(truth > truth[which.max(gain)]))
}

report <- function(rows) {
  line(c("experiments", "model", "log density", "rank correlation", "better settings, %", "seconds"))
  line(c("---:", "---", rep("---:", 4)))
  for (size in sort(unique(rows$size))) for (one in unique(rows$model)) {
    these <- rows[rows$size == size & rows$model == one, ]
    by_table <- function(column) mean(tapply(these[[column]], these$table, mean, na.rm = TRUE))
    line(c(size, one, sprintf("%.2f", by_table("log_density")), sprintf("%.3f", by_table("rank")),
           sprintf("%.1f", 100 * by_table("better")), sprintf("%.1f", by_table("seconds"))))
  }
}

if (args$report == "TRUE") {
  report(utils::read.csv(args$out))
} else {
  wanted <- if (nzchar(args$models)) words(args$models) else names(models)
  done <- searches_done(args$out, c("table", "size", "seed"))
  for (seed in numbers(args$seeds)) for (size in numbers(args$sizes)) for (name in words(args$tables)) {
    key <- data.frame(table = name, size, seed)
    if (!is_done(done, key)) keep_rows(compare(name, size, seed, wanted), args$out)
  }
}
