# Transfer learning from earlier campaigns. Layer: bandit.

#' Transfer learning from earlier campaigns
#'
#' `transfer` lets a search use the results of earlier campaigns, such as last year's batch, another machine or another
#' data set.
#'
#' `transfer = list(may = old_data)` is an argument of [auto_bandit()] and [maximize_bandit()]. The campaigns have the
#' same inputs, but may or may not be related to the new one. Each is a data.frame with a column per input (and
#' context) and `reward`, such as the `$history()` of an earlier bandit. Points may be outside the current search
#' space. Rows without a reward are ignored.
#'
#' @section Model:
#' The rewards of each campaign \eqn{t} have their own output transform ([scale_outputs()]) and noise variance. So
#' units, levels and even the sign of the effect may differ. The covariance of two rewards is
#' \deqn{k(x, x')\,C_{tt'},}{k(x, x') C[t, t'],}
#' with one kernel for all campaigns and a covariance \eqn{C} of campaigns. The bandit averages over the correlation
#' \eqn{\rho}{rho} of the new campaign with an earlier one:
#'
#' * There are 15 values between -1 and 1. Three quarters of the prior weight are on those that are not negative.
#' * The scale of the new campaign among the others is averaged over, too. Half of its prior weight is on scales that
#'   correspond to equal units.
#' * Values are weighted by the marginal likelihood of the new campaign's rewards. At most 16 models are kept, at the
#'   centres of equal parts of the weight. The bandit averages over them as in [refit_every()].
#' * With several campaigns, correlations between earlier ones are the most likely values of the grid, pair by pair.
#'   The correlation of each one with the new campaign is averaged over, with the others at their most likely values.
#'
#' Every refit repeats this. The default refits come after each round, from the second reward on. If all rewards of a
#' campaign are equal, it has no effect: every choice is the same as without it, with the same `refit`.
#' @section Unrelated campaigns:
#' The prior probability that earlier campaigns are unrelated is 1/2. From the fifth reward on, models of the new
#' campaign alone are included, with their own hyperparameters as in [refit_every()]. The odds are the Bayes factor of
#' non-zero correlations against zero, averaged over kernels and noise variances.
#'
#' When the number of rewards is twice that of hyperparameters, the odds are limited. They are then at most the ratio of
#' the leave-one-out densities of both kinds of models. This matters if the campaigns differ in more than a scale,
#' because they share one kernel. If the odds are against the earlier campaigns, these are left out, and the posterior
#' is the same as without them. The next refit decides again.
#'
#' `summary()` has a table `transfer` with a row per earlier campaign:
#'
#' * `correlation`: the posterior mean.
#' * `lower`, `upper`: an interval of at least 90%.
#' * `positive`: the probability of a positive correlation.
#' * `zero`: the weight of models in which the campaign has no effect, also because the new campaign is sufficient.
#' @section Initial design:
#' The initial design has the same length as without earlier campaigns. Its first point is the one that these predict
#' to be best; it replaces the nearest point of the design. The first 3 points are always suggested. Of the other
#' rounds of the design, a proportion is used for its points, and the policy chooses in the others. That proportion is
#' \eqn{1 - \rho^2}{1 - rho^2}, with the mean of \eqn{\rho^2}{rho^2}. With several campaigns and their correlations
#' \eqn{R}, it is
#' \deqn{1 - \rho^\top R^{-1}\rho.}{1 - rho' R^-1 rho.}
#' `n_initial = k` always suggests all `k` points first.
#' @section Data:
#' Earlier rows are not rounds, they are not in `$history()`, and they are never the incumbent. At most 300 earlier
#' rows are used, in all campaigns together. They are chosen one after the other by the largest posterior sd. For a
#' campaign with fewer than 4 points, no noise variance or lengthscale is estimated. Files, journals, stores and JSON
#' of such a bandit contain the rows that are kept.
#' @section Errors: `transfer` cannot be combined with `outcomes`, `limits`, `race`, `fidelity`, `refit = NULL`,
#'   heteroscedastic noise, or kernels that are matrices or functions.
#' @section Measured effect: On Hartmann's function in three inputs, a campaign with correlation 0.9 improves log10 of
#'   the gap by 1.1 after 8 evaluations. A campaign with reversed sign has a cost: after 2 and 3 evaluations the gap
#'   was 1.35 and 1.15 times that without it (18 searches). The reason is that its best point is then the worst. See
#'   `bench/results/transfer.md` in the sources.
#' @section Guarantee: None: correlations and hyperparameters are fitted.
#' @references The covariance of campaigns: Bonilla, Chai and Williams (2008), Multi-task Gaussian process prediction,
#'   NIPS 20; for Bayesian optimisation: Swersky, Snoek and Adams (2013), Multi-task Bayesian optimization, NIPS 26. The
#'   average over correlations and the odds of unrelated campaigns are this package's.
#' @seealso [auto_bandit()] with `data` for earlier results of the same campaign.
#' @concept transfer learning
#' @concept meta-learning
#' @concept multi-task Gaussian process
#' @concept warm start
#' @name transfer
#' @examples
#' set.seed(1)
#' f <- function(x) -(x - 0.7)^2
#' x <- runif(15)
#' may <- data.frame(x = x, reward = 60 + 8 * f(x - 0.05) + rnorm(15, sd = 0.05))
#' b <- auto_bandit(list(x = c(0, 1)), transfer = list(may = may))
#' for (round in 1:3) {
#'   q <- b$suggest()
#'   b$observe(q$id, f(q$x))
#' }
#' summary(b)$transfer
NULL

