# Importance of inputs (Sobol indices of the posterior mean). Layer: search.

#' Input importance by Sobol indices
#'
#' `input_importance()` computes Sobol sensitivity indices of the posterior mean, with their uncertainty.
#'
#' The posterior mean is treated as a function of independent inputs, each uniform over its range. Logarithmic inputs
#' are uniform in the logarithm. Over arms and rows, values count by their frequencies. With \eqn{V} the variance of
#' that function, the indices of input \eqn{i} are
#' \deqn{S_i = \frac{V[E(f \mid x_i)]}{V}, \qquad T_i = \frac{E[V(f \mid x_{-i})]}{V}.}{S_i = V[E(f | x_i)] / V, T_i =
#' E[V(f | x_-i)] / V.}
#'
#' * `first`, \eqn{S_i}: the proportion of the variance that the input explains alone.
#' * `total`, \eqn{T_i}: the proportion that remains when all other inputs are known. It includes interactions.
#'
#' The method is Jansen's estimators over pairs of points of a low-discrepancy sequence, in eight blocks. With more than
#' three inputs they are shifted at random. The jackknife over blocks gives the standard error. If an error makes
#' `first` exceed `total`, both are replaced by their average.
#'
#' Proportions of a mixture
#' ([param_shares()]) are not independent. For these, independent exponential variables are varied, in proportion to
#' which the total is divided. This is uniform over the mixtures if no proportion has an upper bound.
#'
#' @param x a result of [maximize_bandit()], or a [GPBandit].
#' @param points number of pairs of points, an integer >= 16; 2048 by default. The function is evaluated
#'   (2 inputs + 2) times for each.
#' @param context a single context, if the bandit has contexts. `NULL`, the default: none.
#' @param draws number of posterior draws for `lower` and `upper`, an integer >= 0; 40 by
#'   default, 0 for none.
#' @section Uncertainty:
#' The posterior mean is only one function that is compatible with the rewards, and smoother than most of them. `lower`
#' and `upper` are the 5% and 95% quantiles of `total` over `draws` functions from the posterior. With several models
#' ([refit_every()]), a model is drawn first. These estimates use 128 pairs of points, corrected by their error for the
#' mean. The interval is about the index of the function itself. It is wider by 1.9 standard errors of the estimator on
#' both sides (1.9 is the 95% quantile of t with 7 degrees of freedom), and need not contain `total`.
#'
#' It is only as good as the model. The function's index was outside of the interval by more than 0.02 for at most 6% of
#' the inputs of four functions of four to six inputs, and for 40% of those of Ishigami's function, of which the mean
#' explained 61% (16 sets of 40 rewards with noise each, `bench/importance.R`). The lower limit of an input without any
#' effect is slightly above 0.
#'
#' The attribute `explained` is the proportion of the function's variance that the mean explains,
#' \deqn{V(\mu) / E V(f).}{V(mu) / E V(f).}
#' If it is below 0.3, the printed table states that the indices are not yet informative. The draws use a fixed seed:
#' the same bandit gives the same table, and R's random number generator is not changed.
#' @return A data.frame of class `bandit_importance` in the inputs' order, with these columns:
#'
#' * `outcome`: with several [outcomes], the name of the outcome; there is a row for each outcome and input.
#' * `input`: the name of the input.
#' * `first`, `total`: the indices, in \eqn{[0, 1]}, with `first <= total`. They are 0 if the posterior mean is
#'   constant, and `NA` before the first reward if rewards are scaled.
#' * `lower`, `upper`: the 90% interval of `total`.
#'
#' `plot()` draws the table. Its attributes are `method`, `draws` and `explained` (a number, or one for each outcome).
#' `lower`, `upper` and
#' `explained` are `NA` without draws. They are also `NA` if functions cannot be drawn: for arms that are not a full
#' grid, pairwise comparisons, and algorithms with several models and their own
#' rule.
#' @section Errors: A kernel that is given as a matrix, or a policy without a posterior, is an error.
#' @section Guarantee: None: the indices are those of the posterior, and depend on the model ([check_model()]).
#' @references Sobol (2001), Global sensitivity indices for nonlinear mathematical models and their Monte Carlo
#'   estimates, Mathematics and Computers in Simulation 55; Jansen (1999) \doi{10.1016/S0010-4655(98)00154-4}; Saltelli
#'   et al. (2010) \doi{10.1016/j.cpc.2009.09.018}; draws: Le Gratiet, Cannamela and Iooss (2014)
#'   \doi{10.1137/130926869}.
#' @seealso [plot.bandit_maximum()] for a picture; [calibration].
#' @concept variable importance
#' @concept sensitivity analysis
#' @concept Sobol indices
#' @examples
#' set.seed(1)
#' found <- maximize_bandit(function(p) -(p$x - 2)^2 + 0.1 * p$y,
#'                          list(x = c(1, 3), y = c(0, 1)), 10)
#' input_importance(found)
#' @export
input_importance <- function(x, points = 2048, context = NULL, draws = 40) {
  if (missing(x)) stop_missing("x", "a bandit, or a result of maximize_bandit()")
  bandit <- if (inherits(x, "bandit_maximum")) check_class(x, "bandit_maximum")$bandit else x
  if (inherits(x, "bandit_maximum") && is.null(context)) context <- context_of(x)
  check_bandit(bandit, "x")
  bandit <- looked_at(bandit)
  points <- check_count(points, lower = 16)
  draws <- check_count(draws, lower = 0, upper = 10000)
  check_has_posterior(bandit)
  if (has_matrix(bandit$config$kernel)) {
    stop_argument("x", "a bandit whose covariance is given as a matrix",
                  "one whose kernel is a function of the inputs")
  }
  kept_answer(bandit, list("importance", points, context, draws), importance_now(bandit, points, context, draws))
}

