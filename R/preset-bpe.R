# A rule in R (rival.R): a plan of batches whose points are known beforehand, each with a posterior of its own rewards.

#' Batched pure exploration
#'
#' BPE (Li and Scarlett 2022): batches of \eqn{N_i = \lceil\sqrt{TN_{i-1}}\rceil}{N_i = ceiling(sqrt(T N_{i-1}))} rounds, \eqn{N_0 = 1}, \eqn{T} = `rounds`. A batch plays the largest
#' posterior variance, given this batch's own points only, among the places that may still be best; so its points are known beforehand and do not depend on
#' its rewards. After it a place stays if \eqn{\mu + w\sigma\ge\max(\mu - w\sigma)}{mu + w sd >= max(mu - w sd)}, the maximum over the places that are left, with the
#' posterior of the batch's rewards alone and \eqn{w = \sqrt{B^2 + (2R^2/\lambda)\log(2nb/\delta)}}{w = sqrt(B^2 + (2 R^2 / lambda) log(2 n b / delta))}, \eqn{n} places, \eqn{b} batches: [width_fixed()] with
#' \eqn{b} looks.
#'
#' Rewards may be late. With `wait = "rewards"` a batch decides by exactly the rewards of its own \eqn{N_i} points, whenever these come: what is asked in the meantime are **free plays**, in places that may
#' still be best (the choice of [policy_pims()] by all rewards, pending queries hallucinated; history's `phase` is `"free"`, else `"policy"`). A query of the batch that is withdrawn or fails is asked again. With
#' `wait = "rounds"`, as in Vakili et al. (2023), a batch has \eqn{N_i + u} rounds, all by the variance, \eqn{u} = `extra`, and what has come at its end decides. (Published is \eqn{u = E\tau +
#' \max(\sqrt{2\xi^2\log(1.5t/\delta)}, 2b\log(1.5t/\delta))}{u = E tau + max(sqrt(2 xi^2 log(1.5 t / delta)), 2 b log(1.5 t / delta))} for delays \eqn{\tau} that are sub-exponential with \eqn{(\xi, b)}{(xi, b)}. The authors' code has the
#' smaller of the two, which the tail does not allow.)
#'
#' `$suggest(n)` gives a batch, or part of it, at once. `$posterior()` and `$best()`, the largest mean among the
#' places that are left, use all rewards. On a box the places are about 250 spread points per input (at most 1000). After round \eqn{T} batches of the last size go on.
#'
#' @section Guarantee: regret \eqn{O(\sqrt{T\gamma_T\log n})}{O(sqrt(T gamma_T log n))} up to \eqn{\log\log T}{log log T} with probability \eqn{1-\delta}{1 - delta}, for \eqn{f} of RKHS norm
#'   at most `B` and `R`-sub-Gaussian noise (Li and Scarlett 2022; with constants in [regret_bound()]). The width is for points
#'   that do not depend on rewards; Vakili et al.'s (2021), \eqn{B + (R/\sqrt\lambda)\sqrt{2\log(2nb/\delta)}}{B + R / sqrt(lambda) sqrt(2 log(2 n b / delta))}, is never narrower.
#'
#'   With late rewards and `wait = "rewards"`: \eqn{R_T\le\sum_i(N_i+U_i)\min(2B, 4w\bar\sigma_{i-1})}{R_T <= sum over i of (N_i + U_i) min(2 B, 4 w s_{i-1})}, \eqn{U_i} how long the \eqn{i}-th batch had to wait, at most the largest of
#'   \eqn{N_i} delays, and \eqn{\bar\sigma_{i-1}}{s_{i-1}} the largest sd that the batch before has left (derived here; `"bpe"` of [regret_bound()], `wait`): a delay costs a sum, \eqn{E U_i = E\tau + O(\log N_i)}{E U_i = E tau + O(log N_i)} for
#'   sub-exponential ones, not a factor. **Delays may depend on the rewards**: a batch's points are fixed before, and all of its rewards decide. But whether a query fails, is lost or is
#'   given up must not; where it might, wait, or take the claim as void. `wait = "rounds"` needs delays that do not depend on the noise: with bad rewards late its intervals missed
#'   \eqn{f} in 99 of 100 runs, the others in none. Below some 500 rounds BPE wastes much on exploration.
#' @inheritParams safe_opt
#' @param rounds the horizon \eqn{T}, a whole number >= 1.
#' @param B,R,delta bound of the RKHS norm, scale of the noise, failure probability.
#' @param wait what a batch waits for before it decides: `"rewards"`, its own, or `"rounds"`.
#' @param extra with `wait = "rounds"`: \eqn{u}, a whole number >= 0.
#' @param width overrides \eqn{w}: a number >= 0.
#' @return An object of reference class `BanditRival`, a `GPBandit`.
#' @section Errors: a `gpbandits_error` that names the argument.
#' @references Li and Scarlett (2022), Gaussian process bandit optimization with few batches <https://arxiv.org/abs/2110.07788>; Vakili, Bouziani, Jalali, Bernacchia and Shiu (2021), Optimal order simple
#'   regret for Gaussian process bandits; Vakili, Ahmed, Bernacchia and Pike-Burke (2023), Delayed feedback in kernel bandits <https://arxiv.org/abs/2302.00392> (its abstract and its code).
#' @seealso [gp_ucb_pe()], [gp_bucb()].
#' @examples
#' x <- seq(0, 1, length.out = 80)
#' b <- bpe(x, kernel_se(0.2), noise_var = 0.01, rounds = 200, B = 2, R = 0.1)
#' problem <- bandit_problem(x, sin(6 * x), noise = noise_gaussian(0.1), delay = delay_poisson(5))
#' set.seed(1)
#' summary(run_bandit(b, problem, 60))
#' @export
bpe <- function(domain, kernel, noise_var, rounds, B, R, delta = 0.1, ..., wait = c("rewards", "rounds"), extra = 0,
                width = NULL, mean = 0, journal = NULL) {
  check_rival_dots(..., allowed = names(formals(bpe)), no_contexts = "its batches are planned before the contexts come")
  domain <- as_domain(domain)
  rounds <- check_count(rounds)
  wait <- check_choice(wait, c("rewards", "rounds"))
  extra <- check_count(extra, lower = 0)
  if (extra > 0 && wait == "rewards") stop_argument("extra", describe(extra), "0 with wait = \"rewards\"")
  places <- place_total(bpe_places(domain))
  if (is.null(width)) {
    width <- fixed_multiplier(check_number(B, lower = 0), check_number(R, lower = 0),
                              check_number(noise_var, lower = 0, open_lower = TRUE), places, check_delta(delta),
                              length(bpe_sizes(rounds)))
  }
  parts <- gp_rival_parts(domain, kernel, noise_var, width_constant(width), 0, mean, NULL, NULL, NULL, 0, least = 0)
  new_rival("bpe", parts$domain, 0, NULL, parts$models, journal = journal, least = 0)
}

