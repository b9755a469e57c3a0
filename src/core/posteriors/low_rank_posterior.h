// The low-rank posterior over arbitrary inputs, from a basis of some of the played points.
//
// The cost of a round does not grow with the number of observations, but only with the slowly growing rank r.
// Let phi(x) be the coordinates of LowRankBasis, Phi those of the played points, N the noise variances and P = I + Phi'
// N^-1 Phi = M M'. Then:
//   mean(x) = phi(x)'w, w = P^-1 Phi' N^-1 y,
//   variance(x) = k(x, x) - |phi(x)|^2 + |M^-1 phi(x)|^2.
// This is the exact posterior for the part of the kernel in the span. The part outside the span keeps its prior.
// The dense posterior (DensePosterior) differs by E = K - Phi Phi', the part of the played points outside the span.
// `certificate()` bounds the difference, and points join the basis so that the bounds stay below `accuracy`. The
// difference is of second order in E if x lies nearly in the span, and of first order otherwise.
// A posterior that `corrects` needs fewer points: only the second-order part is kept below the accuracy. The
// first-order part is subtracted if it is too large, at a cost of O(t r) for such an x. The functions predict(),
// predict_at() and covariance() do this.
//
// The prior mean is zero. For another prior mean, pass residuals as targets and add the mean to the predictions.
#ifndef GPB_LOW_RANK_POSTERIOR_H
#define GPB_LOW_RANK_POSTERIOR_H

#include <deque>
#include <unordered_map>

#include "posteriors/posterior_id.h"
#include "posteriors/low_rank_basis.h"

namespace gpb {

// Bounds on the difference from the dense posterior.
struct LowRankError {
  double mean = 0.0;         // |difference of means| / (dense sd)
  double sd = 0.0;           // the ratio of the sds is within a factor 1 + sd
  double information = 0.0;  // the dense log determinant is larger by no more than this
  double largest() const { return mean > sd ? mean : sd; }
};

// Are predictions by the basis corrected? See above.
enum class LowRankAnswers { from_basis, corrected };

// Bounds on how far means have moved. Take two evaluations at the same `version`, between which observations were only
// added and values changed. The mean at x has moved by at most
//   (sd at x at the first) * (root of the growth of `innovations` + growth of `changes`).
// If no value has changed, it has moved by at most that sd * moves(0)[observations at the first].
// Reason: conditioning moves the mean by c'(C + N)^-1 v. Here v are the innovations of the new observations, C is their
// covariance at the first evaluation, and c is the covariance with x. The variance at x falls by c'(C + N)^-1 c. The
// sum of v_i^2 over their variances is v'(C + N)^-1 v.
// A change of values by D moves the mean by at most |N^-1/2 D| sds. It changes the later innovations, whitened, by at
// most the same amount.
struct DriftBound {
  std::shared_ptr<const char> version;
  bool from_prior = true;  // the version began without observations
  double innovations = 0.0;
  double changes = 0.0;
  Index observations = 0;
};

// A change of the posterior, as needed by a cache for fixed points.
struct LowRankStep {
  bool grows;        // true: the basis has a new last point; false: an observation was added or dropped
  VectorXd along;    // w(x) = phi(x)'along, phi without the new coordinate; empty: w = 0
  double scale;      // observation: variance -= w^2 / scale; growth: += (c - w)^2 / scale - c^2
};

class LowRankPosterior {
 public:
  // The kernel's parameters must not change afterwards; make a new posterior instead. `largest_share`: the largest
  // proportion of rows in the basis; above it the accuracy is no longer guaranteed.
  LowRankPosterior(KernelPtr kernel, double noise_var, double accuracy = 1e-3,
                   double largest_share = 1.0,
                   LowRankAnswers answers = LowRankAnswers::from_basis);

