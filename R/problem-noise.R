# Observation noise of problems. Layer: simulation.

# Noise in the form stored in a problem. A number is the sd of Gaussian noise; a function of a count `n` returns `n`
# draws.
as_noise <- function(noise, arg = "noise") {
  if (inherits(noise, "bandit_noise")) return(check_class(noise, "bandit_noise", arg))
  if (is.function(noise)) return(new_noise("function", numeric(), noise))
  if (!is_number(noise) || length(noise) != 1 || !is.finite(noise) || noise < 0) {
    stop_argument(arg, describe(noise),
                  "a number >= 0 (the sd of Gaussian noise), or a function(n) that returns n draws")
  }
  sd <- as.double(noise)
  new_noise("gaussian", c(sd = sd), function(n) sd * stats::rnorm(n))
}

# Is this a single noise, rather than a list of several?
is_noise <- function(x) inherits(x, "bandit_noise") || is.function(x) || (is_number(x) && length(x) == 1)

new_noise <- function(type, parameters, draw) new_part("bandit_noise")

noise_entry <- list(settings = alist(type = check_string(type), parameters = check_numbers(parameters),
                                     draw = check_function(draw)))

draw_noise <- function(noise, n) {
  value <- call_user(noise$draw(n), "noise", sprintf("for %.0f rounds", n))
  if (!is_number(value) || length(value) != n || any(!is.finite(value))) {
    stop_returned("noise", value, sprintf("n finite numbers (n = %d)", as.integer(n)))
  }
  as.double(value)
}

# The words with which print() names noises and delays, for example "gaussian(sd = 0.1)".
distribution_text <- function(x) {
  if (!length(x$parameters)) return(x$type)
  sprintf("%s(%s)", x$type,
          paste(names(x$parameters), "=", format(x$parameters, trim = TRUE), collapse = ", "))
}

#' @export
print.bandit_noise <- function(x, ...) {
  check_class(x, "bandit_noise")
  cat(sprintf("<noise: %s>\n", distribution_text(x)))
  invisible(x)
}

register_family("bandit_noise", noise_entry)
