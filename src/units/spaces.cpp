// A unit of the build, written by tools/units.sh.
#include "spaces/arm_space.cpp"
#include "spaces/box_space.cpp"
#include "spaces/chart.cpp"
#include "spaces/make_space.cpp"
#include "spaces/many_arm_space.cpp"
#include "spaces/open_arm_space.cpp"
