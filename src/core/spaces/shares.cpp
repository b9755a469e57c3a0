// Functions of shares.h: mixtures (`Shares`): components that add up to a total, each within its bounds. Uses base/.
#include "spaces/shares.h"

#include "base/ordering.h"
#include "base/split_mix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>

namespace gpb {

// ---- projections --------------------------------------------------------------------------------

namespace {

VectorXd clipped(const VectorXd& y, double nu, const VectorXd& lower, const VectorXd& upper) {
  VectorXd out = y;
  for (Index i = 0; i < y.size(); ++i) out[i] -= nu;
  return clamped(std::move(out), lower, upper);
}

constexpr double kSumTolerance = 1e-13;  // of the total
constexpr double kPinnedTolerance = 1e-8;  // of the total: tolerance for rows that were printed and read again

}  // namespace

VectorXd project_on_shares(const VectorXd& y, const VectorXd& lower, const VectorXd& upper,
                           double total) {
  // A point that is already in the set is returned unchanged, bit for bit.
  const double close = kSumTolerance * std::max(std::abs(total), largest_size(upper));
  const bool inside = clamped(y, lower, upper) == y;
  if (inside && std::abs(y.sum() - total) <= close) return y;
  // At `from` every component is at its upper bound, at `to` at its lower bound.
  double from = (y - upper).minCoeff(), to = (y - lower).maxCoeff();
  for (int step = 0; step < 200; ++step) {
    const double middle = 0.5 * (from + to);
    if (!(middle > from && middle < to)) break;
    (clipped(y, middle, lower, upper).sum() > total ? from : to) = middle;
  }
  VectorXd x = clipped(y, 0.5 * (from + to), lower, upper);
  // The remaining rounding error goes to components that have room for it.
  for (Index i = 0; i < x.size(); ++i) {
    const double left = total - x.sum();
    if (std::abs(left) <= close * 1e-3) break;
    x[i] = std::min(std::max(x[i] + left, lower[i]), upper[i]);
  }
  return x;
}

// ---- uniform points -----------------------------------------------------------------------------

namespace {

constexpr Index kMostExact = 12;        // components: with more of them, signed terms cancel,
constexpr double kMostLost = 1e-7;      // or if this proportion of a volume is lost
constexpr int kSweeps = 60;             // of the random walk that is used instead

// Adds the terms of V(u, T) to `sum` and their absolute values to `sizes`; it is fastest for decreasing u.
void add_volume(const VectorXd& u, Index from, double left, int power, double sign, double& sum,
                double& sizes) {
  const double term = std::pow(left, power);
  sum += sign * term;
  sizes += term;
  for (Index i = from; i < u.size(); ++i) {
    if (left - u[i] > 0.0) add_volume(u, i + 1, left - u[i], power, -sign, sum, sizes);
  }
}

struct Volume {
  double value, lost;  // lost: the proportion that may be due to rounding
};

// The volume of the points with 0 <= z <= u whose sum is `left`. By the symmetry z -> u - z it can also be computed
// with the sum u.sum() - left; the smaller sum loses fewer digits.
Volume volume(const VectorXd& u, double left) {
  const int power = static_cast<int>(u.size()) - 1;
  const double other = u.sum() - left;
  if (left < 0.0 || other < 0.0) return {0.0, 0.0};
  if (power == 0) return {1.0, 0.0};
  double sum = 0.0, sizes = 0.0;
  add_volume(u, 0, std::min(left, other), power, 1.0, sum, sizes);
  sum = std::max(sum, 0.0);
  return {sum, sum > 0.0 ? 1e-15 * sizes / sum : kInf};
}

// Is every bound from this one on at least `least`?
bool all_reach(const VectorXd& u, Index from, double least) {
  return std::all_of(u.data() + from, u.data() + u.size(), [least](double one) { return one >= least; });
}

// The value of the first component below which this proportion p of the volume lies.
double first_share(const VectorXd& u, double left, double p) {
  const Index k = u.size();
  const double low = std::max(0.0, left - u.tail(k - 1).sum()), high = std::min(u[0], left);
  if (!(high > low)) return low;
  // If the other bounds are inactive, the distribution function is 1 - (1 - z/T)^(k-1), up to the first component's
  // bound.
  if (all_reach(u, 1, left)) {
    const double power = static_cast<double>(k - 1);
    const double below = u[0] >= left ? 1.0 : 1.0 - std::pow(1.0 - u[0] / left, power);
    return std::min(high, left * (1.0 - std::pow(1.0 - p * below, 1.0 / power)));
  }
  VectorXd bounded = u;
  const double all = volume(u, left).value;
  double from = low, to = high;
  for (int step = 0; step < 60 && to - from > 1e-15 * left; ++step) {
    bounded[0] = 0.5 * (from + to);
    (volume(bounded, left).value < p * all ? from : to) = bounded[0];
  }
  return 0.5 * (from + to);
}

// A random sequence seeded by a point of the cube: the same point gives the same sequence.
class Sequence {
 public:
  explicit Sequence(const VectorXd& u) {
    for (Index i = 0; i < u.size(); ++i) {
      std::uint64_t bits;
      const double value = u[i];
      std::memcpy(&bits, &value, sizeof bits);
      state_ ^= bits + kSplitMixStep + (state_ << 6) + (state_ >> 2);
    }
  }
  double next() { return (static_cast<double>(next_scrambled(state_) >> 11) + 0.5) / 9007199254740992.0; }

