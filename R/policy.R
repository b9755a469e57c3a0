# Policies (acquisition functions) and their settings for the core. Layer: strategy.

#' Policies: acquisition functions
#'
#' @description
#' A policy is an acquisition function: it scores points by the posterior, and the best one is evaluated next.
#' [maximize_bandit()] and [auto_bandit()] choose one. Choose another for these reasons:
#'
#' * You look for the best point: `policy_ei()`, expected improvement (EI). If the noise is as large as the differences
#'   between good points, `policy_ei(incumbent = "draws")` (noisy EI), or `policy_kg()` (knowledge gradient, KG).
#' * Each evaluation earns its reward: `policy_ucb()`, the upper confidence bound (UCB), or
#'   `policy_ts()`, Thompson sampling (TS). Both have regret bounds.
#' * You want a map of the whole function: `policy_variance()`. For a level set [policy_straddle()], for several
#'   objectives [policy_ehvi()]. More: [policy_mes()], [policy_function()] (your code), [policy_repeats()].
#' * For comparison: `policy_pi()`, probability of improvement (PI).
#'
#' `plot(bandit, "acquisition")` draws the function along each input.
#'
#' @details
#' In the formulas, let \eqn{\mu}{mu} and \eqn{\sigma}{sd} be the posterior mean and standard deviation of the latent
#' function, and \eqn{w_t}{w_t} the confidence width (the multiplier \eqn{\sqrt{\beta_t}}{sqrt(beta_t)} of the
#' posterior sd, see [widths]).
#'
#' @section Upper confidence bound and Thompson sampling:
#' `policy_ucb(width)` maximises the upper confidence bound
#' \deqn{\mu(x) + w_t\sigma(x).}{mu(x) + w_t sd(x).}
#'
#' `policy_ts(width)`, Thompson sampling, maximises one joint draw over the whole domain (exact over arms) from
#' \deqn{GP(\mu, w_t^2 k_{t-1}).}{GP(mu, w_t^2 k_{t-1}).}
#'
#' @section Improvement:
#' Let \eqn{\mu^+}{best} be the incumbent, \eqn{\Phi}{Phi} and \eqn{\phi}{phi} the standard normal distribution and
#' density, and \eqn{z = (\mu - \mu^+ - \xi)/\sigma}{z = (mu - best - xi) / sd}.
#'
#' `policy_ei(xi)` maximises the expected improvement
#' \deqn{\sigma(z\Phi(z) + \phi(z)),}{sd (z Phi(z) + phi(z)),}
#' with `cost` this number divided by the cost of an evaluation at \eqn{x}. (For costs that are not known in advance see
#' [gp_ei()].)
#'
#' `policy_pi(xi)` maximises the probability of improvement \eqn{\Phi(z)}{Phi(z)}. With `xi = 0` it does not explore: it
#' chooses only points whose mean is at least \eqn{\mu^+}{best}. If there is no other, it repeats the best evaluated
#' point, as `policy_mean()` does.
#'
#' The incumbent \eqn{\mu^+}{best} is the largest posterior mean among the points evaluated so far. Pending points
#' count; with a context, only points of this context count. Before any evaluation it is the largest prior mean.
#'
#' @section Noisy expected improvement:
#' `policy_ei(incumbent = "draws")` improves on the largest value of \eqn{f}{f} at the evaluated points \eqn{Z}{Z},
#' which noisy rewards leave uncertain. It maximises
#' \deqn{\log E[(f(x) - \max_{z\in Z} f(z) - \xi)^+].}{log E[(f(x) - max f(Z) - xi)+].}
#' The expectation is the mean of 128 expected improvements. Each is exact given one joint draw of \eqn{f(Z)}{f(Z)} from
#' the posterior. The choice is not random.
#'
#' * Pending points are members of \eqn{Z}{Z} (except with [pending_ignore()]), so batches need no stand-in rewards.
#' * Of more than 64 points the draws include the 64 that may improve most on the largest posterior mean. For 150
#'   points the value was too large by less than 1%.
#' * The value of an evaluated point is 0, so on arms each is played once before any is repeated. If all candidates are
#'   evaluated, the incumbent is the largest mean. The same holds in a context without evaluated points, and with fixed
#'   inputs.
#' * Almost without noise it equals `policy_ei()`. Limits: [outcome-policies]. Comparisons and goals are errors.
#'
#' @section Knowledge gradient:
#' `policy_kg()` maximises the expected gain in the largest posterior mean,
#' \deqn{E[\max_i\mu'_i] - \max_i\mu_i,}{E[max mu'_i] - max mu_i,} with \eqn{\mu'}{mu'} the posterior means after an
#' observation at \eqn{x}. It is exact, by the upper envelope of the lines \eqn{\mu_i + zs_i}{mu_i + z s_i} with
#' \deqn{s_i = k_{t-1}(x_i, x)/\sqrt{\lambda + \sigma^2(x)}.}{s_i = k_{t-1}(x_i, x) / sqrt(lambda + sd^2(x)).}
#'
#' The maxima are over all arms, or over the 500 with the largest \eqn{\mu + 2\sigma}{mu + 2 sd}; on a box, over that
#' number of its candidates.
#'
#' @section Mean, variance, uniform: `policy_mean()` maximises the posterior mean, `policy_variance()` the posterior
#' variance (experimental design), and `policy_uniform()` draws uniformly.
#'
#' @section Ties: Acquisition values within 1e-9 prior standard deviations of the best are tied, and the first arm is
#'   chosen. All engines and machines therefore choose the same arms. For EI the tolerance is 1e-9, relative; PI is
#'   compared by its z-score.
#'
#' @param width an object made by one of the [widths], or a number, its constant value, without unit. Default: 2 for
#'   `policy_ucb()`, 1 for `policy_ts()`.
#' @param xi improvement that must be exceeded: a number >= 0 in units of the reward, by default 0. See the section
#'   Units.
#' @param cost a function of a matrix of inputs (or a data.frame if inputs have levels)
#'   that returns a cost > 0 for each, in any unit. It is called again in every round. `NULL` (default): equal costs.
#' @param incumbent what expected improvement improves on: `"mean"` (default), the largest posterior mean, or `"draws"`,
#'   the largest value in joint draws. See the section Noisy expected improvement.
#' @return An object of class `bandit_policy`.
#' @section Units: `xi` is in units of the reward. If `outputs` or `rewards` of [gp_bandit()] transform rewards, it is
#'   converted to those of the latent \eqn{f}{f}, whose sd the acquisition function contains. An incumbent is exceeded
#'   by `xi` where the expected reward is larger by `xi` (beyond the largest possible reward: just below that).
#'   * [scale_outputs()], the default of [maximize_bandit()]: acquisition values are computed for the transformed
#'     rewards. `$posterior()` is back-transformed. Until two different rewards are observed there is no scale, and `xi`
#'     counts as 0.
#' @section Strings: A string can be given wherever a policy is expected, for the constructor with its defaults: `policy
#'   = "ei"` is `policy_ei()`. An unknown string is an error that lists the choices.
#' @section Errors: `width` must be a confidence width. Thompson sampling does not accept [width_dmm()], which is not
#'   one multiplier.
#' @section Guarantee: That of the confidence width of `policy_ucb()` and `policy_ts()`, see [widths], the algorithms'
#'   pages and [guarantees]. `policy_ei()`: see [gp_ei()]. `policy_pi()`, `policy_kg()`, `policy_mean()` and
#'   `policy_uniform()` have no regret bound. For `policy_variance()` the simple regret is bounded, see
#'   [plan_experiments()] and [width_fixed()].
#' @references Srinivas, Krause, Kakade and Seeger (2010) <https://arxiv.org/abs/0912.3995>, equation 6 (UCB); Chowdhury
#'   and Gopalan (2017) <https://arxiv.org/abs/1704.00445>, Algorithms 1 and 2 (UCB, Thompson sampling); Jones, Schonlau
#'   and Welch (1998), Efficient global optimization of expensive black-box functions, Journal of Global Optimization
#'   13, equation 15 (EI); Letham, Karrer, Ottoni and Bakshy (2019), Constrained Bayesian optimization with noisy
#'   experiments, Bayesian Analysis 14 <https://arxiv.org/abs/1706.07094>, and Ament et al. (2023), Unexpected
#'   improvements to expected improvement <https://arxiv.org/abs/2310.20708> (noisy EI, its logarithm); Kushner (1964),
#'   A new method of locating the maximum point of an arbitrary multipeak curve in the presence of noise, Journal of
#'   Basic Engineering 86 (PI); Frazier, Powell and Dayanik (2009), The knowledge-gradient policy for correlated normal
#'   beliefs, INFORMS Journal on Computing 21.
#' @seealso [widths], [gp_bandit()], [guarantees].
#' @concept acquisition function
#' @concept infill criterion
#' @concept Bayesian optimization
#' @concept expected improvement
#' @concept noisy expected improvement
#' @concept probability of improvement
#' @concept upper confidence bound
#' @concept Thompson sampling
#' @concept knowledge gradient
#' @concept cost-aware optimization
#' @examples
#' policy_ucb(width_srinivas_finite(0.1, scale = 1 / 5))
#' x <- seq(0, 1, length.out = 50)
#' b <- gp_bandit(x, kernel_se(0.2), noise_var = 0.01, policy = policy_ei())
#' b$add(arm = c(5, 25, 45), reward = c(0.1, 0.8, 0.4))
#' b$suggest()
#' gp_bandit(x, kernel_se(0.2), noise_var = 0.01, policy = "ts")$suggest(2)
#' @name policies
NULL

