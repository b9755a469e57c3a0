// CRC-32 (IEEE 802.3, reflected): tells a torn or damaged line from a whole one.
#ifndef GPB_CHECKSUM_H
#define GPB_CHECKSUM_H

#include <cstddef>
#include <cstdint>

namespace gpb {

// Of `size` bytes, going on from the checksum of what stands before them (0: nothing).
std::uint32_t crc32(const char* bytes, std::size_t size, std::uint32_t before = 0);

}  // namespace gpb

#endif
