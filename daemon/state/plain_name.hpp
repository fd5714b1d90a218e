#pragma once

#include <string_view>

namespace bridge {

/// Hexadecimal digits, which go into answers as they are.
inline bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace bridge
