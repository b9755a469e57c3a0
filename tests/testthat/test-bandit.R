# Random runs of a bandit: suggest, observe, add, copy, save and read, reset, in any
# order, against the reference; replay after every kind of event; same seed, same result.

# A way of playing: our bandit, the reference's, what contexts and constraints there are.
life <- function(name) {
  x <- c(0.05, 0.2, 0.31, 0.5, 0.52, 0.8, 0.97)
  kernel <- kernel_matern(2.5, 0.3)
  ref_kernel <- ref_kernel_matern(2.5, 0.3)
  core <- list(domain = x, kernel = kernel, noise_var = 0.08, mean = 0.2,
               policy = policy_ucb(width_srinivas_finite(0.1, 0.2)))
  ref <- list(K = ref_kernel(x), lambda = 0.08, mean = 0.2,
              policy = ref_policy("ucb", ref_width_srinivas_finite(0.1, 0.2)))
  change <- life_changes(name, x, ref_kernel)
  core[names(change$core)] <- change$core
  ref[names(change$ref)] <- change$ref
  list(bandit = do.call(gp_bandit, core), ref = do.call(ref_bandit, ref), contexts = change$contexts,
       count = if (is.null(change$count)) 0 else change$count)
}

life_changes <- function(name, x, ref_kernel) {
  theta <- function(q) 2.6 * q^(-6 / 7)
  ridge <- function(q) 2 * q^(1 / 7)
  z <- matrix(c(0, 0.4, 1), 3)
  both <- cbind(rep(x, 3), rep(z, each = 7))
  switch(
    name,
    plain = list(),
    hallucinate = list(core = list(pending = pending_hallucinate()), ref = list(pending = ref_pending("hallucinate"))),
    censor = list(core = list(pending = pending_censor(3, -1)), ref = list(pending = ref_pending("censor", 3, -1))),
    contexts = list(core = list(contexts = z), ref = list(K = ref_kernel(both), n_arms = 7), contexts = z),
    oracle_changes = list(core = list(changes = change_oracle(c(5, 17), explore = 1)),
                          ref = list(changes = ref_changes("oracle", 1, times = c(5, 17)))),
    never = list(core = list(changes = change_never(explore = 1)), ref = list(changes = ref_changes("never", 1))),
    detector = list(core = list(changes = change_detect(theta, ridge)),
                    ref = list(changes = ref_changes("detect", sqrt(3), threshold = theta, ridge = ridge))),
    window = list(core = list(changes = change_oracle(window = 4)), ref = list(drift = ref_drift("window", W = 4))),
    weights = list(core = list(changes = change_oracle(rate = 0.2, by = "weights"), pending = pending_hallucinate()),
                   ref = list(drift = ref_drift("weight", eta = 0.8), pending = ref_pending("hallucinate"))),
    fade = list(core = list(changes = change_oracle(rate = 0.2), pending = pending_hallucinate()),
                ref = list(drift = ref_drift("fade", eps = 0.2), pending = ref_pending("hallucinate"))),
    window_noisy = list(core = list(changes = change_oracle(window = 6), constraints = constraints_noisy(1, 4, 0.5)),
                        ref = list(drift = ref_drift("window", W = 6), constraints = ref_constraints("noisy", 1, 4, step = 0.5)),
                        count = 1),
    weights_noisy = list(core = list(changes = change_oracle(rate = 0.1, by = "weights"), constraints = constraints_noisy(1, 4, 0.5)),
                         ref = list(drift = ref_drift("weight", eta = 0.9), constraints = ref_constraints("noisy", 1, 4, step = 0.5)),
                         count = 1),
    fade_noisy = list(core = list(changes = change_oracle(rate = 0.1), constraints = constraints_noisy(1, 4, 0.5)),
                      ref = list(drift = ref_drift("fade", eps = 0.1), constraints = ref_constraints("noisy", 1, 4, step = 0.5)),
                      count = 1),
    noiseless = list(core = list(constraints = constraints_noiseless(2, 5)),
                     ref = list(constraints = ref_constraints("noiseless", 2, 5)), count = 2),
    noisy = list(core = list(constraints = constraints_noisy(1, 4, 0.5)),
                 ref = list(constraints = ref_constraints("noisy", 1, 4, step = 0.5)), count = 1),
    fresh = list(core = list(constraints = constraints_noisy(1, 4, 0.5, reuse = FALSE)),
                 ref = list(constraints = ref_constraints("noisy", 1, 4, step = 0.5, reuse = FALSE)), count = 1),
    ei = list(core = list(policy = policy_ei()), ref = list(policy = ref_policy("ei"))),
    ts = list(core = list(policy = policy_ts(width_constant(0.7))),
              ref = list(policy = ref_policy("ts", ref_width_constant(0.7))))
  )
}

