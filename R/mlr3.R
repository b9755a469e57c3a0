# `opt("gp_bandit")` and `tnr("gp_bandit")` for mlr3. Layer: integrations.

#' Bayesian optimisation and tuning with mlr3: `opt("gp_bandit")`, `tnr("gp_bandit")`
#'
#' `bbotk::opt("gp_bandit")` and `mlr3tuning::tnr("gp_bandit")` optimise and tune with a Gaussian-process bandit.
#'
#' They are registered when packages bbotk and mlr3tuning are loaded. They support
#'
#' * search spaces with factors, logicals, dependencies, `logscale` and `trafo`;
#' * one objective or several, minimised or maximised;
#' * all terminators and callbacks, and batches.
#'
#' The method is that of [maximize_bandit()]. It begins with a Latin hypercube design, to which existing evaluations of
#' the instance count. Batches of points from a bandit follow. The bandit has the default kernel of the space and is
#' refitted during the run, and rewards are scaled as in [maximize_bandit()]. Package bbotk decides when the run ends,
#' and returns the best evaluated point. It also applies transformations: the bandit searches the untransformed space.
#'
#' @section Parameters:
#'
#' * `batch_size`: the number of points that are suggested together, by default 1.
#' * `n_initial`: the number of points of the initial design. By default it is 5 per parameter, and at most a quarter of
#'   the evaluations if the terminator counts these.
#' * `policy`: a [policy][policies]; by default that of [maximize_bandit()].
#' * `model`: the Gaussian process, [gp_model()] by default.
#' * `control`: [search_control()], of which `pending` has an effect; the rest is an error.
#' * `fixed`: a named list of values of parameters that are not chosen, on the scale of the search space, as in
#'   `$suggest(fixed = )` of a [GPBandit]. The initial design has these values too. Evaluations of the instance with
#'   other values are used for fitting. By default nothing is fixed.
#' * `result`: `"observed"` (default): the best evaluated point is the result. `"posterior"`: the point that `$best()`
#'   of the bandit recommends, with its posterior mean. It may be a point that was not evaluated, and it is less
#'   affected by noise. It is for one target.
#'
#' @section Budgets: A parameter tagged `"budget"`, as for hyperband, is a fidelity, such as
#'   `p_int(10, 500, tags = "budget")`. It is not searched: each evaluation uses the smallest value that is still
#'   informative about the largest one, by the rule of [multi-fidelity], with a cost proportional to the (transformed)
#'   value. The result is the best evaluation at the largest value. With `fixed = list(trees = 500)`
#'   the parameter is fixed instead. Budgets are not supported with several targets or asynchronously.
#'
#' @section Failed evaluations: Return `Inf` or `-Inf` for an evaluation that failed. It counts as the worst value so
#'   far, with the additional uncertainty of a failure as in [maximize_bandit()]. `NA` and `NaN` are an error of bbotk.
#'   If no value is finite, there is a warning of class `gpbandits_no_success`.
#'
#' @section Several targets: With `OptimInstanceBatchMultiCrit` or `TuningInstanceBatchMultiCrit` the policy is
#'   [policy_ehvi()] for two targets and [policy_hypervolume()] for more. bbotk's result is the Pareto front of the
#'   evaluated points. The bandit's `$front()` is the Pareto front of the posterior means.
#'
#' @section The bandit: After a run, the field `bandit` of the optimiser and of the tuner is the [GPBandit] with all
#'   evaluations. Its rewards are costs: a maximised target has its sign changed. With several targets, its `outcomes`
#'   have the targets' names and signs. A name begins with a dot if `$history()` already has such a column. Clones
#'   (`$clone(deep = TRUE)`, and those of `mlr3::resample()`) have separate bandits.
#'
#' @section Asynchronous optimisation: `opt("async_gp_bandit")` and `tnr("async_gp_bandit")` are for instances on
#'   package rush, which needs a Redis server. Every worker has its own bandit, which uses the evaluations that all
#'   workers have begun and finished. They have the same parameters except `batch_size`.
#' @section Guarantee: None, because hyperparameters are estimated.
#' @seealso [search_space()], [maximize_bandit()], [tune_gp_bandit()].
#' @concept mlr3
#' @concept bbotk
#' @concept hyperparameter tuning
#' @concept hyperparameter optimization
#' @concept Bayesian optimization
#' @concept multi-objective optimization
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
#' @name mlr3-integration
NULL

