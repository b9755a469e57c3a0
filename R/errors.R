# Conditions of the package and checks of arguments. Layer: base.

# ---- conditions ---------------------------------------------------------------

#' Conditions of the package: errors and warnings by cause
#'
#' Every error of the package has the class `gpbandits_error` and a class by its cause, for `tryCatch()` and
#' `withCallingHandlers()`. The object that a method was called on is left as it was before the call.
#'
#' An error has the fields `message`, `call` and `argument`, the name of the argument concerned (`NA` if there is
#' none). An error that another one caused has it as `parent`.
#'
#' @section Errors by cause:
#' * `gpbandits_argument_error`: an argument is missing, unknown, or has a wrong value. Change the call; the message
#'   says what is allowed or what to try.
#' * `gpbandits_state_error`: the object does not allow this call now. For example, the query has its reward already,
#'   or too few rewards are observed. Call the method that the message names first.
#' * `gpbandits_data_error`: a file, a JSON text or a row of a store or log is invalid or damaged. Restore it from a
#'   copy, or correct the row.
#' * `gpbandits_store_error`: a store or a journal cannot be read or written. If the field `again` is `TRUE`, the same
#'   call may succeed later.
#' * `gpbandits_evaluation_error`: a function of the user failed, or returned something that cannot be used. Call the
#'   function alone to find the cause. A failed evaluation in a search is no error: it is recorded in the history.
#'
#' @section Warnings by cause:
#' Each has the class `gpbandits_warning` and one of `gpbandits_argument_warning`, `gpbandits_state_warning`,
#' `gpbandits_data_warning` and `gpbandits_evaluation_warning`. A further class names the warning:
#' * `gpbandits_no_success`: no evaluation of a search succeeded. `gpbandits_no_worker`: all workers were lost.
#' * `gpbandits_far`: rewards are far from the prior mean. `gpbandits_model`: the rewards contradict the model.
#' * `gpbandits_refuted`: the confidence intervals of a level set or a safe set are contradictory.
#' * `gpbandits_refit_failed`: the hyperparameters could not be estimated again.
#' * `gpbandits_noisy`: rewards at the same point differ, but `noise = "none"`.
#' * `gpbandits_repeats`: a batch can contain the same point several times.
#' * `gpbandits_infeasible`: no point satisfies the limits with the wanted probability.
#' * `gpbandits_small_sample`: an off-policy estimate is based on few rewards.
#' * `gpbandits_outside_theorem`: a regret bound was computed outside the assumptions of its theorem.
#' * `gpbandits_left_journal`: a bandit was read from a file and its journal belongs to the original, see
#'   [open_bandit()].
#'
#' Use `suppressWarnings(..., classes = )` to silence one of them.
#' @concept error handling
#' @concept condition classes
#' @concept tryCatch
#' @seealso [gp_bandit()], [bandit_store()], [open_bandit()].
#' @examples
#' b <- gp_ucb(1:5, kernel_se(1), noise_var = 0.01)
#' q <- b$suggest()
#' b$observe(q$id, 0.3)
#' # A state error: the reward is amended instead.
#' tryCatch(b$observe(q$id, 0.4), gpbandits_state_error = function(e) b$amend(q$id, 0.4))
#' # An argument error: its message and its argument.
#' e <- tryCatch(gp_ucb(1:5, kernel_se(1), noise_var = -1), gpbandits_argument_error = identity)
#' conditionMessage(e)
#' e$argument
#' @name gpbandits_conditions
NULL

# Every condition has a class by its cause, so that a caller knows what can be done.
# `cause`: "argument", "state", "data", "store" or "evaluation". `type`: "error" or "warning". `kind`: a further class.
classed_condition <- function(type, cause, message, call = NULL, kind = NULL, fields = list()) {
  classes <- c(kind, paste(cause, type, sep = "_"), type)
  structure(class = c(paste0("gpbandits_", classes), type, "condition"),
            c(list(message = message), list(call = call), fields))
}

# `parent`: the error that caused this one. `again`: may the same call succeed later? `...`: the words.
stop_gpbandits <- function(cause, ..., argument = NA_character_, call = user_call(), parent = NULL,
                           given = NA_character_, allowed = NA_character_, kind = NULL, again = NULL) {
  fields <- c(list(argument = argument, given = given, allowed = allowed), if (!is.null(again)) list(again = again),
              if (!is.null(parent)) list(parent = parent))
  stop(classed_condition("error", cause, paste0(...), call, kind, fields))
}

