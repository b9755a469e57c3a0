# Tuning within tidymodels: the 5-fold loss after every evaluation, of tune_gp_bandit(), of tune's tune_bayes() and of
# random search, on nine tasks.
#
#   Rscript bench/tune.R [tasks=...] [tools=gp_bandit,bayes,random] [seeds=1:10] [out=FILE] [minutes=Inf]
#   Rscript bench/tune.R report=TRUE out=FILE          tables in Markdown
#
# A search has 25 evaluations. The first ten are tune's space-filling design, and all tools have the same ten results.
# Then each tool chooses 15 settings with its defaults (but `no_improve = Inf`, so that none ends early). A seed decides
# the rows, the folds, the seed with which each setting is evaluated, and what a tool draws. Every evaluation is a line
# of `out`; searches that it has are not made again, and none begins after `minutes`.
#
# `loss`: mean over the folds, log loss or rmse; `again`: the loss of the best setting on five other folds. Seconds are
# the processor's: `first_s` for the first ten evaluations, `search_s` for the rest, `evaluate_s` the part of `search_s`
# within tune_grid(), which evaluates the settings of all tools.
#
# Packages: tune, parsnip, workflows, rsample, dials, yardstick; ranger, kernlab, glmnet, nnet, rpart; mlbench, MASS.
library(gpbandits)
source("bench/shared/script.R")
args <- arguments(tasks = "", tools = "gp_bandit,bayes,random", seeds = "1:10", out = "", report = "FALSE",
                  minutes = "Inf")
first_settings <- 10
settings <- 25

# ---- data: the outcome is `truth`, the inputs are numbers with mean 0 and sd 1 -------------------------------------

tables <- list(
  sonar = function() list(frame = of_mlbench("Sonar"), target = "Class"),
  glass = function() list(frame = of_mlbench("Glass"), target = "Type"),
  ionosphere = function() list(frame = of_mlbench("Ionosphere"), target = "Class"),
  pima = function() list(frame = rbind(MASS::Pima.tr, MASS::Pima.te), target = "type"),
  boston = function() list(frame = MASS::Boston, target = "medv")
)

# At most 300 rows, which depend on the seed.
data_of <- function(name, seed) {
  table <- tables[[name]]()
  inputs <- table$frame[setdiff(names(table$frame), table$target)]
  inputs <- as.data.frame(lapply(inputs, as.numeric))
  inputs <- inputs[vapply(inputs, function(column) length(unique(column)) > 1, NA)]
  truth <- table$frame[[table$target]]
  set.seed(seed)
  kept <- sort(sample(nrow(inputs), min(nrow(inputs), 300)))
  data.frame(scale(inputs[kept, ]), truth = if (is.factor(truth)) droplevels(truth[kept]) else truth[kept])
}

# ---- tasks: the data, the parsnip model, the parameters (numbers: with factors tune_bayes() takes minutes) ---------

tune <- function(...) asNamespace("tune")$tune(...)
number <- function(id, range, type = "double", trans = NULL) {
  dials::new_quant_param(type, range, c(TRUE, TRUE), trans = trans, label = stats::setNames(id, id))
}
space <- function(...) dials::parameters(list(...))

tree <- function(mode) {
  parsnip::decision_tree(mode, "rpart", cost_complexity = tune(), min_n = tune(), tree_depth = tune())
}
tree_space <- function(inputs) {
  space(cost_complexity = dials::cost_complexity(), min_n = dials::min_n(), tree_depth = dials::tree_depth())
}
net <- function() parsnip::mlp("classification", "nnet", hidden_units = tune(), penalty = tune(), epochs = tune())
net_space <- function(inputs) {
  space(hidden_units = dials::hidden_units(), penalty = dials::penalty(), epochs = dials::epochs())
}

tasks <- list(
  tree_sonar = list(data = "sonar", model = function() tree("classification"), space = tree_space),
  tree_boston = list(data = "boston", model = function() tree("regression"), space = tree_space),
  net_glass = list(data = "glass", model = net, space = net_space),
  net_pima = list(data = "pima", model = net, space = net_space),
  svm_sonar = list(data = "sonar", model = function() {
    parsnip::svm_rbf("classification", "kernlab", cost = tune(), rbf_sigma = tune())
  }, space = function(inputs) space(cost = dials::cost(), rbf_sigma = dials::rbf_sigma())),
  svm_boston = list(data = "boston", model = function() {
    parsnip::svm_rbf("regression", "kernlab", cost = tune(), rbf_sigma = tune(), margin = tune())
  }, space = function(inputs) {
    space(cost = dials::cost(), rbf_sigma = dials::rbf_sigma(), margin = dials::svm_margin())
  }),
  glmnet_ionosphere = list(data = "ionosphere", model = function() {
    parsnip::logistic_reg("classification", "glmnet", penalty = tune(), mixture = tune())
  }, space = function(inputs) space(penalty = dials::penalty(), mixture = dials::mixture())),
  forest_glass = list(data = "glass", model = function() {
    forest <- parsnip::rand_forest("classification", mtry = tune(), min_n = tune(), trees = 100)
    parsnip::set_engine(forest, "ranger", sample.fraction = tune("sample.fraction"),
                        max.depth = tune("max.depth"), num.threads = 1)
  }, space = function(inputs) {
    space(mtry = dials::mtry(c(1L, inputs)), min_n = dials::min_n(),
          sample.fraction = number("sample.fraction", c(0.2, 1)),
          max.depth = number("max.depth", c(2L, 30L), "integer"))
  }),
  forest_boston = list(data = "boston", model = function() {
    forest <- parsnip::rand_forest("regression", mtry = tune(), min_n = tune(), trees = 100)
    parsnip::set_engine(forest, "ranger", splitrule = "extratrees", sample.fraction = tune("sample.fraction"),
                        max.depth = tune("max.depth"), num.random.splits = tune("num.random.splits"), num.threads = 1)
  }, space = function(inputs) {
    space(mtry = dials::mtry(c(1L, inputs)), min_n = dials::min_n(),
          sample.fraction = number("sample.fraction", c(0.2, 1)),
          max.depth = number("max.depth", c(2L, 30L), "integer"),
          num.random.splits = number("num.random.splits", c(1L, 20L), "integer"))
  })
)

