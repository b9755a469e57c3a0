// Includes Eigen's decompositions as a system header, like eigen.h. Uses Eigen only.
#ifndef GPB_EIGEN_DECOMPOSITIONS_H
#define GPB_EIGEN_DECOMPOSITIONS_H

#pragma GCC system_header

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#endif
