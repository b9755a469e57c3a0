# The table and its runs: combinations.R, which describes the checks.
source("combinations.R", local = TRUE)

test_that("every combination of parts runs 30 rounds on a search space and equals the reference", {
  skip_on_cran()
  walk_table(domains$space(), 2003)
})
