# Races over folds: the rule against plain R and the worked example's numbers, then whole searches.

race10 <- race_folds(10)

# A row per complete setting and the raced one's rewards from differences to the first.
raced <- function(d, complete, order = seq_along(d)) {
  reward <- rep(NA_real_, ncol(complete))
  reward[order] <- complete[which.max(rowMeans(complete)), order] + d
  reward
}

test_that("the exact rule and the reward of a stopped setting equal those of the worked example", {
  one <- matrix(rnorm(10), 1)
  reward <- raced(c(-0.3, -0.5, -0.4), one)
  expect_true(is_out_of_race(race10, reward, one))
  # -.4 + .399802 < 0, and hardly so.
  expect_equal(qt(1 - 0.05 / 7, 2) * 0.1 * sqrt(1 / 3 - 1 / 10), 0.399802, tolerance = 1e-5)
  expect_false(is_out_of_race(race10, raced(c(-0.3, -0.5, -0.4) + 3e-4, one), one))
  expect_false(is_out_of_race(race10, raced(c(-0.3, -0.5), one), one))
  reported <- worth_on_folds(reward, one)
  expect_equal(reported$var, 0.002333, tolerance = 1e-3)
  expect_equal(reported$mean, mean(one) - 0.4)
})

test_that("the pooled variance is twice the residual mean square of a two-way table, with its degrees of freedom", {
  set.seed(1)
  complete <- matrix(rnorm(50, sd = 0.2), 5) + rep(rnorm(10), each = 5)
  frame <- data.frame(y = as.vector(complete), s = factor(row(complete)), k = factor(col(complete)))
  table <- anova(lm(y ~ s + k, frame))
  expect_equal(pooled_difference(complete), 2 * table["Residuals", "Mean Sq"])
  expect_equal(table["Residuals", "Df"], 4 * 9)
  # Two folds are enough, and the stop is at the bound.
  bound <- qt(1 - 0.05 / 8, 36) * sqrt(pooled_difference(complete)) * sqrt(1 / 2 - 1 / 10)
  expect_true(is_out_of_race(race10, raced(rep(-bound - 1e-9, 2), complete), complete))
  expect_false(is_out_of_race(race10, raced(rep(-bound + 1e-9, 2), complete), complete))
  expect_false(is_out_of_race(race10, raced(-9, complete), complete))
  reported <- worth_on_folds(raced(rep(-1, 2), complete), complete)
  expect_equal(reported$var, pooled_difference(complete) / 2 * (1 + 1 / 5) * (1 / 2 - 1 / 10))
  best <- complete[which.max(rowMeans(complete)), ]
  expect_equal(reported$mean, mean((best - 1 - colMeans(complete) + mean(complete))[1:2]))
})

test_that("a single fold never decides", {
  # Nine of -1 and one of +20: while one setting is complete, equal differences say nothing.
  flat <- matrix(0, 1, 10)
  for (at in c(1, 5, 10)) {
    d <- replace(rep(-1, 10), at, 20)
    for (k in 3:9) expect_false(is_out_of_race(race10, raced(d[1:k], flat), flat))
  }
  # One bad fold among those seen, where the pooled spread would stop at once.
  set.seed(2)
  complete <- matrix(rnorm(80, sd = 0.1), 8)
  d <- c(-3, 0.05, 0.02)
  v <- sqrt(pooled_difference(complete))
  expect_lt(mean(d) + qt(1 - 0.05 / 8, 63) * v * sqrt(1 / 3 - 1 / 10), 0)
  expect_false(is_out_of_race(race10, raced(d, complete), complete))
  # A setting that was complete and stood out on one fold makes all later stops dearer.
  third <- complete[1:3, ]
  expect_true(is_out_of_race(race10, raced(c(-1, -1.1, -0.9), third), third))
  third[2, 7] <- 20
  wild <- rep(NA_real_, 10)
  wild[1:3] <- third[which.max(rowMeans(third)), 1:3] - c(1, 1.1, 0.9)
  expect_false(is_out_of_race(race10, wild, third))
})

