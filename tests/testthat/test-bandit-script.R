# Baselines under long-term constraints: every choice against its formula in plain R, and what any
# bandit must keep: seeds, copies, files, delays, refusals.

baseline_problem <- benchmark_problem("small_feasible", grid = 9, noisy = TRUE)
baseline_kernel <- kernel_matern(2.5, 1)
baseline_K <- ref_kernel_matern(2.5, 1)(baseline_problem$domain$x)

baseline_makers <- list(
  ckb = function(domain) baseline_constrained("ckb", domain, baseline_kernel, 0.01, step = 0.5, bound = 3),
  epbo = function(domain) baseline_constrained("epbo", domain, baseline_kernel, 0.01, penalty = 2),
  rpol = function(domain) baseline_constrained("rpol", domain, baseline_kernel, 0.01),
  rpol_made = function(domain) {
    baseline_constrained("rpol", domain, baseline_kernel, 0.01, pending = pending_censor(4),
                         changes = change_oracle(every = 9))
  },
  oco = function(domain) baseline_constrained("oco", domain, epsilon = 0.4, step = 0.05),
  admmbo = function(domain) {
    baseline_constrained("admmbo", domain, baseline_kernel, 0.01, objective_evaluations = c(4, 2), constraint_evaluations = c(6, 3))
  }
)

# Mean and sd of f. (EPBO's constraints are outcomes, and so the columns of its posterior have names.)
f_mean <- function(posterior) if (is.null(posterior$mean)) posterior$reward_mean else posterior$mean
f_sd <- function(posterior) if (is.null(posterior$sd)) posterior$reward_sd else posterior$sd

played_by <- function(maker, rounds = 25, problem = baseline_problem, seed = 1) {
  set.seed(seed)
  as.data.frame(run_bandit(maker(problem$domain), problem, rounds))
}

# Posteriors of f and g before round t of a run, from scratch.
posteriors_before <- function(run, t, lambda = 0.01, lambda_g = lambda, seen = seq_len(t - 1)) {
  list(f = ref_posterior_at(baseline_K, run$arm[seen], run$reward[seen], lambda),
       g = ref_posterior_at(baseline_K, run$arm[seen], run$g1[seen], lambda_g))
}

test_that("CKB maximises its acquisition function and updates its multiplier by the lower bound there", {
  run <- played_by(baseline_makers$ckb, 30)
  phi <- 0
  for (t in 1:30) {
    p <- posteriors_before(run, t)
    lower <- p$g$mean - 2 * p$g$sd
    expect_equal(run$kappa1[t], phi, tolerance = 1e-8)
    expect_equal(run$arm[t], ref_argmax(p$f$mean + 2 * p$f$sd - phi * lower, 1e-8))
    expect_equal(c(run$mean[t], run$sd[t], run$width[t]), c(p$f$mean[run$arm[t]], p$f$sd[run$arm[t]], 2), tolerance = 1e-7)
    phi <- min(max(phi + 0.5 * lower[run$arm[t]], 0), 3)
  }
  expect_gt(max(run$kappa1), 0)
})

test_that("RPOL penalises positive lower bounds by penalties that grow with observed violations, above their floor", {
  floors <- list(function(t) if (t == 1) 1 else sqrt(t - 1), function(t) 0.05)
  raised <- vapply(floors, function(floor) {
    maker <- function(domain) baseline_constrained("rpol", domain, baseline_kernel, 0.01, penalty = floor)
    run <- if (identical(floor, floors[[1]])) played_by(baseline_makers$rpol, 40) else played_by(maker, 40)
    penalty <- floor(1)
    for (t in 1:40) {
      p <- posteriors_before(run, t)
      lower <- pmax(p$g$mean - 2 * p$g$sd, 0)
      expect_equal(run$kappa1[t], penalty, tolerance = 1e-8)
      expect_equal(run$arm[t], ref_argmax(p$f$mean + 2 * p$f$sd - penalty * lower, 1e-8))
      penalty <- max(penalty + max(run$g1[t], 0), floor(t + 1))
    }
    any(run$kappa1 > vapply(1:40, floor, 0) + 0.01)
  }, NA)
  expect_true(all(raised))
  for (bad in list(0, -1, NA, "a", NULL)) {
    expect_error(baseline_constrained("rpol", 1:3, kernel_se(1), 0.1, penalty = bad), class = "gpbandits_error")
  }
  expect_error(baseline_constrained("rpol", 1:3, kernel_se(1), 0.1, step = 1), "step", class = "gpbandits_error")
})

test_that("RPOL's penalties count each violation once, when it is observed", {
  b <- baseline_constrained("rpol", baseline_problem$domain, baseline_kernel, 0.01, penalty = 0.5)
  b$add(arm = 1, reward = 0, constraints = 7)
  b$suggest(3)
  b$observe(3, 0, constraints = 0.25)
  b$suggest()
  b$fail(4)
  b$observe(2, 0, constraints = 2)
  b$suggest()
  b$observe(5, 0, constraints = -1)
  b$suggest()
  expect_equal(b$history()$kappa1[-1], c(0.5, 0.5, 0.5, 0.75, 2.75, 2.75))
})

# Rounds of 30 queries, of which every third value arrives after 5 further queries and the others after 1.
late_rpol <- function(b, cost) {
  due <- seq_len(30) + ifelse(seq_len(30) %% 3 == 0, 5, 1)
  for (t in seq_len(30)) {
    b$suggest()
    for (s in which(due == t)) {
      if (is.null(cost)) b$observe(s, cos(s)) else b$observe(s, cos(s), constraints = cost(s))
    }
  }
  b
}

