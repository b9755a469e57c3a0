draw_on_nothing <- function(code) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  code
}

searched <- function() {
  set.seed(12)
  domain <- box_domain(c(lr = 1e-4, depth = 1, rate = 0), c(1e-1, 8, 1), integer = "depth", log = "lr")
  minimize_bandit(function(p) {
    if (runif(1) < 0.1) stop("broke")
    50 + 10 * (log10(p[["lr"]]) + 2.5)^2 + (p[["depth"]] - 4)^2
  }, domain, 24)
}

test_that("what is drawn is what was found, and drawing changes nothing", {
  found <- searched()
  before <- found$bandit$history()
  set.seed(1)
  seed <- .Random.seed
  device <- NULL
  view <- draw_on_nothing({
    device <- par(no.readonly = TRUE)
    shown <- withVisible(plot(found))
    expect_false(shown$visible)
    expect_equal(par(no.readonly = TRUE)[c("mfrow", "mar", "oma")], device[c("mfrow", "mar", "oma")])
    shown$value
  })
  expect_identical(.Random.seed, seed)
  expect_identical(found$bandit$history(), before)
  expect_named(view, c("progress", "importance", "slices", "map"), ignore.order = TRUE)
  expect_equal(view$progress$best, as.data.frame(found)$best)
  # A slice is the posterior at points that differ from the recommended one in that input alone.
  one <- view$slices[view$slices$input == "depth", ]
  expect_equal(one$value, 1:8)
  at <- data.frame(lr = found$par[["lr"]], depth = 1:8, rate = found$par[["rate"]])
  expect_equal(one$mean, predict(found, at)$mean)
  expect_equal(one$upper, predict(found, at)$mean + 2 * predict(found, at)$sd)
  expect_equal(view$importance, input_importance(found))
  expect_setequal(names(view$map)[1:2], view$importance$input[order(-view$importance$total)][1:2])
  k <- 17
  point <- as.data.frame(as.list(found$par))
  point[names(view$map)[1:2]] <- view$map[k, 1:2]
  expect_equal(view$map$sd[k], predict(found, point)$sd)
})

test_that("each picture can be had alone; bad arguments are refused", {
  skip_on_cran()
  found <- searched()
  draw_on_nothing({
    for (which in c("progress", "slices", "map", "importance")) expect_named(plot(found, which), which)
    expect_equal(unique(plot(found, "slices", inputs = "rate")$slices$input), "rate")
    expect_named(plot(found, "map", inputs = c("rate", "lr"))$map, c("rate", "lr", "mean", "sd"))
    expect_error(plot(found, "pie"), class = "gpbandits_error")
    expect_error(plot(found, "slices", inputs = "nope"), "`inputs`", class = "gpbandits_error")
    expect_error(plot(found, width = -1), class = "gpbandits_error")
    one <- maximize_bandit(function(p) -p[["x"]]^2, list(x = c(-1, 1)), 6)
    expect_named(plot(one), c("progress", "slices"))
    refused <- function(code, argument) {
      blamed <- tryCatch({
        code
        "nothing"
      }, gpbandits_error = function(e) e$argument)
      expect_identical(blamed, argument)
    }
    for (which in c("map", "importance")) refused(plot(one, which), "which")
    for (inputs in list("lr", c("lr", "lr"), c("lr", "depth", "rate"))) refused(plot(found, "map", inputs = inputs), "inputs")
    named <- finite_domain(1:3)
    arms <- maximize_bandit(function(p) -p[[1]], named, 4, kernel = kernel_matrix(diag(3)), refit = NULL)
    expect_named(plot(arms), "progress")
    refused(plot(arms, "slices"), "which")
    none <- maximize_bandit(function(p) stop("never"), list(x = c(0, 1)), 3)
    expect_error(plot(none), "no evaluation", class = "gpbandits_error")
  })
})

test_that("bandits over more than two inputs are drawn as slices and as maps of mean and sd", {
  bandit <- searched()$bandit
  draw_on_nothing({
    slices <- plot(bandit)
    expect_equal(unique(slices$input), c("lr", "depth", "rate"))
    map <- plot(bandit, type = "sd")
    expect_named(map[3:4], c("mean", "sd"))
    expect_equal(nrow(plot(bandit, type = "arms")), nrow(unique(bandit$history()[c("lr", "depth", "rate")])))
    expect_error(plot(gp_bandit(1:3, kernel_matrix(diag(3)), 0.1, policy_ei()), type = "slices"),
                 class = "gpbandits_error")
  })
})

test_that("autoplot draws the same data with ggplot2, also in a space of levels and conditions", {
  skip_on_cran()
  skip_if_not_installed("ggplot2")
  registered <- utils::getS3method("autoplot", "bandit_maximum", optional = TRUE, envir = asNamespace("ggplot2"))
  expect_identical(registered, getFromNamespace("autoplot.bandit_maximum", "gpbandits"))
  set.seed(4)
  space <- search_space(rate = param_real(1e-3, 1, log = TRUE), how = param_factor(c("p", "q")),
                        extra = param_real(0, 1, when = ~ how == "q"))
  mixed <- maximize_bandit(function(p) -(log10(p$rate) + 1)^2 + (p$how == "p"), space, 14)
  expect_true(is.na(mixed$par$extra))
  for (found in list(searched(), mixed)) {
    for (which in c("progress", "slices", "map", "importance")) {
      picture <- ggplot2::autoplot(found, which, resolution = 12)
      # Everything is built, so that a layer that cannot be drawn fails; warnings count as failures.
      expect_silent(draw_on_nothing(ggplot2::ggplotGrob(picture)))
      expect_equal(picture$data, draw_on_nothing(plot(found, which, resolution = 12))[[which]], info = which)
    }
  }
  expect_error(ggplot2::autoplot(searched(), "all"), "`which`", class = "gpbandits_error")
  expect_error(ggplot2::autoplot(searched(), wich = "map"), "wich", class = "gpbandits_error")
})

test_that("the progress of autoplot has every evaluation in its place", {
  skip_if_not_installed("ggplot2")
  set.seed(3)
  found <- minimize_bandit(function(p) if (p[["x"]] > 0.7) stop("broke") else (p[["x"]] - 0.4)^2, list(x = c(0, 1)), 12,
                           design = 8)
  picture <- ggplot2::autoplot(found)
  points <- ggplot2::layer_data(picture, 2)
  expect_equal(points$x, 1:12)
  # Failures stand at the edge that is bad, as crosses.
  failed <- is.na(found$history$reward)
  expect_true(any(failed) && !all(failed))
  expect_equal(points$shape == 4, failed)
  expect_true(all(points$y[failed] >= max(points$y[!failed])))
  inside <- points$shape == 16
  expect_equal(points$y[inside], found$history$reward[inside])
  best <- as.data.frame(found)$best
  expect_equal(ggplot2::layer_data(picture, 1)$y, best[!is.na(best)])
})
