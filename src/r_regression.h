// What R holds of a regression: its posterior, and predictions that were asked for last.
#ifndef GPB_R_REGRESSION_H
#define GPB_R_REGRESSION_H

#include "r_values.h"

#include "posteriors/dense_posterior.h"

namespace gpb {

struct Regression {
  DensePosterior posterior;
  std::unique_ptr<PredictionCache> cache;  // the points asked for last
};

}  // namespace gpb

using RegressionPtr = Rcpp::XPtr<gpb::Regression>;

#endif