# The posterior conditions on the rows of earlier campaigns from the start, through the kernel
# k(x, x') C[t, t'] over all campaigns, C = (s^2, s rho'; s rho, R). The correlations rho are unknown. Each refit
# weights values of rho by the predictive density of this campaign's rewards, and the bandit averages over the resulting
# models.

# The posterior conditions on at most this number of rows of earlier campaigns, the most informative ones.
most_transfer_rows <- 300
# Grid of a correlation and its prior weights: three quarters of the weight is on values that are not negative.
transfer_grid <- seq(-14, 14, by = 2) / 15
transfer_prior <- ifelse(transfer_grid < 0, 0.25 / sum(transfer_grid < 0), 0.75 / sum(transfer_grid >= 0))
# The largest number of models in the average.
most_transfer_models <- 16

# From this number of rewards on, this campaign is also fitted alone, without earlier ones.
least_alone <- 5

# ---- arguments --------------------------------------------------------------------------------

# A list of campaigns, each with `inputs` (in the kernel's format) and `reward`.
check_transfer <- function(transfer, domain, contexts = NULL, reward = "reward") {
  if (is.null(transfer)) return(NULL)
  allowed <- "a named list of data.frames, one for each earlier campaign"
  if (!is.list(transfer) || is.data.frame(transfer) || !length(transfer) || is.null(names(transfer))) {
    stop_argument("transfer", describe(transfer), allowed)
  }
  names <- names(transfer)
  if (anyNA(names) || any(!nzchar(names)) || anyDuplicated(names)) {
    stop_argument("transfer", paste("one with the names", quoted(names)),
                  "a list with a separate name for each campaign")
  }
  if (length(transfer) > 20) stop_argument("transfer", sprintf("%d campaigns", length(transfer)), "at most 20")
  stats::setNames(lapply(names, function(name) {
    read_campaign(transfer[[name]], domain, contexts, paste0("transfer$", name), reward)
  }), names)
}

# Rows may lie outside of the space; those without a reward are left out.
read_campaign <- function(data, domain, contexts, arg, name = "reward") {
  sheet <- read_sheet(data, domain, contexts, name, arg)
  known <- !is.na(sheet$values[, 1]) & !sheet$status %in% "failed"
  if (!any(known)) stop_argument(arg, "one without observed rewards", "a campaign with results")
  data <- sheet$frame[known, , drop = FALSE]
  inputs <- with_row_numbers(sheet$rows[known], {
    x <- inputs_anywhere(domain, data[domain$names], arg)
    if (!length(contexts$names)) x
    else cbind(x, context_matrix(list(context_names = contexts$names, context_space = contexts$space),
                                 data[contexts$names], arg))
  })
  colnames(inputs) <- c(model_names(domain), contexts$names)
  list(inputs = inputs, reward = sheet$values[known, 1])
}

check_transfer_alone <- function(transfer, others) {
  if (is.null(transfer)) return(invisible())
  given <- names(Filter(Negate(is.null), others))
  if (length(given)) stop_unused("transfer", sprintf("it is not supported with `%s`", given[1]))
}

# ---- the rows that are kept ---------------------------------------------------------------------

