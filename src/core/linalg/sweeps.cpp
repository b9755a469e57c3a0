// Functions of sweeps.h: loops over a factor of the arms' covariance, the largest cost of runs with finitely many arms.
// Uses base/.
#include "linalg/sweeps.h"

#include "linalg/processors.h"

#include <algorithm>

namespace gpb {

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

}  // namespace gpb
