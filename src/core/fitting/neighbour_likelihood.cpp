// The marginal likelihood from groups of neighbours: the groups, and the sum of terms.
// Uses base/, kernels/ and linalg/.
#include "fitting/neighbour_likelihood.h"

#include "base/ordering.h"
#include "linalg/decompositions.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// ---- groups of points ---------------------------------------------------------------------------

namespace {

using Rows = std::vector<Index>;

constexpr Index kMembers = 8;  // number of a group's members whose neighbours are searched

// The nearness of points is the logarithm of |correlation|, which also orders points that are far away.
class Nearness {
 public:
  Nearness(const Kernel& kernel, const Points& X) : kernel_(kernel), X_(X), sd_(X.rows()) {
    kernel.diagonal(X, sd_);
    const double least = 1e-150 * std::max(1e-150, sd_.maxCoeff());
    for (Index i = 0; i < sd_.size(); ++i) sd_[i] = std::sqrt(std::max(sd_[i], least));
  }

  Points points(const Rows& rows) const {
    Points out(static_cast<Index>(rows.size()), X_.cols());
    for (std::size_t k = 0; k < rows.size(); ++k) copy_row(out, static_cast<Index>(k), X_, rows[k]);
    return out;
  }
  // |Correlation| of a point with each of `rows`, whose points these are.
  VectorXd correlations(Index from, const Rows& rows, const Points& points) const {
    VectorXd out(points.rows());
    kernel_.cross(row_of(X_, from), points, out);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      double& one = out[static_cast<Index>(k)];
      one = std::abs(one) / (sd_[from] * sd_[rows[k]]);
    }
    return out;
  }
  VectorXd operator()(Index from, const Rows& rows, const Points& points) const {
    VectorXd out = correlations(from, rows, points);
    for (Index k = 0; k < out.size(); ++k) out[k] = std::log(std::max(out[k], 1e-300));
    return out;
  }

 private:
  const Kernel& kernel_;
  const Points& X_;
  VectorXd sd_;
};

// Halves the rows until no group has more than `most`. Each half has the rows nearer to one of two distant points.
void halve(const Nearness& near, Rows rows, Index most, std::vector<Rows>& out) {
  if (static_cast<Index>(rows.size()) <= most) {
    out.push_back(std::move(rows));
    return;
  }
  const Points points = near.points(rows);
  Index one, other;
  near(rows[0], rows, points).minCoeff(&one);
  const VectorXd to_one = near(rows[static_cast<std::size_t>(one)], rows, points);
  to_one.minCoeff(&other);
  const VectorXd side = to_one - near(rows[static_cast<std::size_t>(other)], rows, points);
  std::vector<std::pair<double, Index>> ranked(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) ranked[k] = {side[static_cast<Index>(k)], rows[k]};
  const auto middle = ranked.begin() + static_cast<std::ptrdiff_t>(ranked.size() / 2);
  std::nth_element(ranked.begin(), middle, ranked.end());
  Rows left, right;
  for (auto it = ranked.begin(); it != ranked.end(); ++it) (it < middle ? left : right).push_back(it->second);
  sort_increasing(left);
  sort_increasing(right);
  halve(near, std::move(left), most, out);
  halve(near, std::move(right), most, out);
}

// The member that is nearest to the others.
Index centre_of(const Nearness& near, const Rows& rows) {
  const Points points = near.points(rows);
  VectorXd sum = VectorXd::Zero(points.rows());
  for (const Index row : rows) sum += near.correlations(row, rows, points);
  Index best;
  sum.maxCoeff(&best);
  return rows[static_cast<std::size_t>(best)];
}

// Each next centre is the farthest from the earlier ones.
std::vector<std::size_t> farthest_first(const Nearness& near, const Rows& centres) {
  const Points points = near.points(centres);
  VectorXd nearest = VectorXd::Constant(points.rows(), -kInf);
  std::vector<std::size_t> order;
  Index next = 0;
  for (std::size_t k = 0; k < centres.size(); ++k) {
    order.push_back(static_cast<std::size_t>(next));
    nearest = nearest.cwiseMax(near(centres[static_cast<std::size_t>(next)], centres, points));
    nearest[next] = kInf;
    nearest.minCoeff(&next);
  }
  return order;
}

// The earlier rows with the largest sum of squared correlations with some of the members.
Rows nearest_of(const Nearness& near, const Rows& earlier, const Rows& own, Index most) {
  if (static_cast<Index>(earlier.size()) <= most) return earlier;
  const Points points = near.points(earlier);
  VectorXd score = VectorXd::Zero(points.rows());
  const std::size_t step = std::max<std::size_t>(1, own.size() / static_cast<std::size_t>(kMembers));
  for (std::size_t k = 0; k < own.size(); k += step) {
    score += near.correlations(own[k], earlier, points).cwiseAbs2();
  }
  std::vector<std::pair<double, Index>> ranked;
  for (std::size_t k = 0; k < earlier.size(); ++k) ranked.emplace_back(-score[static_cast<Index>(k)], earlier[k]);
  const auto end = ranked.begin() + most;
  std::nth_element(ranked.begin(), end, ranked.end());
  Rows out;
  for (auto it = ranked.begin(); it != end; ++it) out.push_back(it->second);
  sort_increasing(out);
  return out;
}

}  // namespace

