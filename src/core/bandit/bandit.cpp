// The bandit (bandit.h) and its run on a known truth (run.h). Uses all other folders.
#include "bandit/bandit.h"
#include "bandit/run.h"

#include "linalg/floors.h"
#include "scores/candidate_score.h"
#include "scores/duel.h"
#include "scores/greedy.h"
#include "scores/thompson.h"
#include "scores/upper_bound.h"
#include "scores/weighted.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {
constexpr double kBelow = 1.0;         // standard deviations below a mean that it has to be worth
constexpr double kMostPlaces = 20000;  // that are scored one by one, where a search finds only known ones
constexpr double kSame = 1e-6;         // of the inputs' ranges: so near points are one
constexpr double kApart = 0.01;        // ... and as near are no two points of a batch, if there are others
}  // namespace

Bandit::Bandit(Beliefs beliefs, FoldRules rules)
    : beliefs_(std::move(beliefs)), fold_(std::move(rules), *this) {
  make_posteriors();
}

Bandit::~Bandit() = default;

// ---- posteriors -------------------------------------------------------------

void Bandit::make_posteriors() {
  if (static_cast<Index>(beliefs_.outcomes.size()) != fold_.outcomes()) {
    throw std::invalid_argument("beliefs and rules are about different outcomes");
  }
  const std::vector<double> companions = beliefs_.policy->companions();
  std::vector<Quantity> made;
  for (Index k = 0; k < fold_.outcomes(); ++k) {
    check_noise_of(k, beliefs(k).noise_var);
    made.emplace_back(beliefs(k), fold_.forgetting(), fold_.pending().variance_knows(),
                      k == 0 ? companions : std::vector<double>(),
                      k == 0 ? beliefs_.policy->norm_bound() : kNaN);
  }
  quantities_ = std::move(made);
  begin_anew(fold_.first_known() + 1);
  advance();
}

void Bandit::check_noise_of(Index outcome, double noise_var) const {
  const double scale = beliefs(outcome).space->prior_scale();
  check_noise(noise_var, scale * scale);
}

void Bandit::check_own_noise(double reward, const Told& told) const {
  if (!told.own_noise() || std::isnan(reward)) return;
  if (told.about() < 0 || told.about() >= fold_.outcomes()) throw std::invalid_argument("there is no such outcome");
  const OutcomeBeliefs& outcome = beliefs(told.about());
  if (outcome.likelihood || (outcome.noise_field && std::isnan(told.noise_var))) return;
  const double of_one =
      std::isnan(told.noise_var) ? outcome.noise_var : outcome.mapped_noise(reward, told.noise_var);
  check_noise_of(told.about(), of_one / told.times());
}

void Bandit::begin_anew(Index first) {
  for (Quantity& quantity : quantities_) quantity.clear(first);
  forget_played();
  intervals_.clear();
}

void Bandit::advance() {
  for (Quantity& quantity : quantities_) quantity.advance(fold_.rounds() + 1);
}

void Bandit::note_played(Index id) {
  const Place& place = fold_.query(id).place;
  if (place.kind == Place::Kind::tabled) {
    const auto row = static_cast<std::size_t>(place.row);
    if (is_played_.size() <= row) is_played_.resize(row + 1, 0);
    if (is_played_[row]) return;
    is_played_[row] = 1;
  }
  played_.push_back(id);
}

// (One that had failed may come back among later ones.)
void Bandit::note(Index id) {
  if (id < last_noted_) return note_anew();
  last_noted_ = id;
  // What lies outside of the space is no incumbent, and not played again.
  if (!space().holds(fold_.query(id).place)) return;
  note_played(id);
  const double spare = (beliefs_.repeats * beliefs_.repeats - 1.0) * noise_var();
  if (spare > 0.0) repetition_.note(id, fold_.query(id), spare);
}

void Bandit::note_anew() {
  forget_played();
  for (Index id = fold_.first_known() + 1; id <= fold_.rounds(); ++id) {
    if (!fold_.query(id).is_void()) note(id);
  }
}

void Bandit::forget_played() {
  last_noted_ = 0;
  played_.clear();
  is_played_.clear();
  repetition_.forget();
}

void Bandit::follow(const Change& change) {
  const Index id = change.id, outcome = change.outcome;
  switch (change.kind) {
    case Change::Kind::asked:
      if (outcome == 0) note(id);
      return quantity(outcome).asked(id, fold_.query(id).place);
    case Change::Kind::learned: {
      const Index other = change.told.other;
      return quantity(outcome).learned(id, fold_.query(id).place, change.value, change.told,
                                       other > 0 ? &fold_.query(other).place : nullptr, ranked_with(id));
    }
    case Change::Kind::dropped:
      quantity(outcome).dropped(id);
      if (outcome == 0) note_anew();
      return;
    case Change::Kind::cleared:
      return begin_anew(fold_.rounds() + 1);
    case Change::Kind::retargeted:
      return quantity(0).revalue([this](Index known) { return fold_.known_value(fold_.query(known)); });
  }
}

