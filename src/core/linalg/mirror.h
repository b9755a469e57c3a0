#ifndef GPB_MIRROR_H
#define GPB_MIRROR_H

#include "base/types.h"

namespace gpb {

// The upper triangle of a square matrix becomes the lower one's mirror image, column by column. (Not
// a row of no numbers: with one row Eigen's assertions take it for its own column.)
inline void mirror_lower(MatrixXd& matrix) {
  const Index n = matrix.rows();
  for (Index j = 0; j + 1 < n; ++j) {
    matrix.row(j).tail(n - 1 - j) = matrix.col(j).tail(n - 1 - j).transpose();
  }
}

}  // namespace gpb

#endif
