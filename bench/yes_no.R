# Limits of which only yes or no is observed: the likelihood of yes and no, which a search chooses (`automatic`) or
# which is `declared` by `rewards = rewards_binary()`, beside a Gaussian model of 0 and 1.
#
#   Rscript bench/yes_no.R [problems=gramacy,disc,slopes,success] [seeds=1:20] [evaluations=40] [initial=10] out=FILE
#   Rscript bench/yes_no.R report=TRUE out=FILE       a table in Markdown
#
# `gramacy`: the first limit of Gramacy et al. (2016), Modeling an augmented Lagrangian for blackbox constrained
# optimization, in two inputs. `disc`: two separate discs are allowed. `slopes`: five inputs, of which one must be the
# largest (two linear limits). In these three a point is allowed or not. `success`: results are random, and allowed is
# where their probability is at least 0.8. All searches of a seed begin with the same points. `regret` is the best value
# of all allowed points less the true value of the recommended point, NA if that is not allowed.
library(gpbandits)
source("bench/shared/script.R")
args <- arguments(problems = "gramacy,disc,slopes,success", seeds = "1:20", evaluations = "40", initial = "10",
                  out = "", report = "FALSE")

square <- list(x = c(0, 1), y = c(0, 1))
problems <- list(
  gramacy = list(domain = square, limit = 0.5, value = function(p) -p$x - p$y,
                 probability = function(p) 1.5 - p$x - 2 * p$y - sin(2 * pi * (p$x^2 - 2 * p$y)) / 2 <= 0),
  disc = list(domain = square, limit = 0.5, value = function(p) sin(5 * p$x) + p$y,
              probability = function(p) pmin((p$x - 0.25)^2 + (p$y - 0.3)^2, (p$x - 0.75)^2 + (p$y - 0.7)^2) <= 0.04),
  slopes = list(domain = list(u = c(2, 18.33), v = c(2, 18.33), a = c(2, 27.42), b = c(2, 18.28), c = c(2, 27.42)),
                limit = 0.5, best = -1 / 15, value = function(p) -abs(p$u - 10) / 10 - p$c / 30,
                probability = function(p) p$c > p$b & p$c > p$a),
  success = list(domain = square, limit = 0.8, value = function(p) p$x + 0.5 * p$y,
                 probability = function(p) stats::plogis(8 - 10 * (p$x^2 + p$y^2)))
)

# (In five inputs by hand: all random points are far from the best one.)
set.seed(1)
best <- vapply(problems, function(problem) {
  if (!is.null(problem$best)) return(problem$best)
  points <- lapply(problem$domain, function(range) stats::runif(1e6, range[1], range[2]))
  max(problem$value(points)[problem$probability(points) >= problem$limit])
}, 0)

play <- function(name, method, seed) {
  problem <- problems[[name]]
  # (An outcome with its own transform stays a number.)
  limit <- switch(method, gaussian = at_least(problem$limit, transform = "auto"), automatic = at_least(problem$limit),
                  declared = at_least(problem$limit, rewards = rewards_binary()))
  result <- function(p) {
    ok <- problem$probability(p)
    c(value = problem$value(p), ok = if (is.logical(ok)) as.numeric(ok) else stats::rbinom(1, 1, ok))
  }
  set.seed(seed)
  found <- NULL
  spent <- seconds(function() {
    found <<- suppressWarnings(maximize_bandit(result, problem$domain, as.integer(args$evaluations),
                                               n_initial = as.integer(args$initial),
                                               outcomes = list(value = to_maximize(), ok = limit)))
  })
  allowed <- problem$probability(found$par) >= problem$limit
  h <- found$history
  truly <- problem$probability(h) >= problem$limit
  data.frame(problem = name, method = method, seed = seed, allowed = allowed,
             regret = if (allowed) best[[name]] - problem$value(found$par) else NA_real_,
             evaluated = best[[name]] - max(problem$value(h)[truly], -Inf), tried = mean(truly),
             said = found$feasible, seconds = round(spent, 1))
}

# `evaluated`: the regret of the best allowed point that was evaluated. `tried`: the share of allowed evaluations.
report <- function(rows) {
  line(c("problem", "model of the limit", "searches", "recommended and allowed", "regret: median", "mean rank",
         "best evaluated: median", "allowed evaluations", "seconds"))
  line(c("---", "---", rep("---:", 7)))
  for (name in unique(rows$problem)) {
    here <- rows[rows$problem == name, ]
    here$regret[is.na(here$regret)] <- Inf
    here$rank <- stats::ave(here$regret, here$seed, FUN = rank)
    for (method in unique(here$method)) {
      at <- here[here$method == method, ]
      short <- function(x) format(signif(stats::median(x), 2))
      line(c(name, method, nrow(at), sum(at$allowed), short(at$regret), sprintf("%.1f", mean(at$rank)),
             short(at$evaluated), sprintf("%.2f", mean(at$tried)), sprintf("%.1f", mean(at$seconds))))
    }
  }
}

if (args$report == "TRUE") {
  report(utils::read.csv(args$out))
} else {
  done <- searches_done(args$out, c("problem", "method", "seed"))
  methods <- c("gaussian", "automatic", "declared")
  for (seed in numbers(args$seeds)) for (name in words(args$problems)) for (method in methods) {
    if (!is_done(done, data.frame(problem = name, method, seed))) keep_rows(play(name, method, seed), args$out)
  }
}
