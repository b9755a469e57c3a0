# `gp_model()`: the Gaussian process of searches. Layer: model.

#' The Gaussian process of a search
#'
#' `gp_model()` holds the settings of the Gaussian process for `model =` of [maximize_bandit()], [minimize_bandit()],
#' [auto_bandit()], [tune_gp_bandit()], and of [opt("gp_bandit")][mlr3-doors] and [tnr("gp_bandit")][mlr3-doors].
#'
#' All settings refer to the scaled rewards, see [scale_outputs()]: they have variance 1 if nothing is transformed.
#' Defaults that depend on the domain or on `transfer` are resolved when the model is used. So one model serves several
#' searches.
#'
#' @param kernel prior covariance, see [kernels]: an object such as `kernel_se()`, or a string such as `"matern"`.
#'   `NULL`: Matern 5/2 with a lengthscale per input, \eqn{0.4\sqrt d}{0.4 sqrt(d)} times its range at first, for
#'   \eqn{d} inputs, and variance 1; factors get [kernel_categorical()].
#' @param noise_var initial noise variance of the scaled rewards, a number > 0. Each refit estimates it again; with
#'   `refit = NULL` it stays.
#' @param noise_prior prior of the noise variance for refits: `c(meanlog, sdlog)` of a log-normal distribution, two such
#'   rows (an equal mixture), or `NULL` for none. `"auto"`: a mixture of nearly no noise, `c(log(1e-5), 2.5)`, and much
#'   noise, `c(log(0.3), 1.2)`.
#' @param lengthscale_prior prior of each lengthscale for refits, in units of its input's range: as `noise_prior`, or
#'   `NULL` for none. `"auto"`: a log-normal distribution with median \eqn{0.4\sqrt d}{0.4 sqrt(d)} and `sdlog` 1 for
#'   the default kernel; none for a kernel that is given.
#' @param transform `"auto"`: a power transform of the rewards if it improves the likelihood; `"none"`: only centred and
#'   scaled; `"power"`: always transformed. See [scale_outputs()].
#' @param refit [refit_every()], or `NULL` for a fixed kernel and noise variance. `"auto"`: every 2 rounds with a fitted
#'   mean, averaging over up to 10 models; other values from 15 inputs on and with `transfer`, see *Refits*.
#' @section Refits:
#' With `refit = "auto"` the schedule depends on the search:
#' * Up to 14 inputs: `refit_every(2, mean = "fit", average = 10)`.
#' * From 15 inputs on: every quarter as many rounds as there are inputs (at most 10), averaging over up to 4 models,
#'   with one start.
#' * With earlier campaigns (`transfer`): `refit_every(1, minimum = 2, mean = "fit", average = 10)`.
#' @section Priors:
#' The default kernel's variance has the prior `c(log(2), 1)`, correlations of levels a Beta(4, 2) prior. Without priors
#' maximum likelihood underestimates the noise in many inputs, and predictions are overconfident. Priors in
#' `refit_every(priors = )` take precedence.
#' @return An object of class `gp_model`.
#' @section Errors: a `gpbandits_error` that names the argument.
#' @seealso [search_control()] for how evaluations are run; [gp_bandit()] for bandits with a fixed kernel.
#' @examples
#' gp_model()
#' set.seed(1)
#' minimize_bandit(function(p) (p$x - 2)^2, list(x = c(1, 3)), evaluations = 8,
#'                 model = gp_model(kernel = "matern", transform = "none"))$par
#' @concept hyperparameters
#' @concept prior
#' @export
gp_model <- function(kernel = NULL, noise_var = 0.01, noise_prior = "auto", lengthscale_prior = "auto",
                     transform = c("auto", "none", "power"), refit = "auto") {
  new_part("gp_model")
}

transform_names <- c("auto", "none", "power")

gp_model_entry <- list(settings = alist(
  kernel = if (!is.null(kernel)) as_kernel(kernel),
  noise_var = check_number(noise_var, "noise_var", lower = 0, open_lower = TRUE),
  noise_prior = check_prior(noise_prior, "noise_prior"),
  lengthscale_prior = check_prior(lengthscale_prior, "lengthscale_prior"),
  transform = check_choice(transform, transform_names, "transform"),
  refit = if (!is.null(refit) && !identical(refit, "auto")) check_model_refit(refit) else refit
))

check_model_refit <- function(refit) {
  if (is_text(refit)) stop_argument("refit", describe(refit), "\"auto\", refit_every(), or NULL for a fixed kernel")
  check_class(refit, "bandit_refit", "refit", hint = "refit_every()")
}

# NULL, "auto", c(meanlog, sdlog), or two such rows.
check_prior <- function(prior, arg) {
  if (is.null(prior) || identical(prior, "auto")) return(prior)
  made <- check_parameter_prior(prior, arg)
  if (is.matrix(prior)) unname(prior) else c(meanlog = made[["mean"]], sdlog = made[["sd"]])
}

#' @export
print.gp_model <- function(x, ...) {
  read_part(x, "gp_model", {
    cat("<Gaussian-process model of a search>\n")
    cat(sprintf("  %-17s  %s\n", names(x), vapply(names(x), function(name) model_setting_words(x[[name]], name), "")),
        sep = "")
    invisible(x)
  })
}

model_setting_words <- function(value, name) {
  if (is.null(value)) {
    return(switch(name, kernel = "chosen for the domain: Matern 5/2 with a lengthscale per input",
                  refit = "none: kernel and noise variance stay as they are", "none"))
  }
  if (identical(value, "auto")) {
    return(switch(name, noise_prior = "default: an equal mixture of nearly no noise and much noise",
                  lengthscale_prior = "default: log-normal, median 0.4 sqrt(inputs) ranges; none for kernels given",
                  transform = "auto: a power transform of rewards if it improves the likelihood",
                  refit = "default: every 2 rounds, averaging over up to 10 models; rarer from 15 inputs on"))
  }
  switch(name, noise_var = paste(format(value, digits = 4), "at first, of rewards scaled to variance 1"),
         transform = if (value == "none") "none: rewards are centred and scaled" else "power: rewards are transformed",
         noise_prior = , lengthscale_prior = lognormal_words(value), printed_words(value))
}

lognormal_words <- function(prior) {
  one <- function(p) sprintf("log-normal, median %.3g, sdlog %.3g", exp(p[[1]]), p[[2]])
  if (is.matrix(prior)) paste(one(prior[1, ]), "or", one(prior[2, ])) else one(prior)
}

# The first line of what print() shows, without its brackets.
printed_words <- function(x) gsub("^<|>$", "", utils::capture.output(print(x))[1])

register_family("gp_model", gp_model_entry)
