// Functions of joint_maxima.h: repeated joint draws of the maximum of f over finitely many points and its value at one
// of them. Uses linalg/.
#include "posteriors/joint_maxima.h"

#include "linalg/floors.h"
#include "linalg/products.h"

#include <algorithm>
#include <cmath>

namespace gpb {

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
