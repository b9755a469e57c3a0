// Functions of bandit.h: a bandit: combines the state, the models of the outcomes, a policy and a space. Uses
// posteriors/, events/ and scores/.
#include "bandit/bandit.h"

#include "scores/candidate_score.h"
#include "scores/duel.h"
#include "scores/greedy.h"
#include "scores/thompson.h"
#include "scores/upper_bound.h"
#include "scores/weighted.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace gpb {

namespace {

constexpr double kBelow = 2.0;         // sd by which a mean must exceed an evaluated point, see surely_as_good()
constexpr double kMostPoints = 20000;  // most points evaluated one by one, if a search finds only excluded ones
// Two measurements without noise differ by rounding only: relative to the range of all rewards, and to their size.
constexpr double kSameReward = 1e-9, kRewardRounding = 1e-14;
constexpr double kSame = 1e-6;         // relative to the inputs' ranges: nearer points are the same
constexpr double kApart = 0.01;        // the same for points of a batch, if there are others

}  // namespace

Bandit::Bandit(ModelState model_state, StateRules rules)
    : model_state_(std::move(model_state)), state_(std::move(rules), *this) {
  make_posteriors();
}

Bandit::~Bandit() = default;

// ---- posteriors -------------------------------------------------------------

void Bandit::make_posteriors() {
  if (static_cast<Index>(model_state_.outcomes.size()) != state_.outcomes()) {
    throw_invalid("the model state and the rules have different numbers of outcomes");
  }
  const std::vector<double> auxiliaries = model_state_.policy->auxiliaries();
  const Forgetting forgetting = model_state_.forgetting ? *model_state_.forgetting : state_.forgetting();
  std::vector<OutcomeModel> made;
  for (Index k = 0; k < state_.outcomes(); ++k) {
    const Space& space = *model_state(k).space;
    check_noise(model_state(k).noise_var, space.prior_scale() * space.prior_scale(), space.least_noise());
    made.emplace_back(model_state(k), forgetting, state_.pending().variance_knows(),
                      k == 0 ? auxiliaries : std::vector<double>(),
                      k == 0 ? model_state_.policy->norm_bound() : kNaN);
  }
  outcome_models_ = std::move(made);
  begin_anew(state_.first_known() + 1);
  advance();
}

void Bandit::check_noise_of(Index outcome, double noise_var) const {
  const double scale = model_state(outcome).space->prior_scale();
  check_noise(noise_var, scale * scale);
}

void Bandit::check_own_noise(double reward, const Report& reported) const {
  if (!reported.own_noise() || std::isnan(reward)) return;
  if (reported.about() < 0 || reported.about() >= state_.outcomes()) {
    throw_invalid("there is no such outcome");
  }
  const OutcomeModelState& outcome = model_state(reported.about());
  if (outcome.likelihood || (outcome.noise_field && std::isnan(reported.noise_var))) return;
  const double of_one =
      std::isnan(reported.noise_var) ? outcome.noise_var : outcome.mapped_noise(reward, reported.noise_var);
  check_noise_of(reported.about(), of_one / reported.times());
}

void Bandit::begin_anew(Index first) {
  for (OutcomeModel& outcome_model : outcome_models_) outcome_model.clear(first);
  forget_played();
  intervals_.clear();
}

void Bandit::advance() {
  for (OutcomeModel& outcome_model : outcome_models_) outcome_model.advance(state_.rounds() + 1);
}

void Bandit::note_played(Index id) {
  const Point& point = state_.query(id).point;
  if (point.kind == Point::Kind::tabled) {
    const auto row = static_cast<std::size_t>(point.row);
    if (is_played_.size() <= row) is_played_.resize(row + 1, 0);
    if (is_played_[row]) return;
    is_played_[row] = 1;
  }
  played_.push_back(id);
}

// (A failed query may become pending again, with an earlier id.)
void Bandit::note(Index id) {
  if (id < last_noted_) return note_anew();
  last_noted_ = id;
  // A point outside of the space is no incumbent, and is not played again.
  if (!is_inside(state_.query(id))) return;
  note_played(id);
  const double spare = (model_state_.repeats * model_state_.repeats - 1.0) * noise_var();
  if (spare > 0.0) repetition_.note(id, state_.query(id), spare);
}

void Bandit::note_anew() {
  forget_played();
  for (Index id = state_.first_known() + 1; id <= state_.rounds(); ++id) {
    if (!state_.query(id).is_void()) note(id);
  }
}

void Bandit::forget_played() {
  last_noted_ = 0;
  played_.clear();
  is_played_.clear();
  repetition_.forget();
}

void Bandit::follow(const Delta& change) {
  const Index id = change.id, outcome = change.outcome;
  switch (change.kind) {
    case Delta::Kind::asked:
      if (outcome == 0) note(id);
      return outcome_model(outcome).asked(id, state_.query(id).point);
    case Delta::Kind::learned: {
      // (Under a likelihood no value can replace the result of a failure.)
      const bool replaced = state_.query(id).cell(outcome).avoided;
      if (replaced && model_state(outcome).likelihood) return outcome_model(outcome).dropped(id);
      const Index other = change.reported.other;
      return outcome_model(outcome).learned(id, state_.query(id).point, change.value, change.reported,
                                       other > 0 ? &state_.query(other).point : nullptr, ranked_with(id));
    }
    case Delta::Kind::dropped:
      outcome_model(outcome).dropped(id);
      if (outcome == 0) note_anew();
      return;
    case Delta::Kind::cleared:
      return begin_anew(state_.rounds() + 1);
    case Delta::Kind::retargeted:
      return outcome_model(0).revalue([this](Index known) { return state_.known_value(state_.query(known)); });
  }
}

