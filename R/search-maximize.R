# `maximize_bandit()` and `minimize_bandit()`. Layer: interface.

#' Maximise or minimise a noisy function in one call
#'
#' For the person who just has a function whose every evaluation is noisy and costly. An initial design (a Latin
#' hypercube; random arms on a finite domain; both on a product) is followed by a bandit whose hyperparameters are
#' refitted as it goes. `minimize_bandit()` is `maximize_bandit(direction = "minimize")`; all that it takes and reports
#' has the objective's own sign.
#'
#' The model sees rewards as [scale_outputs()] says: centred and scaled by median and median absolute deviation, bad
#' outliers drawn in, and bent by a power transform where that pays; all is chosen anew at every refit, and undone in
#' every result. An evaluation that stops with an error, or returns `NA` or something that is not one finite number, is
#' recorded (column `status` of the history) and avoided: the bandit takes it for the worst reward seen so far, with the
#' noise of a value that may lie anywhere between the worst and the best (`failures = "doubt"` of [gp_bandit()]): one
#' failure among good points is taken for an accident, several together for a bad region. With several outcomes: for the
#' worst of each. An objective that cannot take one point (it wants more arguments, or none) stops the search at its
#' first call. If no evaluation succeeded, the search ends with a warning of class `gpbandits_no_success` that quotes
#' the first failure. It ends early if the first ten evaluations fail for one reason, or for several reasons as many as
#' the design has. An interrupt (Esc, Ctrl-C) ends the search and returns what there is.
#'
#' @section Objectives:
#' `objective` is a function of one point, or a function whose argument names are the inputs, such as `function(x, y)`.
#' In a point `p$x` and `p[["x"]]` are the input `x`. If all inputs are numbers the point is a named numeric vector, so
#' `sum(p^2)` and matrix products work; otherwise it is a named list of typed values. If the only input is a number,
#' both forms are the same.
#' Named arguments in `...` are passed to `objective` as in [optim()]. Arguments of [gp_bandit()] that `objective` does
#' not name are used for the bandit. Any other name is an error.
#'
#' @section Several workers:
#' With `workers` > 1 evaluations run on the workers of the user's future plan:
#' `future::plan("multisession", workers = 2)` on one machine, `"cluster"` or future.batchtools on many. Every worker is
#' kept busy: when one is free, the next point is suggested while others are pending (rule `pending` of
#' [search_control()]), and results are
#' taken as they come; `history` is in the order in which they came. Each evaluation has a random stream of its own. A
#' query whose worker dies, or takes longer than `timeout` of [search_control()], is evaluated again. After `attempts`
#' evaluations it is recorded as failed; a plan whose workers have all died is set up anew if it can be. Time limits end
#' R code wherever it runs; an evaluation on this machine is also interrupted as by Ctrl-C, which ends `Sys.sleep()`.
#' One that heeds neither (another program, a long call of compiled code) is given up, and its worker is free again when
#' it ends. Evaluations still running at an interrupt are not waited for.
#'
#' @section Journal:
#' With `journal = "file"` every evaluation and every event of the bandit is on the disk before anything else happens
#' ([open_bandit()]). The same call with the same file, after a crash or to spend more `evaluations`, goes on
#' where it ended: nothing is evaluated again but what was running. With one worker it goes on exactly as it would have
#' (R's random generator is put back into its state). The design is that of the file; other settings or other `data` are
#' refused. The objective itself is not compared.
#'
#' @section Store:
#' With `store =` [bandit_store()] the search is kept in a database, and its workers run [work_on()] there: this process
#' with one worker, else mirai daemons (those that the user has set with `mirai::daemons()`: local, over SSH, on a
#' cluster; or local ones of its own, replaced when they die) or, without package mirai or with a future plan, the
#' plan's workers. Further workers may join with [work_on()] from anywhere. The same call again, after a crash of this
#' process or beside it, goes on with the same search; `evaluations` counts all that were begun. `stop_when` and
#' `time_limit` are not for stores.
#'
#' @param objective a function that returns one number, of one point or with the inputs as arguments (`function(x, y)`),
#'   see *Objectives*.
#' @param domain a [box_domain()], a [finite_domain()], a [product_domain()], a [search_space()], or what stands for
#'   one, such as `list(x = c(1, 3), y = c(-1, 1))`.
#' @param evaluations how often `objective` may be called, the initial design included: an integer >= 1. It may be left
#'   out if there is a `time_limit` (not with `store` or `fidelity`).
#' @param ... named arguments of `objective`, and of [gp_bandit()] if `objective` has none of that name. In addition:
#'   * `prior_optimum`: a prior over the optimum's location, [prior_normal()] or a function that returns log densities
#'     of points. `NULL`, the default: none.
#'   * `initial_design`: points that are evaluated first, in the form of `domain`'s inputs, instead of `n_initial` drawn
#'     ones. `NULL`, the default: they are drawn.
#' @param direction `"maximize"` or `"minimize"`.
#' @param n_initial number of points of the initial design, an integer >= 0. `NULL`: `max(4, 5 * inputs)` (`2 * inputs`
#'   from 15 inputs on), one more for each further worker, and at most half of the evaluations (but one for each
#'   worker). With `transfer`: 3, and further ones if earlier campaigns explain little.
#' @param model the Gaussian process, [gp_model()]: kernel, noise, priors, transform and refits. Its defaults depend on
#'   the domain and on `transfer`.
#' @param transfer earlier campaigns, a named list of data.frames such as `list(may = old_data)`, see [transfer].
#'   `NULL`: none.
#' @param policy default: expected improvement. On the 24 BBOB functions in 2, 5 and 10 inputs (60, 100, 150
#'   evaluations) it came first in mean rank and in mean log10 gap: -1.0, 0.2, 0.7, CMA-ES 0.5, 1.8, 2.4, random search
#'   0.9, 2.1, 2.7 (`bench/results/optimisation.md` in the sources). A rule such as [stop_gap()] then needs a `width` of
#'   its own.
#' @param data a data.frame of experiments that were made already: a column per input and `reward` (or a column per
#'   outcome), optionally `status` and `noise_var` (noise variances of single rewards, `NA` for the model's). Rows
#'   outside of the space are used for fitting and never suggested or recommended.
#' @param workers number of evaluations that run at the same time, an integer >= 1. 1, the default: in this process.
#'   More run on the workers of the future plan; `Inf` uses all of them.
#' @param control how evaluations are run, [search_control()]: pending rule, time limit and attempts of an evaluation,
#'   messages, progress bar. By default no time limit, two attempts, no messages.
#' @param journal `NULL`, or the path of a file to write, and to go on from if it exists.
#' @param store `NULL`, or a [bandit_store()] in which to begin the search, or to go on with it.
#' @param stop_when `NULL`, a [stop rule][stopping] (its tolerance in units of the reward), or a `function(search)` that
#'   returns `TRUE` to stop, `search` a list with `history` and `bandit`. Asked before each evaluation that follows the
#'   design; evaluations under way are waited for. The answer of a rule is the result's `certificate`.
#' @param time_limit seconds for the whole search, a number > 0: later no evaluation is begun; those under way are
#'   waited for. With it `evaluations` may be left out.
#' @param race `NULL`, or [race_folds()]: `objective` is a function of a point and the number of a fold, `evaluations`
#'   counts folds (at least those of one point), and points that cannot win are not evaluated on all of them.
#' @param fidelity `NULL`, or [fidelity_range()]: `objective` is a function of a point and a fidelity, and `evaluations`
#'   is a budget in evaluations at the target's cost.
#' @param outcomes `NULL`, or what each number is for that an experiment gives, see [outcomes]: `objective` returns a
#'   named vector, one number for each. What of it is `NA` is unknown and counts as failed (the worst of that outcome so
#'   far); nothing else is lost. Default policies: [policy_ei()] with one objective, [policy_ehvi()] with two,
#'   `policy_hypervolume(width_constant(2))` with more. Not with `direction` (each says its own; `minimize_bandit()`
#'   wants [to_minimize()] only), stop rules other than functions, `race`, `fidelity`.
#' @param limits a formula such as `~ impurity <= 2 & ph >= 5`: `objective` returns a named vector, and its one number
#'   that has no limit is the reward (called `reward` in all results).
#' @return An object of class `bandit_maximum` (see its [methods][bandit_maximum]): a list with `par` (the recommended
#'   point, see below), `value` and `sd` (what reward is expected there, and its posterior sd), `best_seen` (the row of
#'   the history with the best reward), `history` (a data.frame: inputs, `reward`, `status`), `bandit` (a `GPBandit` to
#'   go on with; `centre` 0 and `scale` 1: its rewards are the objective's), `direction`, `interrupted` (the search
#'   ended early), `stopped` (by `stop_when`) and its `certificate`, `out_of_time`, `hopeless` (why it ended early
#'   without a success, or `NULL`), `race` and `fidelity` (`NULL`, or what [race_folds()] and [fidelity_range()] say).
#' @section The recommended point: `bandit$best()`, as of [auto_bandit()] and in stores: the point with the best
#'   posterior mean or, if the fitted noise is negligible, as a rule the evaluated point with the best reward. The page
#'   of [auto_bandit()] has the exact rule. Under a single model
#'   (`model = gp_model(refit = refit_every(2, mean = "fit", average = 1))`) there is more to it: what a fit cannot
#'   follow it calls noise, and some of that is the objective's: a rugged function's, or one without noise. A point that
#'   was evaluated is therefore worth \eqn{(1-s)\,\mu + s\,\bar y}{(1 - s) mean + s y}, \eqn{\mu}{mean} the posterior
#'   mean there, \eqn{\bar y}{y} the mean of its rewards, \eqn{s} the share of the noise in the fitted prior variance of
#'   a reward; if the best of these is better than the best mean, it is recommended. \eqn{s} is 0 where refits leave the
#'   noise alone, under constraints, and where a stop rule gave a certificate. `value` counts a reading in the same way.
#'   Averages over models need none of this, and promise less: of 64 searches with 25 evaluations in 4 inputs (flat, a
#'   bowl, one input that matters, with noise and without) the truth was beyond 3 `sd` of `value` in none, under one
#'   model in 31 (`bench/results/promise.md` in the sources).
#' @section Several outcomes: with `outcomes` or `limits` the history has a column for each, `value` and `sd` are named
#'   vectors (the outcomes' expected values at `par`), `feasible` is the probability that all limits hold there,
#'   `best_seen` the best evaluation whose own numbers kept the limits. `par` is `bandit$best()`: the best expected
#'   objective where the limits hold with probability 0.95, or the most probably feasible place. With several objectives
#'   there is no best place: `par`, `value` and `sd` are `NULL`, and `front` is `bandit$front()`, with one objective
#'   `NULL`.
#' @section Many inputs: from 15 inputs on refits come every quarter as many rounds as there are inputs (10 at most) and
#'   average over up to 4 models, from one start besides those of the models of before; the design has `2 * inputs`
#'   points. (Refits every 2 rounds with ten models took .37 s for each of 300 evaluations of the sphere in 20 inputs;
#'   now it is .14.) One model alone (`model = gp_model(refit = refit_every(5, mean = "fit"))`) is three times as quick
#'   and finds as much or more, but in 20 searches with 60 evaluations in 20 inputs (flat, or one that matters, with
#'   noise) the truth was beyond 3 `sd` of its `value` in 19, with four models in 1. On BBOB functions in 20 inputs a
#'   trust region (TuRBO's rules), candidates that differ from the best point in few inputs, and the longer lengthscales
#'   of `lengthscale_prior = c(sqrt(2) + log(inputs) / 2, sqrt(3))` found less, and are not used
#'   (`bench/results/many_inputs.md` in the sources).
#' @section Errors: a `gpbandits_error` that names the argument. Errors of `objective` are recorded, not raised.
#' @section Guarantee: none with fitted hyperparameters.
#' @seealso [gp_model()], [search_control()]; [gp_bandit()] for asking and telling by yourself; [calibration] for what
#'   `value` and `sd` mean.
#' @examples
#' set.seed(1)
#' found <- maximize_bandit(function(p) -(p$x - 2)^2 + rnorm(1, sd = 0.05),
#'                          list(x = c(1, 3)), evaluations = 15)
#' found
#' minimize_bandit(function(p) (p$x - 2)^2, list(x = c(1, 3)), evaluations = 10)$par
#' @export
maximize_bandit <- function(objective, domain, evaluations, ..., direction = c("maximize", "minimize"), data = NULL,
                            n_initial = NULL, model = gp_model(), policy = default_policy(outcomes), outcomes = NULL,
                            limits = NULL, transfer = NULL, race = NULL, fidelity = NULL, stop_when = NULL,
                            time_limit = Inf, workers = 1, control = search_control(), journal = NULL, store = NULL) {
  check_function(objective)
  domain <- as_domain(domain)
  dots <- split_dots(objective, list(...), names(formals(sys.function())))
  objective <- as_objective(objective, domain$names, dots$objective)
  prior_optimum <- dots$bandit$prior_optimum
  initial_design <- dots$bandit$initial_design
  dots$bandit[c("prior_optimum", "initial_design")] <- NULL
  time_limit <- check_number(time_limit, lower = 0, open_lower = TRUE, infinite = TRUE)
  timed <- is.finite(time_limit) && is.null(fidelity) && is.null(store)
  if (missing(evaluations)) {
    check_spelling("evaluations", ...names())
    if (timed) evaluations <- Inf
  }
  evaluations <- check_count(evaluations, infinite = timed)
  check_control(control)
  stop_when <- check_stop(stop_when)
  race <- check_race(race)
  fidelity <- check_fidelity(fidelity)
  if (!missing(direction)) check_no_direction_beside(outcomes)
  outcomes <- outcomes_of_search(outcomes, limits, direction)
  check_search_together(outcomes, store, fidelity, race, stop_when, journal, data, prior_optimum, workers, time_limit)
  check_alone_with_fidelity(fidelity, list(initial_design = initial_design))
  workers <- if (is.null(store)) check_workers(workers) else check_count(workers)
  campaigns <- check_transfer(transfer, domain)
  check_transfer_alone(transfer, list(limits = limits, outcomes = outcomes, race = race, fidelity = fidelity))
  certain <- if (!is.null(campaigns) && is.null(n_initial)) transfer_design_size + workers - 1 else Inf
  first <- given_design(initial_design, n_initial, domain, settings_within_budget(evaluations, race))
  design <- if (!is.null(first)) user_inputs(domain, first)
            else design_size(n_initial, domain, settings_within_budget(evaluations, race), workers)
  known <- check_experiments(data, domain, outcomes = outcomes, find = places_anywhere)
  prior <- prepared_prior_optimum(prior_optimum, domain)
  check_prior_optimum_alone(prior_optimum, outcomes)
  if (!is.null(prior)) policy <- with_prior_optimum(policy, prior, if (is.finite(evaluations)) evaluations / 10 else 10)
  cheaper <- if (!is.null(fidelity)) beside("fidelity", domain$names)
  settings <- list(domain, direction, model, policy, control$pending)
  beyond <- list(outcomes = outcomes, contexts = cheaper, transfer = !is.null(transfer),
                 context_sides = if (!is.null(fidelity)) stats::setNames(1, cheaper))
  bandit <- do.call("scaled_bandit", c(settings, dots$bandit, beyond), quote = TRUE)
  check_outside_is_data(as.environment(bandit), known$outside)
  if (!is.null(campaigns)) {
    start_transfer(as.environment(bandit), campaigns)
    if (is.null(first)) design <- transfer_design(as.environment(bandit), design, certain, prior, store)
  }
  if (!is.null(fidelity)) {
    rules <- mget(c("evaluations", "design", "stop_when", "time_limit"))
    return(maximize_over_fidelities(objective, bandit, fidelity, c(rules, control[c("timeout", "verbose")])))
  }
  if (!is.null(store)) {
    points <- if (is.null(dim(design))) search_design(domain, design, store, prior) else design
    search <- list(points = points, known = known, evaluations = evaluations, race = race, verbose = control$verbose)
    return(with_bar(shows_progress(control), evaluations, 0, function(bar) {
      maximize_in_store(objective, bandit, search, store, workers, control$timeout, control$attempts, bar)
    }))
  }
  search <- open_search(bandit, known, design, journal, race, prior, control$trust)
  list2env(list(objective = objective, evaluations = evaluations, stop_when = stop_when, attempts = control$attempts,
                time_limit = time_limit, verbose = control$verbose), search)
  pool <- if (workers == 1) local_pool(objective, control$timeout)
          else future_pool(objective, workers, control$timeout)
  with_bar(shows_progress(control) && is.finite(evaluations), evaluations, evaluated(search), function(bar) {
    tryCatch(work_through(search, pool, bar), interrupt = function(i) search$interrupted <- TRUE)
    close_search(search, pool, bar)
  })
  maximum_of_search(search)
}

