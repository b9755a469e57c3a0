# Risk-averse optimisation (RAHBO). Layer: algorithms.

# A rule in R (bandit-script.R): what its two models learn, variances and means of places played again and again, is
# made anew from the log. Its score is the core's (place_of_sum()).

#' Risk-averse: mean minus variance of the noise
#'
#' RAHBO (Makarova et al. 2021) maximises \eqn{f(x) - \alpha\rho^2(x)}{f(x) - alpha rho^2(x)}, \eqn{\rho^2(x)}{rho^2(x)}
#' the unknown variance of the noise at \eqn{x}. Every place is played `repeats` = \eqn{k} times in a row; the sample
#' variance \eqn{s^2} of what is known there is an observation of \eqn{\rho^2}{rho^2}, whose posterior has the prior
#' mean `noise_var` and the kernel `variance_kernel`; the mean is one of \eqn{f}, with noise variance
#' \eqn{u_{\rho^2}(x)/n}{u_rho2(x) / n}, \eqn{u} the upper bound, \eqn{n} the rewards there. Next is
#' \deqn{\arg\max_x u_f(x) - \alpha\max(l_{\rho^2}(x), 0);}{argmax u_f(x) - alpha max(l_rho2(x), 0);}
#' `$best()` is the place played with the largest \eqn{l_f - \alpha u_{\rho^2}}{l_f - alpha u_rho2}. `$posterior()` is
#' \eqn{f}'s. History's `phase` is `"policy"`, then `"repeat"`.
#'
#' @section Guarantee: Makarova et al. (2021) prove a bound of the risk-averse regret for widths that are confidence
#'   bounds of both functions; it is not restated here. The constant default width is their practice, outside the
#'   theorem.
#' @inheritParams gp_bandit
#' @param noise_var prior mean of \eqn{\rho^2}{rho^2}, a number > 0.
#' @param alpha \eqn{\alpha}{alpha}, how much a unit of variance costs, a number >= 0.
#' @param variance_kernel prior covariance of \eqn{\rho^2}{rho^2}, in squared units of variances.
#' @param repeats \eqn{k}, a whole number >= 2.
#' @param width,variance_width widths of \eqn{f} and of \eqn{\rho^2}{rho^2}, see [widths].
#' @param variance_noise noise variance of a sample variance; `NULL`: `2 * noise_var^2 / (repeats - 1)`, that of normal
#'   noise.
#' @return An object of reference class `ScriptedBandit`, a `GPBandit`.
#' @section Errors: a `gpbandits_error` that names the argument.
#' @references Makarova, Usmanova, Bogunovic and Krause (2021), Risk-averse heteroscedastic Bayesian optimization
#'   <https://arxiv.org/abs/2111.03637>.
#' @seealso `noise_var` of single rewards in [gp_bandit()].
#' @examples
#' x <- seq(0, 1, length.out = 40)
#' f <- sin(6 * x)
#' rho <- 0.05 + 0.6 * (x < 0.5) # noisy where f is largest
#' b <- rahbo(x, kernel_se(0.2), noise_var = 0.1, alpha = 2,
#'            variance_kernel = kernel_se(0.2, 0.04), repeats = 5)
#' set.seed(1)
#' for (t in 1:50) {
#'   q <- b$suggest()
#'   b$observe(q$id, f[q$arm] + rnorm(1, sd = rho[q$arm]))
#' }
#' b$best()
#' @export
rahbo <- function(domain, kernel, noise_var, alpha, variance_kernel, repeats = 10, ..., width = width_constant(sqrt(2)),
                  variance_width = width, variance_noise = NULL, mean = 0, contexts = NULL, journal = NULL,
                  trust = FALSE) {
  check_script_dots(..., allowed = names(formals(rahbo)))
  variance_kernel <- as_kernel(variance_kernel, "variance_kernel")
  alpha <- check_number(alpha, lower = 0)
  repeats <- check_count(repeats, lower = 2)
  f <- gp_script_parts(domain, kernel, noise_var, check_script_width(width), 0, mean, NULL, NULL, NULL, 0, least = 0)
  if (is.null(variance_noise)) variance_noise <- 2 * f$models[[1]]$noise_var^2 / (repeats - 1)
  rho <- gp_script_parts(domain, variance_kernel, variance_noise, check_script_width(variance_width, "variance_width"), 0,
                        f$models[[1]]$noise_var, NULL, NULL, NULL, 0, least = 0)
  new_script_bandit("rahbo", f$domain, 0, contexts, c(f$models, rho$models), journal = journal, least = 0,
            trust = trust)
}

