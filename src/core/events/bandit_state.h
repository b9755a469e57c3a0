// The fold: what a bandit's events come to. A state machine without posterior or policy:
// events go in; out come, as a diff, what the mean and the variance are to know, and what is
// due. It holds the pending rule, the change rule and the constraint rule, and all that they
// remember. Pending, change and constraint rules are about the first outcome. Whatever enters from a
// file or another process passes its checks.
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
// (partial: some outcomes of a query are known, others are not yet.)
enum class Status : std::int8_t { pending = 1, known = 2, lost = 3, withdrawn = 4, failed = 5, partial = 6 };
enum class EventKind : int {
  query = 1,
  reward = 2,
  given = 3,
  restart = 4,
  refit = 5,
  epoch = 6,     // the end of one
  amend = 7,     // a known reward was wrong
  withdraw = 8,  // a pending query will never be answered
  fail = 9,      // ... and was tried
  arms = 10,     // there are more of them, after the others
  checkpoint = 11  // earlier rounds are forgotten, see Forgotten
};

// Whole queries, where an event is about no single outcome.
inline constexpr Index kAllOutcomes = -1;

// What may be told beside a reward.
struct Report {
  double noise_var = kNaN;  // of the reward, where that is its own
  double size = kNaN;       // how many readings it is the mean of, or trials, or exposure; NaN for 1
  double spread = kNaN;     // sum of squares of these readings about it
  Index other = 0;          // the query that this one was compared with; the next one of its ranking
  Index outcome = kAllOutcomes;  // which of several it is a value of
  double doubted_to = kNaN;  // no value for certain: any between the one told and this one, all alike

  double times() const { return std::isnan(size) ? 1.0 : size; }
  // Does its posterior noise differ from the others'?
  bool own_noise() const { return !std::isnan(noise_var) || times() != 1.0; }
  // Where there is one outcome an event need not say so.
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

// One outcome of a query: what has become of it.
struct Cell {
  double reward = kNaN;
  Seldom<Report> reported;
  Status status = Status::pending;
  bool avoided = false;  // failed, and counts as the worst that is known
  bool echo = false;     // a comparison, or a ranking, that another query tells of

  bool is_void() const {
    return status == Status::withdrawn || (status == Status::failed && !avoided);
  }
};

// What few queries have.
struct BesideQuery {
  double time = kNaN;        // clock time of the choice, where there is a clock
  VectorXd kappa;            // multipliers at the choice; empty without constraints
  VectorXd g;                // observed constraint values
  std::vector<Cell> others;  // of further outcomes
};
inline bool is_usual(const BesideQuery& beside) {
  return std::isnan(beside.time) && beside.kappa.size() == 0 && beside.g.size() == 0 && beside.others.empty();
}

// A query is the cell of its first outcome, which most bandits have alone, and has the others'.
// (Long lives have millions of them: what most do not need is not in each, and the small ones stand together.)
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
  // Of all outcomes together.
  Status whole_status() const;
};

// What an event changes of what is known.
struct Delta {
  enum class Kind {
    asked,      // a query was made, and this outcome of it is awaited
    learned,    // the outcome's value is known, or another one
    dropped,    // the outcome is as if it had not been asked for
    cleared,    // nothing is known any more
    retargeted  // known values have another meaning
  };
  Kind kind;
  Index id = 0, outcome = 0;
  double value = kNaN;
  Report reported = Report();  // beside the value
};

// Rounds that a log begins after. In their place stand its first queries, `sums`: one for each point with rewards, with
// their mean, number and spread, which is all that a Gaussian reading's point in a posterior depends on.
struct Forgotten {
  Index rounds = 0, sums = 0;
  Index before() const { return rounds - sums; }  // what a query's number in the log lacks to its round
};

// What change rules want to know of places, which the fold does not.
class PointFacts {
 public:
  virtual ~PointFacts() = default;
  virtual VectorXd inputs(const Point& point) const = 0;
  virtual double prior_mean(const Point& point) const = 0;
  virtual double noise_var() const = 0;
};

struct StateRules {
  std::unique_ptr<PendingRule> pending;
  std::unique_ptr<ChangeRule> changes;          // null where nothing changes
  std::unique_ptr<ConstraintRule> constraints;  // null without
  double clip = kInf;  // rewards beyond it count as this much
  // For each outcome: what failed is as if it had not been asked (0), or counts as the least (1) or
  // the largest (-1) value that is known.
  std::vector<int> failures = {0};
  bool doubted = false;  // a failure is no certain value: any between the worst and the best, all alike
  bool ranks = false;  // rewards are points in rankings
};

