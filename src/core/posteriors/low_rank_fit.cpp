// The basis of a low-rank posterior, its precision and its certificate; best points and trees of arms. Uses events/,
// kernels/ and linalg/.
#include "kernels/pivoted_cholesky.h"
#include "kernels/splits.h"
#include "linalg/decompositions.h"
#include "linalg/floors.h"
#include "linalg/room.h"
#include "linalg/sweeps.h"
#include "posteriors/low_rank_posterior.h"
#include "posteriors/best_point.h"
#include "posteriors/lazy_arms.h"

#include "base/ties.h"
#include "linalg/rows_of.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gpb {

namespace {
constexpr Index kFewRows = 64;
constexpr Index kRefitBlock = 256;
constexpr Index kStepsKept = 64;  // at least
// The basis is put in order again when 1 / kNewPoints of its points and 1 / kNewRows of the rows are new.
constexpr Index kNewPoints = 32;
constexpr Index kNewRows = 4;
constexpr Index kLargestJoin = 8;  // a sparse basis gets 1 / kLargestJoin more points, at the largest values
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
  renew_posterior_id();
}

// Adds the row's point to the basis: a new last column of the features, for all rows.
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
    if (in_basis_[static_cast<std::size_t>(i)]) column[i] = 0.0;  // exact value 0; this removes the rounding error
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

