// The fold: what a bandit's events come to. A state machine without posterior or policy:
// events go in; out come, as a diff, what the mean and the variance are to know, and what is
// due. It holds the pending rule, the change rule and the constraint rule, and all that they
// remember. Whatever enters from a file or another process passes its checks.
#ifndef GPB_FOLD_H
#define GPB_FOLD_H

#include "base/place.h"
#include "events/changes.h"
#include "events/constraints.h"
#include "events/pending.h"

#include <cmath>
#include <set>

namespace gpb {

enum class Action : int { policy = 1, explore = 2, given = 3 };
enum class Status : int { pending = 1, known = 2, lost = 3, withdrawn = 4, failed = 5 };
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
  arms = 10      // there are more of them, after the others
};

// What may be told beside a reward.
struct Told {
  double noise_var = kNaN;  // of the reward, where that is its own
  double size = kNaN;       // how many readings it is the mean of, or trials, or exposure; NaN for 1
  double spread = kNaN;     // sum of squares of these readings about it
  Index other = 0;          // the query that this one was compared with

  double times() const { return std::isnan(size) ? 1.0 : size; }
  // Does its posterior noise differ from the others'?
  bool own_noise() const { return !std::isnan(noise_var) || times() != 1.0; }
};

struct Query {
  Place place;
  Context context;
  Action action = Action::policy;
  double mean = kNaN, sd = kNaN, width = kNaN;  // at the choice, at the chosen point
  int segment = 1;
  VectorXd kappa;  // multipliers at the choice; empty without constraints
  Status status = Status::pending;
  double reward = kNaN;
  VectorXd g;               // observed constraint values
  Told told;
  bool in_play = true;      // belongs to the data since the restart or fresh epoch
  double time = kNaN;       // clock time of the choice, where there is a clock
  bool avoided = false;     // failed, and counts as the worst reward that is known

  bool is_void() const {
    return status == Status::withdrawn || (status == Status::failed && !avoided);
  }
};

// Whom the fold tells what is known, and asks about places.
class FoldListener {
 public:
  virtual ~FoldListener() = default;
  virtual void asked(Index id) = 0;                  // a query was made
  virtual void learned(Index id, double value) = 0;  // its value is known, or another one
  virtual void dropped(Index id) = 0;                // it is as if it had not been made
  virtual void cleared() = 0;                        // nothing is known any more
  virtual void retargeted() = 0;                     // known values have another meaning
  virtual VectorXd inputs(const Place& place) const = 0;
  virtual double prior_mean(const Place& place) const = 0;
  virtual double noise_var() const = 0;
};

struct FoldRules {
  std::unique_ptr<PendingRule> pending;
  std::unique_ptr<ChangeRule> changes;          // null where nothing changes
  std::unique_ptr<ConstraintRule> constraints;  // null without
  double clip = kInf;  // rewards beyond it count as this much
  // What failed is as if it had not been asked (0), or counts as the least (1) or the largest (-1)
  // reward that is known.
  int failures = 0;
};

class Fold {
 public:
  Fold(FoldRules rules, FoldListener& listener);

  // ---- events
  void set_clock(double now);
  Index ask(Query query);  // returns its id (1-based)
  // The reward of a pending query, or of one that was given up as failed: it comes after all. True
  // if the change rule raises the alarm.
  bool reward(Index id, double reward, const VectorXd& g, const Told& told);
  // (Its own noise variance stays.)
  void amend(Index id, double reward, const Told& told);
  void withdraw(Index id, Status status);
  void restart();
  void end_epoch();
  // Where queries were made, in a space whose places have other numbers.
  template <class PlaceOf>
  void relocate(PlaceOf place_of) {
    for (Query& q : queries_) q.place = place_of(q);
  }

  // ---- what is due before the next query
  bool restart_due() const;
  bool epoch_due() const;

  // ---- what there is
  const std::vector<Query>& queries() const { return queries_; }
  const Query& query(Index id) const { return queries_[checked(id)]; }
  Index rounds() const { return static_cast<Index>(queries_.size()); }
  int segment() const { return segment_; }
  const VectorXd& multipliers() const { return kappa_; }
  double clock() const { return clock_; }
  // The latest time so far; NaN if there was none.
  double latest_time() const { return latest_; }
  // Queries since the restart or fresh epoch that were not withdrawn.
  Index history() const { return rounds() - first_known_ - withdrawn_; }
  Index first_known() const { return first_known_; }  // 0-based
  // Rewards known since the restart or fresh epoch, and the ids of those with a noise of their own.
  Index known_rewards() const { return known_rewards_; }
  const std::vector<Index>& own_noise() const { return own_noise_; }
  // Ids of queries in play whose rewards are awaited.
  const std::set<Index>& awaited() const { return awaited_; }
  bool explores() const { return rules_.changes && rules_.changes->explores(explored_, history()); }
  const PendingRule& pending() const { return *rules_.pending; }
  const ConstraintRule* constraints() const { return rules_.constraints.get(); }
  Forgetting forgetting() const;
  // Does the mean know this query, and as what value?
  bool is_known(const Query& query) const;
  double known_value(const Query& query) const;
  // What was told beside that value.
  Told known_told(const Query& query) const {
    return query.status == Status::known ? query.told : Told();
  }
  // Rounds, or units of the clock, since a query.
  double age(Index id) const;

 private:
  std::size_t checked(Index id) const;
  void await(Index id);
  void take_back_failure(Index id);
  double time_taken(Index id) const;
  bool raises_alarm(const Query& query, Index id);
  void forget();
  void note_worst(double value);
  void seek_worst();
  void tell_failures();
  bool any_known() const;
  MatrixXd history_table() const;

  FoldRules rules_;
  FoldListener& listener_;
  std::vector<Query> queries_;
  std::set<Index> awaited_;
  int segment_ = 1;
  Index first_of_segment_ = 0;
  Index first_known_ = 0;  // since the restart or fresh epoch
  Index first_of_epoch_ = 0;
  Index explored_ = 0;   // uniform queries of the segment
  Index withdrawn_ = 0;  // queries in play that were withdrawn
  Index known_rewards_ = 0;       // in play
  std::vector<Index> own_noise_;
  std::vector<Index> avoided_;  // ids in play that failed and count
  double worst_ = kNaN;         // known value in play; kept where failures count
  VectorXd kappa_;
  double clock_ = kNaN, latest_ = kNaN;
};

}  // namespace gpb

#endif
