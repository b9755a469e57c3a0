# Random number streams: every replication has its own, whatever runs it, so
# the numbers do not depend on the number of processes or on their order.

# `n` seeds (values for .Random.seed) of independent L'Ecuyer-CMRG streams.
replication_seeds <- function(seed, n) {
  seed <- check_count(seed, lower = -.Machine$integer.max)
  n <- check_count(n)
  seeds <- vector("list", n)
  seeds[[1]] <- preserve_rng({
    set.seed(seed, kind = "L'Ecuyer-CMRG", normal.kind = "Inversion", sample.kind = "Rejection")
    get(".Random.seed", envir = globalenv(), inherits = FALSE)
  })
  for (i in seq_len(n)[-1]) seeds[[i]] <- parallel::nextRNGStream(seeds[[i - 1]])
  seeds
}

# Evaluates `code` from the stream's beginning; the caller's generator, its kind
# and its state are afterwards what they were, also when `code` fails.
with_stream <- function(stream, code) {
  preserve_rng({
    assign(".Random.seed", stream, envir = globalenv())
    code
  })
}

# Evaluates `code` and puts the random generator back as it was.
preserve_rng <- function(code) {
  global <- globalenv()
  had_state <- exists(".Random.seed", envir = global, inherits = FALSE)
  if (!had_state) {
    RNGkind(RNGkind()[1])                             # makes a state, which carries the kinds
    on.exit({
      RNGkind()                                       # reads them
      rm(".Random.seed", envir = global)
    })
  }
  cpp_preserve_rng(function() code)
}
