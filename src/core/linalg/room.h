// Allocation of matrices that grow. Uses base/ only.
#ifndef GPB_ROOM_H
#define GPB_ROOM_H

#include <algorithm>

#include "base/types.h"

namespace gpb {

// Makes room for at least `rows` rows and `columns` columns and keeps the content. A dimension that must grow at least
// doubles.
inline void make_room(MatrixXd& matrix, Index rows, Index columns) {
  const auto room = [](Index wanted, Index had) {
    return wanted > had ? std::max(wanted, 2 * had) : had;
  };
  if (rows <= matrix.rows() && columns <= matrix.cols()) return;
  matrix.conservativeResize(room(rows, matrix.rows()), room(columns, matrix.cols()));
}

}  // namespace gpb

#endif
