// Functions of low_rank_basis.h: a basis of some points Z for functions of a kernel. Uses linalg/ and kernels/.
#include "posteriors/low_rank_basis.h"

#include "linalg/floors.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

// The kernel is evaluated at spare rows as well: there are few, and their number is a multiple of a vector register's.
constexpr Index kRoom = 16;

}  // namespace

VectorXd LowRankBasis::cross(const VectorXd& x) const {
  if (rank() == 0) return VectorXd();  // an empty matrix has no columns to evaluate
  VectorXd out(points_.rows());
  kernel_->cross(x, points_, out);
  return out.head(rank());
}

Coordinates LowRankBasis::at(const VectorXd& x) const {
  VectorXd own(1);
  kernel_->diagonal(x.transpose(), own);
  Coordinates out{cross(x), own[0], 0.0};
  factor_.forward(out.phi);
  out.residual = own[0] - out.phi.squaredNorm();
  return out;
}

void LowRankBasis::at(const Points& X, Panels& out, Index few) const {
  VectorXd values(X.rows());
  for (Index i = 0; i < few; ++i) {
    kernel_->cross(point(i), X, values);
    out.set_row(i, values.data());
  }
  forward_solve(factor_.packed(), 0, few, out);
}

void LowRankBasis::append(const VectorXd& z, const Coordinates& at_z) {
  if (rank() == points_.rows()) {
    Points grown = z.transpose().replicate(rank() + kRoom, 1);
    if (rank() > 0) grown.topRows(rank()) = points_;
    points_ = std::move(grown);
  }
  points_.row(rank()) = z.transpose();
  factor_.append_row(at_z.phi.data(), std::sqrt(at_z.residual));
}

double LowRankBasis::rounding(const Coordinates& at_x) const {
  const double weights = on_points(at_x.phi).squaredNorm();
  return at_x.variance * 10.0 * kRounding * (1.0 + weights);
}

void LowRankBasis::clear() {
  factor_.truncate(0);
  points_.resize(0, 0);
}

VectorXd LowRankBasis::on_points(VectorXd w) const {
  factor_.backward(w);
  return w;
}

MatrixXd LowRankBasis::slopes(const VectorXd& x) const {
  MatrixXd out;
  if (rank() == 0) return MatrixXd(0, x.size());
  kernel_->input_gradient(x, points_, out);
  return out.topRows(rank());
}

}  // namespace gpb
