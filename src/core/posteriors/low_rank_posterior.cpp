// Functions of low_rank_posterior.h: observations, predictions and draws. low_rank_posterior_fit.cpp has the basis.
// Uses linalg/.
#include "posteriors/low_rank_posterior.h"

#include "linalg/floors.h"
#include "linalg/mirror.h"
#include "linalg/products.h"
#include "linalg/room.h"
#include "linalg/rows_of.h"
#include "linalg/sweeps.h"
#include "posteriors/joint_draw.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

constexpr Index kPredictBlock = 256;
constexpr Index kSweepRows = 256;
// See rows_of_largest_means().
constexpr Index kOutlinedRank = 128, kOutlinedRows = 1024;
constexpr Index kDirections = 48;
constexpr int kOutlineSteps = 3;
constexpr Index kFewLeft = 32;  // while at most this part of the rows is left
constexpr std::size_t kMostKept = 4;  // rows are kept for each that is left
constexpr double kRoundedSums = 1e-11;  // of sums of some hundred terms, and of nearly orthonormal directions
constexpr Index kRefreshEvery = 4096;  // rank-one steps, each a rounding error
// An observation is dropped by a rank-one step if at least this part of the pivot remains.
constexpr double kSafeDrop = 1e-4;
constexpr double kHiddenPart = 1e-12;  // rounding error of a residual over the noise

std::size_t hash_of(const VectorXd& x) {
  std::size_t out = 0;
  for (Index c = 0; c < x.size(); ++c) {
    // 0 + x makes both zeros equal.
    out = out * 1099511628211u + std::hash<double>()(0.0 + x[c]);
  }
  return out;
}

// Orthogonalises twice because of rounding errors; columns that consist of rounding errors become 0.
void make_orthonormal(MatrixXd& U) {
  for (Index c = 0; c < U.cols(); ++c) {
    VectorXd column = U.col(c);
    const double before = column.norm();
    for (int k = 0; k < 2 && c > 0; ++k) {
      const auto others = U.leftCols(c);
      add_multiple(column, -1.0, others, multiply_transposed(others, column));
    }
    const double left = column.norm();
    if (left > kLostDigits * before) U.col(c) = column / left;
    else U.col(c).setZero();
  }
}

double clip(double value, double most) { return std::min(most, std::max(-most, value)); }

}  // namespace

LowRankPosterior::LowRankPosterior(KernelPtr kernel, double noise_var, double accuracy,
                                   double largest_share, LowRankAnswers answers)
    : noise_var_(noise_var),
      accuracy_(accuracy),
      largest_share_(largest_share),
      answers_(answers),
      basis_(kernel) {
  if (!kernel) throw_invalid("a posterior needs a kernel");
  if (!(noise_var > 0.0) || !std::isfinite(noise_var)) {
    throw_invalid("the noise variance must be positive");
  }
  if (!(accuracy > 0.0) || !std::isfinite(accuracy)) {
    throw_invalid("the accuracy must be positive");
  }
}

// ---- observations ---------------------------------------------------------------------------

void LowRankPosterior::check_point(Index inputs) const {
  if (inputs_ >= 0 && inputs != inputs_ && !compares_) {
    throw_invalid("a point has " + std::to_string(inputs) + " inputs, not " + std::to_string(inputs_));
  }
}

Index LowRankPosterior::find_row(const VectorXd& x) const {
  const auto range = row_by_hash_.equal_range(hash_of(x));
  for (auto it = range.first; it != range.second; ++it) {
    if (points_.row(it->second).transpose() == x) return it->second;
  }
  return -1;
}

void LowRankPosterior::make_room(const VectorXd& x) {
  const Index before = points_.rows();
  gpb::make_room(points_, rows_ + 1, x.size());
  gpb::make_room(features_, rows_ + 1, rank());
  const Index room = points_.rows();
  points_.bottomRows(room - before).rowwise() = x.transpose();
  for (VectorXd* v : {&variance_, &residual_, &resolution_, &weight_, &weighted_}) {
    if (v->size() < room) v->conservativeResize(room);
  }
  if (reference_.kept && reference_.dual.size() < room) {
    reference_.dual.conservativeResize(room);
    reference_.dual.tail(room - before).setZero();
  }
}

