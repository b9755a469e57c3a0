# Risk-averse optimisation (RAHBO). Layer: algorithms.

# A rule in R (bandit-script.R): the data of its two models, sample variances and means at replicated points, are
# computed again from the log. The core computes the acquisition value (point_of_sum()).

#' Risk-averse Bayesian optimisation (RAHBO): mean minus variance of the noise
#'
#' RAHBO maximises the mean of the reward minus a multiple of its noise variance (Makarova et al. 2021). Use it for
#' heteroscedastic noise, if less variable results are worth a lower mean. The objective is
#' \deqn{f(x) - \alpha\rho^2(x),}{f(x) - alpha rho^2(x),}
#' where \eqn{\rho^2(x)}{rho^2(x)} is the unknown noise variance at \eqn{x}.
#'
#' Each selected point is queried `repeats` = \eqn{k} times in a row. There are two Gaussian-process models:
#'
#' * The sample variance \eqn{s^2} of the rewards observed at a point is an observation of \eqn{\rho^2}{rho^2}. Its
#'   model has the prior mean `noise_var` and the kernel `variance_kernel`.
#' * The sample mean of the \eqn{n} rewards at a point is an observation of \eqn{f}, with noise variance
#'   \eqn{u_{\rho^2}(x)/n}{u_rho2(x) / n}.
#'
#' With \eqn{u} and \eqn{l} the upper and lower confidence bounds of each model (see [widths]), the next point is
#' \deqn{\arg\max_x u_f(x) - \alpha\max(l_{\rho^2}(x), 0).}{argmax u_f(x) - alpha max(l_rho2(x), 0).}
#'
#' `$best()` is the queried point with the largest \eqn{l_f - \alpha u_{\rho^2}}{l_f - alpha u_rho2}. `$posterior()` is
#' that of \eqn{f}. In the history, `phase` is `"policy"` for the first query of a point and `"repeat"` for the others.
#'
#' @section Guarantee: Makarova et al. (2021) prove a bound of the risk-averse regret for widths that give confidence
#'   bounds of both functions. It is not restated here. The constant default width is that of their experiments and
#'   outside the theorem.
#' @inheritParams gp_bandit
#' @param noise_var the prior mean of \eqn{\rho^2}{rho^2}, a number > 0 in squared units of the reward.
#' @param alpha \eqn{\alpha}{alpha}, the cost of a unit of variance, a number >= 0 in inverse units of the
#'   reward.
#' @param ... must be empty.
#' @param variance_kernel the prior covariance of \eqn{\rho^2}{rho^2}, a [kernel][kernel_se()] in squared units of
#'   variances.
#' @param repeats \eqn{k}, the number of queries at each point, an integer >= 2. 10 by default.
#' @param width,variance_width the confidence widths of \eqn{f} and of \eqn{\rho^2}{rho^2} (multipliers of the posterior
#'   standard deviation), see [widths]. By default \eqn{\sqrt2}{sqrt(2)} for both.
#' @param variance_noise the noise variance of a sample variance, a number > 0. `NULL`, the default, is
#'   `2 * noise_var^2 / (repeats - 1)`, which is that of normal noise.
#' @param trust a flag: may functions in the settings be written to a journal, and run when it is opened? `FALSE` by
#'   default.
#' @return An object of reference class `ScriptedBandit`, a [GPBandit].
#' @references Makarova, Usmanova, Bogunovic and Krause (2021), Risk-averse heteroscedastic Bayesian optimization
#'   <https://arxiv.org/abs/2111.03637>.
#' @concept risk-averse Bayesian optimization
#' @concept heteroscedastic noise
#' @concept mean-variance
#' @concept robust Bayesian optimization
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
  rho <- gp_script_parts(domain, variance_kernel, variance_noise, check_script_width(variance_width, "variance_width"),
                        0, f$models[[1]]$noise_var, NULL, NULL, NULL, 0, least = 0)
  new_script_bandit("rahbo", f$domain, 0, contexts, c(f$models, rho$models), journal = journal, least = 0,
            trust = trust)
}

