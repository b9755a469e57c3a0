# Priors over the location of the optimum (piBO). Layer: strategy.

#' Prior over the location of the optimum (piBO)
#'
#' `prior_normal()` describes where you expect the optimum, so that a search starts there.
#'
#' The object is for argument `prior_optimum` of [gp_bandit()] and its presets, [auto_bandit()], [maximize_bandit()] and
#' [minimize_bandit()]. The prior is a density \eqn{\pi}{pi} over the space. It directs the first evaluations, and its
#' weight decreases with their number.
#'
#' `prior_normal(temp = c(60, 10), solvent = c(water = 3))` gives a mean and a standard deviation for numbers, in the
#' input's own unit. Levels and logicals have weights; levels without one have weight 1. Inputs are independent. The
#' density is constant in inputs that are not named, and where an input does not exist.
#'
#' `prior_optimum` may also be a function. It gets points as vectorised objectives do: a matrix with a column per
#' input, or a data.frame if inputs have types. It returns the logarithm of a density for each point, up to a constant;
#' `-Inf` is allowed.
#'
#' @section Acquisition values:
#' Let \eqn{n} be the number of earlier queries, observed or not, but at least 1. The acquisition value of a point is
#' increased by
#' \deqn{\frac{\beta}{n}\log\max\left(\frac{\pi(x)}{\max\pi}, 10^{-12}\right).}{(beta / n) log max(pi(x) / max pi,
#' 1e-12).}
#'
#' * [policy_ei()]: this is added to log EI. \eqn{\beta}{beta} is a tenth of the `evaluations`, and 10 in [gp_bandit()]
#'   and [auto_bandit()] (piBO, Hvarfner et al. 2022).
#' * [policy_ucb()] and [policy_ts()]: \eqn{s}{s} times this is added, with \eqn{s} the prior standard deviation and
#'   \eqn{\beta = 1}{beta = 1}.
#'
#' Other policies are an error. Half of the initial design of a search or of [auto_bandit()] is drawn from the prior,
#' its mode first. The maximum is over the whole space with its constraints. A prior with a constant density has no
#' effect.
#' @section Guarantee:
#' Assume [policy_ucb()], and that the interval of its confidence width (the multiplier of the posterior sd) holds in
#' all rounds. Then the regret of \eqn{T} rounds increases by at most
#' \deqn{s\beta\,(2+\log T)\log\left(\max\pi/\max(\pi(x^*), 10^{-12}\max\pi)\right)}{s beta (2 + log T) log(max pi /
#' max(pi(x*), 1e-12 max pi))}
#' (original result, not peer-reviewed). The added term is never above 0, so the optimum's upper bound decreases by the
#' term at \eqn{x^*}{x*}. The sum of \eqn{1/n}{1 / n} over the rounds is at most \eqn{2+\log T}{2 + log T}. The paper's
#' theorem for EI has known hyperparameters and its own rule. It does not cover fitted hyperparameters, scaled rewards
#' or this \eqn{n}. There is no guarantee with [policy_ts()].
#' @param ... for each input, by its name: `c(mean, sd)` for numbers with `sd` > 0, or named weights > 0 of levels
#'   (`c("TRUE" = 4)` for logicals).
#' @return An object of class `bandit_prior`.
#' @section Errors: Unknown inputs or levels, functions that do not return a number per point, and policies other than
#'   those above raise a `gpbandits_error`.
#' @source Hvarfner, Stoll, Souza, Lindauer, Hutter and Nardi (2022), "piBO: augmenting acquisition functions with user
#'   beliefs for Bayesian optimization", ICLR, <https://arxiv.org/abs/2204.11051>.
#' @seealso [maximize_bandit()], [policy_function()].
#' @concept expert knowledge
#' @concept prior knowledge
#' @concept piBO
#' @concept warm start
#' @examples
#' set.seed(1)
#' found <- minimize_bandit(function(p) (p$temp - 57)^2, list(temp = c(20, 80)), evaluations = 6,
#'                          prior_optimum = prior_normal(temp = c(60, 5)))
#' found$history$temp
#' @export
prior_normal <- function(...) {
  parts <- list(...)
  new_part("bandit_prior", "normal")
}

prior_optimum_entries <- list(
  normal = list(settings = alist(parts = check_prior_optimum_parts(parts))),
  "function" = list(settings = alist(f = check_function(f)))
)

