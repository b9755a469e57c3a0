# incumbent = "draws" with limits and with several objectives, and EHVI of two to four objectives: values by brute-force
# draws and by exact cells in plain R, gradients by differences.

set.seed(1)
noisy_x <- cbind(runif(8), runif(8))
noisy_scale <- c(0.4, 0.7)
noisy_at <- cbind(runif(12), runif(12))

noisy_values <- function(seed, outcomes, noise) {
  set.seed(seed)
  x <- noisy_x
  y <- cbind(sin(5 * x[, 1]) + x[, 2], x[, 1] - x[, 2], cos(4 * x[, 2]) * x[, 1], x[, 2]^2)[, seq_len(outcomes)]
  y + rnorm(length(y), sd = sqrt(noise))
}

# Roles: "f" is an objective, a number an upper limit.
roles_of <- function(...) {
  vapply(list(...), function(role) if (identical(role, "f")) c(1, -Inf, Inf) else c(0, -Inf, role), numeric(3))
}

outcome_score <- function(y, noise, roles, policy, at = noisy_at, x = noisy_x) {
  kernel <- resolve_kernel(kernel_matern(2.5, noisy_scale), c("x1", "x2"))
  cpp_testing_outcome_score(rep(list(kernel), ncol(y)), rep(noise, length.out = ncol(y)), x, y, roles, policy, at)
}

noisy_policy <- function(kind = "ei", reference = NULL) {
  Filter(Negate(is.null), list(kind = kind, xi = if (kind == "ei") 0, reference = reference, incumbent = "draws"))
}

# `gain(now, new)`: of a draw, from the values at the feasible evaluated points (a row each) and at one other.
brute_force <- function(y, noise, roles, gain, draws = 1500, at = noisy_at, x = noisy_x) {
  K <- ref_kernel_matern52(noisy_scale)(rbind(x, at))
  n <- nrow(x)
  drawn <- lapply(seq_len(ncol(y)), function(k) {
    rows <- which(!is.na(y[, k]))
    p <- ref_posterior_at(K, rows, y[rows, k], noise)
    ref_draw_normal(draws, p$mean, p$cov)
  })
  holds <- Reduce(`&`, lapply(seq_along(drawn), function(k) drawn[[k]] <= roles[3, k]))
  objectives <- drawn[roles[1, ] == 1]
  vapply(n + seq_len(nrow(at)), function(i) {
    mean(vapply(seq_len(draws), function(j) {
      if (!holds[j, i]) return(0)
      at <- function(rows) vapply(objectives, function(f) f[j, rows], numeric(length(rows)))
      gain(matrix(at(which(holds[j, 1:n])), ncol = length(objectives)), at(i))
    }, 0))
  }, 0)
}

improvement <- function(now, new) if (nrow(now)) max(0, new - max(now)) else 1
hypervolume_gain <- function(reference) {
  function(now, new) cpp_hypervolume(rbind(now, new), reference) - cpp_hypervolume(now, reference)
}

# E of the gain over a front, exactly: over the cells between all levels, those that nothing dominates.
cells_ehvi <- function(front, reference, mean, sd) {
  above <- function(k, v) sd[k] * dnorm((v - mean[k]) / sd[k]) + (mean[k] - v) * pnorm((mean[k] - v) / sd[k])
  levels <- lapply(seq_along(reference), function(k) sort(unique(c(reference[k], front[, k]))))
  cells <- as.matrix(expand.grid(lapply(levels, seq_along)))
  sum(apply(cells, 1, function(cell) {
    corner <- mapply(function(l, i) l[i], levels, cell)
    if (any(apply(front, 1, function(y) all(y > corner)))) return(0)
    prod(mapply(function(k, l, i) above(k, l[i]) - if (i < length(l)) above(k, l[i + 1]) else 0,
                seq_along(levels), levels, cell))
  }))
}

expect_close_logs <- function(found, wanted, within) {
  known <- wanted > 0.3 * max(wanted)  # (at others, the gain is in rare draws)
  expect_gt(sum(known), 2)
  expect_lt(max(abs(found[known] - log(wanted[known]))), within)
}

expect_gradient <- function(make) {
  step <- 1e-5
  found <- make(noisy_at)
  expect_equal(found$singly, found$values, tolerance = 1e-8)
  for (k in 1:2) {
    move <- replace(c(0, 0), k, step)
    moved <- function(sign) make(sweep(noisy_at, 2, sign * move, `+`))$values
    expect_equal(found$gradient[, k], (moved(1) - moved(-1)) / (2 * step), tolerance = 1e-5)
  }
}

