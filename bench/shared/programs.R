# Other programs in bench/: problems that they evaluate, and optimisers that they run, by lines over pipes.

# `$ask(line)` writes a line to the program's standard input and returns the line that it answers.
open_program <- function(command) {
  path <- tempfile("answers")
  stopifnot(system(paste("mkfifo", path)) == 0)
  to <- pipe(paste(command, ">", path), "w")
  from <- fifo(path, "r", blocking = TRUE)
  list(
    ask = function(line) {
      writeLines(line, to)
      flush(to)
      answer <- readLines(from, 1)
      if (length(answer) == 0) stop("The program ended: ", command)
      answer
    },
    close = function() {
      close(to)
      close(from)
      unlink(path)
    }
  )
}

numbers_of_line <- function(line) as.numeric(strsplit(trimws(line), " +")[[1]])
line_of_numbers <- function(x) paste(format(x, digits = 17, trim = TRUE, scientific = TRUE), collapse = " ")

# An optimiser that another program runs (`peers.py` beside this file): the first line is the method, the seed, the
# number of evaluations and the space as JSON; the answer to each value is the next point; to "end", its processor seconds.
# `space`: a data.frame with name, lower, upper, integer, log.
run_program <- function(command, method, f, space, evaluations, seed) {
  program <- open_program(command)
  on.exit(program$close())
  inputs <- sprintf("{\"name\": \"%s\", \"lower\": %s, \"upper\": %s, \"integer\": %s, \"log\": %s}", space$name,
                    format(space$lower, digits = 17), format(space$upper, digits = 17),
                    tolower(space$integer), tolower(space$log))
  point <- program$ask(sprintf("{\"method\": \"%s\", \"seed\": %d, \"evaluations\": %d, \"inputs\": [%s]}", method, seed,
                               evaluations, paste(inputs, collapse = ", ")))
  for (k in seq_len(evaluations)) {
    value <- line_of_numbers(f(numbers_of_line(point)))
    if (k < evaluations) point <- program$ask(value)
  }
  as.numeric(program$ask("end"))
}
