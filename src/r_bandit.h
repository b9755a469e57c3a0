// From R's description of a bandit to the core's object, and its handle.
#ifndef GPB_R_BANDIT_H
#define GPB_R_BANDIT_H

#include <RcppEigen.h>

#include "bandit/bandit.h"

namespace gpb {

Beliefs beliefs_from_config(const Rcpp::List& config);
FoldRules rules_from_config(const Rcpp::List& config);

// Contexts of several queries as R gives them: `row` a number of a known context
// (0-based) each, `values` a row each (no columns where the rows say it all), and perhaps
// `eligible`, a flag per arm for all of them.
std::vector<Context> contexts_from_list(const Rcpp::List& contexts);

}  // namespace gpb

using BanditHandle = Rcpp::XPtr<gpb::Bandit>;

#endif
