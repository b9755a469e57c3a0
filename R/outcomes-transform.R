# Outcome transforms: scaling, clipping and power transforms of rewards. Layer: model.

# An outcome transform maps rewards to the values that the posterior uses. The log stores the untransformed rewards. The
# transform is chosen together with the hyperparameters: at every refit, and before the first refit as soon as rewards
# are observed. A transform is a list of numbers; src/core/events/outcome_transform.h describes them and has the
# arithmetic. Its element `count` is the number of rewards from which the transform was chosen.

#' Output transforms: robust scaling, power transform, logarithm, minimisation
#'
#' `scale_outputs()` centres, scales and optionally transforms the rewards for the model, and sets the direction.
#'
#' It is for `outputs` of [gp_bandit()] and its presets. [maximize_bandit()] and [auto_bandit()] use it automatically,
#' with the `transform` of [gp_model()]. Reported rewards and all results stay in the reward's own units and sign.
#' Kernel, `noise_var` and prior mean then refer to the scaled rewards, whose variance is about 1.
#'
#' @param direction `"maximize"`, the default, or `"minimize"`: are large or small rewards better?
#' @param transform `"auto"`, the default: a power transform if it improves the likelihood. `"none"`: only centred and
#'   scaled. `"power"`: always transformed. `"log"`: as `"auto"`, or a logarithm if that improves the likelihood. With
#'   `centre` and `scale` only `"none"` is possible.
#' @param centre,scale fixed centre \eqn{c}, a number, and scale \eqn{s}, a number > 0, in units of the reward; both or
#'   neither. `NULL`, the default: estimated from the rewards.
#' @return An object of class `bandit_outputs`.
#' @section Transform:
#' A reward \eqn{y} is transformed to
#' \deqn{v = \frac{\tau(\psi_\lambda(z) / b) - m}{d}, \qquad z = \pm\frac{y - c}{s}.}{v = (tau(psi(z) / b) - m) / d, z
#' = (y - c) / s (or its negative for minimisation).}
#'
#' * \eqn{c} is the median of the rewards. \eqn{s} is 1.4826 times their median absolute deviation. If more than half
#'   of the rewards are equal, the 80% quantile of the absolute deviations is used.
#' * \eqn{\psi_\lambda}{psi} is the Yeo-Johnson power transform. \eqn{\lambda \in [0, 2]}{lambda in [0, 2]} maximises
#'   the normal likelihood. Without a power transform, \eqn{\lambda = 1}{lambda = 1}.
#' * \eqn{b} is the spread of \eqn{\psi_\lambda(z)}{psi(z)}, computed in the same way as \eqn{s}.
#' * \eqn{\tau}{tau} smoothly clips low outliers, from 8 rewards on. Values \eqn{r \ge -4}{r >= -4} are unchanged.
#'   Others become \eqn{-6 + 2 e^{(4 + r)/2}}{-6 + 2 exp((4 + r) / 2)}, between -6 and -4. So one very bad experiment
#'   does not compress the scale of the others.
#' * \eqn{m} and \eqn{d} are mean and standard deviation of the result.
#'
#' With fixed `centre` and `scale`, \eqn{v = z}{v = z}, and nothing is estimated.
#'
#' Late in a search most rewards are from points near the optimum. Then scaling by all rewards would shrink the scale.
#' Therefore \eqn{c} and \eqn{s} are also computed from at most \eqn{5(d+1)}{5 (d + 1)} points far apart, for \eqn{d}
#' inputs. Here \eqn{s} is the 80% quantile of the absolute deviations over 1.28. These are used, also for \eqn{m} and
#' \eqn{d}, if their \eqn{s} is more than 1.5 times the other.
#' @section Logarithm:
#' If rewards span orders of magnitude, a power transform does not separate those near the optimum. With `transform =
#' "log"` the alternative is
#' \deqn{v = \frac{-\log(1 + g / s) - m}{d},}{v = (-log(1 + g / s) - m) / d,}
#' where \eqn{g} is the gap to the best reward so far, and \eqn{s} the 25% or 50% quantile of the gaps of
#' points far apart. In the formula above \eqn{c} is then the best reward, and \eqn{\lambda = 2}{lambda = 2}; \eqn{b} is
#' such that nothing is clipped.
#' @section When a transform is used:
#' It needs at least 8 rewards. With `"power"`, the power transform is then always used. Otherwise a transform must
#' increase a log likelihood of the rewards, including the Jacobian: the power transform by 2, the logarithm by 4.
#'
#' * At a refit, this is the marginal likelihood under the model. Each transform has its own hyperparameters, found by
#'   local optimisation from the current ones.
#' * Between the power transform and none, the likelihood of a normal distribution decides before the first refit, if
#'   the model's noise variance is below 1e-4, and with earlier campaigns ([transfer]).
#' * The logarithm is chosen at refits only, and not with several [outcomes] or earlier campaigns. It is not used if the
#'   noise sd near the best reward exceeds \eqn{s / 10}{s / 10} with a posterior probability above 0.05: then the
#'   smallest gaps are mostly noise. With one model, the fitted noise sd must not exceed \eqn{s / 10}{s / 10}.
#'
#' The transform is estimated again at each refit. With fewer than 4 rewards, or without a scale, it is estimated
#' whenever rewards are reported.
#' @section The first rewards:
#' * None: means and sds are `NA`, `$best()` has no row, and `$certificate()` is an error.
#' * One, or several equal ones: there is no scale. Means are that reward, sds are `NA`, and there are no certificates.
#' * Two or three: \eqn{c} is the mean, and \eqn{s} is the range divided by 1.12838 or 1.69257. This is unbiased for
#'   normal rewards. \eqn{m = 0} and \eqn{d = 1}.
#' @section Back-transformed results:
#' `mean` and `sd` are those of the expected reward under the posterior of \eqn{f},
#' \deqn{u(f) = E\,v^{-1}(f + \epsilon),}{u(f) = E v^-1(f + e),}
#' with noise \eqn{\epsilon}{e}. The integral is computed by quadrature, to 1e-5 of the sd, or 1e-7 of \eqn{s} if that
#' is larger. Without a power transform they are the scaled mean and sd. From 8 rewards on, no prediction is worse than
#' the worst reward so far by more than \eqn{6s}.
#'
#' Levels, `xi`, gaps and tolerances are in units of the reward and are converted ([policies], [stopping]). Two
#' quantities are on the scale of the model: confidence widths (the multiplier of the posterior sd), and the values
#' that a [policy_function()] for one outcome receives.
#' @section Errors: `outputs` cannot be combined with `changes`, `constraints` or baselines.
#' @section Guarantee: None if the transform is estimated, because it depends on the same rewards. `$certificate()`
#'   then has no probability, and certificates by posterior draws are conditional on it. With fixed
#'   `centre` and `scale`, the theorems of the confidence width hold, with `B`, `R` and `noise_var` in units of the
#'   scaled rewards.
#' @references Yeo and Johnson (2000) \doi{10.1093/biomet/87.4.954}; Cowen-Rivers et al. (2022)
#'   <https://arxiv.org/abs/2012.03826> (HEBO).
#' @seealso [refit_every()], [auto_bandit()]; [outcomes] for transforms of several outcomes.
#' @concept output transform
#' @concept standardization
#' @concept Yeo-Johnson
#' @concept power transform
#' @concept minimization
#' @concept outliers
#' @examples
#' b <- gp_ei(list(x = c(0, 1)), kernel_matern(2.5, 0.3), noise_var = 1e-4,
#'            outputs = scale_outputs("minimize"))
#' b$add(x = c(0, 0.3, 0.7, 1), reward = 500 + 100 * (c(0, 0.3, 0.7, 1) - 0.4)^2)
#' b$suggest()
#' b$best()
#' # Yields in percent, expected to be about 60 +- 10:
#' scale_outputs(centre = 60, scale = 10)
#' @export
scale_outputs <- function(direction = c("maximize", "minimize"), transform = c("auto", "none", "power", "log"),
                          centre = NULL, scale = NULL) {
  if (!is.null(centre) || !is.null(scale)) {
    if (!missing(transform) && !identical(transform, "none")) {
      stop_argument("transform", describe(transform), "\"none\" if `centre` and `scale` are given")
    }
    transform <- "none"
  }
  new_part("bandit_outputs")
}

