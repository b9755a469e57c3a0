# Optimisers on the 24 noiseless BBOB functions (package smoof) and on noisy versions of them, by gap after a budget.
#
#   Rscript bench/optimisation.R [d=2] [evaluations=60] [fids=1:24] [instances=3:5] [noise=0] [methods=a,b] [seed=1] [out=FILE]
#   Rscript bench/optimisation.R report=TRUE [out=FILE]     writes bench/results/optimisation.md from the runs
#
# `noise`: its sd as a share of the interquartile range of f over 1,000 uniform points. Every run is a line of the file `out`
# (appended; runs that it has are not made again): log10 gap of the best point evaluated (noisy: of the recommended one; of
# methods that recommend none the one with the best reading), by the true f; seconds by the clock and of the processor. Baselines run where
# their packages are installed: mlr3mbo, DiceOptim, cmaes. Runs of random search made anew are means of ten, since one is luck on rugged
# functions; those stored so far are of one.
# The defaults of maximize_bandit() were chosen on instances 1 and 2; what is reported is on 3 to 5.
library(gpbandits)
source("bench/shared/script.R")
source("bench/shared/bbob.R")
args <- arguments(d = "2", evaluations = "60", fids = "1:24", instances = "3:5", noise = "0", seed = "1",
                  methods = "default,ei,random", out = "bench/results/optimisation.csv.gz", report = "FALSE")

# ---- optimisers: function(f, d, n) minimises f over [-5, 5]^d with n calls and returns the point it recommends, or NULL ----------

ours <- function(...) {
  settings <- list(...)
  function(f, d, n) {
    domain <- box_domain(rep(-5, d), rep(5, d))
    do.call(minimize_bandit, c(list(f, domain, n), settings))$par
  }
}

random_search <- function(f, d, n) {
  for (k in seq_len(n)) f(runif(d, -5, 5))
  NULL
}

cma_es <- function(f, d, n) {
  # Its calls beyond the budget are not counted (see counted()).
  control <- list(maxit = ceiling(n / (4 + floor(3 * log(d)))), sigma = 2.5)
  cmaes::cma_es(runif(d, -4, 4), f, lower = rep(-5, d), upper = rep(5, d), control = control)
  NULL
}

# EGO as its manual has it: a Latin hypercube of 5 d points, then EI with a Matern 5/2 kernel.
dice_optim <- function(f, d, n) {
  design <- 10 * DiceDesign::lhsDesign(5 * d, d)$design - 5
  y <- apply(design, 1, f)
  model <- DiceKriging::km(~1, design = data.frame(design), response = y, covtype = "matern5_2",
                           control = list(trace = FALSE), nugget = 1e-8 * var(y))
  DiceOptim::EGO.nsteps(model, f, nsteps = n - 5 * d, lower = rep(-5, d), upper = rep(5, d),
                        control = list(print.level = 0))
  NULL
}

mlr3mbo_default <- function(f, d, n) {
  loadNamespace("mlr3mbo")
  lgr::get_logger("mlr3/bbotk")$set_threshold("warn")
  domain <- do.call(paradox::ps, stats::setNames(rep(list(paradox::p_dbl(-5, 5)), d), paste0("x", seq_len(d))))
  objective <- bbotk::ObjectiveRFun$new(function(xs) list(y = f(unlist(xs))), domain,
                                        codomain = paradox::ps(y = paradox::p_dbl(tags = "minimize")))
  instance <- bbotk::OptimInstanceBatchSingleCrit$new(objective, terminator = bbotk::trm("evals", n_evals = n))
  bbotk::opt("mbo")$optimize(instance)
  unlist(instance$result_x_domain)
}

methods <- list(
  default = ours(),
  ei = ours(policy = policy_ei()),
  ucb = ours(policy = policy_ucb(width_constant(2))),
  random = random_search, cmaes = cma_es, DiceOptim = dice_optim, mlr3mbo = mlr3mbo_default
)
variants <- Sys.getenv("OPTIMISATION_VARIANTS")
if (nzchar(variants)) source(variants)                 # more entries of `methods`, to choose defaults by