# The setting `transfer` of a bandit with these other settings. Of the rows that are kept: `inputs`, `campaign` (from
# 1), `values` and `noise_var` (in the model's units). Of each campaign: its `name` and number of `rows`. Of the largest
# campaign: `kernel`, `noise` and `slope`. `correlation`: of the campaigns with each other.
prepared_campaigns <- function(campaigns, config) {
  most <- max(10, most_transfer_rows %/% length(campaigns))
  kept <- lapply(names(campaigns), function(name) prepared_campaign(campaigns[[name]], config, most))
  said <- lengths(lapply(kept, `[[`, "values"))
  out <- list(name = names(campaigns), rows = vapply(campaigns, function(one) length(one$reward), 0, USE.NAMES = FALSE),
              inputs = do.call(rbind, lapply(kept, `[[`, "inputs")), campaign = rep(seq_along(kept), said),
              values = unlist(lapply(kept, `[[`, "values")), noise_var = unlist(lapply(kept, `[[`, "noise_var")))
  largest <- kept[[which.max(said)]]
  out$kernel <- largest$kernel
  out$noise <- largest$noise
  out$slope <- largest$slope
  out$correlation <- campaigns_correlation(out)
  out
}

prepared_campaign <- function(campaign, config, most) {
  map <- fit_outcome_transform(config$outputs, campaign$reward)
  merged <- merged_rows(campaign$inputs, transform_outputs(map, campaign$reward))
  kernel <- config$kernel
  noise_var <- 0.1
  if (length(merged$values) >= 4 && stats::sd(merged$values) > 0) {
    first <- pivot_rows(kernel, merged$inputs, merged$times, config$noise_var, 150)
    fit <- fitted_campaign(subset_rows(merged, first), config)
    kernel <- fit$kernel
    noise_var <- fit$noise_var
  }
  rows <- pivot_rows(kernel, merged$inputs, merged$times, noise_var, most)
  kept <- subset_rows(merged, rows)
  list(inputs = kept$inputs, values = kept$values, noise_var = noise_var / kept$times, kernel = kernel,
       noise = noise_var, slope = middle_slope(map, campaign$reward))
}

# The slope of the outcome transform at the median of the rewards.
middle_slope <- function(map, reward) abs(cpp_output_slopes(map, stats::median(reward)))

# Rows at one point are merged into one, with their number.
merged_rows <- function(inputs, values) {
  at <- match_rows(inputs, inputs)
  points <- unique(at)
  list(inputs = inputs[points, , drop = FALSE], values = as.vector(tapply(values, factor(at, points), mean)),
       times = as.vector(table(factor(at, points))))
}

subset_rows <- function(merged, rows) {
  list(inputs = merged$inputs[rows, , drop = FALSE], values = merged$values[rows], times = merged$times[rows])
}

# The parameters estimated from this campaign alone.
fitted_campaign <- function(merged, config) {
  question <- c(list(merged$inputs, merged$values, config$kernel, noise_var = config$noise_var, mean = "fit"),
                config$refit$settings)
  catch_error(preserve_rng(do.call(gp_fit, question, quote = TRUE)),
              function(e) list(kernel = config$kernel, noise_var = 0.1))
}

# The rows with the largest posterior sd, chosen one after the other, in O(rows most^2).
pivot_rows <- function(kernel, inputs, times, noise_var, most) {
  n <- nrow(inputs)
  if (n <= most) return(seq_len(n))
  points <- function(rows) inputs[rows, , drop = FALSE]
  left <- rep(kernel_gram(kernel, points(1))[1, 1], n)
  factor <- matrix(0, n, most)
  rows <- integer(most)
  for (k in seq_len(most)) {
    row <- which.max(left)
    rows[k] <- row
    before <- seq_len(k - 1)
    covariance <- drop(kernel_gram(kernel, inputs, points(row)))
    if (k > 1) covariance <- covariance - drop(factor[, before, drop = FALSE] %*% factor[row, before])
    factor[, k] <- covariance / sqrt(max(left[row], 0) + noise_var / times[row])
    left <- left - factor[, k]^2
    left[row] <- -Inf
  }
  rows
}

# ---- predictive densities of correlations ---------------------------------------------------------

