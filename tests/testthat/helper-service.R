# A service in a process of its own (a forked one would share httpuv's thread).
start_service <- function(place, token, name = "b") {
  home <- tempfile()
  dir.create(home)
  saveRDS(list(place = place, token = token, name = name, libraries = .libPaths()), file.path(home, "settings.rds"))
  writeLines(c(
    "home <- commandArgs(TRUE)[1]",
    "settings <- readRDS(file.path(home, 'settings.rds'))",
    ".libPaths(settings$libraries)",
    "library(gpbandits)",
    "service <- bandit_service(bandit_store(settings$place$connect, settings$name), 0, token = settings$token, max_body = 4096)",
    "writeLines(c(service$url, Sys.getpid()), file.path(home, 'draft'))",
    "file.rename(file.path(home, 'draft'), file.path(home, 'ready'))",
    "service$run(120)"), file.path(home, "service.R"))
  system2(file.path(R.home("bin"), "Rscript"), shQuote(c(file.path(home, "service.R"), home)), wait = FALSE,
          stdout = file.path(home, "output"), stderr = file.path(home, "output"))
  for (k in 1:1200) {
    if (file.exists(file.path(home, "ready"))) break
    Sys.sleep(0.05)
  }
  if (k == 1200) stop(paste(readLines(file.path(home, "output")), collapse = "\n"))
  ready <- readLines(file.path(home, "ready"))
  list(url = ready[1], end = function() end_politely(as.integer(ready[2])))
}

# An interrupt first, so that the process can end by itself (and covr hears what it ran).
end_politely <- function(pid) {
  tools::pskill(pid, tools::SIGINT)
  for (k in 1:100) {
    if (!tools::pskill(pid, 0)) return(invisible())
    Sys.sleep(0.05)
  }
  tools::pskill(pid, tools::SIGKILL)
}
