#pragma once

#include <array>
#include <string>
#include <string_view>

namespace bridge {

using Sha256 = std::array<unsigned char, 32>;

/// SHA-256 (FIPS 180-4) of the bytes; also for the client, which has no library for it. Pure.
Sha256 sha256(std::string_view bytes);
/// In hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace bridge
