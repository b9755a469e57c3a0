// A unit of the build, written by tools/units.sh.
#include "likelihoods/laplace.cpp"
#include "likelihoods/likelihood.cpp"
#include "likelihoods/ranking.cpp"
