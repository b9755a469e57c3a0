# Information gains that widths use. Layer: strategy.

#' Information gain in confidence widths
#'
#' The argument `gain` sets which bound of the information gain a confidence width uses. A confidence width, such as
#' [width_igp()], is the multiplier of the posterior standard deviation.
#'
#' If in doubt, use `"realized"` where the width's page allows it, and otherwise `"greedy"`. A number from a paper, or
#' `gain_rate()`, is for reproductions.
#'
#' A width needs the largest information, in nats, that \eqn{s} observations can give about the function:
#' \deqn{\gamma_s = \max_{|A| = s} \tfrac12 \log\det(I + K_A/\lambda).}{gamma_s = max over s points A of 1/2 log det(I +
#' K_A / lambda).}
#'
#' Here \eqn{s = t - 1} is the number of points before round \eqn{t}, and \eqn{\lambda}{lambda} is `noise_var`. `gain`
#' is a number (the same for every \eqn{s}), a function of \eqn{s}, or one of these:
#'
#' * `"realized"`: \eqn{\tfrac12 \log\det(I + K_{t-1}/\lambda)}{1/2 log det(I + K/lambda)} of the points played since
#'   the last restart. Pending points are included if the pending rule (the rule for queries without a reward) includes
#'   them in the variance. It is valid in every bound whose proof only uses the realised determinant, and much smaller.
#' * `"greedy"`: greedy maximisation over the arms, times \eqn{e/(e-1)}. It is an upper bound of \eqn{\gamma_s}{gamma_s}
#'   by submodularity.
#' * `"spectral"`: the allocation of Srinivas et al., Theorem 4, over the Gram matrix's eigenvalues (water-filling). It
#'   is an upper bound of \eqn{\gamma_s}{gamma_s}.
#' * `gain_rate(scale, source)`: the kernel's rate of growth times `scale`. Its constant is unknown, so a rate is not a
#'   bound. `"rate"` is `gain_rate()`.
#'
#' All are 0 at \eqn{s = 0}. The rate is 0 at \eqn{s = 1} too.
#'
#' @section Rates: \eqn{d} is the number of inputs that the kernel uses. Other kernels than these are an error.
#'
#'   * Squared exponential: \eqn{(\log s)^{d+1}}{(log s)^(d+1)}.
#'   * Linear: \eqn{d \log s}{d log s}.
#'   * Matern: \eqn{s^{d(d+1)/(2\nu+d(d+1))} \log s}{s^(d(d+1)/(2 nu + d(d+1))) log s}.
#'   * Matern, `source = "vakili"`:
#'     \eqn{s^{d/(2\nu+d)}\log^{2\nu/(2\nu+d)}s}{s^(d / (2 nu + d)) (log s)^(2 nu / (2 nu + d))}, for kernels whose
#'     eigenfunctions are bounded (Vakili et al. 2021). It is smaller. The rates of the other kernels stay the same.
#'
#'   For \eqn{\nu = 5/2}{nu = 5/2} in 1, 2, 3 inputs the power of \eqn{s} with `"vakili"` is 0.167, 0.286, 0.375 instead
#'   of 0.286, 0.545, 0.706. IGP-UCB's regret is then sublinear if \eqn{\nu > d/2}{nu > d / 2}.
#'
#' @param scale a number > 0 that multiplies the rate, by default 1.
#' @param source source of the rate: `"srinivas"` (default), Srinivas et al. (2010); or `"vakili"`, Vakili, Khezeli and
#'   Picheny (2021).
#' @return `gain_rate()`: an object of class `bandit_gain`. Its values are in nats.
#' @section Errors: `"greedy"` and `"spectral"` need finitely many arms.
#' @references Srinivas, Krause, Kakade, Seeger (2010), Theorems 4 and 5 <https://arxiv.org/abs/0912.3995>;
#'   Chowdhury and Gopalan (2017); Vakili, Khezeli and Picheny (2021) <https://arxiv.org/abs/2009.06966> (rates from its
#'   abstract).
#' @seealso [information_gain()] for the sequences themselves, [width_igp()].
#' @concept maximum information gain
#' @concept mutual information
#' @examples
#' width_igp(B = 1, R = 0.1, delta = 0.1, gain = "greedy")
#' width_igp(B = 1, R = 0.1, delta = 0.1, gain = function(s) 2 * log1p(s))
#' # The largest information gain of 10 and 100 observations of 50 arms, in nats:
#' x <- seq(0, 1, length.out = 50)
#' information_gain(kernel_se(0.2), x, noise_var = 0.1, rounds = 100)[c(10, 100)]
#' @name gains
NULL

