refused <- function(code, argument = NULL) {
  error <- expect_error(code, class = "gpbandits_error")
  if (!is.null(argument)) expect_identical(error$argument, argument)
}

# Draws on a separate device and returns the plot's result.
draw <- function(code) {
  local_device()
  code
}

x <- seq(0, 1, length.out = 60)
f <- function(x) sin(9 * x) * x
kernel <- kernel_se(0.15)

played <- function(bandit, means, rounds, ...) {
  set.seed(4)
  run_bandit(bandit, bandit_problem(bandit$config$domain, means, noise = 0.1, ...), rounds)
}

grid <- expand.grid(u = 1:7, v = seq(0, 2, by = 0.5))
grid_mean <- -(grid$u - 4)^2 / 9 - (grid$v - 1)^2
covariance <- crossprod(matrix(sin(1:144), 12)) + diag(12)
contexts <- cbind(z = c(0, 0.5))

bandits <- function() {
  out <- list(
    empty = gp_ucb(x, kernel, 0.01),
    ucb = gp_ucb(x, kernel, 0.01),
    thompson = gp_bandit(x, kernel, 0.01, policy_ts(width_constant(1.5))),
    improvement = gp_ei(x, kernel, 0.01),
    uniform = gp_bandit(x, kernel, 0.01, policy_uniform()),
    map = gp_ucb(grid, kernel_se(c(2, 1)), 0.01),
    matrix = gp_ucb(1:12, kernel_matrix(covariance), 0.01),
    few = gp_ucb(c(1, 2, 5), kernel_se(1), 0.01),
    inputs3 = gp_ucb(cbind(1:4, c(0, 1, 0, 1), c(2, 0, 1, 1)), kernel_se(1), 0.01)
  )
  for (name in setdiff(names(out), c("empty", "map"))) {
    n <- nrow(out[[name]]$config$domain$x)
    played(out[[name]], f(seq_len(n) / n), 8, delay = 3)
  }
  played(out$map, grid_mean, 12)
  out
}

test_that("every kind of bandit is drawn, and neither it nor the random numbers change", {
  for (bandit in bandits()) {
    before <- list(bandit$history(), bandit$config)
    events <- table_columns(bandit$events)
    set.seed(99)
    seed <- .Random.seed
    data <- draw(withVisible(plot(bandit)))
    expect_false(data$visible)
    expect_identical(.Random.seed, seed)
    expect_identical(list(bandit$history(), bandit$config), before)
    expect_identical(table_columns(bandit$events), events)
    posterior <- bandit$posterior()
    expect_equal(data$value$mean, posterior$mean)
    expect_equal(data$value$sd, posterior$sd)
    width <- attr(data$value, "width")
    expect_equal(data$value$upper - data$value$mean, width * posterior$sd)
    expect_equal(data$value$mean - data$value$lower, width * posterior$sd)
    expect_identical(sum(data$value$plays), nrow(bandit$history()))
  }
})

test_that("plotting creates no random state where there was none", {
  bandit <- bandits()$thompson
  rm(".Random.seed", envir = globalenv())
  draw(plot(bandit))
  expect_false(exists(".Random.seed", envir = globalenv(), inherits = FALSE))
})

test_that("the marked next choice is the one that the bandit then makes; random ones are not marked", {
  all <- bandits()
  for (name in names(all)) {
    shown <- attr(draw(plot(all[[name]])), "next_choice")
    if (name %in% c("thompson", "uniform")) {
      expect_null(shown)
    } else {
      expect_identical(shown$arm, all[[name]]$suggest()$arm)
    }
  }
  expect_null(attr(draw(plot(all$ucb, next_choice = FALSE)), "next_choice"))
})

test_that("the band has the policy's width if it has one, two sd otherwise, or the given width", {
  all <- bandits()
  n <- length(x)
  t <- 9
  expect_equal(attr(draw(plot(all$ucb)), "width"), sqrt(0.2 * 2 * log(n * t^2 * pi^2 / 0.6)))
  expect_equal(attr(draw(plot(all$thompson)), "width"), 1.5)
  expect_equal(attr(draw(plot(all$improvement)), "width"), 2)
  expect_equal(attr(draw(plot(all$ucb, width = 0.5)), "width"), 0.5)
  label <- function(bandit, ...) bandit_plot_data(bandit, NULL, NULL, "auto", ..., TRUE, NULL)$band$label
  expect_match(label(all$ucb, NULL), "policy's width")
  expect_no_match(label(all$improvement, NULL), "policy")
  expect_match(label(all$improvement, NULL), "2 sd")
})