  // Adds one observation with noise variance noise_var * noise_scale. Costs O(r^2), and O(t r) if the basis grows.
  // Observations of the same point share a row.
  void add(const VectorXd& x, double y, double noise_scale = 1.0);
  // Adds many observations at once; the basis is chosen again, by pivots, from all points.
  void add(const Points& X, const VectorXd& y, const VectorXd& noise_scale);
  void set_target(Index i, double y);  // O(r), or O(t) if the mean's error is measured
  void set_targets(const VectorXd& y);
  // Replaces the noise of all observations; O(t r^2).
  void set_noise_scales(const VectorXd& noise_scale);
  // Replaces values and noise of all observations, with the current basis; O(t r^2).
  void set_observations(const VectorXd& y, const VectorXd& noise_scale);
  // Afterwards extends the basis until the accuracy is met, as far as possible.
  void improve() { tighten(); }
  // Removes observation i. It keeps its number; later changes of its target have no effect.
  void drop(Index i);
  void clear();
  // Points join the basis in order of arrival. In the order of pivots the first points carry the most information (see
  // best_point.h), and fewer may be enough. order_is_old(): have enough points joined for a new ordering?
  // put_in_order(): computes it, O(t r^2).
  bool order_is_old() const;
  void put_in_order();

  // From now on the basis has at most `most` points, whatever the accuracy, and a few more at the largest values. The
  // prior variance that the basis leaves out at a point is added to the noise there, shared by all observations of the
  // point (FITC; Snelson and Ghahramani 2006). Otherwise sds would be too small.
  void make_sparse(Index most);
  bool sparse() const { return most_ > 0; }

  // Points may then be differences of f as well as f itself, see kernel_differences.h.
  void take_differences() { compares_ = true; }

  Index size() const { return static_cast<Index>(observations_.size()); }
  Index known() const { return known_; }  // observations that were not dropped
  bool knows(Index i) const { return at(i).known; }
  Index rank() const { return basis_.rank(); }
  Index rows() const { return rows_; }  // observations that were not dropped
  double noise_var() const { return noise_var_; }
  double noise_scale(Index i) const { return at(i).noise_scale; }
  double target(Index i) const { return at(i).y; }
  const LowRankBasis& basis() const { return basis_; }
  // For the observations: coordinates (a row each), and the variance outside the span.
  MatrixXd features() const;
  VectorXd left_out() const;
  Points observed_points() const;

  void predict(const Points& X, VectorXd& mean, VectorXd& variance) const;
  void predict_at(const VectorXd& x, double& mean, double& variance) const;
  // Uncorrected predictions by the basis, and bounds on their distance from the dense mean and sd.
  void predict_by_basis(const Points& X, VectorXd& mean, VectorXd& variance,
                        std::vector<LowRankError>* errors = nullptr) const;
  VectorXd predict_mean(const Points& X) const;  // by the basis; gradients and paths are, too
  // Means at the observations, O(t r), without kernel evaluations. (0 for a dropped observation.)
  VectorXd means_at_observations() const;
  // The first observation with the largest mean + offset (-1: there is none). A part of the coordinates rules most of
  // them out.
  Index best_observation(double offset) const;
  MatrixXd covariance(const Points& X) const;
  // The covariance by the basis, uncorrected, of f(x) with f at the rows of Z is k(x, Z) - k(x, Z')' times these
  // weights, with Z' the basis().points().
  MatrixXd cross_weights(const Points& Z) const;
  MatrixXd draw(const Points& X, Rng& rng, Index count = 1, double scale = 1.0) const;
  double mean_and_gradient(const VectorXd& x, VectorXd& dmean) const;
  void predict_gradient(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                        VectorXd& dsd) const;
  // c such that path(x) + k(Z, x)'c is a draw from the zero-mean posterior, for `path` drawn from the prior. In the
  // span, the path is replaced by a draw of the weights.
  VectorXd path_update(const PriorPath& path, Rng& rng) const;

  double log_det() const { return precision_.log_det(); }
  double quadratic() const;
  double log_likelihood() const;

