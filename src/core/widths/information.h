// Information gain 1/2 log det(I + K_A / noise_var): of greedy choices, and a spectral upper bound. Uses posteriors/.
// The bound is of the maximum gamma_T over all multisets A of T points. optimal_design.h has a tighter bound.
#ifndef GPB_INFORMATION_H
#define GPB_INFORMATION_H

#include "posteriors/arm_posterior.h"

namespace gpb {

// The information gained by always playing the arm of largest posterior variance (Srinivas et al. 2010, Section 5.1).
// gamma_s is at most e/(e-1) times that. The sequence is extended when a larger s is requested.
class GreedyInformation {
 public:
  explicit GreedyInformation(std::unique_ptr<ArmPosterior> posterior);
  double at(Index s);

 private:
  std::unique_ptr<ArmPosterior> posterior_;
  std::vector<double> gain_{0.0};  // after 0, 1, ... points
  VectorXd sd_;
};

// The maximum of 1/2 sum_i log(1 + m_i lambda_i / noise_var) over m >= 0 of sum s, for eigenvalues lambda of the Gram
// matrix. It is attained at m_i = max(0, level - noise_var / lambda_i). This is Theorem 4 of Srinivas et al. (2010)
// without its factor 1/(1-1/e).
class SpectralInformation {
 public:
  SpectralInformation(const VectorXd& eigenvalues, double noise_var);
  double at(double s) const;

 private:
  // Eigenvalues are in decreasing order; the cost of one is noise_var / lambda_i. For the first q of them:
  std::vector<double> entry_;         // the smallest s for which the q-th eigenvalue has mass
  std::vector<double> cost_sum_;
  std::vector<double> log_cost_sum_;
};

// Eigenvalues of F F', largest first.
VectorXd gram_eigenvalues(const MatrixXd& factor);

}  // namespace gpb

#endif
