// The state of a bandit, its rules, its observations. Uses base/, kernels/, likelihoods/, linalg/ and posteriors/.
#include "events/bandit_state.h"
#include "events/constraints.h"
#include "events/observations.h"
#include "events/change_sweep.h"
#include "events/changes.h"

#include "kernels/make_kernel.h"
#include "linalg/decompositions.h"
#include "linalg/floors.h"

#include <algorithm>
#include <cmath>
#include <tuple>

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
  if (columns_.empty()) throw std::invalid_argument("a bandit needs an outcome");
  if (outcomes() > 1 && (rules_.constraints || rules_.changes || rules_.pending->has_stand_in())) {
    throw std::invalid_argument("several outcomes cannot be combined with changes, constraints or stand-ins");
  }
}

Status Query::whole_status() const {
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
    throw std::invalid_argument("there is no query of id " + std::to_string(id));
  }
  return static_cast<std::size_t>(id - 1);
}

namespace {

void check_reward(double reward) {
  if (!(std::abs(reward) <= kLargest)) {
    throw std::invalid_argument("a reward must be a finite number, at most 1e150 in size");
  }
}

// An amendment with noise variance 0 restores the usual noise variance.
bool is_back_to_usual(const Report& reported) { return reported.noise_var == 0.0; }

void check_reported(const Report& reported) {
  const auto positive = [](double x) { return std::isnan(x) || (x > 0.0 && x <= kLargest); };
  if (!positive(reported.noise_var)) {
    throw std::invalid_argument("a reward's noise variance must be a number > 0");
  }
  if (!positive(reported.size)) throw std::invalid_argument("a reward's size must be a number > 0");
  if (!std::isnan(reported.spread) && !(reported.spread >= 0.0 && reported.spread <= kLargest)) {
    throw std::invalid_argument("the spread of several rewards must be a number >= 0");
  }
}

}  // namespace

Forgetting BanditState::forgetting() const {
  return rules_.changes ? rules_.changes->forgetting() : Forgetting();
}

void BanditState::set_clock(double now) {
  if (std::isinf(now)) throw std::invalid_argument("a time must be a finite number");
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

double BanditState::known_value(const Query& q, Index outcome) const {
  const Cell& cell = q.cell(outcome);
  if (cell.avoided && !std::isnan(column(outcome).worst)) return column(outcome).worst;
  if (cell.status != Status::known) return rules_.pending->stand_in();
  if (outcome > 0) return cell.reward;
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
  if (outcome < 0 || outcome >= outcomes()) throw std::invalid_argument("there is no such outcome");
  return q.cell(outcome);
}

bool BanditState::reward(Index id, double reward, const VectorXd& g, const Report& reported) {
  const Index outcome = reported.about();
  Cell& cell = reported_cell(id, outcome);
  Query& q = queries_[checked(id)];
  if (cell.status != Status::pending && cell.status != Status::failed) {
    throw std::invalid_argument("query " + std::to_string(id) + " is no longer pending");
  }
  check_reward(reward);
  const Index wanted = rules_.constraints ? rules_.constraints->count() : 0;
  if (g.size() != wanted || !(g.array().abs() <= kLargest).all()) {
    throw std::invalid_argument("a reward needs a finite value for every constraint");
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
  if (rounds() > 0 || forgotten_.rounds > 0) throw std::invalid_argument("a checkpoint among the events of a log");
  const bool counts = forgotten.sums >= 0 && forgotten.rounds >= std::max<Index>(1, forgotten.sums);
  if (!counts || forgotten.rounds > 0x7fffffff) throw std::invalid_argument("a checkpoint without rounds");
  const bool sums_say_all = outcomes() == 1 && columns_[0].failures == 0 && !rules_.changes && !rules_.constraints &&
                            !rules_.ranks && !rules_.pending->has_stand_in() && rules_.clip == kInf;
  if (!sums_say_all) throw std::invalid_argument("a checkpoint where rewards cannot be summed up");
  forgotten_ = forgotten;
  withdrawn_ = forgotten.rounds;  // note_sum() subtracts those that the sums include
}

void BanditState::note_sum(const Report& reported) {
  const double size = reported.times();
  const bool whole = reported.size >= 1.0 && size == std::floor(size);  // false for NaN
  if (!std::isnan(reported.noise_var) || !(reported.spread >= 0.0) || !whole) {
    throw std::invalid_argument("a checkpoint with an invalid sum");
  }
  if (size > static_cast<double>(withdrawn_)) throw std::invalid_argument("a checkpoint of more rewards than rounds");
  withdrawn_ -= static_cast<Index>(size);
  columns_[0].known += static_cast<Index>(size) - 1;
}

// Does the other query already record this comparison?
bool BanditState::echoes(Index id, Index other, Index outcome) const {
  if (other == 0) return false;
  if (other == id) throw std::invalid_argument("a query cannot be compared with itself");
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
  std::sort(out.ids.begin(), out.ids.end());
  std::stable_sort(out.ids.begin(), out.ids.end(),
                   [this](Index a, Index b) { return query(a).reward > query(b).reward; });
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
    throw std::invalid_argument("query " + std::to_string(id) + " has no reward to amend");
  }
  if (is_sum(id)) throw std::invalid_argument("query " + std::to_string(id) + " summarises several queries");
  check_reward(reward);
  Report now = reported;
  if (is_back_to_usual(reported)) now.noise_var = kNaN;
  else if (std::isnan(reported.noise_var)) now.noise_var = cell.reported->noise_var;
  check_reported(now);
  if (rules_.ranks && reported.other != cell.reported->other) {
    throw std::invalid_argument("a query cannot be moved to another ranking");
  }
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
    if (reported_cell(id, outcome).status != Status::pending) throw std::invalid_argument(no_more);
    return give_up(id, outcome, status);
  }
  bool some = false;
  for (Index k = 0; k < outcomes(); ++k) {
    if (query(id).cell(k).status != Status::pending) continue;
    some = true;
    give_up(id, k, status);
  }
  if (!some) throw std::invalid_argument(no_more);
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
  if (!rules_.changes) throw std::invalid_argument("a restart without a change rule");
  forget();
  first_of_segment_ = rounds();
  ++segment_;
}

