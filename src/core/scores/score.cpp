#include "scores/score.h"

#include <algorithm>
#include <cmath>

namespace gpb {

Index Score::best(const Candidates& candidates) const {
  VectorXd score;
  values(candidates, score);
  return first_best(score.data(), score.size(), kTie * unit());
}

double finite_width(Width& width, const Round& round) {
  const double value = width.at(round.state);
  const bool only_looked_at = !round.state.rng && std::isnan(value);
  if (!std::isfinite(value) && !only_looked_at) {
    throw std::invalid_argument("the width is not a finite number in round " +
                                std::to_string(static_cast<Index>(round.number)));
  }
  return value;
}

Moments MomentScore::moments(const Candidates& candidates) const {
  const Moments mean = mean_.moments(candidates);
  return &mean_ == &variance_ ? mean
                              : Moments{mean.mean, variance_.moments(candidates).variance};
}

void MomentScore::of_all(const double* mean, const double* variance, Index n,
                         double* out) const {
  for (Index i = 0; i < n; ++i) out[i] = of(mean[i], std::sqrt(variance[i]), nullptr);
}

void MomentScore::values(const Candidates& candidates, VectorXd& out) const {
  const Moments m = moments(candidates);
  out.resize(candidates.size());
  of_all(m.mean, m.variance, out.size(), out.data());
}

VectorXd MomentScore::at(const Points& X) const { return at(X, &Posterior::predict); }

VectorXd MomentScore::sketches(const Points& X) const { return at(X, &Posterior::sketches); }

VectorXd MomentScore::at(const Points& X, Predict predict) const {
  VectorXd mean, variance, ignored;
  (mean_.*predict)(X, mean, variance);
  if (&mean_ != &variance_) (variance_.*predict)(X, ignored, variance);
  VectorXd out(X.rows());
  of_all(mean.data(), variance.data(), out.size(), out.data());
  return out;
}

double MomentScore::at(const VectorXd& x, VectorXd* gradient) const {
  if (!gradient) return at(Points(x.transpose()))[0];
  return at(x, gradient, &Posterior::local);
}

double MomentScore::sketch(const VectorXd& x, VectorXd* gradient) const {
  return at(x, gradient, &Posterior::sketch);
}

double MomentScore::at(const VectorXd& x, VectorXd* gradient, Local local) const {
  double mean = 0.0, sd = 0.0;
  VectorXd dmean, dsd;
  (mean_.*local)(x, mean, sd, dmean, dsd);
  if (&mean_ != &variance_) {
    double ignored = 0.0;
    VectorXd no_gradient;
    (variance_.*local)(x, ignored, sd, no_gradient, dsd);
  }
  Slopes slopes;
  const double value = of(mean, sd, &slopes);
  *gradient = slopes.by_mean * dmean + slopes.by_sd * dsd;
  return value;
}

}  // namespace gpb
