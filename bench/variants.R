# Variants of the defaults of searches on BBOB functions (package smoof), paired: each variant has the seeds, functions
# and instances of the default.
#
#   Rscript bench/variants.R [variants=smooth,quiet] [d=2] [evaluations=60] [fids=1:24] [instances=1:5] [seeds=1]
#                            [noise=0] [out=FILE]
#   Rscript bench/variants.R report=TRUE [base=default] [out=FILE] [...]
#                                    prints the paired differences of the runs in the file to those of `base`
#
# Every search is a line of `out` (appended; existing ones are not repeated): log10 gap, not below -8, of the best
# evaluated point (`best`), of the recommended one (`par`), and of the one that would be recommended after one more
# refit (`refitted`). `noise`: as in bench/optimisation.R. A variant that helps on instances 1 to 5 must help on 6 to 10
# as well before it becomes a default. The report ends with the functions on which the default is worse than uniform
# points (variant `random`, means of 100 runs). The runs of bench/results/optimisation.md are in files
# of bench/results (.csv.gz): variants (`default`: a single smoothness), variants_incumbent (`default`: an average over
# smoothness), and variants_log (`default`: the same, without the logarithm, which is in today's default; `log_any`,
# `log_mode`: `log` before the rule about noise, and with that rule for the best model alone), variants_none
# (base=none), variants_prior (`wide`), variants_warped (`default`: without the logarithm), variants_seeds (five seeds),
# variants_additive and variants_lifted (`default`: with the logarithm and the noise's former prior), and peers (other
# packages, which were run outside the repository).
library(gpbandits)
source("bench/shared/script.R")
source("bench/shared/bbob.R")
args <- arguments(variants = "smooth", d = "2", evaluations = "60", fids = "1:24", instances = "1:5", seeds = "1",
                  noise = "0", out = "", report = "FALSE", base = "default")

averaged <- function(...) refit_every(2, mean = "fit", average = 10, ...)
refitted <- function(...) list(model = gp_model(refit = averaged(...)))

