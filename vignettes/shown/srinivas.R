# Figures and tables that the vignette and the long article on Srinivas et al. (2010) share.
colours <- c("GP-UCB" = "#0072B2", "EI" = "#D55E00", "MPI" = "#E69F00", "MPI with margin" = "#E69F00",
             "Mean only" = "#009E73", "Variance only" = "#777777")
line_types <- c("GP-UCB" = 1, "EI" = 1, "MPI" = 1, "MPI with margin" = 2, "Mean only" = 3, "Variance only" = 1)

# Mean curves with bands of one standard error. `curves`: columns bandit, round, mean, se.
plot_curves <- function(curves, main, ylab = "", ylim = NULL, legend = FALSE) {
  curves <- curves[curves$mean > 0, ]
  shown <- intersect(names(colours), unique(curves$bandit))
  if (is.null(ylim)) ylim <- range(curves$mean)
  plot(NA, xlim = range(curves$round), ylim = ylim, log = "xy", bty = "n", las = 1, xaxt = "n",
       xlab = "round t", ylab = "", main = main)
  axis(1, c(1, 2, 5, 10, 20, 50, 100, 1000))
  title(ylab = ylab, line = 3.4)
  # The mean-only curve is dotted and drawn last: it often lies on MPI's.
  for (name in c(setdiff(rev(shown), "Mean only"), "Mean only")) {
    one <- curves[curves$bandit == name, ]
    polygon(c(one$round, rev(one$round)), c(one$mean + one$se, rev(pmax(one$mean - one$se, ylim[1] / 2))),
            border = NA, col = adjustcolor(colours[[name]], 0.15))
    lines(one$round, one$mean, col = colours[[name]], lwd = 2, lty = line_types[[name]])
  }
  if (legend) {
    legend("bottomleft", shown, col = colours[shown], lty = line_types[shown], lwd = 2, bty = "n", cex = 0.9)
  }
}

stored <- stored_table("srinivas-curves")
on_problem <- function(name) stored[stored$problem == name, ]

figure5 <- function() {
  par(mfrow = c(1, 3), mar = c(3.6, 4.6, 2, 0.2), cex = 0.8)
  plot_curves(on_problem("synthetic"), "(a) Synthetic", ylab = "average regret",
              legend = TRUE)
  plot_curves(on_problem("temperature"), "(b) Temperature (\u00b0C)")
  plot_curves(on_problem("traffic"), "(c) Traffic (mph)")
}

figure5_table <- function() {
  final <- function(curves, digits) {
    last <- curves[curves$round == max(curves$round), ]
    last <- last[match(names(colours), last$bandit), ]
    sprintf("%.*f (%.*f)", digits, last$mean, digits, last$se)
  }
  knitr::kable(data.frame(rule = names(colours), synthetic = final(on_problem("synthetic"), 4),
                          temperature = final(on_problem("temperature"), 3), traffic = final(on_problem("traffic"), 2)),
               col.names = c("", "synthetic, T = 1000", "temperature, T = 50", "traffic, T = 78"), align = "lrrr",
               caption = "Average regret at the end of the runs (standard error).")
}

agreement <- function(in_full = FALSE) {
  at_a_glance(
    c("Figure 1 (table of rates), Theorem 5", "[above](#rates-figure-1s-table-theorem-5), `gain_rate()`",
      "restated; constants are unknown"),
    c("Figure 2 (a)", "[above](#sensor-data-figures-5b-and-5c)", "the same laboratory at another time"),
    c("Figure 2 (b, c)", "[above](#two-rounds-of-gp-ucb-figure-2)", "reproduces"),
    c("Figure 3", "[above](#information-gain-figure-3)",
      "reproduces; the paper's points and lengthscales are not printed"),
    c("Figure 4", "[above](#functions-drawn-from-the-priors-figure-4)", "reproduces"),
    c("Figure 5 (a)", "[above](#figure-5)", "reproduces except for MPI, which needs a margin"),
    c("Figure 5 (b)", "the same",
      "reproduces in part: EI is better than GP-UCB here. Other measurements of the same sensors"),
    c("Figure 5 (c)", "the same",
      "reproduces in part: MPI is not level with GP-UCB at the end. Another road: the paper's data were not available"),
    c("Theorem 1", "[above](#the-theorems-bound-over-the-regret), `regret_bound(\"srinivas1\")`",
      "the bound held in all of 30 runs; loose"),
    c("Theorems 2 and 3",
      "`regret_bound(\"srinivas2\")`, `(\"srinivas3\")`, `width_srinivas_compact()`, `width_srinivas_rkhs()`",
      "formulas implemented and tested"),
    c("Theorem 4, Lemma 5.3", "[above](#information-gain-figure-3), `information_gain(rounds = )`",
      "the factor 1/(1 - 1/e) is not needed"),
    c("Theorem 6", "[above](#confidence-in-the-agnostic-case-theorem-6)", "the bound held in every case; loose"),
    c("Theorem 8", "[above](#from-the-kernels-spectrum-theorem-8)", "computed; loose"),
    in_full = in_full)
}