# The dictionaries of optimisers and tuners belong to packages that may be loaded before or after this one, or not at
# all.
when_loaded <- function(package, register) {
  if (isNamespaceLoaded(package)) register()
  setHook(packageEvent(package, "onLoad"), function(...) register())
}

# Names that R6 puts into the environment of methods.
utils::globalVariables(c("self", "super", "private"))

bandit_optimizer <- function() {
  R6::R6Class("OptimizerBatchGPBandit", inherit = bbotk::OptimizerBatch,
    public = list(
      bandit = NULL,
      initialize = function() {
        super$initialize(
          id = "gp_bandit",
          param_set = c(paradox::ps(batch_size = paradox::p_int(1L, init = 1L),
                                    result = paradox::p_fct(c("observed", "posterior"), init = "observed")),
                        optimizer_settings()),
          param_classes = c("ParamLgl", "ParamInt", "ParamDbl", "ParamFct"),
          properties = c("dependencies", "single-crit", "multi-crit"),
          packages = "gpbandits", label = "Gaussian-process bandit", man = "gpbandits::mlr3-integration"
        )
      }
    ),
    private = list(
      .optimize = function(inst) {
        optimize_instance(inst, self$param_set$values, function(bandit) self$bandit <- bandit)
      },
      .assign_result = function(inst) assign_found(inst, self$param_set$values, self$bandit),
      deep_clone = copied_with_bandit
    )
  )
}

# For `$clone(deep = TRUE)`: the clone gets a copy of the bandit. (R6 calls this function in the object's environment;
# some versions of bbotk lack such a method.)
copied_with_bandit <- function(name, value) {
  if (is_bandit(value)) return(value$copy())
  if (is.function(super$deep_clone)) return(super$deep_clone(name, value))
  if (inherits(value, "R6")) value$clone(deep = TRUE) else value
}

optimizer_settings <- function() {
  paradox::ps(n_initial = paradox::p_int(1L), policy = paradox::p_uty(),
              model = paradox::p_uty(custom_check = is_model_setting),
              control = paradox::p_uty(custom_check = is_control_setting), fixed = paradox::p_uty())
}

# Checks in the form that paradox expects: TRUE or an error message.
is_model_setting <- function(x) setting_fault(check_class(x, "gp_model", "model", hint = "gp_model()"))

is_control_setting <- function(x) {
  setting_fault(check_control(x, "pending", "opt(\"gp_bandit\") and tnr(\"gp_bandit\")"))
}

setting_fault <- function(check) {
  catch_error({
    check
    TRUE
  }, message_of)
}

bandit_tuner <- function() {
  R6::R6Class("TunerBatchGPBandit", inherit = mlr3tuning::TunerBatchFromOptimizerBatch,
    public = list(initialize = function() {
      super$initialize(optimizer = bbotk::opt("gp_bandit"), man = "gpbandits::mlr3-integration")
    }),
    active = bandit_of_optimizer
  )
}

# The bandit of a tuner is the bandit of its optimiser.
bandit_of_optimizer <- list(bandit = function(rhs) {
  if (!missing(rhs)) stop_argument("bandit", "assigned", "read only")
  private$.optimizer$bandit
})

