// Engines over arms (weights, root, played points), the table of arms in contexts, joint draws and joint maxima. Uses
// events/, kernels/ and linalg/.
#include "posteriors/arm_posterior.h"
#include "posteriors/weight_posterior.h"
#include "posteriors/root_posterior.h"
#include "posteriors/played_posterior.h"
#include "posteriors/posterior.h"
#include "posteriors/joint_draw.h"
#include "posteriors/table_posterior.h"
#include "posteriors/joint_maxima.h"

#include "linalg/decompositions.h"
#include "linalg/floors.h"
#include "linalg/products.h"
#include "linalg/sweeps.h"
#include "posteriors/dense_posterior.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// ---- common parts of all engines over arms ------------------------------------------------------

namespace {
// An arm's variance over its noise must stay this far below 1 for an observation to be removed by a rank-one step.
// Otherwise too few digits of the difference remain.
constexpr double kSafeDrop = 1e-4;
}  // namespace

ArmTable::ArmTable(KernelPtr kernel_in, std::shared_ptr<const Points> points_in)
    : kernel(std::move(kernel_in)), points(std::move(points_in)), prior_variance(points->rows()) {
  kernel->diagonal(*points, prior_variance);
  prior_scale = std::sqrt(std::max(0.0, prior_variance.maxCoeff()));
}

ArmPosterior::ArmPosterior(ArmTablePtr table, double noise_var, VectorXd prior_mean)
    : table_(std::move(table)),
      noise_var_(noise_var),
      prior_mean_(std::move(prior_mean)),
      mean_(prior_mean_),
      variance_(table_->prior_variance),
      weight_(VectorXd::Zero(table_->size())),
      weighted_(VectorXd::Zero(table_->size())) {
  check_noise(noise_var_, prior_scale_squared());
}

void ArmPosterior::clear() {
  mean_ = prior_mean_;
  variance_ = table_->prior_variance;
  weight_.setZero();
  weighted_.setZero();
  squares_ = 0.0;
  log_det_ = 0.0;
  updates_ = 0;
  drops_ = 0;
  drifted_ = false;
  innovations_ = 0.0;
  forget();
}

void ArmPosterior::refit_now() {
  refit();
  updates_ = 0;
  drops_ = 0;
}

void ArmPosterior::add(Index arm, double y, double weight) {
  const double noise = noise_var_ / weight;
  const double innovation = y - mean_[arm];
  const double s = condition(arm, innovation, noise);
  log_det_ += std::log(s / noise);
  innovations_ += innovation * innovation / s;
  const double centred = y - prior_mean_[arm];
  weight_[arm] += weight;
  weighted_[arm] += weight * centred;
  squares_ += weight * centred * centred;
  ++updates_;
  if (refit_due()) refit_now();
}

bool ArmPosterior::can_drop(Index arm, double noise) const {
  // Each step leaves a rounding error in the precision. Once the observations are gone, it is relative to the prior's
  // precision.
  const double precision = 1.0 + weight_.sum() * prior_scale_squared() / noise_var_;
  return variance_[arm] < (1.0 - kSafeDrop) * noise &&
         !loses_digits(static_cast<double>(drops_ + 1) * precision);
}

void ArmPosterior::drop(Index arm, double y, double weight) {
  const double noise = noise_var_ / weight;
  const bool quick = can_drop(arm, noise);
  if (quick) {
    const double s = condition(arm, y - mean_[arm], -noise);
    log_det_ += std::log(s / -noise);
    ++updates_;
    ++drops_;
  }
  const double centred = y - prior_mean_[arm];
  weight_[arm] -= weight;
  // For an arm without observations only rounding errors remain, so the weight is set to 0.
  if (weight_[arm] < 1e-9 * weight) weight_[arm] = 0.0;
  weighted_[arm] = weight_[arm] > 0.0 ? weighted_[arm] - weight * centred : 0.0;
  squares_ -= weight * centred * centred;
  if (!quick || refit_due()) refit_now();
}

void ArmPosterior::replace(Index arm, double old_y, double new_y, double weight) {
  const double old_centred = old_y - prior_mean_[arm], new_centred = new_y - prior_mean_[arm];
  weighted_[arm] += weight * (new_y - old_y);
  squares_ += weight * (new_centred * new_centred - old_centred * old_centred);
  // The mean changes by a rounded covariance divided by the noise.
  if (loses_digits(prior_scale_squared() / noise_var_)) refit_now();
  else respond(arm, (new_y - old_y) * weight / noise_var_);
}

void ArmPosterior::set_statistics(const VectorXd& weight, const VectorXd& weighted,
                                  double squares) {
  weight_ = weight;
  weighted_ = weighted;
  squares_ = squares;
  refit_now();
}

void ArmPosterior::set_values(const VectorXd& weighted, double squares) {
  weighted_ = weighted;
  squares_ = squares;
  if (loses_digits(prior_scale_squared() / noise_var_)) refit_now();
  else refit_mean();
}

VectorXd ArmPosterior::covariance_with(Index) const {
  throw std::logic_error("an engine without features knows no differences");
}

void ArmPosterior::set_functionals(const MatrixXd&, const VectorXd&, const VectorXd&) {
  throw std::logic_error("an engine without features knows arms only");
}

namespace {

// The functionals take the role of arms, in the order of their rows.
WeightFit fit_functionals(const MatrixXd& features, const VectorXd& weight,
                          const VectorXd& weighted, double noise_var) {
  std::vector<Index> every(static_cast<std::size_t>(weight.size()));
  for (std::size_t k = 0; k < every.size(); ++k) every[k] = static_cast<Index>(k);
  return fit_weights(features, every, weight, weighted, noise_var);
}

}  // namespace

