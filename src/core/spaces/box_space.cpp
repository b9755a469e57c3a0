#include "spaces/box_space.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

constexpr Index kFeatures = 1024;      // of a pathwise Thompson draw
constexpr int kStarts = 3;             // climbs from the best candidates
constexpr double kApart = 0.1;         // distance between them, in sides of the box
constexpr Index kCornered = 5;         // up to so many inputs all corners are candidates
constexpr Index kNeighbours = 24;      // fresh points around the best places
constexpr double kDerivativeFloor = -25.0;

const DenseModel& dense(const Model* model) { return *static_cast<const DenseModel*>(model); }

Index candidate_count(Index d) { return std::min<Index>(2048, 256 * (d + 1)); }

// Mean and sd with gradients; the sd comes from the variance's model.
struct Local {
  double mean, sd;
  VectorXd dmean, dsd;
};

Local local_posterior(const Models& models, double prior_mean, const VectorXd& x) {
  Local out;
  dense(models.mean).posterior().predict_gradient(x, out.mean, out.sd, out.dmean, out.dsd);
  out.mean += prior_mean;
  if (models.variance != models.mean) {
    double ignored;
    VectorXd no_gradient;
    dense(models.variance).posterior().predict_gradient(x, ignored, out.sd, no_gradient, out.dsd);
  }
  return out;
}

// log EI and its gradient: d EI = Phi(z) d mean + phi(z) d sd.
double log_improvement(const Local& p, double target, VectorXd* gradient) {
  const double value = log_expected_improvement(p.mean, p.sd, target);
  if (!gradient) return value;
  const double z = p.sd > 0.0 ? (p.mean - target) / p.sd : 0.0;
  if (!(p.sd > 0.0)) {
    *gradient = VectorXd::Zero(p.dmean.size());
  } else if (z > kDerivativeFloor) {
    const double tail = 0.5 * std::erfc(-z * 0.70710678118654752440);
    const double density = 0.39894228040143267794 * std::exp(-0.5 * z * z);
    *gradient = (tail * p.dmean + density * p.dsd) / (p.sd * (z * tail + density));
  } else {
    // log EI = log sd - z^2 / 2 - 2 log |z| + const.
    const VectorXd dz = (p.dmean - z * p.dsd) / p.sd;
    *gradient = p.dsd / p.sd - (z + 2.0 / z) * dz;
  }
  return value;
}

double policy_score(const Acquisition& a, const Local& p, VectorXd* gradient) {
  const double target = a.incumbent + a.xi;
  switch (a.kind) {
    case PolicyKind::ucb:
      if (gradient) *gradient = p.dmean + a.width * p.dsd;
      return p.mean + a.width * p.sd;
    case PolicyKind::mean:
      if (gradient) *gradient = p.dmean;
      return p.mean;
    case PolicyKind::variance:
      if (gradient) *gradient = p.dsd;
      return p.sd;
    case PolicyKind::pi: {
      const double sd = std::max(p.sd, 1e-12);
      const double z = (p.mean - target) / sd;
      if (gradient) *gradient = (p.dmean - z * p.dsd) / sd;
      return z;
    }
    case PolicyKind::ei:
      return log_improvement(p, target, gradient);
    default:
      throw std::logic_error("this policy has no score of its own");
  }
}

}  // namespace

MatrixXd golden_points(Index n, Index d) {
  double phi = 2.0;  // the root of phi^(d + 1) = phi + 1, by fixed point
  for (int i = 0; i < 64; ++i) phi = std::pow(1.0 + phi, 1.0 / static_cast<double>(d + 1));
  MatrixXd out(n, d);
  for (Index c = 0; c < d; ++c) {
    const double step = std::pow(1.0 / phi, static_cast<double>(c + 1));
    for (Index i = 0; i < n; ++i) {
      const double u = 0.5 + step * static_cast<double>(i + 1);
      out(i, c) = u - std::floor(u);
    }
  }
  return out;
}

bool Box::any_integer() const {
  return std::any_of(integer.begin(), integer.end(), [](char flag) { return flag != 0; });
}

VectorXd Box::snap(VectorXd x) const {
  for (Index c = 0; c < inputs(); ++c) {
    const auto k = static_cast<std::size_t>(c);
    if (integer[k]) x[c] = logarithmic[k] ? std::log(std::round(std::exp(x[c]))) : std::round(x[c]);
    x[c] = std::min(std::max(x[c], lower[c]), upper[c]);
  }
  return x;
}

