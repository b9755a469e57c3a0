// R's entry points for outcome transforms: values, slopes, moments, and their estimation. Uses the core and the
// adapters r_*.

#include <algorithm>
#include <string>

#include "events/outcome_shape.h"
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

// Power, bulk, shift and spread of a transform whose centre, scale and tail are given, from rewards; `usual`: the rows
// (from 1) of those that determine the scale. `power`: "none", "power", "logarithm" (below the centre; nothing is
// clipped), or another word for a power that needs the `least_gain` in log likelihood.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_outcome_shape(const Rcpp::List& map, const Eigen::VectorXd& reward, const Rcpp::IntegerVector& usual,
                             const std::string& power, double least_gain, bool covers) {
  gpb::OutcomeTransform outputs = gpb::make_outcome_transform(gpb::RSettings(map));
  gpb::ShapeRules rules;
  rules.least_gain = least_gain;
  rules.covers = covers;
  if (power == "power") rules.power = gpb::ShapeRules::Power::always;
  else if (power == "logarithm") rules.power = gpb::ShapeRules::Power::logarithm;
  else if (power != "none") rules.power = gpb::ShapeRules::Power::if_likely;
  Eigen::VectorXd some(usual.size());
  for (R_xlen_t k = 0; k < usual.size(); ++k) some[k] = reward[usual[k] - 1];
  gpb::estimate_shape(outputs, reward, some, rules);
  return gpb::named_list("lambda", outputs.lambda, "bulk", outputs.bulk, "shift", outputs.shift,
                         "spread", outputs.spread);
}