std::shared_ptr<const RankedPlaces> Bandit::ranked_with(Index id) const {
  const LikelihoodPtr& likelihood = beliefs(0).likelihood;
  if (!likelihood || !likelihood->ranks()) return nullptr;
  const Ranking ranking = fold_.ranking(id);
  auto out = std::make_shared<RankedPlaces>();
  for (const Index one : ranking.ids) out->places.push_back(fold_.query(one).place);
  out->stages = ranking.stages;
  return out;
}

void Bandit::rebuild() {
  make_posteriors();
  for (Index id = fold_.first_known() + 1; id <= fold_.rounds(); ++id) {
    const Query& q = fold_.query(id);
    for (Index k = 0; k < fold_.outcomes(); ++k) {
      if (q.cell(k).is_void() || fold_.counts_later(q, k)) continue;
      follow({Change::Kind::asked, id, k});
      if (!fold_.is_known(q, k)) continue;
      follow({Change::Kind::learned, id, k, fold_.known_value(q, k), fold_.known_told(q, k)});
    }
  }
}

// If these beliefs cannot be held, the bandit has those that it had.
void Bandit::exchange(Beliefs& beliefs, EventKind kind) {
  const auto exchange = [&] {
    std::swap(beliefs_, beliefs);
    if (kind == EventKind::arms) relocate();
    rebuild();
  };
  try {
    exchange();
  } catch (...) {
    exchange();
    throw;
  }
  events_.push_back({kind, fold_.rounds()});
}

void Bandit::refit(Beliefs beliefs) { exchange(beliefs, EventKind::refit); }

void Bandit::add_arms(Beliefs beliefs) {
  if (!(beliefs.outcomes.at(0).space->numbered_arms() > space().numbered_arms())) {
    throw std::invalid_argument("there are no new arms");
  }
  exchange(beliefs, EventKind::arms);
}

// The rows of a table of arms in contexts are counted by context.
void Bandit::relocate() {
  fold_.relocate([this](const Query& q) {
    if (q.place.kind != Place::Kind::tabled) return q.place;
    return space().place(q.place.arm, q.context->row, VectorXd());
  });
}

// ---- the choice -------------------------------------------------------------

WidthState Bandit::width_state(Index outcome) const {
  WidthState state;
  state.t = static_cast<double>(1 + fold_.history());
  state.rounds = static_cast<double>(fold_.all_rounds());
  state.arms = space().arms();
  state.noise_var = beliefs(outcome).noise_var;
  state.log_det = quantities_[static_cast<std::size_t>(outcome)].variance().log_det();
  if (const ConstraintRule* rule = fold_.constraints()) {
    state.noise_factor = rule->noise_factor(fold_.multipliers());
    state.failure_factor = rule->failure_factor();
  }
  state.known = static_cast<double>(fold_.known_rewards(outcome));
  state.own_noise = [this, outcome] { return own_noise(outcome); };
  state.information = [this, outcome] {
    return quantities_[static_cast<std::size_t>(outcome)].known().information();
  };
  state.site_gap = [this, outcome] {
    const Quantity& quantity = quantities_[static_cast<std::size_t>(outcome)];
    return SiteGap{quantity.mean().site_gap().gradient, quantity.curved().site_gap().sd};
  };
  state.recent_sd = [this, outcome](bool pending_only) { return recent_sd(outcome, pending_only); };
  return state;
}

OwnNoise Bandit::own_noise(Index outcome) const {
  OwnNoise out;
  for (const Index id : fold_.own_noise(outcome)) {
    const Query& q = fold_.query(id);
    const double ratio = quantities_[static_cast<std::size_t>(outcome)].weight(
        q.cell(outcome).reward, fold_.known_told(q, outcome), q.place);
    out.largest_ratio = std::max(out.largest_ratio, ratio);
    out.precision += (ratio - 1.0) / beliefs(outcome).noise_var;
  }
  return out;
}

double Bandit::recent_sd(Index outcome, bool pending_only) const {
  const Posterior& variance = quantities_[static_cast<std::size_t>(outcome)].variance();
  const double window = fold_.pending().patience();
  double sum = 0.0, mean, sd;
  const auto add = [&](Index id) {
    variance.at(fold_.query(id).place, mean, sd);
    sum += sd;
  };
  if (pending_only) {
    for (const Index id : fold_.awaited()) {
      if (fold_.age(id) <= window) add(id);
    }
    return sum;
  }
  for (Index id = fold_.rounds(); id > fold_.first_known() && fold_.age(id) <= window; --id) {
    if (!fold_.query(id).is_void()) add(id);
  }
  return sum;
}

