#' Changes over time
#'
#' Rules that tell a bandit when to forget what it has seen. With any of them the bandit plays uniformly while
#' \eqn{|U| \le \xi\sqrt{|H|}}{|U| <= xi sqrt(|H|)} (\eqn{U} the uniform queries, \eqn{H} all queries since the last restart,
#' \eqn{\xi}{xi} = `explore`; history's action `"explore"`), and its policy otherwise; `explore = 0` never explores.
#'
#' * `change_detect()`: Algorithm 2 of Avanesov. After each reward of a uniform query [change_statistic()] compares, for
#'   \eqn{q = 1, 2, \dots, \lfloor|U|/2\rfloor}{q = 1, 2, ..., floor(|U|/2)}, the newest \eqn{q} of the uniform pairs with the \eqn{q} before them; the first one above
#'   `threshold(q)` restarts the bandit. The paper takes `threshold` \eqn{C q^{-(2\alpha+d)/(2\alpha+d+1)}}{C q^(-(2 alpha + d)/(2 alpha + d + 1))} and a ridge
#'   \eqn{q\rho_q = c q^{1/(2\alpha+d+1)}}{q rho_q = c q^(1/(2 alpha + d + 1))} for smoothness \eqn{\alpha}{alpha} and dimension \eqn{d}.
#'   With contexts known beforehand the statistic averages over all pairs of an arm (of low-discrepancy points in a box) and a
#'   context; with contexts that are not, over the uniformly sampled pairs of the segment themselves.
#' * `change_oracle()`: restarts after the given rounds (the true changes, to compare with).
#' * `change_never()`: uniform exploration, no restart.
#' * `change_every()`: restarts every so many rounds. `change_event()`: restarts when a reward is further from
#'   the posterior mean at its choice than \eqn{\sqrt{\rho_t}\sigma(x) + w_t}{sqrt(rho_t) sd(x) + w_t}, \eqn{\rho_t = 2\log(2\pi_t/\delta)}{rho_t = 2 log(2 pi_t / delta)},
#'   \eqn{w_t = \sqrt{2\lambda\log(2\pi_t/\delta)}}{w_t = sqrt(2 lambda log(2 pi_t / delta))}, \eqn{\pi_t = \pi^2t^2/6}{pi_t = pi^2 t^2 / 6}, \eqn{t} rounds since the restart.
#'
#' Three rules forget gradually instead, within the posterior (\eqn{t} the round of the next query, \eqn{s} that of an observation):
#'
#' * `change_window()`: the posterior is that of the last `window` observations, those of the latest rounds among all that are known.
#' * `change_weights()`: an observation has noise variance \eqn{\lambda\eta^{-(t-s)}}{lambda eta^-(t - s)}, \eqn{\eta}{eta} = `rate`.
#' * `change_fade()`: the prior is that of a function which drifts, with kernel \eqn{k(x,x')(1-\epsilon)^{|t-t'|/2}}{k(x, x') (1 - epsilon)^(|t - t'| / 2)},
#'   \eqn{\epsilon}{epsilon} = `rate`; mean, sd and draws are those of the function in round \eqn{t}, and the information gain is that of this kernel.
#'
#' They are exact: at every round the posterior equals a fit from scratch to what is kept. A round costs, over \eqn{n} arms with a kernel of
#' rank \eqn{r}: window \eqn{2nr}, as without one; weights \eqn{nr^2}; fade \eqn{nr + r^3}, and \eqn{t} times as much in a round
#' that looks at rewards which came late (out of the order of their queries). With \eqn{m} kept observations in a box: window and weights
#' \eqn{m^3/6}; fade \eqn{t^2}. Engine `"played"` needs \eqn{2nm}, \eqn{nm^2} and \eqn{nt}.
#'
#' [refit_every()] with these three fits to all rewards since the last restart, whatever their weight.
#'
#' A restart forgets all data: posterior, width (\eqn{t = 1} again) and detector begin anew; rewards of earlier queries that
#' arrive later are kept in the history and not used.
#'
#' @param threshold,ridge functions of the half-length \eqn{q} that return one number > 0: the largest statistic (squared,
#'   in units of the reward squared) that raises no alarm, and the regulariser \eqn{q\rho_q}{q rho_q} of each half's fit.
#' @param explore \eqn{\xi}{xi}, a number >= 0.
#' @param kernel kernel of the detector; `NULL`: the bandit's.
#' @param dyadic `TRUE`: only \eqn{q = 1, 2, 4, 8, \dots}{q = 1, 2, 4, 8, ...} are tried: cheaper by a factor that grows with \eqn{|U|}, and
#'   slower to notice. The paper tries all.
#' @param times rounds after which to restart, whole numbers >= 1.
#' @param rounds,window a whole number >= 1.
#' @param rate a number: for `change_weights()` in (0, 1], where 1 forgets nothing; for `change_fade()` in \[0, 1), where 0 forgets nothing.
#' @param delta failure probability in (0, 1).
#' @return An object of class `bandit_changes`.
#' @section Errors: a `gpbandits_error` that names the argument; a function that returns no positive number stops the
#'   round and leaves the bandit as it was.
#' @references Avanesov, Nonstationary Gaussian process bandits by change-point detection; Brunzema et al. for the
#'   event trigger; Bogunovic, Scarlett and Cevher (2016) <arXiv:1601.06650> for restarts every so many rounds and for the drifting
#'   prior; Zhou and Shroff (2021) for windows; Deng et al. (2022) <arXiv:2107.02371> for weights.
#' @seealso [gp_ucb_cpd()], [sw_gp_ucb()], [detect_change()].
#' @examples
#' x <- seq(0, 5, length.out = 200)
#' kernel <- kernel_matern(2.5, 1)
#' set.seed(1)
#' f <- sample_gp(kernel, x, n = 2)
#' problem <- bandit_problem(x, f, noise = noise_gaussian(0.05), change_points = 150)
#' b <- gp_bandit(x, kernel, noise_var = 0.015, policy_ucb(width_constant(2)),
#'                changes = change_detect(function(q) 2.6 * q^(-6 / 7), function(q) 2 * q^(1 / 7)))
#' run_bandit(b, problem, 300)
#' @name changes
NULL

