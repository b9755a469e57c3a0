#include "spaces/mixed_space.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/golden_points.h"
#include "posteriors/open_posterior.h"

namespace gpb {

namespace {

constexpr Index kFewGroups = 12;      // up to so many combinations of levels each has a start,
constexpr std::size_t kBest = 3;      // and so many more are the best that are far apart:
constexpr double kApart = 0.1;        // in sides of the box
constexpr int kTurns = 10;            // of climbs and exchanges
constexpr Index kAround = 24;         // points of a look around
constexpr double kSmallStep = 1e-4;   // of differences of constraints, in sides of the box
constexpr Index kTries = 32;          // uniform points drawn together,
constexpr int kMostDraws = 300;       // so many times

VectorXd picked(const VectorXd& values, const std::vector<Index>& at) {
  VectorXd out(static_cast<Index>(at.size()));
  for (std::size_t i = 0; i < at.size(); ++i) out[static_cast<Index>(i)] = values[at[i]];
  return out;
}

}  // namespace

MixedSpace::MixedSpace(KernelPtr kernel, MixedSetting setting, VectorXd prior_mean,
                       const OpenEngine& engine, BoxMinimizer minimize)
    : kernel_(std::move(kernel)),
      setting_(std::move(setting)),
      prior_mean_(std::move(prior_mean)),
      engine_(engine),
      minimize_(std::move(minimize)) {
  const Points& X = setting_.candidates;
  if (X.rows() < 1 || X.cols() != setting_.width) {
    throw std::invalid_argument("a search space needs candidates");
  }
  const MatrixXd first = X.topRows(1).leftCols(setting_.box.inputs());
  constrained_ = settled(first).excess.cols() > 0;
  std::map<std::vector<double>, Index> seen;
  for (Index i = 0; i < X.rows(); ++i) {
    std::vector<double> levels;
    for (Index c = 0; c < X.cols(); ++c) {
      const bool indicator = c >= setting_.box.inputs();
      if (indicator || setting_.categorical[static_cast<std::size_t>(c)]) levels.push_back(X(i, c));
    }
    const auto next = static_cast<Index>(seen.size());
    group_.push_back(seen.emplace(std::move(levels), next).first->second);
  }
  groups_ = static_cast<Index>(seen.size());
  Context origin;
  origin.values = VectorXd::Zero(setting_.contexts);
  VectorXd variance(X.rows());
  kernel_->diagonal(candidates(origin).X, variance);
  prior_scale_ = std::sqrt(std::max(0.0, variance.maxCoeff()));
}

std::unique_ptr<Posterior> MixedSpace::make_posterior(double noise_var,
                                                      const Forgetting& forgetting) const {
  return std::make_unique<OpenPosterior>(kernel_, noise_var, prior_mean_, forgetting, engine_);
}

// ---- points and places --------------------------------------------------------

Settled MixedSpace::settled(const MatrixXd& points) const {
  if (!setting_.settle) {
    Settled out{points, MatrixXd(points.rows(), 0)};
    for (Index i = 0; i < points.rows(); ++i) {
      out.inputs.row(i) = setting_.box.snap(points.row(i).transpose()).transpose();
    }
    return out;
  }
  auto told = setting_.settle(points);
  if (told.first.rows() != points.rows() || told.first.cols() != setting_.width ||
      told.second.rows() != points.rows()) {
    throw std::invalid_argument("a search space's rules say something else than what was asked");
  }
  return {std::move(told.first), std::move(told.second)};
}

Points MixedSpace::in_context(const Points& inputs, const Context& context) const {
  Points X(inputs.rows(), setting_.width + setting_.contexts);
  X.leftCols(setting_.width) = inputs;
  X.rightCols(setting_.contexts).rowwise() = context.values.transpose();
  return X;
}

const Candidates& MixedSpace::candidates(const Context& context) {
  if (candidates_.token && context_ == context.values) return candidates_;
  candidates_.complete = false;
  candidates_.token = std::make_shared<const char>('\0');
  candidates_.X = in_context(setting_.candidates, context);
  context_ = context.values;
  return candidates_;
}

Place MixedSpace::place(Index, Index, const VectorXd& inputs) const {
  if (inputs.size() != setting_.width + setting_.contexts || !inputs.allFinite()) {
    throw std::invalid_argument("there is no such point in the search space");
  }
  return Place::point(inputs);
}

bool MixedSpace::in_context(const Place& place, const Context& context) const {
  return setting_.contexts == 0 || place.x.tail(setting_.contexts) == context.values;
}

// Points of the box until one may be played; whole numbers and levels each with the same
// probability.
Place MixedSpace::uniform(const Context& context, Rng& rng) const {
  const Box& box = setting_.box;
  MatrixXd points(setting_.settle ? kTries : 1, box.inputs());
  for (int draw = 0; draw < kMostDraws; ++draw) {
    for (Index i = 0; i < points.rows(); ++i) {
      for (Index c = 0; c < box.inputs(); ++c) {
        const auto k = static_cast<std::size_t>(c);
        const double slack = box.integer[k] && !box.logarithmic[k] ? 0.5 : 0.0;
        const double side = box.upper[c] - box.lower[c] + 2.0 * slack;
        points(i, c) = box.lower[c] - slack + rng.uniform() * side;
      }
    }
    const Settled found = settled(points);
    for (Index i = 0; i < points.rows(); ++i) {
      if ((found.excess.row(i).array() > 0.0).any()) continue;
      return Place::point(in_context(found.inputs.row(i), context).row(0).transpose());
    }
  }
  const Index i = rng.index(setting_.candidates.rows());
  return Place::point(in_context(setting_.candidates.row(i), context).row(0).transpose());
}

bool MixedSpace::exists(const Spot& spot, Index input) const {
  const Index column = setting_.indicator[static_cast<std::size_t>(input)];
  return column < 0 || spot.inputs[column] != 0.0;
}

// The inputs that a climb moves.
std::vector<Index> MixedSpace::free_inputs(const Spot& spot) const {
  std::vector<Index> out;
  for (Index c = 0; c < setting_.box.inputs(); ++c) {
    const bool number = !setting_.categorical[static_cast<std::size_t>(c)];
    const bool varies = setting_.box.upper[c] > setting_.box.lower[c];
    if (number && varies && exists(spot, c)) out.push_back(c);
  }
  return out;
}

// ---- the search -----------------------------------------------------------------

bool MixedSpace::far_apart(Index a, Index b) const {
  if (group_[static_cast<std::size_t>(a)] != group_[static_cast<std::size_t>(b)]) return true;
  const Index d = setting_.box.inputs();
  const VectorXd side = setting_.box.side().array().max(1e-300);
  const VectorXd gap = (setting_.candidates.row(a) - setting_.candidates.row(b)).head(d);
  return gap.cwiseQuotient(side).norm() > kApart;
}

std::vector<Index> MixedSpace::starts(const VectorXd& scores) const {
  std::vector<Index> order;
  for (Index i = 0; i < scores.size(); ++i) {
    if (!std::isnan(scores[i])) order.push_back(i);
  }
  const auto above = [&](Index a, Index b) { return scores[a] > scores[b]; };
  std::stable_sort(order.begin(), order.end(), above);
  std::vector<Index> out;
  for (const Index i : order) {
    const auto near = [&](Index j) { return !far_apart(i, j); };
    if (out.size() < kBest && std::none_of(out.begin(), out.end(), near)) out.push_back(i);
  }
  if (groups_ > kFewGroups) return out;
  std::vector<char> begun(static_cast<std::size_t>(groups_), 0);
  const auto done = [&](Index i) -> char& {
    return begun[static_cast<std::size_t>(group_[static_cast<std::size_t>(i)])];
  };
  for (const Index i : out) done(i) = 1;
  for (const Index i : order) {
    if (!done(i)) out.push_back(i);
    done(i) = 1;
  }
  return out;
}

MixedSpace::Spot MixedSpace::better(const Spot& spot, const MatrixXd& points,
                                    const Query& query) const {
  if (points.rows() == 0) return spot;
  const Settled found = settled(points);
  std::vector<Index> playable;
  for (Index i = 0; i < points.rows(); ++i) {
    if (!(found.excess.row(i).array() > 0.0).any()) playable.push_back(i);
  }
  if (playable.empty()) return spot;
  Points inputs(static_cast<Index>(playable.size()), setting_.width);
  for (std::size_t i = 0; i < playable.size(); ++i) {
    inputs.row(static_cast<Index>(i)) = found.inputs.row(playable[i]);
  }
  const VectorXd values = query.score.at(in_context(inputs, query.context));
  Spot best = spot;
  for (Index i = 0; i < values.size(); ++i) {
    if (values[i] > best.value) best = {inputs.row(i).transpose(), values[i]};
  }
  return best;
}

MixedSpace::Spot MixedSpace::improved(Spot spot, const Query& query) const {
  for (int turn = 0; turn < kTurns; ++turn) {
    const double before = spot.value;
    spot = exchanged(climbed(spot, query), query);
    if (!(spot.value > before + 1e-9 * query.score.unit())) break;
  }
  return spot;
}

// The best change of one level, or of one whole number by one.
MixedSpace::Spot MixedSpace::exchanged(const Spot& spot, const Query& query) const {
  const Box& box = setting_.box;
  const VectorXd here = point_of(spot);
  std::vector<std::pair<Index, double>> changes;
  for (Index c = 0; c < box.inputs(); ++c) {
    const auto k = static_cast<std::size_t>(c);
    if (!box.integer[k] || !exists(spot, c)) continue;
    if (setting_.categorical[k]) {
      for (double code = box.lower[c]; code <= box.upper[c]; ++code) {
        if (code != here[c]) changes.emplace_back(c, code);
      }
      continue;
    }
    for (const double step : {-1.0, 1.0}) {
      const double to = box.logarithmic[k]
                            ? std::log(std::max(1.0, std::round(std::exp(here[c])) + step))
                            : here[c] + step;
      if (to >= box.lower[c] && to <= box.upper[c]) changes.emplace_back(c, to);
    }
  }
  MatrixXd points = here.transpose().replicate(static_cast<Index>(changes.size()), 1);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    points(static_cast<Index>(i), changes[i].first) = changes[i].second;
  }
  return better(spot, points, query);
}

