// Types shared by the whole core. The core (everything outside export_*.cpp and
// r_*.h) knows Eigen and the standard library only.
#ifndef GPB_TYPES_H
#define GPB_TYPES_H

#include "base/vectors.h"
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpb {

using Eigen::RowVectorXd;

// One point per row (as R stores a matrix). Columns: actions, then contexts,
// then, on finite domains, the arm's 0-based number, which covariances given
// as a matrix use.
using Points = Eigen::MatrixXd;

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

// Random numbers come from outside (R's generator in the package).
class Rng {
 public:
  virtual ~Rng() = default;
  virtual double uniform() = 0;                // open (0, 1)
  virtual double normal() = 0;                 // standard normal
  virtual Index index(Index n) = 0;            // 0 .. n-1, uniform
  VectorXd normals(Index n) {
    VectorXd z(n);
    for (Index i = 0; i < n; ++i) z[i] = normal();
    return z;
  }
};

}  // namespace gpb

#endif
