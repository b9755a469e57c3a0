// R's entry points for information gains and designs, and for tests of a change. Uses the core and the adapters r_*.

#include <algorithm>
#include <cmath>
#include <vector>

#include "events/changes.h"
#include "linalg/decompositions.h"
#include "linalg/products.h"
#include "posteriors/arm_setting.h"
#include "r_function.h"
#include "r_interrupt.h"
#include "r_kernel.h"
#include "r_rng.h"
#include "r_settings.h"
#include "r_values.h"
#include "widths/information.h"
#include "widths/optimal_design.h"

namespace {

using gpb::Index;

// gamma_T of the whole Gram matrix is at most that of its factor plus T times this.
double residual_slack(const gpb::LowRank& basis, double noise_var) {
  return basis.residual.maxCoeff() / (2.0 * noise_var);
}

// A factor of at most 800 MB; its residual is included in the slack.
gpb::LowRank factor_of(const gpb::ArmTable& table, double tolerance) {
  const Index limit = std::min<Index>(4000, static_cast<Index>(1e8) / table.size());
  return gpb::pivoted_cholesky(*table.kernel, *table.points, tolerance, std::max<Index>(1, limit));
}

gpb::GreedyInformation greedy_over(const gpb::ArmTablePtr& table, double noise_var) {
  const gpb::ArmSetting setting = gpb::make_arm_setting(table, noise_var, "auto", false);
  return gpb::GreedyInformation(
      setting.make_engine(noise_var, Eigen::VectorXd::Zero(table->size())));
}

gpb::ArmTablePtr table_of(const Rcpp::List& kernel, const Eigen::MatrixXd& points) {
  return std::make_shared<const gpb::ArmTable>(gpb::kernel_from_list(kernel),
                                               std::make_shared<const gpb::Points>(points));
}

double tolerance_of(const gpb::ArmTable& table, double noise_var) {
  return gpb::pivot_tolerance(table.prior_scale * table.prior_scale, noise_var);
}

}  // namespace

// 1/2 log det(I + W^1/2 K W^1/2 / noise_var), where W has the number of observations of each row of K.
// [[Rcpp::export(rng = false)]]
double cpp_information_gain(const Eigen::MatrixXd& K, const Eigen::VectorXd& times,
                            double noise_var) {
  Eigen::MatrixXd system = gpb::scaled_both((times / noise_var).cwiseSqrt(), K);
  gpb::add_to_diagonal(system, 1.0);
  if (!gpb::cholesky(system)) {
    gpb::throw_invalid("I + K / noise_var is not positive definite: the covariance is indefinite");
  }
  return system.diagonal().array().log().sum();
}

// All functions below return gamma_1..gamma_rounds over the rows of `points`.

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_greedy_information(const Rcpp::List& kernel,
                                           const Eigen::MatrixXd& points, int rounds,
                                           double noise_var) {
  gpb::GreedyInformation greedy = greedy_over(table_of(kernel, points), noise_var);
  Rcpp::NumericVector gain(rounds);
  for (int s = 1; s <= rounds; ++s) {
    if (s % 32 == 0) gpb::check_interrupt();
    gain[s - 1] = greedy.at(s);
  }
  return gain;
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_spectral_information(const Rcpp::List& kernel,
                                             const Eigen::MatrixXd& points, int rounds,
                                             double noise_var) {
  const gpb::ArmTablePtr table = table_of(kernel, points);
  const gpb::LowRank basis = factor_of(*table, tolerance_of(*table, noise_var));
  const double slack = residual_slack(basis, noise_var);
  const gpb::SpectralInformation spectral(gpb::gram_eigenvalues(basis.factor), noise_var);
  Rcpp::NumericVector gain(rounds);
  for (int s = 1; s <= rounds; ++s) gain[s - 1] = spectral.at(s) + s * slack;
  return gain;
}

// `tolerance` is relative. The factor's error may take a tenth of it, relative to the greedy gain (gamma_T / T
// decreases in T).
// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_doptimal_information(const Rcpp::List& kernel, const Eigen::MatrixXd& points,
                                         int rounds, double noise_var, double tolerance) {
  const gpb::ArmTablePtr table = table_of(kernel, points);
  const double rate = greedy_over(table, noise_var).at(rounds) / rounds;
  const gpb::LowRank basis = factor_of(
      *table, std::max(tolerance_of(*table, noise_var), 0.2 * tolerance * noise_var * rate));
  const double slack = residual_slack(basis, noise_var);
  std::vector<Index> start = basis.pivots;
  if (start.size() > 60) start.resize(60);
  gpb::DesignSolver solver(basis.factor, noise_var, tolerance);
  return solver.bounds(rounds, start, [] { gpb::check_interrupt(); }) +
         slack * Eigen::VectorXd::LinSpaced(rounds, 1.0, rounds);
}

// ---- changes ------------------------------------------------------------------------------------

// Change-point detection for any regression data.

// The statistic of Algorithm 1 (Avanesov) for the two halves of the pairs, averaged over the domain.
// [[Rcpp::export(rng = false)]]
double cpp_change_statistic(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                            const Eigen::VectorXd& y, double ridge,
                            const Rcpp::List& domain) {
  const gpb::KernelPtr k = gpb::kernel_from_list(kernel);
  if (Rcpp::as<std::string>(gpb::required(domain, "kind")) == "points") {
    return gpb::change_statistic(*k, x, y, ridge, Rcpp::as<Eigen::MatrixXd>(gpb::required(domain, "points")));
  }
  return gpb::change_statistic(*k, x, y, ridge, *gpb::make_averaging(gpb::RSettings(domain), k));
}

namespace {

gpb::ChangeSweep sweep_from(const Rcpp::List& kernel, const Rcpp::Function& threshold, const Rcpp::Function& ridge,
                            const Rcpp::List& domain, bool dyadic) {
  const auto rate = [](const Rcpp::Function& f) {
    return [f](double q) { return Rcpp::as<double>(f(q)); };
  };
  const gpb::KernelPtr k = gpb::kernel_from_list(kernel);
  return {k, gpb::make_averaging(gpb::RSettings(domain), k), rate(threshold), rate(ridge), dyadic};
}

}  // namespace

// The number of the pair (1-based) at which a tail of the pairs so far first raises the alarm, 0 if none does.
// [[Rcpp::export(rng = false)]]
int cpp_detect_change(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                      const Eigen::VectorXd& y, const Rcpp::Function& threshold,
                      const Rcpp::Function& ridge, const Rcpp::List& domain, bool dyadic) {
  gpb::ChangeSweep sweep = sweep_from(kernel, threshold, ridge, domain, dyadic);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    if (sweep.add(gpb::row_of(x, i), y[i])) return static_cast<int>(i + 1);
    if (i % 16 == 15) gpb::check_interrupt();
  }
  return 0;
}

// The largest statistic of all tails after all pairs, as a multiple of its threshold.
// [[Rcpp::export(rng = false)]]
double cpp_largest_change(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                          const Eigen::VectorXd& y, const Rcpp::Function& threshold,
                          const Rcpp::Function& ridge, const Rcpp::List& domain, bool dyadic) {
  gpb::ChangeSweep sweep = sweep_from(kernel, threshold, ridge, domain, dyadic);
  double out = 0.0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    out = std::max(out, sweep.largest(gpb::row_of(x, i), y[i]));
    if (i % 16 == 15) gpb::check_interrupt();
  }
  return out;
}
