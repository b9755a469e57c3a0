// Functions of varying_noise.h: the penalised likelihood of measurements with heteroscedastic noise. Uses linalg/.
#include "fitting/varying_noise.h"

#include "linalg/decompositions.h"
#include "linalg/products.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

// Computes A^-1 and log det A.
MatrixXd inverse_of(const MatrixXd& A, double floor, double& log_det) {
  const FlooredCholesky factor(A, floor);
  log_det = factor.log_det();
  const MatrixXd half = factor.inverse_transposed();
  return tcrossprod(half, half);
}

}  // namespace

VaryingEvidence::VaryingEvidence(const Kernel& kernel, const Kernel& noise_kernel, Index variance,
                                 PointMeasurements measurements, bool fit_mean)
    : kernel_(kernel.clone()), noise_kernel_(noise_kernel.clone()), variance_(variance),
      measurements_(std::move(measurements)), fit_mean_(fit_mean) {}

// Let S = (C_g + g/a)^-1 and q = S (Delta - n), with n the least-squares level of Delta. Log noise is n + C_g q. The
// log likelihood of the measurements is, with K = C + lambda/a,
//   -(y'K^-1 y + sum s_i/lambda_i + log det K + sum ((a_i - 1) log lambda_i + log a_i) + N log 2pi) / 2.
// The penalty is, with nu = (Delta - n)'q / n_p,
//   -(n_p (log(2pi nu) + 1) + log det S^-1) / 2,
// or 0 if that is positive.
void VaryingEvidence::factorise(const VectorXd& parameters, bool want_gradient) {
  ++evaluations_;
  const Index n = measurements_.X.rows(), kernels = kernel_->parameter_count();
  const double points = static_cast<double>(n), total = measurements_.count.sum();
  const VectorXd ones = VectorXd::Ones(n), inverse_count = over(ones, measurements_.count);
  kernel_->set_log_parameters(segment_of(parameters, 0, kernels));
  VectorXd noise_parameters(kernels);
  for (Index p = 0; p < kernels; ++p) noise_parameters[p] = parameters[p] + parameters[kernels];
  noise_parameters[variance_] = 0.0;
  noise_kernel_->set_log_parameters(noise_parameters);
  const double nugget = std::exp(parameters[kernels + 1]);
  const VectorXd latent = segment_of(parameters, kernels + 2, n);

  const MatrixXd Cg = noise_kernel_->gram(measurements_.X);
  MatrixXd A = Cg;
  add_to_diagonal(A, nugget * inverse_count);
  double log_det_noise = 0.0;
  const MatrixXd S = inverse_of(A, nugget * inverse_count.minCoeff(), log_det_noise);
  const VectorXd s1 = multiply(S, ones);
  const double precision = s1.sum();
  found_.level = s1.dot(latent) / precision;
  const VectorXd q = multiply(S, latent - found_.level * ones);
  found_.weights = q;
  found_.log_noise = multiply(Cg, q) + found_.level * ones;
  const VectorXd noise = found_.log_noise.array().exp();

  MatrixXd K = kernel_->gram(measurements_.X);
  const VectorXd pooled = times(noise, inverse_count);
  add_to_diagonal(K, pooled);
  double log_det = 0.0;
  const MatrixXd inverse = inverse_of(K, pooled.minCoeff(), log_det);
  found_.mean = 0.0;
  if (fit_mean_) {
    const VectorXd by_one = multiply(inverse, ones);
    found_.mean = by_one.dot(measurements_.average) / by_one.sum();
  }
  const VectorXd y = measurements_.average - found_.mean * ones;
  const VectorXd alpha = multiply(inverse, y);
  found_.likelihood =
      -0.5 * (y.dot(alpha) + over(measurements_.spread, noise).sum() + log_det +
              ((measurements_.count.array() - 1.0) * found_.log_noise.array() +
               measurements_.count.array().log()).sum() +
              total * kLog2Pi);
  const double scale = (latent - found_.level * ones).dot(q) / points;
  const double penalty = -0.5 * (points * (std::log(std::max(scale, 1e-300)) + kLog2Pi + 1.0) + log_det_noise);
  const bool penalised = penalty < 0.0;
  value_ = found_.likelihood + (penalised ? penalty : 0.0);
  if (!want_gradient) return;

  // The derivative by log noise; then by its parameters, dlog noise = dn + C_g dq + dC_g q.
  VectorXd h(n);
  for (Index i = 0; i < n; ++i) {
    h[i] = 0.5 * ((alpha[i] * alpha[i] - inverse(i, i)) * pooled[i] + measurements_.spread[i] / noise[i] -
                  (measurements_.count[i] - 1.0));
  }
  const VectorXd pulled = multiply(S, multiply(Cg, h));
  const VectorXd share = s1 / precision;
  const double kappa = h.sum() - pulled.sum();
  gradient_ = VectorXd::Zero(parameters.size());
  MatrixXd M = tcrossprod(MatrixXd(alpha), MatrixXd(alpha));
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) M(i, j) = 0.5 * (M(i, j) - inverse(i, j));
  }
  gradient_.head(kernels) = kernel_->parameter_gradient(measurements_.X, M);

  const VectorXd by_nugget = -1.0 * pulled - kappa * share, by_kernel = h + by_nugget;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      M(i, j) = 0.5 * (q[j] * by_kernel[i] + by_kernel[j] * q[i]);
      if (penalised) M(i, j) += 0.5 * (q[j] / scale * q[i] - S(i, j));
    }
  }
  VectorXd by_noise_kernel = noise_kernel_->parameter_gradient(measurements_.X, M);
  by_noise_kernel[variance_] = 0.0;
  for (Index p = 0; p < kernels; ++p) gradient_[p] += by_noise_kernel[p];
  gradient_[kernels] = by_noise_kernel.sum();
  double slope = times(by_nugget, inverse_count).dot(q);
  if (penalised) {
    slope += 0.5 * (times(q, q).dot(inverse_count) / scale - S.diagonal().dot(inverse_count));
  }
  gradient_[kernels + 1] = nugget * slope;
  VectorXd by_latent = pulled + (h.sum() - pulled.sum()) * share;
  if (penalised) by_latent -= q / scale;
  gradient_.segment(kernels + 2, n) = by_latent;
}

}  // namespace gpb
