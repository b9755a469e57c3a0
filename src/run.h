// A run: a bandit meets a problem whose truth is known, round after round, and the
// ledger keeps what it cost.
#ifndef GPB_RUN_H
#define GPB_RUN_H

#include <map>

#include "bandit.h"

namespace gpb {

// The true mean of a query, in a round of the run (0-based).
class Environment {
 public:
  virtual ~Environment() = default;
  virtual double truth(const Query& query, Index round) = 0;
};

// A table with a row per place and a column per stationary period.
class TableEnvironment : public Environment {
 public:
  TableEnvironment(MatrixXd table, std::vector<int> period)
      : table_(std::move(table)), period_(std::move(period)) {}
  double truth(const Query& query, Index round) override {
    return table_(query.place.arm, period_[static_cast<std::size_t>(round)]);
  }

 private:
  MatrixXd table_;
  std::vector<int> period_;  // 0-based, by round
};

// A function of the place and the round, for what no table can hold.
class FunctionEnvironment : public Environment {
 public:
  using Truth = std::function<double(const Place&, Index round)>;
  explicit FunctionEnvironment(Truth f) : f_(std::move(f)) {}
  double truth(const Query& query, Index round) override { return f_(query.place, round); }

 private:
  Truth f_;
};

// Everything random of the environment, drawn beforehand.
struct RunDraws {
  VectorXd noise;                 // by round
  std::vector<double> delay;      // by round; empty means at once
  std::vector<Context> contexts;  // by round; empty means none
  VectorXd optimum;               // best true mean, by round
};

struct Ledger {
  std::vector<double> truth, regret, cumulative, simple;
};

class Run {
 public:
  Run(Bandit& bandit, Environment& environment, RunDraws draws)
      : bandit_(bandit), environment_(environment), draws_(std::move(draws)) {}

  // Plays one round. Throws before anything changed, or not at all.
  void step(Rng& rng);
  Index played() const { return round_; }
  const Ledger& ledger() const { return ledger_; }

 private:
  struct Arrival {
    Index id;
    double reward;
    double regret;
  };
  void deliver(double now);
  void convert(double regret);   // a reward has arrived: it counts for the simple regret

  Bandit& bandit_;
  Environment& environment_;
  RunDraws draws_;
  Ledger ledger_;
  Index round_ = 0;
  double total_ = 0.0;
  double simple_ = kNaN;
  std::multimap<double, Arrival> in_flight_;  // by round of arrival, then by query
};

}  // namespace gpb

#endif
