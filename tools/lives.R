# Whole lives with fixed seeds, and a digest of the choices of each: what a change of the inside must leave as it was.
#   Rscript tools/lives.R [--only=REGEX] [--every=K] [--against=FILE] > FILE
# A line per life: its name, the digest of the choices to the last bit, and of the choices rounded to six digits (which
# another compiler, or sums in another order, leave as they are for most lives). With --against the lives whose rounded
# digests differ from those of FILE are listed, and the exit status is 1 where there are some. --every=K plays each
# K-th life of the large table.

options <- commandArgs(TRUE)
option <- function(name, default) {
  given <- sub(paste0("^--", name, "="), "", grep(paste0("^--", name, "="), options, value = TRUE))
  if (length(given)) given[1] else default
}
only <- option("only", ".")
every <- as.integer(option("every", "1"))
against <- option("against", NA)
suppressMessages(library(gpbandits))

# Names that have changed: the first that there is.
named <- function(...) {
  for (name in c(...)) if (exists(name, envir = asNamespace("gpbandits"))) return(get(name, envir = asNamespace("gpbandits")))
  stop("there is none of ", paste(c(...), collapse = ", "))
}
repeated <- named("policy_repeats", "repeats")

# ---- what is measured: functions of the inputs and of the round, without random numbers --------

numbers_in <- function(q, names) {
  columns <- lapply(names, function(name) {
    x <- q[[name]]
    if (is.character(x)) x <- match(x, c("a", "b", "c"))
    if (is.factor(x)) x <- as.integer(x)
    x <- as.numeric(x)
    ifelse(is.na(x), 0, x)
  })
  do.call(cbind, columns)
}
reward_of <- function(z, t) {
  sum(sin(5 * z + seq_along(z))) / sqrt(length(z)) + 0.1 * sin(12.9898 * t^1.5) + if (t > 18) 0.4 * cos(4 * z[1]) else 0
}
limits_of <- function(z, t, count) {
  if (count == 0) return(NULL)
  matrix(c(z[1] - 0.6, 0.3 - z[1], 0.5 - sum(z))[seq_len(count)] + 0.05 * sin(7.7 * t + seq_len(count)), 1)
}

# ---- a life -------------------------------------------------------------------

# `delays` are in rounds, in turn; `events` says which of the rarer events there are; `g`: turns the limits into what is
# told instead.
life <- function(b, rounds = 26, delays = c(0, 3, 1, 7, 0, 1, 2, 12, 0), visited = NULL, count = 0, amends = TRUE,
                 withdraws = TRUE, given = TRUE, own_noise = TRUE, g = identity) {
  due <- list()
  record <- function(now) {
    arrived <- vapply(due, function(one) one$at <= now, NA)
    for (one in due[arrived]) {
      # (A bandit may have settled it by itself.)
      if (b$history()$status[one$id] != "pending") next
      b$observe(one$id, one$y, constraints = one$g, noise_var = one$noise)
    }
    due <<- due[!arrived]
  }
  names <- c(b$config$domain$names, b$config$context_names)
  t <- 0
  while (t < rounds) {
    t <- t + 1
    record(t)
    context <- if (!is.null(visited)) visited[1 + t %% nrow(visited), ]
    q <- b$suggest(if (t == 9) 2 else 1, context = context)
    for (k in seq_len(nrow(q))) {
      id <- q$id[k]
      z <- numbers_in(q[k, , drop = FALSE], names)[1, ]
      limit <- limits_of(z, id, count)
      due[[length(due) + 1]] <- list(id = id, y = reward_of(z, id), g = if (!is.null(limit)) g(limit),
                                     at = t + delays[1 + id %% length(delays)],
                                     noise = if (own_noise && id %% 5 == 0) 0.001 * (1 + id))
    }
    if (withdraws && t == 11) {
      gone <- due[[length(due)]]$id
      if (b$history()$status[gone] == "pending") {
        b$withdraw(gone)
        due <- due[-length(due)]
      }
    }
    if (amends && t == 15) b$amend(which(b$history()$status == "observed")[2], 0.25)
    if (given && t == 13) {
      point <- q[1, b$config$domain$names, drop = FALSE]
      b$add(point, reward = 0.1, context = context,
            constraints = if (count > 0) g(limits_of(numbers_in(point, names(point))[1, ], t, count)))
    }
    if (t == 20) b <- unserialize(serialize(b, NULL))
  }
  found <- tryCatch(b$best(context = if (!is.null(visited)) visited[1, ]), gpbandits_error = function(e) NULL)
  c(b$history(), found)
}

# ---- digests ------------------------------------------------------------------

