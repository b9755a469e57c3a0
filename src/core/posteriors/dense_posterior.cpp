// Functions of dense_posterior.h: exact Gaussian-process posterior over arbitrary inputs: a Cholesky factor of K +
// noise that grows by a row per observation. Uses linalg/ and kernels/.
#include "posteriors/dense_posterior.h"

#include "linalg/decompositions.h"
#include "linalg/floors.h"
#include "linalg/mirror.h"
#include "linalg/products.h"
#include "posteriors/joint_draw.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

constexpr Index kPointBlock = 64;     // played points per storage block
constexpr Index kPredictBlock = 256;  // points per blocked solve
constexpr Index kSpareRows = 32;      // so that the first new rows need no reallocation

// Fills rows `from` to `to` - 1 of `rhs` with the kernel between played points and X.
void fill_cross(const DensePosterior& posterior, const Points& X, Index from, Index to,
                Panels& rhs) {
  VectorXd values(X.rows());
  for (Index i = from; i < to; ++i) {
    posterior.kernel().cross(posterior.point(i), X, values);
    if (posterior.fades()) values *= posterior.present(i);
    rhs.set_row(i, values.data());
  }
}

}  // namespace

DensePosterior::DensePosterior(KernelPtr kernel, double noise_var)
    : kernel_(std::move(kernel)), noise_var_(noise_var) {
  if (!kernel_) throw_invalid("a posterior needs a kernel");
  if (!(noise_var > 0.0) || !std::isfinite(noise_var)) {
    throw_invalid("the noise variance must be positive");
  }
}

void DensePosterior::check_point(Index inputs) const {
  if (inputs_ >= 0 && inputs != inputs_ && !compares_) {
    throw_invalid("a point has " + std::to_string(inputs) + " inputs, not " + std::to_string(inputs_));
  }
}

void DensePosterior::store_point(const VectorXd& x) {
  inputs_ = x.size();
  const Index row = static_cast<Index>(targets_.size()) % kPointBlock;
  if (row == 0) blocks_.push_back(as_rows(x, kPointBlock));
  set_row(blocks_.back(), row, x);
}

void DensePosterior::set_fading(double rate) {
  fading_.kind = Forgetting::Kind::fade;
  fading_.rate = rate;
}

void DensePosterior::set_now(Index now) {
  if (now == now_) return;
  now_ = now;
  for (std::size_t i = 0; i < rounds_.size(); ++i) {
    present_[i] = correlation(static_cast<double>(now_ - rounds_[i]));
  }
}

void DensePosterior::store_target(double y, double noise_scale) {
  targets_.push_back(y);
  noise_scale_.push_back(noise_scale);
  weights_valid_ = false;
}

void DensePosterior::add(const VectorXd& x, double y, double noise_scale, Index round) {
  check_point(x.size());
  VectorXd covariance;
  kernel_cross(x, covariance);
  if (fades()) {
    for (Index i = 0; i < size(); ++i) {
      covariance[i] *= correlation(static_cast<double>(round - rounds_[static_cast<std::size_t>(i)]));
    }
  }
  VectorXd own(1);
  kernel_->diagonal(as_rows(x), own);
  check_noise(noise_var_, own[0]);
  factor_.append(covariance.data(), own[0], noise_var_ * noise_scale);
  store_point(x);
  store_target(y, noise_scale);
  rounds_.push_back(round);
  present_.push_back(correlation(static_cast<double>(now_ - round)));
}

void DensePosterior::add(const Points& X, const VectorXd& y) {
  add(X, y, VectorXd::Ones(y.size()));
}

void DensePosterior::add(const Points& X, const VectorXd& y, const VectorXd& noise_scale) {
  if (y.size() != X.rows() || noise_scale.size() != X.rows()) {
    throw_invalid("points and targets differ in number");
  }
  check_point(X.cols());
  reserve(size() + X.rows());
  for (Index first = 0; first < X.rows(); first += kPointBlock) {
    const Index count = std::min(kPointBlock, X.rows() - first);
    add_block(X.middleRows(first, count), y.segment(first, count),
              noise_scale.segment(first, count));
  }
}

