#include "posteriors/best_point.h"

#include <cmath>

#include "base/ties.h"
#include "linalg/floors.h"
#include "linalg/rows_of.h"

namespace gpb {

namespace {

// Rows are looked at by so few points of the basis that the others have no more than this part of
// the information (1 is as much as one observation with the prior's variance as its noise has).
constexpr double kStages[] = {3.0, 0.3};
constexpr double kWorthwhile = 0.7;  // of the rank: more points cost as much as all
constexpr Index kFewRows = Panels::kWidth;

// How far coordinates from the q-th on are known, for every q: the sum of P_pp - 1, p >= q.
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

// Answers that differ from what the basis says at row i by so much.
void widen(MomentBounds& at, Index i, const LowRankError& of_basis, const LowRankError& of_answer) {
  const double factor = (1.0 + of_basis.sd) * (1.0 + of_answer.sd);
  at.least_sd[i] /= factor;
  at.largest_sd[i] *= factor;
  const double moved = (of_basis.mean + of_answer.mean) * at.largest_sd[i];
  at.least_mean[i] -= moved;
  at.largest_mean[i] += moved;
}

// Between what the posterior's answers lie, by what its basis says and how well.
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

// Rows whose score can be the best, or tied with it.
std::vector<Index> kept(const RisingScore& score, const MomentBounds& at, const VectorXd& prior,
                        const std::vector<Index>& rows) {
  double least = -kInf;
  for (Index i = 0; i < prior.size(); ++i) {
    least = std::max(least, score.of(prior[i] + at.least_mean[i], at.least_sd[i]));
  }
  least -= 2.0 * score.tie;  // (bounds are rounded, too)
  std::vector<Index> out;
  for (Index i = 0; i < prior.size(); ++i) {
    const double largest = score.of(prior[i] + at.largest_mean[i], at.largest_sd[i]);
    if (!(largest < least)) out.push_back(rows[static_cast<std::size_t>(i)]);
  }
  return out;
}

}  // namespace

// With the coordinates (p, q) of x, p the first few, l = k(x, x) - |p|^2 >= |q|^2, and
// M = [M1, 0; M2, M3]:
//   mean = p'w1 + q'w2,   variance = l - |q|^2 + |a|^2 + |M3^-1 (q - M2 a)|^2,   a = M1^-1 p.
// P >= I makes M3 M3' >= I and |M2|^2 <= sum of P_jj - 1 beyond the first few =: c^2, so that
//   |mean - p'w1| <= sqrt(l) |w2|,   |a|^2 <= variance <= |a|^2 + (sqrt(l) + c |a|)^2.
// (`beyond`: c^2)
static MomentBounds bounds_by(const LowRankPosterior& posterior, const Points& X, Index few,
                              double beyond) {
  const Index n = X.rows();
  const LowRankBasis& basis = posterior.basis();
  const VectorXd& w = posterior.weights();
  Panels phi(n);
  phi.reserve(few, 0);
  basis.at(X, phi, few);
  const VectorXd zero = VectorXd::Zero(phi.count() * Panels::kWidth);
  VectorXd mean = zero, spanned = zero, left = zero, ignored = zero;
  accumulate_rows(phi, 0, few, w.data(), mean.data(), spanned.data());
  forward_solve(posterior.precision().packed(), 0, few, phi);
  accumulate_rows(phi, 0, few, w.data(), ignored.data(), left.data());
  VectorXd own(n);
  basis.kernel().diagonal(X, own);
  const Eigen::ArrayXd rest =
      ((own - spanned.head(n)).cwiseMax(0.0) + kBasisPivot * own).array().sqrt();
  const double c = std::sqrt(beyond);
  const double weight = w.tail(w.size() - few).norm();
  MomentBounds out;
  out.least_mean = mean.head(n).array() - weight * rest;
  out.largest_mean = mean.head(n).array() + weight * rest;
  out.least_sd = left.head(n).cwiseSqrt();
  out.largest_sd = (left.head(n).array() + (rest + c * out.least_sd.array()).square()).sqrt();
  const LowRankError of_answer = posterior.certificate();
  for (Index i = 0; posterior.corrects() && i < n; ++i) {
    widen(out, i, posterior.certificate_of_basis(), of_answer);
  }
  return out;
}

MomentBounds bounds_by_few(const LowRankPosterior& posterior, const Points& X, Index few) {
  return bounds_by(posterior, X, few, known_beyond(posterior.precision())[few]);
}

Index best_point(const RisingScore& score, const LowRankPosterior& posterior, const Points& X,
                 const VectorXd& prior_mean, const std::vector<char>* eligible) {
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
    if (few == 0 || !pays || static_cast<Index>(rows.size()) <= kFewRows) continue;
    rows = kept(score, bounds_by(posterior, rows_of(X, rows), few, beyond[few]),
                entries_of(prior_mean, rows), rows);
  }
  // What the basis says may need to be corrected; only where that can matter.
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
