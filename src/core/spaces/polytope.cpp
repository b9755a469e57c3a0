// Linear constraints: linear programs, corners, uniform points, lattices. Uses base/ and linalg/.
#include "spaces/polytope.h"

#include "linalg/products.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpb {

// ---- linear programming -------------------------------------------------------------------------

namespace {

constexpr double kZero = 1e-10;
constexpr double kInfeasible = 1e-9;

// A dictionary of the simplex method: basic variables (rows) as linear functions of the others (columns). The last two
// rows are the objectives of the second and of the first phase. The last column is the constant term. The column before
// it may belong to the auxiliary variable of the first phase (-1).
class Dictionary {
 public:
  Dictionary(const MatrixXd& A, const VectorXd& b, const VectorXd& c)
      : m_(b.size()), n_(c.size()), table_(MatrixXd::Zero(m_ + 2, n_ + 2)) {
    table_.topLeftCorner(m_, n_) = A;
    for (Index i = 0; i < m_; ++i) {
      table_(i, n_) = -1.0;
      table_(i, n_ + 1) = b[i];
      basic_.push_back(n_ + i);
    }
    for (Index j = 0; j < n_; ++j) {
      table_(m_, j) = -c[j];
      other_.push_back(j);
    }
    other_.push_back(-1);
    table_(m_ + 1, n_) = 1.0;
  }

  bool make_feasible() {
    Index least = 0;
    for (Index i = 1; i < m_; ++i) {
      if (table_(i, n_ + 1) < table_(least, n_ + 1)) least = i;
    }
    if (m_ == 0 || table_(least, n_ + 1) >= -kZero) return true;
    pivot(least, n_);
    decided_ = local_search(m_ + 1);
    if (!decided_ || table_(m_ + 1, n_ + 1) < -kInfeasible) return false;
    for (Index i = 0; i < m_; ++i) {
      if (basic_[static_cast<std::size_t>(i)] != -1) continue;
      Index largest = 0;
      for (Index j = 1; j <= n_; ++j) {
        if (std::abs(table_(i, j)) > std::abs(table_(i, largest))) largest = j;
      }
      if (std::abs(table_(i, largest)) > kZero) pivot(i, largest);
    }
    return true;
  }

  bool maximise() { return decided_ = local_search(m_); }
  bool decided() const { return decided_; }

  VectorXd solution() const {
    VectorXd x = VectorXd::Zero(n_);
    for (Index i = 0; i < m_; ++i) {
      const Index variable = basic_[static_cast<std::size_t>(i)];
      if (variable >= 0 && variable < n_) x[variable] = std::max(0.0, table_(i, n_ + 1));
    }
    return x;
  }

 private:
  void pivot(Index row, Index column) {
    const double inverse = 1.0 / table_(row, column);
    for (Index i = 0; i < m_ + 2; ++i) {
      const double factor = table_(i, column) * inverse;
      if (i == row || factor == 0.0) continue;
      for (Index j = 0; j < n_ + 2; ++j) {
        if (j != column) table_(i, j) -= factor * table_(row, j);
      }
    }
    for (Index j = 0; j < n_ + 2; ++j) {
      if (j != column) table_(row, j) *= inverse;
    }
    for (Index i = 0; i < m_ + 2; ++i) {
      if (i != row) table_(i, column) *= -inverse;
    }
    table_(row, column) = inverse;
    std::swap(basic_[static_cast<std::size_t>(row)], other_[static_cast<std::size_t>(column)]);
  }

  // The steepest column at first, later the first one (Bland's rule), which cannot cycle.
  Index entering(Index objective, bool steepest) const {
    Index found = -1;
    for (Index j = 0; j <= n_; ++j) {
      const Index variable = other_[static_cast<std::size_t>(j)];
      if (table_(objective, j) > -kZero || (objective == m_ && variable == -1)) continue;
      if (found < 0 || (steepest ? table_(objective, j) < table_(objective, found)
                                 : variable < other_[static_cast<std::size_t>(found)])) {
        found = j;
      }
    }
    return found;
  }

