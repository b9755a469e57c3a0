#' Batched pure exploration
#'
#' BPE (Li and Scarlett 2022): batches of \eqn{N_i = \lceil\sqrt{TN_{i-1}}\rceil}{N_i = ceiling(sqrt(T N_{i-1}))} rounds, \eqn{N_0 = 1}, \eqn{T} = `rounds`. A batch plays the largest
#' posterior variance, given this batch's own points only, among the places that may still be best; so its points are known beforehand and do not depend on
#' its rewards. After it a place stays if \eqn{\mu + w\sigma\ge\max(\mu - w\sigma)}{mu + w sd >= max(mu - w sd)}, the maximum over the places that are left, with the
#' posterior of the batch's rewards alone and \eqn{w = \sqrt{B^2 + (2R^2/\lambda)\log(2nb/\delta)}}{w = sqrt(B^2 + (2 R^2 / lambda) log(2 n b / delta))}, \eqn{n} places, \eqn{b} batches: [width_fixed()] with
#' \eqn{b} looks.
#'
#' Rewards may be late: those that have come by a batch's end decide (`$suggest(n)` gives a batch, or part of it, at once). `$posterior()` and `$best()`, the largest mean among the
#' places that are left, use all rewards. On a box the places are about 250 spread points per input (at most 1000). After round \eqn{T} batches of the last size go on.
#'
#' @section Guarantee: regret \eqn{O(\sqrt{T\gamma_T\log n})}{O(sqrt(T gamma_T log n))} up to \eqn{\log\log T}{log log T} with probability \eqn{1-\delta}{1 - delta}, for \eqn{f} of RKHS norm
#'   at most `B` and `R`-sub-Gaussian noise (Li and Scarlett 2022; with constants in [regret_bound()]). The width is for points
#'   that do not depend on rewards; Vakili et al.'s (2021), \eqn{B + (R/\sqrt\lambda)\sqrt{2\log(2nb/\delta)}}{B + R / sqrt(lambda) sqrt(2 log(2 n b / delta))}, is never narrower. Late rewards, if their delays do not depend on the rewards, leave the eliminations right; the bound then has the observed points' sd. Below some 500 rounds it wastes much on exploration.
#' @inheritParams safe_opt
#' @param rounds the horizon \eqn{T}, a whole number >= 1.
#' @param B,R,delta bound of the RKHS norm, scale of the noise, failure probability.
#' @param width overrides \eqn{w}: a number >= 0.
#' @return An object of reference class `BanditRival`, a `GPBandit`.
#' @section Errors: a `gpbandits_error` that names the argument.
#' @references Li and Scarlett (2022), Gaussian process bandit optimization with few batches <https://arxiv.org/abs/2110.07788>; Vakili, Bouziani, Jalali, Bernacchia and Shiu (2021), Optimal order simple
#'   regret for Gaussian process bandits.
#' @seealso [gp_ucb_pe()], [gp_bucb()].
#' @examples
#' x <- seq(0, 1, length.out = 80)
#' b <- bpe(x, kernel_se(0.2), noise_var = 0.01, rounds = 200, B = 2, R = 0.1)
#' problem <- bandit_problem(x, sin(6 * x), noise = noise_gaussian(0.1), delay = delay_poisson(5))
#' set.seed(1)
#' summary(run_bandit(b, problem, 60))
#' @export
bpe <- function(domain, kernel, noise_var, rounds, B, R, delta = 0.1, ..., width = NULL, mean = 0, journal = NULL) {
  check_rival_dots(..., allowed = names(formals(bpe)), no_contexts = "its batches are planned before the contexts come")
  domain <- as_domain(domain)
  rounds <- check_count(rounds)
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

# The batch's queries are those of its queue, in order.
propose_bpe <- function(rival) {
  memory <- rival$memory
  asked <- bpe_asked(rival, memory)
  if (asked >= length(memory$queue)) {
    memory <- next_batch(rival, memory)
    asked <- 0L
  }
  list(place = subset_places(bpe_places(rival$config$domain), memory$queue[asked + 1L]), memory = memory,
       phase = "policy",
       width = model_width(models_of(rival)[[1]]))
}

# Queries of the batch under way; given points do not count.
bpe_asked <- function(rival, memory) sum(phases_of(rival, bpe_ids(rival, memory)) == "policy")

bpe_ids <- function(rival, memory) {
  rounds <- table_size(rival$queries)
  if (rounds > memory$start) seq(memory$start + 1L, rounds) else integer()
}

next_batch <- function(rival, memory) {
  places <- bpe_places(rival$config$domain)
  alive <- if (memory$batch == 0) seq_len(place_total(places)) else bpe_survivors(rival, memory, places)
  sizes <- bpe_sizes(rival$config$rounds)
  size <- sizes[min(memory$batch + 1, length(sizes))]
  list(batch = memory$batch + 1, start = table_size(rival$queries), queue = most_varied(rival, places, alive, size),
       alive = alive)
}

# A bandit over the places that has been told nothing.
place_model <- function(rival, places, ...) {
  config <- rival$config
  one <- config$model_settings[[1]]
  inputs <- places$inputs
  colnames(inputs) <- config$domain$names
  gp_bandit(finite_domain(inputs), one$kernel, one$noise_var, policy_variance(), mean = one$mean, ...)
}

bpe_survivors <- function(rival, memory, places) {
  ids <- bpe_ids(rival, memory)
  ids <- ids[phases_of(rival, ids) == "policy"]
  row <- memory$queue[seq_along(ids)]
  known <- status_of(rival, ids) == "known"
  model <- place_model(rival, places)
  if (any(known)) model$add(arm = row[known], reward = rival$queries$reward[ids[known]])
  p <- model$posterior(arm = memory$alive)
  w <- model_width(models_of(rival)[[1]])
  memory$alive[p$mean + w * p$sd >= max(p$mean - w * p$sd)]
}

# One after the other where the variance, given those before, is largest.
most_varied <- function(rival, places, alive, size) {
  model <- as.environment(place_model(rival, places, pending = pending_hallucinate()))
  contexts <- c(contexts_for(model, NULL, size), list(eligible = as.integer(seq_len(place_total(places)) %in% alive)))
  transact(model, function(handle) cpp_bandit_suggest(handle, contexts, NA_real_))
  model$queries$arm[seq_len(size)] + 1L
}

recommend_bpe <- function(rival) {
  places <- bpe_places(rival$config$domain)
  alive <- if (rival$memory$batch == 0) seq_len(place_total(places)) else rival$memory$alive
  mean <- model_posterior(models_of(rival)[[1]], places, NULL)$mean
  subset_places(places, first_largest(mean, seq_along(mean) %in% alive, rival$config$scale))
}
