#include "spaces/make_space.h"

#include "spaces/arm_space.h"
#include "spaces/many_arm_space.h"
#include "spaces/mixed_space.h"
#include "spaces/open_arm_space.h"

namespace gpb {

namespace {

Box box_of(const Settings& space) {
  Box box;
  box.lower = space.numbers("lower");
  box.upper = space.numbers("upper");
  box.integer = space.flags("integer");
  box.logarithmic = space.flags("log");
  return box;
}

MixedSetting mixed_setting(const Settings& space) {
  MixedSetting out;
  out.box = box_of(space);
  out.categorical = space.flags("categorical");
  const VectorXd indicator = space.numbers("indicator");
  for (Index c = 0; c < indicator.size(); ++c) {
    out.indicator.push_back(static_cast<Index>(indicator[c]));
  }
  out.candidates = space.matrix("candidates");
  out.width = out.candidates.cols();
  out.contexts = space.count("contexts");
  if (space.has("settle")) out.settle = space.settle("settle");
  return out;
}

// Is this for LazyArms, or asked of the engines of open inputs?
bool wants_many_arms(const Settings& bandit, Index arms, const PolicyTraits& policy) {
  const std::string engine = bandit.text("engine");
  if (engine == "lowrank" || engine == "dense") return true;
  // (Windows and weights let sds rise, and a score of two posteriors has no bounds.)
  return engine == "auto" && arms >= kManyArms && policy.rises && !bandit.has("changes") &&
         bandit.part("pending")->text("kind") != "hallucinate";
}

// Are exact answers wanted at a few points in each round? Climbs end at few; among arms only bounds
// spare most of them, which a score of two posteriors, or a penalised one, does not have.
bool asks_for_few(const Settings& bandit, const std::string& kind, const PolicyTraits& policy) {
  const std::string pending = bandit.part("pending")->text("kind");
  const bool bounds = pending != "hallucinate" && pending != "penalise";
  return policy.rises && (kind == "box" || (kind == "open" && bounds));
}

std::unique_ptr<Space> make_arms(const Settings& bandit, const Settings& space,
                                 const PolicyTraits& policy) {
  const std::string engine = bandit.text("engine");
  const Index arms = space.count("arms");
  const auto table = std::make_shared<const ArmTable>(
      bandit.kernel("kernel"), std::make_shared<const Points>(space.matrix("points")));
  VectorXd mean = space.numbers("prior_mean");
  if (arms == table->size() && wants_many_arms(bandit, arms, policy)) {
    const auto open =
        OpenEngine::of(engine == "dense" ? "dense" : "lowrank", bandit.number("accuracy"));
    return std::make_unique<ManyArmSpace>(table, std::move(mean), open);
  }
  return std::make_unique<ArmSpace>(
      make_arm_setting(table, bandit.number("noise_var"), engine, policy.draws),
      std::move(mean), arms);
}

}  // namespace

std::unique_ptr<Space> make_space(const Settings& bandit, const PolicyTraits& policy,
                                  BoxMinimizer minimize) {
  const auto space = bandit.part("space");
  const std::string kind = space->text("kind");
  const KernelPtr kernel = bandit.kernel("kernel");
  if (kind == "table") return make_arms(bandit, *space, policy);
  auto engine = OpenEngine::of(bandit.text("engine"), bandit.number("accuracy"));
  if (asks_for_few(bandit, kind, policy)) engine.answers = LowRankAnswers::corrected;
  if (kind == "open") {
    return std::make_unique<OpenArmSpace>(kernel, space->matrix("points"),
                                          space->count("contexts"),
                                          space->numbers("prior_mean"), engine);
  }
  if (kind == "mixed") {
    return std::make_unique<MixedSpace>(kernel, mixed_setting(*space), space->numbers("prior_mean"),
                                        engine, std::move(minimize));
  }
  if (kind != "box") throw std::invalid_argument("unknown space " + kind);
  return std::make_unique<BoxSpace>(kernel, space->matrix("rows"), space->flag("numbered"),
                                    box_of(*space), space->count("contexts"),
                                    space->numbers("prior_mean"), engine, std::move(minimize));
}

}  // namespace gpb
