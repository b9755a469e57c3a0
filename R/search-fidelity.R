# Searches with cheap approximations of the objective. Layer: search.

#' Multi-fidelity optimisation with cheap approximations
#'
#' With `fidelity`, a search evaluates cheap approximations of the objective, such as fewer epochs or less data.
#'
#' `fidelity` is an argument of [maximize_bandit()] and [minimize_bandit()]. The objective is `f(x, z)`. The fidelity
#' \eqn{z} is a number, such as a sample size, a number of epochs or a resolution. Both the cost and the accuracy of an
#' evaluation increase with it. The search is for the best \eqn{x} at the target fidelity. The budget `evaluations` is
#' in evaluations at the target.
#'
#' @section Settings: `fidelity = c(lower, target)`, or a list that begins with these two numbers and continues by name,
#'   such as `list(2, 200, log = TRUE, integer = TRUE)`.
#'
#' * `lower`: the cheapest fidelity, a number.
#' * `target`: the fidelity of interest, a number > `lower`.
#' * `cost`: a function of a vector of fidelities that returns costs > 0, in any unit. `NULL`, the default: estimated
#'   from run times or reported costs, see *Cost*.
#' * `log`: `TRUE`: equal ratios of fidelities are equal distances; `lower` must be > 0. `FALSE`, the default: equal
#'   differences are.
#' * `integer`: `TRUE`: only integer fidelities are used. `FALSE`, the default: any number.
#' * `threshold`: \eqn{c} in the formula below, a number > 0; 1 by default. Smaller values use more and cheaper
#'   evaluations.
#'
#' Sources without order, such as a simulation and a plant, are given by their names, the last of which is the target:
#' `fidelity = list(c("simulation", "pilot", "plant"), cost = c(1, 8, 40))`. `cost` has a number for each. Without a
#' cost, `fidelity = c("simulation", "plant")` is enough. The objective is `f(x, "simulation")`. The sources are levels
#' of a factor, whose correlations are estimated, and the rule below applies to them.
#' @section Method:
#' BOCA (Kandasamy et al. 2017), with the rule of its authors' program. \eqn{z} is an additional input of the Gaussian
#' process. The policy selects \eqn{x} as if all evaluations were at the target \eqn{z_\bullet}{z.}. Then the cheapest
#' \eqn{z} is used with
#' \deqn{\sigma(x, z) > c\,\sigma_0 \sqrt{\lambda(z)/\lambda(z_\bullet)}\;\xi(z), \qquad \xi(z) = \sqrt{1 - k_Z(z,
#' z_\bullet)^2}.}{sd(x, z) > c sd_0 sqrt(cost(z) / cost(z.)) xi(z), xi(z) = sqrt(1 - k_Z(z, z.)^2).}
#' \eqn{\sigma}{sd} is the posterior sd and \eqn{\sigma_0}{sd_0} the prior sd. \eqn{k_Z}{k_Z} is the correlation of the
#' values at \eqn{z} and at the target, and \eqn{\lambda}{cost} the cost. So a cheap evaluation is made if it is still
#' informative and costs less than the information that it leaves open. The target is used if there is no such \eqn{z},
#' or none that costs less than 0.9 of the target. With several models, sds and \eqn{k_Z}{k_Z} are those of the
#' average. (In the paper the exponent is \eqn{1/(p + d + 2)}{1 / (p + d + 2)} instead of the square root.)
#'
#' The initial design uses fidelities from the cheapest to the target in equal numbers. An evaluation below the target
#' is never `observed`.
#' @section Cost:
#' Without `cost`, it is estimated from the seconds that evaluations take, or from the costs reported by an objective
#' that returns `list(value = , cost = )`. The model is a power law in \eqn{z}, or exponential growth if `lower` <= 0.
#' @section Not available: MF-GP-UCB (Kandasamy et al. 2016), for finitely many fidelities. It needs known bounds on
#'   the difference between each fidelity and the target, in units of the reward. Its theorem and its savings depend on
#'   these bounds.
#' @section Result: The result of a search with `fidelity` has a list `fidelity`:
#'
#' * `target`: the target fidelity.
#' * `spent`: the cost, in evaluations at the target.
#' * `cost_ratio`: a function of fidelities, their cost in evaluations at the target.
#'
#' The history has the columns `fidelity` and `cost` (in the same unit), and the status `"cheap"` below the target. The
#' bandit has the context `fidelity`, 0 at `lower` and 1 at the target, or the name of the source.
#' @section Guarantee: None with fitted hyperparameters.
#' @references Kandasamy, Dasarathy, Schneider and Poczos (2017), Multi-fidelity Bayesian optimisation with continuous
#'   approximations <https://arxiv.org/abs/1703.06240>; the same (2016), Gaussian process bandit optimisation with
#'   multi-fidelity evaluations <https://arxiv.org/abs/1603.06288>.
#' @seealso [maximize_bandit()], [race_folds()].
#' @concept cost of an evaluation
#' @concept multi-fidelity
#' @concept early stopping
#' @concept low-fidelity approximation
#' @examples
#' set.seed(1)
#' f <- function(p, z) (p$x - 2)^2 + 0.3 * (1 - z) * p$x   # z: proportion of the data
#' found <- minimize_bandit(f, list(x = c(1, 3)), evaluations = 8,
#'                          fidelity = list(0.1, 1, cost = function(z) z))
#' found
#' found$history[c("x", "fidelity", "cost", "reward")]
#' @name multi-fidelity
NULL

