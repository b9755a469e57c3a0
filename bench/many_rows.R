# Many rows: what a search costs that begins with them, and what its approximations do to fits and predictions.
#   Rscript bench/many_rows.R      (in the repository, gpbandits installed)
# Prints tables and writes build/many_rows.md; bench/results/many_rows.md is put together from them by hand.
# SIZES=500,2000 measures fewer rows, and PARTS=costs,fits,engines some of the tables. PARTS=searches SEEDS=1,2 (SIZES of
# at most 2,000) and PARTS=regret FIDS=1,2 (package smoof) look at searches with the installed library, to be compared
# with one whose kMostExact (src/core/fitting/fit.h) is another: the largest number of points whose likelihood is exact.
suppressMessages(library(gpbandits))

seconds <- function(call) sum(system.time(call, gcFirst = TRUE)[c("user.self", "sys.self")])
listed <- function(name, default) strsplit(Sys.getenv(name, default), ",")[[1]]
sizes <- as.integer(listed("SIZES", "500,2000,10000"))
parts <- listed("PARTS", "costs,fits,engines")

# A smooth function with noise; from 4 inputs on most inputs matter little.
truth <- function(x) {
  w <- 0.6^(seq_len(ncol(x)) - 1)
  drop(sin(5 * x[, 1]) + 0.5 * cos(4 * x[, 2]) - (x - 0.4)^2 %*% w)
}
inputs <- function(d) paste0("x", seq_len(d))
rows_of <- function(n, d, seed = 1, noise = 0.1) {
  set.seed(seed)
  x <- matrix(runif(n * d), n, d, dimnames = list(NULL, inputs(d)))
  list(x = x, data = data.frame(x, reward = truth(x) + rnorm(n, sd = noise)))
}
space <- function(d) stats::setNames(rep(list(c(0, 1)), d), inputs(d))

# ---- what a search costs ------------------------------------------------------------------------

one_cholesky <- function(n) {
  set.seed(1)
  x <- runif(n)
  seconds(gp_regression(x, x, kernel_matern(2.5, 0.01), 0.1)$y)
}

cost <- function(n, d, later = if (n <= 500) 6 else 14) {
  rows <- rows_of(n, d)
  made <- seconds(b <- auto_bandit(space(d), rows$data))
  first <- seconds(q <- b$suggest())
  rest <- seconds(for (i in seq_len(later)) {
    b$observe(q$id, truth(as.matrix(q[inputs(d)])))
    q <- b$suggest()
  })
  facts <- summary(b)
  data.frame(rows = n, inputs = d, made = made, first = first, later = rest / later, engine = facts$engine,
             likelihood = if (is.null(facts$likelihood)) "exact" else facts$likelihood$method)
}

# ---- the likelihood from neighbours -------------------------------------------------------------

# The exact maximum by optim() from the approximate one: how far it is, in posterior sds of each parameter, and what the
# approximate one loses of the exact log likelihood and of new rewards' log density.
compare_fits <- function(n, d, noise) {
  rows <- rows_of(n, d, seed = 2, noise = noise)
  y <- rows$data$reward
  start <- kernel_matern(2.5, rep(1, d))
  fitting <- seconds(near <- gp_fit(rows$x, y, start, mean = "fit"))
  at <- log(near$parameters)
  regression <- function(at) {
    kernel <- kernel_matern(2.5, exp(unname(at[seq_len(d)])), exp(at[[d + 1]]))
    gp_regression(rows$x, y, kernel, exp(at[[d + 2]]), near$mean)
  }
  value <- function(at) as.numeric(logLik(regression(at)))
  slope <- function(at, h = 1e-3) {
    moved <- function(p, by) value(replace(at, p, at[p] + by))
    vapply(seq_along(at), function(p) (moved(p, h) - moved(p, -h)) / (2 * h), 0)
  }
  found <- stats::optim(at, function(at) -value(at), function(at) -slope(at), method = "L-BFGS-B", lower = at - 2,
                        upper = at + 2, control = list(maxit = 8))$par
  h <- 0.05
  curvature <- vapply(seq_along(at), function(p) {
    -(value(replace(found, p, found[p] + h)) - 2 * value(found) + value(replace(found, p, found[p] - h))) / h^2
  }, 0)
  new <- rows_of(1000, d, seed = 3, noise = noise)
  density <- function(fit) {
    got <- predict(fit, new$x)
    mean(stats::dnorm(new$data$reward, got$mean, sqrt(got$sd^2 + fit$noise_var), log = TRUE))
  }
  exact <- regression(found)
  data.frame(rows = n, inputs = d, noise = noise, seconds = fitting,
             moved = stats::median(abs(at - found) * sqrt(pmax(curvature, 0))),
             lost = value(found) - value(at), density = density(near), density_exact = density(exact))
}

