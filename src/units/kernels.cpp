// A unit of the build, written by tools/units.sh.
#include "kernels/bessel_correlation.cpp"
#include "kernels/kernel.cpp"
#include "kernels/make_kernel.cpp"
#include "kernels/pivoted_cholesky.cpp"
#include "kernels/random_features.cpp"
#include "kernels/splits.cpp"
