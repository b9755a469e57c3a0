# Maps of level sets: labels, contour, and both devices.

drawn <- function(code) {
  local_device()
  code
}

hill <- function(x, y) 70 * exp(-((x - 3)^2 + (y - 2)^2) / 3)

survey <- function(domain, ...) {
  set.seed(1)
  b <- auto_bandit(domain, policy = policy_straddle(50), reward = "lead", ...)
  for (k in 1:4) {
    q <- b$suggest(5)
    b$observe(q$id, hill(q$x, q$y) + rnorm(5))
  }
  b
}

test_that("a map of a level set has the labels of $levels(), and no best point", {
  box <- survey(list(x = c(0, 6), y = c(0, 4)))
  data <- drawn(plot(box, "map", resolution = 15))
  expect_identical(data$label, box$levels(x = data[c("x", "y")])$label)
  expect_setequal(data$label, c("above", "below", "unknown"))
  set <- bandit_plot_data(box, NULL, NULL, "map", NULL, FALSE, 15)
  expect_identical(set$set$level, 50)
  expect_length(best_drawn(set), 0)
  set.seed(2)
  arms <- survey(finite_domain(data.frame(x = runif(40, 0, 6), y = runif(40, 0, 4))))
  expect_identical(drawn(plot(arms))$label, arms$levels()$label)
  # Before the first reward all is unknown.
  empty <- auto_bandit(list(x = c(0, 6), y = c(0, 4)), policy = policy_straddle(50))
  expect_identical(unique(drawn(plot(empty, "map", resolution = 5))$label), "unknown")
  expect_null(drawn(plot(auto_bandit(list(x = c(0, 6), y = c(0, 4))), "map", resolution = 5))$label)
})

test_that("on a box of gp_lse() a drawn point has the label of the nearest candidate, also on a logarithmic axis", {
  b <- gp_lse(list(x = c(0, 6), y = c(0, 4)), kernel_se(1, 400), 1, level = 50, accuracy = 3, mean = 20,
              width = width_constant(2))
  set.seed(3)
  for (k in 1:10) {
    q <- b$suggest()
    b$observe(q$id, hill(q$x, q$y))
  }
  found <- suppressWarnings(b$levels())
  data <- suppressWarnings(drawn(plot(b, resolution = 12)))
  nearest <- vapply(seq_len(nrow(data)), function(i) {
    which.min(((found$x - data$x[i]) / 6)^2 + ((found$y - data$y[i]) / 4)^2)
  }, 0L)
  expect_identical(data$label, found$label[nearest])
  space <- search_space(x = param_real(1, 1000, log = TRUE))
  expect_identical(nearest_candidates(data.frame(x = c(1, 100)), data.frame(x = c(5, 20, 90)), space)$x, c(1, 100, 100))
})

test_that("autoplot() has the same labels and a contour at the level; curves have a line there", {
  skip_if_not_installed("ggplot2")
  box <- survey(list(x = c(0, 6), y = c(0, 4)))
  picture <- ggplot2::autoplot(box, "map", resolution = 15)
  built <- drawn(ggplot2::ggplot_build(picture))
  expect_identical(picture$data$label, drawn(plot(box, "map", resolution = 15))$label)
  expect_length(unique(built$data[[1]]$fill), 3)
  levels <- unlist(lapply(built$data, function(layer) if ("level" %in% names(layer)) unique(layer$level)))
  expect_true(50 %in% levels)
  set.seed(2)
  arms <- survey(finite_domain(data.frame(x = runif(40, 0, 6), y = runif(40, 0, 4))))
  expect_identical(drawn(ggplot2::autoplot(arms))$data$label, arms$levels()$label)
  line <- auto_bandit(list(x = c(0, 6)), policy = policy_straddle(50))
  line$observe(line$suggest(5)$id, c(10, 60, 30, 80, 45))
  built <- drawn(ggplot2::ggplot_build(ggplot2::autoplot(line)))
  expect_true(any(vapply(built$data, function(layer) identical(layer$yintercept, 50), NA)))
  expect_true(all(drawn(plot(line))$label %in% c("above", "below", "unknown")))
})
