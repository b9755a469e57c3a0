// Functions of panels.h: right-hand sides of triangular solves, stored in panels for speed. Uses base/.
#include "linalg/panels.h"

#include "linalg/processors.h"

#include <algorithm>
#include <cstdint>

namespace gpb {

namespace {

constexpr Index kWidth = Panels::kWidth;
constexpr Index kCacheLine = 64;
constexpr Index kBlockRows = 128;   // rows of L and V per pass: their part of a panel stays in the L1 cache
constexpr Index kBlockPanels = 32;  // panels per pass: their part stays in the L2 cache

// c(r, :) -= sum_q a[r][q] b(q, :) for `kRows` rows of one panel.
template <class Isa, int kRows>
GPB_INLINE void subtract_product(const double* const* a, const double* b, Index terms, double* c) {
  using Register = typename Isa::Register;
  constexpr int parts = static_cast<int>(kWidth) / Isa::lanes;
  Register sum[kRows][parts] = {};
  for (Index q = 0; q < terms; ++q) {
    Register right[parts];
#pragma GCC unroll 8
    for (int p = 0; p < parts; ++p) {
      right[p] = at<Isa>(b + q * kWidth + p * Isa::lanes).value;
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int p = 0; p < parts; ++p) sum[r][p] += a[r][q] * right[p];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int p = 0; p < parts; ++p) {
      at<Isa>(c + r * kWidth + p * Isa::lanes).value -= sum[r][p];
    }
  }
}

// Subtracts the terms of columns first .. last - 1 of L from rows row .. row + kRows - 1, in every panel of the range.
// With `finish`, the columns are all those before the rows, and the rows' triangle is solved as well.
template <class Isa, int kRows>
GPB_INLINE void sweep_tile(const double* packed, Index row, Index first, Index last, double* data,
                           Index stride, Index panels, bool finish) {
  const double* a[kRows];
  for (int r = 0; r < kRows; ++r) a[r] = packed + packed_start(row + r) + first;
  for (Index p = 0; p < panels; ++p) {
    double* panel = data + p * stride;
    double* c = panel + row * kWidth;
    subtract_product<Isa, kRows>(a, panel + first * kWidth, last - first, c);
    if (!finish) continue;
    for (int r = 0; r < kRows; ++r) {
      const double* own = a[r] + (row - first);
      for (int s = 0; s < r; ++s) {
        for (Index j = 0; j < kWidth; ++j) c[r * kWidth + j] -= own[s] * c[s * kWidth + j];
      }
      const double scale = 1.0 / own[r];
      for (Index j = 0; j < kWidth; ++j) c[r * kWidth + j] *= scale;
    }
  }
}

template <class Isa>
GPB_INLINE void sweep_rows(const double* packed, Index row, Index end, Index first, Index last,
                           double* data, Index stride, Index panels, bool finish) {
  for (; row + Isa::tile <= end; row += Isa::tile) {
    sweep_tile<Isa, Isa::tile>(packed, row, first, finish ? row : last, data, stride, panels,
                               finish);
  }
  for (; row < end; ++row) {
    sweep_tile<Isa, 1>(packed, row, first, finish ? row : last, data, stride, panels, finish);
  }
}

template <class Isa>
GPB_INLINE void solve_panels_for(const double* packed, Index from, Index to, double* data,
                                  Index stride, Index panels) {
  for (Index p = 0; p < panels; p += kBlockPanels) {
    double* part = data + p * stride;
    const Index count = std::min(kBlockPanels, panels - p);
    for (Index row = from; row < to;) {
      const Index end = std::min(row + kBlockRows, to);
      // At most one tile of rows reads V once in any order: a single pass is enough.
      const Index done = end - row > Isa::tile ? row : 0;
      for (Index k = 0; k < done; k += kBlockRows) {
        sweep_rows<Isa>(packed, row, end, k, std::min(k + kBlockRows, done), part, stride, count,
                        false);
      }
      sweep_rows<Isa>(packed, row, end, done, row, part, stride, count, true);
      row = end;
    }
  }
}

template <class Isa>
GPB_INLINE void accumulate_for(const double* data, Index stride, Index panels, Index from, Index to,
                               const double* weight, double* mean, double* squares) {
  using Register = typename Isa::Register;
  constexpr int parts = static_cast<int>(kWidth) / Isa::lanes;
  for (Index p = 0; p < panels; ++p) {
    Register m[parts] = {};
    Register s[parts] = {};
    for (Index i = from; i < to; ++i) {
      const double* v = data + p * stride + i * kWidth;
#pragma GCC unroll 8
      for (int q = 0; q < parts; ++q) {
        const Register value = at<Isa>(v + q * Isa::lanes).value;
        m[q] += weight[i] * value;
        s[q] += value * value;
      }
    }
    for (int q = 0; q < parts; ++q) {
      at<Isa>(mean + p * kWidth + q * Isa::lanes).value += m[q];
      at<Isa>(squares + p * kWidth + q * Isa::lanes).value += s[q];
    }
  }
}

GPB_FOR_EACH_PROCESSOR(solve_panels,
                       (const double* packed, Index from, Index to, double* data, Index stride,
                        Index panels),
                       (packed, from, to, data, stride, panels))
GPB_FOR_EACH_PROCESSOR(accumulate,
                       (const double* data, Index stride, Index panels, Index from, Index to,
                        const double* weight, double* mean, double* squares),
                       (data, stride, panels, from, to, weight, mean, squares))

}  // namespace

void Panels::reserve(Index rows, Index used) {
  if (rows <= capacity_) return;
  const Index capacity = std::max(rows, 2 * capacity_);
  const std::size_t size = static_cast<std::size_t>(count() * capacity * kWidth);
  std::unique_ptr<double[]> storage(new double[size + kCacheLine / sizeof(double)]);
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(storage.get());
  const std::uintptr_t skip = (kCacheLine - address % kCacheLine) % kCacheLine;
  double* data = storage.get() + skip / sizeof(double);
  for (Index p = 0; p < count(); ++p) {
    const double* old = data_ + p * stride();
    std::copy(old, old + used * kWidth, data + p * capacity * kWidth);
  }
  storage_ = std::move(storage);
  data_ = data;
  capacity_ = capacity;
}

void Panels::set_row(Index row, const double* values) {
  for (Index p = 0; p < count(); ++p) {
    double* out = data_ + p * stride() + row * kWidth;
    const Index first = p * kWidth;
    const Index used = std::min(kWidth, columns_ - first);
    std::copy(values + first, values + first + used, out);
    std::fill(out + used, out + kWidth, 0.0);
  }
}

void forward_solve(const double* packed, Index from, Index to, Panels& V) {
  solve_panels(packed, from, to, V.data(), V.stride(), V.count());
}

void accumulate_rows(const Panels& V, Index from, Index to, const double* weight, double* mean,
                     double* squares) {
  accumulate(V.data(), V.stride(), V.count(), from, to, weight, mean, squares);
}

}  // namespace gpb
