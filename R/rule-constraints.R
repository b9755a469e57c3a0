# Rules for long-term constraints. Layer: strategy.

#' Rules for long-term constraints
#'
#' Rules for constrained bandits, in which the constraints must hold on average over all rounds (Shi and Eryilmaz 2022).
#' The problem is
#' \deqn{\max\sum_{t=1}^T f(x_t)\quad\mbox{subject to }\frac1T\sum_{t=1}^T g_j(x_t) \le 0\mbox{ for every }j.}{maximise
#' sum f(x_t) subject to mean over t of g_j(x_t) <= 0 for every j.}
#'
#' The bandit maximises a target in which multipliers \eqn{\kappa_j}{kappa_j} weigh the constraints. It updates the
#' multipliers at the end of each epoch of \eqn{S} = `epoch` rounds. The update uses the average
#' \eqn{\bar g_j}{gbar_j} of the constraint values observed in the epoch. They are given with the reward, by
#' `$observe(id, reward, constraints = )`.
#'
#' * `constraints_noiseless()` (Algorithm 2) is for constraint values without noise. The target is
#'   \deqn{f(x) - \sum_j\kappa_j(\psi(g_j(x)) - 1).}{f(x) - sum_j kappa_j (psi(g_j(x)) - 1).}
#'
#'   The multipliers begin at \eqn{\kappa_j = 1}{kappa_j = 1} and never decrease:
#'   \deqn{\kappa_j \leftarrow \kappa_j\psi(\bar g_j).}{kappa_j <- kappa_j psi(gbar_j).}
#'
#' * `constraints_noisy()` (Algorithm 3) is for constraint values with noise. The target is
#'   \deqn{f(x) - \sum_j\kappa_j g_j(x).}{f(x) - sum_j kappa_j g_j(x).}
#'
#'   The multipliers begin at \eqn{\kappa_j = 0}{kappa_j = 0}:
#'   \deqn{\kappa_j\leftarrow\max(0, \kappa_j + \mathrm{step}\cdot\bar g_j).}{kappa_j <- max(0, kappa_j + step *
#'   gbar_j).}
#'
#'   Confidence widths ([widths]) that use the noise level \eqn{R} replace it by
#'   \eqn{R\sqrt{1+\sum\kappa_j^2}}{R sqrt(1 + sum kappa_j^2)}. The regulariser remains `noise_var`.
#'
#' The penalty \eqn{\psi(x)}{psi(x)} is 1 for \eqn{x\le 0}{x <= 0}. Above 0 it is, with \eqn{c} = `penalty_scale` and
#' \eqn{n} = `penalty_power`,
#' \deqn{\psi(x) = e^{cx}\mbox{ (exponential) or }\psi(x) = (cx+1)^n\mbox{ (polynomial)}.}{psi(x) = exp(c x)
#' (exponential) or psi(x) = (c x + 1)^n (polynomial).}
#'
#' With `reuse = TRUE` the data of earlier epochs are kept. Reward and constraint values are stored separately, so the
#' new target can be computed at every past point. `reuse = FALSE`, as in the paper, starts each epoch with a new
#' posterior. A small feasible region is then seldom found in one epoch, and the multipliers grow more and more.
#'
#' @param count the number of constraints \eqn{m}, an integer from 1 to 1000; 1 by default.
#' @param epoch the number of rounds in an epoch, \eqn{S}, an integer >= 1.
#' @param penalty `"exponential"` (default) or `"polynomial"`.
#' @param penalty_scale \eqn{c}, a number > 0 that scales the constraint in the penalty. 1 by default.
#' @param penalty_power \eqn{n}, the exponent of a polynomial penalty, a number > 1. 2 by default.
#' @param step the step of the multipliers, a number > 0, of order \eqn{1/\sqrt{L}}{1/sqrt(L)}.
#' @param reuse `TRUE` (the default) keeps the data of earlier epochs.
#' @param epochs the number of epochs \eqn{L}, an integer >= 1, from which the presets compute the failure probability
#'   of each epoch. `NULL` by default.
#' @return An object of class `bandit_constraints`.
#' @section Errors: If an exponential penalty exceeds the range of numbers, the call is an error and the bandit remains
#'   as it was. Try a smaller `penalty_scale` or the polynomial penalty.
#' @references Shi and Eryilmaz (2022), A Bayesian approach for stochastic continuum-armed bandit with long-term
#'   constraints, AISTATS.
#' @concept constrained Bayesian optimization
#' @concept long-term constraints
#' @concept Lagrange multipliers
#' @concept primal-dual
#' @seealso [gp_ucb_noisy_constraints()]; [outcomes] for constraints that hold at each point.
#' @examples
#' constraints_noiseless(epoch = 20)
#' constraints_noiseless(epoch = 20, penalty = "polynomial", penalty_power = 3)
#' constraints_noisy(count = 2, epoch = 20, step = 0.5)
#' @name constraints
NULL