# Arguments of minimize_bandit().
variants <- list(
  default = list(),
  smooth = refitted(smoothness = c(2.5, 1.5, 0.5), smoothness_prior = c(1, 0.1, 0.1)),
  smooth2 = refitted(smoothness = c(2.5, 1.5)),
  quiet = list(model = gp_model(noise_prior = c(log(1e-5), 2.5))),
  often = list(model = gp_model(refit = refit_every(1, mean = "fit", average = 10))),
  none = list(model = gp_model(noise = "none")),
  draws = list(policy = policy_ei(incumbent = "draws")),
  fixed = list(model = gp_model(noise_var = 1e-8, noise_prior = NULL, refit = averaged(fix_noise = TRUE)))
)
# Other sizes of the initial design (bench/programs.R; `half` was the default before).
with_design <- function(size) function(f, domain, evaluations) {
  minimize_bandit(f, domain, evaluations, n_initial = size(evaluations))
}
variants$half <- with_design(function(n) ceiling(n / 2))
variants$quarter <- with_design(function(n) ceiling(n / 4))
variants$sixth <- with_design(function(n) ceiling(n / 6))
variants$three <- with_design(function(n) 3)
# A search by asking and telling, in batches. Another rule, a function of the bandit and of random points, chooses every
# `every`-th evaluation after the initial design, and one when for `stalls` rounds there was neither a better reward nor
# such a point. `final`: the last evaluation is at the recommended point. Further arguments are those of auto_bandit().
asked <- function(every = Inf, rule = NULL, batch = 1, stalls = Inf, final = FALSE, ...) {
  settings <- list(...)
  function(f, domain, evaluations) {
    bandit <- do.call(auto_bandit, c(list(domain, direction = "minimize"), settings))
    evaluate <- function(x) apply(x, 1, f)
    last <- 0
    while ((t <- nrow(bandit$history()) + 1) <= evaluations) {
      stalled <- t - 1 - max(last, which.min(bandit$history()$reward)) >= stalls
      if (final && t == evaluations) {
        x <- as.matrix(bandit$best()[domain$names])
        bandit$add(x = x, reward = evaluate(x))
      } else if (t > 10 && (t %% every == 0 || stalled)) {
        points <- matrix(stats::runif(500 * length(domain$names), -5, 5), 500)
        x <- points[rule(bandit, points), , drop = FALSE]
        bandit$add(x = x, reward = evaluate(x))
        last <- t
      } else {
        query <- bandit$suggest(min(batch, evaluations - t + 1))
        bandit$observe(query$id, evaluate(as.matrix(query[domain$names])))
      }
    }
    list(bandit = bandit, par = bandit$best()[domain$names])
  }
}
# Input warping: of each input u in [0, 1] the search sees 1 - (1 - u^a)^b (Kumaraswamy). After every tenth evaluation
# from the twentieth on, a and b maximise the evidence of the logarithm of the gap, input by input on a grid, with a
# normal prior of log a and log b (sd .75). A better pair than the present one begins the search anew with all rewards.
warp <- function(u, shape) 1 - (1 - pmin(pmax(u, 0), 1)^shape[1])^shape[2]
unwarp <- function(w, shape) (1 - (1 - w)^(1 / shape[2]))^(1 / shape[1])
each_input <- function(x, shapes, map) vapply(seq_len(ncol(x)), function(k) map(x[, k], shapes[k, ]), x[, 1])
shapes_of <- function(u, rewards, shapes) {
  gap <- rewards - min(rewards)
  y <- -log1p(gap / stats::median(gap))
  evidence <- function(shapes) {
    x <- matrix(each_input(u, shapes, warp), nrow(u))
    fit <- gp_fit(x, y, kernel_matern(2.5, rep(0.5, ncol(u))), mean = "fit", starts = 1, iterations = 20)
    as.numeric(logLik(fit)) + sum(stats::dnorm(log(shapes), sd = 0.75, log = TRUE))
  }
  best <- evidence(shapes)
  grid <- exp(as.matrix(expand.grid(-2:2, -2:2)) * 0.35)
  for (k in seq_len(ncol(u))) for (i in seq_len(nrow(grid))) {
    other <- shapes
    other[k, ] <- grid[i, ]
    value <- evidence(other)
    if (value > best + 0.5) {
      best <- value
      shapes <- other
    }
  }
  shapes
}
variants$warped <- function(f, domain, evaluations) {
  names <- domain$names
  unit <- stats::setNames(rep(list(c(0, 1)), length(names)), names)
  side <- domain$upper - domain$lower
  shapes <- matrix(1, length(names), 2)
  back <- function(w) {
    domain$lower + side * vapply(seq_along(names), function(k) unwarp(as.numeric(w)[k], shapes[k, ]), 0)
  }
  bandit <- auto_bandit(unit, direction = "minimize")
  u <- matrix(0, 0, length(names))
  rewards <- numeric()
  for (t in seq_len(evaluations)) {
    query <- bandit$suggest()
    x <- back(query[names])
    u <- rbind(u, (x - domain$lower) / side)
    rewards[t] <- f(x)
    bandit$observe(query$id, rewards[t])
    if (t %% 10 > 0 || t < 20 || t == evaluations) next
    found <- shapes_of(u, rewards, shapes)
    if (identical(found, shapes)) next
    shapes <- found
    seen <- matrix(each_input(u, shapes, warp), t, dimnames = list(NULL, names))
    bandit <- auto_bandit(unit, data.frame(seen, reward = rewards), direction = "minimize")
  }
  list(bandit = bandit, par = back(bandit$best()[names]), back = back)
}
variants$asked <- asked()                              # the default, by asking and telling
variants$uniform <- asked(10, function(bandit, points) 1)
variants$stalled <- asked(rule = function(bandit, points) 1, stalls = 15)
variants$final <- asked(final = TRUE)
variants$largest_sd <- asked(10, function(bandit, points) which.max(bandit$posterior(points)$sd))
variants$batches <- asked(batch = 5)
variants$batches_draws <- asked(batch = 5, policy = policy_ei(incumbent = "draws"))
variants$log <- list(model = gp_model(transform = "log"))
variants$wide <- list(model = gp_model(noise_prior = c(log(1e-3), 3)))
variants$none_log <- list(model = gp_model(noise = "none", transform = "log"))
# The first part of the noise's prior: as it was before, and with more noise; `lifted_more` is today's default.
variants$not_lifted <- list(model = gp_model(noise_prior = rbind(c(log(1e-5), 2.5), c(log(0.3), 1.2))))
variants$lifted <- list(model = gp_model(noise_prior = rbind(c(log(3e-4), 3), c(log(0.3), 1.2))))
variants$lifted_more <- list(model = gp_model(noise_prior = rbind(c(log(2e-3), 3), c(log(0.3), 1.2))))
variants$one <- refitted()                             # a single smoothness
# The sum of the default kernel and of one for each input, with a single smoothness.
variants$additive <- function(f, domain, evaluations) {
  side <- domain$upper - domain$lower
  kernel <- kernel_matern(2.5, 0.4 * sqrt(length(side)) * side)
  for (k in seq_along(side)) kernel <- kernel + kernel_matern(2.5, 0.4 * side[k], variance = 0.3, dims = k)
  of <- grep("variance$", names(gpbandits:::kernel_parameters(kernel)), value = TRUE)
  priors <- stats::setNames(c(list(c(log(2), 1)), rep(list(c(log(0.3), 1.5)), length(side))), of)
  minimize_bandit(f, domain, evaluations,
                  model = gp_model(kernel, noise_prior = variants$not_lifted$model$noise_prior,
                                   lengthscale_prior = c(log(0.4 * sqrt(length(side))), 1),
                                   refit = averaged(priors = priors)))
}
others <- Sys.getenv("VARIANTS")
if (nzchar(others)) source(others)                     # more entries of `variants`

