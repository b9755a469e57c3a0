# Journals: the event log in an append-only file. Layer: bandit.

# The journal: a bandit's event log in an append-only file. A line is one change, which
# happens completely or not at all. Its parts are separated by ";". Each part is a letter and values:
#   `q`  a query: the columns of the log's queries that are known at the choice.
#   `e`  an event: kind, id, reward, time, values reported with the reward, constraint values.
#   `a`  the points eligible for a query, if not all were: its id, the arms and the fixed inputs.
#   `w`  why a query was withdrawn: its id, and text.
#   `t`  what was noted with a query's result: its id, and JSON.
#   `m`  the memory of a script's rule after the change.
#   `f`  a refit's parameters.
#   `x`  the log was emptied.
#   `r`  the state of R's random generator after the change.
#   `p`  the same if only the generator's position moved.
#   `n`  a note of maximize_bandit(): its name and its value.
# The first line holds the format's version, the state of R's random generator and the bandit's settings. Numbers are
# written as hexadecimal fractions, which are exact; other R data in the format of value_text(). The file is ASCII.

journal_format <- 3L
journal_magic <- "gpbandits-journal"

open_journal <- function(file, like, rng, trust) {
  file <- check_string(file, "x")
  if (!is.null(like)) check_bandit(like)
  found <- read_journal(file, "x", trust)
  if (!is.null(like)) check_same_settings(found$bandit$config, like$config, file, "x")
  if (rng) restore_rng(found$bandit$journal$rng)
  found$bandit
}

# ---- writing ----------------------------------------------------------------

# The absolute path, which remains valid when the working directory changes.
journal_path <- function(file, arg = "journal", links = 40) {
  file <- path.expand(check_string(file, arg))
  directory <- dirname(file)
  if (!dir.exists(directory)) {
    stop_argument(arg, describe(file), "a file in a directory that exists", try = "`dir.create()` first")
  }
  if (dir.exists(file)) stop_argument(arg, sprintf("a directory (%s)", quoted(file)), "a file")
  path <- file.path(normalizePath(directory), basename(file))
  target <- Sys.readlink(path)
  if (is.na(target) || !nzchar(target)) return(path)
  # The target of a symbolic link, which need not exist yet.
  if (links == 0) stop_argument(arg, sprintf("a link without an end (%s)", quoted(file)), "a file")
  journal_path(if (startsWith(target, "/")) target else file.path(dirname(path), target), arg, links - 1)
}

start_journal <- function(bandit, file, trust = FALSE) {
  path <- journal_path(file)
  if (!trust && has_code(bandit$config)) {
    stop_gpbandits("argument", "These settings hold functions, which resuming a journal runs. Use `trust = TRUE` if ",
                   "that is intended.", argument = "trust")
  }
  if (file.exists(path) && file.size(path) > 0) {
    stop_argument("journal", sprintf("%s, which exists", quoted(file)), "a new file",
                  try = "`open_bandit()`, which continues with an existing journal")
  }
  seed <- current_seed()
  header <- paste(journal_magic, journal_format, if (is.null(seed)) "-" else paste(seed, collapse = ","),
                  exact_text(bandit$config, trust))
  end <- journal_io(cpp_journal_create(path, header))
  bandit$journal <- file_journal(path, end, seed)
}

file_journal <- function(path, end, rng) {
  structure(list(path = path, end = end, rng = rng), class = "bandit_file_journal")
}

# Appends one line. Returns the values that commit() assigns to the bandit's fields once the line is on the disk.
journal_write <- function(bandit, parts) {
  seed <- current_seed()
  line <- paste(c(parts, seed_part(seed, bandit$journal$rng)), collapse = ";")
  path <- bandit$journal$path
  log <- file_journal(path, NULL, seed)
  # No statement comes after the line: an interrupt there would leave the bandit behind its journal.
  list(journal = `[[<-`(log, "end", journal_io(cpp_journal_append(path, line, bandit$journal$end))))
}

keep_change.bandit_file_journal <- function(log, bandit, queries, events, refits, memory = NULL) {
  config <- bandit$config
  journal_write(bandit, c(
    if (!is.null(queries)) rows_as_text("q", queries[names(journal_query_columns(config))]),
    rows_as_text("e", c(events, g_columns(config, events$g))[names(journal_event_columns(config))]),
    arms_as_text(events),
    text_of_events("w", bandit, events, giving_up), text_of_events("t", bandit, events, noting),
    vapply(refits, function(refit) paste("f", exact_text(refit, has_code(config))), ""),
    if (!is.null(memory)) paste("m", value_text(memory))
  ))
}

