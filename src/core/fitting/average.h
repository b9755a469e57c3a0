// Averages over hyperparameters: weighted points that represent their posterior distribution. Uses fitting/fit.h.
#ifndef GPB_AVERAGE_H
#define GPB_AVERAGE_H

#include <vector>

#include "fitting/fit.h"

namespace gpb {

// A kernel that the models may have, and starting points of local searches (a row each), in addition to those of the
// fit. All kernels of an average have the same parameters; they differ in other respects.
struct AveragedKernel {
  KernelPtr kernel;
  MatrixXd starts;
  double log_prior = 0.0;  // of this kernel, relative to the other kernels
};

struct AverageProblem {
  FitProblem fit;
  VectorXd unit;  // not 0: this parameter is the logarithm of a number between 0 and 1
  Index models;   // the largest number of models; smaller with many points, which determine hyperparameters well
};

struct WeighedModel {
  Index kernel;  // its number among the kernels
  VectorXd parameters;
  double mean, weight;
};

struct ModelAverage {
  std::vector<WeighedModel> models;
  FitResult best;          // the best mode, under kernel number best_kernel
  Index best_kernel = 0;
  Index modes = 0;         // number of modes found
  double effective = 0.0;  // effective sample size of the weighted points
};

// The average is made by importance sampling, without random numbers:
//   (1) Local searches find the modes under each kernel.
//   (2) Each mode gets a normal distribution, with the curvature from differences of gradients.
//   (3) Low-discrepancy points of the mixture of these are weighted by posterior density over mixture density. Modes
//       and kernels therefore count by their evidence: density times volume.
//   (4) At most `problem.models` of the points are chosen, evenly by weight.
// With many observed points, there are fewer local searches and fewer weighted points.
ModelAverage average_models(const std::vector<AveragedKernel>& kernels, const Measurements& measurements,
                            bool fit_mean, const AverageProblem& problem, const FitMinimizers& minimizers,
                            Index max_iterations);
// Up to this number of measurements a search for modes costs little. With more it ends earlier and begins less often.
constexpr Index kQuick = 50;
// The largest number of local searches of each kernel that use all of many points.
Index most_searches_of_all(Index points, bool resumes);

}  // namespace gpb

#endif