# Ids of queries whose rewards are known, place by place.
known_by_place <- function(bandit) {
  ids <- which(status_of(bandit, seq_len(table_size(bandit$queries))) == "observed")
  at <- cbind(bandit$queries$arm[ids], bandit$queries$context[ids], cpp_logged_inputs(bandit$queries, ids))
  at[is.na(at)] <- -1
  if (length(ids)) unname(split(ids, match_rows(at, at))) else list()
}

# rho^2 from sample variances, then f from means with the upper bounds of rho^2 as their noise.
models_rahbo <- function(bandit) {
  models <- script_models(bandit$config)
  groups <- known_by_place(bandit)
  if (length(groups) == 0) return(models)
  rewards <- lapply(groups, function(ids) bandit$queries$reward[ids])
  first <- vapply(groups, function(ids) as.integer(ids[1]), 1L)
  several <- lengths(groups) > 1
  if (any(several)) teach_model(models[[2]], bandit, first[several], vapply(rewards[several], stats::var, 0), NA_real_)
  upper <- variance_bound(models[[2]], bandit, logged_places(bandit, first), 1)
  teach_model(models[[1]], bandit, first, vapply(rewards, base::mean, 0), upper / lengths(groups))
  models
}

# The upper (side = 1) or lower (-1) bound of rho^2 at places: a variance is not below 0, and not so small that no
# reward could be learned.
variance_bound <- function(model, bandit, places, side, context = places$contexts) {
  p <- model_posterior(model, places, context)
  bound <- p$mean + side * model_width(model) * p$sd
  pmax(bound, if (side > 0) 1e-6 * bandit$config$noise_var else 0)
}

propose_rahbo <- function(bandit, context) {
  models <- models_of(bandit)
  width <- model_width(models[[1]])
  again <- rahbo_repeat(bandit, context)
  if (!is.null(again)) return(list(place = again, memory = bandit$memory, phase = "repeat", width = width))
  place <- place_of_sum(bandit, models, context, c(1, -bandit$config$alpha), c(width, -model_width(models[[2]])),
                        floored = c(FALSE, TRUE))
  list(place = place, memory = bandit$memory, phase = "policy", width = width)
}

# The place under way, NULL where it has been played often enough, or the context is another.
rahbo_repeat <- function(bandit, context) {
  phase <- phases_of(bandit, seq_len(table_size(bandit$queries)))
  start <- max(0, which(phase == "policy"))
  if (start == 0 || sum(phase[seq(start, length(phase))] != "given") >= bandit$config$repeats) return(NULL)
  place <- logged_places(bandit, start)
  if (!is.null(context) && any(place$contexts != context)) return(NULL)
  place
}

recommend_rahbo <- function(bandit, context) {
  models <- models_of(bandit)
  played <- known_by_place(bandit)
  if (length(played) == 0) return(recommend_by_shown(bandit, context))
  places <- logged_places(bandit, vapply(played, function(ids) as.integer(ids[1]), 1L))
  if (!is.null(context)) {
    here <- which(colSums(t(places$contexts) != as.vector(context)) == 0)
    if (length(here) == 0) return(recommend_by_shown(bandit, context))
    places <- c(subset_places(places, here), list(contexts = places$contexts[here, , drop = FALSE]))
  }
  p <- model_posterior(models[[1]], places, context)
  risk <- bandit$config$alpha * variance_bound(models[[2]], bandit, places, 1, context)
  score <- p$mean - model_width(models[[1]]) * p$sd - risk
  subset_places(places, which.max(score))
}

register_script("rahbo", list(
  title = "RAHBO (risk-averse)",
  settings = alist(alpha = check_number(alpha, lower = 0), repeats = check_count(repeats, lower = 2)),
  phases = function(count) c("policy", "repeat"),
  begin = function(config) list(),
  propose = function(bandit, context) propose_rahbo(bandit, context),
  recommend = function(bandit, context) recommend_rahbo(bandit, context),
  models = function(bandit) models_rahbo(bandit),
  random = FALSE
))
