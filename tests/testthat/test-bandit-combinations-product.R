# The table and its walk: combinations.R, which says what is checked.
source("combinations.R", local = TRUE)

test_that("every combination plays 30 rounds on a product as the oracle says", {
  skip_on_cran()
  walk_table(domains$product(), 2503)
})
