// Functions of mixture_posterior.h: a weighted mixture of several models of one function, each with a separate engine
// (kernel, noise variance, prior mean).
#include "posteriors/mixture_posterior.h"

#include <algorithm>
#include <cmath>

namespace gpb {

MixturePosterior::MixturePosterior(std::vector<Model> models, double noise_var)
    : models_(std::move(models)), noise_var_(noise_var) {
  if (models_.empty()) throw_invalid("a mixture needs a model");
  double whole = 0;
  for (const Model& one : models_) whole += one.weight;
  if (!(std::abs(whole - 1) <= 1e-9)) {
    throw_invalid("the weights of a mixture's models do not sum to 1");
  }
}

// ---- updates by observations ------------------------------------------------------------------

void MixturePosterior::add(const Observation& observation) {
  points_.push_back(observation.point);
  kept_.push_back(1);
  for (Model& one : models_) {
    Observation own = observation;
    if (observation.owns_noise) own.weight *= one.posterior->noise_var() / noise_var_;
    one.posterior->add(own);
  }
}

void MixturePosterior::set_value(Index slot, double y) {
  for (Model& one : models_) one.posterior->set_value(slot, y);
}

void MixturePosterior::set_values(const std::vector<double>& y) {
  for (Model& one : models_) one.posterior->set_values(y);
}

void MixturePosterior::drop(Index slot) {
  kept_[index(slot)] = 0;
  for (Model& one : models_) one.posterior->drop(slot);
}

void MixturePosterior::rescale(double factor) {
  for (Model& one : models_) one.posterior->rescale(factor);
}

void MixturePosterior::clear() {
  points_.clear();
  kept_.clear();
  for (Model& one : models_) one.posterior->clear();
}

void MixturePosterior::advance(Index round) {
  for (Model& one : models_) one.posterior->advance(round);
}

void MixturePosterior::asked(bool chosen) {
  for (Model& one : models_) one.posterior->asked(chosen);
}

bool MixturePosterior::postpones() const {
  return std::any_of(models_.begin(), models_.end(), [](const Model& one) { return one.posterior->postpones(); });
}

void MixturePosterior::settle() {
  for (Model& one : models_) one.posterior->settle();
}

// ---- predictions --------------------------------------------------------------------------------

double MixturePosterior::log_det() const {
  return average([this](Index k) { return model(k).log_det(); });
}

double MixturePosterior::quadratic() const {
  return average([this](Index k) { return model(k).quadratic(); });
}

EngineSummary MixturePosterior::summary() const {
  EngineSummary out = model(0).summary();
  for (Index k = 1; k < models(); ++k) {
    const EngineSummary own = model(k).summary();
    out.rank = std::max(out.rank, own.rank);
    if (std::isnan(own.error_bound)) out.error_bound = kNaN;
    if (own.error_bound > out.error_bound) out.error_bound = own.error_bound;
  }
  out.error_bound *= 2.0;
  return out;
}

// The law of total variance.
void MixturePosterior::mix(const MatrixXd& means, const MatrixXd& variances, VectorXd& mean,
                           VectorXd& variance) const {
  mean.setZero(means.cols());
  variance.setZero(means.cols());
  for (Index k = 0; k < models(); ++k) mean += model_weight(k) * row_of(means, k);
  for (Index k = 0; k < models(); ++k) {
    const double weight = model_weight(k);
    for (Index i = 0; i < mean.size(); ++i) {
      const double apart = means(k, i) - mean[i];
      variance[i] += weight * (variances(k, i) + apart * apart);
    }
  }
}

void MixturePosterior::at(const Point& point, double& mean, double& sd) const {
  VectorXd means(models()), variances(models());
  for (Index k = 0; k < models(); ++k) {
    double deviation, ignored;
    model(k).at(point, means[k], deviation);
    if (centre_) centre(k).at(point, means[k], ignored);
    variances[k] = deviation * deviation;
  }
  VectorXd both_mean, both_variance;
  mix(means, variances, both_mean, both_variance);
  mean = both_mean[0];
  sd = std::sqrt(both_variance[0]);
}

Moments MixturePosterior::moments(const Candidates& candidates) const {
  const Index n = candidates.size();
  MatrixXd means(models(), n), variances(models(), n);
  for (Index k = 0; k < models(); ++k) {
    const Moments own = model(k).moments(candidates);
    set_row(variances, k, Eigen::Map<const VectorXd>(own.variance, n));
    const double* mean = centre_ ? centre(k).moments(candidates).mean : own.mean;
    set_row(means, k, Eigen::Map<const VectorXd>(mean, n));
  }
  mix(means, variances, mean_, variance_);
  return {mean_.data(), variance_.data()};
}

void MixturePosterior::predict_by(Predict by, const Points& X, VectorXd& mean,
                                  VectorXd& variance) const {
  MatrixXd means(models(), X.rows()), variances(models(), X.rows());
  VectorXd own_mean, own_variance;
  for (Index k = 0; k < models(); ++k) {
    (model(k).*by)(X, own_mean, own_variance);
    if (centre_) own_mean = centre(k).mean_of(X);
    set_row(means, k, own_mean);
    set_row(variances, k, own_variance);
  }
  mix(means, variances, mean, variance);
}

void MixturePosterior::predict(const Points& X, VectorXd& mean, VectorXd& variance) const {
  predict_by(&Posterior::predict, X, mean, variance);
}

void MixturePosterior::sketches(const Points& X, VectorXd& mean, VectorXd& variance) const {
  predict_by(&Posterior::sketches, X, mean, variance);
}

VectorXd MixturePosterior::mean_of(const Points& X) const {
  VectorXd out = VectorXd::Zero(X.rows());
  for (Index k = 0; k < models(); ++k) out += model_weight(k) * centre(k).mean_of(X);
  return out;
}

double MixturePosterior::mean_of(const VectorXd& x, VectorXd& gradient) const {
  gradient.setZero(x.size());
  VectorXd own;
  return average([&](Index k) {
    const double mean = centre(k).mean_of(x, own);
    gradient += model_weight(k) * own;
    return mean;
  });
}

// d variance = sum w (2 sd dsd + 2 (m_k - mean) dm_k): the terms with the gradient of the average cancel.
void MixturePosterior::local_by(Local by, const VectorXd& x, double& mean, double& sd,
                                VectorXd& dmean, VectorXd& dsd) const {
  const Index d = x.size(), count = models();
  VectorXd means(count), sds(count);
  MatrixXd dmeans(d, count), dsds(d, count);
  for (Index k = 0; k < count; ++k) {
    VectorXd own_dmean, own_dsd;
    (model(k).*by)(x, means[k], sds[k], own_dmean, own_dsd);
    if (centre_) means[k] = centre(k).mean_of(x, own_dmean);
    dmeans.col(k) = own_dmean;
    dsds.col(k) = own_dsd;
  }
  mean = average([&](Index k) { return means[k]; });
  const double variance = average([&](Index k) {
    return sds[k] * sds[k] + (means[k] - mean) * (means[k] - mean);
  });
  sd = std::sqrt(variance);
  dmean.setZero(d);
  dsd.setZero(d);
  for (Index k = 0; k < count; ++k) {
    dmean += model_weight(k) * dmeans.col(k);
    if (sd > 0.0) {
      dsd += model_weight(k) / sd * (sds[k] * dsds.col(k) + (means[k] - mean) * dmeans.col(k));
    }
  }
}

void MixturePosterior::local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                             VectorXd& dsd) const {
  local_by(&Posterior::local, x, mean, sd, dmean, dsd);
}

