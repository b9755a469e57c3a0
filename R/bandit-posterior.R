# `$posterior()`, `$draw()` and `$best()`. Layer: bandit.

# `x`: points by their inputs (of a product: of the box alone, if `arm` gives the rows); `arm`: points by their numbers.
bandit_posterior <- function(bandit, x, context, arm = NULL, scale = NULL, level = 0.95, ..., arg = "x") {
  check_dots_empty(..., allowed = c("x", "context", "arm", "scale", "level"))
  rebuild(bandit)
  kept_answer(bandit, list("posterior", x, context, arm, scale, level),
              posterior_now(bandit, x, context, arm, scale, level, arg))
}

posterior_now <- function(bandit, x, context, arm, scale, level, arg) {
  config <- bandit$config
  scale <- check_choice(or_else(scale, c("reward", "latent")), c("reward", "latent"), "scale")
  level <- check_number(level, lower = 0, upper = 1, open_lower = TRUE, open_upper = TRUE)
  if (is.null(arm) && is_own_frame(config, x)) {
    check_data_frame(x, arg)
    if (is.null(context)) context <- contexts_in_frame(config, x)
    points <- points_in_frame(config, x, arg)
  } else points <- asked_points(config$domain, x, arm, arg)
  of_form(config, "posterior")(bandit, points, context, scale, level)
}

posterior_of_response <- function(bandit, points, context, scale, level) {
  in_scale_of_rewards(scaled_posterior_at(bandit, points, context), current_config(bandit), scale, level)
}

posterior_of_comparisons <- function(bandit, points, context, scale, level) {
  if (scale == "reward") chances_against_best(bandit, points, context, level)
  else posterior_of_response(bandit, points, context, scale, level)
}

# Is this a data.frame returned by `$suggest()`, `$best()` or `$history()`? (It has more columns than the inputs.)
is_own_frame <- function(config, x) {
  is.data.frame(x) && any(c("id", "arm", "mean", "sd", "feasible") %in% setdiff(names(x), given_names(config)))
}

# Points at which a posterior is requested: unlike points that are played, these may lie outside the domain.
asked_points <- function(domain, x, arm, arg = "x") {
  if (!is.null(arm)) return(find_points(domain, x, arm, arg))
  # Arms may share their inputs, so all arms are requested by number, not by their inputs.
  if (is.null(x)) {
    if (!can_count(domain)) {
      stop_missing(arg, paste("points to predict at, because the domain is", describe_domain(domain)))
    }
    return(all_points(domain))
  }
  x <- read_inputs(domain, x, arg)
  list(arm = arms_at(domain, x), inputs = to_model_inputs(domain, x))
}

# The points of a data.frame, which may have columns in addition to the inputs, as those of `$suggest()`, `$best()` and
# `$history()` do. Their column `arm` distinguishes arms with equal inputs.
points_in_frame <- function(config, x, arg) {
  domain <- config$domain
  arm <- own_columns(x, given_names(config))$arm
  if (all(domain$names %in% names(x))) x <- x[domain$names]
  points <- asked_points(domain, x, NULL, arg)
  if (!can_count(domain) || !is_number(arm) || !all(arm %in% seq_len(point_count(domain)))) return(points)
  named <- arm_points(domain, as.integer(arm) - 1L)
  if (identical(unname(named$inputs), unname(points$inputs))) named else points
}

contexts_in_frame <- function(config, x) {
  names <- config$context_names
  if (length(names) && all(names %in% names(x))) x[names]
}

# The posterior in the model's units.
scaled_posterior_at <- function(bandit, points, context) {
  config <- bandit$config
  count <- point_total(points)
  seen <- contexts_of_points(bandit, context, count)
  if (count == 0) return(data.frame(mean = double(), sd = double()))
  if (is_tabulated_space(config) && !anyNA(points$arm)) {
    return(cpp_frame(cpp_bandit_arm_posterior(bandit$handle, points$arm, seen$row)))
  }
  predicted_posterior(bandit, points, seen$values)
}

