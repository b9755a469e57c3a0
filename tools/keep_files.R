# Writes what a release writes, to be kept for good and read by tests/testthat/test-compatibility.R:
#   Rscript tools/keep_files.R [VERSION]
# into tests/testthat/kept/VERSION: files.tar.xz (saved bandits, results of searches and fits, journals, a SQLite store,
# JSON) and expected.rds, what is to be expected of them (log, posterior, next choice) as plain data. Run it once at a
# release, with the package as released, and commit. Files of a version that is out are never written again.
library(gpbandits)
arguments <- commandArgs(TRUE)
version <- if (length(arguments)) arguments[1] else as.character(utils::packageVersion("gpbandits"))
home <- file.path("tests", "testthat", "kept", version)
dir.create(home, recursive = TRUE, showWarnings = FALSE)
source("tests/testthat/helper-kept.R")
files <- tempfile("kept")
dir.create(files)
as_file <- function(...) file.path(files, paste0(...))

expected <- list()
bandits <- list()
for (kind in names(kept_kinds)) {
  set.seed(1)
  bandits[[kind]] <- kept_live(kept_kinds[[kind]]$make(), kind)
  expected[[kind]] <- kept_facts(bandits[[kind]], kind)
  if (!isFALSE(kept_kinds[[kind]]$json)) writeLines(as_json(bandits[[kind]]), as_file(kind, ".json"))
  set.seed(1)
  kept_live(kept_kinds[[kind]]$make(journal = as_file(kind, ".journal")), kind)
}
invisible(gc())                                               # (which closes the journals)
# (What some kinds are there for must have happened.)
stopifnot(any(vapply(bandits$averaged$refits, function(fit) !is.null(fit$models), NA)),
          !is.null(bandits$transfer$config$transfer),
          any(vapply(bandits$transformed$refits, function(fit) fit$output_map$lambda != 1, NA)),
          any(vapply(bandits$forgets$refits, function(fit) !is.null(fit$forgetting), NA)),
          any(vapply(bandits$varying$refits, function(fit) !is.null(fit$noise_field), NA)),
          max(bandits$event$history()$segment) > 1, bandits$compacted$events$kind[1] == 11L)
saveRDS(bandits, as_file("bandits.rds"), version = 3)

set.seed(1)
results <- kept_results()
saveRDS(results, as_file("results.rds"), version = 3)
expected$results <- kept_result_facts(results)

con <- DBI::dbConnect(RSQLite::SQLite(), as_file("store.db"), synchronous = NULL)
invisible(DBI::dbExecute(con, "PRAGMA page_size = 512"))
for (kind in names(kept_kinds)) {
  if (isFALSE(kept_kinds[[kind]]$store)) next
  set.seed(1)
  bandit <- kept_live(kept_kinds[[kind]]$make(store = bandit_store(con, kind, seed = 1)), kind)
  expected[[paste0("store:", kind)]] <- kept_facts(bandit, kind)
}
for (name in names(kept_searches)) {
  set.seed(1)
  found <- kept_searches[[name]](6, store = bandit_store(con, paste0("search-", name), seed = 1))
  expected[[paste0("stored-search:", name)]] <- as.list(found$history)
}
invisible(DBI::dbExecute(con, "PRAGMA journal_mode = DELETE"))
invisible(DBI::dbExecute(con, "VACUUM"))
DBI::dbDisconnect(con)

# (The names are those of no machine: the archive is the same wherever it is written.)
archive <- file.path(normalizePath(home), "files.tar.xz")
local({
  old <- setwd(files)
  on.exit(setwd(old))
  utils::tar(archive, sort(dir()), compression = "xz", compression_level = 9, tar = "internal")
})
saveRDS(expected, file.path(home, "expected.rds"), version = 3, compress = "xz")
cat(sprintf("%s: %d files in %.0f KB\n", home, length(dir(files)), sum(file.size(dir(home, full.names = TRUE))) / 1024))
