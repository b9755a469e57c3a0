# compare_bandits(): the same numbers however the work is spread, the same noise for all.

compare_x <- seq(0, 1, length.out = 12)
compare_kernel <- kernel_se(0.2)
makers <- list(
  ucb = function(problem) gp_ucb(problem$domain, compare_kernel, 0.01),
  thompson = function(problem) gp_ts(problem$domain, compare_kernel, 0.01, B = 1, R = 0.1),
  uniform = function(problem) {
    prior <- stats::rnorm(1)                         # a maker may draw, too: nobody else must notice
    gp_bandit(problem$domain, compare_kernel, 0.01, policy_uniform(), mean = prior)
  }
)
make_problem <- function(replication) {
  bandit_problem(compare_x, sample_gp(compare_kernel, compare_x) + replication, noise = 0.1,
                 delay = function(n) rpois(n, 1))
}
compare <- function(bandits = makers, ..., rounds = 11, replications = 3, seed = 4) {
  compare_bandits(bandits, make_problem, rounds, replications, seed, ...)
}
of_bandit <- function(data, name) {
  part <- data[data$bandit == name, names(data) != "bandit"]
  rownames(part) <- NULL
  part
}

test_that("a bandit's numbers do not depend on which others are compared, or in what order", {
  all <- as.data.frame(compare())
  backwards <- as.data.frame(compare(rev(makers)))
  expect_identical(levels(backwards$bandit), rev(names(makers)))
  for (name in names(makers)) {
    expect_identical(of_bandit(backwards, name), of_bandit(all, name))
    expect_identical(of_bandit(as.data.frame(compare(makers[name])), name), of_bandit(all, name))
  }
  fewer <- as.data.frame(compare(replications = 2))
  expect_identical(of_bandit(fewer, "thompson"), of_bandit(all[all$replication <= 2, ], "thompson"))
  other <- as.data.frame(compare(seed = 5))
  expect_false(identical(of_bandit(other, "ucb"), of_bandit(all, "ucb")))
})

test_that("every bandit gets the same problem, noise and delays", {
  data <- as.data.frame(compare())
  noise <- function(name) with(of_bandit(data, name), reward - f)
  for (name in names(makers)[-1]) {
    both <- !is.na(noise("ucb")) & !is.na(noise(name))
    expect_gt(sum(both), 20)
    expect_equal(noise(name)[both], noise("ucb")[both])
    expect_identical(is.na(noise(name)), is.na(noise("ucb")))     # what arrived in time
    expect_identical(of_bandit(data, name)$optimum, of_bandit(data, "ucb")$optimum)
  }
  expect_gt(stats::sd(noise("ucb"), na.rm = TRUE), 0)
  replication <- of_bandit(data, "ucb")$replication
  expect_length(unique(of_bandit(data, "ucb")$optimum), 3)        # another problem in each replication
  first <- noise("uniform")[replication == 1]
  expect_false(isTRUE(all.equal(first, noise("uniform")[replication == 2])))
})

test_that("the caller's random numbers do not change", {
  set.seed(6)
  state <- .Random.seed
  compare()
  expect_identical(.Random.seed, state)
  kind <- RNGkind("Wichmann-Hill")
  on.exit(RNGkind(kind[1]))
  set.seed(6)
  state <- .Random.seed
  other <- compare()
  expect_identical(.Random.seed, state)
  RNGkind(kind[1])
  expect_identical(as.data.frame(other), as.data.frame(compare()))
})

test_that("`every` keeps some rounds of the same numbers, and the last", {
  all <- as.data.frame(compare())
  for (every in c(1, 3, 4, 11)) {
    some <- compare(every = every)
    kept <- sort(unique(c(seq(every, 11, by = every), 11)))
    expect_identical(sort(unique(as.data.frame(some)$round)), as.double(kept))
    expected <- all[all$round %in% kept, ]
    rownames(expected) <- NULL
    expect_identical(as.data.frame(some), expected)
  }
})

test_that("the long table is consistent with itself", {
  data <- as.data.frame(compare())
  expect_identical(nrow(data), 3L * 3L * 11L)
  expect_equal(data$average_regret, data$cumulative_regret / data$round)
  expect_equal(data$regret, data$optimum - data$f)
  for (part in split(data, list(data$bandit, data$replication))) {
    expect_equal(part$round, 1:11)
    expect_equal(part$cumulative_regret, cumsum(part$regret))
    expect_false(is.unsorted(-part$simple_regret, na.rm = TRUE))
  }
})

test_that("summary() has mean and standard error over replications", {
  comparison <- compare(replications = 5)
  data <- as.data.frame(comparison)
  for (rounds in list(11, c(2, 7))) {
    table <- summary(comparison, rounds = rounds, columns = c("average_regret", "simple_regret", "reward"))
    expect_identical(nrow(table), 3L * 3L * length(rounds))
    for (i in seq_len(nrow(table))) {
      values <- data[data$bandit == table$bandit[i] & data$round == table$round[i], table$quantity[i]]
      values <- values[!is.na(values)]
      expect_equal(table$mean[i], if (length(values)) mean(values) else NaN)
      expect_equal(table$se[i], if (length(values) > 1) stats::sd(values) / sqrt(length(values)) else NA_real_)
    }
  }
  expect_identical(unique(summary(comparison)$round), 11)
  expect_true(all(is.na(summary(compare(replications = 1))$se)))
})

