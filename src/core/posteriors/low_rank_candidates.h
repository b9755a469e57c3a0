// Mean and variance at fixed points that are evaluated repeatedly; the counterpart of PredictionCache for the low-rank
// posterior. The points' coordinates are kept, a column per basis point. If one of the points is chosen as the centre
// c, the variances of f(x) - f(c) are kept, too.
#ifndef GPB_LOW_RANK_CANDIDATES_H
#define GPB_LOW_RANK_CANDIDATES_H

#include "posteriors/low_rank_posterior.h"

namespace gpb {

class LowRankCandidates {
 public:
  explicit LowRankCandidates(Points X, Index centre = -1);

  const Points& points() const { return X_; }
  // Updates the cache to `posterior`, which may be another one than before. The cost is one product of n x r for the
  // mean, one more for each new observation, and two for each new basis point.
  void follow(const LowRankPosterior& posterior);
  const VectorXd& mean() const { return mean_; }
  const VectorXd& variance() const { return variance_; }
  // Variances of the differences to the centre, plus a bound on their rounding errors, which are of the size of the
  // prior's.
  const VectorXd& apart() const { return apart_; }
  // phi of the points, one per row.
  auto features() const { return features_.leftCols(rank_); }

 private:
  void start_from_prior(const Kernel& kernel);
  void restart(const LowRankPosterior& posterior);
  void grow(const LowRankPosterior& posterior, const LowRankStep& step);
  void observe(const LowRankStep& step);
  void add_square(const VectorXd& along, double scale);
  void product(const double* weights, Index count, VectorXd& out) const;  // phi'weights

  Points X_;
  Index centre_;  // -1: none
  VectorXd zero_, column_, product_;  // room to work
  MatrixXd features_;  // with room for more columns
  Index rank_ = 0;
  Index next_step_ = 0;
  std::shared_ptr<const char> posterior_id_;
  VectorXd unclipped_;  // the variance, before rounding errors below 0 are cut off
  VectorXd unclipped_apart_;
  double hidden_apart_ = 0.0;
  VectorXd mean_, variance_, apart_;
};

}  // namespace gpb

#endif
