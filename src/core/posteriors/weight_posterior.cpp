// Functions of weight_posterior.h: engine 1, weight space: K ~ Phi Phi' by pivoted Cholesky over all arms, and the
// posterior covariance of Phi's weights as a square root S = A A' (Potter). Uses linalg/.
#include "posteriors/weight_posterior.h"

#include "linalg/decompositions.h"
#include "linalg/products.h"
#include "linalg/sweeps.h"

#include <algorithm>
#include <cmath>

namespace gpb {

WeightFit fit_functionals(const MatrixXd& features, const VectorXd& weight,
                          const VectorXd& weighted, double noise_var) {
  std::vector<Index> every(static_cast<std::size_t>(weight.size()));
  for (std::size_t k = 0; k < every.size(); ++k) every[k] = static_cast<Index>(k);
  return fit_weights(features, every, weight, weighted, noise_var);
}

namespace {

// Precision of the weights P = I + sum_i (W_i / lambda) phi_i phi_i' = L L', so root = L^-T.
WeightFit fit_by_precision(const MatrixXd& phi, const std::vector<Index>& seen,
                           const VectorXd& weight, const VectorXd& weighted, double noise_var) {
  const Index r = phi.cols(), m = static_cast<Index>(seen.size());
  MatrixXd scaled(r, m);
  VectorXd target = VectorXd::Zero(r);
  for (Index k = 0; k < m; ++k) {
    const Index arm = seen[static_cast<std::size_t>(k)];
    scaled.col(k) = std::sqrt(weight[arm] / noise_var) * row_of(phi, arm);
    target += (weighted[arm] / noise_var) * row_of(phi, arm);
  }
  MatrixXd precision = MatrixXd::Identity(r, r);
  add_tcrossprod_below(precision, 1.0, scaled);
  const FlooredCholesky factor(precision, 1.0);
  return {factor.inverse_transposed(), factor.solve(target), factor.log_det()};
}

// The same, one arm after the other, by Potter's step. No number in it is large if the noise is small, so digits are
// kept.
WeightFit fit_by_steps(const MatrixXd& phi, const std::vector<Index>& seen,
                       const VectorXd& weight, const VectorXd& weighted, double noise_var) {
  const Index r = phi.cols();
  WeightFit fit{MatrixXd::Identity(r, r), VectorXd::Zero(r), 0.0};
  for (const Index arm : seen) {
    const VectorXd row = row_of(phi, arm);
    const double noise = effective_noise(noise_var / weight[arm], row.squaredNorm());
    const VectorXd v = multiply_transposed(fit.root, row);
    VectorXd gain = multiply(fit.root, v);
    const double s = noise + v.squaredNorm();
    fit.mean += ((weighted[arm] / weight[arm] - row.dot(fit.mean)) / s) * gain;
    fit.log_det += std::log(s / noise);
    gain /= potter_divisor(s, noise);
    for (Index j = 0; j < r; ++j) {
      for (Index i = 0; i < r; ++i) fit.root(i, j) -= gain[i] * v[j];
    }
  }
  return fit;
}

}  // namespace

WeightFit fit_weights(const MatrixXd& phi, const std::vector<Index>& seen, const VectorXd& weight,
                      const VectorXd& weighted, double noise_var) {
  double ratio = 0.0;
  for (const Index arm : seen) ratio += weight[arm] * phi.row(arm).squaredNorm() / noise_var;
  return loses_digits(ratio) ? fit_by_steps(phi, seen, weight, weighted, noise_var)
                             : fit_by_precision(phi, seen, weight, weighted, noise_var);
}

double potter_divisor(double s, double noise) {
  return s + std::copysign(std::sqrt(s * noise), s);
}

bool prefers_arm_root(const LowRank& basis) {
  return basis.factor.rows() < 3 * basis.factor.cols();
}

WeightPosterior::WeightPosterior(ArmTablePtr table, LowRankPtr basis, double noise_var,
                                 VectorXd prior_mean)
    : ArmPosterior(std::move(table), noise_var, std::move(prior_mean)), basis_(std::move(basis)),
      zero_(VectorXd::Zero(rank())) {
  forget();
}

void WeightPosterior::forget() {
  root_ = MatrixXd::Identity(rank(), rank());
}

VectorXd WeightPosterior::rooted(const VectorXd& v) const {
  VectorXd out(rank());
  product_sweep(root_.data(), rank(), rank(), rank(), v.data(), 1.0, zero_.data(), out.data());
  return out;
}

bool WeightPosterior::refit_due() const { return !drifted_ && updates_ >= kRefreshEvery; }

double WeightPosterior::condition(Index arm, double innovation, double noise) {
  const MatrixXd& phi = basis_->factor;
  // Potter: v = A' phi_i, s = noise + v'v, S phi_i = A v, A <- A - (A v) v' / potter_divisor.
  const VectorXd row = row_of(phi, arm);
  const VectorXd v = multiply_transposed(root_, row);
  VectorXd gain = multiply(root_, v);
  const double s = noise + v.squaredNorm();
  rank_one_sweep(phi.data(), phi.rows(), phi.rows(), phi.cols(), gain.data(), innovation / s,
                 1.0 / s, mean_.data(), variance_.data());
  gain /= potter_divisor(s, noise);
  subtract_outer(root_.data(), rank(), rank(), gain.data(), v.data());
  return s;
}

VectorXd WeightPosterior::covariance_with(Index arm) const {
  const MatrixXd& phi = basis_->factor;
  const VectorXd row = row_of(phi, arm);
  return multiply(phi, multiply(root_, multiply_transposed(root_, row)));
}

void WeightPosterior::respond(Index arm, double step) {
  const MatrixXd& phi = basis_->factor;
  const VectorXd row = row_of(phi, arm);
  const VectorXd gain = multiply(root_, multiply_transposed(root_, row));
  product_sweep(phi.data(), phi.rows(), phi.rows(), phi.cols(), gain.data(), step, mean_.data(),
                mean_.data());
}

void WeightPosterior::refit() {
  const MatrixXd& phi = basis_->factor;
  take(fit_weights(phi, observed_arms(), weight_, weighted_, noise_var_));
}

void WeightPosterior::set_functionals(const MatrixXd& features, const VectorXd& weight,
                                      const VectorXd& weighted) {
  clear();
  take(fit_functionals(features, weight, weighted, noise_var_));
}

void WeightPosterior::take(WeightFit fit) {
  const MatrixXd& phi = basis_->factor;
  const Index r = phi.cols(), n = phi.rows();
  root_ = std::move(fit.root);
  log_det_ = fit.log_det;
  product_sweep(phi.data(), n, n, r, fit.mean.data(), 1.0, prior_mean_.data(), mean_.data());
  // variance_i = residual_i + |A' phi_i|^2, in blocks so that no second n x r matrix is made.
  constexpr Index block = 256;
  for (Index first = 0; first < n; first += block) {
    const Index count = std::min(block, n - first);
    const MatrixXd part = product(phi.middleRows(first, count), root_);
    variance_.segment(first, count) =
        basis_->residual.segment(first, count) + part.rowwise().squaredNorm();
  }
}

// The weights' mean is S sum_i (weighted_i / lambda) phi_i; S = A A' is known.
void WeightPosterior::refit_mean() {
  const MatrixXd& phi = basis_->factor;
  VectorXd target = VectorXd::Zero(rank());
  for (const Index arm : observed_arms()) {
    target += (weighted_[arm] / noise_var_) * row_of(phi, arm);
  }
  const VectorXd weights = rooted(multiply_transposed(root_, target));
  product_sweep(phi.data(), phi.rows(), phi.rows(), rank(), weights.data(), 1.0,
                prior_mean_.data(), mean_.data());
}

void WeightPosterior::drift(double rate) {
  const double keep = std::sqrt(1.0 - rate);
  mean_ = prior_mean_ + keep * (mean_ - prior_mean_);
  variance_ = (1.0 - rate) * variance_ + rate * table_->prior_variance;
  MatrixXd covariance = MatrixXd::Zero(rank(), rank());
  covariance.diagonal().setConstant(rate);
  add_tcrossprod_below(covariance, 1.0 - rate, root_);
  root_ = FlooredCholesky(covariance, rate).matrix();
  drifted_ = true;
}

void WeightPosterior::draw(Rng& rng, double scale, const VectorXd& base, Index first,
                           Eigen::Ref<MatrixXd> out) const {
  const MatrixXd& phi = basis_->factor;
  const Index n = out.rows();
  if (out.cols() == 1) {
    const VectorXd weights = rooted(rng.normals(rank()));
    product_sweep(phi.data() + first, phi.rows(), n, rank(), weights.data(), scale,
                  base.data() + first, out.data());
    return;
  }
  MatrixXd weights(rank(), out.cols());
  for (Index k = 0; k < out.cols(); ++k) weights.col(k) = rng.normals(rank());
  weights = product(root_, weights, scale);
  product_into(out, phi.middleRows(first, n), weights);
  out.colwise() += base.segment(first, n);
}

MatrixXd WeightPosterior::covariance(const std::vector<Index>& arms) const {
  MatrixXd features(static_cast<Index>(arms.size()), rank());
  for (std::size_t k = 0; k < arms.size(); ++k) {
    copy_row(features, static_cast<Index>(k), basis_->factor, arms[k]);
  }
  const MatrixXd rooted = product(features, root_);
  return tcrossprod(rooted, rooted);
}

}  // namespace gpb
