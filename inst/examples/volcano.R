# Find the summit of a volcano from noisy height measurements.
#
# The map is R's own `volcano` (Maunga Whau): 870 m by 610 m, heights from 94 m to 195 m. A measurement has Gaussian
# noise with a standard deviation of 2 m.
#
# 1. `maximize_bandit()` with its default settings: 60 measurements anywhere on the map, ten runs.
# 2. GP-UCB with a known kernel: the 5,307 cells of 10 m are the arms, 300 measurements, ten runs. Its width is a fifth
#    of the theorem's beta (the default), or the theorem's own, with its regret bound. Uniform sampling is the baseline.
#
# From R: source(system.file("examples", "volcano.R", package = "gpbandits")), which draws on the screen. Rscript
# writes volcano.png, or the file in the environment variable GPBANDITS_DEMO_PICTURE.

library(gpbandits)

started <- proc.time()[["elapsed"]]
evaluations <- 60
rounds <- 300
replications <- 10
noise_sd <- 2
summit_height <- max(volcano)

# --- 1. Default settings ---------------------------------------------------
height_at <- function(x, y) volcano[cbind(round(x / 10), round(y / 10))]
read_height <- function(x, y) height_at(x, y) + rnorm(1, sd = noise_sd)
ground <- list(x = c(10, 870), y = c(10, 610))
searches <- lapply(seq_len(replications), function(k) {
  set.seed(k)
  maximize_bandit(read_height, ground, evaluations = evaluations)
})
took <- proc.time()[["elapsed"]] - started
cat("The first of", replications, "searches:\n\n")
print(searches[[1]])
recommended <- vapply(searches, function(found) height_at(found$par[["x"]], found$par[["y"]]), 0)
cat(sprintf("\nHeights of the %d recommended points: %s m (summit: %g m). One search took %.1f s.\n\n",
            replications, paste(sort(recommended), collapse = ", "), summit_height, took / replications))

# --- 2. GP-UCB with a known kernel -------------------------------------------
cells <- expand.grid(x = 10 * seq_len(nrow(volcano)), y = 10 * seq_len(ncol(volcano)))
height <- c(volcano)
summit <- which.max(height)

# Maximum-likelihood values for 600 random cells, rounded.
kernel <- kernel_matern(nu = 2.5, lengthscale = 140, variance = 500)

problem <- bandit_problem(cells, reward = height, noise = noise_sd)
bandits <- list(
  "GP-UCB" = function(problem) gp_ucb(cells, kernel, noise_sd^2, mean = mean(height)),
  "GP-UCB, Theorem 1" = function(problem) {
    gp_ucb(cells, kernel, noise_sd^2, mean = mean(height), width = width_srinivas_finite(0.1))
  },
  "uniform" = function(problem) gp_bandit(cells, kernel, noise_sd^2, policy_uniform(), mean = mean(height))
)
comparison <- compare_bandits(bandits, function(replication) problem, rounds = rounds,
                              replications = replications, seed = 1)
curves <- as.data.frame(comparison)
curves$average_regret <- curves$cumulative_regret / curves$round

# The first measurement within 1% of the height range of the summit, for each run; Inf if there was none.
tolerance <- 0.01 * diff(range(height))
measurements_needed <- function(name) {
  of <- curves[curves$bandit == name, ]
  vapply(split(of, of$replication), function(run) {
    hit <- run$round[run$regret <= tolerance]
    if (length(hit)) min(hit) else Inf
  }, 0)
}
in_words <- function(k) if (is.finite(k)) format(k) else paste("more than", rounds)
cat(sprintf("Measurements until one is within %.2f m of the summit (%d of %d cells), %d runs:\n\n",
            tolerance, sum(height >= summit_height - tolerance), nrow(cells), replications))
for (name in names(bandits)) {
  needed <- measurements_needed(name)
  cat(sprintf("  %-17s median %-14s range %s to %s\n", name, in_words(stats::median(needed)),
              in_words(min(needed)), in_words(max(needed))))
}

# --- The picture -------------------------------------------------------------
colours <- c("maximize_bandit()" = "#7a3e9d", "GP-UCB" = "#1b5e9e", "GP-UCB, Theorem 1" = "#c2571a",
             "uniform" = "#6b6b6b")

# Theorem 1 of Srinivas et al. (2010) at delta = 0.1; the greedy gain is at least 1 - 1 / e of the largest one.
gain <- information_gain(kernel, cells, noise_sd^2, rounds) / (1 - exp(-1))
theorem <- sqrt(2 * log(nrow(cells) * seq_len(rounds)^2 * pi^2 / 0.6))
bound <- regret_bound("ucb", rounds, gain, noise_var = noise_sd^2, width = theorem, variance = 500) / seq_len(rounds)

