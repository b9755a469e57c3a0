# Sample sizes of designs that do not depend on rewards. Layer: algorithms.

# If the choice of points does not depend on rewards, the posterior's sds can be computed in advance.

#' Sample size planning: how many experiments suffice
#'
#' `plan_experiments()` computes, before any result, how many experiments suffice to come within `tolerance` of the
#' maximum. It returns their points, for every function of RKHS norm at most `B`. To plan one experiment after the
#' other, from the results so far, use [auto_bandit()].
#'
#' The design selects repeatedly the point with the largest posterior standard deviation, which needs no rewards. It
#' stops at the first \eqn{N} with
#' \deqn{2w\max_x\sigma_N(x) \le \mathtt{tolerance},}{2 w max sd_N <= tolerance,}
#' where the confidence width \eqn{w} (the multiplier of the standard deviation) is that of [width_fixed()]. Make these
#' \eqn{N} experiments, in any order. Then use the point with the largest posterior mean.
#'
#' @section Sharper intervals: `intervals = "multiple"` (default) is the multiple of the standard deviation above. The
#'   others have half-widths
#'   \deqn{h(x) = B\sqrt{\sigma_N^2(x) - \lambda|z(x)|^2} + Rq|z(x)|,}{h(x) = B sqrt(sd_N(x)^2 - lambda |z(x)|^2) + R q
#'   |z(x)|,}
#'   with \eqn{z(x) = (K+\lambda I)^{-1}k(x)}{z(x) = (K + lambda I)^-1 k(x)}. \eqn{N} is then the least number found by
#'   bisection with \eqn{2\max_x h(x)\le}{2 max h(x) <=} `tolerance`. With \eqn{n} points and \eqn{l} = `looks`, \eqn{q}
#'   is:
#'
#'   * `"exact"`, for \eqn{R}-sub-Gaussian noise: \eqn{q = \sqrt{2\log(2nl/\delta)}}{q = sqrt(2 log(2 n l / delta))}. It
#'     is never wider than the multiple.
#'   * `"gaussian"`, for normal noise with standard deviation at most \eqn{R}:
#'     \eqn{q = \Phi^{-1}(1-\delta/(2nl))}{q = qnorm(1 - delta / (2 n l))}.
#'   * `"simulated"`, for the same noise: the value of rank
#'     \eqn{\lceil(1-\delta/l)(M+1)\rceil}{ceiling((1 - delta / l) (M + 1))} among \eqn{M} draws of
#'     \eqn{\max_x|z(x)^T\epsilon|/|z(x)|}{max |z(x)' eps| / |z(x)|}, with standard normal \eqn{\epsilon}{eps}. \eqn{M}
#'     is 1999 or \eqn{20l/\delta}{20 l / delta}, whichever is larger. The draws do not change R's random number stream.
#'
#' @section Boxes: On a box the points are the centres of a grid of cells, as coarse as `cover` allows. Within a cell
#'   \eqn{f} changes by at most \eqn{Bd}{B d}, with
#'   \deqn{d^2 = 2(k(x,x) - k(x,x+h)),}{d^2 = 2 (k(x, x) - k(x, x + h)),}
#'   where \eqn{h} is half of a cell's sides. This part of the tolerance, at most `cover * tolerance`, is reserved for
#'   points between the centres.
#'
#' @section Guarantee: With probability \eqn{1-\delta}{1 - delta}, the regret of the point with the largest posterior
#'   mean (among the points, with all \eqn{N} rewards) is at most `tolerance`. Assumptions:
#'
#'   * the RKHS norm of \eqn{f} (minus the prior mean) is at most `B`, and the noise is `R`-sub-Gaussian (for
#'     `"gaussian"` and `"simulated"`: normal);
#'   * the kernel is fixed, and the points played do not depend on rewards;
#'   * the intervals are evaluated once, or `looks` times at rounds that are fixed in advance. [stop_gap()] with `at`
#'     may then stop earlier.
#'
#'   Original result, not peer-reviewed, after Vakili et al. (2021); so are the sharper intervals. The error at \eqn{x}
#'   is a bias of at most \eqn{B\sqrt{\sigma^2-\lambda|z|^2}}{B sqrt(sd^2 - lambda |z|^2)} plus the noise
#'   \eqn{z(x)^T\epsilon}{z(x)' eps}. The guarantee of `"simulated"` includes the randomness of its draws. With `drift`
#'   the experiments must be made in uniformly random order. The guarantee is then about the mean of \eqn{f} over them,
#'   see [width_fixed()].
#' @param domain,kernel,noise_var as in [gp_bandit()]: arms, or a box. On a box the kernel must be stationary and
#'   decrease with the distance in every input.
#' @param tolerance acceptable regret, a number > 0 in units of the reward.
#' @param B,R,delta,looks,drift as in [width_fixed()].
#' @param intervals form of the intervals: `"multiple"` (default), `"exact"`, `"gaussian"` or `"simulated"`. The last
#'   two do not work with `drift`.
#' @param cover on a box, the proportion of the tolerance that may be lost between the points, in (0, 1), by default
#'   0.1.
#' @param most largest number of experiments to try, an integer up to 1e6, by default 1e4.
#' @param ... must be empty.
#' @return An object of class `bandit_plan`, a list:
#'
#'   * `experiments`: the number \eqn{N}.
#'   * `design`: a data.frame of the points in the order of selection, for `gp_bandit(initial_design = )`.
#'   * `width`: the confidence width \eqn{w}.
#'   * `sd`: the largest remaining standard deviation.
#'   * `tolerance`: as given.
#'   * `points`: the number of points of the domain or grid.
#'   * `between`: the part of the tolerance for points between the centres, 0 over arms.
#'   * `probability`: \eqn{1-\delta}{1 - delta}.
#'   * `intervals`: as given.
#'   * `half_width`: \eqn{h} of the posterior mean after the design, one per point.
#' @section Errors: If `most` experiments do not suffice, increase `tolerance` or `most`.
#' @references Vakili, Bouziani, Jalali, Bernacchia and Shiu (2021), Optimal order simple regret for Gaussian process
#'   bandits.
#' @seealso [regret_bound()] (`"mvr"`), [policy_variance()].
#' @concept sample size
#' @concept experimental design
#' @concept simple regret
#' @examples
#' x <- seq(0, 1, length.out = 60)
#' plan <- plan_experiments(x, kernel_se(0.2), noise_var = 0.01, tolerance = 0.3, B = 1, R = 0.1)
#' plan
#' b <- gp_bandit(x, kernel_se(0.2), noise_var = 0.01, policy_variance(),
#'                initial_design = plan$design["x1"])
#' set.seed(1)
#' problem <- bandit_problem(x, exp(-(x - 0.3)^2 / 0.08), noise = 0.1)
#' run <- run_bandit(b, problem, plan$experiments)
#' b$best()
#' @export
plan_experiments <- function(domain, kernel, noise_var, tolerance, B, R, delta = 0.1, looks = 1, ..., drift = 0,
                             intervals = c("multiple", "exact", "gaussian", "simulated"), cover = 0.1, most = 1e4) {
  if (missing(tolerance)) {
    stop_missing("tolerance", "the largest error of the result, a number > 0. It determines the number of experiments",
                 "`auto_bandit(domain, n_initial = 8)$suggest(8)` to plan eight points")
  }
  check_dots_empty(..., allowed = names(formals(plan_experiments)))
  domain <- as_domain(domain)
  tolerance <- check_tolerance(tolerance)
  width <- width_fixed(B, R, delta, looks, drift)
  intervals <- check_choice(intervals, names(noise_quantiles))
  if (width$drift > 0 && intervals %in% c("gaussian", "simulated")) {
    stop_argument("intervals", dQuote(intervals, FALSE),
                  "\"multiple\" or \"exact\" with `drift`, which is not normal noise")
  }
  most <- check_count(most, upper = 1e6)
  cover <- check_number(cover, lower = 0, upper = 1, open_lower = TRUE, open_upper = TRUE)
  noise_var <- check_positive(noise_var)
  kernel <- as_kernel(kernel)
  grid <- if (can_count(domain)) list(domain = domain, between = 0)
          else cover_of_box(domain, kernel, width$B, cover * tolerance)
  bandit <- gp_bandit(grid$domain, kernel, noise_var, policy_variance(), pending = pending_hallucinate())
  w <- fixed_multiplier(width$B, noise_with_drift(width$R, width$drift), noise_var, arm_count(grid$domain), width$delta,
                        width$looks)
  needed <- (tolerance - grid$between) / (2 * w)
  repeat {
    sd <- variance_reduced(bandit, most)
    enough <- which(sd <= needed)
    if (length(enough) || length(sd) > most) break
  }
  if (!length(enough)) {
    stop_argument("tolerance", describe(tolerance), sprintf(
      "larger (or `most`): after %d experiments the regret may still be %.3g", as.integer(most),
      2 * w * sd[most + 1] + grid$between
    ))
  }
  experiments <- enough[1] - 1
  arms <- table_column(as.environment(bandit)$queries, "arm")
  half <- function(count) half_widths(intervals, grid$domain, kernel, noise_var, arms[seq_len(count)] + 1L, width, w)
  if (intervals != "multiple") {
    experiments <- least_passing(experiments, function(count) 2 * max(half(count)) + grid$between <= tolerance)
  }
  design <- bandit$history()[seq_len(experiments), ]
  structure(list(experiments = experiments, design = design[intersect(c("arm", grid$domain$names), names(design))],
                 width = w, sd = sd[experiments + 1], tolerance = tolerance, points = arm_count(grid$domain),
                 between = grid$between, probability = 1 - width$delta, intervals = intervals,
                 half_width = half(experiments)), class = "bandit_plan")
}

