# Random changes of objects and journals, as by a damaged disk, another version or an attacker.

# A value of any type instead of one, or one near it.
mutated_value <- function(x) {
  odd <- list(NULL, NA, NA_real_, NaN, Inf, -Inf, 0, -1, 1L, -1L, 1e6, 1000000L, 1e308, 1e-320, "a", "", character(), numeric(), TRUE,
              list(), list(1), mean, quote(x), as.Date("2026-01-01"), matrix(0, 0, 0), 2^31, .Machine$integer.max, NA_integer_, raw(3))
  ways <- list(
    function() odd[[sample.int(length(odd), 1)]],
    function() x[-1],
    function() c(x, x),
    function() rev(x),
    function() if (is.numeric(x)) -x else x,
    function() if (is.numeric(x)) x + 1 else x,
    function() if (is.numeric(x)) x * 1e10 else x,
    function() if (is.numeric(x)) as.character(x) else x,
    function() if (is.integer(x)) as.double(x) else if (is.double(x)) suppressWarnings(as.integer(x)) else x
  )
  tryCatch(ways[[sample.int(length(ways), 1)]](), error = function(e) NULL)
}

# One element of a vector, or all of it.
mutated_vector <- function(x) {
  if (length(x) == 0 || stats::runif(1) < 0.4) return(mutated_value(x))
  at <- sample.int(length(x), 1)
  if (is.list(x)) return(mutated_list(x))
  new <- mutated_value(x[at])
  if (is.null(new) || length(new) != 1 || is.language(new) || is.function(new)) return(mutated_value(x))
  tryCatch({
    x[at] <- new
    x
  }, error = function(e) NULL)
}

# Somewhere in a list, however deep.
mutated_list <- function(x) {
  if (length(x) == 0 || stats::runif(1) < 0.1) return(mutated_value(x))
  at <- sample.int(length(x), 1)
  inner <- .subset2(x, at)
  kept <- attributes(x)
  plain <- unclass(x)
  plain[at] <- list(if (is.list(inner)) mutated_list(inner) else mutated_vector(inner))
  attributes(plain) <- kept
  plain
}

# A copy of a bandit without the core's object, changed somewhere in its settings, tables or refits.
mutated_bandit <- function(bandit) {
  twin <- unserialize(serialize(bandit, NULL))
  frame <- as.environment(twin)
  part <- sample(c("config", "queries", "events", "refits", "memory"), 1, prob = c(4, 4, 4, 1, 1))
  value <- get0(part, envir = frame, inherits = FALSE)
  if (is.environment(value)) {
    name <- sample(ls(value, all.names = TRUE), 1)
    new <- mutated_vector(get(name, envir = value))
    if (stats::runif(1) < 0.05) rm(list = name, envir = value) else assign(name, new, envir = value)
  } else {
    assign(part, if (is.list(value)) mutated_list(value) else mutated_value(value), envir = frame)
  }
  twin
}

# A copy of a journal with one value changed, or a row removed, doubled or moved, and all checksums right.
mutated_journal <- function(file) {
  to <- copied_journal(file)
  con <- DBI::dbConnect(RSQLite::SQLite(), to, synchronous = NULL)
  on.exit(DBI::dbDisconnect(con))
  table <- sample(c("gpb_event", "gpb_query", "gpb_state"), 1, prob = c(6, 4, 1))
  rows <- DBI::dbReadTable(con, table)
  at <- sample.int(nrow(rows), 1)
  name <- sample(setdiff(names(rows), c("bandit", "checksum", "at", "place")), 1)
  new <- sample(c("NA", "-1", "0", "1", "7", "1000000", "2147483648", "1e308", "1e6", "", "x", "0.5"), 1)
  way <- sample(c("value", "word", "drop", "swap"), 1, prob = c(4, 4, 1, 1))
  if (way == "drop") rows <- rows[-at, ]
  else if (way == "swap") rows[c(at, 1), -(1:2)] <- rows[c(1, at), -(1:2)]
  else if (way == "value" || !is.character(rows[[name]])) rows[[name]][at] <- if (is.character(rows[[name]])) new else suppressWarnings(as.double(new))
  else {
    text <- strsplit(rows[[name]][at], " ", fixed = TRUE)[[1]]
    text[sample.int(max(1, length(text)), 1)] <- new
    rows[[name]][at] <- paste(text, collapse = " ")
  }
  try(silent = TRUE, {
    DBI::dbExecute(con, paste("DELETE FROM", table))
    DBI::dbAppendTable(con, table, rows)
  })
  seal_journal(con)
  to
}

