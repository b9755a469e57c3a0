// Functions of bandit_state.h: the state of a bandit, built from its events without a posterior or a policy. Uses base/
// and linalg/.
#include "events/bandit_state.h"

#include "base/ordering.h"
#include "linalg/floors.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// (Long runs have millions of queries.)
static_assert(sizeof(void*) != 8 || sizeof(Query) <= 144, "a query has grown: does every query need it?");

BanditState::BanditState(StateRules rules, const PointFacts& points)
    : rules_(std::move(rules)), points_(points) {
  if (rules_.constraints) kappa_ = rules_.constraints->first_multipliers();
  for (const int sign : rules_.failures) {
    Column column;
    column.failures = sign;
    columns_.push_back(std::move(column));
  }
  if (columns_.empty()) throw_invalid("a bandit needs an outcome");
  if (outcomes() > 1 && (rules_.constraints || rules_.changes || rules_.pending->has_stand_in())) {
    throw_invalid("several outcomes cannot be combined with changes, constraints or stand-ins");
  }
}

Status Query::overall_status() const {
  if (beside->others.empty()) return status;
  bool awaited = status == Status::pending, answered = status == Status::known, lost = status == Status::lost,
       failed = status == Status::failed;
  bool only_awaited = awaited;
  for (const Cell& cell : beside->others) {
    awaited = awaited || cell.status == Status::pending;
    only_awaited = only_awaited && cell.status == Status::pending;
    answered = answered || cell.status == Status::known;
    lost = lost || cell.status == Status::lost;
    failed = failed || cell.status == Status::failed;
  }
  if (awaited) return only_awaited ? Status::pending : Status::partial;
  if (answered) return Status::known;
  if (lost) return Status::lost;
  return failed ? Status::failed : Status::withdrawn;
}

std::size_t BanditState::checked(Index id) const {
  if (id < 1 || id > rounds()) {
    throw_invalid("there is no query of id " + std::to_string(id));
  }
  return static_cast<std::size_t>(id - 1);
}

namespace {

void check_reward(double reward) {
  if (!(std::abs(reward) <= kLargest)) {
    throw_invalid("a reward must be a finite number, at most 1e150 in size");
  }
}

// An amendment with noise variance 0 restores the usual noise variance.
bool is_back_to_usual(const Report& reported) { return reported.noise_var == 0.0; }

void check_reported(const Report& reported) {
  const auto positive = [](double x) { return std::isnan(x) || (x > 0.0 && x <= kLargest); };
  if (!positive(reported.noise_var)) {
    throw_invalid("a reward's noise variance must be a number > 0");
  }
  if (!positive(reported.size)) throw_invalid("a reward's size must be a number > 0");
  if (!std::isnan(reported.spread) && !(reported.spread >= 0.0 && reported.spread <= kLargest)) {
    throw_invalid("the spread of several rewards must be a number >= 0");
  }
}

}  // namespace

Forgetting BanditState::forgetting() const {
  return rules_.changes ? rules_.changes->forgetting() : Forgetting();
}

void BanditState::set_clock(double now) {
  if (std::isinf(now)) throw_invalid("a time must be a finite number");
  clock_ = now;
  if (std::isnan(latest_) || now > latest_) latest_ = now;
}

// ---- known values -----------------------------------------------------------

bool BanditState::is_known(const Query& q, Index outcome) const {
  const Cell& cell = q.cell(outcome);
  if (!q.in_play || cell.is_void() || cell.echo) return false;
  if (cell.avoided && !std::isnan(column(outcome).worst)) return true;
  return cell.status == Status::known || rules_.pending->has_stand_in();
}

bool BanditState::counts_later(const Query& q, Index outcome) const {
  return q.cell(outcome).avoided && std::isnan(column(outcome).worst);
}

Plateau::Counted Plateau::of(double residual, double noise_var) const {
  const double u = std::min(std::abs(residual) - half, kFarthest * decay);
  if (!(u > 0.0)) return {residual, 1.0};
  const double counted = half + u + 2.0 * noise_var * u / (decay * decay + u * u);
  return {std::copysign(counted, residual), 1.0 + u * u / (decay * decay)};
}

Plateau::Counted BanditState::on_plateau(const Query& q) const {
  const Report reported = q.reported.get();
  const double noise_var = std::isnan(reported.noise_var) ? points_.noise_var() : reported.noise_var;
  return rules_.plateau.of(q.reward - points_.prior_mean(q.point), noise_var / reported.times());
}