double ArmPosterior::quadratic() const {
  if (drifted_) return innovations_;
  return (squares_ - weighted_.dot(mean_ - prior_mean_)) / noise_var_;
}

std::vector<Index> ArmPosterior::observed_arms() const {
  std::vector<Index> out;
  for (Index i = 0; i < weight_.size(); ++i) {
    if (weight_[i] > 0.0) out.push_back(i);
  }
  return out;
}

// ---- weights of features ------------------------------------------------------------------------

namespace {

// Precision of the weights P = I + sum_i (W_i / lambda) phi_i phi_i' = L L', so root = L^-T.
WeightFit fit_by_precision(const MatrixXd& phi, const std::vector<Index>& seen,
                           const VectorXd& weight, const VectorXd& weighted, double noise_var) {
  const Index r = phi.cols(), m = static_cast<Index>(seen.size());
  MatrixXd scaled(r, m);
  VectorXd target = VectorXd::Zero(r);
  for (Index k = 0; k < m; ++k) {
    const Index arm = seen[static_cast<std::size_t>(k)];
    scaled.col(k) = std::sqrt(weight[arm] / noise_var) * row_of(phi, arm);
    target += (weighted[arm] / noise_var) * row_of(phi, arm);
  }
  MatrixXd precision = MatrixXd::Identity(r, r);
  add_tcrossprod_below(precision, 1.0, scaled);
  const FlooredCholesky factor(precision, 1.0);
  return {factor.inverse_transposed(), factor.solve(target), factor.log_det()};
}

// The same, one arm after the other, by Potter's step. No number in it is large if the noise is small, so digits are
// kept.
WeightFit fit_by_steps(const MatrixXd& phi, const std::vector<Index>& seen,
                       const VectorXd& weight, const VectorXd& weighted, double noise_var) {
  const Index r = phi.cols();
  WeightFit fit{MatrixXd::Identity(r, r), VectorXd::Zero(r), 0.0};
  for (const Index arm : seen) {
    const VectorXd row = row_of(phi, arm);
    const double noise = effective_noise(noise_var / weight[arm], row.squaredNorm());
    const VectorXd v = multiply_transposed(fit.root, row);
    VectorXd gain = multiply(fit.root, v);
    const double s = noise + v.squaredNorm();
    fit.mean += ((weighted[arm] / weight[arm] - row.dot(fit.mean)) / s) * gain;
    fit.log_det += std::log(s / noise);
    gain /= potter_divisor(s, noise);
    for (Index j = 0; j < r; ++j) {
      for (Index i = 0; i < r; ++i) fit.root(i, j) -= gain[i] * v[j];
    }
  }
  return fit;
}

}  // namespace

WeightFit fit_weights(const MatrixXd& phi, const std::vector<Index>& seen, const VectorXd& weight,
                      const VectorXd& weighted, double noise_var) {
  double ratio = 0.0;
  for (const Index arm : seen) ratio += weight[arm] * phi.row(arm).squaredNorm() / noise_var;
  return loses_digits(ratio) ? fit_by_steps(phi, seen, weight, weighted, noise_var)
                             : fit_by_precision(phi, seen, weight, weighted, noise_var);
}

double potter_divisor(double s, double noise) {
  return s + std::copysign(std::sqrt(s * noise), s);
}

bool prefers_arm_root(const LowRank& basis) {
  return basis.factor.rows() < 3 * basis.factor.cols();
}

WeightPosterior::WeightPosterior(ArmTablePtr table, LowRankPtr basis, double noise_var,
                                 VectorXd prior_mean)
    : ArmPosterior(std::move(table), noise_var, std::move(prior_mean)), basis_(std::move(basis)),
      zero_(VectorXd::Zero(rank())) {
  forget();
}

void WeightPosterior::forget() {
  root_ = MatrixXd::Identity(rank(), rank());
}

VectorXd WeightPosterior::rooted(const VectorXd& v) const {
  VectorXd out(rank());
  product_sweep(root_.data(), rank(), rank(), rank(), v.data(), 1.0, zero_.data(), out.data());
  return out;
}

bool WeightPosterior::refit_due() const { return !drifted_ && updates_ >= kRefreshEvery; }

double WeightPosterior::condition(Index arm, double innovation, double noise) {
  const MatrixXd& phi = basis_->factor;
  // Potter: v = A' phi_i, s = noise + v'v, S phi_i = A v, A <- A - (A v) v' / potter_divisor.
  const VectorXd row = row_of(phi, arm);
  const VectorXd v = multiply_transposed(root_, row);
  VectorXd gain = multiply(root_, v);
  const double s = noise + v.squaredNorm();
  rank_one_sweep(phi.data(), phi.rows(), phi.rows(), phi.cols(), gain.data(), innovation / s,
                 1.0 / s, mean_.data(), variance_.data());
  gain /= potter_divisor(s, noise);
  subtract_outer(root_.data(), rank(), rank(), gain.data(), v.data());
  return s;
}

VectorXd WeightPosterior::covariance_with(Index arm) const {
  const MatrixXd& phi = basis_->factor;
  const VectorXd row = row_of(phi, arm);
  return multiply(phi, multiply(root_, multiply_transposed(root_, row)));
}

void WeightPosterior::respond(Index arm, double step) {
  const MatrixXd& phi = basis_->factor;
  const VectorXd row = row_of(phi, arm);
  const VectorXd gain = multiply(root_, multiply_transposed(root_, row));
  product_sweep(phi.data(), phi.rows(), phi.rows(), phi.cols(), gain.data(), step, mean_.data(),
                mean_.data());
}

void WeightPosterior::refit() {
  const MatrixXd& phi = basis_->factor;
  take(fit_weights(phi, observed_arms(), weight_, weighted_, noise_var_));
}

