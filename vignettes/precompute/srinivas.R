# Results of the two sensor experiments of vignettes/srinivas.Rmd, for readers without the data.
# Builds the vignette on the data and stores the curves it computed: there is no second copy
# of the code. From the package's root, with gpbandits installed (about a minute):
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/srinivas.R
stopifnot(nzchar(Sys.getenv("GPBANDITS_DATA")))
Sys.setenv(GPBANDITS_DATA = normalizePath(Sys.getenv("GPBANDITS_DATA")))

vignette <- new.env()
rmarkdown::render("vignettes/srinivas.Rmd", output_dir = tempdir(), intermediates_dir = tempdir(),
                  envir = vignette, quiet = TRUE)
stopifnot(vignette$have_data)

curves <- rbind(cbind(problem = "temperature", vignette$temperature),
                cbind(problem = "traffic", vignette$traffic))
curves$mean <- signif(curves$mean, 5)
curves$se <- signif(curves$se, 3)

file <- "inst/extdata/srinivas-sensors.csv"
dir.create(dirname(file), showWarnings = FALSE)
writeLines(c(
  "# Mean and standard error of the average regret, computed by vignettes/precompute/srinivas.R",
  sprintf("# temperature: 2000 runs, seed 46, %.0f s; traffic: 900 runs, seed 357, %.0f s",
          vignette$seconds[["temperature"]], vignette$seconds[["traffic"]]),
  sprintf("# (processor time, one process); gpbandits %s, %s", packageVersion("gpbandits"), R.version.string)
), file)
suppressWarnings(write.table(curves, file, append = TRUE, sep = ",", row.names = FALSE, quote = FALSE))