test_that("RPOL with censoring conditions on every query, with 0 for values that are late, and adds the last deviations", {
  domain <- finite_domain(seq(0, 1, length.out = 12))
  kernel <- kernel_se(0.2)
  K <- ref_kernel_se(0.2)(domain$x)
  b <- late_rpol(baseline_constrained("rpol", domain, kernel, 0.05, penalty = 2, width = width_sdf(width_constant(1), B_y = 1.5),
                                      constraint_width = width_sdf(width_constant(0.5), B_y = 0.5),
                                      pending = pending_censor(3)), function(s) sin(s))
  h <- b$history()
  due <- h$id + ifelse(h$id %% 3 == 0, 5, 1)
  for (t in c(2, 7, 15, 30)) {
    seen <- seq_len(t - 1)
    counts <- due[seen] < t & due[seen] - seen <= 3
    upper <- function(values, base, B_y) {
      p <- ref_posterior_at(K, h$arm[seen], ifelse(counts, values, 0), 0.05)
      recent <- h$arm[seen[seen >= t - 3]]
      list(mean = p$mean, sd = p$sd, width = base + B_y * sum(p$sd[recent]))
    }
    f <- upper(cos(seen), 1, 1.5)
    g <- upper(sin(seen), 0.5, 0.5)
    expect_equal(h$width[t], f$width, tolerance = 1e-6)
    expect_equal(h$arm[t], ref_argmax(f$mean + f$width * f$sd - h$kappa1[t] * pmax(g$mean - g$width * g$sd, 0), 1e-8))
  }
  # A constraint that is never in doubt leaves GP-UCB-SDF.
  free <- late_rpol(baseline_constrained("rpol", domain, kernel, 0.05, constraint_mean = -9, constraint_kernels = kernel_se(9, 1e-6),
                                         width = width_sdf(width_constant(1)), pending = pending_censor(3, value = 0.5)),
                    function(s) -9)
  sdf <- late_rpol(gp_ucb_sdf(domain, kernel, 0.05, m = 3, value = 0.5), NULL)
  expect_equal(free$history()$arm, sdf$history()$arm)
  expect_identical(baseline_constrained("rpol", domain, kernel, 0.05, pending = pending_ignore())$config$rule, "rpol")
  expect_error(baseline_constrained("rpol", domain, kernel, 0.05, pending = pending_hallucinate()), "pending_censor",
               class = "gpbandits_error")
})

test_that("RPOL with restarts conditions on the queries since the last restart, and keeps its penalties", {
  maker <- function(domain) baseline_constrained("rpol", domain, baseline_kernel, 0.01, changes = change_oracle(every = 8))
  run <- played_by(maker, 20)
  penalty <- 1
  for (t in 1:20) {
    p <- posteriors_before(run, t, seen = setdiff(seq_len(t - 1), seq_len((t - 1) %/% 8 * 8)))
    expect_equal(run$kappa1[t], penalty, tolerance = 1e-8)
    score <- p$f$mean + 2 * p$f$sd - penalty * pmax(p$g$mean - 2 * p$g$sd, 0)
    expect_gt(score[run$arm[t]], max(score) - 1e-7)
    penalty <- max(penalty + max(run$g1[t], 0), sqrt(t))
  }
  expect_error(baseline_constrained("rpol", 1:3, kernel_se(1), 0.1, changes = change_never()), "every",
               class = "gpbandits_error")
})

# The derivation of Result 24, without noise: then the width B + V sqrt(n / lambda) holds with certainty.
test_that("a function that changes by at most V within a segment is within the width for drift", {
  x <- seq(0, 1, length.out = 25)
  K <- ref_kernel_se(0.15)(x)
  set.seed(24)
  worst <- vapply(1:30, function(run) {
    weights <- matrix(rnorm(3 * 25), 25)
    first <- weights[, 1]
    f <- vapply(0:9, function(s) drop(K %*% (first + s / 9 * weights[, 2])), x)
    arms <- sample(25, 9, replace = TRUE)
    B <- sqrt(max(vapply(0:9, function(s) {
      a <- first + s / 9 * weights[, 2]
      sum(a * (K %*% a))
    }, 0)))
    V <- max(abs(f[, 10] - f[, 1]))
    p <- ref_posterior_at(K, arms, f[cbind(arms, 1:9)], 0.05)
    max(abs(f[, 10] - p$mean) / (p$sd * (B + V * sqrt(9 / 0.05))))
  }, 0)
  expect_lte(max(worst), 1)
})

# UCB under limits is CONFIG: a problem's constraints are the further outcomes.
config_of <- function(domain, kernel, ..., width = 2, noise_var = 0.01) {
  gp_ucb(domain, kernel, noise_var, width = width, outcomes = list(y = to_maximize(), g1 = at_most(0, ...)))
}

test_that("CONFIG selects the largest upper bound over the points that may be feasible", {
  maker <- function(domain) config_of(domain, baseline_kernel, noise_var = 0.01, width = width_igp(1, 0.1, 0.05), mean = 0.5)
  run <- played_by(maker, 30)
  for (t in 1:30) {
    seen <- seq_len(t - 1)
    f <- ref_posterior_at(baseline_K, run$arm[seen], run$y[seen], 0.01)
    g <- ref_posterior_at(baseline_K, run$arm[seen], run$g1[seen], 0.01, mean = 0.5)
    # (Two outcomes are bounded: half of delta each.)
    width <- 1 + 0.1 * sqrt(2 * (ref_information_gain(baseline_K, run$arm[seen], 0.01) + 1 + log(2 / 0.05)))
    lower <- g$mean - width * g$sd
    upper <- f$mean + width * f$sd
    expect_equal(run$width[t], width, tolerance = 1e-8)
    if (any(lower <= 0)) upper[lower > 0] <- -Inf else upper <- -lower
    expect_equal(run$arm[t], ref_argmax(upper, 1e-8))
  }
  expect_equal(run$violation1, baseline_problem$constraint_values[run$arm])
})

test_that("CONFIG declares infeasibility if and only if no point may be feasible", {
  hopeless <- bandit_problem(1:5, 5:1, constraints = c(3, 2, 1, 2, 3), optimum = 5)
  b <- config_of(1:5, kernel_se(0.1), noise_var = 1e-4)
  for (t in 1:8) {
    expect_identical(declares_infeasible(as.environment(b)), t > 5)
    run_bandit(b, hopeless, 1)
  }
  expect_identical(b$history()$arm[6:8], rep(3L, 3))
  expect_match(paste(utils::capture.output(print(summary(b))), collapse = " "), "no point is feasible")
  b <- config_of(baseline_problem$domain, baseline_kernel)
  set.seed(1)
  run_bandit(b, baseline_problem, 30)
  expect_false(declares_infeasible(as.environment(b)))
})