void WeightPosterior::set_functionals(const MatrixXd& features, const VectorXd& weight,
                                      const VectorXd& weighted) {
  clear();
  take(fit_functionals(features, weight, weighted, noise_var_));
}

void WeightPosterior::take(WeightFit fit) {
  const MatrixXd& phi = basis_->factor;
  const Index r = phi.cols(), n = phi.rows();
  root_ = std::move(fit.root);
  log_det_ = fit.log_det;
  product_sweep(phi.data(), n, n, r, fit.mean.data(), 1.0, prior_mean_.data(), mean_.data());
  // variance_i = residual_i + |A' phi_i|^2, in blocks so that no second n x r matrix is made.
  constexpr Index block = 256;
  for (Index first = 0; first < n; first += block) {
    const Index count = std::min(block, n - first);
    const MatrixXd part = product(phi.middleRows(first, count), root_);
    variance_.segment(first, count) =
        basis_->residual.segment(first, count) + part.rowwise().squaredNorm();
  }
}

// The weights' mean is S sum_i (weighted_i / lambda) phi_i; S = A A' is known.
void WeightPosterior::refit_mean() {
  const MatrixXd& phi = basis_->factor;
  VectorXd target = VectorXd::Zero(rank());
  for (const Index arm : observed_arms()) {
    target += (weighted_[arm] / noise_var_) * row_of(phi, arm);
  }
  const VectorXd weights = rooted(multiply_transposed(root_, target));
  product_sweep(phi.data(), phi.rows(), phi.rows(), rank(), weights.data(), 1.0,
                prior_mean_.data(), mean_.data());
}

void WeightPosterior::drift(double rate) {
  const double keep = std::sqrt(1.0 - rate);
  mean_ = prior_mean_ + keep * (mean_ - prior_mean_);
  variance_ = (1.0 - rate) * variance_ + rate * table_->prior_variance;
  MatrixXd covariance = MatrixXd::Zero(rank(), rank());
  covariance.diagonal().setConstant(rate);
  add_tcrossprod_below(covariance, 1.0 - rate, root_);
  root_ = FlooredCholesky(covariance, rate).matrix();
  drifted_ = true;
}

void WeightPosterior::draw(Rng& rng, double scale, const VectorXd& base, Index first,
                           Eigen::Ref<MatrixXd> out) const {
  const MatrixXd& phi = basis_->factor;
  const Index n = out.rows();
  if (out.cols() == 1) {
    const VectorXd weights = rooted(rng.normals(rank()));
    product_sweep(phi.data() + first, phi.rows(), n, rank(), weights.data(), scale,
                  base.data() + first, out.data());
    return;
  }
  MatrixXd weights(rank(), out.cols());
  for (Index k = 0; k < out.cols(); ++k) weights.col(k) = rng.normals(rank());
  weights = product(root_, weights, scale);
  product_into(out, phi.middleRows(first, n), weights);
  out.colwise() += base.segment(first, n);
}

MatrixXd WeightPosterior::covariance(const std::vector<Index>& arms) const {
  MatrixXd features(static_cast<Index>(arms.size()), rank());
  for (std::size_t k = 0; k < arms.size(); ++k) {
    copy_row(features, static_cast<Index>(k), basis_->factor, arms[k]);
  }
  const MatrixXd rooted = product(features, root_);
  return tcrossprod(rooted, rooted);
}

// ---- a root of the covariance -------------------------------------------------------------------

RootPosterior::RootPosterior(ArmTablePtr table, LowRankPtr basis, double noise_var,
                             VectorXd prior_mean)
    : ArmPosterior(std::move(table), noise_var, std::move(prior_mean)), basis_(std::move(basis)) {
  forget();
}

void RootPosterior::forget() { root_ = basis_->factor; }

bool RootPosterior::refit_due() const { return updates_ >= kRefreshEvery; }

VectorXd RootPosterior::response(const VectorXd& at_arm) const {
  const Index n = root_.rows(), r = root_.cols();
  const VectorXd zero = VectorXd::Zero(n);
  VectorXd c(n);
  product_sweep(root_.data(), n, n, r, at_arm.data(), 1.0, zero.data(), c.data());
  return c;
}

double RootPosterior::condition(Index arm, double innovation, double noise) {
  // Potter, times Phi from the left: s = noise + |B_i|^2, B <- B - c B_i / potter_divisor.
  const VectorXd at_arm = row_of(root_, arm);
  VectorXd c = response(at_arm);
  const double s = noise + at_arm.squaredNorm();
  mean_ += (innovation / s) * c;
  for (Index i = 0; i < variance_.size(); ++i) variance_[i] = std::max(variance_[i] - c[i] * c[i] / s, 0.0);
  c /= potter_divisor(s, noise);
  subtract_outer(root_.data(), root_.rows(), root_.cols(), c.data(), at_arm.data());
  return s;
}

VectorXd RootPosterior::covariance_with(Index arm) const {
  const VectorXd row = row_of(root_, arm);
  return multiply(root_, row);
}

void RootPosterior::respond(Index arm, double step) {
  mean_ += step * response(row_of(root_, arm));
}

void RootPosterior::refit() {
  const MatrixXd& phi = basis_->factor;
  take(fit_weights(phi, observed_arms(), weight_, weighted_, noise_var_));
}

void RootPosterior::set_functionals(const MatrixXd& features, const VectorXd& weight,
                                    const VectorXd& weighted) {
  clear();
  take(fit_functionals(features, weight, weighted, noise_var_));
}

void RootPosterior::take(const WeightFit& fit) {
  const MatrixXd& phi = basis_->factor;
  root_ = product(phi, fit.root);
  mean_ = prior_mean_;
  add_multiple(mean_, 1.0, phi, fit.mean);
  variance_ = basis_->residual + root_.rowwise().squaredNorm();
  log_det_ = fit.log_det;
}

