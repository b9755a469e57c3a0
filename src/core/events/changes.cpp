// Functions of changes.h: change rules: when to explore uniformly, when to restart, and how to forget gradually. Uses
// base/, kernels/ and posteriors/.
#include "events/changes.h"

#include "kernels/make_kernel.h"

#include <algorithm>
#include <cmath>

namespace gpb {

bool ChangeRule::explores(Index uniform, Index history) const {
  return explore_ > 0.0 &&
         static_cast<double>(uniform) <= explore_ * std::sqrt(static_cast<double>(history));
}

bool ChangeRule::due(Index, Index) const { return false; }

bool OracleChange::due(Index last, Index first) const {
  if (last < first) return false;  // nothing to forget
  return std::find(times_.data(), times_.data() + times_.size(), static_cast<double>(last)) !=
         times_.data() + times_.size();
}

bool EveryChange::due(Index last, Index first) const {
  return last >= first && static_cast<double>(last - first + 1) >= rounds_;
}

bool EventChange::alarmed(const Arrival& a) {
  if (a.likelihood) {
    return shifts_.add(*a.likelihood, a.data(), a.mean, a.sd, a.prior_scale) >= -std::log(delta_);
  }
  const double log_term = std::log(2.0 * kPi * kPi * a.t * a.t / 6.0 / delta_);
  return std::abs(a.reward - a.mean) >
         std::sqrt(2.0 * log_term) * a.sd + std::sqrt(2.0 * a.noise_var * log_term);
}

bool CoverChange::alarmed(const Arrival& a) {
  const auto is_at = [&a](const CoverPoint& one) {
    return one.arm >= 0 ? one.arm == a.point->arm : one.inputs == a.point->x;
  };
  const auto found = std::find_if(cover_.begin(), cover_.end(), is_at);
  if (found == cover_.end()) return false;
  std::vector<double>& rewards = rewards_[static_cast<std::size_t>(found - cover_.begin())];
  rewards.push_back(a.reward);
  const double n = static_cast<double>(rewards.size());
  if (n < 2.0) return false;
  const double log_term = std::log(2.0 * static_cast<double>(cover_.size()) * n * (n - 1.0) * (n - 1.0) / delta_);
  double total = 0.0, older = 0.0;
  for (const double one : rewards) total += one;
  for (double s = 1.0; s < n; ++s) {
    older += rewards[static_cast<std::size_t>(s) - 1];
    const double m = n - s, apart = std::abs(older / s - (total - older) / m);
    if (apart > std::sqrt(2.0 * a.noise_var * (1.0 / s + 1.0 / m) * log_term)) return true;
  }
  return false;
}

bool DetectChange::alarmed(const Arrival& a) {
  return a.explored && sweep_.add(a.inputs(), a.reward - a.prior_mean);
}

bool EvidenceChange::alarmed(const Arrival& a) {
  return a.explored && sweep_.add(*a.likelihood, a.inputs(), a.data(), a.prior_mean);
}

std::unique_ptr<Averaging> make_averaging(const Settings& domain, const KernelPtr& kernel) {
  const std::string kind = domain.text("kind");
  if (kind == "sampled") return std::make_unique<SampledAverage>();
  if (kind == "box") {
    return std::make_unique<SquaredExponentialAverage>(
        domain.numbers("lower"), domain.numbers("upper"), domain.numbers("lengthscale"),
        domain.number("variance"));
  }
  return std::make_unique<PointAverage>(kernel,
                                        std::make_shared<const Points>(domain.matrix("points")));
}

std::unique_ptr<ChangeRule> make_changes(const Settings& changes) {
  const std::string kind = changes.text("kind");
  const double explore = changes.number("explore");
  if (kind == "never") return std::make_unique<NeverChange>(explore);
  if (kind == "oracle") return std::make_unique<OracleChange>(changes.numbers("times"), explore);
  if (kind == "every") return std::make_unique<EveryChange>(changes.number("rounds"), explore);
  if (kind == "event") return std::make_unique<EventChange>(changes.number("delta"), explore);
  if (kind == "cover") {
    const VectorXd arm = changes.numbers("arm");
    const MatrixXd inputs = changes.matrix("inputs");
    std::vector<CoverPoint> cover;
    for (Index k = 0; k < arm.size(); ++k) {
      cover.push_back({static_cast<Index>(arm[k]), inputs.row(k).transpose()});
    }
    if (cover.empty()) throw_invalid("a cover without points");
    return std::make_unique<CoverChange>(std::move(cover), changes.number("delta"), explore);
  }
  if (kind == "function") {
    return std::make_unique<FunctionChange>(changes.table_function("f"), explore);
  }
  if (kind == "detect") {
    const KernelPtr kernel = make_kernel(*changes.part("kernel"));
    if (!changes.has("ridge")) {
      return std::make_unique<EvidenceChange>(
          EvidenceSweep(kernel, changes.function("threshold"), changes.flag("dyadic")), explore);
    }
    ChangeSweep sweep(kernel, make_averaging(*changes.part("domain"), kernel),
                      changes.function("threshold"), changes.function("ridge"),
                      changes.flag("dyadic"));
    return std::make_unique<DetectChange>(std::move(sweep), explore);
  }
  // (What an automatic rule forgets is chosen during the run, see ModelState.)
  const Forgetting forgetting = kind == "auto" ? Forgetting() : make_forgetting(changes);
  return std::make_unique<GradualChange>(forgetting, explore);
}

Forgetting make_forgetting(const Settings& changes) {
  const std::string kind = changes.text("kind");
  Forgetting forgetting;
  if (kind == "window") {
    forgetting.kind = Forgetting::Kind::window;
    forgetting.window = changes.count("window");
  } else if (kind == "weights" || kind == "fade") {
    forgetting.kind = kind == "fade" ? Forgetting::Kind::fade : Forgetting::Kind::weights;
    forgetting.rate = changes.number("rate");
  } else if (kind != "never") {
    throw_invalid("unknown change rule " + kind);
  }
  return forgetting;
}

}  // namespace gpb