# The posterior at points that are not tabulated. If they are not arms, the kernel must be a function of the
# inputs and the prior mean a constant.
predicted_posterior <- function(bandit, points, contexts) {
  config <- current_config(bandit)
  no_arm <- has_numbers(config$domain) && anyNA(points$arm)
  if (no_arm && (has_matrix(config$kernel) || length(unique(config$mean)) > 1 || !is.null(config$mean_function))) {
    stop_argument("x", "a point that is not an arm",
                  "arms only, if the kernel is given as a matrix or the prior mean differs by arm")
  }
  cpp_frame(cpp_bandit_predict(bandit$handle, kernel_points(config$domain, points, contexts)))
}

bandit_draw <- function(bandit, n, context, ...) {
  check_dots_empty(..., allowed = c("n", "context"))
  n <- check_count(n)
  domain <- bandit$config$domain
  scripted <- !is.null(rule_of(bandit))
  if (scripted || !can_count(domain)) {
    stop_state("Joint draws over all arms need a finite domain and a posterior; this bandit is over ",
               describe_domain(domain), if (scripted) ", and a separate rule chooses", ".",
               argument = "domain")
  }
  contexts <- contexts_for(bandit, context, 1L)
  drawn <- cpp_bandit_draw(drawing_twin(bandit)$handle, n, 1, contexts)
  as_rewards(drawn, current_config(bandit))
}

# Over many arms, only the weight-space engine can draw samples. For other engines the log is replayed with it.
drawing_twin <- function(bandit) {
  rebuild(bandit)
  if (!is_tabulated_space(bandit$config) || cpp_bandit_facts(bandit$handle)$engine == "weights") return(bandit)
  twin <- as.environment(bandit_copy(bandit))
  twin$config$policy <- policy_pims()
  twin$config$engine <- "weights"
  rebuild(twin)
}

bandit_best <- function(bandit, context, feasible = 0.95, weights = NULL, fixed = NULL, ...) {
  check_dots_empty(..., allowed = c("context", "feasible", "weights", "fixed"))
  rebuild(bandit)
  kept_answer(bandit, list("best", context, feasible, weights, fixed),
              best_now(bandit, context, feasible, weights, fixed))
}

best_now <- function(bandit, context, feasible, weights, fixed) {
  config <- bandit$config
  feasible <- check_probability(feasible)
  contexts <- with_fixed(contexts_for(bandit, context, 1L), bandit, fixed)
  of_form(config, "best")(bandit, contexts, context, feasible, weights, fixed)
}

best_of_rewards <- function(bandit, contexts, context, feasible, weights, fixed) {
  config <- bandit$config
  check_absent(weights, "weights", "this bandit has one objective")
  found <- kind_of(bandit)$best(bandit, contexts)
  if (is_near_failure(bandit, found, contexts, fixed)) {
    found <- best_that_succeeded(bandit, contexts, context, feasible)
  }
  frame <- point_frame(bandit, found$arm, contexts$row, found$inputs)
  if (!has_posterior(bandit)) return(frame)
  # Before the first reward, the units of rewards are not known.
  known <- is_level_known(current_config(bandit))
  points <- points_found(config, found)
  context <- if (length(config$context_names)) frame[config$context_names]
  model_state <- if (!known) data.frame(mean = NA_real_, sd = NA_real_)[0, ]
            else of_form(config, "believed_best")(bandit, points, context)
  cbind(if (known) frame else frame[0, , drop = FALSE], distinct_columns(model_state, given_names(config)))
}

# Is a point more correlated (by the kernel) with a failed query than with all successful ones? Only for
# `failures = "doubt"`, where neighbours of failures may have the best mean.
is_near_failure <- function(bandit, found, contexts, fixed) {
  config <- bandit$config
  if (!identical(config$failures, "doubt") || !is.null(fixed)) return(FALSE)
  status <- status_of(bandit, seq_len(table_size(bandit$queries)))
  succeeded <- status %in% c("observed", "partial")
  if (!any(status == "failed") || !any(succeeded)) return(FALSE)
  tabulated <- if (is_tabulated_space(config)) {
    cbind(subset_points(all_points(config$domain), found$arm + 1L)$inputs, config$contexts[contexts$row + 1L, ])
  }
  at <- inputs_of_kernel(config, or_else(tabulated, found$inputs), found$arm)
  kernel <- current_config(bandit)$kernel
  largest <- function(of) max(correlations_with(kernel, known_inputs(bandit, which(of)), at))
  largest(status == "failed") > largest(succeeded)
}

