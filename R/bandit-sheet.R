# Experiments that a user gives as a table, such as a spreadsheet. Layer: bandit.

# Checks experiments given by a user. It returns `x`, `reward`, `failed` and `outside` (a logical each), and optionally
# `noise_var`, `size` and `spread` (see check_measurements()), `contexts` (a row each), and `further`, a data.frame of
# the other columns. `unknown`: may experiments still be running? `contexts`: a result of check_contexts(), or NULL.
# `reward`: the name of its column.
check_experiments <- function(data, domain, arg = "data", unknown = FALSE, contexts = NULL, outcomes = NULL,
                              reward = NULL, rewards = NULL) {
  if (are_several(outcomes)) {
    return(check_experiments_of_several(data, domain, arg, unknown, contexts, outcomes))
  }
  none <- list(x = user_inputs(domain, no_points(domain)), reward = numeric(), failed = logical())
  if (is.null(data)) return(none)
  sheet <- read_sheet(data, domain, contexts, or_else(names(outcomes), or_else(reward, "reward")), arg, rewards)
  reward <- sheet$values[, 1]
  failed <- sheet$nan[, 1] | sheet$status %in% "failed" | is.na(reward) &
    !sheet$status %in% c(NA, "observed", "pending")
  gone <- is.na(reward) & !failed & if (unknown) FALSE else sheet$status %in% "pending"
  kept <- which(!sheet$withdrawn & !gone)
  if (!unknown && any(open <- is.na(reward[kept]) & !failed[kept])) {
    stop_argument(arg, sprintf("one without it in row %d", sheet$rows[kept][open][1]),
                  sprintf("a table with a number in column `%s` of every row", colnames(sheet$values)),
                  try = sprintf("a column `status` with \"failed\", or `%s[-%d, ]`, which leaves the row out", arg,
                              sheet$rows[kept][open][1]))
  }
  if (length(kept) == 0) return(none)
  tell_of_open(sheet, intersect(kept, which(is.na(reward) & !failed)), arg)
  reward[failed] <- NA
  beside <- lapply(measurements_of_sheet(sheet, colnames(sheet$values), "", arg, rewards), `[`, kept)
  check_responses_of_sheet(colnames(sheet$values), reward[kept], beside$size, rewards, sheet$rows[kept], arg)
  c(points_of_sheet(sheet, domain, contexts, kept, arg),
    list(reward = reward[kept], failed = failed[kept], reason = sheet$reason[kept]), beside)
}

# The same with `values` (a matrix, one column per outcome) instead of `reward`. The logical matrices `under_way` and
# `broken` have the same form. They are TRUE for values that are pending, and for values that failed while others of the
# same experiment were observed.
check_experiments_of_several <- function(data, domain, arg, unknown, contexts, outcomes) {
  names <- names(outcomes)
  rewards <- lapply(outcomes, `[[`, "rewards")
  none <- matrix(0, 0, length(names), dimnames = list(NULL, names))
  if (!is.null(data)) {
    as_text <- Map(function(role, own) or_else(own, if (is_limited(role)) yes_no_rewards()), outcomes, rewards)
    sheet <- read_sheet(data, domain, contexts, names, arg, as_text)
    status <- sheet$status
    values <- sheet$values
    nothing <- rowSums(!is.na(values)) == 0
    gone <- nothing & !rowSums(sheet$nan) & !unknown & status %in% c("pending", "partial")
    kept <- which(!sheet$withdrawn & !gone)
  }
  if (is.null(data) || length(kept) == 0) {
    return(list(x = user_inputs(domain, no_points(domain)), values = none, under_way = none > 0, broken = none > 0,
                failed = logical()))
  }
  failed <- nothing & !status %in% c("observed", "pending", "partial", NA) | rowSums(sheet$nan) == length(names)
  tell_of_open(sheet, intersect(kept, which(nothing & !failed)), arg)
  # A finished experiment will not have further values, except for outcomes that are new. A failed or withdrawn one will
  # not have those either.
  over <- matrix(!unknown | status %in% "observed", nrow(values), length(names))
  if (unknown) over[, colSums(!is.na(values[kept, , drop = FALSE])) == 0] <- FALSE
  over[status %in% c("withdrawn", "lost"), ] <- TRUE
  # (In a search's history, "partial" means that the other values failed; in a bandit's history, that they are pending.)
  broken <- is.na(values) & (grepl(failed_pattern, status, ignore.case = TRUE) |
                               (status %in% "partial" & !sheet$is_history)) | sheet$nan & !failed
  rows <- function(x) x[kept, , drop = FALSE]
  beside <- lapply(c("noise_var", "size", "spread"), function(what) {
    found <- lapply(stats::setNames(nm = names), function(name) {
      measurements_of_sheet(sheet, name, paste0(name, "_"), arg, rewards[[name]])[[what]][kept]
    })
    found <- Filter(Negate(is.null), found)
    if (length(found)) as.data.frame(found, optional = TRUE)
  })
  for (name in names) {
    check_responses_of_sheet(name, values[kept, name], beside[[2]][[name]], rewards[[name]], sheet$rows[kept], arg)
  }
  c(points_of_sheet(sheet, domain, contexts, kept, arg),
    list(values = rows(values), under_way = rows(is.na(values) & !over & !failed & !broken), broken = rows(broken),
         failed = failed[kept], reason = sheet$reason[kept]),
    Filter(Negate(is.null), stats::setNames(beside, c("noise_var", "size", "spread"))))
}

