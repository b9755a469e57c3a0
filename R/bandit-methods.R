# Print, summary and conversion of bandits. Layer: bandit.

# Methods for bandits, runs and comparisons.

bandit_story <- function(bandit) {
  facts <- bandit_facts(bandit)
  config <- current_config(bandit)
  size <- table_size(bandit$queries)
  status <- status_of(bandit, seq_len(size))
  pending <- sum(status == "pending")
  forgotten <- forgotten_of(bandit)$rounds
  lines <- c(
    sprintf("%s over %s", if (has_posterior(bandit)) "Gaussian-process bandit" else "Bandit",
            describe_domain(config$domain)),
    sprintf("  policy     %s", describe_policy(config$policy)),
    if (!is.null(config$outputs) && is.null(config$goal)) sprintf("  outputs    %s", describe_outputs(config)),
    if (has_posterior(bandit)) {
      describe_prior(config)
    },
    if (!is.null(config$context_space)) sprintf("  contexts   %s", context_text(config)),
    if (!is.null(config$outcomes)) sprintf("  outcomes   %s", describe_outcomes(config)),
    sprintf("  rounds     %d (%d pending%s%s)%s", facts$rounds, pending,
            if (any(status == "partial")) sprintf(", %d partly known", sum(status == "partial")) else "",
            if (forgotten > 0) sprintf(", the first %d forgotten", forgotten) else "",
            if (facts$segment > 1) sprintf(", segment %d", facts$segment) else "")
  )
  if (trait(config$pending, "noticed")) {
    lines <- c(lines, sprintf("  pending    %s", describe_pending(config$pending)))
  }
  if (chooses_forgetting(config)) lines <- c(lines, sprintf("  changes    %s", describe_forgetting(config)))
  if (isTRUE(facts$refutations > 0)) {
    lines <- c(lines, sprintf("  refuted    %s: no function is within all intervals",
                              amount_of(facts$refutations, "time")))
  }
  if (!is.null(config$rewards) && !of_form(config, "several")) {
    lines <- c(lines, sprintf("  results    %s", trait(config$rewards, "title")))
  }
  lines <- c(lines, kind_of(bandit)$story(bandit))
  if (has_transfer(config)) lines <- c(lines, paste0("  ", transfer_text(transfer_table(config))))
  if (!is.null(bandit$journal)) lines <- c(lines, describe_log(bandit$journal))
  lines
}

describe_prior <- function(config) {
  if (!is.null(config$models) && of_form(config, "gaussian")) {
    models <- configs_of_models(config)
    span <- function(values) sprintf("%.3g to %.3g", min(values), max(values))
    return(sprintf("  prior      average over %d models: mean %s%s, noise variance %s", length(models),
                   span(vapply(models, function(one) base::mean(one$mean), 0)), mean_function_text(config),
                   span(vapply(models, function(one) one$noise_var, 0))))
  }
  sprintf("  prior      mean %s%s%s", describe_prior_mean(config$mean), mean_function_text(config),
          if (uses_noise_var(config)) sprintf(", noise variance %g", config$noise_var) else "")
}

print_bandit <- function(bandit) {
  cat(bandit_story(bandit), sep = "\n")
  if (table_size(bandit$queries) && length(bandit$config$context_names) == 0 &&
      length(objectives(bandit$config)) == 1 && !trait(bandit$config$policy, "labels")) {
    best <- likely_best(bandit)
    if (nrow(best) == 0) {
      cat("  best       not known yet\n")
      return(invisible(bandit))
    }
    own <- model_state_of_best(bandit, best)
    model_state <- if (has_posterior(bandit)) of_form(bandit$config, "best_text")(best, bandit$config, own)
    cat("  best       ", point_label(best, bandit), model_state, "\n", sep = "")
    gain <- gain_as_text(bandit)
    if (!is.null(gain)) cat("  gain       ", gain, "\n", sep = "")
  }
  invisible(bandit)
}

