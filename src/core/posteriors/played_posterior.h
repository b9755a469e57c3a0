// Engine 2, played points: the posterior covariance is k(i, j) - V_i' D V_j with a row of V per observation. Rows are
// appended in one product; D is 1, or -1 if the row removes an observation. When the rows outnumber the distinct arms
// two to one, V is recomputed with one row per distinct arm. The observations of an arm are then pooled into their mean
// with noise lambda / count, which gives the same posterior. A round costs n * (distinct played arms). Every pivot is
// at least lambda / count. (A basis without the noise would lose its digits on smooth kernels.)
#ifndef GPB_PLAYED_POSTERIOR_H
#define GPB_PLAYED_POSTERIOR_H

#include <unordered_map>

#include "posteriors/arm_posterior.h"

namespace gpb {

class PlayedPosterior : public ArmPosterior {
 public:
  PlayedPosterior(ArmTablePtr table, double noise_var, VectorXd prior_mean);
  Index rank() const override { return rows_; }
  void draw(Rng& rng, double scale, const VectorXd& base, Index first,
            Eigen::Ref<MatrixXd> out) const override;
  MatrixXd covariance(const std::vector<Index>& arms) const override;
  VectorXd covariance_with(Index arm) const override;
  void drift(double rate) override;

 protected:
  double condition(Index arm, double innovation, double noise) override;
  void respond(Index arm, double step) override;
  void refit() override;
  void forget() override;
  bool refit_due() const override;

 private:
  const double* prior_row(Index arm);  // k(arm, .), kept after the first evaluation
  void make_room();
  VectorXd signed_row(Index arm) const;  // D V_i

  MatrixXd V_;      // n x capacity; row q of the text above is column q here
  std::vector<double> sign_;  // D
  Index rows_ = 0;
  Index distinct_ = 0;
  std::vector<char> is_distinct_;
  std::unordered_map<Index, VectorXd> kept_rows_;
  VectorXd scratch_;
};

}  // namespace gpb

#endif
