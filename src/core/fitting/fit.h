// Maximum marginal likelihood, or maximum a posteriori, within bounds.
#ifndef GPB_FIT_H
#define GPB_FIT_H

#include <cmath>

#include "base/minimizer.h"
#include "fitting/likelihood.h"

namespace gpb {

// Of a parameter's logarithm u: normal; an equal mixture of two normals where `other_sd` > 0; or, of a
// correlation (`shape1` > 0), a Beta distribution of exp(u).
struct ParameterPrior {
  double mean = 0.0, sd = kInf;  // infinite: no prior
  double other_mean = 0.0, other_sd = 0.0;
  double shape1 = 0.0, shape2 = 0.0;

  bool holds() const { return std::isfinite(sd) || shape1 > 0.0; }
  // The density's logarithm but for a constant, and its slope.
  double log_density(double u, double* slope) const;
};

// Vectors hold one entry per parameter: the kernel's logarithms, then log(noise).
struct FitProblem {
  VectorXd start;
  VectorXd lower, upper;              // equal: the parameter stays
  VectorXd likely_lower, likely_upper;  // where other starts are looked for
  std::vector<ParameterPrior> priors;
  std::vector<Index> scale;  // the parameters that multiply the kernel by a number
  bool single_variance;      // `scale` is one parameter, and no other is a variance
  Index starts;
};

struct FitResult {
  VectorXd parameters;
  double mean = 0.0;
  double log_likelihood = -kInf;
  double objective = -kInf;  // with the priors' logarithms
  bool converged = true;     // the search for it ended of itself
  Index evaluations = 0;     // of the likelihood of all points
};

// Coordinates of the search are the parameters themselves or, when the variance is
// found in closed form, the parameters at variance 1: then the last is log(noise / variance).
class Fit {
 public:
  // A minimiser that stops when an iteration gains less than the tolerance.
  using Minimizers = std::function<BoxMinimizer(double tolerance)>;

  Fit(Evidence& likelihood, FitProblem problem, Minimizers minimizers,
      Index max_iterations);

  // Climbs from the best of the start and of low-discrepancy points; the ends' coordinates.
  std::vector<VectorXd> explore();
  // Climbs from the best of the start and these points.
  void finish(const std::vector<VectorXd>& points);
  // Climbs from one point more; its end.
  VectorXd local_search(const VectorXd& start);
  // The posterior density's logarithm but for a constant, and its slopes where they are wanted; a
  // fitted mean is integrated out of the value (under a flat prior), not of the slopes.
  double density(const VectorXd& parameters, VectorXd* gradient);
  const FitProblem& problem() const { return problem_; }
  const Evidence& likelihood() const { return likelihood_; }
  // The best of everything evaluated; never worse than the start if that is within bounds.
  const FitResult& best() const { return best_; }

 private:
  struct Candidate {
    VectorXd at;
    double objective;
  };

  void profile_variance();
  VectorXd into_likely(const VectorXd& at) const;
  VectorXd scaled_by(VectorXd at, double log_scale) const;
  double log_scale_at(const VectorXd& at, bool* at_noise_bound) const;
  double log_prior(const VectorXd& parameters, VectorXd* gradient) const;
  // Value and gradient at coordinates; remembers the best.
  double evaluate(const VectorXd& at, VectorXd* gradient);
  Candidate screen(const VectorXd& at);
  Candidate screen_start();
  std::vector<Candidate> candidates();

  Evidence& likelihood_;
  Minimizers minimizers_;
  Index max_iterations_;
  FitProblem problem_;         // in parameters
  Index noise_;                // the last one's number
  bool profiled_;              // the variance is found in closed form
  VectorXd lower_, upper_;     // of the coordinates
  VectorXd likely_lower_, likely_upper_;
  std::vector<Index> free_;    // the coordinates that move
  FitResult best_;
};

// Some of the readings, spread evenly: half of them, 100 to 300.
Measurements part_of(const Measurements& measurements);

// The whole fit. Of many points, some are enough to find the right hill.
FitResult fit_parameters(const Kernel& kernel, const Measurements& measurements, bool fit_mean,
                         const FitProblem& problem, const Fit::Minimizers& minimizers,
                         Index max_iterations);

}  // namespace gpb

#endif
