// Maximum marginal likelihood, or maximum a posteriori, within bounds.
#ifndef GPB_FIT_H
#define GPB_FIT_H

#include "box_space.h"
#include "likelihood.h"

namespace gpb {

// Vectors hold one entry per parameter: the kernel's logarithms, then log(noise).
struct FitProblem {
  VectorXd start;
  VectorXd lower, upper;              // equal: the parameter stays
  VectorXd likely_lower, likely_upper;  // where other starts are looked for
  VectorXd prior_mean, prior_sd;      // normal for the logarithm; sd infinite: no prior
  std::vector<Index> scale;  // the parameters that multiply the kernel by a number
  bool single_variance;      // `scale` is one parameter, and no other is a variance
  Index starts;
};

struct FitResult {
  VectorXd parameters;
  double mean = 0.0;
  double log_likelihood = -kInf;
  double objective = -kInf;  // with the priors' logarithms
  bool converged = false;    // the search for it ended of itself
};

// Coordinates of the search are the parameters themselves or, when the variance is
// found in closed form, the parameters at variance 1: then the last is log(noise / variance).
class Fit {
 public:
  Fit(MarginalLikelihood& likelihood, FitProblem problem);
  // The best of everything evaluated; never worse than the start if that is within bounds.
  FitResult maximise(const BoxMinimizer& minimise, Index max_iterations);

 private:
  struct Candidate {
    VectorXd at;
    double objective;
  };

  void profile_variance();
  VectorXd scaled_by(VectorXd at, double log_scale) const;
  double log_scale_at(const VectorXd& at, bool* at_noise_bound) const;
  double log_prior(const VectorXd& parameters, VectorXd* gradient) const;
  // Value and gradient at coordinates; remembers the best.
  double evaluate(const VectorXd& at, VectorXd* gradient);
  Candidate screen(const VectorXd& at);
  std::vector<Candidate> candidates();
  void climb(const VectorXd& start, const BoxMinimizer& minimise, Index max_iterations);

  MarginalLikelihood& likelihood_;
  FitProblem problem_;         // in parameters
  Index noise_;                // the last one's number
  bool profiled_;              // the variance is found in closed form
  VectorXd lower_, upper_;     // of the coordinates
  std::vector<Index> free_;    // the coordinates that move
  FitResult best_;
};

}  // namespace gpb

#endif
