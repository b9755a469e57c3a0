# The help pages as a whole: their length, their parts, and their references to sections and papers.

help_pages <- function() {
  pages <- tools::Rd_db("gpbandits")
  skip_if(length(pages) == 0, "the help is not installed")
  pages
}

tags_of <- function(page) vapply(page, function(x) attr(x, "Rd_tag"), "")

flat_text <- function(x) {
  if (is.character(x)) return(paste(x, collapse = ""))
  if (isTRUE(attr(x, "Rd_tag") %in% c("\\eqn", "\\deqn"))) return(flat_text(x[[length(x)]]))
  paste(vapply(x, flat_text, ""), collapse = "")
}

flat_line <- function(x) gsub("\\s+", " ", trimws(flat_text(x)))

section_titles <- function(page) {
  vapply(page[tags_of(page) == "\\section"], function(section) flat_line(section[[1]]), "")
}

# A page's text in pieces: emphasised words, links, and the text between them.
pieces <- function(page) {
  kind <- text <- character()
  visit <- function(x) {
    tag <- attr(x, "Rd_tag")
    whole <- isTRUE(tag %in% c("\\emph", "\\link"))
    if (!whole && is.list(x)) return(for (part in x) visit(part))
    kind <<- c(kind, if (whole) tag else "text")
    text <<- c(text, if (whole) flat_line(x) else gsub("\\s+", " ", paste(x, collapse = "")))
  }
  visit(page)
  data.frame(kind, text)[nzchar(text), ]
}

# The sections that a page says to see ("see *Title*"), and the page of each: another one with "in" or "of" and a link.
sections_named <- function(page, name) {
  all <- pieces(page)
  runs <- cumsum(all$kind != "text" | c(TRUE, utils::head(all$kind, -1) != "text"))
  joined <- data.frame(kind = tapply(all$kind, runs, `[`, 1), text = tapply(all$text, runs, paste, collapse = ""))
  at <- which(joined$kind == "\\emph" & grepl("([Ss]ee|section) *$", c("", utils::head(joined$text, -1))))
  elsewhere <- grepl("^ *(in|of) *$", joined$text[at + 1]) & joined$kind[at + 2] %in% "\\link"
  linked <- paste0(sub("()", "", joined$text[at + 2], fixed = TRUE), ".Rd")
  unique(data.frame(title = joined$text[at], page = ifelse(elsewhere, linked, rep(name, length(at)))))
}

test_that("pages have at most 900 words without usage, examples and references", {
  pages <- help_pages()
  left_out <- c("\\usage", "\\examples", "\\references", "\\source", "\\seealso", "\\keyword", "\\concept", "\\alias",
                "\\name", "COMMENT")
  text <- vapply(pages, function(page) {
    lengths(strsplit(trimws(flat_text(page[!tags_of(page) %in% left_out])), "\\s+"))
  }, 0L)
  # (One page is a table of all algorithms, one a collection of short tasks.)
  expect_setequal(names(text)[text > 900], c("guarantees.Rd", "recipes.Rd"))
})

test_that("a page with a call that can be made has a value and an example", {
  for (name in names(pages <- help_pages())) {
    tags <- tags_of(pages[[name]])
    if (!"\\usage" %in% tags) next
    expect_true("\\value" %in% tags, label = paste(name, "has a value"))
    expect_true("\\examples" %in% tags, label = paste(name, "has an example"))
  }
})

test_that("sections that a page refers to exist", {
  pages <- help_pages()
  seen <- 0
  for (name in names(pages)) {
    named <- sections_named(pages[[name]], name)
    seen <- seen + nrow(named)
    for (k in seq_len(nrow(named))) {
      expect_true(named$title[k] %in% section_titles(pages[[named$page[k]]]),
                  label = paste0(name, ": '", named$title[k], "' is a section of ", named$page[k]))
    }
    expect_false(grepl("see above", flat_text(pages[[name]]), fixed = TRUE), label = paste(name, "says above"))
  }
  expect_gt(seen, 20)
})

test_that("papers of the citation have its titles in the help", {
  pages <- help_pages()
  # Characters without case and punctuation.
  plain <- function(text) gsub("[^a-z]+", " ", tolower(text))
  references <- vapply(pages, function(page) plain(flat_text(page[tags_of(page) == "\\references"])), "")
  papers <- c(avanesov = "how to gamble with non stationary x armed bandits",
              verma = "bayesian optimization under stochastic delayed feedback",
              shi = "a bayesian approach for stochastic continuum armed bandit with long term constraints")
  cited <- plain(paste(vapply(utils::citation("gpbandits"), function(entry) entry$title, ""), collapse = " "))
  for (title in papers) expect_match(cited, title, fixed = TRUE)
  pages_of <- list(avanesov = c("gp_ucb_cpd", "changes", "change_statistic", "calibrate_detector", "widths_adjusted"),
                   verma = "gp_ucb_sdf", shi = c("constraints", "gp_ucb_noiseless_constraints"))
  for (paper in names(papers)) for (page in pages_of[[paper]]) {
    expect_match(references[[paste0(page, ".Rd")]], papers[[paper]], fixed = TRUE, label = page)
  }
})

test_that("lines of examples have at most 100 characters, which is what R CMD check allows", {
  for (name in names(pages <- help_pages())) {
    examples <- unlist(pages[[name]][tags_of(pages[[name]]) == "\\examples"], recursive = FALSE)
    shown <- Filter(function(part) !identical(attr(part, "Rd_tag"), "\\dontshow"), examples)
    lines <- unlist(strsplit(paste(unlist(shown), collapse = ""), "\n"))
    expect_identical(lines[nchar(lines) > 100], character(), label = paste("long lines of examples in", name))
  }
})

test_that("vignettes and articles that the help, the README and the vignettes name exist", {
  skip_without_sources()
  root <- test_path("..", "..")
  there <- sub("[.]Rmd$", "", list.files(file.path(root, "vignettes"), "[.]Rmd$"))
  named <- function(text, pattern) sub(pattern, "\\1", unlist(regmatches(text, gregexpr(pattern, text, perl = TRUE))), perl = TRUE)
  texts <- unlist(lapply(c(file.path(root, "README.md"), list.files(file.path(root, "man"), "[.]Rd$", full.names = TRUE),
                           list.files(file.path(root, "vignettes"), "[.]Rmd$", recursive = TRUE, full.names = TRUE)),
                         readLines, encoding = "UTF-8"))
  vignettes <- named(texts, "vignette[(]\"([a-z-]+)\"")
  expect_gt(length(vignettes), 10)
  expect_identical(setdiff(vignettes, there), character())
  pages <- named(texts, "/gpbandits/articles/([a-z-]+)[.]html")
  articles <- sub("[.]Rmd$", "", basename(list.files(file.path(root, "vignettes"), "[.]Rmd$", recursive = TRUE)))
  expect_identical(setdiff(pages, c("index", articles)), character())
})
