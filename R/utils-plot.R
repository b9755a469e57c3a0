# The frame of base graphics plots: axes, grid, colours, legends. Layer: base.

# --- the frame: axes, grid, legend ---------------------------------------------------------

check_frame <- function(legend, xlim, ylim, xlab, ylab, main) {
  check_flag(legend)
  for (arg in c("xlim", "ylim")) {
    if (!is.null(get(arg))) check_numbers(get(arg), arg, lengths = 2)
  }
  for (arg in c("xlab", "ylab", "main")) {
    value <- get(arg)
    if (!is.null(value) && !is.language(value) && !(is_text(value) && length(value) == 1)) {
      stop_argument(arg, describe(value), "one string, an expression or NULL")
    }
  }
  list(legend = legend, xlim = xlim, ylim = ylim, xlab = xlab, ylab = ylab, main = main, log = "")
}

# Opens a plot: ranges (finite, positive on log axes), space for the legend above the data, light grid, axes. `key`: a
# data.frame of rows made by key_entry(). It returns the height at which the legend's space begins. Graphical parameters
# remain unchanged. `frame$x_axis`, `frame$y_axis`: NULL, or the positions and labels of the ticks.
open_picture <- function(frame, x, y, key, grid = TRUE) {
  style <- if (grid) "r" else "i"
  ylog <- grepl("y", frame$log)
  xlim <- or_else(frame$xlim, shown_range(x, grepl("x", frame$log)))
  ylim <- or_else(frame$ylim, shown_range(y, ylog))
  graphics::plot.new()
  graphics::plot.window(xlim, ylim, log = frame$log, xaxs = style, yaxs = style)
  usr <- graphics::par("usr")
  layout <- if (frame$legend) key_layout(key)
  ticks <- or_else(frame$y_axis$at, graphics::axTicks(2))
  if (frame$legend && is.null(frame$ylim)) {
    # The data keep the lower part of the window; the height of the legend is added above.
    limits <- c(usr[3], usr[3] + (usr[4] - usr[3]) / (1 - min(layout$height, 0.5)))
    if (ylog) limits <- 10^limits
    graphics::plot.window(xlim, limits, log = frame$log, xaxs = style, yaxs = "i")
    ticks <- ticks[between_ends(ticks, usr[3:4], ylog)]
  }
  ends <- if (ylog) 10^usr[3:4] else usr[3:4]
  if (grid) draw_grid(ticks, ends, or_else(frame$x_axis$at, graphics::axTicks(1)))
  draw_axes(frame, ticks)
  if (frame$legend) draw_key(key, layout$columns)
  invisible(ends[2])
}

draw_grid <- function(ticks, ends, at) {
  graphics::abline(h = ticks, col = "grey92", lwd = 0.8)
  graphics::segments(at, ends[1], at, ends[2], col = "grey92", lwd = 0.8)
}

between_ends <- function(values, range, log) {
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
  labels <- or_else(abbreviated(frame$y_axis$labels), tick_labels(ticks, grepl("y", frame$log)))
  across <- or_else(frame$x_axis$at, graphics::axTicks(1))
  below <- if (!is.null(frame$x_axis)) fitted_lines(frame$x_axis$labels, diff(graphics::par("usr")[1:2]))
           else if (grepl("x", frame$log)) tick_labels(across, TRUE) else TRUE
  graphics::axis(1, at = across, labels = below, lwd = 0, lwd.ticks = 1,
                 col.ticks = "grey60", tcl = -0.3, mgp = c(3, 0.5, 0))
  graphics::axis(2, at = ticks, labels = labels, lwd = 0, lwd.ticks = 1, col.ticks = "grey60",
                 tcl = -0.3, las = 1, mgp = c(3, 0.5, 0))
  # The axis label is just outside the labels of the ticks, however long these are, within the margin.
  line_height <- graphics::par("mai")[2] / max(graphics::par("mar")[2], 0.1)
  wide <- max(0, graphics::strwidth(labels, units = "inches", cex = graphics::par("cex.axis"))) / line_height
  graphics::title(xlab = frame$xlab, line = 2)
  graphics::title(ylab = frame$ylab, line = max(min(wide + 1.2, graphics::par("mar")[2] - 1.1), 0))
  graphics::title(main = frame$main, line = if (is.null(frame$note)) 1 else 1.6, cex.main = 1.1)
  if (!is.null(frame$note)) {
    graphics::mtext(frame$note, 3, line = 0.4, col = "grey35", cex = 0.8 * graphics::par("cex"))
  }
}

