// Functions of safe.h: safe sets, and the policies that select queries within them. Uses base/, events/, posteriors/
// and widths/.
#include "scores/safe.h"

#include "scores/candidate_score.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpb {

namespace {

using Flags = std::vector<char>;

double distance(const Points& X, Index i, Index j, Index actions) {
  double sum = 0.0;
  for (Index c = 0; c < actions; ++c) sum += (X(i, c) - X(j, c)) * (X(i, c) - X(j, c));
  return std::sqrt(sum);
}

// A limit's function at the candidates: its bounds, and the moments from which they are computed.
struct Limited {
  const SafetyLimit* limit;
  VectorXd lower, upper, mean;
  const VectorXd* sd;
  double width, noise_var;
  const MatrixXd* covariance;  // of the candidates, if needed
};

Limited limited(const SafetyLimit& limit, const OutcomeView& outcome, const CandidateMoments& known,
                const SafeSets& sets) {
  const std::size_t k = limit.outcome;
  const bool least = limit.sign > 0.0;
  return {&limit, least ? sets.lower[k] : -1.0 * sets.upper[k], least ? sets.upper[k] : -1.0 * sets.lower[k],
          limit.sign * known.mean, &known.sd, outcome.width, outcome.noise_var, nullptr};
}

bool bounds_hold(const std::vector<Limited>& all, Index i) {
  return std::all_of(all.begin(), all.end(),
                     [i](const Limited& one) { return one.lower[i] >= one.limit->threshold; });
}

// Is candidate j reachable from a safe one, for this limit?
bool is_reached(const Limited& one, const Flags& safe, const Points& X, Index j, Index actions) {
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const auto from = static_cast<Index>(i);
    if (safe[i] && one.lower[from] - one.limit->lipschitz * distance(X, from, j, actions) >= one.limit->threshold) {
      return true;
    }
  }
  return false;
}

// Adds points that are reachable from safe points, until no more is found.
void grow(const std::vector<Limited>& all, const Points& X, Index actions, Flags& safe) {
  for (bool grown = true; grown;) {
    grown = false;
    const Flags before = safe;
    for (std::size_t j = 0; j < safe.size(); ++j) {
      if (before[j]) continue;
      const auto at = static_cast<Index>(j);
      if (std::all_of(all.begin(), all.end(),
                      [&](const Limited& one) { return is_reached(one, before, X, at, actions); })) {
        safe[j] = 1;
        grown = true;
      }
    }
  }
}

// The lower bound at j after an observation at i equal to its upper bound.
double lower_after_upper(const Limited& one, Index i, Index j) {
  const double sd = (*one.sd)[i], spread = sd * sd + one.noise_var, covariance = (*one.covariance)(i, j);
  const double mean = one.mean[j] + covariance * (one.width * sd / spread);
  const double variance = (*one.sd)[j] * (*one.sd)[j] - covariance * covariance / spread;
  return mean - one.width * std::sqrt(std::max(variance, 0.0));
}

// Would j be safe for all limits after observations at i equal to their upper bounds?
bool would_be_safe(const std::vector<Limited>& all, const Points& X, Index actions, Index i, Index j) {
  return std::all_of(all.begin(), all.end(), [&](const Limited& one) {
    const double lipschitz = one.limit->lipschitz;
    const double lower = std::isnan(lipschitz) ? lower_after_upper(one, i, j)
                                               : one.upper[i] - lipschitz * distance(X, i, j, actions);
    return lower >= one.limit->threshold;
  });
}