// The row of a point. A new row without observations is added if necessary.
Index LowRankPosterior::row_of(const VectorXd& x) {
  const Index found = find_row(x);
  if (found >= 0) return found;
  const Coordinates at_x = basis_.at(x);
  inputs_ = x.size();
  make_room(x);
  const Index row = rows_++;
  points_.row(row) = x.transpose();
  features_.row(row).head(rank()) = at_x.phi.transpose();
  variance_[row] = at_x.variance;
  residual_[row] = std::max(0.0, at_x.residual);
  resolution_[row] = basis_.rounding(at_x);
  weight_[row] = weighted_[row] = 0.0;
  count_.push_back(0);
  in_basis_.push_back(0);
  row_by_hash_.emplace(hash_of(x), row);
  return row;
}

void LowRankPosterior::add(const VectorXd& x, double y, double noise_scale) {
  check_point(x.size());
  const Index row = row_of(x);
  if (sparse()) return add_sparse(row, y, noise_scale);
  const double weight = weight_[row] + 1.0 / noise_scale;
  const bool cheap = rank() < kCheapRank;
  if (cheap && residual_[row] * weight > allowance() && may_join(row)) extend(row);
  const double innovation = y - feature_row(row).dot(weights());
  observe(row, y, noise_scale);
  observations_.back().innovation = innovation * innovation / weigh(row, 1.0 / noise_scale);
  innovations_ += observations_.back().innovation;
  tighten();
}

// Updates the values at a row; its weight in the precision is updated separately.
void LowRankPosterior::observe(Index row, double y, double noise_scale) {
  observations_.push_back({row, y, noise_scale, true, 0.0});
  ++known_;
  ++count_[static_cast<std::size_t>(row)];
  squares_ += y * y / noise_scale;
  change_values(row, y / noise_scale, 1.0 / noise_scale);
}

// Changes weighted_, weight_ and the sums over them, at a row.
void LowRankPosterior::change_values(Index row, double weighted, double weight) {
  follow_reference(row, weighted, weight);
  const auto share = [this, row] {
    return weight_[row] > 0.0 ? weighted_[row] * weighted_[row] / weight_[row] : 0.0;
  };
  row_squares_ -= share();
  weighted_[row] += weighted;
  weight_[row] += weight;
  if (count_[static_cast<std::size_t>(row)] == 0) weighted_[row] = weight_[row] = 0.0;
  row_squares_ += share();
  target_.noalias() += feature_row(row) * (weighted / noise_var_);
  weights_valid_ = of_basis_valid_ = false;
}

// Adds weight / noise_var phi phi' to P; a negative weight removes an observation. Returns the observation's variance
// including its noise (negative for a removal).
double LowRankPosterior::weigh(Index row, double weight) {
  weights_valid_ = of_basis_valid_ = false;
  count_left_out(row, weight);
  VectorXd half = feature_row(row);
  precision_.forward(half);
  const double noise = noise_var_ / weight;
  const double sign = weight > 0.0 ? 1.0 : -1.0;
  if (sign < 0.0 && !can_drop(half.squaredNorm(), -noise)) {
    refit();
    return noise;
  }
  VectorXd gain = half;
  precision_.backward(gain);
  const double s = noise + half.squaredNorm();
  record({false, std::move(gain), s});
  precision_.update(half / std::sqrt(std::abs(noise)), sign);
  if (++updates_ >= kRefreshEvery) refit();
  return s;
}

bool LowRankPosterior::can_drop(double variance, double noise) {
  const double scale = rows_ > 0 ? variance_.head(rows_).maxCoeff() : 0.0;
  // Each step leaves a rounding error in the precision, relative to the prior's precision.
  const double ratio = 1.0 + weight_.head(rows_).sum() * scale / noise_var_;
  return variance < (1.0 - kSafeDrop) * noise &&
         !loses_digits(static_cast<double>(++drops_) * ratio);
}

void LowRankPosterior::drop(Index i) {
  if (i < 0 || i >= size()) throw_invalid("no such observation");
  Observation& gone = at(i);
  if (!gone.known) return;
  gone.known = false;
  begin_version();
  --known_;
  const auto row = static_cast<std::size_t>(gone.row);
  if (--count_[row] == 0) ++dead_rows_;
  squares_ -= gone.y * gone.y / gone.noise_scale;
  change_values(gone.row, -gone.y / gone.noise_scale, -1.0 / gone.noise_scale);
  if (known_ == 0 || 2 * dead_rows_ > rows_ + kFewRows) {
    rebuild();
  } else {
    weigh(gone.row, -1.0 / gone.noise_scale);
  }
  tighten();
}

