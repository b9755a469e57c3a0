// Rankings (Plackett and Luce): the first of a ranking is chosen from all of them with chances
// p_i = exp(f_i) / sum exp(f), the next one from those that are left, and so on. A stage's Hessian is
// -sum_{i<j} p_i p_j (e_i - e_j)(e_i - e_j)': sites of the differences of all pairs,
// W_ij = p_i p_j and b_ij = W_ij (f_i - f_j) + [i chosen] p_j - [j chosen] p_i. (Rankings taken for as many
// comparisons that are independent would tell too much.)
#ifndef GPB_RANKING_H
#define GPB_RANKING_H

#include "likelihoods/laplace.h"

namespace gpb {

// A difference among the functionals: `sign` times the one of that number; 0 where it is none.
struct PairSite {
  Index functional = 0;
  double sign = 0.0;
};

struct RankingSites {
  Index size = 0;    // points, the best first
  Index stages = 0;  // of which so many are known to be chosen before all that come later
  double weight = 1.0;  // the power of its likelihood
  std::vector<PairSite> pairs;  // point i less point j, i < j, by i and then by j

  const PairSite& pair(Index i, Index j) const {
    return pairs[static_cast<std::size_t>(i * size - i * (i + 1) / 2 + j - i - 1)];
  }
};

class RankingTerms final : public SiteTerms {
 public:
  // `rankings` outlive it.
  explicit RankingTerms(const std::vector<RankingSites>& rankings) : rankings_(rankings) {}
  double log_likelihood(const VectorXd& f) const override;
  double sites(const VectorXd& f, VectorXd& weight, VectorXd& weighted) const override;
  VectorXd weight_slope(const VectorXd& f, const VectorXd& v) const override;
  // (Of a stage's whole Hessian: its third derivative along v is no more than it, times the range of v.)
  double weight_growth(const VectorXd&) const override { return 1.0; }

 private:
  // use(ranking, stage, p), p[k] the chance of place stage + k; the sum of the log likelihoods.
  template <class Use>
  double each_stage(const VectorXd& f, Use use) const;

  const std::vector<RankingSites>& rankings_;
};

}  // namespace gpb

#endif
