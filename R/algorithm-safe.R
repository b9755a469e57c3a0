# SafeOpt and StageOpt. Layer: algorithms.

# SafeOpt and StageOpt are a policy of the core (src/core/scores/safe.h). Constraint columns (`safety`, `count`) are
# outcomes of it. A script in R (bandit-script.R) is needed where something other than posteriors decides on safety:
# rewards alone (`by = "data"`, LoSBO), or a test of the norm (`stop_if_refuted`). The script finds out which points are
# safe a priori; the sets and the choice among them are the core's.

#' Safe Bayesian optimisation: SafeOpt and StageOpt
#'
#' `safe_opt()` maximises a function without evaluating points where a safety function may be below its threshold.
#' Use it if an unsafe evaluation would cause damage, and at least one safe point (`seed`) is known in advance.
#'
#' There are two sources of safety:
#'
#' * `by = "model"`, the default, uses confidence intervals of the Gaussian process. The kernel and usually a bound `B`
#'   of the RKHS norm must be right.
#' * `by = "data"` uses rewards, a bound of the slopes (`lipschitz`) and a bound of the noise, see [losbo].
#'
#' @section The safe set: Each safety function \eqn{g_j} has a threshold \eqn{h_j}. By default \eqn{f} is the only one;
#'   `safety` and `outcomes` define others. The confidence bounds of \eqn{f} and of each \eqn{g_j} are
#'   \deqn{u(x), l(x) = \mu(x)\pm w\sigma(x),}{u(x), l(x) = mu(x) +- w sd(x),}
#'   where \eqn{w} is the confidence width ([widths]), the multiplier of the posterior standard deviation (sd). The safe
#'   set has the seed and all points whose lower bounds reach the thresholds:
#'   \deqn{S_t = \mathrm{seed}\cup\{x : l_j(x)\ge h_j\ \forall j\}.}{S_t = seed and all x with l_j(x) >= h_j for every
#'   j.}
#'
#'   With Lipschitz constants \eqn{L_j} (`lipschitz`) the safe set grows from the seed in steps. A point \eqn{x'} is
#'   added if for every \eqn{j} some safe \eqn{x} has
#'   \deqn{l_j(x) - L_j\|x-x'\|\ge h_j.}{l_j(x) - L_j |x - x'| >= h_j.}
#'
#' @section Choice of the next point: Two kinds of points in the safe set are candidates:
#'
#'   * *maximisers*, where \eqn{f} may be largest,
#'     \deqn{M_t = \{x\in S_t : u_f(x)\ge\max_{S_t}l_f\};}{M_t = {x in S_t: u_f(x) >= max of l_f over S_t};}
#'   * *expanders* \eqn{G_t}: observing \eqn{u_j(x)} would make an unsafe point \eqn{x'} safe, by
#'     \eqn{l_j(x')\ge h_j}{l_j(x') >= h_j} for every \eqn{j}. With Lipschitz constants the condition is
#'     \eqn{u_j(x) - L_j\|x-x'\|\ge h_j}{u_j(x) - L_j |x - x'| >= h_j}.
#'
#'   `method = "safeopt"` selects the most uncertain of both kinds:
#'   \deqn{\arg\max_{x\in M_t\cup G_t}\max_j\ (u_j(x)-l_j(x))/\sqrt{k_j(x,x)}.}{the largest max_j (u_j - l_j) /
#'   sqrt(k_j(x, x)) in M_t or G_t.}
#'
#'   `method = "stageopt"` has two stages. It first selects the widest interval in \eqn{G_t}, until none is wider than
#'   `accuracy`. Then it maximises \eqn{u_f} over \eqn{S_t}.
#'
#' @section Guarantee: With `by = "model"`, no unsafe point is evaluated if the confidence intervals of all safety
#'   functions hold in all rounds together. With the default widths this has probability at least
#'   \eqn{1-\delta}{1 - delta} in two cases. Either \eqn{f} and every \eqn{g_j} have RKHS norm at most `B`, and the
#'   noise is `R`-sub-Gaussian. Or, on arms, all of them are drawn from their priors. Each function gets an equal part
#'   of `delta`. With Lipschitz constants, the papers also bound the number of rounds until the best point that can be
#'   reached safely is found. Without them only safety is proven. Not covered: a wrong model, an unsafe seed, constant
#'   widths.
#'
#'   **Data cannot bound a norm from above.** A `B` that is too small is unsafe, and the data may show it too late or
#'   never, also with `stop_if_refuted`. The article "Theoretical guarantees" has proportions of unsafe runs.
#' @inheritParams gp_bandit
#' @param threshold \eqn{h}, a number, or one per safety function, in their units.
#' @param seed points that are known to be safe: numbers of arms or, on a box, points.
#' @param B,R,delta norm bound, sub-Gaussian noise scale and failure probability (0.1 by default, shared by all
#'   functions) of the default width [width_amm()]. On arms without `B` and `R` the default is
#'   `width_srinivas_finite(delta)`, for functions drawn from their priors.
#' @param width the width of \eqn{f} and, with `constraint_width = NULL`, of all functions. `NULL`, the default: see
#'   `B`.
#' @param safety the constraint columns that must reach their thresholds: numbers, or names `"g1"`, ... Their values are
#'   given by `$observe(id, reward, constraints = )`. `NULL`, the default: \eqn{f} itself must be at least `threshold`.
#' @param lipschitz \eqn{L}, a number >= 0 or one per safety function, in units of the reward per unit of the inputs
#'   (their logarithms for logarithmic inputs). `NULL`, the default: none.
#' @param by `"model"` (the default), or `"data"`, which needs `lipschitz` and one of `noise_bound` and `R`.
#' @param method `"safeopt"` (the default), or `"stageopt"`: first expansion of the safe set, then maximisation.
#' @param ... further settings, by name. An unknown name is an error.
#'   * `noise_bound`: for `by = "data"`, a bound of the absolute noise, a number >= 0 or one per safety function (so may
#'     `R` be). `NULL` by default.
#'   * `stop_if_refuted`: for `by = "model"`, `TRUE` calls [norm_check()] before every query. If it finds `B` too
#'     small, there is a warning of class `gpbandits_refuted`, and only seeds are queried until `$amend()` changes a
#'     reward. `FALSE` by default.
#'   * `accuracy`: the interval width \eqn{u - l} at which StageOpt stops expanding, a number > 0. By default half of
#'     the largest prior standard deviation.
#'   * `count`: the number of constraint columns. By default the number that `safety` names.
#'   * `constraint_kernels`, `constraint_noise_var`, `constraint_width`, `constraint_mean`: see
#'     [baseline_constrained()].
#'   * `outcomes`: one objective and outcomes with limits, see [safe-methods].
#'   * `mean`, `contexts`, `pending`, `journal`, `store` and `trust` of [gp_bandit()], and with `by = "data"` `refit`.
#' @return A [GPBandit] or, if an algorithm in R selects the queries, a `ScriptedBandit`. See [safe-methods].
#' @aliases stage_opt safe_set
#' @concept safe Bayesian optimization
#' @concept safe exploration
#' @concept safety constraints
#' @references Sui, Gotovos, Burdick and Krause (2015), Safe exploration for optimization with Gaussian processes, ICML;
#'   Berkenkamp, Krause and Schoellig (2016) <https://arxiv.org/abs/1602.04450>; Fiedler, Menn, Kreiskoether and Trimpe
#'   (2024) <https://arxiv.org/abs/2403.12948>; Sui, Zhuang, Burdick and Yue (2018), Stagewise safe Bayesian
#'   optimization <https://arxiv.org/abs/1806.07555>.
#' @seealso [losbo], [safe-methods]; [outcomes] for constraints that may be violated during the search; [norm_check()].
#' @examples
#' x <- seq(0, 1, length.out = 60)
#' f <- sin(9 * x) + x
#' b <- safe_opt(x, kernel_se(0.15), noise_var = 0.01, threshold = 0, seed = 10,
#'               width = width_constant(2))
#' set.seed(1)
#' run <- run_bandit(b, bandit_problem(x, f, noise = 0.1), 30)
#' min(as.data.frame(run)$f)
#' sum(b$safe()$safe)
#' # The temperature must stay below 2, for any yield. Two queries at a time:
#' o <- safe_opt(x, kernel_se(0.15), noise_var = 0.01, seed = 10, width = 2,
#'               pending = pending_hallucinate(),
#'               outcomes = list(yield = to_maximize(), temperature = at_most(2)))
#' o$suggest(2)
#' @export
safe_opt <- function(domain, kernel, noise_var, threshold, seed, ..., method = c("safeopt", "stageopt"),
                     by = c("model", "data"), B, R, delta = 0.1, width = NULL, safety = NULL, lipschitz = NULL) {
  make_safe_opt(domain = domain, kernel = kernel, noise_var = noise_var, threshold = threshold, seed = seed, ...,
                method = method, by = by, B = B, R = R, delta = delta, width = width, safety = safety,
                lipschitz = lipschitz, given = names(match.call()))
}

