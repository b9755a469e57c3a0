#include "spaces/box_space.h"
#include "spaces/make_space.h"

#include "base/golden_points.h"
#include "events/pending.h"
#include "kernels/make_kernel.h"
#include "posteriors/best_point.h"
#include "spaces/arm_space.h"
#include "spaces/many_arm_space.h"
#include "spaces/mixed_space.h"
#include "spaces/mixture_space.h"
#include "spaces/open_arm_space.h"
#include "spaces/related_space.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// ---- boxes and products -------------------------------------------------------------------------

namespace {

constexpr Index kStarts = 3;           // climbs from the best candidates of a box,
constexpr Index kMostStarts = 10;      // and of a product of many rows
constexpr Index kMostCandidates = 8192;  // of all rows together, but for a few of each
constexpr Index kFewest = 32;
constexpr double kApart = 0.1;         // distance between starts, in sides of the box
constexpr Index kCornered = 5;         // up to so many inputs all corners are candidates
constexpr Index kNeighbours = 24;      // fresh points around the best place

// Spread over the unit cube, and its corners: the variance is often largest there.
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

VectorXd Box::uniform(Rng& rng) const {
  VectorXd x(inputs());
  for (Index c = 0; c < inputs(); ++c) {
    const auto k = static_cast<std::size_t>(c);
    const double slack = integer[k] && !logarithmic[k] && moves(c) ? 0.5 : 0.0;
    x[c] = lower[c] - slack + rng.uniform() * (upper[c] - lower[c] + 2.0 * slack);
  }
  return x;
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
  if (first_.rows() > 0 && first_.cols() != box_.inputs()) throw std::invalid_argument("first places of another box");
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

// The candidates of one row.
void BoxSpace::spread() {
  const MatrixXd u = candidate_points(chart_.coordinates(), rows_.rows());
  const Index before = fixed_ ? 0 : first_.rows();
  actions_.resize(before + u.rows(), box_.inputs());
  if (before > 0) actions_.topRows(before) = first_;
  for (Index i = 0; i < u.rows(); ++i) {
    actions_.row(before + i) = chart_.box().snap(chart_.inputs(u.row(i).transpose())).transpose();
  }
}

Chart BoxSpace::chart_of(const Context& context) const {
  return Chart(context.fixed ? box_.slice(*context.fixed, rows_.cols()) : box_);
}

// ---- places -----------------------------------------------------------------

Points BoxSpace::inputs_of(Index row, const MatrixXd& actions, const Context& context) const {
  const Index own = rows_.cols(), d = box_.inputs();
  Points X(actions.rows(), own + d + contexts_ + (numbered_ ? 1 : 0));
  X.leftCols(own).rowwise() = rows_.row(row);
  X.middleCols(own, d) = actions;
  X.middleCols(own + d, contexts_).rowwise() = context.values.transpose();
  if (numbered_) X.col(X.cols() - 1).setConstant(static_cast<double>(row));
  return X;
}

VectorXd BoxSpace::input_of(const Spot& spot, const Context& context) const {
  return inputs_of(spot.row, spot.actions.transpose(), context).row(0).transpose();
}

Place BoxSpace::place_of(const Spot& spot, const Context& context) const {
  VectorXd x = input_of(spot, context);
  return numbered_ ? Place::numbered(spot.row, std::move(x)) : Place::point(std::move(x));
}

BoxSpace::Spot BoxSpace::spot_of(const Place& place) const {
  return {numbered_ ? place.arm : 0, place.x.segment(rows_.cols(), box_.inputs())};
}

Place BoxSpace::place(Index arm, Index, const VectorXd& inputs) const {
  const Index own = rows_.cols(), d = box_.inputs();
  const bool right = inputs.size() == own + d + contexts_ && inputs.allFinite() &&
                     (!numbered_ || (arm >= 0 && arm < rows_.rows()));
  if (!right) throw std::invalid_argument("there is no such point in the box");
  Context context;
  context.values = inputs.tail(contexts_);
  VectorXd x = input_of({numbered_ ? arm : 0, inputs.segment(own, d)}, context);
  return numbered_ ? Place::numbered(arm, std::move(x)) : Place::point(std::move(x));
}

bool BoxSpace::in_context(const Place& place, const Context& context) const {
  const Index first = rows_.cols() + box_.inputs();
  return contexts_ == 0 || place.x.segment(first, contexts_) == context.values;
}

// A point of a row that cannot be played now counts where only one can.
Points BoxSpace::moved(const std::vector<const Place*>& places, const Context& context) const {
  const Box slice = chart_of(context).box();
  Index allowed = 0, last = 0;
  for (Index row = 0; row < rows_.rows(); ++row) {
    if (!context.allows(row)) continue;
    ++allowed;
    last = row;
  }
  std::vector<Spot> spots;
  for (const Place* place : places) {
    Spot spot = spot_of(*place);
    if (!context.allows(spot.row)) {
      if (allowed != 1) continue;
      spot.row = last;
    }
    spot.actions = slice.snap(spot.actions);
    spots.push_back(std::move(spot));
  }
  return inputs_of(spots, context);
}

double BoxSpace::largest_prior_mean(const Context& context) const {
  return largest_of_arms(prior_mean_, context, rows_.rows());
}

double BoxSpace::prior_mean(const Place& place) const { return prior_mean_.at(place.x); }

Place BoxSpace::uniform(const Context& context, Rng& rng) const {
  Spot spot;
  if (rows_.rows() > 1) spot.row = draw_arm(context, rows_.rows(), rng);
  const Box here = chart_of(context).box();
  spot.actions = here.snap(here.uniform(rng));
  return place_of(spot, context);
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

// The best candidates, kept apart from each other, and the place of the best mean.
std::vector<BoxSpace::Spot> BoxSpace::starts(const Score& score, const Context& context,
                                             const Observations& known) const {
  VectorXd scores;
  score.values(candidates_, scores);
  const Index each = actions_.rows();
  const auto wanted =
      static_cast<std::size_t>(std::min(kMostStarts, kStarts + rows_.rows() - 1));
  std::vector<Spot> out;
  // Candidates that are no start: next to one, or of a row that cannot be played.
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
    const VectorXd actions = actions_.row(best % each).transpose();
    out.push_back({row, actions});
    for (Index i = 0; i < each; ++i) {
      if (chart_.distance(actions_.row(i).transpose(), actions) <= kApart) near[static_cast<std::size_t>(row * each + i)] = 1;
    }
  }
  const Place* place = known.best();
  if (place && (!numbered_ || context.allows(place->arm))) {
    out.push_back(best_neighbour(spot_of(*place), score, context));
  }
  return out;
}

// The best of a place and of points around it, at shrinking distances.
BoxSpace::Spot BoxSpace::best_neighbour(const Spot& centre, const Score& score,
                                        const Context& context) const {
  const Box& box = chart_.box();
  const Index d = box.inputs();
  const VectorXd side = box.side();
  const MatrixXd offsets = golden_points(kNeighbours, d).array() - 0.5;
  MatrixXd actions(kNeighbours + 1, d);
  actions.row(0) = box.snap(centre.actions).transpose();
  for (Index i = 0; i < kNeighbours; ++i) {
    const double reach = 0.2 * std::pow(0.1, static_cast<double>(i % 4));
    const auto step = offsets.row(i).transpose().array() * side.array();
    actions.row(i + 1) = box.snap(centre.actions + (reach * step).matrix()).transpose();
  }
  Index best = 0;
  score.sketches(inputs_of(centre.row, actions, context)).maxCoeff(&best);
  return {centre.row, actions.row(best).transpose()};
}

BoxSpace::Spot BoxSpace::climb(const Spot& start, double from, const Score& score, Height height,
                               const Context& context) const {
  const Index own = rows_.cols(), d = box_.inputs();
  // The minimiser's tolerances are absolute: scores are climbed from 0 in their own unit.
  const double unit = score.unit();
  if (!std::isfinite(from) || chart_.coordinates() == 0) return start;
  VectorXd u = chart_.coordinates_of(start.actions);
  minimize_(u, [&](const VectorXd& at, VectorXd& gradient) {
    VectorXd slope;
    const VectorXd x = input_of({start.row, chart_.inputs(at)}, context);
    const double value = (score.*height)(x, &slope);
    gradient = -chart_.slope(slope.segment(own, d)) / unit;
    return -(value - from) / unit;
  });
  return {start.row, chart_.box().snap(chart_.inputs(u))};
}

Points BoxSpace::inputs_of(const std::vector<Spot>& spots, const Context& context) const {
  Points X(static_cast<Index>(spots.size()), candidates_.X.cols());
  for (Index k = 0; k < X.rows(); ++k) {
    X.row(k) = input_of(spots[static_cast<std::size_t>(k)], context).transpose();
  }
  return X;
}

Place BoxSpace::maximise(const Score& score, const Context& context, const Observations& known) {
  if (score.only_candidates()) {
    const Index each = actions_.rows();
    VectorXd values;
    score.values(candidates_, values);
    for (Index i = 0; i < values.size(); ++i) {
      if (!context.allows(i / each)) values[i] = -kInf;
    }
    const Index best = first_best(values.data(), values.size(), kTie * score.unit());
    return place_of({best / each, actions_.row(best % each).transpose()}, context);
  }
  const Height exactly = &Score::at;
  // Where a sketch of the score is quicker, only its best end is climbed again by the score itself.
  const bool sketched = score.can_sketch();
  std::vector<Spot> spots = starts(score, context, known);
  if (spots.empty()) throw std::invalid_argument("the score is no number at any candidate");
  const std::size_t began = spots.size();
  const VectorXd from = score.sketches(inputs_of(spots, context));
  for (std::size_t k = 0; k < began; ++k) {
    spots.push_back(climb(spots[k], from[static_cast<Index>(k)], score,
                          sketched ? &Score::sketch : exactly, context));
  }
  const Spot best = best_of(spots, score, context);
  if (!sketched) return place_of(best, context);
  VectorXd slope;
  const double height = score.at(input_of(best, context), &slope);
  return place_of(best_of({best, climb(best, height, score, exactly, context)}, score, context),
                  context);
}

// The first of the best.
BoxSpace::Spot BoxSpace::best_of(const std::vector<Spot>& spots, const Score& score,
                                 const Context& context) const {
  const Points X = inputs_of(spots, context);
  const LowRankPosterior* low = low_rank_of(score);
  if (low && low->corrects()) {
    RisingScore rising = rising_score(score);
    rising.tie = 0.0;
    return spots[static_cast<std::size_t>(best_point(rising, *low, X, prior_mean_.at(X)))];
  }
  const VectorXd values = score.at(X);
  return spots[static_cast<std::size_t>(first_best(values.data(), values.size(), 0.0))];
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
  return out;
}

// Is this for LazyArms, or asked of the engines of open inputs?
bool wants_many_arms(const Settings& bandit, Index arms, const PolicyTraits& policy) {
  const std::string engine = bandit.text("engine");
  if (engine == "lowrank" || engine == "dense") return true;
  // (Windows and weights let sds rise, and a score of two posteriors has no bounds.)
  return engine == "auto" && arms >= kManyArms && policy.rises && !bandit.has("changes") &&
         !make_pending(*bandit.part("pending"))->variance_knows();
}

// Are exact answers wanted at a few points in each round? Climbs end at few; among arms only bounds
// spare most of them, which a score of two posteriors, or a penalised one, does not have.
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
  if (bandit.has("related")) {
    // For places and searches: posteriors are made over all campaigns.
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

// `related`: rows of earlier campaigns, their means, and the covariance of all campaigns.
std::unique_ptr<Space> with_related(std::unique_ptr<Space> space, const Settings& bandit) {
  const auto related = bandit.part("related");
  RelatedRows rows;
  rows.inputs = related->matrix("inputs");
  rows.noise_var = related->numbers("noise_var");
  rows.values = related->numbers("values");
  const VectorXd campaign_mean = related->numbers("mean");
  for (Index i = 0; i < rows.values.size(); ++i) {
    rows.values[i] -= campaign_mean[static_cast<Index>(rows.inputs(i, rows.inputs.cols() - 1)) - 1];
  }
  const std::string engine = bandit.text("engine") == "lowrank" ? "lowrank" : "dense";
  const KernelPtr kernel = make_kernel(*bandit.part("kernel"));
  return std::make_unique<RelatedSpace>(std::move(space), *kernel, related->matrix("covariance"),
                                        bandit.part("space")->numbers("prior_mean")[0],
                                        std::make_shared<const RelatedRows>(std::move(rows)),
                                        OpenEngine::of(engine, bandit.number("accuracy")));
}

std::unique_ptr<Space> make_plain_space(const Settings& bandit, const PolicyTraits& policy,
                                        BoxMinimizer minimize) {
  const auto space = bandit.part("space");
  const std::string kind = space->text("kind");
  const KernelPtr kernel = make_kernel(*bandit.part("kernel"));
  if (kind == "table") return make_arms(bandit, *space, policy);
  auto engine = OpenEngine::of(bandit.text("engine"), bandit.number("accuracy"));
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
  return bandit.has("related") ? with_related(std::move(space), bandit) : std::move(space);
}

}  // namespace gpb