# Correlations of points with one point, up to a factor common to all.
correlations_with <- function(kernel, x, one) {
  blocks <- split(seq_len(nrow(x)), (seq_len(nrow(x)) - 1) %/% 100)
  variance <- lapply(blocks, function(rows) diag(kernel_gram(kernel, x[rows, , drop = FALSE])))
  drop(kernel_gram(kernel, x, one)) / sqrt(unlist(variance))
}

# With several outcomes: among the points where the limits hold with probability `feasible`, if there are any.
best_that_succeeded <- function(bandit, contexts, context, feasible) {
  config <- bandit$config
  ids <- which(status_of(bandit, seq_len(table_size(bandit$queries))) %in% c("observed", "partial"))
  points <- logged_points(bandit, ids)
  points <- subset_points(points, which(!lies_outside(config$domain, points)))
  model_state <- posterior_at(bandit, points, context)
  best <- of_form(config, "best_row")(model_state, config, feasible)
  found <- points_in_log(bandit$config, subset_points(points, best), contexts)
  found[c("arm", "inputs")]
}

# The model state at the recommended point, under the package's own column names.
model_state_of_best <- function(bandit, best) own_columns(best, given_names(bandit$config))

# The intervals of all points, with their labels.
labelled_intervals <- function(bandit, context) {
  check_keeps_intervals(bandit, "levels", "`$levels()`")
  rebuild(bandit)
  policy <- bandit$config$policy
  found <- cpp_bandit_intervals(bandit$handle, contexts_for(bandit, context, 1L))
  if (found$refutations > 0) warn_refuted(found$refutations)
  config <- current_config(bandit)
  here <- levels_in_model(policy, config)
  most <- if (policy$implicit) max(found$upper) else 1
  least <- if (policy$implicit) max(found$lower) else 1
  above <- if (policy$implicit) found$lower + here$accuracy[1] >= here$level * most
           else found$lower + here$accuracy[1] > here$level
  below <- found$upper - here$accuracy[2] <= here$level * least
  found$label <- if (is_reflected(config)) ifelse(below, "above", ifelse(above, "below", "unknown"))
                 else ifelse(above, "above", ifelse(below, "below", "unknown"))
  intervals_as_rewards(found, config)
}

# The recommended point of a bandit with several outcomes.
best_of_outcomes <- function(bandit, contexts, context, feasible, weights, fixed) {
  config <- bandit$config
  wanted <- objectives(config)
  if (!is.null(weights)) return(best_of_front(bandit, context, feasible, weights))
  if (length(wanted) > 1) {
    stop_state("This bandit has several objectives (", paste(wanted, collapse = ", "),
               "), so there is no single best point. Use `$front()` for the Pareto front, or `$best(weights = )`.",
               argument = "weights")
  }
  found <- cpp_bandit_best(bandit$handle, contexts, feasible)
  if (is_near_failure(bandit, found, contexts, fixed)) {
    found <- best_that_succeeded(bandit, contexts, context, feasible)
  }
  settled <- if (is.null(fixed) && prefers_evaluated(config)) evaluated_under_limits(bandit, found, contexts, feasible)
  if (!is.null(settled)) found <- settled
  frame <- point_frame(bandit, found$arm, contexts$row, found$inputs)
  out <- cbind(frame, outcomes_at(bandit, points_found(config, found),
                                  if (length(config$context_names)) frame[config$context_names]))
  if (!is_level_known(current_config(bandit))) return(out[0, ])
  if (!trait(config$policy, "safe") && !isTRUE(settled$by_values)) warn_infeasible(out$feasible, feasible)
  out
}