test_that("EPBO maximises its penalised acquisition function, also with two constraints", {
  run <- played_by(baseline_makers$epbo, 25)
  for (t in 1:25) {
    p <- posteriors_before(run, t)
    expect_equal(run$arm[t], ref_argmax(p$f$mean + 2 * p$f$sd - 2 * pmax(p$g$mean - 2 * p$g$sd, 0), 1e-8))
  }
  x <- baseline_problem$domain$x
  values <- baseline_problem$constraint_values
  two <- bandit_problem(x, baseline_problem$reward_values, noise = 0.1, constraints = cbind(values, x[, 1] - 5))
  run <- played_by(function(domain) baseline_constrained("epbo", domain, baseline_kernel, 0.01, penalty = 2, count = 2,
                                         constraint_kernels = list(baseline_kernel, kernel_linear())), 12, two)
  L <- ref_kernel_linear()(x)
  for (t in 1:12) {
    seen <- seq_len(t - 1)
    p <- posteriors_before(run, t)
    h <- ref_posterior_at(L, run$arm[seen], run$g2[seen], 0.01)
    excess <- pmax(p$g$mean - 2 * p$g$sd, 0) + pmax(h$mean - 2 * h$sd, 0)
    expect_equal(run$arm[t], ref_argmax(p$f$mean + 2 * p$f$sd - 2 * excess, 1e-9))
  }
  expect_equal(run$violation2, x[run$arm, 1] - 5, ignore_attr = TRUE)
  expect_equal(run$cumulative_violation,
               sqrt(pmax(cumsum(run$violation1), 0)^2 + pmax(cumsum(run$violation2), 0)^2))
})

test_that("a penalty may be a function of the round", {
  run <- played_by(function(domain) baseline_constrained("epbo", domain, baseline_kernel, 0.01, penalty = function(t) 0.3 * t), 20)
  for (t in 1:20) {
    p <- posteriors_before(run, t)
    expect_equal(run$arm[t], ref_argmax(p$f$mean + 2 * p$f$sd - 0.3 * t * pmax(p$g$mean - 2 * p$g$sd, 0), 1e-8))
  }
  expect_equal(run$hard_violation, cumsum(pmax(run$violation1, 0)))
  for (bad in list(function(t) -1, function(t) c(1, 2), function(t) "a", function(t) stop("no"), function(t) Inf)) {
    b <- baseline_constrained("epbo", 1:3, kernel_se(1), 0.1, penalty = bad)
    caught <- expect_error(b$suggest(), class = "gpbandits_error")
    expect_identical(caught$argument, "penalty")
    expect_equal(nrow(b$history()), 0)
  }
  for (bad in list(0, -1, NA, "a", NULL)) expect_error(baseline_constrained("epbo", 1:3, kernel_se(1), 0.1, penalty = bad), class = "gpbandits_error")
  root <- baseline_constrained("epbo", 1:3, kernel_se(1), 0.1, penalty = function(t) sqrt(t))
  expect_identical(unserialize(serialize(root, NULL))$suggest(), root$suggest())
})

# Functions of norm 1 on 50 arms, one that is to be at most 0 with points on both sides.
hard_problem <- function(seed) {
  set.seed(600 + seed)
  x <- seq(0, 1, length.out = 50)
  K <- ref_kernel_se(0.2)(x)
  draw <- function() {
    f <- drop(K[, at <- sample(50, 8)] %*% (a <- rnorm(8)))
    f / sqrt(drop(a %*% K[at, at] %*% a))
  }
  repeat {
    f <- draw()
    g <- draw()
    if (min(g) < -0.1 && max(g) > 0.1) break
  }
  bandit_problem(x, f, noise = 0.1, constraints = g, constraint_noise = 0.1)
}

test_that("the regret of each round and the hard violation are below their bounds, for every penalty", {
  gain <- information_gain(kernel_se(0.2), seq(0, 1, length.out = 50), 0.01, rounds = 60, method = "spectral")
  width <- width_amm(1, 0.1, 0.05)
  found <- vapply(seq_len(by_level(1, 10)), function(seed) {
    problem <- hard_problem(seed)
    f <- problem$reward_values
    g <- problem$constraint_values
    best <- max(f[g <= 0])
    exact <- max(0, ((f - best) / pmax(g, 0))[g > 0])
    D <- max(f) - best
    vapply(list(NULL, function(t) sqrt(t), exact + 1), function(penalty) {
      b <- if (is.null(penalty)) config_of(problem$domain, kernel_se(0.2), noise_var = 0.01, width = width)
           else baseline_constrained("epbo", problem$domain, kernel_se(0.2), 0.01, penalty = penalty, width = width)
      set.seed(seed)
      run <- as.data.frame(run_bandit(b, problem, 60))
      ask <- function(...) regret_bound("penalty", 60, gain, noise_var = 0.01, width = run$width, ...)
      bound <- if (is.null(penalty)) ask(quantity = "violation")
               else if (is.function(penalty)) ask(quantity = "violation", penalty = penalty, D = D)
               else ask(quantity = "violation", penalty = penalty, exact = exact)
      c(any(best - run$f > 2 * run$width * run$sd + 1e-9), any(run$regret > 2 * run$width * run$sd + 1e-9),
        any(run$cumulative_regret > ask() + 1e-9), any(run$hard_violation > bound + 1e-9))
    }, logical(4))
  }, matrix(TRUE, 4, 3))
  # (Each with probability 0.9 at least.)
  expect_gt(stats::binom.test(max(apply(found, 1:2, sum)), dim(found)[3], 0.1, "greater")$p.value, tol$p_value)
})

