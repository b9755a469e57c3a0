// The low-rank factor of a Gram matrix over many points.
#ifndef GPB_PIVOTED_CHOLESKY_H
#define GPB_PIVOTED_CHOLESKY_H

#include "kernels/kernel.h"
#include "linalg/floors.h"

namespace gpb {

// Low-rank factor of the Gram matrix of all rows of X: K ~ factor * factor'.
struct LowRank {
  MatrixXd factor;               // n x r
  VectorXd residual;             // what the factor leaves of each diagonal entry, >= 0
  std::vector<Index> pivots;     // the r rows chosen, in order
  bool complete;                 // residual <= tolerance everywhere
};

// Pivoted Cholesky, stopped when every residual is <= tolerance or at max_rank.
// Never forms the n x n matrix. Throws if a residual is more negative than
// rounding allows (an indefinite covariance).
LowRank pivoted_cholesky(const Kernel& kernel, const Points& X, double tolerance, Index max_rank);

}  // namespace gpb

#endif