# Runs until bbotk ends the optimisation. `keep`: a function that is called once, with the new bandit.
optimize_instance <- function(inst, settings, keep) {
  if (identical(settings$result, "posterior") && length(inst$archive$cols_y) > 1) {
    stop_argument("result", "\"posterior\" for several targets", "\"observed\"")
  }
  budget <- instance_budget(inst, settings)
  if (!is.null(budget)) return(optimize_with_budget(inst, settings, keep, budget))
  domain <- search_space(inst$search_space, transformed = FALSE)
  bandit <- instance_bandit(domain, settings, inst)
  keep(bandit)
  # bbotk ends the optimisation by a condition, which can be raised at any point of the loop.
  on.exit(record_rest(bandit, domain, inst))
  known <- earlier_evaluations(inst, domain)
  missing <- max(0, instance_design(inst, domain, settings) - nrow(known$values))
  design <- if (missing > 0) instance_points(bandit, missing, settings$fixed)
  values <- known$values
  for (rows in split(seq_len(missing), (seq_len(missing) - 1) %/% settings$batch_size)) {
    values <- rbind(values, evaluate_batch(inst, design[rows, , drop = FALSE]))
  }
  add_batch(bandit, rbind(known$x, design), rewards_reported(values, inst, bandit))
  while (!is_exhausted(as.environment(bandit))) {
    asked <- bandit$suggest(settings$batch_size, fixed = settings$fixed)
    found <- evaluate_batch(inst, asked[domain$names])
    record_batch(bandit, asked$id, rewards_reported(found, inst, bandit))
  }
}

# ---- budgets --------------------------------------------------------------------------

# The parameter that is tagged "budget" and not fixed: its name `id` and settings of a fidelity; NULL if there is none.
instance_budget <- function(inst, settings, supported = length(inst$archive$cols_y) == 1) {
  space <- inst$search_space
  id <- setdiff(space$ids(tags = "budget"), names(settings$fixed))
  if (length(id) == 0) return(NULL)
  refuse <- function(given, allowed) {
    stop_argument("search_space", given, allowed, try = sprintf("`fixed = list(%s = )`", id[1]))
  }
  tagged <- sprintf("one whose %s has the tag \"budget\"", paste(id, collapse = " and "))
  if (!supported) refuse(tagged, "one without budgets, with several targets or asynchronously")
  if (length(id) > 1) refuse(tagged, "one with a single budget")
  trafo <- space$params$.trafo[[match(id, space$params$id)]]
  cost <- function(z) if (is.function(trafo)) vapply(z, function(one) as.double(trafo(one)), 0) else z
  lower <- space$lower[[id]]
  if (!isTRUE(all(is.finite(cost(c(lower, space$upper[[id]]))))) || cost(lower) <= 0 || length(space$ids()) < 2) {
    refuse(sprintf("one whose budget %s is from %g to %g", id, lower, space$upper[[id]]),
           "one with finite budgets > 0, and further parameters")
  }
  list(id = id, fidelity = complete_fidelity(lower, space$upper[[id]], cost, integer = space$class[[id]] == "ParamInt"))
}

# The parameters that are searched.
space_without <- function(space, id) {
  search_space(if (is.null(id)) space else space$clone(deep = TRUE)$subset(setdiff(space$ids(), id)),
               transformed = FALSE)
}

# As maximize_over_fidelities(). Suggestions are withdrawn, and the archive's evaluations are added with their fidelity.
optimize_with_budget <- function(inst, settings, keep, budget) {
  domain <- space_without(inst$search_space, budget$id)
  bandit <- instance_bandit(domain, settings, inst, contexts = budget$id,
                            context_sides = stats::setNames(1, budget$id))
  keep(bandit)
  search <- list(bandit = bandit, fidelity = budget$fidelity)
  seen <- 0
  record <- function() {
    status <- own_history(as.environment(bandit))$status
    if (any(status == "pending")) bandit$withdraw(which(status == "pending"))
    new <- as.data.frame(inst$archive$data)[seq_len(inst$archive$n_evals) > seen, , drop = FALSE]
    if (nrow(new) == 0) return(invisible())
    seen <<- seen + nrow(new)
    add_evaluated(bandit, read_inputs(domain, new[domain$names], "instance"),
                  rewards_reported(target_values(inst, new), inst, bandit),
                  contexts = matrix(model_fidelity(budget$fidelity, as.double(new[[budget$id]]))))
  }
  on.exit(record())
  evaluate <- function(x, z) {
    x[[budget$id]] <- if (budget$fidelity$integer) as.integer(z) else z
    evaluate_batch(inst, x)
    record()
  }
  missing <- max(0, instance_design(inst, domain, settings) - inst$archive$n_evals)
  record()
  if (missing > 0) {
    first <- instance_points(bandit, missing, settings$fixed, context = 1)
    evaluate_design(first, settings$batch_size, budget, evaluate)
  }
  while (!is_exhausted(as.environment(bandit), 1)) {
    x <- bandit$suggest(settings$batch_size, context = 1, fixed = settings$fixed)[domain$names]
    evaluate(x, vapply(seq_len(nrow(x)), function(k) worthwhile_fidelity(search, x[k, , drop = FALSE]), 0))
  }
}

