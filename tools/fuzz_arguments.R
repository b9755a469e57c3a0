# Strange values for every argument of every export, one call after the other: an answer or an error of ours.
#   Rscript tools/fuzz_arguments.R SEED SECONDS FOLDER
# Run by tools/fuzz.R in a process of its own, since what it looks for may kill R. FOLDER/now has the call under way,
# FOLDER/faults those that ended in another's error or without end, FOLDER/calls their number.

arguments <- commandArgs(TRUE)
seed <- as.integer(arguments[1])
seconds <- as.numeric(arguments[2])
folder <- normalizePath(arguments[3])
suppressMessages(library(gpbandits))
here <- setwd(file.path(folder, "work"))                   # where paths that are no paths end
grDevices::pdf(NULL)

# ---- what is given ------------------------------------------------------------

classes <- c("bandit_width", "bandit_gain", "bandit_kernel", "bandit_policy", "bandit_pending", "bandit_changes",
             "bandit_constraints", "bandit_penalty", "bandit_stop", "bandit_param", "bandit_rewards", "bandit_refit",
             "bandit_outputs", "bandit_noise", "bandit_delay", "bandit_problem", "bandit_run", "bandit_comparison",
             "bandit_maximum", "bandit_store", "bandit_service", "bandit_test_function", "bandit_check", "gp_regression",
             "gp_fit", "GPBandit", "BanditRival", "data.frame", "factor", "Date", "POSIXct", "difftime", "formula",
             "ParamSet", "parameters", "workflow", "model_spec", "SQLiteConnection", "integer64")
forged <- unlist(lapply(classes, function(class) {
  bodies <- list(list(), list(kind = "ts", type = "sum"), 1, NULL, "a", new.env(), function() 1,
                 list(type = NA, kind = NA, config = 1, domain = 1, bandit = 1, data = 1, parts = list(1), x = 1))
  lapply(bodies, function(body) if (is.null(body)) NULL else tryCatch(structure(body, class = class), error = function(e) NULL))
}), recursive = FALSE)
for (domain in c("finite", "box", "product", "search")) {
  both <- c(paste0(domain, "_domain"), "bandit_domain")
  forged <- c(forged, list(structure(list(), class = both), structure(list(type = domain), class = both),
                           structure(list(type = domain, names = "x1", x = 1, lower = 1, upper = 0, rows = 1, box = 1, params = 1),
                                     class = both)))
}
latin <- "caf\xe9"
Encoding(latin) <- "latin1"
bytes <- "\xff\xfe"
Encoding(bytes) <- "bytes"
words <- list("a", "", NA_character_, "\xff\xfe", latin, bytes, "caf\xc3\xa9", strrep("x", 1e5), "/no/such/path", ".", "~",
              "http://127.0.0.1:1/x", "a\nb", "%s%d", "\\", "NULL", c("a", "a"), character(), c(a = "b", "\xff"), "mean", "x1")
numbers <- list(0, 1, -1, 2, 0.5, 1e308, -1e308, 1e160, 1e-320, -1e-320, NaN, NA, NA_real_, NA_integer_, Inf, -Inf, 2^31, 2^53, 1e10, -0.0,
                1i, raw(2), 1:3, c(1, NA), c(1, Inf), numeric(), integer(), c(a = 1, 2), c(a = 1, a = 2), 1e6, 3L,
                stats::setNames(1:2, c("\xff", NA)))
shapes <- list(NULL, TRUE, FALSE, logical(), list(), list(1), list(a = 1), list(a = NULL), list(list(list())), list(lower = 1, upper = 0),
               list(u = c(0, 1)), list("\xff" = c(0, 1)), matrix(0, 0, 0), matrix(1, 2, 2), matrix(NA, 1, 1), matrix("a"), matrix(list(1)),
               array(1, c(1, 1, 1)), matrix(1e308, 2, 2), diag(3), data.frame(), data.frame(x = 1:2, y = c("a", "b")),
               data.frame(id = 1, reward = NA), structure(list(1:3, 1), class = "data.frame", row.names = 1:3),
               structure(list(x = 1), class = "data.frame"), structure(99L, levels = "a", class = "factor"),
               factor(c("a", "b")), as.Date("2026-01-01"), Sys.time(), emptyenv(), globalenv(), quote(x), quote(stop("x")),
               expression(1), ~ x, y ~ x, ~ system("true"), structure(1, dim = 1L), structure(1:2, names = NULL, odd = "x"))
