# Response types: binary, counts, ordinal, robust, and their settings. Layer: model.

#' Non-Gaussian rewards: binary, counts, ordinal, robust
#'
#' These response types for `gp_bandit(rewards = )` set the likelihood of the rewards. [auto_bandit()] and
#' [maximize_bandit()] also choose kernel and prior for the first three. The function \eqn{f}{f} is then
#' latent: the distribution of a reward depends on its value. Kernel, prior mean and every confidence width (the
#' multiplier of the posterior standard deviation) are about \eqn{f}{f}.
#'
#' * `rewards_binary(link)`: \eqn{k} successes in \eqn{n} trials, with probability \eqn{s(f)}. \eqn{s} is the logistic
#'   function (`"logit"`) or the normal distribution function (`"probit"`). Report `$observe(id, reward = k, size = n)`.
#' * `rewards_counts()`: Poisson counts with mean \eqn{e\exp(f)}{e exp(f)}, where \eqn{e} is the exposure. Report
#'   `$observe(id, reward = count, size = e)`.
#' * `rewards_ordinal(levels)`: ratings with \eqn{P(y \le j) = s(c_j - f)}{P(y <= j) = s(c_j - f)}, where \eqn{s} is the
#'   logistic function.
#' * `rewards_robust(df)`: measurements of \eqn{f} with outliers. The noise is Student's t with `df` degrees of freedom
#'   and scale \eqn{\sqrt\lambda}{sqrt(lambda)}, where \eqn{\lambda}{lambda} is the bandit's `noise_var`.
#' * `rewards_robust(clip = )`, or `moment` and `rounds` ([rewards-clipped]), and `rewards_robust(plateau = )`
#'   ([rewards-plateau]): Gaussian noise, but extreme rewards count less. The rest of this page is about the others.
#'
#' A string is the constructor with its defaults: `rewards = "binary"` is `rewards_binary()`. For comparisons and
#' rankings see [rewards_preferences()]. The posterior is approximated by a Gaussian;
#' [rewards_details] has the approximations, refits and engines.
#'
#' @section Predictions: `$posterior()`, `predict()`, `$best()` and `$history()` are about a reward of size 1.
#'
#'   * `mean` and `sd` are those of its expectation \eqn{E(y \mid f)}{E(y | f)} under the posterior of \eqn{f}. Levels
#'     have the numbers 1, 2, ...
#'   * `lower` and `upper` are the values of the expectation at \eqn{\mu \pm z\sigma}{mu +- z sd}. The argument `level =
#'     0.95` of `$posterior()` sets \eqn{z}.
#'   * `$posterior(scale = "latent")` is about \eqn{f}, and so is `width`.
#'   * The recommended point has the largest mean of \eqn{f} (with `direction = "minimize"`: the smallest).
#'
#' @section Units: Numbers in units of the reward are expected rewards of size 1, and are converted. These are the
#'   `level` and `accuracy` of [gp_lse()] and its intervals, the level of [policy_straddle()], `xi`, and the gaps and
#'   tolerances of [stop rules][stopping]. Kernel, prior mean, `width` and `$posterior(scale = "latent")` are about
#'   \eqn{f}.
#' @section Not supported: The following do not work with these rules.
#'
#'   * `noise_var`, which is 1 internally. `rewards_robust()` needs it.
#'   * `outputs`, `constraints`, and `failures = "avoid"` or `"doubt"` ([bandit-queries]).
#'   * [change_oracle()] with a `rate` of drift. Use `by = "weights"`, which are powers of the likelihood.
#'   * [change_detect()] with a `ridge`, or for comparisons. Without a `ridge` it compares evidences.
#'   * Algorithms that are rules over several posteriors.
#'   * [policy_kg()] and [policy_repeats()], which need \eqn{\lambda}{lambda}. Neither works with `rewards_robust()`.
#'   * Widths except [width_constant()], [width_function()] and [width_glm()].
#'   * [run_bandit()], whose noise is added to \eqn{f}.
#'
#'   More trials are `size`. Several results of one query (`$observe(7, c(1, 0, 1))`, or rows with one id) are added up,
#'   for successes and counts. For another reward of a point, `$add()` the point again. With
#'   [pending_hallucinate()] a pending query has the weight that is expected of a reward of size 1, and the mean stays.
#' @section Guarantee: Published are Laplace's approximation, its evidence and gradient (Rasmussen and Williams), and
#'   the bound of the evidence and its fixed point (Opper and Archambeau 2009). None of these bounds the distance from
#'   the exact posterior.
#'
#'   Original results, not peer-reviewed, are the certificate of `"lowrank"`, and [width_glm()] for successes, counts
#'   and comparisons without ties, with its regret bounds ([regret_bound()]). The widths that hold with Gaussian noise
#'   do not hold here. Nothing is proved for levels, ties, rankings and outliers.
#'
#'   For rewards in an interval, such as proportions \eqn{k/n}, see [width_amm()].
#' @param link link function: `"logit"` (default) or `"probit"`.
#' @param direction `"maximize"` (default) or `"minimize"` the expected reward.
#' @param levels names of the levels, the worst first, or their number.
#' @param cuts increasing numbers \eqn{c_1 < c_2 < \ldots}{c_1 < c_2 < ...}, one less than levels, in units of \eqn{f}.
#'   `NULL` (default): levels are equally probable at \eqn{f = 0}.
#' @param approximation `"laplace"` (default) or `"variational"`. [width_glm()] needs `"laplace"`.
#' @param df degrees of freedom, a number > 0, by default 4. The smaller it is, the less outliers count.
#' @param clip instead of `df`: where rewards are clipped, a number > 0 in units of the reward. `NULL` (default): not
#'   clipped, or by the formula of [rewards-clipped] if `moment` and `rounds` are given.
#' @param moment bound \eqn{v} of the rewards' raw moment of order \eqn{1 + \alpha}{1 + alpha}, a number > 0, see
#'   [rewards-clipped]. `NULL` (default): not used. `width_realized(R = )` needs it.
#' @param alpha \eqn{\alpha}{alpha}, where \eqn{1 + \alpha}{1 + alpha} is the order of the moment, a number in (0, 1\],
#'   by default 1.
#' @param rounds the horizon \eqn{T}, an integer >= 1. `NULL` (default): `clip` is given, or nothing is clipped.
#' @param plateau,decay instead of `df`: see [rewards-plateau]. Numbers > 0 in units of the reward; `decay` is half of
#'   `plateau` by default. `NULL` (default): not used.
#' @return An object of class `bandit_rewards`.
#' @section Many rewards at once: `$add()` of points with their rewards records in the history the prediction before
#'   each reward, which takes a fit per row. `$add()` without rewards and one `$observe()` take one fit in total.
#' @section Errors: Rewards that are impossible for the rule are a `gpbandits_error`: a fraction of a success, more
#'   successes than trials, an unknown level.
#' @references Rasmussen and Williams (2006), Gaussian processes for machine learning, section 3.4
#'   <http://gaussianprocess.org/gpml/>; Opper and Archambeau (2009), The variational Gaussian approximation revisited,
#'   Neural Computation 21.
#' @seealso [rewards_preferences()], [rewards-clipped], [rewards-plateau], [width_glm()].
#' @concept binary response
#' @concept count data
#' @concept outliers
#' @concept A/B test
#' @concept binary outcomes
#' @concept Poisson counts
#' @concept ordinal ratings
#' @concept non-Gaussian likelihood
#' @concept robust regression
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' b <- gp_bandit(x, kernel_se(0.2, 2), policy = policy_ucb(width_constant(2)),
#'                rewards = rewards_binary())
#' set.seed(1)
#' for (t in 1:8) {
#'   q <- b$suggest()
#'   b$observe(q$id, rbinom(1, 20, plogis(sin(6 * q$x1))), size = 20)
#' }
#' b$best()
#' b$posterior(x = 0.25, scale = "latent")
#'
#' # One measurement of five is an outlier:
#' r <- gp_bandit(x, kernel_se(0.2), noise_var = 0.01, policy_mean(), rewards = rewards_robust())
#' r$add(arm = c(1, 13, 25, 38, 50), reward = c(0, 1, 9, 1, 0))
#' r$posterior(arm = 25)
#' @name rewards
NULL

