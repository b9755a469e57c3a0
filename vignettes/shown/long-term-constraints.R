# Figures and tables that the vignette and the long article on Shi and Eryilmaz (2022) share.
stored <- stored_table("long-term-constraints")
of_experiment <- function(name) stored[stored$experiment == name, ]
small <- of_experiment("small")
small_noisy <- of_experiment("small noisy")
rates <- of_experiment("rates")
rates_noisy <- of_experiment("rates noisy")
paper_methods <- c("reuse", "letter", "OCO", "ADMMBO")

colours <- c("reuse" = "#0072B2", "letter" = "#56B4E9", "OCO" = "#D55E00", "ADMMBO" = "#E69F00", "CKB" = "#009E73",
             "CONFIG" = "#CC79A7", "EPBO" = "#777777")
more_colours <- c("perfect" = "black", "sum" = "#56B4E9", "ADMMBO, refits" = "#A65628")
line_types <- c("reuse" = 1, "letter" = 2, "OCO" = 1, "ADMMBO" = 1, "CKB" = 1, "CONFIG" = 2, "EPBO" = 3)
colnames_of_box <- c("q05", "q25", "q50", "q75", "q95")

# If `optimum` is given, the average utility is shown instead of the average regret.
part <- function(results, bandit, quantity, optimum = NULL) {
  one <- results[results$bandit == bandit & results$quantity == quantity, ]
  one <- one[order(one$round), ]
  if (quantity == "regret" && !is.null(optimum)) {
    one[c("mean", colnames_of_box)] <- optimum - one[c("mean", rev(colnames_of_box))]
  }
  one
}

box_panel <- function(results, bandit, quantity, ylim, title, optimum = NULL) {
  one <- part(results, bandit, quantity, optimum)
  one <- one[one$round %in% seq(20, 340, by = 20), ]
  plot(NA, xlim = c(10, 350), ylim = ylim, xlab = "round t", ylab = "", main = title)
  if (ylim[1] < 0) abline(h = 0, col = "grey70")
  bxp(list(stats = t(as.matrix(one[colnames_of_box])), n = rep(100, nrow(one)), conf = NULL, out = numeric(),
           group = numeric(),
           names = one$round),
      at = one$round, boxwex = 13, add = TRUE, axes = FALSE, outline = FALSE, lty = 1,
      boxfill = adjustcolor(colours[[bandit]], 0.5),
      medlwd = 2, whisklty = 1, staplelty = 0)
}

# The paper's boxplots: one column for each method, with regret (or utility) above violation.
box_figure <- function(results, bandits, titles, optimum = NULL, ylim = NULL) {
  par(mfrow = c(2, length(bandits)))
  for (quantity in c("regret", "violation")) {
    all <- do.call(rbind, lapply(bandits, part, results = results, quantity = quantity, optimum = optimum))
    limits <- range(if (quantity == "violation" || is.null(optimum)) 0, all[all$round >= 20, colnames_of_box])
    for (i in seq_along(bandits)) {
      box_panel(results, bandits[i], quantity, limits, titles[i], optimum)
      label <- if (quantity == "violation") "violation / t" else if (is.null(optimum)) "regret / t" else "utility"
      if (i == 1) mtext(label, side = 2, line = 2.8, las = 0, cex = 0.8)
    }
  }
}

# Mean curves of regret (or utility) and of violation, for at most `until` rounds.
mean_figure <- function(results, algorithm, bandits = names(colours), until = 350, optimum = NULL) {
  labels <- c(sprintf(c("Algorithm %d, reuse", "Algorithm %d, letter"), algorithm), names(colours)[-(1:2)])
  labels <- labels[match(bandits, names(colours))]
  layout(matrix(1:3, 1), widths = c(4, 4, 2.4))
  par(cex = 0.9)
  for (quantity in c("regret", "violation")) {
    curves <- lapply(bandits, part, results = results, quantity = quantity, optimum = optimum)
    all <- do.call(rbind, curves)
    all <- all[all$round <= until, ]
    plot(NA, xlim = c(0, until), ylim = range(if (quantity == "violation" || is.null(optimum)) 0, all$mean),
         xlab = "round t",
         ylab = if (quantity == "violation") "violation / t" else if (is.null(optimum)) "regret / t" else "utility")
    abline(h = 0, col = "grey70")
    for (i in rev(seq_along(bandits))) {
      lines(mean ~ round, curves[[i]][curves[[i]]$round <= until, ], col = colours[[bandits[i]]], lwd = 2,
            lty = line_types[[bandits[i]]])
    }
  }
  par(mar = c(0, 0, 0, 0))
  plot.new()
  legend("left", labels, col = colours[bandits], lty = line_types[bandits], lwd = 2, bty = "n", y.intersp = 1.6)
}