functions <- list(mean, sum, `[`, function() 1, function(...) stop("own"), function(...) NULL, function(...) NaN, function(...) 1e308,
                  function(...) "a", function(...) -1, function(...) TRUE, function(...) list(1), function(x) x, function(x, y) x,
                  function(...) 1, function(...) stop(structure(class = c("own", "error", "condition"), list(message = 1, call = NULL))))
strange <- c(words, numbers, shapes, functions, forged)

# Arguments by their names that work in most places.
x9 <- seq(0, 1, length.out = 9)
kernel <- kernel_se(0.3)
played <- gp_ucb(x9, kernel, 0.1)
set.seed(1)
for (t in 1:3) played$observe(played$suggest()$id, sin(t))
problem <- bandit_problem(x9, sin(x9), noise_gaussian(0.1))
run <- run_bandit(played$copy(), problem, 2)
good <- list(domain = x9, kernel = kernel, noise_var = 0.1, policy = policy_ucb(1), x = x9, y = sin(x9), bandit = played, problem = problem,
             rounds = 2, B = 1, R = 1, delta = 0.1, width = width_constant(1), base = 1, m = 2, epoch = 2, step = 1, bound = 1,
             penalty = penalty_exponential(), level = 0.1, accuracy = 0.1, threshold = -2, seed = 2, lower = 0, upper = 1, value = 1,
             f = function(...) 1, delta = 0.1, objective = function(x) sum(unlist(x)), evaluations = 3, forget = change_never(),
             a = 1, b = 1, r = 1, d = 1, D = 1, nu = 2.5, horizon = 9, epsilon = 0.1, K = diag(9), levels = c("a", "b"), reward = sin(x9),
             tolerance = 1, n = 2, sd = 1, mean = 1, half_width = 1, log = run, name = "branin", object = played, rate = 0.5, window = 3,
             times = 2, ridge = sqrt, radius = 0.2, alpha = 1, variance_kernel = kernel, bandits = list(a = function(p) played),
             problems = problem, replications = 1, rule = NULL, policy = policy_ucb(1), rows = x9, box = list(u = c(0, 1)), points = x9,
             contexts = NULL, epochs = 2, gain = 1, algorithm = "gp_ucb", text = "{}", Delta = 1, b_y = 1, clip = rewards_clip(1, 1))
own <- list(penalty = c(rival_epbo = 1), mean = c(gp_ucb = 0))
shown <- function(value) {
  text <- tryCatch(paste(deparse(value, nlines = 2), collapse = " "), error = function(e) paste("no text of", typeof(value)))
  substr(iconv(text, "", "ASCII", "?"), 1, 80)
}
# Has the package a method of its own for this?
is_ours <- function(name, value) {
  for (class in class(value)) {
    method <- utils::getS3method(name, class, optional = TRUE)
    if (!is.null(method)) return(identical(topenv(environment(method)), asNamespace("gpbandits")))
  }
  FALSE
}

exports <- setdiff(getNamespaceExports("gpbandits"), c("GPBandit", "bandit_service"))
methods <- c("print", "summary", "plot", "predict", "as.data.frame", "format", "update", "simulate", "logLik")
targets <- do.call(rbind, lapply(sort(exports), function(name) {
  f <- get(name, asNamespace("gpbandits"))
  if (is.function(f) && length(formals(f))) data.frame(name = name, argument = names(formals(f)))
}))