test_that("the default type of plot fits the domain", {
  all <- bandits()
  kind <- function(bandit, type = "auto") plot_data_type(bandit$config, type)
  expect_identical(kind(all$ucb), "curve")
  expect_identical(kind(all$map), "map")
  expect_identical(kind(all$matrix), "arms")
  expect_identical(kind(all$few), "arms")
  expect_identical(kind(all$few, "curve"), "curve")
  expect_identical(kind(all$inputs3), "arms")
  # Arms of two inputs that are no grid are a map of points; few of them, or a line, are drawn as arms.
  expect_identical(kind(gp_ucb(grid[-3, ], kernel_se(1), 0.01)), "map")
  expect_identical(kind(gp_ucb(grid[c(1:35, 1), ], kernel_se(1), 0.01)), "map")
  expect_identical(kind(gp_ucb(grid[c(1, 9, 12), ], kernel_se(1), 0.01)), "arms")
  line <- gp_ucb(cbind(1:20, 3), kernel_se(1), 0.01)
  expect_identical(kind(line), "arms")
  expect_identical(kind(line, "map"), "map")
  expect_identical(kind(gp_ucb(cbind(1:12, 12:1), kernel_matrix(covariance), 0.01)), "arms")
  draw(plot(all$map, type = "arms"))
  refused(draw(plot(all$map, type = "curve")), "type")
  refused(draw(plot(all$ucb, type = "map")), "type")
})

test_that("the truth can be numbers or a function", {
  all <- bandits()
  expect_identical(draw(plot(all$ucb, truth = f))$truth, f(x))
  expect_identical(draw(plot(all$ucb, truth = f(x)))$truth, f(x))
  expect_identical(draw(plot(all$map, truth = function(m) m[, "u"] + m[, "v"]))$truth, grid$u + grid$v)
  expect_identical(draw(plot(all$matrix, truth = 1:12))$truth, as.double(1:12))
  refused(draw(plot(all$ucb, truth = 1:3)), "truth")
  refused(draw(plot(all$ucb, truth = function(m) 1)), "truth")
  refused(draw(plot(all$ucb, truth = function(m) m[, 1] / 0)), "truth")
  refused(draw(plot(all$ucb, truth = "f")), "truth")
})

test_that("with contexts a slice is drawn, with the queries in that context", {
  bandit <- gp_bandit(x, kernel_se(0.3), 0.01, policy_ucb(width_constant(2)), contexts = contexts)
  first <- draw(plot(bandit))
  expect_equal(first$mean, rep(0, length(x)))
  bandit$add(arm = c(5, 20, 50), reward = c(0, 1, 0.3), context = 0)
  bandit$add(arm = c(5, 40), reward = c(1, -1), context = 0.5)
  for (z in contexts) {
    data <- draw(plot(bandit, context = z, truth = function(m) m[, "x1"] + m[, "z"]))
    expect_equal(data$mean, bandit$posterior(context = z)$mean)
    expect_identical(sum(data$plays), if (z == 0) 3L else 2L)
    expect_equal(data$truth, x + z)
  }
  expect_equal(draw(plot(bandit))$mean, bandit$posterior(context = 0.5)$mean)
  expect_equal(draw(plot(bandit, context = data.frame(z = 0)))$mean, bandit$posterior(context = 0)$mean)
  refused(draw(plot(bandit, context = 0.7)), "context")
  refused(draw(plot(bandit, context = c(0, 0.5))), "context")
  refused(draw(plot(bandits()$ucb, context = 0)), "context")
})

