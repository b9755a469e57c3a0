// The Matern family's correlation for any smoothness. Uses base/ only.
#ifndef GPB_BESSEL_CORRELATION_H
#define GPB_BESSEL_CORRELATION_H

#include "base/types.h"

namespace gpb {

// exp(x) K_order(x), the scaled modified Bessel function of the second kind for 0 <= order < 200 and x > 0. The
// standard library does not have it on every platform, so that the caller passes it (the package passes R's).
using BesselK = double (*)(double order, double x);

// rho(r) = 2^(1-nu) / Gamma(nu) r^nu K_nu(r); 1 at r = 0.
double bessel_correlation(double nu, double r, BesselK bessel_k);

// rho'(r) / r, from d/dr [r^nu K_nu(r)] = -r^nu K_{nu-1}(r); 0 if it does not exist (r = 0 and nu <= 1).
double bessel_slope(double nu, double r, BesselK bessel_k);

}  // namespace gpb

#endif