# Rows without a result or a status are pending, which may not be meant.
tell_of_open <- function(sheet, rows, arg) {
  rows <- sheet$rows[rows[is.na(sheet$status[rows])]]
  if (length(rows) == 0) return(invisible())
  one <- length(rows) == 1
  tell("open", rows_in_message(arg, rows, Inf), if (one) " has" else " have", " no result, and ",
       if (one) "is an open experiment" else sprintf("are open experiments (%d)", length(rows)),
       " that will not be suggested again. Report results with `$observe()`, or leave the ", if (one) "row" else "rows",
       " out. A column `status` with \"pending\" or \"failed\" says which is meant.")
}

# The points, contexts and further columns of some rows.
points_of_sheet <- function(sheet, domain, contexts, kept, arg) {
  frame <- sheet$frame[kept, , drop = FALSE]
  found <- with_row_numbers(sheet$rows[kept], {
    x <- with_completed_shares(domain, read_inputs(domain, frame[domain$names], arg), arg)
    list(x = x, outside = lies_outside(domain, points_anywhere(domain, x, arg = arg)),
         contexts = if (length(contexts$names)) contexts_of_sheet(frame[contexts$names], contexts, arg))
  })
  c(Filter(Negate(is.null), found), if (length(sheet$further)) list(further = sheet$further[kept, , drop = FALSE]))
}

contexts_of_sheet <- function(frame, contexts, arg) {
  found <- context_matrix(list(context_names = contexts$names, context_space = contexts$space), frame, arg)
  if (is.null(contexts$space)) found else context_frame(contexts$space, found)
}

# Errors that name a row of some rows name the row of the table instead.
with_row_numbers <- function(rows, code) {
  if (identical(as.integer(rows), seq_along(rows))) return(code)
  tryCatch(code, gpbandits_error = function(e) {
    at <- regexpr("in row [0-9]+", e$message)
    row <- as.integer(sub("in row ", "", regmatches(e$message, at)))
    if (at > 0) regmatches(e$message, at) <- sprintf("in row %d", rows[row])
    stop(e)
  })
}

# Inputs as users give them, whose shares add up: see completed_shares().
with_completed_shares <- function(domain, x, arg) {
  if (!inherits(domain, "search_domain") || !has_shares(domain)) return(x)
  cpp_frame(typed_columns(domain, completed_shares(domain, read_codes(domain, x, arg), arg)))
}

# ---- the table ------------------------------------------------------------------------------

