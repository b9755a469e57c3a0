#include "r_bandit.h"

#include "spaces/box_space.h"
#include "r_kernel.h"
#include "r_lbfgsb.h"

namespace gpb {

namespace {

std::string text(const Rcpp::List& list, const char* name) {
  return Rcpp::as<std::string>(list[name]);
}

double number(const Rcpp::List& list, const char* name) { return Rcpp::as<double>(list[name]); }

// R's description of a bandit's decision set and prior.
struct Setting {
  std::shared_ptr<const ArmSetting> arms;  // null on a box
  double noise_var;
};

std::function<double(double)> callback(const Rcpp::List& list, const char* name = "f") {
  const Rcpp::Function f = list[name];
  return [f](double t) { return Rcpp::as<double>(f(t)); };
}

VectorXd eigenvalues_of_arms(const Setting& setting) {
  const ArmTable& table = *setting.arms->table;
  LowRankPtr basis = setting.arms->basis;
  if (!basis) {
    const double tolerance =
        pivot_tolerance(table.prior_scale * table.prior_scale, setting.noise_var);
    basis = std::make_shared<const LowRank>(
        pivoted_cholesky(*table.kernel, *table.points, tolerance, table.size()));
  }
  return gram_eigenvalues(basis->factor);
}

GainPtr gain_from_list(const Rcpp::List& gain, const Setting& setting) {
  const std::string type = text(gain, "type");
  if (type == "number") return std::make_shared<NumberGain>(number(gain, "value"));
  if (type == "function") return std::make_shared<FunctionGain>(callback(gain));
  if (type == "realised") return std::make_shared<RealisedGain>();
  if (type == "rate") {
    return std::make_shared<RateGain>(number(gain, "scale"), number(gain, "log_power"),
                                      number(gain, "power"));
  }
  if (!setting.arms) throw std::invalid_argument("this gain needs finitely many arms");
  if (type == "spectral") {
    return std::make_shared<SpectralGain>(eigenvalues_of_arms(setting), setting.noise_var);
  }
  if (type != "greedy") throw std::invalid_argument("unknown gain " + type);
  const VectorXd no_mean = VectorXd::Zero(setting.arms->table->size());
  return std::make_shared<GreedyGain>(
      setting.arms->make_posterior(setting.noise_var, no_mean));
}

WidthPtr width_from_list(const Rcpp::List& w, const Setting& setting) {
  const std::string type = text(w, "type");
  const auto gain = [&] { return gain_from_list(w["gain"], setting); };
  if (type == "constant") return std::make_shared<ConstantWidth>(number(w, "value"));
  if (type == "function") return std::make_shared<FunctionWidth>(callback(w));
  if (type == "srinivas_finite") {
    return std::make_shared<SrinivasFiniteWidth>(number(w, "delta"), number(w, "scale"));
  }
  if (type == "srinivas_compact") {
    return std::make_shared<SrinivasCompactWidth>(number(w, "delta"), number(w, "a"),
                                                  number(w, "b"), number(w, "r"), number(w, "d"),
                                                  number(w, "scale"));
  }
  if (type == "srinivas_rkhs") {
    return std::make_shared<SrinivasRkhsWidth>(number(w, "B"), number(w, "delta"), gain(),
                                               number(w, "scale"));
  }
  if (type == "igp" || type == "gp_ts") {
    return std::make_shared<IgpWidth>(number(w, "B"), number(w, "R"), number(w, "delta"),
                                      type == "igp" ? 1.0 : 2.0, gain());
  }
  if (type == "realised") {
    return std::make_shared<RealisedWidth>(number(w, "B"), number(w, "R"), number(w, "delta"));
  }
  if (type == "amm") {
    return std::make_shared<AmmWidth>(number(w, "B"), number(w, "R"), number(w, "delta"));
  }
  if (type == "sdf") {
    return std::make_shared<SdfWidth>(width_from_list(w["base"], setting), number(w, "B_y"));
  }
  if (type == "cpd") {
    return std::make_shared<CpdWidth>(number(w, "D"), number(w, "nu"), number(w, "d"),
                                      number(w, "horizon"));
  }
  throw std::invalid_argument("unknown width " + type);
}

PolicyKind policy_kind(const std::string& name) {
  if (name == "ucb") return PolicyKind::ucb;
  if (name == "ts") return PolicyKind::ts;
  if (name == "ei") return PolicyKind::ei;
  if (name == "pi") return PolicyKind::pi;
  if (name == "mean") return PolicyKind::mean;
  if (name == "variance") return PolicyKind::variance;
  if (name == "uniform") return PolicyKind::uniform;
  throw std::invalid_argument("unknown policy " + name);
}

void set_width(BanditConfig& out, const Rcpp::List& policy, const Setting& setting) {
  const SEXP described = policy["width"];
  if (Rf_isNull(described)) return;
  const Rcpp::List width(described);
  if (text(width, "type") != "dmm") {
    out.width = width_from_list(width, setting);
    out.sdf_over_pending = text(width, "type") == "sdf" && text(width, "over") == "pending";
    return;
  }
  const auto relative = Rcpp::as<std::vector<double>>(width["alpha"]);
  out.dmm = std::make_shared<DmmBound>(
      DmmBound{number(width, "B"), number(width, "R"), number(width, "delta"), relative});
}

void set_pending(BanditConfig& out, const Rcpp::List& pending) {
  const std::string kind = text(pending, "kind");
  if (kind == "hallucinate") out.pending = PendingKind::hallucinate;
  if (kind == "censor") {
    out.pending = PendingKind::censor;
    out.censor_after = number(pending, "m");
    out.censor_value = number(pending, "value");
    out.censor_by_time = text(pending, "unit") == "time";
  }
}

void set_changes(BanditConfig& out, SEXP described) {
  if (Rf_isNull(described)) return;
  const Rcpp::List changes(described);
  auto rule = std::make_shared<ChangeRule>();
  rule->explore = number(changes, "explore");
  const std::string kind = text(changes, "kind");
  if (kind == "oracle") rule->times = Rcpp::as<std::vector<double>>(changes["times"]);
  if (kind == "every") rule->every = number(changes, "rounds");
  if (kind == "event") rule->event_delta = number(changes, "delta");
  if (kind == "window") {
    rule->forgetting.kind = Forgetting::Kind::window;
    rule->forgetting.window = Rcpp::as<int>(changes["window"]);
  }
  if (kind == "weights" || kind == "fade") {
    rule->forgetting.kind =
        kind == "fade" ? Forgetting::Kind::fade : Forgetting::Kind::weights;
    rule->forgetting.rate = number(changes, "rate");
  }
  if (kind == "detect") {
    const KernelPtr kernel = kernel_from_list(changes["kernel"]);
    rule->sweep = std::make_shared<ChangeSweep>(
        kernel, averaging_from_list(changes["domain"], kernel), callback(changes, "threshold"),
        callback(changes, "ridge"), Rcpp::as<bool>(changes["dyadic"]));
  }
  out.changes = rule;
}

void set_constraints(BanditConfig& out, SEXP described) {
  if (Rf_isNull(described)) return;
  const Rcpp::List constraints(described);
  auto rule = std::make_shared<ConstraintRule>();
  rule->noisy = text(constraints, "kind") == "noisy";
  rule->count = Rcpp::as<int>(constraints["count"]);
  rule->epoch = Rcpp::as<int>(constraints["epoch"]);
  rule->reuse = Rcpp::as<bool>(constraints["reuse"]);
  if (rule->noisy) {
    rule->step = number(constraints, "step");
  } else {
    const Rcpp::List penalty = constraints["penalty"];
    rule->c = number(penalty, "c");
    if (text(penalty, "kind") == "polynomial") {
      rule->penalty = Penalty::polynomial;
      rule->power = number(penalty, "power");
    }
  }
  out.constraints = rule;
}

std::unique_ptr<Space> arm_space(const Rcpp::List& config, Setting& setting, bool needs_draws) {
  const auto table = std::make_shared<const ArmTable>(
      kernel_from_list(config["kernel"]),
      std::make_shared<const Points>(Rcpp::as<Eigen::MatrixXd>(config["points"])));
  setting.arms = std::make_shared<const ArmSetting>(
      make_arm_setting(table, setting.noise_var, text(config, "engine"), needs_draws));
  return std::make_unique<ArmSpace>(*setting.arms,
                                    Rcpp::as<Eigen::VectorXd>(config["prior_mean"]),
                                    Rcpp::as<int>(config["arms_per_context"]));
}

std::unique_ptr<Space> box_space(const Rcpp::List& config) {
  Box box;
  box.lower = Rcpp::as<Eigen::VectorXd>(config["lower"]);
  box.upper = Rcpp::as<Eigen::VectorXd>(config["upper"]);
  for (int flag : Rcpp::as<std::vector<int>>(config["integer"])) box.integer.push_back(flag != 0);
  for (int flag : Rcpp::as<std::vector<int>>(config["log"])) box.logarithmic.push_back(flag != 0);
  return std::make_unique<BoxSpace>(kernel_from_list(config["kernel"]), std::move(box),
                                    Rcpp::as<int>(config["contexts"]),
                                    number(config, "prior_mean"), lbfgsb_minimizer());
}

std::unique_ptr<Space> space_from_config(const Rcpp::List& config, Setting& setting,
                                         bool needs_draws) {
  const std::string space = text(config, "space");
  if (space == "arms") return arm_space(config, setting, needs_draws);
  if (space == "box") return box_space(config);
  return std::make_unique<OpenArmSpace>(
      kernel_from_list(config["kernel"]), Rcpp::as<Eigen::MatrixXd>(config["points"]),
      Rcpp::as<int>(config["contexts"]), Rcpp::as<Eigen::VectorXd>(config["prior_mean"]));
}

}  // namespace

std::shared_ptr<Averaging> averaging_from_list(const Rcpp::List& domain, const KernelPtr& kernel) {
  const std::string kind = text(domain, "kind");
  if (kind == "sampled") return std::make_shared<SampledAverage>();
  if (kind == "box") {
    return std::make_shared<SquaredExponentialAverage>(
        Rcpp::as<Eigen::VectorXd>(domain["lower"]), Rcpp::as<Eigen::VectorXd>(domain["upper"]),
        Rcpp::as<Eigen::VectorXd>(domain["lengthscale"]), number(domain, "variance"));
  }
  return std::make_shared<PointAverage>(
      kernel, std::make_shared<const Points>(Rcpp::as<Eigen::MatrixXd>(domain["points"])));
}

std::vector<Context> contexts_from_list(const Rcpp::List& contexts) {
  const Rcpp::IntegerVector row = contexts["row"];
  const Rcpp::NumericMatrix values = contexts["values"];
  std::vector<Context> out(static_cast<std::size_t>(row.size()));
  for (int k = 0; k < row.size(); ++k) {
    Context& context = out[static_cast<std::size_t>(k)];
    context.row = row[k];
    context.values.resize(values.ncol());
    for (int c = 0; c < values.ncol(); ++c) context.values[c] = values(k, c);
  }
  return out;
}

BanditParts parts_from_config(const Rcpp::List& config) {
  Setting setting;
  setting.noise_var = number(config, "noise_var");
  const Rcpp::List policy = config["policy"];
  BanditConfig out;
  out.noise_var = setting.noise_var;
  out.policy = policy_kind(text(policy, "kind"));
  out.xi = number(policy, "xi");
  auto space = space_from_config(config, setting, out.policy == PolicyKind::ts);
  set_width(out, policy, setting);
  set_pending(out, config["pending"]);
  set_changes(out, config["changes"]);
  set_constraints(out, config["constraints"]);
  return {std::move(space), std::move(out)};
}

}  // namespace gpb
