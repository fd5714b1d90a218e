#pragma once

#include <cstdint>
#include <string>

namespace bridge {

/// Appends the UTF-8 form of a code point; what is no scalar value becomes U+FFFD.
void append_utf8(std::string& out, std::uint32_t code);

}  // namespace bridge
