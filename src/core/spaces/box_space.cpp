// Functions of box_space.h: a box, possibly with integer and logarithmic inputs, or the product of finitely many rows
// with a box. Uses base/ and posteriors/.
#include "spaces/box_space.h"

#include "base/golden_points.h"
#include "base/ordering.h"
#include "posteriors/best_point.h"
#include "spaces/arm_space.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// ---- boxes and products -------------------------------------------------------------------------

namespace {

constexpr Index kStarts = 3;           // local searches from the best candidates of a box,
constexpr Index kMostStarts = 10;      // and of a product of many rows
constexpr Index kMostCandidates = 8192;  // of all rows together, except for a few of each
constexpr Index kFewest = 32;
constexpr double kApart = 0.1;         // distance between starts, in sides of the box
constexpr Index kCornered = 5;         // up to this number of inputs, all corners are candidates
constexpr Index kNeighbours = 24;      // new points around the best point
constexpr Index kSlow = 5;  // from this number of inputs on candidates are screened and local searches are rough
constexpr double kRoughTolerance = 0.01;  // of local searches by a logarithm, before the best end is improved

// Points spread over the unit cube, and its corners, because the variance is often largest there.
MatrixXd candidate_points(Index d, Index rows) {
  if (d == 0) return MatrixXd(1, 0);
  const Index wanted = std::min<Index>(2048, 256 * (d + 1));
  const Index inner = std::min(wanted, std::max(kFewest, kMostCandidates / rows));
  const Index corners = d <= kCornered ? Index(1) << d : 0;
  MatrixXd out(inner + corners, d);
  out.topRows(inner) = golden_points(inner, d);
  for (Index i = 0; i < corners; ++i) {
    for (Index c = 0; c < d; ++c) out(inner + i, c) = static_cast<double>((i >> c) & 1);
  }
  return out;
}

}  // namespace

// ---- a box space ------------------------------------------------------------

BoxSpace::BoxSpace(KernelPtr kernel, MatrixXd rows, bool numbered, Box box, Index contexts,
                   PriorMean prior_mean, const OpenEngine& engine, const Minimizers& minimizers, MatrixXd first)
    : kernel_(std::move(kernel)),
      rows_(std::move(rows)),
      numbered_(numbered),
      box_(std::move(box)),
      chart_(box_),
      contexts_(contexts),
      prior_mean_(std::move(prior_mean)),
      engine_(engine),
      minimize_(minimizers(kSearchTolerance)),
      minimize_roughly_(minimizers(kRoughTolerance)),
      first_(std::move(first)) {
  if (first_.rows() > 0 && first_.cols() != box_.inputs()) {
    throw_invalid("the first candidates and the box differ in their number of inputs");
  }
  if (rows_.rows() < 1) throw_invalid("a product needs at least one row");
  spread();
  Context origin;
  origin.values = VectorXd::Zero(contexts_);
  VectorXd variance(actions_.rows() * rows_.rows());
  kernel_->diagonal(candidates(origin).X, variance);
  prior_scale_ = std::sqrt(std::max(0.0, variance.maxCoeff()));
}

std::unique_ptr<Posterior> BoxSpace::make_posterior(double noise_var,
                                                    const Forgetting& forgetting) const {
  return std::make_unique<OpenPosterior>(kernel_, noise_var, prior_mean_, forgetting, engine_);
}

// Makes the candidates of one row.
void BoxSpace::spread() {
  const MatrixXd u = candidate_points(chart_.coordinates(), rows_.rows());
  const Index before = fixed_ ? 0 : first_.rows();
  actions_.resize(before + u.rows(), box_.inputs());
  if (before > 0) actions_.topRows(before) = first_;
  for (Index i = 0; i < u.rows(); ++i) {
    set_row(actions_, before + i, chart_.box().snap(chart_.quantiles(row_of(u, i))));
  }
}

Chart BoxSpace::chart_of(const Context& context) const {
  return Chart(context.fixed ? box_.slice(*context.fixed, rows_.cols()) : box_);
}

// ---- points -----------------------------------------------------------------

Points BoxSpace::inputs_of(Index row, const MatrixXd& actions, const Context& context) const {
  const Index own = rows_.cols(), d = box_.inputs();
  Points X(actions.rows(), own + d + contexts_ + (numbered_ ? 1 : 0));
  for (Index c = 0; c < own; ++c) X.col(c).setConstant(rows_(row, c));
  X.middleCols(own, d) = actions;
  for (Index c = 0; c < contexts_; ++c) X.col(own + d + c).setConstant(context.values[c]);
  if (numbered_) X.col(X.cols() - 1).setConstant(static_cast<double>(row));
  return X;
}

