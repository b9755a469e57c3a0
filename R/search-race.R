# `race_folds()`. Layer: search.

#' Racing: stop poor settings early over resampling folds
#'
#' `race_folds()` evaluates a point (a setting) fold by fold, and stops it as soon as it is unlikely to win.
#'
#' It is for `race` of [maximize_bandit()], [minimize_bandit()] and [tune_gp_bandit()]. The value of a setting is its
#' mean over \eqn{K} folds. The objective is `f(x, fold)`, and each evaluation is one fold. Racing saves evaluations in
#' cross-validation.
#'
#' @param folds number of folds \eqn{K}, an integer >= 3.
#' @param alpha probability in (0, 1) of stopping a setting that would have won; 0.05 by default.
#' @param burn_in number of folds before the exact rule is applied, an integer >= 2 and < `folds`; 3 by default, or 2
#'   with three folds.
#' @param wait `TRUE`: settings that were not stopped wait after two folds, see [race-details]. `FALSE`, the default:
#'   they are completed.
#' @section Model and rules:
#' Some folds are harder than others for every setting. For setting \eqn{s} and fold \eqn{k},
#' \deqn{y_{sk} = f(s) + b_k + e_{sk}.}{y_sk = f(s) + b_k + e_sk.}
#' Folds come in a new random order for each setting. The incumbent is the setting with the best mean over all folds.
#' The differences \eqn{d_k}{d_k} to it on the same folds do not contain \eqn{b_k}{b_k}. After \eqn{k} folds the
#' setting is stopped if
#' \deqn{\bar d + t_{\mathrm{df},\,1-\alpha_k}\, v \sqrt{1/k - 1/K} < 0.}{mean(d) + t_{df, 1 - alpha_k} v sqrt(1 / k -
#' 1 / K) < 0.}
#'
#' * *Exact rule*, with fewer than four complete settings. \eqn{v} is the sd of \eqn{d_1, \dots, d_k}{d_1, ..., d_k},
#'   and \eqn{\mathrm{df} = k - 1}{df = k - 1}. The rule is applied from \eqn{k = k_0}{k = k_0} on, with
#'   \eqn{\alpha_k = \alpha/(K - k_0)}{alpha_k = alpha / (K - k_0)} and \eqn{k_0}{k_0} the `burn_in`.
#' * *Pooled rule*, with \eqn{m \ge 4}{m >= 4} complete settings. \eqn{v^2} is twice the residual mean square of their
#'   settings x folds table, and \eqn{\mathrm{df} = (m-1)(K-1)}{df = (m - 1) (K - 1)}. The rule is applied from \eqn{k
#'   = 2} on, with \eqn{\alpha_k = \alpha/(K-2)}{alpha_k = alpha / (K - 2)}.
#' * *Guard against a single decisive fold*. \eqn{v} is at least the sd of the observed differences. From two complete
#'   settings on, it is also at least the pooled \eqn{v}. If one fold is an outlier, \eqn{v} increases and the race
#'   continues. With one complete setting, differences that are all equal never stop a setting.
#' @section Stopped settings:
#' A stopped setting counts neither as failed nor as the worst reward. It is never `observed`, and never recommended for
#' its own rewards. How the model uses it is on the page [race-details]. A setting with a failed fold has failed.
#' @return An object of class `bandit_race`. The result of a search with it has a list `race`:
#'
#' * `spent`: number of evaluations, of one fold each.
#' * `settings`, `complete`, `stopped`, `failed`, `unfinished`: numbers of settings.
#' * `saved`: number of folds saved by stopping.
#' * `folds`: a data.frame with a row per evaluation: `setting` (row of the history), `fold`, `reward` and `status`.
#'
#' The history has a row per setting, with these columns:
#'
#' * `folds`: number of folds evaluated.
#' * `fold_var`: variance due to the folds that were not evaluated.
#' * `status`: `"observed"`, `"stopped"`, `"unfinished"` (at the end of the search), `"waiting"` (during it), or
#'   `"failed"`, with the `reason`.
#' @section Guarantee: The exact rule stops a setting whose mean over the \eqn{K} folds is at least the incumbent's
#'   with probability at most \eqn{\alpha}{alpha}. Assumptions: independent normal differences with one variance, and
#'   an incumbent that was not raced itself. Original result, not peer-reviewed: the statistic has Student's
#'   distribution,
#' \deqn{\frac{\bar d_K - \bar d_k}{v\sqrt{1/k - 1/K}}.}{(mean_K - mean_k) / (v sqrt(1 / k - 1 / K)).}
#' The pooled rule's probability is approximate. It assumes errors \eqn{e} with one variance in all settings and folds.
#' No rule covers a fold that was not evaluated. A setting that loses by 1 on nine folds of ten, and would win by 20 on
#' the last, is stopped before that fold in up to 70% of the orders. In simulations (test-search-race.R in the
#' sources), at most a proportion \eqn{\alpha}{alpha} of the winners was stopped.
#' @section Elsewhere: [tnr("gp_bandit")][mlr3-integration] has no racing, because mlr3tuning evaluates a setting on all
#'   folds at once.
#' @references Maron and Moore (1994), Hoeffding races, NIPS 6; Birattari, Stuetzle, Paquete and Varrentrapp (2002), A
#'   racing algorithm for configuring metaheuristics, GECCO. The rules on this page are this package's.
#' @seealso [race-details]; [maximize_bandit()], [tune_gp_bandit()].
#' @concept pruning
#' @concept racing
#' @concept early stopping
#' @concept cross-validation
#' @concept hyperparameter tuning
#' @examples
#' set.seed(1)
#' hard <- rnorm(5)
#' f <- function(p, fold) (p$x - 2)^2 + hard[fold] + rnorm(1, sd = 0.05)
#' found <- minimize_bandit(f, list(x = c(1, 3)), evaluations = 40, race = race_folds(5))
#' found
#' found$race$saved
#' @export
race_folds <- function(folds, alpha = 0.05, burn_in = 3, wait = FALSE) {
  if (missing(burn_in)) burn_in <- min(3, check_fold_count(folds) - 1)
  new_part("bandit_race")
}

