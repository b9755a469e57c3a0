# Algorithms for unknown lengthscales: A-GP-UCB and LB-GP-UCB. Layer: algorithms.

# These are rules in R (bandit-script.R), not policies of the core. Several posteriors condition on the same rewards.
# The rewards of each posterior's earlier plays decide which one is used next, and a dropped candidate is never used
# again. This is a state in addition to the log. The core computes the acquisition value (point_of_sum()).

#' GP-UCB with unknown lengthscales: LB-GP-UCB and A-GP-UCB
#'
#' Bayesian optimisation with a regret bound if only an upper bound of the kernel's lengthscale is known. `kernel` has
#' that upper bound, \eqn{\theta_0}{theta_0}, and `B` bounds the RKHS norm of \eqn{f} there. A function of a shorter
#' lengthscale \eqn{\theta}{theta} has norm at most
#' \deqn{B(\theta) = (\theta_0/\theta)^{d/2}B.}{B(theta) = (theta_0 / theta)^(d/2) B.}
#'
#' The candidate lengthscales are
#' \deqn{q_i = \theta_0e^{-i/d},\quad q_i\ge\theta_0/g(t).}{q_i = theta_0 exp(-i / d),  q_i >= theta_0 / g(t).}
#'
#' All lengthscales of the kernel are divided by the same factor. Each candidate has its own posterior, conditioned on
#' all observations.
#'
#' `method = "balanced"` (LB-GP-UCB, Ziomek, Adachi and Osborne 2024) balances the candidates by their suspected regret.
#' It selects the candidate with the smallest
#' \deqn{\sqrt{n\gamma}(\sqrt\gamma + B(\theta)).}{sqrt(n gamma) (sqrt(gamma) + B(theta)).}
#'
#' Here \eqn{n} is the number of its plays, including this one, and \eqn{\gamma}{gamma} is `rate(n)` divided by the
#' product of its lengthscales. With this candidate it then selects the point
#' \deqn{\arg\max_x\mu_\theta(x) + \beta_\theta\sigma_\theta(x),\quad
#'   \beta_\theta = B(\theta) + R\sqrt{2(\gamma_\theta+1+\log(2/\delta))}.}{argmax mu_theta(x) + beta_theta sd_theta(x),
#' beta_theta = B(theta) + R sqrt(2 (gamma_theta + 1 + log(2 / delta))).}
#'
#' Here \eqn{\beta_\theta}{beta_theta} is the confidence width ([widths]), the multiplier of the posterior standard
#' deviation (sd), and \eqn{\gamma_\theta}{gamma_theta} is the candidate's realised information gain. A candidate is
#' discarded once all have rewards and
#' \deqn{(S+2W)/n + \sqrt{\xi_t/n} < \max_{\theta'}(S'/n'-\sqrt{\xi_t/n'}),\quad
#'   \xi_t = 2R^2\log(m\pi^2t^2/(3\delta)).}{(S + 2 W) / n + sqrt(xi_t / n) < the largest S' / n' - sqrt(xi_t / n'),
#' xi_t = 2 R^2 log(m pi^2 t^2 / (3 delta)).}
#'
#' Here \eqn{S} is the sum of the candidate's rewards, \eqn{W} that of \eqn{\beta_\theta\sigma_\theta}{beta_theta
#' sd_theta} at its points, and \eqn{m} the number of candidates.
#'
#' `method = "adaptive"` (A-GP-UCB, Berkenkamp, Schoellig and Krause 2019) is GP-UCB with the last candidate that
#' \eqn{g(t)} allows, and norm bound \eqn{b(t)B(\theta)}{b(t) B(theta)}. The width is
#' \deqn{b(t)B(\theta) + R\sqrt{2(\gamma_\theta + 1 + \log(1/\delta_i))},\quad
#'   \delta_i = \delta/((i+1)(i+2)).}{b(t) B(theta) + R sqrt(2 (gamma_theta + 1 + log(1/delta_i))),
#' delta_i = delta / ((i + 1) (i + 2)).}
#'
#' In the history, `phase` is the candidate used (`"scale0"` for \eqn{\theta_0}{theta_0}, ...), and `mean`, `sd` and
#' `width` are those of that candidate. `$posterior()` and `$best()` use the candidate of the last query.
#'
#' @section Guarantee: `"balanced"`: with probability \eqn{1-\delta}{1 - delta} the regret is of the order of
#'   \eqn{d\log g(T)}{d log g(T)} times that of GP-UCB with the true lengthscale. `"adaptive"`: that factor is
#'   \eqn{b(T)g(T)^d}{b(T) g(T)^d}. For the squared-exponential kernel that is sublinear if \eqn{g = t^a} with
#'   \eqn{ad < 1/2}{a d < 1/2}.
#'
#'   Both need \eqn{\theta_0}{theta_0} no less than the true lengthscale, a \eqn{g(t)} that has reached it, and
#'   `R`-sub-Gaussian noise. The width needs \eqn{\lambda = 1+2/T}{lambda = 1 + 2/T}, as [width_igp()] does. There is no
#'   theorem for refitting instead ([refit_every()]).
#' @section Methods: Those of a [GPBandit], as for the baselines in [baseline_constrained()].
#' @inheritParams igp_ucb
#' @param kernel the kernel at the largest lengthscale: [kernel_se()] or [kernel_matern()].
#' @param B a bound of the RKHS norm of \eqn{f} at the largest lengthscale, a number >= 0.
#' @param method `"adaptive"` (the default) or `"balanced"`.
#' @param growth \eqn{g}, a nondecreasing function of the round, >= 1. `NULL`, the default, is
#'   \eqn{t^{1/(4d)}}{t^(1 / (4 d))} for `"adaptive"`. For `"balanced"` it is \eqn{\max(e^{4/d},\sqrt t)}{max(exp(4/d),
#'   sqrt(t))}, which starts with five candidates.
#' @param rate the growth of the information gain (`"balanced"` only), a function of \eqn{n}. `NULL`, the default, is
#'   \eqn{\log^{d+1}(n+1)}{log(n + 1)^(d + 1)}, or for Matern kernels \eqn{n^{d/(2\nu+d)}\log(n+1)}{n^(d / (2 nu + d))
#'   log(n + 1)}.
#' @param norm_growth \eqn{b} (`"adaptive"` only), a function of the round. `NULL`, the default, is 1 in every round.
#' @param rounds \eqn{T}, an integer >= 1, after which \eqn{g} does not grow. 1000 by default.
#' @param ... `mean`, `contexts`, `journal` and `trust` of [gp_bandit()]. A journal needs `trust = TRUE`, because
#'   `growth`, `rate` and `norm_growth` are functions.
#' @return An object of reference class `ScriptedBandit`, a [GPBandit].
#' @references Ziomek, Adachi and Osborne (2024), Bayesian optimisation with unknown hyperparameters: regret bounds
#'   logarithmically closer to optimal <https://arxiv.org/abs/2410.10384>; Berkenkamp, Schoellig and Krause (2019),
#'   No-regret Bayesian optimization with unknown hyperparameters <https://arxiv.org/abs/1901.03357>.
#' @concept unknown hyperparameters
#' @concept lengthscale
#' @concept misspecified kernel
#' @concept upper confidence bound
#' @seealso [refit_every()], [regret_bound()].
#' @examples
#' x <- seq(0, 1, length.out = 80)
#' problem <- bandit_problem(x, sin(20 * x), noise = 0.1)
#' b <- gp_ucb_lengthscale(x, kernel_se(1), noise_var = 0.01, B = 1, R = 0.1, method = "balanced")
#' set.seed(1)
#' run <- run_bandit(b, problem, 40)
#' table(as.data.frame(run)$phase)
#' @export
gp_ucb_lengthscale <- function(domain, kernel, noise_var, B, R, delta = 0.1, method = c("adaptive", "balanced"), ...,
                               growth = NULL, rate = NULL, norm_growth = NULL, rounds = 1000) {
  method <- check_choice(method, c("adaptive", "balanced"))
  kernel <- as_kernel(kernel)
  check_delta(delta)
  check_bound(B)
  check_bound(R)
  if (method == "adaptive" && !is.null(rate)) stop_unused("rate", "it is for `method = \"balanced\"`")
  if (method == "balanced" && !is.null(norm_growth)) {
    stop_unused("norm_growth", "it is for `method = \"adaptive\"`")
  }
  lengthscale_bandit(domain, kernel, noise_var, B, R, delta, method, growth, rate, norm_growth, rounds, ...)
}