# Fidelities from the smallest to the largest in equal numbers.
evaluate_design <- function(x, batch_size, budget, evaluate) {
  z <- sample(rep_len(user_fidelity(budget$fidelity, seq(0, 1, length.out = max(2, nrow(x)))), nrow(x)))
  for (rows in split(seq_along(z), (seq_along(z) - 1) %/% batch_size)) evaluate(x[rows, , drop = FALSE], z[rows])
}

# The result of a run: with `result = "posterior"` the recommended point; with a budget the best of the largest one.
assign_found <- function(inst, settings, bandit) {
  budget <- instance_budget(inst, settings)
  rewards <- function(data) rewards_reported(target_values(inst, data), inst, bandit)
  known <- inst$archive$n_evals > 0 && length(inst$archive$cols_y) == 1 && any(is.finite(rewards(inst$archive$data)))
  if (!known || identical(settings$result, "observed") && is.null(budget)) return(bbotk::assign_result_default(inst))
  if (identical(settings$result, "posterior")) {
    best <- bandit$best(context = if (!is.null(budget)) 1)
    if (nrow(best) == 0) return(bbotk::assign_result_default(inst))
    x <- best[bandit$config$domain$names]
    if (!is.null(budget)) x[[budget$id]] <- budget$fidelity$target
    y <- own_columns(best, given_names(bandit$config))$mean * target_signs(inst)[[1]]
  } else {
    at <- which(inst$archive$data[[budget$id]] == budget$fidelity$target)
    at <- at[which.min(rewards(inst$archive$data[at, ]))]
    if (length(at) == 0) return(bbotk::assign_result_default(inst))
    x <- as.data.frame(inst$archive$data)[at, inst$archive$cols_x]
    y <- target_values(inst, inst$archive$data[at, ])[1]
  }
  if (!is.null(budget) && budget$fidelity$integer) x[[budget$id]] <- as.integer(x[[budget$id]])
  inst$assign_result(data.table::as.data.table(x)[, inst$archive$cols_x, with = FALSE],
                     stats::setNames(y, inst$archive$cols_y))
}

# Values that are not numbers are recorded as failures.
record_batch <- function(bandit, id, rewards) {
  if (!is.matrix(rewards)) return(observe_evaluated(bandit, id, rewards))
  for (k in seq_along(id)) record_values(as.environment(bandit), id[k], rewards[k, ])
}

add_batch <- function(bandit, x, rewards) {
  if (NROW(rewards) == 0) return(invisible())
  if (!is.matrix(rewards)) return(add_evaluated(bandit, x, rewards))
  failed <- rowSums(!is.na(rewards)) == 0
  add_outcomes_in_order(bandit, list(x = x, values = rewards, failed = failed, broken = is.na(rewards) & !failed,
                                     under_way = is.na(rewards) & FALSE))
}

