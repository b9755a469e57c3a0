# Batched pure exploration. Layer: algorithms.

# A rule in R (bandit-script.R): the points of each batch are planned in advance, and each batch has a separate
# posterior that uses only its own rewards.

#' Batch Bayesian optimisation by pure exploration (BPE)
#'
#' `bpe()` optimises in a few batches, whose points do not depend on their rewards (Li and Scarlett 2022). Use it for
#' large batches, late rewards or a known amount of drift. For the last two see [bpe-late-drift].
#'
#' The number of queries in batch \eqn{i} depends on the horizon \eqn{T} = `rounds`:
#' \deqn{N_i = \lceil\sqrt{TN_{i-1}}\rceil,\quad N_0 = 1.}{N_i = ceiling(sqrt(T N_{i-1})),  N_0 = 1.}
#'
#' Candidates are the points that may still be the best. Each query is the candidate with the largest posterior
#' variance, given the points of this batch only. After the batch, a candidate \eqn{x} remains if
#' \deqn{\mu(x) + w\sigma(x)\ge\max_{x'}(\mu(x') - w\sigma(x')),}{mu(x) + w sd(x) >= max over x' of (mu(x') - w
#' sd(x')),}
#' with the confidence width
#' \deqn{w = \sqrt{B^2 + (2R^2/\lambda)\log(2nb/\delta)}.}{w = sqrt(B^2 + (2 R^2 / lambda) log(2 n b / delta)).}
#'
#' The maximum is over the remaining candidates, and the posterior is that of the batch's rewards alone. The width
#' \eqn{w} is the multiplier of the posterior standard deviation (sd). It is [width_fixed()] for \eqn{n}
#' candidates and \eqn{b} batches (`looks` \eqn{= b}).
#'
#' `$suggest(n)` returns a batch, or part of it, at once. `$posterior()` and `$best()` (the largest mean among the
#' remaining candidates) use all rewards. On a box or a search space the candidates are about 250 spread points per
#' input (at most 1000). After round \eqn{T} further batches have the last size.
#'
#' @section Guarantee: For \eqn{f} of RKHS norm at most `B` and `R`-sub-Gaussian noise, with probability
#'   \eqn{1-\delta}{1 - delta} the regret is
#'   \deqn{O(\sqrt{T\gamma_T\log n})}{O(sqrt(T gamma_T log n))}
#'   up to \eqn{\log\log T}{log log T} (Li and Scarlett 2022; with constants in [regret_bound()]). The width is for
#'   points that do not depend on rewards. That of Vakili et al. (2021),
#'   \eqn{B + (R/\sqrt\lambda)\sqrt{2\log(2nb/\delta)}}{B + R / sqrt(lambda) sqrt(2 log(2 n b / delta))}, is never
#'   narrower. Below some 500 rounds much of the budget is exploration.
#'
#'   *Candidates.* The regret is relative to the **best of the candidates**. On arms these are all points. On a box or a
#'   search space \eqn{f} may be larger between the candidates, which the theorem does not cover. If \eqn{\eta}{eta} is
#'   the largest kernel distance of a point from its nearest candidate, \eqn{f} is at most \eqn{B\eta}{B eta} larger.
#'   `spacing` of [regret_bound()] adds \eqn{BT\eta}{B T eta}, which is linear in \eqn{T}. For a stated loss use the
#'   grid of [plan_experiments()] as arms.
#' @inheritParams safe_opt
#' @param rounds the horizon \eqn{T}, an integer >= 1.
#' @param B,R,delta the bound of the RKHS norm (a number >= 0), the scale of the sub-Gaussian noise (a number >= 0), and
#'   the failure probability in (0, 1), 0.1 by default.
#' @param wait `"rewards"` (the default): a batch is evaluated when all its rewards have arrived. `"rounds"`: after a
#'   fixed number of rounds.
#' @param extra \eqn{u}, the number of extra rounds of a batch, an integer from 0 to `rounds`, for `wait = "rounds"`;
#'   see [bpe-late-drift]. 0 by default.
#' @param variation \eqn{V_T}, the largest total drift, a number > 0 in units of the reward, for `wait = "rewards"`.
#'   `NULL`, the default: \eqn{f} does not change.
#' @param gain \eqn{\gamma_T}{gamma_T} for the schedule under drift, a number > 0 in nats. `NULL`, the default, is on
#'   arms the greedy value of [information_gain()] for that number of rounds.
#' @param width overrides \eqn{w}, a number >= 0. `NULL`, the default, is the formula in Details.
#' @param ... `mean` and `journal` of [gp_bandit()], by name. An unknown name is an error.
#' @return An object of reference class `ScriptedBandit`, a [GPBandit].
#' @references Li and Scarlett (2022), Gaussian process bandit optimization with few batches
#'   <https://arxiv.org/abs/2110.07788>; Vakili, Bouziani, Jalali, Bernacchia and Shiu (2021), Optimal order simple
#'   regret for Gaussian process bandits; Vakili, Ahmed, Bernacchia and Pike-Burke (2023), Delayed feedback in kernel
#'   bandits <https://arxiv.org/abs/2302.00392> (its abstract and its code); Iwazaki and Takeno (2025), Near-optimal
#'   algorithm for non-stationary kernelized bandits <https://arxiv.org/abs/2410.16052> (its abstract; the proof is
#'   ours).
#' @concept batch Bayesian optimization
#' @concept pure exploration
#' @concept delayed feedback
#' @concept nonstationary bandits
#' @concept successive elimination
#' @seealso [bpe-late-drift], [gp_ucb_pe()], [gp_bucb()].
#' @examples
#' x <- seq(0, 1, length.out = 80)
#' b <- bpe(x, kernel_se(0.2), noise_var = 0.01, rounds = 200, B = 2, R = 0.1)
#' problem <- bandit_problem(x, sin(6 * x), noise = 0.1, delay = function(n) rpois(n, 5))
#' set.seed(1)
#' summary(run_bandit(b, problem, 60))
#' @export
bpe <- function(domain, kernel, noise_var, rounds, B, R, delta = 0.1, ..., wait = c("rewards", "rounds"), extra = 0,
                variation = NULL, gain = NULL, width = NULL) {
  make_bpe(domain = domain, kernel = kernel, noise_var = noise_var, rounds = rounds, B = B, R = R, delta = delta, ...,
           wait = wait, extra = extra, variation = variation, gain = gain, width = width)
}