lengthscale_bandit <- function(domain, kernel, noise_var, B, R, delta, method, growth, rate, norm_growth, rounds, ...,
                               mean = 0, contexts = NULL, journal = NULL, trust = FALSE) {
  check_script_dots(..., allowed = names(formals(lengthscale_bandit)))
  adaptive <- method == "adaptive"
  settings <- scale_settings(domain, kernel, contexts, growth, if (adaptive) sublinear_growth else five_at_first,
                             rounds)
  if (adaptive) {
    settings$norm_growth <- if (is.null(norm_growth)) no_growth else check_function(norm_growth)
    widths <- function(i) width_igp(B * exp(i / 2), R, delta / ((i + 1) * (i + 2)))
  } else {
    settings$rate <- if (!is.null(rate)) check_function(rate) else default_rate(kernel, settings$d)
    settings[c("R", "delta")] <- list(R, delta)
    widths <- function(i) width_gp_ts(B * exp(i / 2), R, delta)
  }
  new_scale_bandit(paste0(method, "_lengthscale"), domain, kernel, noise_var, mean, widths, settings, contexts, journal,
                  trust)
}

scale_phases <- paste0("scale", 0:99)

# ---- settings -----------------------------------------------------------------

scale_rule_settings <- alist(
  d = check_count(d), growth = check_function(growth), rounds = check_count(rounds),
  scales = check_count(scales, upper = length(scale_phases)), volume = check_numbers(volume, lengths = scales),
  norm = check_numbers(norm, lengths = scales)
)

