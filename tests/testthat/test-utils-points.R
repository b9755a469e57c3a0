# Sets of points: equal rows.

test_that("rows have the numbers of the distinct rows, in the order of their first appearance", {
  set.seed(1)
  for (d in 1:3) {
    x <- matrix(sample(c(-1, 0, 0.1, 0.3), 60 * d, TRUE), 60)
    key <- apply(x, 1, paste, collapse = " ")
    expect_identical(row_numbers(x), match(key, unique(key)))
    expect_identical(row_numbers(as.data.frame(x)), row_numbers(x))
  }
  expect_identical(row_numbers(cbind(c(0, -0, 1))), c(1L, 1L, 2L))
  expect_identical(row_numbers(cbind(1, c(1, 1 + 2^-52, 1))), c(1L, 2L, 1L))
  expect_identical(row_numbers(matrix(0, 0, 2)), integer())
  expect_identical(row_numbers(matrix(0, 3, 0)), rep(1L, 3))
})