point_label <- function(point, bandit) {
  domain <- bandit$config$domain
  text <- point_text(point[c(domain$names, bandit$config$context_names)], 4, units_of(domain))
  if (is.null(point$arm)) return(text)
  label <- arm_labels(bandit$config$domain)[point$arm]
  sprintf("arm %d (%s)", point$arm, paste(c(label, text), collapse = "; "))
}

#' Print, summarise and convert bandits and runs
#'
#' `print()`, `summary()`, `predict()` and `as.data.frame()` show the state and the results of a bandit.
#'
#' * `summary()` of a bandit shows its model, the results so far, and the computation:
#'   * `engine`, the `rank` of its factor and its `error_bound` (0 for exact engines, `NaN` for a sparse basis), see
#'     [bandit-engines];
#'   * `likelihood` of the last refit with more than 300 distinct points, else `NULL`: `method` and `points` as in
#'     [gp_fit()];
#'   * the number of rounds and the best points;
#'   * `information_gain`, how much the results reduce the uncertainty about the function, in nats (1 nat is 1.44 bits),
#'     see [information_gain()];
#'   * `segment`, 1 plus the number of restarts of a bandit with a rule for [changes];
#'   * `transfer`, the estimated correlation with each of the [earlier campaigns][transfer];
#'   * `check`, the result of [check_model()].
#' * `summary()` of a run shows its regret and its course; of a comparison, mean and standard error over replications at
#'   some rounds.
#' * `toLatex()` of a comparison is a table of these, with `digits` digits and the smallest means in bold.
#' * `predict()` returns the posterior mean and sd, as `$posterior()`.
#' * `as.data.frame()` of a bandit is its history.
#' * `format()` and `toString()` of bandits, results and parts are the first line of what `print()` shows.
#'
#' @param object,x a [GPBandit], a `bandit_run` or a `bandit_comparison`.
#' @param newdata points to predict at, as in `$posterior(x = )`. `NULL` (default): all arms.
#' @param arm numbers or names of arms, instead of `newdata`. Over a [product_domain()]: the rows of points whose
#'   `newdata` are the box's inputs. `NULL` (default): none.
#' @param context the context, if the bandit has contexts. `NULL` (default): none.
#' @param rounds for a comparison, the rounds to summarise; by default the last one.
#' @param columns for a comparison, the columns of the regret log to summarise; by default average, cumulative and
#'   simple regret. `toLatex()`: without cumulative regret.
#' @param digits number of significant digits, an integer. Default 3.
#' @param row.names,optional,... not used.
#' @return `summary()`: an object that prints; for a comparison a data.frame with columns `bandit`, `round`, `quantity`,
#'   `mean`, `se`. `predict()`: a data.frame with columns `mean` and `sd`.
#' @seealso [GPBandit], [bandit-model].
#' @concept posterior prediction
#' @concept predictive mean
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' b <- gp_ucb(x, kernel_se(0.2), noise_var = 0.01)
#' b$add(arm = c(10, 40), reward = c(1, 0.2))
#' summary(b)
#' head(predict(b))
#' @name bandit-methods
NULL

#' @rdname bandit-methods
#' @method print GPBandit
#' @export
print.GPBandit <- function(x, ...) {
  check_bandit(x)
  print_bandit(looked_at(x))
  invisible(x)
}

# Bandits are equal if their settings and logs are equal, regardless of cached computations.
#' @method all.equal GPBandit
#' @export
all.equal.GPBandit <- function(target, current, ...) {
  if (!is_bandit(current)) return("current is no bandit")
  log_of <- function(bandit) {
    inside <- frame_of(bandit)
    list(class = class(bandit)[1], config = inside$config, queries = table_columns(inside$queries),
         events = table_columns(inside$events), refits = inside$refits, memory = inside$memory)
  }
  all.equal(log_of(target), log_of(current), ...)
}