// Updates the multipliers by the average of the constraint values of the epoch. Queries before the last restart and
// rewards that came too late do not count.
void BanditState::end_epoch() {
  if (!rules_.constraints) throw std::invalid_argument("the end of an epoch without long-term constraints");
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

// ---- constraint rules ---------------------------------------------------------------------------

namespace {

void check_range(bool finite, const char* what) {
  if (finite) return;
  throw std::overflow_error(std::string("the constraints' penalty made ") + what +
                            " that is too large for a number; scale the constraints down, use a "
                            "smaller `penalty_scale`, or `penalty = \"polynomial\"`");
}

}  // namespace

double ConstraintRule::target(double reward, const VectorXd& g, const VectorXd& kappa) const {
  double out = reward;
  for (Index j = 0; j < count(); ++j) out -= kappa[j] * price(g[j]);
  check_range(std::isfinite(out), "a target");
  return out;
}

VectorXd ConstraintRule::next_multipliers(const VectorXd& kappa, const VectorXd& g) const {
  VectorXd next(count());
  for (Index j = 0; j < count(); ++j) next[j] = moved(kappa[j], g[j]);
  check_range(next.allFinite(), "a multiplier");
  return next;
}

double ConstraintRule::failure_factor() const {
  return std::isnan(shape_.epochs) ? 1.0 : 1.0 / (failure_parts() * shape_.epochs);
}

double NoiselessConstraints::psi(double x) const {
  if (!(x > 0.0)) return 1.0;
  return exponential_ ? std::exp(c_ * x) : std::pow(c_ * x + 1.0, power_);
}

double NoisyConstraints::moved(double kappa, double g) const {
  return std::max(0.0, kappa + step_ * g);
}

double NoisyConstraints::noise_factor(const VectorXd& kappa) const {
  return std::sqrt(1.0 + kappa.squaredNorm());
}

std::unique_ptr<ConstraintRule> make_constraints(const Settings& constraints) {
  ConstraintRule::Shape shape;
  shape.count = constraints.count("count");
  shape.epoch = constraints.count("epoch");
  shape.reuse = constraints.flag("reuse");
  if (constraints.has("epochs")) shape.epochs = constraints.number("epochs");
  if (constraints.text("kind") == "noisy") {
    return std::make_unique<NoisyConstraints>(shape, constraints.number("step"));
  }
  const bool exponential = constraints.text("penalty") != "polynomial";
  return std::make_unique<NoiselessConstraints>(shape, exponential, constraints.number("penalty_scale"),
                                                exponential ? 1.0 : constraints.number("penalty_power"));
}

// ---- observations -------------------------------------------------------------------------------

namespace {

// A key that identifies points and orders them: an arm's number, or the inputs.
std::vector<double> key_of(const Point& point) {
  if (point.kind == Point::Kind::tabled) return {static_cast<double>(point.row)};
  return std::vector<double>(point.x.data(), point.x.data() + point.x.size());
}

}  // namespace

Observations::Item& Observations::item(Index id) {
  const auto k = static_cast<std::size_t>(id - first_);
  if (k >= items_.size()) items_.resize(k + 1);
  return items_[k];
}

Index Observations::slot(Index id) const {
  const auto k = static_cast<std::size_t>(id - first_);
  if (likelihood_) settle();
  return id >= first_ && k < items_.size() ? items_[k].slot : -1;
}

void Observations::enter(Index id) {
  Item& one = item(id);
  const double age = static_cast<double>(round_ - id);
  posterior_->add({one.point, one.value, one.weight * forgetting_.weight(age), id, one.owns_noise});
  one.slot = static_cast<std::int32_t>(slots_++);
  oldest_ = entered_ == 0 ? id : std::min(oldest_, id);
  ++entered_;
}

void Observations::leave(Index id) {
  Item& one = item(id);
  posterior_->drop(one.slot);
  one.slot = -1;
  --entered_;
}

void Observations::put(Index id, const Point& point, const Measurement& measurement) {
  Item& one = item(id);
  if (likelihood_) {
    one.known = true;
    one.take(measurement);
    one.point = point;
    if (!pairs()) one.cell = static_cast<std::int32_t>(cells_.emplace(key_of(point), cells_.size()).first->second);
    settled_ = false;
    return;
  }
  if (one.known && one.weight == measurement.weight && one.owns_noise == measurement.owns_noise) {
    one.take(measurement);
    if (one.slot >= 0) posterior_->set_value(one.slot, measurement.value);
    return;
  }
  if (one.slot >= 0) leave(id);
  one.known = true;
  one.take(measurement);
  one.point = point;
  if (windowed() && entered_ >= forgetting_.window && id < oldest_) return;
  if (forgetting_.weight(static_cast<double>(round_ - id)) <= kNoWeight) return;
  enter(id);
  if (windowed()) shrink_window();
}

// Keeps the latest observations, in whichever order they arrived.
void Observations::shrink_window() {
  while (entered_ > forgetting_.window) {
    while (slot(oldest_) < 0) ++oldest_;
    leave(oldest_++);
  }
}

// After an observation was removed: the latest of those outside the window enters it.
void Observations::refill_window() {
  for (Index id = first_ + static_cast<Index>(items_.size()) - 1; id >= first_; --id) {
    if (entered_ >= forgetting_.window) return;
    const Item& one = item(id);
    if (one.known && one.slot < 0) enter(id);
  }
}

void Observations::drop(Index id) {
  Item& one = item(id);
  if (!one.known) return;
  one.known = false;
  if (likelihood_) settled_ = false;
  if (likelihood_ || one.slot < 0) return;
  leave(id);
  if (windowed()) refill_window();
}

void Observations::clear(Index first) {
  posterior_->clear();
  items_.clear();
  cells_.clear();
  first_ = first;
  slots_ = entered_ = oldest_ = 0;
  settled_ = true;
  fit_ = SiteFit();
  information_ = 0.0;
}

void Observations::drop_weightless() {
  const Index end = first_ + static_cast<Index>(items_.size());
  while (oldest_ < end && entered_ > 0 &&
         forgetting_.weight(static_cast<double>(round_ - oldest_)) <= kNoWeight) {
    if (slot(oldest_) >= 0) leave(oldest_);
    ++oldest_;
  }
}

void Observations::advance(Index round) {
  const double passed = static_cast<double>(round - round_);
  round_ = round;
  posterior_->advance(round);
  if (likelihood_) {
    if (forgetting_.kind == Forgetting::Kind::weights && passed != 0.0) settled_ = false;
    return;
  }
  if (forgetting_.kind != Forgetting::Kind::weights || passed == 0.0 || entered_ == 0) return;
  posterior_->rescale(forgetting_.weight(passed));
  drop_weightless();
}

const Point* Observations::best() const {
  settle();
  if (compares_) return best_compared();
  const Index slot = posterior_->best_slot();
  const std::size_t number = slot < 0 ? items_.size() : number_of_slot(slot);
  return number < items_.size() ? &items_[number].point : nullptr;
}

// Slots are numbered as observations enter, nearly in the order of the ids. The last result is tried first; then the
// search goes outwards from the slot's number.
std::size_t Observations::number_of_slot(Index slot) const {
  const auto has = [&](std::size_t k) { return k < items_.size() && items_[k].slot == slot; };
  if (has(found_)) return found_;
  const auto guess = static_cast<std::size_t>(slot);
  for (std::size_t step = 0; step <= std::max(guess, items_.size()); ++step) {
    if (has(guess + step)) return found_ = guess + step;
    if (step <= guess && has(guess - step)) return found_ = guess - step;
  }
  return items_.size();
}

// ---- rewards that are not Gaussian measurements -------------------------------------------------

Observations::Observations(std::unique_ptr<Posterior> posterior, const Forgetting& forgetting,
                           LikelihoodPtr likelihood, bool compares, bool variational)
    : posterior_(std::move(posterior)), forgetting_(forgetting), likelihood_(std::move(likelihood)),
      compares_(compares), variational_(variational) {
  if (likelihood_) posterior_->expect_sites(compares_, likelihood_->concave() && !variational_);
}

const Point* Observations::best_compared() const {
  const Point* best = nullptr;
  double largest = -kInf, mean, ignored;
  const auto look = [&](const Point& point) {
    posterior_->at(point, mean, ignored);
    if (mean <= largest) return;
    largest = mean;
    best = &point;
  };
  for (const Item& one : items_) {
    if (!one.known) continue;
    if (one.beside->ranked) {
      for (const Point& point : one.beside->ranked->points) look(point);
      continue;
    }
    look(one.point);
    look(one.beside->other);
  }
  return best;
}

// The number of a functional in the pool; adds it if it is new.
std::size_t Observations::number_of(Functional functional, std::vector<double> key, Pool& pool, Where& where) {
  const auto found = where.emplace(std::move(key), pool.functionals.size());
  if (found.second) {
    pool.functionals.push_back(std::move(functional));
    pool.data.emplace_back();
    pool.awaited.push_back(0.0);
  }
  return found.first->second;
}

// The functional f(point) - f(other). If `sign` is -1 the pool has the opposite difference. `sign` is 0 if the points
// are equal.
PairSite Observations::pair_of(const Point& point, const Point& other, Pool& pool, Where& where) {
  std::vector<double> key = key_of(point), key_of_other = key_of(other);
  if (key == key_of_other) return {};
  const bool turned = key_of_other < key;
  if (turned) std::swap(key, key_of_other);
  key.insert(key.end(), key_of_other.begin(), key_of_other.end());
  const Functional functional{turned ? other : point, turned ? point : other, true};
  return {static_cast<Index>(number_of(functional, std::move(key), pool, where)), turned ? -1.0 : 1.0};
}

void Observations::add_to(Pool& pool, Where& where, const Item& item, double weight) const {
  if (item.beside->ranked) return add_ranking(pool, where, *item.beside->ranked, weight);
  const PairSite pair = pair_of(item.point, item.beside->other, pool, where);
  if (pair.sign == 0.0) return;  // a point compared with itself
  const double value = pair.sign > 0.0 ? item.value : 1.0 - item.value;
  likelihood_->pool(value, item.beside->size, weight, pool.data[static_cast<std::size_t>(pair.functional)]);
}

// Adds the differences of all pairs of points in the ranking.
void Observations::add_ranking(Pool& pool, Where& where, const RankedPoints& ranked, double weight) {
  const std::size_t size = ranked.points.size();
  RankingSites sites{static_cast<Index>(size), ranked.stages, weight, {}};
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) {
      sites.pairs.push_back(pair_of(ranked.points[i], ranked.points[j], pool, where));
    }
  }
  pool.rankings.push_back(std::move(sites));
}

