# All processes with the same events choose the same points, to the bit, whenever results were read in between: copies,
# files, JSON, journals and replicas of a store.

# Something that people do with a bandit, drawn at random.
random_event <- function(b, measurements = TRUE) {
  open <- which(b$history()$status == "pending")
  one <- if (length(open)) open[sample.int(length(open), 1)]
  known <- which(b$history()$status == "observed")
  y <- round(stats::rnorm(1), 3)
  switch(sample(c("ask", "record", "noisy", "several", "withdraw", "amend", "look", "add"), 1,
                prob = c(5, 3, 3, 1, 2, 1, 3, 1)),
         ask = b$suggest(sample(1:3, 1)),
         record = if (length(one)) b$observe(one, y),
         noisy = if (length(one)) b$observe(one, y, noise_var = sample(c(0.002, 0.05), 1)),
         several = if (length(one) && measurements) b$observe(one, y + c(0.1, -0.1, 0.05)),
         withdraw = if (length(one)) if (stats::runif(1) < 0.5) b$withdraw(one) else b$fail(one),
         amend = if (length(known)) b$amend(known[1], y),
         look = b$best(),
         add = b$add(x = 0.37, reward = y))
}

go_on <- function(b) {
  set.seed(1)
  for (t in 1:6) {
    q <- b$suggest()
    b$observe(q$id, round(sin(7 * q$x1), 6))
  }
  b$history()[c("x1", "mean", "sd")]
}

copied_bandits <- list(
  hallucinate = function(...) gp_bandit(box_domain(0, 1), kernel_se(0.3), 0.01, policy_ei(),
                                        pending = pending_hallucinate(), ...),
  ucb = function(...) gp_bandit(box_domain(0, 1), kernel_matern(2.5, 0.3), 0.01, policy_ucb(2),
                                pending = pending_hallucinate(), ...),
  ignore = function(...) gp_bandit(box_domain(0, 1), kernel_se(0.3), 0.01, policy_ucb(2), ...),
  window = function(...) gp_bandit(box_domain(0, 1), kernel_se(0.3), 0.01, policy_ucb(2),
                                   changes = change_oracle(window = 5), pending = pending_hallucinate(), ...),
  weights = function(...) gp_bandit(box_domain(0, 1), kernel_se(0.3), 0.01, policy_ucb(2),
                                    changes = change_oracle(rate = 0.1, by = "weights"), pending = pending_hallucinate(), ...),
  fade = function(...) gp_bandit(box_domain(0, 1), kernel_se(0.3), 0.01, policy_ucb(2), changes = change_oracle(rate = 0.05),
                                 pending = pending_hallucinate(), ...),
  lowrank = function(...) gp_bandit(box_domain(0, 1), kernel_se(0.3), 0.01, policy_ucb(2), engine = "lowrank",
                                    pending = pending_hallucinate(), ...),
  arms = function(...) gp_bandit(data.frame(x1 = c(0:9 / 9, 0.37)), kernel_se(0.3), 0.01, policy_ei(),
                                 pending = pending_hallucinate(), ...),
  fading_arms = function(...) gp_bandit(data.frame(x1 = c(0:9 / 9, 0.37)), kernel_se(0.3), 0.01, policy_ucb(2),
                                        changes = change_oracle(rate = 0.05), pending = pending_hallucinate(), ...),
  scaled = function(...) auto_bandit(list(x1 = c(0, 1)), ..., model = gp_model(refit = refit_every(5, minimum = 5)))
)

for (name in names(copied_bandits)) {
  test_that(paste("copies, files, JSON and journals choose as the original does, after whatever came:", name), {
    for (seed in few_of(1:3, 1)) {
      set.seed(seed)
      file <- tempfile(fileext = ".journal")
      b <- copied_bandits[[name]](journal = file)
      for (k in 1:25) random_event(b, measurements = name != "scaled")
      kept <- copied_journal(file)
      others <- list(copy = b$copy(), rds = unserialize(serialize(b, NULL)), json = from_json(as_json(b)),
                     journal = open_bandit(kept))
      there <- go_on(b)
      for (other in names(others)) expect_identical(go_on(others[[other]]), there, info = paste(name, seed, other))
    }
  })
}

test_that("a replica of a store makes the choices of the bandit that asked", {
  skip_if_not_installed("RSQLite")
  for (seed in few_of(1:2, 1)) {
    set.seed(seed)
    store <- bandit_store(tempfile(fileext = ".sqlite"), "copies")
    b <- copied_bandits$hallucinate(store = store)
    for (k in 1:15) random_event(b)
    other <- open_bandit(store)
    alone <- b$copy()
    for (t in 1:4) {
      set.seed(t)
      here <- alone$suggest()
      set.seed(t)
      there <- (if (t %% 2) other else b)$suggest()
      expect_identical(there$x1, here$x1)
      b$catch_up()
      other$catch_up()
      b$observe(there$id, round(sin(7 * there$x1), 6))
      alone$observe(here$id, round(sin(7 * here$x1), 6))
      other$catch_up()
    }
  }
})

test_that("a failed trial of another engine does not depend on when results were read", {
  set.seed(1)
  b <- gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel_matern(0.5, 0.02), 0.01, policy_ucb(2))
  for (k in 1:140) {
    b$add(x = matrix(round(stats::runif(2), 4), 1), reward = round(stats::rnorm(1), 3))
    if (k > 120) b$posterior(matrix(0.5, 1, 2))
  }
  other <- b$copy()
  at <- matrix(stats::runif(40), 20)
  expect_identical(other$posterior(at), b$posterior(at))
})