// Over the inputs that exist here and have an order, relaxed to reals; the levels stay.
MixedSpace::Spot MixedSpace::climbed(const Spot& spot, const Query& query) const {
  const std::vector<Index> free = free_inputs(spot);
  if (free.empty() || !std::isfinite(spot.value)) return spot;
  const VectorXd lower = picked(setting_.box.lower, free), side = picked(setting_.box.side(), free);
  const VectorXd here = point_of(spot);
  VectorXd u = ((picked(here, free) - lower).array() / side.array()).cwiseMax(0.0).cwiseMin(1.0);
  const auto point_at = [&](const VectorXd& at) {
    VectorXd point = here;
    for (std::size_t i = 0; i < free.size(); ++i) {
      const auto k = static_cast<Index>(i);
      point[free[i]] = lower[k] + at[k] * side[k];
    }
    return point;
  };
  VectorXd x(setting_.width + setting_.contexts);
  x << spot.inputs, query.context.values;
  const double unit = query.score.unit();
  VectorXd outwards;
  // Where the way leads out of constraints that have a slope: on with a penalty, which then grows.
  for (const double weight : {0.0, 1e3, 1e6}) {
    if (weight > 0.0) {
      if (!constrained_ || violation(point_at(u), free, outwards) <= 0.0) break;
      if ((outwards.array() == 0.0).all()) break;
    }
    minimize_(u, [&](const VectorXd& at, VectorXd& gradient) {
      const VectorXd point = point_at(at);
      x.head(point.size()) = point;
      VectorXd slope;
      const double value = query.score.at(x, &slope);
      gradient = -(picked(slope, free).array() * side.array()).matrix() / unit;
      double penalty = 0.0;
      if (weight > 0.0) {
        penalty = weight * violation(point, free, outwards);
        gradient += weight * outwards;
      }
      return penalty - (value - spot.value) / unit;
    });
  }
  VectorXd end = point_at(u);
  if (constrained_ && violation(end, free, outwards) > 0.0) end = pulled_back(here, end);
  return better(spot, end.transpose(), query);
}

