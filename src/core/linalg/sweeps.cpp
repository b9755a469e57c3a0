// Hand-written loops, compiled for several processor types; `bench/linalg.R` has the reasons. Uses base/ only.
#include "linalg/panels.h"
#include "linalg/sweeps.h"
#include "linalg/symmetric_sweep.h"
#include "linalg/pruned_argmax.h"

#include "linalg/processors.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gpb {

// ---- many right-hand sides ----------------------------------------------------------------------

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

// ---- sweeps over columns ------------------------------------------------------------------------

namespace {

constexpr Index kBlock = 4096;  // arms per block: the block's sums stay in the L1 cache
constexpr int kTerms = 8;       // columns at a time: the sums are read and written once for all

// sum_j += sum over `terms` columns of column(j) * weight.
template <class Isa, int terms>
GPB_INLINE void add_columns(const double* columns, Index stride, const double* weight, Index count,
                            double* sum) {
  Index j = 0;
  for (; j + Isa::lanes <= count; j += Isa::lanes) {
    typename Isa::Register total = at<Isa>(sum + j).value;
#pragma GCC unroll 8
    for (int q = 0; q < terms; ++q) total += at<Isa>(columns + q * stride + j).value * weight[q];
    at<Isa>(sum + j).value = total;
  }
  for (; j < count; ++j) {
    for (int q = 0; q < terms; ++q) sum[j] += columns[q * stride + j] * weight[q];
  }
}

template <class Isa>
GPB_INLINE void block_product(const double* factor, Index stride, Index r, const double* weight,
                              Index count, double* sum) {
  std::fill(sum, sum + count, 0.0);
  Index q = 0;
  for (; q + kTerms <= r; q += kTerms) {
    add_columns<Isa, kTerms>(factor + q * stride, stride, weight + q, count, sum);
  }
  for (; q < r; ++q) add_columns<Isa, 1>(factor + q * stride, stride, weight + q, count, sum);
}

// variance_j = max(0, variance_j - root_j^2 * step)
template <class Isa>
GPB_INLINE void lower_variance(const double* root, double step, Index count, double* variance) {
  using Register = typename Isa::Register;
  Index j = 0;
  for (; j + Isa::lanes <= count; j += Isa::lanes) {
    const Register own = at<Isa>(root + j).value;
    const Register left = at<Isa>(variance + j).value - own * own * step;
    at<Isa>(variance + j).value = left > 0.0 ? left : Register{};
  }
  for (; j < count; ++j) variance[j] = std::max(0.0, variance[j] - root[j] * root[j] * step);
}

// out_j += step * x_j
template <class Isa>
GPB_INLINE void add_multiple(const double* x, double step, Index count, double* out) {
  add_columns<Isa, 1>(x, 0, &step, count, out);
}

template <class Isa>
GPB_INLINE void rank_one_sweep_for(const double* factor, Index stride, Index n, Index r,
                                   const double* gain, double mean_step, double variance_step,
                                   double* mean, double* variance) {
  double c[kBlock];
  for (Index first = 0; first < n; first += kBlock) {
    const Index count = std::min(kBlock, n - first);
    block_product<Isa>(factor + first, stride, r, gain, count, c);
    add_multiple<Isa>(c, mean_step, count, mean + first);
    lower_variance<Isa>(c, variance_step, count, variance + first);
  }
}

template <class Isa>
GPB_INLINE void append_sweep_for(const double* factor, Index stride, Index n, Index r,
                                 const double* weight, const double* prior, double row_scale,
                                 double mean_step, double* row, double* mean, double* variance) {
  double sum[kBlock];
  for (Index first = 0; first < n; first += kBlock) {
    const Index count = std::min(kBlock, n - first);
    block_product<Isa>(factor + first, stride, r, weight, count, sum);
    double* own = row + first;
    Index j = 0;
    for (; j + Isa::lanes <= count; j += Isa::lanes) {
      at<Isa>(own + j).value = (at<Isa>(prior + first + j).value - at<Isa>(sum + j).value) * row_scale;
    }
    for (; j < count; ++j) own[j] = (prior[first + j] - sum[j]) * row_scale;
    add_multiple<Isa>(own, mean_step, count, mean + first);
    lower_variance<Isa>(own, 1.0, count, variance + first);
  }
}

template <class Isa>
GPB_INLINE void product_sweep_for(const double* factor, Index stride, Index n, Index r,
                                  const double* weight, double scale, const double* base,
                                  double* out) {
  double sum[kBlock];
  for (Index first = 0; first < n; first += kBlock) {
    const Index count = std::min(kBlock, n - first);
    block_product<Isa>(factor + first, stride, r, weight, count, sum);
    Index j = 0;
    for (; j + Isa::lanes <= count; j += Isa::lanes) {
      at<Isa>(out + first + j).value = at<Isa>(base + first + j).value + at<Isa>(sum + j).value * scale;
    }
    for (; j < count; ++j) out[first + j] = base[first + j] + scale * sum[j];
  }
}

template <class Isa>
GPB_INLINE void subtract_outer_for(double* matrix, Index n, Index r, const double* left,
                                   const double* right) {
  for (Index q = 0; q < r; ++q) add_multiple<Isa>(left, -right[q], n, matrix + q * n);
}

}  // namespace

