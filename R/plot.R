# Base graphics: plot() of bandits, runs and comparisons.

#' Plot a bandit, a run or a comparison
#'
#' Pictures in base graphics; [autoplot.GPBandit()] draws the same with ggplot2.
#'
#' @section A bandit:
#' * `"curve"` (one input): posterior mean with a band of mean \eqn{\pm w}{+/- w} sd, the rewards observed,
#'   pending queries (on the mean curve), and the next choice (on the upper bound for UCB, whose maximiser it
#'   is; otherwise on the mean). This is Figure 2 of Srinivas et al.
#' * `"map"` (two inputs, and arms that are a full grid or a box): the posterior mean as an image with
#'   contours, the points played with size by their number of plays, the next choice, the best point by
#'   posterior mean and, if the truth is given, its maximiser.
#' * `"arms"` (all others): posterior mean and error bars by arm, observations, pending queries, next choice.
#'   For a box of more than two inputs the distinct points played take the place of arms.
#'
#' `"auto"` takes the first that fits; fewer than 10 arms, and arms whose covariance is given as a matrix,
#' are drawn as arms. Rewards from before the last restart, which the posterior no longer knows, are drawn
#' hollow and pale.
#'
#' The next choice is asked of a copy, and the random generator is put back: plotting changes neither the
#' bandit nor the random numbers that follow. Where the next choice is random (Thompson sampling, uniform
#' sampling, exploration rounds of change detection) none is marked.
#'
#' @section A run:
#' Regret by round: \eqn{R_t = \sum_{s \le t} r_s}{R_t = r_1 + ... + r_t} (`"cumulative"`),
#' \eqn{R_t/t}{R_t / t} (`"average"`), the smallest regret so far (`"simple"`), or the cumulative constraint
#' violation (`"violation"`). Change points of the problem and restarts of the bandit are vertical lines
#' between two rounds.
#'
#' @section A comparison:
#' Mean over replications of one column of the ledger, with bands of `bands` standard errors. More than 1000
#' rounds are thinned to about 1000 for drawing (evenly on the axis drawn).
#'
#' @param x a `GPBandit`, `bandit_run` or `bandit_comparison`.
#' @param context the context whose slice is drawn, one value per context input (or a data.frame or matrix of
#'   one row); by default that of the last query.
#' @param truth the true mean: a function of the input matrix (one row per point, the context's columns
#'   last), or one number per arm; `NULL` for none.
#' @param type `"auto"`, `"curve"`, `"map"` or `"arms"`.
#' @param width \eqn{w}, how many posterior standard deviations the band is wide, a number >= 0. `NULL`: the
#'   policy's width in the next round where the policy has one (one multiplier: not `width_dmm()`), else 2; the
#'   legend says which.
#' @param next_choice mark the next choice?
#' @param resolution points per input at which a box's posterior is drawn, 2 to 1000; `NULL`: 301 in one
#'   dimension, 61 in two.
#' @param which `"cumulative"`, `"average"`, `"simple"` or `"violation"`.
#' @param bound a bound on the *cumulative* regret (or violation), as [regret_bound()] gives: one number per
#'   round, or one number. It is divided by the round where average or simple regret is drawn (without delays the simple
#'   regret is at most the average).
#' @param column a numeric column of `as.data.frame(comparison)`, such as `"average_regret"`,
#'   `"cumulative_regret"`, `"simple_regret"`.
#' @param bands half-width of the bands in standard errors of the mean, a number >= 0; 0 for none.
#' @param log `""`, `"x"`, `"y"` or `"xy"`: which axes are logarithmic. Values of zero fall below a
#'   logarithmic axis.
#' @param col colours of the curves, used again if there are more curves; by default Okabe and Ito's palette,
#'   which colour-blind readers can tell apart.
#' @param legend draw the legend? It gets room of its own above the data.
#' @param xlim,ylim,xlab,ylab,main ranges, labels and title; `NULL` for ours, `main = ""` for no title.
#' @param ... must be empty: misspelt arguments are refused.
#' @return Invisibly the data drawn, a data.frame. Bandit: a row per place with `arm` (arms only), the
#'   inputs, `mean`, `sd`, `lower`, `upper` (the band), `plays` (arms only; in this context), `truth` (if
#'   given); attributes `width` (number) and `next_choice` (a row of a history, or `NULL`). Run: `round`, the
#'   quantity's column, `bound`. Comparison: `bandit`, `round`, `mean`, `se`, `lower`, `upper`.
#' @section Errors: a `gpbandits_error` for a bad argument, or a type that the domain does not allow.
#' @references Srinivas, Krause, Kakade and Seeger (2010) <arXiv:0912.3995>, Figures 2 and 5. The palette:
#'   Okabe and Ito (2008), Color Universal Design.
#' @seealso [run_bandit()], [compare_bandits()].
#' @examples
#' x <- seq(0, 1, length.out = 200)
#' f <- function(x) sin(9 * x) * x
#' set.seed(1)
#' bandit <- gp_ucb(x, kernel_se(0.15), noise_var = 0.01)
#' problem <- bandit_problem(x, f(x), noise = noise_gaussian(0.1))
#' run <- run_bandit(bandit, problem, rounds = 12)
#' plot(bandit, truth = f)
#' plot(run, which = "average")
#' @name bandit-plots
NULL

