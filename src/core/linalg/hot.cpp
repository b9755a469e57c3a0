#include "linalg/hot.h"

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
void potter_gain(const double* matrix, std::ptrdiff_t r, const double* row, double* v,
                 double* gain) {
  constexpr std::ptrdiff_t lanes = 8;  // sums side by side: one alone cannot be vectorised
  for (std::ptrdiff_t j = 0; j < r; ++j) gain[j] = 0.0;
  for (std::ptrdiff_t q = 0; q < r; ++q) {
    const double* column = matrix + q * r;
    double sum[lanes] = {0.0};
    std::ptrdiff_t j = 0;
    for (; j + lanes <= r; j += lanes) {
      for (std::ptrdiff_t k = 0; k < lanes; ++k) sum[k] += column[j + k] * row[j + k];
    }
    double total = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    for (; j < r; ++j) total += column[j] * row[j];
    v[q] = total;
    for (j = 0; j < r; ++j) gain[j] += column[j] * total;
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

namespace {
constexpr std::ptrdiff_t kGroup = 32;  // arms that are ruled out together
constexpr std::ptrdiff_t kLanes = 8;
}  // namespace

// bound_b >= mean_j + width sqrt(variance_j) for every j of group b: sums, products and
// roots round monotonically, so this holds in floating point too.
GPB_CLONES
static void group_bounds(const double* mean, const double* variance, std::ptrdiff_t n,
                         double width, double* bound) {
  for (std::ptrdiff_t first = 0, b = 0; first < n; first += kGroup, ++b) {
    const std::ptrdiff_t last = first + kGroup < n ? first + kGroup : n;
    double m[kLanes], v[kLanes];
    for (std::ptrdiff_t k = 0; k < kLanes; ++k) {
      m[k] = mean[first];
      v[k] = variance[first];
    }
    std::ptrdiff_t j = first;
    for (; j + kLanes <= last; j += kLanes) {
      for (std::ptrdiff_t k = 0; k < kLanes; ++k) {
        m[k] = mean[j + k] > m[k] ? mean[j + k] : m[k];
        v[k] = variance[j + k] > v[k] ? variance[j + k] : v[k];
      }
    }
    for (; j < last; ++j) {
      m[0] = mean[j] > m[0] ? mean[j] : m[0];
      v[0] = variance[j] > v[0] ? variance[j] : v[0];
    }
    for (std::ptrdiff_t k = 1; k < kLanes; ++k) {
      m[0] = m[k] > m[0] ? m[k] : m[0];
      v[0] = v[k] > v[0] ? v[k] : v[0];
    }
    bound[b] = m[0] + width * std::sqrt(v[0]);
  }
}

GPB_CLONES
static double group_best(const double* mean, const double* variance, std::ptrdiff_t first,
                         std::ptrdiff_t last, double width, double* score, double best) {
  for (std::ptrdiff_t j = first; j < last; ++j) {
    score[j] = mean[j] + width * std::sqrt(variance[j]);
  }
  for (std::ptrdiff_t j = first; j < last; ++j) best = score[j] > best ? score[j] : best;
  return best;
}

std::ptrdiff_t first_upper_bound(const double* mean, const double* variance, std::ptrdiff_t n,
                                 double width, double tie, double* scratch) {
  double* const bound = scratch + n;
  const std::ptrdiff_t groups = (n + kGroup - 1) / kGroup;
  group_bounds(mean, variance, n, width, bound);
  std::ptrdiff_t top = 0;
  for (std::ptrdiff_t b = 1; b < groups; ++b) top = bound[b] > bound[top] ? b : top;
  const auto end_of = [n](std::ptrdiff_t b) { return (b + 1) * kGroup < n ? (b + 1) * kGroup : n; };
  double best = mean[top * kGroup] + width * std::sqrt(variance[top * kGroup]);
  best = group_best(mean, variance, top * kGroup, end_of(top), width, scratch, best);
  for (std::ptrdiff_t b = 0; b < groups; ++b) {
    if (b == top || bound[b] < best - tie) continue;
    best = group_best(mean, variance, b * kGroup, end_of(b), width, scratch, best);
  }
  // A group left out above had a bound below an earlier, smaller best: it is left out here.
  for (std::ptrdiff_t b = 0; b < groups; ++b) {
    if (bound[b] < best - tie) continue;
    for (std::ptrdiff_t j = b * kGroup; j < end_of(b); ++j) {
      if (scratch[j] >= best - tie) return j;
    }
  }
  return 0;
}

}  // namespace gpb