GPB_FOR_EACH_PROCESSOR(rank_one_sweep,
                       (const double* factor, Index stride, Index n, Index r, const double* gain,
                        double mean_step, double variance_step, double* mean, double* variance),
                       (factor, stride, n, r, gain, mean_step, variance_step, mean, variance))

GPB_FOR_EACH_PROCESSOR(append_sweep,
                       (const double* factor, Index stride, Index n, Index r, const double* weight,
                        const double* prior, double row_scale, double mean_step, double* row,
                        double* mean, double* variance),
                       (factor, stride, n, r, weight, prior, row_scale, mean_step, row, mean,
                        variance))

GPB_FOR_EACH_PROCESSOR(product_sweep,
                       (const double* factor, Index stride, Index n, Index r, const double* weight,
                        double scale, const double* base, double* out),
                       (factor, stride, n, r, weight, scale, base, out))

GPB_FOR_EACH_PROCESSOR(subtract_outer,
                       (double* matrix, Index n, Index r, const double* left, const double* right),
                       (matrix, n, r, left, right))

// ---- sweeps of a symmetric matrix ---------------------------------------------------------------

namespace {

// Pivots per block: a whole number of tiles, both ways.
constexpr Index kPivots = 24;
constexpr Index kColumns = 6;  // columns of a tile; its rows fill two registers
template <class Isa>
constexpr Index kRows = 2 * Isa::lanes;

Index padded_to_blocks(Index size) { return (size + kPivots - 1) / kPivots * kPivots; }

// The factor of one block of pivots and its inverse, both lower triangular, stored row by row.
struct PivotBlock {
  Index size;
  double factor[kPivots * kPivots] = {};
  double inverse[kPivots * kPivots] = {};

