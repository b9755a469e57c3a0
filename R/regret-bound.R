# `regret_bound()`. Layer: simulation.

#' Regret bounds of the papers, round by round
#'
#' `regret_bound()` computes the upper bound of a theorem on cumulative regret, for every round
#' \eqn{1, \dots, T}{1, ..., T}. Lay it over a plot of cumulative regret. Bounds are loose by orders of magnitude; they
#' show how regret grows.
#'
#' If a paper gives an order only, the constants are those of its proof. If the proof has none, they are arguments.
#'
#' @section Theorems: Each group has a page with the formulas, arguments and conditions.
#'
#' [regret_bounds_ucb], GP-UCB, IGP-UCB, Thompson sampling and delayed rewards:
#'
#' * `"srinivas1"`, `"srinivas2"`, `"srinivas3"`: GP-UCB (Srinivas et al. 2010);
#' * `"igp_ucb"`, `"gp_ts"`: IGP-UCB and GP-TS (Chowdhury and Gopalan 2017);
#' * `"sdf"`, `"ts_sdf"`, `"sdf_context"`, `"ts_sdf_context"`: delayed rewards (Verma, Dai and Low 2022).
#'
#' [regret_bounds_changes], functions that change:
#'
#' * `"cpd"`, `"cpd_finite"`: abrupt changes (Avanesov);
#' * `"fade"`: a prior that drifts.
#'
#' [regret_bounds_constraints] and [regret_bounds_outcomes], constraints:
#'
#' * `"constraints_noiseless"`, `"constraints_noisy"`: long-term constraints (Shi and Eryilmaz 2022);
#' * `"penalty"` (or `"config"`): outcome constraints and penalties.
#'
#' [regret_bounds_widths], any confidence width (the multiplier of the posterior standard deviation):
#'
#' * `"ucb"`: UCB with any width that holds; `"noise_free"`: exact rewards; `"clip"`: clipped rewards;
#' * `"glm"`, `"duel"`: successes, counts and pairwise comparisons;
#' * `"irgp"`, `"eims"`: expected regret of randomised policies;
#' * `"balanced_lengthscale"`, `"adaptive_lengthscale"`: unknown lengthscales.
#'
#' [regret_bounds_designs], batches, designs and level sets:
#'
#' * `"bpe"`, `"gp_ucb_pe"`: batches; `"mvr"`: designs that do not depend on rewards;
#' * `"lse"`, `"straddle"`: level sets; `"stable"`: perturbed inputs.
#'
#' The name of a preset works too, if the preset has one theorem of another name (`"gp_ucb_sdf"`). For presets without a
#' bound here, such as [rahbo()] and [safe_opt()], the error gives the reason.
#'
#' @section Notation: On all pages about regret bounds
#'
#' * \eqn{\gamma_t}{gamma_t} is `gain`, with \eqn{\gamma_0 = 0}{gamma_0 = 0}; \eqn{\lambda}{lambda} is `noise_var`;
#' * \eqn{\log}{log} is the natural logarithm, and \eqn{\delta}{delta} is `delta`, the probability of failure;
#' * all theorems need \eqn{k(x,x) \le 1}{k(x,x) <= 1}. If `variance` \eqn{v} is an argument, the constant is written
#'   for \eqn{k(x,x) \le v}{k(x,x) <= v}, and is the paper's at \eqn{v = 1}.
#'
#' The further arguments of a theorem are given by name in `...`. Those with a default value may be left out.
#'
#' @param theorem name of the theorem, one of the strings in the section *Theorems* (default: `"srinivas1"`).
#' @param rounds the horizon \eqn{T}, an integer from 1 to 1e7. The bound is given for rounds `1..rounds`.
#' @param gain information gains \eqn{\gamma_1, \dots, \gamma_T}{gamma_1, ..., gamma_T} at the theorem's
#'   \eqn{\lambda}{lambda}: a nondecreasing vector of at least `rounds` numbers, one number for all, or a function of
#'   \eqn{s \ge 1}{s >= 1}. See Gains.
#' @param ... the theorem's own arguments, by name. `B` is a bound of the RKHS norm, `R` the sub-Gaussian scale of the
#'   noise (its standard deviation, if Gaussian).
#' @section Gains: An upper bound from [information_gain()] is a suitable `gain`. For `"constraints_noiseless"` and
#'   `"constraints_noisy"`, `epoch` numbers are enough. `"cpd"`, and `"cpd_finite"` without `constant` or of pairs, use
#'   no gain.
#' @return A numeric vector of length `rounds`, in units of the reward (for a violation or a margin: of the constraint;
#'   `"cpd_finite"` can also return a number of pairs).
#' @section Errors: A missing argument, one that is out of range, or one that the theorem does not have is a
#'   `gpbandits_error`.
#' @section Warnings: Arguments outside the theorem's conditions give a warning of class `gpbandits_outside_theorem`.
#'   `suppressWarnings(..., classes = "gpbandits_outside_theorem")` silences it.
#' @references Srinivas, Krause, Kakade and Seeger (2010) <https://arxiv.org/abs/0912.3995>; Chowdhury and Gopalan
#'   (2017) <https://arxiv.org/abs/1704.00445>; Verma, Dai and Low (2022); Avanesov; Shi and Eryilmaz (2022).
#' @seealso [information_gain()], [run_bandit()], [guarantees].
#' @concept regret bound
#' @concept cumulative regret
#' @concept multi-armed bandit
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' gain <- information_gain(kernel_se(0.2), x, noise_var = 0.1, rounds = 100, method = "spectral")
#' bound <- regret_bound("srinivas1", 100, gain, noise_var = 0.1, arms = 50)
#' plot(bound, type = "l", xlab = "round", ylab = "regret at most")
#' lines(regret_bound("igp_ucb", 100, gain, B = 1, R = 0.1), lty = 2)
#' regret_bound("cpd", 5, nu = 2.5, d = 1, Delta = 1, change_points = 2)
#' # outside the theorem, which needs lambda > 1: a warning
#' try(regret_bound("sdf", 100, gain, noise_var = 0.1, B = 1, R = 0.1, B_y = 1, m = 6,
#'                  rho = 0.9)[100])
#' @export
regret_bound <- function(theorem = c("srinivas1", "srinivas2", "srinivas3", "igp_ucb", "gp_ts",
                                     "sdf", "ts_sdf", "sdf_context", "ts_sdf_context", "cpd",
                                     "cpd_finite", "constraints_noiseless", "constraints_noisy", "ucb", "noise_free",
                                     "glm", "duel", "penalty", "fade", "clip", "irgp", "eims", "straddle", "lse",
                                     "stable", "bpe", "mvr", "gp_ucb_pe",
                                     "balanced_lengthscale", "adaptive_lengthscale"),
                         rounds, gain, ...) {
  theorem <- check_choice(theorem_of_preset(theorem), names(regret_theorems()), "theorem")
  rounds <- check_count(rounds, upper = most_bounded)
  formula <- regret_theorems()[[theorem]]
  given <- list(...)
  known <- setdiff(names(formals(formula)), c("rounds", "gain"))
  check_theorem_arguments(given, known, theorem)
  # (A rate without its constant, or a number of pairs, does not use the gain.)
  is_rate <- theorem == "cpd_finite" && missing(gain) && (is.null(given$constant) || identical(given$quantity, "pairs"))
  if (is_rate || !"gain" %in% names(formals(formula))) {
    return(do.call(formula, c(list(rounds = rounds), given), quote = TRUE))
  }
  needed <- rounds
  if (startsWith(theorem, "constraints")) needed <- min(rounds, check_count(given$epoch, "epoch"))
  gain <- gain_values(if (missing(gain)) NULL else gain, needed)
  do.call(formula, c(list(rounds = rounds, gain = gain), given), quote = TRUE)
}

check_theorem_arguments <- function(given, known, theorem) {
  names <- names(given)
  if (length(given) && (is.null(names) || !all(nzchar(names)))) {
    stop_argument("...", "a value without a name", paste("named:", paste(known, collapse = ", ")))
  }
  unknown <- setdiff(names, known)
  if (length(unknown)) {
    stop_unknown(unknown[1], known)
  }
  if (anyDuplicated(names)) stop_argument(names[anyDuplicated(names)], "given twice", "given once")
}

# gamma_0..gamma_rounds.
gain_values <- function(gain, rounds) {
  allowed <- sprintf("%g nondecreasing numbers >= 0, one such number, or a function of s", rounds)
  if (is.null(gain)) stop_missing("gain", allowed, "`gain = information_gain(kernel, x, noise_var, rounds = rounds)`")
  if (is.function(gain)) {
    f <- gain
    gain <- vapply(seq_len(rounds), function(s) {
      value <- call_user(f(s), "gain", sprintf("at s = %d", s))
      if (!is_number(value) || length(value) != 1) {
        stop_returned("gain", value, "one number", sprintf(" at %d", s))
      }
      as.double(value)
    }, 0)
  }
  if (!is_number(gain)) stop_argument("gain", describe(gain), allowed)
  if (length(gain) == 1) gain <- rep(as.double(gain), rounds)
  gain <- as.double(gain)
  if (length(gain) < rounds || !all(is.finite(gain)) || any(gain < 0) ||
      any(diff(gain) < -1e-8 * max(gain))) {
    stop_argument("gain", describe(gain), allowed)
  }
  c(0, gain[seq_len(rounds)])
}

