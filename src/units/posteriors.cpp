// A unit of the build, written by tools/units.sh.
#include "posteriors/mixture_posterior.cpp"
#include "posteriors/open_posterior.cpp"