# Races of settings one after the other, on a table of rewards: folds spent, winners there were, winners stopped.
race_through <- function(table, race) {
  complete <- table[1, , drop = FALSE]
  spent <- ncol(table)
  wins <- dropped <- 0
  for (s in 2:nrow(table)) {
    row_wins <- mean(table[s, ]) > max(rowMeans(complete))
    reward <- rep(NA_real_, ncol(table))
    for (fold in sample.int(ncol(table))) {
      reward[fold] <- table[s, fold]
      spent <- spent + 1
      if (is_out_of_race(race, reward, complete)) break
    }
    wins <- wins + row_wins
    if (anyNA(reward)) dropped <- dropped + row_wins
    else complete <- rbind(complete, table[s, ])
  }
  c(spent = spent, wins = wins, dropped = dropped)
}

test_that("winners are stopped no more often than alpha, and folds are saved", {
  skip_on_cran()
  set.seed(3)
  # The worked example's simulation: sd of folds 1, errors .5, settings .3.
  races <- by_level(60, 60, quick = 24)
  total <- rowSums(replicate(races, {
    table <- matrix(rnorm(300, sd = 0.5), 30) + rnorm(30, sd = 0.3) + rep(rnorm(10), each = 30)
    race_through(table, race10)
  }))
  expect_lt(total[["spent"]] / (races * 300), 0.72)
  expect_gt(total[["wins"]], 1.6 * races)
  # alpha is 5 of a hundred: this number of that number has probability one hundredth.
  expect_lte(total[["dropped"]], qbinom(0.99, total[["wins"]], 0.05))
  # The exact rule alone, against an incumbent that was not raced: the worst case, a setting that is as good.
  stopped <- replicate(1500, {
    one <- matrix(rnorm(10), 1)
    d <- rnorm(10)
    d <- d - mean(d)
    any(vapply(3:9, function(k) is_out_of_race(race10, raced(d[1:k], one), one), NA))
  })
  expect_lte(mean(stopped), 0.05)
})

# ---- what settings are worth ----------------------------------------------------------

# Settings x folds, seen on two folds each, the first on all.
some_folds <- function(size, folds = 6) {
  table <- matrix(rnorm(size * folds), size)
  for (s in 2:size) table[s, sample.int(folds, folds - 2)] <- NA
  table
}

test_that("values of settings equal universal kriging of all cells, by dense algebra", {
  set.seed(11)
  for (case in 1:4) {
    size <- 7
    table <- some_folds(size)
    correlation <- kernel_gram(kernel_matern(0.5), sort(runif(size)))
    model <- fold_models[c(1, 5, 6, 9)[case], ]
    cell <- expand.grid(s = seq_len(size), k = seq_len(6))
    cells <- outer(cell$k, cell$k, "==") * (model$common + (1 - model$noise) * correlation[cell$s, cell$s]) +
      diag(model$noise, nrow(cell))
    settings <- diag(size)[cell$s, ]
    seen <- which(!is.na(table))
    A <- cells[seen, seen]
    G <- settings[seen, ]
    f <- solve(t(G) %*% solve(A, G), t(G) %*% solve(A, table[seen]))
    left <- table[seen] - G %*% f
    free <- length(seen) - size
    scale <- sum(left * solve(A, left)) / free
    # The error of a mean over all folds is a contrast of cells: its variance given the best predictor.
    M <- t(settings) / 6
    weights <- cells[, seen] %*% solve(A)
    open <- settings - weights %*% G
    predictor <- weights %*% table[seen] + open %*% f
    error <- cells - weights %*% cells[seen, ] + open %*% solve(t(G) %*% solve(A, G)) %*% t(open)
    fit <- fit_folds(table, correlation, model)
    worth <- predict_folds(fit, table)
    expect_equal(worth$mean, as.vector(M %*% predictor), tolerance = 1e-6)
    expect_equal(worth$var, scale * diag(M %*% error %*% t(M)), tolerance = 1e-6)
    # The restricted likelihood is that of contrasts without the f(s).
    contrasts <- qr.Q(qr(G), complete = TRUE)[, -seq_len(size)]
    inner <- t(contrasts) %*% A %*% contrasts
    # (Up to log|G'G| / 2, which no model changes.)
    volume <- as.numeric(determinant(inner)$modulus) + as.numeric(determinant(t(G) %*% G)$modulus)
    expect_equal(fit$likelihood, -(volume + free * log(scale)) / 2, tolerance = 1e-5)
  }
})