# Reads a table: `frame` (the columns of inputs and contexts), `values` (a matrix with a column per outcome), `nan`
# (where these are NaN), `status` (NA if there is none), `ours` (the package's other columns), `further` (all others),
# `rows` (their numbers in `data`), `withdrawn`, `is_history`. `rewards`: a response type, or a list of them by outcome.
read_sheet <- function(data, domain, contexts, names, arg, rewards = NULL) {
  inputs <- c(domain$names, contexts$names)
  given <- c(names_in_domain(domain), contexts$names)
  allowed <- sprintf("a data.frame with columns %s", paste(c(inputs, names), collapse = ", "))
  if (!is.data.frame(data)) stop_argument(arg, describe(data), allowed)
  data <- with_known_names(as.data.frame(check_data_frame(data, arg)), c(given, names))
  check_sheet_columns(data, inputs, names, arg, allowed)
  empty <- Reduce(`&`, lapply(data[c(inputs, intersect(names, names(data)))], is_empty_cell))
  rows <- which(!empty)
  data <- data[rows, , drop = FALSE]
  for (name in inputs) {
    data[[name]] <- input_of_sheet(data[[name]], name, domain, rows, arg, contexts$space$params[[name]])
  }
  values <- matrix(NA_real_, nrow(data), length(names), dimnames = list(NULL, names))
  for (name in intersect(names, names(data))) {
    own <- if (inherits(rewards, "bandit_rewards")) rewards else rewards[[name]]
    values[, name] <- outcome_of_sheet(response_of_sheet(data[[name]], own), name, rows, arg)
  }
  own_values <- own_columns(data, c(given, names))
  status <- status_of_sheet(own_values)
  nan <- is.nan(values)
  values <- without_contradicted(values, status, rows, arg)
  known <- c("status", measurement_columns(names), if (is_history(own_values)) columns_of_history(own_values))
  # (Reasons of rows that have no result are not a further column.)
  reason <- if (is_textual(own_values$reason)) trimws(as.character(own_values$reason))
  gone <- rowSums(!is.na(values)) == 0
  if (all(is_empty_cell(reason[!gone]))) known <- c(known, "reason") else reason <- NULL
  further <- own_values[!names(own_values) %in% known]
  further <- further[!vapply(further, function(column) all(is_empty_cell(column)), NA)]
  list(frame = data[inputs], values = values, nan = nan, status = status, own_values = own_values,
       reason = reason, further = columns_to_keep(further), rows = rows, is_history = is_history(own_values),
       withdrawn = status %in% c("withdrawn", "lost") & rowSums(!is.na(values)) == 0)
}

measurement_columns <- function(names) {
  what <- c("noise_var", "sd", "size", "spread")
  if (length(names) == 1) what else as.vector(outer(names, what, paste, sep = "_"))
}

# Columns with the names that read.csv() makes of the given ones, and a first one after a byte order mark.
with_known_names <- function(data, known) {
  first <- sub("^(\ufeff|X\\.U\\.FEFF\\.|\u00ef\\.\\.|\u00ef\u00bb\u00bf)", "", names(data)[1])
  if (length(data) && first %in% c(known, make.names(known))) names(data)[1] <- first
  made <- make.names(known)
  for (k in which(!known %in% names(data) & made %in% names(data))) {
    if (sum(made == made[k]) == 1) names(data)[names(data) == made[k]] <- known[k]
  }
  data
}

check_sheet_columns <- function(data, inputs, names, arg, allowed) {
  has_value <- any(names %in% names(data))
  if (all(inputs %in% names(data)) && has_value) return(invisible())
  numbers <- names(Filter(is_number, data[!names(data) %in% c(inputs, measurement_columns(names), "id")]))
  remedy <- if (length(data) == 1 && grepl("[.;\t]", names(data))) {
    "`read.csv2()` or `read.csv(sep = )`: the file's columns were read as one"
  } else if (all(inputs %in% names(data)) && identical(names, "reward") && length(numbers)) {
    sprintf("`reward = \"%s\"`", numbers[length(numbers)])
  }
  stop_argument(arg, lacking_columns(data, c(inputs, if (!has_value) names[1])), allowed, try = remedy)
}

is_empty_cell <- function(column) is.na(column) & !is_nan(column) | as.character(column) %in% ""

is_nan <- function(column) if (is.numeric(column)) is.nan(column) else rep(FALSE, length(column))

# Columns as plain numbers, text, logicals and dates.
columns_to_keep <- function(frame) {
  frame <- frame[vapply(frame, is_column_of_values, NA)]
  for (name in names(frame)) frame[[name]] <- plain_column(frame[[name]])
  frame
}