// The sum of the squared excesses, and its derivatives in sides of the box.
double MixedSpace::violation(const VectorXd& point, const std::vector<Index>& free,
                             VectorXd& slope) const {
  const auto k = static_cast<Index>(free.size());
  MatrixXd points = point.transpose().replicate(2 * k + 1, 1);
  VectorXd step(k);
  for (Index i = 0; i < k; ++i) {
    const Index c = free[static_cast<std::size_t>(i)];
    const double side = setting_.box.upper[c] - setting_.box.lower[c];
    const bool whole = setting_.box.integer[static_cast<std::size_t>(c)];
    step[i] = whole ? std::max(kSmallStep, 1.0 / side) : kSmallStep;
    points(1 + i, c) += step[i] * side;
    points(1 + k + i, c) -= step[i] * side;
  }
  const MatrixXd excess = settled(points).excess;
  const RowVectorXd over = excess.row(0).cwiseMax(0.0);
  slope.resize(k);
  for (Index i = 0; i < k; ++i) {
    slope[i] = 2.0 * over.dot(excess.row(1 + i) - excess.row(1 + k + i)) / (2.0 * step[i]);
  }
  return over.squaredNorm();
}

// The last point on the way that may be played.
VectorXd MixedSpace::pulled_back(const VectorXd& from, const VectorXd& to) const {
  constexpr Index kParts = 16;
  double low = 0.0, high = 1.0;
  for (int zoom = 0; zoom < 8; ++zoom) {
    MatrixXd points(kParts, from.size());
    for (Index i = 0; i < kParts; ++i) {
      const double share = low + (high - low) * static_cast<double>(i + 1) / kParts;
      points.row(i) = (from + share * (to - from)).transpose();
    }
    const MatrixXd excess = settled(points).excess;
    Index good = 0;
    while (good < kParts && !(excess.row(good).array() > 0.0).any()) ++good;
    const double width = (high - low) / kParts;
    low += width * static_cast<double>(good);
    if (good == kParts) break;
    high = low + width;
  }
  return from + low * (to - from);
}