test_that("boxes are drawn on a grid of the posterior", {
  box <- gp_bandit(box_domain(0, 2), kernel_se(0.4), 0.01, policy_ucb(width_constant(2)))
  box$add(x = c(0.2, 1.5), reward = c(1, 0))
  data <- draw(plot(box, truth = function(m) cos(m[, 1]), resolution = 40))
  expect_equal(data$x1, seq(0, 2, length.out = 40))
  expect_equal(data$mean, box$posterior(data$x1)$mean)
  expect_equal(attr(data, "next_choice")$x1, box$copy()$suggest()$x1)
  flat <- gp_bandit(box_domain(c(0, 0), c(1, 2)), kernel_se(0.4), 0.01, policy_ucb(width_constant(2)))
  flat$add(x = cbind(c(0.2, 0.5), c(1, 1)), reward = c(1, 0))
  data <- draw(plot(flat, resolution = 9))
  expect_identical(nrow(data), 81L)
  expect_equal(data$mean, flat$posterior(data[c("x1", "x2")])$mean)
  deep <- gp_bandit(box_domain(rep(0, 3), 1), kernel_se(0.4), 0.01, policy_ucb(width_constant(2)))
  refused(draw(plot(deep, type = "arms")))
  deep$add(x = rbind(1:3, 1:3, 3:1) / 4, reward = c(1, 0.8, 0))
  expect_identical(nrow(draw(plot(deep, type = "arms"))), 2L)
})

test_that("logarithmic inputs have logarithmic axes, integer inputs integer values", {
  skip_on_cran()
  domain <- box_domain(c(cost = 1e-2, depth = 1), c(1e2, 12), integer = "depth", log = "cost")
  box <- gp_bandit(domain, kernel_se(1), 0.01, policy_ucb(width_constant(2)))
  data <- draw(plot(box, resolution = 21))
  expect_equal(sort(unique(data$depth)), 1:12)
  expect_equal(diff(log10(unique(data$cost))), rep(0.2, 20))
  expect_equal(range(data$cost), c(1e-2, 1e2))
  expect_identical(plot_data_log(domain, "map"), "x")
  expect_equal(cell_edges(c(1, 10, 100), TRUE), 10^c(-0.5, 2.5))
  expect_equal(cell_edges(c(1, 2, 4), FALSE), c(0.5, 5))
  box$add(x = rbind(c(1, 3), c(10, 7)), reward = c(1, 0))
  draw(plot(box))
  line <- gp_bandit(box_domain(c(cost = 1e-3), 1, log = TRUE), kernel_se(1), 0.01, policy_ei())
  draw(plot(line))
  skip_if_not_installed("ggplot2")
  for (bandit in list(box, line)) expect_silent(draw(ggplot2::ggplotGrob(ggplot2::autoplot(bandit, resolution = 15))))
})

test_that("in plots of runs the curves are those of the regret log, and bounds follow the quantity", {
  run <- played(gp_ucb(x, kernel, 0.01), cbind(f(x), -f(x)), 40, change_points = 20)
  data <- as.data.frame(run)
  rounds <- 1:40
  for (log in c("", "x", "y", "xy")) draw(plot(run, log = log))
  expect_identical(draw(plot(run))$cumulative_regret, data$cumulative_regret)
  expect_identical(draw(plot(run, "average"))$average_regret, data$cumulative_regret / rounds)
  expect_identical(draw(plot(run, type = "simple", log = "xy"))$simple_regret, data$simple_regret)
  expect_equal(draw(plot(run, bound = rounds))$bound, rounds)
  expect_equal(draw(plot(run, "average", bound = rounds))$bound, rep(1, 40))
  theorem <- regret_bound("srinivas1", 40, gain = 1, noise_var = 0.01, arms = 60)
  expect_equal(draw(plot(run, "average", bound = theorem, log = "xy"))$bound, theorem / rounds)
  expect_equal(run_plot_data(run, "cumulative", NULL)$changes, 20.5)
  expect_equal(changes_within(c(10, 40), 40), 10.5)
  refused(draw(plot(run, "violation")), "type")
  refused(draw(plot(run, "sum")), "type")
  refused(draw(plot(run, bound = 1:3)), "bound")
  refused(draw(plot(run, bound = -1)), "bound")
  refused(draw(plot(run, log = "z")), "log")
  refused(draw(plot(run, col = "no colour")), "col")
})

