#pragma once

#include <string>
#include <string_view>

#include "text/hidden_characters.hpp"

namespace client {

/// Makes text from a server harmless for a terminal: control characters (C0, DEL, C1, also as
/// UTF-8), what turns the direction of text or is not seen at all (hidden_characters.hpp) and bytes
/// that are no UTF-8 become visible escapes: \u001b, \u202e, \xff. Line feed and tab stay. In JSON
/// text the escapes of characters are JSON again.
///
/// Works on a stream: a sequence that is cut by the end of one piece is kept for the next.
class VisibleText {
 public:
  std::string feed(std::string_view piece);
  /// What was kept; call at the end of the stream.
  std::string finish();

 private:
  std::string kept_;  // at most 3 bytes
  unicode::HiddenCharacters hidden_;
};

/// The same for a text in one piece.
std::string make_visible(std::string_view text);

/// The same, and on one line: line feed and tab become \n and \t.
std::string make_visible_line(std::string_view text);

}  // namespace client