test_that("bandit OCO moves by its formulas, pair by pair", {
  box <- benchmark_problem("small_feasible", grid = NULL, noisy = TRUE)
  epsilon <- 0.3
  eta <- 0.04
  run <- played_by(function(domain) baseline_constrained("oco", domain, epsilon = epsilon, step = eta, shrinkage = 2), 60, box)
  points <- as.matrix(run[c("x1", "x2")])
  lambda <- 0
  moved <- 0
  for (k in seq(1, 57, by = 2)) {
    centre <- (points[k, ] + points[k + 1, ]) / 2
    u <- (points[k, ] - points[k + 1, ]) / (2 * epsilon)
    expect_equal(sum(u^2), 1, tolerance = 1e-10)
    expect_equal(run$kappa1[k:(k + 1)], rep(lambda, 2), tolerance = 1e-10)
    slope <- function(h) 2 / (2 * epsilon) * (h[k] - h[k + 1]) * u
    x <- centre + eta * (slope(run$reward) - lambda * slope(run$g1))
    x <- pmin(pmax(x, epsilon), 6 - epsilon)
    expect_equal((points[k + 2, ] + points[k + 3, ]) / 2, x, tolerance = 1e-10)
    moved <- moved + sum((x - centre)^2)
    lambda <- max(0, lambda + eta * (mean(run$g1[k:(k + 1)]) - 2 * eta * lambda))
  }
  expect_gt(moved, 0.01)
  expect_gt(lambda, 0)
  expect_identical(run$phase, rep(c("plus", "minus"), 30))
  on_arms <- played_by(baseline_makers$oco, 20)
  expect_true(all(on_arms$arm %in% seq_len(81)))
})

# ADMMBO over arms with one constraint, from its description.
ref_admmbo <- function(run, x, rounds, objective = c(4, 2), constraint = c(6, 3), rho = 0.1, M = 50, outer_max = 15) {
  z <- rep(6, 2)
  y <- c(0, 0)
  outer <- 1
  t <- 1
  first_best <- function(score) which(score >= max(score) - 1e-9 * abs(max(score)))[1]
  d2 <- function(centre) rowSums((x - rep(centre, each = nrow(x)))^2)
  while (t <= rounds) {
    from_f <- function(t) which(run$phase[seq_len(t - 1)] == "objective")
    for (k in seq_len(objective[min(outer, 2)])) {
      if (t > rounds) return(invisible())
      seen <- from_f(t)
      expect_equal(run$phase[t], "objective")
      expect_equal(run$action[t], if (length(seen) < 2) "explore" else "policy")
      if (length(seen) >= 2) {
        p <- ref_posterior_at(baseline_K, run$arm[seen], run$reward[seen], 0.01)
        target <- -p$mean + rho / 2 * d2(z - y / rho)
        gap <- min(target[run$arm[seen]]) - target
        ei <- gap * pnorm(gap / p$sd) + p$sd * dnorm(gap / p$sd)
        expect_equal(run$arm[t], first_best(ei))
      }
      t <- t + 1
    }
    seen <- from_f(t)
    p <- ref_posterior_at(baseline_K, run$arm[seen], run$reward[seen], 0.01)
    target <- -p$mean + rho / 2 * d2(z - y / rho)
    at <- x[run$arm[seen][which.min(target[run$arm[seen]])], ]
    from_g <- function(t) which(run$phase[seq_len(t - 1)] == "constraint1")
    q <- rho / (2 * M) * d2(at + y / rho)
    for (k in seq_len(constraint[min(outer, 2)])) {
      if (t > rounds) return(invisible())
      seen <- from_g(t)
      expect_equal(run$phase[t], "constraint1")
      if (length(seen) >= 2) {
        p <- ref_posterior_at(baseline_K, run$arm[seen], run$g1[seen], 0.01)
        P <- pnorm(-p$mean / p$sd)
        h <- (p$mean > 0) + q
        v <- min(h[run$arm[seen]]) - q
        gain <- P * pmax(v, 0) + (1 - P) * pmax(v - 1, 0)
        expect_equal(run$arm[t], if (max(gain) > 0) first_best(gain) else which.min(1 - P + q))
      }
      t <- t + 1
    }
    seen <- from_g(t)
    p <- ref_posterior_at(baseline_K, run$arm[seen], run$g1[seen], 0.01)
    h <- (p$mean > 0) + q
    before <- z
    z <- x[run$arm[seen][which.min(h[run$arm[seen]])], ]
    y <- y + rho * (at - z)
    norm <- function(v) sqrt(sum(v^2))
    primal <- norm(at - z)
    dual <- rho * norm(z - before)
    if (outer == outer_max || (primal < 0.05 * sqrt(2) + 0.075 * max(norm(at), norm(z)) &&
                               dual < 0.05 * sqrt(2) + 0.075 * rho * norm(y))) {
      if (t <= rounds) {
        expect_true(all(run$phase[t:rounds] == "answer"))
        expect_length(unique(run$arm[t:rounds]), 1)
      }
      return(invisible(t))
    }
    rho <- if (primal > 10 * dual) 2 * rho else if (dual > 10 * primal) rho / 2 else rho
    outer <- outer + 1
  }
}

test_that("ADMMBO follows its steps as described, and stops", {
  skip_on_cran()
  for (seed in few_of(1:3, 1)) {
    run <- played_by(baseline_makers$admmbo, 70, seed = seed)
    ref_admmbo(run, baseline_problem$domain$x, 70)
  }
  soon <- function(domain) baseline_constrained("admmbo", domain, baseline_kernel, 0.01, outer = 2, objective_evaluations = c(3, 2),
                                  constraint_evaluations = c(4, 3))
  run <- played_by(soon, 15)
  expect_identical(run$phase, rep(c("objective", "constraint1", "objective", "constraint1", "answer"), c(3, 4, 2, 3, 3)))
  shared <- function(domain) baseline_constrained("admmbo", domain, baseline_kernel, 0.01, share = TRUE)
  set.seed(1)
  b <- shared(baseline_problem$domain)
  run <- as.data.frame(run_bandit(b, baseline_problem, 15))
  p <- posteriors_before(run, 16)
  expect_equal(b$posterior()$mean, p$f$mean, tolerance = 1e-7)
  expect_equal(b$posterior()$g1_sd, p$g$sd, tolerance = 1e-7)
})

test_that("feasibility improvement equals the expectation of its definition", {
  set.seed(4)
  p <- list(mean = rnorm(30), sd = c(runif(28), 0, 0))
  v <- c(seq(-1, 2.5, length.out = 29), 0.5)
  P <- ifelse(p$sd > 0, pnorm(-p$mean / p$sd), p$mean <= 0)
  expect_equal(gpbandits:::feasibility_improvement(v, p), P * pmax(v, 0) + (1 - P) * pmax(v - 1, 0), tolerance = 1e-12)
})