void LowRankPosterior::set_target(Index i, double y) {
  change_target(i, y);
  tighten();
}

void LowRankPosterior::change_target(Index i, double y) {
  if (i < 0 || i >= size()) throw_invalid("no such observation");
  Observation& changed = at(i);
  const double step = y - changed.y;
  if (step == 0.0) return;
  if (changed.known) {
    squares_ += (y * y - changed.y * changed.y) / changed.noise_scale;
    change_values(changed.row, step / changed.noise_scale, 0.0);
    changes_ += 2.0 * std::abs(step) / std::sqrt(noise_var_ * changed.noise_scale);
  }
  changed.y = y;
}

void LowRankPosterior::set_targets(const VectorXd& y) {
  if (y.size() != size()) throw_invalid("targets and observations differ in number");
  forget_reference();
  for (Index i = 0; i < y.size(); ++i) change_target(i, y[i]);
  tighten();
}

void LowRankPosterior::set_noise_scales(const VectorXd& noise_scale) {
  if (noise_scale.size() != size()) {
    throw_invalid("noise scales and observations differ in number");
  }
  for (Index i = 0; i < size(); ++i) at(i).noise_scale = at(i).given_scale = noise_scale[i];
  begin_version();
  if (sparse()) return weigh_left_out();
  rebuild_statistics();
  refit();
  tighten();
}

void LowRankPosterior::set_observations(const VectorXd& y, const VectorXd& noise_scale) {
  if (y.size() != size() || noise_scale.size() != size()) {
    throw_invalid("values, noise scales and observations differ in number");
  }
  for (Index i = 0; i < size(); ++i) {
    at(i).y = y[i];
    at(i).noise_scale = noise_scale[i];
  }
  begin_version();
  rebuild_statistics();
  measured_at_ = 0;
  refit();
}

MatrixXd LowRankPosterior::features() const {
  MatrixXd out(size(), rank());
  for (Index i = 0; i < size(); ++i) out.row(i) = features_.row(at(i).row).head(rank());
  return out;
}

Points LowRankPosterior::observed_points() const {
  Points out(size(), inputs_);
  for (Index i = 0; i < size(); ++i) out.row(i) = points_.row(at(i).row);
  return out;
}

VectorXd LowRankPosterior::left_out() const {
  VectorXd out(size());
  for (Index i = 0; i < size(); ++i) out[i] = residual_[at(i).row];
  return out;
}

void LowRankPosterior::add(const Points& X, const VectorXd& y, const VectorXd& noise_scale) {
  if (y.size() != X.rows() || noise_scale.size() != X.rows()) {
    throw_invalid("points and targets differ in number");
  }
  if (X.rows() == 0) return;
  check_point(X.cols());
  // Without a basis a new row costs nothing. The basis is chosen once all rows are there.
  clear_basis();
  begin_version();
  for (Index i = 0; i < X.rows(); ++i) {
    const Index row = row_of(X.row(i).transpose());
    observe(row, y[i], noise_scale[i]);
  }
  rebuild();
}

// Removes rows without observations and recomputes the sums. (Without such rows nothing is renumbered, because hashing
// all points again takes as long as a fit to them.)
void LowRankPosterior::rebuild_statistics() {
  forget_reference();
  dead_rows_ = 0;
  if (std::find(count_.begin(), count_.end(), 0) != count_.end()) {
    std::vector<Index> renumbered(static_cast<std::size_t>(rows_), -1);
    Index kept = 0;
    for (Index row = 0; row < rows_; ++row) {
      const auto k = static_cast<std::size_t>(row);
      if (count_[k] == 0) continue;
      renumbered[k] = kept;
      points_.row(kept) = points_.row(row);
      features_.row(kept) = features_.row(row);
      variance_[kept] = variance_[row];
      residual_[kept] = residual_[row];
      resolution_[kept] = resolution_[row];
      count_[static_cast<std::size_t>(kept)] = count_[k];
      in_basis_[static_cast<std::size_t>(kept)] = in_basis_[k];
      ++kept;
    }
    rows_ = kept;
    count_.resize(static_cast<std::size_t>(kept));
    in_basis_.resize(static_cast<std::size_t>(kept));
    row_by_hash_.clear();
    for (Index row = 0; row < rows_; ++row) {
      row_by_hash_.emplace(hash_of(points_.row(row).transpose()), row);
    }
    for (Observation& o : observations_) {
      if (o.row >= 0) o.row = renumbered[static_cast<std::size_t>(o.row)];
    }
  }
  weight_.setZero();
  weighted_.setZero();
  squares_ = 0.0;
  for (const Observation& o : observations_) {
    if (!o.known) continue;
    weight_[o.row] += 1.0 / o.noise_scale;
    weighted_[o.row] += o.y / o.noise_scale;
    squares_ += o.y * o.y / o.noise_scale;
  }
  row_squares_ = 0.0;
  for (Index row = 0; row < rows_; ++row) {
    row_squares_ += weighted_[row] * weighted_[row] / weight_[row];
  }
}

