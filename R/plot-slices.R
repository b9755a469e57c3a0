# Slices and two-dimensional plots of functions of several inputs. Layer: plots.

# Plots of functions of more than two inputs: slices through one point, and two-dimensional plots of two inputs through
# it.

# A data.frame `input`, `value` (numbers; positions for an input with levels), `label`, `mean`, `sd`, `lower`, `upper`.
# Each of `inputs` varies along its axis; the others have the values of `through` (one row). If `of` is "feasible", the
# probability that the limits hold replaces mean, sd and band.
slices_plot_data <- function(bandit, context, through, inputs, width, resolution = NULL, of = "objective") {
  domain <- bandit$config$domain
  parts <- lapply(inputs, function(name) {
    axis <- slice_axis(bandit$config, name, or_else(resolution, 101))
    points <- through[rep(1, length(axis)), domain$names, drop = FALSE]
    points[[name]] <- axis
    balanced <- shown_points(domain, points, name)
    axis <- axis[balanced$fits]
    if (length(axis) == 0) return(NULL)
    # (Between two pieces `where` does not hold.)
    piece <- cumsum(c(0, diff(which(balanced$fits)) > 1))
    posterior <- model_state_along(bandit, balanced$points[balanced$fits, , drop = FALSE], context, width)
    counted <- !is.null(input_levels(domain, match(name, domain$names)))
    at <- data.frame(input = name, value = if (counted) which(balanced$fits) else axis, label = as.character(axis))
    if (of == "feasible") return(cbind(at, posterior["feasible"]))
    data.frame(at, with_band(posterior, width)[c("mean", "sd", "lower", "upper")], piece = piece)
  })
  do.call(rbind, parts)
}

# Points with balanced_shares(); those that violate `where` do not fit either.
shown_points <- function(domain, points, kept) {
  balanced <- balanced_shares(domain, points, kept)
  if (!is.null(domain$where)) {
    codes <- read_codes(domain, completed_points(domain, balanced$points)[domain$names], "x")
    excess <- constraint_excess(search_rules(domain), codes)
    balanced$fits <- balanced$fits & rowSums(excess > rounding_of_rules) == 0
  }
  balanced
}

# Comparisons over arms have no predictions for points between the arms.
slice_axis <- function(config, name, count) {
  at <- match(name, config$domain$names)
  if (says_nothing_between_arms(config)) return(sort(unique(all_points(config$domain)$inputs[, at])))
  input_axis(config$domain, at, count)
}

says_nothing_between_arms <- function(config) !of_form(config, "between_arms") && is_tabulated_space(config)

# (Short: it stands beside panels of a few centimetres.)
dependence_label <- function(of = "reward") paste("average", of)

# The same as slices_plot_data(), but averaged over the other inputs: over `others` points of a low-discrepancy
# sequence. The sd is that of the average, by the joint distribution of the model. A nonlinear outcome transform scales
# it in the same way as the sds of single points.
dependence_plot_data <- function(bandit, context, inputs, width, resolution = NULL, others = 64) {
  config <- bandit$config
  domain <- config$domain
  outcome <- match(objectives(config)[1], outcome_names(config))
  if (is.na(outcome)) stop_argument("type", "\"dependence\"", "another plot for a goal that is a formula")
  u <- golden_points(others, length(domain$names))
  anywhere <- frame_of_quantiles(domain, u)
  parts <- lapply(inputs, function(name) {
    axis <- input_axis(domain, match(name, domain$names), or_else(resolution, 21))
    points <- anywhere[rep(seq_len(others), length(axis)), , drop = FALSE]
    points[[name]] <- rep(axis, each = others)
    rownames(points) <- NULL
    balanced <- shown_points(domain, points, name)
    rows <- fitting_rows(balanced$fits, others)
    axis <- axis[rows$blocks]
    points <- balanced$points[rows$at, , drop = FALSE]
    single <- model_state_along(bandit, points, context)
    at <- as_kernel_points(bandit, points, context)
    joint <- cpp_bandit_block_averages(bandit$handle, outcome - 1L, at$points, others)
    mean <- colMeans(matrix(single$mean, others))
    sd <- joint$sd * sqrt(colMeans(matrix(single$sd^2, others)) / joint$single)
    counted <- !is.null(input_levels(domain, match(name, domain$names)))
    data.frame(input = name, value = if (counted) seq_along(axis) else axis, label = as.character(axis), mean = mean,
               sd = sd, lower = mean - width * sd, upper = mean + width * sd)
  })
  do.call(rbind, parts)
}

