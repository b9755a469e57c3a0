// Models over finitely many arms that forget. Each equals a refit from scratch on what it
// keeps, at any round; `Forgetting` says what that is.
#ifndef GPB_FORGETTING_MODEL_H
#define GPB_FORGETTING_MODEL_H

#include "posteriors/forgetting.h"
#include "posteriors/model.h"

namespace gpb {

// The last W observations: one enters, one is taken back, two rank-one steps a round.
class WindowArmModel : public ArmModel {
 public:
  WindowArmModel(std::unique_ptr<ArmPosterior> posterior, Index window)
      : ArmModel(std::move(posterior)), window_(window) {}
  void add(const Place& place, double y, Index round) override;
  void replace(Index observation, double y) override;
  void replace_all(const std::vector<double>& y) override;
  void clear() override;

 protected:
  void statistics(VectorXd& weight, VectorXd& weighted, double& squares) const override;

 private:
  WindowOfRounds window_;
  std::vector<char> kept_;
};

// Noise lambda * rate^-(t - s): all weights change every round, so the posterior is computed
// from its statistics once a round that looks at it, n r^2 (n m^2 over m played arms).
class WeightedArmModel : public ArmModel {
 public:
  WeightedArmModel(std::unique_ptr<ArmPosterior> posterior, double rate);
  void add(const Place& place, double y, Index round) override;
  void replace(Index observation, double y) override;
  void replace_all(const std::vector<double>& y) override;
  void clear() override;
  void advance(Index round) override;

 protected:
  void statistics(VectorXd& weight, VectorXd& weighted, double& squares) const override;
  void settle() const override;

 private:
  double weight_now(Index round) const;

  double rate_;
  Index now_ = 1;
  std::vector<Index> rounds_;
  // At round now_; a settled posterior is theirs.
  VectorXd weight_, weighted_;
  double squares_ = 0.0;
  mutable bool settled_ = true;
};

// Kernel k(x, x') (1 - rate)^(|t - t'| / 2): the posterior drifts from round to round. What
// comes out of order (late rewards, changed values) makes it begin again from the first
// observation, once a round that looks at it.
class FadingArmModel : public ArmModel {
 public:
  FadingArmModel(std::unique_ptr<ArmPosterior> posterior, double rate)
      : ArmModel(std::move(posterior)), rate_(rate) {}
  void add(const Place& place, double y, Index round) override;
  void replace(Index observation, double y) override;
  void replace_all(const std::vector<double>& y) override;
  void clear() override;
  void advance(Index round) override { now_ = round; }
  void predict(const Points& X, const VectorXd& prior_mean, VectorXd& mean,
               VectorXd& sd) const override;

 protected:
  void settle() const override;

 private:
  void drift_to(Index round) const;
  void take_in() const;

  double rate_;
  Index now_ = 1;
  std::vector<Index> rounds_;
  mutable std::size_t taken_in_ = 0;  // so many observations the posterior knows
  mutable Index reached_ = 1;         // the round that it stands at
  mutable bool in_order_ = true;
};

}  // namespace gpb

#endif