# The complete list of settings for `fidelity`: NULL, two numbers, or a list that begins with them.
check_fidelity <- function(fidelity) {
  if (is.null(fidelity)) return(NULL)
  allowed <- paste("c(lower, target), or a list of these numbers that may go on with",
                   "`cost`, `log`, `integer` and `threshold`; or names of sources, the last of which is the target")
  sources <- if (is.list(fidelity) && !is.object(fidelity) && length(fidelity)) fidelity[[1]] else fidelity
  if (is.character(sources) || is.factor(sources)) {
    rest <- if (is.list(fidelity)) fidelity[-1] else list()
    if (is.null(names(rest)) && length(rest) || !all(names(rest) %in% names(formals(complete_sources)))) {
      stop_argument("fidelity", describe(fidelity), "list(c(\"simulation\", \"plant\"), cost = c(1, 20))")
    }
    return(do.call(complete_sources, c(list(as.character(sources)), rest), quote = TRUE))
  }
  if (is_number(fidelity)) fidelity <- as.list(fidelity)
  named <- Filter(nzchar, names(fidelity))
  known <- names(formals(complete_fidelity))
  if (!is.list(fidelity) || is.object(fidelity) || !length(fidelity) %in% seq(2, length(known)) ||
      !all(named %in% known) || anyDuplicated(named)) {
    stop_argument("fidelity", describe(fidelity), allowed)
  }
  do.call(complete_fidelity, fidelity, quote = TRUE)
}

complete_fidelity <- function(lower, target, cost = NULL, log = FALSE, integer = FALSE, threshold = 1) {
  lower <- check_number(lower, "fidelity$lower")
  target <- check_number(target, "fidelity$target", lower = lower, open_lower = TRUE)
  list(lower = lower, target = target, cost = check_fidelity_cost(cost, lower, target),
       log = check_fidelity_log(log, lower), integer = check_fidelity_integer(integer, lower, target),
       threshold = check_number(threshold, "fidelity$threshold", lower = 0, open_lower = TRUE))
}

# Sources without order. `cost`: a number for each, by name or in their order.
complete_sources <- function(sources, cost = NULL, threshold = 1) {
  if (length(sources) < 2 || !are_names(sources)) {
    stop_argument("fidelity", describe(sources), "at least two distinct names, the last of which is the target")
  }
  count <- length(sources)
  if (is.function(cost)) cost <- costs_at(cost, sources)
  if (!is.null(cost)) {
    check_numbers(cost, "fidelity$cost", lengths = count, lower = 0, open_lower = TRUE)
    if (!is.null(names(cost)) && !setequal(names(cost), sources)) {
      stop_argument("fidelity$cost", paste("one with the names", quoted(names(cost))), quoted(sources))
    }
    cost <- if (is.null(names(cost))) stats::setNames(cost, sources) else cost[sources]
  }
  list(sources = sources, lower = if (is.null(cost)) sources[1] else names(which.min(cost)), target = sources[count],
       cost = if (!is.null(cost)) function(z) unname(cost[z]),
       threshold = check_number(threshold, "fidelity$threshold", lower = 0, open_lower = TRUE))
}

# The contexts of the bandit, whose values are 0 to 1, or the sources as levels. `name`: their column.
contexts_of_fidelity <- function(fidelity, name) {
  if (is.null(fidelity$sources)) return(list(contexts = name, context_sides = stats::setNames(1, name)))
  list(contexts = stats::setNames(list(fidelity$sources), name), context_sides = stats::setNames(NA_real_, name))
}

# The value of the context at the target.
target_context <- function(fidelity) if (is.null(fidelity$sources)) 1 else fidelity$target

