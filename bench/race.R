# Model fits until a loss is reached: races of a bandit (race_folds()), a search on all folds, and finetune's race
# (tune_race_anova's rule on a Latin hypercube), on the same ten folds of simulated data, for three learners.
#   Rscript bench/race.R [seeds=1:10] [settings=30] [wait=FALSE] [finetune=FALSE]
# The plain search tries `settings` settings on ten folds each; what it has found in the end is the loss to be reached.
# finetune's rule is run on as many settings as it is published (and with finetune=TRUE for the learner "tree" by finetune itself, which
# needs packages finetune, lme4, rsample, parsnip and tune, and takes a minute per seed): after three folds, and after each further one, a setting is dropped whose mean difference to the
# best (of a linear model with effects of settings and folds; folds random in finetune) is above zero with Wald's 95% interval.
# A winner wrongly dropped: a setting stopped whose mean over all ten folds is below the incumbent's when it was stopped.
# A race with half of the plain search's budget is run besides: what it ends with is compared with what the plain search ends with.
# `wait`: race_folds(wait = ). Results: bench/results/race.md.
library(gpbandits)
source("bench/shared/script.R")
args <- lapply(arguments(seeds = "1:10", settings = "30", wait = "FALSE", finetune = "FALSE"), numbers)
folds <- 10

friedman <- function(n) {
  x <- matrix(runif(n * 6), n, dimnames = list(NULL, paste0("x", 1:6)))
  y <- 10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] + 5 * x[, 5] + rnorm(n, sd = 2)
  data.frame(y, x)
}

rmse <- function(truth, said) sqrt(mean((truth - said)^2))

# Each: a space, and the loss of a setting that learns from `train`, on `test`.
learners <- list(
  tree = list(
    space = list(cp = param_real(1e-4, 0.1, log = TRUE), minsplit = param_integer(2, 60), maxdepth = param_integer(1, 15)),
    loss = function(p, train, test) {
      fit <- rpart::rpart(y ~ ., train, cp = p$cp, minsplit = p$minsplit, maxdepth = p$maxdepth, xval = 0)
      rmse(test$y, predict(fit, test))
    }),
  network = list(
    space = list(size = param_integer(1, 10), decay = param_real(1e-4, 10, log = TRUE)),
    loss = function(p, train, test) {
      centre <- mean(train$y)
      set.seed(1)                                       # a model's own luck is not what is raced here
      fit <- nnet::nnet(I((y - centre) / 5) ~ ., train, size = p$size, decay = p$decay, linout = TRUE, maxit = 80, trace = FALSE)
      rmse(test$y, centre + 5 * predict(fit, test))
    }),
  ridge = list(
    space = list(width = param_real(0.1, 10, log = TRUE), penalty = param_real(1e-4, 10, log = TRUE), power = param_real(0.5, 2)),
    loss = function(p, train, test) {
      X <- as.matrix(train[-1]); Z <- as.matrix(test[-1])
      gram <- function(A, B) {
        square <- outer(rowSums(A^2), rowSums(B^2), "+") - 2 * A %*% t(B)
        exp(-(pmax(square, 0) / p$width^2)^(p$power / 2))
      }
      weights <- solve(gram(X, X) + p$penalty * diag(nrow(X)), train$y - mean(train$y))
      rmse(test$y, mean(train$y) + gram(Z, X) %*% weights)
    })
)

# A task: its space, the loss of a setting on a fold (each is worked out once), and its mean over all.
task_of <- function(learner, seed) {
  set.seed(seed)
  data <- friedman(200)
  fold_of <- sample(rep_len(seq_len(folds), nrow(data)))
  cache <- new.env()
  loss <- function(p, fold) {
    key <- paste(c(sprintf("%a", as.double(unlist(p))), fold), collapse = " ")
    if (is.null(cache[[key]])) {
      old <- .Random.seed
      on.exit(assign(".Random.seed", old, envir = globalenv()))
      cache[[key]] <- learner$loss(as.list(p), data[fold_of != fold, ], data[fold_of == fold, ])
    }
    cache[[key]]
  }
  list(space = do.call(search_space, learner$space), loss = loss, data = data, fold_of = fold_of,
       mean_loss = function(p) mean(vapply(seq_len(folds), function(k) loss(p, k), 0)))
}

# (Losses that differ by half a percent are no different to anybody: fits until then are told too.)
near <- 1.005

# Fits until the incumbent's mean over all folds is no more than `target`; NA if never.
fits_until <- function(fits, best, target) fits[which(best <= target)[1]]

