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

# The pages that a page links to.
pages_linked <- function(x) {
  if (identical(attr(x, "Rd_tag"), "\\link")) return(paste0(flat_line(x), ".Rd"))
  if (is.list(x)) unique(unlist(lapply(x, pages_linked)))
}

# The titles of sections that a page says to see, on itself or on a page that it links to.
sections_named <- function(x) {
  found <- character()
  before <- ""
  visit <- function(x) {
    tag <- attr(x, "Rd_tag")
    if (identical(tag, "\\emph") && grepl("([Ss]ee|section) *$", before)) found <<- c(found, flat_line(x))
    if (is.character(x)) {
      text <- paste0(before, gsub("\\s+", " ", paste(x, collapse = "")))
      before <<- substring(text, nchar(text) - 20)
    } else {
      lapply(x, visit)
    }
  }
  visit(x)
  unique(found)
}

test_that("pages have at most 900 words without usage, examples and references", {
  pages <- help_pages()
  left_out <- c("\\usage", "\\examples", "\\references", "\\source", "\\seealso", "\\keyword", "\\concept", "\\alias",
                "\\name", "COMMENT")
  words <- vapply(pages, function(page) {
    lengths(strsplit(trimws(flat_text(page[!tags_of(page) %in% left_out])), "\\s+"))
  }, 0L)
  # (One page is a table of all algorithms.)
  expect_identical(names(words)[words > 900], "guarantees.Rd")
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
    named <- sections_named(pages[[name]])
    seen <- seen + length(named)
    near <- c(name, intersect(pages_linked(pages[[name]]), names(pages)))
    there <- unlist(lapply(pages[near], section_titles), use.names = FALSE)
    expect_identical(setdiff(named, there), character(), label = name)
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
