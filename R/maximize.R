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
#' @param objective a function of one point, a named numeric vector, that returns one number: to be maximised.
#' @param domain a [box_domain()], a [finite_domain()], or what stands for one, such as
#'   `list(x = c(1, 3), y = c(-1, 1))`.
#' @param evaluations how often `objective` may be called, the initial design included: a whole number >= 1.
#' @param ... further arguments of [gp_bandit()].
#' @param design number of points of the initial design; `NULL`: `max(4, 5 * inputs)`, and at most half of the evaluations.
#' @param kernel `NULL`: Matern 5/2 with a lengthscale per input, \eqn{0.4\sqrt d}{0.4 sqrt(d)} times its range at first
#'   (\eqn{d} inputs: in more inputs points are further apart), variance 1 (of the scaled rewards).
#' @param noise_var noise variance of the scaled rewards to begin with.
#' @param policy default: GP-UCB two standard deviations wide.
#' @param refit [refit_every()], or `NULL` for a fixed kernel. By default every 5 rounds, with a fitted mean and, where `kernel` is
#'   `NULL`, a log-normal prior on each lengthscale: its first value is the median, `sdlog` 1. Without priors, in many
#'   inputs, a lengthscale for each is fitted to too few points, and the search does worse than random points.
#' @param initial a data.frame of points that are known already: a column per input and a column `reward`.
#' @param progress show a progress bar through package progressr.
#' @return An object of class `bandit_maximum`: a list with `par` (the recommended point: largest posterior mean), `value` (that mean,
#'   in units of the reward), `best_seen` (the row of the history with the largest reward), `history` (a data.frame: inputs,
#'   `reward`, `status`), `bandit` (a `GPBandit` to go on with; its rewards are scaled), `centre` and `scale` (reward =
#'   centre + scale * the bandit's), and `interrupted`.
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
                            refit = default_refit(domain, kernel), initial = NULL, progress = FALSE) {
  check_function(objective)
  domain <- as_domain(domain)
  force(refit)                          # before `kernel` is changed
  evaluations <- check_count(evaluations)
  check_flag(progress)
  inputs <- length(domain$names)
  if (is.null(design)) design <- min(max(4, 5 * inputs), ceiling(evaluations / 2))
  design <- check_count(design, lower = 0, upper = evaluations)
  if (is.null(kernel)) kernel <- default_kernel(domain)
  known <- check_initial(initial, domain)
  bandit <- gp_bandit(domain, kernel, noise_var, policy, refit = refit, ...)
  search <- new.env(parent = emptyenv())
  search$history <- known_history(known, domain)
  search$interrupted <- FALSE
  bar <- if (progress && requireNamespace("progressr", quietly = TRUE)) progressr::progressor(steps = evaluations)
  evaluate <- function(x) {
    record_evaluation(search, objective, x)
    if (!is.null(bar)) bar()
  }
  tryCatch({
    points <- initial_design(domain, design)
    for (i in seq_len(design)) evaluate(points[i, , drop = FALSE])
    tell_design(search, bandit)
    while (nrow(search$history) - nrow(known$x) < evaluations) {
      query <- bandit$suggest()
      search$open <- query$id
      evaluate(as.matrix(query[domain$names]))
      tell_last(search, bandit)
    }
  }, interrupt = function(i) search$interrupted <- TRUE)
  if (is.null(search$scale)) tell_design(search, bandit)
  if (!is.null(search$open)) tell_last(search, bandit)
  new_maximum(search, bandit)
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

# Calls the objective; whatever comes of it is a row of the history.
record_evaluation <- function(search, objective, x) {
  point <- stats::setNames(as.double(x), colnames(x))
  status <- "ok"
  reward <- tryCatch(objective(point), error = function(e) {
    status <<- paste("error:", conditionMessage(e))
    NA_real_
  })
  if (!is.numeric(reward) || length(reward) != 1 || !is.finite(reward)) {
    if (status == "ok") status <- paste("returned", describe(reward))
    reward <- NA_real_
  }
  row <- data.frame(as.list(point), check.names = FALSE)
  row$reward <- as.double(reward)
  row$status <- status
  search$history <- rbind(search$history, row)
}

# What the bandit is told: scaled, and the worst so far for a failure.
scaled_rewards <- function(search) {
  reward <- search$history$reward
  worst <- if (all(is.na(reward))) 0 else min(reward, na.rm = TRUE)
  reward[is.na(reward)] <- worst
  (reward - search$centre) / search$scale
}

# The first rewards set centre and scale, then all of them go to the bandit.
tell_design <- function(search, bandit) {
  seen <- search$history$reward[!is.na(search$history$reward)]
  search$centre <- if (length(seen)) mean(seen) else 0
  spread <- if (length(seen) > 1) stats::sd(seen) else 0
  # One value, or several equal ones: their size is the only unit there is.
  search$scale <- if (spread > 0) spread else if (length(seen) && abs(seen[1]) > 0) abs(seen[1]) else 1
  if (nrow(search$history)) {
    x <- as.matrix(search$history[bandit$config$domain$names])
    bandit$add(x = x, reward = scaled_rewards(search))
  }
}

tell_last <- function(search, bandit) {
  if (nrow(search$history) < table_size(bandit$queries)) {
    # Interrupted before its evaluation came to an end: this query stays pending.
    return(invisible())
  }
  bandit$observe(search$open, utils::tail(scaled_rewards(search), 1))
  search$open <- NULL
}

new_maximum <- function(search, bandit) {
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