check_prior_optimum_parts <- function(parts) {
  if (length(parts) && (is.null(names(parts)) || !all(nzchar(names(parts))) || anyDuplicated(names(parts)))) {
    stop_argument("...", "unnamed or with equal names", "one argument by the name of each input",
                  try = "`prior_normal(temp = c(60, 10))`")
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
print.bandit_prior <- function(x, ...) {
  check_class(x, "bandit_prior")
  cat(sprintf("<prior over the optimum: %s>\n", if (is.null(x$parts)) "a function"
              else if (length(x$parts)) paste(names(x$parts), collapse = ", ") else "flat"))
  invisible(x)
}

as_prior_optimum <- function(prior, arg = "prior_optimum") {
  if (is.function(prior)) {
    f <- prior
    return(new_part("bandit_prior", "function"))
  }
  check_class(prior, "bandit_prior", arg, hint = "prior_normal(), or a function that returns log densities")
}

# ---- densities ---------------------------------------------------------------------

# A function of points that returns the logarithm of the density, up to a constant.
log_prior_optimum <- function(prior, domain) {
  if (is.null(prior$parts)) {
    return(function(points) {
      x <- user_inputs(domain, points)
      n <- point_total(points)
      found <- call_user(prior$f(x), "prior_optimum", sprintf("for %d points", n))
      if (!is.numeric(found) || length(found) != n || anyNA(found) || any(found == Inf)) {
        stop_returned("prior_optimum", found, sprintf("a logarithm of a density for each of %d points", n))
      }
      as.double(found)
    })
  }
  one <- lapply(stats::setNames(names(prior$parts), names(prior$parts)),
                function(name) prior_of_input(prior, domain, name))
  function(points) {
    x <- user_inputs(domain, points)
    out <- numeric(point_total(points))
    for (name in names(one)) out <- out + one[[name]](x[, name])
    out
  }
}

prior_of_input <- function(prior, domain, name) {
  part <- prior$parts[[name]]
  at <- match(name, domain$names)
  if (is.na(at)) {
    stop_argument("prior_optimum", sprintf("a prior of %s", dQuote(name, FALSE)),
                  paste("a prior of inputs:", quoted(domain$names)))
  }
  levels <- input_levels(domain, at)
  if (is.null(names(part))) {
    if (!is.null(levels)) {
      stop_argument("prior_optimum", sprintf("a mean and an sd for %s", name),
                    sprintf("weights of its levels: %s", quoted(levels)))
    }
    return(function(x) ifelse(is.na(x), 0, -((x - part[[1]]) / part[[2]])^2 / 2))
  }
  invalid <- setdiff(names(part), levels)
  if (length(invalid)) {
    allowed <- if (is.null(levels)) "c(mean, sd): it is a number" else paste("weights of its levels:", quoted(levels))
    stop_argument("prior_optimum", sprintf("a weight for %s = %s", name, invalid[1]), allowed)
  }
  weight <- prior_level_weights(part, levels)
  function(x) ifelse(is.na(x), 0, log(weight / max(weight))[match(level_text(x), levels)])
}

prior_level_weights <- function(part, levels) {
  weight <- rep(1, length(levels))
  weight[match(names(part), levels)] <- part
  weight
}

# ---- for a bandit --------------------------------------------------------------------

least_prior_optimum <- log(1e-12)

# A prior with the logarithm of its largest density over the space, and the mode; NULL if the density is constant.
prepared_prior_optimum <- function(prior, domain) {
  if (is.null(prior)) return(NULL)
  prior <- as_prior_optimum(prior)
  density <- log_prior_optimum(prior, domain)
  spread <- density(spread_points(domain, 512))
  if (!any(is.finite(spread))) {
    stop_argument("prior_optimum", "one that is 0 at all of 512 points", "a density over the space")
  }
  if (all(spread == spread[1])) return(NULL)
  floored <- function(points) pmax(density(points), max(spread) - 1e6)
  mode <- maximise_over(domain, floored)
  list(prior = prior, top = max(mode$value, spread), mode = mode$points, density = density)
}

check_prior_optimum_alone <- function(prior, outcomes) {
  if (!is.null(prior) && length(outcomes)) {
    stop_unused("prior_optimum", "it is not supported with several outcomes")
  }
}

# The policy with this prior over the optimum.
with_prior_optimum <- function(policy, found, strength) {
  if (is.null(found)) return(policy)
  policy <- as_part(policy, "bandit_policy", "policy", hint = "policy_ei(), policy_ucb(), ...")
  kind <- trait(policy, "takes_prior")
  if (!kind) {
    stop_argument("policy", trait(policy, "title"), "policy_ei(), policy_ucb() or policy_ts() with `prior_optimum`")
  }
  policy$prior_optimum <- list(of = found$prior, top = found$top,
                        strength = if (trait(policy, "bound") || trait(policy, "draws")) 1 else strength)
  policy
}

check_policy_prior_optimum <- function(prior) {
  fields <- c("of", "top", "strength")
  if (!is.list(prior) || !identical(names(prior), fields)) {
    stop_argument("prior_optimum", describe(prior), "as a search makes it")
  }
  list(of = check_class(prior$of, "bandit_prior", "prior_optimum"), top = check_number(prior$top, "prior_optimum"),
       strength = check_number(prior$strength, "prior_optimum", lower = 0))
}

# The prior in the form that the core expects.
resolve_prior_optimum <- function(prior, config) {
  domain <- config$domain
  d <- length(model_names(domain))
  density <- log_prior_optimum(prior$of, domain)
  list(at = function(inputs) pmax(density(unnumbered(unname(inputs[, seq_len(d), drop = FALSE]))) - prior$top,
                                  least_prior_optimum),
       actions = d, strength = prior$strength)
}

# `count` initial points. Half of them are drawn from the prior, and the first is the mode of the prior. If `first` is
# given, it comes before all others and replaces the point nearest to it.
design_from_prior <- function(domain, count, found, first = NULL, known = NULL) {
  if (count > 0 && is_discrete(domain)) {
    return(distinct_points(domain, spread_from_prior(domain, count, found, first), known, fewer = TRUE))
  }
  spread_from_prior(domain, count, found, first)
}

spread_from_prior <- function(domain, count, found, first = NULL) {
  if (!is.null(first) && count > 0) {
    all <- spread_from_prior(domain, count, found)
    rest <- subset_points(all, -nearest_of_design(domain, all, first))
    return(list(arm = c(first$arm, rest$arm), inputs = rbind(unname(first$inputs), unname(rest$inputs))))
  }
  if (is.null(found) || count < 2) return(design_points(domain, count))
  half <- count %/% 2
  drawn <- if (half > 1) draws_from_prior(domain, half - 1, found) else no_points(domain)
  rest <- design_points(domain, count - half)
  parts <- list(found$mode, drawn, rest)
  list(arm = unlist(lapply(parts, `[[`, "arm")),
       inputs = do.call(rbind, lapply(parts, function(part) unname(part$inputs))))
}

nearest_of_design <- function(domain, points, one) {
  away <- t(unname(points$inputs)) - drop(unname(one$inputs))
  which.min(colSums((away / input_sides(domain))^2))
}

# Draws from the prior. A prior given by its parts is sampled directly on a box. Otherwise uniform points are resampled
# with the density as weight.
draws_from_prior <- function(domain, count, found) {
  points <- sample_points(domain, 4096)
  parts <- found$prior$parts
  if (!is.null(parts) && !can_count(domain)) {
    points <- moved_by_prior(domain, points, parts)
    return(subset_points(points, seq_len(count)))
  }
  weight <- exp(found$density(points) - found$top)
  if (sum(weight > 0) < count) weight <- weight + 1e-12
  subset_points(points, sample.int(length(weight), count, replace = TRUE, prob = weight))
}

# Draws the inputs that the prior names again, within their bounds. A point outside the domain is replaced by the
# nearest point of the domain.
moved_by_prior <- function(domain, points, parts) {
  inputs <- points$inputs
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
      inputs[, at] <- sample(codes, n, replace = TRUE, prob = prior_level_weights(parts[[name]], levels))
    }
  }
  nearest_points(domain, utils::head(inputs, 256))
}

# Draws from a normal distribution truncated to bounds, which may be far from the mean. It uses logarithms of the lower
# tail; if the bounds are above the mean, the signs are reversed.
normal_between <- function(n, mean, sd, bounds) {
  z <- (bounds - mean) / sd
  turned <- sum(z) > 0
  if (turned) z <- -rev(z)
  ends <- stats::pnorm(z, log.p = TRUE)
  u <- stats::runif(n)
  # (If the bounds are so far away that the logarithm is not finite, all draws are at the nearer bound.)
  z <- if (ends[2] == -Inf) rep(z[2], n)
       else stats::qnorm(ends[2] + log(u + (1 - u) * exp(ends[1] - ends[2])), log.p = TRUE)
  clamped(mean + sd * (if (turned) -z else z), bounds[1], bounds[2])
}

register_family("bandit_prior", prior_optimum_entries, tag = "type")
