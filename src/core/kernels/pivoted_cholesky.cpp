// Functions of pivoted_cholesky.h: the low-rank factor of a Gram matrix over many points. Uses linalg/.
#include "kernels/pivoted_cholesky.h"

#include "linalg/decompositions.h"

#include <algorithm>
#include <cmath>

namespace gpb {

LowRank pivoted_cholesky(const Kernel& kernel, const Points& X, double tolerance, Index max_rank) {
  const Index n = X.rows();
  LowRank out;
  out.residual.resize(n);
  kernel.diagonal(X, out.residual);
  const double scale = out.residual.size() ? out.residual.maxCoeff() : 0.0;
  max_rank = std::min(max_rank, n);
  MatrixXd& F = out.factor;
  F.resize(n, std::min<Index>(max_rank, 32));
  VectorXd column(n);
  Index rank = 0;
  Index pivot = 0;
  while (rank < max_rank && n > 0 && out.residual.maxCoeff(&pivot) > tolerance) {
    if (rank == F.cols()) F.conservativeResize(Eigen::NoChange, std::min(max_rank, 2 * rank));
    kernel.cross(row_of(X, pivot), X, column);
    if (rank > 0) {
      const VectorXd at_pivot = row_of(F, pivot, 0, rank);
      add_multiple(column, -1.0, F.leftCols(rank), at_pivot);
    }
    column /= std::sqrt(out.residual[pivot]);
    F.col(rank) = column;
    out.residual -= times(column, column);
    out.residual[pivot] = 0.0;
    if (out.residual.minCoeff() < -kIndefinite * std::max(scale, 1e-300)) {
      throw_invalid("the covariance is indefinite: a conditional variance is " +
                    std::to_string(out.residual.minCoeff()));
    }
    out.pivots.push_back(pivot);
    ++rank;
  }
  F.conservativeResize(Eigen::NoChange, rank);
  out.complete = n == 0 || out.residual.maxCoeff() <= tolerance;
  out.residual = out.residual.cwiseMax(0.0);
  return out;
}

}  // namespace gpb
