# Tables whose columns grow by doubling: the event log of a bandit. Plain R data in
# environments, so that a bandit can be saved, copied and sent to another process.

new_table <- function(prototype) {
  table <- list2env(prototype, parent = emptyenv())
  table$.columns <- names(prototype)
  table$.size <- 0L
  table
}

table_size <- function(table) table$.size

# Columns are taken out of the environment while they change, so that R changes them in place;
# an interrupt must not strike while one is out.
table_append <- function(table, columns) {
  count <- length(columns[[1]])
  if (count == 0) return(invisible(table))
  size <- table$.size
  suspendInterrupts({
    for (name in table$.columns) {
      column <- get(name, envir = table)
      assign(name, NULL, envir = table)
      if (size + count > length(column)) length(column) <- max(2L * length(column), size + count, 16L)
      column[size + seq_len(count)] <- columns[[name]]
      assign(name, column, envir = table)
    }
    table$.size <- size + count
  })
  invisible(table)
}

table_set <- function(table, name, rows, values) {
  suspendInterrupts({
    column <- get(name, envir = table)
    assign(name, NULL, envir = table)
    column[rows] <- values
    assign(name, column, envir = table)
  })
  invisible(table)
}

table_column <- function(table, name) utils::head(get(name, envir = table), table$.size)

table_columns <- function(table) {
  columns <- lapply(table$.columns, function(name) table_column(table, name))
  stats::setNames(columns, table$.columns)
}

table_copy <- function(table) list2env(as.list.environment(table, all.names = TRUE), parent = emptyenv())