Flags expanders(std::vector<Limited> all, const std::vector<OutcomeView>& outcomes, const Candidates& candidates,
                const Points& X, Index actions, const Flags& safe) {
  Flags out(safe.size(), 0);
  if (std::all_of(safe.begin(), safe.end(), [](char one) { return one != 0; })) return out;
  std::vector<Index> every(safe.size());
  std::iota(every.begin(), every.end(), Index(0));
  std::vector<MatrixXd> covariances(outcomes.size());  // one for both limits of an outcome
  for (Limited& one : all) {
    if (!std::isnan(one.limit->lipschitz)) continue;
    MatrixXd& covariance = covariances[one.limit->outcome];
    if (covariance.size() == 0) covariance = outcomes[one.limit->outcome].mean->covariance(candidates, every);
    one.covariance = &covariance;
  }
  for (std::size_t i = 0; i < safe.size(); ++i) {
    for (std::size_t j = 0; safe[i] && !out[i] && j < safe.size(); ++j) {
      if (!safe[j]) out[i] = would_be_safe(all, X, actions, static_cast<Index>(i), static_cast<Index>(j));
    }
  }
  return out;
}

}  // namespace

SafeSets safe_sets(const std::vector<OutcomeView>& outcomes, const Candidates& candidates, const SafetyRule& rule,
                   const Flags& seed, bool by_bounds, bool expand, const std::function<Points()>& inputs) {
  SafeSets out;
  std::vector<CandidateMoments> known;
  for (const OutcomeView& outcome : outcomes) {
    known.emplace_back(MeanAndVariance{*outcome.mean, *outcome.mean}, candidates);
    out.lower.push_back(known.back().mean - outcome.width * known.back().sd);
    out.upper.push_back(known.back().mean + outcome.width * known.back().sd);
  }
  std::vector<Limited> all;
  for (const SafetyLimit& limit : rule.limits) {
    all.push_back(limited(limit, outcomes.at(limit.outcome), known[limit.outcome], out));
  }
  const bool steps = !all.empty() && !std::isnan(all[0].limit->lipschitz);
  const Points X = steps ? inputs() : Points();
  out.safe = seed;
  if (by_bounds && steps) grow(all, X, rule.actions, out.safe);
  for (std::size_t i = 0; by_bounds && !steps && i < seed.size(); ++i) {
    if (bounds_hold(all, static_cast<Index>(i))) out.safe[i] = 1;
  }
  const VectorXd& lower = out.lower[rule.objective];
  const VectorXd& upper = out.upper[rule.objective];
  double best = -kInf;
  for (std::size_t i = 0; i < seed.size(); ++i) {
    if (out.safe[i]) best = std::max(best, lower[static_cast<Index>(i)]);
  }
  out.maximiser.assign(seed.size(), 0);
  for (std::size_t i = 0; i < seed.size(); ++i) {
    out.maximiser[i] = out.safe[i] && upper[static_cast<Index>(i)] >= best;
  }
  out.expander.assign(seed.size(), 0);
  if (expand) out.expander = expanders(std::move(all), outcomes, candidates, X, rule.actions, out.safe);
  return out;
}

namespace {

template <class Holds>
void keep(Flags& among, Holds holds) {
  for (std::size_t i = 0; i < among.size(); ++i) among[i] = among[i] && holds(i);
}

bool any_of(const Flags& flags) {
  return std::any_of(flags.begin(), flags.end(), [](char one) { return one != 0; });
}

// The score with -Inf at the other candidates.
VectorXd only(const Flags& among, VectorXd score) {
  for (std::size_t i = 0; i < among.size(); ++i) {
    if (!among[i]) score[static_cast<Index>(i)] = -kInf;
  }
  return score;
}

VectorXd widest(const SafetyRule& rule, const std::vector<VectorXd>& spans) {
  VectorXd out = spans[rule.limits[0].outcome];
  for (const SafetyLimit& limit : rule.limits) out = out.cwiseMax(spans[limit.outcome]);
  return out;
}

// In units of the prior sd; this includes f.
VectorXd widest_relative(const SafetyRule& rule, const SafeRound& round) {
  std::vector<char> counts(round.spans.size(), 0);
  counts[rule.objective] = 1;
  for (const SafetyLimit& limit : rule.limits) counts[limit.outcome] = 1;
  VectorXd out = VectorXd::Constant(round.spans[0].size(), -kInf);
  for (std::size_t k = 0; k < round.spans.size(); ++k) {
    if (!counts[k]) continue;
    const VectorXd prior = round.prior_sd(static_cast<Index>(k));
    for (Index i = 0; i < out.size(); ++i) {
      out[i] = std::max(out[i], prior[i] > 0.0 ? round.spans[k][i] / prior[i] : 0.0);
    }
  }
  return out;
}

// Is an expander's interval wide enough to continue the first stage?
bool expands(const VectorXd& widths, const Flags& expander, double accuracy) {
  for (std::size_t i = 0; i < expander.size(); ++i) {
    if (expander[i] && widths[static_cast<Index>(i)] > accuracy) return true;
  }
  return false;
}

}  // namespace

