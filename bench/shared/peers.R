# Other optimisers for tables of candidates: each names the row to ask for next, from results so far. Levels are 0/1
# columns for models that need numbers. Packages are found in R_LIBS; none is a dependency.

# Columns of numbers in [0, 1].
numeric_columns <- function(inputs) {
  columns <- lapply(inputs, function(input) {
    if (is.numeric(input)) return((input - min(input)) / max(diff(range(input)), 1e-12))
    outer(input, unique(input), `==`) + 0
  })
  do.call(cbind, columns)
}

# Kriging of DiceKriging with a fitted nugget, and expected improvement over the largest predicted mean, as
# DiceOptim::noisy.optimizer() has it ("EI plugin").
next_of_dice <- function(x, y, asked, rest) {
  model <- NULL
  utils::capture.output(model <- DiceKriging::km(
    design = data.frame(x[asked, , drop = FALSE]), response = y, covtype = "matern5_2", nugget.estim = TRUE,
    control = list(trace = FALSE, pop.size = 20, max.generations = 10)))
  predicted <- function(rows) {
    DiceKriging::predict.km(model, newdata = data.frame(x[rows, , drop = FALSE]), type = "UK", checkNames = FALSE,
                            light.return = TRUE)
  }
  here <- predicted(rest)
  rest[which.max(expected_gain(here$mean, here$sd, max(predicted(asked)$mean)))]
}

# A separable process of laGP with its default priors.
next_of_lagp <- function(x, y, asked, rest) {
  seen <- x[asked, , drop = FALSE]
  scaled <- (y - mean(y)) / max(stats::sd(y), 1e-12)
  d <- laGP::darg(list(mle = TRUE), seen)
  g <- laGP::garg(list(mle = TRUE), scaled)
  process <- laGP::newGPsep(seen, scaled, d = d$start, g = g$start, dK = TRUE)
  on.exit(laGP::deleteGPsep(process))
  laGP::jmleGPsep(process, drange = c(d$min, d$max), grange = c(g$min, g$max), dab = d$ab, gab = g$ab)
  predicted <- function(rows) laGP::predGPsep(process, x[rows, , drop = FALSE], lite = TRUE, nonug = TRUE)
  here <- predicted(rest)
  rest[which.max(expected_gain(here$mean, sqrt(here$s2), max(predicted(asked)$mean)))]
}

# A random forest of ranger; the sd is that of its trees' predictions (mlr3mbo's `se.method = "simple"`), with random
# interpolation by mlr3mbo's default of one value a leaf.
next_of_forest <- function(inputs, y, asked, rest) {
  forest <- ranger::ranger(x = inputs[asked, , drop = FALSE], y = y, num.trees = 500, min.node.size = 1,
                           respect.unordered.factors = "order", replace = TRUE, num.threads = 1)
  of_trees <- stats::predict(forest, inputs[rest, , drop = FALSE], predict.all = TRUE, num.threads = 1)$predictions
  of_trees <- matrix(of_trees, length(rest))
  rest[which.max(expected_gain(rowMeans(of_trees), apply(of_trees, 1, stats::sd), max(y)))]
}

peers <- list(dice = next_of_dice, lagp = next_of_lagp, forest = next_of_forest)
peer_packages <- list(dice = "DiceKriging", lagp = "laGP", forest = "ranger")

# Five random rows, then one after another. A model that cannot be fitted asks for a random row (counted).
peer_arms <- function(pool, peer, seed, count, ends) {
  result <- results_of(pool, seed)
  set.seed(seed)
  x <- if (peer == "forest") pool$inputs else numeric_columns(pool$inputs)
  asked <- integer()
  y <- numeric()
  failures <- 0
  while (length(asked) < count && !(ends && any(pool$best[asked]))) {
    rest <- setdiff(seq_along(pool$rows), asked)
    drawn <- rest[sample.int(length(rest), 1)]
    arm <- drawn
    if (length(asked) >= 5) {
      arm <- tryCatch(peers[[peer]](x, y, asked, rest), error = function(e) NA)
      if (length(arm) != 1 || is.na(arm)) {
        failures <- failures + 1
        arm <- drawn
      }
    }
    asked <- c(asked, arm)
    y <- c(y, result(arm)[[1]])
  }
  structure(asked, failures = failures)
}