#' Safe Bayesian optimisation without a model of safety: LoSBO
#'
#' LoSBO, Lipschitz-only safe Bayesian optimisation, is [safe_opt()] with `by = "data"` (Fiedler et al. 2024). Safety
#' depends on observed rewards, Lipschitz constants (`lipschitz`) and a bound of the noise, and not on the model or a
#' norm. Use it if slopes are easier to bound than the RKHS norm `B`.
#'
#' Each safety function \eqn{g_j} has a threshold \eqn{h_j} and a Lipschitz constant \eqn{L_j}. A point \eqn{x} is safe
#' if for every \eqn{j} there is a queried point \eqn{x_s} with
#' \deqn{y_s - E_j - L_j\|x-x_s\|\ge h_j.}{y_s - E_j - L_j |x - x_s| >= h_j.}
#'
#' Here the absolute noise never exceeds \eqn{E_j} = `noise_bound`.
#'
#' Instead of `noise_bound`, `R` can be given for noise that is `R`-sub-Gaussian. The condition then uses means of
#' rewards. For the \eqn{p}-th point, in the order of first rewards, \eqn{\bar y_p}{mean(y_p)} is the mean of its
#' \eqn{m} rewards:
#' \deqn{\bar y_p - R\sqrt{2\log(p(p+1)m(m+1)/\delta)/m} - L_j\|x-x_p\|\ge h_j.}{mean(y_p) - R sqrt(2 log(p (p + 1) m
#' (m + 1) / delta) / m) - L_j |x - x_p| >= h_j.}
#'
#' Such a bound, once reached, remains valid. The model only chooses among the safe points. Its kernel, its `width` (2
#' by default) and refits (`refit`) are therefore free.
#'
#' @section Guarantee: With `noise_bound` no unsafe point is **ever** queried, whatever the model, width or fit. With
#'   `R` this has probability at least \eqn{1-\delta}{1 - delta} (an original result, not peer-reviewed: a union bound
#'   over \eqn{p} and \eqn{m}, shared by the \eqn{g_j}).
#'
#'   The seeds must be safe, and Lipschitz constants and noise bounds must hold. With `R` the arrival of rewards must
#'   not depend on their value.
#' @references Fiedler, Menn, Kreiskoether and Trimpe (2024) <https://arxiv.org/abs/2403.12948>.
#' @concept safe Bayesian optimization
#' @concept LoSBO
#' @concept Lipschitz constant
#' @seealso [safe_opt()].
#' @examples
#' # The slope of f is at most 10, and the absolute noise at most 0.1.
#' x <- seq(0, 1, length.out = 60)
#' f <- sin(9 * x) + x
#' b <- safe_opt(x, kernel_se(0.15), noise_var = 0.01, threshold = 0, seed = 10, by = "data",
#'               lipschitz = 10, noise_bound = 0.1)
#' set.seed(1)
#' run <- run_bandit(b, bandit_problem(x, f, noise = function(n) runif(n, -0.1, 0.1)), 30)
#' min(as.data.frame(run)$f)
#' @name losbo
NULL

