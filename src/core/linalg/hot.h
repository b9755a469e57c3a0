// The loops in which a run over finitely many arms spends its time. They stand
// alone in one file so that the compiler may build them for several processors.
#ifndef GPB_HOT_H
#define GPB_HOT_H

#include <cstddef>

namespace gpb {

// One observation, seen by all n arms. factor is n x r (column-major, leading
// dimension stride), gain the r weights w = S phi_i:
//   c_j = sum_q factor(j, q) gain_q,  mean_j += c_j * mean_step,
//   variance_j = max(0, variance_j - c_j^2 * variance_step).
void rank_one_sweep(const double* factor, std::ptrdiff_t stride, std::ptrdiff_t n,
                    std::ptrdiff_t r, const double* gain, double mean_step,
                    double variance_step, double* mean, double* variance);

// One observation more in a factor of the covariance, c_j = prior_j - sum_q factor(j, q) weight_q:
//   row_j = c_j * row_scale,  mean_j += row_j * mean_step, variance_j = max(0, variance_j - row_j^2).
void append_sweep(const double* factor, std::ptrdiff_t stride, std::ptrdiff_t n, std::ptrdiff_t r,
                  const double* weight, const double* prior, double row_scale, double mean_step,
                  double* row, double* mean, double* variance);

// out_j = scale * sum_q factor(j, q) weight_q + base_j.
void product_sweep(const double* factor, std::ptrdiff_t stride, std::ptrdiff_t n,
                   std::ptrdiff_t r, const double* weight, double scale, const double* base,
                   double* out);

// v = matrix' row and gain = matrix v in one pass over an r x r matrix.
void potter_gain(const double* matrix, std::ptrdiff_t r, const double* row, double* v,
                 double* gain);

// matrix -= left right', an n x r matrix (column-major, leading dimension n).
void subtract_outer(double* matrix, std::ptrdiff_t n, std::ptrdiff_t r, const double* left,
                    const double* right);

// The first j whose mean_j + width * sqrt(variance_j) is within `tie` of the largest. Groups
// of arms whose largest mean and variance rule them out are passed over. scratch: room for
// upper_bound_scratch(n) numbers.
std::ptrdiff_t first_upper_bound(const double* mean, const double* variance, std::ptrdiff_t n,
                                 double width, double tie, double* scratch);
inline std::ptrdiff_t upper_bound_scratch(std::ptrdiff_t n) { return n + n / 32 + 1; }

}  // namespace gpb

#endif
