# Every engine against the textbook formula in extended precision, down to noise that is 1e-12 of
# the prior variance. Played arms cover the domain; repeated and nearly coinciding ones are among them.

spots <- c(seq(0, 1, length.out = 80), seq(0, 1, length.out = 80)[seq(3, 80, 11)] + 1e-9)
between <- (seq_len(40) - 0.37) / 40

settings <- rbind(expand.grid(kernel = c("se", "matern52"), l = c(0.05, 0.2, 1, 10), stringsAsFactors = FALSE),
                  data.frame(kernel = "linear", l = 1))

kernel_called <- function(kernel, l) {
  switch(kernel, se = kernel_se(l), matern52 = kernel_matern(2.5, l), linear = kernel_linear())
}

# Arms in some order, a third of them again, and rewards that the prior can explain.
plays <- function(kernel, noise_var, order) {
  arm <- if (order == "sorted") order(spots) else sample(length(spots))
  arm <- c(arm, sample(arm, 25), rep(arm[1], 4))
  centres <- seq(0, 1, length.out = 7)
  f <- drop(kernel_gram(kernel, spots, centres) %*% rnorm(7)) / 3
  list(arm = arm, reward = f[arm] + sqrt(noise_var) * rnorm(length(arm)))
}

extended <- function(setting, played, noise, at, keep = seq_along(played$arm), correlation = NULL, present = NULL) {
  n <- length(keep)
  cpp_testing_posterior(setting$kernel, setting$l, spots[played$arm[keep]], played$reward[keep], rep_len(noise, n), at,
                        if (is.null(correlation)) matrix(1, n, n) else correlation,
                        if (is.null(present)) rep(1, n) else present)
}

expect_exact <- function(given, wanted, label) {
  off <- max(abs(given$mean - wanted$mean), abs(given$sd - wanted$sd))
  expect_lt(off, 1e-6, label = sprintf("error of %s in prior sd", label))
}

skip_without_extended <- function() {
  skip_without_testing()
  skip_if(cpp_testing_digits() < 64, "long double has no more digits than double here: no reference")
}

arm_bandit <- function(kernel, noise_var, engine, ...) {
  gp_bandit(spots, kernel, noise_var, policy_ucb(width_constant(2)), engine = engine, ...)
}

# Both at the second level, and by turns at the first.
orders_of <- function(setting, noise_var) {
  orders <- c("sorted", "random")
  if (second_level()) orders else orders[1 + (setting + round(log10(noise_var) / 2)) %% 2]
}

test_that("every engine agrees with extended precision to 1e-6 prior sd down to noise 1e-12", {
  skip_on_cran()
  skip_without_extended()
  set.seed(1)
  for (i in seq_len(nrow(settings))) for (noise_var in few_of(10^-seq(12, 2, -2), 1)) for (order in orders_of(i, noise_var)) {
    setting <- settings[i, ]
    kernel <- kernel_called(setting$kernel, setting$l)
    played <- plays(kernel, noise_var, order)
    wanted <- extended(setting, played, noise_var, spots)
    off_arms <- extended(setting, played, noise_var, between)
    label <- function(what) sprintf("%s: %s, l = %g, noise %g, %s", what, setting$kernel, setting$l, noise_var, order)
    for (engine in c("weights", "played")) {
      bandit <- arm_bandit(kernel, noise_var, engine)
      bandit$add(arm = played$arm, reward = played$reward)
      expect_exact(bandit$posterior(), wanted, label(engine))
      expect_exact(bandit$posterior(between), off_arms, label(paste(engine, "off the arms")))
    }
    fit <- gp_regression(spots[played$arm], played$reward, kernel, noise_var)
    given <- predict(fit, spots)
    expect_exact(given, wanted, label("dense"))
  }
})

test_that("posteriors with windows and weights keep their precision too", {
  skip_on_cran()
  skip_without_extended()
  set.seed(2)
  for (i in c(2, 3, 6)) for (noise_var in few_of(c(1e-12, 1e-8, 1e-4), 1)) {
    setting <- settings[i, ]
    kernel <- kernel_called(setting$kernel, setting$l)
    played <- plays(kernel, noise_var, "random")
    n <- length(played$arm)
    age <- n + 1 - seq_len(n)
    rules <- list(
      window = list(change_oracle(window = 70), keep = n - 69:0, noise = noise_var),
      weights = list(change_oracle(rate = 0.03, by = "weights"), keep = seq_len(n), noise = noise_var * 0.97^-age),
      fade = list(change_oracle(rate = 0.01), keep = seq_len(n), noise = noise_var,
                  correlation = 0.99^(abs(outer(age, age, "-")) / 2), present = 0.99^(age / 2)))
    for (name in names(rules)) {
      rule <- rules[[name]]
      reference_at <- function(at) {
        extended(setting, played, rule$noise, at, rule$keep, rule$correlation, rule$present)
      }
      wanted <- reference_at(spots)
      off_arms <- reference_at(between)
      for (engine in c("weights", "played")) {
        bandit <- arm_bandit(kernel, noise_var, engine, changes = rule[[1]])
        bandit$add(arm = played$arm, reward = played$reward)
        label <- sprintf("%s, %s: %s, l = %g, noise %g", name, engine, setting$kernel, setting$l, noise_var)
        expect_exact(bandit$posterior(), wanted, label)
        expect_exact(bandit$posterior(between), off_arms, paste(label, "off the arms"))
      }
    }
  }
})

test_that("rewards that replace censored ones leave no trace at tiny noise", {
  skip_without_extended()
  set.seed(3)
  setting <- settings[3, ]
  kernel <- kernel_called("se", setting$l)
  for (engine in c("weights", "played")) {
    noise_var <- 1e-12
    bandit <- arm_bandit(kernel, noise_var, engine, pending = pending_censor(200))
    played <- plays(kernel, noise_var, "random")
    bandit$add(arm = played$arm, reward = played$reward)
    asked <- bandit$suggest(3)
    late <- played$reward[match(asked$arm, played$arm)]
    bandit$observe(asked$id, late)
    all <- list(arm = c(played$arm, asked$arm), reward = c(played$reward, late))
    expect_exact(bandit$posterior(), extended(setting, all, noise_var, spots), engine)
  }
})

test_that("noise below 1e-12 of the prior variance is an error", {
  for (engine in c("auto", "weights", "played")) {
    expect_error(arm_bandit(kernel_se(0.2), 1e-13, engine), "1e-12 of the prior variance", class = "gpbandits_error")
    expect_error(arm_bandit(kernel_se(0.2, variance = 1e4), 1e-9, engine), class = "gpbandits_error")
    expect_s4_class(arm_bandit(kernel_se(0.2, variance = 1e-4), 1e-15, engine), "GPBandit")
  }
  expect_error(gp_regression(spots, spots, kernel_se(0.2), 1e-13), class = "gpbandits_error")
  box <- function(noise_var) gp_bandit(box_domain(0, 1), kernel_se(0.2), noise_var, policy_ucb(width_constant(2)))
  expect_error(box(1e-13), "noise_var", class = "gpbandits_error")
  # The limit itself is allowed; a reward may not have a smaller noise variance than that.
  b <- box(1e-12)
  before <- b$history()
  expect_error(b$add(x = 0.5, reward = 1, noise_var = 1e-14), class = "gpbandits_error")
  expect_identical(b$history(), before)
})
