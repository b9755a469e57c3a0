// Pareto fronts and their hypervolumes. Uses base/ and the logarithms of scores/log_normal.h.
#include "scores/pareto_front.h"

#include "base/normal.h"
#include "base/ordering.h"
#include "base/vectors.h"
#include "scores/log_normal.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace gpb {

namespace {

// Is a above b in every coordinate?
bool is_above(const VectorXd& a, const VectorXd& b) {
  for (Index k = 0; k < a.size(); ++k) {
    if (!(a[k] > b[k])) return false;
  }
  return true;
}

bool dominates(const VectorXd& a, const VectorXd& b) {
  for (Index k = 0; k < a.size(); ++k) {
    if (!(a[k] >= b[k])) return false;
  }
  return a != b;
}

}  // namespace

MatrixXd nondominated(const MatrixXd& Y) {
  std::vector<Index> kept;
  for (Index i = 0; i < Y.rows(); ++i) {
    bool out = false;
    for (Index j = 0; j < Y.rows() && !out; ++j) {
      if (j == i) continue;
      const VectorXd one = row_of(Y, i), other = row_of(Y, j);
      out = dominates(other, one) || (j < i && one == other);
    }
    if (!out) kept.push_back(i);
  }
  MatrixXd front(static_cast<Index>(kept.size()), Y.cols());
  for (std::size_t k = 0; k < kept.size(); ++k) copy_row(front, static_cast<Index>(k), Y, kept[k]);
  return front;
}

namespace {

MatrixXd sorted_by_last(const MatrixXd& front) {
  const Index last = front.cols() - 1;
  const auto order = stable_order(front.rows(), [&](Index a, Index b) { return front(a, last) > front(b, last); });
  MatrixXd out(front.rows(), front.cols());
  for (std::size_t k = 0; k < order.size(); ++k) copy_row(out, static_cast<Index>(k), front, order[k]);
  return out;
}

}  // namespace

MatrixXd front_above(const MatrixXd& Y, const VectorXd& reference) {
  std::vector<Index> above;
  for (Index i = 0; i < Y.rows(); ++i) {
    if (is_above(row_of(Y, i), reference)) above.push_back(i);
  }
  MatrixXd some(static_cast<Index>(above.size()), Y.cols());
  for (std::size_t k = 0; k < above.size(); ++k) copy_row(some, static_cast<Index>(k), Y, above[k]);
  return nondominated(some);
}

// Row by row: the part of each row's box that earlier rows, in the order of the last column, do not dominate (While et
// al. 2012).
double hypervolume(const MatrixXd& front, const VectorXd& reference) {
  if (front.rows() == 0) return 0.0;
  if (front.cols() == 1) return std::max(0.0, front.maxCoeff() - reference[0]);
  const MatrixXd rows = sorted_by_last(front);
  double sum = 0.0;
  for (Index i = 0; i < rows.rows(); ++i) {
    sum += hypervolume_gain(rows.topRows(i), reference, row_of(rows, i));
  }
  return sum;
}

double hypervolume_gain(const MatrixXd& front, const VectorXd& reference, const VectorXd& point) {
  if (!is_above(point, reference)) return 0.0;
  const double whole = (point - reference).prod();
  if (front.rows() == 0) return whole;
  // Another point reduces the gain only by the part that it shares with the point's box.
  MatrixXd shared = front;
  for (Index k = 0; k < shared.cols(); ++k) {
    for (Index i = 0; i < shared.rows(); ++i) shared(i, k) = std::min(shared(i, k), point[k]);
  }
  const MatrixXd limited = front_above(shared, reference);
  if (limited.rows() == 0) return whole;
  if (limited.rows() == 1) return std::max(0.0, whole - (limited.row(0).transpose() - reference).prod());
  return std::max(0.0, whole - hypervolume(limited, reference));
}

// ---- the expected gain ----------------------------------------------------------------------------

NondominatedBoxes::NondominatedBoxes(const MatrixXd& front, const VectorXd& reference) {
  const MatrixXd above = front_above(front, reference);
  std::vector<Row> rows(static_cast<std::size_t>(above.rows()));
  for (Index k = 0; k < reference.size(); ++k) {
    std::vector<double> levels{reference[k]};
    for (Index i = 0; i < above.rows(); ++i) levels.push_back(above(i, k));
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto at = std::lower_bound(levels.begin(), levels.end(), above(static_cast<Index>(i), k));
      rows[i].push_back(at - levels.begin());
    }
    first_.push_back(levels_.size());
    levels_.insert(levels_.end(), levels.begin(), levels.end());
  }
  const std::vector<Box> boxes = split(std::move(rows), first_.size());
  for (const Box& box : boxes) bounds_.insert(bounds_.end(), box.begin(), box.end());
}