new_policy <- function(kind) new_part("bandit_policy", kind, parent.frame())

# The traits of a policy:
#   `title`, `short`  names for users.
#   `random`        is the next choice random (apart from ties)?
#   `uniform`       are all points equally probable?
#   `takes_prior`   can a prior over the optimum be added to its score (a logarithm, or in units of the reward)?
#   `draws`         does it need exact joint draws over arms (on a box: functions drawn from the prior)?
#   `draws_choice`  is its choice the maximiser of one draw, whose sd is the width times the posterior sd?
#   `bound`         is the score of a point mean + width * sd?
#   `rises`         is its score nondecreasing in mean and sd?
#   `blind`         does its choice not depend on the rewards?
#   `intervals`     does it keep the intersection of the intervals of all rounds, which label the points?
#   `labels`        does `$levels()` label points as above or below its `level`?
#   `of_noise`      does its choice depend on the noise variance?
#   `curved`        does it allow widths with the sd of pseudo-observations (width_glm())?
#   `pairs`         does it suggest pairs for comparison?
#   `of_arms`       does it require a list of all points?
#   `safe`          does it keep a set of safe points and play these only?
#   `first`         points (of a box) that are candidates before all others.
#   `phases`        names of the reasons for a choice, by their codes in the log (the first is "given").
#   `declares`      does it exclude points at which its own bounds show a violated limit?
#   `scripted`      does a script in R choose instead (bandit-script.R)?
#   `resolved`      a function that completes its settings for the core.
policy_traits <- list(
  title = NULL, short = function(policy) capitalised(trait(policy, "title")), random = FALSE, uniform = FALSE,
  takes_prior = FALSE, draws = FALSE, draws_choice = FALSE, bound = FALSE, rises = FALSE, intervals = FALSE,
  labels = FALSE, blind = FALSE, of_noise = FALSE, curved = FALSE, pairs = FALSE, of_arms = FALSE, safe = FALSE,
  first = NULL,
  phases = character(),
  declares = FALSE, scripted = FALSE,
  # `limits`: does it use the limits of other outcomes? `objectives`: how many objectives does it optimise jointly (0:
  # one, Inf: any number)? `takes_all`: does it receive all outcomes, whatever their roles?
  limits = FALSE, objectives = 0, takes_all = FALSE,
  resolved = function(policy) function(settings, config) settings
)

