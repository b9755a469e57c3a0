# Which processes are running; tools/run_tests.R reads this file, too.

# Those of these processes that have not ended. (pskill() counts those of whose end nobody has asked.)
running <- function(pids) {
  pids <- pids[tools::pskill(pids, 0L)]
  if (length(pids) == 0) return(pids)
  if (dir.exists("/proc/self")) {
    state <- vapply(pids, function(pid) {
      line <- tryCatch(suppressWarnings(readLines(sprintf("/proc/%d/stat", pid), 1)), error = function(e) ") Z")
      # (Nothing can be read of one that ends at this moment.)
      if (length(line)) sub("^.*[)] (.).*$", "\\1", line) else "Z"
    }, "")
    return(pids[state != "Z"])
  }
  if (!nzchar(Sys.which("ps"))) return(pids)
  found <- suppressWarnings(system2("ps", c("-o", "pid=,stat=", "-p", paste(pids, collapse = ",")), stdout = TRUE))
  found <- strsplit(trimws(found), " +")
  as.integer(vapply(Filter(function(row) !startsWith(row[2], "Z"), found), `[`, "", 1))
}