comparison <- function(replications = 3, rounds = 30, every = 1) {
  compare_bandits(list(ucb = function(p) gp_ucb(p$domain, kernel, 0.01),
                       uniform = function(p) gp_bandit(p$domain, kernel, 0.01, policy_uniform())),
                  bandit_problem(x, f(x), noise = 0.1), rounds, replications, seed = 2, every = every)
}

test_that("in plots of comparisons mean and standard error are those of summary()", {
  both <- comparison()
  for (column in c("average_regret", "cumulative_regret", "simple_regret")) {
    data <- draw(plot(both, column, bands = 2))
    truth <- summary(both, rounds = 1:30, columns = column)
    expect_equal(data$mean, truth$mean)
    expect_equal(data$se, truth$se)
    expect_equal(data$upper - data$lower, 4 * truth$se)
  }
  for (log in c("", "x", "y", "xy")) draw(plot(both, "simple_regret", log = log))
  draw(plot(comparison(replications = 1)))
  expect_identical(unique(draw(plot(comparison(every = 7)))$round), c(7, 14, 21, 28, 30))
  refused(draw(plot(both, "regrets")), "type")
  refused(draw(plot(both, "action")), "type")
  refused(draw(plot(both, bands = -1)), "bands")
  refused(draw(plot(both, colour = "red")), "colour")
})

test_that("thinning keeps the first and last round and the order", {
  for (log in c(FALSE, TRUE)) {
    at <- thinned(1:30000, 1000, log)
    expect_equal(range(at), c(1, 30000))
    expect_false(is.unsorted(at, strictly = TRUE))
    expect_lte(length(at), 1002)
    expect_identical(thinned(1:50, 1000, log), 1:50)
  }
})

test_that("graphical parameters are restored, and invalid limits of axes are errors", {
  all <- bandits()
  local_device()
  graphics::plot(1:3)
  # All but the coordinates that every plot sets.
  coordinates <- c("usr", "xaxp", "yaxp", "xlog", "ylog")
  own <- function() {
    now <- graphics::par(no.readonly = TRUE)
    now[setdiff(names(now), coordinates)]
  }
  before <- own()
  for (bandit in all) {
    plot(bandit, legend = FALSE, main = "", xlab = "dose", ylab = "response")
    plot(bandit, ylim = c(-3, 3))
    expect_identical(own(), before)
  }
  refused(plot(all$ucb, legend = NA), "legend")
  refused(plot(all$ucb, ylim = 1), "ylim")
  refused(plot(all$ucb, main = 3), "main")
  refused(plot(all$ucb, width = -1), "width")
  refused(plot(all$ucb, resolution = 1), "resolution")
  refused(plot(all$ucb, next_choice = "yes"), "next_choice")
  refused(plot(all$ucb, truht = f), "truht")
})

test_that("rewards from before a restart look different from those after it", {
  bandit <- gp_ucb(x, kernel, 0.01, changes = change_oracle(8, explore = 0))
  played(bandit, f(seq_along(x) / length(x)), 8, delay = 3)
  bandit$add(arm = 3, reward = 1)
  plot_data <- bandit_plot_data(bandit, NULL, NULL, "auto", NULL, TRUE, NULL)
  expect_identical(plot_data$queries$current, rep(c(FALSE, TRUE), c(8, 1)))
  expect_true("before the restart" %in% profile_key(plot_data)$label)
  draw(plot(bandit))
})

