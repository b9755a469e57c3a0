#include "posteriors/open_posterior.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {
constexpr Index kFeatures = 1024;  // of a path's prior part
}

OpenPosterior::OpenPosterior(KernelPtr kernel, double noise_var, PriorMean prior_mean,
                             const Forgetting& forgetting)
    : prior_mean_(std::move(prior_mean)), dense_(std::move(kernel), noise_var) {
  if (forgetting.fades()) dense_.set_fading(forgetting.rate);
}

// ---- following the observations ---------------------------------------------

void OpenPosterior::enter(Entry& entry) const {
  entry.at = dense_.size();
  dense_.add(entry.x, entry.centred, noise_scale(entry), entry.round);
}

void OpenPosterior::add(const Observation& o) {
  const double prior = prior_mean_.at(o.place.x);
  entries_.push_back({o.place.x, o.value - prior, prior, o.weight, o.round, -1, true, log_scale_});
  if (!stale_) enter(entries_.back());
}

void OpenPosterior::set_value(Index slot, double y) {
  Entry& entry = entries_[static_cast<std::size_t>(slot)];
  entry.centred = y - entry.prior;
  if (!stale_ && entry.at >= 0) dense_.set_target(entry.at, entry.centred);
}

void OpenPosterior::set_values(const std::vector<double>& y) {
  for (std::size_t k = 0; k < y.size(); ++k) set_value(static_cast<Index>(k), y[k]);
}

void OpenPosterior::drop(Index slot) {
  Entry& entry = entries_[static_cast<std::size_t>(slot)];
  if (!entry.kept) return;
  entry.kept = false;
  if (!stale_ && entry.at == dense_.size() - 1) {
    dense_.truncate(entry.at);
  } else {
    stale_ = true;
  }
  entry.at = -1;
}

void OpenPosterior::rescale(double factor) {
  log_scale_ += std::log(factor);
  stale_ = true;
}

void OpenPosterior::clear() {
  dense_.clear();
  entries_.clear();
  stale_ = false;
}

const DensePosterior& OpenPosterior::settled() const {
  if (!stale_) return dense_;
  dense_.clear();
  stale_ = false;
  std::vector<Entry*> kept;
  for (Entry& entry : entries_) {
    entry.at = -1;
    if (entry.kept) kept.push_back(&entry);
  }
  if (dense_.fades()) {
    for (Entry* entry : kept) enter(*entry);
    return dense_;
  }
  const Index m = static_cast<Index>(kept.size());
  if (m == 0) return dense_;
  Points X(m, kept[0]->x.size());
  VectorXd y(m), scale(m);
  for (Index i = 0; i < m; ++i) {
    Entry& entry = *kept[static_cast<std::size_t>(i)];
    X.row(i) = entry.x.transpose();
    y[i] = entry.centred;
    scale[i] = noise_scale(entry);
    entry.at = i;
  }
  dense_.add(X, y, scale);
  return dense_;
}

// ---- what it says -----------------------------------------------------------

void OpenPosterior::at(const Place& place, double& mean, double& sd) const {
  double variance;
  settled().predict_at(place.x, mean, variance);
  mean += prior_mean_.at(place.x);
  sd = std::sqrt(std::max(0.0, variance));
}

Moments OpenPosterior::moments(const Candidates& candidates) const {
  if (!candidates.token) {
    predict(candidates.X, mean_, variance_);
    return {mean_.data(), variance_.data()};
  }
  if (!cache_ || cached_ != candidates.token) {
    cache_ = std::make_unique<PredictionCache>(candidates.X);
    cached_ = candidates.token;
    cached_prior_ = prior_mean_.at(candidates.X);
  }
  cache_->follow(settled());
  mean_ = cache_->mean() + cached_prior_;
  return {mean_.data(), cache_->variance().data()};
}

void OpenPosterior::predict(const Points& X, VectorXd& mean, VectorXd& variance) const {
  settled().predict(X, mean, variance);
  mean += prior_mean_.at(X);
}

VectorXd OpenPosterior::mean_of(const Points& X) const {
  return settled().predict_mean(X) + prior_mean_.at(X);
}

double OpenPosterior::mean_of(const VectorXd& x, VectorXd& gradient) const {
  return settled().mean_and_gradient(x, gradient) + prior_mean_.at(x);
}

void OpenPosterior::local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                          VectorXd& dsd) const {
  settled().predict_gradient(x, mean, sd, dmean, dsd);
  mean += prior_mean_.at(x);
}

// Without fading y_i - lambda_i alpha_i.
VectorXd OpenPosterior::means_at_observations() const {
  const DensePosterior& known = settled();
  VectorXd out(known.size());
  if (known.size() == 0) return out;
  if (known.fades()) {
    VectorXd ignored;
    known.predict(known.points(), out, ignored);
  } else {
    for (Index i = 0; i < known.size(); ++i) {
      const double noise = known.noise_var() * known.noise_scale(i);
      out[i] = known.target(i) - noise * known.weights()[i];
    }
  }
  for (const Entry& entry : entries_) {
    if (entry.at >= 0) out[entry.at] += entry.prior;
  }
  return out;
}

