# Parameters, fitted values, likelihood, draws and changed settings of a bandit's model. Layer: bandit.

#' Parameters, fitted values and likelihood of a bandit's model
#'
#' These methods give access to the Gaussian-process model of a [GPBandit], as for other models in R.
#' `tidy()`, `glance()` and `augment()` (broom, tidymodels) need package generics. No method changes the bandit.
#'
#' * `coef()`: the current kernel parameters, `noise_var` and, if it is one constant, the prior `mean`. They are in the
#'   model's units: those of the scaled reward if `outputs` scale it. Several outcomes: names begin with the outcome's.
#' * `fitted()`, `residuals()`: the posterior mean at each observed query, and its reward minus that, in the order of
#'   their ids, which are the names. Several outcomes: a matrix with a column each, `NA` where one is not observed.
#' * `nobs()`: the number of observed queries. `logLik()`: the log marginal likelihood of their rewards since the last
#'   restart, in the rewards' units. `df` is the number of parameters that refits estimate.
#' * `simulate()`: joint draws of the expected reward from the posterior, at `newdata` or over all arms.
#' * `update()`: a bandit with changed settings and the same log, without the old one's store or journal. Refits are
#'   kept if only `policy`, `pending`, `engine` or `accuracy` change, and dropped otherwise. The history's columns
#'   `mean`, `sd` and `width` still are those of each choice.
#' * `tidy()`: a data.frame `term`, `estimate` of `coef()`. `glance()`: one row with `nobs`, `pending`, `logLik`,
#'   `noise_var` and the recommended point's `mean` and `sd`. `augment()`: `newdata`, or the history, with `.fitted`,
#'   `.se.fit` and, for the history, `.resid`.
#'
#' @param object,x a [GPBandit].
#' @param nsim number of draws, an integer >= 1; 1 by default.
#' @param seed the argument of [set.seed()] before drawing; the generator's state is restored afterwards. `NULL`
#'   (default): draws from the current state.
#' @param newdata points as in `$posterior(x = )`. `NULL` (default): all arms, or for `augment()` the history.
#' @param context the context, as in `$posterior()`. `NULL` (default): no contexts.
#' @param ... for `update()` new values of `kernel`, `noise_var`, `policy`, `mean`, `pending`, `changes`, `refit`,
#'   `engine`, `accuracy` or `failures`, by name; otherwise empty.
#' @return See the list above. `simulate()`: a data.frame with a column `sim_1`, `sim_2`, ... for each draw, and the
#'   attribute `seed` as [stats::simulate()] describes it.
#' @section Errors: `logLik()` and `simulate(newdata = )` need one Gaussian
#'   reward. They are errors with response types ([rewards]), several outcomes, earlier campaigns, varying noise,
#'   gradual forgetting, and for algorithms that are rules over several posteriors. `update()` is an error for the
#'   latter; with several outcomes it changes neither kernel, noise, mean nor refits.
#' @seealso [GPBandit]; [bandit-methods] for `print()`, `summary()`, `predict()`; [gp_regression()], whose methods these
#'   resemble.
#' @concept log marginal likelihood
#' @concept hyperparameters
#' @concept broom
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' b <- gp_ucb(x, kernel_se(0.2), noise_var = 0.01)
#' b$add(arm = c(10, 25, 40), reward = c(1, 0.4, 0.2))
#' coef(b)
#' residuals(b)
#' logLik(b)
#' # Is a shorter lengthscale likelier? The same rewards under another kernel:
#' logLik(update(b, kernel = kernel_se(0.1)))
#' head(simulate(b, nsim = 2, seed = 1))
#' @name bandit-model
NULL

# The environment of a bandit that has a model, or of its copy after the refit that is due (see looked_at()).
model_frame <- function(object, what) {
  frame <- frame_of(check_bandit(object))
  if (!has_posterior(frame)) {
    stop_state("`", what, "` needs a bandit with a model; this one has none.", argument = "object")
  }
  looked_at(frame)
}

#' @rdname bandit-model
#' @export
coef.GPBandit <- function(object, ...) {
  check_dots_empty(...)
  frame <- model_frame(object, "coef()")
  config <- current_config(frame)
  kind_of(frame)$coef(config)
}

coef_of_outcomes <- function(config) {
  each <- lapply(seq_along(config$outcomes), function(k) coef_of(outcome_config(config, k)))
  unlist(stats::setNames(each, names(config$outcomes)))
}