# The state of an object does not allow the call.
stop_state <- function(..., argument = NA_character_, parent = NULL) {
  stop_gpbandits("state", ..., argument = argument, parent = parent)
}

# A file, a JSON text or a row is invalid.
stop_data <- function(..., argument = NA_character_, parent = NULL) {
  stop_gpbandits("data", ..., argument = argument, parent = parent)
}

# What is wrong with a part of something. The caller, who knows of what, makes it an error of the package
# (as_package_errors()).
stop_fault <- function(...) {
  stop(structure(class = c("gpbandits_fault", "error", "condition"), list(message = paste0(...), call = NULL)))
}

warn_gpbandits <- function(cause, kind, ..., call = NULL) {
  warning(classed_condition("warning", cause, paste0(...), call, kind))
}

# A bound was computed outside the assumptions of its theorem. The class allows to silence it:
# suppressWarnings(..., classes = "gpbandits_outside_theorem").
warn_outside_theorem <- function(theorem, needs, given) {
  warn_gpbandits("argument", "outside_theorem",
                 sprintf("%s needs %s, not %s: what was computed is no bound.", theorem, needs, given))
}

# ---- the forms of an argument error -------------------------------------------

#' Stop because an argument has the wrong value
#'
#' @param argument name of the argument.
#' @param given what was given, in words.
#' @param allowed what is allowed, in words.
#' @param try what to try instead, where there is one such thing.
#' @param call the call to report.
#' @return Does not return.
#' @noRd
# A message of class gpbandits_KIND.
tell <- function(kind, ...) {
  message(structure(class = c(paste0("gpbandits_", kind), "gpbandits_message", "message", "condition"),
                    list(message = paste0(..., "\n"), call = NULL)))
}

# " in row 3" of several rows.
in_row <- function(row, count) if (count > 1) sprintf(" in row %d", row) else ""

# "Row 3 of `data`", "Rows 3, 7 and 5 more of `data`", or "`x`" if it has one row.
rows_in_message <- function(arg, rows, count) {
  if (count == 1) return(sprintf("`%s`", arg))
  shown <- utils::head(rows, 5)
  sprintf("Row%s %s%s of `%s`", if (length(rows) > 1) "s" else "", paste(shown, collapse = ", "),
          if (length(rows) > 5) sprintf(" and %d more", length(rows) - 5L) else "", arg)
}

stop_argument <- function(argument, given, allowed, call = user_call(), try = NULL) {
  stop_gpbandits("argument", sprintf("`%s` must be %s, not %s.", argument, allowed, given), try_text(try),
                 argument = argument, call = call, given = given, allowed = allowed)
}

try_text <- function(try) if (!is.null(try)) paste0(" Try ", try, ".")

# What to try for arguments whose checks do not say it.
argument_examples <- c(
  evaluations = "`evaluations = 30`", rounds = "`rounds = 20`", policy = "`policy = \"ei\"`",
  kernel = "`kernel = kernel_matern(2.5)`", noise_var = "`noise_var = 0.01`", tolerance = "`tolerance = 0.1`",
  B = "`B = 1`, a bound on the norm of the function", R = "`R = 0.1`, the scale of the noise",
  name = "`name = \"experiment\"`", port = "`port = 8080`, or `port = 0` for a free port"
)

# The argument is missing, and is needed. `allowed`: what it should be.
stop_missing <- function(argument, allowed = NULL, try = NULL, call = user_call()) {
  # It may be there, by the name that it has elsewhere.
  other <- intersect(names(names_elsewhere)[names_elsewhere == argument], names(as.list(call)))
  if (length(other)) stop_unknown(other[1], use = sprintf("`%s`", argument), call = call)
  if (is.null(try) && argument %in% names(argument_examples)) try <- argument_examples[[argument]]
  what <- sprintf("%s needs `%s`%s.", call_text(call), argument, if (is.null(allowed)) "" else paste0(": ", allowed))
  stop_gpbandits("argument", what, try_text(try), argument = argument, call = call, given = "missing",
                 allowed = if (is.null(allowed)) NA_character_ else allowed)
}

# The argument has no use here.
stop_unused <- function(argument, why, call = user_call()) {
  stop_gpbandits("argument", sprintf("Leave out `%s`: %s.", argument, why), argument = argument, call = call,
                 given = "given", allowed = "left out")
}

