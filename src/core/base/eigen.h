// Includes Eigen as a system header, without its compiler warnings. Uses Eigen only.
// (gcc 12 prints pages of -Wignored-attributes.) For decompositions include linalg/decompositions.h.
#ifndef GPB_EIGEN_H
#define GPB_EIGEN_H

#pragma GCC system_header

#include <Eigen/Core>

#endif
