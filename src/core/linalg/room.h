// Room in matrices that grow. Uses base/ alone.
#ifndef GPB_ROOM_H
#define GPB_ROOM_H

#include <algorithm>

#include "base/types.h"

namespace gpb {

// Room for so many rows and columns at least, twice as many as before if it must grow; what is
// there stays.
inline void make_room(MatrixXd& matrix, Index rows, Index columns) {
  const auto room = [](Index wanted, Index had) {
    return wanted > had ? std::max(wanted, 2 * had) : had;
  };
  if (rows <= matrix.rows() && columns <= matrix.cols()) return;
  matrix.conservativeResize(room(rows, matrix.rows()), room(columns, matrix.cols()));
}

}  // namespace gpb

#endif