# ---- the theorems: rounds, gain = gamma_0..gamma_rounds ----------------------

regret_srinivas <- function(rounds, gain, beta, noise_var, variance) {
  noise_var <- check_positive(noise_var, "noise_var")
  variance <- check_positive(variance, "variance")
  c1 <- 8 * variance / log1p(variance / noise_var)
  sqrt(c1 * seq_len(rounds) * beta * gain[-1])
}

regret_srinivas1 <- function(rounds, gain, noise_var, arms, delta = 0.1, variance = 1) {
  arms <- check_count(arms)
  delta <- check_delta(delta)
  t <- seq_len(rounds)
  regret_srinivas(rounds, gain, 2 * log(arms * t^2 * pi^2 / (6 * delta)), noise_var, variance)
}

regret_srinivas2 <- function(rounds, gain, noise_var, a, b, side, d, delta = 0.1, variance = 1) {
  a <- check_positive(a)
  b <- check_positive(b)
  side <- check_positive(side)
  d <- check_count(d)
  delta <- check_delta(delta)
  if (4 * d * a <= delta) stop_argument("a", describe(a), "more than delta / (4 d)")
  t <- seq_len(rounds)
  beta <- 2 * log(2 * t^2 * pi^2 / (3 * delta)) +
    2 * d * log(pmax(1, t^2 * d * b * side * sqrt(log(4 * d * a / delta))))
  regret_srinivas(rounds, gain, beta, noise_var, variance) + 2
}

regret_srinivas3 <- function(rounds, gain, noise_var, B, delta = 0.1, variance = 1, printed = FALSE) {
  B <- check_number(B, lower = 0)
  delta <- check_delta(delta)
  gamma <- gain[seq_len(rounds) + check_flag(printed)]
  beta <- 2 * B^2 + 300 * gamma * log(seq_len(rounds) / delta)^3
  regret_srinivas(rounds, gain, beta, noise_var, variance)
}

anti_concentration <- 1 / (4 * exp(1) * sqrt(pi))

regret_gp_ts <- function(rounds, gain, B, R, arms = NULL, d = NULL, side = NULL, L = NULL,
                         delta = 0.1, noise_var = NULL) {
  check_fixed_regulariser(noise_var, rounds, "Theorem 4 of Chowdhury and Gopalan", "T")
  B <- check_number(B, lower = 0)
  R <- check_number(R, lower = 0)
  delta <- check_delta(delta)
  t <- seq_len(rounds)
  log_size <- log_discretisation(t, B, arms, d, side, L)
  c_t <- improved_width(rounds, gain, B, R, delta / 2) * (1 + sqrt(2 * (log_size + 2 * log(t))))
  11 * c_t / anti_concentration * sum_of_sd(t, gain[-1]) + (2 * B + 1) * pi^2 / 6 +
    (4 * B + 11) * c_t / anti_concentration * sqrt(2 * t * log(2 / delta))
}

# log |D_t|: the number of arms, or the size of the discretisation of [0, side]^d (at least one point).
log_discretisation <- function(t, B, arms, d, side, L) {
  if (!is.null(arms)) {
    if (!is.null(c(d, side, L))) stop_unused("arms", "`d`, `side` or `L` is given too")
    return(rep_len(log(check_count(arms, "arms")), length(t)))
  }
  if (is.null(d) && is.null(side) && is.null(L)) {
    stop_missing("arms", "the number of arms, or all of `d`, `side` and `L`")
  }
  d <- check_count(d, "d")
  side <- check_positive(side, "side")
  L <- check_positive(L, "L")
  pmax(0, d * log(B * L * side * d * t^2))
}

# The quantity that the theorems of Verma et al. bound: the sum of nu_t sd_{t-1}(x_t).
delayed_sum <- function(rounds, gain, p, beta) {
  c1 <- sqrt(2 * p$variance / log1p(p$variance / p$noise_var))
  c1 * beta * sqrt(seq_len(rounds) * gain[-1]) + p$m * p$B_y / p$sum_factor * c1^2 * gain[-1]
}

check_delays <- function(noise_var, B, R, B_y, m, rho, delta, variance, any_noise_var) {
  p <- list(noise_var = check_positive(noise_var, "noise_var"), B = check_number(B, "B", lower = 0),
            R = check_number(R, "R", lower = 0), B_y = check_number(B_y, "B_y", lower = 0),
            m = check_count(m, "m", lower = 0),
            rho = check_number(rho, "rho", lower = 0, upper = 1, open_lower = TRUE),
            delta = check_delta(delta), variance = check_positive(variance, "variance"))
  # In two steps, the proof of Theorem 1 omits 1 / sqrt(lambda).
  p$sum_factor <- if (check_flag(any_noise_var)) p$noise_var else 1
  p$noise_scale <- (p$R + p$B_y) / sqrt(p$sum_factor)
  if (!any_noise_var && (p$noise_var <= 1 || p$variance > 1)) {
    warn_outside_theorem("Theorem 1 of Verma et al.", "`noise_var` > 1 and k(x, x) <= 1 (or `any_noise_var = TRUE`)",
                         sprintf("noise_var = %.4g, variance = %.4g", p$noise_var, p$variance))
  }
  p
}

regret_sdf <- function(rounds, gain, noise_var, B, R, B_y, m, rho, delta = 0.1, variance = 1, any_noise_var = FALSE) {
  p <- check_delays(noise_var, B, R, B_y, m, rho, delta, variance, any_noise_var)
  beta <- delayed_width(rounds, gain, p, p$delta / 2)
  2 / p$rho * delayed_sum(rounds, gain, p, beta)
}

delayed_width <- function(rounds, gain, p, failure) {
  improved_width(rounds, gain, p$B, p$noise_scale, failure)
}

regret_ts_sdf <- function(rounds, gain, noise_var, B, R, B_y, m, rho, arms, delta = 0.1, variance = 1,
                          any_noise_var = FALSE) {
  regret_ts_sdf_context(rounds, gain, noise_var, B, R, B_y, m, rho, arms, 1, delta, variance, any_noise_var)
}

regret_ts_sdf_context <- function(rounds, gain, noise_var, B, R, B_y, m, rho, arms, contexts, delta = 0.1,
                                  variance = 1, any_noise_var = FALSE) {
  p <- check_delays(noise_var, B, R, B_y, m, rho, delta, variance, any_noise_var)
  pairs <- check_count(arms) * check_count(contexts)
  t <- seq_len(rounds)
  beta <- delayed_width(rounds, gain, p, p$delta / 4)
  spread <- 1 + sqrt(2 * log(pairs * t^2))
  c_t <- (p$m * p$B_y / p$sum_factor * sqrt(p$variance) + beta) * spread
  share <- 1 / (p$rho * anti_concentration)
  11 * share * spread * delayed_sum(rounds, gain, p, beta) +
    share * (4 * p$B + 11 * c_t) * sqrt(2 * t * log(2 / p$delta)) + p$B * pi^2 / 3
}

# Splits the rounds into complete epochs and the remaining rounds.
split_epochs <- function(rounds, epoch, epochs) {
  epoch <- check_count(epoch, "epoch")
  needed <- ceiling(rounds / epoch)
  epochs <- if (is.null(epochs)) needed else check_count(epochs, "epochs", lower = needed)
  t <- seq_len(rounds)
  list(size = epoch, count = epochs, whole = t %/% epoch, rest = t %% epoch)
}

regret_constraints_noiseless <- function(rounds, gain, B, R, epoch, delta = 0.1, epochs = NULL,
                                         quantity = "regret", gap, count = 1,
                                         penalty_inverse = log, noise_var = NULL) {
  check_fixed_regulariser(noise_var, check_count(epoch), "Theorem 1 of Shi and Eryilmaz", "S")
  B <- check_number(B, lower = 0)
  R <- check_number(R, lower = 0)
  delta <- check_delta(delta)
  quantity <- check_choice(quantity, c("regret", "violation"))
  epoch <- split_epochs(rounds, epoch, epochs)
  s <- seq_along(gain) - 1
  # Lemma 1 of the paper: the regret of an epoch after s = 0..S rounds.
  cost <- 4 * (B + R * sqrt(2 * (gain + 1 + log(epoch$count / delta)))) * sqrt((s + 2) * gain)
  full <- if (epoch$size < length(cost)) cost[epoch$size + 1] else 0
  if (quantity == "regret") return(epoch$whole * full + cost[epoch$rest + 1])
  gap <- check_number(gap, lower = 0)
  count <- check_count(count)
  inverse <- function(y) vapply(y, check_function(penalty_inverse, "penalty_inverse"), 0)
  rest <- ifelse(epoch$rest > 0, cost[epoch$rest + 1] / pmax(1, epoch$rest) + gap, 0)
  sqrt(count) * (epoch$size * inverse(1 + epoch$whole * (gap + full / epoch$size)) +
                   epoch$rest * inverse(1 + rest))
}

