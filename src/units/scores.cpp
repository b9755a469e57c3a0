// A unit of the build, written by tools/units.sh.
#include "scores/noisy_outcomes.cpp"
#include "scores/outcome_terms.cpp"
#include "scores/policies.cpp"
#include "scores/safe.cpp"
#include "scores/score.cpp"
