# Priors over the location of the optimum (piBO). Layer: strategy.

#' Beliefs about where the optimum lies
#'
#' What somebody expects before anything is measured, for `belief =` of [gp_bandit()] (and its presets),
#' [auto_bandit()], [maximize_bandit()] and [minimize_bandit()]: a density \eqn{\pi}{pi} over the space. It draws the
#' search there at first, and fades as evaluations come in.
#'
#' `belief_normal(temp = c(60, 10), solvent = c(water = 3))`: numbers by mean and standard deviation, in the input's own
#' unit and independent of each other; levels and logicals by weights (those not named have 1). Inputs that are not
#' named are flat, and so is an input where it does not exist. A function gets points as vectorised objectives do (a
#' matrix with a column per input; with types a data.frame), and returns the logarithm of a density for each, up to a
#' constant; `-Inf` is allowed.
#'
#' The score of a place gets \eqn{(\beta/n)\log\max(\pi(x)/\max\pi,10^{-12})}{(beta / n) log max(pi(x) / max pi, 1e-12)}
#' added, with \eqn{n} the larger of 1 and the number of queries made before, whether or not their rewards are in:
#' * [policy_ei()]: to log EI, with \eqn{\beta}{beta} a tenth of the `evaluations`, and 10 in [gp_bandit()] and
#'   [auto_bandit()] (piBO, Hvarfner et al. 2022);
#' * [policy_ucb()] and [policy_ts()]: \eqn{s}{s} times it, with \eqn{s} the prior standard deviation and
#'   \eqn{\beta = 1}{beta = 1}.
#'
#' Half of the points of the design that a search or [auto_bandit()] makes are drawn from the belief, its mode first;
#' `max` is over the whole space, with its constraints. A belief that is equally large everywhere is as none, to the
#' bit.
#'
#' @section Guarantee: with [policy_ucb()], where the width's interval holds in all rounds, the belief adds at most
#'   \eqn{s\beta\,(2+\log T)\log(\max\pi/\max(\pi(x^*), 10^{-12}\max\pi))}{s beta (2 + log T) log(max pi / max(pi(x*),
#'   1e-12 max pi))} to the regret of \eqn{T} rounds: what is added is never above 0, so that the optimum's upper bound
#'   loses what is added at \eqn{x^*}, and \eqn{\sum 1/n}{sum 1 / n} over the rounds is at most
#'   \eqn{2+\log T}{2 + log T} (derived here, not in the paper). With [policy_ei()] the paper has a theorem for its own
#'   rule, with hyperparameters that are known; it is not restated here, and does not cover what differs:
#'   hyperparameters that are fitted, rewards that are scaled, \eqn{n} that counts what was asked. With [policy_ts()]:
#'   none.
#' @param ... `c(mean, sd)` for numbers, named weights for levels (`c("TRUE" = 4)` for logicals), by the names of
#'   inputs.
#' @return An object of class `bandit_belief`.
#' @section Errors: a `gpbandits_error` that names the argument: unknown inputs or levels, standard deviations and
#'   weights that are not above 0, functions that return something else than a number per point, policies other than the
#'   three.
#' @source Hvarfner, Stoll, Souza, Lindauer, Hutter and Nardi (2022), "piBO: augmenting acquisition functions with user
#'   beliefs for Bayesian optimization", ICLR, <https://arxiv.org/abs/2204.11051>.
#' @seealso [maximize_bandit()], [policy_function()].
#' @examples
#' f <- function(x) -(x[["temp"]] - 57)^2
#' set.seed(1)
#' found <- minimize_bandit(function(x) -f(x), list(temp = c(20, 80)), evaluations = 6,
#'                          belief = belief_normal(temp = c(60, 5)))
#' found$history$temp
#' @export
belief_normal <- function(...) {
  parts <- list(...)
  new_part("bandit_belief", "normal")
}

belief_entries <- list(
  normal = list(settings = alist(parts = check_belief_parts(parts))),
  "function" = list(settings = alist(f = check_function(f)))
)

check_belief_parts <- function(parts) {
  if (length(parts) && (is.null(names(parts)) || !all(nzchar(names(parts))) || anyDuplicated(names(parts)))) {
    stop_argument("...", "without names of their own", "one argument by the name of each input, temp = c(60, 10)")
  }
  for (name in names(parts)) {
    one <- parts[[name]]
    if (!is.numeric(one) || length(one) == 0 || !all(is.finite(one))) {
      stop_argument(name, describe(one), "c(mean, sd), or named weights of levels")
    }
    if (is.null(names(one)) && (length(one) != 2 || one[2] <= 0)) {
      stop_argument(name, describe(one), "c(mean, sd) with sd > 0, or named weights of levels")
    }
    if (!is.null(names(one)) && (any(one <= 0) || anyDuplicated(names(one)) || !all(nzchar(names(one))))) {
      stop_argument(name, describe(one), "weights above 0, each by the name of a level")
    }
  }
  parts
}