#' Posterior approximation, refits and engines with non-Gaussian rewards
#'
#' For users of [rewards] and [rewards_preferences()]: how the posterior with a likelihood is approximated, what refits
#' estimate, and which engines there are.
#'
#' @section Posterior: The posterior of \eqn{f} is approximated by a Gaussian.
#'
#'   * `approximation = "laplace"` (default): Laplace's approximation. The mean is the mode of the posterior density,
#'     and the precision is the curvature there.
#'   * `approximation = "variational"`: the Gaussian \eqn{q} with the least \eqn{\mathrm{KL}(q \| p)}{KL(q || p)} from
#'     the posterior \eqn{p}. Its precision is \eqn{K^{-1} - \mathrm{diag}\,E_q\ell''}{K^-1 - diag E_q l''}. It is
#'     closer if rewards are few or successes are rare, and takes a few times as long.
#'
#'   The approximation is computed from the data alone, by Newton steps from the prior mean. (Under `rewards_robust()`
#'   it uses the weights of the EM algorithm, started at Huber's fit.) So predictions, copies, files and the order of
#'   the rewards do not change a single bit of it.
#'
#' @section Refits: `refit = refit_every()` maximises Laplace's approximation of the log marginal likelihood,
#'
#'   \deqn{\sum\ell(\hat f) - \tfrac12\|\hat f - m\|^2 - \tfrac12\log\det(I + KW),}{sum l(f) - |f - m|^2 / 2 - log det(I
#'   + K W) / 2,}
#'
#'   with its gradient (Rasmussen and Williams, section 5.5.1). Fitted are the kernel's parameters, and
#'
#'   * for successes and counts: a constant prior mean (`mean = "fit"`);
#'   * for levels: the cuts (the first one and the logarithms of the gaps);
#'   * for [rewards_preferences()]: \eqn{\tau}{tau}.
#'
#'   Without custom `priors` the logarithm of the kernel's variance has a normal prior about the initial value, with
#'   standard deviation 1. Rewards with few possible values contain almost no information against ever larger variances.
#'   The gaps between cuts and \eqn{\tau}{tau} have such priors too (standard deviation 1), and so have the first cut
#'   (3) and the mean (5). `priors` cannot name these. `rewards_robust()` does not support refits, and none of the rules
#'   supports `average`. Refits use Laplace's evidence with either `approximation`. Of more than 400 points they use 400
#'   (not for comparisons), spread over the order of their first rewards.
#' @section Engines: All engines work. `"lowrank"` ([gp_bandit()]) certifies mean and standard deviation against the
#'   Laplace approximation of the dense engine, to `accuracy`, as with Gaussian noise. `"auto"` tries it from 256
#'   observed points or pairs on, and keeps it if half of that number is enough. The certificate is an original result,
#'   not peer-reviewed: the mode in the span of the basis is no further from the mode in the whole space than the length
#'   of the gradient there. The proof is in the source file `posteriors/open_posterior.cpp`. `"lowrank"` does not
#'   support `rewards_robust()` or `"variational"`.
#' @references Rasmussen and Williams (2006), Gaussian processes for machine learning, sections 3.4 and 5.5.1
#'   <http://gaussianprocess.org/gpml/>; Opper and Archambeau (2009), The variational Gaussian approximation revisited,
#'   Neural Computation 21.
#' @seealso [rewards], [rewards_preferences()], [refit_every()].
#' @concept Laplace approximation
#' @concept variational inference
#' @concept marginal likelihood
#' @examples
#' b <- gp_ucb(1:20 / 20, kernel_se(0.2), rewards = rewards_binary(), width = 2)
#' for (t in 1:6) b$observe((q <- b$suggest())$id, as.integer(q$x1 > 0.5))
#' b$posterior(arm = c(2, 18)) # of the expected reward, a probability
#' @name rewards_details
NULL