keep_note.bandit_file_journal <- function(log, bandit, name, value) {
  journal_write(bandit, paste("n", name, value_text(value)))
}

keep_reset.bandit_file_journal <- function(log, bandit) journal_write(bandit, "x")

describe_log.bandit_file_journal <- function(log) sprintf("  journal    %s", log$path)

journal_query_columns <- function(config) {
  columns <- query_columns(config)
  columns[!names(columns) %in% c("status", value_columns(config), constraint_names(config, "g"))]
}

journal_event_columns <- function(config) {
  columns <- event_columns()
  values <- stats::setNames(rep(list(double()), constraint_count(config)), constraint_names(config, "g"))
  c(columns[names(columns) != "arms"], values)
}

arms_as_text <- function(events) {
  some <- which(!is.na(events$arms))
  if (length(some)) paste("a", events$id[some], events$arms[some])
}

# The column `arms` of some events from what arms_as_text() wrote.
text_as_arms <- function(text, events) {
  arms <- rep(NA_character_, length(events$kind))
  if (length(text) == 0) return(arms)
  words <- strsplit(text, " ", fixed = TRUE)
  if (any(lengths(words) != 2)) stop_fault("eligible arms of the wrong form")
  ids <- suppressWarnings(as.integer(vapply(words, `[`, "", 1)))
  asked <- which(events$kind %in% event_kind[c("query", "given")])
  at <- asked[match(ids, events$id[asked])]
  if (anyNA(at) || anyDuplicated(at)) stop_fault("eligible arms of a query that is not there")
  arms[at] <- vapply(words, `[`, "", 2)
  arms
}

text_of_events <- function(letter, bandit, events, kinds) {
  if (is.null(events$text)) return(character())
  text_parts(letter, events$id + ids_before(bandit), replace(events$text, !events$kind %in% kinds, NA))
}

text_parts <- function(letter, ids, text) {
  some <- which(!is.na(text))
  sprintf("%s %d %s", letter, as.integer(ids[some]), vapply(text[some], value_text, ""))
}

text_of_queries <- function(parts) {
  if (length(parts) == 0) return(NULL)
  ids <- sub(" .*", "", parts)
  text <- lapply(substring(parts, nchar(ids) + 2), value_from_text)
  if (!all(vapply(text, is_text, NA) & lengths(text) == 1)) stop_fault("a reason or note that is no text")
  stats::setNames(unlist(text), ids)
}

rows_as_text <- function(letter, columns) {
  count <- length(columns[[1]])
  if (count) paste(letter, cpp_number_rows(columns, count)) else character()
}

journal_io <- function(expr) {
  tryCatch(expr, gpbandits_core = function(e) {
    stop_gpbandits("store", message_of(e), argument = "journal", parent = e)
  })
}

# The change of the generator's state. The second number is a position for most kinds.
seed_part <- function(seed, last) {
  if (is.null(seed) || identical(seed, last)) return(NULL)
  if (length(seed) > 2 && length(seed) == length(last) && identical(seed[-2], last[-2])) return(paste("p", seed[2]))
  paste(c("r", seed), collapse = " ")
}

# ---- reading ----------------------------------------------------------------

# The bandit of a journal and the notes in it.
read_journal <- function(file, arg, trust) {
  path <- journal_path(file, arg)
  if (!file.exists(path)) {
    stop_argument(arg, describe(file), "a file that exists",
                  try = "`gp_bandit(..., journal = )` with this path, which begins one")
  }
  contents <- journal_io(cpp_journal_read(path))
  config <- journal_config(contents, file, arg, trust)
  if (contents$damaged > 0) {
    words <- sprintf("line %g of the journal %s is damaged", contents$damaged, file)
    if (!contents$damaged_last) {
      stop_data("Cannot resume: ", words, ". Restore the file from a copy, or begin a new journal.", argument = arg)
    }
    warn_gpbandits("data", "dropped_line", words, ". It is the last line, and is dropped.")
  }
  seed <- strsplit(header_parts(contents$lines)[3], ",", fixed = TRUE)[[1]]
  found <- catch_error(replay_lines(config, contents$lines[-1], seed, trust), function(e) {
    stop_data("Cannot resume: ", file, " does not contain a bandit's log (", message_of(e),
              "). Restore the file from a copy, or begin a new journal.", argument = arg, parent = e)
  })
  found$bandit$journal <- file_journal(path, contents$end, found$rng)
  found
}

