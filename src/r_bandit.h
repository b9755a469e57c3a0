// From R's description of a bandit to the core's object, and its handle.
#ifndef GPB_R_BANDIT_H
#define GPB_R_BANDIT_H

#include <RcppEigen.h>

#include "bandit/bandit.h"

namespace gpb {

struct BanditParts {
  std::unique_ptr<Space> space;
  BanditConfig config;
};
// Where a detector averages: list(kind = "points", points), "sampled", or "box" with lower, upper,
// lengthscale and variance of a squared-exponential kernel.
std::shared_ptr<Averaging> averaging_from_list(const Rcpp::List& domain, const KernelPtr& kernel);

BanditParts parts_from_config(const Rcpp::List& config);

// Contexts of several queries as R gives them: `row` a number of a known context
// (0-based) each, `values` a row each (no columns where the rows say it all).
std::vector<Context> contexts_from_list(const Rcpp::List& contexts);

}  // namespace gpb

using BanditHandle = Rcpp::XPtr<gpb::Bandit>;

#endif