# `repeats`: each choice is repeated until its sd has shrunk by at most this factor.
policy_options <- alist(repeats = check_number(repeats, lower = 1, open_lower = TRUE),
                        prior_optimum = check_policy_prior_optimum(prior_optimum))

policy_entries <- list(
  ucb = list(
    settings = alist(width = as_width(width)),
    traits = list(title = "upper confidence bound", short = "GP-UCB", bound = TRUE, takes_prior = TRUE, curved = TRUE,
                  declares = TRUE,
                  limits = function(policy) trait(policy$width, "one_multiplier"),
                  rises = function(policy) trait(policy$width, "one_multiplier"))
  ),
  ts = list(
    settings = alist(width = check_one_multiplier(width)),
    traits = list(title = "Thompson sampling", random = TRUE, takes_prior = TRUE, draws = TRUE, draws_choice = TRUE,
                  limits = TRUE)
  ),
  ei = list(
    settings = alist(xi = check_number(xi, lower = 0), cost = if (!is.null(cost)) check_function(cost),
                     incumbent = check_incumbent(incumbent)),
    later = "incumbent",
    traits = list(title = function(policy) {
                    paste0(if (draws_incumbent(policy)) "noisy ", "expected improvement",
                           if (!is.null(policy$cost)) " per cost")
                  },
                  rises = function(policy) is.null(policy$cost) && !draws_incumbent(policy),
                  limits = function(policy) is.null(policy$cost),
                  takes_prior = function(policy) is.null(policy$cost),
                  resolved = function(policy) function(settings, config) {
                    settings <- resolve_improvement(settings, config)
                    if (is.null(settings$cost)) return(settings)
                    c(settings[names(settings) != "cost"], resolve_cost(settings$cost, config))
                  })
  ),
  kg = list(traits = list(title = "knowledge gradient", of_noise = TRUE)),
  pi = list(settings = alist(xi = check_number(xi, lower = 0)),
            traits = list(title = "probability of improvement",
                          resolved = function(policy) resolve_improvement)),
  mes = list(settings = alist(samples = check_count(samples, upper = 1e4)),
             traits = list(title = "max-value entropy search", random = TRUE)),
  pims = list(traits = list(title = "probability of improvement from a sampled maximum", short = "PIMS", random = TRUE,
                            draws = TRUE)),
  eims = list(traits = list(title = "expected improvement over a sampled maximum", short = "GP-EIMS", random = TRUE,
                            draws = TRUE)),
  straddle = list(settings = alist(level = check_number(level), random = check_flag(random)),
                  traits = list(title = "straddle", random = function(policy) policy$random, labels = TRUE,
                                resolved = function(policy) function(settings, config) {
                                  settings$level <- values_expecting(settings$level, config)
                                  settings
                                })),
  "function" = list(
    settings = alist(name = check_string(name), f = check_function(f)),
    traits = list(title = function(policy) policy$name, short = function(policy) policy$name, takes_all = TRUE,
                  resolved = function(policy) function(settings, config) {
                    settings$located <- takes_points(policy$f)
                    at <- if (settings$located) points_for_users(config)
                    seen <- of_form(config, "for_users")(config)
                    settings$f <- function(mean, sd, round, inputs) {
                      seen <- seen(mean, sd)
                      call_user(if (is.null(at)) policy$f(seen[[1]], seen[[2]], round)
                                else policy$f(seen[[1]], seen[[2]], round, at(inputs)),
                                "f", sprintf("for %d points", NROW(seen[[1]])))
                    }
                    settings
                  })
  ),
  mean = list(traits = list(title = "largest mean", rises = TRUE)),
  variance = list(traits = list(title = "largest variance", rises = TRUE, blind = TRUE)),
  duel = list(
    settings = alist(width = check_one_multiplier(width, drawn = FALSE), rule = check_choice(rule, c("last", "game"))),
    traits = list(title = function(policy) sprintf("pairs, the %s",
                                                   if (policy$rule == "last") "last against the next" else "game"),
                  short = "duels", curved = TRUE, pairs = TRUE, of_arms = function(policy) policy$rule == "game")
  ),
  uniform = list(traits = list(title = "uniform", short = "Uniform sampling", random = TRUE, uniform = TRUE,
                               blind = TRUE, limits = TRUE)),
  exact_penalty = list(
    settings = alist(width = check_one_multiplier(width, drawn = FALSE), penalty = check_penalty_of_rounds(penalty)),
    traits = list(title = "exact penalty (EPBO)", short = "EPBO", limits = TRUE,
                  resolved = function(policy) function(settings, config) {
                    settings$penalty <- function(t) penalty_now(policy$penalty, t)
                    settings
                  })
  ),
  ehvi = list(
    settings = alist(reference = check_reference(reference), incumbent = check_incumbent(incumbent)),
    later = "incumbent",
    traits = list(title = function(policy) {
                    paste0(if (draws_incumbent(policy)) "noisy ", "expected hypervolume improvement")
                  },
                  short = function(policy) if (draws_incumbent(policy)) "noisy EHVI" else "EHVI",
                  objectives = 4, limits = TRUE,
                  resolved = function(policy) resolve_reference)
  ),
  hypervolume = list(
    settings = alist(width = check_one_multiplier(width), reference = check_reference(reference),
                     draws = check_count(draws, infinite = TRUE), sampled = check_flag(sampled)),
    traits = list(title = "hypervolume of upper bounds", objectives = Inf, limits = TRUE,
                  random = function(policy) policy$sampled || is.finite(policy$draws),
                  draws = function(policy) policy$sampled,
                  resolved = function(policy) function(settings, config) {
                    # (In the core, 0 draws represent an average over all directions.)
                    if (is.infinite(settings$draws)) settings$draws <- 0
                    resolve_reference(settings, config)
                  })
  ),
  ucb_pe = list(
    settings = alist(width = check_one_multiplier(width)),
    traits = list(title = "upper confidence bound, then pure exploration", short = "GP-UCB-PE")
  ),
  level_set = list(
    settings = alist(width = check_one_multiplier(width, drawn = FALSE), implicit = check_flag(implicit),
                     level = check_level(level, implicit), accuracy = check_number(accuracy, lower = 0)),
    traits = list(title = "level-set estimation", short = "LSE", intervals = TRUE, labels = TRUE,
                  resolved = function(policy) function(settings, config) {
                    replace(settings, c("level", "accuracy"), levels_in_model(settings, config))
                  })
  ),
  safe = list(
    settings = alist(width = check_one_multiplier(width, drawn = FALSE), stages = check_flag(stages),
                     threshold = if (!is.null(threshold)) check_number(threshold), seed = check_seed_points(seed),
                     lipschitz = if (!is.null(lipschitz)) check_numbers(lipschitz, lower = 0),
                     accuracy = if (!is.null(accuracy)) check_tolerance_of_stage(accuracy)),
    traits = list(title = function(policy) if (policy$stages) "StageOpt" else "SafeOpt", limits = TRUE, safe = TRUE,
                  first = function(policy) policy$seed,
                  phases = function(policy) c("given", safe_phases, utils::head(safe_phases, -1)),
                  resolved = function(policy) resolve_safe)
  ),
  stable = list(
    settings = alist(width = check_one_multiplier(width, drawn = FALSE),
                     radius = check_numbers(radius, lower = 0, open_lower = TRUE),
                     risk = if (!is.null(risk)) check_choice(risk, c("var", "cvar")),
                     share = if (!is.null(share)) check_number(share, lower = 0, upper = 1, open_lower = TRUE)),
    later = c("risk", "share"),
    traits = list(title = function(policy) {
                    measure <- or_else(policy$risk, "worst")
                    words <- c(worst = "worst neighbour", var = "value at risk", cvar = "conditional value at risk")
                    share <- if (measure != "worst") sprintf(" (share %s)", format(policy$share))
                    paste0("best ", words[[measure]], share)
                  },
                  short = "StableOpt",
                  resolved = function(policy) function(settings, config) {
                    settings$radius <- check_radius(settings$radius, config$domain)
                    settings
                  })
  )
)

