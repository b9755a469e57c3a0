# `$add_arms()`. Layer: bandit.

# Arms that are added during a run. This is an event with parameters, like a refit: the current model state and `arms`.
# The list `arms` has `from` (the number of arms before), `x` (a row each), `labels` and `mean` (NULL if there are
# none). The domain in the settings contains all arms; at an earlier time it consisted of its first ones.

bandit_add_arms <- function(bandit, x, mean, ...) {
  if (needs_transaction(bandit)) return(add_arms_in(bandit, x, mean, ...))
  check_dots_empty(..., allowed = c("x", "mean"))
  check_can_grow(bandit)
  check_idle(bandit)
  config <- bandit$config
  arms <- new_arms(if (missing(x)) stop_missing("x", "numbers, one row per new arm") else x, config$domain)
  if (any(vapply(config$outcomes[-1], function(one) length(one$mean) > 1, NA))) {
    stop_state("Arms cannot be added to this bandit: an outcome has a prior mean for each arm, and the new ones ",
               "have none. ", "Begin a new bandit with all arms.", argument = "x")
  }
  arms["mean"] <- list(new_means(mean, config, nrow(arms$x)))
  grown <- grown_config(config, list(list(arms = arms)))
  check_still_tabulated(config, grown)
  rebuild(bandit)
  fit <- refitted_parameters(bandit)
  if (length(fit$mean) > 1) fit$mean <- c(fit$mean, arms$mean)
  fit$arms <- arms
  cpp_bandit_add_arms(bandit$handle, core_config(refitted_config(grown, fit)))
  sync_log(bandit, bandit$handle, list(fit), fields = list(config = grown))
  invisible(bandit)
}

# ---- checks -------------------------------------------------------------------

check_can_grow <- function(bandit) {
  config <- bandit$config
  refuse <- function(what, why) stop_state("Arms cannot be added to ", what, ": ", why, ".", argument = "x")
  if (!is_set_of_arms(config$domain)) refuse(describe_domain(config$domain), "it is not a set of arms")
  check_not_scripted(bandit, function(title) refuse(title, "it is a rule over several posteriors"))
  kernels <- c(list(config$kernel), lapply(config$outcomes, `[[`, "kernel"))
  if (any(vapply(kernels, has_matrix, NA))) refuse("arms whose kernel is a matrix", "it has no covariances of new ones")
  if (trait(config$policy, "intervals")) {
    refuse(trait(config$policy, "title"), "its intervals are kept from the first round on")
  }
  if (!is.null(config$changes) && trait(config$changes, "of_domain")) {
    refuse("a bandit with this change rule", "it keeps the domain that it began with")
  }
}

# A tabulated space is logged by numbers alone, without inputs. Added arms must not make the space too large for this.
check_still_tabulated <- function(config, grown) {
  if (is_tabulated_space(config) == is_tabulated_space(grown)) return(invisible())
  stop_gpbandits("argument", sprintf("There would be %d arms in %d contexts. Add fewer arms: ", arm_count(grown$domain),
                                     nrow(config$contexts)),
                 sprintf("at most %d arms times contexts are supported.", kLargestTable), argument = "x")
}

# ---- the arms -----------------------------------------------------------------

new_arms <- function(x, domain) {
  have <- arm_count(domain)
  if (is.data.frame(x)) check_data_frame(x, "x")
  else if (!is_number(x)) stop_argument("x", describe(x), "numbers or a data.frame, one row per arm")
  named <- labels_of_new_rows(x, domain)
  if (is.data.frame(x)) x <- x[setdiff(names(x), named$column)]
  else if (is.null(dim(x)) && length(domain$names) == 1) x <- unname(x)
  x <- complete_codes(domain, x, "x")
  if (nrow(x) == 0) stop_argument("x", describe(x), "at least one arm")
  known <- match_rows(x, domain$x)
  twice <- duplicated(x)
  if (!all(is.na(known)) || any(twice)) {
    bad <- which(!is.na(known) | twice)[1]
    stop_argument("x", sprintf("one with (%s), %s", row_text(domain, x[bad, ]),
                               if (twice[bad]) "twice" else sprintf("which is arm %d", known[bad])), "new arms")
  }
  list(from = as.double(have), x = unname(x), labels = new_labels(named$values, domain, nrow(x)))
}

labels_of_new_rows <- function(x, domain) {
  more <- if (is.data.frame(x) && !is.null(domain$labels)) setdiff(names(x), domain$names)
  if (length(more) == 1) return(labels_in_column(x, more))
  if (is.null(domain$params)) labels_of_rows(x, "x") else labels_by_row_names(x, "x")
}

new_labels <- function(labels, domain, count) {
  if (is.null(domain$labels) != is.null(labels)) {
    if (is.null(labels)) stop_argument("x", "arms without names", "arms with names, as the present ones have")
    else stop_argument("x", "arms with names", "arms without names, as the present ones are")
  }
  taken <- intersect(labels, domain$labels)
  if (length(taken)) stop_argument("x", sprintf("one named %s", dQuote(taken[1], FALSE)), "arms with new names")
  labels
}

new_means <- function(mean, config, count) {
  if (length(config$mean) == 1) {
    if (!is.null(mean)) stop_unused("mean", "the prior mean of this bandit is one number for all arms")
    return(NULL)
  }
  if (is.null(mean)) stop_missing("mean", "a prior mean for each new arm, as the present ones have")
  check_each(mean, count, lower = -largest_number, upper = largest_number)
}

# ---- settings over time -------------------------------------------------------

# The number of arms at each event.
arms_in_time <- function(bandit) {
  kind <- table_column(bandit$events, "kind")
  more <- numeric(length(kind))
  more[kind == event_kind[["arms"]]] <- vapply(Filter(is_growth, bandit$refits), function(fit) nrow(fit$arms$x), 0L)
  point_count(starting_config(bandit)$domain) + cumsum(more)
}
