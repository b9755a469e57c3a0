// Loops over a factor of the arms' covariance, the largest cost of runs with finitely many arms. Uses base/ only.
// The factor is n x r, column-major with leading dimension `stride`.
#ifndef GPB_SWEEPS_H
#define GPB_SWEEPS_H

#include "base/types.h"

namespace gpb {

// Updates the moments of all n arms for one observation. gain: the r weights w = S phi_i.
//   c_j = sum_q factor(j, q) gain_q,  mean_j += c_j * mean_step,
//   variance_j = max(0, variance_j - c_j^2 * variance_step).
void rank_one_sweep(const double* factor, Index stride, Index n, Index r, const double* gain,
                    double mean_step, double variance_step, double* mean, double* variance);

// Adds one observation to a factor of the covariance, with c_j = prior_j - sum_q factor(j, q) weight_q:
//   row_j = c_j * row_scale,  mean_j += row_j * mean_step,
//   variance_j = max(0, variance_j - row_j^2).
void append_sweep(const double* factor, Index stride, Index n, Index r, const double* weight,
                  const double* prior, double row_scale, double mean_step, double* row,
                  double* mean, double* variance);

// out_j = scale * sum_q factor(j, q) weight_q + base_j.
void product_sweep(const double* factor, Index stride, Index n, Index r, const double* weight,
                   double scale, const double* base, double* out);

// matrix -= left right', for an n x r matrix (column-major, leading dimension n).
void subtract_outer(double* matrix, Index n, Index r, const double* left, const double* right);

}  // namespace gpb

#endif