# There is no argument of this name. `known`: those that there are; `use`: what to use instead, in words.
stop_unknown <- function(argument, known = character(), use = NULL, call = user_call()) {
  remedy <- if (is.null(use)) remedy_for(argument, known) else paste0(" Use ", use, ".")
  stop_gpbandits("argument", sprintf("Unknown argument `%s`.", argument), remedy, argument = argument, call = call,
                 given = "given", allowed = "left out")
}

# Words of other tools for what is called otherwise here: an argument, or a function.
names_elsewhere <- c(maximize = "direction", maximise = "direction", minimize = "direction", minimise = "direction",
                     direction = "direction", acq = "policy", acquisition = "policy", acq_function = "policy",
                     acq_func = "policy", n_trials = "evaluations", n_calls = "evaluations", n_iter = "evaluations",
                     iter = "evaluations", iters.n = "evaluations", budget = "evaluations", bounds = "domain",
                     space = "domain", fn = "objective", beta = "width", kappa = "width",
                     iters = "evaluations", warm_start = "data", previous = "data", history = "data",
                     batch = "n", batch_size = "n", q = "n", design = "initial_design", x0 = "initial_design",
                     n_initial_points = "n_initial", init_points = "n_initial", n_init = "n_initial",
                     sampler = "policy", n_jobs = "workers", seed = "set.seed()", random_state = "set.seed()")

remedy_for <- function(name, known) {
  meant <- if (name %in% names(names_elsewhere)) names_elsewhere[[name]] else ""
  if (meant == "direction") {
    if ("direction" %in% known) return(" Use `direction = \"minimize\"` or `minimize_bandit()`.")
    return(paste(" Rewards are maximised. To minimise y, report the reward -y, or use",
                 "`auto_bandit(direction = \"minimize\")`."))
  }
  if (meant %in% known || endsWith(meant, "()")) return(sprintf(" Use `%s`.", meant))
  if (meant == "n" && "workers" %in% known) {
    return(" Use `workers` for evaluations at the same time, or `auto_bandit()` with `$suggest(n)`.")
  }
  if (meant == "n" && "n_initial" %in% known) return(" A batch is `$suggest(n)`.")
  near <- known[utils::adist(name, known, ignore.case = TRUE) <= min(2, nchar(name) - 1)]
  if (length(near)) return(sprintf(" Did you mean `%s`?", near[1]))
  if (length(known)) paste0(" The arguments are ", paste0("`", known, "`", collapse = ", "), ".") else " Leave it out."
}

# Strings of other tools for what is called otherwise here.
strings_of_others <- c(rbf = "se", gaussian = "se", squared_exponential = "se", exponentiated_quadratic = "se",
                       matern52 = "matern", matern32 = "matern", thompson = "ts", thompson_sampling = "ts",
                       lcb = "ucb", poi = "pi", logei = "ei", contour = "map", surface = "map", heatmap = "map",
                       pareto = "front", convergence = "progress", trace = "progress")

# Which of some strings is meant, in words; NULL if that is open.
likely_choice <- function(x, choices) {
  if (!is_text(x) || length(x) != 1) return(NULL)
  word <- tolower(x)
  meant <- c(intersect(unname(strings_of_others[word]), choices), choices[startsWith(choices, word) & nzchar(word)],
             choices[utils::adist(word, choices) <= 2])
  if (length(meant)) dQuote(meant[1], FALSE)
}

# Code of the user's that should be a formula, and fails where its `~` is missing.
check_formula_code <- function(code, arg) {
  catch_error(code, function(e) {
    if (inherits(e, "gpbandits_error")) stop(e)
    stop_argument(arg, sprintf("code that fails (%s)", message_of(e)), "a formula such as ~ a + b <= 1",
                  try = sprintf("`%s = ~ ...`, with the tilde", arg))
  })
}

# A function of the user's returned something else than it should. `where`: with a blank before it.
stop_returned <- function(argument, value, allowed, where = "") {
  stop_gpbandits("evaluation", sprintf("`%s` must return %s, not %s%s.", argument, allowed, describe(value), where),
                 argument = argument, given = describe(value), allowed = allowed)
}

# The words of a call: `gp_ucb()`, `$observe()`.
call_text <- function(call) {
  name <- if (is.call(call)) call[[1]]
  if (is.call(name) && length(name) == 3) {
    method <- if (identical(name[[1]], as.name("$"))) "$" else ""
    return(sprintf("`%s%s()`", method, as.character(name[[3]])))
  }
  if (!is.symbol(name)) return("This call")
  sprintf("`%s()`", sub("\\.(GPBandit|gp_regression|default|(bandit|tune|workflow|model)_?[a-z]*)$", "", name))
}

