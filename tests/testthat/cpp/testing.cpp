// What tests call of the core, and a posterior in extended precision. No part of the package: tools/install.sh
// compiles it with a copy of the package for `make test`.
#include "base/eigen_decompositions.h"
#include "base/stream_random.h"
#include "r_values.h"

#include <cmath>
#include <new>
#include <stdexcept>

#include "base/failures.h"
#include "fitting/likelihood.h"
#include "fitting/neighbour_likelihood.h"
#include "posteriors/best_point.h"
#include "posteriors/lazy_arms.h"
#include "posteriors/open_posterior.h"
#include "linalg/floors.h"
#include "r_bandit.h"
#include "r_evidence.h"
#include "r_interrupt.h"
#include "r_kernel.h"
#include "r_regression.h"
#include "r_rng.h"
#include "r_settings.h"
#include "scores/averaged.h"
#include "scores/improvement.h"
#include "scores/outcomes.h"
#include "scores/pareto_front.h"
#include "spaces/polytope.h"

namespace {

using Extended = long double;
using Matrix = Eigen::Matrix<Extended, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<Extended, Eigen::Dynamic, 1>;

// One input, variance 1.
Extended kernel_of(const std::string& name, Extended lengthscale, double x, double y) {
  const Extended s = (static_cast<Extended>(x) - y) / lengthscale;
  if (name == "se") return std::exp(-s * s / 2);
  if (name == "linear") return static_cast<Extended>(x) * y;
  const Extended r = std::sqrt(static_cast<Extended>(5)) * std::abs(s);
  return (1 + r + r * r / 3) * std::exp(-r);
}

Matrix gram(const std::string& name, double lengthscale, const Eigen::VectorXd& x,
            const Eigen::VectorXd& y) {
  Matrix out(x.size(), y.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    for (Eigen::Index j = 0; j < y.size(); ++j) {
      out(i, j) = kernel_of(name, lengthscale, x[i], y[j]);
    }
  }
  return out;
}

}  // namespace

// Digits of the extended precision: 64 bits on x86, where tests can use what follows.
// [[Rcpp::export(rng = false)]]
int cpp_testing_digits() { return std::numeric_limits<Extended>::digits; }

// Posterior mean and sd at `at` by the textbook formula in extended precision: kernel "se",
// "matern52" or "linear"; noise: one variance per observation. `correlation` multiplies the
// covariance among the observations, `present` theirs with `at`.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_testing_posterior(const std::string& kernel, double lengthscale,
                                 const Eigen::VectorXd& x, const Eigen::VectorXd& y,
                                 const Eigen::VectorXd& noise, const Eigen::VectorXd& at,
                                 const Eigen::MatrixXd& correlation,
                                 const Eigen::VectorXd& present) {
  Matrix K = gram(kernel, lengthscale, x, x).cwiseProduct(correlation.cast<Extended>());
  K.diagonal() += noise.cast<Extended>();
  const Eigen::LLT<Matrix> factor(K);
  if (factor.info() != Eigen::Success) throw std::runtime_error("not positive definite");
  const Matrix cross = present.cast<Extended>().asDiagonal() * gram(kernel, lengthscale, x, at);
  const Matrix half = factor.matrixL().solve(cross);
  const Vector white = factor.matrixL().solve(y.cast<Extended>());
  const Vector mean = half.transpose() * white;
  Vector sd(at.size());
  for (Eigen::Index j = 0; j < at.size(); ++j) {
    const Extended left = kernel_of(kernel, lengthscale, at[j], at[j]) - half.col(j).squaredNorm();
    sd[j] = std::sqrt(std::max<Extended>(left, 0));
  }
  return Rcpp::List::create(Rcpp::Named("mean") = mean.cast<double>().eval(),
                            Rcpp::Named("sd") = sd.cast<double>().eval());
}

namespace {

using LowRankPtr = Rcpp::XPtr<gpb::LowRankPosterior>;

gpb::Index index_of(double number) { return static_cast<gpb::Index>(number) - 1; }

}  // namespace

// ---- the low-rank posterior; observations are numbered from 1 ----------------------------------