#' Batched pure exploration with late rewards or drift
#'
#' [bpe()] supports rewards that arrive late (`wait`) and functions that drift by a known total (`variation`).
#'
#' For the notation see [bpe()]: \eqn{T} is the horizon, \eqn{N_i} the size of batch \eqn{i}, \eqn{w} the confidence
#' width.
#'
#' @section Late rewards: With `wait = "rewards"` a batch is evaluated by exactly the rewards of its \eqn{N_i}
#'   points, whenever they arrive. Until then queries are **free**: [policy_pims()] selects them among the remaining
#'   candidates, from all rewards, with pending queries hallucinated ([pending_hallucinate()]). In the history, `phase`
#'   is `"free"` for these and `"policy"` for the others. A query of the batch that is withdrawn or fails is asked
#'   again.
#'
#'   With `wait = "rounds"` (Vakili et al. 2023) a batch has \eqn{N_i + u} rounds, all selected by the variance, with
#'   \eqn{u} = `extra`. It is evaluated by the rewards that have arrived at its end. The published value is
#'   \deqn{u = E\tau + \max(\sqrt{2\xi^2\log(1.5t/\delta)}, 2b\log(1.5t/\delta))}{u = E tau + max(sqrt(2 xi^2 log(1.5 t
#'   / delta)), 2 b log(1.5 t / delta))}
#'   for delays \eqn{\tau}{tau} that are sub-exponential with \eqn{(\xi, b)}{(xi, b)}. (The authors' code has the
#'   smaller of the two terms, for which the tail bound does not hold.)
#' @section Drift: With `variation` = \eqn{V_T} the function may change by a known total,
#'   \deqn{\sum_t\max_x|f_{t+1}(x)-f_t(x)|\le V_T.}{the sum over t of max |f_(t+1) - f_t| is at most V_T.}
#'
#'   The algorithm restarts after every
#'   \deqn{H = \lceil\gamma_T^{1/3}(T/V_T)^{2/3}\rceil}{H = ceiling(gamma_T^(1/3) (T / V_T)^(2/3))}
#'   points, with batches as for a horizon of \eqn{H}. Each batch is asked in uniformly random order. The width is that
#'   of `width_fixed(drift = V)` with \eqn{V = \min(V_T, 2B\max_x\sqrt{k(x,x)})}{V = min(V_T, 2 B max sqrt(k(x, x)))}
#'   and one interim analysis for each batch of all restarts. This is the schedule of R-PERP (Iwazaki and Takeno 2025).
#'   `$best()` then uses the rewards since the last restart.
#' @section Guarantee: *Late rewards*, with `wait = "rewards"` (an original result, not peer-reviewed; `"bpe"` and
#'   `wait` of [regret_bound()]):
#'   \deqn{R_T\le\sum_i(N_i+U_i)\min(2B, 4w\bar\sigma_{i-1}).}{R_T <= sum over i of (N_i + U_i) min(2 B, 4 w s_{i-1}).}
#'
#'   \eqn{U_i} is the waiting time of batch \eqn{i}, at most the largest of \eqn{N_i} delays.
#'   \eqn{\bar\sigma_{i-1}}{s_{i-1}} is the largest posterior standard deviation after the previous batch. A delay adds
#'   to the regret and does not multiply it: \eqn{E U_i = E\tau + O(\log N_i)}{E U_i = E tau + O(log N_i)} for
#'   sub-exponential delays. **Delays may depend on the rewards**, because the points of a batch are fixed before and
#'   all its rewards are used. Whether a query fails, is lost or is withdrawn must not depend on them. If it may,
#'   wait for these rewards, or regard the bound as void.
#'
#'   `wait = "rounds"` needs delays that do not depend on the noise. When bad rewards of the best arm came
#'   late, its intervals missed \eqn{f} in 100 of 100 runs, those of `wait = "rewards"` in 1
#'   (`bench/results/bpe.md` in the sources).
#'
#'   *Drift* (an original result, not peer-reviewed; `"bpe"` and `variation` of [regret_bound()]): with probability
#'   \eqn{1-\delta}{1 - delta} the dynamic regret \eqn{\sum_t\max f_t - f_t(x_t)}{sum of max f_t - f_t(x_t)} is at most
#'   \deqn{\lceil T/H\rceil\sum_iN_i\min(2B\sqrt v, 4w\bar\sigma_{i-1}) + 2(b-1)HV_T,}{ceiling(T / H) sum_i N_i min(2 B
#'   sqrt(v), 4 w s_{i-1}) + 2 (b - 1) H V_T,}
#'   with \eqn{b} batches between restarts and \eqn{k(x,x) \le v}{k(x, x) <= v}. The conditions are:
#'
#'   * Every \eqn{f_t} has norm at most `B`.
#'   * The drift is fixed in advance (**not caused by the queries**).
#'   * Losses of queries depend neither on rewards nor on points.
#'
#'   Up to logarithms the order is \eqn{\gamma_T^{1/3}V_T^{1/3}T^{2/3}}{gamma_T^(1/3) V_T^(1/3) T^(2/3)}. Of the paper
#'   of R-PERP we could read the abstract and the beginning only: its idea is a random order within a batch, and a
#'   width for it. Its width and constants may be smaller than ours. The constants are large. In 500 rounds on 20 arms
#'   the regret was that of uniform sampling, and a window ([gp_ucb_drift()]) had less (`bench/results/bpe.md` in the
#'   sources).
#' @references See [bpe()].
#' @concept delayed feedback
#' @concept nonstationary bandits
#' @concept batch Bayesian optimization
#' @seealso [bpe()], [regret_bound()].
#' @examples
#' x <- seq(0, 1, length.out = 30)
#' b <- bpe(x, kernel_se(0.3), noise_var = 0.01, rounds = 60, B = 2, R = 0.1)
#' problem <- bandit_problem(x, sin(6 * x), noise = 0.1, delay = function(n) rpois(n, 3))
#' set.seed(1)
#' run_bandit(b, problem, 40)
#' table(b$history()$phase)
#' @name bpe-late-drift
NULL

