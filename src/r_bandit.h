// From R's description of a bandit to the core's object, and its handle.
#ifndef GPB_R_BANDIT_H
#define GPB_R_BANDIT_H

#include <RcppEigen.h>

#include "bandit.h"

namespace gpb {

std::unique_ptr<Bandit> bandit_from_config(const Rcpp::List& config);

}  // namespace gpb

using BanditHandle = Rcpp::XPtr<gpb::Bandit>;

#endif
