// The observations that a posterior conditions on, by the ids of their queries. Uses likelihoods/ and posteriors/.
// An id is also the query's round. A forgetting rule decides which observations the posterior uses, and their weight.
#ifndef GPB_OBSERVATIONS_H
#define GPB_OBSERVATIONS_H

#include <map>

#include "base/seldom.h"
#include "likelihoods/laplace.h"
#include "likelihoods/ranking.h"
#include "posteriors/forgetting.h"
#include "posteriors/posterior.h"

namespace gpb {

// Points of a ranking, the best first; see Ranking.
struct RankedPoints {
  std::vector<Point> points;
  Index stages = 0;
};

// An observed value at a point, or a pending one.
struct Measurement {
  double value = 0.0;
  double weight = 1.0;           // the posterior's noise variance divided by its own
  double size = 1.0;             // trials, exposure
  const Point* other = nullptr;  // the other point, if the value is a comparison
  bool awaited = false;          // pending: only the variance uses it
  bool owns_noise = false;       // the weight comes from a separate noise variance
  std::shared_ptr<const RankedPoints> ranked = nullptr;  // for a ranking of several points
};

// Fields that few measurements need.
struct BesideMeasurement {
  double size = 1.0;
  Point other;
  std::shared_ptr<const RankedPoints> ranked;
};
inline bool is_usual(const BesideMeasurement& beside) {
  return beside.size == 1.0 && !beside.ranked && beside.other.kind == Point::Kind::point && beside.other.x.size() == 0;
}

class Observations {
 public:
  // Rewards that are not Gaussian measurements, pooled by the functional of f that they depend on.
  struct Pool {
    std::vector<Functional> functionals;
    std::vector<Likelihood::Data> data;
    std::vector<double> awaited;  // weights of pending ones
    std::vector<RankingSites> rankings;
  };

  // Without a likelihood the noise is Gaussian.
  Observations(std::unique_ptr<Posterior> posterior, const Forgetting& forgetting,
               LikelihoodPtr likelihood = nullptr, bool compares = false, bool variational = false);

  // Adds a value at a point, or changes the value or the weight of an existing one.
  void put(Index id, const Point& point, const Measurement& measurement);
  void drop(Index id);
  // Removes all observations; the next ids are `first` and above.
  void clear(Index first);
  // Sets the round of the next query.
  void advance(Index round);
  // Called for each query: chosen with the present observations, or given.
  void asked(bool chosen) { posterior_->asked(chosen); }
  // Replaces the values of all known observations.
  template <class ValueOf>
  void revalue(ValueOf value_of) {
    std::vector<double> values(static_cast<std::size_t>(slots_));
    for (std::size_t k = 0; k < items_.size(); ++k) {
      Item& item = items_[k];
      if (item.known) item.value = value_of(first_ + static_cast<Index>(k));
      if (!likelihood_ && item.slot >= 0) values[static_cast<std::size_t>(item.slot)] = item.value;
    }
    if (likelihood_) fit_anew();
    else if (slots_ > 0) posterior_->set_values(values);
  }

  const Posterior& posterior() const {
    settle();
    posterior_->settle();
    return *posterior_;
  }
  bool postpones() const { return posterior_->postpones(); }
  // Slot in the posterior; -1 if the observation is not in it, or is there only as part of a comparison.
  Index slot(Index id) const;
  Index known() const { return entered_; }  // number of observations
  // The latest fit of the sites to the rewards with a likelihood.
  const SiteFit& fit() const {
    settle();
    return fit_;
  }
  const LikelihoodPtr& likelihood() const { return likelihood_; }
  Pool pool() const;
  // The error of sites that were added without a new fit, see add_site(): the largest of |difference of means| / sd and
  // of |ratio of sds - 1| from the posterior of a new fit, at the points of the latest rewards. Costs two fits.
  double site_error() const;
  // The mean minimises J subject to |f - m| <= B; sites have the weights that this norm bound allows. See GlmWidth.
  void bound_norm(double B) {
    norm_bound_ = B;
    informs_ = true;
  }
  // (`leader` has the same observations and must outlive this object: the curvature is the one about its mean.)
  void bound_curvature(const Observations& leader) { leader_ = &leader; }
  // -2 (ELBO + J) of the fit, for GlmWidth. (It costs about three steps of the fit. After the first call it is computed
  // with every fit.)
  double information() const;
  // The point with the largest posterior mean among those observed; null if there is none.
  const Point* best() const;