capitalised <- function(text) paste0(toupper(substr(text, 1, 1)), substring(text, 2))

# The level is a proportion of the maximum, or in units of the reward.
check_level <- function(level, implicit) {
  if (!implicit) return(check_number(level, "level"))
  check_number(level, "level", lower = 0, upper = 1, open_lower = TRUE, open_upper = TRUE)
}

# NULL stands for "mean", as in objects from before there was a choice.
check_incumbent <- function(incumbent) if (!is.null(incumbent)) check_choice(incumbent, "draws")

# Is the incumbent of an improvement drawn from the posterior?
draws_incumbent <- function(policy) identical(policy$incumbent, "draws")

# Converts an improvement `xi` from units of the reward to units of the model. If the conversion depends on the
# incumbent, `target` is a function of the incumbent instead. A target beyond the range of expected rewards is placed
# just inside that range.
resolve_improvement <- function(settings, config) {
  xi <- settings$xi
  if (xi == 0 || !is.null(config$goal)) return(settings)
  config <- outcome_config(config, match(objectives(config)[1], outcome_names(config)))
  map <- output_map(config)
  if (is.null(map) && !has_response(config)) return(settings)
  if (!is.null(map) && map$lambda == 1) {
    settings$xi <- if (is_scale_known(config)) xi * slope_at_centre(map) else 0
    return(settings)
  }
  better <- if (is_reflected(config)) -xi else xi * output_sign(config)
  settings$target <- function(best) {
    from <- as_rewards(best, config)
    target <- values_expecting(from + better, config)
    if (is.finite(target)) return(target)
    end <- as_rewards(Inf, config)
    values_expecting(end - 1e-9 * (end - from), config)
  }
  settings
}

#' @rdname policies
#' @export
policy_ucb <- function(width = width_constant(2)) new_policy("ucb")

#' @rdname policies
#' @export
policy_ts <- function(width = width_constant(1)) new_policy("ts")

#' @rdname policies
#' @export
policy_ei <- function(xi = 0, cost = NULL, incumbent = c("mean", "draws")) {
  incumbent <- given_incumbent(incumbent)
  new_policy("ei")
}

given_incumbent <- function(incumbent) {
  if (check_choice(incumbent, c("mean", "draws"), "incumbent") == "draws") "draws"
}

#' @rdname policies
#' @export
policy_kg <- function() new_policy("kg")

#' Repeat each choice of a policy (fewer switches)
#'
#' `policy_repeats()` evaluates each choice of another policy several times in a row, for experiments with costly
#' set-ups.
#'
#' With \eqn{\lambda}{lambda} the noise variance and \eqn{\sigma}{sd} the posterior sd at the first evaluation, the
#' number of evaluations is (MINI, Calandriello et al. 2022)
#' \deqn{\max(1, \lfloor(C^2-1)\lambda/\sigma^2\rfloor).}{max(1, floor((C^2 - 1) lambda / sd^2)).}
#'
#' @param policy a policy, or a string for one, see [policies].
#' @param C the factor by which every sd may shrink during the repeats: a number > 1, by default 1.1.
#' @return An object of class `bandit_policy`.
#' @section Guarantee: If a choice is repeated, every sd shrinks at most \eqn{C}-fold meanwhile. UCB therefore keeps its
#'   regret bound up to the factor \eqn{C}.
#' @references Calandriello, Carratino, Lazaric, Valko and Rosasco (2022), Scaling Gaussian process optimization by
#'   evaluating a few unique candidates multiple times, ICML <https://arxiv.org/abs/2201.12909>.
#' @seealso [policies].
#' @aliases repeats
#' @concept batch evaluation
#' @concept switching cost
#' @concept replicates
#' @examples
#' b <- gp_bandit(1:20 / 20, kernel_se(0.2), noise_var = 1, policy_repeats(policy_ucb(2), C = 1.5))
#' set.seed(1)
#' run_bandit(b, bandit_problem(1:20 / 20, sin(3 * 1:20 / 20), noise = 1), 60)
#' table(b$history()$x1) # few distinct points, each in a row
#' @export
policy_repeats <- function(policy, C = 1.1) {
  policy <- as_part(policy, "bandit_policy", hint = "policy_ucb(), policy_ts(), ...")
  policy$repeats <- check_number(C, lower = 1, open_lower = TRUE)
  policy
}

