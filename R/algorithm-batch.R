# GP-UCB-PE and TS-RSR for batches. Layer: algorithms.

#' Batch Bayesian optimisation with regret bounds: GP-UCB-PE and TS-RSR
#'
#' These bandits select several queries before any of their rewards is observed. (PE: pure exploration; TS-RSR: Thompson
#' sampling, regret-to-sigma ratio.) Use them for batches and parallel evaluations. They are presets of [gp_bandit()].
#'
#' A query is *pending* until its reward is observed. Both algorithms include pending queries in the posterior standard
#' deviation (sd) but not in the mean ([pending_hallucinate()]). A batch is therefore `$suggest(n)`, and delayed rewards
#' are treated as overlapping batches. \eqn{w} is the confidence width ([widths]), the multiplier of the sd.
#'
#' * `gp_ucb_pe()` (GP-UCB with pure exploration, Contal et al. 2013) selects, if nothing is pending,
#'   \deqn{\arg\max_x \mu(x) + w\sigma(x).}{argmax mu(x) + w sd(x).}
#'
#'   Otherwise it selects the candidate of largest \eqn{\sigma}{sd}, given the pending queries, among those with
#'   \deqn{\mu(x) + 2w\sigma(x) \ge \max_{x'}(\mu(x') - w\sigma(x')).}{mu(x) + 2 w sd(x) >= max over x' of (mu(x') -
#'   w sd(x')).}
#'   This condition uses observed rewards only. `$suggest(K)` with all earlier rewards observed gives the batches of the
#'   paper.
#' * `ts_rsr()` (Ren and Li 2024) takes, for every query, a new joint draw from the posterior given the observed rewards
#'   ([policy_pims()]). With \eqn{g^*}{g*} the largest value of the draw and \eqn{\sigma}{sd} given the pending queries,
#'   it selects
#'   \deqn{\arg\min_x (g^* - \mu(x))/\sigma(x),}{argmin (g* - mu(x)) / sd(x),}
#'   the ratio of sampled regret to remaining uncertainty. It has no tuning parameters.
#'
#' @section Guarantee: `gp_ucb_pe()` with `width_srinivas_finite(delta)`, on arms, for \eqn{f} drawn from the prior: the
#'   regret of the best query of each batch is bounded in the order of GP-UCB's divided by \eqn{\sqrt K}{sqrt(K)}
#'   (Contal et al. 2013).
#'
#'   For all queries, in batches or with overlapping delays, [regret_bound()] (`"gp_ucb_pe"`) has a bound that is an
#'   original result, not peer-reviewed. If pending queries never carry more than \eqn{G} nats of information, the
#'   regret with any width that holds in all rounds is at most
#'   \deqn{5e^Gw_T\sqrt{cT\gamma_T}.}{5 exp(G) w_T sqrt(c T gamma_T).}
#'
#'   `ts_rsr()` without pending queries is PIMS, which has a bound of its expected regret (see [policies]). For batches
#'   Ren and Li (2024) bound the regret of their algorithm.
#' @inheritParams gp_ucb
#' @param width the confidence width of `gp_ucb_pe()`, see [widths]. `NULL`, the default, is
#'   `width_srinivas_finite(delta)` on arms; a box needs a width.
#' @return A [GPBandit], with methods such as `$suggest()` and `$observe()`.
#' @references Contal, Buffoni, Robicquet and Vayatis (2013), Parallel Gaussian process optimization with upper
#'   confidence bound and pure exploration <https://arxiv.org/abs/1304.5350>; Ren and Li (2024), TS-RSR: a provably
#'   efficient approach for batch Bayesian optimization <https://arxiv.org/abs/2403.04764>.
#' @concept batch Bayesian optimization
#' @concept parallel Bayesian optimization
#' @concept Thompson sampling
#' @concept pure exploration
#' @seealso [gp_bucb()] and its `guard`.
#' @examples
#' x <- seq(0, 1, length.out = 100)
#' b <- gp_ucb_pe(x, kernel_se(0.2), noise_var = 0.01)
#' batch <- b$suggest(4)
#' b$observe(batch$id, sin(6 * batch$x1))
#' set.seed(1)
#' ts_rsr(x, kernel_se(0.2), noise_var = 0.01)$suggest(4)
#' @export
gp_ucb_pe <- function(domain, kernel, noise_var, ..., width = NULL, delta = 0.1) {
  domain <- as_domain(domain)
  check_delta(delta)
  if (is.null(width)) width <- width_of_finite(domain, delta)
  preset(list(policy = new_policy("ucb_pe"), pending = pending_hallucinate()), domain, kernel, noise_var, ...)
}

#' @rdname gp_ucb_pe
#' @export
ts_rsr <- function(domain, kernel, noise_var, ...) {
  preset(list(policy = policy_pims(), pending = pending_hallucinate()), domain, kernel, noise_var, ...)
}