log_gap <- function(value, problem) log10(pmax(value - problem$optimum, 1e-8))

search_once <- function(settings, fid, iid, d, evaluations, noise, seed) {
  problem <- bbob_problem(fid, iid, d, evaluations, noise)
  set.seed(seed + 100 * fid + 10000 * iid)
  search <- if (is.function(settings)) settings else function(...) do.call(minimize_bandit, c(list(...), settings))
  spent <- system.time({
    found <- suppressWarnings(search(problem$f, box_domain(rep(-5, d), rep(5, d)), evaluations))
  })
  bandit <- found$bandit$copy()
  bandit$suggest()
  later <- bandit$best()[bandit$config$domain$names]
  if (!is.null(found$back)) later <- found$back(later)
  at <- function(x) log_gap(problem$truth(as.numeric(x)), problem)
  data.frame(best = round(log_gap(min(problem$seen()), problem), 5), par = round(at(found$par), 5),
             refitted = round(at(later), 5), processor = signif(sum(spent[1:2]), 4))
}

# Uniform points: the mean over runs of the log10 gap of the best one, and of the one with the best measurement.
search_at_random <- function(fid, iid, d, evaluations, noise, seed, runs = 100) {
  problem <- bbob_problem(fid, iid, d, evaluations, noise)
  set.seed(seed + 100 * fid + 10000 * iid)
  gaps <- vapply(seq_len(runs), function(run) {
    calls <- counted(problem$truth, evaluations, problem$sd)
    for (k in seq_len(evaluations)) calls$f(stats::runif(d, -5, 5))
    log_gap(c(min(calls$seen()), calls$best_measurement()), problem)
  }, c(0, 0))
  data.frame(best = round(mean(gaps[1, ]), 5), par = round(mean(gaps[2, ]), 5), refitted = NA, processor = NA)
}

