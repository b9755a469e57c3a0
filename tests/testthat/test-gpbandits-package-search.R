# help.search() finds a page for the words of users, on the installed package.

# The words, and the page that must be among the results.
text <- c(
  "A/B test" = "recipes", "A/B testing" = "recipes", "acquisition function" = "policies", "active learning" = "auto_bandit",
  "ask and tell" = "auto_bandit", "asynchronous" = "parallel-search", "batch" = "GPBandit", "batch evaluation" = "GPBandit",
  "Bayesian optimization" = "maximize_bandit", "Bayesian optimisation" = "gpbandits-package", "best arm" = "recipes",
  "binary response" = "rewards", "black-box" = "maximize_bandit", "bounds" = "earlier-experiments",
  "BoTorch" = "gpbandits-package", "budget" = "maximize_bandit", "calibration" = "calibration", "categorical" = "search_space",
  "change point" = "gp_ucb_cpd", "confidence interval" = "calibration", "constrained" = "outcomes", "constraint" = "outcomes",
  "constraint" = "search_space", "contextual bandit" = "gp_bandit", "cost" = "multi-fidelity", "count data" = "rewards",
  "covariance" = "kernels", "crash" = "open_bandit", "credible interval" = "calibration", "cross-validation" = "race_folds",
  "csv" = "earlier-experiments", "csv" = "recipes", "dashboard" = "bandit_service", "database" = "bandit_store",
  "delay" = "gp_ucb_sdf", "design of experiments" = "auto_bandit", "deterministic" = "gp_model", "discrete" = "finite_domain",
  "drift" = "gp_ucb_drift", "dueling bandits" = "rewards_preferences", "early stopping" = "stopping", "Excel" = "earlier-experiments",
  "Excel" = "recipes", "expected improvement" = "policies", "failed" = "bandit-queries", "Gaussian process" = "gp_bandit",
  "glossary" = "gpbandits-package", "GPU" = "bandit-engines", "grid search" = "maximize_bandit", "high-dimensional" = "gpbandits-package",
  "how to" = "recipes", "hyperparameter tuning" = "maximize_bandit", "import data" = "earlier-experiments", "integer" = "search_space",
  "JSON" = "as_json", "kriging" = "gp_fit", "known constraint" = "search_space", "learning rate" = "search_space",
  "linear constraint" = "search_space", "log scale" = "search_space", "memory" = "bandit-compact", "minimize" = "maximize_bandit",
  "missing values" = "earlier-experiments", "mixture" = "search_space", "mlr3" = "mlr3-integration", "multi-objective" = "outcomes",
  "multi-armed bandit" = "gp_ucb", "noise" = "gp_model", "noise-free" = "gp_model", "number of experiments" = "expected-improvement",
  "optimal design" = "auto_bandit", "outliers" = "rewards", "parallel workers" = "parallel-search", "Pareto" = "outcomes",
  "plot" = "bandit-plots", "power transform" = "scale_outputs", "preference" = "rewards_preferences", "price" = "recipes",
  "progress" = "search_control", "pruning" = "race_folds", "Python" = "as_json", "random search" = "maximize_bandit",
  "ranking" = "rewards_preferences", "recommendation" = "recommended-point", "regret" = "regret_bound", "replicates" = "GPBandit",
  "reproducible" = "bandit-state", "response surface" = "auto_bandit", "resume" = "open_bandit", "safe" = "safe_opt",
  "sample size" = "plan_experiments", "save" = "bandit-state", "seed" = "bandit-state", "sensitivity analysis" = "input_importance",
  "simulator" = "maximize_bandit", "spreadsheet" = "earlier-experiments", "standard error" = "calibration",
  "surrogate" = "gp_model", "Thompson sampling" = "policies", "tidymodels" = "tune_gp_bandit", "timeout" = "search_control",
  "transfer learning" = "transfer", "UCB" = "gp_ucb", "uncertainty" = "calibration", "units" = "search_space",
  "warm start" = "earlier-experiments", "web page" = "bandit_service", "worst case" = "stable_opt", "yield" = "auto_bandit"
)

# The pages that help.search() finds, by the text of titles, names and concepts.
found_pages <- function(word) {
  unique(utils::help.search(word, package = "gpbandits", agrep = FALSE)$matches$Topic)
}

# (A page is found by any of its names.)
page_of <- function(topics) {
  aliases <- readRDS(system.file("help", "aliases.rds", package = "gpbandits"))
  unname(aliases[topics])
}

test_that("a hundred words of users lead to the page that answers them", {
  skip_if_not(file.exists(system.file("help", "aliases.rds", package = "gpbandits")), "the help is not installed")
  expect_gte(length(unique(names(text))), 100)
  missed <- Filter(function(k) !text[[k]] %in% page_of(found_pages(names(text)[k])), seq_along(text))
  expect_identical(paste(names(text)[missed], text[missed], sep = ": "), character())
})

test_that("a word that no page has finds nothing", {
  expect_length(found_pages("zeppelin"), 0)
})