# The model of the earlier rows under a kernel: Cholesky factor, centred values multiplied by its inverse, means.
known_campaigns <- function(transfer, kernel, correlation = transfer$correlation) {
  task <- transfer$campaign
  K <- kernel_gram(kernel, transfer$inputs) * correlation[task, task]
  root <- chol(K + diag(transfer$noise_var, length(task)))
  through <- function(v) backsolve(root, v, transpose = TRUE)
  H <- through(outer(task, seq_along(transfer$name), `==`) + 0)
  y <- through(transfer$values)
  # (Each campaign has a separate mean, with a weak prior of sd 3 for campaigns with few rows.)
  mean <- solve(crossprod(H) + diag(1 / 9, ncol(H)), crossprod(H, y))
  list(root = root, centred = drop(y - H %*% mean), mean = drop(mean), log_det = 2 * sum(log(diag(root))),
       evidence = -0.5 * sum((y - H %*% mean)^2) - sum(log(diag(root))))
}

# The correlations of earlier campaigns: for each pair the mode over the grid.
campaigns_correlation <- function(transfer) {
  count <- length(transfer$name)
  R <- diag(count)
  if (count == 1) return(R)
  for (i in seq_len(count - 1)) for (j in (i + 1):count) R[i, j] <- R[j, i] <- pair_correlation(transfer, i, j)
  # Correlations estimated pair by pair need not be a correlation matrix together.
  least <- min(eigen(R, symmetric = TRUE, only.values = TRUE)$values)
  if (least < 0.02) R <- (R + (0.02 - least) * diag(count)) / (1 + 0.02 - least)
  R
}

pair_correlation <- function(transfer, i, j) {
  rows <- transfer$campaign %in% c(i, j)
  if (!any(transfer$campaign == i) || !any(transfer$campaign == j)) return(0)
  pair <- list(name = transfer$name[c(i, j)], inputs = transfer$inputs[rows, , drop = FALSE],
               campaign = match(transfer$campaign[rows], c(i, j)), values = transfer$values[rows],
               noise_var = transfer$noise_var[rows])
  score <- vapply(transfer_grid, function(rho) {
    known_campaigns(pair, transfer$kernel, matrix(c(1, rho, rho, 1), 2))$evidence
  }, 0) + log(transfer_prior)
  transfer_grid[which.max(score)]
}

# This campaign's points: their covariance, and their whitened covariance with the rows of each earlier campaign.
given_campaigns <- function(transfer, kernel, known, x) {
  colnames(x) <- colnames(transfer$inputs)
  cross <- kernel_gram(kernel, transfer$inputs, x)
  list(own = kernel_gram(kernel, x), by_task = lapply(seq_along(transfer$name), function(t) {
    backsolve(known$root, cross * (transfer$campaign == t), transpose = TRUE)
  }))
}

# The log density of this campaign's values `y` at `x` (noise variances `noise`) given the earlier rows, and the
# estimated mean, for correlations (a row of `rho` each) and scales. `mean`: given, or NULL to integrate it out.
predicted <- function(transfer, kernel, known, x, y, noise, rho, scale, mean) {
  n <- length(y)
  seen <- given_campaigns(transfer, kernel, known, x)
  out <- matrix(-Inf, length(scale), 2)
  for (k in seq_along(scale)) {
    Z <- Reduce(`+`, Map(`*`, seen$by_task, rho[k, ]))
    V <- scale[k]^2 * (seen$own - crossprod(Z)) + diag(noise, n)
    root <- attempt(chol(V))
    if (is.null(root)) next
    r <- backsolve(root, y - scale[k] * drop(crossprod(Z, known$centred)), transpose = TRUE)
    one <- backsolve(root, rep(1, n), transpose = TRUE)
    precision <- sum(one^2)
    level <- if (is.null(mean)) sum(one * r) / precision else mean
    free <- if (is.null(mean)) 0.5 * log(precision) else 0
    out[k, ] <- c(-0.5 * sum((r - level * one)^2) - sum(log(diag(root))) - free, level)
  }
  out
}

# Candidate scales of this campaign relative to the others, and their prior weights. One half of the prior assumes that
# all campaigns have rewards in the same units, so that the fitted transforms determine the scale. The other half
# assumes that the transforms have equalised the scales. (A transform depends on the observed rewards, and a search
# observes many near its best point.)
tried_scales <- function(transfer, slope) {
  same <- if (is.null(slope)) 0 else log(slope / transfer$slope)
  at <- sort(unique(c(seq(-1.5, 1.5, by = 0.5), same + seq(-0.8, 0.8, by = 0.4))))
  ends <- c(at[1] - 0.25, (at[-1] + at[-length(at)]) / 2, at[length(at)] + 0.25)
  density <- 0.5 * stats::dnorm(at, same, 0.4) + 0.5 * stats::dcauchy(at, 0, 0.5)
  list(scale = exp(at), prior = density * diff(ends) / sum(density * diff(ends)))
}