void LowRankPosterior::clear() {
  const bool compares = compares_;
  *this = LowRankPosterior(basis_.kernel_pointer(), noise_var_, accuracy_, largest_share_, answers_);
  compares_ = compares;
}

// ---- predictions ----------------------------------------------------------------------------

const VectorXd& LowRankPosterior::weights() const {
  if (!weights_valid_) {
    weights_ = target_;
    precision_.forward(weights_);
    precision_.backward(weights_);
    weights_valid_ = true;
    on_points_valid_ = dual_valid_ = false;
  }
  return weights_;
}

const VectorXd& LowRankPosterior::weights_on_points() const {
  const VectorXd& w = weights();
  if (!on_points_valid_) on_points_ = basis_.on_points(w);
  on_points_valid_ = true;
  return on_points_;
}

void LowRankPosterior::predict_at(const VectorXd& x, double& mean, double& variance) const {
  check_point(x.size());
  Coordinates at_x = basis_.at(x);
  mean = at_x.phi.dot(weights());
  precision_.forward(at_x.phi);
  const double inside = at_x.phi.squaredNorm();
  variance = std::max(0.0, at_x.residual + inside);
  if (!corrects()) return;
  if (error_at(inside, at_x.residual, certificate_of_basis()).largest() <= accuracy_) return;
  VectorXd one_mean, one_variance;
  correct(x.transpose(), one_mean, one_variance);
  mean = one_mean[0];
  variance = one_variance[0];
}

void LowRankPosterior::predict(const Points& X, VectorXd& mean, VectorXd& variance) const {
  std::vector<LowRankError> errors;
  predict_by_basis(X, mean, variance, corrects() ? &errors : nullptr);
  std::vector<Index> rough;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (errors[i].largest() > accuracy_) rough.push_back(static_cast<Index>(i));
  }
  if (rough.empty()) return;
  VectorXd better_mean, better_variance;
  correct(rows_of(X, rough), better_mean, better_variance);
  for (std::size_t k = 0; k < rough.size(); ++k) {
    mean[rough[k]] = better_mean[static_cast<Index>(k)];
    variance[rough[k]] = better_variance[static_cast<Index>(k)];
  }
}

void LowRankPosterior::predict_by_basis(const Points& X, VectorXd& mean, VectorXd& variance,
                                        std::vector<LowRankError>* errors) const {
  check_point(X.cols());
  mean.resize(X.rows());
  variance.resize(X.rows());
  const LowRankError anywhere = errors ? certificate_of_basis() : LowRankError();
  for (Index first = 0; first < X.rows(); first += kPredictBlock) {
    const Index count = std::min(kPredictBlock, X.rows() - first);
    const BasisMoments by_basis = basis_moments(X.middleRows(first, count));
    mean.segment(first, count) = by_basis.mean;
    // Rounding errors in the coordinates cancel in this sum, so only the sum may be clipped.
    variance.segment(first, count) = (by_basis.inside + by_basis.outside).cwiseMax(0.0);
    for (Index i = 0; errors && i < count; ++i) {
      errors->push_back(error_at(by_basis.inside[i], by_basis.outside[i], anywhere));
    }
  }
}

