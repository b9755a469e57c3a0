// How far a low-rank posterior can be from the dense one.
#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/floors.h"
#include "linalg/sweeps.h"
#include "posteriors/low_rank_posterior.h"

namespace gpb {

namespace {

constexpr Index kFewRows = 64;
// A corrected answer takes rows times rank: where rank^2 is less than so many rows, more points than
// the certificate wants are cheaper than corrections.
constexpr double kCorrectionCost = 8.0;
constexpr double kComfortable = 0.5;  // of the accuracy
constexpr double kWellKnown = 5.0;  // times the accuracy: what the basis says is often good enough
constexpr Index kMeasureBlock = 256;
constexpr Index kRowsMeasured = 4096;  // at a time, where answers are corrected
constexpr double kLastMeasures = 16.0;  // so often, at most, while the rows double
constexpr double kRoundSquares = 1.0;  // values of the kernel that a round may cost, over rank^2
constexpr double kOfDenseRank = 0.5;  // beyond this part of the rows the basis does not pay

// The largest stretch of (a, b) -> (a, b - C'a) where |C| = c, see below.
double stretch(double c) { return 0.5 * (c + std::sqrt(c * c + 4.0)); }

}  // namespace

// ---- what the basis leaves out --------------------------------------------------------------

bool LowRankPosterior::may_join(Index row) const {
  return !in_basis_[static_cast<std::size_t>(row)] &&
         residual_[row] > std::max(resolution_[row], kBasisPivot * variance_[row]);
}

// What the basis leaves out of a row that weighs so much more.
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

// The sum of residuals over their noise that meets the accuracy, see certificate().
double LowRankPosterior::left_out_limit(double residual_squares) const {
  if (corrects()) {
    const double r = static_cast<double>(rank()), rows = static_cast<double>(rows_);
    return kCorrectedShare * accuracy_ * std::min(1.0, r * r / (kCorrectionCost * rows));
  }
  const double without_measuring = accuracy_ * accuracy_ / std::max(residual_squares, 0.25);
  if (rank() < kCheapRank) return without_measuring;
  return std::max(without_measuring, kMeasuredShare * accuracy_ * accuracy_);
}

// A row's residual times its weight, from which on it had better be in the basis.
double LowRankPosterior::allowance() const {
  const double rows = static_cast<double>(std::max(rows_, kFewRows));
  return 0.5 * noise_var_ * left_out_limit(residual_squares()) / rows;
}

// ---- the mean's error, measured -------------------------------------------------------------
// g = sum of d_i R_i, d = N^-1 (y - Phi w), needs E = K - Phi Phi' itself. It is measured now
// and then, O(t^2) values of the kernel, at weights w0 and with them d0; in between
//   g = sum of d0_i R_i - R' N^-1 Phi (w - w0), the latter at most |C| |P^1/2 (w - w0)|,
// and outside = d0'E d0 is brought up to date where a row's d0 changes (O(t)) or the basis grows.
// Where answers are corrected the error matters less, and blocks of rows are measured by themselves,
// O(t s) values of the kernel for blocks of s: |g| is no more than the sum of their parts' lengths.

Index LowRankPosterior::block_rows() const {
  return corrects() ? kRowsMeasured : std::numeric_limits<Index>::max();
}

// The first of them, and how many.
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
    if (rank() > 0) inside.noalias() = features.transpose() * own;
    VectorXd left = gram_times(own, begin);
    if (rank() > 0) left.noalias() -= features * inside;
    double outside = 0.0;
    for (Index i = 0; i < count; ++i) {
      if (!in_basis_[static_cast<std::size_t>(begin + i)]) outside += own[i] * left[i];
    }
    reference_.inside.push_back(std::move(inside));
    reference_.outside.push_back(outside);
  }
}

// K v over the rows from `begin` on, each value of the kernel once.
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

// A row's statistics change by so much.
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

// The basis has one more coordinate.
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

