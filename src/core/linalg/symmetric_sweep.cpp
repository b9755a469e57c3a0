// Functions of symmetric_sweep.h: inverse, determinant and solutions of a positive definite system in one pass. Uses
// base/.
#include "linalg/symmetric_sweep.h"

#include "linalg/processors.h"

#include <algorithm>
#include <cmath>

namespace gpb {

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

void SymmetricSweep::sweep(Index from, Index to, double least_pivot, bool inverse) {
  for (Index first = from; first < to; first += kPivots) {
    const Index size = std::min(kPivots, to - first);
    PivotBlock block{size};
    factor_block(&a_(first, first), a_.rows(), least_pivot, block);
    log_det_ += block.log_det();
    if (inverse) invert_block(block);
    sweep_block({a_.data(), a_.rows(), order_ + border_, first, size,
                      inverse ? 0 : first + size, rows_.data(), columns_.data()},
                     block, inverse);
  }
}

}  // namespace gpb
