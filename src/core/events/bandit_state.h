// The state of a bandit, built from its events without a posterior or a policy. Uses base/ and the rules of events/.
// Events come in. The results are a list of changes (`Delta`) to the data of the mean and the variance, and the steps
// that are due. The state holds the pending, change and constraint rules and their memory; these rules concern the
// first outcome only. Every event from a file or another process is validated here.
#ifndef GPB_BANDIT_STATE_H
#define GPB_BANDIT_STATE_H

#include "base/point.h"
#include "base/seldom.h"
#include "events/changes.h"
#include "events/constraints.h"
#include "events/pending.h"

#include <cmath>
#include <set>
#include <utility>

namespace gpb {

enum class Action : std::int8_t { policy = 1, explore = 2, given = 3 };
// (partial: some outcomes of a query are known, others are pending.)
enum class Status : std::int8_t { pending = 1, known = 2, lost = 3, withdrawn = 4, failed = 5, partial = 6 };
enum class EventKind : int {
  query = 1,
  reward = 2,
  given = 3,
  restart = 4,
  refit = 5,
  epoch = 6,     // the end of an epoch
  amend = 7,     // corrects a known reward
  withdraw = 8,  // a pending query will have no reward
  fail = 9,      // the same, because the evaluation failed
  arms = 10,     // further arms, numbered after the existing ones
  checkpoint = 11  // earlier rounds have been removed, see Forgotten
};

// The outcome of an event that concerns whole queries.
inline constexpr Index kAllOutcomes = -1;

// Optional information about a reward.
struct Report {
  double noise_var = kNaN;  // of this reward, if it was reported with one
  double size = kNaN;       // number of measurements that it averages, or trials, or exposure; NaN for 1
  double spread = kNaN;     // sum of squared deviations of these measurements from it
  Index other = 0;          // the query that this one was compared with, or the next one of its ranking
  Index outcome = kAllOutcomes;  // which of several outcomes it is a value of
  double doubted_to = kNaN;  // if not NaN: uniform between the reported value and this

  double times() const { return std::isnan(size) ? 1.0 : size; }
  // Does the noise variance in the posterior differ from the usual one?
  bool own_noise() const { return !std::isnan(noise_var) || times() != 1.0; }
  // The outcome. Events of bandits with one outcome may omit it.
  Index about() const { return outcome == kAllOutcomes ? 0 : outcome; }
};

inline bool is_usual(const Report& reported) {
  return std::isnan(reported.noise_var) && std::isnan(reported.size) && std::isnan(reported.spread) &&
    reported.other == 0 &&
         reported.outcome == kAllOutcomes && std::isnan(reported.doubted_to);
}
inline bool is_usual(const Context& context) {
  return context.row == 0 && context.values.size() == 0 && !context.eligible && !context.fixed;
}

// The state of one outcome of a query.
struct Cell {
  double reward = kNaN;
  Seldom<Report> reported;
  Status status = Status::pending;
  bool avoided = false;  // failed, and counts as the worst known value
  bool echo = false;     // a comparison or ranking that is recorded with another query

  bool is_void() const {
    return status == Status::withdrawn || (status == Status::failed && !avoided);
  }
};

// Fields that few queries need.
struct BesideQuery {
  double time = kNaN;        // clock time of the choice; NaN without a clock
  VectorXd kappa;            // multipliers at the choice; empty without constraints
  VectorXd g;                // observed constraint values
  std::vector<Cell> others;  // of further outcomes
};
inline bool is_usual(const BesideQuery& beside) {
  return std::isnan(beside.time) && beside.kappa.size() == 0 && beside.g.size() == 0 && beside.others.empty();
}

// A query is the cell of its first outcome and has the cells of further outcomes, which most bandits do not have. Long
// runs have millions of queries: rarely needed fields are stored separately, and small fields are adjacent.
struct Query : Cell {
  Action action = Action::policy;
  bool in_play = true;  // belongs to the data since the restart or fresh epoch
  int segment = 1;
  int phase = 0;        // see Score::phase
  Point point;
  Seldom<Context> context;
  double mean = kNaN, sd = kNaN, width = kNaN;  // at the choice, at the chosen point
  Seldom<BesideQuery> beside;

