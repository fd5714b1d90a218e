#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

/// A half-open range of bytes in a frame. Empty means: the member is not there
/// (no JSON value is empty).
struct Slice {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool present() const { return end > begin; }
  std::size_t size() const { return end - begin; }
  std::string_view of(std::string_view bytes) const { return bytes.substr(begin, end - begin); }
};

/// What is known of a text that JsonProgress has read: it is UTF-8, and JSON. A value.
struct CheckedJson {
  /// Where the large values stand that are members of the outermost object, or of an object that is
  /// its member; in the order in which they begin. One may lie in another.
  std::vector<Slice> values;
  /// Whether a line feed or a carriage return stands in it: between two tokens, then.
  bool has_line_breaks = false;

  /// The one that begins there; null if none does.
  const Slice* value_at(std::size_t position) const;
};

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
