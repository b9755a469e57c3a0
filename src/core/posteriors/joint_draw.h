// Joint normal draws from a covariance that may be singular.
#ifndef GPB_JOINT_DRAW_H
#define GPB_JOINT_DRAW_H

#include "base/types.h"

namespace gpb {

// `count` draws of mean zero, one per column: scale * covariance^(1/2) z.
MatrixXd joint_draws(const MatrixXd& covariance, Rng& rng, Index count, double scale);

}  // namespace gpb

#endif