// variance = k(x, x) - |phi|^2 + |M^-1 phi|^2.
LowRankPosterior::BasisMoments LowRankPosterior::basis_moments(const Points& X) const {
  const Index n = X.rows(), r = rank();
  const VectorXd& w = weights();
  Panels phi(n);
  phi.reserve(r, 0);
  basis_.at(X, phi);
  const VectorXd zero = VectorXd::Zero(phi.count() * Panels::kWidth);
  VectorXd inside = zero, spanned = zero, left = zero, ignored = zero;
  accumulate_rows(phi, 0, r, w.data(), inside.data(), spanned.data());
  forward_solve(precision_.packed(), 0, r, phi);
  accumulate_rows(phi, 0, r, w.data(), ignored.data(), left.data());
  VectorXd own(n);
  basis_.kernel().diagonal(X, own);
  return {inside.head(n), left.head(n), own - spanned.head(n)};
}

// The first-order terms in C, in the notation of low_rank_posterior_fit.cpp:
//   mean += b'g,   variance -= 2 a'C b,   R b = k(X, x) - Phi phi at the played points.
// Both are limited to their largest possible size.
void LowRankPosterior::correct(const Points& X, VectorXd& mean, VectorXd& variance) const {
  mean.resize(X.rows());
  variance.resize(X.rows());
  const double c = coupling(), g = certificate_of_basis().mean;
  for (Index i = 0; i < X.rows(); ++i) {
    const VectorXd x = X.row(i).transpose();
    const Coordinates at_x = basis_.at(x);
    VectorXd solved = at_x.phi;
    precision_.forward(solved);
    const double inside = solved.squaredNorm(), outside = std::max(0.0, at_x.residual);
    precision_.backward(solved);
    const Coupling found = coupled_to(x, at_x.phi, solved);
    const double most = c * std::sqrt(inside * outside);
    mean[i] = at_x.phi.dot(weights()) + clip(found.mean, std::sqrt(outside) * g);
    variance[i] = inside + std::max(0.0, outside - 2.0 * clip(found.variance, most));
  }
}

// b'g and a'C b. One pass over the features serves both products.
LowRankPosterior::Coupling LowRankPosterior::coupled_to(const VectorXd& x, const VectorXd& phi,
                                                        const VectorXd& solved) const {
  Coupling out;
  VectorXd cross(points_.rows());
  if (rows_ > 0) basis_.kernel().cross(x, points_, cross);
  const VectorXd zero = VectorXd::Zero(kSweepRows);
  VectorXd beyond(kSweepRows), within(kSweepRows);
  const Index stride = features_.rows();
  for (Index first = 0; first < rows_; first += kSweepRows) {
    const Index count = std::min(kSweepRows, rows_ - first);
    const double* features = features_.data() + first;
    product_sweep(features, stride, count, rank(), phi.data(), -1.0, cross.data() + first,
                  beyond.data());
    product_sweep(features, stride, count, rank(), solved.data(), 1.0, zero.data(), within.data());
    for (Index i = 0; i < count; ++i) {
      if (in_basis_[static_cast<std::size_t>(first + i)]) continue;
      out.mean += dual()[first + i] * beyond[i];
      out.variance += within[i] * weight_[first + i] / noise_var_ * beyond[i];
    }
  }
  return out;
}

const VectorXd& LowRankPosterior::dual() const {
  weights();
  if (dual_valid_) return dual_;
  const VectorXd left = weighted_.head(rows_) - weight_.head(rows_).cwiseProduct(means_at_rows());
  dual_ = left / noise_var_;
  dual_valid_ = true;
  return dual_;
}

VectorXd LowRankPosterior::means_at_rows() const {
  const VectorXd zero = VectorXd::Zero(rows_);
  VectorXd mean(rows_);
  product_sweep(features_.data(), features_.rows(), rows_, rank(), weights().data(), 1.0,
                zero.data(), mean.data());
  return mean;
}

VectorXd LowRankPosterior::predict_mean(const Points& X) const {
  check_point(X.cols());
  VectorXd mean = VectorXd::Zero(X.rows());
  VectorXd values(X.rows());
  for (Index i = 0; i < rank(); ++i) {
    basis_.kernel().cross(basis_.point(i), X, values);
    mean += weights_on_points()[i] * values;
  }
  return mean;
}

VectorXd LowRankPosterior::means_at_observations() const {
  const VectorXd mean = means_at_rows();
  VectorXd out = VectorXd::Zero(size());
  for (Index i = 0; i < size(); ++i) {
    if (knows(i)) out[i] = mean[at(i).row];
  }
  return out;
}

