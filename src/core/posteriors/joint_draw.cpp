#include "posteriors/joint_draw.h"

#include <Eigen/Cholesky>

namespace gpb {

// The covariance is singular where points repeat or the posterior is certain: LDL' with
// pivoting factors it without jitter.
MatrixXd joint_draws(const MatrixXd& covariance, Rng& rng, Index count, double scale) {
  const Index n = covariance.rows();
  if (n == 0) return MatrixXd(0, count);
  MatrixXd z(n, count);
  for (Index c = 0; c < count; ++c) z.col(c) = rng.normals(n);
  const Eigen::LDLT<MatrixXd> factor(covariance);
  const VectorXd root = factor.vectorD().cwiseMax(0.0).cwiseSqrt();
  MatrixXd out = factor.matrixL() * (root.asDiagonal() * z);
  out = factor.transpositionsP().transpose() * out;
  return scale * out;
}

}  // namespace gpb
