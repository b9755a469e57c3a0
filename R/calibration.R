# Help page: calibration and limits of the reported numbers. Layer: bandit.

#' What the numbers mean, where they come from, where they fail
#'
#' A mean, an sd, a probability, an importance, a certificate: all are sentences about a model that was fitted to a few
#' numbers. This page says which sentence each is, what was measured about it, and when not to believe it.
#'
#' @section What each number says:
#'   \tabular{lll}{
#'     number \tab is \tab is not \cr
#'     `mean` of `$posterior()`, `predict()` \tab the *expected* reward at a point, given all rewards and the model \tab
#'       the next reading: that has noise besides \cr
#'     `sd` \tab how far the expected reward may be from `mean` (a standard deviation, no interval: some two of them
#'       hold 95%) \tab the spread of readings; a standard error of repetitions \cr
#'     `value`, `sd` of [maximize_bandit()]; `$best()` \tab the same at the recommended point, the one with the best
#'       mean \tab the best reading (`best_seen`), which is better than what it will give again \cr
#'     `feasible` of [outcomes] \tab the probability that the expected values keep all limits \tab the share of readings
#'       that will \cr
#'     `total` of [input_importance()] \tab the share of the mean's variance that an input has a part in \tab a test of
#'       whether it matters: `lower`, `upper` say how surely \cr
#'     [check_model()] \tab what the rewards say against the model, by points left out and by what each reward was
#'       expected to be \tab a proof of it: it sees where was played, not the maximum that was missed \cr
#'     `$certificate()` \tab how large the regret of a point may still be, with what probability, on `assumptions` \tab
#'       a guarantee where `probability` is `NA` \cr
#'     `width` of a theorem ([widths]) \tab how many sds an interval needs that holds for all rounds together \tab what
#'       is likely: such intervals are wide \cr
#'   }
#'
#' @section Where they come from: [maximize_bandit()], [auto_bandit()] and the doors of mlr3 and tidymodels do not know
#'   the noise, the lengthscales or the variance of your function. They fit them to its rewards, every two rounds, by
#'   their posterior density, and keep up to ten models with weights ([refit_every()], `average`; from 15 inputs on
#'   four, and more rarely): a few rewards may be all noise or a rough function without any, and one model would promise
#'   as if only one of these could be. Means, sds, draws, expected improvement, importance, checks and certificates are
#'   of the average. `summary()` prints the ranges of the models' parameters. Priors stand for what a new user does not
#'   say: noise next to none or nearly all, lengthscales about those of the inputs' ranges, levels of a factor neither
#'   equal nor strangers. If you know more, say so by `noise_prior`,
#'   `lengthscale_prior` and `noise_var` of [gp_model()]. A bandit made by
#'   [gp_bandit()] or a preset without `refit` has the one model that it was given: its numbers are right if that is,
#'   and some have theorems ([guarantees]).
#'
#' @section What was measured: searches with known truth, of which it is asked how far it is from `value`
#'   (`bench/promise.R` in the sources, all its numbers with seeds in `bench/results/promise.md`). With 25 evaluations
#'   in 4 inputs and 16 seeds for each case, share of searches with the truth beyond 3 `sd` of `value`, one model at its
#'   best hyperparameters (with the priors of then) and the average that is the default now:
#'
#'   | truth | one model | average |
#'   |---|---:|---:|
#'   | flat, nothing but noise | .94 | .00 |
#'   | a bowl, noise a third of its sd | .38 | .00 |
#'   | one input of four matters, noise | .62 | .00 |
#'   | a bowl without noise | .00 | .00 |
#'
#'   The defaults were chosen on these seeds. A share of 16 searches is known to about .06 at best. On 16 seeds that
#'   nothing was chosen on (101 to 116) the average had none of the 64 truths beyond 3 `sd`, and all within 2; where a
#'   factor of four levels matters beside two inputs, .88 of 16 within 2 and .06 beyond 3. Of 8 seeds each, all else
#'   alike: in nine inputs 3 of 8 were beyond 3 `sd` and 5 within 2, a promise *not* kept (of 80 further seeds 4 beyond
#'   and 69 within 2); one reading in 30 a gross outlier: none beyond, one evaluation in ten failing: none, nothing but
#'   noise in nine inputs: none. With 50 evaluations, on seeds on which one detail alone was settled (901 to 915), 17
#'   kinds of problems: of 255 truths .922 within 2 `sd` and .027 beyond 3 (.855 and .035 while the distribution of
#'   rewards alone decided whether they are bent, see [scale_outputs()]); without those of BBOB, of which below, .96
#'   and 0. With 20 evaluations .910 and .047. What averages cost the search: on 24 functions of BBOB without noise in 2
#'   inputs (60 evaluations) the mean log10 gap is .05 larger, with a standard error of .14. Rules to stop, on functions
#'   drawn from the very prior (`bench/results/stopping.md`): of 200 certified by `stop_prb(0.1, 0.05)` 1 had more
#'   regret than said, of 200 by `stop_gap()` with [width_srinivas_finite()] none. They were *not* measured with fitted
#'   hyperparameters: there they say what follows from the models, and `assumptions` says that.
#'
#' @section Where they fail:
#'   * Few rewards (less than some five for each input that matters): the averages are then mostly priors.
#'     [input_importance()] prints that nothing can be said yet.
#'   * A function that is not alike everywhere: a cliff, a narrow peak, a region where noise is larger. The models are
#'     stationary; `transform` bends rewards, not inputs. A peak that no evaluation was near is in no number on this
#'     page. Of 60 searches on such functions with noise (BBOB, 50 evaluations, seeds 901 to 915) 0.80 were within 2
#'     `sd` and 0.12 beyond 3: often the floor of a narrow valley is taken for noise, and the truth is better than
#'     promised. (`smoothness` of [refit_every()] averages over rougher models, too.)
#'   * Outliers and failures: a heavy tail is taken for noise everywhere ([rewards_robust()], `$amend()`); failures
#'     count as the worst reward, with doubt (`failures` of [gp_bandit()]).
#'   * Noise that depends on where: `noise_var` of single rewards, where it is known.
#'   * The best of many: `best_seen` is the luckiest reading. Believe `value`, or repeat the point.
#'   * A truth that moves while one looks ([changes]), rewards that come late *because* they are bad: all that is said
#'     assumes that when a reward comes does not depend on it.
#'   * Many inputs, few evaluations: in nine inputs that all matter 25 evaluations promised too much in 7 searches
#'     of 88. So few points are as likely under a smooth function without any noise; then the luckiest reading is
#'     believed. If you know the noise, give `noise_prior` of [gp_model()], or repeat the recommended
#'     point.
#'   * Ten models are ten models: what none of them can be, the average cannot be either. [check_model()] is the way to
#'     find out, and its one line stands in `summary()` and `$certificate()`.
#'
#' @section What to do: read the line of [check_model()]; repeat the recommended point a few times, if a wrong promise
#'   is dear; look at `lower` and `upper` of importances before an input is dropped; take `probability` of a certificate
#'   with its `assumptions` or not at all.
#' @seealso [check_model()], [stopping], [guarantees], [refit_every()].
#' @examples
#' set.seed(1)
#' found <- minimize_bandit(function(p) rnorm(1, 0.25, 0.02), list(a = c(0, 1), b = c(0, 1)), 12)
#' c(truth = 0.25, value = found$value, sd = found$sd, best_reading = found$best_seen$reward)
#' input_importance(found)
#' summary(found$bandit)$check
#' @name calibration
NULL