end_table <- function(results, bandits, labels, caption, at = c(90, 350)) {
  value <- function(bandit, quantity, round) {
    one <- results[results$bandit == bandit & results$quantity == quantity & results$round == round, ]
    if (nrow(one)) one$mean else NA
  }
  columns <- lapply(at, function(round) {
    out <- vapply(c("regret", "violation", "uncancelled"), function(q) vapply(bandits, value, 0, quantity = q,
                                                                              round = round),
                  numeric(length(bandits)))
    matrix(sprintf("%.3f", out), length(bandits))
  })
  knitr::kable(data.frame(labels, do.call(cbind, columns)), row.names = FALSE, align = c("l", rep("r", 3 * length(at))),
               col.names = c("", rep(c("regret", "violation", "no cancellation"), length(at))), caption = caption)
}

value <- function(results, bandit, quantity = "violation", round = 350, digits = 2) {
  one <- results[results$bandit == bandit & results$quantity == quantity & results$round == round, ]
  formatC(one$mean, digits, format = "f")
}

names_of <- function(n) c(sprintf("Algorithm %d, reuse", n), sprintf("Algorithm %d, letter", n), names(colours)[-(1:2)])
table_small <- function() {
  end_table(small, names(colours), names_of(2),
            paste("Time averages of regret, violation, and violation without cancellation (only costs above zero are",
                  "summed). Means over 100 runs after 90 rounds (left; ADMMBO ends there in the paper) and after 350",
                  "(right). Constraints observed without noise."))
}

table_small_noisy <- function() {
  end_table(small_noisy, c("reuse", "step 2", names(colours)[-1]),
            c("Algorithm 3, reuse", "Algorithm 3, reuse, step 2", names_of(3)[-1]),
            "As above, constraints observed with noise.")
}

pair <- function(results, bandit, quantity = "violation") {
  paste(value(results, bandit, quantity, 90), "and", value(results, bandit, quantity))
}
agreement <- function(in_full = FALSE) {
  at_a_glance(
    c("Table 1 (orders of regret and violation)", "[below](#orders-table-1)",
      "restated; `regret_bound()` computes the bounds"),
    c("Proposition 1", "[above](#a-fixed-multiplier-is-not-sufficient-proposition-1)", "shown by an example"),
    c("Theorem 1", "`regret_bound(\"constraints_noiseless\")`",
      paste("needs an empty posterior in each epoch and lambda = 1 + 2/S; neither the paper's experiments nor ours",
            "have these")),
    c("Theorem 2, Slater's condition", "`regret_bound(\"constraints_noisy\")`, also `quantity = \"margin\"`",
      paste("the condition holds on the data rates with noise (E.2.2: epsilon must exceed 1.652 and can be 2), but not",
            "on the small feasible region (E.1.2)")),
    c("Remarks 1 and 2", "[above](#thompson-sampling-inside)",
      "with Thompson sampling in the epochs the violation is similar and the regret larger"),
    c("Figure 1", "[above](#epochs-how-many-how-long-figure-1)",
      paste("reproduces with reuse: more epochs give less violation and more regret. With the letter of the paper only",
            "longer epochs help")),
    c("Figures 2 and 3", "[above](#constraints-without-noise-figures-2-and-3)", sprintf(
      paste("reproduce with reuse (violation after 90 and 350 rounds: %s; OCO %s; ADMMBO %s). They do not reproduce",
            "with the letter (%s): 20 rounds from an empty posterior are too few"),
      pair(small, "reuse"), pair(small, "OCO"), pair(small, "ADMMBO"), pair(small, "letter"))),
    c("Figures 4 and 5", "[above](#constraints-with-noise-figures-4-and-5)", sprintf(
      paste("do not reproduce with the printed update (%s; ADMMBO %s): a perfect optimiser has 0.70 and 0.25. They",
            "reproduce with the step on the epoch's sum (%s), or with the printed step and epochs of 1 or 5 rounds"),
      pair(small_noisy, "reuse"), pair(small_noisy, "ADMMBO"), pair(small_noisy, "sum"))),
    c("Figures 6 and 7", "[above](#data-rates)", sprintf(
      paste("reproduce in violation (%s; OCO %s; ADMMBO %s): the baselines reach more utility in the first hundred",
            "rounds, with more violation. Utilities have another scale, because the paper's constants were not",
            "available"),
      pair(rates, "reuse"), pair(rates, "OCO"), pair(rates, "ADMMBO"))),
    c("Figures 8 and 9", "the same", sprintf("reproduce: the violation first rises, then falls (%s)",
                                             pair(rates_noisy, "reuse"))),
    in_full = in_full)
}
