#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The text of JSON strings, both ways.
/// Finds values in JSON text without changing a byte of it, so that what the server wrote can be
/// printed as it was written (numbers of any size, key order, duplicate keys). By the daemon's
/// scanner: iterative, and what is nested deeper than 1024 is refused. Views point into the text
/// that was given.
namespace client::json {

/// A JSON string with its quotes. Only what JSON demands is escaped. REQUIRES: valid UTF-8.
std::string quote(std::string_view utf8);

/// JSON text on one line: raw line breaks can only be white space in it, and become spaces.
std::string on_one_line(std::string_view valid_json);

/// One member of an object. `key` has its quotes and escapes, `value` has no space around it.
struct RawMember {
  std::string_view key;
  std::string_view value;
};

/// Is this exactly one JSON value (RFC 8259 grammar), with nothing but white space around it?
/// Whether the bytes are UTF-8 is not looked at.
bool is_valid(std::string_view text);

/// The value at the front of `text` without the space before it; nothing if there is none.
std::optional<std::string_view> leading_value(std::string_view text);

/// The members in the order they stand; nothing if `text` is not one valid object.
std::optional<std::vector<RawMember>> members(std::string_view text);

/// The elements in order; nothing if `text` is not one valid array.
std::optional<std::vector<std::string_view>> elements(std::string_view text);

/// The value of the first member called `name` (names are compared unescaped).
std::optional<std::string_view> member(std::string_view object, std::string_view name);

/// The text of the first member called `name`, if that is a string; else "".
std::string string_member(std::string_view object, std::string_view name);

bool is_object(std::string_view valid_json);
bool is_array(std::string_view valid_json);
bool is_string(std::string_view valid_json);

/// The text of a JSON string that was found by the functions above, as UTF-8. A lone surrogate
/// becomes U+FFFD.
std::string decode_string(std::string_view quoted);

}  // namespace client::json
