# `maximize_bandit()` and `minimize_bandit()`. Layer: interface.

#' Bayesian optimisation of a function: maximise or minimise in one call
#'
#' `maximize_bandit()` maximises a noisy, expensive function by Bayesian optimisation with a Gaussian process.
#' `minimize_bandit()` minimises it. All results have the objective's own units and sign.
#'
#' A search begins with a space-filling design. Then a policy (acquisition function) selects the points, by default
#' expected improvement.
#'
#' @section When not to use it:
#' If evaluations take less than a second, or gradients are available, use `optim()` or CMA-ES. Try all settings if
#' you can. With more than about twenty inputs, few evaluations find little. To test the effect of each input,
#' use a factorial or response surface design.
#'
#' @section Objective:
#' `objective` is a function of one point, `function(p)`, or has the inputs as arguments, `function(x, y)`. If all
#' inputs are numbers, the point is a named numeric vector, so `sum(p^2)` works. Otherwise it is a named list of typed
#' values. In both cases `p$x` is the input `x`.
#'
#' An evaluation that raises an error, or does not return one finite number, is recorded as failed ([search-details]).
#'
#' @param objective the function, which returns one number, see *Objective*.
#' @param domain a [box_domain()], [finite_domain()], [product_domain()] or [search_space()], or a list that can be
#'   converted to one, such as `list(x = c(1, 3), y = c(-1, 1))`.
#' @param evaluations number of calls of `objective`, an integer >= 1, including the initial design. It may be missing
#'   if `time_limit` is given (not with `store` or `fidelity`).
#' @param ... named arguments of `objective` and of [gp_bandit()], see *Further arguments*.
#' @param direction `"maximize"`, the default, or `"minimize"`.
#' @param n_initial number of points of the initial design, an integer >= 0. `NULL`, the default: see
#'   [search-details].
#' @param model the Gaussian process, [gp_model()]: kernel, noise, priors, output transform and refits. Defaults depend
#'   on the domain and on `transfer`.
#' @param transfer earlier campaigns for [transfer] learning, a named list of data.frames such as
#'   `list(may = old_data)`. `NULL`, the default: none.
#' @param policy the acquisition function, see [policies]. Default: [policy_ei()] with one objective, [policy_ehvi()]
#'   with two, `policy_hypervolume(width_constant(2))` with more.
#' @param data earlier experiments, a data.frame with a column per input and `reward` (or one per outcome), optionally
#'   `status`, `sd` and further columns, see [earlier-experiments]. `NULL`, the default: none.
#' @param workers number of simultaneous evaluations, an integer >= 1, or `Inf` for all workers of the future plan. 1,
#'   the default: evaluations run in this process. See [parallel-search].
#' @param control [search_control()]: pending rule, time limit and attempts of an evaluation, messages, progress bar.
#'   Default: no time limit, two attempts, no messages.
#' @param journal path of a file from which the search can be resumed, see [parallel-search]. `NULL`, the default: none.
#' @param store a [bandit_store()], a database in which the search is begun or resumed, see [parallel-search]. `NULL`,
#'   the default: none.
#' @param stop_when a [stop rule][stopping] (tolerance in units of the reward), or a `function(search)` that returns
#'   `TRUE` to stop, see [search-details]. `NULL`, the default: all evaluations are used.
#' @param time_limit seconds after which no evaluation is begun, a number > 0; running ones are completed. `Inf`, the
#'   default: no limit.
#' @param race [race_folds()] for racing: `objective` is a function of a point and a fold number, and `evaluations`
#'   counts folds (at least those of one point). `NULL`, the default: no racing.
#' @param fidelity `c(lower, target)`, names of sources or a list, for [multi-fidelity] search: `objective` is a
#'   function of a point and a fidelity, and `evaluations` a budget in target costs. `NULL`, the default: none.
#' @param outcomes a named list of objectives and outcome constraints, see [outcomes]: `objective` returns a named
#'   vector with one number for each. `NULL`, the default: a single reward.
#' @param limits outcome constraints as a formula, such as `~ impurity <= 2 & ph >= 5`. `objective` returns a named
#'   vector; its number without a limit is the reward, called `reward` in all results. `NULL`, the default: none.
#' @section Further arguments:
#' `...` may contain, by name:
#'
#' * arguments of `objective`, which are passed to it as in [optim()];
#' * arguments of [gp_bandit()] that `objective` does not have;
#' * `prior_optimum`: a prior over the location of the optimum, [prior_normal()] or a function that returns log
#'   densities of points. `NULL`, the default: none;
#' * `goal`: a formula that is optimised, see [goals]. `NULL`, the default: none;
#' * `reward`: the name of the outcome in `data`, in results and on plots. `NULL`, the default: `"reward"`;
#' * `rewards`: [rewards_binary()], [rewards_counts()] or [rewards_ordinal()] if `objective` returns yes or no, counts
#'   or levels, see [auto_bandit()]. It may return `c(reward = 3, size = 40)`. `NULL`, the default: measurements;
#' * `initial_design`: points to be evaluated first, in the form of `domain`'s inputs. They replace the design of
#'   `n_initial` points. `NULL`, the default: the design is drawn.
#' @section Several outcomes:
#' Each objective has its own direction: `direction` is an error with `outcomes`, and `minimize_bandit()` accepts only
#' [to_minimize()] objectives. `outcomes` cannot be combined with `race`, `fidelity`, or stop rules other than
#' functions. For the result see [bandit_maximum].
#' @return An object of class `bandit_maximum`, a list (see its [methods][bandit_maximum]):
#'
#' * `par`: the [recommended-point], usually an evaluated one.
#' * `value`, `sd`: the expected reward at `par` and its standard deviation, with a part of the fitted noise (see
#'   [recommended-point]).
#' * `observed`: the row of the history with the best reward.
#' * `history`: a data.frame with the inputs, `reward` and `status` of each evaluation, and the `reason` of failures.
#' * `bandit`: a [GPBandit] with which to continue. Its rewards are the objective's (`centre` 0 and `scale` 1).
#' * `direction`; `interrupted`: did the search end early?
#' * `out_of_time`: did `time_limit`?
#' * `stopped`, `certificate`: did `stop_when` end it, and its certificate.
#' * `hopeless`: the reason why a search without a success ended early, or `NULL`.
#' * `race`, `fidelity`: the results of [race_folds()] and of [multi-fidelity] search, or `NULL`.
#' @section Guarantee: None with fitted hyperparameters.
#' @references Jones, Schonlau and Welch (1998), Efficient global optimization of expensive black-box functions, Journal
#'   of Global Optimization 13. Differences: noise, priors, and averages over several models.
#' @seealso [gp_model()] and [search_control()] for settings; [policies] for the formula of expected improvement;
#'   [parallel-search] for several workers, journals and stores; [auto_bandit()] and [gp_bandit()] for ask and tell;
#'   [calibration] for the meaning of `value` and `sd`.
#' @concept budget
#' @concept grid search
#' @concept random search
#' @concept hyperparameter tuning
#' @concept simulator
#' @concept Bayesian optimization
#' @concept hyperparameter optimization
#' @concept black-box optimization
#' @concept expected improvement
#' @concept surrogate model
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
  reward <- dots$bandit[["reward"]]
  goal <- dots$bandit$goal
  rewards <- check_searched_rewards(dots$bandit$rewards, list(outcomes = or_else(outcomes, goal), transfer = transfer,
                                                              race = race, fidelity = fidelity))
  dots$bandit[c("prior_optimum", "initial_design", "reward", "rewards", "goal")] <- NULL
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
  check_class(model, "gp_model", hint = "gp_model()")
  check_no_race_without_noise(race, model)
  fidelity <- check_fidelity(fidelity)
  if (!missing(direction) && is.null(goal)) check_single_direction(outcomes)
  reward <- check_reward_name(reward, domain, character(), or_else(outcomes, goal))
  parts <- outcomes_of_search(outcomes, limits, direction, reward, goal, domain$names, rewards)
  outcomes <- parts$outcomes
  check_search_together(outcomes, store, fidelity, race, stop_when, journal, data, prior_optimum, workers, time_limit)
  check_alone_with_fidelity(fidelity, list(initial_design = initial_design, contexts = dots$bandit$contexts))
  workers <- if (is.null(store)) check_workers(workers) else check_count(workers)
  campaigns <- check_transfer(transfer, domain, reward = or_else(reward, "reward"))
  check_transfer_alone(transfer, list(limits = limits, outcomes = outcomes, race = race, fidelity = fidelity))
  certain <- if (!is.null(campaigns) && is.null(n_initial)) transfer_design_size + workers - 1 else Inf
  first <- given_design(initial_design, n_initial, domain, settings_within_budget(evaluations, race))
  design <- if (!is.null(first)) user_inputs(domain, first)
            else design_size(n_initial, domain, settings_within_budget(evaluations, race), workers)
  known <- check_experiments(data, domain, outcomes = outcomes, reward = reward, rewards = parts$rewards)
  prior <- prepared_prior_optimum(prior_optimum, domain)
  check_prior_optimum_alone(prior_optimum, outcomes)
  if (!is.null(prior)) policy <- with_prior_optimum(policy, prior, if (is.finite(evaluations)) evaluations / 10 else 10)
  cheaper <- if (!is.null(fidelity)) beside("fidelity", domain$names)
  asked <- list(domain, direction, model, policy, control$pending, outcomes = outcomes, rewards = parts$rewards,
                goal = parts$goal, transfer = !is.null(transfer))
  if (!is.null(fidelity)) asked[c("contexts", "context_sides")] <- contexts_of_fidelity(fidelity, cheaper)
  bandit <- do.call("scaled_bandit", c(asked, dots$bandit), quote = TRUE)
  if (is.null(outcomes)) name_reward(as.environment(bandit), reward)
  check_outside_is_data(as.environment(bandit), known)
  if (!is.null(campaigns)) {
    start_transfer(as.environment(bandit), campaigns)
    if (is.null(first)) design <- transfer_design(as.environment(bandit), design, certain, prior, store)
  }
  given <- mget(c("domain", "design", "prior", "known", "evaluations", "race", "stop_when", "time_limit", "fidelity",
                  "store", "journal", "workers"))
  search_with(objective, bandit, given, control)
}

