// Shares of a whole: parts that add up to a total, each within its bounds; perhaps at most so many of them
// are above 0, and each is 0 or within its bounds. A part is an input, or linear in it: in a sum with coefficients.
#ifndef GPB_SHARES_H
#define GPB_SHARES_H

#include <initializer_list>

#include "base/point.h"
#include "base/settings.h"

namespace gpb {

// The nearest point with lower <= x <= upper whose sum is `total` (x_i = clip(y_i - nu), nu by bisection).
VectorXd project_on_shares(const VectorXd& y, const VectorXd& lower, const VectorXd& upper,
                           double total);

// A point of that set, for `u` uniform in the unit cube uniform on it: one share after the other from its
// distribution given those before it. The volume of what is left, over (k - 2)!, is
// V(u, T) = sum_A (-1)^|A| (T - sum_A u)_+^(k-1), u = upper - lower, T = total - sum lower.
VectorXd shares_of_cube(const VectorXd& u, const VectorXd& lower, const VectorXd& upper,
                        double total);

class Shares {
 public:
  // at: which of the inputs they are; most: so many may be above 0 (all of them: no more is said).
  Shares(std::vector<Index> at, VectorXd lower, VectorXd upper, double total, Index most);
  // A part is factor * (input - origin); it is the input where nothing is said.
  void set_scale(VectorXd factors, VectorXd origins);
  const std::vector<Index>& at() const { return at_; }
  double total() const { return total_; }
  bool limited() const { return most_ < count(); }
  double lower(Index part) const { return lower_[part]; }
  double upper(Index part) const { return upper_[part]; }
  double factor(Index part) const { return factors_[part]; }
  double input_of(Index part, double value) const { return origins_[part] + value / factors_[part]; }
  // What the longest side of the parts is: they are measured in it.
  double side() const { return std::max((upper_ - lower_).maxCoeff(), 1e-300); }
  // The same where some inputs are fixed.
  Shares slice(const Fixed& fixed, Index first) const;
  // The nearest allowed shares; where only some may be above 0, those that are.
  void snap(VectorXd& x) const;
  // Shares for a point of the unit cube, which stands where they do.
  void spread(VectorXd& x) const;
  // Points with one share less, next to none of it, one more or two, or one in place of another, a row each.
  MatrixXd exchanges(const VectorXd& x) const;

 private:
  using Support = std::vector<Index>;  // which parts are above 0
  Index count() const { return static_cast<Index>(at_.size()); }
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
  std::vector<char> pinned_;       // fixed: at lower = upper, perhaps 0
  std::vector<Support> supports_;  // where limited: those that reach the total
};

// From `at` (0-based), `lower`, `upper`, `total`, `most`, and values of inputs that are fixed, `pinned` (NaN: free);
// perhaps `factors` and `origins`.
Shares make_shares(const Settings& settings);

}  // namespace gpb

#endif
