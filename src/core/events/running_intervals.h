// Confidence intervals that only shrink: the intersection over all rounds so far. Uses posteriors/posterior.h.
// The intersection contains f if the intervals of all rounds do. An empty intersection contradicts the model: it is
// counted, and the intersection begins again with the intervals of the present round.
#ifndef GPB_RUNNING_INTERVALS_H
#define GPB_RUNNING_INTERVALS_H

#include <cmath>

#include "posteriors/posterior.h"

namespace gpb {

class RunningIntervals {
 public:
  void clear() {
    lower_.resize(0);
    upper_.resize(0);
  }

  // Intersects with mean +- width * sd at these candidates, which begin at point `first` of all points. Bounds that
  // cross by no more than `slack` are treated as rounding errors.
  void intersect(Index first, Index n, const Moments& now, double width, double slack) {
    make_room(first + n);
    bool empty = false;
    for (Index k = 0; k < n; ++k) {
      const double reach = width * std::sqrt(now.variance[k]);
      double& low = lower_[first + k];
      double& high = upper_[first + k];
      low = std::max(low, now.mean[k] - reach);
      high = std::min(high, now.mean[k] + reach);
      if (low <= high) continue;
      if (low > high + slack) empty = true;
      low = high = 0.5 * (low + high);
    }
    if (!empty) return;
    ++refutations_;
    clear();
    intersect(first, n, now, width, slack);
  }

  const VectorXd& lower() const { return lower_; }
  const VectorXd& upper() const { return upper_; }
  Index refutations() const { return refutations_; }

 private:
  void make_room(Index size) {
    const Index old = lower_.size();
    if (size <= old) return;
    lower_.conservativeResize(size);
    upper_.conservativeResize(size);
    lower_.tail(size - old).setConstant(-kInf);
    upper_.tail(size - old).setConstant(kInf);
  }

  VectorXd lower_, upper_;
  Index refutations_ = 0;
};

}  // namespace gpb

#endif