VectorXd OpenPosterior::means_at(const std::vector<const Place*>& places,
                                 const std::vector<Index>& slots) const {
  const VectorXd observed = means_at_observations();
  VectorXd out(static_cast<Index>(places.size()));
  std::vector<Index> left;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const Index at = slots[k] < 0 ? -1 : entries_[static_cast<std::size_t>(slots[k])].at;
    if (at >= 0) out[static_cast<Index>(k)] = observed[at];
    else left.push_back(static_cast<Index>(k));
  }
  if (left.empty()) return out;
  Points X(static_cast<Index>(left.size()), places[0]->x.size());
  for (std::size_t k = 0; k < left.size(); ++k) {
    X.row(static_cast<Index>(k)) = places[static_cast<std::size_t>(left[k])]->x.transpose();
  }
  // (Sums over the weights would be quicker, but lose digits where the noise is small.)
  VectorXd mean, ignored;
  predict(X, mean, ignored);
  for (std::size_t k = 0; k < left.size(); ++k) out[left[k]] = mean[static_cast<Index>(k)];
  return out;
}

Index OpenPosterior::best_slot() const {
  const VectorXd mean = means_at_observations();
  Index best = -1;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    const Index at = entries_[k].at;
    if (at < 0) continue;
    if (best < 0 || mean[at] > mean[entries_[static_cast<std::size_t>(best)].at]) {
      best = static_cast<Index>(k);
    }
  }
  return best;
}

// ---- draws ------------------------------------------------------------------

namespace {

// Matheron's rule: mean(x) + scale (g(x) - k(x, X)(K + lambda I)^-1 (g(X) + noise)),
// g drawn from the prior by random features, the update exact. (Where the prior drifts, g is
// f as it is now, and what the observations hold of the past counts as their noise.)
class PathDraw final : public SampledFunction {
 public:
  PathDraw(const Posterior& centre, const DensePosterior& spread, Index inputs, double scale,
           Rng& rng)
      : centre_(centre),
        kernel_(spread.kernel()),
        scale_(scale),
        path_(kernel_.draw_prior_path(rng, inputs, kFeatures)) {
    const Index t = spread.size();
    if (t == 0) return;
    played_ = spread.points();
    VectorXd target(t);
    path_.values(played_, target);
    for (Index i = 0; i < t; ++i) target[i] *= spread.present(i);
    target += spread.draw_residuals(rng);
    weights_ = spread.solve(target);
    for (Index i = 0; i < t; ++i) weights_[i] *= spread.present(i);
  }

  void values(const Candidates& candidates, VectorXd& out) const override {
    const Moments centre = centre_.moments(candidates);
    out = scale_ * deviation(candidates.X) +
          Eigen::Map<const VectorXd>(centre.mean, candidates.size());
  }

  VectorXd at(const Points& X) const override {
    return centre_.mean_of(X) + scale_ * deviation(X);
  }

  double at(const VectorXd& x, VectorXd* gradient) const override {
    if (!gradient) return at(Points(x.transpose()))[0];
    VectorXd dpath;
    double value = centre_.mean_of(x, *gradient);
    value += scale_ * path_.value_and_gradient(x, dpath);
    *gradient += scale_ * dpath;
    if (weights_.size() == 0) return value;
    VectorXd cross(weights_.size());
    kernel_.cross(x, played_, cross);
    value -= scale_ * cross.dot(weights_);
    MatrixXd slope;
    kernel_.input_gradient(x, played_, slope);
    gradient->noalias() -= scale_ * (slope.transpose() * weights_);
    return value;
  }

 private:
  VectorXd deviation(const Points& X) const {
    VectorXd out(X.rows()), cross(X.rows());
    path_.values(X, out);
    for (Index i = 0; i < weights_.size(); ++i) {
      kernel_.cross(played_.row(i).transpose(), X, cross);
      out -= weights_[i] * cross;
    }
    return out;
  }

  const Posterior& centre_;
  const Kernel& kernel_;
  double scale_;
  PriorPath path_;
  Points played_;
  VectorXd weights_;
};

}  // namespace

std::unique_ptr<SampledFunction> OpenPosterior::sample(const Posterior& centre,
                                                       const Candidates& candidates,
                                                       double scale, Rng& rng) const {
  if (!candidates.complete) {
    return std::make_unique<PathDraw>(centre, settled(), candidates.X.cols(), scale, rng);
  }
  VectorXd values(candidates.size());
  sample_all(centre, candidates, scale, rng, values);
  return std::make_unique<SetDraw>(std::move(values));
}

void OpenPosterior::sample_all(const Posterior& centre, const Candidates& candidates, double scale,
                               Rng& rng, Eigen::Ref<MatrixXd> out) const {
  VectorXd ignored;
  out = settled().draw_about_zero(candidates.X, rng, out.cols(), scale, ignored);
  out.colwise() +=
      Eigen::Map<const VectorXd>(centre.moments(candidates).mean, candidates.size());
}

}  // namespace gpb
