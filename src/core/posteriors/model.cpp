#include "posteriors/model.h"

#include <Eigen/Cholesky>
#include <cmath>

namespace gpb {

void ArmModel::add(const Place& place, double y, Index) {
  posterior_->add(place.arm, y);
  arms_.push_back(place.arm);
  values_.push_back(y);
}

void ArmModel::replace(Index observation, double y) {
  double& old = values_[static_cast<std::size_t>(observation)];
  if (old == y) return;
  posterior_->replace(arms_[static_cast<std::size_t>(observation)], old, y);
  old = y;
}

void ArmModel::statistics(VectorXd& weight, VectorXd& weighted, double& squares) const {
  const VectorXd& prior = posterior_->prior_mean();
  weight = VectorXd::Zero(prior.size());
  weighted = VectorXd::Zero(prior.size());
  squares = 0.0;
  for (std::size_t k = 0; k < arms_.size(); ++k) {
    const double centred = values_[k] - prior[arms_[k]];
    weight[arms_[k]] += 1.0;
    weighted[arms_[k]] += centred;
    squares += centred * centred;
  }
}

void ArmModel::replace_all(const std::vector<double>& y) {
  values_ = y;
  VectorXd weight, weighted;
  double squares;
  statistics(weight, weighted, squares);
  posterior_->set_values(weighted, squares);
}

void ArmModel::clear() {
  posterior_->clear();
  arms_.clear();
  values_.clear();
}

void ArmModel::at(const Place& place, double& mean, double& sd) const {
  const ArmPosterior& all = posterior();
  mean = all.mean()[place.arm];
  sd = std::sqrt(all.variance()[place.arm]);
}

// Points that need not be arms: the dense formula over the distinct arms played,
// each with its mean value and noise lambda / count.
void ArmModel::predict(const Points& X, const VectorXd& prior_mean, VectorXd& mean,
                       VectorXd& sd) const {
  VectorXd weight, weighted;
  double squares;
  statistics(weight, weighted, squares);
  std::vector<Index> seen;
  for (Index i = 0; i < weight.size(); ++i) {
    if (weight[i] > 0.0) seen.push_back(i);
  }
  const Index m = static_cast<Index>(seen.size());
  const ArmTable& table = posterior_->table();
  Points played(m, table.points->cols());
  VectorXd target(m), noise(m);
  for (Index k = 0; k < m; ++k) {
    played.row(k) = table.points->row(seen[k]);
    target[k] = weighted[seen[k]] / weight[seen[k]];
    noise[k] = posterior_->noise_var() / weight[seen[k]];
  }
  mean = prior_mean;
  VectorXd variance(X.rows());
  table.kernel->diagonal(X, variance);
  if (m > 0) {
    MatrixXd K = table.kernel->gram(played);
    K.diagonal() += noise;
    const Eigen::LLT<MatrixXd> factor(K);
    const MatrixXd cross = table.kernel->gram(played, X);
    mean += cross.transpose() * factor.solve(target);
    const MatrixXd half = factor.matrixL().solve(cross);
    variance -= half.colwise().squaredNorm().transpose();
  }
  sd = variance.cwiseMax(0.0).cwiseSqrt();
}

}  // namespace gpb
