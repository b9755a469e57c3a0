// Points that need no random numbers.
#include <RcppEigen.h>

#include "base/golden_points.h"

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_golden_points(int n, int d) { return gpb::golden_points(n, d); }
