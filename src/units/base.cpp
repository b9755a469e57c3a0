// A unit of the build, written by tools/units.sh.
#include "../small.h"
#include "base/arm_set.cpp"
#include "base/checksum.cpp"
#include "base/failures.cpp"
#include "base/golden_points.cpp"
#include "base/json.cpp"
#include "base/local_search_by_values.cpp"
#include "base/point.cpp"
