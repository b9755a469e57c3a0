// A unit of the build, written by tools/units.sh.
#include "likelihoods/laplace.cpp"
#include "likelihoods/likelihood.cpp"
#include "likelihoods/predictive.cpp"
#include "likelihoods/ranking.cpp"
