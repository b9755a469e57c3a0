// Inverse, determinant and solutions of a positive definite system in one pass. Uses base/ only.
#ifndef GPB_SYMMETRIC_SWEEP_H
#define GPB_SYMMETRIC_SWEEP_H

#include "base/types.h"

namespace gpb {

// Sweeps A (order x order) in a symmetric matrix [A B'; B C]. The result is
//   [-A^-1  A^-1 B'; B A^-1  C - B A^-1 B'].
// Blocks of pivots are swept one after the other, each by its Cholesky factor. The part that is not yet swept is
// therefore exactly that of a blocked Cholesky factorisation, and as stable. Only the lower triangle (row >= column) is
// stored. The cost is n^3 / 2 multiplications.
class SymmetricSweep {
 public:
  SymmetricSweep(Index order, Index border);

  Index order() const { return order_; }
  double& operator()(Index row, Index column) { return a_(row, column); }
  double operator()(Index row, Index column) const { return a_(row, column); }
  // Rows `column` and below of a column, down to the border.
  Eigen::Ref<VectorXd> lower_column(Index column) {
    return a_.col(column).segment(column, order_ + border_ - column);
  }

  // A squared pivot below `least_pivot` > 0 is raised to it. Without `inverse` only the border's corner C - B A^-1 B'
  // and the determinant are valid afterwards, at a third of the cost.
  void run(double least_pivot, bool inverse) {
    begin();
    sweep(0, order_, least_pivot, inverse);
  }
  // The same in parts, of which the next has pivots `from` to `to` - 1. In between the matrix is swept by the earlier
  // ones only, and log_det() is that of their part of A.
  void begin() { log_det_ = 0.0; }
  void sweep(Index from, Index to, double least_pivot, bool inverse);
  double log_det() const { return log_det_; }

 private:
  Index order_, border_;
  double log_det_ = 0.0;
  MatrixXd a_;                  // rows and columns padded to whole blocks
  std::vector<double> rows_, columns_;  // the pivots' columns, packed for products
};

}  // namespace gpb

#endif
