// A space is the decision set as a bandit sees it: it makes posteriors over itself and
// finds where a score is largest. It knows no policy.
#ifndef GPB_SPACE_H
#define GPB_SPACE_H

#include "events/observations.h"
#include "scores/score.h"

namespace gpb {

struct ArmSetting;

// Where a search may begin, in addition to where the space itself would.
struct Beginnings {
  const Point* best = nullptr;  // the observed point with the largest posterior mean
  Points played;                // the kernel's inputs of places; the search ends at none that is worse
};

class Space {
 public:
  virtual ~Space() = default;
  virtual std::unique_ptr<Posterior> make_posterior(double noise_var,
                                                    const Forgetting& forgetting) const = 0;
  // What is scored first in this context; the space's own, until it is asked again.
  virtual const Candidates& candidates(const Context& context) = 0;
  // Where the score is largest.
  virtual Point maximise(const Score& score, const Context& context, const Beginnings& from) = 0;
  virtual Point uniform(const Context& context, Rng& rng) const = 0;
  // All places of this context, where a search may miss some of them; none where there are endlessly many, or more than
  // `most`.
  virtual std::vector<Point> all_points(const Context&, double /*most*/) const { return {}; }

  // A point from its parts: the arm's number (-1 on a box), the known context's, the inputs
  // that no table has. Throws where there is no such point.
  virtual Point point(Index arm, Index context, const VectorXd& inputs) const = 0;
  virtual bool in_context(const Point& point, const Context& context) const = 0;
  // Could it be played? What was observed elsewhere is known to posteriors, and is nobody's choice.
  virtual bool holds(const Point& /*point*/) const { return true; }
  // The kernel's inputs of places in this context whose inputs are moved to where they are fixed;
  // without those that cannot be played there. Only where inputs can be fixed.
  virtual Points moved(const std::vector<const Point*>& /*points*/, const Context&) const {
    throw std::logic_error("no inputs can be fixed in this space");
  }
  // The kernel's inputs of a point.
  virtual VectorXd inputs(const Point& point) const = 0;
  virtual double prior_mean(const Point& point) const = 0;
  virtual double largest_prior_mean(const Context& context) const = 0;
  virtual double prior_scale() const = 0;  // largest prior standard deviation
  virtual double arms() const = 0;         // NaN where there are infinitely many points
  virtual Index numbered_arms() const = 0;  // arms, or rows of a product; 0 on a box
  // The table of arms and its engine; null where there is none.
  virtual const ArmSetting* arm_setting() const { return nullptr; }
};

}  // namespace gpb

#endif