new_changes <- function(kind, ...) structure(list(kind = kind, ...), class = "bandit_changes")

check_explore <- function(explore) check_number(explore, "explore", lower = 0)

#' @rdname changes
#' @export
change_detect <- function(threshold, ridge, explore = sqrt(3), kernel = NULL, dyadic = FALSE) {
  if (!is.null(kernel)) check_class(kernel, "bandit_kernel", hint = "kernel_se(), ...")
  new_changes("detect", threshold = positive_function(threshold, "threshold"),
              ridge = positive_function(ridge, "ridge"), explore = check_explore(explore),
              kernel = kernel, dyadic = check_flag(dyadic))
}

#' @rdname changes
#' @export
change_oracle <- function(times, explore = sqrt(3)) {
  times <- as.double(check_numbers(times, lower = 1))
  if (any(times != round(times))) stop_argument("times", describe(times), "whole numbers >= 1")
  new_changes("oracle", times = times, explore = check_explore(explore))
}

#' @rdname changes
#' @export
change_never <- function(explore = sqrt(3)) new_changes("never", explore = check_explore(explore))

#' @rdname changes
#' @export
change_every <- function(rounds, explore = 0) {
  new_changes("every", rounds = check_count(rounds), explore = check_explore(explore))
}

#' @rdname changes
#' @export
change_event <- function(delta = 0.1, explore = 0) {
  new_changes("event", delta = check_delta(delta), explore = check_explore(explore))
}

#' @rdname changes
#' @export
change_window <- function(window, explore = 0) {
  new_changes("window", window = check_count(window), explore = check_explore(explore))
}

#' @rdname changes
#' @export
change_weights <- function(rate, explore = 0) {
  rate <- check_number(rate, lower = 0, upper = 1, open_lower = TRUE)
  new_changes("weights", rate = rate, explore = check_explore(explore))
}