test_that("autoplot() draws the same data with ggplot2", {
  skip_on_cran()
  skip_if_not_installed("ggplot2")
  for (class in c("GPBandit", "bandit_run", "bandit_comparison")) {
    registered <- utils::getS3method("autoplot", class, optional = TRUE, envir = asNamespace("ggplot2"))
    expect_identical(registered, getFromNamespace(paste0("autoplot.", class), "gpbandits"))
  }
  # Everything is built, so that a layer that cannot be drawn fails; warnings count as failures.
  built <- function(picture) expect_silent(draw(ggplot2::ggplotGrob(picture)))
  for (bandit in few_of(bandits(), 2)) {
    seed <- { set.seed(5); .Random.seed }
    before <- bandit$history()
    picture <- ggplot2::autoplot(bandit, truth = function(m) m[, 1] * 0.1)
    expect_identical(.Random.seed, seed)
    expect_identical(bandit$history(), before)
    expect_equal(picture$data, draw(plot(bandit, truth = function(m) m[, 1] * 0.1)), ignore_attr = TRUE)
    built(picture)
  }
  built(ggplot2::autoplot(bandits()$ucb, next_choice = FALSE, width = 1))
  run <- played(gp_ucb(x, kernel, 0.01), cbind(f(x), -f(x)), 40, change_points = 20)
  for (which in c("cumulative", "average", "simple")) {
    built(ggplot2::autoplot(run, which, bound = 1:40, log = if (which == "simple") "xy" else ""))
  }
  built(ggplot2::autoplot(comparison()))
  built(ggplot2::autoplot(comparison(replications = 1), "simple_regret", log = "xy"))
  set.seed(6)
  many <- list(gp_ucb(list(u = c(0, 1), v = c(1, 2), w = c(0, 3)), kernel_se(0.5), 0.1, width = 2),
               gp_ucb(search_space(rate = param_real(1e-3, 1, log = TRUE), trees = param_integer(1, 9), how = param_factor(c("p", "q"))),
                      kernel_se(0.5), 0.1, width = 2))
  for (bandit in many) {
    for (k in 1:4) bandit$observe(bandit$suggest()$id, k)
    for (type in few_of(c("auto", if (second_level()) "slices", "sd"), 1)) {
      picture <- ggplot2::autoplot(bandit, type = type, resolution = 12)
      expect_equal(picture$data, draw(plot(bandit, type = type, resolution = 12)), info = type)
      built(picture)
    }
  }
  refused(ggplot2::autoplot(bandits()$ucb, type = "sd"), "type")
  refused(ggplot2::autoplot(run, "sum"), "type")
  refused(ggplot2::autoplot(run, wich = "average"), "wich")
  refused(ggplot2::autoplot(bandits()$ucb, type = "map"), "type")
  refused(ggplot2::autoplot(comparison(), "action"), "type")
})

test_that("a bandit without a scale of its rewards is drawn, or an error states the reason", {
  local_device()
  drawn <- function(b, type, how) tryCatch({
    suppressWarnings(utils::capture.output(print(how(b, type = type))))
    TRUE
  }, gpbandits_error = function(e) conditionMessage(e))
  domains <- list(1:5, list(u = c(0, 1)), list(u = c(0, 1), v = c(0, 1)), search_space(a = c(0, 1), b = c("x", "y")))
  for (domain in domains) {
    b <- auto_bandit(domain)
    set.seed(1)
    for (known in 0:1) {
      id <- b$suggest()$id
      if (known > 0) b$observe(id, known)
      expect_true(drawn(b, "auto", plot))
      expect_no_error(drawn(b, "slices", plot))
    }
  }
  b <- auto_bandit(domains[[2]])
  expect_match(drawn(b, "slices", plot), "needs an observed result")
  skip_if_not_installed("ggplot2")
  expect_true(drawn(b, "auto", ggplot2::autoplot))
})

test_that("slices of comparisons have values at the existing arms only", {
  arms <- seq(0, 1, length.out = 6)
  duels <- gp_bandit(arms, kernel_se(0.3, 4), policy = policy_duel(2), rewards = rewards_preferences())
  duels$observe(duels$suggest(2)$id, prefer = 1)
  shown <- draw(plot(duels, type = "slices"))
  expect_equal(shown$value, arms)
  expect_equal(shown$mean, duels$posterior()$mean)
  recipes <- gp_bandit(expand.grid(a = 1:2, b = 1:3), kernel_se(1, 4), policy = policy_duel(2), rewards = rewards_preferences())
  recipes$observe(recipes$suggest(2)$id, prefer = 1)
  for (type in c("slices", "sd")) expect_error(draw(plot(recipes, type = type)), "`type`.*arms", class = "gpbandits_error")
})