# ---- what any bandit keeps ------------------------------------------------------------

box_problem <- benchmark_problem("small_feasible", grid = NULL)

test_that("baselines run on arms and on a box, are reproducible by seed, and fill the regret log", {
  skip_on_cran()
  for (name in few_of(names(baseline_makers), 3)) for (problem in list(baseline_problem, box_problem)) {
    run <- played_by(baseline_makers[[name]], 12, problem)
    expect_identical(run, played_by(baseline_makers[[name]], 12, problem), info = name)
    expect_identical(run$id, 1:12)
    x <- as.matrix(run[c("x1", "x2")])
    expect_true(all(x >= 0 & x <= 6), info = name)
    expect_equal(run$f, -sin(run$x1) - run$x2)
    expect_equal(run$violation1, sin(run$x1) * sin(run$x2) + 0.95)
    expect_equal(run$cumulative_violation, pmax(cumsum(run$violation1), 0))
    expect_equal(run$cumulative_regret, cumsum(run$optimum - run$f))
    expect_equal(run$simple_regret, cummin(run$regret))
    expect_true(all(is.finite(run$reward) & is.finite(run$g1)))
  }
})

test_that("a copy, a file and a bandit run by hand make the same choices", {
  skip_on_cran()
  for (name in names(baseline_makers)) {
    set.seed(2)
    b <- baseline_makers[[name]](baseline_problem$domain)
    run <- as.data.frame(run_bandit(b, baseline_problem, 15))
    file <- tempfile(fileext = ".rds")
    saveRDS(b, file)
    others <- list(b$copy(), readRDS(file))
    unlink(file)
    by_hand <- baseline_makers[[name]](baseline_problem$domain)
    set.seed(2)
    gpbandits:::problem_draws(baseline_problem, 15)
    for (t in 1:15) {
      q <- by_hand$suggest()
      by_hand$observe(q$id, run$reward[t], run$g1[t])
    }
    expect_equal(by_hand$history(), b$history(), info = name)
    after <- function(b) {
      set.seed(9)
      for (t in 1:4) {
        q <- b$suggest()
        b$observe(q$id, -1, 0.3)
      }
      b$history()
    }
    expected <- after(b)
    for (other in c(others, by_hand)) expect_identical(after(other), expected, info = name)
    b$reset()
    expect_identical(nrow(b$history()), 0L)
    set.seed(2)
    expect_equal(as.data.frame(run_bandit(b, baseline_problem, 15)), run, info = name)
  }
})

test_that("ADMMBO as its authors run it: initial points outside the budget, kernels refitted", {
  x <- baseline_problem$domain$x
  start <- c(5, 40)
  begun <- function(rounds) {
    bandit <- baseline_constrained("admmbo", x, kernel_matern(2.5, 2), 0.05, initial = 0, objective_evaluations = c(4, 2),
                    constraint_evaluations = c(6, 3), refit = refit_every(2, minimum = 2, starts = 1))
    bandit$add(arm = start, reward = baseline_problem$reward_values[start], constraints = baseline_problem$constraint_values[start])
    set.seed(5)
    run_bandit(bandit, baseline_problem, rounds)
    bandit
  }
  bandit <- begun(14)
  phase <- bandit$history()$phase
  expect_identical(phase, rep(c("given", "objective", "constraint1", "objective", "constraint1"), c(2, 4, 6, 2, 2)))
  expect_false("explore" %in% bandit$history()$action)
  # The process of f knows the start points and its own queries, and was refitted after every second.
  seen <- which(phase %in% c("given", "objective"))
  kernel <- kernel_matern(2.5, 2)
  noise_var <- 0.05
  history <- bandit$history()
  for (count in seq(2, length(seen), by = 2)) {
    first <- seen[seq_len(count)]
    fit <- gp_fit(x[history$arm[first], ], history$reward[first], kernel, noise_var, starts = 1, mean = 0)
    kernel <- fit$kernel
    noise_var <- fit$noise_var
  }
  core <- bandit$posterior()
  K <- kernel_gram(kernel, x)
  expect_equal(core$mean, ref_posterior_at(K, history$arm[seen], history$reward[seen], noise_var)$mean, tolerance = 1e-6)
  # A copy and a file continue as it would.
  again <- unserialize(serialize(bandit, NULL))
  set.seed(6)
  expected <- bandit$suggest()
  set.seed(6)
  expect_equal(again$suggest(), expected)
})

test_that("late rewards are used when they arrive", {
  late <- bandit_problem(baseline_problem$domain, baseline_problem$reward_values, noise = 0.1, delay = 3,
                         constraints = baseline_problem$constraint_values)
  for (name in names(baseline_makers)) {
    run <- played_by(baseline_makers[[name]], 20, late)
    expect_identical(which(is.na(run$reward)), 18:20, info = name)
    expect_identical(which(is.na(run$simple_regret)), 1:3, info = name)
  }
  run <- played_by(baseline_makers$ckb, 20, late)
  seen <- 1:9
  p <- posteriors_before(run, 12, seen = seen)
  expect_equal(run$mean[12], p$f$mean[run$arm[12]], tolerance = 1e-7)
})

test_that("baselines can be compared with bandits, and added data are used", {
  makers <- c(lapply(baseline_makers, function(make) function(problem) make(problem$domain)), list(
    core = function(problem) gp_ucb_noisy_constraints(problem$domain, baseline_kernel, 0.01, epoch = 5, step = 0.5,
                                                      width = width_constant(2))))
  comparison <- compare_bandits(makers, baseline_problem, rounds = 12, replications = 2, seed = 1)
  data <- as.data.frame(comparison)
  expect_identical(levels(data$bandit), names(makers))
  expect_false(anyNA(data$cumulative_violation))
  expect_output(print(comparison), "ckb")
  alone <- compare_bandits(makers["admmbo"], baseline_problem, rounds = 12, replications = 2, seed = 1)
  expect_equal(as.data.frame(alone)$f, data$f[data$bandit == "admmbo"])
  b <- baseline_makers$epbo(baseline_problem$domain)
  b$add(arm = c(3, 40), reward = c(-1, -2), constraints = c(0.5, -0.1))
  p <- ref_posterior_at(baseline_K, c(3, 40), c(0.5, -0.1), 0.01)
  expect_equal(b$posterior()$g1_mean, p$mean, tolerance = 1e-8)
  expect_identical(b$history()$action, c("given", "given"))
  allowed <- which(b$posterior()$g1_mean <= 0)
  expect_identical(b$best(feasible = 0.5)$arm, allowed[which.max(b$posterior()$reward_mean[allowed])])
  expect_output(print(b), "EPBO")
  expect_output(print(summary(b)), "g1_mean")
})