  Index outcomes() const { return 1 + static_cast<Index>(beside->others.size()); }
  const Cell& cell(Index outcome) const {  // cppcheck-suppress returnTempReference
    return outcome == 0 ? *this : beside->others[static_cast<std::size_t>(outcome - 1)];
  }
  Cell& cell(Index outcome) {  // cppcheck-suppress returnTempReference
    return outcome == 0 ? *this : beside.edit().others[static_cast<std::size_t>(outcome - 1)];
  }
  const VectorXd& g() const { return beside->g; }
  void take(const VectorXd& g) {
    if (g.size() > 0 || beside->g.size() > 0) beside.edit().g = g;
  }
  // The status over all outcomes.
  Status overall_status() const;
};

// A change of the data that an event causes.
struct Delta {
  enum class Kind {
    asked,      // a query was made, and this outcome of it is pending
    learned,    // the outcome has a value, or a changed one
    dropped,    // the outcome is removed, as if it had not been requested
    cleared,    // all data are removed
    retargeted  // the values of known outcomes are to be computed again
  };
  Kind kind;
  Index id = 0, outcome = 0;
  double value = kNaN;
  Report reported = Report();  // with the value
};

// The rounds before the log's first event. They are replaced by the first queries of the log, `sums`: one for
// each point with rewards, with their mean, number and spread. A posterior with Gaussian noise depends on nothing else.
struct Forgotten {
  Index rounds = 0, sums = 0;
  Index before() const { return rounds - sums; }  // a query's round minus its number in the log
};

// Facts about points that change rules need and the state does not have.
class PointFacts {
 public:
  virtual ~PointFacts() = default;
  virtual VectorXd inputs(const Point& point) const = 0;
  virtual double prior_mean(const Point& point) const = 0;
  virtual double noise_var() const = 0;
  virtual double prior_scale() const = 0;
  virtual const Likelihood* likelihood() const = 0;  // null: Gaussian noise
};

// Robust conjugate rewards (Altamirano et al. 2024, with the plateau of Ezzerg et al. 2025): a residual from the prior
// mean that exceeds `half` by u > 0 has its noise variance s multiplied by 1 + u^2 / decay^2, and is moved outwards by
// 2 s u / (decay^2 + u^2).
struct Plateau {
  double half = kInf, decay = 1.0;
  // Beyond this number of decays a reward has no weight in double precision.
  static constexpr double kFarthest = 1e8;
  struct Counted {
    double residual, noise_factor;
  };
  Counted of(double residual, double noise_var) const;
};

struct StateRules {
  std::unique_ptr<PendingRule> pending;
  std::unique_ptr<ChangeRule> changes;          // null without one
  std::unique_ptr<ConstraintRule> constraints;  // null without
  double clip = kInf;  // rewards are clipped to [-clip, clip]
  Plateau plateau;
  // For each outcome, how failures count: not at all (0), as the least known value (1), or as the largest (-1).
  std::vector<int> failures = {0};
  bool doubted = false;  // a failure's value is uniform between the worst and the best known one
  bool ranks = false;  // rewards are positions in rankings
};

// The queries of one ranking, the best first. The order of the last ones may be unknown.
struct Ranking {
  std::vector<Index> ids;
  Index stages = 0;  // number of queries known to come before all later ones
};

// The largest number of queries in a ranking.
inline constexpr Index kMostRanked = 50;

class BanditState {
 public:
  // `points` must outlive the state.
  BanditState(StateRules rules, const PointFacts& points);

  // ---- events
  // The changes since the last call, in order.
  std::vector<Delta> take_deltas() { return std::exchange(changes_, {}); }
  void set_clock(double now);
  Index ask(Query query);  // returns its id (1-based)
  // Takes the value of an outcome that is pending, or that was reported as failed. True if the change rule raises the
  // alarm.
  bool reward(Index id, double reward, const VectorXd& g, const Report& reported);
  // (A separate noise variance is kept.)
  void amend(Index id, double reward, const Report& reported);
  // One outcome, or all pending ones.
  void withdraw(Index id, Index outcome, Status status);
  void restart();
  void end_epoch();
  // The log begins after some rounds; see Forgotten.
  void begin_after(const Forgotten& forgotten);
  // Updates the points of queries to a space in which points have other numbers.
  template <class PointOf>
  void relocate(PointOf point_of) {
    for (Query& q : queries_) q.point = point_of(q);
  }

  // ---- steps that are due before the next query
  bool restart_due() const;
  bool epoch_due() const;