  Index leaving(Index column) const {
    Index found = -1;
    double least = kInf;
    for (Index i = 0; i < m_; ++i) {
      if (table_(i, column) < kZero) continue;
      const double ratio = table_(i, n_ + 1) / table_(i, column);
      const bool first = found < 0 || basic_[static_cast<std::size_t>(i)] < basic_[static_cast<std::size_t>(found)];
      if (ratio < least || (ratio == least && first)) {
        found = i;
        least = ratio;
      }
    }
    return found;
  }

  bool local_search(Index objective) {
    const Index steep = 20 * (m_ + n_ + 2);
    for (Index turn = 0; turn < 20 * steep; ++turn) {
      const Index column = entering(objective, turn < steep);
      if (column < 0) return true;
      const Index row = leaving(column);
      if (row < 0) return false;
      pivot(row, column);
    }
    return false;
  }

  Index m_, n_;
  bool decided_ = true;
  MatrixXd table_;
  std::vector<Index> basic_, other_;
};

}  // namespace

LinearOptimum maximise_linear(const MatrixXd& A, const VectorXd& b, const VectorXd& c) {
  LinearOptimum out;
  Dictionary dictionary(A, b, c);
  out.feasible = dictionary.make_feasible() && dictionary.maximise();
  out.decided = dictionary.decided();
  if (out.feasible) out.x = dictionary.solution();
  return out;
}

// ---- rules --------------------------------------------------------------------------------------

LinearRules make_linear_rules(const Settings& settings) {
  LinearRules out;
  const VectorXd at = settings.numbers("at");
  for (Index i = 0; i < at.size(); ++i) out.at.push_back(static_cast<Index>(at[i]));
  out.A = settings.matrix("A");
  out.b = settings.numbers("b");
  out.E = settings.matrix("E");
  out.f = settings.numbers("f");
  const auto k = static_cast<Index>(out.at.size());
  if (out.A.cols() != k || out.E.cols() != k || out.A.rows() != out.b.size() || out.E.rows() != out.f.size()) {
    throw_invalid("linear constraints whose parts differ in size");
  }
  return out;
}

namespace {

bool is_near_integer(double x) { return std::abs(x - std::round(x)) < 1e-9; }

constexpr Index kMostPairs = 200;
constexpr double kMostFactor = 64.0;  // largest factor by which coefficients are made integers

// e_i c_j - e_j c_i without a common factor, which keeps c'x; empty if integers cannot do this.
VectorXd pair_move(const VectorXd& c, Index i, Index j, bool integer_i, bool integer_j) {
  VectorXd move = VectorXd::Zero(c.size());
  if (c[i] == 0.0 || c[j] == 0.0) return VectorXd();
  if (!integer_i || !integer_j) {
    // One step of the integer input, or a unit of a real input.
    const Index first = integer_j ? j : i, second = integer_j ? i : j;
    move[first] = 1.0;
    move[second] = -c[first] / c[second];
    return move;
  }
  const double unit = std::min(std::abs(c[i]), std::abs(c[j]));
  for (double factor = 1.0; factor <= kMostFactor; ++factor) {
    const double a = c[i] / unit * factor, b = c[j] / unit * factor;
    if (!is_near_integer(a) || !is_near_integer(b)) continue;
    const auto common = static_cast<double>(std::gcd(std::llround(a), std::llround(b)));
    move[i] = std::round(b) / common;
    move[j] = -std::round(a) / common;
    return move;
  }
  return VectorXd();
}

}  // namespace

