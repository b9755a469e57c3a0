// All kernels, their random features, and kernels from settings. Uses base/ and linalg/.
#include "kernels/kernel.h"
#include "kernels/bessel_correlation.h"
#include "kernels/kernel_categorical.h"
#include "kernels/kernel_compose.h"
#include "kernels/kernel_function.h"
#include "kernels/kernel_levels.h"
#include "kernels/kernel_linear.h"
#include "kernels/kernel_matrix.h"
#include "kernels/kernel_periodic.h"
#include "kernels/kernel_scaling.h"
#include "kernels/kernel_stationary.h"
#include "kernels/make_kernel.h"
#include "kernels/pivoted_cholesky.h"
#include "kernels/random_features.h"
#include "kernels/splits.h"

#include "base/ordering.h"
#include "linalg/decompositions.h"
#include "linalg/mirror.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace gpb {

// ---- any kernel ---------------------------------------------------------------------------------

VectorXd Kernel::diagonal_gradient(const VectorXd& x) const {
  MatrixXd gradient;
  input_gradient(x, as_rows(x), gradient);
  return 2.0 * row_of(gradient, 0);
}

PriorPath Kernel::draw_prior_path(Rng& rng, Index inputs, Index features) const {
  std::vector<Feature> drawn(static_cast<std::size_t>(features), Feature(inputs));
  for (Feature& feature : drawn) draw_feature(rng, feature);
  return PriorPath::waves(std::move(drawn), rng);
}

double Kernel::value(const VectorXd& x, const VectorXd& y) const {
  VectorXd out(1);
  cross(x, as_rows(y), out);
  return out[0];
}

MatrixXd Kernel::gram(const Points& X, const Points& Y) const {
  // The longer argument should be the vectorised one.
  if (X.rows() < Y.rows()) return gram(Y, X).transpose();
  MatrixXd K(X.rows(), Y.rows());
  for (Index j = 0; j < Y.rows(); ++j) cross(row_of(Y, j), X, K.col(j));
  return K;
}

MatrixXd Kernel::gram(const Points& X) const {
  const Index n = X.rows();
  MatrixXd K(n, n);
  for (Index j = 0; j < n; ++j) cross(row_of(X, j), X, K.col(j));
  mirror_lower(K);
  return K;
}

// ---- sums, products and scaled kernels ----------------------------------------------------------

CompositeKernel::CompositeKernel(std::vector<std::unique_ptr<Kernel>> parts)
    : parts_(std::move(parts)) {
  if (parts_.empty()) throw std::invalid_argument("a sum or product of kernels needs parts");
}

CompositeKernel::CompositeKernel(const CompositeKernel& other) : Kernel(other) {
  for (const auto& part : other.parts_) parts_.push_back(part->clone());
}

Index CompositeKernel::parameter_count() const {
  Index count = 0;
  for (const auto& part : parts_) count += part->parameter_count();
  return count;
}

VectorXd CompositeKernel::log_parameters() const {
  VectorXd theta(parameter_count());
  Index first = 0;
  for (const auto& part : parts_) {
    theta.segment(first, part->parameter_count()) = part->log_parameters();
    first += part->parameter_count();
  }
  return theta;
}

void CompositeKernel::set_log_parameters(const VectorXd& theta) {
  check_parameter_count(theta, parameter_count());
  Index first = 0;
  for (const auto& part : parts_) {
    part->set_log_parameters(segment_of(theta, first, part->parameter_count()));
    first += part->parameter_count();
  }
}

void SumKernel::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  parts_[0]->cross(x, Y, out);
  VectorXd term(Y.rows());
  for (std::size_t p = 1; p < parts_.size(); ++p) {
    parts_[p]->cross(x, Y, term);
    out += term;
  }
}

void SumKernel::diagonal(const Points& X, Eigen::Ref<VectorXd> out) const {
  parts_[0]->diagonal(X, out);
  VectorXd term(X.rows());
  for (std::size_t p = 1; p < parts_.size(); ++p) {
    parts_[p]->diagonal(X, term);
    out += term;
  }
}

void SumKernel::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  parts_[0]->input_gradient(x, Y, out);
  MatrixXd term;
  for (std::size_t p = 1; p < parts_.size(); ++p) {
    parts_[p]->input_gradient(x, Y, term);
    out += term;
  }
}

VectorXd SumKernel::parameter_gradient(const Points& X, const MatrixXd& W) const {
  VectorXd gradient(parameter_count());
  Index first = 0;
  for (const auto& part : parts_) {
    gradient.segment(first, part->parameter_count()) = part->parameter_gradient(X, W);
    first += part->parameter_count();
  }
  return gradient;
}

// In a product: one of the n parts at random, multiplied by sqrt(n) so that the covariance is that of the sum.
void SumKernel::draw_feature(Rng& rng, Feature& feature) const {
  const Index n = static_cast<Index>(parts_.size());
  feature.amplitude *= std::sqrt(static_cast<double>(n));
  parts_[static_cast<std::size_t>(rng.index(n))]->draw_feature(rng, feature);
}

PriorPath SumKernel::draw_prior_path(Rng& rng, Index inputs, Index features) const {
  PriorPath path;
  for (const auto& part : parts_) path.add(part->draw_prior_path(rng, inputs, features));
  return path;
}

std::unique_ptr<Kernel> SumKernel::clone() const { return std::make_unique<SumKernel>(*this); }

void ProductKernel::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  parts_[0]->cross(x, Y, out);
  VectorXd factor(Y.rows());
  for (std::size_t p = 1; p < parts_.size(); ++p) {
    parts_[p]->cross(x, Y, factor);
    out.array() *= factor.array();
  }
}

void ProductKernel::diagonal(const Points& X, Eigen::Ref<VectorXd> out) const {
  parts_[0]->diagonal(X, out);
  VectorXd factor(X.rows());
  for (std::size_t p = 1; p < parts_.size(); ++p) {
    parts_[p]->diagonal(X, factor);
    out.array() *= factor.array();
  }
}

// (f g)' = f'g + f g', one factor after the other.
void ProductKernel::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  parts_[0]->input_gradient(x, Y, out);
  VectorXd product(Y.rows());
  VectorXd factor(Y.rows());
  MatrixXd slope;
  parts_[0]->cross(x, Y, product);
  for (std::size_t p = 1; p < parts_.size(); ++p) {
    parts_[p]->cross(x, Y, factor);
    parts_[p]->input_gradient(x, Y, slope);
    out.array().colwise() *= factor.array();
    out.array() += slope.array().colwise() * product.array();
    product.array() *= factor.array();
  }
}