test_that("with waiting, values are closer to the truth than by common fold effects, and their variance is correct", {
  skip_on_cran()
  set.seed(12)
  found <- do.call(rbind, replicate(by_level(150, 150, quick = 60), simplify = FALSE, {
    at <- sort(runif(14))
    correlation <- kernel_gram(kernel_se(0.2), at)
    root <- t(chol(correlation + diag(1e-8, 14)))
    folds <- root %*% matrix(rnorm(140, sd = 0.5), 14) + rep(rnorm(10), each = 14) + rnorm(140, sd = 0.1)
    whole <- rnorm(14) + folds
    table <- whole
    for (s in setdiff(1:14, c(3, 8, 12))) table[s, sample.int(10, 8)] <- NA
    complete <- table[c(3, 8, 12), ]
    worth <- worth_of_settings(table, correlation)
    common <- vapply(1:14, function(s) worth_on_folds(table[s, ], complete)$mean, 0)
    data.frame(local = worth$mean - rowMeans(whole), common = common - rowMeans(whole), var = worth$var)[-c(3, 8, 12), ]
  }))
  expect_lt(mean(found$local^2), 0.6 * mean(found$common^2))
  ratio <- mean(found$local^2 / found$var)
  expect_gt(ratio, 0.7)
  expect_lt(ratio, 1.4)
  # Complete settings stay unchanged.
  table <- some_folds(5)
  expect_equal(worth_of_settings(table, diag(5))[1, ], data.frame(mean = mean(table[1, ]), var = 0))
  # Nothing is known of folds before two were seen of one setting.
  once <- matrix(c(1, NA, NA, NA, 2, NA), 2, byrow = TRUE)
  expect_equal(worth_of_settings(once, diag(2)), data.frame(mean = c(1, 2), var = NA_real_))
})

# Folds differ more than settings do.
hard <- c(0, 2, -1, 0.5, -1.5)
noisy <- function(p, fold) -(p[["x"]] - 2.2)^2 + hard[fold] + rnorm(1, sd = 0.05)

test_that("a search over folds finds the best mean over all folds with fewer evaluations than without a race", {
  set.seed(4)
  calls <- 0
  found <- maximize_bandit(function(p, fold) {
    calls <<- calls + 1
    noisy(p, fold)
  }, list(x = c(1, 3)), 60, race = race_folds(5), n_initial = 5)
  expect_equal(calls, 60)
  expect_lt(abs(found$par[["x"]] - 2.2), 0.15)
  race <- found$race
  expect_equal(race$spent, 60)
  expect_equal(nrow(race$folds), 60)
  expect_equal(race$settings, nrow(found$history))
  expect_equal(race$complete + race$stopped + race$failed + race$unfinished, race$settings)
  expect_gt(race$stopped, 2)
  expect_gt(race$settings, 12)
  expect_equal(race$saved, sum(5 - found$history$folds[found$history$status == "stopped"]))
  # Each setting's folds are distinct, and its value is computed from them.
  by_setting <- split(race$folds, race$folds$setting)
  expect_true(all(vapply(by_setting, function(one) !anyDuplicated(one$fold), NA)))
  ok <- which(found$history$status == "observed")
  expect_equal(found$history$reward[ok], vapply(by_setting[ok], function(one) mean(one$reward), 0), ignore_attr = TRUE)
  expect_true(all(found$history$fold_var[ok] == 0))
  # A stopped setting is estimated without the luck of its folds.
  stopped <- found$history[found$history$status == "stopped", ]
  expect_lt(max(abs(stopped$reward - -(stopped$x - 2.2)^2)), 0.3)
  expect_gt(min(stopped$fold_var), 0)
  expect_true(found$observed$status == "observed")
  expect_false(is.unsorted(as.data.frame(found)$best, na.rm = TRUE))
  expect_output(print(found), "60 folds of \\d+ settings \\(\\d+ complete, \\d+ stopped early: \\d+ folds saved")
  expect_output(print(summary(found)), "settings +\\d+ succeeded.*race +60 evaluations of a fold")
  local_device()
  expect_s3_class(plot(found, "progress")$progress, "data.frame")
})