Report BanditState::known_reported(const Query& q, Index outcome) const {
  const Cell& cell = q.cell(outcome);
  if (cell.status != Status::known) return cell.avoided ? failure_reported(outcome) : Report();
  Report out = cell.reported.get();
  if (outcome > 0 || rules_.plateau.half == kInf) return out;
  const double factor = on_plateau(q).noise_factor;
  if (factor > 1.0) out.noise_var = factor * (std::isnan(out.noise_var) ? points_.noise_var() : out.noise_var);
  return out;
}

double BanditState::known_value(const Query& q, Index outcome) const {
  const Cell& cell = q.cell(outcome);
  if (cell.avoided && !std::isnan(column(outcome).worst)) return column(outcome).worst;
  if (cell.status != Status::known) return rules_.pending->stand_in();
  if (outcome > 0) return cell.reward;
  if (rules_.plateau.half < kInf) return points_.prior_mean(q.point) + on_plateau(q).residual;
  const double reward = std::min(std::max(q.reward, -rules_.clip), rules_.clip);
  return rules_.constraints ? rules_.constraints->target(reward, q.g(), kappa_) : reward;
}

// ---- events -----------------------------------------------------------------

Index BanditState::ask(Query q) {
  q.segment = segment_;
  q.status = Status::pending;
  q.beside = BesideQuery{clock_, kappa_, VectorXd(), std::vector<Cell>(columns_.size() - 1)};
  largest_phase_ = std::max(largest_phase_, q.phase);
  queries_.push_back(std::move(q));
  const Index id = rounds();
  for (Index outcome = 0; outcome < outcomes(); ++outcome) await(id, outcome);
  return id;
}

void BanditState::record_learned(Index id, Index outcome, double value) {
  changes_.push_back({Delta::Kind::learned, id, outcome, value, known_reported(query(id), outcome)});
}

void BanditState::record_stand_in(Index id, Index outcome) {
  if (rules_.pending->has_stand_in()) record_learned(id, outcome, rules_.pending->stand_in());
}

void BanditState::await(Index id, Index outcome) {
  if (outcome == 0) {
    if (query(id).action == Action::explore) ++explored_;
    awaited_.insert(id);
  }
  changes_.push_back({Delta::Kind::asked, id, outcome});
  record_stand_in(id, outcome);
}

void BanditState::take_back_failure(Index id, Index outcome) {
  Query& q = queries_[checked(id)];
  Cell& cell = q.cell(outcome);
  cell.status = Status::pending;
  if (!q.in_play) return;
  if (!cell.avoided) {
    if (outcome == 0) --withdrawn_;
    return await(id, outcome);
  }
  // If the failure counted as the worst value, the next value replaces that one. Otherwise the query is added again.
  if (counts_later(q, outcome)) changes_.push_back({Delta::Kind::asked, id, outcome});
  cell.avoided = false;
  std::vector<Index>& avoided = column(outcome).avoided;
  avoided.erase(std::find(avoided.begin(), avoided.end(), id));
  if (outcome == 0) awaited_.insert(id);
  record_stand_in(id, outcome);
}

double BanditState::age(Index id) const {
  if (rules_.pending->by_clock()) return clock_ - query(id).beside->time;
  return static_cast<double>(rounds() + 1 - id);
}

// A reward that is observed before the query of round t has taken t - s rounds, where s is its own query's round; 0 if
// no query was made in between. With a clock: the time since its query.
double BanditState::time_taken(Index id) const {
  return id == rounds() && !rules_.pending->by_clock() ? 0.0 : age(id);
}

// (An event of a bandit with one outcome may omit it.)
Cell& BanditState::reported_cell(Index id, Index outcome) {
  Query& q = queries_[checked(id)];
  if (outcome < 0 || outcome >= outcomes()) throw_invalid("there is no such outcome");
  return q.cell(outcome);
}

