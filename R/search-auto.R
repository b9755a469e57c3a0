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
#' @param belief where the optimum is expected to lie: [belief_normal()], or a function that returns log densities of
#'   points.
#' @param design number of points of the design; `NULL`: `max(4, 5 * inputs)` (`2 * inputs` from 15 inputs on), with
#'   `related` 3 of them and what is needed of the others. As many fewer are asked as `data` has rows.
#' @param failures `"doubt"`, `"avoid"` or `"forget"`: see [gp_bandit()].
#' @param contexts `NULL`, or contexts that every experiment is made in, known when it is asked for and not chosen, as
#'   in [gp_bandit()]: `$suggest(context = )`.
#'   Lengthscales begin at the ranges of those that are listed, else of those in `data`, else at 1: contexts not known
#'   beforehand are best given in
#'   units in which they differ by about one.
#' @param related `NULL`, or earlier campaigns, a named list such as `list(may = old_data)`: see [related].
#' @param journal,store,trust as in [gp_bandit()].
#' @param outcomes,limits what the numbers of an experiment are for, as in [maximize_bandit()]: `data` has a column for
#'   each instead of `reward` (with `limits`, beside it). What is `NA` there, or has no column, is under way: an outcome
#'   that is added later is awaited of all old rows (status `"partial"`), and `$observe()` or `$withdraw()` settles it.
#' @return A `GPBandit`, see [gp_bandit()].
#' @section Editing a space midway: `auto_bandit(new_space, data = old$history())` goes on in other bounds, or with a
#'   further input. Rows of `data` whose numbers are outside of the bounds of a box, of a [product_domain()]'s box or of
#'   a [search_space()] (also of its shares, as long as they add up) are observations like any others: they stand in
#'   `$history()`, the posterior and refits know them, and so does the scale of the rewards. But none of them counts for
#'   `design`, is the place that expected improvement is measured from, or comes out of `$best()`, `$front()`,
#'   `$suggest()`; a message names them. An added input is a further column of `data`, with the value that it had in the
#'   old rows: `cbind(old$history(), stir = 3)`. Columns of inputs that are no more are to be left out. Errors: levels
#'   that the new space has not, fractions of whole numbers, numbers <= 0 of a logarithmic input, rows within the bounds
#'   that break `where` or have more shares above 0 than `most`, rows that are none of finitely many arms or of a
#'   product's rows, and any rows outside where a policy or rewards choose among the places that were played
#'   ([policy_duel()], for one).
#' @section Before the first refit: a refit is made before a query (see [refit_every()]), and none before the design has
#'   been asked for. Until the first one `$best()`, `$posterior()` and all that is made of them go by the refit that is
#'   due, from as many rewards on as `refit` wants (5), made on a copy, once until there is news; with fewer they go by
#'   what the bandit begins with, and say little.
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
auto_bandit <- function(domain, data = NULL, direction = c("maximize", "minimize"), ..., design = NULL, kernel = NULL,
                        noise_var = 0.01, policy = default_policy(outcomes), pending = pending_hallucinate(),
                        refit = if (is.null(related)) default_refit(domain) else related_refit(),
                        prior_noise = default_prior_noise, prior_lengthscale = "auto",
                        transform = c("auto", "none", "power"),
                        failures = c("doubt", "avoid", "forget"), contexts = NULL,
                        belief = NULL, related = NULL, journal = NULL, store = NULL, trust = FALSE, outcomes = NULL,
                        limits = NULL) {
  domain <- as_domain(domain)
  given <- check_contexts(contexts, domain)
  if (!missing(direction)) check_no_direction_beside(outcomes)
  outcomes <- outcomes_of_search(outcomes, limits, direction)
  known <- check_experiments(data, domain, unknown = TRUE, contexts = given$names, outcomes = outcomes,
                         find = places_anywhere)
  believed <- prepared_belief(belief, domain)
  check_belief_alone(belief, outcomes)
  if (!is.null(believed)) policy <- with_belief(policy, believed, 10)
  campaigns <- check_related(related, domain, given$names)
  check_related_alone(related, list(limits = limits, outcomes = outcomes))
  rows <- length(known$failed) - sum(known$outside)
  certain <- max(0, if (is.null(design)) related_design_size - rows else Inf)
  if (is.null(design)) design <- default_design(domain)
  design <- max(0, check_count(design, lower = 0) - rows)
  check_alone_with_store(store, list(journal = journal))
  bandit <- scaled_bandit(domain, direction, kernel, noise_var, policy, pending, refit, prior_noise, prior_lengthscale,
                          transform, failures = check_choice(failures, c("doubt", "avoid", "forget")), ...,
                          contexts = contexts, outcomes = outcomes,
                          context_sides = if (!is.null(contexts)) context_sides(given, known$contexts))
  inside <- as.environment(bandit)
  check_outside_is_data(inside, known$outside)
  if (!is.null(campaigns)) relate(inside, campaigns)
  if (design > 0) inside$config$design <- believed_design(domain, design, believed, related_first(inside))
  if (!is.null(campaigns)) inside$config$related$optional <- as.integer(max(0, design - certain))
  if (!is.null(journal)) start_journal(inside, journal, check_flag(trust))
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