VectorXd BoxSpace::input_of(const SearchPoint& search_point, const Context& context) const {
  const Index own = rows_.cols(), d = search_point.actions.size();
  VectorXd x(own + d + contexts_ + (numbered_ ? 1 : 0));
  for (Index c = 0; c < own; ++c) x[c] = rows_(search_point.row, c);
  for (Index c = 0; c < d; ++c) x[own + c] = search_point.actions[c];
  for (Index c = 0; c < contexts_; ++c) x[own + d + c] = context.values[c];
  if (numbered_) x[x.size() - 1] = static_cast<double>(search_point.row);
  return x;
}

Point BoxSpace::point_of(const SearchPoint& search_point, const Context& context) const {
  VectorXd x = input_of(search_point, context);
  return numbered_ ? Point::numbered(search_point.row, std::move(x)) : Point::point(std::move(x));
}

BoxSpace::SearchPoint BoxSpace::search_point_of(const Point& point) const {
  return {numbered_ ? point.arm : 0, segment_of(point.x, rows_.cols(), box_.inputs())};
}

std::vector<Point> BoxSpace::all_points(const Context& context, double most) const {
  std::vector<Point> out;
  const MatrixXd actions = chart_of(context).box().points(most / static_cast<double>(rows_.rows()));
  for (Index row = 0; row < rows_.rows(); ++row) {
    for (Index i = 0; i < actions.rows() && context.allows(row); ++i) {
      out.push_back(point_of({row, row_of(actions, i)}, context));
    }
  }
  return out;
}

Point BoxSpace::point(Index arm, Index, const VectorXd& inputs) const {
  const Index own = rows_.cols(), d = box_.inputs();
  const bool right = inputs.size() == own + d + contexts_ && inputs.allFinite() &&
                     (!numbered_ || (arm >= 0 && arm < rows_.rows()));
  if (!right) throw_invalid("there is no such point in the box");
  Context context;
  context.values = segment_of(inputs, inputs.size() - contexts_, contexts_);
  VectorXd x = input_of({numbered_ ? arm : 0, segment_of(inputs, own, d)}, context);
  return numbered_ ? Point::numbered(arm, std::move(x)) : Point::point(std::move(x));
}

bool BoxSpace::in_context(const Point& point, const Context& context) const {
  const Index first = rows_.cols() + box_.inputs();
  return contexts_ == 0 || segment_of(point.x, first, contexts_) == context.values;
}

// A point of a row that is not allowed is moved to the only allowed row, if there is exactly one.
Points BoxSpace::moved(const std::vector<const Point*>& points, const Context& context) const {
  const Box slice = chart_of(context).box();
  Index allowed = 0, last = 0;
  for (Index row = 0; row < rows_.rows(); ++row) {
    if (!context.allows(row)) continue;
    ++allowed;
    last = row;
  }
  std::vector<SearchPoint> search_points;
  for (const Point* point : points) {
    SearchPoint search_point = search_point_of(*point);
    if (!context.allows(search_point.row)) {
      if (allowed != 1) continue;
      search_point.row = last;
    }
    search_point.actions = slice.snap(search_point.actions);
    search_points.push_back(std::move(search_point));
  }
  return inputs_of(search_points, context);
}

double BoxSpace::largest_prior_mean(const Context& context) const {
  return largest_of_arms(prior_mean_, context, rows_.rows());
}

double BoxSpace::prior_mean(const Point& point) const { return prior_mean_.at(point.x); }

Point BoxSpace::uniform(const Context& context, Rng& rng) const {
  SearchPoint search_point;
  if (rows_.rows() > 1) search_point.row = draw_arm(context, rows_.rows(), rng);
  const Box here = chart_of(context).box();
  search_point.actions = here.snap(here.uniform(rng));
  return point_of(search_point, context);
}

const Candidates& BoxSpace::candidates(const Context& context) {
  const bool same_slice = same_fixed(fixed_, context.fixed);
  if (candidates_.token && same_slice && context_ == context.values) return candidates_;
  if (!same_slice) {
    chart_ = chart_of(context);
    fixed_ = context.fixed;
    spread();
  }
  const Index each = actions_.rows();
  candidates_.complete = false;
  candidates_.token = std::make_shared<const char>('\0');
  for (Index row = 0; row < rows_.rows(); ++row) {
    const Points X = inputs_of(row, actions_, context);
    if (row == 0) candidates_.X.resize(each * rows_.rows(), X.cols());
    candidates_.X.middleRows(row * each, each) = X;
  }
  context_ = context.values;
  return candidates_;
}

