# Searches in tables of real experiments: how many experiments until one of the best settings is found.
#
#   Rscript bench/experiments.R [tables=all|half1|half2|NAME,NAME] [settings=default,random] [seeds=1:20] [batch=1]
#                               [experiments=60] [goals=one|all] [to_end=FALSE] [out=FILE]
#   Rscript bench/experiments.R report=TRUE out=FILE       tables in Markdown
#   Rscript bench/experiments.R curves=TRUE out=FILE       the best yield of the direct arylation by experiment
#   Rscript bench/experiments.R article=TRUE out=FILE      stores what vignettes/articles/real-experiments.Rmd shows
#
# The tables are those of GPBANDITS_DATA/experiments (18 with a README of their sources). The candidates of a search
# are the distinct settings of a table. An experiment's result is one of the rows with these settings, in an order that
# depends on the seed. The best settings are the best 1% by the mean of their rows, at least three. A seed decides
# which rows answer, and what a search draws: settings are compared in pairs. Every search is a line of `out`; searches
# that it has are not made again.
#
# Settings of bench/shared/ablation.R (`product`, `random_design`, ...) leave out or replace a part of the default.
#
# `half1` chose the defaults, `half2` is for reports. `goals=all`: tables with several outcomes, by the share of the
# hypervolume of all rows. `to_end=TRUE`: a search goes on after its first success, for curves. Direct arylation is
# apart from the halves (`tables=direct_arylation`); stored with it are 50 searches of EDBO and those of 50 chemists.
library(gpbandits)
source("bench/shared/script.R")
source("bench/shared/experiments.R")
source("bench/shared/peers.R")
source("bench/shared/ablation.R")
args <- arguments(tables = "all", settings = "default,random", seeds = "1:20", batch = "1", experiments = "60",
                  goals = "one", to_end = "FALSE", out = "", report = "FALSE", curves = "FALSE", article = "FALSE")

descriptors <- function(name) {
  if (name != arylation) return(NULL)
  rows <- utils::read.csv(file.path(folder, "direct_arylation_descriptors.csv"))
  lapply(split(rows, rows$input), function(these) {
    columns <- these[-(1:2)]
    data.frame(columns[!vapply(columns, anyNA, NA)], row.names = these$level)
  })
}

# What a setting gives auto_bandit(); `random` makes no bandit. `long_design` is the default of boxes.
settings <- list(
  default = function(pool) list(),
  long_design = function(pool) list(n_initial = max(4, 5 * length(pool$inputs))),
  design2 = function(pool) list(n_initial = 2),
  design5 = function(pool) list(n_initial = 5),
  none = function(pool) list(model = gp_model(noise = "none")),
  little_noise = function(pool) list(model = gp_model(noise_prior = c(log(1e-4), 1))),
  descriptors = function(pool) list(),
  random = NULL
)
settings <- c(settings, lapply(ablations, function(part) function(pool) part["model"][!is.null(part$model)]))

or_identity <- function(f) if (is.null(f)) identity else f

bandit_for <- function(pool, setting) {
  features <- if (setting == "descriptors") descriptors(pool$name)
  goals <- if (args$goals == "all") lapply(pool$outcomes, function(one) to_maximize())
  domain <- finite_domain(pool$inputs, labels = FALSE, features = features)
  making <- or_identity(ablations[[setting]]$making)
  making(do.call(auto_bandit, c(list(domain, outcomes = goals), settings[[setting]](pool))))
}

# The arms that a search asks for, in their order.
search_arms <- function(pool, setting, seed, count, batch, ends) {
  result <- results_of(pool, seed)
  set.seed(seed)
  if (setting == "random") return(sample.int(length(pool$rows), min(count, length(pool$rows))))
  if (setting %in% names(peers)) return(peer_arms(pool, setting, seed, count, ends))
  bandit <- bandit_for(pool, setting)
  arms <- integer()
  while (length(arms) < count && !(ends && any(pool$best[arms]))) {
    asked <- bandit$suggest(min(batch, count - length(arms)))
    got <- lapply(asked$arm, result)
    got <- do.call(rbind, got)
    bandit$observe(cbind(id = asked$id, if (args$goals == "all") got else data.frame(reward = got[[1]])))
    arms <- c(arms, asked$arm)
  }
  arms
}