digest <- function(x) {
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(charToRaw(enc2utf8(paste(unlist(x), collapse = "|"))), file)
  unname(substr(tools::md5sum(file), 1, 12))
}
words <- function(x, format) {
  if (is.double(x)) ifelse(is.finite(x), sprintf(format, x + 0), as.character(x)) else as.character(x)
}
choices <- function(reported) {
  kept <- setdiff(names(reported), c("phase", "width"))
  reported[kept]
}
report <- list()
play <- function(name, make, ...) {
  if (!grepl(only, name)) return(invisible())
  set.seed(sum(utf8ToInt(name)))
  reported <- tryCatch(suppressWarnings(choices(life(make(), ...))), error = function(e) paste("error:", conditionMessage(e)))
  failed <- is.character(reported) && length(reported) == 1
  line <- c(name, if (failed) rep("error", 2)
                  else c(digest(lapply(reported, words, "%a")),
                         digest(lapply(reported[setdiff(names(reported), c("mean", "sd"))], words, "%.6g"))))
  cat(line, "\n", sep = " ")
  if (failed) cat("#", reported, "\n")
  report[[name]] <<- line
}

# ---- domains ------------------------------------------------------------------

domains <- list(
  arms = list(make = function() finite_domain(seq(0, 1, length.out = 13)), kernel = function(z) kernel_matern(2.5, 0.3)),
  plane = list(make = function() finite_domain(expand.grid(a = seq(0, 1, length.out = 6), b = seq(0, 1, length.out = 5))),
               kernel = function(z) kernel_se(c(0.4, 0.6, z))),
  box = list(make = function() box_domain(c(0, 0), c(1, 1), names = c("u", "v")), kernel = function(z) kernel_matern(2.5, c(0.3, 0.5, z))),
  product = list(make = function() product_domain(cbind(r = c(0, 0.7)), list(x1 = c(0, 1))),
                 kernel = function(z) kernel_matern(1.5, 0.4)),
  space = list(make = function() search_space(lr = param_real(1e-3, 1, log = TRUE), depth = param_integer(1, 5),
                                              r = param_factor(c("a", "b", "c")), p = param_logical(),
                                              al = param_real(0, 1, when = ~ p)),
               kernel = NULL)
)
space_kernel <- function() {
  kernel_matern(2.5, c(2, 2), dims = c("lr", "depth")) * kernel_categorical(0.6, dims = "r") +
    kernel_se(0.5, 0.3, dims = "al")
}
kernel_on <- function(domain, contexts) if (domain == "space") space_kernel() else domains[[domain]]$kernel(if (contexts == "none") NULL else 0.7)
visited <- rbind(0.2, 0.9)

# ---- the table: policies, domains, rules ----------------------------------------

policies <- list(
  ucb = function() policy_ucb(width_igp(1, 0.1, 0.1, "realized")), ucb2 = function() policy_ucb(width_constant(2)),
  dmm = function() policy_ucb(width_dmm(1, 0.1, 0.1)), ts = function() policy_ts(width_constant(0.7)),
  ei = function() policy_ei(0.01), pi = function() policy_pi(0.01), mean = function() policy_mean(),
  variance = function() policy_variance(), uniform = function() policy_uniform(), pims = function() policy_pims(),
  straddle = function() policy_straddle(0.2), kg = function() policy_kg(), mes = function() policy_mes(5),
  own = function() policy_function(function(mean, sd, round) mean + sd / sqrt(round)),
  repeats = function() repeated(policy_ucb(width_constant(1)), 1.5),
  cost = function() policy_ei(cost = function(x) 1 + x[, 1]^2), sdf = function() policy_ucb(width_sdf(width_constant(1)))
)
pendings <- list(ignore = pending_ignore, hallucinate = pending_hallucinate, guarded = function() pending_hallucinate(guard = 6),
                 censor = function() pending_censor(4, -0.5), penalise = pending_penalize,
                 wait = function() pending_censor(Inf, 0))
changes <- list(
  none = function() NULL,
  detect = function() change_detect(function(q) 0.25 * q^(-6 / 7), function(q) 0.1 * q^(1 / 7)),
  oracle = function() change_oracle(c(11, 20)), never = function() change_never(), every = function() change_oracle(every = 8),
  event = function() change_detect(delta = 0.5), window = function() change_oracle(window = 6), weights = function() change_oracle(rate = 0.1, by = "weights"),
  fade = function() change_oracle(rate = 0.1)
)
constraints <- list(none = list(function() NULL, 0), noiseless = list(function() constraints_noiseless(2, epoch = 7), 2),
                    noisy = list(function() constraints_noisy(1, epoch = 7, step = 0.5, reuse = FALSE), 1))
refits <- list(none = function() NULL, ml = function() refit_every(7, starts = 1, iterations = 20),
               mean = function() refit_every(9, mean = "fit", starts = 1, iterations = 20))
