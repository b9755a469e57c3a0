// Functions of mixed_space.h: a search space: a box whose inputs may also be integers or codes of unordered levels.
// Uses base/ and linalg/.
#include "spaces/mixed_space.h"

#include "base/golden_points.h"
#include "base/multipliers.h"
#include "base/ordering.h"
#include "base/projected_descent.h"
#include "base/stream_random.h"
#include "linalg/products.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace gpb {

namespace {

constexpr Index kFewGroups = 12;      // up to this number of combinations of levels each has a start,
constexpr std::size_t kBest = 3;      // and this number of further starts are the best that are far apart:
constexpr double kApart = 0.1;        // in sides of the box
constexpr int kTurns = 10;            // of local searches and exchanges
constexpr Index kAround = 24;         // points around a search point
constexpr Index kTries = 32;          // uniform points that are sampled together,
constexpr int kMostDraws = 300;       // at most this number of times,
constexpr int kFewDraws = 8;          // or this number of times before samples of the linear constraints are used

}  // namespace

MixedSpace::MixedSpace(KernelPtr kernel, MixedSetting setting, PriorMean prior_mean,
                       const OpenEngine& engine, BoxMinimizer minimize)
    : kernel_(std::move(kernel)),
      setting_(std::move(setting)),
      prior_mean_(std::move(prior_mean)),
      engine_(engine),
      minimize_(std::move(minimize)) {
  slice_.box = setting_.box;
  slice_.shares = setting_.shares;
  list_lattice_moves();
  use_candidates(setting_.candidates);
  Context origin;
  origin.values = VectorXd::Zero(setting_.contexts);
  VectorXd variance(points_.rows());
  kernel_->diagonal(candidates(origin).X, variance);
  prior_scale_ = std::sqrt(std::max(0.0, variance.maxCoeff()));
}

void MixedSpace::list_lattice_moves() {
  for (const LinearRules& rules : setting_.linear) {
    const MatrixXd moves = lattice_moves(rules, setting_.box);
    const Index had = lattice_moves_.rows();
    lattice_moves_.conservativeResize(had + moves.rows(), setting_.box.inputs());
    lattice_moves_.bottomRows(moves.rows()).setZero();
    for (std::size_t k = 0; k < rules.at.size(); ++k) {
      lattice_moves_.col(rules.at[k]).tail(moves.rows()) = moves.col(static_cast<Index>(k));
    }
  }
}

// Sets the candidates, for the current slice.
void MixedSpace::use_candidates(const Points& candidates) {
  const Points& X = candidates;
  if (X.rows() < 1 || X.cols() != setting_.width) {
    throw_invalid("a search space needs candidates");
  }
  points_ = X;
  const Index d = setting_.box.inputs();
  const VectorXd first = row_of(X, 0, 0, d);
  constrained_ = settled(as_rows(first)).excess.cols() > 0;
  std::map<std::vector<double>, Index> seen;
  group_.clear();
  for (Index i = 0; i < X.rows(); ++i) {
    std::vector<double> levels;
    for (Index c = 0; c < X.cols(); ++c) {
      if (c >= d || setting_.categorical[static_cast<std::size_t>(c)]) levels.push_back(X(i, c));
    }
    const auto next = static_cast<Index>(seen.size());
    group_.push_back(seen.emplace(std::move(levels), next).first->second);
  }
  groups_ = static_cast<Index>(seen.size());
}

std::unique_ptr<Posterior> MixedSpace::make_posterior(double noise_var,
                                                      const Forgetting& forgetting) const {
  return std::make_unique<OpenPosterior>(kernel_, noise_var, prior_mean_, forgetting, engine_);
}

// ---- points -------------------------------------------------------------------

MixedSpace::Slice MixedSpace::slice_of(const Context& context) const {
  Slice out{setting_.box, setting_.shares, {}};
  if (!context.fixed) return out;
  out.box = setting_.box.slice(*context.fixed, 0);
  for (Shares& shares : out.shares) shares = shares.slice(*context.fixed, 0);
  for (const Index input : context.fixed->at) {
    const Index column = setting_.indicator[static_cast<std::size_t>(input)];
    const bool share = std::any_of(out.shares.begin(), out.shares.end(), [&](const Shares& one) {
      return std::find(one.at().begin(), one.at().end(), input) != one.at().end();
    });
    if (column >= 0 && !share) out.required.push_back(column);
  }
  return out;
}

