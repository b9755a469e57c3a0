// Inverse, determinant and solutions of a positive definite system in one pass.
#ifndef GPB_SYMMETRIC_SWEEP_H
#define GPB_SYMMETRIC_SWEEP_H

#include "base/types.h"

namespace gpb {

// A symmetric matrix [A B'; B C] of which A (order x order) is swept: block by
// block of pivots, each by its Cholesky factor, so that what is not yet swept is
// exactly a right-looking Cholesky factorisation and as stable. In the end
//   [-A^-1  A^-1 B'; B A^-1  C - B A^-1 B'].
// Only the lower triangle (row >= column) is kept. n^3 / 2 multiplications.
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

  // No squared pivot is taken to be less than `least_pivot` > 0. Without `inverse`
  // only the border's corner C - B A^-1 B' and the determinant are right
  // afterwards, at a third of the work.
  void run(double least_pivot, bool inverse);
  double log_det() const { return log_det_; }

 private:
  Index order_, border_;
  double log_det_ = 0.0;
  MatrixXd a_;                  // rows and columns padded to whole blocks
  std::vector<double> rows_, columns_;  // the pivots' columns, packed for the products
};

}  // namespace gpb

#endif
