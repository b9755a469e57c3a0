# The theorem that belongs to each named algorithm. Layer: simulation.

# The theorem of each preset, and the reason if a preset has none.

preset_theorems <- c(gp_ucb_sdf = "sdf", gp_ts_sdf = "ts_sdf", gp_ucb_cpd = "cpd", gp_lse = "lse",
                     stable_opt = "stable", epbo = "penalty", config = "penalty", rpol = "penalty",
                     gp_ucb_noiseless_constraints = "constraints_noiseless",
                     gp_ucb_noisy_constraints = "constraints_noisy")

no_theorem <- local({
  unchecked <- "its paper's constants depend on how much f varies and have not been checked"
  safety <- "its guarantee is that no query is unsafe, with probability 1 - delta"
  c(gp_ucb = "\"srinivas1\" is for arms, \"srinivas2\" for a box, \"ucb\" for any width that holds",
    gp_bucb = "\"ucb\" with `guard` is for batches whose width is raised",
    gp_ei = "its paper proves that average regret tends to 0, and its constants have not been checked",
    ts_rsr = "one query at a time it is PIMS (\"irgp\"); for batches the proof has not been checked",
    rahbo = paste("its paper's bound counts the regret of f - alpha rho^2 with an unknown rho, and its constants",
                  "have not been checked"),
    gp_ucb_lengthscale = "\"adaptive_lengthscale\" and \"balanced_lengthscale\" are for its two methods",
    baseline_constrained = paste("\"penalty\" is for \"epbo\" and \"rpol\"; the others are here to compare with, and",
                                 "their papers' constants have not been checked"),
    gp_ucb_drift = unchecked, safe_opt = safety)
})

theorem_of_preset <- function(theorem) {
  if (!is.character(theorem) || is.object(theorem) || length(theorem) != 1) return(theorem)
  if (theorem %in% names(no_theorem)) {
    stop_gpbandits("argument", "There is no one regret bound for ", theorem, "(): ", no_theorem[[theorem]], ".",
                   argument = "theorem")
  }
  if (theorem %in% names(preset_theorems)) preset_theorems[[theorem]] else theorem
}