Settled MixedSpace::settled(const MatrixXd& points, const Slice& slice) const {
  MatrixXd inside = points;
  const bool whole = !setting_.settle;
  for (Index i = 0; i < points.rows(); ++i) {
    VectorXd x = row_of(points, i);
    for (const Shares& shares : slice.shares) shares.snap(x);
    set_row(inside, i, whole ? slice.box.snap(x) : slice.box.clamp(x));
  }
  if (whole) return {inside, MatrixXd(points.rows(), 0)};
  auto reported = setting_.settle(inside);
  if (reported.first.rows() != points.rows() || reported.first.cols() != setting_.width ||
      reported.second.rows() != points.rows()) {
    throw_invalid("the rules of a search space returned a result of the wrong size");
  }
  Settled out{std::move(reported.first), std::move(reported.second)};
  const Index known = out.excess.cols();
  out.excess.conservativeResize(points.rows(), known + static_cast<Index>(slice.required.size()));
  for (std::size_t k = 0; k < slice.required.size(); ++k) {
    const Index column = known + static_cast<Index>(k);
    for (Index i = 0; i < points.rows(); ++i) out.excess(i, column) = 1.0 - 2.0 * out.inputs(i, slice.required[k]);
  }
  return out;
}

// A point that was given may be beyond the bounds, violate constraints, or have too many shares. (What the rules say of
// it is kept, because they may be R code.)
bool MixedSpace::holds(const Point& point) const {
  const Index d = setting_.box.inputs();
  const VectorXd x = segment_of(point.x, 0, d);
  if (!setting_.box.holds(x)) return false;
  if (!constrained_ && setting_.shares.empty()) return true;
  const auto found = kept_rules_.find(std::vector<double>(x.data(), x.data() + d));
  if (found != kept_rules_.end()) return found->second;
  constexpr double kTolerated = 1e-9;
  bool keeps = std::all_of(setting_.shares.begin(), setting_.shares.end(),
                           [&](const Shares& shares) { return shares.allows(x); });
  if (keeps && constrained_) keeps = setting_.settle(as_rows(x)).second.maxCoeff() <= kTolerated;
  kept_rules_.emplace(std::vector<double>(x.data(), x.data() + d), keeps);
  return keeps;
}

// Moves points that were played elsewhere into the slice.
Points MixedSpace::moved(const std::vector<const Point*>& asked, const Context& context) const {
  MatrixXd points(static_cast<Index>(asked.size()), setting_.box.inputs());
  for (Index i = 0; i < points.rows(); ++i) {
    const VectorXd& x = asked[static_cast<std::size_t>(i)]->x;
    set_row(points, i, x);
  }
  if (points.rows() == 0) return Points(0, setting_.width + setting_.contexts);
  const Settled found = settled(points, slice_of(context));
  Points kept(points.rows(), setting_.width);
  Index count = 0;
  for (Index i = 0; i < points.rows(); ++i) {
    if (found.playable(i)) copy_row(kept, count++, found.inputs, i);
  }
  return in_context(kept.topRows(count), context);
}

Points MixedSpace::in_context(const Points& inputs, const Context& context) const {
  Points X(inputs.rows(), setting_.width + setting_.contexts);
  X.leftCols(setting_.width) = inputs;
  for (Index c = 0; c < setting_.contexts; ++c) X.col(setting_.width + c).setConstant(context.values[c]);
  return X;
}

const Candidates& MixedSpace::candidates(const Context& context) {
  const bool same_slice = same_fixed(fixed_, context.fixed);
  if (candidates_.token && same_slice && context_ == context.values) return candidates_;
  if (!same_slice) {
    slice_ = slice_of(context);
    fixed_ = context.fixed;
    use_candidates(fixed_ ? fixed_->candidates : setting_.candidates);
  }
  candidates_.complete = false;
  candidates_.token = std::make_shared<const char>('\0');
  candidates_.X = in_context(points_, context);
  context_ = context.values;
  return candidates_;
}

Point MixedSpace::point(Index, Index, const VectorXd& inputs) const {
  if (inputs.size() != setting_.width + setting_.contexts || !inputs.allFinite()) {
    throw_invalid("there is no such point in the search space");
  }
  return Point::point(inputs);
}