// P gains a row and a column: [P p; p' 1 + c'N^-1 c] with p = Phi' N^-1 c. The new squared pivot is at least 1.
void LowRankPosterior::extend(Index row) {
  const Index before = rank();
  const VectorXd column = extend_features(row);
  const VectorXd weighed = column.cwiseProduct(weight_.head(rows_)) / noise_var_;
  const VectorXd cross = multiply_transposed(features_.topLeftCorner(rows_, before), weighed);
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

// Adds points to the basis, and measures the mean's error, until the certificate is within the accuracy and corrections
// are rare. Stops earlier if more points would cost more than they save.
void LowRankPosterior::tighten() {
  if (sparse()) return;
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

// Adds points until corrections are rare.
void LowRankPosterior::leave_out_less() {
  if (left_out_ <= 2.0 * left_out_limit(0.0)) return;
  for (Index row = worst_row(); row >= 0 && !gives_up(); row = worst_row()) {
    if (left_out_ <= left_out_limit(0.0)) break;
    extend(row);
  }
}

bool LowRankPosterior::gives_up() const {
  if (sparse()) return rank() >= most_;
  return rank() > kFewRows && rank() < rows_ &&
         static_cast<double>(rank()) > largest_share_ * static_cast<double>(rows_);
}

// Points that arrive in a bad order (for example along a line) make a bad basis, whose residuals are lost in rounding.
// A basis chosen by pivots from all points is the best that is available.
bool LowRankPosterior::rebuild_may_help() const {
  const Index since = rows_ - rows_at_rebuild_;
  return since > rows_at_rebuild_ / 8 || beats_dense(since);
}

// The dense engine costs rows^3 / 3 once and rows^2 in each round. The more rows there are, the fewer rounds it takes
// until an operation of rows^2 is worthwhile.
bool LowRankPosterior::beats_dense(Index since) const {
  return static_cast<double>(since) * static_cast<double>(rows_) >= kManyRows;
}

// Recomputes everything from the observations.
void LowRankPosterior::rebuild() {
  if (sparse()) {
    for (Observation& one : observations_) one.noise_scale = one.given_scale;
  }
  rebuild_statistics();
  choose_basis();
  if (!sparse()) return tighten();
  join_largest();
  weigh_left_out();
}

// ---- a sparse basis -----------------------------------------------------------------------------

void LowRankPosterior::make_sparse(Index most) {
  most_ = most;
  answers_ = LowRankAnswers::from_basis;
  for (Observation& one : observations_) one.given_scale = one.noise_scale;
  join_largest();
  weigh_left_out();
}

// Searches evaluate the posterior most often near large values.
void LowRankPosterior::join_largest() {
  std::vector<std::pair<double, Index>> ranked;
  for (Index row = 0; row < rows_; ++row) {
    if (weight_[row] > 0.0) ranked.emplace_back(-weighted_[row] / weight_[row], row);
  }
  std::sort(ranked.begin(), ranked.end());
  const Index most = most_ + most_ / kLargestJoin;
  for (std::size_t k = 0; k < ranked.size() && rank() < most; ++k) {
    if (may_join(ranked[k].second)) extend(ranked[k].second);
  }
}

// Let a point have residual e, and its observations precision w without it. With it the precision is w / (1 + e w).
void LowRankPosterior::weigh_left_out() {
  VectorXd precision = VectorXd::Zero(rows_);
  for (const Observation& one : observations_) {
    if (one.known) precision[one.row] += 1.0 / (noise_var_ * one.given_scale);
  }
  for (Observation& one : observations_) {
    if (one.known) one.noise_scale = one.given_scale * (1.0 + residual_[one.row] * precision[one.row]);
  }
  begin_version();
  rebuild_statistics();
  refit();
}

// New points join while the basis is not full. Their effect on the residuals of other points is included at the next
// fit.
void LowRankPosterior::add_sparse(Index row, double y, double noise_scale) {
  if (rank() < most_ + most_ / 4 && may_join(row)) extend(row);
  const double scale = noise_scale + residual_[row] / noise_var_;
  const double innovation = y - feature_row(row).dot(weights());
  observe(row, y, scale);
  observations_.back().given_scale = noise_scale;
  observations_.back().innovation = innovation * innovation / weigh(row, 1.0 / scale);
  innovations_ += observations_.back().innovation;
}

// Chooses the points by pivots on the largest residuals.
void LowRankPosterior::choose_basis() {
  clear_basis();
  rows_at_rebuild_ = rows_;
  measured_at_ = 0;  // so the mean's error may be measured at once
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
    if (row < 0) continue;  // all observations of this point were dropped
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

// Recomputes the rows' coordinates and residuals from the basis.
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

// Removes the last points of the basis that are not needed.
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

// Recomputes P and Phi' N^-1 y from the rows.
void LowRankPosterior::refit() {
  const Index r = rank();
  MatrixXd P = MatrixXd::Identity(r, r);
  target_ = VectorXd::Zero(r);
  for (Index first = 0; first < rows_; first += kRefitBlock) {
    const Index count = std::min(kRefitBlock, rows_ - first);
    const MatrixXd part = features_.block(first, 0, count, r).transpose();
    const VectorXd root = (weight_.segment(first, count) / noise_var_).cwiseSqrt();
    add_tcrossprod_below(P, 1.0, part * root.asDiagonal());
    add_multiple(target_, 1.0, part, weighted_.segment(first, count) / noise_var_);
  }
  if (!cholesky(P)) throw std::runtime_error("the posterior precision lost positive definiteness");
  precision_.truncate(0);
  precision_.reserve(r);
  for (Index i = 0; i < r; ++i) {
    const VectorXd row = P.row(i).head(i + 1).transpose();
    precision_.append_row(row.data(), row[i]);
  }
  updates_ = drops_ = 0;
  weights_valid_ = of_basis_valid_ = false;
  measure_residuals();
  renew_posterior_id();
}

void LowRankPosterior::record(LowRankStep step) {
  steps_.push_back(std::move(step));
  ++steps_end_;
  // A cache that is further behind is rebuilt, which is cheaper than to replay the steps.
  const Index most = std::max(kStepsKept, rank());
  while (steps_end_ - steps_begin() > most) steps_.pop_front();
}

void LowRankPosterior::renew_posterior_id() {
  steps_.clear();
  posterior_id_ = PosteriorId();
}

// Starts a new version, because variances may have grown.
void LowRankPosterior::begin_version() {
  version_ = PosteriorId();
  from_prior_ = false;
}

// ---- the certificate ----------------------------------------------------------------------------
// Bounds on the difference between a low-rank posterior and the dense one.

namespace {

// A corrected prediction costs rows times rank. If rank^2 is less than this number of rows, additional basis points
// (more than the certificate needs) are cheaper than corrections.
constexpr double kCorrectionCost = 8.0;
constexpr double kComfortable = 0.5;  // of the accuracy
constexpr double kWellKnown = 5.0;  // times the accuracy: up to this error the basis alone is often accurate enough
constexpr Index kMeasureBlock = 256;
constexpr Index kRowsMeasured = 4096;  // at a time, when predictions are corrected
constexpr double kLastMeasures = 16.0;  // at most this often while the number of rows doubles
constexpr double kRoundSquares = 1.0;  // kernel evaluations that a round may cost, over rank^2
constexpr double kOfDenseRank = 0.5;  // above this ratio of rank to rows the dense posterior is cheaper

// The largest factor by which (a, b) -> (a, b - C'a) stretches a vector if |C| = c, see below.
double stretch(double c) { return 0.5 * (c + std::sqrt(c * c + 4.0)); }

}  // namespace

// ---- residuals outside the span of the basis ------------------------------------------------

bool LowRankPosterior::may_join(Index row) const {
  return !in_basis_[static_cast<std::size_t>(row)] &&
         residual_[row] > std::max(resolution_[row], kBasisPivot * variance_[row]);
}

// Adds the row's residual to the sums after its weight has grown by `weight`.
void LowRankPosterior::count_left_out(Index row, double weight) {
  of_basis_valid_ = false;
  if (in_basis_[static_cast<std::size_t>(row)]) return;
  const double rounding = resolution_[row] / noise_var_;
  if (residual_[row] > resolution_[row]) left_out_ += residual_[row] * weight / noise_var_;
  rounding_ = std::max(rounding_, rounding * weight_[row]);
  rounding_sum_ += rounding * weight;
}

void LowRankPosterior::measure_residuals() {
  left_out_ = rounding_ = rounding_sum_ = 0.0;
  of_basis_valid_ = false;
  for (Index row = 0; row < rows_; ++row) count_left_out(row, weight_[row]);
}

// The largest sum of residuals over their noise that still meets the accuracy, see certificate().
double LowRankPosterior::left_out_limit(double residual_squares) const {
  if (corrects()) {
    const double r = static_cast<double>(rank()), rows = static_cast<double>(rows_);
    return kCorrectedShare * accuracy_ * std::min(1.0, r * r / (kCorrectionCost * rows));
  }
  const double without_measuring = accuracy_ * accuracy_ / std::max(residual_squares, 0.25);
  if (rank() < kCheapRank) return without_measuring;
  return std::max(without_measuring, kMeasuredShare * accuracy_ * accuracy_);
}

// Above this product of residual and weight a row should join the basis.
double LowRankPosterior::allowance() const {
  const double rows = static_cast<double>(std::max(rows_, kFewRows));
  return 0.5 * noise_var_ * left_out_limit(residual_squares()) / rows;
}

// ---- the mean's error, measured -------------------------------------------------------------
// g = sum of d_i R_i, with d = N^-1 (y - Phi w), depends on E = K - Phi Phi' itself. It is measured only now and then,
// with O(t^2) kernel evaluations, at weights w0 with their d0. Between two measurements:
//   g = sum of d0_i R_i - R' N^-1 Phi (w - w0).
// The last term is at most |C| |P^1/2 (w - w0)|. The scalar `outside` = d0'E d0 is updated when a row's d0 changes
// (O(t)) or the basis grows.
// When predictions are corrected, this error matters less. Then blocks of s rows are measured separately, with O(t s)
// kernel evaluations: |g| is at most the sum of the lengths of the blocks' parts.

Index LowRankPosterior::block_rows() const {
  return corrects() ? kRowsMeasured : std::numeric_limits<Index>::max();
}

// The first row of the block, and the number of its rows.
std::pair<Index, Index> LowRankPosterior::rows_of_block(std::size_t block) const {
  const Index each = std::min(block_rows(), rows_);
  const Index begin = static_cast<Index>(block) * each;
  return {begin, std::min(each, rows_ - begin)};
}

void LowRankPosterior::measure() {
  forget_reference();
  reference_.kept = true;
  measured_at_ = size();
  reference_.weights = weights();
  reference_.dual = VectorXd::Zero(points_.rows());
  reference_.dual.head(rows_) = dual();
  for (std::size_t block = 0; rows_of_block(block).first < rows_; ++block) {
    const auto [begin, count] = rows_of_block(block);
    const VectorXd own = dual().segment(begin, count);
    const auto features = features_.block(begin, 0, count, rank());
    VectorXd inside = VectorXd::Zero(rank());
    if (rank() > 0) inside = multiply_transposed(features, own);
    VectorXd left = gram_times(own, begin);
    if (rank() > 0) add_multiple(left, -1.0, features, inside);
    double outside = 0.0;
    for (Index i = 0; i < count; ++i) {
      if (!in_basis_[static_cast<std::size_t>(begin + i)]) outside += own[i] * left[i];
    }
    reference_.inside.push_back(std::move(inside));
    reference_.outside.push_back(outside);
  }
}

// K v over the rows from `begin` on; each kernel value is computed once.
VectorXd LowRankPosterior::gram_times(const VectorXd& v, Index begin) const {
  const Index n = v.size();
  VectorXd out = VectorXd::Zero(n), values(kMeasureBlock);
  for (Index first = 0; first < n; first += kMeasureBlock) {
    const Index count = std::min(kMeasureBlock, n - first);
    const Points block = points_.middleRows(begin + first, count);
    for (Index i = 0; i < first + count; ++i) {
      basis_.kernel().cross(points_.row(begin + i).transpose(), block, values.head(count));
      out[i] += values.head(count).dot(v.segment(first, count));
      if (i < first) out.segment(first, count) += v[i] * values.head(count);
    }
  }
  return out;
}

void LowRankPosterior::forget_reference() {
  reference_ = Reference();
  of_basis_valid_ = false;
}

// Updates the reference after a row's statistics changed by `weighted` and `weight`.
void LowRankPosterior::follow_reference(Index row, double weighted, double weight) {
  Reference& old = reference_;
  if (!old.kept) return;
  const Index r = old.weights.size();
  const double spanned = features_.row(row).head(r).dot(old.weights);
  const double step = (weighted - weight * spanned) / noise_var_;
  const auto block = static_cast<std::size_t>(row / block_rows());
  if (block == old.outside.size()) {
    old.inside.push_back(VectorXd::Zero(rank()));
    old.outside.push_back(0.0);
  }
  if (!in_basis_[static_cast<std::size_t>(row)]) {
    const auto [begin, count] = rows_of_block(block);
    VectorXd cross(count);
    basis_.kernel().cross(points_.row(row).transpose(), points_.middleRows(begin, count), cross);
    const double left = cross.dot(old.dual.segment(begin, count)) -
                        feature_row(row).dot(old.inside[block]);
    old.outside[block] += step * (2.0 * left + step * residual_[row]);
  }
  old.dual[row] += step;
  old.inside[block] += step * feature_row(row);
}

// Updates the reference after the basis gained a coordinate.
void LowRankPosterior::extend_reference(const VectorXd& column) {
  if (!reference_.kept) return;
  for (std::size_t block = 0; block < reference_.outside.size(); ++block) {
    const auto [begin, count] = rows_of_block(block);
    const double along =
        column.segment(begin, count).dot(reference_.dual.segment(begin, count));
    reference_.outside[block] -= along * along;
    VectorXd& inside = reference_.inside[block];
    inside.conservativeResize(inside.size() + 1);
    inside[inside.size() - 1] = along;
  }
}

// |P^1/2 (w - w0)|.
double LowRankPosterior::moved_since_reference() const {
  VectorXd step = weights();
  step.head(reference_.weights.size()) -= reference_.weights;
  VectorXd image = VectorXd::Zero(step.size());
  for (Index i = 0; i < step.size(); ++i) {
    if (step[i] != 0.0) {
      image.head(i + 1) += step[i] * Eigen::Map<const VectorXd>(precision_.row(i), i + 1);
    }
  }
  return image.norm();
}

bool LowRankPosterior::measured_now() const {
  return reference_.kept && moved_since_reference() == 0.0;
}

// Notation. Split the kernel's space into the span of the basis and its orthogonal complement (the rest). Divide every
// observation by the root of its noise variance. After this division, A = N^-1/2 Phi, R is the part of the played
// points in the rest, and E = R R'. The precisions are:
//   dense posterior: V = [I + A'A, A'R; R'A, I + R'R],   this posterior: [I + A'A, 0; 0, I].
// Let x have coordinates phi in the span and b in the rest. Let a = (I + A'A)^-1/2 phi and C = (I + A'A)^-1/2 A'R. Let
// S = I + R'(I + AA')^-1 R be the Schur complement.
// The moments are:
//   Dense variance = |a|^2 + |S^-1/2 (b - C'a)|^2, and this variance = |a|^2 + |b|^2.
//   Dense mean - this mean = (b - C'a)' S^-1 g, with g = R' N^-1/2 (y - Phi w).
// Bounds: |C|^2 <= |E| <= trace E =: d and I <= S <= (1 + d) I. Also |g|^2 <= |E| * (sum of squared residuals over
// their noise). It follows that:
//   * |difference of means| <= |S^-1/2 (b - C'a)| |g| <= (dense sd) |g|.
//   * (a, b) -> (a, b - C'a) and its inverse stretch by at most (c + sqrt(c^2 + 4)) / 2, with c = |C|. To first order
//     this is 1 + c / 2. The ratio of the sds is within this factor times sqrt(1 + d).
//   * log det V - log det of this precision = log det S <= trace(S - I) <= d.
// Let f have norm B, with parts p in the span and q in the rest, and let e be the noise (divided as above). Then:
//   f(x) - this mean = a'(I + A'A)^-1/2 p + b'q - a'C q - a'(I + A'A)^-1/2 A'e.
// The first two terms together are at most (this sd) B, and the third is at most c B (this sd). The last is at most
// (this sd) times the root of e'Q(I + Q)^-1 e <= e'K(I + K)^-1 e, with Q = AA' <= K. See width_factor().
// If |b| is small compared with |a|, both bounds become products of two small numbers, and the error is of second
// order, see error_at(). Otherwise the error becomes of second order once b'g is added to the mean and 2 a'C b is
// subtracted from the variance. With u = b - C'a:
//   dense mean - (this mean + b'g) = u'(S^-1 - I) g - a'C g, which is at most (d + c) |g| (dense sd).
//   Dense variance = |a|^2 + u'S^-1 u, with |u|^2 = |b|^2 - 2 a'C b + |C'a|^2. The last term is at most c^2 |a|^2.
// So the ratio of the sds is within sqrt(1 + d). (If |b|^2 < 2 a'C b, the difference is replaced by 0.)

// An upper bound of |C|. Residuals lost in rounding count as independent errors, whose E is diagonal.
double LowRankPosterior::coupling() const { return std::sqrt(left_out_) + std::sqrt(rounding_); }

// False if the error has just been measured, or if measuring would cost too much. A measurement costs rows times the
// rows of a block. This must stay a fraction of the cost of all rounds since the last one, about rank^2 each.
bool LowRankPosterior::measuring_helps() const {
  const double rows = static_cast<double>(rows_), r = static_cast<double>(rank());
  const double since = static_cast<double>(size() - measured_at_);
  if (!corrects() && rank() < kCheapRank) return false;
  const double block = static_cast<double>(std::min(rows_, block_rows()));
  const double round = std::max(r * r, static_cast<double>(kCheapRank * kCheapRank));
  return since * kRoundSquares * round >= rows * block && !measured_now();
}

// If no point is left that could join the basis, a measurement is the last step before the dense engine takes over.
bool LowRankPosterior::last_measure_pays() const {
  const Index since = size() - measured_at_;
  const bool rare = kLastMeasures * static_cast<double>(since) >= static_cast<double>(rows_);
  return (rare || beats_dense(since)) && !measured_now();
}

double LowRankPosterior::measured_then() const {
  double sum = 0.0;
  for (const double outside : reference_.outside) sum += std::sqrt(std::max(0.0, outside));
  return sum;
}

// Have the weights moved so far since the last measurement that the bound on the mean's error has become loose?
bool LowRankPosterior::strayed() const {
  if (!corrects() || certificate_of_basis().mean <= kWellKnown * accuracy_) return false;
  return !reference_.kept || coupling() * moved_since_reference() > measured_then();
}

// |g|, the smaller of two bounds. Rounding errors in `outside` are treated as independent, too. Those of the
// coordinates are a diagonal E, for which d0'E d0 is a sum over the rows.
double LowRankPosterior::mean_error() const {
  const double squares = residual_squares();
  const double cheap = coupling() * std::sqrt(squares);
  if (!reference_.kept || (!corrects() && cheap <= accuracy_)) return cheap;
  const VectorXd dual_squares = reference_.dual.head(rows_).cwiseAbs2();
  const double hidden = 10.0 * kRounding * variance_.head(rows_).maxCoeff() * dual_squares.sum();
  const double rounded = resolution_.head(rows_).dot(dual_squares);
  const double measured = measured_then() + std::sqrt(hidden) + std::sqrt(rounded) +
                          coupling() * moved_since_reference();
  return std::min(cheap, measured);
}

const LowRankError& LowRankPosterior::certificate_of_basis() const {
  if (of_basis_valid_) return of_basis_;
  const double c = coupling();
  of_basis_ = {mean_error(), stretch(c) * std::sqrt(1.0 + c * c) - 1.0, left_out_ + rounding_sum_};
  of_basis_valid_ = true;
  return of_basis_;
}

// The error after the first-order terms have been corrected.
LowRankError LowRankPosterior::corrected_error(const LowRankError& of_basis) const {
  const double c = coupling(), d = c * c;
  return {of_basis.mean * (c + d), std::sqrt(1.0 + d) - 1.0, of_basis.information};
}

// Predictions by the basis whose error is within the accuracy are not corrected.
LowRankError LowRankPosterior::certificate() const {
  const LowRankError of_basis = certificate_of_basis();
  if (!corrects()) return of_basis;
  const LowRankError corrected = corrected_error(of_basis);
  return {std::min(of_basis.mean, std::max(accuracy_, corrected.mean)),
          std::min(of_basis.sd, std::max(accuracy_, corrected.sd)), of_basis.information};
}

// After many observations the error of the basis alone is hardly larger than that of corrected predictions. Is it well
// below the accuracy, so that corrections are rarely necessary?
bool LowRankPosterior::answers_are_cheap() const {
  return !corrects() ||
         corrected_error(certificate_of_basis()).largest() <= kComfortable * accuracy_;
}

LowRankError LowRankPosterior::certificate_at(const VectorXd& x) const {
  check_point(x.size());
  Coordinates at_x = basis_.at(x);
  precision_.forward(at_x.phi);
  const LowRankError of_basis = certificate_of_basis();
  const LowRankError here = error_at(at_x.phi.squaredNorm(), at_x.residual, of_basis);
  return corrects() && here.largest() > accuracy_ ? corrected_error(of_basis) : here;
}

// Error of the prediction by the basis at a point where the parts of the variance are |a|^2 and |b|^2.
LowRankError LowRankPosterior::error_at(double inside, double outside,
                                        const LowRankError& anywhere) const {
  LowRankError out = anywhere;
  const double c = coupling();
  const double a = std::sqrt(inside), b = std::sqrt(std::max(0.0, outside)), moved = c * a;
  const double sd = std::hypot(a, b);
  const double least = std::hypot(a, std::max(0.0, b - moved) / std::sqrt(1.0 + c * c));
  if (!(least > 0.0)) return out;
  const double most = std::hypot(a, b + moved);
  out.mean = std::min(out.mean, (b + moved) / least * out.mean);
  out.sd = std::min(out.sd, std::max(most / sd, sd / least) - 1.0);
  return out;
}

bool LowRankPosterior::should_be_dense() const {
  return static_cast<double>(rank()) > kOfDenseRank * static_cast<double>(rows_);
}

// ---- the best of many points --------------------------------------------------------------------

namespace {

// Rows are first bounded by the first few points of the basis. The other points then hold at most this part of the
// information. (1 is the information of one observation whose noise variance equals the prior variance.)
constexpr double kStages[] = {3.0, 0.3};
constexpr double kWorthwhile = 0.7;  // of the rank: above this, a part of the basis is no cheaper than the whole
constexpr Index kOnePanel = Panels::kWidth;
constexpr Index kMostCrossed = 1000;  // arms for which all pairwise kernel values are stored

// For every q, the information about coordinates from the q-th on: the sum of P_pp - 1 over p >= q.
VectorXd known_beyond(const GrowingCholesky& precision) {
  const Index r = precision.size();
  VectorXd out = VectorXd::Zero(r + 1);
  for (Index p = r - 1; p >= 0; --p) {
    const double diagonal = Eigen::Map<const VectorXd>(precision.row(p), p + 1).squaredNorm();
    out[p] = out[p + 1] + std::max(0.0, diagonal - 1.0);
  }
  return out;
}

VectorXd entries_of(const VectorXd& values, const std::vector<Index>& rows) {
  VectorXd out(static_cast<Index>(rows.size()));
  for (Index i = 0; i < out.size(); ++i) {
    out[i] = values[values.size() == 1 ? 0 : rows[static_cast<std::size_t>(i)]];
  }
  return out;
}

// Widens the bounds at row i, because predictions may differ this much from the basis.
void widen(MomentBounds& at, Index i, const LowRankError& of_basis, const LowRankError& of_answer) {
  const double factor = (1.0 + of_basis.sd) * (1.0 + of_answer.sd);
  at.least_sd[i] /= factor;
  at.largest_sd[i] *= factor;
  const double moved = (of_basis.mean + of_answer.mean) * at.largest_sd[i];
  at.least_mean[i] -= moved;
  at.largest_mean[i] += moved;
}

// Bounds on the posterior's predictions, from those of its basis and their errors.
MomentBounds bounds_by_basis(const LowRankPosterior& posterior, const Points& X) {
  MomentBounds out;
  VectorXd variance;
  std::vector<LowRankError> errors;
  posterior.predict_by_basis(X, out.least_mean, variance, &errors);
  out.largest_mean = out.least_mean;
  out.least_sd = out.largest_sd = variance.cwiseSqrt();
  const LowRankError of_answer = posterior.certificate();
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const bool as_it_is = errors[i].largest() <= posterior.accuracy();
    if (!as_it_is) widen(out, static_cast<Index>(i), errors[i], of_answer);
  }
  return out;
}

// Rows whose score may be the best, or tied with the best.
std::vector<Index> kept(const RisingScore& score, const MomentBounds& at, const VectorXd& prior,
                        const std::vector<Index>& rows) {
  double least = -kInf;
  for (Index i = 0; i < prior.size(); ++i) {
    least = std::max(least, score.of(prior[i] + at.least_mean[i], at.least_sd[i]));
  }
  least -= 2.0 * score.tie;  // because bounds are rounded, too
  std::vector<Index> out;
  for (Index i = 0; i < prior.size(); ++i) {
    const double largest = score.of(prior[i] + at.largest_mean[i], at.largest_sd[i]);
    if (!(largest < least)) out.push_back(rows[static_cast<std::size_t>(i)]);
  }
  return out;
}

}  // namespace

// For n points with the first few coordinates p: p'w1, |p|^2 and |a|^2 (below).
struct BasisSums {
  VectorXd mean, spanned, left;
};

// `phi`: these coordinates; they are overwritten.
static BasisSums sums_at(const LowRankPosterior& posterior, Index few, Panels& phi, Index n) {
  const double* const w = posterior.weights().data();
  const VectorXd zero = VectorXd::Zero(phi.count() * Panels::kWidth);
  VectorXd mean = zero, spanned = zero, left = zero, ignored = zero;
  accumulate_rows(phi, 0, few, w, mean.data(), spanned.data());
  forward_solve(posterior.precision().packed(), 0, few, phi);
  accumulate_rows(phi, 0, few, w, ignored.data(), left.data());
  return {segment_of(mean, 0, n), segment_of(spanned, 0, n), segment_of(left, 0, n)};
}

// Let x have coordinates (p, q), p the first few. Let l = k(x, x) - |p|^2 >= |q|^2 and M = [M1, 0; M2, M3]. Then:
//   mean = p'w1 + q'w2,   variance = l - |q|^2 + |a|^2 + |M3^-1 (q - M2 a)|^2,   a = M1^-1 p.
// P >= I implies M3 M3' >= I and |M2|^2 <= c^2, the sum of P_jj - 1 beyond the first few. Therefore:
//   |mean - p'w1| <= sqrt(l) |w2|,   |a|^2 <= variance <= |a|^2 + (sqrt(l) + c |a|)^2.
// `beyond` is c^2. `crosses` is used if the rows of X are these arms in one context.
static MomentBounds bounds_by(const LowRankPosterior& posterior, const Points& X, Index few, double beyond,
                              const ArmCrosses* crosses = nullptr, const std::vector<Index>& arms = {}) {
  const Index n = X.rows();
  const LowRankBasis& basis = posterior.basis();
  const VectorXd& w = posterior.weights();
  Panels phi(n);
  phi.reserve(few, 0);
  if (crosses) crosses->at(basis, arms, few, phi);
  else basis.at(X, phi, few);
  const BasisSums at = sums_at(posterior, few, phi, n);
  VectorXd own(n);
  basis.kernel().diagonal(X, own);
  const Eigen::ArrayXd rest =
      ((own - at.spanned).cwiseMax(0.0) + kBasisPivot * own).array().sqrt();
  const double c = std::sqrt(beyond);
  const double weight = w.tail(w.size() - few).norm();
  MomentBounds out;
  out.least_mean = at.mean.array() - weight * rest;
  out.largest_mean = at.mean.array() + weight * rest;
  out.least_sd = at.left.cwiseSqrt();
  out.largest_sd = (at.left.array() + (rest + c * out.least_sd.array()).square()).sqrt();
  const LowRankError of_answer = posterior.certificate();
  for (Index i = 0; posterior.corrects() && i < n; ++i) {
    widen(out, i, posterior.certificate_of_basis(), of_answer);
  }
  return out;
}

// Bounds by the whole basis, with coordinates from `crosses`. They equal the posterior's predictions except for
// rounding and possible corrections.
static MomentBounds bounds_by_crosses(const LowRankPosterior& posterior, const Points& X, const ArmCrosses& crosses,
                                      const std::vector<Index>& arms) {
  const Index n = X.rows(), r = posterior.rank();
  const VectorXd& w = posterior.weights();
  Panels phi(n);
  phi.reserve(r, 0);
  crosses.at(posterior.basis(), arms, r, phi);
  const BasisSums at = sums_at(posterior, r, phi, n);
  VectorXd own(n);
  posterior.basis().kernel().diagonal(X, own);
  const VectorXd hidden = kBasisPivot * own, variance = at.left + own - at.spanned;
  MomentBounds out;
  out.least_mean = at.mean - w.norm() * hidden;
  out.largest_mean = at.mean + w.norm() * hidden;
  out.least_sd = (variance - hidden).cwiseMax(0.0).cwiseSqrt();
  out.largest_sd = (variance + hidden).cwiseMax(0.0).cwiseSqrt();
  const LowRankError of_basis = posterior.certificate_of_basis(), of_answer = posterior.certificate();
  const bool as_it_is = !posterior.corrects() || of_basis.largest() <= posterior.accuracy();
  for (Index i = 0; !as_it_is && i < n; ++i) widen(out, i, of_basis, of_answer);
  return out;
}

MomentBounds bounds_by_few(const LowRankPosterior& posterior, const Points& X, Index few) {
  return bounds_by(posterior, X, few, known_beyond(posterior.precision())[few]);
}

bool ArmCrosses::follow(const LowRankBasis& basis, const Points& arms) {
  const Index n = arms.rows(), contexts = arms.cols() - inputs_ - 1, r = basis.rank();
  if (kernel_ != basis.kernel_pointer()) {
    kernel_ = basis.kernel_pointer();
    splits_ = n <= kMostCrossed && gpb::splits(*kernel_, inputs_, contexts);
    if (splits_) among_arms_ = kernel_->gram(arms);
  }
  if (!splits_ || r == 0) return false;
  const Points points = basis.points();
  if (points.cols() != arms.cols()) return false;
  Points elsewhere = arms.row(0).replicate(r, 1);
  elsewhere.middleCols(inputs_, contexts) = points.middleCols(inputs_, contexts);
  by_context_.resize(r);
  kernel_->cross(arms.row(0).transpose(), elsewhere, by_context_);
  by_context_ /= among_arms_(0, 0);
  arm_.resize(static_cast<std::size_t>(r));
  for (Index i = 0; i < r; ++i) {
    const double number = points(i, points.cols() - 1);
    if (!(number >= 0.0 && number < static_cast<double>(n))) return false;
    arm_[static_cast<std::size_t>(i)] = static_cast<Index>(number);
  }
  return true;
}

void ArmCrosses::at(const LowRankBasis& basis, const std::vector<Index>& arms, Index few, Panels& out) const {
  VectorXd values(static_cast<Index>(arms.size()));
  for (Index i = 0; i < few; ++i) {
    const double* const beside = among_arms_.col(arm_[static_cast<std::size_t>(i)]).data();
    for (Index j = 0; j < values.size(); ++j) values[j] = beside[arms[static_cast<std::size_t>(j)]] * by_context_[i];
    out.set_row(i, values.data());
  }
  forward_solve(basis.factor().packed(), 0, few, out);
}

Index best_point(const RisingScore& score, const LowRankPosterior& posterior, const Points& X,
                 const VectorXd& prior_mean, const std::vector<char>* eligible, const ArmCrosses* crosses) {
  std::vector<Index> rows;
  for (Index i = 0; i < X.rows(); ++i) {
    if (!eligible || (*eligible)[static_cast<std::size_t>(i)]) rows.push_back(i);
  }
  if (rows.empty()) throw std::invalid_argument("no arm is eligible");
  const Index r = posterior.rank();
  const VectorXd beyond = known_beyond(posterior.precision());
  Index few = 0;
  for (const double part : kStages) {
    while (few < r && beyond[few] > part) ++few;
    const bool pays = static_cast<double>(few) <= kWorthwhile * static_cast<double>(r);
    if (few == 0 || !pays || static_cast<Index>(rows.size()) <= kOnePanel) continue;
    rows = kept(score, bounds_by(posterior, rows_of(X, rows), few, beyond[few], crosses, rows),
                entries_of(prior_mean, rows), rows);
  }
  if (crosses && rows.size() > 1) {
    const MomentBounds at = bounds_by_crosses(posterior, rows_of(X, rows), *crosses, rows);
    rows = kept(score, at, entries_of(prior_mean, rows), rows);
  }
  // Predictions by the basis may need a correction. It is computed only for the rows that can still win.
  if (posterior.corrects() && rows.size() > 1) {
    rows = kept(score, bounds_by_basis(posterior, rows_of(X, rows)), entries_of(prior_mean, rows),
                rows);
  }
  if (rows.size() == 1) return rows[0];
  VectorXd mean, variance;
  posterior.predict(rows_of(X, rows), mean, variance);
  mean += entries_of(prior_mean, rows);
  VectorXd exact(mean.size());
  for (Index i = 0; i < exact.size(); ++i) exact[i] = score.of(mean[i], std::sqrt(variance[i]));
  return rows[static_cast<std::size_t>(first_best(exact.data(), exact.size(), score.tie))];
}

// ---- the best of a tree of arms -----------------------------------------------------------------

namespace {

constexpr Index kLeafArms = 32;
constexpr Index kMostLeaves = 65536;  // above this number, leaves become larger
constexpr Index kChildren = 32;
constexpr Index kWidthArms = 128;      // arms from which the widest input of a part is determined
constexpr Index kRecent = 200;         // choices after which a node's coordinates are dropped
constexpr Index kDropEvery = 16;
constexpr Index kMovesEvery = 32;     // observations after which all moves are recomputed
constexpr double kKeptNumbers = 1e8;  // coordinates kept (0.8 GB, if nothing can be skipped)

}  // namespace

// ---- the tree -------------------------------------------------------------------------------

LazyArms::LazyArms(const Kernel& kernel, const Points& arms, Index inputs, VectorXd prior_mean) {
  const Index n = arms.rows();
  if (n == 0) throw std::invalid_argument("there are no arms");
  if (prior_mean.size() != 1 && prior_mean.size() != n) {
    throw std::invalid_argument("the prior mean has one value, or one per arm");
  }
  leaf_arms_ = std::max(kLeafArms, n / kMostLeaves + 1);
  order_.resize(static_cast<std::size_t>(n));
  std::iota(order_.begin(), order_.end(), Index(0));
  points_ = arms;
  std::vector<Keyed> rows(static_cast<std::size_t>(n));
  build(inputs, 0, n, rows);
  prior_mean_ = prior_mean;
  for (Index i = 0; i < n && prior_mean.size() > 1; ++i) prior_mean_[i] = prior_mean[arm_of(i)];
  const LowRankPosterior nothing(kernel.clone(), 1.0);
  const RisingScore mean{nullptr, 0.0, 0.0};
  const Round prior{mean, nothing, nullptr, DriftBound(), 0.0, {}, {}, {}, 0.0, 0};
  for (Node& any : nodes_) {
    const View at = view(any, nothing);
    any.opened = -1;
    if (any.children.empty()) remember(any, at, prior);
    else gather(any, at, prior);
  }
}

// Halves parts repeatedly, until there are enough of them for a node or they are small enough for leaves. This is a k-d
// tree from which intermediate levels are removed. The arms of a node are made adjacent before the nodes below it are
// made.
Index LazyArms::build(Index inputs, Index first, Index count, std::vector<Keyed>& rows) {
  Node made;
  made.first = first;
  made.count = count;
  std::vector<Index> start{0, count};
  for (Index i = 0; i < count; ++i) rows[static_cast<std::size_t>(i)].row = first + i;
  // cppcheck-suppress containerOutOfBounds; it takes the two values for none
  while (start[1] - start[0] > leaf_arms_ && static_cast<Index>(start.size()) <= kChildren) {
    std::vector<Index> finer;
    for (std::size_t k = 0; k + 1 < start.size(); ++k) {
      const Index part = start[k + 1] - start[k];
      halve(inputs, &rows[static_cast<std::size_t>(start[k])], part);
      finer.push_back(start[k]);
      finer.push_back(start[k] + part - part / 2);
    }
    finer.push_back(start.back());
    start = std::move(finer);
  }
  if (start.size() > 2) put_in_order(first, count, rows);
  for (std::size_t k = 0; start.size() > 2 && k + 1 < start.size(); ++k) {
    made.children.push_back(build(inputs, first + start[k], start[k + 1] - start[k], rows));
  }
  choose_centre(made, inputs);
  const auto begin = order_.begin() + first;
  made.first_arm = *std::min_element(begin, begin + count);
  nodes_.push_back(std::move(made));
  return static_cast<Index>(nodes_.size()) - 1;
}

// Splits at the median of the widest input; the first half is the larger one. The widest input is determined from some
// of the arms only. This is safe, because the bounds of the nodes do not depend on it.
void LazyArms::halve(Index inputs, Keyed* rows, Index count) const {
  const Index step = std::max<Index>(1, count / kWidthArms);
  Index widest = 0;
  double side = -1.0;
  for (Index c = 0; c < inputs; ++c) {
    double low = kInf, high = -kInf;
    for (Index i = 0; i < count; i += step) {
      low = std::min(low, points_(rows[i].row, c));
      high = std::max(high, points_(rows[i].row, c));
    }
    if (high - low > side) {
      side = high - low;
      widest = c;
    }
  }
  for (Index i = 0; i < count; ++i) rows[i].key = points_(rows[i].row, widest);
  std::nth_element(rows, rows + (count - count / 2), rows + count,
                   [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
}

void LazyArms::put_in_order(Index first, Index count, const std::vector<Keyed>& rows) {
  const auto row = [&](Index i) { return rows[static_cast<std::size_t>(i)].row; };
  VectorXd column(count);
  for (Index c = 0; c < points_.cols(); ++c) {
    for (Index i = 0; i < count; ++i) column[i] = points_(row(i), c);
    points_.col(c).segment(first, count) = column;
  }
  std::vector<Index> arms(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) arms[static_cast<std::size_t>(i)] = arm_of(row(i));
  std::copy(arms.begin(), arms.end(), order_.begin() + first);
}

// The member nearest to the centroid.
void LazyArms::choose_centre(Node& of, Index inputs) const {
  VectorXd gap = VectorXd::Zero(members(of));
  for (Index c = 0; c < inputs; ++c) {
    double middle = 0.0;
    for (Index k = 0; k < gap.size(); ++k) middle += points_(member(of, k), c);
    middle /= static_cast<double>(gap.size());
    for (Index k = 0; k < gap.size(); ++k) {
      const double apart = points_(member(of, k), c) - middle;
      gap[k] += apart * apart;
    }
  }
  gap.minCoeff(&of.middle);
  of.centre = member(of, of.middle);
}

// ---- bounds for a node ----------------------------------------------------------------------

LazyArms::View LazyArms::view(Node& of, const LowRankPosterior& posterior) {
  of.opened = call_;
  std::unique_ptr<LowRankCandidates> seen = std::move(of.kept);
  if (seen) {
    kept_numbers_ -= static_cast<double>(seen->features().size());
  } else {
    Points X(members(of), points_.cols());
    for (Index c = 0; c < X.cols(); ++c) {
      for (Index k = 0; k < X.rows(); ++k) X(k, c) = points_(member(of, k), c);
    }
    seen = std::make_unique<LowRankCandidates>(std::move(X), of.middle);
  }
  seen->follow(posterior);
  View out{seen->mean(), seen->variance().cwiseSqrt(), seen->apart().cwiseSqrt()};
  for (Index k = 0; k < out.mean.size(); ++k) out.mean[k] += prior_mean(member(of, k));
  if (call_ > 0 && kept_numbers_ < kKeptNumbers) {
    kept_numbers_ += static_cast<double>(seen->features().size());
    of.kept = std::move(seen);
  }
  return out;
}

void LazyArms::drop_stale() {
  for (Node& any : nodes_) {
    if (!any.kept || call_ - any.opened <= kRecent) continue;
    kept_numbers_ -= static_cast<double>(any.kept->features().size());
    any.kept.reset();
  }
}

// Loops over all observations, which takes time, and is therefore done only now and then.
void LazyArms::follow_moves(const LowRankPosterior& posterior) {
  const DriftBound now = posterior.drift_bound();
  if (moves_until_.version != now.version ||
      now.observations > moves_until_.observations + kMovesEvery) {
    moves_before_ = posterior.moves(0);
    moves_until_ = now;
  }
  moves_since_ = posterior.moves(moves_until_.observations);
}

// By how many of its earlier sds a mean may have moved since `then`; infinite if no bound is available.
double LazyArms::moved(const DriftBound& then, const DriftBound& now) const {
  const bool since_prior = !then.version && now.from_prior;
  if (!since_prior && then.version != now.version) return kInf;
  if (now.changes == then.changes) {
    const Index until = moves_until_.observations;
    return then.observations < until ? moves_before_[then.observations] + moves_since_[0]
                                     : moves_since_[then.observations - until];
  }
  const double innovations = std::max(0.0, now.innovations - then.innovations);
  return std::sqrt(innovations) + now.changes - then.changes;
}

// The stored values differ from the exact posterior by the certificate; the bounds hold for the exact posterior.
LazyArms::Reach LazyArms::reach(const Node& of, double centre_mean, double centre_sd,
                                double weight, const DriftBound& now) const {
  const double since = moved(of.seen, now) + slack_;
  if (std::isinf(since)) return {kInf, kInf, kInf};
  const double slack = slack_ * (of.sd + centre_sd);
  const double risen = std::min(of.sd * since, centre_mean - of.centre_mean + of.apart * since);
  const double widened = (1.0 + slack_) * weight;
  const double sd = std::min(of.sd, centre_sd + of.apart);
  const double grown = std::max(0.0, widened - of.weight) * of.sd;
  const double joint = std::min(of.joint + risen + grown, of.mean + risen + widened * sd);
  return {joint + slack, of.mean + risen + slack, (1.0 + slack_) * sd};
}

// Stores the bounds of a leaf.
void LazyArms::remember(Node& leaf, const View& view, const Round& round) const {
  leaf.joint = (view.mean + round.weight * view.sd).maxCoeff();
  leaf.mean = view.mean.maxCoeff();
  leaf.sd = view.sd.maxCoeff();
  leaf.apart = view.apart.maxCoeff();
  leaf.weight = round.weight;
  leaf.centre_mean = view.mean[leaf.middle];
  leaf.seen = round.now;
}

// Stores the bounds of an inner node, after the nodes below it that had to be opened.
void LazyArms::gather(Node& above, const View& view, const Round& round) const {
  above.joint = above.mean = -kInf;
  above.sd = above.apart = 0.0;
  for (Index k = 0; k < view.mean.size(); ++k) {
    const Node& below = node(above.children[static_cast<std::size_t>(k)]);
    const Reach most = reach(below, view.mean[k], view.sd[k], round.weight, round.now);
    above.joint = std::max(above.joint, most.joint);
    above.mean = std::max(above.mean, most.mean);
    above.sd = std::max(above.sd, most.sd);
    above.apart = std::max(above.apart, view.apart[k] + below.apart);
  }
  above.weight = round.weight;
  above.centre_mean = view.mean[above.middle];
  above.seen = round.now;
}

// ---- the choice -----------------------------------------------------------------------------

void LazyArms::open(Index number, Round& round) {
  View at = view(node(number), round.posterior);
  const std::vector<Index>& children = node(number).children;
  if (children.empty()) return look(number, at, round);
  for (Index k = 0; k < at.mean.size(); ++k) {
    const Index child = children[static_cast<std::size_t>(k)];
    const Reach most = reach(node(child), at.mean[k], at.sd[k], round.weight, round.now);
    const bool joint = !std::isnan(round.score.weight) || std::isinf(most.joint);
    const double value = joint ? most.joint : round.score.of(most.mean, most.sd);
    if (value < round.least()) continue;
    round.heap.push_back({value, child});
    std::push_heap(round.heap.begin(), round.heap.end());
  }
  round.opened.push_back({number, std::move(at)});
}

// Scores all arms of a leaf.
void LazyArms::look(Index number, const View& view, Round& round) {
  Node& leaf = node(number);
  remember(leaf, view, round);
  Evaluated here{number, -kInf, VectorXd(leaf.count)};
  for (Index j = 0; j < leaf.count; ++j) {
    const auto arm = static_cast<std::size_t>(arm_of(leaf.first + j));
    const bool allowed = !round.eligible || (*round.eligible)[arm];
    here.score[j] = allowed ? round.score.of(view.mean[j], view.sd[j]) : kNaN;
    if (here.score[j] > here.best) here.best = here.score[j];
  }
  looked_at_ += leaf.count;
  const double tie = round.score.tie;
  if (here.best < round.best - tie) return;
  const bool better = here.best > round.best;
  round.best = std::max(round.best, here.best);
  round.looked.push_back(std::move(here));
  round.first = better ? first_tied(round.looked, round.best - tie)
                       : std::min(round.first, first_tied({round.looked.back()}, round.best - tie));
}

Index LazyArms::first_tied(const std::vector<Evaluated>& looked, double least) const {
  Index first = size();
  for (const Evaluated& part : looked) {
    if (part.best < least) continue;
    const Node& leaf = node(part.leaf);
    for (Index j = 0; j < leaf.count; ++j) {
      if (part.score[j] >= least) first = std::min(first, arm_of(leaf.first + j));
    }
  }
  return first;
}

Index LazyArms::choose(const RisingScore& score, const LowRankPosterior& posterior,
                       const std::vector<char>* eligible) {
  ++call_;
  looked_at_ = 0;
  if (call_ % kDropEvery == 0) drop_stale();
  slack_ = 2.0 * posterior.certificate().largest();
  follow_moves(posterior);
  const double weight = std::isnan(score.weight) ? 0.0 : score.weight;
  Round round{score, posterior, eligible, posterior.drift_bound(), weight, {}, {}, {}, -kInf, size()};
  round.heap.push_back({kInf, static_cast<Index>(nodes_.size()) - 1});
  while (!round.heap.empty() && !(round.heap.front().value < round.least())) {
    std::pop_heap(round.heap.begin(), round.heap.end());
    const Bound next = round.heap.back();
    round.heap.pop_back();
    // It can at most be tied, and then loses to the earlier arm.
    if (next.value <= round.best && node(next.number).first_arm > round.first) continue;
    open(next.number, round);
  }
  // A node is opened before the nodes below it.
  for (auto at = round.opened.rbegin(); at != round.opened.rend(); ++at) {
    gather(node(at->number), at->view, round);
  }
  if (round.first == size()) throw std::invalid_argument("no arm is eligible");
  return round.first;
}

}  // namespace gpb