outputs_entry <- list(settings = alist(direction = check_choice(direction, c("maximize", "minimize")),
                                       transform = check_choice(transform, c("auto", "none", "power", "log")),
                                       centre = check_centre(centre, scale), scale = check_output_scale(scale, centre)))

# Either both arguments are given, or neither.
check_centre <- function(centre, scale) {
  if (!is.null(centre) || !is.null(scale)) {
    check_number(centre, "centre", lower = -largest_number, upper = largest_number)
  }
}

check_output_scale <- function(scale, centre) {
  if (!is.null(scale) || !is.null(centre)) {
    check_number(scale, "scale", lower = 0, open_lower = TRUE, upper = largest_number)
  }
}

#' @export
print.bandit_outputs <- function(x, ...) {
  check_class(x, "bandit_outputs")
  how <- if (is_fixed(x)) sprintf("centre %g, scale %g", x$centre, x$scale) else paste("transform", x$transform)
  cat(sprintf("<outputs: %s, %s>\n", x$direction, how))
  invisible(x)
}

check_outputs <- function(outputs, config) {
  if (is.null(outputs)) return(NULL)
  check_class(outputs, "bandit_outputs", hint = "scale_outputs()")
  for (rule in c("changes", "constraints")) {
    if (!is.null(config[[rule]])) {
      stop_unused("outputs", sprintf("it is not supported with `%s`", rule))
    }
  }
  outputs
}

