draw_on_nothing <- function(code) {
  local_device()
  code
}

# (One search for all: the first test sees that drawing leaves it as it is.)
searched <- local({
  found <- NULL
  function() {
    if (is.null(found)) found <<- search_once()
    found
  }
})

search_once <- function() {
  set.seed(12)
  domain <- box_domain(c(lr = 1e-4, depth = 1, rate = 0), c(1e-1, 8, 1), integer = "depth", log = "lr")
  minimize_bandit(function(p) {
    if (runif(1) < 0.1) stop("broke")
    50 + 10 * (log10(p[["lr"]]) + 2.5)^2 + (p[["depth"]] - 4)^2
  }, domain, 24)
}

test_that("plots show the results of the search, and drawing changes nothing", {
  found <- searched()
  before <- found$bandit$history()
  set.seed(1)
  seed <- .Random.seed
  device <- NULL
  plot_data <- draw_on_nothing({
    device <- par(no.readonly = TRUE)
    shown <- withVisible(plot(found))
    expect_false(shown$visible)
    expect_equal(par(no.readonly = TRUE)[c("mfrow", "mar", "oma")], device[c("mfrow", "mar", "oma")])
    shown$value
  })
  expect_identical(.Random.seed, seed)
  expect_identical(found$bandit$history(), before)
  expect_named(plot_data, c("progress", "importance", "slices", "map"), ignore.order = TRUE)
  expect_equal(plot_data$progress$best, as.data.frame(found)$best)
  # A slice is the posterior at points that differ from the recommended one in that input alone.
  one <- plot_data$slices[plot_data$slices$input == "depth", ]
  expect_equal(one$value, 1:8)
  at <- data.frame(lr = found$par[["lr"]], depth = 1:8, rate = found$par[["rate"]])
  expect_equal(one$mean, predict(found, at)$mean)
  expect_equal(one$upper, predict(found, at)$mean + 2 * predict(found, at)$sd)
  expect_equal(plot_data$importance, input_importance(found))
  expect_setequal(names(plot_data$map)[1:2], plot_data$importance$input[order(-plot_data$importance$total)][1:2])
  k <- 17
  point <- as.data.frame(as.list(found$par))
  point[names(plot_data$map)[1:2]] <- plot_data$map[k, 1:2]
  expect_equal(plot_data$map$sd[k], predict(found, point)$sd)
})

test_that("each plot can be drawn alone; invalid arguments are errors", {
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
    for (which in c("map", "importance", "dependence")) refused(plot(one, which), "type")
    for (inputs in list("lr", c("lr", "lr"), c("lr", "depth", "rate"))) refused(plot(found, "map", inputs = inputs), "inputs")
    named <- finite_domain(1:3)
    arms <- maximize_bandit(function(p) -p[[1]], named, 4,
                            model = gp_model(kernel = kernel_matrix(diag(3)), refit = NULL))
    expect_named(plot(arms), "progress")
    refused(plot(arms, "slices"), "type")
    grid <- maximize_bandit(function(p) p[[1]], finite_domain(expand.grid(a = 1:3, b = 1:2)), 5)
    refused(plot(grid, "dependence"), "type")
    none <- maximize_bandit(function(p) stop("never"), list(x = c(0, 1)), 3)
    expect_error(plot(none), "No evaluation", class = "gpbandits_error")
  })
})

