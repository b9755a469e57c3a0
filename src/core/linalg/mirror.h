// Copies one triangle of a square matrix to the other. Uses base/ only.
#ifndef GPB_MIRROR_H
#define GPB_MIRROR_H

#include "base/types.h"

namespace gpb {

// Copies the lower triangle of a square matrix to its upper triangle, column by column.
inline void mirror_lower(MatrixXd& matrix) {
  const Index n = matrix.rows();
  for (Index j = 0; j < n; ++j) {
    for (Index i = j + 1; i < n; ++i) matrix(j, i) = matrix(i, j);
  }
}

}  // namespace gpb

#endif