# Names along the left axis, abbreviated if the margin is too narrow for them (a line of it is for the axis label).
abbreviated <- function(text) {
  room <- graphics::par("mai")[2] * (1 - 1.6 / max(graphics::par("mar")[2], 1.6))
  shortened(text, function(text) {
    max(graphics::strwidth(text, units = "inches", cex = graphics::par("cex.axis"))) <= room
  })
}

# Names at evenly spaced positions below an axis, abbreviated until neighbours are apart.
fitted_lines <- function(text, width) {
  shortened(text, function(text) {
    wide <- graphics::strwidth(paste0(text, "nn"), cex = graphics::par("cex.axis"))
    all(wide[-1] + wide[-length(wide)] <= 2 * width / max(length(text), 1))
  })
}

shortened <- function(text, fits) {
  if (!length(text)) return(text)
  for (size in c(max(nchar(text)):3)) {
    shorter <- abbreviate(text, size, named = FALSE)
    if (fits(shorter)) break
  }
  shorter
}

# The positions of levels or arms on an axis. Names are shown only if there are few enough to be readable.
named_axis <- function(text, count = length(text)) {
  if (count <= 12) return(list(at = seq_len(count), labels = or_else(text, as.character(seq_len(count)))))
  at <- pretty(c(1, count))
  at <- unique(pmin(pmax(round(at), 1), count))
  list(at = at, labels = as.character(at))
}

# Powers of ten if a logarithmic axis spans many of them; plain numbers if these are short.
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

# The number of columns that fit, and the proportion of the plot's height that the legend needs with some space.
key_layout <- function(key) {
  usr <- graphics::par("usr")
  for (columns in rev(seq_len(nrow(key)))) {
    rect <- key_call(key, columns, plot = FALSE)$rect
    if (rect$w <= 0.98 * (usr[2] - usr[1])) break
  }
  list(columns = columns, height = rect$h / (usr[4] - usr[3]))
}

draw_key <- function(key, columns) key_call(key, columns)

# aes() of columns named by strings, without names that R CMD check would report as global variables.
aes_of <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

mark <- list(
  band = grDevices::adjustcolor("#0072B2", 0.18), mean = "#0072B2", truth = "grey30",
  seen = "#000000", old = "grey65", pending = "#CC79A7", next_choice = "#D55E00"
)

# There are no contours to draw: there is one value, or none has been observed.
is_flat <- function(z) {
  z <- z[is.finite(z)]
  length(z) == 0 || diff(range(z)) <= 1e-9 * max(1, abs(z))
}

# Colours from pale yellow to blue, with equal differences (CIE 1976) between neighbours, from some of 24 steps of a
# palette.
even_ramp <- function(n, steps) {
  path <- grDevices::convertColor(t(grDevices::col2rgb(rev(grDevices::hcl.colors(24, "YlGnBu"))[steps])) / 255, "sRGB",
                                  "Lab")
  along <- cumsum(c(0, sqrt(rowSums(diff(path)^2))))
  lab <- apply(path, 2, function(part) stats::approx(along, part, seq(0, max(along), length.out = n))$y)
  grDevices::rgb(pmin(pmax(grDevices::convertColor(lab, "Lab", "sRGB"), 0), 1))
}
# Light enough for black contours and marks, also at the dark end.
surface_colours <- even_ramp(32, 1:16)
# Dark enough for lines on white, also at the pale end.
line_colours <- even_ramp(32, 6:24)

# The outer edges of cells centred at the values.
cell_edges <- function(values, log) {
  if (log) return(exp(cell_edges(log(values), FALSE)))
  n <- length(values)
  if (n < 2) return(values + c(-0.5, 0.5))
  c(values[1] - (values[2] - values[1]) / 2, values[n] + (values[n] - values[n - 1]) / 2)
}

is_even <- function(values) length(values) < 3 || diff(range(diff(values))) <= 1e-6 * diff(range(values))

# One raster image: between the rectangles of single cells a device may leave white lines. Cells of unequal width are
# drawn as several equal ones. On a logarithmic axis positions are logarithms.
paint_cells <- function(xs, ys, colours, edges) {
  cell_of <- function(at, ends, log) {
    if (log) at <- log10(at)
    if (log) ends <- log10(ends)
    count <- if (is_even(at)) length(at) else 600
    positions <- min(ends) + abs(diff(range(ends))) * (seq_len(count) - 0.5) / count
    findInterval(positions, (at[-1] + at[-length(at)]) / 2) + 1
  }
  columns <- cell_of(xs, edges$x, graphics::par("xlog"))
  rows <- rev(cell_of(ys, edges$y, graphics::par("ylog")))
  picture <- grDevices::as.raster(t(colours[columns, rows, drop = FALSE]))
  graphics::rasterImage(picture, min(edges$x), min(edges$y), max(edges$x), max(edges$y), interpolate = FALSE)
}
