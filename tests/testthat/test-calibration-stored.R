# What help pages and articles state of stored results and of each other holds. (Articles are not in the installed
# package: under R CMD check their tables are not here.)

stored_result <- function(name) {
  utils::read.csv(system.file("extdata", paste0(name, ".csv.xz"), package = "gpbandits"), comment.char = "#")
}

article_table <- function(name) {
  file <- test_path("..", "..", "vignettes", "articles", paste0(name, ".csv"))
  skip_if_not(file.exists(file), "the sources are not here")
  utils::read.csv(file, comment.char = "#")
}

page_text <- function(topic) paste(unlist(tools::Rd_db("gpbandits")[[paste0(topic, ".Rd")]]), collapse = " ")

test_that("in 50 tasks GP-BUCB has significantly less regret than GP-UCB, and GP-UCB-SDF differs from neither", {
  ends <- stored_result("delayed-contexts-final")
  ends <- ends[ends$experiment == "tasks" & ends$setting == "refitted", ]
  regret <- tapply(ends$regret, list(ends$run, ends$bandit), mean)
  p <- function(one, other) stats::t.test(regret[, one] - regret[, other])$p.value
  means <- colMeans(regret)[c("GP-BUCB", "GP-UCB-SDF", "GP-UCB")]
  expect_false(is.unsorted(means))
  expect_lt(p("GP-BUCB", "GP-UCB"), 0.05)
  expect_gt(p("GP-UCB-SDF", "GP-UCB"), 0.05)
  expect_gt(p("GP-UCB-SDF", "GP-BUCB"), 0.05)
})

test_that("with jumps event triggers have the least regret, restarts the next, and CPD is level with windows", {
  curves <- stored_result("nonstationary-curves")
  ends <- curves[curves$experiment == "jumps" & curves$round == max(curves$round), ]
  regret <- stats::setNames(ends$mean, ends$bandit)
  triggers <- grepl("^ET-", ends$bandit)
  expect_lt(max(regret[triggers]), min(regret[!triggers]))
  error <- stats::setNames(ends$se, ends$bandit)
  expect_lt(regret[["R-GP-UCB"]], regret[["CPD"]] - 2 * error[["CPD"]])
  for (rule in c("SW-GP-UCB", "WGP-UCB", "GP-UCB")) {
    expect_lt(abs(regret[["CPD"]] - regret[[rule]]), 2 * sqrt(error[["CPD"]]^2 + error[[rule]]^2))
  }
})

at_the_end <- function(results, ...) {
  rows <- results[Reduce(`&`, Map(function(name, value) results[[name]] == value, ...names(), list(...))), ]
  rows <- rows[rows$round == max(rows$round), ]
  list(mean = stats::setNames(rows$mean, rows$bandit),
       se = if (!is.null(rows$se)) stats::setNames(rows$se, rows$bandit))
}

test_that("SVM with delays: order of the UCB rules, and errors on both scales, are as the article states", {
  thompson <- c("GP-TS-SDF", "asy-TS", "GP-BTS")
  for (delay in c("poisson", "fixed")) {
    linear <- at_the_end(stored_result("delayed-svm-linear"), delay = delay)
    expect_false(is.unsorted(linear$mean[c("GP-UCB-SDF", "GP-BUCB", "GP-UCB")]))
    expect_equal(linear$mean[["GP-UCB"]] - linear$mean[["GP-UCB-SDF"]], 0.05, tolerance = 0.1)
    expect_lt(diff(range(linear$mean[thompson])), 2 * sqrt(2) * max(linear$se[thompson]))
    log <- at_the_end(stored_result("delayed-svm-log"), delay = delay)
    expect_lt(max(log$mean), 0.26)
    expect_identical(names(which.max(log$mean)), "GP-UCB")
    expect_lt(diff(range(log$mean[names(log$mean) != "GP-UCB"])), 0.012)
  }
  first <- stored_result("delayed-svm-linear")
  expect_equal(first$mean[first$round == 1 & first$bandit == "GP-UCB"], c(0.35, 0.35), tolerance = 0.01)
})

