# Sets of points: matching, distances and spreading. Layer: base.

# Sets of points: told apart, found again, spread out.

# For each row of `given` the first row of `known` that is equal, or equal up to rounding: within 1e-8 of each
# column's range. NA if there is none.
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

# Keys are text, which costs: only rows that share their first number with a given one have them.
match_exactly <- function(given, known) {
  here <- if (ncol(known)) which(known[, 1] %in% given[, 1]) else seq_len(nrow(known))
  here[match(row_keys(given + 0), row_keys(known[here, , drop = FALSE] + 0))]
}

# Values moved to the nearest of the known ones (in order) within a tolerance, if there is one.
nearest_known <- function(x, known, tolerance) {
  below <- pmax(findInterval(x, known), 1L)
  above <- pmin(below + 1L, length(known))
  nearest <- ifelse(abs(known[above] - x) < abs(known[below] - x), known[above], known[below])
  ifelse(abs(nearest - x) <= tolerance, nearest, x)
}

# The first rows of a matrix, in words.
rows_in_words <- function(x, most = 4) {
  shown <- vapply(seq_len(min(nrow(x), most)), function(i) {
    values <- paste(exact_words(unname(x[i, ])), collapse = ", ")
    if (ncol(x) > 1) sprintf("(%s)", values) else values
  }, "")
  paste(c(shown, if (nrow(x) > most) "..."), collapse = ", ")
}

# Exact row identities, to every bit.
row_keys <- function(x) do.call(paste, lapply(seq_len(ncol(x)), function(j) sprintf("%a", x[, j])))

# The same for data.frames, whose columns may be text or have NA.
match_frames <- function(given, known) {
  numbers <- all(vapply(known, function(column) is_number(column) && !anyNA(column), NA))
  if (numbers) return(match_rows(as.matrix(given), as.matrix(known)))
  key <- function(x) if (is.double(x)) sprintf("%a", x) else as.character(x)
  keys <- function(frame) do.call(paste, lapply(unname(as.list(frame)), key))
  match(keys(given), keys(known))
}

# The package's one low-discrepancy sequence, the core's: the first `n` of it in [0, 1)^d, without random numbers.
golden_points <- function(n, d) cpp_golden_points(n, d)

# Settings as values that can be compared: of a function what it says and the values that it names
# and found where it was made (not in the workspace or a package), a few calls deep.
comparable <- function(x, depth = 5) {
  if (is.environment(x) || depth == 0) return(NULL)
  if (is.primitive(x)) return(deparse(x))
  if (is.list(x)) return(c(list(class(x)), lapply(unclass(x), comparable, depth)))
  if (!is.function(x)) return(x)
  home <- environment(x)
  own <- !isNamespace(home) && !identical(home, globalenv()) && !identical(home, baseenv())
  named <- if (own) intersect(all.names(body(x)), ls(home))
  values <- lapply(stats::setNames(named, named), function(name) comparable(get(name, envir = home), depth - 1))
  list(as.list(formals(x)), deparse(body(x)), values)
}