# Sizes of the batches that rounds 1..T make.
bpe_sizes <- function(rounds) {
  sizes <- integer()
  size <- 1
  while (sum(sizes) < rounds) {
    size <- ceiling(sqrt(rounds * size))
    sizes <- c(sizes, min(size, rounds - sum(sizes)))
  }
  sizes
}

bpe_places <- function(domain) {
  if (can_count(domain)) return(all_places(domain))
  if (!is.null(arm_count(domain))) stop_argument("domain", describe_domain(domain), "arms or a box")
  spread_places(domain, min(1000, 250 * length(domain$names)))
}

# Every place of a batch's queue has a seat, taken by the query that asked for it. `again`: the seats whose query was
# lost, and the queries that took them since.
propose_bpe <- function(rival) {
  memory <- rival$memory
  if (memory$batch == 0) memory <- next_batch(rival, memory)
  repeat {
    ids <- bpe_seats(rival, memory)
    status <- ifelse(is.na(ids), "unasked", status_of(rival, ids))
    due <- which(is.na(ids) | (is_lost(status) & rival$config$wait == "rewards"))
    if (length(due) || any(status == "pending" & rival$config$wait == "rewards")) break
    memory <- next_batch(rival, memory)
  }
  places <- bpe_places(rival$config$domain)
  if (!length(due)) return(bpe_choice(rival, places, free_place(rival, memory, places), memory, "free"))
  seat <- due[1]
  if (!is.na(ids[seat])) {
    memory$again <- rbind(memory$again, c(seat, table_size(rival$queries) + 1L))
  }
  bpe_choice(rival, places, memory$queue[seat], memory, "policy")
}