test_that("a stopped setting has its own noise variance in the bandit, and the bandit replays", {
  set.seed(5)
  found <- minimize_bandit(function(p, fold) -noisy(p, fold), list(x = c(1, 3)), 60, race = race_folds(5))
  stopped <- which(found$history$status == "stopped")
  expect_gt(length(stopped), 0)
  events <- as.environment(found$bandit)$events
  own <- table_column(events, "noise_var")
  expect_equal(sum(!is.na(own)), sum(found$history$status %in% c("stopped", "unfinished")))
  expect_true(all(own[!is.na(own)] > sort(found$history$fold_var[stopped])[1]))
  at <- matrix(seq(1, 3, length.out = 9))
  expect_equal(found$bandit$copy()$posterior(at), found$bandit$posterior(at), tolerance = tol$replay)
  expect_identical(found$bandit$copy()$history(), found$bandit$history())
  expect_lt(abs(found$par[["x"]] - 2.2), 0.2)
})

# By query; NA: the bandit's own.
noise_reported_last <- function(bandit) {
  events <- as.environment(bandit)$events
  kind <- table_column(events, "kind")
  reported <- which(kind %in% event_kind[c("reward", "given", "amend")])
  last <- vapply(split(table_column(events, "noise_var")[reported], table_column(events, "id")[reported]), utils::tail, 0, 1)
  ifelse(last == 0, NA, last)
}

test_that("waiting settings have their current values and noise variances in the bandit, and it replays", {
  set.seed(5)
  found <- minimize_bandit(function(p, fold) -noisy(p, fold), list(x = c(1, 3)), 60, race = race_folds(5, wait = TRUE),
                           n_initial = 5)
  expect_gt(sum(found$history$status == "unfinished"), 0)
  expect_equal(!is.na(noise_reported_last(found$bandit)), found$history$status != "observed", ignore_attr = TRUE)
  part <- found$history$status != "observed"
  expect_true(all(noise_reported_last(found$bandit)[part] > 0.8 * found$history$fold_var[part]))
  # The bandit's reward of a setting is that of the history, up to a tenth of the sd of the missing folds.
  off <- abs(found$bandit$history()$reward - found$history$reward)
  expect_true(all(off <= 0.1 * sqrt(found$history$fold_var) + 1e-12))
  # A log without the intermediate values gives the same posterior.
  short <- found$bandit$copy()
  events <- short$compact()
  expect_lt(events[["after"]], events[["before"]])
  at <- matrix(seq(1, 3, length.out = 9))
  expect_equal(short$posterior(at), found$bandit$posterior(at), tolerance = tol$replay)
  at <- matrix(seq(1, 3, length.out = 9))
  expect_equal(found$bandit$copy()$posterior(at), found$bandit$posterior(at), tolerance = tol$replay)
  expect_identical(found$bandit$copy()$history(), found$bandit$history())
  expect_lt(abs(found$par[["x"]] - 2.2), 0.2)
})

test_that("a setting with two bad folds waits, and the last evaluations complete settings", {
  set.seed(13)
  found <- maximize_bandit(noisy, list(x = c(1, 3)), 63, race = race_folds(5, wait = TRUE), n_initial = 4)
  by_setting <- split(seq_len(63), found$race$folds$setting)
  # The first is evaluated on all folds before others begin, all others on two before anything else is done.
  expect_equal(by_setting[["1"]], 1:5, ignore_attr = TRUE)
  expect_true(all(vapply(by_setting[lengths(by_setting) > 1], function(at) diff(at[1:2]) == 1, NA)))
  # Later folds come when the model asks for them: some settings wait while others are evaluated.
  expect_true(any(vapply(by_setting, function(at) any(diff(at) > 1), NA)))
  # Who waits in the end is no better than the best complete one, as far as is known.
  left <- found$history[found$history$status == "unfinished", ]
  expect_lt(max(left$reward, -Inf), max(found$history$reward[found$history$status == "observed"]) + 0.1)
  expect_true(all(left$fold_var > 0))
  # No setting is begun that could not be completed, while there is one that can be.
  begun <- max(vapply(by_setting, min, 0))
  expect_lte(begun, 63)
  seen <- character()
  maximize_bandit(noisy, list(x = c(1, 3)), 40, race = race_folds(5, wait = TRUE), n_initial = 3,
                  stop_when = function(search) {
                    seen <<- union(seen, search$history$status)
                    "waiting" %in% seen
                  })
  expect_true("waiting" %in% seen)
})