// Largest posterior mean among the places played in this context, pending ones too; the largest
// prior mean if there are none.
double Bandit::incumbent(const Context& context) const {
  if (context.fixed) return incumbent_of_slice(context);
  std::vector<const Place*> places;
  std::vector<Index> slots;
  for (const Index id : played_) {
    const Place& place = fold_.query(id).place;
    if (!space().in_context(place, context)) continue;
    if (context.eligible && !context.allows(place.arm)) continue;
    places.push_back(&place);
    slots.push_back(first().known().slot(id));
  }
  if (places.empty()) return space().largest_prior_mean(context);
  return mean().largest_mean_at(places, slots);
}

// The same of the places played in this context, moved to where inputs are fixed.
double Bandit::incumbent_of_slice(const Context& context) const {
  std::vector<const Place*> places;
  for (const Index id : played_) {
    const Place& place = fold_.query(id).place;
    if (space().in_context(place, context)) places.push_back(&place);
  }
  const Points X = space().moved(places, context);
  return X.rows() > 0 ? mean().mean_of(X).maxCoeff() : space().largest_prior_mean(context);
}

// At places of the table one by one, elsewhere at once.
PlacesMoments Bandit::played_moments(const Context& context) const {
  std::vector<const Place*> places;
  for (const Index id : played_) {
    const Place& place = fold_.query(id).place;
    if (!space().in_context(place, context)) continue;
    if (context.eligible && !context.allows(place.arm)) continue;
    places.push_back(&place);
  }
  if (context.fixed) return outcomes_at(space().moved(places, context));
  const auto count = static_cast<Index>(places.size());
  if (count > 0 && places[0]->kind != Place::Kind::tabled) {
    Points X(count, places[0]->x.size());
    for (Index i = 0; i < count; ++i) set_row(X, i, places[static_cast<std::size_t>(i)]->x);
    return outcomes_at(X);
  }
  const Index outcomes = fold_.outcomes();
  PlacesMoments out{MatrixXd(count, outcomes), MatrixXd(count, outcomes)};
  for (Index k = 0; k < outcomes; ++k) {
    for (Index i = 0; i < count; ++i) {
      quantities_[static_cast<std::size_t>(k)].at(*places[static_cast<std::size_t>(i)], out.mean(i, k),
                                                  out.sd(i, k));
    }
  }
  return out;
}

PlacesMoments Bandit::outcomes_at(const Points& X) const {
  const Index outcomes = fold_.outcomes();
  PlacesMoments out{MatrixXd(X.rows(), outcomes), MatrixXd(X.rows(), outcomes)};
  VectorXd mean, variance;
  for (Index k = 0; k < outcomes; ++k) {
    const Quantity& quantity = quantities_[static_cast<std::size_t>(k)];
    MeanAndVariance{quantity.mean(), quantity.variance()}.predict(X, mean, variance);
    out.mean.col(k) = mean;
    out.sd.col(k) = roots(variance);
  }
  return out;
}

double Bandit::value(const Score& score, const Place& place, const Context& context) const {
  const Candidates& all = beliefs_.outcomes[0].space->candidates(context);
  if (!all.complete) return score.at(space().inputs(place), nullptr);
  VectorXd values;
  score.values(all, values);
  return values[place.arm];
}

double Bandit::largest(const Score& score, const Context& context) const {
  return value(score, beliefs_.outcomes[0].space->maximise(score, context, beginnings()), context);
}

OutcomeView Bandit::known_view() const {
  return {&mean(), &mean(), Role(), space().prior_scale(), noise_var()};
}

std::vector<OutcomeView> Bandit::outcome_views() const {
  std::vector<OutcomeView> out;
  for (Index k = 0; has_several() && k < fold_.outcomes(); ++k) {
    const Quantity& quantity = quantities_[static_cast<std::size_t>(k)];
    out.push_back({&quantity.mean(), &quantity.variance(), beliefs(k).role,
                   beliefs(k).space->prior_scale(), beliefs(k).noise_var});
  }
  return out;
}

// The policy's own rule, with what each outcome's observations have told.
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
    round.outcomes[k].width = guarded(beliefs_.policy->width(of_outcome));
  }
}