 private:
  std::uint64_t state_ = 0x243F6A8885A308D3ULL;
};

// A random walk (Gibbs sampling): repeatedly, two components exchange a uniform feasible amount.
VectorXd walked_shares(const VectorXd& cube, const VectorXd& u, double left) {
  const Index k = u.size();
  Sequence random(cube);
  VectorXd z = project_on_shares(VectorXd::Constant(k, left / static_cast<double>(k)),
                                 VectorXd::Zero(k), u, left);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (Index i = 0; i < k; ++i) {
      auto j = static_cast<Index>(random.next() * static_cast<double>(k - 1));
      if (j >= i) ++j;
      const double both = z[i] + z[j];
      const double low = std::max(0.0, both - u[j]), high = std::min(u[i], both);
      z[i] = low + random.next() * std::max(0.0, high - low);
      z[j] = both - z[i];
    }
  }
  return z;
}

// For components that can all move.
VectorXd free_shares(const VectorXd& cube, const VectorXd& u, double left) {
  const Index k = u.size();
  const bool simplex = all_reach(u, 0, left);
  if (!simplex && (k > kMostExact || volume(u, left).lost > kMostLost)) {
    return walked_shares(cube, u, left);
  }
  VectorXd z(k);
  for (Index i = 0; i + 1 < k; ++i) {
    z[i] = first_share(segment_of(u, i, k - i), left, cube[i]);
    left = std::max(0.0, left - z[i]);
  }
  z[k - 1] = left;
  return z;
}

}  // namespace

VectorXd shares_of_cube(const VectorXd& cube, const VectorXd& lower, const VectorXd& upper,
                        double total) {
  std::vector<Index> free;
  for (Index i = 0; i < lower.size(); ++i) {
    if (upper[i] > lower[i]) free.push_back(i);
  }
  const auto k = static_cast<Index>(free.size());
  VectorXd x = lower, u(k), at(k);
  if (k == 0) return x;
  for (Index i = 0; i < k; ++i) {
    const Index part = free[static_cast<std::size_t>(i)];
    u[i] = upper[part] - lower[part];
    at[i] = cube[part];
  }
  const VectorXd z = free_shares(at, u, total - lower.sum());
  for (Index i = 0; i < k; ++i) x[free[static_cast<std::size_t>(i)]] += z[i];
  return project_on_shares(x, lower, upper, total);
}