# bpe() with the arguments that its `...` accepts.
make_bpe <- function(domain, kernel, noise_var, rounds, B, R, delta, ..., wait, extra, variation, gain, width, mean = 0,
                     journal = NULL) {
  check_script_dots(..., allowed = names(formals(make_bpe)),
                    no_contexts = "its batches are planned before the contexts come")
  domain <- as_domain(domain)
  rounds <- check_count(rounds)
  wait <- check_choice(wait, c("rewards", "rounds"))
  extra <- check_count(extra, lower = 0, upper = rounds)
  if (extra > 0 && wait == "rewards") stop_unused("extra", "`wait = \"rewards\"` plays no extra rounds")
  points <- bpe_points(domain)
  every <- NULL
  if (!is.null(variation)) {
    if (wait == "rounds") stop_unused("variation", "`wait = \"rounds\"` is for functions that do not change")
    variation <- check_number(variation, lower = 0, open_lower = TRUE)
    gain <- if (is.null(gain)) largest_gain(domain, kernel, rounds, noise_var)
            else check_number(gain, lower = 0, open_lower = TRUE)
    every <- rounds_of_start(rounds, variation, gain)
  } else if (!is.null(gain)) stop_unused("gain", "it is used with `variation` only")
  if (is.null(width)) {
    B <- check_number(B, lower = 0)
    moved <- if (is.null(every)) 0 else most_drift(variation, B, largest_prior(points, domain, kernel, noise_var)^2)
    width <- fixed_multiplier(B, noise_with_drift(check_number(R, lower = 0), moved),
                              check_number(noise_var, lower = 0, open_lower = TRUE), point_total(points),
                              check_delta(delta), bpe_looks(rounds, every))
  }
  parts <- gp_script_parts(domain, kernel, noise_var, width_constant(width), 0, mean, NULL, NULL, NULL, 0, least = 0)
  new_script_bandit("bpe", parts$domain, 0, NULL, parts$models, journal = journal, least = 0)
}

