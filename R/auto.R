#' A bandit with good defaults, to ask and tell
#'
#' For the person with a spreadsheet: experiments are made by hand, results come days later. A [gp_bandit()] with the defaults of
#' [maximize_bandit()]: rewards scaled and, where it pays, transformed ([scale_outputs()]), a Matern 5/2 kernel with a lengthscale per input,
#' priors, refits. All that goes in or comes out is in the reward's own units and sign.
#'
#' The first suggestions are points of a space-filling design (action `"explore"` in the history), fewer by the rows of `data`; they are chosen when the bandit
#' is made, with R's generator. Then the policy is asked.
#'
#' An experiment that came to nothing (`$fail(id)`) counts as the worst reward so far, so that its neighbourhood is avoided, as in [maximize_bandit()]; its `reward`
#' stays `NA`. What the first rewards mean (one has no scale, none says nothing) is on the page of [scale_outputs()].
#'
#' @inheritParams maximize_bandit
#' @param data a data.frame of experiments that were made already: a column per input and `reward`, in the order of the ids they get. Where `reward` is
#'   `NA` the experiment is under way; `$observe()` tells its result.
#' @param ... further arguments of [gp_bandit()].
#' @param design number of points of the design; `NULL`: `max(4, 5 * inputs)`. As many fewer are asked as `data` has rows.
#' @param failures `"avoid"`, or `"forget"`: see [gp_bandit()].
#' @param journal,store,trust as in [gp_bandit()].
#' @return A `GPBandit`, see [gp_bandit()].
#' @section Errors: a `gpbandits_error` that names the argument.
#' @section Guarantee: none with fitted hyperparameters.
#' @seealso [maximize_bandit()] where the computer makes the experiments.
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
                        noise_var = 0.01, policy = default_policy(), pending = pending_hallucinate(),
                        refit = default_refit(), prior_noise = default_prior_noise, prior_lengthscale = "auto",
                        transform = c("auto", "none", "power"), failures = c("avoid", "forget"), journal = NULL,
                        store = NULL, trust = FALSE) {
  domain <- as_domain(domain)
  known <- check_initial(data, domain, "data", unknown = TRUE)
  if (is.null(design)) design <- max(4, 5 * length(domain$names))
  design <- max(0, check_count(design, lower = 0) - length(known$reward))
  check_alone_with_store(store, list(journal = journal))
  bandit <- scaled_bandit(domain, direction, kernel, noise_var, policy, pending, refit, prior_noise, prior_lengthscale,
                          transform, failures = check_choice(failures, c("avoid", "forget")), ...)
  inside <- as.environment(bandit)
  if (design > 0) inside$config$design <- design_places(domain, design)
  if (!is.null(journal)) start_journal(inside, journal, check_flag(trust))
  if (!is.null(store)) start_store(inside, store)
  add_in_order(bandit, known)
  bandit
}

# Points with and without rewards, in their order.
add_in_order <- function(bandit, known) {
  stretches <- split(seq_along(known$reward), cumsum(c(0, diff(is.na(known$reward)) != 0)))
  for (rows in stretches) {
    x <- known$x[rows, , drop = FALSE]
    if (is.na(known$reward[rows[1]])) bandit$add(x = x) else bandit$add(x = x, reward = known$reward[rows])
  }
}
