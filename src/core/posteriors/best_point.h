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

// The first row of X of those tied with the best, among those with a flag if there are flags (one
// at least has one). The prior mean, one number for each row or one for all, is added to the
// posterior's.
Index best_point(const RisingScore& score, const LowRankPosterior& posterior, const Points& X,
                 const VectorXd& prior_mean, const std::vector<char>* eligible = nullptr);

}  // namespace gpb

#endif