# Describes a table that lacks required columns: the missing ones.
lacking_columns <- function(x, wanted) {
  missing <- setdiff(wanted, names(x))
  if (!is.data.frame(x) || !length(missing)) return(describe(x))
  sprintf("one without %s%s", paste0("`", missing, "`", collapse = ", "),
          if (length(names(x))) paste0(" (its columns: ", paste(names(x), collapse = ", "), ")") else "")
}

# The frame of the function that the user called: the innermost function of this package whose caller is not in it.
# 0 if there is none.
user_frame <- function() {
  own <- topenv()
  parents <- sys.parents()
  home_of <- function(frame) if (frame == 0) globalenv() else topenv(sys.frame(frame))
  # Functions of base R (lapply(), tryCatch(), do.call()) in between are skipped.
  caller_of <- function(frame) {
    repeat {
      frame <- parents[frame]
      if (frame == 0 || !identical(home_of(frame), baseenv()) && !identical(home_of(frame), .BaseNamespaceEnv)) {
        return(frame)
      }
    }
  }
  # (Calls without a name come from C++, or from do.call() with a function.)
  unnamed <- 0L
  for (frame in rev(seq_along(parents))) {
    if (!identical(home_of(frame), own) || identical(home_of(caller_of(frame)), own)) next
    if (!is.function(sys.call(frame)[[1]])) return(frame)
    unnamed <- max(unnamed, frame)
  }
  unnamed
}

# Its call; NULL if the call has a function instead of a name.
user_call <- function() {
  frame <- user_frame()
  call <- if (frame > 0) sys.call(frame)
  if (is.call(call) && !is.function(call[[1]])) call
}

# ---- words --------------------------------------------------------------------

# Short description of a value for an error message. (If methods of the value's class fail, only its type.)
describe <- function(x) {
  if (missing(x)) return("missing")
  catch_error(describe_value(x), function(e) sprintf("a broken object of type %s", typeof(x)))
}

describe_value <- function(x) {
  if (is.null(x)) return("NULL")
  if (is.function(x)) return("a function")
  if (is.data.frame(x)) return(sprintf("a data.frame of %d x %d", nrow(x), ncol(x)))
  if (is.matrix(x)) return(sprintf("a %s matrix of %d x %d", typeof(x), nrow(x), ncol(x)))
  if (is.list(x) && !is.object(x)) return(sprintf("a list of length %d", length(x)))
  if (is.atomic(x) && is.null(attr(x, "class"))) {
    if (length(x) == 0) return(sprintf("an empty %s vector", typeof(x)))
    shown <- if (is.character(x)) dQuote(readable(utils::head(x, 4)), FALSE) else format(x, trim = TRUE, digits = 7)
    if (length(x) == 1) return(shown)
    more <- if (length(x) > 4) ", ..." else ""
    return(sprintf("%s vector of length %d (%s%s)", typeof(x), length(x),
                   paste(utils::head(shown, 4), collapse = ", "), more))
  }
  sprintf("an object of class %s", paste(class(x), collapse = "/"))
}

# A number with enough digits to distinguish it from its neighbours.
exact_numbers <- function(x) {
  vapply(x, function(value) {
    for (digits in c(7, 15, 17)) {
      text <- format(value, digits = digits)
      if (isTRUE(as.double(text) == value)) break
    }
    text
  }, "")
}

# Valid text from strings that may have no valid encoding: such bytes become <ff>.
as_text <- function(x) {
  Encoding(x)[Encoding(x) == "bytes"] <- "unknown"
  broken <- !is.na(x) & !validEnc(x)
  x[broken] <- iconv(x[broken], "ASCII", "ASCII", sub = "byte")
  x
}

# The message of an error of any class, as one string.
one_text <- function(x) as_text(paste(as.character(x), collapse = " "))

# (Anything can be signalled as a condition, and it may have no message.)
# Of an error of the core these are its own words, without a sentence's capital and full stop.
message_of <- function(e) {
  if (inherits(e, "gpbandits_core")) e <- e$parent
  catch_error(one_text(conditionMessage(e)), function(broken) "an error without a message")
}

# tryCatch(code, error = otherwise), except that conditions that end the caller's computation are not treated as errors
# of `code`. All handlers of errors in this package are made by this function.
catch_error <- function(code, otherwise) {
  tryCatch(code, error = function(e) {
    pass_on_stop(e)
    otherwise(e)
  })
}

