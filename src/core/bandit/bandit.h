// A bandit: combines the state, the models of the outcomes, a policy and a space. Uses all folders of the core.
// The policy prepares an acquisition function (`Score`), and the space maximises it. The events are the bandit's whole
// state; everything else is computed from them.
#ifndef GPB_BANDIT_H
#define GPB_BANDIT_H

#include "bandit/outcome_model.h"
#include "events/bandit_state.h"
#include "events/repetition.h"
#include "linalg/floors.h"
#include "posteriors/joint_maxima.h"
#include "scores/outcomes.h"

#include <cmath>
#include <optional>

namespace gpb {

struct KnownPoints;

// An event, as in the log.
struct Event {
  EventKind kind;
  Index id;  // 1-based; the last query for a restart, the end of an epoch, or a refit
  double time = kNaN;
  double reward = kNaN;
  Report reported = Report();
  VectorXd g = VectorXd();
};

// The part of the model that depends on hyperparameters; made again at each refit.
struct ModelState {
  std::vector<OutcomeModelState> outcomes;  // the first one's space is the bandit's
  std::unique_ptr<Policy> policy;
  // If the change rule is automatic: how the posteriors forget.
  std::optional<Forgetting> forgetting;
  // Each choice is played again until its sd has shrunk by a factor of up to this.
  double repeats = 1.0;
  // If true, points with pending rewards are not chosen again, unless there are no others.
  bool fresh = false;
  // The same for points with known rewards, if these have almost no noise.
  bool exact = false;
  // The same for all points that were played, until two rewards of one point have differed.
  bool once = false;
  // The columns of the inputs that are numbers of levels.
  std::vector<Index> coded;
  // If true, the noise is an estimate, and may be structure of f that the model cannot represent.
  bool noise_fitted = false;
  // If true, rewards have no noise: the incumbent and the recommended point have the best reward.
  bool noiseless = false;
};

// No values: the next point is drawn at random, or the function is defined at the candidates only. NaN at points that
// are not chosen again.
struct AcquisitionValues {
  VectorXd values;
  bool logarithmic = false;  // see Score::logarithmic
};

class Bandit final : private PointFacts {
 public:
  Bandit(ModelState model_state, StateRules rules);
  ~Bandit();
  Bandit(const Bandit&) = delete;
  Bandit& operator=(const Bandit&) = delete;

  // ---- live events: steps that are due come before or after them
  // The next query by the policy, after the steps that are due. Not committed yet.
  Query propose(const Context& context, Rng& rng);
  // The acquisition function of the next query at the rows of X, or at the candidates if X has no columns. The steps
  // that are due come before it, as before a query.
  AcquisitionValues acquisition(const Context& context, const Points& X, Rng& rng);
  // The number of points of a context that were not played and are not pending; infinite if it is not counted.
  double points_left(const Context& context);
  // Is that number above 0? Points are counted again only when those counted before may all have been evaluated.
  bool has_points_left(const Context& context);
  // Has a point two different rewards, or one that is the mean of different measurements?
  bool has_shown_noise() const;
  // The expected values of queries' points given the rewards observed there, in the outcome's model.
  VectorXd worth_of_evaluated(const std::vector<Index>& ids, Index outcome, bool exact) const;
  // Adds the query; returns its id (1-based).
  Index commit(Query query);
  // Plays a point of a design that was chosen in advance.
  Index explore(const Point& point, const Context& context);
  // A query at a given point, after the steps that are due. Not committed yet.
  Query query_at(const Point& point, const Context& context, Action action);
  void observe(Index id, double reward, const VectorXd& g = VectorXd(), const Report& reported = Report());
  // Adds a point that the bandit did not choose; its reward may be unknown (NaN).
  Index give(const Point& point, const Context& context, double reward,
             const VectorXd& g = VectorXd(), const Report& reported = Report());
  void amend(Index id, double reward, const Report& reported);
  void withdraw(Index id, Status status, Index outcome = kAllOutcomes);
  void restart();
  void refit(ModelState model_state);
  // Changes to a space with further arms after the present ones.
  void add_arms(ModelState model_state);
  // The time of the next events: queries, rewards, given points.
  void set_clock(double now) { state_.set_clock(now); }

  // ---- events of a log: each is applied alone, without steps that are due
  void replay(const Event& event, Query query);
  void replay_refit(ModelState model_state) { refit(std::move(model_state)); }
  void replay_arms(ModelState model_state) { add_arms(std::move(model_state)); }

