// A unit of the build, written by tools/units.sh.
#include "../export_information.cpp"
#include "../export_kernels.cpp"
#include "../export_spaces.cpp"
#include "../export_transforms.cpp"
#include "../r_kernel.cpp"
#include "../r_settings.cpp"
#include "../r_values.cpp"