// The gradient of one factor, with weights multiplied by the Gram matrices of the others.
VectorXd ProductKernel::parameter_gradient(const Points& X, const MatrixXd& W) const {
  std::vector<MatrixXd> grams;
  for (const auto& part : parts_) grams.push_back(part->gram(X));
  VectorXd gradient(parameter_count());
  Index first = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Index count = parts_[p]->parameter_count();
    if (count == 0) continue;
    MatrixXd weights = W;
    for (std::size_t q = 0; q < parts_.size(); ++q) {
      for (Index k = 0; q != p && k < weights.size(); ++k) weights.data()[k] *= grams[q].data()[k];
    }
    gradient.segment(first, count) = parts_[p]->parameter_gradient(X, weights);
    first += count;
  }
  return gradient;
}

void ProductKernel::draw_feature(Rng& rng, Feature& feature) const {
  for (const auto& part : parts_) part->draw_feature(rng, feature);
}

std::unique_ptr<Kernel> ProductKernel::clone() const {
  return std::make_unique<ProductKernel>(*this);
}

// ---- linear -------------------------------------------------------------------------------------

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

// ---- categorical --------------------------------------------------------------------------------

Categorical::Categorical(std::vector<Index> dims, VectorXd correlation, bool shared,
                         double variance)
    : dims_(std::move(dims)), correlation_(std::move(correlation)), shared_(shared),
      variance_(variance) {
  if (correlation_.size() != static_cast<Index>(dims_.size())) {
    throw std::invalid_argument("a categorical kernel needs a correlation for each of its inputs");
  }
  check_correlation();
  check_positive(variance, "variance");
}

void Categorical::check_correlation() const {
  if (!(correlation_.minCoeff() > 0.0 && correlation_.maxCoeff() <= 1.0)) {
    throw std::invalid_argument("correlations must be above 0 and at most 1");
  }
}

void Categorical::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  out.setConstant(variance_);
  for (std::size_t c = 0; c < dims_.size(); ++c) {
    const double here = x[dims_[c]], factor = correlation_[static_cast<Index>(c)];
    const auto column = Y.col(dims_[c]);
    for (Index j = 0; j < Y.rows(); ++j) out[j] *= column[j] == here ? 1.0 : factor;
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
    cross(x, X, row);
    const Eigen::ArrayXd weight = 2.0 * W.col(i).head(i).array() * row.head(i).array();
    by_variance += weight.sum();
    for (std::size_t c = 0; c < dims_.size(); ++c) {
      const auto differs = (X.col(dims_[c]).head(i).array() != x[dims_[c]]).cast<double>();
      gradient[shared_ ? 0 : static_cast<Index>(c)] += (weight * differs).sum();
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

// ---- levels with features -----------------------------------------------------------------------

LevelKernel::LevelKernel(Index input, MatrixXd features, std::unique_ptr<Kernel> of_features,
                         double own, double variance)
    : input_(input), features_(std::move(features)), of_features_(std::move(of_features)),
      own_(own), variance_(variance) {
  check_positive(variance, "variance");
  tabulate();
}

void LevelKernel::tabulate() {
  if (!(own_ > 0.0 && own_ <= 1.0)) {
    throw std::invalid_argument("`own` must be above 0 and at most 1");
  }
  table_ = (1.0 - own_) * of_features_->gram(features_);
  add_to_diagonal(table_, own_);
}

Index LevelKernel::level(double number) const {
  const auto out = static_cast<Index>(std::llround(number)) - 1;
  if (out < 0 || out >= table_.rows()) throw std::invalid_argument("there is no such level");
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

// ---- a given matrix -----------------------------------------------------------------------------

MatrixKernel::MatrixKernel(MatrixXd K, Index arm_column)
    : K_(std::make_shared<const MatrixXd>(std::move(K))), arm_column_(arm_column) {
  if (K_->rows() != K_->cols()) throw std::invalid_argument("a covariance matrix must be square");
}

Index MatrixKernel::arm(double number) const {
  if (!(number >= 0.0 && number < static_cast<double>(K_->rows()))) {
    throw std::invalid_argument("arm " + std::to_string(number) + " is not among the " +
                                std::to_string(K_->rows()) + " of the covariance matrix");
  }
  return static_cast<Index>(number);
}

void MatrixKernel::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  const auto column = K_->col(arm(x[arm_column_]));
  for (Index j = 0; j < Y.rows(); ++j) out[j] = column[arm(Y(j, arm_column_))];
}

void MatrixKernel::diagonal(const Points& X, Eigen::Ref<VectorXd> out) const {
  for (Index j = 0; j < X.rows(); ++j) {
    const Index i = arm(X(j, arm_column_));
    out[j] = (*K_)(i, i);
  }
}

void MatrixKernel::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  out.setZero(Y.rows(), x.size());
}

void MatrixKernel::set_log_parameters(const VectorXd& theta) { check_parameter_count(theta, 0); }

VectorXd MatrixKernel::parameter_gradient(const Points&, const MatrixXd&) const {
  return VectorXd(0);
}

// A draw of all arms at once, root z with root root' = K: exact.
void MatrixKernel::draw_feature(Rng& rng, Feature& feature) const {
  if (!root_) {
    root_ = std::make_shared<const MatrixXd>(semidefinite_root(*K_));
  }
  const VectorXd values = multiply(*root_, rng.normals(K_->rows()));
  if (feature.by_arm.size() > 0) feature.by_arm.array() *= values.array();
  else feature.by_arm = values;
  feature.arm_column = arm_column_;
}

std::unique_ptr<Kernel> MatrixKernel::clone() const { return std::make_unique<MatrixKernel>(*this); }

// ---- a user's function --------------------------------------------------------------------------

namespace {
// Rows of a block of the Gram matrix, of which only the diagonal is used.
constexpr Index kDiagonalRows = 32;
}  // namespace

template <typename Rows>
MatrixXd FunctionKernel::inputs_of(const Rows& X) const {
  MatrixXd out(X.rows(), static_cast<Index>(dims_.size()));
  for (Index c = 0; c < out.cols(); ++c) out.col(c) = X.col(dims_[static_cast<std::size_t>(c)]);
  return out;
}

void FunctionKernel::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  if (Y.rows() == 0) return;
  out = variance_ * row_of(f_(inputs_of(as_rows(x)), inputs_of(Y)), 0);
}

