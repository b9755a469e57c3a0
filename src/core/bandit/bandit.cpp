#include "bandit/bandit.h"

#include <algorithm>
#include <cmath>

namespace gpb {

Bandit::Bandit(std::unique_ptr<Space> space, BanditConfig config)
    : space_(std::move(space)), config_(std::move(config)) {
  if (config_.constraints) kappa_ = config_.constraints->first_multipliers();
  make_models();
}

void Bandit::make_models() {
  hallucinated_.reset();
  dmm_models_.clear();
  const Forgetting forgetting = config_.changes ? config_.changes->forgetting : Forgetting();
  mean_ = space_->make_model(config_.noise_var, forgetting);
  if (config_.pending == PendingKind::hallucinate) {
    hallucinated_ = space_->make_model(config_.noise_var, forgetting);
  }
  if (config_.dmm) {
    for (double alpha : config_.dmm->alpha) {
      dmm_models_.push_back(space_->make_model(alpha, forgetting));
    }
  }
  advance();
}

void Bandit::advance() {
  const Index next = rounds() + 1;
  mean_->advance(next);
  if (hallucinated_) hallucinated_->advance(next);
  for (auto& model : dmm_models_) model->advance(next);
}

Query& Bandit::query(Index id) {
  if (id < 1 || id > rounds()) throw std::invalid_argument("unknown query id");
  return queries_[static_cast<std::size_t>(id - 1)];
}

// ---- the choice -------------------------------------------------------------

WidthState Bandit::width_state() const {
  WidthState state;
  state.t = static_cast<double>(1 + rounds() - first_known_);
  state.arms = space_->arms();
  state.noise_var = config_.noise_var;
  state.log_det = variance_model().log_det();
  if (config_.constraints) state.noise_factor = config_.constraints->noise_factor(kappa_);
  state.recent_sd = [this] { return recent_sd(); };
  return state;
}

double Bandit::recent_sd() const {
  const double window = config_.pending == PendingKind::censor ? config_.censor_after : kInf;
  double sum = 0.0, mean, sd;
  for (Index k = rounds() - 1; k >= first_known_; --k) {
    const Query& q = queries_[static_cast<std::size_t>(k)];
    const double ago = config_.censor_by_time ? clock_ - q.time : static_cast<double>(rounds() - k);
    if (ago > window) break;
    if (config_.sdf_over_pending && q.arrived) continue;
    variance_model().at(q.place, mean, sd);
    sum += sd;
  }
  return sum;
}

std::vector<BoundTerm> Bandit::dmm_terms(const WidthState& state) const {
  std::vector<BoundTerm> terms;
  if (!config_.dmm) return terms;
  for (std::size_t k = 0; k < dmm_models_.size(); ++k) {
    const double multiplier = config_.dmm->multiplier(
        config_.dmm->alpha[k], dmm_models_[k]->quadratic(), config_.noise_var, mean_->log_det(),
        mean_->quadratic(), state);
    terms.push_back({dmm_models_[k].get(), multiplier});
  }
  return terms;
}

namespace {

// The multiplier of sd that reaches the smallest of several upper bounds.
double effective_width(const std::vector<BoundTerm>& terms, const Place& place, double mean,
                       double sd) {
  double bound = kInf;
  for (const BoundTerm& term : terms) {
    double m, s;
    term.model->at(place, m, s);
    bound = std::min(bound, m + term.multiplier * s);
  }
  return sd > 0.0 ? (bound - mean) / sd : 0.0;
}

}  // namespace

Place Bandit::recommend(const Context& context, Rng& rng) {
  Acquisition a;
  a.kind = PolicyKind::mean;
  a.prior_scale = space_->prior_scale();
  return space_->choose(a, {mean_.get(), mean_.get(), {}}, context, rng);
}

void Bandit::before_query() {
  if (config_.changes && !replaying_ && config_.changes->due(rounds(), first_of_segment_ + 1)) {
    restart();
  }
  if (config_.constraints && rounds() - first_of_epoch_ >= config_.constraints->epoch) end_epoch();
}

// The multipliers move along the average of the constraint values that the epoch has shown.
void Bandit::end_epoch() {
  VectorXd sum = VectorXd::Zero(kappa_.size());
  double seen = 0.0;
  for (Index k = first_of_epoch_; k < rounds(); ++k) {
    const Query& q = queries_[static_cast<std::size_t>(k)];
    if (!q.arrived) continue;
    sum += q.g;
    seen += 1.0;
  }
  if (seen > 0.0) kappa_ = config_.constraints->next_multipliers(kappa_, sum / seen);
  first_of_epoch_ = rounds();
  if (config_.constraints->reuse) retarget();
  else forget();
}

void Bandit::retarget() {
  std::vector<double> values(static_cast<std::size_t>(mean_->size()));
  for (Index k = first_known_; k < rounds(); ++k) {
    const Query& q = queries_[static_cast<std::size_t>(k)];
    if (is_known(q)) values[static_cast<std::size_t>(q.mean_slot)] = known_value(q);
  }
  if (values.empty()) return;
  mean_->replace_all(values);
  for (auto& model : dmm_models_) model->replace_all(values);
}

Query Bandit::propose(const Context& context, Rng& rng) {
  Query q;
  q.context = context;
  q.segment = segment_;
  const WidthState state = width_state();
  Models models{mean_.get(), &variance_model(), dmm_terms(state)};
  Acquisition a;
  a.kind = config_.policy;
  a.xi = config_.xi;
  a.prior_scale = space_->prior_scale();
  if (config_.width) {
    a.width = config_.width->at(state);
    if (!std::isfinite(a.width)) {
      throw std::invalid_argument("the width is not a finite number in round " +
                                  std::to_string(rounds() + 1));
    }
    q.width = a.width;
  }
  if (a.kind == PolicyKind::ei || a.kind == PolicyKind::pi) {
    a.incumbent = space_->incumbent(*mean_, played_, context);
  }
  if (config_.changes && config_.changes->explores(explored_, rounds() - first_known_)) {
    q.action = Action::explore;
    q.place = space_->uniform(context, rng);
  } else {
    q.place = space_->choose(a, models, context, rng);
  }
  double ignored;
  mean_->at(q.place, q.mean, q.sd);
  if (hallucinated_) hallucinated_->at(q.place, ignored, q.sd);
  if (!models.bounds.empty()) q.width = effective_width(models.bounds, q.place, q.mean, q.sd);
  return q;
}

// ---- what the models know ---------------------------------------------------

void Bandit::add_to_models(Query& q, Index id, double value) {
  q.mean_slot = mean_->size();
  mean_->add(q.place, value, id);
  for (auto& model : dmm_models_) model->add(q.place, value, id);
}

void Bandit::note_played(const Place& place) {
  if (place.x.size() > 0) {
    played_.push_back(place);  // inputs that are not known beforehand rarely repeat
    return;
  }
  const auto arm = static_cast<std::size_t>(place.arm);
  if (is_played_.size() <= arm) is_played_.resize(arm + 1, 0);
  if (!is_played_[arm]) played_.push_back(place);
  is_played_[arm] = 1;
}

void Bandit::enter(Query& q, Index id) {
  note_played(q.place);
  // Its value does not touch the variance, which is all that is asked of this model.
  if (hallucinated_) hallucinated_->add(q.place, space_->prior_mean(q.place), id);
  if (config_.pending == PendingKind::censor) add_to_models(q, id, config_.censor_value);
}

bool Bandit::is_known(const Query& q) const {
  return q.in_play && (q.arrived || config_.pending == PendingKind::censor);
}

double Bandit::known_value(const Query& q) const {
  if (!q.arrived || q.lost) return config_.censor_value;
  return config_.constraints ? config_.constraints->target(q.reward, q.g, kappa_) : q.reward;
}

void Bandit::rebuild_models() {
  make_models();
  for (Index id = 1; id <= rounds(); ++id) {
    Query& q = query(id);
    if (!q.in_play) continue;
    if (hallucinated_) hallucinated_->add(q.place, space_->prior_mean(q.place), id);
    if (is_known(q)) add_to_models(q, id, known_value(q));
  }
}

void Bandit::refit(std::unique_ptr<Space> space, BanditConfig config) {
  // What the detector has seen, it keeps.
  config.changes = config_.changes;
  std::swap(space_, space);
  std::swap(config_, config);
  try {
    rebuild_models();
  } catch (...) {
    std::swap(space_, space);
    std::swap(config_, config);
    rebuild_models();
    throw;
  }
  events_.push_back({EventKind::refit, rounds(), kNaN});
}

void Bandit::learn(Query& q, Index id) {
  const double value = known_value(q);
  if (config_.pending != PendingKind::censor) {
    add_to_models(q, id, value);
    return;
  }
  mean_->replace(q.mean_slot, value);
  for (auto& model : dmm_models_) model->replace(q.mean_slot, value);
}

Index Bandit::commit(Query q) {
  q.segment = segment_;
  q.kappa = kappa_;
  q.time = clock_;
  if (q.action == Action::explore) ++explored_;
  enter(q, rounds() + 1);
  queries_.push_back(std::move(q));
  advance();
  events_.push_back({EventKind::query, rounds(), clock_});
  return rounds();
}

void Bandit::set_clock(double now) {
  clock_ = now;
  if (std::isnan(latest_) || now > latest_) latest_ = now;
}

// A reward observed before round t's query has taken t - s rounds, 0 if no query
// came after its own; or the time since its query.
double Bandit::time_taken(Index id) const {
  if (config_.censor_by_time) return clock_ - queries_[static_cast<std::size_t>(id - 1)].time;
  return id == rounds() ? 0.0 : static_cast<double>(rounds() + 1 - id);
}

void Bandit::observe(Index id, double reward, const VectorXd& g) {
  Query& q = query(id);
  if (q.arrived) throw std::invalid_argument("this query's reward is already known");
  q.reward = reward;
  q.g = g;
  q.arrived = true;
  events_.push_back({EventKind::reward, id, clock_});
  if (!q.in_play) return;
  q.lost = config_.pending == PendingKind::censor && time_taken(id) > config_.censor_after;
  if (!q.lost) learn(q, id);
  if (config_.changes && detects_change(q, id) && !replaying_) restart();
}

// The detector sees the rewards of uniform queries, the event trigger all of them.
bool Bandit::detects_change(const Query& q, Index id) {
  const ChangeRule& rule = *config_.changes;
  if (rule.sweep && q.action == Action::explore) {
    return rule.sweep->add(space_->inputs(q.place), q.reward - space_->prior_mean(q.place));
  }
  const double t = static_cast<double>(id - first_known_);
  return rule.triggered(q.reward, q.mean, q.sd, t, config_.noise_var);
}

Index Bandit::give(const Place& place, const Context& context, double reward,
                   const VectorXd& g) {
  before_query();
  Query q;
  q.place = place;
  q.context = context;
  q.action = Action::given;
  q.segment = segment_;
  q.kappa = kappa_;
  q.g = g;
  q.reward = reward;
  q.arrived = true;
  q.time = clock_;
  double ignored;
  mean_->at(place, q.mean, q.sd);
  if (hallucinated_) hallucinated_->at(place, ignored, q.sd);
  enter(q, rounds() + 1);
  learn(q, rounds() + 1);
  queries_.push_back(q);
  advance();
  events_.push_back({EventKind::given, rounds(), clock_});
  if (config_.changes && detects_change(q, rounds()) && !replaying_) restart();
  return rounds();
}

void Bandit::forget() {
  mean_->clear();
  if (hallucinated_) hallucinated_->clear();
  for (auto& model : dmm_models_) model->clear();
  for (Index k = first_known_; k < rounds(); ++k) {
    queries_[static_cast<std::size_t>(k)].in_play = false;
  }
  played_.clear();
  is_played_.clear();
  explored_ = 0;
  if (config_.changes && config_.changes->sweep) config_.changes->sweep->clear();
  first_known_ = rounds();
}

void Bandit::restart() {
  forget();
  first_of_segment_ = rounds();
  ++segment_;
  events_.push_back({EventKind::restart, rounds(), kNaN});
}

}  // namespace gpb
