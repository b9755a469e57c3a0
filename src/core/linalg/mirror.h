// Copies of a triangle of a square matrix into the other. Uses base/ alone.
#ifndef GPB_MIRROR_H
#define GPB_MIRROR_H

#include "base/types.h"

namespace gpb {

// The upper triangle of a square matrix becomes the lower one's mirror image, column by column.
inline void mirror_lower(MatrixXd& matrix) {
  const Index n = matrix.rows();
  for (Index j = 0; j < n; ++j) {
    for (Index i = j + 1; i < n; ++i) matrix(j, i) = matrix(i, j);
  }
}

}  // namespace gpb

#endif