#' Methods, outcomes and contexts of safe bandits
#'
#' For users of [safe_opt()]: what its bandit returns and allows that other bandits do not. Each round comes with the
#' set of points that are safe, and with the reason for the query.
#'
#' Results, units and limits that differ are:
#'
#' * `$best()` returns the point of the safe set with the largest lower bound of \eqn{f}.
#' * Column `phase` of `$history()` is the reason of a query: `"maximiser"`, `"expander"`, `"both"` or, if there is
#'   neither, `"safe"`.
#' * `$safe(context = NULL)` returns a data.frame with a row for each point: `arm` or inputs, `safe`, `maximiser`,
#'   `expander`, and the bounds of \eqn{f}, `lower` and `upper`.
#' * Pending queries (without observed rewards) are ignored, which is safe. With [pending_hallucinate()] the safe set,
#'   maximisers and expanders use observed rewards only. The posterior standard deviation that selects among them
#'   includes pending queries. [pending_censor()] is not supported.
#' * Constraint columns (`safety`, `count`) are outcomes named `reward`, `g1`, `g2`, ... Their values are given by these
#'   names, or as `$observe(id, reward, constraints = )`.
#' * `by = "data"`, `stop_if_refuted = TRUE` and `constraint_width` use an algorithm in R, as the baselines in
#'   [baseline_constrained()] do. It has no `$draw()`, pending rules or stores.
#' * Refits are supported with `by = "data"` only.
#' * SafeOpt supports contexts (Berkenkamp et al. 2016). All sets are then those in the context of the round, and a
#'   seed is safe in all contexts. StageOpt has none, because its first stage ends once.
#' * `$certificate()` is not supported, and of the stop rules only [stop_stalled()] is. The point with the largest
#'   lower bound may be unsafe.
#'
#' On a box of \eqn{d} inputs the candidates are the seed and \eqn{256(d+1)}{256 (d + 1)} spread points (at most 2048).
#' Up to five inputs the corners are added. (Algorithms in R use 250 spread points per input, at most 1000.) The
#' expanders cost \eqn{O(n^2)}{O(n^2)} a round.
#'
#' With `outcomes` ([outcomes]) the outcomes with limits are the safety functions. Each has its own
#' units, kernel and noise; `at_most(2)` means that \eqn{-g} must be at least -2. Values are given by name, also one
#' at a time. `threshold` is left out. Objective and limits share `delta`, and `lipschitz` is one number or one per
#' limit.
#'
#' @concept safe Bayesian optimization
#' @concept outcome constraints
#' @seealso [safe_opt()], [losbo].
#' @examples
#' set.seed(1)
#' x <- seq(0, 1, length.out = 30)
#' b <- safe_opt(x, kernel_se(0.2), noise_var = 0.01, B = 1, R = 0.1, seed = 15, threshold = 0,
#'               lipschitz = 6)
#' for (t in 1:5) {
#'   q <- b$suggest()
#'   b$observe(q$id, sin(3 * q$x1))
#' }
#' range(x[b$safe()$safe]) # grows from the seed
#' b$history()[c("x1", "phase", "reward")]
#' b$best()                # the largest lower bound
#' @name safe-methods
NULL

