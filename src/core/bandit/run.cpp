#include "bandit/run.h"

#include <cmath>

namespace gpb {

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

void Run::convert(Index id, double regret) {
  if (bandit_.fold().query(id).status == Status::lost) return;
  if (std::isnan(simple_) || regret < simple_) simple_ = regret;
}

// A delay d makes the reward of round s usable from round t on iff d <= t - s.
void Run::deliver(double now) {
  while (!in_flight_.empty() && in_flight_.begin()->first <= now) {
    const Arrival arrival = in_flight_.begin()->second;
    in_flight_.erase(in_flight_.begin());
    bandit_.observe(arrival.id, arrival.reward, arrival.g);
    convert(arrival.id, arrival.regret);
  }
}

void Run::step(Rng& rng) {
  const auto k = static_cast<std::size_t>(round_);
  const double now = static_cast<double>(round_ + 1);
  set_clock(now);
  deliver(now);
  Query query = bandit_.propose(draws_.contexts.empty() ? Context() : draws_.contexts[k], rng);
  const double truth = environment_.truth(query, round_);
  const VectorXd constraints = environment_.constraints(query, round_);
  // A bandit that knows of no constraints is told of none.
  VectorXd g;
  if (bandit_.fold().constraints()) {
    g = constraints + draws_.constraint_noise.row(round_).transpose();
  }
  const double regret = draws_.optimum[round_] - truth;
  const double delay = delay_of(query);
  const Index id = bandit_.commit(std::move(query));
  const double reward = truth + draws_.noise[round_];
  if (delay <= 0.0) {
    bandit_.observe(id, reward, g);
    convert(id, regret);
  } else {
    in_flight_.insert({now + delay, Arrival{id, reward, g, regret}});
  }
  total_ += regret;
  if (constraints.size() > 0) {
    if (violation_sum_.size() == 0) violation_sum_ = VectorXd::Zero(constraints.size());
    violation_sum_ += constraints;
    ledger_.violation.push_back(constraints);
    ledger_.cumulative_violation.push_back(violation_sum_.cwiseMax(0.0).norm());
  }
  ledger_.truth.push_back(truth);
  ledger_.regret.push_back(regret);
  ledger_.cumulative.push_back(total_);
  ledger_.simple.push_back(simple_);
  ++round_;
}

}  // namespace gpb
