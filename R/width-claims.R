# Which widths are proven confidence bounds for a given bandit, in words. Layer: strategy.

# The claim for rewards with a likelihood, see GlmWidth in the core.
claim_glm <- function(width, bandit) {
  proved(width, bandit, sprintf("the RKHS norm of f (minus the prior mean) is at most %g", width$B),
         sprintf("rewards are %s, independent of each other given f and the queries",
                 trait(bandit$config$rewards, "title")))
}

# The probability with which the bounds mean +- width * sd hold at all points and in all rounds, and its assumptions.
width_claim <- function(width, bandit) {
  if (!is.null(trait(width, "model_error"))) {
    base <- width_claim(width$base, bandit)
    base$assumptions <- c(base$assumptions, sprintf("this for a function from which f differs by %g at most",
                                                    trait(width, "model_error")))
    return(base)
  }
  void <- voided_by(bandit, trait(width, "allows"))
  if (length(void)) unproved(void) else trait(width, "claim")(width, bandit)
}

# A claim without a probability.
unproved <- function(...) list(probability = NA_real_, assumptions = c(...))

proved <- function(width, bandit, ..., probability = 1 - width$delta) {
  list(probability = probability, assumptions = c(..., arrival_story(bandit)))
}

claim_nothing <- function(width, bandit) unproved(sprintf("no theorem makes width %s a confidence bound", width$type))

claim_finite <- function(width, bandit) {
  if (width$scale >= 1) return(proved(width, bandit, prior_text(bandit)))
  unproved(sprintf("the width is Theorem 1's times sqrt(%g): outside the theorem", width$scale))
}

claim_compact <- function(width, bandit) {
  unproved(paste("the width of Theorem 2 holds at the played points and on a net only, width_srinivas_box() is one",
                 "for stopping"))
}

# Without noise nothing is random: the error of the mean is a bias of at most B sd, whatever lambda is.
claim_norm <- function(width, bandit) {
  proved(width, bandit, norm_text(width, bandit), probability = if (width$R == 0) 1 else 1 - width$delta)
}

claim_clip <- function(width, bandit) {
  if (identical(bandit$config$rewards$b, width$b)) return(proved(width, bandit, clip_story(width)))
  unproved("rewards are not clipped as the width assumes")
}

claim_gain <- function(width, bandit) {
  if (has_own_noise(bandit)) return(unproved("the theorem of this width is for rewards of one noise variance"))
  # (For lambda >= 1 the width is at least that of width_realized().)
  if (current_config(bandit)$noise_var >= 1 && trait(width$gain, "bounds")) return(claim_norm(width, bandit))
  unproved("the proof of this width needs noise_var >= 1 and an upper bound of the information gain")
}

prior_text <- function(bandit) {
  sprintf("f is drawn from the prior and the noise is Gaussian with variance %g%s",
          current_config(bandit)$noise_var, if (has_own_noise(bandit)) ", or as given with the reward" else "")
}

# The assumptions about the norm of f and about the noise. A width without `noise` makes no claim for rewards with
# separate noise variances.
norm_text <- function(width, bandit) {
  config <- current_config(bandit)
  own <- if (has_own_noise(bandit)) {
    if (identical(width$noise, "bounded")) ", whatever noise variance was given with the reward"
    else sprintf(" (with a reward's own variance s, given before it was observed: %g sqrt(s / %g)-sub-Gaussian)",
                 width$R, config$noise_var)
  }
  noise <- if (width$R > 0) sprintf("the noise is %g-sub-Gaussian", width$R) else "there is no noise"
  paste0(sprintf("the RKHS norm of f (minus the prior mean) is at most %g and %s", width$B, noise),
         if (width$R > 0) own,
         if (!is.null(config$outputs)) ", in units of the scaled rewards")
}

# The claim of a width for points and interim analyses that do not depend on rewards.
claim_blind <- function(width, bandit) {
  asked <- table_column(bandit$queries, "action") == match("policy", action_names)
  if (!trait(bandit$config$policy, "blind") && any(asked)) {
    return(unproved("the width is for points chosen without regard to rewards, which this policy's are not"))
  }
  if (length(bandit$config$context_names)) return(unproved("the width counts arms, not contexts"))
  if (width$drift > 0 && any(asked)) {
    return(unproved("with drift the points must be a design, played in uniformly random order"))
  }
  proved(width, bandit, norm_text(width, bandit),
         if (width$drift > 0) {
           sprintf(paste("the design was played in uniformly random order, f stayed within %g of its mean over these",
                         "rounds, by a drift that was fixed before, and this is said of that mean"), width$drift)
         },
         sprintf("points were chosen without regard to rewards, which are evaluated at %s, fixed in advance",
                 amount_of(width$looks, "time")))
}

