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

test_that("with jumps event triggers have the least regret, and CPD differs from GP-UCB by less than the errors", {
  curves <- stored_result("nonstationary-curves")
  ends <- curves[curves$experiment == "jumps" & curves$round == max(curves$round), ]
  regret <- stats::setNames(ends$mean, ends$bandit)
  triggers <- grepl("^ET-", ends$bandit)
  expect_lt(max(regret[triggers]), min(regret[!triggers]))
  expect_true(all(regret[c("R-GP-UCB", "SW-GP-UCB", "WGP-UCB")] < regret["CPD"]))
  expect_lt(abs(regret[["CPD"]] - regret[["GP-UCB"]]), ends$se[ends$bandit == "GP-UCB"])
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