# Records the evaluations that are not yet in the bandit because bbotk ended the run first. Withdraws the suggestions
# that were not evaluated.
record_rest <- function(bandit, domain, inst) {
  status <- own_history(as.environment(bandit))$status
  open <- which(status == "pending")
  if (length(open)) bandit$withdraw(open)
  done <- earlier_evaluations(inst, domain)
  reported <- seq_len(nrow(done$values)) <= sum(status %in% c("observed", "partial", "failed"))
  if (any(!reported)) {
    add_batch(bandit, done$x[!reported, , drop = FALSE],
              rewards_reported(done$values[!reported, , drop = FALSE], inst, bandit))
  }
  if (nrow(done$values) && !any(is.finite(done$values))) {
    warn_of_failures(failure_text(paste("returned", done$values[, 1])))
  }
}

instance_bandit <- function(domain, settings, inst, ...) {
  outcomes <- instance_outcomes(inst, domain)
  policy <- if (is.null(settings$policy)) default_policy(outcomes) else settings$policy
  scaled_bandit(domain, "minimize", or_else(settings$model, gp_model()), policy,
                or_else(settings$control, search_control())$pending, outcomes = outcomes, ...)
}

# The outcomes if there are several targets; NULL for one target.
instance_outcomes <- function(inst, domain) {
  targets <- inst$archive$cols_y
  if (length(targets) == 1) return(NULL)
  taken <- !vapply(targets, function(name) is.null(name_taken_by(name, list(domain = domain))), NA)
  outcomes <- lapply(target_signs(inst), function(sign) if (sign < 0) to_maximize() else to_minimize())
  stats::setNames(outcomes, paste0(ifelse(taken, ".", ""), targets))
}

# The sign of each target for bbotk, -1 if it is maximised. (bbotk's instances for batches have them as a field, those
# for asynchronous workers do not.)
target_signs <- function(inst) {
  vapply(inst$objective$codomain$tags[inst$archive$cols_y], function(tags) if ("maximize" %in% tags) -1 else 1, 0)
}

instance_design <- function(inst, domain, settings) {
  if (is.null(settings$n_initial)) design_size(NULL, domain, most_evaluations(inst), 1) else settings$n_initial
}

# Points of the initial design, with the fixed inputs at their given values.
instance_points <- function(bandit, count, fixed, context = NULL) {
  inside <- as.environment(bandit)
  domain <- inside$config$domain
  contexts <- with_fixed(contexts_for(inside, context, 1L), inside, fixed)
  user_inputs(domain, moved_points(inside, design_points(domain, count), contexts))
}

evaluate_batch <- function(inst, x) target_values(inst, inst$eval_batch(data.table::as.data.table(x)))

# A matrix: one row per evaluation, one column per target.
target_values <- function(inst, data) {
  values <- as.data.frame(data)[inst$archive$cols_y]
  matrix(as.double(unlist(values)), nrow(values), length(values))
}

# The rewards of the bandit for `values`. A single target becomes a cost by bbotk's sign; several targets become a
# matrix of unchanged values. NA means that the evaluation failed.
rewards_reported <- function(values, inst, bandit) {
  values[!is.finite(values)] <- NA
  if (ncol(values) == 1) return(target_signs(inst)[[inst$archive$cols_y]] * values[, 1])
  colnames(values) <- outcome_names(bandit$config)
  values
}

# The earlier evaluations of the instance, with bbotk's columns read as inputs of the domain.
earlier_evaluations <- function(inst, domain) {
  archive <- inst$archive
  if (archive$n_evals == 0) return(list(x = NULL, values = matrix(0, 0, length(archive$cols_y))))
  x <- read_inputs(domain, as.data.frame(archive$data)[domain$names], "instance")
  list(x = x, values = target_values(inst, archive$data))
}

# The number of evaluations at which the terminator stops; Inf if it uses another criterion.
most_evaluations <- function(inst) {
  n <- if (inherits(inst$terminator, "TerminatorEvals")) inst$terminator$param_set$values$n_evals
  if (is.null(n)) Inf else n
}

# ---- asynchronous: workers that share an archive in Redis --------------------------------