#' Racing in detail: stopped and waiting settings, several workers
#'
#' For users of [race_folds()]: how the model uses settings that were stopped, and what `wait = TRUE` does.
#'
#' @section Stopped settings:
#' The bandit uses a stopped setting as a reward \eqn{\mathrm{mean}(y_{sk} - \hat b_k)}{mean(y_sk - b_k)}, where
#' \eqn{\hat b}{b} are the fold effects of the complete settings. With \eqn{m} complete settings, \eqn{k} of \eqn{K}
#' folds evaluated and \eqn{v} of the rule, its noise variance is `noise_var` plus
#' \deqn{\frac{v^2}{2}(1 + 1/m)(1/k - 1/K).}{v^2 / 2 (1 + 1 / m) (1 / k - 1 / K).}
#' @section Waiting:
#' With `wait = TRUE`, a setting that was not stopped waits after two folds. The next fold belongs to the waiting
#' setting with the largest posterior mean plus one sd, if that is above the best posterior mean of a complete setting.
#' Otherwise a new setting starts. While no setting is complete, a setting is evaluated on all folds. When too few
#' evaluations remain for a new setting, they are used for waiting ones that can be completed. The others are
#' `"unfinished"` at the end.
#'
#' A waiting setting is reported to the bandit with a noise variance for the missing folds, in addition to `noise_var`.
#' It is reported again when further folds have changed it by a tenth of its sd (events of kind 7). Fold effects
#' \eqn{b_k}{b_k} are then a Gaussian process over settings, with the bandit's kernel plus a common part. \eqn{f(s)} is
#' unrestricted, and variances are estimated by restricted maximum likelihood. Missing folds are predicted from other
#' settings.
#'
#' On three learners, the same loss took 0.60 to 1.07 of the fits of a search on all folds, and 0.62 to 1.4 without
#' waiting (`bench/results/race.md` in the sources). The work in addition to the evaluations is cubic in the number of
#' settings. `wait` is not available in a store or in [tune_gp_bandit()].
#' @section Several workers: Folds of one setting are evaluated in parallel if all of them are needed in any case.
#'   Otherwise each worker has its own setting. In a store ([work_on()]) each worker always has its own.
#' @section Guarantee: None for waiting settings: one may be better than the model predicts.
#' @concept racing
#' @concept cross-validation
#' @seealso [race_folds()].
#' @examples
#' set.seed(1)
#' hard <- rnorm(5)
#' f <- function(p, fold) (p$x - 2)^2 + hard[fold] + rnorm(1, sd = 0.05)
#' found <- minimize_bandit(f, list(x = c(1, 3)), evaluations = 30, race = race_folds(5, wait = TRUE))
#' table(found$history$status)
#' @name race-details
NULL

