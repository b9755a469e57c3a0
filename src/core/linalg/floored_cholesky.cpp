#include "linalg/floored_cholesky.h"

#include <cmath>

namespace gpb {

namespace {

// Column by column, each squared pivot at least its floor.
MatrixXd factor_above(const MatrixXd& A, const VectorXd& floor) {
  const Index n = A.rows();
  MatrixXd L = MatrixXd::Zero(n, n);
  for (Index j = 0; j < n; ++j) {
    VectorXd column = A.col(j).tail(n - j);
    if (j > 0) column.noalias() -= L.block(j, 0, n - j, j) * L.row(j).head(j).transpose();
    L(j, j) = std::sqrt(std::max(column[0], floor[j]));
    L.col(j).tail(n - j - 1) = column.tail(n - j - 1) / L(j, j);
  }
  return L;
}

}  // namespace

// Eigen's blocked factorisation serves wherever rounding has not reached the floors.
FlooredCholesky::FlooredCholesky(MatrixXd A, const VectorXd& floor) : lower_(std::move(A)) {
  const Eigen::LLT<MatrixXd> quick(lower_);
  const bool sound = quick.info() == Eigen::Success &&
                     (quick.matrixLLT().diagonal().array().square() >= 0.5 * floor.array()).all();
  lower_ = sound ? quick.matrixLLT() : factor_above(lower_, floor);
}

}  // namespace gpb