bool BanditState::reward(Index id, double reward, const VectorXd& g, const Report& reported) {
  const Index outcome = reported.about();
  Cell& cell = reported_cell(id, outcome);
  Query& q = queries_[checked(id)];
  if (cell.status != Status::pending && cell.status != Status::failed) {
    throw_runtime("query " + std::to_string(id) + " is no longer pending");
  }
  check_reward(reward);
  const Index wanted = rules_.constraints ? rules_.constraints->count() : 0;
  if (g.size() != wanted || !(g.array().abs() <= kLargest).all()) {
    throw_invalid("a reward needs a finite value for every constraint");
  }
  check_reported(reported);
  if (rules_.ranks) checked(reported.other);
  if (cell.status == Status::failed) take_back_failure(id, outcome);
  cell.echo = rules_.ranks || echoes(id, reported.other, outcome);
  cell.reward = reward;
  cell.reported = reported;
  const bool late = time_taken(id) > rules_.pending->patience();
  cell.status = late ? Status::lost : Status::known;
  if (outcome == 0) {
    q.take(g);
    awaited_.erase(id);
  }
  if (rules_.ranks) {
    settle_ranking(id);
    return false;
  }
  if (!q.in_play || cell.echo) return false;
  if (!late) {
    ++column(outcome).known;
    if (is_sum(id)) note_sum(reported);
    else if (reported.own_noise()) column(outcome).own_noise.push_back(id);
    record_learned(id, outcome, known_value(q, outcome));
    if (note_extremes(column(outcome), known_value(q, outcome))) record_failures(outcome);
  }
  return rules_.changes && raises_alarm(q, id);
}

// (Ids of the log are R integers, below 2^31.)
void BanditState::begin_after(const Forgotten& forgotten) {
  if (rounds() > 0 || forgotten_.rounds > 0) throw_invalid("a checkpoint among the events of a log");
  const bool counts = forgotten.sums >= 0 && forgotten.rounds >= std::max<Index>(1, forgotten.sums);
  if (!counts || forgotten.rounds > 0x7fffffff) throw_invalid("a checkpoint without rounds");
  const bool sums_say_all = outcomes() == 1 && columns_[0].failures == 0 && !rules_.changes && !rules_.constraints &&
                            !rules_.ranks && !rules_.pending->has_stand_in() && rules_.clip == kInf &&
                            rules_.plateau.half == kInf;
  if (!sums_say_all) throw_invalid("a checkpoint where rewards cannot be summed up");
  forgotten_ = forgotten;
  withdrawn_ = forgotten.rounds;  // note_sum() subtracts those that the sums include
}

void BanditState::note_sum(const Report& reported) {
  const double size = reported.times();
  const bool whole = reported.size >= 1.0 && size == std::floor(size);  // false for NaN
  if (!std::isnan(reported.noise_var) || !(reported.spread >= 0.0) || !whole) {
    throw_invalid("a checkpoint with an invalid sum");
  }
  if (size > static_cast<double>(withdrawn_)) throw_invalid("a checkpoint of more rewards than rounds");
  withdrawn_ -= static_cast<Index>(size);
  columns_[0].known += static_cast<Index>(size) - 1;
}

// Does the other query already record this comparison?
bool BanditState::echoes(Index id, Index other, Index outcome) const {
  if (other == 0) return false;
  if (other == id) throw_invalid("a query cannot be compared with itself");
  const Cell& cell = queries_[checked(other)].cell(outcome);
  return cell.status == Status::known && cell.reported->other == id && !cell.echo;
}

// Each query of a ranking names the next one; the last query names the first.
std::vector<Index> BanditState::ranked_with(Index id) const {
  std::vector<Index> out;
  for (Index at = id; static_cast<Index>(out.size()) < kMostRanked;) {
    const Query& q = query(at);
    if (q.status != Status::known || q.reported->other == 0) return {};
    out.push_back(at);
    at = q.reported->other;
    if (at == id) return out;
  }
  return {};
}

// A reward is the proportion of the other queries that come after this one. If several queries have reward 0, their
// order is unknown.
Ranking BanditState::ranking(Index id) const {
  Ranking out{ranked_with(id), 0};
  sort_increasing(out.ids);
  put_in_order(out.ids, [this](Index a, Index b) { return query(a).reward > query(b).reward; });
  const auto size = static_cast<Index>(out.ids.size());
  for (const Index one : out.ids) {
    const double reward = query(one).reward;
    if (reward == 0.0) continue;
    const double share = static_cast<double>(size - 1 - out.stages) / static_cast<double>(size - 1);
    if (!(std::abs(reward - share) <= 1e-9)) return {};
    ++out.stages;
  }
  if (size < 2 || out.stages == 0) return {};
  return out;
}