std::shared_ptr<const RankedPoints> Bandit::ranked_with(Index id) const {
  const LikelihoodPtr& likelihood = model_state(0).likelihood;
  if (!likelihood || !likelihood->ranks()) return nullptr;
  const Ranking ranking = state_.ranking(id);
  auto out = std::make_shared<RankedPoints>();
  for (const Index one : ranking.ids) out->points.push_back(state_.query(one).point);
  out->stages = ranking.stages;
  return out;
}

void Bandit::rebuild() {
  make_posteriors();
  for (Index id = state_.first_known() + 1; id <= state_.rounds(); ++id) {
    const Query& q = state_.query(id);
    for (Index k = 0; k < state_.outcomes(); ++k) {
      if (q.cell(k).is_void() || state_.counts_later(q, k)) continue;
      follow({Delta::Kind::asked, id, k});
      if (!state_.is_known(q, k)) continue;
      follow({Delta::Kind::learned, id, k, state_.known_value(q, k), state_.known_reported(q, k)});
    }
  }
}

// If the new model state raises an error, the old one is restored.
void Bandit::exchange(ModelState& model_state, EventKind kind) {
  const auto exchange = [&] {
    std::swap(model_state_, model_state);
    if (kind == EventKind::arms) relocate();
    rebuild();
  };
  try {
    exchange();
  } catch (...) {
    exchange();
    throw;
  }
  events_.push_back({kind, state_.rounds()});
}

// A fit has raised the noise to its bound at the observed points. Variances may be larger elsewhere in the space.
void Bandit::refit(ModelState model_state) {
  for (OutcomeModelState& one : model_state.outcomes) {
    one.noise_var = std::max(one.noise_var, one.space->least_noise());
  }
  exchange(model_state, EventKind::refit);
}

void Bandit::add_arms(ModelState model_state) {
  if (!(model_state.outcomes.at(0).space->numbered_arms() > space().numbered_arms())) {
    throw_invalid("there are no new arms");
  }
  exchange(model_state, EventKind::arms);
}

// For tables of arms in contexts: rows are numbered by context, so that new arms change them.
void Bandit::relocate() {
  state_.relocate([this](const Query& q) {
    if (q.point.kind != Point::Kind::tabled) return q.point;
    return space().point(q.point.arm, q.context->row, VectorXd());
  });
}

// ---- the choice -------------------------------------------------------------

WidthState Bandit::width_state(Index outcome) const {
  WidthState state;
  state.t = static_cast<double>(1 + state_.history());
  state.rounds = static_cast<double>(state_.all_rounds());
  state.arms = space().arms();
  state.noise_var = model_state(outcome).noise_var;
  state.log_det = outcome_models_[static_cast<std::size_t>(outcome)].variance().log_det();
  if (const ConstraintRule* rule = state_.constraints()) {
    state.noise_factor = rule->noise_factor(state_.multipliers());
    state.failure_factor = rule->failure_factor();
  }
  state.known = static_cast<double>(state_.known_rewards(outcome));
  state.own_noise = [this, outcome] { return own_noise(outcome); };
  state.information = [this, outcome] {
    return outcome_models_[static_cast<std::size_t>(outcome)].known().information();
  };
  state.site_gap = [this, outcome] {
    const OutcomeModel& outcome_model = outcome_models_[static_cast<std::size_t>(outcome)];
    return SiteGap{outcome_model.mean().site_gap().gradient, outcome_model.curved().site_gap().sd};
  };
  state.recent_sd = [this, outcome](bool pending_only) { return recent_sd(outcome, pending_only); };
  return state;
}

OwnNoise Bandit::own_noise(Index outcome) const {
  OwnNoise out;
  for (const Index id : state_.own_noise(outcome)) {
    const Query& q = state_.query(id);
    const double ratio = outcome_models_[static_cast<std::size_t>(outcome)].weight(
        q.cell(outcome).reward, q.cell(outcome).reported.get(), q.point);
    out.largest_ratio = std::max(out.largest_ratio, ratio);
    out.precision += (ratio - 1.0) / model_state(outcome).noise_var;
  }
  return out;
}

double Bandit::recent_sd(Index outcome, bool pending_only) const {
  const Posterior& variance = outcome_models_[static_cast<std::size_t>(outcome)].variance();
  const double window = state_.pending().patience();
  double sum = 0.0, mean, sd;
  const auto add = [&](Index id) {
    variance.at(state_.query(id).point, mean, sd);
    sum += sd;
  };
  if (pending_only) {
    for (const Index id : state_.awaited()) {
      if (state_.age(id) <= window) add(id);
    }
    return sum;
  }
  for (Index id = state_.rounds(); id > state_.first_known() && state_.age(id) <= window; --id) {
    if (!state_.query(id).is_void()) add(id);
  }
  return sum;
}

// The largest posterior mean among the points played in this context, pending ones included. The largest prior mean if
// there are none. Rewards without noise count themselves.
double Bandit::incumbent(const Context& context) const {
  if (context.fixed) return incumbent_of_slice(context);
  std::vector<const Point*> points;
  std::vector<Index> slots;
  double largest = -kInf;
  for (const Index id : played_) {
    const Point& point = state_.query(id).point;
    if (!space().in_context(point, context)) continue;
    if (context.eligible && !context.allows(point.arm)) continue;
    if (model_state_.noiseless && state_.query(id).status == Status::known && has_shared_noise(id)) {
      largest = std::max(largest, value_of(id));
      continue;
    }
    points.push_back(&point);
    slots.push_back(first().known().slot(id));
  }
  if (!points.empty()) return std::max(largest, mean().largest_mean_at(points, slots));
  return largest > -kInf ? largest : space().largest_prior_mean(context);
}