Round Bandit::round(const Context& context) const {
  Round round;
  round.number = static_cast<double>(fold_.all_rounds() + 1);
  round.largest_phase = fold_.largest_phase();
  round.mean = &mean();
  round.variance = first().is_curved() ? &curved() : &variance();
  round.companions = first().companions();
  round.candidates = &beliefs_.outcomes[0].space->candidates(context);
  round.eligible = context.eligible;
  round.prior_scale = space().prior_scale();
  round.noise_var = noise_var();
  round.state = width_state();
  // Intervals are kept of the candidates alone: on a box their number is what a union counts.
  if (std::isnan(round.state.arms) && beliefs_.policy->keeps_intervals()) {
    round.state.arms = static_cast<double>(round.candidates->size());
  }
  offer_lookups(round, context);
  round.incumbent = [this, &context] { return incumbent(context); };
  round.awaits_rewards = [this] { return first().knows_pending() && !fold_.awaited().empty(); };
  round.outcomes = outcome_views();
  round.played = [this, &context] { return played_moments(context); };
  round.largest = [this, &context](const Score& score) { return largest(score, context); };
  return round;
}

// What a policy may ask for in any round.
void Bandit::offer_lookups(Round& round, const Context& context) const {
  round.inputs = [this, &context] { return candidate_inputs(context); };
  round.prior_sd = [this, &context](Index outcome) { return prior_sd(outcome, context); };
  round.width_of = [this](Index outcome) {
    Round of_outcome;
    of_outcome.state = width_state(outcome);
    return beliefs_.policy->width(of_outcome);
  };
}

VectorXd Bandit::prior_sd(Index outcome, const Context& context) const {
  const Candidates& all = beliefs_.outcomes[0].space->candidates(context);
  const auto nothing = beliefs(outcome).space->make_posterior(beliefs(outcome).noise_var, Forgetting());
  return candidate_sds(*nothing, all);
}

double Bandit::width() const {
  Round only_state;
  only_state.state = width_state();
  return beliefs_.policy->width(only_state);
}

void Bandit::look(Query& q) const {
  first().at(q.place, q.mean, q.sd);
}

double Bandit::width(Width& other) const { return other.at(width_state()); }

Round Bandit::round_of_known(const Context& context) const {
  Round round;
  round.mean = round.variance = &mean();
  if (first().is_curved()) round.variance = &curved();
  round.candidates = &beliefs_.outcomes[0].space->candidates(context);
  round.prior_scale = space().prior_scale();
  round.noise_var = noise_var();
  round.outcomes = outcome_views();
  for (OutcomeView& outcome : round.outcomes) outcome.variance = outcome.mean;
  return round;
}

Place Bandit::recommend(const Context& context, double feasible) {
  Round known = round_of_known(context);
  offer_lookups(known, context);
  known.feasible = feasible;
  known.state = width_state();
  const bool complete = known.candidates->complete;
  Beginnings from = beginnings();
  if (const auto score = beliefs_.policy->recommendation(known)) {
    if (!complete && !score->only_candidates()) from.played = inputs_of(rewarded(context), context);
    return space().maximise(*score, context, from);
  }
  if (!complete) from.played = inputs_of(rewarded(context), context);
  const Place found = space().maximise(MeanScore(known), context, from);
  const Place* sure = context.fixed || context.eligible ? nullptr : surely_as_good(found);
  return sure ? *sure : complete ? settled_among(found, context) : found;
}

// (Rewards may have been told with a noise of their own.)
bool Bandit::is_exact(Index id) const {
  const Query& q = fold_.query(id);
  return beliefs_.exact && first().weight(q.reward, fold_.known_told(q), q.place) > 0.5;
}

// Where there is next to no noise: the place of the best reward, unless f is larger at the place that was found even
// where it is as much lower than its mean as is likely.
const Place* Bandit::surely_as_good(const Place& found) const {
  if (!beliefs_.exact) return nullptr;
  const Place* best = nullptr;
  double largest = -kInf, mean, sd;
  for (const Index id : rewarded(Context())) {
    if (!is_exact(id)) continue;
    const Query& q = fold_.query(id);
    const double value = beliefs(0).outputs.value(fold_.known_value(q));
    if (best && !(value > largest)) continue;
    best = &q.place;
    largest = value;
  }
  if (!best) return nullptr;
  first().mean().at(found, mean, sd);
  return mean - kBelow * sd > largest ? nullptr : best;
}

std::vector<Index> Bandit::rewarded(const Context& context) const {
  std::vector<Index> out;
  for (Index id = fold_.first_known() + 1; id <= fold_.rounds(); ++id) {
    const Query& q = fold_.query(id);
    if (!q.in_play || q.status != Status::known || !space().holds(q.place)) continue;
    if (!space().in_context(q.place, context) || (context.eligible && !context.allows(q.place.arm))) continue;
    out.push_back(id);
  }
  return out;
}

Points Bandit::inputs_of(const std::vector<Index>& ids, const Context& context) const {
  std::vector<const Place*> places;
  for (const Index id : ids) places.push_back(&fold_.query(id).place);
  return context.fixed ? space().moved(places, context) : inputs_of(places);
}