test_that("on a box integer and logarithmic inputs keep their kind", {
  domain <- box_domain(c(size = 1, rate = 1e-3), c(20, 10), integer = "size", log = "rate")
  problem <- bandit_problem(domain, function(x) -abs(x[, 1] - 7) / 20 - abs(log10(x[, 2])) / 3, noise = 0.05,
                            constraints = function(x) x[, 1] / 10 - 1)
  kernel <- kernel_se(c(5, 2))
  makers <- list(baseline_constrained("ckb", domain, kernel, 0.01, step = 0.5, bound = 3), baseline_constrained("epbo", domain, kernel, 0.01, penalty = 2),
                 baseline_constrained("admmbo", domain, kernel, 0.01), baseline_constrained("oco", domain, epsilon = 1))
  for (b in makers) {
    set.seed(1)
    run <- as.data.frame(run_bandit(b, problem, 15))
    expect_true(all(run$size == round(run$size) & run$size >= 1 & run$size <= 20))
    expect_true(all(run$rate >= 1e-3 & run$rate <= 10))
  }
  b <- makers[[2]]
  expect_lt(abs(log10(b$best(feasible = 0.5)$rate)), 1)
  expect_lte(b$best(feasible = 0.5)$g1_mean, 0)
})

test_that("invalid input is an error that changes nothing", {
  for (name in names(baseline_makers)) {
    b <- baseline_makers[[name]](baseline_problem$domain)
    set.seed(1)
    b$suggest(2)
    b$observe(1, 0.5, 0.2)
    before <- b$history()
    memory <- as.environment(b)$memory
    for (code in list(quote(b$observe(1, 0, 0)), quote(b$observe(5, 0, 0)), quote(b$observe(2, "a", 0)),
                      quote(b$observe(2, 0)), quote(b$observe(2, 0, c(1, 2))), quote(b$suggest(0)), quote(b$suggest(context = 1)),
                      quote(b$add(arm = 100, reward = 0, constraints = 0)), quote(b$add(arm = 1, reward = 0)),
                      quote(b$suggest(m = 1)), quote(b$best(context = 1)),
                      quote(run_bandit(b, bandit_problem(1:3, 1:3), 2)),
                      quote(run_bandit(b, bandit_problem(baseline_problem$domain, rep(0, 81)), 2)))) {
      expect_error(eval(code), class = "gpbandits_error", info = paste(name, deparse(code)))
    }
    expect_identical(b$history(), before)
    expect_identical(as.environment(b)$memory, memory)
  }
  expect_error(baseline_makers$oco(baseline_problem$domain)$posterior(), class = "gpbandits_error")
  expect_error(baseline_constrained("ckb", 1:3, kernel_se(1), 0.1, step = 1, bound = 1, steps = 2), class = "gpbandits_error", regexp = "steps")
  expect_error(baseline_constrained("ckb", 1:3, kernel_se(1), 0.1, step = 1, bound = 1, width = width_dmm(1, 1)), class = "gpbandits_error")
  expect_error(baseline_constrained("epbo", 1:3, kernel_se(1), 0.1, penalty = 1, count = 2, constraint_kernels = list(kernel_se(1))),
               class = "gpbandits_error", regexp = "constraint_kernels")
  expect_error(baseline_constrained("oco", 1:3, epsilon = 1), class = "gpbandits_error", regexp = "epsilon")
  expect_error(baseline_constrained("oco", cbind(1:3, 1), epsilon = 0.1), class = "gpbandits_error", regexp = "domain")
  expect_error(baseline_constrained("admmbo", 1:3, kernel_se(1), 0.1, objective_evaluations = 3), class = "gpbandits_error",
               regexp = "objective_evaluations")
})

# ---- the same protocol as a bandit's ---------------------------------------------------

test_that("a journal restores a bandit, which continues like the original", {
  skip_on_cran()
  for (name in few_of(names(baseline_makers), 3)) {
    file <- tempfile()
    make <- function(journal) {
      settings <- list(ckb = list(baseline_kernel, 0.01, step = 0.5, bound = 3),
                       epbo = list(baseline_kernel, 0.01, penalty = 2), rpol = list(baseline_kernel, 0.01, penalty = 0.5),
                       rpol_made = list(baseline_kernel, 0.01, penalty = 0.5, pending = pending_censor(2)),
                       oco = list(epsilon = 0.4),
                       admmbo = list(baseline_kernel, 0.01, objective_evaluations = c(4, 2), constraint_evaluations = c(6, 3)))
      do.call(baseline_constrained, c(list(sub("_made", "", name), baseline_problem$domain), settings[[name]], list(journal = journal)))
    }
    plain <- make(NULL)
    kept <- make(file)
    for (b in list(plain, kept)) {
      set.seed(3)
      run_bandit(b, baseline_problem, 8)
      b$suggest(2)
      b$add(arm = c(3, 9), reward = c(-1, -2), constraints = c(0.5, -0.1))
      b$observe(9, 0.3, 0.2)
    }
    again <- open_bandit(file, like = make(NULL), rng = TRUE)
    expect_s4_class(again, if (name == "epbo") "GPBandit" else "ScriptedBandit")
    expect_identical(again$history(), kept$history(), info = name)
    expect_identical(kept$history(), plain$history(), info = name)
    expect_identical(as.environment(again)$memory, as.environment(plain)$memory, info = name)
    go_on <- function(b) {
      set.seed(4)
      for (t in 1:4) b$observe(b$suggest()$id, -1, 0.1)
      b$history()
    }
    expect_identical(go_on(again), go_on(plain), info = name)
    again$reset()
    expect_identical(nrow(open_bandit(file)$history()), 0L)
    expect_identical(as.environment(open_bandit(file))$memory, as.environment(make(NULL))$memory)
    unlink(file)
  }
})

