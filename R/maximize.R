#' Maximise a noisy function in one call
#'
#' For the person who just has a function whose every evaluation is noisy and costly. An initial design (a Latin
#' hypercube; random arms on a finite domain; both on a product) is followed by a bandit whose hyperparameters are refitted as it goes.
#'
#' The rewards are centred and scaled inside, by mean and standard deviation of the first ones, and reported as they are:
#' rewards of size 1e-8 or 1e8 serve as well. An evaluation that stops with an error, or returns `NA` or something that is not one
#' finite number, is recorded (column `status` of the history) and avoided: the bandit takes it for the worst reward seen so far.
#' An interrupt (Esc, Ctrl-C) ends the search and returns what there is.
#'
#' @section Several workers:
#' With `workers` > 1 evaluations run on the workers of the user's future plan: `future::plan("multisession", workers = 2)` on one
#' machine, `"cluster"` or future.batchtools on many. Every worker is kept busy: when one is free, the next point is
#' suggested while others are pending (see `pending`), and results are taken as they come; `history` is in the order in which
#' they came. Each evaluation has a random stream of its own. A query whose worker dies, or takes longer than `timeout`,
#' is given back and evaluated again, `attempts` times in all, and then recorded as failed; a plan whose workers have all died is set
#' up anew if it can be. Time limits end R code wherever it runs; an evaluation on this
#' machine is also interrupted as by Ctrl-C, which ends `Sys.sleep()`. One that heeds neither (another program, a long call of
#' compiled code) is given up, and its worker is free again when it ends. Evaluations still running at an interrupt are not waited for.
#'
#' @section Journal:
#' With `journal = "file"` every evaluation and every event of the bandit is on the disk before anything else happens
#' ([resume_bandit()]). The same call with the same file, after a crash or to spend more `evaluations`, goes on
#' where it ended: nothing is evaluated again but what was running. With one worker it goes on exactly as it would have
#' (R's random generator is put back into its state). The design is that of the file; other settings or other `initial` points are refused.
#' The objective itself is not compared.
#'
#' @section Store:
#' With `store =` [bandit_store()] the search is kept in a database, and its workers run [work_on()] there: this process with one
#' worker, else mirai daemons (those that the user has set with `mirai::daemons()`: local, over SSH, on a cluster; or local ones of its
#' own, replaced when they die) or, without package mirai or with a future plan, the plan's workers. Further workers may join with [work_on()]
#' from anywhere. The same call again, after a crash of this process or beside it, goes on with the same search; `evaluations` counts all
#' that were begun. Rewards are kept in their own units: the first ones set centre and scale of the prior instead (bounds in
#' [refit_every()] are then in those units).
#'
#' @param objective a function of one point, a named numeric vector, that returns one number: to be maximised.
#' @param domain a [box_domain()], a [finite_domain()], a [product_domain()], or what stands for one, such as
#'   `list(x = c(1, 3), y = c(-1, 1))`.
#' @param evaluations how often `objective` may be called, the initial design included: a whole number >= 1.
#' @param ... further arguments of [gp_bandit()].
#' @param design number of points of the initial design; `NULL`: `max(4, 5 * inputs)`, one more for each further worker, and at most
#'   half of the evaluations (but one for each worker).
#' @param kernel `NULL`: Matern 5/2 with a lengthscale per input, \eqn{0.4\sqrt d}{0.4 sqrt(d)} times its range at first
#'   (\eqn{d} inputs: in more inputs points are further apart), variance 1 (of the scaled rewards).
#' @param noise_var noise variance of the scaled rewards to begin with.
#' @param policy default: GP-UCB two standard deviations wide.
#' @param refit [refit_every()], or `NULL` for a fixed kernel. By default every 5 rounds, with a fitted mean and, where `kernel` is
#'   `NULL`, a log-normal prior on each lengthscale: its first value is the median, `sdlog` 1. Without priors, in many
#'   inputs, a lengthscale for each is fitted to too few points, and the search does worse than random points.
#' @param initial a data.frame of points that are known already: a column per input and a column `reward`.
#' @param pending one of the [pending] rules, for points that are suggested while others are being evaluated.
#' @param workers how many evaluations may run at once: 1 is in this process, more on the workers of the future plan,
#'   `Inf` on all of them.
#' @param timeout seconds that one evaluation may take, a number > 0; `Inf` for no limit. With one worker it is R's own time limit
#'   ([setTimeLimit()]), which ends R code but neither sleep nor compiled code.
#' @param attempts how often a point is evaluated whose worker dies or whose time runs out, a whole number >= 1.
#' @param journal `NULL`, or the path of a file to write, and to go on from if it exists.
#' @param store `NULL`, or a [bandit_store()] in which to begin the search, or to go on with it.
#' @param stop_when `NULL`, a [stop rule][stopping] (its tolerance in units of the reward), or a `function(search)` that returns `TRUE` to
#'   stop, `search` a list with `history` and `bandit`. Asked before each evaluation that follows the design; evaluations under way
#'   are waited for. The answer of a rule is the result's `certificate`.
#' @param progress show a progress bar through package progressr.
#' @return An object of class `bandit_maximum`: a list with `par` (the recommended point: largest posterior mean), `value` (that mean,
#'   in units of the reward), `best_seen` (the row of the history with the largest reward), `history` (a data.frame: inputs,
#'   `reward`, `status`), `bandit` (a `GPBandit` to go on with; its rewards are scaled), `centre` and `scale` (reward =
#'   centre + scale * the bandit's), `interrupted` (the search ended early),
#'   `stopped` (by `stop_when`) and its `certificate`.
#' @section Errors: a `gpbandits_error` that names the argument. Errors of `objective` are recorded, not raised.
#' @section Guarantee: none with fitted hyperparameters.
#' @seealso [gp_bandit()] for asking and telling by yourself, [refit_every()].
#' @examples
#' set.seed(1)
#' found <- maximize_bandit(function(p) -(p["x"] - 2)^2 + rnorm(1, sd = 0.05),
#'                          list(x = c(1, 3)), evaluations = 15)
#' found
#' @export
maximize_bandit <- function(objective, domain, evaluations, ..., design = NULL, kernel = NULL,
                            noise_var = 0.01, policy = policy_ucb(width_constant(2)),
                            pending = pending_hallucinate(), refit = default_refit(domain, kernel),
                            initial = NULL, workers = 1, timeout = Inf, attempts = 2, journal = NULL,
                            store = NULL, stop_when = NULL, progress = FALSE) {
  check_function(objective)
  domain <- as_domain(domain)
  force(refit)                          # before `kernel` is changed
  evaluations <- check_count(evaluations)
  check_flag(progress)
  check_stop(stop_when)
  if (!is.null(store) && !is.null(stop_when)) stop_argument("stop_when", "given together with `store`", "NULL where `store` is given")
  if (!is.null(store) && !is.null(journal)) stop_argument("journal", "given together with `store`", "NULL where `store` is given")
  workers <- if (is.null(store)) check_workers(workers) else check_count(workers)
  timeout <- check_number(timeout, lower = 0, open_lower = TRUE, infinite = TRUE)
  attempts <- check_count(attempts)
  design <- design_size(design, domain, evaluations, workers)
  if (is.null(kernel)) kernel <- default_kernel(domain)
  known <- check_initial(initial, domain)
  bandit <- gp_bandit(domain, kernel, noise_var, policy, pending = pending, refit = refit, ...)
  assign(".said", "far", envir = as.environment(bandit))    # rewards are scaled here
  if (!is.null(store)) {
    search <- list(points = search_design(domain, design, store), known = known, evaluations = evaluations)
    return(maximize_in_store(objective, bandit, search, store, workers, timeout, attempts))
  }
  search <- open_search(bandit, known, design, journal)
  search$evaluations <- evaluations
  search$stop_when <- stop_when
  search$attempts <- attempts
  pool <- if (workers == 1) local_pool(objective, timeout) else future_pool(objective, workers, timeout)
  bar <- if (progress && requireNamespace("progressr", quietly = TRUE)) progressr::progressor(steps = evaluations)
  if (!is.null(bar) && evaluated(search)) bar(amount = evaluated(search))
  tryCatch(work_through(search, pool, bar), interrupt = function(i) search$interrupted <- TRUE)
  close_search(search, pool, bar)
  new_maximum(search)
}

design_size <- function(design, domain, evaluations, workers) {
  if (!is.null(design)) return(check_count(design, lower = 0, upper = evaluations))
  # With several workers the bandit begins while the last points of the design are under way.
  size <- max(4, 5 * length(domain$names)) + workers - 1
  min(size, max(ceiling(evaluations / 2), min(workers, evaluations)))
}
