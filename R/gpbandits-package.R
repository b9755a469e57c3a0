# The package's help page and its imports. Layer: base.

#' Gaussian-process bandits: where to begin
#'
#' You want the best of many options, and trying one is costly and its outcome noisy. A bandit chooses what to try next:
#'
#' ```
#' dose <- seq(0, 10, by = 0.1)                         # the options
#' b <- gp_ucb(dose, kernel_se(2), noise_var = 0.04)    # how smooth, how noisy
#' q <- b$suggest()                                     # what to try
#' b$observe(q$id, reward = 0.7)                        # what came of it, whenever it comes
#' b$best()                                             # the recommendation so far
#' ```
#'
#' \tabular{ll}{
#'   You want to \tab see \cr
#'   maximise or minimise a function of your own in one call \tab [maximize_bandit()], `vignette("tuning")` \cr
#'   plan experiments that people make \tab [auto_bandit()]; in a browser, as a team: [bandit_service()] \cr
#'   be led through the package \tab `vignette("gpbandits")` \cr
#'   choose an algorithm with a guarantee \tab [guarantees]: [gp_ucb()], [igp_ucb()]; late rewards and batches:
#'     [gp_ucb_sdf()], [gp_ucb_pe()]; changes: [gp_ucb_cpd()], [gp_ucb_drift()]; constraints:
#'     [gp_ucb_noiseless_constraints()]; safety: [safe_opt()]; level sets: [gp_lse()] \cr
#'   put one together \tab [gp_bandit()] of [kernels], [policies], [widths], [pending], [changes], [constraints] \cr
#'   say what can be chosen \tab [search_space()], [finite_domain()], [box_domain()], [product_domain()] \cr
#'   tune with mlr3 or tidymodels \tab [mlr3-doors], [tune_gp_bandit()] \cr
#'   simulate and compare \tab [bandit_problem()], [run_bandit()], [compare_bandits()], [benchmark_function()] \cr
#'   judge a policy by a log \tab [evaluate_policy()] \cr
#'   use several processes, survive a crash \tab [bandit_store()], [work_on()], [open_bandit()] \cr
#'   know when to stop, whether to believe the model \tab [stopping], [check_model()] \cr
#'   compute a theorem's bound \tab [regret_bound()], [information_gain()] \cr
#'   fit a Gaussian process \tab [gp_fit()], [gp_regression()] \cr
#'   know what stays readable, what to back up \tab [compatibility] \cr
#' }
#'
#' Every mistake stops with a condition of class `gpbandits_error` that names the argument.
#' @examples
#' set.seed(1)
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
