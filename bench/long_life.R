# A very long life: decisions over 1,000 arms with 20 features, one at a time through $suggest() and $observe(): time and memory per
# block of decisions, and what a round costs in memory, in an RDS file, in a journal and in a store.
#   Rscript bench/long_life.R [rounds=1e6] [blocks=10] [kept=2000] [keep=0]
# `kept`: rounds of the journal and of the store, which wait for the disk at each event. `keep`: where it is above 0, all
# but so many queries are forgotten after each block ($compact(keep = )). Results: bench/results/long_life.md.
library(gpbandits)
source("bench/shared/script.R")
args <- lapply(arguments(rounds = "1e6", blocks = "10", kept = "2000", keep = "0"), numbers)

set.seed(1)
features <- matrix(rnorm(1000 * 20), 1000) / sqrt(20)
truth <- drop(features %*% rnorm(20))
new_life <- function(...) gp_ucb(finite_domain(features), kernel_linear(), noise_var = 0.25, ...)

live <- function(bandit, rounds) {
  noise <- rnorm(rounds, sd = 0.5)
  for (t in seq_len(rounds)) {
    q <- bandit$suggest()
    bandit$observe(q$id, truth[q$arm] + noise[t])
  }
}

processor <- function() sum(proc.time()[c("user.self", "sys.self")])
# Megabytes that the process holds (Linux), after a garbage collection.
held <- function() {
  gc(full = TRUE)
  status <- readLines("/proc/self/status")
  as.double(gsub("[^0-9]", "", grep("^VmRSS", status, value = TRUE))) / 1024
}

bandit <- new_life()
live(bandit, 1000)
start <- held()
cat("| rounds | microseconds of processor a decision | process, MB more than at first | when rounds are forgotten |\n",
    "|---|---|---|---|\n", sep = "")
size <- args$rounds / args$blocks
for (block in seq_len(args$blocks)) {
  before <- processor()
  live(bandit, size)
  spent <- processor() - before
  most <- held() - start
  before <- processor()
  if (args$keep > 0) bandit$compact(keep = args$keep)
  spent <- spent + processor() - before
  cat(sprintf("| %.0f | %.0f | %.1f | %s |\n", block * size, 1e6 * spent / size, most,
              if (args$keep > 0) sprintf("%.1f", held() - start) else "-"))
}
memory <- 1024^2 * (held() - start) / args$rounds
file <- tempfile(fileext = ".rds")
saveRDS(bandit, file)
before <- processor()
again <- readRDS(file)
next_choice <- again$suggest()$arm
cat(sprintf("\nMemory: %.0f bytes a round. RDS: %.1f bytes a round; read and played again to the next choice in %.1f s of processor (the same: %s).\n",
            memory, file.size(file) / args$rounds, processor() - before,
            identical(next_choice, bandit$suggest()$arm)))

journal <- tempfile()
live(new_life(journal = journal), args$kept)
invisible(gc())                                            # (which closes it)
cat(sprintf("Journal: %.0f bytes a round.\n", file.size(journal) / args$kept))
if (requireNamespace("RSQLite", quietly = TRUE)) {
  path <- tempfile(fileext = ".db")
  bandit <- new_life(store = bandit_store(path, "long", seed = 1))
  live(bandit, args$kept)
  rm(bandit)
  gc()
  con <- DBI::dbConnect(RSQLite::SQLite(), path)
  invisible(DBI::dbExecute(con, "VACUUM"))
  DBI::dbDisconnect(con)
  cat(sprintf("Store (SQLite): %.0f bytes a round.\n", file.size(path) / args$kept))
}
