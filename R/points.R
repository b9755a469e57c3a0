# Sets of points: told apart, found again, spread out.

# For each row of `given` the first equal row of `known`, NA if there is none.
match_rows <- function(given, known) match(row_keys(given + 0), row_keys(known + 0))

# Exact row identities, to every bit.
row_keys <- function(x) do.call(paste, lapply(seq_len(ncol(x)), function(j) sprintf("%a", x[, j])))

# A low-discrepancy sequence without random numbers: multiples of the powers of
# 1/phi, phi^(d + 1) = phi + 1 (the generalised golden ratio), modulo 1.
kronecker_points <- function(n, d) {
  phi <- stats::uniroot(function(p) p^(d + 1) - p - 1, c(1, 2), tol = 1e-15)$root
  (0.5 + outer(seq_len(n), phi^-seq_len(d))) %% 1
}
