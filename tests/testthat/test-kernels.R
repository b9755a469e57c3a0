# Kernels against the plain-R oracle (helper-reference.R): values, gradients by
# finite differences, random features by their covariance, and bad input.

set.seed(1)
inputs <- matrix(runif(24, -1, 2), 8, 3, dimnames = list(NULL, c("a", "b", "c")))
others <- matrix(runif(15, -1, 2), 5, 3, dimnames = list(NULL, c("a", "b", "c")))
sensors <- crossprod(matrix(rnorm(16), 2, 8))     # rank 2

# package kernel and oracle, side by side
pairs <- list(
  se = list(kernel_se(0.7, 2), ref_kernel_se(0.7, 2)),
  se_ard = list(kernel_se(c(0.5, 1, 2)), ref_kernel_se(c(0.5, 1, 2))),
  se_dims = list(kernel_se(c(0.5, 2), dims = c("c", "a")), ref_kernel_se(c(0.5, 2), dims = c(3, 1))),
  matern12 = list(kernel_matern(0.5, 0.8, 3), ref_kernel_matern(0.5, 0.8, 3)),
  matern32 = list(kernel_matern(1.5, c(1, 2, 3)), ref_kernel_matern(1.5, c(1, 2, 3))),
  matern52 = list(kernel_matern(lengthscale = 0.6), ref_kernel_matern(2.5, 0.6)),
  matern_low = list(kernel_matern(0.3, 1.2), ref_kernel_matern(0.3, 1.2)),
  matern_one = list(kernel_matern(1, 1.2), ref_kernel_matern(1, 1.2)),
  matern_mid = list(kernel_matern(3.7, 0.9, dims = 2:3), ref_kernel_matern(3.7, 0.9, dims = 2:3)),
  matern_high = list(kernel_matern(20, 1.5), ref_kernel_matern(20, 1.5)),
  rq = list(kernel_rq(0.6, 0.7, 2), ref_kernel_rq(0.6, 0.7, 2)),
  rq_ard = list(kernel_rq(3, c(1, 2, 0.5)), ref_kernel_rq(3, c(1, 2, 0.5))),
  periodic = list(kernel_periodic(1.3, 0.9, 2), ref_kernel_periodic(1.3, 0.9, 2)),
  periodic_ard = list(kernel_periodic(c(1, 2, 3), c(0.5, 1, 2)),
                      ref_kernel_periodic(c(1, 2, 3), c(0.5, 1, 2))),
  linear = list(kernel_linear(1.7), ref_kernel_linear(1.7)),
  linear_dims = list(kernel_linear(dims = "b"), ref_kernel_linear(dims = 2)),
  sum = list(kernel_se(0.5) + kernel_linear(0.3) + kernel_rq(1, 2, dims = 1),
             ref_kernel_sum(ref_kernel_sum(ref_kernel_se(0.5), ref_kernel_linear(0.3)),
                            ref_kernel_rq(1, 2, dims = 1))),
  product = list(kernel_linear(2, dims = 1) * kernel_matern(1.5, 0.5) * kernel_periodic(1.3, dims = 2),
                 ref_kernel_product(ref_kernel_product(ref_kernel_linear(2, dims = 1),
                                                       ref_kernel_matern(1.5, 0.5)),
                                    ref_kernel_periodic(1.3, dims = 2))),
  nested = list((kernel_se(0.5, dims = 1) + kernel_linear()) * kernel_matern(2.2, 1.1, dims = c(2, 3)),
                ref_kernel_product(ref_kernel_sum(ref_kernel_se(0.5, dims = 1), ref_kernel_linear()),
                                   ref_kernel_matern(2.2, 1.1, dims = c(2, 3))))
)

resolve <- function(kernel, names = colnames(inputs), arms = NULL) {
  gpbandits:::resolve_kernel(kernel, names, arms)
}

test_that("every kernel equals its formula", {
  for (name in names(pairs)) {
    k <- pairs[[name]][[1]]
    ref <- pairs[[name]][[2]]
    expect_equal(kernel_gram(k, inputs, others), ref(inputs, others), tolerance = tol$identity, info = name)
    expect_equal(kernel_gram(k, inputs), ref(inputs), tolerance = tol$identity, info = name)
    expect_equal(gpbandits:::cpp_kernel_diagonal(resolve(k), inputs), diag(ref(inputs)),
                 tolerance = tol$identity, info = name)
  }
})
