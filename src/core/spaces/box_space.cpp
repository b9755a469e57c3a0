// Boxes and products, arms (also very many, and in open contexts), and any space from settings. Uses kernels/,
// posteriors/ and scores/.
#include "spaces/box_space.h"
#include "spaces/make_space.h"
#include "spaces/arm_setting.h"
#include "spaces/arm_space.h"
#include "spaces/many_arm_space.h"
#include "spaces/open_arm_space.h"

#include "base/golden_points.h"
#include "base/ordering.h"
#include "events/pending.h"
#include "kernels/make_kernel.h"
#include "posteriors/best_point.h"
#include "posteriors/played_posterior.h"
#include "posteriors/root_posterior.h"
#include "posteriors/table_posterior.h"
#include "spaces/mixed_space.h"
#include "spaces/mixture_space.h"
#include "spaces/transfer_space.h"

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

VectorXd Box::snap(VectorXd x) const {
  for (Index c = 0; c < inputs(); ++c) {
    const auto k = static_cast<std::size_t>(c);
    if (integer[k]) x[c] = logarithmic[k] ? std::log(std::round(std::exp(x[c]))) : std::round(x[c]);
    x[c] = std::min(std::max(x[c], lower[c]), upper[c]);
  }
  return x;
}

double Box::quantile(Index input, double u) const {
  const auto k = static_cast<std::size_t>(input);
  const double low = lower[input], high = upper[input];
  if (!integer[k] || !moves(input)) return low + u * (high - low);
  if (!logarithmic[k]) return std::min(std::floor(low + u * (high - low + 1.0)), high);
  const double first = std::round(std::exp(low)), last = std::round(std::exp(high));
  return std::min(std::max(std::log(std::floor(first * std::pow((last + 1.0) / first, u))), low), high);
}

VectorXd Box::uniform(Rng& rng) const {
  VectorXd x(inputs());
  for (Index c = 0; c < inputs(); ++c) x[c] = quantile(c, rng.uniform());
  return x;
}

MatrixXd Box::points(double most) const {
  std::vector<std::vector<double>> values;
  double count = 1.0;
  for (Index c = 0; c < inputs(); ++c) {
    const auto k = static_cast<std::size_t>(c);
    const auto bound = [&](double at) { return logarithmic[k] ? std::round(std::exp(at)) : at; };
    if (moves(c) && (!integer[k] || bound(upper[c]) - bound(lower[c]) >= most)) return MatrixXd(0, inputs());
    values.emplace_back();
    for (double at = bound(lower[c]); at <= bound(upper[c]); ++at) {
      values.back().push_back(logarithmic[k] ? std::log(at) : at);
    }
    if (!moves(c)) values.back() = {lower[c]};
    count *= static_cast<double>(values.back().size());
    if (count > most) return MatrixXd(0, inputs());
  }
  MatrixXd out(static_cast<Index>(count), inputs());
  Index each = 1;
  for (Index c = 0; c < inputs(); ++c) {
    const std::vector<double>& of_input = values[static_cast<std::size_t>(c)];
    const auto size = static_cast<Index>(of_input.size());
    for (Index i = 0; i < out.rows(); ++i) out(i, c) = of_input[static_cast<std::size_t>(i / each % size)];
    each *= size;
  }
  return out;
}

Box Box::slice(const Fixed& fixed, Index first) const {
  Box out = *this;
  for (std::size_t k = 0; k < fixed.at.size(); ++k) {
    const Index c = fixed.at[k] - first;
    if (c < 0 || c >= inputs()) throw std::invalid_argument("an input cannot be fixed here");
    out.lower[c] = out.upper[c] = fixed.values[static_cast<Index>(k)];
  }
  return out;
}

// ---- charts -----------------------------------------------------------------

Chart::Chart(Box box) : box_(std::move(box)) {
  for (Index c = 0; c < box_.inputs(); ++c) {
    if (box_.moves(c)) moving_.push_back(c);
  }
}

VectorXd Chart::inputs(const VectorXd& u) const {
  VectorXd x = box_.lower;
  for (std::size_t k = 0; k < moving_.size(); ++k) {
    const Index c = moving_[k];
    x[c] = box_.lower[c] + u[static_cast<Index>(k)] * (box_.upper[c] - box_.lower[c]);
  }
  return x;
}

VectorXd Chart::quantiles(const VectorXd& u) const {
  VectorXd x = box_.lower;
  for (std::size_t k = 0; k < moving_.size(); ++k) x[moving_[k]] = box_.quantile(moving_[k], u[static_cast<Index>(k)]);
  return x;
}