// The same after moving the points played in this context to the fixed inputs.
double Bandit::incumbent_of_slice(const Context& context) const {
  std::vector<const Point*> points;
  for (const Index id : played_) {
    const Point& point = state_.query(id).point;
    if (space().in_context(point, context)) points.push_back(&point);
  }
  const Points X = space().moved(points, context);
  return X.rows() > 0 ? mean().mean_of(X).maxCoeff() : space().largest_prior_mean(context);
}

// One by one at points of a table, otherwise with a single call.
PointsMoments Bandit::played_moments(const Context& context) const {
  std::vector<const Point*> points;
  for (const Index id : played_) {
    const Point& point = state_.query(id).point;
    if (!space().in_context(point, context)) continue;
    if (context.eligible && !context.allows(point.arm)) continue;
    points.push_back(&point);
  }
  if (context.fixed) return outcomes_at(space().moved(points, context));
  const auto count = static_cast<Index>(points.size());
  if (count > 0 && points[0]->kind != Point::Kind::tabled) {
    Points X(count, points[0]->x.size());
    for (Index i = 0; i < count; ++i) set_row(X, i, points[static_cast<std::size_t>(i)]->x);
    return outcomes_at(X);
  }
  const Index outcomes = state_.outcomes();
  PointsMoments out{MatrixXd(count, outcomes), MatrixXd(count, outcomes)};
  for (Index k = 0; k < outcomes; ++k) {
    for (Index i = 0; i < count; ++i) {
      outcome_models_[static_cast<std::size_t>(k)].at(*points[static_cast<std::size_t>(i)], out.mean(i, k),
                                                  out.sd(i, k));
    }
  }
  return out;
}

PlayedPoints Bandit::evaluated(const Context& context) const {
  PlayedPoints out;
  if (context.fixed) return out;
  const bool ignored = !state_.pending().noticed();
  for (const Index id : played_) {
    const Point& point = state_.query(id).point;
    if (!space().in_context(point, context)) continue;
    if (context.eligible && !context.allows(point.arm)) continue;
    if (ignored && state_.awaited().count(id) > 0) continue;
    out.points.push_back(&point);
    out.slots.push_back(first().known().slot(id));
  }
  return out;
}

PointsMoments Bandit::outcomes_at(const Points& X) const {
  const Index outcomes = state_.outcomes();
  PointsMoments out{MatrixXd(X.rows(), outcomes), MatrixXd(X.rows(), outcomes)};
  VectorXd mean, variance;
  for (Index k = 0; k < outcomes; ++k) {
    const OutcomeModel& outcome_model = outcome_models_[static_cast<std::size_t>(k)];
    MeanAndVariance{outcome_model.mean(), outcome_model.variance()}.predict(X, mean, variance);
    out.mean.col(k) = mean;
    out.sd.col(k) = roots(variance);
  }
  return out;
}

double Bandit::value(const Score& score, const Point& point, const Context& context) const {
  const Candidates& all = model_state_.outcomes[0].space->candidates(context);
  if (!all.complete) return score.at(space().inputs(point), nullptr);
  VectorXd values;
  score.values(all, values);
  return values[point.arm];
}

double Bandit::largest(const Score& score, const Context& context) const {
  return value(score, model_state_.outcomes[0].space->maximise(score, context, beginnings()), context);
}

OutcomeView Bandit::known_view() const {
  return {&mean(), &mean(), Role(), space().prior_scale(), noise_var()};
}

std::vector<OutcomeView> Bandit::outcome_views() const {
  std::vector<OutcomeView> out;
  const bool needed = has_several() || model_state_.policy->views_outcomes();
  for (Index k = 0; needed && k < state_.outcomes(); ++k) {
    const OutcomeModel& outcome_model = outcome_models_[static_cast<std::size_t>(k)];
    out.push_back({&outcome_model.mean(), &outcome_model.variance(), model_state(k).role,
                   model_state(k).space->prior_scale(), model_state(k).noise_var});
  }
  return out;
}

// The policy's rule, applied to the observations of each outcome.
void Bandit::set_outcome_widths(Round& round) const {
  for (std::size_t k = 0; k < round.outcomes.size(); ++k) {
    if (k == 0) {
      round.outcomes[k].width = round.width;
      continue;
    }
    Round of_outcome;
    of_outcome.number = round.number;
    of_outcome.state = width_state(static_cast<Index>(k));
    of_outcome.state.rng = round.state.rng;
    round.outcomes[k].width = guarded(model_state_.policy->width(of_outcome));
  }
}

Round Bandit::round(const Context& context) const {
  Round round;
  round.number = static_cast<double>(state_.all_rounds() + 1);
  round.largest_phase = state_.largest_phase();
  round.mean = &mean();
  round.variance = first().is_curved() ? &curved() : &variance();
  round.auxiliaries = first().auxiliaries();
  round.candidates = &model_state_.outcomes[0].space->candidates(context);
  round.eligible = context.eligible;
  round.prior_scale = space().prior_scale();
  round.noise_var = noise_var();
  round.state = width_state();
  // Intervals are kept for the candidates only: on a box their number is the one for a union bound.
  if (std::isnan(round.state.arms) && model_state_.policy->keeps_intervals()) {
    round.state.arms = static_cast<double>(round.candidates->size());
  }
  offer_lookups(round, context);
  round.incumbent = [this, &context] { return incumbent(context); };
  round.awaits_rewards = [this] { return first().knows_pending() && !state_.awaited().empty(); };
  round.outcomes = outcome_views();
  round.played = [this, &context] { return played_moments(context); };
  round.evaluated = [this, &context] { return evaluated(context); };
  round.largest = [this, &context](const Score& score) { return largest(score, context); };
  return round;
}

