// Functions of joint_draw.h: joint normal draws from a covariance that may be singular. Uses base/ and linalg/.
#include "posteriors/joint_draw.h"

#include "linalg/decompositions.h"

namespace gpb {

// The covariance is singular if points repeat or the posterior is certain.
MatrixXd joint_draws(const MatrixXd& covariance, Rng& rng, Index count, double scale) {
  const Index n = covariance.rows();
  if (n == 0) return MatrixXd(0, count);
  MatrixXd z(n, count);
  for (Index c = 0; c < count; ++c) z.col(c) = rng.normals(n);
  return scale * rooted(covariance, z);
}

}  // namespace gpb