void FunctionKernel::diagonal(const Points& X, Eigen::Ref<VectorXd> out) const {
  for (Index from = 0; from < X.rows(); from += kDiagonalRows) {
    const Index size = std::min(kDiagonalRows, X.rows() - from);
    const MatrixXd block = inputs_of(X.middleRows(from, size));
    out.segment(from, size) = variance_ * f_(block, block).diagonal();
  }
}

// All shifted points in one call; the step is optimal for second-order differences.
void FunctionKernel::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  out.setZero(Y.rows(), x.size());
  const Index d = static_cast<Index>(dims_.size());
  if (Y.rows() == 0 || d == 0) return;
  const MatrixXd here = inputs_of(as_rows(x));
  MatrixXd shifted = as_rows(row_of(here, 0), 2 * d);
  VectorXd step(d);
  for (Index c = 0; c < d; ++c) {
    const double wanted = 6e-6 * std::max(1.0, std::abs(here(0, c)));
    shifted(2 * c, c) += wanted;
    shifted(2 * c + 1, c) -= wanted;
    step[c] = shifted(2 * c, c) - shifted(2 * c + 1, c);  // the step after rounding
  }
  const MatrixXd K = f_(shifted, inputs_of(Y));
  for (Index c = 0; c < d; ++c) {
    out.col(dims_[static_cast<std::size_t>(c)]) +=
        (variance_ / step[c]) * (row_of(K, 2 * c) - row_of(K, 2 * c + 1));
  }
}

VectorXd FunctionKernel::log_parameters() const {
  return VectorXd::Constant(1, std::log(variance_));
}

void FunctionKernel::set_log_parameters(const VectorXd& theta) {
  check_parameter_count(theta, 1);
  variance_ = std::exp(theta[0]);
}

VectorXd FunctionKernel::parameter_gradient(const Points& X, const MatrixXd& W) const {
  const MatrixXd inputs = inputs_of(X);
  return VectorXd::Constant(1, variance_ * f_(inputs, inputs).cwiseProduct(W).sum());
}

void FunctionKernel::draw_feature(Rng&, Feature&) const {
  throw std::invalid_argument(
      "paths cannot be drawn from kernel_function(): joint draws need a finite domain");
}

std::unique_ptr<Kernel> FunctionKernel::clone() const {
  return std::make_unique<FunctionKernel>(*this);
}

// ---- lengthscales -------------------------------------------------------------------------------

Scaling::Scaling(std::vector<Index> columns, VectorXd lengthscales, bool one_parameter)
    : dims(std::move(columns)), lengthscale(std::move(lengthscales)), isotropic(one_parameter) {
  if (dims.empty() || lengthscale.size() != size()) {
    throw std::invalid_argument("a kernel needs one lengthscale for each of its inputs");
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
    throw std::invalid_argument("expected " + std::to_string(expected) + " kernel parameters, got " +
                                std::to_string(theta.size()));
  }
}

void check_positive(double value, const char* what) {
  if (!(value > 0.0) || !std::isfinite(value)) {
    throw std::invalid_argument(std::string(what) + " must be positive and finite, not " +
                                std::to_string(value));
  }
}

// ---- Matern correlations of any order -----------------------------------------------------------

namespace {

constexpr double kLog2 = 0.69314718055994530942;
constexpr double kDebyeFrom = 200.0;    // the expansion's relative error is below 1e-11 from here
constexpr double kTiny = 1e-150;        // smaller distances are treated as zero
constexpr double kBesselZero = 3000.0;  // r^nu K_nu(r) underflows from here for nu < 200

// sum_k (-1)^k u_k(t) / nu^k, k <= 4 (Abramowitz & Stegun 9.3.9).
double debye_sum(double nu, double t) {
  const double q = t * t;
  const double v = -t / nu;
  const double u1 = (3.0 - 5.0 * q) / 24.0;
  const double u2 = (81.0 + q * (-462.0 + q * 385.0)) / 1152.0;
  const double u3 = (30375.0 + q * (-369603.0 + q * (765765.0 - q * 425425.0))) / 414720.0;
  const double u4 = (4465125.0 + q * (-94121676.0 + q * (349922430.0 +
                     q * (-446185740.0 + q * 185910725.0)))) / 39813120.0;
  return 1.0 + v * (u1 + v * (u2 + v * (u3 + v * u4)));
}

// Large order: the uniform expansion of K_nu(nu z) (A&S 9.3.8) over Stirling's series for Gamma(nu), which is the same
// sum at t = 1. It tends to exp(-s/2), r^2 = 2 nu s, and avoids differences of large terms.
double large_order(double nu, double r) {
  const double z = r / nu;
  const double root = std::hypot(1.0, z);
  const double w = z > 1.0 ? root - 1.0 : z * z / (1.0 + root);
  const double exponent = nu * (std::log1p(w / 2.0) - w) - 0.5 * std::log1p(w);
  return std::exp(exponent) * debye_sum(nu, 1.0 / root) / debye_sum(nu, 1.0);
}

// Small r: sum_k (r^2/4)^k / (k! (1-nu)(2-nu)...(k-nu)), the contribution of I_{-nu}. The contribution of I_nu, of size
// r^(2 nu), is below rounding at the r of this function's caller.
double small_distance(double nu, double r) {
  const double q = r * r / 4.0;
  double sum = 1.0;
  double term = 1.0;
  for (double k = 1.0; k < nu && std::abs(term) > 1e-17; ++k) {
    term *= q / (k * (k - nu));
    sum += term;
  }
  return sum;
}

}  // namespace

double bessel_correlation(double nu, double r, BesselK bessel_k) {
  if (r < kTiny) return 1.0;
  if (r == kInf) return 0.0;
  if (nu >= kDebyeFrom) return large_order(nu, r);
  if (r > kBesselZero) return 0.0;
  const double log_scale = (1.0 - nu) * kLog2 - std::lgamma(nu) + nu * std::log(r);
  if (log_scale < -600.0) return small_distance(nu, r);  // K_nu(r) ~ exp(-log_scale) overflows
  return std::exp(log_scale + std::log(bessel_k(nu, r)) - r);
}