plain_search <- function(task, seed) {
  set.seed(seed)
  found <- minimize_bandit(task$mean_loss, task$space, args$settings)
  list(fits = folds * seq_len(args$settings), best = cummin(found$history$reward))
}

raced_search <- function(task, seed, fits = folds * args$settings) {
  set.seed(seed)
  found <- minimize_bandit(function(p, fold) task$loss(p, fold), task$space, fits,
                           race = race_folds(folds, wait = args$wait))
  looks <- found$race$folds
  complete <- which(found$history$status == "observed")
  ended <- vapply(complete, function(s) max(which(looks$setting == s)), 0)
  order <- order(ended)
  inputs <- task$space$names
  row_loss <- function(s) task$mean_loss(as.list(found$history[s, inputs]))
  # Who was stopped, and had a better mean than the incumbent of then.
  stopped <- which(found$history$status == "stopped")
  would <- vapply(stopped, function(s) {
    before <- complete[ended < max(which(looks$setting == s))]
    row_loss(s) < min(found$history$reward[before])
  }, NA)
  # Who was left in the middle, and has a better mean than all that were completed.
  left <- which(found$history$status == "unfinished")
  missed <- vapply(left, row_loss, 0) < min(found$history$reward[complete])
  list(fits = ended[order], best = cummin(found$history$reward[complete][order]), stopped = length(stopped), wrong = sum(would),
       left = length(left), missed = sum(missed))
}

# The published rule of finetune's race.
anova_race <- function(task, seed) {
  set.seed(seed)
  points <- hypercube(task$space)
  table <- matrix(NA_real_, args$settings, folds)
  alive <- seq_len(args$settings)
  order_of_folds <- sample.int(folds)
  wrong <- dropped <- 0
  for (k in seq_len(folds)) {
    fold <- order_of_folds[k]
    for (s in alive) table[s, fold] <- task$loss(points[[s]], fold)
    if (k >= 3 && k < folds && length(alive) > 1) {
      seen <- table[alive, !is.na(table[alive[1], ]), drop = FALSE]
      residual <- seen - rowMeans(seen) - rep(colMeans(seen) - mean(seen), each = nrow(seen))
      sd <- sqrt(2 * sum(residual^2) / ((nrow(seen) - 1) * (k - 1)) / k)
      gap <- rowMeans(seen) - min(rowMeans(seen))
      keep <- gap - qnorm(0.975) * sd <= 0
      out <- alive[!keep]
      dropped <- dropped + length(out)
      winner <- min(vapply(points[alive], task$mean_loss, 0))
      wrong <- wrong + any(vapply(points[out], task$mean_loss, 0) <= winner)
      alive <- alive[keep]
    }
  }
  list(fits = sum(!is.na(table)), best = min(rowMeans(table[alive, , drop = FALSE])), stopped = dropped, wrong = wrong)
}

# finetune itself, on the same settings and folds.
finetune_race <- function(task, seed) {
  from <- function(package, name) getExportedValue(package, name)
  set.seed(seed)
  points <- do.call(rbind, lapply(hypercube(task$space), as.data.frame))
  names(points) <- c(cp = "cost_complexity", minsplit = "min_n", maxdepth = "tree_depth")[names(points)]
  make <- function(k) from("rsample", "make_splits")(list(analysis = which(task$fold_of != k), assessment = which(task$fold_of == k)), task$data)
  resamples <- from("rsample", "manual_rset")(lapply(seq_len(folds), make), sprintf("Fold%02d", seq_len(folds)))
  tune <- asNamespace("tune")$tune
  tree <- from("parsnip", "decision_tree")("regression", "rpart", cost_complexity = tune(), min_n = tune(), tree_depth = tune())
  metric <- from("yardstick", "metric_set")(yardstick::rmse)
  found <- suppressMessages(from("finetune", "tune_race_anova")(tree, y ~ ., resamples, grid = points, metrics = metric))
  all <- from("tune", "collect_metrics")(found, summarize = FALSE, all_configs = TRUE)
  means <- from("tune", "collect_metrics")(found, all_configs = TRUE)
  list(fits = nrow(all), best = min(means$mean[means$n == folds]))
}

