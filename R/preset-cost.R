# Expected improvement per learned cost: gp_ei(cost = "learned").

gp_ei_learned_cost <- function(domain, kernel, noise_var, cost_kernel, cost_noise_var, cost_mean, ..., mean = 0,
                               contexts = NULL, journal = NULL) {
  check_rival_dots(..., allowed = names(formals(gp_ei_learned_cost)))
  parts <- gp_rival_parts(domain, kernel, noise_var, NULL, 1, mean, cost_kernel, cost_noise_var, NULL, cost_mean)
  new_rival("ei_cost", parts$domain, 1, contexts, parts$models, journal = journal)
}

propose_ei_cost <- function(rival, context) {
  models <- models_of(rival)
  played <- seq_len(table_size(rival$queries))
  f <- function(places) model_posterior(models[[1]], places, context)
  target <- if (length(played)) max(f(logged_places(rival, played))$mean) else models[[1]]$config$mean[1]
  score <- function(places) {
    p <- f(places)
    log_improvement(p$mean - target, p$sd) - model_posterior(models[[2]], places, context)$mean
  }
  list(place = best_place(rival, score, scale = 1)$places, memory = rival$memory, phase = "policy")
}

# log E max(gap + sd Z, 0), also where it underflows: phi(z) (1 + z Phi(z) / phi(z)), which is phi(z) / z^2 far below.
log_improvement <- function(gap, sd) {
  z <- gap / sd
  ratio <- exp(stats::pnorm(z, log.p = TRUE) - stats::dnorm(z, log = TRUE))
  left <- ifelse(z < -100, 1 / z^2, 1 + z * ratio)
  ifelse(sd > 0, log(sd) + stats::dnorm(z, log = TRUE) + log(left), log(pmax(gap, 0)))
}