// With c_nu = 2^(1-nu) / Gamma(nu): rho'/r = -c_nu r^(nu-1) K_{nu-1}(r). For nu > 1 this is
// -rho_{nu-1}(r) / (2 (nu-1)). For other nu, K_{nu-1} = K_{1-nu}.
double bessel_slope(double nu, double r, BesselK bessel_k) {
  if (nu > 1.0) return -bessel_correlation(nu - 1.0, r, bessel_k) / (2.0 * (nu - 1.0));
  if (r < kTiny || r > kBesselZero) return 0.0;
  const double log_scale = (1.0 - nu) * kLog2 - std::lgamma(nu) + (nu - 1.0) * std::log(r);
  return -std::exp(log_scale + std::log(bessel_k(1.0 - nu, r)) - r);
}

// ---- stationary kernels -------------------------------------------------------------------------

namespace {
// Every correlation is 0 beyond this distance, whose square is still finite.
constexpr double kFarthest = 1e300;
}  // namespace

StationaryKernel::StationaryKernel(Scaling scaling, double variance)
    : scaling_(std::move(scaling)), variance_(variance) {
  check_positive(variance, "variance");
}

// Squares of differences: ||x||^2 + ||y||^2 - 2x'y would cancel.
void StationaryKernel::squared_distance(const VectorXd& x, const Points& Y, Index start,
                                        ArrayRef s) const {
  s.setZero();
  for (Index c = 0; c < scaling_.size(); ++c) {
    const Index column = scaling_.dims[c];
    const double inverse = 1.0 / scaling_.lengthscale[c];
    s += ((Y.col(column).segment(start, s.size()).array() - x[column]) * inverse).square();
  }
  s = s.min(kFarthest);
}

void StationaryKernel::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  for (Index start = 0; start < Y.rows(); start += kBlock) {
    const Index count = std::min(kBlock, Y.rows() - start);
    Eigen::Map<Eigen::ArrayXd> s(out.data() + start, count);
    squared_distance(x, Y, start, s);
    correlation(s);
    s *= variance_;
  }
}

void StationaryKernel::diagonal(const Points&, Eigen::Ref<VectorXd> out) const {
  out.setConstant(variance_);
}

// dk/dx_c = variance rho'(s) 2 (x_c - y_c) / l_c^2.
void StationaryKernel::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  out.setZero(Y.rows(), x.size());
  for (Index start = 0; start < Y.rows(); start += kBlock) {
    Block s(std::min(kBlock, Y.rows() - start));
    squared_distance(x, Y, start, s);
    slope(s);
    s *= 2.0 * variance_;
    for (Index c = 0; c < scaling_.size(); ++c) {
      const Index column = scaling_.dims[c];
      const double l = scaling_.lengthscale[c];
      out.col(column).segment(start, s.size()).array() =
          s * ((x[column] - Y.col(column).segment(start, s.size()).array()) / l) / l;
    }
  }
}

Index StationaryKernel::parameter_count() const {
  return shape_.size() + scaling_.parameter_count() + 1;
}

VectorXd StationaryKernel::log_parameters() const {
  return joined(joined(logarithms(shape_), scaling_.log_parameters()), std::log(variance_));
}

void StationaryKernel::set_log_parameters(const VectorXd& theta) {
  check_parameter_count(theta, parameter_count());
  if (shape_.size()) shape_[0] = exp_parameter(theta[0]);
  scaling_.set_log_parameters(segment_of(theta, shape_.size(), scaling_.parameter_count()));
  variance_ = exp_parameter(theta[theta.size() - 1]);
}

VectorXd StationaryKernel::parameter_gradient(const Points& X, const MatrixXd& W) const {
  return sum_over_pairs(X, W, parameter_count(), variance_,
                        [&](const VectorXd& x, Index start, const Block& weight, VectorXd& sums) {
                          add_gradient(x, X, start, weight, sums);
                        });
}

// With z_c = (x_c - y_c) / l_c: d rho / d log l_c = -2 rho'(s) z_c^2.
void StationaryKernel::add_gradient(const VectorXd& x, const Points& Y, Index start,
                                    const Block& weight, VectorXd& gradient) const {
  Block s(weight.size());
  squared_distance(x, Y, start, s);
  Block rho = s, t(s.size());
  correlation_and_slope(rho, t);
  gradient[gradient.size() - 1] += (weight * rho).sum();
  t *= -2.0 * weight;
  if (shape_.size()) {
    rho = s;
    shape_slope(rho);
    gradient[0] += (weight * rho).sum();
  }
  const Index first = shape_.size();
  if (scaling_.isotropic) {
    gradient[first] += (t * s).sum();
    return;
  }
  for (Index c = 0; c < scaling_.size(); ++c) {
    const Index column = scaling_.dims[c];
    const auto y = Y.col(column).segment(start, s.size()).array();
    gradient[first + c] += (t * ((y - x[column]) / scaling_.lengthscale[c]).square()).sum();
  }
}

void StationaryKernel::correlation_and_slope(ArrayRef rho, ArrayRef slope_out) const {
  slope_out = rho;
  slope(slope_out);
  correlation(rho);
}

void StationaryKernel::draw_feature(Rng& rng, Feature& feature) const {
  feature.amplitude *= std::sqrt(variance_);
  const double scale = draw_scale(rng);
  for (Index c = 0; c < scaling_.size(); ++c) {
    feature.frequency[scaling_.dims[c]] += scale * rng.normal() / scaling_.lengthscale[c];
  }
}

std::unique_ptr<Kernel> SquaredExponential::clone() const {
  return std::make_unique<SquaredExponential>(*this);
}

void SquaredExponential::correlation(ArrayRef s) const { s = (-0.5 * s).exp(); }

void SquaredExponential::slope(ArrayRef s) const { s = -0.5 * (-0.5 * s).exp(); }

void SquaredExponential::correlation_and_slope(ArrayRef rho, ArrayRef slope_out) const {
  correlation(rho);
  slope_out = -0.5 * rho;
}

RationalQuadratic::RationalQuadratic(Scaling scaling, double variance, double alpha)
    : StationaryKernel(std::move(scaling), variance) {
  check_positive(alpha, "alpha");
  shape_ = VectorXd::Constant(1, alpha);
}

std::unique_ptr<Kernel> RationalQuadratic::clone() const {
  return std::make_unique<RationalQuadratic>(*this);
}

