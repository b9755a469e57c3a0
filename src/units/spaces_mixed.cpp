// A unit of the build, written by tools/units.sh.
#include "spaces/mixed_space.cpp"
#include "spaces/polytope.cpp"
#include "spaces/shares.cpp"