#' @rdname bandit-methods
#' @method summary GPBandit
#' @export
summary.GPBandit <- function(object, ...) {
  check_bandit(object)
  check_dots_empty(...)
  object <- looked_at(object)
  facts <- bandit_facts(object)
  history <- own_history(as.environment(object))
  values <- with_reward_column(history, object$config)$reward
  best <- if (length(object$config$context_names) == 0) likely_best(object)
  structure(list(story = bandit_story(object), engine = facts$engine, rank = facts$rank,
                 error_bound = error_bound_of(as.environment(object)),
                 likelihood = likelihood_of_fit(as.environment(object)),
                 rounds = facts$rounds, segment = facts$segment,
                 information_gain = facts$log_det / 2, pending = sum(history$status == "pending"),
                 reward = if (any(!is.na(values))) summary(values),
                 best = best, headers = shown_names(names(best), object$config),
                 check = of_form(object$config, "check_line")(as.environment(object)),
                 limits = limits_as_text(object), transfer = transfer_table(current_config(as.environment(object)))),
            class = "summary_gp_bandit")
}

#' @export
print.summary_gp_bandit <- function(x, ...) {
  cat(x$story, sep = "\n")
  engine <- c(weights = "weight space (pivoted Cholesky factor over all arms)",
              played = "played points (factor over the distinct arms played)",
              lowrank = sprintf("low rank, within %.1g posterior sd of the exact posterior", x$error_bound),
              sparse = "sparse basis (FITC)",
              dense = "exact Cholesky over the points played", none = "none, there is no posterior")[[x$engine]]
  cat(sprintf("  engine     %s, rank %d\n", engine, x$rank))
  if (!is.null(x$likelihood)) {
    cat(sprintf("  fitted     by the %s likelihood of %d points\n",
                if (x$likelihood$method == "exact") "exact" else "nearest-neighbour (Vecchia)", x$likelihood$points))
  }
  if (!is.na(x$information_gain)) {
    cat(sprintf("  gained     %.3g nats of information%s (?\"bandit-methods\")\n", x$information_gain,
                if (x$segment > 1) " since the last restart" else ""))
  }
  if (!is.null(x$reward)) {
    cat(sprintf("  results    %.4g to %.4g, mean %.4g\n", x$reward[["Min."]], x$reward[["Max."]], x$reward[["Mean"]]))
  }
  if (!is.null(x$best) && nrow(x$best) == 0) cat("  best point by posterior mean: not known yet\n")
  else if (!is.null(x$best)) {
    cat(if (nrow(x$best) > 1) "  best points by posterior means:\n" else "  best point by posterior mean:\n")
    print(stats::setNames(x$best, x$headers), row.names = FALSE, digits = 4)
  }
  for (line in x$limits) cat("  limit      ", line, "\n", sep = "")
  if (!is.null(x$check)) cat(strwrap(describe_check(x$check), indent = 2, exdent = 4), sep = "\n")
  invisible(x)
}

#' @rdname bandit-methods
#' @method predict GPBandit
#' @export
predict.GPBandit <- function(object, newdata = NULL, context = NULL, arm = NULL, ...) {
  check_bandit(object)
  check_dots_empty(..., allowed = c("newdata", "context", "arm"))
  bandit_posterior(looked_at(frame_of(object)), newdata, context, arm, arg = "newdata")
}

#' @rdname bandit-methods
#' @method as.data.frame GPBandit
#' @export
as.data.frame.GPBandit <- function(x, row.names = NULL, optional = FALSE, ...) check_bandit(x)$history()

register_bandit_kind("core", story = function(bandit) NULL)
register_form("reward", check_line = check_line)
register_form("outcomes", check_line = function(bandit) NULL)
register_form("reward", best_text = function(best, config, at) sprintf(": mean %.4g, sd %.2g", at$mean, at$sd))
register_form("outcomes", best_text = function(best, config, at) outcomes_as_text(best, config))
