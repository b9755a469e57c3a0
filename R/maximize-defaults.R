default_kernel <- function(domain) kernel_matern(2.5, lengthscale = default_lengthscales(domain))

default_lengthscales <- function(domain) {
  bounds <- if (is_finite_domain(domain)) apply(domain$x, 2, range)
            else to_model_inputs(domain, rbind(domain$lower, domain$upper))
  range <- bounds[2, ] - bounds[1, ]
  unname(0.4 * sqrt(length(range)) * ifelse(range > 0, range, 1))
}

# With a kernel of the user's the likelihood alone decides.
default_refit <- function(domain, kernel) {
  if (!is.null(kernel)) return(refit_every(5, mean = "fit"))
  at <- kernel_parameters(default_kernel(domain))
  at <- at[grep("lengthscale", names(at))]
  refit_every(5, mean = "fit", priors = lapply(log(at), function(meanlog) c(meanlog = meanlog, sdlog = 1)))
}

# A Latin hypercube in the model's inputs (one point in each of `count` slices of every
# input), or arms without replacement.
initial_design <- function(domain, count) {
  if (is_finite_domain(domain)) {
    rows <- sample.int(nrow(domain$x), count, replace = count > nrow(domain$x))
    return(domain$x[rows, , drop = FALSE])
  }
  bounds <- to_model_inputs(domain, rbind(domain$lower, domain$upper))
  u <- vapply(domain$names, function(name) (sample.int(count) - stats::runif(count)) / count, numeric(count))
  u <- matrix(u, count, length(domain$names))
  x <- rep(bounds[1, ], each = count) + u * rep(bounds[2, ] - bounds[1, ], each = count)
  x <- from_model_inputs(domain, x)
  x <- pmin(pmax(x, rep(domain$lower, each = count)), rep(domain$upper, each = count))
  matrix(x, count, length(domain$names), dimnames = list(NULL, domain$names))
}