void DensePosterior::add_block(const Points& X, const VectorXd& y, const VectorXd& noise_scale) {
  Panels rhs(X.rows());
  rhs.reserve(size(), 0);
  fill_cross(*this, X, 0, size(), rhs);
  const MatrixXd own = kernel_->gram(X);
  check_noise(noise_var_, own.diagonal().maxCoeff());
  factor_.append(rhs, own, noise_var_ * noise_scale);
  for (Index j = 0; j < X.rows(); ++j) {
    store_point(row_of(X, j));
    store_target(y[j], noise_scale[j]);
    rounds_.push_back(now_);
    present_.push_back(1.0);
  }
}

void DensePosterior::set_target(Index i, double y) {
  if (i < 0 || i >= size()) throw_invalid("no such observation");
  if (target(i) == y) return;
  targets_[static_cast<std::size_t>(i)] = y;
  solved_ = std::min(solved_, i);
  weights_valid_ = false;
  ++revision_;
}

void DensePosterior::set_targets(const VectorXd& y) {
  if (y.size() != size()) throw_invalid("targets and observations differ in number");
  for (Index i = 0; i < y.size(); ++i) set_target(i, y[i]);
}

void DensePosterior::reserve(Index size) {
  factor_.reserve(size);
  targets_.reserve(static_cast<std::size_t>(size));
  noise_scale_.reserve(static_cast<std::size_t>(size));
}

void DensePosterior::clear() {
  truncate(0);
  inputs_ = -1;
}

void DensePosterior::truncate(Index size) {
  if (size >= this->size()) return;
  factor_.truncate(size);
  targets_.resize(static_cast<std::size_t>(size));
  noise_scale_.resize(static_cast<std::size_t>(size));
  rounds_.resize(static_cast<std::size_t>(size));
  present_.resize(static_cast<std::size_t>(size));
  blocks_.resize(static_cast<std::size_t>((size + kPointBlock - 1) / kPointBlock));
  solved_ = std::min(solved_, size);
  weights_valid_ = false;
  posterior_id_ = PosteriorId();
}

Points DensePosterior::points() const {
  Points X(size(), std::max<Index>(inputs_, 0));
  for (Index i = 0; i < size(); i += kPointBlock) {
    const Index count = std::min(kPointBlock, size() - i);
    X.middleRows(i, count) = blocks_[static_cast<std::size_t>(i / kPointBlock)].topRows(count);
  }
  return X;
}

VectorXd DensePosterior::point(Index i) const {
  return row_of(blocks_[static_cast<std::size_t>(i / kPointBlock)], i % kPointBlock);
}

VectorXd DensePosterior::targets() const {
  return Eigen::Map<const VectorXd>(targets_.data(), size());
}

void DensePosterior::cross(const VectorXd& x, VectorXd& out) const {
  kernel_cross(x, out);
  if (fades()) out.head(size()).array() *= Eigen::Map<const Eigen::ArrayXd>(present_.data(), size());
}

void DensePosterior::kernel_cross(const VectorXd& x, VectorXd& out) const {
  out.resize(static_cast<Index>(blocks_.size()) * kPointBlock);
  Index first = 0;
  for (const Points& block : blocks_) {
    kernel_->cross(x, block, out.segment(first, kPointBlock));
    first += kPointBlock;
  }
}

const VectorXd& DensePosterior::whitened() const {
  if (whitened_.size() < size()) {
    whitened_.conservativeResize(std::max<Index>({size(), 2 * whitened_.size(), kPointBlock}));
  }
  if (solved_ < size()) {
    for (Index i = solved_; i < size(); ++i) {
      const Eigen::Map<const VectorXd> row(factor_.row(i), i);
      whitened_[i] = (target(i) - row.dot(whitened_.head(i))) / factor_.diagonal(i);
    }
    solved_ = size();
  }
  return whitened_;
}

VectorXd DensePosterior::solve(const VectorXd& v) const {
  VectorXd x = v;
  factor_.forward(x);
  factor_.backward(x);
  return x;
}

const VectorXd& DensePosterior::weights() const {
  if (!weights_valid_) {
    weights_ = whitened().head(size());
    factor_.backward(weights_);
    weights_valid_ = true;
  }
  return weights_;
}

void DensePosterior::predict_at(const VectorXd& x, double& mean, double& variance) const {
  check_point(x.size());
  VectorXd own(1);
  kernel_->diagonal(as_rows(x), own);
  VectorXd v;
  cross(x, v);
  v.conservativeResize(size());
  factor_.forward(v);
  mean = v.dot(whitened().head(size()));
  variance = std::max(0.0, own[0] - v.squaredNorm());
}

