#include "posteriors/root_posterior.h"

#include "linalg/sweeps.h"

#include <cmath>

namespace gpb {

RootPosterior::RootPosterior(ArmTablePtr table, LowRankPtr basis, double noise_var,
                             VectorXd prior_mean)
    : ArmPosterior(std::move(table), noise_var, std::move(prior_mean)), basis_(std::move(basis)) {
  forget();
}

void RootPosterior::forget() { root_ = basis_->factor; }

bool RootPosterior::refit_due() const { return updates_ >= kRefreshEvery; }

VectorXd RootPosterior::response(const VectorXd& at_arm) const {
  const Index n = root_.rows(), r = root_.cols();
  const VectorXd zero = VectorXd::Zero(n);
  VectorXd c(n);
  product_sweep(root_.data(), n, n, r, at_arm.data(), 1.0, zero.data(), c.data());
  return c;
}

double RootPosterior::condition(Index arm, double innovation, double noise) {
  // Potter, times Phi from the left: s = noise + |B_i|^2, B <- B - c B_i / potter_divisor.
  const VectorXd at_arm = root_.row(arm);
  VectorXd c = response(at_arm);
  const double s = noise + at_arm.squaredNorm();
  mean_ += (innovation / s) * c;
  variance_ = (variance_.array() - c.array().square() / s).max(0.0);
  c /= potter_divisor(s, noise);
  subtract_outer(root_.data(), root_.rows(), root_.cols(), c.data(), at_arm.data());
  return s;
}

void RootPosterior::respond(Index arm, double step) {
  mean_ += step * response(root_.row(arm));
}

void RootPosterior::refit() {
  const MatrixXd& phi = basis_->factor;
  const WeightFit fit = fit_weights(phi, observed_arms(), weight_, weighted_, noise_var_);
  root_.noalias() = phi * fit.root;
  mean_ = prior_mean_ + phi * fit.mean;
  variance_ = basis_->residual + root_.rowwise().squaredNorm();
  log_det_ = fit.log_det;
}

// mean - prior = B B' e with e_i = weighted_i / lambda.
void RootPosterior::refit_mean() {
  const Index n = root_.rows(), r = root_.cols();
  VectorXd target = VectorXd::Zero(r);
  for (const Index arm : observed_arms()) {
    target += root_.row(arm).transpose() * (weighted_[arm] / noise_var_);
  }
  product_sweep(root_.data(), n, n, r, target.data(), 1.0, prior_mean_.data(), mean_.data());
}

void RootPosterior::drift(double) {
  throw std::logic_error("a drifting prior needs the weights' own root: use WeightPosterior");
}

void RootPosterior::draw(Rng& rng, double scale, const VectorXd& base, Index first,
                         Eigen::Ref<MatrixXd> out) const {
  const Index n = out.rows();
  if (out.cols() == 1) {
    const VectorXd z = rng.normals(rank());
    product_sweep(root_.data() + first, root_.rows(), n, rank(), z.data(), scale,
                  base.data() + first, out.data());
    return;
  }
  MatrixXd z(rank(), out.cols());
  for (Index k = 0; k < out.cols(); ++k) z.col(k) = scale * rng.normals(rank());
  out.noalias() = root_.middleRows(first, n) * z;
  out.colwise() += base.segment(first, n);
}

MatrixXd RootPosterior::covariance(const std::vector<Index>& arms) const {
  MatrixXd rooted(static_cast<Index>(arms.size()), rank());
  for (std::size_t k = 0; k < arms.size(); ++k) {
    rooted.row(static_cast<Index>(k)) = root_.row(arms[k]);
  }
  return rooted * rooted.transpose();
}

}  // namespace gpb
