# Find the summit of a volcano from noisy height readings.
#
# The map is R's own `volcano`: Maunga Whau, 87 x 61 cells of 10 m, heights from
# 94 to 195 m. Each cell is an arm; a reading gives its height plus noise of
# standard deviation 2 m. GP-UCB, EI and uniform sampling take 300 readings each,
# ten times over, and we count those that each needs to stand within 1% of the
# height range (1.01 m) of the summit: 3 of the 5,307 cells qualify.
#
# From R: source(system.file("examples", "volcano.R", package = "gpbandits")),
# which draws on the screen. Rscript writes volcano.png, or the file that the
# environment variable GPBANDITS_DEMO_PICTURE names.

library(gpbandits)

rounds <- 300
replications <- 10
noise_sd <- 2

cells <- expand.grid(x = 10 * seq_len(nrow(volcano)), y = 10 * seq_len(ncol(volcano)))
height <- c(volcano)
summit <- which.max(height)
tolerance <- 0.01 * diff(range(height))

# Rounded maximum-likelihood values for 600 cells drawn at random.
kernel <- kernel_matern(nu = 2.5, lengthscale = 140, variance = 500)

problem <- bandit_problem(cells, reward = height, noise = noise_gaussian(noise_sd))
bandits <- list(
  "GP-UCB" = function(problem) gp_ucb(cells, kernel, noise_sd^2, mean = mean(height)),
  "EI" = function(problem) gp_ei(cells, kernel, noise_sd^2, mean = mean(height)),
  "uniform" = function(problem) gp_bandit(cells, kernel, noise_sd^2, policy_uniform(), mean = mean(height))
)

started <- proc.time()[["elapsed"]]
comparison <- compare_bandits(bandits, function(replication) problem, rounds = rounds,
                              replications = replications, seed = 1)
curves <- as.data.frame(comparison)
curves$average_regret <- curves$cumulative_regret / curves$round

# One number per replication: the first reading within the tolerance, Inf if none was.
readings_needed <- function(name) {
  of <- curves[curves$bandit == name, ]
  vapply(split(of, of$replication), function(run) {
    hit <- run$round[run$regret <= tolerance]
    if (length(hit)) min(hit) else Inf
  }, 0)
}

in_words <- function(k) if (is.finite(k)) format(k) else paste("more than", rounds)
cat(sprintf("Readings (noise sd %g m) until one is within %.2f m of the summit, %d runs:\n\n",
            noise_sd, tolerance, replications))
for (name in names(bandits)) {
  needed <- readings_needed(name)
  cat(sprintf("  %-8s median %-14s (%s to %s)\n", name, in_words(stats::median(needed)),
              in_words(min(needed)), in_words(max(needed))))
}

# One run to look at: where GP-UCB went, and where it says the summit is.
set.seed(1)
bandit <- bandits[["GP-UCB"]](problem)
run <- run_bandit(bandit, problem, rounds = 60)
best <- bandit$best()
cat(sprintf("\nAfter 60 readings GP-UCB recommends cell (%g m, %g m), %g m high.\n",
            best$x, best$y, height[best$arm]),
    sprintf("The summit is at (%g m, %g m), %g m.\n", cells$x[summit], cells$y[summit], height[summit]),
    sep = "")

# --- the picture -----------------------------------------------------------
colours <- c("GP-UCB" = "#1b5e9e", "EI" = "#c8553d", "uniform" = "#6b6b6b")

draw_map <- function(history) {
  x <- unique(cells$x)
  y <- unique(cells$y)
  levels <- seq(90, 200, by = 5)
  plot(range(x), range(y), type = "n", asp = 1, axes = FALSE, xlab = "", ylab = "",
       main = sprintf("The first %d readings of GP-UCB", nrow(history)))
  .filled.contour(x, y, volcano, levels, grDevices::hcl.colors(length(levels) - 1, "Terrain 2"))
  contour(x, y, volcano, add = TRUE, levels = seq(100, 190, by = 10), col = "#00000040", drawlabels = FALSE)
  shade <- grDevices::hcl.colors(nrow(history), "Blues 3", rev = TRUE)
  points(history$x, history$y, pch = 21, bg = shade, col = "#000000b0", cex = 1.15, lwd = 0.8)
  top <- cells[summit, ]
  segments(top$x - 70, top$y + 95, top$x - 9, top$y + 12, col = "#b00020", lwd = 1.5)
  points(top$x, top$y, pch = 0, col = "#b00020", cex = 1.6, lwd = 2)
  text(top$x - 72, top$y + 107, "summit, 195 m", col = "#b00020", font = 2)
  mtext("pale: early readings, dark blue: late ones", side = 1, line = 0.3, cex = 0.75, col = "grey30")
}

# Median over the replications, with a band from the first to the third quartile.
draw_curves <- function(column, ylim, ...) {
  plot(NA, xlim = c(1, rounds), ylim = ylim, bty = "n", las = 1, xlab = "readings", ylab = "metres", ...)
  for (name in rev(names(bandits))) {
    of <- curves[curves$bandit == name, ]
    quartiles <- do.call(rbind, tapply(pmax(of[[column]], ylim[1]), of$round, stats::quantile, 1:3 / 4))
    polygon(c(1:rounds, rounds:1), c(quartiles[, 1], rev(quartiles[, 3])), border = NA,
            col = grDevices::adjustcolor(colours[name], 0.18))
    lines(quartiles[, 2], col = colours[name], lwd = 2.2)
  }
}

draw_picture <- function() {
  layout(matrix(c(1, 1, 2, 3), 2), widths = c(1.35, 1))
  par(mar = c(1.8, 0.5, 2.2, 0.5), cex.main = 1.1)
  draw_map(as.data.frame(run))
  par(mar = c(3.6, 4, 2.2, 0.5), mgp = c(2.3, 0.7, 0))
  # On the log scale the summit itself (regret 0) is drawn at half a metre.
  draw_curves("simple_regret", c(0.5, 100), log = "y", yaxt = "n", main = "Best cell so far, below the summit")
  axis(2, c(0.5, 1, 2, 5, 10, 20, 50, 100), c(0, 1, 2, 5, 10, 20, 50, 100), las = 1)
  abline(h = tolerance, lty = 3)
  draw_curves("average_regret", c(0, 100), main = "Average regret")
  legend(0.78 * rounds, 57, names(bandits), col = colours, lwd = 2.2, bty = "n")
}

picture <- Sys.getenv("GPBANDITS_DEMO_PICTURE", if (interactive()) "" else "volcano.png")
if (nzchar(picture)) grDevices::png(picture, width = 1200, height = 544, res = 100)
draw_picture()
if (nzchar(picture)) {
  invisible(grDevices::dev.off())
  cat("Picture:", picture, "\n")
}
cat(sprintf("Took %.1f s.\n", proc.time()[["elapsed"]] - started))