# Is the transform given by the user, and therefore not fitted?
is_fixed <- function(outputs) !is.null(outputs$scale)

# The row of the best reward (integer(0) if no reward is observed); then the worst reward (NA in that case).
best_row <- function(reward, config) which.max(output_sign(config) * reward)

worst_reward <- function(reward, config) {
  known <- reward[!is.na(reward)]
  if (length(known) == 0) NA_real_ else if (is_minimising(config)) max(known) else min(known)
}

# ---- choosing a transform ------------------------------------------------------

# From this number of rewards, the transform changes only at refits.
settled_outputs <- 4
# From this number of rewards, the transform may be nonlinear. (With fewer rewards the spread is unreliable: for 60, 62
# and 78 the scaled median absolute deviation is 3, and 78 would be more than 5 of these from the median.)
nonlinear_outputs <- 8
first_tail <- 4
# Predictions are limited to this number of scale units below the worst reward.
room_below_worst <- 6
# The mean range of 2 and of 3 normal variables, in standard deviations.
mean_range <- c(1.128379167095513, 1.692568750643269)

# The transform that is used before any reward is observed.
first_outcome_transform <- function(outputs) {
  sign <- if (outputs$direction == "minimize") -1 else 1
  if (is_fixed(outputs)) new_outcome_transform(outputs$centre, sign * outputs$scale, count = Inf, distinct = 2)
  else new_outcome_transform(0, sign, distinct = 0)
}

# `distinct`: the number of different rewards from which the transform was chosen; 2 means two or more. With 0, neither
# level nor scale of the user's units is available; with 1 there is no scale.
new_outcome_transform <- function(centre, scale, lambda = 1, bulk = 1, tail = Inf, shift = 0, spread = 1, worst = NaN,
                           count = 0, distinct = 2) {
  list(centre = centre, scale = scale, lambda = lambda, bulk = bulk, tail = tail, shift = shift, spread = spread,
       worst = worst, count = count, distinct = distinct)
}

# NULL if rewards are not transformed.
output_map <- function(config) {
  if (is.null(config$outputs) || !is.null(config$output_map)) return(config$output_map)
  first_outcome_transform(config$outputs)
}

# Can the model's values be converted to the user's units?
is_level_known <- function(config) is.null(config$outputs) || output_map(config)$distinct > 0

is_scale_known <- function(config) is.null(config$outputs) || output_map(config)$distinct > 1

is_settled <- function(map) map$count >= settled_outputs && map$distinct > 1

# Is the transform in use fitted to the rewards, rather than given?
has_fitted_map <- function(config) !is.null(config$outputs) && !is_fixed(config$outputs)

# `apart`: the rewards of points that are far apart, see far_apart(). If most other points are close to each other, for
# example near the optimum, only the rewards in `apart` show the range of the function.
# `linear`: is nothing clipped?
fit_outcome_transform <- function(outputs, reward, apart = NULL, linear = FALSE) {
  if (is_fixed(outputs) || length(reward) == 0) return(first_outcome_transform(outputs))
  sign <- if (outputs$direction == "minimize") -1 else 1
  count <- length(reward)
  distinct <- min(2, length(unique(reward)))
  if (count < settled_outputs && distinct > 1) {
    return(new_outcome_transform(mean(reward), sign * diff(range(reward)) / mean_range[count - 1], count = count,
                          distinct = distinct))
  }
  rows <- rows_to_scale_by(reward, apart)
  spread_of <- if (length(rows) < count) covering_spread else robust_spread
  usual <- reward[rows]
  map <- new_outcome_transform(stats::median(usual), sign * spread_of(usual), count = count, distinct = distinct)
  if (distinct < 2) return(map)
  if (count >= nonlinear_outputs && !linear) {
    map$tail <- first_tail
    map$worst <- (if (sign < 0) max(reward) else min(reward)) - room_below_worst * map$scale
  }
  shaped(map, reward, rows, outputs$transform)
}

