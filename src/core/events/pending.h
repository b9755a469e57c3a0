// Pending rules: how queries without a reward enter the model. Uses base/ only.
#ifndef GPB_PENDING_H
#define GPB_PENDING_H

#include "base/settings.h"

namespace gpb {

class PendingRule {
 public:
  virtual ~PendingRule() = default;
  // Does the variance include a query as soon as it is made?
  virtual bool variance_knows() const { return false; }
  // The largest information (nats) that pending queries may carry when the next query is made.
  virtual double guard() const { return kInf; }
  // Is the acquisition value penalised near pending points?
  virtual bool penalises() const { return false; }
  // Does the mean include a pending query, with this value?
  virtual bool has_stand_in() const { return false; }
  virtual double stand_in() const { return kNaN; }
  // Does a pending query have any effect before its reward?
  bool noticed() const { return variance_knows() || penalises() || has_stand_in(); }
  // A reward that takes longer than this is lost: the stand-in stays.
  virtual double patience() const { return kInf; }
  // Is patience() in units of the clock, instead of rounds?
  virtual bool by_clock() const { return false; }
};

// Mean and variance ignore pending queries.
class IgnorePending final : public PendingRule {};

class HallucinatePending final : public PendingRule {
 public:
  explicit HallucinatePending(double guard) : guard_(guard) {}
  bool variance_knows() const override { return true; }
  double guard() const override { return guard_; }

 private:
  double guard_;
};

// Mean and variance ignore pending queries; the acquisition value is reduced around them (local penalisation).
class PenalisePending final : public PendingRule {
 public:
  PenalisePending(Index actions, double lipschitz) : actions_(actions), lipschitz_(lipschitz) {}
  bool penalises() const override { return true; }
  Index actions() const { return actions_; }  // number of inputs that distances use
  double lipschitz() const { return lipschitz_; }  // NaN: estimated

 private:
  Index actions_;
  double lipschitz_;
};

class CensorPending final : public PendingRule {
 public:
  CensorPending(double patience, double value, bool by_clock)
      : patience_(patience), value_(value), by_clock_(by_clock) {}
  bool has_stand_in() const override { return true; }
  double stand_in() const override { return value_; }
  double patience() const override { return patience_; }
  bool by_clock() const override { return by_clock_; }

 private:
  double patience_, value_;
  bool by_clock_;
};

inline std::unique_ptr<PendingRule> make_pending(const Settings& pending) {
  const std::string kind = pending.text("kind");
  if (kind == "ignore") return std::make_unique<IgnorePending>();
  if (kind == "penalize") {
    return std::make_unique<PenalisePending>(
        pending.count("actions"), pending.has("lipschitz") ? pending.number("lipschitz") : kNaN);
  }
  if (kind == "hallucinate") {
    return std::make_unique<HallucinatePending>(pending.has("guard") ? pending.number("guard")
                                                                     : kInf);
  }
  if (kind == "censor") {
    return std::make_unique<CensorPending>(pending.number("m"), pending.number("value"),
                                           pending.text("unit") == "time");
  }
  throw_invalid("unknown pending rule " + kind);
}

}  // namespace gpb

#endif
