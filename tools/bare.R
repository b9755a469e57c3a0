# Runs each block of the README, the introduction, the FAQ and ?recipes with the packages of Imports only. A block that
# needs more must end with an error that names a package of Suggests. Run it by `make bare`.
suggested <- strsplit(gsub("[(][^)]*[)]|\\s", "", read.dcf("DESCRIPTION", "Suggests")), ",")[[1]]
library_of <- function() {
  bare <- file.path(tempdir(), "library")
  dir.create(bare)
  for (package in c("gpbandits", "Rcpp")) file.symlink(find.package(package), file.path(bare, package))
  bare
}

code_of <- function(file) {
  code <- tempfile(fileext = ".R")
  knitr::purl(file, code, documentation = 0, quiet = TRUE)
  readLines(code, encoding = "UTF-8")
}

fenced <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  ends <- matrix(grep("^```", lines), nrow = 2)
  blocks <- Map(function(from, to) lines[seq_len(to - from - 1) + from], ends[1, ], ends[2, ])
  heads <- lines[ends[1, ]]
  blocks[grepl("^```[{]?r", heads) & !grepl("include = FALSE", heads)]
}

recipes <- function() {
  found <- list()
  visit <- function(x) {
    if (identical(attr(x, "Rd_tag"), "\\preformatted")) found[[length(found) + 1]] <<- paste(unlist(x), collapse = "")
    else if (is.list(x)) for (part in x) visit(part)
  }
  visit(tools::parse_Rd("man/recipes.Rd"))
  found
}

# The error of the code in a new session with the bare library, or "".
fault_of <- function(code, bare) {
  file <- tempfile(fileext = ".R")
  writeLines(c("library(gpbandits)", "grDevices::pdf(NULL)", code), file)
  said <- suppressWarnings(system2("Rscript", file, stdout = TRUE, stderr = TRUE,
                                   env = paste0(c("R_LIBS=", "R_LIBS_SITE=", "R_LIBS_USER="), bare)))
  if (is.null(attr(said, "status"))) "" else paste(utils::tail(said, 4), collapse = " ")
}

blocks <- c(list(README = unlist(fenced("README.md")), introduction = code_of("vignettes/gpbandits.Rmd")),
            stats::setNames(fenced("vignettes/faq.Rmd"), NULL), recipes())
names <- c(names(blocks)[1:2], paste("block", seq_along(blocks))[-(1:2)])
bare <- library_of()
faults <- vapply(blocks, fault_of, "", bare)
says_missing <- function(package, text) {
  grepl("not installed|no package called", text) && grepl(sprintf("\\b%s\\b", package), text)
}
wanted <- vapply(faults, function(text) any(vapply(suggested, says_missing, NA, text)), NA)
for (k in which(nzchar(faults))) cat(if (wanted[k]) "needs more: " else "FAILED: ", names[k], ": ", faults[k], "\n", sep = "")
cat(sprintf("%d blocks: %d run, %d name a package that is missing, %d failed\n", length(blocks), sum(!nzchar(faults)),
            sum(wanted), sum(nzchar(faults) & !wanted)))
if (any(nzchar(faults) & !wanted)) quit(status = 1)