# A transform whose centre, scale and tail are given, with its power and with what scales the result: with the usual
# rewards, those of `rows`, the values have mean 0 and standard deviation 1.
shaped <- function(map, reward, rows, power) {
  shape <- cpp_outcome_shape(map, as.double(reward), rows, power, least_power_gain, length(rows) < length(reward))
  replace(map, names(shape), shape)
}

# Only the points that are far apart determine the scale if their spread exceeds that of all rewards by this factor.
more_spread <- 1.5

rows_to_scale_by <- function(reward, apart) {
  all <- seq_along(reward)
  if (length(apart) < nonlinear_outputs) return(all)
  if (covering_spread(reward[apart]) > more_spread * stats::mad(reward)) apart else all
}

# The spread of the rewards of points that cover the space. A few of them may be outliers, and many may be near the
# optimum.
covering_spread <- function(reward) {
  stats::quantile(abs(reward - stats::median(reward)), 0.8, names = FALSE) / stats::qnorm(0.9)
}

# Rows of a table of points that cover the others: each is the farthest point from those selected before it (Gonzalez
# 1985). Distances use inputs that are scaled to their ranges. The number of rows is about the number that is needed to
# cover the space.
far_apart <- function(x) {
  x <- apply(x, 2, function(column) {
    range <- diff(range(column, na.rm = TRUE))
    column <- if (is.finite(range) && range > 0) (column - min(column, na.rm = TRUE)) / range else 0 * column
    replace(column, is.na(column), 0.5)
  })
  wanted <- max(nonlinear_outputs, min(5 * (ncol(x) + 1), floor(nrow(x) / 3)))
  rows <- 1L
  distance <- rep(Inf, nrow(x))
  while (length(rows) < min(wanted, nrow(x))) {
    distance <- pmin(distance, colSums((t(x) - x[utils::tail(rows, 1), ])^2))
    rows <- c(rows, which.max(distance))
  }
  rows
}

# The median absolute deviation. If more than half of the rewards are (nearly) equal, a quantile or the mean of the
# deviations is used instead. If all rewards are equal, their absolute value is the only available unit.
# (src/core/events/outcome_shape.cpp computes the same for powers of rewards.)
robust_spread <- function(reward) {
  deviation <- abs(reward - stats::median(reward))
  others <- stats::quantile(deviation, 0.8, names = FALSE)
  usual <- 1.4826 * stats::median(deviation)
  if (usual > 1e-3 * others) return(usual)
  if (others > 0) return(others)
  if (mean(deviation) > 0) return(mean(deviation))
  if (abs(reward[1]) > 0) abs(reward[1]) else 1
}

# The transforms that a refit compares. The first, with which it begins, is of the same kind as the transform in use.
# With `transform = "auto"` there are a power transform and none, with "log" also logarithms (if `logs`). `is_usual`: is
# it the transform that the distribution of the rewards suggests?
maps_to_compare <- function(outputs, reward, apart, current, logs, linear = FALSE) {
  usual <- fit_outcome_transform(outputs, reward, apart, linear)
  is_open <- outputs$transform %in% c("auto", "log") && is.finite(usual$tail)
  if (!is_open) return(list(list(map = usual, is_usual = TRUE)))
  opposite <- replace(outputs, "transform", if (usual$lambda == 1) "power" else "none")
  other <- fit_outcome_transform(opposite, reward, apart)
  logs <- logs && outputs$transform == "log"
  others <- c(if (other$lambda != usual$lambda) list(other), if (logs) log_transforms(usual, reward, apart))
  maps <- c(list(list(map = usual, is_usual = TRUE)), lapply(others, function(map) list(map = map, is_usual = FALSE)))
  first <- Position(function(one) is_of_kind(current, one$map), maps, nomatch = 1)
  c(maps[first], maps[-first])
}

# The shares of the rewards that differ from the best one by less than the scale of a logarithm.
log_levels <- c(0.25, 0.5)

