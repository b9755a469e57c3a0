# SafeOpt and StageOpt. Layer: algorithms.

# SafeOpt and StageOpt: a policy of the core (src/core/scores/safe.h). A rule in R (bandit-script.R) is what goes by
# something besides posteriors: rewards alone (`by = "data"`), a test of the norm (`stop_if_refuted`), or constraint
# columns (`safety`, `count`), which a bandit with outcomes has not; it asks the core for the same sets.

#' Safety: SafeOpt and StageOpt
#'
#' Bandits that never play where a safety function may be below its threshold. `seed` is a set of places known to be
#' safe; with \eqn{u, l = \mu\pm w\sigma}{u, l = mu +- w sd} of \eqn{f} and of every safety function \eqn{g_j} (\eqn{f}
#' itself, if `safety` is `NULL`) and thresholds \eqn{h_j} the safe set is
#' \deqn{S_t = \mathrm{seed}\cup\{x : l_j(x)\ge h_j\ \forall j\}}{S_t = seed and all x with l_j(x) >= h_j for every j}
#' or, with a Lipschitz constant \eqn{L_j}, what is reached from the seed by steps to \eqn{x'} with
#' \eqn{l_j(x) - L_j\|x-x'\|\ge h_j}{l_j(x) - L_j |x - x'| >= h_j} from some safe \eqn{x}. Within it there are
#' * possible maximisers
#'   \eqn{M_t = \{x\in S_t : u_f(x)\ge\max_{S_t}l_f\}}{M_t = {x in S_t: u_f(x) >= max of l_f over S_t}};
#' * expanders \eqn{G_t}: those for which there is an unsafe \eqn{x'} with \eqn{l_j(x')\ge h_j}{l_j(x') >= h_j} for
#'   every \eqn{j} once \eqn{(x, u_j(x))} has been observed (with Lipschitz constants: with
#'   \eqn{u_j(x) - L_j\|x-x'\|\ge h_j}{u_j(x) - L_j |x - x'| >= h_j}).
#'
#' `safe_opt()` plays \eqn{\arg\max_{M_t\cup G_t}\max_j(u_j-l_j)/\sqrt{k_j(x,x)}}{the largest max_j (u_j - l_j) /
#' sqrt(k_j(x, x)) in M_t or G_t}. With `method = "stageopt"` it first expands, the widest of \eqn{G_t}, until none is
#' wider than `accuracy`, and then plays \eqn{\arg\max_{S_t}u_f}{argmax u_f over S_t}. `$best()` is
#' \eqn{\arg\max_{S_t}l_f}{argmax l_f over S_t}. History's `phase` says why a place was played: `"maximiser"`,
#' `"expander"`, `"both"` or, where neither is left, `"safe"`. `$safe(context = NULL)` says all this of every place, as
#' a data.frame with a row each: `arm` or inputs, `safe`, `maximiser`, `expander`, and the bounds of \eqn{f}, `lower`,
#' `upper`.
#'
#' With `by = "data"` (LoSBO, Fiedler et al. 2024) neither a norm nor the model says what is safe, but rewards do: a
#' place is safe if for every \eqn{j} some place \eqn{x_s} that was played has
#' \eqn{y_s - E_j - L_j\|x-x_s\|\ge h_j}{y_s - E_j - L_j |x - x_s| >= h_j}, where the noise is at most \eqn{E_j} =
#' `noise_bound`, always; or, for noise that is `R`-sub-Gaussian, \eqn{\bar y_p - R\sqrt{2\log(p(p+1)m(m+1)/\delta)/m} -
#' L_j\|x-x_p\|\ge h_j}{mean(y_p) - R sqrt(2 log(p (p + 1) m (m + 1) / delta) / m) - L_j |x - x_p| >= h_j},
#' \eqn{\bar y_p}{mean(y_p)} the mean of \eqn{m} rewards of the \eqn{p}-th place (in the order of their first rewards;
#' once reached such a bound stays). The model then only chooses among safe places, so that its kernel, its `width` (2
#' unless it is given) and refits (`refit`) are free.
#'
#' On a box of \eqn{d} inputs places are the seed and \eqn{256(d+1)} spread points (at most 2048), up to five inputs
#' with the corners. A round costs \eqn{O(n^2)} for the expanders. Rewards that have not arrived are ignored, which is
#' safe. With [pending_hallucinate()] the real rewards alone say what is safe, a maximiser or an expander, and the sd
#' that knows pending queries which of these is played.
#'
#' @section Guarantee: if the intervals of the safety functions hold in all rounds together, no unsafe place is ever
#'   played: with the default widths (\eqn{f} and every \eqn{g_j} of RKHS norm at most `B`, `R`-sub-Gaussian noise, or,
#'   on arms, all of them drawn from their priors; each with its share of `delta`) with probability at least
#'   \eqn{1-\delta}{1 - delta}. With Lipschitz constants the papers also bound how long it takes to find the best place
#'   that can be reached safely; without them safety is proven, completeness is not. The claim is void if the model is
#'   wrong, if a seed is unsafe, and for constant widths.
#'
#'   `by = "data"`: with `noise_bound` no unsafe place is **ever** played, whatever the model, width or fit; with `R`
#'   with probability at least \eqn{1-\delta}{1 - delta} (derived here: a union bound over \eqn{p} and \eqn{m}, shared
#'   by the \eqn{g_j}). It takes seeds that are safe, Lipschitz constants and noise bounds that hold, and rewards whose
#'   arrival does not depend on their value (for `noise_bound` not even that).
#'
#'   By the model, safety rests on `B`, and **nothing bounds a norm from above**: a `B` that is too small is unsafe, and
#'   data may show it too late or never. `stop_if_refuted = TRUE` asks [norm_check()] before every query; once it finds
#'   `B` too small, a warning of class `gpbandits_refuted` says so and only seeds are played (until `$amend()` changes a
#'   reward). It helps little: in 40 runs with a norm of 10 that was told to be 2.5, a share of .175 was unsafe, .15
#'   with it; told 10, none; with a width of 2, .35.
#' @section Outcomes: with `outcomes` ([outcomes]) those with limits say what is safe, each in its own units and with
#'   its kernel and noise (`at_most(2)`: \eqn{-g} must be at least -2); values are told by name, and may come one by
#'   one. `threshold` is left out, `delta` shared among objective and limits, `lipschitz` one number or one per limit.
#' @section Methods: those of a [GPBandit][gp_bandit]: `journal`, `store`, `pending` (but [pending_censor()]),
#'   `$suggest(arms = )`, copies, files. With constraint columns (`safety`, `count`), `by = "data"` or
#'   `stop_if_refuted = TRUE` a rule in R chooses, as for the baselines in [baseline_constrained()], without `$draw()`,
#'   pending rules and stores. Refits with `by = "data"` only. SafeOpt takes contexts (Berkenkamp et al. 2016):
#'   everything above is then said of places in the context of the round, and a seed is safe in all contexts. StageOpt
#'   has none: its first stage ends once. `$certificate()` and stop rules: [stop_stalled()] alone, as the place with the
#'   largest lower bound may be unsafe.
#' @inheritParams gp_bandit
#' @param threshold \eqn{h}: a number, or one per safety function, in their units.
#' @param seed numbers of arms or, on a box, points, known to be safe.
#' @param B,R,delta of the default widths, [width_amm()] with `delta` shared among all functions; on arms without `B`
#'   and `R` `width_srinivas_finite(delta)`, for functions drawn from their priors. Rewards told with a `noise_var` of
#'   their own are taken at their word (`noise = "scales"`): where `R` bounds their noise whatever is told, give
#'   `width = width_amm(B, R, delta, "bounded")`.
#' @param width overrides the width of \eqn{f} (and, with `constraint_width = NULL`, of all).
#' @param safety `NULL`: \eqn{f} itself must be at least `threshold`. Or the constraint columns that must be: numbers,
#'   or names `"g1"`, ...; their values are told by `$observe(id, reward, constraints = )`.
#' @param lipschitz `NULL`, or \eqn{L}: a number >= 0, or one per safety function, per unit of the inputs (their
#'   logarithms, where these are logarithmic).
#' @param by what says that a place is safe: `"model"`, or `"data"` (with `lipschitz` and one of `noise_bound`, `R`).
#' @param method `"safeopt"`, or `"stageopt"`: safety and maximisation one after the other.
#' @param ... further settings, by name. An unknown name is an error.
#'   * `noise_bound`: \eqn{E}, with `by = "data"`: a bound of the absolute noise, a number >= 0 or one per safety
#'     function. (`R` may be one per safety function, too.) `NULL` by default.
#'   * `stop_if_refuted`: with `by = "model"`, play seeds only once the data refute `B`? `FALSE` by default.
#'   * `accuracy`: where StageOpt stops expanding, a width \eqn{u - l}, a number > 0. By default half of the largest
#'     prior standard deviation.
#'   * `count`: number of constraint columns. By default the number of columns that `safety` names.
#'   * `constraint_kernels`, `constraint_noise_var`, `constraint_width`, `constraint_mean`: see
#'     [baseline_constrained()].
#'   * `outcomes`: one objective and outcomes with limits, see there.
#'   * `mean`, `contexts`, `pending`, `journal`, `store` and `trust` of [gp_bandit()], and with `by = "data"` `refit`.
#' @return A [GPBandit][gp_bandit]; where a rule in R chooses, of reference class `ScriptedBandit`.
#' @aliases stage_opt safe_set
#' @section Errors: a `gpbandits_error` that names the argument.
#' @references Sui, Gotovos, Burdick and Krause (2015), Safe exploration for optimization with Gaussian processes, ICML;
#'   Berkenkamp, Krause and Schoellig (2016) <https://arxiv.org/abs/1602.04450>; Fiedler, Menn, Kreiskoether and Trimpe
#'   (2024) <https://arxiv.org/abs/2403.12948>; Sui, Zhuang, Burdick and Yue (2018), Stagewise safe Bayesian
#'   optimization <https://arxiv.org/abs/1806.07555>.
#' @examples
#' x <- seq(0, 1, length.out = 60)
#' f <- sin(9 * x) + x
#' b <- safe_opt(x, kernel_se(0.15), noise_var = 0.01, threshold = 0, seed = 10,
#'               width = width_constant(2))
#' set.seed(1)
#' run <- run_bandit(b, bandit_problem(x, f, noise = 0.1), 30)
#' min(as.data.frame(run)$f)
#' sum(b$safe()$safe)
#' # by rewards alone: |f'| is at most 10, the noise at most 0.1
#' d <- safe_opt(x, kernel_se(0.15), noise_var = 0.01, threshold = 0, seed = 10, by = "data",
#'               lipschitz = 10, noise_bound = 0.1)
#' run <- run_bandit(d, bandit_problem(x, f, noise = function(n) runif(n, -0.1, 0.1)), 30)
#' min(as.data.frame(run)$f)
#' # the temperature must stay below 2, whatever the yield; two queries at a time
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

