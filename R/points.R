# Sets of points: told apart, found again, spread out.

# For each row of `given` the first equal row of `known`, NA if there is none.
match_rows <- function(given, known) match(row_keys(given + 0), row_keys(known + 0))

# Exact row identities, to every bit.
row_keys <- function(x) do.call(paste, lapply(seq_len(ncol(x)), function(j) sprintf("%a", x[, j])))

# The package's one low-discrepancy sequence, the core's: the first `n` of it in [0, 1)^d, without random numbers.
golden_points <- function(n, d) cpp_golden_points(n, d)
