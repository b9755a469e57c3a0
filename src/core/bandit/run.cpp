// Functions of run.h: a run: a bandit plays, round after round, on a problem whose truth is known.
#include "bandit/run.h"

#include <cmath>

namespace gpb {

Run::Run(Bandit& bandit, Environment& environment, RunDraws draws)
    : bandit_(bandit), environment_(environment), draws_(std::move(draws)) {
  const double latest = bandit.state().latest_time();
  if (!std::isnan(latest)) start_ = latest;
}

// For bandits with a clock a round is one unit of time.
void Run::set_clock(double now) {
  if (bandit_.state().pending().by_clock()) bandit_.set_clock(start_ + now);
}

double Run::delay_of(const Query& query) const {
  if (draws_.delay_at) return draws_.delay_at(query, round_);
  return draws_.delay.empty() ? 0.0 : draws_.delay[static_cast<std::size_t>(round_)];
}

void Run::arrive(const Arrival& arrival, double now) {
  record(arrival);
  if (bandit_.state().query(arrival.id).status != Status::lost) outcome_.known[arrival.round] = now;
}

// A bandit with several outcomes observes the problem's constraints as its further outcomes.
void Run::record(const Arrival& arrival) {
  if (bandit_.state().outcomes() == 1) return bandit_.observe(arrival.id, arrival.reward, arrival.g);
  for (Index k = 0; k < bandit_.state().outcomes(); ++k) {
    Report reported;
    reported.outcome = k;
    bandit_.observe(arrival.id, k == 0 ? arrival.reward : arrival.g[k - 1], VectorXd(), reported);
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

void Run::step_at(const Point& point) {
  receive();
  play(bandit_.query_at(point, context(), Action::explore));
}

void Run::play(Query query) {
  const auto k = static_cast<std::size_t>(round_);
  const double now = static_cast<double>(round_ + 1);
  const double truth = environment_.truth(query, round_);
  const VectorXd constraints = environment_.constraints(query, round_);
  // A bandit without constraints observes none.
  VectorXd g;
  if (bandit_.state().constraints() || bandit_.state().outcomes() > 1) {
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
