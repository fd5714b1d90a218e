#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/received_text.hpp"

namespace bridge {

/// The cursors that a server has given for one list, by their hashes: one that comes again would
/// lead through the list for ever. Pure; a value.
class GivenCursors {
 public:
  /// `cursor` is JSON. False: it was given before.
  bool is_new(std::string_view cursor) {
    return hashes_.insert(std::hash<std::string_view>()(cursor)).second;
  }

 private:
  std::set<std::size_t> hashes_;
};

/// The server's tools by name, from its last complete list (MCP 2025-11-25, "Tools: Listing Tools";
/// the list may have several pages). Each tool stays byte for byte as received; of two with one
/// name the first counts. Pure; a value.
///
/// Memory: twice `longest` while a new list arrives in pages and the former one is still used.
class ToolList {
 public:
  static constexpr std::size_t longest = 16u
                                         << 20;  ///< bytes of all tools; a longer list is not kept
  static constexpr int most_pages = 100;         ///< nor one of more pages

  enum class Page : std::uint8_t { taken, last, repeats_cursor, too_much, ignored };

  /// Takes a page: the JSON of the result, and the JSON of the requested cursor, empty for the
  /// first page. Consecutive pages form a complete list with the last one, which replaces the
  /// former list; any other page is ignored. A page whose cursor was given before is the last one.
  Page take_page(std::string_view asked_cursor, std::string_view result);
  /// The cursor of the next page to request, as JSON; empty: none.
  const std::string& next_cursor() const { return coming_.next_cursor; }

  /// Whether this tool is on a page of the list that is arriving.
  bool has_arrived(std::string_view name) const { return coming_.tools.contains(name); }
  /// The pages of the list that is arriving, as if it was complete.
  ToolList arrived_so_far() const;

  /// Whether there is a complete list.
  bool is_whole() const { return whole_.is_there; }
  /// The tool's JSON; empty if the complete list lacks it. Valid until the next call of another
  /// member.
  std::string_view find(std::string_view name) const;
  /// The names in the complete list, in its order.
  std::vector<std::string_view> names() const;
  /// Drops the list: it has changed, or the server is another one.
  void forget();

 private:
  struct List {
    bool is_there = false;
    int pages = 0;
    std::string next_cursor;
    GivenCursors cursors;
    std::string bytes;
    std::map<std::string, Slice, std::less<>> tools;  ///< positions in `bytes`
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
  std::vector<std::string> path;  ///< the names of the properties that lead to it, its own last
  std::string name;
  ParameterType type = ParameterType::string;
};

/// The headers of each tool that has any, by the tool's name.
using HeadersOfTools = std::map<std::string, std::vector<ToolHeader>, std::less<>>;

/// The bounds of what is stored about a server. A tool beyond them is invalid.
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
  std::string name;         ///< as received, its first 256 bytes: unsafe for a terminal
  std::string_view reason;  ///< for the log
};

struct ToolHeaders {
  HeadersOfTools of_tools;
  std::vector<InvalidTool> invalid;
};

/// Reads the JSON of a result of `tools/list`, in one pass. `known` is the number of headers on
/// earlier pages of the list. An annotation is invalid if it is not a string or not a token of RFC
/// 9110, is repeated in the tool whatever the case, or is at a parameter that is not a string,
/// integer or boolean, or anywhere in the inputSchema that is not reached from its root by
/// `properties` alone. Data (`const`, `default`, `enum`, `examples`) has no annotations.
ToolHeaders read_tool_headers(std::string_view result, std::size_t known = 0);

}  // namespace bridge
