#' Maximise a noisy function in one call
#'
#' For the person who just has a function whose every evaluation is noisy and costly. An initial design (a Latin
#' hypercube; random arms on a finite domain) is followed by a bandit whose hyperparameters are refitted as it goes.
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
#' @param objective a function of one point, a named numeric vector, that returns one number: to be maximised.
#' @param domain a [box_domain()], a [finite_domain()], or what stands for one, such as
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
#' @param progress show a progress bar through package progressr.
#' @return An object of class `bandit_maximum`: a list with `par` (the recommended point: largest posterior mean), `value` (that mean,
#'   in units of the reward), `best_seen` (the row of the history with the largest reward), `history` (a data.frame: inputs,
#'   `reward`, `status`), `bandit` (a `GPBandit` to go on with; its rewards are scaled), `centre` and `scale` (reward =
#'   centre + scale * the bandit's), and `interrupted` (the search ended early).
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
                            progress = FALSE) {
  check_function(objective)
  domain <- as_domain(domain)
  force(refit)                          # before `kernel` is changed
  evaluations <- check_count(evaluations)
  check_flag(progress)
  workers <- check_workers(workers)
  timeout <- check_number(timeout, lower = 0, open_lower = TRUE, infinite = TRUE)
  attempts <- check_count(attempts)
  design <- design_size(design, domain, evaluations, workers)
  if (is.null(kernel)) kernel <- default_kernel(domain)
  known <- check_initial(initial, domain)
  bandit <- gp_bandit(domain, kernel, noise_var, policy, pending = pending, refit = refit, ...)
  search <- open_search(bandit, known, design, journal)
  search$evaluations <- evaluations
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

# ---- a search: what has been evaluated, and what is to be ------------------------
# `history` has a row per evaluation that has ended, in that order (and per known point); `origin`
# tells what each was: 0 known, -k point k of the design, otherwise the bandit's query. What the bandit
# has not been told yet is seen by comparing the two. `todo`: points of the design; `redo`: tasks given back.

open_search <- function(bandit, known, design, journal) {
  found <- list(notes = list())
  if (!is.null(journal)) {
    path <- journal_path(journal)
    if (file.exists(path) && file.size(path) > 0) {
      found <- read_journal(journal, "journal")
      check_same_settings(found$bandit$config, bandit$config, journal, "journal")
      bandit <- found$bandit
    } else {
      start_journal(bandit, journal)
    }
  }
  if (length(found$notes)) {
    restore_rng(found$rng)
    return(resumed_search(bandit, known, found$notes, journal))
  }
  if (table_size(bandit$queries)) {
    stop_argument("journal", sprintf("%s, of a bandit that was not made here", dQuote(journal, FALSE)),
                  "a journal of maximize_bandit()")
  }
  points <- initial_design(bandit$config$domain, design)
  journal_note(bandit, "start", list(design = points, known = known))
  new_search(bandit, known, points)
}

new_search <- function(bandit, known, points) {
  history <- known_history(known, bandit$config$domain)
  list2env(list(bandit = bandit, design = points, todo = seq_len(nrow(points)), redo = list(), history = history,
                origin = integer(nrow(history)), interrupted = FALSE), parent = emptyenv())
}

resumed_search <- function(bandit, known, notes, journal) {
  named <- function(name) lapply(Filter(function(note) note$name == name, notes), `[[`, "value")
  start <- named("start")[[1]]
  if (!identical(start$known, known)) {
    stop_argument("initial", "other points than those in the journal", "as it was when the journal was begun")
  }
  search <- new_search(bandit, known, start$design)
  for (row in named("evaluation")) add_row(search, row)
  scale <- named("scale")
  if (length(scale)) list2env(scale[[1]], search)
  search$todo <- setdiff(search$todo, -search$origin)
  # What was under way when the process ended is evaluated again.
  search$redo <- lapply(setdiff(asked_queries(bandit), search$origin), query_task, bandit = bandit)
  settle(search)
  search
}

asked_queries <- function(bandit) which(table_column(bandit$queries, "action") != match("given", action_names))

evaluated <- function(search) sum(search$origin != 0)

new_task <- function(origin, x) {
  list(origin = origin, attempts = 0, point = stats::setNames(as.double(x), colnames(x)))
}

query_task <- function(id, bandit) new_task(id, as.matrix(query_frame(bandit, id)[bandit$config$domain$names]))

# The next point to evaluate, NULL if there is none (yet).
next_task <- function(search, busy) {
  if (length(search$redo)) {
    task <- search$redo[[1]]
    search$redo <- search$redo[-1]
    return(task)
  }
  begun <- nrow(search$design) - length(search$todo) + length(asked_queries(search$bandit))
  if (begun >= search$evaluations) return(NULL)
  if (length(search$todo)) {
    k <- search$todo[1]
    search$todo <- search$todo[-1]
    return(new_task(-k, search$design[k, , drop = FALSE]))
  }
  # The first rewards give the scale; with none of them known, wait for those under way.
  if (is.null(search$scale) && busy > 0 && nrow(search$history) == 0) return(NULL)
  set_scale(search)
  settle(search)
  query_task(search$bandit$suggest()$id, search$bandit)
}

work_through <- function(search, pool, bar) {
  repeat {
    while (pool$free() && !is.null(task <- next_task(search, pool$busy()))) pool$submit(task)
    if (pool$busy() == 0) break
    pool$wait()
    take_outcomes(search, pool, bar)
  }
}

take_outcomes <- function(search, pool, bar) {
  suspendInterrupts(for (one in pool$take()) take_outcome(search, one$task, one$outcome, bar))
  settle(search)
}

take_outcome <- function(search, task, outcome, bar) {
  if (!is.null(outcome$unsent)) {
    search$redo <- c(list(task), search$redo)
    return(invisible())
  }
  if (!is.null(outcome$lost)) {
    # Ctrl-C reaches the workers of the same terminal too: what it ended there stays pending.
    if (search$interrupted) return(invisible())
    task$attempts <- task$attempts + 1
    if (task$attempts < search$attempts) {
      search$redo <- c(search$redo, list(task))
      return(invisible())
    }
  }
  row <- c(list(origin = task$origin, point = task$point), read_outcome(outcome, task$attempts))
  journal_note(search$bandit, "evaluation", row)
  add_row(search, row)
  if (!is.null(bar)) bar()
}

# Whatever came of an evaluation: its reward, or NA and why.
read_outcome <- function(outcome, attempts) {
  status <- if (!is.null(outcome$lost)) sprintf("%s (%d attempts)", outcome$lost, as.integer(attempts))
            else if (!is.null(outcome$error)) paste("error:", outcome$error)
  value <- outcome$value
  if (is.null(status) && is.numeric(value) && length(value) == 1 && is.finite(value)) {
    return(list(reward = as.double(value), status = "ok"))
  }
  list(reward = NA_real_, status = if (is.null(status)) paste("returned", describe(value)) else status)
}

add_row <- function(search, row) {
  frame <- data.frame(as.list(row$point), check.names = FALSE)
  frame$reward <- row$reward
  frame$status <- row$status
  search$history <- rbind(search$history, frame)
  search$origin <- c(search$origin, as.integer(row$origin))
}

# Tells the bandit what it does not know yet: points that it did not ask for, in their order, and
# rewards of its queries.
settle <- function(search) {
  if (is.null(search$scale)) return(invisible())
  bandit <- search$bandit
  reward <- scaled_rewards(search)
  told <- table_size(bandit$queries) - length(asked_queries(bandit))
  given <- which(search$origin <= 0)
  given <- given[seq_along(given) > told]
  if (length(given)) {
    bandit$add(x = as.matrix(search$history[given, bandit$config$domain$names, drop = FALSE]), reward = reward[given])
  }
  asked <- which(search$origin > 0)
  asked <- asked[is.na(bandit$queries$reward[search$origin[asked]])]
  if (length(asked)) bandit$observe(search$origin[asked], reward[asked])
}

# What has ended by now is kept, whatever ended the search.
close_search <- function(search, pool, bar) {
  if (search$interrupted) {
    pool$look()
    take_outcomes(search, pool, bar)
  }
  set_scale(search)
  settle(search)
  if (!search$interrupted && evaluated(search) < search$evaluations) {
    warning("no worker of the future plan is left: the search has ended early", call. = FALSE)
    search$interrupted <- TRUE
  }
}

default_kernel <- function(domain) kernel_matern(2.5, lengthscale = default_lengthscales(domain))

default_lengthscales <- function(domain) {
  bounds <- if (is_finite_domain(domain)) apply(domain$x, 2, range)
            else to_model_inputs(domain, rbind(domain$lower, domain$upper))
  range <- bounds[2, ] - bounds[1, ]
  unname(0.4 * sqrt(length(range)) * ifelse(range > 0, range, 1))
}

# With a kernel of the user's the likelihood alone decides.
default_refit <- function(domain, kernel) {
  if (!is.null(kernel)) return(refit_every(5, mean = "fit"))
  at <- kernel_parameters(default_kernel(domain))
  at <- at[grep("lengthscale", names(at))]
  refit_every(5, mean = "fit", priors = lapply(log(at), function(meanlog) c(meanlog = meanlog, sdlog = 1)))
}

check_initial <- function(initial, domain) {
  if (is.null(initial)) return(list(x = matrix(0, 0, length(domain$names)), reward = numeric()))
  wanted <- c(domain$names, "reward")
  if (!is.data.frame(initial) || !all(wanted %in% names(initial))) {
    stop_argument("initial", describe(initial), paste("a data.frame with columns", paste(wanted, collapse = ", ")))
  }
  x <- check_matrix(initial[domain$names], "initial", columns = length(domain$names))
  if (is_finite_domain(domain)) {
    if (anyNA(match_rows(x, domain$x))) stop_argument("initial", "a point that is no arm", "points among the arms")
  } else {
    points_in_box(domain, x)
  }
  list(x = x, reward = as.double(check_numbers(initial$reward, "initial")))
}

known_history <- function(known, domain) {
  frame <- as.data.frame(known$x)
  names(frame) <- domain$names
  cbind(frame, reward = known$reward, status = rep("given", length(known$reward)))
}

# A Latin hypercube in the model's inputs (one point in each of `count` slices of every
# input), or arms without replacement.
initial_design <- function(domain, count) {
  if (is_finite_domain(domain)) {
    rows <- sample.int(nrow(domain$x), count, replace = count > nrow(domain$x))
    return(domain$x[rows, , drop = FALSE])
  }
  bounds <- to_model_inputs(domain, rbind(domain$lower, domain$upper))
  u <- vapply(domain$names, function(name) (sample.int(count) - stats::runif(count)) / count, numeric(count))
  u <- matrix(u, count, length(domain$names))
  x <- rep(bounds[1, ], each = count) + u * rep(bounds[2, ] - bounds[1, ], each = count)
  x <- from_model_inputs(domain, x)
  x <- pmin(pmax(x, rep(domain$lower, each = count)), rep(domain$upper, each = count))
  matrix(x, count, length(domain$names), dimnames = list(NULL, domain$names))
}

# What the bandit is told: scaled, and the worst so far for a failure.
scaled_rewards <- function(search) {
  reward <- search$history$reward
  worst <- if (all(is.na(reward))) 0 else min(reward, na.rm = TRUE)
  reward[is.na(reward)] <- worst
  (reward - search$centre) / search$scale
}

# The first rewards set centre and scale, once.
set_scale <- function(search) {
  if (!is.null(search$scale)) return(invisible())
  seen <- search$history$reward[!is.na(search$history$reward)]
  spread <- if (length(seen) > 1) stats::sd(seen) else 0
  # One value, or several equal ones: their size is the only unit there is.
  chosen <- list(centre = if (length(seen)) mean(seen) else 0,
                 scale = if (spread > 0) spread else if (length(seen) && abs(seen[1]) > 0) abs(seen[1]) else 1)
  journal_note(search$bandit, "scale", chosen)
  list2env(chosen, search)
}

new_maximum <- function(search) {
  bandit <- search$bandit
  history <- search$history
  names <- bandit$config$domain$names
  seen <- which.max(history$reward)
  best <- if (length(seen)) bandit$best()
  structure(list(par = if (!is.null(best)) unlist(best[names]),
                 value = if (!is.null(best)) search$centre + search$scale * best$mean,
                 best_seen = if (length(seen)) history[seen, ], history = history, bandit = bandit,
                 centre = search$centre, scale = search$scale, interrupted = search$interrupted),
            class = "bandit_maximum")
}

#' @export
print.bandit_maximum <- function(x, ...) {
  failed <- sum(is.na(x$history$reward))
  cat(sprintf("Maximum found with %d evaluations%s%s\n", sum(x$history$status != "given"),
              if (failed) sprintf(" (%d failed)", failed) else "",
              if (x$interrupted) ", interrupted" else ""))
  if (is.null(x$par)) {
    cat("  no evaluation has succeeded\n")
    return(invisible(x))
  }
  show <- function(point) paste(names(point), "=", format(point, digits = 5, trim = TRUE), collapse = ", ")
  cat(sprintf("  recommended  %s: %.5g expected\n", show(x$par), x$value))
  cat(sprintf("  best seen    %s: %.5g\n", show(unlist(x$best_seen[names(x$par)])), x$best_seen$reward))
  invisible(x)
}
