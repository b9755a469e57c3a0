// Types shared by the whole core. Uses Eigen and the standard library only.
// The core is everything except export_*.cpp and r_*. No file of it uses R.
#ifndef GPB_TYPES_H
#define GPB_TYPES_H

#include "base/failures.h"
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

// One point per row, as R stores a matrix. Columns: actions, then contexts. On finite domains the last column is the
// arm's 0-based number, for covariances that are given as a matrix.
using Points = Eigen::MatrixXd;

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kLog2Pi = 1.8378770664093454836;

// Random numbers, which the caller provides (R's generator in the package).
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
