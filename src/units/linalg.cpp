// A unit of the build, written by tools/units.sh.
#include "linalg/elementwise.cpp"
#include "linalg/growing_cholesky.cpp"
#include "linalg/panels.cpp"
#include "linalg/pruned_argmax.cpp"
#include "linalg/sweeps.cpp"
#include "linalg/symmetric_sweep.cpp"