# For summaries: the recommended point, or the front, without the warning about infeasibility.
likely_best <- function(bandit, context = NULL) {
  if (length(objectives(bandit$config)) > 1) return(bandit_front(bandit, context))
  withCallingHandlers(bandit_best(bandit, context), gpbandits_infeasible = function(w) invokeRestart("muffleWarning"))
}

# For each limit: whether it binds, and its distance at the recommended point. Also whether possibly no point is
# feasible. NULL if nothing is known.
limits_as_text <- function(bandit) {
  config <- current_config(bandit)
  if (!has_limits(config) || length(config$context_names)) return(NULL)
  several <- length(objectives(config)) > 1
  best <- likely_best(bandit)
  if (nrow(best) == 0) return(NULL)
  roles <- Filter(is_limited, outcome_roles(config))
  binds <- limits_that_bind(bandit, config, best, if (several) 0.5 else 0.95)
  lines <- vapply(names(roles), function(name) {
    said <- if (is.na(binds[[name]])) "not known yet" else if (binds[[name]]) "binds" else "does not bind"
    title <- sprintf("%s %s: %s", name, trait(roles[[name]], "title"), said)
    if (several) return(title)
    mean <- best[[paste0(name, "_mean")]]
    room <- min(trait(roles[[name]], "upper") - mean, mean - trait(roles[[name]], "lower"))
    sprintf("%s (%.4g at the best point, %.2g sd within)", title, mean, room / best[[paste0(name, "_sd")]])
  }, "")
  c(unname(lines), if (declares_infeasible(bandit)) infeasible_text)
}

# Probabilities of being preferred to the recommended point.
chances_against_best <- function(bandit, candidates, context, level) {
  config <- bandit$config
  contexts <- contexts_for(bandit, context, 1L)
  best <- cpp_bandit_best(bandit$handle, contexts, NA_real_)
  from <- list(arm = best$arm, context = contexts$row, inputs = best$inputs)
  points <- if (is_tabulated_space(config)) matrix(0, 0, 0)
            else kernel_points(config$domain, candidates,
                               contexts$values[rep(1, point_total(candidates)), , drop = FALSE])
  found <- cpp_bandit_differences(bandit$handle, from, contexts, points)
  frame <- data.frame(mean = found$mean, sd = found$sd)
  if (is_tabulated_space(config)) {
    if (anyNA(candidates$arm)) {
      stop_argument("x", "a point that is not an arm", "arms only, because comparisons give no predictions elsewhere")
    }
    frame <- frame[candidates$arm + 1L, , drop = FALSE]
    rownames(frame) <- NULL
  }
  on_response(frame, trait(current_config(bandit)$rewards, "response"), level)
}

register_bandit_kind("core",
                     posterior = function(bandit, points, context) {
                       of_form(bandit$config, "predicted")(bandit, points, context)
                     },
                     best = function(bandit, contexts) cpp_bandit_best(bandit$handle, contexts, NaN))

best_feasible_row <- function(model_state, config, feasible) {
  allowed <- model_state$feasible >= feasible
  value <- model_state[[paste0(objectives(config), "_mean")]] * objective_signs(config)
  which.max(if (any(allowed)) ifelse(allowed, value, -Inf) else model_state$feasible)
}

register_form("reward",
  posterior = function(bandit, points, context, scale, level) posterior_at(bandit, points, context),
  predicted = function(bandit, points, context) {
    in_user_units(scaled_posterior_at(bandit, points, context), current_config(bandit))
  },
  best = best_of_rewards, best_row = function(model_state, config, feasible) best_row(model_state$mean, config),
  believed_best = function(bandit, points, context) posterior_at(bandit, points, context))
register_form("response", posterior = posterior_of_response,
  believed_best = function(bandit, points, context) posterior_of_response(bandit, points, context, "reward", 0.95))
register_form("comparison", posterior = posterior_of_comparisons)
register_form("outcomes", predicted = outcomes_at, best_row = best_feasible_row,
  best = best_of_outcomes)
