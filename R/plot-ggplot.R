# Functions shared by the ggplot2 plots. Layer: plots.

ggplot_log <- function(log) {
  list(if (grepl("x", log)) ggplot2::scale_x_log10(), if (grepl("y", log)) ggplot2::scale_y_log10())
}

ggplot_theme <- function(legend = "top") {
  ggplot2::theme_minimal(base_size = 11) +
    ggplot2::theme(legend.position = legend, legend.justification = if (legend == "top") "left" else "top",
                   legend.spacing.y = ggplot2::unit(6, "pt"), legend.margin = ggplot2::margin(2, 2, 2, 2),
                   plot.subtitle = ggplot2::element_text(colour = "grey35", size = 9),
                   panel.grid.minor = ggplot2::element_blank(),
                   plot.title.position = "plot")
}

# One panel per input. The panels share one axis, so the title of each panel names the scale of its numbers.
ggplot_slices <- function(plot_data) {
  names <- unique(plot_data$data$input)
  parts <- lapply(names, function(name) {
    part <- plot_data$data[plot_data$data$input == name, ]
    part$piece <- or_else(part$piece, rep(0, nrow(part)))
    part$counted <- !is.null(plot_data$levels[[name]])
    part$bars <- part$counted | nrow(part) == 1
    axis <- if (is.null(plot_data$axes)) name else plot_data$axes[[name]]
    part$panel <- if (plot_data$log[[name]]) sprintf("log10(%s)", axis) else axis
    through <- or_else(plot_data$through[[name]], NA)
    part$at <- if (part$counted[1]) match(as.character(through), part$label) else as.double(through)
    if (plot_data$log[[name]]) part[c("value", "at")] <- log10(part[c("value", "at")])
    part$top <- seq_len(nrow(part)) %in% which.min(abs(part$value - part$at))
    part
  })
  shown <- do.call(rbind, parts)
  shown$panel <- factor(shown$panel, levels = unique(shown$panel))
  axis <- axis_of_panels(shown)
  seen <- seen_in_panels(plot_data, shown, axis$data)
  shown <- axis$data
  # (If heights are missing, there is no curve; the panels are still drawn.)
  known <- shown[is.finite(shown$mean), ]
  curves <- known[!known$bars, ]
  bars <- known[known$bars, ]
  below <- !is.null(shown$acquisition)
  if (below) {
    rows <- c(paste("expected", plot_data$label), "acquisition")
    for (name in c("shown", "seen", "curves", "bars")) {
      part <- get(name)
      part$row <- factor(rep(rows[1], nrow(part)), rows)
      assign(name, part)
    }
  }
  # (Levels have half a step of room on either side.)
  room <- shown
  room$least <- room$value - 0.5 * room$counted
  room$most <- room$value + 0.5 * room$counted
  ggplot2::ggplot(plot_data$data) + ggplot2::geom_blank(data = room, mapping = aes_of(x = "least")) +
    ggplot2::geom_blank(data = room, mapping = aes_of(x = "most")) +
    ggplot2::geom_ribbon(data = with_known_band(curves), fill = mark$mean, alpha = 0.18,
                         mapping = aes_of(x = "value", ymin = "lower", ymax = "upper", group = "piece")) +
    ggplot2::geom_line(data = curves, mapping = aes_of(x = "value", y = "mean", group = "piece"), colour = mark$mean,
                       linewidth = 0.8) +
    ggplot2::geom_point(data = seen, mapping = aes_of(x = "value", y = "reward"), size = 0.9, colour = mark$seen,
                        alpha = point_alpha(nrow(seen))) +
    ggplot2::geom_vline(data = shown[!duplicated(shown$panel) & !is.na(shown$at), ],
                        mapping = aes_of(xintercept = "at"), colour = mark$next_choice, linetype = "dotted") +
    ggplot2::geom_linerange(data = with_known_band(bars), colour = mark$mean, linewidth = 0.6,
                            mapping = aes_of(x = "value", ymin = "lower", ymax = "upper")) +
    ggplot2::geom_point(data = bars, mapping = aes_of(x = "value", y = "mean"), colour = mark$mean, shape = 15,
                        size = 2) +
    (if (below) ggplot_acquisition_row(shown, rows, plot_data$marked)
     else ggplot2::facet_wrap("panel", scales = "free_x")) +
    axis$scale + ggplot_some_height(shown$mean) + ggplot2::labs(x = NULL, y = "reward")
}

