# The stored results of vignettes/chowdhury.Rmd, made with the article's own chunks: there is no second copy of the code.
# From the package's root, with gpbandits installed:
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/chowdhury.R                    (all parts: five minutes of one core)
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/chowdhury.R synthetic bands    (some: synthetic, bands, sensors)
library(gpbandits)
article <- readLines("vignettes/chowdhury.Rmd")
run_chunk <- function(name) {
  from <- grep(paste0("^```\\{r ", name, "[,}]"), article)
  code <- article[(from + 1):(from + which(article[-seq_len(from)] == "```")[1] - 1)]
  eval(parse(text = code), globalenv())
}
for (name in c("rules", "problems", "look")) run_chunk(name)

write_results <- function(name, table, what, seconds) {
  file <- sprintf("inst/extdata/chowdhury-%s.csv", name)
  writeLines(c(sprintf("# %s, computed by vignettes/precompute/chowdhury.R", what),
               sprintf("# %.0f s of processor time, one process; gpbandits %s, %s", seconds, packageVersion("gpbandits"), R.version.string)), file)
  numbers <- vapply(table, is.double, NA)
  table[numbers] <- lapply(table[numbers], signif, 4)
  suppressWarnings(write.table(table, file, append = TRUE, sep = ",", row.names = FALSE))
}

# Two dozen rounds, evenly spaced on the logarithmic axis.
shown <- unique(round(10^seq(2, log10(30000), length.out = 24) / 100) * 100)
rows_of <- function(figure, comparisons) {
  do.call(rbind, lapply(names(comparisons), function(problem) {
    one <- curves(comparisons[[problem]])
    cbind(figure = figure, problem = problem, one[one$round %in% shown, ])
  }))
}

parts <- list(
  synthetic = function() {
    seconds <- system.time(for (name in c("synthetic", "synthetic-run", "printed-B", "standard", "standard-run", "tighter", "tighter-run")) {
      run_chunk(name)
    })[["user.self"]]
    table <- rbind(rows_of("1", figure1), rows_of("2", figure2), rows_of("1 printed", printed1), rows_of("2 printed", printed2),
                   rows_of("3", figure3), rows_of("tighter", tighter))
    write_results("synthetic", table, "Mean and standard deviation of the cumulative regret, seed 2017, 25 trials of 30,000 rounds", seconds)
  },
  bands = function() {
    seconds <- system.time(for (name in c("bands", "bands-run", "bands-summary")) run_chunk(name))[["user.self"]]
    write_results("bands", data.frame(band = rownames(band_results), band_results, row.names = NULL),
                  "Half-widths and coverage of confidence bands, seed 2025, 60 runs", seconds)
  },
  sensors = function() {
    stopifnot(nzchar(Sys.getenv("GPBANDITS_DATA")))
    seconds <- system.time(for (name in c("sensor-experiment", "sensor-data")) run_chunk(name))[["user.self"]]
    write_results("sensors", sensors, "Mean and standard deviation of the cumulative regret, seed 54, 96 and 192 test rows, 2 settings, 1000 rounds", seconds)
  }
)
wanted <- commandArgs(TRUE)
if (length(wanted) == 0) wanted <- names(parts)
for (name in wanted) parts[[name]]()