plain_column <- function(column) {
  if (is_number(column) || is.logical(column) && !is.object(column)) return(unname(column))
  if (inherits(column, "Date")) return(column)
  column <- as.character(column)
  replace(column, column %in% "", NA)
}

# ---- cells ------------------------------------------------------------------------------------

stop_cell <- function(arg, value, row, name, wanted, try = NULL) {
  if (identical(try, "without")) try <- sprintf("`%s[-%d, ]`, which leaves the row out", arg, row)
  stop_argument(arg, sprintf("one with %s in row %d",
                             if (is.character(value)) dQuote(value, FALSE) else describe(value), row),
                sprintf("a table with %s in column `%s`", wanted, name), try = try)
}

# Text as numbers; an error names the first cell that has none.
numbers_of_text <- function(column, name, rows, arg, wanted = "numbers", try = NULL) {
  text <- trimws(as.character(column))
  text[text %in% c("", "NA")] <- NA
  number <- suppressWarnings(as.double(text))
  bad <- which(!is.na(text) & is.na(number) & !text %in% "NaN")
  if (length(bad)) {
    comma <- grepl("^[-+]?[0-9]+,[0-9]+$", text[bad[1]])
    stop_cell(arg, text[bad[1]], rows[bad[1]], name, wanted,
              if (comma) "`read.csv2()` or `read.csv(dec = \",\")` for decimal commas" else try)
  }
  number
}

is_textual <- function(column) is.character(column) || is.factor(column)

# An input: text as numbers where these are wanted, empty cells as NA, dates as days.
input_of_sheet <- function(column, name, domain, rows, arg, param = NULL) {
  if (is.null(param) && inherits(domain, "search_domain")) param <- domain$params[[name]]
  numeric <- if (is.null(param)) !is_set_of_arms(domain) && !has_numbers(domain) || !name %in% domain$names
             else param$type %in% c("real", "integer", "share")
  if (inherits(column, "Date")) return(as.double(column))
  if (inherits(column, "POSIXt")) return(as.double(as.POSIXct(column)) / 86400)
  if (numeric && is_textual(column)) {
    column <- numbers_of_text(column, name, rows, arg, try = "without")
  }
  if (is_textual(column)) {
    text <- trimws(as.character(column))
    text[text %in% ""] <- NA
    is_logical <- identical(param$type, "logical") && all(is.na(text) | !is.na(as.logical(text)))
    column <- if (is_logical) as.logical(text) else text
  }
  if (is.numeric(column) && !is.object(column) && any(bad <- is.infinite(column))) {
    stop_cell(arg, column[bad][1], rows[bad][1], name, "finite numbers", "without")
  }
  missing <- which(is.na(column))
  if (length(missing) && !(name %in% domain$names[domain$conditional])) {
    stop_cell(arg, column[missing[1]], rows[missing[1]], name, "a value", "without")
  }
  column
}

# Names of levels as numbers; yes and no, or true and false, as 1 and 0.
response_of_sheet <- function(column, rewards) {
  if (is.null(rewards)) return(column)
  if (is.logical(column) && !is.object(column)) return(as.double(column))
  if (!is_textual(column)) return(column)
  text <- trimws(as.character(column))
  number <- if (is.null(rewards$levels)) vapply(text, function(one) or_else(as_yes_no(one), NA_real_), 0)
            else match(text, rewards$levels)
  if (rewards$kind == "counts") number <- NA
  ifelse(is.na(number), text, number)
}

# Rewards that are impossible for their response type.
check_responses_of_sheet <- function(name, reward, size, rewards, rows, arg) {
  if (is.null(rewards)) return(invisible())
  size <- replace(or_else(size, rep(1, length(reward))), is.na(size), 1)
  for (k in which(!is.na(reward))) {
    catch_error(trait(rewards, "outcome")(reward[k], size[k]), function(e) {
      stop_cell(arg, reward[k], rows[k], name,
                paste("results for", sub(" \\(.*", "", trait(rewards, "title"))), try = "without")
    })
  }
}