#' @rdname policies
#' @export
policy_pi <- function(xi = 0) new_policy("pi")

#' Policies by information about the maximum: MES, PIMS, EIMS
#'
#' These acquisition functions sample the maximum of the function. MES selects the point that is most informative about
#' it; PIMS and EIMS select the point that probably exceeds it, or exceeds it by most in expectation. Let \eqn{\mu}{mu}
#' and \eqn{\sigma}{sd} be the posterior mean and standard deviation, and \eqn{\Phi}{Phi} and \eqn{\phi}{phi} the
#' standard normal distribution and density.
#'
#' @section Max-value entropy search:
#' `policy_mes(samples)`, max-value entropy search, maximises the mean over samples \eqn{y^*}{y*} of
#' \deqn{\frac{g\phi(g)}{2\Phi(g)} - \log\Phi(g),\quad g = (y^* - \mu)/\sigma,}{g phi(g) / (2 Phi(g)) - log Phi(g),  g =
#' (y* - mu) / sd,} the expected information about the maximum in nats. The samples are Gumbel with the quartiles of the
#' maximum of independent values at all arms (on a box: at its candidates). They are at least the best mean among the
#' evaluated points.
#'
#' @section Maximum of a sample path:
#' `policy_pims()`, probability of improvement from the maximum of a sample path, needs no tuning. It takes one joint
#' draw \eqn{g} from the posterior, exact over arms, with maximum \eqn{g^*}{g*}. It chooses the point that most probably
#' exceeds it:
#' \deqn{\arg\max (\mu - g^*)/\sigma.}{argmax (mu - g*) / sd.}
#'
#' `policy_eims()` (GP-EIMS, Takeno et al. 2025) uses the same draw with the expected improvement, without an incumbent.
#' It needs no tuning:
#' \deqn{\arg\max \sigma(z\Phi(z)+\phi(z)),\quad z = (\mu - g^*)/\sigma.}{argmax sd (z Phi(z) + phi(z)),  z = (mu - g*)
#' / sd.} With [pending_hallucinate()] the draws of both condition on observed rewards only, and \eqn{\sigma}{sd} also
#' includes pending queries.
#' @param samples number of sampled maxima, an integer >= 1; 10 by default.
#' @return An object of class `bandit_policy`.
#' @section Guarantee: For \eqn{f} drawn from the prior, Gaussian noise, \eqn{n} arms and
#'   \eqn{C_1 = 2/\log(1 + 1/\lambda)}{C1 = 2 / log(1 + 1/lambda)} the expected regret is at most:
#'
#'   `policy_pims()`, with \eqn{k(x,x) \le 1}{k(x, x) <= 1}, as [width_irgp()] (Takeno et al. 2024):
#'   \deqn{\sqrt{C_1(2 + 2\log(n/2))T\gamma_T}.}{sqrt(C1 (2 + 2 log(n / 2)) T gamma_T).}
#'
#'   `policy_eims()`, with \eqn{n\ge2}{n >= 2}, \eqn{k(x,x) = 1}{k(x, x) = 1}, one query at a time, and
#'   \eqn{D = 2+2\log(n/2)}{D = 2 + 2 log(n / 2)}:
#'   \deqn{\sqrt{C_1T\gamma_T(D + 2\log(D+3) + \log(1+(T-1)/\lambda))}.}{sqrt(C1 T gamma_T (D + 2 log(D + 3) + log(1 +
#'   (T - 1) / lambda))).} This is an original result, not peer-reviewed (article "Derivations",
#'   Result 20; [regret_bound()], `"eims"`). The bound of PIMS is smaller.
#'
#'   There is none for `policy_mes()`.
#' @references Takeno, Inatsu, Karasuyama and Takeuchi (2025), GP-EIMS <https://arxiv.org/abs/2507.09828> (its abstract:
#'   a sublinear expected regret under the prior); Takeno, Inatsu, Karasuyama and Takeuchi (2024)
#'   <https://arxiv.org/abs/2311.03760>; Wang and Jegelka (2017), Max-value entropy search for efficient Bayesian
#'   optimization, ICML, Section 3 (no regret bound of theirs covers more than one sample).
#' @seealso [policies], [width_irgp()].
#' @concept acquisition function
#' @concept max-value entropy search
#' @concept entropy search
#' @concept Thompson sampling
#' @concept Bayesian optimization
#' @examples
#' b <- gp_bandit(list(x = c(0, 1)), kernel_se(0.2), noise_var = 0.01, policy_mes())
#' b$add(x = c(0.1, 0.5, 0.8), reward = c(0.2, 0.9, 0.4))
#' b$suggest()
#' plot(b, "acquisition")
#' @export
policy_mes <- function(samples = 10) new_policy("mes")

#' @rdname policy_mes
#' @export
policy_pims <- function() new_policy("pims")

#' @rdname policy_mes
#' @export
policy_eims <- function() new_policy("eims")