// The first item that a window leaves in the posterior (0 without one).
std::size_t Observations::first_kept() const {
  if (!windowed()) return 0;
  std::size_t k = items_.size();
  for (Index left = forgetting_.window; k > 0 && left > 0; --k) {
    if (items_[k - 1].known) --left;
  }
  return k;
}

// Functionals in the order of the arms; on other domains in the order of the first queries. Those with pending rewards
// only come last. A sum per point is all that is made of each item: long runs have many.
Observations::Pool Observations::pool() const {
  if (pairs()) return pool_of_pairs();
  struct Cell {
    Likelihood::Data data;
    double awaited = 0.0;
    std::size_t first = 0, first_known = 0;  // items, counted from 1; 0: none
  };
  std::vector<Cell> cells(cells_.size());
  const std::size_t begin = first_kept();
  for (std::size_t k = 0; k < items_.size(); ++k) {
    const Item& one = items_[k];
    one.slot = -1;
    if (k < begin || !one.known) continue;
    const double weight = forgetting_.weight(static_cast<double>(round_ - first_ - static_cast<Index>(k)));
    if (weight <= kNoWeight) continue;
    Cell& cell = cells[static_cast<std::size_t>(one.cell)];
    one.slot = one.cell;
    if (cell.first == 0) cell.first = k + 1;
    if (one.awaited) {
      cell.awaited += weight;
      continue;
    }
    if (cell.first_known == 0) cell.first_known = k + 1;
    likelihood_->pool(one.value, one.beside->size, weight, cell.data);
  }
  std::vector<const Cell*> order;
  for (const Cell& cell : cells) {
    if (cell.first > 0) order.push_back(&cell);
  }
  const auto place = [this](const Cell* cell) {
    const std::size_t first = cell->first_known > 0 ? cell->first_known : cell->first;
    return std::make_tuple(cell->first_known == 0, items_[first - 1].point.row, first);
  };
  std::sort(order.begin(), order.end(), [&](const Cell* a, const Cell* b) { return place(a) < place(b); });
  Pool pool;
  std::vector<std::int32_t> slots(cells.size(), -1);
  for (const Cell* cell : order) {
    slots[static_cast<std::size_t>(cell - cells.data())] = static_cast<std::int32_t>(pool.functionals.size());
    const std::size_t first = cell->first_known > 0 ? cell->first_known : cell->first;
    pool.functionals.push_back({items_[first - 1].point, Point(), false});
    pool.data.push_back(cell->data);
    pool.awaited.push_back(cell->awaited);
  }
  for (const Item& one : items_) {
    if (one.slot >= 0) one.slot = slots[static_cast<std::size_t>(one.slot)];
  }
  return pool;
}