importance_now <- function(bandit, points, context, draws) {
  config <- bandit$config
  columns <- columns_for_outcomes(config, "mean")
  several <- length(columns) > 1
  names <- if (several) outcome_names(config)
  parts <- lapply(seq_along(columns), function(k) importance_of(bandit, context, k, columns[k], points, draws))
  rows <- lapply(parts, `[[`, "rows")
  if (several) rows <- Map(function(name, one) cbind(outcome = name, one), names, rows)
  method <- sprintf("Sobol indices of the posterior mean, Jansen's estimators, %d pairs of points", as.integer(points))
  found <- do.call(rbind, unname(rows))
  structure(found, method = method, draws = draws,
            explained = stats::setNames(vapply(parts, `[[`, 0, "explained"), names),
            class = c("bandit_importance", "data.frame"))
}

# Inputs in decreasing order of their importance for one outcome.
most_important <- function(importance, outcome) {
  rows <- if (is.null(importance$outcome)) importance else importance[importance$outcome == outcome, ]
  # (A goal depends on all outcomes.)
  if (nrow(rows) == 0) {
    rows <- stats::aggregate(total ~ input, as.data.frame(unclass(importance)[c("input", "total")]), sum)
  }
  rows$input[order(rows$total, decreasing = TRUE)]
}

# If the mean explains less than this proportion of the function's variance, no statement about inputs is made.
least_explained <- 0.3

# The number of pairs of points for a drawn function, and of blocks for that of the mean.
drawn_pairs <- 128
sobol_blocks <- 8

