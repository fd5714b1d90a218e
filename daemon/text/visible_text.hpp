#pragma once

#include <string>
#include <string_view>

#include "text/hidden_characters.hpp"

namespace bridge {

/// Makes text from a peer harmless for a terminal and a log: what hidden_characters.hpp names
/// (control characters, what turns the direction of text or is not seen at all) and bytes that are
/// not UTF-8 become visible escapes: \u001b, \u202e, \xff. In JSON text the escapes of characters
/// are JSON again.
///
/// Works on a stream: a sequence that is cut by the end of one piece is kept for the next.
class VisibleText {
 public:
  enum class Breaks { kept, escaped };  ///< line feed and tab
  explicit VisibleText(Breaks breaks = Breaks::kept) : breaks_(breaks) {}

  std::string feed(std::string_view piece);
  /// What was kept; call at the end of the stream.
  std::string finish();

 private:
  Breaks breaks_;
  std::string kept_;  // at most 3 bytes
  unicode::HiddenCharacters hidden_;
};

/// Appends the same of a text in one piece, and on one line: line feed and tab become \n and \t.
void append_visible(std::string& out, std::string_view text);
std::string make_visible_line(std::string_view text);

/// Line feed and tab stay.
std::string make_visible(std::string_view text);

}  // namespace bridge
