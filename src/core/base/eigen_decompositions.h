// As eigen.h.
#ifndef GPB_EIGEN_DECOMPOSITIONS_H
#define GPB_EIGEN_DECOMPOSITIONS_H

#pragma GCC system_header

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#endif
