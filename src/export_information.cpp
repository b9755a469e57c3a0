#include <RcppEigen.h>

#include <Eigen/Cholesky>
#include <algorithm>

#include "information/information.h"
#include "information/optimal_design.h"
#include "r_interrupt.h"
#include "r_kernel.h"
#include "spaces/arm_setting.h"

namespace {

using gpb::Index;

// gamma_T of the whole Gram matrix is at most that of its factor plus T times this.
double residual_slack(const gpb::LowRank& basis, double noise_var) {
  return basis.residual.maxCoeff() / (2.0 * noise_var);
}

// A factor of at most 800 MB; what it leaves out goes into the slack.
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

// 1/2 log det(I + W^1/2 K W^1/2 / noise_var), W the times each row of K was observed.
// [[Rcpp::export(rng = false)]]
double cpp_information_gain(const Eigen::MatrixXd& K, const Eigen::VectorXd& times,
                            double noise_var) {
  const Eigen::VectorXd root = (times / noise_var).cwiseSqrt();
  Eigen::MatrixXd system = root.asDiagonal() * K * root.asDiagonal();
  system.diagonal().array() += 1.0;
  const Eigen::LLT<Eigen::MatrixXd> chol(system);
  if (chol.info() != Eigen::Success) {
    throw std::invalid_argument("I + K / noise_var is not positive definite: the covariance is indefinite");
  }
  return chol.matrixLLT().diagonal().array().log().sum();
}

// In all that follows: gamma_1..gamma_rounds over the rows of points.

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

// tolerance is relative; the factor is as coarse as a tenth of it allows, judged by
// the greedy gain (gamma_T / T decreases in T).
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