# ---- the first fit of a search ------------------------------------------------------------------

# The exact log likelihood of the rewards at what the search has fitted, and how well it predicts 1,000 new rewards.
first_fit <- function(n, d, seed) {
  internal <- function(name) utils::getFromNamespace(name, "gpbandits")
  rows <- rows_of(n, d, seed)
  b <- auto_bandit(space(d), rows$data)
  spent <- seconds(b$suggest())
  fit <- internal("refitted_parameters")(b)
  known <- internal("core")(internal("cpp_bandit_measurements")(internal("make_whole")(b)$handle, 1L, fit$output_map,
                                                                fit$noise_var))
  exact <- gp_regression(rows$x, known$value, fit$kernel, fit$noise_var, fit$mean)
  new <- rows_of(1000, d, seed + 100)
  got <- b$posterior(as.data.frame(new$x))
  data.frame(rows = n, inputs = d, seed = seed, seconds = spent,
             log_likelihood = round(as.numeric(logLik(exact)) + sum(known$log_slope), 1),
             density = mean(stats::dnorm(new$data$reward, got$mean, sqrt(got$sd^2 + 0.1^2), log = TRUE)),
             rmse = sqrt(mean((got$mean - truth(new$x))^2)))
}

# ---- the sparse basis ---------------------------------------------------------------------------

# The same kernel and noise by both engines.
compare_engines <- function(n, d, noise) {
  rows <- rows_of(n, d, seed = 4, noise = noise)
  y <- rows$data$reward
  fit <- gp_fit(rows$x[1:1000, ], y[1:1000], kernel_matern(2.5, rep(1, d)))
  new <- rows_of(1000, d, seed = 5, noise = noise)
  by_engine <- function(engine) {
    b <- gp_bandit(space(d), fit$kernel, fit$noise_var, policy_ei(), refit = refit_every(1e6), engine = engine)
    spent <- seconds({
      b$add(as.data.frame(rows$x), reward = y)
      got <- b$posterior(as.data.frame(new$x))
    })
    sd <- sqrt(got$sd^2 + fit$noise_var)
    data.frame(rows = n, inputs = d, noise = noise, engine = summary(b)$engine, seconds = spent,
               density = mean(stats::dnorm(new$data$reward, got$mean, sd, log = TRUE)),
               coverage = mean(abs(new$data$reward - got$mean) < stats::qnorm(0.95) * sd),
               coverage_truth = mean(abs(truth(new$x) - got$mean) < stats::qnorm(0.95) * got$sd),
               sd = mean(got$sd))
  }
  rbind(by_engine("auto"), by_engine("dense"))
}

# ---- regret -------------------------------------------------------------------------------------