 private:
  // One for each query; see Query.
  struct Item {
    mutable std::int32_t slot = -1;
    std::int32_t cell = -1;  // the number of its point in cells_
    bool known = false, awaited = false, owns_noise = false;
    bool later = false;  // is in later_
    double value = 0.0, weight = 1.0;
    Point point;
    Seldom<BesideMeasurement> beside;
    void take(const Measurement& measurement) {
      value = measurement.value;
      weight = measurement.weight;
      awaited = measurement.awaited;
      owns_noise = measurement.owns_noise;
      beside = BesideMeasurement{measurement.size, measurement.other ? *measurement.other : Point(),
                                 measurement.ranked};
    }
  };
  Item& item(Index id);
  bool windowed() const { return forgetting_.kind == Forgetting::Kind::window; }
  void enter(Index id);
  void leave(Index id);
  std::size_t number_of_slot(Index slot) const;
  void shrink_window();
  void refill_window();
  void drop_weightless();
  // Fits the sites, at most once for each state of the observations.
  using Where = std::map<std::vector<double>, std::size_t>;  // functionals by their points
  void settle() const;
  // To the rewards at the time of fit_anew(), or to all of them.
  enum class Rewards { at_fit, all };
  void fit_now(Rewards which) const;
  Pool pool_for_fit(Rewards which) const;
  bool may_follow() const;
  void fit_anew();
  void add_site(Index id) const;
  const Point* best_compared() const;
  void fit_to(const std::vector<Functional>& known, const Pool& all) const;
  SiteFit fit_with(const SitePrior& prior, const SiteTerms& terms) const;
  void expect_awaited(const Pool& all) const;
  void narrow(SiteFit& sites, const SitePrior& prior, const std::vector<Likelihood::Data>& data) const;
  bool pairs() const { return compares_ || likelihood_->ranks(); }
  std::size_t first_kept() const;
  Pool pool_of_pairs() const;
  void add_to(Pool& pool, Where& where, const Item& item, double weight) const;
  static void add_ranking(Pool& pool, Where& where, const RankedPoints& ranked, double weight);
  static PairSite pair_of(const Point& point, const Point& other, Pool& pool, Where& where);
  static std::size_t number_of(Functional functional, std::vector<double> key, Pool& pool, Where& where);

  std::unique_ptr<Posterior> posterior_;
  Forgetting forgetting_;
  Index first_ = 1;          // the id of items_[0]
  std::vector<Item> items_;  // by id
  Index slots_ = 0;          // number of slots that the posterior has assigned
  Index entered_ = 0;        // number of observations in the posterior
  Index oldest_ = 0;         // no smaller id is in the posterior; only for windows and weights
  Index round_ = 1;
  LikelihoodPtr likelihood_;  // null for Gaussian noise
  Where cells_;               // numbers of the points of rewards with a likelihood that are no comparisons
  bool compares_ = false, variational_ = false;
  double norm_bound_ = kNaN;
  const Observations* leader_ = nullptr;  // see bound_curvature()
  mutable std::size_t found_ = 0;         // see number_of_slot()
  mutable bool settled_ = true;
  // Rewards since the last fit, in their order. Their sites are added one by one, see add_site().
  std::vector<Index> later_;
  mutable std::size_t added_ = 0;  // the number of these that are in the posterior
  mutable Index fitted_slots_ = 0;  // of the last fit
  Index rewards_ = 0, rewards_at_fit_ = 0;  // numbers of known items
  mutable SiteFit fit_;
  mutable bool informs_ = false;
  mutable double information_ = 0.0;
};

}  // namespace gpb

#endif
