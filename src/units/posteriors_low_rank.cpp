// A unit of the build, written by tools/units.sh.
#include "posteriors/low_rank_fit.cpp"
#include "posteriors/low_rank_posterior.cpp"
