// A unit of the build, written by tools/units.sh.
#include "events/bandit_state.cpp"
#include "events/change_evidence.cpp"
#include "events/change_sweep.cpp"
#include "events/changes.cpp"
#include "events/constraints.cpp"
#include "events/observations.cpp"
#include "events/outcome_shape.cpp"