// mean - prior = B B' e with e_i = weighted_i / lambda.
void RootPosterior::refit_mean() {
  const Index n = root_.rows(), r = root_.cols();
  VectorXd target = VectorXd::Zero(r);
  for (const Index arm : observed_arms()) {
    target += (weighted_[arm] / noise_var_) * row_of(root_, arm);
  }
  product_sweep(root_.data(), n, n, r, target.data(), 1.0, prior_mean_.data(), mean_.data());
}

void RootPosterior::drift(double) {
  throw std::logic_error("a drifting prior needs the weights' own root: use WeightPosterior");
}

void RootPosterior::draw(Rng& rng, double scale, const VectorXd& base, Index first,
                         Eigen::Ref<MatrixXd> out) const {
  const Index n = out.rows();
  if (out.cols() == 1) {
    const VectorXd z = rng.normals(rank());
    product_sweep(root_.data() + first, root_.rows(), n, rank(), z.data(), scale,
                  base.data() + first, out.data());
    return;
  }
  MatrixXd z(rank(), out.cols());
  for (Index k = 0; k < out.cols(); ++k) z.col(k) = scale * rng.normals(rank());
  product_into(out, root_.middleRows(first, n), z);
  out.colwise() += base.segment(first, n);
}

MatrixXd RootPosterior::covariance(const std::vector<Index>& arms) const {
  MatrixXd rooted(static_cast<Index>(arms.size()), rank());
  for (std::size_t k = 0; k < arms.size(); ++k) {
    copy_row(rooted, static_cast<Index>(k), root_, arms[k]);
  }
  return tcrossprod(rooted, rooted);
}

// ---- the played points --------------------------------------------------------------------------

namespace {
constexpr Index kSlack = 32;               // rows beyond twice the distinct arms before compressing
constexpr double kKeptNumbers = 4e6;       // prior covariances kept (32 MB)
}  // namespace

PlayedPosterior::PlayedPosterior(ArmTablePtr table, double noise_var, VectorXd prior_mean)
    : ArmPosterior(std::move(table), noise_var, std::move(prior_mean)) {
  V_.resize(table_->size(), 16);
  forget();
}

void PlayedPosterior::forget() {
  rows_ = 0;
  sign_.clear();
  distinct_ = 0;
  is_distinct_.assign(static_cast<std::size_t>(table_->size()), 0);
}

// A drifted posterior is not a function of the statistics.
bool PlayedPosterior::refit_due() const {
  if (drifted_) return false;
  return rows_ >= 2 * distinct_ + kSlack || 2 * drops_ >= distinct_ + kSlack;
}

const double* PlayedPosterior::prior_row(Index arm) {
  const auto found = kept_rows_.find(arm);
  if (found != kept_rows_.end()) return found->second.data();
  const Index n = table_->size();
  scratch_.resize(n);
  table_->kernel->cross(row_of(*table_->points, arm), *table_->points, scratch_);
  const double kept = static_cast<double>(kept_rows_.size() + 1) * static_cast<double>(n);
  if (kept > kKeptNumbers) return scratch_.data();
  return kept_rows_.emplace(arm, scratch_).first->second.data();
}

void PlayedPosterior::make_room() {
  if (rows_ < V_.cols()) return;
  V_.conservativeResize(Eigen::NoChange, 2 * V_.cols());
}

VectorXd PlayedPosterior::signed_row(Index arm) const {
  VectorXd out(rows_);
  for (Index k = 0; k < rows_; ++k) out[k] = V_(arm, k) * sign_[static_cast<std::size_t>(k)];
  return out;
}

double PlayedPosterior::condition(Index arm, double innovation, double noise) {
  make_room();
  if (!is_distinct_[static_cast<std::size_t>(arm)]) ++distinct_;
  is_distinct_[static_cast<std::size_t>(arm)] = 1;
  const double* prior = prior_row(arm);
  const VectorXd at_arm = signed_row(arm);
  const double variance = prior[arm] - at_arm.dot(V_.row(arm).head(rows_).transpose());
  const double s = noisy_pivot(variance, noise);
  const double sign = s > 0.0 ? 1.0 : -1.0, scale = std::sqrt(std::abs(s));
  // The sweep subtracts row^2 from the variance; for a removed observation it has to be added.
  VectorXd before;
  if (sign < 0.0) before = variance_;
  append_sweep(V_.data(), V_.rows(), V_.rows(), rows_, at_arm.data(), prior, 1.0 / scale,
               sign * innovation / scale, V_.col(rows_).data(), mean_.data(), variance_.data());
  if (sign < 0.0) {
    for (Index i = 0; i < before.size(); ++i) variance_[i] = before[i] + V_(i, rows_) * V_(i, rows_);
  }
  sign_.push_back(sign);
  ++rows_;
  return s;
}

void PlayedPosterior::respond(Index arm, double step) {
  const Index n = table_->size();
  const VectorXd at_arm = signed_row(arm);
  const double* prior = prior_row(arm);
  VectorXd c(n);
  product_sweep(V_.data(), n, n, rows_, at_arm.data(), -1.0, prior, c.data());
  mean_ += step * c;
}

