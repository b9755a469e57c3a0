# Leave-one-out predictions and other parts of model checks. Layer: bandit.

# Is the value an observation (and not the replacement for a failure)?
is_reported <- function(bandit, ids, k) of_form(bandit$config, "status_of")(bandit, ids, k) == "observed"

posterior_where_played <- function(bandit, ids, k = 1L) {
  points <- logged_points(bandit, ids)
  context <- points$contexts
  if (!is.null(context)) context <- as_codes(context)
  of_form(bandit$config, "scaled_posterior")(bandit, points[c("arm", "inputs")], context, k)
}

# Covariance of a drifting function between the rounds of its measurements (change_oracle(rate = )).
faded <- function(gram, ids, rate) {
  if (is.null(rate)) gram else gram * (1 - rate)^(abs(outer(ids, ids, "-")) / 2)
}

# Covariance of f, faded, at the points of some rewards: a function of their rows.
grams <- function(kernel, x, ids = NULL, decay = NULL) {
  function(rows) faded(kernel_gram(kernel, x[rows, , drop = FALSE]), ids[rows], decay)
}

is_fitted <- function(bandit) {
  !is.null(bandit$config$outputs) || !is.na(last_refit(bandit))
}

# The `rows` of `known` whose predictions at the choice can be used, and for each the refit before its choice.
rows_said_of <- function(bandit, known) {
  kind <- table_column(bandit$events, "kind")
  id <- table_column(bandit$events, "id")
  asked <- kind == event_kind[["query"]]
  waiting <- cumsum(asked) - cumsum(kind %in% event_kind[c("reward", "withdraw", "fail")])
  refit <- kind %in% believing
  real <- vapply(bandit$refits, is_real_refit, NA)
  first <- if (any(real)) id[refit][which(real)[1]] else 0
  rows <- which(known$id %in% id[asked & waiting == 1] & known$id > first & status_of(bandit, known$id) == "observed")
  list(rows = rows, before = findInterval(known$id[rows] - 1, id[refit]))
}

# One-step-ahead residuals: `z`, and the predicted means.
residuals_of <- function(z, mean) cbind(z = z, mean = rep_len(mean, length(z)))
no_residuals <- residuals_of(numeric(), numeric())

most_dense <- 3000

check_enough <- function(count) {
  if (count < 3) {
    stop_state(sprintf("`check_model()` needs at least 3 observed results; `object` has %d.", count),
               argument = "object")
  }
  count
}

log_sum <- function(x, weight) {
  top <- apply(x, 1, max)
  top + log(drop(exp(x - top) %*% weight))
}

# Groups of rewards at one point (numbered in the order of their first reward), or each reward separately.
point_groups <- function(data) row_numbers(data$x)

# The measurements of each group pooled: their weight, their weighted mean, and the number of the first.
pooled_measurements <- function(data, group_of) {
  weight <- drop(rowsum(1 / data$noise, group_of))
  list(weight = weight, value = drop(rowsum(data$y / data$noise, group_of)) / weight,
       first = match(seq_along(weight), group_of))
}

# As left_out_points(), from the covariance of all rewards, for some of the groups. With A^-1 = P, a left-out value has
# variance 1 / P_ii given all others, where `pooled` measurements count as one.
left_out_dense <- function(data, by, groups = NULL) {
  n <- length(data$y)
  group_of <- if (by == "reward") seq_len(n) else point_groups(data)
  pooled <- pooled_measurements(data, group_of)
  weight <- pooled$weight
  value <- pooled$value
  first <- pooled$first
  out <- list(group = group_of, first = first, value = value, noise = 1 / weight)
  if (is.null(groups)) groups <- seq_along(weight)
  if (length(weight) > most_dense) {
    out$mean <- out$variance <- rep(NA_real_, length(groups))
    return(out)
  }
  factor <- chol(data$gram_at(first) + diag(1 / weight, length(weight)))
  precision <- chol2inv(factor)
  total <- 1 / diag(precision)
  out$mean <- (value - drop(precision %*% value) * total)[groups]
  out$variance <- pmax(total - 1 / weight, 0)[groups]
  out
}

register_form("reward", status_of = function(bandit, ids, k) status_of(bandit, ids),
              scaled_posterior = function(bandit, points, context, k) scaled_posterior_at(bandit, points, context))
register_form("outcomes", status_of = function(bandit, ids, k) outcome_cells(bandit, ids)[, k],
              scaled_posterior = function(bandit, points, context, k) {
                at <- scaled_outcomes_at(bandit, points, context)
                data.frame(mean = at$mean[, k], sd = at$sd[, k])
              })
