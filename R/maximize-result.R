new_maximum <- function(search) {
  bandit <- search$bandit
  history <- search$history
  names <- bandit$config$domain$names
  seen <- which.max(history$reward)
  best <- if (length(seen)) bandit$best()
  certificate <- if (search$stopped && inherits(search$stop_when, "bandit_stop")) {
    stop_certificate(search$stop_when, as.environment(bandit), NULL, search$scale)
  }
  structure(list(par = if (!is.null(best)) unlist(best[names]),
                 value = if (!is.null(best)) search$centre + search$scale * best$mean,
                 best_seen = if (length(seen)) history[seen, ], history = history, bandit = bandit,
                 centre = search$centre, scale = search$scale, interrupted = search$interrupted,
                 stopped = search$stopped, certificate = certificate),
            class = "bandit_maximum")
}

#' @export
print.bandit_maximum <- function(x, ...) {
  failed <- sum(is.na(x$history$reward))
  cat(sprintf("Maximum found with %d evaluations%s%s\n", sum(x$history$status != "given"),
              if (failed) sprintf(" (%d failed)", failed) else "",
              if (x$interrupted) ", interrupted" else ""))
  if (is.null(x$par)) {
    cat("  no evaluation has succeeded\n")
    return(invisible(x))
  }
  show <- function(point) paste(names(point), "=", format(point, digits = 5, trim = TRUE), collapse = ", ")
  cat(sprintf("  recommended  %s: %.5g expected\n", show(x$par), x$value))
  cat(sprintf("  best seen    %s: %.5g\n", show(unlist(x$best_seen[names(x$par)])), x$best_seen$reward))
  invisible(x)
}
