// Functions of pruned_argmax.h: the arm of the largest upper confidence bound, without computing every arm's root. Uses
// base/.
#include "linalg/pruned_argmax.h"

#include "linalg/processors.h"

#include <algorithm>
#include <cmath>

namespace gpb {

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