// [[Rcpp::export(rng = false)]]
SEXP cpp_testing_lowrank_new(const Rcpp::List& kernel, double noise_var, double accuracy,
                             bool corrected) {
  const auto answers =
      corrected ? gpb::LowRankAnswers::corrected : gpb::LowRankAnswers::from_basis;
  return LowRankPtr(new gpb::LowRankPosterior(gpb::kernel_from_list(kernel), noise_var, accuracy,
                                              1.0, answers),
                    true);
}

// [[Rcpp::export(rng = false)]]
SEXP cpp_testing_lowrank_copy(SEXP pointer) {
  return LowRankPtr(new gpb::LowRankPosterior(*LowRankPtr(pointer)), true);
}

// One by one, or at once.
// [[Rcpp::export(rng = false)]]
void cpp_testing_lowrank_add(SEXP pointer, const Eigen::MatrixXd& x, const Eigen::VectorXd& y,
                             const Eigen::VectorXd& noise_scale, bool at_once) {
  const LowRankPtr posterior(pointer);
  if (at_once) {
    posterior->add(x, y, noise_scale);
    return;
  }
  for (gpb::Index i = 0; i < x.rows(); ++i) {
    posterior->add(x.row(i).transpose(), y[i], noise_scale[i]);
  }
}

// `change`: "target", "targets", "noise_scales", "drop", "clear", "order".
// [[Rcpp::export(rng = false)]]
void cpp_testing_lowrank_change(SEXP pointer, const std::string& change, double number,
                                const Eigen::VectorXd& values) {
  const LowRankPtr posterior(pointer);
  if (change == "target") posterior->set_target(index_of(number), values[0]);
  if (change == "targets") posterior->set_targets(values);
  if (change == "noise_scales") posterior->set_noise_scales(values);
  if (change == "drop") posterior->drop(index_of(number));
  if (change == "clear") posterior->clear();
  if (change == "order") posterior->put_in_order();
}

