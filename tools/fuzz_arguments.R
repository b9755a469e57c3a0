# Strange values for every argument of every export, one call after the other: an answer or an error of ours.
#   Rscript tools/fuzz_arguments.R SEED SECONDS FOLDER
# Run by tools/fuzz.R in a process of its own, since what it looks for may kill R. FOLDER/now has the call under way,
# FOLDER/faults those that ended in another's error or without end, FOLDER/calls their number, FOLDER/long those that asked for so
# much that R's time limit came first.

arguments <- commandArgs(TRUE)
seed <- as.integer(arguments[1])
seconds <- suppressWarnings(as.numeric(arguments[2]))
folder <- normalizePath(arguments[3])
suppressMessages(library(gpbandits))
# (It swallows the time limit that strikes while it works, and the call would go on for ever.)
invisible(compiler::enableJIT(0))
source("tests/testthat/helper-mutations.R")
here <- setwd(file.path(folder, "work"))                   # where paths that are no paths end
grDevices::pdf(NULL)

# ---- what is given ------------------------------------------------------------

classes <- c("bandit_width", "bandit_gain", "bandit_kernel", "bandit_policy", "bandit_pending", "bandit_changes",
             "bandit_constraints", "bandit_stop", "bandit_param", "bandit_rewards", "bandit_refit",
             "bandit_outputs", "bandit_noise", "bandit_delay", "bandit_problem", "bandit_run", "bandit_comparison",
             "bandit_maximum", "bandit_store", "bandit_test_function", "bandit_check", "gp_regression",
             "gp_fit", "GPBandit", "ScriptedBandit", "data.frame", "factor", "Date", "POSIXct", "difftime", "formula",
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
functions <- list(mean, sum, `[`, function() 1, function(...) 1e150, function(...) stop("own"), function(...) NULL, function(...) NaN, function(...) 1e308,
                  function(...) "a", function(...) -1, function(...) TRUE, function(...) list(1), function(x) x, function(x, y) x,
                  function(...) 1, function(...) stop(structure(class = c("own", "error", "condition"), list(message = 1, call = NULL))))
invalid <- c(words, numbers, shapes, functions, forged)

# Arguments by their names that work in most points.
x9 <- seq(0, 1, length.out = 9)
kernel <- kernel_se(0.3)
played <- gp_ucb(x9, kernel, 0.1)
set.seed(1)
for (t in 1:3) played$observe(played$suggest()$id, sin(t))
problem <- bandit_problem(x9, sin(x9), noise = 0.1)
run <- run_bandit(played$copy(), problem, 2)
good <- list(domain = x9, kernel = kernel, noise_var = 0.1, policy = policy_ucb(1), x = x9, y = sin(x9), bandit = played, problem = problem,
             rounds = 2, B = 1, R = 1, delta = 0.1, width = width_constant(1), base = 1, m = 2, epoch = 2, step = 1, bound = 1,
             penalty = "exponential", level = 0.1, accuracy = 0.1, threshold = -2, seed = 2, lower = 0, upper = 1, value = 1,
             f = function(...) 1, delta = 0.1, objective = function(x) sum(unlist(x)), evaluations = 3, forget = change_never(),
             a = 1, b = 1, r = 1, d = 1, D = 1, nu = 2.5, horizon = 9, epsilon = 0.1, K = diag(9), levels = c("a", "b"), reward = sin(x9),
             tolerance = 1, n = 2, sd = 1, mean = 1, half_width = 1, log = run, name = "branin", object = played, rate = 0.5, window = 3,
             times = 2, ridge = sqrt, radius = 0.2, alpha = 1, variance_kernel = kernel, bandits = list(a = function(p) played),
             problems = problem, replications = 1, rule = NULL, policy = policy_ucb(1), rows = x9, box = list(u = c(0, 1)), points = x9,
             contexts = NULL, epochs = 2, gain = 1, algorithm = "gp_ucb", text = "{}", Delta = 1, b_y = 1)
# What an export needs besides: calls that answer, one of which is spoilt ("--reach" prints those that do not).
square <- list(u = c(0, 1), v = c(0, 1))
surface <- gp_regression(cbind(u = x9, v = rev(x9)^2), sin(9 * x9), kernel_se(c(0.3, 0.5)), 0.1)
boxed <- gp_ei(square, kernel, 0.1)
boxed$add(cbind(u = x9, v = x9^2), reward = sin(x9))
fitted <- gp_fit(x9, sin(9 * x9), kernel)
space <- search_space(a = param_real(0.01, 1, log = TRUE), b = param_factor(c("x", "y"), features = data.frame(p = 1:2)),
                      n = param_integer(1, 9, when = ~ b == "y"))
shares <- search_space(m = param_shares(c("p", "q", "r")), t = c(0, 1))
two <- list(yield = to_maximize(), cost = at_most(0.5))
front <- list(yield = to_maximize(), cost = to_minimize())
answers <- function(p) c(yield = 1 - p[["u"]]^2, cost = p[["u"]])
database <- function(name) bandit_store("fuzz.sqlite", name)
kept_store <- if (requireNamespace("RSQLite", quietly = TRUE)) {
  begun <- gp_ucb(x9, kernel, 0.1, store = database("kept"))
  database("kept")
}
parts_of <- function(...) list(domain = x9, kernel = kernel, noise_var = 0.1, ...)
invisible(gp_ucb(x9, kernel, 0.1, journal = "kept.journal")$suggest())
own <- list(
  at_least = list(list(limit = 1)),
  at_most = list(list(limit = 1, kernel = kernel, noise_var = 0.1, mean = 0)), in_range = list(list(lower = 0, upper = 1, noise_var = 0.1)),
  auto_bandit = list(list(domain = square, data = data.frame(u = 0.5, v = 0.5, reward = 1), n_initial = 2),
                     list(domain = space), list(domain = shares),
                     list(domain = square, outcomes = two), list(domain = square,
                                                                 prior_optimum = prior_normal(u = c(0.5, 0.2))),
                     list(domain = square, outcomes = front[2:1], n_initial = 2)),
  bandit_problem = list(list(domain = x9, reward = sin(x9), noise = 0.1, delay = 1),
                        list(domain = square, reward = function(x) x[, 1], contexts = NULL, optimum = 1),
                        list(domain = x9, reward = cbind(yield = sin(x9), cost = x9), outcomes = two)),
  bandit_store = list(list(con = "fuzz.sqlite", name = "own", seed = 1)), prior_normal = list(list(u = c(0.5, 0.2))),
  box_domain = list(list(lower = c(0.1, 1), upper = c(1, 3), names = c("u", "v"), integer = c(FALSE, TRUE), log = c(TRUE, FALSE))),
  bpe = list(parts_of(rounds = 9, B = 1, R = 0.1, wait = "rewards"), parts_of(rounds = 9, B = 1, R = 0.1, wait = "rounds", extra = 1)),
  calibrate_detector = list(list(x = rep(x9, 3), y = sin(9 * rep(x9, 3)), kernel = kernel, nu = 1, permutations = 19)),
  change_oracle = list(list(times = 5), list(window = 3), list(rate = 0.5, by = "weights"), list(every = 4)),
  change_detect = list(list(threshold = function(n) 1, ridge = sqrt)),
  change_statistic = list(list(x = x9[1:8], y = sin(x9[1:8]), kernel = kernel, ridge = 1)),
  check_model = list(list(object = played), list(object = fitted, by = "place")),
  compare_bandits = list(list(bandits = list(a = function(p) gp_ucb(x9, kernel, 0.1)), problems = problem, rounds = 2, replications = 1, seed = 1)),
  detect_change = list(list(x = x9, y = sin(x9), kernel = kernel, threshold = 2, ridge = sqrt)),
  evaluate_policy = list(list(log = data.frame(arm = 1:9, reward = sin(x9), propensity = 1 / 9), bandit = played, method = "snips", draws = 5)),
  from_json = list(list(text = as_json(played))),
  gp_bandit = list(parts_of(policy = policy_ucb(1)), list(domain = x9, kernel = kernel, policy = policy_ts(1), rewards = rewards_binary()),
                   list(domain = x9, kernel = kernel, policy = policy_duel(1), rewards = rewards_preferences()),
                   parts_of(policy = policy_ei(), outcomes = two), parts_of(policy = policy_ehvi(), outcomes = front),
                   parts_of(policy = policy_ucb(1), contexts = "z"), list(domain = space, kernel = kernel_se(0.3, dims = "a"), noise_var = 0.1, policy = policy_ei()),
                   list(domain = square, kernel = kernel, noise_var = 0.1, policy = policy_ts(1), engine = "lowrank", refit = refit_every(3)),
                   parts_of(policy = policy_ucb(1), pending = pending_hallucinate(), journal = NULL,
                            initial_design = x9[1:2], failures = "avoid")),
  gp_fit = list(list(x = x9, y = sin(9 * x9), kernel = kernel, noise_var = 0.1, starts = 1, iterations = 5)),
  gp_ts = list(parts_of(width = width_constant(1)), parts_of(B = 1, R = 0.1)), gp_ucb = list(parts_of(), parts_of(outcomes = two)),
  gp_ucb_cpd = list(parts_of(changes = change_oracle(3), width = 2)),
  gp_ucb_drift = list(parts_of(forget = change_oracle(window = 3)), parts_of(forget = "window", variation = 1, horizon = 9, gain = 2)),
  input_importance = list(list(x = boxed, points = 16)),
  kernel_categorical = list(list(features = data.frame(p = 1:3, q = c(1, 0, 2)))),
  gp_ucb_lengthscale = list(parts_of(B = 1, R = 0.1), parts_of(B = 1, R = 0.1, method = "balanced", rate = sqrt)),
  information_gain = list(list(kernel = kernel, x = x9, noise_var = 0.1, rounds = 3)),
  maximize_bandit = list(list(objective = sum, domain = square, evaluations = 3), list(objective = answers, domain = square, evaluations = 3, outcomes = two),
                         list(objective = function(p) p$a, domain = space, evaluations = 3, data = data.frame(a = 0.5, b = "x", n = NA, reward = 1)),
                         list(objective = function(x, fold) x[["u"]] + fold, domain = square, evaluations = 3, race = race_folds(3)),
                         list(objective = function(x, fidelity) x[["u"]] * fidelity, domain = square, evaluations = 3, fidelity = c(0.5, 1)),
                         list(objective = sum, domain = square, evaluations = 3,
                              prior_optimum = prior_normal(u = c(0.5, 0.2)), stop_when = stop_stalled(2))),
  norm_check = list(list(bandit = played, R = 0.1)), open_bandit = list(list(x = "kept.journal"), list(x = kept_store, like = NULL)),
  rewards_robust = list(list(), list(clip = 1), list(moment = 1, alpha = 1, rounds = 9)),
  param_integer = list(list(lower = 1, upper = 9, log = TRUE)), param_real = list(list(lower = 0.1, upper = 1, log = TRUE, when = ~ b == "x")),
  param_shares = list(list(names = c("p", "q", "r"), total = 2, lower = 0.1, upper = 1, most = 2)),
  param_factor = list(list(levels = c("a", "b"), features = data.frame(p = 1:2))), policy_duel = list(list(width = 1, rule = "game")),
  plan_experiments = list(list(domain = x9, kernel = kernel, noise_var = 0.1, tolerance = 1.5, B = 1, R = 0.1, drift = 0.1)),
  policy_hypervolume = list(list(width = 1, reference = c(0, 0), draws = 4)), policy_ehvi = list(list(reference = c(0, 0))),
  benchmark_problem = list(list(name = "rate_allocation", grid = 3), list(name = "small_feasible", grid = 9)),
  race_folds = list(list(folds = 5)), refit_every = list(list(rounds = 3, average = 3)),
  rewards_ordinal = list(list(levels = 3), list(levels = c("a", "b", "c"), cuts = c(0, 1))),
  regret_bound = lapply(eval(formals(regret_bound)$theorem), function(theorem) {
    # (Of a likelihood: at least what is called kappa there.)
    values <- list(noise_var = if (theorem %in% c("glm", "duel")) 10 else 0.1, arms = 9, delta = 0.1, B = 1, R = 0.1, B_y = 1, m = 2, rho = 0.5, a = 1, b = 1, side = 1, d = 1, nu = 2.5, Delta = 1,
                   D = 1, epoch = 2, step = 1, Q = 1, M = 1, slater = 1, epochs = 5, width = 2, constraint_width = 2, moment = 1, alpha = 1, penalty = 1,
                   growth = sqrt, norm_growth = sqrt, guard = 1, contexts = 2, looks = 2, constant = 1, change_points = 3)
    known <- names(formals(gpbandits:::regret_theorems()[[theorem]]))
    c(list(theorem = theorem, rounds = 9), if ("gain" %in% known) list(gain = 2), values[setdiff(intersect(known, names(values)), switch(theorem, gp_ts = c("d", "side", "L"), ucb = "B"))])
  }),
  baseline_constrained = list(parts_of(method = "admmbo", tolerance = c(1, 1)), parts_of(method = "epbo", penalty = 1),
                              parts_of(method = "epbo", penalty = sqrt), list(method = "oco", domain = square),
                              parts_of(method = "ckb", step = 1, bound = 1)),
  safe_opt = list(parts_of(threshold = -2, seed = 2, B = 1, R = 0.1), parts_of(threshold = -2, seed = 2, by = "data", lipschitz = 9, noise_bound = 0.1)),
  scale_outputs = list(list(direction = "minimize", centre = 0, scale = 1)),
  search_space = list(list(a = c(0, 1), b = c("u", "v"), where = ~ a <= 1), list(m = param_shares(c("p", "q")), k = param_integer(1, 3)),
                      list(square), list(space)),
  tune_gp_bandit = list(list(object = "none")),
  width_corrupt = list(list(base = width_amm(1, 0.1), total = 1)), width_fixed = list(list(B = 1, R = 0.1, looks = 3, drift = 0.1)),
  width_srinivas_box = list(list(a = 1, b = 1, r = 1, d = 1, slack = 1)),
  work_on = list(list(store = kept_store, objective = function(p) 1, until = function(b) nrow(b$history()) > 1, heartbeat = FALSE))
)
# A valid object of each kind, to be given with something in it changed.
whole <- list(kernel, kernel_matern(1.5, c(0.2, 0.3)) + kernel_linear(), kernel_categorical(features = data.frame(p = 1:3)), width_amm(1, 0.1), width_fixed(1, 0.1, looks = 2),
              width_corrupt(width_amm(1, 0.1), 1), width_glm(1), width_dmm(1, 0.1), policy_ucb(width_sdf(1)), policy_ei(), policy_ei(incumbent = "draws"), policy_hypervolume(1), policy_duel(1),
              policy_eims(), pending_censor(2), change_oracle(window = 2), change_detect(function(n) 1, sqrt), constraints_noisy(epoch = 2, step = 1), stop_gap(1, 2),
              stop_prb(1), param_shares(c("p", "q")), param_factor(c("a", "b"), features = data.frame(p = 1:2)), rewards_ordinal(3), rewards_preferences(ties = TRUE), rewards_preferences("rankings"),
              rewards_robust(clip = 1), rewards_robust(), refit_every(3, average = 2), scale_outputs(), 1, function(n) rpois(n, 1), race_folds(3),
              to_maximize(), in_range(0,
                                                              1), prior_normal(u = c(0.5,
                                                                                     0.2)), finite_domain(x9), box_domain(0, 1), product_domain(1:2, square),
              space, shares, problem, run, played, two, front, gain_rate(), benchmark_function("branin"), surface,
              plan_experiments(x9, kernel, 0.1, 1.5, B = 1, R = 0.1), data.frame(id = 1:2, reward = 1:2), list(u = c(0, 1)), ~ cost <= 2 & yield >= 1)
shown <- function(value) {
  text <- tryCatch(paste(deparse(value, nlines = 2), collapse = " "), error = function(e) paste("no text of", typeof(value)))
  substr(iconv(text, "", "ASCII", "?"), 1, 80)
}
# Has the package a method of its own for this?
is_trusted <- function(name, value) {
  for (class in class(value)) {
    method <- utils::getS3method(name, class, optional = TRUE)
    if (!is.null(method)) return(identical(topenv(environment(method)), asNamespace("gpbandits")))
  }
  FALSE
}

exports <- setdiff(getNamespaceExports("gpbandits"), "bandit_service")
methods <- c("print", "summary", "plot", "predict", "as.data.frame", "format", "update", "simulate", "logLik")
# (Presets pass on what gp_bandit() takes, and others have arguments of their own kinds.)
passed_on <- function(name, f) {
  if (!"..." %in% names(formals(f))) return(NULL)
  unique(c(if (any(c("preset", "without_penalty", "without_reuse") %in% all.names(body(f)))) names(formals(gp_bandit)), unlist(lapply(own[[name]], names))))
}
targets <- do.call(rbind, lapply(sort(exports), function(name) {
  f <- get(name, asNamespace("gpbandits"))
  if (!is.function(f) || !length(formals(f))) return(NULL)
  data.frame(name = name, argument = union(names(formals(f)), setdiff(passed_on(name, f), "")))
}))

# Methods of bandits (on copies), with arguments that work.
living <- function(bandit, record) {
  for (t in 1:4) {
    q <- bandit$suggest(1, context = if (length(bandit$config$context_names)) 0.5)
    if (t < 4) record(bandit, q)
  }
  bandit
}
plainly <- function(bandit, q) bandit$observe(q$id[1], sin(q$id[1]))
bandits <- list(
  arms = living(gp_ucb(x9, kernel, 0.1), plainly), box = living(gp_ei(square, kernel, 0.1, pending = pending_hallucinate()), plainly),
  labels = living(gp_ts(data.frame(n = letters[1:9], x = x9), kernel, 0.1, width = 1), plainly),
  search = living(gp_ei(space, kernel_se(0.3, dims = "a"), 0.1), plainly), context = living(gp_ucb(x9, kernel, 0.1, contexts = "z"), plainly),
  product = living(gp_ucb(product_domain(1:2, list(u = c(0, 1))), kernel, 0.1, width = 2), plainly),
  shares = living(gp_bandit(shares, kernel, 0.1, policy_ei()), plainly),
  auto = living(auto_bandit(square, n_initial = 2, model = gp_model(refit = NULL)), plainly),
  limits = living(gp_bandit(x9, kernel, 0.1, policy_ei(), outcomes = two), function(b, q) b$observe(q$id, c(yield = 1, if (q$id > 1) c(cost = 0.2)))),
  front = living(gp_bandit(square, kernel, 0.1, policy_ehvi(c(-1, -1)), outcomes = front), function(b, q) b$observe(q$id, c(yield = q$u, cost = q$v))),
  counts = living(gp_bandit(x9, kernel, policy = policy_ucb(1), rewards = rewards_counts()), function(b, q) b$observe(q$id, 2)),
  yes = living(gp_bandit(x9, kernel, policy = policy_ts(1), rewards = rewards_binary()), function(b, q) b$observe(q$id, 1)),
  constrained = living(gp_ucb_noiseless_constraints(x9, kernel, 0.1, width = 1, epoch = 2), function(b, q) b$observe(q$id, 1, constraints = 0.1)),
  safe = living(safe_opt(x9, kernel, 0.1, -2, seed = 2, width = 1), plainly), level = living(gp_lse(x9, kernel, 0.1, 0.1, 0.1), plainly),
  change = living(gp_ucb_drift(x9, kernel, 0.1, change_oracle(window = 3)), plainly), bpe = living(bpe(x9, kernel, 0.1, rounds = 9, B = 1, R = 0.1), plainly),
  scripted = living(baseline_constrained("ckb", x9, kernel, 0.1, step = 1, bound = 1), function(b, q) b$observe(q$id, 1, constraints = 0.1)),
  rankings = living(gp_bandit(x9, kernel, policy = policy_ts(1), rewards = rewards_preferences("rankings")), function(b, q) if (q$id %% 2 == 0) b$rank(q$id - 0:1)),
  duels = {
    b <- gp_bandit(x9, kernel, policy = policy_duel(1), rewards = rewards_preferences())
    for (t in 1:3) {
      q <- b$suggest(2)
      b$observe(q$id, prefer = q$id[1])
    }
    b
  }
)
methods_of_bandit <- list(
  suggest = list(n = 1, context = NULL, time = NULL, arms = NULL, fixed = NULL),
  observe = list(id = 4, reward = 1, constraints = NULL, time = NULL, noise_var = NULL, size = NULL, prefer = NULL),
  add = list(x = 0.5, arm = NULL, reward = 1, constraints = NULL, context = NULL, noise_var = NULL), add_arms = list(x = 1.5, mean = NULL),
  amend = list(id = 1, reward = 2, prefer = NULL), rank = list(ids = 3:4), withdraw = list(id = 4, outcome = NULL), fail = list(id = 4, reason = NULL),
  posterior = list(x = NULL, context = NULL, arm = NULL, scale = NULL), draw = list(n = 1, context = NULL),
  best = list(context = NULL, feasible = 0.95, weights = NULL, fixed = NULL), front = list(context = NULL, feasible = 0.5),
  certificate = list(rule = NULL, context = NULL), levels = list(context = NULL), safe = list(context = NULL), history = list(draws = NULL)
)
# What these say of a bandit as a whole.
of_bandit <- list(print = print, summary = summary, plot = plot, predict = function(b) predict(b, 0.5), frame = as.data.frame, check = check_model,
                  norm = function(b) norm_check(b, R = 0.1), json = function(b) from_json(as_json(b))$history(), copy = function(b) b$copy()$suggest())

call_of_method <- function(bandit, method, argument, value) {
  given <- Filter(Negate(is.null), methods_of_bandit[[method]])
  given[argument] <- list(value)
  bandit <- bandit$copy()
  before <- bandit$history()
  outcome <- tryCatch(do.call(eval(call("$", bandit, method)), given, quote = TRUE), error = identity)
  if (!inherits(outcome, "error")) return(outcome)
  if (!identical(bandit$history(), before)) stop("a call that was refused has changed the bandit")
  stop(outcome)
}

# ---- calls --------------------------------------------------------------------

given_to <- function(name, argument, value, way = 1) {
  wanted <- names(formals(get(name, asNamespace("gpbandits"))))
  ways <- own[[name]]
  given <- if (length(ways)) ways[[1 + way %% length(ways)]] else good[intersect(wanted, names(good))]
  given[if (argument == "...") "odd" else argument] <- list(value)
  given
}

# What asks for as many draws, rounds or evaluations works as long as that takes: it is to heed the time limit.
asks_for_much <- function(value) is.numeric(value) && length(value) && isTRUE(max(value) >= 1e5)
is_late <- function(fault) grepl("reached (CPU|elapsed) time limit", fault)

# "" or what was wrong.
fault_of_call <- function(code) {
  # (Others may use the machine too.)
  setTimeLimit(cpu = 20, elapsed = 200, transient = TRUE)
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

is_live <- function(x) isS4(x) && methods::is(x, "GPBandit")
# With something in it changed (a bandit is changed in test-bandit-check-mutations.R's way elsewhere).
mutated_part <- function(part) if (is_live(part)) part$copy() else if (is.list(part)) mutated_list(part) else mutated_vector(part)

# What has no call here that answers: it needs tidymodels.
unreached <- "tune_gp_bandit"

set.seed(seed)
# (Random numbers of the calls do not change what comes next.)
draws <- matrix(stats::runif(2e6), ncol = 2)
end <- proc.time()[["elapsed"]] + seconds
calls <- 0
call_at <- function(name) get(name, asNamespace("gpbandits"))
if (arguments[2] == "--reach") {
  for (name in setdiff(targets$name, unreached)) for (way in seq_along(c(own[[name]], if (is.null(own[[name]])) list(1)))) {
    given <- given_to(name, "none", NULL, way - 1)
    said <- fault_of_call(tryCatch(do.call(call_at(name), given[names(given) != "none"], quote = TRUE), error = function(e) stop(conditionMessage(e))))
    if (nzchar(said)) cat(name, way, said, "\n")
  }
  quit(status = 0)
}
while (proc.time()[["elapsed"]] < end && calls < nrow(draws)) {
  calls <- calls + 1
  value <- if (calls %% 4 == 3) mutated_part(whole[[1 + floor(draws[calls, 2] * length(whole))]])
           else invalid[[1 + floor(draws[calls, 2] * length(invalid))]]
  if (calls %% 12 == 0) {
    name <- methods[1 + (calls %/% 12) %% length(methods)]
    value <- forged[[1 + floor(draws[calls, 1] * length(forged))]]
    if (!is_trusted(name, value)) next
    what <- sprintf("%s(%s)", name, shown(value))
    note("now", what)
    fault <- fault_of_call(get(name)(value))
  } else if (calls %% 12 == 3) {
    name <- methods[1 + (calls %/% 12) %% length(methods)]
    if (!is_trusted(name, value)) next
    what <- sprintf("%s(changed %s)", name, shown(value))
    note("now", what)
    fault <- fault_of_call(get(name)(value))
  } else if (calls %% 4 == 2) {
    method <- names(methods_of_bandit)[1 + floor(draws[calls, 1] * length(methods_of_bandit))]
    argument <- names(methods_of_bandit[[method]])
    argument <- argument[1 + (calls %/% 12) %% length(argument)]
    kind <- names(bandits)[1 + (calls %/% 4) %% length(bandits)]
    what <- sprintf("%s$%s(%s = %s)", kind, method, argument, shown(value))
    note("now", what)
    fault <- fault_of_call(call_of_method(bandits[[kind]], method, argument, value))
  } else {
    target <- targets[1 + floor(draws[calls, 1] * nrow(targets)), ]
    way <- calls %/% 12
    # (Where nothing ends it it works for ever, as it says.)
    if (target$name == "work_on" && target$argument == "until" && (is.null(value) || is.function(value))) next
    what <- sprintf("%s(%s = %s), way %d", target$name, target$argument, shown(value), way %% max(1, length(own[[target$name]])) + 1)
    note("now", what)
    # What is made is played and read too.
    fault <- fault_of_call({
      made <- do.call(call_at(target$name), given_to(target$name, target$argument, value, way), quote = TRUE)
      if (is_live(made)) {
        made$suggest(1)
        of_bandit[[1 + calls %% length(of_bandit)]](made)
      } else print(made)
    })
  }
  if (nzchar(fault)) note(if (is_late(fault) && asks_for_much(value)) "long" else "faults", paste0(what, ": ", fault))
  if (calls %% 50 == 0) cat(calls, file = file.path(folder, "calls"))
}
cat(calls, file = file.path(folder, "calls"))
cat("done", file = file.path(folder, "now"))