  // ---- queries of the state and the posteriors
  // The point with the largest posterior mean. If the noise is fitted: an evaluated point, unless another one is surely
  // better. With several outcomes: among points at which the constraints hold with probability `feasible`. Changes
  // nothing and uses no random numbers.
  Point recommend(const Context& context, double feasible = kNaN);
  // The point with the largest mean + width * sd (width < 0: a lower bound), and that value. The posterior is of the
  // observed rewards only.
  std::pair<Point, double> largest_bound(double width, const Context& context);
  // The point with the largest sum of bounds of several bandits, with posteriors of the observed rewards only. This
  // bandit has the first model; the others must have the same space.
  Point largest_sum(const std::vector<const Bandit*>& others, std::vector<BoundTerm> terms, double target,
                    const Context& context);
  // Draws of f from the posterior of the observed rewards, a row each: the maximum and the value at `point`.
  MatrixXd drawn_maxima(const Point& point, Index draws, const Context& context, Rng& rng);
  // The same at the recommended point, prepared for repeated draws; null if points are too many or not finite in
  // number.
  std::unique_ptr<JointMaxima> joint_maxima(const Context& context);
  // The point with the largest mean + width * sd of f - f(from), and that value. As above, by observed rewards only.
  std::pair<Point, double> largest_advantage(const Point& from, double width, const Context& context);
  // The running intervals at a context's candidates, including the observations since the last choice. Only for
  // policies that keep running intervals.
  RunningIntervals intervals(const Context& context);
  Index refutations() const { return intervals_.refutations(); }
  // The policy's labels of a context's candidates; only for policies with safe sets.
  PointLabels labels(const Context& context);
  // See Policy::phases.
  int phases() const { return model_state_.policy->phases(); }
  const BanditState& state() const { return state_; }
  const Space& space() const { return *model_state_.outcomes[0].space; }
  Space& space() { return *model_state_.outcomes[0].space; }
  // Events from number first_event() (0-based) on. Earlier ones are in the log and are not stored again.
  const std::vector<Event>& events() const { return events_; }
  Index first_event() const { return first_event_; }
  void hand_over_events();
  const std::vector<OutcomeModel>& outcome_models() const { return outcome_models_; }
  const Posterior& mean() const { return first().mean(); }
  // The model of the first outcome by observed rewards only, as a term of largest_sum().
  OutcomeView known_view() const;
  // Prior standard deviations of an outcome at some candidates.
  VectorXd prior_sd(Index outcome, const Candidates& all) const;
  // The posterior whose sd the policy's width multiplies; see Policy::norm_bound.
  const Posterior& curved() const { return first().curved(); }
  // Are rewards anything other than measurements with Gaussian noise?
  bool has_likelihood() const { return model_state_.outcomes[0].likelihood != nullptr; }
  // Is this number by itself a value of the outcome? (False if only the caller can decide.)
  bool is_reward(double value, Index outcome) const {
    const OutcomeModelState& one = model_state(outcome);
    if (!one.likelihood) return std::abs(value) <= kLargest;
    return !one.compares && one.likelihood->is_reward(value);
  }
  // The observations, with the fit of the sites if there is a likelihood.
  const Observations& known() const { return first().known(); }
  const Posterior& variance() const { return first().variance(); }
  const OutcomeModelState& first_model_state() const { return model_state(0); }
  const OutcomeModelState& model_state(Index outcome) const {
    return model_state_.outcomes[static_cast<std::size_t>(outcome)];
  }
  // At points given by the kernel's inputs.
  PointsMoments outcomes_at(const Points& X) const;
  // 1/2 log det(I + K/lambda) of the pending queries given the observed rewards, in nats.
  double pending_information() const;
  // The width of the next query, in the posterior of the observed rewards. NaN for policies without a single
  // multiplier.
  double width() const;
  double width(Width& other) const;

 private:
  // Applies one event, live or from a log: updates the state and the models, and records the event. `query`: a new one.
  // True if the change rule raises the alarm.
  bool apply(Event event, Query* query = nullptr);
  void follow(const Delta& change);
  // The points of a query's ranking; null if rewards are no rankings.
  std::shared_ptr<const RankedPoints> ranked_with(Index id) const;
  VectorXd inputs(const Point& point) const override { return space().inputs(point); }
  double prior_mean(const Point& point) const override { return space().prior_mean(point); }
  double noise_var() const override { return model_state_.outcomes[0].noise_var; }
  double prior_scale() const override { return space().prior_scale(); }
  const Likelihood* likelihood() const override { return model_state_.outcomes[0].likelihood.get(); }

