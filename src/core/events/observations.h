// The observations that a posterior is to know, by the ids of their queries, which are their
// rounds: what is told comes in, what a forgetting rule leaves of it goes to the posterior.
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

// What is told of a point.
struct Measurement {
  double value = 0.0;
  double weight = 1.0;           // its noise variance is the posterior's over this
  double size = 1.0;             // trials, exposure
  const Point* other = nullptr;  // where the value is a comparison
  bool awaited = false;          // it is not known, and only the variance is to know of it
  bool owns_noise = false;       // the weight tells of a noise variance of its own
  std::shared_ptr<const RankedPoints> ranked = nullptr;  // where it is told of several places at once
};

// What few readings have besides.
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
  // Rewards that are no Gaussian readings, by what they are about.
  struct Pool {
    std::vector<Functional> functionals;
    std::vector<Likelihood::Data> data;
    std::vector<double> awaited;  // weights of those that are not known
    std::vector<RankingSites> rankings;
  };

  // Without a likelihood noise is Gaussian.
  Observations(std::unique_ptr<Posterior> posterior, const Forgetting& forgetting,
               LikelihoodPtr likelihood = nullptr, bool compares = false, bool variational = false);

  // A value at a point; or another value, or weight, of one that is known.
  void put(Index id, const Point& point, const Measurement& measurement);
  void drop(Index id);
  // Nothing is known any more; the next ids are `first` and above.
  void clear(Index first);
  // The next query is of this round.
  void advance(Index round);
  // A query is asked by what is known now.
  void asked() { posterior_->asked(); }
  // Another value for everything that is known.
  template <class ValueOf>
  void revalue(ValueOf value_of) {
    std::vector<double> values(static_cast<std::size_t>(slots_));
    for (std::size_t k = 0; k < items_.size(); ++k) {
      Item& item = items_[k];
      if (item.known) item.value = value_of(first_ + static_cast<Index>(k));
      if (!likelihood_ && item.slot >= 0) values[static_cast<std::size_t>(item.slot)] = item.value;
    }
    settled_ = false;
    if (!likelihood_ && slots_ > 0) posterior_->set_values(values);
  }

  const Posterior& posterior() const {
    settle();
    return *posterior_;
  }
  // Of the posterior; -1 for what it does not know, or knows as a comparison only.
  Index slot(Index id) const;
  // What the likelihood makes of the rewards; and the functionals that it is about.
  const SiteFit& fit() const {
    settle();
    return fit_;
  }
  const LikelihoodPtr& likelihood() const { return likelihood_; }
  Pool pool() const;
  // The mean is J's smallest point where |f - m| <= B; and sites have the weights that this allows, see GlmWidth.
  void bound_norm(double B) {
    norm_bound_ = B;
    informs_ = true;
  }
  // (`leader` knows the same and outlives it: the curvature is that about its mean.)
  void bound_curvature(const Observations& leader) { leader_ = &leader; }
  // -2 (ELBO + J) of the fit: what GlmWidth knows of the rewards. (It costs some three of the fit's steps, and
  // comes with every fit once somebody has asked.)
  double information() const;
  // The point with the largest posterior mean among those observed; null if there is none.
  const Point* best() const;

 private:
  // One for each query, see Query.
  struct Item {
    mutable std::int32_t slot = -1;
    bool known = false, awaited = false, owns_noise = false;
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
  // Their sites, once a round that looks.
  using Where = std::map<std::vector<double>, std::size_t>;  // functionals by their places
  void settle() const;
  const Point* best_compared() const;
  void fit_to(const std::vector<Functional>& known, const Pool& all) const;
  SiteFit fit_with(const SitePrior& prior, const SiteTerms& terms) const;
  void expect_awaited(const Pool& all) const;
  void narrow(SiteFit& sites, const SitePrior& prior, const std::vector<Likelihood::Data>& data) const;
  void add_to(Pool& pool, Where& where, const Item& item, double weight) const;
  static void add_ranking(Pool& pool, Where& where, const RankedPoints& ranked, double weight);
  static PairSite pair_of(const Point& point, const Point& other, Pool& pool, Where& where);
  static std::size_t number_of(Functional functional, std::vector<double> key, Pool& pool, Where& where);

  std::unique_ptr<Posterior> posterior_;
  Forgetting forgetting_;
  Index first_ = 1;          // the id of items_[0]
  std::vector<Item> items_;  // by id
  Index slots_ = 0;          // that the posterior has given out
  Index entered_ = 0;        // observations that the posterior knows
  Index oldest_ = 0;         // no id before it is entered, windows and weights only
  Index round_ = 1;
  LikelihoodPtr likelihood_;  // null where noise is Gaussian
  bool compares_ = false, variational_ = false;
  double norm_bound_ = kNaN;
  const Observations* leader_ = nullptr;  // see bound_curvature()
  mutable std::size_t found_ = 0;         // see number_of_slot()
  mutable bool settled_ = true;
  mutable SiteFit fit_;
  mutable bool informs_ = false;
  mutable double information_ = 0.0;
};

}  // namespace gpb

#endif
