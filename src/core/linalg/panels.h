// Right-hand sides of triangular solves, stored in panels for speed. Uses base/ only.
// A matrix is split into panels of eight columns, each stored row by row. The innermost loop then reads one contiguous
// stream, and a new row never moves the old ones.
#ifndef GPB_PANELS_H
#define GPB_PANELS_H

#include "base/types.h"

namespace gpb {

class Panels {
 public:
  static constexpr Index kWidth = 8;

  explicit Panels(Index columns = 0) : columns_(columns) {}

  Index columns() const { return columns_; }
  Index count() const { return (columns_ + kWidth - 1) / kWidth; }
  Index capacity() const { return capacity_; }
  Index stride() const { return capacity_ * kWidth; }  // from panel to panel
  double* data() { return data_; }
  const double* data() const { return data_; }
  double operator()(Index row, Index column) const {
    return data_[(column / kWidth) * stride() + row * kWidth + column % kWidth];
  }

  // Reserves `rows` rows, at least twice the present capacity if it must grow; keeps the first `used` rows.
  void reserve(Index rows, Index used);
  void set_row(Index row, const double* values);

 private:
  Index columns_;
  Index capacity_ = 0;
  std::unique_ptr<double[]> storage_;
  double* data_ = nullptr;  // storage_ from its first cache line on
};

// A lower triangle packed by rows: row i holds i + 1 numbers from i(i+1)/2 on.
inline Index packed_start(Index row) { return row * (row + 1) / 2; }

// Completes the solution of L V = B. Rows `from` to `to` - 1 of V hold right-hand sides; the rows before them hold the
// solution already. O((to^2 - from^2) / 2) per column.
void forward_solve(const double* packed, Index from, Index to, Panels& V);

// Over rows `from` to `to` - 1: mean_j += sum_i weight_i V_ij, squares_j += sum_i V_ij^2.
// mean and squares have 8 * V.count() entries.
void accumulate_rows(const Panels& V, Index from, Index to, const double* weight, double* mean,
                     double* squares);

}  // namespace gpb

#endif