test_that("the expected gain of two to four objectives is that of the cells that the front does not dominate", {
  skip_without_testing()
  set.seed(3)
  for (count in c(2, 3, 4, 3)) {
    for (n in c(0, 1, 6)) {
      front <- matrix(runif(n * count), n, count)
      reference <- rep(0.1, count)
      front <- front[rowSums(front > 0.1) == count, , drop = FALSE]
      mean <- runif(count, 0.2, 1)
      sd <- runif(count, 0.1, 0.4)
      core <- exp(cpp_log_ehvi(front, reference, mean, sd))
      expect_equal(core, cells_ehvi(front, reference, mean, sd), tolerance = 1e-10)
    }
  }
  # Ties among the levels, and logarithms where the values underflow.
  tied <- rbind(c(1, 2, 2), c(2, 1, 2), c(2, 2, 1), c(2, 2, 1))
  expect_equal(exp(cpp_log_ehvi(tied, c(0, 0, 0), c(1, 1, 2), rep(0.5, 3))),
               cells_ehvi(tied, c(0, 0, 0), c(1, 1, 2), rep(0.5, 3)), tolerance = 1e-10)
  far <- vapply(c(-2, -4), function(m) cpp_log_ehvi(tied, c(0, 0, 0), rep(m, 3), rep(0.02, 3)), 0)
  expect_true(all(is.finite(far)) && far[2] < far[1] && far[1] < -1e4)
})

test_that("noisy improvement with limits equals the mean over brute-force draws", {
  skip_without_testing()
  for (limits in list(c(0.3, 0.2), c(-0.2, -0.1))) {
    roles <- roles_of("f", limits[1], limits[2])
    for (noise in c(0.02, 0.3)) {
      y <- noisy_values(5, 3, noise)
      y[2:3, 2] <- NA      # partial results,
      y[8, ] <- NA         # and a pending point
      found <- outcome_score(y, noise, roles, noisy_policy())
      expect_close_logs(found$values, brute_force(y, noise, roles, improvement), 0.25)
    }
  }
})

test_that("noisy EHVI of two to four objectives with limits equals the mean over brute-force draws", {
  skip_without_testing()
  for (case in list(list("f", "f"), list("f", "f", 0.2), list("f", "f", "f"), list("f", 0.4, "f", "f"),
                    list("f", "f", "f", "f"))[few_of(1:5, 3)]) {
    roles <- do.call(roles_of, case)
    reference <- rep(-1, sum(roles[1, ]))
    y <- noisy_values(6, ncol(roles), 0.05)
    y[4, 1] <- NA
    found <- outcome_score(y, 0.05, roles, noisy_policy("ehvi", reference))
    expect_close_logs(found$values, brute_force(y, 0.05, roles, hypervolume_gain(reference), 600), 0.3)
  }
})

test_that("gradients are those of the values, noisy or not", {
  skip_without_testing()
  y <- noisy_values(7, 4, 0.05)
  expect_gradient(function(at) outcome_score(y[, 1:3], 0.05, roles_of("f", 0.3, 0.2), noisy_policy(), at))
  for (roles in list(roles_of("f", "f", 0.3), roles_of("f", "f", "f", 0.8), roles_of("f", "f", "f", "f"))) {
    policy <- noisy_policy("ehvi", rep(-1, sum(roles[1, ])))
    for (policy in list(policy, policy[names(policy) != "incumbent"])) {
      expect_gradient(function(at) outcome_score(y[, seq_len(ncol(roles))], 0.05, roles, policy, at))
    }
  }
})

test_that("with vanishing noise the noisy scores are the plain ones", {
  skip_without_testing()
  y <- noisy_values(8, 4, 0)
  compare <- function(roles, policy) {
    score <- function(policy) outcome_score(y[, seq_len(ncol(roles))], 1e-9, roles, policy)$values
    expect_equal(score(policy), score(policy[names(policy) != "incumbent"]), tolerance = 0.02)
  }
  compare(roles_of("f", 0.3, 0.2), noisy_policy())
  compare(roles_of("f", -5), noisy_policy())       # nothing is feasible
  for (roles in list(roles_of("f", "f"), roles_of("f", 0.3, "f"), roles_of("f", "f", "f", "f"))) {
    compare(roles, noisy_policy("ehvi", rep(-1, sum(roles[1, ]))))
  }
})

noisy_policies <- list(ei = policy_ei(incumbent = "draws"), ehvi = policy_ehvi(incumbent = "draws"))

noisy_bandit <- function(kind, domain, ..., noise = 0.05, kernel = kernel_matern(2.5, 0.3)) {
  outcomes <- c(list(f = to_maximize(), g = at_most(0.4)), if (kind == "ehvi") list(h = to_minimize()))
  gp_bandit(domain, kernel, noise, noisy_policies[[kind]], outcomes = outcomes, pending = pending_hallucinate(), ...)
}

noisy_answer <- function(q, x) {
  data.frame(id = q$id, f = sin(6 * x), g = x^2, h = (x - 0.2)^2)[c("id", "f", "g", "h")]
}

