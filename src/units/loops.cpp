// A unit of the build, written by tools/units.sh.
#include "base/ordering.cpp"
#include "base/vectors.cpp"
#include "fitting/likelihood.cpp"
#include "spaces/chart.cpp"