test_that("the same seed gives the same race, with folds in a new order for each setting", {
  run <- function() {
    set.seed(6)
    maximize_bandit(noisy, 1:12 / 4, 40, race = race_folds(5))
  }
  noisy <- function(p, fold) -(p[["x1"]] - 2.2)^2 + hard[fold] + rnorm(1, sd = 0.05)
  first <- run()
  expect_identical(first$history, run()$history)
  orders <- vapply(split(first$race$folds$fold, first$race$folds$setting), function(one) paste(one[1:2], collapse = " "), "")
  expect_gt(length(unique(orders)), 2)
})

test_that("a fold that fails is a failure of its setting", {
  set.seed(7)
  found <- maximize_bandit(function(p, fold) {
    if (p[["x"]] < 1.5 && fold == 2) return(NA)
    noisy(p, fold)
  }, list(x = c(1, 3)), 60, race = race_folds(5), n_initial = 5)
  failed <- is.na(found$history$reward)
  expect_true(any(failed))
  expect_true(all(grepl("^fold 2: returned", found$history$reason[failed])))
  expect_equal(found$race$failed, sum(failed))
  expect_true(all(found$history$folds[failed] < 5))
  expect_output(print(found), "failed")
  expect_lt(abs(found$par[["x"]] - 2.2), 0.3)
  expect_warning(none <- maximize_bandit(function(p, fold) stop("never"), list(x = c(0, 1)), 60, race = race_folds(3)),
                 class = "gpbandits_no_success")
  expect_null(none$par)
})

test_that("a setting that fails after it was reported counts as the worst from then on", {
  set.seed(14)
  calls <- list()
  found <- maximize_bandit(function(p, fold) {
    key <- format(p[["x"]], digits = 17)
    calls[[key]] <<- c(calls[[key]], fold)
    if (p[["x"]] > 2.1 && length(calls[[key]]) > 2) stop("no")
    noisy(p, fold)
  }, list(x = c(1, 3)), 60, race = race_folds(5, wait = TRUE), n_initial = 4)
  reported <- found$bandit$history()
  late <- which(is.na(found$history$reward) & reported$status == "observed")
  expect_gt(length(late), 0)
  expect_equal(reported$reward[late], rep(min(found$history$reward, na.rm = TRUE), length(late)), tolerance = 0.05)
  expect_lt(found$par[["x"]], 2.2)
  expect_equal(found$bandit$copy()$history(), reported)
})

test_that("a stop rule, a time limit and an interrupt within a setting keep the results so far", {
  set.seed(8)
  ruled <- maximize_bandit(noisy, list(x = c(1, 3)), 200, race = race_folds(5),
                           stop_when = function(search) nrow(search$history) >= 6)
  expect_true(ruled$stopped)
  expect_equal(nrow(ruled$history), 6)
  expect_lt(ruled$race$spent, 31)
  timed <- maximize_bandit(function(p, fold) {
    Sys.sleep(0.02)
    noisy(p, fold)
  }, list(x = c(1, 3)), 2000, race = race_folds(5), time_limit = 0.15)
  expect_true(timed$out_of_time)
  expect_equal(sum(timed$history$folds), timed$race$spent)
  calls <- 0
  cut <- maximize_bandit(function(p, fold) {
    calls <<- calls + 1
    if (calls == 13) signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    noisy(p, fold)
  }, list(x = c(1, 3)), 100, race = race_folds(5))
  expect_true(cut$interrupted)
  expect_equal(cut$race$spent, 12)
  expect_equal(nrow(cut$bandit$suggest()), 1)
})

