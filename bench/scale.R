# Rounds that cost the same everywhere: boxes, contexts that are not known beforehand, very many arms.
#   Rscript bench/scale.R [full]     (in the repository, gpbandits installed; `full`: the long rows, an hour)
# Prints a table and writes bench/results/scale.md. Processor time of one thread; ratios are to be trusted, and only
# within one run: the dense engine and a bare loop of the products that a round needs stand beside each row.
suppressMessages(library(gpbandits))

full <- identical(commandArgs(TRUE), "full")
seconds <- function(code) sum(system.time(code, gcFirst = TRUE)[c("user.self", "sys.self")])
rows <- list()
report <- function(work, rounds, spent, early = NA, late = NA, bandit, beside = NA, what = "") {
  s <- summary(bandit)
  row <- data.frame(work = work, rounds = rounds, seconds = spent, early_ms = early, late_ms = late, engine = s$engine,
                    rank = s$rank, bound = s$error_bound, ratio = beside / spent, beside = what)
  print(row, row.names = FALSE)
  rows[[length(rows) + 1]] <<- row
}

# Seconds of each tenth of a life, played by `play(bandit, rounds)`.
tenths <- function(play, bandit, rounds) vapply(1:10, function(k) seconds(play(bandit, rounds %/% 10)), 0)
ms <- function(tenths, rounds, k) 1e4 * tenths[k] / rounds

# ---- boxes ------------------------------------------------------------------------------------------
box_life <- function(name, kernel_of, noise, rounds, engine) {
  of <- test_function(name)
  side <- of$domain$upper - of$domain$lower
  set.seed(1)
  x <- sweep(sweep(matrix(runif(500 * length(side)), 500), 2, side, "*"), 2, of$domain$lower, "+")
  values <- of$f(x)
  problem <- bandit_problem(of$domain, function(x) (of$f(x) - mean(values)) / stats::sd(values), noise_gaussian(sqrt(noise)))
  bandit <- gp_bandit(of$domain, kernel_of(side), noise, policy_ucb(width_constant(2)), engine = engine)
  set.seed(2)
  list(bandit = bandit, spent = tenths(function(b, n) run_bandit(b, problem, n), bandit, rounds))
}
beside_dense <- function(work, name, kernel_of, noise, rounds, dense = TRUE) {
  auto <- box_life(name, kernel_of, noise, rounds, "auto")
  other <- if (dense) sum(box_life(name, kernel_of, noise, rounds, "dense")$spent) else NA
  report(work, rounds, sum(auto$spent), ms(auto$spent, rounds, 2), ms(auto$spent, rounds, 10), auto$bandit, other,
         if (dense) "dense engine" else "")
}
se <- function(side) kernel_se(0.3 * side)
matern <- function(side) kernel_matern(2.5, 0.3 * side)
beside_dense("Branin, SE", "branin", se, 0.01, 2000)
beside_dense("Branin, Matern 5/2", "branin", matern, 0.01, 2000)
beside_dense("Branin, SE", "branin", se, 0.01, 10000, dense = FALSE)
beside_dense("Hartmann 6, Matern 5/2", "hartmann6", matern, 0.01, if (full) 2000 else 600)
if (full) beside_dense("Branin, Matern 5/2", "branin", matern, 0.01, 5000, dense = FALSE)

# ---- contexts that are not known beforehand ---------------------------------------------------------
contextual <- function(work, rounds, n, d, contexts, kernel, truth, dense_rounds = 1000) {
  set.seed(3)
  arms <- matrix(runif(n * d), n)
  z <- matrix(runif(rounds * contexts), rounds)
  play <- function(bandit, n) {
    from <- nrow(bandit$history())
    query <- bandit$suggest(1, context = z[from + 1, ])
    for (t in seq_len(n)) {
      bandit$observe(query$id, truth(arms[query$arm, ], z[query$id, ]) + rnorm(1, sd = 0.3))
      if (t < n) query <- bandit$suggest(1, context = z[from + t + 1, ])
    }
  }
  made <- function(engine) gp_bandit(arms, kernel, 0.1, policy_ucb(width_constant(1)), contexts = contexts, engine = engine)
  auto <- made("auto")
  spent <- tenths(play, auto, rounds)
  dense <- seconds(play(made("dense"), dense_rounds))
  auto_there <- seconds(play(made("auto"), dense_rounds))
  r <- summary(auto)$rank
  phi <- matrix(rnorm(r * n), r)
  root <- diag(r) + crossprod(matrix(rnorm(r * r), r)) / r
  bare <- seconds(for (t in 1:200) {
    forwardsolve(root, phi)
    forwardsolve(root, phi)
  }) / 200 * rounds
  report(work, rounds, sum(spent), ms(spent, rounds, 2), ms(spent, rounds, 10), auto, dense / auto_there * sum(spent),
         sprintf("dense engine, %d decisions; bare loop %.2g of it", dense_rounds, bare / sum(spent)))
}
smooth <- function(x, z) sin(3 * x[1] + 2 * z[1]) + x[2] * z[2]
contextual("200 arms x unseen 2-d contexts, SE l = 1", if (full) 1e5 else 1e4, 200, 2, 2, kernel_se(1), smooth)
contextual("the same, l = .5", if (full) 1e4 else 3000, 200, 2, 2, kernel_se(0.5), smooth)
theta <- rnorm(20)
contextual("1,000 arms, 20 features and an unseen context, linear", if (full) 1e5 else 1e4, 1000, 20, 1, kernel_linear(),
           function(x, z) sum(theta * x) + z)

