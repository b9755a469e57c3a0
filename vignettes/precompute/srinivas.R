# The stored results of vignettes/srinivas.Rmd, made with the article's own chunks: there is no second copy of the code.
# From the package's root, with gpbandits installed (a minute and a half of one core):
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/srinivas.R            (all parts)
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/srinivas.R map        (some: curves, map)
library(gpbandits)
stopifnot(nzchar(Sys.getenv("GPBANDITS_DATA")))
article <- readLines("vignettes/srinivas.Rmd")
run_chunk <- function(name) {
  from <- grep(paste0("^```\\{r ", name, "[,}]"), article)
  code <- article[(from + 1):(from + which(article[-seq_len(from)] == "```")[1] - 1)]
  eval(parse(text = code), globalenv())
}
write_results <- function(name, table, what, seconds) {
  file <- sprintf("inst/extdata/srinivas-%s.csv", name)
  writeLines(c(sprintf("# %s, computed by vignettes/precompute/srinivas.R", what),
               sprintf("# %.0f s of processor time, one process; gpbandits %s, %s", seconds, packageVersion("gpbandits"), R.version.string)), file)
  suppressWarnings(write.table(table, file, append = TRUE, sep = ",", row.names = FALSE, quote = FALSE))
}

parts <- list(
  curves = function() {
    chunks <- c("policies", "synthetic", "synthetic-run", "curves", "sensor-experiment", "sensor-data", "sensors-run")
    seconds <- system.time(for (name in chunks) run_chunk(name))[["user.self"]]
    some <- curves(synthetic)
    shown <- unique(round(10^seq(0, 3, length.out = 40)))               # even on the logarithmic axis
    table <- rbind(cbind(problem = "synthetic", some[some$round %in% shown, ]), cbind(problem = "temperature", temperature),
                   cbind(problem = "traffic", traffic))
    table$mean <- signif(table$mean, 5)
    table$se <- signif(table$se, 3)
    write_results("curves", table, "Mean and standard error of the average regret (30 runs, seed 2010; 2000 runs, seed 46; 900 runs, seed 357)", seconds)
  },
  map = function() {
    seconds <- system.time({
      motes <- read.csv(file.path(Sys.getenv("GPBANDITS_DATA"), "intel_lab_locations.csv"))
      motes <- motes[motes$mote_id != 5, ]                              # broken
      fit <- gp_fit(motes[c("x_m", "y_m")], motes$snapshot_1_degC, kernel_matern(2.5, 8, 4), mean = "fit")
      map <- expand.grid(x_m = seq(0, 41, length.out = 36), y_m = seq(0, 32, length.out = 29))
      map$temperature <- predict(fit, map, se.fit = FALSE)
    })[["user.self"]]
    write_results("map", signif(map, 4), "Temperature over the Intel Berkeley laboratory: posterior mean from one snapshot of 53 sensors", seconds)
  }
)
wanted <- commandArgs(TRUE)
if (length(wanted) == 0) wanted <- names(parts)
for (name in wanted) parts[[name]]()
