// A unit of the build, written by tools/units.sh.
#include "../small.h"
#include "bandit/bandit.cpp"
#include "bandit/forecasts.cpp"
#include "bandit/run.cpp"