MatrixXd lattice_moves(const LinearRules& rules, const Box& box) {
  const auto k = static_cast<Index>(rules.at.size());
  std::vector<VectorXd> moves;
  const auto whole = [&](Index i) {
    const Index input = rules.at[static_cast<std::size_t>(i)];
    return box.integer[static_cast<std::size_t>(input)] && box.moves(input);
  };
  const auto look = [&](const MatrixXd& rows) {
    for (Index r = 0; r < rows.rows(); ++r) {
      const VectorXd c = row_of(rows, r);
      for (Index i = 0; i < k; ++i) {
        for (Index j = i + 1; j < k; ++j) {
          if (static_cast<Index>(moves.size()) >= kMostPairs || !whole(i) || !whole(j)) continue;
          const VectorXd move = pair_move(c, i, j, true, true);
          const auto known = [&](const VectorXd& other) { return other == move; };
          if (move.size() > 0 && std::none_of(moves.begin(), moves.end(), known)) moves.push_back(move);
        }
      }
    }
  };
  look(rules.E);
  look(rules.A);
  MatrixXd out(static_cast<Index>(moves.size()), k);
  for (Index i = 0; i < out.rows(); ++i) set_row(out, i, moves[static_cast<std::size_t>(i)]);
  return out;
}

// ---- feasibility --------------------------------------------------------------------------------

namespace {

constexpr Index kMostCorners = 64;
constexpr int kMostNodes = 3000;  // of the search that proves that there is no point with integers,
constexpr int kFewNodes = 100;    // and of one for a further point

}  // namespace

Polytope::Polytope(LinearRules rules, const Box& box) : rules_(std::move(rules)) {
  read_bounds(box);
  list_moves();
  find_corners();
}

void Polytope::read_bounds(const Box& box) {
  const auto k = static_cast<Index>(rules_.at.size());
  lower_.resize(k);
  upper_.resize(k);
  for (Index i = 0; i < k; ++i) {
    const Index input = rules_.at[static_cast<std::size_t>(i)];
    if (input < 0 || input >= box.inputs()) throw_invalid("a linear constraint on a missing input");
    const auto c = static_cast<std::size_t>(input);
    integer_.push_back(box.integer[c]);
    log_.push_back(box.logarithmic[c]);
    lower_[i] = log_.back() ? std::exp(box.lower[input]) : box.lower[input];
    upper_[i] = log_.back() ? std::exp(box.upper[input]) : box.upper[input];
    if (integer_.back()) {
      lower_[i] = std::round(lower_[i]);
      upper_[i] = std::round(upper_[i]);
    }
  }
  coded_lower_.resize(k);
  coded_upper_.resize(k);
  for (Index i = 0; i < k; ++i) {
    coded_lower_[i] = box.lower[rules_.at[static_cast<std::size_t>(i)]];
    coded_upper_[i] = box.upper[rules_.at[static_cast<std::size_t>(i)]];
  }
}

// Works in sides of the box, with each row scaled to norm 1, because tolerances are absolute.
LinearOptimum Polytope::best(const VectorXd& c, const VectorXd& lower, const VectorXd& upper) const {
  const Index k = inputs(), m = rules_.A.rows(), e = rules_.E.rows();
  const VectorXd side = upper - lower;
  MatrixXd A = MatrixXd::Zero(m + 2 * e + k, k);
  VectorXd b(A.rows());
  const auto put = [&](Index row, const MatrixXd& from, Index i, double to, double sign) {
    const VectorXd factors = row_of(from, i);
    const VectorXd scaled = times(factors, side);
    const double norm = scaled.norm(), unit = norm > 0.0 ? norm : std::max(factors.norm(), 1e-300);
    set_row(A, row, (sign / unit) * scaled);
    b[row] = sign * (to - factors.dot(lower)) / unit;
  };
  for (Index i = 0; i < m; ++i) put(i, rules_.A, i, rules_.b[i], 1.0);
  for (Index i = 0; i < e; ++i) {
    put(m + 2 * i, rules_.E, i, rules_.f[i], 1.0);
    put(m + 2 * i + 1, rules_.E, i, rules_.f[i], -1.0);
  }
  for (Index j = 0; j < k; ++j) {
    A(m + 2 * e + j, j) = 1.0;
    b[m + 2 * e + j] = 1.0;
  }
  LinearOptimum out = maximise_linear(A, b, times(c, side));
  if (out.feasible) out.x = clamped(lower + times(out.x, side), lower, upper);
  return out;
}