Points Bandit::inputs_of(const std::vector<const Place*>& places) const {
  Points X(static_cast<Index>(places.size()), places.empty() ? 0 : space().inputs(*places[0]).size());
  for (Index i = 0; i < X.rows(); ++i) set_row(X, i, space().inputs(*places[static_cast<std::size_t>(i)]));
  return X;
}

// Of arms: one that was played, where the mean is as large as at the place that was found.
Place Bandit::settled_among(const Place& found, const Context& context) const {
  std::vector<const Place*> places;
  std::vector<Index> slots;
  for (const Index id : rewarded(context)) {
    places.push_back(&fold_.query(id).place);
    slots.push_back(first().known().slot(id));
    if (places.back()->arm == found.arm) return found;
  }
  if (places.empty()) return found;
  double largest, sd;
  mean().at(found, largest, sd);
  const VectorXd means = mean().means_at(places, slots);
  const Place* lowest = nullptr;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const bool ties = means[static_cast<Index>(k)] >= largest - kTie * space().prior_scale();
    if (ties && (!lowest || places[k]->arm < lowest->arm)) lowest = places[k];
  }
  return lowest ? *lowest : found;
}

std::pair<Place, double> Bandit::largest_bound(double width, const Context& context) {
  Round round = round_of_known(context);
  round.width = width;
  const BoundScore score(round);
  const Place place = space().maximise(score, context, beginnings());
  return {place, value(score, place, context)};
}

Place Bandit::largest_sum(const std::vector<const Bandit*>& others, std::vector<BoundTerm> terms, double target,
                          const Context& context) {
  Round round = round_of_known(context);
  round.outcomes.clear();
  round.outcomes.push_back(known_view());
  for (const Bandit* other : others) round.outcomes.push_back(other->known_view());
  return space().maximise(*make_sum_of_bounds(round, std::move(terms), target), context, beginnings());
}

MatrixXd Bandit::drawn_maxima(const Place& place, Index draws, const Context& context, Rng& rng) {
  Round round = round_of_known(context);
  round.width = 1.0;
  MatrixXd out(draws, 2);
  for (Index k = 0; k < draws; ++k) {
    const DrawnScore draw(round, rng);
    out(k, 1) = value(draw, place, context);
    out(k, 0) = std::max(out(k, 1), largest(draw, context));
  }
  return out;
}

std::unique_ptr<JointMaxima> Bandit::joint_maxima(const Context& context) {
  const Candidates& all = space().candidates(context);
  if (!all.complete) return nullptr;
  const Index place = all.find(recommend(context));
  return place < 0 ? nullptr : JointMaxima::of(mean(), all, place);
}

double Bandit::pending_information() const {
  if (!first().knows_pending()) return 0.0;
  return std::max(0.0, 0.5 * (variance().log_det() - mean().log_det()));
}

// sd without the pending queries is at most exp(guard) times sd with them: where these carry no
// more than the guard, intervals that are so much wider hold all the same.
double Bandit::guarded(double width) const {
  const double guard = fold_.pending().guard();
  if (std::isinf(guard)) return width;
  if (pending_information() > guard) {
    throw std::invalid_argument("the pending queries carry " +
                                std::to_string(pending_information()) +
                                " nats of information, more than `guard` allows (" +
                                std::to_string(guard) + "): a reward must be observed first");
  }
  return std::exp(guard) * width;
}

void Bandit::check_eligible(const std::vector<char>& arms) const {
  const bool some = std::any_of(arms.begin(), arms.end(), [](char arm) { return arm != 0; });
  if (static_cast<Index>(arms.size()) == space().numbered_arms() && some) return;
  throw std::invalid_argument("the eligible arms must be some of the bandit's");
}

Points Bandit::candidate_inputs(const Context& context) const {
  const Candidates& all = beliefs_.outcomes[0].space->candidates(context);
  if (!all.tabled()) return all.X;
  Points out;
  for (Index k = 0; k < all.count; ++k) {
    const VectorXd x = space().inputs(Place::tabled(k, all.first + k));
    if (k == 0) out.resize(all.count, x.size());
    set_row(out, k, x);
  }
  return out;
}

void Bandit::narrow_intervals(RunningIntervals& intervals, const Round& round) const {
  if (!beliefs_.policy->keeps_intervals()) return;
  const Candidates& all = *round.candidates;
  intervals.intersect(all.first, all.size(), mean().moments(all), round.width,
                      kTie * round.prior_scale);
}

RunningIntervals Bandit::intervals(const Context& context) {
  if (!beliefs_.policy->keeps_intervals()) {
    throw std::invalid_argument("this policy keeps no running intervals");
  }
  Round now = round(context);
  now.width = beliefs_.policy->width(now);
  RunningIntervals out = intervals_;
  narrow_intervals(out, now);
  return out;
}

