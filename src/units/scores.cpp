// A unit of the build, written by tools/units.sh.
#include "scores/policies.cpp"
#include "scores/safe.cpp"
#include "scores/score.cpp"