bool MixedSpace::in_context(const Point& point, const Context& context) const {
  return segment_of(point.x, point.x.size() - setting_.contexts, setting_.contexts) == context.values;
}

// Uniform points, mixtures included, which have not been settled yet.
MatrixXd MixedSpace::drawn(const Slice& slice, Index count, Rng& rng) const {
  MatrixXd points(count, setting_.box.inputs());
  for (Index i = 0; i < count; ++i) {
    VectorXd x = slice.box.uniform(rng);
    for (const Shares& shares : slice.shares) {
      for (const Index input : shares.at()) x[input] = rng.uniform();
      shares.spread(x);
    }
    set_row(points, i, x);
  }
  return points;
}

// Samples points of the box until one is playable. If linear constraints leave only a small part of the box, the inputs
// that they name are sampled from their regions, of which there is one for each set of inputs that exist together.
Point MixedSpace::uniform(const Context& context, Rng& rng) const {
  const Slice slice = slice_of(context);
  const Index tries = setting_.settle ? kTries : 1;
  std::vector<Polytope> regions;
  std::unique_ptr<StreamRng> stream;
  for (int draw = 0; draw < kMostDraws; ++draw) {
    if (!setting_.linear.empty() && draw == kFewDraws) {
      for (const LinearRules& rules : setting_.linear) regions.emplace_back(rules, slice.box);
      stream = std::make_unique<StreamRng>(rng);
    }
    const MatrixXd points = drawn(slice, tries, rng);
    const Settled found = settled(regions.empty() ? points : moved_into(regions, points, *stream), slice);
    for (Index i = 0; i < found.inputs.rows(); ++i) {
      if (!found.playable(i)) continue;
      return Point::point(row_of(in_context(as_rows(row_of(found.inputs, i)), context), 0));
    }
  }
  const Points& spare = context.fixed ? context.fixed->candidates : setting_.candidates;
  const Index i = rng.index(spare.rows());
  return Point::point(row_of(in_context(as_rows(row_of(spare, i)), context), 0));
}

// Each point once for each region, with uniform values from it. (A point is playable with those of its own set of
// inputs, so a set has the share of points that it has in the box.)
MatrixXd MixedSpace::moved_into(const std::vector<Polytope>& regions, const MatrixXd& points, Rng& rng) {
  const auto sets = static_cast<Index>(regions.size());
  MatrixXd out(points.rows() * sets, points.cols());
  for (Index i = 0; i < out.rows(); ++i) out.row(i) = points.row(i / sets);
  for (Index set = 0; set < sets; ++set) {
    const Polytope& region = regions[static_cast<std::size_t>(set)];
    if (!region.found()) continue;
    const MatrixXd inside = region.points(points.rows(), rng);
    for (Index i = 0; i < points.rows(); ++i) {
      for (Index k = 0; k < inside.cols(); ++k) {
        out(i * sets + set, region.at()[static_cast<std::size_t>(k)]) = inside(i, k);
      }
    }
  }
  return out;
}

std::vector<Point> MixedSpace::all_points(const Context& context, double most) const {
  const Points& points = context.fixed ? context.fixed->candidates : setting_.candidates;
  std::vector<Point> out;
  if (!setting_.listed || static_cast<double>(points.rows()) > most) return out;
  const Points X = in_context(points, context);
  for (Index i = 0; i < X.rows(); ++i) out.push_back(Point::point(row_of(X, i)));
  return out;
}

bool MixedSpace::exists(const SearchPoint& search_point, Index input) const {
  const Index column = setting_.indicator[static_cast<std::size_t>(input)];
  return column < 0 || search_point.inputs[column] != 0.0;
}

// The mixture of which an input is a component, and the component's number; null if there is none.
const Shares* MixedSpace::shares_with(Index input, Index* part) const {
  for (const Shares& shares : slice_.shares) {
    const auto found = std::find(shares.at().begin(), shares.at().end(), input);
    if (found == shares.at().end()) continue;
    *part = static_cast<Index>(found - shares.at().begin());
    return &shares;
  }
  return nullptr;
}