#' @rdname rewards
#' @export
rewards_binary <- function(link = c("logit", "probit"), direction = c("maximize", "minimize"),
                           approximation = c("laplace", "variational")) {
  new_part("bandit_rewards", "binary")
}

#' @rdname rewards
#' @export
rewards_counts <- function(direction = c("maximize", "minimize"), approximation = c("laplace", "variational")) {
  new_part("bandit_rewards", "counts")
}

#' @rdname rewards
#' @export
rewards_ordinal <- function(levels, cuts = NULL, direction = c("maximize", "minimize"),
                            approximation = c("laplace", "variational")) {
  new_part("bandit_rewards", "ordinal")
}

# The traits of a response type:
#   `title`       a name for users.
#   `likelihood`  NULL for Gaussian noise, else the core's settings of the likelihood.
#   `noise`       does it use the bandit's noise_var?
#   `response`    a function of f: the expected reward.
#   `latent`      the inverse of `response`, infinite outside the range of expected rewards.
#   `expected`    a description of the possible expected rewards for users.
#   `sampling`    the distribution of rewards given f: a function of the rewards and noise_var, see new_sampling().
#   `support`     for integer rewards: a function of f, the rewards that occur.
#   `outcome`     a function that checks rewards and their sizes, and returns the rewards as numbers.
#   `form`        the form of the rewards, see registry.R.
#   `has_norm_bound`  is width_glm() proved for this type?
#   `concave`     is the log likelihood concave? If so, a low rank has a certificate.
#   `parameters`  parameters that refits also fit: NULL, or a list of `names` of settings, `ranges(rewards, first)`
#               (rows of extra_range()), and `set(rewards, values)`.
#   `largest_error`  NULL, or a function of noise_var: how much one wrong reward of any size can move the mean, in
#               posterior standard deviations times sqrt(noise_var).
#   `adds`        is the sum of two rewards of a point a reward, of the sum of their sizes?
#   `refits`      can hyperparameters be refitted? `refits_mean`: can the prior mean be refitted with them?
rewards_traits <- list(title = NULL, likelihood = NULL, noise = FALSE, response = NULL, latent = NULL,
                       expected = "a number", sampling = NULL, support = NULL, outcome = NULL,
                       form = function(rewards) if (is.null(trait(rewards, "likelihood"))) "reward" else "response",
                       has_norm_bound = FALSE, concave = TRUE, parameters = NULL,
                       refits = TRUE, refits_mean = FALSE, adds = FALSE,
                       largest_error = NULL)