// The best of points around, at shrinking distances.
MixedSpace::Spot MixedSpace::looked_around(const Spot& spot, const Query& query,
                                           Index turns) const {
  const std::vector<Index> free = free_inputs(spot);
  const auto d = static_cast<Index>(free.size());
  if (d == 0) return spot;
  const MatrixXd offsets = 2.0 * golden_points(kAround, d).array() - 1.0;
  const VectorXd side = picked(setting_.box.side(), free);
  Spot best = spot;
  for (double reach = 0.1; reach > 1e-5; reach *= 0.1) {
    for (Index turn = 0; turn < turns; ++turn) {
      const double before = best.value;
      MatrixXd points = point_of(best).transpose().replicate(kAround, 1);
      for (Index i = 0; i < d; ++i) {
        const Index c = free[static_cast<std::size_t>(i)];
        points.col(c) += reach * side[i] * offsets.col(i);
      }
      best = better(best, points, query);
      if (!(best.value > before)) break;
    }
  }
  return best;
}

Place MixedSpace::maximise(const Score& score, const Context& context, const Observations& known) {
  if (score.only_candidates()) {
    return Place::point(candidates_.X.row(score.best(candidates_)).transpose());
  }
  const Query query{score, context};
  VectorXd scores;
  score.values(candidates_, scores);
  Spot best;
  const auto consider = [&](const Spot& start) {
    const Spot found = improved(start, query);
    if (best.inputs.size() == 0 || found.value > best.value) best = found;
  };
  for (const Index i : starts(scores)) {
    const VectorXd inputs = setting_.candidates.row(i).transpose();
    consider({inputs, score.at(in_context(inputs.transpose(), context)).value()});
  }
  if (const Place* place = known.best()) {
    Spot centre{place->x.head(setting_.width), -kInf};
    consider(looked_around(better(centre, point_of(centre).transpose(), query), query, 1));
  }
  if (constrained_) best = looked_around(best, query, 3);
  return Place::point(in_context(best.inputs.transpose(), context).row(0).transpose());
}

}  // namespace gpb
