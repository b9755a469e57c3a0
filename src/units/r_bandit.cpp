// A unit of the build, written by tools/units.sh.
#include "../export_bandit.cpp"
#include "../export_choices.cpp"
#include "../export_posterior.cpp"
#include "../export_runs.cpp"
#include "../r_bandit.cpp"