rewards_entries <- list(
  clip = list(settings = alist(b = check_number(b, lower = 0, open_lower = TRUE), moment = check_moment(moment),
                               alpha = check_tail(alpha)),
              traits = list(title = function(rewards) sprintf("clipped to +- %g", rewards$b), noise = TRUE,
                            largest_error = function(rewards) function(noise_var) 2 * rewards$b)),
  plateau = list(settings = alist(plateau = check_number(plateau, lower = 0, open_lower = TRUE),
                                  decay = check_number(decay, lower = 0, open_lower = TRUE)),
                 traits = list(title = function(rewards) {
                   sprintf("of less weight beyond +- %g of the prior mean", rewards$plateau)
                 }, noise = TRUE, refits = FALSE, largest_error = function(rewards) error_on_plateau(rewards))),
  binary = list(
    settings = alist(link = check_choice(link, c("logit", "probit")), direction = check_direction(direction),
                     approximation = check_approximation(approximation)),
    later = "approximation",
    traits = list(title = function(rewards) sprintf("successes of trials (%s)%s", rewards$link,
                                                    direction_text(rewards)),
                  likelihood = function(rewards) list(kind = rewards$link),
                  response = function(rewards) if (rewards$link == "logit") stats::plogis else stats::pnorm,
                  latent = function(rewards) {
                    inverse <- if (rewards$link == "logit") stats::qlogis else stats::qnorm
                    function(reward) inverse(pmin(pmax(reward, 0), 1))
                  },
                  expected = "a probability of success, in (0, 1)",
                  sampling = function(rewards) sampling_of_successes, support = function(rewards) function(f) 0:1,
                  outcome = function(rewards) check_successes,
                  has_norm_bound = TRUE, refits_mean = TRUE, adds = TRUE)
  ),
  counts = list(
    settings = alist(direction = check_direction(direction), approximation = check_approximation(approximation)),
    later = "approximation",
    traits = list(title = function(rewards) paste0("counts", direction_text(rewards)),
                  likelihood = function(rewards) list(kind = "counts"), response = function(rewards) exp,
                  latent = function(rewards) function(reward) log(pmax(reward, 0)),
                  expected = "an expected count (of exposure 1), a number > 0",
                  sampling = function(rewards) sampling_of_counts,
                  support = function(rewards) function(f) 0:stats::qpois(1e-9, min(exp(f), 1e5), lower.tail = FALSE),
                  outcome = function(rewards) check_event_counts,
                  has_norm_bound = TRUE, refits_mean = TRUE, adds = TRUE)
  ),
  ordinal = list(
    settings = alist(levels = check_ratings(levels), cuts = check_cuts(cuts, length(levels)),
                     direction = check_direction(direction), approximation = check_approximation(approximation)),
    later = "approximation",
    traits = list(title = function(rewards) sprintf("%d levels%s", length(rewards$levels), direction_text(rewards)),
                  likelihood = function(rewards) list(kind = "ordinal", cuts = rewards$cuts),
                  response = function(rewards) function(f) expected_level(f, rewards$cuts),
                  latent = function(rewards) function(reward) latent_of_level(reward, rewards$cuts),
                  expected = function(rewards) sprintf("the number of an expected level, in (1, %d)",
                                                       length(rewards$levels)),
                  sampling = function(rewards) sampling_of_levels,
                  support = function(rewards) function(f) seq_along(rewards$levels),
                  parameters = function(rewards) list(names = "cuts", ranges = ranges_of_cuts, set = set_cuts),
                  outcome = function(rewards) function(reward, size) check_level_reported(reward, size, rewards$levels))
  ),
  pairs = list(
    settings = alist(ties = check_flag(ties), tau = check_number(tau, lower = 0, open_lower = TRUE, upper = 500),
                     approximation = check_approximation(approximation)),
    later = "approximation",
    traits = list(title = function(rewards) if (rewards$ties) "comparisons that may be ties" else "comparisons",
                  likelihood = function(rewards) {
                    if (rewards$ties) list(kind = "ties", tau = rewards$tau) else list(kind = "logit")
                  },
                  response = function(rewards) function(f) stats::plogis(f - if (rewards$ties) rewards$tau else 0),
                  parameters = function(rewards) {
                    if (rewards$ties) list(names = "tau", ranges = ranges_of_tau, set = set_tau)
                  },
                  form = "comparison", has_norm_bound = function(rewards) !rewards$ties)
  ),
  rankings = list(
    settings = alist(),
    traits = list(title = "rankings", likelihood = function(rewards) list(kind = "rankings"),
                  response = function(rewards) stats::plogis, form = "ranking")
  ),
  robust = list(
    settings = alist(df = check_number(df, lower = 0, open_lower = TRUE)),
    traits = list(title = function(rewards) sprintf("with outliers (t, %g degrees of freedom)", rewards$df),
                  noise = TRUE,
                  likelihood = function(rewards) list(kind = "robust", df = rewards$df),
                  response = function(rewards) identity, latent = function(rewards) identity,
                  sampling = function(rewards) sampling_of_outliers,
                  outcome = function(rewards) check_measurement, concave = FALSE, refits = FALSE)
  )
)

