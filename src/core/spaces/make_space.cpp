// Functions of make_space.h: construction of spaces from settings. Uses base/, kernels/, posteriors/ and events/.
#include "spaces/make_space.h"

#include "events/pending.h"
#include "kernels/make_kernel.h"
#include "posteriors/arm_setting.h"
#include "spaces/arm_space.h"
#include "spaces/many_arm_space.h"
#include "spaces/mixed_space.h"
#include "spaces/mixture_space.h"
#include "spaces/open_arm_space.h"
#include "spaces/transfer_space.h"

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
  out.listed = space.has("listed");
  out.width = out.candidates.cols();
  out.contexts = space.count("contexts");
  if (space.has("shares")) {
    for (const auto& part : space.parts("shares")) out.shares.push_back(make_shares(*part));
  }
  if (space.has("settle")) out.settle = space.settle("settle");
  if (space.has("linear")) {
    for (const auto& part : space.parts("linear")) out.linear.push_back(make_linear_rules(*part));
  }
  return out;
}

// Use LazyArms or the engines of open inputs for these arms?
bool wants_many_arms(const Settings& bandit, Index arms, const PolicyTraits& policy) {
  const std::string engine = bandit.text("engine");
  if (engine == "lowrank" || engine == "dense") return true;
  // Sds can increase with windows and weights, and a score of two posteriors has no bounds.
  return engine == "auto" && arms >= kManyArms && policy.rises && !bandit.has("changes") &&
         !make_pending(*bandit.part("pending"))->variance_knows();
}

// Does each round need exact predictions at a few points only? Local searches end at few points. For arms, bounds must
// rule out most of them; a score of two posteriors and a penalised score have no such bounds.
bool asks_for_few(const Settings& bandit, const std::string& kind, const PolicyTraits& policy) {
  const auto pending = make_pending(*bandit.part("pending"));
  const bool bounds = !pending->variance_knows() && !pending->penalises();
  return policy.rises && (kind == "box" || (kind == "open" && bounds));
}

std::unique_ptr<Space> make_arms(const Settings& bandit, const Settings& space,
                                 const PolicyTraits& policy) {
  const std::string engine = bandit.text("engine");
  const Index arms = space.count("arms");
  const auto table = std::make_shared<const ArmTable>(
      make_kernel(*bandit.part("kernel")), std::make_shared<const Points>(space.matrix("points")));
  VectorXd mean = space.numbers("prior_mean");
  if (bandit.has("transfer")) {
    // This space is only used for points and searches, because posteriors are made over all campaigns.
    return std::make_unique<ArmSpace>(ArmSetting{table, ArmSetting::Engine::played, nullptr}, std::move(mean), arms);
  }
  if (arms == table->size() && wants_many_arms(bandit, arms, policy)) {
    const auto open =
        OpenEngine::of(engine == "dense" ? "dense" : "lowrank", bandit.number("accuracy"));
    return std::make_unique<ManyArmSpace>(table, std::move(mean), open);
  }
  return std::make_unique<ArmSpace>(
      make_arm_setting(table, bandit.number("noise_var"), engine, policy.draws),
      std::move(mean), arms);
}

// `transfer`: rows of earlier campaigns, their means, and the covariance of all campaigns.
std::unique_ptr<Space> with_transfer(std::unique_ptr<Space> space, const Settings& bandit) {
  const auto transfer = bandit.part("transfer");
  TransferRows rows;
  rows.inputs = transfer->matrix("inputs");
  rows.noise_var = transfer->numbers("noise_var");
  rows.values = transfer->numbers("values");
  const VectorXd campaign_mean = transfer->numbers("mean");
  for (Index i = 0; i < rows.values.size(); ++i) {
    rows.values[i] -= campaign_mean[static_cast<Index>(rows.inputs(i, rows.inputs.cols() - 1)) - 1];
  }
  const std::string engine = bandit.text("engine") == "lowrank" ? "lowrank" : "dense";
  const KernelPtr kernel = make_kernel(*bandit.part("kernel"));
  return std::make_unique<TransferSpace>(std::move(space), *kernel, transfer->matrix("covariance"),
                                        bandit.part("space")->numbers("prior_mean")[0],
                                        std::make_shared<const TransferRows>(std::move(rows)),
                                        OpenEngine::of(engine, bandit.number("accuracy")));
}

using Shape = std::shared_ptr<const PriorMean::Shape>;

Shape shape_of(const Settings& bandit) {
  const auto space = bandit.part("space");
  if (!space->has("mean_values")) return nullptr;
  return std::make_shared<const PriorMean::Shape>(space->point_function("mean_values"),
                                                  space->point_function("mean_slope"));
}

std::unique_ptr<Space> make_plain_space(const Settings& bandit, const PolicyTraits& policy,
                                        const Minimizers& minimizers, const Shape& shape) {
  const auto space = bandit.part("space");
  const std::string kind = space->text("kind");
  const KernelPtr kernel = make_kernel(*bandit.part("kernel"));
  if (kind == "table") return make_arms(bandit, *space, policy);
  auto engine = OpenEngine::of(bandit.text("engine"), bandit.number("accuracy"));
  engine.sparse = bandit.has("sparse");
  if (asks_for_few(bandit, kind, policy)) engine.answers = LowRankAnswers::corrected;
  if (kind == "open") {
    return std::make_unique<OpenArmSpace>(kernel, space->matrix("points"),
                                          space->count("contexts"),
                                          space->numbers("prior_mean"), engine);
  }
  if (kind == "mixed") {
    return std::make_unique<MixedSpace>(kernel, mixed_setting(*space),
                                        PriorMean(space->numbers("prior_mean"), shape), engine,
                                        minimizers(kSearchTolerance));
  }
  if (kind != "box") throw_invalid("unknown space " + kind);
  return std::make_unique<BoxSpace>(kernel, space->matrix("rows"), space->flag("numbered"),
                                    box_of(*space), space->count("contexts"),
                                    PriorMean(space->numbers("prior_mean"), shape), engine, minimizers,
                                    space->has("first") ? space->matrix("first") : MatrixXd());
}

std::unique_ptr<Space> make_single(const Settings& bandit, const PolicyTraits& policy, const Minimizers& minimizers,
                                   const Shape& shape) {
  auto space = make_plain_space(bandit, policy, minimizers, shape);
  return bandit.has("transfer") ? with_transfer(std::move(space), bandit) : std::move(space);
}

std::unique_ptr<Space> make_mixture(const Settings& bandit, const PolicyTraits& policy,
                                    const Minimizers& minimizers) {
  std::vector<MixtureSpace::Model> models;
  Shape shape;  // that of all models
  for (const auto& one : bandit.parts("models")) {
    if (!shape) shape = shape_of(*one);
    models.push_back({make_single(*one, policy, minimizers, shape), one->number("noise_var"),
                      one->number("weight")});
  }
  return std::make_unique<MixtureSpace>(std::move(models), bandit.number("noise_var"));
}

}  // namespace

std::unique_ptr<Space> make_space(const Settings& bandit, const PolicyTraits& policy,
                                  const Minimizers& minimizers) {
  if (bandit.has("models")) return make_mixture(bandit, policy, minimizers);
  return make_single(bandit, policy, minimizers, shape_of(bandit));
}

}  // namespace gpb
