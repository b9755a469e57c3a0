// A box, with integer and logarithmic inputs: the acquisition is scored at many
// candidates (a fixed low-discrepancy set, whose posterior is kept up to date at O(n t)
// a round, and neighbours of the best ones) and maximised from the best few by
// a gradient method that comes from outside.
#ifndef GPB_BOX_SPACE_H
#define GPB_BOX_SPACE_H

#include "spaces/open_space.h"
#include "kernels/random_features.h"

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
  // What is to be maximised: value and gradient (by input) at one full input, values at the
  // rows of many, and the candidates' values.
  using Score = std::function<double(const VectorXd& x, VectorXd* gradient)>;
  using ScoreAll = std::function<VectorXd(const Points& X)>;
  struct Scores {
    Score one;
    ScoreAll all;
    VectorXd of_candidates;
  };
  // A function drawn from the posterior.
  struct PathDraw {
    const Kernel* kernel;
    const DensePosterior* mean;
    double prior_mean, width;
    PriorPath path;
    Points played;
    VectorXd weights;
    VectorXd values(const Points& X) const;
    double value_and_gradient(const VectorXd& x, VectorXd& gradient) const;
  };
  Scores scores_of(const Acquisition& a, const Models& models, const Context& context, Rng& rng);
  Scores formula_scores(const Acquisition& a, const Models& models, const Context& context);
  Scores path_scores(const Acquisition& a, const Models& models, const Context& context,
                     Rng& rng) const;
  Scores bound_scores(const Models& models, const Context& context) const;
  PathDraw draw_path(const Acquisition& a, const Models& models, Rng& rng) const;
  VectorXd score_candidates(const Acquisition& a, const Models& models, const Context& context);
  VectorXd policy_scores(const Acquisition& a, const VectorXd& mean,
                         const VectorXd& variance) const;
  std::vector<VectorXd> starts(const Scores& given, const Models& models,
                               const Context& context) const;
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
