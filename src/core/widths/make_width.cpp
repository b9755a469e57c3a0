#include "widths/make_width.h"

namespace gpb {

namespace {

VectorXd eigenvalues_of(const ArmSetting& arms, double noise_var) {
  if (arms.basis) return gram_eigenvalues(arms.basis->factor);
  const ArmTable& table = *arms.table;
  const double tolerance = pivot_tolerance(table.prior_scale * table.prior_scale, noise_var);
  return gram_eigenvalues(
      pivoted_cholesky(*table.kernel, *table.points, tolerance, table.size()).factor);
}

GainPtr make_gain(const Settings& gain, const ArmSetting* arms, double noise_var) {
  const std::string type = gain.text("type");
  if (type == "number") return std::make_shared<NumberGain>(gain.number("value"));
  if (type == "function") return std::make_shared<FunctionGain>(gain.function("f"));
  if (type == "realised") return std::make_shared<RealisedGain>();
  if (type == "rate") {
    return std::make_shared<RateGain>(gain.number("scale"), gain.number("log_power"),
                                      gain.number("power"));
  }
  if (!arms) throw std::invalid_argument("this gain needs finitely many arms");
  if (type == "spectral") {
    return std::make_shared<SpectralGain>(eigenvalues_of(*arms, noise_var), noise_var);
  }
  if (type != "greedy") throw std::invalid_argument("unknown gain " + type);
  return std::make_shared<GreedyGain>(
      arms->make_engine(noise_var, VectorXd::Zero(arms->table->size())));
}

}  // namespace

WidthPtr make_width(const Settings& w, const ArmSetting* arms, double noise_var) {
  const std::string type = w.text("type");
  const auto number = [&w](const char* name) { return w.number(name); };
  const auto gain = [&] { return make_gain(*w.part("gain"), arms, noise_var); };
  if (type == "dmm") return nullptr;
  if (type == "constant") return std::make_shared<ConstantWidth>(number("value"));
  if (type == "function") return std::make_shared<FunctionWidth>(w.table_function("f"));
  if (type == "srinivas_finite") {
    return std::make_shared<SrinivasFiniteWidth>(number("delta"), number("scale"));
  }
  if (type == "irgp") return std::make_shared<RandomisedWidth>();
  if (type == "srinivas_compact") {
    return std::make_shared<SrinivasCompactWidth>(number("delta"), number("a"), number("b"),
                                                  number("r"), number("d"), number("scale"));
  }
  if (type == "srinivas_rkhs") {
    return std::make_shared<SrinivasRkhsWidth>(number("B"), number("delta"), gain(),
                                               number("scale"), w.flag("printed"));
  }
  if (type == "igp" || type == "gp_ts") {
    return std::make_shared<IgpWidth>(number("B"), number("R"), number("delta"),
                                      type == "igp" ? 1.0 : 2.0, gain());
  }
  if (type == "realised") {
    return std::make_shared<RealisedWidth>(number("B"), number("R"), number("delta"));
  }
  if (type == "amm") {
    return std::make_shared<AmmWidth>(number("B"), number("R"), number("delta"));
  }
  if (type == "sdf") {
    return std::make_shared<SdfWidth>(make_width(*w.part("base"), arms, noise_var),
                                      number("B_y"), w.text("over") == "pending");
  }
  if (type == "ec") {
    return std::make_shared<MisspecifiedWidth>(make_width(*w.part("base"), arms, noise_var),
                                               number("epsilon"));
  }
  if (type == "cpd") {
    return std::make_shared<CpdWidth>(number("D"), number("nu"), number("d"), number("horizon"));
  }
  throw std::invalid_argument("unknown width " + type);
}

}  // namespace gpb