# Candidate correlations, a row each: the same with all earlier campaigns; for several campaigns also those that vary
# the correlation with one of them, with the others at their most likely values.
tried_correlations <- function(transfer, likeliest = NULL) {
  count <- length(transfer$name)
  all <- matrix(transfer_grid, length(transfer_grid), count)
  for (j in seq_len(if (is.null(likeliest)) 0 else count)) {
    one <- matrix(likeliest, length(transfer_grid), count, byrow = TRUE)
    one[, j] <- transfer_grid
    all <- rbind(all, one)
  }
  all <- unique(all)
  # (Those that make a covariance matrix.)
  all[share_of(transfer, all) < 1 - 1e-3, , drop = FALSE]
}

log_prior_of_correlations <- function(rho) {
  rowSums(matrix(log(transfer_prior)[match(round(rho, 9), round(transfer_grid, 9))], nrow(rho)))
}

# ---- models ---------------------------------------------------------------------------------------

# The models in the average: kernels and noises (`parts`, with weights) times correlations times scales.
transfer_models <- function(transfer, parts, x, y, own_noise, mean, slope) {
  scales <- tried_scales(transfer, slope)
  n <- length(y)
  known <- lapply(parts, function(part) known_campaigns(transfer, part$kernel))
  sweep <- function(rho) {
    tried <- expand.grid(rho = seq_len(nrow(rho)), scale = seq_along(scales$scale))
    before <- log_prior_of_correlations(rho)[tried$rho] + log(scales$prior)[tried$scale]
    do.call(rbind, lapply(seq_along(parts), function(p) {
      part <- parts[[p]]
      noise <- filled_noise(own_noise, part$noise_var)
      found <- if (n > 0) predicted(transfer, part$kernel, known[[p]], x, y, noise, rho[tried$rho, , drop = FALSE],
                                   scales$scale[tried$scale], mean)
               else cbind(0, rep(if (is.null(mean)) 0 else mean, nrow(tried)))
      data.frame(part = p, tried, score = found[, 1] + before, level = found[, 2])
    }))
  }
  rho <- tried_correlations(transfer)
  all <- sweep(rho)
  for (again in seq_len(if (length(transfer$name) > 1 && n > 0) 2 else 0)) {
    rho <- tried_correlations(transfer, rho[all$rho[which.max(all$score)], ])
    all <- sweep(rho)
  }
  # A part's weight already reflects its likelihood at its best correlation so far: only proportions within a part
  # count.
  weight <- exp(all$score - max(all$score))
  for (p in seq_along(parts)) {
    mine <- all$part == p
    weight[mine] <- weight[mine] / max(sum(weight[mine]), .Machine$double.xmin) * parts[[p]]$weight
  }
  kept <- middle_models(weight, order(rowSums(rho)[all$rho], all$scale, all$part))
  models <- lapply(seq_along(kept$at), function(i) {
    k <- kept$at[i]
    part <- parts[[all$part[k]]]
    list(kernel = part$kernel, noise_var = part$noise_var, mean = all$level[k], weight = kept$weight[i],
         campaigns = list(correlation = rho[all$rho[k], ], scale = scales$scale[all$scale[k]],
                          mean = known[[all$part[k]]]$mean))
  })
  list(models = models, evidence = log_evidence_of_relation(all, rho, vapply(parts, `[[`, 0, "weight")))
}

# The log Bayes factor of nonzero correlations against zero correlations, under each part's kernel and noise,
# averaged over the parts. `all`: as above, a row per part, correlation and scale.
log_evidence_of_relation <- function(all, rho, weight) {
  total <- function(score) max(score) + log(sum(exp(score - max(score))))
  prior <- log_prior_of_correlations(rho)
  none <- rowSums(rho != 0) == 0
  each <- vapply(seq_along(weight), function(p) {
    of <- function(these) total(all$score[all$part == p & these[all$rho]]) - total(prior[these])
    # (If the data are extremely unlikely under both, the factor is bounded.)
    max(-100, min(100, of(!none) - of(none)))
  }, 0)
  sum(weight * each) / sum(weight)
}

