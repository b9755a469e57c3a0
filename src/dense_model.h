// The model over inputs that are not known beforehand: a box, or arms in contexts
// that come as they like. Engine 3.
#ifndef GPB_DENSE_MODEL_H
#define GPB_DENSE_MODEL_H

#include "dense_posterior.h"
#include "model.h"

namespace gpb {

class DenseModel : public Model {
 public:
  // prior_mean: of a place; a constant on a box, one per arm otherwise.
  using PriorMean = std::function<double(const Place&)>;
  DenseModel(KernelPtr kernel, double noise_var, PriorMean prior_mean)
      : posterior_(std::move(kernel), noise_var), prior_mean_(std::move(prior_mean)) {}

  void add(const Place& place, double y) override;
  void replace(Index observation, double y) override;
  void replace_all(const std::vector<double>& y) override;
  void clear() override;
  Index size() const override { return posterior_.size(); }
  double noise_var() const override { return posterior_.noise_var(); }
  double log_det() const override { return posterior_.log_det(); }
  double quadratic() const override { return posterior_.quadratic(); }
  Index rank() const override { return posterior_.size(); }
  void at(const Place& place, double& mean, double& sd) const override;
  void predict(const Points& X, const VectorXd& prior_mean, VectorXd& mean,
               VectorXd& sd) const override;

  // Posterior means at several places.
  VectorXd means_at(const std::vector<Place>& places) const;
  // Posterior mean at observation i: y_i - lambda alpha_i, no kernel needed.
  double mean_at_observation(Index i) const;
  const DensePosterior& posterior() const { return posterior_; }

 private:
  DensePosterior posterior_;
  PriorMean prior_mean_;
  std::vector<double> observed_prior_;  // prior mean at each observation
};

}  // namespace gpb

#endif
