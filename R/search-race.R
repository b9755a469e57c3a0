# `race_folds()`. Layer: search.

#' Race settings over folds
#'
#' For `race =` of [maximize_bandit()], [minimize_bandit()] and [tune_gp_bandit()]: the value of a point (a setting) is
#' its mean over \eqn{K} folds, every evaluation is one fold, `f(x, fold)`, and a setting is stopped as soon as its
#' folds say that it cannot win.
#'
#' \eqn{y_{sk} = f(s) + b_k + e_{sk}}{y_sk = f(s) + b_k + e_sk}: some folds are harder than others, for every setting.
#' Folds come in random order, anew for each setting. The differences \eqn{d_k}{d_k} to the incumbent (the setting with
#' the best mean over all folds) on the folds that were evaluated are free of \eqn{b_k}{b_k}, and after \eqn{k} of them
#' the setting is stopped if
#' \deqn{\bar d + t_{\mathrm{df},\,1-\alpha_k}\, v \sqrt{1/k - 1/K} < 0.}{mean(d) + t_{df, 1 - alpha_k} v sqrt(1 / k - 1
#' / K) < 0.}
#' * *Exact rule*, before four settings are complete: \eqn{v} is the sd of \eqn{d_1, \dots, d_k}{d_1, ..., d_k},
#'   \eqn{\mathrm{df} = k - 1}{df = k - 1}, and one looks from \eqn{k =}{k =} `burn_in` on,
#'   \eqn{\alpha_k = \alpha/(K - \code{burn_in})}{alpha_k = alpha / (K - burn_in)}.
#' * *Pooled rule*, from four complete settings on: \eqn{v^2} is twice the residual mean square of their settings x
#'   folds table, \eqn{\mathrm{df} = (m-1)(K-1)}{df = (m - 1) (K - 1)} with \eqn{m} complete settings, and one looks
#'   from \eqn{k = 2} on, \eqn{\alpha_k = \alpha/(K-2)}{alpha_k = alpha / (K - 2)}.
#' * *Guard*: no stop while one fold decides. \eqn{v} is never below the sd of the differences seen, nor (from two
#'   complete settings on) below the pooled one: where one fold stands out, \eqn{v} grows and the race goes on. While
#'   one setting is complete, differences that are all equal say nothing.
#'
#' A stopped setting is told to the bandit as \eqn{\mathrm{mean}(y_{sk} - \hat b_k)}{mean(y_sk - b_k)}, \eqn{\hat b}{b}
#' the fold effects among the complete settings, with the noise variance `noise_var` +
#' \eqn{\frac{v^2}{2}(1 + 1/m)(1/k - 1/K)}{v^2 / 2 (1 + 1 / m) (1 / k - 1 / K)}: it is neither failed nor the worst. It
#' is never recommended for its own readings, nor `best_seen`. A setting one of whose folds fails has failed.
#'
#' With several workers folds of one setting run side by side where all of them are needed in any case; otherwise every
#' worker has a setting of its own; in a store ([work_on()]) always.
#' @section Waiting: with `wait = TRUE` that a setting was not stopped is no reason to go on with it: after two folds it
#'   waits. The next fold goes to the waiting setting with the largest posterior mean plus one sd, if that is above the
#'   best posterior mean of a complete setting, else to a new setting. While none is complete a setting is evaluated on
#'   all folds. When too few evaluations are left to complete a new setting, they go to waiting ones that can be
#'   completed. What waits in the end is `"unfinished"`.
#'
#'   What a setting on some folds is worth is then told to the bandit with its own noise variance, `noise_var` and what
#'   is due to the folds that were not seen, and told anew when further folds have moved it by a tenth of its sd (events
#'   of kind 7). A fold that is hard for one setting is hard for those beside it: \eqn{b_k}{b_k} is a Gaussian process
#'   over settings with the bandit's kernel plus a common part, \eqn{f(s)} free, variances by restricted likelihood;
#'   unseen folds are predicted from what others say of them. On three learners (`bench/results/race.md` in the sources)
#'   as good a loss takes .60 to 1.07 of the fits of a search on all folds, without waiting .62 to 1.4. The price:
#'   nothing is promised of settings that wait (what the model does not put first may be better all the same), and the
#'   work beside the evaluations is cubic in the number of settings. Not in a store, nor in [tune_gp_bandit()].
#' @param folds \eqn{K}, a whole number >= 3.
#' @param alpha the probability, in (0, 1), with which a setting may be stopped that would have won.
#' @param burn_in so many folds are evaluated before the exact rule is asked: a whole number >= 2 and < `folds` (by
#'   default 2 of three folds).
#' @param wait see *Waiting*.
#' @return An object of class `bandit_race`. A search with one has in its result: `race`, a list with `spent`
#'   (evaluations, of one fold each), `settings`, `complete`, `stopped`, `failed`, `unfinished` (numbers of settings),
#'   `saved` (folds that stopped settings were spared) and `folds` (a data.frame, a row per evaluation: `setting` (row
#'   of the history), `fold`, `reward`, `status`); and the history a row per setting, with the columns `folds` (how many
#'   were evaluated), `fold_var` (variance that is due to those that were not) and the `status` `"observed"`,
#'   `"stopped"`, `"unfinished"` (the search ended before; with `wait` `"waiting"` while it goes on), or why it failed.
#' @section Errors: a `gpbandits_error` that names the argument.
#' @section Guarantee: a setting whose mean over the \eqn{K} folds is at least the incumbent's is stopped with
#'   probability at most \eqn{\alpha} by the exact rule, for independent normal differences of one variance and an
#'   incumbent that was itself not raced (derived here:
#'   \eqn{(\bar d_K - \bar d_k)/(v\sqrt{1/k - 1/K})}{(mean_K - mean_k) / (v sqrt(1 / k - 1 / K))} has Student's
#'   distribution). The pooled rule's probability is approximate, and it takes errors \eqn{e}{e} of one variance in all
#'   settings and folds. No rule can guard against a fold that was not seen: a setting that loses on nine folds of ten
#'   by 1 and would win by 20 on the last is stopped before that one comes, in up to 70% of the orders. In simulations
#'   (test-search-race.R in the sources): no more than \eqn{\alpha} of the winners.
#' @section Elsewhere: not in [tnr("gp_bandit")][mlr3-doors]: mlr3tuning evaluates a setting on all folds at once, and
#'   keeps what it has of each for itself.
#' @seealso [maximize_bandit()].
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

