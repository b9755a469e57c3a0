# Values of settings that were evaluated on some folds only. Layer: search.

# ---- what settings are worth that were seen on some folds only -------------------------------
# y_sk = f(s) + b_k(s) + e_sk, larger is better: nothing is assumed of f (the bandit knows better), a fold's effect is a
# Gaussian process over settings with the bandit's kernel, for what a fold says of one setting it says of those beside
# it too, folds are independent of each other, and e is independent noise. A setting is worth the mean of its K values;
# those that were not seen are predicted (universal kriging: the f(s) are free coefficients).

# Shares of the variance of b_k(s) + e_sk - its common part, and how much larger the part is that all settings share;
# the variance itself is fitted. The likeliest (restricted likelihood) of these is taken: which of them is next to
# nothing beside what few folds leave open.
fold_models <- expand.grid(common = c(0.5, 2, 8), noise = c(0.05, 0.3, 1))

# So many settings (the latest) choose the model: work is cubic in them.
settings_that_choose <- 60

# `table`: a row per setting (each seen at least once) and a column per fold, NA where it was not seen; `correlation`:
# of the settings. A data.frame: `mean`, and `var`, the variance that is due to what was not seen.
worth_of_settings <- function(table, correlation) {
  model <- likeliest_folds(table, correlation)
  if (is.null(model)) return(data.frame(mean = rowMeans(table, na.rm = TRUE), var = NA_real_))
  worth <- predict_folds(fit_folds(table, correlation, model), table)
  whole <- !is.na(rowSums(table))
  worth$mean[whole] <- rowMeans(table[whole, , drop = FALSE])
  worth$var[whole] <- 0
  worth
}

# NULL where each was seen once: that says nothing of folds.
likeliest_folds <- function(table, correlation) {
  some <- utils::tail(seq_len(nrow(table)), settings_that_choose)
  part <- table[some, , drop = FALSE]
  if (sum(!is.na(part)) <= length(some)) return(NULL)
  likelihood <- function(i) fit_folds(part, correlation[some, some, drop = FALSE], fold_models[i, ])$likelihood
  fold_models[which.max(vapply(seq_len(nrow(fold_models)), likelihood, 0)), ]
}

# The f(s) by generalised least squares: `f`, and `spread`, their covariance in units of `scale`; `weights`: of each
# fold, the inverse covariance of what was seen there.
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
  # Of each setting's sum over folds: the known part, how it depends on the f(s), and the variance beside.
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

# How alike the bandit takes settings to be.
setting_correlation <- function(bandit, points) {
  config <- current_config(bandit)
  domain <- config$domain
  candidates <- find_points(domain, points)
  kernel <- resolve_kernel(config$kernel, input_names(config), arm_count(domain))
  covariance <- core(cpp_kernel_gram_symmetric(kernel, kernel_points(domain, candidates)))
  sd <- sqrt(diag(covariance))
  sd[sd == 0] <- Inf
  correlation <- covariance / outer(sd, sd)
  diag(correlation) <- 1
  correlation
}
