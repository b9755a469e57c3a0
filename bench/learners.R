# Tuning of real learners: the best 10-fold loss after every evaluation, of opt("gp_bandit") behind mlr3, of mlr3mbo's present default and of random
# search; where a space has no conditions also of tune's tune_bayes(), on the same folds.
#
#   Rscript bench/learners.R [learners=ranger,svm,glmnet,forest] [data=sonar,glass,ionosphere,german,vehicle] [methods=default,mlr3mbo,random,tune_bayes]
#                            [seeds=1:10] [evaluations=50] [out=FILE] [rows=Inf] [trees=200]
#   Rscript bench/learners.R report=TRUE out=FILE [evaluations=50]       tables in Markdown
#
# Every evaluation is a line of `out` (a search's lines are appended when it has ended; searches that it has are not made again). A seed decides the
# folds, which are the same for all methods, and what a method draws. `loss`: mean over the folds, the log loss (svm: the share that is wrong);
# `learner_s`: seconds within the learners; `seconds`: of the whole search, by the clock; `again`: the loss of the setting with the least loss on ten
# other folds. `rows`: at most so many rows of the data, for a quick look.
#
# Packages: mlr3, mlr3learners, mlr3pipelines, mlr3tuning, mlbench (Vehicle); ranger, e1071, glmnet; mlr3mbo with DiceKriging and rgenoud; for
# tune_bayes() tune, parsnip, workflows, rsample, dials, yardstick. What lacks a package is left out, and named.
library(gpbandits)
source("bench/shared/script.R")
args <- arguments(learners = "ranger,svm,glmnet,forest", data = "sonar,glass,ionosphere", methods = "default,mlr3mbo,random,tune_bayes",
                  seeds = "1:10", evaluations = "50", out = "", report = "FALSE", rows = "Inf", trees = "200")
trees <- as.integer(args$trees)

# ---- data: factors of the inputs become columns of 0 and 1 ---------------------------------------------------------------------------

tables <- list(
  sonar = function() list(frame = mlr3::tsk("sonar")$data(), target = "Class"),
  german = function() list(frame = mlr3::tsk("german_credit")$data(), target = "credit_risk"),
  vehicle = function() list(frame = of_mlbench("Vehicle"), target = "Class"),
  glass = function() list(frame = of_mlbench("Glass"), target = "Type"),
  ionosphere = function() list(frame = of_mlbench("Ionosphere"), target = "Class")
)

data_of <- function(name) {
  table <- tables[[name]]()
  frame <- as.data.frame(table$frame)
  inputs <- frame[setdiff(names(frame), table$target)]
  inputs <- inputs[vapply(inputs, function(column) length(unique(column)) > 1, NA)]
  for (column in names(inputs)) if (is.ordered(inputs[[column]])) inputs[[column]] <- as.integer(inputs[[column]])
  x <- stats::model.matrix(~ ., inputs)[, -1]
  colnames(x) <- make.names(colnames(x), unique = TRUE)
  set.seed(1)
  kept <- sort(sample(nrow(x), min(nrow(x), numbers(args$rows))))
  data.frame(x, truth = factor(frame[[table$target]]))[kept, ]
}

task_of <- function(frame) mlr3::as_task_classif(frame, target = "truth")

# Numbers of the ten folds that the rows are in, each with as many of every class as it can have.
folds_of <- function(frame, seed) {
  set.seed(seed)
  fold <- integer(nrow(frame))
  for (rows in split(seq_len(nrow(frame)), frame$truth)) fold[rows] <- (sample(length(rows)) + sample(10, 1)) %% 10 + 1
  fold
}

resampling_of <- function(task, fold) {
  out <- mlr3::rsmp("custom")
  out$instantiate(task, train_sets = lapply(1:10, function(k) which(fold != k)), test_sets = lapply(1:10, function(k) which(fold == k)))
}

# ---- learners: packages, measure, `make(features)` the learner, `space(features)` ------------------------------------------------------

dbl <- function(...) paradox::p_dbl(...)
int <- function(...) paradox::p_int(...)
one_of <- function(...) paradox::p_fct(...)

