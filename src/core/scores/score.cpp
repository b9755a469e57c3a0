// Functions of score.h: scores and policies. Uses base/, posteriors/, events/ and widths/.
#include "scores/score.h"

#include <cmath>

namespace gpb {

Index Score::best(const Candidates& candidates) const {
  VectorXd score;
  values(candidates, score);
  return first_best(score.data(), score.size(), kTie * unit());
}

LimitedValue Score::within_limit(const VectorXd&) const { throw_logic("this score has no limit"); }

double finite_width(Width& width, const Round& round) {
  const double value = width.at(round.state);
  const bool only_looked_at = !round.state.rng && std::isnan(value);
  if (!std::isfinite(value) && !only_looked_at) {
    throw_invalid("the width is not a finite number in round " + std::to_string(static_cast<Index>(round.number)));
  }
  return value;
}

Moments MeanAndVariance::moments(const Candidates& candidates) const {
  const Moments of_mean = mean.moments(candidates);
  return same() ? of_mean : Moments{of_mean.mean, variance.moments(candidates).variance};
}

void MeanAndVariance::predict(const Points& X, VectorXd& means, VectorXd& variances, Predict by) const {
  (mean.*by)(X, means, variances);
  if (same()) return;
  VectorXd ignored;
  (variance.*by)(X, ignored, variances);
}

void MeanAndVariance::local(const VectorXd& x, double& at_x, double& sd, VectorXd& dmean, VectorXd& dsd,
                            Local by) const {
  (mean.*by)(x, at_x, sd, dmean, dsd);
  if (same()) return;
  double ignored = 0.0;
  VectorXd no_gradient;
  (variance.*by)(x, ignored, sd, no_gradient, dsd);
}

void MomentScore::of_all(const double* mean, const double* variance, Index n,
                         double* out) const {
  for (Index i = 0; i < n; ++i) out[i] = of(mean[i], std::sqrt(variance[i]), nullptr);
}

void MomentScore::values(const Candidates& candidates, VectorXd& out) const {
  const Moments m = model_state_.moments(candidates);
  out.resize(candidates.size());
  of_all(m.mean, m.variance, out.size(), out.data());
}

VectorXd MomentScore::at(const Points& X) const { return at(X, &Posterior::predict); }

VectorXd MomentScore::sketches(const Points& X) const { return at(X, &Posterior::sketches); }

VectorXd MomentScore::at(const Points& X, MeanAndVariance::Predict by) const {
  VectorXd mean, variance;
  model_state_.predict(X, mean, variance, by);
  VectorXd out(X.rows());
  of_all(mean.data(), variance.data(), out.size(), out.data());
  return out;
}

double MomentScore::at(const VectorXd& x, VectorXd* gradient) const {
  if (!gradient) return at(as_rows(x))[0];
  return at(x, gradient, &Posterior::local);
}

double MomentScore::sketch(const VectorXd& x, VectorXd* gradient) const {
  return at(x, gradient, &Posterior::sketch);
}

double MomentScore::at(const VectorXd& x, VectorXd* gradient, MeanAndVariance::Local by) const {
  double mean = 0.0, sd = 0.0;
  VectorXd dmean, dsd;
  model_state_.local(x, mean, sd, dmean, dsd, by);
  Slopes slopes;
  const double value = of(mean, sd, &slopes);
  gradient->resize(dmean.size());
  for (Index c = 0; c < dmean.size(); ++c) (*gradient)[c] = slopes.by_mean * dmean[c] + slopes.by_sd * dsd[c];
  return value;
}

}  // namespace gpb
