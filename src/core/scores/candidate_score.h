// A score that was computed for every candidate and is not defined at other points.
#ifndef GPB_CANDIDATE_SCORE_H
#define GPB_CANDIDATE_SCORE_H

#include "scores/score.h"

namespace gpb {

class CandidateScore : public Score {
 public:
  CandidateScore(double unit, VectorXd values) : values_(std::move(values)), unit_(unit) {}
  CandidateScore(const Round& round, VectorXd values) : CandidateScore(round.prior_scale, std::move(values)) {}
  void values(const Candidates&, VectorXd& out) const override { out = values_; }
  VectorXd at(const Points&) const override { throw_logic(kNoOther); }
  double at(const VectorXd&, VectorXd*) const override { throw_logic(kNoOther); }
  double unit() const override { return unit_; }
  bool only_candidates() const override { return true; }

 protected:
  static constexpr const char* kNoOther = "this score is known at the candidates only";

 private:
  VectorXd values_;
  double unit_;
};

// Candidates are ordered by arm; those of an arm that cannot be played get the lowest value.
inline void rule_out_ineligible(const Round& round, VectorXd& values) {
  if (!round.eligible) return;
  const Index arms = static_cast<Index>(round.eligible->size()), each = values.size() / arms;
  for (Index i = 0; i < values.size(); ++i) {
    if (!(*round.eligible)[static_cast<std::size_t>(i / each)]) values[i] = -kInf;
  }
}

inline VectorXd candidate_sds(const Posterior& posterior, const Candidates& all) {
  return roots(Eigen::Map<const VectorXd>(posterior.moments(all).variance, all.size()));
}

// Posterior means and standard deviations at candidates, of a round or others.
struct CandidateMoments {
  CandidateMoments(const MeanAndVariance& model_state, const Candidates& all) {
    const Moments now = model_state.moments(all);
    mean = Eigen::Map<const VectorXd>(now.mean, all.size());
    sd = roots(Eigen::Map<const VectorXd>(now.variance, all.size()));
  }
  explicit CandidateMoments(const Round& round) : CandidateMoments(round.model_state(), *round.candidates) {}
  VectorXd mean, sd;
};

}  // namespace gpb

#endif