# Lives whose parts the package does not have yet are left out.
skip_unless_alive <- function(name) {
  needs <- c(oracle_changes = "change_oracle", never = "change_never", detector = "change_detect",
             noiseless = "constraints_noiseless", noisy = "constraints_noisy", fresh = "constraints_noisy")
  if (name %in% names(needs)) skip_if_not(exists(needs[[name]], asNamespace("gpbandits")), needs[[name]])
}

life_names <- c("plain", "hallucinate", "censor", "contexts", "oracle_changes", "never", "detector",
                "window", "weights", "fade", "window_noisy", "weights_noisy", "fade_noisy",
                "noiseless", "noisy", "fresh", "ei", "ts")

# One random event on both. state: bandit, ref, contexts, count.
# (Rewards that the prior hardly allows are warned of, and testthat writes the stack down at each warning.)
live_once <- function(state) suppressWarnings(live_event(state), classes = "gpbandits_warning")

live_event <- function(state) {
  pending <- which(is.na(state$ref$reward))
  events <- c("suggest", "suggest", "suggest", if (length(pending)) rep("observe", 4), "add", "copy", "save")
  switch(sample(events, 1),
         suggest = live_suggest(state),
         observe = live_observe(state, pending),
         add = live_add(state),
         copy = live_copy(state),
         save = live_save(state))
}

life_context <- function(state, number) if (!is.null(state$contexts)) state$contexts[number, ]
life_number <- function(state) if (is.null(state$contexts)) 1 else sample(nrow(state$contexts), 1)

live_suggest <- function(state) {
  number <- life_number(state)
  for (i in seq_len(sample(3, 1))) {
    state$ref <- suggest_with_reference(state$bandit, state$ref, life_context(state, number), number)
  }
  state
}

live_observe <- function(state, pending) {
  ids <- pending[sample(length(pending), sample(length(pending), 1))]
  y <- rnorm(length(ids))
  if (state$count == 0) {
    state$bandit$observe(ids, y)
    state$ref <- ref_observe(state$ref, ids, y)
  } else {
    g <- matrix(rnorm(length(ids) * state$count, 0.2, 0.3), length(ids))
    state$bandit$observe(ids, y, constraints = g)
    state$ref <- ref_observe(state$ref, ids, y, g)
  }
  state
}

live_add <- function(state) {
  number <- life_number(state)
  arm <- sample(state$ref$n_arms, 2, replace = TRUE)
  y <- rnorm(2)
  g <- if (state$count) matrix(rnorm(2 * state$count, 0.2, 0.3), 2)
  state$bandit$add(arm = arm, reward = y, constraints = g, context = life_context(state, number))
  state$ref <- ref_add(state$ref, arm + (number - 1) * state$ref$n_arms, y, g)
  state
}

# The copy continues; events of the original must not matter to it.
live_copy <- function(state) {
  old <- state$bandit
  state$bandit <- old$copy()
  old$add(arm = 1, reward = 100, constraints = if (state$count) rep(5, state$count),
          context = life_context(state, 1))
  state
}

live_save <- function(state) {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(state$bandit, file, compress = FALSE)
  state$bandit <- readRDS(file)
  state
}

