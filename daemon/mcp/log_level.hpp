#pragma once

#include <string_view>

namespace bridge {

/// Whether a log message of this level is to be seen by who has asked for `least` and above (MCP
/// 2026-07-28, "Logging"; RFC 5424). An empty or unknown `least` lets nothing through; a level that
/// is none of the eight counts as the highest. Pure.
bool reaches_level(std::string_view level, std::string_view least);

}  // namespace bridge
