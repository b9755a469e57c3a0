// StableOpt (Bogunovic et al. 2018): the point whose neighbours have the best worst case, value at risk or conditional
// value at risk (Nguyen et al. 2021a, b, whose points nearby are those of an environment).
#ifndef GPB_ROBUST_H
#define GPB_ROBUST_H

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "scores/candidate_score.h"

namespace gpb {

enum class Risk { worst, at_risk, conditional };

// Measures of the lower tail of equally likely values: the share of values in the tail is positive and at most 1.
struct RiskMeasure {
  Risk kind = Risk::worst;
  double share = 0.0;

  // Number of values that the tail reaches into.
  Index tail(std::size_t count) const {
    const double reached = std::ceil(share * static_cast<double>(count) * (1.0 - 1e-12));
    return std::max<Index>(1, static_cast<Index>(reached));
  }
  // Not for the worst case. Orders `values`.
  double of(std::vector<double>& values) const {
    const Index last = tail(values.size()) - 1;
    std::nth_element(values.begin(), values.begin() + last, values.end());
    if (kind == Risk::at_risk) return values[last];
    const double whole = std::accumulate(values.begin(), values.begin() + last, 0.0);
    const double wanted = share * static_cast<double>(values.size());
    return (whole + (wanted - static_cast<double>(last)) * values[last]) / wanted;
  }
};

class StablePolicy final : public Policy {
 public:
  // Neighbours are within an ellipsoid of these half axes, one per action's input.
  StablePolicy(WidthPtr width, VectorXd radius, RiskMeasure risk)
      : width_(std::move(width)), radius_(std::move(radius)), risk_(risk) {}
  double width(const Round& round) override { return finite_width(*width_, round); }

  // x~ maximises the measure of its neighbours' upper bounds. In the worst case the neighbour of x~ with the smallest
  // lower bound is played, otherwise one whose interval contains that of the measure.
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    const CandidateMoments now(round);
    const Points X = scaled(round);
    const VectorXd lower = now.mean - round.width * now.sd, upper = now.mean + round.width * now.sd;
    VectorXd measure = of_neighbours(X, upper);
    rule_out_ineligible(round, measure);
    const Index centre = first_best(measure.data(), measure.size(), kTie * round.prior_scale);
    const std::vector<Index> nearby = neighbours(X, centre);
    VectorXd score = VectorXd::Constant(lower.size(), -kInf);
    if (risk_.kind == Risk::worst) {
      for (Index i : nearby) score[i] = -lower[i];
    } else {
      const Quantiles at = widest_quantiles(nearby, lower, upper);
      for (Index i : nearby) {
        if (lower[i] <= at.lower && upper[i] >= at.upper) score[i] = round.width * now.sd[i];
      }
    }
    return std::make_unique<CandidateScore>(round, std::move(score));
  }

  // The largest measure of the neighbours' lower bounds.
  std::unique_ptr<Score> recommendation(const Round& round) override {
    const CandidateMoments now(round);
    return std::make_unique<CandidateScore>(
        round, of_neighbours(scaled(round), now.mean - width(round) * now.sd));
  }

 private:
  Points scaled(const Round& round) const {
    Points X = round.inputs().leftCols(radius_.size());
    for (Index c = 0; c < X.cols(); ++c) X.col(c) /= radius_[c];
    return X;
  }
  static bool near(const Points& X, Index i, Index j) {
    double square = 0.0;
    for (Index c = 0; c < X.cols(); ++c) square += (X(i, c) - X(j, c)) * (X(i, c) - X(j, c));
    return square <= 1.0 + 1e-9;
  }
  static std::vector<Index> neighbours(const Points& X, Index i) {
    std::vector<Index> out;
    for (Index j = 0; j < X.rows(); ++j) {
      if (near(X, i, j)) out.push_back(j);
    }
    return out;
  }
  // (Each pair is compared once.)
  static VectorXd least_nearby(const Points& X, const VectorXd& value) {
    VectorXd out = value;
    for (Index i = 0; i < value.size(); ++i) {
      for (Index j = 0; j < i; ++j) {
        if (!near(X, i, j)) continue;
        out[i] = std::min(out[i], value[j]);
        out[j] = std::min(out[j], value[i]);
      }
    }
    return out;
  }
  VectorXd of_neighbours(const Points& X, const VectorXd& value) const {
    if (risk_.kind == Risk::worst) return least_nearby(X, value);
    VectorXd out(value.size());
    std::vector<double> nearby;
    for (Index i = 0; i < value.size(); ++i) {
      nearby.clear();
      for (Index j = 0; j < value.size(); ++j) {
        if (near(X, i, j)) nearby.push_back(value[j]);
      }
      out[i] = risk_.of(nearby);
    }
    return out;
  }

  struct Quantiles {
    double lower, upper;
  };
  // Quantiles of the bounds: at the measure's share or, for the conditional value, at the share below it where they are
  // farthest from each other.
  Quantiles widest_quantiles(const std::vector<Index>& nearby, const VectorXd& lower, const VectorXd& upper) const {
    std::vector<double> low, high;
    for (Index i : nearby) {
      low.push_back(lower[i]);
      high.push_back(upper[i]);
    }
    std::sort(low.begin(), low.end());
    std::sort(high.begin(), high.end());
    Index at = risk_.tail(nearby.size()) - 1;
    for (Index k = at; risk_.kind == Risk::conditional && k-- > 0;) {
      if (high[k] - low[k] > high[at] - low[at]) at = k;
    }
    return {low[at], high[at]};
  }

  WidthPtr width_;
  VectorXd radius_;
  RiskMeasure risk_;
};

}  // namespace gpb

#endif
