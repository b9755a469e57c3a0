# Warnings about settings that are valid but rarely intended. Layer: bandit.

# Warnings about settings that are valid but probably not intended: once per bandit, with the remedy.

# Without random numbers and new rewards, the next choice equals the previous one.
warn_of_repeats <- function(bandit, n) {
  config <- bandit$config
  if (trait(config$pending, "noticed") || trait(config$policy, "random") || trait(config$policy, "pairs") ||
      trait(config$policy, "scripted") || explores(config)) {
    return(invisible())
  }
  warn_once(bandit, "repeats", "`suggest(", n, ")` can ask for the same point several times: ",
            of_form(config, "why_repeats"))
}

# Thresholds for rewards in units of the prior's sd (noise included) from its mean: some reward beyond the first is out
# of reach, or the first three rewards are all beyond the second.
out_of_reach <- 10
at_the_edge <- 3

# `arm`: the 0-based arm of each reward, if the prior mean differs by arm.
warn_of_prior <- function(bandit, reward, arm) {
  config <- bandit$config
  # (A plateau is for rewards that the prior hardly allows.)
  if (!of_form(config, "gaussian") || !is.null(config$mean_function) || !is.null(config$rewards$plateau)) {
    return(invisible())
  }
  # (Usually the prior allows the rewards, and only this check takes time.)
  if (cpp_bandit_allows(bandit$handle, reward, config$mean, arm, config$noise_var, at_the_edge)) return(invisible())
  if (trait(config$policy, "scripted") || !is.null(config$refit) || !is.null(config$outputs) ||
      "far" %in% bandit$.said) {
    return(invisible())
  }
  rebuild(bandit)
  unit <- sqrt(cpp_bandit_prior_scale(bandit$handle)^2 + config$noise_var)
  z <- abs(reward - prior_mean_at(config, arm)) / unit
  if (max(z) <= at_the_edge) return(invisible())
  far <- any(z > out_of_reach)
  if (!far && all(z > at_the_edge)) {
    before <- which(!is.na(bandit$queries$reward[seq_len(table_size(bandit$queries))]))
    seen <- abs(bandit$queries$reward[before] - prior_mean_at(config, bandit$queries$arm[before])) / unit
    far <- length(before) < 3 && length(before) + length(z) >= 3 && all(seen > at_the_edge)
  }
  if (!far) return(invisible())
  warn_once(bandit, "far", sprintf("Rewards lie %.3g prior standard deviations from the prior mean (%s): ", max(z),
                                   describe_prior_mean(config$mean)),
            "the prior hardly allows them. Give it their size (`mean`, the kernel's `variance`), scale the rewards, ",
            "or let refit_every() fit the parameters.")
}

prior_mean_at <- function(config, arm) if (length(config$mean) == 1) config$mean else config$mean[arm + 1L]

# A model without noise, and different rewards at the same point.
warn_of_noise <- function(bandit) {
  if (!isTRUE(bandit$config$noiseless) || "noisy" %in% bandit$.said) return(invisible())
  for (k in which(lengths(outcome_rewards(bandit$config)) == 0)) {
    ids <- rewarded_ids(bandit, k)
    y <- values_of_queries(bandit, k)[ids]
    x <- known_inputs(bandit, ids)
    first <- match_rows(x, x)
    apart <- which(abs(y - y[first]) > max(1e-6 * diff(range(y)), 1e-9 * max(abs(y))))
    if (length(apart) == 0) next
    pair <- c(first[apart[1]], apart[1])
    name <- outcome_names(bandit$config)[k]
    warn_once(bandit, "noisy", sprintf(
      "Queries %d and %d are the same point, and their values of `%s` are %.6g and %.6g: this contradicts ",
      ids[pair[1]], ids[pair[2]], name, y[pair[1]], y[pair[2]]),
      "`noise = \"none\"`. Use `gp_model(noise = \"fit\")`, or correct a wrong value by `$amend()`.")
  }
}

warn_refuted <- function(times) {
  warn_gpbandits("state", "refuted", sprintf(
    "The model is refuted: %s no value was within all confidence intervals of a point. ", amount_of(times, "time")
  ), "Check the kernel, the noise variance and the width.")
}

warn_refit <- function(bandit, error) {
  warn_gpbandits("state", "refit_failed", "The refit after round ", all_rounds(bandit),
                 " failed, and the parameters are unchanged: ", message_of(error))
}

register_form("reward", why_repeats = paste(
  "under pending_ignore() a query changes nothing before its reward is observed. With",
  "`pending = pending_hallucinate()` each point of a batch is chosen given the points before it."))
register_form("comparison", why_repeats = paste(
  "nothing is known of a query before it is compared. policy_duel() and policy_ts() ask for different ones."))
