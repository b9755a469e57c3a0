// A search space: a box whose inputs may also be integers or codes of unordered levels.
//
// Candidates, the conditions under which inputs exist, and known constraints are passed in. The score is evaluated at
// the candidates. Searches start from the best candidates, and from the best one of each combination of levels if there
// are few. They alternate between a gradient method over the numbers and exchanges of single levels, as long as the
// score improves. All searches run in lockstep, so that user functions are called for many points at once (see
// mixed_space.cpp).
#ifndef GPB_MIXED_SPACE_H
#define GPB_MIXED_SPACE_H

#include "base/settings.h"
#include "spaces/box_space.h"
#include "spaces/polytope.h"
#include "spaces/shares.h"

namespace gpb {

// Points as the kernel's inputs. They are rounded to playable values, and inputs that do not exist are at their
// defaults. A column of 0 and 1 is added for each conditional input. `excess`: a column per known constraint, which
// holds if it is <= 0.
struct Settled {
  Points inputs;
  MatrixXd excess;
  bool playable(Index i) const {
    for (Index c = 0; c < excess.cols(); ++c) {
      if (excess(i, c) > 0.0) return false;
    }
    return true;
  }
};

struct MixedSetting {
  Box box;                       // all inputs, levels by their codes
  std::vector<char> categorical;
  std::vector<Index> indicator;  // the column that shows whether this input exists, -1: it always does
  std::vector<Shares> shares;    // mixtures: inputs that add up to a total
  Index width = 0;               // number of the kernel's inputs
  Index contexts = 0;
  Points candidates;             // settled, and they satisfy all constraints
  bool listed = false;           // are the candidates all points?
  Settings::Settle settle;       // none if there are no conditions or constraints
  std::vector<LinearRules> linear;  // the linear constraints: for each set of inputs that exist together
};

class MixedSpace final : public Space {
 public:
  MixedSpace(KernelPtr kernel, MixedSetting setting, PriorMean prior_mean,
             const OpenEngine& engine, BoxMinimizer minimize);
  std::unique_ptr<Posterior> make_posterior(double noise_var,
                                            const Forgetting& forgetting) const override;
  const Candidates& candidates(const Context& context) override;
  Point maximise(const Score& score, const Context& context, const Beginnings& from) override;
  Point uniform(const Context& context, Rng& rng) const override;
  std::vector<Point> all_points(const Context& context, double most) const override;
  Point point(Index arm, Index context, const VectorXd& inputs) const override;
  bool in_context(const Point& point, const Context& context) const override;
  bool holds(const Point& point) const override;
  Points moved(const std::vector<const Point*>& points, const Context& context) const override;
  VectorXd inputs(const Point& point) const override { return point.x; }
  double prior_mean(const Point& point) const override { return prior_mean_.at(point.x); }
  double largest_prior_mean(const Context&) const override { return prior_mean_.largest(); }
  double prior_scale() const override { return prior_scale_; }
  double arms() const override { return kNaN; }
  Index numbered_arms() const override { return 0; }

 private:
  // A settled point and its score.
  struct SearchPoint {
    VectorXd inputs;
    double value = -kInf;
  };
  // The maximisation problem of one query.
  struct Query {
    const Score& score;
    const Context& context;
  };
  // The current search region: the whole space, or a part in which some inputs are fixed.
  struct Slice {
    Box box;
    std::vector<Shares> shares;
    std::vector<Index> required;  // indicators of fixed inputs, which must exist
  };
  Slice slice_of(const Context& context) const;
  Settled settled(const MatrixXd& points, const Slice& slice) const;
  Settled settled(const MatrixXd& points) const { return settled(points, slice_); }
  void use_candidates(const Points& candidates);
  MatrixXd drawn(const Slice& slice, Index count, Rng& rng) const;
  static MatrixXd moved_into(const std::vector<Polytope>& regions, const MatrixXd& points, Rng& rng);
  Points in_context(const Points& inputs, const Context& context) const;
  VectorXd point_of(const SearchPoint& search_point) const { return segment_of(search_point.inputs, 0,
                                                                               slice_.box.inputs()); }
  bool exists(const SearchPoint& search_point, Index input) const;
  std::vector<Index> free_inputs(const SearchPoint& search_point) const;
  const Shares* shares_with(Index input, Index* part) const;
  static VectorXd picked(const VectorXd& values, const std::vector<Index>& at);

  std::vector<Index> starts(const VectorXd& scores) const;
  std::vector<SearchPoint> search_points_of(const Points& X, const Query& query) const;
  bool far_apart(Index a, Index b) const;
  // Replaces each search point by the best of itself and its playable `points` (a row each).
  void offer(std::vector<SearchPoint>& search_points, const std::vector<MatrixXd>& points,
             const Query& query) const;
  MatrixXd stacked(const std::vector<MatrixXd>& points) const;
  void improve(std::vector<SearchPoint>& search_points, const Query& query) const;
  void local_search(std::vector<SearchPoint>& search_points, const Query& query) const;
  void exchange(std::vector<SearchPoint>& search_points, const Query& query) const;
  MatrixXd exchanges(const SearchPoint& search_point) const;
  void list_lattice_moves();
  MatrixXd lattice_exchanges(const VectorXd& here) const;
  void search_neighbours(SearchPoint& search_point, const Query& query, Index turns) const;

  struct SearchPath;
  SearchPath path_from(SearchPoint& search_point) const;
  void go(SearchPath& path, const Query& query) const;
  VectorXd nearest_on(const SearchPath& path, const VectorXd& u) const;
  void respect_constraints(std::vector<SearchPath>& paths, const Query& query) const;
  std::vector<SearchPath*> linearised(const std::vector<SearchPath*>& paths) const;
  double difference_step(const SearchPath& path, Index i) const;
  MatrixXd differences(const SearchPath& path) const;
  void pull_back(const std::vector<SearchPath*>& paths) const;

  KernelPtr kernel_;
  MixedSetting setting_;
  PriorMean prior_mean_;
  OpenEngine engine_;
  BoxMinimizer minimize_;
  double prior_scale_ = 1.0;
  Slice slice_;  // of the latest candidates:
  FixedInputs fixed_;
  bool constrained_ = false;
  mutable std::map<std::vector<double>, bool> kept_rules_;  // see holds()
  Points points_;             // the candidates without their context
  MatrixXd lattice_moves_;    // of linear constraints, over all inputs, see lattice_moves()
  std::vector<Index> group_;  // of each candidate: those with the same levels and inputs
  Index groups_ = 0;
  Candidates candidates_;
  VectorXd context_;  // theirs
};

}  // namespace gpb

#endif
