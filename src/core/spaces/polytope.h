// Linear constraints over some real and integer inputs of a box. Linear programming decides whether they are feasible,
// and hit-and-run samples uniform feasible points.
#ifndef GPB_POLYTOPE_H
#define GPB_POLYTOPE_H

#include "base/settings.h"
#include "spaces/chart.h"

namespace gpb {

struct LinearOptimum {
  bool feasible = false;
  bool decided = true;  // false: rounding errors prevented the method from finishing
  VectorXd x;
};

// Maximises c'x over x >= 0 with A x <= b, which must be bounded, by the two-phase simplex method.
LinearOptimum maximise_linear(const MatrixXd& A, const VectorXd& b, const VectorXd& c);

// A x <= b and E x = f in users' units, over the inputs `at` of a box.
struct LinearRules {
  std::vector<Index> at;
  MatrixXd A, E;
  VectorXd b, f;
};

// From `at` (0-based), `A`, `b`, `E`, `f`.
LinearRules make_linear_rules(const Settings& settings);

// Changes of integer inputs that keep the sum in one of the constraints, a row each (over the inputs `at`).
MatrixXd lattice_moves(const LinearRules& rules, const Box& box);

class Polytope {
 public:
  Polytope(LinearRules rules, const Box& box);
  const std::vector<Index>& at() const { return rules_.at; }
  // True if it is proved that no point satisfies the constraints.
  bool empty() const { return empty_; }
  // Has a feasible point been found? (With integers the search may end without a point and without a proof.)
  bool found() const { return corners_.rows() > 0; }
  // Points at which single inputs are smallest or largest, and one in the middle, a row each, as the kernel's inputs.
  MatrixXd corners() const;
  // Uniform feasible points on the kernel's scale. For integers see Box::uniform().
  MatrixXd points(Index count, Rng& rng) const;

 private:
  struct Member {
    VectorXd x, slack;
  };
  struct Range {
    double low, high;
  };
  void read_bounds(const Box& box);
  LinearOptimum best(const VectorXd& c, const VectorXd& lower, const VectorXd& upper) const;
  LinearOptimum middle() const;
  bool dive(const VectorXd& c, const VectorXd& lower, const VectorXd& upper, int& nodes, VectorXd& out) const;
  void find_corners();
  void list_moves();
  void list_kernel();
  void add_move(VectorXd move);
  VectorXd begin(Rng& rng, Index member) const;
  void sweep(std::vector<Member>& members, std::size_t which, Rng& rng) const;
  void step_input(Member& member, Index input, Rng& rng) const;
  void step_along(Member& member, VectorXd direction, Rng& rng) const;
  void step_between(Member& member, const VectorXd& from, const VectorXd& to, Rng& rng) const;
  bool is_whole(Index input) const { return integer_[static_cast<std::size_t>(input)] != 0; }
  bool is_log(Index input) const { return log_[static_cast<std::size_t>(input)] != 0; }
  bool moves(Index input) const { return upper_[input] > lower_[input]; }
  double log_density(const VectorXd& x, const VectorXd& direction) const;
  VectorXd coded(const VectorXd& x) const;
  Index inputs() const { return lower_.size(); }

  LinearRules rules_;
  VectorXd lower_, upper_;              // users' units
  VectorXd coded_lower_, coded_upper_;  // as the kernel's inputs
  std::vector<char> integer_, log_;
  std::vector<Index> alone_;      // inputs that can move alone
  std::vector<VectorXd> together_;  // changes of several inputs that keep all equalities
  MatrixXd corners_;
  bool empty_ = false;
};

}  // namespace gpb

#endif
