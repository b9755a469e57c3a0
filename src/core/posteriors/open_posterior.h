// The posterior over inputs that are not known beforehand (a box, a product, arms in
// contexts that come as they like): the dense or the low-rank engine behind the interface of a
// posterior. Which of them serves is decided when observations change, never when somebody looks:
// so whoever plays the same events has the same engine.
#ifndef GPB_OPEN_POSTERIOR_H
#define GPB_OPEN_POSTERIOR_H

#include "kernels/kernel_differences.h"
#include "posteriors/dense_posterior.h"
#include "posteriors/low_rank_candidates.h"
#include "posteriors/posterior.h"

namespace gpb {

struct OpenEngine {
  // lowrank: wherever its certificate is within the accuracy; automatic: where it is cheaper, too.
  enum class Choice { automatic, lowrank, dense };
  Choice choice = Choice::automatic;
  double accuracy = 1e-3;
  double aim = kInf;  // of the low-rank engine, if that is less
  // Fewer points, whose answers are corrected where that matters: if few are asked for.
  LowRankAnswers answers = LowRankAnswers::from_basis;
  // What a search does with it: climb (a sketch is of use), or ask about new points in each round
  // (the first points of a basis in order rule most of them out), or about the same ones.
  enum class Search { local_searches, new_points, same_points };
  Search search = Search::local_searches;
  static OpenEngine of(const std::string& name, double accuracy);
};

class OpenPosterior final : public Posterior {
 public:
  // Of `forgetting` only a prior that drifts matters here; it is the dense engine's.
  OpenPosterior(KernelPtr kernel, double noise_var, PriorMean prior_mean,
                const Forgetting& forgetting, const OpenEngine& engine);

  void add(const Observation& observation) override;
  void set_value(Index slot, double y) override;
  void set_values(const std::vector<double>& y) override;
  void drop(Index slot) override;
  void rescale(double factor) override;
  void clear() override;
  void advance(Index round) override { dense_.set_now(round); }
  void asked() override;
  void expect_sites(bool compares, bool modes) override;
  SitePrior site_prior(const std::vector<Functional>& functionals, const SiteTerms& terms, bool again) override;
  bool set_sites(const std::vector<Functional>& functionals, const SiteFit& fit) override;
  void set_awaited(const std::vector<Functional>& functionals, const SiteFit& fit) override;
  SiteGap site_gap() const override;

  double noise_var() const override { return dense_.noise_var(); }
  double log_det() const override { return low_ ? low_->log_det() : settled().log_det(); }
  double quadratic() const override { return low_ ? low_->quadratic() : settled().quadratic(); }
  Index rank() const override { return low_ ? low_->rank() : settled().size(); }
  std::string engine() const override { return low_ ? "lowrank" : "dense"; }
  double error_bound() const override;
  void at(const Point& point, double& mean, double& sd) const override;
  Moments moments(const Candidates& candidates) const override;
  void predict(const Points& X, VectorXd& mean, VectorXd& variance) const override;
  VectorXd mean_of(const Points& X) const override;
  double mean_of(const VectorXd& x, VectorXd& gradient) const override;
  void local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
             VectorXd& dsd) const override;
  MatrixXd covariance(const Candidates& candidates,
                      const std::vector<Index>& some) const override;
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
  // (By the basis, where a low-rank posterior corrects what that says.)
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
    Index at;            // in the engine, -1 while it is not there
    bool kept;
    double scale_then;  // of all weights, as a logarithm, when it was added
    Index sketched = -1;  // as `at`, in the sketch
  };

  double noise_scale(const Entry& entry) const {
    return std::exp(entry.scale_then - log_scale_) / entry.weight;
  }
  void enter(Entry& entry);
  void become_stale();
  bool is_last(Index slot) const;
  void enter_together(std::vector<Entry>::iterator first, std::vector<Entry>::iterator last) const;
  Index slot_of(Index number) const;
  void enter_dense(Entry& entry) const;
  const DensePosterior& settled() const;
  // `answer` of the engine that serves.
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
  void leave_low_rank();
  // Posterior means at the observations, in the engine's order; no kernel is needed.
  VectorXd means_at_observations() const;

  Points inputs_of(const std::vector<Functional>& functionals) const;
  VectorXd prior_mean_of(const std::vector<Functional>& functionals) const;
  bool wants_low_rank_sites(Index count) const;
  void choose_site_basis(const Points& X, const VectorXd& weight);
  // Sites as readings of an engine: values less the prior mean, and noise by scale.
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
  std::unique_ptr<LowRankPosterior> low_;  // null where the dense engine serves
  // The same points with a rougher sd and no values, to climb by where low_ has many points.
  std::unique_ptr<LowRankPosterior> sketch_;
  Index kept_ = 0;
  Index next_trial_ = 0;  // of the low-rank engine, when so many observations are kept
  mutable DensePosterior dense_;
  mutable std::vector<Entry> entries_;
  double log_scale_ = 0.0;
  std::shared_ptr<DifferenceKernel> differences_;  // where it knows comparisons
  // Where it knows sites, see set_sites(): their means, and of a low rank the features that they were fitted with.
  bool sites_ = false, compares_ = false;
  VectorXd site_means_;
  MatrixXd site_features_;
  double site_scale_ = 0.0;   // largest prior sd among them
  double site_growth_ = 0.0, site_shrinkage_ = 1.0;  // see SiteFit
  double site_aim_ = kInf;    // of the low-rank engine
  int site_tries_ = 0;        // for the same ones
  bool site_low_rank_fails_ = false;
  // Where an observation has left, or weights have changed, the dense posterior is computed
  // anew, O(m^3 / 6) over the m that are kept, once a round that looks at it.
  mutable bool stale_ = false;
  // Of the entries (kept or not) so many go into it together, the later ones one by one; -1: all that there are when
  // the next query is asked, and until then whatever comes makes it stale. So whoever plays the same events has the
  // same posterior, to the bit, whoever has looked at it in between.
  Index whole_ = 0;
  // The candidates asked for last.
  mutable std::unique_ptr<PredictionCache> cache_;
  mutable std::unique_ptr<LowRankCandidates> low_cache_;
  mutable std::shared_ptr<const char> cached_;
  mutable VectorXd cached_prior_, mean_, variance_;
};

}  // namespace gpb

#endif
