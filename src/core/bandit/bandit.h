// A bandit puts the parts together: the fold says what is known and due, posteriors follow
// it, the policy prepares a score, the space maximises it. Its events are its whole state;
// everything else is a cache of them.
#ifndef GPB_BANDIT_H
#define GPB_BANDIT_H

#include "bandit/outcome_model.h"
#include "events/bandit_state.h"
#include "events/repetition.h"
#include "posteriors/joint_maxima.h"
#include "scores/outcomes.h"

namespace gpb {

struct KnownPoints;

// As the log has it.
struct Event {
  EventKind kind;
  Index id;  // 1-based; the last query for a restart, the end of an epoch, or a refit
  double time = kNaN;
  double reward = kNaN;
  Report reported = Report();
  VectorXd g = VectorXd();
};

// What hyperparameters decide; made anew when they are fitted anew.
struct ModelState {
  std::vector<OutcomeModelState> outcomes;  // the first one's space is the bandit's
  std::unique_ptr<Policy> policy;
  // Each choice is played again until its sd has shrunk up to so many times.
  double repeats = 1.0;
  // Where there are others: are points not chosen again whose rewards are awaited?
  bool fresh = false;
  // ... and those that are known, whose rewards have next to no noise?
  bool exact = false;
};

class Bandit final : private PointFacts {
 public:
  Bandit(ModelState model_state, StateRules rules);
  ~Bandit();
  Bandit(const Bandit&) = delete;
  Bandit& operator=(const Bandit&) = delete;

  // ---- events as they happen: what falls due comes first, or follows
  // Where the policy would play next, once what is due has happened.
  Query propose(const Context& context, Rng& rng);
  // Plays it; returns its id (1-based).
  Index commit(Query query);
  // Plays a point that was chosen beforehand, of a design.
  Index explore(const Point& point, const Context& context);
  // A query that the policy does not choose, once what is due has happened; not committed yet.
  Query query_at(const Point& point, const Context& context, Action action);
  void observe(Index id, double reward, const VectorXd& g = VectorXd(), const Report& reported = Report());
  // A point that the bandit did not ask for; its reward may be unknown (NaN).
  Index give(const Point& point, const Context& context, double reward,
             const VectorXd& g = VectorXd(), const Report& reported = Report());
  void amend(Index id, double reward, const Report& reported);
  void withdraw(Index id, Status status, Index outcome = kAllOutcomes);
  void restart();
  void refit(ModelState model_state);
  // A space with further arms after those that there are.
  void add_arms(ModelState model_state);
  // The time of what comes next: queries, rewards, given points.
  void set_clock(double now) { state_.set_clock(now); }

  // ---- events of a log: each as it stands there, nothing follows from it
  void replay(const Event& event, Query query);
  void replay_refit(ModelState model_state) { refit(std::move(model_state)); }
  void replay_arms(ModelState model_state) { add_arms(std::move(model_state)); }

  // ---- what there is
  // Where the posterior mean is largest (of those where the limits hold with this probability).
  // Changes nothing and draws nothing.
  Point recommend(const Context& context, double feasible = kNaN);
  // Where mean + width * sd is largest (width < 0: a lower bound), and how large, of the real
  // rewards' posterior.
  std::pair<Point, double> largest_bound(double width, const Context& context);
  // Where a sum of bounds of several bandits is largest, of the real rewards' posteriors: this one's is the first
  // quantity, the others are over the same space.
  Point largest_sum(const std::vector<const Bandit*>& others, std::vector<BoundTerm> terms, double target,
                    const Context& context);
  // The maximum and the value at `point`, in draws of f from the real rewards' posterior: a row each.
  MatrixXd drawn_maxima(const Point& point, Index draws, const Context& context, Rng& rng);
  // The same at the recommended point, ready to be drawn again and again; null where points are too many or endless.
  std::unique_ptr<JointMaxima> joint_maxima(const Context& context);
  // Where mean + width * sd of f - f(from) is largest, and how large, of the real rewards' posterior.
  std::pair<Point, double> largest_advantage(const Point& from, double width, const Context& context);
  // The running intervals at a context's candidates, with what has been observed since the last
  // choice; only of policies that keep them.
  RunningIntervals intervals(const Context& context);
  Index refutations() const { return intervals_.refutations(); }
  // What the policy says of a context's candidates; of policies that know what is safe.
  PointLabels labels(const Context& context);
  // See Policy::phases.
  int phases() const { return model_state_.policy->phases(); }
  const BanditState& state() const { return state_; }
  const Space& space() const { return *model_state_.outcomes[0].space; }
  Space& space() { return *model_state_.outcomes[0].space; }
  // Events from number first_event() (0-based) on: those before are the log's, and are not kept twice.
  const std::vector<Event>& events() const { return events_; }
  Index first_event() const { return first_event_; }
  void hand_over_events();
  const std::vector<OutcomeModel>& outcome_models() const { return outcome_models_; }
  const Posterior& mean() const { return first().mean(); }
  // The first quantity by the real rewards, among those of several bandits.
  OutcomeView known_view() const;
  // Where bounds by the policy's width are: see Policy::norm_bound.
  const Posterior& curved() const { return first().curved(); }
  // Are rewards something else than readings with Gaussian noise?
  bool has_likelihood() const { return model_state_.outcomes[0].likelihood != nullptr; }
  // What a likelihood made of the rewards.
  const Observations& known() const { return first().known(); }
  const Posterior& variance() const { return first().variance(); }
  // At some inputs, as the kernel sees them.
  PointsMoments outcomes_at(const Points& X) const;
  // 1/2 log det(I + K/lambda) of the pending queries given the real rewards, in nats.
  double pending_information() const;
  // The width, among the real rewards' posterior, of the next query; NaN for policies without one multiplier.
  double width() const;
  double width(Width& other) const;

