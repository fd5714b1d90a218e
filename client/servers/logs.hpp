#pragma once

#include "terminal/console.hpp"

namespace client {

/// Prints a log piece by piece: as it is, or each line as `{"line":…}`.
class LogOutput {
 public:
  LogOutput(Console& console, bool as_json) : console_(console), as_json_(as_json) {}

  void add(std::string_view piece);
  /// The last line, if it has no end.
  void finish();

  /// `{"line":…}` with line break; bytes that are no UTF-8 become escapes. Pure.
  static std::string json_line(std::string_view line);

 private:
  Console& console_;
  bool as_json_;
  std::string begun_;                                   // of a line; no longer than longest_line
  static constexpr std::size_t longest_line = 1 << 20;  // what is longer is printed in pieces
};

}  // namespace client
