# Variants of the defaults of searches on BBOB functions (package smoof), paired: each variant has the seeds, functions
# and instances of the default.
#
#   Rscript bench/variants.R [variants=smooth,quiet] [d=2] [evaluations=60] [fids=1:24] [instances=1:5] [seeds=1]
#                            [noise=0] [out=FILE]
#   Rscript bench/variants.R report=TRUE [out=FILE] [...]     prints the paired differences of the runs in the file
#
# Every search is a line of `out` (appended; existing ones are not repeated): log10 gap, not below -8, of the best
# evaluated point (`best`), of the recommended one (`par`), and of the one that would be recommended after one more
# refit (`refitted`). `noise`: as in bench/optimisation.R. A variant that helps on instances 1 to 5 must help on 6 to 10
# as well before it becomes a default. bench/results/variants.csv has the runs of bench/results/optimisation.md.
library(gpbandits)
source("bench/shared/script.R")
source("bench/shared/bbob.R")
args <- arguments(variants = "smooth", d = "2", evaluations = "60", fids = "1:24", instances = "1:5", seeds = "1",
                  noise = "0", out = "", report = "FALSE")

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
  fixed = list(model = gp_model(noise_var = 1e-8, noise_prior = NULL, refit = averaged(fix_noise = TRUE)))
)
others <- Sys.getenv("VARIANTS")
if (nzchar(others)) source(others)                     # more entries of `variants`

search_once <- function(settings, fid, iid, d, evaluations, noise, seed) {
  problem <- bbob_problem(fid, iid, d, evaluations, noise)
  set.seed(seed + 100 * fid + 10000 * iid)
  asked <- c(list(problem$f, box_domain(rep(-5, d), rep(5, d)), evaluations), settings)
  spent <- system.time(found <- suppressWarnings(do.call(minimize_bandit, asked)))
  bandit <- found$bandit$copy()
  bandit$suggest()
  later <- bandit$best()[bandit$config$domain$names]
  log_gap <- function(x) round(log10(pmax(problem$truth(as.numeric(x)) - problem$optimum, 1e-8)), 5)
  data.frame(best = round(log10(max(min(problem$seen()) - problem$optimum, 1e-8)), 5), par = log_gap(found$par),
             refitted = log_gap(later), processor = signif(sum(spent[1:2]), 4))
}

main <- function() {
  done <- if (file.exists(args$out)) utils::read.csv(args$out)
  settings <- list(d = numbers(args$d), evaluations = numbers(args$evaluations), noise = numbers(args$noise))
  for (seed in numbers(args$seeds)) for (iid in numbers(args$instances)) for (fid in numbers(args$fids)) {
    for (name in unique(c("default", words(args$variants)))) {
      key <- cbind(data.frame(variant = name, seed = seed, iid = iid, fid = fid), settings)
      if (is_done(done, key)) next
      row <- do.call(search_once, c(list(variants[[name]], fid = fid, iid = iid, seed = seed), settings))
      keep_rows(cbind(key, row), args$out)
    }
  }
  if (nzchar(args$out)) print_pairs(utils::read.csv(args$out))
}

# Differences to the default: negative where the variant is better.
print_pairs <- function(rows) {
  keys <- c("seed", "iid", "fid", "d", "evaluations", "noise")
  rows <- rows[rows$iid %in% numbers(args$instances) & rows$d == numbers(args$d) & rows$noise == numbers(args$noise) &
               rows$seed %in% numbers(args$seeds) & rows$fid %in% numbers(args$fids), ]
  default <- rows[rows$variant == "default", ]
  for (name in setdiff(unique(rows$variant), "default")) {
    pairs <- merge(rows[rows$variant == name, ], default, by = keys, suffixes = c("", ".default"))
    cat(sprintf("\n%s: %d pairs; processor seconds %.2f, default %.2f\n", name, nrow(pairs), mean(pairs$processor),
                mean(pairs$processor.default)))
    for (at in c("best", "par", "refitted")) print_difference(pairs, at)
    print_by_function(pairs)
  }
}

# The standard error treats pairs as independent. Functions are better or worse if their mean differs by more than .05.
print_difference <- function(pairs, at) {
  gain <- pairs[[at]] - pairs[[paste0(at, ".default")]]
  by <- tapply(gain, pairs$fid, mean)
  cat(sprintf("  %-8s  mean %+.3f (se %.3f), default %+.2f; functions better %d, worse %d\n", at, mean(gain),
              stats::sd(gain) / sqrt(length(gain)), mean(pairs[[paste0(at, ".default")]]), sum(by < -0.05),
              sum(by > 0.05)))
}

print_by_function <- function(pairs) {
  mean_of <- function(at) round(tapply(pairs[[at]] - pairs[[paste0(at, ".default")]], pairs$fid, mean), 2)
  print(rbind(best = mean_of("best"), par = mean_of("par")))
}

if (args$report == "TRUE") print_pairs(utils::read.csv(args$out)) else main()
