// Functions of kernel_linear.h: linear kernel: variance * sum_c x_c y_c, without a constant. Uses linalg/.
#include "kernels/kernel_linear.h"

#include "kernels/kernel_scaling.h"
#include "linalg/decompositions.h"

#include <cmath>

namespace gpb {

Linear::Linear(std::vector<Index> dims, double variance)
    : dims_(std::move(dims)), variance_(variance) {
  check_positive(variance, "variance");
}

void Linear::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  out.setZero();
  for (const Index c : dims_) out += x[c] * Y.col(c);
  out *= variance_;
}

void Linear::diagonal(const Points& X, Eigen::Ref<VectorXd> out) const {
  out.setZero();
  for (const Index c : dims_) out += X.col(c).cwiseAbs2();
  out *= variance_;
}

void Linear::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  out.setZero(Y.rows(), x.size());
  for (const Index c : dims_) out.col(c) = variance_ * Y.col(c);
}

VectorXd Linear::log_parameters() const { return VectorXd::Constant(1, std::log(variance_)); }

void Linear::set_log_parameters(const VectorXd& theta) {
  check_parameter_count(theta, 1);
  variance_ = exp_parameter(theta[0]);
}

// sum_ij W_ij v x_i'x_j = v sum_c x_c' W x_c.
VectorXd Linear::parameter_gradient(const Points& X, const MatrixXd& W) const {
  double total = 0.0;
  for (const Index c : dims_) total += X.col(c).dot(multiply(W, X.col(c)));
  return VectorXd::Constant(1, variance_ * total);
}

// With independent signs z: E (z'x)(z'y) = x'y.
void Linear::draw_feature(Rng& rng, Feature& feature) const {
  feature.amplitude *= std::sqrt(variance_);
  VectorXd signs = VectorXd::Zero(feature.frequency.size());
  for (const Index c : dims_) signs[c] = rng.uniform() < 0.5 ? -1.0 : 1.0;
  feature.directions.push_back(std::move(signs));
}

// Exact: normal weights.
PriorPath Linear::draw_prior_path(Rng& rng, Index inputs, Index) const {
  VectorXd slope = VectorXd::Zero(inputs);
  for (const Index c : dims_) slope[c] = std::sqrt(variance_) * rng.normal();
  return PriorPath::line(std::move(slope));
}

std::unique_ptr<Kernel> Linear::clone() const { return std::make_unique<Linear>(*this); }

}  // namespace gpb
