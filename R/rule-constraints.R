# Rules for long-term constraints. Layer: strategy.

#' Long-term constraints
#'
#' Rules for maximising \eqn{\sum_t f(x_t)}{sum f(x_t)} subject to
#' \eqn{\frac1T\sum_t g_j(x_t) \le 0}{mean over t of g_j(x_t) <= 0} for every \eqn{j} (Shi and Eryilmaz 2022). The
#' bandit plays on a target in which multipliers \eqn{\kappa_j}{kappa_j} weigh the constraints, and moves them at the
#' end of each epoch of \eqn{S} = `epoch` rounds, along the average \eqn{\bar g_j}{gbar_j} of the constraint values that
#' the epoch has shown. `$observe(id, reward, constraints = )` takes them with the reward.
#'
#' * `constraints_noiseless()` (Algorithm 2; \eqn{g} is seen exactly): target
#'   \eqn{f(x) - \sum_j\kappa_j(\psi(g_j(x)) - 1)}{f(x) - sum_j kappa_j (psi(g_j(x)) - 1)},
#'   \eqn{\kappa_j = 1}{kappa_j = 1} at first, then
#'   \eqn{\kappa_j \leftarrow \kappa_j\psi(\bar g_j)}{kappa_j <- kappa_j psi(gbar_j)}: it never decreases.
#' * `constraints_noisy()` (Algorithm 3; \eqn{g} is seen with noise): target
#'   \eqn{f(x) - \sum_j\kappa_j g_j(x)}{f(x) - sum_j kappa_j g_j(x)}, \eqn{\kappa_j = 0}{kappa_j = 0} at first, then
#'   \eqn{\kappa_j\leftarrow\max(0, \kappa_j + \mathrm{step}\cdot\bar g_j)}{kappa_j <- max(0, kappa_j + step * gbar_j)}.
#'   Widths that know the noise level \eqn{R} take \eqn{R\sqrt{1+\sum\kappa_j^2}}{R sqrt(1 + sum kappa_j^2)} for it; the
#'   regulariser stays `noise_var`.
#'
#' The penalty is \eqn{\psi(x) = 1}{psi(x) = 1} for \eqn{x\le 0}{x <= 0}. Above 0 it is \eqn{e^{cx}}{exp(c x)}
#' (`"exponential"`) or \eqn{(cx+1)^n}{(c x + 1)^n} (`"polynomial"`), with \eqn{c} = `penalty_scale` and \eqn{n} =
#' `penalty_power`.
#'
#' With `reuse = TRUE` the data of earlier epochs are kept: reward and constraint values are stored apart, so the new
#' target is known at every past point. `reuse = FALSE` is the paper's letter, a fresh posterior in each epoch; a small
#' feasible region is then seldom found in one epoch, and the multipliers run away.
#'
#' @param count number of constraints \eqn{m}, at most 1000.
#' @param epoch rounds in an epoch, \eqn{S}.
#' @param penalty `"exponential"` (default) or `"polynomial"`.
#' @param penalty_scale \eqn{c}, a number > 0 that scales the constraint in the penalty. Default 1.
#' @param penalty_power \eqn{n}, the exponent of a polynomial penalty, a number > 1. Default 2.
#' @param step step of the multipliers > 0, of order \eqn{1/\sqrt{L}}{1/sqrt(L)}.
#' @param reuse keep the data of earlier epochs?
#' @param epochs number of epochs \eqn{L}, which the presets need for the failure probability of each.
#' @return An object of class `bandit_constraints`.
#' @section Errors: a `gpbandits_error` that names the argument. An exponential penalty that leaves the range of numbers
#'   ends the call in a `gpbandits_error` and leaves the bandit as it was.
#' @references Shi and Eryilmaz (2022), A Bayesian approach for stochastic continuum-armed bandit with long-term
#'   constraints, AISTATS.
#' @seealso [gp_ucb_noisy_constraints()].
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
  if (is.null(epochs)) stop_argument("epochs", "NULL", "the number of epochs L, or `width` given instead")
  (if (inner == "gp_ts") width_gp_ts else width_igp)(B, R, delta, gain)
}

inner_policy <- function(inner, width) if (inner == "gp_ts") policy_ts(width) else policy_ucb(width)

#' Slater's condition for noisy long-term constraints
#'
#' Whether the constraints leave the room that Theorem 2 of Shi and Eryilmaz (2022) asks for: a point \eqn{y} with
#' \eqn{g_j(y)\le-\epsilon}{g_j(y) <= -epsilon} for every \eqn{j}, and
#' \deqn{\epsilon > 4R\sqrt{2\tilde\gamma_S+2+2\log(2L/\delta)}\,\frac{\sqrt{(S+2)\tilde\gamma_S}}{S}
#'   + 2R\Bigl(\sqrt{4m/S}+\sqrt{\log(2L/\delta)/S}\Bigr)}{epsilon > 4 R sqrt(2 gamma + 2 + 2 log(2 L / delta)) sqrt((S
#' + 2) gamma) / S + 2 R (sqrt(4 m / S) + sqrt(log(2 L / delta) / S))} with \eqn{S} rounds in each of \eqn{L} epochs,
#' \eqn{m} constraints and \eqn{\tilde\gamma_S}{gamma} the information gain of \eqn{S} observations. The first term is
#' what an epoch needs to learn its target, the second the noise of the constraints' average. Of the paper's two
#' experiments with noisy constraints it holds on the data rates (E.2.2: \eqn{\epsilon = 2}{epsilon = 2} where all rates
#' are 0; at most 1.652 is needed, whatever the kernel) and not on the small feasible region (E.1.2: there is no more
#' room than .05). It is one of the theorem's conditions: the experiments' regulariser and their reuse of data are
#' outside it. The theorem takes \eqn{\lambda = 1 + 2/S}{lambda = 1 + 2/S}, in \eqn{\tilde\gamma_S}{gamma} too: another
#' `noise_var` warns.
#'
#' @param epsilon the room \eqn{\epsilon}{epsilon}, a number > 0 (units of the constraints).
#' @param R all noise is R-sub-Gaussian, >= 0.
#' @param gain \eqn{\tilde\gamma_S}{gamma}, a number >= 0; for example the last value of [information_gain()] over
#'   `epoch` rounds.
#' @param epoch,epochs rounds in an epoch \eqn{S} and number of epochs \eqn{L}.
#' @param delta failure probability, in (0, 1).
#' @param count number of constraints \eqn{m}.
#' @param noise_var the regulariser \eqn{\lambda}{lambda} of the run, if it is to be compared with the theorem's.
#' @return A data.frame of one row: `epsilon`, `needed` (the right-hand side), its terms `learning` and `noise`, and
#'   `holds`.
#' @section Errors: a `gpbandits_error` that names the argument; a warning of class `gpbandits_outside_theorem` if
#'   `noise_var` is not the theorem's.
#' @references Shi and Eryilmaz (2022), A Bayesian approach for stochastic continuum-armed bandit with long-term
#'   constraints, AISTATS, Theorem 2.
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
