// CRC-32 (IEEE 802.3, reflected), which detects incomplete or damaged lines. Uses the standard library only.
#ifndef GPB_CHECKSUM_H
#define GPB_CHECKSUM_H

#include <cstddef>
#include <cstdint>

namespace gpb {

// The checksum of `size` bytes; `before` is the checksum of the bytes before them (0: none).
std::uint32_t crc32(const char* bytes, std::size_t size, std::uint32_t before = 0);

}  // namespace gpb

#endif
