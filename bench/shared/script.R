# What the scripts of bench/ share. They are run from the repository's root: source("bench/shared/script.R").

# Arguments NAME=VALUE of the command line, as text, over these defaults.
arguments <- function(...) {
  given <- strsplit(commandArgs(TRUE), "=", fixed = TRUE)
  utils::modifyList(list(...), stats::setNames(lapply(given, `[`, 2), vapply(given, `[`, "", 1)))
}

# "1:3,7" as numbers, "a,b" as words.
numbers <- function(text) eval(parse(text = sprintf("c(%s)", text)))
words <- function(text) strsplit(text, ",", fixed = TRUE)[[1]]

lacking <- function(packages) packages[!vapply(packages, requireNamespace, NA, quietly = TRUE)]

of_mlbench <- function(name) {
  where <- new.env()
  utils::data(list = name, package = "mlbench", envir = where)
  where[[name]]
}

# ---- searches that go on where they ended: rows in a file `out` ("": none) -------------------------------------------

# The keys (columns of these names) of the searches that the file has.
searches_done <- function(out, names) if (nzchar(out) && file.exists(out)) unique(utils::read.csv(out)[names])

is_done <- function(done, key) !is.null(done) && nrow(merge(done, key)) > 0

keep_rows <- function(rows, out) {
  if (!nzchar(out)) return(print(rows, row.names = FALSE))
  if (endsWith(out, ".gz")) {
    if (file.exists(out)) rows <- rbind(utils::read.csv(out), rows)
    connection <- gzfile(out, "w")
    on.exit(close(connection))
    return(utils::write.csv(rows, connection, row.names = FALSE))
  }
  utils::write.table(rows, out, sep = ",", append = file.exists(out), row.names = FALSE, col.names = !file.exists(out))
}

# A line of a table in Markdown.
line <- function(cells) cat("| ", paste(cells, collapse = " | "), " |\n", sep = "")

# ---- expected improvement ----------------------------------------------------------------------------------------

expected_gain <- function(mean, sd, best) {
  z <- (mean - best) / pmax(sd, 1e-12)
  sd * (z * stats::pnorm(z) + stats::dnorm(z))
}

# ---- time ----------------------------------------------------------------------------------------------------------

# Seconds of the processor that a function without arguments takes: the least of some times.
seconds <- function(code, times = 1) {
  min(vapply(seq_len(times), function(i) sum(system.time(code(), gcFirst = TRUE)[c("user.self", "sys.self")]), 0))
}
