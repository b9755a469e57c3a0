// Descent along projected gradients on a convex set. Uses base/ only.
#ifndef GPB_PROJECTED_DESCENT_H
#define GPB_PROJECTED_DESCENT_H

#include "base/types.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// Spectral projected gradients (Birgin, Martinez and Raydan 2000): Barzilai and Borwein's steps, projected on a convex
// set. The line search is nonmonotone, with the last ten values. `x` must be in the set; the result is the best point
// that was evaluated.
template <class Fall, class Project>
void projected_descent(VectorXd& x, const Fall& fall, const Project& project) {
  constexpr int kSteps = 200, kMemory = 10, kHalvings = 30;
  constexpr double kSmall = 1e-9;
  VectorXd slope;
  double value = fall(x, slope);
  VectorXd best = x;
  double least = value;
  std::vector<double> past{value};
  const double largest = largest_size(slope);
  double length = largest > 0.0 ? 1.0 / largest : 1.0;
  for (int step = 0; step < kSteps && std::isfinite(value); ++step) {
    if (largest_size(project(x - slope) - x) < kSmall) break;
    const VectorXd path = project(x - length * slope) - x;
    const double down = slope.dot(path);
    if (!(down < 0.0)) break;
    const double highest = *std::max_element(past.begin(), past.end());
    double part = 1.0, reached = 0.0;
    VectorXd there, next;
    int halving = 0;
    for (; halving < kHalvings; ++halving) {
      there = x + part * path;
      reached = fall(there, next);
      if (reached <= highest + 1e-4 * part * down) break;
      const double bend = 2.0 * (reached - value - part * down);
      const double guess = bend > 0.0 ? -down * part * part / bend : 0.0;
      part = guess >= 0.1 * part && guess <= 0.9 * part ? guess : 0.5 * part;
    }
    if (halving == kHalvings) break;
    const VectorXd moved = there - x, turned = next - slope;
    const double curved = moved.dot(turned);
    length = curved > 0.0 ? std::min(1e10, std::max(1e-10, moved.squaredNorm() / curved)) : 1e10;
    x = there;
    slope = next;
    const double before = least;
    value = reached;
    if (value < least) {
      least = value;
      best = x;
    }
    past.push_back(value);
    if (past.size() > kMemory) past.erase(past.begin());
    if (step > 20 && before - least <= 1e-12 && past.size() == kMemory &&
        *std::max_element(past.begin(), past.end()) - least <= 1e-10) {
      break;
    }
  }
  x = best;
}

}  // namespace gpb

#endif
