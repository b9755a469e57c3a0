# Shared by the tests of safety: bad values by kind, small bandits, and what "unchanged" means.

# ---- bad values, by kind of argument -----------------------------------------

not_numbers <- list(NULL, "1", TRUE, NA, factor("a"), list(1), mean, quote(x), as.Date("2020-01-01"),
                    1i, character(), new.env())
not_scalars <- c(not_numbers, list(c(1, 2), numeric(), NA_real_, NaN, matrix(1, 2, 2)))
not_objects <- list(NULL, 1, "a", NA, list(), mean, structure(list(), class = "something"))

bad_values <- list(
  number = c(not_scalars, list(Inf, -Inf)),
  nonnegative = c(not_scalars, list(Inf, -Inf, -1, -1e-300)),
  positive = c(not_scalars, list(Inf, -Inf, -1, 0)),
  probability = c(not_scalars, list(Inf, -Inf, -1, 0, 1, 2)),
  count = c(not_scalars, list(Inf, -Inf, -1, 0, 1.5, 1e10)),
  count0 = c(not_scalars, list(Inf, -Inf, -1, 0.5, 1e10)),
  count0_infinite = c(not_scalars, list(-Inf, -1, 0.5, 1e10)),
  whole = c(not_scalars, list(Inf, -Inf, 0.5, 1e10)),
  numbers = c(not_numbers, list(NaN, Inf, c(1, NA), c(1, -Inf))),
  positives = c(not_numbers, list(NaN, Inf, 0, -1, c(1, NA), c(1, 0))),
  flag = list(NULL, NA, 1, "TRUE", c(TRUE, FALSE), logical(), list(TRUE), mean),
  width = list(-1, NaN, "a", NA, c(1, 2), list(), mean, structure(list(), class = "something")),
  fun = list(NULL, 1, "mean", NA, list(mean), quote(x)),
  object = not_objects,
  word = list(NULL, 1, NA, NA_character_, "no such thing", character(), list("a"), mean),
  points = list(NULL, "a", c(TRUE, FALSE), factor("a"), list(1, 2), mean, NA_real_, c(1, NaN), c(1, Inf),
                data.frame(a = NA_character_), data.frame(), array(1, c(2, 2, 2)), matrix("a", 1, 1)),
  dims = list(0, -1, 1.5, NA, c(1, 1), c("a", "a"), "", TRUE, list(1), mean, numeric(), Inf),
  gain = list(NULL, "a", -1, NA_real_, Inf, c(1, 2), TRUE, list(), numeric()),
  covariance = list(NULL, "a", NA_real_, c(1, 2), matrix(1, 2, 3), matrix(c(1, 2, 3, 4), 2), -diag(2),
                    matrix(c(1, 2, 2, 1), 2), matrix(c(1, NA, NA, 1), 2), list(1), mean, matrix(0, 0, 0)),
  which = list(NULL, NA, 3, 0, "zz", c(TRUE, FALSE, TRUE), list(TRUE), mean),
  file = list(NULL, 1, NA_character_, "", character(), c("a", "b"), TRUE, list("a"), mean, file.path(tempdir(), "no", "such")),
  never = list(1, "a", TRUE, list(), mean)    # arguments that must be NULL so far
)

# How a value is shown in a message, if that is unambiguous.
shown_in_message <- function(value) {
  if (is.null(value)) return("NULL")
  if (is.function(value)) return("a function")
  if (!is.atomic(value) || length(value) != 1 || !is.null(attributes(value))) return(NULL)
  if (is.character(value)) paste0("\"", value, "\"") else format(value, digits = 6)
}

# Does a message have one of the forms: wrong value, missing, of no use here, unknown?
has_form_of_error <- function(text, argument) {
  forms <- c("^`%s` must (be|return) .+, not .+\\.$", "^(`.+\\(\\)`|This call) needs `%s`.*\\.$", "^Leave out `%s`: .+\\.$",
             "^Unknown argument `%s`\\. .+\\.$")
  any(vapply(sprintf(forms, argument), grepl, NA, text))
}

# "" if `code` ends in a gpbandits_error about `argument`; otherwise the fault.
# A good message states the argument, the value given and the values allowed.
fault_of_error <- function(code, argument, value, exact = TRUE) {
  error <- tryCatch({
    code
    NULL
  }, error = identity)
  if (is.null(error)) return("no error")
  text <- conditionMessage(error)
  if (!inherits(error, "gpbandits_error")) return(paste("an error of class", class(error)[1], ":", text))
  if (!identical(error$argument, argument)) return(paste("another argument is blamed:", text))
  if (!has_form_of_error(text, argument)) return(paste("not the form of an error:", text))
  shown <- if (exact && startsWith(text, paste0("`", argument, "` must be"))) shown_in_message(value)
  if (length(shown) && !grepl(shown, text, fixed = TRUE)) return(paste("the message does not show", shown, ":", text))
  ""
}

