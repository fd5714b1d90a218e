#pragma once

#include <string_view>

namespace bridge {

/// Whether all of it is UTF-8 (RFC 3629). There are two of it, and the build chooses: utf8.cpp
/// needs nothing, utf8_simdjson.cpp is faster where simdjson is linked anyway.
bool is_utf8(std::string_view text);

}  // namespace bridge
