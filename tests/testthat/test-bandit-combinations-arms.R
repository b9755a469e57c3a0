# The table and its walk: combinations.R, which says what is checked.
source("combinations.R", local = TRUE)

test_that("every combination plays 30 rounds on arms as the oracle says", {
  skip_on_cran()
  walk_table(domains$arms(), 421)
})
