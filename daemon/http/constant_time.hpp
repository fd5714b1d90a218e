#pragma once

#include <cstddef>
#include <string_view>

namespace bridge {

/// Whether two secrets are equal, in a time that tells nothing of where they differ. Their lengths
/// are no secret.
inline bool equal_in_constant_time(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return false;
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    difference = static_cast<unsigned char>(
        difference | (static_cast<unsigned char>(left[i]) ^ static_cast<unsigned char>(right[i])));
  }
  return difference == 0;
}

}  // namespace bridge