// Let U'U = I, let w be the weights, w0 the earlier weights and s = w - w0. A row's mean is then
//   phi'w0 + (U'phi)'(U's) + (phi - U U'phi)'(s - U U's).
// If the rows are long mainly along U, the last term is small: at most |phi - U U'phi| |s - U U's|. The stored values
// remain valid while the basis only grows, rows are added and the weights change.
bool LowRankPosterior::outlined() const {
  return outline_.posterior_id == posterior_id_.token && 2 * outline_.rows_at_start > rows_ &&
         4 * outline_.directions.rows() > 3 * rank();
}

// Computes the directions by subspace iteration on the precision.
void LowRankPosterior::outline() const {
  const Index r = rank();
  MatrixXd M = MatrixXd::Zero(r, r);
  for (Index i = 0; i < r; ++i) M.row(i).head(i + 1) = Eigen::Map<const VectorXd>(precision_.row(i), i + 1).transpose();
  MatrixXd U = M.leftCols(kDirections);
  for (int k = 0; k < kOutlineSteps; ++k) {
    make_orthonormal(U);
    U = product(M, crossprod(M, U));
  }
  make_orthonormal(U);
  outline_ = Outline{posterior_id_.token, 0, rows_, std::move(U), MatrixXd(), weights(), VectorXd(), VectorXd()};
  follow_outline();
}

// Adds the rows that are new since the last update.
void LowRankPosterior::follow_outline() const {
  Outline& old = outline_;
  const Index first = old.rows, count = rows_ - first;
  if (count == 0) return;
  gpb::make_room(old.along, rows_, kDirections);
  for (VectorXd* v : {&old.mean, &old.across}) {
    if (v->size() < rows_) v->conservativeResize(old.along.rows());
  }
  const MatrixXd along = product(features_.block(first, 0, count, old.directions.rows()), old.directions);
  old.along.block(first, 0, count, kDirections) = along;
  old.across.segment(first, count) =
      (variance_.segment(first, count) - along.rowwise().squaredNorm()).cwiseMax(0.0).cwiseSqrt();
  old.mean.segment(first, count) = multiply(features_.block(first, 0, count, old.weights.size()), old.weights);
  old.rows = rows_;
}

// Rows that may have the largest mean, by the bounds of the outline.
std::vector<Index> LowRankPosterior::rows_of_largest_means(double offset) const {
  follow_outline();
  const Outline& old = outline_;
  VectorXd step = weights();
  const double length = std::max(step.norm(), old.weights.norm());
  step.head(old.weights.size()) -= old.weights;
  const VectorXd along = crossprod(old.directions, step.head(old.directions.rows()));
  step.head(old.directions.rows()) -= multiply(old.directions, along);
  VectorXd mean(rows_);
  product_sweep(old.along.data(), old.along.rows(), rows_, kDirections, along.data(), 1.0, old.mean.data(),
                mean.data());
  const double scale = variance_.head(rows_).maxCoeff();
  const double rounding = kRoundedSums * (std::sqrt(scale) * length + std::abs(offset));
  const double hidden = std::sqrt(resolution_.head(rows_).maxCoeff() + kRoundedSums * scale);
  const double across = step.norm();
  const auto reach = [&](Index row) { return across * (old.across[row] + hidden) + rounding; };
  double least = -kInf;
  for (Index row = 0; row < rows_; ++row) {
    if (count_[static_cast<std::size_t>(row)] > 0) least = std::max(least, mean[row] - reach(row));
  }
  std::vector<Index> out;
  for (Index row = 0; row < rows_; ++row) {
    if (count_[static_cast<std::size_t>(row)] > 0 && !(mean[row] + reach(row) < least)) out.push_back(row);
  }
  return out;
}

// Adds these rows to the kept ones. (In features_ a row's coordinates lie far apart, and the candidates are nearly the
// same round after round.)
void LowRankPosterior::keep_features(const std::vector<Index>& rows) const {
  Outline& old = outline_;
  if (old.kept.size() > kMostKept * (1 + rows.size())) {
    old.kept.clear();
    old.is_kept.clear();
  }
  old.is_kept.resize(static_cast<std::size_t>(rows_), 0);
  const auto before = static_cast<Index>(old.kept.size());
  for (const Index row : rows) {
    char& is_kept = old.is_kept[static_cast<std::size_t>(row)];
    if (!is_kept) old.kept.push_back(row);
    is_kept = 1;
  }
  const auto n = static_cast<Index>(old.kept.size());
  gpb::make_room(old.features, n, rank());
  for (Index q = 0; q < rank(); ++q) {
    for (Index k = q < old.columns ? before : 0; k < n; ++k) {
      old.features(k, q) = features_(old.kept[static_cast<std::size_t>(k)], q);
    }
  }
  old.columns = rank();
}