regret_constraints_noisy <- function(rounds, gain, B, R, epoch, step, Q, M, slater, count = 1,
                                     delta = 0.1, epochs = NULL, quantity = "regret", noise_var = NULL) {
  check_fixed_regulariser(noise_var, check_count(epoch), "Theorem 2 of Shi and Eryilmaz", "S")
  R <- check_number(R, lower = 0)
  count <- check_count(count)
  delta <- check_delta(delta)
  quantity <- check_choice(quantity, c("regret", "violation", "margin"))
  epoch <- split_epochs(rounds, epoch, epochs)
  S <- epoch$size
  gamma <- gain[min(S, rounds) + 1]
  a <- sqrt(4 * count) + sqrt(log(2 * epoch$count / delta))
  width <- R * sqrt(2 * (gamma + 1 + log(2 * epoch$count / delta)))
  spread <- sqrt((S + 2) * gamma)
  margin <- 4 * width * spread / S + 2 * R * a / sqrt(S)
  if (quantity == "margin") return(rep(margin, rounds))
  B <- check_number(B, lower = 0)
  step <- check_positive(step)
  Q <- check_number(Q, lower = 0)
  M <- check_number(M, lower = 0)
  room <- check_positive(slater) - margin
  kappa <- multiplier_bound(S, B, R, a, width, spread, step, Q, M, room, count)
  if (quantity == "violation") {
    return(ifelse(epoch$whole > 0, S * kappa / step, 0) + 2 * R * a * sqrt(S) * epoch$whole +
             sqrt(count) * M * epoch$rest)
  }
  if (is.infinite(kappa)) return(ifelse(epoch$whole > 0, Inf, 2 * Q * epoch$rest))
  per_epoch <- 4 * (B + sqrt(1 + kappa^2) * width) * spread + count * S * step * M^2 +
    4 * step * R^2 * a^2 + 2 * R * kappa * a * sqrt(S)
  epoch$whole * per_epoch + 2 * Q * epoch$rest
}

# Equation 33; Inf if `room`, the remaining Slater margin, is too small for the theorem.
multiplier_bound <- function(S, B, R, a, width, spread, step, Q, M, room, count) {
  if (room <= 0) return(Inf)
  step * (sqrt(count) * M + 2 * R * a / sqrt(S)) +
    (2 * Q + 4 * (B + width) * spread / S + count * step * M^2 + 4 * step * R^2 * a^2 / S) / room
}

regret_theorems <- function() list(
  srinivas1 = regret_srinivas1, srinivas2 = regret_srinivas2, srinivas3 = regret_srinivas3,
  igp_ucb = regret_igp_ucb, gp_ts = regret_gp_ts, sdf = regret_sdf, ts_sdf = regret_ts_sdf,
  sdf_context = regret_sdf, ts_sdf_context = regret_ts_sdf_context, cpd = regret_cpd,
  cpd_finite = regret_cpd_finite, constraints_noiseless = regret_constraints_noiseless, glm = regret_glm,
  duel = regret_duel,
  constraints_noisy = regret_constraints_noisy, ucb = regret_ucb, penalty = regret_penalty,
  fade = regret_srinivas1,
  clip = regret_clip, irgp = regret_irgp, eims = regret_eims, straddle = regret_straddle, lse = regret_lse,
  noise_free = regret_noise_free, stable = regret_stable, bpe = regret_bpe, mvr = regret_mvr, gp_ucb_pe = regret_ucb_pe,
  balanced_lengthscale = regret_balanced,
  adaptive_lengthscale = regret_adaptive
)

# ---- formulas of the help pages -----------------------------------------------

