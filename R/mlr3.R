#' Tuning with mlr3: `opt("gp_bandit")` and `tnr("gp_bandit")`
#'
#' When package bbotk is loaded, `bbotk::opt("gp_bandit")` optimises with a Gaussian-process bandit, and when
#' mlr3tuning is,
#' `mlr3tuning::tnr("gp_bandit")` tunes with one: spaces with factors, logicals, dependencies, `logscale` and
#' `trafo`, one objective to be
#' minimised or maximised, all terminators and callbacks, batches.
#'
#' It is [maximize_bandit()] behind bbotk's interface: a Latin hypercube first (evaluations that the instance has
#' already count
#' towards it), then batches of points of a bandit with the default kernel of the space, refitted as it goes. Rewards
#' are scaled as
#' there. bbotk decides when it ends, and recommends the best point seen. Values that are `NA` count as the worst so
#' far.
#' Transformations are applied by bbotk: the space is searched on its own scale.
#'
#' Parameters: `batch_size` (points asked for together, 1), `design` (size of the first design; by default 5 per
#' parameter and at most
#' half of the evaluations, where the terminator counts these), `policy` (default: [policy_ucb()] with width 2),
#' `kernel`
#' (default: that of [search_space()]), `refit` (rounds between refits, 2).
#' After a run the field `bandit` holds the `GPBandit` (its rewards are costs: what is maximised, with the other sign).
#' @section Guarantee: none with fitted hyperparameters.
#' @seealso [search_space()], [as_search_space()], [maximize_bandit()].
#' @examples
#' if (requireNamespace("bbotk", quietly = TRUE) && requireNamespace("paradox", quietly = TRUE)) {
#'   instance <- bbotk::OptimInstanceBatchSingleCrit$new(
#'     bbotk::ObjectiveRFun$new(function(xs) list(y = (xs$x - 1)^2 + (xs$k == "b")),
#'                              paradox::ps(x = paradox::p_dbl(0, 3), k = paradox::p_fct(c("a", "b"))),
#'                              paradox::ps(y = paradox::p_dbl(tags = "minimize"))),
#'     terminator = bbotk::trm("evals", n_evals = 8))
#'   set.seed(1)
#'   bbotk::opt("gp_bandit")$optimize(instance)
#' }
#' @name mlr3-doors
NULL

# Optimisers and tuners stand in dictionaries of packages that may be loaded before or after this one, or never.
.onLoad <- function(libname, pkgname) {
  when_loaded("bbotk", function() bbotk::mlr_optimizers$add("gp_bandit", bandit_optimizer()))
  when_loaded("mlr3tuning", function() mlr3tuning::mlr_tuners$add("gp_bandit", bandit_tuner()))
}

when_loaded <- function(package, register) {
  if (isNamespaceLoaded(package)) register()
  setHook(packageEvent(package, "onLoad"), function(...) register())
}

# What R6 puts into the environment of methods.
utils::globalVariables(c("self", "super"))

bandit_optimizer <- function() {
  R6::R6Class("OptimizerBatchGPBandit", inherit = bbotk::OptimizerBatch,
    public = list(
      bandit = NULL,
      initialize = function() {
        super$initialize(
          id = "gp_bandit",
          param_set = paradox::ps(batch_size = paradox::p_int(1L, init = 1L), design = paradox::p_int(1L),
                                  policy = paradox::p_uty(), kernel = paradox::p_uty(),
                                  refit = paradox::p_int(1L, init = 2L)),
          param_classes = c("ParamLgl", "ParamInt", "ParamDbl", "ParamFct"),
          properties = c("dependencies", "single-crit"),
          packages = "gpbandits", label = "Gaussian-process bandit", man = "gpbandits::mlr3-doors"
        )
      }
    ),
    private = list(
      .optimize = function(inst) {
        optimize_instance(inst, self$param_set$values, function(bandit) self$bandit <- bandit)
      }
    )
  )
}

bandit_tuner <- function() {
  R6::R6Class("TunerBatchGPBandit", inherit = mlr3tuning::TunerBatchFromOptimizerBatch,
    public = list(initialize = function() {
      super$initialize(optimizer = bbotk::opt("gp_bandit"), man = "gpbandits::mlr3-doors")
    })
  )
}

# Until bbotk ends it. `keep`: called with the bandit before every batch.
optimize_instance <- function(inst, settings, keep) {
  domain <- as_search_space(inst$search_space, transformed = FALSE)
  refit <- refit_every(settings$refit, mean = "fit")
  policy <- if (is.null(settings$policy)) default_policy() else settings$policy
  # bbotk's own sign makes everything a cost.
  bandit <- scaled_bandit(domain, "minimize", settings$kernel, 0.01, policy, pending_hallucinate(), refit,
                          default_prior_noise, "auto", "auto")
  keep(bandit)
  known <- earlier_evaluations(inst, domain)
  size <- settings$design
  if (is.null(size)) size <- design_size(NULL, domain, most_evaluations(inst), 1)
  missing <- max(0, size - length(known$cost))
  design <- if (missing > 0) user_inputs(domain, design_places(domain, missing))
  cost <- known$cost
  for (rows in split(seq_len(missing), (seq_len(missing) - 1) %/% settings$batch_size)) {
    cost <- c(cost, evaluate_batch(inst, design[rows, , drop = FALSE]))
  }
  if (length(cost)) bandit$add(rbind(known$x, design), reward = without_failures(cost, numeric()))
  repeat {
    asked <- bandit$suggest(settings$batch_size)
    found <- evaluate_batch(inst, asked[domain$names])
    bandit$observe(asked$id, without_failures(found, cost))
    cost <- c(cost, found)
  }
}

evaluate_batch <- function(inst, x) {
  y <- inst$eval_batch(data.table::as.data.table(x))
  unname(inst$objective_multiplicator) * as.double(y[[inst$archive$cols_y]])
}

# What failed cost as much as the worst so far.
without_failures <- function(cost, before) {
  failed <- !is.finite(cost)
  seen <- c(before, cost)
  seen <- seen[is.finite(seen)]
  cost[failed] <- if (length(seen)) max(seen) else 0
  cost
}

# What the instance has evaluated before: bbotk's columns as the space has them.
earlier_evaluations <- function(inst, domain) {
  archive <- inst$archive
  if (archive$n_evals == 0) return(list(x = NULL, cost = numeric()))
  x <- read_inputs(domain, as.data.frame(archive$data)[domain$names], "instance")
  list(x = x, cost = unname(inst$objective_multiplicator) * as.double(archive$data[[archive$cols_y]]))
}

# Where the terminator counts evaluations.
most_evaluations <- function(inst) {
  n <- if (inherits(inst$terminator, "TerminatorEvals")) inst$terminator$param_set$values$n_evals
  if (is.null(n)) Inf else n
}