test_that("with contexts a baseline uses the posterior over actions and contexts", {
  x <- seq(0, 1, length.out = 6)
  z <- c(0, 0.4, 1)
  f <- function(v) sin(4 * v[, 1] + 3 * v[, 2])
  g <- function(v) v[, 1] - 0.8 * v[, 2] - 0.3
  kernel <- kernel_se(c(0.3, 0.5))
  ref <- ref_kernel_se(c(0.3, 0.5))
  for (contexts in list(matrix(z, dimnames = list(NULL, "z1")), 1)) {
    problem <- bandit_problem(x, f, noise = 0.05, constraints = g, contexts = matrix(z, dimnames = list(NULL, "z1")))
    set.seed(5)
    b <- baseline_constrained("epbo", x, kernel, 0.01, penalty = 2, contexts = contexts)
    run <- as.data.frame(run_bandit(b, problem, 15))
    for (t in 2:15) {
      seen <- as.matrix(run[seq_len(t - 1), c("x1", "z1")])
      here <- cbind(x, run$z1[t])
      K <- ref(seen) + diag(0.01, t - 1)
      k <- ref(here, seen)
      sd <- sqrt(1 - rowSums((k %*% solve(K)) * k))
      mean_f <- drop(k %*% solve(K, run$reward[seq_len(t - 1)]))
      lower <- drop(k %*% solve(K, run$g1[seq_len(t - 1)])) - 2 * sd
      expect_equal(run$arm[t], ref_argmax(mean_f + 2 * sd - 2 * pmax(lower, 0), 1e-8))
      expect_equal(run$mean[t], mean_f[run$arm[t]], tolerance = 1e-7)
    }
    best <- b$best(context = 0.4, feasible = 0.5)
    posterior <- b$posterior(context = 0.4)
    allowed <- posterior$g1_mean <= 0
    expect_identical(best$arm, which(allowed)[which.max(posterior$reward_mean[allowed])])
    expect_error(b$suggest(), class = "gpbandits_error", regexp = "context")
  }
  expect_error(baseline_constrained("admmbo", x, kernel, 0.01, contexts = 1), class = "gpbandits_error", regexp = "contexts")
  expect_error(baseline_constrained("oco", x, contexts = 1), class = "gpbandits_error", regexp = "contexts")
})

test_that("a corrected, withdrawn or failed query is in the posterior as if it had always been so", {
  for (name in c("ckb", "epbo", "admmbo")) {
    b <- baseline_makers[[name]](baseline_problem$domain)
    b$add(arm = c(3, 40, 7), reward = c(-1, -2, 5), constraints = c(0.5, -0.1, 0.2))
    b$amend(3, 0.5)
    p <- ref_posterior_at(baseline_K, c(3, 40, 7), c(-1, -2, 0.5), 0.01)
    expect_equal(f_mean(b$posterior()), p$mean, tolerance = 1e-8)
    expect_equal(b$posterior()$g1_mean, ref_posterior_at(baseline_K, c(3, 40, 7), c(0.5, -0.1, 0.2), 0.01)$mean,
                 tolerance = 1e-8)
    set.seed(1)
    b$suggest(2)
    b$withdraw(4)
    b$fail(5)
    b$add(arm = 9)
    expect_identical(b$history()$status, rep(c("observed", "withdrawn", "failed", "pending"), c(3, 1, 1, 1)))
    expect_equal(f_mean(b$posterior()), p$mean, tolerance = 1e-8)
    expect_error(b$observe(4, 1, 0), class = "gpbandits_error", regexp = "withdrawn")
    b$observe(6, 1, 0.3, noise_var = 0.5)
    noise <- diag(c(0.01, 0.01, 0.01, 0.5))
    at <- c(3, 40, 7, 9)
    expect_equal(f_mean(b$posterior()), drop(baseline_K[, at] %*% solve(baseline_K[at, at] + noise, c(-1, -2, 0.5, 1))),
                 tolerance = 1e-8)
  }
})

test_that("a step of ADMMBO has an additional query for each withdrawn one, and none for a failed one", {
  phases <- function(end) {
    set.seed(1)
    b <- baseline_constrained("admmbo", baseline_problem$domain, baseline_kernel, 0.01, objective_evaluations = c(4, 2), constraint_evaluations = c(6, 3))
    for (t in 1:6) {
      id <- b$suggest()$id
      if (t == 2) end(b, id) else b$observe(id, -1, 0.1)
    }
    b$history()$phase
  }
  expect_identical(phases(function(b, id) b$withdraw(id)), rep(c("objective", "constraint1"), c(5, 1)))
  expect_identical(phases(function(b, id) b$fail(id)), rep(c("objective", "constraint1"), c(4, 2)))
})

test_that("bandit OCO discards a pair if one of its rewards will never arrive", {
  set.seed(1)
  b <- baseline_constrained("oco", box_problem$domain, epsilon = 0.3)
  b$suggest()
  b$withdraw(1)
  expect_identical(b$suggest()$id, 2L)
  b$suggest()
  expect_identical(b$history()$phase, c("plus", "plus", "minus"))
  b$observe(2, 1, 0)
  b$fail(3)
  x <- b$best()
  b$observe(b$suggest(2)$id, c(1, 2), c(0, 0))
  expect_identical(b$history()$phase[4:5], c("plus", "minus"))
  centre <- colMeans(as.matrix(b$history()[4:5, c("x1", "x2")]))
  expect_equal(centre, unlist(x), tolerance = 1e-12)
  before <- b$history()
  expect_error(b$amend(4, 3), class = "gpbandits_error", regexp = "cannot be undone")
  expect_identical(b$history(), before)
})