# The gains that a string can select.
gain_strings <- c("realized", "greedy", "spectral")

new_gain <- function(type) new_part("bandit_gain", type, parent.frame())

# Traits of a gain. `of_points_played`: it is known once the point is. `bounds`: it is at least the largest gain of that
# number of points. `counts_arms`: it needs finitely many arms. `resolved`: a function that makes the core's settings
# from those of the gain, if they depend on the bandit.
gain_traits <- list(of_points_played = FALSE, bounds = FALSE, counts_arms = FALSE, text = function(gain) gain$type,
                    resolved = function(gain) function(gain, config) gain)

gain_entries <- list(
  number = list(settings = alist(value = check_bound(value, "gain")),
                traits = list(text = function(gain) format(gain$value))),
  "function" = list(settings = alist(f = check_function(f, "gain")),
                    traits = list(text = "user function", resolved = function(gain) function(gain, config) {
                      gain$f <- checked_function(gain$f, "gain")
                      gain
                    })),
  realized = list(traits = list(of_points_played = TRUE, bounds = TRUE)),
  greedy = list(traits = list(counts_arms = TRUE)),
  spectral = list(traits = list(counts_arms = TRUE, bounds = TRUE)),
  rate = list(settings = alist(scale = check_positive(scale),
                               source = check_choice(source, c("srinivas", "vakili"))),
              traits = list(text = function(gain) {
                sprintf("rate%s x %g", if (gain$source == "vakili") " of Vakili et al." else "", gain$scale)
              },
                            resolved = function(gain) resolve_rate))
)

#' @rdname gains
#' @export
gain_rate <- function(scale = 1, source = c("srinivas", "vakili")) new_gain("rate")

as_gain <- function(gain, arg = "gain") {
  allowed <- "\"realized\", \"greedy\", \"spectral\", \"rate\", a number >= 0, a function of s, or gain_rate()"
  if (missing(gain)) stop_missing(arg, allowed)
  if (is_text(gain) && length(gain) == 1 && gain %in% gain_strings) return(new_gain(as.vector(gain)))
  if (identical(gain, "rate")) return(gain_rate())
  if (inherits(gain, "bandit_gain")) return(check_class(gain, "bandit_gain", arg))
  if (is.function(gain)) {
    f <- gain
    return(new_gain("function"))
  }
  if (is_number(gain) && length(gain) == 1 && is.finite(gain) && gain >= 0) {
    value <- gain
    return(new_gain("number"))
  }
  stop_argument(arg, describe(gain), allowed)
}

# A gain in the core's format.
resolve_gain <- function(gain, config) {
  if (trait(gain, "counts_arms") && !is_tabulated_space(config)) {
    where <- if (!can_count(config$domain)) paste("on", describe_domain(config$domain))
             else "in contexts without a table (or with more than 50,000 pairs)"
    stop_argument("gain", sprintf("\"%s\" %s", gain$type, where),
                  "\"realized\", gain_rate(), a number or a function if arms and contexts are not finitely many")
  }
  trait(gain, "resolved")(unclass(gain), config)
}

# The rate of growth depends on the kernel, which is only known in a bandit.
resolve_rate <- function(gain, config) {
  kernel <- config$kernel
  d <- if (is.null(kernel$dims)) length(input_names(config)) else length(kernel$dims)
  growth <- trait(kernel, if (gain$source == "vakili") "sharp_growth" else "gain_growth")
  if (is.null(growth)) {
    stop_argument("gain", sprintf("gain_rate() with a kernel of type %s", kernel$type),
                  "gain_rate() with a squared-exponential, Matern or linear kernel")
  }
  growth <- growth(kernel, d)
  list(type = "rate", scale = gain$scale * growth[["factor"]], log_power = growth[["log_power"]],
       power = growth[["power"]])
}

# A user's function of one number, whose values are checked at each call.
checked_function <- function(f, arg) {
  force(f)  # callers assign the result to the variable that holds f
  function(t, ...) {
    value <- call_user(f(t, ...), arg, sprintf("at %g", t))
    if (!is_number(value) || length(value) != 1 || !is.finite(value) || value < 0 || value > largest_number) {
      stop_returned(arg, value, sprintf("one finite number >= 0 and <= %g", largest_number), sprintf(" at %g", t))
    }
    as.double(value)
  }
}

#' @export
print.bandit_gain <- function(x, ...) {
  check_class(x, "bandit_gain")
  cat(sprintf("<information gain: %s>\n", describe_gain(x)))
  invisible(x)
}

describe_gain <- function(gain) trait(gain, "text")

register_family("bandit_gain", gain_entries, tag = "type", traits = gain_traits)