# ---- very many arms ---------------------------------------------------------------------------------
many <- function(work, n, d, kernel, rounds, sweep_rounds = 30) {
  set.seed(4)
  x <- matrix(runif(n * d), n)
  f <- rowSums(sin(6 * x))
  noise <- rnorm(rounds, sd = 0.1)
  play <- function(bandit, n) {
    for (t in seq_len(n)) {
      query <- bandit$suggest()
      bandit$observe(query$id, f[query$arm] + noise[query$id])
    }
  }
  setup <- seconds(bandit <- {
    b <- gp_bandit(x, kernel, 0.01, policy_ucb(width_constant(3)), engine = "lowrank")
    b$suggest(); b$observe(1, f[1])
    b
  })
  spent <- tenths(play, bandit, rounds - rounds %% 10 - 10)
  swept <- gp_bandit(x, kernel, 0.01, policy_ucb(width_constant(3)), engine = "played")
  play(swept, 1)
  beside <- seconds(play(swept, sweep_rounds)) / sweep_rounds * rounds
  report(work, rounds, setup + sum(spent), ms(spent, rounds, 2), ms(spent, rounds, 10), bandit, beside,
         sprintf("played points, %d early rounds", sweep_rounds))
}
rounds <- if (full) 1000 else 300
many("10^6 arms, 2-d, SE l = .2", 1e6, 2, kernel_se(0.2), rounds)
many("10^6 arms, 2-d, Matern l = .2", 1e6, 2, kernel_matern(2.5, 0.2), rounds)
many("10^6 arms, 4-d, SE l = .5", 1e6, 4, kernel_se(0.5), rounds)
many("20,640 arms, 8-d, SE l = 5", 20640, 8, kernel_se(5), rounds)
if (full) many("10^7 arms, 2-d, SE l = .2", 1e7, 2, kernel_se(0.2), 1000, 5)

# ---- report -----------------------------------------------------------------------------------------
all <- do.call(rbind, rows)
number <- function(v) ifelse(is.na(v), "", format(signif(v, 2), trim = TRUE, scientific = FALSE, drop0trailing = TRUE))
cell <- data.frame(all$work, format(all$rounds, big.mark = ",", trim = TRUE), number(all$seconds), number(all$early_ms),
                   number(all$late_ms), paste(all$engine, all$rank), sprintf("%.1g", all$bound), number(all$ratio), all$beside)
lines <- c(
  "# Rounds that cost the same everywhere", "",
  sprintf("Written by `Rscript bench/scale.R%s`; processor seconds of one thread, R %s, load at the end %s (on two cores:", if (full) " full" else "",
          getRversion(), strsplit(readLines("/proc/loadavg"), " ")[[1]][1]),
  "under load trust the ratios, not the seconds). Milliseconds a round early (the second tenth) and late (the last). `bound` is the certified",
  "error of the mean and sd in posterior sd at the end. The ratio is what stands beside it over this.", "",
  "| work | rounds | seconds | early ms | late ms | engine, rank | bound | ratio | beside |", "|---|---:|---:|---:|---:|---|---:|---:|---|",
  do.call(paste, c("|", unname(cell), list(sep = " | "))) |> sub(pattern = "^\\| \\|", replacement = "|") |> paste("|"))
cat(lines, sep = "\n")
if (dir.exists("bench")) writeLines(lines, "bench/results/scale.md")
