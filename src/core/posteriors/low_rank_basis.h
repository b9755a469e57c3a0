// A basis of some points Z for functions of a kernel: phi(x) = L^-1 k(Z, x), L L' = k(Z, Z),
// are the coordinates of k(x, .) in the span of the k(z, .), and the residual
// k(x, x) - |phi(x)|^2 >= 0 is the squared length of what the span leaves out.
#ifndef GPB_LOW_RANK_BASIS_H
#define GPB_LOW_RANK_BASIS_H

#include "kernels/kernel.h"
#include "linalg/growing_cholesky.h"

namespace gpb {

// Where the basis is asked about one point.
struct Coordinates {
  VectorXd phi;
  double variance;  // k(x, x)
  double residual;  // variance - |phi|^2, >= 0 but for rounding
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
  // Rows of `out`: the coordinates of all points of X; the first `few` of them.
  void at(const Points& X, Panels& out) const { at(X, out, rank()); }
  void at(const Points& X, Panels& out, Index few) const;
  // A point joins; its coordinates are known, its residual is positive.
  void append(const VectorXd& z, const Coordinates& at_z);
  void clear();
  void truncate(Index rank) { factor_.truncate(rank); }

  // c with phi(x)'w = k(Z, x)'c for every x.
  VectorXd on_points(VectorXd w) const;
  // d k(x, z_i) / d x_c.
  MatrixXd slopes(const VectorXd& x) const;
  VectorXd cross(const VectorXd& x) const;  // k(Z, x)

  // What cannot be told from 0 in the residual of a point: rounding errors of k and of the
  // factor reach it through the weights k(Z, Z)^-1 k(Z, x), which are large where the basis
  // extrapolates.
  double rounding(const Coordinates& at_x) const;

 private:
  KernelPtr kernel_;
  Points points_;  // its first rank() rows; the rest repeats one of them
  GrowingCholesky factor_;
};

}  // namespace gpb

#endif
