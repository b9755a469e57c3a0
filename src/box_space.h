// A box, with integer and logarithmic inputs: the acquisition is scored at many
// candidates (a fixed low-discrepancy set, whose posterior is kept up to date at O(n t)
// a round, and neighbours of the best ones) and maximised from the best few by
// a gradient method that comes from outside.
#ifndef GPB_BOX_SPACE_H
#define GPB_BOX_SPACE_H

#include "open_space.h"

namespace gpb {

// The actions' box as the kernel sees it: logarithmic inputs are given by their logarithms.
struct Box {
  VectorXd lower, upper;
  std::vector<char> integer;      // whole numbers only (before the logarithm)
  std::vector<char> logarithmic;
  Index inputs() const { return lower.size(); }
  // The nearest point of the box that is allowed.
  VectorXd snap(VectorXd x) const;
  bool any_integer() const;
};

// Minimises f over [0, 1]^d from x (replaced by the minimiser); returns the minimum.
using Objective = std::function<double(const VectorXd& x, VectorXd& gradient)>;
using BoxMinimizer = std::function<double(VectorXd& x, const Objective& f)>;

class BoxSpace : public OpenSpace {
 public:
  BoxSpace(KernelPtr kernel, Box box, Index contexts, double prior_mean, BoxMinimizer minimize);
  Place choose(const Acquisition& a, const Models& models, const Context& context,
               Rng& rng) override;
  Place uniform(const Context& context, Rng& rng) const override;
  double incumbent(const Model& mean, const std::vector<Place>& played,
                   const Context& context) override;
  double arms() const override { return kNaN; }
  std::string engine() const override { return "box"; }
  double prior_mean(const Place&) const override { return prior_mean_; }

 private:
  // Value and gradient (by input) of what is to be maximised, at one full input.
  using Score = std::function<double(const VectorXd& x, VectorXd* gradient)>;
  using ScoreAll = std::function<VectorXd(const Points& X)>;
  Score score_of(const Acquisition& a, const Models& models) const;
  Score path_score(const Acquisition& a, const Models& models, Rng& rng) const;
  ScoreAll score_all_of(const Acquisition& a, const Models& models, const Score& score) const;
  VectorXd score_candidates(const Acquisition& a, const Models& models, const Context& context);
  VectorXd policy_scores(const Acquisition& a, const VectorXd& mean,
                         const VectorXd& variance) const;
  std::vector<VectorXd> starts(const VectorXd& scores, const ScoreAll& score_all,
                               const Models& models, const Context& context) const;
  VectorXd best_played(const DenseModel& mean) const;
  VectorXd best_neighbour(const VectorXd& centre, const ScoreAll& score_all,
                          const Context& context) const;
  VectorXd climb(const VectorXd& start, const Score& score, const Context& context) const;
  VectorXd with_context(const VectorXd& actions, const Context& context) const;
  Points rows_with_context(const MatrixXd& actions, const Context& context) const;

  Box box_;
  Index contexts_;
  double prior_mean_;
  BoxMinimizer minimize_;
  MatrixXd candidates_;  // actions only, snapped
  // The candidates' posteriors while the context stays the same.
  VectorXd cached_context_;
  std::unique_ptr<PredictionCache> mean_cache_, variance_cache_;
};

// Row i of the first n points of the additive recurrence of the generalised golden
// ratio in [0, 1)^d: a low-discrepancy sequence that needs no random numbers.
MatrixXd golden_points(Index n, Index d);

}  // namespace gpb

#endif