// Branch and bound, depth first, beginning with the nearer integer.
bool Polytope::dive(const VectorXd& c, const VectorXd& lower, const VectorXd& upper, int& nodes,
                    VectorXd& out) const {
  if (--nodes < 0) return false;
  const LinearOptimum here = best(c, lower, upper);
  if (!here.decided) nodes = -1;
  if (!here.feasible) return false;
  Index split = -1;
  double most = 1e-6;
  for (Index i = 0; i < inputs(); ++i) {
    const double off = std::abs(here.x[i] - std::round(here.x[i]));
    if (is_whole(i) && off > most) {
      most = off;
      split = i;
    }
  }
  if (split >= 0) {
    const bool up_first = here.x[split] - std::floor(here.x[split]) > 0.5;
    for (const bool up : {up_first, !up_first}) {
      VectorXd low = lower, high = upper;
      if (up) low[split] = std::ceil(here.x[split]);
      else high[split] = std::floor(here.x[split]);
      if (dive(c, low, high, nodes, out)) return true;
    }
    return false;
  }
  VectorXd low = lower, high = upper;
  for (Index i = 0; i < inputs(); ++i) {
    if (is_whole(i)) low[i] = high[i] = std::round(here.x[i]);
  }
  const LinearOptimum settled = best(c, low, high);
  if (settled.feasible) out = settled.x;
  return settled.feasible;
}

// The point with the largest distance from all constraints and bounds (integers treated as real numbers).
LinearOptimum Polytope::middle() const {
  LinearRules wider = rules_;
  const Index k = inputs(), m = rules_.A.rows();
  const VectorXd side = upper_ - lower_;
  // An additional input from 0 to 1: the distance, in sides of the box.
  wider.A = MatrixXd::Zero(m + 2 * k, k + 1);
  wider.A.topLeftCorner(m, k) = rules_.A;
  wider.b = VectorXd::Zero(m + 2 * k);
  for (Index i = 0; i < m; ++i) {
    wider.A(i, k) = times(row_of(rules_.A, i), side).norm();
    wider.b[i] = rules_.b[i];
  }
  for (Index j = 0; j < k; ++j) {
    wider.A(m + j, j) = 1.0;
    wider.A(m + j, k) = side[j];
    wider.b[m + j] = upper_[j];
    wider.A(m + k + j, j) = -1.0;
    wider.A(m + k + j, k) = side[j];
    wider.b[m + k + j] = -lower_[j];
  }
  wider.E = MatrixXd::Zero(rules_.E.rows(), k + 1);
  wider.E.leftCols(k) = rules_.E;
  Polytope of_distance(*this);
  of_distance.rules_ = std::move(wider);
  of_distance.lower_ = joined(lower_, 0.0);
  of_distance.upper_ = joined(upper_, 1.0);
  VectorXd c = VectorXd::Zero(k + 1);
  c[k] = 1.0;
  LinearOptimum out = of_distance.best(c, of_distance.lower_, of_distance.upper_);
  if (out.feasible) out.x.conservativeResize(k);
  return out;
}

void Polytope::find_corners() {
  const Index k = inputs();
  const bool any_whole = std::any_of(integer_.begin(), integer_.end(), [](char flag) { return flag != 0; });
  std::vector<VectorXd> found;
  int nodes = kMostNodes;
  const auto look = [&](const VectorXd& c) {
    VectorXd x;
    if (any_whole) {
      if (dive(c, lower_, upper_, nodes, x)) found.push_back(x);
    } else {
      const LinearOptimum here = best(c, lower_, upper_);
      if (!here.decided) nodes = -1;
      if (here.feasible) found.push_back(here.x);
    }
  };
  look(VectorXd::Zero(k));
  empty_ = found.empty() && nodes >= 0;
  if (found.empty()) return;
  found.clear();
  for (Index i = 0; i < k && static_cast<Index>(found.size()) < kMostCorners; ++i) {
    if (!moves(i)) continue;
    for (const double sign : {-1.0, 1.0}) {
      VectorXd c = VectorXd::Zero(k);
      c[i] = sign / (upper_[i] - lower_[i]);
      nodes = kFewNodes;
      look(c);
    }
  }
  nodes = kMostNodes;
  if (found.empty()) look(VectorXd::Zero(k));
  const LinearOptimum centre = any_whole ? LinearOptimum() : middle();
  if (centre.feasible) found.push_back(centre.x);
  corners_.resize(static_cast<Index>(found.size()), k);
  for (Index i = 0; i < corners_.rows(); ++i) set_row(corners_, i, found[static_cast<std::size_t>(i)]);
}