# Boreholes: 60 points that are no grid, some with several measurements, one pending, one without any.
boreholes <- function() {
  set.seed(8)
  points <- data.frame(lon = runif(60, 16.2, 16.6), lat = runif(60, 48.1, 48.3))
  b <- gp_ucb(points, kernel_se(c(0.1, 0.05)), 0.01)
  b$add(arm = c(4, 4, 4, 17, 30), reward = c(1, 1.2, 0.9, -1, 0.2))
  b$add(arm = 51)
  b
}

test_that("scattered arms are a map of points: a row for each arm, with its plays and pending queries", {
  b <- boreholes()
  plot_data <- bandit_plot_data(b, NULL, NULL, "auto", NULL, TRUE, NULL)
  expect_identical(plot_data$type, "map")
  expect_true(plot_data$scattered)
  points <- scatter_plot_data(plot_data)
  posterior <- b$posterior()
  candidates <- as.data.frame(b$config$domain$x)
  expect_equal(points[c("x", "y")], candidates, ignore_attr = TRUE)
  expect_identical(points[c("mean", "sd")], posterior[c("mean", "sd")])
  expect_equal(which(points$plays > 0), c(4, 17, 30, 51))
  expect_equal(points$plays[c(4, 17, 51)], c(3, 1, 1))
  expect_identical(which(points$pending), 51L)
  # A grid has an image instead.
  expect_false(bandit_plot_data(bandits()$map, NULL, NULL, "auto", NULL, TRUE, NULL)$scattered)
  # The result is that of other plots of arms.
  shown <- draw({
    before <- par(no.readonly = TRUE)
    data <- plot(b, truth = function(m) m[, "lon"])
    expect_equal(par(no.readonly = TRUE)[c("mfrow", "mar", "oma")], before[c("mfrow", "mar", "oma")])
    data
  })
  expect_equal(shown[c("lon", "lat", "mean", "sd")], cbind(candidates, posterior[c("mean", "sd")]), ignore_attr = TRUE)
  expect_identical(shown$truth, candidates$lon)
  expect_identical(attr(shown, "next_choice")$arm, b$suggest()$arm)
})

test_that("the colours of points increase with their values", {
  colours <- colours_of_values(c(3, NA, -1, 1, 1.001))
  scale <- surface_colours
  expect_identical(colours[c(1, 3)], scale[c(32, 1)])
  expect_false(colours[2] %in% scale)
  expect_identical(colours[4:5], scale[c(1, 1) + round(31 * c(2, 2.001) / 4)])
  expect_length(unique(colours_of_values(rep(2, 5))), 1)
})

test_that("autoplot() of scattered arms has a panel each for mean and sd, with axes named like the columns", {
  skip_on_cran()
  skip_if_not_installed("ggplot2")
  b <- boreholes()
  picture <- ggplot2::autoplot(b, type = "map")
  expect_equal(picture$data, draw(plot(b)), ignore_attr = TRUE)
  expect_silent(draw(ggplot2::ggplotGrob(picture)))
  built <- ggplot2::ggplot_build(picture)
  expect_identical(as.character(built$layout$layout$panel), c("posterior mean", "posterior sd"))
  expect_identical(unlist(picture$labels[c("x", "y")]), c(x = "lon", y = "lat"))
  posterior <- b$posterior()
  points <- as.data.frame(b$config$domain$x)
  expect_equal(picture$layers[[1]]$data$mean, posterior$mean)
  expect_equal(picture$layers[[3]]$data$sd, posterior$sd)
  # Played arms are marked in both, pending ones in another colour.
  rings <- lapply(4:5, function(k) picture$layers[[k]]$data)
  expect_equal(rings[[1]]$x[rings[[1]]$panel == "posterior sd"], points$lon[c(4, 17, 30)])
  expect_equal(rings[[2]]$y, rep(points$lat[51], 2))
  expect_identical(as.character(rings[[2]]$panel), c("posterior mean", "posterior sd"))
})

test_that("a map labels a minimum as such, with and without ggplot2", {
  skip_on_cran()
  skip_if_not_installed("ggplot2")
  b <- gp_ucb(grid, kernel_se(c(2, 1)), 0.01, outputs = scale_outputs("minimize"))
  b$add(arm = 1:6, reward = c(3, 1, 2, 5, 4, 2))
  kinds <- lapply(ggplot2::autoplot(b)$layers, function(layer) layer$data$kind)
  expect_true("smallest mean" %in% unlist(kinds))
})