#' Regret bounds of GP-UCB, IGP-UCB, Thompson sampling and delayed feedback
#'
#' Nine bounds of [regret_bound()] for GP-UCB, IGP-UCB, GP-TS and their versions for delays: formulas, arguments,
#' conditions. Use them to compare a run with its theorem, or to see how the regret grows. The name in quotes is the
#' argument `theorem`. Arguments that are shown without a value must be given.
#'
#' Which theorem applies depends on the assumptions about \eqn{f} and the noise:
#'
#' * \eqn{f} is drawn from the Gaussian-process prior: `"srinivas1"` on arms, `"srinivas2"` on a cube.
#' * The RKHS norm of \eqn{f} is at most `B`: `"srinivas3"` for bounded noise, `"igp_ucb"` and `"gp_ts"` for
#'   `R`-sub-Gaussian noise.
#' * The same, and rewards arrive late: `"sdf"` and `"ts_sdf"`, with contexts `"sdf_context"` and `"ts_sdf_context"`.
#'
#' In the formulas \eqn{T} is the round, \eqn{\gamma_T}{gamma_T} the information gain (`gain`), \eqn{\lambda}{lambda} is
#' `noise_var`, and \eqn{v} is `variance`. Further notation is on the page of [regret_bound()].
#'
#' @section GP-UCB (Srinivas et al. 2010): Each bound holds with probability at least \eqn{1 - \delta}{1 - delta}, for
#'   all rounds at once. All three have the constant
#'   \deqn{C_1 = 8v/\log(1 + v/\lambda).}{C1 = 8 v / log(1 + v / lambda).}
#'
#'   `"srinivas1"` (`noise_var, arms, delta = 0.1, variance = 1`) is Theorem 1. \eqn{f} is drawn from the prior, over
#'   \eqn{|D|} = `arms` arms. The bound is
#'   \deqn{\sqrt{C_1 T \beta_T \gamma_T},\quad \beta_T = 2\log(|D| T^2 \pi^2/(6\delta)).}{sqrt(C1 T beta_T gamma_T),
#'   beta_T = 2 log(|D| T^2 pi^2 / (6 delta)).}
#'
#'   `"srinivas2"` (`noise_var, a, b, side, d, delta = 0.1, variance = 1`) is Theorem 2. \eqn{f} is drawn from the
#'   prior, on the cube \eqn{[0, r]^d} with \eqn{r} = `side`. The numbers \eqn{a} and \eqn{b} bound the derivatives
#'   of sample paths:
#'   \deqn{P(\sup |\partial f/\partial x_j| > L) \le a e^{-(L/b)^2}.}{P(sup |df/dx_j| > L) <= a exp(-(L/b)^2).}
#'
#'   The bound is
#'   \deqn{\sqrt{C_1 T \beta_T \gamma_T} + 2,}{sqrt(C1 T beta_T gamma_T) + 2,}
#'   where \eqn{\beta_T}{beta_T} is, with a last logarithm of at least 0:
#'
#'   \deqn{2\log(2 T^2\pi^2/(3\delta)) + 2d\log(T^2 d b r \sqrt{\log(4da/\delta)}).}{2 log(2 T^2 pi^2 / (3 delta)) + 2 d
#'   log(T^2 d b r sqrt(log(4 d a / delta))).}
#'
#'   `"srinivas3"` (`noise_var, B, delta = 0.1, variance = 1, printed = FALSE`) is Theorem 3. The RKHS norm is at most
#'   `B`, and the noise is bounded by \eqn{\sqrt\lambda}{sqrt(lambda)}. The bound is
#'   \deqn{\sqrt{C_1 T \beta_T \gamma_T},\quad \beta_T = 2B^2 + 300\gamma_{T-1}\log^3(T/\delta).}{sqrt(C1 T beta_T
#'   gamma_T), beta_T = 2 B^2 + 300 gamma_{T-1} log(T / delta)^3.}
#'   With `printed = TRUE`, \eqn{\beta_T}{beta_T} has \eqn{\gamma_T}{gamma_T}, as printed in the paper. Its Theorem 6
#'   needs only \eqn{\gamma_{T-1}}{gamma_{T-1}}, as Chowdhury and Gopalan quote it.
#'
#' @section IGP-UCB and GP-TS (Chowdhury and Gopalan 2017): The RKHS norm is at most `B`, and the noise is
#'   `R`-sub-Gaussian. For the horizon \eqn{T} = `rounds`, both theorems need
#'   \deqn{\lambda = 1 + 2/T,}{lambda = 1 + 2/T,}
#'   also in `gain`. A `noise_var` that is given is compared with it. With this \eqn{\lambda}{lambda} the bounds hold at
#'   every earlier round too: `"igp_ucb"` for all rounds at once, `"gp_ts"` for each round.
#'
#'   `"igp_ucb"` (`B, R, delta = 0.1, noise_var = NULL`) is Theorem 3, with constants from its proof and Lemma 4. The
#'   bound is
#'   \deqn{2\beta_T\sqrt{4(T+2)\gamma_T},\quad \beta_T = B + R\sqrt{2(\gamma_{T-1} + 1 + \log(1/\delta))}.}{2 beta_T
#'   sqrt(4 (T + 2) gamma_T), beta_T = B + R sqrt(2 (gamma_{T-1} + 1 + log(1/delta))).}
#'
#'   `"gp_ts"` (`B, R, arms` or `B, R, d, side, L`, and `delta = 0.1, noise_var = NULL`) is Theorem 4, with the
#'   constants of Lemma 13. The bound is
#'
#'   \deqn{\frac{11 c_T}{p}\sqrt{4(T+2)\gamma_T} + \frac{(2B+1)\pi^2}{6} +
#'   \frac{(4B+11)c_T}{p}\sqrt{2T\log(2/\delta)},}{(11 c_T / p) sqrt(4 (T + 2) gamma_T) + (2 B + 1) pi^2 / 6 +
#'   ((4 B + 11) c_T / p) sqrt(2 T log(2/delta)),}
#'
#'   with the numbers (\eqn{\tilde c_T}{c'_T} is by Lemma 5)
#'
#'   \deqn{p = 1/(4e\sqrt\pi),\quad c_T = v_T(1 + \tilde c_T),}{p = 1/(4 e sqrt(pi)), c_T = v_T (1 + c'_T),}
#'   \deqn{v_T = B + R\sqrt{2(\gamma_{T-1} + 1 + \log(2/\delta))},\quad \tilde c_T = \sqrt{2\log(|D_T| T^2)}.}{v_T = B +
#'   R sqrt(2 (gamma_{T-1} + 1 + log(2/delta))), c'_T = sqrt(2 log(|D_T| T^2)).}
#'
#'   \eqn{|D_T|} is the number of points over which a draw is maximised:
#'
#'   * On arms it is `arms`.
#'   * On the cube \eqn{[0, r]^d} with \eqn{r} = `side` it is \eqn{(BLrdT^2)^d}{(B L r d T^2)^d}. The bound holds if
#'     draws are maximised over these points alone, which [gp_ts()] on a box does not do. `L` is the largest
#'     \eqn{(\partial^2 k/\partial p_j \partial q_j)^{1/2}}{sqrt(d2k/dp_j dq_j)} at \eqn{p = q}.
#'
#' @section Delayed feedback (Verma, Dai and Low 2022): Rewards are bounded by `B_y`. A reward is late by at most `m`
#'   rounds with probability \eqn{\rho_m}{rho_m} = `rho`. If delays depend on the input, `rho` is the smallest such
#'   probability. All four have the constant
#'   \deqn{C_1 = \sqrt{2v/\log(1 + v/\lambda)}.}{C1 = sqrt(2 v / log(1 + v / lambda)).}
#'
#'   `"sdf"` (`noise_var, B, R, B_y, m, rho, delta = 0.1, variance = 1, any_noise_var = FALSE`) is Theorem 2. The bound
#'   is
#'
#'   \deqn{\frac{2}{\rho_m}(C_1\beta_T\sqrt{T\gamma_T} + m B_y C_1^2\gamma_T),}{(2 / rho_m) (C1 beta_T sqrt(T gamma_T) +
#'   m B_y C1^2 gamma_T),}
#'   \deqn{\beta_T = B + (R + B_y)\sqrt{2(\gamma_{T-1} + 1 + \log(2/\delta))}.}{beta_T = B + (R + B_y) sqrt(2
#'   (gamma_{T-1} + 1 + log(2/delta))).}
#'
#'   `"ts_sdf"` (as `"sdf"`, and `arms`) is Theorem 3 with the constants of its proof (Equation 23). There
#'   \eqn{\beta_T}{beta_T} has \eqn{\log(4/\delta)}{log(4/delta)}, and \eqn{c_T}{c_T} uses
#'   \deqn{\nu_T \le m B_y \sqrt v + \beta_T.}{nu_T <= m B_y sqrt(v) + beta_T.}
#'
#'   `"sdf_context"` (as `"sdf"`) and `"ts_sdf_context"` (as `"ts_sdf"`, and `contexts`, their number) are Theorem 4 and
#'   Appendix B. A context comes before every query, and regret is against the best point for it. The formulas are the
#'   same over pairs of context and point: `gain` and `B` are those of pairs, and
#'   \eqn{\log(|Q|t^2)}{log(|Q| t^2)} of the draws becomes \eqn{\log(|Z||Q|t^2)}{log(|Z| |Q| t^2)}.
#'
#'   The proofs need \eqn{\lambda > 1}{lambda > 1} and \eqn{k(x,x) \le 1}{k(x,x) <= 1}. Otherwise the formulas are
#'   computed as printed, with a warning. With `any_noise_var = TRUE` they hold for every \eqn{\lambda > 0}{lambda > 0},
#'   because factors that the proof drops are restored: \eqn{R + B_y} is divided by
#'   \eqn{\sqrt\lambda}{sqrt(lambda)}, and the \eqn{B_y} of the sum by \eqn{\lambda}{lambda}. The matching width is
#'   `width_sdf(width_realized(B, R + B_y, delta / 2), B_y / noise_var)`.
#'
#' @seealso [regret_bound()]; [gp_ucb()], [igp_ucb()], [gp_ucb_sdf()].
#' @concept regret bound
#' @concept Thompson sampling
#' @concept delayed feedback
#' @examples
#' gain <- information_gain(kernel_se(0.2), seq(0, 1, length.out = 50), noise_var = 0.1, rounds = 100)
#' # f drawn from the prior, or of RKHS norm at most 1: the regret of 100 rounds is at most
#' regret_bound("srinivas1", 100, gain, noise_var = 0.1, arms = 50)[100]
#' regret_bound("igp_ucb", 100, gain, B = 1, R = 0.1)[100]
#' @name regret_bounds_ucb
NULL

