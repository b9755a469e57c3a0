# Reads C++ as text: code without comments, and what stands where only namespaces and classes are open. For tools/lint.R
# and tools/core_files.R, which source it.

# A C++ file without comments, literals and directives, whose lines stay where they are.
bare_code <- function(file) {
  text <- paste(readLines(file), collapse = "\n")
  left_out <- paste0("(?ms)//[^\n]*|/[*].*?[*]/|R\"[(].*?[)]\"|\"(?:\\\\.|[^\"\\\\\n])*\"|",
                     "'(?:\\\\[^\n]{1,4}|[^'\\\\\n])'|",
                     "^[ \t]*#(?:[^\n\\\\]|\\\\\n|\\\\.)*")
  at <- gregexpr(left_out, text, perl = TRUE)
  regmatches(text, at) <- lapply(regmatches(text, at), function(parts) gsub("[^\n]", "", parts))
  text
}

# The declarations and definitions of a C++ file outside of functions, by matching braces: a data frame with a row for
# each head that ends with a brace or a semicolon.
#   head: its text; first, last: its lines, with the body; scope: the open namespaces and classes, outermost first
#   kind: "scope" (a namespace or class), "body" (a function, or an initialiser), "statement"
# A lambda belongs to the function that it is in. Braces that macros or branches of #if hold are not understood: a file
# whose braces do not match is an error.
cpp_parts <- function(file) {
  # A loop for several processors (linalg/processors.h) is a function.
  text <- gsub("GPB_FOR_EACH_PROCESSOR\\(\\s*(\\w+)(?=,)((?:[^()]|(\\((?:[^()]|(?3))*\\)))*)\\)", "void \\1(){\\2}",
               bare_code(file), perl = TRUE)
  at <- unlist(gregexpr("[{};]", text))
  none <- data.frame(head = character(), first = integer(), last = integer(), kind = character(), scope = character())
  if (at[1] < 0) return(none)
  marks <- substring(text, at, at)
  newlines <- unlist(gregexpr("\n", text))
  line_of <- function(position) findInterval(position, newlines) + 1L
  rows <- list()
  scopes <- character()
  inside <- 0L                 # braces that are open in a body
  after <- 1L                  # where the head of what comes next begins
  add <- function(head, first, last, kind) {
    rows[[length(rows) + 1L]] <<- list(head = trimws(gsub("\\s+", " ", head)), first = first, last = last, kind = kind,
                                       scope = paste(scopes, collapse = "/"))
  }
  for (k in seq_along(at)) {
    if (inside > 0) {
      inside <- inside + switch(marks[k], "{" = 1L, "}" = -1L, 0L)
      if (inside == 0) {
        add(head, first, line_of(at[k]), "body")
        after <- at[k] + 1L
      }
      next
    }
    head <- sub("^((public|private|protected) *:|\\s)*", "", substr(text, after, at[k] - 1L), perl = TRUE)
    first <- line_of(at[k] - nchar(head))
    after <- at[k] + 1L
    if (marks[k] == ";") {
      add(head, first, line_of(at[k]), "statement")
    } else if (marks[k] == "}") {
      if (length(scopes) == 0) stop(file, ": braces do not match")
      scopes <- scopes[-length(scopes)]
    } else if (grepl("\\b(namespace|class|struct|union|enum|extern)\\b[^()=]*$", head)) {
      add(head, first, first, "scope")
      name <- sub("^.*\\b(namespace|class|struct|union|enum|extern)\\b *(class\\b)? *([A-Za-z_:]\\w*)?.*$", "\\3", head)
      scopes <- c(scopes, if (nzchar(name)) name else "-")
    } else {
      inside <- 1L
    }
  }
  if (length(scopes) || inside) stop(file, ": braces do not match")
  do.call(rbind, lapply(rows, as.data.frame))
}
