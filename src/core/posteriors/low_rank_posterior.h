// The posterior over arbitrary inputs from a basis of some of the points played: nothing
// that a round costs grows with the observations, but the slowly growing rank r.
//
// With phi(x) the coordinates of LowRankBasis, Phi those of the points played, N the noise
// variances and P = I + Phi' N^-1 Phi = M M':
//   mean(x) = phi(x)'w, w = P^-1 Phi' N^-1 y,
//   variance(x) = k(x, x) - |phi(x)|^2 + |M^-1 phi(x)|^2.
// This is the exact posterior of the kernel's part in the span, beside which the rest stays
// as it was a priori. The dense posterior (DensePosterior) differs from it by what the span
// leaves out of the points played, E = K - Phi Phi'; certificate() bounds the difference,
// and points join the basis so that the bounds stay below `accuracy`. The difference is of second
// order in E where x lies nearly in the span, of first order elsewhere. A posterior that `corrects`
// keeps the second order below the accuracy, with fewer points, and takes the first order away
// where it is too large, O(t r) for such an x: from predict(), predict_at() and covariance().
//
// The prior mean is zero: whoever has another one passes residuals as targets.
#ifndef GPB_LOW_RANK_POSTERIOR_H
#define GPB_LOW_RANK_POSTERIOR_H

#include <deque>
#include <unordered_map>

#include "posteriors/posterior_id.h"
#include "posteriors/low_rank_basis.h"

namespace gpb {

// Bounds of the difference to the dense posterior.
struct LowRankError {
  double mean = 0.0;         // |difference of means| / (dense sd)
  double sd = 0.0;           // the sds differ by no more than a factor 1 + sd
  double information = 0.0;  // the dense log determinant is larger by no more than this
  double largest() const { return mean > sd ? mean : sd; }
};

// Does it correct what its basis says? See above.
enum class LowRankAnswers { from_basis, corrected };

// How far means have moved since some time: between two looks at the same `version`, in which
// observations are only added and values changed, the mean at x has moved by no more than
//   (sd at x at the first look) * (root of the growth of `innovations` + growth of `changes`),
// and where no value has changed by no more than that sd * moves(0)[observations then].
// (Conditioning moves it by c'(C + N)^-1 v, v the innovations of the new observations, C their
// covariance at the first look and c that with x: c'(C + N)^-1 c is what the variance at x has
// lost, v'(C + N)^-1 v the sum of v_i^2 over their variances. A change of values by D moves it by
// |N^-1/2 D| sds at most, and the later innovations, whitened, by as much again.)
struct DriftBound {
  std::shared_ptr<const char> version;
  bool from_prior = true;  // the era began with nothing known
  double innovations = 0.0;
  double changes = 0.0;
  Index observations = 0;
};

// A change of the posterior as a set of fixed points sees it.
struct LowRankStep {
  bool grows;        // the basis has a new last point; else an observation, new or gone
  VectorXd along;    // w(x) = phi(x)'along, phi without the new coordinate; empty: w = 0
  double scale;      // observation: variance -= w^2 / scale; growth: += (c - w)^2 / scale - c^2
};

class LowRankPosterior {
 public:
  // The kernel's parameters must not change afterwards: other ones, another posterior.
  // largest_share: of the rows that may be in the basis before it gives up the accuracy.
  LowRankPosterior(KernelPtr kernel, double noise_var, double accuracy = 1e-3,
                   double largest_share = 1.0,
                   LowRankAnswers answers = LowRankAnswers::from_basis);

