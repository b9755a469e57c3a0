# Delays of problems. Layer: simulation.

# Delays in the form stored in a problem: NULL (none), a number of rounds, or a function of a count (and of the input).
as_delay <- function(delay, arg = "delay") {
  if (is.null(delay)) return(NULL)
  if (inherits(delay, "bandit_delay")) return(check_class(delay, "bandit_delay", arg))
  if (is.function(delay)) {
    return(new_delay(if (takes_input(delay)) "function of the input" else "function", numeric(), delay))
  }
  if (!is_number(delay) || length(delay) != 1 || !is.finite(delay) || delay < 0 || delay != round(delay) ||
      delay > .Machine$integer.max) {
    stop_argument(arg, describe(delay),
                  "a number of rounds (an integer >= 0), or a function(n) or function(n, x) that returns n of them")
  }
  d <- as.double(delay)
  new_delay("fixed", c(d = d), function(n) rep(d, n))
}

# TRUE for f(n, x), where x has no default; FALSE for f(n) and f(n, ...).
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
    stop_returned("delay", value, sprintf("n integers >= 0 from %s (n = %d)", call, as.integer(n)))
  }
  # A finite value replaces "never", so that the core can count in integers.
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
  cat(sprintf("<delay in rounds: %s>\n", distribution_text(x)))
  invisible(x)
}

register_family("bandit_delay", delay_entry)
