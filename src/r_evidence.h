// Likelihoods of a bandit's rewards, made of what R gives; tests evaluate them at single parameters.
#ifndef GPB_R_EVIDENCE_H
#define GPB_R_EVIDENCE_H

#include "r_values.h"

#include "fitting/latent_evidence.h"
#include "fitting/varying_noise.h"

// Of rewards that are no Gaussian readings; `kernel` as resolve_kernel() in R makes it.
gpb::LatentEvidence latent_evidence(SEXP handle, const Rcpp::List& kernel, bool fit_mean, int outcome = 0);

// Of noise that varies. `variance`: the number (from 1) of the kernel's variance among its parameters.
gpb::VaryingEvidence varying_evidence(const Rcpp::List& kernel, const Rcpp::List& noise_kernel, int variance,
                                      const Rcpp::List& measurements, bool fit_mean);
Rcpp::List varying_list(const gpb::VaryingNoise& found, double value);

#endif