  // ---- queries, outcomes and rules
  Index outcomes() const { return static_cast<Index>(columns_.size()); }
  const std::vector<Query>& queries() const { return queries_; }
  const Query& query(Index id) const { return queries_[checked(id)]; }
  Index rounds() const { return static_cast<Index>(queries_.size()); }
  const Forgotten& forgotten() const { return forgotten_; }
  bool is_sum(Index id) const { return id <= forgotten_.sums; }
  bool lacks_sums() const { return rounds() < forgotten_.sums; }
  // Includes forgotten ones.
  Index all_rounds() const { return rounds() + forgotten_.before(); }
  int segment() const { return segment_; }
  int largest_phase() const { return largest_phase_; }  // of all queries, see Score::phase
  const VectorXd& multipliers() const { return kappa_; }
  double clock() const { return clock_; }
  // The latest clock time so far; NaN if there was none.
  double latest_time() const { return latest_; }
  // Queries since the restart or fresh epoch that were not withdrawn.
  Index history() const { return all_rounds() - first_known_ - withdrawn_; }
  Index first_known() const { return first_known_; }  // 0-based
  // Known rewards since the restart or fresh epoch, and the ids of those with a separate noise variance.
  Index known_rewards(Index outcome = 0) const { return column(outcome).known; }
  const std::vector<Index>& own_noise(Index outcome = 0) const { return column(outcome).own_noise; }
  // Ids of pending queries in play.
  const std::set<Index>& awaited() const { return awaited_; }
  // Has it failed, and there is no worst known value yet that it could count as?
  bool counts_later(const Query& q, Index outcome) const;
  bool explores() const { return rules_.changes && rules_.changes->explores(explored_, history()); }
  // The point at which it explores; null: drawn uniformly.
  const CoverPoint* explored_point() const { return explores() ? rules_.changes->forced(explored_) : nullptr; }
  // Does a change rule use the predictions at the time of the queries?
  bool reads_predictions() const { return rules_.changes && rules_.changes->reads_predictions(); }
  const PendingRule& pending() const { return *rules_.pending; }
  const ConstraintRule* constraints() const { return rules_.constraints.get(); }
  Forgetting forgetting() const;
  // Is this query part of the mean's data, and with which value?
  bool is_known(const Query& query, Index outcome = 0) const;
  double known_value(const Query& query, Index outcome = 0) const;
  // The optional information about that value.
  Report known_reported(const Query& query, Index outcome = 0) const;
  // Rounds, or units of the clock, since a query.
  double age(Index id) const;
  // The ranking that a query belongs to; without ids if the ranking is not complete.
  Ranking ranking(Index id) const;

 private:
  // The data of one outcome, over the queries in play.
  struct Column {
    int failures = 0;
    Index known = 0;
    std::vector<Index> own_noise;  // ids of values with a separate noise variance
    std::vector<Index> avoided;    // ids that failed and count as the worst value
    double worst = kNaN;           // known value; updated only if failures count
    double best = kNaN;            // known value; updated only if failures are uncertain
  };

  std::size_t checked(Index id) const;
  Plateau::Counted on_plateau(const Query& q) const;
  const Column& column(Index outcome) const { return columns_[static_cast<std::size_t>(outcome)]; }
  Column& column(Index outcome) { return columns_[static_cast<std::size_t>(outcome)]; }
  Cell& reported_cell(Index id, Index outcome);
  void record_learned(Index id, Index outcome, double value);
  void record_stand_in(Index id, Index outcome);
  void await(Index id, Index outcome);
  void take_back_failure(Index id, Index outcome);
  void give_up(Index id, Index outcome, Status status);
  double time_taken(Index id) const;
  bool raises_alarm(const Query& query, Index id);
  void forget();
  bool echoes(Index id, Index other, Index outcome) const;
  std::vector<Index> ranked_with(Index id) const;
  void settle_ranking(Index id);
  Report failure_reported(Index outcome) const;
  bool note_extremes(Column& column, double value) const;
  void seek_extremes(Index outcome);
  void record_failures(Index outcome);
  bool any_known() const;
  void note_sum(const Report& reported);
  MatrixXd history_table() const;

  StateRules rules_;
  const PointFacts& points_;
  std::vector<Delta> changes_;
  std::vector<Query> queries_;
  std::set<Index> awaited_;
  Forgotten forgotten_;
  int segment_ = 1, largest_phase_ = 0;
  Index first_of_segment_ = 0;
  Index first_known_ = 0;  // since the restart or fresh epoch
  Index first_of_epoch_ = 0;
  Index explored_ = 0;   // uniform queries of the segment
  Index withdrawn_ = 0;  // queries in play that were withdrawn
  std::vector<Column> columns_;  // by outcome
  VectorXd kappa_;
  double clock_ = kNaN, latest_ = kNaN;
};

}  // namespace gpb

#endif