# Sizes of the batches that make up rounds 1, ..., T.
bpe_sizes <- function(rounds) {
  sizes <- integer()
  size <- 1
  while (sum(sizes) < rounds) {
    size <- ceiling(sqrt(rounds * size))
    sizes <- c(sizes, min(size, rounds - sum(sizes)))
  }
  sizes
}

# The number of rounds between restarts if the drift has this total variation.
rounds_of_start <- function(rounds, variation, gain) {
  max(1, min(rounds, ceiling(gain^(1 / 3) * (rounds / variation)^(2 / 3))))
}

# The number of batches. At the end of each, one decision eliminates points.
bpe_looks <- function(rounds, every = NULL) {
  if (is.null(every)) length(bpe_sizes(rounds)) else length(bpe_sizes(every)) * ceiling(rounds / every)
}

# A bound on |f - its mean over a batch|: the total variation, or twice the largest |f| of a function of norm B.
most_drift <- function(variation, B, variance) min(variation, 2 * B * sqrt(variance))

# The largest prior sd at these points.
largest_prior <- function(points, domain, kernel, noise_var) {
  inputs <- points$inputs
  colnames(inputs) <- model_names(domain)
  max(gp_bandit(finite_domain(inputs), kernel, noise_var, policy_variance())$posterior()$sd)
}

bpe_points <- function(domain) {
  if (can_count(domain)) return(all_points(domain))
  if (has_numbers(domain)) stop_argument("domain", describe_domain(domain), "arms or a box")
  spread_points(domain, min(1000, 250 * length(domain$names)))
}

# Each position in a batch's queue of points (a seat) is filled by one query. `again`: the seats whose query was lost,
# and the ids of the queries that replaced them.
propose_bpe <- function(bandit) {
  memory <- bandit$memory
  if (memory$batch == 0) memory <- next_batch(bandit, memory)
  repeat {
    ids <- bpe_seats(bandit, memory)
    status <- ifelse(is.na(ids), "unasked", status_of(bandit, ids))
    due <- which(is.na(ids) | (is_lost(status) & bandit$config$wait == "rewards"))
    if (length(due) || any(status == "pending" & bandit$config$wait == "rewards")) break
    memory <- next_batch(bandit, memory)
  }
  points <- bpe_points(bandit$config$domain)
  if (!length(due)) return(bpe_choice(bandit, points, free_point(bandit, memory, points), memory, "free"))
  seat <- due[1]
  if (!is.na(ids[seat])) {
    memory$again <- rbind(memory$again, c(seat, table_size(bandit$queries) + 1L))
  }
  bpe_choice(bandit, points, memory$queue[seat], memory, "policy")
}

bpe_choice <- function(bandit, points, row, memory, phase) {
  list(point = subset_points(points, row), memory = memory, phase = phase, width = model_width(models_of(bandit)[[1]]))
}

# The reward will never arrive, or does not count.
is_lost <- function(status) !status %in% c("observed", "pending", "unasked")

# The query in each seat, NA if there is none yet.
bpe_seats <- function(bandit, memory) {
  rounds <- table_size(bandit$queries)
  ids <- if (rounds > memory$start) seq(memory$start + 1L, rounds) else integer()
  ids <- setdiff(ids[phases_of(bandit, ids) == "policy"], memory$again[, 2])
  out <- ids[seq_along(memory$queue)]
  out[memory$again[, 1]] <- memory$again[, 2]
  out
}