# safe_opt() with the arguments that its `...` accepts. `given`: the names in the user's call.
make_safe_opt <- function(domain, kernel, noise_var, threshold, seed, ..., method, by, B, R, delta, width, safety,
                          lipschitz, given, noise_bound = NULL, stop_if_refuted = FALSE, accuracy = NULL, count = NULL,
                          mean = 0, constraint_kernels = NULL, constraint_noise_var = NULL, constraint_width = NULL,
                          constraint_mean = 0, refit = NULL, contexts = NULL, journal = NULL, outcomes = NULL,
                          pending = pending_ignore(), store = NULL, trust = FALSE) {
  check_dots_empty(..., allowed = setdiff(names(formals(make_safe_opt)), "given"))
  stages <- check_choice(method, c("safeopt", "stageopt")) == "stageopt"
  by <- check_choice(by, c("model", "data"))
  if (stages && !is.null(contexts)) {
    stop_unused("contexts", "the first stage of `method = \"stageopt\"` ends once, whatever the context")
  }
  if (!stages && !is.null(accuracy)) {
    stop_unused("accuracy", "`method = \"safeopt\"` has no stages")
  }
  of_data <- by == "data"
  check_data_alone(of_data, lipschitz, noise_bound, missing(R), stop_if_refuted, refit, contexts)
  if (of_data && !missing(B)) {
    stop_unused("B", "`by = \"data\"` uses no norm. Use `width`, which can be chosen freely")
  }
  if (of_data && is.null(width)) width <- width_constant(2)
  pending <- as_part(pending, "bandit_pending", hint = "pending_ignore(), ...")
  if (!is.null(outcomes)) {
    check_outcomes_alone(given, outcomes, of_data, stop_if_refuted)
    threshold <- NULL
  }
  if (!of_data && !stop_if_refuted && is.null(constraint_width) && is_safe_in_core(as_domain(domain))) {
    if (is.null(width)) width <- safe_width(domain, B, R, delta)
    if (!is.null(safety) || !is.null(count)) {
      columns <- safety_columns(check_safety(safety, count), threshold, domain, kernel, noise_var, mean,
                                constraint_kernels, constraint_noise_var, constraint_mean)
      outcomes <- columns$outcomes
      threshold <- columns$threshold
    }
    return(safe_bandit(as_domain(domain), kernel, noise_var, check_script_width(width), stages, threshold, seed,
                       lipschitz, accuracy, mean = mean, contexts = contexts, journal = journal, outcomes = outcomes,
                       pending = pending, store = store, trust = trust))
  }
  check_rule_alone(outcomes, pending, store, trust)
  parts <- safe_parts(domain, kernel, noise_var, B, R, delta, width, safety, count, mean, constraint_kernels,
                      constraint_noise_var, constraint_width, constraint_mean)
  noise <- if (of_data) list(bound = noise_bound, R = if (!missing(R)) R, delta = delta)
  new_safe_script(if (stages) "stage_opt" else "safe_opt", parts, threshold, seed, lipschitz, journal, contexts,
                 accuracy, by, noise, refit, stop_if_refuted, trust)
}