# 80 evaluations of a BBOB function in 5 inputs after 320 uniform points: log10 gaps of the best given and of the best
# evaluated point, and of the recommended one.
regret <- function(fid) {
  problem <- bbob_problem(fid, 1, 5, 400, 0)
  set.seed(fid)
  x <- matrix(runif(320 * 5, -5, 5), 320, dimnames = list(NULL, inputs(5)))
  given <- data.frame(x, reward = apply(x, 1, problem$f))
  set.seed(fid)
  spent <- seconds(found <- suppressWarnings(minimize_bandit(
    function(p) problem$f(as.numeric(p)), stats::setNames(rep(list(c(-5, 5)), 5), inputs(5)), 80, data = given)))
  gap <- function(value) log10(max(value - problem$optimum, 1e-8))
  data.frame(fid = fid, given = gap(min(given$reward)), best = gap(min(problem$seen())),
             recommended = gap(problem$truth(as.numeric(found$par))), seconds = spent)
}

# ---- tables -------------------------------------------------------------------------------------

table_lines <- function(frame, digits = 3) {
  shown <- vapply(frame, function(column) if (is.numeric(column)) format(signif(column, digits), trim = TRUE)
                                          else as.character(column), character(nrow(frame)))
  shown <- matrix(shown, nrow(frame))
  line <- function(cells) paste0("| ", paste(cells, collapse = " | "), " |")
  c(line(names(frame)), line(rep("---", ncol(frame))), apply(shown, 1, line))
}

# Each table is printed as soon as it is there, and kept.
tables <- list()
keep <- function(name, frame) {
  print(frame)
  tables[[name]] <<- table_lines(frame)
}
if ("costs" %in% parts) {
  unit <- one_cholesky(2000)
  costs <- do.call(rbind, lapply(sizes, function(n) do.call(rbind, lapply(c(3, 20), cost, n = n))))
  costs$first_of_cholesky <- costs$first / (unit * (costs$rows / 2000)^3)
  keep("costs", costs)
}
if ("fits" %in% parts) {
  keep("fits", do.call(rbind, Map(compare_fits, c(1010, 2000), c(3, 3), c(0.1, 0.5))))
}
if ("searches" %in% parts) {
  cases <- expand.grid(seed = as.integer(listed("SEEDS", "1,2,3")), d = c(3, 20), n = sizes)
  keep("searches", do.call(rbind, Map(first_fit, cases$n, cases$d, cases$seed)))
}
if ("regret" %in% parts) {
  source("bench/shared/bbob.R")
  keep("regret", do.call(rbind, lapply(as.integer(listed("FIDS", paste(1:20, collapse = ","))), regret)))
}
if ("engines" %in% parts) keep("engines", compare_engines(2600, 3, 0.1))

said <- c(
  costs = paste("`auto_bandit()` with that number of rows: to make it, to its first suggestion, and on average for",
                "later ones\n(refits as due). `first_of_cholesky`: the first suggestion over one exact regression of",
                "as many rows\n(2,000 rows measured, the others by the cube)."),
  fits = paste("The likelihood from neighbours (`gp_fit()` above 1,000 points) against the exact maximum: median",
               "distance of the\nparameters in posterior sds (`moved`), loss of exact log likelihood, mean log density",
               "of 1,000 new rewards."),
  searches = paste("The first fit of a search: exact log likelihood of the rewards at its parameters, mean log density",
                   "of 1,000 new\nrewards, and error of the mean there."),
  regret = paste("80 evaluations after 320 uniform points, BBOB in 5 inputs: log10 gaps."),
  engines = paste("The sparse basis (from 2,500 observations) against the dense engine with the same kernel: mean log",
                  "density of 1,000\nnew rewards, coverage of 90% intervals for them and for the function, mean sd."))
load <- tryCatch(strsplit(readLines("/proc/loadavg"), " ")[[1]][1], error = function(e) "unknown")
writeLines(c("# Many rows: cost of a search, fits and predictions", "",
             sprintf("Processor seconds; load %s at the end. Written by `bench/many_rows.R`.", load),
             unlist(lapply(names(tables), function(name) c("", said[[name]], "", tables[[name]])))),
           "build/many_rows.md")