# With u the overshoot and s = u / c, an error of at most 2 L + u + 2 lambda u / (c^2 + u^2) has noise variance
# lambda (1 + s^2): the first two terms give at most sqrt(4 L^2 + c^2), the last one 4 / sqrt(27) lambda / c.
error_on_plateau <- function(rewards) {
  function(noise_var) sqrt(4 * rewards$plateau^2 + rewards$decay^2) + 4 / sqrt(27) * noise_var / rewards$decay
}

check_direction <- function(direction) check_choice(direction, c("maximize", "minimize"))

# (Objects of versions without this choice have NULL here.)
check_approximation <- function(approximation) {
  if (!is.null(approximation)) check_choice(approximation, c("laplace", "variational"))
}

is_variational <- function(rewards) identical(rewards$approximation, "variational")

check_ratings <- function(levels) {
  if (missing(levels)) stop_missing("levels", "the levels' names, the worst first, or their number")
  if (is.numeric(levels)) levels <- as.character(seq_len(check_count(levels, "levels", lower = 2, upper = 100)))
  whole <- is_text(levels) && length(levels) > 1 && length(levels) <= 100 && all(nzchar(levels)) &&
    !anyDuplicated(levels)
  if (!whole) {
    stop_argument("levels", describe(levels), "the names of two or more levels, the worst first, or their number")
  }
  unname(levels)
}