# ---- in the core ----------------------------------------------------------------

# `threshold` is NULL if `outcomes` have limits.
safe_bandit <- function(domain, kernel, noise_var, width, stages, threshold, seed, lipschitz, accuracy, outcomes,
                        pending, ...) {
  if (trait(pending, "stands_in")) {
    stop_argument("pending", describe_pending(pending),
                  "another rule, because the value that replaces a late reward would decide which points are safe")
  }
  check_few_points(domain, 4000)
  limited <- max(1L, sum(vapply(outcomes, is_limited, NA)))
  if (missing(threshold) || !is.null(threshold)) threshold <- check_number(threshold)
  if (!is.null(lipschitz)) {
    lipschitz <- check_each(lipschitz, limited, lower = 0)
  }
  seed <- check_seed(seed, domain)
  policy <- new_policy("safe")
  gp_bandit(domain, kernel, noise_var, policy, outcomes = outcomes, pending = pending, ...)
}

# The outcomes of constraint columns. `threshold` is left for f itself, if no column is a safety function.
safety_columns <- function(safety, threshold, domain, kernel, noise_var, mean, ...) {
  models <- gp_script_parts(domain, kernel, noise_var, NULL, safety$count, mean, ..., least = 0,
                            constraint_width = NULL)$models
  roles <- rep(list(tracked), safety$count)
  columns <- setdiff(safety$models, 1) - 1
  if (length(columns)) {
    threshold <- check_each(threshold, length(columns))
    roles[columns] <- lapply(threshold, function(limit) function(...) at_least(limit, ...))
    threshold <- NULL
  }
  list(outcomes = if (safety$count > 0) outcomes_of_columns(models, roles), threshold = threshold)
}

is_safe_in_core <- function(domain) can_count(domain) || core_space_kind(domain, list()) == "box"

# The limits of `outcomes` define which points are safe, in the outcomes' units; other arguments for this are errors.
check_outcomes_alone <- function(given, outcomes, of_data, stop_if_refuted) {
  known <- c("threshold", "safety", "count", "constraint_kernels", "constraint_noise_var", "constraint_width",
             "constraint_mean")
  twice <- intersect(known, given)
  if (length(twice)) stop_unused(twice[1], "with `outcomes`, each outcome has its own setting")
  if (of_data) {
    stop_unused("outcomes", "`by = \"data\"` does not support several outcomes. Use `safety` for constraint columns")
  }
  if (stop_if_refuted) stop_unused("stop_if_refuted", "it is not supported with `outcomes`")
  outcomes <- check_outcome_list(outcomes)
  if (sum(vapply(outcomes, trait, NA, "objective")) != 1 || !any(vapply(outcomes, is_limited, NA))) {
    stop_argument("outcomes", describe(outcomes), "one objective, and limits: at_least(), at_most(), in_range()")
  }
  fitted <- !vapply(outcomes, function(one) is.null(one$transform) && is.null(one$refit), NA)
  if (any(fitted)) {
    stop_argument("outcomes", sprintf("%s with a scale or a refit", names(outcomes)[fitted][1]),
                  "outcomes in their own units, with fixed kernels")
  }
}

check_rule_alone <- function(outcomes, pending, store, trust) {
  why <- paste("with by = \"data\", stop_if_refuted = TRUE, `constraint_width`, or a domain that is neither arms",
               "nor a box")
  if (!is.null(outcomes)) stop_unused("outcomes", paste("it is not supported", why))
  if (trait(pending, "noticed")) stop_argument("pending", describe_pending(pending), paste("pending_ignore()", why))
  if (!is.null(store)) stop_unused("store", paste("it is not supported", why))
  check_flag(trust)
}

# The default width of one function.
safe_width <- function(domain, B, R, delta) {
  of_draws <- missing(B) && missing(R) && can_count(as_domain(domain))
  if (of_draws) width_srinivas_finite(check_delta(delta)) else width_amm(B, R, check_delta(delta))
}

# ---- a script in R --------------------------------------------------------------