namespace {

// Spread over the unit cube, and its corners: the variance is often largest there.
MatrixXd candidate_points(Index d) {
  const Index inner = candidate_count(d), corners = d <= kCornered ? Index(1) << d : 0;
  MatrixXd out(inner + corners, d);
  out.topRows(inner) = golden_points(inner, d);
  for (Index i = 0; i < corners; ++i) {
    for (Index c = 0; c < d; ++c) out(inner + i, c) = static_cast<double>((i >> c) & 1);
  }
  return out;
}

}  // namespace

BoxSpace::BoxSpace(KernelPtr kernel, Box box, Index contexts, double prior_mean,
                   BoxMinimizer minimize)
    : OpenSpace(std::move(kernel)),
      box_(std::move(box)),
      contexts_(contexts),
      prior_mean_(prior_mean),
      minimize_(std::move(minimize)) {
  const Index d = box_.inputs();
  candidates_ = candidate_points(d);
  for (Index i = 0; i < candidates_.rows(); ++i) {
    const VectorXd scaled =
        box_.lower.array() +
        candidates_.row(i).transpose().array() * (box_.upper - box_.lower).array();
    candidates_.row(i) = box_.snap(scaled).transpose();
  }
  Points probe(candidates_.rows(), d + contexts_);
  probe << candidates_, MatrixXd::Zero(candidates_.rows(), contexts_);
  VectorXd variance(probe.rows());
  kernel_->diagonal(probe, variance);
  prior_scale_ = std::sqrt(std::max(0.0, variance.maxCoeff()));
}

Points BoxSpace::rows_with_context(const MatrixXd& actions, const Context& context) const {
  Points X(actions.rows(), box_.inputs() + contexts_);
  X.leftCols(box_.inputs()) = actions;
  X.rightCols(contexts_).rowwise() = context.values.transpose();
  return X;
}

VectorXd BoxSpace::with_context(const VectorXd& actions, const Context& context) const {
  VectorXd x(box_.inputs() + contexts_);
  x << actions, context.values;
  return x;
}

Place BoxSpace::uniform(const Context& context, Rng& rng) const {
  VectorXd x(box_.inputs());
  for (Index c = 0; c < x.size(); ++c) {
    // A whole number: each with the same probability.
    const bool whole = box_.integer[static_cast<std::size_t>(c)] &&
                       !box_.logarithmic[static_cast<std::size_t>(c)];
    const double low = whole ? box_.lower[c] - 0.5 : box_.lower[c];
    const double high = whole ? box_.upper[c] + 0.5 : box_.upper[c];
    x[c] = low + rng.uniform() * (high - low);
  }
  Place place;
  place.x = with_context(box_.snap(x), context);
  return place;
}

double BoxSpace::incumbent(const Model& mean, const std::vector<Place>& played,
                           const Context& context) {
  const double best =
      best_mean(static_cast<const DenseModel&>(mean), played, context, box_.inputs());
  return best > -kInf ? best : prior_mean_;
}

// Matheron's rule: mean(x) + width (g(x) - k(x, X)(K + lambda I)^-1 (g(X) + noise)),
// g drawn from the prior by random features, the update exact. (Where the prior drifts, g is
// f as it is now, and what the observations hold of the past counts as their noise.)
BoxSpace::PathDraw BoxSpace::draw_path(const Acquisition& a, const Models& models,
                                       Rng& rng) const {
  const DensePosterior& variance = dense(models.variance).posterior();
  const Index t = variance.size();
  PathDraw draw{kernel_.get(), &dense(models.mean).posterior(), prior_mean_, a.width,
                kernel_->draw_prior_path(rng, box_.inputs() + contexts_, kFeatures),
                t > 0 ? variance.points() : Points(), VectorXd()};
  if (t > 0) {
    VectorXd target(t);
    draw.path.values(draw.played, target);
    for (Index i = 0; i < t; ++i) target[i] *= variance.present(i);
    target += variance.draw_residuals(rng);
    draw.weights = variance.solve(target);
    for (Index i = 0; i < t; ++i) draw.weights[i] *= variance.present(i);
  }
  return draw;
}