// The inputs that a local search moves.
std::vector<Index> MixedSpace::free_inputs(const SearchPoint& search_point) const {
  std::vector<Index> out;
  for (Index c = 0; c < slice_.box.inputs(); ++c) {
    const bool number = !setting_.categorical[static_cast<std::size_t>(c)];
    if (number && slice_.box.moves(c) && exists(search_point, c)) out.push_back(c);
  }
  return out;
}

VectorXd MixedSpace::picked(const VectorXd& values, const std::vector<Index>& at) {
  VectorXd out(static_cast<Index>(at.size()));
  for (std::size_t i = 0; i < at.size(); ++i) out[static_cast<Index>(i)] = values[at[i]];
  return out;
}

// ---- the search -----------------------------------------------------------------

bool MixedSpace::far_apart(Index a, Index b) const {
  if (group_[static_cast<std::size_t>(a)] != group_[static_cast<std::size_t>(b)]) return true;
  const Index d = slice_.box.inputs();
  const VectorXd side = slice_.box.side();
  VectorXd gap(d);
  for (Index c = 0; c < d; ++c) gap[c] = (points_(a, c) - points_(b, c)) / std::max(side[c], 1e-300);
  return gap.norm() > kApart;
}

std::vector<Index> MixedSpace::starts(const VectorXd& scores) const {
  std::vector<Index> order;
  for (Index i = 0; i < scores.size(); ++i) {
    if (!std::isnan(scores[i])) order.push_back(i);
  }
  put_in_order(order, [&](Index a, Index b) { return scores[a] > scores[b]; });
  std::vector<Index> out;
  for (const Index i : order) {
    const auto near = [&](Index j) { return !far_apart(i, j); };
    if (out.size() < kBest && std::none_of(out.begin(), out.end(), near)) out.push_back(i);
  }
  if (groups_ > kFewGroups) return out;
  std::vector<char> begun(static_cast<std::size_t>(groups_), 0);
  const auto done = [&](Index i) -> char& {
    return begun[static_cast<std::size_t>(group_[static_cast<std::size_t>(i)])];
  };
  for (const Index i : out) done(i) = 1;
  for (const Index i : order) {
    if (!done(i)) out.push_back(i);
    done(i) = 1;
  }
  return out;
}

void MixedSpace::offer(std::vector<SearchPoint>& search_points, const std::vector<MatrixXd>& points,
                       const Query& query) const {
  const MatrixXd all = stacked(points);
  if (all.rows() == 0) return;
  const Settled found = settled(all);
  std::vector<Index> rows;
  std::vector<std::size_t> owners;
  Index row = 0;
  for (std::size_t s = 0; s < points.size(); ++s) {
    for (Index i = 0; i < points[s].rows(); ++i, ++row) {
      if (!found.playable(row)) continue;
      rows.push_back(row);
      owners.push_back(s);
    }
  }
  if (rows.empty()) return;
  Points inputs(static_cast<Index>(rows.size()), setting_.width);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    copy_row(inputs, static_cast<Index>(i), found.inputs, rows[i]);
  }
  const VectorXd values = query.score.at(in_context(inputs, query.context));
  for (Index i = 0; i < values.size(); ++i) {
    SearchPoint& search_point = search_points[owners[static_cast<std::size_t>(i)]];
    if (values[i] > search_point.value) search_point = {row_of(inputs, i), values[i]};
  }
}

MatrixXd MixedSpace::stacked(const std::vector<MatrixXd>& points) const {
  Index rows = 0;
  for (const MatrixXd& part : points) rows += part.rows();
  MatrixXd out(rows, slice_.box.inputs());
  Index row = 0;
  for (const MatrixXd& part : points) {
    if (part.rows() > 0) out.middleRows(row, part.rows()) = part;
    row += part.rows();
  }
  return out;
}

// Local searches and exchanges in turn, for each search point as long as it improves.
void MixedSpace::improve(std::vector<SearchPoint>& search_points, const Query& query) const {
  std::vector<std::size_t> going(search_points.size());
  std::iota(going.begin(), going.end(), std::size_t{0});
  for (int turn = 0; turn < kTurns && !going.empty(); ++turn) {
    std::vector<SearchPoint> moved;
    for (const std::size_t s : going) moved.push_back(search_points[s]);
    local_search(moved, query);
    exchange(moved, query);
    std::vector<std::size_t> still;
    for (std::size_t i = 0; i < going.size(); ++i) {
      SearchPoint& search_point = search_points[going[i]];
      if (moved[i].value > search_point.value + 1e-9 * query.score.unit()) still.push_back(going[i]);
      search_point = std::move(moved[i]);
    }
    going = std::move(still);
  }
}

