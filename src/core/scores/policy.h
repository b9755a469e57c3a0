// Policies: from mean, standard deviation (and joint draws) to the next point.
// They know nothing of kernels, delays or rounds.
#ifndef GPB_POLICY_H
#define GPB_POLICY_H

#include "base/types.h"

namespace gpb {

enum class PolicyKind { ucb, ts, ei, pi, mean, variance, uniform };

// Scores this close to the best, in prior standard deviations, are tied.
inline constexpr double kTie = 1e-9;

// The first index whose score is within `tolerance` of the largest.
Index first_best(const double* score, Index n, double tolerance);

// What a policy needs to know of the round besides mean and variance.
struct Acquisition {
  PolicyKind kind;
  double width = 0.0;       // multiplies sd (UCB) or scales the joint draw (TS)
  double incumbent = 0.0;   // EI and PI: largest posterior mean among points played
  double xi = 0.0;
  double prior_scale = 1.0; // the unit of ties
};

// Expected improvement s * (z Phi(z) + phi(z)), z = (mean - incumbent - xi) / s.
double expected_improvement(double mean, double sd, double target);
// Its logarithm, finite where the value itself underflows.
double log_expected_improvement(double mean, double sd, double target);
// z-score of the probability of improvement; -Inf/+Inf where sd = 0.
double improvement_z(double mean, double sd, double target);

// Index of the chosen arm among n (every kind but ts and uniform).
Index choose_arm(const Acquisition& a, const double* mean, const double* variance, Index n,
                 VectorXd& scratch);

}  // namespace gpb

#endif