#' @rdname changes
#' @export
change_fade <- function(rate, explore = 0) {
  rate <- check_number(rate, lower = 0, upper = 1, open_upper = TRUE)
  new_changes("fade", rate = rate, explore = check_explore(explore))
}

# A function of q whose values are checked each time.
positive_function <- function(f, arg) {
  check_function(f, arg)
  function(q) {
    value <- f(q)
    if (!is.numeric(value) || length(value) != 1 || is.na(value) || value <= 0 ||
        (arg == "ridge" && !is.finite(value))) {
      stop_argument(arg, sprintf("a function that returned %s at q = %g", describe(value), q),
                    "a function that returns one number > 0")
    }
    as.double(value)
  }
}

# The rule as the core takes it.
resolve_changes <- function(changes, config) {
  if (is.null(changes)) return(NULL)
  changes <- unclass(changes)
  if (changes$kind != "detect") return(changes)
  kernel <- if (is.null(changes$kernel)) config$kernel else changes$kernel
  arms <- if (is_finite_domain(config$domain)) nrow(config$domain$x)
  changes$kernel <- resolve_kernel(kernel, input_names(config), arms = arms)
  changes$domain <- detector_average(config, changes$kernel)
  changes
}

# Where a bandit's detector averages the squared difference: over arms or a box, each with all
# contexts that are known beforehand, or over its own samples.
detector_average <- function(config, kernel) {
  if (length(config$context_names) == 0) return(domain_average(config$domain, kernel))
  if (is.null(config$contexts)) return(list(kind = "sampled"))
  if (is_finite_domain(config$domain)) return(list(kind = "points", points = core_table(config)$points))
  count <- nrow(config$contexts)
  points <- box_points(config$domain, max(64, ceiling(1024 / count)))
  each <- rep(seq_len(count), each = nrow(points))
  all <- cbind(points[rep(seq_len(nrow(points)), count), , drop = FALSE], config$contexts[each, , drop = FALSE])
  list(kind = "points", points = unname(all))
}

# All arms; in a box the closed form of the squared-exponential kernel, or a low-discrepancy set.
domain_average <- function(domain, kernel) {
  if (is_finite_domain(domain)) {
    return(list(kind = "points", points = unname(cbind(domain$x, seq_len(nrow(domain$x)) - 1))))
  }
  if (kernel$type != "se" || any(domain$integer)) {
    return(list(kind = "points", points = box_points(domain, 1024)))
  }
  bounds <- to_model_inputs(domain, rbind(domain$lower, domain$upper))
  lengthscale <- rep(Inf, ncol(bounds))
  lengthscale[kernel$dims + 1] <- kernel$lengthscale
  list(kind = "box", lower = bounds[1, ], upper = bounds[2, ], lengthscale = lengthscale, variance = kernel$variance)
}

box_points <- function(domain, count) {
  bounds <- to_model_inputs(domain, rbind(domain$lower, domain$upper))
  u <- kronecker_points(count, ncol(bounds))
  unname(rep(bounds[1, ], each = nrow(u)) + u * rep(bounds[2, ] - bounds[1, ], each = nrow(u)))
}