// The best observation, which computes few means, and all of them.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_testing_lowrank_best_observation(SEXP pointer, double offset) {
  const LowRankPtr posterior(pointer);
  return Rcpp::List::create(Rcpp::Named("best") = static_cast<double>(posterior->best_observation(offset) + 1),
                            Rcpp::Named("means") = posterior->means_at_observations());
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_testing_lowrank_state(SEXP pointer) {
  const LowRankPtr posterior(pointer);
  const gpb::LowRankError error = posterior->certificate();
  return Rcpp::List::create(
      Rcpp::Named("size") = static_cast<double>(posterior->size()),
      Rcpp::Named("rows") = static_cast<double>(posterior->rows()),
      Rcpp::Named("rank") = static_cast<double>(posterior->rank()),
      Rcpp::Named("mean") = error.mean, Rcpp::Named("sd") = error.sd,
      Rcpp::Named("information") = error.information,
      Rcpp::Named("basis_mean") = posterior->certificate_of_basis().mean,
      Rcpp::Named("width_factor") = posterior->width_factor(),
      Rcpp::Named("accurate") = posterior->accurate(),
      Rcpp::Named("should_be_dense") = posterior->should_be_dense(),
      Rcpp::Named("log_det") = posterior->log_det(),
      Rcpp::Named("quadratic") = posterior->quadratic(),
      Rcpp::Named("log_likelihood") = posterior->log_likelihood());
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_testing_lowrank_predict(SEXP pointer, const Eigen::MatrixXd& x, bool by_basis) {
  const LowRankPtr posterior(pointer);
  gpb::VectorXd mean, variance;
  if (by_basis) {
    posterior->predict_by_basis(x, mean, variance);
  } else {
    posterior->predict(x, mean, variance);
  }
  return Rcpp::List::create(Rcpp::Named("mean") = mean,
                            Rcpp::Named("sd") = gpb::VectorXd(variance.cwiseSqrt()));
}

// Mean, sd and their gradients at one point by the basis, the answers, and the certificate of these.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_testing_lowrank_at(SEXP pointer, const Eigen::VectorXd& x) {
  const LowRankPtr posterior(pointer);
  double mean, sd, alone, variance;
  gpb::VectorXd dmean, dsd, slope;
  posterior->predict_gradient(x, mean, sd, dmean, dsd);
  posterior->predict_at(x, alone, variance);
  const gpb::LowRankError error = posterior->certificate_at(x);
  return Rcpp::List::create(
      Rcpp::Named("mean") = mean, Rcpp::Named("sd") = sd, Rcpp::Named("dmean") = dmean,
      Rcpp::Named("dsd") = dsd, Rcpp::Named("mean_alone") = alone,
      Rcpp::Named("sd_alone") = std::sqrt(variance),
      Rcpp::Named("mean_on_points") = posterior->mean_and_gradient(x, slope),
      Rcpp::Named("slope") = slope, Rcpp::Named("error_mean") = error.mean,
      Rcpp::Named("error_sd") = error.sd);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_testing_lowrank_means(SEXP pointer, const Eigen::MatrixXd& x) {
  const LowRankPtr posterior(pointer);
  return x.rows() > 0 ? posterior->predict_mean(x) : posterior->means_at_observations();
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_testing_lowrank_covariance(SEXP pointer, const Eigen::MatrixXd& x) {
  return LowRankPtr(pointer)->covariance(x);
}

// Functions drawn from the posterior at the rows of x, one per column: joint draws, or paths
// of this number of features.
// [[Rcpp::export]]
Eigen::MatrixXd cpp_testing_lowrank_draws(SEXP pointer, const Eigen::MatrixXd& x, double count,
                                          double features) {
  const LowRankPtr posterior(pointer);
  gpb::RRng rng;
  const auto n = static_cast<gpb::Index>(count);
  if (features == 0) return posterior->draw(x, rng, n);
  const gpb::LowRankBasis& basis = posterior->basis();
  const gpb::MatrixXd cross = basis.kernel().gram(x, basis.points());
  const gpb::VectorXd mean = posterior->predict_mean(x);
  gpb::MatrixXd out(x.rows(), n);
  for (gpb::Index c = 0; c < n; ++c) {
    const gpb::PriorPath path = basis.kernel().draw_prior_path(
        rng, x.cols(), static_cast<gpb::Index>(features));
    path.values(x, out.col(c));
    out.col(c) += mean + cross * posterior->path_update(path, rng);
  }
  return out;
}

using CandidatesPtr = Rcpp::XPtr<gpb::LowRankCandidates>;

// `centre`: the number of a row, from 1; 0: none.
// [[Rcpp::export(rng = false)]]
SEXP cpp_testing_lowrank_candidates(const Eigen::MatrixXd& x, double centre) {
  return CandidatesPtr(new gpb::LowRankCandidates(x, static_cast<gpb::Index>(centre) - 1), true);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_testing_lowrank_follow(SEXP candidates, SEXP pointer) {
  const CandidatesPtr cache(candidates);
  cache->follow(*LowRankPtr(pointer));
  return Rcpp::List::create(Rcpp::Named("mean") = cache->mean(),
                            Rcpp::Named("sd") = gpb::VectorXd(cache->variance().cwiseSqrt()),
                            Rcpp::Named("apart") = gpb::VectorXd(cache->apart().cwiseSqrt()));
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_testing_lowrank_moves(SEXP pointer, double since) {
  return LowRankPtr(pointer)->moves(static_cast<gpb::Index>(since));
}

using LazyArmsPtr = Rcpp::XPtr<gpb::LazyArms>;

// [[Rcpp::export(rng = false)]]
SEXP cpp_testing_lowrank_arms(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                              const Eigen::VectorXd& prior_mean) {
  return LazyArmsPtr(new gpb::LazyArms(*gpb::kernel_from_list(kernel), x, x.cols(), prior_mean), true);
}

// `policy`: "ucb", "variance", "ei", or "rising": as "ucb", but not known to be linear; `value`: the
// width or the target.
static gpb::RisingScore rising_score_of(const std::string& policy, double value) {
  gpb::RisingScore score{[value](double mean, double sd) { return mean + value * sd; }, gpb::kTie};
  if (policy == "ucb") score.weight = value;
  if (policy == "variance") score.of = [](double, double sd) { return sd; };
  if (policy == "ei") {
    score.of = [value](double mean, double sd) {
      return gpb::log_expected_improvement(mean, sd, value);
    };
  }
  return score;
}

// The arm (from 1) and the number of evaluated arms.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_testing_lowrank_choose(SEXP arms, SEXP pointer, const std::string& policy,
                                               double value) {
  const LazyArmsPtr lazy(arms);
  const gpb::Index arm = lazy->choose(rising_score_of(policy, value), *LowRankPtr(pointer));
  return {static_cast<double>(arm + 1), static_cast<double>(lazy->looked_at())};
}

// The best row of x, from 1.
// [[Rcpp::export(rng = false)]]
double cpp_testing_lowrank_best(SEXP pointer, const Eigen::MatrixXd& x,
                                const Eigen::VectorXd& prior_mean, const std::string& policy,
                                double value) {
  const gpb::RisingScore score = rising_score_of(policy, value);
  return static_cast<double>(gpb::best_point(score, *LowRankPtr(pointer), x, prior_mean) + 1);
}

// The first coordinates of arms (a row each: inputs, context, number) by ArmCrosses, and by the basis itself; none
// where the kernel does not split.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_testing_lowrank_crosses(SEXP pointer, const Eigen::MatrixXd& arms, double inputs, double few) {
  const gpb::LowRankBasis& basis = LowRankPtr(pointer)->basis();
  gpb::ArmCrosses crosses(static_cast<gpb::Index>(inputs));
  if (!crosses.follow(basis, arms)) return Rcpp::List();
  const auto count = static_cast<gpb::Index>(few);
  gpb::Panels ours(arms.rows()), theirs(arms.rows());
  ours.reserve(count, 0);
  theirs.reserve(count, 0);
  std::vector<gpb::Index> rows;
  for (gpb::Index i = 0; i < arms.rows(); ++i) rows.push_back(i);
  crosses.at(basis, rows, count, ours);
  basis.at(arms, theirs, count);
  Eigen::MatrixXd first(arms.rows(), count), second(arms.rows(), count);
  for (gpb::Index i = 0; i < arms.rows(); ++i) {
    for (gpb::Index k = 0; k < count; ++k) {
      first(i, k) = ours(k, i);
      second(i, k) = theirs(k, i);
    }
  }
  return Rcpp::List::create(first, second);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_testing_lowrank_bounds(SEXP pointer, const Eigen::MatrixXd& x, double few) {
  const gpb::MomentBounds at =
      gpb::bounds_by_few(*LowRankPtr(pointer), x, static_cast<gpb::Index>(few));
  return Rcpp::List::create(Rcpp::Named("least_mean") = at.least_mean,
                            Rcpp::Named("largest_mean") = at.largest_mean,
                            Rcpp::Named("least_sd") = at.least_sd,
                            Rcpp::Named("largest_sd") = at.largest_sd);
}

// ---- kernels (`kernel` is a list made by resolve_kernel()), regressions, likelihood

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_kernel_diagonal(const Rcpp::List& kernel, const Eigen::MatrixXd& x) {
  Eigen::VectorXd out(x.rows());
  gpb::kernel_from_list(kernel)->diagonal(x, out);
  return out;
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_kernel_input_gradient(const Rcpp::List& kernel, const Eigen::VectorXd& x,
                                          const Eigen::MatrixXd& y) {
  Eigen::MatrixXd out;
  gpb::kernel_from_list(kernel)->input_gradient(x, y, out);
  return out;
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_kernel_diagonal_gradient(const Rcpp::List& kernel, const Eigen::VectorXd& x) {
  return gpb::kernel_from_list(kernel)->diagonal_gradient(x);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_kernel_log_parameters(const Rcpp::List& kernel) {
  return gpb::kernel_from_list(kernel)->log_parameters();
}

// The Gram matrix under other parameters than those of the list.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_kernel_gram_at(const Rcpp::List& kernel, const Eigen::VectorXd& theta,
                                   const Eigen::MatrixXd& x) {
  const gpb::KernelPtr original = gpb::kernel_from_list(kernel);
  const std::unique_ptr<gpb::Kernel> changed = original->clone();
  changed->set_log_parameters(theta);
  return changed->gram(x);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_kernel_parameter_gradient(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                                              const Eigen::MatrixXd& w) {
  return gpb::kernel_from_list(kernel)->parameter_gradient(x, w);
}

// Independent paths at the rows of x, one per column.
// [[Rcpp::export]]
Eigen::MatrixXd cpp_kernel_prior_paths(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                                       int features, int paths) {
  const gpb::KernelPtr k = gpb::kernel_from_list(kernel);
  gpb::RRng rng;
  Eigen::MatrixXd out(x.rows(), paths);
  for (int p = 0; p < paths; ++p) {
    k->draw_prior_path(rng, x.cols(), features).values(x, out.col(p));
    gpb::check_interrupt();
  }
  return out;
}

// One path: a row per row of x with the value by each of the two routes, then the gradient.
// [[Rcpp::export]]
Eigen::MatrixXd cpp_kernel_prior_gradient(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                                          int features) {
  gpb::RRng rng;
  const gpb::PriorPath path =
      gpb::kernel_from_list(kernel)->draw_prior_path(rng, x.cols(), features);
  Eigen::MatrixXd out(x.rows(), x.cols() + 2);
  Eigen::VectorXd gradient;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const Eigen::VectorXd point = x.row(i).transpose();
    out(i, 0) = path.value(point);
    out(i, 1) = path.value_and_gradient(point, gradient);
    out.row(i).tail(x.cols()) = gradient.transpose();
  }
  return out;
}

// Normals of a stream that R's generator begins: what joint draws are made from.
// [[Rcpp::export]]
Rcpp::NumericVector cpp_testing_stream_normals(int count) {
  gpb::RRng seeds;
  gpb::StreamRng rng(seeds);
  Rcpp::NumericVector out(count);
  for (double& z : out) z = rng.normal();
  return out;
}

// Value, gradient (by the kernel's log-parameters and log noise) and mean at one point.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_fit_likelihood(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                              const Eigen::VectorXd& y, const Eigen::VectorXd& own_noise,
                              bool fit_mean, const Eigen::VectorXd& parameters, double log_scale,
                              bool want_gradient) {
  gpb::MarginalLikelihood likelihood(*gpb::kernel_from_list(kernel), {x, y, own_noise}, fit_mean);
  likelihood.factorise(parameters, want_gradient);
  Rcpp::List out = Rcpp::List::create(Rcpp::Named("value") = likelihood.value(log_scale),
                                      Rcpp::Named("mean") = likelihood.mean(),
                                      Rcpp::Named("log_scale") = likelihood.log_scale());
  if (want_gradient) out["gradient"] = likelihood.gradient(log_scale);
  return out;
}

// The same from groups of neighbours (`own` and `earlier`: how many at most), which are found at the parameters `at`;
// and the groups, by the number of each observation's point, from 1.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_neighbour_likelihood(const Rcpp::List& kernel, const Eigen::MatrixXd& x, const Eigen::VectorXd& y,
                                    const Eigen::VectorXd& own_noise, bool fit_mean,
                                    const Eigen::VectorXd& parameters, const Eigen::VectorXd& at, double log_scale,
                                    int own, int earlier, bool want_gradient) {
  gpb::NeighbourLikelihood likelihood(*gpb::kernel_from_list(kernel), {x, y, own_noise}, fit_mean, at,
                                      {own, earlier});
  likelihood.factorise(parameters, want_gradient);
  const auto rows = [](const std::vector<Eigen::Index>& some) {
    Rcpp::IntegerVector out;
    for (const Eigen::Index row : some) out.push_back(static_cast<int>(row) + 1);
    return out;
  };
  Rcpp::List groups;
  for (const gpb::Neighbourhood& one : likelihood.groups()) {
    groups.push_back(Rcpp::List::create(Rcpp::Named("earlier") = rows(one.earlier),
                                        Rcpp::Named("own") = rows(one.own)));
  }
  Rcpp::List out = Rcpp::List::create(Rcpp::Named("value") = likelihood.value(log_scale),
                                      Rcpp::Named("mean") = likelihood.mean(),
                                      Rcpp::Named("log_scale") = likelihood.log_scale(),
                                      Rcpp::Named("groups") = groups, Rcpp::Named("points") = likelihood.points());
  if (want_gradient) out["gradient"] = likelihood.gradient(log_scale);
  return out;
}

// A sparse basis of at most `most` points and those of the largest values, of `first` observations; the others come one
// by one. Mean and variance at the rows of `at`, and the basis.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_sparse_posterior(const Rcpp::List& kernel, double noise_var, const Eigen::MatrixXd& x,
                                const Eigen::VectorXd& y, const Eigen::VectorXd& noise_scale, int most, int first,
                                const Eigen::MatrixXd& at) {
  const double share = static_cast<double>(most) / static_cast<double>(first);
  gpb::LowRankPosterior posterior(gpb::kernel_from_list(kernel), noise_var, 1e-3, share);
  posterior.add(x.topRows(first), y.head(first), noise_scale.head(first));
  posterior.make_sparse(most);
  for (gpb::Index i = first; i < x.rows(); ++i) posterior.add(gpb::row_of(x, i), y[i], noise_scale[i]);
  Eigen::VectorXd mean, variance;
  posterior.predict(at, mean, variance);
  return Rcpp::List::create(Rcpp::Named("mean") = mean, Rcpp::Named("variance") = variance,
                            Rcpp::Named("basis") = posterior.basis().points());
}

// The same without a copy.
// [[Rcpp::export(rng = false)]]
void cpp_regression_truncate(SEXP pointer, double size) {
  RegressionPtr(pointer)->posterior.truncate(static_cast<gpb::Index>(size));
}

// [[Rcpp::export(rng = false)]]
void cpp_regression_set_targets(SEXP pointer, const Eigen::VectorXd& y) {
  RegressionPtr(pointer)->posterior.set_targets(y);
}

// Mean and sd without the cache.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_regression_predict_blocks(SEXP pointer, const Eigen::MatrixXd& x) {
  gpb::VectorXd mean, variance;
  RegressionPtr(pointer)->posterior.predict(x, mean, variance);
  return Rcpp::List::create(Rcpp::Named("mean") = mean,
                            Rcpp::Named("sd") = gpb::VectorXd(variance.cwiseSqrt()));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_regression_gradient(SEXP pointer, const Eigen::VectorXd& x) {
  double mean, sd;
  gpb::VectorXd dmean, dsd;
  RegressionPtr(pointer)->posterior.predict_gradient(x, mean, sd, dmean, dsd);
  return Rcpp::List::create(Rcpp::Named("mean") = mean, Rcpp::Named("sd") = sd,
                            Rcpp::Named("dmean") = dmean, Rcpp::Named("dsd") = dsd);
}

// (K + noise)^-1 v.
// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_regression_solve(SEXP pointer, const Eigen::VectorXd& v) {
  return RegressionPtr(pointer)->posterior.solve(v);
}

// ---- several outcomes ---------------------------------------------------------------------------

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_log_improvement(const Eigen::VectorXd& u) {
  Eigen::VectorXd out(u.size());
  for (Eigen::Index i = 0; i < u.size(); ++i) out[i] = gpb::log_improvement(u[i]);
  return out;
}

// [[Rcpp::export(rng = false)]]
double cpp_log_ehvi(const Eigen::MatrixXd& front, const Eigen::VectorXd& reference, const Eigen::VectorXd& mean,
                    const Eigen::VectorXd& sd) {
  return gpb::NondominatedBoxes(front, reference).log_expected_gain(mean.data(), sd.data());
}

namespace {

// A score given at the candidates 0, 1, ...
struct ListedScore final : gpb::Score {
  explicit ListedScore(Eigen::VectorXd scores) : listed(std::move(scores)) {}
  void values(const gpb::Candidates& candidates, Eigen::VectorXd& out) const override { out = at(candidates.X); }
  Eigen::VectorXd at(const gpb::Points& X) const override {
    Eigen::VectorXd out(X.rows());
    for (gpb::Index i = 0; i < X.rows(); ++i) out[i] = listed[static_cast<gpb::Index>(X(i, 0))];
    return out;
  }
  double at(const Eigen::VectorXd& x, Eigen::VectorXd*) const override {
    return listed[static_cast<gpb::Index>(x[0])];
  }
  double unit() const override { return 1.0; }
  Eigen::VectorXd listed;
};

}  // namespace

// Logarithmic scores of several models (columns) with equal weights: all averaged, and screened.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_testing_screen(const Eigen::MatrixXd& scores) {
  std::vector<gpb::AveragedScore::Part> parts;
  for (gpb::Index k = 0; k < scores.cols(); ++k) {
    parts.push_back({std::make_unique<ListedScore>(scores.col(k)), -std::log(static_cast<double>(scores.cols()))});
  }
  const gpb::AveragedScore score(std::move(parts));
  gpb::Candidates candidates;
  candidates.X = Eigen::VectorXd::LinSpaced(scores.rows(), 0.0, static_cast<double>(scores.rows() - 1));
  Eigen::VectorXd all, screened;
  score.values(candidates, all);
  score.screen(candidates, screened);
  return Rcpp::List::create(Rcpp::Named("all") = all, Rcpp::Named("screened") = screened);
}

