// A score that was computed for every candidate, and is known nowhere else.
#ifndef GPB_CANDIDATE_SCORE_H
#define GPB_CANDIDATE_SCORE_H

#include "scores/score.h"

namespace gpb {

class CandidateScore final : public Score {
 public:
  CandidateScore(const Round& round, VectorXd values)
      : values_(std::move(values)), prior_scale_(round.prior_scale) {}
  void values(const Candidates&, VectorXd& out) const override { out = values_; }
  VectorXd at(const Points&) const override { throw std::logic_error(kNoOther); }
  double at(const VectorXd&, VectorXd*) const override { throw std::logic_error(kNoOther); }
  double unit() const override { return prior_scale_; }
  bool only_candidates() const override { return true; }

 private:
  static constexpr const char* kNoOther = "this score is known at the candidates only";
  VectorXd values_;
  double prior_scale_;
};

// Candidates come arm by arm; those of an arm that cannot be played are below everything.
inline void rule_out_ineligible(const Round& round, VectorXd& values) {
  if (!round.eligible) return;
  const Index arms = static_cast<Index>(round.eligible->size()), each = values.size() / arms;
  for (Index i = 0; i < values.size(); ++i) {
    if (!(*round.eligible)[static_cast<std::size_t>(i / each)]) values[i] = -kInf;
  }
}

// Posterior means and standard deviations at a round's candidates.
struct CandidateMoments {
  explicit CandidateMoments(const Round& round) {
    const Index n = round.candidates->size();
    mean = Eigen::Map<const VectorXd>(round.mean->moments(*round.candidates).mean, n);
    const Moments spread = round.variance->moments(*round.candidates);
    sd = Eigen::Map<const VectorXd>(spread.variance, n).cwiseSqrt();
  }
  VectorXd mean, sd;
};

}  // namespace gpb

#endif
