# Measures the texts of the package: words and sentences, the share of sentences above 35 words, private words per 1,000
# (tools/words.txt). Corpora: help (man/*.Rd without usage, examples, references), README and NEWS, vignettes, messages
# (strings of four words or more in R/), comments of R/ and src/.
#   Rscript tools/prose.R [--findings]     prints the table (and each finding in its file); exits with 1 above a limit

long <- 35
# Percent of long sentences, private words per 1,000.
limits <- list(help = c(1, 1.5), README = c(1, 1.5), vignettes = c(1, 1.5), messages = c(1, 1.5),
               `R comments` = c(2, 4), `C++ comments` = c(2, 4))

read_lines <- function(file) readLines(file, encoding = "UTF-8", warn = FALSE)

pairs_of <- function(file) {
  lines <- grep("^#|^$", read_lines(file), invert = TRUE, value = TRUE)
  at <- regexpr(" | ", lines, fixed = TRUE)
  data.frame(first = substr(lines, 1, at - 1), second = substr(lines, at + 3, nchar(lines)))
}

# Paragraphs without front matter, code, formulas and markup.
markdown_paragraphs <- function(file) {
  text <- paste(read_lines(file), collapse = "\n")
  text <- gsub("(?s)\\A---\n.*?\n---\n|```.*?```|<!--.*?-->|[$][$].*?[$][$]", "", text, perl = TRUE)
  text <- gsub("!\\[[^]]*\\]\\([^)]*\\)|<[^>]+>", "", text)
  text <- gsub("`[^`\n]*`", "CODE", text)
  parts <- unlist(strsplit(text, "\n[ \t]*\n|\n(?=[ \t]*([*-]|[0-9]+[.]) )|\n(?=#)|\n(?=[|])", perl = TRUE))
  gsub("\\s+", " ", trimws(gsub("^\\s*(#+|[*-]|[0-9]+[.])\\s+", "", parts)))
}

help_paragraphs <- function(file) {
  out <- tempfile()
  on.exit(unlink(out))
  tools::Rd2txt(file, out, options = list(width = 1e5, underline_titles = FALSE), fragment = FALSE)
  text <- gsub("_\b", "", paste(read_lines(out), collapse = "\n"))
  for (section in c("Usage", "Examples", "References", "See Also")) {
    text <- gsub(sprintf("(?s)\n%s:\n.*?(?=\n[A-Z][^\n]{0,60}:\n|\\z)", section), "\n", text, perl = TRUE)
  }
  gsub("[\u2018`][^\u2019'`]*[\u2019'`]", "CODE", trimws(gsub("^(\\*|\u2022|o) ", "", trimws(strsplit(text, "\n")[[1]]))))
}

# Comment lines that follow each other are one paragraph.
comment_paragraphs <- function(file, marker) {
  lines <- read_lines(file)
  is <- grepl(paste0("^\\s*", marker), lines) & !grepl("^\\s*#'", lines)
  text <- sub(paste0("^\\s*", marker, "\\s?"), "", lines)
  block <- cumsum(!is)
  unname(vapply(split(text[is], block[is]), paste, "", collapse = " "))
}

messages_of <- function(file) {
  lines <- grep("^\\s*#", read_lines(file), invert = TRUE, value = TRUE)
  strings <- unlist(regmatches(lines, gregexpr("\"(?:[^\"\\\\]|\\\\.)*\"", lines, perl = TRUE)))
  strings <- gsub("^\"|\"$", "", strings)
  strings[lengths(strsplit(trimws(strings), "\\s+")) >= 4]
}

sentences_of <- function(paragraph) {
  paragraph <- gsub("\\b(e[.]g|i[.]e|et al|cf|vs|resp|Fig|Eq|Sec|approx|w[.]p)[.]", "\\1", paragraph, perl = TRUE)
  found <- unlist(strsplit(paragraph, "(?<=[.!?])[\")\u201d\u2019]?\\s+(?=[A-Z\u2018\u201c`$\"(*\\[])", perl = TRUE))
  found[lengths(regmatches(found, gregexpr("[A-Za-z]{2,}", found))) >= 4]
}

