// Hyperparameters to average over: points that stand for their posterior distribution.
#ifndef GPB_AVERAGE_H
#define GPB_AVERAGE_H

#include "fitting/fit.h"

namespace gpb {

struct AverageProblem {
  FitProblem fit;
  MatrixXd starts;  // a row each, to climb from besides those that the fit finds by itself
  VectorXd unit;    // not 0: this parameter is the logarithm of a number between 0 and 1
  Index models;     // how many are wanted at most
};

struct WeighedModel {
  VectorXd parameters;
  double mean, weight;
};

struct ModelAverage {
  std::vector<WeighedModel> models;
  FitResult best;          // the mode
  Index modes = 0;         // that were found
  double effective = 0.0;  // how many independent draws the weighed points are worth
};

// Climbs to the modes; about each a normal distribution by the slopes' differences; low-discrepancy
// points of the mixture of these, weighed by posterior density over the mixture's (so modes count by
// their evidence: density times volume); of them so many as are wanted, evenly by weight. No random
// numbers are drawn.
ModelAverage average_models(const Kernel& kernel, const Readings& readings, bool fit_mean,
                            const AverageProblem& problem, const Fit::Minimizers& minimizers,
                            Index max_iterations);

}  // namespace gpb

#endif