log_loss <- "classif.logloss"

learners <- list(
  # Seven inputs, one of which is there only for extremely random trees.
  ranger = list(needs = "ranger", measure = log_loss,
                make = function(features) mlr3::lrn("classif.ranger", predict_type = "prob", num.trees = trees, num.threads = 1L),
                space = function(features) {
                  paradox::ps(mtry.ratio = dbl(0.02, 1), min.node.size = int(1, 60, logscale = TRUE), sample.fraction = dbl(0.2, 1),
                              replace = paradox::p_lgl(), max.depth = int(2, 30), splitrule = one_of(c("gini", "extratrees")),
                              num.random.splits = int(1, 20, depends = splitrule == "extratrees"))
                }),
  # Five inputs, three of which depend on the kernel.
  svm = list(needs = "e1071", measure = "classif.ce",
             make = function(features) mlr3::lrn("classif.svm", type = "C-classification"),
             space = function(features) {
               paradox::ps(kernel = one_of(c("linear", "polynomial", "radial", "sigmoid")), cost = dbl(1e-2, 1e3, logscale = TRUE),
                           gamma = dbl(1e-4, 1, logscale = TRUE, depends = kernel %in% c("polynomial", "radial", "sigmoid")),
                           degree = int(2, 5, depends = kernel == "polynomial"),
                           coef0 = dbl(0, 5, depends = kernel %in% c("polynomial", "sigmoid")))
             }),
  # Five inputs: a path through principal components, or not.
  glmnet = list(needs = c("glmnet", "mlr3pipelines"), measure = log_loss,
                make = function(features) {
                  graph <- mlr3pipelines::ppl("branch", list(plain = mlr3pipelines::po("nop"), pca = mlr3pipelines::po("pca", scale. = TRUE)))
                  graph <- mlr3pipelines::`%>>%`(mlr3pipelines::po("removeconstants"), graph)
                  mlr3::as_learner(mlr3pipelines::`%>>%`(graph, mlr3::lrn("classif.glmnet", predict_type = "prob")))
                },
                space = function(features) {
                  paradox::ps(branch.selection = one_of(c("plain", "pca")), pca.rank. = int(2, min(features, 40), depends = branch.selection == "pca"),
                              classif.glmnet.alpha = dbl(0, 1), classif.glmnet.s = dbl(1e-4, 1, logscale = TRUE),
                              classif.glmnet.standardize = paradox::p_lgl())
                }),
  # Six inputs without conditions: what tune_bayes() can have, too.
  forest = list(needs = "ranger", measure = log_loss,
                make = function(features) mlr3::lrn("classif.ranger", predict_type = "prob", num.trees = trees, num.threads = 1L),
                space = function(features) {
                  paradox::ps(mtry = int(1, features), min.node.size = int(1, 60, logscale = TRUE), sample.fraction = dbl(0.2, 1),
                              replace = paradox::p_lgl(), max.depth = int(2, 30), splitrule = one_of(c("gini", "extratrees")))
                })
)
learner_of <- function(name, features) {
  learner <- learners[[name]]$make(features)
  fallback <- mlr3::lrn("classif.featureless", predict_type = learner$predict_type)
  learner$encapsulate("try", fallback)
  learner
}

# ---- methods: function(problem) gives `loss` and `learner_s` of every evaluation, and `best`, the learner's values at the least ------------------

by_tuner <- function(tuner) function(problem) {
  instance <- mlr3tuning::ti(problem$task, learner_of(problem$learner, problem$features), resampling_of(problem$task, problem$fold),
                             mlr3::msr(problem$measure), mlr3tuning::trm("evals", n_evals = problem$evaluations),
                             search_space = learners[[problem$learner]]$space(problem$features), store_benchmark_result = FALSE,
                             store_models = FALSE)
  tuner()$optimize(instance)
  archive <- as.data.frame(instance$archive$data)
  list(loss = archive[[problem$measure]], learner_s = archive$runtime_learners, best = instance$result_learner_param_vals)
}

