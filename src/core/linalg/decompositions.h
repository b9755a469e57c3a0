// Decompositions and solutions of triangular systems, compiled once (see products.h). Uses linalg/products.h.
#ifndef GPB_DECOMPOSITIONS_H
#define GPB_DECOMPOSITIONS_H

#include "linalg/products.h"

namespace gpb {

// Eigenvalues of a symmetric matrix, ascending.
VectorXd symmetric_eigenvalues(const MatrixXd& A);

// Replaces A by L with L L' = A, from its lower triangle; the upper triangle is undefined. False if A was not positive
// definite; its content is then undefined.
bool cholesky(MatrixXd& A);

// R z with R R' = K. K may be singular, because the pivoted LDL' decomposition needs no jitter.
MatrixXd rooted(const MatrixXd& K, const MatrixXd& z);
// The matrix R.
MatrixXd semidefinite_root(const MatrixXd& K);

// With the lower triangle L: x <- L^-1 x, x <- L^-T x, X <- L^-1 X, X <- L^-T X, X <- X L^-T.
void solve_lower(const MatrixView& L, Eigen::Ref<VectorXd> x);
void solve_lower_transposed(const MatrixView& L, Eigen::Ref<VectorXd> x);
void solve_lower_columns(const MatrixView& L, MatrixXd& X);
void solve_lower_transposed_columns(const MatrixView& L, MatrixXd& X);
void solve_lower_transposed_rows(const MatrixView& L, Eigen::Ref<MatrixXd> X);

// The factor L L' = A of A = B + diag(floor), with B positive semidefinite and floor > 0, from the lower triangle. A
// squared pivot below half its floor is possible only by rounding. If there is one, the factor is computed again with
// every pivot at least its floor. The factorisation therefore never fails.
class FlooredCholesky {
 public:
  FlooredCholesky(MatrixXd A, const VectorXd& floor);
  FlooredCholesky(const MatrixXd& A, double floor)
      : FlooredCholesky(A, VectorXd::Constant(A.rows(), floor)) {}

  const MatrixXd& lower() const { return lower_; }  // its upper triangle is undefined
  MatrixXd matrix() const;                          // L with zeros in the upper triangle
  VectorXd multiply(const VectorXd& z) const;       // L z
  VectorXd solve(VectorXd b) const;                 // A^-1 b
  MatrixXd inverse_transposed() const;              // L^-T
  double log_det() const;

 private:
  MatrixXd lower_;
};

}  // namespace gpb

#endif
