// Functions of best_point.h: exact search for the best of some points, without evaluating the whole basis at each. Uses
// base/, linalg/ and kernels/.
#include "posteriors/best_point.h"

#include "base/ties.h"
#include "kernels/splits.h"
#include "linalg/floors.h"
#include "linalg/rows_of.h"

#include <algorithm>
#include <cmath>

namespace gpb {

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
  if (rows.empty()) throw_invalid("no arm is eligible");
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

}  // namespace gpb