// The same for comparisons and rankings.
Observations::Pool Observations::pool_of_pairs() const {
  std::vector<const Item*> items;
  std::vector<double> weights;
  for (std::size_t k = items_.size(); k-- > 0;) {
    const Item& one = items_[k];
    one.slot = -1;
    if (!one.known || (windowed() && static_cast<Index>(items.size()) >= forgetting_.window)) continue;
    const double weight = forgetting_.weight(static_cast<double>(round_ - first_ - static_cast<Index>(k)));
    if (weight <= kNoWeight) continue;
    items.push_back(&one);
    weights.push_back(weight);
  }
  Pool pool;
  std::vector<std::size_t> order(items.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = order.size() - 1 - k;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (items[a]->awaited != items[b]->awaited) return items[b]->awaited;
    return items[a]->point.row < items[b]->point.row;
  });
  Where where;
  for (const std::size_t k : order) add_to(pool, where, *items[k], weights[k]);
  return pool;
}

void Observations::settle() const {
  if (!likelihood_ || settled_) return;
  Pool all = pool();
  std::size_t reported = 0;
  while (reported < all.data.size() && (likelihood_->ranks() || !all.data[reported].empty())) ++reported;
  const std::vector<Functional> known(all.functionals.begin(),
                                      all.functionals.begin() + static_cast<std::ptrdiff_t>(reported));
  all.data.resize(reported);
  fit_to(known, all);
  expect_awaited(all);
  settled_ = true;
}