VectorXd Chart::coordinates_of(const VectorXd& x) const {
  VectorXd u(coordinates());
  for (std::size_t k = 0; k < moving_.size(); ++k) {
    const Index c = moving_[k];
    const double share = (x[c] - box_.lower[c]) / (box_.upper[c] - box_.lower[c]);
    u[static_cast<Index>(k)] = std::min(std::max(share, 0.0), 1.0);
  }
  return u;
}

VectorXd Chart::slope(const VectorXd& by_inputs) const {
  VectorXd out(coordinates());
  for (std::size_t k = 0; k < moving_.size(); ++k) {
    const Index c = moving_[k];
    out[static_cast<Index>(k)] = by_inputs[c] * (box_.upper[c] - box_.lower[c]);
  }
  return out;
}

double Chart::distance(const VectorXd& x, const VectorXd& y) const {
  VectorXd gap(coordinates());
  for (std::size_t k = 0; k < moving_.size(); ++k) {
    const Index c = moving_[k];
    gap[static_cast<Index>(k)] = (x[c] - y[c]) / (box_.upper[c] - box_.lower[c]);
  }
  return gap.norm();
}

// ---- a box space ------------------------------------------------------------

BoxSpace::BoxSpace(KernelPtr kernel, MatrixXd rows, bool numbered, Box box, Index contexts,
                   VectorXd prior_mean, const OpenEngine& engine, BoxMinimizer minimize, MatrixXd first)
    : kernel_(std::move(kernel)),
      rows_(std::move(rows)),
      numbered_(numbered),
      box_(std::move(box)),
      chart_(box_),
      contexts_(contexts),
      prior_mean_(std::move(prior_mean)),
      engine_(engine),
      minimize_(std::move(minimize)),
      first_(std::move(first)) {
  if (first_.rows() > 0 && first_.cols() != box_.inputs()) {
    throw std::invalid_argument("the first candidates and the box differ in their number of inputs");
  }
  if (rows_.rows() < 1) throw std::invalid_argument("a product needs at least one row");
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
  if (!right) throw std::invalid_argument("there is no such point in the box");
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
  score.values(candidates_, scores);
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
                               const Context& context) const {
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
    return {start.row, chart_.box().snap(chart_.inputs(search_within(u, at, minimize_)))};
  }
  minimize_(u, [&](const VectorXd& at, VectorXd& gradient) {
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
  // If a sketch of the score is faster, it is used first. Then only the best end is improved with the score itself.
  const bool sketched = score.can_sketch();
  std::vector<SearchPoint> began = starts(score, context, from.best);
  if (began.empty()) throw std::invalid_argument("the acquisition value is NaN at every candidate");
  // Played points come first: another point must be better by more than rounding errors.
  std::vector<SearchPoint> search_points = search_points_of(from.played);
  const double tie = search_points.empty() ? 0.0 : kTie * score.unit();
  if (score.limited()) add_best(search_points, score, context, began);
  search_points.insert(search_points.end(), began.begin(), began.end());
  const VectorXd heights = score.sketches(inputs_of(began, context));
  for (std::size_t k = 0; k < began.size(); ++k) {
    search_points.push_back(local_search(began[k], heights[static_cast<Index>(k)], score,
                          sketched ? &Score::sketch : exactly, context));
  }
  const SearchPoint best = best_of(search_points, score, context, tie);
  if (!sketched) return point_of(best, context);
  VectorXd slope;
  const double height = score.at(input_of(best, context), &slope);
  return point_of(best_of({best, local_search(best, height, score, exactly, context)}, score, context, tie),
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

// ---- any space, from its settings ---------------------------------------------------------------

namespace {

Box box_of(const Settings& space) {
  Box box;
  box.lower = space.numbers("lower");
  box.upper = space.numbers("upper");
  box.integer = space.flags("integer");
  box.logarithmic = space.flags("log");
  return box;
}

MixedSetting mixed_setting(const Settings& space) {
  MixedSetting out;
  out.box = box_of(space);
  out.categorical = space.flags("categorical");
  const VectorXd indicator = space.numbers("indicator");
  for (Index c = 0; c < indicator.size(); ++c) {
    out.indicator.push_back(static_cast<Index>(indicator[c]));
  }
  out.candidates = space.matrix("candidates");
  out.width = out.candidates.cols();
  out.contexts = space.count("contexts");
  if (space.has("shares")) {
    for (const auto& part : space.parts("shares")) out.shares.push_back(make_shares(*part));
  }
  if (space.has("settle")) out.settle = space.settle("settle");
  if (space.has("linear")) out.linear = std::make_shared<const LinearRules>(make_linear_rules(*space.part("linear")));
  return out;
}

// Use LazyArms or the engines of open inputs for these arms?
bool wants_many_arms(const Settings& bandit, Index arms, const PolicyTraits& policy) {
  const std::string engine = bandit.text("engine");
  if (engine == "lowrank" || engine == "dense") return true;
  // Sds can increase with windows and weights, and a score of two posteriors has no bounds.
  return engine == "auto" && arms >= kManyArms && policy.rises && !bandit.has("changes") &&
         !make_pending(*bandit.part("pending"))->variance_knows();
}

// Does each round need exact predictions at a few points only? Local searches end at few points. For arms, bounds must
// rule out most of them; a score of two posteriors and a penalised score have no such bounds.
bool asks_for_few(const Settings& bandit, const std::string& kind, const PolicyTraits& policy) {
  const auto pending = make_pending(*bandit.part("pending"));
  const bool bounds = !pending->variance_knows() && !pending->penalises();
  return policy.rises && (kind == "box" || (kind == "open" && bounds));
}

std::unique_ptr<Space> make_arms(const Settings& bandit, const Settings& space,
                                 const PolicyTraits& policy) {
  const std::string engine = bandit.text("engine");
  const Index arms = space.count("arms");
  const auto table = std::make_shared<const ArmTable>(
      make_kernel(*bandit.part("kernel")), std::make_shared<const Points>(space.matrix("points")));
  VectorXd mean = space.numbers("prior_mean");
  if (bandit.has("transfer")) {
    // This space is only used for points and searches, because posteriors are made over all campaigns.
    return std::make_unique<ArmSpace>(ArmSetting{table, ArmSetting::Engine::played, nullptr}, std::move(mean), arms);
  }
  if (arms == table->size() && wants_many_arms(bandit, arms, policy)) {
    const auto open =
        OpenEngine::of(engine == "dense" ? "dense" : "lowrank", bandit.number("accuracy"));
    return std::make_unique<ManyArmSpace>(table, std::move(mean), open);
  }
  return std::make_unique<ArmSpace>(
      make_arm_setting(table, bandit.number("noise_var"), engine, policy.draws),
      std::move(mean), arms);
}

std::unique_ptr<Space> make_mixture(const Settings& bandit, const PolicyTraits& policy,
                                    const BoxMinimizer& minimize) {
  std::vector<MixtureSpace::Model> models;
  for (const auto& one : bandit.parts("models")) {
    models.push_back({make_space(*one, policy, minimize), one->number("noise_var"),
                      one->number("weight")});
  }
  return std::make_unique<MixtureSpace>(std::move(models), bandit.number("noise_var"));
}

// `transfer`: rows of earlier campaigns, their means, and the covariance of all campaigns.
std::unique_ptr<Space> with_transfer(std::unique_ptr<Space> space, const Settings& bandit) {
  const auto transfer = bandit.part("transfer");
  TransferRows rows;
  rows.inputs = transfer->matrix("inputs");
  rows.noise_var = transfer->numbers("noise_var");
  rows.values = transfer->numbers("values");
  const VectorXd campaign_mean = transfer->numbers("mean");
  for (Index i = 0; i < rows.values.size(); ++i) {
    rows.values[i] -= campaign_mean[static_cast<Index>(rows.inputs(i, rows.inputs.cols() - 1)) - 1];
  }
  const std::string engine = bandit.text("engine") == "lowrank" ? "lowrank" : "dense";
  const KernelPtr kernel = make_kernel(*bandit.part("kernel"));
  return std::make_unique<TransferSpace>(std::move(space), *kernel, transfer->matrix("covariance"),
                                        bandit.part("space")->numbers("prior_mean")[0],
                                        std::make_shared<const TransferRows>(std::move(rows)),
                                        OpenEngine::of(engine, bandit.number("accuracy")));
}

std::unique_ptr<Space> make_plain_space(const Settings& bandit, const PolicyTraits& policy,
                                        BoxMinimizer minimize) {
  const auto space = bandit.part("space");
  const std::string kind = space->text("kind");
  const KernelPtr kernel = make_kernel(*bandit.part("kernel"));
  if (kind == "table") return make_arms(bandit, *space, policy);
  auto engine = OpenEngine::of(bandit.text("engine"), bandit.number("accuracy"));
  engine.sparse = bandit.has("sparse");
  if (asks_for_few(bandit, kind, policy)) engine.answers = LowRankAnswers::corrected;
  if (kind == "open") {
    return std::make_unique<OpenArmSpace>(kernel, space->matrix("points"),
                                          space->count("contexts"),
                                          space->numbers("prior_mean"), engine);
  }
  if (kind == "mixed") {
    return std::make_unique<MixedSpace>(kernel, mixed_setting(*space), space->numbers("prior_mean"),
                                        engine, std::move(minimize));
  }
  if (kind != "box") throw std::invalid_argument("unknown space " + kind);
  return std::make_unique<BoxSpace>(kernel, space->matrix("rows"), space->flag("numbered"),
                                    box_of(*space), space->count("contexts"),
                                    space->numbers("prior_mean"), engine, std::move(minimize),
                                    space->has("first") ? space->matrix("first") : MatrixXd());
}

}  // namespace

std::unique_ptr<Space> make_space(const Settings& bandit, const PolicyTraits& policy,
                                  BoxMinimizer minimize) {
  if (bandit.has("models")) return make_mixture(bandit, policy, minimize);
  auto space = make_plain_space(bandit, policy, std::move(minimize));
  return bandit.has("transfer") ? with_transfer(std::move(space), bandit) : std::move(space);
}

// ---- the table of arms and its engine -----------------------------------------------------------

namespace {
constexpr Index kSmall = 64;         // full rank up to this size, for every kernel
constexpr Index kLargestRank = 5000; // no n x n matrix above this size
constexpr double kTrialCost = 1e8;   // n r^2 that may be spent on the search for a short factor
}  // namespace

std::unique_ptr<ArmPosterior> ArmSetting::make_engine(double noise_var, VectorXd prior_mean,
                                                      bool drifts) const {
  if (engine == Engine::played) {
    return std::make_unique<PlayedPosterior>(table, noise_var, std::move(prior_mean));
  }
  // A drift step updates the covariance of the weights, at r^3.
  if (prefers_arm_root(*basis) && !drifts) {
    return std::make_unique<RootPosterior>(table, basis, noise_var, std::move(prior_mean));
  }
  return std::make_unique<WeightPosterior>(table, basis, noise_var, std::move(prior_mean));
}

ArmSetting make_arm_setting(ArmTablePtr table, double noise_var, const std::string& engine,
                            bool needs_draws) {
  const Index n = table->size();
  const double tolerance =
      pivot_tolerance(table->prior_scale * table->prior_scale, noise_var);
  const bool demanded = engine == "weights" || needs_draws;
  Index limit = 0;
  if (demanded || n <= kSmall) {
    limit = std::min(n, kLargestRank);
  } else {
    limit = static_cast<Index>(std::sqrt(kTrialCost / static_cast<double>(n)));
    limit = std::max(kSmall, std::min(n / 8, limit));
  }
  if (demanded || engine == "auto") {
    LowRank basis = pivoted_cholesky(*table->kernel, *table->points, tolerance, limit);
    if (basis.complete) {
      return {table, ArmSetting::Engine::weights, std::make_shared<const LowRank>(std::move(basis))};
    }
    if (demanded) {
      throw std::invalid_argument("`kernel` must have a rank of at most " + std::to_string(limit) +
                                  " over the arms of `domain`, for Thompson sampling and the weight-space " +
                                  "engine, which keep a factor of that rank: a smoother one, or fewer arms");
    }
  }
  return {table, ArmSetting::Engine::played, nullptr};
}

// ---- arms ---------------------------------------------------------------------------------------

Index draw_arm(const Context& context, Index arms, Rng& rng) {
  if (!context.eligible) return rng.index(arms);
  std::vector<Index> allowed;
  for (Index arm = 0; arm < arms; ++arm) {
    if (context.allows(arm)) allowed.push_back(arm);
  }
  return allowed[static_cast<std::size_t>(rng.index(static_cast<Index>(allowed.size())))];
}

double largest_of_arms(const PriorMean& mean, const Context& context, Index arms) {
  if (!context.eligible) return mean.largest();
  double largest = -kInf;
  for (Index arm = 0; arm < arms; ++arm) {
    if (context.allows(arm)) largest = std::max(largest, mean.of_arm(arm));
  }
  return largest;
}

Index best_arm(const Score& score, const Candidates& candidates, const Context& context) {
  if (!context.eligible) return score.best(candidates);
  VectorXd values;
  score.values(candidates, values);
  for (Index arm = 0; arm < values.size(); ++arm) {
    if (!context.allows(arm)) values[arm] = -kInf;
  }
  const Index best = first_best(values.data(), values.size(), kTie * score.unit());
  if (context.allows(best)) return best;
  // All eligible arms have a score of -Inf.
  for (Index arm = 0; arm < values.size(); ++arm) {
    if (context.allows(arm)) return arm;
  }
  throw std::invalid_argument("no arm is eligible");
}

const LowRankPosterior* low_rank_of(const Score& score) {
  const Posterior* posterior = score.rises_with();
  return posterior ? posterior->low_rank() : nullptr;
}

RisingScore rising_score(const Score& score) {
  return {[&score](double mean, double sd) { return score.of_moments(mean, sd); },
          kTie * score.unit(), score.sd_weight()};
}

ArmSpace::ArmSpace(ArmSetting setting, VectorXd prior_mean, Index arms_per_context)
    : setting_(std::move(setting)), prior_mean_(std::move(prior_mean)), arms_(arms_per_context) {
  const Index rows = setting_.table->size();
  if (arms_ < 1 || rows % arms_ != 0 || prior_mean_.size() != rows) {
    throw std::invalid_argument("the table of arms, its contexts and its prior mean differ in size");
  }
  candidates_.count = arms_;
}

std::unique_ptr<Posterior> ArmSpace::make_posterior(double noise_var,
                                                    const Forgetting& forgetting) const {
  return std::make_unique<TablePosterior>(
      setting_.make_engine(noise_var, prior_mean_, forgetting.fades()), setting_.name(),
      forgetting);
}

const Candidates& ArmSpace::candidates(const Context& context) {
  candidates_.first = context.row * arms_;
  return candidates_;
}

Point ArmSpace::maximise(const Score& score, const Context& context, const Beginnings&) {
  return point_of(context, best_arm(score, candidates(context), context));
}

Point ArmSpace::uniform(const Context& context, Rng& rng) const {
  return point_of(context, draw_arm(context, arms_, rng));
}

Point ArmSpace::point(Index arm, Index context, const VectorXd& inputs) const {
  const Index contexts = setting_.table->size() / arms_;
  if (arm < 0 || arm >= arms_ || context < 0 || context >= contexts || inputs.size() > 0) {
    throw std::invalid_argument("there is no arm " + std::to_string(arm + 1) + " in context " +
                                std::to_string(context + 1));
  }
  return Point::tabled(arm, context * arms_ + arm);
}

bool ArmSpace::in_context(const Point& point, const Context& context) const {
  return point.row - point.arm == context.row * arms_;
}

VectorXd ArmSpace::inputs(const Point& point) const {
  return row_of(*setting_.table->points, point.row);
}

double ArmSpace::largest_prior_mean(const Context& context) const {
  const VectorXd mean = segment_of(prior_mean_, context.row * arms_, arms_);
  if (!context.eligible) return mean.maxCoeff();
  double largest = -kInf;
  for (Index arm = 0; arm < arms_; ++arm) {
    if (context.allows(arm)) largest = std::max(largest, mean[arm]);
  }
  return largest;
}

// ---- very many arms -----------------------------------------------------------------------------

namespace {

// All engines over arms should play the same arms. So this aim is close enough to the exact posterior that only ties
// may differ, if rounding permits it. Only the certificate has to be within the accuracy.
constexpr double kAim = 1e-7;

VectorXd one_or_all(VectorXd values) {
  if (all_equal(values, values[0])) values.conservativeResize(1);
  return values;
}

}  // namespace

ManyArmSpace::ManyArmSpace(ArmTablePtr table, VectorXd prior_mean, const OpenEngine& engine)
    : setting_{std::move(table), ArmSetting::Engine::played, nullptr},
      prior_mean_(prior_mean),
      engine_(engine) {
  const Points& points = *setting_.table->points;
  if (prior_mean.size() != points.rows()) {
    throw std::invalid_argument("the table of arms and its prior mean differ in size");
  }
  engine_.aim = kAim;
  engine_.search = OpenEngine::Search::same_points;
  candidates_.X = points;
  lazy_ = std::make_unique<LazyArms>(*setting_.table->kernel, points, points.cols() - 1,
                                     one_or_all(std::move(prior_mean)));
}

std::unique_ptr<Posterior> ManyArmSpace::make_posterior(double noise_var,
                                                        const Forgetting& forgetting) const {
  return std::make_unique<OpenPosterior>(setting_.table->kernel, noise_var, prior_mean_,
                                         forgetting, engine_);
}

Point ManyArmSpace::point_of(Index arm) const {
  Point out = Point::tabled(arm, arm);
  out.x = row_of(*setting_.table->points, arm);
  return out;
}

Point ManyArmSpace::maximise(const Score& score, const Context& context, const Beginnings&) {
  const LowRankPosterior* low = low_rank_of(score);
  if (!low) return point_of(best_arm(score, candidates_, context));
  return point_of(lazy_->choose(rising_score(score), *low, context.eligible.get()));
}

Point ManyArmSpace::uniform(const Context& context, Rng& rng) const {
  return point_of(draw_arm(context, setting_.table->size(), rng));
}

Point ManyArmSpace::point(Index arm, Index context, const VectorXd& inputs) const {
  if (arm < 0 || arm >= setting_.table->size() || context != 0 || inputs.size() > 0) {
    throw std::invalid_argument("there is no arm " + std::to_string(arm + 1));
  }
  return point_of(arm);
}

double ManyArmSpace::largest_prior_mean(const Context& context) const {
  return largest_of_arms(prior_mean_, context, numbered_arms());
}

// ---- arms in open contexts ----------------------------------------------------------------------

OpenArmSpace::OpenArmSpace(KernelPtr kernel, MatrixXd arms, Index contexts, VectorXd prior_mean,
                           const OpenEngine& engine)
    : kernel_(std::move(kernel)),
      arms_(std::move(arms)),
      contexts_(contexts),
      prior_mean_(std::move(prior_mean)),
      engine_(engine),
      crosses_(arms_.cols()) {
  engine_.search = OpenEngine::Search::new_points;
  Context origin;
  origin.values = VectorXd::Zero(contexts_);
  VectorXd variance(arms_.rows());
  kernel_->diagonal(candidates(origin).X, variance);
  prior_scale_ = std::sqrt(std::max(0.0, variance.maxCoeff()));
}

std::unique_ptr<Posterior> OpenArmSpace::make_posterior(double noise_var,
                                                        const Forgetting& forgetting) const {
  return std::make_unique<OpenPosterior>(kernel_, noise_var, prior_mean_, forgetting, engine_);
}

const Candidates& OpenArmSpace::candidates(const Context& context) {
  const Index n = arms_.rows(), d = arms_.cols();
  Points& X = candidates_.X;
  X.resize(n, d + contexts_ + 1);
  X.leftCols(d) = arms_;
  for (Index c = 0; c < contexts_; ++c) X.col(d + c).setConstant(context.values[c]);
  for (Index arm = 0; arm < n; ++arm) X(arm, d + contexts_) = static_cast<double>(arm);
  return candidates_;
}

Point OpenArmSpace::point_of(const Context& context, Index arm) const {
  VectorXd x = joined(joined(row_of(arms_, arm), context.values), static_cast<double>(arm));
  return Point::numbered(arm, std::move(x));
}

double OpenArmSpace::largest_prior_mean(const Context& context) const {
  return largest_of_arms(prior_mean_, context, arms_.rows());
}

Point OpenArmSpace::maximise(const Score& score, const Context& context, const Beginnings&) {
  // The candidates are those of the round for which the score was prepared.
  const LowRankPosterior* low = low_rank_of(score);
  if (!low) return point_of(context, best_arm(score, candidates_, context));
  const ArmCrosses* crosses = crosses_.follow(low->basis(), candidates_.X) ? &crosses_ : nullptr;
  return point_of(context, best_point(rising_score(score), *low, candidates_.X, prior_mean_.values(),
                                      context.eligible.get(), crosses));
}

Point OpenArmSpace::uniform(const Context& context, Rng& rng) const {
  return point_of(context, draw_arm(context, arms_.rows(), rng));
}

Point OpenArmSpace::point(Index arm, Index, const VectorXd& inputs) const {
  const Index d = arms_.cols();
  if (arm < 0 || arm >= arms_.rows() || inputs.size() != d + contexts_ || !inputs.allFinite()) {
    throw std::invalid_argument("there is no arm " + std::to_string(arm + 1) +
                                " with such inputs");
  }
  Context context;
  context.values = segment_of(inputs, inputs.size() - contexts_, contexts_);
  return point_of(context, arm);
}

bool OpenArmSpace::in_context(const Point& point, const Context& context) const {
  return contexts_ == 0 || segment_of(point.x, arms_.cols(), contexts_) == context.values;
}

}  // namespace gpb