  double log_det() const {
    double sum = 0.0;
    for (Index i = 0; i < size; ++i) sum += std::log(factor[i * kPivots + i]);
    return 2.0 * sum;
  }
};

void factor_block(const double* a, Index stride, double least_pivot, PivotBlock& block) {
  double* L = block.factor;
  for (Index i = 0; i < block.size; ++i) {
    for (Index j = 0; j <= i; ++j) {
      double sum = a[i + j * stride];
      for (Index q = 0; q < j; ++q) sum -= L[i * kPivots + q] * L[j * kPivots + q];
      L[i * kPivots + j] = i == j ? std::sqrt(std::max(sum, least_pivot)) : sum / L[j * kPivots + j];
    }
  }
}

void invert_block(PivotBlock& block) {
  const double* L = block.factor;
  double* M = block.inverse;
  for (Index j = 0; j < block.size; ++j) {
    M[j * kPivots + j] = 1.0 / L[j * kPivots + j];
    for (Index i = j + 1; i < block.size; ++i) {
      double sum = 0.0;
      for (Index q = j; q < i; ++q) sum -= L[i * kPivots + q] * M[q * kPivots + j];
      M[i * kPivots + j] = sum / L[i * kPivots + i];
    }
  }
}

// The data of one sweep: the padded matrix and packed copies of the block's columns.
struct Sweep {
  double* a;
  Index stride, total;
  Index first, size;     // of the block of pivots
  Index begin;           // rows and columns from here on are updated
  double* rows;          // kRows rows in parallel, pivot after pivot
  double* columns;       // kColumns rows in parallel
  bool outside(Index i) const { return i < first || i >= first + size; }
};

// Copies the block's columns, which continue above the block by symmetry. Rows of the block itself are 0.
template <class Isa>
GPB_INLINE void gather(const Sweep& s) {
  for (Index p = s.begin / kRows<Isa>; p * kRows<Isa> < s.total; ++p) {
    double* panel = s.rows + p * kRows<Isa> * kPivots;
    for (Index r = 0; r < kRows<Isa>; ++r) {
      const Index i = p * kRows<Isa> + r;
      const bool used = i >= s.begin && i < s.total && s.outside(i);
      const double* from = s.a + (i < s.first ? s.first + i * s.stride : i + s.first * s.stride);
      const Index step = i < s.first ? 1 : s.stride;
      for (Index q = 0; q < s.size; ++q) panel[q * kRows<Isa> + r] = used ? from[q * step] : 0.0;
    }
  }
}

// Solves V L' = U for every panel of rows, overwriting U.
template <class Isa>
GPB_INLINE void solve_panels(const Sweep& s, const PivotBlock& block) {
  using Register = typename Isa::Register;
  for (Index p = s.begin / kRows<Isa>; p * kRows<Isa> < s.total; ++p) {
    double* panel = s.rows + p * kRows<Isa> * kPivots;
    for (Index q = 0; q < s.size; ++q) {
      const double* l = block.factor + q * kPivots;
      double* own = panel + q * kRows<Isa>;
      Register low = at<Isa>(own).value, high = at<Isa>(own + Isa::lanes).value;
      for (Index k = 0; k < q; ++k) {
        const double* other = panel + k * kRows<Isa>;
        low -= l[k] * at<Isa>(other).value;
        high -= l[k] * at<Isa>(other + Isa::lanes).value;
      }
      const double scale = 1.0 / l[q];
      at<Isa>(own).value = low * scale;
      at<Isa>(own + Isa::lanes).value = high * scale;
    }
  }
}

template <class Isa>
GPB_INLINE double packed_entry(const Sweep& s, Index i, Index q) {
  return s.rows[(i / kRows<Isa>)*kRows<Isa> * kPivots + q * kRows<Isa> + i % kRows<Isa>];
}

template <class Isa>
GPB_INLINE void pack_columns(const Sweep& s) {
  for (Index p = s.begin / kColumns; p * kColumns < s.total; ++p) {
    double* panel = s.columns + p * kColumns * kPivots;
    for (Index q = 0; q < s.size; ++q) {
      for (Index c = 0; c < kColumns; ++c) {
        const Index i = p * kColumns + c;
        panel[q * kColumns + c] =
            i >= s.begin && i < s.total ? packed_entry<Isa>(s, i, q) : 0.0;
      }
    }
  }
}

// sum_q left(:, q) right(q, :) over one tile.
template <class Isa>
GPB_INLINE void tile_product(const double* left, const double* right, Index terms,
                             typename Isa::Register (&sum)[kColumns][2]) {
  using Register = typename Isa::Register;
  for (Index q = 0; q < terms; ++q) {
    const Register low = at<Isa>(left + q * kRows<Isa>).value;
    const Register high = at<Isa>(left + q * kRows<Isa> + Isa::lanes).value;
#pragma GCC unroll 6
    for (int c = 0; c < kColumns; ++c) {
      sum[c][0] += right[q * kColumns + c] * low;
      sum[c][1] += right[q * kColumns + c] * high;
    }
  }
}

// Subtracts V V' from the lower triangle. Tiles on the diagonal also change entries above it, which are never read.
template <class Isa>
GPB_INLINE void subtract_products(const Sweep& s) {
  using Register = typename Isa::Register;
  for (Index j = s.begin / kColumns; j * kColumns < s.total; ++j) {
    const double* right = s.columns + j * kColumns * kPivots;
    const Index top = std::max(j * kColumns, s.begin) / kRows<Isa>;
    for (Index p = top; p * kRows<Isa> < s.total; ++p) {
      Register sum[kColumns][2] = {};
      tile_product<Isa>(s.rows + p * kRows<Isa> * kPivots, right, s.size, sum);
      double* c = s.a + p * kRows<Isa> + j * kColumns * s.stride;
#pragma GCC unroll 6
      for (int k = 0; k < kColumns; ++k) {
        double* out = c + k * s.stride;
        at<Isa>(out).value -= sum[k][0];
        at<Isa>(out + Isa::lanes).value -= sum[k][1];
      }
    }
  }
}

// Replaces the block's columns by V L^-1, and the block by minus its inverse.
template <class Isa>
GPB_INLINE void write_block(const Sweep& s, const PivotBlock& block) {
  for (Index p = 0; p * kRows<Isa> < s.total; ++p) {
    const double* panel = s.rows + p * kRows<Isa> * kPivots;
    for (Index q = 0; q < s.size; ++q) {
      double sum[kRows<Isa>] = {};
      for (Index k = q; k < s.size; ++k) {
        const double m = block.inverse[k * kPivots + q];
        for (Index r = 0; r < kRows<Isa>; ++r) sum[r] += panel[k * kRows<Isa> + r] * m;
      }
      for (Index r = 0; r < kRows<Isa>; ++r) {
        const Index i = p * kRows<Isa> + r;
        if (i >= s.total || !s.outside(i)) continue;
        s.a[i < s.first ? s.first + q + i * s.stride : i + (s.first + q) * s.stride] = sum[r];
      }
    }
  }
  for (Index j = 0; j < s.size; ++j) {
    for (Index i = j; i < s.size; ++i) {
      double sum = 0.0;
      for (Index k = i; k < s.size; ++k) {
        sum -= block.inverse[k * kPivots + i] * block.inverse[k * kPivots + j];
      }
      s.a[s.first + i + (s.first + j) * s.stride] = sum;
    }
  }
}

template <class Isa>
GPB_INLINE void sweep_block_for(const Sweep& s, PivotBlock& block, bool inverse) {
  gather<Isa>(s);
  solve_panels<Isa>(s, block);
  pack_columns<Isa>(s);
  subtract_products<Isa>(s);
  if (inverse) write_block<Isa>(s, block);
}

GPB_FOR_EACH_PROCESSOR(sweep_block, (const Sweep& s, PivotBlock& block, bool inverse),
                       (s, block, inverse))

}  // namespace

