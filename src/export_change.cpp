// Change-point detection for any regression data.
#include "events/changes.h"
#include "r_interrupt.h"
#include "r_kernel.h"
#include "r_settings.h"

// The statistic of Algorithm 1 for the two halves of the pairs, averaged over the domain.
// [[Rcpp::export(rng = false)]]
double cpp_change_statistic(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                            const Eigen::VectorXd& y, double ridge,
                            const Rcpp::List& domain) {
  const gpb::KernelPtr k = gpb::kernel_from_list(kernel);
  if (Rcpp::as<std::string>(domain["kind"]) == "points") {
    return gpb::change_statistic(*k, x, y, ridge, Rcpp::as<Eigen::MatrixXd>(domain["points"]));
  }
  return gpb::change_statistic(*k, x, y, ridge, *gpb::make_averaging(gpb::RSettings(domain), k));
}

// The number of the pair (1-based) at which some tail of the pairs so far first raises
// the alarm, 0 if none does.
// [[Rcpp::export(rng = false)]]
int cpp_detect_change(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                      const Eigen::VectorXd& y, const Rcpp::Function& threshold,
                      const Rcpp::Function& ridge, const Rcpp::List& domain, bool dyadic) {
  const auto rate = [](const Rcpp::Function& f) {
    return [f](double q) { return Rcpp::as<double>(f(q)); };
  };
  const gpb::KernelPtr k = gpb::kernel_from_list(kernel);
  gpb::ChangeSweep sweep(k, gpb::make_averaging(gpb::RSettings(domain), k), rate(threshold), rate(ridge),
                         dyadic);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    if (sweep.add(x.row(i).transpose(), y[i])) return static_cast<int>(i + 1);
    if (i % 16 == 15) gpb::check_interrupt();
  }
  return 0;
}