#' @rdname bandit-plots
#' @method plot GPBandit
#' @export
plot.GPBandit <- function(x, context = NULL, truth = NULL, type = c("auto", "curve", "map", "arms"), width = NULL,
                          next_choice = TRUE, resolution = NULL, legend = TRUE, xlim = NULL,
                          ylim = NULL, xlab = NULL, ylab = NULL, main = NULL, ...) {
  check_dots_empty(..., allowed = names(formals(plot.GPBandit)))
  frame <- check_frame(legend, xlim, ylim, xlab, ylab, main)
  view <- bandit_view(x, context, truth, type, width, next_choice, resolution)
  frame$main <- or_else(main, view$title)
  frame$log <- view$log
  if (view$type == "map") draw_map(x, view, frame) else draw_profile(x, view, frame)
  invisible(drawn_frame(view))
}

drawn_frame <- function(view) {
  structure(view$frame, width = view$band$width,
            next_choice = view$next_choice[setdiff(names(view$next_choice), c("at", "at_y"))])
}

#' @rdname bandit-plots
#' @export
plot.bandit_run <- function(x, which = c("cumulative", "average", "simple", "violation"), bound = NULL, log = "",
                            col = NULL, legend = TRUE, xlim = NULL, ylim = NULL, xlab = NULL,
                            ylab = NULL, main = NULL, ...) {
  check_dots_empty(..., allowed = names(formals(plot.bandit_run)))
  frame <- check_frame(legend, xlim, ylim, xlab, ylab, main)
  col <- check_colours(col)
  view <- run_view(x, which, bound)
  frame$log <- check_choice(log, c("", "x", "y", "xy"))
  frame$main <- or_else(main, view$title)
  frame$xlab <- or_else(xlab, "round")
  frame$ylab <- or_else(ylab, view$label)
  draw_run(view, frame, or_else(col, okabe_ito)[[1]])
  invisible(view$frame)
}

#' @rdname bandit-plots
#' @export
plot.bandit_comparison <- function(x, column = "average_regret", bands = 1, log = "", col = NULL,
                                   legend = TRUE, xlim = NULL, ylim = NULL, xlab = NULL,
                                   ylab = NULL, main = NULL, ...) {
  check_dots_empty(..., allowed = names(formals(plot.bandit_comparison)))
  frame <- check_frame(legend, xlim, ylim, xlab, ylab, main)
  col <- check_colours(col)
  view <- comparison_view(x, column, bands, log)
  frame$log <- view$log
  frame$xlab <- or_else(xlab, "round")
  frame$ylab <- or_else(ylab, view$label)
  frame$note <- view$note
  draw_comparison(view, frame, col)
  invisible(view$frame)
}

or_else <- function(value, default) if (is.null(value)) default else value

# --- the frame: axes, grid, legend ---------------------------------------------------------

check_frame <- function(legend, xlim, ylim, xlab, ylab, main) {
  check_flag(legend)
  for (arg in c("xlim", "ylim")) {
    if (!is.null(get(arg))) check_numbers(get(arg), arg, lengths = 2)
  }
  for (arg in c("xlab", "ylab", "main")) {
    value <- get(arg)
    if (!is.null(value) && !is.language(value) && !(is.character(value) && length(value) == 1)) {
      stop_argument(arg, describe(value), "one string, an expression or NULL")
    }
  }
  list(legend = legend, xlim = xlim, ylim = ylim, xlab = xlab, ylab = ylab, main = main, log = "")
}