SymmetricSweep::SymmetricSweep(Index order, Index border)
    : order_(order),
      border_(border),
      a_(MatrixXd::Zero(padded_to_blocks(order + border), padded_to_blocks(order + border))),
      rows_(static_cast<std::size_t>(a_.rows() * kPivots)),
      columns_(static_cast<std::size_t>(a_.rows() * kPivots)) {}

void SymmetricSweep::run(double least_pivot, bool inverse) {
  log_det_ = 0.0;
  for (Index first = 0; first < order_; first += kPivots) {
    const Index size = std::min(kPivots, order_ - first);
    PivotBlock block{size};
    factor_block(&a_(first, first), a_.rows(), least_pivot, block);
    log_det_ += block.log_det();
    if (inverse) invert_block(block);
    sweep_block({a_.data(), a_.rows(), order_ + border_, first, size,
                      inverse ? 0 : first + size, rows_.data(), columns_.data()},
                     block, inverse);
  }
}

// ---- the largest of pruned products -------------------------------------------------------------

namespace {

constexpr Index kGroup = 32;  // arms that are excluded together

// The largest of x_first .. x_last-1.
template <class Isa>
GPB_INLINE double largest(const double* x, Index first, Index last) {
  using Register = typename Isa::Register;
  constexpr int kSums = 2;  // in parallel: a single one would wait for its own result
  double best = x[first];
  Register top[kSums] = {best - Register{}, best - Register{}};
  Index j = first;
  for (; j + kSums * Isa::lanes <= last; j += kSums * Isa::lanes) {
    for (int k = 0; k < kSums; ++k) {
      const Register own = at<Isa>(x + j + k * Isa::lanes).value;
      top[k] = own > top[k] ? own : top[k];
    }
  }
  for (int k = 0; k < kSums; ++k) {
    for (int lane = 0; lane < Isa::lanes; ++lane) best = std::max(best, top[k][lane]);
  }
  for (; j < last; ++j) best = std::max(best, x[j]);
  return best;
}

// bound_b >= mean_j + width sqrt(variance_j) for every j of group b. This holds in floating point too, because sums,
// products and roots round monotonically.
template <class Isa>
GPB_INLINE void group_bounds_for(const double* mean, const double* variance, Index n, double width,
                                 double* bound) {
  for (Index first = 0, b = 0; first < n; first += kGroup, ++b) {
    const Index last = std::min(first + kGroup, n);
    bound[b] = largest<Isa>(mean, first, last) +
               width * std::sqrt(largest<Isa>(variance, first, last));
  }
}

GPB_FOR_EACH_PROCESSOR(group_bounds,
                       (const double* mean, const double* variance, Index n, double width,
                        double* bound),
                       (mean, variance, n, width, bound))

// Computes the bounds of one group; returns the largest of them and of `best`.
double group_best(const double* mean, const double* variance, Index first, Index last,
                  double width, double* score, double best) {
  for (Index j = first; j < last; ++j) {
    score[j] = mean[j] + width * std::sqrt(variance[j]);
    best = std::max(best, score[j]);
  }
  return best;
}

}  // namespace

Index first_upper_bound(const double* mean, const double* variance, Index n, double width,
                        double tie, double* scratch) {
  double* const bound = scratch + n;
  const Index groups = (n + kGroup - 1) / kGroup;
  group_bounds(mean, variance, n, width, bound);
  const Index top = std::max_element(bound, bound + groups) - bound;
  const auto end_of = [n](Index b) { return std::min((b + 1) * kGroup, n); };
  double best = mean[top * kGroup] + width * std::sqrt(variance[top * kGroup]);
  best = group_best(mean, variance, top * kGroup, end_of(top), width, scratch, best);
  for (Index b = 0; b < groups; ++b) {
    if (b == top || bound[b] < best - tie) continue;
    best = group_best(mean, variance, b * kGroup, end_of(b), width, scratch, best);
  }
  // A group that was skipped above had a bound below an earlier, smaller `best`. It is skipped here, too.
  for (Index b = 0; b < groups; ++b) {
    if (bound[b] < best - tie) continue;
    for (Index j = b * kGroup; j < end_of(b); ++j) {
      if (scratch[j] >= best - tie) return j;
    }
  }
  return 0;
}

}  // namespace gpb
