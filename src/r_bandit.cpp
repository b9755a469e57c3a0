// A bandit's settings for the core, from R's lists. Uses the core and the adapters r_*.

#include "r_bandit.h"

#include "events/changes.h"
#include "kernels/make_kernel.h"
#include "linalg/floors.h"
#include "r_lbfgsb.h"
#include "r_settings.h"
#include "scores/goal.h"
#include "scores/outcomes.h"
#include "scores/policies.h"
#include "spaces/make_space.h"
#include "widths/make_width.h"

namespace gpb {

namespace {

Role role_from(const Settings& role) {
  Role out;
  out.objective = role.flag("objective");
  out.lower = role.number("lower");
  out.upper = role.number("upper");
  if (std::isnan(out.lower) || !(out.lower <= out.upper)) gpb::throw_invalid("limits that no value satisfies");
  return out;
}

// `settings`: the settings of one outcome: `space`, `kernel`, `noise_var`, `engine`, ...
OutcomeModelState outcome_from(const Settings& settings, const PolicyTraits& policy) {
  OutcomeModelState out;
  out.noise_var = settings.number("noise_var");
  out.space = make_space(settings, policy, [](double tolerance) { return lbfgsb_minimizer(50, tolerance); });
  if (settings.has("noise_field")) {
    const auto field = settings.part("noise_field");
    out.noise_field = std::make_shared<const NoiseField>(
        make_kernel(*field->part("kernel")), field->matrix("points"), field->numbers("weights"),
        field->number("level"), field->number("least"), field->number("most"));
  }
  if (settings.has("outputs")) out.outputs = make_outcome_transform(*settings.part("outputs"));
  if (settings.has("role")) out.role = role_from(*settings.part("role"));
  if (settings.has("likelihood")) {
    const auto likelihood = settings.part("likelihood");
    out.likelihood = make_likelihood(*likelihood, out.noise_var);
    out.compares = likelihood->flag("compares");
    out.variational = likelihood->flag("variational");
  }
  return out;
}

}  // namespace

// The settings themselves also describe the first outcome; `outcomes` has those of the others.
ModelState model_state_from_config(const Rcpp::List& config, HandleFunctions* handle) {
  const RSettings settings(config, handle);
  const auto policy = settings.part("policy");
  const PolicyTraits traits{policy->flag("draws"), policy->flag("rises")};
  ModelState out;
  out.outcomes.push_back(outcome_from(settings, traits));
  std::vector<Role> roles{out.outcomes[0].role};
  if (settings.has("outcomes")) {
    for (const auto& one : settings.parts("outcomes")) {
      out.outcomes.push_back(outcome_from(*one, traits));
      roles.push_back(out.outcomes.back().role);
    }
  }
  if (policy->has("repeats")) out.repeats = policy->number("repeats");
  if (settings.has("forgetting")) out.forgetting = make_forgetting(*settings.part("forgetting"));
  out.fresh = settings.has("fresh");
  out.exact = settings.has("exact");
  out.once = settings.has("once");
  if (settings.has("coded")) {
    const VectorXd coded = settings.numbers("coded");
    for (Index k = 0; k < coded.size(); ++k) out.coded.push_back(static_cast<Index>(coded[k]));
  }
  out.noise_fitted = settings.has("noise_fitted");
  out.noiseless = settings.has("noiseless");
  WidthPtr width;
  if (policy->has("width")) {
    width = make_width(*policy->part("width"), out.outcomes[0].space->arm_setting(), out.outcomes[0].noise_var);
  }
  if (settings.has("goal")) {
    const auto goal = settings.part("goal");
    std::vector<GoalOutcome> outcomes;
    for (const OutcomeModelState& one : out.outcomes) outcomes.push_back({one.outputs, one.likelihood});
    const Formula formula(goal->numbers("op"), goal->numbers("value"), goal->count("variables"));
    out.policy = make_goal_policy(*policy, {formula, std::move(outcomes)});
    return out;
  }
  const bool trades = std::count_if(roles.begin(), roles.end(), [](const Role& r) { return r.objective; }) > 1;
  const bool limited = std::any_of(roles.begin(), roles.end(), [](const Role& r) { return r.limited(); });
  const bool takes_all = roles.size() > 1 && policy->flag("takes_all");
  if (trades || limited || takes_all) {
    out.policy = make_outcomes_policy(*policy, std::move(width), roles);
  } else {
    out.policy = make_policy(*policy, std::move(width));
  }
  return out;
}

StateRules rules_from_config(const Rcpp::List& config, HandleFunctions* handle) {
  const RSettings settings(config, handle);
  StateRules out;
  out.pending = make_pending(*settings.part("pending"));
  if (settings.has("changes")) out.changes = make_changes(*settings.part("changes"));
  if (settings.has("constraints")) {
    out.constraints = make_constraints(*settings.part("constraints"));
  }
  if (settings.has("clip")) out.clip = settings.number("clip");
  if (settings.has("plateau")) out.plateau = Plateau{settings.number("plateau"), settings.number("decay")};
  if (settings.has("likelihood")) {
    out.ranks = make_likelihood(*settings.part("likelihood"), settings.number("noise_var"))->ranks();
  }
  out.doubted = settings.has("doubted");
  if (settings.has("failures")) {
    const VectorXd signs = settings.numbers("failures");
    out.failures.clear();
    for (Index k = 0; k < signs.size(); ++k) out.failures.push_back(signs[k] > 0.0 ? 1 : signs[k] < 0.0 ? -1 : 0);
  } else if (settings.has("outcomes")) {
    out.failures.assign(1 + settings.parts("outcomes").size(), 0);
  }
  return out;
}

namespace {

FixedInputs fixed_from_list(const Rcpp::List& list) {
  auto out = std::make_shared<Fixed>();
  for (const int input : Rcpp::as<std::vector<int>>(gpb::required(list, "at"))) out->at.push_back(input);
  out->values = Rcpp::as<Eigen::VectorXd>(gpb::required(list, "values"));
  check_length(out->values.size(), static_cast<R_xlen_t>(out->at.size()));
  if (list.containsElementNamed("candidates")) {
    out->candidates = Rcpp::as<Eigen::MatrixXd>(gpb::required(list, "candidates"));
  }
  return out;
}

}  // namespace

std::vector<Context> contexts_from_list(const Rcpp::List& contexts) {
  const Rcpp::IntegerVector row(element(contexts, "row"));
  const Rcpp::NumericMatrix values(element(contexts, "values"));
  if (values.nrow() != row.size()) gpb::throw_invalid("contexts differ in number");
  ArmSet eligible;
  const SEXP arms = element(contexts, "eligible"), held = element(contexts, "fixed");
  if (!Rf_isNull(arms)) {
    const auto flags = Rcpp::as<std::vector<int>>(arms);
    eligible = std::make_shared<const std::vector<char>>(flags.begin(), flags.end());
  }
  const FixedInputs fixed = Rf_isNull(held) ? nullptr : fixed_from_list(Rcpp::List(held));
  std::vector<Context> out(static_cast<std::size_t>(row.size()));
  for (int k = 0; k < row.size(); ++k) {
    Context& context = out[static_cast<std::size_t>(k)];
    context.row = row[k];
    context.eligible = eligible;
    context.fixed = fixed;
    context.values.resize(values.ncol());
    for (int c = 0; c < values.ncol(); ++c) context.values[c] = values(k, c);
  }
  return out;
}

}  // namespace gpb
