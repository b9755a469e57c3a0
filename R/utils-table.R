# Tables whose columns grow ahead of their rows: the form of the event log. Layer: base.

# Tables whose columns grow ahead of their rows: the event log of a bandit. They are plain R data in environments, so
# that a bandit can be saved, copied and sent to another process. A column that is NA in all rows so far has no values,
# and its name is in `.blank`. table_column() still returns its values. `table$name[rows]` also works, because R returns
# NA beyond the end of a vector. commit() allocates the column when it gets a value.

new_table <- function(prototype) {
  table <- list2env(prototype, parent = emptyenv())
  table$.columns <- names(prototype)
  table$.blank <- names(prototype)
  table$.size <- 0L
  table
}

table_size <- function(table) table$.size

# A change of a table. `append`: rows to append (a list of columns, or NULL). `cells`: for each of some columns a list
# of row numbers, which may be among the new ones, and of values. commit() applies either all changes or none.
table_change <- function(table, append = NULL, cells = list()) list(table = table, append = append, cells = cells)

# Changes a bandit, or any environment with tables. The only other function that does is sync_log(): see
# src/r_table.h.
commit <- function(owner, changes, fields = list(), durable = NULL) {
  if (is.null(durable)) return(invisible(cpp_log_commit(changes, owner, fields, NULL)))
  # After the durable write has happened, no interrupt may come before the log is updated.
  suspendInterrupts(cpp_log_commit(changes, owner, fields, durable))
  invisible()
}

table_append <- function(table, columns) {
  commit(table, list(table_change(table, columns)))
  invisible(table)
}

# Applies several changes as one. `make(draft)` makes them on a draft of the owner's tables and of its `fields`. If all
# succeed, the owner gets the content of the draft. `caches`: fields that are moved to the draft meanwhile, with their
# empty values. `durable(draft)`: as in commit().
as_one_change <- function(owner, fields, caches, make, durable = NULL) {
  fields <- c("queries", "events", fields, names(caches))
  draft <- list2env(mget(fields, envir = owner), parent = emptyenv())
  draft$config <- owner$config
  draft$queries <- table_copy(owner$queries)
  draft$events <- table_copy(owner$events)
  list2env(caches, owner)
  make(draft)
  commit(owner, list(), fields = mget(fields, envir = draft),
         durable = if (!is.null(durable)) function() durable(draft))
}

table_column <- function(table, name) {
  column <- get(name, envir = table)
  if (name %in% table$.blank) rep(column[NA_integer_], table$.size) else utils::head(column, table$.size)
}

is_blank <- function(column) is.na(column[1]) && all(is.na(column)) && !(is.double(column) && any(is.nan(column)))

table_columns <- function(table) {
  columns <- lapply(table$.columns, function(name) table_column(table, name))
  stats::setNames(columns, table$.columns)
}

table_copy <- function(table) list2env(as.list.environment(table, all.names = TRUE), parent = emptyenv())

table_of <- function(columns) table_append(new_table(lapply(columns, `[`, 0)), columns)