VectorXd Polytope::coded(const VectorXd& x) const {
  VectorXd out = x;
  for (Index i = 0; i < inputs(); ++i) {
    if (is_log(i)) out[i] = std::log(x[i]);
  }
  return clamped(out, coded_lower_, coded_upper_);
}

MatrixXd Polytope::corners() const {
  MatrixXd out = corners_;
  for (Index i = 0; i < out.rows(); ++i) set_row(out, i, coded(row_of(corners_, i)));
  return out;
}

// ---- uniform points -----------------------------------------------------------------------------
// Runs many walks at once. Each moves along single inputs, along directions that keep the equalities, and along the
// difference of two other walks. These differences find the long directions of a narrow region (Gilks, Roberts and
// George 1994). A step ends uniformly on its line within the region (hit-and-run, Smith 1984). With logarithmic inputs
// the line's points have weights (Metropolis).

namespace {

constexpr std::size_t kFewWalks = 24, kMostWalks = 64;
constexpr double kIntegerSlack = 1e-9;  // of a range of integer steps
constexpr int kMostNarrowings = 60;

}  // namespace

void Polytope::add_move(VectorXd move) {
  for (Index i = 0; i < inputs(); ++i) {
    if (move[i] != 0.0 && !moves(i)) return;
  }
  together_.push_back(std::move(move));
}

// Inputs that are in no equality move alone. Pairs of inputs that are in one and the same equality only move together.
// In addition, the moves of the kernel of all equalities are used.
void Polytope::list_moves() {
  const Index k = inputs(), e = rules_.E.rows();
  std::vector<Index> uses(static_cast<std::size_t>(k), 0);
  for (Index i = 0; i < k; ++i) {
    for (Index r = 0; r < e; ++r) uses[static_cast<std::size_t>(i)] += rules_.E(r, i) != 0.0;
    if (uses[static_cast<std::size_t>(i)] == 0 && moves(i)) alone_.push_back(i);
  }
  for (Index r = 0; r < e; ++r) {
    const VectorXd c = row_of(rules_.E, r);
    for (Index i = 0; i < k; ++i) {
      for (Index j = i + 1; j < k; ++j) {
        if (uses[static_cast<std::size_t>(i)] != 1 || uses[static_cast<std::size_t>(j)] != 1) continue;
        const VectorXd move = pair_move(c, i, j, is_whole(i), is_whole(j));
        if (move.size() > 0) add_move(move);
      }
    }
  }
  if (e > 0) list_kernel();
}

// The kernel of the equalities by Gauss-Jordan elimination. Each input that is no pivot changes by 1, or by a small
// integer.
void Polytope::list_kernel() {
  const Index k = inputs(), e = rules_.E.rows();
  MatrixXd E = rules_.E;
  std::vector<Index> pivots;
  for (Index j = 0; j < k; ++j) {
    if (!moves(j)) E.col(j).setZero();
    const auto r = static_cast<Index>(pivots.size());
    Index largest = r;
    for (Index i = r + 1; i < e; ++i) {
      if (std::abs(E(i, j)) > std::abs(E(largest, j))) largest = i;
    }
    if (r >= e || std::abs(E(largest, j)) < 1e-12) continue;
    E.row(largest).swap(E.row(r));
    E.row(r) /= E(r, j);
    for (Index i = 0; i < e; ++i) {
      if (i != r) E.row(i) -= E(i, j) * E.row(r);
    }
    pivots.push_back(j);
  }
  for (Index j = 0; j < k; ++j) {
    if (!moves(j) || rules_.E.col(j).isZero() || std::count(pivots.begin(), pivots.end(), j) > 0) continue;
    VectorXd move = VectorXd::Zero(k);
    move[j] = 1.0;
    for (std::size_t r = 0; r < pivots.size(); ++r) move[pivots[r]] = -E(static_cast<Index>(r), j);
    for (double factor = 1.0; factor <= kMostFactor; ++factor) {
      bool whole = true;
      for (Index i = 0; i < k; ++i) whole = whole && (!is_whole(i) || is_near_integer(factor * move[i]));
      if (!whole) continue;
      add_move(factor * move);
      break;
    }
  }
}