bpe_choice <- function(rival, places, row, memory, phase) {
  list(place = subset_places(places, row), memory = memory, phase = phase, width = model_width(models_of(rival)[[1]]))
}

# It will not come, or will not count.
is_lost <- function(status) !status %in% c("known", "pending", "unasked")

# The query in each seat, NA where nobody has asked yet.
bpe_seats <- function(rival, memory) {
  rounds <- table_size(rival$queries)
  ids <- if (rounds > memory$start) seq(memory$start + 1L, rounds) else integer()
  ids <- setdiff(ids[phases_of(rival, ids) == "policy"], memory$again[, 2])
  out <- ids[seq_along(memory$queue)]
  out[memory$again[, 1]] <- memory$again[, 2]
  out
}

next_batch <- function(rival, memory) {
  places <- bpe_places(rival$config$domain)
  alive <- if (memory$batch == 0) seq_len(place_total(places)) else bpe_survivors(rival, memory, places)
  sizes <- bpe_sizes(rival$config$rounds)
  size <- sizes[min(memory$batch + 1, length(sizes))] + rival$config$extra
  list(batch = memory$batch + 1, start = table_size(rival$queries), queue = most_varied(rival, places, alive, size),
       again = matrix(0L, 0, 2), alive = alive)
}

# A bandit over the places that has been told nothing.
place_model <- function(rival, places, policy = policy_variance(), ...) {
  config <- rival$config
  one <- config$model_settings[[1]]
  inputs <- places$inputs
  colnames(inputs) <- config$domain$names
  gp_bandit(finite_domain(inputs), one$kernel, one$noise_var, policy, mean = one$mean, ...)
}

# By the rewards of this batch's seats alone.
bpe_survivors <- function(rival, memory, places) {
  ids <- bpe_seats(rival, memory)
  known <- status_of(rival, ids) == "known"
  model <- place_model(rival, places)
  if (any(known)) model$add(arm = memory$queue[known], reward = rival$queries$reward[ids[known]])
  p <- model$posterior(arm = memory$alive)
  w <- model_width(models_of(rival)[[1]])
  memory$alive[p$mean + w * p$sd >= max(p$mean - w * p$sd)]
}

# While a batch waits: among the places that are left, by all that was asked at places and all that is known of it.
free_place <- function(rival, memory, places) {
  model <- place_model(rival, places, policy_pims(), pending = pending_hallucinate())
  ids <- seq_len(table_size(rival$queries))
  row <- match(row_keys(logged_places(rival, ids)$inputs + 0), row_keys(places$inputs + 0))
  status <- status_of(rival, ids)
  known <- which(status == "known" & !is.na(row))
  pending <- which(status == "pending" & !is.na(row))
  if (length(known)) model$add(arm = row[known], reward = rival$queries$reward[known])
  if (length(pending)) model$add(arm = row[pending])
  first_asked(model, alive_among(memory$alive, places), 1)
}

alive_among <- function(alive, places) as.integer(seq_len(place_total(places)) %in% alive)

# What a model over places would ask, in order.
first_asked <- function(model, eligible, count) {
  model <- as.environment(model)
  before <- table_size(model$queries)
  contexts <- c(contexts_for(model, NULL, count), list(eligible = eligible))
  transact(model, function(handle) cpp_bandit_suggest(handle, contexts, NA_real_))
  model$queries$arm[before + seq_len(count)] + 1L
}

# One after the other where the variance, given those before, is largest.
most_varied <- function(rival, places, alive, size) {
  first_asked(place_model(rival, places, pending = pending_hallucinate()), alive_among(alive, places), size)
}

recommend_bpe <- function(rival) {
  places <- bpe_places(rival$config$domain)
  alive <- if (rival$memory$batch == 0) seq_len(place_total(places)) else rival$memory$alive
  mean <- model_posterior(models_of(rival)[[1]], places, NULL)$mean
  subset_places(places, first_largest(mean, seq_along(mean) %in% alive, rival$config$scale))
}