 private:
  // One event, as it happens or of a log: the fold takes it in, the quantities follow, and it is noted.
  // `query`: a new one. Does the change rule raise the alarm?
  bool apply(Event event, Query* query = nullptr);
  void follow(const Delta& change);
  // The places of a query's ranking; null where rewards are no rankings.
  std::shared_ptr<const RankedPoints> ranked_with(Index id) const;
  VectorXd inputs(const Point& point) const override { return space().inputs(point); }
  double prior_mean(const Point& point) const override { return space().prior_mean(point); }
  double noise_var() const override { return model_state_.outcomes[0].noise_var; }

  const OutcomeModel& first() const { return outcome_models_[0]; }
  OutcomeModel& outcome_model(Index outcome) { return outcome_models_[static_cast<std::size_t>(outcome)]; }
  const OutcomeModelState& model_state(Index outcome) const {
    return model_state_.outcomes[static_cast<std::size_t>(outcome)];
  }
  bool has_several() const { return outcome_models_.size() > 1; }
  Round round(const Context& context) const;
  Round round_of_known(const Context& context) const;
  void offer_lookups(Round& round, const Context& context) const;
  VectorXd prior_sd(Index outcome, const Context& context) const;
  double value(const Score& score, const Point& point, const Context& context) const;
  WidthState width_state(Index outcome = 0) const;
  double recent_sd(Index outcome, bool pending_only) const;
  OwnNoise own_noise(Index outcome) const;
  std::vector<OutcomeView> outcome_views() const;
  void set_outcome_widths(Round& round) const;
  PointsMoments played_moments(const Context& context) const;
  double guarded(double width) const;
  void check_eligible(const std::vector<char>& arms) const;
  Beginnings beginnings() const { return {first().known().best(), Points()}; }
  // Queries with rewards that could be recommended in a context.
  std::vector<Index> rewarded(const Context& context) const;
  Points inputs_of(const std::vector<const Point*>& points) const;
  // Of queries; where inputs are fixed, of the points that they are moved to.
  Points inputs_of(const std::vector<Index>& ids, const Context& context) const;
  bool is_exact(Index id) const;
  const Point* surely_as_good(const Point& found) const;
  Point settled_among(const Point& found, const Context& context) const;
  double incumbent(const Context& context) const;
  double incumbent_of_slice(const Context& context) const;
  double largest(const Score& score, const Context& context) const;
  // Throws where a noise variance is too little for the posterior's digits.
  void check_noise_of(Index outcome, double noise_var) const;
  void check_own_noise(double reward, const Report& reported) const;
  void make_posteriors();
  void exchange(ModelState& model_state, EventKind kind);
  void relocate();
  // Nothing is known; the next ids are `first` and above.
  void begin_anew(Index first);
  void rebuild();
  void advance();
  void narrow_intervals(RunningIntervals& intervals, const Round& round) const;
  std::unique_ptr<Score> penalised(std::unique_ptr<Score> score, const Round& round) const;
  Point chosen(const Score& score, const Round& round, const Context& context);
  // Where no query is made again, if there are other points: at known ones, and as near as `apart` to pending ones.
  KnownPoints not_again(const Context& context, double apart) const;
  Points candidate_inputs(const Context& context) const;
  // The query whose point is to be played again now; 0 if there is none.
  Index to_repeat(const Context& context) const;
  // Of policies that ask for pairs: the query that opened the one that is not whole, and the point that
  // answered last; 0 and null if there is none.
  Index opened() const;
  const Point* last_answer(const Context& context) const;
  void settle_what_is_due();
  void note(Index id);
  void note_anew();
  void note_played(Index id);
  void forget_played();
  // Mean and sd at a point, as the history has them.
  void look(Query& query) const;

  ModelState model_state_;
  BanditState state_;
  std::vector<OutcomeModel> outcome_models_;  // by outcome
  std::vector<Event> events_;
  Index first_event_ = 0;
  RunningIntervals intervals_;  // where the policy keeps them
  // Queries in play at distinct points (at all points where no table tells them apart).
  std::vector<Index> played_;
  Index last_noted_ = 0;  // the latest of them
  std::vector<char> is_played_;  // by row of the table
  Repetition repetition_;
};

}  // namespace gpb

#endif
