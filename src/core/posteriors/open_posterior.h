// The posterior over inputs that are not known in advance: the dense or the low-rank engine behind the interface of a
// posterior. Such inputs belong to a box, a product, or arms in arbitrary contexts. The choice of engine depends on the
// observations only and never on when predictions are requested. So the same events always lead to the same engine.
#ifndef GPB_OPEN_POSTERIOR_H
#define GPB_OPEN_POSTERIOR_H

#include "kernels/kernel_differences.h"
#include "posteriors/dense_posterior.h"
#include "posteriors/low_rank_candidates.h"
#include "posteriors/posterior.h"

namespace gpb {

struct OpenEngine {
  // lowrank: whenever its certificate is within the accuracy; automatic: only if it is cheaper, too.
  enum class Choice { automatic, lowrank, dense };
  Choice choice = Choice::automatic;
  double accuracy = 1e-3;
  double aim = kInf;  // of the low-rank engine, if stricter than the accuracy
  // `corrected`: fewer basis points, with corrected predictions if necessary; useful for few predictions.
  LowRankAnswers answers = LowRankAnswers::from_basis;
  // How a search uses the posterior:
  // * local_searches: gradient steps, for which a sketch is useful.
  // * new_points: new points in each round. The first points of an ordered basis rule out most of them.
  // * same_points: the same points in each round.
  enum class Search { local_searches, new_points, same_points };
  Search search = Search::local_searches;
  // If the choice is automatic: with very many observations the basis has a bounded size, whatever its accuracy (see
  // LowRankPosterior::make_sparse()).
  bool sparse = false;
  // The kernel's rank over all inputs is bounded. A low rank is then cheaper for few observations already.
  bool bounded_rank = false;
  static OpenEngine of(const std::string& name, double accuracy);
};

class OpenPosterior final : public Posterior,
                            public SitePosterior,
                            public LocalPosterior,
                            public JointPosterior,
                            public CrossPosterior,
                            public ComparingPosterior,
                            public ApproximatePosterior,
                            public PostponingPosterior {
 public:
  // Only a drifting prior in `forgetting` matters here; it needs the dense engine.
  OpenPosterior(KernelPtr kernel, double noise_var, PriorMean prior_mean,
                const Forgetting& forgetting, const OpenEngine& engine);

  void add(const Observation& observation) override;
  void set_value(Index slot, double y) override;
  void set_values(const std::vector<double>& y) override;
  void drop(Index slot) override;
  void rescale(double factor) override;
  void clear() override;
  void advance(Index round) override { dense_.set_now(round); }
  void asked(bool chosen) override;
  void settle() override;
  bool postpones() const override { return bulk_; }
  void expect_sites(bool compares, bool modes) override;
  SitePrior site_prior(const std::vector<Functional>& functionals, const SiteTerms& terms, bool again) override;
  bool set_sites(const std::vector<Functional>& functionals, const SiteFit& fit) override;
  void set_awaited(const std::vector<Functional>& functionals, const SiteFit& fit) override;
  SiteGap site_gap() const override;
  bool takes_further_sites() const override { return engine_.choice != OpenEngine::Choice::dense; }

  double noise_var() const override { return dense_.noise_var(); }
  double log_det() const override { return low_ ? low_->log_det() : settled().log_det(); }
  double quadratic() const override { return low_ ? low_->quadratic() : settled().quadratic(); }
  EngineSummary summary() const override;
  const LocalPosterior* as_local() const override { return this; }
  void at(const Point& point, double& mean, double& sd) const override;
  Moments moments(const Candidates& candidates) const override;
  void predict(const Points& X, VectorXd& mean, VectorXd& variance) const override;
  VectorXd mean_of(const Points& X) const override;
  double mean_of(const VectorXd& x, VectorXd& gradient) const override;
  void local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
             VectorXd& dsd) const override;
  MatrixXd covariance(const Candidates& candidates,
                      const std::vector<Index>& some) const override;
  std::unique_ptr<CrossCovariance> covariances_with(const std::vector<const Point*>& fixed) const override;
  void differences(const Candidates& candidates, const Point& from, VectorXd& mean,
                   VectorXd& variance) const override;
  bool can_sketch() const override;
  const LowRankPosterior* low_rank() const override { return low_.get(); }
  void sketch(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
              VectorXd& dsd) const override;
  void sketches(const Points& X, VectorXd& mean, VectorXd& variance) const override;
  VectorXd means_at(const std::vector<const Point*>& points,
                    const std::vector<Index>& slots) const override;
  double largest_mean_at(const std::vector<const Point*>& points,
                         const std::vector<Index>& slots) const override;
  // Uncorrected, if a low-rank posterior corrects its predictions.
  Index best_slot() const override;
  std::unique_ptr<SampledFunction> sample(const Posterior& centre, const Candidates& candidates,
                                          double scale, Rng& rng) const override;
  void sample_all(const Posterior& centre, const Candidates& candidates, double scale, Rng& rng,
                  Eigen::Ref<MatrixXd> out) const override;

