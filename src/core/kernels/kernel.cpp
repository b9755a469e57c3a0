#include "kernels/kernel.h"
#include "kernels/kernel_compose.h"
#include "kernels/kernel_linear.h"
#include "kernels/kernel_categorical.h"
#include "kernels/kernel_levels.h"
#include "kernels/kernel_matrix.h"
#include "kernels/kernel_function.h"
#include "kernels/make_kernel.h"
#include "kernels/pivoted_cholesky.h"

#include "kernels/kernel_periodic.h"
#include "kernels/kernel_scaling.h"
#include "kernels/kernel_stationary.h"
#include "kernels/splits.h"
#include "linalg/decompositions.h"
#include "linalg/mirror.h"

#include <algorithm>
#include <chrono>
#include <cmath>

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
  // The longer side is the vectorised one.
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

// Inside a product: one of the n parts, each n times too large to make up for the others.
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

// A factor's own gradient, with the other factors' Gram matrices in the weights.
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

// d k / d log correlation_c = k [x_c != y_c]; both triangles at once.
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

// With probability `correlation` the constant 1, else an independent sign for each value:
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

// W added up by pairs of levels.
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

// A function of the levels with the table as its covariance.
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
// Rows of a Gram matrix of which only the diagonal is wanted.
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

// All shifted points in one call; the step is best for second-order differences.
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
    step[c] = shifted(2 * c, c) - shifted(2 * c + 1, c);  // what rounding has left of it
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

// ---- from settings ------------------------------------------------------------------------------

namespace {

// A kernel that lets interrupts in between its rows: the core asks kernels for rows wherever it works
// for long.
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

  // Looks at the clock after some thousand values, for interrupts after a twentieth of a second.
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
      const VectorXd at_pivot = segment_of(row_of(F, pivot), 0, rank);
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
