# One fit at 200 points: gp_fit beside DiceKriging, hetGP, laGP and rlibkriging, as far as they are installed.
#   Rscript bench/fit.R      (in the repository, gpbandits installed)
# Prints a table and writes bench/results/fit.md.
suppressMessages(library(gpbandits))

branin <- function(x) {
  a <- 15 * x[, 1] - 5
  b <- 15 * x[, 2]
  (b - 5.1 / (4 * pi^2) * a^2 + 5 / pi * a - 6)^2 + 10 * (1 - 1 / (8 * pi)) * cos(a) + 10
}

hartmann6 <- function(x) {
  alpha <- c(1, 1.2, 3, 3.2)
  A <- rbind(c(10, 3, 17, 3.5, 1.7, 8), c(.05, 10, 17, .1, 8, 14), c(3, 3.5, 1.7, 10, 17, 8),
             c(17, 8, .05, 10, .1, 14))
  P <- 1e-4 * rbind(c(1312, 1696, 5569, 124, 8283, 5886), c(2329, 4135, 8307, 3736, 1004, 9991),
                    c(2348, 1451, 3522, 2883, 3047, 6650), c(4047, 8828, 8732, 5743, 1091, 381))
  -drop(exp(-vapply(1:4, function(i) colSums(A[i, ] * (t(x) - P[i, ])^2), numeric(nrow(x)))) %*% alpha)
}

data_of <- function(inputs, seed, n = 200) {
  set.seed(seed)
  x <- matrix(runif(n * inputs), n)
  y <- if (inputs == 2) branin(x) + rnorm(n, sd = 5) else hartmann6(x) + rnorm(n, sd = 0.05)
  list(x = x, y = drop(scale(y)))
}

# Every package's parameters, judged by one formula: the likelihood at the best constant mean.
# kernel: one with lengthscales as ours.
log_likelihood <- function(data, kernel, noise_var) {
  R <- chol(kernel_gram(kernel, data$x) + diag(noise_var, nrow(data$x)))
  solve_r <- function(v) backsolve(R, v, transpose = TRUE)
  one <- solve_r(rep(1, nrow(data$x)))
  y <- solve_r(data$y)
  left <- y - one * sum(one * y) / sum(one^2)
  -sum(left^2) / 2 - sum(log(diag(R))) - length(y) / 2 * log(2 * pi)
}

kernel_of <- function(type, lengthscale, variance = 1) {
  if (type == "SE") kernel_se(lengthscale, variance) else kernel_matern(2.5, lengthscale, variance)
}

# Each: a function of the data and the type that fits and returns list(kernel, noise_var).
fitters <- list(
  gpbandits = function(data, type) {
    gp_fit(data$x, data$y, kernel_of(type, rep(1, ncol(data$x))), mean = "fit")
  },
  DiceKriging = function(data, type) {
    model <- DiceKriging::km(~1, data$x, data$y, covtype = if (type == "SE") "gauss" else "matern5_2",
                             nugget.estim = TRUE, control = list(trace = FALSE))
    # Its squared exponential is exp(-s/2) too.
    list(kernel = kernel_of(type, model@covariance@range.val, model@covariance@sd2),
         noise_var = model@covariance@nugget)
  },
  hetGP = function(data, type) {
    model <- hetGP::mleHomGP(data$x, data$y, covtype = if (type == "SE") "Gaussian" else "Matern5_2")
    l <- if (type == "SE") sqrt(model$theta / 2) else model$theta
    list(kernel = kernel_of(type, l, model$nu_hat), noise_var = model$g * model$nu_hat)
  },
  laGP = function(data, type) {
    if (type != "SE") return(NULL)
    pointer <- laGP::newGPsep(data$x, data$y, d = 0.5, g = 0.1, dK = TRUE)
    found <- laGP::jmleGPsep(pointer, drange = c(1e-3, 100), grange = c(1e-6, 1))
    laGP::deleteGPsep(pointer)
    theta <- unlist(found[1, seq_len(ncol(data$x))])
    g <- found$g[1]
    C <- kernel_gram(kernel_se(sqrt(theta / 2)), data$x) + diag(g, nrow(data$x))
    v <- sum(data$y * solve(C, data$y)) / nrow(data$x)
    list(kernel = kernel_se(sqrt(theta / 2), v), noise_var = g * v)
  },
  rlibkriging = function(data, type) {
    model <- rlibkriging::NuggetKriging(data$y, data$x, kernel = if (type == "SE") "gauss" else "matern5_2")
    list(kernel = kernel_of(type, drop(model$theta()), model$sigma2()), noise_var = model$nugget())
  })

present <- Filter(function(name) name == "gpbandits" || requireNamespace(name, quietly = TRUE), names(fitters))
cases <- expand.grid(type = c("Matern 5/2", "SE"), inputs = c(2, 6), stringsAsFactors = FALSE)
seeds <- 1:5

measure <- function(name, type, inputs) {
  runs <- vapply(seeds, function(seed) {
    data <- data_of(inputs, seed)
    fit <- NULL
    spent <- system.time(utils::capture.output(fit <- fitters[[name]](data, type)), gcFirst = TRUE)
    if (is.null(fit)) return(c(NA, NA))
    c(1000 * sum(spent[c("user.self", "sys.self")]), log_likelihood(data, fit$kernel, fit$noise_var))
  }, numeric(2))
  c(milliseconds = stats::median(runs[1, ]), likelihood = mean(runs[2, ]))
}

invisible(measure("gpbandits", "SE", 2))            # everything loaded
rows <- do.call(rbind, lapply(seq_len(nrow(cases)), function(i) {
  found <- vapply(present, measure, numeric(2), cases$type[i], cases$inputs[i])
  data.frame(case = sprintf("%s ARD, %d inputs", cases$type[i], cases$inputs[i]), package = present,
             ms = found[1, ], likelihood = found[2, ])
}))
rows <- rows[!is.na(rows$ms), ]

lines <- c(
  "# gp_fit: one fit at 200 points",
  "",
  sprintf("Processor time for whole R calls, median of %d data sets (Branin with noise of sd 5, Hartmann 6 with sd 0.05);",
          length(seeds)),
  sprintf("mean log likelihood at the best constant mean, by one formula for all. R %s, %s.", getRversion(),
          Sys.info()[["machine"]]),
  sprintf("gpbandits with its default of 3 starts and a fitted mean. Not installed here: %s.",
          paste(c(setdiff(names(fitters), present), if (identical(present, names(fitters))) "none"), collapse = ", ")),
  "Written by `bench/fit.R`.",
  "",
  "| kernel | package | milliseconds | log likelihood |",
  "| --- | --- | ---: | ---: |",
  sprintf("| %s | %s | %.0f | %.3f |", rows$case, rows$package, rows$ms, rows$likelihood),
  "",
  sprintf("The machine's load was %s on %d processors.", strsplit(readLines("/proc/loadavg"), " ")[[1]][1],
          parallel::detectCores()),
  "Aims: Matern 5/2: 35 ms with 2 inputs, 90 ms with 6; SE: 25 to 50 ms."
)
writeLines(lines)
if (dir.exists("bench")) {
  dir.create("bench/results", showWarnings = FALSE)
  writeLines(lines, "bench/results/fit.md")
}
