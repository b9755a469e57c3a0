# Rules for long-term constraints. Layer: strategy.

#' Rules for long-term constraints
#'
#' Rules for constrained bandits, in which the constraints must hold on average over all rounds (Shi and Eryilmaz 2022).
#' The problem is
#' \deqn{\max\sum_{t=1}^T f(x_t)\quad\mbox{subject to }\frac1T\sum_{t=1}^T g_j(x_t) \le 0\mbox{ for every }j.}{maximise
#' sum f(x_t) subject to mean over t of g_j(x_t) <= 0 for every j.}
#'
#' Single points may violate them. For limits that each point must satisfy (outcome constraints of Ax and BoTorch) see
#' [outcomes]; for constraints on the inputs (parameter constraints) `where` of [search_space()]; for safety
#' [safe_opt()].
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
#' @section Guarantee: That of [gp_ucb_noiseless_constraints()] and [gp_ucb_noisy_constraints()] under the conditions on
#'   their page, with `reuse = FALSE`.
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
#' # x is the reward, and must be at most 0.5 on average over the rounds:
#' x <- seq(0, 1, length.out = 30)
#' problem <- bandit_problem(x, x, noise = 0.1, constraints = x - 0.5, constraint_noise = 0.1)
#' b <- gp_bandit(x, kernel_se(0.3), noise_var = 0.1, policy_ucb(2),
#'                constraints = constraints_noisy(epoch = 5, step = 5))
#' set.seed(1)
#' invisible(run_bandit(b, problem, 100))
#' mean(b$history()$x1)
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

# (Each constraint adds a column to the history and a Lagrange multiplier.)
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
  print_part(x, sprintf("%s, epochs of %d rounds, %s", amount_of(x$count, paste(x$kind, "constraint")), x$epoch,
                        if (x$reuse) "data reused" else "a fresh posterior each"),
             unclass(x)[intersect(c("epochs", "step", "penalty", "penalty_scale",
                                    if (identical(x$penalty, "polynomial")) "penalty_power"), names(x))])
}

# The width by which an epoch's policy scales its draws or bounds. The rule divides delta among the epochs, so the
# number of epochs is required.
epoch_width <- function(inner, B, R, delta, gain, epochs) {
  if (is.null(epochs)) stop_missing("epochs", "the number of epochs L, or `width` instead")
  (if (inner == "gp_ts") width_gp_ts else width_igp)(B, R, delta, gain)
}

inner_policy <- function(inner, width) if (inner == "gp_ts") policy_ts(width) else policy_ucb(width)

register_family("bandit_constraints", constraint_entries, tag = "kind", prefix = "constraints_")
