# The vignette "Frequently asked questions": each block of code runs alone, and does what its answer says.

faq <- test_path("..", "..", "vignettes", "faq.Rmd")

faq_blocks <- function() {
  blocks <- chunks_of(faq)$code
  blocks[nzchar(names(blocks)) & names(blocks) != "setup"]
}

# Runs a block as if it were copied into a fresh session: only gpbandits is attached, nothing else is defined. Returns
# variables that the block has made, with `shown`: the values that it prints.
run_alone <- function(code, seed = 1) {
  local_device()
  set.seed(seed)
  frame <- new.env(parent = globalenv())
  shown <- list()
  utils::capture.output(suppressMessages(for (line in parse(text = code, keep.source = FALSE)) {
    result <- withVisible(eval(line, frame))
    if (result$visible) {
      shown <- c(shown, list(result$value))
      print(result$value)
    }
  }))
  frame$shown <- shown
  frame
}

# What the answers claim of the blocks named here.
claims <- list(
  minimise = function(here) expect_lt(abs(here$shown[[1]] - 2), 0.2),
  data = function(here) expect_identical(here$lab$history()$action, rep("given", 4)),
  integer = function(here) expect_true(all(here$shown[[1]]$layers %in% 1:6)),
  condition = function(here) expect_identical(is.na(here$shown[[1]]$alpha), !here$shown[[1]]$prune),
  where = function(here) expect_true(all(here$s$depth * here$s$trees <= 2000)),
  mixture = function(here) {
    proportions <- here$shown[[1]][c("sand", "clay", "loam")]
    expect_equal(rowSums(proportions), rep(1, 3), ignore_attr = TRUE)
    expect_true(all(proportions >= 0 & proportions <= 0.8))
  },
  bounds = function(here) expect_gte(here$shown[[1]]$x, 0.5),
  fixed = function(here) for (frame in here$shown) expect_identical(frame$temperature, 40),
  importance = function(here) expect_identical(which.max(here$shown[[1]]$total), 1L),
  late = function(here) expect_identical(here$b$history()$status, c("pending", "pending", "observed")),
  fail = function(here) expect_identical(here$shown[[1]], c("failed", "withdrawn", "pending")),
  amend = function(here) expect_identical(here$shown[[1]], 0.6),
  twice = function(here) expect_match(here$shown[[1]], "$amend()", fixed = TRUE),
  outliers = function(here) expect_lt(abs(here$shown[[1]] - 0.5), 0.1),
  front = function(here) {
    front <- here$both$bandit$front()
    order <- order(front$taste_mean)
    expect_false(is.unsorted(front$price_mean[order]))
  },
  cheaper = function(here) for (par in here$shown) expect_lt(abs(par - 0.3), 0.1),
  repeats = function(here) {
    expect_identical(length(unique(here$shown[[1]])), 1L)
    expect_identical(length(unique(here$shown[[2]])), 3L)
  },
  stop = function(here) expect_lt(here$shown[[1]], 40),
  width = function(here) expect_gt(here$shown[[2]], 2),
  seed = function(here) expect_true(here$shown[[1]]),
  batch = function(here) expect_identical(anyDuplicated(here$shown[[1]]), 0L),
  journal = function(here) expect_identical(here$shown[[1]]$reward, 0.5),
  compact = function(here) expect_lt(here$shown[[1]][["after"]], here$shown[[1]][["before"]]),
  json = function(here) expect_true(here$shown[[1]]),
  propensities = function(here) expect_true(all(here$shown[[1]]$propensity > 0 & here$shown[[1]]$propensity <= 1)),
  errors = function(here) expect_identical(here$shown[[1]], "lengthscale")
)

test_that("every question has a heading, and every block a label", {
  skip_without_sources()
  names <- names(chunks_of(faq)$code)
  expect_identical(sum(!nzchar(names)), 1L)               # the first block attaches the package
  expect_identical(anyDuplicated(names), 0L)
  expect_true(all(names(claims) %in% names))
})

test_that("each block runs alone without an error or a warning, and does what its answer says", {
  skip_without_sources()
  blocks <- faq_blocks()
  expect_gt(length(blocks), 40)
  for (name in few_of(setdiff(names(blocks), "parallel"), 8)) {
    here <- expect_no_warning(expect_no_error(run_alone(blocks[[name]]), message = NULL), message = NULL)
    if (is.null(claims[[name]])) next
    claims[[name]](here)
  }
})

test_that("the block with workers runs alone", {
  skip_without_sources()
  skip_if_not_installed("future")
  skip_on_os("windows")
  here <- run_alone(faq_blocks()$parallel)
  expect_lt(abs(here$shown[[1]] - 0.3), 0.1)
})
