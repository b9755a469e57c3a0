# Find the summit of a volcano from noisy height readings.
#
# The map is R's own `volcano`: Maunga Whau, 87 x 61 cells of 10 m, heights from
# 94 to 195 m. Each cell is an arm; a reading gives its height plus noise of
# standard deviation 2 m. GP-UCB, EI and uniform sampling take 300 readings each,
# ten times over, and we count those that each needs to stand within 1% of the
# height range (1.01 m) of the summit: 3 of the 5,307 cells qualify.
#
#   source(system.file("examples", "volcano.R", package = "gpbandits"))
#
# draws on the screen; Rscript writes volcano.png, or the file that the
# environment variable GPBANDITS_DEMO_PICTURE names.

library(gpbandits)

rounds <- 300
replications <- 10
noise_sd <- 2

cells <- expand.grid(x = 10 * seq_len(nrow(volcano)), y = 10 * seq_len(ncol(volcano)))
height <- c(volcano)
tolerance <- 0.01 * diff(range(height))
# Rounded maximum-likelihood values for 600 cells drawn at random.
kernel <- kernel_matern(nu = 2.5, lengthscale = 140, variance = 500)

problem <- bandit_problem(cells, reward = height, noise = noise_gaussian(noise_sd))
common <- list(kernel = kernel, noise_var = noise_sd^2, mean = mean(height))
bandits <- list(
  "GP-UCB" = function(problem) do.call(gp_ucb, c(list(cells), common)),
  "EI" = function(problem) do.call(gp_ei, c(list(cells), common)),
  "uniform" = function(problem) do.call(gp_bandit, c(list(cells), common, policy = list(policy_uniform())))
)

started <- proc.time()[["elapsed"]]
comparison <- compare_bandits(bandits, function(replication) problem, rounds = rounds,
                              replications = replications, seed = 1)
curves <- as.data.frame(comparison)

# One number per replication: the first reading within the tolerance, Inf if none was.
readings_needed <- function(name) {
  vapply(split(curves[curves$bandit == name, ], curves$replication[curves$bandit == name]), function(run) {
    hit <- run$round[run$regret <= tolerance]
    if (length(hit)) min(hit) else Inf
  }, 0)
}
needed <- sapply(names(bandits), readings_needed, simplify = FALSE)

in_words <- function(k) ifelse(is.finite(k), format(k), paste("more than", rounds))
cat(sprintf("Readings (noise sd %g m) until one is within %.2f m of the summit, %d runs:\n\n",
            noise_sd, tolerance, replications))
cat(sprintf("  %-8s  median %-13s  from %s to %s\n", names(needed),
            in_words(vapply(needed, stats::median, 0)), in_words(vapply(needed, min, 0)),
            in_words(vapply(needed, max, 0))), sep = "")

# One run to look at: where GP-UCB went, and where it says the summit is.
set.seed(1)
bandit <- bandits[["GP-UCB"]](problem)
run <- run_bandit(bandit, problem, rounds = 150)
best <- bandit$best()
summit <- which.max(height)
cat(sprintf("\nAfter 150 readings GP-UCB recommends the cell at (%g, %g) m, %g m high; the summit is at (%g, %g) m, %g m.\n",
            best$x, best$y, height[best$arm], cells$x[summit], cells$y[summit], height[summit]))

# --- the picture -----------------------------------------------------------
colours <- c("GP-UCB" = "#1b5e9e", "EI" = "#c8553d", "uniform" = "#6b6b6b")

draw_map <- function(run) {
  history <- as.data.frame(run)
  image(10 * seq_len(nrow(volcano)), 10 * seq_len(ncol(volcano)), volcano, asp = 1, useRaster = TRUE,
        col = grDevices::hcl.colors(100, "Terrain 2"), axes = FALSE, xlab = "", ylab = "",
        main = sprintf("%d readings of GP-UCB", nrow(history)))
  contour(10 * seq_len(nrow(volcano)), 10 * seq_len(ncol(volcano)), volcano, add = TRUE, col = "#00000033",
          levels = seq(100, 190, by = 10), drawlabels = FALSE)
  age <- grDevices::hcl.colors(nrow(history), "Grays", rev = TRUE)
  points(history$x, history$y, pch = 21, bg = age, col = "#00000099", cex = 1, lwd = 0.7)
  points(cells$x[summit], cells$y[summit], pch = 2, col = "#b00020", cex = 2, lwd = 2.5)
  text(cells$x[summit], cells$y[summit] + 30, "summit", col = "#b00020", font = 2)
  mtext("light: early readings, dark: late ones", side = 1, line = 0.2, cex = 0.75, col = "grey30")
}

# Median over the replications, with a band from the first to the third quartile.
draw_curves <- function(column, title, log = "", floor = 0) {
  shown <- lapply(names(bandits), function(name) {
    of <- curves[curves$bandit == name, ]
    values <- tapply(pmax(of[[column]], floor), of$round, stats::quantile, c(0.25, 0.5, 0.75))
    do.call(rbind, values)
  })
  plot(NA, xlim = c(1, rounds), ylim = range(shown, if (floor > 0) c(floor, 100)), log = log, bty = "n", las = 1,
       xlab = "readings", ylab = "metres", main = title)
  for (i in rev(seq_along(shown))) {
    band <- shown[[i]]
    polygon(c(1:rounds, rounds:1), c(band[, 1], rev(band[, 3])), border = NA,
            col = grDevices::adjustcolor(colours[i], 0.18))
    lines(band[, 2], col = colours[i], lwd = 2)
  }
}

draw_picture <- function() {
  layout(matrix(c(1, 1, 2, 3), 2), widths = c(1.25, 1))
  par(mar = c(2.2, 1, 2.5, 1), cex.main = 1.15, family = "sans")
  draw_map(run)
  par(mar = c(4, 4, 2.5, 1))
  draw_curves("simple_regret", "Simple regret: best cell visited so far", log = "y", floor = 0.5)
  abline(h = tolerance, lty = 3)
  legend("topright", names(bandits), col = colours, lwd = 2, bty = "n")
  draw_curves("average_regret", "Average regret per reading")
}
curves$average_regret <- curves$cumulative_regret / curves$round

picture <- Sys.getenv("GPBANDITS_DEMO_PICTURE", if (interactive()) "" else "volcano.png")
if (nzchar(picture)) {
  grDevices::png(picture, width = 1500, height = 800, res = 130)
}
draw_picture()
if (nzchar(picture)) {
  invisible(grDevices::dev.off())
  cat("Picture:", picture, "\n")
}
cat(sprintf("Took %.1f s.\n", proc.time()[["elapsed"]] - started))
