#include "state/checksum.hpp"

#include <array>
#include <cstddef>

namespace bridge {
namespace {

using Table = std::array<std::array<std::uint32_t, 256>, 8>;

/// Eight bytes at a time: the state of a large ring is read in a moment.
constexpr Table make_table() {
  constexpr std::uint32_t polynomial = 0x82F63B78;
  Table table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
    table[0][byte] = value;
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (std::size_t step = 1; step < 8; ++step) {
      const std::uint32_t value = table[step - 1][byte];
      table[step][byte] = (value >> 8) ^ table[0][value & 0xff];
    }
  }
  return table;
}

constexpr Table table = make_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  std::uint32_t value = ~before;
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    value = table[7][(value ^ at[0]) & 0xff] ^ table[6][((value >> 8) ^ at[1]) & 0xff] ^
            table[5][((value >> 16) ^ at[2]) & 0xff] ^ table[4][(value >> 24) ^ at[3]] ^
            table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]];
  }
  for (; left > 0; --left, ++at) value = (value >> 8) ^ table[0][(value ^ *at) & 0xff];
  return ~value;
}

}  // namespace bridge
