# Observation noise of problems. Layer: simulation.

#' Observation noise of a problem
#'
#' What is added to the true mean when a [bandit_problem()] answers a query.
#'
#' All noise is independent over the rounds, of mean zero if `f` keeps to it,
#' and drawn from R's generator, so [set.seed()] fixes it.
#' - `noise_gaussian(sd)`: N(0, `sd`^2). Sub-Gaussian with R = `sd`.
#' - `noise_uniform(half_width)`: uniform on \[-`half_width`, `half_width`\].
#'   Sub-Gaussian with R = `half_width` / sqrt(3).
#' - `noise_function(f)`: `f(n)` must return `n` finite numbers.
#'
#' @param sd standard deviation, in the reward's units; 0 for none.
#' @param half_width half of the interval's length, in the reward's units.
#' @param f a function of one count `n` that returns `n` finite numbers. It is
#'   called once for a run, with the number of rounds.
#' @return An object of class `bandit_noise`.
#' @section Errors: a `gpbandits_error` if a parameter is negative or not a
#'   number, and, when it is drawn, if `f` returns anything but `n` finite numbers.
#' @seealso [bandit_problem()], [delay_fixed()].
#' @examples
#' noise_gaussian(0.1)
#' heavy <- noise_function(function(n) 0.1 * rt(n, df = 5))
#' bandit_problem(1:5, reward = c(0, 1, 3, 2, 0), noise = heavy)
#' @export
noise_gaussian <- function(sd) {
  sd <- check_number(sd, lower = 0)
  new_noise("gaussian", c(sd = sd), function(n) sd * stats::rnorm(n))
}

#' @rdname noise_gaussian
#' @export
noise_uniform <- function(half_width) {
  half_width <- check_number(half_width, lower = 0)
  new_noise("uniform", c(half_width = half_width),
            function(n) half_width * stats::runif(n, -1, 1))
}

#' @rdname noise_gaussian
#' @export
noise_function <- function(f) {
  check_function(f)
  new_noise("function", numeric(), f)
}

new_noise <- function(type, parameters, draw) new_part("bandit_noise")

noise_entry <- list(settings = alist(type = check_string(type), parameters = check_numbers(parameters),
                                     draw = check_function(draw)))

draw_noise <- function(noise, n) {
  value <- call_user(noise$draw(n), "noise", sprintf("for %.0f rounds", n))
  if (!is_number(value) || length(value) != n || any(!is.finite(value))) {
    stop_argument("noise", paste("a function that returned", describe(value)),
                  sprintf("a function f(n) that returns n finite numbers (n = %d)", as.integer(n)))
  }
  as.double(value)
}

# "gaussian(sd = 0.1)": how noises and delays are named in print().
distribution_words <- function(x) {
  if (!length(x$parameters)) return(x$type)
  sprintf("%s(%s)", x$type,
          paste(names(x$parameters), "=", format(x$parameters, trim = TRUE), collapse = ", "))
}

#' @export
print.bandit_noise <- function(x, ...) {
  check_class(x, "bandit_noise")
  cat(sprintf("<noise: %s>\n", distribution_words(x)))
  invisible(x)
}

register_family("bandit_noise", noise_entry)
