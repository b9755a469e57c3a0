// Fits of hyperparameters: problems and plans from R's lists, minimisers that check for interrupts and report, averages
// over models. Uses the core and the adapters r_*.
#ifndef GPB_R_FIT_H
#define GPB_R_FIT_H

#include "r_values.h"

#include "fitting/average.h"
#include "fitting/fit_plan.h"
#include "fitting/likelihood.h"

namespace gpb {

VectorXd numbers(const Rcpp::List& list, const char* name);
FitProblem problem_from_list(const Rcpp::List& list);
// From the list of fit_plan() in R.
FitPlan plan_from_list(const Rcpp::List& list);

Minimizers minimizers_of(int iterations);
// The same for at most `searches` local searches, which report to an R function how far they are: `progress` of `asked`
// (NULL: none) is called with a number from 0 to 1. (A search that takes fewer evaluations than its limit advances the
// number at its end.)
Minimizers reporting_minimizers(int iterations, Index searches, const Rcpp::List& asked);

// `average`: `count`, `unit` (flags of the parameters that lie between 0 and 1), and for each kernel `log_prior`,
// `before` and `goes_on` (additional_starts()). `asked` may have `progress`.
ModelAverage average_of(const Rcpp::List& kernels, const Measurements& measurements, bool fit_mean,
                        const FitProblem& problem, int iterations, const Rcpp::List& average,
                        double spread, const Rcpp::List& asked);
// `kernel` (their numbers, from 1), `parameters` (a column per model), `mean`, `weight`; `best`: the mode's parameters,
// mean and kernel.
Rcpp::List average_to_list(const ModelAverage& found);

}  // namespace gpb

#endif
