#pragma once

#include <cstdint>
#include <string_view>

namespace bridge {

/// CRC-32C (RFC 3720, appendix B.4) of `bytes`, going on from that of what stands before them.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace bridge
