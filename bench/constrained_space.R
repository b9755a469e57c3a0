# What a choice costs in a search space with known constraints: four spaces, ten chosen points each, the kernel fixed.
#   Rscript bench/constrained_space.R      (gpbandits installed)
# Processor milliseconds for a choice, mean of the last ten. Before the climbs went in lock step: 28, 80, 484, 36;
# before the rules' constants were kept ready 8.5, 40, 12, 10, since then 7.6, 29, 10, 7 (medians of three, in turns, on a busy machine).
library(gpbandits)

spaces <- list(
  "one line" = search_space(a = param_real(0, 1), b = param_real(0, 1), k = param_integer(1, 8), where = ~ a + b <= 1),
  "levels, a condition" = search_space(lr = param_real(1e-4, 1, log = TRUE), depth = param_integer(1, 12),
                                       rule = param_factor(c("gini", "information")), prune = param_logical(),
                                       alpha = param_real(0, 1, when = ~ prune), where = ~ depth <= 6 | prune),
  "a line and a disc" = search_space(a = param_real(0, 1), b = param_real(0, 1), c = param_real(0, 1),
                                     r = param_factor(c("x", "y", "z")), where = list(~ a + b <= 1, ~ a^2 + c^2 <= 0.5)),
  "a function" = search_space(a = param_real(0, 1), b = param_real(0, 1), c = param_real(0, 1),
                              where = function(x) x$a + x$b <= 1)
)

# Numbers as they are, texts by their length, what does not exist as 0.
objective <- function(point) {
  value <- vapply(point, function(v) if (is.character(v)) nchar(v) + 0 else as.double(v), 0)
  value[is.na(value)] <- 0
  sum(sin(3 * value) + value)
}

milliseconds <- function(space) {
  set.seed(2)
  bandit <- auto_bandit(space, model = gp_model(refit = NULL))
  spent <- vapply(1:40, function(t) {
    began <- sum(proc.time()[1:2])
    query <- bandit$suggest()
    ended <- sum(proc.time()[1:2])
    bandit$observe(query$id, objective(as.list(query[space$names])))
    ended - began
  }, 0)
  1000 * mean(utils::tail(spent, 10))
}
print(data.frame(milliseconds = round(vapply(spaces, milliseconds, 0), 1)))
