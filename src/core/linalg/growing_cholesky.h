// The Cholesky factor of a covariance matrix that grows by rows and columns.
// Rows are packed one after the other, so that appending never moves a row, a
// solve reads contiguous memory, and the first n rows are the factor of the first
// n points whatever came later.
#ifndef GPB_GROWING_CHOLESKY_H
#define GPB_GROWING_CHOLESKY_H

#include "linalg/panels.h"

namespace gpb {

class GrowingCholesky {
 public:
  Index size() const { return size_; }
  const double* packed() const { return packed_.data(); }
  const double* row(Index i) const { return packed_.data() + packed_start(i); }
  double diagonal(Index i) const { return row(i)[i]; }

  void reserve(Index size);
  void truncate(Index size);

  // Appends one point: `cross` its covariances with the points so far (the first
  // size() entries count), `variance` its own, to which independent `noise` > 0 is
  // added. Pivots and the least noise are those of floors.h. O(t^2).
  void append(const double* cross, double variance, double noise);

  // Appends several points at once: `cross` has a column of right-hand sides for
  // each, with room reserved for size() rows (it is overwritten), `covariance` the
  // lower triangle among them without noise.
  void append(Panels& cross, const MatrixXd& covariance, const VectorXd& noise);

  // Appends a row whose entries are known: size() numbers before the pivot. O(t).
  void append_row(const double* entries, double pivot);

  // The factor of L (I + sign v v') L', v = L^-1 x: a rank-one step of L L' by sign x x'.
  // With sign = -1 the squared norm of v must be below 1. O(t^2).
  void update(const VectorXd& v, double sign);

  // x <- L^-1 x from entry `from` on (the entries before are solved already).
  void forward(VectorXd& x, Index from = 0) const;
  // x <- L^-T x.
  void backward(VectorXd& x) const;
  // log det(L L').
  double log_det() const;

 private:
  double* new_row();
  void finish_row(double* row, double conditional_variance, double noise);

  std::vector<double> packed_;
  Index size_ = 0;
};

}  // namespace gpb

#endif