#' Regret bounds for functions that change
#'
#' Bounds of [regret_bound()] for functions that change, in jumps or slowly: formulas, arguments, conditions. Use them
#' to see how many changes an algorithm can bear. The notation is that of [regret_bound()]. Arguments without a value
#' must be given.
#'
#' @section Abrupt changes, a rate: `"cpd"` (`nu, d, Delta, change_points = NULL, constant = 1`) is Theorem 3.1 of
#'   Avanesov, a rate for the expected regret:
#'   \deqn{C \Delta^{-(2 + 2/(2\nu+d))} \sum_i T_i^{q} \log^3 T,}{C Delta^-(2 + 2/(2 nu + d)) sum_i T_i^q log(T)^3,}
#'   \deqn{q = \frac{2\nu + 3d(d+1)}{4\nu + 2d(d+1)}.}{q = (2 nu + 3 d (d + 1)) / (4 nu + 2 d (d + 1)).}
#'
#'   * \eqn{T_i} are the lengths of the stationary periods so far. `change_points` is the last round of each period but
#'     the last.
#'   * `Delta` is the smallest L2 distance of successive functions.
#'   * `constant` \eqn{C} is unknown, and `gain` is not used.
#'
#'   With \eqn{K} equal periods the rate is, up to the logarithm,
#'   \deqn{K^{1-q}T^{q},}{K^(1 - q) T^q,}
#'   which is \eqn{K^{0.214}T^{0.786}}{K^0.214 T^0.786} for \eqn{\nu = 5/2, d = 1}{nu = 5/2, d = 1}.
#'
#' @section Abrupt changes, Lemma A.1: `"cpd_finite"` (`nu, d, Delta, B, R, explore = sqrt(3), D = 1, constant = NULL,
#'   change_points = NULL, variance = 1, noise_var = NULL`; also `quantity = "regret"` and `failure = NULL`, see below)
#'   is Lemma A.1 of Avanesov, for finite \eqn{T}.
#'
#'   * Norms are at most `B` \eqn{= F}, and the noise is sub-Gaussian with `R` \eqn{= g}.
#'   * \eqn{\sigma^2 = 6g^2\log T}{s2 = 6 g^2 log T}, \eqn{\xi}{xi} = `explore`, and `D` \eqn{\ge 1}{>= 1} is that of
#'     (A.3).
#'   * \eqn{n^*}{n*} is the number of pairs that a change needs, at failure probability \eqn{4/T^3}{4/T^3}; see below.
#'     Its \eqn{C} = `constant` depends on the kernel and the ridge and is unknown.
#'
#'   Without `constant` (then 1) the result is the lemma as printed: a **rate, not a bound**, for growth in \eqn{T},
#'   \eqn{K} and \eqn{\Delta}{Delta}. `gain` is not used. With \eqn{q} as above it is
#'
#'   \deqn{\sqrt{\frac{8D\log^3T}{\log(1+\sigma^{-2})}}\sum_i T_i^q + \sqrt v F w\sum_i\sqrt{T_i},}{sqrt(8 D log(T)^3 /
#'   log(1 + 1/s2)) sum_i T_i^q + sqrt(v) F w sum_i sqrt(T_i),}
#'
#'   \deqn{w = \xi + 2n^*\left(\tfrac2\xi + \tfrac1{\xi^2}\right).}{w = xi + 2 n* (2/xi + 1/xi^2).}
#'
#'   A warning is given if the periods are too short (A.6), that is, unless
#'   \deqn{n^*(2/\xi + 1/\xi^2)\sqrt{2\max T_i} \le \min T_i.}{n* (2/xi + 1/xi^2) sqrt(2 max T_i) <= min T_i.}
#'
#' @section Sample size for detecting a change: `quantity = "pairs"` of `"cpd_finite"` returns \eqn{n^*}{n*} for every
#'   round: the number of uniformly sampled pairs in each half of the detector's window ([change_statistic()]) from
#'   which on a change is detected and no false alarm is raised, with high probability (Lemma C.3, Equation C.13).
#'
#'   \deqn{n^* = 2\left(\frac{C(F^2 + x^2g^2)}{\Delta^2}\right)^{1 + 1/(2\nu + d)},\qquad 4e^{-x} =
#'   \mathtt{failure}.}{n* = 2 (C (F^2 + x^2 g^2) / Delta^2)^(1 + 1 / (2 nu + d)), with 4 exp(-x) = failure.}
#'
#'   `failure` is the failure probability of one test, a number in (0, 1); `NULL`, the default, is
#'   \eqn{4/T^3}{4/T^3}. \eqn{C} = `constant` (`NULL` is 1) depends on the kernel and on \eqn{c}, and its value is
#'   unknown. The formula shows how \eqn{n^*}{n*} grows as the change gets smaller. The threshold and the ridge are
#'
#'   \deqn{\theta_n = C(F^2 + x^2g^2)n^{-(2\nu+d)/(2\nu+d+1)},\qquad c\,n^{1/(2\nu+d+1)}.}{theta_n = C (F^2 + x^2 g^2)
#'   n^(-(2 nu + d) / (2 nu + d + 1)), and c n^(1 / (2 nu + d + 1)).}
#'
#'   Two steps of the proof are printed with constants that are too small. A squared distance is at most twice, not
#'   once, the sum of two squares, so that (C.4) ends in \eqn{4\Delta_f^2}{4 Delta_f^2}. For the same reason (C.10)
#'   holds as
#'   \deqn{\hat\Delta^2 \ge \tfrac12\Delta^2 - 2\Delta_{f_1}^2 - 2\Delta_{f_2}^2.}{Delta_hat^2 >= Delta^2 / 2 - 2
#'   Delta_f1^2 - 2 Delta_f2^2.}
#'   Both change \eqn{C} only, and not the rates.
#'
#' @section Abrupt changes, a bound: Give `"cpd_finite"` a `constant` that holds, and a `gain` that is an upper bound at
#'   noise \eqn{\sigma^2}{s2}. The result is then the proof's bound with probability \eqn{1 - 7/T}{1 - 7/T}, for kernels
#'   whose eigenfunctions are bounded (Assumption D.1):
#'
#'   \deqn{\sum_i\sqrt{\frac{8T_i\beta\gamma_{T_i}}{\log(1+\sigma^{-2})}} + 2\sqrt v F\left[K +
#'   w\sum_i\sqrt{T_i}\right],}{sum_i sqrt(8 T_i beta gamma_{T_i} / log(1 + 1/s2)) + 2 sqrt(v) F (K + w sum_i
#'   sqrt(T_i)),}
#'
#'   \deqn{\beta = D(2F^2 + 300\gamma_{T_i}\log^3T^3),}{beta = D (2 F^2 + 300 gamma_{T_i} log(T^3)^3),}
#'
#'   where \eqn{K} is the number of periods so far. It differs from the printed lemma in three points. (A.13) drops
#'   \eqn{\beta_T}{beta_T}, which is not a constant. (B.14) drops a factor 2, hence 7 and not 6. A round may cost
#'   \eqn{2\sqrt vF}{2 sqrt(v) F}. This bound is above \eqn{2\sqrt vFT}{2 sqrt(v) F T}, and so has no content, at every
#'   horizon of practical size.
#'
#'   With `noise_var` too (and the `gain` at it) the first sum is that of [width_amm()] at
#'   \eqn{\delta = T^{-2}}{delta = T^-2} instead:
#'   \deqn{\sum_i2w_i\sqrt{cT_i\gamma_{T_i}},}{sum_i 2 w_i sqrt(c T_i gamma_{T_i}),}
#'   with widths \eqn{w_i} and \eqn{c = 2v/\log(1+v/\lambda)}{c = 2 v / log(1 + v / lambda)}. It holds for every
#'   \eqn{\lambda}{lambda} with probability \eqn{1 - 5/T}{1 - 5/T} and is smaller by orders of magnitude; the cost of
#'   delays is the same. (Original result, not peer-reviewed.)
#'
#' @section A prior that drifts: `"fade"` (`noise_var, arms, delta = 0.1, variance = 1`) is the dynamic regret of
#'   `change_oracle(rate = )` with `width_srinivas_finite(delta)` on arms, if \eqn{f} drifts as the kernel states. It is
#'   the formula of `"srinivas1"` with the **realised** information \eqn{I_T} as `gain` (`$information_gain()` after
#'   each round). It holds with probability \eqn{1-\delta}{1 - delta}. The reason: given the past, \eqn{f_t(x)} is
#'   normal with the posterior's mean and standard deviation, with or without drift. It is linear in \eqn{T}, because
#'   \eqn{I_T} is. (Original result, not peer-reviewed.)
#'
#' @references Avanesov (2019), How to gamble with non-stationary X-armed bandits and have no regrets
#'   <https://arxiv.org/abs/1908.07636>.
#' @seealso [regret_bound()]; [gp_ucb_cpd()], [calibrate_detector()], [gp_ucb_drift()]; `"bpe"` with `variation` in
#'   [regret_bounds_designs].
#' @concept non-stationary bandit
#' @concept change-point detection
#' @concept dynamic regret
#' @examples
#' # The rate of GP-UCB-CPD, with and without a change after round 500 (constants are not part of it):
#' regret_bound("cpd", 1000, nu = 2.5, d = 1, Delta = 1)[1000]
#' regret_bound("cpd", 1000, nu = 2.5, d = 1, Delta = 1, change_points = 500)[1000]
#' @name regret_bounds_changes
NULL