# Every plot that a type allows is drawn, without R's own errors or warnings; others are gpbandits_errors.
drawn_of <- function(bandit) {
  for (type in c("auto", "curve", "map", "arms", "slices", "sd")) {
    base <- try_picture(draw(plot(bandit, type = type)))
    expect_true(base %in% c("drawn", if (type != "auto") "refused"), info = paste(type, base))
    if (requireNamespace("ggplot2", quietly = TRUE) && (second_level() || type == "auto")) {
      expect_identical(try_picture(draw(print(ggplot2::autoplot(bandit, type = type)))), base, info = type)
    }
  }
}

try_picture <- function(code) tryCatch({
  code
  "drawn"
}, gpbandits_error = function(e) "refused", error = conditionMessage, warning = conditionMessage)

test_that("inputs of a single value, one arm, one reward and equal rewards can be plotted", {
  skip_on_cran()
  spaces <- list(three = search_space(m = param_integer(2, 2), n = c(0, 3), o = c(0, 1)),
                 integer_and_level = search_space(m = param_integer(2, 2), n = c("a", "b")),
                 one_level = search_space(k = "only"), one_whole = search_space(k = param_integer(3, 3)))
  if (!second_level()) spaces <- spaces[c("integer_and_level", "one_whole")]
  for (space in spaces) for (rewards in few_of(list(1, c(1, 3, 2)), 1)) {
    set.seed(1)
    b <- auto_bandit(space, n_initial = 2)
    for (reward in rewards) b$observe(b$suggest()$id, reward)
    drawn_of(b)
  }
  for (x in few_of(list(1, cbind(1:12, 5), cbind(1, 2), rep(2, 4)), 2)) {
    b <- gp_ucb(x, kernel_se(1), 0.01)
    if (second_level()) drawn_of(b)
    b$observe(b$suggest()$id, 1)
    drawn_of(b)
  }
  # A constant input of known data, and equal rewards.
  known <- data.frame(u = 0.5, v = c(0, 0.4, 1))
  space <- search_space(u = c(0, 1), v = c(0, 1))
  drawn_of(auto_bandit(space, cbind(known, reward = 1:3)))
  drawn_of(auto_bandit(space, cbind(known, reward = 2)))
})

test_that("a map of one column, or one row, is an image of one cell each", {
  draw({
    graphics::plot.new()
    graphics::plot.window(c(0, 2), c(0, 3))
    expect_silent(draw_surface(1, 1:3, matrix(1:3, 1), list(x = c(0.5, 1.5), y = c(0.5, 3.5))))
    expect_silent(draw_surface(1:3, 1, matrix(1:3, 3), list(x = c(0.5, 3.5), y = c(0.5, 1.5))))
  })
})

test_that("every plot of a search works with inputs of a single value and equal rewards", {
  skip_on_cran()
  set.seed(1)
  found <- list(maximize_bandit(function(p) p[["n"]], search_space(m = param_integer(2, 2), n = c(0, 3)), 6),
                maximize_bandit(function(p) 1, list(x = c(0, 1), y = c(0, 1)), 4))
  for (one in found) for (which in few_of(c("all", "progress", "slices", "map", "importance", "dependence"), 2)) {
    expect_identical(try_picture(draw(plot(one, which))), "drawn", info = which)
    if (which != "all" && requireNamespace("ggplot2", quietly = TRUE)) {
      expect_identical(try_picture(draw(print(ggplot2::autoplot(one, which)))), "drawn", info = which)
    }
  }
})

test_that("`type` is the second argument of every method of plot() and autoplot()", {
  space <- asNamespace("gpbandits")
  methods <- grep("^(plot|autoplot)[.]", ls(space), value = TRUE)
  expect_gt(length(methods), 9)
  for (name in methods) expect_identical(names(formals(get(name, space)))[2], "type", info = name)
})