coef_of <- function(config) {
  c(kernel_parameters(config$kernel), if (uses_noise_var(config)) c(noise_var = config$noise_var),
    if (length(unique(config$mean)) == 1) c(mean = config$mean[[1]]))
}

# For a rule with several posteriors: the parameters of f, then those of each constraint.
coef_of_models <- function(config) {
  each <- lapply(config$model_settings, function(one) {
    c(kernel_parameters(one$kernel), noise_var = one$noise_var,
      if (length(unique(one$mean)) == 1) c(mean = one$mean[[1]]))
  })
  names(each) <- c("reward", constraint_names(config, "g"))[seq_along(each)]
  if (length(each) == 1) each[[1]] else unlist(each)
}

observed_history <- function(frame) {
  history <- bandit_history(frame)
  history[own_columns(history, given_names(frame$config))$status %in% c("observed", "partial"), , drop = FALSE]
}

#' @rdname bandit-model
#' @export
fitted.GPBandit <- function(object, ...) {
  check_dots_empty(...)
  frame <- model_frame(object, "fitted()")
  fitted_rows(frame, observed_history(frame))
}

# Posterior means at rows of a history, by their ids: a vector, or a matrix with a column for each outcome.
fitted_rows <- function(frame, rows) {
  names <- given_names(frame$config)
  ids <- as.character(own_columns(rows, names)$id)
  found <- own_columns(bandit_posterior(frame, rows, NULL), names)
  if (!of_form(frame$config, "several")) return(stats::setNames(found$mean, ids))
  outcomes <- outcome_names(frame$config)
  out <- as.matrix(found[intersect(c(paste0(outcomes, "_mean"), "mean"), base::names(found))])
  dimnames(out) <- list(ids, outcomes)
  out
}

#' @rdname bandit-model
#' @export
residuals.GPBandit <- function(object, ...) {
  check_dots_empty(...)
  frame <- model_frame(object, "residuals()")
  check_rewards_are_numbers(frame, "residuals()")
  rows <- observed_history(frame)
  observed <- observed_values(frame, rows)
  observed - fitted_rows(frame, rows)
}

check_rewards_are_numbers <- function(frame, what) {
  if (of_form(frame$config, "compares")) {
    stop_state("`", what, "` needs rewards that are numbers; this bandit observes comparisons.", argument = "object")
  }
}

observed_values <- function(frame, rows) {
  names <- outcome_names(frame$config)
  own <- own_columns(rows, given_names(frame$config))
  if (of_form(frame$config, "several")) as.matrix(own[names]) else own$reward
}

#' @rdname bandit-model
#' @export
nobs.GPBandit <- function(object, ...) {
  check_dots_empty(...)
  frame <- frame_of(check_bandit(object))
  sum(status_of(frame, seq_len(table_size(frame$queries))) %in% c("observed", "partial"))
}

#' @rdname bandit-model
#' @export
logLik.GPBandit <- function(object, ...) {
  check_dots_empty(...)
  frame <- model_frame(object, "logLik()")
  data <- regression_of(frame, "logLik()")
  found <- logLik.gp_regression(data$regression)
  structure(as.numeric(found) + data$log_slope, df = estimated_count(frame), nobs = attr(found, "nobs"),
            class = "logLik")
}

# The number of parameters that refits have estimated.
estimated_count <- function(frame) {
  rule <- frame$config$refit
  if (is.null(rule) || is.na(last_refit(frame))) return(0L)
  length(kernel_parameters(frame$config$kernel)) + !isTRUE(rule$settings$fix_noise) + (rule$mean == "fit")
}

most_expanded <- 1e6

# The bandit's model as a regression on the rewards since the last restart, in the model's units, and the log Jacobian
# of the outcome transform.
regression_of <- function(frame, what) {
  config <- current_config(frame)
  check_plain_model(frame, what)
  rebuild(frame)
  known <- cpp_bandit_measurements(frame$handle, 1L, output_map(config), config$noise_var)
  if (sum(known$count) > most_expanded) {
    stop_state(sprintf("%s is for at most %g readings; those of this bandit are the means of %g.", what, most_expanded,
                       sum(known$count)))
  }
  row <- rep(seq_along(known$id), known$count)
  known[c("id", "value", "noise_var")] <- lapply(known[c("id", "value", "noise_var")], `[`, row)
  own <- if (!all(is.na(known$noise_var))) known$noise_var
  y <- known$value - known_prior_mean(frame, known$id, config$mean)
  list(regression = gp_regression(known_inputs(frame, known$id), y, config$kernel, config$noise_var, 0, own),
       log_slope = known$log_slope)
}

