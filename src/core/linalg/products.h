// Products of matrices, compiled once. Uses base/ only.
// Eigen's templates for them take seconds to compile in every file that uses them. Views of columns and blocks are used
// without copies.
#ifndef GPB_PRODUCTS_H
#define GPB_PRODUCTS_H

#include "base/types.h"

namespace gpb {

using MatrixView = Eigen::Ref<const MatrixXd>;
using VectorView = Eigen::Ref<const VectorXd>;

// With a vector: A x and A'x; out += scale A x and out += scale A'x (`out` must not overlap with A or x).
VectorXd multiply(const MatrixView& A, const VectorView& x);
VectorXd multiply_transposed(const MatrixView& A, const VectorView& x);
void add_multiple(Eigen::Ref<VectorXd> out, double scale, const MatrixView& A, const VectorView& x);
void add_multiple_transposed(Eigen::Ref<VectorXd> out, double scale, const MatrixView& A, const VectorView& x);

// scale A B, A'B and A B'.
MatrixXd product(const MatrixView& A, const MatrixView& B, double scale = 1.0);
MatrixXd crossprod(const MatrixView& A, const MatrixView& B);
MatrixXd tcrossprod(const MatrixView& A, const MatrixView& B);
// out = A B; out -= A B; out -= A'B (`out` must not overlap with A or B).
void product_into(Eigen::Ref<MatrixXd> out, const MatrixView& A, const MatrixView& B);
void subtract_product(Eigen::Ref<MatrixXd> out, const MatrixView& A, const MatrixView& B);
void subtract_crossprod(Eigen::Ref<MatrixXd> out, const MatrixView& A, const MatrixView& B);

// diag(d) A, and diag(d) A diag(d).
MatrixXd scaled_rows(const VectorXd& d, const MatrixXd& A);
MatrixXd scaled_both(const VectorXd& d, const MatrixXd& A);
void add_to_diagonal(MatrixXd& A, const VectorXd& x);
void add_to_diagonal(MatrixXd& A, double x);

// Adds scale A A' or scale A'A to the lower triangle of C.
void add_tcrossprod_below(MatrixXd& C, double scale, const MatrixView& A);
void add_crossprod_below(MatrixXd& C, double scale, const MatrixView& A);

}  // namespace gpb

#endif
