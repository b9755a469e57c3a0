// What kernels on selected columns with lengthscales have in common.
#ifndef GPB_KERNEL_SCALING_H
#define GPB_KERNEL_SCALING_H

#include "base/types.h"

#include <algorithm>

namespace gpb {

// Kernels work through the points in blocks that stay in the processor's first
// cache and need no memory from the heap.
inline constexpr Index kBlock = 512;
using Block = Eigen::Array<double, Eigen::Dynamic, 1, 0, kBlock, 1>;
using ArrayRef = Eigen::Ref<Eigen::ArrayXd>;

// The columns of a point that a kernel looks at, each with its lengthscale.
struct Scaling {
  std::vector<Index> dims;
  VectorXd lengthscale;  // one per dim
  bool isotropic;        // all lengthscales are one parameter

  Scaling(std::vector<Index> columns, VectorXd lengthscales, bool one_parameter);
  Index size() const { return static_cast<Index>(dims.size()); }
  Index parameter_count() const { return isotropic ? 1 : size(); }
  VectorXd log_parameters() const;
  void set_log_parameters(const VectorXd& theta);
};

// A vector of values that is one parameter or one per entry: to and from logarithms.
VectorXd log_shared(const VectorXd& values, bool shared);
VectorXd exp_shared(const VectorXd& theta, Index size);

// exp(theta), refused when it is not a positive finite number.
double exp_parameter(double theta);

// sum_ij W_ij d k(x_i, x_j) / d log theta for a symmetric W, of a kernel that is its variance (the
// last parameter) times a correlation: add(x, start, weights, sums) adds those of a block of X's
// rows. On the diagonal only the variance has a derivative.
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