// Repeats the fit until the engine's prior is accurate enough at the fitted sites. (A leader's fit is used unchanged,
// even if the leader's engine has chosen another basis: both approximate the same mean.)
void Observations::fit_to(const std::vector<Functional>& known, const Pool& all) const {
  std::unique_ptr<SiteTerms> terms;
  if (likelihood_->ranks()) terms = std::make_unique<RankingTerms>(all.rankings);
  else terms = std::make_unique<PooledTerms>(*likelihood_, all.data);
  for (bool again = false;; again = true) {
    const SitePrior prior = posterior_->site_prior(known, *terms, again);
    SiteFit sites;
    if (leader_) {
      leader_->settle();
      sites = fit_ = leader_->fit_;
      narrow(sites, prior, all.data);
    } else {
      sites = fit_ = fit_with(prior, *terms);
    }
    if (posterior_->set_sites(known, sites)) return;
  }
}

SiteFit Observations::fit_with(const SitePrior& prior, const SiteTerms& terms) const {
  SiteSystem system(prior);
  const SiteFit fit = variational_ ? fit_variational(system, terms)
                      : std::isnan(norm_bound_) ? fit_sites(system, terms)
                                                : fit_within(prior, system, terms, norm_bound_);
  information_ = 0.0;
  if (informs_ && system.size() > 0 && likelihood_->concave() && !likelihood_->ranks()) {
    information_ = -2.0 * (evidence_bound(system, fit, terms) + fit.penalty);
  }
  return fit;
}

// Sites of pending rewards have the expected weight at the present mean, so that the mean does not change.
void Observations::expect_awaited(const Pool& all) const {
  SiteFit sites = fit_;
  const std::size_t reported = static_cast<std::size_t>(sites.f.size()), size = all.functionals.size();
  if (std::all_of(all.awaited.begin(), all.awaited.end(), [](double w) { return w == 0.0; })) return;
  VectorXd f(static_cast<Index>(size));
  sites.weight.conservativeResize(f.size());
  sites.weighted.conservativeResize(f.size());
  for (std::size_t k = 0; k < size; ++k) {
    const Index i = static_cast<Index>(k);
    if (k < reported) {
      f[i] = sites.f[i];
    } else {
      double ignored;
      posterior_->at(all.functionals[k].point, f[i], ignored);
      sites.weight[i] = sites.weighted[i] = 0.0;
    }
    const double weight = all.awaited[k] * likelihood_->expected_weight(f[i]);
    sites.weight[i] += weight;
    sites.weighted[i] += weight * f[i];
  }
  sites.f = f;
  posterior_->set_awaited(all.functionals, sites);
}

