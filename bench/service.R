# Decisions a second of the HTTP service: one client, one decision at a time (POST /suggest, then POST /observe) and in
# batches, and two reads. The ratio is to a bare application of httpuv that answers with what it was sent, in the same
# run.
#   Rscript bench/service.R [seconds=5] [batch=50]
# Packages: httpuv, jsonlite, RSQLite. The service runs in a process of its own; its processor time is read from /proc
# (Linux). "durable": each commit waits for the disk. Results: bench/results/service.md.
library(gpbandits)
source("bench/shared/script.R")
args <- arguments(seconds = "5", batch = "50", child = "", home = "")
lacks <- lacking(c("httpuv", "jsonlite", "RSQLite"))
if (length(lacks)) stop("needs ", paste(lacks, collapse = ", "))
token <- "a-token-for-the-bench"

# ---- the servers: `Rscript bench/service.R child=NAME home=FOLDER` ----------------------------------------------

if (nzchar(args$child)) {
  home <- args$home
  ready <- function(port) {
    writeLines(as.character(c(port, Sys.getpid())), file.path(home, "draft"))
    file.rename(file.path(home, "draft"), file.path(home, "ready"))
  }
  if (args$child == "echo") {
    port <- httpuv::randomPort()
    server <- httpuv::startServer("127.0.0.1", port, list(call = function(request) {
      list(status = 200L, headers = list("Content-Type" = "application/json"),
           body = request$rook.input$read())
    }), quiet = TRUE)
    gpbandits:::cpp_send_at_once(port)                        # (as the service does)
  } else {
    store <- bandit_store(file.path(home, "bench.db"), "b", seed = 1, durable = args$child == "durable")
    gp_bandit(matrix(1:4), kernel_categorical(0.3, dims = 1) * kernel_linear(dims = 2:4), policy = policy_ts(1),
              contexts = 3, rewards = rewards_binary(), store = store)
    service <- bandit_service(store, port = 0, token = token)
    port <- sub(".*:", "", service$url)
  }
  ready(port)
  repeat {
    if (args$child == "echo") httpuv::service(100) else service$run(0.5)
    if (file.exists(file.path(home, "end"))) quit(save = "no")
  }
}

start <- function(name) {
  home <- tempfile()
  dir.create(home)
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  system2(file.path(R.home("bin"), "Rscript"), shQuote(c(script, paste0("child=", name), paste0("home=", home))),
          wait = FALSE, stdout = file.path(home, "output"), stderr = file.path(home, "output"))
  for (k in 1:600) {
    if (file.exists(file.path(home, "ready"))) break
    Sys.sleep(0.1)
  }
  if (!file.exists(file.path(home, "ready"))) stop("no server: ", readLines(file.path(home, "output")))
  found <- readLines(file.path(home, "ready"))
  server <- list2env(list(port = as.integer(found[1]), pid = as.integer(found[2]), keep = TRUE))
  server$end <- function() {
    hang_up(server)
    file.create(file.path(home, "end"))
    # (The folder goes with this process: a server that has not seen the file would run for ever.)
    for (k in 1:200) if (dir.exists(file.path("/proc", server$pid))) Sys.sleep(0.1) else break
  }
  server
}

# ---- the client ---------------------------------------------------------------------------------------------------

# One connection, opened again after an answer that closes it.
dial <- function(server) {
  if (is.null(server$line)) {
    server$line <- socketConnection("127.0.0.1", server$port, open = "r+b", blocking = TRUE, timeout = 20,
                                    options = "no-delay")
  }
  server$line
}

hang_up <- function(server) {
  if (!is.null(server$line)) close(server$line)
  server$line <- NULL
}

ask <- function(server, method, path, body = "") {
  line <- dial(server)
  writeBin(charToRaw(sprintf("%s %s HTTP/1.1\r\nHost: here\r\n%sAuthorization: Bearer %s\r\n%s: %d\r\n\r\n%s",
                             method, path, if (server$keep) "" else "Connection: close\r\n", token, "Content-Length",
                             nchar(body), body)), line)
  head <- character()
  while (length(one <- readLines(line, 1)) && nzchar(one)) head <- c(head, one)
  size <- as.integer(sub("(?i)^content-length: *", "", grep("^content-length:", head, ignore.case = TRUE, value = TRUE),
                         perl = TRUE))
  text <- rawToChar(readBin(line, "raw", size))
  if (any(grepl("^connection: close", head, ignore.case = TRUE)) || !server$keep) hang_up(server)
  if (!startsWith(head[1], "HTTP/1.1 200")) stop(text)
  text
}