race_entry <- list(settings = alist(folds = check_fold_count(folds),
                                    alpha = check_number(alpha, lower = 0, upper = 1, open_lower = TRUE,
                                                         open_upper = TRUE),
                                    burn_in = check_count(burn_in, lower = 2, upper = folds - 1),
                                    wait = if (!is.null(wait)) check_flag(wait)),
                   later = "wait")

check_fold_count <- function(folds) check_count(folds, "folds", lower = 3, upper = 1e4)

check_race <- function(race) if (!is.null(race)) check_class(race, "bandit_race", "race", hint = "race_folds()")

# Folds of a point differ, which is noise.
check_no_race_without_noise <- function(race, model) {
  if (is.null(race) || !identical(model$noise, "none")) return(invisible())
  stop_unused("race", "its folds differ, so `gp_model(noise = \"none\")` does not hold")
}

# For searches in which a setting is raced to its end before the next one starts.
check_no_waiting <- function(race, where) {
  if (!is.null(race) && isTRUE(race$wait)) {
    stop_argument("race", paste("race_folds(wait = TRUE)", where), "race_folds() without `wait`")
  }
}

#' @export
print.bandit_race <- function(x, ...) {
  check_class(x, "bandit_race")
  cat(sprintf("<race over %g folds, alpha = %g, burn-in %g%s>\n", x$folds, x$alpha, x$burn_in,
              if (isTRUE(x$wait)) ", settings wait" else ""))
  invisible(x)
}

# ---- the rule -------------------------------------------------------------------------
# `complete`: the rewards of the complete settings, one row each and one column per fold, where larger is better.
# `reward`: those of the setting in the race, NA for folds that were not evaluated.

# From this number of complete settings, their table is used to estimate the variance of differences.
pooled_race <- 4

# The smallest number of folds after which a setting may be stopped.
first_check <- function(race, settings) if (settings < pooled_race) race$burn_in else 2

is_out_of_race <- function(race, reward, complete) {
  seen <- !is.na(reward)
  k <- sum(seen)
  settings <- nrow(complete)
  first <- first_check(race, settings)
  if (settings == 0 || k < first || k >= race$folds) return(FALSE)
  incumbent <- complete[which.max(rowMeans(complete)), ]
  d <- (reward - incumbent)[seen]
  own <- stats::sd(d)
  if (settings == 1 && own <= 1e-8 * max(abs(d))) return(FALSE)
  df <- if (settings < pooled_race) k - 1 else (settings - 1) * (race$folds - 1)
  v <- max(own, sqrt(pooled_difference(complete)))
  quantile <- stats::qt(1 - race$alpha / (race$folds - first), df)
  mean(d) + quantile * v * sqrt(1 / k - 1 / race$folds) < 0
}

# The variance of the difference of two settings on a fold: twice the residual mean square of the settings x folds
# table. It is 0 for a single setting, which contains no information.
pooled_difference <- function(complete) {
  m <- nrow(complete)
  if (m < 2) return(0)
  residual <- complete - rowMeans(complete) - rep(fold_effects(complete), each = m)
  2 * sum(residual^2) / ((m - 1) * (ncol(complete) - 1))
}

# The mean of each fold minus the overall mean.
fold_effects <- function(complete) colMeans(complete) - mean(complete)

# The value of a setting evaluated on some folds only, and the variance due to the missing folds.
worth_on_folds <- function(reward, complete) {
  seen <- !is.na(reward)
  k <- sum(seen)
  m <- nrow(complete)
  folds <- length(reward)
  if (k == folds || m == 0) return(list(mean = mean(reward[seen]), var = unseen_var(reward[seen], folds)))
  d <- (reward - complete[which.max(rowMeans(complete)), ])[seen]
  v2 <- max(pooled_difference(complete), if (k > 1) stats::var(d) else 0)
  list(mean = mean(reward[seen] - fold_effects(complete)[seen]), var = v2 / 2 * (1 + 1 / m) * (1 / k - 1 / folds))
}

# Without complete settings, the variance is that of the observed folds.
unseen_var <- function(seen, folds) {
  k <- length(seen)
  if (k == folds) 0 else if (k == 1) NA_real_ else stats::var(seen) * (1 / k - 1 / folds)
}

register_family("bandit_race", race_entry)