# Ids of the queries with observed rewards, grouped by point.
known_by_point <- function(bandit) {
  ids <- which(status_of(bandit, seq_len(table_size(bandit$queries))) == "observed")
  at <- cbind(bandit$queries$arm[ids], bandit$queries$context[ids], cpp_logged_inputs(bandit$queries, ids))
  at[is.na(at)] <- -1
  if (length(ids)) unname(split(ids, match_rows(at, at))) else list()
}

# First rho^2 from sample variances, then f from sample means, with the upper bounds of rho^2 as their noise variances.
models_rahbo <- function(bandit) {
  models <- script_models(bandit$config)
  groups <- known_by_point(bandit)
  if (length(groups) == 0) return(models)
  rewards <- lapply(groups, function(ids) bandit$queries$reward[ids])
  first <- vapply(groups, function(ids) as.integer(ids[1]), 1L)
  several <- lengths(groups) > 1
  if (any(several)) teach_model(models[[2]], bandit, first[several], vapply(rewards[several], stats::var, 0), NA_real_)
  upper <- variance_bound(models[[2]], bandit, logged_points(bandit, first), 1)
  teach_model(models[[1]], bandit, first, vapply(rewards, base::mean, 0), upper / lengths(groups))
  models
}

# The upper (side = 1) or lower (-1) bound of rho^2 at points. The lower bound is at least 0. The upper bound is used as
# a noise variance and has a small positive minimum, for numerical reasons.
variance_bound <- function(model, bandit, points, side, context = points$contexts) {
  p <- model_posterior(model, points, context)
  bound <- p$mean + side * model_width(model) * p$sd
  pmax(bound, if (side > 0) 1e-6 * bandit$config$noise_var else 0)
}

propose_rahbo <- function(bandit, context) {
  models <- models_of(bandit)
  width <- model_width(models[[1]])
  again <- rahbo_repeat(bandit, context)
  if (!is.null(again)) return(list(point = again, memory = bandit$memory, phase = "repeat", width = width))
  point <- point_of_sum(bandit, models, context, c(1, -bandit$config$alpha), c(width, -model_width(models[[2]])),
                        floored = c(FALSE, TRUE))
  list(point = point, memory = bandit$memory, phase = "policy", width = width)
}

# The point that is being replicated; NULL if it has enough replicates, or if the context is a different one.
rahbo_repeat <- function(bandit, context) {
  phase <- phases_of(bandit, seq_len(table_size(bandit$queries)))
  start <- max(0, which(phase == "policy"))
  if (start == 0 || sum(phase[seq(start, length(phase))] != "given") >= bandit$config$repeats) return(NULL)
  point <- logged_points(bandit, start)
  if (!is.null(context) && any(point$contexts != context)) return(NULL)
  point
}

recommend_rahbo <- function(bandit, context) {
  models <- models_of(bandit)
  played <- known_by_point(bandit)
  if (length(played) == 0) return(recommend_by_shown(bandit, context))
  points <- logged_points(bandit, vapply(played, function(ids) as.integer(ids[1]), 1L))
  if (!is.null(context)) {
    here <- which(colSums(t(points$contexts) != as.vector(context)) == 0)
    if (length(here) == 0) return(recommend_by_shown(bandit, context))
    points <- c(subset_points(points, here), list(contexts = points$contexts[here, , drop = FALSE]))
  }
  p <- model_posterior(models[[1]], points, context)
  risk <- bandit$config$alpha * variance_bound(models[[2]], bandit, points, 1, context)
  score <- p$mean - model_width(models[[1]]) * p$sd - risk
  subset_points(points, which.max(score))
}

register_script("rahbo", list(
  title = "RAHBO (risk-averse)",
  settings = alist(alpha = check_number(alpha, lower = 0), repeats = check_count(repeats, lower = 2)),
  phases = function(count) c("policy", "repeat"),
  state = function(config) list(),
  suggest = function(bandit, context) propose_rahbo(bandit, context),
  recommend = function(bandit, context) recommend_rahbo(bandit, context),
  models = function(bandit) models_rahbo(bandit),
  random = FALSE
))
