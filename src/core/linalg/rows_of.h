// Selects rows of a matrix. Uses base/ only.
#ifndef GPB_ROWS_OF_H
#define GPB_ROWS_OF_H

#include "base/types.h"

namespace gpb {

inline Points rows_of(const Points& X, const std::vector<Index>& rows) {
  Points out(static_cast<Index>(rows.size()), X.cols());
  for (Index c = 0; c < X.cols(); ++c) {
    for (Index i = 0; i < out.rows(); ++i) out(i, c) = X(rows[static_cast<std::size_t>(i)], c);
  }
  return out;
}

}  // namespace gpb

#endif
