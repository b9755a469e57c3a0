#include "spaces/make_space.h"

#include "spaces/arm_space.h"
#include "spaces/open_arm_space.h"

namespace gpb {

std::unique_ptr<Space> make_space(const Settings& bandit, bool draws, BoxMinimizer minimize) {
  const auto space = bandit.part("space");
  const std::string kind = space->text("kind");
  const KernelPtr kernel = bandit.kernel("kernel");
  if (kind == "table") {
    const auto table = std::make_shared<const ArmTable>(
        kernel, std::make_shared<const Points>(space->matrix("points")));
    return std::make_unique<ArmSpace>(
        make_arm_setting(table, bandit.number("noise_var"), bandit.text("engine"), draws),
        space->numbers("prior_mean"), space->count("arms"));
  }
  if (kind == "open") {
    return std::make_unique<OpenArmSpace>(kernel, space->matrix("points"),
                                          space->count("contexts"), space->numbers("prior_mean"));
  }
  if (kind != "box") throw std::invalid_argument("unknown space " + kind);
  Box box;
  box.lower = space->numbers("lower");
  box.upper = space->numbers("upper");
  box.integer = space->flags("integer");
  box.logarithmic = space->flags("log");
  return std::make_unique<BoxSpace>(kernel, space->matrix("rows"), space->flag("numbered"),
                                    std::move(box), space->count("contexts"),
                                    space->numbers("prior_mean"), std::move(minimize));
}

}  // namespace gpb
