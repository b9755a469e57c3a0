// Looks into what R's serialize(version = 2) wrote, in bytes alone: R makes nothing of it and runs nothing.
#ifndef GPB_R_SERIALISED_H
#define GPB_R_SERIALISED_H

#include <cstddef>
#include <string>

namespace gpb {

// Is this one function (or a formula) and what belongs to it? Empty if so; otherwise what was found instead, in words:
// a promise outside of a function's frame, which R before 4.4 would run as it is read, an environment, a compact vector
// (ALTREP), whose class would unpack it, or bytes that R never writes.
std::string invalid_in_function(const unsigned char* bytes, std::size_t size);

}  // namespace gpb

#endif
