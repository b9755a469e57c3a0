#include "arm_posterior.h"

#include <cmath>

namespace gpb {

ArmTable::ArmTable(KernelPtr kernel_in, std::shared_ptr<const Points> points_in)
    : kernel(std::move(kernel_in)), points(std::move(points_in)), prior_variance(points->rows()) {
  kernel->diagonal(*points, prior_variance);
  prior_scale = std::sqrt(std::max(0.0, prior_variance.maxCoeff()));
}

ArmPosterior::ArmPosterior(ArmTablePtr table, double noise_var, VectorXd prior_mean)
    : table_(std::move(table)),
      noise_var_(noise_var),
      prior_mean_(std::move(prior_mean)),
      mean_(prior_mean_),
      variance_(table_->prior_variance),
      weight_(VectorXd::Zero(table_->size())),
      weighted_(VectorXd::Zero(table_->size())) {}

void ArmPosterior::clear() {
  mean_ = prior_mean_;
  variance_ = table_->prior_variance;
  weight_.setZero();
  weighted_.setZero();
  squares_ = 0.0;
  log_det_ = 0.0;
  updates_ = 0;
  forget();
}

void ArmPosterior::add(Index arm, double y, double weight) {
  const double noise = noise_var_ / weight;
  const double s = condition(arm, y - mean_[arm], noise);
  log_det_ += std::log(s / noise);
  const double centred = y - prior_mean_[arm];
  weight_[arm] += weight;
  weighted_[arm] += weight * centred;
  squares_ += weight * centred * centred;
  ++updates_;
  if (refit_due()) {
    refit();
    updates_ = 0;
  }
}

void ArmPosterior::replace(Index arm, double old_y, double new_y, double weight) {
  respond(arm, (new_y - old_y) * weight / noise_var_);
  const double old_centred = old_y - prior_mean_[arm], new_centred = new_y - prior_mean_[arm];
  weighted_[arm] += weight * (new_y - old_y);
  squares_ += weight * (new_centred * new_centred - old_centred * old_centred);
}

void ArmPosterior::set_statistics(const VectorXd& weight, const VectorXd& weighted,
                                  double squares) {
  weight_ = weight;
  weighted_ = weighted;
  squares_ = squares;
  refit();
  updates_ = 0;
}

void ArmPosterior::set_values(const VectorXd& weighted, double squares) {
  weighted_ = weighted;
  squares_ = squares;
  refit_mean();
}

double ArmPosterior::quadratic() const {
  return (squares_ - weighted_.dot(mean_ - prior_mean_)) / noise_var_;
}

std::vector<Index> ArmPosterior::observed_arms() const {
  std::vector<Index> out;
  for (Index i = 0; i < weight_.size(); ++i) {
    if (weight_[i] > 0.0) out.push_back(i);
  }
  return out;
}

}  // namespace gpb