check_search_together <- function(outcomes, store, fidelity, race, stop_when, journal, data, prior_optimum, workers,
                                  time_limit) {
  if (!is.null(store)) check_no_waiting(race, "in a store")
  if (length(outcomes) > 1) {
    check_one_outcome_for(list(race = race, fidelity = fidelity,
                               stop_when = if (!is.function(stop_when)) stop_when))
  }
  check_alone_with_fidelity(fidelity, list(race = race, store = store, journal = journal, data = data,
                                           prior_optimum = prior_optimum,
                                           workers = if (!identical(workers, 1) && !identical(workers, 1L)) workers))
  check_alone_with_store(store, list(stop_when = stop_when, journal = journal,
                                     time_limit = if (time_limit < Inf) time_limit))
}

#' @rdname maximize_bandit
#' @export
minimize_bandit <- function(objective, domain, evaluations, ...) {
  if ("direction" %in% ...names()) {
    stop_argument("direction", "given to minimize_bandit()", "left out, or given to maximize_bandit()")
  }
  if (!is.null(list(...)$outcomes)) {
    check_all_minimised(list(...)$outcomes)
    return(maximize_bandit(objective, domain, evaluations, ...))
  }
  maximize_bandit(objective, domain, evaluations, ..., direction = "minimize")
}