// The best change of one level, of one integer by 1, or of several integers that keep a sum.
void MixedSpace::exchange(std::vector<SearchPoint>& search_points, const Query& query) const {
  std::vector<MatrixXd> points;
  for (const SearchPoint& search_point : search_points) points.push_back(exchanges(search_point));
  offer(search_points, points, query);
}

MatrixXd MixedSpace::exchanges(const SearchPoint& search_point) const {
  const Box& box = slice_.box;
  const VectorXd here = point_of(search_point);
  std::vector<std::pair<Index, double>> changes;
  for (Index c = 0; c < box.inputs(); ++c) {
    const auto k = static_cast<std::size_t>(c);
    if (!box.integer[k] || !exists(search_point, c)) continue;
    if (setting_.categorical[k]) {
      for (double code = box.lower[c]; code <= box.upper[c]; ++code) {
        if (code != here[c]) changes.emplace_back(c, code);
      }
      continue;
    }
    for (const double step : {-1.0, 1.0}) {
      const double to = box.logarithmic[k]
                            ? std::log(std::max(1.0, std::round(std::exp(here[c])) + step))
                            : here[c] + step;
      if (to >= box.lower[c] && to <= box.upper[c]) changes.emplace_back(c, to);
    }
  }
  MatrixXd points = as_rows(here, static_cast<Index>(changes.size()));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    points(static_cast<Index>(i), changes[i].first) = changes[i].second;
  }
  const auto add = [&](const MatrixXd& more) {
    const Index had = points.rows();
    points.conservativeResize(had + more.rows(), here.size());
    points.bottomRows(more.rows()) = more;
  };
  for (const Shares& shares : slice_.shares) add(shares.exchanges(here));
  if (lattice_moves_.rows() > 0) add(lattice_exchanges(here));
  return points;
}

// Moves integers forwards and backwards along each of the moves.
MatrixXd MixedSpace::lattice_exchanges(const VectorXd& here) const {
  const Box& box = slice_.box;
  MatrixXd points = as_rows(here, 2 * lattice_moves_.rows());
  for (Index i = 0; i < points.rows(); ++i) {
    const double sign = i % 2 == 0 ? 1.0 : -1.0;
    for (Index input = 0; input < box.inputs(); ++input) {
      const double by = sign * lattice_moves_(i / 2, input);
      if (by == 0.0) continue;
      const double from = here[input];
      points(i, input) = box.logarithmic[static_cast<std::size_t>(input)]
                             ? std::log(std::max(1.0, std::round(std::exp(from)) + by))
                             : from + by;
    }
  }
  return points;
}

// The best of points around a search point, at decreasing distances.
void MixedSpace::search_neighbours(SearchPoint& search_point, const Query& query, Index turns) const {
  const std::vector<Index> free = free_inputs(search_point);
  const auto d = static_cast<Index>(free.size());
  if (d == 0) return;
  const MatrixXd offsets = golden_points(kAround, d);  // of a cube whose centre is 0.5
  const VectorXd side = picked(slice_.box.side(), free);
  std::vector<SearchPoint> best{search_point};
  for (double reach = 0.1; reach > 1e-5; reach *= 0.1) {
    for (Index turn = 0; turn < turns; ++turn) {
      const double before = best[0].value;
      MatrixXd points = as_rows(point_of(best[0]), kAround);
      for (Index i = 0; i < d; ++i) {
        const Index c = free[static_cast<std::size_t>(i)];
        for (Index k = 0; k < kAround; ++k) points(k, c) += reach * side[i] * (2.0 * offsets(k, i) - 1.0);
      }
      offer(best, {points}, query);
      if (!(best[0].value > before)) break;
    }
  }
  search_point = best[0];
}

std::vector<MixedSpace::SearchPoint> MixedSpace::search_points_of(const Points& X, const Query& query) const {
  std::vector<SearchPoint> out;
  if (X.rows() == 0) return out;
  const VectorXd values = query.score.at(X);
  for (Index i = 0; i < X.rows(); ++i) out.push_back({row_of(X, i, 0, setting_.width), values[i]});
  return out;
}

