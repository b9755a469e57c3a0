# Results of the article on guarantees: Rscript vignettes/precompute/guarantees.R from the package's root, one to two minutes
# of one processor. Writes vignettes/articles/guarantees.csv, a row per section, problem, rule, measure and round.

library(gpbandits)
started <- proc.time()[[1]]
rounds <- 100
noise_var <- 0.04
R <- sqrt(noise_var)

# ---- three problems: arms, truth, kernel, RKHS norm -----------------------------

norm_of <- function(kernel, x, f) sqrt(drop(crossprod(f, solve(kernel_gram(kernel, x) + diag(1e-9, NROW(x)), f))))

draw_problem <- function(seed) {
  set.seed(seed)
  x <- seq(0, 1, length.out = 80)
  kernel <- kernel_matern(2.5, 0.2)
  f <- drop(sample_gp(kernel, x))
  list(x = x, f = f, kernel = kernel, B = norm_of(kernel, x, f))
}

rkhs_problem <- function(seed) {
  set.seed(seed)
  x <- seq(0, 1, length.out = 80)
  kernel <- kernel_se(0.2)
  f <- sample_rkhs(kernel, x, noise_var = noise_var)
  list(x = x, f = as.vector(f), kernel = kernel, B = attr(f, "norm"))
}

# Maunga Whau's heights on a 40 m grid, in standard deviations.
volcano_map <- local({
  rows <- seq(1, nrow(datasets::volcano), by = 4)
  columns <- seq(1, ncol(datasets::volcano), by = 4)
  x <- as.matrix(expand.grid(north = rows / 10, east = columns / 10))
  height <- as.vector(datasets::volcano[rows, columns])
  f <- (height - mean(height)) / sd(height)
  kernel <- kernel_matern(2.5, gp_fit(x, f, kernel_matern(2.5, 2), noise_var = 1e-4)$kernel$lengthscale)
  list(x = x, f = f, kernel = kernel, B = norm_of(kernel, x, f), level = (150 - mean(height)) / sd(height))
})

problems <- list(
  "prior draws" = list(make = draw_problem, replications = 20),
  "RKHS functions" = list(make = rkhs_problem, replications = 20),
  "Maunga Whau" = list(make = function(seed) volcano_map, replications = 5)
)

# ---- rules ------------------------------------------------------------------------

rules <- list(
  "GP-UCB" = function(p) gp_ucb(p$x, p$kernel, noise_var, width = width_srinivas_finite(0.1)),
  "GP-UCB / 5" = function(p) gp_ucb(p$x, p$kernel, noise_var),
  "IGP-UCB" = function(p) igp_ucb(p$x, p$kernel, noise_var, B = p$B, R = R),
  "AMM" = function(p) gp_ucb(p$x, p$kernel, noise_var, width = width_amm(p$B, R)),
  "IRGP-UCB" = function(p) gp_ucb(p$x, p$kernel, noise_var, width = width_irgp()),
  "GP-TS" = function(p) igp_ts(p),
  "PIMS" = function(p) gp_bandit(p$x, p$kernel, noise_var, policy_pims()),
  "MINI" = function(p) gp_bandit(p$x, p$kernel, noise_var, policy_repeats(policy_ucb(width_amm(p$B, R)), 1.5)),
  "LB-GP-UCB" = function(p) gp_ucb_lengthscale(p$x, longer(p$kernel), noise_var, B = p$B, R = R, method = "balanced"),
  "BPE" = function(p) bpe(p$x, p$kernel, noise_var, rounds, B = p$B, R = R),
  "EI" = function(p) gp_ei(p$x, p$kernel, noise_var),
  "uniform" = function(p) gp_bandit(p$x, p$kernel, noise_var, policy_uniform())
)
igp_ts <- function(p) gp_ts(p$x, p$kernel, noise_var, B = p$B, R = R)
# The true lengthscale is a third of what the rule is told.
longer <- function(kernel) kernel_of(kernel, kernel$lengthscale * 3)
kernel_of <- function(kernel, lengthscale) {
  if (kernel$type == "se") kernel_se(lengthscale) else kernel_matern(kernel$nu, lengthscale)
}