# Opens the picture: ranges (finite, positive on log axes), room for the legend above the data, light grid, axes.
# `key`: a data.frame made of key_entry() rows. Returns the height at which the legend's room begins. No
# graphical parameter is left changed.
open_picture <- function(frame, x, y, key, grid = TRUE) {
  style <- if (grid) "r" else "i"
  ylog <- grepl("y", frame$log)
  xlim <- or_else(frame$xlim, shown_range(x, grepl("x", frame$log)))
  ylim <- or_else(frame$ylim, shown_range(y, ylog))
  graphics::plot.new()
  graphics::plot.window(xlim, ylim, log = frame$log, xaxs = style, yaxs = style)
  usr <- graphics::par("usr")
  layout <- if (frame$legend) key_layout(key)
  ticks <- graphics::axTicks(2)
  if (frame$legend && is.null(frame$ylim)) {
    # The data keep the lower part of the window, the legend's height is added above.
    limits <- c(usr[3], usr[3] + (usr[4] - usr[3]) / (1 - min(layout$height, 0.5)))
    if (ylog) limits <- 10^limits
    graphics::plot.window(xlim, limits, log = frame$log, xaxs = style, yaxs = "i")
    ticks <- ticks[in_range(ticks, usr[3:4], ylog)]
  }
  ends <- if (ylog) 10^usr[3:4] else usr[3:4]
  if (grid) draw_grid(ticks, ends)
  draw_axes(frame, ticks)
  if (frame$legend) draw_key(key, layout$columns)
  invisible(ends[2])
}

draw_grid <- function(ticks, ends) {
  at <- graphics::axTicks(1)
  graphics::abline(h = ticks, col = "grey92", lwd = 0.8)
  graphics::segments(at, ends[1], at, ends[2], col = "grey92", lwd = 0.8)
}

in_range <- function(values, range, log) {
  if (log) values <- log10(values)
  slack <- 1e-9 * diff(range)
  values >= range[1] - slack & values <= range[2] + slack
}

shown_range <- function(values, log) {
  values <- values[is.finite(values) & (!log | values > 0)]
  if (!length(values)) return(if (log) c(0.1, 1) else c(0, 1))
  range <- range(values)
  if (range[1] < range[2]) return(range)
  if (log) range * c(0.5, 2) else range + c(-1, 1) * max(abs(range[1]) * 0.1, 0.5)
}

draw_axes <- function(frame, ticks) {
  labels <- tick_labels(ticks, grepl("y", frame$log))
  across <- graphics::axTicks(1)
  xlog <- grepl("x", frame$log)
  graphics::axis(1, at = across, labels = if (xlog) tick_labels(across, TRUE) else TRUE, lwd = 0, lwd.ticks = 1,
                 col.ticks = "grey60", tcl = -0.3, mgp = c(3, 0.5, 0))
  graphics::axis(2, at = ticks, labels = labels, lwd = 0, lwd.ticks = 1, col.ticks = "grey60",
                 tcl = -0.3, las = 1, mgp = c(3, 0.5, 0))
  # The label stands just outside the ticks' labels, however long they are, within the margin.
  line_height <- graphics::par("mai")[2] / max(graphics::par("mar")[2], 0.1)
  wide <- max(graphics::strwidth(labels, units = "inches", cex = graphics::par("cex.axis"))) / line_height
  graphics::title(xlab = frame$xlab, line = 2)
  graphics::title(ylab = frame$ylab, line = max(min(wide + 1.2, graphics::par("mar")[2] - 1.1), 0))
  graphics::title(main = frame$main, line = if (is.null(frame$note)) 1 else 1.6, cex.main = 1.1)
  if (!is.null(frame$note)) {
    graphics::mtext(frame$note, 3, line = 0.4, col = "grey35", cex = 0.8 * graphics::par("cex"))
  }
}

# Powers of ten where a logarithmic axis spans many, plain numbers where they are short.
tick_labels <- function(ticks, log) {
  if (log && (min(ticks) < 1e-3 || max(ticks) > 1e4)) {
    powers <- log10(ticks)
    if (all(abs(powers - round(powers)) < 1e-9)) {
      return(as.expression(lapply(round(powers), function(p) bquote(10^.(p)))))
    }
  }
  sizes <- abs(ticks[ticks != 0])
  if (any(sizes >= 1e5 | sizes < 1e-4)) return(formatC(ticks, format = "g"))
  vapply(ticks, function(v) format(v, scientific = FALSE, digits = 6), "")
}

# --- the legend --------------------------------------------------------------------------------

key_entry <- function(label, col, lty = NA, lwd = NA, pch = NA, bg = NA, size = 1) {
  data.frame(label = label, col = unname(col), lty = lty, lwd = lwd, pch = pch, bg = bg, size = size)
}

