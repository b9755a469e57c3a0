// What kernels on selected columns with lengthscales have in common.
#ifndef GPB_KERNEL_SCALING_H
#define GPB_KERNEL_SCALING_H

#include "base/types.h"

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

void check_parameter_count(const VectorXd& theta, Index expected);
void check_positive(double value, const char* what);

}  // namespace gpb

#endif