check_cuts <- function(cuts, count) {
  if (is.null(cuts)) return(stats::qlogis(seq_len(count - 1) / count))
  cuts <- check_numbers(cuts, "cuts", lengths = count - 1, lower = -500, upper = 500)
  if (any(diff(cuts) <= 1e-9)) stop_argument("cuts", describe(cuts), "increasing numbers")
  as.double(cuts)
}

# The expected level given f, and below the value of f for an expected level.
expected_level <- function(f, cuts) 1 + rowSums(stats::plogis(outer(as.vector(f), cuts, "-")))

latent_of_level <- function(level, cuts) {
  vapply(level, function(one) {
    if (one <= 1) return(-Inf)
    if (one >= length(cuts) + 1) return(Inf)
    stats::uniroot(function(f) expected_level(f, cuts) - one, range(cuts) + c(-40, 40), tol = 1e-12)$root
  }, 0)
}

direction_text <- function(rewards) if (identical(rewards$direction, "minimize")) ", minimised" else ""

# ---- checks of rewards ----------------------------------------------------------

# With larger weights, the prior has no influence in double precision.
most_events <- 1e12

# (TRUE and FALSE are accepted as successes and failures.)
check_outcomes <- function(reward, count) {
  if (is.logical(reward)) reward <- as.double(reward)
  check_numbers(reward, "reward", lengths = count, lower = 0, upper = most_events)
}

check_successes <- function(reward, size) {
  reward <- check_outcomes(or_else(as_yes_no(reward), reward), length(size))
  bad <- which(size != round(size))
  if (length(bad)) stop_argument("size", describe(size[bad[1]]), "an integer number of trials")
  bad <- which(reward != round(reward) | reward > size)
  if (length(bad)) {
    stop_argument("reward", sprintf("%g of %g", reward[bad[1]], size[bad[1]]),
                  "an integer number of successes, at most the number of trials (`size`)")
  }
  reward
}

check_event_counts <- function(reward, size) {
  reward <- check_outcomes(reward, length(size))
  bad <- which(reward != round(reward))
  if (length(bad)) stop_argument("reward", describe(reward[bad[1]]), "an integer >= 0")
  reward
}

check_level_reported <- function(reward, size, levels) {
  check_no_size(size)
  if (is.factor(reward)) reward <- factor_text(reward, "reward")
  if (is.character(reward)) {
    at <- match(reward, levels)
    if (anyNA(at)) stop_argument("reward", dQuote(reward[is.na(at)][1], FALSE), paste("one of", quoted(levels)))
    reward <- at
  }
  reward <- check_numbers(reward, "reward", lengths = length(size))
  bad <- which(reward != round(reward) | reward < 1 | reward > length(levels))
  if (length(bad)) {
    stop_argument("reward", describe(reward[bad[1]]),
                  sprintf("the name or the number (1 to %d) of a level", length(levels)))
  }
  as.double(reward)
}

check_measurement <- function(reward, size) {
  check_no_size(size)
  check_rewards(reward, length(size))
}

check_no_size <- function(size) if (any(size != 1)) stop_argument("size", describe(size), "1 for rewards of this kind")

check_sizes <- function(size, count) {
  if (is.null(size)) return(rep(1, count))
  check_each(size, count, lower = 0, open_lower = TRUE, upper = 1e9)
}

# ---- in a bandit ----------------------------------------------------------------

# The expected reward as a function of f. (That of a comparison is no function of one point.)
response_of <- function(config) of_form(config, "response")(config)

