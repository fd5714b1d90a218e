#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "text/slice.hpp"

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

}  // namespace bridge