VectorXd BoxSpace::PathDraw::values(const Points& X) const {
  VectorXd out(X.rows()), cross(X.rows());
  path.values(X, out);
  for (Index i = 0; i < weights.size(); ++i) {
    kernel->cross(played.row(i).transpose(), X, cross);
    out -= weights[i] * cross;
  }
  return mean->predict_mean(X) + width * out + VectorXd::Constant(X.rows(), prior_mean);
}

double BoxSpace::PathDraw::value_and_gradient(const VectorXd& x, VectorXd& gradient) const {
  VectorXd dpath;
  double value = prior_mean + mean->mean_and_gradient(x, gradient);
  value += width * path.value_and_gradient(x, dpath);
  gradient += width * dpath;
  if (weights.size() > 0) {
    VectorXd cross(weights.size());
    kernel->cross(x, played, cross);
    value -= width * cross.dot(weights);
    MatrixXd slope;
    kernel->input_gradient(x, played, slope);
    gradient.noalias() -= width * (slope.transpose() * weights);
  }
  return value;
}

VectorXd BoxSpace::score_candidates(const Acquisition& a, const Models& models,
                                    const Context& context) {
  if (!mean_cache_ || cached_context_ != context.values) {
    const Points X = rows_with_context(candidates_, context);
    mean_cache_ = std::make_unique<PredictionCache>(X);
    variance_cache_ = std::make_unique<PredictionCache>(X);
    cached_context_ = context.values;
  }
  mean_cache_->follow(dense(models.mean).posterior());
  const bool same = models.mean == models.variance;
  if (!same) variance_cache_->follow(dense(models.variance).posterior());
  return policy_scores(a, mean_cache_->mean(), same ? mean_cache_->variance() : variance_cache_->variance());
}

VectorXd BoxSpace::policy_scores(const Acquisition& a, const VectorXd& mean,
                                 const VectorXd& variance) const {
  VectorXd scores(mean.size());
  Local p;
  for (Index i = 0; i < scores.size(); ++i) {
    p.mean = mean[i] + prior_mean_;
    p.sd = std::sqrt(std::max(0.0, variance[i]));
    scores[i] = policy_score(a, p, nullptr);
  }
  return scores;
}

BoxSpace::Scores BoxSpace::formula_scores(const Acquisition& a, const Models& models,
                                          const Context& context) {
  const ScoreAll all = [this, a, models](const Points& X) {
    VectorXd mean, variance, ignored;
    dense(models.mean).posterior().predict(X, mean, variance);
    if (models.variance != models.mean) {
      dense(models.variance).posterior().predict(X, ignored, variance);
    }
    return policy_scores(a, mean, variance);
  };
  const Score one = [this, a, models](const VectorXd& x, VectorXd* gradient) {
    return policy_score(a, local_posterior(models, prior_mean_, x), gradient);
  };
  return {one, all, score_candidates(a, models, context)};
}

BoxSpace::Scores BoxSpace::path_scores(const Acquisition& a, const Models& models,
                                       const Context& context, Rng& rng) const {
  const auto draw = std::make_shared<const PathDraw>(draw_path(a, models, rng));
  const Score one = [draw](const VectorXd& x, VectorXd* gradient) {
    return gradient ? draw->value_and_gradient(x, *gradient) : draw->values(x.transpose())[0];
  };
  return {one, [draw](const Points& X) { return draw->values(X); },
          draw->values(rows_with_context(candidates_, context))};
}

// width_dmm: the smallest of several upper bounds.
BoxSpace::Scores BoxSpace::bound_scores(const Models& models, const Context& context) const {
  const Score one = [this, models](const VectorXd& x, VectorXd* gradient) {
    double best = kInf;
    for (const BoundTerm& term : models.bounds) {
      const Local p = local_posterior({term.model, term.model, {}}, prior_mean_, x);
      const double bound = p.mean + term.multiplier * p.sd;
      if (bound >= best) continue;
      best = bound;
      if (gradient) *gradient = p.dmean + term.multiplier * p.dsd;
    }
    return best;
  };
  const ScoreAll all = [this, models](const Points& X) {
    VectorXd best = VectorXd::Constant(X.rows(), kInf), mean, variance;
    for (const BoundTerm& term : models.bounds) {
      dense(term.model).posterior().predict(X, mean, variance);
      mean.array() += prior_mean_ + term.multiplier * variance.array().sqrt();
      best = best.cwiseMin(mean);
    }
    return best;
  };
  return {one, all, all(rows_with_context(candidates_, context))};
}

