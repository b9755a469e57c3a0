// A unit of the build, written by tools/units.sh.
#include "linalg/decompositions.cpp"
#include "linalg/products.cpp"
