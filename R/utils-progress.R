# Progress bars with an estimate of the time left. Layer: base.

# Calls f(bar): bar(amount) reports finished steps, of which there are `steps`; `done` of them were finished before.
# `show`: TRUE, FALSE, or NULL for a bar in interactive sessions that appears after two seconds. `bar` is NULL if
# nothing can be shown. A handler of package progressr that the user has activated takes the place of the text. `time`:
# what the time left is, in words.
with_bar <- function(show, steps, f, done = 0, time = "about") {
  handled <- progress_is_handled()
  if (!or_else(show, interactive() || handled)) return(f(NULL))
  outer <- bars$shown
  bars$shown <- TRUE
  on.exit(bars$shown <- outer)
  if (handled) {
    bar <- progressr::progressor(steps = steps)
    if (done) bar(amount = done)
    return(f(function(amount = 1) bar(amount = amount)))
  }
  own <- text_bar(steps, done, delay = if (is.null(show)) 2 else 0, time = time)
  on.exit(own$close(), add = TRUE)
  f(own$step)
}

# Is a bar shown at present?
bars <- list2env(list(shown = FALSE), parent = emptyenv())

# Calls f(progress) for one long computation: progress(share) reports that at least this part of it is done. It is NULL
# if nothing can be shown, in the steps of a call that has a bar, and if the computation is not `long`.
with_share <- function(long, f) {
  if (!long || bars$shown) return(f(NULL))
  with_bar(NULL, 1000, time = "at most", f = function(bar) {
    if (is.null(bar)) return(f(NULL))
    done <- 0
    report <- function(share) {
      before <- done
      done <<- max(done, floor(1000 * share))
      bar(done - before)
    }
    result <- f(report)
    report(1)
    result
  })
}

check_progress <- function(progress) if (!is.null(progress)) check_flag(progress, "progress")

# f() as a function that reports a step to the bar after each call.
counted <- function(f, bar) {
  if (is.null(bar)) return(f)
  function(...) {
    result <- f(...)
    bar()
    result
  }
}

# Has the user activated progressr, globally or around this call? (Then it is loaded. To load it takes longer than most
# searches, and is not done here.)
progress_is_handled <- function() {
  if (!isNamespaceLoaded("progressr")) return(FALSE)
  if (isTRUE(progressr::handlers(global = NA))) return(TRUE)
  around <- list(progressr::with_progress, progressr::without_progress)
  any(vapply(seq_len(sys.nframe()), function(k) any(vapply(around, identical, NA, sys.function(k))), NA))
}

# A line of text on the standard error, drawn anew at most five times a second. It appears after `delay` seconds.
text_bar <- function(steps, done = 0, delay = 0, time = "about") {
  began <- proc.time()[["elapsed"]]
  first <- done
  drawn <- -Inf
  draw <- function(elapsed) {
    cat("\r", bar_line(done, steps, first, elapsed, time), sep = "", file = stderr())
    drawn <<- elapsed
  }
  list(step = function(amount = 1) {
    done <<- done + amount
    elapsed <- proc.time()[["elapsed"]] - began
    at_end <- done >= steps && (delay == 0 || drawn >= 0)
    if (at_end || (elapsed >= delay && elapsed - drawn >= 0.2)) draw(elapsed)
  }, close = function() if (drawn >= 0) cat("\n", file = stderr()))
}

# `first`: the steps that were finished before the `elapsed` seconds began. The time left assumes that the other steps
# take as long as those since then.
bar_line <- function(done, steps, first, elapsed, time = "about", width = 30) {
  share <- min(done / steps, 1)
  filled <- floor(share * width)
  left <- if (share == 1) time_text(elapsed)
          else if (done > first) paste(time, time_text(elapsed / (done - first) * (steps - done)), "left")
  line <- sprintf("|%s%s| %3.0f%%  %s", strrep("=", filled), strrep(" ", width - filled), floor(100 * share),
                  paste(left, collapse = ""))
  formatC(line, width = -(width + 30))
}

time_text <- function(seconds) {
  if (seconds < 99.5) return(sprintf("%.0f s", seconds))
  if (seconds < 5970) return(sprintf("%.0f min", seconds / 60))
  if (seconds < 47.5 * 3600) sprintf("%.0f h", seconds / 3600) else sprintf("%.0f days", seconds / 86400)
}

# Calls f(bar) as with_bar() does, where bar() may also be called in other processes of a future plan.
with_bar_across <- function(show, steps, f) {
  if (progress_is_handled()) return(with_bar(show, steps, f))
  if (!or_else(show, interactive()) || !has_package("progressr")) return(f(NULL))
  own <- NULL
  reporter <- list(
    initiate = function(config, state, progression, ...) {
      own <<- text_bar(config$max_steps, delay = if (is.null(show)) 2 else 0)
    },
    update = function(config, state, progression, ...) own$step(state$delta),
    finish = function(config, state, progression, ...) if (!is.null(own)) own$close()
  )
  handler <- progressr::make_progression_handler("gpbandits", reporter, interval = 0, enable = TRUE)
  progressr::with_progress(with_bar(TRUE, steps, f), handlers = handler, enable = TRUE)
}