# A mixture with prior probability 1/2 for each case: this campaign alone, with separate hyperparameters, or earlier
# ones are informative. `models` condition on the earlier rows, `alone` on this campaign only. `evidence`: the log Bayes
# factor for the earlier rows.
mixed_kinds <- function(models, alone, evidence) {
  weighed <- function(models, share) lapply(models, function(model) {
    model$weight <- model$weight * share
    model
  })
  all <- c(weighed(models, stats::plogis(evidence)), weighed(alone, stats::plogis(-evidence)))
  kept <- Filter(function(model) model$weight > 1e-3, all)
  # (The weights are normalised after models of negligible weight were removed.)
  weighed(kept, 1 / sum(vapply(kept, `[[`, 0, "weight")))
}

# By how much `models` have a larger log predictive density than `others`: the sum over this campaign's values, each
# predicted from all other data.
predicted_better <- function(transfer, models, others, x, y, own_noise) {
  of <- function(models) {
    each <- vapply(models, function(model) {
      log(model$weight) + each_predicted(transfer, model, x, y, own_noise)
    }, numeric(length(y)))
    top <- apply(each, 1, max)
    sum(top + log(rowSums(exp(each - top))))
  }
  of(models) - of(others)
}

likeliest <- function(models) models[[which.max(vapply(models, `[[`, 0, "weight"))]]

# The log density of each of this campaign's values given all other data. (A model without a mean
# is for values minus their prior mean.)
each_predicted <- function(transfer, model, x, y, own_noise) {
  known <- known_campaigns(transfer, model$kernel)
  seen <- given_campaigns(transfer, model$kernel, known, x)
  s <- model$campaigns$scale
  Z <- Reduce(`+`, Map(`*`, seen$by_task, model$campaigns$correlation))
  V <- s^2 * (seen$own - crossprod(Z)) + diag(filled_noise(own_noise, model$noise_var), length(y))
  root <- attempt(chol(V))
  if (is.null(root)) return(rep(-1e6, length(y)))
  inverse <- chol2inv(root)
  r <- drop(inverse %*% (y - or_else(model$mean, 0) - s * drop(crossprod(Z, known$centred))))
  stats::dnorm(r / diag(inverse), 0, sqrt(1 / diag(inverse)), log = TRUE)
}

# Divides the weight, in this order, into equal parts and takes the model in the middle of each part.
middle_models <- function(weight, order) {
  passed <- cumsum(weight[order]) / sum(weight)
  middles <- (seq_len(most_transfer_models) - 0.5) / most_transfer_models
  taken <- order[findInterval(middles, c(0, passed), rightmost.closed = TRUE)]
  times <- table(factor(taken, unique(taken)))
  list(at = unique(taken), weight = as.vector(times) / most_transfer_models)
}

# Kernels and noises estimated from all campaigns together, with weights. With fewer rows there are more models.
transfer_parts <- function(config, current, x, y, own_noise, mean) {
  transfer <- config$transfer
  now <- transfer_now(transfer, current)
  C <- campaigns_covariance(transfer, now)
  known <- known_campaigns(transfer, current$kernel)
  level <- if (!is.null(mean)) mean else if (!length(y)) 0
           else predicted(transfer, current$kernel, known, x, y, filled_noise(own_noise, current$noise_var),
                         matrix(now$correlation, 1), now$scale, NULL)[1, 2]
  all_x <- cbind(rbind(unname(x), unname(transfer$inputs)), c(rep(1, length(y)), transfer$campaign + 1))
  colnames(all_x) <- c(colnames(transfer$inputs), "arm")
  kernel <- current$kernel * kernel_matrix(C)
  question <- c(list(all_x, c(y - level, transfer$values - known$mean[transfer$campaign]), kernel,
                     noise_var = current$noise_var,
                     mean = 0, own_noise = c(own_noise, transfer$noise_var)),
                renamed_settings(config$refit$settings, current$kernel, kernel))
  of_inputs <- function(fit, weight) {
    values <- kernel_parameters(fit$kernel)
    list(kernel = replace_parameters(current$kernel, unname(values)), noise_var = fit$noise_var, weight = weight)
  }
  rows <- nrow(all_x)
  if (rows <= 200) {
    found <- do.call(fit_models, c(question, list(count = if (rows <= 100) 8 else 4)), quote = TRUE)
    if (is.null(found)) return(list(list(kernel = current$kernel, noise_var = current$noise_var, weight = 1)))
    return(lapply(found$models, function(model) of_inputs(model, model$weight)))
  }
  list(of_inputs(do.call(gp_fit, question, quote = TRUE), 1))
}

