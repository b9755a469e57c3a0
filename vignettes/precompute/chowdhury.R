# Results of the sensor experiments of vignettes/chowdhury.Rmd, for readers without the data.
# Runs the vignette's own code on the data and stores the curves it computed: there is no second
# copy of the code. From the package's root, with gpbandits installed (about a minute):
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/chowdhury.R
stopifnot(nzchar(Sys.getenv("GPBANDITS_DATA")))

# The chunks that the sensor experiments need, in the vignette's order.
code <- tempfile(fileext = ".R")
knitr::purl("vignettes/chowdhury.Rmd", output = code, documentation = 1, quiet = TRUE)
lines <- readLines(code)
chunk <- cumsum(grepl("^## ----", lines))
label <- sub("^## ----([^,-]*(-[^,-]+)*).*", "\\1", tapply(lines, chunk, `[`, 1))
needed <- c("rules", "problems", "look", "sensor-experiment", "sensor-data")
wanted <- vapply(needed, function(name) which(label == name), 0L)
library(gpbandits)
for (k in wanted) eval(parse(text = lines[chunk == as.integer(names(label)[k])]), globalenv())
stopifnot(have_data)

sensors$mean <- signif(sensors$mean, 5)
sensors$sd <- signif(sensors$sd, 3)
file <- "inst/extdata/chowdhury-sensors.csv"
writeLines(c(
  "# Mean and standard deviation of the cumulative regret, computed by vignettes/precompute/chowdhury.R",
  sprintf("# seed 54; 96 + 192 test rows, 7 rules, 2 settings, 1000 rounds: %.0f s of processor time, one process",
          sensor_seconds),
  sprintf("# gpbandits %s, %s", packageVersion("gpbandits"), R.version.string)
), file)
suppressWarnings(write.table(sensors, file, append = TRUE, sep = ",", row.names = FALSE,
                             quote = which(names(sensors) == "bandit")))   # names of rules hold commas