  // One observation with noise variance noise_var * noise_scale; O(r^2), and O(t r) when the
  // basis grows. Observations of the same point share a row.
  void add(const VectorXd& x, double y, double noise_scale = 1.0);
  // Many at once; the basis is chosen anew, by pivots, from all points.
  void add(const Points& X, const VectorXd& y, const VectorXd& noise_scale);
  void set_target(Index i, double y);  // O(r), O(t) where the mean's error is measured
  void set_targets(const VectorXd& y);
  // The noise of all observations anew; O(t r^2).
  void set_noise_scales(const VectorXd& noise_scale);
  // Values and noise of all observations anew, by the basis as it is; O(t r^2).
  void set_observations(const VectorXd& y, const VectorXd& noise_scale);
  // The accuracy, then, as far as it can be had.
  void improve() { tighten(); }
  // Takes observation i back. It keeps its number, and changes of its target are no concern.
  void drop(Index i);
  void clear();
  // Points join the basis as they come. In the order of pivots, the first of them say the most (see
  // best_point.h), and fewer may do: whether enough have come for that, and that; O(t r^2).
  bool order_is_old() const;
  void put_in_order();

  // Points may be differences of f and f itself, see kernel_differences.h.
  void take_differences() { compares_ = true; }

  Index size() const { return static_cast<Index>(observations_.size()); }
  Index known() const { return known_; }  // those not taken back
  bool knows(Index i) const { return at(i).known; }
  Index rank() const { return basis_.rank(); }
  Index rows() const { return rows_; }  // distinct points
  double noise_var() const { return noise_var_; }
  double noise_scale(Index i) const { return at(i).noise_scale; }
  double target(Index i) const { return at(i).y; }
  const LowRankBasis& basis() const { return basis_; }
  // Of the observations, a row each, and the variance that they do not have.
  MatrixXd features() const;
  VectorXd left_out() const;
  Points observed_points() const;

  void predict(const Points& X, VectorXd& mean, VectorXd& variance) const;
  void predict_at(const VectorXd& x, double& mean, double& variance) const;
  // What the basis says, uncorrected, and how far that can be from the dense mean and sd.
  void predict_by_basis(const Points& X, VectorXd& mean, VectorXd& variance,
                        std::vector<LowRankError>* errors = nullptr) const;
  VectorXd predict_mean(const Points& X) const;  // by the basis, as are gradients and paths
  // Means at the observations, O(t r): no kernel needed. (0 where one was taken back.)
  VectorXd means_at_observations() const;
  // The first observation with the largest mean + offset (-1: there is none): a part of the coordinates
  // rules most of them out.
  Index best_observation(double offset) const;
  MatrixXd covariance(const Points& X) const;
  MatrixXd draw(const Points& X, Rng& rng, Index count = 1, double scale = 1.0) const;
  double mean_and_gradient(const VectorXd& x, VectorXd& dmean) const;
  void predict_gradient(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                        VectorXd& dsd) const;
  // c such that path(x) + k(Z, x)'c is a draw from the posterior of mean zero, for `path`
  // drawn from the prior: what the path is in the span gives way to a draw of the weights.
  VectorXd path_update(const PriorPath& path, Rng& rng) const;

  double log_det() const { return precision_.log_det(); }
  double quadratic() const;
  double log_likelihood() const;

  // Bounds against the dense posterior, at every point (in exact arithmetic; residuals that cannot
  // be told from 0 count as so much rounding, independent from row to row).
  LowRankError certificate() const;
  // The same for one point: what it has in the span, and what not, is known.
  LowRankError certificate_at(const VectorXd& x) const;
  // The same at every point for what the basis says.
  const LowRankError& certificate_of_basis() const;
  // If |f - mean| <= (B + R sqrt(2 log(1/delta) + log det(I + K/lambda)) / sqrt(lambda)) sd for the
  // dense posterior, f of norm B and R-sub-Gaussian noise, then it holds here for the width times
  // this, log_det() + certificate().information in the place of the dense log determinant.
  // (Of one that corrects, |f - mean| <= (w + accuracy) (1 + accuracy) sd follows from the dense w.)
  double width_factor() const { return 1.0 + coupling(); }
  bool corrects() const { return answers_ == LowRankAnswers::corrected; }
  double accuracy() const { return accuracy_; }
  bool accurate() const { return certificate().largest() <= accuracy_; }
  // Whether the dense posterior costs less to ask.
  bool should_be_dense() const;