test_that("a journal resumes within a setting without a difference", {
  file <- tempfile("journal")
  run <- function(evaluations, journal = NULL, f = noisy) {
    maximize_bandit(f, list(x = c(1, 3)), evaluations, race = race_folds(5), n_initial = 3, journal = journal)
  }
  total <- by_level(44, 44, quick = 32)
  set.seed(9)
  whole <- run(total)
  set.seed(9)
  part <- run(total %/% 2 + 1, file)
  expect_equal(part$race$spent, total %/% 2 + 1)
  set.seed(1)
  expect_identical(run(total, file)$history, whole$history)
  expect_error(maximize_bandit(noisy, list(x = c(1, 3)), 50, race = race_folds(6), journal = file), "race",
               class = "gpbandits_error")
  expect_error(maximize_bandit(noisy, list(x = c(1, 3)), 50, journal = file), "race", class = "gpbandits_error")
  # A process that dies within an evaluation.
  file <- tempfile("journal")
  calls <- 0
  set.seed(9)
  gone <- withRestarts(run(total, file, function(p, fold) {
    calls <<- calls + 1
    if (calls == total - 14) invokeRestart("abort_run")
    noisy(p, fold)
  }), abort_run = function() "gone")
  expect_identical(gone, "gone")
  expect_identical(run(total, file)$history, whole$history)
  # The same where settings wait, with points known before and without.
  for (data in list(NULL, data.frame(x = c(1.2, 2.9), reward = c(-1, -0.5)))[by_level(1:2, 1:2, quick = 2)]) {
    run <- function(evaluations, journal = NULL, f = noisy) {
      maximize_bandit(f, list(x = c(1, 3)), evaluations, race = race_folds(5, wait = TRUE), n_initial = 3,
                      journal = journal,
                      data = data)
    }
    set.seed(9)
    whole <- run(44, tempfile("journal"))
    reported <- function(found) table_columns(as.environment(found$bandit)$events)[c("kind", "id", "reward", "noise_var")]
    for (dies in by_level(if (is.null(data)) c(21, 31) else c(30, 38), c(21, 30, 31, 38), quick = if (is.null(data)) 31 else 30)) {
      file <- tempfile("journal")
      calls <- 0
      set.seed(9)
      gone <- withRestarts(run(44, file, function(p, fold) {
        calls <<- calls + 1
        if (calls == dies) invokeRestart("abort_run")
        noisy(p, fold)
      }), abort_run = function() "gone")
      expect_identical(gone, "gone")
      set.seed(1)
      again <- run(44, file)
      expect_identical(again$history, whole$history)
      expect_identical(reported(again), reported(whole))
    }
  }
})

test_that("two workers evaluate folds of one setting or of two, and the race is complete", {
  skip_without_signals()
  skip_if_not_installed("future")
  old <- future::plan("multisession", workers = 2)
  on.exit(future::plan(old))
  f <- function(p, fold) -(p[["x"]] - 2.2)^2 + c(0, 2, -1, 0.5, -1.5)[fold] + rnorm(1, sd = 0.05)
  environment(f) <- globalenv()
  set.seed(10)
  found <- maximize_bandit(f, list(x = c(1, 3)), 50, race = race_folds(5), workers = 2)
  expect_equal(found$race$spent, 50)
  expect_gt(found$race$stopped, 0)
  expect_false(anyNA(found$race$folds$reward))
  pairs <- paste(found$race$folds$setting, found$race$folds$fold)
  expect_false(anyDuplicated(pairs[!is.na(found$race$folds$setting)]) > 0)
  expect_lt(abs(found$par[["x"]] - 2.2), 0.3)
})

test_that("invalid races are errors", {
  for (bad in list(list(2), list(5, burn_in = 5), list(5, burn_in = 1), list(5, alpha = 0), list(5, alpha = 1), list("a"))) {
    expect_error(do.call(race_folds, bad), class = "gpbandits_error")
  }
  expect_error(maximize_bandit(noisy, list(x = c(1, 3)), 20, race = 5), "race", class = "gpbandits_error")
  expect_error(maximize_bandit(noisy, list(x = c(1, 3)), 4, race = race_folds(5)), "evaluations", class = "gpbandits_error")
  expect_error(maximize_bandit(function(p) 1, list(x = c(1, 3)), 20, race = race_folds(5)), "fold, not one that takes no second argument",
               class = "gpbandits_error")
  expect_error(maximize_bandit(noisy, list(x = c(1, 3)), 20, race = race_folds(5), model = "se"), "model", class = "gpbandits_error")
  expect_output(print(race_folds(5)), "race over 5 folds, alpha = 0.05, burn-in 3")
})

