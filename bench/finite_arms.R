# Finitely many arms: whole runs of GP-UCB against a bare loop of the same products, against
# plain R and other packages; time per round; 20,640 arms in 8 dimensions.
#   Rscript bench/finite_arms.R      (in the repository, gpbandits installed)
# Prints tables and writes bench/results/finite_arms.md. Processor time throughout: everything
# here runs on one thread, and what else the machine does counts less.
suppressMessages(library(gpbandits))

source("bench/shared/script.R")

# T matrix-vector products with an n x r matrix, by Eigen, compiled as R compiles packages.
Rcpp::sourceCpp(code = '
  // [[Rcpp::depends(RcppEigen)]]
  #include <RcppEigen.h>
  // [[Rcpp::export]]
  double bare_products(int n, int r, int rounds) {
    const Eigen::MatrixXd F = Eigen::MatrixXd::Random(n, r);
    Eigen::VectorXd w = Eigen::VectorXd::Random(r), out(n);
    double sum = 0;
    for (int t = 0; t < rounds; ++t) {
      out.noalias() = F * w;
      w[t % r] += 1e-9 * out[t % n];
      sum += out[0];
    }
    return sum;
  }')

x <- seq(0, 1, length.out = 1000)
noise <- 0.025
settings <- list(
  "SE, l = 0.2" = kernel_se(0.2),
  "SE, l = 0.02" = kernel_se(0.02),
  "Matern 5/2, l = 0.2" = kernel_matern(2.5, 0.2)
)
problem_for <- function(kernel, arms = x) {
  set.seed(1)
  bandit_problem(arms, sample_gp(kernel, arms), noise = sqrt(noise))
}

# ---- 1. a whole run against the bare loop ------------------------------------
whole_run <- function(kernel, rounds = 1000) {
  problem <- problem_for(kernel)
  bandit <- NULL
  play <- function() {
    set.seed(2)
    bandit <<- gp_ucb(x, kernel, noise)
    run_bandit(bandit, problem, rounds)
  }
  ten_times <- function(code) seconds(function() for (i in 1:10) code(), 5) / 10
  spent <- ten_times(play)
  facts <- summary(bandit)
  bare <- ten_times(function() bare_products(length(x), facts$rank, rounds))
  data.frame(engine = facts$engine, rank = facts$rank, run_ms = 1000 * spent, bare_ms = 1000 * bare,
             ratio = spent / bare)
}
against_bare <- do.call(rbind, lapply(settings, whole_run))

# ---- 2. time per round --------------------------------------------------------
per_round <- function(kernel, engine) {
  problem <- problem_for(kernel)
  bandit <- gp_ucb(x, kernel, noise, engine = engine)
  set.seed(3)
  run_bandit(bandit, problem, 1000)
  early <- seconds(function() run_bandit(bandit, problem, 2000)) / 2000
  run_bandit(bandit, problem, 95000)
  late <- seconds(function() run_bandit(bandit, problem, 2000)) / 2000
  data.frame(engine = engine, early_us = 1e6 * early, late_us = 1e6 * late, ratio = late / early)
}
growth <- rbind(
  "SE, l = 0.2" = per_round(settings[[1]], "weights"),
  "SE, l = 0.02" = per_round(settings[[2]], "weights"),
  "Matern 5/2, l = 0.2" = per_round(settings[[3]], "weights"),
  "Matern 5/2, l = 0.2 " = per_round(settings[[3]], "played")
)

# ---- 3. plain R and other packages, T = 200 -----------------------------------
rounds <- 200
kernel <- settings[[1]]
problem <- problem_for(kernel)
truth <- problem$reward_values[, 1]
width <- function(t) sqrt(2 * log(length(x) * t^2 * pi^2 / 0.6) / 5)
play_with <- function(posterior) {
  set.seed(2)
  errors <- rnorm(rounds, sd = sqrt(noise))
  arms <- integer()
  rewards <- numeric()
  for (t in seq_len(rounds)) {
    p <- posterior(arms, rewards)
    arms[t] <- which.max(p$mean + width(t) * p$sd)
    rewards[t] <- truth[arms[t]] + errors[t]
  }
  invisible(arms)
}
prior <- list(mean = numeric(length(x)), sd = rep(1, length(x)))
gram <- kernel_gram(kernel, x)
plain_refit <- function(arms, rewards) {
  if (!length(arms)) return(prior)
  R <- chol(gram[arms, arms, drop = FALSE] + diag(noise, length(arms)))
  V <- backsolve(R, gram[arms, , drop = FALSE], transpose = TRUE)
  list(mean = drop(crossprod(V, backsolve(R, rewards, transpose = TRUE))),
       sd = sqrt(pmax(0, 1 - colSums(V^2))))
}
plain_rank_one <- function() {
  set.seed(2)
  errors <- rnorm(rounds, sd = sqrt(noise))
  mean <- numeric(length(x))
  variance <- rep(1, length(x))
  V <- matrix(0, length(x), rounds)
  for (t in seq_len(rounds)) {
    arm <- which.max(mean + width(t) * sqrt(variance))
    column <- gram[, arm]
    if (t > 1) column <- column - drop(V[, seq_len(t - 1), drop = FALSE] %*% V[arm, seq_len(t - 1)])
    s <- column[arm] + noise
    V[, t] <- column / sqrt(s)
    mean <- mean + column * (truth[arm] + errors[t] - mean[arm]) / s
    variance <- pmax(0, variance - V[, t]^2)
  }
}
others <- list(
  "plain R, refit" = function() play_with(plain_refit),
  "plain R, rank-one update" = plain_rank_one
)
points <- function(v) data.frame(x = v)
if (requireNamespace("DiceKriging", quietly = TRUE)) {
  others[["DiceKriging"]] <- function() play_with(function(arms, rewards) {
    if (length(arms) < 2) return(prior)
    fit <- DiceKriging::km(~1, points(x[arms]), rewards, covtype = "gauss", coef.trend = 0, coef.cov = 0.2,
                           coef.var = 1, noise.var = rep(noise, length(arms)), control = list(trace = FALSE))
    p <- DiceKriging::predict(fit, points(x), type = "SK", checkNames = FALSE, light.return = TRUE)
    list(mean = p$mean, sd = p$sd)
  })
}
if (requireNamespace("laGP", quietly = TRUE)) {
  others[["laGP"]] <- function() play_with(function(arms, rewards) {
    if (length(arms) < 2) return(prior)
    fit <- laGP::newGP(matrix(x[arms]), rewards, d = 2 * 0.2^2, g = noise)
    on.exit(laGP::deleteGP(fit))
    p <- laGP::predGP(fit, matrix(x), lite = TRUE)
    list(mean = p$mean, sd = sqrt(p$s2))
  })
}
if (requireNamespace("hetGP", quietly = TRUE)) {
  others[["hetGP"]] <- function() play_with(function(arms, rewards) {
    # With one distinct point it stops: "non-conformable arrays".
    if (length(unique(arms)) < 2) return(plain_refit(arms, rewards))
    fit <- hetGP::mleHomGP(matrix(x[arms]), rewards, known = list(theta = 2 * 0.2^2, g = noise, beta0 = 0),
                           covtype = "Gaussian")
    p <- stats::predict(fit, matrix(x))
    list(mean = p$mean, sd = sqrt(p$sd2))
  })
}
if (requireNamespace("rlibkriging", quietly = TRUE)) {
  others[["rlibkriging"]] <- function() play_with(function(arms, rewards) {
    if (length(arms) < 2) return(prior)
    fit <- rlibkriging::NoiseKriging(rewards, rep(noise, length(arms)), matrix(x[arms]), kernel = "gauss",
                                     optim = "none", parameters = list(theta = matrix(0.2), sigma2 = 1))
    p <- stats::predict(fit, matrix(x))
    list(mean = drop(p[[1]]), sd = drop(p[[2]]))
  })
}
ours <- seconds(function() {
  for (i in 1:20) {
    set.seed(2)
    run_bandit(gp_ucb(x, kernel, noise), problem, rounds)
  }
}, 3) / 20
baselines <- vapply(others, function(f) tryCatch(seconds(f), error = function(e) NA_real_), 0)
against_others <- data.frame(ms = 1000 * c(gpbandits = ours, baselines), ratio = c(1, baselines / ours))

# ---- 4. 20,640 arms in 8 dimensions, T = 2000, exact ---------------------------
large <- function(lengthscale) {
  set.seed(1)
  arms <- matrix(rnorm(20640 * 8), ncol = 8)
  problem <- bandit_problem(arms, rowSums(sin(arms)) / 8 + 0.3 * arms[, 1], noise = 0.1)
  bandit <- gp_ucb(arms, kernel_se(lengthscale), 0.01)
  spent <- seconds(function() run_bandit(bandit, problem, 2000))
  facts <- summary(bandit)
  peak <- sub("[^0-9]*([0-9]+).*", "\\1", grep("VmHWM", readLines("/proc/self/status"), value = TRUE))
  data.frame(engine = facts$engine, rank = facts$rank,
             distinct = length(unique(bandit$history()$arm)), seconds = spent,
             peak_mb = as.numeric(peak) / 1024)
}
wide <- rbind("l = 12.5" = large(12.5), "l = 5" = large(5), "l = 3" = large(3), "l = 1" = large(1))

# ---- report ---------------------------------------------------------------------
table_lines <- function(frame) {
  shown <- frame
  numeric <- vapply(shown, is.numeric, TRUE)
  shown[numeric] <- lapply(shown[numeric], function(v) format(signif(v, 3), trim = TRUE, scientific = FALSE, drop0trailing = TRUE))
  c(paste0("| | ", paste(names(shown), collapse = " | "), " |"),
    paste0("|---|", strrep("---|", ncol(shown))),
    paste0("| ", trimws(rownames(shown)), " | ", do.call(paste, c(shown, sep = " | ")), " |"))
}
lines <- c(
  "# Finitely many arms", "",
  "Written by `Rscript bench/finite_arms.R`; processor seconds of one thread, fastest of five times ten (1), once (2, 4), fastest of three (3, ours).",
  sprintf("%s, %s.", R.version.string, if (file.exists("/proc/loadavg")) paste("load at the end", strsplit(readLines("/proc/loadavg"), " ")[[1]][1]) else ""), "",
  "## 1. GP-UCB, 1000 arms, T = 1000: a whole run (set-up included) against a bare loop of T products with an n x rank matrix (Eigen, R's flags)", "",
  table_lines(against_bare), "",
  "## 2. Microseconds a round: rounds 1,001-3,000 and 98,001-100,000 of one run", "",
  table_lines(growth), "",
  "The played-points engine's cost follows the number of distinct arms played, which still grows slowly on a rough kernel; its bound is 2 x distinct + 32 rows.", "",
  "## 3. The same 200 rounds (SE, l = 0.2) elsewhere, hyperparameters fixed", "",
  table_lines(against_others), "",
  "Packages that are not installed are left out; NA: the package stopped with an error.", "",
  "## 4. 20,640 arms in 8 dimensions (standard normal inputs), SE, T = 2000, exact", "",
  table_lines(wide), "",
  "At l = 1 nearly every arm is as unknown as at the start and every round plays a new one: the worst case for any exact method."
)
cat(lines, sep = "\n")
folder <- "bench/results"
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
writeLines(lines, file.path(folder, "finite_arms.md"))
