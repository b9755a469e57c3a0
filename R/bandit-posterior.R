# `x`: points by their inputs (of a product: of the box alone, where `arm` gives the rows); `arm`: by their numbers.
bandit_posterior <- function(bandit, x, context, arm = NULL, scale = NULL, level = 0.95, ..., arg = "x") {
  check_dots_empty(..., allowed = c("x", "context", "arm", "scale", "level"))
  heal(bandit)
  config <- bandit$config
  scale <- check_choice(or_else(scale, c("reward", "latent")), c("reward", "latent"), "scale")
  level <- check_number(level, lower = 0, upper = 1, open_lower = TRUE, open_upper = TRUE)
  if (is.data.frame(x) && is.null(arm)) {
    check_data_frame(x, arg)
    if (is.null(context)) context <- contexts_in_frame(config, x)
    places <- places_in_frame(config, x, arg)
  } else places <- asked_places(config$domain, x, arm, arg)
  if (!has_likelihood(config)) return(posterior_at(bandit, places, context))
  if (compares_queries(config) && scale == "reward") return(chances_against_best(bandit, places, context, level))
  in_scale_of_rewards(scaled_posterior_at(bandit, places, context), current_config(bandit), scale, level)
}

# Where a posterior is asked for: unlike places that are played these may lie outside the domain.
asked_places <- function(domain, x, arm, arg = "x") {
  if (!is.null(arm)) return(find_places(domain, x, arm, arg))
  # Arms may share their inputs: all arms are asked for by number, not by what they look like.
  if (is.null(x)) {
    if (!can_count(domain)) {
      stop_argument(arg, "NULL", paste("points to predict at, where the domain is", describe_domain(domain)))
    }
    return(all_places(domain))
  }
  x <- read_inputs(domain, x, arg)
  list(arm = arms_at(domain, x), inputs = to_model_inputs(domain, x))
}

# The places of a data.frame, which may have columns beside the inputs, as the frames of `$suggest()`, `$best()` and
# `$history()` have. Their column `arm` says which one of several equal arms is meant.
places_in_frame <- function(config, x, arg) {
  domain <- config$domain
  arm <- own_columns(x, given_names(config))$arm
  if (all(domain$names %in% names(x))) x <- x[domain$names]
  places <- asked_places(domain, x, NULL, arg)
  if (!can_count(domain) || !is_number(arm) || !all(arm %in% seq_len(place_count(domain)))) return(places)
  named <- arm_places(domain, as.integer(arm) - 1L)
  if (identical(unname(named$inputs), unname(places$inputs))) named else places
}

contexts_in_frame <- function(config, x) {
  names <- config$context_names
  if (length(names) && all(names %in% names(x))) x[names]
}

# A data.frame of `mean` and `sd` at places, in one context or one each.
posterior_at <- function(bandit, places, context) {
  kind_of(bandit)$posterior(bandit, places, context)
}

posterior_of_core <- function(bandit, places, context) {
  if (has_outcomes(bandit$config)) return(outcomes_at(bandit, places, context))
  in_user_units(scaled_posterior_at(bandit, places, context), current_config(bandit))
}

# The same in the model's units.
scaled_posterior_at <- function(bandit, places, context) {
  config <- bandit$config
  count <- place_total(places)
  seen <- contexts_of_places(bandit, context, count)
  if (count == 0) return(data.frame(mean = double(), sd = double()))
  if (is_tabulated_space(config) && !anyNA(places$arm)) return(tabulated_posterior(bandit, places$arm, seen$row))
  predicted_posterior(bandit, places, seen$values)
}

# A context's number for each of `count` places, and its values where places are given by their inputs.
contexts_of_places <- function(bandit, context, count) {
  config <- bandit$config
  one_each <- length(config$context_names) && NROW(context) > 1 && !is.null(dim(context))
  contexts <- contexts_for(bandit, context, if (one_each) count else 1L)
  row <- rep_len(contexts$row, count)
  values <- contexts$values
  if (is_tabulated_space(config) && length(config$context_names)) values <- config$contexts[row + 1L, , drop = FALSE]
  list(row = row, values = values[rep_len(seq_len(nrow(values)), count), , drop = FALSE])
}

# Of arms in known contexts, both by their 0-based numbers.
tabulated_posterior <- function(bandit, arm, context) {
  cpp_frame(core(cpp_bandit_arm_posterior(bandit$handle, arm, context)))
}

# Points that no table holds. Where they are no arms, the kernel must be a function of the
# inputs and the prior mean a constant.
predicted_posterior <- function(bandit, places, contexts) {
  config <- current_config(bandit)
  strangers <- has_numbers(config$domain) && anyNA(places$arm)
  if (strangers && (has_matrix(config$kernel) || length(unique(config$mean)) > 1)) {
    stop_argument("x", "a point that is no arm",
                  "arms only, where the kernel is given as a matrix or the prior mean differs by arm")
  }
  cpp_frame(core(cpp_bandit_predict(bandit$handle, kernel_points(config$domain, places, contexts))))
}

