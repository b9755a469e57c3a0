# Sets of points: matching, distances and spreading. Layer: base.

# Sets of points: distinguishing them, finding them again, and spreading them out.

# For each row of `given`, the first row of `known` that is equal, or equal up to rounding (within 1e-8 of each column's
# range). NA if there is none.
match_rows <- function(given, known) {
  row <- match_exactly(given, known)
  invalid <- which(is.na(row))
  if (length(invalid) == 0 || nrow(known) == 0) return(row)
  near <- given[invalid, , drop = FALSE]
  columns <- lapply(seq_len(ncol(known)), function(j) sort(unique(known[, j])))
  tolerance <- vapply(columns, function(x) 1e-8 * if (length(x) > 1) x[length(x)] - x[1] else abs(x), 0)
  crowded <- any(mapply(function(x, within) any(diff(x) <= 2 * within), columns, tolerance))
  if (crowded) {
    row[invalid] <- apply(near, 1, function(x) {
      which(rowSums(abs(known - rep(x, each = nrow(known))) > rep(tolerance, each = nrow(known))) == 0)[1]
    })
    return(row)
  }
  for (j in seq_along(columns)) near[, j] <- nearest_known(near[, j], columns[[j]], tolerance[j])
  row[invalid] <- match_exactly(near, known)
  row
}

# Keys are text and take time, so they are computed only for rows that share their first number with a given row.
match_exactly <- function(given, known) {
  here <- if (ncol(known)) which(known[, 1] %in% given[, 1]) else seq_len(nrow(known))
  here[match(row_keys(given + 0), row_keys(known[here, , drop = FALSE] + 0))]
}

# Values moved to the nearest of some known values (sorted), if it is within a tolerance.
nearest_known <- function(x, known, tolerance) {
  below <- pmax(findInterval(x, known), 1L)
  above <- pmin(below + 1L, length(known))
  nearest <- ifelse(abs(known[above] - x) < abs(known[below] - x), known[above], known[below])
  ifelse(abs(nearest - x) <= tolerance, nearest, x)
}

# A description of the first rows of a matrix.
described_rows <- function(x, most = 4) {
  shown <- vapply(seq_len(min(nrow(x), most)), function(i) {
    values <- paste(exact_numbers(unname(x[i, ])), collapse = ", ")
    if (ncol(x) > 1) sprintf("(%s)", values) else values
  }, "")
  paste(c(shown, if (nrow(x) > most) "..."), collapse = ", ")
}

# Exact identities of rows, to the last bit.
row_keys <- function(x) do.call(paste, lapply(seq_len(ncol(x)), function(j) sprintf("%a", x[, j])))

# The number of each row among the distinct rows, in the order of their first appearance.
row_numbers <- function(x) {
  out <- rep_len(1L, nrow(x))
  for (column in if (nrow(x)) seq_len(ncol(x))) {
    value <- match(x[, column], unique(x[, column]))
    pair <- out * (max(value) + 1) + value
    out <- match(pair, unique(pair))
  }
  out
}

# The same for data.frames, whose columns may be text or contain NA.
match_frames <- function(given, known) {
  numbers <- all(vapply(known, function(column) is_number(column) && !anyNA(column), NA))
  if (numbers) return(match_rows(as.matrix(given), as.matrix(known)))
  key <- function(x) if (is.double(x)) sprintf("%a", x) else as.character(x)
  keys <- function(frame) do.call(paste, lapply(unname(as.list(frame)), key))
  match(keys(given), keys(known))
}

# The first `n` points of the core's low-discrepancy sequence in [0, 1)^d, without random numbers.
golden_points <- function(n, d) cpp_golden_points(n, d)

# Settings in a form that can be compared. For a function, this is its code and the values of the variables that it uses
# from the environment of its definition. Values from the workspace and from packages are not included. Functions that
# it calls are included, a few levels deep.
comparable <- function(x, depth = 5) {
  if (is.environment(x) || depth == 0) return(NULL)
  if (is.primitive(x)) return(deparse(x))
  if (is.list(x)) {
    parts <- unclass(x)
    # (Where a setting has been added later, its absence means NULL.)
    if (!is.null(names(parts))) parts <- parts[!vapply(parts, is.null, NA)]
    return(c(list(class(x)), lapply(parts, comparable, depth)))
  }
  if (!is.function(x)) return(x)
  home <- environment(x)
  own <- !isNamespace(home) && !identical(home, globalenv()) && !identical(home, baseenv())
  named <- if (own) intersect(all.names(body(x)), ls(home))
  values <- lapply(stats::setNames(named, named), function(name) comparable(get(name, envir = home), depth - 1))
  list(as.list(formals(x)), deparse(body(x)), values)
}
