#include "r_bandit.h"

#include "r_lbfgsb.h"
#include "r_settings.h"
#include "scores/policies.h"
#include "spaces/make_space.h"
#include "widths/make_width.h"

namespace gpb {

Beliefs beliefs_from_config(const Rcpp::List& config, HandleFunctions* handle) {
  const RSettings settings(config, handle);
  const auto policy = settings.part("policy");
  Beliefs out;
  out.noise_var = settings.number("noise_var");
  out.space = make_space(settings, {policy_draws(*policy), policy_rises(*policy)},
                         lbfgsb_minimizer());
  if (policy->has("repeats")) out.repeats = policy->number("repeats");
  WidthPtr width;
  if (policy->has("width")) {
    width = make_width(*policy->part("width"), out.space->arm_setting(), out.noise_var);
  }
  out.policy = make_policy(*policy, std::move(width));
  if (settings.has("outputs")) out.outputs = make_output_map(*settings.part("outputs"));
  return out;
}

FoldRules rules_from_config(const Rcpp::List& config, HandleFunctions* handle) {
  const RSettings settings(config, handle);
  FoldRules out;
  out.pending = make_pending(*settings.part("pending"));
  if (settings.has("changes")) out.changes = make_changes(*settings.part("changes"));
  if (settings.has("constraints")) {
    out.constraints = make_constraints(*settings.part("constraints"));
  }
  if (settings.has("clip")) out.clip = settings.number("clip");
  return out;
}

std::vector<Context> contexts_from_list(const Rcpp::List& contexts) {
  const Rcpp::IntegerVector row = contexts["row"];
  const Rcpp::NumericMatrix values = contexts["values"];
  if (values.nrow() != row.size()) throw std::invalid_argument("contexts differ in number");
  ArmSet eligible;
  if (contexts.containsElementNamed("eligible")) {
    const auto flags = Rcpp::as<std::vector<int>>(contexts["eligible"]);
    eligible = std::make_shared<const std::vector<char>>(flags.begin(), flags.end());
  }
  std::vector<Context> out(static_cast<std::size_t>(row.size()));
  for (int k = 0; k < row.size(); ++k) {
    Context& context = out[static_cast<std::size_t>(k)];
    context.row = row[k];
    context.eligible = eligible;
    context.values.resize(values.ncol());
    for (int c = 0; c < values.ncol(); ++c) context.values[c] = values(k, c);
  }
  return out;
}

}  // namespace gpb