// ---- a set of components ------------------------------------------------------------------------

namespace {

constexpr std::size_t kMostSupports = 200000;

// The next set of this size of numbers below `count`, in order; false after the last.
bool next_combination(std::vector<Index>& set, Index count) {
  const auto m = static_cast<Index>(set.size());
  for (Index i = m - 1; i >= 0; --i) {
    auto& value = set[static_cast<std::size_t>(i)];
    if (value < count - m + i) {
      ++value;
      for (Index j = i + 1; j < m; ++j) {
        set[static_cast<std::size_t>(j)] = set[static_cast<std::size_t>(j - 1)] + 1;
      }
      return true;
    }
  }
  return false;
}

}  // namespace

Shares::Shares(std::vector<Index> at, VectorXd lower, VectorXd upper, double total, Index most)
    : at_(std::move(at)),
      lower_(std::move(lower)),
      upper_(std::move(upper)),
      factors_(VectorXd::Ones(lower_.size())),
      origins_(VectorXd::Zero(lower_.size())),
      total_(total),
      most_(most),
      pinned_(at_.size(), 0) {
  if (lower_.size() != count() || upper_.size() != count() || count() < 1 || most_ < 1) {
    throw_invalid("shares and their bounds differ in number");
  }
  list_supports();
}

void Shares::set_scale(VectorXd factors, VectorXd origins) {
  if (factors.size() != count() || origins.size() != count() || (factors.array() == 0.0).any()) {
    throw_invalid("the scale of shares is missing or has a factor of 0");
  }
  factors_ = std::move(factors);
  origins_ = std::move(origins);
}

Shares Shares::slice(const Fixed& fixed, Index first) const {
  Shares out = *this;
  bool some = false;
  for (std::size_t k = 0; k < fixed.at.size(); ++k) {
    for (std::size_t part = 0; part < at_.size(); ++part) {
      if (at_[part] != fixed.at[k] - first) continue;
      const auto i = static_cast<Index>(part);
      out.lower_[i] = out.upper_[i] = (fixed.values[static_cast<Index>(k)] - origins_[i]) * factors_[i];
      out.pinned_[part] = 1;
      some = true;
    }
  }
  if (some) out.list_supports();
  return out;
}

VectorXd Shares::parts(const VectorXd& x) const {
  VectorXd out(count());
  for (std::size_t part = 0; part < at_.size(); ++part) {
    const auto i = static_cast<Index>(part);
    out[i] = (x[at_[part]] - origins_[i]) * factors_[i];
  }
  return out;
}

void Shares::put(const VectorXd& parts, VectorXd& x) const {
  for (std::size_t part = 0; part < at_.size(); ++part) {
    const auto i = static_cast<Index>(part);
    x[at_[part]] = input_of(i, parts[i]);
  }
}

bool Shares::can_reach(const Support& support) const {
  double least = 0.0, largest = 0.0;
  bool pinned = false;
  for (const Index i : support) {
    pinned = pinned || pinned_[static_cast<std::size_t>(i)];
    if (pinned_[static_cast<std::size_t>(i)] && upper_[i] <= 0.0) return false;
    least += lower_[i];
    largest += upper_[i];
  }
  for (Index i = 0; i < count(); ++i) {
    const bool needed = pinned_[static_cast<std::size_t>(i)] && upper_[i] > 0.0;
    if (needed && std::find(support.begin(), support.end(), i) == support.end()) return false;
  }
  if (!has_sum()) return true;
  const double slack = (pinned ? kPinnedTolerance : kSumTolerance) * total_;
  return least <= total_ + slack && largest >= total_ - slack;
}

