# Writes what a release writes, to be kept for good and read by tests/testthat/test-compatibility.R:
#   Rscript tools/keep_files.R [VERSION]
# into tests/testthat/kept/VERSION: saved bandits, journals, a SQLite store, JSON, and what is to be expected of them
# (log, posterior, next choice) as plain data. Run it once at a release, with the package as released, and commit. Files
# of a version that is out are never written again.
library(gpbandits)
arguments <- commandArgs(TRUE)
version <- if (length(arguments)) arguments[1] else as.character(utils::packageVersion("gpbandits"))
home <- file.path("tests", "testthat", "kept", version)
dir.create(home, recursive = TRUE, showWarnings = FALSE)
source("tests/testthat/helper-kept.R")

# A life of asking and telling, with every kind of event.
live <- function(bandit, kind) {
  for (k in 1:5) {
    query <- do.call(bandit$suggest, kept_question(kind))
    if (k != 3) kept_record(bandit, kind, query)
  }
  if (is.null(kept_kinds[[kind]]$record)) bandit$amend(2, 0.25)
  bandit$fail(3)
  do.call(bandit$suggest, kept_question(kind))
  bandit$withdraw(6)
  bandit
}

expected <- list()
bandits <- list()
for (kind in names(kept_kinds)) {
  set.seed(1)
  bandits[[kind]] <- live(kept_kinds[[kind]]$make(), kind)
  expected[[kind]] <- kept_facts(bandits[[kind]], kind)
  if (!isFALSE(kept_kinds[[kind]]$json)) writeLines(as_json(bandits[[kind]]), file.path(home, paste0(kind, ".json")))
  set.seed(1)
  journal <- file.path(home, paste0(kind, ".journal"))
  unlink(journal)
  live(kept_kinds[[kind]]$make(journal = journal), kind)
}
saveRDS(bandits, file.path(home, "bandits.rds"), version = 3, compress = "xz")

file <- file.path(home, "store.db")
unlink(paste0(file, c("", "-wal", "-shm")))
con <- DBI::dbConnect(RSQLite::SQLite(), file, synchronous = NULL)
DBI::dbExecute(con, "PRAGMA page_size = 512")
for (kind in names(kept_kinds)) {
  if (isFALSE(kept_kinds[[kind]]$store)) next
  set.seed(1)
  bandit <- live(kept_kinds[[kind]]$make(store = bandit_store(con, kind, seed = 1)), kind)
  expected[[paste0("store:", kind)]] <- kept_facts(bandit, kind)
}
DBI::dbExecute(con, "PRAGMA journal_mode = DELETE")
DBI::dbExecute(con, "VACUUM")
DBI::dbDisconnect(con)
saveRDS(expected, file.path(home, "expected.rds"), version = 3, compress = "xz")
cat(sprintf("%s: %d files, %.0f KB\n", home, length(dir(home)), sum(file.size(dir(home, full.names = TRUE))) / 1024))
