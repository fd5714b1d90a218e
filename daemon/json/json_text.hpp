#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "json/json_scanner.hpp"

namespace bridge {

struct ReceivedText;

// Small readers and writers of JSON text. The readers require text that a JsonScanner has accepted
// (of other text a member at its front may be found). White space is allowed around a document
// (`object`, `array`, `text`), as a peer may send it, but not around a `raw_value`, which is what
// the readers return.

/// Decodes a string from its raw bytes (between the quotes) to UTF-8. A lone surrogate becomes
/// U+FFFD.
std::string unescape(std::string_view raw);

/// The same of a string with its quotes; "" if it is shorter than they are.
std::string decode_string(std::string_view quoted);

/// `text` as a JSON string, with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string quote(std::string_view text);

/// The raw value of an object's member, the first one if repeated; nullopt if `object` is not an
/// object or has no such member.
std::optional<std::string_view> find_member(std::string_view object, std::string_view name);

/// Whether this is one JSON value, with only white space around it. `depth`: how many containers
/// are open around it.
bool is_json(std::string_view text, std::size_t depth = 0);

/// Calls `on_member(raw_key, raw_value)` for each member of an object until it returns false; the
/// key is without its quotes. True if `object` is one object, with only white space around it, and
/// was walked to its end.
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

/// The text of a value if it is a string.
std::optional<std::string> to_text(std::string_view raw_value);

/// The text of a member if it is a string.
std::optional<std::string> find_string(std::string_view object, std::string_view name);

/// The same; "" if there is none.
std::string string_member(std::string_view object, std::string_view name);

/// An integer without sign, fraction or exponent that fits; nullopt otherwise.
std::optional<std::uint64_t> to_unsigned(std::string_view raw_value);
/// The same for an integer of ours that a peer returns, compared by its value: `3.0`, `30e-1` and
/// `"3"` are 3. Not what no JSON number spells, such as `"03"` or `" 3"`. Linear in its size.
std::optional<std::uint64_t> unsigned_by_value(std::string_view raw_value);

inline bool is_string(std::string_view raw_value) {
  return !raw_value.empty() && raw_value.front() == '"';
}
inline bool is_object(std::string_view raw_value) {
  return !raw_value.empty() && raw_value.front() == '{';
}

inline bool is_array(std::string_view raw_value) {
  return !raw_value.empty() && raw_value.front() == '[';
}

/// Whether two raw ids or tokens are equal: the same bytes, strings that are equal once unescaped,
/// or equal integers (`5` and `5.0`). A string is never equal to a number.
bool same_id(std::string_view left, std::string_view right);
/// A text that is the same for all spellings of that id.
std::string canonical_id(std::string_view raw_id);
/// Whether it is that text already.
bool is_canonical_id(std::string_view raw_id);

/// Puts a message on one line: raw CR and LF can only be white space in JSON and become spaces.
void make_single_line(std::string& message);
/// The same, using the facts known about the text.
void make_single_line(ReceivedText& message);

}  // namespace bridge
