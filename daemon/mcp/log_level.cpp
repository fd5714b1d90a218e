#include "mcp/log_level.hpp"

#include <algorithm>
#include <array>

namespace bridge {

bool reaches_level(std::string_view level, std::string_view least) {
  static constexpr std::array<std::string_view, 8> levels = {
      "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};
  const auto lowest = std::find(levels.begin(), levels.end(), least);
  return lowest != levels.end() && std::find(levels.begin(), levels.end(), level) >= lowest;
}

}  // namespace bridge
