# Maps of level sets: points above, below and undecided, and the contour at the level. Layer: plots.

label_colours <- c(above = "#F2B66D", unknown = "grey90", below = "#8CC5EA")

# The labels of the drawn points, and the level, for a policy that labels points; else NULL. gp_lse() labels candidates:
# on a box a drawn point has the label of the nearest one.
level_set_plot_data <- function(bandit, plot_data) {
  policy <- bandit$config$policy
  if (!trait(policy, "labels")) return(NULL)
  domain <- bandit$config$domain
  points <- plot_data$points
  found <- if (can_count(domain)) bandit_levels(bandit, plot_data$context)
           else if (trait(policy, "intervals"))
             nearest_candidates(bandit_levels(bandit, plot_data$context), points, domain)
           else bandit_levels(bandit, plot_data$context, points[domain$names])
  # (Points come first, and one of them may be named "label".)
  label <- found[[max(grep("^[.]*label$", names(found)))]]
  list(label = factor(label, names(label_colours)), level = if (!isTRUE(policy$implicit)) policy$level)
}

nearest_candidates <- function(candidates, points, domain) {
  log <- log_inputs(domain)
  columns <- lapply(seq_along(domain$names), function(j) {
    read <- if (log[j]) function(x) log(x) else identity
    both <- list(read(candidates[[domain$names[j]]]), read(points[[domain$names[j]]]))
    lapply(both, function(x) x / max(diff(range(unlist(both))), .Machine$double.xmin))
  })
  at <- vapply(columns, function(x) x[[1]], numeric(nrow(candidates)))
  drawn <- vapply(columns, function(x) x[[2]], numeric(nrow(points)))
  nearest <- vapply(seq_len(nrow(drawn)), function(i) which.min(colSums((t(at) - drawn[i, ])^2)), 0L)
  candidates[nearest, , drop = FALSE]
}

level_named <- function(set) if (is.null(set$level)) "the level" else paste("level", format(set$level, digits = 6))

# Names of the labels for the legend.
described_labels <- function(set) {
  at <- level_named(set)
  c(above = paste("above", at), unknown = "unknown", below = paste("below", at))
}

label_key <- function(set, contour = TRUE) {
  text <- described_labels(set)
  rbind(key_entry(text, label_colours[names(text)], pch = 15, size = 2.2),
        if (contour && !is.null(set$level)) key_entry("posterior mean at the level", "black", lty = 1, lwd = 2.5))
}

# `z`: the posterior mean; `labels`: the numbers of the labels.
draw_level_set <- function(xs, ys, z, labels, edges, level) {
  paint_cells(xs, ys, matrix(label_colours[labels], nrow(labels)), edges)
  if (length(xs) < 2 || length(ys) < 2 || is_flat(z)) return(invisible())
  graphics::contour(xs, ys, z, add = TRUE, col = "grey40", lwd = 0.6, labcex = 0.6, nlevels = 6)
  if (!is.null(level) && level > min(z) && level < max(z)) {
    graphics::contour(xs, ys, z, levels = level, add = TRUE, lwd = 2.5, labcex = 0.8)
  }
}

ggplot_label_scale <- function(set, ...) {
  text <- described_labels(set)
  ggplot2::scale_fill_manual(NULL, values = label_colours, labels = text, breaks = names(text), drop = FALSE, ...)
}

ggplot_level_contours <- function(surface, level) {
  if (is.null(level) || !isTRUE(level > min(surface$mean) && level < max(surface$mean))) return(NULL)
  if (min(length(unique(surface$at)), length(unique(surface$at_y))) < 2) return(NULL)
  surface$what <- "posterior mean at the level"
  list(ggplot2::geom_contour(data = surface, breaks = level, colour = "black", linewidth = 0.9,
                             mapping = aes_of(x = "at", y = "at_y", z = "mean", linetype = "what")),
       ggplot2::scale_linetype_manual(NULL, values = c("posterior mean at the level" = "solid")))
}
