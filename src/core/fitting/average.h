// Hyperparameters to average over: points that stand for their posterior distribution.
#ifndef GPB_AVERAGE_H
#define GPB_AVERAGE_H

#include <vector>

#include "fitting/fit.h"

namespace gpb {

// A kernel that the models may have, and where its climbs begin besides what the fit finds by itself (a row
// each). All that are averaged over have the same parameters: they differ in what is not fitted.
struct AveragedKernel {
  KernelPtr kernel;
  MatrixXd starts;
  double log_prior = 0.0;  // of this kernel against the others
};

struct AverageProblem {
  FitProblem fit;
  VectorXd unit;  // not 0: this parameter is the logarithm of a number between 0 and 1
  Index models;   // how many are wanted at most
};

struct WeighedModel {
  Index kernel;  // which of them
  VectorXd parameters;
  double mean, weight;
};

struct ModelAverage {
  std::vector<WeighedModel> models;
  FitResult best;          // the mode, of the kernel of this number
  Index best_kernel = 0;
  Index modes = 0;         // that were found
  double effective = 0.0;  // how many independent draws the weighed points are worth
};

// Climbs to the modes under each kernel; about each a normal distribution by the slopes' differences;
// low-discrepancy points of the mixture of these, weighed by posterior density over the mixture's (so modes
// and kernels count by their evidence: density times volume); of them so many as are wanted, evenly by
// weight. No random numbers are drawn.
ModelAverage average_models(const std::vector<AveragedKernel>& kernels, const Measurements& measurements,
                            bool fit_mean, const AverageProblem& problem, const Fit::Minimizers& minimizers,
                            Index max_iterations);

}  // namespace gpb

#endif