SafeChoice safe_choice(const SafetyRule& rule, const SafeStages& stages, const SafeSets& sets, const Flags& may,
                       const SafeRound& round) {
  SafeChoice out{VectorXd(), round.prior_scale, false};
  Flags among = may;
  if (!stages.given) {
    out.score = widest_relative(rule, round);
    out.unit = 1.0;
    keep(among, [&](std::size_t i) { return sets.maximiser[i] || sets.expander[i]; });
  } else {
    const double accuracy = std::isnan(stages.accuracy) ? round.prior_scale / 2.0 : stages.accuracy;
    out.score = widest(rule, round.spans);
    out.second = round.second || !expands(out.score, sets.expander, accuracy);
    if (out.second) out.score = sets.upper[rule.objective];
    else keep(among, [&](std::size_t i) { return sets.expander[i] != 0; });
  }
  // If only some arms may be played, none of them may be in the preferred set.
  out.score = only(any_of(among) ? among : may, std::move(out.score));
  return out;
}

namespace {

// The reason for playing a point, as numbered in the log (1 is "given"). Numbers of StageOpt's second stage are larger
// by kSecondStage.
enum Phase { kMaximiser = 2, kExpander = 3, kBoth = 4, kSafe = 5, kSecondStage = 5, kLastPhase = kSafe + kSecondStage };

class SafeScore final : public CandidateScore {
 public:
  // `phases`: those of the candidates. The candidates must outlive the score.
  SafeScore(double unit, VectorXd values, const Candidates& candidates, std::vector<int> phases)
      : CandidateScore(unit, std::move(values)), candidates_(candidates), phases_(std::move(phases)) {}
  int phase(const Point& point) const override {
    const Index found = candidates_.find(point);
    if (found < 0) throw_logic(kNoOther);
    return phases_[static_cast<std::size_t>(found)];
  }

 private:
  const Candidates& candidates_;
  std::vector<int> phases_;
};

class SafePolicy final : public Policy {
 public:
  SafePolicy(WidthPtr width, SafetyRule rule, std::vector<Index> seed, SafeStages stages)
      : width_(std::move(width)), rule_(std::move(rule)), seed_(std::move(seed)), stages_(stages) {}
  double width(const Round& round) override { return finite_width(*width_, round); }
  int phases() const override { return kLastPhase; }

  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    const std::vector<OutcomeView> outcomes = views(round);
    const SafeSets sets = safe_sets(round, outcomes, true);
    Flags may = sets.safe;
    rule_out(round, may);
    SafeRound now{spans_of(outcomes, sets, *round.candidates), round.prior_sd, round.prior_scale,
                  round.largest_phase > kLastPhase - kSecondStage};
    SafeChoice choice = safe_choice(rule_, stages_, sets, may, now);
    return std::make_unique<SafeScore>(choice.unit, std::move(choice.score), *round.candidates,
                                       phases_of(sets, choice.second));
  }

  std::unique_ptr<Score> recommendation(const Round& round) override {
    const SafeSets sets = safe_sets(round, looked_at(round), false);
    return std::make_unique<CandidateScore>(round, only(sets.safe, sets.lower[rule_.objective]));
  }

  PointLabels labels(const Round& round) override {
    SafeSets sets = safe_sets(round, looked_at(round), true);
    return {std::move(sets.safe), std::move(sets.maximiser), std::move(sets.expander),
            std::move(sets.lower[rule_.objective]), std::move(sets.upper[rule_.objective])};
  }