test_that("the plot of a regression is a curve, or fitted values", {
  one <- gp_regression(x, f(x), kernel_se(0.2), 0.01)
  two <- gp_regression(cbind(a = x, b = rev(x)^2), f(x), kernel_se(0.2), 0.01)
  expect_named(draw(plot(one)), names(draw(plot(one, "curve"))))
  expect_true("observed" %in% names(draw(plot(one, "fitted"))))
  expect_identical(draw(plot(two)), draw(plot(two, "fitted")))
  refused(draw(plot(two, "curve")), "type")
})

test_that("neighbouring colours of surfaces differ equally, and become darker", {
  lab <- grDevices::convertColor(t(grDevices::col2rgb(surface_colours)) / 255, "sRGB", "Lab")
  steps <- sqrt(rowSums(diff(lab)^2))
  expect_lte(max(steps) / min(steps), 1.5)
  expect_true(all(diff(lab[, 1]) < 0))
})

test_that("a bandit has the plots of importance and dependence that searches have, with units on the axes", {
  set.seed(4)
  b <- auto_bandit(search_space(temp = param_real(20, 90, unit = "K"), acid = param_integer(0, 5, unit = "g")),
                   direction = "minimize", n_initial = 6)
  q <- b$suggest(8)
  b$observe(q$id, (q$temp - 60)^2 / 100 + q$acid)
  importance <- draw(plot(b, "importance"))
  expect_equal(importance$total, input_importance(b)$total, tolerance = 0.1)
  dependence <- draw(plot(b, "dependence"))
  expect_setequal(dependence$input, c("temp", "acid"))
  expect_equal(input_labels(b$domain()), c(temp = "temp (K)", acid = "acid (g)"))
  expect_identical(objective_label(b$config), "objective")
  seen <- seen_along(b$history(), b$domain(), "temp", b$history()$reward)
  expect_identical(seen$value, q$temp)
  expect_output(print(b$domain()), "temp in [20, 90] K", fixed = TRUE)
  expect_output(print(b), "[0-9] K, acid = [0-9] g")
  expect_identical(from_json(as_json(b))$domain(), b$domain())
  expect_error(plot(auto_bandit(list(x = 0:1), data.frame(x = c(0, 0.5, 1), reward = 1:3)), "dependence"), "single input",
               class = "gpbandits_error")
  skip_if_not_installed("ggplot2")
  for (type in c("importance", "dependence", "slices")) expect_s3_class(ggplot2::autoplot(b, type), "ggplot")
  slices <- ggplot2::autoplot(b, "slices")
  expect_identical(slices$labels$y, "objective")
  expect_silent(ggplot2::ggplot_build(slices))
})

test_that("evaluations have ticks at whole numbers with ggplot2, too", {
  skip_if_not_installed("ggplot2")
  local_device()
  bandit <- gp_ucb(seq(0, 1, length.out = 5), kernel_se(0.3), noise_var = 0.01)
  bandit$add(arm = 1:5, reward = c(1, 3, 2, 5, 4))
  for (count in c(0, 5)) {
    if (count > 0) bandit$add(arm = 1:5, reward = 1:5)
    built <- ggplot2::ggplot_build(ggplot2::autoplot(bandit, "progress"))
    ticks <- built$layout$panel_params[[1]]$x$get_breaks()
    ticks <- ticks[!is.na(ticks)]
    expect_gt(length(ticks), 2)
    expect_identical(ticks, round(ticks))
  }
})

test_that("cells of unequal width leave no white lines between them", {
  skip_if_not_installed("png")
  skip_if_not(capabilities("png"), "no png device")
  at <- round(seq(140, 220, length.out = 45))
  edges <- gpbandits:::cell_edges(at, FALSE)
  file <- tempfile(fileext = ".png")
  for (margin in c(30.63098085346, 32.20622445922, 7.06270320457)) {
    grDevices::png(file, 60, 500)
    graphics::par(mai = c(margin, 0, margin * 1.3, 0) / 72, xaxs = "i", yaxs = "i")
    graphics::plot(edges, edges, type = "n", axes = FALSE)
    gpbandits:::draw_surface(at, at, outer(at, at, "+"), list(x = edges, y = edges), contours = FALSE)
    grDevices::dev.off()
    darkest <- apply(png::readPNG(file)[65:435, 5:55, 1:3], 1:2, min)
    expect_lt(max(darkest), 0.95)
  }
})