# Like try(code, silent = TRUE): for code whose failure does not matter.
attempt <- function(code) catch_error(code, function(e) NULL)

# The value of `code`, or of `otherwise(i)` after an interrupt. R warns when it restarts a promise that was interrupted,
# and a function of the package is a promise until its first use: all are forced.
catch_interrupt <- function(code, otherwise) {
  tryCatch(code, interrupt = function(i) {
    suppressWarnings(eapply(topenv(), is.null, all.names = TRUE))
    otherwise(i)
  })
}

# A time limit set by the caller, or an interrupt, is passed on unchanged. R resets a limit when it signals it: a
# handler that treats it as a failure of `code`, and continues, continues without any limit.
pass_on_stop <- function(e) if (is_stop(e)) stop(e)

# Is this condition an interrupt or an error of setTimeLimit() or setSessionTimeLimit(), or is one of these among its
# `parent`, the parent of that, and so on?
is_stop <- function(e) {
  for (depth in 1:100) {
    if (inherits(e, "interrupt") || is_time_limit(e)) return(TRUE)
    e <- if (is.list(e)) unclass(e)[["parent"]]
    if (!inherits(e, "condition")) return(FALSE)
  }
  FALSE
}

# These errors have no class, only a message in the user's language. Other packages, and Rcpp, add text before and after
# it. (R.utils::withTimeout() words its limits like R and handles them: these are failures of the code that it ran.)
is_time_limit <- function(e) {
  if (inherits(e, "TimeoutException")) return(FALSE)
  limits <- c("reached elapsed time limit", "reached CPU time limit",
              "reached session elapsed time limit", "reached session CPU time limit")
  text <- tryCatch(one_text(conditionMessage(e)), error = function(broken) {
    if (inherits(broken, "simpleError") && is.character(broken$message)) broken$message else ""
  })
  text <- gsub(" \\[cpu=[^]]*\\]", "[withTimeout]", text)
  limits <- c(limits, gettext(limits, domain = "R"))
  any(vapply(limits, function(wording) {
    grepl(wording, text, fixed = TRUE) && !grepl(paste0(wording, "[withTimeout]"), text, fixed = TRUE)
  }, NA))
}

# Strings for messages: valid text, in one line, and not too long.
readable <- function(x) {
  if (!length(x)) return(x)
  x <- as_text(x)
  known <- !is.na(x)
  odd <- known & grepl("[[:cntrl:]]", x)
  x[odd] <- encodeString(x[odd])
  long <- known & nchar(x, "chars") > 80
  x[long] <- paste0(substr(x[long], 1, 77), "...")
  x
}

# Numbers of another class may have any content: integer64 keeps integers in the bits of doubles.
is_number <- function(x) {
  is.numeric(x) && (!is.object(x) || is_series(x) ||
                      inherits(x, c("AsIs", "table", "labelled", "haven_labelled", "bandit_point")))
}

# (An object may have the class of a time series, but no times.)
is_series <- function(x) inherits(x, "ts") && !is.null(attr(x, "tsp"))

# Does an object only have the class of dates or times?
is_broken_time <- function(x) {
  if (inherits(x, "POSIXlt")) return(is.null(attempt(as.POSIXct(x))))
  inherits(x, c("Date", "POSIXct", "difftime")) && !typeof(x) %in% c("integer", "double")
}

# The elements of a plain list, dates as days.
dates_as_days <- function(x, arg) {
  x[] <- lapply(x, function(one) {
    if (is_broken_time(one)) stop_argument(arg, "one with an invalid date or time", "numbers or dates")
    if (inherits(one, "Date")) as.double(one) else one
  })
  x
}

# A factor's values as text; an error if an object only has the class of a factor.
factor_text <- function(x, arg) {
  codes <- if (typeof(x) == "integer") unclass(x)
  levels <- attr(x, "levels")
  if (is.null(codes) || !is.character(levels) || !all(codes %in% c(NA, seq_along(levels)))) {
    stop_argument(arg, "a factor whose levels are invalid", "names, numbers or a factor of names")
  }
  levels[codes]
}

# The largest variance, reward or prior mean: the squares of larger numbers overflow, and so do the inverse squares of
# numbers below 1 / largest_number.
largest_number <- 1e150

