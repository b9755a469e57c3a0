// Eigen, as the compiler's own headers are read: what it says of them (gcc 12: pages of
// -Wignored-attributes) nobody here can mend. Decompositions: linalg/decompositions.h.
#ifndef GPB_EIGEN_H
#define GPB_EIGEN_H

#pragma GCC system_header

#include <Eigen/Core>

#endif
