# The stored results of vignettes/articles/srinivas-in-full.Rmd, made with the article's own chunks: there is no second copy of the code.
# From the package's root, with gpbandits installed (a minute and a half of one core):
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/srinivas.R            (all parts)
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/srinivas.R map        (some: curves, map)
library(gpbandits)
stopifnot(nzchar(Sys.getenv("GPBANDITS_DATA")))
source("vignettes/precompute/results.R")
store <- function(name, table, about, seconds) {
  write_results(paste0("srinivas-", name), table, about, "srinivas.R", seconds, quote = FALSE)
}

parts <- list(
  curves = function() {
    chunks <- c("policies", "synthetic", "synthetic-run", "curves", "sensor-experiment", "sensor-data", "sensors-run")
    seconds <- system.time(run_chunks("srinivas", chunks))[["user.self"]]
    some <- curves(synthetic)
    shown <- unique(round(10^seq(0, 3, length.out = 40)))               # even on the logarithmic axis
    table <- rbind(cbind(problem = "synthetic", some[some$round %in% shown, ]), cbind(problem = "temperature", temperature),
                   cbind(problem = "traffic", traffic))
    table$mean <- signif(table$mean, 5)
    table$se <- signif(table$se, 3)
    store("curves", table, "Mean and standard error of the average regret (30 runs, seed 2010; 2000 runs, seed 46; 900 runs, seed 357)", seconds)
  },
  map = function() {
    seconds <- system.time({
      motes <- read.csv(file.path(Sys.getenv("GPBANDITS_DATA"), "intel_lab_locations.csv"))
      motes <- motes[motes$mote_id != 5, ]                              # broken
      fit <- gp_fit(motes[c("x_m", "y_m")], motes$snapshot_1_degC, kernel_matern(2.5, 8, 4), mean = "fit")
      map <- expand.grid(x_m = seq(0, 41, length.out = 36), y_m = seq(0, 32, length.out = 29))
      map$temperature <- predict(fit, map, se.fit = FALSE)
    })[["user.self"]]
    store("map", signif(map, 4), "Temperature over the Intel Berkeley laboratory: posterior mean from one snapshot of 53 sensors", seconds)
  }
)
wanted <- commandArgs(TRUE)
if (length(wanted) == 0) wanted <- names(parts)
for (name in wanted) parts[[name]]()