# A Latin hypercube of settings.
hypercube <- function(space) {
  u <- vapply(seq_along(space$names), function(j) (sample(args$settings) - runif(args$settings)) / args$settings,
              numeric(args$settings))
  value <- function(param, u) {
    if (isTRUE(param$log)) param$lower * (param$upper / param$lower)^u
    else if (param$type == "integer") pmin(param$upper, floor(param$lower + u * (param$upper - param$lower + 1)))
    else param$lower + u * (param$upper - param$lower)
  }
  columns <- Map(value, space$params, as.data.frame(u))
  lapply(seq_len(nrow(u)), function(i) stats::setNames(lapply(columns, `[`, i), space$names))
}

rows <- do.call(rbind, lapply(names(learners), function(name) {
  do.call(rbind, lapply(args$seeds, function(seed) {
    task <- task_of(learners[[name]], seed)
    plain <- plain_search(task, 1000 + seed)
    race <- raced_search(task, 1000 + seed)
    half <- raced_search(task, 1000 + seed, folds * args$settings / 2)
    anova <- anova_race(task, 2000 + seed)
    finetune <- if (args$finetune && name == "tree") finetune_race(task, 2000 + seed) else list(fits = NA, best = NA)
    target <- min(plain$best)
    data.frame(learner = name, seed, plain = fits_until(plain$fits, plain$best, target), spent = folds * args$settings,
               plain_near = fits_until(plain$fits, plain$best, near * target), race_near = fits_until(race$fits, race$best, near * target),
               race = fits_until(race$fits, race$best, target), race_excess = 100 * (min(race$best) / target - 1),
               anova = anova$fits, anova_excess = 100 * (anova$best / target - 1),
               race_to_anova = fits_until(race$fits, race$best, anova$best), stopped = race$stopped, wrong = race$wrong,
               left = race$left, missed = race$missed, half_excess = 100 * (min(half$best) / target - 1),
               plain_half_excess = 100 * (plain$best[args$settings / 2] / target - 1),
               dropped = anova$stopped, anova_wrong = anova$wrong, finetune = finetune$fits,
               finetune_excess = 100 * (finetune$best / target - 1))
  }))
}))
saveRDS(rows, file.path(tempdir(), "race.rds"))

median_of <- function(x) if (mean(is.na(x)) >= 0.5) "> all" else format(stats::median(ifelse(is.na(x), Inf, x)))
cat("Loss to be reached: what the plain search has found after", folds * args$settings, "fits.\n\n")
cat("| learner | plain: fits to its best (to within .5%) | race: fits to the same (to within .5%) | reached | race's excess after all fits | anova race: fits | its excess |",
    "race: fits to anova's loss | reached |\n|---|---|---|---|---|---|---|---|---|\n")
for (name in unique(rows$learner)) {
  r <- rows[rows$learner == name, ]
  cat(sprintf("| %s | %s (%s) | %s (%s) | %d of %d | %.2f%% | %s | %.2f%% | %s | %d of %d |\n", name, median_of(r$plain), median_of(r$plain_near), median_of(r$race), median_of(r$race_near),
              sum(!is.na(r$race)), nrow(r), stats::median(r$race_excess), median_of(r$anova), stats::median(r$anova_excess),
              median_of(r$race_to_anova), sum(!is.na(r$race_to_anova)), nrow(r)))
}
cat("\nWith half of the fits, per cent above what the plain search has found with all (mean; median; seeds in which it is no more, within .5 per cent):\n\n")
cat("| learner | race | plain search |\n|---|---|---|\n")
for (name in unique(rows$learner)) {
  r <- rows[rows$learner == name, ]
  said <- function(x) sprintf("%.2f; %.2f; %d, %d of %d", mean(x), stats::median(x), sum(x <= 0), sum(x <= 100 * (near - 1)), length(x))
  cat(sprintf("| %s | %s | %s |\n", name, said(r$half_excess), said(r$plain_half_excess)))
}
cat(sprintf("\nSettings left in the middle: %d, better than all complete ones among them: %d.\n", sum(rows$left), sum(rows$missed)))
cat(sprintf("\nSettings stopped by races: %d, winners among them: %d; dropped by the anova rule: %d, races in which the best setting was: %d of %d.\n",
            sum(rows$stopped), sum(rows$wrong), sum(rows$dropped), sum(rows$anova_wrong), nrow(rows)))
if (args$finetune) {
  tree <- rows[rows$learner == "tree", ]
  cat(sprintf("finetune itself (tree): %s fits, %.2f%% above the plain search's loss (the rule as published: %s, %.2f%%), medians of %d.\n",
              median_of(tree$finetune), stats::median(tree$finetune_excess), median_of(tree$anova), stats::median(tree$anova_excess), nrow(tree)))
}
