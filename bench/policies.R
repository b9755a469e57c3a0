# Which policy for 50 to 500 rounds? Regret of the policies on draws from their prior (A, B, C), on functions of a known norm
# (D), and on tables of real data with a kernel fitted to 30 readings: mean, standard deviation and worst run.
#
#   Rscript bench/policies.R run [runs] [settings, e.g. A,B,volcano]    goes on where it stopped: raw results are in
#                                                                       build/policies/SETTING.csv, a run after the other
#   Rscript bench/policies.R table                                      writes vignettes/articles/policies.csv
#
# 200 runs of everything take some hours of one processor; the table says how many runs there were. In a run all policies
# meet the same function and the same noise. The SVM's tables are those of GPBANDITS_DATA.

library(gpbandits)
arguments <- commandArgs(TRUE)
rounds <- 500
at <- c(50, 100, 200, 300, 500)
folder <- "build/policies"
table_file <- "vignettes/articles/policies.csv"

# ---- settings: a function of the run that makes the problem -------------------------

line <- matrix(seq(0, 1, length.out = 100))
plane <- as.matrix(expand.grid(seq(0, 1, length.out = 13), seq(0, 1, length.out = 13)))

# A draw from the prior. A norm is not known: AMM is told one that some users would take.
prior_problem <- function(x, kernel, noise_var) function(run) {
  list(x = x, kernel = kernel, noise_var = noise_var, f = drop(sample_gp(kernel, x)), B = sqrt(2 * log(nrow(x))))
}

norm_problem <- function(x, kernel, noise_var, norm) function(run) {
  K <- kernel_gram(kernel, x)
  where <- sample(nrow(x), 15)
  weight <- stats::rnorm(15)
  size <- sqrt(drop(crossprod(weight, K[where, where] %*% weight)))
  list(x = x, kernel = kernel, noise_var = noise_var, f = drop(K[, where] %*% weight) * norm / size, B = norm)
}

# Values in standard deviations, read with noise of sd .2; the kernel is fitted to 30 readings at random points first.
table_problem <- function(x, value, noise_var = 0.04) function(run) {
  x <- apply(x, 2, function(column) (column - min(column)) / diff(range(column)))
  f <- (value - mean(value)) / stats::sd(value)
  rows <- sample(nrow(x), 30, TRUE)
  y <- f[rows] + stats::rnorm(30, sd = sqrt(noise_var))
  fit <- gp_fit(x[rows, , drop = FALSE], y, kernel_matern(2.5, 0.3),
                noise_var = noise_var, fix_noise = TRUE)
  list(x = x, kernel = fit$kernel, noise_var = noise_var, f = f, B = NULL)
}

volcano_table <- function() {
  rows <- seq(1, 87, by = 4)
  columns <- seq(1, 61, by = 4)
  table_problem(as.matrix(expand.grid(rows, columns)), as.vector(datasets::volcano[rows, columns]))
}

svm_table <- function(file, inputs, value, log) {
  path <- file.path(Sys.getenv("GPBANDITS_DATA", "data"), file)
  if (!file.exists(path)) return(NULL)
  data <- utils::read.csv(path)
  data <- data[stats::complete.cases(data[c(inputs, value)]), ]
  x <- as.matrix(data[inputs])
  table_problem(unname(if (log) log(x) else x), data[[value]])
}

smooth <- kernel_matern(2.5, 0.3)
settings <- list(
  A = prior_problem(line, kernel_se(0.2), 0.025), B = prior_problem(plane, smooth, 0.01),
  C = prior_problem(plane, smooth, 0.25), D = norm_problem(plane, smooth, 0.04, 3),
  volcano = volcano_table(),
  svm = svm_table("bosdf_svm_objective_grid.csv", c("C", "gamma"), "validation_accuracy", log = TRUE)
)
settings <- Filter(Negate(is.null), settings)

# ---- policies -------------------------------------------------------------------------

ucb <- function(width) function(p) gp_ucb(p$x, p$kernel, p$noise_var, width = width)
plain <- function(policy) function(p) gp_bandit(p$x, p$kernel, p$noise_var, policy)
policies <- list(
  "GP-UCB" = ucb(width_srinivas_finite(0.1)), "GP-UCB / 5" = ucb(width_srinivas_finite(0.1, scale = 1 / 5)),
  "UCB, w = 2" = ucb(width_constant(2)), "IRGP-UCB" = ucb(width_irgp()), "PIMS" = plain(policy_pims()),
  "EIMS" = plain(policy_eims()), "TS" = plain(policy_ts(1)), "EI" = plain(policy_ei()),
  "AMM" = function(p) if (!is.null(p$B)) ucb(width_amm(p$B, sqrt(p$noise_var)))(p),
  "BPE" = function(p) if (!is.null(p$B)) bpe(p$x, p$kernel, p$noise_var, rounds, B = p$B, R = sqrt(p$noise_var))
)

one_run <- function(setting, run) {
  set.seed(1000 * match(setting, names(settings)) + run)
  p <- settings[[setting]](run)
  problem <- bandit_problem(p$x, p$f, noise = sqrt(p$noise_var))
  each <- lapply(names(policies), function(name) {
    bandit <- policies[[name]](p)
    if (is.null(bandit)) return(NULL)
    set.seed(run)
    played <- as.data.frame(run_bandit(bandit, problem, rounds), draws = 0)
    data.frame(run = run, policy = name, round = at, regret = played$cumulative_regret[at])
  })
  do.call(rbind, each)
}

# ---- running and the table --------------------------------------------------------------

raw_file <- function(setting) file.path(folder, paste0(setting, ".csv"))

run_all <- function(runs, which) {
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  for (run in seq_len(runs)) for (setting in which) {
    file <- raw_file(setting)
    done <- if (file.exists(file)) unique(utils::read.csv(file)$run)
    if (run %in% done) next
    utils::write.table(one_run(setting, run), file, sep = ",", row.names = FALSE, col.names = is.null(done),
                       append = !is.null(done))
    cat(sprintf("%s run %d\n", setting, run))
  }
}

summarise <- function() {
  # (Whatever was run, with the data at hand now or without.)
  files <- list.files(folder, "[.]csv$", full.names = TRUE)
  names(files) <- sub("[.]csv$", "", basename(files))
  parts <- lapply(names(files), function(setting) {
    raw <- utils::read.csv(files[[setting]])
    groups <- split(raw, list(policy = factor(raw$policy, names(policies)), round = raw$round), drop = TRUE)
    do.call(rbind, lapply(groups, function(g) {
      data.frame(setting = setting, policy = g$policy[1], round = g$round[1], runs = nrow(g),
                 mean = round(mean(g$regret), 2), sd = round(stats::sd(g$regret), 2), worst = round(max(g$regret), 1))
    }))
  })
  table <- do.call(rbind, parts)
  utils::write.csv(table, table_file, row.names = FALSE)
  shown <- table[table$round == 300, ]
  print(tapply(shown$mean, shown[c("policy", "setting")], sum))
}

if (arguments[1] %in% "table") {
  summarise()
} else {
  runs <- if (length(arguments) > 1) as.integer(arguments[2]) else 200
  which <- if (length(arguments) > 2) strsplit(arguments[3], ",")[[1]] else names(settings)
  run_all(runs, intersect(which, names(settings)))
}
