#pragma once

#include <memory>
#include <string>
#include <utility>

#include "text/checked_json.hpp"

namespace bridge {

/// A text that a peer has sent, and what was seen of it while it came. A value.
struct ReceivedText {
  ReceivedText() = default;
  /// One of which nothing is known.
  ReceivedText(std::string text) : bytes(std::move(text)) {}
  ReceivedText(const char* text) : bytes(text) {}
  ReceivedText(std::string text, std::unique_ptr<const CheckedJson> seen)
      : bytes(std::move(text)), checked(std::move(seen)) {}

  /// For whom the bytes are enough.
  operator std::string() && { return std::move(bytes); }

  std::string bytes;
  /// Of `bytes`; null: it may be anything. Whoever changes the bytes takes it away, unless it stays
  /// true.
  std::unique_ptr<const CheckedJson> checked;
};

}  // namespace bridge
