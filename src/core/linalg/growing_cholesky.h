// The Cholesky factor of a covariance matrix that grows by rows and columns. Uses linalg/panels.h.
// Rows are packed one after the other. Appending therefore never moves a row, and a solve reads contiguous memory. The
// first n rows are the factor of the first n points, whatever was appended later.
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

  // Appends one point. `cross`: its covariances with the points so far (the first size() entries are used). `variance`:
  // its own, to which independent `noise` > 0 is added. The pivot's floor is that of floors.h. O(t^2).
  void append(const double* cross, double variance, double noise);

  // Appends several points. `cross` has a column of right-hand sides for each, with room reserved for size() rows; it
  // is overwritten. `covariance` is the lower triangle of their covariance without noise.
  void append(Panels& cross, const MatrixXd& covariance, const VectorXd& noise);

  // Appends a given row: size() entries before the pivot. O(t).
  void append_row(const double* entries, double pivot);

  // The factor of L (I + sign v v') L', v = L^-1 x: a rank-one update of L L' by sign x x'. If sign = -1, the squared
  // norm of v must be below 1. O(t^2).
  void update(const VectorXd& v, double sign);

  // x <- L^-1 x from entry `from` on; earlier entries must be solved already.
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