// The acquisition function of a policy over outcomes with independent Gaussian processes: `$values` at the rows of `at`,
// `$singly` (a search's) and `$gradient`. A kernel and a column of `y` (NA: pending) and `roles` for each outcome. Rows
// of `roles`: 1 or 0 (objective or not), the lower and the upper limit.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_testing_outcome_score(const Rcpp::List& kernels, const Eigen::VectorXd& noise_var,
                                     const Eigen::MatrixXd& x, const Eigen::MatrixXd& y, const Eigen::MatrixXd& roles, const Rcpp::List& policy,
                                     const Eigen::MatrixXd& at) {
  std::vector<std::unique_ptr<gpb::OpenPosterior>> posteriors;
  std::vector<gpb::Role> all;
  gpb::Round round;
  for (gpb::Index k = 0; k < y.cols(); ++k) {
    posteriors.push_back(std::make_unique<gpb::OpenPosterior>(
        gpb::kernel_from_list(kernels[k]), noise_var[k], gpb::PriorMean(Eigen::VectorXd::Zero(1)), gpb::Forgetting(),
        gpb::OpenEngine::of("dense", 1e-3)));
    for (gpb::Index i = 0; i < x.rows(); ++i) {
      if (!std::isnan(y(i, k))) posteriors.back()->add({gpb::Point::point(x.row(i)), y(i, k)});
    }
    all.push_back({roles(0, k) > 0.0, roles(1, k), roles(2, k)});
    round.outcomes.push_back({posteriors.back().get(), posteriors.back().get(), all.back(), 1.0, noise_var[k]});
  }
  std::vector<gpb::Point> points;
  for (gpb::Index i = 0; i < x.rows(); ++i) points.push_back(gpb::Point::point(x.row(i)));
  gpb::Candidates candidates;
  candidates.X = at;
  candidates.complete = false;
  round.number = static_cast<double>(x.rows() + 1);
  round.candidates = &candidates;
  round.evaluated = [&points] {
    gpb::PlayedPoints out;
    for (const gpb::Point& point : points) out.points.push_back(&point);
    out.slots.assign(points.size(), -1);
    return out;
  };
  round.played = [&] {
    gpb::PointsMoments out{Eigen::MatrixXd(x.rows(), y.cols()), Eigen::MatrixXd(x.rows(), y.cols())};
    for (gpb::Index k = 0; k < y.cols(); ++k) {
      Eigen::VectorXd mean, variance;
      posteriors[static_cast<std::size_t>(k)]->predict(x, mean, variance);
      out.mean.col(k) = mean;
      out.sd.col(k) = variance.cwiseSqrt();
    }
    return out;
  };
  gpb::RRng rng;
  const auto score = gpb::make_outcomes_policy(gpb::RSettings(policy), nullptr, all)->prepare(round, rng);
  Eigen::VectorXd values, slope;
  score->values(candidates, values);
  Eigen::MatrixXd gradient(at.rows(), at.cols());
  Eigen::VectorXd singly(at.rows());
  for (gpb::Index i = 0; i < at.rows(); ++i) {
    singly[i] = score->at(Eigen::VectorXd(at.row(i)), &slope);
    gradient.row(i) = slope;
  }
  return Rcpp::List::create(Rcpp::Named("values") = values, Rcpp::Named("singly") = singly,
                            Rcpp::Named("gradient") = gradient);
}