# The cost is checked at both ends; elsewhere it is checked when it is used.
check_fidelity_cost <- function(cost, lower, target) {
  if (is.null(cost)) return(NULL)
  cost <- check_function(cost, "fidelity$cost")
  costs_at(cost, c(lower, target))
  cost
}

costs_at <- function(cost, z) {
  found <- call_user(cost(z), "fidelity$cost", "at a fidelity")
  if (!is.numeric(found) || length(found) != length(z) || any(!is.finite(found)) || any(found <= 0)) {
    stop_returned("fidelity$cost", found, "a cost > 0 for each fidelity", sprintf(" for %s", describe(z)))
  }
  as.double(found)
}

check_fidelity_log <- function(log, lower) {
  check_flag(log, "fidelity$log")
  if (log && lower <= 0) stop_argument("fidelity$log", "TRUE", sprintf("FALSE if `lower` is %s", exact_numbers(lower)))
  log
}

check_fidelity_integer <- function(integer, lower, target) {
  check_flag(integer, "fidelity$integer")
  if (integer && any(c(lower, target) != round(c(lower, target)))) {
    stop_argument("fidelity$integer", "TRUE", "FALSE if `lower` or `target` is not an integer")
  }
  integer
}

# ---- the rule -------------------------------------------------------------------------------

# Fidelities in the model's units: 0 at `lower`, 1 at the target.
model_fidelity <- function(fidelity, z) {
  if (!is.null(fidelity$sources)) return(match(z, fidelity$sources))
  on <- if (fidelity$log) log else identity
  (on(z) - on(fidelity$lower)) / (on(fidelity$target) - on(fidelity$lower))
}

# Converts values from 0 to 1 to fidelities.
user_fidelity <- function(fidelity, s) {
  if (!is.null(fidelity$sources)) return(fidelity$sources)
  z <- if (fidelity$log) fidelity$lower * (fidelity$target / fidelity$lower)^s
       else fidelity$lower + s * (fidelity$target - fidelity$lower)
  z[s == 1] <- fidelity$target
  if (fidelity$integer) unique(round(z)) else z
}

# The index of the fidelity to evaluate, or NA for the target. `sd`: the posterior sd in units of the prior sd. `ratio`:
# the cost relative to the target. `correlation`: the correlation with the target.
cheapest_informative <- function(sd, ratio, correlation, threshold) {
  worth <- which(sd > threshold * boca_bound(ratio, correlation) & ratio < 0.9)
  if (length(worth)) worth[which.min(ratio[worth])] else NA_integer_
}

boca_bound <- function(ratio, correlation) sqrt(ratio) * sqrt(pmax(0, 1 - correlation^2))

# ---- the search ------------------------------------------------------------------------------

check_alone_with_fidelity <- function(fidelity, others) {
  if (is.null(fidelity)) return(invisible())
  given <- names(Filter(Negate(is.null), others))
  if (length(given)) stop_unused(given[1], "it is not supported with `fidelity`")
}

# `rules`: a list of evaluations, design, stop_when, time_limit.
maximize_over_fidelities <- function(objective, bandit, fidelity, rules, control) {
  domain <- bandit$config$domain
  rules <- c(rules, control[c("timeout", "verbose", "progress")])
  search <- list2env(c(rules, list(objective = objective, bandit = bandit, fidelity = fidelity, begun = Sys.time(),
                                   history = fidelity_history(domain, fidelity$target[0]), interrupted = FALSE,
                                   stopped = FALSE,
                                   out_of_time = FALSE, hopeless = NULL)), parent = emptyenv())
  with_bar(if (is.finite(search$evaluations)) search$progress else FALSE, search$evaluations, function(bar) {
    search$bar <- bar
    catch_interrupt(search_fidelities(search), function(i) search$interrupted <- TRUE)
  })
  warn_without_success(search$history, bandit$config, search$hopeless)
  maximum_over_fidelities(search)
}

fidelity_history <- function(domain, fidelities) {
  frame <- known_history(list(x = user_inputs(domain, no_points(domain)), reward = numeric()), domain)
  frame[beside(c("fidelity", "cost"), domain$names)] <- list(fidelities, numeric())
  frame
}

# The package's columns of the history, without inputs.
looks_of <- function(search) own_columns(search$history, search$bandit$config$domain$names)

