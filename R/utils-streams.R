# Random number streams, one for each replication. Layer: base.

# Each replication has a separate random number stream, whichever process runs it. The numbers do not depend on the
# number of processes or on their order.

# `n` seeds (values for .Random.seed) of independent L'Ecuyer-CMRG streams.
replication_seeds <- function(seed, n) {
  seed <- check_count(seed, lower = -.Machine$integer.max)
  n <- check_count(n)
  seeds <- vector("list", n)
  seeds[[1]] <- preserve_rng({
    set_stream_seed(seed)
    current_seed()
  })
  for (i in seq_len(n)[-1]) seeds[[i]] <- parallel::nextRNGStream(seeds[[i - 1]])
  seeds
}

# The start of a stream with all kinds of generators specified, so that it does not depend on the user's settings.
set_stream_seed <- function(seed) {
  kinds <- list(kind = "L'Ecuyer-CMRG", normal.kind = "Inversion", sample.kind = "Rejection")
  if (has_binomial_kinds()) kinds$binom.kind <- "BTPE"
  do.call(set.seed, c(list(seed), kinds))
}

# Since R 4.7 the kinds include that of rbinom(), which the first number of .Random.seed encodes in steps of 100000.
has_binomial_kinds <- function() "binom.kind" %in% names(formals(RNGkind))

restore_rng <- function(seed, binomial_kinds = has_binomial_kinds()) {
  if (is.null(seed)) return(invisible())
  # (Earlier versions of R ignore such a number, with a warning.)
  if (!binomial_kinds) seed[1] <- seed[1] %% 100000L
  assign(".Random.seed", seed, envir = globalenv())
}

# Evaluates `code` from the start of the stream. The caller's generator, its kind and its state are restored afterwards,
# also if `code` fails.
with_stream <- function(stream, code) {
  preserve_rng({
    restore_rng(stream)
    code
  })
}

# Evaluates `code` and restores the state of the random generator.
preserve_rng <- function(code) {
  global <- globalenv()
  had_state <- exists(".Random.seed", envir = global, inherits = FALSE)
  if (!had_state) {
    RNGkind(RNGkind()[1])                             # creates a state, which contains the kinds
    on.exit({
      RNGkind()                                       # reads them
      rm(".Random.seed", envir = global)
    })
  }
  cpp_preserve_rng(function() code, current_seed())
}

current_seed <- function() {
  if (exists(".Random.seed", envir = globalenv(), inherits = FALSE)) {
    get(".Random.seed", envir = globalenv(), inherits = FALSE)
  }
}