key_call <- function(key, columns, ...) {
  any_line <- any(!is.na(key$lty))
  args <- list("topleft", legend = paste0(key$label, "  "), col = key$col, pch = key$pch, pt.bg = key$bg,
               pt.cex = key$size, pt.lwd = 1.3, bty = "n", ncol = columns, cex = 0.85,
               y.intersp = 1.05, inset = c(0.005, 0), ...)
  if (any_line) args <- c(args, list(lty = key$lty, lwd = key$lwd, seg.len = 1.6))
  do.call(graphics::legend, args)
}

# As many columns as fit; the height as a share of the picture that the legend and a little air need.
key_layout <- function(key) {
  usr <- graphics::par("usr")
  for (columns in rev(seq_len(nrow(key)))) {
    rect <- key_call(key, columns, plot = FALSE)$rect
    if (rect$w <= 0.98 * (usr[2] - usr[1])) break
  }
  list(columns = columns, height = rect$h / (usr[4] - usr[3]))
}

draw_key <- function(key, columns) key_call(key, columns)

# --- a bandit's pictures -------------------------------------------------------------------------

mark <- list(
  band = grDevices::adjustcolor("#0072B2", 0.18), mean = "#0072B2", truth = "grey30",
  seen = "#000000", old = "grey65", pending = "#CC79A7", next_choice = "#D55E00"
)

# Curves and arms: posterior, data and next choice over one axis.
draw_profile <- function(bandit, view, frame) {
  frame$xlab <- or_else(frame$xlab, view$x_label)
  frame$ylab <- or_else(frame$ylab, "reward")
  shown <- c(view$frame$lower, view$frame$upper, view$frame$truth, view$queries$reward)
  open_picture(frame, view$x, shown, profile_key(view))
  if (view$type == "curve") draw_band_of(view) else draw_bars(view)
  draw_rewards(view$queries)
  if (view$type == "curve") draw_curve(view)
  draw_pending(view)
  draw_next(bandit, view)
}

profile_key <- function(view) {
  curve <- view$type == "curve"
  seen <- view$queries
  known <- !is.na(seen$reward)
  rbind(
    if (curve) key_entry("posterior mean", mark$mean, lty = 1, lwd = 2)
    else key_entry("posterior mean", mark$mean, pch = 15, size = 0.9),
    if (curve) key_entry(view$band$label, mark$band, pch = 15, size = 2.2)
    else key_entry(view$band$label, mark$mean, lty = 1, lwd = 1.3),
    if (!is.null(view$frame$truth) && curve) key_entry("truth", mark$truth, lty = 2, lwd = 1.5),
    if (!is.null(view$frame$truth) && !curve) key_entry("truth", mark$truth, pch = 4),
    if (any(known & seen$current)) key_entry("observed reward", mark$seen, pch = 16, size = 0.8),
    if (any(known & !seen$current)) key_entry("before the restart", mark$old, pch = 1, size = 0.8),
    if (any(!known)) key_entry("pending query", mark$pending, pch = 24, bg = "white", size = 0.9),
    if (!is.null(view$next_choice)) {
      key_entry("next choice", mark$next_choice, lty = 3, lwd = 1.5, pch = 18, size = 1.5)
    }
  )
}

draw_band_of <- function(view) {
  order <- order(view$x)
  x <- view$x[order]
  graphics::polygon(c(x, rev(x)), c(view$frame$lower[order], rev(view$frame$upper[order])),
                    col = mark$band, border = NA)
}

draw_curve <- function(view) {
  order <- order(view$x)
  x <- view$x[order]
  at <- view$frame[order, ]
  if (!is.null(at$truth)) graphics::lines(x, at$truth, col = mark$truth, lty = 2, lwd = 1.5)
  graphics::lines(x, at$mean, col = mark$mean, lwd = 2)
}

draw_bars <- function(view) {
  at <- view$frame
  crowded <- nrow(at) > 100
  graphics::segments(view$x, at$lower, view$x, at$upper, lwd = if (crowded) 0.7 else 1.3, lend = 1,
                     col = if (crowded) grDevices::adjustcolor(mark$mean, 0.35) else mark$mean)
  graphics::points(view$x, at$mean, pch = 15, cex = if (crowded) 0.4 else 0.9, col = mark$mean)
  if (!is.null(at$truth)) {
    graphics::points(view$x, at$truth, pch = 4, cex = if (crowded) 0.5 else 1, lwd = 1.3, col = mark$truth)
  }
}