words <- pairs_of("tools/words.txt")
excused <- if (file.exists("tools/words-excused.txt")) pairs_of("tools/words-excused.txt") else data.frame(first = "", second = "")

# A row for each private word: file, word, its surroundings.
private_words <- function(file, paragraphs) {
  found <- lapply(seq_len(nrow(words)), function(k) {
    at <- gregexpr(words$first[k], paragraphs, perl = TRUE, ignore.case = FALSE)
    around <- unlist(Map(function(text, at) {
      if (at[1] > 0) substring(text, pmax(1, at - 40), at + attr(at, "match.length") + 30)
    }, paragraphs, at))
    if (length(around)) data.frame(file = file, around = unname(around), term = words$second[k])
  })
  found <- do.call(rbind, found)
  if (is.null(found)) return(NULL)
  right <- excused$second[excused$first == file]
  is_right <- vapply(found$around, function(text) any(vapply(right, grepl, NA, text, fixed = TRUE)), NA)
  found[!is_right, , drop = FALSE]
}

measure <- function(files, read) {
  each <- lapply(files, function(file) {
    paragraphs <- read(file)
    list(file = file, words = sum(lengths(strsplit(paragraphs, "\\s+"))), sentences = as.character(unlist(lapply(paragraphs, sentences_of))),
         private = private_words(file, paragraphs))
  })
  sentences <- unlist(lapply(each, `[[`, "sentences"))
  lengths_in_words <- lengths(strsplit(sentences, "\\s+"))
  total <- sum(vapply(each, `[[`, 0, "words"))
  private <- do.call(rbind, lapply(each, `[[`, "private"))
  too_long <- do.call(rbind, lapply(each, function(one) {
    is <- lengths(strsplit(one$sentences, "\\s+")) > long
    if (any(is)) data.frame(file = one$file, sentence = one$sentences[is])
  }))
  list(row = data.frame(words = total, sentences = length(sentences), mean = mean(lengths_in_words),
                        long = 100 * mean(lengths_in_words > long), private = 1000 * sum(NROW(private)) / max(1, total)),
       private = private, long = too_long)
}

r_files <- setdiff(list.files("R", "[.]R$", full.names = TRUE), "R/RcppExports.R")
cpp_files <- grep("RcppExports", list.files("src", "[.](cpp|h)$", recursive = TRUE, full.names = TRUE), invert = TRUE, value = TRUE)
corpora <- list(
  help = measure(list.files("man", "[.]Rd$", full.names = TRUE), help_paragraphs),
  README = measure("README.md", markdown_paragraphs),
  NEWS = measure("NEWS.md", markdown_paragraphs),
  vignettes = measure(list.files("vignettes", "[.]Rmd$", recursive = TRUE, full.names = TRUE), markdown_paragraphs),
  messages = measure(r_files, messages_of),
  "R comments" = measure(r_files, function(file) comment_paragraphs(file, "#+")),
  "C++ comments" = measure(cpp_files, function(file) comment_paragraphs(file, "//+"))
)
table <- do.call(rbind, lapply(corpora, `[[`, "row"))
print(format(table, digits = 3), quote = FALSE)
above <- vapply(names(limits), function(name) any(c(table[name, "long"], table[name, "private"]) > limits[[name]]), NA)
shown <- if ("--findings" %in% commandArgs(TRUE)) names(corpora) else names(limits)[above]
for (name in shown) {
  one <- corpora[[name]]
  if (NROW(one$long)) cat(sprintf("%s: %d words: %s\n", one$long$file, lengths(strsplit(one$long$sentence, "\\s+")),
                                  substr(one$long$sentence, 1, 140)), sep = "")
  if (NROW(one$private)) cat(sprintf("%s: \"%s\" (%s)\n", one$private$file, one$private$around, one$private$term), sep = "")
}
if (any(above)) {
  cat("above the limits:", toString(names(limits)[above]), "\n")
  quit(status = 1)
}
