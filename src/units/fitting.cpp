// A unit of the build, written by tools/units.sh.
#include "fitting/average.cpp"
#include "fitting/fit.cpp"
#include "fitting/latent_evidence.cpp"
#include "fitting/likelihood.cpp"
#include "fitting/neighbour_likelihood.cpp"
#include "fitting/varying_noise.cpp"