race_entry <- list(settings = alist(folds = check_fold_count(folds), alpha = check_alpha(alpha),
                                    burn_in = check_burn_in(burn_in, folds),
                                    wait = if (!is.null(wait)) check_flag(wait)),
                   later = "wait")

check_alpha <- function(alpha) check_number(alpha, "alpha", lower = 0, upper = 1, open_lower = TRUE, open_upper = TRUE)

check_fold_count <- function(folds) check_count(folds, "folds", lower = 3, upper = 1e4)

check_burn_in <- function(burn_in, folds) check_count(burn_in, "burn_in", lower = 2, upper = folds - 1)

check_race <- function(race) if (!is.null(race)) check_class(race, "bandit_race", "race", hint = "race_folds()")

# Where a setting is raced to its end before the next one.
check_no_waiting <- function(race, where) {
  if (!is.null(race) && isTRUE(race$wait)) {
    stop_argument("race", paste("race_folds(wait = TRUE)", where), "race_folds() without `wait`")
  }
}

#' @export
print.bandit_race <- function(x, ...) {
  read_part(x, "bandit_race", {
    cat(sprintf("<race over %g folds, alpha = %g, burn-in %g%s>\n", x$folds, x$alpha, x$burn_in,
                if (isTRUE(x$wait)) ", settings wait" else ""))
    invisible(x)
  })
}

# ---- the rule -------------------------------------------------------------------------
# `complete`: rewards of the complete settings, a row each and a column per fold, larger is better; `reward`: those of
# the setting that is raced, NA where a fold was not evaluated.

# From so many complete settings on their table says how much differences vary.
pooled_race <- 4

# The fewest folds after which a setting may be stopped.
first_look <- function(race, settings) if (settings < pooled_race) race$burn_in else 2

is_out_of_race <- function(race, reward, complete) {
  seen <- !is.na(reward)
  k <- sum(seen)
  settings <- nrow(complete)
  first <- first_look(race, settings)
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

# Variance of a difference of two settings on a fold: twice the residual mean square of the settings x folds table; 0
# where one setting tells nothing.
pooled_difference <- function(complete) {
  m <- nrow(complete)
  if (m < 2) return(0)
  residual <- complete - rowMeans(complete) - rep(fold_effects(complete), each = m)
  2 * sum(residual^2) / ((m - 1) * (ncol(complete) - 1))
}

# How much easier each fold is than the mean.
fold_effects <- function(complete) colMeans(complete) - mean(complete)

# What a setting is worth that was evaluated on some folds only, and the variance that is due to the others.
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

# Without complete settings to compare it with: as folds differ among themselves.
unseen_var <- function(seen, folds) {
  k <- length(seen)
  if (k == folds) 0 else if (k == 1) NA_real_ else stats::var(seen) * (1 / k - 1 / folds)
}

is_race <- function(search) !is.null(search$race)

register_family("bandit_race", race_entry)