void RationalQuadratic::correlation(ArrayRef s) const {
  const double alpha = shape_[0];
  s = (-alpha * (s / (2.0 * alpha)).log1p()).exp();
}

void RationalQuadratic::slope(ArrayRef s) const {
  const double alpha = shape_[0];
  s = -0.5 * (-(alpha + 1.0) * (s / (2.0 * alpha)).log1p()).exp();
}

// With u = s / (2 alpha): alpha d rho / d alpha = alpha rho (u / (1 + u) - log(1 + u)).
void RationalQuadratic::shape_slope(ArrayRef s) const {
  const double alpha = shape_[0];
  for (Index j = 0; j < s.size(); ++j) {
    const double u = s[j] / (2.0 * alpha);
    const double log_base = std::log1p(u);
    s[j] = alpha * std::exp(-alpha * log_base) * (u / (1.0 + u) - log_base);
  }
}

// A mixture of squared exponentials whose precision is gamma with mean 1.
double RationalQuadratic::draw_scale(Rng& rng) const {
  return std::sqrt(draw_gamma(rng, shape_[0]) / shape_[0]);
}

Matern::Matern(Scaling scaling, double variance, double nu, BesselK bessel_k)
    : StationaryKernel(std::move(scaling), variance), nu_(nu), bessel_k_(bessel_k) {
  check_positive(nu, "nu");
}

std::unique_ptr<Kernel> Matern::clone() const { return std::make_unique<Matern>(*this); }

void Matern::correlation(ArrayRef s) const {
  s = std::sqrt(2.0) * std::sqrt(nu_) * s.sqrt();
  if (nu_ == 0.5) {
    s = (-s).exp();
  } else if (nu_ == 1.5) {
    s = (1.0 + s) * (-s).exp();
  } else if (nu_ == 2.5) {
    s = (1.0 + s + s.square() / 3.0) * (-s).exp();
  } else {
    for (Index j = 0; j < s.size(); ++j) s[j] = bessel_correlation(nu_, s[j], bessel_k_);
  }
}

// d rho / ds = (nu / r) d rho / dr.
void Matern::slope(ArrayRef s) const {
  s = std::sqrt(2.0) * std::sqrt(nu_) * s.sqrt();
  if (nu_ == 0.5) {
    s = (s > 0.0).select(-0.5 * (-s).exp() / s, 0.0);
  } else if (nu_ == 1.5) {
    s = -1.5 * (-s).exp();
  } else if (nu_ == 2.5) {
    s = -(5.0 / 6.0) * (1.0 + s) * (-s).exp();
  } else {
    for (Index j = 0; j < s.size(); ++j) s[j] = nu_ * bessel_slope(nu_, s[j], bessel_k_);
  }
}

// The two orders that are fitted most need only one exponential.
void Matern::correlation_and_slope(ArrayRef rho, ArrayRef slope_out) const {
  if (nu_ != 1.5 && nu_ != 2.5) return StationaryKernel::correlation_and_slope(rho, slope_out);
  rho = std::sqrt(2.0 * nu_) * rho.sqrt();
  slope_out = (-rho).exp();
  if (nu_ == 1.5) {
    rho = (1.0 + rho) * slope_out;
    slope_out *= -1.5;
  } else {
    const double third = 1.0 / 3.0;
    for (Index j = 0; j < rho.size(); ++j) {
      const double r = rho[j], e = slope_out[j];
      rho[j] = (1.0 + r + third * r * r) * e;
      slope_out[j] = -(5.0 / 6.0) * (1.0 + r) * e;
    }
  }
}

// A multivariate t with 2 nu degrees of freedom.
double Matern::draw_scale(Rng& rng) const { return std::sqrt(nu_ / draw_gamma(rng, nu_)); }

// ---- periodic -----------------------------------------------------------------------------------

namespace {
constexpr double kPi = 3.14159265358979323846;
}

Periodic::Periodic(Scaling scaling, VectorXd period, bool one_period, double variance)
    : scaling_(std::move(scaling)), period_(std::move(period)), one_period_(one_period),
      variance_(variance) {
  if (period_.size() != scaling_.size()) {
    throw std::invalid_argument("a periodic kernel needs one period for each of its inputs");
  }
  for (Index c = 0; c < period_.size(); ++c) check_positive(period_[c], "period");
  check_positive(variance, "variance");
}

// pi (x_c - y_c) / p_c.
void Periodic::angle(Index c, const VectorXd& x, const Points& Y, Index start, ArrayRef out) const {
  const Index column = scaling_.dims[c];
  out = (x[column] - Y.col(column).segment(start, out.size()).array()) * (kPi / period_[c]);
}

void Periodic::correlation(const VectorXd& x, const Points& Y, Index start, ArrayRef out) const {
  out.setZero();
  Block u(out.size());
  for (Index c = 0; c < scaling_.size(); ++c) {
    angle(c, x, Y, start, u);
    out += (u.sin() / scaling_.lengthscale[c]).square();
  }
  out = (-2.0 * out).exp();
}

void Periodic::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  for (Index start = 0; start < Y.rows(); start += kBlock) {
    const Index count = std::min(kBlock, Y.rows() - start);
    Eigen::Map<Eigen::ArrayXd> block(out.data() + start, count);
    correlation(x, Y, start, block);
    block *= variance_;
  }
}

void Periodic::diagonal(const Points&, Eigen::Ref<VectorXd> out) const {
  out.setConstant(variance_);
}

// dk/dx_c = -k 2 pi sin(2 u_c) / (p_c l_c^2), u_c the angle.
void Periodic::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  out.setZero(Y.rows(), x.size());
  for (Index start = 0; start < Y.rows(); start += kBlock) {
    Block k(std::min(kBlock, Y.rows() - start));
    correlation(x, Y, start, k);
    k *= variance_;
    Block u(k.size());
    for (Index c = 0; c < scaling_.size(); ++c) {
      angle(c, x, Y, start, u);
      const double factor = -2.0 * kPi / (period_[c] * std::pow(scaling_.lengthscale[c], 2));
      out.col(scaling_.dims[c]).segment(start, k.size()).array() = factor * k * (2.0 * u).sin();
    }
  }
}

Index Periodic::parameter_count() const {
  return period_count() + scaling_.parameter_count() + 1;
}

