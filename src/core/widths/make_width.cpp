// Functions of make_width.h: makes widths from settings. Uses base/ and posteriors/.
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
  if (type == "number") return std::make_unique<NumberGain>(gain.number("value"));
  if (type == "function") return std::make_unique<FunctionGain>(gain.function("f"));
  if (type == "realized") return std::make_unique<RealisedGain>();
  if (type == "rate") {
    return std::make_unique<RateGain>(gain.number("scale"), gain.number("log_power"),
                                      gain.number("power"));
  }
  if (!arms) throw_invalid("this gain needs finitely many arms");
  if (type == "spectral") {
    return std::make_unique<SpectralGain>(eigenvalues_of(*arms, noise_var), noise_var);
  }
  if (type != "greedy") throw_invalid("unknown gain " + type);
  return std::make_unique<GreedyGain>(
      arms->make_engine(noise_var, VectorXd::Zero(arms->table->size())));
}

}  // namespace

WidthPtr one_multiplier(WidthPtr width) {
  if (!width) throw_invalid("the width must be one multiplier of sd, and there is none");
  return width;
}

WidthPtr make_width(const Settings& w, const ArmSetting* arms, double noise_var) {
  const std::string type = w.text("type");
  const auto number = [&w](const char* name) { return w.number(name); };
  const auto gain = [&] { return make_gain(*w.part("gain"), arms, noise_var); };
  const auto base = [&] { return one_multiplier(make_width(*w.part("base"), arms, noise_var)); };
  if (type == "dmm") return nullptr;
  if (type == "constant") return std::make_unique<ConstantWidth>(number("value"));
  if (type == "function") return std::make_unique<FunctionWidth>(w.table_function("f"));
  if (type == "srinivas_finite") {
    return std::make_unique<SrinivasFiniteWidth>(number("delta"), number("scale"));
  }
  if (type == "irgp") return std::make_unique<RandomisedWidth>();
  if (type == "srinivas_compact") {
    return std::make_unique<SrinivasCompactWidth>(number("delta"), number("a"), number("b"),
                                                  number("r"), number("d"), number("scale"));
  }
  if (type == "srinivas_box") {
    return std::make_unique<SrinivasBoxWidth>(number("delta"), number("a"), number("b"),
                                              number("r"), number("d"), number("slack"));
  }
  if (type == "srinivas_rkhs") {
    return std::make_unique<SrinivasRkhsWidth>(number("B"), number("delta"), gain(),
                                               number("scale"), w.flag("printed"));
  }
  if (type == "igp" || type == "gp_ts") {
    return std::make_unique<IgpWidth>(number("B"), number("R"), number("delta"),
                                      type == "igp" ? 1.0 : 2.0, gain());
  }
  const auto noise = [&] {
    return NoiseScale{number("R"), w.has("noise") && w.text("noise") == "bounded"};
  };
  if (type == "realized") {
    return std::make_unique<RealisedWidth>(number("B"), noise(), number("delta"));
  }
  if (type == "fixed") {
    return std::make_unique<FixedWidth>(number("B"), number("R"), number("delta"), number("looks"));
  }
  if (type == "glm") return std::make_unique<GlmWidth>(number("B"), number("delta"));
  if (type == "amm") return std::make_unique<AmmWidth>(number("B"), noise(), number("delta"));
  if (type == "sdf") {
    return std::make_unique<SdfWidth>(base(), number("B_y"), w.text("over") == "pending");
  }
  if (type == "ec") {
    return std::make_unique<MisspecifiedWidth>(base(), number("epsilon"));
  }
  if (type == "corrupt") {
    return std::make_unique<CorruptedWidth>(base(), number("total"));
  }
  if (type == "cpd") {
    return std::make_unique<CpdWidth>(number("D"), number("nu"), number("d"), number("horizon"));
  }
  throw_invalid("unknown width " + type);
}

}  // namespace gpb
