# Every policy x pending rule x change rule x constraints x contexts x engine x domain plays 30 rounds
# with late rewards. Each run is then repeated by the reference, which takes the points as they were
# selected and recomputes the rest: exploration, segments, multipliers, what the mean and the variance
# knew at some rounds, and the posterior at the end, refitted from scratch.
#
# The tests are in test-bandit-combinations-*.R. GPBANDITS_TEST_LEVEL=2 walks the whole table (some two hours of a
# processor); otherwise each test takes a part that is spread over it.

rounds <- 30
lambda <- 0.02
delays <- rep_len(c(0, 3, 1, 7, 0, 1, 2, 12, 0), rounds)
visited <- rbind(0.2, 0.9)                          # contexts, in turn
checked_rounds <- c(1, 9, 16, 23, rounds)

policies <- list(
  ucb = list(core = function() policy_ucb(width_igp(1, 0.1, 0.1, "realized")),
             width = function(R) ref_width_igp(1, R, 0.1, ref_gain_realized())),
  ts = list(core = function() policy_ts(width_constant(0.7)), width = function(R) ref_width_constant(0.7)),
  ei = list(core = function() policy_ei(0.01)),
  pi = list(core = function() policy_pi(0.01)),
  mean = list(core = function() policy_mean()),
  variance = list(core = function() policy_variance()),
  uniform = list(core = function() policy_uniform()),
  pims = list(core = function() policy_pims()),
  eims = list(core = function() policy_eims()),
  straddle = list(core = function() policy_straddle(0.2, random = FALSE), width = function(R) ref_width_constant(1.96)),
  kg = list(core = function() policy_kg()),
  nei = list(core = function() policy_ei(incumbent = "draws")),
  repeats = list(core = function() policy_repeats(policy_ucb(width_constant(1)), 1.5),
                 width = function(R) ref_width_constant(1)),
  cost = list(core = function() policy_ei(cost = function(x) 1 + x[, "x1"])),
  lse = list(core = function() gp_lse(1:2, kernel_se(1), 1, level = 0.2, accuracy = 0.05, width = 1)$config$policy,
             width = function(R) ref_width_constant(1)),
  stable = list(core = function() stable_opt(1:2, kernel_se(1), 1, radius = 0.2, width = 1)$config$policy,
                width = function(R) ref_width_constant(1)),
  risk = list(core = function() {
    stable_opt(1:2, kernel_se(1), 1, radius = 0.2, width = 1, risk = "cvar", share = 0.5)$config$policy
  }, width = function(R) ref_width_constant(1))
)
# Policies whose choices the reference predicts; the others have separate tests.
predicted <- c("ucb", "ei", "pi", "mean", "variance")
pendings <- list(
  ignore = list(core = function() pending_ignore(), ref = ref_pending()),
  hallucinate = list(core = function() pending_hallucinate(), ref = ref_pending("hallucinate")),
  censor = list(core = function() pending_censor(4, -0.5), ref = ref_pending("censor", 4, -0.5)),
  penalise = list(core = function() pending_penalize(), ref = ref_pending()),
  wait = list(core = function() pending_censor(Inf, 0), ref = ref_pending("censor", Inf, 0))
)
threshold <- function(q) 0.25 * q^(-6 / 7)
ridge <- function(q) 0.1 * q^(1 / 7)
changes <- list(
  none = list(core = function() NULL, ref = NULL),
  detect = list(core = function() change_detect(threshold, ridge),
                ref = ref_changes("detect", sqrt(3), threshold = threshold, ridge = ridge)),
  oracle = list(core = function() change_oracle(c(11, 20)), ref = ref_changes("oracle", sqrt(3), times = c(11, 20))),
  never = list(core = function() change_never(), ref = ref_changes("never", sqrt(3))),
  every = list(core = function() change_oracle(every = 8), ref = ref_changes("every", 0, H = 8)),
  event = list(core = function() change_detect(delta = 0.5), ref = ref_changes("event", 0, delta = 0.5)),
  window = list(core = function() change_oracle(window = 6), drift = ref_drift("window", W = 6)),
  weights = list(core = function() change_oracle(rate = 0.1, by = "weights"), drift = ref_drift("weight", eta = 0.9)),
  fade = list(core = function() change_oracle(rate = 0.1), drift = ref_drift("fade", eps = 0.1))
)
constraints <- list(
  none = list(core = function() NULL, ref = NULL, count = 0),
  noiseless = list(core = function() constraints_noiseless(2, epoch = 7), count = 2,
                   ref = ref_constraints("noiseless", 2, 7)),
  noisy = list(core = function() constraints_noisy(1, epoch = 7, step = 0.5, reuse = FALSE), count = 1,
               ref = ref_constraints("noisy", 1, 7, step = 0.5, reuse = FALSE))
)
contexts <- list(none = NULL, known = visited, unknown = 1)
domains <- list(arms = function() finite_domain(seq(0, 1, length.out = 9)), box = function() box_domain(0, 1),
                space = function() search_space(r = param_factor(c("a", "b")), x1 = param_real(0, 1)),
                product = function() product_domain(cbind(r = c(0, 0.7)), list(x1 = c(0, 1))))

