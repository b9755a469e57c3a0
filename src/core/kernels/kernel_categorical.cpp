// Functions of kernel_categorical.h: kernel of inputs without an order: variance * prod_c correlation_c^[x_c != y_c].
#include "kernels/kernel_categorical.h"

#include "kernels/kernel_scaling.h"
#include "linalg/elementwise.h"

#include <cmath>

namespace gpb {

Categorical::Categorical(std::vector<Index> dims, VectorXd correlation, bool shared,
                         double variance)
    : dims_(std::move(dims)), correlation_(std::move(correlation)), shared_(shared),
      variance_(variance) {
  if (correlation_.size() != static_cast<Index>(dims_.size())) {
    throw_invalid("a categorical kernel needs a correlation for each of its inputs");
  }
  check_correlation();
  check_positive(variance, "variance");
}

void Categorical::check_correlation() const {
  if (!(correlation_.minCoeff() > 0.0 && correlation_.maxCoeff() <= 1.0)) {
    throw_invalid("correlations must be above 0 and at most 1");
  }
}

// For as many of the first points as `out` has entries.
void Categorical::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  out.setConstant(variance_);
  for (std::size_t c = 0; c < dims_.size(); ++c) {
    multiply_where_unequal(Y.col(dims_[c]).data(), x[dims_[c]], correlation_[static_cast<Index>(c)], out.size(),
                           out.data());
  }
}

void Categorical::diagonal(const Points&, Eigen::Ref<VectorXd> out) const {
  out.setConstant(variance_);
}

void Categorical::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  out.setZero(Y.rows(), x.size());
}

VectorXd Categorical::log_parameters() const {
  return joined(log_shared(correlation_, shared_), std::log(variance_));
}

void Categorical::set_log_parameters(const VectorXd& theta) {
  check_parameter_count(theta, parameter_count());
  const double rounding = 1e-12;
  correlation_ = exp_shared(segment_of(theta, 0, parameter_count() - 1), correlation_.size());
  if (correlation_.maxCoeff() <= 1.0 + rounding) correlation_ = correlation_.cwiseMin(1.0);
  check_correlation();
  variance_ = exp_parameter(theta[theta.size() - 1]);
}

// d k / d log correlation_c = k [x_c != y_c]; weights of both triangles are added together.
VectorXd Categorical::parameter_gradient(const Points& X, const MatrixXd& W) const {
  VectorXd gradient = VectorXd::Zero(parameter_count());
  double& by_variance = gradient[gradient.size() - 1];
  by_variance = variance_ * W.trace();
  VectorXd row(X.rows());
  for (Index i = 1; i < X.rows(); ++i) {
    const VectorXd x = row_of(X, i);
    cross(x, X, row.head(i));
    const Eigen::ArrayXd weight = 2.0 * W.col(i).head(i).array() * row.head(i).array();
    by_variance += weight.sum();
    for (std::size_t c = 0; c < dims_.size(); ++c) {
      add_where_unequal(X.col(dims_[c]).data(), x[dims_[c]], weight.data(), i,
                        &gradient[shared_ ? 0 : static_cast<Index>(c)]);
    }
  }
  return gradient;
}

// With probability `correlation` the constant 1, otherwise an independent sign for each value:
// E phi(x) phi(y) = correlation + (1 - correlation) [x = y].
void Categorical::draw_feature(Rng& rng, Feature& feature) const {
  feature.amplitude *= std::sqrt(variance_);
  for (std::size_t c = 0; c < dims_.size(); ++c) {
    if (rng.uniform() < correlation_[static_cast<Index>(c)]) continue;
    feature.signs.push_back({dims_[c], rng.uniform()});
  }
}

std::unique_ptr<Kernel> Categorical::clone() const { return std::make_unique<Categorical>(*this); }

}  // namespace gpb