// Lists the sets of `most` components. Smaller sets are included if the least amount of a component prevents them from
// being faces of larger sets, or if no larger set reaches the total.
void Shares::list_supports() {
  supports_.clear();
  if (!limited()) {
    Support all;
    for (Index i = 0; i < count(); ++i) {
      if (!pinned_[static_cast<std::size_t>(i)] || upper_[i] > 0.0) all.push_back(i);
    }
    if (!can_reach(all)) throw_invalid("no shares reach their total");
    return;
  }
  for (Index size = most_; size >= 1; --size) {
    if (!supports_.empty() && lower_.maxCoeff() <= 0.0) break;
    Support set(static_cast<std::size_t>(size));
    std::iota(set.begin(), set.end(), Index(0));
    do {
      if (can_reach(set)) supports_.push_back(set);
    } while (supports_.size() <= kMostSupports && next_combination(set, count()));
  }
  if (supports_.empty()) throw_invalid("no shares reach their total");
  if (supports_.size() > kMostSupports) throw_invalid("too many sets of shares");
}

VectorXd Shares::projected(const VectorXd& parts, const Support& support) const {
  VectorXd lower = VectorXd::Zero(count()), upper = lower, y = lower;
  for (const Index i : support) {
    lower[i] = lower_[i];
    upper[i] = upper_[i];
    y[i] = parts[i];
  }
  return has_sum() ? project_on_shares(y, lower, upper, total_) : clamped(y, lower, upper);
}

// The largest components above 0; if these do not reach the total, the nearest set that does.
Shares::Support Shares::support_of(const VectorXd& parts) const {
  Support order;
  for (Index i = 0; i < count(); ++i) {
    if (parts[i] > kSumTolerance * unit()) order.push_back(i);
  }
  put_in_order(order, [&](Index a, Index b) { return parts[a] > parts[b]; });
  if (static_cast<Index>(order.size()) > most_) order.resize(static_cast<std::size_t>(most_));
  sort_increasing(order);
  if (!order.empty() && can_reach(order)) return order;
  const Support* best = nullptr;
  double nearest = kInf;
  for (const Support& support : supports_) {
    const double gap = (projected(parts, support) - parts).squaredNorm();
    if (gap < nearest) {
      nearest = gap;
      best = &support;
    }
  }
  return *best;
}

bool Shares::allows(const VectorXd& x) const {
  constexpr double kRounding = 1e-8;
  const VectorXd here = parts(x);
  // (Without a total it is infinite.)
  const double close = kRounding * std::max(std::isfinite(total_) ? total_ : 0.0, upper_.maxCoeff());
  const Index present = (here.array() > 0.0).count();
  for (Index k = 0; k < count(); ++k) {
    const bool absent = limited() && here[k] == 0.0;
    if (!absent && (here[k] < lower_[k] - close || here[k] > upper_[k] + close)) return false;
  }
  return !limited() || present <= most_;
}

void Shares::snap(VectorXd& x) const {
  const VectorXd y = parts(x);
  const VectorXd near = limited() ? projected(y, support_of(y)) : project_on_shares(y, lower_, upper_, total_);
  if (near != y) put(near, x);
}

// The last coordinate of the cube is not needed for the last component, so it selects the set of components above 0.
void Shares::spread(VectorXd& x) const {
  VectorXd cube(count());
  for (std::size_t part = 0; part < at_.size(); ++part) cube[static_cast<Index>(part)] = x[at_[part]];
  if (!limited()) return put(shares_of_cube(cube, lower_, upper_, total_), x);
  const auto sets = static_cast<double>(supports_.size());
  const double turn = std::min(std::floor(cube[count() - 1] * sets), sets - 1.0);
  const Support& support = supports_[static_cast<std::size_t>(std::max(turn, 0.0))];
  const auto m = static_cast<Index>(support.size());
  VectorXd lower(m), upper(m), u(m), out = VectorXd::Zero(count());
  for (Index i = 0; i < m; ++i) {
    const Index part = support[static_cast<std::size_t>(i)];
    lower[i] = lower_[part];
    upper[i] = upper_[part];
    u[i] = cube[i];
  }
  const VectorXd z =
      has_sum() ? shares_of_cube(u, lower, upper, total_) : VectorXd(lower + times(u, upper - lower));
  for (Index i = 0; i < m; ++i) out[support[static_cast<std::size_t>(i)]] = z[i];
  put(out, x);
}