# tune_bayes() as it comes, but for the number of iterations, and ten settings first; it has no conditions, and a forest's names of parsnip.
tune_bayes <- function(problem) {
  for (package in c("tune", "parsnip", "workflows", "rsample", "dials", "yardstick")) loadNamespace(package)
  tune <- asNamespace("tune")$tune
  number <- function(id, range, type = "double", trans = NULL) {
    dials::new_quant_param(type, range, c(TRUE, TRUE), trans = trans, label = stats::setNames(id, id))
  }
  choice <- function(id, values, type) dials::new_qual_param(type, values, label = stats::setNames(id, id))
  log10s <- scales::transform_log10()
  forest <- parsnip::rand_forest("classification", mtry = tune(), min_n = tune(), trees = trees)
  forest <- parsnip::set_engine(forest, "ranger", sample.fraction = tune("sample.fraction"), replace = tune("replace"), max.depth = tune("max.depth"),
                                splitrule = tune("splitrule"), num.threads = 1)
  flow <- workflows::add_model(workflows::add_formula(workflows::workflow(), truth ~ .), forest)
  space <- dials::parameters(list(mtry = dials::mtry(c(1L, problem$features)), min_n = number("min_n", log10(c(1, 60)), "integer", log10s),
                                  sample.fraction = number("sample.fraction", c(0.2, 1)), replace = choice("replace", c(TRUE, FALSE), "logical"),
                                  max.depth = number("max.depth", c(2L, 30L), "integer"),
                                  splitrule = choice("splitrule", c("gini", "extratrees"), "character")))
  make <- function(k) rsample::make_splits(list(analysis = which(problem$fold != k), assessment = which(problem$fold == k)), problem$frame)
  resamples <- rsample::manual_rset(lapply(1:10, make), sprintf("Fold%02d", 1:10))
  first <- min(10, problem$evaluations %/% 2)
  found <- tune::tune_bayes(flow, resamples, iter = problem$evaluations - first, param_info = space, initial = first,
                            metrics = yardstick::metric_set(yardstick::mn_log_loss),
                            control = tune::control_bayes(verbose = FALSE, verbose_iter = FALSE, no_improve = Inf))
  means <- as.data.frame(tune::collect_metrics(found))
  means <- means[order(means$.iter), ]
  best <- means[which.min(means$mean), ]
  list(loss = means$mean, learner_s = rep(NA_real_, nrow(means)),
       best = list(num.trees = trees, num.threads = 1L, mtry = best$mtry, min.node.size = best$min_n, sample.fraction = best$sample.fraction,
                   replace = best$replace, max.depth = best$max.depth, splitrule = as.character(best$splitrule)))
}

methods <- list(
  default = list(needs = "gpbandits", run = by_tuner(function() mlr3tuning::tnr("gp_bandit"))),
  mlr3mbo = list(needs = c("mlr3mbo", "DiceKriging", "rgenoud", "ranger"), run = by_tuner(function() {
    loadNamespace("mlr3mbo")
    mlr3tuning::tnr("mbo")
  })),
  random = list(needs = "bbotk", run = by_tuner(function() mlr3tuning::tnr("random_search"))),
  tune_bayes = list(needs = c("tune", "parsnip", "workflows", "rsample", "dials", "yardstick"), run = tune_bayes, learners = "forest")
)

# ---- one search ----------------------------------------------------------------------------------------------------------------------

# The loss of a setting on ten other folds.
loss_again <- function(problem, values, seed) {
  learner <- learner_of(problem$learner, problem$features)
  learner$param_set$values <- utils::modifyList(learner$param_set$values, values)
  fold <- folds_of(problem$frame, 50000 + seed)
  result <- mlr3::resample(problem$task, learner, resampling_of(problem$task, fold))
  unname(result$aggregate(mlr3::msr(problem$measure)))
}