search_fidelities <- function(search) {
  bandit <- search$bandit
  domain <- bandit$config$domain
  fidelity <- search$fidelity
  points <- drawn_design(domain, search$design)
  levels <- sample(user_fidelity(fidelity, seq(0, 1, length.out = max(2, search$design))))
  for (k in seq_len(nrow(points))) {
    z <- levels[(k - 1) %% length(levels) + 1]
    if (must_end(search, z)) break
    evaluate_at(search, points[k, , drop = FALSE], z)
  }
  while (all(is.na(search$history$reward))) {
    if (must_end(search, fidelity$lower)) return(invisible())
    evaluate_at(search, drawn_design(domain, 1), fidelity$lower)
  }
  add_fidelities(search, seq_len(nrow(search$history)))
  repeat {
    if (must_end(search, fidelity$lower) || fidelity_stops(search)) return(invisible())
    if (is_exhausted(as.environment(bandit), target_context(fidelity))) return(invisible())
    query <- bandit$suggest(context = target_context(fidelity))
    x <- query[domain$names]
    z <- worthwhile_fidelity(search, x)
    if (must_end(search, z)) {
      bandit$withdraw(query$id)
      return(invisible())
    }
    evaluate_at(search, x, z)
    row <- nrow(search$history)
    if (z == fidelity$target) {
      observe_evaluated(bandit, query$id, search$history$reward[row])
    } else {
      # The model makes a suggestion at the target. It is withdrawn, and the evaluation at the lower fidelity is added
      # instead.
      bandit$withdraw(query$id)
      add_fidelities(search, row)
    }
  }
}

add_fidelities <- function(search, rows) {
  config <- search$bandit$config
  z <- looks_of(search)$fidelity[rows]
  contexts <- if (is.null(search$fidelity$sources)) matrix(model_fidelity(search$fidelity, z))
              else stats::setNames(data.frame(z), config$context_names)
  add_evaluated(search$bandit, search$history[rows, config$domain$names, drop = FALSE], search$history$reward[rows],
                contexts = contexts)
}

evaluate_at <- function(search, x, z) {
  began <- proc.time()[["elapsed"]]
  outcome <- evaluate_in_process(search$objective, one_point(search$bandit$config$domain, x), search$timeout, z)
  seconds <- max(proc.time()[["elapsed"]] - began, 1e-3)
  said <- if (is.list(outcome$value)) outcome$value$cost
  if (is.list(outcome$value)) outcome$value <- outcome$value$value
  check_signature(search$objective, outcome$error, "the fidelity")
  found <- read_outcome(outcome, 1)
  cost <- if (!is.null(search$fidelity$cost)) costs_at(search$fidelity$cost, z)
          else if (is.numeric(said) && length(said) == 1 && is.finite(said) && said > 0) as.double(said) else seconds
  if (found$status == "observed" && z != search$fidelity$target) found$status <- "cheap"
  own <- data.frame(reward = found$reward, status = found$status, fidelity = z, cost = cost)
  row <- cbind(as.data.frame(x), distinct_columns(own, search$bandit$config$domain$names))
  row.names(row) <- NULL
  spent <- spent_cost(search)
  search$history <- rbind(search$history, row)
  if (!is.null(search$bar)) search$bar(max(spent_cost(search) - spent, 0))
  if (search$verbose) {
    message(sprintf("%.3g of %g: %s at fidelity %s", spent_cost(search), search$evaluations,
                    if (is.na(found$reward)) found$status else format(found$reward, digits = 6),
                    format(z, digits = 4)))
  }
  search$hopeless <- if (all(is.na(search$history$reward))) reason_of_failures(looks_of(search)$status, search$design)
}

# Costs of fidelities relative to the target. (Before any evaluation: proportional to the fidelity.)
cost_ratios <- function(search, z) {
  fidelity <- search$fidelity
  if (!is.null(fidelity$cost)) return(costs_at(fidelity$cost, z) / costs_at(fidelity$cost, fidelity$target))
  seen <- looks_of(search)
  if (!is.null(fidelity$sources)) {
    # (A source that was not used, or took longer than the target, counts as much as the target.)
    mean_cost <- tapply(seen$cost, factor(seen$fidelity, fidelity$sources), base::mean)
    ratio <- mean_cost / mean_cost[[fidelity$target]]
    return(unname(ifelse(is.na(ratio), 1, pmin(ratio, 1))[match(z, fidelity$sources)]))
  }
  scaled <- if (fidelity$lower > 0) log else function(z) (z - fidelity$lower) / (fidelity$target - fidelity$lower)
  slope <- 1
  if (length(unique(seen$fidelity)) > 1) {
    slope <- max(0, stats::lm.fit(cbind(1, scaled(seen$fidelity)), log(seen$cost))$coefficients[[2]])
  }
  exp(slope * (scaled(z) - scaled(fidelity$target)))
}

