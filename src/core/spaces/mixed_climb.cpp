// Climbs of a search space, from several spots in lock step. A climb itself asks nobody but the
// score. Where constraints are known beforehand, it goes on from where it has come to outside of
// them, with a penalty for what they are exceeded by; for that they are taken as linear about that
// place, by differences (one question for all climbs), and again where this has led to.
#include <cmath>

#include "spaces/mixed_space.h"

namespace gpb {

namespace {

constexpr double kSmallStep = 1e-4;  // of differences of constraints, in sides of the box
constexpr Index kParts = 64;         // of the way back, of which one is divided again,
constexpr int kZooms = 5;            // so many times

}  // namespace

// One spot's way over the inputs that exist there and have an order, relaxed to reals; the levels
// stay. `start`, `at`: the inputs that move, in sides of the box.
struct MixedSpace::Way {
  Spot* spot;
  std::vector<Index> free;
  VectorXd from, lower, side, start, at;
  // The constraints about `centre`: excess + slopes' (at - centre).
  VectorXd centre, excess;
  MatrixXd slopes;

  VectorXd point(const VectorXd& u) const {
    VectorXd out = from;
    for (std::size_t i = 0; i < free.size(); ++i) {
      const auto k = static_cast<Index>(i);
      out[free[i]] = lower[k] + u[k] * side[k];
    }
    return out;
  }
  // The squares of what the constraints are exceeded by, and their derivatives.
  double violation(const VectorXd& u, VectorXd& slope) const {
    const VectorXd over = (excess + slopes.transpose() * (u - centre)).cwiseMax(0.0);
    slope = 2.0 * (slopes * over);
    return over.squaredNorm();
  }
};

void MixedSpace::climb(std::vector<Spot>& spots, const Query& query) const {
  std::vector<Way> ways;
  for (Spot& spot : spots) {
    if (std::isfinite(spot.value) && !free_inputs(spot).empty()) ways.push_back(way_from(spot));
  }
  for (Way& way : ways) go(way, 0.0, query);
  if (constrained_) respect_constraints(ways, query);
  std::vector<MatrixXd> ends(spots.size());
  for (const Way& way : ways) {
    ends[static_cast<std::size_t>(way.spot - spots.data())] = way.point(way.at).transpose();
  }
  offer(spots, ends, query);
}

MixedSpace::Way MixedSpace::way_from(Spot& spot) const {
  Way way;
  way.spot = &spot;
  way.free = free_inputs(spot);
  way.from = point_of(spot);
  way.lower = picked(setting_.box.lower, way.free);
  way.side = picked(setting_.box.side(), way.free);
  const VectorXd u = (picked(way.from, way.free) - way.lower).cwiseQuotient(way.side);
  way.start = way.at = u.cwiseMax(0.0).cwiseMin(1.0);
  return way;
}

// On to the top of the score, less the penalty.
void MixedSpace::go(Way& way, double weight, const Query& query) const {
  const double unit = query.score.unit();
  VectorXd x(setting_.width + setting_.contexts), slope, outwards;
  x << way.spot->inputs, query.context.values;
  minimize_(way.at, [&](const VectorXd& u, VectorXd& gradient) {
    const VectorXd point = way.point(u);
    x.head(point.size()) = point;
    const double value = query.score.at(x, &slope);
    gradient = -(picked(slope, way.free).array() * way.side.array()).matrix() / unit;
    double penalty = 0.0;
    if (weight > 0.0) {
      penalty = weight * way.violation(u, outwards);
      gradient += weight * outwards;
    }
    return penalty - (value - way.spot->value) / unit;
  });
}

// The penalty grows; what is left over is mended by going back.
void MixedSpace::respect_constraints(std::vector<Way>& ways, const Query& query) const {
  std::vector<Way*> outside;
  for (Way& way : ways) outside.push_back(&way);
  VectorXd outwards;
  for (const double weight : {1e3, 1e6, 1e6}) {
    outside = linearised(outside);
    for (Way* way : outside) {
      way->violation(way->at, outwards);
      if ((outwards.array() != 0.0).any()) go(*way, weight, query);
    }
  }
  pull_back(outside);
}

// Those that have come to a place outside of the constraints, which are made linear there.
std::vector<MixedSpace::Way*> MixedSpace::linearised(const std::vector<Way*>& ways) const {
  if (ways.empty()) return {};
  std::vector<MatrixXd> points;
  for (const Way* way : ways) points.push_back(differences(*way));
  const Settled found = settled(stacked(points));
  std::vector<Way*> outside;
  Index row = 0;
  for (Way* way : ways) {
    const auto k = static_cast<Index>(way->free.size());
    if (!found.playable(row)) {
      way->centre = way->at;
      way->excess = found.excess.row(row).transpose();
      way->slopes = found.excess.middleRows(row + 1, k) - found.excess.middleRows(row + 1 + k, k);
      for (Index i = 0; i < k; ++i) way->slopes.row(i) /= 2.0 * difference_step(*way, i);
      outside.push_back(way);
    }
    row += 2 * k + 1;
  }
  return outside;
}

// In sides of the box.
double MixedSpace::difference_step(const Way& way, Index i) const {
  const Index input = way.free[static_cast<std::size_t>(i)];
  const bool whole = setting_.box.integer[static_cast<std::size_t>(input)];
  return whole ? std::max(kSmallStep, 1.0 / way.side[i]) : kSmallStep;
}

// Where a way has come to, then a step on along each input, then a step back.
MatrixXd MixedSpace::differences(const Way& way) const {
  const auto k = static_cast<Index>(way.free.size());
  MatrixXd points = way.point(way.at).transpose().replicate(2 * k + 1, 1);
  for (Index i = 0; i < k; ++i) {
    const Index input = way.free[static_cast<std::size_t>(i)];
    const double step = difference_step(way, i) * way.side[i];
    points(1 + i, input) += step;
    points(1 + k + i, input) -= step;
  }
  return points;
}

// Each to the last point before it first leaves the constraints, on the straight line from its
// start, which satisfies them.
void MixedSpace::pull_back(const std::vector<Way*>& ways) const {
  if (ways.empty()) return;
  const auto count = static_cast<Index>(ways.size());
  VectorXd good = VectorXd::Zero(count);  // shares of the lines
  double width = 1.0;                     // of what is divided
  for (int zoom = 0; zoom < kZooms; ++zoom, width /= kParts) {
    std::vector<MatrixXd> points;
    for (Index w = 0; w < count; ++w) {
      const Way& way = *ways[static_cast<std::size_t>(w)];
      MatrixXd line(kParts, setting_.box.inputs());
      for (Index i = 0; i < kParts; ++i) {
        const double share = good[w] + width * static_cast<double>(i + 1) / kParts;
        line.row(i) = way.point(way.start + share * (way.at - way.start)).transpose();
      }
      points.push_back(std::move(line));
    }
    const Settled found = settled(stacked(points));
    for (Index w = 0; w < count; ++w) {
      Index last = 0;
      while (last < kParts && found.playable(w * kParts + last)) ++last;
      good[w] = std::min(1.0, good[w] + width * static_cast<double>(last) / kParts);
    }
  }
  for (Index w = 0; w < count; ++w) {
    Way& way = *ways[static_cast<std::size_t>(w)];
    way.at = way.start + good[w] * (way.at - way.start);
  }
}

}  // namespace gpb