void DensePosterior::predict(const Points& X, VectorXd& mean, VectorXd& variance) const {
  check_point(X.cols());
  mean.resize(X.rows());
  variance.resize(X.rows());
  for (Index first = 0; first < X.rows(); first += kPredictBlock) {
    const Index count = std::min(kPredictBlock, X.rows() - first);
    const Points part = X.middleRows(first, count);
    kernel_->diagonal(part, variance.segment(first, count));
    Panels rhs(count);
    rhs.reserve(size(), 0);
    fill_cross(*this, part, 0, size(), rhs);
    forward_solve(factor_.packed(), 0, size(), rhs);
    VectorXd sum = VectorXd::Zero(rhs.count() * Panels::kWidth);
    VectorXd squares = sum;
    accumulate_rows(rhs, 0, size(), whitened().data(), sum.data(), squares.data());
    mean.segment(first, count) = sum.head(count);
    variance.segment(first, count) -= squares.head(count);
  }
  variance = variance.cwiseMax(0.0);
}

VectorXd DensePosterior::predict_mean(const Points& X) const {
  check_point(X.cols());
  VectorXd mean = VectorXd::Zero(X.rows());
  VectorXd values(X.rows());
  for (Index i = 0; i < size(); ++i) {
    kernel_->cross(point(i), X, values);
    mean += weights()[i] * present(i) * values;
  }
  return mean;
}

MatrixXd DensePosterior::covariance(const Points& X) const {
  VectorXd ignored;
  return joint(X, ignored);
}

MatrixXd DensePosterior::joint(const Points& X, VectorXd& mean) const {
  check_point(X.cols());
  MatrixXd out = kernel_->gram(X);
  mean = VectorXd::Zero(X.rows());
  if (size() == 0) return out;
  Panels rhs(X.rows());
  rhs.reserve(size(), 0);
  fill_cross(*this, X, 0, size(), rhs);
  forward_solve(factor_.packed(), 0, size(), rhs);
  MatrixXd solved(X.rows(), size());
  for (Index i = 0; i < size(); ++i) {
    for (Index j = 0; j < X.rows(); ++j) solved(j, i) = rhs(i, j);
  }
  mean = multiply(solved, whitened().head(size()));
  add_tcrossprod_below(out, -1.0, solved);
  mirror_lower(out);
  out.diagonal() = out.diagonal().cwiseMax(0.0);
  return out;
}

MatrixXd DensePosterior::cross_weights(const Points& Z) const {
  check_point(Z.cols());
  MatrixXd out(size(), Z.rows());
  VectorXd covariance;
  for (Index j = 0; j < Z.rows(); ++j) {
    cross(row_of(Z, j), covariance);
    covariance.conservativeResize(size());
    factor_.forward(covariance);
    factor_.backward(covariance);
    for (Index i = 0; i < size(); ++i) out(i, j) = covariance[i] * present(i);
  }
  return out;
}

MatrixXd DensePosterior::draw(const Points& X, Rng& rng, Index count, double scale) const {
  VectorXd mean;
  const MatrixXd covariance = joint(X, mean);
  MatrixXd out = joint_draws(covariance, rng, count, scale);
  out.colwise() += mean;
  return out;
}

// Calls use(first, slope) block by block. `slope` has the gradients at x of the kernel with the observations from
// `first` on, a row each.
template <class Use>
void DensePosterior::each_slope(const VectorXd& x, Use use) const {
  MatrixXd slope;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Index first = static_cast<Index>(b) * kPointBlock;
    const Index count = std::min(kPointBlock, size() - first);
    kernel_->input_gradient(x, blocks_[b], slope);
    for (Index i = 0; fades() && i < count; ++i) slope.row(i) *= present(first + i);
    use(first, slope.topRows(count));
  }
}

double DensePosterior::mean_and_gradient(const VectorXd& x, VectorXd& dmean) const {
  check_point(x.size());
  VectorXd values;
  cross(x, values);
  dmean = VectorXd::Zero(x.size());
  if (size() == 0) return 0.0;
  each_slope(x, [&](Index first, const MatrixView& slope) {
    add_multiple_transposed(dmean, 1.0, slope, weights().segment(first, slope.rows()));
  });
  return values.head(size()).dot(weights());
}

