// Maximum marginal likelihood, or maximum a posteriori, within bounds. Uses base/minimizer.h and fitting/likelihood.h.
#ifndef GPB_FIT_H
#define GPB_FIT_H

#include <cmath>

#include "base/minimizer.h"
#include "fitting/likelihood.h"

namespace gpb {

// The prior of a parameter's logarithm u: a mixture of normals, or none. For a correlation (`shape1` > 0), exp(u) has a
// Beta distribution.
struct ParameterPrior {
  struct Part {
    double weight, mean, sd;
  };
  std::vector<Part> parts;
  double shape1 = 0.0, shape2 = 0.0;

  bool holds() const { return !parts.empty() || shape1 > 0.0; }
  // The log density up to a constant, and its derivative.
  double log_density(double u, double* slope) const;
};

constexpr double kTolerance = 1e-5;  // a smaller gain in log-likelihood ends a local search
constexpr double kManyTolerance = 1e-2;  // with many points,
constexpr double kNeighbourTolerance = 0.1;  // and by neighbours, whose own error is larger

// Vectors hold one entry per parameter: the kernel's logarithms, then log(noise).
struct FitProblem {
  VectorXd start;
  VectorXd lower, upper;              // equal: the parameter is fixed
  VectorXd likely_lower, likely_upper;  // range of further starting points
  std::vector<ParameterPrior> priors;
  std::vector<Index> scale;  // the parameters that multiply the kernel by a number
  bool single_variance;      // `scale` is one parameter, and no other is a variance
  Index starts;
  bool resumes = false;      // with many points: `start` is the maximum given most of them
  double tolerance = kTolerance;  // with few points
};

struct FitResult {
  VectorXd parameters;
  double mean = 0.0;
  double log_likelihood = -kInf;
  double objective = -kInf;  // including the log priors
  bool converged = true;     // the local search stopped before the limit of iterations
  Index evaluations = 0;     // of the likelihood of all points
  Index points = 0;          // distinct ones
  bool exact = true;         // otherwise the likelihood from neighbours
};

// The coordinates of the search are the parameters. If the variance is found in closed form, they are the parameters at
// variance 1, and the last one is log(noise / variance).
class Fit {
 public:

  // tolerance: a smaller gain in log-likelihood ends a local search.
  Fit(Evidence& likelihood, FitProblem problem, Minimizers minimizers, Index max_iterations,
      double tolerance = kTolerance);

  // Local searches from the best of the start and of low-discrepancy points; returns the coordinates of their ends.
  std::vector<VectorXd> explore();
  // A local search from the start at its best scale.
  void resume();
  // A local search from the best of the start and these points; returns its end.
  VectorXd finish(const std::vector<VectorXd>& points);
  // A local search from one further point, or the nearest one within the bounds; returns its end.
  VectorXd local_search(const VectorXd& from);
  // Moves a point within the bounds and to its best scale, and returns the objective there.
  double screen(VectorXd& point);
  // The log posterior density up to a constant, and its gradient unless null. A fitted mean is integrated out of the
  // value (under a flat prior), but not out of the gradient.
  double density(const VectorXd& parameters, VectorXd* gradient);
  const FitProblem& problem() const { return problem_; }
  const Evidence& likelihood() const { return likelihood_; }
  // The best of all evaluated parameters; never worse than the start if that is within bounds.
  const FitResult& best() const { return best_; }

 private:
  class Side;
  struct Candidate {
    VectorXd at;
    double objective;
  };

  void profile_variance();
  VectorXd into_likely(const VectorXd& at) const;
  VectorXd scaled_by(VectorXd at, double log_scale) const;
  double log_scale_at(const VectorXd& at, bool* at_noise_bound) const;
  double log_prior(const VectorXd& parameters, VectorXd* gradient) const;
  // Value and gradient at coordinates; updates the best.
  double evaluate(const VectorXd& at, VectorXd* gradient);
  Candidate screened(const VectorXd& at);
  Candidate screen_start();
  std::vector<Candidate> candidates();

  Evidence& likelihood_;
  Minimizers minimizers_;
  Index max_iterations_;
  double tolerance_;
  FitProblem problem_;         // in parameters
  Index noise_;                // number of the noise parameter, the last one
  bool profiled_;              // the variance is found in closed form
  VectorXd lower_, upper_;     // of the coordinates
  VectorXd likely_lower_, likely_upper_;
  std::vector<Index> free_;    // the coordinates that are not fixed
  FitResult best_;
};

// Up to this number of points a fit searches for the best mode at full cost. With more points, it continues from the
// best result for a subset, and stops earlier.
constexpr Index kFewPoints = 300;
// Up to this number of points the likelihood of all points is exact; above it, it is the one from neighbours.
constexpr Index kMostExact = 1000;
// Above twice this number of points a search with this number of rows comes between those with few and with all.
constexpr Index kMiddle = 2000;

inline bool has_middle(Index points) { return points > 2 * kMiddle; }

inline double tolerance_of_many(Index points) { return points > kMostExact ? kNeighbourTolerance : kManyTolerance; }

Index count_points(const Points& X);  // distinct ones

// The likelihood counts less noise than least_noise() as that bound. So do the results of fits.
void raise_noise(const Kernel& kernel, const Points& X, VectorXd& parameters);

// The likelihood of all measurements: exact, or from the neighbours at the parameters `at`.
std::unique_ptr<GaussianEvidence> likelihood_of_all(const Kernel& kernel, const Measurements& measurements,
                                                    bool fit_mean, const VectorXd& at);

// Subsets of the measurements, spread evenly: half of them, but at least 100 and at most 300; and kMiddle.
Measurements part_of(const Measurements& measurements);
Measurements middle_of(const Measurements& measurements);

// Rows of n that are spread evenly: those whose number times the golden ratio has a small fractional part. They do not
// align with a grid.
std::vector<Index> spread_rows(Index n, Index wanted);
Measurements some_of(const Measurements& measurements, const std::vector<Index>& rows);

// The minimisers of a fit. If there are many points, the last searches use `of_all` (one search of fit_parameters();
// for the number of average_models() see average.h). A caller can report their progress.
struct FitMinimizers {
  Minimizers usual, of_all;
};

// The whole fit. If there are many points, the search for the best mode uses a subset.
FitResult fit_parameters(const Kernel& kernel, const Measurements& measurements, bool fit_mean,
                         const FitProblem& problem, const FitMinimizers& minimizers,
                         Index max_iterations);

}  // namespace gpb

#endif
