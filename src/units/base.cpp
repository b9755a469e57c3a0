// A unit of the build, written by tools/units.sh.
#include "base/arm_set.cpp"
#include "base/checksum.cpp"
#include "base/golden_points.cpp"
#include "base/json.cpp"
#include "base/local_search_by_values.cpp"
#include "base/ordering.cpp"
#include "base/point.cpp"
#include "base/vectors.cpp"
