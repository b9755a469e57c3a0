# inst/CITATION repeats entries of inst/REFERENCES.bib, because R reads it before
# the package is installed: the two must say the same.

bibliography <- function() {
  text <- readLines(system.file("REFERENCES.bib", package = "gpbandits"), encoding = "UTF-8")
  starts <- grep("^@[a-z]+\\{[a-z]+[0-9]+,$", text)
  keys <- sub("^@[a-z]+\\{(.*),$", "\\1", text[starts])
  bodies <- Map(function(from, to) text[from:to], starts, c(starts[-1] - 1, length(text)))
  field <- function(body, name) {
    line <- grep(paste0("^ +", name, " += "), body, value = TRUE)
    if (length(line)) sub("^[^{]*\\{(.*)\\},?$", "\\1", line) else NA_character_
  }
  fields <- c("title", "author", "year", "pages", "volume", "booktitle", "note")
  entries <- t(vapply(bodies, function(body) vapply(fields, field, "", body = body), character(length(fields))))
  rownames(entries) <- keys
  entries
}

test_that("the citation and the bibliography agree on every paper", {
  entries <- bibliography()
  cited <- utils::citation("gpbandits")
  keys <- vapply(cited, function(entry) attr(unclass(entry)[[1]], "key"), "")
  expect_setequal(setdiff(keys, "gpbandits"),
                  c("srinivas2010", "chowdhury2017", "avanesov2019", "verma2022", "shi2022"))
  for (key in setdiff(keys, "gpbandits")) {
    entry <- cited[[match(key, keys)]]
    expect_true(key %in% rownames(entries), label = paste(key, "in REFERENCES.bib"))
    expect_identical(paste(format(entry$author, include = c("given", "family")), collapse = " and "),
                     unname(entries[key, "author"]))
    for (field in setdiff(colnames(entries), "author")) {
      value <- if (field == "booktitle") entry$booktitle else do.call(`$`, list(entry, field))
      expect_identical(if (is.null(value)) NA_character_ else value, unname(entries[key, field]),
                       label = paste(key, field))
    }
  }
})

test_that("the package itself comes first, with its version", {
  own <- utils::citation("gpbandits")[[1]]
  expect_match(own$note, as.character(utils::packageVersion("gpbandits")), fixed = TRUE)
})
