# `gp_model()`: the Gaussian process of searches. Layer: model.

#' Gaussian-process model of a search
#'
#' `gp_model()` sets kernel, noise, priors, output transform and refits of the Gaussian process (surrogate model).
#'
#' The object is for argument `model` of [maximize_bandit()], [minimize_bandit()], [auto_bandit()],
#' [tune_gp_bandit()] and of the [mlr3 integrations][mlr3-integration].
#'
#' All settings refer to the scaled rewards, see [scale_outputs()]. Without a transform these have variance 1.
#' Defaults that depend on the domain or on `transfer` are resolved when the model is used, so one model serves several
#' searches.
#'
#' @param kernel prior covariance, see [kernels]: an object such as `kernel_se()`, or a string such as `"matern"`.
#'   `NULL`, the default: Matern 5/2 with a lengthscale per input, see *Default kernel*.
#' @param noise `"fit"`, the default: the noise variance is estimated. `"none"`: the objective is deterministic, see
#'   *Without noise*.
#' @param noise_var initial noise variance of the scaled rewards, a number > 0; 0.01 by default. Each refit estimates it
#'   again. With `refit = NULL` it is fixed.
#' @param noise_prior prior of the noise variance for refits: `c(meanlog, sdlog)` of a log-normal distribution, or
#'   rows of these for a mixture, equal unless a third column has weights. `NULL`: none. `"auto"`, the default: a
#'   mixture, see *Priors*.
#' @param lengthscale_prior prior of each lengthscale for refits, in units of its input's range, in the form of
#'   `noise_prior`. `NULL`: none. `"auto"`, the default: a log-normal distribution for the default kernel, none for
#'   others. See *Priors*.
#' @param transform `"auto"`, the default: a power transform of the rewards or a logarithm, if it improves the
#'   likelihood; for details see *Transform*. `"none"`: rewards are only centred and scaled. `"power"`: always
#'   transformed. `"log"`: as `"auto"`, in every search.
#' @param refit schedule of hyperparameter estimation, [refit_every()]. `NULL`: kernel and noise variance are fixed.
#'   `"auto"`, the default: every 2 rounds with a fitted mean, averaging over up to 10 models; for details see
#'   *Refits*.
#' @param mean a prior mean in units of the reward: a function of a data.frame that returns a number for each row, or a
#'   formula. `NULL`, the default: none. See *Prior mean*.
#' @section Prior mean:
#' With `mean = ~ 80 - (temp - 70)^2 / 50` the model describes the rewards' difference from this function, without a
#' transform. A function needs `trust = TRUE` in a journal or store. It is for one outcome.
#' @section Default kernel:
#' The default is Matern 5/2 with variance 1. For \eqn{d} inputs, each lengthscale starts at \eqn{0.4\sqrt d}{0.4
#' sqrt(d)} times the range of its input. Factors get [kernel_categorical()], which multiplies the kernel of numbers.
#' If the points can be counted (a table, levels and integers), the main effects are added: a kernel of the numbers and
#' one of each factor, with variance 0.3 before the first refit.
#' @section Refits:
#' With `refit = "auto"` the schedule depends on the search:
#'
#' * Up to 14 inputs: `refit_every(2, mean = "fit", average = 10)`. With the default kernel it also averages over the
#'   smoothness: `smoothness = c(2.5, 1.5, 0.5)`, `smoothness_prior = c(1, 0.1, 0.1)`.
#' * From 15 inputs on: the number of rounds between refits is a quarter of the number of inputs (at most 10). Refits
#'   average over up to 4 models, with one start in addition to those at the previous models.
#' * With earlier campaigns (`transfer`): `refit_every(1, minimum = 2, mean = "fit", average = 10)`.
#' * From 300 queries on, the number of rounds between refits grows in proportion to the number of queries (`growth` of
#'   [refit_every()]).
#' @section Transform:
#' With `transform = "auto"` the rewards are transformed as by [scale_outputs()] with `transform = "log"`. From 15
#' inputs on, with contexts, with several outcomes and without refits there is no logarithm, as with its `transform =
#' "auto"`. In paired searches the log10 gap of the recommended point was lower by 0.17 (standard error 0.07) in 2
#' inputs without noise, and by 0.22 (0.08) in 5 (`bench/results/optimisation.md` in the sources).
#' @section Priors:
#' * Noise variance, `"auto"`: an equal mixture of little or no noise, `c(log(2e-3), 3)`, and much noise, `c(log(0.3),
#'   1.2)`. From 15 inputs on and with several outcomes the first part is `c(log(1e-5), 2.5)`.
#' * Lengthscales, `"auto"`: a log-normal distribution with median \eqn{0.4\sqrt d}{0.4 sqrt(d)} and `sdlog` 1.
#' * The default kernel's variance, or that of each of its parts: `c(log(2), 1)`.
#' * Correlations of the levels of a factor: Beta(4, 2). The part `own` of levels with features: `c(log(0.1), 1)`.
#'
#' Without priors, maximum likelihood underestimates the noise in many inputs, and predictions are overconfident. Priors
#' in `refit_every(priors = )` take precedence.
#' @section Without noise:
#' `noise = "none"` is for computer experiments:
#'
#' * The noise variance is fixed at 1e-8 (of the scaled rewards), which only keeps matrices invertible. `noise_var` and
#'   `noise_prior` cannot be given.
#' * Expected improvement is that over the best reward so far.
#' * The recommended point is the evaluated point with the best reward, and no point is evaluated twice. (With
#'   `contexts` or `fidelity` this does not hold: the recommended point has the best posterior mean.)
#'
#' It cannot be combined with `race`, whose folds differ.
#' @section One model or several:
#' With many inputs, a single model (`refit = refit_every(5, mean = "fit")`) is three times as fast as the default, but
#' its posterior sd is too small: in 20 inputs the truth was more than 3 `sd` from `value` in 19 of 20 searches, with
#' four models in 1 ([calibration]).
#' @return An object of class `gp_model`.
#' @section Errors: A `gpbandits_error` names the argument.
#' @section Guarantee: None, because hyperparameters and the scale of the rewards are estimated.
#' @references Lengthscales in proportion to \eqn{\sqrt d}{sqrt(d)}: Hvarfner, Hellsten and Nardi (2024), Vanilla
#'   Bayesian optimization performs great in high dimensions <https://arxiv.org/abs/2402.02229>. The other priors are
#'   this package's, chosen by simulations (`bench/results/promise.md` in the sources).
#' @seealso [search_control()] for how evaluations are run; [gp_bandit()] for bandits with a fixed kernel.
#' @concept deterministic objective
#' @concept noise-free
#' @concept noise variance
#' @concept surrogate model
#' @concept Gaussian process regression
#' @concept hyperparameters
#' @concept prior
#' @examples
#' gp_model()
#' set.seed(1)
#' minimize_bandit(function(p) (p$x - 2)^2, list(x = c(1, 3)), evaluations = 8,
#'                 model = gp_model(kernel = "matern", transform = "none"))$par
#' @export
gp_model <- function(kernel = NULL, noise_var = 0.01, noise_prior = "auto", lengthscale_prior = "auto",
                     transform = c("auto", "none", "power", "log"), refit = "auto", noise = c("fit", "none"),
                     mean = NULL) {
  if (identical(noise, "none")) {
    given <- c(noise_var = !missing(noise_var), noise_prior = !missing(noise_prior))
    if (any(given)) stop_unused(names(which(given))[1], "`noise = \"none\"` fixes the noise variance")
  }
  new_part("gp_model")
}

