# The stored results of the article on environments that change, with its own code, read from it:
# Figures 1 to 3 (64 runs each), the baselines (16 runs) and Figure 1 with other constants. From the package's root, gpbandits installed:
#   Rscript vignettes/precompute/nonstationary.R                      (everything: about ten minutes of one core)
#   Rscript vignettes/precompute/nonstationary.R runs figure3         (some: runs, figure3, baselines, sensitivity)
# Writes inst/extdata/nonstationary-*.csv.xz.
library(gpbandits)
source("vignettes/precompute/results.R")
shown_with("nonstationary")
run_chunks("nonstationary", c("method", "problems", "experiment3"))
horizons <- c(900, 1275, 1650, 2025, 2400)
periods <- 3:9

store <- function(name, table, about) {
  write_results(paste0("nonstationary-", name), table, about, "nonstationary.R", proc.time()[["user.self"]] - started, digits = 5)
}

one_cell <- function(rounds, K, seed, bandit = cpd(rounds)) {
  comparison <- compare_bandits(list(cpd = bandit), problems(rounds, K, seed), rounds, replications, seed, every = 25)
  finals(comparison, rounds, K)
}

# Mean curves, and the restarts so far.
curves_of <- function(comparison, experiment) {
  runs <- as.data.frame(comparison)
  by <- list(round = runs$round, bandit = runs$bandit)
  out <- aggregate(list(mean = runs$cumulative_regret), by, mean)
  out$se <- aggregate(list(se = runs$cumulative_regret), by, function(r) sd(r) / sqrt(length(r)))$se
  out$restarts <- aggregate(list(v = runs$segment - 1), by, mean)$v
  cbind(experiment = experiment, out)
}

# ---- Figures 1 and 2 -------------------------------------------------------------------------------------------------
figures12 <- function() {
  cells <- c(lapply(horizons, function(rounds) cbind(experiment = 1, size = rounds, one_cell(rounds, 3, rounds))),
             lapply(periods, function(K) cbind(experiment = 2, size = K, one_cell(2700, K, K))))
  store("runs", do.call(rbind, cells), "Final regret, share of changes found and other restarts of every run of Figures 1 and 2 (64 runs; seeds: the sizes)")
}

# ---- Figure 3 and the baselines ------------------------------------------------------------------------------------------
figure3 <- function() {
  third <- compare_bandits(rules, problems(rounds, K, seed = 33), rounds, replications, seed = 33, every = 10)
  runs <- as.data.frame(third)
  at <- function(round) runs[runs$round == round, ]
  saveRDS(curves_of(third, "figure 3"), "build/nonstationary-figure3.rds")
  store("figure3", data.frame(bandit = as.character(at(300)$bandit), run = at(300)$replication, regret300 = at(300)$cumulative_regret,
                                      regret1200 = at(1200)$cumulative_regret),
                "Regret of every run of Figure 3 before the first change and at the end (64 runs, seed 33)")
}
baselines_here <- function() {
  run_chunks("nonstationary", "baselines")
  jumps <- compare_bandits(baselines, jumping, rounds, runs_of_baselines, seed = 33, every = 50)
  drift <- compare_bandits(baselines, drifting, rounds, runs_of_baselines, seed = 35, every = 50)
  store("curves", rbind(readRDS("build/nonstationary-figure3.rds"), curves_of(jumps, "jumps"), curves_of(drift, "drift")),
                "Mean cumulative regret of Figure 3 (64 runs, seed 33) and of the baselines under jumps (16 runs, seed 33) and drift (16 runs, seed 35)")
}

# ---- Figure 1 with other constants ---------------------------------------------------------------------------------------
sensitivity <- function() {
  settings <- data.frame(                                   # theta_q = C q^(-6/7), ridge c q^(1/7), sigma^2
    c = c(1, 4, 2, 2, 2, 2, 5, 10, 2),
    C = c(2.6, 2.6, 2.6, 2.6, 2.6, 2.6 / 5, 2.6 / 5, 2.6 / 5, 2.6 / 2),
    factor = c(1, 1, 1, 6, 6, 1, 1, 1, 1),                  # sigma^2 = factor g^2 (log T)^power
    power = c(1, 1, 0, 0, 1, 1, 1, 1, 1)
  )
  rows <- lapply(seq_len(nrow(settings)), function(i) {
    s <- settings[i, ]
    cells <- lapply(horizons, function(rounds) {
      one_cell(rounds, 3, rounds, cpd(rounds, detector(s$c, s$C), s$factor * g^2 * log(rounds)^s$power))
    })
    fit <- power_law(horizons, lapply(cells, `[[`, "regret"))
    print(data.frame(s, first = fit$mean[1], last = fit$mean[5], constant = fit$C, exponent = fit$exponent, low = fit$low,
               high = fit$high, found = mean(vapply(cells, function(cell) mean(cell$found), 0)),
               other = mean(vapply(cells, function(cell) mean(cell$other), 0))))
  })
  store("sensitivity", do.call(rbind, rows), "Figure 1 with other constants (seeds: the horizons, 64 runs per horizon)")
}

parts <- list(runs = figures12, figure3 = figure3, baselines = baselines_here, sensitivity = sensitivity)
wanted <- commandArgs(TRUE)
if (length(wanted) == 0) wanted <- names(parts)
for (name in wanted) {
  started <- proc.time()[["user.self"]]
  parts[[name]]()
  message(name, " done")
}