#' Regret and violation bounds with long-term constraints
#'
#' Bounds of [regret_bound()] on regret and violation with long-term constraints: formulas, arguments, conditions. Use
#' them to choose `epoch` and `step`, or to compare a run with its theorem. `quantity = "violation"` gives the bound of
#' the constraint violation instead of the regret. The notation is that of [regret_bound()]. Arguments without a value
#' must be given.
#'
#' @section Long-term constraints (Shi and Eryilmaz 2022): There are epochs of \eqn{S} = `epoch` rounds, and \eqn{L} =
#'   `epochs` of them (default: the number that `rounds` needs). Every epoch starts from a fresh posterior (`reuse =
#'   FALSE`). The violation is
#'   \deqn{\|[\sum_t g(x_t)]_+\|,}{|[sum_t g(x_t)]_+|,}
#'   the norm of the positive part of the sum. Constants are those of the proofs (Lemmas 1 and 3 there), with
#'   \eqn{\lambda = 1 + 2/S}{lambda = 1 + 2/S}. A given `noise_var` is compared with it.
#'
#' @section Constraints without noise: `"constraints_noiseless"` (`B, R, epoch, delta = 0.1, epochs, quantity =
#'   "regret", noise_var = NULL`, and for the violation `gap, count = 1, penalty_inverse = log`) is Theorem 1. An epoch
#'   costs, after \eqn{s} rounds,
#'
#'   \deqn{E(s) = 4(B + R\sqrt{2(\gamma_s + 1 + \log(L/\delta))})\sqrt{(s+2)\gamma_s}.}{E(s) = 4 (B + R sqrt(2 (gamma_s
#'   + 1 + log(L/delta)))) sqrt((s + 2) gamma_s).}
#'
#'   The regret after \eqn{l} epochs and \eqn{s} rounds is at most
#'   \deqn{l E(S) + E(s),}{l E(S) + E(s),}
#'   and the violation at most
#'
#'   \deqn{\sqrt{m}\,[S\psi_+^{-1}(1 + l\Delta + lE(S)/S) + s\psi_+^{-1}(1 + \Delta + E(s)/s)].}{sqrt(m) (S psi^-1(1 + l
#'   gap + l E(S)/S) + s psi^-1(1 + gap + E(s)/s)).}
#'
#'   * `gap` is \eqn{\Delta = \max f - f(x^*)}{max f - f(x*)}, and \eqn{m} = `count` is the number of constraints.
#'   * `penalty_inverse` is the inverse of \eqn{\psi}{psi} on \eqn{[1, \infty)}{[1, Inf)}. It is `log` for `penalty =
#'     "exponential"` with `penalty_scale = 1`.
#'
#' @section Constraints with noise: `"constraints_noisy"` (`B, R, epoch, step, Q, M, slater, count = 1, delta = 0.1,
#'   epochs, quantity = "regret", noise_var = NULL`) is Theorem 2. It assumes \eqn{|f| \le Q}{|f| <= Q} and
#'   \eqn{|g_j| \le M}{|g_j| <= M}. `slater` \eqn{= \epsilon}{= eps}: some point has all
#'   \eqn{g_j \le -\epsilon}{g_j <= -eps}. Let \eqn{\mu}{mu} be the `step` and
#'
#'   \deqn{a = \sqrt{4m} + \sqrt{\log(2L/\delta)},\quad W = \sqrt{2(\gamma_S + 1 + \log(2L/\delta))},}{a = sqrt(4 m) +
#'   sqrt(log(2 L / delta)), W = sqrt(2 (gamma_S + 1 + log(2 L / delta))),}
#'
#'   \deqn{G = \sqrt{(S+2)\gamma_S}.}{G = sqrt((S + 2) gamma_S).}
#'
#'   The multipliers stay below (Equation 33)
#'
#'   \deqn{\kappa = \mu(\sqrt m M + 2Ra/\sqrt S) + N/(\epsilon - 4RWG/S - 2Ra/\sqrt S),}{kappa = mu (sqrt(m) M + 2 R a /
#'   sqrt(S)) + N / (eps - 4 R W G / S - 2 R a / sqrt(S)),}
#'
#'   \deqn{N = 2Q + 4(B + RW)G/S + m\mu M^2 + 4\mu R^2a^2/S.}{N = 2 Q + 4 (B + R W) G / S + m mu M^2 + 4 mu R^2 a^2 /
#'   S.}
#'
#'   The first term of \eqn{\kappa}{kappa} is as its derivation gives it. The print divides by \eqn{S} instead of
#'   \eqn{\sqrt S}{sqrt(S)}. After \eqn{l} epochs the regret is at most
#'
#'   \deqn{l\,[4(B + \sqrt{1+\kappa^2}RW)G + mS\mu M^2 + 4\mu R^2a^2 + 2R\kappa a\sqrt S],}{l (4 (B + sqrt(1 + kappa^2)
#'   R W) G + m S mu M^2 + 4 mu R^2 a^2 + 2 R kappa a sqrt(S)),}
#'
#'   and the violation at most
#'   \deqn{S\kappa/\mu + 2Rla\sqrt S.}{S kappa / mu + 2 R l a sqrt(S).}
#'   Inside an epoch each round adds at most \eqn{2Q} to the regret and \eqn{\sqrt m M}{sqrt(m) M} to the violation. The
#'   theorem needs a positive denominator in \eqn{\kappa}{kappa}. Otherwise the bound is `Inf`.
#'
#' @section Slater's condition: Theorem 2 needs a point whose margin `slater` is larger than
#'
#'   \deqn{4R\sqrt{2(\gamma_S+1+\log(2L/\delta))}\,\frac{\sqrt{(S+2)\gamma_S}}{S} + 2R\left(\sqrt{4m/S} +
#'   \sqrt{\log(2L/\delta)/S}\right).}{4 R sqrt(2 (gamma_S + 1 + log(2 L / delta))) sqrt((S + 2) gamma_S) / S + 2 R
#'   (sqrt(4 m / S) + sqrt(log(2 L / delta) / S)).}
#'
#'   `quantity = "margin"` returns this number for every round, in units of the constraints; `B`, `step`, `Q`, `M` and
#'   `slater` are not used. The first term is the uncertainty about the target within an epoch, the second the noise of
#'   the constraints' average (the result at `gain = 0`).
#'
#'   Of the paper's experiments with noisy constraints, the condition holds for the data rates (E.2.2), and not for the
#'   small feasible region (E.1.2). The article on long-term constraints (in full) has the numbers.
#'
#' @references Shi and Eryilmaz (2022), A Bayesian approach for stochastic continuum-armed bandit with long-term
#'   constraints, AISTATS.
#' @seealso [regret_bound()]; [gp_ucb_noiseless_constraints()], [gp_ucb_noisy_constraints()], [baseline_constrained()].
#' @concept constrained Bayesian optimization
#' @concept long-term constraints
#' @examples
#' gain <- information_gain(kernel_se(0.2), seq(0, 1, length.out = 50), noise_var = 1, rounds = 200)
#' bound <- function(...) {
#'   regret_bound("constraints_noiseless", 400, gain, B = 1, R = 0.1, epoch = 200, ...)[400]
#' }
#' bound()                                  # regret
#' bound(quantity = "violation", gap = 0.5) # violation of one constraint
#' @name regret_bounds_constraints
NULL

#' Regret and violation bounds with outcome constraints (CONFIG, penalties)
#'
#' The bound of [regret_bound()] for UCB under outcome constraints: how far it is from the best allowed point, and by
#' how much limits are violated. The notation is that of [regret_bound()]. Arguments without a value must be given.
#'
#' `"penalty"` (`noise_var, width, constraint_width = width, penalty = Inf,
#' D = NULL, exact = NULL, count = 1, variance = 1, quantity = "regret"`) is for [baseline_constrained()]. With an
#' infinite penalty it is CONFIG, UCB under outcome constraints ([policy_ucb()] with [outcomes]). `"config"` is
#' another name of this theorem. \eqn{w_T} is the `width` (the multiplier of the posterior standard deviation), and
#' \eqn{c = 2v/\log(1+v/\lambda)}{c = 2 v / log(1 + v / lambda)}.
#'
#' @section Regret: The regret against the best feasible point is
#' \deqn{\sum_t [f(x^*) - f(x_t)]_+ \le 2w_T\sqrt{cT\gamma_T}.}{sum_t [f(x*) - f(x_t)]+ <= 2 w_T sqrt(c T gamma_T).}
#'
#' In fact \eqn{f(x^*) - f(x_t)\le 2w_f\sigma_f(x_t)}{f(x*) - f(x_t) <= 2 w_f sd_f(x_t)} in **every** round, for any
#' feasible \eqn{x^*}{x*}.
#'
#' @section Violation: `quantity = "violation"` is the hard violation, in which later rounds cannot compensate:
#' \deqn{V^+=\sum_t\sum_j\max(g_j(x_t), 0).}{V+ = sum_t sum_j max(g_j(x_t), 0).}
#' With \eqn{m} = `count` constraints, and a `gain` that bounds all gains, it is at most
#' \deqn{2mw_{g,T}\sqrt{cT\gamma_T}.}{2 m w_g sqrt(c T gamma_T).}
#'
#' @section Finite penalties: A finite penalty \eqn{\rho_t}{penalty(t)} does not change the bound of the regret. With
#' \eqn{D = \max f - f(x^*)}{D = max f - f(x*)} it increases that of the violation by
#'
#' \deqn{2w_T\sqrt{c\gamma_T\sum_t\rho_t^{-2}} + D\sum_t\rho_t^{-1}.}{2 w_T sqrt(c gamma_T sum_t penalty(t)^-2) + D
#' sum_t 1 / penalty(t).}
#'
#' With `penalty = function(t) sqrt(t)` the term of \eqn{D} is at most \eqn{2D\sqrt T}{2 D sqrt(T)}. Neither Slater's
#' condition nor a point that appears feasible is needed.
#'
#' For a constant \eqn{\rho}{penalty} above the least exact one, `exact` \eqn{= \rho^*}{= rho*}, the violation is
#' instead at most
#' \deqn{2(w_T + \rho mw_{g,T})\sqrt{cT\gamma_T}/(\rho-\rho^*).}{2 (w_T + penalty m w_g) sqrt(c T gamma_T)
#' / (penalty - rho*).}
#'
#' \eqn{\rho^*}{rho*} is the smallest number with
#' \deqn{f(x)-\rho^*\sum_j[g_j(x)]_+\le f(x^*)\mbox{ for all }x.}{f(x) - rho* sum_j [g_j(x)]+ <= f(x*) for all x.}
#'
#' Below it, \eqn{V^+}{V+} may grow like \eqn{T}.
#'
#' @section Guarantee: CONFIG needs neither a step nor Slater's condition. If the lower bounds of some constraint are
#' above 0 everywhere, then with probability \eqn{1-\delta}{1 - delta} no point is feasible.
#'
#' All hold with probability \eqn{1-\delta}{1 - delta}, if each of the \eqn{m+1} widths holds in all rounds together
#' with probability \eqn{1-\delta/(m+1)}{1 - delta / (m + 1)}, for example [width_amm()]. The sum for a single
#' constraint is the regret's formula, with the `gain`, `noise_var`, `width` and `variance` of its outcome. (Original
#' result, not peer-reviewed.)
#'
#' Theorem 1 of Guo, Zhu and Liu (2023) is of this kind. Their penalties grow with the violations, and with
#' \eqn{Q_j \ge \rho_t}{Q_j >= penalty(t)} the bounds cover `baseline_constrained("rpol")` too, whose
#' \eqn{\rho_t}{penalty(t)} is `function(t) sqrt(max(t - 1, 1))`. The term of \eqn{D} is then at most
#' \eqn{2D\sqrt{T}}{2 D sqrt(T)}, theirs with \eqn{D \le 2B}{D <= 2 B}. With `pending = pending_censor(m)` the regret is
#' `"sdf"`, the sum of the \eqn{[g_j]_+} is at most the `"sdf"` of \eqn{g_j}, and the term of the penalties has its
#' width for \eqn{w_t}.
#'
#' @section RPOL with late or changing values: `baseline_constrained("rpol")` has two versions for these.
#'
#' * `pending = pending_censor(m)` is the paper's version for delays (its Theorem 6). All queries are in the variances.
#'   Values that are missing, or came after more than `m` rounds, count as 0 in the means. The width is [width_sdf()]
#'   unless `width` is given. The reward and the constraints of a query arrive together; the paper has a delay for each.
#' * `changes = change_oracle(every = H)` begins the posteriors again every `H` queries. The penalties continue. The
#'   technical report has a version for changing functions, which we could not read; this one is ours. The bounds hold
#'   if the width is \eqn{w_t + V\sqrt{H/\lambda}}{w_t + V sqrt(H / lambda)}, where no function changes by more than
#'   \eqn{V} within \eqn{H} rounds (original result, not peer-reviewed).
#'
#' @references Xu, Jiang, Svetozarevic and Jones (2023), Constrained efficient global optimization of expensive
#'   black-box functions, ICML; Lu and Paulson (2022), No-regret Bayesian optimization with unknown equality and
#'   inequality constraints using exact penalty functions, IFAC-PapersOnLine; Guo, Zhu and Liu (2023)
#'   <https://arxiv.org/abs/2211.14720>.
#' @seealso [regret_bound()]; [baseline_constrained()], [outcomes].
#' @concept constrained Bayesian optimization
#' @concept exact penalty
#' @examples
#' gain <- information_gain(kernel_se(0.2), seq(0, 1, length.out = 50), noise_var = 0.1, rounds = 100)
#' regret_bound("penalty", 100, gain, noise_var = 0.1, width = 3)[100]
#' regret_bound("penalty", 100, gain, noise_var = 0.1, width = 3, quantity = "violation")[100]
#' @name regret_bounds_outcomes
NULL