test_that("a single problem is used for all replications", {
  problem <- bandit_problem(compare_x, sin(5 * compare_x), noise = 0.1)
  data <- as.data.frame(compare_bandits(makers["ucb"], problem, 6, 2, seed = 1))
  expect_identical(unique(data$optimum), max(sin(5 * compare_x)))
  expect_false(identical(data$reward[data$replication == 1], data$reward[data$replication == 2]))
})

test_that("progress goes through the user's progressr handler", {
  skip_if_not_installed("progressr")
  problem <- bandit_problem(compare_x, sin(5 * compare_x))
  expect_identical(sum(progress_amounts(compare(progress = TRUE))), 3)
  expect_identical(sum(progress_amounts(compare(progress = FALSE))), 0)
  expect_identical(sum(progress_amounts(run_bandit(makers$ucb(problem), problem, 30, progress = TRUE))), 30)
  slow <- gp_ucb(compare_x, compare_kernel, 0.01, width = width_function(function(t) {
    Sys.sleep(0.03)
    1
  }))
  moves <- progress_amounts(run_bandit(slow, problem, 10, progress = TRUE))
  expect_gt(length(moves), 2)                        # during the run, not only at its end
  expect_identical(sum(moves), 10)
  expect_identical(as.data.frame(compare(progress = TRUE)), as.data.frame(compare()))
})

test_that("parallel workers give the same numbers, workspace objects included", {
  skip_on_cran()
  skip_if_not_installed("future.apply")
  out <- run_child(c(
    "suppressPackageStartupMessages({ library(gpbandits); library(future.apply) })",
    "x <- seq(0, 1, length.out = 12)",                       # names that the package uses inside, too
    "f <- function(x) sin(5 * x)", "kernel <- kernel_se(0.2)", "bar <- 0.01", "items <- 2",
    "own_ucb <- function(problem) gp_ucb(x, kernel, bar, delta = 1 / items / 4)",
    "bandits <- list(ucb = own_ucb, ts = function(problem) gp_ts(x, kernel, bar, B = max(f(x)), R = items))",
    "problems <- function(replication) bandit_problem(x, f(x) + rnorm(1), noise = bar)",
    "compare <- function(replications) compare_bandits(bandits, problems, 10, replications, seed = 1)",
    "serial <- as.data.frame(compare(3))",
    "plan(multisession, workers = 2)",
    "set.seed(2); state <- .Random.seed",
    "cat('same', identical(as.data.frame(compare(3)), serial), '\\n')",
    "cat('untouched', identical(.Random.seed, state), '\\n')",
    "bandits$ucb <- function(problem) stop('out of order')",
    "e <- tryCatch(compare(2), error = identity)",
    "cat('error', inherits(e, 'gpbandits_error'), grepl('out of order', conditionMessage(e)), '\\n')",
    "b <- own_ucb(NULL); b$suggest(2); b$observe(1, 0.5)",
    "there <- value(future({ set.seed(3); list(b$suggest(2), b$history()) }, seed = NULL))",
    "set.seed(3); here <- list(b$suggest(2), b$history())",
    "cat('travels', identical(there, here), nrow(b$history()), '\\n')",
    "plan(sequential)"))
  expect_identical(grep("^(same|untouched|error|travels)", out, value = TRUE),
                   c("same TRUE ", "untouched TRUE ", "error TRUE TRUE ", "travels TRUE 4 "))
})

test_that("toLatex() has means and standard errors of summary(), the best in bold, and escaped names", {
  of <- function(policy) function(p) gp_bandit(1:5 / 5, kernel_se(0.3), 0.01, policy)
  found <- compare_bandits(list("a_1" = of(policy_uniform()), "b&c" = of(policy_ei())),
                           function(k) bandit_problem(1:5 / 5, c(0, 0, 1, 0, 0), noise = 0.05), 20, 4, seed = 1)
  table <- utils::toLatex(found, digits = 3)
  expect_s3_class(table, "Latex")
  expect_identical(table[c(1, length(table))], c("\\begin{tabular}{lrr}", "\\end{tabular}"))
  expect_identical(table[3], " & average regret & simple regret \\\\")
  rows <- strsplit(sub(" \\\\\\\\$", "", table[5:6]), " & ", fixed = TRUE)
  expect_identical(vapply(rows, `[`, "", 1), c("a\\_1", "b\\&c"))
  numbers <- summary(found, columns = "average_regret")
  word <- function(x) formatC(x, digits = 3, format = "g", flag = "#")
  wanted <- sprintf("%s \\pm %s", word(numbers$mean), word(numbers$se))
  expect_lt(numbers$mean[2], numbers$mean[1])
  expect_identical(vapply(rows, `[`, "", 2), c(sprintf("$%s$", wanted[1]), sprintf("$\\mathbf{%s}$", wanted[2])))
  expect_identical(sum(grepl(", round 10", utils::toLatex(found, rounds = c(10, 20)))), 1L)
  expect_error(utils::toLatex(found, digits = 0), "`digits`", class = "gpbandits_argument_error")
})