next_batch <- function(bandit, memory) {
  config <- bandit$config
  points <- bpe_points(config$domain)
  asked <- table_size(bandit$queries)
  sizes <- bpe_sizes(or_else(config$every, config$rounds))
  before <- if (is.null(config$every)) memory$batch else memory$batch %% length(sizes)
  alive <- if (before == 0) seq_len(point_total(points)) else bpe_survivors(bandit, memory, points)
  queue <- most_varied(bandit, points, alive, sizes[min(before + 1, length(sizes))] + config$extra)
  # In random order, drift acts as noise of the batch's mean, not as bias.
  if (!is.null(config$every)) queue <- queue[sample.int(length(queue))]
  list(batch = memory$batch + 1, start = asked, queue = queue, again = matrix(0L, 0, 2), alive = alive,
       since = if (before == 0) asked else memory$since)
}

# A bandit over the points, without observations.
point_model <- function(bandit, points, policy = policy_variance(), ...) {
  config <- bandit$config
  one <- config$model_settings[[1]]
  inputs <- points$inputs
  colnames(inputs) <- model_names(config$domain)
  gp_bandit(finite_domain(inputs), one$kernel, one$noise_var, policy, mean = one$mean, ...)
}

# The points that remain after this batch, based on the rewards of its seats only.
bpe_survivors <- function(bandit, memory, points) {
  ids <- bpe_seats(bandit, memory)
  known <- status_of(bandit, ids) == "observed"
  model <- point_model(bandit, points)
  if (any(known)) model$add(arm = memory$queue[known], reward = bandit$queries$reward[ids[known]])
  p <- model$posterior(arm = memory$alive)
  w <- model_width(models_of(bandit)[[1]])
  memory$alive[p$mean + w * p$sd >= max(p$mean - w * p$sd)]
}

# A point for queries made while a batch waits: one of the remaining points, chosen from all queries at candidate
# points.
free_point <- function(bandit, memory, points) {
  model <- point_model(bandit, points, policy_pims(), pending = pending_hallucinate())
  first_asked(record_points(model, bandit, memory, points), alive_among(memory$alive, points), 1)
}

# Adds the queries at candidate points to `model` (under drift: those since the last restart), with observed rewards.
record_points <- function(model, bandit, memory, points) {
  ids <- seq_len(table_size(bandit$queries))
  if (!is.null(bandit$config$every)) ids <- ids[ids > memory$since]
  row <- match(row_keys(logged_points(bandit, ids)$inputs + 0), row_keys(points$inputs + 0))
  status <- status_of(bandit, ids)
  known <- which(status == "observed" & !is.na(row))
  pending <- which(status == "pending" & !is.na(row))
  if (length(known)) model$add(arm = row[known], reward = bandit$queries$reward[ids[known]])
  if (length(pending)) model$add(arm = row[pending])
  model
}

alive_among <- function(alive, points) as.integer(seq_len(point_total(points)) %in% alive)

# The points that a model over points would suggest, in order.
first_asked <- function(model, eligible, count) {
  model <- as.environment(model)
  ask(model, c(contexts_for(model, NULL, count), list(eligible = eligible)), NA_real_)
  utils::tail(table_column(model$queries, "arm"), count) + 1L
}

# Points chosen one after the other, each with the largest variance given those before it.
most_varied <- function(bandit, points, alive, size) {
  first_asked(point_model(bandit, points, pending = pending_hallucinate()), alive_among(alive, points), size)
}

recommend_bpe <- function(bandit) {
  points <- bpe_points(bandit$config$domain)
  alive <- if (bandit$memory$batch == 0) seq_len(point_total(points)) else bandit$memory$alive
  mean <- if (is.null(bandit$config$every)) model_posterior(models_of(bandit)[[1]], points, NULL)$mean
          else record_points(point_model(bandit, points), bandit, bandit$memory, points)$posterior()$mean
  mean[-alive] <- -Inf
  subset_points(points, which(mean >= max(mean) - 1e-9 * bandit$config$scale)[1])
}

register_script("bpe", list(
  title = "BPE (batched pure exploration)",
  settings = alist(rounds = check_count(rounds), wait = check_choice(wait, c("rewards", "rounds")),
                   extra = check_count(extra, lower = 0, upper = rounds),
                   every = if (!is.null(every)) check_count(every)),
  later = "every",
  phases = function(count) c("policy", "free"),
  state = function(config) {
    list(batch = 0, start = 0L, queue = integer(), again = matrix(0L, 0, 2), alive = NULL, since = 0L)
  },
  suggest = function(bandit, context) propose_bpe(bandit),
  recommend = function(bandit, context) recommend_bpe(bandit)
))
