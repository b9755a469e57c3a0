# Expected improvement per learned cost. Layer: algorithms.

# gp_ei(cost = "learned") is a rule in R (bandit-script.R). Costs are reported as a constraint column, and its second
# model fits their logarithm. The core computes the acquisition value (point_of_sum()).

gp_ei_learned_cost <- function(domain, kernel, noise_var, cost_kernel, cost_noise_var, cost_mean, ..., mean = 0,
                               contexts = NULL, journal = NULL, trust = FALSE) {
  check_script_dots(..., allowed = names(formals(gp_ei_learned_cost)))
  parts <- gp_script_parts(domain, kernel, noise_var, NULL, 1, mean, cost_kernel, cost_noise_var, NULL, cost_mean)
  new_script_bandit("ei_cost", parts$domain, 1, contexts, parts$models, journal = journal, trust = trust)
}

# The score: log EI of f above its largest posterior mean at a queried point, minus the posterior mean of log cost.
propose_ei_cost <- function(bandit, context) {
  models <- models_of(bandit)
  played <- seq_len(table_size(bandit$queries))
  target <- if (length(played)) max(model_posterior(models[[1]], logged_points(bandit, played), context)$mean)
            else models[[1]]$config$mean[1]
  list(point = point_of_sum(bandit, models, context, c(1, -1), target = target), memory = bandit$memory,
       phase = "policy")
}

register_script("ei_cost", list(
  title = "expected improvement per learned cost",
  phases = function(count) "policy",
  state = function(config) list(),
  suggest = function(bandit, context) propose_ei_cost(bandit, context),
  recommend = function(bandit, context) recommend_by_shown(bandit, context),
  learns = function(j, values) if (j == 2) log(values) else values,
  checks = function(costs) check_numbers(costs, "constraints", lower = 0, open_lower = TRUE),
  random = FALSE
))