#' @rdname constraints
#' @export
constraints_noiseless <- function(count = 1, epoch, penalty = c("exponential", "polynomial"), reuse = TRUE,
                                  epochs = NULL, penalty_scale = 1, penalty_power = 2) {
  new_constraints("noiseless")
}

#' @rdname constraints
#' @export
constraints_noisy <- function(count = 1, epoch, step, reuse = TRUE, epochs = NULL) new_constraints("noisy")

new_constraints <- function(kind) new_part("bandit_constraints", kind, parent.frame())

# (Each is a column of the history and a multiplier beside another.)
most_constraints <- 1000

constraint_settings <- alist(count = check_count(count, upper = most_constraints), epoch = check_count(epoch),
                             reuse = check_flag(reuse),
                             epochs = if (!is.null(epochs)) check_count(epochs))
constraint_entries <- list(
  noiseless = list(settings = c(constraint_settings, alist(
    penalty = check_choice(penalty, c("exponential", "polynomial")),
    penalty_scale = check_number(penalty_scale, lower = 0, open_lower = TRUE),
    penalty_power = check_number(penalty_power, lower = 1, open_lower = TRUE)
  ))),
  noisy = list(settings = c(constraint_settings, alist(step = check_number(step, lower = 0, open_lower = TRUE))))
)

#' @export
print.bandit_constraints <- function(x, ...) {
  check_class(x, "bandit_constraints")
  print_part(x, sprintf("%d %s constraint(s), epochs of %d rounds, %s", x$count, x$kind, x$epoch,
                        if (x$reuse) "data reused" else "a fresh posterior each"),
             unclass(x)[intersect(c("epochs", "step", "penalty", "penalty_scale",
                                    if (identical(x$penalty, "polynomial")) "penalty_power"), names(x))])
}

# The width that an epoch's policy scales its draws or bounds with. Each epoch gets its share of delta
# from the rule, which must know how many there are.
epoch_width <- function(inner, B, R, delta, gain, epochs) {
  if (is.null(epochs)) stop_missing("epochs", "the number of epochs L, or `width` instead")
  (if (inner == "gp_ts") width_gp_ts else width_igp)(B, R, delta, gain)
}

inner_policy <- function(inner, width) if (inner == "gp_ts") policy_ts(width) else policy_ucb(width)

