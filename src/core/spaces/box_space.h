// A box, possibly with integer and logarithmic inputs, or the product of finitely many rows with a box. The score is
// evaluated at many candidates: a fixed low-discrepancy set, and neighbours of the best observation. Local searches
// start from the best few candidates and stay within their row. Their gradient method is passed in.
#ifndef GPB_BOX_SPACE_H
#define GPB_BOX_SPACE_H

#include "base/minimizer.h"
#include "posteriors/open_posterior.h"
#include "spaces/chart.h"
#include "spaces/space.h"

namespace gpb {

constexpr double kSearchTolerance = 2e-9;  // a smaller gain in units of the score ends a local search

class BoxSpace final : public Space {
 public:
  // `rows`: the inputs before those of the box, a row each (for a box alone, one row without inputs). `numbered`: the
  // row's number is the last input. `first`: actions that come first among the candidates, a row each (unless inputs
  // are fixed).
  BoxSpace(KernelPtr kernel, MatrixXd rows, bool numbered, Box box, Index contexts,
           PriorMean prior_mean, const OpenEngine& engine, const Minimizers& minimizers, MatrixXd first = MatrixXd());
  std::unique_ptr<Posterior> make_posterior(double noise_var,
                                            const Forgetting& forgetting) const override;
  const Candidates& candidates(const Context& context) override;
  Point maximise(const Score& score, const Context& context, const Beginnings& from) override;
  Point uniform(const Context& context, Rng& rng) const override;
  std::vector<Point> all_points(const Context& context, double most) const override;
  Point point(Index arm, Index context, const VectorXd& inputs) const override;
  bool in_context(const Point& point, const Context& context) const override;
  bool holds(const Point& point) const override {
    return box_.holds(point.x.segment(rows_.cols(), box_.inputs()));
  }
  Points moved(const std::vector<const Point*>& points, const Context& context) const override;
  VectorXd inputs(const Point& point) const override { return point.x; }
  double prior_mean(const Point& point) const override;
  double largest_prior_mean(const Context& context) const override;
  double prior_scale() const override { return prior_scale_; }
  double arms() const override { return kNaN; }
  Index numbered_arms() const override { return numbered_ ? rows_.rows() : 0; }

 private:
  // A row and a point of the box.
  struct SearchPoint {
    Index row = 0;
    VectorXd actions;
  };
  void spread();
  Chart chart_of(const Context& context) const;
  VectorXd input_of(const SearchPoint& search_point, const Context& context) const;
  Points inputs_of(Index row, const MatrixXd& actions, const Context& context) const;
  std::vector<SearchPoint> starts(const Score& score, const Context& context, const Point* centre) const;
  std::vector<SearchPoint> search_points_of(const Points& X) const;
  void add_best(const std::vector<SearchPoint>& search_points, const Score& score, const Context& context,
                std::vector<SearchPoint>& starts) const;
  Point point_of(const SearchPoint& search_point, const Context& context) const;
  SearchPoint search_point_of(const Point& point) const;
  SearchPoint best_neighbour(const SearchPoint& centre, const Score& score, const Context& context) const;
  Points inputs_of(const std::vector<SearchPoint>& search_points, const Context& context) const;
  SearchPoint best_of(const std::vector<SearchPoint>& search_points, const Score& score, const Context& context,
               double tie = 0.0) const;
  using Height = double (Score::*)(const VectorXd& x, VectorXd* gradient) const;
  SearchPoint local_search(const SearchPoint& start, double from, const Score& score, Height height,
             const Context& context, const BoxMinimizer& minimize) const;

  KernelPtr kernel_;
  MatrixXd rows_;
  bool numbered_;
  Box box_;
  Chart chart_;        // of the latest candidates:
  FixedInputs fixed_;  // the inputs that are fixed for them
  Index contexts_;
  PriorMean prior_mean_;
  OpenEngine engine_;
  BoxMinimizer minimize_, minimize_roughly_;
  MatrixXd first_;
  double prior_scale_ = 1.0;
  MatrixXd actions_;       // of the candidates of one row, rounded to allowed values
  Candidates candidates_;  // a block of them for each row
  VectorXd context_;       // of the latest candidates
};

}  // namespace gpb

#endif