#' Regret bounds from confidence widths
#'
#' Bounds of [regret_bound()] for a width of your choice: formulas, arguments, conditions. Use them for a bandit that
#' you built from parts. The notation is that of [regret_bound()]. A confidence width \eqn{w_t} is the multiplier of the
#' posterior standard deviation. The bounds `"ucb"`, `"glm"` and `"duel"` need a width that holds in all rounds together
#' (see [widths]), and hold with its probability.
#'
#' The argument `width` is a number, one number per round, or a function of \eqn{t}. With
#' \deqn{c = 2v/\log(1+v/\lambda)}{c = 2 v / log(1 + v / lambda)}
#' the bounds follow from two facts:
#' \deqn{r_t\le 2w_t\sigma_{t-1}(x_t),\quad \sum_t\sigma_{t-1}^2(x_t)\le c\gamma_T.}{r_t <= 2 w_t sd_{t-1}(x_t), sum_t
#' sd_{t-1}(x_t)^2 <= c gamma_T.}
#'
#' @section UCB: `"ucb"` (`noise_var, width, guard = 0, repeats = 1, epsilon = 0, variance = 1, B = NULL, total = 0`) is
#'   \deqn{2 e^GCw_T\sqrt{cT\gamma_T}.}{2 exp(G) C w_T sqrt(c T gamma_T).}
#'
#'   * \eqn{G} = `guard` is that of [pending_hallucinate()].
#'   * \eqn{C} = `repeats` is that of [policy_repeats()], if one play of a point shrinks its standard deviation by this
#'     factor at most.
#'   * `total` \eqn{= C} of [width_corrupt()] adds \eqn{C/\sqrt\lambda}{C / sqrt(lambda)} to the width.
#'   * `epsilon` \eqn{= \epsilon}{= epsilon} of [width_ec()] adds
#'     \eqn{\epsilon\sqrt{(t-1)/\lambda}}{epsilon sqrt((t - 1) / lambda)} to the width and
#'     \eqn{2\epsilon T}{2 epsilon T} to the bound.
#'
#'   With `B`, a bound of the norm of \eqn{f}, the result is the smaller of this and
#'
#'   \deqn{2B\sqrt v\,n_1 + 2w_T\sqrt{2\lambda T\gamma_T/\log 2},\quad n_1 = 2\gamma_T/\log 2.}{2 B sqrt(v) n1 + 2 w_T
#'   sqrt(2 lambda T gamma_T / log(2)), n1 = 2 gamma_T / log(2).}
#'
#'   It is the smaller one if \eqn{\lambda}{lambda} is small. The reason: at most \eqn{n_1} rounds have
#'   \eqn{\sigma^2 > \lambda}{sd^2 > lambda}. The variances of the others sum to at most
#'   \eqn{2\lambda\gamma_T/\log 2}{2 lambda gamma_T / log(2)}. (Original result, not peer-reviewed, after an idea of
#'   Iwazaki and Takeno 2025.)
#'
#' @section Rewards without noise: `"noise_free"` (`B, gains, noise_var = 1e-10, variance = 1, quantity = "regret"`) is
#'   UCB with `width_amm(B, R = 0)`, which is `B`, and rewards \eqn{f(x_t)}. `gains` is a function of a noise variance
#'   \eqn{\lambda}{lambda} that returns \eqn{\gamma_1(\lambda), \dots, \gamma_T(\lambda)}{gamma_1(lambda), ...,
#'   gamma_T(lambda)}. Let \eqn{s_i} be the smallest number such that for some \eqn{\lambda}{lambda}
#'   \deqn{\tfrac N2\log(1 + s_i^2/\lambda) \ge \gamma_N(\lambda) \mbox{ for all } N\ge i.}{(N / 2) log(1 + s_i^2 /
#'   lambda) >= gamma_N(lambda) for all N >= i.}
#'   The \eqn{i}-th largest \eqn{\sigma_{t-1}(x_t)}{sd_{t-1}(x_t)} is at most \eqn{s_i}, so that
#'   \deqn{R_T \le 2B\sum_{i\le T}s_i,\quad \min_{t\le T}r_t \le 2Bs_T\mbox{ (quantity = "simple").}}{R_T <= 2 B (s_1 +
#'   ... + s_T), min r_t <= 2 B s_T (quantity = "simple").}
#'   The first is replaced by \eqn{2B\sqrt{cT\gamma_T}}{2 B sqrt(c T gamma_T)} if that is smaller. \eqn{\lambda}{lambda}
#'   and \eqn{s_i^2}{s_i^2} are from a grid from \eqn{v} down to the bandit's `noise_var`, by factors of 4. The second
#'   bound also holds for the largest posterior mean after [policy_variance()].
#'
#'   With the known rates of the gain, and \eqn{\lambda \le s_T^2}{lambda <= s_T^2}, \eqn{R_T} is bounded by a constant
#'   for [kernel_se()], and for [kernel_matern()]
#'   with \eqn{\nu > d}{nu > d}; for \eqn{\nu < d}{nu < d} it grows like \eqn{T^{1-\nu/d}}{T^(1 - nu / d)}, up to
#'   logarithms. This is the result of Iwazaki (2025). The constants are ours (not peer-reviewed).
#'
#' @section Clipped rewards: `"clip"` (`noise_var, B, moment, alpha = 1, delta = 0.1, variance = 1`) is the bound with
#'   [width_realized()] of `rewards_robust(moment = , rounds = T)`, see [rewards-clipped].
#'
#' @section Successes, counts and comparisons: `"glm"` (`noise_var, B, width, link = "logit", mean = 0, variance = 1`)
#'   is UCB with [width_glm()], whose width \eqn{r_t} is `width`. It bounds the regret of the latent \eqn{f} by
#'   \deqn{2w_T\sqrt{cT\gamma_T},}{2 w_T sqrt(c T gamma_T),}
#'   with `gain` and \eqn{\lambda}{lambda} = `noise_var` at \eqn{\kappa}{kappa} or above. \eqn{1/\kappa}{1 / kappa} is
#'   the least \eqn{-\ell''}{-l''} of a reward of size 1, for values in \eqn{m\pm B\sqrt v}{m +- B sqrt(v)}. `link` is
#'   `"logit"`, `"probit"` or `"counts"`, and \eqn{m} = `mean`.
#'
#'   `"duel"` (`noise_var, B, width, variance = 1, both = FALSE, first = 0`) is [policy_duel()] with `rule = "last"`,
#'   one duel at a time. It bounds the sum of \eqn{f(x^*) - f(x_t)}{f(x*) - f(x_t)} over the second points. The formula
#'   is that of `"glm"` with \eqn{4v} for \eqn{v}, \eqn{m = 0} and a `gain` of differences. For `both` players it is
#'   twice that, plus `first` \eqn{= f(x^*) - f(x_0)}{= f(x*) - f(x_0)}.
#'
#'   Both are original results, not peer-reviewed, and need an exact engine. They use that the estimate is kept within
#'   the ball of norm `B`, so that each \eqn{c_i\ge1/\kappa}{c_i >= 1 / kappa}. (POP-BO's own bound, Xu et al. 2024, is
#'   of order \eqn{T^{3/4}}{T^(3/4)}.)
#'
#' @section Randomised policies: These bound the expected regret over \eqn{n} = `arms` arms, for \eqn{f} drawn from the
#'   prior.
#'
#'   `"irgp"` (`noise_var, arms, variance = 1`) is for [width_irgp()] and [policy_pims()] (Takeno et al. 2023, 2024):
#'   \deqn{\sqrt{c(2+2\log(n/2))T\gamma_T}.}{sqrt(c (2 + 2 log(n / 2)) T gamma_T).}
#'
#'   `"eims"` (`noise_var, arms, variance = 1, least = variance`) is for [policy_eims()]:
#'
#'   \deqn{\sqrt{cT\gamma_T(D + 2\log(D+3) + \log(\tfrac{v}{v_0}(1+(T-1)v/\lambda)))},}{sqrt(c T gamma_T (D + 2 log(D +
#'   3) + log((v / v0) (1 + (T - 1) v / lambda)))),}
#'
#'   with \eqn{D = 2+2\log(n/2)}{D = 2 + 2 log(n / 2)}, for \eqn{v_0\le k(x,x)\le v}{v0 <= k(x, x) <= v}, where
#'   \eqn{v_0} = `least`. (Original result, not peer-reviewed; see [policies].)
#'
#' @section Unknown lengthscales: `"balanced_lengthscale"` (`B, R, d, growth, delta = 0.1, constant = 1, noise_var =
#'   NULL`) and `"adaptive_lengthscale"` (the same, and `norm_growth = function(t) 1`) are orders for
#'   [gp_ucb_lengthscale()] with an unknown `constant`. They are `"igp_ucb"` with the true lengthscale's `gain` and norm
#'   `B`, times respectively
#'   \deqn{\max(1, d\log g(t)) \quad\mbox{and}\quad b(t)g(t)^d,}{max(1, d log g(t)) and b(t) g(t)^d,}
#'   where \eqn{g} is `growth` and \eqn{b} is `norm_growth`.
#'
#' @references Iwazaki (2025) <https://arxiv.org/abs/2502.19006>; Iwazaki and Takeno (2025)
#'   <https://arxiv.org/abs/2502.06363>.
#' @seealso [regret_bound()]; [widths].
#' @concept regret bound
#' @concept logistic bandit
#' @concept dueling bandits
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' gain <- information_gain(kernel_se(0.2), x, noise_var = 0.1, rounds = 100)
#' # UCB with a width that holds in all rounds, for 50 arms and f drawn from the prior:
#' w <- sqrt(2 * log(50 * (1:100)^2 * pi^2 / (6 * 0.1)))
#' regret_bound("ucb", 100, gain, noise_var = 0.1, width = w)[100]
#' regret_bound("irgp", 100, gain, noise_var = 0.1, arms = 50)[100] # expected regret, by random widths
#' @name regret_bounds_widths
NULL