# Mean and sd that a rule's width belongs to: the posterior of all rewards, but for BPE, which decides by those of a batch
# alone, at its end, and for LB-GP-UCB, which plays with one of several lengthscales.
batch_ends <- cumsum(local({
  sizes <- integer()
  while (sum(sizes) < rounds) {
    size <- ceiling(sqrt(rounds * if (length(sizes)) size else 1))
    sizes <- c(sizes, min(size, rounds - sum(sizes)))
  }
  sizes
}))
moments <- function(p, kernel, arms, y) {
  fit <- predict(gp_regression(x = as.matrix(p$x)[arms, , drop = FALSE], y, kernel, noise_var), p$x)
  if (is.data.frame(fit)) fit else data.frame(mean = fit$fit, sd = fit$se.fit)
}
# Did the interval that the choice of round t went by hold f? NULL where none is looked at. `before`: the posterior then.
holds <- function(bandit, p, t, arms, y, before) {
  history <- bandit$history()
  phase <- history$phase[t]
  if (is.null(phase)) {
    if (is.null(before)) return(NULL)
    return(all(abs(p$f - before$mean) <= history$width[t] * before$sd + 1e-9))
  }
  if (startsWith(phase, "scale")) {
    if (t %% 5 != 1 || t == 1) return(NULL)
    i <- as.numeric(sub("scale", "", phase))
    kernel <- longer(p$kernel)
    at <- moments(p, kernel_of(kernel, kernel$lengthscale * exp(-i / NCOL(p$x))), arms, y)
  } else {
    k <- match(t - 1, batch_ends)
    if (is.na(k)) return(NULL)
    own <- seq(c(0, batch_ends)[k] + 1, batch_ends[k])
    at <- moments(p, p$kernel, arms[own], y[own])
  }
  all(abs(p$f - at$mean) <= history$width[t] * at$sd + 1e-9)
}

# One run: regret by round, whether all intervals that were looked at held f (of every fifth round; BPE: of every batch),
# the share of places that BPE has left in the end, and seconds a round.
one_run <- function(make, p, seed) {
  set.seed(1000 + seed)
  bandit <- make(p)
  noise <- rnorm(rounds, sd = R)
  regret <- y <- numeric(rounds)
  arms <- integer(rounds)
  held <- logical()
  begun <- proc.time()[[1]]
  looking <- 0
  for (t in seq_len(rounds)) {
    look <- proc.time()[[1]]
    before <- if (t %% 5 == 1) bandit$posterior()
    looking <- looking + proc.time()[[1]] - look
    q <- bandit$suggest()
    look <- proc.time()[[1]]
    held <- c(held, holds(bandit, p, t, arms[seq_len(t - 1)], y[seq_len(t - 1)], before))
    looking <- looking + proc.time()[[1]] - look
    regret[t] <- max(p$f) - p$f[q$arm]
    arms[t] <- q$arm
    y[t] <- p$f[q$arm] + noise[t]
    bandit$observe(q$id, y[t])
  }
  left <- if (inherits(bandit, "ScriptedBandit")) length(as.environment(bandit)$memory$alive) / length(p$f)
  list(regret = cumsum(regret), simple = min(regret), held = all(held), left = if (is.null(left)) NA else left,
       seconds = (proc.time()[[1]] - begun - looking) / rounds)
}

row_of <- function(section, problem, rule, measure, values, round = NA) {
  data.frame(section = section, problem = problem, rule = rule, measure = measure, round = round, value = mean(values),
             se = if (length(values) > 1) stats::sd(values) / sqrt(length(values)) else NA)
}

compare_rules <- function(name) {
  problem <- problems[[name]]
  worlds <- lapply(seq_len(problem$replications), problem$make)
  do.call(rbind, lapply(names(rules), function(rule) {
    runs <- Map(function(p, seed) one_run(rules[[rule]], p, seed), worlds, seq_along(worlds))
    message(name, ": ", rule)
    at <- c(10, 25, 50, 75, 100)
    rbind(do.call(rbind, lapply(at, function(t) {
      row_of("regret", name, rule, "regret", vapply(runs, function(r) r$regret[t], 0), t)
    })),
    row_of("regret", name, rule, "simple", vapply(runs, `[[`, 0, "simple")),
    if (rule == "BPE") row_of("regret", name, rule, "left", vapply(runs, `[[`, 0, "left")),
    row_of("regret", name, rule, "held", as.numeric(vapply(runs, `[[`, NA, "held"))),
    row_of("regret", name, rule, "milliseconds", 1000 * vapply(runs, `[[`, 0, "seconds")))
  }))
}

# ---- level sets on the map: F1 of the labels by the posterior mean ----------------

level_rules <- list(
  "LSE" = function(p) gp_lse(p$x, p$kernel, noise_var, p$level, 0.2),
  "straddle, random" = function(p) gp_bandit(p$x, p$kernel, noise_var, policy_straddle(p$level)),
  "straddle, 1.96" = function(p) gp_bandit(p$x, p$kernel, noise_var, policy_straddle(p$level, random = FALSE)),
  "largest variance" = function(p) gp_bandit(p$x, p$kernel, noise_var, policy_variance()),
  "uniform" = function(p) gp_bandit(p$x, p$kernel, noise_var, policy_uniform())
)