BoxSpace::Scores BoxSpace::scores_of(const Acquisition& a, const Models& models,
                                     const Context& context, Rng& rng) {
  if (a.kind == PolicyKind::ts) return path_scores(a, models, context, rng);
  if (!models.bounds.empty()) return bound_scores(models, context);
  return formula_scores(a, models, context);
}

// The best candidates, kept apart from each other, and the place of the best mean.
std::vector<VectorXd> BoxSpace::starts(const Scores& given, const Models& models,
                                       const Context& context) const {
  const VectorXd& scores = given.of_candidates;
  const VectorXd side = box_.upper - box_.lower;
  std::vector<VectorXd> out;
  std::vector<char> near(static_cast<std::size_t>(scores.size()), 0);
  while (static_cast<int>(out.size()) < kStarts) {
    Index best = -1;
    for (Index i = 0; i < scores.size(); ++i) {
      if (near[static_cast<std::size_t>(i)] || std::isnan(scores[i])) continue;
      if (best < 0 || scores[i] > scores[best]) best = i;
    }
    if (best < 0) break;
    out.push_back(candidates_.row(best).transpose());
    for (Index i = 0; i < scores.size(); ++i) {
      const auto gap = (candidates_.row(i) - candidates_.row(best)).transpose().array() / side.array();
      if (gap.matrix().norm() <= kApart) near[static_cast<std::size_t>(i)] = 1;
    }
  }
  const DenseModel& mean = dense(models.mean);
  if (mean.posterior().size() > 0) out.push_back(best_neighbour(best_played(mean), given.all, context));
  return out;
}

// The actions of the observation with the best mean.
VectorXd BoxSpace::best_played(const DenseModel& mean) const {
  Index best = 0;
  mean.means_at_observations().maxCoeff(&best);
  return mean.posterior().point(best).head(box_.inputs());
}

// The best of a place and of points around it, at shrinking distances.
VectorXd BoxSpace::best_neighbour(const VectorXd& centre, const ScoreAll& score_all,
                                  const Context& context) const {
  const Index d = box_.inputs();
  const MatrixXd offsets = golden_points(kNeighbours, d).array() - 0.5;
  MatrixXd actions(kNeighbours + 1, d);
  actions.row(0) = box_.snap(centre).transpose();
  for (Index i = 0; i < kNeighbours; ++i) {
    const double reach = 0.2 * std::pow(0.1, static_cast<double>(i % 4));
    const auto step = offsets.row(i).transpose().array() * (box_.upper - box_.lower).array();
    actions.row(i + 1) = box_.snap(centre + (reach * step).matrix()).transpose();
  }
  Index best = 0;
  score_all(rows_with_context(actions, context)).maxCoeff(&best);
  return actions.row(best).transpose();
}

VectorXd BoxSpace::climb(const VectorXd& start, const Score& score, const Context& context) const {
  const VectorXd side = box_.upper - box_.lower;
  const Index d = box_.inputs();
  VectorXd u = ((start - box_.lower).array() / side.array()).cwiseMax(0.0).cwiseMin(1.0);
  minimize_(u, [&](const VectorXd& at, VectorXd& gradient) {
    const VectorXd x =
        with_context((box_.lower.array() + at.array() * side.array()).matrix(), context);
    VectorXd slope;
    const double value = score(x, &slope);
    gradient = -(slope.head(d).array() * side.array()).matrix();
    return -value;
  });
  return box_.snap((box_.lower.array() + u.array() * side.array()).matrix());
}

Place BoxSpace::choose(const Acquisition& a, const Models& models, const Context& context,
                       Rng& rng) {
  if (a.kind == PolicyKind::uniform) return uniform(context, rng);
  const Scores scores = scores_of(a, models, context, rng);
  VectorXd best;
  double best_score = -kInf;
  const auto consider = [&](const VectorXd& actions) {
    const double value = scores.one(with_context(actions, context), nullptr);
    if (best.size() == 0 || value > best_score) {
      best = actions;
      best_score = value;
    }
  };
  for (const VectorXd& start : starts(scores, models, context)) {
    consider(start);
    consider(climb(start, scores.one, context));
  }
  Place place;
  place.x = with_context(best, context);
  return place;
}

}  // namespace gpb
