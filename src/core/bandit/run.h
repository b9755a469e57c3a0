// A run: a bandit meets a problem whose truth is known, round after round, and the
// ledger keeps what it cost.
#ifndef GPB_RUN_H
#define GPB_RUN_H

#include <map>

#include "bandit/bandit.h"

namespace gpb {

// The true mean of a query, in a round of the run (0-based).
class Environment {
 public:
  virtual ~Environment() = default;
  virtual double truth(const Query& query, Index round) = 0;
  // The true constraint values; empty without constraints.
  virtual VectorXd constraints(const Query& query, Index round) = 0;
};

// A table with a row per place and a column per stationary period.
class TableEnvironment : public Environment {
 public:
  // constraints: a column each, no columns without constraints.
  TableEnvironment(MatrixXd table, std::vector<int> period, MatrixXd constraints)
      : table_(std::move(table)),
        period_(std::move(period)),
        constraints_(std::move(constraints)) {}
  double truth(const Query& query, Index round) override {
    return table_(query.place.row, period_[static_cast<std::size_t>(round)]);
  }
  VectorXd constraints(const Query& query, Index) override {
    return constraints_.cols() > 0 ? VectorXd(constraints_.row(query.place.row)) : VectorXd();
  }

 private:
  MatrixXd table_;
  std::vector<int> period_;  // 0-based, by round
  MatrixXd constraints_;
};

// A function of the place and the round, for what no table can hold.
class FunctionEnvironment : public Environment {
 public:
  using Truth = std::function<double(const Place&, Index round)>;
  using Constraints = std::function<VectorXd(const Place&)>;  // empty without constraints
  FunctionEnvironment(Truth f, Constraints g) : f_(std::move(f)), g_(std::move(g)) {}
  double truth(const Query& query, Index round) override { return f_(query.place, round); }
  VectorXd constraints(const Query& query, Index) override {
    return g_ ? g_(query.place) : VectorXd();
  }

 private:
  Truth f_;
  Constraints g_;
};

// Everything random of the environment, drawn beforehand.
struct RunDraws {
  VectorXd noise;                 // by round
  MatrixXd constraint_noise;      // a row per round
  std::vector<double> delay;      // by round; empty means at once
  // Instead, where delays depend on the input: the delay of a query in a round (0-based).
  std::function<double(const Query&, Index round)> delay_at;
  std::vector<Context> contexts;  // by round; empty means none
  VectorXd optimum;               // best true mean, by round
};

struct Ledger {
  std::vector<double> truth, regret, cumulative, simple, cumulative_violation;
  std::vector<VectorXd> violation;  // true constraint values, sign kept
};

class Run {
 public:
  Run(Bandit& bandit, Environment& environment, RunDraws draws);

  // Plays one round. Throws before anything changed, or not at all.
  void step(Rng& rng);
  Index played() const { return round_; }
  const Ledger& ledger() const { return ledger_; }

 private:
  struct Arrival {
    Index id;
    double reward;
    VectorXd g;
    double regret;
  };
  double delay_of(const Query& query) const;
  void deliver(double now);
  void set_clock(double now);
  // A reward has arrived: it counts for the simple regret, unless it came too late to be known.
  void convert(Index id, double regret);

  Bandit& bandit_;
  Environment& environment_;
  RunDraws draws_;
  Ledger ledger_;
  Index round_ = 0;
  double start_ = 0.0;           // the clock when the run began
  double total_ = 0.0;
  VectorXd violation_sum_;
  double simple_ = kNaN;
  std::multimap<double, Arrival> in_flight_;  // by round of arrival, then by query
};

}  // namespace gpb

#endif
