// Common parts of kernels with lengthscales on selected columns. Uses base/ only.
#ifndef GPB_KERNEL_SCALING_H
#define GPB_KERNEL_SCALING_H

#include "base/types.h"

#include <algorithm>

namespace gpb {

// Kernels process points in blocks that fit into the processor's first cache and need no heap memory.
inline constexpr Index kBlock = 512;
using Block = Eigen::Array<double, Eigen::Dynamic, 1, 0, kBlock, 1>;
using ArrayRef = Eigen::Ref<Eigen::ArrayXd>;

// The columns of a point that a kernel uses, each with its lengthscale.
struct Scaling {
  std::vector<Index> dims;
  VectorXd lengthscale;  // one for each of dims
  bool isotropic;        // all lengthscales are one parameter

  Scaling(std::vector<Index> columns, VectorXd lengthscales, bool one_parameter);
  Index size() const { return static_cast<Index>(dims.size()); }
  Index parameter_count() const { return isotropic ? 1 : size(); }
  VectorXd log_parameters() const;
  void set_log_parameters(const VectorXd& theta);
};

// Conversion between a vector of values and its logarithms, if the values are one parameter or one each.
VectorXd log_shared(const VectorXd& values, bool shared);
VectorXd exp_shared(const VectorXd& theta, Index size);

// exp(theta); an error if it is not a positive finite number.
double exp_parameter(double theta);

// sum_ij W_ij d k(x_i, x_j) / d log theta for a symmetric W. The kernel is its variance (the last parameter) times a
// correlation. add(x, start, weights, sums) adds the terms of x with a block of X's rows. On the diagonal only the
// variance has a derivative.
template <class Add>
VectorXd sum_over_pairs(const Points& X, const MatrixXd& W, Index parameters, double variance,
                        const Add& add) {
  VectorXd sums = VectorXd::Zero(parameters);
  sums[parameters - 1] = W.trace();
  for (Index i = 1; i < X.rows(); ++i) {
    const VectorXd x = row_of(X, i);
    for (Index start = 0; start < i; start += kBlock) {
      const Index count = std::min(kBlock, i - start);
      const Block both_triangles = 2.0 * W.col(i).segment(start, count).array();
      add(x, start, both_triangles, sums);
    }
  }
  return variance * sums;
}

void check_parameter_count(const VectorXd& theta, Index expected);
void check_positive(double value, const char* what);

}  // namespace gpb

#endif
