// The predictive probability of a reward with a likelihood, and evidences of samples. Uses likelihoods/likelihood.h.
#ifndef GPB_PREDICTIVE_H
#define GPB_PREDICTIVE_H

#include "likelihoods/likelihood.h"

namespace gpb {

// log E exp(l(f)), f normal with this mean and sd; l is the log likelihood of the data. The integral is a sum over
// equal steps about its largest term.
double log_predictive(const Likelihood& likelihood, const Likelihood::Data& data, double mean, double sd);

// Laplace's log evidence of pooled data of functionals with this prior mean and covariance; for log-concave ones.
double laplace_evidence(const Likelihood& likelihood, const std::vector<Likelihood::Data>& data, VectorXd mean,
                        MatrixXd covariance);

}  // namespace gpb

#endif