async_optimizer <- function() {
  R6::R6Class("OptimizerAsyncGPBandit", inherit = bbotk::OptimizerAsync,
    public = list(
      bandit = NULL,
      initialize = function() {
        super$initialize(
          id = "async_gp_bandit", param_set = optimizer_settings(),
          param_classes = c("ParamLgl", "ParamInt", "ParamDbl", "ParamFct"),
          properties = c("dependencies", "single-crit", "multi-crit", "async"),
          packages = c("rush", "gpbandits"), label = "Asynchronous Gaussian-process bandit",
          man = "gpbandits::mlr3-integration"
        )
      },
      optimize = function(inst) {
        instance_budget(inst, self$param_set$values, supported = FALSE)
        domain <- search_space(inst$search_space, transformed = FALSE)
        missing <- max(0, instance_design(inst, domain, self$param_set$values) - inst$archive$n_evals)
        reported <- archive_reader(domain, self$param_set$values, inst)
        design <- if (missing > 0) instance_points(reported$bandit, missing, self$param_set$values$fixed)
        found <- bbotk::optimize_async_default(inst, self, if (!is.null(design)) data.table::as.data.table(design))
        record_archive(reported, as.data.frame(inst$archive$data), domain, inst)
        self$bandit <- reported$bandit
        found
      }
    ),
    private = list(.optimize = function(inst) work_on_instance(inst, self$param_set$values),
                   deep_clone = copied_with_bandit)
  )
}

async_tuner <- function() {
  R6::R6Class("TunerAsyncGPBandit", inherit = mlr3tuning::TunerAsyncFromOptimizerAsync,
    public = list(initialize = function() {
      super$initialize(optimizer = bbotk::opt("async_gp_bandit"), man = "gpbandits::mlr3-integration")
    }),
    active = bandit_of_optimizer
  )
}

# The work of one worker: first the points of the initial design, then the suggestions of the worker's bandit. Each
# worker has a bandit, which receives the started and finished evaluations of all workers.
work_on_instance <- function(inst, settings) {
  # (bbotk's optimisers also use these private methods.)
  instance <- inst$.__enclos_env__$private
  instance$.eval_queue()
  domain <- search_space(inst$search_space, transformed = FALSE)
  reported <- archive_reader(domain, settings, inst)
  while (!inst$is_terminated) {
    record_archive(reported, as.data.frame(inst$archive$data), domain, inst)
    if (is_exhausted(as.environment(reported$bandit))) break
    asked <- reported$bandit$suggest(fixed = settings$fixed)
    # The evaluation is later read from the archive, like those of the other workers.
    reported$bandit$withdraw(asked$id)
    instance$.eval_point(as.list(asked[domain$names]))
  }
}

archive_reader <- function(domain, settings, inst) {
  list2env(list(bandit = instance_bandit(domain, settings, inst), ids = integer(), open = character()),
           parent = emptyenv())
}

# `reported`: an environment with a bandit, the bandit's ids named by the keys of the archive's points, and the keys of
# the evaluations that are still running.
record_archive <- function(reported, data, domain, inst) {
  data <- data[data$state %in% c("running", "finished", "failed"), ]
  new <- !data$keys %in% names(reported$ids)
  if (any(new)) {
    first <- nrow(reported$bandit$history())
    reported$bandit$add(x = read_inputs(domain, data[new, domain$names, drop = FALSE], "instance"))
    reported$ids <- c(reported$ids, stats::setNames(first + seq_len(sum(new)), data$keys[new]))
    reported$open <- c(reported$open, data$keys[new])
  }
  ended <- data[data$keys %in% reported$open & data$state != "running", ]
  if (nrow(ended) == 0) return(invisible())
  values <- target_values(inst, ended)
  values[ended$state == "failed", ] <- NA
  record_batch(reported$bandit, unname(reported$ids[ended$keys]), rewards_reported(values, inst, reported$bandit))
  reported$open <- setdiff(reported$open, ended$keys)
}
