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
