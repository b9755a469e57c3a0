// The model over inputs that are not known beforehand: a box, or arms in contexts
// that come as they like. Engine 3.
#ifndef GPB_DENSE_MODEL_H
#define GPB_DENSE_MODEL_H

#include "posteriors/dense_posterior.h"
#include "posteriors/model.h"

namespace gpb {

class DenseModel : public Model {
 public:
  // prior_mean: of a place; a constant on a box, one per arm otherwise.
  using PriorMean = std::function<double(const Place&)>;
  DenseModel(KernelPtr kernel, double noise_var, PriorMean prior_mean)
      : posterior_(std::move(kernel), noise_var), prior_mean_(std::move(prior_mean)) {}

  void add(const Place& place, double y, Index round) override;
  void replace(Index observation, double y) override;
  void replace_all(const std::vector<double>& y) override;
  void clear() override;
  Index size() const override { return static_cast<Index>(observed_prior_.size()); }
  double noise_var() const override { return posterior_.noise_var(); }
  double log_det() const override { return posterior().log_det(); }
  double quadratic() const override { return posterior().quadratic(); }
  Index rank() const override { return posterior_.size(); }
  void at(const Place& place, double& mean, double& sd) const override;
  void predict(const Points& X, const VectorXd& prior_mean, VectorXd& mean,
               VectorXd& sd) const override;

  // Posterior means at several places.
  VectorXd means_at(const std::vector<Place>& places) const;
  // Posterior mean at the observations that the posterior knows, prior mean included.
  VectorXd means_at_observations() const;
  const DensePosterior& posterior() const {
    settle();
    return posterior_;
  }

 protected:
  // Before the posterior is looked at: what a model has put off is done.
  virtual void settle() const {}
  // The prior mean at the posterior's observation i.
  virtual double prior_at(Index i) const { return observed_prior_[static_cast<std::size_t>(i)]; }

  mutable DensePosterior posterior_;
  PriorMean prior_mean_;
  std::vector<double> observed_prior_;  // prior mean at each observation
};

// Keeps the last W observations, or weighs them by age: the posterior is computed anew when
// an observation leaves, or the weights have changed (O(m^3 / 6) over the m that are kept), once
// a round that looks at it.
class SelectiveDenseModel : public DenseModel {
 public:
  SelectiveDenseModel(KernelPtr kernel, double noise_var, PriorMean prior_mean,
                      const Forgetting& forgetting)
      : DenseModel(std::move(kernel), noise_var, std::move(prior_mean)),
        forgetting_(forgetting),
        window_(forgetting.window) {}
  void add(const Place& place, double y, Index round) override;
  void replace(Index observation, double y) override;
  void replace_all(const std::vector<double>& y) override;
  void clear() override;
  void advance(Index round) override;

 protected:
  void settle() const override;
  double prior_at(Index i) const override {
    return observed_prior_[static_cast<std::size_t>(slots_[static_cast<std::size_t>(i)])];
  }

 private:
  bool weighs() const { return forgetting_.kind == Forgetting::Kind::weights; }

  Forgetting forgetting_;
  WindowOfRounds window_;
  Index now_ = 1;
  std::vector<VectorXd> points_;
  std::vector<double> centred_;  // values minus prior means
  std::vector<Index> rounds_;
  mutable std::vector<Index> slots_;  // of the posterior's observations
  mutable bool settled_ = true;
};

// Kernel k(x, x') (1 - rate)^(|t - t'| / 2): the factor grows as ever, the present moves on.
class FadingDenseModel : public DenseModel {
 public:
  FadingDenseModel(KernelPtr kernel, double noise_var, PriorMean prior_mean, double rate);
  void advance(Index round) override { posterior_.set_now(round); }
};

}  // namespace gpb

#endif