// The curvature of J between its minimiser and every f of norm at most B; see GlmWidth.
void Observations::narrow(SiteFit& sites, const SitePrior& prior, const std::vector<Likelihood::Data>& data) const {
  const VectorXd variance = prior.variance();
  for (Index i = 0; i < sites.f.size(); ++i) {
    const double reach = norm_bound_ * std::sqrt(variance[i]), mean = prior.mean[i];
    const double weight = likelihood_->least_curvature(sites.f[i], mean - reach, mean + reach,
                                                       data[static_cast<std::size_t>(i)]);
    sites.weight[i] = std::max(weight, kLeastWeight);
    sites.weighted[i] = sites.weight[i] * sites.f[i] + sites.alpha[i];
  }
}

double Observations::information() const {
  if (!informs_) settled_ = false;
  informs_ = true;
  settle();
  return information_;
}

// ---- the detector -------------------------------------------------------------------------------

namespace {

constexpr double kPi = 3.14159265358979323846;

// The factor of K + ridge I.
FlooredCholesky ridged_factor(MatrixXd K, double ridge) {
  const double noise = effective_noise(ridge, K.diagonal().maxCoeff());
  for (Index i = 0; i < K.rows(); ++i) K(i, i) += noise;
  return FlooredCholesky(K, noise);
}

// L L' <- L L' + v v' on the lower triangle (plane rotations); overwrites v.
void rank_one_update(MatrixXd& L, VectorXd& v) {
  const Index n = L.rows();
  for (Index k = 0; k < n; ++k) {
    const double r = std::hypot(L(k, k), v[k]);
    const double c = r / L(k, k), s = v[k] / L(k, k);
    L(k, k) = r;
    for (Index i = k + 1; i < n; ++i) {
      L(i, k) = (L(i, k) + s * v[i]) / c;
      v[i] = c * v[i] - s * L(i, k);
    }
  }
}

// Sets row and column number values.size() - 1 of a symmetric matrix.
void border(MatrixXd& m, const VectorXd& values) {
  const Index last = values.size() - 1;
  for (Index i = 0; i <= last; ++i) m(last, i) = m(i, last) = values[i];
}

void grow(MatrixXd& m, Index size) {
  if (m.rows() >= size) return;
  const Index wanted = std::max<Index>(16, 2 * size);
  MatrixXd larger = MatrixXd::Zero(wanted, wanted);
  larger.topLeftCorner(m.rows(), m.cols()) = m;
  m.swap(larger);
}

}  // namespace

void PointAverage::append(const std::vector<VectorXd>& points, const MatrixXd&,
                          MatrixXd& products) {
  const Index t = static_cast<Index>(points.size()) - 1, n = domain_->rows();
  if (over_domain_.cols() <= t) {
    over_domain_.conservativeResize(n, std::max<Index>(16, 2 * (t + 1)));
  }
  VectorXd row(n);
  kernel_->cross(points.back(), *domain_, row);
  over_domain_.col(t) = row;
  const VectorXd averages =
      multiply_transposed(over_domain_.leftCols(t + 1), row) / static_cast<double>(n);
  border(products, averages);
}

// The new point adds a term to each entry; the new row is a sum over all points.
void SampledAverage::append(const std::vector<VectorXd>& points, const MatrixXd& gram,
                            MatrixXd& products) {
  pairs_ = static_cast<Index>(points.size());
  const Index t = pairs_ - 1;
  const VectorXd row = gram.col(t).head(t);
  for (Index j = 0; j < t; ++j) {
    for (Index i = 0; i < t; ++i) products(i, j) += row[i] * row[j];
  }
  const VectorXd sums = multiply(gram.topLeftCorner(t + 1, t + 1), gram.col(t).head(t + 1));
  border(products, sums);
}

double SquaredExponentialAverage::value(const VectorXd& a, const VectorXd& b) const {
  double out = variance_ * variance_;
  for (Index c = 0; c < lower_.size(); ++c) {
    const double l = lengthscale_[c];
    if (!std::isfinite(l)) continue;
    const double gap = (a[c] - b[c]) / (2.0 * l), m = 0.5 * (a[c] + b[c]);
    out *= std::exp(-gap * gap) * 0.5 * std::sqrt(kPi) * l / (upper_[c] - lower_[c]) *
           (std::erf((upper_[c] - m) / l) - std::erf((lower_[c] - m) / l));
  }
  return out;
}

void SquaredExponentialAverage::append(const std::vector<VectorXd>& points, const MatrixXd&,
                                       MatrixXd& products) {
  const Index t = static_cast<Index>(points.size()) - 1;
  for (Index a = 0; a <= t; ++a) {
    products(t, a) = value(points[static_cast<std::size_t>(a)], points.back());
    products(a, t) = products(t, a);
  }
}

