# The baseline bandit OCO with constraints. Layer: algorithms.

# A rule in R (bandit-script.R): it uses no posterior.

#' Bandit online convex optimisation with constraints
#'
#' Online convex optimisation (OCO) follows estimated gradients, without a model, under unknown constraints. It is
#' method `"oco"` of [baseline_constrained()] and serves as a baseline, after Cao and Liu (2018), whose text was not
#' available to us. It is written here as maximisation.
#'
#' The method increases, in \eqn{x}, the regularised Lagrangian
#' \deqn{L(x,\lambda) = f(x) - \lambda'g(x) + \tfrac{\delta\eta}{2}\|\lambda\|^2}{L(x, lambda) = f(x) - lambda'g(x) +
#' (delta eta / 2) |lambda|^2}
#' by gradient steps, and decreases it in the multipliers \eqn{\lambda\ge 0}{lambda >= 0}.
#'
#' A step has two queries, \eqn{x\pm\varepsilon u}{x + eps u and x - eps u}, with \eqn{u} uniform on the sphere. They
#' estimate the gradients of \eqn{f} and of each \eqn{g_j}. For \eqn{h} one of these functions the estimate is
#' \deqn{\hat\nabla h = \frac{d}{2\varepsilon}(h(x+\varepsilon u) - h(x-\varepsilon u))u.}{grad h = (d / (2 eps)) (h(x +
#' eps u) - h(x - eps u)) u.}
#'
#' The step is then
#' \deqn{x\leftarrow\Pi\left(x+\eta(\hat\nabla f-\sum_j\lambda_j\hat\nabla g_j)\right),\quad
#'   \lambda\leftarrow[\lambda+\eta(\hat g-\delta\eta\lambda)]_+.}{x <- P(x + eta (grad f - sum_j lambda_j grad g_j)),
#' lambda <- max(0, lambda + eta (ghat - delta eta lambda)).}
#'
#' \eqn{\Pi}{P} is the projection onto the box shrunk by \eqn{\varepsilon}{eps}. \eqn{\hat g}{ghat} is the mean of the
#' two observed constraint values, because \eqn{g(x)} itself is not observed. The gradients contain the noise unchanged.
#'
#' * The first \eqn{x} is uniformly random in the shrunk box.
#' * On arms, \eqn{x} moves in the box around them, and the arm nearest to \eqn{x\pm\varepsilon u}{x + eps u or x - eps
#'   u} is selected. If the arms are farther apart than \eqn{\varepsilon}{eps}, the gradients are poor.
#' * Logarithmic inputs are moved on the logarithmic scale.
#' * A pair moves \eqn{x} when both its rewards have arrived. Until then further pairs are asked around the same
#'   \eqn{x}.
#' * Data given by `$add()` are kept in the history and not used.
#'
#' @section Guarantee: For convex problems (concave \eqn{f}) regret and violation are sublinear (Cao and Liu 2018). On
#'   other problems it may stay at a stationary point. On arms it has none.
#' @section Methods: Those of [baseline_constrained()], with these differences:
#'
#'   * `$posterior()`, `predict()` and `plot()` are errors, because there is no posterior.
#'   * `$amend()` is an error, because a step cannot be undone.
#'   * A pair is discarded if one of its queries is withdrawn or has failed.
#'   * `$best()` is the current \eqn{x}, or the arm nearest to it.
#'   * In the history, `phase` is `"plus"` or `"minus"`, and `kappa1..` are the multipliers \eqn{\lambda}{lambda}.
#' @references Cao and Liu (2018), Online convex optimization with time-varying constraints and bandit feedback, IEEE
#'   Transactions on Automatic Control 64; as used by Shi and Eryilmaz (2022).
#' @concept online convex optimization
#' @concept zeroth-order optimization
#' @concept constrained optimization
#' @concept primal-dual
#' @seealso [baseline_constrained()], [admmbo].
#' @examples
#' set.seed(1)
#' b <- baseline_constrained("oco", list(u = c(0, 6), v = c(0, 6)), epsilon = 0.1, step = 0.05)
#' run_bandit(b, benchmark_problem("small_feasible", grid = NULL), 60)
#' @name bandit_oco
NULL