transform_names <- c("auto", "none", "power", "log")
noise_names <- c("fit", "none")

# The noise variance of a deterministic objective, of scaled rewards.
least_noise <- 1e-8

gp_model_entry <- list(settings = alist(
  kernel = if (!is.null(kernel)) as_kernel(kernel),
  noise_var = check_number(noise_var, "noise_var", lower = 0, open_lower = TRUE),
  noise_prior = check_prior(noise_prior, "noise_prior"),
  lengthscale_prior = check_prior(lengthscale_prior, "lengthscale_prior"),
  transform = check_choice(transform, transform_names, "transform"),
  refit = if (!is.null(refit) && !identical(refit, "auto")) check_model_refit(refit) else refit,
  noise = check_choice(noise, noise_names, "noise"),
  mean = check_model_mean(mean)
), together = quote(if (noise == "none" && is.list(refit) && identical(refit$noise, "varying")) {
  stop_argument("refit", "refit_every(noise = \"varying\")", "one with constant noise, because `noise` is \"none\"")
}), later = "mean")

check_model_mean <- function(mean) {
  if (!is.null(mean) && !is.function(mean) && !(inherits(mean, "formula") && length(mean) == 2)) {
    stop_argument("mean", describe(mean), "a function of the inputs, or a formula such as ~ 80 - (temp - 70)^2 / 50")
  }
  mean
}