check_plain_model <- function(frame, what) {
  config <- current_config(frame)
  changes <- rule_in_force(config)
  gradual <- trait(changes, "reweighs") || !is.null(trait(changes, "decay")) || is.finite(trait(changes, "lasting"))
  fault <- if (trait(config$policy, "scripted")) "its algorithm is a rule over several posteriors"
           else if (!is.null(config$rewards)) paste("its rewards are", trait(config$rewards, "title"))
           else if (of_form(config, "several")) "it has several outcomes"
           else if (has_transfer(config)) "it uses earlier campaigns"
           else if (!is.null(config$noise_field)) "its noise varies"
           else if (gradual) "it forgets gradually"
           else if (forgotten_of(frame)$sums > 0) "its log is compacted"
  if (!is.null(fault)) {
    stop_state("`", what, "` needs a bandit with one Gaussian reward; of this one, ", fault, ".", argument = "object")
  }
}

#' @rdname bandit-model
#' @export
simulate.GPBandit <- function(object, nsim = 1, seed = NULL, newdata = NULL, context = NULL, ...) {
  check_dots_empty(..., allowed = c("nsim", "seed", "newdata", "context"))
  frame <- model_frame(object, "simulate()")
  nsim <- check_count(nsim)
  if (!is.null(seed)) seed <- check_count(seed, lower = -.Machine$integer.max)
  drawn <- if (is.null(newdata)) with_seed(seed, bandit_draw(frame, nsim, context))
           else simulated_at(frame, nsim, seed, newdata, context)
  out <- as.data.frame(drawn$value)
  names(out) <- paste0("sim_", seq_len(nsim))
  structure(out, seed = drawn$seed)
}

simulated_at <- function(frame, nsim, seed, newdata, context) {
  config <- current_config(frame)
  regression <- regression_of(frame, "simulate(newdata = )")$regression
  if (is.null(context) && is.data.frame(newdata)) context <- contexts_in_frame(config, newdata)
  points <- if (is_own_frame(config, newdata)) points_in_frame(config, newdata, "newdata")
            else asked_points(config$domain, newdata, NULL, "newdata")
  seen <- contexts_of_points(frame, context, point_total(points))
  at <- inputs_of_kernel(config, cbind(points$inputs, seen$values), points$arm)
  drawn <- simulate.gp_regression(regression, nsim, seed, at)
  prior <- if (length(unique(config$mean)) == 1) config$mean[[1]] else config$mean[points$arm + 1L]
  prior <- prior + shape_at(config, points$inputs)
  list(value = as_rewards(as.matrix(drawn) + prior, config), seed = attr(drawn, "seed"))
}

# ---- changed settings -----------------------------------------------------------------

plain_settings <- c("domain", "kernel", "noise_var", "policy", "mean", "pending", "engine", "accuracy", "constraints",
                    "changes", "refit", "outputs", "rewards", "failures", "outcomes")

# The settings of a bandit as arguments of gp_bandit().
settings_as_arguments <- function(config) {
  arguments <- config[intersect(plain_settings, names(config))]
  if (inherits(config$rewards, "bandit_rewards") && !trait(config$rewards, "noise")) arguments$noise_var <- NULL
  if (!is.null(config$mean_function)) arguments$mean <- config$mean_function
  arguments["contexts"] <- list(contexts_argument(config))
  if (!is.null(config$outcomes)) {
    arguments$outcomes <- lapply(config$outcomes, `[[`, "role")
    arguments["outputs"] <- list(NULL)
    arguments$goal <- config$goal
  }
  arguments
}

updatable <- c("kernel", "noise_var", "policy", "mean", "pending", "changes", "refit", "engine", "accuracy", "failures")

# A change of these settings keeps the refits.
keeps_refits <- c("policy", "pending", "engine", "accuracy")

