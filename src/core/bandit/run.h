// A run: a bandit plays, round after round, on a problem whose truth is known. Uses bandit/bandit.h.
// R/run.R makes the regret log from its results.
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

// A table with a row per point and a column per stationary period.
class TableEnvironment : public Environment {
 public:
  // constraints: a column each, no columns without constraints.
  TableEnvironment(MatrixXd table, std::vector<int> period, MatrixXd constraints)
      : table_(std::move(table)),
        period_(std::move(period)),
        constraints_(std::move(constraints)) {}
  double truth(const Query& query, Index round) override {
    return table_(query.point.row, period_[static_cast<std::size_t>(round)]);
  }
  VectorXd constraints(const Query& query, Index) override {
    return constraints_.cols() > 0 ? VectorXd(constraints_.row(query.point.row)) : VectorXd();
  }

 private:
  MatrixXd table_;
  std::vector<int> period_;  // 0-based, by round
  MatrixXd constraints_;
};

// A function of the point and the round, for problems without a table.
class FunctionEnvironment : public Environment {
 public:
  using Truth = std::function<double(const Point&, Index round)>;
  using Constraints = std::function<VectorXd(const Point&)>;  // empty without constraints
  FunctionEnvironment(Truth f, Constraints g) : f_(std::move(f)), g_(std::move(g)) {}
  double truth(const Query& query, Index round) override { return f_(query.point, round); }
  VectorXd constraints(const Query& query, Index) override {
    return g_ ? g_(query.point) : VectorXd();
  }

 private:
  Truth f_;
  Constraints g_;
};

// All random numbers of the environment, generated in advance.
struct RunDraws {
  VectorXd noise;                 // by round
  MatrixXd constraint_noise;      // a row for each round
  std::vector<double> delay;      // by round; empty: no delays
  // Delays that depend on the input: the delay of a query in a round (0-based). Replaces `delay`.
  std::function<double(const Query&, Index round)> delay_at;
  std::vector<Context> contexts;  // by round; empty: none
};

// By round.
struct Outcome {
  std::vector<double> truth;
  std::vector<VectorXd> constraints;  // true values, empty without constraints
  std::vector<double> known;          // the round from which the reward is known; NaN if never
};

class Run {
 public:
  Run(Bandit& bandit, Environment& environment, RunDraws draws);

  // Delivers the rewards that are due before the next round. step() does this first, too.
  void receive();
  // Plays one round, at the policy's choice or at a point of a design. If it throws, nothing has changed.
  void step(Rng& rng);
  void step_at(const Point& point);
  Index played() const { return round_; }
  const Outcome& outcome() const { return outcome_; }

 private:
  struct Arrival {
    Index id;
    double reward;
    VectorXd g;
    std::size_t round;  // of the query
  };
  double delay_of(const Query& query) const;
  Context context() const;
  void play(Query query);
  void deliver(double now);
  void set_clock(double now);
  // Passes a reward to the bandit, for which it may be too late.
  void arrive(const Arrival& arrival, double now);
  void record(const Arrival& arrival);

  Bandit& bandit_;
  Environment& environment_;
  RunDraws draws_;
  Outcome outcome_;
  Index round_ = 0;
  double start_ = 0.0;           // the clock when the run began
  std::multimap<double, Arrival> in_flight_;  // by round of arrival, then by query
};

}  // namespace gpb

#endif
