// The straddle and level-set estimation: points at which it is least certain on which side of a level f is.
#ifndef GPB_LEVEL_SET_H
#define GPB_LEVEL_SET_H

#include <algorithm>
#include <cmath>

#include "scores/candidate_score.h"

namespace gpb {

// width * sd - |mean - level|, but at least `least`.
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

// The width is 1.96. If `random`, each round samples it as sqrt(-2 log U), U uniform (Inatsu et al. 2024), and
// ambiguities below 0 count as 0.
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

// Level-set estimation (Gotovos et al. 2013). Candidates are the points for which the running interval C does not yet
// decide on which side of the level f is, within the accuracy. The most ambiguous of them is chosen. An implicit level
// is a proportion of the maximum, which the intervals bound from both sides. In this case the widest interval among
// these points and the possible maximisers is chosen.
class LevelSetPolicy final : public Policy {
 public:
  // `above`, `below`: the accuracies for classifying f as above or below the level.
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
  // Narrows the intervals with the variance that includes pending queries.
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