# Blocks of `each` points without the points that violate the constraints. Other points of the same block are repeated
# in their stead. `blocks`: the blocks in which at least one point is feasible.
fitting_rows <- function(fits, each) {
  fits <- matrix(fits, each)
  blocks <- which(colSums(fits) > 0)
  list(blocks = blocks, at = unlist(lapply(blocks, function(k) (k - 1) * each + rep_len(which(fits[, k]), each))))
}

# The mean and sd of the objective (with several outcomes also `feasible`).
model_state_along <- function(bandit, points, context, width = 2) {
  objective_model_state(posterior_of(bandit, points, context, level = band_level(width)), bandit$config)
}

objective_model_state <- function(model_state, config) of_form(config, "objective_model_state")(model_state, config)

state_of_objective <- function(model_state, config) {
  own <- paste0(objectives(config)[1], c("_mean", "_sd"))
  data.frame(mean = model_state[[own[1]]], sd = model_state[[own[2]]], feasible = model_state$feasible)
}

# The plot data of two inputs together: columns with their names, then mean and sd. These are `NA` if `where` does not
# hold, or if two mixture components leave too small or too large a remainder for the others.
plane_plot_data <- function(bandit, context, through, pair, resolution = NULL) {
  domain <- bandit$config$domain
  axes <- lapply(pair, function(name) input_axis(domain, match(name, domain$names), or_else(resolution, 45)))
  grid <- expand.grid(stats::setNames(axes, pair), KEEP.OUT.ATTRS = FALSE, stringsAsFactors = FALSE)
  points <- through[rep(1, nrow(grid)), domain$names, drop = FALSE]
  points[pair] <- grid
  balanced <- shown_points(domain, points, pair)
  model_state <- data.frame(mean = rep(NA_real_, nrow(grid)), sd = NA_real_)
  there <- balanced$points[balanced$fits, , drop = FALSE]
  model_state[balanced$fits, ] <- model_state_along(bandit, there, context)[c("mean", "sd")]
  cbind(grid, distinct_columns(model_state, pair))
}

# Slices go through the recommended point.
recommended_point <- function(bandit, context) {
  best <- bandit$best(context)
  if (nrow(best) == 0) {
    stop_state("Slices go through the recommended point, which needs an observed result; this bandit has none yet. ",
               "Use `$observe()` first.", argument = "type")
  }
  best[bandit$config$domain$names]
}

# `plot_data`: the result of slices_plot_data(). There is one panel per input, all with the same height. `through`: the
# point of the slices (NULL: no point is marked).
# `seen`: rewards at their values of the inputs, by seen_along().
draw_slices <- function(plot_data, through, domain, label, ylim = NULL, seen = NULL) {
  ylim <- or_else(ylim, range_with_seen(plot_data, seen))
  log <- stats::setNames(log_inputs(domain), domain$names)
  levels <- levels_of_inputs(domain)
  axes <- input_labels(domain)
  for (name in unique(plot_data$input)) {
    draw_slice(plot_data[plot_data$input == name, ], through[[name]], log[[name]], levels[[name]], label, ylim,
               axes[[name]], seen[seen$input == name, ])
  }
}

# The range of the bands and the rewards, without outliers among these.
range_with_seen <- function(plot_data, seen) {
  usual <- if (NROW(seen)) grDevices::boxplot.stats(seen$reward, coef = 3)$stats
  shown_range(c(plot_data$lower, plot_data$mean, plot_data$upper, usual), FALSE)
}

# Observed rewards along each input, a data.frame `input`, `value` (or position of a level), `reward`. (They lie on a
# slice only if the other inputs have its values.)
seen_along <- function(history, domain, names, reward) {
  levels <- levels_of_inputs(domain)
  do.call(rbind, lapply(names, function(name) {
    value <- history[[name]]
    if (!is.null(levels[[name]])) value <- match(as.character(value), as.character(levels[[name]]))
    known <- which(!is.na(value) & is.finite(reward))
    data.frame(input = rep(name, length(known)), value = as.double(value[known]), reward = reward[known])
  }))
}

