// Functions of arm_posterior.h: the exact posterior of finitely many arms: the base class of its engines. Uses
// kernels/.
#include "posteriors/arm_posterior.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

// An arm's variance over its noise must stay this far below 1 for an observation to be removed by a rank-one step.
// Otherwise too few digits of the difference remain.
constexpr double kSafeDrop = 1e-4;

}  // namespace

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
      weighted_(VectorXd::Zero(table_->size())) {
  check_noise(noise_var_, prior_scale_squared());
}

void ArmPosterior::clear() {
  mean_ = prior_mean_;
  variance_ = table_->prior_variance;
  weight_.setZero();
  weighted_.setZero();
  squares_ = 0.0;
  log_det_ = 0.0;
  updates_ = 0;
  drops_ = 0;
  drifted_ = false;
  innovations_ = 0.0;
  forget();
}

void ArmPosterior::refit_now() {
  refit();
  updates_ = 0;
  drops_ = 0;
}

void ArmPosterior::add(Index arm, double y, double weight) {
  const double noise = noise_var_ / weight;
  const double innovation = y - mean_[arm];
  const double s = condition(arm, innovation, noise);
  log_det_ += std::log(s / noise);
  innovations_ += innovation * innovation / s;
  const double centred = y - prior_mean_[arm];
  weight_[arm] += weight;
  weighted_[arm] += weight * centred;
  squares_ += weight * centred * centred;
  ++updates_;
  if (refit_due()) refit_now();
}

bool ArmPosterior::can_drop(Index arm, double noise) const {
  // Each step leaves a rounding error in the precision. Once the observations are gone, it is relative to the prior's
  // precision.
  const double precision = 1.0 + weight_.sum() * prior_scale_squared() / noise_var_;
  return variance_[arm] < (1.0 - kSafeDrop) * noise &&
         !loses_digits(static_cast<double>(drops_ + 1) * precision);
}

void ArmPosterior::drop(Index arm, double y, double weight) {
  const double noise = noise_var_ / weight;
  const bool quick = can_drop(arm, noise);
  if (quick) {
    const double s = condition(arm, y - mean_[arm], -noise);
    log_det_ += std::log(s / -noise);
    ++updates_;
    ++drops_;
  }
  const double centred = y - prior_mean_[arm];
  weight_[arm] -= weight;
  // For an arm without observations only rounding errors remain, so the weight is set to 0.
  if (weight_[arm] < 1e-9 * weight) weight_[arm] = 0.0;
  weighted_[arm] = weight_[arm] > 0.0 ? weighted_[arm] - weight * centred : 0.0;
  squares_ -= weight * centred * centred;
  if (!quick || refit_due()) refit_now();
}

void ArmPosterior::replace(Index arm, double old_y, double new_y, double weight) {
  const double old_centred = old_y - prior_mean_[arm], new_centred = new_y - prior_mean_[arm];
  weighted_[arm] += weight * (new_y - old_y);
  squares_ += weight * (new_centred * new_centred - old_centred * old_centred);
  // The mean changes by a rounded covariance divided by the noise.
  if (loses_digits(prior_scale_squared() / noise_var_)) refit_now();
  else respond(arm, (new_y - old_y) * weight / noise_var_);
}

void ArmPosterior::set_statistics(const VectorXd& weight, const VectorXd& weighted,
                                  double squares) {
  weight_ = weight;
  weighted_ = weighted;
  squares_ = squares;
  refit_now();
}

void ArmPosterior::set_values(const VectorXd& weighted, double squares) {
  weighted_ = weighted;
  squares_ = squares;
  if (loses_digits(prior_scale_squared() / noise_var_)) refit_now();
  else refit_mean();
}

void ArmPosterior::set_functionals(const MatrixXd&, const VectorXd&, const VectorXd&) {
  throw_logic("an engine without features supports arms only");
}

double ArmPosterior::quadratic() const {
  if (drifted_) return innovations_;
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