PlaceLabels Bandit::labels(const Context& context) {
  Round known = round_of_known(context);
  offer_lookups(known, context);
  return beliefs_.policy->labels(known);
}

std::unique_ptr<Score> Bandit::penalised(std::unique_ptr<Score> score, const Round& now) const {
  const auto* rule = dynamic_cast<const PenalisePending*>(&fold_.pending());
  if (!rule || !score) return score;
  if (fold_.awaited().empty()) return score;
  const auto count = static_cast<Index>(fold_.awaited().size());
  const Candidates& all = *now.candidates;
  Points X = now.inputs();
  Penalties penalties{Points(count, rule->actions()), VectorXd(count), VectorXd(count),
                      rule->lipschitz(), 0.0};
  Index k = 0;
  for (const Index id : fold_.awaited()) {
    const Place& place = fold_.query(id).place;
    set_row(penalties.centres, k, space().inputs(place));
    mean().at(place, penalties.mean[k], penalties.sd[k]);
    penalties.sd[k] = std::max(penalties.sd[k], kTie * now.prior_scale);
    ++k;
  }
  if (std::isnan(penalties.lipschitz)) penalties.lipschitz = steepest_mean(now, X, rule->actions());
  // (What is kept of the candidates is rounded as the bandit has lived; one made again must agree.)
  Index best = 0;
  penalties.top = Eigen::Map<const VectorXd>(mean().moments(all).mean, all.size()).maxCoeff(&best);
  if (!all.complete) penalties.top = mean().mean_of(as_rows(row_of(X, best)))[0];
  return std::make_unique<PenalisedScore>(std::move(score), std::move(penalties), std::move(X));
}

Index Bandit::to_repeat(const Context& context) const {
  const Index due = repetition_.due();
  if (due == 0) return 0;
  const Place& place = fold_.query(due).place;
  const bool barred = (context.eligible && !context.allows(place.arm)) ||
                      (context.fixed && !context.fixed->holds(place.x));
  return barred || !space().in_context(place, context) ? 0 : due;
}

Index Bandit::opened() const {
  const Index id = fold_.rounds();
  if (id == 0 || !beliefs_.policy->pairs()) return 0;
  const Query& q = fold_.query(id);
  const bool opens = q.in_play && q.action == Action::policy && std::isnan(q.width);
  return opens && q.status == Status::pending ? id : 0;
}

const Place* Bandit::last_answer(const Context& context) const {
  for (Index id = fold_.rounds(); id > fold_.first_known(); --id) {
    const Query& q = fold_.query(id);
    if (q.action != Action::policy || std::isnan(q.width) || q.is_void()) continue;
    const bool barred = context.eligible && !context.allows(q.place.arm);
    if (!barred && space().in_context(q.place, context)) return &q.place;
  }
  return nullptr;
}

std::pair<Place, double> Bandit::largest_advantage(const Place& from, double width,
                                                   const Context& context) {
  const Candidates& all = space().candidates(context);
  const AdvantageScore score(mean(), curved(), all, from, width, space().prior_scale());
  const Place place = space().maximise(score, context, beginnings());
  return {place, value(score, place, context)};
}

KnownPlaces Bandit::not_again(const Context& context, double apart) const {
  std::vector<const Place*> places;
  std::vector<double> reach;
  const auto add = [&](Index id, double near) {
    const Place& place = fold_.query(id).place;
    if (context.fixed && !context.fixed->holds(place.x)) return;
    if (!space().in_context(place, context)) return;
    places.push_back(&place);
    reach.push_back(near);
  };
  const std::set<Index>& awaited = fold_.awaited();
  if (beliefs_.exact) {
    for (const Index id : played_) {
      const bool known = is_exact(id) || fold_.query(id).status == Status::failed;
      if (known && awaited.count(id) == 0) add(id, kSame);
    }
  }
  if (beliefs_.fresh && fold_.pending().noticed()) {
    for (const Index id : awaited) add(id, apart);
  }
  return {inputs_of(places), Eigen::Map<const VectorXd>(reach.data(), static_cast<Index>(reach.size()))};
}

Place Bandit::chosen(const Score& score, const Round& now, const Context& context) {
  const auto anywhere = [&] { return space().maximise(score, context, beginnings()); };
  if (score.only_candidates() || !beliefs_.fresh) return anywhere();
  for (const double apart : {kApart, kSame}) {
    KnownPlaces known = not_again(context, apart);
    if (known.inputs.rows() == 0) return anywhere();
    const FreshScore fresh(score, std::move(known), now.inputs());
    const Place found = space().maximise(fresh, context, beginnings());
    if (!fresh.bars(space().inputs(found))) return found;
  }
  // What is left may be few places, which no search came to.
  const FreshScore fresh(score, not_again(context, kSame), now.inputs());
  std::vector<Place> left;
  std::vector<const Place*> places;
  for (Place& place : space().all_places(context, kMostPlaces)) {
    if (!fresh.bars(space().inputs(place))) left.push_back(std::move(place));
  }
  if (left.empty()) return anywhere();
  for (const Place& place : left) places.push_back(&place);
  Index best = 0;
  score.at(inputs_of(places)).maxCoeff(&best);
  return left[static_cast<std::size_t>(best)];
}