// From the largest level of the last coordinate to the smallest: below a row's level the row counts in the other
// coordinates. A box of these is extended for as long as it remains.
std::vector<NondominatedBoxes::Box> NondominatedBoxes::split(std::vector<Row> rows, std::size_t coordinates) {
  const std::size_t last = coordinates - 1;
  if (last == 0) {
    Index largest = 0;
    for (const Row& row : rows) largest = std::max(largest, row[0]);
    return {Box{Interval{largest, kUnbounded}}};
  }
  put_in_order(rows, [last](const Row& a, const Row& b) { return a[last] > b[last]; });
  std::vector<Box> out;
  std::map<Box, Index> open;  // with the level where each begins
  for (Box& box : split({}, last)) open[std::move(box)] = kUnbounded;
  const auto close = [&](Box box, Index lower, Index upper) {
    box.push_back({lower, upper});
    out.push_back(std::move(box));
  };
  std::vector<Row> present;
  for (std::size_t i = 0; i < rows.size();) {
    const Index level = rows[i][last];
    for (; i < rows.size() && rows[i][last] == level; ++i) present.push_back(rows[i]);
    std::map<Box, Index> next;
    for (Box& box : split(present, last)) {
      const auto before = open.find(box);
      next[std::move(box)] = before == open.end() ? level : before->second;
    }
    for (const auto& box : open) {
      if (next.count(box.first) == 0) close(box.first, level, box.second);
    }
    open = std::move(next);
  }
  for (const auto& box : open) close(box.first, 0, box.second);
  return out;
}

namespace {

// log E (Y - level)+ and its derivatives.
struct Excess {
  double log = 0.0, by_mean = 0.0, by_sd = 0.0;
};

// log E (min(Y, upper) - lower)+ and its derivatives.
Excess excess_within(const Excess& above_lower, const Excess& above_upper, double lower, double upper, double mean,
                     double sd) {
  if (upper - lower < 1e-5 * sd) {  // (the difference would lose its digits)
    const double v = (mean - 0.5 * (lower + upper)) / sd, by_v = normal_hazard(v);
    return {std::log(upper - lower) + normal_log_cdf(v), by_v / sd, -v * by_v / sd};
  }
  const double ratio = std::exp(std::min(0.0, above_upper.log - above_lower.log)), rest = 1.0 - ratio;
  if (!(rest > 0.0)) return {-kInf, 0.0, 0.0};
  return {above_lower.log + std::log(rest), (above_lower.by_mean - ratio * above_upper.by_mean) / rest,
          (above_lower.by_sd - ratio * above_upper.by_sd) / rest};
}

}  // namespace

double NondominatedBoxes::log_expected_gain(const double* mean, const double* sd, double* by_mean,
                                            double* by_sd) const {
  const std::size_t count = first_.size();
  std::vector<double> spread(count);
  std::vector<Excess> excess(levels_.size());
  for (std::size_t k = 0; k < count; ++k) {
    spread[k] = std::max(sd[k], 1e-150);
    const double log_spread = std::log(spread[k]);
    const std::size_t end = k + 1 < count ? first_[k + 1] : levels_.size();
    for (std::size_t i = first_[k]; i < end; ++i) {
      const double u = (mean[k] - levels_[i]) / spread[k];
      excess[i].log = log_spread + log_improvement(u);
      if (!by_mean) continue;
      const double by_u = log_improvement_slope(u);
      excess[i].by_mean = by_u / spread[k];
      excess[i].by_sd = (1.0 - u * by_u) / spread[k];
    }
  }
  // The sum over the boxes, scaled by the largest term so far.
  double top = -kInf, sum = 0.0;
  std::vector<Excess> parts(count);
  std::vector<double> slopes(2 * count, 0.0);
  for (std::size_t box = 0; box < bounds_.size(); box += count) {
    double term = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
      const Interval& bound = bounds_[box + k];
      const std::size_t lower = first_[k] + static_cast<std::size_t>(bound.lower);
      parts[k] = excess[lower];
      if (bound.upper != kUnbounded) {
        const std::size_t upper = first_[k] + static_cast<std::size_t>(bound.upper);
        parts[k] = excess_within(parts[k], excess[upper], levels_[lower], levels_[upper], mean[k], spread[k]);
      }
      term += parts[k].log;
    }
    if (!(term > -kInf)) continue;
    if (term > top) {
      const double factor = std::exp(top - term);
      sum *= factor;
      for (double& slope : slopes) slope *= factor;
      top = term;
    }
    const double share = std::exp(term - top);
    sum += share;
    for (std::size_t k = 0; by_mean && k < count; ++k) {
      slopes[k] += share * parts[k].by_mean;
      slopes[count + k] += share * parts[k].by_sd;
    }
  }
  if (!(top > -kInf)) return -kInf;
  for (std::size_t k = 0; by_mean && k < count; ++k) {
    by_mean[k] = slopes[k] / sum;
    by_sd[k] = slopes[count + k] / sum;
  }
  return top + std::log(sum);
}

}  // namespace gpb