# By bisection, a count that passes while the one before it does not. `most` is not tested: it is the default.
least_passing <- function(most, passes) {
  least <- -1
  while (most - least > 1) {
    middle <- (most + least) %/% 2
    if (passes(middle)) most <- middle else least <- middle
  }
  most
}

# Quantiles: |z'eps| exceeds this number of its sds at none of the points, except with probability `failure`, the error
# probability of one interim analysis. eps is R-sub-Gaussian noise ("exact") or normal noise.
# `z`: a column per point; `times`: how often the point of each row was played.
noise_quantiles <- list(
  multiple = NULL,
  exact = function(z, times, failure) sqrt(2 * log(2 * ncol(z) / failure)),
  gaussian = function(z, times, failure) stats::qnorm(failure / (2 * ncol(z)), lower.tail = FALSE),
  simulated = function(z, times, failure) {
    draws <- max(1999, ceiling(20 / failure))
    shares <- z / sqrt(times)
    length <- sqrt(colSums(shares^2))
    shares <- sweep(shares[, length > 0, drop = FALSE], 2, length[length > 0], "/")
    if (length(shares) == 0) return(0)
    largest <- on_a_side_stream(unlist(lapply(split(seq_len(draws), (seq_len(draws) - 1) %/% 200), function(part) {
      apply(abs(crossprod(matrix(stats::rnorm(length(part) * nrow(z)), nrow(z)), shares)), 1, max)
    })))
    sort(largest)[ceiling((1 - failure) * (draws + 1))]
  }
)