# `given`: the checked arguments of maximize_bandit().
search_with <- function(objective, bandit, given, control) {
  if (!is.null(given$fidelity)) {
    rules <- given[c("evaluations", "design", "stop_when", "time_limit")]
    return(maximize_over_fidelities(objective, bandit, given$fidelity, rules, control))
  }
  if (!is.null(given$store)) {
    return(search_in_store(objective, bandit, given, given$store, given$workers, control))
  }
  search <- open_search(bandit, given$known, given$design, given$journal, given$race, given$prior, control$trust)
  list2env(c(list(objective = objective), given[c("evaluations", "stop_when", "time_limit")],
             control[c("attempts", "verbose")]), search)
  finished_search(search, given$workers, control)
}

# Evaluates in a store until the search ends, and returns its result.
search_in_store <- function(objective, bandit, given, store, workers, control) {
  search <- c(given[c("known", "evaluations", "race")], control["verbose"])
  search$points <- if (!is.null(dim(given$design))) given$design
                   else search_design(given$domain, given$design, store, given$prior)
  with_bar(control$progress, given$evaluations, function(bar) {
    maximize_in_store(objective, bandit, search, store, workers, control$timeout, control$attempts, bar)
  })
}

# Evaluates until the search ends, and returns its result.
finished_search <- function(search, workers, control) {
  pool <- if (workers == 1) local_pool(search$objective, control$timeout)
          else future_pool(search$objective, workers, control$timeout)
  with_bar(if (is.finite(search$evaluations)) control$progress else FALSE, search$evaluations, function(bar) {
    catch_interrupt(work_through(search, pool, bar), function(i) search$interrupted <- TRUE)
    close_search(search, pool, bar)
  }, evaluated(search))
  maximum_of_search(search)
}