# Transforms to -log(1 + gap / s), with the gap to the best reward, for some scales s. They show differences near the
# optimum although the worst rewards are larger by orders of magnitude. (The gaps of points near each other would give
# scales so small that all other rewards look like noise.)
log_transforms <- function(usual, reward, apart) {
  rows <- if (length(apart) < nonlinear_outputs) seq_along(reward) else apart
  centre <- if (usual$scale < 0) min(reward) else max(reward)
  gaps <- abs(reward[rows] - centre)
  scales <- stats::quantile(gaps[gaps > 0], log_levels, names = FALSE)
  maps <- lapply(unique(scales), function(scale) {
    # (The logarithm itself compresses low outliers: none is clipped.)
    map <- new_outcome_transform(centre, sign(usual$scale) * scale, log_power, tail = first_tail, worst = usual$worst,
                                 count = usual$count)
    shaped(map, reward, rows, "logarithm")
  })
  Filter(function(map) all(is.finite(c(map$scale, map$bulk, map$spread))) && map$bulk > 0, maps)
}

# Under this power, values below the centre are transformed by a logarithm. (Other powers are below it.)
log_power <- 2

map_kind <- function(map) if (map$lambda == 1) "none" else if (map$lambda == log_power) "log" else "power"

# Is there a current transform that may be nonlinear, and is it of the same kind?
is_of_kind <- function(current, map) {
  !is.null(current) && is_settled(current) && is.finite(current$tail) && map_kind(current) == map_kind(map)
}

# A noise sd below a hundredth of the rewards' spread is treated as no noise.
least_comparing_noise <- 1e-4

# With a larger noise sd than this part of its scale, a logarithm is not used. It magnifies the noise most near the
# optimum, where gaps would be mostly noise, and they are gaps to the luckiest reward.
most_log_noise <- 0.1
# The largest posterior probability of such a noise sd. (A few rewards often do not distinguish noise from none.)
most_log_doubt <- 0.05

# Is the map no logarithm, or is its scale large relative to the noise near the best reward, under nearly all models of
# the fit?
is_above_noise <- function(map, fit) {
  if (map_kind(map) != "log") return(TRUE)
  noise_var <- vapply(configs_of_models(fit), `[[`, 0, "noise_var")
  noisy <- sqrt(noise_var) / slope_at_centre(map) > most_log_noise * abs(map$scale)
  weight <- model_weights(fit)
  sum(weight[noisy]) <= most_log_doubt * sum(weight)
}

# The log likelihood of a power transform, and of a logarithm, must exceed that without one by this amount.
least_power_gain <- 2
least_gains <- c(none = 0, power = least_power_gain, log = 2 * least_power_gain)

# ---- forward and backward ---------------------------------------------------------

transform_outputs <- function(map, reward) cpp_map_outputs(map, as.double(reward), FALSE)

# The observed rewards in the model's units, as a list: transformed values (`map` is NULL for no transform), slopes of
# the transform at the rewards, and noise variances, scaled by the squared slopes. A variance is NA if the bandit's
# variance applies; `usual` is that variance. If a reward may lie between two values, the variance of a uniform
# distribution between them is added.
through_map <- function(map, known, usual) {
  value <- function(reward) if (is.null(map)) reward else transform_outputs(map, reward)
  slope <- if (is.null(map)) rep(1, length(known$value)) else cpp_output_slopes(map, known$value)
  out <- list(value = value(known$value), slope = slope, noise_var = known$noise_var * slope^2)
  doubted <- which(!is.na(known$doubted_to))
  out$noise_var[doubted] <- usual + (value(known$doubted_to[doubted]) - out$value[doubted])^2 / 12
  out
}

is_linear_map <- function(map) map$lambda == 1 && is.infinite(map$tail)

# The expected reward if f equals `value`. Under a nonlinear transform the noise changes the expectation.
expected_rewards <- function(map, value, noise_var) output_moments(map, value, numeric(length(value)), noise_var)$mean

# The inverse of expected_rewards(). If no value has this expected reward, the transformed reward is returned.
values_of_expected <- function(map, reward, noise_var) {
  value <- transform_outputs(map, reward)
  if (is_linear_map(map)) return(value)
  vapply(seq_along(reward), function(k) {
    short <- function(at) expected_rewards(map, at, noise_var) - reward[k]
    ends <- value[k] + c(-10, 10) * sqrt(noise_var)
    if (!is_bracket(vapply(ends, short, 0))) return(value[k])
    stats::uniroot(short, ends, tol = 1e-10)$root
  }, 0)
}

is_bracket <- function(at) all(is.finite(at)) && at[1] != at[2] && at[1] * at[2] <= 0

# The slope at the centre of the transform: the change in the model's units for a reward that is larger by 1.
slope_at_centre <- function(map) if (is.null(map)) 1 else 1 / (abs(map$scale) * map$bulk * map$spread)