#' Slater's condition for noisy long-term constraints
#'
#' `slater_condition()` checks a condition of the regret bound for noisy long-term constraints (Theorem 2 of Shi and
#' Eryilmaz 2022). Slater's condition is that some point \eqn{y} satisfies all constraints with a margin,
#' \eqn{g_j(y)\le-\epsilon}{g_j(y) <= -epsilon} for every \eqn{j}. The theorem needs
#' \deqn{\epsilon > 4R\sqrt{2\tilde\gamma_S+2+2\log(2L/\delta)}\,\frac{\sqrt{(S+2)\tilde\gamma_S}}{S}
#'   + 2R\Bigl(\sqrt{4m/S}+\sqrt{\log(2L/\delta)/S}\Bigr).}{epsilon > 4 R sqrt(2 gamma + 2 + 2 log(2 L / delta)) sqrt((S
#' + 2) gamma) / S + 2 R (sqrt(4 m / S) + sqrt(log(2 L / delta) / S)).}
#'
#' There are \eqn{L} epochs of \eqn{S} rounds and \eqn{m} constraints. \eqn{\tilde\gamma_S}{gamma} is the information
#' gain of \eqn{S} observations. The first term is the uncertainty about the target within an epoch, the second the
#' noise of the constraints' average.
#'
#' The paper has two experiments with noisy constraints. The condition holds for the data rates (E.2.2):
#' \eqn{\epsilon = 2}{epsilon = 2} where all rates are 0, and at most 1.652 is needed, whatever the kernel. It does not
#' hold for the small feasible region (E.1.2), whose margin is at most 0.05.
#'
#' This is one of the theorem's conditions. The regulariser of the experiments and their reuse of data are outside it.
#' The theorem has \eqn{\lambda = 1 + 2/S}{lambda = 1 + 2/S}, also in \eqn{\tilde\gamma_S}{gamma}; another `noise_var`
#' gives a warning of class `gpbandits_outside_theorem`.
#'
#' @param epsilon the margin \eqn{\epsilon}{epsilon}, a number > 0 in units of the constraints.
#' @param R the scale of the noise, a number >= 0: all noise is R-sub-Gaussian.
#' @param gain \eqn{\tilde\gamma_S}{gamma}, a number >= 0 in nats; for example the last value of [information_gain()]
#'   over `epoch` rounds.
#' @param epoch,epochs the number of rounds in an epoch, \eqn{S}, and the number of epochs \eqn{L}: integers >= 1.
#' @param delta the failure probability, a number in (0, 1). 0.1 by default.
#' @param count the number of constraints \eqn{m}, an integer >= 1; 1 by default.
#' @param noise_var the regulariser \eqn{\lambda}{lambda} of the run, to be compared with that of the theorem. `NULL`,
#'   the default: no comparison.
#' @return A data.frame of one row:
#'
#'   * `epsilon`, the margin,
#'   * `needed`, the right-hand side,
#'   * `learning` and `noise`, its two terms,
#'   * `holds`, `TRUE` if `epsilon` is larger than `needed`.
#' @references Shi and Eryilmaz (2022), A Bayesian approach for stochastic continuum-armed bandit with long-term
#'   constraints, AISTATS, Theorem 2.
#' @concept Slater condition
#' @concept long-term constraints
#' @concept constrained Bayesian optimization
#' @seealso [gp_ucb_noisy_constraints()].
#' @examples
#' x <- seq(0, 6, length.out = 41)
#' gain <- information_gain(kernel_matern(2.5, 1), x, noise_var = 1 + 2 / 20, rounds = 20)[20]
#' slater_condition(epsilon = 0.05, R = 0.1, gain = gain, epoch = 20, epochs = 18)
#' # the data rates: noise uniform on +- .2, and the largest gain that 20 points can have
#' slater_condition(epsilon = 2, R = 0.2 / sqrt(3), gain = 10 * log1p(1 / 1.1), epoch = 20,
#'                  epochs = 18)
#' @export
slater_condition <- function(epsilon, R, gain, epoch, epochs, delta = 0.1, count = 1, noise_var = NULL) {
  epsilon <- check_number(epsilon, lower = 0, open_lower = TRUE)
  R <- check_number(R, lower = 0)
  gain <- check_number(gain, lower = 0)
  epoch <- check_count(epoch)
  check_fixed_regulariser(noise_var, epoch, "Theorem 2 of Shi and Eryilmaz", "S")
  confidence <- log(2 * check_count(epochs) / check_delta(delta))
  learning <- 4 * R * sqrt(2 * gain + 2 + 2 * confidence) * sqrt((epoch + 2) * gain) / epoch
  noise <- 2 * R * (sqrt(4 * check_count(count) / epoch) + sqrt(confidence / epoch))
  data.frame(epsilon = epsilon, needed = learning + noise, learning = learning, noise = noise,
             holds = epsilon > learning + noise)
}

# The regulariser that a theorem fixes, against the one that was given (if one was).
check_fixed_regulariser <- function(noise_var, horizon, theorem, letter) {
  if (is.null(noise_var)) return(invisible())
  needed <- 1 + 2 / horizon
  if (abs(check_positive(noise_var, "noise_var") - needed) > 1e-6 * needed) {
    warn_outside_theorem(theorem, sprintf("`noise_var` = 1 + 2/%s = %g", letter, needed), format(noise_var, digits = 4))
  }
}

register_family("bandit_constraints", constraint_entries, tag = "kind", prefix = "constraints_")
