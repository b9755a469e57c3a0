// Checks the bytes of R's serialize(version = 2) without making or running any R object.
#ifndef GPB_R_SERIALISED_H
#define GPB_R_SERIALISED_H

#include <cstddef>
#include <string>

namespace gpb {

// Are the bytes one function (or formula) and its parts? Returns an empty string if so. Otherwise returns a description
// of the first invalid part:
// * A promise outside a function's frame, which R before 4.4 would run while reading.
// * An environment.
// * A compact vector (ALTREP), whose class would unpack it.
// * Bytes that R never writes.
std::string invalid_in_function(const unsigned char* bytes, std::size_t size);

}  // namespace gpb

#endif