table <- expand.grid(policy = names(policies), pending = names(pendings), changes = names(changes),
                     constraints = names(constraints), context = names(contexts), engine = c("auto", "other"),
                     stringsAsFactors = FALSE)
# Intervals that are kept need points that are known: no contexts but known ones over arms.
has_intervals <- function(row, domain) row$policy != "lse" || row$context == "none" || (row$context == "known" && is_arms(domain))
# The engine that "auto" does not use for this small number of rounds.
other_engine <- function(e, domain) {
  if (!is_arms(domain) || identical(e$contexts, 1)) return("lowrank")
  if (e$kind %in% c("ts", "pims", "eims")) "weights" else "played"
}

# Reward and constraints of inputs (a product's row, the point, the context), with a jump that change rules
# should notice.
input_or_0 <- function(inputs, name) {
  if (!name %in% colnames(inputs)) return(0)
  if (is.character(inputs[, name])) 0.7 * (inputs[, name] == "b") else inputs[, name]
}
truth <- function(inputs) sin(7 * inputs[, "x1"] + input_or_0(inputs, "z1") + input_or_0(inputs, "r"))
limits <- list(function(inputs) inputs[, "x1"] - 0.6, function(inputs) 0.3 - inputs[, "x1"])

entry <- function(row) {
  list(policy = policies[[row$policy]], kind = row$policy, pending = pendings[[row$pending]],
       changes = changes[[row$changes]], constraints = constraints[[row$constraints]], contexts = contexts[[row$context]],
       engine = row$engine)
}

play_entry <- function(e, domain) {
  bandit <- gp_bandit(domain, kernel_over(domain, e), lambda, e$policy$core(), mean = 0.1, pending = e$pending$core(),
                      changes = e$changes$core(), constraints = e$constraints$core(), contexts = e$contexts,
                      engine = if (e$engine == "auto") "auto" else other_engine(e, domain))
  count <- e$constraints$count
  g <- NULL
  if (count > 0) g <- function(inputs) vapply(limits[seq_len(count)], function(limit) limit(inputs),
                                              numeric(nrow(inputs)))
  if (is_arms(domain) && is.null(e$contexts)) {
    inputs <- domain$x
    reward <- cbind(truth(inputs), -truth(inputs))
    if (count > 0) g <- matrix(g(inputs), ncol = count)
  } else {
    reward <- list(truth, function(inputs) -truth(inputs))
    if (count > 0) {
      inner <- g
      g <- function(inputs) matrix(inner(inputs), ncol = count)
    }
  }
  # (The regret is not used: the search for the best value would take most of the time.)
  above <- 2
  problem <- bandit_problem(domain, reward, noise = 0.1, delay = function(n) delays[seq_len(n)],
                            change_points = 14, constraints = g, contexts = if (!is.null(e$contexts)) visited,
                            optimum = if (is.null(e$contexts)) above else rep(list(function(z) rep(above, nrow(z))), 2))
  run_bandit(bandit, problem, rounds)
  bandit
}

# Levels are codes to the kernel, and to the reference.
is_space <- function(domain) identical(domain$type, "search")
kernel_over <- function(domain, e) {
  if (!is_space(domain)) return(kernel_matern(2.5, 0.4))
  kernel_matern(2.5, 0.4, dims = c("x1", if (!is.null(e$contexts)) "z1")) * kernel_categorical(0.6, dims = "r")
}
reference_kernel_over <- function(domain, x) {
  if (!is_space(domain)) return(ref_kernel_matern52(0.4)(x))
  ref_kernel_product(ref_kernel_matern52(0.4, dims = 2:ncol(x)), ref_kernel_categorical(0.6, dims = 1))(x)
}
as_codes <- function(h) {
  if (is.character(h$r)) h$r <- match(h$r, c("a", "b"))
  h
}
as_inputs <- function(x, domain) if (is_space(domain)) data.frame(r = c("a", "b")[x[, "r"]], x1 = x[, "x1"]) else x