# The settings. Journals of earlier formats hold serialised R objects, which are not safe to read.
journal_config <- function(contents, file, arg, trust) {
  header <- header_parts(contents$lines)
  if (length(header) < 2 || header[1] != journal_magic) {
    stop_data(sprintf("The file %s is not a bandit's journal. Use a path that was given as `journal`.", quoted(file)),
              argument = arg)
  }
  if (!identical(header[2], as.character(journal_format))) {
    earlier <- isTRUE(suppressWarnings(as.integer(header[2])) < journal_format)
    why <- if (earlier) "an earlier version's, which held R objects: these are not read any more"
           else "a later version's"
    stop_data(sprintf("This journal has format %s, %s; this version reads format %d. Use the version that wrote it.",
                      header[2], why, journal_format), argument = arg)
  }
  catch_error({
    if (length(header) != 4) stop_fault("its first line has the wrong number of parts")
    value_from_text(header[4], trust)
  }, function(e) {
    stop_data("Cannot read the settings in the journal ", file, ": ", message_of(e), argument = arg, parent = e)
  })
}

# The words of the first line: name, format, generator, and the settings, which may contain blanks.
header_parts <- function(lines) {
  if (length(lines) == 0) return(character())
  words <- strsplit(lines[1], " ", fixed = TRUE)[[1]]
  c(utils::head(words, 3), if (length(words) > 3) paste(words[-(1:3)], collapse = " "))
}

# A state of R's random generator from words. It must belong to a generator that this R has; for any other, R raises an
# error at the first random number.
seed_from_words <- function(words) {
  seed <- suppressWarnings(as.integer(words))
  if (any(is.na(seed) & words != "NA")) stop_fault("a random generator's state of other words than numbers")
  kind <- seed[1] %% 100L + 1L
  numbers <- c(3, 2, 2, 625, 101, NA, 101, 6)[kind]
  # (A user-supplied generator may have any state.)
  whole <- if (is.na(numbers)) identical(kind, 6L) && RNGkind()[1] == "user-supplied" else length(seed) == 1 + numbers
  # (`binomial`: since R 4.7. An earlier R reads such a state without it, see restore_rng().)
  normal <- (seed[1] %/% 100L) %% 100L
  sample <- (seed[1] %/% 10000L) %% 10L
  binomial <- seed[1] %/% 100000L
  if (!isTRUE(whole && seed[1] >= 0 && normal <= 5 && sample <= 1 && binomial <= 1)) {
    stop_fault("a state of a random generator that is none")
  }
  seed
}

# Tables and notes from the lines after the first, and the bandit with these tables.
replay_lines <- function(config, lines, seed, trust) {
  parts <- unlist(strsplit(lines, ";", fixed = TRUE))
  letter <- substr(parts, 1, 1)
  known <- c("q", "e", "a", "w", "t", "m", "f", "x", "r", "p", "n")
  if (!all(letter %in% known)) stop_fault("a part of an unknown kind")
  text <- substring(parts, 3)
  rng <- last_seed(letter, text, seed)
  notes <- lapply(text[letter == "n"], note_from_text)
  if (any(letter == "x")) {
    kept <- seq_along(letter) > max(which(letter == "x"))
    letter <- letter[kept]
    text <- text[kept]
  }
  events <- text_as_events(text[letter == "e"], journal_event_columns(config))
  events$arms <- text_as_arms(text[letter == "a"], events)
  queries <- text_as_rows(text[letter == "q"], journal_query_columns(config))
  queries <- add_rewards(queries, events, config)
  bandit <- new_bandit(config, table_of(queries[names(query_columns(config))]),
                       table_of(events[names(event_columns())]), lapply(text[letter == "f"], value_from_text, trust),
                       reasons = latest_text(text_of_queries(text[letter == "w"])))
  noted <- text_of_queries(text[letter == "t"])
  if (length(noted)) bandit$notes <- joined_notes(NULL, names(noted), unname(noted))
  if (any(letter == "m")) bandit$memory <- value_from_text(text[max(which(letter == "m"))])
  rebuild(as.environment(bandit))
  list(bandit = bandit, notes = notes, rng = rng)
}

# Rows of events, also in the format from before replicates and comparisons.
text_as_events <- function(text, columns) {
  later <- names(columns) %in% later_event_columns
  is_early <- length(text) > 0 && lengths(strsplit(text[1], " ", fixed = TRUE)) == sum(!later)
  if (!is_early) return(text_as_rows(text, columns))
  rows <- text_as_rows(text, columns[!later])
  rows[names(columns)[later]] <- lapply(columns[later], function(column) column[rep(NA_integer_, length(text))])
  rows[names(columns)]
}