# safe_opt() with what its `...` can have. `given`: the names in the user's call.
make_safe_opt <- function(domain, kernel, noise_var, threshold, seed, ..., method, by, B, R, delta, width, safety,
                          lipschitz, given, noise_bound = NULL, stop_if_refuted = FALSE, accuracy = NULL, count = NULL,
                          mean = 0, constraint_kernels = NULL, constraint_noise_var = NULL, constraint_width = NULL,
                          constraint_mean = 0, refit = NULL, contexts = NULL, journal = NULL, outcomes = NULL,
                          pending = pending_ignore(), store = NULL, trust = FALSE) {
  check_dots_empty(..., allowed = setdiff(names(formals(make_safe_opt)), "given"))
  stages <- check_choice(method, c("safeopt", "stageopt")) == "stageopt"
  by <- check_choice(by, c("model", "data"))
  if (stages && !is.null(contexts)) {
    stop_argument("contexts", describe(contexts),
                  "NULL with method = \"stageopt\": its first stage ends once, whatever the context")
  }
  if (!stages && !is.null(accuracy)) {
    stop_argument("accuracy", describe(accuracy), "NULL with method = \"safeopt\", which has no stages")
  }
  of_data <- by == "data"
  check_data_alone(of_data, lipschitz, noise_bound, missing(R), stop_if_refuted, refit, contexts)
  if (of_data && !missing(B)) {
    stop_argument("B", describe(B), "left out with by = \"data\": give a `width`, which is free")
  }
  if (of_data && is.null(width)) width <- width_constant(2)
  pending <- as_part(pending, "bandit_pending", hint = "pending_ignore(), ...")
  of_columns <- !is.null(safety) || !is.null(count)
  if (!is.null(outcomes)) {
    check_outcomes_alone(given, outcomes, of_data, stop_if_refuted)
    threshold <- NULL
  }
  core <- !of_columns && !of_data && !stop_if_refuted && is_safe_in_core(as_domain(domain))
  if (core) {
    if (is.null(width)) width <- safe_width(domain, B, R, delta)
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

# `threshold` is NULL where `outcomes` have limits.
safe_bandit <- function(domain, kernel, noise_var, width, stages, threshold, seed, lipschitz, accuracy, outcomes,
                        pending, ...) {
  if (trait(pending, "stands_in")) {
    stop_argument("pending", describe_pending(pending),
                  "another rule: what stands for a late reward would say what is safe")
  }
  check_few_places(domain, 4000)
  limited <- if (is.null(outcomes)) 1L else sum(vapply(outcomes, is_limited, NA))
  if (is.null(outcomes)) threshold <- check_number(threshold)
  if (!is.null(lipschitz)) {
    lipschitz <- check_each(lipschitz, limited, lower = 0)
  }
  seed <- check_seed(seed, domain)
  policy <- new_policy("safe")
  gp_bandit(domain, kernel, noise_var, policy, outcomes = outcomes, pending = pending, ...)
}

is_safe_in_core <- function(domain) can_count(domain) || core_space_kind(domain, list()) == "box"

# Outcomes with limits say what is safe, in their own units.
check_outcomes_alone <- function(given, outcomes, of_data, stop_if_refuted) {
  known <- c("threshold", "safety", "count", "constraint_kernels", "constraint_noise_var", "constraint_width",
             "constraint_mean")
  twice <- intersect(known, given)
  if (length(twice)) stop_argument(twice[1], "given together with `outcomes`", "absent: each outcome says it of itself")
  if (of_data) stop_argument("outcomes", "given with by = \"data\"", "NULL with by = \"data\"")
  if (stop_if_refuted) stop_argument("stop_if_refuted", "TRUE with `outcomes`", "FALSE with `outcomes`")
  outcomes <- check_outcome_list(outcomes)
  if (sum(vapply(outcomes, trait, NA, "objective")) != 1 || !any(vapply(outcomes, is_limited, NA))) {
    stop_argument("outcomes", describe(outcomes), "one objective, and limits: at_least(), at_most(), in_range()")
  }
  fitted <- !vapply(outcomes, function(one) is.null(one$transform) && is.null(one$refit), NA)
  if (any(fitted)) {
    stop_argument("outcomes", sprintf("%s with a scale or a refit", names(outcomes)[fitted][1]),
                  "outcomes in their own units, with kernels that stay")
  }
}

check_rule_alone <- function(outcomes, pending, store, trust) {
  why <- "with `safety`, `count`, by = \"data\", stop_if_refuted = TRUE, or a domain that is neither arms nor a box"
  if (!is.null(outcomes)) stop_argument("outcomes", "given", paste("NULL", why))
  if (trait(pending, "noticed")) stop_argument("pending", describe_pending(pending), paste("pending_ignore()", why))
  if (!is.null(store)) stop_argument("store", "given", paste("NULL", why))
  check_flag(trust)
}

# The default width of one function.
safe_width <- function(domain, B, R, delta) {
  of_draws <- missing(B) && missing(R) && can_count(as_domain(domain))
  if (of_draws) width_srinivas_finite(check_delta(delta)) else width_amm(B, R, check_delta(delta))
}

# ---- a rule in R ----------------------------------------------------------------

# What only the data's rule takes, and what it needs.
check_data_alone <- function(of_data, lipschitz, noise_bound, no_scale, stop_if_refuted, refit, contexts) {
  check_flag(stop_if_refuted)
  if (!is.null(refit)) check_class(refit, "bandit_refit", "refit", hint = "refit_every()")
  if (!of_data) {
    if (!is.null(noise_bound)) {
      stop_argument("noise_bound", describe(noise_bound), "NULL with by = \"model\"")
    }
    if (!is.null(refit)) {
      stop_argument("refit", "given with by = \"model\"",
                    "left out: what the model calls safe needs a kernel that stays")
    }
    return(invisible())
  }
  if (stop_if_refuted) stop_argument("stop_if_refuted", "TRUE with by = \"data\"", "FALSE: no norm is used")
  if (!is.null(contexts)) stop_argument("contexts", describe(contexts), "NULL with by = \"data\"")
  if (is.null(lipschitz)) {
    stop_argument("lipschitz", "NULL with by = \"data\"", "one number >= 0, or one per safety function")
  }
  if (is.null(noise_bound) == no_scale) {
    stop_argument("noise_bound", if (no_scale) "NULL, without `R`" else "given together with `R`",
                  "given with by = \"data\", or `R`: one of the two")
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

# `models`: the numbers of the safety functions' models; `count`: constraint columns; `functions`: how many widths
# share delta.
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
  seed = check_seed_places(seed),
  lipschitz = if (!is.null(lipschitz)) check_numbers(lipschitz, lengths = length(safety), lower = 0),
  by = check_choice(by, c("model", "data")), stop_if_refuted = check_flag(stop_if_refuted),
  noise = if (!is.null(noise)) check_safe_noise(noise, length(safety))
)

# What is known of the noise, where rewards alone say what is safe: its largest size, or its scale.
check_safe_noise <- function(noise, size) {
  list(bound = if (!is.null(noise$bound)) check_each(noise$bound, size, "noise_bound", lower = 0),
       R = if (!is.null(noise$R)) check_each(noise$R, size, "R", lower = 0), delta = check_delta(noise$delta))
}

check_seed_places <- function(seed) {
  whole <- is.list(seed) && is.integer(seed$arm) && is.matrix(seed$inputs) && is.double(seed$inputs) &&
    nrow(seed$inputs) == length(seed$arm) && nrow(seed$inputs) > 0 && all(is.finite(seed$inputs))
  if (!whole) stop_argument("seed", describe(seed), "places that are known to be safe")
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
  check_few_places(parts$domain, 4000)
  threshold <- check_each(threshold, size)
  seed <- check_seed(seed, parts$domain)
  if (!is.null(lipschitz)) lipschitz <- check_each(lipschitz, size, lower = 0)
  widths <- lapply(parts$models[safety], function(one) norm_width(one$width))
  if (stop_if_refuted && any(vapply(widths, is.null, NA))) {
    stop_argument("stop_if_refuted", "TRUE with a width that knows no norm", "FALSE, or with `B` and `R`")
  }
  models <- parts$models
  if (!is.null(refit)) models <- lapply(models, function(one) c(one, list(refit = refit)))
  new_script_bandit(rule, parts$domain, parts$safety$count, contexts, models, journal = journal, least = 0, trust = trust)
}

check_seed <- function(seed, domain) {
  if (missing(seed)) stop_argument("seed", "missing", "arms or points that are known to be safe")
  places <- if (has_numbers(domain)) subset_places(all_places(domain), check_arms(seed, domain, "seed") + 1L)
            else find_places(domain, seed, arg = "seed")
  if (place_total(places) == 0) stop_argument("seed", describe(seed), "at least one place")
  places
}

# ---- which places are what ----------------------------------------------------

# All arms; of a box the seed and points spread over it.
safe_candidates <- function(config) {
  if (can_count(config$domain)) return(all_places(config$domain))
  d <- length(config$domain$names)
  spread <- spread_places(config$domain, min(1000, 250 * d))
  list(arm = c(config$seed$arm, spread$arm), inputs = rbind(unname(config$seed$inputs), unname(spread$inputs)))
}

# Lower and upper bounds of all models at the places, and which of these are what, as the core has it (SafeSets in
# src/core/scores/safe.h); `width`: f's.
safe_state <- function(bandit, context) {
  config <- bandit$config
  models <- models_of(bandit)
  places <- safe_candidates(config)
  for (model in models) heal(model)
  widths <- vapply(models, model_width, 0)
  seed <- is_seed(config, places)
  refuted <- is_refuted(bandit)
  by_data <- config$by == "data"
  first <- models[[1]]
  safety <- list(outcome = as.integer(config$safety) - 1L, threshold = config$threshold,
                 lipschitz = or_else(config$lipschitz, rep(NaN, length(config$safety))))
  found <- core(cpp_bandits_safe(lapply(models, function(model) model$handle), widths,
                                 contexts_for(first, context, 1L), safety,
                                 if (by_data && !refuted) safe_by_data(bandit, places, seed) else seed,
                                 !by_data && !refuted, !refuted,
                                 points_in_contexts(first$config$domain, places, context), unname(places$inputs)))
  c(found, list(places = places, refuted = refuted, width = widths[1]))
}

is_seed <- function(config, places) {
  if (can_count(config$domain)) return(places$arm %in% config$seed$arm)
  seq_along(places$arm) <= place_total(config$seed)
}

# By rewards alone: every safety function has a reward that is high enough and near enough.
safe_by_data <- function(bandit, places, seed) {
  config <- bandit$config
  certified <- lapply(seq_along(config$safety), function(j) {
    played <- data_bounds(bandit, j)
    out <- logical(place_total(places))
    for (p in seq_along(played$lower)) {
      distance <- sqrt(colSums((t(places$inputs) - played$inputs[p, ])^2))
      out <- out | played$lower[p] - config$lipschitz[j] * distance >= config$threshold[j]
    }
    out
  })
  seed | Reduce(`&`, certified)
}

# Lower bounds of the j-th safety function where it is known, place by place in the order of their first values.
data_bounds <- function(bandit, j) {
  config <- bandit$config
  model <- config$safety[j]
  ids <- bandit$events$id[teaching(bandit, model)]
  if (!length(ids)) return(list(inputs = matrix(0, 0, length(config$domain$names)), lower = numeric()))
  value <- get(if (model == 1) "reward" else paste0("g", model - 1), envir = bandit$queries)[ids]
  inputs <- logged_places(bandit, ids)$inputs
  keys <- row_keys(inputs + 0)
  first <- match(unique(keys), keys)
  place <- match(keys, unique(keys))
  noise <- config$noise
  lower <- if (!is.null(noise$bound)) value - noise$bound[j]
           else mean_bounds(value, place, noise$R[j], noise$delta / length(config$safety))
  list(inputs = inputs[first, , drop = FALSE], lower = vapply(seq_along(first), function(p) max(lower[place == p]), 0))
}

# Of the mean of the first m values of the p-th place, for each value: together they hold with probability 1 - delta, as
# 1 / (p (p + 1) m (m + 1)) sum to 1.
mean_bounds <- function(value, place, R, delta) {
  m <- stats::ave(value, place, FUN = seq_along)
  mean <- stats::ave(value, place, FUN = cumsum) / m
  mean - R * sqrt(2 * log(place * (place + 1) * m * (m + 1) / delta) / m)
}

# ---- a norm that is too small --------------------------------------------------

# Have the data refuted it, before or now? (A corrected reward begins anew.)
is_refuted <- function(bandit) {
  if (!bandit$config$stop_if_refuted) return(FALSE)
  was_refuted(bandit, bandit$memory) || any(test_norms(bandit))
}

was_refuted <- function(bandit, memory) isTRUE(memory$refuted == amendments(bandit))

amendments <- function(bandit) sum(table_column(bandit$events, "kind") == event_kind[["amend"]])

# Of the safety functions, each by its share of delta.
test_norms <- function(bandit) {
  models <- models_of(bandit)[bandit$config$safety]
  vapply(models, function(model) {
    model <- as.environment(model)
    delta <- norm_width(model$config$policy$width)$delta
    test <- test_norm(list(bandit = model, outcome = 1L), NULL, NULL, delta, NULL, NULL)
    test$B < test$lower
  }, NA)
}

# The memory after a choice, with a warning where a norm has just been refuted.
remember_refuted <- function(bandit, state, memory) {
  if (!state$refuted || was_refuted(bandit, memory)) return(memory)
  memory$refuted <- amendments(bandit)
  warn_once(bandit, "refuted", "The data refute `B`: the norm is larger, and no place but the seeds is known to be ",
            "safe. Only seeds are played from now on. See ?norm_check.")
  memory
}

# ---- the choice ---------------------------------------------------------------

# Prior sd of every model at the places.
prior_sds <- function(bandit, places, context) {
  if (is.null(bandit$handle$prior) || !identical(bandit$handle$prior_in, context)) {
    bandit$handle$prior <- lapply(script_models(bandit$config), function(model) model_posterior(model, places, context)$sd)
    bandit$handle$prior_in <- context
  }
  bandit$handle$prior
}

first_largest <- function(score, among, scale) {
  score[!among] <- -Inf
  which(score >= max(score) - 1e-9 * scale)[1]
}

safe_choice <- function(bandit, state, at, memory = bandit$memory) {
  # 1: maximiser, 2: expander, 3: both; 4: neither is left; 5: seeds only.
  kind <- state$maximiser[at] + 2 * state$expander[at]
  kind <- if (state$refuted) 5 else if (kind == 0) 4 else kind
  list(place = subset_places(state$places, at), memory = remember_refuted(bandit, state, memory),
       phase = safe_phases[kind], width = state$width)
}

propose_safe_opt <- function(bandit, context) {
  state <- safe_state(bandit, context)
  prior <- prior_sds(bandit, state$places, context)
  relative <- Map(function(lower, upper, sd) ifelse(sd > 0, (upper - lower) / sd, 0), state$lower, state$upper, prior)
  functions <- union(1, bandit$config$safety)
  at <- first_largest(do.call(pmax, relative[functions]), state$maximiser | state$expander, 1)
  safe_choice(bandit, state, at)
}

propose_stage_opt <- function(bandit) {
  state <- safe_state(bandit, NULL)
  memory <- bandit$memory
  widest <- do.call(pmax, Map(`-`, state$upper, state$lower)[bandit$config$safety])
  accuracy <- if (is.null(bandit$config$accuracy)) bandit$config$scale / 2 else bandit$config$accuracy
  if (memory$stage == 1 && !any(widest[state$expander] > accuracy)) memory$stage <- 2
  at <- if (memory$stage == 1) first_largest(widest, state$expander, bandit$config$scale)
        else first_largest(state$upper[[1]], state$safe, bandit$config$scale)
  safe_choice(bandit, state, at, memory)
}

recommend_safe <- function(bandit, context) {
  state <- safe_state(bandit, context)
  subset_places(state$places, first_largest(state$lower[[1]], state$safe, bandit$config$scale))
}

# $safe(): which places are safe, possible maximisers, expanders, and the bounds of f.
bandit_safe <- function(bandit, context, ...) {
  check_dots_empty(...)
  config <- bandit$config
  of_policy <- trait(config$policy, "safe")
  if (!of_policy && is.null(config$safety)) {
    stop_gpbandits("Only a bandit made by safe_opt() says which places are safe.", argument = "bandit")
  }
  heal(bandit)
  here <- contexts_for(bandit, context, 1L)
  found <- if (of_policy) safe_by_policy(bandit, here) else safe_state(bandit, context_row(config, here))
  places <- place_labels(config$domain, found$places$arm, found$places$inputs)
  ours <- found[c("safe", "maximiser", "expander", "lower", "upper")]
  if (!of_policy) ours[c("lower", "upper")] <- list(found$lower[[1]], found$upper[[1]])
  cpp_frame(c(places, columns_beside(ours, names(places))))
}

# f's bounds in the user's units.
safe_by_policy <- function(bandit, contexts) {
  domain <- bandit$config$domain
  found <- core(cpp_bandit_safe(bandit$handle, contexts))
  if (!is.null(bandit$config$outputs)) {
    middle <- in_user_units(list(mean = (found$lower + found$upper) / 2, sd = (found$upper - found$lower) / 2),
                            bandit$config)
    found[c("lower", "upper")] <- list(middle$mean - middle$sd, middle$mean + middle$sd)
  }
  found$places <- if (can_count(domain)) all_places(domain)
                  else list(arm = NA_integer_, inputs = found$inputs[, seq_along(model_names(domain)), drop = FALSE])
  found
}

register_script("safe_opt", list(
  title = "SafeOpt",
  settings = safe_settings,
  phases = function(count) safe_phases,
  begin = function(config) list(),
  propose = function(bandit, context) propose_safe_opt(bandit, context),
  recommend = function(bandit, context) recommend_safe(bandit, context),
  random = FALSE
))

register_script("stage_opt", list(
  title = "StageOpt",
  settings = c(safe_settings, alist(accuracy = if (!is.null(accuracy)) check_tolerance_of_stage(accuracy))),
  phases = function(count) safe_phases,
  begin = function(config) list(stage = 1),
  propose = function(bandit, context) propose_stage_opt(bandit),
  recommend = function(bandit, context) recommend_safe(bandit, context),
  random = FALSE
))
