#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace demo {

/// Oldest first; they compare as text.
inline constexpr std::array<std::string_view, 4> kProtocolVersions{"2024-11-05", "2025-03-26",
                                                                   "2025-06-18", "2025-11-25"};

inline bool is_known_version(std::string_view version) {
  return std::find(kProtocolVersions.begin(), kProtocolVersions.end(), version) !=
         kProtocolVersions.end();
}

/// The client's version if it is known, else the newest.
inline std::string_view negotiated(std::string_view asked) {
  return is_known_version(asked) ? asked : kProtocolVersions.back();
}

}  // namespace demo