draw_rewards <- function(seen) {
  known <- !is.na(seen$reward)
  old <- seen[known & !seen$current, ]
  graphics::points(old$at, old$reward, pch = 1, cex = 0.8, col = mark$old)
  new <- seen[known & seen$current, ]
  graphics::points(new$at, new$reward, pch = 16, cex = point_size(nrow(new)),
                   col = grDevices::adjustcolor(mark$seen, point_alpha(nrow(new))))
}

draw_pending <- function(view) {
  waiting <- view$queries[is.na(view$queries$reward), ]
  heights <- mean_at(view, waiting$at)
  graphics::points(waiting$at, heights, pch = 24, cex = 0.9, lwd = 1.3, col = mark$pending, bg = "white")
}

point_size <- function(n) if (n > 300) 0.5 else 0.8
point_alpha <- function(n) if (n > 300) 0.15 else if (n > 60) 0.35 else 0.8

# The posterior mean at positions of the axis, between the places drawn by interpolation.
mean_at <- function(view, at) {
  if (!length(at)) return(numeric())
  if (length(view$x) < 2) return(rep(view$frame$mean, length(at)))
  stats::approx(view$x, view$frame$mean, at, rule = 2, ties = "ordered")$y
}

draw_next <- function(bandit, view) {
  if (is.null(view$next_choice)) return(invisible())
  at <- view$next_choice$at
  usr <- graphics::par("usr")
  height <- next_height(bandit, view)
  graphics::segments(at, usr[3], at, height, col = mark$next_choice, lty = 3, lwd = 1.5)
  graphics::points(at, height, pch = 18, cex = 1.7, col = mark$next_choice)
}

# --- maps ------------------------------------------------------------------------------------------

draw_map <- function(bandit, view, frame) {
  frame$xlab <- or_else(frame$xlab, view$names[1])
  frame$ylab <- or_else(frame$ylab, view$names[2])
  xs <- sort(unique(view$x))
  ys <- sort(unique(view$y))
  z <- matrix(NA_real_, length(xs), length(ys))
  z[cbind(match(view$x, xs), match(view$y, ys))] <- view$frame$mean
  played <- played_points(view$queries)
  edges <- list(x = cell_edges(xs, grepl("x", view$log)), y = cell_edges(ys, grepl("y", view$log)))
  open_picture(frame, edges$x, edges$y, map_key(view, played), grid = FALSE)
  draw_surface(xs, ys, z, edges)
  graphics::points(played$x, played$y, pch = 21, cex = play_size(played$plays, played$plays), lwd = 1,
                   col = "black", bg = ifelse(played$pending, mark$pending, grDevices::adjustcolor("white", 0.75)))
  if (!is_flat(z)) {
    best <- which.max(view$frame$mean)
    graphics::points(view$x[best], view$y[best], pch = 3, cex = 1.6, lwd = 2.5, col = "black")
  }
  if (!is.null(view$frame$truth)) {
    top <- which.max(view$frame$truth)
    graphics::points(view$x[top], view$y[top], pch = 2, cex = 1.7, lwd = 2.2, col = "black")
  }
  if (!is.null(view$next_choice)) {
    graphics::points(view$next_choice$at, view$next_choice$at_y, pch = 23, cex = 1.6, lwd = 1.2,
                     col = "black", bg = mark$next_choice)
  }
}

draw_surface <- function(xs, ys, z, edges) {
  if (is_flat(z)) {
    graphics::rect(edges$x[1], edges$y[1], edges$x[2], edges$y[2], col = surface_colours(100)[50], border = NA)
    return(invisible())
  }
  raster <- !graphics::par("xlog") && !graphics::par("ylog") && is_even(xs) && is_even(ys) &&
    identical(grDevices::dev.capabilities("rasterImage")$rasterImage, "yes")
  graphics::image(xs, ys, z, col = surface_colours(100), useRaster = raster, add = TRUE)
  graphics::contour(xs, ys, z, add = TRUE, col = "grey25", lwd = 0.7, labcex = 0.7, nlevels = 8)
}

is_flat <- function(z) diff(range(z)) <= 1e-9 * max(1, abs(z))

# Light enough for black contours and marks, also at its dark end.
surface_colours <- function(n) grDevices::hcl.colors(round(1.7 * n), "YlGnBu", rev = TRUE)[seq_len(n)]

is_even <- function(values) diff(range(diff(values))) <= 1e-6 * diff(range(values))