// One row per distinct arm: V = L^-1 K(played, all), L L' = K(played, played) + lambda / W.
void PlayedPosterior::refit() {
  const std::vector<Index> seen = observed_arms();
  const Index m = static_cast<Index>(seen.size()), n = table_->size();
  std::fill(is_distinct_.begin(), is_distinct_.end(), 0);
  distinct_ = m;
  rows_ = m;
  sign_.assign(static_cast<std::size_t>(m), 1.0);
  if (V_.cols() < m) V_.resize(n, std::max<Index>(m, 2 * V_.cols()));
  MatrixXd K(m, m);
  VectorXd target(m), noise(m);
  for (Index k = 0; k < m; ++k) {
    const Index arm = seen[static_cast<std::size_t>(k)];
    is_distinct_[static_cast<std::size_t>(arm)] = 1;
    V_.col(k) = Eigen::Map<const VectorXd>(prior_row(arm), n);
    noise[k] = effective_noise(noise_var_ / weight_[arm], table_->prior_variance[arm]);
    target[k] = weighted_[arm] / weight_[arm];
  }
  for (Index k = 0; k < m; ++k) {
    copy_row(K, k, V_, seen[static_cast<std::size_t>(k)]);
    K(k, k) += noise[k];
  }
  const FlooredCholesky factor(std::move(K), noise);
  solve_lower(factor.lower(), target);  // half of the solution
  constexpr Index block = 256;
  for (Index first = 0; first < n; first += block) {
    const Index count = std::min(block, n - first);
    auto part = V_.block(first, 0, count, m);
    solve_lower_transposed_rows(factor.lower(), part);
    mean_.segment(first, count) = prior_mean_.segment(first, count);
    add_multiple(mean_.segment(first, count), 1.0, part, target);
    variance_.segment(first, count) =
        (table_->prior_variance.segment(first, count) - part.rowwise().squaredNorm()).cwiseMax(0.0);
  }
  log_det_ = factor.log_det() - noise.array().log().sum();
}

void PlayedPosterior::draw(Rng&, double, const VectorXd&, Index, Eigen::Ref<MatrixXd>) const {
  throw std::logic_error("joint draws need the weight-space engine");
}

// (1 - rate) (K - V'V) + rate K = K - (keep V)'(keep V).
void PlayedPosterior::drift(double rate) {
  const double keep = std::sqrt(1.0 - rate);
  mean_ = prior_mean_ + keep * (mean_ - prior_mean_);
  variance_ = (1.0 - rate) * variance_ + rate * table_->prior_variance;
  V_.leftCols(rows_) *= keep;
  drifted_ = true;
}

MatrixXd PlayedPosterior::covariance(const std::vector<Index>& arms) const {
  const Index count = static_cast<Index>(arms.size());
  MatrixXd rows(count, rows_), signed_rows(count, rows_);
  Points points(count, table_->points->cols());
  for (Index k = 0; k < count; ++k) {
    copy_row(rows, k, V_, arms[static_cast<std::size_t>(k)]);
    set_row(signed_rows, k, signed_row(arms[static_cast<std::size_t>(k)]));
    copy_row(points, k, *table_->points, arms[static_cast<std::size_t>(k)]);
  }
  return table_->kernel->gram(points) - tcrossprod(signed_rows, rows);
}

// ---- a table of arms in contexts ----------------------------------------------------------------

// ---- any posterior ------------------------------------------------------------------------------

VectorXd SampledFunction::at(const Points&) const {
  throw std::logic_error("this draw is known at the candidates only");
}

double SampledFunction::at(const VectorXd&, VectorXd*) const {
  throw std::logic_error("this draw is known at the candidates only");
}

PriorMean::PriorMean(VectorXd values) : values_(std::move(values)) {
  if (values_.size() < 1) throw std::invalid_argument("a prior mean needs a number");
  if (all_equal(values_, values_[0])) values_.conservativeResize(1);
}

Index PriorMean::arm_of(double number) const {
  if (values_.size() == 1) return 0;
  const Index arm = static_cast<Index>(std::llround(number));
  if (arm < 0 || arm >= values_.size()) {
    throw std::invalid_argument("the prior mean differs by arm, and this point is none");
  }
  return arm;
}

MatrixXd Posterior::covariance(const Candidates&, const std::vector<Index>&) const {
  throw std::invalid_argument("engine \"" + engine() + "\" has no joint covariance of candidates");
}

VectorXd PriorMean::at(const Points& X) const {
  if (values_.size() == 1) return VectorXd::Constant(X.rows(), values_[0]);
  VectorXd out(X.rows());
  for (Index i = 0; i < X.rows(); ++i) out[i] = of_arm(arm_of(X(i, X.cols() - 1)));
  return out;
}

namespace {
std::invalid_argument no_sites(const Posterior& posterior) {
  return std::invalid_argument("engine \"" + posterior.engine() +
                               "\" takes rewards with Gaussian noise only");
}
}  // namespace

void Posterior::expect_sites(bool, bool) { throw no_sites(*this); }

SitePrior Posterior::site_prior(const std::vector<Functional>&, const SiteTerms&, bool) {
  throw no_sites(*this);
}

bool Posterior::set_sites(const std::vector<Functional>&, const SiteFit&) { throw no_sites(*this); }

void Posterior::set_awaited(const std::vector<Functional>&, const SiteFit&) { throw no_sites(*this); }

void Posterior::differences(const Candidates&, const Point&, VectorXd&, VectorXd&) const {
  throw std::invalid_argument("engine \"" + engine() + "\" knows no differences");
}

VectorXd Posterior::mean_of(const Points& X) const {
  VectorXd mean, ignored;
  predict(X, mean, ignored);
  return mean;
}

double Posterior::mean_of(const VectorXd& x, VectorXd& gradient) const {
  double mean, sd;
  VectorXd ignored;
  local(x, mean, sd, gradient, ignored);
  return mean;
}

void Posterior::local(const VectorXd&, double&, double&, VectorXd&, VectorXd&) const {
  throw std::logic_error("a table of arms has no gradient");
}

// ---- joint draws --------------------------------------------------------------------------------

// The covariance is singular if points repeat or the posterior is certain.
MatrixXd joint_draws(const MatrixXd& covariance, Rng& rng, Index count, double scale) {
  const Index n = covariance.rows();
  if (n == 0) return MatrixXd(0, count);
  MatrixXd z(n, count);
  for (Index c = 0; c < count; ++c) z.col(c) = rng.normals(n);
  return scale * rooted(covariance, z);
}

