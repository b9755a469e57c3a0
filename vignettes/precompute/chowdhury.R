# The stored results of vignettes/articles/chowdhury-in-full.Rmd, made with the article's own chunks: there is no second copy of the code.
# From the package's root, with gpbandits installed:
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/chowdhury.R                    (all parts: five minutes of one core)
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/chowdhury.R synthetic bands    (some: synthetic, bands, sensors)
library(gpbandits)
source("vignettes/precompute/results.R")
run <- function(...) system.time(run_chunks("chowdhury", c(...)))[["user.self"]]
run_chunks("chowdhury", c("rules", "problems", "curves"))

# Two dozen rounds, evenly spaced on the logarithmic axis.
shown <- unique(round(10^seq(2, log10(30000), length.out = 24) / 100) * 100)
rows_of <- function(figure, comparisons) {
  do.call(rbind, lapply(names(comparisons), function(problem) {
    one <- curves(comparisons[[problem]])
    cbind(figure = figure, problem = problem, one[one$round %in% shown, ])
  }))
}

store <- function(name, ...) write_results(paste0("chowdhury-", name), ..., script = "chowdhury.R", digits = 4)

parts <- list(
  synthetic = function() {
    seconds <- run("synthetic", "synthetic-run", "printed-B", "standard", "standard-run", "tighter", "tighter-run")
    table <- rbind(rows_of("1", figure1), rows_of("2", figure2), rows_of("1 printed", printed1), rows_of("2 printed", printed2),
                   rows_of("3", figure3), rows_of("tighter", tighter))
    store("synthetic", table, "Mean and standard deviation of the cumulative regret, seed 2017, 25 trials of 30,000 rounds", seconds = seconds)
  },
  bands = function() {
    seconds <- run("bands", "bands-run", "bands-summary")
    store("bands", data.frame(band = rownames(band_results), band_results, row.names = NULL),
                  "Half-widths and coverage of confidence bands, seed 2025, 60 runs", seconds = seconds)
  },
  sensors = function() {
    stopifnot(nzchar(Sys.getenv("GPBANDITS_DATA")))
    seconds <- run("sensor-experiment", "sensor-data")
    store("sensors", sensors, seconds = seconds,
          "Mean and standard deviation of the cumulative regret, seed 54, 96 and 192 test rows, 2 settings, 1000 rounds")
  }
)
wanted <- commandArgs(TRUE)
if (length(wanted) == 0) wanted <- names(parts)
for (name in wanted) parts[[name]]()