main <- function() {
  done <- if (file.exists(args$out)) utils::read.csv(args$out)
  settings <- list(d = numbers(args$d), evaluations = numbers(args$evaluations), noise = numbers(args$noise))
  for (seed in numbers(args$seeds)) for (iid in numbers(args$instances)) for (fid in numbers(args$fids)) {
    for (name in unique(c(args$base, words(args$variants)))) {
      key <- cbind(data.frame(variant = name, seed = seed, iid = iid, fid = fid), settings)
      if (is_done(done, key)) next
      problem <- c(list(fid = fid, iid = iid, seed = seed), settings)
      row <- do.call(if (name == "random") search_at_random else search_once,
                     c(if (name != "random") list(variants[[name]]), problem))
      keep_rows(cbind(key, row), args$out)
    }
  }
  if (nzchar(args$out)) print_pairs(utils::read.csv(args$out))
}

# Differences to `base`: negative where the variant is better.
print_pairs <- function(rows) {
  keys <- c("seed", "iid", "fid", "d", "evaluations", "noise")
  rows <- rows[rows$iid %in% numbers(args$instances) & rows$d == numbers(args$d) & rows$noise == numbers(args$noise) &
               rows$seed %in% numbers(args$seeds) & rows$fid %in% numbers(args$fids), ]
  base <- rows[rows$variant == args$base, ]
  at_random <- rows[rows$variant == "random", ]
  for (name in setdiff(unique(rows$variant), "random")) {
    print_against_random(name, rows[rows$variant == name, ], at_random)
  }
  for (name in setdiff(unique(rows$variant), c(args$base, "random"))) {
    pairs <- merge(rows[rows$variant == name, ], base, by = keys, suffixes = c("", ".base"))
    if (!nrow(pairs)) next
    cat(sprintf("\n%s: %d pairs; processor seconds %.2f, %s %.2f\n", name, nrow(pairs), mean(pairs$processor),
                args$base, mean(pairs$processor.base)))
    for (at in c("best", "par", "refitted")) if (!all(is.na(pairs[[at]]))) print_difference(pairs, at)
    print_by_function(pairs)
  }
}

# The functions on which a variant is worse than uniform points in the mean over instances and seeds, and by how much.
print_against_random <- function(name, rows, at_random) {
  both <- merge(rows, at_random, by = c("iid", "fid"), suffixes = c("", ".random"))
  if (!nrow(both)) return(invisible())
  for (at in c("best", "par")) {
    lost <- tapply(both[[at]] - both[[paste0(at, ".random")]], both$fid, mean)
    worse <- round(lost[lost > 0], 2)
    cat(sprintf("%s, %s: worse than uniform points on %d functions:", name, at, length(worse)),
        paste(sprintf("%s by %.2f", names(worse), worse), collapse = ", "), "\n")
  }
}

# The standard error treats pairs as independent. Functions are better or worse if their mean differs by more than .05.
print_difference <- function(pairs, at) {
  gain <- pairs[[at]] - pairs[[paste0(at, ".base")]]
  by <- tapply(gain, pairs$fid, mean)
  cat(sprintf("  %-8s  mean %+.3f (se %.3f), %s %+.2f; functions better %d, worse %d\n", at, mean(gain),
              stats::sd(gain) / sqrt(length(gain)), args$base, mean(pairs[[paste0(at, ".base")]]), sum(by < -0.05),
              sum(by > 0.05)))
}

print_by_function <- function(pairs) {
  mean_of <- function(at) round(tapply(pairs[[at]] - pairs[[paste0(at, ".base")]], pairs$fid, mean), 2)
  print(rbind(best = mean_of("best"), par = mean_of("par")))
}

if (args$report == "TRUE") print_pairs(utils::read.csv(args$out)) else main()
