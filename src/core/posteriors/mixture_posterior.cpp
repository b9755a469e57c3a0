// Posteriors of several models, and posteriors with earlier campaigns. Uses other engines by posterior.h alone.
#include "posteriors/mixture_posterior.h"
#include "posteriors/transfer_posterior.h"

#include <algorithm>
#include <cmath>

namespace gpb {

MixturePosterior::MixturePosterior(std::vector<Model> models, double noise_var)
    : models_(std::move(models)), noise_var_(noise_var) {
  if (models_.empty()) throw std::invalid_argument("a mixture needs a model");
  double whole = 0;
  for (const Model& one : models_) whole += one.weight;
  if (!(std::abs(whole - 1) <= 1e-9)) {
    throw std::invalid_argument("the weights of a mixture's models do not sum to 1");
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

Index MixturePosterior::rank() const {
  Index most = 0;
  for (Index k = 0; k < models(); ++k) most = std::max(most, model(k).rank());
  return most;
}

double MixturePosterior::error_bound() const {
  double most = 0.0;
  for (Index k = 0; k < models(); ++k) {
    if (std::isnan(model(k).error_bound())) return kNaN;
    most = std::max(most, model(k).error_bound());
  }
  return 2.0 * most;
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

// ---- posterior with earlier campaigns -----------------------------------------------------------

namespace {

VectorXd in_this_campaign(const VectorXd& x) {
  return joined(x, 0.0);
}

Points in_this_campaign(const Points& X) {
  Points out(X.rows(), X.cols() + 1);
  out.leftCols(X.cols()) = X;
  out.col(X.cols()).setZero();
  return out;
}

// A draw from the engine, evaluated without the campaign's number.
class TransferDraw final : public SampledFunction {
 public:
  TransferDraw(std::unique_ptr<SampledFunction> drawn, const TransferPosterior& of)
      : drawn_(std::move(drawn)), of_(of) {}
  void values(const Candidates& candidates, VectorXd& out) const override {
    drawn_->values(of_.of_engine(candidates), out);
  }
  VectorXd at(const Points& X) const override { return drawn_->at(in_this_campaign(X)); }
  double at(const VectorXd& x, VectorXd* gradient) const override {
    const double value = drawn_->at(in_this_campaign(x), gradient);
    if (gradient) gradient->conservativeResize(x.size());
    return value;
  }

 private:
  std::unique_ptr<SampledFunction> drawn_;
  const TransferPosterior& of_;
};

const TransferPosterior& transfer_posterior(const Posterior& posterior) {
  return static_cast<const TransferPosterior&>(posterior);
}

}  // namespace

TransferPosterior::TransferPosterior(std::unique_ptr<OpenPosterior> engine, double prior_mean,
                                   TransferRowsPtr rows, std::shared_ptr<const Points> table)
    : engine_(std::move(engine)),
      prior_mean_(prior_mean),
      rows_(std::move(rows)),
      table_(std::move(table)),
      first_(rows_->values.size()) {
  learn_rows();
}

// ---- updates by observations ------------------------------------------------------------------

void TransferPosterior::learn_rows() {
  for (Index i = 0; i < first_; ++i) {
    Observation one;
    one.point = Point::point(row_of(rows_->inputs, i));
    one.value = prior_mean_ + rows_->values[i];
    one.weight = engine_->noise_var() / rows_->noise_var[i];
    one.owns_noise = true;
    engine_->add(one);
  }
  log_det_before_ = engine_->log_det();
  quadratic_before_ = engine_->quadratic();
}

void TransferPosterior::add(const Observation& observation) {
  Observation one = observation;
  one.point = of_engine(observation.point);
  points_.push_back(one.point);
  kept_.push_back(1);
  engine_->add(one);
}

void TransferPosterior::set_values(const std::vector<double>& y) {
  std::vector<double> all(static_cast<std::size_t>(first_));
  for (Index i = 0; i < first_; ++i) all[static_cast<std::size_t>(i)] = prior_mean_ + rows_->values[i];
  all.insert(all.end(), y.begin(), y.end());
  engine_->set_values(all);
}

void TransferPosterior::drop(Index slot) {
  kept_[static_cast<std::size_t>(slot)] = 0;
  engine_->drop(slot + first_);
}

void TransferPosterior::clear() {
  points_.clear();
  kept_.clear();
  engine_->clear();
  learn_rows();
}

// ---- conversion to the engine's points ----------------------------------------------------------

Point TransferPosterior::of_engine(const Point& point) const {
  if (point.kind != Point::Kind::tabled) return Point::point(in_this_campaign(point.x));
  return Point::point(in_this_campaign(row_of(*table_, point.row)));
}

const Candidates& TransferPosterior::of_engine(const Candidates& candidates) const {
  if (candidates.token && asked_ == candidates.token) return candidates_;
  candidates_ = candidates;
  if (candidates.tabled()) {
    candidates_.X = in_this_campaign(Points(table_->middleRows(candidates.first, candidates.count)));
  } else {
    candidates_.X = in_this_campaign(candidates.X);
  }
  asked_ = candidates.token;
  return candidates_;
}

// ---- predictions --------------------------------------------------------------------------------

void TransferPosterior::at(const Point& point, double& mean, double& sd) const {
  engine_->at(of_engine(point), mean, sd);
}

Moments TransferPosterior::moments(const Candidates& candidates) const {
  return engine_->moments(of_engine(candidates));
}

void TransferPosterior::predict(const Points& X, VectorXd& mean, VectorXd& variance) const {
  engine_->predict(in_this_campaign(X), mean, variance);
}

VectorXd TransferPosterior::mean_of(const Points& X) const {
  return engine_->mean_of(in_this_campaign(X));
}

double TransferPosterior::mean_of(const VectorXd& x, VectorXd& gradient) const {
  const double mean = engine_->mean_of(in_this_campaign(x), gradient);
  gradient.conservativeResize(x.size());
  return mean;
}

void TransferPosterior::local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                             VectorXd& dsd) const {
  engine_->local(in_this_campaign(x), mean, sd, dmean, dsd);
  dmean.conservativeResize(x.size());
  dsd.conservativeResize(x.size());
}

void TransferPosterior::sketch(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                              VectorXd& dsd) const {
  engine_->sketch(in_this_campaign(x), mean, sd, dmean, dsd);
  dmean.conservativeResize(x.size());
  dsd.conservativeResize(x.size());
}

void TransferPosterior::sketches(const Points& X, VectorXd& mean, VectorXd& variance) const {
  engine_->sketches(in_this_campaign(X), mean, variance);
}

MatrixXd TransferPosterior::covariance(const Candidates& candidates,
                                      const std::vector<Index>& some) const {
  return engine_->covariance(of_engine(candidates), some);
}

void TransferPosterior::differences(const Candidates& candidates, const Point& from, VectorXd& mean,
                                   VectorXd& variance) const {
  engine_->differences(of_engine(candidates), of_engine(from), mean, variance);
}

VectorXd TransferPosterior::means_at(const std::vector<const Point*>& points,
                                    const std::vector<Index>& slots) const {
  std::vector<Point> own;
  for (const Point* point : points) own.push_back(of_engine(*point));
  std::vector<const Point*> pointers;
  for (const Point& point : own) pointers.push_back(&point);
  std::vector<Index> own_slots = slots;
  for (Index& slot : own_slots) {
    if (slot >= 0) slot += first_;
  }
  return engine_->means_at(pointers, own_slots);
}

Index TransferPosterior::best_slot() const {
  std::vector<const Point*> points;
  std::vector<Index> slots;
  for (std::size_t slot = 0; slot < points_.size(); ++slot) {
    if (!kept_[slot]) continue;
    points.push_back(&points_[slot]);
    slots.push_back(static_cast<Index>(slot) + first_);
  }
  if (points.empty()) return -1;
  Index best;
  engine_->means_at(points, slots).maxCoeff(&best);
  return slots[static_cast<std::size_t>(best)] - first_;
}

// ---- draws --------------------------------------------------------------------------------------

std::unique_ptr<SampledFunction> TransferPosterior::sample(const Posterior& centre,
                                                          const Candidates& candidates,
                                                          double scale, Rng& rng) const {
  const TransferPosterior& other = transfer_posterior(centre);
  return std::make_unique<TransferDraw>(
      engine_->sample(*other.engine_, of_engine(candidates), scale, rng), *this);
}

void TransferPosterior::sample_all(const Posterior& centre, const Candidates& candidates,
                                  double scale, Rng& rng, Eigen::Ref<MatrixXd> out) const {
  engine_->sample_all(*transfer_posterior(centre).engine_, of_engine(candidates), scale, rng, out);
}

}  // namespace gpb
