#' Expected improvement per learned cost
#'
#' Where queries cost differently and nobody knows how much: the cost of every query is told with its reward, as `$observe(id, reward, constraints = cost)`, its
#' logarithm has a posterior of its own, and the largest expected improvement divided by \eqn{\exp(\mu_{\log c}(x))}{exp(mean of log cost)} is played. (A known cost: `policy_ei(cost = )`.)
#' `$posterior()` has `g1_mean` and `g1_sd`, of the logarithm. Compare by what was spent, not by rounds.
#'
#' @section Guarantee: none; it is what practitioners use (Snoek, Larochelle and Adams 2012, Section 3.2).
#' @inheritParams gp_bandit
#' @param cost_kernel prior covariance of the logarithm of the cost.
#' @param cost_noise_var noise variance of the logarithm, a number > 0.
#' @param cost_mean prior mean of the logarithm.
#' @return An object of reference class `BanditRival`, a `GPBandit`.
#' @section Errors: a `gpbandits_error` that names the argument; also where a cost that is told is not > 0.
#' @references Snoek, Larochelle and Adams (2012), Practical Bayesian optimization of machine learning algorithms <https://arxiv.org/abs/1206.2944>.
#' @examples
#' x <- seq(0, 1, length.out = 40)
#' b <- gp_ei_cost(x, kernel_se(0.2), noise_var = 0.01)
#' for (t in 1:8) {
#'   q <- b$suggest()
#'   b$observe(q$id, sin(6 * q$x1), constraints = exp(2 * q$x1))
#' }
#' sum(b$history()$g1)
#' @export
gp_ei_cost <- function(domain, kernel, noise_var, ..., cost_kernel = kernel, cost_noise_var = 0.01, cost_mean = 0,
                       mean = 0,
                       contexts = NULL, journal = NULL) {
  check_rival_dots(..., allowed = names(formals(gp_ei_cost)))
  parts <- gp_rival_parts(domain, kernel, noise_var, NULL, 1, mean, cost_kernel, cost_noise_var, NULL, cost_mean)
  new_rival("ei_cost", parts$domain, 1, contexts, parts$models, list(), journal)
}

propose_ei_cost <- function(rival, context) {
  models <- models_of(rival)
  played <- seq_len(table_size(rival$queries))
  f <- function(places) model_posterior(models[[1]], places, context)
  target <- if (length(played)) max(f(logged_places(rival, played))$mean) else models[[1]]$config$mean[1]
  score <- function(places) {
    p <- f(places)
    log_improvement(p$mean - target, p$sd) - model_posterior(models[[2]], places, context)$mean
  }
  list(place = best_place(rival, score, scale = 1)$places, memory = rival$memory, phase = "policy")
}

# log E max(gap + sd Z, 0), also where it underflows: phi(z) (1 + z Phi(z) / phi(z)), which is phi(z) / z^2 far below.
log_improvement <- function(gap, sd) {
  z <- gap / sd
  ratio <- exp(stats::pnorm(z, log.p = TRUE) - stats::dnorm(z, log = TRUE))
  left <- ifelse(z < -100, 1 / z^2, 1 + z * ratio)
  ifelse(sd > 0, log(sd) + stats::dnorm(z, log = TRUE) + log(left), log(pmax(gap, 0)))
}