# Posterior means of correlations and scale.
transfer_now <- function(transfer, current) {
  if (is.null(current$models)) return(list(scale = 1, correlation = first_correlation(transfer)))
  weight <- vapply(current$models, `[[`, 0, "weight")
  over <- function(of) drop(matrix(unlist(lapply(current$models, of)), ncol = length(weight)) %*% weight)
  list(scale = exp(over(function(model) log(model$campaigns$scale))),
       correlation = over(function(model) model$campaigns$correlation))
}

# Before any reward: .5 with each campaign, or less if this would not be a covariance matrix together with the
# correlations between the campaigns.
first_correlation <- function(transfer) {
  rho <- rep(0.5, length(transfer$name))
  rho * min(1, sqrt(0.9 / share_of(transfer, rho)))
}

filled_noise <- function(own_noise, noise_var) ifelse(is.na(own_noise), noise_var, own_noise)

# Bounds and priors with the parameter names of a product with the campaigns' matrix.
renamed_settings <- function(settings, kernel, product) {
  old <- names(kernel_parameters(kernel))
  new <- names(kernel_parameters(product))
  for (field in intersect(c("priors", "lower", "upper"), names(settings))) {
    at <- match(names(settings[[field]]), old)
    names(settings[[field]])[!is.na(at)] <- new[at[!is.na(at)]]
  }
  settings
}

# The model state of a bandit with earlier campaigns after these rewards, in the format of a refit. `mean`: NULL if it
# is fitted. While the evidence is against earlier campaigns they are left out: models of them that share a kernel with
# this one predict worse than models without them, even if the correlations are small.
transfer_fit <- function(config, current, x, y, own_noise, mean = NULL, slope = NULL) {
  transfer <- config$transfer
  without <- function() preserve_rng(fit_without(config, current, x, y, own_noise, mean))
  if (lacks_rewards(transfer)) return(without())
  parts <- preserve_rng(transfer_parts(config, current, x, y, own_noise, mean))
  found <- transfer_models(transfer, parts, x, y, own_noise, mean, slope)
  models <- found$models
  if (length(y) >= least_alone && stats::sd(y) > 0) {
    evidence <- found$evidence
    if (evidence < 0) return(without())
    alone <- without()
    # (With few rewards, their predictions of each other depend more on the fits than on the campaigns.)
    if (length(y) >= 2 * (length(kernel_parameters(current$kernel)) + 2)) {
      better <- predicted_better(transfer, models, alone$models, x, y, own_noise)
      evidence <- min(evidence, better)
    }
    if (evidence < 0) return(alone)
    models <- mixed_kinds(models, alone$models, evidence)
  }
  best <- likeliest(models)
  if (!is.null(mean)) models <- lapply(models, function(model) model[names(model) != "mean"])
  list(kernel = best$kernel, noise_var = best$noise_var, mean = if (is.null(mean)) best$mean else current$mean,
       models = models)
}

# Rewards that are all equal contain no information.
lacks_rewards <- function(transfer) {
  all(vapply(split(transfer$values, transfer$campaign), function(values) all(values == values[1]), NA))
}

# The fit without earlier campaigns.
fit_without <- function(config, current, x, y, own_noise, mean) {
  now <- current[intersect(c("kernel", "noise_var", "mean", "models"), names(current))]
  # (Local searches start from the models that a bandit without earlier campaigns would have, or from none.)
  alone <- is_alone(current$models)
  if (!alone || identical(current$kernel, config$kernel)) now$models <- NULL
  question <- c(list(x, y, current$kernel, noise_var = current$noise_var, mean = or_else(mean, "fit"),
                     own_noise = own_noise), config$refit$settings)
  found <- if (length(y)) refitted(question, config$refit["average"], now, is.null(mean)) else now
  if (is.null(found$models)) found$models <- list(c(found[c("kernel", "noise_var", "mean")], list(weight = 1)))
  found$models <- lapply(found$models, alone_model, transfer = config$transfer)
  found
}