scale_settings <- function(domain, kernel, contexts, growth, default, rounds) {
  kernel_smoothness(kernel, allowed = "kernel_se() or kernel_matern(), whose lengthscale shrinks")
  domain <- as_domain(domain)
  d <- if (!is.null(kernel$dims)) length(kernel$dims)
       else length(domain$names) + length(check_contexts(contexts, domain)$names)
  settings <- list(d = d, growth = if (is.null(growth)) default(d) else check_function(growth),
                   rounds = check_count(rounds))
  settings$scales <- scales_at(settings, settings$rounds)
  settings
}

# The number of candidate lengthscales in round t.
scales_at <- function(settings, t) {
  g <- call_user(settings$growth(min(t, settings$rounds)), "growth", sprintf("in round %g", t))
  if (!is_number(g) || length(g) != 1 || !isTRUE(g >= 1)) {
    stop_returned("growth", g, "a number >= 1")
  }
  min(1 + floor(settings$d * log(g) + 1e-9), length(scale_phases))
}

# The environment of these functions is stored with them, so it must contain nothing but their numbers.
five_at_first <- function(d) {
  force(d)
  function(t) max(exp(4 / d), sqrt(t))
}

sublinear_growth <- function(d) {
  force(d)
  function(t) t^(1 / (4 * d))
}

no_growth <- function(t) 1

default_rate <- function(kernel, d) {
  force(d)
  nu <- kernel_smoothness(kernel)
  if (is.infinite(nu)) function(n) log(n + 1)^(d + 1) else function(n) n^(d / (2 * nu + d)) * log(n + 1)
}

new_scale_bandit <- function(rule, domain, kernel, noise_var, mean, widths, settings, contexts, journal, trust) {
  models <- lapply(seq_len(settings$scales) - 1, function(i) {
    shorter <- kernel
    shorter$lengthscale <- kernel$lengthscale * exp(-i / settings$d)
    gp_script_parts(domain, shorter, noise_var, widths(i), 0, mean, NULL, NULL, NULL, 0, least = 0)$models[[1]]
  })
  size <- prod(rep_len(kernel$lengthscale, settings$d))
  settings$volume <- size * exp(-(seq_along(models) - 1))
  settings$norm <- vapply(models, function(model) model$width$B, 0)
  new_script_bandit(rule, as_domain(domain), 0, contexts, models, list2env(settings), journal, least = 0, trust = trust)
}

# ---- the choice ---------------------------------------------------------------

