#pragma once

#include <string>
#include <string_view>

namespace client {

/// SHA-256 (FIPS 180-4) as 64 hexadecimal digits. Our own, because mcp-nc loads no library but
/// libc; what it names is no secret. Pure.
std::string sha256_hex(std::string_view bytes);

}  // namespace client
