# Plays a bandit of the package and the reference side by side, choice by choice.

# Every kernel of the package with the reference's formula for it, over d inputs.
compare_kernels <- function() {
  list(
    se = list(core = kernel_se(0.3, 1.4), ref = ref_kernel_se(0.3, 1.4), d = 1),
    se_ard = list(core = kernel_se(c(0.2, 0.7)), ref = ref_kernel_se(c(0.2, 0.7)), d = 2),
    matern12 = list(core = kernel_matern(0.5, 0.4), ref = ref_kernel_matern(0.5, 0.4), d = 1),
    matern32 = list(core = kernel_matern(1.5, 0.4, 2), ref = ref_kernel_matern(1.5, 0.4, 2), d = 2),
    matern52 = list(core = kernel_matern(2.5, 0.3), ref = ref_kernel_matern(2.5, 0.3), d = 1),
    matern_odd = list(core = kernel_matern(1.13, c(0.3, 0.6), 0.5),
                      ref = ref_kernel_matern(1.13, c(0.3, 0.6), 0.5), d = 2),
    rq = list(core = kernel_rq(0.8, 0.4, 1.2), ref = ref_kernel_rq(0.8, 0.4, 1.2), d = 2),
    periodic = list(core = kernel_periodic(0.7, 1.1), ref = ref_kernel_periodic(0.7, 1.1), d = 1),
    linear = list(core = kernel_linear(1.3), ref = ref_kernel_linear(1.3), d = 3),
    sum = list(core = kernel_se(0.3, dims = 1) + kernel_matern(2.5, 0.5, dims = 2),
               ref = ref_kernel_sum(ref_kernel_se(0.3, dims = 1), ref_kernel_matern(2.5, 0.5, dims = 2)),
               d = 2),
    product = list(core = kernel_se(0.3, dims = 1) * (kernel_linear(dims = 2) + kernel_rq(1, 0.5, 0.3)),
                   ref = ref_kernel_product(ref_kernel_se(0.3, dims = 1),
                                            ref_kernel_sum(ref_kernel_linear(dims = 2),
                                                           ref_kernel_rq(1, 0.5, 0.3))), d = 2)
  )
}

# The largest differences seen so far, one entry per quantity.
worst_of <- function(worst, name, core, ref) {
  gap <- max(0, abs(core - ref))
  if (!is.finite(gap)) gap <- Inf
  worst[[name]] <- max(worst[[name]], gap)
  worst
}

# One query by both. Chance (uniform play, Thompson) is taken from the bandit's own arm.
# Returns the reference's new state; stops when the arms differ, with both scores.
suggest_with_reference <- function(bandit, ref, context = NULL, number = 1, arms = seq_len(ref$n_arms)) {
  query <- bandit$suggest(context = context, arms = if (length(arms) < ref$n_arms) arms)
  point <- query$arm + (number - 1) * ref$n_arms
  ready <- ref_before_query(ref)
  chance <- ref_explores_now(ready) || ref$policy$kind %in% c("ts", "uniform")
  after <- ref_suggest(ref, if (chance) point, number, arms)
  if (after$rows[query$id] != point) {
    info <- after$at_choice[[query$id]]$info
    stop(sprintf("round %d: bandit plays %d, oracle %d (mean %.12g %.12g, sd %.12g %.12g)", query$id,
                 point, after$rows[query$id], info$mean[point], info$mean[after$rows[query$id]],
                 info$sd[point], info$sd[after$rows[query$id]]))
  }
  after
}

# `reward`: function(t, point); `delay`: rounds until reward t is handed over.
play_with_reference <- function(bandit, ref, rounds, reward, delay = rep(0, rounds), constraint = NULL,
                        contexts = NULL, visits = NULL, each_round = TRUE) {
  worst <- list(mean = 0, sd = 0)
  for (t in seq_len(rounds)) {
    for (s in which(seq_len(rounds) < t & seq_len(rounds) + pmax(delay, 1) == t)) {
      both <- observe_with_reference(bandit, ref, s, reward(s, ref$rows[s]), constraint)
      ref <- both$ref
    }
    number <- if (is.null(visits)) 1 else visits[t]
    context <- if (!is.null(contexts)) contexts[number, ]
    if (each_round) worst <- posterior_gaps(worst, bandit, ref, context, number)
    ref <- suggest_with_reference(bandit, ref, context, number)
  }
  list(ref = ref, worst = worst)
}

observe_with_reference <- function(bandit, ref, id, reward, constraint = NULL) {
  if (is.null(constraint)) {
    bandit$observe(id, reward)
    return(list(ref = ref_observe(ref, id, reward)))
  }
  g <- constraint(id, ref$rows[id])
  bandit$observe(id, reward, constraints = g)
  list(ref = ref_observe(ref, id, reward, g))
}

posterior_gaps <- function(worst, bandit, ref, context = NULL, number = 1) {
  core <- if (is.null(context)) bandit$posterior() else bandit$posterior(context = context)
  # Restarts and ends of epochs take effect with the next query.
  theirs <- ref_bandit_posterior(ref)
  here <- (number - 1) * ref$n_arms + seq_len(ref$n_arms)
  worst <- worst_of(worst, "mean", core$mean, theirs$mean[here])
  worst_of(worst, "sd", core$sd, theirs$sd[here])
}

# History against the reference's data at each choice.
expect_history <- function(bandit, ref, tolerance = tol$engine, widths = TRUE) {
  h <- bandit$history()
  at <- function(name) vapply(ref$at_choice, function(a) as.numeric(a[[name]]), 0)
  expect_equal(nrow(h), ref_queries(ref))
  expect_equal(h$arm, (ref$rows - 1) %% ref$n_arms + 1)
  expect_equal(as.character(h$action), ref$action)
  expect_equal(as.numeric(h$segment), at("segment"))
  expect_lt(max(abs(h$mean - at("mean"))), tolerance)
  expect_lt(max(abs(h$sd - at("sd"))), tolerance)
  expect_equal(h$reward, ref$reward)
  # A point that was given has no width.
  if (widths) expect_equal(h$width, ifelse(ref$action == "given", NA, at("width")), tolerance = tolerance)
  for (j in seq_along(ref$kappa)) {
    kappa <- vapply(ref$at_choice, function(a) a$kappa[j], 0)
    expect_equal(h[[paste0("kappa", j)]], kappa, tolerance = tolerance)
  }
}

# Rewards as a function of the point: a draw from the prior plus fixed noise.
compare_rewards <- function(K, mean, noise_sd, rounds) {
  f <- as.vector(ref_draw_normal(1, rep(mean, length.out = nrow(K)), K))
  e <- stats::rnorm(rounds, 0, noise_sd)
  function(t, point) f[point] + e[t]
}

# The level of repetition, GPBANDITS_TEST_LEVEL: 0 (`make test`: every subject, few repetitions), 1 (the default, and
# `make test-all`) or 2 (hours).
test_level <- function() as.integer(Sys.getenv("GPBANDITS_TEST_LEVEL", "1"))
second_level <- function() test_level() >= 2
# A size, or cases, by the level.
by_level <- function(default, second, quick = default) {
  if (second_level()) second else if (test_level() == 0) quick else default
}
# All cases; at level 0 at most `count` of them, evenly spread from the first to the last.
few_of <- function(cases, count) {
  if (test_level() > 0 || length(cases) <= count) return(cases)
  cases[round(seq(1, length(cases), length.out = count))]
}