# Methods of a bandit (on a copy), with arguments that work.
methods_of_bandit <- list(
  suggest = list(n = 1, context = NULL, time = NULL, arms = NULL, fixed = NULL), observe = list(id = 4, reward = 1, constraints = NULL, noise_var = NULL),
  add = list(x = 0.5, arm = NULL, reward = 1, constraints = NULL, context = NULL, noise_var = NULL), add_arms = list(x = 1.5, mean = NULL),
  amend = list(id = 1, reward = 2), withdraw = list(id = 4), fail = list(id = 4), posterior = list(x = NULL, context = NULL, arm = NULL),
  draw = list(n = 1, context = NULL), best = list(context = NULL), certificate = list(rule = NULL, context = NULL), history = list(draws = NULL)
)
played$suggest()

call_of_method <- function(method, argument, value) {
  given <- methods_of_bandit[[method]]
  given[argument] <- list(value)
  bandit <- played$copy()
  before <- bandit$history()
  outcome <- tryCatch(do.call(eval(call("$", bandit, method)), given, quote = TRUE), error = identity)
  if (!inherits(outcome, "error")) return(outcome)
  if (!identical(bandit$history(), before)) stop("a call that was refused has changed the bandit")
  stop(outcome)
}

# ---- calls --------------------------------------------------------------------

given_to <- function(name, argument, value) {
  wanted <- names(formals(get(name, asNamespace("gpbandits"))))
  given <- good[intersect(wanted, names(good))]
  if (name == "rival_epbo") given$penalty <- 1
  given[if (argument == "...") "odd" else argument] <- list(value)
  given
}

# "" or what was wrong.
fault_of_call <- function(code) {
  setTimeLimit(elapsed = 20, transient = TRUE)
  on.exit(setTimeLimit())
  tryCatch({
    utils::capture.output(suppressMessages(suppressWarnings(code)))
    ""
  }, gpbandits_error = function(e) if (is.character(conditionMessage(e))) "" else "a message that is none",
  error = function(e) {
    message <- tryCatch(paste(conditionMessage(e)), error = function(e) "no message")
    if (inherits(e, "own")) "" else paste("foreign:", paste(class(e), collapse = "/"), substr(message, 1, 200))
  })
}

note <- function(file, text) cat(iconv(text, "", "ASCII", "?"), "\n", file = file.path(folder, file), append = file != "now", sep = "")

set.seed(seed)
# (Random numbers of the calls do not change what comes next.)
draws <- matrix(stats::runif(2e6), ncol = 2)
end <- proc.time()[["elapsed"]] + seconds
calls <- 0
while (proc.time()[["elapsed"]] < end && calls < nrow(draws)) {
  calls <- calls + 1
  value <- strange[[1 + floor(draws[calls, 2] * length(strange))]]
  if (calls %% 12 == 0) {
    name <- methods[1 + (calls %/% 12) %% length(methods)]
    value <- forged[[1 + floor(draws[calls, 1] * length(forged))]]
    if (!is_ours(name, value)) next
    what <- sprintf("%s(%s)", name, shown(value))
    note("now", what)
    fault <- fault_of_call(get(name)(value))
  } else if (calls %% 12 == 6) {
    method <- names(methods_of_bandit)[1 + floor(draws[calls, 1] * length(methods_of_bandit))]
    argument <- names(methods_of_bandit[[method]])
    argument <- argument[1 + (calls %/% 12) %% length(argument)]
    what <- sprintf("$%s(%s = %s)", method, argument, shown(value))
    note("now", what)
    fault <- fault_of_call(call_of_method(method, argument, value))
  } else {
    target <- targets[1 + floor(draws[calls, 1] * nrow(targets)), ]
    what <- sprintf("%s(%s = %s)", target$name, target$argument, shown(value))
    note("now", what)
    fault <- fault_of_call(do.call(get(target$name, asNamespace("gpbandits")), given_to(target$name, target$argument, value), quote = TRUE))
  }
  if (nzchar(fault)) note("faults", paste0(what, ": ", fault))
  if (calls %% 50 == 0) cat(calls, file = file.path(folder, "calls"))
}
cat(calls, file = file.path(folder, "calls"))
cat("done", file = file.path(folder, "now"))