test_that("delays: the prior decides between GP-UCB-SDF and GP-BUCB, and GP-UCB is last", {
  synthetic <- stored_result("delayed-synthetic")
  for (panel in c("c", "d")) {
    good <- at_the_end(synthetic, panel = panel)$mean
    wide <- at_the_end(synthetic, panel = paste0(panel, ", mean 0"))$mean
    expect_false(is.unsorted(good[c("GP-UCB-SDF", "GP-BUCB", "GP-UCB")]))
    expect_false(is.unsorted(wide[c("GP-BUCB", "GP-UCB-SDF", "GP-UCB")]))
    expect_true(all(wide < good[names(wide)]))
    refits <- at_the_end(synthetic, panel = paste0(panel, ", refits"))
    expect_identical(names(which.max(refits$mean)), "GP-UCB")
    two <- c("GP-UCB-SDF", "GP-BUCB")
    expect_lt(abs(diff(refits$mean[two])), 2 * sqrt(sum(refits$se[two]^2)))
  }
  best <- 100 * (1 - max(stored_result("logistic-wdbc")$accuracy))
  for (panel in c("logistic, poisson", "logistic, fixed")) {
    ends <- at_the_end(stored_result("delayed-tables"), panel = panel)$mean
    expect_equal(unname(ends), rep(best, 7), tolerance = 1e-3)
  }
})

test_that("growing data: with refits GP-UCB-SDF leads the UCB rules, and with a tiny noise variance it is last", {
  contexts <- stored_result("delayed-contexts")
  growing <- function(setting) at_the_end(contexts, experiment = "growing", setting = setting)$mean
  ucb <- c("GP-UCB-SDF", "GP-BUCB", "GP-UCB")
  expect_false(is.unsorted(growing("refitted")[ucb]))
  expect_identical(names(which.max(growing("kept, 1e-4")[ucb])), "GP-UCB-SDF")
})

test_that("drift: restarts are ahead of windows and weights, these of GP-UCB, and TV-GP-UCB is last", {
  drift <- at_the_end(stored_result("nonstationary-curves"), experiment = "drift")
  gradual <- c("SW-GP-UCB", "WGP-UCB")
  expect_true(all(drift$mean[gradual] - drift$mean[["R-GP-UCB"]] > drift$se[gradual] + drift$se[["R-GP-UCB"]]))
  expect_lt(max(drift$mean[gradual]), drift$mean[["GP-UCB"]])
  expect_identical(names(which.max(drift$mean)), "TV-GP-UCB")
})

test_that("regret in the number of periods: the interval of the exponent excludes the theorem's 3/14", {
  runs <- stored_result("nonstationary-runs")
  runs <- runs[runs$experiment == 2, ]
  mean <- tapply(runs$regret, runs$size, base::mean)
  se <- tapply(runs$regret, runs$size, function(r) stats::sd(r) / sqrt(length(r)))
  fit <- stats::lm(log(mean) ~ log(as.numeric(names(mean))), weights = (mean / se)^2)
  slope <- stats::coef(fit)[[2]]
  half <- stats::qnorm(0.975) * sqrt(stats::vcov(fit)[2, 2]) / stats::sigma(fit)
  expect_gt(slope - half, 3 / 14)
})

test_that("EI is ahead of GP-UCB on temperature, within a standard error elsewhere; MPI's lead on traffic ends", {
  curves <- stored_result("srinivas-curves")
  z <- function(problem) {
    ends <- at_the_end(curves, problem = problem)
    (ends$mean[["EI"]] - ends$mean[["GP-UCB"]]) / sqrt(ends$se[["EI"]]^2 + ends$se[["GP-UCB"]]^2)
  }
  expect_lt(z("temperature"), -2)
  for (problem in c("synthetic", "traffic")) expect_lt(abs(z(problem)), 1)
  first <- function(bandit, problem) {
    of <- function(name) curves$mean[curves$problem == problem & curves$bandit == name]
    curves$round[curves$problem == problem & curves$bandit == bandit][of(bandit) < of("GP-UCB")]
  }
  expect_identical(range(first("MPI with margin", "traffic")), c(2L, 41L))
  greedy <- vapply(unique(curves$problem), function(problem) max(first("Mean only", problem)), 0L)
  expect_identical(range(greedy), c(6L, 20L))
})