# A run with every part drawn at random.
random_life <- function() {
  pick <- function(list) list[[sample(length(list), 1)]]
  kernel <- random_kernel()
  contexts <- if (kernel$d > 1 && runif(1) < 0.5) ref_random_inputs(sample(3, 1), 1)
  x <- ref_random_inputs(sample(c(1, 2, 5, 12, 70), 1), kernel$d - !is.null(contexts))
  x <- x[sample(nrow(x), replace = runif(1) < 0.2), , drop = FALSE]
  n <- nrow(x)
  all <- if (is.null(contexts)) x else random_pairs(x, contexts)
  K <- kernel$ref(all)
  core <- kernel$core
  if (is.null(contexts) && runif(1) < 0.2) {
    K <- ref_random_covariance(n, sample(n, 1))
    core <- kernel_matrix(K)
  }
  policy <- pick(random_policies())
  pending <- pick(random_pending())
  drift <- pick(random_drifts(policy))
  noise <- 10^runif(1, -4, 0)
  mean <- if (runif(1) < 0.5) rnorm(1) else rnorm(n)
  # The same contexts, sometimes not given in advance.
  open <- !is.null(contexts) && runif(1) < 0.5
  engine <- if (open || policy[[2]]$kind == "ts") "auto" else pick(c("weights", "played"))
  list(bandit = gp_bandit(x, core, noise, policy[[1]], mean = mean, pending = pending[[1]],
                          contexts = if (open) ncol(contexts) else contexts, engine = engine,
                          changes = drift[[1]]),
       ref = ref_bandit(K, noise, policy[[2]], mean = mean, n_arms = n, pending = pending[[2]],
                        drift = drift[[2]]),
       contexts = contexts, count = 0)
}

random_kernel <- function() {
  all <- compare_kernels()
  all[[sample(length(all), 1)]]
}

random_pairs <- function(x, contexts) {
  cbind(x[rep(seq_len(nrow(x)), nrow(contexts)), , drop = FALSE],
        contexts[rep(seq_len(nrow(contexts)), each = nrow(x)), , drop = FALSE])
}

random_pending <- function() {
  list(list(pending_ignore(), ref_pending()), list(pending_hallucinate(), ref_pending("hallucinate")),
       list(pending_censor(0, -1), ref_pending("censor", 0, -1)),
       list(pending_censor(4, 0.5), ref_pending("censor", 4, 0.5)),
       list(pending_censor(Inf, -1), ref_pending("censor", Inf, -1)))
}

# Ways to forget gradually; none of them for a policy drawn with width_dmm(), whose bound the
# reference has for plain data alone.
random_drifts <- function(policy) {
  none <- list(NULL, ref_drift())
  if (identical(policy[[1]]$width$type, "dmm")) return(list(none))
  list(none, none, list(change_oracle(window = 5), ref_drift("window", W = 5)), list(change_oracle(window = 1), ref_drift("window", W = 1)),
       list(change_oracle(rate = 0.1, by = "weights"), ref_drift("weight", eta = 0.9)), list(change_oracle(rate = 0.9, by = "weights"), ref_drift("weight", eta = 0.1)),
       list(change_oracle(rate = 0.05), ref_drift("fade", eps = 0.05)), list(change_oracle(rate = 0.7), ref_drift("fade", eps = 0.7)))
}

random_policies <- function() {
  list(list(policy_ucb(width_srinivas_finite(0.1, 0.2)), ref_policy("ucb", ref_width_srinivas_finite(0.1, 0.2))),
       list(policy_ucb(width_amm(1, 0.3, 0.1)), ref_policy("ucb", ref_width_amm(1, 0.3, 0.1))),
       list(policy_ucb(width_sdf(width_igp(1, 0.1, 0.1, "realized"), 0.1)),
            ref_policy("ucb", ref_width_sdf(ref_width_igp(1, 0.1, 0.1, ref_gain_realized()), 0.1))),
       list(policy_ucb(width_dmm(1, 0.3, 0.1, c(0.01, 0.2, 1))),
            ref_policy("ucb", ref_width_dmm(1, 0.3, 0.1, c(0.01, 0.2, 1)))),
       list(policy_ei(0.05), ref_policy("ei", xi = 0.05)), list(policy_ei(), ref_policy("ei")),
       list(policy_pi(), ref_policy("pi")), list(policy_pi(0.05), ref_policy("pi", xi = 0.05)),
       list(policy_mean(), ref_policy("mean")), list(policy_variance(), ref_policy("variance")),
       list(policy_ts(width_constant(0.7)), ref_policy("ts", ref_width_constant(0.7))),
       list(policy_uniform(), ref_policy("uniform")))
}

