// The posterior over a table of arms that are all known in advance: one of the engines of arm_posterior.h behind the
// interface of a posterior.
#ifndef GPB_TABLE_POSTERIOR_H
#define GPB_TABLE_POSTERIOR_H

#include "posteriors/arm_posterior.h"
#include "posteriors/forgetting.h"
#include "posteriors/posterior.h"

namespace gpb {

class TablePosterior final : public Posterior,
                             public SitePosterior,
                             public JointPosterior,
                             public CrossPosterior,
                             public ComparingPosterior {
 public:
  // `name`: the engine's name in output. Only a drifting prior in `forgetting` matters here.
  TablePosterior(std::unique_ptr<ArmPosterior> engine, std::string name,
                 const Forgetting& forgetting);

  void add(const Observation& observation) override;
  void set_value(Index slot, double y) override;
  void set_values(const std::vector<double>& y) override;
  void drop(Index slot) override;
  void rescale(double factor) override;
  void clear() override;
  void advance(Index round) override { now_ = round; }
  void expect_sites(bool compares, bool modes) override;
  SitePrior site_prior(const std::vector<Functional>& functionals, const SiteTerms& terms, bool again) override;
  bool set_sites(const std::vector<Functional>& functionals, const SiteFit& fit) override;
  void set_awaited(const std::vector<Functional>& functionals, const SiteFit& fit) override {
    set_sites(functionals, fit);
  }

  double noise_var() const override { return engine_->noise_var(); }
  double log_det() const override { return settled().log_det(); }
  double quadratic() const override { return settled().quadratic(); }
  EngineSummary summary() const override { return {name_, engine_->rank()}; }
  void at(const Point& point, double& mean, double& sd) const override;
  Moments moments(const Candidates& candidates) const override;
  void predict(const Points& X, VectorXd& mean, VectorXd& variance) const override;
  MatrixXd covariance(const Candidates& candidates, const std::vector<Index>& some) const override;
  std::unique_ptr<CrossCovariance> covariances_with(const std::vector<const Point*>& fixed) const override;
  void differences(const Candidates& candidates, const Point& from, VectorXd& mean,
                   VectorXd& variance) const override;
  VectorXd means_at(const std::vector<const Point*>& points,
                    const std::vector<Index>& slots) const override;
  Index best_slot() const override;
  std::unique_ptr<SampledFunction> sample(const Posterior& centre, const Candidates& candidates,
                                          double scale, Rng& rng) const override;
  void sample_all(const Posterior& centre, const Candidates& candidates, double scale, Rng& rng,
                  Eigen::Ref<MatrixXd> out) const override;

 private:
  struct Entry {
    Index row;
    double value;
    double weight;  // at the time it was added
    Index round;
    bool kept;
    double scale_then;  // of all weights, as a logarithm, when it was added
  };
  // Per arm the sums of weights and of weight * (y - prior mean); over all arms the sum of weighted squares.
  struct Pool {
    VectorXd weight, weighted;
    double squares = 0.0;
    std::vector<Index> entries;  // number of kept ones, per arm
  };

  double weight_now(const Entry& entry) const {
    return entry.weight * std::exp(log_scale_ - entry.scale_then);
  }
  double centred(const Entry& entry) const {
    return entry.value - engine_->prior_mean()[entry.row];
  }
  SitePrior prior_of(const std::vector<Functional>& functionals) const;
  void put(Pool& pool, const Entry& entry, double sign) const;
  Pool pooled() const;
  const ArmPosterior& settled() const;
  void take_in_by_round() const;
  void drift_to(Index round) const;

  std::unique_ptr<ArmPosterior> engine_;
  std::string name_;
  Forgetting forgetting_;
  Index now_ = 1;
  bool compares_ = false;  // the observations are differences
  std::vector<Entry> entries_;
  double log_scale_ = 0.0;
  // After weights have been rescaled, the pool is kept up to date. The engine is fitted to it at most once in a round,
  // when a prediction is requested.
  std::unique_ptr<Pool> pool_;
  mutable bool stale_ = false;
  // A prior that drifts needs observations in the order of their rounds. Observations out of order cause a restart, at
  // most once in a round, when a prediction is requested.
  mutable std::size_t taken_in_ = 0;
  mutable Index reached_ = 1;
  mutable bool in_order_ = true;
};

}  // namespace gpb

#endif