  // For caches, which may have missed a few steps: those from number `first` on, as far as
  // they are kept (steps_begin() <= first).
  const std::shared_ptr<const char>& posterior_id() const { return posterior_id_.token; }
  Index steps_begin() const { return steps_end_ - static_cast<Index>(steps_.size()); }
  Index steps_end() const { return steps_end_; }
  const LowRankStep& step(Index number) const {
    return steps_[static_cast<std::size_t>(number - steps_begin())];
  }
  const VectorXd& weights() const;  // w
  DriftBound drift_bound() const {
    return {version_.token, from_prior_, innovations_, changes_, size()};
  }
  // By how many of its sds of then a mean can have moved since there were `since`, since + 1, ..
  // size() observations: the largest that is possible. Only for looks of this era; O(r) for each.
  VectorXd moves(Index since) const;
  const GrowingCholesky& precision() const { return precision_; }

 private:
  // Below this rank the cheap bound of the mean is kept below the accuracy by rank alone: smooth
  // kernels need no more. From there on the mean's error is measured, and what is left out may be
  // this part of the squared accuracy.
  static constexpr Index kCheapRank = 128;
  static constexpr double kMeasuredShare = 0.5;
  // Of the accuracy itself where answers are corrected: what is left out counts once, not its root.
  static constexpr double kCorrectedShare = 0.2;

  struct Observation {
    Index row;
    double y, noise_scale;
    bool known;
    double innovation = 0.0;  // squared, over its variance
  };

  const Observation& at(Index i) const { return observations_[static_cast<std::size_t>(i)]; }
  Observation& at(Index i) { return observations_[static_cast<std::size_t>(i)]; }
  void check_point(Index inputs) const;
  Index find_row(const VectorXd& x) const;
  Index row_of(const VectorXd& x);
  void make_room(const VectorXd& x);
  void observe(Index row, double y, double noise_scale);
  void change_target(Index i, double y);
  void change_values(Index row, double weighted, double weight);
  double weigh(Index row, double weight);
  bool can_drop(double variance, double noise);
  void clear_basis();
  VectorXd extend_features(Index row);
  void extend(Index row);
  bool may_join(Index row) const;
  void count_left_out(Index row, double weight);
  double mean_error() const;
  void measure();
  VectorXd gram_times(const VectorXd& v, Index begin) const;
  Index block_rows() const;
  std::pair<Index, Index> rows_of_block(std::size_t block) const;
  void forget_reference();
  void follow_reference(Index row, double weighted, double weight);
  void extend_reference(const VectorXd& column);
  double moved_since_reference() const;
  bool measured_now() const;
  double measured_then() const;
  bool strayed() const;
  bool measuring_helps() const;
  bool last_measure_pays() const;
  void measure_residuals();
  double left_out_limit(double residual_squares) const;
  double allowance() const;
  Index worst_row() const;
  void tighten();
  bool answers_are_cheap() const;
  void leave_out_less();
  bool gives_up() const;
  bool rebuild_may_help() const;
  bool beats_dense(Index since) const;
  void rebuild();
  void choose_basis();
  void recompute_features();
  void shorten();
  void rebuild_statistics();
  void refit();
  void record(LowRankStep step);
  void renew_posterior_id();
  void begin_version();
  const VectorXd& weights_on_points() const;
  // What the basis says of some points: the mean, and the variance's parts within the span and
  // beyond it.
  struct BasisMoments {
    VectorXd mean, inside, outside;
  };
  BasisMoments basis_moments(const Points& X) const;
  LowRankError error_at(double inside, double outside, const LowRankError& anywhere) const;
  LowRankError corrected_error(const LowRankError& of_basis) const;
  void correct(const Points& X, VectorXd& mean, VectorXd& variance) const;
  struct Coupling {
    double mean = 0.0, variance = 0.0;
  };
  Coupling coupled_to(const VectorXd& x, const VectorXd& phi, const VectorXd& solved) const;
  MatrixXd coupled_covariance(const Points& X, const MatrixXd& phi, const MatrixXd& half) const;
  const VectorXd& dual() const;
  VectorXd means_at_rows() const;
  bool outlined() const;
  void outline() const;
  void follow_outline() const;
  std::vector<Index> rows_of_largest_means(double offset) const;
  VectorXd largest_means_at_rows(double offset) const;
  double residual_squares() const;
  double coupling() const;
  VectorXd feature_row(Index row) const { return features_.row(row).head(rank()).transpose(); }

