#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json/received_text.hpp"

namespace bridge {

/// The server's tools by name, as its last whole list has them (MCP 2025-11-25, "Tools: Listing
/// Tools"; the list may come in pages). Each tool stays byte for byte as the server wrote it; of
/// two with one name the first counts. Pure; a value.
///
/// Memory: twice `longest` while a new list comes in pages and the former one is still there.
class ToolList {
 public:
  static constexpr std::size_t longest = 16u
                                         << 20;  ///< bytes of all tools; a longer one is not kept
  static constexpr int most_pages = 100;         ///< nor one of more pages

  /// A page has come: the JSON of the result, and the JSON of the cursor that was asked for, empty
  /// for the first page. Pages that follow one another become a whole list with the last one,
  /// which takes the place of the former; any other page is ignored.
  void take_page(std::string_view asked_cursor, std::string_view result);
  /// The cursor of the page that is wanted next, JSON; empty: none is.
  const std::string& next_cursor() const { return coming_.next_cursor; }

  /// Whether there is a whole list.
  bool is_whole() const { return whole_.is_there; }
  /// The tool's JSON; empty if it is not in the whole list. Valid until the next call of another
  /// member.
  std::string_view find(std::string_view name) const;
  /// The names in the whole list, in its order.
  std::vector<std::string_view> names() const;
  /// There is none any more: it has changed, or the server is another one.
  void forget();

 private:
  struct List {
    bool is_there = false;
    int pages = 0;
    std::string next_cursor;
    std::string bytes;
    std::map<std::string, Slice, std::less<>> tools;  ///< places in `bytes`
  };
  static bool append(List& list, std::string_view tools);

  List whole_;
  List coming_;
};

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

}  // namespace bridge
