// A space is the decision set as a bandit sees it: it makes models over itself and
// finds where an acquisition is largest.
#ifndef GPB_SPACE_H
#define GPB_SPACE_H

#include "posteriors/forgetting_model.h"
#include "scores/policy.h"
#include "posteriors/weight_posterior.h"
#include "widths/width.h"

namespace gpb {

// One upper bound per regulariser of width_dmm: mean + multiplier * sd.
struct BoundTerm {
  const Model* model;
  double multiplier;
};

// The models a choice looks at; they are one and the same unless pending queries
// are known to the variance alone.
struct Models {
  const Model* mean;
  const Model* variance;
  std::vector<BoundTerm> bounds;  // width_dmm only
};

// The context of a round: a row of the known contexts, or its values.
struct Context {
  Index row = 0;
  VectorXd values;
};

class Space {
 public:
  virtual ~Space() = default;
  virtual std::unique_ptr<Model> make_model(double noise_var,
                                            const Forgetting& forgetting) const = 0;
  virtual Place choose(const Acquisition& a, const Models& models, const Context& context,
                       Rng& rng) = 0;
  virtual Place uniform(const Context& context, Rng& rng) const = 0;
  // Largest posterior mean among the places played (in this context); the largest
  // prior mean if there are none.
  virtual double incumbent(const Model& mean, const std::vector<Place>& played,
                           const Context& context) = 0;
  virtual double arms() const = 0;         // NaN on a box
  virtual double prior_scale() const = 0;  // largest prior standard deviation
  virtual std::string engine() const = 0;
  virtual double prior_mean(const Place& place) const = 0;
  virtual VectorXd inputs(const Place& place) const { return place.x; }
};

enum class Engine { weights, played };

// Finitely many arms and the engine that serves them.
struct ArmSetting {
  ArmTablePtr table;
  Engine engine;
  LowRankPtr basis;  // weight space only
  // `drifts`: of a prior that drifts from round to round.
  std::unique_ptr<ArmPosterior> make_posterior(double noise_var, VectorXd prior_mean,
                                               bool drifts = false) const;
};

// Chooses the engine by cost ("auto") or as told ("weights", "played"). Thompson
// sampling needs the complete factor; otherwise a factor is tried as long as it is
// cheap, and played points serve if it does not come to an end.
ArmSetting make_arm_setting(ArmTablePtr table, double noise_var, const std::string& engine,
                            bool needs_draws);

// Finitely many arms, alone or with finitely many contexts known beforehand: then
// the table has a block of all arms for each context.
class ArmSpace : public Space {
 public:
  ArmSpace(ArmSetting setting, VectorXd prior_mean, Index arms_per_context);
  std::unique_ptr<Model> make_model(double noise_var,
                                    const Forgetting& forgetting) const override;
  Place choose(const Acquisition& a, const Models& models, const Context& context,
               Rng& rng) override;
  Place uniform(const Context& context, Rng& rng) const override;
  double incumbent(const Model& mean, const std::vector<Place>& played,
                   const Context& context) override;
  double arms() const override { return static_cast<double>(arms_); }
  double prior_scale() const override { return setting_.table->prior_scale; }
  std::string engine() const override;
  double prior_mean(const Place& place) const override { return prior_mean_[place.arm]; }
  VectorXd inputs(const Place& place) const override {
    return setting_.table->points->row(place.arm).transpose();
  }

 private:
  Index choose_by_bounds(const Acquisition& a, const Models& models, Index first);

  ArmSetting setting_;
  VectorXd prior_mean_;
  Index arms_;  // arms per context
  VectorXd scratch_, draw_;
};

}  // namespace gpb

#endif