check_model_refit <- function(refit) {
  if (is_text(refit)) stop_argument("refit", describe(refit), "\"auto\", refit_every(), or NULL for a fixed kernel")
  check_class(refit, "bandit_refit", "refit", hint = "refit_every()")
}

# NULL, "auto", c(meanlog, sdlog), or rows of these.
check_prior <- function(prior, arg) {
  if (is.null(prior) || identical(prior, "auto")) return(prior)
  parts <- lognormal_parts(prior, arg)
  if (is.matrix(prior)) unname(prior) else c(meanlog = parts[, 2], sdlog = parts[, 3])
}

#' @export
print.gp_model <- function(x, ...) {
  check_class(x, "gp_model")
  cat("<Gaussian-process model of a search>\n")
  shown <- if (x$noise == "none") setdiff(names(x), c("noise_var", "noise_prior")) else names(x)
  cat(sprintf("  %-17s  %s\n", shown, vapply(shown, function(name) model_setting_text(x[[name]], name), "")), sep = "")
  invisible(x)
}

model_setting_text <- function(value, name) {
  if (is.null(value)) {
    return(switch(name, kernel = "chosen for the domain: Matern 5/2 with a lengthscale per input",
                  refit = "none: kernel and noise variance are fixed", "none"))
  }
  if (identical(value, "auto")) {
    return(switch(name, noise_prior = "default: a mixture of little or no noise and much noise",
                  lengthscale_prior = "default: log-normal, median 0.4 sqrt(inputs) ranges; none for kernels given",
                  transform = "auto: a power transform or a logarithm of results if it improves the likelihood",
                  refit = paste("default: every 2 rounds, averaging over up to 10 models and over smoothness;",
                                "rarer from 15 inputs")))
  }
  switch(name, noise = if (value == "none") "none: the objective is deterministic" else "fit: estimated at each refit",
         noise_var = paste(format(value, digits = 4), "at first, of results scaled to variance 1"),
         transform = switch(value, none = "none: results are centred and scaled",
                            power = "power: results are transformed",
                            "log: a power transform or a logarithm of results if it improves the likelihood"),
         noise_prior = , lengthscale_prior = lognormal_text(value), first_line(value))
}

lognormal_text <- function(prior) {
  parts <- lognormal_parts(prior, "prior")
  text <- sprintf("log-normal, median %.3g, sdlog %.3g", exp(parts[, 2]), parts[, 3])
  if (is.matrix(prior) && ncol(prior) == 3) text <- sprintf("%s (%.3g%%)", text, 100 * parts[, 1])
  paste(text, collapse = " or ")
}

register_family("gp_model", gp_model_entry)