# Gives the rows of a journal their checksums.
seal_journal <- function(con) try(silent = TRUE, {
  q <- DBI::dbGetQuery(con, "SELECT * FROM gpb_query ORDER BY query")
  e <- DBI::dbGetQuery(con, "SELECT * FROM gpb_event ORDER BY number")
  sums <- gpbandits:::cpp_checksums(gpbandits:::cpp_row_texts(q, e), 0)
  DBI::dbExecute(con, "UPDATE gpb_event SET checksum = ? WHERE number = ?", params = list(sums, e$number))
  DBI::dbExecute(con, "UPDATE gpb_bandit SET checksum = ?, events = ?, queries = ?", params = list(utils::tail(sums, 1), max(0, e$number), nrow(q)))
})

# (Also while the file is open, and with what is still in SQLite's log.)
copied_journal <- function(file, to = tempfile()) {
  con <- DBI::dbConnect(RSQLite::SQLite(), file, synchronous = NULL)
  on.exit(DBI::dbDisconnect(con))
  DBI::dbExecute(con, sprintf("VACUUM INTO '%s'", to))
  to
}

# Everything that reads a bandit. An error of ours is an answer; any other is a fault.
read_everything <- function(bandit, x = cbind(0.25)) {
  bandit$history()
  p <- bandit$posterior(x)
  bandit$information_gain()
  q <- bandit$suggest(2)
  bandit$observe(q$id[1], 0.1)
  utils::capture.output(print(bandit), summary(bandit))
  list(posterior = p, asked = q)
}

fate_of <- function(code) {
  tryCatch({
    value <- suppressWarnings(code)
    if (is.list(value) && anyNA(unlist(value$posterior))) "a posterior that is no number" else "an answer"
  }, gpbandits_error = function(e) "refused", error = function(e) paste("foreign:", conditionMessage(e)))
}

# ---- R objects of an enemy ------------------------------------------------------

# Bytes as serialize(version = 2) would write them, composed by hand: R cannot be asked to write a promise.
int_bytes <- function(...) writeBin(as.integer(c(...)), raw(), endian = "big")

stream_of <- function(item) c(charToRaw("X\n"), int_bytes(2, 0x040202, 0x020300), item)

# An R value as an item within a stream.
quote_item <- function(x) serialize(x, NULL, version = 2)[-(1:14)]

# Makes a file when R evaluates its value, as R before 4.4 does with a promise instead of data (CVE-2024-27322).
promise_item <- function(witness) {
  c(int_bytes(bitwOr(5, 1024), 253, 252), quote_item(call("file.create", witness)))
}

promise_stream <- function(witness) stream_of(promise_item(witness))

list_item <- function(...) c(int_bytes(19, ...length()), ...)

closure_item <- function(body, environment = int_bytes(253)) c(int_bytes(bitwOr(3, 1024)), environment, int_bytes(254), body)

# A function with this attribute.
with_attribute <- function(item) {
  c(int_bytes(bitwOr(3, 1024 + 512)), int_bytes(bitwOr(2, 1024)), quote_item(quote(a)), item, int_bytes(254), int_bytes(253, 254),
    quote_item(7))
}

# A compact vector: its class, its state, its attributes.
compact_item <- function() c(int_bytes(238), quote_item(pairlist(as.name("compact_intseq"), as.name("base"), 13L)), quote_item(c(3, 1, 1)), int_bytes(254))

packed <- function(stream) gpbandits:::cpp_hex_from_raw(memCompress(stream, "gzip"))