# A curve for numbers; a point and a bar for each level and for a single number.
draw_slice <- function(part, through, log, levels, label, ylim, axis, seen = NULL) {
  frame <- list(log = if (log) "x" else "", legend = FALSE, xlab = axis, ylab = label, ylim = ylim)
  if (!is.null(levels)) {
    frame$x_axis <- named_axis(levels)
    frame$xlim <- c(0.5, length(levels) + 0.5)
  }
  open_picture(frame, part$value, ylim, NULL)
  inside <- function(y) pmin(pmax(y, graphics::par("usr")[3]), graphics::par("usr")[4])
  at <- if (is.null(levels)) through else match(as.character(through), part$label)
  if (length(at)) graphics::abline(v = at, col = mark$next_choice, lty = 3, lwd = 1.5)
  if (NROW(seen)) {
    graphics::points(seen$value, inside(seen$reward), pch = ifelse(seen$reward == inside(seen$reward), 16, 1),
                     cex = 0.6, xpd = TRUE, col = grDevices::adjustcolor(mark$seen, point_alpha(nrow(seen))))
  }
  if (is.null(levels) && nrow(part) > 1) {
    for (one in split(part, or_else(part$piece, rep(0, nrow(part))))) {
      graphics::polygon(c(one$value, rev(one$value)), inside(c(one$lower, rev(one$upper))), col = mark$band,
                        border = NA)
      graphics::lines(one$value, inside(one$mean), col = mark$mean, lwd = 2)
    }
  } else {
    graphics::segments(part$value, inside(part$lower), part$value, inside(part$upper), col = mark$mean, lwd = 1.3)
    graphics::points(part$value, inside(part$mean), pch = 15, col = mark$mean)
  }
}

# An image with contours, points, and a colour key in the right margin. `values` varies fastest along `xs`. Values
# outside `shown` get the colour of the nearest end. Two of three mixture components are drawn as a triangle.
draw_plane <- function(plane, pair, values, domain, title, points = NULL, through = NULL,
                       shown = known_range(values)) {
  ternary <- ternary_set(domain, pair)
  if (!is.null(ternary)) return(draw_ternary(plane, ternary, pair, values, title, points, through, shown))
  levels <- levels_of_inputs(domain)[pair]
  old <- room_for_key(levels[[2]])
  on.exit(graphics::par(old))
  log <- log_inputs(domain)[match(pair, domain$names)]
  xs <- axis_positions(plane[[pair[1]]], levels[[1]])
  ys <- axis_positions(plane[[pair[2]]], levels[[2]])
  z <- matrix(pmin(pmax(values, shown[1]), shown[2]), length(xs$at), length(ys$at))
  edges <- list(x = cell_edges(xs$at, log[1]), y = cell_edges(ys$at, log[2]))
  frame <- list(log = paste(c("x", "y")[log], collapse = ""), legend = FALSE, xlab = input_labels(domain)[[pair[1]]],
                ylab = input_labels(domain)[[pair[2]]],
                x_axis = if (!is.null(levels[[1]])) named_axis(levels[[1]]),
                y_axis = if (!is.null(levels[[2]])) named_axis(levels[[2]]))
  open_picture(frame, edges$x, edges$y, NULL, grid = FALSE)
  title_of_plane(title, through)
  # There are no values between two levels.
  draw_surface(xs$at, ys$at, z, edges, contours = is.null(unlist(levels)))
  point <- function(rows, axis, name) {
    if (is.null(axis$levels)) rows[[name]] else match(as.character(rows[[name]]), axis$levels)
  }
  if (!is.null(points)) {
    graphics::points(point(points, xs, pair[1]), point(points, ys, pair[2]), pch = 21, cex = 0.7, col = "black",
                     bg = grDevices::adjustcolor("white", 0.75))
  }
  if (!is.null(through)) {
    graphics::points(point(through, xs, pair[1]), point(through, ys, pair[2]), pch = 3, cex = 1.6, lwd = 2.5)
  }
  draw_colour_key(known_range(z), edges$y, beyond = beyond_colours(values, z))
}

axis_positions <- function(values, levels) {
  list(at = if (is.null(levels)) unique(values) else seq_along(levels), levels = levels)
}

register_form("reward", objective_model_state = function(model_state, config) model_state)
register_form("outcomes", objective_model_state = state_of_objective)
