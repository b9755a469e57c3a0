// Scores over several outcomes: limits that must hold, objectives that must be traded.
#ifndef GPB_OUTCOMES_H
#define GPB_OUTCOMES_H

#include "base/settings.h"
#include "scores/score.h"

#include <vector>

namespace gpb {

// Kinds "ei", "ucb", "ts" under limits; "ehvi", "hypervolume" for several objectives; "uniform", "function" for any.
std::unique_ptr<Policy> make_outcomes_policy(const Settings& policy, WidthPtr width, const std::vector<Role>& roles);

// A quantity in a sum of several quantities' bounds: weight * (mean + width * sd).
struct BoundTerm {
  double weight = 1.0;   // -Inf: what it is above 0 outweighs everything else
  double width = 0.0;    // < 0: a lower bound
  bool floored = false;  // a bound below 0 counts as 0
};

// The sum over the round's outcomes; with a target (else NaN) the first one's term is its log EI above that.
std::unique_ptr<Score> make_sum_of_bounds(const Round& round, std::vector<BoundTerm> terms, double target);

// log P(the limits hold) at a point with this mean and sd of their outcome.
double log_within(const Role& role, double mean, double sd);

// ---- fronts: rows that no other row is above in every column --------------------------------------

// The rows of Y that are above the reference everywhere and not dominated.
MatrixXd front_above(const MatrixXd& Y, const VectorXd& reference);
// The volume that a front dominates, above the reference.
double hypervolume(const MatrixXd& front, const VectorXd& reference);
// What a point adds to it.
double hypervolume_gain(const MatrixXd& front, const VectorXd& reference, const VectorXd& point);
// The logarithm of what a normal point of two independent coordinates adds to it on average; the front
// has two columns.
double log_expected_hypervolume_gain(const MatrixXd& front, const VectorXd& reference, const double* mean,
                                     const double* sd);

}  // namespace gpb

#endif