#' Regret bounds for batches, designs and level sets
#'
#' Bounds of [regret_bound()] for batches, designs and level sets: formulas, arguments, conditions. Use them to see how
#' many rounds a design needs. The notation is that of [regret_bound()]. A confidence width \eqn{w} is the multiplier of
#' the posterior standard deviation, see [widths]. As in [regret_bounds_widths], \eqn{c = 2v/\log(1+v/\lambda)}{c = 2 v
#' / log(1 + v / lambda)} and \eqn{n_1 = 2\gamma/\log 2}{n1 = 2 gamma / log(2)}.
#'
#' @section Batched pure exploration: `"bpe"` (`noise_var, B, R, arms, delta = 0.1, variance = 1, wait = 0, variation =
#'   NULL, spacing = 0`) is for [bpe()]. A round of the first batch costs at most \eqn{2B\sqrt v}{2 B sqrt(v)}, and a
#'   later round at most \eqn{4w\bar\sigma}{4 w s}. \eqn{w} is its [width_fixed()], and \eqn{N} the size of the batch
#'   before:
#'
#'   \deqn{\bar\sigma^2 = \min\{c\gamma_N/N,\; (2\lambda\gamma_N/\log 2)/(N-n_1)\}.}{s^2 = min(c gamma_N / N, (2 lambda
#'   gamma_N / log(2)) / (N - n1)).}
#'
#'   * **Boxes.** The regret is against the best of the `arms` candidates. On a box or a search space the maximum may
#'     lie between them. `spacing` \eqn{= \eta}{= eta} is the largest kernel distance of a point of the domain from its
#'     nearest candidate, \eqn{\eta^2 = k(x,x) - 2k(x,x') + k(x',x')}{eta^2 = k(x, x) - 2 k(x, x') + k(x', x')}. It adds
#'     \eqn{BT\eta}{B T eta}, because \eqn{|f(x)-f(x')|\le B\eta}{|f(x) - f(x')| <= B eta}. The bound is then against
#'     the maximum over the domain. With `spacing = 0` nothing is stated about points between the candidates.
#'   * **Late rewards.** Every batch lasts `wait` rounds longer (a number, or one per batch). `wait` is the largest
#'     delay of the batch.
#'   * **Drift.** With `variation` \eqn{= V_T}{= V_T} the result is the dynamic regret of its restarts, every \eqn{H}
#'     points. It adds \eqn{2(b-1)HV_T}{2 (b - 1) H V_T}, where \eqn{b} is the number of batches between restarts
#'     (original result, not peer-reviewed).
#'
#' @section GP-UCB-PE: `"gp_ucb_pe"` (`noise_var, width, guard, variance = 1`) is for all queries of [gp_ucb_pe()], in
#'   batches or with delays:
#'   \deqn{5e^Gw_T\sqrt{cT\gamma_T}.}{5 exp(G) w_T sqrt(c T gamma_T).}
#'   Pending queries must never hold more than `guard` \eqn{= G} nats. (For batches of \eqn{K} this is
#'   \eqn{\gamma_{K-1}}{gamma_(K-1)}.) The reason: an explored point has
#'
#'   \deqn{f(x^*) - f(x)\le 2w\sigma(x^*) + 3w\sigma(x),}{f(x*) - f(x) <= 2 w sd(x*) + 3 w sd(x),}
#'
#'   and \eqn{x^*}{x*} was among the points that could be explored. The paper bounds the regret of the best of each
#'   batch. A step of that proof could not be checked, so that bound is not included.
#'
#' @section Maximum variance reduction: `"mvr"` (`noise_var, B, R, arms, delta = 0.1, looks = 1, variance = 1`) bounds
#'   the **simple** regret of the point with the largest posterior mean after \eqn{N} rounds of [policy_variance()]:
#'   \deqn{2w\max_x\sigma_N(x),}{2 w max sd_N,}
#'   with probability \eqn{1-\delta}{1 - delta} at `looks` rounds that are fixed in advance. \eqn{w} is that of
#'   [width_fixed()]. \eqn{\max\sigma_N^2}{max sd_N^2} is at most \eqn{c\gamma_N/N}{c gamma_N / N} (Vakili et al. 2021),
#'   and at most \eqn{(2\lambda\gamma_N/\log 2)/(N-n_1)}{(2 lambda gamma_N / log(2)) / (N - n1)}; the smaller one is
#'   used. For the number of experiments that a given domain really needs use [plan_experiments()].
#'
#' @section Level sets and perturbed inputs: These are not cumulative.
#'
#'   * `"lse"` (`noise_var, width, variance = 1`): the accuracy to which [gp_lse()] has labelled all points by round
#'     \eqn{T}, \eqn{w_T\sqrt{c\gamma_T/T}}{w_T sqrt(c gamma_T / T)}.
#'   * `"stable"` (`noise_var, width, variance = 1`): how far [stable_opt()] is from the best worst case or value at
#'     risk, \eqn{2w_T\sqrt{c\gamma_T/T}}{2 w_T sqrt(c gamma_T / T)}.
#'   * `"straddle"` (`noise_var, variance = 1`): the expected loss of labels, averaged over rounds,
#'     \eqn{\sqrt{2c\gamma_T/T}}{sqrt(2 c gamma_T / T)}.
#'
#' @seealso [regret_bound()]; [bpe()], [gp_ucb_pe()], [plan_experiments()], [gp_lse()], [stable_opt()].
#' @concept batch Bayesian optimization
#' @concept simple regret
#' @concept level set estimation
#' @examples
#' gain <- information_gain(kernel_se(0.2), seq(0, 1, length.out = 30), noise_var = 0.25, rounds = 200)
#' regret_bound("bpe", 200, gain, noise_var = 0.25, B = 1, R = 0.1, arms = 30)[200]
#' regret_bound("igp_ucb", 200, gain, B = 1, R = 0.1)[200]
#' @name regret_bounds_designs
NULL
