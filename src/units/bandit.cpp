// A unit of the build, written by tools/units.sh.
#include "bandit/bandit.cpp"
#include "bandit/forecasts.cpp"
#include "bandit/run.cpp"