# The row of panels with the acquisition function. `top`: the drawn point nearest to the next choice.
ggplot_acquisition_row <- function(shown, rows, marked) {
  shown$row <- factor(rows[2], rows)
  curves <- shown[!shown$bars, ]
  bars <- shown[shown$bars, ]
  bars$least <- rep(min(0, bars$acquisition, na.rm = TRUE), nrow(bars))
  top <- if (marked) shown[shown$top, ] else shown[0, ]
  top$what <- rep("next choice", nrow(top))
  list(
    ggplot2::geom_line(data = curves, mapping = aes_of(x = "value", y = "acquisition", group = "piece"),
                       linewidth = 0.8, na.rm = TRUE),
    ggplot2::geom_linerange(data = bars, mapping = aes_of(x = "value", ymin = "least", ymax = "acquisition"),
                            linewidth = 0.6, na.rm = TRUE),
    ggplot2::geom_point(data = bars, mapping = aes_of(x = "value", y = "acquisition"), size = 1.2, na.rm = TRUE),
    ggplot2::geom_point(data = top, mapping = aes_of(x = "value", y = "acquisition", shape = "what"), size = 4,
                        colour = mark$next_choice, na.rm = TRUE),
    ggplot2::scale_shape_manual(NULL, values = c("next choice" = 18)),
    ggplot2::facet_grid(row ~ panel, scales = "free", switch = "y")
  )
}

# Observed rewards in the panels of slices, whose positions may have been shifted.
seen_in_panels <- function(plot_data, before, after) {
  empty <- data.frame(value = numeric(), reward = numeric(), panel = after$panel[0])
  seen <- plot_data$seen
  if (is.null(seen)) return(empty)
  at <- match(seen$input, before$input)
  log <- vapply(seen$input, function(name) plot_data$log[[name]], NA)
  value <- replace(seen$value, log, log10(seen$value[log])) + (after$value - before$value)[at]
  data.frame(value = unname(value), reward = seen$reward, panel = after$panel[at])
}

# A single reward has a mean but no sd, because it has no scale.
with_known_band <- function(rows) rows[is.finite(rows$lower) & is.finite(rows$upper), ]

# The axis is drawn even if there are no heights yet.
ggplot_some_height <- function(heights) if (!any(is.finite(heights))) ggplot2::expand_limits(y = c(0, 1))

# All panels share one numeric scale. The positions of levels are shifted to a separate range for each panel. The
# scale's labels recover the names of the levels from these ranges.
axis_of_panels <- function(data) {
  apart <- 1e3 * max(1, abs(data$value), data$at, length(data$value), na.rm = TRUE)
  start <- ifelse(data$counted, apart * as.integer(data$panel), 0)
  data[c("value", "at")] <- data[c("value", "at")] + start
  levels <- data[data$counted, ]
  of_levels <- function(limits) nrow(levels) > 0 && any(is.finite(limits)) && min(limits, na.rm = TRUE) > apart / 2
  # (About as many letters as fit below all panels of a row.)
  room <- 66 / ceiling(if (is.null(data$acquisition)) sqrt(nlevels(data$panel)) else nlevels(data$panel))
  for (one in split(seq_len(nrow(levels)), levels$panel)) {
    text <- unique(levels$label[one])
    short <- abbreviate(text, max(3, floor(room / max(length(text), 1)) - 1), named = FALSE)
    levels$label[one] <- short[match(levels$label[one], text)]
  }
  within <- function(limits) levels$value >= limits[1] - 0.5 & levels$value <= limits[2] + 0.5
  list(data = data, scale = ggplot2::scale_x_continuous(
    breaks = function(limits) {
      if (of_levels(limits)) levels$value[within(limits)] else pretty(limits, 4)
    },
    labels = function(breaks) {
      if (of_levels(breaks)) levels$label[match(breaks, levels$value)] else format(breaks, trim = TRUE)
    },
    guide = ggplot2::guide_axis(check.overlap = TRUE), expand = ggplot2::expansion(mult = 0.05, add = 0)
  ))
}

