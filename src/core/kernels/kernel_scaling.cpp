// Functions of kernel_scaling.h: common parts of kernels with lengthscales on selected columns. Uses base/.
#include "kernels/kernel_scaling.h"

#include <cmath>

namespace gpb {

Scaling::Scaling(std::vector<Index> columns, VectorXd lengthscales, bool one_parameter)
    : dims(std::move(columns)), lengthscale(std::move(lengthscales)), isotropic(one_parameter) {
  if (dims.empty() || lengthscale.size() != size()) {
    throw_invalid("a kernel needs one lengthscale for each of its inputs");
  }
  for (Index c = 0; c < size(); ++c) check_positive(lengthscale[c], "lengthscale");
}

VectorXd Scaling::log_parameters() const { return log_shared(lengthscale, isotropic); }

void Scaling::set_log_parameters(const VectorXd& theta) {
  check_parameter_count(theta, parameter_count());
  lengthscale = exp_shared(theta, size());
}

VectorXd log_shared(const VectorXd& values, bool shared) {
  return logarithms(shared ? segment_of(values, 0, 1) : values);
}

VectorXd exp_shared(const VectorXd& theta, Index size) {
  VectorXd values(size);
  for (Index c = 0; c < size; ++c) values[c] = exp_parameter(theta[theta.size() == 1 ? 0 : c]);
  return values;
}

double exp_parameter(double theta) {
  const double value = std::exp(theta);
  check_positive(value, "kernel parameter");
  return value;
}

void check_parameter_count(const VectorXd& theta, Index expected) {
  if (theta.size() != expected) {
    throw_invalid("expected " + std::to_string(expected) + " kernel parameters, got " + std::to_string(theta.size()));
  }
}

void check_positive(double value, const char* what) {
  if (!(value > 0.0) || !std::isfinite(value)) {
    throw_invalid(std::string(what) + " must be positive and finite, not " + std::to_string(value));
  }
}

}  // namespace gpb
