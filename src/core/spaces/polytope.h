// Linear constraints over some inputs of a box, reals and whole numbers: whether any point satisfies them, by linear
// programming, and uniform points that do, by hit-and-run.
#ifndef GPB_POLYTOPE_H
#define GPB_POLYTOPE_H

#include "base/settings.h"
#include "spaces/chart.h"

namespace gpb {

struct LinearOptimum {
  bool feasible = false;
  bool decided = true;  // false: rounding has kept the method from its end
  VectorXd x;
};

// Where c'x is largest among the x >= 0 with A x <= b, which must be bounded: the two phases of the simplex method.
LinearOptimum maximise_linear(const MatrixXd& A, const VectorXd& b, const VectorXd& c);

// In users' units: A x <= b, and E x = f, over the inputs `at` of a box.
struct LinearRules {
  std::vector<Index> at;
  MatrixXd A, E;
  VectorXd b, f;
};

// From `at` (0-based), `A`, `b`, `E`, `f`.
LinearRules make_linear_rules(const Settings& settings);

// Changes of whole numbers that keep one of the sums as it is, a row each (over the inputs `at`).
MatrixXd lattice_moves(const LinearRules& rules, const Box& box);

class Polytope {
 public:
  Polytope(LinearRules rules, const Box& box);
  const std::vector<Index>& at() const { return rules_.at; }
  // Proved: no point satisfies the constraints.
  bool empty() const { return empty_; }
  // Has a point been found? (With whole numbers the search for one may end before either is settled.)
  bool found() const { return corners_.rows() > 0; }
  // Points where single inputs are smallest or largest, and one in the middle; as the kernel sees them, a row each.
  MatrixXd corners() const;
  // Uniform ones on the scale of the kernel; whole numbers as Box::uniform() has them.
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
  bool is_whole(Index input) const { return whole_[static_cast<std::size_t>(input)] != 0; }
  bool is_log(Index input) const { return log_[static_cast<std::size_t>(input)] != 0; }
  bool moves(Index input) const { return upper_[input] > lower_[input]; }
  double log_density(const VectorXd& x, const VectorXd& direction) const;
  VectorXd coded(const VectorXd& x) const;
  Index inputs() const { return lower_.size(); }

  LinearRules rules_;
  VectorXd lower_, upper_;              // users' units
  VectorXd coded_lower_, coded_upper_;  // as the kernel sees them
  std::vector<char> whole_, log_;
  std::vector<Index> alone_;      // inputs that can move without another
  std::vector<VectorXd> together_;  // changes of several that keep all equalities
  MatrixXd corners_;
  bool empty_ = false;
};

}  // namespace gpb

#endif
