// Information gain 1/2 log det(I + K_A / noise_var): what greedy choice gets of it,
// and the spectral bound of its maximum gamma_T over all A of T points, repeats
// allowed. (The tighter bound is in optimal_design.h.)
#ifndef GPB_INFORMATION_H
#define GPB_INFORMATION_H

#include "posteriors/arm_posterior.h"

namespace gpb {

// The information gained by always playing the arm of largest posterior variance
// (Srinivas et al. 2010, Section 5.1); gamma_s is at most e/(e-1) times that.
// Extends itself as far as it is asked.
class GreedyInformation {
 public:
  explicit GreedyInformation(std::unique_ptr<ArmPosterior> posterior);
  double at(Index s);

 private:
  std::unique_ptr<ArmPosterior> posterior_;
  std::vector<double> gain_{0.0};  // after 0, 1, ... points
  VectorXd sd_;
};

// Largest 1/2 sum_i log(1 + m_i lambda_i / noise_var) over m >= 0 of sum s, lambda the
// eigenvalues of the Gram matrix (Theorem 4 of Srinivas et al. 2010, without its
// factor 1/(1-1/e)): m_i = max(0, level - noise_var / lambda_i).
class SpectralInformation {
 public:
  SpectralInformation(const VectorXd& eigenvalues, double noise_var);
  double at(double s) const;

 private:
  // Eigenvalues in decreasing order cost noise_var / lambda_i each. Of the first q:
  std::vector<double> entry_;         // the s from which on the q-th has mass
  std::vector<double> cost_sum_;
  std::vector<double> log_cost_sum_;
};

// Eigenvalues of F F', largest first.
VectorXd gram_eigenvalues(const MatrixXd& factor);

}  // namespace gpb

#endif
