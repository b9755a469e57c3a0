default_kernel <- function(domain) kernel_matern(2.5, lengthscale = default_lengthscales(domain))

default_lengthscales <- function(domain) {
  bounds <- input_ranges(domain)
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

# Points to evaluate first, a column per input.
initial_design <- function(domain, count) {
  x <- from_model_inputs(domain, design_places(domain, count)$inputs)
  matrix(x, count, length(domain$names), dimnames = list(NULL, domain$names))
}