// ---- the search -------------------------------------------------------------

// Start points: the best candidates, with a minimum distance from each other, and the best neighbour of the point with
// the best mean.
std::vector<BoxSpace::SearchPoint> BoxSpace::starts(const Score& score, const Context& context,
                                             const Point* point) const {
  VectorXd scores;
  if (rows_.rows() == 1 && box_.inputs() >= kSlow) score.screen(candidates_, scores);
  else score.values(candidates_, scores);
  const Index each = actions_.rows();
  const auto wanted =
      static_cast<std::size_t>(std::min(kMostStarts, kStarts + rows_.rows() - 1));
  std::vector<SearchPoint> out;
  // Candidates that are excluded: close to a start, or of a row that cannot be played.
  std::vector<char> near(static_cast<std::size_t>(scores.size()), 0);
  for (Index i = 0; i < scores.size(); ++i) {
    near[static_cast<std::size_t>(i)] = !context.allows(i / each);
  }
  while (out.size() < wanted) {
    Index best = -1;
    for (Index i = 0; i < scores.size(); ++i) {
      if (near[static_cast<std::size_t>(i)] || std::isnan(scores[i])) continue;
      if (best < 0 || scores[i] > scores[best]) best = i;
    }
    if (best < 0) break;
    const Index row = best / each;
    const VectorXd actions = row_of(actions_, best % each);
    out.push_back({row, actions});
    for (Index i = 0; i < each; ++i) {
      if (chart_.distance(row_of(actions_, i), actions) <= kApart) near[static_cast<std::size_t>(row * each + i)] = 1;
    }
  }
  if (point && (!numbered_ || context.allows(point->arm))) {
    out.push_back(best_neighbour(search_point_of(*point), score, context));
  }
  return out;
}

// The best of a point and of points around it, at decreasing distances.
BoxSpace::SearchPoint BoxSpace::best_neighbour(const SearchPoint& centre, const Score& score,
                                        const Context& context) const {
  const Box& box = chart_.box();
  const Index d = box.inputs();
  const VectorXd side = box.side();
  const MatrixXd offsets = golden_points(kNeighbours, d);  // of a cube whose centre is 0.5
  MatrixXd actions(kNeighbours + 1, d);
  set_row(actions, 0, box.snap(centre.actions));
  for (Index i = 0; i < kNeighbours; ++i) {
    const double reach = 0.2 * std::pow(0.1, static_cast<double>(i % 4));
    VectorXd moved = centre.actions;
    for (Index c = 0; c < d; ++c) moved[c] += reach * ((offsets(i, c) - 0.5) * side[c]);
    set_row(actions, i + 1, box.snap(moved));
  }
  Index best = 0;
  score.sketches(inputs_of(centre.row, actions, context)).maxCoeff(&best);
  return {centre.row, row_of(actions, best)};
}

std::vector<BoxSpace::SearchPoint> BoxSpace::search_points_of(const Points& X) const {
  std::vector<SearchPoint> out;
  for (Index i = 0; i < X.rows(); ++i) {
    const VectorXd x = row_of(X, i);
    out.push_back({numbered_ ? static_cast<Index>(x[x.size() - 1]) : 0, segment_of(x, rows_.cols(), box_.inputs())});
  }
  return out;
}

// Adds the best few, with a minimum distance from each other and from the present starts.
void BoxSpace::add_best(const std::vector<SearchPoint>& search_points, const Score& score, const Context& context,
                        std::vector<SearchPoint>& starts) const {
  if (search_points.empty()) return;
  const VectorXd values = score.at(inputs_of(search_points, context));
  const auto order = stable_order(values.size(), [&](Index a, Index b) { return values[a] > values[b]; });
  Index added = 0;
  for (const Index i : order) {
    const SearchPoint& search_point = search_points[static_cast<std::size_t>(i)];
    const bool near = std::any_of(starts.begin(), starts.end(), [&](const SearchPoint& start) {
      return start.row == search_point.row && chart_.distance(start.actions, search_point.actions) <= kApart;
    });
    if (near && added > 0) continue;
    starts.push_back(search_point);
    if (++added == kStarts) return;
  }
}

