# Inputs that are fixed in a suggestion. Layer: bandit.

# Inputs that are fixed in $suggest(fixed = ) and $best(fixed = ). slice_of() returns the remaining part of the domain.
# It is passed along with the contexts, and the log stores it together with the eligible arms.

with_fixed <- function(contexts, bandit, fixed) {
  if (is.null(fixed)) return(contexts)
  check_not_scripted(bandit, function(title) stop_unused("fixed", paste(title, "does not support fixed inputs")))
  domain <- bandit$config$domain
  slice <- slice_of(domain, check_fixed(fixed, fixable_inputs(domain)))
  policy <- bandit$config$policy
  if (!is.null(slice$fixed) && (trait(policy, "intervals") || trait(policy, "safe"))) {
    stop_unused("fixed", "the candidates of this policy are fixed at the start")
  }
  if (!is.null(slice$eligible)) {
    both <- if (is.null(contexts$eligible)) slice$eligible else slice$eligible & contexts$eligible
    if (!any(both)) stop_argument("fixed", described_value(fixed), "values that occur among the `arms`")
    contexts$eligible <- if (!all(both)) both
  }
  contexts$fixed <- slice$fixed
  contexts
}

# A named list with one value each.
check_fixed <- function(fixed, names) {
  allowed <- sprintf("NULL, or a named list with a value for some of the inputs %s", quoted(names))
  check_sound(fixed, "fixed", allowed)
  plain <- is.list(fixed) || (is.atomic(fixed) && is.null(dim(fixed)))
  if (!plain || length(fixed) == 0 || is.null(names(fixed))) stop_argument("fixed", describe(fixed), allowed)
  values <- as.list(fixed)
  unknown <- setdiff(names(values), names)
  if (length(unknown)) stop_argument("fixed", paste("one with", quoted(unknown)), allowed)
  if (anyDuplicated(names(values))) stop_argument("fixed", "one with a name twice", allowed)
  single <- vapply(values, function(value) is.atomic(value) && is.null(dim(value)) && length(value) == 1, NA)
  if (!all(single)) {
    stop_argument("fixed", sprintf("%s = %s", names(values)[!single][1], describe(values[!single][[1]])),
                  "one value each")
  }
  values
}

# Do the inputs of these queries have the values that are fixed now?
in_slice <- function(bandit, ids, fixed) {
  here <- rep(TRUE, length(ids))
  for (k in seq_along(fixed$at)) {
    here <- here & bandit$queries[[paste0("in.", fixed$at[k] + 1L)]][ids] == fixed$values[k]
  }
  here
}

# Design points, moved to the fixed values. Those that are infeasible there are replaced by feasible points.
moved_points <- function(bandit, points, contexts) {
  if (is.null(contexts$fixed)) return(points)
  config <- bandit$config
  fixed <- contexts$fixed
  inputs <- points$inputs
  for (k in seq_along(fixed$at)) inputs[, fixed$at[k] + 1L] <- fixed$values[k]
  moved <- nearest_points(config$domain, inputs)
  at <- fixed$at + 1L
  there <- abs(moved$inputs[, at, drop = FALSE] - rep(fixed$values, each = nrow(inputs)))
  there[is.na(from_model_inputs(config$domain, moved$inputs)[, at])] <- Inf
  elsewhere <- which(rowSums(there > 1e-9 * pmax(1, abs(rep(fixed$values, each = nrow(inputs))))) > 0)
  spare <- fixed$candidates
  for (i in elsewhere) moved$inputs[i, ] <- spare[sample.int(nrow(spare), 1), ]
  moved$inputs[, at] <- rep(fixed$values, each = nrow(inputs))
  moved
}
