#include "fitting/varying_noise.h"

#include <cmath>

#include "linalg/decompositions.h"

namespace gpb {

namespace {

constexpr double kLog2Pi = 1.8378770664093454836;

// A^-1, and log det A.
MatrixXd inverse_of(const MatrixXd& A, double floor, double& log_det) {
  const FlooredCholesky factor(A, floor);
  log_det = factor.log_det();
  const MatrixXd half = factor.inverse_transposed();
  return tcrossprod(half, half);
}

}  // namespace

VaryingEvidence::VaryingEvidence(const Kernel& kernel, const Kernel& noise_kernel, Index variance,
                                 PlaceReadings readings, bool fit_mean)
    : kernel_(kernel.clone()), noise_kernel_(noise_kernel.clone()), variance_(variance),
      readings_(std::move(readings)), fit_mean_(fit_mean) {}

// With S = (C_g + g/a)^-1, q = S (Delta - n), n its least-squares level: log noise n + C_g q. The readings' likelihood is
//   -(y'K^-1 y + sum s_i/lambda_i + log det K + sum ((a_i - 1) log lambda_i + log a_i) + N log 2pi) / 2, K = C + lambda/a,
// the penalty -(n_p (log(2pi nu) + 1) + log det S^-1) / 2 with nu = (Delta - n)'q / n_p, and 0 where that is positive.
void VaryingEvidence::factorise(const VectorXd& parameters, bool want_gradient) {
  ++evaluations_;
  const Index n = readings_.X.rows(), kernels = kernel_->parameter_count();
  const double places = static_cast<double>(n), total = readings_.count.sum();
  const VectorXd ones = VectorXd::Ones(n), inverse_count = readings_.count.cwiseInverse();
  kernel_->set_log_parameters(parameters.head(kernels));
  VectorXd noise_parameters = parameters.head(kernels).array() + parameters[kernels];
  noise_parameters[variance_] = 0.0;
  noise_kernel_->set_log_parameters(noise_parameters);
  const double nugget = std::exp(parameters[kernels + 1]);
  const VectorXd latent = parameters.segment(kernels + 2, n);

  const MatrixXd Cg = noise_kernel_->gram(readings_.X);
  MatrixXd A = Cg;
  A.diagonal() += nugget * inverse_count;
  double log_det_noise = 0.0;
  const MatrixXd S = inverse_of(A, nugget * inverse_count.minCoeff(), log_det_noise);
  const VectorXd s1 = multiply(S, ones);
  const double precision = s1.sum();
  found_.level = s1.dot(latent) / precision;
  const VectorXd q = multiply(S, latent - found_.level * ones);
  found_.weights = q;
  found_.log_noise = (multiply(Cg, q).array() + found_.level).matrix();
  const VectorXd noise = found_.log_noise.array().exp();

  MatrixXd K = kernel_->gram(readings_.X);
  const VectorXd pooled = noise.cwiseProduct(inverse_count);
  K.diagonal() += pooled;
  double log_det = 0.0;
  const MatrixXd inverse = inverse_of(K, pooled.minCoeff(), log_det);
  found_.mean = 0.0;
  if (fit_mean_) {
    const VectorXd by_one = multiply(inverse, ones);
    found_.mean = by_one.dot(readings_.average) / by_one.sum();
  }
  const VectorXd y = readings_.average - found_.mean * ones;
  const VectorXd alpha = multiply(inverse, y);
  found_.likelihood =
      -0.5 * (y.dot(alpha) + readings_.spread.cwiseQuotient(noise).sum() + log_det +
              ((readings_.count.array() - 1.0) * found_.log_noise.array() + readings_.count.array().log()).sum() +
              total * kLog2Pi);
  const double scale = (latent - found_.level * ones).dot(q) / places;
  const double penalty = -0.5 * (places * (std::log(std::max(scale, 1e-300)) + kLog2Pi + 1.0) + log_det_noise);
  const bool penalised = penalty < 0.0;
  value_ = found_.likelihood + (penalised ? penalty : 0.0);
  if (!want_gradient) return;

  // By log noise; then by what makes it, dlog noise = dn + C_g dq + dC_g q.
  const VectorXd h = (0.5 * ((alpha.array().square() - inverse.diagonal().array()) * pooled.array() +
                             readings_.spread.array() / noise.array() - (readings_.count.array() - 1.0))).matrix();
  const VectorXd pulled = multiply(S, multiply(Cg, h));
  const VectorXd share = s1 / precision;
  const double kappa = h.sum() - pulled.sum();
  gradient_ = VectorXd::Zero(parameters.size());
  MatrixXd M = tcrossprod(MatrixXd(alpha), MatrixXd(alpha));
  M = 0.5 * (M - inverse);
  gradient_.head(kernels) = kernel_->parameter_gradient(readings_.X, M);

  const VectorXd by_nugget = -pulled - kappa * share, by_kernel = h + by_nugget;
  for (Index j = 0; j < n; ++j) {
    M.col(j) = 0.5 * (q[j] * by_kernel + by_kernel[j] * q);
    if (penalised) M.col(j) += 0.5 * (q[j] / scale * q - S.col(j));
  }
  VectorXd by_noise_kernel = noise_kernel_->parameter_gradient(readings_.X, M);
  by_noise_kernel[variance_] = 0.0;
  gradient_.head(kernels) += by_noise_kernel;
  gradient_[kernels] = by_noise_kernel.sum();
  double slope = by_nugget.cwiseProduct(inverse_count).dot(q);
  if (penalised) {
    slope += 0.5 * (q.cwiseAbs2().dot(inverse_count) / scale - S.diagonal().dot(inverse_count));
  }
  gradient_[kernels + 1] = nugget * slope;
  VectorXd by_latent = pulled + (h.sum() - pulled.sum()) * share;
  if (penalised) by_latent -= q / scale;
  gradient_.segment(kernels + 2, n) = by_latent;
}

}  // namespace gpb