# The outer edges of cells centred at the values.
cell_edges <- function(values, log) {
  if (log) return(exp(cell_edges(log(values), FALSE)))
  n <- length(values)
  if (n < 2) return(values + c(-0.5, 0.5))
  c(values[1] - (values[2] - values[1]) / 2, values[n] + (values[n] - values[n - 1]) / 2)
}

# Area in proportion to the plays, within bounds that the eye can use.
play_size <- function(plays, all) if (length(plays)) 0.7 + 1.9 * sqrt((plays - 1) / max(all - 1, 4)) else numeric()

map_key <- function(view, played) {
  counts <- unique(c(min(played$plays, 1), if (nrow(played)) max(played$plays)))
  counts <- if (nrow(played)) counts
  rbind(
    key_entry("posterior mean", surface_colours(100)[70], pch = 15, size = 2.2),
    if (length(counts)) {
      key_entry(sprintf("%d play%s", counts, ifelse(counts == 1, "", "s")), "black", pch = 21, bg = "white",
                size = play_size(counts, played$plays))
    },
    if (any(played$pending)) key_entry("pending query", "black", pch = 21, bg = mark$pending),
    if (!is_flat(view$frame$mean)) key_entry("largest mean", "black", pch = 3, size = 1.2),
    if (!is.null(view$frame$truth)) key_entry("true maximum", "black", pch = 2, size = 1.2),
    if (!is.null(view$next_choice)) key_entry("next choice", "black", pch = 23, bg = mark$next_choice, size = 1.2)
  )
}

# --- runs and comparisons ----------------------------------------------------------------------------

draw_run <- function(view, frame, col) {
  data <- view$frame
  value <- data[[view$column]]
  key <- rbind(
    key_entry(gsub("_", " ", view$column), col, lty = 1, lwd = 2),
    if (!is.null(data$bound)) key_entry("bound", "black", lty = 2, lwd = 1.5),
    if (length(view$changes)) key_entry("change point", "grey45", lty = 1, lwd = 1),
    if (length(view$restarts)) key_entry("restart", okabe_ito[["vermillion"]], lty = 3, lwd = 1.5)
  )
  frame$legend <- frame$legend && nrow(key) > 1
  zero <- if (!grepl("y", frame$log)) 0
  top <- open_picture(frame, data$round, c(zero, value, data$bound), key)
  draw_verticals(view$changes, top, "grey45", 1, 1)
  draw_verticals(view$restarts, top, okabe_ito[["vermillion"]], 3, 1.5)
  if (!is.null(data$bound)) graphics::lines(data$round, on_axis(data$bound), lty = 2, lwd = 1.5)
  graphics::lines(data$round, on_axis(value), col = col, lwd = 2)
}

# Over the data's height only: the legend's room stays free.
draw_verticals <- function(at, top, col, lty, lwd) {
  bottom <- graphics::par("usr")[3]
  if (graphics::par("ylog")) bottom <- 10^bottom
  if (length(at)) graphics::segments(at, bottom, at, top, col = col, lty = lty, lwd = lwd)
}

# On a logarithmic axis values of zero fall below the picture instead of breaking the curve.
on_axis <- function(values) {
  if (!graphics::par("ylog")) return(values)
  pmax(values, 10^(graphics::par("usr")[3] - 1))
}

draw_comparison <- function(view, frame, col) {
  parts <- split(view$frame, view$frame$bandit)
  style <- series_style(length(parts), col)
  key <- key_entry(names(parts), style$col, lty = style$lty, lwd = 2)
  shown <- view$frame[c("mean", "lower", "upper")]
  # A band that reaches zero must not stretch a logarithmic axis.
  if (grepl("y", frame$log)) shown <- shown[c("mean", "upper")]
  open_picture(frame, view$frame$round, unlist(shown), key)
  for (i in seq_along(parts)) draw_band(parts[[i]], style$col[i])
  for (i in seq_along(parts)) {
    graphics::lines(parts[[i]]$round, on_axis(parts[[i]]$mean), col = style$col[i], lty = style$lty[i], lwd = 2)
  }
}

draw_band <- function(part, col) {
  part <- part[!is.na(part$se), ]
  if (!nrow(part) || all(part$lower == part$upper)) return(invisible())
  graphics::polygon(c(part$round, rev(part$round)), c(on_axis(part$lower), rev(on_axis(part$upper))),
                    col = grDevices::adjustcolor(col, 0.18), border = NA)
}
