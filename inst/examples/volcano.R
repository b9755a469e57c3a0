# Find the summit of a volcano from noisy height readings.
#
# The map is R's own `volcano`: Maunga Whau, 870 x 610 m, heights from 94 to 195 m; a reading has noise of standard
# deviation 2 m. First `maximize_bandit()` takes 60 readings anywhere, told nothing of the mountain, ten times over.
# Then the 5,307 cells of 10 m are arms, and bandits that are given the kernel take 300 readings each, ten times over:
# GP-UCB, which has the theorem, EI and uniform sampling. We count the readings that each needs to stand within 1% of
# the height range (1.01 m) of the summit: 3 of the cells qualify.
#
# From R: source(system.file("examples", "volcano.R", package = "gpbandits")),
# which draws on the screen. Rscript writes volcano.png, or the file that the
# environment variable GPBANDITS_DEMO_PICTURE names.

library(gpbandits)

started <- proc.time()[["elapsed"]]
rounds <- 300
replications <- 10
noise_sd <- 2

# --- nothing known: one call ----------------------------------------------
height_at <- function(x, y) volcano[cbind(round(x / 10), round(y / 10))]
read_height <- function(at) height_at(at$x, at$y) + rnorm(1, sd = noise_sd)
ground <- list(x = c(10, 870), y = c(10, 610))
began <- proc.time()[["elapsed"]]
searches <- lapply(seq_len(replications), function(k) {
  set.seed(k)
  maximize_bandit(read_height, ground, evaluations = 60, control = search_control(progress = FALSE))
})
took <- proc.time()[["elapsed"]] - began
reached <- vapply(searches, function(found) height_at(found$par[["x"]], found$par[["y"]]), 0)
cat(sprintf(paste("maximize_bandit(), told nothing, after 60 readings: recommends heights of %s m (summit: %g m),",
                  "%.1f s each.\n\n"),
            paste(sort(reached), collapse = ", "), max(volcano), took / replications))

# --- the kernel known: bandits with and without a theorem -------------------
cells <- expand.grid(x = 10 * seq_len(nrow(volcano)), y = 10 * seq_len(ncol(volcano)))
height <- c(volcano)
summit <- which.max(height)
tolerance <- 0.01 * diff(range(height))

# Rounded maximum-likelihood values for 600 cells drawn at random.
kernel <- kernel_matern(nu = 2.5, lengthscale = 140, variance = 500)

problem <- bandit_problem(cells, reward = height, noise = noise_sd)
bandits <- list(
  "GP-UCB" = function(problem) gp_ucb(cells, kernel, noise_sd^2, mean = mean(height)),
  "EI" = function(problem) gp_ei(cells, kernel, noise_sd^2, mean = mean(height)),
  "uniform" = function(problem) gp_bandit(cells, kernel, noise_sd^2, policy_uniform(), mean = mean(height))
)

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
invisible(run_bandit(bandit, problem, rounds = 60))
best <- bandit$best()
cat(sprintf("\nAfter 60 readings GP-UCB recommends cell (%g m, %g m), %g m high.\n",
            best$x, best$y, height[best$arm]),
    sprintf("The summit is at (%g m, %g m), %g m.\n", cells$x[summit], cells$y[summit], height[summit]),
    sep = "")

# --- the picture -----------------------------------------------------------
colours <- c("maximize_bandit()" = "#7a3e9d", "GP-UCB" = "#1b5e9e", "EI" = "#c8553d", "uniform" = "#6b6b6b")