#' @export
print.bandit_belief <- function(x, ...) {
  check_class(x, "bandit_belief")
  cat(sprintf("<belief: %s>\n", if (is.null(x$parts)) "a function"
              else if (length(x$parts)) paste(names(x$parts), collapse = ", ") else "flat"))
  invisible(x)
}

as_belief <- function(belief, arg = "belief") {
  if (is.function(belief)) {
    f <- belief
    return(new_part("bandit_belief", "function"))
  }
  check_class(belief, "bandit_belief", arg, hint = "belief_normal(), or a function that returns log densities")
}

# ---- densities ---------------------------------------------------------------------

# A function of places: logarithms of the density, up to a constant.
log_belief <- function(belief, domain) {
  if (is.null(belief$parts)) {
    return(function(places) {
      x <- user_inputs(domain, places)
      n <- place_total(places)
      found <- call_user(belief$f(x), "belief", sprintf("for %d points", n))
      if (!is.numeric(found) || length(found) != n || anyNA(found) || any(found == Inf)) {
        stop_argument("belief", paste("a function that returned", describe(found)),
                      sprintf("a logarithm of a density for each of %d points", n))
      }
      as.double(found)
    })
  }
  one <- lapply(stats::setNames(names(belief$parts), names(belief$parts)),
                function(name) belief_of_input(belief, domain, name))
  function(places) {
    x <- user_inputs(domain, places)
    out <- numeric(place_total(places))
    for (name in names(one)) out <- out + one[[name]](x[, name])
    out
  }
}

belief_of_input <- function(belief, domain, name) {
  part <- belief$parts[[name]]
  at <- match(name, domain$names)
  if (is.na(at)) {
    stop_argument("belief", sprintf("one about %s", dQuote(name, FALSE)),
                  paste("one about inputs:", quoted(domain$names)))
  }
  levels <- input_levels(domain, at)
  if (is.null(names(part))) {
    if (!is.null(levels)) {
      stop_argument("belief", sprintf("a mean and an sd for %s", name),
                    sprintf("weights of its levels: %s", quoted(levels)))
    }
    return(function(x) ifelse(is.na(x), 0, -((x - part[[1]]) / part[[2]])^2 / 2))
  }
  strange <- setdiff(names(part), levels)
  if (length(strange)) {
    stop_argument("belief", sprintf("a weight for %s = %s", name, strange[1]),
                  if (is.null(levels)) "c(mean, sd): it is a number" else paste("weights of its levels:",
                                                                                quoted(levels)))
  }
  weight <- belief_weights(part, levels)
  function(x) ifelse(is.na(x), 0, log(weight / max(weight))[match(level_words(x), levels)])
}

belief_weights <- function(part, levels) {
  weight <- rep(1, length(levels))
  weight[match(names(part), levels)] <- part
  weight
}

# ---- for a bandit --------------------------------------------------------------------

least_belief <- log(1e-12)

# A belief with the logarithm of its largest density over the space, and where that is; NULL where it is flat.
prepared_belief <- function(belief, domain) {
  if (is.null(belief)) return(NULL)
  belief <- as_belief(belief)
  density <- log_belief(belief, domain)
  spread <- density(spread_places(domain, 512))
  if (!any(is.finite(spread))) stop_argument("belief", "one that is 0 at all of 512 points", "a density over the space")
  if (all(spread == spread[1])) return(NULL)
  floored <- function(places) pmax(density(places), max(spread) - 1e6)
  mode <- maximise_over(domain, floored)
  list(belief = belief, top = max(mode$value, spread), mode = mode$places, density = density)
}

check_belief_alone <- function(belief, outcomes) {
  if (!is.null(belief) && length(outcomes)) {
    stop_argument("belief", "given together with `outcomes` or `limits`", "NULL where there are several outcomes")
  }
}

# The policy with this belief.
with_belief <- function(policy, found, strength) {
  if (is.null(found)) return(policy)
  policy <- as_part(policy, "bandit_policy", "policy", hint = "policy_ei(), policy_ucb(), ...")
  kind <- trait(policy, "believes")
  if (!kind) stop_argument("policy", trait(policy, "title"),
                           "policy_ei(), policy_ucb() or policy_ts(), where there is a belief")
  policy$belief <- list(of = found$belief, top = found$top,
                        strength = if (trait(policy, "bound") || trait(policy, "draws")) 1 else strength)
  policy
}

