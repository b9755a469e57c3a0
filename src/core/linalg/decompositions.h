// Decompositions, and solutions of triangular systems, compiled once (see products.h).
#ifndef GPB_DECOMPOSITIONS_H
#define GPB_DECOMPOSITIONS_H

#include "linalg/products.h"

namespace gpb {

// Of a symmetric matrix, ascending.
VectorXd symmetric_eigenvalues(const MatrixXd& A);

// A becomes L with L L' = A by its lower triangle (what is above means nothing). False: A was not
// positive definite, and is spoilt.
bool cholesky(MatrixXd& A);

// R z with R R' = K, which may be singular: LDL' with pivoting needs no jitter.
MatrixXd rooted(const MatrixXd& K, const MatrixXd& z);
// R itself.
MatrixXd semidefinite_root(const MatrixXd& K);

// With the lower triangle L: x <- L^-1 x, x <- L^-T x, X <- L^-1 X, X <- L^-T X, X <- X L^-T.
void solve_lower(const MatrixView& L, Eigen::Ref<VectorXd> x);
void solve_lower_transposed(const MatrixView& L, Eigen::Ref<VectorXd> x);
void solve_lower_columns(const MatrixView& L, MatrixXd& X);
void solve_lower_transposed_columns(const MatrixView& L, MatrixXd& X);
void solve_lower_transposed_rows(const MatrixView& L, Eigen::Ref<MatrixXd> X);

// A = B + diag(floor) with B positive semidefinite and floor > 0, lower triangle given: L L' = A.
// A factor with a squared pivot of less than half its floor, which only rounding can bring about,
// is made anew with every pivot at least its floor; so it never fails.
class FlooredCholesky {
 public:
  FlooredCholesky(MatrixXd A, const VectorXd& floor);
  FlooredCholesky(const MatrixXd& A, double floor)
      : FlooredCholesky(A, VectorXd::Constant(A.rows(), floor)) {}

  const MatrixXd& lower() const { return lower_; }  // its upper triangle means nothing
  MatrixXd matrix() const;                          // L with noughts there
  VectorXd multiply(const VectorXd& z) const;       // L z
  VectorXd solve(VectorXd b) const;                 // A^-1 b
  MatrixXd inverse_transposed() const;              // L^-T
  double log_det() const;

 private:
  MatrixXd lower_;
};

}  // namespace gpb

#endif