BoxSpace::SearchPoint BoxSpace::local_search(const SearchPoint& start, double from, const Score& score, Height height,
                               const Context& context, const BoxMinimizer& minimize) const {
  const Index own = rows_.cols(), d = box_.inputs();
  // The minimiser's tolerances are absolute, so scores are divided by their unit and start at 0.
  const double unit = score.unit();
  if (!std::isfinite(from) || chart_.coordinates() == 0) return start;
  VectorXd u = chart_.coordinates_of(start.actions);
  if (score.limited()) {
    const auto at = [&](const VectorXd& here) {
      LimitedValue found = score.within_limit(input_of({start.row, chart_.inputs(here)}, context));
      found.value /= unit;
      found.by_value = chart_.slope(segment_of(found.by_value, own, d)) / unit;
      found.by_excess = chart_.slope(segment_of(found.by_excess, own, d));
      return found;
    };
    return {start.row, chart_.box().snap(chart_.inputs(search_within(u, at, minimize)))};
  }
  minimize(u, [&](const VectorXd& at, VectorXd& gradient) {
    VectorXd slope;
    const VectorXd x = input_of({start.row, chart_.inputs(at)}, context);
    const double value = (score.*height)(x, &slope);
    gradient = -1.0 * chart_.slope(segment_of(slope, own, d)) / unit;
    return -(value - from) / unit;
  });
  return {start.row, chart_.box().snap(chart_.inputs(u))};
}

Points BoxSpace::inputs_of(const std::vector<SearchPoint>& search_points, const Context& context) const {
  Points X(static_cast<Index>(search_points.size()), candidates_.X.cols());
  for (Index k = 0; k < X.rows(); ++k) {
    set_row(X, k, input_of(search_points[static_cast<std::size_t>(k)], context));
  }
  return X;
}

Point BoxSpace::maximise(const Score& score, const Context& context, const Beginnings& from) {
  if (score.only_candidates()) {
    const Index each = actions_.rows();
    VectorXd values;
    score.values(candidates_, values);
    for (Index i = 0; i < values.size(); ++i) {
      if (!context.allows(i / each)) values[i] = -kInf;
    }
    const Index best = first_best(values.data(), values.size(), kTie * score.unit());
    return point_of({best / each, row_of(actions_, best % each)}, context);
  }
  const Height exactly = &Score::at;
  // The searches from all starts use a sketch of the score if it is faster, and are rough if it is a logarithm. Then
  // only the best end is improved, with the score itself.
  const bool sketched = score.can_sketch();
  const bool rough = box_.inputs() >= kSlow && score.logarithmic() && !score.limited();
  std::vector<SearchPoint> began = starts(score, context, from.best());
  if (began.empty()) throw_invalid("the acquisition value is NaN at every candidate");
  // Played points come first: another point must be better by more than rounding errors.
  std::vector<SearchPoint> search_points = search_points_of(from.played);
  const double tie = search_points.empty() ? 0.0 : kTie * score.unit();
  if (score.limited()) add_best(search_points, score, context, began);
  search_points.insert(search_points.end(), began.begin(), began.end());
  const VectorXd heights = score.sketches(inputs_of(began, context));
  for (std::size_t k = 0; k < began.size(); ++k) {
    search_points.push_back(local_search(began[k], heights[static_cast<Index>(k)], score,
                          sketched ? &Score::sketch : exactly, context,
                          rough ? minimize_roughly_ : minimize_));
  }
  const SearchPoint best = best_of(search_points, score, context, tie);
  if (!sketched && !rough) return point_of(best, context);
  VectorXd slope;
  const double height = score.at(input_of(best, context), &slope);
  return point_of(best_of({best, local_search(best, height, score, exactly, context, minimize_)}, score, context, tie),
                  context);
}

// The first of the best.
BoxSpace::SearchPoint BoxSpace::best_of(const std::vector<SearchPoint>& search_points, const Score& score,
                                 const Context& context, double tie) const {
  const Points X = inputs_of(search_points, context);
  const LowRankPosterior* low = low_rank_of(score);
  if (low && low->corrects()) {
    RisingScore rising = rising_score(score);
    rising.tie = tie;
    return search_points[static_cast<std::size_t>(best_point(rising, *low, X, prior_mean_.at(X)))];
  }
  const VectorXd values = score.at(X);
  return search_points[static_cast<std::size_t>(first_best(values.data(), values.size(), tie))];
}

}  // namespace gpb