#' Straddle: an acquisition function for level sets
#'
#' `policy_straddle()` selects the point whose side of a level is least clear, for level-set estimation.
#'
#' Let \eqn{\mu}{mu} and \eqn{\sigma}{sd} be the posterior mean and sd, and \eqn{h} the `level`. The policy selects
#' \deqn{\arg\max \max(0, z_t\sigma - |\mu - h|),\quad z_t = \sqrt{-2\log U_t},}{argmax max(0, z_t sd - |mu - h|),  z_t
#' = sqrt(-2 log U_t),}
#' with \eqn{U_t} uniform on (0, 1), drawn again in each round (Inatsu et al. 2024). The column `width` of the history
#' is \eqn{z_t}{z_t}. With `random = FALSE` it selects
#' \deqn{\arg\max 1.96\sigma - |\mu - h|.}{argmax 1.96 sd - |mu - h|.}
#'
#' @param level the level \eqn{h}: a number in units of the reward. See the section Units.
#' @param random a flag: is the multiplier \eqn{z_t} drawn again in each round? `TRUE` by default; `FALSE`: 1.96.
#' @return An object of class `bandit_policy`.
#' @section Units: With `outputs` or `rewards` in [gp_bandit()], `level` is converted to the latent \eqn{f}{f}: it is
#'   the value of \eqn{f}{f} with that expected reward. With comparisons ([rewards_preferences()]) \eqn{f}{f} has no
#'   other unit than its own.
#' @section Guarantee: The bound is for `random = TRUE`, a function \eqn{f} drawn from the prior, and any domain. Label
#'   \eqn{x} as above the level if \eqn{\mu(x) \ge h}{mu(x) >= h}. The loss of a wrong label is \eqn{|f(x) - h|}. Its
#'   expectation, averaged over rounds, is at every point at most
#'   \deqn{\sqrt{2C_1\gamma_T/T},\quad C_1 = 2/\log(1 + 1/\lambda).}{sqrt(2 C1 gamma_T / T),  C1 = 2 / log(1 +
#'   1/lambda).} There is no bound for `random = FALSE`.
#' @section Labels: `$levels(x = NULL, context = NULL)` of a bandit with this policy labels points (all arms if `x` is
#'   `NULL`) as `"above"` or `"below"` the level, or `"unknown"`, by the 95% interval of the posterior at each point.
#'   The intervals do not hold at all points together. With [auto_bandit()] the kernel is estimated. With two inputs
#'   `plot(b, "map")` draws the labels and the contour at the level.
#' @references Inatsu, Takeno, Kutsukake and Takeuchi (2024) <https://arxiv.org/abs/2408.03144>.
#' @seealso [gp_lse()], which labels every arm; [policies].
#' @concept level-set estimation
#' @concept excursion set
#' @concept active learning
#' @concept acquisition function
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' b <- gp_bandit(x, kernel_se(0.2), noise_var = 0.01, policy = policy_straddle(0.5))
#' b$suggest()
#'
#' # Stations of a map with a kernel that is estimated, in batches of five:
#' set.seed(1)
#' survey <- auto_bandit(list(east = c(0, 6), north = c(0, 4)), policy = policy_straddle(50),
#'                       reward = "lead")
#' stations <- survey$suggest(5)
#' survey$observe(stations$id, c(12, 61, 35, 55, 48))
#' plot(survey, "map")
#' @export
policy_straddle <- function(level, random = TRUE) new_policy("straddle")

#' Custom acquisition functions
#'
#' `policy_function()` makes a policy from a custom acquisition function in R.
#' The point with the largest value of `f(mean, sd, round)` is chosen; of equal values, that of the first arm.
#'
#' @section Arguments of f:
#' * `mean`, `sd`: vectors of posterior means and standard deviations, one element per point. `f` returns a vector of
#'   that length.
#' * `round`: the number of the round.
#' * `x`, if `f` has a fourth argument: the points, a matrix with a column per input (over search spaces a data.frame).
#'
#' With several [outcomes] `mean` and `sd` are matrices, with a row per point and a column, by name, for each outcome.
#' They are in the outcome's units, as in `$posterior()` (scaled, as long as fewer than two different values are
#' observed). Limits of outcomes are not applied: `f` has to include them.
#'
#' On a box `f` is maximised by local optimisation with its slopes in mean and sd. These are finite differences, so `f`
#' should be smooth in both. With `outputs` or `rewards` in [gp_bandit()] and one outcome, `f` receives the model's
#' means and standard deviations.
#'
#' @param f a function of `mean`, `sd` and `round` (and `x`, if it has a fourth argument). It must be vectorised over
#'   points and return no NaN. It is saved with the bandit.
#' @param name the policy's name in plots and prints; `"own"` by default.
#' @return An object of class `bandit_policy`.
#' @section Guarantee: None.
#' @seealso [policies].
#' @concept custom acquisition function
#' @concept acquisition function
#' @examples
#' log_ucb <- policy_function(function(mean, sd, round) mean + log(1 + round) * sd, "log-UCB")
#' b <- gp_bandit(1:20 / 20, kernel_se(0.2), noise_var = 0.01, log_ucb)
#' b$add(arm = c(3, 12), reward = c(0.2, 0.9))
#' b$suggest()
#' @export
policy_function <- function(f, name = "own") new_policy("function")