# ---- one run -------------------------------------------------------------------------------------------------------

repeats <- c(random = 10)

mean_run <- function(name, ..., seed) {
  count <- if (name %in% names(repeats)) repeats[[name]] else 1
  runs <- do.call(rbind, lapply(seq_len(count), function(k) one_run(methods[[name]], ..., seed = seed + (k - 1) * 1e6)))
  numeric <- vapply(runs, is.numeric, NA)
  cbind(as.data.frame(lapply(runs[numeric], function(column) signif(mean(column), 6))), runs[1, !numeric, drop = FALSE])
}

one_run <- function(method, fid, iid, d, evaluations, noise, seed) {
  calls <- bbob_problem(fid, iid, d, evaluations, noise)
  truth <- calls$truth
  optimum <- calls$optimum
  set.seed(seed + 100 * fid + 10000 * iid)
  started <- proc.time()
  par <- NULL
  failed <- tryCatch({
    utils::capture.output(par <- suppressMessages(method(calls$f, d, evaluations)))
    ""
  }, error = conditionMessage)
  spent <- proc.time() - started
  best <- cummin(calls$seen()) - optimum
  recommended <- (if (is.numeric(par)) truth(as.numeric(par)) else calls$best_measurement()) - optimum
  at <- pmin(length(best), ceiling(evaluations * c(0.25, 0.5, 0.75, 1)))
  gaps <- log10(pmax(best[at], 1e-8))
  data.frame(q25 = gaps[1], q50 = gaps[2], q75 = gaps[3], gap = gaps[4],
             recommended = log10(pmax(recommended, 1e-8)), seconds = spent[["elapsed"]],
             processor = sum(spent[1:2]), calls = length(best), failed = gsub("[[:space:],\"]+", " ", failed))
}

main <- function() {
  d <- numbers(args$d)
  evaluations <- numbers(args$evaluations)
  noise <- numbers(args$noise)
  wanted <- words(args$methods)
  rows <- if (nzchar(args$out) && file.exists(args$out)) utils::read.csv(args$out)
  done <- rows
  for (iid in numbers(args$instances)) for (fid in numbers(args$fids)) for (name in wanted) {
    key <- data.frame(method = name, d = d, evaluations = evaluations, noise = noise, fid = fid, iid = iid)
    if (is_done(done, key)) next
    row <- cbind(key, mean_run(name, fid, iid, d, evaluations, noise, seed = numbers(args$seed)))
    if (nzchar(args$out)) keep_rows(row, args$out)
    rows <- rbind(rows, row)
  }
  print_summary(rows)
}

print_summary <- function(rows) {
  rows <- scored(rows[rows$method %in% words(args$methods), ])
  rows <- common_problems(rows, unique(rows$method))
  cat(sprintf("\n%d problems\n", length(unique(rows$problem))))
  print(method_table(rows), row.names = FALSE)
  cat("\nmean log10 gap by function\n")
  print(round(tapply(rows$score, list(rows$fid, rows$method), mean), 1))
}

scored <- function(rows) {
  rows$score <- ifelse(rows$noise > 0, rows$recommended, rows$gap)
  rows$problem <- paste(rows$d, rows$noise, rows$fid, rows$iid)
  rows
}

# The problems that all of these methods have run on; ranks among them.
common_problems <- function(rows, methods) {
  rows <- rows[rows$method %in% methods, ]
  full <- table(rows$problem) == length(methods)
  rows <- rows[rows$problem %in% names(full)[full], ]
  if (nrow(rows)) rows$rank <- ave(rows$score, rows$problem, FUN = rank)
  rows
}

method_table <- function(rows) {
  mean_of <- function(column) tapply(rows[[column]], rows$method, mean, na.rm = TRUE)
  table <- data.frame(method = names(mean_of("score")), log10_gap = mean_of("score"), at_half = mean_of("q50"),
                      rank = mean_of("rank"), processor_s = mean_of("processor"))
  table <- table[order(table$log10_gap), ]
  cbind(table[1], round(table[-1], 2))
}

