#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct Frame;

// Which parameters of a server's tools are mirrored into headers (MCP 2026-07-28, Streamable HTTP,
// "Custom Headers from Tool Parameters"). Pure.

enum class ParameterType : std::uint8_t { string, integer, boolean };

/// One parameter that a header `Mcp-Param-{name}` repeats.
struct ToolHeader {
  std::vector<std::string> path;  ///< the names of the properties that lead to it, the own one last
  std::string name;
  ParameterType type = ParameterType::string;
};

/// The headers of each tool that has any, by the tool's name.
using HeadersOfTools = std::map<std::string, std::vector<ToolHeader>, std::less<>>;

/// The bounds of what is remembered of a server. A tool beyond them is an invalid one.
namespace tool_header_limit {
constexpr std::size_t all = 1000;       ///< headers of all tools together
constexpr std::size_t name = 128;       ///< bytes of a header's name
constexpr std::size_t depth = 16;       ///< names in a path
constexpr std::size_t path = 1024;      ///< bytes of a path
constexpr std::size_t tool_name = 256;  ///< bytes of a tool's name
}  // namespace tool_header_limit

/// A tool that must not be shown to a client.
struct InvalidTool {
  std::size_t index;        ///< in the `tools` of the result
  std::string name;         ///< as the server wrote it, its first 256 bytes: not fit for a terminal
  std::string_view reason;  ///< for the log
};

struct ToolHeaders {
  HeadersOfTools of_tools;
  std::vector<InvalidTool> invalid;
};

/// Reads the JSON of a result of `tools/list`, in one pass. `known` is how many headers earlier
/// pages of the list have. An annotation is invalid if it is no string or no token of RFC 9110,
/// stands twice in the tool whatever the case, or at a parameter that is no string, integer or
/// boolean, or anywhere in the inputSchema where not `properties` alone lead from its root. Data
/// (`const`, `default`, `enum`, `examples`) holds no annotations.
ToolHeaders read_tool_headers(std::string_view result, std::size_t known = 0);

/// The bytes of the response to a `tools/list` without those tools.
std::string without_tools(const Frame& response, const std::vector<InvalidTool>& invalid);

}  // namespace bridge