// A random convex combination of corners; with integers a corner.
VectorXd Polytope::begin(Rng& rng, Index member) const {
  const bool any_whole = std::any_of(integer_.begin(), integer_.end(), [](char flag) { return flag != 0; });
  if (any_whole) return row_of(corners_, member % corners_.rows());
  VectorXd x = VectorXd::Zero(inputs());
  double sum = 0.0;
  for (Index i = 0; i < corners_.rows(); ++i) {
    const double weight = -std::log(rng.uniform());
    x += weight * row_of(corners_, i);
    sum += weight;
  }
  return clamped(x / sum, lower_, upper_);
}

void Polytope::step_input(Member& member, Index input, Rng& rng) const {
  double low = lower_[input], high = upper_[input];
  const double here = member.x[input];
  for (Index r = 0; r < member.slack.size(); ++r) {
    const double factor = rules_.A(r, input), room = std::max(0.0, member.slack[r]);
    if (factor > 0.0) high = std::min(high, here + room / factor);
    if (factor < 0.0) low = std::max(low, here + room / factor);
  }
  if (is_whole(input)) {
    low = std::ceil(low - kIntegerSlack);
    high = std::floor(high + kIntegerSlack);
  }
  if (!(high > low)) return;
  const double u = rng.uniform();
  double to;
  if (is_whole(input)) {
    to = is_log(input) ? low * std::pow((high + 1.0) / low, u) : low + u * (high - low + 1.0);
    to = std::min(std::max(std::floor(to), low), high);
  } else {
    to = is_log(input) ? low * std::pow(high / low, u) : low + u * (high - low);
  }
  for (Index r = 0; r < member.slack.size(); ++r) member.slack[r] -= rules_.A(r, input) * (to - here);
  member.x[input] = to;
}

// The log density at a point due to logarithmic inputs, over the inputs that a step changes.
double Polytope::log_density(const VectorXd& x, const VectorXd& direction) const {
  double sum = 0.0;
  for (Index i = 0; i < inputs(); ++i) {
    if (!is_log(i) || direction[i] == 0.0) continue;
    sum += is_whole(i) ? std::log(std::log((x[i] + 1.0) / x[i])) : -std::log(x[i]);
  }
  return sum;
}

void Polytope::step_along(Member& member, VectorXd direction, Rng& rng) const {
  // For integers, the step is the shortest one in this direction.
  long long common = 0;
  for (Index i = 0; i < inputs(); ++i) {
    if (is_whole(i)) common = std::gcd(common, std::llround(direction[i]));
  }
  if (common > 1) direction /= static_cast<double>(common);
  const VectorXd change = multiply(rules_.A, direction);
  double low = -kInf, high = kInf;
  const auto bound = [&](double speed, double room_up, double room_down) {
    if (speed > 0.0) {
      high = std::min(high, room_up / speed);
      low = std::max(low, -room_down / speed);
    } else if (speed < 0.0) {
      high = std::min(high, -room_down / speed);
      low = std::max(low, room_up / speed);
    }
  };
  for (Index r = 0; r < change.size(); ++r) bound(change[r], std::max(0.0, member.slack[r]), kInf);
  for (Index i = 0; i < inputs(); ++i) bound(direction[i], upper_[i] - member.x[i], member.x[i] - lower_[i]);
  if (common > 0) {
    low = std::ceil(low - kIntegerSlack);
    high = std::floor(high + kIntegerSlack);
  }
  // The difference of two walks that are at the same point is no direction.
  if (!(high > low) || std::isinf(high - low)) return;
  const double u = rng.uniform();
  const double by = common > 0 ? std::min(low + std::floor(u * (high - low + 1.0)), high) : low + u * (high - low);
  VectorXd to = clamped(member.x + by * direction, lower_, upper_);
  for (Index i = 0; i < inputs(); ++i) {
    if (is_whole(i)) to[i] = std::round(to[i]);
  }
  const double gain = log_density(to, direction) - log_density(member.x, direction);
  if (gain < 0.0 && rng.uniform() > std::exp(gain)) return;
  member.x = std::move(to);
  member.slack = member.slack - by * change;
}