# Each check returns its (normalised) value or stops with a gpbandits_error.
check_number <- function(x, arg = deparse(substitute(x)), lower = -Inf, upper = Inf,
                         open_lower = FALSE, open_upper = FALSE, infinite = FALSE) {
  # Formatted only for an error, because these checks are part of every short call.
  delayedAssign("allowed", {
    finite <- !infinite && (lower == -Inf && upper == Inf || !missing(x) && is_number(x) && !all(is.finite(x)))
    paste0("a ", if (finite) "finite ", "number",
           range_text(lower, upper, open_lower, open_upper, if (!missing(x)) x))
  })
  if (missing(x)) stop_missing(arg, allowed)
  if (!is_number(x) || length(x) != 1 || is.na(x) || (!infinite && !is.finite(x)) ||
      x < lower || x > upper || (open_lower && x <= lower) || (open_upper && x >= upper)) {
    stop_argument(arg, describe(x), allowed)
  }
  as.double(x)
}

# Limits of the computation, which few values reach, are named for those that do: `x`, the value given.
range_text <- function(lower, upper, open_lower, open_upper, x) {
  x <- if (is_number(x)) as.double(x)
  if (upper %in% c(largest_number, .Machine$integer.max) && !any(x > upper, na.rm = TRUE)) upper <- Inf
  if (lower == -largest_number && !any(x < lower, na.rm = TRUE)) lower <- -Inf
  if (lower == 1 / largest_number && !any(x > 0 & x < lower, na.rm = TRUE)) {
    lower <- 0
    open_lower <- TRUE
  }
  low <- if (lower > -Inf) paste0(if (open_lower) " > " else " >= ", exact_numbers(lower)) else ""
  high <- if (upper < Inf) paste0(if (open_upper) " < " else " <= ", exact_numbers(upper)) else ""
  if (nzchar(low) && nzchar(high)) paste0(low, " and", high) else paste0(low, high)
}

check_count <- function(x, arg = deparse(substitute(x)), lower = 1, upper = .Machine$integer.max,
                        infinite = FALSE) {
  if (!missing(x) && is_number(x) && length(x) == 1 && is.finite(x) && x == round(x) && x >= lower && x <= upper) {
    return(as.double(x))
  }
  delayedAssign("allowed", paste0("an integer", range_text(lower, if (infinite) Inf else upper, FALSE, FALSE,
                                                            if (!missing(x)) x),
                                  if (infinite) " (or Inf)" else ""))
  if (missing(x)) stop_missing(arg, allowed)
  if (is_number(x) && length(x) == 1 && infinite && identical(as.double(x), Inf)) return(Inf)
  stop_argument(arg, describe(x), allowed)
}

check_numbers <- function(x, arg = deparse(substitute(x)), lengths = NULL, lower = -Inf,
                          upper = Inf, open_lower = FALSE, na = FALSE) {
  delayedAssign("allowed", paste0(if (!is.null(lengths)) paste0(paste(lengths, collapse = " or "), " "),
                                  if (na) "numbers or NA" else if (identical(as.double(lengths), 1)) "finite number"
                                  else "finite numbers",
                                  range_text(lower, upper, open_lower, FALSE, if (!missing(x)) x)))
  if (missing(x)) stop_missing(arg, allowed)
  if (!is_number(x) || (!is.null(lengths) && !length(x) %in% lengths)) {
    stop_argument(arg, describe(x), allowed)
  }
  known <- x[!is.na(x)]
  if ((!na && anyNA(x)) || any(!is.finite(known)) || any(known < lower) || any(known > upper) ||
      (open_lower && any(known <= lower))) {
    stop_argument(arg, describe(x), allowed)
  }
  x
}

# One number for all of `count` elements, or one for each. Returns one for each.
check_each <- function(x, count, arg = deparse(substitute(x)), ...) {
  rep_len(as.double(check_numbers(x, arg, lengths = unique(c(1, count)), ...)), count)
}

check_flag <- function(x, arg = deparse(substitute(x))) {
  if (missing(x)) stop_missing(arg, "TRUE or FALSE")
  if (!is.logical(x) || is.object(x) || length(x) != 1 || is.na(x)) stop_argument(arg, describe(x), "TRUE or FALSE")
  as.vector(x)
}

check_choice <- function(x, choices, arg = deparse(substitute(x))) {
  allowed <- paste("one of", paste(dQuote(choices, FALSE), collapse = ", "))
  if (missing(x)) stop_missing(arg, allowed)
  if (identical(x, choices)) return(choices[1])
  if (!is_text(x) || length(x) != 1 || !x %in% choices) {
    stop_argument(arg, describe(x), allowed, try = likely_choice(x, choices))
  }
  as.vector(x)
}

