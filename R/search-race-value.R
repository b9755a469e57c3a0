# Values of settings that were evaluated on some folds only. Layer: search.

# ---- values of settings evaluated on some folds only -----------------------------------------
# The model is y_sk = f(s) + b_k(s) + e_sk, where larger is better. Nothing is assumed about f, because the bandit
# models it. The effect b_k of a fold is a Gaussian process over settings with the bandit's kernel: the effect on one
# setting also informs about similar settings. Folds are independent, and e is independent noise. The value of a setting
# is the mean of its K rewards. Missing rewards are predicted by universal kriging, in which the f(s) are free
# coefficients.

# Candidates for two variance ratios of b_k(s) + e_sk: `common`, the variance shared by all settings, and `noise`, the
# proportion of noise. The overall variance is fitted. The candidate with the largest restricted likelihood is selected.
# The exact choice has little influence compared with the uncertainty from few folds.
fold_models <- expand.grid(common = c(0.5, 2, 8), noise = c(0.05, 0.3, 1))

# The number of settings (the latest) from which the model is selected, because the time is cubic in it.
settings_that_choose <- 60

# `table`: one row per setting (each evaluated at least once) and one column per fold, NA if not evaluated.
# `correlation`: of the settings. It returns a data.frame with `mean` and `var`, the variance due to the missing folds.
worth_of_settings <- function(table, correlation) {
  model <- likeliest_folds(table, correlation)
  if (is.null(model)) return(data.frame(mean = rowMeans(table, na.rm = TRUE), var = NA_real_))
  worth <- predict_folds(fit_folds(table, correlation, model), table)
  whole <- !is.na(rowSums(table))
  worth$mean[whole] <- rowMeans(table[whole, , drop = FALSE])
  worth$var[whole] <- 0
  worth
}

# NULL if each setting was evaluated once, because the data then contain no information about folds.
likeliest_folds <- function(table, correlation) {
  some <- utils::tail(seq_len(nrow(table)), settings_that_choose)
  part <- table[some, , drop = FALSE]
  if (sum(!is.na(part)) <= length(some)) return(NULL)
  likelihood <- function(i) fit_folds(part, correlation[some, some, drop = FALSE], fold_models[i, ])$likelihood
  fold_models[which.max(vapply(seq_len(nrow(fold_models)), likelihood, 0)), ]
}

# Estimates the f(s) by generalised least squares. It returns `f`, `spread` (their covariance in units of `scale`), and
# `weights` (for each fold the inverse covariance of the observed rewards).
fit_folds <- function(table, correlation, model) {
  size <- nrow(table)
  covariance <- model$common + (1 - model$noise) * correlation
  precision <- matrix(0, size, size)
  target <- numeric(size)
  squares <- volume <- 0
  weights <- vector("list", ncol(table))
  for (k in seq_len(ncol(table))) {
    seen <- which(!is.na(table[, k]))
    if (length(seen) == 0) next
    root <- chol(covariance[seen, seen, drop = FALSE] + diag(model$noise + 1e-8, length(seen)))
    weights[[k]] <- chol2inv(root)
    weighted <- as.vector(weights[[k]] %*% table[seen, k])
    precision[seen, seen] <- precision[seen, seen] + weights[[k]]
    target[seen] <- target[seen] + weighted
    squares <- squares + sum(table[seen, k] * weighted)
    volume <- volume + 2 * sum(log(diag(root)))
  }
  root <- chol(precision)
  spread <- chol2inv(root)
  f <- as.vector(spread %*% target)
  free <- sum(!is.na(table)) - size
  scale <- max(squares - sum(target * f), 1e-300) / free
  list(model = model, covariance = covariance, weights = weights, f = f, spread = spread, scale = scale,
       likelihood = -(volume + 2 * sum(log(diag(root))) + free * log(scale)) / 2)
}

predict_folds <- function(fit, table) {
  size <- nrow(table)
  # For each setting's sum over folds: the constant part, its dependence on the f(s), and the remaining variance.
  total <- rowSums(table, na.rm = TRUE)
  on_f <- matrix(0, size, size)
  beside <- numeric(size)
  prior <- diag(fit$covariance) + fit$model$noise
  for (k in seq_len(ncol(table))) {
    seen <- which(!is.na(table[, k]))
    open <- which(is.na(table[, k]))
    if (length(open) == 0) next
    on_f[cbind(open, open)] <- on_f[cbind(open, open)] + 1
    beside[open] <- beside[open] + prior[open]
    if (length(seen) == 0) next
    cross <- fit$covariance[open, seen, drop = FALSE]
    kriging <- cross %*% fit$weights[[k]]
    on_f[open, seen] <- on_f[open, seen] - kriging
    total[open] <- total[open] + as.vector(kriging %*% table[seen, k])
    beside[open] <- beside[open] - rowSums(kriging * cross)
  }
  folds <- ncol(table)
  data.frame(mean = (total + as.vector(on_f %*% fit$f)) / folds,
             var = fit$scale * (beside + rowSums((on_f %*% fit$spread) * on_f)) / folds^2)
}

# The correlation of settings under the bandit's kernel.
setting_correlation <- function(bandit, points) {
  config <- current_config(bandit)
  domain <- config$domain
  candidates <- find_points(domain, points)
  kernel <- resolve_kernel(config$kernel, input_names(config), arm_count(domain))
  covariance <- cpp_kernel_gram_symmetric(kernel, kernel_points(domain, candidates))
  sd <- sqrt(diag(covariance))
  sd[sd == 0] <- Inf
  correlation <- covariance / outer(sd, sd)
  diag(correlation) <- 1
  correlation
}