is_alone <- function(models) {
  all(vapply(models, function(model) all(model$campaigns$correlation == 0) && model$campaigns$scale == 1, NA))
}

# A model in which earlier campaigns have no influence.
alone_model <- function(model, transfer) {
  model$campaigns <- list(correlation = rep(0, length(transfer$name)), scale = 1,
                          mean = known_campaigns(transfer, model$kernel)$mean)
  model
}

# ---- integration in gp_bandit() and refits ----------------------------------------------------------

# Gives a new bandit the model state from earlier campaigns, before its first reward.
start_transfer <- function(bandit, campaigns) {
  config <- bandit$config
  check_can_transfer(config)
  config$transfer <- prepared_campaigns(campaigns, config)
  reported <- if (lacks_rewards(config$transfer)) config else config$transfer
  noise_var <- if (isTRUE(config$refit$settings$fix_noise)) config$noise_var
               else or_else(reported$noise, config$noise_var)
  start <- list(kernel = reported$kernel, noise_var = noise_var, mean = config$mean)
  none <- matrix(0, 0, length(input_names(config)))
  fits <- identical(config$refit$mean, "fit")
  fit <- transfer_fit(config, start, none, numeric(), numeric(), if (!fits) 0)
  bandit$config <- refitted_config(config, fit)
  make_ready(bandit)
  invisible(bandit)
}

# The point with the largest posterior mean before the first reward; NULL with contexts, where no point is best for all.
transfer_first <- function(bandit) {
  config <- bandit$config
  if (!has_transfer(config) || lacks_rewards(config$transfer) || length(config$context_names)) return(NULL)
  rebuild(bandit)
  found <- cpp_bandit_best(bandit$handle, contexts_for(bandit, NULL, 1L), NaN)
  if (is_tabulated_space(config)) return(subset_points(all_points(config$domain), found$arm + 1L))
  points_found(config, found)
}

# ---- the design -----------------------------------------------------------------------------------------

# This number of design points checks the earlier campaigns. The other points are optional. While a search without
# earlier campaigns would be in its design, a share of the rounds plays them: the share of the variance that earlier
# campaigns do not explain. (Three points alone are too few: with uninformative campaigns, half of the searches of a
# multimodal function stayed at a local optimum; bench/results/transfer.md.)
transfer_design_size <- 3

# How many of the `left` points are to be played before the policy is used. `certain`: counts only those that do not
# depend on the model state.
transfer_design_left <- function(bandit, left, certain) {
  config <- bandit$config
  optional <- or_else(config$transfer$optional, 0L)
  if (left > optional) return(left - optional)
  if (lacks_rewards(config$transfer)) return(left)
  if (certain) return(0)
  reported <- share_reported(current_config(bandit))
  played <- optional - left
  asked <- sum(table_column(bandit$queries, "action") == match("policy", action_names))
  if (played + asked >= optional) return(0)
  as.numeric(played + 0.5 <= (1 - reported) * (played + asked + 1))
}

# ---- descriptions -------------------------------------------------------------------------------------

# The posterior of the relation to earlier campaigns: a data.frame with a row each, `campaign`, `rows` (as given),
# `correlation` (mean), `lower`, `upper` (an interval of at least 90%), `positive`, `zero` (probabilities).
transfer_table <- function(config) {
  transfer <- config$transfer
  if (is.null(transfer)) return(NULL)
  weight <- model_weights(config)
  rho <- matrix(unlist(lapply(config$models, function(model) model$campaigns$correlation)), ncol = length(weight))
  quantile_of <- function(values, p) {
    order <- order(values)
    values[order][which(cumsum(weight[order]) >= p - 1e-12)[1]]
  }
  data.frame(campaign = transfer$name, rows = transfer$rows, correlation = drop(rho %*% weight),
             lower = apply(rho, 1, quantile_of, 0.05), upper = apply(rho, 1, quantile_of, 0.95),
             positive = drop((rho > 0) %*% weight), zero = drop((rho == 0) %*% weight))
}

transfer_text <- function(model_state) {
  sprintf(paste("transfer   %s (%d rows): correlation %.2f, from %.2f to %.2f, positive with probability %.2f,",
                "none with %.2f"),
          model_state$campaign, as.integer(model_state$rows), model_state$correlation, model_state$lower,
          model_state$upper, model_state$positive, model_state$zero)
}