  // Bounds against the dense posterior, at every point, in exact arithmetic. Residuals that cannot be distinguished
  // from 0 count as rounding errors, independent from row to row.
  LowRankError certificate() const;
  // The same for one point, where the parts in the span and outside it are computed.
  LowRankError certificate_at(const VectorXd& x) const;
  // The same at every point for uncorrected predictions by the basis.
  const LowRankError& certificate_of_basis() const;
  // Suppose that the dense posterior has the confidence bound
  //   |f - mean| <= (B + R sqrt(2 log(1/delta) + log det(I + K/lambda)) / sqrt(lambda)) sd
  // for f of norm B and R-sub-Gaussian noise. Then the bound holds here with two changes. The width is multiplied by
  // this factor, and the dense log determinant is replaced by log_det() + certificate().information. (If predictions
  // are corrected, |f - mean| <= (w + accuracy) (1 + accuracy) sd follows from the dense width w.)
  double width_factor() const { return 1.0 + coupling(); }
  bool corrects() const { return answers_ == LowRankAnswers::corrected; }
  double accuracy() const { return accuracy_; }
  bool accurate() const { return certificate().largest() <= accuracy_; }
  // Is prediction with the dense posterior cheaper?
  bool should_be_dense() const;

  // For caches, which may have missed a few steps: the steps from number `first` on, if they are kept (steps_begin() <=
  // first).
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
  // The largest number of its earlier sds by which a mean can have moved since there were `since`, since + 1, .. size()
  // observations. Valid only within the current version; O(r) for each.
  VectorXd moves(Index since) const;
  const GrowingCholesky& precision() const { return precision_; }

 private:
  static constexpr Index kFewRows = 64;
  // Below this rank the cheap bound on the mean's error is kept below the accuracy by the rank alone; this is enough
  // for smooth kernels. From this rank on the mean's error is measured, and the residuals may sum to kMeasuredShare of
  // the squared accuracy.
  static constexpr Index kCheapRank = 128;
  static constexpr double kMeasuredShare = 0.5;
  // The limit as a proportion of the accuracy itself if predictions are corrected: the residuals then enter directly,
  // not by their root.
  static constexpr double kCorrectedShare = 0.2;

  struct Observation {
    Index row;
    double y, noise_scale;
    bool known;
    double innovation = 0.0;  // squared, divided by its variance
    double given_scale = 0.0;  // noise_scale without the variance that a sparse basis leaves out
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
  void add_sparse(Index row, double y, double noise_scale);
  void join_largest();
  void weigh_left_out();
  void recompute_features();
  void shorten();
  void rebuild_statistics();
  void refit();
  void record(LowRankStep step);
  void renew_posterior_id();
  void begin_version();
  const VectorXd& weights_on_points() const;
  // Prediction by the basis at some points: the mean, and the parts of the variance within the span and outside it.
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
  void keep_features(const std::vector<Index>& rows) const;
  double residual_squares() const;
  double coupling() const;
  VectorXd feature_row(Index row) const { return features_.row(row).head(rank()).transpose(); }

  double noise_var_, accuracy_, largest_share_;
  LowRankAnswers answers_;
  Index most_ = 0;  // largest size of a sparse basis; 0 if it is not sparse
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
  VectorXd variance_, residual_, resolution_;  // resolution: size of a residual's rounding error
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

  // State at the last measurement of the mean's error, see low_rank_posterior_fit.cpp.
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

  // Means at the rows by earlier weights w0, and the changes since in a few directions in which the rows are long. See
  // rows_of_largest_means().
  struct Outline {
    std::shared_ptr<const char> posterior_id;  // the rows and their coordinates are unchanged under this id
    Index rows = 0, rows_at_start = 0;
    MatrixXd directions;       // U
    MatrixXd along;            // U'phi, a row each, with room to spare
    VectorXd weights, mean;    // w0, phi'w0
    VectorXd across;           // upper bound of |phi - U U'phi|
    // The coordinates phi of some rows, side by side, with room to spare: of recent candidates for the largest mean.
    std::vector<Index> kept{};
    std::vector<char> is_kept{};  // by row
    MatrixXd features{};
    Index columns = 0;            // of `features` that are filled
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
