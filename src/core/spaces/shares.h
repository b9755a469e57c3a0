// Mixtures (`Shares`): components that add up to a total, each within its bounds.
//
// If the number of components above 0 is limited, each is 0 or within its bounds. A component (`part`) is an input, or
// linear in one: sums with coefficients are possible. With an infinite total the sum is free, and only the number of
// components above 0 is limited: the faces of a box.
#ifndef GPB_SHARES_H
#define GPB_SHARES_H

#include <cmath>
#include <initializer_list>

#include "base/point.h"
#include "base/settings.h"

namespace gpb {

// The nearest point with lower <= x <= upper whose sum is `total`: x_i = clip(y_i - nu), with nu by bisection.
VectorXd project_on_shares(const VectorXd& y, const VectorXd& lower, const VectorXd& upper,
                           double total);

// A point of that set, which is uniform on it if `u` is uniform in the unit cube. Components are sampled one after the
// other, each from its distribution given the earlier ones. The volume for the remaining components, multiplied by (k -
// 2)!, is
//   V(u, T) = sum_A (-1)^|A| (T - sum_A u)_+^(k-1), u = upper - lower, T = total - sum lower.
VectorXd shares_of_cube(const VectorXd& u, const VectorXd& lower, const VectorXd& upper,
                        double total);

class Shares {
 public:
  // `at`: the inputs that are components. `most`: the largest number of components above 0; if it is the number of
  // components, there is no limit.
  Shares(std::vector<Index> at, VectorXd lower, VectorXd upper, double total, Index most);
  // Sets the scale: a component is factor * (input - origin). By default it is the input itself.
  void set_scale(VectorXd factors, VectorXd origins);
  const std::vector<Index>& at() const { return at_; }
  double total() const { return total_; }
  bool limited() const { return most_ < count(); }
  bool has_sum() const { return std::isfinite(total_); }
  double lower(Index part) const { return lower_[part]; }
  double upper(Index part) const { return upper_[part]; }
  double factor(Index part) const { return factors_[part]; }
  double input_of(Index part, double value) const { return origins_[part] + value / factors_[part]; }
  // The longest side of the components, which is their unit of length.
  double side() const { return std::max((upper_ - lower_).maxCoeff(), 1e-300); }
  // The same with some inputs fixed.
  Shares slice(const Fixed& fixed, Index first) const;
  // Moves x to the nearest allowed mixture. If the number of components is limited, the nonzero ones are selected
  // first.
  void snap(VectorXd& x) const;
  // Are the components within their bounds, and no more than the limit above 0? (Their sum is not checked.)
  bool allows(const VectorXd& x) const;
  // Replaces a point of the unit cube, given in the inputs of the components, by the components.
  void spread(VectorXd& x) const;
  // Points with one component removed or almost removed, one or two added, or one replaced by another; a row each.
  MatrixXd exchanges(const VectorXd& x) const;

 private:
  using Support = std::vector<Index>;  // numbers of the parts above 0
  Index count() const { return static_cast<Index>(at_.size()); }
  double unit() const { return has_sum() ? total_ : side(); }  // of amounts
  VectorXd parts(const VectorXd& x) const;
  void put(const VectorXd& parts, VectorXd& x) const;
  bool can_reach(const Support& support) const;
  VectorXd projected(const VectorXd& parts, const Support& support) const;
  VectorXd with_parts(const VectorXd& here, std::initializer_list<Index> changed, double value) const;
  Support support_of(const VectorXd& parts) const;
  void list_supports();

  std::vector<Index> at_;
  VectorXd lower_, upper_;  // of the parts
  VectorXd factors_, origins_;
  double total_;
  Index most_;
  std::vector<char> pinned_;       // fixed: lower = upper, which may be 0
  std::vector<Support> supports_;  // if limited: the sets that can reach the total
};

// Makes them from `at` (0-based), `lower`, `upper`, `total`, `most` and `pinned`, the values of fixed inputs (NaN:
// free). `factors` and `origins` are optional.
Shares make_shares(const Settings& settings);

}  // namespace gpb

#endif
