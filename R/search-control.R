# `search_control()`: the settings of a search's evaluations. Layer: search.

#' Control how a search runs its evaluations
#'
#' `search_control()` sets parallel evaluation, time limits, repeated attempts, messages and the progress bar of a
#' search.
#'
#' The object is for argument `control` of [maximize_bandit()], [minimize_bandit()], [auto_bandit()] and
#' [tune_gp_bandit()]. The mlr3 integrations [opt("gp_bandit")][mlr3-integration] and
#' [tnr("gp_bandit")][mlr3-integration] use it, too.
#'
#' @param pending pending rule: how points are suggested while others are being evaluated, see [pending]. An object, or
#'   a string such as `"ignore"`. Default: [pending_hallucinate()], so that parallel evaluations differ.
#' @param timeout seconds that one evaluation may take, a number > 0. `Inf`, the default: no limit. See *Time limits*.
#' @param attempts number of evaluations of a point if its worker dies or its time runs out, an integer >= 1. 2, the
#'   default: one repetition.
#' @param verbose `TRUE`: a message for each evaluation. `FALSE`, the default: none.
#' @param progress `TRUE`: a progress bar with an estimate of the time left, by package progressr if it has a handler.
#'   `FALSE`: none. `NULL`, the default: a bar in interactive sessions, after two seconds.
#' @param trust `TRUE`: functions among the settings may be written to a journal, and run when it is opened, see
#'   [open_bandit()]. `FALSE`, the default: an error in [auto_bandit()]; [maximize_bandit()] trusts functions of its
#'   call.
#' @section Where they apply:
#' A setting without effect is an error if it differs from its default.
#'
#' * [maximize_bandit()] and [minimize_bandit()] use all of them.
#' * [auto_bandit()] uses `pending` and `trust`.
#' * [opt("gp_bandit")][mlr3-integration] and [tnr("gp_bandit")][mlr3-integration] use `pending`. bbotk has the other
#'   settings.
#' * [tune_gp_bandit()] uses `verbose`. `tune::control_bayes()` has the other settings.
#' @section Time limits:
#' An evaluation that takes longer than `timeout` is recorded as "timed out". A result that it returns later does not
#' count.
#'
#' * **Several workers, or a store**: the evaluation is ended, also in `Sys.sleep()`, `system()` and compiled code. With
#'   a store it runs in a separate process, see [work_on()].
#' * **One worker, no store**: `timeout` is R's own time limit ([setTimeLimit()]). It ends R code, but neither
#'   `Sys.sleep()` nor compiled code: the `reason` then states when the evaluation ended. It replaces a limit that you
#'   have set. With `Inf` your limit is kept, and ends the search.
#' @return An object of class `search_control`.
#' @section Errors: A `gpbandits_error` names the argument.
#' @seealso [gp_model()] for the model of a search; [parallel-search] for several workers.
#' @concept parallel
#' @concept timeout
#' @concept progress bar
#' @examples
#' search_control(timeout = 60)
#' set.seed(1)
#' found <- minimize_bandit(function(p) (p$x - 2)^2, list(x = c(1, 3)), evaluations = 6,
#'                          control = search_control(verbose = TRUE))
#' @export
search_control <- function(pending = pending_hallucinate(), timeout = Inf, attempts = 2, verbose = FALSE,
                           progress = NULL, trust = FALSE) {
  new_part("search_control")
}

search_control_entry <- list(settings = alist(
  pending = as_part(pending, "bandit_pending", "pending", hint = "pending_hallucinate(), ..."),
  timeout = check_number(timeout, "timeout", lower = 0, open_lower = TRUE, infinite = TRUE),
  attempts = check_count(attempts, "attempts"),
  verbose = check_flag(verbose, "verbose"),
  progress = check_progress(progress),
  trust = check_flag(trust, "trust")
))

# `used`: the settings that have an effect in the calling function. Other settings are an error unless they have their
# default.
check_control <- function(control, used = names(control), where = NULL) {
  check_class(control, "search_control", "control", hint = "search_control()")
  other <- setdiff(names(control), used)
  asked <- other[!mapply(identical, unclass(control)[other], unclass(search_control())[other])]
  if (length(asked)) {
    stop_gpbandits("argument",
                   sprintf("`%s` of search_control() has no effect in %s, which uses %s. Leave it out.", asked[1],
                           where, paste0("`", used, "`", collapse = " and ")), argument = asked[1])
  }
  control
}

#' @export
print.search_control <- function(x, ...) {
  check_class(x, "search_control")
  text <- c(pending = first_line(x$pending),
             timeout = if (is.finite(x$timeout)) sprintf("%g s for one evaluation", x$timeout) else "none",
             attempts = sprintf("%g for each point", x$attempts),
             verbose = if (x$verbose) "a message for each evaluation" else "no messages",
             progress = if (is.null(x$progress)) "a progress bar in interactive sessions"
                        else if (x$progress) "a progress bar" else "no progress bar",
             trust = if (x$trust) "functions are written to a journal and run from it"
                     else "functions in the file of a journal are an error")
  cat("<control of a search>\n")
  cat(sprintf("  %-8s  %s\n", names(text), text), sep = "")
  invisible(x)
}

register_family("search_control", search_control_entry)