# Arguments that only `by = "data"` accepts, and those that it needs.
check_data_alone <- function(of_data, lipschitz, noise_bound, no_scale, stop_if_refuted, refit, contexts) {
  check_flag(stop_if_refuted)
  if (!is.null(refit)) check_class(refit, "bandit_refit", "refit", hint = "refit_every()")
  if (!of_data) {
    if (!is.null(noise_bound)) {
      stop_unused("noise_bound", "it is for `by = \"data\"`")
    }
    if (!is.null(refit)) {
      stop_unused("refit", "safety by the model (`by = \"model\"`) needs a fixed kernel")
    }
    return(invisible())
  }
  if (stop_if_refuted) stop_unused("stop_if_refuted", "`by = \"data\"` uses no norm")
  if (!is.null(contexts)) stop_unused("contexts", "`by = \"data\"` does not support contexts")
  if (is.null(lipschitz)) {
    stop_missing("lipschitz", "a number >= 0, or one per safety function, with `by = \"data\"`")
  }
  if (is.null(noise_bound) == no_scale) {
    if (no_scale) stop_missing("noise_bound", "a bound of the noise with `by = \"data\"`, or its scale `R`")
    else stop_unused("noise_bound", "`R` is given too, and one of the two is enough")
  }
}

# Models and safety functions from the arguments.
safe_parts <- function(domain, kernel, noise_var, B, R, delta, width, safety, count, ...) {
  safety <- check_safety(safety, count)
  if (is.null(width)) width <- safe_width(domain, B, R, check_delta(delta) / safety$functions)
  c(gp_script_parts(domain, kernel, noise_var, check_script_width(width), safety$count, ..., least = 0),
    list(safety = safety))
}

# ---- settings -----------------------------------------------------------------

# `models`: the numbers of the safety functions' models; `count`: the number of constraint columns; `functions`: the
# number of widths among which delta is divided.
check_safety <- function(safety, count) {
  if (is.null(safety)) {
    count <- if (is.null(count)) 0 else check_count(count, lower = 0, upper = most_constraints)
    return(list(models = 1, count = count, functions = 1))
  }
  number <- if (is_text(safety)) suppressWarnings(as.integer(sub("^g", "", safety))) else safety
  if (!is_number(number) || length(number) == 0 || anyNA(number) || any(number < 1 | number != round(number)) ||
      anyDuplicated(number)) {
    stop_argument("safety", describe(safety),
                  "NULL, or distinct constraint columns: \"g1\", \"g2\", ..., or their numbers")
  }
  count <- if (is.null(count)) max(number) else check_count(count, lower = max(number), upper = most_constraints)
  list(models = 1 + number, count = count, functions = 1 + length(number))
}

safe_settings <- alist(
  safety = check_numbers(safety, lower = 1), threshold = check_numbers(threshold, lengths = length(safety)),
  seed = check_seed_points(seed),
  lipschitz = if (!is.null(lipschitz)) check_numbers(lipschitz, lengths = length(safety), lower = 0),
  by = check_choice(by, c("model", "data")), stop_if_refuted = check_flag(stop_if_refuted),
  noise = if (!is.null(noise)) check_safe_noise(noise, length(safety))
)

# Assumptions about the noise if rewards alone decide on safety: a bound on its absolute value, or its scale R.
check_safe_noise <- function(noise, size) {
  list(bound = if (!is.null(noise$bound)) check_each(noise$bound, size, "noise_bound", lower = 0),
       R = if (!is.null(noise$R)) check_each(noise$R, size, "R", lower = 0), delta = check_delta(noise$delta))
}

check_seed_points <- function(seed) {
  whole <- is.list(seed) && is.integer(seed$arm) && is.matrix(seed$inputs) && is.double(seed$inputs) &&
    nrow(seed$inputs) == length(seed$arm) && nrow(seed$inputs) > 0 && all(is.finite(seed$inputs))
  if (!whole) stop_argument("seed", describe(seed), "points that are known to be safe")
  seed
}

check_tolerance_of_stage <- function(accuracy) check_number(accuracy, "accuracy", lower = 0, open_lower = TRUE)

new_safe_script <- function(rule, parts, threshold, seed, lipschitz, journal, contexts, accuracy, by, noise, refit,
                           stop_if_refuted, trust) {
  safety <- parts$safety$models
  size <- length(safety)
  if (has_numbers(parts$domain) && !can_count(parts$domain)) {
    stop_argument("domain", describe_domain(parts$domain), "arms or a box")
  }
  check_few_points(parts$domain, 4000)
  threshold <- check_each(threshold, size)
  seed <- check_seed(seed, parts$domain)
  if (!is.null(lipschitz)) lipschitz <- check_each(lipschitz, size, lower = 0)
  widths <- lapply(parts$models[safety], function(one) norm_width(one$width))
  if (stop_if_refuted && any(vapply(widths, is.null, NA))) {
    stop_argument("stop_if_refuted", "TRUE with a width that has no norm", "FALSE, or used with `B` and `R`")
  }
  models <- parts$models
  if (!is.null(refit)) models <- lapply(models, function(one) c(one, list(refit = refit)))
  new_script_bandit(rule, parts$domain, parts$safety$count, contexts, models, journal = journal, least = 0,
                    trust = trust)
}