#' Policies for several objectives: expected hypervolume improvement
#'
#' These acquisition functions search for the Pareto front of two or more objectives, for a [gp_bandit()] with several
#' [to_maximize()] or [to_minimize()] among its `outcomes`. Use `policy_ehvi()` for two to four objectives (the default
#' of searches with two), and `policy_hypervolume()` for more, or if a regret bound is wanted.
#'
#' All objectives are turned so that they are maximised. The hypervolume of some points is the volume that they dominate
#' above the reference point \eqn{r}. The front is that of the posterior means at the evaluated points (pending ones
#' too) that are above \eqn{r} and where the limits hold with probability at least 1/2.
#'
#' @section Expected hypervolume improvement:
#' `policy_ehvi()`, for two to four objectives, maximises the expected gain of hypervolume times the probability that
#' all limits hold. The region above \eqn{r} that the front does not dominate is divided into disjoint boxes with
#' corners \eqn{a} and \eqn{b}. Let
#' \deqn{\psi_i(v) = \sigma_i h((\mu_i - v)/\sigma_i),\quad h(u) = \phi(u) + u\Phi(u).}{psi_i(v) = sd_i h((mean_i - v) /
#' sd_i), h(u) = phi(u) + u Phi(u).}
#'
#' The expected gain, computed in logarithms, is
#' \deqn{\sum_{(a,b)} \prod_i [\psi_i(a_i) - \psi_i(b_i)].}{sum over (a, b) of prod_i [psi_i(a_i) - psi_i(b_i)].}
#'
#' @section Noisy expected hypervolume improvement:
#' Noisy results leave the front uncertain. `policy_ehvi(incumbent = "draws")` maximises the expected gain over the
#' front of joint draws of all outcomes at the evaluated points (Daulton et al. 2021). Only points where a draw
#' satisfies the limits are in its front. Given a draw, the gain is the exact formula above.
#'
#' * There are 64 draws with two objectives, 32 with three and 16 with four. They depend on the round only.
#' * The reference point by default is that of the means' front.
#' * Pending points, more than 64 evaluated points, and exhausted arms are handled as in noisy EI, see [policies].
#' * On ten problems with noise of a tenth of each outcome's sd it was ahead of `"mean"` on seven and clearly behind on
#'   one. Without noise they were level. It takes three times as long.
#' * With several models ([refit_every()], `average`) each outcome's models have their share of the draws.
#'
#' @section Hypervolume of upper bounds: `policy_hypervolume()`, for any number \eqn{k} of objectives, maximises the
#' gain of hypervolume by the vector of upper confidence bounds \eqn{\mu + w\sigma}{mean + w sd} (`sampled = TRUE`: by a
#' joint draw). Only points where all limits may hold are candidates. If no point gains, the point with the smallest
#' shortfall is chosen.
#'
#' With three or four objectives and a given `reference`, `policy_ehvi()` found better fronts of most problems, without
#' one worse fronts if there was noise.
#'
#' With a finite `draws` the gain is averaged over that number of random directions \eqn{\lambda}{lambda}: absolute
#' values of a normal vector, none below 0.05 of its length. It is then the gain in
#' \deqn{s_\lambda(y) = \min_i ((y_i - r_i)_+/\lambda_i)^k,}{s(y) = min_i ((y_i - r_i)+ / lambda_i)^k,} whose average
#' over all directions is proportional to the hypervolume. With `draws = 1` it is the scalarised UCB, with a new
#' direction in each round.
#'
#' @param width a confidence width (the multiplier of the posterior sd, see [widths]), or a number, its constant value.
#' @param reference the reference point \eqn{r}: a number for each objective, in its units, named or in their order.
#'   `NULL` (default): the worst of the front less a tenth of its range, computed again in each round.
#' @param draws number of directions to average over, an integer >= 1, or `Inf` (default) for the hypervolume itself.
#' @param sampled a flag: `FALSE` (default) uses upper bounds, `TRUE` joint draws (Thompson sampling).
#' @param incumbent the front that is improved on: that of the posterior means, `"mean"` (default), or of joint draws,
#'   `"draws"`. See the section Noisy expected hypervolume improvement.
#' @return An object of class `bandit_policy`.
#' @section Errors: [gp_bandit()] raises an error if `reference` has other names, or another length, than the
#'   objectives.
#' @section Guarantee: For `policy_hypervolume(width, draws = 1)`, with a given reference and a width with a theorem for
#'   each objective (they share `delta`, see [outcomes]). With \eqn{s_t} the length \eqn{s^{1/k}}{s^(1/k)} of round
#'   \eqn{t} and \eqn{L = 20},
#'   \deqn{\sum_t \max_x s_t(f(x)) - s_t(f(x_t)) \le 2 L \sum_i w_i \sqrt{c_\lambda T \gamma_i}.}{sum of max s_t(f) -
#'   s_t(f(x_t)) <= 2 L sum_i w_i sqrt(c T gamma_i).}
#'
#'   This is an original result, not peer-reviewed: \eqn{s_t} rises in each objective, and is Lipschitz with 1 over the
#'   least weight. There is none for the others.
#' @references Emmerich, Giannakoglou and Naujoks (2006) \doi{10.1109/TEVC.2005.859463}; Daulton, Balandat and Bakshy
#'   (2021), Parallel Bayesian optimization of multiple noisy objectives with expected hypervolume improvement, NeurIPS
#'   <https://arxiv.org/abs/2105.08195>; Golovin and Zhang (2020),
#'   Random hypervolume scalarizations for provable multi-objective black box optimization, ICML.
#' @seealso [outcomes], [policies].
#' @concept multi-objective optimization
#' @concept Pareto front
#' @concept expected hypervolume improvement
#' @concept noisy expected hypervolume improvement
#' @concept EHVI
#' @concept acquisition function
#' @examples
#' x <- seq(0, 1, length.out = 40)
#' b <- gp_bandit(x, kernel_se(0.3), 1e-3, policy_ehvi(),
#'                outcomes = list(speed = to_maximize(), cost = to_minimize()))
#' for (t in 1:6) {
#'   q <- b$suggest()
#'   b$observe(data.frame(id = q$id, speed = sin(3 * q$x1), cost = q$x1^2))
#' }
#' b$front()
#' @export
policy_ehvi <- function(reference = NULL, incumbent = c("mean", "draws")) {
  incumbent <- given_incumbent(incumbent)
  new_policy("ehvi")
}

#' @rdname policy_ehvi
#' @export
policy_hypervolume <- function(width, reference = NULL, draws = Inf, sampled = FALSE) new_policy("hypervolume")

check_reference <- function(reference) {
  if (is.null(reference)) return(NULL)
  check_numbers(reference, "reference", lower = -largest_number, upper = largest_number)
}

# The reference point in the model's units. NULL if it is chosen in each round, or while the rewards have no scale.
resolve_reference <- function(settings, config) {
  if (is.null(settings$reference)) return(settings)
  wanted <- objectives(config)
  given <- reference_of(settings$reference, wanted)
  seen <- vapply(wanted, function(name) {
    one <- outcome_config(config, match(name, outcome_names(config)))
    if (!is_level_known(one)) return(NA_real_)
    map <- output_map(one)
    if (is.null(map)) given[[name]] else transform_outputs(map, given[[name]])
  }, 0)
  settings["reference"] <- list(if (!anyNA(seen)) unname(seen))
  settings
}

#' @rdname policies
#' @export
policy_mean <- function() new_policy("mean")