test_that("on products baselines select existing rows, and their maxima equal those of a fine grid", {
  domain <- product_domain(data.frame(layers = c(1, 2, 4)), list(rate = c(0, 1)))
  f <- function(v) -(v[, 1] - 2)^2 / 4 - (v[, 2] - 0.6)^2
  g <- function(v) v[, 2] - 0.5
  problem <- bandit_problem(domain, f, noise = 0.02, constraints = g)
  kernel <- kernel_se(c(1, 0.4))
  makers <- list(ckb = function() baseline_constrained("ckb", domain, kernel, 0.01, step = 0.5, bound = 3),
                 epbo = function() baseline_constrained("epbo", domain, kernel, 0.01, penalty = 2),
                 admmbo = function() baseline_constrained("admmbo", domain, kernel, 0.01, objective_evaluations = c(4, 2),
                                            constraint_evaluations = c(4, 2)),
                 oco = function() baseline_constrained("oco", domain, epsilon = 0.2))
  grid <- cbind(rep(c(1, 2, 4), each = 401), rep(seq(0, 1, length.out = 401), 3))
  for (name in names(makers)) {
    set.seed(2)
    b <- makers[[name]]()
    run <- as.data.frame(run_bandit(b, problem, 12))
    expect_identical(run$layers, c(1, 2, 4)[run$arm], info = name)
    expect_true(all(run$rate >= 0 & run$rate <= 1), info = name)
    expect_equal(run$f, f(cbind(run$layers, run$rate)), info = name)
    best <- b$best()
    expect_identical(best$layers, c(1, 2, 4)[best$arm], info = name)
    if (name == "epbo") {
      posterior <- b$posterior(grid)
      lower <- posterior$g1_mean - 2 * posterior$g1_sd
      upper <- f_mean(posterior) + 2 * f_sd(posterior)
      score <- upper - 2 * pmax(lower, 0)
      query <- b$suggest()
      at <- b$posterior(as.matrix(query[c("layers", "rate")]))
      mine <- f_mean(at) + 2 * f_sd(at) - 2 * max(at$g1_mean - 2 * at$g1_sd, 0)
      expect_gt(mine, max(score) - 1e-4)
    }
  }
})

# What each rule makes large, in plain R, by the posterior before and the query's row of the history.
test_that("on a box rules over several posteriors find the maximum of a fine grid, also at kinks", {
  k <- kernel_se(0.15)
  line <- box_domain(0, 1)
  upper <- function(p, row) f_mean(p) + row$width * f_sd(p)
  lower <- function(p) p$g1_mean - 2 * p$g1_sd
  rules <- list(
    ckb = list(baseline_constrained("ckb", line, k, 0.01, step = 2, bound = 5), function(p, row) upper(p, row) - row$kappa1 * lower(p)),
    epbo = list(baseline_constrained("epbo", line, k, 0.01, penalty = 4), function(p, row) upper(p, row) - 4 * pmax(lower(p), 0)),
    cost = list(gp_ei(line, k, 0.01, cost = "learned", cost_kernel = kernel_se(0.5)),
                function(p, row) ref_log_ei(p$mean, p$sd, row$target) - p$g1_mean),
    shrinking = list(gp_ucb_lengthscale(line, k, 0.01, B = 1, R = 0.1, growth = function(t) 1), upper),
    rahbo = list(rahbo(line, k, 0.01, alpha = 0, variance_kernel = kernel_se(0.3), repeats = 2), upper)
  )
  grid <- seq(0, 1, length.out = 2001)
  for (name in names(rules)) {
    b <- rules[[name]][[1]]
    score <- rules[[name]][[2]]
    limited <- name == "epbo" || gpbandits:::constraint_count(b$config) == 1
    for (t in seq_len(by_level(9, 9, quick = 5))) {
      before <- b$copy()
      x <- b$suggest()$x1
      row <- b$history()[t, ]
      played <- b$history()$x1[seq_len(t - 1)]
      row$target <- if (t > 1) max(f_mean(before$posterior(played))) else 0
      if (is.null(row$phase) || row$phase != "repeat") {
        expect_gt(score(before$posterior(x), row), max(score(before$posterior(grid), row)) - 1e-3)
      }
      b$observe(t, sin(9 * x) + x, constraints = if (limited) exp(cos(7 * x + 1)) - if (name == "cost") 0 else 0.8)
    }
  }
})

test_that("a baseline accepts the settings of its own method only", {
  ask <- function(...) baseline_constrained(..., domain = 1:4, kernel = baseline_kernel, noise_var = 0.1)
  expect_error(ask("ckb", step = 1, bound = 1, penalty = 2), "`penalty`.*epbo", class = "gpbandits_error")
  expect_error(ask("epbo", penalty = 2, step = 1), "`step`.*ckb.*oco", class = "gpbandits_error")
  expect_error(ask("oco", width = 2), "`width`.*ckb.*epbo", class = "gpbandits_error")
  expect_error(ask("admmbo", contexts = 1), "`contexts`", class = "gpbandits_error")
  expect_error(ask("other"), "`method`.*ckb", class = "gpbandits_error")
  expect_error(ask("ckb", bound = 1), "`step`.*number > 0", class = "gpbandits_error")
  expect_lte(length(formals(baseline_constrained)), 20)
})

test_that("baselines can be plotted, and bandit OCO raises an error that states why it cannot", {
  local_device()
  b <- baseline_constrained("ckb", seq(0, 1, length.out = 20), kernel_se(0.2), 0.01, step = 0.5, bound = 3, width = width_constant(1.5))
  b$add(arm = c(3, 15), reward = c(1, 0), constraints = c(0.2, -0.3))
  expected <- b$copy()$suggest()
  drawn <- plot(b)
  expect_equal(drawn$mean, b$posterior()$mean)
  expect_equal(drawn$upper, b$posterior()$mean + 1.5 * b$posterior()$sd)
  expect_identical(attr(drawn, "next_choice")$arm, expected$arm)
  expect_error(plot(baseline_constrained("oco", 1:5)), class = "gpbandits_error", regexp = "no posterior")
  expect_output(print(summary(baseline_constrained("oco", 1:5))), "no posterior")
  expect_error(b$draw(), class = "gpbandits_error", regexp = "draws")
  expect_gt(b$information_gain(), 0)
})