  double noise_var_, accuracy_, largest_share_;
  LowRankAnswers answers_;
  Index inputs_ = -1;
  bool compares_ = false;
  LowRankBasis basis_;
  GrowingCholesky precision_;  // M

  std::vector<Observation> observations_;
  Index known_ = 0;
  double squares_ = 0.0;  // sum of y^2 / noise_scale

  // Per distinct point. Matrices and vectors have room to spare.
  Index rows_ = 0;
  Points points_;
  MatrixXd features_;  // Phi
  VectorXd variance_, residual_, resolution_;  // resolution: what a residual's rounding hides
  VectorXd weight_, weighted_;                 // weight: sum of 1 / noise_scale
  std::vector<Index> count_;  // observations
  std::vector<char> in_basis_;
  Index dead_rows_ = 0;       // rows without observations
  Index rows_at_rebuild_ = 0;
  Index ordered_ = 0, rows_at_order_ = 0;  // rank and rows when the basis was put in order
  double row_squares_ = 0.0;  // sum of weighted^2 / weight
  std::unordered_multimap<std::size_t, Index> row_by_hash_;

  VectorXd target_;       // Phi' N^-1 y
  double left_out_ = 0.0;     // sum of significant residuals over their noise
  double rounding_ = 0.0;     // largest rounding of a residual over its noise
  double rounding_sum_ = 0.0;

  // Where the mean's error was measured last, see low_rank_fit.cpp.
  struct Reference {
    bool kept = false;
    VectorXd weights;  // w0
    VectorXd dual;     // d0, with room to spare
    // Per block of rows:
    std::vector<VectorXd> inside;  // Phi'd0
    std::vector<double> outside;   // d0'E d0
  };
  Reference reference_;
  Index measured_at_ = 0;  // observations at that time

  // Means at the rows by the weights of some time ago, and what has changed since in a few directions, along which
  // the rows are long; see rows_of_largest_means().
  struct Outline {
    std::shared_ptr<const char> posterior_id;  // the rows and their coordinates are those since then
    Index rows = 0, rows_at_start = 0;
    MatrixXd directions;       // U
    MatrixXd along;            // U'phi, a row each, with room to spare
    VectorXd weights, mean;    // w0, phi'w0
    VectorXd across;           // as long as phi - U U'phi can be
  };
  mutable Outline outline_;

  Index updates_ = 0;  // since the last refit
  Index drops_ = 0;
  mutable VectorXd weights_;
  mutable bool weights_valid_ = true;
  mutable VectorXd on_points_;  // the same as weights of k(Z, x)
  mutable bool on_points_valid_ = false;
  mutable VectorXd dual_;       // N^-1 (y - Phi w)
  mutable bool dual_valid_ = false;
  mutable LowRankError of_basis_;  // see certificate_of_basis()
  mutable bool of_basis_valid_ = false;

  PosteriorId version_;
  bool from_prior_ = true;
  double innovations_ = 0.0, changes_ = 0.0;  // see DriftBound

  PosteriorId posterior_id_;
  std::deque<LowRankStep> steps_;
  Index steps_end_ = 0;
};

}  // namespace gpb

#endif
