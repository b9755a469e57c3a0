# The package's help page and its imports. Layer: base.

#' Bayesian optimisation and Gaussian-process bandits
#'
#' The package maximises functions that are costly and noisy to evaluate, by Gaussian-process models. If R can evaluate
#' the function, one call of [maximize_bandit()] or [minimize_bandit()] does it:
#'
#' ```
#' yield <- function(temp, time) 60 - ((temp - 62) / 8)^2 - (time - 3)^2 + rnorm(1)
#' found <- maximize_bandit(yield, list(temp = c(20, 90), time = c(1, 8)), evaluations = 25)
#' found                                              # the recommended point
#' plot(found)
#' ```
#'
#' If people or other programs make the experiments, [auto_bandit()] suggests them and takes their results:
#'
#' ```
#' lab <- auto_bandit(list(temp = c(20, 90), time = c(1, 8)))
#' q <- lab$suggest(4)                                # the next four experiments
#' lab$observe(q$id, reward = c(51, 57, 49, 60))      # their results, now or later
#' lab$best()                                         # the recommendation so far
#' ```
#'
#' @section Where to begin:
#' \tabular{ll}{
#'   **You want to** \tab **See** \cr
#'   do a common task in a few lines \tab [recipes] \cr
#'   have an introduction to the package \tab `vignette("gpbandits", "gpbandits")` \cr
#'   have answers to common questions \tab `vignette("faq", "gpbandits")` \cr
#'   translate code of mlr3mbo, tidymodels, ParBayesianOptimization, Ax, Optuna or scikit-optimize \tab
#'     `vignette("coming-from", "gpbandits")` \cr
#'   maximise or minimise a function in one call \tab [maximize_bandit()] \cr
#'   plan experiments that people make \tab [auto_bandit()]; in a browser, as a team: [bandit_service()] \cr
#'   choose an algorithm with a guarantee \tab [guarantees]: [gp_ucb()], [igp_ucb()]; late rewards and batches:
#'     [gp_ucb_sdf()], [gp_ucb_pe()]; changes: [gp_ucb_cpd()], [gp_ucb_drift()]; constraints:
#'     [gp_ucb_noiseless_constraints()]; safety: [safe_opt()]; level sets: [gp_lse()] \cr
#'   combine an algorithm from parts \tab [gp_bandit()] of [kernels], [policies], [widths], [pending], [changes],
#'     [constraints] \cr
#'   describe the points that can be chosen \tab [search_space()], [finite_domain()], [box_domain()],
#'     [product_domain()] \cr
#'   optimise several objectives, with constraints \tab [outcomes], [policy_ehvi()] \cr
#'   tune with mlr3 or tidymodels \tab [mlr3-integration], [tune_gp_bandit()] \cr
#'   simulate and compare \tab [bandit_problem()], [run_bandit()], [compare_bandits()], [benchmark_function()] \cr
#'   evaluate a policy from logged data \tab [evaluate_policy()] \cr
#'   use several processes, survive a crash \tab [bandit_store()], [work_on()], [open_bandit()] \cr
#'   decide when to stop, or check the model \tab [stopping], [check_model()] \cr
#'   compute a theorem's bound \tab [regret_bound()], [information_gain()] \cr
#'   fit a Gaussian process \tab [gp_fit()], [gp_regression()] \cr
#'   find out which files stay readable, what to back up \tab [compatibility] \cr
#'   know how well it works on real data \tab the article
#'     [Real experiments](https://a-seed-a2ba8241.example/gpbandits/articles/real-experiments.html) \cr
#'   reproduce the papers' experiments \tab `vignette("srinivas", "gpbandits")` and others, with the
#'     [long articles](https://a-seed-a2ba8241.example/gpbandits/articles/index.html) of the site \cr
#' }
#'
#' @section When to use something else:
#' If thousands of evaluations per second are possible, use `optim()` or CMA-ES. The same holds if gradients are
#' available. With more than about twenty inputs expect little from few evaluations, and with more than 100 nothing.
#'
#' @section Terms:
#' \tabular{lll}{
#'   **Here** \tab **In the literature** \tab **Where** \cr
#'   bandit \tab Bayesian optimiser, sequential design \tab [gp_bandit()], [GPBandit] \cr
#'   domain, arm \tab search space, decision set; candidate \tab [search_space()], [finite_domain()] \cr
#'   reward \tab objective value, response (maximised) \tab [rewards], [outcomes] \cr
#'   query, round \tab evaluation, trial, iteration \tab [GPBandit] \cr
#'   `$suggest()`, `$observe()` \tab ask and tell \tab [GPBandit] \cr
#'   kernel \tab covariance function of the surrogate model \tab [kernels] \cr
#'   policy \tab acquisition function, infill criterion \tab [policies] \cr
#'   confidence width, `width` \tab \eqn{\sqrt{\beta_t}}{sqrt(beta_t)}, the multiplier of the posterior sd \tab
#'     [widths] \cr
#'   pending rule \tab constant liar, kriging believer, hallucination, local penalisation (parallel and delayed
#'     evaluations) \tab [pending] \cr
#'   refit \tab hyperparameter estimation, type II maximum likelihood \tab [refit_every()] \cr
#'   outputs \tab output transform, warping \tab [scale_outputs()] \cr
#'   outcomes, limits \tab objectives (Pareto front) and outcome constraints \tab [outcomes] \cr
#'   change rule \tab non-stationary bandit, change-point detection, sliding window \tab [changes] \cr
#'   constraints \tab long-term (cumulative) constraints \tab [constraints] \cr
#'   context \tab contextual bandit \tab [gp_bandit()] \cr
#'   transfer \tab transfer learning, warm start from earlier campaigns \tab [transfer] \cr
#'   prior over the optimum \tab piBO, expert prior \tab [prior_normal()] \cr
#'   pairwise comparisons \tab preferential optimisation, dueling bandits \tab [rewards_preferences()] \cr
#'   fidelity \tab multi-fidelity optimisation \tab [multi-fidelity] \cr
#'   race over folds \tab racing, early stopping over resampling folds \tab [race_folds()] \cr
#'   certificate, stopping rule \tab stopping criterion, bound on the simple regret \tab [stopping] \cr
#'   event log, journal \tab record of all queries and rewards; write-ahead log \tab [open_bandit()] \cr
#' }
#'
#' Errors and warnings have classes by their cause: see [gpbandits_conditions].
#' @concept BoTorch, Ax, GPyOpt
#' @concept high-dimensional
#' @concept Bayesian optimization
#' @concept Bayesian optimisation
#' @concept Gaussian process
#' @concept multi-armed bandit
#' @concept acquisition function
#' @concept surrogate model
#' @concept hyperparameter tuning
#' @concept Thompson sampling
#' @concept glossary
#' @examples
#' set.seed(1)
#' yield <- function(temp) 60 - ((temp - 62) / 8)^2 + rnorm(1)
#' maximize_bandit(yield, list(temp = c(20, 90)), evaluations = 15)
#'
#' # GP-UCB, with a known kernel and noise variance:
#' dose <- seq(0, 10, by = 0.1)
#' effect <- function(dose) exp(-(dose - 6)^2 / 8) + rnorm(1, sd = 0.2)
#' b <- gp_ucb(dose, kernel_se(2), noise_var = 0.04)
#' for (patient in 1:20) {
#'   q <- b$suggest()
#'   b$observe(q$id, reward = effect(q$x1))
#' }
#' b$best()
#' @useDynLib gpbandits, .registration = TRUE
#' @importFrom Rcpp sourceCpp
#' @importFrom methods new setRefClass
#' @importFrom stats coef fitted logLik nobs predict residuals simulate update
#' @aliases gpbandits
"_PACKAGE"
