// The content of a regression's handle in R: its posterior, and a cache of predictions.
#ifndef GPB_R_REGRESSION_H
#define GPB_R_REGRESSION_H

#include "r_values.h"

#include "posteriors/dense_posterior.h"

namespace gpb {

struct Regression {
  DensePosterior posterior;
  std::unique_ptr<PredictionCache> cache;  // for the points predicted last
};

}  // namespace gpb

using RegressionPtr = Rcpp::XPtr<gpb::Regression>;

#endif