first_of <- function(condition, count) c(which(condition), count + 1)[1]

# The share of the hypervolume above the worst values of the table, of two or three outcomes (by a grid of points).
hypervolume_share <- function(pool, arms) {
  scaled <- vapply(pool$outcomes, function(one) (one - min(one)) / diff(range(one)), numeric(nrow(pool$outcomes)))
  set.seed(1)
  points <- matrix(stats::runif(20000 * ncol(scaled)), ncol = ncol(scaled))
  covered <- function(rows) {
    under <- logical(nrow(points))
    for (row in rows) under <- under | colSums(t(points) <= scaled[row, ]) == ncol(points)
    mean(under)
  }
  covered(unlist(pool$rows[unique(arms)])) / covered(seq_len(nrow(scaled)))
}

play <- function(pool, setting, seed) {
  count <- min(as.integer(args$experiments), length(pool$rows))
  several <- args$goals == "all"
  started <- proc.time()
  playing <- or_identity(ablations[[setting]]$playing)
  arms <- playing(search_arms(pool, setting, seed, count, as.integer(args$batch), !several && args$to_end == "FALSE"))
  spent <- sum((proc.time() - started)[1:2])
  best_so_far <- cummax(pool$value[arms])
  after <- function(k) if (length(arms) >= k) best_so_far[k] else max(best_so_far)
  row <- data.frame(table = pool$name, setting, seed, batch = as.integer(args$batch), goals = args$goals,
                    until_best = first_of(pool$best[arms], count),
                    until_top = first_of(arms == which.max(pool$value), count),
                    after_25 = after(25), after_50 = after(50), repeats = sum(duplicated(arms)),
                    hypervolume = if (several) hypervolume_share(pool, arms) else NA, seconds = round(spent, 2))
  if (args$to_end == "TRUE") row$curve <- paste(signif(best_so_far, 6), collapse = " ")
  row
}

# ---- tables ----------------------------------------------------------------------------------------------------------

# The number of experiments, 60 at the most, with the standard error of the mean over the seeds.
report <- function(rows) {
  capped <- pmin(rows$until_best, 60)
  cell <- function(x) sprintf("%.1f (%.1f)", mean(x), stats::sd(x) / sqrt(length(x)))
  used <- unique(rows$setting)
  line(c("table", used))
  line(c("---", rep("---:", length(used))))
  for (name in intersect(c(half1, half2, arylation), rows$table)) {
    line(c(name, vapply(used, function(one) {
      cell(capped[rows$table == name & rows$setting == one])
    }, "")))
  }
  mean_of <- function(values, of) vapply(used, function(one) {
    these <- rows$setting == one & rows$table %in% of
    if (!any(these)) return("")
    sprintf("%.1f", mean(tapply(values[these], rows$table[these], mean)))
  }, "")
  line(c("**mean, tables that chose**", mean_of(capped, half1)))
  line(c("**mean, the other tables**", mean_of(capped, half2)))
  line(c("found within 60, %", mean_of(100 * (rows$until_best <= 60), c(half1, half2))))
  line(c("repeats", mean_of(rows$repeats, c(half1, half2))))
  line(c("seconds of processor", mean_of(rows$seconds, c(half1, half2))))
}

shown_experiments <- c(5, 10, 15, 20, 25, 30, 40, 50)

best_by_experiment <- function(text) {
  vapply(strsplit(text, " "), function(one) as.numeric(one)[shown_experiments], numeric(length(shown_experiments)))
}

