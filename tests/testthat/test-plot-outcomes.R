# What the pictures of bandits with limits or several objectives show.

outcomes_data <- function(n = 14) {
  set.seed(1)
  data <- data.frame(x = runif(n), y = runif(n))
  data$u <- data$x + data$y
  data$v <- data$x + 2 * data$y
  data
}

plot_box <- list(x = c(0, 1), y = c(0, 1))

drawn_by_ggplot <- function(picture) {
  ggplot2::ggplot_build(picture)
  picture
}

test_that("the default picture of a bandit with limits is that of its objective, on every domain", {
  local_device()
  data <- outcomes_data()
  limited <- function(domain, names, ...) {
    auto_bandit(domain, data[c(names, "u", "v")], outcomes = list(u = to_maximize(), v = at_most(1.5)), ...)
  }
  data$level <- rep(c("a", "b"), 7)
  bandits <- list(curve = limited(plot_box[1], "x"), map = limited(plot_box, c("x", "y")),
                  arms = limited(as.matrix(data[1:2]), c("x", "y")),
                  slices = limited(list(x = c(0, 1), y = c(0, 1), level = c("a", "b")), c("x", "y", "level")),
                  context = limited(plot_box[1], c("x", "y"), contexts = "y"))
  for (b in few_of(bandits, 2)) {
    context <- if (length(b$config$context_names)) data$y[1]
    shown <- plot(b, context = context, resolution = 15)
    inputs <- intersect(names(shown), c("x", "y"))
    if (length(inputs) && !"input" %in% names(shown)) {
      at <- b$posterior(shown[inputs], context = context)
      expect_equal(unlist(shown[c("mean", "sd")]), unlist(at[c("u_mean", "u_sd")]), ignore_attr = TRUE)
      expect_equal(shown$feasible, at$feasible)
    }
    if (requireNamespace("ggplot2", quietly = TRUE)) {
      drawn_by_ggplot(ggplot2::autoplot(b, context = context, next_choice = FALSE, width = 2, resolution = 15))
    }
  }
  b <- bandits$map
  expect_true(all(c("input", "feasible") %in% names(plot(b, "feasible"))))
  expect_true(all(c("x", "y", "mean", "sd") %in% names(plot(b, "sd", resolution = 5))))
  # The marked point of a map keeps the limits; the largest mean of this objective does not.
  drawn <- bandit_plot_data(b, NULL, NULL, "map", NULL, FALSE, 21)
  expect_gte(drawn$frame$feasible[best_drawn(drawn)], 0.95)
  expect_lt(drawn$frame$feasible[which.max(drawn$frame$mean)], 0.5)
  expect_identical(unname(map_mark_names(drawn)["best"]), "largest mean within limits")
})

test_that("the default picture of several objectives is the front, in one context if there are contexts", {
  local_device()
  data <- outcomes_data()
  goals <- list(u = to_maximize(), v = to_minimize())
  b <- auto_bandit(plot_box, data, outcomes = goals)
  shown <- plot(b, main = "Trade-off", xlab = "u")
  expect_identical(shown, plot(b, "front"))
  expect_equal(shown$x[shown$kind == "front"], b$front()$u_mean)
  for (type in c("slices", "sd", "map")) expect_error(plot(b, type), "\"front\"", class = "gpbandits_error")
  here <- auto_bandit(plot_box, cbind(data, w = rep(1:2, 7)), outcomes = goals, contexts = cbind(w = 1:2))
  for (w in 1:2) {
    shown <- plot(here, context = w)
    expect_equal(shown$x[shown$kind == "front"], here$front(context = w)$u_mean)
    expect_equal(sort(shown$x[shown$kind == "kept"]), sort(data$u[rep(1:2, 7) == w]))
  }
  skip_if_not_installed("ggplot2")
  expect_identical(drawn_by_ggplot(ggplot2::autoplot(b))$data$x, plot(b)$x)
  expect_identical(ggplot2::autoplot(here, context = 2)$data$x, plot(here, context = 2)$x)
})

test_that("a search with limits has a map with ggplot2", {
  skip_if_not_installed("ggplot2")
  set.seed(1)
  found <- maximize_bandit(function(p) c(u = p$x, v = p$x + p$y), plot_box, 6,
                           outcomes = list(u = to_maximize(), v = at_most(1.5)))
  expect_true(all(c("x", "y") %in% names(drawn_by_ggplot(ggplot2::autoplot(found, "map", resolution = 5))$data)))
})

test_that("a bandit over a mixture of three components has a triangle, with steps and limits too", {
  local_device()
  set.seed(1)
  blend <- function(...) search_space(m = param_shares(c("a", "b", "c"), ...))
  data <- data.frame(a = c(1, 2, 3, 5, 6, 1) / 10, b = c(3, 3, 3, 2, 2, 8) / 10)
  data <- cbind(data, c = 1 - data$a - data$b, reward = 1:6)
  for (b in list(auto_bandit(blend(), data), auto_bandit(blend(step = 0.1), data),
                 auto_bandit(blend(), cbind(data, waste = 1:6), limits = ~ waste <= 4))) {
    shown <- plot(b, resolution = 11)
    pair <- names(shown)[1:2]
    expect_true(all(pair %in% c("a", "b", "c")))
    expect_identical(is.na(shown$mean), rowSums(shown[pair]) > 1 + 1e-9)
    expect_identical(shown, plot(b, "map", resolution = 11))
    skip_if_not_installed("ggplot2")
    layers <- drawn_by_ggplot(ggplot2::autoplot(b, resolution = 11))$layers
    expect_s3_class(layers[[1]]$geom, "GeomPolygon")
  }
})