draw_map <- function(found) {
  x <- unique(cells$x)
  y <- unique(cells$y)
  levels <- seq(90, 200, by = 5)
  history <- as.data.frame(found)
  plot(range(x), range(y), type = "n", asp = 1, axes = FALSE, xlab = "", ylab = "",
       main = sprintf("%d readings of maximize_bandit(), told nothing", nrow(history)))
  .filled.contour(x, y, volcano, levels, grDevices::hcl.colors(length(levels) - 1, "Terrain 2"))
  contour(x, y, volcano, add = TRUE, levels = seq(100, 190, by = 10), col = "#00000040", drawlabels = FALSE)
  shade <- grDevices::hcl.colors(nrow(history), "Blues 3", rev = TRUE)
  points(history$x, history$y, pch = 21, bg = shade, col = "#000000b0", cex = 1.15, lwd = 0.8)
  top <- cells[summit, ]
  segments(top$x - 70, top$y + 95, top$x - 9, top$y + 12, col = "#b00020", lwd = 1.5)
  points(top$x, top$y, pch = 0, col = "#b00020", cex = 1.6, lwd = 2)
  text(top$x - 72, top$y + 107, "summit, 195 m", col = "#b00020", font = 2)
  points(found$par[["x"]], found$par[["y"]], pch = 4, cex = 1.5, lwd = 3, col = "#b00020")
  mtext(sprintf("pale: early, dark blue: late; cross: recommended, %g m",
                height_at(found$par[["x"]], found$par[["y"]])),
        side = 1, line = 0.3, cex = 0.75, col = "grey30")
}

# How far the best place so far is below the summit: a column per search.
below_summit <- vapply(searches, function(found) {
  places <- as.data.frame(found)
  max(volcano) - cummax(height_at(places$x, places$y))
}, numeric(60))

# Median over the replications (columns), with a band from the first to the third quartile.
draw_band <- function(values, name) {
  rounds <- seq_len(nrow(values))
  quartiles <- t(apply(values, 1, stats::quantile, 1:3 / 4))
  polygon(c(rounds, rev(rounds)), c(quartiles[, 1], rev(quartiles[, 3])), border = NA,
          col = grDevices::adjustcolor(colours[name], 0.18))
  lines(rounds, quartiles[, 2], col = colours[name], lwd = 2.2)
}

draw_curves <- function(column, ylim, searched = NULL, ...) {
  plot(NA, xlim = c(1, rounds), ylim = ylim, bty = "n", las = 1, xlab = "readings", ylab = "metres", ...)
  for (name in rev(names(bandits))) {
    of <- curves[curves$bandit == name, ]
    draw_band(pmax(matrix(of[[column]][order(of$replication, of$round)], rounds), ylim[1]), name)
  }
  if (!is.null(searched)) draw_band(pmax(searched, ylim[1]), "maximize_bandit()")
}

draw_picture <- function() {
  layout(matrix(c(1, 1, 2, 3), 2), widths = c(1.35, 1))
  par(mar = c(1.8, 0.5, 2.2, 0.5), cex.main = 1.1)
  draw_map(searches[[1]])
  par(mar = c(3.6, 4, 2.2, 0.5), mgp = c(2.3, 0.7, 0))
  # On the log scale the summit itself (regret 0) is drawn at half a metre.
  draw_curves("simple_regret", c(0.5, 100), below_summit, log = "y", yaxt = "n",
              main = "Best place so far, below the summit")
  axis(2, c(0.5, 1, 2, 5, 10, 20, 50, 100), c(0, 1, 2, 5, 10, 20, 50, 100), las = 1)
  abline(h = tolerance, lty = 3)
  draw_curves("average_regret", c(0, 100), main = "Average regret (kernel known)")
  legend(0.62 * rounds, 62, names(colours), col = colours, lwd = 2.2, bty = "n", cex = 0.9)
}

picture <- Sys.getenv("GPBANDITS_DEMO_PICTURE", if (interactive()) "" else "volcano.png")
if (nzchar(picture)) grDevices::png(picture, width = 1200, height = 544, res = 100)
draw_picture()
if (nzchar(picture)) {
  invisible(grDevices::dev.off())
  cat("Picture:", picture, "\n")
}
cat(sprintf("Took %.1f s.\n", proc.time()[["elapsed"]] - started))