 private:
  // All outcomes with the round's widths.
  static std::vector<OutcomeView> views(const Round& round) {
    if (!round.outcomes.empty()) return round.outcomes;
    return {{round.mean, round.variance, Role(), round.prior_scale, round.noise_var, round.width}};
  }
  // The same if no query is being chosen.
  static std::vector<OutcomeView> looked_at(const Round& round) {
    std::vector<OutcomeView> out = views(round);
    for (std::size_t k = 0; k < out.size(); ++k) out[k].width = round.width_of(static_cast<Index>(k));
    return out;
  }
  SafeSets safe_sets(const Round& round, const std::vector<OutcomeView>& outcomes, bool expand) const {
    Flags seed(static_cast<std::size_t>(round.candidates->size()), 0);
    for (const Index i : seed_) seed.at(static_cast<std::size_t>(i)) = 1;
    return gpb::safe_sets(outcomes, *round.candidates, rule_, seed, true, expand, round.inputs);
  }
  static void rule_out(const Round& round, Flags& may) {
    if (round.eligible) keep(may, [&](std::size_t i) { return (*round.eligible)[i] != 0; });
    if (any_of(may)) return;
    throw_invalid("no eligible point is known to be safe");
  }
  // Widths of the intervals. If the variance includes pending queries, its sd is used.
  static std::vector<VectorXd> spans_of(const std::vector<OutcomeView>& outcomes, const SafeSets& sets,
                                        const Candidates& candidates) {
    std::vector<VectorXd> out;
    for (std::size_t k = 0; k < outcomes.size(); ++k) {
      out.push_back(sets.upper[k] - sets.lower[k]);
      if (outcomes[k].variance == outcomes[k].mean) continue;
      out[k] = 2.0 * outcomes[k].width * candidate_sds(*outcomes[k].variance, candidates);
    }
    return out;
  }
  static std::vector<int> phases_of(const SafeSets& sets, bool second) {
    std::vector<int> out(sets.safe.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const int kind = sets.maximiser[i] && sets.expander[i] ? kBoth
                       : sets.maximiser[i]                   ? kMaximiser
                       : sets.expander[i]                    ? kExpander
                                                             : kSafe;
      out[i] = kind + (second ? kSecondStage : 0);
    }
    return out;
  }

  WidthPtr width_;
  SafetyRule rule_;
  std::vector<Index> seed_;
  SafeStages stages_;
};

SafetyRule rule_of(const Settings& policy, const std::vector<Role>& roles) {
  SafetyRule out;
  out.actions = policy.count("actions");
  VectorXd lipschitz;
  if (policy.has("lipschitz")) lipschitz = policy.numbers("lipschitz");
  if (policy.has("threshold")) {
    out.limits.push_back({0, 1.0, policy.number("threshold"), lipschitz.size() ? lipschitz[0] : kNaN});
    return out;
  }
  Index functions = 0;
  for (std::size_t k = 0; k < roles.size(); ++k) {
    if (roles[k].objective) out.objective = k;
    if (!roles[k].limited()) continue;
    const double steepest = lipschitz.size() > functions ? lipschitz[functions] : kNaN;
    ++functions;
    if (roles[k].lower > -kInf) out.limits.push_back({k, 1.0, roles[k].lower, steepest});
    if (roles[k].upper < kInf) out.limits.push_back({k, -1.0, -roles[k].upper, steepest});
  }
  return out;
}

}  // namespace

std::unique_ptr<Policy> make_safe_policy(const Settings& policy, WidthPtr width, const std::vector<Role>& roles) {
  if (!width) throw_invalid("safety needs a width of one multiplier");
  SafetyRule rule = rule_of(policy, roles);
  if (rule.limits.empty()) throw_invalid("a safe policy needs at least one limit");
  std::vector<Index> seed;
  const VectorXd numbers = policy.numbers("seed");
  for (Index k = 0; k < numbers.size(); ++k) seed.push_back(static_cast<Index>(numbers[k]));
  const SafeStages stages{policy.flag("stages"), policy.has("accuracy") ? policy.number("accuracy") : kNaN};
  return std::make_unique<SafePolicy>(std::move(width), std::move(rule), std::move(seed), stages);
}

}  // namespace gpb
