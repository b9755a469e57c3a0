// A unit of the build, written by tools/units.sh.
#include "../export_rows.cpp"
#include "../export_text.cpp"
#include "../r_lists.cpp"
#include "../r_reply.cpp"
#include "../r_serialised.cpp"