# Of people who stopped early the best so far stays.
stored_curves <- function(file) {
  yields <- as.matrix(utils::read.csv(file.path(folder, file))[-1])
  apply(yields, 1, function(one) cummax(ifelse(is.na(one), 0, one))[shown_experiments])
}

curves <- function(rows) {
  line(c("experiments", shown_experiments, "worst at 50"))
  line(c("---", rep("---:", 9)))
  show <- function(name, best) line(c(name, sprintf("%.1f", rowMeans(best)), sprintf("%.1f", min(best[8, ]))))
  these <- rows[rows$table == arylation & !is.na(rows$curve), ]
  for (one in unique(these$setting)) show(one, best_by_experiment(these$curve[these$setting == one]))
  show("EDBO (stored)", stored_curves("direct_arylation_edbo.csv"))
  show("50 chemists (stored)", stored_curves("direct_arylation_chemists.csv"))
}

# ---- the article -----------------------------------------------------------------------------------------------------

store <- function(frame, name) {
  file <- file.path("vignettes/articles", name)
  writeLines(sprintf("# by bench/experiments.R article=TRUE; gpbandits %s", utils::packageVersion("gpbandits")), file)
  suppressWarnings(utils::write.table(frame, file, sep = ",", row.names = FALSE, append = TRUE))
}

# Of the panel the mean and its standard error, by table and setting. Of direct arylation the mean of the best yield by
# experiment, and the 10% and 90% quantiles, by series.
store_for_article <- function(rows) {
  panel <- rows[rows$table %in% c(half1, half2), ]
  if (nrow(panel)) {
    panel$capped <- pmin(panel$until_best, 60)
    of <- function(f) stats::aggregate(capped ~ table + setting, panel, f)$capped
    kept <- stats::aggregate(capped ~ table + setting, panel, mean)
    kept <- data.frame(kept[1:2], experiments = round(kept$capped, 2),
                       error = round(of(function(x) stats::sd(x) / sqrt(length(x))), 2), searches = of(length))
    store(kept[order(match(kept$table, c(half1, half2)), kept$setting), ], "real-experiments.csv")
  }
  these <- rows[rows$table == arylation, ]
  if (nrow(these) == 0) return(invisible())
  ours <- lapply(split(these$curve, these$setting), function(text) t(vapply(strsplit(text, " "), as.numeric, numeric(50))))
  stored <- lapply(c(EDBO = "direct_arylation_edbo.csv", chemists = "direct_arylation_chemists.csv"), function(file) {
    yields <- as.matrix(utils::read.csv(file.path(folder, file))[-1])
    t(apply(yields, 1, function(one) cummax(ifelse(is.na(one), 0, one))[1:50]))
  })
  series <- c(ours, stored)
  curve <- lapply(names(series), function(name) {
    best <- series[[name]]
    data.frame(series = name, experiment = 1:50, mean = round(colMeans(best), 2),
               low = apply(best, 2, stats::quantile, 0.1), high = apply(best, 2, stats::quantile, 0.9),
               searches = nrow(best))
  })
  store(do.call(rbind, curve), "real-experiments-curves.csv")
}

if (args$report == "TRUE") {
  report(utils::read.csv(args$out))
} else if (args$curves == "TRUE") {
  curves(utils::read.csv(args$out))
} else if (args$article == "TRUE") {
  store_for_article(utils::read.csv(args$out))
} else {
  named <- switch(args$tables, all = c(half1, half2), half1 = half1, half2 = half2, words(args$tables))
  done <- searches_done(args$out, c("table", "setting", "seed", "batch", "goals"))
  for (seed in numbers(args$seeds)) for (name in named) {
    pool <- pool_of(name)
    for (setting in words(args$settings)) {
      key <- data.frame(table = name, setting, seed, batch = as.integer(args$batch), goals = args$goals)
      if (!is_done(done, key)) keep_rows(play(pool, setting, seed), args$out)
    }
  }
}
