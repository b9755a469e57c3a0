// The marginal likelihood of many observations, from small groups of points and their neighbours (Vecchia's
// approximation), and its gradient.
#ifndef GPB_NEIGHBOUR_LIKELIHOOD_H
#define GPB_NEIGHBOUR_LIKELIHOOD_H

#include "fitting/likelihood.h"

namespace gpb {

// Points close to each other (`own`), and earlier points that are near to them (`earlier`).
struct Neighbourhood {
  std::vector<Index> earlier, own;
};

// How many there are at most.
struct NeighbourhoodSize {
  Index own, earlier;
  // In many inputs all points are weakly correlated, so more neighbours are needed.
  static NeighbourhoodSize of(Index inputs) {
    return inputs <= 8 ? NeighbourhoodSize{100, 200} : NeighbourhoodSize{250, 250};
  }
};

// The groups, by repeated halving of all points; every point is in one group. The first group is arbitrary, and each
// next one is the farthest from the earlier ones. Distances are by the kernel's correlation at its present parameters.
// This takes O(n log n) kernel values, and n^2 / 8 to find the neighbours.
std::vector<Neighbourhood> neighbourhoods(const Kernel& kernel, const Points& X, const NeighbourhoodSize& size);

// log p(y) = sum over groups of log p(y of the group | y of its neighbours), each term exact. The sum is exact if
// the neighbours are all earlier points. It is the density of a normal distribution with another covariance. The best
// scale and mean therefore have the same closed forms as for the exact likelihood. O(n) for given sizes.
class NeighbourLikelihood final : public GaussianEvidence {
 public:
  // Groups and neighbours are found at the kernel's parameters `at`, and then kept.
  NeighbourLikelihood(const Kernel& kernel, const Measurements& measurements, bool fit_mean, const VectorXd& at,
                      const NeighbourhoodSize& size);

  const std::vector<Neighbourhood>& groups() const { return groups_; }
  const Points& points() const { return data().X(); }

 protected:
  Solved solve(bool want_gradient) override;
  Slopes slopes(double scale) const override;

 private:
  // The part of one group: a sweep of the covariance of all its points (earlier points first), and what it was after
  // the earlier ones. For the gradient: A^-1 of these, and A^-1 y and A^-1 1.
  struct Term {
    std::unique_ptr<SymmetricSweep> sweep;
    MatrixXd earlier;
    VectorXd y, ones;
  };
  Solved solve_group(std::size_t group, bool want_gradient, Term& term) const;
  bool keeps_terms() const;

  std::vector<Neighbourhood> groups_;
  std::vector<std::vector<Index>> rows_;  // of each group: the earlier points, then its own
  std::vector<Points> X_;
  mutable std::vector<Term> terms_;       // of all groups, or if they are too many of one
};

}  // namespace gpb

#endif
