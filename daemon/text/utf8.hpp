#pragma once

#include <string_view>

namespace bridge {

/// Whether all of the text is UTF-8 (RFC 3629). Has two implementations, chosen by the build:
/// utf8.cpp has no dependency, utf8_simdjson.cpp is faster where simdjson is linked anyway.
bool is_utf8(std::string_view text);

}  // namespace bridge
