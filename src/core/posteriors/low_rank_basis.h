// A basis of some points Z for functions of a kernel. The coordinates of k(x, .) in the span of the k(z, .) are phi(x)
// = L^-1 k(Z, x), with L L' = k(Z, Z). The residual k(x, x) - |phi(x)|^2 >= 0 is the squared length of the part outside
// the span.
#ifndef GPB_LOW_RANK_BASIS_H
#define GPB_LOW_RANK_BASIS_H

#include "kernels/kernel.h"
#include "linalg/growing_cholesky.h"

namespace gpb {

// Evaluation of the basis at one point.
struct Coordinates {
  VectorXd phi;
  double variance;  // k(x, x)
  double residual;  // variance - |phi|^2, >= 0 except for rounding
};

class LowRankBasis {
 public:
  explicit LowRankBasis(KernelPtr kernel) : kernel_(std::move(kernel)) {}

  Index rank() const { return factor_.size(); }
  const Kernel& kernel() const { return *kernel_; }
  const KernelPtr& kernel_pointer() const { return kernel_; }
  const GrowingCholesky& factor() const { return factor_; }
  Points points() const { return points_.topRows(rank()); }
  VectorXd point(Index i) const { return points_.row(i).transpose(); }

  Coordinates at(const VectorXd& x) const;
  // Rows of `out`: the coordinates of all points of X, or only the first `few` of them.
  void at(const Points& X, Panels& out) const { at(X, out, rank()); }
  void at(const Points& X, Panels& out, Index few) const;
  // Adds a point whose coordinates are known and whose residual is positive.
  void append(const VectorXd& z, const Coordinates& at_z);
  void clear();
  void truncate(Index rank) { factor_.truncate(rank); }

  // c such that phi(x)'w = k(Z, x)'c for every x.
  VectorXd on_points(VectorXd w) const;
  // d k(x, z_i) / d x_c.
  MatrixXd slopes(const VectorXd& x) const;
  VectorXd cross(const VectorXd& x) const;  // k(Z, x)

  // Residuals below this value cannot be distinguished from 0. Rounding errors of k and of the factor are multiplied by
  // the weights k(Z, Z)^-1 k(Z, x), which are large where the basis extrapolates.
  double rounding(const Coordinates& at_x) const;

 private:
  KernelPtr kernel_;
  Points points_;  // its first rank() rows; the rest repeats one of them
  GrowingCholesky factor_;
};

}  // namespace gpb

#endif
