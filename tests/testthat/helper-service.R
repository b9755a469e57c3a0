# A service in a separate process. `...`: further arguments of bandit_service().
start_service <- function(point, token, ...) await_service(begin_service(point, token, ...))

# (A browser can start meanwhile.)
begin_service <- function(point, token, name = "b", trust = FALSE, ...) {
  home <- tempfile()
  dir.create(home)
  more <- utils::modifyList(list(port = 0, token = token, max_body = 4096), list(...))
  saveRDS(list(point = point, name = name, trust = trust, more = more, owner = Sys.getpid()),
          file.path(home, "settings.rds"))
  file.create(file.path(home, "output"))
  writeLines(home, service_parent())
  flush(service_parent())
  home
}

# A pipe to the process that forks the services of this one. It has loaded once what all of them need, except httpuv:
# the threads of that package and of those that it uses would not be in the forks. It ends with the pipe.
service_parent <- function() {
  if (!is.null(started_services$parent)) return(started_services$parent)
  script <- tempfile(fileext = ".R")
  writeLines(c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
    "library(gpbandits)",
    "for (package in c('DBI', 'RSQLite', 'jsonlite')) loadNamespace(package)",
    "serve <- function(home) {",
    "  output <- file(file.path(home, 'output'), 'w')",
    "  sink(output, type = 'message')",
    "  settings <- readRDS(file.path(home, 'settings.rds'))",
    "  store <- bandit_store(settings$point$connect, settings$name, trust = settings$trust)",
    "  service <- do.call(bandit_service, c(list(store), settings$more))",
    "  writeLines(c(service$url, Sys.getpid()), file.path(home, 'draft'))",
    "  file.rename(file.path(home, 'draft'), file.path(home, 'ready'))",
    # (It ends automatically once its owner has.)
    "  while (tools::pskill(settings$owner, 0)) service$run(2)",
    "}",
    "orders <- fifo('/dev/stdin', 'r', blocking = TRUE)",
    "while (length(home <- readLines(orders, 1))) {",
    "  served <- quote(tryCatch(serve(home), error = function(e) message(conditionMessage(e)),",
    "                           interrupt = function(i) NULL))",
    "  parallel::mcparallel(eval(served), detached = TRUE)",
    "}"), script)
  command <- paste(shQuote(c(file.path(R.home("bin"), "Rscript"), script)), collapse = " ")
  started_services$parent <- pipe(paste(command, ">", shQuote(paste0(script, ".out")), "2>&1"), "w")
}
started_services <- new.env()

await_service <- function(home) {
  wait_until(function() file.exists(file.path(home, "ready")), pause = 0.05,
             paste(c("a service, which says:", readLines(file.path(home, "output"))), collapse = "\n"))
  ready <- readLines(file.path(home, "ready"))
  list(url = ready[1], port = as.integer(sub(".*:", "", ready[1])), pid = as.integer(ready[2]), end = function() end_politely(as.integer(ready[2])))
}

# ---- clients that curl is too polite for -----------------------------------------------

# A connection to a service on this machine, and the bytes that come back until the service ends it (or `seconds` have
# passed without a byte).
dial <- function(port, seconds = 20) {
  socketConnection("127.0.0.1", port, open = "r+b", blocking = TRUE, timeout = seconds)
}

read_all <- function(connection) {
  bytes <- raw()
  repeat {
    more <- suppressWarnings(tryCatch(readBin(connection, "raw", 65536), error = function(e) raw()))
    if (length(more) == 0) return(rawToChar(bytes[bytes != as.raw(0)]))
    bytes <- c(bytes, more)
  }
}

as_bytes <- function(x) if (is.raw(x)) x else charToRaw(x)

raw_answer <- function(port, request, seconds = 20) {
  connection <- dial(port, seconds)
  on.exit(close(connection))
  try(writeBin(as_bytes(request), connection), silent = TRUE)
  read_all(connection)
}

# Status of an answer, NA where there was none.
raw_status <- function(answer) suppressWarnings(as.integer(sub("^HTTP/1.1 ([0-9]{3}).*", "\\1", substr(answer, 1, 12))))

http_text <- function(method, path, headers = character(), body = NULL) {
  if (!is.null(body)) headers <- c(headers, sprintf("Content-Length: %d", length(as_bytes(body))))
  head <- paste0(c(sprintf("%s %s HTTP/1.1", method, path), "Host: here", "Connection: close", headers, "", ""),
                 collapse = "\r\n")
  c(charToRaw(head), if (!is.null(body)) as_bytes(body))
}

# Megabytes that a process holds in memory.
memory_of <- function(pid) {
  line <- grep("^VmRSS", readLines(sprintf("/proc/%d/status", pid)), value = TRUE)
  as.double(gsub("[^0-9]", "", line)) / 1024
}

# An interrupt first, so that the process can end normally (and covr records its calls).
end_politely <- function(pid) {
  tools::pskill(pid, tools::SIGINT)
  for (k in 1:100) {
    if (length(running(pid)) == 0) return(invisible())
    Sys.sleep(0.05)
  }
  tools::pskill(pid, tools::SIGKILL)
}
