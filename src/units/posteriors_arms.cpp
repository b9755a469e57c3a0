// A unit of the build, written by tools/units.sh.
#include "posteriors/arm_posterior.cpp"
#include "posteriors/arm_setting.cpp"
#include "posteriors/played_posterior.cpp"
#include "posteriors/root_posterior.cpp"
#include "posteriors/table_posterior.cpp"
#include "posteriors/weight_posterior.cpp"