VectorXd Periodic::log_parameters() const {
  return joined(joined(log_shared(period_, one_period_), scaling_.log_parameters()), std::log(variance_));
}

void Periodic::set_log_parameters(const VectorXd& theta) {
  check_parameter_count(theta, parameter_count());
  period_ = exp_shared(segment_of(theta, 0, period_count()), scaling_.size());
  scaling_.set_log_parameters(segment_of(theta, period_count(), scaling_.parameter_count()));
  variance_ = exp_parameter(theta[theta.size() - 1]);
}

VectorXd Periodic::parameter_gradient(const Points& X, const MatrixXd& W) const {
  return sum_over_pairs(X, W, parameter_count(), variance_,
                        [&](const VectorXd& x, Index start, const Block& weight, VectorXd& sums) {
                          add_gradient(x, X, start, weight, sums);
                        });
}

// d log k / d log p_c = 2 u_c sin(2 u_c) / l_c^2, d log k / d log l_c = 4 sin^2(u_c) / l_c^2.
void Periodic::add_gradient(const VectorXd& x, const Points& Y, Index start, Block weight,
                            VectorXd& gradient) const {
  Block u(weight.size());
  correlation(x, Y, start, u);
  weight *= u;
  gradient[gradient.size() - 1] += weight.sum();
  for (Index c = 0; c < scaling_.size(); ++c) {
    angle(c, x, Y, start, u);
    const double precision = 1.0 / std::pow(scaling_.lengthscale[c], 2);
    const Index period = one_period_ ? 0 : c;
    const Index lengthscale = period_count() + (scaling_.isotropic ? 0 : c);
    gradient[period] += 2.0 * precision * (weight * u * (2.0 * u).sin()).sum();
    gradient[lengthscale] += 4.0 * precision * (weight * u.sin().square()).sum();
  }
}

// exp(-2 sin^2(u) / l^2) = exp(a cos(2u) - a), a = 1 / l^2: a Fourier series in each input.
void Periodic::draw_feature(Rng& rng, Feature& feature) const {
  feature.amplitude *= std::sqrt(variance_);
  for (Index c = 0; c < scaling_.size(); ++c) {
    const double harmonic = draw_harmonic(rng, 1.0 / std::pow(scaling_.lengthscale[c], 2));
    feature.frequency[scaling_.dims[c]] += 2.0 * kPi * harmonic / period_[c];
  }
}

std::unique_ptr<Kernel> Periodic::clone() const { return std::make_unique<Periodic>(*this); }

// ---- random features of stationary kernels ------------------------------------------------------

namespace {
constexpr double kTwoPi = 6.28318530717958647693;
constexpr Index kRows = 64;  // points evaluated together, which limits the work space

std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit depends on all.
std::uint64_t scramble(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}
}  // namespace

double RandomSign::of(double value) const {
  if (of_level) return (*of_level)[static_cast<Index>(std::llround(value)) - 1];
  const std::uint64_t bits = scramble(bits_of(seed) ^ scramble(bits_of(value + 0.0)));
  return (bits & 1) ? 1.0 : -1.0;
}

PriorPath PriorPath::waves(std::vector<Feature> features, Rng& rng) {
  const auto fewer = [](const Feature& a, const Feature& b) {
    return a.directions.size() < b.directions.size();
  };
  put_in_order(features, fewer);
  PriorPath path;
  auto first = features.cbegin();
  while (first != features.cend()) {
    const auto last = std::upper_bound(first, features.cend(), *first, fewer);
    path.groups_.push_back(group_of(first, last, static_cast<Index>(features.size()), rng));
    first = last;
  }
  return path;
}

// A cos + B sin with standard normal A, B is a Rayleigh amplitude and a uniform phase.
PriorPath::Group PriorPath::group_of(std::vector<Feature>::const_iterator first,
                                     std::vector<Feature>::const_iterator last, Index total,
                                     Rng& rng) {
  const Index inputs = first->frequency.size();
  const Index count = static_cast<Index>(last - first);
  Group group{MatrixXd(inputs, count),
              std::vector<MatrixXd>(first->directions.size(), MatrixXd(inputs, count)),
              VectorXd(count), VectorXd(count), MatrixXd(), -1, {}};
  const auto tabled = std::find_if(first, first + count,
                                   [](const Feature& f) { return f.by_arm.size() > 0; });
  if (tabled != first + count) {
    group.by_arm = MatrixXd::Ones(tabled->by_arm.size(), count);
    group.arm_column = tabled->arm_column;
  }
  if (std::any_of(first, first + count, [](const Feature& f) { return !f.signs.empty(); })) {
    for (auto f = first; f != first + count; ++f) group.signs.push_back(f->signs);
  }
  for (Index m = 0; m < count; ++m, ++first) {
    group.frequency.col(m) = first->frequency;
    if (first->by_arm.size() > 0) group.by_arm.col(m) = first->by_arm;
    for (std::size_t j = 0; j < group.directions.size(); ++j) {
      group.directions[j].col(m) = first->directions[j];
    }
    group.phase[m] = kTwoPi * rng.uniform();
    const double rayleigh = std::sqrt(-2.0 * std::log(rng.uniform()));
    group.weight[m] = first->amplitude * rayleigh / std::sqrt(static_cast<double>(total));
  }
  return group;
}

Index PriorPath::Group::arm_of(double number) const {
  const Index arm = static_cast<Index>(std::llround(number));
  if (arm < 0 || arm >= by_arm.rows()) throw std::invalid_argument("this point is no arm");
  return arm;
}

double PriorPath::Group::sign(std::size_t feature, const Eigen::Ref<const VectorXd>& x) const {
  double out = 1.0;
  for (const RandomSign& one : signs[feature]) out *= one.of(x[one.input]);
  return out;
}

PriorPath PriorPath::line(VectorXd slope) {
  PriorPath path;
  path.slope_ = std::move(slope);
  return path;
}

void PriorPath::add(const PriorPath& other) {
  groups_.insert(groups_.end(), other.groups_.begin(), other.groups_.end());
  if (slope_.size() == 0) {
    slope_ = other.slope_;
  } else if (other.slope_.size() > 0) {
    slope_ += other.slope_;
  }
}

double PriorPath::value(const VectorXd& x) const {
  VectorXd out(1);
  values(as_rows(x), out);
  return out[0];
}

