// The basis of a low-rank posterior, and its precision.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "linalg/floors.h"
#include "linalg/pivoted_cholesky.h"
#include "linalg/room.h"
#include "linalg/sweeps.h"
#include "posteriors/low_rank_posterior.h"

namespace gpb {

namespace {
constexpr Index kFewRows = 64;
constexpr Index kRefitBlock = 256;
constexpr Index kStepsKept = 64;  // at least
// The basis is put in order again when one in so many of its points, and of the rows, is new.
constexpr Index kNewPoints = 32;
constexpr Index kNewRows = 4;
constexpr double kManyRows = 65536.0;  // rounds times rows, see beats_dense()
}  // namespace

void LowRankPosterior::clear_basis() {
  basis_.clear();
  precision_.truncate(0);
  target_.resize(0);
  std::fill(in_basis_.begin(), in_basis_.end(), 0);
  residual_ = variance_;
  resolution_ = 10.0 * kRounding * variance_;
  forget_reference();
  break_lineage();
}

// The row's point joins: a new last column of the features, for all rows.
VectorXd LowRankPosterior::extend_features(Index row) {
  const Coordinates at_z{feature_row(row), variance_[row], residual_[row]};
  const VectorXd z = points_.row(row).transpose();
  const double pivot = std::sqrt(residual_[row]);
  VectorXd column(points_.rows());
  basis_.kernel().cross(z, points_, column);
  column.conservativeResize(rows_);
  product_sweep(features_.data(), features_.rows(), rows_, rank(), at_z.phi.data(), -1.0,
                column.data(), column.data());
  column /= pivot;
  for (Index i = 0; i < rows_; ++i) {
    if (in_basis_[static_cast<std::size_t>(i)]) column[i] = 0.0;  // but for rounding
  }
  column[row] = pivot;
  gpb::make_room(features_, rows_, rank() + 1);
  features_.col(rank()).head(rows_) = column;
  residual_.head(rows_) = (residual_.head(rows_) - column.cwiseAbs2()).cwiseMax(0.0);
  resolution_.head(rows_).array() +=
      10.0 * kRounding * variance_.head(rows_).array() * (column / pivot).array().square();
  residual_[row] = 0.0;
  in_basis_[static_cast<std::size_t>(row)] = 1;
  basis_.append(z, at_z);
  return column;
}

// P gains a row and a column, [P p; p' 1 + c'N^-1 c] with p = Phi' N^-1 c; the new squared
// pivot is at least 1.
void LowRankPosterior::extend(Index row) {
  const Index before = rank();
  const VectorXd column = extend_features(row);
  const VectorXd weighed = column.cwiseProduct(weight_.head(rows_)) / noise_var_;
  const VectorXd cross = features_.topLeftCorner(rows_, before).transpose() * weighed;
  precision_.append(cross.data(), weighed.dot(column), 1.0);
  target_.conservativeResize(before + 1);
  target_[before] = column.dot(weighted_.head(rows_)) / noise_var_;
  weights_valid_ = of_basis_valid_ = false;
  extend_reference(column);
  const double pivot = precision_.diagonal(before);
  VectorXd along;
  if (!cross.isZero(0.0)) {
    along = Eigen::Map<const VectorXd>(precision_.row(before), before);
    precision_.backward(along);
  }
  record({true, std::move(along), pivot * pivot});
  measure_residuals();
}

Index LowRankPosterior::worst_row() const {
  Index worst = -1;
  for (Index row = 0; row < rows_; ++row) {
    if (!(weight_[row] > 0.0) || !may_join(row)) continue;
    if (worst < 0 || residual_[row] * weight_[row] > residual_[worst] * weight_[worst]) worst = row;
  }
  return worst;
}

// Points join, and the mean's error is measured, until the certificate is within the accuracy and
// corrections are rare, or until it would take more points than pay.
void LowRankPosterior::tighten() {
  if (corrects()) leave_out_less();
  if (strayed() && measuring_helps()) measure();
  double goal = left_out_limit(residual_squares());
  while (!(accurate() && answers_are_cheap()) && !gives_up()) {
    if (left_out_ <= goal && measuring_helps()) {
      measure();
      continue;
    }
    if (left_out_ <= goal) goal = 0.5 * left_out_;
    const Index row = worst_row();
    if (row >= 0) {
      extend(row);
    } else if (accurate()) {
      return;
    } else if (rebuild_may_help()) {
      choose_basis();
    } else if (last_measure_pays()) {
      measure();
    } else {
      return;
    }
  }
}

// Down to what keeps corrections rare.
void LowRankPosterior::leave_out_less() {
  if (left_out_ <= 2.0 * left_out_limit(0.0)) return;
  for (Index row = worst_row(); row >= 0 && !gives_up(); row = worst_row()) {
    if (left_out_ <= left_out_limit(0.0)) break;
    extend(row);
  }
}

bool LowRankPosterior::gives_up() const {
  return rank() > kFewRows && rank() < rows_ &&
         static_cast<double>(rank()) > largest_share_ * static_cast<double>(rows_);
}

// Points that come in a bad order (along a line) make a bad basis, whose residuals are hidden
// by rounding. Chosen by pivots from all of them it is as good as it gets.
bool LowRankPosterior::rebuild_may_help() const {
  const Index since = rows_ - rows_at_rebuild_;
  return since > rows_at_rebuild_ / 8 || beats_dense(since);
}

// The dense engine would take rows^3 / 3 at once and rows^2 a round: with many rows, what takes
// rows^2 pays after the fewer rounds.
bool LowRankPosterior::beats_dense(Index since) const {
  return static_cast<double>(since) * static_cast<double>(rows_) >= kManyRows;
}

// Everything anew from the observations.
void LowRankPosterior::rebuild() {
  rebuild_statistics();
  choose_basis();
  tighten();
}

// By pivots on the largest residuals.
void LowRankPosterior::choose_basis() {
  clear_basis();
  rows_at_rebuild_ = rows_;
  measured_at_ = 0;  // (the mean's error may be measured at once)
  measure_residuals();
  const double squares = static_cast<double>(rows_);
  for (Index row = worst_row(); row >= 0; row = worst_row()) {
    if (left_out_ <= left_out_limit(squares) || gives_up()) break;
    extend_features(row);
    measure_residuals();
  }
  refit();
}

bool LowRankPosterior::order_is_old() const {
  return rank() > ordered_ + ordered_ / kNewPoints &&
         rows_ > rows_at_order_ + rows_at_order_ / kNewRows;
}

void LowRankPosterior::put_in_order() {
  const Points Z = basis_.points();
  const double floor = kBasisPivot * variance_.head(rows_).maxCoeff();
  const LowRank order = pivoted_cholesky(basis_.kernel(), Z, floor, rank());
  clear_basis();
  for (const Index i : order.pivots) {
    const VectorXd z = Z.row(i).transpose();
    const Index row = find_row(z);
    if (row < 0) continue;  // all that was observed there is gone
    const Coordinates at_z = basis_.at(z);
    if (at_z.residual <= std::max(basis_.rounding(at_z), floor)) continue;
    in_basis_[static_cast<std::size_t>(row)] = 1;
    basis_.append(z, at_z);
  }
  recompute_features();
  shorten();
  refit();
  ordered_ = rank();
  rows_at_order_ = rows_;
  measured_at_ = 0;
  tighten();
}

// The rows' coordinates and residuals from the basis.
void LowRankPosterior::recompute_features() {
  const Index r = rank();
  gpb::make_room(features_, rows_, r);
  VectorXd pivots(r);
  for (Index q = 0; q < r; ++q) pivots[q] = basis_.factor().diagonal(q);
  for (Index first = 0; first < rows_; first += kRefitBlock) {
    const Index count = std::min(kRefitBlock, rows_ - first);
    Panels phi(count);
    phi.reserve(r, 0);
    basis_.at(points_.middleRows(first, count), phi);
    for (Index q = 0; q < r; ++q) {
      for (Index j = 0; j < count; ++j) features_(first + j, q) = phi(q, j);
    }
  }
  for (Index row = 0; row < rows_; ++row) {
    const VectorXd phi = feature_row(row);
    const bool inside = in_basis_[static_cast<std::size_t>(row)];
    residual_[row] = inside ? 0.0 : std::max(0.0, variance_[row] - phi.squaredNorm());
    const double weights = phi.cwiseQuotient(pivots).squaredNorm();
    resolution_[row] = 10.0 * kRounding * variance_[row] * (1.0 + weights);
  }
}

// Last points of the basis that are not needed leave it.
void LowRankPosterior::shorten() {
  measure_residuals();
  const double limit = left_out_limit(static_cast<double>(rows_));
  Index r = rank();
  while (r > kCheapRank) {
    const auto column = features_.col(r - 1).head(rows_);
    const double more = weight_.head(rows_).dot(column.cwiseAbs2()) / noise_var_;
    if (left_out_ + more > limit) break;
    left_out_ += more;
    residual_.head(rows_) += column.cwiseAbs2();
    --r;
    in_basis_[static_cast<std::size_t>(find_row(basis_.point(r)))] = 0;
  }
  basis_.truncate(r);
}

// P and Phi' N^-1 y from the rows.
void LowRankPosterior::refit() {
  const Index r = rank();
  MatrixXd P = MatrixXd::Identity(r, r);
  target_ = VectorXd::Zero(r);
  for (Index first = 0; first < rows_; first += kRefitBlock) {
    const Index count = std::min(kRefitBlock, rows_ - first);
    const MatrixXd part = features_.block(first, 0, count, r).transpose();
    const VectorXd root = (weight_.segment(first, count) / noise_var_).cwiseSqrt();
    if (r > 0) P.selfadjointView<Eigen::Lower>().rankUpdate(part * root.asDiagonal());
    target_.noalias() += part * (weighted_.segment(first, count) / noise_var_);
  }
  const Eigen::LLT<MatrixXd> factor(P);
  if (factor.info() != Eigen::Success) {
    throw std::runtime_error("the posterior precision lost positive definiteness");
  }
  precision_.truncate(0);
  precision_.reserve(r);
  for (Index i = 0; i < r; ++i) {
    const VectorXd row = factor.matrixLLT().row(i).head(i + 1).transpose();
    precision_.append_row(row.data(), row[i]);
  }
  updates_ = drops_ = 0;
  weights_valid_ = of_basis_valid_ = false;
  measure_residuals();
  break_lineage();
}

void LowRankPosterior::record(LowRankStep step) {
  steps_.push_back(std::move(step));
  ++steps_end_;
  // (Beyond, a cache is quicker begun anew.)
  const Index most = std::max(kStepsKept, rank());
  while (steps_end_ - steps_begin() > most) steps_.pop_front();
}

void LowRankPosterior::break_lineage() {
  steps_.clear();
  lineage_ = Lineage();
}

// Variances may have grown.
void LowRankPosterior::begin_era() {
  era_ = Lineage();
  from_prior_ = false;
}

}  // namespace gpb