// -Inf for most rows that cannot have the largest mean; for the others, bit for bit the values of means_at_rows().
VectorXd LowRankPosterior::largest_means_at_rows(double offset) const {
  if (rank() < kOutlinedRank || rows_ < kOutlinedRows) return means_at_rows();
  if (!outlined()) outline();
  const std::vector<Index> rows = rows_of_largest_means(offset);
  if (kFewLeft * static_cast<Index>(rows.size()) > rows_) {
    outline_.weights = weights();
    outline_.mean.head(rows_) = means_at_rows();
    return outline_.mean.head(rows_);
  }
  keep_features(rows);
  const auto n = static_cast<Index>(outline_.kept.size());
  const VectorXd zero = VectorXd::Zero(n);
  VectorXd some(n), mean = VectorXd::Constant(rows_, -kInf);
  product_sweep(outline_.features.data(), outline_.features.rows(), n, rank(), weights().data(), 1.0, zero.data(),
                some.data());
  for (Index k = 0; k < n; ++k) mean[outline_.kept[static_cast<std::size_t>(k)]] = some[k];
  return mean;
}

Index LowRankPosterior::best_observation(double offset) const {
  const VectorXd mean = largest_means_at_rows(offset);
  Index best = -1;
  for (Index i = 0; i < size(); ++i) {
    if (!knows(i)) continue;
    if (best < 0 || mean[at(i).row] + offset > mean[at(best).row] + offset) best = i;
  }
  return best;
}

// In the notation of DriftBound, the largest move in earlier sds is the root of
//   v'(C + N)^-1 C (C + N)^-1 v = v'(C + N)^-1 v - |N^1/2 (C + N)^-1 v|^2.
// This equals the sum of the squared innovations, over their variances, minus the sum of the squared current residuals,
// over the noise. The reason is N (C + N)^-1 v = v - C (C + N)^-1 v. The move grows with the information gained; the
// innovations alone grow with time.
// Both sums are exact only up to the certificate a. An innovation and a residual, over their sds, differ by at most a
// (1 + their size), and their squares by at most a (1 + 4 square).
VectorXd LowRankPosterior::moves(Index since) const {
  const double error = certificate_of_basis().largest();
  const VectorXd mean = since == 0 ? means_at_observations() : VectorXd();
  VectorXd out = VectorXd::Zero(size() - since + 1);
  double sum = 0.0, hidden = 0.0;
  for (Index i = size() - 1; i >= since; --i) {
    if (knows(i)) {
      const double here = since == 0 ? mean[i] : feature_row(at(i).row).dot(weights());
      const double gap = at(i).y - here;
      const double left = gap * gap / (noise_var_ * at(i).noise_scale);
      sum += at(i).innovation - left;
      hidden += (error + kHiddenPart) * (2.0 + 4.0 * (at(i).innovation + left));
    }
    out[i - since] = std::sqrt(std::max(0.0, sum) + hidden);
  }
  return out;
}

MatrixXd LowRankPosterior::covariance(const Points& X) const {
  check_point(X.cols());
  MatrixXd out = basis_.kernel().gram(X);
  const Index r = rank();
  if (r == 0) return out;
  MatrixXd phi(r, X.rows()), half(r, X.rows());
  for (Index j = 0; j < X.rows(); ++j) {
    VectorXd column = basis_.at(X.row(j).transpose()).phi;
    phi.col(j) = column;
    precision_.forward(column);
    half.col(j) = column;
  }
  add_crossprod_below(out, -1.0, phi);
  add_crossprod_below(out, 1.0, half);
  mirror_lower(out);
  if (corrects()) out -= coupled_covariance(X, phi, half);
  out.diagonal() = out.diagonal().cwiseMax(0.0);
  return out;
}