# The rows of outcome `k`, whose posterior means are in `column` of predict(), and the proportion that the mean
# explains.
importance_of <- function(bandit, context, k, column, points, draws) {
  inputs <- bandit$config$domain$names
  d <- length(inputs)
  frame_at <- function(u) frame_of_quantiles(bandit$config$domain, u)
  mean <- function(u) posterior_of(bandit, frame_at(u), context)[[column]]
  indices <- sobol_indices(mean, d, points)
  rows <- data.frame(input = inputs, first = indices$first, total = indices$total, lower = NA_real_, upper = NA_real_)
  if (draws == 0 || anyNA(indices$total)) return(list(rows = rows, explained = NA_real_))
  design <- sobol_design(d, min(points, drawn_pairs))
  drawn <- drawn_functions(bandit, frame_at(do.call(rbind, design)), context, k, draws)
  if (is.null(drawn)) return(list(rows = rows, explained = NA_real_))
  pairs <- nrow(design[[1]])
  each <- lapply(seq_len(draws), function(j) sobol_of_values(matrix(drawn[, j], pairs)))
  total <- matrix(vapply(each, `[[`, numeric(d), "total"), d)
  spread <- function(values) stats::var(as.vector(values[seq_len(2 * pairs)]))
  own_values <- mean(do.call(rbind, design))
  explained <- spread(own_values) / base::mean(apply(drawn, 2, spread))
  # With so few pairs of points the indices of a draw have an error. It is estimated from the error for the mean,
  # multiplied by the proportion that the mean explains.
  off <- min(1, explained) * (sobol_of_values(matrix(own_values, pairs))$total - indices$total)
  limits <- apply(total - or_zero(off), 1, stats::quantile, c(0.05, 0.95), na.rm = TRUE, names = FALSE)
  own <- stats::qt(0.95, sobol_blocks - 1) * indices$se
  rows[c("lower", "upper")] <- list(pmin(pmax(limits[1, ] - own, 0), 1), pmax(pmin(limits[2, ] + own, 1), 0))
  list(rows = rows, explained = explained)
}

frame_of_quantiles <- function(domain, u) {
  columns <- lapply(seq_along(domain$names), function(i) input_quantiles(domain, i, u[, i]))
  spread_shares(domain, cpp_frame(stats::setNames(columns, domain$names)), u)
}

