#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "json/json_scanner.hpp"

namespace bridge {

struct ReceivedText;

// Small readers and writers of JSON text. The readers expect text that a JsonScanner has accepted.

/// The characters of a string from its raw bytes (between the quotes), as UTF-8. A lone surrogate
/// becomes U+FFFD.
std::string unescape(std::string_view raw);

/// `text` as a JSON string, with its quotes. Bytes that are no UTF-8 become U+FFFD.
std::string quote(std::string_view text);

/// The raw bytes of the value of a member of an object, the first one where there are several;
/// nothing if `object` is no object or has no such member.
std::optional<std::string_view> find_member(std::string_view object, std::string_view name);

/// Whether this is one JSON value, with nothing but space around it. `depth`: how many containers
/// are open around it.
bool is_json(std::string_view text, std::size_t depth = 0);

/// Calls `on_member(raw_key, raw_value)` for each member of an object until it says false; the key
/// is what stands between its quotes. True if `object` is one object, with nothing but space around
/// it, and was walked to its end.
template <class OnMember>
bool each_member(std::string_view object, OnMember&& on_member) {
  JsonScanner scanner(object);
  scanner.skip_space();
  const bool walked = scanner.object([&](Slice key) {
    Slice value;
    return scanner.value(value) && on_member(key.of(object), value.of(object));
  });
  if (!walked) return false;
  scanner.skip_space();
  return scanner.at_end();
}

/// The same for the elements of an array: `on_element(raw_value)`.
template <class OnElement>
bool each_element(std::string_view array, OnElement&& on_element) {
  JsonScanner scanner(array);
  scanner.skip_space();
  const bool walked = scanner.array([&] {
    Slice value;
    return scanner.value(value) && on_element(value.of(array));
  });
  if (!walked) return false;
  scanner.skip_space();
  return scanner.at_end();
}

/// The text of a value that is a string.
std::optional<std::string> to_text(std::string_view raw_value);

/// The text of a member that is a string.
std::optional<std::string> find_string(std::string_view object, std::string_view name);

/// An integer without sign, fraction or exponent that fits; nothing otherwise.
std::optional<std::uint64_t> to_unsigned(std::string_view raw_value);

inline bool is_string(std::string_view raw_value) {
  return !raw_value.empty() && raw_value.front() == '"';
}
inline bool is_object(std::string_view raw_value) {
  return !raw_value.empty() && raw_value.front() == '{';
}

/// Whether two raw ids or tokens are the same one: the same bytes, or strings that are equal once
/// unescaped.
bool same_id(std::string_view left, std::string_view right);
/// One text for all ways to write that id.
std::string canonical_id(std::string_view raw_id);

/// Makes one line of a message: raw CR and LF can only be white space in JSON and become spaces.
void make_single_line(std::string& message);
/// Of a message of which that may be known.
void make_single_line(ReceivedText& message);

}  // namespace bridge