#' @rdname bandit-model
#' @export
update.GPBandit <- function(object, ...) {
  frame <- frame_of(check_bandit(object))
  changes <- list(...)
  if (length(changes) == 0) return(bandit_copy(frame))
  if (is.null(names(changes)) || !all(names(changes) %in% updatable)) check_dots_empty(..., allowed = updatable)
  check_not_scripted(frame, function(title) {
    stop_state("`update()` needs a bandit of gp_bandit(); the choices of this one are made by a separate rule.",
               argument = "object")
  })
  config <- updated_config(frame$config, changes)
  events <- table_columns(frame$events)
  refits <- frame$refits
  if (!all(names(changes) %in% keeps_refits)) {
    dropped <- events$kind == event_kind[["refit"]]
    refits <- refits[!dropped[events$kind %in% believing]]
    events <- lapply(events, function(column) column[!dropped])
  }
  out <- new_bandit(config, table_copy(frame$queries), table_of(events), refits, reasons = frame$reasons,
                    notes = frame$notes)
  rebuild(as.environment(out))
  # (Refits include outcome transforms; without refits the transform must be fitted here.)
  rescale_if_due(as.environment(out))
  out
}

updated_config <- function(config, changes) {
  of_outcomes <- intersect(names(changes), c("kernel", "noise_var", "mean", "refit"))
  if (of_form(config, "several") && length(of_outcomes)) {
    stop_unused(of_outcomes[1], "each of the bandit's outcomes has its own")
  }
  arguments <- settings_as_arguments(config)
  arguments[names(changes)] <- changes
  fresh <- do.call(gp_bandit, arguments, quote = TRUE)$config
  for (name in names(changes)) config[[name]] <- fresh[[name]]
  if ("mean" %in% names(changes)) config["mean_function"] <- list(fresh$mean_function)
  config
}

# ---- generics of package generics (broom) -----------------------------------------------

#' @rdname bandit-model
#' @method tidy GPBandit
#' @exportS3Method generics::tidy GPBandit
tidy.GPBandit <- function(x, ...) {
  check_dots_empty(...)
  found <- coef.GPBandit(x)
  data.frame(term = names(found), estimate = unname(found))
}

#' @rdname bandit-model
#' @method glance GPBandit
#' @exportS3Method generics::glance GPBandit
glance.GPBandit <- function(x, ...) {
  check_dots_empty(...)
  frame <- model_frame(x, "glance()")
  config <- current_config(frame)
  best <- if (length(config$context_names) == 0 && !of_form(config, "several")) {
    own_columns(bandit_best(frame, NULL), given_names(config))
  }
  status <- status_of(frame, seq_len(table_size(frame$queries)))
  # (Some bandits have no likelihood, or no single recommended point.)
  likelihood <- or_else(attempt(as.numeric(logLik.GPBandit(x))), NA_real_)
  data.frame(nobs = nobs.GPBandit(x), pending = sum(status == "pending"), logLik = likelihood,
             noise_var = if (uses_noise_var(config)) or_else(config$noise_var, NA_real_) else NA_real_,
             mean = number_or_na(best$mean), sd = number_or_na(best$sd))
}

number_or_na <- function(x) if (length(x) == 1) as.double(x) else NA_real_

#' @rdname bandit-model
#' @method augment GPBandit
#' @exportS3Method generics::augment GPBandit
augment.GPBandit <- function(x, newdata = NULL, context = NULL, ...) {
  check_dots_empty(..., allowed = c("newdata", "context"))
  frame <- model_frame(x, "augment()")
  config <- frame$config
  rows <- if (is.null(newdata)) bandit_history(frame) else as.data.frame(newdata)
  if (nrow(rows) == 0) return(rows)
  found <- if (is.null(newdata)) bandit_posterior(frame, rows, NULL) else bandit_posterior(frame, newdata, context)
  found <- own_columns(found, given_names(config))
  of <- function(what) {
    columns <- columns_for_outcomes(config, what)
    as.matrix(found[if (all(columns %in% names(found))) columns else what])
  }
  added <- list(.fitted = of("mean"), .se.fit = of("sd"))
  if (is.null(newdata) && !of_form(config, "compares")) added$.resid <- observed_values(frame, rows) - added$.fitted
  ends <- if (of_form(config, "several")) paste0("_", outcome_names(config)) else ""
  for (name in names(added)) for (k in seq_along(ends)) rows[[paste0(name, ends[k])]] <- added[[name]][, k]
  rows
}

register_bandit_kind("core", coef = function(config) of_form(config, "coef")(config))
register_bandit_kind("script", coef = coef_of_models)
register_form("reward", coef = coef_of)
register_form("outcomes", coef = coef_of_outcomes)