#' @rdname policies
#' @export
policy_variance <- function() new_policy("variance")

#' @rdname policies
#' @export
policy_uniform <- function() new_policy("uniform")

#' @export
print.bandit_policy <- function(x, ...) {
  check_class(x, "bandit_policy")
  cat(sprintf("<policy: %s>\n", describe_policy(x)))
  invisible(x)
}

describe_policy <- function(policy) {
  extra <- if (!is.null(policy$width)) paste0(", width ", describe_width(policy$width))
           else if (!is.null(policy$xi) && policy$xi > 0) sprintf(", xi = %g", policy$xi)
  if (trait(policy, "labels")) extra <- paste0(extra, ", level ", format(policy$level, digits = 6))
  repeated <- if (!is.null(policy$repeats)) sprintf(", repeated while sd shrinks less than %g-fold", policy$repeats)
  paste0(trait(policy, "title"), extra, repeated)
}

# The policy in the form that the core expects; `traits`: traits_for_core().
resolve_policy <- function(policy, config, traits) {
  out <- c(unclass(policy), traits)
  if (!is.null(policy$width)) out$width <- resolve_width(shared_width(policy$width, config), config)
  if (!is.null(policy$prior_optimum)) {
    out$prior_optimum <- resolve_prior_optimum(policy$prior_optimum, config)
    out$rises <- FALSE
  }
  trait(policy, "resolved")(out, config)
}

# Properties of a policy that the core needs in addition to its settings.
traits_for_core <- function(policy, config) {
  list(draws = trait(policy, "draws"), rises = trait(policy, "rises") && !of_form(config, "several"),
       takes_all = trait(policy, "takes_all"))
}

# Does a function have a fourth argument (the points)?
takes_points <- function(f) {
  arguments <- names(formals(args(f)))
  length(arguments) > 3 && arguments[4] != "..."
}

# A function that converts the kernel's points (actions first, then contexts) to the form that a user's function
# receives. (On a table, the candidates are its arms in every context.)
points_for_users <- function(config) {
  domain <- config$domain
  d <- length(model_names(domain))
  function(inputs) user_inputs(domain, unnumbered(unname(inputs[, seq_len(d), drop = FALSE])))
}

# A function that converts means and sds from the model's units to the user's. Its arguments are vectors with one
# outcome after the other; it returns matrices with one column per outcome. (Values without a scale remain in the
# model's units.)
outcomes_for_users <- function(config) {
  names <- outcome_names(config)
  each <- lapply(seq_along(names), function(k) outcome_config(config, k))
  signs <- vapply(each, function(one) {
    if (is_scale_known(one)) NA_real_ else if (one$outputs$direction == "minimize") -1 else 1
  }, 0)
  columns <- list(NULL, names)
  function(mean, sd) {
    mean <- matrix(mean, ncol = length(names), dimnames = columns)
    sd <- matrix(sd, ncol = length(names), dimnames = columns)
    for (k in seq_along(names)) {
      if (is.na(signs[k])) {
        one <- in_user_units(list(mean = mean[, k], sd = sd[, k]), each[[k]])
        mean[, k] <- one$mean
        sd[, k] <- one$sd
      } else {
        mean[, k] <- signs[k] * mean[, k]
      }
    }
    list(mean, sd)
  }
}

# The cost as a function of the kernel's points, whose first inputs are the actions. It is called in every round because
# prices may change. (On a table, the candidates are all arms in every context, without inputs.)
resolve_cost <- function(cost, config) {
  domain <- config$domain
  d <- length(domain$names)
  arms <- if (is_tabulated_space(config)) all_points(domain)$inputs
  at <- function(inputs) {
    if (!is.null(arms)) inputs <- arms
    points <- from_model_inputs(domain, inputs[, seq_len(d), drop = FALSE])
    colnames(points) <- domain$names
    if (!all(lengths(levels_of_inputs(domain)) == 0)) points <- cpp_frame(typed_columns(domain, points))
    check_costs(call_user(cost(points), "cost", sprintf("for %d points", nrow(points))), nrow(points))
  }
  list(cost = at, actions = d)
}

# Checks that the cost is valid when the bandit is made, not only in its first round.
check_cost_setting <- function(config) {
  if (!is.null(config$policy$cost)) {
    resolve_cost(config$policy$cost, config)$cost(spread_points(config$domain, 20)$inputs)
  }
}

check_costs <- function(costs, count) {
  if (!is_number(costs) || length(costs) != count || any(!is.finite(costs) | costs <= 0)) {
    stop_returned("cost", costs, sprintf("a finite cost > 0 for each of %d points", count))
  }
  as.double(costs)
}

penalty_now <- function(penalty, t) {
  if (!is.function(penalty)) return(penalty)
  value <- call_user(penalty(t), "penalty", sprintf("in round %d", as.integer(t)))
  if (!is_number(value) || length(value) != 1 || !is.finite(value) || value <= 0) {
    stop_returned("penalty", value, "one number > 0", sprintf(" in round %d", as.integer(t)))
  }
  as.double(value)
}

# The seed points as indices of candidates: the arms' numbers, or on a box the first candidates.
resolve_safe <- function(settings, config) {
  seed <- settings$seed
  settings$seed <- if (can_count(config$domain)) as.double(seed$arm) else seq_len(point_total(seed)) - 1
  settings$actions <- length(model_names(config$domain))
  settings
}

safe_phases <- c("maximiser", "expander", "both", "safe", "refuted")

# A radius for each input.
check_radius <- function(radius, domain) {
  d <- length(domain$names)
  check_each(radius, d, lower = 0, open_lower = TRUE)
}

#' @rdname rewards_preferences
#' @export
policy_duel <- function(width, rule = c("last", "game")) new_policy("duel")

register_form("reward", for_users = function(config) function(mean, sd) list(mean, sd))
register_form("outcomes", for_users = outcomes_for_users)

register_family("bandit_policy", policy_entries, tag = "kind", traits = policy_traits, optional = policy_options,
                text = c("title", "short", "random", "draws", "bound"), prefix = "policy_")
