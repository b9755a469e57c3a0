// The likelihood of rankings (Plackett and Luce). Uses likelihoods/laplace.h.
// The first of a ranking is chosen from all of its points with probabilities p_i = exp(f_i) / sum exp(f), the next one
// from the remaining points, and so on. The Hessian of such a stage is
//   -sum_{i<j} p_i p_j (e_i - e_j)(e_i - e_j)'.
// It is therefore equivalent to sites of the differences of all pairs, with W_ij = p_i p_j and
//   b_ij = W_ij (f_i - f_j) + [i chosen] p_j - [j chosen] p_i.
// (Independent comparisons of all pairs would overstate the information.)
#ifndef GPB_RANKING_H
#define GPB_RANKING_H

#include "likelihoods/laplace.h"

namespace gpb {

// A difference of f as a functional: `sign` times functional number `functional`; `sign` is 0 if the points are equal.
struct PairSite {
  Index functional = 0;
  double sign = 0.0;
};

struct RankingSites {
  Index size = 0;    // points, the best first
  Index stages = 0;  // number of them known to come before all later ones
  double weight = 1.0;  // the power to which its likelihood is raised
  std::vector<PairSite> pairs;  // point i minus point j, i < j, by i and then by j

  const PairSite& pair(Index i, Index j) const {
    return pairs[static_cast<std::size_t>(i * size - i * (i + 1) / 2 + j - i - 1)];
  }
};

class RankingTerms final : public SiteTerms {
 public:
  // `rankings` must outlive this object.
  explicit RankingTerms(const std::vector<RankingSites>& rankings) : rankings_(rankings) {}
  double log_likelihood(const VectorXd& f) const override;
  double sites(const VectorXd& f, VectorXd& weight, VectorXd& weighted) const override;
  VectorXd weight_slope(const VectorXd& f, const VectorXd& v) const override;
  // (A bound for the whole Hessian of a stage: its third derivative along v is at most the Hessian times the range of
  // v.)
  double weight_growth(const VectorXd&) const override { return 1.0; }

 private:
  // Calls use(ranking, stage, p), with p[k] the probability of point stage + k. Returns the sum of the log likelihoods.
  template <class Use>
  double each_stage(const VectorXd& f, Use use) const;

  const std::vector<RankingSites>& rankings_;
};

}  // namespace gpb

#endif
