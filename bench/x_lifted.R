# Why are promises broken? Searches of bench/promise.R with what the final fit takes for noise, and their promises under
# other assumptions. Rows are appended to `out`, in units of the truth's sd over the space.
#   Rscript bench/promise_causes.R case=bbob1@2 seeds=97:120 evaluations=20 out=FILE      searches
#   Rscript bench/promise_causes.R report=TRUE out=FILE                                   the table of its searches
#
# `how`: `search` (the result's value, with the posterior sd), `again` (one more refit), `wide` (one more refit, with
# one wide prior of the noise variance). `diff`: promise less truth; `sd`: of the posterior; `fitted`: noise sd of the
# final fit at the promise; `noise`: the true one; `quiet`: the weight of models with less than a third of it; `rough`:
# that of models with nu < 2; `own`: the error of the mean measurement at the recommended point; `best`: that of the
# best measurement. The report adds parts of the fitted noise variance to the promise's variance.
script <- readLines("bench/promise.R")
eval(parse(text = utils::head(script, -1)))                        # all but its last line, which runs it
args <- arguments(case = "bbob1@2", seeds = "1:24", evaluations = "20", out = "", report = "FALSE")

priors <- list()

# Of the models in force: weights, noise sds in the rewards' units at `value`, and nu.
models_at <- function(bandit, value) {
  config <- gpbandits:::current_config(as.environment(bandit))
  models <- if (is.null(config$models)) list(c(config[c("noise_var", "kernel")], weight = 1)) else config$models
  of <- function(name) vapply(models, `[[`, 0, name)
  slope <- abs(gpbandits:::cpp_output_slopes(config$output_map, value))
  list(weight = of("weight") / sum(of("weight")), sd = sqrt(of("noise_var")) / slope,
       nu = vapply(models, function(model) if (is.null(model$kernel$nu)) 2.5 else model$kernel$nu, 0),
       kind = gpbandits:::map_kind(config$output_map))
}

promises_of <- function(name, seed, evaluations) {
  set.seed(seed)
  case <- case_of(name, seed)
  as_played <- if (is.null(case$as_played)) identity else case$as_played
  truth_of <- function(frame) vapply(seq_len(nrow(frame)), function(i) case$truth(as.list(frame[i, , drop = FALSE])), 0)
  spread <- stats::sd(truth_of(as_played(uniform_points(case$space, 200))))
  unit <- if (spread > 0) spread else case$noise
  measurement <- case$measurement
  if (is.null(measurement)) measurement <- function(p) case$truth(p) + stats::rnorm(1, sd = case$noise)
  set.seed(1000 + seed)
  found <- suppressWarnings(minimize_bandit(measurement, case$space, evaluations, model = gp_model(noise_prior = rbind(c(log(as.numeric(Sys.getenv("MED"))), 3), c(log(0.3), 1.2)))))
  point <- as.data.frame(as.list(found$par))[case$space$names]
  truth <- case$truth(as.list(found$par))
  known <- found$history[!is.na(found$history$reward), c(case$space$names, "reward")]
  same <- gpbandits:::match_frames(known[case$space$names], point) %in% 1
  best <- which.min(known$reward)
  row <- function(how, bandit, mean, sd) {
    at <- models_at(bandit, mean)
    in_units <- function(x) signif(x / unit, 4)
    data.frame(case = name, seed = seed, evaluations = evaluations, how = how, diff = in_units(mean - truth),
               sd = in_units(sd), fitted = in_units(sqrt(sum(at$weight * at$sd^2))), noise = in_units(case$noise),
               quiet = round(sum(at$weight[at$sd < case$noise / 3]), 2), rough = round(sum(at$weight[at$nu < 2]), 2),
               kind = at$kind, repeats = sum(same), own = in_units(mean(known$reward[same]) - truth),
               best = in_units(known$reward[best] - truth_of(known[best, case$space$names, drop = FALSE])))
  }
  rows <- list(row("search", found$bandit, found$value, predict(found, point)$sd))
  for (how in names(priors)) {
    bandit <- auto_bandit(case$space, known, direction = "minimize", n_initial = 0,
                          model = gp_model(noise_prior = priors[[how]]))
    bandit$suggest()
    at <- bandit$posterior(point)
    rows <- c(rows, list(row(how, bandit, at$mean, at$sd)))
  }
  do.call(rbind, rows)
}

report <- function(rows, parts = c(0, 0.1, 0.2)) {
  for (some in split(rows, paste(rows$case, rows$evaluations, rows$how))) for (part in parts) {
    sd <- sqrt(some$sd^2 + part * some$fitted^2)
    z <- abs(some$diff / sd)
    cat(sprintf("%-10s %3d %-7s part %.1f %3d searches  within 2 sd %.2f  beyond 3 %.2f  log density %6.2f\n",
                some$case[1], some$evaluations[1], some$how[1], part, nrow(some), mean(z <= 2), mean(z > 3),
                mean(stats::dnorm(some$diff, 0, sd, log = TRUE))))
  }
}

if (args$report == "TRUE") {
  report(utils::read.csv(args$out))
} else {
  for (seed in numbers(args$seeds)) keep_rows(promises_of(args$case, seed, numbers(args$evaluations)), args$out)
}
