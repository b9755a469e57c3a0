// Functions of checksum.h: CRC-32 (IEEE 802.3, reflected), which detects incomplete or damaged lines.
#include "base/checksum.h"

#include <array>
#include <cstdint>

namespace gpb {

namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t c = n;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1u) != 0 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    table[n] = c;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

}  // namespace

std::uint32_t crc32(const char* bytes, std::size_t size, std::uint32_t before) {
  std::uint32_t c = ~before;
  for (std::size_t k = 0; k < size; ++k) {
    c = kTable[(c ^ static_cast<unsigned char>(bytes[k])) & 0xFFu] ^ (c >> 8);
  }
  return ~c;
}

}  // namespace gpb
