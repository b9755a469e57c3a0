#include "events/fold.h"

#include <algorithm>
#include <cmath>

#include "linalg/floors.h"

namespace gpb {

Fold::Fold(FoldRules rules, FoldListener& listener)
    : rules_(std::move(rules)), listener_(listener) {
  if (rules_.constraints) kappa_ = rules_.constraints->first_multipliers();
}

std::size_t Fold::checked(Index id) const {
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

}  // namespace

Forgetting Fold::forgetting() const {
  return rules_.changes ? rules_.changes->forgetting() : Forgetting();
}

void Fold::set_clock(double now) {
  if (std::isinf(now)) throw std::invalid_argument("a time must be a finite number");
  clock_ = now;
  if (std::isnan(latest_) || now > latest_) latest_ = now;
}

// ---- what is known ----------------------------------------------------------

bool Fold::is_known(const Query& q) const {
  if (!q.in_play || q.is_void()) return false;
  return q.status == Status::known || rules_.pending->has_stand_in();
}

double Fold::known_value(const Query& q) const {
  if (q.status != Status::known) return rules_.pending->stand_in();
  const double reward = std::min(std::max(q.reward, -rules_.clip), rules_.clip);
  return rules_.constraints ? rules_.constraints->target(reward, q.g, kappa_) : reward;
}

// ---- events -----------------------------------------------------------------

Index Fold::ask(Query q) {
  q.segment = segment_;
  q.kappa = kappa_;
  q.time = clock_;
  q.status = Status::pending;
  if (q.action == Action::explore) ++explored_;
  queries_.push_back(std::move(q));
  const Index id = rounds();
  awaited_.insert(id);
  listener_.asked(id);
  if (rules_.pending->has_stand_in()) listener_.learned(id, rules_.pending->stand_in());
  return id;
}

double Fold::age(Index id) const {
  if (rules_.pending->by_clock()) return clock_ - query(id).time;
  return static_cast<double>(rounds() + 1 - id);
}

// A reward observed before round t's query has taken t - s rounds, 0 if no query
// came after its own; or the time since its query.
double Fold::time_taken(Index id) const {
  return id == rounds() && !rules_.pending->by_clock() ? 0.0 : age(id);
}

bool Fold::reward(Index id, double reward, const VectorXd& g, double noise_var) {
  Query& q = queries_[checked(id)];
  if (q.status != Status::pending) {
    throw std::invalid_argument("query " + std::to_string(id) + " is no longer pending");
  }
  check_reward(reward);
  const Index wanted = rules_.constraints ? rules_.constraints->count() : 0;
  if (g.size() != wanted || !(g.array().abs() <= kLargest).all()) {
    throw std::invalid_argument("a reward needs a finite value for every constraint");
  }
  if (!std::isnan(noise_var) && !(noise_var > 0.0 && noise_var <= kLargest)) {
    throw std::invalid_argument("a reward's noise variance must be a number > 0");
  }
  q.reward = reward;
  q.g = g;
  q.noise_var = noise_var;
  const bool late = time_taken(id) > rules_.pending->patience();
  q.status = late ? Status::lost : Status::known;
  awaited_.erase(id);
  if (!q.in_play) return false;
  if (!late) listener_.learned(id, known_value(q));
  return rules_.changes && raises_alarm(q, id);
}

bool Fold::raises_alarm(const Query& q, Index id) {
  Arrival arrival;
  arrival.explored = q.action == Action::explore;
  arrival.reward = q.reward;
  arrival.mean = q.mean;
  arrival.sd = q.sd;
  arrival.t = static_cast<double>(id - first_known_);
  arrival.noise_var = listener_.noise_var();
  arrival.inputs = [this, &q] { return listener_.inputs(q.place); };
  arrival.prior_mean = listener_.prior_mean(q.place);
  return rules_.changes->alarmed(arrival);
}

// What a change rule has made of the old value, it keeps.
void Fold::amend(Index id, double reward) {
  Query& q = queries_[checked(id)];
  if (q.status != Status::known && q.status != Status::lost) {
    throw std::invalid_argument("query " + std::to_string(id) + " has no reward to amend");
  }
  check_reward(reward);
  q.reward = reward;
  if (q.in_play && q.status == Status::known) listener_.learned(id, known_value(q));
}

void Fold::withdraw(Index id, Status status) {
  Query& q = queries_[checked(id)];
  if (q.status != Status::pending) {
    throw std::invalid_argument("query " + std::to_string(id) + " is no longer pending");
  }
  q.status = status;
  awaited_.erase(id);
  if (!q.in_play) return;
  ++withdrawn_;
  if (q.action == Action::explore) --explored_;
  listener_.dropped(id);
}

bool Fold::restart_due() const {
  if (!rules_.changes) return false;
  if (rules_.changes->due(rounds(), first_of_segment_ + 1)) return true;
  return any_known() && rules_.changes->asks([this] { return history_table(); });
}

bool Fold::any_known() const {
  for (Index k = first_known_; k < rounds(); ++k) {
    if (queries_[static_cast<std::size_t>(k)].status == Status::known) return true;
  }
  return false;
}

// A row per query since the restart or fresh epoch: id, arm (0-based, -1 without), reward, mean,
// sd, width, action, status, time, and the inputs with the context.
MatrixXd Fold::history_table() const {
  MatrixXd table;
  for (Index k = first_known_; k < rounds(); ++k) {
    const Query& q = queries_[static_cast<std::size_t>(k)];
    const VectorXd inputs = listener_.inputs(q.place);
    if (table.size() == 0) table.resize(rounds() - first_known_, 9 + inputs.size());
    table.row(k - first_known_) << static_cast<double>(k + 1), static_cast<double>(q.place.arm),
        q.reward, q.mean, q.sd, q.width, static_cast<double>(q.action),
        static_cast<double>(q.status), q.time, inputs.transpose();
  }
  return table;
}

bool Fold::epoch_due() const {
  return rules_.constraints && rounds() - first_of_epoch_ >= rules_.constraints->epoch();
}

void Fold::forget() {
  listener_.cleared();
  for (Index k = first_known_; k < rounds(); ++k) {
    queries_[static_cast<std::size_t>(k)].in_play = false;
  }
  awaited_.clear();
  explored_ = 0;
  withdrawn_ = 0;
  if (rules_.changes) rules_.changes->clear();
  first_known_ = rounds();
}

void Fold::restart() {
  if (!rules_.changes) throw std::invalid_argument("a restart where nothing changes");
  forget();
  first_of_segment_ = rounds();
  ++segment_;
}

// The multipliers move along the average of the constraint values that the epoch has shown: of
// queries since the last restart, and not of rewards that came too late.
void Fold::end_epoch() {
  if (!rules_.constraints) throw std::invalid_argument("an epoch ends where there are none");
  VectorXd sum = VectorXd::Zero(kappa_.size());
  double seen = 0.0;
  for (Index k = first_of_epoch_; k < rounds(); ++k) {
    const Query& q = queries_[static_cast<std::size_t>(k)];
    if (!q.in_play || q.status != Status::known) continue;
    sum += q.g;
    seen += 1.0;
  }
  if (seen > 0.0) kappa_ = rules_.constraints->next_multipliers(kappa_, sum / seen);
  first_of_epoch_ = rounds();
  if (rules_.constraints->reuse()) listener_.retargeted();
  else forget();
}

}  // namespace gpb
