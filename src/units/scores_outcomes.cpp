// A unit of the build, written by tools/units.sh.
#include "scores/goal.cpp"
#include "scores/outcomes.cpp"
#include "scores/pareto_front.cpp"