// Functions that a policy may call in any round.
void Bandit::offer_lookups(Round& round, const Context& context) const {
  round.inputs = [this, &context] { return candidate_inputs(context); };
  round.prior_sd = [this, &context](Index outcome) {
    return prior_sd(outcome, model_state_.outcomes[0].space->candidates(context));
  };
  round.width_of = [this](Index outcome) {
    Round of_outcome;
    of_outcome.state = width_state(outcome);
    return model_state_.policy->width(of_outcome);
  };
}

VectorXd Bandit::prior_sd(Index outcome, const Candidates& all) const {
  const auto nothing = model_state(outcome).space->make_posterior(model_state(outcome).noise_var, Forgetting());
  return candidate_sds(*nothing, all);
}

double Bandit::width() const {
  Round only_state;
  only_state.state = width_state();
  return model_state_.policy->width(only_state);
}

void Bandit::look(Query& q) const {
  first().at(q.point, q.mean, q.sd);
}

double Bandit::width(Width& other) const { return other.at(width_state()); }

Round Bandit::round_of_known(const Context& context) const {
  Round round;
  round.mean = round.variance = &mean();
  if (first().is_curved()) round.variance = &curved();
  round.candidates = &model_state_.outcomes[0].space->candidates(context);
  round.prior_scale = space().prior_scale();
  round.noise_var = noise_var();
  round.outcomes = outcome_views();
  for (OutcomeView& outcome : round.outcomes) outcome.variance = outcome.mean;
  return round;
}

Point Bandit::recommend(const Context& context, double feasible) {
  Round known = round_of_known(context);
  offer_lookups(known, context);
  known.feasible = feasible;
  known.state = width_state();
  known.evaluated = [this, &context] { return evaluated(context); };
  const bool complete = known.candidates->complete;
  Beginnings from = beginnings();
  if (const auto score = model_state_.policy->recommendation(known)) {
    if (!complete && !score->only_candidates()) from.played = inputs_of(rewarded(context), context);
    return space().maximise(*score, context, from);
  }
  if (!complete) from.played = inputs_of(rewarded(context), context);
  const Point found = space().maximise(MeanScore(known), context, from);
  const Point* sure = context.fixed || context.eligible ? nullptr : surely_as_good(found);
  return sure ? *sure : complete ? settled_among(found, context) : found;
}

// (A reward may have been reported with a separate noise variance.)
bool Bandit::is_exact(Index id) const { return model_state_.exact && has_shared_noise(id); }

bool Bandit::has_shared_noise(Index id, Index outcome) const {
  const Query& q = state_.query(id);
  const OutcomeModel& model = outcome_models_[static_cast<std::size_t>(outcome)];
  return model.weight(q.cell(outcome).reward, state_.known_reported(q, outcome), q.point) > 0.5;
}

// The known reward in the model's units.
double Bandit::value_of(Index id, Index outcome) const {
  return model_state(outcome).outputs.value(state_.known_value(state_.query(id), outcome));
}

// An evaluated point. Null if f at `found` is surely larger, that is if mean - kBelow * sd there exceeds the largest
// worth of an evaluated point.
const Point* Bandit::surely_as_good(const Point& found) const {
  if (!model_state_.exact && !model_state_.noise_fitted) return nullptr;
  std::vector<Index> ids = rewarded(Context());
  if (ids.empty()) return nullptr;
  // (A reward that was reported with more noise than the others hardly counts as an evaluation.)
  const auto shared = std::stable_partition(ids.begin(), ids.end(), [this](Index id) { return has_shared_noise(id); });
  if (shared != ids.begin()) ids.erase(shared, ids.end());
  const VectorXd worth = worth_of_evaluated(ids, 0, model_state_.exact);
  const Index best = first_best(worth.data(), worth.size(), 0.0);
  const Point* point = &state_.query(ids[static_cast<std::size_t>(best)]).point;
  if (model_state_.exact && model_state_.noiseless) return point;
  double mean, sd;
  first().mean().at(found, mean, sd);
  return mean - kBelow * sd > worth[best] ? nullptr : point;
}

// The expected values of evaluated points: between the posterior mean and the reward. The fitted noise is real if
// rewards at one point differ: then it is the posterior mean. If they are equal, the noise is structure of f that the
// model cannot represent, and the rewards count. If there are none, both are as likely. Almost no noise (`exact`) is
// none. A reward that was reported with more noise than the others counts by the posterior mean.
VectorXd Bandit::worth_of_evaluated(const std::vector<Index>& ids, Index outcome, bool exact) const {
  const OutcomeModel& model = outcome_models_[static_cast<std::size_t>(outcome)];
  const Repeats seen = exact ? Repeats::equal : repeats(outcome);
  const double structure = seen == Repeats::none ? 0.5 : seen == Repeats::equal ? 1.0 : 0.0;
  std::vector<const Point*> points;
  std::vector<Index> slots;
  for (const Index id : ids) {
    points.push_back(&state_.query(id).point);
    slots.push_back(model.known().slot(id));
  }
  VectorXd worth = model.mean().means_at(points, slots);
  for (Index i = 0; i < worth.size(); ++i) {
    const Index id = ids[static_cast<std::size_t>(i)];
    if (structure > 0.0 && has_shared_noise(id, outcome)) {
      worth[i] = (1.0 - structure) * worth[i] + structure * value_of(id, outcome);
    }
  }
  return worth;
}

