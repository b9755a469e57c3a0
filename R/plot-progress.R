# The progress of a search or a bandit: rewards, the best so far, and what is expected next. Layer: plots.

# The range of the rewards without extreme failures, which would compress the rest of the plot.
worthwhile_range <- function(reward, direction) {
  known <- reward[!is.na(reward)]
  most <- stats::quantile(known, if (identical(direction, "minimize")) c(0, 0.9) else c(0.1, 1), names = FALSE)
  room <- 0.25 * diff(most)
  range(clamped(known, most[1] - room, most[2] + room))
}

# The positions of the evaluations and their `kind`. Evaluations beyond the axis are drawn at its end, failed ones at
# its worse end.
progress_points <- function(data, direction, shown) {
  failed <- is.na(data$reward)
  at <- clamped_known(data$reward, shown)
  kind <- ifelse(failed, "failed", ifelse(at == data$reward, "reward", "beyond the axis"))
  kind[kind == "reward" & data$status == "stopped"] <- "stopped"
  kind[kind == "reward" & data$status == "cheap"] <- "at a lower fidelity"
  at[failed] <- shown[if (identical(direction, "minimize")) 2 else 1]
  data.frame(evaluation = data$evaluation, at = at, kind = kind)
}

clamped_known <- function(x, range) ifelse(is.na(x), NA, pmin(pmax(x, range[1]), range[2]))

draw_progress <- function(data, direction, ylim, label, ahead = NULL, main = NULL) {
  frame <- list(log = "", legend = TRUE, xlab = "evaluation", ylab = label, main = main, xlim = NULL, ylim = NULL)
  points <- progress_points(data, direction, ylim)
  key <- rbind(key_entry("best so far", mark$mean, lty = 1, lwd = 2),
               key_entry(label, mark$seen, pch = 16, size = 0.8),
               if ("beyond the axis" %in% points$kind) key_entry("beyond the axis", mark$seen, pch = 1, size = 0.8),
               if ("stopped" %in% points$kind) key_entry("stopped", mark$seen, pch = 6, size = 0.8),
               if ("at a lower fidelity" %in% points$kind) {
                 key_entry("at a lower fidelity", mark$seen, pch = 2, size = 0.8)
               },
               if ("failed" %in% points$kind) key_entry("failed", mark$pending, pch = 4, size = 0.9))
  open_picture(frame, c(data$evaluation, ahead$evaluation), range(ylim, ahead$lower, ahead$upper),
               rbind(key, key_of_ahead(ahead)))
  draw_ahead(ahead)
  # (The first evaluation may be extremely bad, far beyond the axis.)
  graphics::lines(data$evaluation, clamped_known(data$best, ylim), type = "s", col = mark$mean, lwd = 2)
  failed <- points$kind == "failed"
  tried <- points[!failed, ]
  graphics::points(tried$evaluation, tried$at, cex = 0.8,
                   pch = c(reward = 16, "beyond the axis" = 1, stopped = 6, "at a lower fidelity" = 2)[tried$kind],
                   col = grDevices::adjustcolor(mark$seen, 0.6))
  graphics::points(points$evaluation[failed], points$at[failed], pch = 4, cex = 0.9, col = mark$pending)
}

# ---- of a bandit -----------------------------------------------------------------------------------------------------

# The history in the form of a search's result, with what the next experiments are expected to add (`ahead`).
progress_of_bandit <- function(bandit) {
  config <- bandit$config
  found <- list(bandit = bandit, history = bandit_history(frame_of(bandit)), direction = config$outputs$direction)
  found$history <- found$history[is_evaluation(bandit, found$history), , drop = FALSE]
  row.names(found$history) <- NULL
  if (nrow(found$history) == 0) stop_state("There is no result yet. Use `$observe()` first.", argument = "x")
  frame <- of_form(config, "progress")(found)
  list(found = found, data = of_form(config, "progress_plot_data")(found, frame), ahead = expected_ahead(bandit),
       title = plot_data_title(bandit, list()))
}

is_evaluation <- function(bandit, history) {
  !own_columns(history, given_names(bandit$config))$status %in% c("pending", "withdrawn", "lost")
}

# The recommended point's mean after the next experiments, with a standard deviation of their gain on either side.
expected_ahead <- function(bandit) {
  config <- bandit$config
  gain <- gain_of_next(frame_of(bandit))
  if (is.null(gain) || !is.null(gain$hypervolume)) return(NULL)
  best <- likely_best(frame_of(bandit))
  name <- if (of_form(config, "several")) paste0(objectives(config), "_mean") else "mean"
  sign <- if (is.null(config$goal)) output_sign(config) else goal_sign(config$goal)
  now <- own_columns(best, given_names(config))[[name]]
  data.frame(evaluation = nrow(bandit_history(frame_of(bandit))) + shown_experiments, now,
             expected = now + sign * gain$mean, lower = now + sign * pmax(0, gain$mean - gain$sd),
             upper = now + sign * (gain$mean + gain$sd))
}

key_of_ahead <- function(ahead) {
  if (is.null(ahead)) return(NULL)
  label <- sprintf("expected after %d more, %s sd", shown_experiments, plus_minus())
  key_entry(label, mark$next_choice, lty = 1, pch = 17)
}

draw_ahead <- function(ahead) {
  if (is.null(ahead)) return(invisible())
  graphics::segments(ahead$evaluation, ahead$lower, ahead$evaluation, ahead$upper, col = mark$next_choice, lwd = 2)
  graphics::points(ahead$evaluation, ahead$expected, pch = 17, col = mark$next_choice)
}

# Layers of the same for a ggplot.
ggplot_ahead <- function(ahead) {
  if (is.null(ahead)) return(NULL)
  list(ggplot2::geom_linerange(data = ahead, mapping = aes_of(x = "evaluation", ymin = "lower", ymax = "upper"),
                               colour = mark$next_choice),
       ggplot2::geom_point(data = ahead, mapping = aes_of(x = "evaluation", y = "expected"), shape = 17,
                           colour = mark$next_choice),
       ggplot2::labs(caption = paste("triangle:", key_of_ahead(ahead)$label)))
}

plot_progress_of_bandit <- function(bandit, frame) {
  plot_data <- progress_of_bandit(bandit)
  of_form(bandit$config, "draw_progress")(plot_data, or_else(frame$main, plot_data$title))
  structure(plot_data$data, ahead = plot_data$ahead)
}

register_form("reward",
  progress_plot_data = function(found, frame) {
    own <- own_columns(with_reward_column(frame, found$bandit$config), given_names(found$bandit$config))
    data.frame(evaluation = seq_len(nrow(frame)), own[c("reward", "best", "status")])
  },
  draw_progress = function(plot_data, main) {
    shown <- worthwhile_range(plot_data$data$reward, plot_data$found$direction)
    draw_progress(plot_data$data, plot_data$found$direction, shown, objective_label(plot_data$found$bandit$config),
                  plot_data$ahead, main)
  })