  const OutcomeModel& first() const { return outcome_models_[0]; }
  OutcomeModel& outcome_model(Index outcome) { return outcome_models_[static_cast<std::size_t>(outcome)]; }
  bool has_several() const { return outcome_models_.size() > 1; }
  Round round(const Context& context) const;
  // The round of the next query with its width, after the steps that are due.
  Round next_round(const Context& context, Rng& rng);
  Round round_of_known(const Context& context) const;
  void offer_lookups(Round& round, const Context& context) const;
  double value(const Score& score, const Point& point, const Context& context) const;
  WidthState width_state(Index outcome = 0) const;
  double recent_sd(Index outcome, bool pending_only) const;
  OwnNoise own_noise(Index outcome) const;
  std::vector<OutcomeView> outcome_views() const;
  void set_outcome_widths(Round& round) const;
  PointsMoments played_moments(const Context& context) const;
  PlayedPoints evaluated(const Context& context) const;
  double guarded(double width) const;
  void check_eligible(const std::vector<char>& arms) const;
  Beginnings beginnings() const { return {[this] { return first().known().best(); }, Points()}; }
  // Queries with rewards whose points could be recommended in a context.
  std::vector<Index> rewarded(const Context& context) const;
  Points inputs_of(const std::vector<const Point*>& points) const;
  // The inputs of queries; if inputs are fixed, of the points with these inputs replaced.
  Points inputs_of(const std::vector<Index>& ids, const Context& context) const;
  bool is_exact(Index id) const;
  bool has_shared_noise(Index id, Index outcome = 0) const;
  double value_of(Index id, Index outcome = 0) const;
  const Point* surely_as_good(const Point& found) const;
  // What rewards at points that were measured several times have shown. (The mean of different measurements counts as
  // different ones.)
  enum class Repeats { none, equal, different };
  Repeats repeats(Index outcome) const;
  Point settled_among(const Point& found, const Context& context) const;
  double incumbent(const Context& context) const;
  double incumbent_of_slice(const Context& context) const;
  double largest(const Score& score, const Context& context) const;
  // Throws if a noise variance is too small for floating-point precision.
  void check_noise_of(Index outcome, double noise_var) const;
  Point explored_point(const Context& context, Rng& rng) const;
  void check_own_noise(double reward, const Report& reported) const;
  void make_posteriors();
  void exchange(ModelState& model_state, EventKind kind);
  void relocate();
  // Removes all data from the models; the next ids are `first` and above.
  void begin_anew(Index first);
  void rebuild();
  void advance();
  void narrow_intervals(RunningIntervals& intervals, const Round& round) const;
  std::unique_ptr<Score> penalised(std::unique_ptr<Score> score, const Round& round) const;
  Point chosen(const Score& score, const Round& round, const Context& context);
  // Points that are not chosen again, unless there are no others: known ones, and those within `apart` of pending ones.
  KnownPoints not_again(const Context& context, double apart, const Points& candidates) const;
  VectorXd sides_of(const Points& candidates) const;
  Points candidate_inputs(const Context& context) const;
  // The query whose point is to be played again next; 0 if there is none.
  Index to_repeat(const Context& context) const;
  // For policies that play pairs: the pending first query of an incomplete pair, and the last point that completed a
  // pair. 0 and null if there is none.
  Index opened() const;
  const Point* last_answer(const Context& context) const;
  void settle_what_is_due();
  void note(Index id);
  void note_anew();
  void note_played(Index id);
  // Can the query's point be chosen? (Points that were given may be outside of the space.)
  bool is_inside(const Query& query) const { return query.action != Action::given || space().holds(query.point); }
  void forget_played();
  // Sets a query's mean and sd, for the history.
  void look(Query& query) const;

  ModelState model_state_;
  BanditState state_;
  std::vector<OutcomeModel> outcome_models_;  // by outcome
  std::vector<Event> events_;
  Index first_event_ = 0;
  RunningIntervals intervals_;  // for policies that keep running intervals
  // Queries in play at distinct points (without a table of points: at all points).
  std::vector<Index> played_;
  Index last_noted_ = 0;  // the latest id that was passed to note()
  std::vector<char> is_played_;  // by row of the table
  double left_ = 0.0, unplayed_from_ = 0.0;  // points_left() when counted last, and the number of queries at them
  mutable bool shown_noise_ = false;  // the last answer of has_shown_noise(), while rewards are only added
  Repetition repetition_;
};

}  // namespace gpb

#endif