# Costs in evaluations at the target. The cost of the target is estimated from the fitted cost model.
costs_in_target <- function(search) {
  cost <- looks_of(search)$cost
  if (length(cost) == 0) return(cost)
  if (!is.null(search$fidelity$cost)) return(cost / costs_at(search$fidelity$cost, search$fidelity$target))
  if (!is.null(search$fidelity$sources)) return(cost_ratios(search, looks_of(search)$fidelity))
  unit <- exp(mean(log(cost) - log(cost_ratios(search, looks_of(search)$fidelity))))
  cost / unit
}

spent_cost <- function(search) sum(costs_in_target(search))

# Is the budget too small for this fidelity, or is there another reason to stop?
must_end <- function(search, z) {
  if (!is.null(search$hopeless) || is_out_of_time(search)) return(TRUE)
  spent_cost(search) + cost_ratios(search, z) > search$evaluations + 1e-9
}

fidelity_stops <- function(search) {
  if (is.null(search$stop_when)) return(FALSE)
  search$stopped <- time_to_stop(search$stop_when, as.environment(search$bandit),
                                 list(history = search$history, bandit = search$bandit))
  search$stopped
}

# The candidates are a hundred fidelities.
worthwhile_fidelity <- function(search, x) {
  fidelity <- search$fidelity
  z <- if (is.null(fidelity$sources)) user_fidelity(fidelity, seq(0, 0.99, by = 0.01))
       else setdiff(fidelity$sources, fidelity$target)
  bandit <- as.environment(search$bandit)
  rebuild(bandit)
  config <- current_config(bandit)
  candidates <- asked_points(config$domain, x[rep(1, length(z)), , drop = FALSE], NULL)
  s <- model_fidelity(fidelity, z)
  sd <- scaled_posterior_at(bandit, candidates, as_codes(matrix(s)))$sd
  here <- asked_points(config$domain, x[rep(1, length(z) + 1), , drop = FALSE], NULL)
  points <- kernel_points(config$domain, here, matrix(c(s, model_fidelity(fidelity, fidelity$target))))
  inputs <- seq_along(input_names(config))
  if (has_matrix(config$kernel)) points[, ncol(points)] <- points[, ncol(points)] + 1
  else points <- points[, inputs, drop = FALSE]
  colnames(points) <- c(input_names(config), if (ncol(points) > length(inputs)) "arm")
  # (With several models this is the covariance of their average.)
  K <- Reduce(`+`, Map(function(one, weight) weight * kernel_gram(one$kernel, points), configs_of_models(config),
                       model_weights(config)))
  n <- length(z) + 1
  correlation <- K[-n, n] / sqrt(diag(K)[-n] * K[n, n])
  at <- cheapest_informative(sd / sqrt(diag(K)[-n]), cost_ratios(search, z), correlation, fidelity$threshold)
  if (is.na(at)) fidelity$target else z[at]
}

# ---- the result ---------------------------------------------------------------------------

maximum_over_fidelities <- function(search) {
  bandit <- search$bandit
  history <- search$history
  config <- bandit$config
  history[[beside("cost", config$domain$names)]] <- cost <- costs_in_target(search)
  context <- target_context(search$fidelity)
  best <- if (any(!is.na(history$reward)) && table_size(bandit$queries)) bandit$best(context = context)
  model_state <- if (!is.null(best)) model_state_of_best(bandit, best)
  at_target <- best_row(ifelse(looks_of(search)$status == "cheap", NA, history$reward), config)
  structure(list(par = if (!is.null(best)) user_point(config$domain, best[config$domain$names]),
                 value = model_state$mean,
                 sd = model_state$sd, observed = if (length(at_target)) history[at_target, ], history = history,
                 bandit = bandit, centre = 0, scale = 1, direction = direction_of(config),
                 interrupted = search$interrupted,
                 stopped = search$stopped, out_of_time = search$out_of_time, certificate = NULL,
                 hopeless = search$hopeless,
                 fidelity = list(target = search$fidelity$target, sources = search$fidelity$sources, spent = sum(cost),
                                 cost_ratio = function(z) cost_ratios(search, z))),
            class = "bandit_maximum")
}

# The context to which the result of a search belongs: the target fidelity.
context_of <- function(found) if (!is.null(found$fidelity)) target_context(found$fidelity) else found$context

describe_fidelity <- function(x) {
  sprintf("%d evaluations at the cost of %.3g at fidelity %s", nrow(x$history), x$fidelity$spent,
          format(x$fidelity$target, digits = 6))
}