# Half-widths at all arms after the plays `arms` (numbers of arms). The mean of m rewards at a point has noise variance
# lambda / m.
half_widths <- function(intervals, domain, kernel, noise_var, arms, width, w) {
  model <- gp_bandit(domain, kernel, noise_var, policy_variance())
  if (length(arms)) model$add(arm = arms, reward = rep(0, length(arms)))
  sd <- model$posterior()$sd
  if (intervals == "multiple") return(w * sd)
  if (!length(arms)) return(width$B * sd)
  played <- sort(unique(arms))
  times <- tabulate(match(arms, played), length(played))
  at <- information_points(kernel, domain)
  K <- cpp_kernel_gram(at$kernel, at$points[played, , drop = FALSE], at$points)
  z <- solve(K[, played, drop = FALSE] + diag(noise_var / times, length(played)), K)
  squared <- colSums(z^2 / times)
  noise <- noise_with_drift(width$R, width$drift)
  q <- noise_quantiles[[intervals]](z, times, width$delta / width$looks)
  width$B * sqrt(pmax(0, sd^2 - noise_var * squared)) + noise * q * sqrt(squared)
}

# Adds experiments to the design. Returns the largest sd before each one, up to experiment `most` + 1.
variance_reduced <- function(bandit, most) {
  inside <- as.environment(bandit)
  rounds <- table_size(inside$queries)
  ask(inside, contexts_for(inside, NULL, min(most + 1 - rounds, max(16, rounds))), NA_real_)
  table_column(inside$queries, "sd")
}

