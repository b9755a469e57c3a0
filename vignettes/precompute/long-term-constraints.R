# Results of the rivals (and of what else takes long) for vignettes/long-term-constraints.Rmd. Builds
# the vignette with GPBANDITS_PRECOMPUTE set, so that it plays everything, and stores what it
# computed: there is no second copy of the code. From the package's root, with gpbandits installed:
#   Rscript vignettes/precompute/long-term-constraints.R
# Seed 2022, 100 runs of 350 rounds each; about twenty-four minutes on one core.
Sys.setenv(GPBANDITS_PRECOMPUTE = "yes")
vignette <- new.env()
seconds <- system.time(
  rmarkdown::render("vignettes/long-term-constraints.Rmd", output_dir = tempdir(), intermediates_dir = tempdir(),
                    envir = vignette, quiet = TRUE)
)[["user.self"]]

table <- vignette$stored
table <- table[table$quantity != "stopped" | table$bandit == "ADMMBO", ]
numbers <- c("mean", "q05", "q25", "q50", "q75", "q95")
table[numbers] <- lapply(table[numbers], function(v) signif(round(v, 4), 4))
boxed <- table$bandit %in% c("reuse", "letter", "OCO", "ADMMBO")       # the others are drawn as curves
table[!boxed, numbers[-1]] <- NA

file <- "inst/extdata/long-term-constraints.csv"
writeLines(c(
  "# Mean and quantiles over 100 runs of time-averaged regret and violation, by vignettes/precompute/long-term-constraints.R",
  sprintf("# seed 2022, %.0f s of processor time with the article; gpbandits %s, %s", seconds,
          packageVersion("gpbandits"), R.version.string)
), file)
suppressWarnings(write.table(table, file, append = TRUE, sep = ",", row.names = FALSE, quote = FALSE, na = ""))