# If some rewards are wrong: the claim of the base for the correct rewards.
claim_corrupt <- function(width, bandit) {
  if (!is.null(width$count)) return(claim_count(width, bandit))
  base <- width_claim(width$base, bandit)
  if (is.na(base$probability)) return(base)
  of_design <- !is.null(trait(width$base, "looks"))
  of_draws <- trait(width$base, "counts_arms") && !of_design
  base$assumptions <- c(base$assumptions, paste0(
    sprintf("rewards are wrong by %g in all, independently of later noise", width$total),
    if (of_design) " and does not steer the design", if (of_draws) " and depends on f through the rewards only"
  ))
  base
}

claim_count <- function(width, bandit) {
  rewards <- bandit$config$rewards
  if (is.null(rewards) || is.null(trait(rewards, "largest_error"))) {
    return(unproved("rewards are neither clipped nor do they lose weight beyond a plateau"))
  }
  base <- trait(width$base, "claim")(width$base, bandit)
  if (is.na(base$probability)) return(base)
  centred <- identical(bandit$config$mean, 0) && is.null(bandit$config$mean_function)
  if (is.null(rewards$plateau) && !centred) {
    return(unproved("the width of clipped rewards is for a prior mean of 0"))
  }
  base$assumptions <- c(base$assumptions, sprintf(
    paste("at most %g rewards are wrong, and which ones does not depend on their noise; f and all correct rewards are",
          "within +- %g of the prior mean"), width$count, or_else(rewards$plateau, rewards$b)))
  base
}

claim_box <- function(width, bandit) {
  domain <- bandit$config$domain
  sides <- input_sides(domain)
  if (length(bandit$config$context_names)) return(unproved("width_srinivas_box() is for a box without contexts"))
  if (width$d != length(sides)) {
    return(unproved(sprintf("the width is for %d inputs, and there are %d", as.integer(width$d), length(sides))))
  }
  if (width$r < max(sides) * (1 - 1e-12)) {
    return(unproved(sprintf("the width is for sides of at most %g, and one is %g", width$r, max(sides))))
  }
  proved(width, bandit, prior_text(bandit),
       sprintf("P(sup |df/dx_j| > L) <= %g exp(-(L / %g)^2) for every input", width$a, width$b))
}

clip_story <- function(width) {
  sprintf("the RKHS norm of f is at most %g, and rewards, clipped to +- %g, have the moment given to the width",
          width$B, width$b)
}

# Settings that no theorem about a width covers. `but`: settings that are permitted.
voided_by <- function(bandit, but = NULL) {
  config <- bandit$config
  is_there <- function(setting) !setting %in% but && !is.null(config[[setting]])
  size <- seq_len(table_size(bandit$queries))
  c(voided_by_fits(config, but),
    if (trait(config$pending, "replaces")) "unknown rewards are replaced by a constant: no theorem",
    if (is_there("failures") && any(status_of(bandit, size) == "failed")) {
      "failed queries count as the worst reward: no theorem"
    },
    if (is_there("rewards") && !(!is.null(config$policy$width) && trait(config$policy$width, "curved"))) {
      if (trait(config$rewards, "form") != "reward") paste("no theorem covers this width where rewards are",
                                        trait(config$rewards, "title"))
      else if (is.null(config$rewards$plateau)) {
        "rewards are clipped: no theorem but that of width_realized(R = ) with their rule, or width_corrupt(count = )"
      }
      else "rewards lose weight beyond a plateau: no theorem but that of width_corrupt(count = )"
    },
    if (is_there("changes")) "f changes over time: no theorem",
    if (is_there("constraints")) "rewards are reduced by constraints: no theorem")
}

voided_by_fits <- function(config, but = NULL) {
  c(if (!"refit" %in% but && !is.null(config$refit)) "hyperparameters are fitted to the same data: no theorem",
    if (!"outputs" %in% but && has_fitted_map(config)) "rewards are scaled by a map fitted to them: no theorem")
}

# Bounds that hold simultaneously for all rounds permit late, missing or corrected rewards, if these events do not
# depend on the values.
arrival_story <- function(bandit) {
  c(if (arrives_at_will(bandit)) "when a reward arrives, fails or is withdrawn does not depend on its value",
    if (event_kind[["amend"]] %in% table_column(bandit$events, "kind")) {
      paste("which rewards were amended does not depend on their true values, and the wrong ones contain no more",
            "information on f than these")
    })
}

# Did a reward arrive after a later query was made, or not at all?
arrives_at_will <- function(bandit) {
  size <- seq_len(table_size(bandit$queries))
  if (any(status_of(bandit, size) %in% c("withdrawn", "failed", "lost"))) return(TRUE)
  if (any(before_checkpoint(bandit, size))) return(TRUE)
  pending <- size[status_of(bandit, size) == "pending"]
  kind <- table_column(bandit$events, "kind")
  id <- table_column(bandit$events, "id")
  asked <- cumsum(kind %in% event_kind[c("query", "given")])
  any(pending < length(size)) || any(kind == event_kind[["reward"]] & id < asked)
}
