// A posterior with data of earlier campaigns: an engine over the inputs and, as the last input, the campaign's number.
// The current campaign has number 0. The engine conditions on the earlier rows first. Callers pass and receive points
// of the current campaign only.
#ifndef GPB_RELATED_POSTERIOR_H
#define GPB_RELATED_POSTERIOR_H

#include "posteriors/open_posterior.h"

namespace gpb {

// Rows of earlier campaigns.
struct TransferRows {
  Points inputs;       // as passed to the kernel, the campaign's number (from 1) last
  VectorXd values;     // minus their campaign's mean
  VectorXd noise_var;  // of each
};
using TransferRowsPtr = std::shared_ptr<const TransferRows>;

class TransferPosterior final : public Posterior,
                                public LocalPosterior,
                                public JointPosterior,
                                public CrossPosterior,
                                public ComparingPosterior,
                                public PostponingPosterior {
 public:
  // `table`: the inputs of tabled points, or null.
  TransferPosterior(std::unique_ptr<OpenPosterior> engine, double prior_mean, TransferRowsPtr rows,
                   std::shared_ptr<const Points> table);

  void add(const Observation& observation) override;
  void set_value(Index slot, double y) override { engine_->set_value(slot + first_, y); }
  void set_values(const std::vector<double>& y) override;
  void drop(Index slot) override;
  void rescale(double factor) override { engine_->rescale(factor); }
  void clear() override;
  void advance(Index round) override { engine_->advance(round); }
  void asked(bool chosen) override { engine_->asked(chosen); }
  void settle() override { engine_->settle(); }
  bool postpones() const override { return engine_->postpones(); }

  double noise_var() const override { return engine_->noise_var(); }
  // Contribution of this campaign's observations.
  double log_det() const override { return engine_->log_det() - log_det_before_; }
  double quadratic() const override { return engine_->quadratic() - quadratic_before_; }
  EngineSummary summary() const override { return engine_->summary(); }
  const LocalPosterior* as_local() const override { return this; }
  void at(const Point& point, double& mean, double& sd) const override;
  Moments moments(const Candidates& candidates) const override;
  void predict(const Points& X, VectorXd& mean, VectorXd& variance) const override;
  VectorXd mean_of(const Points& X) const override;
  double mean_of(const VectorXd& x, VectorXd& gradient) const override;
  void local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
             VectorXd& dsd) const override;
  bool can_sketch() const override { return engine_->can_sketch(); }
  void sketch(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
              VectorXd& dsd) const override;
  void sketches(const Points& X, VectorXd& mean, VectorXd& variance) const override;
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

  // Points and candidates with the campaign number 0, as the engine needs them.
  Point of_engine(const Point& point) const;
  const Candidates& of_engine(const Candidates& candidates) const;

 private:
  void learn_rows();

  std::unique_ptr<OpenPosterior> engine_;
  double prior_mean_;
  TransferRowsPtr rows_;
  std::shared_ptr<const Points> table_;
  Index first_;  // the engine's slot of this campaign's first observation
  double log_det_before_ = 0.0, quadratic_before_ = 0.0;
  std::vector<Point> points_;  // of the engine, by slot
  std::vector<char> kept_;
  mutable Candidates candidates_;  // of the engine, used last
  mutable std::shared_ptr<const char> asked_;
};

}  // namespace gpb

#endif