# What a look goes by. Until the first refit the parameters of a bandit that scales its rewards are guesses that
# nobody gave: as good as no noise, say. What such a bandit knows enough for, a copy has done: the refit that it would
# begin its next query with. The bandit itself stays as it is, and so do its choices. A name in its environment, no
# field, keeps the copy until there is news.
looked_at <- function(bandit) {
  frame <- frame_of(bandit)
  if (!is_unfitted(frame)) {
    if (!is.null(frame$.look)) hand_on_warnings(as.environment(frame$.look$twin), frame)
    frame$.look <- NULL
    return(bandit)
  }
  state <- log_state(frame, "events")
  if (!identical(frame$.look$state, state)) {
    twin <- bandit_copy(frame)
    hand_on_warnings(if (is.null(frame$.look)) frame else as.environment(frame$.look$twin), as.environment(twin))
    refit_if_due(as.environment(twin))
    frame$.look <- list(state = state, twin = twin)
  }
  twin <- frame$.look$twin
  if (isS4(bandit)) twin else as.environment(twin)
}

# What was said once is not said again, and a check of the model counts the looks before it.
# Which tables these are, and how long: nothing has happened while this is the same. (A log that was reset, or written
# anew, may have as many events as the one before.)
log_state <- function(bandit, tables = c("queries", "events")) {
  lapply(mget(tables, envir = bandit), function(table) list(table, table_size(table)))
}

# An answer that takes a search, kept while nothing happens. `question`: all that it depends on besides the log. What it
# warns of it warns of each time. Copies and saved bandits do not have it (see adopt()).
kept_answer <- function(bandit, question, code) {
  state <- log_state(bandit)
  if (!identical(bandit$.kept$state, state)) bandit$.kept <- list(state = state)
  for (one in bandit$.kept$answers) {
    if (identical(one$question, question)) {
      for (warned in one$warnings) warning(warned)
      return(one$answer)
    }
  }
  warnings <- list()
  answer <- withCallingHandlers(code, gpbandits_infeasible = function(w) warnings <<- c(warnings, list(w)))
  one <- list(question = question, answer = answer, warnings = warnings)
  bandit$.kept$answers <- c(utils::tail(bandit$.kept$answers, 9), list(one))
  answer
}

hand_on_warnings <- function(from, to) for (name in c(".said", ".looks")) to[[name]] <- from[[name]]

is_unfitted <- function(bandit) {
  config <- bandit$config
  if (is.null(config$refit) || is.null(config$outputs) || !is.null(config$models) || has_rule(bandit)) return(FALSE)
  if (any(vapply(bandit$refits, is_real_refit, NA))) return(FALSE)
  known <- sum(status_of(bandit, seq_len(table_size(bandit$queries))) %in% c("known", "partial"))
  known >= config$refit$minimum && is_refit_due(bandit, 1)
}

bandit_draw <- function(bandit, n, context, ...) {
  check_dots_empty(..., allowed = c("n", "context"))
  n <- check_count(n)
  domain <- bandit$config$domain
  if (has_rule(bandit) || !can_count(domain)) {
    stop_gpbandits("Joint draws over all arms need a finite domain and a posterior: this bandit is over ",
                   describe_domain(domain), if (has_rule(bandit)) ", and a rule of its own chooses", ".",
                   argument = "domain")
  }
  contexts <- contexts_for(bandit, context, 1L)
  drawn <- core(cpp_bandit_draw(drawing_twin(bandit)$handle, n, 1, contexts))
  as_rewards(drawn, current_config(bandit))
}

# Values of f as expected rewards.
as_rewards <- function(drawn, config) {
  if (has_likelihood(config) && !compares_queries(config)) {
    drawn[] <- trait(config$rewards, "response")(if (is_reflected(config)) -drawn else drawn)
  }
  if (!is_scale_known(config)) drawn[] <- NA_real_
  else if (!is.null(config$outputs)) drawn[] <- expected_rewards(output_map(config), drawn, expected_noise(config))
  drawn
}

# The values of f at which these rewards are expected: as_rewards()'s way back.
values_expecting <- function(reward, config) {
  if (has_response(config)) {
    value <- trait(config$rewards, "latent")(reward)
    return(if (is_reflected(config)) -value else value)
  }
  map <- output_map(config)
  if (is.null(map)) reward else values_of_expected(map, reward, expected_noise(config))
}