check_seed <- function(seed, domain) {
  if (missing(seed)) stop_missing("seed", "arms or points that are known to be safe", "`seed = 1` for the first arm")
  points <- if (has_numbers(domain)) subset_points(all_points(domain), check_arms(seed, domain, "seed") + 1L)
            else find_points(domain, seed, arg = "seed")
  if (point_total(points) == 0) stop_argument("seed", describe(seed), "at least one point")
  points
}

# ---- sets of points -------------------------------------------------------------

# All arms; on a box, the seed and points spread over the box.
safe_candidates <- function(config) {
  if (can_count(config$domain)) return(all_points(config$domain))
  d <- length(config$domain$names)
  spread <- spread_points(config$domain, min(1000, 250 * d))
  list(arm = c(config$seed$arm, spread$arm), inputs = rbind(unname(config$seed$inputs), unname(spread$inputs)))
}

# The sets to which the points belong, the bounds of f, the point to choose and the best one, from the core (SafeSets,
# SafeChoice in src/core/scores/safe.h). `width`: the width of f.
safe_state <- function(bandit, context) {
  config <- bandit$config
  models <- models_of(bandit)
  points <- safe_candidates(config)
  for (model in models) rebuild(model)
  widths <- vapply(models, model_width, 0)
  seed <- is_seed(config, points)
  refuted <- is_refuted(bandit)
  by_data <- config$by == "data"
  first <- models[[1]]
  safety <- list(outcome = as.integer(config$safety) - 1L, threshold = config$threshold,
                 lipschitz = or_else(config$lipschitz, rep(NaN, length(config$safety))))
  stage <- bandit$memory$stage
  found <- cpp_bandits_safe(lapply(models, function(model) model$handle), widths,
                            contexts_for(first, context, 1L), safety,
                            if (by_data && !refuted) safe_by_data(bandit, points, seed) else seed,
                            !by_data && !refuted, !refuted,
                            points_in_contexts(first$config$domain, points, context), unname(points$inputs),
                            if (!is.null(stage)) list(accuracy = or_else(config$accuracy, NaN),
                                                      second = stage == 2))
  c(found, list(points = points, refuted = refuted, width = widths[1]))
}

is_seed <- function(config, points) {
  if (can_count(config$domain)) return(points$arm %in% config$seed$arm)
  seq_along(points$arm) <= point_total(config$seed)
}

# From rewards alone: a point is safe if every safety function has a reward that is high enough and near enough.
safe_by_data <- function(bandit, points, seed) {
  config <- bandit$config
  certified <- lapply(seq_along(config$safety), function(j) {
    played <- data_bounds(bandit, j)
    out <- logical(point_total(points))
    for (p in seq_along(played$lower)) {
      distance <- sqrt(colSums((t(points$inputs) - played$inputs[p, ])^2))
      out <- out | played$lower[p] - config$lipschitz[j] * distance >= config$threshold[j]
    }
    out
  })
  seed | Reduce(`&`, certified)
}

# Lower bounds of the j-th safety function at its observed points, in the order of their first values.
data_bounds <- function(bandit, j) {
  config <- bandit$config
  model <- config$safety[j]
  ids <- bandit$events$id[teaching(bandit, model)]
  if (!length(ids)) return(list(inputs = matrix(0, 0, length(config$domain$names)), lower = numeric()))
  value <- get(if (model == 1) "reward" else paste0("g", model - 1), envir = bandit$queries)[ids]
  inputs <- logged_points(bandit, ids)$inputs
  point <- row_numbers(inputs)
  first <- which(!duplicated(point))
  noise <- config$noise
  lower <- if (!is.null(noise$bound)) value - noise$bound[j]
           else mean_bounds(value, point, noise$R[j], noise$delta / length(config$safety))
  list(inputs = inputs[first, , drop = FALSE], lower = vapply(seq_along(first), function(p) max(lower[point == p]), 0))
}

