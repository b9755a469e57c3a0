# Text reported with events: reasons of failures, and notes beside results. Layer: bandit.

# The fields `reasons` and `notes` hold text, named by the queries' ids; NULL if there is none. A reason says why a
# query failed or was withdrawn. A note is a JSON object, whose members are further columns of the history. New events
# have their text in the column `text`, which the log's table does not have.

giving_up <- event_kind[c("withdraw", "fail")]
noting <- event_kind[c("reward", "given", "amend")]

# Rows of events with their text: reasons of those that withdraw a query, or state its failure, and the notes in use.
with_text <- function(bandit, events, reason) {
  noted <- bandit$.noted
  if (is.null(reason) && is.null(noted)) return(events)
  events$text <- rep(NA_character_, length(events$kind))
  gives_up <- events$kind %in% giving_up
  if (!is.null(reason)) events$text[gives_up] <- rep_len(reason, length(gives_up))[gives_up]
  notes <- events$kind %in% noting & !duplicated(events$id)
  events$text[notes] <- noted$text[match(events$id[notes], noted$id)]
  events
}

# Evaluates a change of the bandit with notes (a text or NA each) about the queries `id` (rows of the log).
with_notes <- function(bandit, id, text, code) {
  if (all(is.na(text))) return(code)
  before <- bandit$.noted
  bandit$.noted <- list(id = id[!is.na(text)], text = text[!is.na(text)])
  on.exit(bandit$.noted <- before)
  code
}

is_noted <- function(bandit, id) id %in% bandit$.noted$id

noted_fields <- function(bandit) {
  noted <- bandit$.noted
  if (!is.null(noted)) list(notes = notes_with(bandit, noted$id, noted$text))
}

# The field after new notes about queries (rows of the log).
notes_with <- function(bandit, id, text) joined_notes(bandit$notes, id + ids_before(bandit), text)

# `id`: as users have them. Columns of earlier notes stay unless they are replaced.
joined_notes <- function(notes, id, text) {
  id <- as.character(id)
  again <- duplicated(id) | id %in% names(notes)
  notes[id[!again]] <- text[!again]
  for (k in which(again)) {
    notes[id[k]] <- note_text(utils::modifyList(note_members(notes[[id[k]]]), note_members(text[k])))
  }
  notes
}

# `columns`: values of one row, by name.
note_text <- function(columns) {
  columns <- Filter(function(value) length(value) == 1 && !is.na(value), columns)
  if (length(columns)) cpp_json_rows(columns) else NA_character_
}

note_members <- function(text) cpp_json_read(text, vectors = FALSE)

# The notes of the rows of a data.frame.
notes_of_rows <- function(frame) {
  plain <- function(column) {
    if (is.logical(column) || is_number(column)) return(if (is.numeric(column)) finite_or_na(column) else column)
    column <- enc2utf8(as.character(column))
    replace(column, column %in% "", NA)
  }
  columns <- lapply(Filter(is_column_of_values, frame), plain)
  if (length(columns) == 0) return(rep(NA_character_, nrow(frame)))
  vapply(seq_len(nrow(frame)), function(k) note_text(lapply(columns, `[`, k)), "")
}

finite_or_na <- function(x) replace(x, !is.finite(x), NA)

is_column_of_values <- function(column) is.atomic(column) && is.null(dim(column)) || inherits(column, "POSIXlt")

# Notes given by the argument `note`: one text, or one for each of `count` results.
check_note <- function(note, count) {
  if (is.null(note)) return(rep(NA_character_, count))
  if (is.logical(note) && all(is.na(note))) note <- as.character(note)
  if (!is.character(note) || is.object(note) || !length(note) %in% c(1, count)) {
    stop_argument("note", describe(note), if (count == 1) "a text" else sprintf("a text, or %d of them", count))
  }
  notes_of_rows(data.frame(note = rep_len(note, count)))
}

# The notes of some queries (rows of the log) as columns; text that consists of dates is of class Date.
note_columns <- function(bandit, ids) {
  found <- unname(bandit$notes)[match(ids + ids_before(bandit), names(bandit$notes))]
  if (all(is.na(found))) return(NULL)
  rows <- note_members(paste0("[", paste(ifelse(is.na(found), "{}", found), collapse = ","), "]"))
  names <- unique(unlist(lapply(rows, names)))
  lapply(stats::setNames(nm = names), function(name) {
    values <- lapply(rows, function(row) or_else(row[[name]], NA))
    column <- unlist(values)
    dates <- is.character(column) && all(is.na(column) | grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2}$", column))
    as_date <- if (dates) attempt(as.Date(column, optional = TRUE))
    if (dates && identical(is.na(as_date), is.na(column))) as_date else column
  })
}

check_notes <- function(bandit) {
  check_text_of_queries(bandit, bandit$notes, "notes")
  whole <- function(text) {
    members <- attempt(note_members(text))
    is.list(members) && length(members) > 0 && !is.null(names(members)) && all(lengths(members) == 1)
  }
  if (!all(vapply(bandit$notes, whole, NA))) damaged("its notes are not columns of queries")
}

check_reasons <- function(bandit) check_text_of_queries(bandit, bandit$reasons, "reasons")

check_text_of_queries <- function(bandit, text, what) {
  if (is.null(text)) return(invisible())
  ids <- suppressWarnings(as.integer(names(text)))
  right <- is_text(text) && length(ids) == length(text) && !anyNA(ids) && !anyDuplicated(ids) &&
    all(ids >= 1 & ids <= all_rounds(bandit))
  if (!right) damaged("its ", what, " are not those of queries")
}

# The part of `text` (reasons or notes) that is about queries that are kept.
text_after <- function(text, new) {
  first <- new$events$kind[1] %in% event_kind[["checkpoint"]]
  kept <- text[as.integer(names(text)) > if (first) new$events$size[1] else 0]
  if (length(kept)) kept
}