Query Bandit::propose(const Context& context, Rng& rng) {
  if (context.eligible) check_eligible(*context.eligible);
  settle_what_is_due();
  Query q;
  q.context = context;
  Round now = round(context);
  now.state.rng = &rng;
  now.width = guarded(beliefs_.policy->width(now));
  set_outcome_widths(now);
  narrow_intervals(intervals_, now);
  now.intervals = &intervals_;
  const Index opener = opened();
  if (opener > 0) now.opponent = &fold_.query(opener).place;
  const bool opens = opener == 0 && beliefs_.policy->opens_with_the_last();
  const Place* last = opens && !fold_.explores() ? last_answer(context) : nullptr;
  const Index again = fold_.explores() ? 0 : to_repeat(context);
  std::unique_ptr<Score> score;
  if (fold_.explores()) q.action = Action::explore;
  else if (again == 0) score = penalised(beliefs_.policy->prepare(now, rng), now);
  if (again > 0) q.place = fold_.query(again).place;
  else if (last) q.place = *last;
  else q.place = score ? chosen(*score, now, context) : space().uniform(context, rng);
  if (score) q.phase = score->phase(q.place);
  look(q);
  q.width = beliefs_.policy->width_at(now, q.place, q.mean, q.sd);
  return q;
}

// ---- events -----------------------------------------------------------------

void Bandit::hand_over_events() {
  first_event_ += static_cast<Index>(events_.size());
  events_.clear();
  if (events_.capacity() > 64) events_.shrink_to_fit();  // those of a replay
}

namespace {

// As the log has it: rounds beside `size`, their sums beside `other`.
Forgotten forgotten_by(const Event& event) {
  const double rounds = event.told.size;
  if (event.id != 0 || !(rounds >= 1.0 && rounds <= kLargest) || rounds != std::floor(rounds)) {
    throw std::invalid_argument("a checkpoint of no rounds");
  }
  return {static_cast<Index>(std::min(rounds, 1e15)), event.told.other};
}

}  // namespace

bool Bandit::apply(Event event, Query* query) {
  const bool sums_up = event.kind == EventKind::given && !std::isnan(event.reward);
  if (fold_.lacks_sums() && !sums_up) throw std::invalid_argument("a checkpoint that is not whole");
  bool alarm = false;
  const auto reward = [&] { alarm = fold_.reward(event.id, event.reward, event.g, event.told); };
  switch (event.kind) {
    case EventKind::query:
    case EventKind::given:
      for (Quantity& quantity : quantities_) quantity.asked();
      if (fold_.ask(std::move(*query)) != event.id) {
        throw std::invalid_argument("queries are not in the order of their ids");
      }
      if (event.kind == EventKind::given && !std::isnan(event.reward)) reward();
      break;
    case EventKind::reward:
      reward();
      break;
    case EventKind::amend:
      fold_.amend(event.id, event.reward, event.told);
      break;
    case EventKind::withdraw:
      fold_.withdraw(event.id, event.told.outcome, Status::withdrawn);
      break;
    case EventKind::fail:
      fold_.withdraw(event.id, event.told.outcome, Status::failed);
      break;
    case EventKind::restart:
      fold_.restart();
      break;
    case EventKind::epoch:
      fold_.end_epoch();
      break;
    case EventKind::checkpoint:
      fold_.begin_after(forgotten_by(event));
      break;
    case EventKind::refit:
    case EventKind::arms:
      throw std::logic_error("a refit brings its parameters, and so do new arms");
    default:
      throw std::invalid_argument("unknown kind of event");
  }
  for (const Change& change : fold_.take_changes()) follow(change);
  if (query) advance();
  events_.push_back(std::move(event));
  return alarm;
}

void Bandit::replay(const Event& event, Query query) {
  const bool asks = event.kind == EventKind::query || event.kind == EventKind::given;
  if (asks && query.action != Action::given && beliefs_.policy->keeps_intervals()) {
    Round then = round(query.context);
    then.width = guarded(beliefs_.policy->width(then));
    narrow_intervals(intervals_, then);
  }
  apply(event, asks ? &query : nullptr);
}

void Bandit::settle_what_is_due() {
  if (fold_.restart_due()) restart();
  if (fold_.epoch_due()) apply({EventKind::epoch, fold_.rounds()});
}

Index Bandit::commit(Query query) {
  apply({EventKind::query, fold_.rounds() + 1, fold_.clock()}, &query);
  return fold_.rounds();
}

