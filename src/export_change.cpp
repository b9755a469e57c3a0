// Change-point detection for any regression data.
#include "r_bandit.h"

#include "change.h"
#include "r_kernel.h"

// The statistic of Algorithm 1 for the two halves of the pairs, averaged over the domain.
// [[Rcpp::export(rng = false)]]
double cpp_change_statistic(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                            const Eigen::VectorXd& y, double ridge,
                            const Eigen::MatrixXd& domain) {
  return gpb::change_statistic(*gpb::kernel_from_list(kernel), x, y, ridge, domain);
}

// The number of the pair (1-based) at which some tail of the pairs so far first raises
// the alarm, 0 if none does.
// [[Rcpp::export(rng = false)]]
int cpp_detect_change(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                      const Eigen::VectorXd& y, const Rcpp::Function& threshold,
                      const Rcpp::Function& ridge, const Eigen::MatrixXd& domain) {
  const auto rate = [](const Rcpp::Function& f) {
    return [f](double q) { return Rcpp::as<double>(f(q)); };
  };
  gpb::ChangeSweep sweep(gpb::kernel_from_list(kernel),
                         std::make_shared<const gpb::Points>(domain), rate(threshold),
                         rate(ridge));
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    if (sweep.add(x.row(i).transpose(), y[i])) return static_cast<int>(i + 1);
    if (i % 16 == 15) Rcpp::checkUserInterrupt();
  }
  return 0;
}
