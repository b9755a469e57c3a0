# Headless Chromium, controlled through DevTools' pipe: messages of JSON, each ended by a NUL, in on descriptor 3 and
# out on 4. Nothing but base R and jsonlite is needed for that.

chromium_binary <- function() {
  found <- Sys.which(c("chromium", "chromium-browser", "google-chrome"))
  unname(found[nzchar(found)])[1]
}

skip_without_browser <- function() {
  skip_on_os(c("windows", "mac"))
  skip_if(is.na(chromium_binary()), "Chromium is not installed")
  skip_if_not(requireNamespace("jsonlite", quietly = TRUE), "jsonlite is not installed")
}

# Chromium, started once in a process and ended with it: a start takes five seconds of the processor.
has_browser <- new.env()

start_browser <- function(width = 1200, height = 900) {
  home <- tempfile("browser")
  dir.create(home)
  pipes <- file.path(home, c("in", "out"))
  for (pipe in pipes) system2("mkfifo", shQuote(pipe))
  flags <- c("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", sprintf("--window-size=%d,%d", width, height),
             paste0("--user-data-dir=", file.path(home, "profile")), "about:blank")
  # It ends when its pipe does, at the latest with this process; after an hour in any case.
  system(sprintf("timeout -k 5 3600 %s %s 3<%s 4>%s >%s 2>&1 &", shQuote(chromium_binary()),
                 paste(shQuote(flags), collapse = " "), shQuote(pipes[1]), shQuote(pipes[2]), shQuote(file.path(home, "output"))))
  has_browser$to <- fifo(pipes[1], "wb", blocking = TRUE)
  has_browser$from <- fifo(pipes[2], "rb", blocking = TRUE)
  has_browser$last <- 0
  has_browser$rest <- raw()
  has_browser$run <- function(method, ...) command_of(has_browser, method, ...)
  has_browser$js <- function(code) value_in_page(has_browser, code)
}

# A new page, one at a time. `run(method, ...)`: a command of the protocol for the page; `js(code)`: its value in the page;
# `close()`. (A context of its own would open another window of the browser; services have ports and so origins of their own.)
new_page <- function() {
  browser <- has_browser
  if (is.null(browser$to)) start_browser()
  browser$session <- NULL
  target <- browser$run("Target.createTarget", url = "about:blank")$targetId
  session <- browser$run("Target.attachToTarget", targetId = target, flatten = TRUE)$sessionId
  browser$session <- session
  browser$events <- list()
  browser$close <- function() {
    browser$session <- NULL
    browser$run("Target.closeTarget", targetId = target)
  }
  for (domain in c("Page", "Runtime", "Log")) browser$run(paste0(domain, ".enable"))
  browser
}

command_of <- function(browser, method, ...) {
  browser$last <- browser$last + 1
  message <- list(id = browser$last, method = method, params = list(...))
  if (!length(message$params)) message$params <- NULL
  message$sessionId <- browser$session
  writeBin(c(charToRaw(enc2utf8(as.character(jsonlite::toJSON(message, auto_unbox = TRUE, digits = NA)))), as.raw(0)), browser$to)
  flush(browser$to)
  repeat {
    answer <- next_message(browser)
    if (identical(as.double(answer$id), as.double(browser$last))) break
    browser$events <- c(browser$events, list(answer))
  }
  if (!is.null(answer$error)) stop(method, ": ", answer$error$message)
  answer$result
}

next_message <- function(browser) {
  while (!any(end <- browser$rest == as.raw(0))) {
    more <- readBin(browser$from, "raw", 65536)
    if (!length(more)) stop("Chromium has ended")
    browser$rest <- c(browser$rest, more)
  }
  at <- which(end)[1]
  text <- rawToChar(browser$rest[seq_len(at - 1)])
  browser$rest <- browser$rest[-seq_len(at)]
  Encoding(text) <- "UTF-8"
  jsonlite::parse_json(text)
}

value_in_page <- function(browser, code) {
  found <- command_of(browser, "Runtime.evaluate", expression = code, returnByValue = TRUE, awaitPromise = TRUE)
  if (!is.null(found$exceptionDetails)) stop(found$exceptionDetails$exception$description)
  found$result$value
}

# Waits until an expression is true in the page, which looks itself: questions from here would keep both busy.
wait_in_page <- function(browser, code) {
  looks <- sprintf("new Promise((resolve) => {
    const end = Date.now() + 2000;
    const look = () => { if (%s) resolve(true); else if (Date.now() > end) resolve(false); else setTimeout(look, 20); };
    look();
  })", code)
  wait_until(function() isTRUE(browser$js(looks)), pause = 0, c(code, "; the page says: ", browser$js("document.body.innerText")))
  invisible(TRUE)
}

open_page <- function(browser, url) {
  browser$run("Page.navigate", url = url)
  wait_for_load(browser, sprintf("location.href.startsWith(%s)", shQuote(url, "cmd")))
}

# (What a page has promised ends with the page: a page that is left is asked again and again.)
wait_for_load <- function(browser, code) {
  wait_until(function() isTRUE(browser$js(sprintf("document.readyState === 'complete' && %s", code))), pause = 0.05, code)
}

# Keys as a person presses them. Without `text` a key such as Tab or Enter.
type_text <- function(browser, text) browser$run("Input.insertText", text = text)

press_key <- function(browser, key) {
  code <- c(Tab = 9, Enter = 13, Escape = 27, " " = 32)[[key]]
  text <- c(Enter = "\r", " " = " ")[key]
  event <- list(key = key, code = if (key == " ") "Space" else key, windowsVirtualKeyCode = code)
  if (!is.na(text)) event$text <- unname(text)
  do.call(browser$run, c(list("Input.dispatchKeyEvent", type = "keyDown"), event))
  do.call(browser$run, c(list("Input.dispatchKeyEvent", type = "keyUp"), event["key"]))
}

# The tree for screen readers: role and name of everything that has a name.
accessible_names <- function(browser) {
  nodes <- browser$run("Accessibility.getFullAXTree")$nodes
  nodes <- Filter(function(node) !isTRUE(node$ignored), nodes)
  data.frame(role = vapply(nodes, function(node) paste0(node$role$value, ""), ""),
             name = vapply(nodes, function(node) paste0(node$name$value, ""), ""))
}