# For each query the index of its candidate lengthscale, NA for points that the user supplied.
scales_played <- function(bandit) match(phases_of(bandit, seq_len(table_size(bandit$queries))), scale_phases)

last_scale <- function(bandit) {
  played <- scales_played(bandit)
  played <- played[!is.na(played)]
  if (length(played)) played[length(played)] else 1
}

play_scale <- function(bandit, context, j, memory, width = model_width(models_of(bandit)[[j]])) {
  point <- point_of_sum(bandit, models_of(bandit)[j], context, width = width)
  list(point = point, memory = memory, phase = scale_phases[j], width = width, model = j)
}

propose_shrinking <- function(bandit, context) {
  config <- bandit$config
  t <- table_size(bandit$queries) + 1
  j <- min(scales_at(config, t), config$scales)
  grown <- call_user(config$norm_growth(t), "norm_growth", sprintf("in round %g", t))
  width <- model_width(models_of(bandit)[[j]]) + (check_bound(grown, "norm_growth") - 1) * config$norm[j]
  play_scale(bandit, context, j, bandit$memory, min(max(0, width), largest_number))
}

propose_balanced <- function(bandit, context) {
  config <- bandit$config
  rounds <- table_size(bandit$queries)
  memory <- bandit$memory
  active <- setdiff(seq_len(min(scales_at(config, max(1, rounds)), config$scales)), memory$dropped)
  played <- scales_played(bandit)
  if (rounds > 0) {
    drop <- suspects(bandit, active, played, rounds)
    memory$dropped <- c(memory$dropped, drop)
    active <- setdiff(active, drop)
  }
  suspected <- suspected_regret(tabulate(played, config$scales)[active] + 1, config$volume[active], config$norm[active],
                                config$rate)
  play_scale(bandit, context, active[which.min(suspected)], memory)
}

suspected_regret <- function(n, volume, norm, rate) {
  grown <- function(plays) {
    check_bound(call_user(rate(plays), "rate", sprintf("at %g", plays)), "rate")
  }
  gamma <- vapply(n, grown, 0) / volume
  sqrt(n * gamma) * (sqrt(gamma) + norm)
}

# Candidates whose mean reward is below another candidate's even if the confidence widths of all their plays are added.
suspects <- function(bandit, active, played, rounds) {
  known <- status_of(bandit, seq_len(rounds)) == "observed"
  total <- function(values) vapply(active, function(j) sum(values[known & played %in% j]), 0)
  n <- total(rep(1, rounds))
  if (any(n == 0)) return(integer())
  reach <- get("width", envir = bandit$queries)[seq_len(rounds)] * get("sd", envir = bandit$queries)[seq_len(rounds)]
  active[is_suspect(n, total(bandit$queries$reward[seq_len(rounds)]), total(reach), rounds, bandit$config$R,
                    bandit$config$delta)]
}

is_suspect <- function(n, reward, reach, rounds, R, delta) {
  xi <- 2 * R^2 * log(length(n) * pi^2 * rounds^2 / (3 * delta))
  (reward + 2 * reach) / n + sqrt(xi / n) < max(reward / n - sqrt(xi / n))
}

# Common to the algorithms with one posterior per lengthscale: all posteriors condition on all rewards, and methods
# report the posterior that was used last.
scales_rule <- list(
  recommend = function(bandit, context) recommend_by_shown(bandit, context),
  teaches = function(j, config) "reward",
  shown = function(bandit) last_scale(bandit),
  random = FALSE
)

register_script("balanced_lengthscale", c(list(
  title = "LB-GP-UCB (lengthscales balanced)",
  settings = c(scale_rule_settings, alist(rate = check_function(rate), R = check_number(R, lower = 0),
                                          delta = check_delta(delta))),
  phases = function(count) scale_phases,
  state = function(config) list(dropped = integer()),
  suggest = function(bandit, context) propose_balanced(bandit, context)
), scales_rule))

register_script("adaptive_lengthscale", c(list(
  title = "A-GP-UCB (shrinking lengthscale)",
  settings = c(scale_rule_settings, alist(norm_growth = check_function(norm_growth))),
  phases = function(count) scale_phases,
  state = function(config) list(),
  suggest = function(bandit, context) propose_shrinking(bandit, context)
), scales_rule))