test_that("RKHS functions: GP-TS, EI and KernelUCB have the order that the article states", {
  synthetic <- stored_result("chowdhury-synthetic")
  for (figure in c("1", "2")) for (problem in c("SE", "Matern 2.5")) {
    regret <- at_the_end(synthetic, figure = figure, problem = problem)$mean
    expect_lt(regret[["GP-TS"]], regret[["GP-UCB"]])
    expect_lt(regret[["GP-EI"]], regret[["GP-TS"]])
    ahead <- regret[["GP-TS"]] < regret[c("GP-EI, margin", "GP-PI, margin")]
    expect_identical(unname(ahead), rep(figure == "1" || problem == "SE", 2))
  }
  hartmann <- at_the_end(synthetic, figure = "3", problem = "Hartmann 3")$mean
  expect_identical(names(which.min(hartmann)), "KernelUCB")
  light <- stored_result("chowdhury-sensors")
  light <- light[light$problem == "light" & light$setting == "ours" & light$round >= 40, ]
  of <- function(bandit) light$mean[light$bandit == bandit]
  expect_true(all(of("IGP-UCB") < pmin(of("GP-EI"), of("GP-PI"))))
})

test_that("two workers: one to three more evaluations, and less than twice the speed", {
  runs <- stored_result("real-workers")
  medians <- stats::aggregate(cbind(seconds, evaluations) ~ workers + accuracy, runs, stats::median)
  one <- medians[medians$workers == 1, ]
  two <- medians[medians$workers == 2, ]
  expect_true(all(two$evaluations - one$evaluations >= 1 & two$evaluations - one$evaluations <= 3))
  expect_true(all(one$seconds / two$seconds > 1 & one$seconds / two$seconds < 2))
})

test_that("tuning: the noise of the accuracy at the best settings", {
  sonar <- stored_result("tuning-sonar")
  expect_identical(nrow(sonar), 289L)
  expect_equal(stats::median(sonar$sd[order(-sonar$accuracy)][1:40]), 0.0145, tolerance = 0.1)
})

test_that("late rewards: with a good prior mean censoring finds the better point at a larger cumulative regret", {
  late <- article_table("late-rewards")
  of <- function(rule) late[late$rule == rule & late$prior == "mean 0.5, variance 0.05", ]
  expect_lt(of("GP-UCB-SDF")$simple, of("GP-BUCB")$simple - 2 * of("GP-BUCB")$simple_se)
  expect_gt(of("GP-UCB-SDF")$cumulative, of("GP-BUCB")$cumulative + 2 * of("GP-BUCB")$cumulative_se)
})

test_that("with a wrong lengthscale intervals miss more often than delta, and the certificate seldom warns", {
  wrong <- article_table("wrong-lengthscale")
  at <- function(factor) wrong[wrong$factor == factor, ]
  expect_lte(at(1)$missed, 0.1)
  expect_gt(at(2)$missed, 0.1)
  expect_gt(at(3)$missed, at(2)$missed)
  expect_true(all(wrong$warned[wrong$factor >= 2] < wrong$missed[wrong$factor >= 2]))
})

test_that("the constant C1 of a bound is defined on every page that has it", {
  pages <- tools::Rd_db("gpbandits")
  text <- vapply(pages, function(page) paste(unlist(page), collapse = " "), "")
  expect_identical(names(text)[grepl("C_1", text) & !grepl("C_1 *=", text)], character())
})

test_that("the page on certificates names every width that has a guarantee for them", {
  page <- page_text("certificate-assumptions")
  certifies <- Filter(function(kind) {
    claim <- width_entries[[kind]]$traits$claim
    !is.null(claim) && !identical(claim(NULL), claim_nothing) && !identical(claim(NULL), claim_compact)
  }, names(width_entries))
  expect_gt(length(certifies), 8)
  # (That of clipped rewards is made by width_realized().)
  expect_match(page, "rewards_robust", fixed = TRUE)
  for (kind in setdiff(certifies, "clip")) expect_match(page, paste0("width_", kind), fixed = TRUE)
  expect_match(page, "width_ec", fixed = TRUE)
})