// Split the kernel's space into the span and the rest, and let every observation be divided by
// the root of its noise. A = N^-1/2 Phi, R the rest of the points played, E = R R' (after the
// division), so that the dense posterior's precision is
//   V = [I + A'A, A'R; R'A, I + R'R]   where this posterior has   [I + A'A, 0; 0, I].
// For x with coordinates phi in the span and b in the rest, a = (I + A'A)^-1/2 phi and
// C = (I + A'A)^-1/2 A'R, the Schur complement S = I + R'(I + AA')^-1 R gives
//   dense variance = |a|^2 + |S^-1/2 (b - C'a)|^2,   this variance = |a|^2 + |b|^2,
//   dense mean - this mean = (b - C'a)' S^-1 g,      g = R' N^-1/2 (y - Phi w).
// |C|^2 <= |E| <= trace E =: d, I <= S <= (1 + d) I, |g|^2 <= |E| * (sum of squared residuals
// over their noise). Hence
//   * |difference of means| <= |S^-1/2 (b - C'a)| |g| <= (dense sd) |g|;
//   * (a, b) -> (a, b - C'a) and its inverse stretch by (c + sqrt(c^2 + 4)) / 2 at most,
//     c = |C|: about 1 + c / 2, so the sds' ratio is within that times sqrt(1 + d);
//   * log det V - log det of this precision = log det S <= trace(S - I) <= d.
// And for f of norm B with parts p in the span and q in the rest, noise e (divided as above):
//   f(x) - this mean = a'(I + A'A)^-1/2 p + b'q - a'C q - a'(I + A'A)^-1/2 A'e,
// the first two terms together at most (this sd) B, the third c B (this sd), the last (this sd)
// times the root of e'Q(I + Q)^-1 e <= e'K(I + K)^-1 e, Q = AA' <= K: see width_factor().
// Where |b| is small beside |a| both bounds become products of two small numbers, see error_at():
// the error is of second order there. Elsewhere it is once b'g is added to the mean, and 2 a'C b
// taken from the variance: with u = b - C'a,
//   dense mean - (this mean + b'g) = u'(S^-1 - I) g - a'C g, at most (d + c) |g| (dense sd);
//   dense variance = |a|^2 + u'S^-1 u, |u|^2 = |b|^2 - 2 a'C b + |C'a|^2, the last at most c^2 |a|^2,
// so that the sds' ratio is within sqrt(1 + d). (Where |b|^2 < 2 a'C b, 0 stands for the difference.)

// |C|, with residuals lost in rounding as independent errors: their E is diagonal.
double LowRankPosterior::coupling() const { return std::sqrt(left_out_) + std::sqrt(rounding_); }

// Not where it has just been done; nor more often than what it costs, rows times those of a block, stays
// a part of what all rounds since have cost, some rank^2 each.
bool LowRankPosterior::measuring_helps() const {
  const double rows = static_cast<double>(rows_), r = static_cast<double>(rank());
  const double since = static_cast<double>(size() - measured_at_);
  if (!corrects() && rank() < kCheapRank) return false;
  const double block = static_cast<double>(std::min(rows_, block_rows()));
  const double round = std::max(r * r, static_cast<double>(kCheapRank * kCheapRank));
  return since * kRoundSquares * round >= rows * block && !measured_now();
}

// Where no point is left that could join, measuring is all that keeps the dense engine away.
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

// Have the weights moved so far since the mean's error was measured that it is not known well any more?
bool LowRankPosterior::strayed() const {
  if (!corrects() || certificate_of_basis().mean <= kWellKnown * accuracy_) return false;
  return !reference_.kept || coupling() * moved_since_reference() > measured_then();
}

// |g|, the smaller of two bounds. (What rounding makes of `outside` are independent errors, too: of
// the coordinates' they are a diagonal E, whose d0'E d0 is a sum over the rows.)
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

// Once the first order is taken away.
LowRankError LowRankPosterior::corrected_error(const LowRankError& of_basis) const {
  const double c = coupling(), d = c * c;
  return {of_basis.mean * (c + d), std::sqrt(1.0 + d) - 1.0, of_basis.information};
}

// (What the basis says with an error within the accuracy is not corrected.)
LowRankError LowRankPosterior::certificate() const {
  const LowRankError of_basis = certificate_of_basis();
  if (!corrects()) return of_basis;
  const LowRankError corrected = corrected_error(of_basis);
  return {std::min(of_basis.mean, std::max(accuracy_, corrected.mean)),
          std::min(of_basis.sd, std::max(accuracy_, corrected.sd)), of_basis.information};
}

// Where much has been played the error of what the basis says is hardly more than that of corrected
// answers: is it well below the accuracy, so that there need be none?
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

// Of what the basis says where the variance's parts are |a|^2 and |b|^2.
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
