// A bandit puts the parts together: space and models, policy and width, and the rule
// for rewards that are not yet known. Its queries and events are its whole state;
// the models are a cache of them.
#ifndef GPB_BANDIT_H
#define GPB_BANDIT_H

#include "fold/change.h"
#include "fold/constraint.h"
#include "spaces/space.h"

namespace gpb {

enum class PendingKind { ignore, hallucinate, censor };
enum class Action : int { policy = 1, explore = 2, given = 3 };
enum class EventKind : int { query = 1, reward = 2, given = 3, restart = 4, refit = 5 };

struct Query {
  Place place;
  Context context;
  Action action = Action::policy;
  double mean = kNaN, sd = kNaN, width = kNaN;  // at the choice, at the chosen point
  int segment = 1;
  VectorXd kappa;                 // multipliers at the choice; empty without constraints
  double reward = kNaN;
  VectorXd g;                     // observed constraint values
  bool arrived = false;
  bool lost = false;              // arrived too late: stays censored
  bool in_play = true;            // belongs to the data the models know of
  Index mean_slot = -1;           // its number among the models' observations
  double time = kNaN;             // clock time of the choice, where there is a clock
};

struct Event {
  EventKind kind;
  Index id;  // 1-based; the last query for a restart or a refit
  double time = kNaN;  // clock time of a query, a reward or a given point
};

struct BanditConfig {
  double noise_var = 1.0;
  PolicyKind policy = PolicyKind::ucb;
  double xi = 0.0;
  WidthPtr width;                  // null for policies without one
  std::shared_ptr<DmmBound> dmm;   // instead of width
  PendingKind pending = PendingKind::ignore;
  double censor_after = kInf;      // m, in rounds or in time
  bool censor_by_time = false;     // by the clock, not by counting queries
  double censor_value = 0.0;
  bool sdf_over_pending = false;   // width_sdf: sum over pending queries only
  std::shared_ptr<ChangeRule> changes;  // null where nothing changes
  std::shared_ptr<const ConstraintRule> constraints;  // null without constraints
};

class Bandit {
 public:
  Bandit(std::unique_ptr<Space> space, BanditConfig config);

  // Restarts and ends of epochs that fall due before the next query.
  void before_query();
  // Where the policy would play next. Changes nothing.
  Query propose(const Context& context, Rng& rng);
  // Where the posterior mean is largest. Changes nothing and draws nothing.
  Place recommend(const Context& context, Rng& rng);
  // Plays it; returns its id (1-based).
  Index commit(Query query);
  // The reward of an earlier query.
  void observe(Index id, double reward, const VectorXd& g = VectorXd());
  // A point that the bandit did not ask for, with its reward.
  Index give(const Place& place, const Context& context, double reward,
             const VectorXd& g = VectorXd());
  void restart();
  // The time of what comes next: queries, rewards, given points.
  void set_clock(double now);
  // The latest time so far; NaN if there was none.
  double latest_time() const { return latest_; }
  // While the log is replayed no rule may restart: restarts are events of the log.
  void set_replaying(bool replaying) { replaying_ = replaying; }
  // Another prior or noise (hyperparameters were fitted anew): the models are built
  // again from what is known.
  void refit(std::unique_ptr<Space> space, BanditConfig config);

  const Space& space() const { return *space_; }
  const BanditConfig& config() const { return config_; }
  const Model& mean_model() const { return *mean_; }
  const Model& variance_model() const { return hallucinated_ ? *hallucinated_ : *mean_; }
  const std::vector<Query>& queries() const { return queries_; }
  const std::vector<Event>& events() const { return events_; }
  Index rounds() const { return static_cast<Index>(queries_.size()); }
  int segment() const { return segment_; }
  // The width of the next query; NaN for policies without one multiplier.
  double width() const { return config_.width ? config_.width->at(width_state()) : kNaN; }
  // Does the mean know this query, and as what value?
  bool is_known(const Query& query) const;
  double known_value(const Query& query) const;

 private:
  WidthState width_state() const;
  std::vector<BoundTerm> dmm_terms(const WidthState& state) const;
  double recent_sd() const;
  double time_taken(Index id) const;
  void make_models();
  void rebuild_models();
  void note_played(const Place& place);
  void enter(Query& query, Index id);  // the models learn of a query
  void learn(Query& query, Index id);  // the models learn its reward
  void advance();                      // to the next query's round
  void end_epoch();
  void forget();                   // the models begin anew
  void retarget();                 // the models learn what the known values are now
  bool detects_change(const Query& query, Index id);
  void add_to_models(Query& query, Index id, double value);
  Query& query(Index id);

  std::unique_ptr<Space> space_;
  BanditConfig config_;
  std::unique_ptr<Model> mean_;
  std::unique_ptr<Model> hallucinated_;             // knows all queries, pending ones too
  std::vector<std::unique_ptr<Model>> dmm_models_;  // one per regulariser
  std::vector<Query> queries_;
  std::vector<Event> events_;
  std::vector<Place> played_;                       // distinct places of the segment
  std::vector<char> is_played_;                     // by arm
  int segment_ = 1;
  Index first_of_segment_ = 0;
  Index first_known_ = 0;                           // since the restart or fresh epoch
  Index first_of_epoch_ = 0;
  VectorXd kappa_;
  Index explored_ = 0;                              // uniform queries of the segment
  bool replaying_ = false;
  double clock_ = kNaN, latest_ = kNaN;
};

}  // namespace gpb

#endif
