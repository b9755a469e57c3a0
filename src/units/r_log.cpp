// A unit of the build, written by tools/units.sh.
#include "../export_log.cpp"
#include "../export_queries.cpp"
#include "../export_trust.cpp"
#include "../export_turns.cpp"
