// Exact search for the best of some points, without evaluating the whole basis at each. The first few basis points give
// bounds on mean and sd at each point. Only points that may win by these bounds are evaluated exactly.
#ifndef GPB_BEST_POINT_H
#define GPB_BEST_POINT_H

#include "posteriors/low_rank_posterior.h"
#include "posteriors/rising_score.h"

namespace gpb {

// Bounds on mean and sd at each point.
struct MomentBounds {
  VectorXd least_mean, largest_mean, least_sd, largest_sd;
};

// Bounds at the rows of X from the first `few` points of the basis; O(few^2) for each row.
MomentBounds bounds_by_few(const LowRankPosterior& posterior, const Points& X, Index few);

// Kernel values between arms in one context and a basis of arms in other contexts, if the kernel splits (splits.h). For
// any arm c:
//   k(a, z; b, w) = k(a, z; b, z) k(c, z; c, w) / k(c, z; c, z).
// The first factor is the same for every z and is computed once. The inputs of a point are the arm's, then the
// context's, then the arm's number.
class ArmCrosses {
 public:
  // `inputs`: the number of an arm's inputs.
  explicit ArmCrosses(Index inputs) : inputs_(inputs) {}
  // Prepares for all arms in a context and this basis. Returns false if the values cannot be obtained in this way.
  bool follow(const LowRankBasis& basis, const Points& arms);
  // The result of LowRankBasis::at() for these arms.
  void at(const LowRankBasis& basis, const std::vector<Index>& arms, Index few, Panels& out) const;

 private:
  Index inputs_;
  KernelPtr kernel_;
  bool splits_ = false;
  MatrixXd among_arms_;
  std::vector<Index> arm_;  // arms of the basis points
  VectorXd by_context_;     // factors of the basis points for this context
};

// The first row of X of those tied with the best. `eligible`: if given, only rows with a flag count, and at least one
// has it. The prior mean (a number per row, or one for all) is added to the posterior's. `crosses`: may be given if the
// rows of X are all arms in one context.
Index best_point(const RisingScore& score, const LowRankPosterior& posterior, const Points& X,
                 const VectorXd& prior_mean, const std::vector<char>* eligible = nullptr,
                 const ArmCrosses* crosses = nullptr);

}  // namespace gpb

#endif