std::vector<Index> Bandit::rewarded(const Context& context) const {
  std::vector<Index> out;
  for (Index id = state_.first_known() + 1; id <= state_.rounds(); ++id) {
    const Query& q = state_.query(id);
    if (!q.in_play || q.status != Status::known || !is_inside(q)) continue;
    if (!space().in_context(q.point, context) || (context.eligible && !context.allows(q.point.arm))) continue;
    out.push_back(id);
  }
  return out;
}

Points Bandit::inputs_of(const std::vector<Index>& ids, const Context& context) const {
  std::vector<const Point*> points;
  for (const Index id : ids) points.push_back(&state_.query(id).point);
  return context.fixed ? space().moved(points, context) : inputs_of(points);
}

Points Bandit::inputs_of(const std::vector<const Point*>& points) const {
  Points X(static_cast<Index>(points.size()), points.empty() ? 0 : space().inputs(*points[0]).size());
  for (Index i = 0; i < X.rows(); ++i) set_row(X, i, space().inputs(*points[static_cast<std::size_t>(i)]));
  return X;
}

// For arms: a played arm whose mean ties with the one at `found`.
Point Bandit::settled_among(const Point& found, const Context& context) const {
  std::vector<const Point*> points;
  std::vector<Index> slots;
  for (const Index id : rewarded(context)) {
    points.push_back(&state_.query(id).point);
    slots.push_back(first().known().slot(id));
    if (points.back()->arm == found.arm) return found;
  }
  if (points.empty()) return found;
  double largest, sd;
  mean().at(found, largest, sd);
  const VectorXd means = mean().means_at(points, slots);
  const Point* lowest = nullptr;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const bool ties = means[static_cast<Index>(k)] >= largest - kTie * space().prior_scale();
    if (ties && (!lowest || points[k]->arm < lowest->arm)) lowest = points[k];
  }
  return lowest ? *lowest : found;
}

std::pair<Point, double> Bandit::largest_bound(double width, const Context& context) {
  Round round = round_of_known(context);
  round.width = width;
  const BoundScore score(round);
  const Point point = space().maximise(score, context, beginnings());
  return {point, value(score, point, context)};
}

Point Bandit::largest_sum(const std::vector<const Bandit*>& others, std::vector<BoundTerm> terms, double target,
                          const Context& context) {
  Round round = round_of_known(context);
  round.outcomes.clear();
  round.outcomes.push_back(known_view());
  for (const Bandit* other : others) round.outcomes.push_back(other->known_view());
  return space().maximise(*make_sum_of_bounds(round, std::move(terms), target), context, beginnings());
}

MatrixXd Bandit::drawn_maxima(const Point& point, Index draws, const Context& context, Rng& rng) {
  Round round = round_of_known(context);
  round.width = 1.0;
  MatrixXd out(draws, 2);
  for (Index k = 0; k < draws; ++k) {
    const DrawnScore draw(round, rng);
    out(k, 1) = value(draw, point, context);
    out(k, 0) = std::max(out(k, 1), largest(draw, context));
  }
  return out;
}

std::unique_ptr<JointMaxima> Bandit::joint_maxima(const Context& context) {
  const Candidates& all = space().candidates(context);
  if (!all.complete) return nullptr;
  const Index point = all.find(recommend(context));
  return point < 0 ? nullptr : JointMaxima::of(mean(), all, point);
}

double Bandit::pending_information() const {
  if (!first().knows_pending()) return 0.0;
  return std::max(0.0, 0.5 * (variance().log_det() - mean().log_det()));
}

// The sd without the pending queries is at most exp(guard) times the sd with them, if these carry at most `guard` nats.
// Intervals that are wider by this factor are therefore valid.
double Bandit::guarded(double width) const {
  const double guard = state_.pending().guard();
  if (std::isinf(guard)) return width;
  if (pending_information() > guard) {
    throw_invalid("the pending queries carry " + std::to_string(pending_information()) +
                  " nats of information, more than `guard` allows (" +
                  std::to_string(guard) + "): a reward must be observed first");
  }
  return std::exp(guard) * width;
}

void Bandit::check_eligible(const std::vector<char>& arms) const {
  const bool some = std::any_of(arms.begin(), arms.end(), [](char arm) { return arm != 0; });
  if (static_cast<Index>(arms.size()) == space().numbered_arms() && some) return;
  throw_invalid("the eligible arms must be some of the bandit's");
}

Points Bandit::candidate_inputs(const Context& context) const {
  const Candidates& all = model_state_.outcomes[0].space->candidates(context);
  if (!all.tabled()) return all.X;
  Points out;
  for (Index k = 0; k < all.count; ++k) {
    const VectorXd x = space().inputs(Point::tabled(k, all.first + k));
    if (k == 0) out.resize(all.count, x.size());
    set_row(out, k, x);
  }
  return out;
}

void Bandit::narrow_intervals(RunningIntervals& intervals, const Round& round) const {
  if (!model_state_.policy->keeps_intervals()) return;
  const Candidates& all = *round.candidates;
  intervals.intersect(all.first, all.size(), mean().moments(all), round.width,
                      kTie * round.prior_scale);
}

RunningIntervals Bandit::intervals(const Context& context) {
  if (!model_state_.policy->keeps_intervals()) {
    throw_invalid("this policy keeps no running intervals");
  }
  Round now = round(context);
  now.width = model_state_.policy->width(now);
  RunningIntervals out = intervals_;
  narrow_intervals(out, now);
  return out;
}