test_that("runs with randomly drawn parts equal the reference", {
  skip_on_cran()
  for (seed in seq_len(by_level(4, 300))) {
    set.seed(seed)
    state <- random_life()
    worst <- list(mean = 0, sd = 0)
    for (i in 1:12) state <- live_once(state)
    number <- life_number(state)
    worst <- posterior_gaps(worst, state$bandit, state$ref, life_context(state, number), number)
    expect_lt(worst$mean, tol$engine, label = paste("worst mean, seed", seed))
    expect_lt(worst$sd, tol$engine, label = paste("worst sd, seed", seed))
    expect_history(state$bandit, state$ref, widths = state$ref$policy$kind %in% c("ucb", "ts"))
  }
})

for (name in life_names) {
  test_that(paste("random lives equal the oracle:", name), {
    skip_unless_alive(name)
    lives <- by_level(2, 20)
    for (seed in seq_len(lives)) {
      set.seed(500 + seed)
      state <- life(name)
      worst <- list(mean = 0, sd = 0)
      for (i in 1:25) {
        state <- live_once(state)
        if (i %% 5 > 0) next
        number <- life_number(state)
        worst <- posterior_gaps(worst, state$bandit, state$ref, life_context(state, number), number)
      }
      expect_lt(worst$mean, tol$engine)
      expect_lt(worst$sd, tol$engine)
      expect_history(state$bandit, state$ref, widths = name != "ei")
    }
  })

  test_that(paste("replay after every kind of event:", name), {
    skip_unless_alive(name)
    set.seed(601)
    state <- life(name)
    context <- life_context(state, 1)
    for (i in 1:14) {
      state <- live_once(state)
      again <- live_save(state)$bandit
      expect_lt(max(abs(as.matrix(again$posterior(context = context)) -
                          as.matrix(state$bandit$posterior(context = context)))), tol$replay)
      expect_equal(again$history(), state$bandit$history(), tolerance = tol$replay)
    }
    set.seed(602)
    core <- state$bandit$suggest(n = 3, context = context)
    set.seed(602)
    expect_equal(again$suggest(n = 3, context = context), core)
  })

  test_that(paste("same seed, same life; reset is a new life:", name), {
    skip_unless_alive(name)
    histories <- lapply(1:3, function(i) {
      state <- life(name)
      if (i == 3) {
        set.seed(1)
        state <- suppressWarnings(live_suggest(live_add(state)), classes = "gpbandits_warning")
        state$bandit$reset()
        state$ref <- life(name)$ref
      }
      set.seed(603)
      for (j in 1:10) state <- live_once(state)
      state$bandit$history()
    })
    expect_identical(histories[[1]], histories[[2]])
    expect_equal(histories[[1]], histories[[3]], tolerance = tol$replay)
  })
}

test_that("a call of suggest(n) equals n calls of suggest()", {
  for (rule in list(pending_ignore(), pending_hallucinate(), pending_censor(5))) {
    bandits <- lapply(1:2, function(i) {
      gp_bandit(1:9 / 9, kernel_se(0.3), 0.1, policy_ucb(width_constant(2)), pending = rule)
    })
    once <- bandits[[1]]$suggest(n = 5)
    many <- do.call(rbind, lapply(1:5, function(i) bandits[[2]]$suggest()))
    expect_equal(once, many, ignore_attr = TRUE)
  }
})
