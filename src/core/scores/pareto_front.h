// Pareto fronts: points of several objectives, a row each, that no other point dominates. All objectives are maximised.
#ifndef GPB_PARETO_FRONT_H
#define GPB_PARETO_FRONT_H

#include "base/types.h"

#include <vector>

namespace gpb {

// The rows that no other row dominates; of equal rows only the first.
MatrixXd nondominated(const MatrixXd& Y);
// The rows of Y that are above the reference in every column and not dominated.
MatrixXd front_above(const MatrixXd& Y, const VectorXd& reference);
// The hypervolume: the volume that a front dominates, above the reference.
double hypervolume(const MatrixXd& front, const VectorXd& reference);
// The increase of the hypervolume by a point.
double hypervolume_gain(const MatrixXd& front, const VectorXd& reference, const VectorXd& point);

// The region above a reference that a front does not dominate, as disjoint boxes.
class NondominatedBoxes {
 public:
  NondominatedBoxes(const MatrixXd& front, const VectorXd& reference);
  Index size() const { return static_cast<Index>(bounds_.size() / first_.size()); }
  // The logarithm of the expected increase of the hypervolume by a normal point with independent coordinates, and its
  // derivatives if the pointers are not null.
  double log_expected_gain(const double* mean, const double* sd, double* by_mean = nullptr,
                           double* by_sd = nullptr) const;

 private:
  struct Interval {
    Index lower, upper;  // numbers of levels; the first level is the reference, and `upper` kUnbounded: no bound
    bool operator<(const Interval& other) const {
      return lower != other.lower ? lower < other.lower : upper < other.upper;
    }
  };
  using Box = std::vector<Interval>;
  using Row = std::vector<Index>;  // numbers of levels
  static constexpr Index kUnbounded = -1;
  static std::vector<Box> split(std::vector<Row> rows, std::size_t coordinates);

  std::vector<double> levels_;      // ascending, one coordinate after the other
  std::vector<std::size_t> first_;  // of each coordinate
  std::vector<Interval> bounds_;    // a box after the other
};

}  // namespace gpb

#endif