Point MixedSpace::maximise(const Score& score, const Context& context, const Beginnings& from) {
  if (score.only_candidates()) {
    return Point::point(row_of(candidates_.X, score.best(candidates_)));
  }
  const Query query{score, context};
  VectorXd scores;
  score.values(candidates_, scores);
  std::vector<SearchPoint> search_points;
  for (const Index i : starts(scores)) {
    const VectorXd inputs = row_of(points_, i);
    search_points.push_back({inputs, score.at(in_context(as_rows(inputs), context)).value()});
  }
  if (const Point* best_observed = from.best()) {
    std::vector<SearchPoint> centre{{segment_of(best_observed->x, 0, setting_.width), -kInf}};
    offer(centre, {as_rows(point_of(centre[0]))}, query);
    search_neighbours(centre[0], query, 1);
    search_points.push_back(centre[0]);
  }
  const auto lower = [](const SearchPoint& a, const SearchPoint& b) { return a.value < b.value; };
  const std::vector<SearchPoint> played = search_points_of(from.played, query);
  const auto best_played = std::max_element(played.begin(), played.end(), lower);
  if (best_played != played.end()) search_points.push_back(*best_played);
  improve(search_points, query);
  SearchPoint best = *std::max_element(search_points.begin(), search_points.end(), lower);
  if (constrained_) search_neighbours(best, query, 3);
  // A played point is kept unless the other one is better by more than rounding errors.
  if (best_played != played.end() && best.value <= best_played->value + kTie * score.unit()) best = *best_played;
  return Point::point(row_of(in_context(as_rows(best.inputs), context), 0));
}

// ---- local searches -----------------------------------------------------------------------------

namespace {

// Local searches of a search space, from several search points in lockstep. A search itself evaluates the score only.
// If there are known constraints and a search ends outside them, it continues with multipliers for the excess. The
// constraints are linearised at that point by differences (one call for all searches). This is repeated at the new end
// point.

constexpr double kSmallStep = 1e-4;  // for differences of constraints, in sides of the box
constexpr Index kParts = 64;         // parts of the way back, one of which is divided again,
constexpr int kZooms = 5;            // at most this number of times
constexpr int kRounds = 3;           // of linearisation of constraints,
constexpr int kMultipliers = 8;      // and of updates of the multipliers,
constexpr double kKept = 1e-8;       // until the excess is at most this, in sides of the box

}  // namespace

// The path of one search point over its existing ordered inputs, relaxed to real numbers; the levels stay. `start`,
// `at`: the inputs that move, in sides of the box.
struct MixedSpace::SearchPath {
  SearchPoint* search_point;
  std::vector<Index> free;
  VectorXd from, lower, side, start, at;
  VectorXd upper;      // of the coordinates: 1, except for mixtures, whose components have a common unit
  bool mixes = false;  // are there components of mixtures among them?
  // The constraints near `centre`, as distances: excess + slopes' (at - centre).
  VectorXd centre, excess;
  MatrixXd slopes;
  Multipliers multipliers;  // none if constraints are not used

  VectorXd point(const VectorXd& u) const {
    VectorXd out = from;
    for (std::size_t i = 0; i < free.size(); ++i) {
      const auto k = static_cast<Index>(i);
      out[free[i]] = lower[k] + u[k] * side[k];
    }
    return out;
  }
  // Scales the constraints so that they are independent of their units.
  void measure_by_distance() {
    for (Index j = 0; j < excess.size(); ++j) {
      const double steepest = slopes.col(j).norm();
      if (!(steepest > 0.0)) continue;
      excess[j] /= steepest;
      slopes.col(j) /= steepest;
    }
  }
  VectorXd excess_at(const VectorXd& u) const { return excess + multiply_transposed(slopes, u - centre); }
  // The cost of the constraints; its slope is added to `slope`.
  double cost(const VectorXd& u, VectorXd& slope) const {
    if (multipliers.size() == 0) return 0.0;
    const VectorXd g = excess_at(u);
    VectorXd pressure(g.size());
    for (Index j = 0; j < g.size(); ++j) pressure[j] = multipliers.pressure(j, g[j]);
    slope += multiply(slopes, pressure);
    return multipliers.cost([&](Index j) { return g[j]; });
  }
};

