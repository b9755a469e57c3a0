// The interface of a space: the decision set of a bandit, which makes posteriors over its points and maximises scores.
// It does not depend on policies.
#ifndef GPB_SPACE_H
#define GPB_SPACE_H

#include <functional>

#include "events/observations.h"
#include "linalg/floors.h"
#include "scores/score.h"

namespace gpb {

struct ArmSetting;

// Start points of a search, in addition to those of the space itself.
struct Beginnings {
  // The observed point with the largest posterior mean, or null. It takes a step for each observation: spaces that
  // score all of their points do not ask for it.
  std::function<const Point*()> best;
  Points played;  // the kernel's inputs of played points; a search never ends at a worse point
};

class Space {
 public:
  virtual ~Space() = default;
  virtual std::unique_ptr<Posterior> make_posterior(double noise_var,
                                                    const Forgetting& forgetting) const = 0;
  // The points that are scored first in this context. The reference is valid until the next call.
  virtual const Candidates& candidates(const Context& context) = 0;
  // A point at which the score is largest.
  virtual Point maximise(const Score& score, const Context& context, const Beginnings& from) = 0;
  virtual Point uniform(const Context& context, Rng& rng) const = 0;
  // All points of this context, for spaces in which a search may miss some of them. Empty if there are infinitely many,
  // or more than `most`.
  virtual std::vector<Point> all_points(const Context&, double /*most*/) const { return {}; }

  // Makes a point from its parts: the arm's number (-1 on a box), the number of a known context, and the inputs that
  // are in no table. Throws if there is no such point.
  virtual Point point(Index arm, Index context, const VectorXd& inputs) const = 0;
  virtual bool in_context(const Point& point, const Context& context) const = 0;
  // Can the point be played? Observations elsewhere are used by posteriors, but are never chosen.
  virtual bool holds(const Point& /*point*/) const { return true; }
  // The kernel's inputs of points in this context after fixed inputs have been set to their values. Points that cannot
  // be played there are left out. Only for spaces in which inputs can be fixed.
  virtual Points moved(const std::vector<const Point*>& /*points*/, const Context&) const {
    throw_logic("no inputs can be fixed in this space");
  }
  // The kernel's inputs of a point.
  virtual VectorXd inputs(const Point& point) const = 0;
  virtual double prior_mean(const Point& point) const = 0;
  virtual double largest_prior_mean(const Context& context) const = 0;
  virtual double prior_scale() const = 0;  // largest prior standard deviation
  // The bound of the noise variance of its posteriors.
  virtual double least_noise() const { return gpb::least_noise(prior_scale() * prior_scale()); }
  virtual double arms() const = 0;         // NaN if there are infinitely many points
  virtual Index numbered_arms() const = 0;  // arms, or rows of a product; 0 on a box
  // The table of arms and its engine; null if there is none.
  virtual const ArmSetting* arm_setting() const { return nullptr; }
};

}  // namespace gpb

#endif
