// Functions of kernel_levels.h: kernel of levels that have numeric features. Uses linalg/.
#include "kernels/kernel_levels.h"

#include "kernels/kernel_scaling.h"
#include "linalg/decompositions.h"

#include <algorithm>
#include <cmath>

namespace gpb {

LevelKernel::LevelKernel(Index input, MatrixXd features, std::unique_ptr<Kernel> of_features,
                         double own, double variance)
    : input_(input), features_(std::move(features)), of_features_(std::move(of_features)),
      own_(own), variance_(variance) {
  check_positive(variance, "variance");
  tabulate();
}

void LevelKernel::tabulate() {
  if (!(own_ > 0.0 && own_ <= 1.0)) {
    throw_invalid("`own` must be above 0 and at most 1");
  }
  table_ = (1.0 - own_) * of_features_->gram(features_);
  add_to_diagonal(table_, own_);
}

Index LevelKernel::level(double number) const {
  const auto out = static_cast<Index>(std::llround(number)) - 1;
  if (out < 0 || out >= table_.rows()) throw_invalid("there is no such level");
  return out;
}

void LevelKernel::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  const Index here = level(x[input_]);
  for (Index j = 0; j < Y.rows(); ++j) out[j] = variance_ * table_(level(Y(j, input_)), here);
}

void LevelKernel::diagonal(const Points&, Eigen::Ref<VectorXd> out) const {
  out.setConstant(variance_);
}

void LevelKernel::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  out.setZero(Y.rows(), x.size());
}

VectorXd LevelKernel::log_parameters() const {
  const VectorXd inner = of_features_->log_parameters();
  return joined(joined(segment_of(inner, 0, inner.size() - 1), std::log(own_)), std::log(variance_));
}

void LevelKernel::set_log_parameters(const VectorXd& theta) {
  check_parameter_count(theta, parameter_count());
  const Index lengths = parameter_count() - 2;
  of_features_->set_log_parameters(joined(segment_of(theta, 0, lengths), 0.0));
  const double own = std::exp(theta[lengths]);
  own_ = own <= 1.0 + 1e-12 ? std::min(own, 1.0) : own;
  variance_ = exp_parameter(theta[lengths + 1]);
  tabulate();
}

// Sums W by pairs of levels first.
VectorXd LevelKernel::parameter_gradient(const Points& X, const MatrixXd& W) const {
  const Index lengths = parameter_count() - 2;
  MatrixXd pairs = MatrixXd::Zero(table_.rows(), table_.rows());
  for (Index i = 0; i < X.rows(); ++i) {
    const Index a = level(X(i, input_));
    for (Index j = 0; j < X.rows(); ++j) pairs(a, level(X(j, input_))) += W(i, j);
  }
  pairs *= variance_;
  VectorXd out(parameter_count());
  out.head(lengths) =
      (1.0 - own_) * of_features_->parameter_gradient(features_, pairs).head(lengths);
  MatrixXd by_own = -of_features_->gram(features_);
  add_to_diagonal(by_own, 1.0);
  out[lengths] = own_ * (by_own.array() * pairs.array()).sum();
  out[lengths + 1] = (table_.array() * pairs.array()).sum();
  return out;
}

// A random function of the levels, whose covariance is the table.
void LevelKernel::draw_feature(Rng& rng, Feature& feature) const {
  feature.amplitude *= std::sqrt(variance_);
  const Index n = table_.rows();
  MatrixXd L = MatrixXd::Zero(n, n);
  for (Index j = 0; j < n; ++j) {
    const double rest = table_(j, j) - L.row(j).head(j).squaredNorm();
    if (!(rest > 1e-14)) continue;
    L(j, j) = std::sqrt(rest);
    for (Index i = j + 1; i < n; ++i) {
      double sum = table_(i, j);
      for (Index k = 0; k < j; ++k) sum -= L(i, k) * L(j, k);
      L(i, j) = sum / L(j, j);
    }
  }
  const VectorXd z = rng.normals(n);
  auto values = std::make_shared<VectorXd>(VectorXd::Zero(n));
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; k <= i; ++k) (*values)[i] += L(i, k) * z[k];
  }
  feature.signs.push_back({input_, 0.0, std::move(values)});
}

std::unique_ptr<Kernel> LevelKernel::clone() const {
  return std::make_unique<LevelKernel>(input_, features_, of_features_->clone(), own_, variance_);
}

}  // namespace gpb
