# Decisions a second of the HTTP service: one client, one decision at a time (POST /suggest, then POST /observe) and in
# batches, with reads between them; the ratio is to a bare application of httpuv that answers the same bytes, in the
# same run.
#   Rscript bench/service.R [seconds=5] [batch=50] [database=sqlite]
# Packages: httpuv, jsonlite, RSQLite. The service runs in a process of its own; its processor time is read from /proc
# (Linux). Results: bench/results/service.md.
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
      list(status = 200L, headers = list("Content-Type" = "application/json", Connection = "close"),
           body = request$rook.input$read())
    }), quiet = TRUE)
  } else {
    store <- bandit_store(file.path(home, "bench.db"), "b", seed = 1)
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
  list(port = as.integer(found[1]), pid = as.integer(found[2]), end = function() file.create(file.path(home, "end")))
}

# ---- the client ---------------------------------------------------------------------------------------------------

ask <- function(server, method, path, body = "") {
  connection <- socketConnection("127.0.0.1", server$port, open = "r+b", blocking = TRUE, timeout = 20)
  on.exit(close(connection))
  head <- sprintf("%s %s HTTP/1.1\r\nHost: here\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
                  method, path, token, nchar(body), body)
  writeBin(charToRaw(head), connection)
  found <- raw()
  while (length(more <- readBin(connection, "raw", 65536))) found <- c(found, more)
  text <- rawToChar(found)
  if (!startsWith(text, "HTTP/1.1 200")) stop(text)
  sub("(?s).*?\r\n\r\n", "", text, perl = TRUE)
}

processor_of <- function(pid) {
  fields <- strsplit(sub(".*\\) ", "", readLines(sprintf("/proc/%d/stat", pid))), " ")[[1]]
  sum(as.double(fields[12:13])) / 100
}

# `step()` makes some decisions and returns their number.
measure <- function(server, step) {
  for (k in 1:20) step()
  began <- proc.time()[["elapsed"]]
  spent <- processor_of(server$pid)
  count <- 0
  while (proc.time()[["elapsed"]] - began < numbers(args$seconds)) count <- count + step()
  took <- proc.time()[["elapsed"]] - began
  c(rate = count / took, milliseconds = 1000 * (processor_of(server$pid) - spent) / count)
}

set.seed(1)
contexts <- function(n) matrix(round(rnorm(3 * n), 4), n)
one <- function(server) function() {
  x <- paste(contexts(1), collapse = ",")
  said <- ask(server, "POST", "/suggest", sprintf("{\"context\":[%s]}", x))
  id <- sub("(?s).*?\"id\":([0-9]+).*", "\\1", said, perl = TRUE)
  ask(server, "POST", "/observe", sprintf("{\"id\":%s,\"reward\":%d}", id, rbinom(1, 1, 0.4)))
  1
}
batch <- function(server, size) function() {
  x <- paste0("[", apply(contexts(size), 1, paste, collapse = ","), "]", collapse = ",")
  said <- ask(server, "POST", "/suggest", sprintf("{\"n\":%d,\"context\":[%s]}", size, x))
  id <- regmatches(said, gregexpr("\"id\":[0-9]+", said))[[1]]
  rewards <- paste(rbinom(size, 1, 0.4), collapse = ",")
  ask(server, "POST", "/observe", sprintf("{\"id\":[%s],\"reward\":[%s]}", paste(sub("\"id\":", "", id), collapse = ","), rewards))
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

line(c("what", "a second", "processor of the server, ms each", "times the processor of the echo"))
line(rep("---", 4))
server <- start("echo")
bare <- measure(server, echo(server))
line(c("two echoes of httpuv", sprintf("%.0f", bare["rate"]), sprintf("%.2f", bare["milliseconds"]), "1"))
invisible(server$end())
server <- start("service")
row <- function(what, step) {
  found <- measure(server, step)
  line(c(what, sprintf("%.0f", found["rate"]), sprintf("%.2f", found["milliseconds"]),
         sprintf("%.1f", found["milliseconds"] / bare["milliseconds"])))
}
row("decisions, one by one", one(server))
row(sprintf("decisions in batches of %s", args$batch), batch(server, numbers(args$batch)))
row("decisions, one by one, later", one(server))
row("GET /best of one context", read(server, "/best?context=0.1,0.2,0.3"))
row("GET /history?limit=10", read(server, "/history?limit=10"))
invisible(server$end())