# ---- in a store -------------------------------------------------------------------------

race_in <- function(point, evaluations = 50, objective = noisy, ...) {
  maximize_bandit(objective, list(x = c(1, 3)), evaluations, n_initial = 4, race = race_folds(5),
                  store = store_at(point, seed = 7), ...)
}

test_that("a race in a store keeps its budget of folds, and resumes", {
  skip_on_cran()
  on_databases(heavy = TRUE, function(point) {
    calls <- 0
    counted <- function(p, fold) {
      calls <<- calls + 1
      noisy(p, fold)
    }
    found <- race_in(point, 50, counted)
    expect_equal(calls, 50)
    race <- found$race
    expect_equal(race$spent, 50)
    expect_gt(race$stopped, 0)
    expect_equal(race$complete + race$stopped + race$unfinished, nrow(found$history))
    expect_lt(abs(found$par[["x"]] - 2.2), 0.2)
    by_setting <- split(race$folds, race$folds$setting)
    expect_true(all(vapply(by_setting, function(one) !anyDuplicated(one$fold), NA)))
    ok <- which(found$history$status == "observed")
    expect_equal(found$history$reward[ok], vapply(by_setting[as.character(ok)], function(one) mean(one$reward), 0),
                 ignore_attr = TRUE)
    own <- table_column(as.environment(found$bandit)$events, "noise_var")
    expect_equal(sum(!is.na(own)), race$stopped + race$unfinished)
    again <- race_in(point, 70, counted)
    expect_equal(calls, 70)
    expect_identical(utils::head(again$history, nrow(found$history)), found$history)
    expect_match(refused(maximize_bandit(noisy, list(x = c(1, 3)), 80, n_initial = 4,
                                         store = store_at(point, seed = 7))), "search|race")
  })
})

test_that("another worker continues the folds of a worker that died, and a failed fold fails the setting", {
  skip_on_cran()
  point <- sqlite_location()
  calls <- 0
  dies <- function(p, fold) {
    calls <<- calls + 1
    if (calls == 8) invokeRestart("gone")
    noisy(p, fold)
  }
  expect_identical(withRestarts(race_in(point, 50, dies), gone = function() "dead"), "dead")
  before <- tamper(point, "SELECT query, fold, reward FROM gpb_fold WHERE fold > 0 AND state = 'observed' ORDER BY query, fold")
  expect_equal(nrow(before), 7)
  # Its lease is given up, as after its time.
  tamper(point, "UPDATE gpb_lease SET expires = 0 WHERE state = 'open'")
  found <- race_in(point, 50)
  expect_equal(found$race$spent, 50)
  after <- tamper(point, "SELECT query, fold, reward FROM gpb_fold WHERE fold > 0 AND state = 'observed' ORDER BY query, fold")
  kept <- merge(before, after, by = c("query", "fold"))
  expect_identical(kept$reward.x, kept$reward.y)
  expect_equal(nrow(kept), 7)
  failing <- race_in(sqlite_location(), by_level(40, 40, quick = 24),
                     function(p, fold) if (p[["x"]] < 2 && fold == 3) NaN else noisy(p, fold))
  expect_gt(failing$race$failed, 0)
  expect_true(all(grepl("^fold 3: ", failing$history$reason[is.na(failing$history$reward)])))
  tamper(point, "UPDATE gpb_fold SET fold = 77 WHERE fold = 1 AND query = 1")
  expect_match(refused(race_in(point, 60)), "gpb_fold")
})

test_that("wait = TRUE is an error where settings are raced to their end", {
  expect_error(race_folds(5, wait = NA), "wait", class = "gpbandits_error")
  expect_output(print(race_folds(5, wait = TRUE)), "settings wait")
  waiting <- race_folds(5, wait = TRUE)
  expect_error(maximize_bandit(noisy, list(x = c(1, 3)), 40, race = waiting, store = tempfile()), "race",
               class = "gpbandits_error")
})