// A ranking is reported query by query. When it is complete, it is recorded with the latest of its queries. While
// amendments make it incomplete it is recorded with none.
void BanditState::settle_ranking(Index id) {
  const std::vector<Index> members = ranked_with(id);
  if (members.empty()) return;
  const Index latest = *std::max_element(members.begin(), members.end());
  Query& recorder = queries_[checked(latest)];
  const bool taught = !recorder.echo, whole = !ranking(latest).ids.empty();
  recorder.echo = !whole;
  if (!recorder.in_play) return;
  column(0).known += static_cast<Index>(whole) - static_cast<Index>(taught);
  if (whole) record_learned(latest, 0, recorder.reward);
  else if (taught) changes_.push_back({Delta::Kind::dropped, latest, 0});
}

bool BanditState::raises_alarm(const Query& q, Index id) {
  Arrival arrival;
  arrival.explored = q.action == Action::explore;
  arrival.reward = q.reward;
  arrival.mean = q.mean;
  arrival.sd = q.sd;
  arrival.t = static_cast<double>(id - first_known_);
  arrival.noise_var = points_.noise_var();
  arrival.point = &q.point;
  arrival.inputs = [this, &q] { return points_.inputs(q.point); };
  arrival.prior_mean = points_.prior_mean(q.point);
  arrival.prior_scale = points_.prior_scale();
  arrival.likelihood = points_.likelihood();
  arrival.size = q.reported->times();
  return rules_.changes->alarmed(arrival);
}

// Change rules do not reconsider the old value. An amendment without a noise variance keeps the present one.
void BanditState::amend(Index id, double reward, const Report& reported) {
  const Index outcome = reported.about();
  Cell& cell = reported_cell(id, outcome);
  const Query& q = query(id);
  if (cell.status != Status::known && cell.status != Status::lost) {
    throw_runtime("query " + std::to_string(id) + " has no reward to amend");
  }
  if (is_sum(id)) throw_runtime("query " + std::to_string(id) + " summarises several queries");
  check_reward(reward);
  Report now = reported;
  if (is_back_to_usual(reported)) now.noise_var = kNaN;
  else if (std::isnan(reported.noise_var)) now.noise_var = cell.reported->noise_var;
  check_reported(now);
  if (rules_.ranks && reported.other != cell.reported->other) {
    throw_invalid("a query cannot be moved to another ranking");
  }
  if (reported.other != 0) checked(reported.other);
  cell.reward = reward;
  cell.reported = now;
  if (rules_.ranks) return settle_ranking(id);
  if (!q.in_play || cell.echo || cell.status != Status::known) return;
  std::vector<Index>& owners = column(outcome).own_noise;
  const auto own = std::find(owners.begin(), owners.end(), id);
  if (own != owners.end() && !cell.reported->own_noise()) owners.erase(own);
  else if (own == owners.end() && cell.reported->own_noise()) owners.push_back(id);
  record_learned(id, outcome, known_value(q, outcome));
  seek_extremes(outcome);
}

namespace {

// Is `value` worse than `other`? The worst is the least value if `sign` is 1, the largest if it is -1.
bool is_worse(int sign, double value, double other) {
  return std::isnan(other) || sign * value < sign * other;
}

}  // namespace

Report BanditState::failure_reported(Index outcome) const {
  Report out;
  if (rules_.doubted) out.doubted_to = column(outcome).best;
  return out;
}

// Updates the worst and the best value; true if one of them changed.
bool BanditState::note_extremes(Column& column, double value) const {
  if (column.failures == 0) return false;
  const bool worst = is_worse(column.failures, value, column.worst);
  const bool best = rules_.doubted && is_worse(-column.failures, value, column.best);
  if (worst) column.worst = value;
  if (best) column.best = value;
  return worst || best;
}

void BanditState::seek_extremes(Index outcome) {
  Column& column = this->column(outcome);
  if (column.failures == 0) return;
  const double worst = column.worst, best = column.best;
  column.worst = column.best = kNaN;
  for (Index k = first_known_; k < rounds(); ++k) {
    const Query& q = queries_[static_cast<std::size_t>(k)];
    if (!q.in_play || q.cell(outcome).status != Status::known) continue;
    note_extremes(column, known_value(q, outcome));
  }
  if (column.worst != worst || (rules_.doubted && column.best != best)) record_failures(outcome);
}

void BanditState::record_failures(Index outcome) {
  for (const Index id : column(outcome).avoided) {
    record_learned(id, outcome, column(outcome).worst);
  }
}