ChangeSweep::ChangeSweep(KernelPtr kernel, std::shared_ptr<Averaging> average, Rate threshold,
                         Rate ridge, bool dyadic)
    : kernel_(std::move(kernel)),
      average_(std::move(average)),
      threshold_(std::move(threshold)),
      ridge_(std::move(ridge)),
      dyadic_(dyadic) {}

void ChangeSweep::clear() {
  x_.clear();
  y_.clear();
  windows_.clear();
  average_->clear();
}

void ChangeSweep::grow_matrices(const VectorXd& x) {
  const Index t = static_cast<Index>(x_.size());
  grow(gram_, t + 1);
  grow(products_, t + 1);
  x_.push_back(x);
  for (Index a = 0; a <= t; ++a) {
    gram_(t, a) = kernel_->value(x_[static_cast<std::size_t>(a)], x);
    gram_(a, t) = gram_(t, a);
  }
  average_->append(x_, gram_, products_);
}

// Moves the window to the last q pairs: removes its oldest pair and adds the newest.
void ChangeSweep::slide(Window& window, Index q) {
  const Index end = size(), first = end - q;
  MatrixXd& L = window.factor;
  if (L.rows() != q) {
    L = ridged_factor(gram_.block(first, first, q, q), window.ridge).matrix();
  } else {
    if (q > 1) {
      VectorXd dropped = L.col(0).tail(q - 1);
      MatrixXd rest = L.bottomRightCorner(q - 1, q - 1);
      rank_one_update(rest, dropped);
      VectorXd row = row_of(gram_, end - 1, first, q - 1);
      solve_lower(rest, row);
      L.topLeftCorner(q - 1, q - 1) = rest;
      for (Index c = 0; c + 1 < q; ++c) L(q - 1, c) = row[c];
    }
    const double variance = gram_(end - 1, end - 1);
    double explained = 0.0;
    for (Index c = 0; c + 1 < q; ++c) explained += L(q - 1, c) * L(q - 1, c);
    const double left = variance - explained;
    L(q - 1, q - 1) = std::sqrt(noisy_pivot(left, effective_noise(window.ridge, variance)));
  }
  VectorXd weights = Eigen::Map<const VectorXd>(y_.data() + first, q);
  solve_lower(L, weights);
  solve_lower_transposed(L, weights);
  window.weights.push_back(std::move(weights));
}

double ChangeSweep::statistic(const VectorXd& older, const VectorXd& newer) const {
  const Index q = older.size();
  VectorXd w(2 * q);
  for (Index i = 0; i < q; ++i) {
    w[i] = older[i];
    w[q + i] = -newer[i];
  }
  const Index first = size() - 2 * q;
  return w.dot(multiply(products_.block(first, first, 2 * q, 2 * q), w)) / average_->divisor();
}

bool ChangeSweep::add(const VectorXd& x, double y) {
  grow_matrices(x);
  y_.push_back(y);
  bool alarm = false;
  for (Index q = 1; q <= size(); ++q) {
    // Windows that no tail can use yet as its older half are needed later.
    if (static_cast<Index>(windows_.size()) < q) windows_.emplace_back();
    if (dyadic_ && (q & (q - 1)) != 0) continue;
    Window& window = windows_[static_cast<std::size_t>(q - 1)];
    if (window.ridge == 0.0) {
      window.ridge = ridge_(static_cast<double>(q));
      window.threshold = threshold_(static_cast<double>(q));
    }
    slide(window, q);
    const auto kept = static_cast<Index>(window.weights.size());
    if (kept <= q) continue;
    const double difference =
        statistic(window.weights[static_cast<std::size_t>(kept - 1 - q)], window.weights.back());
    if (difference > window.threshold) {
      alarm = true;
      break;
    }
    window.weights.erase(window.weights.begin());
  }
  return alarm;
}

double change_statistic(const Kernel& kernel, const Points& x, const VectorXd& y, double ridge,
                        const Points& domain) {
  const Index q = y.size() / 2;
  VectorXd difference = VectorXd::Zero(domain.rows());
  for (Index half = 0; half < 2; ++half) {
    const Points part = x.middleRows(half * q, q);
    const VectorXd weights =
        ridged_factor(kernel.gram(part), ridge).solve(segment_of(y, half * q, q));
    difference += (half == 0 ? 1.0 : -1.0) * multiply(kernel.gram(domain, part), weights);
  }
  return difference.squaredNorm() / static_cast<double>(domain.rows());
}

