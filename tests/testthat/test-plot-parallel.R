# Parallel coordinates of the results of bandits and searches.

test_that("parallel coordinates have every result at its position on every axis", {
  space <- search_space(rate = param_real(1e-4, 1, log = TRUE), acid = param_real(0, 5, unit = "mol/l"),
                        solvent = c("water", "ethanol", "none"))
  bandit <- auto_bandit(space, reward = "Yield")
  bandit$add(data.frame(rate = c(1e-4, 1e-2), acid = c(5, 1), solvent = c("none", "ethanol")), reward = c(1, 2))
  local_device()
  drawn <- plot(bandit, "parallel")
  expect_equal(drawn$at, c(0, 0.5, 1, 0.2, 1, 0.5))
  expect_equal(drawn$reward, rep(c(1, 2), 3))
  expect_identical(drawn$label, c("1e-04", "0.01", "5", "1", "none", "ethanol"))
  expect_error(plot(auto_bandit(list(x = c(0, 1))), "parallel"), class = "gpbandits_error")
  skip_if_not_installed("ggplot2")
  picture <- ggplot2::autoplot(bandit, "parallel")
  expect_silent(print(picture))
  expect_identical(picture$data, drawn)
  expect_identical(picture$scales$get_scales("x")$labels, c("rate", "acid (mol/l)", "solvent"))
})

test_that("a search has both kinds of plot, for some of its inputs too", {
  set.seed(1)
  found <- minimize_bandit(function(p) (p$a - 1)^2 + p$b + p$d, list(a = c(0, 2), b = c(0, 1), d = c(0, 1)), 8)
  local_device()
  expect_identical(unique(plot(found, "parallel", inputs = c("d", "a"))$input), c("d", "a"))
  expect_identical(unique(plot(found, "acquisition", inputs = "b")$input), "b")
})

test_that("legends and axes name the objective, not a reward, when minimising or where it has a name", {
  skip_if_not_installed("ggplot2")
  found <- minimize_bandit(function(p) (p$a - 1)^2, list(a = c(0, 2)), 4)
  kinds <- function(picture) ggplot2::ggplot_build(picture)$plot$scales$get_scales("shape")$get_labels()
  expect_true("objective" %in% kinds(ggplot2::autoplot(found, "progress")))
  named <- auto_bandit(list(x = c(0, 1)), reward = "Yield")
  named$add(data.frame(x = c(0, 0.4, 1)), reward = c(1, 2, 1.5))
  expect_true("Yield" %in% kinds(ggplot2::autoplot(named, "progress")))
  expect_true("observed Yield" %in% kinds(ggplot2::autoplot(named, "curve")))
})