// ---- tables of arms and contexts ----------------------------------------------------------------

TablePosterior::TablePosterior(std::unique_ptr<ArmPosterior> engine, std::string name,
                               const Forgetting& forgetting)
    : engine_(std::move(engine)), name_(std::move(name)), forgetting_(forgetting) {}

// ---- updates by observations ----------------------------------------------

void TablePosterior::put(Pool& pool, const Entry& entry, double sign) const {
  const double weight = sign * weight_now(entry), y = centred(entry);
  pool.entries[static_cast<std::size_t>(entry.row)] += sign > 0.0 ? 1 : -1;
  if (pool.entries[static_cast<std::size_t>(entry.row)] == 0) {
    pool.weight[entry.row] = pool.weighted[entry.row] = 0.0;
  } else {
    pool.weight[entry.row] += weight;
    pool.weighted[entry.row] += weight * y;
  }
  pool.squares += weight * y * y;
}

TablePosterior::Pool TablePosterior::pooled() const {
  if (pool_) return *pool_;
  Pool pool;
  const Index n = engine_->prior_mean().size();
  pool.weight = VectorXd::Zero(n);
  pool.weighted = VectorXd::Zero(n);
  pool.entries.assign(static_cast<std::size_t>(n), 0);
  for (const Entry& entry : entries_) {
    if (entry.kept) put(pool, entry, 1.0);
  }
  return pool;
}

void TablePosterior::add(const Observation& o) {
  entries_.push_back({o.point.row, o.value, o.weight, o.round, true, log_scale_});
  if (forgetting_.fades()) return;
  if (pool_) {
    put(*pool_, entries_.back(), 1.0);
    stale_ = true;
  } else {
    engine_->add(o.point.row, o.value, o.weight);
  }
}

void TablePosterior::set_value(Index slot, double y) {
  const auto k = static_cast<std::size_t>(slot);
  Entry& entry = entries_[k];
  if (entry.value == y) return;
  if (!entry.kept) {
    entry.value = y;
  } else if (forgetting_.fades()) {
    entry.value = y;
    if (k < taken_in_) in_order_ = false;
  } else if (pool_) {
    put(*pool_, entry, -1.0);
    entry.value = y;
    put(*pool_, entry, 1.0);
    stale_ = true;
  } else {
    engine_->replace(entry.row, entry.value, y, entry.weight);
    entry.value = y;
  }
}

void TablePosterior::set_values(const std::vector<double>& y) {
  for (std::size_t k = 0; k < y.size(); ++k) entries_[k].value = y[k];
  if (forgetting_.fades()) {
    in_order_ = in_order_ && taken_in_ == 0;
    return;
  }
  const bool kept_pool = pool_ != nullptr;
  pool_.reset();
  Pool pool = pooled();
  if (kept_pool) {
    pool_ = std::make_unique<Pool>(std::move(pool));
    stale_ = true;
  } else {
    engine_->set_values(pool.weighted, pool.squares);
  }
}

void TablePosterior::drop(Index slot) {
  const auto k = static_cast<std::size_t>(slot);
  Entry& entry = entries_[k];
  if (!entry.kept) return;
  entry.kept = false;
  if (forgetting_.fades()) {
    if (k < taken_in_) in_order_ = false;
  } else if (pool_) {
    put(*pool_, entry, -1.0);
    stale_ = true;
  } else {
    engine_->drop(entry.row, entry.value, entry.weight);
  }
}

void TablePosterior::rescale(double factor) {
  if (!pool_) pool_ = std::make_unique<Pool>(pooled());
  log_scale_ += std::log(factor);
  pool_->weight *= factor;
  pool_->weighted *= factor;
  pool_->squares *= factor;
  stale_ = true;
}

void TablePosterior::clear() {
  engine_->clear();
  entries_.clear();
  pool_.reset();
  stale_ = false;
  taken_in_ = 0;
  in_order_ = true;
  compares_ = false;
}

// ---- sites -------------------------------------------------------------------

void TablePosterior::expect_sites(bool compares, bool) {
  if (forgetting_.fades()) throw std::invalid_argument("a prior that drifts takes rewards with Gaussian noise only");
  if (compares && !engine_->features()) {
    throw std::invalid_argument("engine \"played\" takes no comparisons; \"weights\" does");
  }
}

SitePrior TablePosterior::site_prior(const std::vector<Functional>& functionals, const SiteTerms&, bool) {
  return prior_of(functionals);
}

SitePrior TablePosterior::prior_of(const std::vector<Functional>& functionals) const {
  const Index t = static_cast<Index>(functionals.size());
  const VectorXd& prior = engine_->prior_mean();
  const MatrixXd* phi = engine_->features();
  SitePrior out;
  out.mean.resize(t);
  Points X(phi ? 0 : t, engine_->table().points->cols());
  if (phi) out.features.resize(t, phi->cols());
  for (Index i = 0; i < t; ++i) {
    const Functional& one = functionals[static_cast<std::size_t>(i)];
    out.mean[i] = prior[one.point.row] - (one.compares ? prior[one.other.row] : 0.0);
    if (!phi) {
      copy_row(X, i, *engine_->table().points, one.point.row);
      continue;
    }
    VectorXd features = row_of(*phi, one.point.row);
    if (one.compares) features -= row_of(*phi, one.other.row);
    set_row(out.features, i, features);
  }
  if (!phi) out.gram = engine_->table().kernel->gram(X);
  return out;
}

