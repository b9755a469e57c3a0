// The marginal likelihood from groups of neighbours: the groups, and the sum of terms.
// Uses base/, kernels/ and linalg/.
#include "fitting/neighbour_likelihood.h"

#include "base/ordering.h"
#include "linalg/mirror.h"

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

// (The terms of more points are swept again for the gradient: 256 MB.)
bool NeighbourLikelihood::keeps_terms() const {
  double entries = 0.0;
  for (const Rows& rows : rows_) entries += static_cast<double>(rows.size()) * static_cast<double>(rows.size());
  return entries < 3.2e7;
}

// The corner of the sweep is -[y'A^-1 y; 1'A^-1 y  1'A^-1 1] of the points by which it was swept. The group's part is
// the difference between all points and the earlier ones.
GaussianEvidence::Solved NeighbourLikelihood::solve_group(std::size_t group, bool want_gradient, Term& term) const {
  const Rows& rows = rows_[group];
  const auto s = static_cast<Index>(rows.size()), m = s - static_cast<Index>(groups_[group].own.size());
  VectorXd y(s), noise(s);
  for (Index i = 0; i < s; ++i) {
    y[i] = data().y()[rows[static_cast<std::size_t>(i)]];
    noise[i] = data().noise()[rows[static_cast<std::size_t>(i)]];
  }
  if (!term.sweep || term.sweep->order() != s) term.sweep = std::make_unique<SymmetricSweep>(s, border());
  SymmetricSweep& sweep = *term.sweep;
  fill(sweep, X_[group], y, noise);
  const auto corner = [&](Index i, Index j) { return fits_mean() || i + j == 0 ? sweep(s + i, s + j) : 0.0; };
  const auto solved = [&] { return Solved{sweep.log_det(), corner(0, 0), corner(1, 0), corner(1, 1)}; };
  const double least = noise.minCoeff();
  sweep.begin();
  sweep.sweep(0, m, least, want_gradient);
  const Solved before = solved();
  if (want_gradient) {
    term.earlier.resize(m, m);
    for (Index j = 0; j < m; ++j) {
      for (Index i = j; i < m; ++i) term.earlier(i, j) = sweep(i, j);
    }
    term.y.resize(m);
    term.ones.resize(fits_mean() ? m : 0);
    for (Index i = 0; i < m; ++i) term.y[i] = sweep(s, i);
    for (Index i = 0; i < term.ones.size(); ++i) term.ones[i] = sweep(s + 1, i);
  }
  sweep.sweep(m, s, least, want_gradient);
  const Solved after = solved();
  return {after.log_det - before.log_det, before.yy - after.yy, before.y1 - after.y1, before.ones - after.ones};
}

GaussianEvidence::Solved NeighbourLikelihood::solve(bool want_gradient) {
  Solved out{0.0, 0.0, 0.0, 0.0};
  terms_.resize(want_gradient && keeps_terms() ? groups_.size() : 1);
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    const Solved one = solve_group(k, want_gradient && terms_.size() > 1, terms_[terms_.size() > 1 ? k : 0]);
    out.log_det += one.log_det;
    out.yy += one.yy;
    out.y1 += one.y1;
    out.ones += one.ones;
  }
  return out;
}

// A group's term is the difference of two marginal likelihoods, of all its points and of the earlier ones.
GaussianEvidence::Slopes NeighbourLikelihood::slopes(double scale) const {
  Slopes out{VectorXd::Zero(kernel().parameter_count()), VectorXd::Zero(data().size()), VectorXd::Zero(data().size())};
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    Term& one = terms_[terms_.size() > 1 ? k : 0];
    if (terms_.size() == 1) solve_group(k, true, one);
    const Rows& rows = rows_[k];
    const auto s = static_cast<Index>(rows.size()), m = one.earlier.rows();
    const VectorXd alpha = solution(*one.sweep, s);
    VectorXd before = VectorXd::Zero(s);
    for (Index i = 0; i < m; ++i) before[i] = one.y[i] - (fits_mean() ? mean() * one.ones[i] : 0.0);
    MatrixXd W(s, s);
    for (Index j = 0; j < s; ++j) {
      for (Index i = j; i < s; ++i) {
        W(i, j) = scale * (alpha[j] * alpha[i] - before[j] * before[i]) + (*one.sweep)(i, j);
      }
      for (Index i = j; i < m; ++i) W(i, j) -= one.earlier(i, j);
    }
    mirror_lower(W);
    out.by_kernel += kernel().parameter_gradient(X_[k], W);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto at = static_cast<Index>(i);
      out.diagonal[rows[i]] += W(at, at);
      out.alpha[rows[i]] += alpha[at] - before[at];
    }
  }
  return out;
}

}  // namespace gpb