void BanditState::withdraw(Index id, Index outcome, Status status) {
  const std::string no_more = "query " + std::to_string(id) + " is no longer pending";
  if (outcome != kAllOutcomes) {
    if (reported_cell(id, outcome).status != Status::pending) throw_runtime(no_more);
    return give_up(id, outcome, status);
  }
  bool some = false;
  for (Index k = 0; k < outcomes(); ++k) {
    if (query(id).cell(k).status != Status::pending) continue;
    some = true;
    give_up(id, k, status);
  }
  if (!some) throw_runtime(no_more);
}

void BanditState::give_up(Index id, Index outcome, Status status) {
  Query& q = queries_[checked(id)];
  Cell& cell = q.cell(outcome);
  cell.status = status;
  if (outcome == 0) awaited_.erase(id);
  if (!q.in_play) return;
  Column& column = this->column(outcome);
  if (status == Status::failed && column.failures != 0) {
    cell.avoided = true;
    column.avoided.push_back(id);
    if (!std::isnan(column.worst)) record_learned(id, outcome, column.worst);
    else changes_.push_back({Delta::Kind::dropped, id, outcome});
    return;
  }
  if (outcome == 0) {
    ++withdrawn_;
    if (q.action == Action::explore) --explored_;
  }
  changes_.push_back({Delta::Kind::dropped, id, outcome});
}

bool BanditState::restart_due() const {
  if (!rules_.changes) return false;
  if (rules_.changes->due(rounds(), first_of_segment_ + 1)) return true;
  return any_known() && rules_.changes->asks([this] { return history_table(); });
}

bool BanditState::any_known() const {
  for (Index k = first_known_; k < rounds(); ++k) {
    if (queries_[static_cast<std::size_t>(k)].status == Status::known) return true;
  }
  return false;
}

// A row per query since the restart or fresh epoch: id, arm (0-based, -1 without), reward, mean,
// sd, width, action, status, time, and the inputs with the context.
MatrixXd BanditState::history_table() const {
  MatrixXd table;
  for (Index k = first_known_; k < rounds(); ++k) {
    const Query& q = queries_[static_cast<std::size_t>(k)];
    const VectorXd inputs = points_.inputs(q.point);
    if (table.size() == 0) table.resize(rounds() - first_known_, 9 + inputs.size());
    const double numbers[9] = {static_cast<double>(k + 1), static_cast<double>(q.point.arm), q.reward, q.mean, q.sd,
                               q.width, static_cast<double>(q.action), static_cast<double>(q.status), q.beside->time};
    const Index row = k - first_known_;
    for (Index c = 0; c < 9; ++c) table(row, c) = numbers[c];
    for (Index c = 0; c < inputs.size(); ++c) table(row, 9 + c) = inputs[c];
  }
  return table;
}

bool BanditState::epoch_due() const {
  return rules_.constraints && rounds() - first_of_epoch_ >= rules_.constraints->epoch();
}

void BanditState::forget() {
  changes_.push_back({Delta::Kind::cleared});
  for (Index k = first_known_; k < rounds(); ++k) {
    queries_[static_cast<std::size_t>(k)].in_play = false;
  }
  awaited_.clear();
  explored_ = 0;
  withdrawn_ = 0;
  for (Column& column : columns_) {
    const int failures = column.failures;
    column = Column();
    column.failures = failures;
  }
  if (rules_.changes) rules_.changes->clear();
  first_known_ = rounds();
}

void BanditState::restart() {
  if (!rules_.changes) throw_invalid("a restart without a change rule");
  forget();
  first_of_segment_ = rounds();
  ++segment_;
}

// Updates the multipliers by the average of the constraint values of the epoch. Queries before the last restart and
// rewards that came too late do not count.
void BanditState::end_epoch() {
  if (!rules_.constraints) throw_invalid("the end of an epoch without long-term constraints");
  VectorXd sum = VectorXd::Zero(kappa_.size());
  double seen = 0.0;
  for (Index k = first_of_epoch_; k < rounds(); ++k) {
    const Query& q = queries_[static_cast<std::size_t>(k)];
    if (!q.in_play || q.status != Status::known) continue;
    sum += q.g();
    seen += 1.0;
  }
  if (seen > 0.0) kappa_ = rules_.constraints->next_multipliers(kappa_, sum / seen);
  first_of_epoch_ = rounds();
  if (rules_.constraints->reuse()) changes_.push_back({Delta::Kind::retargeted});
  else forget();
}

}  // namespace gpb
