// Functions of low_rank_posterior.h: choice and order of the basis, and the certificate of its error. Uses linalg/ and
// kernels/.
#include "posteriors/low_rank_posterior.h"

#include "kernels/pivoted_cholesky.h"
#include "linalg/decompositions.h"
#include "linalg/floors.h"
#include "linalg/room.h"
#include "linalg/sweeps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpb {

namespace {

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
  if (!cholesky(P)) throw_runtime("the posterior precision lost positive definiteness");
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

namespace {

// Bounds on the difference between a low-rank posterior and the dense one.

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

}  // namespace gpb