# Functions drawn from an outcome's posterior, in units of the reward: one row per point of a frame, one column per
# draw. NULL if draws are not possible. The draws are the same in every call.
drawn_functions <- function(bandit, frame, context, k, draws) {
  config <- current_config(bandit)
  one <- outcome_config(config, k)
  if (trait(config$policy, "scripted") || of_form(config, "compares") || !is_scale_known(one)) return(NULL)
  rebuild(bandit)
  at <- as_kernel_points(bandit, frame, context)
  counted <- is_tabulated_space(config)
  if (counted && (anyNA(at$arm) || of_form(config, "several") || arm_count(config$domain) > 2000)) return(NULL)
  values <- preserve_rng({
    set.seed(1, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
    if (counted) bandit_draw(bandit, draws, context)[at$arm + 1L, , drop = FALSE]
    else cpp_bandit_drawn_values(bandit$handle, k - 1L, at$points, draws)
  })
  if (counted) values else as_rewards(values, one)
}

# Points of a data.frame in the kernel's form, with their arms' numbers (0-based; NA: no arm).
as_kernel_points <- function(bandit, frame, context) {
  domain <- bandit$config$domain
  points <- asked_points(domain, completed_points(domain, frame[domain$names]), NULL)
  seen <- contexts_of_points(bandit, context, point_total(points))
  list(arm = points$arm, points = kernel_points(domain, points, seen$values))
}

#' @rdname input_importance
#' @param type `"importance"`, the only type of chart.
#' @param ... for methods; not used.
#' @export
print.bandit_importance <- function(x, ...) {
  print.data.frame(x, digits = 3, row.names = FALSE)
  text <- c(if (!any(x$total > 0, na.rm = TRUE)) "The posterior mean is constant: no input matters so far.",
             importance_text(attr(x, "explained")))
  if (length(text)) cat(strwrap(text, width = 0.95 * getOption("width")), sep = "\n")
  invisible(x)
}

# The note on the plot if the importances are not informative.
said_of_shares <- function(explained) if (isTRUE(explained < least_explained)) "nothing can be said yet" else NULL

# A sentence about inputs whose importances are not informative.
importance_text <- function(explained) {
  unsure <- which(!is.na(explained) & explained < least_explained)
  if (!length(unsure)) return(NULL)
  of <- if (is.null(names(explained))) "" else paste0(" about ", names(explained)[unsure])
  sprintf("Importances%s are not informative yet: the posterior mean explains %.0f%% of the function's variance.", of,
          100 * explained[unsure])
}

# Sobol indices of a function of the rows of a matrix of points in the unit cube, with standard errors of `total`. Each
# of a pair of points gets each input of the other. With more than three inputs the sequence alone has regularities,
# which random shifts of its blocks remove. The shifts are the same in every call. The standard errors come from the
# jackknife over blocks, because the variance in the denominator has an error, too.
sobol_indices <- function(f, d, points, blocks = sobol_blocks) {
  pairs <- ceiling(points / blocks)
  block <- rep(seq_len(blocks), each = pairs)
  shifts <- preserve_rng({
    set.seed(1, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
    matrix(stats::runif(2 * d * blocks), blocks)
  })
  u <- (golden_points(pairs * blocks, 2 * d) + if (d > 3) shifts[block, ] else 0) %% 1
  a <- u[, seq_len(d), drop = FALSE]
  b <- u[, d + seq_len(d), drop = FALSE]
  values <- matrix(f(do.call(rbind, c(list(a, b), with_inputs_of(a, b), with_inputs_of(b, a)))), nrow(u))
  at_a <- values[, 1]
  at_b <- values[, 2]
  variance <- stats::var(c(at_a, at_b))
  if (!is_informative(variance, at_a)) return(no_importance(variance, d))
  mixed <- values[, 2 + seq_len(d), drop = FALSE]
  other <- values[, 2 + d + seq_len(d), drop = FALSE]
  first <- 1 - colMeans((at_b - mixed)^2 + (at_a - other)^2) / (4 * variance)
  squares <- (at_a - mixed)^2 + (at_b - other)^2
  total <- colMeans(squares) / (4 * variance)
  without <- matrix(vapply(seq_len(blocks), function(left_out) {
    kept <- block != left_out
    colMeans(squares[kept, , drop = FALSE]) / (4 * stats::var(c(at_a[kept], at_b[kept])))
  }, total), ncol = blocks)
  inside <- function(shares) {
    pmin(pmax(unname(ifelse(first > total, (first + total) / 2, shares)), 0), 1)
  }
  list(first = inside(first), total = inside(total), se = apply(without, 1, stats::sd) * (blocks - 1) / sqrt(blocks))
}

# Is there information, or do the values differ by rounding errors only?
is_informative <- function(variance, values) !is.na(variance) && variance > (1e-10 * max(abs(values)))^2

no_importance <- function(variance, d) {
  none <- rep(if (is.na(variance)) NA_real_ else 0, d)
  list(first = none, total = none, se = none)
}

# Copies of a matrix of points, each with one input from another one.
with_inputs_of <- function(a, b) {
  lapply(seq_len(ncol(a)), function(i) {
    a[, i] <- b[, i]
    a
  })
}

# Matrices of points in the unit cube: a, b, and for each input a copy of a with this input from b.
sobol_design <- function(d, points) {
  u <- golden_points(points, 2 * d)
  a <- u[, seq_len(d), drop = FALSE]
  b <- u[, d + seq_len(d), drop = FALSE]
  c(list(a, b), with_inputs_of(a, b))
}

# `values`: the function values, one column for each of these matrices.
sobol_of_values <- function(values) {
  d <- ncol(values) - 2
  at_a <- values[, 1]
  at_b <- values[, 2]
  variance <- stats::var(c(at_a, at_b))
  if (!is_informative(variance, at_a)) return(no_importance(variance, d))
  mixed <- values[, -(1:2), drop = FALSE]
  inside <- function(shares) pmin(pmax(shares, 0), 1)
  list(first = inside(1 - colMeans((at_b - mixed)^2) / (2 * variance)),
       total = inside(colMeans((at_a - mixed)^2) / (2 * variance)))
}

# The posterior at points of a data.frame, also outside the domain.
posterior_of <- function(bandit, frame, context, level = 0.95) {
  domain <- bandit$config$domain
  bandit_posterior(bandit, completed_points(domain, frame[domain$names]), context, level = level)
}
