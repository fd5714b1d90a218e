#pragma once

#include <string>
#include <string_view>

namespace demo {

/// The `result` or the `error` of a response, as JSON text.
struct Reply {
  std::string json;
  bool is_error = false;

  static Reply result(std::string json) { return {std::move(json), false}; }
  static Reply error(int code, std::string_view message);
  /// A tool's result of a single text; `text` is a JSON string.
  static Reply text(std::string_view text, bool is_error = false);

  /// The whole message; `id` is raw.
  std::string message(std::string_view id) const;
};

}  // namespace demo