is_arms <- function(domain) identical(domain$type, "finite")
is_product <- function(domain) identical(domain$type, "product")

# Points at some values of the last input, in every row of a product and every context.
spread_over <- function(x, e, domain) {
  rows <- if (is_product(domain)) domain$rows$x[, "r"] else if (is_space(domain)) 1:2
  inputs <- list(r = rows, x1 = x, z1 = if (!is.null(e$contexts)) visited[, 1])
  as.matrix(expand.grid(Filter(Negate(is.null), inputs)))
}

# The reference's points: all arms (many of a box, where EI and PI are compared with brute force), in every
# context; over which points the detector averages; and where the queries were.
points_of <- function(h, e, domain) {
  fine <- e$kind %in% c("ei", "pi")
  grid <- spread_over(if (is_arms(domain)) as.numeric(domain$x) else seq(0, 1, length.out = if (fine) 101 else 9), e,
                      domain)
  if (is_arms(domain)) {
    context <- if (is.null(e$contexts)) 1 else match(h$z1, visited)
    return(list(x = grid, rows = h$arm + (context - 1) * nrow(domain$x), grid = seq_len(nrow(grid)),
                averaged = seq_len(nrow(grid))))
  }
  averaged <- if (detects(e)) averaged_over(e, domain)
  played <- as.matrix(as_codes(h)[intersect(names(h), c("r", "x1", "z1"))])
  list(x = rbind(grid, played, averaged), rows = nrow(grid) + seq_len(rounds), grid = seq_len(nrow(grid)),
       averaged = nrow(grid) + rounds + seq_len(NROW(averaged)))
}
# 1,024 low-discrepancy points over all contexts: along one input, or over a space's level and number.
averaged_over <- function(e, domain) {
  count <- 1024 / max(1, if (is.matrix(e$contexts)) nrow(e$contexts))
  if (!is_space(domain)) return(spread_over((0.5 + (sqrt(5) - 1) / 2 * seq_len(count / domain_rows(domain))) %% 1, e, domain))
  plastic <- 1.32471795724474602596
  u <- (0.5 + outer(seq_len(count), plastic^-(1:2))) %% 1
  x <- cbind(r = 1 + (u[, 1] >= 0.5), x1 = u[, 2])
  if (is.null(e$contexts)) x else cbind(x[rep(seq_len(count), 2), ], z1 = rep(visited[, 1], each = count))
}
domain_rows <- function(domain) if (is_product(domain)) nrow(domain$rows$x) else 1
detects <- function(e) identical(e$changes$ref$kind, "detect")

reference_of <- function(e, points, domain) {
  change_rule <- e$changes$ref
  if (detects(e)) change_rule$over <- if (identical(e$contexts, 1)) "sampled" else points$averaged
  width <- function(info) {
    # Algorithm 3 runs an epoch with the noise level of that epoch's target.
    R <- 0.1 * if (identical(e$constraints$ref$kind, "noisy")) sqrt(1 + sum(info$kappa^2)) else 1
    if (is.null(e$policy$width)) NA else e$policy$width(R)(info)
  }
  ref_bandit(reference_kernel_over(domain, points$x), lambda, ref_policy(e$kind, width, 0.01), mean = 0.1,
             pending = e$pending$ref, changes = change_rule, constraints = e$constraints$ref,
             drift = if (is.null(e$changes$drift)) ref_drift() else e$changes$drift)
}

deliver <- function(ref, ids, h) {
  g <- as.matrix(h[grep("^g[0-9]", names(h))])
  for (s in ids) ref <- ref_observe(ref, s, h$reward[s], g[s, ])
  ref
}

# A query of the reference at the selected point. `look`: also the data at that time.
follow <- function(ref, point, look) {
  ref <- ref_before_query(ref)
  action <- if (ref_explores_now(ref)) "explore" else "policy"
  info <- if (look) ref_bandit_info(ref) else list(mean = NA, sd = NA, width = NA, t = length(ref_current(ref)) + 1)
  ref_record(ref, point, action, info)
}