#' Change-point detection for regression data
#'
#' `change_statistic()` is the statistic of Algorithm 1 of Avanesov: a Gaussian-process regression on the older half of
#' the pairs and one on the newer half, both with the same ridge, and the average over the domain of the squared difference
#' of their means, \deqn{\hat\Delta^2 = \frac{1}{n}\sum_x (\mu_1(x) - \mu_2(x))^2.}{Delta^2 = mean over x of (mu_1(x) - mu_2(x))^2.}
#' It is an average (over the arms; over the whole box in closed form for [kernel_se()], over 1024 low-discrepancy points of it for other
#' kernels and with whole-number inputs), not the volume integral that the paper writes.
#' `detect_change()` runs Algorithm 1 on every even-sized tail after each pair, as a monitor would; `calibrate_threshold()`
#' finds a threshold by shuffling the pairs.
#'
#' @param x inputs in the order in which they were seen, one row per pair.
#' @param y responses.
#' @param kernel a [kernel][kernel_se()] over the inputs.
#' @param ridge for `change_statistic()` and `calibrate_threshold()` the number \eqn{q\rho_q}{q rho_q} > 0 that is added to
#'   the Gram matrix's diagonal; for `detect_change()` a number or a function of \eqn{q}.
#' @param threshold a number or a function of \eqn{q}: statistics above it raise the alarm.
#' @param domain where the difference is averaged: a [finite_domain()], a [box_domain()], or what stands for one; `NULL`: the
#'   inputs themselves.
#' @param dyadic `TRUE`: only tails of \eqn{2q} pairs with \eqn{q = 1, 2, 4, 8, \dots}{q = 1, 2, 4, 8, ...}
#' @param level false-alarm probability of one test, in (0, 1).
#' @param permutations number of shuffles.
#' @return `change_statistic()`: a number. `detect_change()`: a list with `alarm` (the number of the pair at which the first alarm
#'   was raised, NA if none was) and `pairs`. `calibrate_threshold()`: the \eqn{1 - level} quantile of the statistic over random
#'   orders of the pairs, a number.
#' @section Errors: a `gpbandits_error` if lengths differ, `change_statistic()` gets an odd number of pairs, or a ridge is not
#'   positive.
#' @references Avanesov, Nonstationary Gaussian process bandits by change-point detection.
#' @examples
#' set.seed(1)
#' x <- runif(80)
#' y <- c(sin(6 * x[1:40]), cos(6 * x[41:80])) + rnorm(80, sd = 0.1)
#' kernel <- kernel_matern(2.5, 0.3)
#' change_statistic(x, y, kernel, ridge = 1)
#' theta <- calibrate_threshold(x[1:40], y[1:40], kernel, ridge = 1, level = 0.01)
#' detect_change(x, y, kernel, threshold = function(q) if (q < 15) Inf else 2 * theta, ridge = 1)
#' @export
change_statistic <- function(x, y, kernel, ridge, domain = NULL) {
  data <- regression_pairs(x, y, kernel, domain)
  if (length(y) %% 2 != 0 || length(y) < 2) stop_argument("y", describe(y), "an even number of responses, at least 2")
  ridge <- check_number(ridge, lower = 0, open_lower = TRUE)
  core(cpp_change_statistic(data$kernel, data$x, data$y, ridge, data$domain))
}

#' @rdname change_statistic
#' @export
detect_change <- function(x, y, kernel, threshold, ridge, domain = NULL, dyadic = FALSE) {
  dyadic <- check_flag(dyadic)
  data <- regression_pairs(x, y, kernel, domain)
  threshold <- positive_function(constant_or_function(threshold, "threshold"), "threshold")
  ridge <- positive_function(constant_or_function(ridge, "ridge"), "ridge")
  found <- core(cpp_detect_change(data$kernel, data$x, data$y, threshold, ridge, data$domain, dyadic))
  list(alarm = if (found > 0) found else NA_integer_, pairs = length(y))
}

#' @rdname change_statistic
#' @export
calibrate_threshold <- function(x, y, kernel, ridge, level = 0.05, permutations = 999, domain = NULL) {
  data <- regression_pairs(x, y, kernel, domain)
  if (length(y) < 4) stop_argument("y", describe(y), "at least 4 responses")
  ridge <- check_number(ridge, lower = 0, open_lower = TRUE)
  level <- check_number(level, lower = 0, upper = 1, open_lower = TRUE, open_upper = TRUE)
  permutations <- check_count(permutations, lower = ceiling(1 / level) - 1)
  pairs <- 2 * (length(y) %/% 2)
  statistic <- vapply(seq_len(permutations), function(i) {
    order <- sample.int(length(y), pairs)
    core(cpp_change_statistic(data$kernel, data$x[order, , drop = FALSE], data$y[order], ridge, data$domain))
  }, 0)
  # The rank that makes the test exact under exchangeability.
  sort(statistic)[min(permutations, ceiling((1 - level) * (permutations + 1)))]
}

constant_or_function <- function(x, arg) {
  if (is.function(x)) return(x)
  value <- check_number(x, arg, lower = 0, open_lower = TRUE)
  function(q) value
}