// Queries of one ranking, the best first. Of the last ones the order may not be told.
struct Ranking {
  std::vector<Index> ids;
  Index stages = 0;  // how many are known to stand before all that come after them
};

// The most queries of a ranking.
inline constexpr Index kMostRanked = 50;

class BanditState {
 public:
  // `points` outlive the fold.
  BanditState(StateRules rules, const PointFacts& points);

  // ---- events
  // What they have changed since this was asked last, in their order.
  std::vector<Delta> take_deltas() { return std::exchange(changes_, {}); }
  void set_clock(double now);
  Index ask(Query query);  // returns its id (1-based)
  // An outcome of a query that awaits it, or that was given up as failed: it comes after all. True if
  // the change rule raises the alarm.
  bool reward(Index id, double reward, const VectorXd& g, const Report& reported);
  // (Its own noise variance stays.)
  void amend(Index id, double reward, const Report& reported);
  // An outcome, or all that are awaited.
  void withdraw(Index id, Index outcome, Status status);
  void restart();
  void end_epoch();
  // The log begins after some rounds.
  void begin_after(const Forgotten& forgotten);
  // Where queries were made, in a space whose points have other numbers.
  template <class PointOf>
  void relocate(PointOf point_of) {
    for (Query& q : queries_) q.point = point_of(q);
  }

  // ---- what is due before the next query
  bool restart_due() const;
  bool epoch_due() const;

  // ---- what there is
  Index outcomes() const { return static_cast<Index>(columns_.size()); }
  const std::vector<Query>& queries() const { return queries_; }
  const Query& query(Index id) const { return queries_[checked(id)]; }
  Index rounds() const { return static_cast<Index>(queries_.size()); }
  const Forgotten& forgotten() const { return forgotten_; }
  bool is_sum(Index id) const { return id <= forgotten_.sums; }
  bool lacks_sums() const { return rounds() < forgotten_.sums; }
  // Forgotten ones too.
  Index all_rounds() const { return rounds() + forgotten_.before(); }
  int segment() const { return segment_; }
  int largest_phase() const { return largest_phase_; }  // of all queries, see Score::phase
  const VectorXd& multipliers() const { return kappa_; }
  double clock() const { return clock_; }
  // The latest time so far; NaN if there was none.
  double latest_time() const { return latest_; }
  // Queries since the restart or fresh epoch that were not withdrawn.
  Index history() const { return all_rounds() - first_known_ - withdrawn_; }
  Index first_known() const { return first_known_; }  // 0-based
  // Rewards known since the restart or fresh epoch, and the ids of those with a noise of their own.
  Index known_rewards(Index outcome = 0) const { return column(outcome).known; }
  const std::vector<Index>& own_noise(Index outcome = 0) const { return column(outcome).own_noise; }
  // Ids of queries in play whose rewards are awaited.
  const std::set<Index>& awaited() const { return awaited_; }
  // Has it failed, and there is no worst reward yet that it counts as?
  bool counts_later(const Query& q, Index outcome) const;
  bool explores() const { return rules_.changes && rules_.changes->explores(explored_, history()); }
  const PendingRule& pending() const { return *rules_.pending; }
  const ConstraintRule* constraints() const { return rules_.constraints.get(); }
  Forgetting forgetting() const;
  // Does the mean know this query, and as what value?
  bool is_known(const Query& query, Index outcome = 0) const;
  double known_value(const Query& query, Index outcome = 0) const;
  // What was told beside that value.
  Report known_reported(const Query& query, Index outcome = 0) const {
    const Cell& cell = query.cell(outcome);
    if (cell.status == Status::known) return cell.reported.get();
    return cell.avoided ? failure_reported(outcome) : Report();
  }
  // Rounds, or units of the clock, since a query.
  double age(Index id) const;
  // The ranking that a query belongs to; of no ids where it is not told whole.
  Ranking ranking(Index id) const;

 private:
  // What is known of an outcome, over the queries in play.
  struct Column {
    int failures = 0;
    Index known = 0;
    std::vector<Index> own_noise;  // ids of values that have one
    std::vector<Index> avoided;    // ids that failed and count
    double worst = kNaN;           // known value; kept where failures count
    double best = kNaN;            // the same; kept where they are doubted
  };

  std::size_t checked(Index id) const;
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
