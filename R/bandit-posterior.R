bandit_posterior <- function(bandit, x, context, ...) {
  check_dots_empty(..., allowed = c("x", "context"))
  heal(bandit)
  config <- bandit$config
  domain <- config$domain
  finite <- is_finite_domain(domain)
  if (is.null(x) && !finite) stop_argument("x", "NULL", "points to predict at, where the domain is a box")
  # Arms may share their inputs: all arms are asked for by number, not by what they look like.
  everything <- is.null(x)
  x <- if (everything) domain$x else check_matrix(x, "x", columns = length(domain$names))
  one_each <- length(config$context_names) && NROW(context) > 1 && !is.null(dim(context))
  contexts <- contexts_for(bandit, context, if (one_each) nrow(x) else 1L)
  row <- rep_len(contexts$row, nrow(x))
  arm <- if (everything) seq_len(nrow(x)) else if (finite) match_rows(x, domain$x)
  if (space_of(config) == "table" && !anyNA(arm)) return(tabulated_posterior(bandit, row, arm))
  predicted_posterior(bandit, x, arm, row, contexts$values)
}

tabulated_posterior <- function(bandit, row, arm) {
  frame_of(core(cpp_bandit_arm_posterior(bandit$handle, arm - 1L, row)))
}

# Points that no table holds. Where they are no arms, the kernel must be a function of the
# inputs and the prior mean a constant.
predicted_posterior <- function(bandit, x, arm, row, values) {
  config <- current_config(bandit)
  if (anyNA(arm) && (uses_matrix_kernel(config$kernel) || length(unique(config$mean)) > 1)) {
    stop_argument("x", "a point that is no arm",
                  "arms only, where the kernel is given as a matrix or the prior mean differs by arm")
  }
  points <- to_model_inputs(config$domain, x)
  if (length(config$context_names)) {
    z <- if (space_of(config) == "table") config$contexts[row + 1L, , drop = FALSE]
         else values[rep_len(seq_len(nrow(values)), nrow(x)), , drop = FALSE]
    points <- cbind(points, z)
  }
  if (is_finite_domain(config$domain)) points <- cbind(points, ifelse(is.na(arm), -1, arm - 1))
  frame_of(core(cpp_bandit_predict(bandit$handle, unname(points))))
}

bandit_draw <- function(bandit, n, context, ...) {
  check_dots_empty(..., allowed = c("n", "context"))
  n <- check_count(n)
  heal(bandit)
  facts <- cpp_bandit_facts(bandit$handle)
  if (facts$engine != "weights") {
    stop_gpbandits("Joint draws over all arms need the weight-space engine: ",
                   "a finite domain and `engine = \"weights\"`.",
                   argument = "engine")
  }
  core(cpp_bandit_draw(bandit$handle, n, 1, contexts_for(bandit, context, 1L)))
}

bandit_best <- function(bandit, context, ...) {
  check_dots_empty(..., allowed = "context")
  heal(bandit)
  contexts <- contexts_for(bandit, context, 1L)
  found <- preserve_rng(core(cpp_bandit_best(bandit$handle, contexts)))
  frame <- place_frame(bandit, found$arm, contexts$row, found$inputs)
  actions <- as.matrix(frame[bandit$config$domain$names])
  context <- if (length(bandit$config$context_names)) frame[bandit$config$context_names]
  cbind(frame, bandit_posterior(bandit, actions, context))
}