void MixturePosterior::sketch(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                              VectorXd& dsd) const {
  local_by(&Posterior::sketch, x, mean, sd, dmean, dsd);
}

bool MixturePosterior::can_sketch() const {
  for (Index k = 0; k < models(); ++k) {
    if (model(k).can_sketch()) return true;
  }
  return false;
}

MatrixXd MixturePosterior::covariance(const Candidates& candidates,
                                      const std::vector<Index>& some) const {
  const auto count = static_cast<Index>(some.size());
  MatrixXd means(count, models()), out = MatrixXd::Zero(count, count);
  VectorXd mean = VectorXd::Zero(count);
  for (Index k = 0; k < models(); ++k) {
    const Moments all = centre(k).moments(candidates);
    for (Index i = 0; i < count; ++i) means(i, k) = all.mean[some[index(i)]];
    mean += model_weight(k) * means.col(k);
    out += model_weight(k) * model(k).covariance(candidates, some);
  }
  for (Index k = 0; k < models(); ++k) {
    const VectorXd apart = means.col(k) - mean;
    for (Index j = 0; j < count; ++j) out.col(j) += model_weight(k) * apart[j] * apart;
  }
  return out;
}

VectorXd MixturePosterior::means_at(const std::vector<const Point*>& points,
                                    const std::vector<Index>& slots) const {
  VectorXd out = VectorXd::Zero(static_cast<Index>(points.size()));
  for (Index k = 0; k < models(); ++k) {
    out += model_weight(k) * centre(k).means_at(points, slots);
  }
  return out;
}

Index MixturePosterior::best_slot() const {
  std::vector<const Point*> points;
  std::vector<Index> slots;
  for (std::size_t slot = 0; slot < points_.size(); ++slot) {
    if (!kept_[slot]) continue;
    points.push_back(&points_[slot]);
    slots.push_back(static_cast<Index>(slot));
  }
  if (points.empty()) return -1;
  Index best;
  means_at(points, slots).maxCoeff(&best);
  return slots[index(best)];
}

// ---- draws --------------------------------------------------------------------------------------

Index MixturePosterior::chosen(Rng& rng) const {
  double left = rng.uniform();
  for (Index k = 0; k + 1 < models(); ++k) {
    left -= model_weight(k);
    if (left < 0.0) return k;
  }
  return models() - 1;
}

std::unique_ptr<SampledFunction> MixturePosterior::sample(const Posterior& centre,
                                                          const Candidates& candidates,
                                                          double scale, Rng& rng) const {
  const Index k = chosen(rng);
  return model(k).sample(centre.model(k), candidates, scale, rng);
}

void MixturePosterior::sample_all(const Posterior& centre, const Candidates& candidates,
                                  double scale, Rng& rng, Eigen::Ref<MatrixXd> out) const {
  std::vector<std::vector<Index>> columns(models_.size());
  for (Index j = 0; j < out.cols(); ++j) columns[index(chosen(rng))].push_back(j);
  for (Index k = 0; k < models(); ++k) {
    const std::vector<Index>& own = columns[index(k)];
    if (own.empty()) continue;
    MatrixXd drawn(out.rows(), static_cast<Index>(own.size()));
    model(k).sample_all(centre.model(k), candidates, scale, rng, drawn);
    for (std::size_t i = 0; i < own.size(); ++i) out.col(own[i]) = drawn.col(static_cast<Index>(i));
  }
}

}  // namespace gpb