outputs <- list(none = NULL, least = "minimize")
contexts <- list(none = NULL, known = visited, open = 1)
engines <- c("auto", "other")
other_engine <- function(domain, contexts, policy) {
  if (!domain %in% c("arms", "plane") || contexts == "open") return("lowrank")
  if (policy %in% c("ts", "pims", "repeats")) "weights" else "played"
}

table <- expand.grid(policy = names(policies), domain = names(domains), pending = names(pendings),
                     changes = names(changes), constraints = names(constraints), refit = names(refits),
                     outputs = names(outputs), contexts = names(contexts), engine = engines, stringsAsFactors = FALSE)
# Spread over the table: most rows have few rules at once.
spread <- function(count) {
  set.seed(1)
  plain <- function(x, share) ifelse(stats::runif(count) < share, names(x)[1], sample(names(x), count, TRUE))
  rows <- data.frame(policy = rep_len(names(policies), count), domain = rep_len(names(domains), count),
                     pending = plain(pendings, 0.4), changes = plain(changes, 0.5), constraints = plain(constraints, 0.6),
                     refit = plain(refits, 0.5), outputs = plain(outputs, 0.7), contexts = plain(contexts, 0.5),
                     engine = ifelse(stats::runif(count) < 0.7, "auto", "other"), stringsAsFactors = FALSE)
  allowed <- !(rows$outputs != "none" & (rows$constraints != "none" | rows$changes != "none")) &
    !(rows$engine == "other" & rows$contexts == "known" & !rows$domain %in% c("arms", "plane"))
  rows[allowed, ]
}
rows <- spread(360)
for (k in seq(1, nrow(rows), by = every)) {
  row <- rows[k, ]
  name <- paste0(sprintf("%03d:", k), paste(row[row != "none" & row != "auto"], collapse = "+"))
  play(name, function() {
    gp_bandit(domains[[row$domain]]$make(), kernel_on(row$domain, row$contexts), 0.02, policies[[row$policy]](), mean = 0.1,
              pending = pendings[[row$pending]](), changes = changes[[row$changes]](),
              constraints = constraints[[row$constraints]][[1]](), contexts = contexts[[row$contexts]],
              refit = refits[[row$refit]](),
              outputs = if (row$outputs != "none") scale_outputs("minimize"),
              engine = if (row$engine == "auto") "auto" else other_engine(row$domain, row$contexts, row$policy))
  }, visited = if (row$contexts != "none") visited, count = constraints[[row$constraints]][[2]])
}

# ---- presets ------------------------------------------------------------------

arms <- seq(0, 1, length.out = 21)
box <- list(u = c(0, 1), v = c(0, 1))
k1 <- kernel_se(0.2)
for (on in c("arms", "box")) {
  x <- if (on == "arms") arms else box
  preset <- function(name, make, ...) play(paste0("preset:", name, ":", on), make, ...)
  preset("gp_ucb", function() gp_ucb(x, k1, 0.02, width = if (on == "box") width_constant(1.5)))
  preset("igp_ucb", function() igp_ucb(x, k1, 0.02, B = 1, R = 0.1))
  preset("gp_ts", function() gp_ts(x, k1, 0.02, B = 1, R = 0.1))
  preset("gp_ei", function() gp_ei(x, k1, 0.02))
  preset("gp_bucb", function() gp_bucb(x, k1, 0.02, guard = 3))
  preset("gp_ucb_sdf", function() gp_ucb_sdf(x, k1, 0.02, m = 4))
  preset("gp_ts_sdf", function() gp_ts_sdf(x, k1, 0.02, m = 4))
  preset("gp_ucb_pe", function() gp_ucb_pe(x, k1, 0.02, width = width_constant(2)))
  preset("ts_rsr", function() ts_rsr(x, k1, 0.02))
  preset("stable_opt", function() stable_opt(if (on == "arms") x else list(u = c(0, 1)), k1, 0.02, radius = 0.1))
  preset("gp_lse", function() gp_lse(x, k1, 0.02, level = 0.2, accuracy = 0.05, width = width_constant(1)))
  preset("gp_ucb_noiseless_constraints",
         function() gp_ucb_noiseless_constraints(x, k1, 0.02, B = 1, R = 0.1, epoch = 6), count = 1)
  preset("gp_ucb_noisy_constraints",
         function() gp_ucb_noisy_constraints(x, k1, 0.02, B = 1, R = 0.1, epoch = 6, step = 0.3, count = 2), count = 2)
  preset("auto_bandit", function() auto_bandit(x), rounds = 16)
}
many <- seq(0, 1, length.out = 1e5)
play("many-arms", function() gp_ucb(many, k1, 0.02, width = width_constant(2)), rounds = 12)
play("lowrank-arms", function() gp_ucb(seq(0, 1, length.out = 500), k1, 0.02, width = width_constant(2), engine = "lowrank"))
play("by-the-clock", function() gp_ucb(arms, k1, 0.02, pending = pending_censor(4, 0, "time")), own_noise = FALSE)
play("clipped", function() gp_ucb(arms, k1, 0.02, rewards = rewards_robust(clip = 0.5)))
play("design", function() gp_bandit(box, k1, 0.02, policy_ei(),
                                    initial_design = cbind(u = c(0.2, 0.8), v = c(0.3, 0.6))))