# The last text of each query.
latest_text <- function(text) text[!duplicated(names(text), fromLast = TRUE)]

note_from_text <- function(text) {
  name <- sub(" .*", "", text)
  list(name = name, value = value_from_text(substring(text, nchar(name) + 2)))
}

text_as_rows <- function(text, columns) {
  words <- unlist(strsplit(text, " ", fixed = TRUE))
  values <- suppressWarnings(as.double(words))
  if (any(is.na(values) & !words %in% c("NA", "NaN"))) stop_fault("rows of other words than numbers")
  if (length(values) != length(text) * length(columns)) stop_fault("rows of the wrong length")
  values <- matrix(values, length(columns))
  rows <- lapply(seq_along(columns), function(k) suppressWarnings(`storage.mode<-`(values[k, ], typeof(columns[[k]]))))
  stats::setNames(rows, names(columns))
}

# `words`: the initial state, "-" if there was none. A part "r" holds a whole state, "p" its position alone.
last_seed <- function(letter, text, words) {
  whole <- max(0, which(letter == "r"))
  if (whole > 0) words <- strsplit(text[whole], " ", fixed = TRUE)[[1]]
  if (identical(words, "-")) return(NULL)
  moved <- which(letter == "p")
  moved <- moved[moved > whole]
  if (length(moved)) words[2] <- text[max(moved)]
  seed_from_words(words)
}

# ---- ownership of the file ----------------------------------------------------

# `file`: the journal's path, or the bandit's name in a store (`arg`).
check_same_settings <- function(theirs, ours, file, arg) {
  names <- union(names(theirs), names(ours))
  names <- setdiff(names, "format")
  same <- vapply(names, function(name) {
    identical(comparable(theirs[[name]]), comparable(ours[[name]]))
  }, NA)
  if (all(same)) return(invisible())
  # (Kernels and refits are chosen for the domain: another domain is the cause.)
  if (!same[["domain"]]) same[names %in% c("kernel", "refit")] <- TRUE
  other <- paste0("`", sub("context_names", "contexts", names[!same]), "`", collapse = ", ")
  stop_data(if (arg == "store") sprintf("The store's bandit %s has another %s. Use its settings, or another `name`.",
                                        quoted(file), other)
            else sprintf("The journal %s belongs to a bandit with another %s%s. Use a journal of this bandit.",
                         quoted(file), other,
                         if (same[["domain"]]) ""
                         else sprintf(" (%s; here %s)", domain_story(theirs$domain), domain_story(ours$domain))),
            argument = arg)
}

rewrite_log.bandit_file_journal <- function(bandit, new) {
  config <- bandit$config
  path <- bandit$journal$path
  contents <- journal_io(cpp_journal_read(path))
  check_sole_writer(bandit, contents$end)
  header <- header_parts(contents$lines)
  if (!is.null(bandit$journal$rng)) header[3] <- paste(bandit$journal$rng, collapse = ",")
  parts <- unlist(strsplit(contents$lines[-1], ";", fixed = TRUE))
  queries <- or_else(new$queries, table_columns(bandit$queries))
  reasons <- text_after(bandit$reasons, new)
  notes <- text_after(bandit$notes, new)
  lines <- paste(c(
    rows_as_text("q", queries[names(journal_query_columns(config))]),
    rows_as_text("e", new$events[names(journal_event_columns(config))]),
    arms_as_text(new$events),
    text_parts("w", names(reasons), reasons),
    text_parts("t", names(notes), notes),
    vapply(new$refits, function(refit) paste("f", exact_text(refit, has_code(config))), ""),
    parts[substr(parts, 1, 1) == "n"]), collapse = ";")
  draft <- paste0(path, ".compact")
  unlink(draft)
  on.exit(unlink(draft))
  end <- journal_io(cpp_journal_create(draft, paste(header, collapse = " ")))
  end <- journal_io(cpp_journal_append(draft, lines, end))
  Sys.chmod(draft, file.mode(path), use_umask = FALSE)
  check_sole_writer(bandit, journal_io(cpp_journal_read(path))$end)
  if (!file.rename(draft, path)) {
    stop_gpbandits("store", "Cannot replace the journal ", path, ". Check that its directory can be written.",
                   argument = "journal")
  }
  list(journal = file_journal(path, end, bandit$journal$rng))
}

check_sole_writer <- function(bandit, end) {
  if (!identical(end, bandit$journal$end)) {
    stop_gpbandits("store", "Another bandit has written to the journal ", bandit$journal$path,
                   " since. Use open_bandit() to continue from it.", argument = "journal")
  }
}