Query Bandit::query_at(const Place& place, const Context& context, Action action) {
  settle_what_is_due();
  Query q;
  q.place = place;
  q.context = context;
  q.action = action;
  look(q);
  return q;
}

Index Bandit::explore(const Place& place, const Context& context) {
  return commit(query_at(place, context, Action::explore));
}

void Bandit::observe(Index id, double reward, const VectorXd& g, const Told& told) {
  check_own_noise(reward, told);
  if (apply({EventKind::reward, id, fold_.clock(), reward, told, g})) restart();
}

Index Bandit::give(const Place& place, const Context& context, double reward, const VectorXd& g,
                   const Told& told) {
  check_own_noise(reward, told);
  Query query = query_at(place, context, Action::given);
  const Index id = fold_.rounds() + 1;
  if (apply({EventKind::given, id, fold_.clock(), reward, told, g}, &query)) restart();
  return id;
}

// (Noise variance 0: the usual one, which has been checked.)
void Bandit::amend(Index id, double reward, const Told& told) {
  if (told.noise_var != 0.0) check_own_noise(reward, told);
  apply({EventKind::amend, id, kNaN, reward, told});
}

void Bandit::withdraw(Index id, Status status, Index outcome) {
  Event event{status == Status::failed ? EventKind::fail : EventKind::withdraw, id};
  event.told.outcome = outcome;
  apply(std::move(event));
}

void Bandit::restart() { apply({EventKind::restart, fold_.rounds()}); }

// ---- runs against a known truth -----------------------------------------------------------------

Run::Run(Bandit& bandit, Environment& environment, RunDraws draws)
    : bandit_(bandit), environment_(environment), draws_(std::move(draws)) {
  const double latest = bandit.fold().latest_time();
  if (!std::isnan(latest)) start_ = latest;
}

// For bandits that go by the clock a round is one unit of time.
void Run::set_clock(double now) {
  if (bandit_.fold().pending().by_clock()) bandit_.set_clock(start_ + now);
}

double Run::delay_of(const Query& query) const {
  if (draws_.delay_at) return draws_.delay_at(query, round_);
  return draws_.delay.empty() ? 0.0 : draws_.delay[static_cast<std::size_t>(round_)];
}

void Run::arrive(const Arrival& arrival, double now) {
  tell(arrival);
  if (bandit_.fold().query(arrival.id).status != Status::lost) outcome_.known[arrival.round] = now;
}

// What a problem has for constraints are a bandit's further outcomes, where it has some.
void Run::tell(const Arrival& arrival) {
  if (bandit_.fold().outcomes() == 1) return bandit_.observe(arrival.id, arrival.reward, arrival.g);
  for (Index k = 0; k < bandit_.fold().outcomes(); ++k) {
    Told told;
    told.outcome = k;
    bandit_.observe(arrival.id, k == 0 ? arrival.reward : arrival.g[k - 1], VectorXd(), told);
  }
}

// A delay d makes the reward of round s usable from round t on iff d <= t - s.
void Run::deliver(double now) {
  while (!in_flight_.empty() && in_flight_.begin()->first <= now) {
    const Arrival arrival = in_flight_.begin()->second;
    in_flight_.erase(in_flight_.begin());
    arrive(arrival, now);
  }
}

void Run::receive() {
  const double now = static_cast<double>(round_ + 1);
  set_clock(now);
  deliver(now);
}

Context Run::context() const {
  return draws_.contexts.empty() ? Context() : draws_.contexts[static_cast<std::size_t>(round_)];
}

void Run::step(Rng& rng) {
  receive();
  play(bandit_.propose(context(), rng));
}

void Run::step_at(const Place& place) {
  receive();
  play(bandit_.query_at(place, context(), Action::explore));
}

void Run::play(Query query) {
  const auto k = static_cast<std::size_t>(round_);
  const double now = static_cast<double>(round_ + 1);
  const double truth = environment_.truth(query, round_);
  const VectorXd constraints = environment_.constraints(query, round_);
  // A bandit that knows of no constraints is told of none.
  VectorXd g;
  if (bandit_.fold().constraints() || bandit_.fold().outcomes() > 1) {
    g = constraints + row_of(draws_.constraint_noise, round_);
  }
  const double delay = delay_of(query);
  const Index id = bandit_.commit(std::move(query));
  outcome_.truth.push_back(truth);
  outcome_.constraints.push_back(constraints);
  outcome_.known.push_back(kNaN);
  const Arrival arrival{id, truth + draws_.noise[round_], g, k};
  if (delay <= 0.0) {
    arrive(arrival, now);
  } else {
    in_flight_.insert({now + delay, arrival});
  }
  ++round_;
}

}  // namespace gpb