play("means", function() gp_ucb(arms, k1, 0.02, mean = cos(arms)))
play("matrix", function() gp_ucb(arms, kernel_matrix(exp(-abs(outer(arms, arms, "-")))), 0.02))

# ---- algorithms over several posteriors -----------------------------------------

baselines <- list(
  ckb = list(list(step = 0.5, bound = 10), 2),
  epbo = list(list(penalty = 3), 2)
)
for (on in c("arms", "box", "contexts", "space")) for (name in names(baselines)) local({
  one <- baselines[[name]]
  x <- switch(on, box = box, space = domains$space$make(), arms)
  kernel <- if (on == "space") space_kernel() else k1
  play(paste0("rule:", name, ":", on), function() {
    do.call(baseline_constrained, c(list(name, x, kernel, 0.02, count = one[[2]], constraint_noise_var = 0.01,
                             constraint_mean = -0.1, contexts = if (on == "contexts") visited), one[[1]]))
  }, count = one[[2]], visited = if (on == "contexts") visited)
})
play("rule:oco", function() baseline_constrained("oco", box), count = 1, amends = FALSE, own_noise = FALSE)
play("rule:admmbo", function() baseline_constrained("admmbo", arms, k1, 0.02), count = 1)
safe <- function(method, ...) {
  if ("method" %in% names(formals(safe_opt))) safe_opt(..., method = method)
  else named(c(safeopt = "safe_opt", stageopt = "stage_opt")[[method]])(...)
}
for (method in c("safeopt", "stageopt")) local({
  wide <- width_constant(2)
  play(paste0("rule:", method, ":arms"), function() safe(method, arms, k1, 0.02, threshold = -0.5, seed = 5:6, width = wide))
  play(paste0("rule:", method, ":box"), function() safe(method, box, k1, 0.02, threshold = -0.9, seed = rbind(c(0.5, 0.5)), width = wide))
  play(paste0("rule:", method, ":wide-box"),
       function() safe(method, box, kernel_se(0.6), 0.02, threshold = -2, seed = rbind(c(0.5, 0.5)), width = wide))
  play(paste0("rule:", method, ":column"), count = 1, g = function(g) -g,
       function() safe(method, arms, k1, 0.02, threshold = -0.2, seed = 3, safety = "g1", width = wide, constraint_noise_var = 0.01))
  play(paste0("rule:", method, ":lipschitz"), function() safe(method, arms, k1, 0.02, threshold = -0.5, seed = 5:6, width = wide, lipschitz = 3))
})
play("rule:safeopt:contexts", visited = visited,
     function() safe_opt(arms, kernel_se(c(0.2, 0.5)), 0.02, threshold = -0.8, seed = 5:6, width = width_constant(2), contexts = visited))
for (on in c("arms", "box")) local({
  x <- if (on == "arms") arms else box
  play(paste0("rule:balanced_lengthscale:", on), function() gp_ucb_lengthscale(x, kernel_se(0.5), 0.02, B = 1, R = 0.1, method = "balanced"), own_noise = FALSE)
  play(paste0("rule:adaptive_lengthscale:", on), function() gp_ucb_lengthscale(x, kernel_se(0.5), 0.02, B = 1, R = 0.1), own_noise = FALSE)
  play(paste0("rule:bpe:", on), function() bpe(x, k1, 0.02, rounds = 60, B = 1, R = 0.1))
  play(paste0("rule:rahbo:", on), own_noise = FALSE,
       function() rahbo(x, k1, 0.02, alpha = 1, variance_kernel = kernel_se(0.3, 0.04), repeats = 4))
  play(paste0("rule:ei_cost:", on), count = 1, g = function(g) exp(g), function() {
    if ("cost" %in% names(formals(gp_ei))) gp_ei(x, k1, 0.02, cost = "learned") else gp_ei_cost(x, k1, 0.02)
  })
})

if (!is.na(against)) {
  before <- read.table(against, comment.char = "#", stringsAsFactors = FALSE)
  changed <- c()
  for (line in report) {
    then <- before[before[[1]] == line[1], ]
    if (nrow(then) != 1 || then[[3]] != line[3]) changed <- c(changed, line[1])
  }
  cat("#", length(report), "lives,", length(changed), "changed\n")
  if (length(changed)) cat(paste("# changed:", changed), sep = "\n")
  quit(status = as.integer(length(changed) > 0))
}
