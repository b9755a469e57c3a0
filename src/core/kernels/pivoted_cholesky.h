// The low-rank factor of a Gram matrix over many points. Uses kernels/ and linalg/.
#ifndef GPB_PIVOTED_CHOLESKY_H
#define GPB_PIVOTED_CHOLESKY_H

#include "kernels/kernel.h"
#include "linalg/floors.h"

namespace gpb {

// Low-rank factor of the Gram matrix of all rows of X: K ~ factor * factor'.
struct LowRank {
  MatrixXd factor;               // n x r
  VectorXd residual;             // diagonal of K - factor * factor', >= 0
  std::vector<Index> pivots;     // the r rows chosen, in order
  bool complete;                 // residual <= tolerance everywhere
};

// Pivoted Cholesky decomposition, which stops when every residual is <= tolerance or at max_rank. The n x n matrix is
// never formed. Throws if a residual is more negative than rounding allows (an indefinite covariance).
LowRank pivoted_cholesky(const Kernel& kernel, const Points& X, double tolerance, Index max_rank);

}  // namespace gpb

#endif