void MixedSpace::local_search(std::vector<SearchPoint>& search_points, const Query& query) const {
  std::vector<SearchPath> paths;
  for (SearchPoint& search_point : search_points) {
    if (std::isfinite(search_point.value) &&
        !free_inputs(search_point).empty()) paths.push_back(path_from(search_point));
  }
  for (SearchPath& path : paths) go(path, query);
  if (constrained_) respect_constraints(paths, query);
  std::vector<MatrixXd> ends(search_points.size());
  for (const SearchPath& path : paths) {
    ends[static_cast<std::size_t>(path.search_point - search_points.data())] = as_rows(path.point(path.at));
  }
  offer(search_points, ends, query);
}

MixedSpace::SearchPath MixedSpace::path_from(SearchPoint& search_point) const {
  SearchPath path;
  path.search_point = &search_point;
  path.free = free_inputs(search_point);
  path.from = point_of(search_point);
  path.lower = picked(slice_.box.lower, path.free);
  path.side = picked(slice_.box.side(), path.free);
  path.upper = VectorXd::Ones(path.side.size());
  for (std::size_t i = 0; i < path.free.size(); ++i) {
    Index part = 0;
    const Shares* shares = shares_with(path.free[i], &part);
    if (!shares || !shares->has_sum()) continue;
    const auto k = static_cast<Index>(i);
    path.mixes = true;
    path.side[k] = shares->side() / shares->factor(part);
    path.lower[k] = shares->input_of(part, shares->lower(part));
    path.upper[k] = (shares->upper(part) - shares->lower(part)) / shares->side();
  }
  const VectorXd u = over(picked(path.from, path.free) - path.lower, path.side);
  path.start = path.at = clamped(u, VectorXd::Zero(u.size()), path.upper);
  return path;
}

// Maximises the score minus the cost of the constraints.
void MixedSpace::go(SearchPath& path, const Query& query) const {
  const double unit = query.score.unit();
  VectorXd x = joined(path.search_point->inputs, query.context.values), slope;
  const auto by_way = [&](const VectorXd& by_inputs) { return times(picked(by_inputs, path.free), path.side); };
  const auto move_to = [&](const VectorXd& u) {
    const VectorXd point = path.point(u);
    std::copy(point.data(), point.data() + point.size(), x.data());
  };
  const BoxMinimizer descent = [&](VectorXd& from, const Objective& fall) {
    if (!path.mixes) return minimize_(from, fall);
    projected_descent(from, fall, [&](const VectorXd& u) { return nearest_on(path, u); });
    return 0.0;
  };
  if (query.score.limited()) {
    const auto at = [&](const VectorXd& u) {
      move_to(u);
      LimitedValue here = query.score.within_limit(x);
      VectorXd falls = -1.0 * by_way(here.by_value) / unit;
      here.value = here.value / unit - path.cost(u, falls);
      here.by_value = -1.0 * falls;
      here.by_excess = by_way(here.by_excess);
      return here;
    };
    path.at = search_within(path.at, at, descent);
    return;
  }
  descent(path.at, [&](const VectorXd& u, VectorXd& gradient) {
    move_to(u);
    const double value = query.score.at(x, &slope);
    gradient = -1.0 * by_way(slope) / unit;
    return path.cost(u, gradient) - (value - path.search_point->value) / unit;
  });
}

// The nearest coordinates at which the mixtures' components have their original sums.
VectorXd MixedSpace::nearest_on(const SearchPath& path, const VectorXd& u) const {
  VectorXd out = clamped(u, VectorXd::Zero(u.size()), path.upper);
  for (const Shares& shares : slice_.shares) {
    if (!shares.has_sum()) continue;
    std::vector<Index> at;
    double total = 0.0;
    for (std::size_t i = 0; i < path.free.size(); ++i) {
      Index part = 0;
      if (shares_with(path.free[i], &part) != &shares) continue;
      at.push_back(static_cast<Index>(i));
      total += path.start[static_cast<Index>(i)];
    }
    if (at.empty()) continue;
    const VectorXd near = project_on_shares(picked(u, at), VectorXd::Zero(static_cast<Index>(at.size())),
                                            picked(path.upper, at), total);
    for (std::size_t i = 0; i < at.size(); ++i) out[at[i]] = near[static_cast<Index>(i)];
  }
  return out;
}