f1_of <- function(said, true) 2 * sum(said & true) / max(1, sum(said) + sum(true))

level_run <- function(make, p, seed, at) {
  set.seed(2000 + seed)
  bandit <- make(p)
  vapply(seq_len(max(at)), function(t) {
    q <- bandit$suggest()
    bandit$observe(q$id, p$f[q$arm] + rnorm(1, sd = R))
    if (t %in% at) f1_of(bandit$posterior()$mean >= p$level, p$f >= p$level) else NA_real_
  }, 0)[at]
}

compare_levels <- function(at = c(10, 20, 40, 60, 80, 100, 150)) {
  do.call(rbind, lapply(names(level_rules), function(rule) {
    message("levels: ", rule)
    f1 <- vapply(1:8, function(seed) level_run(level_rules[[rule]], volcano_map, seed, at), at)
    do.call(rbind, lapply(seq_along(at), function(k) row_of("levels", "Maunga Whau", rule, "F1", f1[k, ], at[k])))
  }))
}

# ---- stopping and safety on draws from the prior -----------------------------------

stop_run <- function(rule, seed) {
  p <- draw_problem(3000 + seed)
  bandit <- gp_bandit(p$x, p$kernel, noise_var, policy_ucb(width_srinivas_finite(0.1)))
  run <- run_bandit(bandit, bandit_problem(p$x, p$f, noise = R), 400, stop_when = rule)
  found <- bandit$certificate(rule)
  # Of the point that the certificate is about: for the gap it is not `$best()`.
  regret <- max(p$f) - p$f[found$point$arm]
  c(rounds = run$rounds, certified = found$certified, wrong = found$certified && regret > 0.2)
}

compare_stops <- function(replications = 40) {
  kinds <- list("gap" = stop_gap(0.2), "probabilistic" = stop_prb(0.2, 0.05), "change" = stop_emsr(0.02), "stalled" = stop_stalled(20))
  do.call(rbind, lapply(names(kinds), function(name) {
    message("stop: ", name)
    each <- vapply(seq_len(replications), function(seed) stop_run(kinds[[name]], seed), c(0, 0, 0))
    do.call(rbind, lapply(rownames(each), function(m) row_of("stop", "prior draws", name, m, each[m, ])))
  }))
}

safe_run <- function(make, seed) {
  p <- draw_problem(4000 + seed)
  first <- which.max(p$f)
  # A seed that is safe and not the best: the first arm within 1 of it on its hill.
  level <- p$f[first] - 1.5
  seed_arm <- first
  while (seed_arm > 1 && p$f[seed_arm] > p$f[first] - 0.7) seed_arm <- seed_arm - 1
  bandit <- make(p, level, seed_arm)
  run <- as.data.frame(run_bandit(bandit, bandit_problem(p$x, p$f, noise = R), 50))
  hill <- cumsum(p$f < level)
  reachable <- hill == hill[seed_arm] & p$f >= level
  c(violations = sum(run$f < level), found = if (inherits(bandit, "ScriptedBandit")) mean(bandit$safe()$safe[reachable]) else NA,
    simple = min(run$simple_regret))
}

compare_safety <- function(replications = 60) {
  width <- width_srinivas_finite(0.1)
  makers <- list(
    "SafeOpt" = function(p, h, seed) safe_opt(p$x, p$kernel, noise_var, threshold = h, seed = seed, width = width),
    "StageOpt" = function(p, h, seed) safe_opt(p$x, p$kernel, noise_var, threshold = h, seed = seed, method = "stageopt", accuracy = 0.5, width = width),
    "GP-UCB" = function(p, h, seed) gp_bandit(p$x, p$kernel, noise_var, policy_ucb(width))
  )
  do.call(rbind, lapply(names(makers), function(name) {
    message("safety: ", name)
    each <- vapply(seq_len(replications), function(seed) safe_run(makers[[name]], seed), c(0, 0, 0))
    do.call(rbind, lapply(rownames(each), function(m) row_of("safety", "prior draws", name, m, each[m, ])))
  }))
}

table <- rbind(compare_safety(), compare_stops(), compare_levels(), do.call(rbind, lapply(names(problems), compare_rules)))
table$value <- signif(table$value, 4)
table$se <- signif(table$se, 2)
file <- file("vignettes/articles/guarantees.csv", "w")
writeLines(sprintf("# by vignettes/precompute/guarantees.R, %.0f s of processor time; gpbandits %s, %s", proc.time()[[1]] - started,
                   utils::packageVersion("gpbandits"), R.version.string), file)
utils::write.csv(table, file, row.names = FALSE, na = "")
close(file)
