# Delays of problems. Layer: simulation.

#' Delays of a problem's rewards
#'
#' How many rounds a reward takes before the bandit may use it.
#'
#' The delay d_s of round s's reward is a whole number of rounds; the reward can
#' be used when round t's query is chosen if and only if d_s <= t - s. So a delay
#' of 0 or of 1 means "before the next query". Delays are drawn from R's generator.
#' - `delay_fixed(d)`: always `d`.
#' - `delay_poisson(mean)`: Poisson.
#' - `delay_geometric(mean)`: P(d = i) = p (1 - p)^i for i = 0, 1, ..., with
#'   p = 1 / (1 + `mean`).
#' - `delay_function(f)`: `f(n)`, or `f(n, x)` where delays depend on the input, must return `n` whole numbers >= 0;
#'   `Inf` means that the reward never comes.
#'
#' The first three are independent of the point played. Verma et al. (Section 3.3) allow delays that depend on it (a larger network
#' trains longer): their bounds hold with the smallest \eqn{P(d_t \le m)} over the inputs for \eqn{\rho_m}{rho_m}.
#'
#' @param d whole number of rounds, 0 or more.
#' @param mean mean delay in rounds, 0 or more.
#' @param f a function of one count `n` that returns `n` delays, called once for a run, with the number of rounds; or a function
#'   `f(n, x)` with a second argument without a default, called in every round with `n = 1` and the query: a matrix of one row, its named
#'   columns the inputs (actions, then contexts). Each round has random numbers of its own, drawn beforehand: two bandits that
#'   play the same point in the same round meet the same delay.
#' @return An object of class `bandit_delay`.
#' @section Errors: a `gpbandits_error` if a parameter is negative or not a
#'   number, and, when it is drawn, if `f` returns anything but `n` whole numbers >= 0 (in a round whose delay depends on
#'   the input: before the query is played).
#' @seealso [bandit_problem()], [noise_gaussian()].
#' @references Verma, A., Dai, Z. and Low, B. K. H. (2022). Bayesian optimization
#'   under stochastic delayed feedback. *ICML*.
#' @examples
#' delay_poisson(10)
#' # every fifth reward is lost
#' delay_function(function(n) ifelse(seq_len(n) %% 5 == 0, Inf, 1))
#' # the larger the first input, the longer it takes
#' delay_function(function(n, x) rpois(n, 10 * x[, 1]))
#' @export
delay_fixed <- function(d) {
  d <- check_count(d, lower = 0)
  new_delay("fixed", c(d = d), function(n) rep(d, n))
}

#' @rdname delay_fixed
#' @export
delay_poisson <- function(mean) {
  mean <- check_number(mean, lower = 0)
  new_delay("poisson", c(mean = mean), function(n) stats::rpois(n, mean))
}

#' @rdname delay_fixed
#' @export
delay_geometric <- function(mean) {
  mean <- check_number(mean, lower = 0)
  new_delay("geometric", c(mean = mean), function(n) stats::rgeom(n, 1 / (1 + mean)))
}

#' @rdname delay_fixed
#' @export
delay_function <- function(f) {
  check_function(f)
  new_delay(if (takes_input(f)) "function of the input" else "function", numeric(), f)
}

# f(n, x), not f(n) or f(n, and what has a default).
takes_input <- function(f) {
  arguments <- formals(args(f))
  length(arguments) >= 2 && names(arguments)[2] != "..." && identical(arguments[[2]], quote(expr = ))
}

depends_on_input <- function(delay) !is.null(delay) && takes_input(delay$draw)

new_delay <- function(type, parameters, draw) new_part("bandit_delay")

delay_entry <- list(settings = alist(type = check_string(type), parameters = check_numbers(parameters),
                                     draw = check_function(draw)))

draw_delay <- function(delay, n) {
  value <- if (is.null(delay)) rep(0, n) else call_user(delay$draw(n), "delay", sprintf("for %.0f rounds", n))
  check_delays_drawn(value, n, "f(n)")
}

check_delays_drawn <- function(value, n, call) {
  if (!is_number(value) || length(value) != n || anyNA(value) || any(value < 0) ||
      any(value != round(value))) {
    stop_argument("delay", paste("a function that returned", describe(value)),
                  sprintf("a function %s that returns n whole numbers >= 0 (n = %d)", call, as.integer(n)))
  }
  # A finite stand-in for "never", so that the core may count in integers.
  pmin(as.double(value), .Machine$integer.max)
}

# The delay of one query (a matrix of one row) with the random numbers of its round.
delay_of_query <- function(delay, x, seed) {
  value <- preserve_rng({
    set.seed(seed)
    call_user(delay$draw(1, x), "delay", "for one query")
  })
  check_delays_drawn(value, 1, "f(n, x)")
}

#' @export
print.bandit_delay <- function(x, ...) {
  check_class(x, "bandit_delay")
  cat(sprintf("<delay in rounds: %s>\n", distribution_words(x)))
  invisible(x)
}

register_family("bandit_delay", delay_entry)
