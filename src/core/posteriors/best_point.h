// The best of some points, exactly, without the whole basis at each: the first few basis points
// bound what a point's mean and sd can be, and only those that can win are looked at closely.
#ifndef GPB_BEST_POINT_H
#define GPB_BEST_POINT_H

#include "posteriors/low_rank_posterior.h"
#include "posteriors/rising_score.h"

namespace gpb {

// Between which mean and sd of each point lie.
struct MomentBounds {
  VectorXd least_mean, largest_mean, least_sd, largest_sd;
};

// What the first `few` points of the basis say of the rows of X; O(few^2) for each.
MomentBounds bounds_by_few(const LowRankPosterior& posterior, const Points& X, Index few);

// Kernel values between arms in one context and a basis of arms in others, where the kernel splits (splits.h):
//   k(a, z; b, w) = k(a, z; b, z) k(c, z; c, w) / k(c, z; c, z) for any arm c,
// and the first, which is the same for every z, is computed once. A point: the arm's inputs, the context's, its number.
class ArmCrosses {
 public:
  // `inputs`: of an arm.
  explicit ArmCrosses(Index inputs) : inputs_(inputs) {}
  // Of all arms in a context, and this basis. False: it cannot be had so.
  bool follow(const LowRankBasis& basis, const Points& arms);
  // As LowRankBasis::at(), of these arms.
  void at(const LowRankBasis& basis, const std::vector<Index>& arms, Index few, Panels& out) const;

 private:
  Index inputs_;
  KernelPtr kernel_;
  bool splits_ = false;
  MatrixXd among_arms_;
  std::vector<Index> arm_;  // of the basis
  VectorXd by_context_;     // of the basis, for this context
};

// The first row of X of those tied with the best, among those with a flag if there are flags (one
// at least has one). The prior mean, one number for each row or one for all, is added to the
// posterior's. `crosses`: where rows are all arms in one context.
Index best_point(const RisingScore& score, const LowRankPosterior& posterior, const Points& X,
                 const VectorXd& prior_mean, const std::vector<char>* eligible = nullptr,
                 const ArmCrosses* crosses = nullptr);

}  // namespace gpb

#endif