bool TablePosterior::set_sites(const std::vector<Functional>& functionals, const SiteFit& fit) {
  clear();
  const SitePrior prior = prior_of(functionals);
  const double lambda = engine_->noise_var();
  const Index t = fit.weight.size();
  const VectorXd weight = lambda * fit.weight;
  const VectorXd weighted = lambda * (fit.weighted - times(fit.weight, prior.mean));
  compares_ = t > 0 && functionals[0].compares;
  if (compares_) {
    engine_->set_functionals(prior.features, weight, weighted);
    return true;
  }
  VectorXd weight_of(VectorXd::Zero(engine_->prior_mean().size())), weighted_of = weight_of;
  double squares = 0.0;
  for (Index i = 0; i < t; ++i) {
    const Index row = functionals[static_cast<std::size_t>(i)].point.row;
    weight_of[row] = weight[i];
    weighted_of[row] = weighted[i];
    squares += weighted[i] / weight[i] * weighted[i];
    entries_.push_back({row, fit.weighted[i] / fit.weight[i], weight[i], 0, true, log_scale_});
  }
  if (t > 0) engine_->set_statistics(weight_of, weighted_of, squares);
  return true;
}

// ---- postponed updates ------------------------------------------------------

// The drift is applied round by round, so that the result is the same, bit for bit, whenever predictions were
// requested.
void TablePosterior::drift_to(Index round) const {
  if (taken_in_ > 0) {
    for (Index now = reached_; now < round; ++now) engine_->drift(forgetting_.rate);
  }
  reached_ = round;
}

// Adds the pending observations to the engine, in the order of their rounds.
void TablePosterior::take_in_by_round() const {
  const auto earlier = [](const Entry* a, const Entry* b) { return a->round < b->round; };
  const auto waiting = [&] {
    std::vector<const Entry*> out;
    for (std::size_t k = taken_in_; k < entries_.size(); ++k) {
      if (entries_[k].kept) out.push_back(&entries_[k]);
    }
    std::stable_sort(out.begin(), out.end(), earlier);
    return out;
  };
  std::vector<const Entry*> order = waiting();
  if (!order.empty() && taken_in_ > 0 && order.front()->round < reached_) in_order_ = false;
  if (!in_order_) {
    engine_->clear();
    taken_in_ = 0;
    in_order_ = true;
    order = waiting();
  }
  for (const Entry* entry : order) {
    drift_to(entry->round);
    engine_->add(entry->row, entry->value, entry->weight);
    ++taken_in_;
  }
  taken_in_ = entries_.size();
  drift_to(now_);
}

const ArmPosterior& TablePosterior::settled() const {
  if (forgetting_.fades()) {
    take_in_by_round();
  } else if (stale_) {
    if (pool_->weight.maxCoeff() > 0.0) {
      engine_->set_statistics(pool_->weight, pool_->weighted, pool_->squares);
    } else {
      engine_->clear();
    }
    stale_ = false;
  }
  return *engine_;
}

// ---- predictions ------------------------------------------------------------

void TablePosterior::at(const Point& point, double& mean, double& sd) const {
  const ArmPosterior& all = settled();
  mean = all.mean()[point.row];
  sd = std::sqrt(all.variance()[point.row]);
}

Moments TablePosterior::moments(const Candidates& candidates) const {
  const ArmPosterior& all = settled();
  return {all.mean().data() + candidates.first, all.variance().data() + candidates.first};
}

// Predictions at points that need not be arms. Uses the dense formula over the distinct played arms, each with its mean
// value and noise lambda / weight. If the prior drifts, all observations are used.
void TablePosterior::predict(const Points& X, VectorXd& mean, VectorXd& variance) const {
  if (compares_) throw std::invalid_argument("comparisons of arms say nothing of points that are no arms");
  const ArmTable& table = engine_->table();
  const VectorXd& prior = engine_->prior_mean();
  DensePosterior dense(table.kernel, engine_->noise_var());
  if (forgetting_.fades()) {
    dense.set_fading(forgetting_.rate);
    for (const Entry& e : entries_) {
      if (!e.kept) continue;
      dense.add(row_of(*table.points, e.row), centred(e), 1.0 / e.weight, e.round);
    }
    dense.set_now(now_);
  } else {
    const Pool pool = pooled();
    std::vector<Index> seen;
    for (Index i = 0; i < pool.weight.size(); ++i) {
      if (pool.weight[i] > 0.0) seen.push_back(i);
    }
    const Index m = static_cast<Index>(seen.size());
    Points played(m, table.points->cols());
    VectorXd target(m), noise_scale(m);
    for (Index k = 0; k < m; ++k) {
      const Index i = seen[static_cast<std::size_t>(k)];
      copy_row(played, k, *table.points, i);
      target[k] = pool.weighted[i] / pool.weight[i];
      noise_scale[k] = 1.0 / pool.weight[i];
    }
    if (m > 0) dense.add(played, target, noise_scale);
  }
  dense.predict(X, mean, variance);
  mean += PriorMean(prior).at(X);
}

MatrixXd TablePosterior::covariance(const Candidates& candidates,
                                    const std::vector<Index>& some) const {
  std::vector<Index> rows = some;
  for (Index& row : rows) row += candidates.first;
  return settled().covariance(rows);
}

void TablePosterior::differences(const Candidates& candidates, const Point& from, VectorXd& mean,
                                 VectorXd& variance) const {
  const ArmPosterior& all = settled();
  const VectorXd covariance = all.covariance_with(from.row);
  mean.resize(candidates.count);
  variance.resize(candidates.count);
  for (Index i = 0; i < candidates.count; ++i) {
    const Index row = candidates.first + i;
    mean[i] = all.mean()[row] - all.mean()[from.row];
    variance[i] = std::max(all.variance()[row] - 2.0 * covariance[row] + all.variance()[from.row], 0.0);
  }
  if (from.row >= candidates.first && from.row < candidates.first + candidates.count) {
    variance[from.row - candidates.first] = 0.0;
  }
}

