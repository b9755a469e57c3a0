// A model is the posterior as a bandit sees it: observations are numbered in the
// order they were added, and their values may change later (delays, multipliers).
#ifndef GPB_MODEL_H
#define GPB_MODEL_H

#include "posteriors/arm_posterior.h"

namespace gpb {

// Where a query was made: a row of the table of arms, or a point of a box.
struct Place {
  Index arm = -1;  // row of the arms' table (of the arm-context table with contexts)
  VectorXd x;      // the inputs; empty where `arm` says it all
};

class Model {
 public:
  virtual ~Model() = default;
  // `round`: that of the query, for models that forget.
  virtual void add(const Place& place, double y, Index round) = 0;
  // The next query is that of this round.
  virtual void advance(Index) {}
  virtual void replace(Index observation, double y) = 0;
  virtual void replace_all(const std::vector<double>& y) = 0;
  virtual void clear() = 0;
  virtual Index size() const = 0;
  virtual double noise_var() const = 0;
  virtual double log_det() const = 0;
  virtual double quadratic() const = 0;
  virtual Index rank() const = 0;  // of the engine's factor
  virtual void at(const Place& place, double& mean, double& sd) const = 0;
  // Any points, one per row; prior_mean has one value per row.
  virtual void predict(const Points& X, const VectorXd& prior_mean, VectorXd& mean,
                       VectorXd& sd) const = 0;
};

// Finitely many arms. (The models that forget: forgetting_model.h.)
class ArmModel : public Model {
 public:
  explicit ArmModel(std::unique_ptr<ArmPosterior> posterior) : posterior_(std::move(posterior)) {}
  void add(const Place& place, double y, Index round) override;
  void replace(Index observation, double y) override;
  void replace_all(const std::vector<double>& y) override;
  void clear() override;
  Index size() const override { return static_cast<Index>(arms_.size()); }
  double noise_var() const override { return posterior_->noise_var(); }
  double log_det() const override { return posterior().log_det(); }
  double quadratic() const override { return posterior().quadratic(); }
  Index rank() const override { return posterior_->rank(); }
  void at(const Place& place, double& mean, double& sd) const override;
  void predict(const Points& X, const VectorXd& prior_mean, VectorXd& mean,
               VectorXd& sd) const override;

  const ArmPosterior& posterior() const {
    settle();
    return *posterior_;
  }

 protected:
  // Per arm the sum of weights and of weight * (y - prior mean), over all that of squares.
  virtual void statistics(VectorXd& weight, VectorXd& weighted, double& squares) const;
  // Before the posterior is looked at: what a model has put off is done.
  virtual void settle() const {}

  std::unique_ptr<ArmPosterior> posterior_;
  std::vector<Index> arms_;
  std::vector<double> values_;
};

}  // namespace gpb

#endif
