// StableOpt (Bogunovic et al. 2018): the point whose worst neighbour is best.
#ifndef GPB_ROBUST_H
#define GPB_ROBUST_H

#include "scores/candidate_score.h"

namespace gpb {

class StablePolicy final : public Policy {
 public:
  // Neighbours are within an ellipsoid of these half axes, one per action's input.
  StablePolicy(WidthPtr width, VectorXd radius)
      : width_(std::move(width)), radius_(std::move(radius)) {}
  double width(const Round& round) override { return finite_width(*width_, round); }

  // x~ maximises the smallest upper bound of its neighbours. The neighbour of x~ with the smallest lower bound is
  // played.
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    const CandidateMoments now(round);
    const Points X = scaled(round);
    VectorXd worst = least_nearby(X, now.mean + round.width * now.sd);
    rule_out_ineligible(round, worst);
    const Index centre = first_best(worst.data(), worst.size(), kTie * round.prior_scale);
    VectorXd score = round.width * now.sd - now.mean;
    for (Index i = 0; i < score.size(); ++i) {
      if (!near(X, centre, i)) score[i] = -kInf;
    }
    return std::make_unique<CandidateScore>(round, std::move(score));
  }

  // The largest lower bound of the worst neighbour.
  std::unique_ptr<Score> recommendation(const Round& round) override {
    const CandidateMoments now(round);
    return std::make_unique<CandidateScore>(
        round, least_nearby(scaled(round), now.mean - width(round) * now.sd));
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

  WidthPtr width_;
  VectorXd radius_;
};

}  // namespace gpb

#endif