described_value <- function(value) substr(paste(deparse(value), collapse = " "), 1, 60)

# ---- small bandits ------------------------------------------------------------

safe_x <- seq(0, 1, length.out = 12)
safe_kernel <- kernel_se(0.25)

played <- function(bandit, context = NULL) {
  set.seed(1)
  for (t in 1:4) {
    query <- bandit$suggest(context = context)
    bandit$observe(query$id, sin(3 * t))
  }
  for (k in 1:2) bandit$suggest(context = context)
  bandit
}

safe_bandits <- list(
  ucb = function() played(gp_ucb(safe_x, safe_kernel, 0.01)),
  ts = function() played(gp_ts(safe_x, safe_kernel, 0.01, B = 1, R = 0.1, gain = function(s) s)),
  engine = function() played(gp_ei(safe_x, safe_kernel, 0.01, engine = "played")),
  delayed = function() played(gp_ucb_sdf(safe_x, safe_kernel, 0.01, m = 3)),
  contexts = function() played(gp_ucb(safe_x, kernel_se(c(0.25, 0.5)), 0.01, contexts = cbind(z = c(0, 1))), 1),
  open = function() played(gp_ucb(safe_x, kernel_se(c(0.25, 0.5)), 0.01, contexts = "z"), 0.3),
  box = function() played(gp_ucb(list(u = c(0, 1)), safe_kernel, 0.01, width = width_constant(2)))
)

context_of <- function(bandit) if (length(bandit$config$context_names)) 1

# All that a user can see of a bandit, and its log.
snapshot_of <- function(bandit) {
  list(history = bandit$history(), posterior = bandit$posterior(safe_x, context_of(bandit)),
       gain = bandit$information_gain(),
       events = lapply(c(kind = "kind", id = "id", reward = "reward"),
                       function(name) log_column(bandit, name)))
}

next_of <- function(bandit) {
  force(bandit)
  set.seed(99)
  rbind(bandit$suggest(context = context_of(bandit)), bandit$suggest(context = context_of(bandit)))
}

# Waits until condition() is TRUE. The ten minutes are an emergency brake: an error then names what did not come.
# (`what` is evaluated then only.) Long waits ask less often, a tenth of the time so far apart: a question can be as costly as
# a connection to a database.
wait_until <- function(condition, what, pause = 0.01) {
  began <- proc.time()[["elapsed"]]
  while (!condition()) {
    waited <- proc.time()[["elapsed"]] - began
    if (waited > 600) stop("waited ten minutes in vain for ", what)
    Sys.sleep(if (pause > 0) max(pause, min(waited / 10, 0.5)) else 0)
  }
}

lines_in <- function(file) if (file.exists(file)) length(readLines(file, warn = FALSE)) else 0L

# ---- other processes ------------------------------------------------------------

# A shell command, run as soon as this process has ended in any way: processes that it has started end with it.
at_our_end <- function(command) {
  if (is.null(at_end_of_us$commands)) {
    # (Outside of the folder that R removes as it ends.)
    at_end_of_us$commands <- tempfile("gpb-end", tmpdir = dirname(tempdir()))
    run_after <- function(pid) {
      paste("sh", shQuote(normalizePath(testthat::test_path("after.sh"))), pid, shQuote(at_end_of_us$commands),
            "</dev/null >/dev/null 2>&1")
    }
    # (In a separate session, so that a signal to our group does not reach it.)
    system(paste(if (nzchar(Sys.which("setsid"))) "setsid", run_after(Sys.getpid())), wait = FALSE)
    # A normal end waits for the commands: R CMD check searches for files that are left.
    ordered <- run_after("now")
    reg.finalizer(at_end_of_us, function(self) system(ordered), onexit = TRUE)
  }
  cat(paste0(command, "\n"), sep = "", file = at_end_of_us$commands, append = TRUE)
}
at_end_of_us <- new.env()

# Runs R code in a fresh process that has the package; returns its standard output. `shell`: commands that the shell
# that starts it does first.
run_child <- function(code, shell = "") {
  testthat::skip_on_os("windows")
  installed <- find.package("gpbandits")
  testthat::skip_if_not(file.exists(file.path(installed, "Meta", "package.rds")), "the package is not installed")
  file <- tempfile(fileext = ".R")
  on.exit(unlink(file))
  writeLines(c(sprintf(".libPaths(%s)", paste(deparse(c(dirname(installed), .libPaths())), collapse = "")), code), file)
  command <- paste(shell, shQuote(file.path(R.home("bin"), "Rscript")), "--vanilla", shQuote(file))
  suppressWarnings(system2("sh", c("-c", shQuote(command)), stdout = TRUE, stderr = TRUE))
}