outcome_of_sheet <- function(column, name, rows, arg) {
  remedy <- if (!is.null(as_yes_no(column[!is.na(column)]))) yes_no_remedy
            else "an empty cell if there is no result yet, or a column `status` with \"failed\""
  if (is_textual(column)) column <- numbers_of_text(column, name, rows, arg, "numbers", remedy)
  if (is.logical(column) && !is.object(column) && all(is.na(column))) column <- as.double(column)
  if (!is_number(column)) {
    stop_argument(arg, describe(column), sprintf("a table with numbers in column `%s`", name), try = remedy)
  }
  bad <- which(!is.na(column) & abs(column) > largest_number)
  if (length(bad)) stop_cell(arg, unname(column[bad[1]]), rows[bad[1]], name, "finite numbers", remedy)
  as.double(column)
}

# The status of each row of the package's columns, NA if there is none.
status_of_sheet <- function(own) {
  status <- replace(status_column(own), status_column(own) %in% "", NA)
  for (name in names(status_synonyms)) status[tolower(status) %in% status_synonyms[[name]]] <- name
  status
}

status_synonyms <- list(observed = c("ok", "done", "success", "succeeded"), failed = c("fail", "failure", "crashed"),
                         pending = c("running", "open", "planned"), withdrawn = c("cancelled", "canceled", "skipped"))

# (Those of users, and of the histories of searches.)
failed_pattern <- "^(failed|error|timed out|returned|the worker)\\b"

# Values without those of rows with all values although their status is that of a failure or withdrawal: these are not
# used.
without_contradicted <- function(values, status, rows, arg) {
  bad <- which(rowSums(is.na(values)) == 0 & grepl(paste0(failed_pattern, "|^withdrawn$"), status, ignore.case = TRUE))
  if (length(bad)) {
    tell("contradicted", "Values of `", arg, "` are not used, because their status is \"", status[bad[1]], "\": row ",
         paste(utils::head(rows[bad], 5), collapse = ", "),
         if (length(bad) > 5) sprintf(", ... (%d rows)", length(bad)), ".")
  }
  values[bad, ] <- NA
  values
}

# The largest number of readings of which a result is the mean.
most_readings <- 10000

# Noise variances, numbers and spreads of readings, if there are any.
measurements_of_sheet <- function(sheet, name, prefix, arg, rewards = NULL) {
  of <- function(what, ...) {
    column <- sheet$own_values[[paste0(prefix, what)]]
    if (is.null(column)) return(NULL)
    if (is_textual(column)) column <- numbers_of_text(column, paste0(prefix, what), sheet$rows, arg)
    column <- check_numbers(as.double(column), sprintf("%s$%s%s", arg, prefix, what), na = TRUE, ...)
    column[is.na(sheet$values[, name])] <- NA
    column
  }
  noise_var <- of("noise_var", lower = 0, open_lower = TRUE, upper = largest_number)
  # (In a history, `sd` is that of a prediction.)
  sd <- if (nzchar(prefix) || !sheet$is_history) of("sd", lower = 0, open_lower = TRUE, upper = sqrt(largest_number))
  if (!is.null(rewards)) {
    size <- of("size", lower = 0, open_lower = TRUE, upper = 1e9)
    return(if (!is.null(size)) list(size = replace(size, is.na(size), 1)))
  }
  size <- of("size", lower = 1, upper = most_readings)
  spread <- of("spread", lower = 0, upper = largest_number)
  if (!is.null(sd)) {
    several <- if (is.null(size)) rep(FALSE, length(sd)) else size > 1 & !is.na(size)
    if (any(several)) spread <- ifelse(several & is.na(or_else(spread, NA)), (size - 1) * sd^2, or_else(spread, NA))
    noise_var <- ifelse(is.na(or_else(noise_var, NA)) & !several, sd^2, or_else(noise_var, NA))
  }
  size <- if (!is.null(size)) replace(size, size %in% 1, NA)
  Filter(function(column) !is.null(column) && !all(is.na(column)),
         list(noise_var = noise_var, size = size, spread = spread))
}

# The rows of an experiment's table as JSON, see R/bandit-notes.R.
notes_of_experiments <- function(known) {
  if (is.null(known$further)) rep(NA_character_, length(known$failed)) else notes_of_rows(known$further)
}
