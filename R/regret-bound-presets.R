# Which theorem a preset has, and why others have none here.

preset_theorems <- c(gp_ucb_sdf = "sdf", gp_ts_sdf = "ts_sdf", gp_ucb_cpd = "cpd", gp_lse = "lse",
                     stable_opt = "stable",
                     gp_ucb_noiseless_constraints = "constraints_noiseless",
                     gp_ucb_noisy_constraints = "constraints_noisy")

no_theorem <- local({
  unproven <- "none is proven"
  unchecked <- "its paper's constants depend on how much f varies and have not been checked"
  rival <- "it is here to compare with, and its paper's constants have not been checked"
  safety <- "what is proven is that no play is unsafe, with probability 1 - delta"
  c(gp_ucb = "\"srinivas1\" is for arms, \"srinivas2\" for a box, \"ucb\" for any width that holds",
    gp_bucb = "\"ucb\" with `guard` is for batches whose width is raised", gp_bts = unproven, asy_ts = unproven,
    gp_ei = unproven, gp_pi = unproven, gp_ei_cost = unproven,
    kernel_ucb = "its theorem is about a version that learns in stages (SupKernelUCB)",
    ts_rsr = "one query at a time it is PIMS (\"irgp\"); for batches the proof has not been checked",
    rahbo = paste("its paper's bound counts the regret of f - alpha rho^2 with an unknown rho, and its constants",
                  "have not been checked"),
    r_gp_ucb = unchecked, sw_gp_ucb = unchecked, wgp_ucb = unchecked, tv_gp_ucb = unchecked, et_gp_ucb = unchecked,
    ckb = rival, config_ucb = rival, epbo = rival, bandit_oco = rival, admmbo = rival, safe_opt = safety,
    stage_opt = safety)
})

theorem_of_preset <- function(theorem) {
  if (!is.character(theorem) || length(theorem) != 1) return(theorem)
  if (theorem %in% names(no_theorem)) {
    stop_gpbandits("There is no one regret bound for ", theorem, "(): ", no_theorem[[theorem]], ".",
                   argument = "theorem")
  }
  if (theorem %in% names(preset_theorems)) preset_theorems[[theorem]] else theorem
}