// Steps along the difference of two points. For real logarithmic inputs it is the difference of their logarithms, and
// the step ends uniformly along it, too. Points outside the region narrow the range around the walk (Neal 2003).
void Polytope::step_between(Member& member, const VectorXd& from, const VectorXd& to, Rng& rng) const {
  bool whole = false, logarithms = false;
  for (Index i = 0; i < inputs(); ++i) {
    if (from[i] == to[i]) continue;
    whole = whole || is_whole(i);
    logarithms = logarithms || is_log(i);
  }
  if (whole || !logarithms) return step_along(member, to - from, rng);
  const VectorXd here = coded(member.x), direction = coded(to) - coded(from);
  double low = -kInf, high = kInf;
  for (Index i = 0; i < inputs(); ++i) {
    if (direction[i] == 0.0) continue;
    const double a = (coded_lower_[i] - here[i]) / direction[i], b = (coded_upper_[i] - here[i]) / direction[i];
    low = std::max(low, std::min(a, b));
    high = std::min(high, std::max(a, b));
  }
  for (int turn = 0; turn < kMostNarrowings && high > low; ++turn) {
    const double by = low + rng.uniform() * (high - low);
    VectorXd x = here + by * direction;
    for (Index i = 0; i < inputs(); ++i) {
      if (is_log(i)) x[i] = direction[i] == 0.0 ? member.x[i] : std::exp(x[i]);
    }
    VectorXd slack = rules_.b - multiply(rules_.A, x);
    if (slack.size() == 0 || slack.minCoeff() >= 0.0) {
      member = {std::move(x), std::move(slack)};
      return;
    }
    (by < 0.0 ? low : high) = by;
  }
}

void Polytope::sweep(std::vector<Member>& members, std::size_t which, Rng& rng) const {
  Member& member = members[which];
  member.slack = rules_.b - multiply(rules_.A, member.x);
  for (const Index input : alone_) step_input(member, input, rng);
  const auto paths = static_cast<Index>(together_.size());
  for (Index i = 0; i < std::min(paths, 2 * inputs()); ++i) {
    step_along(member, together_[static_cast<std::size_t>(rng.index(paths))], rng);
  }
  for (int turn = 0; turn < 2; ++turn) {
    const auto others = static_cast<Index>(members.size()) - 1;
    const auto other = [&](Index i) {
      const auto k = static_cast<std::size_t>(i);
      return members[k < which ? k : k + 1].x;
    };
    step_between(member, other(rng.index(others)), other(rng.index(others)), rng);
  }
}

MatrixXd Polytope::points(Index count, Rng& rng) const {
  const Index k = inputs();
  if (!found()) throw_invalid("no point is known that satisfies the constraints");
  const std::size_t walks = std::min(kMostWalks, std::max(kFewWalks, static_cast<std::size_t>(3 * k)));
  std::vector<Member> members(walks);
  for (std::size_t w = 0; w < walks; ++w) members[w].x = begin(rng, static_cast<Index>(w));
  const auto go = [&](Index sweeps) {
    for (Index turn = 0; turn < sweeps; ++turn) {
      for (std::size_t w = 0; w < walks; ++w) sweep(members, w, rng);
    }
  };
  go(40 + 6 * k);
  MatrixXd out(count, k);
  for (Index i = 0; i < count; ++i) {
    const auto w = static_cast<std::size_t>(i) % walks;
    if (i > 0 && w == 0) go(4 + k / 2);
    set_row(out, i, coded(members[w].x));
  }
  return out;
}

}  // namespace gpb