void PriorPath::values(const Points& X, Eigen::Ref<VectorXd> out) const {
  out.setZero();
  if (slope_.size()) out = multiply(X, slope_);
  for (const Group& group : groups_) add_values(group, X, out);
}

void PriorPath::add_values(const Group& group, const Points& X, Eigen::Ref<VectorXd> out) {
  for (Index start = 0; start < X.rows(); start += kRows) {
    const Index count = std::min(kRows, X.rows() - start);
    const MatrixXd points = X.middleRows(start, count);
    MatrixXd wave = product(points, group.frequency);
    for (Index m = 0; m < wave.cols(); ++m) {
      for (Index i = 0; i < count; ++i) wave(i, m) += group.phase[m];
    }
    wave = wave.array().cos();
    for (const MatrixXd& direction : group.directions) {
      wave.array() *= product(points, direction).array();
    }
    for (Index i = 0; group.by_arm.size() > 0 && i < count; ++i) {
      const Index arm = group.arm_of(points(i, group.arm_column));
      for (Index m = 0; m < wave.cols(); ++m) wave(i, m) *= group.by_arm(arm, m);
    }
    for (std::size_t m = 0; m < group.signs.size(); ++m) {
      for (Index i = 0; i < count; ++i) {
        wave(i, static_cast<Index>(m)) *= group.sign(m, row_of(points, i));
      }
    }
    add_multiple(out.segment(start, count), 1.0, wave, group.weight);
  }
}

double PriorPath::value_and_gradient(const VectorXd& x, VectorXd& gradient) const {
  gradient.setZero(x.size());
  double value = 0.0;
  if (slope_.size()) {
    value = slope_.dot(x);
    gradient = slope_;
  }
  for (const Group& group : groups_) value += add_gradient(group, x, gradient);
  return value;
}

double PriorPath::add_gradient(const Group& group, const VectorXd& x, VectorXd& gradient) {
  const Eigen::ArrayXd angle = (multiply_transposed(group.frequency, x) + group.phase).array();
  Eigen::ArrayXd weight = group.weight.array();
  if (group.by_arm.size() > 0) {
    weight *= row_of(group.by_arm, group.arm_of(x[group.arm_column])).array();
  }
  for (std::size_t m = 0; m < group.signs.size(); ++m) {
    weight[static_cast<Index>(m)] *= group.sign(m, x);
  }
  const Eigen::ArrayXd wave = angle.cos() * weight;
  std::vector<Eigen::ArrayXd> factors;
  Eigen::ArrayXd all = Eigen::ArrayXd::Ones(angle.size());
  for (const MatrixXd& direction : group.directions) {
    factors.push_back(multiply_transposed(direction, x).array());
    all *= factors.back();
  }
  add_multiple(gradient, -1.0, group.frequency, (angle.sin() * weight * all).matrix());
  for (std::size_t j = 0; j < factors.size(); ++j) {
    Eigen::ArrayXd others = wave;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (i != j) others *= factors[i];
    }
    add_multiple(gradient, 1.0, group.directions[j], others.matrix());
  }
  return (wave * all).sum();
}

// Marsaglia and Tsang (2000); below shape 1 by G(shape) = G(shape + 1) U^(1/shape).
double draw_gamma(Rng& rng, double shape) {
  if (shape < 1.0) {
    const double boosted = draw_gamma(rng, shape + 1.0);
    return std::max(boosted * std::pow(rng.uniform(), 1.0 / shape), 1e-300);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double z = rng.normal();
    const double root = 1.0 + c * z;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    if (std::log(rng.uniform()) < 0.5 * z * z + d * (1.0 - v + std::log(v))) return d * v;
  }
}

// Ratios by I_j / I_{j-1} = 1 / (2j/a + I_{j+1} / I_j), from the highest j down; then inversion of the distribution.
double draw_harmonic(Rng& rng, double a) {
  const Index highest = 20 + static_cast<Index>(10.0 * std::sqrt(a));  // ten standard deviations
  VectorXd weight(highest + 1);
  double ratio = 0.0;
  for (Index j = highest; j > 0; --j) {
    ratio = 1.0 / (2.0 * static_cast<double>(j) / a + ratio);
    weight[j] = ratio;
  }
  weight[0] = 0.5;  // j and -j count together, 0 once
  double previous = 1.0;
  for (Index j = 1; j <= highest; ++j) previous = weight[j] *= previous;
  double left = rng.uniform() * weight.sum();
  Index j = 0;
  while (j < highest && left > weight[j]) left -= weight[j++];
  return rng.uniform() < 0.5 ? -static_cast<double>(j) : static_cast<double>(j);
}

// ---- from settings ------------------------------------------------------------------------------

namespace {

// A kernel that checks for interrupts between its rows. All long computations of the core evaluate kernel rows.
class Interruptible : public Kernel {
 public:
  using Pause = void (*)();
  Interruptible(std::unique_ptr<Kernel> kernel, Pause when)
      : kernel_(std::move(kernel)), pause_(when) {}
  void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const override {
    pause(Y.rows());
    kernel_->cross(x, Y, out);
  }
  void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const override {
    kernel_->diagonal(X, out);
  }
  void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const override {
    pause(Y.rows());
    kernel_->input_gradient(x, Y, out);
  }
  Index parameter_count() const override { return kernel_->parameter_count(); }
  VectorXd log_parameters() const override { return kernel_->log_parameters(); }
  void set_log_parameters(const VectorXd& theta) override { kernel_->set_log_parameters(theta); }
  VectorXd parameter_gradient(const Points& X, const MatrixXd& W) const override {
    pause(X.rows() * X.rows());
    return kernel_->parameter_gradient(X, W);
  }
  void draw_feature(Rng& rng, Feature& feature) const override {
    kernel_->draw_feature(rng, feature);
  }
  PriorPath draw_prior_path(Rng& rng, Index inputs, Index features) const override {
    return kernel_->draw_prior_path(rng, inputs, features);
  }
  std::unique_ptr<Kernel> clone() const override {
    return std::make_unique<Interruptible>(kernel_->clone(), pause_);
  }
  const Kernel& inner() const { return *kernel_; }

 private:
  using Clock = std::chrono::steady_clock;

  // Reads the clock every few thousand values, and checks for interrupts every 50 ms.
  void pause(Index values) const {
    values_ += values;
    if (values_ < 4096) return;
    values_ = 0;
    const Clock::time_point now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    pause_();
  }