PointLabels Bandit::labels(const Context& context) {
  Round known = round_of_known(context);
  offer_lookups(known, context);
  return model_state_.policy->labels(known);
}

std::unique_ptr<Score> Bandit::penalised(std::unique_ptr<Score> score, const Round& now) const {
  const auto* rule = dynamic_cast<const PenalisePending*>(&state_.pending());
  if (!rule || !score) return score;
  if (state_.awaited().empty()) return score;
  const auto count = static_cast<Index>(state_.awaited().size());
  const Candidates& all = *now.candidates;
  Points X = now.inputs();
  Penalties penalties{Points(count, rule->actions()), VectorXd(count), VectorXd(count),
                      rule->lipschitz(), 0.0};
  Index k = 0;
  for (const Index id : state_.awaited()) {
    const Point& point = state_.query(id).point;
    set_row(penalties.centres, k, space().inputs(point));
    mean().at(point, penalties.mean[k], penalties.sd[k]);
    penalties.sd[k] = std::max(penalties.sd[k], kTie * now.prior_scale);
    ++k;
  }
  if (std::isnan(penalties.lipschitz)) penalties.lipschitz = steepest_mean(now, X, rule->actions());
  // (Stored moments of the candidates have rounding errors that depend on the bandit's history. The value is computed
  // again, so that a rebuilt bandit agrees.)
  Index best = 0;
  penalties.top = Eigen::Map<const VectorXd>(mean().moments(all).mean, all.size()).maxCoeff(&best);
  if (!all.complete) penalties.top = mean().mean_of(as_rows(row_of(X, best)))[0];
  return std::make_unique<PenalisedScore>(std::move(score), std::move(penalties), std::move(X));
}

Index Bandit::to_repeat(const Context& context) const {
  const Index due = repetition_.due();
  if (due == 0) return 0;
  const Point& point = state_.query(due).point;
  const bool barred = (context.eligible && !context.allows(point.arm)) ||
                      (context.fixed && !context.fixed->holds(point.x));
  return barred || !space().in_context(point, context) ? 0 : due;
}

Index Bandit::opened() const {
  const Index id = state_.rounds();
  if (id == 0 || !model_state_.policy->pairs()) return 0;
  const Query& q = state_.query(id);
  const bool opens = q.in_play && q.action == Action::policy && std::isnan(q.width);
  return opens && q.status == Status::pending ? id : 0;
}

const Point* Bandit::last_answer(const Context& context) const {
  for (Index id = state_.rounds(); id > state_.first_known(); --id) {
    const Query& q = state_.query(id);
    if (q.action != Action::policy || std::isnan(q.width) || q.is_void()) continue;
    const bool barred = context.eligible && !context.allows(q.point.arm);
    if (!barred && space().in_context(q.point, context)) return &q.point;
  }
  return nullptr;
}

std::pair<Point, double> Bandit::largest_advantage(const Point& from, double width,
                                                   const Context& context) {
  const Candidates& all = space().candidates(context);
  const AdvantageScore score(mean(), curved(), all, from, width, space().prior_scale());
  const Point point = space().maximise(score, context, beginnings());
  return {point, value(score, point, context)};
}

KnownPoints Bandit::not_again(const Context& context, double apart, const Points& candidates) const {
  std::vector<const Point*> points;
  std::vector<double> reach;
  const auto add = [&](Index id, double near) {
    const Point& point = state_.query(id).point;
    if (context.fixed && !context.fixed->holds(point.x)) return;
    if (!space().in_context(point, context)) return;
    points.push_back(&point);
    reach.push_back(near);
  };
  const std::set<Index>& awaited = state_.awaited();
  const bool once = model_state_.once && !has_shown_noise();
  if (once || model_state_.exact) {
    for (const Index id : played_) {
      const bool known = once || is_exact(id) || state_.query(id).status == Status::failed;
      if (known && awaited.count(id) == 0) add(id, kSame);
    }
  }
  if (model_state_.fresh && state_.pending().noticed()) {
    for (const Index id : awaited) add(id, apart);
  }
  return {inputs_of(points), Eigen::Map<const VectorXd>(reach.data(), static_cast<Index>(reach.size())),
          sides_of(candidates)};
}

// The inputs' ranges. Different levels are never the same, however near their numbers are.
VectorXd Bandit::sides_of(const Points& candidates) const {
  VectorXd range(candidates.cols());
  for (Index c = 0; c < range.size(); ++c) range[c] = candidates.col(c).maxCoeff() - candidates.col(c).minCoeff();
  for (const Index c : model_state_.coded) range[c] = 0.0;
  return range;
}

bool Bandit::has_shown_noise() const {
  for (Index outcome = 0; outcome < state_.outcomes() && !shown_noise_; ++outcome) {
    shown_noise_ = repeats(outcome) == Repeats::different;
  }
  return shown_noise_;
}

Bandit::Repeats Bandit::repeats(Index outcome) const {
  Repeats seen = Repeats::none;
  std::map<std::vector<double>, double> first;
  double least = kInf, largest = -kInf;
  for (Index id = state_.first_known() + 1; id <= state_.rounds(); ++id) {
    const Cell& cell = state_.query(id).cell(outcome);
    if (cell.status != Status::known) continue;
    least = std::min(least, cell.reward);
    largest = std::max(largest, cell.reward);
  }
  for (Index id = state_.first_known() + 1; id <= state_.rounds(); ++id) {
    const Query& q = state_.query(id);
    const Cell& cell = q.cell(outcome);
    if (cell.status != Status::known) continue;
    if (cell.reported->spread > 0.0) return Repeats::different;
    const VectorXd x = space().inputs(q.point);
    const auto at = first.emplace(std::vector<double>(x.data(), x.data() + x.size()), cell.reward);
    if (at.second) continue;
    const double earlier = at.first->second;
    const double same = std::max(kSameReward * (largest - least), kRewardRounding * std::abs(earlier));
    if (!(std::abs(cell.reward - earlier) <= same)) return Repeats::different;
    seen = Repeats::equal;
  }
  return seen;
}