double change_statistic(const Kernel& kernel, const Points& x, const VectorXd& y, double ridge,
                        Averaging& average) {
  const Index q = y.size() / 2;
  const MatrixXd gram = kernel.gram(x);
  MatrixXd products = MatrixXd::Zero(2 * q, 2 * q);
  std::vector<VectorXd> points;
  VectorXd w(2 * q);
  for (Index i = 0; i < 2 * q; ++i) {
    points.push_back(row_of(x, i));
    average.append(points, gram, products);
  }
  for (Index half = 0; half < 2; ++half) {
    const FlooredCholesky factor =
        ridged_factor(gram.block(half * q, half * q, q, q), ridge);
    const VectorXd solved = factor.solve(segment_of(y, half * q, q));
    for (Index i = 0; i < q; ++i) w[half * q + i] = half == 0 ? solved[i] : -solved[i];
  }
  return w.dot(multiply(products, w)) / average.divisor();
}

// ---- the rules ----------------------------------------------------------------------------------

bool ChangeRule::explores(Index uniform, Index history) const {
  return explore_ > 0.0 &&
         static_cast<double>(uniform) <= explore_ * std::sqrt(static_cast<double>(history));
}

bool ChangeRule::due(Index, Index) const { return false; }

bool OracleChange::due(Index last, Index first) const {
  if (last < first) return false;  // nothing to forget
  return std::find(times_.data(), times_.data() + times_.size(), static_cast<double>(last)) !=
         times_.data() + times_.size();
}

bool EveryChange::due(Index last, Index first) const {
  return last >= first && static_cast<double>(last - first + 1) >= rounds_;
}

bool EventChange::alarmed(const Arrival& a) {
  if (a.likelihood) {
    return shifts_.add(*a.likelihood, a.data(), a.mean, a.sd, a.prior_scale) >= -std::log(delta_);
  }
  const double log_term = std::log(2.0 * kPi * kPi * a.t * a.t / 6.0 / delta_);
  return std::abs(a.reward - a.mean) >
         std::sqrt(2.0 * log_term) * a.sd + std::sqrt(2.0 * a.noise_var * log_term);
}

bool DetectChange::alarmed(const Arrival& a) {
  return a.explored && sweep_.add(a.inputs(), a.reward - a.prior_mean);
}

bool EvidenceChange::alarmed(const Arrival& a) {
  return a.explored && sweep_.add(*a.likelihood, a.inputs(), a.data(), a.prior_mean);
}

std::shared_ptr<Averaging> make_averaging(const Settings& domain, const KernelPtr& kernel) {
  const std::string kind = domain.text("kind");
  if (kind == "sampled") return std::make_shared<SampledAverage>();
  if (kind == "box") {
    return std::make_shared<SquaredExponentialAverage>(
        domain.numbers("lower"), domain.numbers("upper"), domain.numbers("lengthscale"),
        domain.number("variance"));
  }
  return std::make_shared<PointAverage>(kernel,
                                        std::make_shared<const Points>(domain.matrix("points")));
}

std::unique_ptr<ChangeRule> make_changes(const Settings& changes) {
  const std::string kind = changes.text("kind");
  const double explore = changes.number("explore");
  if (kind == "never") return std::make_unique<NeverChange>(explore);
  if (kind == "oracle") return std::make_unique<OracleChange>(changes.numbers("times"), explore);
  if (kind == "every") return std::make_unique<EveryChange>(changes.number("rounds"), explore);
  if (kind == "event") return std::make_unique<EventChange>(changes.number("delta"), explore);
  if (kind == "function") {
    return std::make_unique<FunctionChange>(changes.table_function("f"), explore);
  }
  if (kind == "detect") {
    const KernelPtr kernel = make_kernel(*changes.part("kernel"));
    if (!changes.has("ridge")) {
      return std::make_unique<EvidenceChange>(
          EvidenceSweep(kernel, changes.function("threshold"), changes.flag("dyadic")), explore);
    }
    ChangeSweep sweep(kernel, make_averaging(*changes.part("domain"), kernel),
                      changes.function("threshold"), changes.function("ridge"),
                      changes.flag("dyadic"));
    return std::make_unique<DetectChange>(std::move(sweep), explore);
  }
  // (What an automatic rule forgets is chosen during the run, see ModelState.)
  const Forgetting forgetting = kind == "auto" ? Forgetting() : make_forgetting(changes);
  return std::make_unique<GradualChange>(forgetting, explore);
}

Forgetting make_forgetting(const Settings& changes) {
  const std::string kind = changes.text("kind");
  Forgetting forgetting;
  if (kind == "window") {
    forgetting.kind = Forgetting::Kind::window;
    forgetting.window = changes.count("window");
  } else if (kind == "weights" || kind == "fade") {
    forgetting.kind = kind == "fade" ? Forgetting::Kind::fade : Forgetting::Kind::weights;
    forgetting.rate = changes.number("rate");
  } else if (kind != "never") {
    throw std::invalid_argument("unknown change rule " + kind);
  }
  return forgetting;
}

}  // namespace gpb