# Does the expected reward differ from f?
has_response <- function(config) {
  !identical(response_of(config), identity)
}

# The likelihood in the form that the core expects.
core_likelihood <- function(config) {
  likelihood <- trait(config$rewards, "likelihood")
  if (!is.null(likelihood)) c(likelihood, list(compares = of_form(config, "compares"), reflected = is_reflected(config),
                                               variational = is_variational(config$rewards)))
}

# The noise variance of a bandit with these rewards; it may be missing.
check_noise_for <- function(rewards, noise_var) {
  if (is.null(rewards) || trait(rewards, "noise")) {
    if (!missing(noise_var) && is_number(noise_var) && identical(as.double(noise_var), 0)) {
      stop_argument("noise_var", "0", "a number > 0",
                    try = "`1e-6` times the kernel's variance, or `auto_bandit(model = gp_model(noise = \"none\"))`")
    }
    return(check_positive(noise_var))
  }
  if (!missing(noise_var) && !is.null(noise_var)) {
    stop_unused("noise_var", sprintf("rewards that are %s have no such number", trait(rewards, "title")))
  }
  1
}

# Checks settings in units of the reward that are converted to units of f. Levels can be converted; Lipschitz constants
# and proportions of a maximum cannot.
check_units <- function(config, refuse) {
  if (!has_response(config)) return(invisible())
  expected <- trait(config$rewards, "expected")
  level <- config$policy$level
  if (isTRUE(config$policy$implicit)) {
    refuse("implicit", "TRUE", paste0("FALSE, and a `level` that is ", expected))
  }
  if (!is.null(level) && !is.finite(trait(config$rewards, "latent")(level))) refuse("level", describe(level), expected)
  if (!is.null(config$pending$lipschitz)) {
    refuse("pending", "pending_penalize() with a Lipschitz constant of the reward",
           "pending_penalize(), which estimates the latent function's")
  }
}

as_stand_in <- function(rewards, value, refuse) {
  tryCatch(trait(rewards, "outcome")(value, 1), gpbandits_error = function(e) {
    refuse("pending", sprintf("pending_censor() with the value %g", value), "a value that a reward can have")
  })
}

# ---- from f to rewards ----------------------------------------------------------

# Converts `mean` and `sd` of the core's f to the user's scale. On the scale of rewards, they are the moments of E(y |
# f), by quadrature; with `level`, `lower` and `upper` are added.
in_scale_of_rewards <- function(frame, config, scale = "reward", level = NULL) {
  if (is_reflected(config)) frame$mean <- -frame$mean
  on_response(frame, if (scale == "latent") identity else response_of(config), level)
}

# The mean and sd of a function of f by quadrature, with its values at the ends of f's interval.
on_response <- function(frame, response, level = NULL) {
  z <- if (!is.null(level)) stats::qnorm(1 - (1 - level) / 2)
  mean <- frame$mean
  sd <- frame$sd
  known <- which(is.finite(mean) & is.finite(sd))
  if (!identical(response, identity)) {
    nodes <- fine_rule
    at <- rep(mean[known], each = length(nodes$at)) + rep(sd[known], each = length(nodes$at)) * nodes$at
    value <- matrix(response(at), length(nodes$at))
    expected <- colSums(value * nodes$weight)
    frame$mean[known] <- expected
    frame$sd[known] <- sqrt(colSums((value - rep(expected, each = nrow(value)))^2 * nodes$weight))
  }
  if (is.null(z)) return(frame)
  cbind(frame, lower = response(mean - z * sd), upper = response(mean + z * sd))
}

# Nodes and weights of quadrature with the standard normal density (Golub and Welsch 1969).
normal_rule <- function(n) {
  jacobi <- matrix(0, n, n)
  jacobi[cbind(1:(n - 1), 2:n)] <- jacobi[cbind(2:n, 1:(n - 1))] <- sqrt(seq_len(n - 1))
  parts <- eigen(jacobi, symmetric = TRUE)
  list(at = parts$values, weight = parts$vectors[1, ]^2)
}

fine_rule <- normal_rule(32)

