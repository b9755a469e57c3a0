// A unit of the build, written by tools/units.sh.
#include "../export_fitting.cpp"
#include "../export_refits.cpp"
#include "../export_regression.cpp"
#include "../r_fit.cpp"
#include "../r_lbfgsb.cpp"