check_string <- function(x, arg = deparse(substitute(x))) {
  if (missing(x)) stop_missing(arg, "a string")
  if (!is_text(x) || length(x) != 1 || !nzchar(x)) stop_argument(arg, describe(x), "a string")
  as.vector(x)
}

# Is this text: strings in a known encoding (UTF-8, Latin-1, the session's), none of them missing?
is_text <- function(x) is.character(x) && !is.object(x) && !anyNA(x) && all(validEnc(x) & Encoding(x) != "bytes")

# Can these be names of inputs and arms, or levels: distinct text, none of it empty or with control characters?
are_names <- function(x) is_text(x) && all(nzchar(x)) && !anyDuplicated(x) && !any(grepl("[[:cntrl:]]", x))

# An error for objects whose methods fail, because their content does not match their class.
check_sound <- function(x, arg, allowed = "numbers or a data.frame") {
  sound <- !is.object(x) || catch_error({
    list(length(x), names(x), dim(x))
    !is_broken_time(x)
  }, function(e) FALSE)
  if (!sound) stop_argument(arg, describe(x), allowed)
}

check_names <- function(x, arg, allowed = "distinct names, of text") {
  if (!are_names(x) || length(x) == 0) stop_argument(arg, describe(x), allowed)
  as.vector(x)
}

check_function <- function(x, arg = deparse(substitute(x))) {
  if (missing(x)) stop_missing(arg, "a function")
  if (!is.function(x)) stop_argument(arg, describe(x), "a function")
  if (is.object(x)) unclass(x) else x
}

# Is a missing argument given under a similar, unknown name?
check_spelling <- function(argument, given) {
  near <- given[utils::adist(argument, as.character(given)) <= 2]
  if (length(near)) stop_unknown(near[1], use = sprintf("`%s`", argument))
}

# If a constructor of this package is given instead of the object that it makes: how to call it.
name_of_maker <- function(x) {
  if (!is.function(x)) return(NULL)
  exports <- Filter(function(name) identical(get0(name, topenv()), x), getNamespaceExports(topenv()))
  if (length(exports)) sprintf("`%s(...)`, with its parentheses", exports[1])
}

# A numeric matrix with one row per point; vectors become one column.
check_matrix <- function(x, arg = deparse(substitute(x)), columns = NULL, rows = NULL) {
  force(arg)                            # before `x` is changed
  delayedAssign("allowed", paste0("a numeric vector, matrix or data.frame of finite values",
                                  if (!is.null(rows)) paste(" with", amount_of(rows, "row")),
                                  if (!is.null(columns)) paste(" with", amount_of(columns, "column"))))
  if (missing(x)) stop_missing(arg, allowed)
  if (is.data.frame(x)) {
    check_data_frame(x, arg)
    if (!all(vapply(x, is_number, NA))) {
      stop_argument(arg, "a data.frame with columns that are not numeric", allowed)
    }
    x <- as.matrix(x)
    if (!nrow(x) && ncol(x)) storage.mode(x) <- "double"  # as.matrix() makes a logical matrix if there are no rows
  }
  if (!is_number(x) || length(dim(x)) > 2) stop_argument(arg, describe(x), allowed)
  if (length(dim(x)) == 1) x <- stats::setNames(as.vector(x), names(x))
  if (is.null(dim(x))) {
    x <- if (!is.null(columns) && columns > 1 && length(x) == columns) {
      matrix(x, nrow = 1, dimnames = list(NULL, names(x)))
    } else {
      matrix(x, ncol = 1)
    }
  }
  if (any(!is.finite(x))) stop_argument(arg, "one with values that are NA, NaN or infinite", allowed)
  if ((!is.null(columns) && ncol(x) != columns) || (!is.null(rows) && nrow(x) != rows)) {
    stop_argument(arg, describe(x), allowed)
  }
  rownames(x) <- NULL
  storage.mode(x) <- "double"
  x
}

# A valid data.frame: rectangular, with names.
check_data_frame <- function(x, arg = deparse(substitute(x))) {
  whole <- is.data.frame(x) && typeof(x) == "list" && is_text(names(x)) && length(names(x)) == length(x) &&
    all(vapply(unclass(x), NROW, 1L) == .row_names_info(x, 2L))
  if (!whole) stop_argument(arg, if (is.data.frame(x)) "an invalid one" else describe(x), "a data.frame")
  broken <- vapply(unclass(x), is_broken_time, NA)
  if (any(broken)) {
    stop_argument(arg, sprintf("one with invalid dates or times in column `%s`", names(x)[broken][1]), "a data.frame")
  }
  x
}

