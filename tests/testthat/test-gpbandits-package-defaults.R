# The help explains the default of each argument: its text has the default's value, says that there is a default, or
# refers to the page that explains it.

rd_text <- function(x) {
  if (is.character(x)) return(paste(x, collapse = ""))
  if (identical(attr(x, "Rd_tag"), "\\eqn") || identical(attr(x, "Rd_tag"), "\\deqn")) return(rd_text(x[[length(x)]]))
  paste(vapply(x, rd_text, ""), collapse = "")
}

rd_part <- function(rd, name) rd[vapply(rd, function(x) identical(attr(x, "Rd_tag"), name), NA)]

# The texts of a page's arguments, by name.
argument_texts <- function(rd) {
  items <- Filter(function(x) identical(attr(x, "Rd_tag"), "\\item"), unlist(rd_part(rd, "\\arguments"), recursive = FALSE))
  texts <- list()
  for (item in items) {
    for (name in trimws(strsplit(rd_text(item[[1]]), ",")[[1]])) texts[[name]] <- rd_text(item[[2]])
  }
  texts
}

# The calls in a page's usage. (Methods are read by the names of their functions.)
usage_calls <- function(rd) {
  # A method stands there as \method{generic}{class}: a list whose parts are the two.
  flat <- function(x) {
    if (is.character(x)) return(paste(x, collapse = ""))
    if (identical(attr(x, "Rd_tag"), "\\method") || identical(attr(x, "Rd_tag"), "\\S3method")) return("method")
    if (identical(attr(x, "Rd_tag"), "\\dots")) return("...")
    paste(vapply(x, flat, ""), collapse = "")
  }
  code <- flat(rd_part(rd, "\\usage"))
  Filter(is.call, as.list(tryCatch(parse(text = gsub("\\%", "%", code, fixed = TRUE)), error = function(e) NULL)))
}

is_explained <- function(default, text) {
  if (grepl("[Dd]efault|not used|as in |see |names above|strings above", text)) return(TRUE)
  if (is.logical(default)) return(grepl("TRUE|FALSE", text))
  if (is.call(default) && identical(default[[1]], as.name("c"))) {
    return(all(vapply(as.list(default)[-1], function(value) grepl(format(value), text, fixed = TRUE), NA)))
  }
  grepl(paste(deparse(default), collapse = " "), text, fixed = TRUE)
}

test_that("every default is explained in its argument's text", {
  pages <- tools::Rd_db("gpbandits")
  skip_if(length(pages) == 0, "the help is not installed")
  seen <- 0
  silent <- character()
  for (page in names(pages)) {
    texts <- argument_texts(pages[[page]])
    for (call in usage_calls(pages[[page]])) {
      settings <- as.list(call)[-1]
      for (name in intersect(names(settings), names(texts))) {
        seen <- seen + 1
        if (!is_explained(settings[[name]], texts[[name]])) silent <- c(silent, paste0(page, ": ", name))
      }
    }
  }
  expect_gt(seen, 300)
  expect_identical(unique(silent), character())
  expect_false(is_explained(quote(c("a", "b")), "one of \"a\""))
  expect_false(is_explained(NULL, "a number"))
})