  std::unique_ptr<Kernel> kernel_;
  Pause pause_;
  mutable Index values_ = 0;
  mutable Clock::time_point last_ = Clock::now();
};

std::vector<Index> dims_of(const Settings& kernel) {
  std::vector<Index> out;
  const VectorXd columns = kernel.numbers("dims");
  for (Index k = 0; k < columns.size(); ++k) out.push_back(static_cast<Index>(columns[k]));
  return out;
}

Scaling scaling_of(const Settings& kernel) {
  return Scaling(dims_of(kernel), kernel.numbers("lengthscale"), kernel.flag("isotropic"));
}

std::unique_ptr<Kernel> plain_kernel(const Settings& kernel);

std::vector<std::unique_ptr<Kernel>> parts_of(const Settings& kernel) {
  std::vector<std::unique_ptr<Kernel>> out;
  for (const auto& part : kernel.parts("parts")) {
    out.push_back(std::make_unique<Interruptible>(plain_kernel(*part), kernel.outside().pause));
  }
  return out;
}

std::unique_ptr<Kernel> plain_kernel(const Settings& kernel) {
  const std::string type = kernel.text("type");
  if (type == "sum") return std::make_unique<SumKernel>(parts_of(kernel));
  if (type == "product") return std::make_unique<ProductKernel>(parts_of(kernel));
  if (type == "matrix") {
    return std::make_unique<MatrixKernel>(kernel.matrix("K"), kernel.count("arm_column"));
  }
  const double variance = kernel.number("variance");
  if (type == "function") {
    return std::make_unique<FunctionKernel>(kernel.gram_function("f"), dims_of(kernel), variance);
  }
  if (type == "linear") return std::make_unique<Linear>(dims_of(kernel), variance);
  if (type == "se") return std::make_unique<SquaredExponential>(scaling_of(kernel), variance);
  if (type == "matern") {
    return std::make_unique<Matern>(scaling_of(kernel), variance, kernel.number("nu"),
                                    kernel.outside().bessel_k);
  }
  if (type == "rq") {
    return std::make_unique<RationalQuadratic>(scaling_of(kernel), variance, kernel.number("alpha"));
  }
  if (type == "periodic") {
    return std::make_unique<Periodic>(scaling_of(kernel), kernel.numbers("period"),
                                      kernel.flag("one_period"), variance);
  }
  if (type == "categorical") {
    return std::make_unique<Categorical>(dims_of(kernel), kernel.numbers("correlation"),
                                         kernel.flag("one_correlation"), variance);
  }
  if (type == "levels") {
    MatrixXd features = kernel.matrix("features");
    VectorXd lengthscale = kernel.numbers("lengthscale");
    const bool isotropic = lengthscale.size() == 1;
    std::vector<Index> columns;
    for (Index c = 0; c < features.cols(); ++c) columns.push_back(c);
    if (isotropic) lengthscale = VectorXd::Constant(features.cols(), lengthscale[0]).eval();
    auto inner = std::make_unique<Matern>(Scaling(std::move(columns), lengthscale, isotropic), 1.0,
                                          2.5, kernel.outside().bessel_k);
    return std::make_unique<LevelKernel>(dims_of(kernel).at(0), std::move(features),
                                         std::move(inner), kernel.number("own"), variance);
  }
  throw std::invalid_argument("unknown kernel type: " + type);
}

}  // namespace

KernelPtr make_kernel(const Settings& kernel) {
  return std::make_shared<Interruptible>(plain_kernel(kernel), kernel.outside().pause);
}

// ---- a factor of the Gram matrix ----------------------------------------------------------------

LowRank pivoted_cholesky(const Kernel& kernel, const Points& X, double tolerance, Index max_rank) {
  const Index n = X.rows();
  LowRank out;
  out.residual.resize(n);
  kernel.diagonal(X, out.residual);
  const double scale = out.residual.size() ? out.residual.maxCoeff() : 0.0;
  max_rank = std::min(max_rank, n);
  MatrixXd& F = out.factor;
  F.resize(n, std::min<Index>(max_rank, 32));
  VectorXd column(n);
  Index rank = 0;
  Index pivot = 0;
  while (rank < max_rank && n > 0 && out.residual.maxCoeff(&pivot) > tolerance) {
    if (rank == F.cols()) F.conservativeResize(Eigen::NoChange, std::min(max_rank, 2 * rank));
    kernel.cross(row_of(X, pivot), X, column);
    if (rank > 0) {
      const VectorXd at_pivot = row_of(F, pivot, 0, rank);
      add_multiple(column, -1.0, F.leftCols(rank), at_pivot);
    }
    column /= std::sqrt(out.residual[pivot]);
    F.col(rank) = column;
    out.residual -= times(column, column);
    out.residual[pivot] = 0.0;
    if (out.residual.minCoeff() < -kIndefinite * std::max(scale, 1e-300)) {
      throw std::invalid_argument("the covariance is indefinite: a conditional variance is " +
                                  std::to_string(out.residual.minCoeff()));
    }
    out.pivots.push_back(pivot);
    ++rank;
  }
  F.conservativeResize(Eigen::NoChange, rank);
  out.complete = n == 0 || out.residual.maxCoeff() <= tolerance;
  out.residual = out.residual.cwiseMax(0.0);
  return out;
}

// ---- products over inputs -----------------------------------------------------------------------

bool splits(const Kernel& kernel, Index first, Index count) {
  if (const auto* wrapped = dynamic_cast<const Interruptible*>(&kernel)) return splits(wrapped->inner(), first, count);
  if (const auto* product = dynamic_cast<const ProductKernel*>(&kernel)) {
    const auto& parts = product->parts();
    return std::all_of(parts.begin(), parts.end(),
                       [&](const std::unique_ptr<Kernel>& part) { return splits(*part, first, count); });
  }
  if (dynamic_cast<const SquaredExponential*>(&kernel)) return true;
  const auto* stationary = dynamic_cast<const StationaryKernel*>(&kernel);
  if (!stationary) return false;
  const std::vector<Index>& dims = stationary->scaling().dims;
  const auto among = std::count_if(dims.begin(), dims.end(), [&](Index c) { return c >= first && c < first + count; });
  return among == 0 || among == static_cast<std::ptrdiff_t>(dims.size());
}

}  // namespace gpb