check_search_together <- function(outcomes, store, fidelity, race, stop_when, journal, data, prior_optimum, workers,
                                  time_limit) {
  if (!is.null(store)) check_no_waiting(race, "in a store")
  if (are_several(outcomes)) {
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
    stop_unused("direction", "`minimize_bandit()` minimises. Use `maximize_bandit()` for the other direction")
  }
  if (!is.null(list(...)$outcomes) && is.null(list(...)$goal)) {
    check_all_minimised(list(...)$outcomes)
    return(maximize_bandit(objective, domain, evaluations, ...))
  }
  maximize_bandit(objective, domain, evaluations, ..., direction = "minimize")
}

#' Details of a search: initial design, failures and stopping
#'
#' How [maximize_bandit()] and [minimize_bandit()] start, treat failed evaluations, and stop. Read it to change the
#' initial design, or if evaluations fail.
#'
#' @section Initial design: The design is a Latin hypercube, random arms on a finite domain, or both on a product. By
#' default it has 3 points in a space of arms, levels, integers or steps only, where more of them delayed success in
#' tables of real experiments. Otherwise it has `max(4, 5 * inputs)` points, or `2 * inputs` from 15 inputs on. Each
#' worker after the first adds one. At most a quarter of the evaluations are used (half from 15 inputs on, or up to 4
#' points), but always one for each worker. With `transfer` the design has 3 points, and more if earlier campaigns
#' explain little.
#' @section Earlier experiments:
#' `data` may be a spreadsheet, see [earlier-experiments]. Rows outside the search space are used for fitting. They are
#' never suggested or recommended.
#' @section Failed evaluations:
#' An evaluation fails if it raises an error, or returns `NA` or anything but one finite number. Its `status` in the
#' history is `"failed"`, with the `reason` in the next column, and the search avoids the region:
#'
#' * The model uses the worst reward so far in its stead, with the noise variance of a value between the worst and the
#'   best reward (`failures = "doubt"`, see [bandit-queries]). A single failure among good points therefore has little
#'   effect; several close together mark a bad region. With several outcomes this holds for each of them: one that is
#'   `NA` counts as failed, and the other numbers of that evaluation are used.
#' * An objective that cannot be called with one point stops the search at its first call.
#' * The search ends early if the first ten evaluations fail for the same reason. For different reasons, the limit is
#'   the size of the initial design.
#' * If no evaluation succeeded, there is a warning of class `gpbandits_no_success` with the first failure.
#'
#' An interrupt (Esc, Ctrl-C) ends the search and returns the results so far.
#' @section Few points: If no input is continuous, no point is evaluated again while others are left, until a repeat has
#' shown noise. The search ends, with a message, when all points are known: with `gp_model(noise = "none")` when each
#' was evaluated, otherwise after a repeat with the same reward (three repeats if points have equal rewards).
#' `evaluations` may be larger than the number of points.
#' @section Stopping:
#' A function `stop_when` gets a list with `history` and `bandit`. It is called before each evaluation after the initial
#' design. Running evaluations are completed. With a stop rule, the result's `certificate` is the answer of that rule.
#' Stop rules such as [stop_gap()] need their own `width` with [policy_ei()].
#' @seealso [maximize_bandit()]; [stopping] for stop rules; [bandit-queries] for `failures`.
#' @concept initial design
#' @concept Latin hypercube
#' @concept failed evaluations
#' @concept stopping rule
#' @examples
#' # A region where evaluations fail, and a custom stop rule:
#' # at least four successes, and the best one above -0.01.
#' set.seed(1)
#' f <- function(p) if (p$x > 2.5) stop("diverged") else -(p$x - 2)^2
#' enough <- function(search) {
#'   rewards <- stats::na.omit(search$history$reward)
#'   length(rewards) >= 4 && max(rewards) > -0.01
#' }
#' found <- maximize_bandit(f, list(x = c(1, 3)), evaluations = 20, stop_when = enough)
#' table(found$history$status)
#' found$stopped
#' @name search-details
NULL

