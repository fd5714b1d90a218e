#pragma once

#include <string_view>

namespace bridge {

/// Whether it is a hexadecimal name, which needs no escapes in a response.
inline bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace bridge
