// The Cholesky factor of a matrix whose squared pivots are known to have a lower bound.
#ifndef GPB_FLOORED_CHOLESKY_H
#define GPB_FLOORED_CHOLESKY_H

#include <Eigen/Cholesky>

#include "linalg/floors.h"

namespace gpb {

// A = B + diag(floor) with B positive semidefinite and floor > 0, lower triangle given: L L' = A.
// A factor with a squared pivot of less than half its floor, which only rounding can bring about,
// is made anew with every pivot at least its floor; so it never fails.
class FlooredCholesky {
 public:
  FlooredCholesky(MatrixXd A, const VectorXd& floor);
  FlooredCholesky(const MatrixXd& A, double floor)
      : FlooredCholesky(A, VectorXd::Constant(A.rows(), floor)) {}

  auto lower() const { return lower_.triangularView<Eigen::Lower>(); }
  auto upper() const { return lower_.transpose().triangularView<Eigen::Upper>(); }  // L'
  MatrixXd matrix() const { return lower(); }
  VectorXd solve(const VectorXd& b) const { return upper().solve(lower().solve(b)); }
  double log_det() const { return 2.0 * lower_.diagonal().array().log().sum(); }

 private:
  MatrixXd lower_;  // its upper triangle means nothing
};

}  // namespace gpb

#endif