# ---- parameters of the likelihood, and checks of observations ---------------------

# Rows of start, bounds, likely bounds, and the mean and sd of a normal prior.
extra_range <- function(start, lower, upper, likely_lower, likely_upper, mean, sd) {
  cbind(start = start, lower = pmin(lower, start), upper = pmax(upper, start), likely_lower = likely_lower,
        likely_upper = likely_upper, mean = mean, sd = sd)
}

# The cuts between levels as parameters: the first cut, and the logarithms of the steps to the next ones.
ranges_of_cuts <- function(rewards, first) {
  steps <- function(cuts) c(cuts[1], log(diff(cuts)))
  more <- length(rewards$cuts) - 1
  extra_range(steps(rewards$cuts), c(-20, rep(log(1e-3), more)), c(20, rep(log(20), more)),
              c(-3, rep(log(0.3), more)), c(3, rep(log(3), more)), steps(first$cuts), c(3, rep(1, more)))
}

set_cuts <- function(rewards, values) {
  rewards$cuts <- cumsum(c(values[1], exp(values[-1])))
  rewards
}

# The range of log(tau), where tau is the difference of f below which a tie is likely.
ranges_of_tau <- function(rewards, first) {
  extra_range(log(rewards$tau), log(1e-3), log(20), log(0.1), log(3), log(first$tau), 1)
}

set_tau <- function(rewards, values) {
  rewards$tau <- exp(values)
  rewards
}

# An element of fit_priors().
normal_prior <- function(mean, sd) c(0, 0, if (is.finite(sd)) c(1, mean, sd))
has_no_prior <- function(prior) length(prior) == 2 && prior[1] == 0

# Inserts the additional parameters before the last one, which is the noise (not used by this type).
with_extras <- function(problem, extras) {
  last <- length(problem$start)
  for (name in c("start", "lower", "upper", "likely_lower", "likely_upper")) {
    problem[[name]] <- c(problem[[name]][-last], extras[, name], problem[[name]][last])
  }
  own <- Map(normal_prior, extras[, "mean"], extras[, "sd"])
  problem$priors <- c(problem$priors[-last], unname(own), problem$priors[last])
  problem
}

# Yes and no, or true and false, as 1 and 0; NULL if a value is neither.
as_yes_no <- function(x) {
  if (is.logical(x) && !is.object(x)) return(as.double(x))
  if (!is.character(x) && !is.factor(x)) return(NULL)
  at <- match(tolower(trimws(as.character(x))), c("no", "yes", "false", "true"))
  if (length(x) && !anyNA(at)) (at - 1) %% 2
}

yes_no_remedy <- "`rewards = rewards_binary()` for results that are yes or no"

check_rewards <- function(reward, count) {
  check_sound(reward, "reward", "numbers")
  if (is.logical(reward) && !is.object(reward) && length(reward) && all(is.na(reward))) reward <- as.double(reward)
  if (!is.numeric(reward) && !is.null(as_yes_no(reward))) {
    stop_argument("reward", describe(reward), amount_of(count, "finite number"), try = yes_no_remedy)
  }
  if (is_number(reward) && length(reward) == 1 && count > 1) {
    stop_argument("reward", sprintf("one number for %d ids", as.integer(count)), "a number for each id")
  }
  bad <- if (is_number(reward) && length(reward) == count) reward[!(abs(reward) <= largest_number)]
  if (length(bad)) {
    stop_argument("reward", describe(unname(bad[1])),
                  if (count == 1) "a finite number" else sprintf("%g finite numbers", count),
                  try = if (is.finite(bad[1])) NULL
                        else if (count == 1) "`$fail(id)` for an experiment without a result"
                        else "`$fail(id)` for a failed evaluation, and leave out ids without a result")
  }
  check_numbers(reward, "reward", lengths = count, lower = -largest_number, upper = largest_number)
}

register_form("reward", response = function(config) identity)
register_form("response", response = function(config) trait(config$rewards, "response"))
register_form("comparison", response = function(config) identity)

register_family("bandit_rewards", rewards_entries, tag = "kind", traits = rewards_traits, prefix = "rewards_")
