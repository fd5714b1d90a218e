#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

/// A half-open range of bytes in a frame. Empty means: the member is absent (no JSON value is
/// empty).
struct Slice {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool present() const { return end > begin; }
  std::size_t size() const { return end - begin; }
  std::string_view of(std::string_view bytes) const { return bytes.substr(begin, end - begin); }
};

/// The facts about a text that JsonProgress has read: it is UTF-8, and JSON. A value.
struct CheckedJson {
  /// The large values that are members of the outermost object, or of an object that is its member;
  /// in the order in which they start. One may contain another.
  std::vector<Slice> values;
  /// Whether it contains a line feed or a carriage return (only possible between two tokens).
  bool has_line_breaks = false;

  /// The value that starts there; null if none does.
  const Slice* value_at(std::size_t position) const;
};

/// A text from a peer, and the facts found while it arrived. A value.
struct ReceivedText {
  ReceivedText() = default;
  /// A text without known facts.
  ReceivedText(std::string text) : bytes(std::move(text)) {}
  ReceivedText(const char* text) : bytes(text) {}
  ReceivedText(std::string text, std::unique_ptr<const CheckedJson> seen)
      : bytes(std::move(text)), checked(std::move(seen)) {}

  /// For code that only needs the bytes.
  operator std::string() && { return std::move(bytes); }

  std::string bytes;
  /// About `bytes`; null: nothing is known. Code that changes the bytes resets it, unless it stays
  /// true.
  std::unique_ptr<const CheckedJson> checked;
};

}  // namespace bridge