// ---- bandits ------------------------------------------------------------------------------------

// The core's mean, and the sd that the policy's width multiplies, at all candidates without a context.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_curved(SEXP handle) {
  BanditHandle bandit(handle);
  const gpb::Candidates& all = bandit->space().candidates(gpb::Context());
  const Eigen::Index n = all.size();
  const Eigen::VectorXd mean = Eigen::Map<const Eigen::VectorXd>(bandit->mean().moments(all).mean, n);
  const Eigen::VectorXd variance =
      Eigen::Map<const Eigen::VectorXd>(bandit->curved().moments(all).variance, n);
  return Rcpp::List::create(Rcpp::_["mean"] = mean,
                            Rcpp::_["sd"] = gpb::roots(variance));
}

// What the likelihood of the bandit's rewards has made of them: sites and the core's f there.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_sites(SEXP handle) {
  BanditHandle bandit(handle);
  const gpb::SiteFit& fit = bandit->known().fit();
  using Rcpp::_;
  return Rcpp::List::create(_["f"] = fit.f, _["weight"] = fit.weight, _["weighted"] = fit.weighted,
                            _["log_evidence"] = fit.log_evidence,
                            _["information"] = bandit->known().information(),
                            _["steps"] = fit.steps);
}

// The parameters of the likelihood of a bandit's rewards that are fitted.
// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_latent_parameters(SEXP handle) {
  BanditHandle bandit(handle);
  return bandit->known().likelihood()->parameters();
}