# The mean and sd of the reward if f is normal, to 1e-5 of that sd (or 1e-7 of the scale).
output_moments <- function(map, mean, sd, noise_var) {
  out <- list(mean = rep(NA_real_, length(mean)), sd = rep(NA_real_, length(mean)))
  known <- is.finite(mean) & is.finite(sd)
  found <- cpp_output_moments(map, as.double(mean[known]), as.double(sd[known]), noise_var)
  for (name in names(out)) out[[name]][known] <- found[[name]]
  out
}

# Converts the model's columns `mean` and `sd` of a data.frame to the user's units. `config`: the current settings.
in_user_units <- function(frame, config) of_form(config, "in_user_units")(frame, config)

without_transform <- function(frame, config) {
  map <- output_map(config)
  if (is.null(map) || length(frame$mean) == 0) return(frame)
  if (map$distinct < 2) {
    frame$mean[] <- if (map$distinct == 1) map$centre else NA_real_
    frame$sd[] <- NA_real_
    return(frame)
  }
  found <- output_moments(map, frame$mean, frame$sd, expected_noise(config))
  known <- !is.na(found$mean)
  for (name in names(found)) frame[[name]][known] <- found[[name]][known]
  frame
}

# The model's noise variance at each reward, in the user's units.
noise_in_user_units <- function(config, reward) {
  if (is.null(config$outputs)) return(rep(expected_noise(config), length(reward)))
  map <- output_map(config)
  if (map$distinct < 2) map <- fit_outcome_transform(config$outputs, reward)
  if (map$distinct < 2) return(rep(0, length(reward)))
  expected_noise(config) / cpp_output_slopes(map, reward)^2
}

# ---- queries and printing -----------------------------------------------------------

values_of_queries <- function(bandit, outcome) {
  get(value_columns(bandit$config)[outcome], envir = bandit$queries)[seq_len(table_size(bandit$queries))]
}

describe_outputs <- function(config) {
  map <- output_map(config)
  direction <- if (map$scale < 0) "minimised" else "maximised"
  if (map$distinct == 0) return(paste0(direction, "; no result is known yet"))
  if (map$distinct == 1) return(sprintf("%s; centre %.4g, the scale is not known yet", direction, map$centre))
  sprintf("%s; centre %.4g, scale %.4g%s%s", direction, map$centre, abs(map$scale),
          if (map$lambda == 1) "" else sprintf(", power %.2f", map$lambda),
          if (is_fixed(config$outputs)) " (given)" else "")
}

# The level of f, and the tolerances below and above it, for a policy whose level and accuracy are in units of the
# reward.
levels_in_model <- function(policy, config) {
  if (!has_response(config)) return(list(level = policy$level, accuracy = rep(policy$accuracy, 2)))
  at <- sort(values_expecting(policy$level + c(-1, 0, 1) * policy$accuracy, config))
  list(level = at[2], accuracy = diff(at))
}

# If rewards are minimised, the core's f is the negative of the reward.
intervals_as_rewards <- function(found, config) {
  found[c("lower", "upper")] <- lapply(found[c("lower", "upper")], as_rewards, config)
  if (is_reflected(config)) found[c("lower", "upper")] <- found[c("upper", "lower")]
  found
}

# Converts values of f to expected rewards.
as_rewards <- function(drawn, config) {
  drawn <- of_form(config, "drawn_as_rewards")(drawn, config)
  if (!is_scale_known(config)) drawn[] <- NA_real_
  else if (!is.null(config$outputs)) drawn[] <- expected_rewards(output_map(config), drawn, expected_noise(config))
  drawn
}

# The values of f at which these rewards are expected: the inverse of as_rewards().
values_expecting <- function(reward, config) {
  if (has_response(config)) {
    value <- trait(config$rewards, "latent")(reward)
    return(if (is_reflected(config)) -value else value)
  }
  map <- output_map(config)
  if (is.null(map)) reward else values_of_expected(map, reward, expected_noise(config))
}

register_family("bandit_outputs", outputs_entry)

register_form("reward", in_user_units = without_transform, drawn_as_rewards = function(drawn, config) drawn)
register_form("response", in_user_units = function(frame, config) in_scale_of_rewards(frame, config),
              drawn_as_rewards = function(drawn, config) {
                drawn[] <- response_of(config)(if (is_reflected(config)) -drawn else drawn)
                drawn
              })
register_form("comparison", drawn_as_rewards = function(drawn, config) drawn)
