#include "process/child_environment.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace bridge {
namespace {

/// With the equals sign: one variable; without: all that begin like that.
constexpr std::array<std::string_view, 9> withheld = {
    "MCP_SERVER_TOKEN=", "MCP_BRIDGE_HEADER=",     "MCP_BRIDGE_INPUT=",
    "MCP_INPUT_",        "NOTIFY_SOCKET=",         "LISTEN_",
    "WATCHDOG_",         "CREDENTIALS_DIRECTORY=", "MAINPID=",
};

}  // namespace

std::vector<std::string> child_environment(const char* const* environment) {
  std::vector<std::string> kept;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view variable(*environment);
    const bool is_withheld = std::any_of(withheld.begin(), withheld.end(), [&](auto beginning) {
      return variable.starts_with(beginning);
    });
    if (!is_withheld) kept.emplace_back(variable);
  }
  return kept;
}

}  // namespace bridge