std::vector<Neighbourhood> neighbourhoods(const Kernel& kernel, const Points& X, const NeighbourhoodSize& size) {
  const Nearness near(kernel, X);
  Rows all;
  for (Index i = 0; i < X.rows(); ++i) all.push_back(i);
  std::vector<Rows> groups;
  halve(near, std::move(all), size.own, groups);
  Rows centres;
  for (const Rows& group : groups) centres.push_back(centre_of(near, group));
  std::vector<Neighbourhood> out;
  Rows earlier;
  for (const std::size_t k : farthest_first(near, centres)) {
    out.push_back({nearest_of(near, earlier, groups[k], size.earlier), groups[k]});
    earlier.insert(earlier.end(), groups[k].begin(), groups[k].end());
  }
  return out;
}

// ---- the likelihood -----------------------------------------------------------------------------

NeighbourLikelihood::NeighbourLikelihood(const Kernel& kernel, const Measurements& measurements, bool fit_mean,
                                         const VectorXd& at, const NeighbourhoodSize& size)
    : GaussianEvidence(kernel, measurements, fit_mean) {
  const std::unique_ptr<Kernel> there = kernel.clone();
  there->set_log_parameters(segment_of(at, 0, there->parameter_count()));
  groups_ = neighbourhoods(*there, points(), size);
  for (const Neighbourhood& group : groups_) {
    rows_.push_back(group.earlier);
    rows_.back().insert(rows_.back().end(), group.own.begin(), group.own.end());
    X_.push_back(Nearness(*there, points()).points(rows_.back()));
  }
}

NeighbourLikelihood::Term NeighbourLikelihood::term(std::size_t group, bool want_gradient, double& log_det) const {
  const Rows& rows = rows_[group];
  const auto s = static_cast<Index>(rows.size());
  const auto b = static_cast<Index>(groups_[group].own.size()), m = s - b;
  VectorXd y(s), noise(s);
  for (Index i = 0; i < s; ++i) {
    y[i] = data().y()[rows[static_cast<std::size_t>(i)]];
    noise[i] = data().noise()[rows[static_cast<std::size_t>(i)]];
  }
  MatrixXd A = kernel().gram(X_[group]);
  add_to_diagonal(A, noise);
  const FlooredCholesky factor(std::move(A), noise);
  const MatrixXd& L = factor.lower();
  for (Index i = m; i < s; ++i) log_det += 2.0 * std::log(L(i, i));
  VectorXd ones = VectorXd::Ones(fits_mean() ? s : 0);
  solve_lower(L, y);
  if (fits_mean()) solve_lower(L, ones);
  Term out{segment_of(y, m, b), fits_mean() ? segment_of(ones, m, b) : VectorXd(), VectorXd(), VectorXd(), MatrixXd()};
  if (!want_gradient) return out;
  out.V = MatrixXd::Zero(s, b);
  for (Index i = 0; i < b; ++i) out.V(m + i, i) = 1.0;
  solve_lower_transposed_columns(L, out.V);
  out.earlier_z = segment_of(y, 0, m);
  solve_lower_transposed(L.topLeftCorner(m, m), out.earlier_z);
  if (!fits_mean()) return out;
  out.earlier_o = segment_of(ones, 0, m);
  solve_lower_transposed(L.topLeftCorner(m, m), out.earlier_o);
  return out;
}

GaussianEvidence::Solved NeighbourLikelihood::solve(bool want_gradient) {
  Solved out{0.0, 0.0, 0.0, 0.0};
  terms_.clear();
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    Term one = term(k, want_gradient, out.log_det);
    out.yy += one.z.squaredNorm();
    if (fits_mean()) {
      out.y1 += one.z.dot(one.o);
      out.ones += one.o.squaredNorm();
    }
    if (want_gradient) terms_.push_back(std::move(one));
  }
  return out;
}

// With S all points of a group and E its earlier ones, the group's term is the difference of two marginal likelihoods.
// With r = L^-T L^-1 (y - mean) of E and v = V (z - mean o), its W_S - W_E is
//   scale (v v' + v r' + r v') - V V', with r = 0 at the group's own points.
GaussianEvidence::Slopes NeighbourLikelihood::slopes(double scale) const {
  Slopes out{VectorXd::Zero(kernel().parameter_count()), VectorXd::Zero(data().size()), VectorXd::Zero(data().size())};
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    const Term& one = terms_[k];
    const Rows& rows = rows_[k];
    VectorXd z = one.z, r = VectorXd::Zero(one.V.rows());
    for (Index i = 0; i < one.earlier_z.size(); ++i) {
      r[i] = one.earlier_z[i] - (fits_mean() ? mean() * one.earlier_o[i] : 0.0);
    }
    if (fits_mean()) z -= mean() * one.o;
    const VectorXd v = multiply(one.V, z);
    MatrixXd W = tcrossprod(one.V, one.V);
    for (Index j = 0; j < W.cols(); ++j) {
      for (Index i = 0; i < W.rows(); ++i) W(i, j) = scale * (v[i] * (v[j] + r[j]) + r[i] * v[j]) - W(i, j);
    }
    out.by_kernel += kernel().parameter_gradient(X_[k], W);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto at = static_cast<Index>(i);
      out.diagonal[rows[i]] += W(at, at);
      out.alpha[rows[i]] += v[at];
    }
  }
  return out;
}

}  // namespace gpb
