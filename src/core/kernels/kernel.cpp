// Functions of kernel.h: covariance functions, independent of arms, policies and noise. Uses linalg/.
#include "kernels/kernel.h"

#include "linalg/mirror.h"

#include <algorithm>

namespace gpb {

namespace {

constexpr Index kStrip = 32;  // columns of a Gram matrix that share a copy of the points from their first row on

}  // namespace

VectorXd Kernel::diagonal_gradient(const VectorXd& x) const {
  MatrixXd gradient;
  input_gradient(x, as_rows(x), gradient);
  return 2.0 * row_of(gradient, 0);
}

PriorPath Kernel::draw_prior_path(Rng& rng, Index inputs, Index features) const {
  std::vector<Feature> drawn(static_cast<std::size_t>(features), Feature(inputs));
  for (Feature& feature : drawn) draw_feature(rng, feature);
  return PriorPath::waves(std::move(drawn), rng);
}

double Kernel::value(const VectorXd& x, const VectorXd& y) const {
  VectorXd out(1);
  cross(x, as_rows(y), out);
  return out[0];
}

MatrixXd Kernel::gram(const Points& X, const Points& Y) const {
  // The longer argument should be the vectorised one.
  if (X.rows() < Y.rows()) return gram(Y, X).transpose();
  MatrixXd K(X.rows(), Y.rows());
  for (Index j = 0; j < Y.rows(); ++j) cross(row_of(Y, j), X, K.col(j));
  return K;
}

MatrixXd Kernel::gram(const Points& X) const {
  const Index n = X.rows();
  MatrixXd K(n, n);
  for (Index first = 0; first < n; first += kStrip) {
    const Points below = X.bottomRows(n - first);
    for (Index j = first; j < std::min(first + kStrip, n); ++j) {
      cross(row_of(below, j - first), below, K.col(j).tail(n - first));
    }
  }
  mirror_lower(K);
  return K;
}

}  // namespace gpb
