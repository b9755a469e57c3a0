# Print, summary and conversion of runs and comparisons. Layer: simulation.

#' @rdname bandit-methods
#' @export
print.bandit_run <- function(x, ...) {
  cat(run_lines(summary(x)), sep = "\n")
  invisible(x)
}

run_lines <- function(x) {
  c(sprintf("Run of %s: %s", amount_of(x$rounds, "round"), x$policy),
    sprintf("  regret     cumulative %.4g, average %.3g, simple %.3g (best possible reward %.4g)",
            x$cumulative_regret, x$average_regret, x$simple_regret, x$optimum))
}

#' @rdname bandit-methods
#' @export
summary.bandit_run <- function(object, ...) {
  check_class(object, "bandit_run")
  check_dots_empty(...)
  data <- ledger_of(object)
  last <- utils::tail(data, 1)
  structure(list(rounds = object$rounds, policy = describe_policy(object$bandit$config$policy),
                 cumulative_regret = last$cumulative_regret,
                 average_regret = last$cumulative_regret / object$rounds,
                 simple_regret = last$simple_regret,
                 optimum = last$optimum, segments = max(data$segment),
                 played = length(unique(data$arm)), pending = sum(is.na(data$reward)),
                 violation = last$cumulative_violation, hard_violation = last$hard_violation,
                 course = regret_course(data)),
            class = "summary_bandit_run")
}

#' @export
print.summary_bandit_run <- function(x, ...) {
  cat(run_lines(x), sep = "\n")
  if (x$played) cat(sprintf("  played     %d distinct arms\n", x$played))
  if (x$pending) cat(sprintf("  pending    %d rewards had not arrived at the end\n", x$pending))
  if (x$segments > 1) cat(sprintf("  restarts   %d\n", x$segments - 1L))
  if (!is.null(x$violation)) {
    cat(sprintf("  violation  %.4g in sum, %.3g a round%s\n", x$violation, x$violation / x$rounds,
                if (is.null(x$hard_violation)) "" else sprintf("; without cancellation %.4g", x$hard_violation)))
  }
  if (nrow(x$course) > 1) print(x$course, row.names = FALSE, digits = 4)
  invisible(x)
}

# The regret after a quarter, half, three quarters and all of the rounds.
regret_course <- function(data) {
  at <- unique(ceiling(nrow(data) * (1:4 / 4)))
  data.frame(round = at, average_regret = data$cumulative_regret[at] / at, simple_regret = data$simple_regret[at])
}

#' @rdname bandit-methods
#' @export
summary.bandit_comparison <- function(object, rounds = object$rounds,
                                      columns = c("average_regret", "cumulative_regret", "simple_regret"),
                                      ...) {
  check_class(object, "bandit_comparison")
  check_dots_empty(..., allowed = c("rounds", "columns"))
  kept <- kept_rounds(object)
  at <- match(check_numbers(rounds), kept)
  if (anyNA(at) || length(at) == 0) {
    stop_argument("rounds", describe(rounds),
                  sprintf("rounds that were kept: every %d up to %d", object$every, object$rounds))
  }
  known <- c("average_regret", names(Filter(is.numeric, object$results[[1]][[1]])))
  if (length(columns) == 0) stop_argument("columns", describe(columns), paste("among", paste(known, collapse = ", ")))
  for (column in columns) check_choice(column, known, "columns")
  parts <- list()
  for (column in columns) for (name in object$names) {
    values <- comparison_matrix(object, name, column)
    values <- matrix(values, length(kept))[at, , drop = FALSE]
    parts[[length(parts) + 1]] <- data.frame(
      bandit = name, round = kept[at], quantity = column, mean = rowMeans(values, na.rm = TRUE),
      se = row_standard_errors(values))
  }
  do.call(rbind, parts)
}

#' @rdname bandit-methods
#' @exportS3Method utils::toLatex bandit_comparison
toLatex.bandit_comparison <- function(object, rounds = object$rounds, columns = c("average_regret", "simple_regret"),
                                      digits = 3, ...) {
  check_dots_empty(..., allowed = c("rounds", "columns", "digits"))
  digits <- check_count(digits, upper = 15)
  found <- summary.bandit_comparison(object, rounds, columns)
  key <- paste(found$quantity, found$round)
  group <- factor(key, unique(key))
  number <- function(x) formatC(x, digits = digits, format = "g", flag = "#")
  cell <- paste0(number(found$mean), ifelse(is.na(found$se), "", paste(" \\pm", number(found$se))))
  # (Regrets and violations: the smallest is the best. Means that print alike are equally good.)
  best <- stats::ave(as.double(number(found$mean)), group, FUN = min) == as.double(number(found$mean))
  cell <- ifelse(best, sprintf("$\\mathbf{%s}$", cell), sprintf("$%s$", cell))
  cells <- matrix(cell[order(group, match(found$bandit, object$names))], length(object$names))
  several <- length(unique(found$round)) > 1
  heads <- found[match(levels(group), group), ]
  heads <- paste0(gsub("_", " ", heads$quantity), if (several) paste(", round", heads$round))
  lines <- apply(cbind(in_latex(object$names), cells), 1, paste, collapse = " & ")
  structure(c(sprintf("\\begin{tabular}{l%s}", strrep("r", ncol(cells))), "\\hline",
              paste(paste(c("", in_latex(heads)), collapse = " & "), "\\\\"), "\\hline", paste(lines, "\\\\"),
              "\\hline", "\\end{tabular}"), class = "Latex")
}

in_latex <- function(text) {
  text <- gsub("([&%$#_{}])", "\\\\\\1", gsub("\\", "\\textbackslash ", text, fixed = TRUE))
  gsub("~", "\\textasciitilde ", gsub("^", "\\textasciicircum ", text, fixed = TRUE), fixed = TRUE)
}

# Standard errors of the rows' means. (A call for each row would take most of the time.)
row_standard_errors <- function(values) {
  count <- rowSums(!is.na(values))
  centred <- values - rowMeans(values, na.rm = TRUE)
  ifelse(count < 2, NA_real_, sqrt(rowSums(centred^2, na.rm = TRUE) / pmax(count - 1, 1) / count))
}

#' @rdname bandit-methods
#' @export
print.bandit_comparison <- function(x, ...) {
  check_class(x, "bandit_comparison")
  cat(sprintf("Comparison of %d bandits over %d rounds, %d replications (seed %s, %.1f s)\n",
              length(x$names), x$rounds, x$replications, format(x$seed), x$elapsed))
  table <- summary(x)
  for (column in unique(table$quantity)) {
    part <- table[table$quantity == column, ]
    cat(sprintf("  %s after round %d:\n", gsub("_", " ", column), x$rounds))
    cat(sprintf("    %-20s %.4g (se %.2g)\n", part$bandit, part$mean, part$se), sep = "")
  }
  invisible(x)
}
