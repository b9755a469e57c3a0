// Functions of golden_points.h: a low-discrepancy sequence.
#include "base/golden_points.h"

#include <cmath>

namespace gpb {

MatrixXd golden_points(Index n, Index d) {
  double phi = 2.0;  // the root of phi^(d + 1) = phi + 1, by fixed point
  for (int i = 0; i < 64; ++i) phi = std::pow(1.0 + phi, 1.0 / static_cast<double>(d + 1));
  MatrixXd out(n, d);
  for (Index c = 0; c < d; ++c) {
    const double step = std::pow(1.0 / phi, static_cast<double>(c + 1));
    for (Index i = 0; i < n; ++i) {
      const double u = 0.5 + step * static_cast<double>(i + 1);
      out(i, c) = u - std::floor(u);
    }
  }
  return out;
}

}  // namespace gpb