regression_pairs <- function(x, y, kernel, domain) {
  check_class(kernel, "bandit_kernel", "kernel", hint = "kernel_se(), ...")
  x <- check_matrix(x, "x")
  y <- as.double(check_numbers(y, "y", lengths = nrow(x)))
  if (has_matrix(kernel)) stop_argument("kernel", "a kernel given as a matrix", "a function of the inputs")
  names <- if (is.null(colnames(x))) paste0("x", seq_len(ncol(x))) else colnames(x)
  kernel <- resolve_kernel(kernel, names)
  average <- list(kind = "points", points = unname(x))
  if (!is.null(domain)) {
    domain <- as_domain(domain)
    if (length(domain$names) != ncol(x)) {
      stop_argument("domain", sprintf("%d input(s)", length(domain$names)), sprintf("%d, as `x` has", ncol(x)))
    }
    if (!is_finite_domain(domain) && any(x[, domain$log] <= 0)) {
      stop_argument("x", describe(x), "positive where the domain's input is logarithmic")
    }
    x <- to_model_inputs(domain, x)
    average <- domain_average(domain, kernel)
    if (average$kind == "points") average$points <- average$points[, seq_len(ncol(x)), drop = FALSE]
  }
  list(x = unname(x), y = y, kernel = kernel, domain = average)
}

#' GP-UCB in an environment that changes
#'
#' Presets of [gp_bandit()]. `gp_ucb_cpd()` is Algorithm 2 of Avanesov: GP-UCB that explores uniformly at a decreasing rate and
#' forgets everything when the uniform samples betray a change. `et_gp_ucb()` restarts when a reward is too far from what the
#' posterior allows, without forced exploration. Those that forget by the calendar: [sw_gp_ucb()].
#'
#' @section Guarantee: for `gp_ucb_cpd()`, expected regret \eqn{O(\sqrt{K}}{O(sqrt(K)} times a sublinear function of \eqn{T)}{T)}, K changes that
#'   are far enough apart and large enough (Avanesov, Theorem 2), with thresholds of the stated form and `noise_var` of order
#'   \eqn{g^2\log T}{g^2 log T}, \eqn{g} the noise's sub-Gaussian constant. Our `width_cpd()` takes its constants as the paper's experiments do.
#' @inheritParams gp_bandit
#' @param changes a rule, see [change_detect()], [change_oracle()], [change_never()].
#' @param width a [width][widths].
#' @param delta failure probability, in (0, 1).
#' @param ... further arguments of [gp_bandit()].
#' @return An object of class `GPBandit`.
#' @section Errors: as [gp_bandit()].
#' @references Avanesov, Nonstationary Gaussian process bandits by change-point detection; Brunzema, von Rohr, Solowjow and
#'   Trimpe, event-triggered time-varying Bayesian optimization.
#' @examples
#' x <- seq(0, 5, length.out = 100)
#' kernel <- kernel_matern(2.5, 1)
#' set.seed(1)
#' problem <- bandit_problem(x, sample_gp(kernel, x, n = 2), noise = noise_gaussian(0.05),
#'                           change_points = 100)
#' rule <- change_detect(function(q) 2.6 * q^(-6 / 7), function(q) 2 * q^(1 / 7))
#' width <- width_cpd(D = 0.02, nu = 2.5, d = 1, horizon = 200)
#' summary(run_bandit(gp_ucb_cpd(x, kernel, 0.0132, changes = rule, width = width), problem, 200))
#' @export
gp_ucb_cpd <- function(domain, kernel, noise_var, changes, width, ...) {
  check_class(changes, "bandit_changes", hint = "change_detect(), change_oracle(), change_never()")
  preset(list(policy = policy_ucb(width), changes = changes), domain, kernel, noise_var, ...)
}

#' @rdname gp_ucb_cpd
#' @export
et_gp_ucb <- function(domain, kernel, noise_var, delta = 0.1, width = width_constant(2), ...) {
  preset(list(policy = policy_ucb(width), changes = change_event(delta)), domain, kernel, noise_var, ...)
}