VectorXd TablePosterior::means_at(const std::vector<const Point*>& points,
                                  const std::vector<Index>&) const {
  const VectorXd& mean = settled().mean();
  VectorXd out(static_cast<Index>(points.size()));
  for (std::size_t k = 0; k < points.size(); ++k) out[static_cast<Index>(k)] = mean[points[k]->row];
  return out;
}

Index TablePosterior::best_slot() const {
  const VectorXd& mean = settled().mean();
  Index best = -1;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    if (!entries_[k].kept) continue;
    if (best < 0 || mean[entries_[k].row] > mean[entries_[static_cast<std::size_t>(best)].row]) {
      best = static_cast<Index>(k);
    }
  }
  return best;
}

std::unique_ptr<SampledFunction> TablePosterior::sample(const Posterior& centre,
                                                        const Candidates& candidates,
                                                        double scale, Rng& rng) const {
  VectorXd values(candidates.count);
  sample_all(centre, candidates, scale, rng, values);
  return std::make_unique<SetDraw>(std::move(values));
}

void TablePosterior::sample_all(const Posterior& centre, const Candidates& candidates,
                                double scale, Rng& rng, Eigen::Ref<MatrixXd> out) const {
  const Candidates whole{0, engine_->prior_mean().size(), Points(), true, nullptr};
  const Eigen::Map<const VectorXd> mean(centre.moments(whole).mean, whole.count);
  settled().draw(rng, scale, mean, candidates.first, out);
}

// ---- joint maxima -------------------------------------------------------------------------------

namespace {

constexpr Index kMostPoints = 1000;  // with more points, a factor of their covariance takes longer than the draws
constexpr double kLeftOut = 1e-9;
constexpr Index kBlock = 64;  // draws per matrix product

// A pivoted factor of a covariance; its number of columns is the numerical rank, see pivot_tolerance().
MatrixXd pivoted_root(const MatrixXd& covariance) {
  const Index n = covariance.rows();
  VectorXd left = covariance.diagonal();
  const double least = kResidualOfVariance * std::max(left.maxCoeff(), 0.0);
  MatrixXd root(n, n);
  Index rank = 0, pivot;
  for (; rank < n && left.maxCoeff(&pivot) > least; ++rank) {
    VectorXd column = covariance.col(pivot);
    if (rank > 0) {
      const VectorXd row = row_of(root, pivot, 0, rank);
      add_multiple(column, -1.0, root.leftCols(rank), row);
    }
    root.col(rank) = column / std::sqrt(left[pivot]);
    for (Index i = 0; i < n; ++i) left[i] -= root(i, rank) * root(i, rank);
    left[pivot] = 0.0;
  }
  return root.leftCols(rank);
}

}  // namespace

// P(f(x) > f(point)) is at most exp(-z^2 / 2) / 2. Here z is the difference of the means over the sum of the sds, which
// is at least the difference's sd.
JointMaxima::Model JointMaxima::model_of(const Posterior& known, double weight, const Candidates& all, Index point) {
  const Moments moments = known.moments(all);
  const Index n = all.size();
  const double reach = std::sqrt(2.0 * std::log(static_cast<double>(n) / (2.0 * kLeftOut)));
  const auto sd = [&moments](Index i) { return std::sqrt(std::max(moments.variance[i], 0.0)); };
  std::vector<Index> kept{point};
  for (Index i = 0; i < n; ++i) {
    if (i == point) continue;
    if (moments.mean[point] - moments.mean[i] <= reach * (sd(i) + sd(point))) kept.push_back(i);
  }
  Model out;
  out.weight = weight;
  out.mean.resize(static_cast<Index>(kept.size()));
  for (std::size_t k = 0; k < kept.size(); ++k) out.mean[static_cast<Index>(k)] = moments.mean[kept[k]];
  out.root = pivoted_root(known.covariance(all, kept));
  return out;
}

std::unique_ptr<JointMaxima> JointMaxima::of(const Posterior& known, const Candidates& all, Index point) {
  if (!all.complete || all.size() > kMostPoints) return nullptr;
  auto out = std::make_unique<JointMaxima>();
  for (Index k = 0; k < known.models(); ++k) {
    out->models_.push_back(model_of(known.model(k), known.model_weight(k), all, point));
  }
  return out;
}

void JointMaxima::draw_of(const Model& model, const std::vector<Index>& rows, Rng& rng, MatrixXd& out) const {
  const Index n = model.mean.size(), rank = model.root.cols();
  MatrixXd z, values;
  for (std::size_t from = 0; from < rows.size(); from += kBlock) {
    const Index count = std::min(kBlock, static_cast<Index>(rows.size() - from));
    z.resize(rank, count);
    for (Index k = 0; k < z.size(); ++k) z.data()[k] = rng.normal();
    values.resize(n, count);
    if (rank > 0) product_into(values, model.root, z);
    else values.setZero();
    values.colwise() += model.mean;
    for (Index k = 0; k < count; ++k) {
      const Index row = rows[from + static_cast<std::size_t>(k)];
      out(row, 0) = values.col(k).maxCoeff();
      out(row, 1) = values(0, k);
    }
  }
}

MatrixXd JointMaxima::draw(Index draws, Rng& rng) const {
  std::vector<std::vector<Index>> rows(models_.size());
  for (Index k = 0; k < draws; ++k) {
    std::size_t chosen = 0;
    if (models_.size() > 1) {
      double left = rng.uniform();
      for (; chosen + 1 < models_.size(); ++chosen) {
        left -= models_[chosen].weight;
        if (left < 0.0) break;
      }
    }
    rows[chosen].push_back(k);
  }
  MatrixXd out(draws, 2);
  for (std::size_t k = 0; k < models_.size(); ++k) draw_of(models_[k], rows[k], rng, out);
  return out;
}

}  // namespace gpb