# Lower bounds of the p-th point's mean from its first m values, for each value. All hold jointly with probability
# 1 - delta, because the terms 1 / (p (p + 1) m (m + 1)) sum to 1.
mean_bounds <- function(value, point, R, delta) {
  m <- stats::ave(value, point, FUN = seq_along)
  mean <- stats::ave(value, point, FUN = cumsum) / m
  mean - R * sqrt(2 * log(point * (point + 1) * m * (m + 1) / delta) / m)
}

# ---- a norm that is too small --------------------------------------------------

# Have the data refuted the norm bound, at an earlier choice or now? (Amending a reward restarts the test.)
is_refuted <- function(bandit) {
  if (!bandit$config$stop_if_refuted) return(FALSE)
  was_refuted(bandit, bandit$memory) || any(test_norms(bandit))
}

was_refuted <- function(bandit, memory) isTRUE(memory$refuted == amendments(bandit))

amendments <- function(bandit) sum(table_column(bandit$events, "kind") == event_kind[["amend"]])

# One test per safety function, each with its share of delta.
test_norms <- function(bandit) {
  models <- models_of(bandit)[bandit$config$safety]
  vapply(models, function(model) {
    model <- as.environment(model)
    delta <- norm_width(model$config$policy$width)$delta
    test <- test_norm(list(bandit = model, outcome = 1L), NULL, NULL, delta, NULL, NULL)
    test$B < test$lower
  }, NA)
}

# The memory after a choice. Warns if a norm bound has just been refuted.
remember_refuted <- function(bandit, state, memory) {
  if (!state$refuted || was_refuted(bandit, memory)) return(memory)
  memory$refuted <- amendments(bandit)
  warn_once(bandit, "refuted", "The data refute `B`: the norm is larger, and only the seeds are known to be safe. ",
            "Only seeds are queried from now on. See ?norm_check.")
  memory
}

# ---- the choice ---------------------------------------------------------------

propose_safe <- function(bandit, context) {
  state <- safe_state(bandit, context)
  at <- state$chosen
  memory <- bandit$memory
  if (state$second) memory$stage <- 2
  # 1: maximiser, 2: expander, 3: both; 4: neither is left; 5: seeds only.
  kind <- state$maximiser[at] + 2 * state$expander[at]
  kind <- if (state$refuted) 5 else if (kind == 0) 4 else kind
  list(point = subset_points(state$points, at), memory = remember_refuted(bandit, state, memory),
       phase = safe_phases[kind], width = state$width)
}

recommend_safe <- function(bandit, context) {
  state <- safe_state(bandit, context)
  subset_points(state$points, state$best)
}

# $safe(): which points are safe, possible maximisers, expanders, and the bounds of f.
bandit_safe <- function(bandit, context, ...) {
  check_dots_empty(...)
  config <- bandit$config
  of_policy <- trait(config$policy, "safe")
  if (!of_policy && is.null(config$safety)) {
    stop_state("`$safe()` needs a bandit made by safe_opt().", argument = "bandit")
  }
  rebuild(bandit)
  here <- contexts_for(bandit, context, 1L)
  found <- if (of_policy) safe_by_policy(bandit, here) else safe_state(bandit, context_row(config, here))
  points <- point_labels(config$domain, found$points$arm, found$points$inputs)
  own <- found[c("safe", "maximiser", "expander", "lower", "upper")]
  cpp_frame(c(points, distinct_columns(own, names(points))))
}

# f's bounds in the user's units.
safe_by_policy <- function(bandit, contexts) {
  domain <- bandit$config$domain
  found <- cpp_bandit_safe(bandit$handle, contexts)
  if (!is.null(bandit$config$outputs)) {
    middle <- in_user_units(list(mean = (found$lower + found$upper) / 2, sd = (found$upper - found$lower) / 2),
                            bandit$config)
    found[c("lower", "upper")] <- list(middle$mean - middle$sd, middle$mean + middle$sd)
  }
  found$points <- if (can_count(domain)) all_points(domain)
                  else list(arm = NA_integer_, inputs = found$inputs[, seq_along(model_names(domain)), drop = FALSE])
  found
}

# `first`: the memory before the first query.
safe_script <- function(title, settings, first) {
  list(title = title, settings = settings, phases = function(count) safe_phases, state = function(config) first,
       suggest = function(bandit, context) propose_safe(bandit, context),
       recommend = function(bandit, context) recommend_safe(bandit, context), random = FALSE)
}

register_script("safe_opt", safe_script("SafeOpt", safe_settings, list()))

register_script("stage_opt", safe_script(
  "StageOpt", c(safe_settings, alist(accuracy = if (!is.null(accuracy)) check_tolerance_of_stage(accuracy))),
  list(stage = 1)
))
