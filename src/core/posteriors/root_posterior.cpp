// Functions of root_posterior.h: engine 1 in another form, for a factor Phi that is nearly square: it keeps the root B
// = Phi A of the arms' covariance, not A. Uses linalg/.
#include "posteriors/root_posterior.h"

#include "linalg/products.h"
#include "linalg/sweeps.h"

#include <algorithm>

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
  const VectorXd at_arm = row_of(root_, arm);
  VectorXd c = response(at_arm);
  const double s = noise + at_arm.squaredNorm();
  mean_ += (innovation / s) * c;
  for (Index i = 0; i < variance_.size(); ++i) variance_[i] = std::max(variance_[i] - c[i] * c[i] / s, 0.0);
  c /= potter_divisor(s, noise);
  subtract_outer(root_.data(), root_.rows(), root_.cols(), c.data(), at_arm.data());
  return s;
}

VectorXd RootPosterior::covariance_with(Index arm) const {
  const VectorXd row = row_of(root_, arm);
  return multiply(root_, row);
}

void RootPosterior::respond(Index arm, double step) {
  mean_ += step * response(row_of(root_, arm));
}

void RootPosterior::refit() {
  const MatrixXd& phi = basis_->factor;
  take(fit_weights(phi, observed_arms(), weight_, weighted_, noise_var_));
}

void RootPosterior::set_functionals(const MatrixXd& features, const VectorXd& weight,
                                    const VectorXd& weighted) {
  clear();
  take(fit_functionals(features, weight, weighted, noise_var_));
}

void RootPosterior::take(const WeightFit& fit) {
  const MatrixXd& phi = basis_->factor;
  root_ = product(phi, fit.root);
  mean_ = prior_mean_;
  add_multiple(mean_, 1.0, phi, fit.mean);
  variance_ = basis_->residual + root_.rowwise().squaredNorm();
  log_det_ = fit.log_det;
}

// mean - prior = B B' e with e_i = weighted_i / lambda.
void RootPosterior::refit_mean() {
  const Index n = root_.rows(), r = root_.cols();
  VectorXd target = VectorXd::Zero(r);
  for (const Index arm : observed_arms()) {
    target += (weighted_[arm] / noise_var_) * row_of(root_, arm);
  }
  product_sweep(root_.data(), n, n, r, target.data(), 1.0, prior_mean_.data(), mean_.data());
}

void RootPosterior::drift(double) {
  throw_logic("a drifting prior needs the weights' own root: use WeightPosterior");
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
  product_into(out, root_.middleRows(first, n), z);
  out.colwise() += base.segment(first, n);
}

MatrixXd RootPosterior::covariance(const std::vector<Index>& arms) const {
  MatrixXd rooted(static_cast<Index>(arms.size()), rank());
  for (std::size_t k = 0; k < arms.size(); ++k) {
    copy_row(rooted, static_cast<Index>(k), root_, arms[k]);
  }
  return tcrossprod(rooted, rooted);
}

}  // namespace gpb
