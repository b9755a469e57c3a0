#include "hot.h"

#include <cmath>

// At R's -O2 gcc leaves these loops alone, though it could run them on several numbers at once.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

// R compiles for a generic processor. Where the loader can choose between
// versions of a function (gcc on x86-64 Linux with glibc), build these loops for
// newer processors too; everywhere else the generic version serves.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)
#define GPB_CLONES __attribute__((target_clones("arch=haswell", "arch=skylake-avx512", "default")))
#else
#define GPB_CLONES
#endif

// At -O2 gcc leaves loops of unknown length scalar.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

namespace gpb {

namespace {
constexpr std::ptrdiff_t kBlock = 1024;  // arms per block: the block's sums stay in the first cache
}

// The sweeps share this body; it must be inlined into each clone.
#define GPB_BLOCK_PRODUCT(sum, first, count)                                     \
  for (std::ptrdiff_t j = 0; j < (count); ++j) (sum)[j] = 0.0;                   \
  {                                                                              \
    std::ptrdiff_t q = 0;                                                        \
    for (; q + 4 <= r; q += 4) {                                                 \
      const double* f0 = factor + (first) + q * stride;                          \
      const double* f1 = f0 + stride;                                            \
      const double* f2 = f1 + stride;                                            \
      const double* f3 = f2 + stride;                                            \
      const double g0 = weight[q], g1 = weight[q + 1];                           \
      const double g2 = weight[q + 2], g3 = weight[q + 3];                       \
      for (std::ptrdiff_t j = 0; j < (count); ++j) {                             \
        (sum)[j] += (f0[j] * g0 + f1[j] * g1) + (f2[j] * g2 + f3[j] * g3);       \
      }                                                                          \
    }                                                                            \
    for (; q < r; ++q) {                                                         \
      const double* f0 = factor + (first) + q * stride;                          \
      const double g0 = weight[q];                                               \
      for (std::ptrdiff_t j = 0; j < (count); ++j) (sum)[j] += f0[j] * g0;       \
    }                                                                            \
  }

GPB_CLONES
void rank_one_sweep(const double* factor, std::ptrdiff_t stride, std::ptrdiff_t n,
                    std::ptrdiff_t r, const double* weight, double mean_step,
                    double variance_step, double* mean, double* variance) {
  double sum[kBlock];
  for (std::ptrdiff_t first = 0; first < n; first += kBlock) {
    const std::ptrdiff_t count = n - first < kBlock ? n - first : kBlock;
    GPB_BLOCK_PRODUCT(sum, first, count)
    double* m = mean + first;
    double* v = variance + first;
    for (std::ptrdiff_t j = 0; j < count; ++j) {
      m[j] += sum[j] * mean_step;
      const double left = v[j] - sum[j] * sum[j] * variance_step;
      v[j] = left > 0.0 ? left : 0.0;
    }
  }
}

GPB_CLONES
void append_sweep(const double* factor, std::ptrdiff_t stride, std::ptrdiff_t n, std::ptrdiff_t r,
                  const double* weight, const double* prior, double row_scale, double mean_step,
                  double* row, double* mean, double* variance) {
  double sum[kBlock];
  for (std::ptrdiff_t first = 0; first < n; first += kBlock) {
    const std::ptrdiff_t count = n - first < kBlock ? n - first : kBlock;
    GPB_BLOCK_PRODUCT(sum, first, count)
    for (std::ptrdiff_t j = 0; j < count; ++j) {
      const double scaled = (prior[first + j] - sum[j]) * row_scale;
      row[first + j] = scaled;
      mean[first + j] += scaled * mean_step;
      const double left = variance[first + j] - scaled * scaled;
      variance[first + j] = left > 0.0 ? left : 0.0;
    }
  }
}

GPB_CLONES
void product_sweep(const double* factor, std::ptrdiff_t stride, std::ptrdiff_t n,
                   std::ptrdiff_t r, const double* weight, double scale, const double* base,
                   double* out) {
  double sum[kBlock];
  for (std::ptrdiff_t first = 0; first < n; first += kBlock) {
    const std::ptrdiff_t count = n - first < kBlock ? n - first : kBlock;
    GPB_BLOCK_PRODUCT(sum, first, count)
    for (std::ptrdiff_t j = 0; j < count; ++j) out[first + j] = base[first + j] + scale * sum[j];
  }
}

GPB_CLONES
void subtract_outer(double* matrix, std::ptrdiff_t n, std::ptrdiff_t r, const double* left,
                    const double* right) {
  for (std::ptrdiff_t q = 0; q < r; ++q) {
    double* column = matrix + q * n;
    const double g = right[q];
    for (std::ptrdiff_t j = 0; j < n; ++j) column[j] -= left[j] * g;
  }
}

GPB_CLONES
double upper_bounds(const double* mean, const double* variance, std::ptrdiff_t n, double width,
                    double* score) {
  for (std::ptrdiff_t j = 0; j < n; ++j) score[j] = mean[j] + width * std::sqrt(variance[j]);
  double best = n > 0 ? score[0] : 0.0;
  for (std::ptrdiff_t j = 1; j < n; ++j) best = score[j] > best ? score[j] : best;
  return best;
}

}  // namespace gpb
