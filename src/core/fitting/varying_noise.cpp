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
struct VaryingEvidence::Factors {
  double nugget = 0.0;             // g
  VectorXd ones, inverse_count;    // 1/a
  MatrixXd Cg, S;
  double log_det_noise = 0.0;      // log det S^-1
  VectorXd s1;                     // S 1
  double precision = 0.0;          // 1'S 1
  double scale = 0.0;              // nu
  bool penalised = false;
  VectorXd noise, pooled;          // lambda, lambda/a
  MatrixXd inverse;                // K^-1
  VectorXd alpha;                  // K^-1 y
};

VaryingEvidence::Factors VaryingEvidence::smooth(const VectorXd& parameters) {
  const Index n = measurements_.X.rows(), kernels = kernel_->parameter_count();
  kernel_->set_log_parameters(segment_of(parameters, 0, kernels));
  VectorXd noise_parameters(kernels);
  for (Index p = 0; p < kernels; ++p) noise_parameters[p] = parameters[p] + parameters[kernels];
  noise_parameters[variance_] = 0.0;
  noise_kernel_->set_log_parameters(noise_parameters);
  const VectorXd latent = segment_of(parameters, kernels + 2, n);

  Factors at;
  at.nugget = std::exp(parameters[kernels + 1]);
  at.ones = VectorXd::Ones(n);
  at.inverse_count = over(at.ones, measurements_.count);
  at.Cg = noise_kernel_->gram(measurements_.X);
  MatrixXd A = at.Cg;
  add_to_diagonal(A, at.nugget * at.inverse_count);
  at.S = inverse_of(A, at.nugget * at.inverse_count.minCoeff(), at.log_det_noise);
  at.s1 = multiply(at.S, at.ones);
  at.precision = at.s1.sum();
  found_.level = at.s1.dot(latent) / at.precision;
  found_.weights = multiply(at.S, latent - found_.level * at.ones);
  found_.log_noise = multiply(at.Cg, found_.weights) + found_.level * at.ones;
  at.noise = found_.log_noise.array().exp();
  at.scale = (latent - found_.level * at.ones).dot(found_.weights) / static_cast<double>(n);
  return at;
}

void VaryingEvidence::measure(Factors& at) {
  MatrixXd K = kernel_->gram(measurements_.X);
  at.pooled = times(at.noise, at.inverse_count);
  add_to_diagonal(K, at.pooled);
  double log_det = 0.0;
  at.inverse = inverse_of(K, at.pooled.minCoeff(), log_det);
  found_.mean = 0.0;
  if (fit_mean_) {
    const VectorXd by_one = multiply(at.inverse, at.ones);
    found_.mean = by_one.dot(measurements_.average) / by_one.sum();
  }
  const VectorXd y = measurements_.average - found_.mean * at.ones;
  at.alpha = multiply(at.inverse, y);
  found_.likelihood =
      -0.5 * (y.dot(at.alpha) + over(measurements_.spread, at.noise).sum() + log_det +
              ((measurements_.count.array() - 1.0) * found_.log_noise.array() +
               measurements_.count.array().log()).sum() +
              measurements_.count.sum() * kLog2Pi);
}

// The derivative by log noise; then by its parameters, dlog noise = dn + C_g dq + dC_g q.
void VaryingEvidence::differentiate(const Factors& at, Index parameters) {
  const Index n = measurements_.X.rows(), kernels = kernel_->parameter_count();
  const VectorXd& q = found_.weights;
  VectorXd h(n);
  for (Index i = 0; i < n; ++i) {
    h[i] = 0.5 * ((at.alpha[i] * at.alpha[i] - at.inverse(i, i)) * at.pooled[i] +
                  measurements_.spread[i] / at.noise[i] - (measurements_.count[i] - 1.0));
  }
  const VectorXd pulled = multiply(at.S, multiply(at.Cg, h));
  const VectorXd share = at.s1 / at.precision;
  const double kappa = h.sum() - pulled.sum();
  gradient_ = VectorXd::Zero(parameters);
  MatrixXd M = tcrossprod(MatrixXd(at.alpha), MatrixXd(at.alpha));
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) M(i, j) = 0.5 * (M(i, j) - at.inverse(i, j));
  }
  gradient_.head(kernels) = kernel_->parameter_gradient(measurements_.X, M);

  const VectorXd by_nugget = -1.0 * pulled - kappa * share, by_kernel = h + by_nugget;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      M(i, j) = 0.5 * (q[j] * by_kernel[i] + by_kernel[j] * q[i]);
      if (at.penalised) M(i, j) += 0.5 * (q[j] / at.scale * q[i] - at.S(i, j));
    }
  }
  VectorXd by_noise_kernel = noise_kernel_->parameter_gradient(measurements_.X, M);
  by_noise_kernel[variance_] = 0.0;
  for (Index p = 0; p < kernels; ++p) gradient_[p] += by_noise_kernel[p];
  gradient_[kernels] = by_noise_kernel.sum();
  double slope = times(by_nugget, at.inverse_count).dot(q);
  if (at.penalised) {
    slope += 0.5 * (times(q, q).dot(at.inverse_count) / at.scale - at.S.diagonal().dot(at.inverse_count));
  }
  gradient_[kernels + 1] = at.nugget * slope;
  VectorXd by_latent = pulled + kappa * share;
  if (at.penalised) by_latent -= q / at.scale;
  gradient_.segment(kernels + 2, n) = by_latent;
}

void VaryingEvidence::factorise(const VectorXd& parameters, bool want_gradient) {
  ++evaluations_;
  Factors at = smooth(parameters);
  measure(at);
  const double points = static_cast<double>(measurements_.X.rows());
  const double penalty = -0.5 * (points * (std::log(std::max(at.scale, 1e-300)) + kLog2Pi + 1.0) + at.log_det_noise);
  at.penalised = penalty < 0.0;
  value_ = found_.likelihood + (at.penalised ? penalty : 0.0);
  if (want_gradient) differentiate(at, parameters.size());
}

}  // namespace gpb
