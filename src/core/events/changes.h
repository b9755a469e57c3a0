// Change rules: when to explore uniformly, when to restart, and how to forget gradually. Uses base/ and events/.
// A rule uses the rounds and rewards of the current segment, and nothing of policies.
#ifndef GPB_CHANGES_H
#define GPB_CHANGES_H

#include "base/point.h"
#include "base/settings.h"
#include "events/change_evidence.h"
#include "events/change_sweep.h"
#include "posteriors/forgetting.h"

namespace gpb {

// An observed reward, with the predictions at the time of its query.
struct Arrival {
  bool explored;                     // its query was a uniform one
  double reward, mean, sd;
  double t;                          // queries since the restart up to this one
  double noise_var;
  const Point* point;
  std::function<VectorXd()> inputs;  // of its point
  double prior_mean;                 // of its point
  double prior_scale;                // largest prior sd of f
  const Likelihood* likelihood;      // null: Gaussian noise
  double size;                       // trials, exposure

  Likelihood::Data data() const {
    Likelihood::Data out;
    likelihood->pool(reward, size, 1.0, out);
    return out;
  }
};

// An arm, or the inputs of a point without an arm (-1).
struct CoverPoint {
  Index arm;
  VectorXd inputs;
};

class ChangeRule {
 public:
  explicit ChangeRule(double explore) : explore_(explore) {}
  virtual ~ChangeRule() = default;
  // Uniform play while |U| <= xi sqrt(|H|), for uniform queries U of the history H; xi = 0 means never.
  bool explores(Index uniform, Index history) const;
  // The point of the next forced exploration, after `uniform` ones; null: drawn uniformly.
  virtual const CoverPoint* forced(Index /*uniform*/) const { return nullptr; }
  // Is a restart due before the query after round `last` (1-based)? The segment began with round `first`.
  virtual bool due(Index last, Index first) const;
  // Does this reward raise the alarm?
  virtual bool alarmed(const Arrival&) { return false; }
  // Does the history of the segment require a restart? `history`: see BanditState::history_table.
  virtual bool asks(const std::function<MatrixXd()>& /*history*/) const { return false; }
  // Does it use the predictions at the time of the queries?
  virtual bool reads_predictions() const { return false; }
  // Called when the segment ends.
  virtual void clear() {}
  virtual Forgetting forgetting() const { return Forgetting(); }

 private:
  double explore_;
};

// Uniform play only.
using NeverChange = ChangeRule;

// Restarts after given rounds.
class OracleChange final : public ChangeRule {
 public:
  OracleChange(VectorXd times, double explore) : ChangeRule(explore), times_(std::move(times)) {}
  bool due(Index last, Index first) const override;

 private:
  VectorXd times_;
};

// Restarts after every `rounds` rounds.
class EveryChange final : public ChangeRule {
 public:
  EveryChange(double rounds, double explore) : ChangeRule(explore), rounds_(rounds) {}
  bool due(Index last, Index first) const override;

 private:
  double rounds_;
};

// Restarts if a reward is too far from the mean (Brunzema et al.):
// |y - mean| > sqrt(rho_t) sd + sqrt(2 noise_var log(2 pi_t / delta)).
// With a likelihood: if the predictions of all rewards since the restart are too improbable, see ShiftTest.
class EventChange final : public ChangeRule {
 public:
  EventChange(double delta, double explore) : ChangeRule(explore), delta_(delta) {}
  bool alarmed(const Arrival& arrival) override;
  bool reads_predictions() const override { return true; }
  void clear() override { shifts_.clear(); }

 private:
  double delta_;
  ShiftTest shifts_;
};

// Forced exploration plays a few points in turn. Restarts if the mean reward of one of them changed: for some split of
// its n rewards (s older ones and m newer ones), with N points,
//   |mean of the older - mean of the newer| > sqrt(2 noise_var (1 / s + 1 / m) log(2 N n (n - 1)^2 / delta)).
// (Result 22 in the article "Derivations".)
class CoverChange final : public ChangeRule {
 public:
  CoverChange(std::vector<CoverPoint> cover, double delta, double explore)
      : ChangeRule(explore), cover_(std::move(cover)), rewards_(cover_.size()), delta_(delta) {}
  const CoverPoint* forced(Index uniform) const override {
    return &cover_[static_cast<std::size_t>(uniform) % cover_.size()];
  }
  bool alarmed(const Arrival& arrival) override;
  void clear() override {
    for (auto& rewards : rewards_) rewards.clear();
  }

 private:
  std::vector<CoverPoint> cover_;
  std::vector<std::vector<double>> rewards_;  // of each point
  double delta_;
};

// Restarts if a user's function of the segment's history requires it.
class FunctionChange final : public ChangeRule {
 public:
  FunctionChange(std::function<double(const MatrixXd&)> f, double explore)
      : ChangeRule(explore), f_(std::move(f)) {}
  bool asks(const std::function<MatrixXd()>& history) const override { return f_(history()) != 0.0; }
  bool reads_predictions() const override { return true; }

 private:
  std::function<double(const MatrixXd&)> f_;
};

// Avanesov's Algorithm 2: a sweep over the uniform queries' rewards.
class DetectChange final : public ChangeRule {
 public:
  DetectChange(ChangeSweep sweep, double explore)
      : ChangeRule(explore), sweep_(std::move(sweep)) {}
  bool alarmed(const Arrival& arrival) override;
  void clear() override { sweep_.clear(); }

 private:
  ChangeSweep sweep_;
};

// The same for rewards with a likelihood, by the evidences of the halves.
class EvidenceChange final : public ChangeRule {
 public:
  EvidenceChange(EvidenceSweep sweep, double explore) : ChangeRule(explore), sweep_(std::move(sweep)) {}
  bool alarmed(const Arrival& arrival) override;
  void clear() override { sweep_.clear(); }

 private:
  EvidenceSweep sweep_;
};

// No restarts: old observations lose weight in the posterior.
class GradualChange final : public ChangeRule {
 public:
  GradualChange(const Forgetting& forgetting, double explore)
      : ChangeRule(explore), forgetting_(forgetting) {}
  Forgetting forgetting() const override { return forgetting_; }

 private:
  Forgetting forgetting_;
};

std::unique_ptr<ChangeRule> make_changes(const Settings& changes);
// How a rule without restarts forgets; other kinds are an error.
Forgetting make_forgetting(const Settings& changes);
// Makes the average that a detector uses.
std::unique_ptr<Averaging> make_averaging(const Settings& domain, const KernelPtr& kernel);

}  // namespace gpb

#endif