# ---- the report --------------------------------------------------------------------------------------------------

markdown <- function(table) {
  cells <- vapply(table, function(column) ifelse(is.na(column), "-", format(column, trim = TRUE)), character(nrow(table)))
  cells <- matrix(cells, nrow(table))
  line <- function(words) paste0("| ", paste(words, collapse = " | "), " |")
  c(line(names(table)), line(ifelse(vapply(table, is.numeric, NA), "---:", "---")), apply(cells, 1, line), "")
}

count_of <- function(rows) {
  sprintf("%d functions, instances %s, %d problems", length(unique(rows$fid)), paste(sort(unique(rows$iid)), collapse = ", "),
          length(unique(rows$problem)))
}

# The cheap methods run everywhere; each of the others is compared where it has run.
report <- function(rows) {
  rows <- scored(rows)
  cheap <- c("default", "cmaes", "random")
  out <- readLines("bench/results/optimisation_head.md")
  for (noise in sort(unique(rows$noise))) for (d in sort(unique(rows$d))) {
    here <- rows[rows$d == d & rows$noise == noise, ]
    for (peers in c(list(character()), as.list(setdiff(unique(here$method), cheap)))) {
      common <- common_problems(here, c(cheap, peers))
      if (nrow(common) == 0) next
      title <- sprintf("### %d inputs, %d evaluations%s%s", d, common$evaluations[1],
                       if (noise > 0) sprintf(", noise %g%%", 100 * noise) else "",
                       if (length(peers)) paste(", with", peers) else "")
      out <- c(out, title, "", paste0(count_of(common), "."), "", markdown(method_table(common)), aims(common))
    }
  }
  writeLines(c(out, by_function(rows)), "bench/results/optimisation.md")
}

# What issue 15 wants, and whether it is so on these problems.
aims <- function(rows) {
  table <- method_table(rows)
  own <- table$method == "default"
  verdict <- function(met, text) sprintf("- %s: %s", if (met) "met" else "**missed**", text)
  score <- tapply(rows$score, list(rows$fid, rows$method), mean)
  worse <- which(score[, "default"] > score[, "random"] + 1e-9)
  peers <- table$method[!own & !table$method %in% "random"]
  gaps <- tapply(rows$score, list(rows$problem, rows$method), mean)
  margin <- vapply(peers, function(peer) mean(gaps[, peer] - gaps[, "default"]), 0)
  error <- stats::sd(gaps[, names(which.min(margin))] - gaps[, "default"]) / sqrt(nrow(gaps))
  share <- vapply(peers, function(peer) table$processor_s[own] / table$processor_s[table$method == peer], 0)
  slow <- share[setdiff(peers, "cmaes")]
  c(verdict(table$rank[own] == min(table$rank), "first in mean rank"),
    verdict(min(margin) >= 0.3, sprintf("mean log10 gap better than that of the best peer (%s) by 0.3: by %.2f +- %.2f",
                                        names(which.min(margin)), min(margin), error)),
    verdict(length(worse) == 0, paste("no function worse than random search", if (length(worse)) {
      paste0("(", paste(sprintf("%s by %.2f", names(worse), score[worse, "default"] - score[worse, "random"]), collapse = ", "), ")")
    })),
    if (length(slow) && is.finite(slow)) verdict(slow < 0.1, sprintf("under a tenth of the time: %.3f", slow)), "")
}

by_function <- function(rows) {
  rows <- rows[rows$noise == 0, ]
  wide <- round(tapply(rows$score, list(rows$fid, paste(rows$method, rows$d)), mean), 1)
  order <- order(as.numeric(sub(".* ", "", colnames(wide))), colnames(wide))
  c("### log10 gap by function, noiseless", "", "Mean over the instances that the method has run on; a column per method and number of inputs.", "",
    markdown(data.frame(fid = rownames(wide), wide[, order], check.names = FALSE)))
}

if (args$report == "TRUE") report(utils::read.csv(args$out)) else main()
