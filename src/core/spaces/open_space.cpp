#include "spaces/open_space.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {
const DensePosterior& posterior_of(const Model* model) {
  return static_cast<const DenseModel*>(model)->posterior();
}
}  // namespace

std::unique_ptr<Model> OpenSpace::make_model(double noise_var,
                                             const Forgetting& forgetting) const {
  const auto prior = [this](const Place& place) { return prior_mean(place); };
  switch (forgetting.kind) {
    case Forgetting::Kind::none:
      return std::make_unique<DenseModel>(kernel_, noise_var, prior);
    case Forgetting::Kind::fade:
      return std::make_unique<FadingDenseModel>(kernel_, noise_var, prior, forgetting.rate);
    default:
      return std::make_unique<SelectiveDenseModel>(kernel_, noise_var, prior, forgetting);
  }
}

double OpenSpace::best_mean(const DenseModel& mean, const std::vector<Place>& played,
                            const Context& context, Index first) const {
  const Index count = context.values.size();
  const auto in_context = [&](const VectorXd& x) {
    return count == 0 || x.segment(first, count) == context.values;
  };
  double best = -kInf;
  // As many places as observations: each place played has its value, no kernel is needed.
  if (static_cast<Index>(played.size()) == mean.posterior().size()) {
    const VectorXd value = mean.means_at_observations();
    for (Index i = 0; i < value.size(); ++i) {
      if (count > 0 && !in_context(mean.posterior().point(i))) continue;
      best = std::max(best, value[i]);
    }
    return best;
  }
  std::vector<Place> places;
  for (const Place& place : played) {
    if (in_context(place.x)) places.push_back(place);
  }
  return places.empty() ? best : mean.means_at(places).maxCoeff();
}

OpenArmSpace::OpenArmSpace(KernelPtr kernel, MatrixXd arms, Index contexts, VectorXd prior_mean)
    : OpenSpace(std::move(kernel)),
      arms_(std::move(arms)),
      contexts_(contexts),
      prior_mean_(std::move(prior_mean)) {
  Context origin;
  origin.values = VectorXd::Zero(contexts_);
  VectorXd variance(arms_.rows());
  kernel_->diagonal(candidates(origin), variance);
  prior_scale_ = std::sqrt(std::max(0.0, variance.maxCoeff()));
}

Points OpenArmSpace::candidates(const Context& context) const {
  const Index n = arms_.rows(), d = arms_.cols();
  Points X(n, d + contexts_ + 1);
  X.leftCols(d) = arms_;
  X.middleCols(d, contexts_).rowwise() = context.values.transpose();
  X.col(d + contexts_) = VectorXd::LinSpaced(n, 0.0, static_cast<double>(n - 1));
  return X;
}

Place OpenArmSpace::place_of(Index arm, const Context& context) const {
  Place place;
  place.arm = arm;
  place.x.resize(arms_.cols() + contexts_ + 1);
  place.x << arms_.row(arm).transpose(), context.values, static_cast<double>(arm);
  return place;
}

Place OpenArmSpace::uniform(const Context& context, Rng& rng) const {
  return place_of(rng.index(arms_.rows()), context);
}

Place OpenArmSpace::choose(const Acquisition& a, const Models& models, const Context& context,
                           Rng& rng) {
  if (a.kind == PolicyKind::uniform) return uniform(context, rng);
  const Points X = candidates(context);
  VectorXd mean, sd;
  models.mean->predict(X, prior_mean_, mean, sd);
  if (models.variance != models.mean || a.kind == PolicyKind::ts) {
    VectorXd ignored;
    models.variance->predict(X, prior_mean_, ignored, sd);
  }
  if (a.kind == PolicyKind::ts) {
    const DensePosterior& joint = posterior_of(models.variance);
    const VectorXd draw = joint.draw(X, rng, 1, a.width).col(0) - joint.predict_mean(X) + mean;
    return place_of(first_best(draw.data(), draw.size(), kTie * a.prior_scale), context);
  }
  if (a.kind == PolicyKind::ucb && !models.bounds.empty()) {
    VectorXd bound = VectorXd::Constant(X.rows(), kInf), m, s;
    for (const BoundTerm& term : models.bounds) {
      term.model->predict(X, prior_mean_, m, s);
      bound = bound.cwiseMin(m + term.multiplier * s);
    }
    return place_of(first_best(bound.data(), bound.size(), kTie * a.prior_scale), context);
  }
  const VectorXd variance = sd.array().square();
  return place_of(choose_arm(a, mean.data(), variance.data(), X.rows(), scratch_), context);
}

double OpenArmSpace::incumbent(const Model& mean, const std::vector<Place>& played,
                               const Context& context) {
  const double best =
      best_mean(static_cast<const DenseModel&>(mean), played, context, arms_.cols());
  return best > -kInf ? best : prior_mean_.maxCoeff();
}

}  // namespace gpb