 private:
  struct Entry {
    VectorXd x;
    double centred, prior;
    double weight;  // at the time it was added
    Index round;
    Index at;            // number in the engine; -1 if it is not there
    bool kept;
    double scale_then;  // of all weights, as a logarithm, when it was added
    Index sketched = -1;  // as `at`, in the sketch
  };

  double noise_scale(const Entry& entry) const {
    return std::exp(entry.scale_then - log_scale_) / entry.weight;
  }
  void enter(Entry& entry);
  void become_stale();
  bool puts_off();
  void unsettle();
  bool is_last(Index slot) const;
  void enter_together(std::vector<Entry>::iterator first, std::vector<Entry>::iterator last) const;
  Index slot_of(Index number) const;
  void enter_dense(Entry& entry) const;
  const DensePosterior& settled() const;
  // `answer` evaluated for the engine in use.
  template <class Answer>
  auto ask(Answer answer) const {
    return low_ ? answer(*low_) : answer(settled());
  }
  std::vector<Entry*> kept_entries() const;
  bool may_be_low_rank() const;
  bool serves(const LowRankPosterior& low, double largest_share, Index observations) const;
  std::unique_ptr<LowRankPosterior> new_low_rank() const;
  void begin();
  void review();
  void begin_sketch();
  void fill(LowRankPosterior& low, Index Entry::*number, double value_scale);
  void change_noise(LowRankPosterior& low, Index Entry::*number) const;
  void try_low_rank();
  double largest_share() const;
  Index later_trial() const;
  bool may_be_sparse() const;
  bool become_sparse(std::unique_ptr<LowRankPosterior>& low);
  void leave_low_rank();
  // Posterior means at the observations, in the engine's order; no kernel evaluation is needed.
  VectorXd means_at_observations() const;

  Points inputs_of(const std::vector<Functional>& functionals) const;
  VectorXd prior_mean_of(const std::vector<Functional>& functionals) const;
  bool wants_low_rank_sites(Index count) const;
  void choose_site_basis(const Points& X, const VectorXd& weight);
  // Sites as measurements for an engine: values minus the prior mean, and noise scales.
  struct SiteMeasurements {
    Points X;
    VectorXd prior, y, scale;
  };
  SiteMeasurements measurements_of(const std::vector<Functional>& functionals, const VectorXd& weight,
                           const VectorXd& weighted) const;
  bool take_low_rank_sites(const SiteFit& fit, const SiteMeasurements& measurements);
  void enter_sites(const SiteMeasurements& measurements);
  LowRankError site_error() const;

  PriorMean prior_mean_;
  OpenEngine engine_;
  std::unique_ptr<LowRankPosterior> low_;  // null if the dense engine is in use
  // The same points with a less accurate sd and without values, for local searches when low_ has many points.
  std::unique_ptr<LowRankPosterior> sketch_;
  Index kept_ = 0;
  Index next_trial_ = 0;  // number of kept observations at which the low-rank engine is tried next
  mutable DensePosterior dense_;
  mutable std::vector<Entry> entries_;
  double log_scale_ = 0.0;
  std::shared_ptr<DifferenceKernel> differences_;  // if there are comparisons
  // If there are sites, see set_sites(): their means and, for a low rank, the features with which they were fitted.
  bool sites_ = false, compares_ = false;
  VectorXd site_means_;
  MatrixXd site_features_;
  double site_scale_ = 0.0;   // largest prior sd among them
  double site_growth_ = 0.0, site_shrinkage_ = 1.0;  // see SiteFit
  double site_aim_ = kInf;    // of the low-rank engine
  int site_tries_ = 0;        // for the same sites
  bool site_low_rank_fails_ = false;
  // After an observation was dropped or weights have changed, the dense posterior is recomputed. This costs O(m^3 / 6)
  // for m kept observations, and happens at most once in a round in which it is used.
  mutable bool stale_ = false;
  // The number of entries (kept or not) that are added together; later ones are added one by one. It is -1 until the
  // next query is asked: then all entries are added together, and any change makes the posterior stale. The same events
  // therefore give the same posterior, bit for bit, whenever predictions were requested.
  Index whole_ = 0;
  // bulk_: many observations are added without a choice in between, as after a refit or when rows are given. Until the
  // next choice, factors are not updated with each observation. The engine is chosen when the posterior is read
  // (undecided_ until then).
  bool bulk_ = false, undecided_ = false;
  Index run_ = 0;  // observations since the last choice
  // The candidates used last.
  mutable std::unique_ptr<PredictionCache> cache_;
  mutable std::unique_ptr<LowRankCandidates> low_cache_;
  mutable std::shared_ptr<const char> cached_;
  mutable VectorXd cached_prior_, mean_, variance_;
};

}  // namespace gpb

#endif
