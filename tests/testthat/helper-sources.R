# The sources next to the tests: articles, the README, the site. (They are not in the installed package.)

skip_without_sources <- function() {
  skip_on_cran()
  skip_if_not(file.exists(test_path("..", "..", "Makefile")), "the sources are not here")
}

# The chunks of an article: a list of `code`, named by their labels, with `run` (not `eval = FALSE`) and `shown`.
chunks_of <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  begin <- grep("^```[{]r", lines)
  code <- lapply(begin, function(at) lines[seq(at + 1, at + which(lines[-seq_len(at)] == "```")[1] - 1)])
  label <- sub("^```[{]r *([A-Za-z0-9_-]*).*", "\\1", lines[begin])
  list(code = stats::setNames(code, label), run = !grepl("eval *= *FALSE", lines[begin]), shown = !grepl("(echo|include) *= *FALSE", lines[begin]))
}
