// A unit of the build, written by tools/units.sh.
#include "fitting/fit.cpp"
#include "fitting/neighbour_likelihood.cpp"
