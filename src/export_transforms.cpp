// R's entry points for outcome transforms: values, slopes, moments. Uses the core and the adapters r_*.

#include <algorithm>

#include "events/outcome_transform.h"
#include "events/output_moments.h"
#include "r_interrupt.h"
#include "r_settings.h"
#include "r_values.h"

// Rewards to values by an outcome transform, or (back) values to rewards.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_map_outputs(const Rcpp::List& map, const Rcpp::NumericVector& x,
                                    bool back) {
  const gpb::OutcomeTransform outputs = gpb::make_outcome_transform(gpb::RSettings(map));
  Rcpp::NumericVector out(x.size());
  for (R_xlen_t k = 0; k < x.size(); ++k) {
    out[k] = back ? outputs.reward(x[k]) : outputs.value(x[k]);
  }
  return out;
}

// Means and sds of the expected reward of a measurement with this noise variance. The mean of measurements is normal on
// the scale of the outcome transform.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_output_moments(const Rcpp::List& map, const Rcpp::NumericVector& mean, const Rcpp::NumericVector& sd,
                              double noise_var) {
  const gpb::OutcomeTransform outputs = gpb::make_outcome_transform(gpb::RSettings(map));
  gpb::OutputMoments moments(outputs, noise_var);
  const R_xlen_t n = mean.size();
  Rcpp::NumericVector centre(n), spread(n);
  double evaluations = 0.0, lower = gpb::kInf, upper = -gpb::kInf;
  for (R_xlen_t k = 0; k < n; ++k) {
    if (!moments.asks_measurements(mean[k], sd[k])) continue;
    evaluations += moments.is_sure(mean[k], sd[k]) ? 1.0 : 100.0;
    lower = std::min(lower, mean[k] - moments.kReach * sd[k]);
    upper = std::max(upper, mean[k] + moments.kReach * sd[k]);
  }
  // A table is worthwhile if it has fewer entries than the number of evaluations.
  if (evaluations > 0.0 && moments.entries(lower, upper) < evaluations) moments.tabulate(lower, upper);
  for (R_xlen_t k = 0; k < n; ++k) {
    const double middle = moments.expected_measurement(mean[k], sd[k]);
    spread[k] = moments.spread(mean[k], sd[k], middle);
    centre[k] = outputs.centre + middle;
    if (k % 256 == 0) gpb::check_interrupt();
  }
  return gpb::named_list("mean", centre, "sd", spread);
}

// The derivative of values by rewards under an outcome transform.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_output_slopes(const Rcpp::List& map, const Rcpp::NumericVector& reward) {
  const gpb::OutcomeTransform outputs = gpb::make_outcome_transform(gpb::RSettings(map));
  Rcpp::NumericVector out(reward.size());
  for (R_xlen_t k = 0; k < reward.size(); ++k) out[k] = outputs.slope(reward[k]);
  return out;
}