oco_bandit <- function(domain, epsilon, step, shrinkage, count, ..., journal = NULL) {
  check_dots_empty(..., allowed = names(formals(oco_bandit)))
  domain <- as_domain(domain)
  shortest <- min(apply(input_ranges(domain), 2, diff))
  if (shortest == 0) stop_argument("domain", "arms that are equal in an input", "arms that differ in every input")
  epsilon <- check_number(epsilon, lower = 0, upper = shortest / 2, open_lower = TRUE, open_upper = TRUE)
  new_script_bandit("bandit_oco", domain, count, journal = journal)
}

propose_oco <- function(bandit) {
  config <- bandit$config
  memory <- oco_catch_up(bandit)
  if (is.null(memory$x)) memory$x <- oco_start(config)
  id <- table_size(bandit$queries) + 1L
  minus <- !is.null(memory$u)
  u <- if (minus) memory$u else on_sphere(length(memory$x))
  if (minus) {
    memory["u"] <- list(NULL)
    memory$pairs[[length(memory$pairs)]]$minus <- id
  } else {
    memory$u <- u
    memory$pairs <- c(memory$pairs, list(list(u = u, x = memory$x, plus = id)))
  }
  centre <- memory$pairs[[length(memory$pairs)]]$x
  list(point = nearest_to(config$domain, centre + (if (minus) -1 else 1) * config$epsilon * u),
       memory = memory, phase = if (minus) "minus" else "plus", kappa = memory$lambda)
}

# Pairs whose two rewards have arrived update x and lambda, in the order of their queries. A pair is discarded if one of
# its rewards will never arrive. If its second query was not made yet, a new pair begins.
oco_catch_up <- function(bandit) {
  memory <- bandit$memory
  status <- lapply(memory$pairs, function(pair) status_of(bandit, c(pair$plus, pair$minus)))
  void <- vapply(status, function(of) any(of %in% c("withdrawn", "failed")), NA)
  done <- vapply(status, function(of) length(of) == 2 && all(of == "observed"), NA)
  if (length(void) && utils::tail(void, 1)) memory["u"] <- list(NULL)
  for (pair in memory$pairs[done]) memory <- oco_step(bandit, memory, pair)
  memory$pairs <- memory$pairs[!done & !void]
  memory
}

oco_step <- function(bandit, memory, pair) {
  config <- bandit$config
  at <- c(pair$plus, pair$minus)
  g <- vapply(constraint_names(config, "g"), function(name) get(name, envir = bandit$queries)[at], numeric(2))
  slope <- length(pair$u) / (2 * config$epsilon)
  difference <- -diff(bandit$queries$reward[at]) - sum(memory$lambda * -(g[2, ] - g[1, ]))
  memory$x <- in_shrunk_box(config, memory$x + config$step * slope * difference * pair$u)
  memory$lambda <- pmax(memory$lambda + config$step * (colMeans(g) - config$shrinkage * config$step * memory$lambda), 0)
  memory$lambda <- unname(memory$lambda)
  memory
}

shrunk_box <- function(config) input_ranges(config$domain) + c(1, -1) * config$epsilon

in_shrunk_box <- function(config, x) {
  bounds <- shrunk_box(config)
  pmin(pmax(x, bounds[1, ]), bounds[2, ])
}

oco_start <- function(config) {
  bounds <- unname(shrunk_box(config))
  bounds[1, ] + stats::runif(ncol(bounds)) * (bounds[2, ] - bounds[1, ])
}

on_sphere <- function(d) {
  z <- stats::rnorm(d)
  z / sqrt(sum(z^2))
}

nearest_to <- function(domain, x) nearest_points(domain, matrix(x, 1))

recommend_oco <- function(bandit) {
  x <- oco_catch_up(bandit)$x
  if (is.null(x)) x <- colMeans(input_ranges(bandit$config$domain))
  nearest_to(bandit$config$domain, x)
}

register_script("bandit_oco", list(
  title = "bandit OCO with constraints",
  settings = alist(epsilon = check_number(epsilon, lower = 0, open_lower = TRUE),
                   step = check_number(step, lower = 0, open_lower = TRUE),
                   shrinkage = check_number(shrinkage, lower = 0)),
  phases = function(count) c("plus", "minus"),
  state = function(config) list(x = NULL, lambda = numeric(config$constraints$count), u = NULL, pairs = list()),
  suggest = function(bandit, context) propose_oco(bandit),
  recommend = function(bandit, context) recommend_oco(bandit),
  amends = "bandit OCO has already used this reward for a step, which cannot be undone"
))