// Laplace's log marginal likelihood of them and its gradient, by what `problem` of cpp_fit_latent() is about.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_latent_evidence(SEXP handle, const Rcpp::List& kernel, bool fit_mean,
                               const Eigen::VectorXd& parameters) {
  gpb::LatentEvidence evidence = latent_evidence(handle, kernel, fit_mean);
  evidence.factorise(parameters, true);
  return Rcpp::List::create(Rcpp::Named("value") = evidence.value(), Rcpp::Named("gradient") = evidence.gradient());
}

// The penalised likelihood of varying noise at some parameters, and its gradient: see VaryingEvidence.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_varying_evidence(const Rcpp::List& kernel, const Rcpp::List& noise_kernel, int variance,
                                const Rcpp::List& measurements, bool fit_mean, const Eigen::VectorXd& parameters) {
  gpb::VaryingEvidence evidence = varying_evidence(kernel, noise_kernel, variance, measurements, fit_mean);
  evidence.factorise(parameters, true);
  Rcpp::List out = varying_list(evidence.found(), evidence.value());
  out["gradient"] = evidence.gradient();
  return out;
}

// The point where c'x is largest over A x <= b, x >= 0; no numbers where there is none.
// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_maximise_linear(const Eigen::MatrixXd& A, const Eigen::VectorXd& b, const Eigen::VectorXd& c) {
  return gpb::maximise_linear(A, b, c).x;
}

// Throws an exception of this type with these words.
// [[Rcpp::export(rng = false)]]
void cpp_testing_throw(const std::string& type, const std::string& words) {
  if (type == "memory") throw std::bad_alloc();
  if (type == "size") throw std::length_error(words);
  if (type == "conversion") throw Rcpp::not_compatible(words);
  if (type == "runtime") gpb::throw_runtime(words);
  if (type == "logic") gpb::throw_logic(words);
  gpb::throw_invalid(words);
}
