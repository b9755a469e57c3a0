// A unit of the build, written by tools/units.sh.
#include "widths/gain.cpp"
#include "widths/information.cpp"
#include "widths/make_width.cpp"
#include "widths/optimal_design.cpp"
#include "widths/width.cpp"