# Other engines over arms than weight space cannot draw over many of them: the log played again can.
drawing_twin <- function(bandit) {
  heal(bandit)
  if (!is_tabulated_space(bandit$config) || cpp_bandit_facts(bandit$handle)$engine == "weights") return(bandit)
  twin <- as.environment(bandit_copy(bandit))
  twin$config$policy <- policy_pims()
  twin$config$engine <- "weights"
  heal(twin)
}

bandit_best <- function(bandit, context, feasible = 0.95, weights = NULL, fixed = NULL, ...) {
  check_dots_empty(..., allowed = c("context", "feasible", "weights", "fixed"))
  heal(bandit)
  kept_answer(bandit, list("best", context, feasible, weights, fixed),
              best_now(bandit, context, feasible, weights, fixed))
}

best_now <- function(bandit, context, feasible, weights, fixed) {
  config <- bandit$config
  feasible <- check_probability(feasible)
  contexts <- with_fixed(contexts_for(bandit, context, 1L), bandit, fixed)
  if (has_outcomes(config)) return(best_of_outcomes(bandit, contexts, context, feasible, weights, fixed))
  check_absent(weights, "weights")
  found <- kind_of(bandit)$best(bandit, contexts)
  if (is_beside_failure(bandit, found, contexts, fixed)) {
    found <- best_that_succeeded(bandit, contexts, context)
  }
  frame <- place_frame(bandit, found$arm, contexts$row, found$inputs)
  if (!has_posterior(bandit)) return(frame)
  # Before the first reward nothing can be said in its units.
  known <- is_level_known(current_config(bandit))
  places <- places_found(config, found)
  context <- if (length(config$context_names)) frame[config$context_names]
  belief <- if (!known) data.frame(mean = NA_real_, sd = NA_real_)[0, ]
            else if (!has_likelihood(config)) posterior_at(bandit, places, context)
            else in_scale_of_rewards(scaled_posterior_at(bandit, places, context), current_config(bandit), level = 0.95)
  cbind(if (known) frame else frame[0, , drop = FALSE], columns_beside(belief, given_names(config)))
}

# Is a place nearer, as the kernel correlates, to something that failed than to all that succeeded? Only where failures
# are doubted: their neighbours may have the best mean.
is_beside_failure <- function(bandit, found, contexts, fixed) {
  config <- bandit$config
  if (!identical(config$failures, "doubt") || !is.null(fixed)) return(FALSE)
  status <- status_of(bandit, seq_len(table_size(bandit$queries)))
  succeeded <- status %in% c("known", "partial")
  if (!any(status == "failed") || !any(succeeded)) return(FALSE)
  tabulated <- if (is_tabulated_space(config)) {
    cbind(subset_places(all_places(config$domain), found$arm + 1L)$inputs, config$contexts[contexts$row + 1L, ])
  }
  at <- inputs_of_kernel(config, or_else(tabulated, found$inputs), found$arm)
  kernel <- current_config(bandit)$kernel
  largest <- function(of) max(correlations_with(kernel, known_inputs(bandit, which(of)), at))
  largest(status == "failed") > largest(succeeded)
}

# Of points with one, but for the factor that all have.
correlations_with <- function(kernel, x, one) {
  blocks <- split(seq_len(nrow(x)), (seq_len(nrow(x)) - 1) %/% 100)
  variance <- lapply(blocks, function(rows) diag(kernel_gram(kernel, x[rows, , drop = FALSE])))
  drop(kernel_gram(kernel, x, one)) / sqrt(unlist(variance))
}

# Of several outcomes: where the limits hold with probability `feasible`, if they do so anywhere.
best_that_succeeded <- function(bandit, contexts, context, feasible) {
  config <- bandit$config
  ids <- which(status_of(bandit, seq_len(table_size(bandit$queries))) %in% c("known", "partial"))
  places <- logged_places(bandit, ids)
  places <- subset_places(places, which(!lies_outside(config$domain, places)))
  belief <- posterior_at(bandit, places, context)
  best <- if (!has_outcomes(config)) best_row(belief$mean, config) else {
    allowed <- belief$feasible >= feasible
    value <- belief[[paste0(objectives(config), "_mean")]] * objective_signs(config)
    which.max(if (any(allowed)) ifelse(allowed, value, -Inf) else belief$feasible)
  }
  found <- places_in_log(bandit$config, subset_places(places, best), contexts)
  found[c("arm", "inputs")]
}

# What is believed of the recommended place, under our own names.
belief_of_best <- function(bandit, best) own_columns(best, given_names(bandit$config))

# Places as the core gives them, with the context's values behind their inputs.
places_found <- function(config, found) {
  if (is_tabulated_space(config)) return(list(arm = found$arm))
  list(arm = found$arm, inputs = found$inputs[, seq_along(model_names(config$domain)), drop = FALSE])
}

register_bandit_kind("core", posterior = posterior_of_core,
                     best = function(bandit, contexts) core(cpp_bandit_best(bandit$handle, contexts, NaN)))
