# `auto_bandit()`. Layer: interface.

#' A bandit with good defaults, to ask and tell
#'
#' For the person with a spreadsheet: experiments are made by hand, results come days later. A [gp_bandit()] with the
#' defaults of [maximize_bandit()]: rewards scaled and, where it pays, transformed ([scale_outputs()]), a Matern 5/2
#' kernel with a lengthscale per input, priors, refits. All that goes in or comes out is in the reward's own units and
#' sign.
#'
#' The first suggestions are points of a space-filling design (action `"explore"` in the history), fewer by the rows of
#' `data`; they are chosen when the bandit is made, with R's generator. Then the policy is asked.
#'
#' An experiment that came to nothing (`$fail(id)`) counts as the worst reward so far, with the doubt of [gp_bandit()]'s
#' `failures = "doubt"`, as in [maximize_bandit()]; its `reward` stays `NA`. What the first rewards mean (one has no
#' scale, none says nothing) is on the page of [scale_outputs()].
#'
#' @inheritParams maximize_bandit
#' @param data a data.frame of experiments that were made already: a column per input (and context) and `reward`, in
#'   the order of the ids they get. Where `reward` is
#'   `NA` the experiment is under way; `$observe()` tells its result. Or the `$history()` of another bandit, or of a
#'   search: what is under way there
#'   is under way here, what has failed has failed, and what was withdrawn is left out. Rows may lie outside of the
#'   space: see below. An optional column `noise_var` has the noise variances of single rewards, `NA` for the bandit's
#'   (with several outcomes `NAME_noise_var`). A history has it where any was given, and `size` and `spread` of
#'   rewards that are means of several readings.
#' @param ... further arguments of [gp_bandit()].
#' @param n_initial number of points of the design, an integer >= 0; each row of `data` replaces one. `NULL`:
#'   `max(4, 5 * inputs)` (`2 * inputs` from 15 inputs on); with `transfer` 3, and further ones if earlier campaigns
#'   explain little.
#' @param initial_design points that are suggested first, in the form of `domain`'s inputs, instead of `n_initial` drawn
#'   ones. `NULL`: they are drawn.
#' @param prior_optimum prior over the optimum's location: [prior_normal()], or a function that returns log densities of
#'   points. `NULL`: none.
#' @param failures `"doubt"`, `"avoid"` or `"forget"`: see [gp_bandit()].
#' @param contexts `NULL`, or contexts that every experiment is made in, known when it is asked for and not chosen, as
#'   in [gp_bandit()]: `$suggest(context = )`.
#'   Lengthscales begin at the ranges of those that are listed, else of those in `data`, else at 1: contexts not known
#'   beforehand are best given in
#'   units in which they differ by about one.
#' @param control [search_control()], of which `pending` and `trust` have an effect. By default pending points are
#'   hallucinated and no functions are written to a journal.
#' @param journal,store as in [gp_bandit()].
#' @param outcomes,limits what the numbers of an experiment are for, as in [maximize_bandit()]: `data` has a column for
#'   each instead of `reward` (with `limits`, beside it). What is `NA` there, or has no column, is under way: an outcome
#'   that is added later is awaited of all old rows (status `"partial"`), and `$observe()` or `$withdraw()` settles it.
#' @return A `GPBandit`, see [gp_bandit()].
#' @section Editing a space midway: `auto_bandit(new_space, data = old$history())` goes on in other bounds, or with a
#'   further input. Rows of `data` whose numbers are outside of the bounds of a box, of a [product_domain()]'s box or of
#'   a [search_space()] (also of its shares, as long as they add up) are observations like any others: they stand in
#'   `$history()`, the posterior and refits know them, and so does the scale of the rewards. But none of them counts for
#'   `n_initial`, is the place that expected improvement is measured from, or comes out of `$best()`, `$front()`,
#'   `$suggest()`; a message names them. An added input is a further column of `data`, with the value that it had in the
#'   old rows: `cbind(old$history(), stir = 3)`. Columns of inputs that are no more are to be left out. Errors: levels
#'   that the new space has not, fractions of whole numbers, numbers <= 0 of a logarithmic input, rows within the bounds
#'   that break `where` or have more shares above 0 than `most`, rows that are none of finitely many arms or of a
#'   product's rows, and any rows outside where a policy or rewards choose among the places that were played
#'   ([policy_duel()], for one).
#' @section Before the first refit: a refit is made before a query (see [refit_every()]), and none before the design has
#'   been asked for. Until the first one `$best()`, `$posterior()` and all that is made of them go by the refit that is
#'   due, from as many rewards on as the model's `refit` wants (5), made on a copy, once until there is news; with fewer
#'   they go by what the bandit begins with, and say little.
#' @section Repeats: a point whose reward is pending is not suggested again while the space has other points. If
#'   possible no point lies within 1% of all inputs' ranges of a pending one. (Under [pending_ignore()] neither holds.)
#'   Points with observed rewards are suggested again only if the noise matters. It counts as negligible if the noise
#'   variance, averaged over the fitted models, is at most 0.001 for rewards scaled to variance 1. Bandits with
#'   `contexts` always count as noisy. When every point of a finite space is used up, points are repeated.
#' @section The recommended point: `$best()` is the point with the largest posterior mean, or an observed point if its
#'   mean is equal. If the noise is negligible (see *Repeats*), it is the observed point with the best reward, unless
#'   the largest mean exceeds that reward by more than a posterior standard deviation. An optimum between the points
#'   of a rough function is often an artefact of the model.
#'   Under limits it is the largest mean of the objective where the limits hold with the asked probability, and at
#'   least as good as every observed point where they do.
#' @section Errors: a `gpbandits_error` that names the argument.
#' @section Guarantee: none with fitted hyperparameters.
#' @seealso [maximize_bandit()] where the computer makes the experiments; [calibration] for what its numbers mean.
#' @examples
#' set.seed(1)
#' known <- data.frame(temp = c(50, 70, 90), acid = c(1, 3, 2), yield = c(61, 78, 70))
#' names(known)[3] <- "reward"
#' b <- auto_bandit(list(temp = c(40, 100), acid = c(0, 5)), known)
#' four <- b$suggest(4)
#' four
#' b$observe(data.frame(id = four$id, reward = c(75, 64, 81, 58)))
#' b$best()
#' @export
auto_bandit <- function(domain, data = NULL, direction = c("maximize", "minimize"), ..., n_initial = NULL,
                        initial_design = NULL, model = gp_model(), policy = default_policy(outcomes),
                        failures = c("doubt", "avoid", "forget"), contexts = NULL, outcomes = NULL, limits = NULL,
                        prior_optimum = NULL, transfer = NULL, control = search_control(), journal = NULL,
                        store = NULL) {
  check_not_moved(...names())
  domain <- as_domain(domain)
  control <- check_control(control, c("pending", "trust"), "auto_bandit()")
  given <- check_contexts(contexts, domain)
  if (!missing(direction)) check_no_direction_beside(outcomes)
  outcomes <- outcomes_of_search(outcomes, limits, direction)
  known <- check_experiments(data, domain, unknown = TRUE, contexts = given$names, outcomes = outcomes,
                         find = places_anywhere)
  prior <- prepared_prior_optimum(prior_optimum, domain)
  check_prior_optimum_alone(prior_optimum, outcomes)
  if (!is.null(prior)) policy <- with_prior_optimum(policy, prior, 10)
  campaigns <- check_transfer(transfer, domain, given$names)
  check_transfer_alone(transfer, list(limits = limits, outcomes = outcomes))
  rows <- length(known$failed) - sum(known$outside)
  first <- given_design(initial_design, n_initial, domain)
  certain <- max(0, if (is.null(n_initial)) transfer_design_size - rows else Inf)
  count <- if (is.null(n_initial)) default_design(domain) else check_count(n_initial, lower = 0)
  count <- if (is.null(first)) max(0, count - rows) else 0
  check_alone_with_store(store, list(journal = journal))
  bandit <- scaled_bandit(domain, direction, model, policy, control$pending, ...,
                          failures = check_choice(failures, c("doubt", "avoid", "forget")), contexts = contexts,
                          outcomes = outcomes, transfer = !is.null(transfer),
                          context_sides = if (!is.null(contexts)) context_sides(given, known$contexts))
  inside <- as.environment(bandit)
  check_outside_is_data(inside, known$outside)
  if (!is.null(campaigns)) start_transfer(inside, campaigns)
  if (count > 0) first <- design_from_prior(domain, count, prior, transfer_first(inside))
  inside$config$design <- first
  if (!is.null(campaigns)) inside$config$transfer$optional <- as.integer(max(0, count - certain))
  if (!is.null(journal)) start_journal(inside, journal, control$trust)
  if (!is.null(store)) start_store(inside, store)
  add_in_order(bandit, known)
  bandit
}

# (Rules, and what compares queries, choose among the places that were played.)
check_outside_is_data <- function(bandit, outside) {
  if (!any(outside)) return(invisible())
  if (has_rule(bandit) || compares_queries(bandit$config)) {
    stop_argument("data", "one with rows outside of the space",
                  "points of the space, for this policy or these rewards")
  }
  rows <- which(outside)
  message("Data outside of the space, known, and never chosen: row ", paste(utils::head(rows, 5), collapse = ", "),
          if (length(rows) > 5) sprintf(", ... (%d rows)", length(rows)), ".")
}
