// A unit of the build, written by tools/units.sh.
#include "posteriors/arm_posterior.cpp"
#include "posteriors/arm_setting.cpp"