# Calls f(bar), bar() after each step; NULL for no bar.
with_bar <- function(show, steps, done, f) {
  if (!show) return(f(NULL))
  if (requireNamespace("progressr", quietly = TRUE) && progress_is_handled()) {
    bar <- progressr::progressor(steps = steps)
    if (done) bar(amount = done)
    return(f(bar))
  }
  own <- utils::txtProgressBar(max = steps, initial = done, style = 3, file = stderr())
  on.exit(close(own))
  f(function() {
    done <<- done + 1
    utils::setTxtProgressBar(own, done)
  })
}

# Has the user set progressr up, for good or around this call?
progress_is_handled <- function() {
  if (isTRUE(progressr::handlers(global = NA))) return(TRUE)
  around <- list(progressr::with_progress, progressr::without_progress)
  any(vapply(seq_len(sys.nframe()), function(k) any(vapply(around, identical, NA, sys.function(k))), NA))
}

# Points that can be evaluated on all folds.
settings_within_budget <- function(evaluations, race) {
  if (is.null(race)) return(evaluations)
  if (evaluations < race$folds) {
    stop_argument("evaluations", exact_words(evaluations), sprintf("at least the %g folds of a race", race$folds))
  }
  floor(evaluations / race$folds)
}

design_size <- function(n_initial, domain, evaluations, workers) {
  if (!is.null(n_initial)) return(check_count(n_initial, lower = 0, upper = evaluations))
  # With several workers the bandit begins while the last points of the design are under way.
  size <- default_design(domain) + workers - 1
  min(size, max(ceiling(evaluations / 2), min(workers, evaluations)))
}