// (A query that is not at a counted point now may be later, if it is observed.)
bool Bandit::has_points_left(const Context& context) {
  const bool plain = !context.eligible && !context.fixed && context.row == 0 && context.values.size() == 0;
  if (plain && static_cast<double>(state_.rounds()) - unplayed_from_ < left_) return true;
  const double left = points_left(context);
  if (plain) {
    left_ = left;
    unplayed_from_ = static_cast<double>(played_.size()) - (state_.pending().noticed() ? 0.0 : state_.awaited().size());
  }
  return left > 0.0;
}

double Bandit::points_left(const Context& context) {
  std::vector<Point> all;
  Points X;
  if (space().numbered_arms() > 0 && space().candidates(context).complete) {
    X = candidate_inputs(context);
  } else {
    all = space().all_points(context, kMostPoints);
    std::vector<const Point*> points;
    for (const Point& point : all) points.push_back(&point);
    X = inputs_of(points);
  }
  if (X.rows() == 0) return kInf;
  std::vector<const Point*> played;
  for (const Index id : played_) {
    const Point& point = state_.query(id).point;
    const bool counts = state_.pending().noticed() || state_.awaited().count(id) == 0;
    if (counts && space().in_context(point, context)) played.push_back(&point);
  }
  const KnownPoints known(inputs_of(played), VectorXd::Constant(static_cast<Index>(played.size()), kSame),
                          sides_of(X));
  std::set<std::vector<double>> left;
  for (Index i = 0; i < X.rows(); ++i) {
    if (all.empty() && context.eligible && !context.allows(i)) continue;
    const VectorXd x = row_of(X, i);
    if (!known.bars(x)) left.emplace(x.data(), x.data() + x.size());
  }
  return static_cast<double>(left.size());
}

Point Bandit::chosen(const Score& score, const Round& now, const Context& context) {
  const auto anywhere = [&] { return space().maximise(score, context, beginnings()); };
  // (Draws at the candidates have values nowhere else.)
  const bool drawn = score.only_candidates();
  if (!model_state_.fresh || (drawn && !(model_state_.once && now.candidates->complete))) return anywhere();
  const Points candidates = now.inputs();
  for (const double apart : {kApart, kSame}) {
    KnownPoints known = not_again(context, apart, candidates);
    if (known.empty()) return anywhere();
    const FreshScore fresh(score, std::move(known), candidates);
    const Point found = space().maximise(fresh, context, beginnings());
    if (!fresh.bars(space().inputs(found))) return found;
  }
  if (drawn) return anywhere();
  // The remaining points may be few, and no search may have found them.
  const KnownPoints known = not_again(context, kSame, candidates);
  std::vector<Point> left;
  std::vector<const Point*> points;
  for (Point& point : space().all_points(context, kMostPoints)) {
    if (!known.bars(space().inputs(point))) left.push_back(std::move(point));
  }
  if (left.empty()) return anywhere();
  for (const Point& point : left) points.push_back(&point);
  Index best = 0;
  score.at(inputs_of(points)).maxCoeff(&best);
  return left[static_cast<std::size_t>(best)];
}

Round Bandit::next_round(const Context& context, Rng& rng) {
  if (context.eligible) check_eligible(*context.eligible);
  settle_what_is_due();
  Round now = round(context);
  now.state.rng = &rng;
  now.width = guarded(model_state_.policy->width(now));
  set_outcome_widths(now);
  narrow_intervals(intervals_, now);
  now.intervals = &intervals_;
  if (opened() > 0) now.opponent = &state_.query(opened()).point;
  return now;
}

AcquisitionValues Bandit::acquisition(const Context& context, const Points& X, Rng& rng) {
  const Round now = next_round(context, rng);
  const std::unique_ptr<Score> score = penalised(model_state_.policy->prepare(now, rng), now);
  AcquisitionValues out;
  if (!score) return out;
  out.logarithmic = score->logarithmic();
  if (X.cols() == 0) score->values(*now.candidates, out.values);
  else if (!score->only_candidates()) out.values = score->at(X);
  if (!model_state_.fresh || out.values.size() == 0) return out;
  const Points points = X.cols() == 0 ? now.inputs() : X;
  const KnownPoints known = not_again(context, kSame, points);
  for (Index i = 0; i < out.values.size(); ++i) {
    if (known.bars(row_of(points, i))) out.values[i] = kNaN;
  }
  return out;
}

Query Bandit::propose(const Context& context, Rng& rng) {
  Query q;
  q.context = context;
  const Round now = next_round(context, rng);
  const bool opens = !now.opponent && model_state_.policy->opens_with_the_last();
  const Point* last = opens && !state_.explores() ? last_answer(context) : nullptr;
  const Index again = state_.explores() ? 0 : to_repeat(context);
  std::unique_ptr<Score> score;
  if (state_.explores()) q.action = Action::explore;
  else if (again == 0) score = penalised(model_state_.policy->prepare(now, rng), now);
  if (again > 0) q.point = state_.query(again).point;
  else if (last) q.point = *last;
  else q.point = score ? chosen(*score, now, context) : explored_point(context, rng);
  if (score) q.phase = score->phase(q.point);
  look(q);
  q.width = model_state_.policy->width_at(now, q.point, q.mean, q.sd);
  return q;
}

