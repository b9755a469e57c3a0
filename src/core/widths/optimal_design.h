// Upper bounds of the maximal information gain by D-optimal design with fractional numbers of plays. Uses base/.
// For w_x plays of point x and K = F F' (n x r),
//   F(w) = 1/2 log det(I + F' diag(w) F / noise_var)
// is concave in w. Its tangent at any w >= 0 therefore certifies
//   gamma_T <= F(w) + T max_x s_x - sum_x w_x s_x,  s_x = sigma_w^2(x) / (2 noise_var).
#ifndef GPB_OPTIMAL_DESIGN_H
#define GPB_OPTIMAL_DESIGN_H

#include "base/types.h"

namespace gpb {

// A design of mass T, and the terms of its certificate. Let P = I + F' diag(w) F / noise_var and X = P^-1. Since
// log det Q <= -log det X + tr(X Q) - r for every Q > 0,
//   gamma_T <= -1/2 log det X + 1/2 tr X - r/2 + T max_x F_x X F_x' / (2 noise_var).
// The bound is convex in X, so that designs of two masses certify every mass between them.
struct Design {
  Design(const MatrixXd& factor, double noise_var, VectorXd mass, double total);
  double bound() const;                // of gamma_total
  double gain_at(double mass) const;   // F of the same design scaled to another mass

  VectorXd mass;
  double total;
  VectorXd score;      // s_x, all rows
  double top;          // the largest of them
  double gain;         // F(w)
  double trace;        // of X
  VectorXd strength;   // eigenvalues of F' diag(w) F / noise_var
  MatrixXd root;       // Cholesky factor of P
};

// Designs optimal within a relative gap, by Newton steps on a growing set of points.
class DesignSolver {
 public:
  // factor must outlive the solver.
  DesignSolver(const MatrixXd& factor, double noise_var, double tolerance);

  // Upper bounds of gamma_1..gamma_rounds (element T - 1). Each is within the tolerance of the relaxed maximum, unless
  // the Newton iteration reaches its limit of steps. Designs are solved for as few T as the tolerance allows. `start`:
  // the initial points, such as pivots. called() is called repeatedly, for interrupts.
  VectorXd bounds(Index rounds, const std::vector<Index>& start,
                  const std::function<void()>& called);

 private:
  using DesignPtr = std::shared_ptr<const Design>;
  DesignPtr solve(double total, const VectorXd& guess);
  VectorXd improve(double total, const VectorXd& guess) const;
  VectorXd newton(const MatrixXd& gram, double total, VectorXd mass) const;
  void begin_with(const VectorXd& mass);
  bool extend(const VectorXd& scores);
  void fill(const DesignPtr& low, const DesignPtr& high);

  const MatrixXd& factor_;
  double noise_var_, tolerance_;
  std::vector<Index> points_;       // the working set
  std::vector<char> working_;
  VectorXd bounds_;
  std::function<void()> called_;
};

}  // namespace gpb

#endif
