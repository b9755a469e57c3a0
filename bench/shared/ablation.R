# Parts of the default search in tables, each left out or replaced by another one, for bench/experiments.R.

# Evaluates `code` while `name` of the package is `f`; if it is a function, its environment becomes the package.
with_replaced <- function(name, f, code) {
  space <- asNamespace("gpbandits")
  old <- get(name, space)
  put <- function(value) {
    unlockBinding(name, space)
    assign(name, value, space)
    lockBinding(name, space)
  }
  on.exit(put(old))
  if (is.function(f)) environment(f) <- space
  put(f)
  code
}

random_design <- function(domain, count) arm_points(domain, sample.int(nrow(domain$x), count) - 1L)

# As many new levels as possible, and otherwise random.
design_over_levels <- function(domain, count) {
  levels <- domain$x[, domain$names %in% names(domain$params), drop = FALSE]
  order <- sample.int(nrow(levels))
  chosen <- order[1]
  used <- matrix(FALSE, nrow(levels), ncol(levels))
  while (length(chosen) < count) {
    used <- used | levels == rep(levels[chosen[length(chosen)], ], each = nrow(levels))
    new <- rowSums(!used)
    new[chosen] <- -1
    chosen <- c(chosen, order[which.max(new[order])])
  }
  arm_points(domain, chosen - 1L)
}

# `making`: what makes the bandit is evaluated with the part replaced. `playing`: the whole search is.
ablations <- list(
  product = list(making = function(code) {
    whole <- get("kernel_with_levels", asNamespace("gpbandits"))
    first <- function(kernel) if (identical(kernel$type, "sum")) first(kernel$parts[[1]]) else kernel
    replaced <- eval(bquote(function(domain, sides, contexts = NULL) .(first)(.(whole)(domain, sides, contexts))))
    with_replaced("kernel_with_levels", replaced, code)
  }),
  random_design = list(playing = function(code) with_replaced("design_points.finite_domain", random_design, code)),
  levels_design = list(playing = function(code) {
    with_replaced("design_points.finite_domain", design_over_levels, code)
  }),
  single = list(model = gp_model(refit = refit_every(2, mean = "fit", growth = 2 / 300))),
  rough = list(making = function(code) with_replaced("default_smoothness_prior", c(1, 1, 1), code)),
  untransformed = list(model = gp_model(transform = "none"))
)
