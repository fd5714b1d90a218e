#pragma once

#include <string_view>

namespace demo {

/// The parts of a JSON-RPC message that the server needs, as slices of its body, which outlives it.
struct Message {
  enum class Kind { kNone, kRequest, kNotification, kAnswer, kBatch };

  Kind kind = Kind::kNone;
  std::string_view method;
  std::string_view id;      ///< raw: `7`, `"a"`
  std::string_view params;  ///< raw
  std::string_view result;  ///< raw, of a response
  std::string_view error;   ///< raw, of a response

  static Message parse(std::string_view body);

  /// Raw; empty if absent.
  std::string_view progress_token() const;
};

/// Whether the named method selects this one: empty selects any, "-" a message without a method, a
/// response.
inline bool is_wanted_method(std::string_view wanted, std::string_view method) {
  return wanted.empty() || (wanted == "-" ? method.empty() : wanted == method);
}

}  // namespace demo