test_that("bandits with more than two inputs are drawn as slices and as maps of mean and sd", {
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

test_that("autoplot() draws the same data with ggplot2, also in a space of levels and conditions", {
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
    # (Each picture once; slices of numbers and of levels.)
    for (which in if ("extra" %in% names(found$par)) few_of(c("slices", "map", "dependence"), 2) else c("progress", "slices", "importance")) {
      picture <- ggplot2::autoplot(found, which, resolution = 12)
      # Everything is built, so that a layer that cannot be drawn fails; warnings count as failures.
      expect_silent(draw_on_nothing(ggplot2::ggplotGrob(picture)))
      expect_equal(picture$data, draw_on_nothing(plot(found, which, resolution = 12))[[which]], info = which)
    }
  }
  expect_error(ggplot2::autoplot(searched(), "all"), "`type`", class = "gpbandits_error")
  expect_error(ggplot2::autoplot(searched(), wich = "map"), "wich", class = "gpbandits_error")
})

test_that("the progress of autoplot() has every evaluation at its position", {
  skip_if_not_installed("ggplot2")
  set.seed(3)
  found <- minimize_bandit(function(p) if (p[["x"]] > 0.7) stop("broke") else (p[["x"]] - 0.4)^2, list(x = c(0, 1)), 12,
                           n_initial = 8)
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

# The words of a picture in base graphics.
value_strings <- function(draw) {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file, compress = FALSE, useKerning = FALSE)
  tryCatch(draw(), finally = grDevices::dev.off())
  lines <- iconv(readLines(file, warn = FALSE), "latin1", "UTF-8", sub = "?")
  said <- regmatches(lines, regexpr("\\([^()]*\\) Tj", lines))
  sub("^\\((.*)\\) Tj$", "\\1", said)
}

test_that("levels have their names in slices and maps, and nothing is drawn between them", {
  set.seed(1)
  space <- search_space(u = c(0, 1), rule = factor(c("gini", "entropy", "error"), c("gini", "entropy", "error")),
                        size = param_factor(c(5, 1, 25)), prune = param_logical())
  f <- function(p) p$u + (p$rule == "entropy") + p$size / 25 + p$prune
  found <- maximize_bandit(f, space, 12, model = gp_model(refit = NULL))
  slices <- draw_on_nothing(plot(found, "slices"))$slices
  of <- function(name) slices[slices$input == name, ]
  expect_identical(of("rule")$label, c("gini", "entropy", "error"))
  expect_equal(of("size")$value, 1:3)
  expect_identical(of("size")$label, c("5", "1", "25"))
  expect_true(all(c("gini", "entropy", "error", "25", "FALSE", "TRUE") %in% value_strings(function() plot(found, "slices"))))
  shown <- value_strings(function() plot(found, "map", inputs = c("u", "rule")))
  expect_true(all(c("gini", "entropy", "error") %in% shown))
  expect_false(any(c("1.5", "2.5") %in% shown))
  # The bandit's own pictures, too.
  expect_true(all(c("gini", "error") %in% value_strings(function() plot(found$bandit))))
  draw_on_nothing({
    old <- graphics::par("mar")
    plot(found, "map", inputs = c("u", "rule"))
    expect_identical(graphics::par("mar"), old)
  })
  skip_if_not_installed("ggplot2")
  built <- ggplot2::ggplot_build(ggplot2::autoplot(found, "slices"))
  names <- unlist(lapply(built$layout$panel_params, function(panel) panel$x$get_labels()))
  expect_true(all(c("gini", "entropy", "error", "5", "1", "25", "FALSE", "TRUE") %in% names))
  built <- ggplot2::ggplot_build(ggplot2::autoplot(found, "map", inputs = c("u", "rule")))
  expect_identical(built$layout$panel_params[[1]]$y$get_labels(), c("gini", "entropy", "error"))
})

test_that("arms and evaluated points are at integers, with their names", {
  b <- gp_ucb(data.frame(x = c(0.1, 0.5, 0.9), row.names = c("low", "mid", "high")), kernel_se(0.3), 0.01)
  b$add(arm = 1:3, reward = c(1, 2, 1))
  expect_true(all(c("low", "mid", "high") %in% value_strings(function() plot(b, type = "arms"))))
  s <- auto_bandit(list(u = c(0, 1), rule = c("a", "b")),
                   data.frame(u = c(0.1, 0.5), rule = c("a", "b"), reward = c(10, 20)), n_initial = 0)
  said <- value_strings(function() plot(s, ylab = ""))
  expect_true(all(c("1", "2") %in% said) && !"1.2" %in% said)
  expect_identical(named_axis(NULL, 40)$at, c(1, 10, 20, 30, 40))
})

test_that("a very bad first reward leaves the progress within its axis", {
  set.seed(2)
  first <- TRUE
  found <- minimize_bandit(function(p) {
    if (first) return({first <<- FALSE; 1e4})
    (p[["x"]] - 0.3)^2
  }, list(x = c(0, 1)), 14, model = gp_model(refit = NULL))
  skip_if_not_installed("ggplot2")
  built <- ggplot2::ggplot_build(ggplot2::autoplot(found, "progress"))
  heights <- unlist(lapply(built$data, function(layer) layer$y))
  expect_lt(max(heights), 10)
  expect_identical(max(draw_on_nothing(plot(found, "progress"))$progress$best), 1e4)
})