# Colours show one column and contours the other. Values outside `shown` get the colour of the nearest end. Two of three
# mixture components are drawn as a triangle.
ggplot_plane <- function(plot_data, played, domain, colours, contours, shown = NULL) {
  ternary <- ternary_set(domain, plot_data$pair)
  if (!is.null(ternary)) return(ggplot_ternary(plot_data, ternary, played, colours, contours, shown))
  model_state <- own_columns(plot_data$data, plot_data$pair)
  shown <- or_else(shown, known_range(model_state[[colours]]))
  as_axis <- function(columns) {
    for (name in plot_data$pair) {
      levels <- plot_data$levels[[name]]
      if (!is.null(levels)) columns[[name]] <- factor(as.character(columns[[name]]), levels)
    }
    stats::setNames(columns[plot_data$pair], c("at", "at_y"))
  }
  axes <- as_axis(plot_data$data)
  surface <- cbind(axes, model_state[c("mean", "sd")])
  surface <- surface[!is.na(surface$mean), ]           # mixtures that are not possible
  surface[[colours]] <- clamped(surface[[colours]], shown[1], shown[2])
  lying <- aes_of(x = "at", y = "at_y", fill = colours)
  picture <- ggplot2::ggplot(plot_data$data) + ggplot2::geom_tile(data = surface, mapping = lying) +
    ggplot2::scale_fill_gradientn(paste("posterior", colours), colours = surface_colours)
  if (all(vapply(axes, is.numeric, NA))) picture <- picture + ggplot_contours(surface, contours)
  played <- as_axis(played)
  best <- as_axis(plot_data$through)
  picture + ggplot2::geom_point(data = played, mapping = aes_of(x = "at", y = "at_y"), shape = 21, fill = "white",
                                na.rm = TRUE) +
    ggplot2::geom_point(data = best, mapping = aes_of(x = "at", y = "at_y"), shape = 3, size = 3.5, stroke = 1.2,
                        na.rm = TRUE) +
    ggplot_log(paste(c("x", "y")[plot_data$log[plot_data$pair]], collapse = "")) +
    ggplot2::labs(x = input_labels(domain)[[plot_data$pair[1]]], y = input_labels(domain)[[plot_data$pair[2]]])
}

# The credible intervals of `total`, if there are posterior draws.
ggplot_limits_of_shares <- function(data) {
  ggplot2::geom_linerange(data = as.data.frame(data[!is.na(data$lower), ]),
                          mapping = aes_of(y = "input", xmin = "lower", xmax = "upper"), linewidth = 0.6)
}

# Contours need two or more values on both axes, and heights that differ.
ggplot_contours <- function(surface, of) {
  distinct <- function(values) length(unique(values)) > 1
  if (is_flat(surface[[of]]) || !distinct(surface$at) || !distinct(surface$at_y)) return(NULL)
  ggplot2::geom_contour(data = surface, mapping = aes_of(x = "at", y = "at_y", z = of), colour = "grey25",
                        linewidth = 0.25, bins = 9)
}

# Evaluations are counted: no ticks between whole numbers.
whole_ticks <- function() {
  ggplot2::scale_x_continuous(breaks = function(limits) Filter(function(at) at == round(at), pretty(limits)))
}