void DensePosterior::predict_gradient(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                                      VectorXd& dsd) const {
  check_point(x.size());
  VectorXd own(1);
  kernel_->diagonal(as_rows(x), own);
  VectorXd dvariance = kernel_->diagonal_gradient(x);

  VectorXd v;
  cross(x, v);
  v.conservativeResize(size());
  factor_.forward(v);
  mean = v.dot(whitened().head(size()));
  sd = std::sqrt(std::max(0.0, own[0] - v.squaredNorm()));
  factor_.backward(v);

  dmean = VectorXd::Zero(x.size());
  each_slope(x, [&](Index first, const MatrixView& slope) {
    add_multiple_transposed(dmean, 1.0, slope, weights().segment(first, slope.rows()));
    add_multiple_transposed(dvariance, -2.0, slope, v.segment(first, slope.rows()));
  });
  dsd = VectorXd::Zero(x.size());
  if (sd > 0.0) dsd = dvariance / (2.0 * sd);
}

// Draws the past given the present. The covariance is k(x_i, x_j) (r(s_i - s_j) - r(now - s_i) r(now - s_j)), with r
// the correlation in time.
VectorXd DensePosterior::draw_residuals(Rng& rng) const {
  const VectorXd z = rng.normals(size());
  VectorXd noise_var(size());
  for (Index i = 0; i < size(); ++i) noise_var[i] = noise_var_ * noise_scale(i);
  if (!fades()) return times(roots(noise_var), z);
  MatrixXd past = kernel_->gram(points());
  for (Index i = 0; i < size(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      const auto lag = rounds_[static_cast<std::size_t>(i)] - rounds_[static_cast<std::size_t>(j)];
      past(i, j) *= correlation(static_cast<double>(lag)) - present(i) * present(j);
    }
  }
  past.diagonal() += noise_var;
  return FlooredCholesky(past, noise_var).multiply(z);
}

double DensePosterior::log_det() const {
  double out = factor_.log_det();
  for (double scale : noise_scale_) out -= std::log(noise_var_ * scale);
  return out;
}

double DensePosterior::quadratic() const { return whitened().head(size()).squaredNorm(); }

double DensePosterior::log_likelihood() const {
  const double log_two_pi = std::log(2.0 * 3.14159265358979323846);
  return -0.5 * (quadratic() + factor_.log_det() + static_cast<double>(size()) * log_two_pi);
}

PredictionCache::PredictionCache(Points X) : X_(std::move(X)), solved_(X_.rows()) {}

void PredictionCache::restart(const DensePosterior& posterior) {
  rows_ = 0;
  posterior_id_ = posterior.posterior_id();
  revision_ = posterior.revision();
  now_ = posterior.now();
  prior_.resize(X_.rows());
  posterior.kernel().diagonal(X_, prior_);
  sum_ = VectorXd::Zero(solved_.count() * Panels::kWidth);
  squares_ = sum_;
}

// Multiplies all covariances with the present by this factor.
void PredictionCache::fade(double factor) {
  for (Index panel = 0; panel < solved_.count(); ++panel) {
    Eigen::Map<VectorXd>(solved_.data() + panel * solved_.stride(), rows_ * Panels::kWidth) *=
        factor;
  }
  sum_ *= factor;
  squares_ *= factor * factor;
}

void PredictionCache::follow(const DensePosterior& posterior) {
  if (posterior_id_ != posterior.posterior_id()) restart(posterior);
  if (now_ != posterior.now()) {
    const double factor = posterior.correlation(static_cast<double>(posterior.now() - now_));
    if (factor != 1.0) fade(factor);
    now_ = posterior.now();
  }
  const Index to = posterior.size();
  const double* weight = posterior.whitened().data();
  if (to > solved_.capacity()) solved_.reserve(to + kSpareRows, rows_);
  fill_cross(posterior, X_, rows_, to, solved_);
  forward_solve(posterior.factor().packed(), rows_, to, solved_);
  if (revision_ != posterior.revision() && rows_ > 0) {
    VectorXd ignored = VectorXd::Zero(sum_.size());
    sum_.setZero();
    accumulate_rows(solved_, 0, rows_, weight, sum_.data(), ignored.data());
  }
  accumulate_rows(solved_, rows_, to, weight, sum_.data(), squares_.data());
  revision_ = posterior.revision();
  rows_ = to;
  mean_ = sum_.head(X_.rows());
  variance_ = (prior_ - squares_.head(X_.rows())).cwiseMax(0.0);
}

}  // namespace gpb