walk_again <- function(h, e, points, domain) {
  ref <- reference_of(e, points, domain)
  arrival <- seq_len(rounds) + delays
  event <- identical(e$changes$ref$kind, "event")
  for (t in seq_len(rounds)) {
    ref <- deliver(ref, which(arrival == t & delays > 0), h)
    ref <- follow(ref, points$rows[t], look = event || t %in% checked_rounds)
    if (delays[t] == 0) ref <- deliver(ref, t, h)
  }
  ref
}

# The largest difference between history and reference; Inf if they have other events.
history_gap <- function(h, ref) {
  at <- function(name) vapply(ref$at_choice, function(a) as.numeric(a[[name]][1]), 0)
  same <- identical(as.character(h$action), ref$action) && identical(as.numeric(h$segment), at("segment"))
  if (!same) return(Inf)
  look <- checked_rounds
  gaps <- c(h$mean[look] - at("mean")[look], h$sd[look] - at("sd")[look])
  if (!anyNA(at("width")[look])) gaps <- c(gaps, h$width[look] - at("width")[look])
  for (j in seq_along(ref$kappa)) {
    gaps <- c(gaps, h[[paste0("kappa", j)]] - vapply(ref$at_choice, function(a) a$kappa[j], 0))
  }
  max(abs(gaps))
}

# How much better than the selected point the best arm of its context was, in some rounds.
missed_score <- function(h, e, ref, points) {
  if (!e$kind %in% predicted || identical(e$pending, pendings$penalise)) return(0)
  worst <- 0
  for (t in checked_rounds[ref$action[checked_rounds] == "policy"]) {
    info <- ref$at_choice[[t]]$info
    here <- seq_len(nrow(points$x))
    if (!is.null(e$contexts)) here <- which(abs(points$x[, "z1"] - h$z1[t]) < 1e-12)
    played <- ref$rows[ref_current_at(ref, t, info)]
    incumbent <- ref_incumbent(info$mean, played, rep(0.1, nrow(points$x)), here)
    score <- ref_scores(ref$policy, info$mean, info$sd, info$width, incumbent)
    worst <- max(worst, max(score[intersect(here, points$grid)]) - score[points$rows[t]])
  }
  worst
}
# The rounds that count as played at round t: those of its segment and epoch.
ref_current_at <- function(ref, t, info) seq_len(t - 1)[seq_len(t - 1) > t - info$t]

check_entry <- function(e, domain) {
  bandit <- play_entry(e, domain)
  h <- bandit$history()
  expect_identical(h$id, seq_len(rounds))
  expect_true(all(is.finite(h$mean)) && all(is.finite(h$sd)) && all(h$sd >= 0))
  points <- points_of(h, e, domain)
  ref <- walk_again(h, e, points, domain)
  # The error bound of the low-rank engine at the end; the error of a width is that of the gain, which is smaller.
  allowed <- tol$engine + if (summary(bandit)$engine == "lowrank") 1e-3 else 0
  expect_lt(history_gap(h, ref), allowed)

  context <- if (!is.null(e$contexts)) visited[2, ]
  here <- if (is.null(e$contexts)) points$grid else intersect(points$grid, which(points$x[, "z1"] == context))
  at <- as_inputs(points$x[here, domain$names, drop = FALSE], domain)
  core <- bandit$posterior(at, context = context)
  theirs <- ref_bandit_posterior(ref)
  expect_lt(max(abs(core$mean - theirs$mean[here]), abs(core$sd - theirs$sd[here])), allowed)
  expect_lt(missed_score(h, e, ref, points), 1e-6)

  again <- unserialize(serialize(bandit, NULL))
  there <- again$posterior(at, context = context)
  expect_lt(max(abs(core$mean - there$mean), abs(core$sd - there$sd)), tol$replay)
  next_of <- function(b) {
    set.seed(5)
    b$suggest(context = context)
  }
  expect_equal(next_of(again), next_of(bandit), tolerance = 1e-6)
}

# Every `step`-th entry; the steps have no factor in common with the number of choices in any column.
some_of <- function(step) {
  rows <- if (second_level()) seq_len(nrow(table)) else seq(1, nrow(table), by = step)
  few_of(rows, ceiling(length(rows) / 3))
}

walk_table <- function(domain, step) {
  for (row in some_of(step)) {
    if (!has_intervals(table[row, ], domain)) next
    set.seed(row)
    problem <- tryCatch({
      check_entry(entry(table[row, ]), domain)
      NULL
    }, error = conditionMessage)
    if (!is.null(problem)) {
      fail(paste(c(table[row, ], problem), collapse = " | "))
    }
  }
}