problem_of <- function(key) {
  task <- tasks[[key$task]]
  frame <- data_of(task$data, 1000 + key$seed)
  is_classes <- is.factor(frame$truth)
  strata <- if (is_classes) "truth"
  folds <- function(seed) {
    set.seed(seed)
    suppressWarnings(rsample::vfold_cv(frame, v = 5, strata = {{ strata }}))
  }
  metrics <- if (is_classes) yardstick::metric_set(yardstick::mn_log_loss) else yardstick::metric_set(yardstick::rmse)
  list(flow = workflows::workflow(truth ~ ., task$model()), space = task$space(ncol(frame) - 1L), metrics = metrics,
       folds = folds(2000 + key$seed), other = folds(50000 + key$seed))
}

# ---- tools: function(problem, first) gives the results of all settings, the first ones included --------------------

evaluate <- function(problem, grid, folds = problem$folds) {
  tune::tune_grid(problem$flow, folds, grid = grid, param_info = problem$space, metrics = problem$metrics)
}

with_iterations <- function(tool) function(problem, first) {
  found <- tool(problem$flow, problem$folds, iter = settings - first_settings, param_info = problem$space,
                metrics = problem$metrics, initial = first, control = tune::control_bayes(no_improve = Inf))
  means <- as.data.frame(tune::collect_metrics(found))
  means[order(means$.iter), ]
}

tools <- list(
  gp_bandit = list(package = "gpbandits", run = with_iterations(function(...) tune_gp_bandit(...))),
  bayes = list(package = "tune", run = with_iterations(function(...) tune::tune_bayes(...))),
  random = list(package = "tune", run = function(problem, first) {
    drawn <- dials::grid_random(problem$space, size = settings - first_settings)
    found <- lapply(list(first, evaluate(problem, drawn)), function(one) as.data.frame(tune::collect_metrics(one)))
    do.call(rbind, lapply(found, function(one) one[setdiff(names(one), ".iter")]))
  })
)

# ---- searches ------------------------------------------------------------------------------------------------------

# From now on tune_grid(), which evaluates the settings of all tools, counts its seconds and always begins with the same
# seed. Else tune_bayes() has another seed for each setting, and the least of its losses is that of the luckiest seed.
clock <- new.env()
clock$evaluating <- 0
clock$depth <- 0
clock$seed <- 1
count_evaluations <- function() {
  original <- tune::tune_grid
  utils::assignInNamespace("tune_grid", function(object, ...) {
    begun <- processor()
    state <- get(".Random.seed", globalenv())
    if (clock$depth == 0) set.seed(clock$seed)
    clock$depth <- clock$depth + 1
    on.exit({
      clock$depth <- clock$depth - 1
      assign(".Random.seed", state, globalenv())
      if (clock$depth == 0) clock$evaluating <- clock$evaluating + processor() - begun
    })
    original(object, ...)
  }, "tune")
}
processor <- function() sum(proc.time()[1:2])

one_search <- function(key, problem, first) {
  tool <- tools[[key$tool]]
  set.seed(key$seed)
  clock$seed <- 3000 + key$seed
  gc()
  clock$evaluating <- 0
  begun <- processor()
  means <- suppressMessages(tool$run(problem, first$results))
  search_s <- processor() - begun
  evaluate_s <- clock$evaluating
  best <- means[which.min(means$mean), problem$space$id]
  clock$seed <- 90000 + key$seed
  again <- tune::collect_metrics(evaluate(problem, best, problem$other))$mean
  cbind(key, version = paste(tool$package, utils::packageVersion(tool$package)), evaluation = seq_along(means$mean),
        loss = signif(means$mean, 6), again = signif(again, 6), first_s = round(first$seconds, 2),
        search_s = round(search_s, 2), evaluate_s = round(evaluate_s, 2))
}

