// Pareto fronts: points of several objectives, a row each, that no other point dominates. All objectives are maximised.
#ifndef GPB_PARETO_FRONT_H
#define GPB_PARETO_FRONT_H

#include "base/types.h"

namespace gpb {

// The rows that no other row dominates; of equal rows only the first.
MatrixXd nondominated(const MatrixXd& Y);
// The rows of Y that are above the reference in every column and not dominated.
MatrixXd front_above(const MatrixXd& Y, const VectorXd& reference);
// The hypervolume: the volume that a front dominates, above the reference.
double hypervolume(const MatrixXd& front, const VectorXd& reference);
// The increase of the hypervolume by a point.
double hypervolume_gain(const MatrixXd& front, const VectorXd& reference, const VectorXd& point);
// The logarithm of the expected increase by a normal point with two independent coordinates; the front has two columns.
double log_expected_hypervolume_gain(const MatrixXd& front, const VectorXd& reference, const double* mean,
                                     const double* sd);

}  // namespace gpb

#endif