# The coarsest grid of cell centres such that f differs from its value at the nearest centre by at most `loss`.
cover_of_box <- function(domain, kernel, B, loss) {
  if (!is_plain_box(domain)) {
    stop_argument("domain", describe_domain(domain), "arms, or a box of real inputs on their own scale")
  }
  if (!falls_with_distance(kernel)) {
    stop_argument("kernel", sprintf("a kernel of type %s on a box", kernel$type),
                  "kernel_se(), kernel_matern(), kernel_rq(), sums and products of them")
  }
  ends <- input_ranges(domain)
  side <- ends[2, ] - ends[1, ]
  between <- function(m) {
    gram <- kernel_gram(kernel, `colnames<-`(rbind(ends[1, ], ends[1, ] + side / (2 * m)), domain$names))
    B * sqrt(max(0, gram[1, 1] + gram[2, 2] - 2 * gram[1, 2]))
  }
  m <- 1
  while (between(m) > loss) {
    m <- m + max(1, floor(m / 20))
    if (m^length(side) > largest_cover) {
      stop_argument("cover", sprintf("so small that more than %d points are needed", as.integer(largest_cover)),
                    "larger; a larger `tolerance` also helps")
    }
  }
  axes <- lapply(seq_along(side), function(j) ends[1, j] + side[j] * (seq_len(m) - 0.5) / m)
  points <- as.matrix(expand.grid(stats::setNames(axes, domain$names), KEEP.OUT.ATTRS = FALSE))
  list(domain = finite_domain(points), between = between(m))
}

largest_cover <- 2e4

falls_with_distance <- function(kernel) {
  if (is_composite(kernel)) all(vapply(kernel$parts, falls_with_distance, NA)) else trait(kernel, "falls")
}

#' @export
print.bandit_plan <- function(x, ...) {
  check_class(x, "bandit_plan")
  cat(sprintf("%d experiments suffice for a regret of at most %g, with probability %g\n", as.integer(x$experiments),
              x$tolerance, x$probability))
  cat(sprintf("  at %d of %d points%s; width %.4g, largest sd left %.4g\n",
              nrow(unique(x$design)), x$points,
              if (x$between > 0) sprintf(" that cover the box (%.3g between them)",
                                         x$between) else "", x$width, x$sd))
  if (x$intervals != "multiple") {
    cat(sprintf("  %s intervals, half-widths up to %.4g\n", x$intervals, max(x$half_width)))
  }
  invisible(x)
}

plan_entry <- list(settings = alist(
  experiments = check_count(experiments, lower = 0), design = check_data_frame(design), width = check_number(width),
  sd = check_number(sd), tolerance = check_number(tolerance), points = check_count(points),
  between = check_number(between), probability = check_number(probability),
  intervals = check_choice(intervals, names(noise_quantiles)),
  half_width = if (!is.numeric(half_width) || !length(half_width)) {
    stop_argument("half_width", describe(half_width), "numbers")
  }
))

register_family("bandit_plan", plan_entry, open = TRUE)