test_that("arms, boxes and search spaces: pending, partial and failed queries, batches, the same choice again", {
  domains <- list(arms = seq(0, 1, length.out = 15), box = list(x1 = c(0, 1)),
                  space = search_space(x1 = param_real(0, 1), u = param_factor(c("a", "b"))))
  for (kind in names(noisy_policies)) {
    for (name in names(domains)) {
      set.seed(4)
      kernel <- kernel_matern(2.5, 0.3, dims = if (name == "space") "x1")
      if (name == "space") kernel <- kernel * kernel_categorical(0.5, dims = "u")
      b <- noisy_bandit(kind, domains[[name]], kernel = kernel)
      report <- function(q, outcomes) {
        names <- c("id", intersect(outcomes, names(b$config$outcomes)))
        values <- noisy_answer(q, q$x1)[names]
        values[-1] <- values[-1] + rnorm(length(values) - 1, sd = 0.2)
        b$observe(values)
      }
      for (t in 1:6) {
        q <- b$suggest()
        if (t == 3) report(q, "f") else if (t == 4) b$fail(q$id) else report(q, c("f", "g", "h"))
      }
      tray <- b$suggest(3)
      inputs <- intersect(c("x1", "u"), names(tray))
      expect_identical(anyDuplicated(rbind(b$history()[c(1:3, 5, 6), inputs, drop = FALSE], tray[inputs])), 0L)
      # A copy makes the same choice, and no random number is used.
      again <- unserialize(serialize(b, NULL))
      set.seed(9)
      before <- .Random.seed
      chosen <- b$suggest()
      expect_identical(.Random.seed, before)
      expect_identical(again$suggest()$x1, chosen$x1)
      # An error changes nothing.
      log <- nrow(b$history())
      expect_error(b$observe(data.frame(id = chosen$id, f = "a")), class = "gpbandits_error")
      expect_identical(nrow(b$history()), log)
    }
  }
})

test_that("contexts have their own incumbents and fronts, and exhausted arms are repeated", {
  set.seed(5)
  for (kind in names(noisy_policies)) {
    b <- noisy_bandit(kind, c(0, 0.3, 0.5, 0.6), contexts = cbind(z = c(0, 1)), kernel = kernel_matern(2.5, c(0.3, 2)))
    for (t in 1:8) {
      q <- b$suggest(context = (t - 1) %/% 4)
      values <- noisy_answer(q, q$x1)
      b$observe(values[c("id", names(b$config$outcomes))])
    }
    h <- b$history()
    expect_setequal(h$arm[1:4], 1:4)
    expect_setequal(h$arm[5:8], 1:4)
    # All arms are feasible or not for certain: the repeated one is that of the plain policy.
    q <- b$suggest(context = 1)
    expect_lte(q$x1^2, 0.4)
  }
})

test_that("averages of models, likelihoods, low ranks and many observations are supported", {
  set.seed(6)
  x <- runif(90)
  data <- data.frame(f = sin(6 * x), g = x^2, h = (x - 0.2)^2) + rnorm(270, sd = 0.3)
  for (kind in names(noisy_policies)) {
    names <- c("f", "g", if (kind == "ehvi") "h")
    for (engine in c("dense", "lowrank")) {
      b <- noisy_bandit(kind, list(x1 = c(0, 1)), noise = 0.1, engine = engine,
                        refit = if (engine == "dense") refit_every(10, average = 3))
      b$add(x = cbind(x1 = x), reward = data[names])
      q <- b$suggest()
      expect_false(q$x1 %in% x)
      expect_lt(q$x1, 0.85)   # (f is large and g small below .63)
    }
  }
  b <- gp_bandit(seq(0, 1, by = 0.1), kernel_se(0.3), 0.1, noisy_policies$ei,
                 outcomes = list(f = to_maximize(), ok = at_least(0.5, rewards = rewards_binary())))
  b$add(arm = c(1, 4, 7, 10), reward = data.frame(f = 1:4 / 4, ok = c(TRUE, TRUE, FALSE, FALSE)))
  expect_false(b$suggest()$arm %in% c(1, 4, 7, 10))
})

test_that("five objectives, goals and comparisons are errors", {
  make <- function(count, policy) {
    gp_bandit(1:5, kernel_se(1), 0.1, policy,
              outcomes = stats::setNames(rep(list(to_maximize()), count), letters[1:count]))
  }
  for (policy in noisy_policies["ehvi"]) {
    expect_error(make(5, policy), "2 to 4 objectives", class = "gpbandits_error")
    expect_error(make(1, policy), class = "gpbandits_error")
  }
  expect_error(make(2, policy_ei(incumbent = "draws")), class = "gpbandits_error")
  expect_error(policy_ehvi(incumbent = "best"), "incumbent", class = "gpbandits_error")
  expect_output(print(policy_ehvi(incumbent = "draws")), "noisy expected hypervolume improvement")
})