first_results <- function(problem, seed) {
  set.seed(70000 + seed)
  clock$seed <- 3000 + seed
  begun <- processor()
  results <- evaluate(problem, dials::grid_space_filling(problem$space, size = first_settings))
  list(results = results, seconds = processor() - begun)
}

main <- function() {
  missing <- lacking(c("tune", "parsnip", "workflows", "rsample", "dials", "yardstick", "ranger", "kernlab", "glmnet",
                       "nnet", "rpart", "mlbench", "MASS"))
  if (length(missing)) return(message("Left out: no package ", paste(missing, collapse = ", ")))
  count_evaluations()
  begun <- proc.time()[["elapsed"]]
  done <- searches_done(args$out, c("task", "seed", "tool"))
  chosen <- if (nzchar(args$tasks)) words(args$tasks) else names(tasks)
  for (seed in numbers(args$seeds)) for (task in chosen) {
    keys <- lapply(words(args$tools), function(tool) data.frame(task = task, seed = seed, tool = tool))
    keys <- Filter(function(key) !is_done(done, key), keys)
    if (length(keys) == 0) next
    if (proc.time()[["elapsed"]] - begun > 60 * numbers(args$minutes)) return(message("The time is over."))
    problem <- problem_of(keys[[1]])
    first <- first_results(problem, seed)
    for (key in keys) keep_rows(one_search(key, problem, first), args$out)
  }
}

# ---- the report ----------------------------------------------------------------------------------------------------

# One row per search: the least loss after 10, 15 and 25 evaluations, and its rank among the tools.
searches_of <- function(rows) {
  searches <- do.call(rbind, lapply(split(rows, list(rows$task, rows$seed, rows$tool), drop = TRUE), function(one) {
    best <- cummin(one$loss[order(one$evaluation)])
    data.frame(one[1, c("task", "seed", "tool", "version", "again", "first_s", "search_s", "evaluate_s")],
               at10 = best[10], at15 = best[min(15, length(best))], at25 = best[length(best)])
  }))
  searches$own_s <- searches$search_s - searches$evaluate_s
  with_all <- stats::ave(searches$at25, searches$task, searches$seed, FUN = length) == length(tools)
  searches <- searches[with_all, ]
  for (column in c("at15", "at25", "again")) {
    searches[[paste0("rank_", column)]] <- stats::ave(searches[[column]], searches$task, searches$seed, FUN = rank)
  }
  searches
}

with_error <- function(x, digits = 2) sprintf("%.*f (%.*f)", digits, mean(x), digits, stats::sd(x) / sqrt(length(x)))

# Of gp_bandit's searches against those of another tool on the same folds.
line_of_pair <- function(searches, other, column) {
  ours <- searches[searches$tool == "gp_bandit", ]
  theirs <- searches[searches$tool == other, ]
  theirs <- theirs[match(paste(ours$task, ours$seed), paste(theirs$task, theirs$seed)), ]
  change <- 100 * log(ours[[column]] / theirs[[column]])
  by_task <- tapply(change, ours$task, mean)
  line(c(other, column, sum(change < 0), sum(change == 0), sum(change > 0), with_error(change, 1), sum(by_task < 0)))
}

report <- function() {
  searches <- searches_of(utils::read.csv(args$out))
  counts <- table(unique(searches[c("task", "seed")])$task)
  cat(sprintf("%s, %s. Searches per tool: %d.\n\n", R.version.string, paste(unique(searches$version), collapse = ", "),
              sum(counts)))
  line(c("tool", "rank 15", "rank 25", "rank on other folds", "own seconds", "seconds after the first ten", "of all"))
  line(c("---", rep("---:", 6)))
  for (tool in names(tools)) {
    mine <- searches[searches$tool == tool, ]
    line(c(tool, with_error(mine$rank_at15), with_error(mine$rank_at25), with_error(mine$rank_again),
           sprintf("%.1f", c(mean(mine$own_s), mean(mine$search_s), mean(mine$first_s + mine$search_s)))))
  }
  cat("\n`gp_bandit` against the others, in pairs:\n\n")
  line(c("other", "loss", "ahead", "level", "behind", "difference in %", "tasks ahead"))
  line(c("---", "---", rep("---:", 5)))
  for (other in setdiff(names(tools), "gp_bandit")) for (column in c("at15", "at25", "again")) {
    line_of_pair(searches, other, column)
  }
  cat("\n")
  line(c("task (seeds)", "tool", "loss 10", "loss 15", "loss 25", "on other folds", "rank 15", "rank 25", "own seconds",
         "seconds after the first ten"))
  line(c("---", "---", rep("---:", 8)))
  for (task in intersect(names(tasks), searches$task)) for (tool in names(tools)) {
    mine <- searches[searches$task == task & searches$tool == tool, ]
    means <- colMeans(mine[c("at10", "at15", "at25", "again", "rank_at15", "rank_at25", "own_s", "search_s")])
    line(c(sprintf("%s (%d)", task, counts[[task]]), tool, sprintf("%.4f", means[1:4]), sprintf("%.2f", means[5:6]),
           sprintf("%.1f", means[7:8])))
  }
}

if (args$report == "TRUE") report() else main()