one_search <- function(key) {
  frame <- data_of(key$data)
  problem <- list(learner = key$learner, frame = frame, task = task_of(frame), features = ncol(frame) - 1L, evaluations = key$evaluations,
                  fold = folds_of(frame, 1000 + key$seed), measure = learners[[key$learner]]$measure)
  set.seed(key$seed)
  started <- proc.time()[["elapsed"]]
  found <- suppressMessages(methods[[key$method]]$run(problem))
  seconds <- proc.time()[["elapsed"]] - started
  set.seed(90000 + key$seed)
  again <- loss_again(problem, found$best, key$seed)
  package <- methods[[key$method]]$needs[1]
  cbind(key, version = paste(package, utils::packageVersion(package)), evaluation = seq_along(found$loss), loss = signif(found$loss, 6),
        learner_s = signif(found$learner_s, 4), seconds = signif(seconds, 5), again = signif(again, 6))
}

main <- function() {
  for (package in c("mlr3/core", "mlr3/bbotk")) lgr::get_logger(package)$set_threshold("warn")
  loadNamespace("mlr3learners")
  done <- searches_done(args$out, c("learner", "data", "method", "seed", "evaluations"))
  for (seed in numbers(args$seeds)) for (data in words(args$data)) for (learner in words(args$learners)) for (method in words(args$methods)) {
    how <- methods[[method]]
    if (!is.null(how$learners) && !learner %in% how$learners) next
    missing <- lacking(c(how$needs, learners[[learner]]$needs))
    if (length(missing)) {
      message(sprintf("%s by %s is left out: no package %s", learner, method, paste(missing, collapse = ", ")))
      next
    }
    key <- data.frame(learner = learner, data = data, method = method, seed = seed, evaluations = numbers(args$evaluations))
    if (is_done(done, key)) next
    rows <- tryCatch(one_search(key), error = function(e) {
      message(sprintf("%s on %s by %s, seed %d: %s", learner, data, method, seed, conditionMessage(e)))
    })
    if (!is.null(rows)) keep_rows(rows, args$out)
  }
}

# ---- the report ------------------------------------------------------------------------------------------------------------------------

report <- function() {
  all <- utils::read.csv(args$out)
  all <- all[all$evaluations == numbers(args$evaluations), ]
  budget <- all$evaluations[1]
  at <- unique(ceiling(budget * c(0.25, 0.5, 0.75, 1)))
  id <- interaction(all$learner, all$data, all$seed, all$method, drop = TRUE)
  searches <- do.call(rbind, lapply(split(all, id), function(rows) {
    rows <- rows[order(rows$evaluation), ]
    best <- cummin(rows$loss)
    cbind(rows[1, c("learner", "data", "method", "seed", "version", "seconds", "again")], spent = sum(rows$learner_s),
          t(stats::setNames(best[pmin(at, length(best))], paste0("at", at))))
  }))
  cat(sprintf("%s, %d evaluations, %s\n\n", R.version.string, budget, paste(unique(searches$version), collapse = ", ")))
  columns <- paste0("at", at)
  for (task in split(searches, list(searches$learner, searches$data), drop = TRUE)) {
    # Seeds that every method has done.
    methods <- unique(task$method)
    task <- task[task$seed %in% names(which(table(task$seed) == length(methods))), ]
    if (nrow(task) == 0) next
    cat(sprintf("\n%s on %s, %d seeds: mean least loss and mean rank after %s evaluations\n\n", task$learner[1], task$data[1],
                length(unique(task$seed)), paste(at, collapse = ", ")))
    line(c("method", paste("loss", at), paste("rank", at), "least one, on other folds", "seconds", "of them beside the learners"))
    line(c("---", rep("---:", 2 * length(at) + 3)))
    ranks <- vapply(columns, function(column) stats::ave(task[[column]], task$seed, FUN = rank), numeric(nrow(task)))
    ranks <- matrix(ranks, nrow(task))
    for (method in methods) {
      mine <- task$method == method
      line(c(method, sprintf("%.4f", colMeans(task[mine, columns, drop = FALSE])), sprintf("%.2f", colMeans(ranks[mine, , drop = FALSE])),
             sprintf("%.4f", mean(task$again[mine])), sprintf("%.0f", mean(task$seconds[mine])),
             sprintf("%.0f", mean(task$seconds[mine] - task$spent[mine]))))
    }
  }
}

if (args$report == "TRUE") report() else main()
