// The straddle: where it is least clear on which side of a level f is.
#ifndef GPB_LEVEL_SET_H
#define GPB_LEVEL_SET_H

#include <algorithm>
#include <cmath>

#include "scores/candidate_score.h"

namespace gpb {

// width * sd - |mean - level|, and no less than `least`.
class StraddleScore final : public MomentScore {
 public:
  StraddleScore(const Round& round, double level, double least)
      : MomentScore(round), width_(round.width), level_(level), least_(least) {}

 protected:
  double of(double mean, double sd, Slopes* slopes) const override {
    const double score = width_ * sd - std::abs(mean - level_);
    if (score < least_) {
      if (slopes) *slopes = {0.0, 0.0};
      return least_;
    }
    if (slopes) *slopes = {mean > level_ ? -1.0 : 1.0, width_};
    return score;
  }

 private:
  double width_, level_, least_;
};

// The width is 1.96 or, drawn anew each round, sqrt(-2 log U), U uniform
// (Inatsu et al. 2024), where ambiguities below 0 count as 0.
class StraddlePolicy final : public Policy {
 public:
  StraddlePolicy(double level, bool random) : level_(level), random_(random) {}
  double width(const Round& round) override {
    if (!random_) return 1.96;
    return round.state.rng ? std::sqrt(-2.0 * std::log(round.state.rng->uniform())) : kNaN;
  }
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    return std::make_unique<StraddleScore>(round, level_, random_ ? 0.0 : -kInf);
  }

 private:
  double level_;
  bool random_;
};

// Level-set estimation (Gotovos et al. 2013): the most ambiguous point among those whose running
// interval C does not say yet on which side of the level f is, within `accuracy`. An implicit
// level is a share of the maximum, of which the intervals say how large and how small it can be;
// then the widest interval among those points and the possible maximisers is chosen.
class LevelSetPolicy final : public Policy {
 public:
  // `above`, `below`: the accuracies with which f is above or below the level.
  LevelSetPolicy(WidthPtr width, double level, double above, double below, bool implicit)
      : width_(std::move(width)), level_(level), above_(above), below_(below), implicit_(implicit) {}
  double width(const Round& round) override { return finite_width(*width_, round); }
  bool keeps_intervals() const override { return true; }

  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    const Candidates& all = *round.candidates;
    VectorXd low = segment_of(round.intervals->lower(), all.first, all.size());
    VectorXd high = segment_of(round.intervals->upper(), all.first, all.size());
    const double most = implicit_ ? high.maxCoeff() : 1.0, least = implicit_ ? low.maxCoeff() : 1.0;
    if (round.variance != round.mean) narrow(round, low, high);
    VectorXd score(low.size());
    bool settled = true;
    for (Index i = 0; i < score.size(); ++i) {
      const bool open = low[i] + above_ <= level_ * most && high[i] - below_ > level_ * least;
      const bool may_be_best = implicit_ && high[i] >= least;
      score[i] = open || may_be_best ? ambiguity(low[i], high[i]) : -kInf;
      settled = settled && score[i] == -kInf;
    }
    if (settled) score = high - low;
    return std::make_unique<CandidateScore>(round, std::move(score));
  }

 private:
  double ambiguity(double low, double high) const {
    return implicit_ ? high - low : std::min(high - level_, level_ - low);
  }
  // The variance knows of pending queries.
  static void narrow(const Round& round, VectorXd& low, VectorXd& high) {
    const CandidateMoments now(round);
    for (Index i = 0; i < low.size(); ++i) {
      low[i] = std::max(low[i], now.mean[i] - round.width * now.sd[i]);
      high[i] = std::min(high[i], now.mean[i] + round.width * now.sd[i]);
    }
  }

  WidthPtr width_;
  double level_, above_, below_;
  bool implicit_;
};

}  // namespace gpb

#endif
