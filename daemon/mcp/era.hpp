#pragma once

#include <cstdint>
#include <string_view>

#include "jsonrpc/meta_keys.hpp"

namespace bridge {

/// How a peer says its revision and its capabilities (MCP 2026-07-28, "Versioning: Terminology").
enum class Era : std::uint8_t {
  legacy,  ///< once, in `initialize`: 2024-11-05 to 2025-11-25
  modern,  ///< in the `_meta` of every request: since 2026-07-28
};

constexpr Era other_than(Era era) { return era == Era::modern ? Era::legacy : Era::modern; }

constexpr std::string_view name_of(Era era) { return era == Era::modern ? "modern" : "legacy"; }

/// The errors that MCP itself defines (MCP 2026-07-28, basic, "Error Codes").
namespace mcp_error {
constexpr int header_mismatch = -32020;
constexpr int missing_client_capability = -32021;
constexpr int unsupported_version = -32022;

/// Codes of earlier revisions, which must no longer be sent.
constexpr int resource_not_found = -32002;
constexpr int url_elicitation_required = -32042;
}  // namespace mcp_error

}  // namespace bridge
