#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace client {

/// The number of the descriptor on which a daemon gets its definition: behind the two that it hands
/// to a new program itself (BEHAVIOUR, "Upgrade in place").
constexpr int definition_number = 5;

/// The last line of a daemon's log, safe for a terminal.
struct LastWords {
  std::string text;
  /// It says why the daemon could not start: it has served nobody.
  bool is_refusal = false;
};

/// Of what stands in the log from `begin` on; `file` is named in place of the definition's
/// descriptor.
LastWords last_words_in(const std::string& log, std::size_t begin, std::string_view file);

/// The same of that text. Pure.
LastWords last_words_of(std::string_view said, std::string_view file);

}  // namespace client