check_policy_belief <- function(belief) {
  fields <- c("of", "top", "strength")
  if (!is.list(belief) || !identical(names(belief), fields)) stop_argument("belief", describe(belief),
                                                                           "as a search makes it")
  list(of = check_class(belief$of, "bandit_belief", "belief"), top = check_number(belief$top, "belief"),
       strength = check_number(belief$strength, "belief", lower = 0))
}

# As the core takes it.
resolve_belief <- function(belief, config) {
  domain <- config$domain
  d <- length(model_names(domain))
  density <- log_belief(belief$of, domain)
  list(at = function(inputs) pmax(density(unnumbered(unname(inputs[, seq_len(d), drop = FALSE]))) - belief$top,
                                  least_belief),
       actions = d, strength = belief$strength)
}

# `count` places to begin with, half of them drawn from the belief, its mode first. `first`, if there is one, comes
# before them, in the stead of the one that is nearest.
believed_design <- function(domain, count, found, first = NULL) {
  if (!is.null(first) && count > 0) {
    all <- believed_design(domain, count, found)
    rest <- subset_places(all, -nearest_of_design(domain, all, first))
    return(list(arm = c(first$arm, rest$arm), inputs = rbind(unname(first$inputs), unname(rest$inputs))))
  }
  if (is.null(found) || count < 2) return(design_places(domain, count))
  half <- count %/% 2
  drawn <- if (half > 1) belief_draws(domain, half - 1, found) else no_places(domain)
  rest <- design_places(domain, count - half)
  parts <- list(found$mode, drawn, rest)
  list(arm = unlist(lapply(parts, `[[`, "arm")),
       inputs = do.call(rbind, lapply(parts, function(part) unname(part$inputs))))
}

nearest_of_design <- function(domain, places, one) {
  away <- t(unname(places$inputs)) - drop(unname(one$inputs))
  which.min(colSums((away / input_sides(domain))^2))
}

# Resampled by weights: uniform places; those that a normal belief draws by itself have weight 1 where they can be
# played.
belief_draws <- function(domain, count, found) {
  places <- sample_places(domain, 4096)
  parts <- found$belief$parts
  if (!is.null(parts) && !can_count(domain)) {
    places <- moved_by_belief(domain, places, parts)
    return(subset_places(places, seq_len(count)))
  }
  weight <- exp(found$density(places) - found$top)
  if (sum(weight > 0) < count) weight <- weight + 1e-12
  subset_places(places, sample.int(length(weight), count, replace = TRUE, prob = weight))
}

# Inputs that the belief is about drawn anew, each within its bounds; what cannot be played goes to the nearest place.
moved_by_belief <- function(domain, places, parts) {
  inputs <- places$inputs
  ranges <- unname(input_ranges(domain))
  log <- log_inputs(domain)
  n <- nrow(inputs)
  for (name in names(parts)) {
    at <- match(name, domain$names)
    levels <- input_levels(domain, at)
    if (is.null(levels)) {
      bounds <- ranges[, at]
      if (log[at]) bounds <- exp(bounds)
      x <- normal_between(n, parts[[name]][[1]], parts[[name]][[2]], bounds)
      inputs[, at] <- if (log[at]) log(x) else x
    } else {
      codes <- seq(ranges[1, at], ranges[2, at], length.out = length(levels))
      inputs[, at] <- sample(codes, n, replace = TRUE, prob = belief_weights(parts[[name]], levels))
    }
  }
  nearest_places(domain, utils::head(inputs, 256))
}

# Normal numbers within bounds, however far from the mean these are: by logarithms of the lower tail, turned round where
# the bounds lie above the mean.
normal_between <- function(n, mean, sd, bounds) {
  z <- (bounds - mean) / sd
  turned <- sum(z) > 0
  if (turned) z <- -rev(z)
  ends <- stats::pnorm(z, log.p = TRUE)
  u <- stats::runif(n)
  # (So far off that not even the logarithm is finite, all of it is at the nearer bound.)
  z <- if (ends[2] == -Inf) rep(z[2], n)
       else stats::qnorm(ends[2] + log(u + (1 - u) * exp(ends[1] - ends[2])), log.p = TRUE)
  clamped(mean + sd * (if (turned) -z else z), bounds[1], bounds[2])
}

register_family("bandit_belief", belief_entries, tag = "type")