# Points in the users' format, a column for each of `names`: matched by name if the columns have names, else by
# position.
check_points <- function(x, names, arg, rows = NULL) {
  # (A plain list with a value, or equally many values, for each name is a data.frame.)
  if (is.list(x) && !is.object(x) && !is.null(base::names(x)) && length(unique(lengths(x))) == 1 &&
        all(vapply(x, is_number, NA))) x <- as.data.frame(x, optional = TRUE)
  check_matrix(by_name(x, names, arg), arg, columns = length(names), rows = rows)
}

# Columns of a data.frame or a matrix, or elements of a vector, in the order of `names`.
by_name <- function(x, names, arg) {
  check_sound(x, arg)
  if (length(dim(x)) == 1) x <- stats::setNames(as.vector(x), base::names(x))
  given <- if (is.null(dim(x))) base::names(x) else colnames(x)
  if (is.null(given) || identical(given, names) || made_up(given)) return(x)
  if (!is_text(given)) stop_argument(arg, paste("one with the names", quoted(given)), "one whose names are text")
  if (is.null(dim(x)) && length(names) == 1 && all(given == names)) return(unname(x))
  if (anyDuplicated(given) || !setequal(given, names)) {
    stop_argument(arg, paste("one with the names", quoted(given)),
                  sprintf("without names or with the names %s", quoted(names)))
  }
  if (is.null(dim(x))) x[names] else x[, names, drop = FALSE]
}

# Default names that expand.grid() and as.data.frame() give to columns without names.
made_up <- function(names) {
  any(vapply(c("Var", "V"), function(letter) identical(names, paste0(letter, seq_along(names))), NA))
}

# "1 input", "2 inputs".
amount_of <- function(n, word) sprintf("%s %s%s", format(n, scientific = FALSE), word, if (n == 1) "" else "s")

quoted <- function(names, most = 8) {
  shown <- paste(dQuote(readable(as.vector(utils::head(unclass(names), most))), FALSE), collapse = ", ")
  if (length(names) > most) sprintf("%s, ... (%d in all)", shown, length(names)) else shown
}

# Calls a user's function. Its error becomes one of this package that states which function
# failed and `where`; errors that already are of this package are passed on.
call_user <- function(code, arg, where) {
  catch_error(code, function(e) {
    if (inherits(e, "gpbandits_error")) stop(e)
    stop_gpbandits("evaluation", "`", arg, "` failed ", where, ": ", message_of(e), argument = arg, parent = e)
  })
}

# `...` that a function does not pass on must be empty: this detects misspelt names. Allowed are the
# arguments of the function that the user called, and `allowed` if that function passes its own `...` on.
check_dots_empty <- function(..., allowed = character()) {
  if (...length() == 0) return(invisible())
  frame <- user_frame()
  if (frame > 0) allowed <- union(names(formals(sys.function(frame))), allowed)
  allowed <- setdiff(allowed, "...")
  given <- ...names()
  if (is.null(given)) given <- rep("", ...length())
  name <- given[1]
  if (is.na(name) || !nzchar(name)) {
    stop_gpbandits("argument", sprintf("There is no argument for the unnamed value %s. ", describe(...elt(1))),
                   "Name it: the arguments are ", paste0("`", allowed, "`", collapse = ", "), ".", argument = "...")
  }
  stop_unknown(name, allowed)
}

check_probability <- function(feasible) check_number(feasible, "feasible", lower = 0, upper = 1, open_lower = TRUE,
                                                     open_upper = TRUE)

is_optional_count <- function(optional, design) {
  is.integer(optional) && length(optional) == 1 && optional %in% 0:length(design$arm)
}

# `why`: why an argument has no use here.
check_absent <- function(value, arg, why) {
  if (!is.null(value)) stop_unused(arg, why)
}

# A function of q whose values are checked at each call.
positive_function <- function(f, arg) {
  check_function(f, arg)
  function(q) {
    value <- call_user(f(q), arg, sprintf("at q = %g", q))
    if (!is_number(value) || length(value) != 1 || is.na(value) || value <= 0 ||
        (arg == "ridge" && !is.finite(value))) {
      stop_returned(arg, value, "one number > 0", sprintf(" at q = %g", q))
    }
    as.double(value)
  }
}