namespace {

constexpr std::array<double, 3> kAmounts = {0.1, 0.01, 0.001};  // of the unit, amounts of components that are added
constexpr std::size_t kFewParts = 12;                           // pairs are added up to this number of absent ones

}  // namespace

// Sets one or two components to a value; the other nonzero ones are scaled in proportion if there is a sum.
VectorXd Shares::with_parts(const VectorXd& here, std::initializer_list<Index> changed, double value) const {
  VectorXd out = here;
  double taken = 0.0;
  for (const Index i : changed) {
    out[i] = 0.0;
    taken += std::max(lower_[i], std::min(upper_[i], value));
  }
  const double rest = out.sum();
  if (rest > 0.0 && has_sum()) out *= std::max(total_ - taken, 0.0) / rest;
  for (const Index i : changed) out[i] = std::max(lower_[i], std::min(upper_[i], value));
  return out;
}

MatrixXd Shares::exchanges(const VectorXd& x) const {
  if (!limited()) return MatrixXd(0, x.size());
  const VectorXd here = parts(x);
  std::vector<Index> in, out;
  for (Index i = 0; i < count(); ++i) {
    if (!pinned_[static_cast<std::size_t>(i)]) (here[i] > 0.0 ? in : out).push_back(i);
  }
  const auto is_positive = [](double part) { return part > 0.0; };
  const Index room = most_ - std::count_if(here.data(), here.data() + here.size(), is_positive);
  std::vector<VectorXd> points;
  const auto offer = [&](const VectorXd& parts) {
    VectorXd point = x;
    put(parts, point);
    points.push_back(std::move(point));
  };
  for (const Index i : in) {
    VectorXd without = here;
    without[i] = 0.0;
    offer(without);
    for (const Index j : out) {
      VectorXd swapped = without;
      swapped[j] = std::min(std::max(here[i], lower_[j]), upper_[j]);
      offer(swapped);
    }
  }
  // A very small amount of a component is not the same as none: functions that depend on its presence jump there.
  const auto offer_with = [&](std::initializer_list<Index> changed) {
    for (const double amount : kAmounts) offer(with_parts(here, changed, amount * unit()));
  };
  if (in.size() > 1) {
    for (const Index i : in) offer(with_parts(here, {i}, kAmounts.back() * unit()));
  }
  for (const Index j : out) {
    if (room < 1) break;
    offer_with({j});
    if (room < 2 || out.size() > kFewParts) continue;
    for (const Index k : out) {
      if (k > j) offer_with({j, k});
    }
  }
  MatrixXd rows(static_cast<Index>(points.size()), x.size());
  for (Index i = 0; i < rows.rows(); ++i) set_row(rows, i, points[static_cast<std::size_t>(i)]);
  return rows;
}

Shares make_shares(const Settings& settings) {
  const VectorXd numbers = settings.numbers("at");
  std::vector<Index> at;
  for (Index i = 0; i < numbers.size(); ++i) at.push_back(static_cast<Index>(numbers[i]));
  Shares whole(at, settings.numbers("lower"), settings.numbers("upper"), settings.number("total"),
               settings.count("most"));
  if (settings.has("factors")) whole.set_scale(settings.numbers("factors"), settings.numbers("origins"));
  const VectorXd pinned = settings.numbers("pinned");
  Fixed fixed;
  std::vector<double> values;
  for (Index i = 0; i < pinned.size(); ++i) {
    if (std::isnan(pinned[i])) continue;
    fixed.at.push_back(at[static_cast<std::size_t>(i)]);
    values.push_back(pinned[i]);
  }
  fixed.values = Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
  return values.empty() ? whole : whole.slice(fixed, 0);
}

}  // namespace gpb