draw_map <- function(found) {
  levels <- seq(90, 200, by = 5)
  history <- as.data.frame(found)
  plot(range(cells$x), range(cells$y), type = "n", asp = 1, bty = "n", las = 1, xlab = "x (m)", ylab = "y (m)",
       main = sprintf("Height (contours every 10 m) and %d evaluated points", nrow(history)))
  .filled.contour(unique(cells$x), unique(cells$y), volcano, levels,
                  grDevices::hcl.colors(length(levels) - 1, "Terrain 2"))
  contour(unique(cells$x), unique(cells$y), volcano, add = TRUE, levels = seq(100, 190, by = 10), col = "#00000060",
          labcex = 0.6)
  shade <- grDevices::hcl.colors(nrow(history), "Blues 3", rev = TRUE)
  points(history$x, history$y, pch = 21, bg = shade, col = "#000000b0", cex = 1.15, lwd = 0.8)
  points(cells$x[summit], cells$y[summit], pch = 0, col = "#b00020", cex = 1.6, lwd = 2)
  points(found$par[["x"]], found$par[["y"]], pch = 4, cex = 1.5, lwd = 3, col = "#b00020")
  legend(865, 15, c("evaluated early", "evaluated late", "recommended", "summit"), xjust = 1, yjust = 0,
         pch = c(21, 21, 4, 0), pt.bg = c(shade[1], shade[nrow(history)], NA, NA),
         col = c("#000000b0", "#000000b0", "#b00020", "#b00020"), pt.lwd = c(0.8, 0.8, 3, 2), bg = "#ffffffd8",
         box.col = NA, cex = 0.9)
}

# A line for the median over the runs (columns), and a band from the first to the third quartile.
draw_band <- function(values, name) {
  rounds <- seq_len(nrow(values))
  quartiles <- t(apply(values, 1, stats::quantile, 1:3 / 4))
  polygon(c(rounds, rev(rounds)), c(quartiles[, 1], rev(quartiles[, 3])), border = NA,
          col = grDevices::adjustcolor(colours[name], 0.18))
  lines(rounds, quartiles[, 2], col = colours[name], lwd = 2.2)
}

# A column for each run.
column_of <- function(name, column, length) {
  of <- curves[curves$bandit == name & curves$round <= length, ]
  matrix(of[[column]][order(of$replication, of$round)], length)
}

below_summit <- list(
  "uniform" = column_of("uniform", "simple_regret", evaluations),
  "GP-UCB" = column_of("GP-UCB", "simple_regret", evaluations),
  "maximize_bandit()" = vapply(searches, function(found) {
    points <- as.data.frame(found)
    summit_height - cummax(height_at(points$x, points$y))
  }, numeric(evaluations))
)

draw_picture <- function() {
  layout(matrix(c(1, 1, 2, 3), 2), widths = c(1.35, 1))
  par(mar = c(3.6, 4, 2.2, 0.5), mgp = c(2.4, 0.7, 0), cex.main = 1.1)
  draw_map(searches[[1]])
  plot(NA, xlim = c(1, evaluations), ylim = c(0, 60), bty = "n", las = 1, xlab = "evaluations",
       ylab = "below the summit (m)", main = "Best evaluated point (median, quartiles)")
  for (name in names(below_summit)) draw_band(below_summit[[name]], name)
  legend("topright", names(below_summit), col = colours[names(below_summit)], lwd = 2.2, bty = "n", cex = 0.9)
  plot(NA, xlim = c(1, rounds), ylim = c(1, 400), log = "y", bty = "n", las = 1, xlab = "rounds",
       ylab = "average regret (m)", main = "Average regret by width (median, quartiles)")
  for (name in rev(names(bandits))) draw_band(column_of(name, "average_regret", rounds), name)
  lines(bound, lty = 2, lwd = 2, col = colours["GP-UCB, Theorem 1"])
  shown <- c("GP-UCB" = "GP-UCB, beta / 5 (default)", "GP-UCB, Theorem 1" = "GP-UCB, Theorem 1 (dashed: bound)",
             "uniform" = "uniform")
  legend("bottomleft", shown, col = colours[names(shown)], lwd = 2.2, bty = "n", cex = 0.8)
}

picture <- Sys.getenv("GPBANDITS_DEMO_PICTURE", if (interactive()) "" else "volcano.png")
if (nzchar(picture)) grDevices::png(picture, width = 1200, height = 560, res = 100)
draw_picture()
if (nzchar(picture)) {
  invisible(grDevices::dev.off())
  cat("\nPicture:", picture, "\n")
}
cat(sprintf("Took %.1f s.\n", proc.time()[["elapsed"]] - started))
