# What the scripts beside this file share; they source it from the package's root.

# The code of a chunk of an article, so that there is no second copy of it.
article_chunk <- function(article, name) {
  lines <- readLines(sprintf("vignettes/articles/%s-in-full.Rmd", article))
  from <- grep(paste0("^```\\{r ", name, "[,}]"), lines)
  lines[(from + 1):(from + which(lines[-seq_len(from)] == "```")[1] - 1)]
}
run_chunks <- function(article, names, envir = globalenv()) {
  for (name in names) eval(parse(text = article_chunk(article, name)), envir)
}

# What an article shows its results with: how its curves are summarised.
shown_with <- function(article, envir = globalenv()) {
  for (file in c("figures", file.path("shown", article))) sys.source(sprintf("vignettes/%s.R", file), envir)
}

results_file <- function(name) sprintf("inst/extdata/%s.csv.xz", name)

# Stores a table; above it what it is, which script made it when, and how long that took.
write_results <- function(name, table, about, script, seconds, digits = 15, quote = TRUE) {
  numbers <- vapply(table, is.double, NA)
  table[numbers] <- lapply(table[numbers], signif, digits)
  file <- xzfile(results_file(name), "w", compression = 9)
  on.exit(close(file))
  version <- if ("gpbandits" %in% loadedNamespaces()) sprintf("gpbandits %s, ", utils::packageVersion("gpbandits")) else ""
  writeLines(c(sprintf("# %s, by vignettes/precompute/%s", about, script),
               sprintf("# %.0f s of processor time, one process; %s%s; %s", seconds, version, R.version.string, Sys.Date())), file)
  suppressWarnings(utils::write.table(table, file, sep = ",", row.names = FALSE, quote = quote, na = ""))
}
