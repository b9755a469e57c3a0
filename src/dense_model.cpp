#include "dense_model.h"

#include <algorithm>
#include <cmath>

namespace gpb {

void DenseModel::add(const Place& place, double y) {
  const double prior = prior_mean_(place);
  posterior_.add(place.x, y - prior);
  observed_prior_.push_back(prior);
}

void DenseModel::replace(Index observation, double y) {
  posterior_.set_target(observation, y - observed_prior_[static_cast<std::size_t>(observation)]);
}

void DenseModel::replace_all(const std::vector<double>& y) {
  VectorXd centred(static_cast<Index>(y.size()));
  for (std::size_t i = 0; i < y.size(); ++i) {
    centred[static_cast<Index>(i)] = y[i] - observed_prior_[i];
  }
  posterior_.set_targets(centred);
}

void DenseModel::clear() {
  posterior_.clear();
  observed_prior_.clear();
}

void DenseModel::at(const Place& place, double& mean, double& sd) const {
  double variance;
  posterior_.predict_at(place.x, mean, variance);
  mean += prior_mean_(place);
  sd = std::sqrt(std::max(0.0, variance));
}

void DenseModel::predict(const Points& X, const VectorXd& prior_mean, VectorXd& mean,
                         VectorXd& sd) const {
  VectorXd variance;
  posterior_.predict(X, mean, variance);
  mean += prior_mean;
  sd = variance.cwiseMax(0.0).cwiseSqrt();
}

VectorXd DenseModel::means_at(const std::vector<Place>& places) const {
  const Index n = static_cast<Index>(places.size());
  if (n == 0) return VectorXd();
  Points X(n, places[0].x.size());
  VectorXd prior(n);
  for (Index i = 0; i < n; ++i) {
    X.row(i) = places[static_cast<std::size_t>(i)].x.transpose();
    prior[i] = prior_mean_(places[static_cast<std::size_t>(i)]);
  }
  // (Sums over the weights would be quicker, but lose digits where the noise is small.)
  VectorXd mean, ignored;
  posterior_.predict(X, mean, ignored);
  return prior + mean;
}

double DenseModel::mean_at_observation(Index i) const {
  const double noise = posterior_.noise_var() * posterior_.noise_scale(i);
  return observed_prior_[static_cast<std::size_t>(i)] + posterior_.target(i) -
         noise * posterior_.weights()[i];
}

}  // namespace gpb
