// Functions of many numbers at once: scaled distances, correlations of them, comparisons, cosines. Uses base/ only.
// A number's result does not depend on its position.
#ifndef GPB_ELEMENTWISE_H
#define GPB_ELEMENTWISE_H

#include "base/types.h"

namespace gpb {

// s_j += sum_c ((y_c[j] - x_c) inverse_c)^2, but at most to `farthest`. `y`: d columns of n numbers.
void add_squared_distances(const double* const* y, const double* x, const double* inverse, Index d, double farthest,
                           Index n, double* s);

// sums_c += sum_j weight_j ((y_c[j] - x_c) inverse_c)^2.
void add_weighted_squares(const double* const* y, const double* x, const double* inverse, Index d,
                          const double* weight, Index n, double* sums);

// s_j becomes rho(s_j), and slope_j (unless null) rho'(s_j), 0 if it does not exist. Of the Matern correlation with
// nu = order / 2, `order` being 1, 3 or 5; and of the squared exponential exp(-s / 2).
void matern_correlations(int order, Index n, double* s, double* slope);
void gaussian_correlations(Index n, double* s);

// Where y_j is not x: out_j is multiplied by a factor; *sum += the sum of the weights.
void multiply_where_unequal(const double* y, double x, double factor, Index n, double* out);
void add_where_unequal(const double* y, double x, const double* weight, Index n, double* sum);

// x_j becomes cos(x_j).
void cosines(Index n, double* x);

}  // namespace gpb

#endif