#' Parallel, resumable and distributed searches
#'
#' [maximize_bandit()] and [minimize_bandit()] can evaluate several points at once, resume after a crash, and share a
#' database with other processes.
#'
#' @section Several workers:
#' With `workers` > 1, evaluations run on the workers of your future plan. On one machine this is
#' `future::plan("multisession", workers = 2)`. For several machines use `"cluster"` or package future.batchtools.
#'
#' Evaluations are asynchronous. When a worker is free, the next point is suggested while others are pending (suggested,
#' without a reward). The pending rule of [search_control()] says how the model treats these. `history` has the order in
#' which results arrived. Each evaluation has its own random number stream.
#'
#' If a worker dies, or an evaluation takes longer than `timeout` of [search_control()], the point is evaluated again.
#' After `attempts` evaluations it is recorded as failed. If all workers of a plan have died, the plan is started again
#' if possible.
#'
#' Time limits end R code on any worker. On this machine an evaluation is also interrupted as by Ctrl-C, which ends
#' `Sys.sleep()`. An evaluation that ignores both, such as another program or a long call of compiled code, is
#' abandoned. Its worker is free again when that call ends. After an interrupt of the search, running evaluations are
#' not completed.
#' @section Journal:
#' With `journal = "file"`, every evaluation and every event of the bandit is written to the file before anything else
#' happens, see [open_bandit()]. Run the same call with the same file to resume after a crash, or to use more
#' `evaluations`. Only evaluations that were running are repeated. With one worker the resumed search is identical to an
#' uninterrupted one, because the state of R's random number generator is restored.
#'
#' The initial design is the one in the file. Other settings or other `data` are an error. The objective itself is not
#' compared.
#' @section Store:
#' With a [bandit_store()], the search is kept in a database, and its workers run [work_on()] there:
#'
#' * With one worker, this process evaluates the points.
#' * With several workers and package mirai, mirai daemons do. They may be local, over SSH, or on a cluster, as set by
#'   `mirai::daemons()`. Otherwise local daemons are started, and replaced if they die.
#' * Without mirai, or if a future plan is set, the workers of the plan do.
#'
#' Further processes may join with [work_on()] from anywhere. The same call again resumes the search, after a crash of
#' this process or in parallel with it. `evaluations` counts all evaluations that were begun. `stop_when` and
#' `time_limit` are errors with a store.
#' @seealso [search_control()], [open_bandit()], [bandit_store()], [work_on()]; [pending] for the rules.
#' @concept parallel workers
#' @concept parallel optimization
#' @concept asynchronous evaluation
#' @concept resume
#' @concept distributed computing
#' @examplesIf requireNamespace("RSQLite", quietly = TRUE)
#' file <- tempfile()
#' set.seed(1)
#' f <- function(p) -(p$x - 2)^2
#' first <- maximize_bandit(f, list(x = c(1, 3)), evaluations = 6, journal = file)
#' more <- maximize_bandit(f, list(x = c(1, 3)), evaluations = 8, journal = file)   # two more
#' identical(more$history$reward[1:6], first$history$reward)
#' unlink(file)
#' @name parallel-search
NULL

# The number of points that can be evaluated on all folds.
settings_within_budget <- function(evaluations, race) {
  if (is.null(race)) return(evaluations)
  if (evaluations < race$folds) {
    stop_argument("evaluations", exact_numbers(evaluations), sprintf("at least the %g folds of a race", race$folds))
  }
  floor(evaluations / race$folds)
}

design_size <- function(n_initial, domain, evaluations, workers) {
  if (!is.null(n_initial)) return(check_count(n_initial, lower = 0, upper = evaluations))
  # With several workers, the bandit makes its first suggestions while the last points of the design are being
  # evaluated.
  size <- default_design(domain) + workers - 1
  min(size, max(most_design(domain, evaluations), min(workers, evaluations)))
}