// Runs the searches with constraints. Paths that are still outside at the end are pulled back.
void MixedSpace::respect_constraints(std::vector<SearchPath>& paths, const Query& query) const {
  std::vector<SearchPath*> outside;
  for (SearchPath& path : paths) outside.push_back(&path);
  for (int round = 0; round < kRounds; ++round) {
    outside = linearised(outside);
    for (SearchPath* path : outside) {
      if (path->slopes.isZero(0.0)) continue;
      if (path->multipliers.size() == 0) path->multipliers = Multipliers(path->excess.size());
      for (int turn = 0; turn < kMultipliers; ++turn) {
        go(*path, query);
        if (path->multipliers.settle(path->excess_at(path->at), kKept)) break;
      }
    }
  }
  pull_back(outside);
}

// Linearises the constraints for the paths whose end violates them, and returns these paths.
std::vector<MixedSpace::SearchPath*> MixedSpace::linearised(const std::vector<SearchPath*>& paths) const {
  if (paths.empty()) return {};
  std::vector<MatrixXd> points;
  for (const SearchPath* path : paths) points.push_back(differences(*path));
  const Settled found = settled(stacked(points));
  std::vector<SearchPath*> outside;
  Index row = 0;
  for (SearchPath* path : paths) {
    const auto k = static_cast<Index>(path->free.size());
    if (!found.playable(row)) {
      path->centre = path->at;
      path->excess = row_of(found.excess, row);
      path->slopes.resize(k, found.excess.cols());
      for (Index i = 0; i < k; ++i) {
        const VectorXd change = row_of(found.excess, row + 1 + i) - row_of(found.excess, row + 1 + k + i);
        set_row(path->slopes, i, change / (2.0 * difference_step(*path, i)));
      }
      path->measure_by_distance();
      outside.push_back(path);
    }
    row += 2 * k + 1;
  }
  return outside;
}

// The step of a difference, in sides of the box.
double MixedSpace::difference_step(const SearchPath& path, Index i) const {
  const Index input = path.free[static_cast<std::size_t>(i)];
  const bool whole = slice_.box.integer[static_cast<std::size_t>(input)];
  return whole ? std::max(kSmallStep, 1.0 / path.side[i]) : kSmallStep;
}

// The end of a path, then a step forwards along each input, then a step backwards along each.
MatrixXd MixedSpace::differences(const SearchPath& path) const {
  const auto k = static_cast<Index>(path.free.size());
  MatrixXd points = as_rows(path.point(path.at), 2 * k + 1);
  for (Index i = 0; i < k; ++i) {
    const Index input = path.free[static_cast<std::size_t>(i)];
    const double step = difference_step(path, i) * path.side[i];
    points(1 + i, input) += step;
    points(1 + k + i, input) -= step;
  }
  return points;
}

// Moves each end back to the last point before the line first leaves the feasible region. The line is straight and
// begins at the path's start, which is feasible.
void MixedSpace::pull_back(const std::vector<SearchPath*>& paths) const {
  if (paths.empty()) return;
  const auto count = static_cast<Index>(paths.size());
  VectorXd good = VectorXd::Zero(count);  // proportions of the lines
  double width = 1.0;                     // of the part that is divided
  for (int zoom = 0; zoom < kZooms; ++zoom, width /= kParts) {
    std::vector<MatrixXd> points;
    for (Index w = 0; w < count; ++w) {
      const SearchPath& path = *paths[static_cast<std::size_t>(w)];
      MatrixXd line(kParts, slice_.box.inputs());
      for (Index i = 0; i < kParts; ++i) {
        const double share = good[w] + width * static_cast<double>(i + 1) / kParts;
        set_row(line, i, path.point(path.start + share * (path.at - path.start)));
      }
      points.push_back(std::move(line));
    }
    const Settled found = settled(stacked(points));
    for (Index w = 0; w < count; ++w) {
      Index last = 0;
      while (last < kParts && found.playable(w * kParts + last)) ++last;
      good[w] = std::min(1.0, good[w] + width * static_cast<double>(last) / kParts);
    }
  }
  for (Index w = 0; w < count; ++w) {
    SearchPath& path = *paths[static_cast<std::size_t>(w)];
    path.at = path.start + good[w] * (path.at - path.start);
  }
}

}  // namespace gpb