# Seconds of the processor (Linux counts them in nanoseconds, for each thread).
processor_of <- function(pid) {
  threads <- list.files(sprintf("/proc/%d/task", pid), full.names = TRUE)
  sum(vapply(threads, function(one) scan(file.path(one, "schedstat"), quiet = TRUE)[1], 0)) / 1e9
}

# `step()` makes some decisions and returns their number. Blocks of at least a tenth of a second are measured: `rate`
# and `milliseconds` are of all, `best_rate` and `least` of the tenth of the blocks in which other processes disturbed
# least.
measure <- function(server, step) {
  for (k in 1:20) step()
  began <- now <- proc.time()[["elapsed"]]
  blocks <- list()
  while (now - began < numbers(args$seconds)) {
    start <- now
    spent <- processor_of(server$pid)
    count <- 0
    while (now - start < 0.1) {
      count <- count + step()
      now <- proc.time()[["elapsed"]]
    }
    blocks[[length(blocks) + 1]] <- c(count, now - start, 1000 * (processor_of(server$pid) - spent))
  }
  blocks <- do.call(cbind, blocks)
  c(rate = sum(blocks[1, ]) / sum(blocks[2, ]), best = quantile(blocks[1, ] / blocks[2, ], 0.9, names = FALSE),
    milliseconds = sum(blocks[3, ]) / sum(blocks[1, ]), least = quantile(blocks[3, ] / blocks[1, ], 0.1, names = FALSE))
}

set.seed(1)
contexts <- function(n) matrix(round(rnorm(3 * n), 4), n)
one <- function(server, tokens = FALSE) function() {
  x <- paste(contexts(1), collapse = ",")
  said <- ask(server, "POST", "/suggest", sprintf("{\"context\":[%s]}", x))
  id <- sub("(?s).*?\"id\":([0-9]+).*", "\\1", said, perl = TRUE)
  token <- if (tokens) sub("(?s).*?(\"token\":\"[0-9a-f]+\").*", ",\\1", said, perl = TRUE) else ""
  ask(server, "POST", "/observe", sprintf("{\"id\":%s,\"reward\":%d%s}", id, rbinom(1, 1, 0.4), token))
  1
}
batch <- function(server, size) function() {
  x <- paste0("[", apply(contexts(size), 1, paste, collapse = ","), "]", collapse = ",")
  said <- ask(server, "POST", "/suggest", sprintf("{\"n\":%d,\"context\":[%s]}", size, x))
  id <- regmatches(said, gregexpr("\"id\":[0-9]+", said))[[1]]
  rewards <- paste(rbinom(size, 1, 0.4), collapse = ",")
  id <- paste(sub("\"id\":", "", id), collapse = ",")
  ask(server, "POST", "/observe", sprintf("{\"id\":[%s],\"reward\":[%s]}", id, rewards))
  size
}
echo <- function(server) function() {
  ask(server, "POST", "/echo", "{\"context\":[0.1,0.2,0.3]}")
  ask(server, "POST", "/echo", "{\"id\":1,\"reward\":1}")
  1
}
read <- function(server, path) function() {
  ask(server, "GET", path)
  1
}

line(c("what", "a second", "in the best tenth", "processor of the server, ms each", "in the best tenth", "/ echoes"))
line(rep("---", 6))
bare <- NULL
row <- function(what, server, step) {
  found <- measure(server, step)
  if (is.null(bare)) bare <<- found
  line(c(what, sprintf("%.0f", found[c("rate", "best")]), sprintf("%.2f", found[c("milliseconds", "least")]),
         sprintf("%.1f", found["least"] / bare["least"])))
}
server <- start("echo")
row("two echoes of httpuv", server, echo(server))
server$keep <- FALSE
row("two echoes of httpuv, a connection each", server, echo(server))
invisible(server$end())
for (kind in c("durable", "not durable")) {
  said <- function(what) sprintf("%s, %s", what, kind)
  server <- start(kind)
  row(said("decisions, one by one"), server, one(server))
  row(said(sprintf("decisions in batches of %s", args$batch)), server, batch(server, numbers(args$batch)))
  row(said("decisions, one by one, later"), server, one(server))
  row(said("decisions with tokens, one by one"), server, one(server, tokens = TRUE))
  server$keep <- FALSE
  hang_up(server)
  row(said("decisions, one by one, a connection each"), server, one(server))
  server$keep <- TRUE
  if (kind == "durable") {
    row("GET /best of one context", server, read(server, "/best?context=0.1,0.2,0.3"))
    row("GET /history?limit=10", server, read(server, "/history?limit=10"))
  }
  invisible(server$end())
}