// a_i'C b_j + a_j'C b_i, see correct().
MatrixXd LowRankPosterior::coupled_covariance(const Points& X, const MatrixXd& phi,
                                              const MatrixXd& half) const {
  const auto features = features_.topLeftCorner(rows_, rank());
  MatrixXd solved = half, left(points_.rows(), X.rows());
  for (Index j = 0; j < X.rows(); ++j) {
    VectorXd column = half.col(j);
    precision_.backward(column);
    solved.col(j) = column;
    basis_.kernel().cross(X.row(j).transpose(), points_, left.col(j));
  }
  subtract_product(left.topRows(rows_), features, phi);
  for (Index row = 0; row < rows_; ++row) {
    left.row(row) *= in_basis_[static_cast<std::size_t>(row)] ? 0.0 : weight_[row] / noise_var_;
  }
  const MatrixXd one = crossprod(product(features, solved), left.topRows(rows_));
  return one + one.transpose();
}

// phi(x)'(I - P^-1) phi(z), see predict_gradient().
MatrixXd LowRankPosterior::cross_weights(const Points& Z) const {
  check_point(Z.cols());
  MatrixXd out(rank(), Z.rows());
  for (Index j = 0; j < Z.rows(); ++j) {
    const VectorXd phi = basis_.at(Z.row(j).transpose()).phi;
    VectorXd solved = phi;
    precision_.forward(solved);
    precision_.backward(solved);
    out.col(j) = basis_.on_points(phi - solved);
  }
  return out;
}

MatrixXd LowRankPosterior::draw(const Points& X, Rng& rng, Index count, double scale) const {
  MatrixXd out = joint_draws(covariance(X), rng, count, scale);
  VectorXd mean, ignored;
  predict(X, mean, ignored);
  out.colwise() += mean;
  return out;
}

// The sum of slopes with these weights; Eigen's product needs at least one row.
static VectorXd along(const MatrixXd& slopes, const VectorXd& weights) {
  if (slopes.rows() == 0) return VectorXd::Zero(slopes.cols());
  return multiply_transposed(slopes, weights);
}

double LowRankPosterior::mean_and_gradient(const VectorXd& x, VectorXd& dmean) const {
  check_point(x.size());
  dmean = along(basis_.slopes(x), weights_on_points());
  return basis_.cross(x).dot(weights_on_points());
}

void LowRankPosterior::predict_gradient(const VectorXd& x, double& mean, double& sd,
                                        VectorXd& dmean, VectorXd& dsd) const {
  check_point(x.size());
  const Coordinates at_x = basis_.at(x);
  VectorXd half = at_x.phi;
  precision_.forward(half);
  mean = at_x.phi.dot(weights());
  sd = std::sqrt(std::max(0.0, at_x.residual + half.squaredNorm()));
  // variance = k - phi'(I - P^-1) phi, d phi = L^-1 dk(Z, x).
  precision_.backward(half);
  const VectorXd taken = basis_.on_points(at_x.phi - half);
  const MatrixXd slopes = basis_.slopes(x);
  dmean = along(slopes, weights_on_points());
  dsd = VectorXd::Zero(x.size());
  if (sd > 0.0) {
    dsd = (basis_.kernel().diagonal_gradient(x) - 2.0 * along(slopes, taken)) / (2.0 * sd);
  }
}

VectorXd LowRankPosterior::path_update(const PriorPath& path, Rng& rng) const {
  VectorXd weights = rng.normals(rank());
  precision_.backward(weights);
  VectorXd prior(rank());
  if (rank() > 0) path.values(basis_.points(), prior);
  basis_.factor().forward(prior);
  return basis_.on_points(weights - prior);
}

double LowRankPosterior::quadratic() const {
  return std::max(0.0, squares_ / noise_var_ - target_.dot(weights()));
}

double LowRankPosterior::log_likelihood() const {
  const double log_two_pi = std::log(2.0 * 3.14159265358979323846);
  double log_noise = 0.0;
  for (const Observation& o : observations_) {
    if (o.known) log_noise += std::log(noise_var_ * o.noise_scale);
  }
  return -0.5 * (quadratic() + log_det() + log_noise + static_cast<double>(known_) * log_two_pi);
}

// (y - Phi w)' N^-1 (y - Phi w) over the rows: y' (Phi Phi' + N)^-1 y = this + |w|^2.
double LowRankPosterior::residual_squares() const {
  const VectorXd& w = weights();
  return std::max(0.0, row_squares_ / noise_var_ - target_.dot(w) - w.squaredNorm());
}

}  // namespace gpb