Point Bandit::explored_point(const Context& context, Rng& rng) const {
  const CoverPoint* forced = state_.explored_point();
  if (!forced || (forced->arm >= 0 && !context.allows(forced->arm))) return space().uniform(context, rng);
  return space().point(forced->arm, context.row, forced->inputs);
}

// ---- events -----------------------------------------------------------------

void Bandit::hand_over_events() {
  first_event_ += static_cast<Index>(events_.size());
  events_.clear();
  if (events_.capacity() > 64) events_.shrink_to_fit();  // large after a replay
}

namespace {

// As in the log: `size` is the number of rounds, `other` the number of sums.
Forgotten forgotten_by(const Event& event) {
  const double rounds = event.reported.size;
  if (event.id != 0 || !(rounds >= 1.0 && rounds <= kLargest) || rounds != std::floor(rounds)) {
    throw_invalid("a checkpoint without rounds");
  }
  return {static_cast<Index>(std::min(rounds, 1e15)), event.reported.other};
}

}  // namespace

bool Bandit::apply(Event event, Query* query) {
  const bool sums_up = event.kind == EventKind::given && !std::isnan(event.reward);
  if (state_.lacks_sums() && !sums_up) throw_invalid("an incomplete checkpoint");
  bool alarm = false;
  const bool adds = event.kind == EventKind::query || event.kind == EventKind::given || event.kind == EventKind::reward;
  if (!adds) shown_noise_ = false;
  const auto reward = [&] { alarm = state_.reward(event.id, event.reward, event.g, event.reported); };
  switch (event.kind) {
    case EventKind::query:
    case EventKind::given:
      for (OutcomeModel& outcome_model : outcome_models_) outcome_model.asked(event.kind == EventKind::query);
      if (state_.ask(std::move(*query)) != event.id) {
        throw_invalid("queries are not in the order of their ids");
      }
      if (event.kind == EventKind::given && !std::isnan(event.reward)) reward();
      break;
    case EventKind::reward:
      reward();
      break;
    case EventKind::amend:
      state_.amend(event.id, event.reward, event.reported);
      break;
    case EventKind::withdraw:
      state_.withdraw(event.id, event.reported.outcome, Status::withdrawn);
      break;
    case EventKind::fail:
      state_.withdraw(event.id, event.reported.outcome, Status::failed);
      break;
    case EventKind::restart:
      state_.restart();
      break;
    case EventKind::epoch:
      state_.end_epoch();
      break;
    case EventKind::checkpoint:
      state_.begin_after(forgotten_by(event));
      break;
    case EventKind::refit:
    case EventKind::arms:
      throw_logic("refits and new arms need their parameters");
    default:
      throw_invalid("unknown kind of event");
  }
  for (const Delta& change : state_.take_deltas()) follow(change);
  if (query) advance();
  events_.push_back(std::move(event));
  return alarm;
}

void Bandit::replay(const Event& event, Query query) {
  const bool asks = event.kind == EventKind::query || event.kind == EventKind::given;
  if (asks && query.action != Action::given && model_state_.policy->keeps_intervals()) {
    Round then = round(query.context);
    then.width = guarded(model_state_.policy->width(then));
    narrow_intervals(intervals_, then);
  }
  apply(event, asks ? &query : nullptr);
}

void Bandit::settle_what_is_due() {
  if (state_.restart_due()) restart();
  if (state_.epoch_due()) apply({EventKind::epoch, state_.rounds()});
}

Index Bandit::commit(Query query) {
  apply({EventKind::query, state_.rounds() + 1, state_.clock()}, &query);
  return state_.rounds();
}

Query Bandit::query_at(const Point& point, const Context& context, Action action) {
  settle_what_is_due();
  Query q;
  q.point = point;
  q.context = context;
  q.action = action;
  // (Of many given rows only the first are predicted, because each prediction would need a new factor. The others have
  // the prior's, unless a change rule needs predictions.)
  if (action == Action::given && first().postpones() && !state_.reads_predictions()) {
    q.mean = space().prior_mean(point);
    q.sd = space().prior_scale();
  } else {
    look(q);
  }
  return q;
}

Index Bandit::explore(const Point& point, const Context& context) {
  return commit(query_at(point, context, Action::explore));
}

void Bandit::observe(Index id, double reward, const VectorXd& g, const Report& reported) {
  check_own_noise(reward, reported);
  if (apply({EventKind::reward, id, state_.clock(), reward, reported, g})) restart();
}

Index Bandit::give(const Point& point, const Context& context, double reward, const VectorXd& g,
                   const Report& reported) {
  check_own_noise(reward, reported);
  Query query = query_at(point, context, Action::given);
  const Index id = state_.rounds() + 1;
  if (apply({EventKind::given, id, state_.clock(), reward, reported, g}, &query)) restart();
  return id;
}

// (Noise variance 0 means the usual one, which was checked before.)
void Bandit::amend(Index id, double reward, const Report& reported) {
  if (reported.noise_var != 0.0) check_own_noise(reward, reported);
  apply({EventKind::amend, id, kNaN, reward, reported});
}

void Bandit::withdraw(Index id, Status status, Index outcome) {
  Event event{status == Status::failed ? EventKind::fail : EventKind::withdraw, id};
  event.reported.outcome = outcome;
  apply(std::move(event));
}

void Bandit::restart() { apply({EventKind::restart, state_.rounds()}); }

}  // namespace gpb
