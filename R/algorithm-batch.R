# GP-UCB-PE and TS-RSR for batches. Layer: algorithms.

#' Batches with bounds: GP-UCB-PE and TS-RSR
#'
#' Presets of [gp_bandit()] for several queries at a time. Both know pending queries through the variance
#' ([pending_hallucinate()]), so that a batch is `$suggest(n)`, and delays are batches that overlap.
#'
#' `gp_ucb_pe()` (Contal et al. 2013): with nothing pending it plays \eqn{\arg\max \mu + w\sigma}{argmax mu + w sd}.
#' While rewards are awaited it explores: the largest \eqn{\sigma}{sd}, pending queries known, among the places where
#' \eqn{\mu + 2w\sigma}{mu + 2 w sd} reaches \eqn{\max(\mu - w\sigma)}{max(mu - w sd)}, both from real rewards only.
#' `$suggest(K)` with all rewards observed before gives the paper's batches.
#'
#' `ts_rsr()` (Ren and Li 2024): [policy_pims()], a fresh joint draw for every query from the posterior given the real
#' rewards, with its largest value \eqn{g^*}{g*}, and \eqn{\arg\min (g^* - \mu)/\sigma}{argmin (g* - mu) / sd} with the
#' \eqn{\sigma}{sd} that knows pending queries: the ratio of sampled regret to what there is to learn. Nothing to tune.
#'
#' @section Guarantee: `gp_ucb_pe()` has a regret bound of the order of GP-UCB's for the best query of each batch
#'   divided by \eqn{\sqrt K}{sqrt(K)}, \eqn{f} drawn from the prior, on arms (Contal et al. 2013), with
#'   `width_srinivas_finite(delta)`. For all queries, in batches or with delays that overlap, [regret_bound()] has one
#'   that is derived here (`"gp_ucb_pe"`): \eqn{5e^Gw_T\sqrt{cT\gamma_T}}{5 exp(G) w_T sqrt(c T gamma_T)} for any width
#'   that holds in all rounds, where pending queries never hold more than \eqn{G} nats of information. `ts_rsr()`
#'   without pending queries is PIMS, whose expected regret is bounded (see [policies]); for batches Ren and Li bound
#'   the regret of theirs.
#' @inheritParams gp_ucb
#' @param width a [width][widths]; `NULL`: `width_srinivas_finite(delta)` on arms.
#' @return An object of class `GPBandit`, see [gp_bandit()].
#' @section Errors: as [gp_bandit()].
#' @references Contal, Buffoni, Robicquet and Vayatis (2013), Parallel Gaussian process optimization with upper
#'   confidence bound and pure exploration <https://arxiv.org/abs/1304.5350>; Ren and Li (2024), TS-RSR: a provably
#'   efficient approach for batch Bayesian optimization <https://arxiv.org/abs/2403.04764>.
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
  if (is.null(width)) {
    if (!can_count(domain)) stop_argument("width", "NULL", "given on a box, for example width_constant(2)")
    width <- width_srinivas_finite(delta)
  }
  preset(list(policy = new_policy("ucb_pe"), pending = pending_hallucinate()), domain, kernel, noise_var, ...)
}

#' @rdname gp_ucb_pe
#' @export
ts_rsr <- function(domain, kernel, noise_var, ...) {
  preset(list(policy = policy_pims(), pending = pending_hallucinate()), domain, kernel, noise_var, ...)
}
